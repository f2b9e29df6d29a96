#!/bin/sh
# The header alone, as strict C11 and C++17, by every compiler that is here; the programs are run against the library.
cd "$(dirname "$0")/../.." || exit 1
echo '#include <dlpack/dlpack.h>' | ${CC:-cc} -E - >/dev/null 2>&1 || { echo "no C compiler with dlpack here"; exit 77; }
. tests/tap.sh
strict='-Wall -Wextra -Wpedantic -Wshadow -Wundef -Wconversion -Wcast-qual -Werror -Iinclude'

# runs COMPILER STANDARD FILE; not for a sanitizer build, whose runtime is not in these programs
runs() {
    "$1" "$2" -Iinclude "$3" -L"$BUILD" -lufunc -o "$work/program" && LD_LIBRARY_PATH=$BUILD "$work/program"
}

# The header is all that the program includes, and does not depend on what came before.
headers() {
    grep -h '^#include' include/ufunc.h | sort | tr -d '\n' |
        grep -Fqx '#include <dlpack/dlpack.h>#include <stdbool.h>#include <stddef.h>#include <stdint.h>'
}

# The rows of abi.h, as names.awk calls what they are about.
rows() {
    sed -n 's/^AT(\([a-z_]*\), \([a-z_]*\),.*/\1.\2/p; s/^SAME(\(sizeof(uf_[a-z_]*)\),.*/\1/p; s/^SAME(\(UF_[A-Z_0-9]*\),.*/\1/p
        s/^[a-z].*[ *]\(uf_[a-z_]*\)(.*/\1/p' tests/header/abi.h | grep -v '^UF_VERSION_'
}

# Every constant, struct, member and function of the header has a row in abi.h, which fixes its value, size, offset or prototype.
all_fixed() {
    rows | sort >"$work/rows"
    awk -f tests/header/names.awk include/ufunc.h | sort >"$work/names"
    [ -s "$work/names" ] && diff "$work/names" "$work/rows"
}

check 'abi.h fixes all that the header declares' all_fixed
check 'includes only stddef.h stdint.h stdbool.h dlpack.h' headers
for cc in gcc clang; do
    command -v $cc >/dev/null || continue
    for standard in c11 c17; do
        check "$standard, $cc" $cc -std=$standard $strict -Wstrict-prototypes -c tests/header/interface.c -o "$work/c.o"
    done
    sanitized || check "C11, $cc, run" runs $cc -std=c11 tests/header/interface.c
done
for cxx in g++ clang++; do
    command -v $cxx >/dev/null && echo '#include <cstddef>' | $cxx -x c++ -E - >/dev/null 2>&1 || continue
    for standard in c++17 c++20; do
        check "$standard, $cxx" $cxx -std=$standard $strict -c tests/header/interface.cc -o "$work/cc.o"
    done
    sanitized || check "C++17, $cxx, run" runs $cxx -std=c++17 tests/header/interface.cc
done
echo "1..$n"
