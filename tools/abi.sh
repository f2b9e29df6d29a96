#!/bin/sh
# abi.sh corpus LIBRARY - prints what programs rely on of a library: its symbols, and the types of the public headers that they
#                         use, in the XML of abidw. LIBRARY has debug information.
# abi.sh check LIBRARY  - compares a library with the corpora of the releases, tests/header/libufunc-VERSION.abi. Functions may be
#                         added, and so may enumerators, and members at the end of the structs named below. Every other
#                         difference is printed, and the exit status is 1.
set -eu
cd "$(dirname "$0")/.."
library=$2
work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT

# Both sides of a comparison are written by this function: abidiff would take types that have no file for private ones.
corpus() {
    dlpack=$(echo '#include <dlpack/dlpack.h>' | ${CC:-cc} ${CPPFLAGS:-} -E - | sed -n 's/^# 1 "\(.*dlpack\.h\)".*/\1/p')
    readelf -S "$library" | grep -q debug_info || { echo "$library has no debug information" >&2; return 1; }
    abidw --headers-dir include --header-file "$dlpack" --drop-private-types --exported-interfaces-only --no-show-locs \
        --no-comp-dir-path --no-corpus-path --no-elf-needed --no-parameter-names "$library"
}

# The structs that may grow: the library fills in no more of them than their member `size` says, or owns them (uf_error).
# The others stand in arrays of the caller's.
growing='error definition reduction_def axes options reduce_options launch description call_args reduce_args accumulate_args forall_args'

# growth NAME - the suppression of growth of all these structs but one.
growth() {
    names=$(echo "$growing" | tr ' ' '\n' | grep -vx "$1" | paste -sd '|')
    printf '[suppress_type]\ntype_kind = struct\nname_regexp = ^uf_(%s)$\nhas_data_member_inserted_at = end\n' "$names"
}

# compare RELEASE ABIDIFF-OPTION..
compare() {
    release=$1
    shift
    abidiff --no-show-locs --no-added-syms "$@" "$release" "$work/built.abi" >"$work/report"
}

# A struct with a member more at its end is left out of the first report whatever else in it has changed: those that have each struct in
# turn, and no other, tell.
compatible() {
    growth none >"$work/growth"
    compare "$1" --suppressions "$work/growth" || return 1
    for name in $growing; do
        growth "$name" >"$work/growth"
        compare "$1" --suppressions "$work/growth" || ! grep -Eq 'data member (change|deletion)' "$work/report" || return 1
    done
}

check() {
    corpus >"$work/built.abi"
    bad=0
    for release in tests/header/libufunc-*.abi; do
        compatible "$release" && continue
        echo "$library is not compatible with $release:"
        cat "$work/report"
        bad=1
    done
    return $bad
}

"$1"
