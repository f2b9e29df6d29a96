/* value.c - the fifteen dtypes, and the values of a command line: numbers, counts, lists, devices. */
#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd.h"

const dtype_row dtype_rows[DTYPES] = {
    {"bool", 'b', 1, 1, {UF_BOOL_CODE, 8, 1}},
    {"int8", 'i', 1, 1, {kDLInt, 8, 1}},
    {"int16", 'i', 2, 2, {kDLInt, 16, 1}},
    {"int32", 'i', 4, 4, {kDLInt, 32, 1}},
    {"int64", 'i', 8, 8, {kDLInt, 64, 1}},
    {"uint8", 'u', 1, 1, {kDLUInt, 8, 1}},
    {"uint16", 'u', 2, 2, {kDLUInt, 16, 1}},
    {"uint32", 'u', 4, 4, {kDLUInt, 32, 1}},
    {"uint64", 'u', 8, 8, {kDLUInt, 64, 1}},
    {"float16", 'f', 2, 2, {kDLFloat, 16, 1}},
    {"bfloat16", 'V', 2, 2, {kDLBfloat, 16, 1}},
    {"float32", 'f', 4, 4, {kDLFloat, 32, 1}},
    {"float64", 'f', 8, 8, {kDLFloat, 64, 1}},
    {"complex64", 'c', 8, 4, {kDLComplex, 64, 1}},
    {"complex128", 'c', 16, 8, {kDLComplex, 128, 1}},
};

const dtype_row *dtype_named(const char *name) {
    for (int i = 0; i < DTYPES; i++)
        if (strcmp(dtype_rows[i].name, name) == 0)
            return &dtype_rows[i];
    return NULL;
}

const dtype_row *dtype_given(const char *name) {
    char numpy[8];
    for (int i = 0; i < DTYPES; i++) {
        snprintf(numpy, sizeof numpy, "%c%d", dtype_rows[i].kind, dtype_rows[i].size);
        if (dtype_rows[i].kind != 'V' && strcmp(numpy, name) == 0)
            return &dtype_rows[i];
    }
    return dtype_named(name);
}

const dtype_row *dtype_of(DLDataType type) {
    for (int i = 0; i < DTYPES; i++)
        if (dtype_rows[i].type.code == type.code && dtype_rows[i].type.bits == type.bits)
            return &dtype_rows[i];
    return NULL;
}

static bool read_bool(const char *text, number *out) {
    out->type = dtype_named("bool");
    out->value.b = strcasecmp(text, "true") == 0;
    return out->value.b || strcasecmp(text, "false") == 0;
}

static bool read_integer(const char *text, number *out) {
    char *end;
    if (text[strspn(text, "+-0123456789")])
        return false;
    errno = 0;
    out->type = dtype_named("int64");
    out->value.i = strtoll(text, &end, 10);
    if (end > text && !*end && !errno)
        return true;
    errno = 0;
    out->type = dtype_named("uint64");
    out->value.u = strtoull(text, &end, 10);
    return end > text && !*end && !errno && *text != '-';
}

/* real | imaginary "j" | real ("+" | "-") imaginary "j" */
static bool read_floating(const char *text, number *out) {
    char *end;
    out->value.f[0] = strtod(text, &end);
    out->value.f[1] = 0;
    if (end == text || isspace((unsigned char)*text))
        return false;
    out->type = dtype_named(*end ? "complex128" : "float64");
    if (strcmp(end, "j") == 0) {
        out->value.f[1] = out->value.f[0];
        out->value.f[0] = 0;
        return true;
    }
    if (*end == '+' || *end == '-')
        out->value.f[1] = strtod(end, &end);
    else
        return !*end;
    return strcmp(end, "j") == 0;
}

bool read_number(const char *text, number *out) {
    return read_bool(text, out) || read_integer(text, out) || read_floating(text, out);
}

DLTensor number_tensor(number *n) {
    return (DLTensor){.data = &n->value, .device = {kDLCPU, 0}, .ndim = 0, .dtype = n->type->type};
}

bool read_count(const char *text, int *out) {
    char *end;
    errno = 0;
    long value = strtol(text, &end, 10);
    *out = (int)value;
    return *text >= '0' && *text <= '9' && !*end && !errno && value <= INT_MAX;
}

bool read_steps(const char *text, int64_t *out) {
    char *end;
    errno = 0;
    *out = strtoll(text, &end, 10);
    return *text >= '0' && *text <= '9' && !*end && !errno && *out >= 1;
}

bool read_integers(const char *text, int most, int64_t *list, int *n) {
    *n = 0;
    if (!*text)
        return true;
    for (char *end;; text = end + 1) {
        errno = 0;
        int64_t value = strtoll(text, &end, 10);
        if (*n == most || end == text || isspace((unsigned char)*text) || errno)
            return false;
        list[(*n)++] = value;
        if (*end != ',')
            return !*end;
    }
}

static const struct {
    const char *name;
    uf_casting rule;
} rules[] = {{"no", UF_CAST_NO},         {"equiv", UF_CAST_EQUIV},
             {"safe", UF_CAST_SAFE},     {"same_kind", UF_CAST_SAME_KIND},
             {"unsafe", UF_CAST_UNSAFE}, {NULL, UF_CAST_DEFAULT}};

const char *dtype_choice(int i) { return i < DTYPES ? dtype_rows[i].name : NULL; }
const char *casting_choice(int i) { return rules[i].name; }
const char *device_choice(int i) { return (const char *[]){"cpu", "cuda", NULL}[i]; }

bool read_casting(const char *name, uf_casting *out) {
    for (int i = 0; rules[i].name; i++)
        if (strcmp(rules[i].name, name) == 0) {
            *out = rules[i].rule;
            return true;
        }
    return false;
}

bool read_device(const char *name, DLDevice *out) {
    int n = 0;
    if (strcmp(name, "cpu") == 0)
        *out = (DLDevice){kDLCPU, 0};
    else if (strcmp(name, "cuda") == 0 || (strncmp(name, "cuda:", 5) == 0 && read_count(name + 5, &n)))
        *out = (DLDevice){kDLCUDA, n};
    else
        return false;
    return true;
}
