#!/bin/sh
# The examples: each checks its own results; udf_host's output on good and bad lines is compared with a golden file.
cd "$(dirname "$0")/../.." || exit 1
. tests/tap.sh

# is_png FILE WIDTH HEIGHT: the signature, and the first chunk, which begins with the size.
is_png() {
    [ "$(head -c 24 "$1" | od -An -v -tx1 | tr -d ' \n')" = \
        "$(printf '89504e470d0a1a0a0000000d49484452%08x%08x' "$2" "$3")" ]
}

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

# says PATTERN EXAMPLE ARGUMENT..: it ends well, and a line matches.
says() {
    pattern=$1 example=$2
    shift 2
    "$BUILD/examples/$example" "$@" >"$work/says" || return 1
    cat "$work/says"
    grep -q -e "$pattern" "$work/says"
}

# notices EXAMPLE ARGUMENT..: on a GPU whose driver computes nothing, its results are wrong, and it says so.
notices() {
    example=$1
    shift
    UFUNC_CUDA_DRIVER=$BUILD/test/libmockcuda.so "$BUILD/examples/$example" "$@" >"$work/says" 2>&1
    [ $? = 1 ] && grep -q '^wrong: ' "$work/says" || { cat "$work/says"; return 1; }
}

# is_stumpys WINDOW: distances are those of stumpy_profile.py, and so are the nearest windows, but where several are equally near.
is_stumpys() {
    "$BUILD/examples/matrix_profile" - "$1" tests/examples/series.txt >"$work/profile" || return 1
    paste -d ' ' "$work/profile" tests/examples/series.stumpy | awk '
        NF != 4 || $1 - $3 > 2e-6 || $3 - $1 > 2e-6 || ($3 > 0 && $2 != $4) { print "line " NR ": " $0; wrong = 1 }
        END { exit wrong || NR != 381 }'
}

check rel_diff "$BUILD/examples/rel_diff"
check statistics "$BUILD/examples/statistics"
if [ -e "$BUILD/examples/standardize" ]; then
    check standardize says '^standardize  cpu .* -0.892 ' standardize 1003
    check 'standardize one row' "$BUILD/examples/standardize" 1
