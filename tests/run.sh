#!/bin/sh
# run.sh - runs every test: unit programs, oracles in Python, the header, examples, goldens of the language, the tool.
# Each prints TAP ("ok 1 - name", "not ok 2 - name", "ok 3 # SKIP why"); what else it says is shown when something in it
# fails. Exit status 77 skips a whole program, its last line being the reason; any other, a crash included, that no
# "not ok" explains is one more failure, and so are tests of the plan (1..N) that never ran.
# As many programs run at once as there are processors and memory for them; JOBS=n says how many. Reports come in the order of
# the list, each whole. The last line is "N passed, N failed[, N skipped]". UF_TEST_GPU=1 turns the GPU tests on; arguments name
# programs to run. Whatever ends this script, kill -9 included, ends the programs and removes what they wrote.
set -u
cd "$(dirname "$0")/.." || exit 1

BUILD=$(cd "${BUILD:-build}" && pwd) || exit 1
VENV=${VENV:-build/venv}
UFUNC_LIB=$BUILD/libufunc.so
export BUILD UFUNC_LIB CMOCKA_MESSAGE_OUTPUT=TAP PYTHONDONTWRITEBYTECODE=1
export ASAN_OPTIONS="${ASAN_OPTIONS:-abort_on_error=0:allocator_may_return_null=1}"
export TSAN_OPTIONS="${TSAN_OPTIONS:-suppressions=$PWD/tests/tsan.supp:die_after_fork=0:allocator_may_return_null=1}"
export LSAN_OPTIONS="${LSAN_OPTIONS:-suppressions=$PWD/tests/lsan.supp:print_suppressions=0}"
export UBSAN_OPTIONS="${UBSAN_OPTIONS:-print_stacktrace=1}"
# NumPy's products wait for work in threads of their own, at the expense of every other program's.
export OPENBLAS_NUM_THREADS="${OPENBLAS_NUM_THREADS:-1}"

# Programs that take long are started first, in this order, so that none is alone at the end. PROGRAM:N runs as up to N programs at once:
# each is told which part of the tests it has, as UF_PART=2/N.
slow='valgrind linalg:6 simulated:3 test_oom test_gpu_fold test_gu_ir test_stack header npy reductions:16 fold_types:11 calls:4 scans:16
test_cpu_fold tiles test_strided_rows catalogue:8 test_shared_tile test_scan weak_numbers layouts forall:6 gufuncs:5 extrema:4
test_forall_ir test_fold_begin test_hostile test_double_double examples core_reductions test_cpu_forall test_math test_cublas
elementwise:8 accuracy:2'

# Programs whose tests draw many kernels or compile the same ones again and again, and are about what kernels mean and not how well they
# are compiled, which takes nearly all their time. Of the kernels that they compile for the CPU each fourth is optimised, and the
# others are not; with PROP_N set all are.
barely='simulated fold_types reductions scans forall calls gufuncs linalg core_reductions extrema weak_numbers tiles layouts squares
test_absorbing test_cpu_fold test_oom test_hostile test_plan test_fold_begin test_fold_call test_blas test_record_views test_record_programs'

# GiB that a program is taken to need: the largest arrays of a test have 2 GiB.
memory_each=4

# ---- The list: a line has a program's name, how it is run, its path, and its part ----

# list NAME HOW PATH
list() {
    case " ${only:-$1} " in *" $1 "*) ;; *) return ;; esac
    parts=1
    for entry in $slow; do
        case $entry in "$1":*) parts=${entry#*:} ;; esac
    done
    [ "$parts" -le "$jobs" ] || parts=$jobs
    part=1
    while [ $part -le "$parts" ]; do
        echo "$1 $2 $3 $part/$parts"
        part=$((part + 1))
    done
}

