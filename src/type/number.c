/* number.c - single elements on the host: reading, writing, and converting between any two dtypes. number_write
 * converts exactly as generated code does: conversions are kernel C's, defined for every value and rounded once. */
#include "type/type.h"

#include <assert.h>

/* ---- The 16-bit floating dtypes ---- */

/* A binary floating-point format of 16 bits with a sign. */
typedef struct half_format {
    int fraction; /* bits of the fraction that are stored */
    int bias;     /* bias of the exponent */
} half_format;

static const half_format binary16 = {10, 15}, brain16 = {7, 127};

enum {
    DOUBLE_FRACTION = 52,
    DOUBLE_BIAS = 1023
};

/* value >> shift, rounded to nearest, ties to even. */
static uint64_t shift_rounding(uint64_t value, int shift) {
    assert(shift >= 1);
    if (shift >= 64)
        return 0;
    uint64_t kept = value >> shift, rest = value & (((uint64_t)1 << shift) - 1), half = (uint64_t)1 << (shift - 1);
    return kept + (rest > half || (rest == half && (kept & 1)));
}

static uint16_t half_encode(double value, half_format to) {
    uint64_t bits;
    memcpy(&bits, &value, sizeof bits);
    uint16_t sign = (uint16_t)(bits >> 48 & 0x8000), infinity = (uint16_t)(0x7FFF >> to.fraction << to.fraction);
    uint64_t fraction = bits & (((uint64_t)1 << DOUBLE_FRACTION) - 1);
    int exponent = (int)(bits >> DOUBLE_FRACTION & 0x7FF), drop = DOUBLE_FRACTION - to.fraction;

    if (exponent == 0x7FF && fraction) /* NaN: keeps the leading bits of its payload, and is made quiet */
        return (uint16_t)(sign | infinity | 1u << (to.fraction - 1) | (uint16_t)(fraction >> drop));
    if (exponent == 0x7FF)
        return (uint16_t)(sign | infinity);
    /* zero or a subnormal double: below half of the smallest number of either format, and so rounded to zero */
    if (exponent == 0)
        return sign;

    uint64_t significand = fraction | (uint64_t)1 << DOUBLE_FRACTION;
    int biased = exponent - DOUBLE_BIAS + to.bias;
    /* subnormal in the 16 bits: it has the exponent of the smallest normal number, and no leading one */
    if (biased <= 0)
        return (uint16_t)(sign | shift_rounding(significand, drop + 1 - biased));
    /* A fraction that rounds up to the next power of two carries into the exponent, which is right. */
    uint64_t magnitude = ((uint64_t)(biased - 1) << to.fraction) + shift_rounding(significand, drop);
    return (uint16_t)(sign | (magnitude < infinity ? magnitude : infinity));
}

static double half_decode(uint16_t half, half_format from) {
    uint64_t fraction = half & ((1u << from.fraction) - 1), bits;
    int biased = (half & 0x7FFF) >> from.fraction, top = 0x7FFF >> from.fraction;
    int exponent = biased == top ? 0x7FF : biased - from.bias + DOUBLE_BIAS;
    if (biased == 0 && fraction == 0) {
        exponent = 0;
    } else if (biased == 0) { /* subnormal: in a double it is a normal number */
        for (exponent++; !(fraction >> from.fraction); exponent--)
            fraction <<= 1;
        fraction &= (1u << from.fraction) - 1;
    }
    bits = (uint64_t)(half & 0x8000) << 48 | (uint64_t)exponent << DOUBLE_FRACTION |
           fraction << (DOUBLE_FRACTION - from.fraction);
    double value;
    memcpy(&value, &bits, sizeof value);
    return value;
}

double rounded_to_single(double value) { return (double)(float)value; }

uint16_t half_of_double(double value) { return half_encode(value, binary16); }
double half_to_double(uint16_t bits) { return half_decode(bits, binary16); }
uint16_t bfloat16_of_double(double value) { return half_encode(value, brain16); }
double bfloat16_to_double(uint16_t bits) { return half_decode(bits, brain16); }

/* ---- Reading ---- */

number number_read(dtype type, const void *data) {
    union {
        uint8_t u1;
        int8_t i1;
        uint16_t u2;
        int16_t i2;
        uint32_t u4;
        int32_t i4;
        uint64_t u8;
        int64_t i8;
        float f4[2];
        double f8[2];
    } raw;
    number n = {.type = type};
    memcpy(&raw, data, dtypes[type].size);
    /* clang-format off */
    switch (type) {
    case DT_BOOL: n.as.u = raw.u1 != 0; break;
    case DT_INT8: n.as.i = raw.i1; break;
    case DT_INT16: n.as.i = raw.i2; break;
    case DT_INT32: n.as.i = raw.i4; break;
    case DT_INT64: n.as.i = raw.i8; break;
    case DT_UINT8: n.as.u = raw.u1; break;
    case DT_UINT16: n.as.u = raw.u2; break;
    case DT_UINT32: n.as.u = raw.u4; break;
    case DT_UINT64: n.as.u = raw.u8; break;
    case DT_FLOAT16: n.as.f[0] = half_to_double(raw.u2); break;
    case DT_BFLOAT16: n.as.f[0] = bfloat16_to_double(raw.u2); break;
    case DT_FLOAT32: n.as.f[0] = raw.f4[0]; break;
    case DT_FLOAT64: n.as.f[0] = raw.f8[0]; break;
    case DT_COMPLEX64: n.as.f[0] = raw.f4[0], n.as.f[1] = raw.f4[1]; break;
    case DT_COMPLEX128: n.as.f[0] = raw.f8[0], n.as.f[1] = raw.f8[1]; break;
    case DT_COUNT:
    case DT_NONE: break;
    }
    /* clang-format on */
    return n;
}

