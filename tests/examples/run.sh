#!/bin/sh
# The examples: each checks its own results; udf_host's output on good and bad lines is compared with a golden file.
cd "$(dirname "$0")/../.." || exit 1
. tests/tap.sh

is_png() { [ "$(head -c 8 "$1" | od -An -tx1 | tr -d ' \n')" = 89504e470d0a1a0a ]; }

# A million characters, a million parentheses, and a text that is not UTF-8.
hostile_lines() {
    printf '(x) { return x'
    yes ' + x' | head -n 250000 | tr -d '\n'
    printf '; }\ndeep(x) = '
    yes '(' | head -n 1000000 | tr -d '\n'
    printf '\nbytes(x) = \377\376\001\n'
    echo 'after(x) = x + 1'
}

survive() {
    hostile_lines | "$BUILD/examples/udf_host" >"$work/out" || return 1
    cut -c 1-160 "$work/out"
    tail -n 1 "$work/out" | grep -qx 'after: 1 1.5 2 3.5 11 43.195'
}

# The program that the README begins with, as a reader would try it.
readme() {
    awk '/^```c$/ {on = 1; next} /^```$/ {if (on) exit} on' README.md >"$work/readme.c"
    ${CC:-cc} $sanitizer "$work/readme.c" -Iinclude -L"$BUILD" -lufunc -o "$work/readme" &&
        [ "$(LD_LIBRARY_PATH=$BUILD "$work/readme")" = "-1.996 0.001998 1.996" ]
}

if echo '#include <dlpack/dlpack.h>' | ${CC:-cc} -E - >/dev/null 2>&1; then
    sanitizer=$(ldd "$BUILD/libufunc.so" | sed -n 's/.*lib\([at]\)san\.so.*/-fsanitize=\1/p')
    [ -z "$sanitizer" ] || sanitizer=$(echo "$sanitizer" | sed 's/=a/=address/;s/=t/=thread/')
    check README readme
fi
check rel_diff "$BUILD/examples/rel_diff"
check statistics "$BUILD/examples/statistics"
check kalman "$BUILD/examples/kalman" 5000 25
check 'kalman of one track, one step' "$BUILD/examples/kalman" 1 1
check mandelbrot "$BUILD/examples/mandelbrot" "$work/set.png" 301 201 50
check 'mandelbrot.png is a picture' is_png "$work/set.png"
check 'mandelbrot into no folder fails' sh -c "! $BUILD/examples/mandelbrot $work/none/set.png 16 16 5"
"$BUILD/examples/udf_host" <tests/examples/udf_host.in >"$work/udf_host.out" 2>&1
check 'udf_host ends well' test $? = 0
check udf_host diff -u tests/examples/udf_host.out "$work/udf_host.out"
check 'udf_host survives hostile lines' survive
echo "1..$n"
