#!/bin/sh
# deps.sh GROUP - makes sure that everything is there that a group of Makefile targets needs: build, demo, test, lint or bench.
# It looks for the things themselves and not for packages, so that it is silent and needs neither root nor a network when all is
# there. What is missing is installed with apt-get (through sudo when not root); without apt-get the script names it and fails.
set -eu

group=$1
# One group at a time: make starts several at once, but dpkg and the Python environment can be changed by one process only.
exec 9>"${VENV%/*}/.deps-lock"
flock 9
CC=${CC:-cc}
command -v "${CC%% *}" >/dev/null 2>&1 || [ "$CC" != cc ] || CC=gcc

# group, what to look for, Debian package, why
table='
build command:gcc              gcc              C compiler
build header:stdio.h           libc6-dev        C library headers
build command:objcopy          binutils         static library with only uf_* global
build header:dlpack/dlpack.h   libdlpack-dev    the array type of the interface
build header:xxhash.h          libxxhash-dev    hash of the map of compiled variants
build header:zlib.h            zlib1g-dev       .npz files of the tool
build llvm                     llvm             compiles kernels for the CPU, opened at run time
demo  header:png.h             libpng-dev       the pictures of the examples
test  header:cmocka.h          libcmocka-dev    unit tests
test  header:mpfr.h            libmpfr-dev      reference values of math functions
test  header:Random123/philox.h librandom123-dev reference bits of random numbers
test  openblas                 libopenblas0-pthread products of matrices and vectors on the CPU, opened at run time
test  command:valgrind         valgrind         memory checks of programs
test  command:gdb        gdb              kernels in a debugger
test  venv                     python3-venv     NumPy, SciPy and mpmath, the oracles of shapes, casts and results
lint  command:clang            clang            the second compiler
lint  command:g++              g++              the header as C++
lint  command:clang-tidy       clang-tidy       static checks
lint  command:clang-format     clang-format     layout
lint  command:ctags            universal-ctags  length of functions
lint  command:abidiff     abigail-tools    the interface against that of the releases
lint  command:pkg-config       pkg-config       ufunc.pc
bench openblas                 libopenblas0-pthread the same
bench venv                     python3-venv     NumPy and Numba, the peers
'

have() {
    case $1 in
    command:gcc) command -v "${CC%% *}" >/dev/null 2>&1 ;;
    command:*) command -v "${1#*:}" >/dev/null 2>&1 ;;
    header:*) printf '#include <%s>\n' "${1#*:}" | $CC ${CPPFLAGS:-} -E - >/dev/null 2>&1 ;;
    venv) python3 -c 'import venv, ensurepip' 2>/dev/null || [ -x "$VENV/bin/python" ] ;;
    llvm) [ -n "${UFUNC_LLVM:-}" ] || ls /usr/lib/*/libLLVM[-.]* /usr/lib64/libLLVM[-.]* /usr/lib/libLLVM[-.]* \
        /usr/lib/llvm-*/lib/libLLVM* 2>/dev/null | grep -Eq 'libLLVM(-1[5-9]|-2[0-2]|\.so\.1[89]|\.so\.2[0-2])' ;;
    openblas) [ -n "${UFUNC_OPENBLAS:-}" ] || ls /usr/lib/*/libopenblas.so.0 /usr/lib64/libopenblas.so.0 \
        /usr/lib/libopenblas.so.0 2>/dev/null | grep -q . ;;
    esac
}

# The package names, with the oldest libLLVM from 15 to 22 that this Debian has in place of "llvm".
packages() {
    for p in "$@"; do
        [ "$p" = llvm ] || { echo "$p"; continue; }
        for v in 15 16 17 18 19 20 21 22; do
            apt-cache show "libllvm$v" >/dev/null 2>&1 && break
        done
        echo "libllvm$v"
    done
}

# Another program may be installing packages: waits until it ends, at most 300 seconds.
apt() { as_root apt-get -o DPkg::Lock::Timeout=300 "$@"; }

as_root() {
    if [ "$(id -u)" = 0 ]; then
        env DEBIAN_FRONTEND=noninteractive "$@"
    elif command -v sudo >/dev/null 2>&1; then
        sudo env DEBIAN_FRONTEND=noninteractive "$@"
    else
        echo "deps: not root and no sudo here; run as root: $*" >&2
        return 1
    fi
}

install_packages() {
    if ! command -v apt-get >/dev/null 2>&1; then
        echo "deps: no apt-get here; please install what Debian calls: $*" >&2
        exit 1
    fi
    echo "deps: installing with apt-get: $(packages "$@" | tr '\n' ' ')"
    # Package lists may be missing or old. They are fetched only if the first attempt fails.
    apt install -y -qq --no-install-recommends $(packages "$@") >/dev/null 2>&1 && return
    echo "deps: apt-get update first"
    apt update -qq
    apt install -y -qq --no-install-recommends $(packages "$@") >/dev/null
}

# python_packages CHECK PACKAGE..: installs packages into the Python environment of the project, which is made if it does not exist,
# if the check fails. Of their modules only those that the check imports are compiled, which is most that is ever used.
python_packages() {
    check=$1
    shift
    "$VENV/bin/python" -c "$check" 2>/dev/null && return
    echo "deps: pip install $* into $VENV"
    [ -x "$VENV/bin/python" ] || python3 -m venv "$VENV"
    "$VENV/bin/pip" install -q --disable-pip-version-check --no-compile "$@"
    env -u PYTHONDONTWRITEBYTECODE "$VENV/bin/python" -c "$check"
}

missing=
while read -r g what package why; do
    [ "$g" = "$group" ] || continue
    have "$what" && continue
    echo "deps: $package is missing ($why)"
    missing="$missing $package"
done <<END
$table
END
[ -z "$missing" ] || install_packages $missing

new_numpy='import numpy; assert tuple(map(int, numpy.__version__.split(".")[:2])) >= (2, 2)'
case $group in
test) python_packages "$new_numpy; import numpy.random, scipy.special, mpmath" 'numpy>=2.2' scipy mpmath ;;
bench) python_packages "$new_numpy; import numba" 'numpy>=2.2' numba ;;
esac
