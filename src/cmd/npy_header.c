/* npy_header.c - reads and writes the headers of .npy files: a magic number, a version, a length, and a Python dict of
 * three keys, for which this has a parser of its own. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "cmd.h"

enum {
    LONGEST = 1 << 20, /* bytes of a header; with at most 64 dimensions none is nearly as long */
    SHOWN = 24,        /* bytes of a file that a message shows */
    MOST_FIELDS =
        1
        << 16 /* read of a header, those of repeated records each time: many times what NPY_FIELDS_SIZE has room for */
};

static const unsigned char magic[6] = {0x93, 'N', 'U', 'M', 'P', 'Y'};

typedef struct cursor {
    const unsigned char *start, *at, *end;
    char *why;
    int *fields_left; /* of MOST_FIELDS, for all copies of the cursor */
} cursor;

static bool refuse_at(const cursor *c, const char *format, ...) __attribute__((format(printf, 2, 3)));

static bool refuse_at(const cursor *c, const char *format, ...) {
    va_list arguments;
    int length = snprintf(c->why, WHY_SIZE, "byte %zu: ", (size_t)(c->at - c->start));
    va_start(arguments, format);
    vsnprintf(c->why + length, WHY_SIZE - (size_t)length, format, arguments);
    va_end(arguments);
    return false;
}

typedef struct shown {
    char text[SHOWN * 4 + 3];
} shown;

/* Bytes of a file as a message shows them: those that are not printable in hexadecimal. */
static shown show(const unsigned char *bytes, size_t length) {
    shown s;
    size_t used = 0;
    for (size_t i = 0; i < length && i < SHOWN; i++)
        used += (size_t)(bytes[i] >= ' ' && bytes[i] < 127 ? sprintf(s.text + used, "%c", bytes[i])
                                                           : sprintf(s.text + used, "\\x%02x", bytes[i]));
    strcpy(s.text + used, length > SHOWN ? ".." : "");
    return s;
}

static void skip_blanks(cursor *c) {
    while (c->at < c->end && *c->at && strchr(" \t\n\r\f", *c->at))
        c->at++;
}

static bool take(cursor *c, char what) {
    skip_blanks(c);
    if (c->at == c->end || *c->at != (unsigned char)what)
        return false;
    c->at++;
    return true;
}

static bool unexpected(cursor *c, const char *needed) {
    skip_blanks(c);
    if (c->at == c->end)
        return refuse_at(c, "the header ends where %s is needed", needed);
    return refuse_at(c, "%s is needed, not \"%s\"", needed, show(c->at, (size_t)(c->end - c->at)).text);
}

/* string := "'" { byte } "'" | '"' { byte } '"' */
static bool string(cursor *c, const char *needed, const unsigned char **text, size_t *length) {
    skip_blanks(c);
    *text = c->at;
    *length = 0;
    if (c->at == c->end || (*c->at != '\'' && *c->at != '"'))
        return unexpected(c, needed);
    const unsigned char *close = memchr(c->at + 1, *c->at, (size_t)(c->end - c->at - 1));
    if (!close)
        return refuse_at(c, "a string has no end");
    *text = c->at + 1;
    *length = (size_t)(close - *text);
    c->at = close + 1;
    return true;
}

static bool digit(const cursor *c) { return c->at < c->end && *c->at >= '0' && *c->at <= '9'; }

/* extent := digit { digit } [ "L" ]          Python 2 wrote the L */
static bool extent(cursor *c, int64_t *out) {
    skip_blanks(c);
    if (c->at < c->end && *c->at == '-')
        return refuse_at(c, "an extent is negative");
    if (!digit(c))
        return unexpected(c, "an extent");
    for (*out = 0; digit(c); c->at++)
        if (__builtin_mul_overflow(*out, 10, out) || __builtin_add_overflow(*out, *c->at - '0', out))
            return refuse_at(c, "an extent exceeds 2^63 - 1");
    if (c->at < c->end && *c->at == 'L')
        c->at++;
    return true;
}

/* shape := "(" [ extent "," [ extent { "," extent } [ "," ] ] ] ")" */
static bool shape(cursor *c, npy_header *h) {
    if (!take(c, '('))
        return unexpected(c, "a tuple of extents");
    bool comma = true;
    for (h->ndim = 0; !take(c, ')'); comma = take(c, ',')) {
        if (!comma)
            return unexpected(c, "\",\" or \")\"");
        if (h->ndim == UF_MAX_NDIM)
            return refuse_at(c, "the array has more than %d dimensions", UF_MAX_NDIM);
        if (!extent(c, &h->shape[h->ndim++]))
            return false;
    }
    return comma || h->ndim != 1 || refuse_at(c, "(%lld) is a number, not a tuple of extents", (long long)h->shape[0]);
}

