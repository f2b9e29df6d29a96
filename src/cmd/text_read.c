/* text_read.c - reads numbers in rows and columns from text: a row a line, with commas, semicolons or blanks between its numbers,
 * comments from # on, and perhaps a first line of names. One text has commas or semicolons, not both, since the commas may then be
 * those of decimal fractions. The dtype is the most general of the numbers: bool, int64, uint64, float64
 * or complex128. */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cmd.h"

enum {
    LONGEST = 80 /* bytes of the text of a number */
};

/* The kinds of numbers, in the order in which they become more general. */
typedef enum kind {
    BOOL,
    INTEGER,
    UNSIGNED,
    FLOATING,
    COMPLEX
} kind;

static const char *const kind_dtypes[] = {"bool", "int64", "uint64", "float64", "complex128"};

typedef union value {
    int64_t i;
    uint64_t u;
    double f;
} value;

typedef struct reader {
    const char *at, *end;
    char *why;
    value *values; /* one for each number, of complex ones two */
    size_t count, capacity, columns;
    int64_t rows, line;
    kind kind;
    bool negative;  /* one of the integers is */
    char behind;    /* what separates the cell that was taken from the next one: , ; or a blank; 0: the line ends */
    char separator; /* what separates those before; 0: nothing was there to be separated */
} reader;

static bool refuse_line(const reader *r, const char *format, ...) __attribute__((format(printf, 2, 3)));

static bool refuse_line(const reader *r, const char *format, ...) {
    va_list arguments;
    int length = snprintf(r->why, WHY_SIZE, "line %lld: ", (long long)r->line);
    va_start(arguments, format);
    vsnprintf(r->why + length, WHY_SIZE - (size_t)length, format, arguments);
    va_end(arguments);
    return false;
}

static kind kind_of(const number *n) {
    switch (n->type->kind) {
    case 'b':
        return BOOL;
    case 'i':
        return INTEGER;
    case 'u':
        return UNSIGNED;
    case 'f':
        return FLOATING;
    default:
        return COMPLEX;
    }
}

/* ---- Numbers that were read ---- */

static size_t per_number(kind k) { return k == COMPLEX ? 2 : 1; }

static bool reserve(reader *r, size_t values) {
    if (r->values && values <= r->capacity)
        return true;
    size_t capacity = r->capacity < 512 ? 1024 : 2 * r->capacity;
    capacity = capacity < values ? values : capacity;
    value *larger = realloc(r->values, capacity * sizeof *larger);
    if (!larger) {
        refuse_line(r, "out of memory");
        return false;
    }
    r->values = larger;
    r->capacity = capacity;
    return true;
}

/* Makes the numbers read so far of a more general kind. */
static bool generalise(reader *r, kind to) {
    if (to == COMPLEX && !reserve(r, 2 * r->count))
        return false;
    for (size_t i = r->count; i-- > 0;) {
        value v = r->values[i];
        if (to >= FLOATING && r->kind < FLOATING)
            v.f = r->kind == UNSIGNED ? (double)v.u : (double)v.i;
        r->values[i * per_number(to)] = v;
        if (to == COMPLEX)
            r->values[2 * i + 1].f = 0;
    }
    r->kind = to;
    return true;
}

/* The kind that has both, which for negative numbers and those beyond int64 is a floating one. */
static kind joint_kind(const reader *r, kind k) {
    kind most = k > r->kind ? k : r->kind;
    return most == UNSIGNED && r->negative ? FLOATING : most;
}

static bool add(reader *r, const number *n) {
    kind k = kind_of(n);
    int64_t whole = k == BOOL ? n->value.b : n->value.i;
    r->negative |= k == INTEGER && whole < 0;
    kind to = joint_kind(r, k);
    if (to != r->kind && !generalise(r, to))
        return false;
    if (!reserve(r, (r->count + 1) * per_number(to)))
        return false;
    value *v = r->values + r->count++ * per_number(to);
    if (to < FLOATING)
        v->i = whole; /* unsigned ones have the same bits */
    else
        v->f = k >= FLOATING ? n->value.f[0] : k == UNSIGNED ? (double)n->value.u : (double)whole;
    if (to == COMPLEX)
        v[1].f = k == COMPLEX ? n->value.f[1] : 0;
    return true;
}

/* ---- Lines ---- */

static bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r'; }
static bool is_separator(char c) { return c == ',' || c == ';'; }
static bool ends_line(const reader *r) { return r->at == r->end || *r->at == '\n' || *r->at == '#'; }

static void skip_blanks(reader *r) {
    while (r->at < r->end && is_blank(*r->at))
        r->at++;
}

static void skip_line(reader *r) {
    const char *newline = memchr(r->at, '\n', (size_t)(r->end - r->at));
    r->at = newline ? newline + 1 : r->end;
    r->line++;
}

/* Takes the next cell of a line, without quotes or parentheses around it, and what separates it from the one behind it. False: it is
 * longer than any number. */
