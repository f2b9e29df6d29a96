#!/bin/sh
# The headers alone, as strict C11 and C++17, by every compiler that is here; the programs are run against the library.
cd "$(dirname "$0")/../.." || exit 1
echo '#include <dlpack/dlpack.h>' | ${CC:-cc} -E - >/dev/null 2>&1 || { echo "no C compiler with dlpack here"; exit 77; }
. tests/tap.sh
strict='-Wall -Wextra -Wpedantic -Wshadow -Wundef -Wconversion -Wcast-qual -Werror -Iinclude'

# runs COMPILER OBJECT; not for a sanitizer build, whose runtime is not in these programs
runs() {
    "$1" "$2" -L"$BUILD" -lufunc -o "$work/program" && LD_LIBRARY_PATH=$BUILD "$work/program"
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

# refuses MESSAGE STATEMENT: this compiler does not compile a function with it, and says so first.
refuses() {
    printf '%s\n' '#include <ufunc.h>' 'static struct { int a; } structs[2];' \
        'static struct { char a[65536]; } large[2];' \
        'void f(const uf_func *add, float *p, float **rows) {' 'float x[3] = {0}, *pointers[3] = {p, p, p};' \
        'static float seven[1][1][1][1][1][1][2]; const float fixed = 1;' \
        '(void)add, (void)rows, (void)x, (void)pointers, (void)seven, (void)fixed, (void)structs, (void)large;' "$2" '}' >"$work/refused.c"
    ! $cc -std=c11 $strict -c "$work/refused.c" -o "$work/c.o" 2>"$work/says" || { echo compiled; return 1; }
    cat "$work/says"
    grep -m 1 'error:' "$work/says" | grep -Eq "$1"
}

# As refuses, of a compiler that was asked for no warnings.
refuses_unasked() { (strict=-Iinclude && refuses "$@"); }

# What misuses a macro does not compile.
misuses() {
    check "$cc refuses UF_ARRAY of a pointer" refuses 'UF_ARRAY of one argument takes an array' '(void)UF_ARRAY(p);'
    check "$cc refuses UF_ARRAY of a pointer to pointers" refuses 'UF_ARRAY of one argument takes an array' '(void)UF_ARRAY(rows);'
    check "$cc refuses UF_ARRAY of pointers" refuses 'takes no array of pointers' '(void)UF_ARRAY(pointers);'
    check "$cc refuses UF_ARRAY of rank 7" refuses 'up to six dimensions' '(void)UF_ARRAY(seven);'
    check "$cc refuses UF_ARRAY of structs" refuses '_Generic|generic association' '(void)UF_ARRAY(structs);'
    check "$cc refuses UF_RECORDS of a pointer" refuses 'UF_RECORDS of one argument takes an array' '(void)UF_RECORDS(p);'
    check "$cc refuses UF_RECORDS of more than 65535 bytes" refuses 'at most 65535 bytes' '(void)UF_RECORDS(large);'
    check "$cc refuses records behind a pointer of more than 65535 bytes" refuses 'at most 65535 bytes' '(void)UF_RECORDS(&large[0], 2);'
    check "$cc refuses strides without extents" refuses 'as many strides as extents' '(void)UF_STRIDED(p, (3, 4), (1));'
    check "$cc refuses extents without strides" refuses_unasked 'as many strides as extents' '(void)UF_STRIDED(p, (3), ());'
    check "$cc refuses a number as axes" refuses_unasked braces '(void)UF_REDUCE(add, UF_ARRAY(x), UF_ARRAY(x), .axes = 0);'
    check "$cc refuses a negative number as axes" refuses_unasked braces '(void)UF_REDUCE(add, UF_ARRAY(x), UF_ARRAY(x), .axes = -1);'
    check "$cc refuses pointers as arrays" refuses_unasked 'braces|incompatible (types|pointer)' '(void)UF_CALL(add, p, p, p);'
    check "$cc refuses a pointer as an output" refuses_unasked braces '(void)UF_REDUCE(add, UF_ARRAY(x), p, .axis = 0);'
    check "$cc refuses UF_OUT of a constant" refuses 'const|qualifier' '(void)UF_OUT(fixed);'
    check "$cc refuses UF_OUT of an array" refuses '_Generic|generic association' '(void)UF_OUT(x);'
    check "$cc refuses extents without parentheses" refuses UF_ '(void)UF_FORALL(add, 3, UF_ARRAY(x));'
    check "$cc refuses an option of another verb" refuses keepdims '(void)UF_ACCUMULATE(add, UF_ARRAY(x), .keepdims = 1);'
    check "$cc refuses 66 arrays" refuses 'array|integer' 'DLTensor a = UF_ARRAY(x); (void)UF_CALL(add, a, a, a, a, a, a, a, a, a, a,
        a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a, a,
        a, a, a, a, a, a, a, a, a, a, a, a);'
}

