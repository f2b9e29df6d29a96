#!/bin/sh
# The documents that programs write are as these would write them now.
cd "$(dirname "$0")/../.." || exit 1
for python in "${VENV:-build/venv}/bin/python" python3; do
    "$python" -c 'import numpy' 2>/dev/null && break
    python=
done
[ -n "$python" ] || { echo "no Python with NumPy here"; exit 77; }
. tests/tap.sh
! sanitized || { echo "the sanitizers' runtimes are not for Python"; exit 77; }

# written NAME COMMAND..: what the command prints is docs/NAME.
written() {
    file=$1
    shift
    "$@" >"$work/page" && diff "docs/$file" "$work/page"
}

check 'accuracy.md' written accuracy.md "$python" tools/measure_accuracy.py page
check 'catalogue.md' written catalogue.md "$python" tools/catalogue_page.py
check 'all plots are small' test "$(cat docs/plots/*.png | wc -c)" -lt 300000
