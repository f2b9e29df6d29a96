#!/bin/sh
# The `ufunc` tool: what it prints where, and its exit status.
cd "$(dirname "$0")/../.." || exit 1
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
n=0

# expect STATUS OUT ERR ARGUMENTS..: OUT and ERR are extended regular expressions some line must match; "" means empty.
expect() {
    n=$((n + 1))
    status=$1 out=$2 err=$3
    shift 3
    "$BUILD/ufunc" "$@" >"$work/out" 2>"$work/err" <"${input:-/dev/null}"
    got=$?
    good=yes
    [ $got = "$status" ] || good=no
    if [ -n "$out" ]; then grep -Eq -e "$out" "$work/out" || good=no; elif [ -s "$work/out" ]; then good=no; fi
    if [ -n "$err" ]; then grep -Eq -e "$err" "$work/err" || good=no; elif [ -s "$work/err" ]; then good=no; fi
    label=$(echo "ufunc $*" | tr '\n#' '  ' | cut -c 1-100)
    if [ $good = yes ]; then
        echo "ok $n - $label"
    else
        echo "not ok $n - $label"
        echo "# exit status $got, expected $status; standard output and error:"
        head -n 20 "$work/out" "$work/err" | sed 's/^/# /'
    fi
}

kernel='(x, y) { return 2 * (x - y) / (x + y); }'
signatures='float32,float32->float32; float64,float64->float64'
printf '%s\n' "$kernel" >"$work/rel_diff.txt"

expect 2 '' 'usage: ufunc VERB'
expect 0 'usage: ufunc VERB' '' --help
expect 0 '^ufunc [0-9]+\.[0-9]+\.[0-9]+$' '' --version
expect 2 '' 'there is no verb "frobnicate"' frobnicate

expect 0 'libufunc|[Ll][Ll][Vv][Mm]' '' info
expect 0 'usage: ufunc info' '' info --help
expect 2 '' 'unknown option "--all"' info --all
expect 2 '' 'unexpected "more"' info more

expect 0 'usage: ufunc inspect' '' inspect --help
expect 2 '' 'a kernel is needed' inspect
expect 2 '' 'unknown option "-x"' inspect -x
expect 2 '' 'option "-e" needs a value' inspect -e
expect 2 '' 'unknown view "lisp"' inspect -e "$kernel" -v lisp
expect 2 '' 'unknown device "tpu"' inspect -e "$kernel" -d tpu
expect 2 '' 'unknown device "sm_"' inspect -e "$kernel" -d sm_
expect 2 '' 'unknown device "cuda:-1"' inspect -e "$kernel" -d cuda:-1
expect 2 '' 'no number of registers' inspect -e "$kernel" -r many
expect 2 '' 'unexpected "file"' inspect -e "$kernel" file
expect 1 '' "$work/absent: No such file" inspect "$work/absent"
expect 1 '' 'Is a directory' inspect "$work"

expect 0 'define' '' inspect -e "$kernel" -s "$signatures"
expect 0 'double' '' inspect -e "$kernel" -s "$signatures" -t float64,float64 --view ir
expect 0 'float32' '' inspect "$work/rel_diff.txt" -s "$signatures" --view tree
input=$work/rel_diff.txt
expect 0 'float64' '' inspect - -t float64,float64 --view tree
input=
expect 0 'define' '' inspect -e "$kernel" -s 'ff->f' --device sm_90 --view ir
expect 1 '' '\^' inspect -e '(x) { return x + ; }' -s 'f->f'
expect 1 '' '\^' inspect -e "$kernel" -s 'ff->y'
expect 1 '' 'max_registers|registers' inspect -e "$kernel" -s 'ff->f' -r 7

expect 0 'define' '' inspect -e '(a, b) -> (c) { c = sum(i : n, a[i] * b[i]); }' -l '(n),(n)->()' -s 'dd->d'
expect 1 '' '\^' inspect -e "$kernel" -s 'ff->f' -l '(n),(n'
expect 0 'float64' '' inspect matmul -t dd --view tree
expect 0 'define' '' inspect layouts/softmax.uf -t f
expect 1 '' 'signature' inspect softmax -t complex64
expect 1 '' "$work/absent.uf: " inspect "$work/absent.uf"
expect 1 '' 'matmull: No such file' inspect matmull
expect 2 '' '"matmul" has its own' inspect matmul -s 'ff->f'
expect 2 '' '"matmul" has its own' inspect matmul -l '(n)->()'
printf 'ufunc twice\ndoc Two times\n  its argument\nkernel (x) { return 2 * x; }\n' >"$work/twice.uf"
expect 0 'define' '' inspect "$work/twice.uf" -t float32

expect 0 'usage: ufunc list' '' list --help
expect 2 '' 'unknown option "--all"' list --all
expect 0 '^matmul +\(m\?,n\),\(n,p\?\)->\(m\?,p\?\) +[A-Z]' '' list
expect 0 '^softmax ' '' list
expect 0 '^layout      \(n\)->\(n\)$' '' list softmax
expect 0 '^ +float64->float64$' '' list softmax
expect 0 '^signatures  any types$' '' list "$work/twice.uf"
expect 0 '^elementwise twice$' '' list matmul "$work/twice.uf"
expect 1 '' 'did you mean "softmax"' list sofmax

if [ -w /dev/full ]; then
    n=$((n + 1))
    "$BUILD/ufunc" --version >/dev/full 2>"$work/err"
    [ $? = 1 ] && grep -q 'standard output' "$work/err" || printf 'not '
    echo "ok $n - a full disk is noticed"
fi
echo "1..$n"
