#!/bin/sh
# The `ufunc` tool: what it prints where, and its exit status.
cd "$(dirname "$0")/../.." || exit 1
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
n=0
# The sanitizer guesses where threads keep their variables, and the leak check crashes where it guesses wrong.
export ASAN_OPTIONS="$ASAN_OPTIONS:intercept_tls_get_addr=0"

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
expect 0 'usage: ufunc VERB' '' -h
expect 0 'usage: ufunc VERB' '' help
expect 0 '^usage: ufunc reduceat' '' help reduceat
expect 2 '' 'there is no verb "frobnicate"; `ufunc --help` lists them' frobnicate
expect 2 '' 'there is no verb "reduse"; did you mean "reduce"\?' reduse
expect 2 '' 'there is no verb "outre"; did you mean "outer"\?' outre
expect 2 '' 'there is no verb "call"; did you mean "run"\?' call
expect 2 '' 'there is no verb "softmax"; `ufunc run .softmax. INPUT' softmax x.npy
expect 2 '' 'there is no verb "x\*x"; `ufunc run .x\*x. INPUT' 'x*x' x.npy
expect 2 '' 'there is no verb "rum"; did you mean "run"' help rum
for verb in info list inspect run outer forall at reduce accumulate reduceat bench; do
    expect 0 "^  $verb " '' --help
    expect 0 "^usage: ufunc $verb" '' $verb --help
    expect 0 '^  -h, --help  ' '' $verb -h
done

expect 0 'libufunc|[Ll][Ll][Vv][Mm]' '' info
expect 0 'usage: ufunc info' '' info --help
expect 2 '' 'unknown option "--all"' info --all
expect 2 '' 'unexpected "more"' info more

expect 0 'usage: ufunc inspect' '' inspect --help
expect 2 '' 'a function is needed: a name of the catalogue, a file, a kernel or a formula' inspect
expect 2 '' 'unknown option "-x"' inspect -x
expect 2 '' 'option "-e" needs a value' inspect -e
expect 2 '' 'view needs tree, ir, ptx, asm or resources, not "lisp"' inspect -e "$kernel" -v lisp
expect 2 '' 'device needs cpu, cuda, cuda:N or sm_NN, not "tpu"' inspect -e "$kernel" -d tpu
expect 2 '' 'device needs cpu, cuda, cuda:N or sm_NN, not "sm_"' inspect -e "$kernel" -d sm_
expect 2 '' 'device needs cpu, cuda, cuda:N or sm_NN, not "cuda:-1"' inspect -e "$kernel" -d cuda:-1
expect 2 '' 'max-registers needs a number of registers, not "many"' inspect -e "$kernel" -r many
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
expect 1 '' 'the catalogue has no "matmull"; did you mean "matmul"' inspect matmull
expect 2 '' '"matmul" has its own' inspect matmul -s 'ff->f'
expect 2 '' '"matmul" has its own' inspect matmul -l '(n)->()'
printf 'ufunc twice\ndoc Two times\n  its argument\nkernel (x) { return 2 * x; }\n' >"$work/twice.uf"
printf '(x) { return 2 * x; }' >"$work/twice.txt"
expect 0 'define' '' inspect "$work/twice.uf" -t float32

expect 0 'usage: ufunc list' '' list --help
expect 2 '' 'unknown option "--all"' list --all
expect 0 '^matmul +\(m\?,n\),\(n,p\?\)->\(m\?,p\?\) +[A-Z]' '' list
expect 0 '^softmax ' '' list
expect 0 '^mod +elementwise ' '' list
expect 0 '^elementwise mod$' '' list mod
expect 0 '^layout      \(n\)->\(n\)$' '' list softmax
expect 0 '^ +float64->float64$' '' list softmax
expect 0 '^signatures  any types$' '' list "$work/twice.uf"
expect 0 '^elementwise twice$' '' list matmul "$work/twice.uf"
expect 1 '' 'did you mean "softmax"' list sofmax

# npy FILE DESCR SHAPE ORDER BYTES: BYTES as printf wants them.
npy() {
    { printf '\223NUMPY\001\000\166\000%-117s\n' "{'descr': '$2', 'fortran_order': $4, 'shape': $3, }"; printf "$5"; } >"$work/$1"
}
npy a.npy '|u1' '(2, 3)' False '\001\002\003\004\005\006'
npy b.npy '|i1' '(3,)' False '\012\024\036'
npy mask.npy '|b1' '(3,)' False '\001\000\001'
npy big.npy '>i2' '(2, 2)' True '\000\001\000\002\000\003\000\004'
npy half.npy '<V2' '(2,)' False '\200\077\000\100' # bfloat16 1 and 2
npy float.npy '<f4' '(2,)' False '\000\000\200\077\000\000\000\100'
npy object.npy '|O' '(1,)' False 'abc'
npy short.npy '<i8' '(100,)' False 'abc'
add='(x, y) { return x + y; }'

expect 0 'usage: ufunc run' '' run --help
expect 2 '' 'a function is needed' run
expect 2 '' 'unknown option "-x"' run "$add" -x
expect 2 '' 'unknown option "--initial"; it is an option of `ufunc reduce`' run "$add" --initial 3
expect 2 '' 'option "-o" needs a value' run "$add" -o
expect 2 '' 'kernel takes 2 inputs, but 1 is given' run "$add" 1
expect 2 '' '-o is there 2 times' run "$add" 1 2 -o "$work/x" -o "$work/y"
expect 2 '' 'output needs a path, another one for each output' run "$add" 1 2 -o "$work/x" -o "$work/x"
expect 2 '' 'dtype needs a dtype, e.g. float32, not "float"' run "$add" 1 2 --dtype float
expect 2 '' 'axis needs an axis, not "0,1"' run "$add" 1 2 --axis 0,1
expect 2 '' 'device needs cpu, cuda or cuda:N, not "sm_90"' run "$add" 1 2 --device sm_90
expect 2 '' '"softmax" has its own' run softmax -l '(n)->()' 1

