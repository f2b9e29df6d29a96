/* signature.c - reads and writes the text of signatures. A list may mix three spellings:
 *    float32,float32->float32     names
 *    ff->f                        NumPy's type characters
 *    float32(float32,float32)     Numba's
 * They become dtypes in the order of the operands. A single signature is read into a buffer of fixed size, and only a
 * list needs memory. Unlike NumPy's, a signature may have no inputs, since a kernel without parameters can fill an
 * array; it has an output. */
#include <assert.h>
#include <limits.h>
#include <stdio.h>

#include "type/record.h"
#include "type/token.h"

/* ---- Writing ---- */

static char *put(char *at, const char *s) {
    size_t n = strlen(s);
    memcpy(at, s, n + 1);
    return at + n;
}

static char *put_types(char *at, const dtype *types, int n) {
    for (int k = 0; k < n; k++)
        at = put(put(at, k ? "," : ""), dtypes[types[k]].name);
    return at;
}

void signature_format(char buffer[SIGNATURE_TEXT], const dtype *types, int nin, int nout) {
    char *at = put_types(buffer, types, nin);
    *at = 0;
    if (nout)
        put_types(put(at, "->"), types + nin, nout);
}

void signature_print(text *out, const dtype *types, int nin, int nout) {
    char buffer[SIGNATURE_TEXT];
    signature_format(buffer, types, nin, nout);
    text_puts(out, buffer);
}

/* ---- Grammar ---- */

/* One signature: its inputs, then its outputs. */
typedef struct operands {
    dtype types[UF_MAX_OPERANDS];
    const record *records[UF_MAX_OPERANDS];
    int count, nin;
    bool has_records;
} operands;

typedef enum spelling {
    NAMES,
    CODES
} spelling;

static uf_status add(scanner *s, operands *o, dtype type, size_t length) {
    if (o->count == UF_MAX_OPERANDS)
        return fail_source(UF_ERR_SYNTAX, s->text, s->at, "expected at most %d operands, got more", UF_MAX_OPERANDS);
    o->records[o->count] = NULL;
    o->types[o->count++] = type;
    s->at += length;
    return UF_OK;
}

static bool is_codes(const char *word, size_t length) {
    for (size_t i = 0; i < length; i++)
        if (dtype_of_code(word[i]) == DT_NONE)
            return false;
    return length > 0;
}

/* names := name { "," name } */
static uf_status read_names(scanner *s, operands *o) {
    do {
        token_type t;
        const char *word = token_next(s);
        size_t length = token_word(word), start = s->at;
        if (is_codes(word, length))
            return token_expected(s, "the name of a dtype (codes go without commas and names, as in \"ff->f\")");
        TRY(token_type_read(s, &t));
        if (o->count == UF_MAX_OPERANDS)
            s->at = start;
        TRY(add(s, o, t.type, 0));
        o->records[o->count - 1] = t.record;
        o->has_records |= t.record != NULL;
        if (*token_next(s) == '*' || *token_next(s) == '[')
            return token_expected(s, "\",\" or \"->\" (arrays are named by their dtype alone)");
    } while (token_take(s, ","));
    return UF_OK;
}

/* codes := code { code } */
static uf_status read_codes(scanner *s, operands *o) {
    const char *word = token_next(s);
    size_t length = token_word(word);
    if (!length || !is_codes(word, length))
        return token_expected(s, "type codes, such as \"f\"");
    for (size_t i = 0; i < length; i++)
        TRY(add(s, o, dtype_of_code(word[i]), 1));
    return UF_OK;
}

/* The spelling of the next word. The name of a dtype never consists of type characters alone, so that the two cannot be
 * confused. */
static spelling next_spelling(scanner *s) {
    const char *word = token_next(s);
    return is_codes(word, token_word(word)) ? CODES : NAMES;
}

static uf_status read_types(scanner *s, operands *o, spelling how) {
    return how == CODES ? read_codes(s, o) : read_names(s, o);
}

/* The rest of Numba's spelling, after "name (": [ names ] ")". The name is the output's dtype. */
static uf_status read_call(scanner *s, operands *o) {
    dtype output = o->types[0];
    o->count = 0;
    if (!token_take(s, ")")) {
        TRY(read_names(s, o));
        if (!token_take(s, ")"))
            return token_expected(s, "\",\" or \")\"");
    }
    o->nin = o->count;
    return add(s, o, output, 0);
}

/* signature := [ names ] "->" names | [ codes ] "->" codes | name "(" [ names ] ")" */
static uf_status read_signature(scanner *s, operands *o) {
    spelling how = next_spelling(s);
    o->count = 0;
    o->has_records = false;
    if (strncmp(token_next(s), "->", 2))
        TRY(read_types(s, o, how));
    if (how == NAMES && o->count == 1 && !o->has_records && token_take(s, "("))
        return read_call(s, o);
    o->nin = o->count;
    if (!token_take(s, "->"))
        return token_expected(s, how == CODES && *token_next(s) == ','
                                     ? "\"->\" (codes go without commas, as in \"ff->f\")"
                                 : how == CODES  ? "\"->\""
                                 : o->count == 1 ? "\",\", \"->\" or \"(\""
                                                 : "\",\" or \"->\"");
    return read_types(s, o, o->nin ? how : next_spelling(s));
}