# What the programs of refuses_cxx include, which a compiler reads once for all of them.
precompile() {
    mkdir -p "$work/$cxx"
    printf '%s\n' '#include <ufunc.hpp>' '#include <vector>' >"$work/$cxx/head.hh"
    case $cxx in clang*) form=pch ;; *) form=gch ;; esac
    $cxx -std=c++17 -Iinclude -x c++-header "$work/$cxx/head.hh" -o "$work/$cxx/head.hh.$form"
}

# refuses_cxx MESSAGE STATEMENT: as refuses, in C++.
refuses_cxx() {
    printf '%s\n' 'struct own { int a; };' 'struct large { char a[65536]; };' \
        'template <> struct uf::dtype_of<large> : uf::record_of<large> {};' 'void f(const uf::function &add, float *p) {' \
        '(void)p; float x[3]; std::vector<own> owns; std::vector<bool> bits(3);' "$2" '}' >"$work/refused.cc"
    ! $cxx -std=c++17 -Iinclude -include "$work/$cxx/head.hh" -c "$work/refused.cc" -o "$work/cc.o" 2>"$work/says" || { echo compiled; return 1; }
    cat "$work/says"
    grep -Eq "$1" "$work/says"
}

misuses_of_wrapper() {
    precompile || return
    check "$cxx refuses structs that are no records" refuses_cxx 'uf::record_of<T>' 'add(x, owns, x);'
    check "$cxx refuses a pointer without extents" refuses_cxx 'view' 'add(x, p, x);'
    check "$cxx refuses nullptr" refuses_cxx 'deleted' 'add(x, nullptr, x);'
    check "$cxx refuses a call without arguments" refuses_cxx 'a call takes arguments' 'add();'
    check "$cxx refuses a reduction without arguments" refuses_cxx 'a call takes arguments' 'add.reduce();'
    check "$cxx refuses records of more than 65535 bytes" refuses_cxx 'at most 65535 bytes' 'std::vector<large> l(2); add(x, l, x);'
    check "$cxx refuses extents that are no integers" refuses_cxx 'no matching|could not convert' 'uf::at(p, {1.5, 2.0});'
    check "$cxx refuses bits" refuses_cxx 'view|bool' 'add(x, bits, x);'
    check "$cxx refuses copies of functions" refuses_cxx 'deleted' 'uf::function other = add;'
}

check 'abi.h fixes all that the header declares' all_fixed
check 'includes only stddef.h stdint.h stdbool.h dlpack.h' headers
# The newest clang, if it is not the usual one: it may have a __bf16 that computes.
newest=$(ls /usr/bin | sed -n 's/^clang-\([0-9]*\)$/\1/p' | sort -n | tail -n 1)
[ "$(readlink -f "$(command -v clang-$newest)")" != "$(readlink -f "$(command -v clang)")" ] || newest=
for cc in gcc clang ${newest:+clang-$newest}; do
    command -v $cc >/dev/null || continue
    for standard in c11 c17; do
        check "$standard, $cc" $cc -std=$standard $strict -Wstrict-prototypes -c tests/header/interface.c -o "$work/c.o"
        sanitized || check "$standard, $cc, run" runs $cc "$work/c.o"
    done
    misuses
done
for cxx in g++ clang++ ${newest:+clang++-$newest}; do
    command -v $cxx >/dev/null && echo '#include <cstddef>' | $cxx -x c++ -E - >/dev/null 2>&1 || continue
    for standard in c++17 c++20 c++2b; do
        check "$standard, $cxx" $cxx -std=$standard $strict -c tests/header/interface.cc -o "$work/cc.o"
        [ $standard != c++17 ] || sanitized || check "$standard, $cxx, run" runs $cxx "$work/cc.o"
        check "ufunc.hpp, $standard, $cxx" $cxx -std=$standard $strict -c tests/header/wrapper.cc -o "$work/cc.o"
        sanitized || check "ufunc.hpp, $standard, $cxx, run" runs $cxx "$work/cc.o"
    done
    check "ufunc.hpp, optimised, $cxx" $cxx -std=c++17 -O2 -DOWN_NEW=0 $strict -c tests/header/wrapper.cc -o "$work/cc.o"
    misuses_of_wrapper
done
echo "1..$n"