expect 2 '' 'output needs a path, another one for each output' run "$add" 1 2 -o "$work/x.npy" -o "$work/./x.npy"
expect 2 '' 'output needs a path, another one for each output' run "$add" 1 2 -o "$work/x.npy" -o "$work/x.npy:csv"
ln -s x.npy "$work/link.npy"
expect 2 '' 'output needs a path, another one for each output' run "$add" 1 2 -o "$work/x.npy" -o "$work/link.npy"
for to in "$work/z.npz:x" "$work/r.bin:float64[2,3]" "$work/r:<float64[]" "$work/r.csv:x" -:cvs; do
    expect 1 '' 'is no form of an output; npy, csv, tsv, txt and raw are' run "$add" 1 2 -o "$to"
done
expect 0 '' '' run "$add" 1 2 -o "$work/at 12:30.csv"
expect 0 '^4$' '' run "$add" 1 "$work/at 12:30.csv" -o -:csv
printf -- '-0,1\n' >"$work/zero.csv"
expect 0 '^-inf,1$' '' run '1 / x' "$work/zero.csv" -o -:csv

expect 0 '^5$' '' run "$add" 2 3
expect 0 '^-1\.5$' '' run -e "$add" 1 -2.5
expect 0 '^-1\.5$' '' run 1 -e "$add" -2.5
expect 0 '^-1\.5$' '' run 1 -2.5 -e 'x + y'
expect 2 '' '-e needs a kernel or a formula; "sqrt" is a function, which goes in front of the inputs, without -e' run -e sqrt 4
expect 2 '' '"layouts/sqrt.uf" is a function' run 4 -e layouts/sqrt.uf
expect 0 '^ \[ -6 -15 -24\]\]$' '' run "$work/a.npy" "$work/b.npy" -e 'y - x' -t int64
expect 2 '' 'kernel takes 2 inputs, but 3 are given' run "$add" -e "$add" 1 -2.5
expect 2 '' 'unexpected "add"' inspect add -e "$kernel"
expect 2 '' 'more than 63 operands' at $(seq 64) -e 'x + y'
expect 0 '^1\+2j$' '' run "$add" 1 2j
expect 0 '^-3$' '' run -- "$add" -1 -2
expect 0 '^ \[14 25 36\]\]$' '' run "$add" "$work/a.npy" "$work/b.npy"
expect 0 '^int32 \(2, 2\)$' '' run "$add" "$work/big.npy" 1
expect 0 '^ \[3 5\]\]$' '' run "$add" "$work/big.npy" 1
expect 0 '^ \[1000004 +1000005 +1000006\]\]$' '' run add "$work/a.npy" 1e6
expect 0 '^float64 \(2, 3\)$' '' run add "$work/a.npy" 1e6
expect 0 '^int64 \(3\)$' '' run add "$work/mask.npy" 300
expect 0 '^ \[true +true +true\]\]$' '' run less "$work/a.npy" 300
expect 0 '^ \[true +true +true\]\]$' '' run less "$work/a.npy" 18446744073709551615
expect 0 '^ \[false +false +false\]\]$' '' run -- less "$work/a.npy" -1
expect 1 '' 'argument 1: 300 does not fit uint8, .* \(argument 1 is "300"\)' run add "$work/a.npy" 300
expect 1 '' 'a floating number \(float64\), which does not cast safely to float32' run -s 'ff->f' "$add" "$work/a.npy" 0.5
expect 0 '^bfloat16 \(2\)$' '' run '(x) { return x; }' "$work/half.npy" --dtype bfloat16
expect 0 '^\[false +true\]$' '' run '(x) { return x > 1; }' "$work/half.npy" --dtype bfloat16
expect 0 '^float64 \(2\)$' '' run "$add" "$work/float.npy" 1 --dtype float64
expect 0 '^\[ *2\.718.*7\.389' '' run -s 'dd->d' '(x, y) { return exp(x) + y; }' "$work/float.npy" 0
expect 0 '^\[10 +0 30\]$' '' run '(x) { return x; }' "$work/b.npy" --where "$work/mask.npy"
expect 0 '^\[2 4\]$' '' run "$work/twice.uf" "$work/float.npy"
expect 0 '^\[2 4\]$' '' run "$work/twice.txt" "$work/float.npy"
expect 0 '^float64 \(2\)$' '' run softmax "$work/float.npy" -s 'float64->float64'
expect 0 '^ \[ *0\.731[0-9]* +0\.731' '' run softmax "$work/big.npy" --axis 0
expect 0 '^float32 \(2, 1\)$' '' run vecdot "$work/a.npy" "$work/b.npy" -t float32 -k
expect 2 '' 'vecdot takes 2 inputs' run vecdot "$work/a.npy"
expect 1 '' 'argument 1: .*\(argument 1 is ".*/big.npy"\)' run vecdot "$work/a.npy" "$work/big.npy"
expect 1 '' '/absent.npy: No such file' run "$add" "$work/a.npy" "$work/absent.npy"
expect 1 '' '/object.npy: byte 19: the dtype is "\|O", Python objects' run "$add" "$work/a.npy" "$work/object.npy"
expect 1 '' '/short.npy: ends after 131 bytes; its header promises 800' run "$add" "$work/short.npy" 1
expect 1 '' '/half.npy: has dtype V2' run "$add" "$work/half.npy" 1
expect 1 '' 'is no .npy file' run "$add" 1 "$work/twice.uf"
expect 1 '' '^  \(x\) \{ return x \+ ; \}$' run '(x) { return x + ; }' 1
expect 1 '' '/nowhere/x.npy: No such file' run "$add" 1 2 -o "$work/nowhere/x.npy"
input=$work/a.npy
expect 0 '^ \[ 8 10 12\]\]$' '' run "$work/twice.uf" -
input=
expect 2 '' '--shape is needed for each output of histogram, and --dtype' run histogram "$work/float.npy" 0 4 --shape 4
expect 2 '' 'shape needs extents' run histogram "$work/float.npy" 0 4 --shape four
expect 1 '' 'shape\[0\] is -4' run histogram "$work/float.npy" 0 4 --shape -4 -t int64
expect 1 '' 'known from the outputs alone' run histogram "$work/float.npy" 0 4
expect 0 '^bfloat16 \(2\)$' '' run '(x) { return x; }' "$work/half.npy" --shape 2 --dtype bfloat16
expect 0 '^\[0 1 1 0\]$' '' run histogram "$work/float.npy" 0 4 --shape 4 -t int64