uf_status signature_parse(const char *source, dtype types[UF_MAX_OPERANDS], int *nin, int *nout) {
    scanner s = {.text = source};
    operands o;
    token_next_entry(&s);
    TRY(read_signature(&s, &o));
    TRY(token_expect_end(&s));
    if (*token_next_entry(&s))
        return token_expected(&s, "one signature");
    memcpy(types, o.types, (size_t)o.count * sizeof *types);
    *nin = o.nin;
    *nout = o.count - o.nin;
    return UF_OK;
}

uf_status types_parse(const char *source, dtype *types, int *count) {
    scanner s = {.text = source};
    operands o = {.count = 0};
    if (*token_next(&s))
        TRY(read_types(&s, &o, next_spelling(&s)));
    if (*token_next(&s))
        return token_expected(&s, "the end of the dtypes");
    memcpy(types, o.types, (size_t)o.count * sizeof *types);
    *count = o.count;
    return UF_OK;
}

/* ---- Lists ---- */

static uf_status wrong_arity(const char *source, size_t start, const operands *o, const signature_list *list) {
    char first[TOKEN_QUOTED];
    scanner s = {.text = source};
    token_quote_entry(first, token_next_entry(&s));
    return fail_source(UF_ERR_SYNTAX, source, start,
                       "a signature with inputs: %d, outputs: %d, where the first one, %s, has inputs: %d, outputs: %d",
                       o->nin, o->count - o->nin, first, list->nin, list->nout);
}

/* Makes room for a list of so many rows. */
static uf_status rows_make(arena *a, size_t rows, int width, bool records, signature_list *list) {
    size_t n = rows * (size_t)width;
    list->types = arena_alloc(a, n * sizeof *list->types);
    list->records = records ? arena_alloc(a, n * sizeof *list->records) : NULL;
    return list->types && (list->records || !records) ? UF_OK : UF_ERR_MEMORY;
}

static void row_set(signature_list *list, const operands *o) {
    size_t first = (size_t)list->count++ * (size_t)o->count;
    memcpy(list->types + first, o->types, (size_t)o->count * sizeof *o->types);
    if (list->records)
        memcpy(list->records + first, o->records, (size_t)o->count * sizeof *o->records);
}

/* Checks that no row has the same types as the one that starts at `start`. */
static uf_status row_note(const char *source, size_t start, const operands *o, map *seen) {
    signature_list one = {.count = 1, .nin = o->nin, .nout = o->count - o->nin};
    one.types = (dtype *)(uintptr_t)o->types;
    one.records = (const record **)(uintptr_t)o->records;
    return token_note(source, start, "signature", &one, seen);
}

/* Reads the signature at s and adds it to the list. */
static uf_status read_row(scanner *s, arena *a, size_t expected_count, map *seen, signature_list *list) {
    operands o;
    size_t start = s->at;
    TRY(read_signature(s, &o));
    TRY(token_expect_end(s));
    if (!list->count) {
        list->nin = o.nin;
        list->nout = o.count - o.nin;
        TRY(rows_make(a, expected_count, o.count, s->records != NULL, list));
    } else if (o.nin != list->nin || o.count != list->nin + list->nout) {
        return wrong_arity(s->text, start, &o, list);
    }
    TRY(row_note(s->text, start, &o, seen));
    assert((size_t)list->count < expected_count); /* so many rows were allocated */
    row_set(list, &o);
    return UF_OK;
}

uf_status signatures_parse(arena *a, const char *source, const record_lookup *records, signature_list *out) {
    scanner s = {.text = source, .records = records};
    /* The arena may jump out of read_row only when it allocates for the first signature, and until then the map owns no
     * memory. */
    map seen = {0};
    uf_status status = UF_OK;
    size_t count = token_count_entries(source);
    *out = (signature_list){0};
    if (!count)
        status = fail_source(UF_ERR_SYNTAX, source, 0,
                             "expected a signature, such as \"float32,float32->float32\", got none");
    else if (count > INT_MAX)
        status = fail(UF_ERR_SYNTAX, "a list of %zu signatures is too long", count);
    while (!status && *token_next_entry(&s))
        status = read_row(&s, a, count, &seen, out);
    map_free(&seen);
    if (status)
        *out = (signature_list){0};
    return status;
}

uf_status type_lists_parse(arena *a, const char *source, const record_lookup *records, int width, signature_list *out) {
    scanner s = {.text = source, .records = records};
    size_t most = token_count_entries(source);
    *out = (signature_list){.nin = width};
    if (!most)
        return fail_source(UF_ERR_SYNTAX, source, 0, "expected %d dtype%s, got none", width, width == 1 ? "" : "s");
    TRY(rows_make(a, most, width, records != NULL, out));
    while (*token_next_entry(&s)) {
        operands o = {.count = 0};
        size_t start = s.at;
        TRY(read_types(&s, &o, next_spelling(&s)));
        TRY(token_expect_end(&s));
        if (o.count != width)
            return fail_source(UF_ERR_SYNTAX, source, start, "expected %d dtype%s, got %d", width,
                               width == 1 ? "" : "s", o.count);
        assert((size_t)out->count < most); /* so many rows were allocated */
        row_set(out, &o);
    }
    return UF_OK;
}
