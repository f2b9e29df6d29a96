#!/bin/sh
# unused.sh BUILD - names the functions and variables with external linkage in src that have no reason for it. One is used by another
# object of the library, is of the interface (uf_*), or is used in its own file and by a unit test as well. What else one file
# alone uses is static there; what only tests use is written in the tests, but for what stands in `seams`.
set -eu

# mem_may_alloc makes an allocation fail; code_dead counts what is still to be unloaded; nvvm_verify has libnvvm look at a module;
# variant_parse reads back what variant_bytes writes. gdb looks for __jit_debug_register_code by its name.
seams='mem_may_alloc code_dead nvvm_verify variant_parse __jit_debug_register_code'

# Without comments: how often does a file have a name in it?
uses() { sed 's,/\*.*\*/,,; /^ *\(\/\*\| \*\)/d' "$1" | grep -cw "$2"; }

work=$(mktemp -d) && trap 'rm -rf "$work"' EXIT
symbols() { find "$@" -name '*.o' ! -path '*/obj/cmd/*' -print0 | xargs -0 nm -A -g; }
symbols "$1/test/obj" | awk '$(NF - 1) == "U" {print $NF}' | sort -u >"$work/tests"
symbols "$1/obj" | awk '
    $(NF - 1) == "U" { used[$NF] = 1; next }
    $NF !~ /^uf_/ { split($1, path, ":"); at[$NF] = path[1] }
    END { for (name in at) if (!(name in used)) print name, at[name] }' | sort >"$work/alone"

bad=0
while read -r name object; do
    case " $seams " in *" $name "*) continue ;; esac
    file=src/${object#"$1/obj/"}
    file=${file%.o}.c
    grep -qx "$name" "$work/tests" && [ "$(uses "$file" "$name")" -gt 1 ] && continue
    echo "$file: $name is used by no other file; it can be static, or go"
    bad=1
done <"$work/alone"
exit $bad