cat >"$work/range.uf" <<'END'
reduction   range
doc         The least and the largest element.
signatures  float32->float32,float32
map         (x) -> (low, high) { low = x; high = x; }
combine     (a, b, c, d) -> (low, high) { low = min(a, c); high = max(b, d); }
END
sum="-s dd->d"
expect 0 'usage: ufunc reduce' '' reduce --help
expect 2 '' 'a function is needed' reduce
expect 2 '' 'unknown option "--layout"' reduce --layout '(n)->()'
expect 2 '' 'axis needs a list of axes, e.g. 0,2, not "0,x"' reduce "$add" $sum "$work/a.npy" --axis 0,x
expect 2 '' 'axis needs a list of axes' reduce "$add" $sum "$work/a.npy" --axis 99999999999
expect 2 '' 'initial needs up to 16 numbers' reduce "$add" $sum "$work/a.npy" --initial zero
expect 2 '' 'kernel begins with 1 number, but --initial has 2' reduce "$add" $sum "$work/a.npy" --initial 0,1
expect 2 '' 'kernel takes 1 input, but 2 are given' reduce "$add" $sum "$work/a.npy" "$work/b.npy"
expect 0 '^int16 \(2, 2\)$' '' reduce matmul "$work/big.npy"
expect 2 '' 'softmax does not reduce' reduce softmax "$work/float.npy"
expect 2 '' 'kernel does not reduce' reduce '(x) { return x; }' "$work/float.npy"
expect 2 '' 'range is a reduction; `ufunc reduce`, `accumulate` and `reduceat` run it' run "$work/range.uf" "$work/float.npy"
expect 1 '' 'axis 2 is out of range|axis 2' reduce "$add" $sum "$work/a.npy" --axis 2
expect 1 '' 'axis' reduce "$add" $sum "$work/a.npy" --axis 0,-2
expect 1 '' 'no identity|identity' reduce "$add" $sum "$work/a.npy" --where "$work/mask.npy"
expect 0 '^reduces     in any order, identity none$' '' list "$work/range.uf"
expect 0 '^reduction   *range$' '' list "$work/range.uf"
cat >"$work/smooth.uf" <<'END'
forall      smooth
doc         The mean of neighbours.
parameters  float32[], float32[]; float64[], float64[]
kernel      [i : n](x, y) { if (i > 0 && i < n - 1) y[i] = (x[i-1] + x[i] + x[i+1]) / 3; }
END
expect 0 '^kernel      smooth$' '' list "$work/smooth.uf"
expect 0 '^parameters  float32\[\], float32\[\]$' '' list "$work/smooth.uf"
expect 2 '' 'smooth is a kernel over indices; `ufunc forall` runs it' run "$work/smooth.uf" "$work/float.npy"
expect 2 '' 'smooth does not reduce' reduce "$work/smooth.uf" "$work/float.npy"
expect 0 'element float64' '' inspect "$work/smooth.uf" -v tree -t 'd[], d[]'
expect 1 '' 'the parameter list asked for, int8\[\], is not in its list' inspect "$work/smooth.uf" -v tree -t 'b[]'
expect 0 '^define' '' inspect -e '[i](a) { a[i] = i; }' -p 'int32[]' --lines
expect 1 '' 'only kernels over indices' inspect -e '[i](a) { a[i] = i; }' -s 'i->i'

expect 0 '^21$' '' reduce "$add" $sum "$work/a.npy"
expect 0 '^\[5 7 9\]$' '' reduce "$add" $sum "$work/a.npy" --axis 0
expect 0 '^\[ 6 15\]$' '' reduce "$add" $sum "$work/a.npy" --axis -1
expect 0 '^float64 \(1, 3\)$' '' reduce "$add" $sum "$work/a.npy" --axis 0 --keepdims
expect 0 '^ \[4 5 6\]\]$' '' reduce "$add" $sum "$work/a.npy" --axis ''
expect 0 '^121$' '' reduce "$add" $sum "$work/a.npy" --axis 1,0 --initial 1e2
expect 0 '^14$' '' reduce "$add" $sum "$work/a.npy" --initial 0 --where "$work/mask.npy"
expect 0 '^float32 \(3\)$' '' reduce "$add" $sum "$work/a.npy" -a 0 --dtype float32
expect 0 '^-19$' '' reduce '(x, y) { return x - y; }' $sum "$work/a.npy" -a 0,1 --serial
expect 0 '^10$' '' reduce "$add" $sum "$work/big.npy" --threads 1
expect 0 '^3$' '' reduce "$add" $sum "$work/half.npy" --dtype bfloat16
expect 0 '^2$' '' reduce "$work/range.uf" "$work/float.npy"

