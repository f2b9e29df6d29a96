#!/bin/sh
# The header alone, as strict C11 and C++17, by every compiler that is here.
cd "$(dirname "$0")/../.." || exit 1
echo '#include <dlpack/dlpack.h>' | ${CC:-cc} -E - >/dev/null 2>&1 || { echo "no C compiler with dlpack here"; exit 77; }
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
n=0
strict='-Wall -Wextra -Wpedantic -Werror -Iinclude'

# check NAME COMMAND..
check() {
    n=$((n + 1))
    name=$1
    shift
    if "$@" >"$work/log" 2>&1; then
        echo "ok $n - $name"
    else
        echo "not ok $n - $name"
        sed 's/^/# /' "$work/log"
    fi
}

for cc in gcc clang; do
    command -v $cc >/dev/null || continue
    check "C11, $cc" $cc -std=c11 $strict -c tests/header/interface.c -o "$work/c.o"
    ldd "$BUILD/libufunc.so" | grep -q 'lib[at]san' || check "C11, $cc, run" sh -c "$cc -std=c11 -Iinclude tests/header/interface.c -L\$BUILD -lufunc -o $work/c &&
        LD_LIBRARY_PATH=\$BUILD $work/c"
done
for cxx in g++ clang++; do
    command -v $cxx >/dev/null && echo '#include <cstddef>' | $cxx -x c++ -E - >/dev/null 2>&1 || continue
    check "C++17, $cxx" $cxx -std=c++17 $strict -c tests/header/interface.cc -o "$work/cc.o"
done
echo "1..$n"
