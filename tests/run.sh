#!/bin/sh
# run.sh - runs every test: unit programs, oracles in Python, the header, examples, goldens of the language, the tool.
# Each prints TAP ("ok 1 - name", "not ok 2 - name", "ok 3 # SKIP why"); what else it says is shown when something in it
# fails. Exit status 77 skips a whole program, its last line being the reason; any other, a crash included, that no
# "not ok" explains is one more failure, and so are tests of the plan (1..N) that never ran.
# The last line is "N passed, N failed[, N skipped]". UF_TEST_GPU=1 turns the GPU tests on; arguments name programs to run.
set -u
cd "$(dirname "$0")/.." || exit 1

BUILD=$(cd "${BUILD:-build}" && pwd) || exit 1
VENV=${VENV:-build/venv}
UFUNC_LIB=$BUILD/libufunc.so
export BUILD UFUNC_LIB CMOCKA_MESSAGE_OUTPUT=TAP
export ASAN_OPTIONS="${ASAN_OPTIONS:-abort_on_error=0:allocator_may_return_null=1}"
export TSAN_OPTIONS="${TSAN_OPTIONS:-suppressions=$PWD/tests/tsan.supp:die_after_fork=0:allocator_may_return_null=1}"
export LSAN_OPTIONS="${LSAN_OPTIONS:-suppressions=$PWD/tests/lsan.supp:print_suppressions=0}"
export UBSAN_OPTIONS="${UBSAN_OPTIONS:-print_stacktrace=1}"

log=$BUILD/test.log
passed=0 failed=0 skipped=0

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

# run NAME COMMAND...
run() {
    name=$1
    shift
    case " ${only:-$name} " in *" $name "*) ;; *) return ;; esac
    timeout 900 "$@" >"$log" 2>&1
    status=$?
    set -- $(awk -v status=$status "$count" "$log")
    passed=$((passed + $1)) failed=$((failed + $2)) skipped=$((skipped + $3))
    if [ "$2" -gt 0 ]; then
        echo "FAIL  $name: $1 passed, $2 failed, exit status $status"
        if [ "$(wc -l <"$log")" -le 200 ]; then
            sed 's/^/    /' "$log"
        else
            { grep -a -B 20 -A 10 '^not ok' "$log" | head -n 300; echo ..; tail -n 50 "$log"; } | sed 's/^/    /'
        fi
    elif [ $status = 77 ]; then
        echo "skip  $name: $(tail -n 1 "$log")"
    else
        echo "ok    $name: $1 passed$([ "$3" = 0 ] || echo ", $3 skipped")"
        grep -a '# SKIP' "$log" | sed 's/^/    /'
    fi
}

# A Python with NumPy: the environment of `make deps`, else the system's.
find_python() {
    for python in "$VENV/bin/python" python3; do
        "$python" -c 'import numpy' 2>/dev/null && return
    done
    python=
}

# Under the address sanitizer a library in Python needs its runtime in first; the thread sanitizer cannot be loaded late.
run_python() {
    name=$1
    shift
    runtime=$(ldd "$UFUNC_LIB" | awk '/lib[at]san\.so/ {print $3}')
    case $python,$runtime in
    ,*) run "$name" sh -c 'echo "no Python with NumPy here"; exit 77' ;;
    *tsan*) run "$name" sh -c 'echo "Python does not run under the thread sanitizer"; exit 77' ;;
    *asan*) run "$name" env LD_PRELOAD="$runtime" ASAN_OPTIONS="$ASAN_OPTIONS:detect_leaks=0" "$python" "$@" ;;
    *) run "$name" "$python" "$@" ;;
    esac
}

only="$*"
find_python
for program in "$BUILD"/test/test_*; do
    [ ! -f "$program" ] || run "$(basename "$program")" "$program"
done
for script in tests/oracle/*.py; do # those without __main__ are modules
    ! grep -qs __main__ "$script" || run_python "$(basename "$script" .py)" "$script"
done
for script in tests/*/run.sh; do
    case $script in tests/perf/*) continue ;; esac
    [ ! -f "$script" ] || run "$(basename "$(dirname "$script")")" sh "$script"
done
rm -f "$log"

echo "$passed passed, $failed failed$([ $skipped = 0 ] || echo ", $skipped skipped")"
[ $failed = 0 ] && [ $passed -gt 0 ]