expect 0 '^uint64 \(1, 3\)$' '' reduce sum "$work/a.npy" --axis 0 --keepdims
expect 0 '^\[1 1\]$' '' reduce var "$work/big.npy" --axis -1 --initial 0,0,0 -t float32
expect 0 '^1\.5$' '' reduce mean "$work/float.npy"
expect 0 '^5$' '' reduce dot "$work/float.npy" "$work/float.npy"
expect 0 '^-19$' '' reduce subtract "$work/a.npy" -t int64
expect 0 '^float32 \(2\)$' '' reduce add "$work/a.npy" -a 1 -t float32
expect 0 '^uint64 \(2, 3\)$' '' accumulate add "$work/a.npy" --axis 1
expect 0 '^ \[14 25 36\]\]$' '' run add "$work/a.npy" "$work/b.npy" -s 'int64,int64->int64'

expect 0 'usage: ufunc accumulate' '' accumulate --help
expect 2 '' 'unknown option "--where"' accumulate "$add" $sum "$work/a.npy" --where "$work/mask.npy"
expect 2 '' 'axis needs an axis' accumulate "$add" $sum "$work/a.npy" --axis 0,1
expect 2 '' 'softmax does not reduce' accumulate softmax "$work/float.npy"
expect 1 '' 'axis' accumulate "$add" $sum "$work/a.npy" --axis 2
expect 0 '^ \[5 7 9\]\]$' '' accumulate "$add" $sum "$work/a.npy"
expect 0 '^ \[ 4  9 15\]\]$' '' accumulate "$add" $sum "$work/a.npy" --axis -1

# leaves FILE DESCR SHAPE BYTES: so is what the last command left in a file.
leaves() {
    n=$((n + 1))
    npy expected.npy "$2" "$3" False "$4"
    cmp "$work/$1" "$work/expected.npy" >"$work/out" 2>&1 || printf 'not '
    echo "ok $n - it leaves $1"
    [ ! -s "$work/out" ] || sed 's/^/# /' "$work/out"
}
expect 0 '' '' run '(x) { return x; }' "$work/big.npy" -o "$work/out.npy"
leaves out.npy '<i2' '(2, 2)' '\001\000\003\000\002\000\004\000'
expect 0 '' '' run '(x) -> (y, z) { y = -x; z = x > 15; }' "$work/b.npy" -o "$work/y.npy" -t int8 -o "$work/z.npy"
leaves y.npy '|i1' '(3,)' '\366\354\342'
leaves z.npy '|i1' '(3,)' '\000\001\001'
expect 0 '' '' run '(x) { return x; }' true -o "$work/number.npy"
leaves number.npy '|b1' '()' '\001'
expect 1 '' 'which does not cast' run '(x) { return x / 2; }' "$work/float.npy" -t int32 -o "$work/b.npy"
leaves b.npy '|i1' '(3,)' '\012\024\036'
# Outputs that cannot be written are refused before anything is computed or replaced.
endless='(x) -> (y, z) { y = x; z = x; while (x > 0) ; }'
expect 1 '' 'q.npz: archives are not written' run "$endless" "$work/b.npy" -M 1000 -o "$work/b.npy" -o "$work/q.npz"
leaves b.npy '|i1' '(3,)' '\012\024\036'
expect 1 '' 'nowhere/q.npy: No such file or directory' run "$endless" "$work/b.npy" -M 1000 -o "$work/b.npy" -o "$work/nowhere/q.npy"
expect 1 '' ': Is a directory' run "$endless" "$work/b.npy" -M 1000 -o "$work/b.npy" -o "$work"
leaves b.npy '|i1' '(3,)' '\012\024\036'
expect 1 '' 'q.npz: archives are not written' forall '[i](x) { while (x[i] >= 0) ; }' 'int8[3]' -M 1000 -o "$work/q.npz"
expect 1 '' 'q.csv: text has rows and columns of numbers; the output has 3 dimensions' forall '[i, j, k](x) { while (x[i][j][k] >= 0) ; }' \
    'int8[3,1,1]' -M 1000 -o "$work/q.csv"
expect 0 '' '' run '(x) { return (int8)(x + 1); }' "$work/b.npy" -o "$work/b.npy"
leaves b.npy '|i1' '(3,)' '\013\025\037'
expect 0 '' '' reduce "$work/range.uf" "$work/float.npy" -o "$work/low.npy" -o "$work/high.npy"
leaves low.npy '<f4' '()' '\000\000\200\077'
leaves high.npy '<f4' '()' '\000\000\000\100'
expect 0 '' '' reduce "$add" -s 'hh->h' "$work/big.npy" -a 1 -k -o "$work/sums.npy"
leaves sums.npy '<i2' '(2, 1)' '\004\000\006\000'
expect 0 '' '' accumulate "$add" -s 'bb->b' "$work/b.npy" -o "$work/sums.npy"
leaves sums.npy '|i1' '(3,)' '\013\040\077'
input=$work/b.npy
expect 0 'NUMPY' '' run '(x) { return (int8)(x + 1); }' - -o -
cp "$work/out" "$work/standard.npy"
leaves standard.npy '|i1' '(3,)' '\014\026\040'
input=

# holds FILE TEXT: the file has these lines.
holds() {
    n=$((n + 1))
    printf "$2" >"$work/expected"
    cmp "$work/$1" "$work/expected" >"$work/out" 2>&1 || printf 'not '
    echo "ok $n - $1 has what was written to it"
    [ ! -s "$work/out" ] || { cat "$work/out"; od -c "$work/$1"; } | sed 's/^/# /'
}
# Of a file that standard output goes to, nothing is lost.
for to in -:csv /dev/stdout:csv "$work/app.txt:csv" /dev/fd/3:csv /dev/stderr:csv; do
    { echo first; "$BUILD/ufunc" run "$add" 1 2 -o $to; echo last; } >"$work/app.txt" 2>&1 3>&1
    holds app.txt 'first\n3\nlast\n'
done
echo 1 >"$work/in.csv" # one that is open for reading is replaced
"$BUILD/ufunc" run 'x + 1' -:csv -o "$work/in.csv" <"$work/in.csv"
holds in.csv '2\n'