list_all() {
    for program in "$BUILD"/test/test_*; do
        [ ! -f "$program" ] || list "$(basename "$program")" program "$program"
    done
    for script in tests/oracle/*.py; do # those without __main__ are modules
        ! grep -qs __main__ "$script" || list "$(basename "$script" .py)" python "$script"
    done
    for script in tests/*/run.sh; do
        case $script in tests/perf/*) continue ;; esac
        [ ! -f "$script" ] || list "$(basename "$(dirname "$script")")" sh "$script"
    done
}

# The lines of the list with their numbers in front, the slow programs first.
in_order_of_start() {
    awk -v slow="$(echo $slow)" '
        BEGIN { n = split(slow, names, /(:[0-9]+)?[ \t]+|:[0-9]+$/); for (k = 1; k <= n; k++) rank[names[k]] = k }
        { print ($1 in rank ? rank[$1] : n + 1), NR, $0 }' "$work/list" | sort -n -k 1,1 -k 2,2 | cut -d ' ' -f 2-
}

jobs_that_fit() {
    awk -v processors="$(nproc)" -v each=$memory_each '
        /^MemAvailable:/ { fit = int($2 / (each * 1048576)) }
        END { n = fit < processors ? fit : processors; print n < 1 ? 1 : n }' /proc/meminfo
}

# ---- One program ----

# Under the address sanitizer a library in Python needs its runtime in first, with that of C++ behind it, as SciPy throws; the thread
# sanitizer cannot be loaded late.
run_python() {
    runtime=$(ldd "$UFUNC_LIB" | awk '/lib[at]san\.so/ {print $3}')
    case $python,$runtime in
    ,*) run sh -c 'echo "no Python with NumPy here"; exit 77' ;;
    *tsan*) run sh -c 'echo "Python does not run under the thread sanitizer"; exit 77' ;;
    *asan*) run env LD_PRELOAD="$runtime libstdc++.so.6" ASAN_OPTIONS="$ASAN_OPTIONS:detect_leaks=0" "$python" "$1" ;;
    *) run "$python" "$1" ;;
    esac
}

# Puts a libLLVM before the one that is used. It leaves three modules in four as they are, which ones being drawn, if the environment
# does not say.
optimise_barely() {
    mock=$BUILD/test/libmockllvm.so
    [ -z "${PROP_N:-}" ] && [ -f "$mock" ] && [ -n "$llvm_file" ] || return
    export UFUNC_LLVM="$mock" MOCKLLVM_REAL="$llvm_file" MOCKLLVM_VERSION="$llvm_version"
    export MOCKLLVM_OPTIMISES="${MOCKLLVM_OPTIMISES:-$((1$(date +%N) % 4 + 1))/4}"
}

# run COMMAND..: what it prints goes to the log. While it runs, its process is written down for the one who cleans up.
run() {
    timeout -k 10 900 "$@" >"$mine.log" 2>&1 &
    echo $! >"$mine.process"
    wait $!
    status=$?
    rm -f "$mine.process"
}

# Reads a log: prints passed, failed, skipped.
count='
/^(not )?ok [0-9]+ *# SKIP/ || /^ok .*# SKIP/ { skip++; next }
/^ok /                      { pass++; next }
/^not ok /                  { fail++; next }
/^1\.\.[0-9]+/              { plan += substr($1, 4) }
                            { if ($0 != "") last = $0 }
END {
    if (status == 77) { print 0, 0, 1; exit }
    ran = pass + fail + skip
    if (plan > ran) fail += plan - ran
    else if (status != 0 && !fail) fail++
    else if (!ran) fail++
    print pass + 0, fail + 0, skip + 0
}'

# report NAME SECONDS PASSED FAILED SKIPPED
report() {
    log=$mine.log
    if [ "$4" -gt 0 ]; then
        echo "FAIL  $1: $3 passed, $4 failed, exit status $status ($2 s)"
        [ -z "${MOCKLLVM_OPTIMISES:-}" ] || echo "    MOCKLLVM_OPTIMISES=$MOCKLLVM_OPTIMISES"
        if [ "$(wc -l <"$log")" -le 200 ]; then
            sed 's/^/    /' "$log"
        else
            { grep -a -B 20 -A 10 '^not ok' "$log" | head -n 300; echo ..; tail -n 50 "$log"; } | sed 's/^/    /'
        fi
    elif [ $status = 77 ]; then
        echo "skip  $1: $(tail -n 1 "$log")"
    else
        echo "ok    $1: $3 passed$([ "$5" = 0 ] || echo ", $5 skipped") ($2 s)"
        grep -a '# SKIP' "$log" | sed 's/^/    /'
    fi
}

# job NUMBER NAME HOW PATH PART: runs a program; leaves its report and its counts, and says that it has ended.
job() {
    trap 'echo ended >&3' EXIT
    mine=$work/$1 began=$(date +%s)
    [ "${5#*/}" = 1 ] || export UF_PART="$5"
    case " $(echo $barely) " in *" $2 "*) optimise_barely ;; esac
    case $3 in
    program) run "$4" ;;
    python) run_python "$4" ;;
    sh) run sh "$4" ;;
    esac
    counts=$(awk -v status=$status "$count" "$mine.log")
    report "$2${UF_PART:+ $UF_PART}" $(($(date +%s) - began)) $counts >"$mine.report"
    echo "$counts" >"$mine.new" && mv "$mine.new" "$mine.counts"
    rm -f "$mine.log"
}

