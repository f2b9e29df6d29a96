/* wide.c - see wide.h. */
#include "wide.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

static uint64_t random_state;

void wide_seed(void) {
    const char *seed = getenv("UF_SEED");
    random_state = seed ? strtoull(seed, NULL, 0) : (uint64_t)time(NULL) * 1000003u + (uint64_t)getpid();
    printf("# UF_SEED=%llu\n", (unsigned long long)random_state);
}

uint64_t random_bits(void) {
    uint64_t z = (random_state += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

wide_value read_wide(dtype t, const void *p) {
    switch (t) {
    case DT_BOOL:
        return (wide_value){*(const uint8_t *)p != 0, 0};
    case DT_INT8:
        return (wide_value){*(const int8_t *)p, 0};
    case DT_INT16:
        return (wide_value){*(const int16_t *)p, 0};
    case DT_INT32:
        return (wide_value){*(const int32_t *)p, 0};
    case DT_INT64:
        return (wide_value){*(const int64_t *)p, 0};
    case DT_UINT8:
        return (wide_value){*(const uint8_t *)p, 0};
    case DT_UINT16:
        return (wide_value){*(const uint16_t *)p, 0};
    case DT_UINT32:
        return (wide_value){*(const uint32_t *)p, 0};
    case DT_UINT64:
        return (wide_value){*(const uint64_t *)p, 0};
    case DT_FLOAT16: {
        uint16_t h = *(const uint16_t *)p;
        int e = h >> 10 & 31, m = h & 1023;
        long double v = e == 31 ? (m ? NAN : INFINITY) : e ? ldexpl(1024 + m, e - 25) : ldexpl(m, -24);
        return (wide_value){h >> 15 ? -v : v, 0};
    }
    case DT_BFLOAT16: {
        uint32_t bits = (uint32_t) * (const uint16_t *)p << 16;
        float f;
        memcpy(&f, &bits, sizeof f);
        return (wide_value){f, 0};
    }
    case DT_FLOAT32:
        return (wide_value){*(const float *)p, 0};
    case DT_FLOAT64:
        return (wide_value){*(const double *)p, 0};
    case DT_COMPLEX64:
        return (wide_value){((const float *)p)[0], ((const float *)p)[1]};
    default:
        return (wide_value){((const double *)p)[0], ((const double *)p)[1]};
    }
}

/* To nearest even with `precision` bits, least exponent `lowest`, largest `highest`. */
static long double rounded(long double v, int precision, int lowest, int highest) {
    if (isnan(v) || isinf(v) || v == 0)
        return v;
    int e = ilogbl(v) < lowest ? lowest : ilogbl(v);
    long double unit = ldexpl(1, e - precision + 1), r = rintl(v / unit) * unit;
    return fabsl(r) >= ldexpl(1, highest + 1) ? copysignl(INFINITY, v) : r;
}

/* An integer is made modulo 2^64 from an integer, saturated from a float. */
static uint64_t to_integer(long double v, bool from_integer, int bits, bool is_signed) {
    if (from_integer)
        return v < 0 ? (uint64_t)(int64_t)v : (uint64_t)v;
    long double lowest = is_signed ? -ldexpl(1, bits - 1) : 0, limit = ldexpl(1, bits - is_signed);
    if (isnan(v))
        return 0;
    if (v <= lowest)
        return is_signed ? UINT64_MAX << (bits - 1) : 0;
    if (v >= limit)
        return is_signed ? (UINT64_C(1) << (bits - 1)) - 1 : UINT64_MAX >> (64 - bits);
    return v < 0 ? (uint64_t)(int64_t)v : (uint64_t)v;
}

static uint16_t half_bits(long double v, int precision) {
    int exponent_bits = 16 - precision, bias = (1 << (exponent_bits - 1)) - 1, fraction = precision - 1;
    long double r = fabsl(rounded(v, precision, 1 - bias, bias));
    uint16_t sign = signbit(v) ? 0x8000 : 0;
    if (isnan(v))
        return 0x7FFF;
    if (isinf(r))
        return (uint16_t)(sign | (((1 << exponent_bits) - 1) << fraction));
    if (r < ldexpl(1, 1 - bias))
        return (uint16_t)(sign | (int)ldexpl(r, bias - 1 + fraction));
    int e = ilogbl(r);
    return (uint16_t)(sign | (e + bias) << fraction | ((int)ldexpl(r, fraction - e) & ((1 << fraction) - 1)));
}

void write_wide(dtype from, wide_value v, dtype to, void *p) {
    bool whole = from <= DT_UINT64;
    switch (to) {
    case DT_BOOL:
        *(uint8_t *)p = v.re != 0 || v.im != 0;
        break;
    case DT_INT8:
    case DT_UINT8:
        *(uint8_t *)p = (uint8_t)to_integer(v.re, whole, 8, to == DT_INT8);
        break;
    case DT_INT16:
    case DT_UINT16:
        *(uint16_t *)p = (uint16_t)to_integer(v.re, whole, 16, to == DT_INT16);
        break;
    case DT_INT32:
    case DT_UINT32:
        *(uint32_t *)p = (uint32_t)to_integer(v.re, whole, 32, to == DT_INT32);
        break;
    case DT_INT64:
    case DT_UINT64:
        *(uint64_t *)p = to_integer(v.re, whole, 64, to == DT_INT64);
        break;
    case DT_FLOAT16:
        *(uint16_t *)p = half_bits(v.re, 11);
        break;
    case DT_BFLOAT16:
        *(uint16_t *)p = half_bits(v.re, 8);
        break;
    case DT_FLOAT32:
        *(float *)p = (float)v.re;
        break;
    case DT_FLOAT64:
        *(double *)p = (double)v.re;
        break;
    case DT_COMPLEX64:
        ((float *)p)[0] = (float)v.re, ((float *)p)[1] = (float)v.im;
        break;
    default:
        ((double *)p)[0] = (double)v.re, ((double *)p)[1] = (double)v.im;
        break;
    }
}

/* Bits are the same, or both are NaN. */
static bool same_real(dtype t, const void *a, const void *b) {
    long double x = read_wide(t, a).re, y = read_wide(t, b).re;
    return memcmp(a, b, dtypes[t].size) == 0 || (isnan(x) && isnan(y));
}

bool same_bits(dtype t, const char *a, const char *b) {
    dtype part = (dtype)dtypes[t].component;
    size_t size = dtypes[part].size;
    if (!memcmp(a, b, dtypes[t].size))
        return true;
    return same_real(part, a, b) && (!dtype_is_complex(t) || same_real(part, a + size, b + size));
}