static bool take_cell(reader *r, char cell[LONGEST], size_t *length) {
    const char *begin = r->at;
    while (!ends_line(r) && !is_blank(*r->at) && !is_separator(*r->at))
        r->at++;
    *length = (size_t)(r->at - begin);
    if (*length >= 2 && ((*begin == '"' && r->at[-1] == '"') || (*begin == '(' && r->at[-1] == ')'))) {
        begin++;
        *length -= 2;
    }
    bool fits = *length < LONGEST;
    memcpy(cell, begin, fits ? *length : LONGEST - 1);
    cell[fits ? *length : LONGEST - 1] = 0;
    skip_blanks(r);
    r->behind = ' ';
    if (r->at < r->end && is_separator(*r->at))
        r->behind = *r->at++;
    skip_blanks(r);
    if (r->behind == ' ' && ends_line(r))
        r->behind = 0;
    return fits && !memchr(cell, 0, *length);
}

/* Is no cell of the line that begins here a number, so that they are names? */
static bool is_heading(reader r) {
    char cell[LONGEST];
    size_t length;
    number n;
    while (!ends_line(&r))
        if (take_cell(&r, cell, &length) && (read_number(cell, &n) || !*cell))
            return false;
    return true;
}

/* The number of a cell. One whose text is -0 is floating, since no integer has that sign. */
static bool cell_number(const char *cell, number *n) {
    if (!read_number(cell, n))
        return false;
    if (*cell == '-' && n->type->kind == 'i' && !n->value.i)
        *n = (number){dtype_named("float64"), {.f = {-0.0, 0}}};
    return true;
}

static const char *name_of(char separator) {
    return separator == ',' ? "a comma" : separator == ';' ? "a semicolon" : "a blank";
}

/* Is what stands behind a number what stands behind those before? "1,5;2,5" would else be four numbers. */
static bool same_separator(reader *r, size_t column) {
    if (!r->behind)
        return true;
    if (r->separator && r->separator != r->behind)
        return refuse_line(
            r,
            "column %zu: %s is behind the number, but %s behind one before; one of them separates numbers, and "
            "a fraction has a point",
            column, name_of(r->behind), name_of(r->separator));
    r->separator = r->behind;
    return true;
}

static bool read_cell(reader *r, size_t column) {
    char cell[LONGEST];
    size_t length;
    number n;
    if (take_cell(r, cell, &length) && cell_number(cell, &n))
        return same_separator(r, column) && add(r, &n);
    if (!*cell)
        return refuse_line(r, "column %zu is empty", column);
    return refuse_line(r, "column %zu: \"%.40s\" is no number", column, cell);
}

static bool read_row(reader *r) {
    size_t columns = 0;
    while (!ends_line(r))
        if (!read_cell(r, ++columns))
            return false;
    if (r->behind)
        return refuse_line(r, "column %zu is empty", columns + 1);
    if (r->rows && columns != r->columns)
        return refuse_line(r, "it has %zu number%s, but lines before it have %zu", columns, columns == 1 ? "" : "s",
                           r->columns);
    r->columns = columns;
    r->rows++;
    return true;
}

static bool read_rows(reader *r) {
    bool first = true;
    if (r->end - r->at >= 3 && memcmp(r->at, "\xef\xbb\xbf", 3) == 0)
        r->at += 3;
    for (r->line = 1; r->at < r->end; skip_line(r)) {
        skip_blanks(r);
        if (ends_line(r))
            continue;
        if (!(first && is_heading(*r)) && !read_row(r))
            return false;
        first = false;
    }
    return r->count || refuse_line(r, "the text ends without a number");
}

/* ---- The array ---- */

/* A column is an array of one dimension. */
static void describe(const reader *r, npy_header *h) {
    memset(h, 0, sizeof *h);
    h->type = dtype_named(kind_dtypes[r->kind]);
    h->element = h->type->size;
    h->ndim = r->columns == 1 ? 1 : 2;
    h->shape[0] = r->rows;
    h->shape[1] = (int64_t)r->columns;
    h->size = r->count * h->type->size;
}

static void narrow_bools(reader *r) {
    for (size_t i = 0; i < r->count; i++)
        ((bool *)r->values)[i] = r->values[i].i != 0;
}

bool text_read(npy *out, const char *path, char why[WHY_SIZE]) {
    const unsigned char *bytes;
    size_t length;
    npy_header h;
    bool good = npy_bytes(out, path, &bytes, &length, why);
    reader r = {.why = why};
    if (good) {
        r.at = (const char *)bytes;
        r.end = r.at + length;
        good = read_rows(&r);
    }
    npy_close(out);
    if (!good) {
        free(r.values);
        return false;
    }
    if (r.kind == BOOL)
        narrow_bools(&r);
    describe(&r, &h);
    out->memory = r.values;
    return npy_take(out, &h, out->memory, why);
}
