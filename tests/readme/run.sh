#!/bin/sh
# The programs of the README, as a reader would try them: each block of C is compiled as it is printed, and what it prints is what
# its comment "prints .." says. A program whose arrays are in CUDA memory runs as printed where GPU tests are on; everywhere it runs
# once more with its arrays on the CPU, which changes nothing else. And what the documents point to is there.
cd "$(dirname "$0")/../.." || exit 1
echo '#include <dlpack/dlpack.h>' | ${CC:-cc} -E - >/dev/null 2>&1 || { echo "no C compiler with dlpack here"; exit 77; }
. tests/tap.sh
case $(ldd "$BUILD/libufunc.so") in
*libasan*) sanitizer=-fsanitize=address ;;
*libtsan*) sanitizer=-fsanitize=thread ;;
*) sanitizer= ;;
esac

# Writes block N of README.md to $work/N.c; prints how many there are.
extract() {
    awk -v folder="$work" '
        /^```c$/ {on = 1; n++; next}
        /^```$/ {on = 0; next}
        on {print > (folder "/" n ".c")}
        END {print n + 0}' README.md
}

# compiles FILE: -Werror, since a reader's first program should not warn.
compiles() { ${CC:-cc} -std=c11 -Wall -Wextra -Werror $sanitizer -Iinclude "$1.c" -L"$BUILD" -lufunc -o "$1"; }

# The program ends well and prints what its comment says. Its leaks are those of a program that ends; they are not looked at.
prints() {
    wanted=$(sed -n 's|.*/\* prints \(.*\) \*/$|\1|p' "$1.c")
    got=$(ASAN_OPTIONS="$ASAN_OPTIONS:detect_leaks=0" LD_LIBRARY_PATH=$BUILD "$1") || { echo "$got"; return 1; }
    [ -n "$wanted" ] && [ "$got" = "$wanted" ] || { echo "printed: $got"; echo "wanted:  $wanted"; return 1; }
}

on_the_cpu() {
    sed 's/{kDLCUDA, 0}/{kDLCPU, 0}/' "$1.c" >"$1-cpu.c" && compiles "$1-cpu" && prints "$1-cpu"
}

# The program of docs/cpp.md, as those of the README.
cxx_program() {
    awk -v file="$work/cxx.cc" '/^```cpp$/ {on = 1; next} /^```$/ {on = 0} on {print > file}' docs/cpp.md
    ${CXX:-c++} -std=c++17 -Wall -Wextra -Werror $sanitizer -Iinclude "$work/cxx.cc" -L"$BUILD" -lufunc -o "$work/cxx" || return 1
    mv "$work/cxx.cc" "$work/cxx.c"
    prints "$work/cxx"
}

# The picture is there, is a PNG and is small.
picture() {
    file=$(sed -n 's|.*<img src="\([^"]*\)".*|\1|p' README.md)
    [ "$(head -c 8 "$file" | od -An -v -tx1 | tr -d ' \n')" = 89504e470d0a1a0a ] && [ "$(wc -c <"$file")" -lt 61440 ]
}

# Every file of the project that the text points to is there.
links() {
    grep -ohE '\]\([A-Za-z0-9_/.-]*[/.][A-Za-z0-9_/.-]*\)' README.md HACKING.md docs/*.md | tr -d '])(' | sort -u >"$work/links"
    while read -r path; do
        [ -e "$path" ] || [ -e "docs/$path" ] || { echo "$path"; return 1; }
    done <"$work/links"
}

# Every source of the project that the documents name is there, in src/ or src/ir/. The record of measurements names those of its time.
sources() {
    grep -ohE '\b[a-z]+/[a-z_/]+\.[ch]\b' README.md HACKING.md docs/[!m]*.md |
        grep -v "^dlpack/" | sort -u >"$work/sources"
    while read -r path; do
        [ -e "$path" ] || [ -e "src/$path" ] || [ -e "src/ir/$path" ] || { echo "$path"; return 1; }
    done <"$work/sources"
    [ -s "$work/sources" ]
}

# The function files in modules.md are functions, as printed.
function_files() {
    awk -v folder="$work" '
        /^```$/ {on = !on; n += on; next}
        on {print > (folder "/" n ".uf")}
        END {exit n < 4}' docs/modules.md || return 1
    for file in "$work"/*.uf; do
        "$BUILD/ufunc" list "$file" || { cat "$file"; return 1; }
    done
}

programs=$(extract)
check 'three programs' test "$programs" = 3
program=0
while [ $program -lt "$programs" ]; do
    program=$((program + 1))
    file=$work/$program
    check "program $program compiles" compiles "$file"
    if ! grep -q kDLCUDA "$file.c"; then
        check "program $program prints what it says" prints "$file"
    else
        check "program $program prints what it says, its arrays on the CPU" on_the_cpu "$file"
        [ "${UF_TEST_GPU:-0}" != 1 ] || check "program $program prints what it says, on the GPU" prints "$file"
    fi
done
if echo '#include <vector>' | ${CXX:-c++} -std=c++17 -x c++ -E - >/dev/null 2>&1; then
    check 'the program of cpp.md prints what it says' cxx_program
else
    n=$((n + 1))
    echo "ok $n - the program of cpp.md # SKIP no C++ compiler here"
fi
check 'the picture' picture
check 'the function files of modules.md are functions' function_files
check 'what the documents point to is there' links
check 'the sources that the documents name are there' sources
echo "1..$n"