# Verbs of the library that have no `run` in them.
npy counts.npy '<i8' '(2,)' False '\001\000\000\000\000\000\000\000\002\000\000\000\000\000\000\000'
npy none.npy '|b1' '(1,)' False '\000'
npy index.npy '|u1' '(2,)' False '\000\001'
npy zero.npy '|u1' '(1,)' False '\000'
npy five.npy '|u1' '(4,)' False '\002\003\012\024'
npy wide.npy '<f8' '(2,)' False '\000\000\000\000\000\000\360\077\000\000\000\000\000\000\000\100' # 1 and 2
expect 0 '^ \[22 42 62\]\]$' '' outer multiply "$work/counts.npy" "$work/b.npy" -t int64
expect 0 '^int64 \(2, 3, 2\)$' '' outer '(x, y, z) { return x + y * z; }' "$work/counts.npy" "$work/b.npy" "$work/counts.npy"
expect 0 '^\[\[0 0 0\]\]$' '' outer '(x, y) { return x + y; }' "$work/zero.npy" "$work/b.npy" -w "$work/none.npy" -t int8
expect 0 '^\[11 12\]$' '' outer add "$work/counts.npy" 10
expect 2 '' 'softmax is not elementwise, and has no outer form' outer softmax "$work/float.npy"
expect 2 '' 'add takes 2 inputs, but 1 is given' outer add "$work/float.npy"
expect 2 '' 'unknown option "--axis"; it is an option of `ufunc run`, .*`ufunc reduceat`' outer add 1 2 --axis 0

expect 0 '^\[ 1 12\]$' '' at add "$work/counts.npy" 1 10
expect 0 '^\[-1 -2\]$' '' at negative "$work/counts.npy" "$work/index.npy"
expect 0 '^\[2 3\]$' '' at add "$work/counts.npy" "$work/index.npy" 1
expect 0 '^float64 \(2\)$' '' at add "$work/counts.npy" -1 0.5 -t float64 -c unsafe
expect 0 '^int8 \(2\)$' '' at add "$work/wide.npy" 0 1 -t int8 -c unsafe
expect 0 '^\[2 2\]$' '' at add "$work/wide.npy" 0 1 -t int8 -c unsafe
expect 1 '' '^ufunc: the output: is int8, but target gives float64, which does not cast to it under the rule same_kind; the rule unsafe allows it$' \
    at add "$work/wide.npy" 0 1 -t int8
expect 1 '' 'under the rule safe' at add "$work/wide.npy" 0 1 -t float32 -c safe
expect 2 '' 'add needs a target, an index for each of its first dimensions, and an operand' at add "$work/counts.npy" 1
expect 2 '' 'sum does not update elements' at sum "$work/counts.npy" 1
expect 1 '' 'indices\[0\]: is 2, .*\(argument 1 is "2"\)' at add "$work/counts.npy" 2 1
expect 2 '' 'more than 63 operands' at add $(seq 70)

expect 0 '^\[ 5 30\]$' '' reduceat add "$work/five.npy" --starts 0,2
expect 0 '^\[ 5 30\]$' '' reduceat add "$work/five.npy" --starts 0,2 --uneven
expect 0 '^ \[ 4 11\]\]$' '' reduceat add "$work/a.npy" --starts 0,1 --axis -1 -t int8 -c unsafe
expect 0 '^uint64 \(1, 3\)$' '' reduceat add "$work/a.npy" -x "$work/zero.npy"
expect 2 '' '--starts is needed: 0,4,8 or a file' reduceat add "$work/a.npy"
input=$work/index.npy
expect 0 '^\[ 2 33\]$' '' reduceat add "$work/five.npy" --starts -
input=
expect 2 '' 'starts needs 0,4,8 or a file, not "0,,4"' reduceat add "$work/a.npy" --starts 0,,4
expect 1 '' 'absent.npy: No such file' reduceat add "$work/a.npy" --starts "$work/absent.npy"
expect 1 '' 'starts: element 1 is 9' reduceat add "$work/a.npy" --starts 0,9
expect 1 '' 'axis' reduceat add "$work/a.npy" --starts 0 --axis 5
expect 2 '' 'softmax does not reduce' reduceat softmax "$work/float.npy" -x 0

