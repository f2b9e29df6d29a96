/* print.c - prints arrays as text: nested brackets, aligned columns, floating numbers with as few digits as read back
 * to the same value, and the middle of long dimensions left out. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd.h"

enum {
    MANY = 1000, /* arrays of more elements are shown only at their edges */
    EDGE = 3
};

typedef struct printer {
    const DLTensor *array;
    const dtype_row *type;
    bool edges;
    int width; /* width of the widest element that is shown */
} printer;

static double half_value(uint16_t bits) {
    int exponent = bits >> 10 & 31, fraction = bits & 1023;
    double value = exponent == 31 ? (fraction ? NAN : INFINITY)
                                  : ldexp(exponent ? fraction + 1024 : fraction, (exponent ? exponent : 1) - 25);
    return bits & 0x8000 ? -value : value;
}

static double bfloat_value(uint16_t bits) {
    uint32_t wide = (uint32_t)bits << 16;
    float value;
    memcpy(&value, &wide, sizeof value);
    return value;
}

/* A floating format: the bits of its significand, and the exponent of its smallest number. */
typedef struct precision {
    int bits, least;
} precision;

/* Is `text` nearer to `value` than to the neighbours of `value` in this format? */
static bool reads_back(double text, double value, precision p) {
    int exponent;
    double significand = frexp(value, &exponent);
    int unit = exponent - p.bits > p.least ? exponent - p.bits : p.least;
    return fabs(text - value) < ldexp(fabs(significand) == 0.5 ? 0.25 : 0.5, unit);
}

/* Writes a number with as few digits as read back to the same value, and without an exponent from 0.0001 up to 1e16. */
static int format_floating(char *to, double value, precision p) {
    int exponent;
    frexp(value, &exponent);
    /* but for subnormal numbers so many digits always survive, so that fewer with zeros behind them are the same text */
    int digits = value != 0 && exponent - p.bits >= p.least ? (p.bits - 1) * 30103 / 100000 : 1;
    for (; digits < 17 && isfinite(value); digits++) {
        snprintf(to, CELL / 2, "%.*g", digits, value);
        double text = strtod(to, NULL);
        if (p.bits == 53 ? text == value : reads_back(text, value, p))
            break;
    }
    double size = fabs(value);
    for (int whole = 1; whole <= 16 && size >= 1 && size < 1e16; whole++, size /= 10)
        if (whole > digits)
            digits = whole;
    return snprintf(to, CELL / 2, "%.*g", digits, value);
}

static int format_float32(char *to, const char *at) {
    float value;
    memcpy(&value, at, sizeof value);
    return format_floating(to, value, (precision){24, -149});
}

static int format_float64(char *to, const char *at) {
    double value;
    memcpy(&value, at, sizeof value);
    return format_floating(to, value, (precision){53, -1074});
}

static int format_short(char *to, const char *at, bool half) {
    uint16_t bits;
    memcpy(&bits, at, sizeof bits);
    return half ? format_floating(to, half_value(bits), (precision){11, -24})
                : format_floating(to, bfloat_value(bits), (precision){8, -133});
}

static int format_complex(char *to, const char *at, int component) {
    char imaginary[CELL / 2];
    int (*part)(char *, const char *) = component == 4 ? format_float32 : format_float64;
    int real = part(to, at);
    part(imaginary, at + component);
    return real + snprintf(to + real, CELL / 2, "%s%sj", *imaginary == '-' ? "" : "+", imaginary);
}

static int format_integer(char *to, const char *at, const dtype_row *type) {
    const bool little = __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__;
    uint64_t value = 0;
    memcpy((char *)&value + (little ? 0 : sizeof value - type->size), at, type->size);
    int unused = 64 - 8 * type->size;
    if (type->kind == 'u')
        return snprintf(to, CELL, "%llu", (unsigned long long)value);
    return snprintf(to, CELL, "%lld", (long long)(int64_t)(value << unused) >> unused);
}

static int format(char *to, const dtype_row *type, const char *at) {
    switch (type->kind) {
    case 'b':
        return snprintf(to, CELL, "%s", *at ? "true" : "false");
    case 'V':
        return format_short(to, at, false);
    case 'c':
        return format_complex(to, at, type->align);
    case 'f':
        return type->size == 2 ? format_short(to, at, true)
                               : (type->size == 4 ? format_float32 : format_float64)(to, at);
    default:
        return format_integer(to, at, type);
    }
}

int format_element(const DLTensor *array, int64_t i, char to[CELL]) {
    const dtype_row *type = dtype_of(array->dtype);
    return format(to, type, (const char *)array->data + array->byte_offset + i * type->size);
}

/* Prints what stands before element i of dimension d; cut: elements before it were left out. */
static void print_gap(const printer *p, int d, bool cut) {
    if (d + 1 == p->array->ndim)
        printf(cut ? " .. " : " ");
    else if (cut)
        printf("\n%*s..\n%*s", d + 1, "", d + 1, "");
    else
        printf("\n%*s", d + 1, "");
}

/* Visits the elements from dimension d on, the first of which is number `first`: prints them, or finds how wide they
 * are. */
static void walk(printer *p, int d, int64_t first, bool print) {
    char cell[CELL];
    if (d == p->array->ndim) {
        int length = format_element(p->array, first, cell);
        if (print)
            printf("%*s", p->width, cell);
        else if (length > p->width)
            p->width = length;
        return;
    }
    int64_t extent = p->array->shape[d], inner = 1;
    for (int k = d + 1; k < p->array->ndim; k++)
        inner *= p->array->shape[k];
    printf("%s", print ? "[" : "");
    for (int64_t i = 0; i < extent; i++) {
        bool cut = p->edges && extent > 2 * EDGE && i == EDGE;
        if (cut)
            i = extent - EDGE;
        if (print && i)
            print_gap(p, d, cut);
        walk(p, d + 1, first + i * inner, print);
    }
    printf("%s", print ? "]" : "");
}

void print_array(const DLTensor *array) {
    printer p = {.array = array, .type = dtype_of(array->dtype)};
    int64_t count = array_elements(array);
    p.edges = count > MANY;
    if (array->ndim) {
        printf("%s (", p.type->name);
        for (int d = 0; d < array->ndim; d++)
            printf(d ? ", %lld" : "%lld", (long long)array->shape[d]);
        printf(")\n");
    }
    if (count) {
        walk(&p, 0, 0, false);
        walk(&p, 0, 0, true);
        putchar('\n');
    }
}