/* ---- Writing ---- */

static bool is_signed_integer(dtype t) { return dtype_is_integer(t) && dtypes[t].is_signed; }
static bool is_inexact(dtype t) { return dtypes[t].kind >= DK_FLOATING; }

static bool number_is_true(number n) {
    if (!is_inexact(n.type))
        return n.as.u != 0;
    return n.as.f[0] != 0 || (dtype_is_complex(n.type) && n.as.f[1] != 0);
}

/* The low `bits` bits of the integer that a floating value becomes: truncated, saturated at the ends of the range, 0
 * for NaN. */
static uint64_t saturate(double value, int bits, bool is_signed) {
    uint64_t top = (uint64_t)1 << (bits - 1);
    double limit = is_signed ? (double)top : 2 * (double)top; /* one above the largest integer */
    if (value != value)
        return 0;
    if (value >= limit)
        return is_signed ? top - 1 : top - 1 + top;
    if (is_signed)
        return value <= -limit ? (uint64_t)0 - top : (uint64_t)(int64_t)value;
    return value <= 0 ? 0 : (uint64_t)value;
}

static uint64_t number_to_integer(number n, dtype type) {
    return is_inexact(n.type) ? saturate(n.as.f[0], 8 * dtypes[type].size, dtypes[type].is_signed) : n.as.u;
}

/* A double that rounds to fewer than 40 bits as the integer itself would. A double has 53 bits; if the lower bits of
 * the integer are not all 0, the lowest bit that the double keeps is set in their place (rounding to odd), so that
 * rounding again does not take the value for a tie. */
static double magnitude_to_double(uint64_t magnitude) {
    enum {
        SPARE = 64 - (DOUBLE_FRACTION + 1)
    };
    uint64_t low = ((uint64_t)1 << SPARE) - 1;
    if (magnitude >> (DOUBLE_FRACTION + 1) && magnitude & low)
        magnitude = (magnitude & ~low) | (low + 1);
    return (double)magnitude;
}

static double number_to_half_source(number n) {
    if (is_inexact(n.type))
        return n.as.f[0];
    if (is_signed_integer(n.type) && n.as.i < 0)
        return -magnitude_to_double((uint64_t)0 - n.as.u);
    return magnitude_to_double(n.as.u);
}

static float number_to_float(number n) {
    if (is_inexact(n.type))
        return (float)n.as.f[0];
    return is_signed_integer(n.type) ? (float)n.as.i : (float)n.as.u;
}

static double number_to_double(number n) {
    if (is_inexact(n.type))
        return n.as.f[0];
    return is_signed_integer(n.type) ? (double)n.as.i : (double)n.as.u;
}

static void write_integer(number n, dtype type, void *data) {
    uint64_t bits = number_to_integer(n, type);
    /* clang-format off */
    switch (dtypes[type].size) {
    case 1: memcpy(data, &(uint8_t){(uint8_t)bits}, 1); break;
    case 2: memcpy(data, &(uint16_t){(uint16_t)bits}, 2); break;
    case 4: memcpy(data, &(uint32_t){(uint32_t)bits}, 4); break;
    case 8: memcpy(data, &bits, 8); break;
    }
    /* clang-format on */
}

static void write_complex(number n, dtype type, void *data) {
    double imaginary = dtype_is_complex(n.type) ? n.as.f[1] : 0;
    if (type == DT_COMPLEX64)
        memcpy(data, (float[]){number_to_float(n), (float)imaginary}, 2 * sizeof(float));
    else
        memcpy(data, (double[]){number_to_double(n), imaginary}, 2 * sizeof(double));
}

void number_write(number value, dtype type, void *data) {
    /* clang-format off */
    switch (type) {
    case DT_BOOL: memcpy(data, &(uint8_t){number_is_true(value)}, 1); break;
    case DT_INT8:
    case DT_INT16:
    case DT_INT32:
    case DT_INT64:
    case DT_UINT8:
    case DT_UINT16:
    case DT_UINT32:
    case DT_UINT64: write_integer(value, type, data); break;
    case DT_FLOAT16: memcpy(data, &(uint16_t){half_of_double(number_to_half_source(value))}, 2); break;
    case DT_BFLOAT16: memcpy(data, &(uint16_t){bfloat16_of_double(number_to_half_source(value))}, 2); break;
    case DT_FLOAT32: memcpy(data, &(float){number_to_float(value)}, sizeof(float)); break;
    case DT_FLOAT64: memcpy(data, &(double){number_to_double(value)}, sizeof(double)); break;
    case DT_COMPLEX64:
    case DT_COMPLEX128: write_complex(value, type, data); break;
    case DT_COUNT:
    case DT_NONE: break;
    }
    /* clang-format on */
}

bool number_fits(number value, dtype type) {
    if (!dtype_is_integer(type) || is_inexact(value.type))
        return true;
    int bits = 8 * dtypes[type].size - dtypes[type].is_signed; /* bits of its largest magnitude */
    uint64_t largest = bits == 64 ? UINT64_MAX : ((uint64_t)1 << bits) - 1;
    if (is_signed_integer(value.type) && value.as.i < 0)
        return dtypes[type].is_signed && ~value.as.u <= largest;
    return value.as.u <= largest;
}

dtype number_holder(number value) {
    dtype type = DT_INT8;
    while (type < DT_INT64 && !number_fits(value, type))
        type++;
    return number_fits(value, type) ? type : DT_UINT64;
}
