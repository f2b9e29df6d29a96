/* signature.c - the text of signatures, in and out. Input: a list in any mix of three spellings,
 *     float32,float32->float32     names
 *     ff->f                        NumPy's type codes
 *     float32(float32,float32)     Numba's
 * Output: dtypes in operand order. One signature is read into a fixed buffer, so that only a list needs memory.
 * A signature may have no inputs, which NumPy's may not: a kernel without parameters fills an array. It has outputs. */
#include <limits.h>
#include <stdio.h>

#include "type/type.h"

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

/* ---- Tokens: words, "->", single characters ---- */

typedef struct scanner {
    const char *text;
    size_t at;
} scanner;

/* One signature: inputs, then outputs. */
typedef struct operands {
    dtype types[UF_MAX_OPERANDS];
    int count, nin;
} operands;

typedef enum spelling {
    NAMES,
    CODES
} spelling;

static bool is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r' && c != '\n'); }
static bool is_separator(char c) { return c == ';' || c == '\n'; }
static bool is_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '?' ||
           (unsigned char)c >= 0x80;
}

static const char *skip_blanks(scanner *s) {
    while (is_blank(s->text[s->at]))
        s->at++;
    return s->text + s->at;
}

static const char *skip_separators(scanner *s) {
    while (is_separator(*skip_blanks(s)))
        s->at++;
    return s->text + s->at;
}

static size_t word_length(const char *word) {
    size_t n = 0;
    while (is_word(word[n]))
        n++;
    return n;
}

static bool take(scanner *s, const char *token) {
    size_t n = strlen(token);
    bool found = !strncmp(skip_blanks(s), token, n);
    if (found)
        s->at += n;
    return found;
}

/* ---- Errors ---- */

enum {
    QUOTED = 48 /* bytes of a user's text that a message repeats */
};

/* "word", cut to size between characters. */
static void quote(char out[QUOTED], const char *word, size_t length) {
    size_t room = QUOTED - sizeof "\"..\"", n = length < room ? length : room;
    while (n < length && n && ((unsigned char)word[n] & 0xC0) == 0x80)
        n--;
    snprintf(out, QUOTED, "\"%.*s%s\"", (int)n, word, n < length ? ".." : "");
}

/* What stands at the scanner, for a message. */
static void describe(char out[QUOTED], const char *at) {
    size_t word = word_length(at);
    if (!*at)
        strcpy(out, "the end");
    else if (is_separator(*at))
        strcpy(out, *at == ';' ? "\";\"" : "the end of the line");
    else if (word)
        quote(out, at, word);
    else if (!strncmp(at, "->", 2))
        strcpy(out, "\"->\"");
    else
        snprintf(out, QUOTED, *at < ' ' || *at == 0x7F ? "character 0x%02x" : "\"%c\"", (unsigned char)*at);
}

static uf_status expected(scanner *s, const char *what) {
    char got[QUOTED];
    describe(got, skip_blanks(s));
    return fail_source(UF_ERR_SYNTAX, s->text, s->at, "expected %s, got %s", what, got);
}

static uf_status unknown_dtype(scanner *s, const char *word, size_t length) {
    char got[QUOTED], known[DT_COUNT * 16] = "", *at = known;
    quote(got, word, length);
    for (int t = 0; t < DT_COUNT; t++)
        at += sprintf(at, "%s%s %c", t ? ", " : "", dtypes[t].name, dtypes[t].code);
    return fail_source(UF_ERR_SYNTAX, s->text, s->at, "unknown dtype %s; the dtypes and their codes are %s", got,
                       known);
}

/* ---- Grammar ---- */

