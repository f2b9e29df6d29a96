/* constant_division.c - divisions of integers by a constant, without one: by a shift, or by a multiplier. The driver's assembler
 * takes a millisecond and more for a division that it is given, and makes some thirty instructions of it. */
#include <stdio.h>
#include <stdlib.h>

#include "ir/common/numbering.h"

/* n / d of 32 bits, for a d that is no power of two: by the upper half of n * m, where 2^32 + m is 2^(32 + bits) / d, rounded up, and
 * bits those of d - 1 (Granlund and Montgomery, "Division by invariant integers using multiplication", 1994, figure 4.1). Their sum could
 * take 33 bits, and so n less that half is halved before it is added. */
static void divide_by_multiplier(text *out, const char *to, const char *n, uint32_t d) {
    int bits = 32 - __builtin_clz(d - 1);
    uint64_t m = ((((uint64_t)1 << bits) - d) << 32) / d + 1;
    text_printf(out, "  %s_w = zext i32 %s to i64\n  %s_p = mul i64 %s_w, %llu\n  %s_u = lshr i64 %s_p, 32\n", to, n,
                to, to, (unsigned long long)m, to, to);
    text_printf(out, "  %s_h = trunc i64 %s_u to i32\n  %s_l = sub i32 %s, %s_h\n  %s_f = lshr i32 %s_l, 1\n", to, to,
                to, n, to, to, to);
    text_printf(out, "  %s_s = add i32 %s_f, %s_h\n  %s = lshr i32 %s_s, %d\n", to, to, to, to, to, bits - 1);
}

/* Of signed integers by 2^by: those below 0 are rounded towards it. */
static void divide_signed(text *out, const char *to, const char *type, const char *n, int by, bool remainder) {
    int bits = atoi(type + 1);
    text_printf(out, "  %s_n = ashr %s %s, %d\n  %s_r = lshr %s %s_n, %d\n  %s_s = add %s %s, %s_r\n", to, type, n,
                bits - 1, to, type, to, bits - by, to, type, n, to);
    if (remainder)
        text_printf(out, "  %s_m = and %s %s_s, %lld\n  %s = sub %s %s, %s_m\n", to, type, to, -(1LL << by), to, type,
                    n, to);
    else
        text_printf(out, "  %s = ashr %s %s_s, %d\n", to, type, to, by);
}

bool write_constant_division(text *out, const char *name, const char *instruction, size_t length) {
    char line[160], type[8], n[64], rest[2];
    unsigned long long d;
    bool remainder = strncmp(instruction + 1, "rem ", 4) == 0, is_signed = *instruction == 's';
    if (length >= sizeof line || (!is_signed && *instruction != 'u') ||
        (!remainder && strncmp(instruction + 1, "div ", 4) != 0))
        return false;
    memcpy(line, instruction, length);
    line[length] = 0;
    if (sscanf(line + 5, "%7s %63[^, ], %llu%1s", type, n, &d, rest) != 3 || !d)
        return false;
    if (is_signed) {
        bool shifts = (strcmp(type, "i32") == 0 || strcmp(type, "i64") == 0) && (d & (d - 1)) == 0 && d > 1 &&
                      d < (uint64_t)1 << 31;
        if (shifts)
            divide_signed(out, name, type, n, __builtin_ctzll(d), remainder);
        return shifts;
    }
    if ((d & (d - 1)) == 0 && remainder) {
        text_printf(out, "  %s = and %s %s, %llu\n", name, type, n, d - 1);
    } else if ((d & (d - 1)) == 0) {
        text_printf(out, "  %s = lshr %s %s, %d\n", name, type, n, __builtin_ctzll(d));
    } else if (strcmp(type, "i32") == 0 && d < (uint64_t)1 << 31 && !remainder) {
        divide_by_multiplier(out, name, n, (uint32_t)d);
    } else {
        return false;
    }
    return true;
}