# ---- All programs ----

# signal_programs SIGNAL: true if one of them is still there. The shells that ran them may be gone.
signal_programs() {
    there=1
    for file in "$work"/*.process; do
        [ ! -e "$file" ] || ! kill "-$1" "$(cat "$file")" 2>"$work/none" || there=0
    done
    return $there
}

# Waits until every process has gone that holds `alive` open for writing, which only this shell does; then stops what still runs.
clean_up() {
    trap '' HUP INT TERM
    read -r normally <"$work/alive" || sleep 1 # for jobs that had just begun
    signal_programs TERM
    while signal_programs 0; do
        sleep 0.1
    done
    # The shell of a program that has just ended may still write its report here, which keeps rm from removing the folder.
    for try in 1 2 3 4 5 6 7 8 9; do
        ! rm -rf "$work" 2>/dev/null || return
        sleep 0.$try
    done
    rm -rf "$work"
}

# Prints the reports that are there, up to the first one that is missing.
print_reports() {
    while [ -e "$work/$next.counts" ]; do
        cat "$work/$next.report"
        read -r p f s <"$work/$next.counts"
        passed=$((passed + p)) failed=$((failed + f)) skipped=$((skipped + s)) next=$((next + 1))
    done
}

wait_for_one() {
    read -r ended <&3
    running=$((running - 1))
    print_reports
}

# A Python with NumPy: the environment of `make deps`, else the system's.
find_python() {
    for python in "$VENV/bin/python" python3; do
        "$python" -c 'import numpy' 2>/dev/null && return
    done
    python=
}

only="$*"
jobs=${JOBS:-$(jobs_that_fit)}
find_python
read -r llvm_version llvm_file <<END
$("$BUILD/ufunc" info 2>/dev/null | awk '$1 == "libLLVM" && sub(/,$/, "", $2) && $3 ~ /^\// {print $2, $3}')
END
passed=0 failed=0 skipped=0 running=0 next=1
work=$(mktemp -d "$BUILD/run.XXXXXX") && mkfifo "$work/alive" "$work/ended" || exit 1
clean_up &
exec 4>"$work/alive" 3<>"$work/ended"
list_all >"$work/list"
in_order_of_start >"$work/order"
listed=$(wc -l <"$work/list")
while read -r number name how path part; do
    [ $running -lt "$jobs" ] || wait_for_one
    { exec 4>&- && job "$number" "$name" "$how" "$path" "$part"; } &
    running=$((running + 1))
done <"$work/order"
while [ $running -gt 0 ]; do
    wait_for_one
done
echo normally >&4
wait

echo "$passed passed, $failed failed$([ $skipped = 0 ] || echo ", $skipped skipped")"
[ $failed = 0 ] && [ $passed -gt 0 ] && [ $next -gt "$listed" ]