static uf_status add(scanner *s, operands *o, dtype type, size_t length) {
    if (o->count == UF_MAX_OPERANDS)
        return fail_source(UF_ERR_SYNTAX, s->text, s->at, "expected at most %d operands, got more", UF_MAX_OPERANDS);
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
        const char *word = skip_blanks(s);
        size_t length = word_length(word);
        dtype type = dtype_of_name(word, length);
        if (!length)
            return expected(s, "a dtype");
        if (type == DT_NONE && is_codes(word, length))
            return expected(s, "the name of a dtype (codes go without commas and names, as in \"ff->f\")");
        if (type == DT_NONE)
            return unknown_dtype(s, word, length);
        TRY(add(s, o, type, length));
    } while (take(s, ","));
    return UF_OK;
}

/* codes := code { code } */
static uf_status read_codes(scanner *s, operands *o) {
    const char *word = skip_blanks(s);
    size_t length = word_length(word);
    if (!length || !is_codes(word, length))
        return expected(s, "type codes, such as \"f\"");
    for (size_t i = 0; i < length; i++)
        TRY(add(s, o, dtype_of_code(word[i]), 1));
    return UF_OK;
}

/* What the next word is written in. No name consists of codes alone. */
static spelling next_spelling(scanner *s) {
    const char *word = skip_blanks(s);
    return is_codes(word, word_length(word)) ? CODES : NAMES;
}

static uf_status read_types(scanner *s, operands *o, spelling how) {
    return how == CODES ? read_codes(s, o) : read_names(s, o);
}

/* The rest of Numba's form, after "name (": [ names ] ")". The name is the output. */
static uf_status read_call(scanner *s, operands *o) {
    dtype output = o->types[0];
    o->count = 0;
    if (!take(s, ")")) {
        TRY(read_names(s, o));
        if (!take(s, ")"))
            return expected(s, "\",\" or \")\"");
    }
    o->nin = o->count;
    return add(s, o, output, 0);
}

/* signature := [ names ] "->" names | [ codes ] "->" codes | name "(" [ names ] ")" */
static uf_status read_signature(scanner *s, operands *o) {
    spelling how = next_spelling(s);
    o->count = 0;
    if (strncmp(skip_blanks(s), "->", 2))
        TRY(read_types(s, o, how));
    if (how == NAMES && o->count == 1 && take(s, "("))
        return read_call(s, o);
    o->nin = o->count;
    if (!take(s, "->"))
        return expected(s, how == CODES ? "\"->\"" : o->count == 1 ? "\",\", \"->\" or \"(\"" : "\",\" or \"->\"");
    return read_types(s, o, o->nin ? how : next_spelling(s));
}

static uf_status expect_end(scanner *s) {
    char c = *skip_blanks(s);
    return !c || is_separator(c) ? UF_OK : expected(s, "\";\", a new line or the end");
}

uf_status signature_parse(const char *source, dtype types[UF_MAX_OPERANDS], int *nin, int *nout) {
    scanner s = {source, 0};
    operands o;
    skip_separators(&s);
    TRY(read_signature(&s, &o));
    TRY(expect_end(&s));
    if (*skip_separators(&s))
        return expected(&s, "one signature");
    memcpy(types, o.types, (size_t)o.count * sizeof *types);
    *nin = o.nin;
    *nout = o.count - o.nin;
    return UF_OK;
}

uf_status types_parse(const char *source, dtype *types, int *count) {
    scanner s = {source, 0};
    operands o = {.count = 0};
    if (*skip_blanks(&s))
        TRY(read_types(&s, &o, next_spelling(&s)));
    if (*skip_blanks(&s))
        return expected(&s, "the end of the dtypes");
    memcpy(types, o.types, (size_t)o.count * sizeof *types);
    *count = o.count;
    return UF_OK;
}

/* ---- Lists ---- */

/* Signatures that a well-formed list has: its stretches between separators that are not blank. */
static size_t count_signatures(const char *source) {
    size_t n = 0;
    for (scanner s = {source, 0}; *skip_separators(&s); n++)
        while (s.text[s.at] && !is_separator(s.text[s.at]))
            s.at++;
    return n;
}

/* The signature that starts at `source` as it was written. */
static void quote_signature(char out[QUOTED], const char *source) {
    size_t n = 0;
    while (source[n] && !is_separator(source[n]))
        n++;
    while (n && is_blank(source[n - 1]))
        n--;
    quote(out, source, n);
}