static bool word(cursor *c, const char *text) {
    size_t length = strlen(text);
    if ((size_t)(c->end - c->at) < length || memcmp(c->at, text, length) != 0)
        return false;
    c->at += length;
    return true;
}

static bool order(cursor *c, npy_header *h) {
    skip_blanks(c);
    h->fortran = word(c, "True");
    return h->fortran || word(c, "False") || unexpected(c, "True or False");
}

/* The dtype of "f4", which has no byte order before it. */
static const dtype_row *dtype_spelled(const unsigned char *text, size_t length) {
    char spelling[8];
    for (int i = 0; i < DTYPES; i++)
        if ((size_t)snprintf(spelling, sizeof spelling, "%c%d", dtype_rows[i].kind, dtype_rows[i].size) == length &&
            memcmp(spelling, text, length) == 0)
            return &dtype_rows[i];
    return NULL;
}

static const char *not_ours(char kind) {
    switch (kind) {
    case 'O':
        return ", Python objects, which are not read";
    case 'V':
        return ", opaque bytes";
    case 'S':
    case 'U':
        return ", text";
    case 'M':
    case 'm':
        return ", times";
    default:
        return "";
    }
}

static bool is_swapped(const unsigned char *text, size_t length, const dtype_row *type) {
    const bool big_machine = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__;
    return length && type->size > 1 && *text == (big_machine ? '<' : '>');
}

/* ---- Structured dtypes ---- */

enum {
    NESTED = 8 /* records within records */
};

static bool fields(cursor *c, npy_header *h, int64_t *at, size_t *used, int depth);

/* Adds `count` scalars of a type to the record. */
static bool scalars_add(cursor *c, npy_header *h, const dtype_row *type, int64_t count, int64_t *at, size_t *used) {
    for (int64_t i = 0; i < count; i++, *at += type->size) {
        int n =
            snprintf(h->fields + *used, NPY_FIELDS_SIZE - *used, "%c%d@%lld;", type->kind, type->size, (long long)*at);
        if (n < 0 || *used + (size_t)n >= NPY_FIELDS_SIZE)
            return refuse_at(c, "the records have too many fields");
        *used += (size_t)n;
    }
    return true;
}

/* Bytes that nothing is in, "|V4" without a name. */
static bool gap(const unsigned char *text, size_t length, int64_t *size) {
    size_t i = length && strchr("<>|=", *text) && *text;
    if (i >= length || text[i++] != 'V')
        return false;
    for (*size = 0; i < length && text[i] >= '0' && text[i] <= '9' && *size < LONGEST; i++)
        *size = 10 * *size + (text[i] - '0');
    return i == length;
}

static bool scalar_field(cursor *c, size_t name_length, const dtype_row **type, int64_t *at) {
    const unsigned char *text;
    size_t length;
    int64_t size;
    cursor before = *c;
    if (!string(c, "the string of a dtype", &text, &length))
        return false;
    *type = NULL;
    if (!name_length && gap(text, length, &size)) {
        *at += size;
        return true;
    }
    bool ordered = length && strchr("<>|=", *text) && *text;
    *type = dtype_spelled(text + ordered, length - ordered);
    if (!*type)
        return refuse_at(&before, "the dtype of a field is \"%s\"%s; it is none of the fifteen",
                         show(text, length).text, not_ours(length > ordered ? (char)text[ordered] : 0));
    return !is_swapped(text, length, *type) ||
           refuse_at(&before, "a field is in the other byte order; records are read in this machine's");
}

/* Reads the extents of a field, if it has some: how many elements they are. */
static bool field_count(cursor *c, int64_t *count) {
    npy_header shaped = {0};
    *count = 1;
    if (take(c, ',') && !shape(c, &shaped))
        return false;
    for (int d = 0; d < shaped.ndim; d++)
        if (shaped.shape[d] < 1 || __builtin_mul_overflow(*count, shaped.shape[d], count) || *count > LONGEST)
            return refuse_at(c, "a field has no elements, or too many");
    return true;
}

/* Reads records within records, and behind them how many there are. Each has scalars, whose number has a limit, so that no header
 * takes long. */
