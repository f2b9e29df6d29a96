# lengths.awk - the lengths of functions: reads lines of ctags (name, file, .., line:N, end:N), and prints functions of more than
# 100 lines, the median and the 90th percentile.
BEGIN { FS = "\t" }
{
    first = last = 0
    for (i = 4; i <= NF; i++) {
        if ($i ~ /^line:/) first = substr($i, 6)
        if ($i ~ /^end:/) last = substr($i, 5)
    }
    if (!last) next
    length_of[++n] = last - first + 1
    if (last - first + 1 > 100) printf "warning: %s:%d: %s is %d lines long\n", $2, first, $1, last - first + 1
}
END {
    for (i = 2; i <= n; i++) # insertion sort
        for (k = i; k > 1 && length_of[k] < length_of[k - 1]; k--) {
            t = length_of[k]; length_of[k] = length_of[k - 1]; length_of[k - 1] = t
        }
    median = length_of[int((n + 1) / 2)]
    p90 = length_of[int(n * 0.9 + 0.5)]
    printf "%d functions: median %d lines (at most 15), 90th percentile %d (at most 50)\n", n, median, p90
    if (median > 15 || p90 > 50) print "warning: functions are long"
}
