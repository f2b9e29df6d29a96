/* test_type.c - dtypes, casting, promotion, numbers, halves, signatures, magic numbers.
 * With --dump it prints the tables, and with --convert it converts the elements on standard input, for
 * tests/oracle/casting.py, which compares with NumPy and with exact arithmetic. */
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "failing.h"
#include "type/variant.h"

#include <cmocka.h> /* after base.h: it has a macro named fail */

/* ---- Random numbers (splitmix64) ---- */

static uint64_t random_state;

static uint64_t random_bits(void) {
    uint64_t z = (random_state += 0x9E3779B97F4A7C15u);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9u;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBu;
    return z ^ (z >> 31);
}

static int random_below(int n) { return (int)(random_bits() % (uint64_t)n); }

static double double_of_bits(uint64_t bits) {
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

/* ---- Dtypes ---- */

static void test_dtype_table(void **state) {
    (void)state;
    for (int t = 0; t < DT_COUNT; t++) {
        const dtype_info *d = &dtypes[t];
        assert_int_equal(dtype_of_name(d->name, strlen(d->name)), t);
        assert_int_equal(dtype_of_code(d->code), t);
        assert_int_equal(dtype_of_dl(d->dl), t);
        assert_int_equal(d->dl.bits, 8 * d->size);
        assert_int_equal(d->align, dtypes[d->component].size);
        assert_int_equal(d->kind == DK_INTEGER, dtype_is_integer((dtype)t));
        assert_int_equal(d->kind == DK_FLOATING, dtype_is_floating((dtype)t));
        assert_int_equal(d->kind == DK_COMPLEX, dtype_is_complex((dtype)t));
    }
    assert_int_equal(dtype_of_code('q'), DT_INT64);
    assert_int_equal(dtype_of_code('Q'), DT_UINT64);
}

static void test_dtype_unknown(void **state) {
    (void)state;
    for (int c = -128; c < 128; c++)
        if (!c || !strchr("?bhilqBHILQeEfdFD", c))
            assert_int_equal(dtype_of_code((char)c), DT_NONE);
    static const char *const names[] = {"float", "float322", "float3", "", "Float32", "f4", "bool "};
    for (size_t i = 0; i < COUNT(names); i++)
        assert_int_equal(dtype_of_name(names[i], strlen(names[i])), DT_NONE);
    assert_int_equal(dtype_of_name("float32x", 7), DT_FLOAT32); /* the length counts, not the NUL */
    static const DLDataType types[] = {{kDLFloat, 32, 2}, {kDLFloat, 32, 0},   {kDLInt, 128, 1}, {UF_BOOL_CODE, 1, 1},
                                       {kDLUInt, 1, 1},   {kDLComplex, 32, 1}, {99, 32, 1},      {kDLBfloat, 32, 1}};
    for (size_t i = 0; i < COUNT(types); i++)
        assert_int_equal(dtype_of_dl(types[i]), DT_NONE);
}

static void test_casting_names(void **state) {
    (void)state;
    assert_string_equal(casting_name(UF_CAST_DEFAULT), "same_kind");
    assert_string_equal(casting_name(UF_CAST_NO), "no");
    assert_string_equal(casting_name(UF_CAST_EQUIV), "equiv");
    assert_string_equal(casting_name(UF_CAST_SAFE), "safe");
    assert_string_equal(casting_name(UF_CAST_SAME_KIND), "same_kind");
    assert_string_equal(casting_name(UF_CAST_UNSAFE), "unsafe");
}

/* Each rule lets pass what stricter ones do; safe casting is an order; a safe cast between integers loses nothing. */
static void test_casting_order(void **state) {
    (void)state;
    for (dtype a = 0; a < DT_COUNT; a++)
        for (dtype b = 0; b < DT_COUNT; b++) {
            bool equal = a == b, safe = dtype_can_cast(a, b, UF_CAST_SAFE),
                 kind = dtype_can_cast(a, b, UF_CAST_SAME_KIND);
            assert_int_equal(dtype_can_cast(a, b, UF_CAST_NO), equal);
            assert_int_equal(dtype_can_cast(a, b, UF_CAST_EQUIV), equal);
            assert_int_equal(dtype_can_cast(a, b, UF_CAST_DEFAULT), kind);
            assert_true(dtype_can_cast(a, b, UF_CAST_UNSAFE));
            assert_true(!equal || safe);
            assert_true(!safe || kind);
            assert_true(equal || !safe || !dtype_can_cast(b, a, UF_CAST_SAFE));
            for (dtype c = 0; c < DT_COUNT; c++)
                assert_true(!safe || !dtype_can_cast(b, c, UF_CAST_SAFE) || dtype_can_cast(a, c, UF_CAST_SAFE));
            if (dtypes[a].kind == DK_INTEGER && dtypes[b].kind == DK_INTEGER) {
                int room = dtypes[b].size * 8 - dtypes[b].is_signed, need = dtypes[a].size * 8 - dtypes[a].is_signed;
                assert_int_equal(safe, room >= need && dtypes[b].is_signed >= dtypes[a].is_signed);
            }
        }
}

/* Promotion is the least upper bound of the order of safe casts, which defines it. */
static void test_promotion(void **state) {
    (void)state;
    for (dtype a = 0; a < DT_COUNT; a++)
        for (dtype b = 0; b < DT_COUNT; b++) {
            dtype p = dtype_promote(a, b);
            assert_int_equal(p, dtype_promote(b, a));
            assert_true(dtype_can_cast(a, p, UF_CAST_SAFE) && dtype_can_cast(b, p, UF_CAST_SAFE));
            for (dtype c = 0; c < DT_COUNT; c++)
                if (dtype_can_cast(a, c, UF_CAST_SAFE) && dtype_can_cast(b, c, UF_CAST_SAFE))
                    assert_true(dtype_can_cast(p, c, UF_CAST_SAFE) || dtypes[p].size <= dtypes[c].size);
        }
}

/* bfloat16 is not in NumPy: only what its 8 bits of significand hold casts to it safely. */
static void test_bfloat16(void **state) {
    (void)state;
    for (dtype t = 0; t < DT_COUNT; t++) {
        bool below = t == DT_BOOL || t == DT_INT8 || t == DT_UINT8 || t == DT_BFLOAT16;
        assert_int_equal(dtype_can_cast(t, DT_BFLOAT16, UF_CAST_SAFE), below);
        bool above = t >= DT_BFLOAT16;
        assert_int_equal(dtype_can_cast(DT_BFLOAT16, t, UF_CAST_SAFE), above);
    }
    assert_int_equal(dtype_promote(DT_FLOAT16, DT_BFLOAT16), DT_FLOAT32);
    assert_int_equal(dtype_promote(DT_INT16, DT_BFLOAT16), DT_FLOAT32);
    assert_int_equal(dtype_promote(DT_INT32, DT_BFLOAT16), DT_FLOAT64);
    assert_int_equal(dtype_promote(DT_COMPLEX64, DT_BFLOAT16), DT_COMPLEX64);
}

/* ---- Halves: the oracle is the definition of the formats, in plain arithmetic ---- */

typedef struct format {
    int fraction, bias;
    uint16_t (*encode)(double);
    double (*decode)(uint16_t);
} format;

static const format formats[] = {{10, 15, half_of_double, half_to_double},
                                 {7, 127, bfloat16_of_double, bfloat16_to_double}};

static double plain_decode(const format *f, uint16_t bits) {
    int e = (bits & 0x7FFF) >> f->fraction, m = bits & ((1 << f->fraction) - 1);
    double sign = bits & 0x8000 ? -1 : 1;
    if (e == 0x7FFF >> f->fraction)
        return m ? NAN : sign * INFINITY;
    return sign * (e ? ldexp((1 << f->fraction) + m, e - f->bias - f->fraction) : ldexp(m, 1 - f->bias - f->fraction));
}

static void test_half_patterns(void **state) {
    (void)state;
    for (const format *f = formats; f < formats + COUNT(formats); f++)
        for (uint32_t bits = 0; bits < 65536; bits++) {
            double got = f->decode((uint16_t)bits), want = plain_decode(f, (uint16_t)bits);
            assert_int_equal(signbit(got) != 0, bits >> 15);
            if (want != want) {
                assert_true(got != got);
                uint16_t back = f->encode(got), quiet = (uint16_t)(1 << (f->fraction - 1));
                assert_int_equal(back | quiet,
                                 bits | quiet); /* sign and payload are kept; only the quiet bit may be set */
                assert_true(back & quiet);
            } else {
                assert_true(got == want);
                assert_int_equal(f->encode(got), bits);
            }
        }
}

/* The nearest half by comparing with the two that enclose the value. Magnitudes are ordered as their patterns. */
static uint16_t plain_encode(const format *f, double value) {
    uint16_t sign = signbit(value) ? 0x8000 : 0, infinity = (uint16_t)(0x7FFF >> f->fraction << f->fraction);
    double a = fabs(value);
    uint16_t low = 0, high = infinity;
    while (high - low > 1) { /* decode(low) <= a < decode(high) */
        uint16_t middle = (uint16_t)((low + high) / 2);
        if (plain_decode(f, middle) <= a)
            low = middle;
        else
            high = middle;
    }
    if (isinf(a))
        return sign | infinity;
    double below = plain_decode(f, low),
           above = high == infinity ? 2 * plain_decode(f, (uint16_t)(high - 1)) - plain_decode(f, (uint16_t)(high - 2))
                                    : plain_decode(f, high);
    double half = below + (above - below) / 2; /* exact */
    uint16_t nearest = a < half ? low : a > half ? high : low & 1 ? high : low;
    return sign | nearest;
}

static void check_encode(double value) {
    for (const format *f = formats; f < formats + COUNT(formats); f++) {
        uint16_t got = f->encode(value), want = plain_encode(f, value);
        if (got != want)
            print_error("%a to a half with %d bits of fraction: got 0x%04x, want 0x%04x\n", value, f->fraction, got,
                        want);
        assert_int_equal(got, want);
    }
}

/* Every midpoint between neighbours, and the doubles next to it: where rounding twice goes wrong. */
static void test_half_midpoints(void **state) {
    (void)state;
    for (const format *f = formats; f < formats + COUNT(formats); f++) {
        uint16_t infinity = (uint16_t)(0x7FFF >> f->fraction << f->fraction);
        for (uint16_t bits = 0; bits + 1 < infinity; bits++) {
            double a = plain_decode(f, bits), b = plain_decode(f, (uint16_t)(bits + 1)), middle = a + (b - a) / 2;
            double near[] = {a, nextafter(a, INFINITY), nextafter(middle, 0), middle, nextafter(middle, INFINITY)};
            for (size_t i = 0; i < COUNT(near); i++) {
                assert_int_equal(f->encode(near[i]), plain_encode(f, near[i]));
                assert_int_equal(f->encode(-near[i]), plain_encode(f, -near[i]));
            }
        }
    }
}

static void test_half_random(void **state) {
    (void)state;
    static const double edges[] = {0.0,
                                   -0.0,
                                   INFINITY,
                                   -INFINITY,
                                   65504,
                                   65519.999,
                                   65520,
                                   65536,
                                   1e300,
                                   -1e300,
                                   5e-324,
                                   0x1p-24,
                                   0x1p-25,
                                   0x1.000001p-25,
                                   0x1.8p-25,
                                   0x1p-133,
                                   0x1p-134,
                                   0x1.0000000001p-134,
                                   0x1.FEp127,
                                   0x1.FEFFFFFp127,
                                   0x1.FFp127,
                                   1 + 0x1p-11 + 0x1p-40,
                                   1 + 0x1p-8 + 0x1p-52};
    for (size_t i = 0; i < COUNT(edges); i++)
        check_encode(edges[i]);
    for (int i = 0; i < 100000; i++) {
        double any = double_of_bits(random_bits());
        if (any == any)
            check_encode(any);
        check_encode(ldexp(double_of_bits((random_bits() >> 12) | (uint64_t)1023 << 52), random_below(60) - 40));
        check_encode(-ldexp(double_of_bits((random_bits() >> 12) | (uint64_t)1023 << 52), random_below(300) - 150));
    }
    assert_true((half_of_double(NAN) & 0x7FFF) > 0x7C00 && (bfloat16_of_double(NAN) & 0x7FFF) > 0x7F80);
    assert_true((half_of_double(double_of_bits(0x7FF0000000000001)) & 0x7FFF) > 0x7C00); /* not to infinity */
}

/* ---- Numbers ---- */

static number integer(int64_t value) { return (number){.type = DT_INT64, .as.i = value}; }
static number natural(uint64_t value) { return (number){.type = DT_UINT64, .as.u = value}; }
static number real(double value) { return (number){.type = DT_FLOAT64, .as.f = {value}}; }

/* The element that a number becomes, its bytes in an integer. */
static uint64_t written(number value, dtype type) {
    unsigned char bytes[32];
    uint64_t result = 0;
    memset(bytes, 0xA5, sizeof bytes);
    number_write(value, type, bytes + 1); /* misaligned on purpose */
    assert_int_equal(bytes[0], 0xA5);
    assert_int_equal(bytes[1 + dtypes[type].size], 0xA5);
    memcpy(&result, bytes + 1, dtypes[type].size < 8 ? dtypes[type].size : 8);
    return result;
}

static void test_number_saturates(void **state) {
    (void)state;
    for (dtype t = DT_INT8; t <= DT_UINT64; t++) {
        int bits = 8 * dtypes[t].size;
        uint64_t mask = bits == 64 ? UINT64_MAX : ((uint64_t)1 << bits) - 1;
        uint64_t top = dtypes[t].is_signed ? mask >> 1 : mask, bottom = dtypes[t].is_signed ? (mask >> 1) + 1 : 0;
        assert_int_equal(written(real(NAN), t), 0);
        assert_int_equal(written(real(-NAN), t), 0);
        assert_int_equal(written(real(INFINITY), t), top);
        assert_int_equal(written(real(-INFINITY), t), bottom);
        assert_int_equal(written(real(1e30), t), top);
        assert_int_equal(written(real(-1e30), t), bottom);
        assert_int_equal(written(real(ldexp(1, bits)), t), top);
        assert_int_equal(written(real(ldexp(1, bits - 1)), t), dtypes[t].is_signed ? top : (uint64_t)1 << (bits - 1));
        assert_int_equal(written(real(-ldexp(1, bits - 1)), t), bottom);
        assert_int_equal(written(real(2.99), t), 2);
        assert_int_equal(written(real(-2.99), t), dtypes[t].is_signed ? mask - 1 : 0);
        assert_int_equal(written(real(-0.99), t), 0);
    }
    assert_int_equal(written(real(0x1.FFFFFFFFFFFFFp62), DT_INT64), 0x7FFFFFFFFFFFFC00);
    assert_int_equal(written(real(0x1.FFFFFFFFFFFFFp63), DT_UINT64), 0xFFFFFFFFFFFFF800);
    assert_int_equal(written(real(127.9), DT_INT8), 127);
    assert_int_equal(written(real(-128.9), DT_INT8), 128);
}

static void test_number_wraps(void **state) {
    (void)state;
    assert_int_equal(written(integer(300), DT_UINT8), 44);
    assert_int_equal(written(integer(-1), DT_UINT32), 0xFFFFFFFF);
    assert_int_equal(written(integer(-1), DT_UINT64), UINT64_MAX);
    assert_int_equal(written(integer(200), DT_INT8), 200); /* -56 */
    assert_int_equal(written(natural(UINT64_MAX), DT_INT16), 0xFFFF);
    assert_int_equal(written((number){.type = DT_BOOL, .as.u = 1}, DT_INT32), 1);
}

static void test_number_to_bool(void **state) {
    (void)state;
    assert_int_equal(written(real(NAN), DT_BOOL), 1);
    assert_int_equal(written(real(-0.0), DT_BOOL), 0);
    assert_int_equal(written(real(5e-324), DT_BOOL), 1);
    assert_int_equal(written(integer(256), DT_BOOL), 1);
    assert_int_equal(written(integer(0), DT_BOOL), 0);
    assert_int_equal(written((number){.type = DT_COMPLEX64, .as.f = {0, 1}}, DT_BOOL), 1);
    assert_int_equal(written((number){.type = DT_COMPLEX64, .as.f = {0, 0}}, DT_BOOL), 0);
    assert_int_equal(number_read(DT_BOOL, "\xFF").as.u, 1);
}

/* Rounded once from the integer: through a double or a float these come out one too low or too high. */
static void test_number_rounds_once(void **state) {
    (void)state;
    int64_t tie = ((int64_t)1 << 62) + ((int64_t)1 << 54); /* between two bfloat16; the even one is below */
    assert_int_equal(written(integer(tie), DT_BFLOAT16), 0x5E80);
    assert_int_equal(written(integer(tie + 1), DT_BFLOAT16), 0x5E81);
    assert_int_equal(written(integer(-tie - 1), DT_BFLOAT16), 0xDE81);
    assert_int_equal(written(integer(tie - 1), DT_BFLOAT16), 0x5E80);
    assert_int_equal(written(natural(((uint64_t)1 << 63) + ((uint64_t)1 << 55) + 1), DT_BFLOAT16), 0x5F01);
    assert_int_equal(written(natural(UINT64_MAX), DT_BFLOAT16), 0x5F80);
    assert_int_equal(written(integer(INT64_MIN), DT_BFLOAT16), 0xDF00);
    int64_t float_tie = ((int64_t)1 << 62) + ((int64_t)1 << 38);
    assert_int_equal(written(integer(float_tie), DT_FLOAT32), 0x5E800000);
    if (!getenv("UF_TEST_VALGRIND")) /* its conversion of int64 to float goes through double */
        assert_int_equal(written(integer(float_tie + 1), DT_FLOAT32), 0x5E800001);
    assert_int_equal(written(real(1 + 0x1p-11 + 0x1p-40), DT_FLOAT16), 0x3C01); /* through float32: 0x3C00 */
    assert_int_equal(written(integer(65519), DT_FLOAT16), 0x7BFF);
    assert_int_equal(written(integer(65520), DT_FLOAT16), 0x7C00);
}

static void test_number_complex(void **state) {
    (void)state;
    number z = {.type = DT_COMPLEX128, .as.f = {1.5, -2.5}};
    double pair[2];
    float small[2];
    number_write(z, DT_COMPLEX128, pair);
    assert_true(pair[0] == 1.5 && pair[1] == -2.5);
    number_write(z, DT_COMPLEX64, small);
    assert_true(small[0] == 1.5f && small[1] == -2.5f);
    z = number_read(DT_COMPLEX64, small);
    assert_true(z.type == DT_COMPLEX64 && z.as.f[0] == 1.5 && z.as.f[1] == -2.5);
    assert_int_equal(written(z, DT_INT8), 1);
    assert_int_equal(written(z, DT_FLOAT32), 0x3FC00000);
    number_write(real(2), DT_COMPLEX128, pair);
    assert_true(pair[0] == 2 && pair[1] == 0 && !signbit(pair[1]));
}

/* What is read and written as its own dtype is the same element. */
static void test_number_round_trip(void **state) {
    (void)state;
    for (int i = 0; i < 20000; i++) {
        dtype t = (dtype)random_below(DT_COUNT);
        unsigned char in[17], out[17];
        for (size_t k = 0; k < sizeof in; k++)
            in[k] = (unsigned char)random_bits();
        if (t == DT_BOOL)
            in[1] &= 1;
        number n = number_read(t, in + 1);
        assert_int_equal(n.type, t);
        bool nan = dtypes[t].kind >= DK_FLOATING &&
                   (n.as.f[0] != n.as.f[0] || (dtype_is_complex(t) && n.as.f[1] != n.as.f[1]));
        number_write(n, t, out + 1);
        if (!nan)
            assert_memory_equal(in + 1, out + 1, dtypes[t].size);
    }
}

static void test_number_fits(void **state) {
    (void)state;
    for (dtype t = DT_INT8; t <= DT_UINT64; t++) {
        int bits = 8 * dtypes[t].size - dtypes[t].is_signed;
        uint64_t top = bits == 64 ? UINT64_MAX : ((uint64_t)1 << bits) - 1;
        assert_true(number_fits(natural(top), t) && number_fits(natural(0), t) && number_fits(integer(0), t));
        assert_int_equal(number_fits(natural(top + 1), t), top == UINT64_MAX); /* wraps to 0 there */
        assert_int_equal(number_fits(integer(-1), t), dtypes[t].is_signed);
        assert_int_equal(number_fits(integer(INT64_MIN), t), t == DT_INT64);
        if (dtypes[t].is_signed) {
            assert_true(number_fits(integer(-(int64_t)top - 1), t));
            if (bits < 63)
                assert_false(number_fits(integer(-(int64_t)top - 2), t));
        }
        assert_true(number_fits((number){.type = DT_BOOL, .as.u = 1}, t));
        assert_true(number_fits(real(1e300), t)); /* a question about integers only */
    }
    assert_true(number_fits(integer(-5), DT_BOOL) && number_fits(integer(-5), DT_FLOAT16));
}

/* ---- Magic numbers ---- */

static void check_magic(uint64_t d, uint64_t x, int bits) {
    magic m = magic_of(d, bits);
    uint64_t q;
    if (bits == 32) {
        uint32_t high = (uint32_t)((uint64_t)(uint32_t)x * m.multiplier >> 32);
        assert_true(m.multiplier <= UINT32_MAX);
        q = (uint32_t)(high + (uint32_t)x) >> m.shift;
    } else {
        __extension__ typedef unsigned __int128 wide;
        uint64_t high = (uint64_t)((wide)x * m.multiplier >> 64);
        q = (high + x) >> m.shift;
    }
    if (q != x / d)
        print_error("%llu / %llu in %d bits\n", (unsigned long long)x, (unsigned long long)d, bits);
    assert_true(q == x / d);
}

static void test_magic(void **state) {
    int bits = *(const int *)*state;
    uint64_t top = ((uint64_t)1 << (bits - 1)) - 1, edges[400];
    size_t n = 0;
    for (int s = 0; s < bits; s++)
        for (int delta = -2; delta <= 2; delta++) {
            uint64_t v = ((uint64_t)1 << s) + (uint64_t)(int64_t)delta;
            if (v <= top && v > 0)
                edges[n++] = v;
        }
    edges[n++] = top;
    for (size_t i = 0; i < n; i++) {
        check_magic(edges[i], 0, bits);
        for (size_t k = 0; k < n; k++) {
            check_magic(edges[i], edges[k], bits);
            check_magic(edges[i], top / edges[i] * edges[i] - 1, bits); /* the largest x of each remainder class */
        }
    }
    for (int i = 0; i < 200000; i++) {
        uint64_t d = (random_bits() & top) >> random_below(bits - 1),
                 x = (random_bits() & top) >> random_below(bits - 1);
        d += d == 0;
        uint64_t multiple = x / d * d;
        check_magic(d, x, bits);
        check_magic(d, multiple, bits);
        if (multiple)
            check_magic(d, multiple - 1, bits);
    }
    for (uint64_t d = 1; d < 2000; d++)
        for (uint64_t x = 0; x < 200; x++)
            check_magic(d, x * 37 % top, bits);
}

/* ---- Signatures ---- */

/* Parses and prints back, canonical, "; " between. */
static uf_status canonical(const char *source, char *out, size_t size) {
    arena a = {0};
    signature_list list;
    text t = {0};
    uf_status status = signatures_parse(&a, source, NULL, &list);
    for (int s = 0; !status && s < list.count; s++) {
        text_puts(&t, s ? "; " : "");
        signature_print(&t, list.types + s * (list.nin + list.nout), list.nin, list.nout);
    }
    snprintf(out, size, "%s", t.data ? t.data : "");
    if (status)
        assert_true(list.count == 0 && list.types == NULL);
    text_free(&t);
    arena_free(&a);
    return status;
}

static void test_signature_spellings(void **state) {
    (void)state;
    static const struct {
        const char *source, *want;
    } rows[] = {
        {"float32,float32->float32", "float32,float32->float32"},
        {"ff->f", "float32,float32->float32"},
        {"float32(float32,float32)", "float32,float32->float32"},
        {" float32 , float32 -> float32 ;", "float32,float32->float32"},
        {"\tfloat32\t(\tfloat32,float32 ) ", "float32,float32->float32"},
        {"ff->f; dd->d;", "float32,float32->float32; float64,float64->float64"},
        {"ff->f\ndd->d\n", "float32,float32->float32; float64,float64->float64"},
        {"\n\n  ff -> f ;\r\n dd->d\r\n", "float32,float32->float32; float64,float64->float64"},
        {"ff->f; float64(float64, float64); int8,int8->int8",
         "float32,float32->float32; float64,float64->float64; int8,int8->int8"},
        {"f->ff", "float32->float32,float32"},
        {"float64->float64,int32", "float64->float64,int32"},
        {"?bhilBHILeEfdFD->?",
         "bool,int8,int16,int32,int64,uint8,uint16,uint32,uint64,float16,bfloat16,float32,float64,"
         "complex64,complex128->bool"},
        {"qQ->q", "int64,uint64->int64"},
        {"->f", "->float32"},
        {"->float32,bool", "->float32,bool"},
        {"float64()", "->float64"},
        {"f->f; f->d", "float32->float32; float32->float64"},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        char got[1024];
        uf_status status = canonical(rows[i].source, got, sizeof got);
        if (status)
            print_error("%s: %s\n", rows[i].source, uf_last_error()->message);
        assert_int_equal(status, UF_OK);
        assert_string_equal(got, rows[i].want);
    }
}

/* The names that C, NumPy and Numba have for dtypes are read, and written as the library's. */
static void test_other_names(void **unused) {
    static const char *const rows[][2] = {
        {"float,double->int", "float32,float64->int32"},
        {"char,signed char,unsigned char->short", "int8,int8,uint8->int16"},
        {"short int,unsigned short->unsigned", "int16,uint16->uint32"},
        {"long,long long int,unsigned long long->long int", "int64,int64,uint64->int64"},
        {"size_t,ssize_t,ptrdiff_t->uintptr_t", "uint64,int64,int64->uint64"},
        {"int8_t,uint16_t,int32_t->uint64_t", "int8,uint16,int32->uint64"},
        {"_Bool,_Float16,__bf16->float complex", "bool,float16,bfloat16->complex64"},
        {"float _Complex->double complex", "complex64->complex128"},
        {"double(float,int)", "float32,int32->float64"},
        {"unsigned int(unsigned char)", "uint8->uint32"},
        {"f2,f4,f8->c16", "float16,float32,float64->complex128"},
        {"i1,i2,i4,i8->u1", "int8,int16,int32,int64->uint8"},
        {"u2,u4,u8,b1->c8", "uint16,uint32,uint64,bool->complex64"},
        {"<f8,=f4,|u1,>u1->>b1", "float64,float32,uint8,uint8->bool"},
        {"<d,=f->|?", "float64,float32->bool"},
        {"f8(f8,f8)", "float64,float64->float64"},
        {"half,single,intp,uintp->boolean", "float16,float32,int64,uint64->bool"},
        {"ff->f; double , double -> double", "float32,float32->float32; float64,float64->float64"},
    };
    (void)unused;
    for (size_t i = 0; i < COUNT(rows); i++) {
        char got[1024];
        if (canonical(rows[i][0], got, sizeof got))
            fail_msg("%s: %s", rows[i][0], uf_last_error()->message);
        assert_string_equal(got, rows[i][1]);
    }
}

static void test_signature_errors(void **state) {
    (void)state;
    static const struct {
        const char *source;
        int line, column;
        const char *says;
    } rows[] = {
        {"", 1, 1, "expected a signature, such as \"float32,float32->float32\", got none"},
        {"  ;\n; ", 1, 1, "got none"},
        {"float32", 1, 8, "expected \",\", \"->\" or \"(\", got the end"},
        {"float32,float32", 1, 16, "expected \",\" or \"->\", got the end"},
        {"ff", 1, 3, "expected \"->\", got the end"},
        {"ff->", 1, 5, "expected type codes, such as \"f\", got the end"},
        {"float32->", 1, 10, "expected a dtype, got the end"},
        {"->", 1, 3, "expected a dtype, got the end"},
        {"float32->;", 1, 10, "expected a dtype, got \";\""},
        {"float32,->float32", 1, 9, "expected a dtype, got \"->\""},
        {"float32,\nfloat32->float32", 1, 9, "expected a dtype, got the end of the line"},
        {",float32->float32", 1, 1, "expected a dtype, got \",\""},
        {"float32,float32-float32", 1, 16, "expected \",\" or \"->\", got \"-\""},
        {"float32 float32->float32", 1, 9, "expected \",\", \"->\" or \"(\", got \"float32\""},
        {"float32->float32 float32", 1, 18, "expected \";\", a new line or the end, got \"float32\""},
        {"float32->float32->float32", 1, 17, "expected \";\", a new line or the end, got \"->\""},
        {"flaot32->float32", 1, 1, "unknown dtype \"flaot32\"; did you mean \"float32\"?"},
        {"foo->float32", 1, 1, "unknown dtype \"foo\"; the dtypes and their codes are bool ?, int8 b,"},
        {"Float32->float32", 1, 1, "unknown dtype \"Float32\"; did you mean \"float32\"?"},
        {"uint32t->float32", 1, 1, "unknown dtype \"uint32t\"; did you mean \"uint32\"?"},
        {"float32,>f8->float32", 1, 9, "\">f8\" is big-endian"},
        {"float32,>i->float32", 1, 9, "\">i\" is big-endian"},
        {"float32,<f3->float32", 1, 9, "expected a dtype with a byte order as in \"<f8\", got \"<f3\""},
        {"float32,< f8->float32", 1, 9, "expected a dtype with a byte order as in \"<f8\", got \"<\""},
        {"float32,<float32->float32", 1, 9, "expected a dtype with a byte order as in \"<f8\", got \"<float32\""},
        {"unsigned float->float32", 1, 1, "\"unsigned float\" is not a type of C"},
        {"float,int int->float32", 1, 7, "\"int int\" is not a type of C"},
        {"long double->float32", 1, 1, "there is no long double; float64 is the widest"},
        {"longdouble->float32", 1, 1, "unknown dtype \"longdouble\": there is no long double"},
        {"float*,int->float", 1, 6, "expected \",\" or \"->\" (arrays are named by their dtype alone), got \"*\""},
        {"gg->g", 1, 1, "unknown dtype \"gg\""},
        {"O->O", 1, 1, "unknown dtype \"O\""},
        {"f->g", 1, 4, "expected type codes, such as \"f\", got \"g\""},
        {"f->float32", 1, 4, "expected type codes, such as \"f\", got \"float32\""},
        {"float32->f", 1, 10,
         "expected the name of a dtype (codes go without commas and names, as in \"ff->f\"), got \"f\""},
        {"f,f->f", 1, 2, "expected \"->\" (codes go without commas, as in \"ff->f\"), got \",\""},
        {"float32,f->float32", 1, 9, "expected the name of a dtype"},
        {"void(float32)", 1, 1, "unknown dtype \"void\""},
        {"float32(float32", 1, 16, "expected \",\" or \")\", got the end"},
        {"float32(float32,)", 1, 17, "expected a dtype, got \")\""},
        {"float32(float32[:])", 1, 16, "(arrays are named by their dtype alone), got \"[\""},
        {"float32,float32(float32)", 1, 16, "expected \",\" or \"->\", got \"(\""},
        {"float32(float32)->float32", 1, 17, "expected \";\", a new line or the end, got \"->\""},
        {"f(f,f)", 1, 2, "expected \"->\", got \"(\""},
        {"ff->f\n  dd->\x01", 2, 7, "got character 0x01"},
        {"ff->f; \xC3\xA9->f", 1, 8, "unknown dtype \"\xC3\xA9\""},
        {"\xC3\xA9; gg", 1, 1, "unknown dtype"},
        {"ff->f; d->d", 1, 8, "inputs: 1, outputs: 1, where the first one, \"ff->f\", has inputs: 2, outputs: 1"},
        {"ff->f\nff->ff", 2, 1, "inputs: 2, outputs: 2, where the first one"},
        {"ll->l; dd->d;\n qq->q", 2, 2, "signature \"qq->q\" repeats \"ll->l\" at 1:1: both are int64,int64->int64"},
        {"dd->d; float32->float32,int8", 1, 8, "inputs: 1, outputs: 2"},
        {"d->d ; float64 ( float64 ) ", 1, 8, "signature \"float64 ( float64 )\" repeats \"d->d\" at 1:1"},
        {"ffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff->f", 1, 67, "at most 64 operands"},
        {"fffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffffff->f", 1, 65, "at most 64 operands"},
        {"abcdefghijklmnopqrstuvwxyzabcdefghijklmnopqrstuvwxyz->f", 1, 1,
         "\"abcdefghijklmnopqrstuvwxyzabcdefghijklmnopq..\""},
    };
    for (size_t i = 0; i < COUNT(rows); i++) {
        char got[1024];
        assert_int_equal(canonical(rows[i].source, got, sizeof got), UF_ERR_SYNTAX);
        const uf_error *e = uf_last_error();
        if (e->line != rows[i].line || e->column != rows[i].column || !strstr(e->message, rows[i].says))
            print_error("row %zu, \"%s\": %s\n", i, rows[i].source, e->message);
        assert_int_equal(e->status, UF_ERR_SYNTAX);
        assert_int_equal(e->line, rows[i].line);
        assert_int_equal(e->column, rows[i].column);
        assert_non_null(strstr(e->message, rows[i].says));
        assert_int_equal(e->message[strlen(e->message) - 1], '^');
    }
}

/* A long word is cut between its characters. */
static void test_signature_long_word(void **state) {
    (void)state;
    char source[80] = "", got[1024], want[80] = "unknown dtype \"";
    for (int i = 0; i < 30; i++)
        strcat(source, "\xC3\xA9");
    for (int i = 0; i < 21; i++)
        strcat(want, "\xC3\xA9");
    strcat(want, "..\"");
    assert_int_equal(canonical(source, got, sizeof got), UF_ERR_SYNTAX);
    assert_non_null(strstr(uf_last_error()->message, want));
}

/* 63 inputs and an output are the most there may be. */
static void test_signature_limit(void **state) {
    (void)state;
    char source[UF_MAX_OPERANDS + 4], printed[SIGNATURE_TEXT];
    dtype types[UF_MAX_OPERANDS];
    int nin, nout;
    memset(source, 'D', UF_MAX_OPERANDS - 1);
    strcpy(source + UF_MAX_OPERANDS - 1, "->D");
    assert_int_equal(signature_parse(source, types, &nin, &nout), UF_OK);
    assert_true(nin == UF_MAX_OPERANDS - 1 && nout == 1);
    signature_format(printed, types, nin, nout); /* the longest there is; the sanitizer looks on */
    assert_int_equal(strlen(printed) + 1, UF_MAX_OPERANDS * strlen("complex128,") - 2 + sizeof "->");
}

static void test_signature_one(void **state) {
    (void)state;
    dtype types[UF_MAX_OPERANDS];
    int nin, nout;
    assert_int_equal(signature_parse("\n f->d ; \n", types, &nin, &nout), UF_OK);
    assert_true(nin == 1 && nout == 1 && types[0] == DT_FLOAT32 && types[1] == DT_FLOAT64);
    assert_int_equal(signature_parse("f->d; d->d", types, &nin, &nout), UF_ERR_SYNTAX);
    assert_int_equal(uf_last_error()->column, 7);
    assert_non_null(strstr(uf_last_error()->message, "expected one signature, got \"d\""));
    assert_int_equal(signature_parse("", types, &nin, &nout), UF_ERR_SYNTAX);
    assert_int_equal(signature_parse("f->d x", types, &nin, &nout), UF_ERR_SYNTAX);
}

static void test_types_parse(void **state) {
    (void)state;
    dtype types[UF_MAX_OPERANDS];
    int n = -1;
    assert_int_equal(types_parse(" float32 , bool ", types, &n), UF_OK);
    assert_true(n == 2 && types[0] == DT_FLOAT32 && types[1] == DT_BOOL);
    assert_int_equal(types_parse("fE", types, &n), UF_OK);
    assert_true(n == 2 && types[0] == DT_FLOAT32 && types[1] == DT_BFLOAT16);
    assert_int_equal(types_parse("", types, &n), UF_OK);
    assert_int_equal(n, 0);
    static const char *const wrong[] = {"float32,", "float32->float32", "f d", "fg", "x", "float32;", ","};
    static const int columns[] = {9, 8, 3, 1, 1, 8, 1};
    for (size_t i = 0; i < COUNT(wrong); i++) {
        assert_int_equal(types_parse(wrong[i], types, &n), UF_ERR_SYNTAX);
        assert_int_equal(uf_last_error()->column, columns[i]);
    }
    char many[UF_MAX_OPERANDS + 2] = "";
    memset(many, 'f', UF_MAX_OPERANDS);
    assert_int_equal(types_parse(many, types, &n), UF_OK);
    assert_int_equal(n, UF_MAX_OPERANDS);
    many[UF_MAX_OPERANDS] = 'f';
    assert_int_equal(types_parse(many, types, &n), UF_ERR_SYNTAX);
}

static void random_blanks(text *t, const char *kinds) {
    for (int n = random_below(3); n > 0; n--)
        text_add(t, kinds + random_below((int)strlen(kinds)), 1);
}

static void random_names(text *t, const dtype *types, int n) {
    for (int k = 0; k < n; k++) {
        random_blanks(t, " \t");
        text_puts(t, dtypes[types[k]].name);
        random_blanks(t, " \t");
        text_puts(t, k + 1 < n ? "," : "");
    }
}

static void random_spelling(text *t, const dtype *types, int nin, int nout) {
    int how = random_below(nout == 1 ? 3 : 2);
    random_blanks(t, " \t\n;");
    if (how == 0) {
        random_names(t, types, nin);
        text_puts(t, "->");
        random_names(t, types + nin, nout);
    } else if (how == 1) {
        for (int k = 0; k < nin + nout; k++)
            text_printf(t, "%s%c", k == nin ? " -> " : "", dtypes[types[k]].code);
    } else {
        text_printf(t, "%s (", dtypes[types[nin]].name);
        random_names(t, types, nin);
        text_puts(t, ")");
    }
    random_blanks(t, " \t\n;");
    text_puts(t, random_below(2) ? ";" : "\n");
}

static bool repeats(const dtype *types, int rows, int width) {
    for (int s = 0; s < rows; s++)
        if (!memcmp(types + s * width, types + rows * width, (size_t)width * sizeof *types))
            return true;
    return false;
}

/* Random lists in random spellings are read as what they were made from. */
static void test_signature_random(void **state) {
    (void)state;
    for (int i = 0; i < 3000; i++) {
        int nin = random_below(5), nout = 1 + random_below(3), width = nin + nout, count = 0;
        dtype types[12 * 8];
        text source = {0};
        for (int wanted = 1 + random_below(12), tries = 0; count < wanted && tries < 100; tries++) {
            for (int k = 0; k < width; k++)
                types[count * width + k] = (dtype)random_below(DT_COUNT);
            if (repeats(types, count, width))
                continue;
            random_spelling(&source, types + count++ * width, nin, nout);
        }
        arena a = {0};
        signature_list list;
        uf_status status = signatures_parse(&a, source.data, NULL, &list);
        if (status)
            print_error("%s\n%s\n", source.data, uf_last_error()->message);
        assert_int_equal(status, UF_OK);
        assert_true(list.nin == nin && list.nout == nout && list.count == count);
        assert_memory_equal(list.types, types, (size_t)(count * width) * sizeof *types);
        arena_free(&a);
        text_free(&source);
    }
}

/* Texts with bytes changed, lost and doubled: read, or refused at a place within the text. */
static void test_signature_fuzz(void **state) {
    (void)state;
    static const char seed_text[] = "float32,float32->float32; dd->d\nint8(int8,int8);?\xC3\xA9,->(";
    static const char alphabet[] = "fdEQ?,;->()\n \tx9\xC3\xA9\x80\x01[";
    for (int i = 0; i < 20000; i++) {
        char source[128], got[1024];
        strcpy(source, seed_text);
        source[random_below((int)sizeof seed_text)] = 0;
        for (int n = random_below(4); n > 0 && *source; n--) {
            size_t length = strlen(source), at = (size_t)random_below((int)length);
            if (random_below(2))
                source[at] = alphabet[random_below((int)sizeof alphabet - 1)];
            else if (random_below(2))
                memmove(source + at, source + at + 1, length - at);
            else if (length + 1 < sizeof source)
                memmove(source + at + 1, source + at, length - at + 1);
        }
        uf_status status = canonical(source, got, sizeof got);
        const uf_error *e = uf_last_error();
        assert_true(status == UF_OK || status == UF_ERR_SYNTAX);
        if (status)
            assert_true(e->line >= 1 && e->column >= 1 && e->column <= (int)strlen(source) + 1);
    }
}

/* A list of every triple: duplicates are found without comparing each with each. */
static void test_signature_long_list(void **state) {
    (void)state;
    text source = {0};
    for (int i = 0; i < DT_COUNT * DT_COUNT * DT_COUNT * DT_COUNT; i++)
        text_printf(&source, "%c%c%c->%c;", dtypes[i % 15].code, dtypes[i / 15 % 15].code, dtypes[i / 225 % 15].code,
                    dtypes[i / 3375].code);
    arena a = {0};
    signature_list list;
    assert_int_equal(signatures_parse(&a, source.data, NULL, &list), UF_OK);
    assert_int_equal(list.count, 15 * 15 * 15 * 15);
    arena_free(&a);
    text_puts(&source, "DDD->D");
    assert_int_equal(signatures_parse(&a, source.data, NULL, &list), UF_ERR_SYNTAX);
    arena_free(&a);
    text_free(&source);
}

/* Each allocation fails in turn; the status says so, and the next try is not troubled by it. */
static void test_signature_out_of_memory(void **state) {
    (void)state;
    text source = {0};
    for (int t = 0; t < DT_COUNT; t++)
        text_printf(&source, "%s,%s->%s\n", dtypes[t].name, dtypes[t].name, dtypes[t].name);
    int n = 0;
    uf_status status = UF_ERR_MEMORY;
    for (; status == UF_ERR_MEMORY; n++) {
        arena a = {0};
        signature_list list;
        allocations_fail_after(n);
        status = signatures_parse(&a, source.data, NULL, &list);
        allocations_succeed();
        if (status) {
            assert_int_equal(uf_last_error()->status, UF_ERR_MEMORY);
            assert_true(list.count == 0 && list.types == NULL);
        } else {
            assert_int_equal(list.count, DT_COUNT);
        }
        arena_free(&a);
    }
    assert_int_equal(status, UF_OK);
    assert_true(n > 2); /* some did fail */
    text_free(&source);
}

/* The same where the arena jumps out. */
static void test_signature_escape(void **state) {
    (void)state;
    arena a = {0};
    jmp_buf escape;
    signature_list list;
    a.escape = &escape;
    int code = setjmp(escape);
    if (!code) {
        allocations_fail_after(0);
        (void)signatures_parse(&a, "ff->f; dd->d", NULL, &list);
        fail_msg("no jump");
    }
    allocations_succeed();
    assert_int_equal(code, UF_ERR_MEMORY);
    arena_free(&a);
}

/* ---- What tests/oracle/casting.py reads ---- */

/* A line a pair: names, the rules that let it pass, what the pair promotes to. */
static int dump(void) {
    for (dtype a = 0; a < DT_COUNT; a++)
        for (dtype b = 0; b < DT_COUNT; b++) {
            printf("%s %s ", dtypes[a].name, dtypes[b].name);
            for (uf_casting c = UF_CAST_NO; c <= UF_CAST_UNSAFE; c++)
                printf("%d", dtype_can_cast(a, b, c));
            printf(" %s\n", dtypes[dtype_promote(a, b)].name);
        }
    return 0;
}

/* Lines "from to hexadecimal bytes" in, the converted element's bytes out. */
static int convert(void) {
    char from[16], to[16], hex[40];
    while (scanf("%15s %15s %39s", from, to, hex) == 3) {
        dtype a = dtype_of_name(from, strlen(from)), b = dtype_of_name(to, strlen(to));
        unsigned char in[16], out[16];
        for (int k = 0; k < dtypes[a].size; k++) {
            unsigned byte;
            sscanf(hex + 2 * k, "%2x", &byte);
            in[k] = (unsigned char)byte;
        }
        number_write(number_read(a, in), b, out);
        for (int k = 0; k < dtypes[b].size; k++)
            printf("%02x", out[k]);
        printf("\n");
    }
    return 0;
}

int main(int argc, char **argv) {
    if (argc > 1 && !strcmp(argv[1], "--dump"))
        return dump();
    if (argc > 1 && !strcmp(argv[1], "--convert"))
        return convert();
    const char *seed = getenv("UF_SEED");
    random_state = seed ? strtoull(seed, NULL, 0) : (uint64_t)time(NULL) ^ (uint64_t)getpid() << 32;
    print_message("# UF_SEED=%llu\n", (unsigned long long)random_state);
    static int bits32 = 32, bits64 = 64;
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_dtype_table),
        cmocka_unit_test(test_dtype_unknown),
        cmocka_unit_test(test_casting_names),
        cmocka_unit_test(test_casting_order),
        cmocka_unit_test(test_promotion),
        cmocka_unit_test(test_bfloat16),
        cmocka_unit_test(test_half_patterns),
        cmocka_unit_test(test_half_midpoints),
        cmocka_unit_test(test_half_random),
        cmocka_unit_test(test_number_saturates),
        cmocka_unit_test(test_number_wraps),
        cmocka_unit_test(test_number_to_bool),
        cmocka_unit_test(test_number_rounds_once),
        cmocka_unit_test(test_number_complex),
        cmocka_unit_test(test_number_round_trip),
        cmocka_unit_test(test_number_fits),
        {"test_magic_32", test_magic, NULL, NULL, &bits32},
        {"test_magic_64", test_magic, NULL, NULL, &bits64},
        cmocka_unit_test(test_signature_spellings),
        cmocka_unit_test(test_other_names),
        cmocka_unit_test(test_signature_errors),
        cmocka_unit_test(test_signature_long_word),
        cmocka_unit_test(test_signature_limit),
        cmocka_unit_test(test_signature_one),
        cmocka_unit_test(test_types_parse),
        cmocka_unit_test(test_signature_random),
        cmocka_unit_test(test_signature_fuzz),
        cmocka_unit_test(test_signature_long_list),
        cmocka_unit_test(test_signature_out_of_memory),
        cmocka_unit_test(test_signature_escape),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
