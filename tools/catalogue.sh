#!/bin/sh
# catalogue.sh FOLDER FOLDER - writes C that defines the catalogue (`catalogue` and `catalogue_modules` of src/core/core.h): the name
# and the bytes of each .uf file of the first folder, which has functions, and of the second, which has modules. A file `aliases` in a
# folder gives further names, each with the file that it is another name of: its bytes but for the name in them.
set -eu
export LC_ALL=C # so that names are in the order of strcmp

# names FOLDER - lines "NAME FILE", by name
names() {
    {
        for file in "$1"/*.uf; do
            name=$(basename "$file" .uf)
            echo "$name $name"
        done
        [ ! -f "$1/aliases" ] || grep -v '^#' "$1/aliases"
    } | sort -k 1,1
}

# list NAME WHAT LISTER FOLDER
list() {
    names "$4" | while read -r name file; do
        printf '\nstatic const unsigned char %s_%s[] = {\n' "$1" "$name"
        sed "s/^\(ufunc  *\)$file\$/\1$name/" "$4/$file.uf" | od -An -v -tu1 | sed 's/ *\([0-9][0-9]*\)/\1,/g'
        printf '0};\n' # a NUL at the end, so that they can be read as strings
    done
    printf '\nstatic const catalogue_entry entries_of_%s[] = {\n' "$1"
    names "$4" | while read -r name file; do
        printf '    {"%s", %s_%s, sizeof %s_%s - 1},\n' "$name" "$1" "$name" "$1" "$name"
    done
    printf '};\nconst catalogue_list %s = {"%s", "%s", entries_of_%s, sizeof entries_of_%s / sizeof *entries_of_%s};\n' \
        "$1" "$2" "$3" "$1" "$1" "$1"
}

echo '#include "core/core.h"'
list catalogue catalogue uf_catalogue "$1"
list catalogue_modules "catalogue of modules" uf_catalogue_module "$2"
