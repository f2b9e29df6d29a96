#!/bin/sh
# Programs under valgrind: no bad read or write, nothing uninitialised, nothing lost. A few short ones, with little of what
# is random in them; those that take longer with PROP_N set. Left out are those whose oracle is long double: valgrind has
# double in its place.
cd "$(dirname "$0")/../.." || exit 1
command -v valgrind >/dev/null || { echo "no valgrind here"; exit 77; }
valgrind -q true >/dev/null 2>&1 || { echo "valgrind does not run here; it may need libc6-dbg"; exit 77; }
. tests/tap.sh
! sanitized || { echo "a sanitizer build does not run under valgrind"; exit 77; }

grind() {
    valgrind -q --suppressions=tests/valgrind/valgrind.supp --leak-check=full --show-leak-kinds=definite,indirect \
        --errors-for-leak-kinds=definite,indirect --error-exitcode=99 "$@"
}

# A kernel made for the CPU: language, IR, LLVM loaded and let go. A reduction, whose dtypes are made up, up to its IR.
code() {
    grind "$BUILD/ufunc" inspect -v asm -s 'ff->f' -e '(x, y) { return 2 * (x - y) / (x + y); }' &&
        grind "$BUILD/ufunc" inspect -v ir sum
}

# The tool on files that it reads but does not compile for: their shapes do not agree, or an index is out of range.
files() {
    printf 'a,b\n1,2\n(3+4j),true\n# 5\n18446744073709551615,-6\n' >"$work/t.csv"
    printf '123456789012' >"$work/t.bin"
    grind "$BUILD/ufunc" run add "$work/t.csv" "$work/t.bin:>int16[2,3]"
    [ $? = 1 ] || return 1
    grind "$BUILD/ufunc" forall '[i](x, y) { y[i] = x[i]; }' "$work/t.bin:uint8[]" "copy:$work/t.bin:uint8[3,4]@0" -n 2,2,2
    [ $? = 1 ] || return 1
    grind "$BUILD/ufunc" reduceat add "$work/t.bin:uint8[]" --starts 0,99
    [ $? = 1 ] || return 1
    grind "$BUILD/ufunc" run sofmax "$work/t.csv" --devise cpu
    [ $? = 2 ] && grind "$BUILD/ufunc" help --man ufunc-run && grind "$BUILD/ufunc" bench --help
}

programs='test_base test_lang test_nd'
[ -z "${PROP_N:-}" ] || programs="$programs test_call test_dispatch test_type"
export PROP_N="${PROP_N:-0.01}" UF_TEST_VALGRIND=1
code >"$work/code" 2>&1 &
for program in $programs; do
    [ ! -f "$BUILD/test/$program" ] || check "$program" grind "$BUILD/test/$program"
done
check 'ufunc on files' files
wait $!
status=$?
check 'ufunc inspect' sh -c 'tail -n 50 "$1"; exit "$2"' sh "$work/code" $status