expect 0 '^\[ 1 -4\]$' '' forall '[i](u, v) { v[i] = u[i] * (1 - 3 * i) ; }' "$work/float.npy" "copy:$work/float.npy" --threads 1
expect 0 '^\[0 1 1\]$' '' forall '[i](x, h) { atomic_add(h[x[i]], 1); }' "$work/counts.npy" 'int64[3]' --shape 2
expect 0 '^float32 \(2, 2\)$' '' forall '[i, j](x, k, y) { y[i][j] = x[i] * k + j; }' "$work/float.npy" 0.5 'float32[2,2]' -n 2,2
expect 0 '^\[1 2\]$' '' forall "$work/smooth.uf" "$work/wide.npy" "copy:$work/wide.npy"
expect 0 '^\[0\.5\]$' '' forall '[i](k, y) { y[i] = k; }' -p 'float32, float32[]' 0.5 'float32[1]'
expect 0 '^float32 \(0\)$' '' forall '[i](y) { y[i] = 1; }' 'float32[0]'
expect 0 '^\[1 2\]$' '' forall '[i](x, y) { y[i] = x[i]; x[i] = 7; }' "$work/float.npy" 'float32[2]'
leaves float.npy '<f4' '(2,)' '\000\000\200\077\000\000\000\100'
expect 0 '' '' forall '[i](x, y, z) { y[i] = x[i]; z[i] = 2 * i; }' "$work/counts.npy" 'int8[2]' 'int8[2]' -o "$work/y.npy" -o "$work/z.npy"
leaves y.npy '|i1' '(2,)' '\001\002'
leaves z.npy '|i1' '(2,)' '\000\002'
expect 2 '' 'shape N,.. is needed, the extents of the space, since the arrays have several shapes' forall '[i](x, y) { y[i] = x[i]; }' "$work/b.npy" 'int8[2]'
expect 1 '' 'int8\[\]: No such file' forall '[i](x) { }' 'int8[]'
expect 2 '' 'no argument is an output, which is DTYPE\[N,..\] or copy:FILE' forall '[i](x) { x[i] = 1; }' "$work/b.npy"
expect 2 '' '1 argument is an output, but -o is there 2 times' forall '[i](x) { }' 'int8[2]' -o "$work/y" -o "$work/z"
expect 2 '' 'add is no kernel over indices' forall add 'int8[2]'
expect 1 '' 'its number of indices is 1' forall '[i](x) { }' 'int8[2]' -n 2,2
expect 1 '' 'shape N,.. is the space: an extent for each index' forall '[i](x) { }' 'int8[2]' -n 2,2
expect 1 '' 'int3\[2\]: No such file' forall '[i](x) { }' 'int3[2]'
expect 1 '' 'absent.npy: No such file' forall '[i](x) { }' "copy:$work/absent.npy"
expect 1 '' 'a number cannot be copied' forall '[i](x) { }' copy:3
expect 1 '' 'index 5 is outside' forall '[i](x) { x[i + 5] = 1; }' 'int8[2]' --debug

# Formulas: the names are the parameters, in the order in which they appear.
expect 0 '^9$' '' run 'x*x' 3
expect 0 '^-1$' '' run 'b - a' 3 4
expect 0 '^0\.75$' '' run 'x/y' 3. 4
expect 0 '^3$' '' run -e '(int)(M_PI * x)' 1
expect 0 '^0\.5$' '' run 'sin (x*0) + (double)k/2' 3 1
expect 0 '^5$' '' run 'max(x, y) > 4 ? 5 : x' 3 7
expect 0 '^21$' '' reduce 'x+y' "$work/a.npy" -s 'dd->d'
expect 0 '^\[1 3\]$' '' accumulate -e 'p + q' "$work/float.npy"
printf 'x * 2\n' >"$work/formula.txt"
expect 0 '^6$' '' run "$work/formula.txt" 3
expect 0 '^3\.24202959' '' run 'softplus(softplus(x) - x) + sin(y) * 0 + softplus(x) / 2 + 1' 3 4
expect 0 '^3\.0485873' '' run -e 'softplus( x )' 3
expect 1 '' "the function 'foo' is not known" run 'softplus(foo(y))' 3
expect 1 '' '^  use softplus; \(y\) \{ return softplus\(foo\(y\)\); \}$' run 'softplus(foo(y))' 3
expect 2 '' 'kernel takes 2 inputs, but 1 is given' run 'x*y' 3
expect 0 '^7$' '' run '(size_t)x + (ptrdiff_t)y + (_Float16)2 + (__bf16)0 + (ssize_t)0 + (intptr_t)0 + (uintptr_t)0' 3 2
printf '/* area; {of} what */ x * y // a product, no {kernel}\n' >"$work/formula.txt"
expect 0 '^6$' '' run "$work/formula.txt" 3 2
expect 0 '^6$' '' run 'x * y // z' 3 2
printf '// a {kernel}\n(x) { return 2 * x; } // of x\n' >"$work/kernel.txt"
expect 0 '^6$' '' run "$work/kernel.txt" 3
cp "$work/a.npy" "$work/nameless"
for data in "$work/a.npy" "$work/nameless" "$work/a.npy:npy" "$work/out.npy:uint8[]" -:csv; do
    expect 2 '' 'is a file of data; the function stands in front of it, or behind -e' run "$data" "$work/b.npy"
done
expect 2 '' '"x\+1" is no kernel over indices: that is written \[i\]\(x, y\)' forall 'x+1' 'float64[3]'
expect 2 '' '"x\+1" is no kernel over indices' inspect 'x+1' -p 'float64[]'
expect 0 '^usage: ufunc forall \(NAME \| FILE.uf \| KERNEL \| FILE \| -e KERNEL\)' '' forall --help
expect 0 '^6$' '' run 'x * x + y' 3. 1 --derivative 0
expect 0 '^12$' '' run '(x, y) { return x * x * y; }' -y 0 3. 2
expect 1 '' 'input' run 'x * x' 3. --derivative 1
expect 2 '' 'derivative needs the number of an input, from 0 on, not "x"' run 'x * x' 3. --derivative x
expect 0 'define' '' inspect 'x * x' -y 0 -t float64
expect 0 '^float32 \(2\)$' '' run 'x + 1' "$work/counts.npy" -t f4 -c unsafe
expect 2 '' 'not "V2"' run 'x + 1' 1 -t V2
expect 0 '^interval +module +[A-Z]' '' list
expect 0 '^records     interval\(T\)' '' list interval
expect 0 '^module      dual$' '' list add dual
expect 1 '' 'expected an expression' run 'x +' 3
expect 1 '' '"return x\*x;" is no expression, and no kernel: that is written \(x, y\) \{ return x \* y; \}' run 'return x*x;' 3
expect 1 '' 'folder/kernel.txt: No such file' run folder/kernel.txt 3
expect 1 '' 'name the dtypes of its inputs' inspect 'x+y'
expect 1 '' '^  -t says them' inspect 'x+y'
expect 0 'define' '' inspect 'x+y' -t float32,float32

