#!/bin/sh
# What is installed: only uf_* symbols, soname and version, ufunc.pc, a program against it, and nothing left by uninstall.
cd "$(dirname "$0")/../.." || exit 1
command -v nm >/dev/null && echo '#include <dlpack/dlpack.h>' | ${CC:-cc} -E - >/dev/null 2>&1 ||
    { echo "no C compiler with dlpack here"; exit 77; }
. tests/tap.sh
! sanitized || { echo "a sanitizer build is not installed"; exit 77; }

# Every symbol that the static library defines for others is uf_*, and there are some.
only_uf() {
    nm -g --defined-only "$BUILD/libufunc.a" | awk 'NF == 3 {n++; if ($3 !~ /^uf_/) {print; bad = 1}} END {exit bad || n < 10}'
}

declared() { awk '/^UF_API/ {match($0, /uf_[a-z_]+[([]/); print substr($0, RSTART, RLENGTH - 1)}' include/ufunc.h; }

# What the version map names, as nm prints them: uf_call@@LIBUFUNC_0.1.0.
mapped() { awk '$2 == "{" {node = $1} /^ *uf_/ {sub(/;/, ""); print $1 "@@" node}' src/libufunc.map; }

# same_lines FILE FILE: up to their order, and there are some.
same_lines() { sort "$1" >"$work/a" && sort "$2" >"$work/b" && [ -s "$work/a" ] && diff "$work/a" "$work/b"; }

# The map and the header name the same.
all_mapped() {
    declared >"$work/declared"
    mapped | sed 's/@.*//' >"$work/mapped"
    same_lines "$work/declared" "$work/mapped"
}

# The shared library exports just these, each under the release that brought it; an A is the name of a release.
all_versioned() {
    nm -D --defined-only "$BUILD/libufunc.so" | awk '$2 != "A" {print $3}' >"$work/there"
    mapped >"$work/mapped"
    same_lines "$work/there" "$work/mapped"
}

