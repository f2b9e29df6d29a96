#!/bin/sh
# catalogue.sh FILE.uf.. - writes C that defines the catalogue (`catalogue` of src/core/core.h): the name and the bytes of each file.
# The files must be given in the order of their names.
set -eu

echo '#include "core/core.h"'
for file in "$@"; do
    name=$(basename "$file" .uf)
    printf '\nstatic const unsigned char source_%s[] = {\n' "$name"
    od -An -v -tu1 "$file" | sed 's/ *\([0-9][0-9]*\)/\1,/g'
    printf '0};\n' # a NUL at the end, so that they can be read as strings
done
printf '\nconst catalogue_entry catalogue[] = {\n'
for file in "$@"; do
    name=$(basename "$file" .uf)
    printf '    {"%s", source_%s, sizeof source_%s - 1},\n' "$name" "$name" "$name"
done
printf '};\nconst size_t catalogue_count = sizeof catalogue / sizeof *catalogue;\n'