# What was meant, in the words of the tool.
expect 1 '' 'the catalogue has no "sofmax"; did you mean "softmax"' run sofmax "$work/float.npy"
expect 2 '' 'unknown option "--devise"; did you mean "--device"\?' run add 1 2 --devise cpu
expect 2 '' '"--de" can be "--derivative" or "--device"' run add 1 2 --de cpu
expect 2 '' 'option "--fast" has no value' run add 1 2 --fast=3
expect 2 '' 'unknown option "-x"; it is an option of `ufunc reduceat`' run add 1 2 -kx
expect 2 '' 'unknown option "-é";' run add -é 1 2
expect 2 '' 'unknown option "-é";' run add -ké 1 2
expect 2 '' 'unknown option "-é";' run add -ék 1 2
expect 2 '' 'unknown option "-Q";' run add 1 2 -kQ
expect 2 '' 'unknown option "--bogus";' run add 1 2 --bogus
expect 2 '' 'not "flaot32"; did you mean "float32"\?' run add 1 2 --dtype flaot32
expect 2 '' 'not "saef"; did you mean "safe"\?' run add 1 2 --casting saef
expect 1 '' 'shape N,.. and --dtype DTYPE say what the output is' run histogram "$work/float.npy" 0 4
expect 1 '' 'dtype DTYPE gives the output another dtype, --casting RULE allows more casts' run add "$work/float.npy" 1 -t int8
expect 0 '^\[2 3\]$' '' run add "$work/float.npy" 1 -t int8 -c unsafe
expect 1 '' '^  `ufunc forall` runs it$' run '[i](x) { x[i] = 1; }' 3
expect 1 '' '^  -p gives the parameters' inspect '[i](x) { x[i] = 1; }'
expect 0 '^int64 \(3\)$' '' run add "$work/b.npy" 1 --strong-numbers
# What the caller wrote stays as it is, and so the caret points to where it did.
expect 1 '' '^  \(uf_call, UF_ORDERED\) \{ return uf_call \+ UF_ORDERED \+ \); \}$' run 'uf_call + UF_ORDERED + )' 1 2
expect 1 '' '^ {56}\^$' run 'uf_call + UF_ORDERED + )' 1 2
expect 1 '' "the function 'uf_sync' is not known" run 'uf_sync(max_steps)' 1
expect 1 '' 'unknown dtype "auto": a function without --signatures takes any dtypes' run -e 'x*2' 1 -s 'auto->f'
expect 1 '' 'it has 1 core dimension, but list 0 of --axes has 2 of them' run softmax "$work/a.npy" --axes 0,1 --axes 0
expect 1 '' 'there are 3 indices, but the target has 2 dimensions' at add "$work/a.npy" 0 1 2 3
expect 1 '' 'sqrt has no core dimensions; --axis, --axes and --keepdims are for functions that have some' run sqrt "$work/a.npy" --keepdims
expect 1 '' '--axes and --axis are both there; at most one of them' run softmax "$work/a.npy" --axes 0 --axes 0 --axis 0
expect 1 '' 'the space has 2 dimensions, but its number of indices is 1' forall '[i](x) { }' 'int8[2]' -n 2,2
expect 1 '' '--axis has 3 axes, but the rank of what is reduced is 2' reduce sum "$work/a.npy" -a 0,1,0
# No message has a name of the C interface in it.
n=$((n + 1))
for arguments in 'run sum 1' 'run matmul 1 2' 'reduce softmax 1' 'inspect -e [i](a){} -s f' 'list intervall' 'forall [i](a){} int8[2] -n 2,2' \
    'reduce add 1 -O -S' 'outer matmul 1 2' 'at sum 1 2' 'run softmax 1 -a 0 -A 0' "run softmax $work/a.npy -A 0" 'reduceat max 1 -x 0' \
    "accumulate add $work/a.npy -O -S" "forall [i](a){} int8[2] -B 7" "forall [i](a){} int8[2] -E 7" "forall [i](a){} -n -3 int8[2]" \
    "run vecdot $work/a.npy $work/b.npy -a 0 -k -A 0" "run add 1 2 -k" \
    "run -e x*2 1 -s auto->f" "at add $work/a.npy 0 1 2 3" "reduce sum $work/a.npy -a 0,1,0"; do
    "$BUILD/ufunc" $arguments >"$work/out" 2>"$work/one"
    [ $? != 0 ] || echo "$arguments: it fails"
    grep -E '\b(uf|UF)_|options->|naxes|nindices|ndim|NULL' "$work/one" | sed "s|^|$arguments: |"
done >"$work/err" 2>&1
[ ! -s "$work/err" ] || printf 'not '
echo "ok $n - no message has a name of the C interface"
sed 's/^/# /' "$work/err"

# Files of other forms; tests/oracle/npy.py has them against NumPy.
printf 'a,b\n1,2\n3,4.5\n' >"$work/t.csv"
printf '\001\002\003\004' >"$work/t.bin"
expect 0 '^ \[6 9\]\]$' '' run 'x*2' "$work/t.csv"
expect 0 '^3,4\.5$' '' run '(x) { return x; }' "$work/t.csv" -o -:csv
expect 0 '^3 4$' '' run '(x) { return x; }' "$work/t.bin:uint8[2,2]" -o -:txt
expect 0 '^int16 \(2\)$' '' run '(x) { return x; }' "$work/t.bin:>int16[]"
expect 0 '^\[258 772\]$' '' run '(x) { return x; }' "$work/t.bin:>int16[]"
expect 1 '' 't.bin: raw data do not say what they are' run '(x) { return x; }' "$work/t.bin"
expect 1 '' '"int3\[2\]" is no form' run '(x) { return x; }' "$work/t.bin:int3[2]"
expect 1 '' 't.bin:uint8\[3\]: has 4 bytes; the dtype and shape given need 3' run '(x) { return x; }' "$work/t.bin:uint8[3]"
expect 1 '' 'a.npy:npz: is no zip archive' run '(x) { return x; }' "$work/a.npy:npz"
expect 1 '' 'line 1: column 1: ' run '(x) { return x; }' "$work/a.npy:csv"
printf '1,5;2,5\n' >"$work/comma.csv"
expect 1 '' 'comma.csv: line 1: column 2: a semicolon is behind the number, but a comma behind one before' run 'x*2' "$work/comma.csv"
printf '1.5,2,\n3,4,\n' >"$work/open.csv"
expect 1 '' 'open.csv: line 1: column 3 is empty' run 'x*2' "$work/open.csv"
input=$work/t.csv
expect 0 '^ \[ 1\.5 2\.25\]\]$' '' run 'x/2' -:csv
input=