static bool nested_field(cursor *c, npy_header *h, int64_t *at, size_t *used, int depth) {
    const cursor first = *c;
    const size_t before = *used;
    int64_t count;
    if (!fields(c, h, at, used, depth + 1))
        return false;
    if (*used == before)
        return refuse_at(&first, "a field has no scalars");
    if (!field_count(c, &count))
        return false;
    for (int64_t i = 1; i < count; i++) {
        cursor again = first;
        if (!fields(&again, h, at, used, depth + 1))
            return false;
    }
    return true;
}

/* Reads scalars, or a gap, whose type is NULL. */
static bool plain_field(cursor *c, npy_header *h, size_t name_length, int64_t *at, size_t *used) {
    const dtype_row *type;
    int64_t count;
    if (!scalar_field(c, name_length, &type, at) || !field_count(c, &count))
        return false;
    return !type || scalars_add(c, h, type, count, at, used);
}

/* field := "(" name "," ( string | fields ) [ "," shape ] ")" */
static bool field(cursor *c, npy_header *h, int64_t *at, size_t *used, int depth) {
    const unsigned char *name;
    size_t length;
    if (!*c->fields_left)
        return refuse_at(c, "the records have too many fields");
    --*c->fields_left;
    if (!take(c, '('))
        return unexpected(c, "\"(\" of a field");
    if (!string(c, "the name of a field", &name, &length))
        return false;
    if (!take(c, ','))
        return unexpected(c, "\",\"");
    skip_blanks(c);
    bool nested = c->at < c->end && *c->at == '[';
    if (nested ? !nested_field(c, h, at, used, depth) : !plain_field(c, h, length, at, used))
        return false;
    return take(c, ')') || unexpected(c, "\")\" of a field");
}

/* fields := "[" field { "," field } [ "," ] "]" */
static bool fields(cursor *c, npy_header *h, int64_t *at, size_t *used, int depth) {
    bool comma = true;
    if (depth > NESTED)
        return refuse_at(c, "records within records, more than %d deep", (int)NESTED);
    if (!take(c, '['))
        return unexpected(c, "\"[\"");
    for (; !take(c, ']'); comma = take(c, ',')) {
        if (!comma)
            return unexpected(c, "\",\" or \"]\"");
        if (!field(c, h, at, used, depth))
            return false;
    }
    return true;
}

static bool structured_descr(cursor *c, npy_header *h) {
    int64_t size = 0;
    size_t used = 0;
    cursor at = *c;
    if (!fields(c, h, &size, &used, 0))
        return false;
    if (!used || size > UINT16_MAX)
        return refuse_at(&at, "the records have %lld bytes, or no fields", (long long)size);
    h->type = dtype_named("uint8");
    h->element = (int)size;
    return true;
}

/* descr := string of [ "<" | ">" | "|" | "=" ] kind size | fields */
static bool descr(cursor *c, npy_header *h) {
    const unsigned char *text;
    size_t length;
    cursor at = *c;
    skip_blanks(c);
    if (c->at < c->end && *c->at == '[')
        return structured_descr(c, h);
    if (!string(c, "the string of a dtype", &text, &length))
        return false;
    bool ordered = length && strchr("<>|=", *text) && *text;
    h->type = dtype_spelled(text + ordered, length - ordered);
    if (!h->type)
        return refuse_at(&at, "the dtype is \"%s\"%s; it is none of the fifteen", show(text, length).text,
                         not_ours(length > ordered ? (char)text[ordered] : 0));
    h->element = h->type->size;
    h->opaque = h->type->kind == 'V';
    h->swapped = ordered && is_swapped(text, length, h->type);
    return true;
}

static const struct {
    const char *name;
    bool (*read)(cursor *c, npy_header *h);
} keys[] = {{"descr", descr}, {"fortran_order", order}, {"shape", shape}};

enum {
    KEYS = sizeof keys / sizeof *keys
};

/* pair := string ":" value; *seen has a bit for each key that was there. */
static bool pair(cursor *c, npy_header *h, unsigned *seen) {
    const unsigned char *text;
    size_t length;
    int k = 0;
    cursor at = *c;
    if (!string(c, "the string of a key", &text, &length))
        return false;
    while (k < KEYS && (strlen(keys[k].name) != length || memcmp(keys[k].name, text, length) != 0))
        k++;
    if (k == KEYS)
        return refuse_at(&at, "the key is \"%s\"; descr, fortran_order and shape are known", show(text, length).text);
    if (*seen & 1u << k)
        return refuse_at(&at, "the key %s is there twice", keys[k].name);
    *seen |= 1u << k;
    return take(c, ':') ? keys[k].read(c, h) : unexpected(c, "\":\"");
}

