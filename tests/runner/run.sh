#!/bin/sh
# tests/run.sh itself, on programs made for the purpose: what it prints and counts, and that nothing outlives it.
cd "$(dirname "$0")/../.." || exit 1
. tests/tap.sh
mkdir -p "$work/build/test"

# program NAME: its text is the standard input.
program() {
    { echo '#!/bin/sh'; cat; } >"$work/build/test/$1"
    chmod +x "$work/build/test/$1"
}

# tests JOBS PROGRAM..: their report, without seconds.
tests() {
    jobs=$1
    shift
    JOBS=$jobs BUILD=$work/build sh tests/run.sh "$@" >"$work/out"
    status=$?
    sed -E 's/ \([0-9]+ s\)$//' "$work/out"
    return $status
}

program test_a <<'END'
sleep 1
echo 'ok 1 - one'; echo 'ok 2 - two # SKIP for a reason'; echo 1..2
END
echo 'echo "ok 1 - one"; echo 1..1' | program test_b
echo 'echo "ok 1 - one"; echo "what went wrong"; echo "not ok 2 - two"; echo 1..4' | program test_c
echo 'echo "there is none"; exit 77' | program test_d
echo 'echo "ok 1 - one"; kill -9 $$' | program test_e

cat >"$work/expected" <<'END'
ok    test_a: 1 passed, 1 skipped
    ok 2 - two # SKIP for a reason
ok    test_b: 1 passed
FAIL  test_c: 1 passed, 3 failed, exit status 0
    ok 1 - one
    what went wrong
    not ok 2 - two
    1..4
skip  test_d: there is none
FAIL  test_e: 1 passed, 1 failed, exit status 137
    ok 1 - one
4 passed, 4 failed, 2 skipped
END
reports() {
    tests "$1" test_a test_b test_c test_d test_e >"$work/got" && return 1
    diff "$work/expected" "$work/got"
}
passes() { tests 2 test_a test_b | grep -qx '2 passed, 0 failed, 1 skipped' && tests 2 test_b >"$work/got"; }

# All programs meet: each waits until every one of them has begun.
for k in 1 2 3; do
    printf ': >"%s/here.%s"\nfor i in $(seq 100); do [ "$(ls "%s"/here.* | wc -l)" = 3 ] && { echo "ok 1 - met"; exit; }; sleep 0.1; done\n' \
        "$work" $k "$work" | program test_meets_$k
done
at_once() { tests 3 test_meets_1 test_meets_2 test_meets_3; }

program test_long <<END
echo \$\$ >"$work/long"
exec sleep 60
END
# killed SIGNAL [WHOM]: a run that is ended so, alone or with its group ("-"), ends its programs, and its folder goes.
killed() {
    rm -f "$work/long"
    JOBS=1 BUILD=$work/build setsid sh -c 'echo $$ >"$0"; exec sh tests/run.sh test_long' "$work/run" >"$work/out" 2>&1 &
    until [ -s "$work/long" ]; do sleep 0.1; done
    kill "-$1" "${2:-}$(cat "$work/run")"
    for i in $(seq 600); do
        kill -0 "$(cat "$work/long")" 2>"$work/none" || ls -d "$work"/build/run.* >"$work/none" 2>&1 || return 0
        sleep 0.1
    done
    echo "what is left of process $(cat "$work/long"), and of the folder:"
    ps -o pid,ppid,stat,args -p "$(cat "$work/long")" 2>"$work/none"
    find "$work"/build/run.*
    return 1
}

check 'reports, one at a time' reports 1
check 'reports in order, four at once' reports 4
check 'a run that passes' passes
check 'as many at once as told' at_once
check 'a run that is terminated leaves nothing' killed TERM
check 'a run that is terminated with its group leaves nothing' killed TERM -
check 'a run that is killed leaves nothing' killed KILL
echo "1..$n"