# What a release had under its name stays all that there is under it.
releases_closed() {
    for release in tests/header/libufunc-*.abi; do
        version=${release#*libufunc-}
        node=LIBUFUNC_${version%.abi}
        sed -n "s/.*<elf-symbol name='\([^']*\)' version='$node' .*/\1@@$node/p" "$release" >"$work/released"
        mapped | grep "@@$node\$" >"$work/mapped"
        same_lines "$work/released" "$work/mapped" || { echo "not as in $release"; return 1; }
    done
}

soname() { readelf -d "$BUILD/libufunc.so" | grep -q 'SONAME.*\[libufunc\.so\.0\]'; }

# Nothing of CUDA or LLVM is linked: they are opened when needed.
needs_only_libc() {
    ! readelf -d "$BUILD/libufunc.so" | awk '/NEEDED/ {print $NF}' | grep -Ev '\[(libm|libdl|libpthread|libc|ld-linux.*)\.so'
}

install_it() { make -s install BUILD="$BUILD" PREFIX=/opt/ufunc DESTDIR="$work/root" && find "$work/root" | sort; }

version() { sed -n 's/^#define UF_VERSION_[A-Z]* //p' "$1" | paste -sd.; }

pkg_config() {
    PKG_CONFIG_LIBDIR=$work/root/opt/ufunc/lib/pkgconfig pkg-config --define-variable=prefix="$work/root/opt/ufunc" "$@" ufunc
}

pc_file() {
    command -v pkg-config >/dev/null || { echo "no pkg-config: file only"; grep -q '^Version: ' "$BUILD/ufunc.pc"; return; }
    pkg_config --print-errors --exists && [ "$(pkg_config --modversion)" = "$(version include/ufunc.h)" ]
}

# The file is not written again for nothing.
pc_has_the_prefix() {
    for prefix in /opt/one /opt/two; do
        make -s "$work/pc/ufunc.pc" BUILD="$work/pc" PREFIX=$prefix && grep -qx "prefix=$prefix" "$work/pc/ufunc.pc" || return 1
    done
    before=$(ls --full-time -i "$work/pc/ufunc.pc")
    make -s "$work/pc/ufunc.pc" BUILD="$work/pc" PREFIX=/opt/two
    [ "$(ls --full-time -i "$work/pc/ufunc.pc")" = "$before" ]
}

# link FLAGS..: a program of the user's with the installed header and library, which it asks for its version.
link() {
    root=$work/root/opt/ufunc
    cat >"$work/user.c" <<'END'
#include <stdio.h>
#include <ufunc.h>
int main(void) {
    uf_func *f;
    printf("%s %s\n", uf_version(), uf_vectorize(&f, "f", "f->f", "(x) { return x +; }") ? "refused" : "taken");
    return 0;
}
END
    ${CC:-cc} "$work/user.c" -o "$work/user" -I"$root/include" "$@" || return 1
    [ "$(LD_LIBRARY_PATH=$root/lib "$work/user")" = "$(version include/ufunc.h) refused" ]
}

# A program in C++ with the installed header.
link_cxx() {
    root=$work/root/opt/ufunc
    cat >"$work/user.cc" <<'END'
#include <ufunc.hpp>
int main() {
    try {
        uf::function::load("no such");
    } catch (const uf::error &e) {
        return e.status() == UF_ERR_ARGUMENT ? 0 : 1;
    }
    return 1;
}
END
    ${CXX:-c++} -std=c++17 "$work/user.cc" -o "$work/user" -I"$root/include" -L"$root/lib" -lufunc && LD_LIBRARY_PATH=$root/lib "$work/user"
}

# A static program cannot open libraries: it is told so, and computes nothing.
static_program() {
    cat >"$work/static.c" <<'END'
#include <stdio.h>
#include <ufunc.h>
int main(void) {
    uf_func *f;
    char *info;
    float x[2] = {1, 2}, y[2] = {0};
    if (uf_vectorize(&f, "f", "f->f", "(x) { return x + 1; }"))
        return 1;
    uf_status s = UF_CALL(f, UF_ARRAY(x, 2), UF_ARRAY(y, 2));
    puts(uf_last_error()->message);
    uf_free(f);
    DLManagedTensor *m;
    uf_status t = uf_empty(&m, (DLDevice){kDLCUDA, 0}, (DLDataType){kDLFloat, 32, 1}, 0, NULL);
    return s != UF_ERR_LIBRARY || t != UF_ERR_LIBRARY || uf_system_info(&info) ? 1 : 0;
}
END
    root=$work/root/opt/ufunc
    ${CC:-cc} -static "$work/static.c" -o "$work/static" -I"$root/include" "$root/lib/libufunc.a" -lm -ldl -lpthread &&
        "$work/static" >"$work/said" || { cat "$work/said"; return 1; }
    cat "$work/said"
    grep -q 'this program is linked statically' "$work/said"
}

share=$work/root/opt/ufunc/share

# Every relative link of an installed document leads to an installed file or folder, and there are some.
links_lead() {
    find "$share/doc/libufunc" -name '*.md' >"$work/documents"
    while read -r document; do
        grep -oE '\]\([A-Za-z0-9_/.-]*[/.][A-Za-z0-9_/.-]*\)|src="[^":]*"' "$document" | sed 's/^](//; s/)$//; s/^src="//; s/"$//' |
            while read -r link; do echo "$(dirname "$document")/$link"; done
    done <"$work/documents" >"$work/links"
    [ "$(wc -l <"$work/links")" -gt 30 ] && while read -r link; do [ -e "$link" ] || { echo "$link"; return 1; }; done <"$work/links"
}

# The installed header is what the documents link to, an example compiles with it, and the tool runs an installed function file.
examples_work() {
    tree=$share/doc/libufunc
    [ "$(readlink -f "$tree/include/ufunc.h")" = "$(readlink -f "$work/root/opt/ufunc/include/ufunc.h")" ] &&
        ${CC:-cc} "$tree/examples/rel_diff.c" -o "$work/example" -I"$work/root/opt/ufunc/include" -L"$work/root/opt/ufunc/lib" -lufunc -lm &&
        [ "$("$work/root/opt/ufunc/bin/ufunc" run "$tree/layouts/add.uf" 2 3)" = 5 ] && ls "$tree/modules/dual.uf"
}

# Each verb has a page, which has every option that the verb's help has, and its examples; troff finds nothing wrong.
pages_tell() {
    tool=$work/root/opt/ufunc/bin/ufunc
    "$tool" --help | awk '/^  [a-z]+ / {print $1}' >"$work/verbs"
    [ "$(wc -l <"$work/verbs")" -ge 11 ] || return 1
    while read -r verb; do
        page=$share/man/man1/ufunc-$verb.1
        ! grep -q '^\.so ' "$page" || page=$share/$(sed -n 's/^\.so /man\//p' "$page")
        sed 's/\\-/-/g; s/\\f[BIR]//g' "$page" >"$work/page"
        grep -qx ".SS ufunc $verb" "$page" && grep -q "^.B $verb\$" "$share/man/man1/ufunc.1" || { echo "$verb"; return 1; }
        "$tool" $verb --help | grep -oE '^  (-.,|   ) --[a-z-]+' | grep -oE -e '--[a-z-]+' | while read -r option; do
            grep -q -e "$option" "$work/page" || { echo "$verb $option"; exit 1; }
        done || return 1
    done <"$work/verbs"
    ! command -v groff || groff -man -ww -z "$share/man/man1/ufunc.1" "$share/man/man1/ufunc-run.1" "$share/man/man1/ufunc-reduce.1" \
        "$share/man/man1/ufunc-inspect.1" "$share/man/man3/libufunc.3" 2>"$work/groff" && [ ! -s "$work/groff" ] || { cat "$work/groff"; return 1; }
}

# The library's page declares every function and variable, and each has a page that leads there.
library_page() {
    page=$share/man/man3/libufunc.3
    mapped | sed 's/@.*//' >"$work/names"
    while read -r name; do
        grep -q "\b$name[([]" "$page" && grep -qx '.so man3/libufunc.3' "$share/man/man3/$name.3" || { echo "$name"; return 1; }
    done <"$work/names"
    [ -s "$work/names" ] && grep -q '^.SH REDUCTIONS' "$page" && grep -q '^UF_SCALAR' "$page"
}

# completes WANTED WORDS..: bash completes the last word to that, among other things.
completes() {
    wanted=$1
    shift
    bash -c '. "$0"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _ufunc; printf "%s\n" "${COMPREPLY[@]}"' \
        "$share/bash-completion/completions/ufunc" "$@" >"$work/completed"
    grep -qx -e "$wanted" "$work/completed" || { echo "$*: $wanted"; cat "$work/completed"; return 1; }
}

completion() {
    touch "$work/two words.npy"
    completes "$work/two words.npy" ufunc run add "$work/two" || return 1
    completes reduceat ufunc re && completes softmax ufunc run soft && completes --casting ufunc run add --ca &&
        completes same_kind ufunc run add --casting s && completes float16 ufunc outer add -t fl && completes tree ufunc inspect add -v t &&
        completes matmul ufunc list add mat && completes reduce ufunc help re && completes README.md ufunc run add READ && ! completes --where ufunc at add --w &&
        { ! command -v zsh || zsh -n "$share/zsh/site-functions/_ufunc"; }
}

uninstall_it() {
    make -s uninstall BUILD="$BUILD" PREFIX=/opt/ufunc DESTDIR="$work/root" && ! find "$work/root" ! -type d | grep .
}

check 'the static library has only uf_* global' only_uf
check 'the version map names what the header declares' all_mapped
check 'the shared library exports what the map names' all_versioned
check 'functions are added under later releases only' releases_closed
check 'soname' soname
check 'needs nothing but the C library' needs_only_libc
check 'install' install_it
check 'ufunc.pc' pc_file
check 'ufunc.pc follows PREFIX' pc_has_the_prefix
check 'a program with the shared library' link -L"$work/root/opt/ufunc/lib" -lufunc
if echo '#include <vector>' | ${CXX:-c++} -std=c++17 -x c++ -E - >/dev/null 2>&1; then
    check 'a program in C++' link_cxx
else
    n=$((n + 1))
    echo "ok $n - a program in C++ # SKIP no C++ compiler here"
fi
check 'a program with the static library' link "$work/root/opt/ufunc/lib/libufunc.a" -lm -ldl -lpthread
if echo 'int main(void) { return 0; }' | ${CC:-cc} -static -x c - -o "$work/empty" 2>"$work/log"; then
    check 'a static program is told that it cannot' static_program
else
    n=$((n + 1))
    echo "ok $n - a static program is told that it cannot # SKIP no static C library here"
fi
check 'the installed tool' "$work/root/opt/ufunc/bin/ufunc" --version
check 'links of the documents lead somewhere' links_lead
check 'examples and function files' examples_work
check 'pages of the tool' pages_tell
check 'the page of the library' library_page
command -v bash >/dev/null && check 'completion' completion
check 'uninstall leaves nothing' uninstall_it
echo "1..$n"
