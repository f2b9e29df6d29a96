#!/bin/sh
# lint.sh - everything that can be checked without running the library. The Makefile sets BUILD, DEPS and MAKE. Each check prints
# what it finds, and then ok or FAIL; the exit status is 1 if one failed. The check of lengths only warns.
set -u
cd "$(dirname "$0")/.." || exit 1
BUILD=$(cd "$BUILD" && pwd)
export BUILD
MAKE=${MAKE:-make}
bad=0

check() {
    name=$1
    shift
    if "$@"; then
        echo "ok    $name"
    else
        echo "FAIL  $name"
        bad=1
    fi
}

c_files() { find include src tests tools examples -name '*.[ch]' | sort; }

builds_without_warnings() {
    log=$BUILD/lint-$1.log
    $MAKE -s programs BUILD="$BUILD/lint-$1" DEPS="$DEPS" CC="$1" CFLAGS='-O2 -g -Werror' >"$log" 2>&1 && return
    grep -E 'error|warning|Error' "$log" | head -n 40
    return 1
}

formatted() { c_files | xargs clang-format --dry-run -Werror; }

layers() { find src -name '*.[ch]' | sort | xargs awk -f tools/layers.awk; }

# The tool, the examples and the benchmarks may include the public header, and nothing of src/ but what the tool is built with.
outsiders() {
    ! grep -nE '#include "' examples/*.[ch] tests/perf/*.c src/cmd/*.c 2>/dev/null |
        grep -vE '"(cmd|base/distance|bench|example|picture)\.h"'
}

# Tests are left out, since the analyzer does not know that cmocka's assertions end a test.
tidy() {
    find src -name '*.c' ! -name error.c | sort | xargs -P "$(nproc)" -n 4 sh -c '
        clang-tidy --quiet --warnings-as-errors="*" "$@" -- \
            -std=c11 -D_GNU_SOURCE -Iinclude -Isrc -include tools/analysis.h' sh >"$BUILD/lint-tidy.log" 2>/dev/null &&
        clang-tidy --quiet --warnings-as-errors='*' src/base/error.c examples/*.c -- \
            -std=c11 -D_GNU_SOURCE -Iinclude -Isrc >>"$BUILD/lint-tidy.log" 2>/dev/null && return
    grep -E '(error|warning):' "$BUILD/lint-tidy.log" | sort -u | head -n 60
    return 1
}

marks() {
    ! grep -rnE 'TODO|FIXME' --include='*' . 2>/dev/null --exclude-dir=.git --exclude-dir="$(basename "$BUILD")" \
        --exclude-dir=docs --exclude=README.md --exclude=lint.sh
}

lengths() {
    find src include -name '*.[ch]' | sort | xargs ctags --languages=C --kinds-C=f --fields=+ne -o - | awk -f tools/lengths.awk
    find src include tests -name '*.[ch]' | xargs wc -l |
        awk '$2 != "total" && $1 > 1200 {print "warning: " $2 " is " $1 " lines long"}'
}

tap() { sh "$1" | awk '/^not ok/ {bad = 1} /^(not ok|#)/ {print} END {exit bad}'; }

check 'layers' layers
check 'outsiders see only ufunc.h' outsiders
check 'no unfinished marks' marks
check 'clang-format' formatted
check 'gcc, warnings are errors' builds_without_warnings gcc
check 'clang, warnings are errors' builds_without_warnings clang
check 'the header alone' tap tests/header/run.sh
check 'nothing in src is unused, or used by tests alone' sh tools/unused.sh "$BUILD/lint-gcc"
check 'compatible with the releases' sh tools/abi.sh check "$BUILD/lint-gcc/libufunc.so"
check 'symbols, ufunc.pc, installation' tap tests/install/run.sh
check 'clang-tidy' tidy
check 'lengths' lengths
exit $bad