# tests/oracle/terminal.py has what it measures, and progress and signals.
expect 0 '^copy .*; the call has [0-9]+ % of that$' '' bench add --shape 100
expect 2 '' 'shape N,.. is needed, once for all inputs of add or once for each' bench add
expect 2 '' 'add has 2 inputs, but --shape is there 3 times' bench add -n 3 -n 3 -n 3
expect 2 '' 'types needs dtypes, e.g. float32,float32, not "float32,foo"' bench add -n 3 -t float32,foo
expect 2 '' 'as needs run, outer, reduce, accumulate or forall, not "redduce"; did you mean "reduce"' bench add -n 3 --as redduce
expect 2 '' 'not "float64,nonsense"' bench sqrt -n 3 -t float64,nonsense
expect 2 '' 'sqrt has 1 input, but --types has 2 dtypes' bench sqrt -n 3 -t float64,float32
expect 2 '' 'where has 3 inputs, but --types has 2 dtypes' bench where -n 3 -t bool,float32
expect 0 '^call +where: bool \(3\), int8 \(3\), int16 \(3\) -> int16 \(3\)' '' bench where -n 3 -t 'bool, int8,int16'
expect 2 '' 'axis is there, but `ufunc outer` has no axis' bench add --as outer -n 3 --axis 9
expect 2 '' 'axis has 2 axes, but `ufunc accumulate` goes along one' bench add --as accumulate -n 3,3 --axis 0,1
expect 0 '^call +add: float32 \(3, 4\) -> float32 \(\)' '' bench add --as reduce -n 3,4 --axis 0,1
expect 2 '' 'softmax is not elementwise' bench softmax -n 3 --as outer
expect 0 '^call +kernel: float32 \(3, 4\), float32 \(3, 4\), on the CPU' '' bench '[i, j](x, y) { y[i][j] = x[i][j]; }' -n 3,4
expect 0 '^call +kernel: int64 \(9\), int64 \(9\), int64 \(\)' '' bench -e '[i](x, y, a) { y[i] = a * x[i]; }' -s 'int64[], int64[], int64' -t int64 -n 9
expect 0 '^bytes +24 B ' '' bench '[i](x) { x[i] = 1; }' --as forall -n 6
expect 2 '' 'add is no kernel over indices' bench add --as forall -n 3
expect 2 '' 'kernel is a kernel over indices; `ufunc forall` runs it' bench '[i](x) { x[i] = 1; }' --as run -n 3
expect 1 '' 'the space has 2 dimensions, but its number of indices is 1' bench '[i](x) { x[i] = 1; }' -n 3,3
expect 1 '' 'names them before its parameters' bench '(x) { return x; }' --as forall -n 3
expect 2 '' 'unexpected "x.npy"' bench add x.npy -n 3
expect 1 '' 'they must be equal' bench add -n 3 -n 4
expect 2 '' 'there is no verb "benchmark"; did you mean "bench"' benchmark

endless='(x) { while (x > 0) ; return x; }'
expect 1 '' 'kernel: line 1: the kernel took more than 500 steps' run "$endless" 3 --max-steps 500
expect 0 '^-3$' '' run "$endless" -3 -M 500
expect 1 '' 'took more than 20 steps' reduce '(x, y) { while (y > 0) ; return x + y; }' "$work/float.npy" -M 20
expect 1 '' 'took more than 20 steps' accumulate '(x, y) { while (y > 0) ; return x + y; }' "$work/float.npy" -M 20
expect 2 '' 'needs a number of steps' run "$endless" 3 --max-steps 0
expect 2 '' 'needs a number of steps' run "$endless" 3 --max-steps 5x
expect 2 '' 'has its own signatures' run softmax "$work/float.npy" --max-steps 5
expect 0 'call void @report' '' inspect -e "$endless" -s 'd->d' --max-steps 7
expect 2 '' 'max-steps needs a number of steps' inspect -e "$endless" -s 'd->d' -M x

export UFUNC_CUDA_DRIVER="$work/absent.so"
expect 1 '' 'the CUDA driver cannot be used' run "$add" "$work/float.npy" 1 --device cuda
expect 1 '' 'the CUDA driver cannot be used' reduce "$add" $sum "$work/float.npy" --device cuda:1
# The driver that stands in computes nothing, but memory comes and goes.
UFUNC_CUDA_DRIVER="$BUILD/test/libmockcuda.so"
if ! "$BUILD/ufunc" info | grep -q '^libnvvm *missing'; then
    expect 0 '^float32 \(2\)$' '' run "$add" "$work/float.npy" 1 --device cuda
    expect 0 '^float64 \(3\)$' '' reduce "$add" $sum "$work/a.npy" -a 0 -w "$work/mask.npy" -i 0 --device cuda:1
    expect 1 '' 'device 7' reduce "$add" $sum "$work/a.npy" --device cuda:7
fi
unset UFUNC_CUDA_DRIVER

if [ -w /dev/full ]; then
    n=$((n + 1))
    "$BUILD/ufunc" --version >/dev/full 2>"$work/err"
    [ $? = 1 ] && grep -q 'standard output' "$work/err" || printf 'not '
    echo "ok $n - a full disk is noticed"
fi
echo "1..$n"
