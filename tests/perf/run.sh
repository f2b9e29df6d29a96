#!/bin/sh
# The benchmark: our programs and every peer that is installed, on one machine in one run. CSV rows go to $BUILD/bench.csv;
# the ratios that are aimed at follow. Timings decide no test.
BUILD=${BUILD:-build}
VENV=${VENV:-$BUILD/venv}
here=$(dirname "$0")
csv=$BUILD/bench.csv
python=$VENV/bin/python
[ -x "$python" ] || python=python3

note() { echo "bench: $*" >&2; }

mkdir -p "$BUILD/perf"
plain=$BUILD/perf/plain.so
if command -v gcc >/dev/null; then
    gcc -O3 -march=native -shared -fPIC -o "$plain" "$here/plain.c" || note "plain.c did not compile"
else
    note "no gcc: the plain C loops are left out"
fi
one=$(taskset -pc $$ | sed 's/.*[: ]\([0-9]*\).*/\1/')

"$BUILD/perf/bench" "$plain" >"$csv" || exit 1
"$BUILD/perf/bench_calls" >>"$csv" || note "bench_calls failed"
if [ -z "$BENCH_GPU_ONLY" ]; then
    if "$python" -c 'import numpy' 2>/dev/null; then
        taskset -c "$one" env NUMBA_NUM_THREADS=1 "$python" "$here/peers_cpu.py" >>"$csv" || note "peers_cpu.py failed"
    else
        note "no NumPy: its rows are left out"
    fi
fi
if [ -e /dev/nvidiactl ] || [ -e /dev/nvidia0 ]; then
    if command -v nvcc >/dev/null; then
        [ "$BUILD/perf/limits" -nt "$here/limits.cu" ] || nvcc -O3 -std=c++17 -arch=native -o "$BUILD/perf/limits" "$here/limits.cu"
        "$BUILD/perf/limits" >>"$csv" || note "limits failed"
    else
        note "no nvcc: the hand-written CUDA is left out"
    fi
    python3 "$here/peers_gpu.py" >>"$csv" || note "peers_gpu.py failed"
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