static uf_status wrong_arity(const char *source, size_t start, const operands *o, const signature_list *list) {
    char first[QUOTED];
    scanner s = {source, 0};
    quote_signature(first, skip_separators(&s));
    return fail_source(UF_ERR_SYNTAX, source, start,
                       "a signature with inputs: %d, outputs: %d, where the first one, %s, has inputs: %d, outputs: %d",
                       o->nin, o->count - o->nin, first, list->nin, list->nout);
}

static uf_status repeated(const char *source, size_t start, const char *earlier, const operands *o) {
    char this[QUOTED], that[QUOTED], meaning[SIGNATURE_TEXT];
    int line, column;
    quote_signature(this, source + start);
    quote_signature(that, earlier);
    source_position(source, (size_t)(earlier - source), &line, &column);
    signature_format(meaning, o->types, o->nin, o->count - o->nin);
    return fail_source(UF_ERR_SYNTAX, source, start, "signature %s repeats %s at %d:%d: both are %s", this, that, line,
                       column, meaning);
}

/* Reads the signature at s and adds it. seen: dtypes -> where that signature starts in the text. */
static uf_status read_row(scanner *s, arena *a, size_t expected_count, map *seen, signature_list *list) {
    operands o;
    size_t start = s->at;
    TRY(read_signature(s, &o));
    TRY(expect_end(s));
    if (!list->count) {
        list->nin = o.nin;
        list->nout = o.count - o.nin;
        list->types = arena_alloc(a, expected_count * (size_t)o.count * sizeof *list->types);
        if (!list->types)
            return UF_ERR_MEMORY;
    } else if (o.nin != list->nin || o.count != list->nin + list->nout) {
        return wrong_arity(s->text, start, &o, list);
    }
    size_t size = (size_t)o.count * sizeof *o.types;
    const char *earlier = map_get(seen, o.types, size);
    if (earlier)
        return repeated(s->text, start, earlier, &o);
    if (!map_put(seen, o.types, size, (char *)s->text + start))
        return fail_memory();
    memcpy(list->types + (size_t)list->count++ * (size_t)o.count, o.types, size);
    return UF_OK;
}

uf_status signatures_parse(arena *a, const char *source, signature_list *out) {
    scanner s = {source, 0};
    map seen = {0}; /* empty whenever the arena may jump out: it is asked for memory once, by the first signature */
    uf_status status = UF_OK;
    size_t count = count_signatures(source);
    *out = (signature_list){0};
    if (!count)
        status = fail_source(UF_ERR_SYNTAX, source, 0,
                             "expected a signature, such as \"float32,float32->float32\", got none");
    else if (count > INT_MAX)
        status = fail(UF_ERR_SYNTAX, "a list of %zu signatures is too long", count);
    while (!status && *skip_separators(&s))
        status = read_row(&s, a, count, &seen, out);
    map_free(&seen);
    if (status)
        *out = (signature_list){0};
    return status;
}

uf_status type_lists_parse(arena *a, const char *source, int width, dtype **types, int *count) {
    scanner s = {source, 0};
    size_t most = count_signatures(source), row = (size_t)width * sizeof **types;
    *count = 0;
    if (!most)
        return fail_source(UF_ERR_SYNTAX, source, 0, "expected %d dtype%s, got none", width, width == 1 ? "" : "s");
    *types = arena_alloc(a, most * row);
    if (!*types)
        return UF_ERR_MEMORY;
    for (; *skip_separators(&s); ++*count) {
        operands o = {.count = 0};
        size_t start = s.at;
        TRY(read_types(&s, &o, next_spelling(&s)));
        TRY(expect_end(&s));
        if (o.count != width)
            return fail_source(UF_ERR_SYNTAX, source, start, "expected %d dtype%s, got %d", width,
                               width == 1 ? "" : "s", o.count);
        memcpy(*types + (size_t)*count * (size_t)width, o.types, row);
    }
    return UF_OK;
}