/* header := "{" [ pair { "," pair } [ "," ] ] "}" */
static bool dict(cursor *c, npy_header *h) {
    unsigned seen = 0;
    bool comma = true;
    if (!take(c, '{'))
        return unexpected(c, "\"{\"");
    for (; !take(c, '}'); comma = take(c, ',')) {
        if (!comma)
            return unexpected(c, "\",\" or \"}\"");
        if (!pair(c, h, &seen))
            return false;
    }
    for (int k = 0; k < KEYS; k++)
        if (!(seen & 1u << k))
            return refuse_at(c, "the key %s is missing", keys[k].name);
    skip_blanks(c);
    return c->at == c->end || unexpected(c, "the end of the header");
}

/* The size of the data in bytes. The product of all extents but those that are 0 must fit too, because strides are made
 * of it. */
static bool data_size(const cursor *c, npy_header *h) {
    int64_t size = h->element;
    bool empty = false;
    for (int d = 0; d < h->ndim; d++) {
        empty |= h->shape[d] == 0;
        if (h->shape[d] && __builtin_mul_overflow(size, h->shape[d], &size))
            return refuse_at(c, "the shape's size exceeds 2^63 - 1 bytes");
    }
    h->size = empty ? 0 : (size_t)size;
    return true;
}

static bool too_short(size_t length, const char *before, char *why) {
    return refuse(why, "ends after %zu byte%s, before %s does", length, length == 1 ? "" : "s", before);
}

bool npy_prefix(const unsigned char *bytes, size_t length, size_t *offset, char why[WHY_SIZE]) {
    if (memcmp(bytes, magic, length < sizeof magic ? length : sizeof magic) != 0) {
        return refuse(why, "is no .npy file: it begins with \"%s\"", show(bytes, length < 6 ? length : 6).text);
    }
    if (length < NPY_PREFIX_SIZE)
        return too_short(length, "the header", why);
    if (bytes[6] < 1 || bytes[6] > 3 || bytes[7] != 0) {
        return refuse(why, "has version %d.%d of the .npy format; 1.0, 2.0 and 3.0 are known", bytes[6], bytes[7]);
    }
    bool wide = bytes[6] > 1;
    size_t size = (size_t)bytes[8] | (size_t)bytes[9] << 8;
    if (wide)
        size |= (size_t)bytes[10] << 16 | (size_t)bytes[11] << 24;
    if (size < 2 || size > LONGEST) {
        return refuse(why, "byte 8: the header's length is %zu; it must be from 2 to %d", size, LONGEST);
    }
    *offset = (wide ? 12 : 10) + size;
    return true;
}

bool npy_parse(const unsigned char *bytes, size_t length, npy_header *out, char why[WHY_SIZE]) {
    memset(out, 0, sizeof *out);
    if (!npy_prefix(bytes, length, &out->offset, why))
        return false;
    if (length < out->offset)
        return too_short(length, "the header", why);
    int fields_left = MOST_FIELDS;
    cursor c = {bytes, bytes + (bytes[6] > 1 ? 12 : 10), bytes + out->offset, why, &fields_left};
    return dict(&c, out) && data_size(&c, out);
}

size_t npy_format(const DLTensor *array, const char *descr_text, unsigned char to[NPY_HEADER_SIZE]) {
    const dtype_row *e = dtype_of(array->dtype);
    char text[NPY_HEADER_SIZE], plain[16];
    const char native = __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__ ? '>' : '<';
    if (!descr_text)
        snprintf(plain, sizeof plain, "'%c%c%d'", e->size > 1 ? native : '|', e->kind, e->size);
    int length = sprintf(text, "{'descr': %s, 'fortran_order': False, 'shape': (", descr_text ? descr_text : plain);
    for (int d = 0; d < array->ndim; d++)
        length += sprintf(text + length, d ? ", %lld" : "%lld", (long long)array->shape[d]);
    length += sprintf(text + length, array->ndim == 1 ? ",), }" : "), }");
    /* 11: ten bytes before the text, and the newline behind it */
    size_t total = ((size_t)length + 11 + 63) / 64 * 64, header = total - 10;
    memcpy(to, magic, sizeof magic);
    to[6] = 1; /* version 1.0, whose headers have up to 65535 bytes: far more than UF_MAX_NDIM extents take */
    to[7] = 0;
    to[8] = (unsigned char)(header & 255);
    to[9] = (unsigned char)(header >> 8);
    memset(to + 10, ' ', header);
    memcpy(to + 10, text, (size_t)length);
    to[total - 1] = '\n';
    return total;
}