fi
check kalman "$BUILD/examples/kalman" 5000 25
check 'kalman of one track, one step' "$BUILD/examples/kalman" 1 1
check mandelbrot "$BUILD/examples/mandelbrot" "$work/set.png" 301 201 50
check 'mandelbrot.png is a picture' is_png "$work/set.png" 301 201
check 'mandelbrot into no folder fails' sh -c "! $BUILD/examples/mandelbrot $work/none/set.png 16 16 5"
check gpu_round says 'round(2.675, 2) = 2.68' gpu_round 100003
check heat says '^heat .*cpu ' heat "$work/heat.png" 65 97 41
check 'heat.png is a picture' is_png "$work/heat.png" 97 65
check 'heat of a plate without inner points' "$BUILD/examples/heat" "$work/heat.png" 1 2 3
check pi says '^pi  3.14283457, ' pi 1000003
check histogram says '^120-127 ' histogram 1000003
check nbody says 'energy -' nbody 100 20
check 'nbody of one body' "$BUILD/examples/nbody" 1 3
check life says '^life .*cpu ' life "$work/life.png" 65 97 41
check 'life.png is a picture' is_png "$work/life.png" 97 65
check 'life on the smallest torus' "$BUILD/examples/life" "$work/life.png" 1 1 3
check 'life into no folder fails' sh -c "! $BUILD/examples/life $work/none/life.png 16 16 5"
check interval_dot says '^cpu  *dot product of 1000003 intervals: \[51233.0243, 51233.4691\]' interval_dot 1000003
check 'interval_dot of one interval' "$BUILD/examples/interval_dot" 1
check exact_dot says '^cpu  *double_double 55662294132, .* exact 55662294132$' exact_dot 1000003
check 'exact_dot of one term' says 'double_double 670592745, float64 670592745,' exact_dot 1
check rotation says 'the last point is (-1\.0414' rotation 100003
check 'rotation of one point' "$BUILD/examples/rotation" 1
check attitude says 'the body points to (-0\.' attitude 100003
check 'attitude of one turn' "$BUILD/examples/attitude" 1
check gradient says 'delta 0\.9117.*gamma 0\.00506' gradient 1000003
check 'gradient of one option' "$BUILD/examples/gradient" 1
check bounding_box says 'from (-1\.0000, -2\.0000, -3\.0000) to (1\.0000, 2\.0000, 3\.0000)' bounding_box 1000003
check 'the bounding box of one point' "$BUILD/examples/bounding_box" 1
check black_scholes says 'gamma  *0\.02777' black_scholes
check 'black_scholes of one option' "$BUILD/examples/black_scholes" 1 1
check places says 'places  15 of 66 cities' places examples/cities.csv "$work/places.png"
check 'the farthest cities' grep -q 'Bogota and Jakarta, 19820 km' "$work/says"
check 'places.png is a picture' is_png "$work/places.png" 600 300
check 'places without a file fails' sh -c "! $BUILD/examples/places $work/none.csv"
check 'places of another file fails' sh -c "! $BUILD/examples/places tests/examples/series.txt"
check kmeans says '^kmeans  cpu .* 39 rounds' kmeans "$work/kmeans.png"
check 'kmeans.png is a picture' is_png "$work/kmeans.png" 512 512
check 'kmeans of one point' "$BUILD/examples/kmeans" "$work/kmeans.png" 1
check filters says '^filters  cpu ' filters "$work/filters.png" 65 97
check 'filters.png is a picture' is_png "$work/filters.png" 388 65
check 'filters of one pixel' "$BUILD/examples/filters" "$work/filters.png" 1 1
check conjugate says '^conjugate  cpu ' conjugate "$work/conjugate.png" 60
check 'conjugate.png is a picture' is_png "$work/conjugate.png" 60 60
check 'conjugate of one unknown' "$BUILD/examples/conjugate" "$work/conjugate.png" 1
check matrix_profile says 'the oddest one at 10[0-9][0-9]$' matrix_profile "$work/profile.png"
check 'profile.png is a picture' is_png "$work/profile.png" 2000 320
check 'the matrix profile is that of STUMPY' is_stumpys 20
check udf_server says '^udf_server  cpu .* got all replies' udf_server
check 'a histogram of less than nothing fails' sh -c "! $BUILD/examples/histogram -1"
if ! "$BUILD/ufunc" info | grep -q '^libnvvm *missing'; then
    check 'gpu_round notices wrong results' notices gpu_round 1000
    [ ! -e "$BUILD/examples/standardize" ] || check 'standardize notices wrong results' notices standardize 100
    check 'heat notices wrong results' notices heat "$work/heat.png" 32 32 5
    check 'pi notices wrong results' notices pi 1000
    check 'histogram notices wrong results' notices histogram 1000
    check 'interval_dot notices wrong results' notices interval_dot 100
    check 'exact_dot notices wrong results' notices exact_dot 100
    check 'rotation notices wrong results' notices rotation 1000
    check 'gradient notices wrong results' notices gradient 1000
    check 'bounding_box notices wrong results' notices bounding_box 1000
    check 'nbody notices wrong results' notices nbody 50 3
    check 'black_scholes notices wrong results' notices black_scholes 10 10
    check 'places notices wrong results' notices places examples/cities.csv "$work/places.png"
    check 'kmeans notices wrong results' notices kmeans "$work/kmeans.png" 1000
    check 'filters notices wrong results' notices filters "$work/filters.png" 32 32
    check 'conjugate notices wrong results' notices conjugate "$work/conjugate.png" 16
    check 'matrix_profile notices wrong results' notices matrix_profile "$work/profile.png"
    check 'udf_server notices wrong results' notices udf_server
    check 'life notices wrong results' notices life "$work/life.png" 32 32 5
fi
"$BUILD/examples/udf_host" <tests/examples/udf_host.in >"$work/udf_host.out" 2>&1
check 'udf_host ends well' test $? = 0
check udf_host diff -u tests/examples/udf_host.out "$work/udf_host.out"
check 'udf_host survives hostile lines' survive
echo "1..$n"
