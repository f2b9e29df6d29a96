#!/bin/sh
# The benchmark: our programs and every peer that is installed, on one machine in one run. CSV rows go to $BUILD/bench.csv;
# the ratios that are aimed at follow. Timings decide no test. BENCH_GPU_ONLY=1 leaves the CPU out; BENCH_ONLY=calls, records,
# and so on is one part of it, by the names below; with BENCH_BEST=1 our rows and those of plain C are the best repetition instead of the median one.
BUILD=${BUILD:-build}
VENV=${VENV:-$BUILD/venv}
here=$(dirname "$0")
csv=$BUILD/bench.csv
python=$VENV/bin/python
[ -x "$python" ] || python=python3
one=$(taskset -pc $$ | sed 's/.*[: ]\([0-9]*\).*/\1/')

note() { echo "bench: $*" >&2; }
# Threads of OpenMP that wait for work do not do so at the expense of ours, which are timed in the same process.
export OMP_WAIT_POLICY=passive PYTHONDONTWRITEBYTECODE=1
part() { [ -z "$BENCH_ONLY" ] || [ "$BENCH_ONLY" = "$1" ]; }
ours() { "$BUILD/perf/$1" "$2" >>"$csv" || note "$1 failed"; }

# $1: a file of plain C loops; the rest are options of gcc's.
plain() {
    plain=$BUILD/perf/$1.so
    from=$1.c
    shift
    if command -v gcc >/dev/null; then
        gcc -O3 -march=native "$@" -shared -fPIC -o "$plain" "$here/$from" || note "$from did not compile"
    else
        note "no gcc: the plain C loops are left out"
    fi
}

cpu_peers() {
    [ -z "$BENCH_GPU_ONLY" ] || return
    if "$python" -c 'import numpy' 2>/dev/null; then
        taskset -c "$one" env NUMBA_NUM_THREADS=1 "$python" "$here/$1.py" >>"$csv" || note "$1.py failed"
    else
        note "no NumPy: its rows are left out"
    fi
}

# $1: a file of CUDA; $2: one of Python, or ""; $3: libraries of CUDA's.
gpu_peers() {
    [ -e /dev/nvidiactl ] || [ -e /dev/nvidia0 ] || return
    if [ ! "$BUILD/perf/$1" -nt "$here/$1.cu" ] && command -v nvcc >/dev/null; then
        nvcc -O3 -std=c++17 -arch=native -o "$BUILD/perf/$1" "$here/$1.cu" -ldl $3
    fi
    if [ -x "$BUILD/perf/$1" ]; then
        ours "$1"
    else
        note "no nvcc: the hand-written CUDA is left out"
    fi
    [ -z "$2" ] || python3 "$here/$2.py" >>"$csv" || note "$2.py failed"
}

mkdir -p "$BUILD/perf"
echo case,system,metric,value,spread >"$csv"
if part calls; then
    plain plain
    ours bench "$plain"
    ours bench_calls
    cpu_peers peers_cpu
    gpu_peers limits peers_gpu
fi
if part records; then
    plain plain_records
    ours bench_records "$plain"
    gpu_peers limits_records
fi
if part cores; then
    ours bench_cores
fi
if part sizes; then
    # libxsmm (libxsmm-dev) has a static library alone
    if gcc -O3 -march=native -shared -fPIC -o "$BUILD/perf/xsmm.so" "$here/xsmm.c" -lxsmm -lxsmmnoblas -lpthread -lrt -ldl -lm 2>/dev/null; then
        ours bench_sizes "$BUILD/perf/xsmm.so"
    else
        note "no libxsmm: its rows are left out"
        ours bench_sizes
    fi
fi
if part modules; then
    ours bench_modules
fi
if part tile; then
    plain plain_tile
    ours bench_tile "$plain"
    cpu_peers peers_cpu_tile
    gpu_peers limits_tile peers_gpu_tile
fi
if part products; then
    ours bench_products
fi
if part linalg; then
    ours bench_linalg
    gpu_peers limits_linalg peers_gpu_linalg "-lcublas -lcusolver"
fi
if part reduce; then
    ours bench_reduce
    cpu_peers peers_cpu_reduce
    gpu_peers limits_reduce peers_gpu_reduce
fi
if part updates; then
    plain plain_updates -fopenmp-simd
    ours bench_updates "$plain"
    cpu_peers peers_cpu_updates
    gpu_peers limits_updates
fi
if part narrow; then
    ours bench_narrow
    gpu_peers limits_narrow
fi
if part shapes; then
    ours bench_shapes
fi
if part forall; then
    plain plain_forall -fopenmp
    export OMP_WAIT_POLICY=passive # idle threads of OpenMP's are not to stand in the way of ours
    ours bench_forall "$plain"
    gpu_peers limits_forall peers_gpu_forall
fi
if part windows; then
    plain plain_windows
    ours bench_windows "$plain"
    gpu_peers limits_windows peers_gpu_windows
fi
if part lines; then
    ours bench_lines
    gpu_peers limits_lines peers_gpu_lines
fi
cat "$csv"
echo
# case, ours, peer, least (or, with <, greatest) ratio aimed at
awk -F, '
NR == FNR { value[$1 "," $2] = $4; next }
/^[^#]/ {
    ours = value[$1 "," $2]; peer = value[$1 "," $3]
    most = substr($4, 1, 1) == "<"; aim = (most ? substr($4, 2) : $4) + 0
    if (ours == "" || (peer == "" && $3 != "")) next
    ratio = $3 == "" ? ours : ours / peer
    printf "%-34s %-26s %10.4g %10.4g  ratio %6.3f  aim %s %s  %s\n", $1, $3, ours, peer, ratio, most ? "<=" : ">=", aim, (most ? ratio <= aim : ratio >= aim) ? "met" : "MISSED"
}' "$csv" "$here/aims.csv"
