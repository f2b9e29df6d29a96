/* token.c - reads the tokens of signatures and parameter lists, and makes the errors about them. */
#include "type/token.h"

#include <stdio.h>

#include "type/words.h"

static bool is_blank(char c) { return c == ' ' || (c >= '\t' && c <= '\r' && c != '\n'); }
/* Does the character separate the entries of a list? */
static bool token_separates(char c) { return c == ';' || c == '\n'; }
static bool is_word(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '?' ||
           (unsigned char)c >= 0x80;
}

const char *token_next(scanner *s) {
    while (is_blank(s->text[s->at]))
        s->at++;
    return s->text + s->at;
}

const char *token_next_entry(scanner *s) {
    while (token_separates(*token_next(s)))
        s->at++;
    return s->text + s->at;
}

size_t token_word(const char *word) {
    size_t n = 0;
    while (is_word(word[n]))
        n++;
    return n;
}

bool token_take(scanner *s, const char *token) {
    size_t n = strlen(token);
    bool found = !strncmp(token_next(s), token, n);
    if (found)
        s->at += n;
    return found;
}

/* The length of a record's name: a word, and perhaps its argument in parentheses. */
static size_t record_length(const scanner *s, size_t word) {
    scanner after = {s->text, s->at + word, NULL};
    if (*token_next(&after) != '(')
        return word;
    int depth = 0;
    for (const char *c = after.text + after.at; *c && !token_separates(*c); c++) {
        depth += (*c == '(') - (*c == ')');
        if (!depth)
            return (size_t)(c + 1 - s->text) - s->at;
    }
    return word;
}

/* Reads the name of a record, if records can be named and one begins at s. *out is NULL if none does. known: the word is the name
 * of a dtype if it is not that of a record. */
static uf_status record_read(scanner *s, bool known, const struct record **out) {
    const char *word = token_next(s);
    size_t n = token_word(word), length = n ? record_length(s, n) : 0;
    *out = NULL;
    if (!n || !s->records)
        return UF_OK;
    uf_status status = s->records->find(s->records->user, word, length, out);
    if (status == UF_ERR_TYPE && (length == n || known))
        return UF_OK; /* it is unknown as a dtype, too, or no record */
    if (status == UF_ERR_TYPE) {
        char message[sizeof error_slot()->message];
        snprintf(message, sizeof message, "%s", error_slot()->message);
        return fail_source(UF_ERR_SYNTAX, s->text, s->at, "%s", message);
    }
    s->at += status ? 0 : length;
    return status;
}

/* ---- Errors ---- */

/* The word in quotation marks, with ".." where it was cut. Characters of UTF-8 are not cut in two. */
static void token_quote(char out[TOKEN_QUOTED], const char *word, size_t length) {
    size_t most = TOKEN_QUOTED - sizeof "\"..\"", n = length < most ? length : most;
    while (n < length && n && ((unsigned char)word[n] & 0xC0) == 0x80)
        n--;
    snprintf(out, TOKEN_QUOTED, "\"%.*s%s\"", (int)n, word, n < length ? ".." : "");
}

/* What stands at a place of the text, for a message. */
static void describe(char out[TOKEN_QUOTED], const char *at) {
    size_t word = token_word(at);
    if (!*at)
        strcpy(out, "the end");
    else if (token_separates(*at))
        strcpy(out, *at == ';' ? "\";\"" : "the end of the line");
    else if (word)
        token_quote(out, at, word);
    else if (!strncmp(at, "->", 2) || !strncmp(at, "=>", 2))
        snprintf(out, TOKEN_QUOTED, "\"%.2s\"", at);
    else
        snprintf(out, TOKEN_QUOTED, *at < ' ' || *at == 0x7F ? "character 0x%02x" : "\"%c\"", (unsigned char)*at);
}

uf_status token_expected(scanner *s, const char *what) {
    char got[TOKEN_QUOTED];
    describe(got, token_next(s));
    return fail_source(UF_ERR_SYNTAX, s->text, s->at, "expected %s, got %s", what, got);
}

/* ---- Dtypes ---- */

/* What is said of types that other languages have. */
static const char *foreign_dtype(const char *word, size_t length) {
    static const struct {
        const char *name, *why;
    } foreign[] = {
        {"longdouble", "there is no long double; float64 is the widest"},
        {"float96", "there is no long double; float64 is the widest"},
        {"float128", "there is no long double; float64 is the widest"},
        {"f16", "there is no long double; float64 is the widest"},
        {"complex256", "there is no long double; complex128 is the widest"},
        {"int128", "int64 is the widest integer"},
        {"uint128", "uint64 is the widest integer"},
        {"void", "a function has an output; a kernel over indices (uf_kernel) writes to arrays among its parameters"},
        {"auto", "a function whose signatures are NULL takes any dtypes"},
    };
    for (size_t i = 0; i < COUNT(foreign); i++)
        if (strlen(foreign[i].name) == length && memcmp(foreign[i].name, word, length) == 0)
            return foreign[i].why;
    return NULL;
}

static uf_status unknown_dtype(scanner *s, const char *word, size_t length) {
    char quoted[TOKEN_QUOTED], known[DT_COUNT * 16] = "", *at = known;
    const char *why = foreign_dtype(word, length);
    nearest_word near = nearest_begin(word, length);
    token_quote(quoted, word, length);
    if (why)
        return fail_source(UF_ERR_SYNTAX, s->text, s->at, "unknown dtype %s: %s", quoted, why);
    dtype_names_try(&near);
    if (near.best)
        return fail_source(UF_ERR_SYNTAX, s->text, s->at, "unknown dtype %s; did you mean \"%.*s\"?", quoted,
                           (int)near.best_length, near.best);
    for (int t = 0; t < DT_COUNT; t++)
        at += sprintf(at, "%s%s %c", t ? ", " : "", dtypes[t].name, dtypes[t].code);
    return fail_source(UF_ERR_SYNTAX, s->text, s->at, "unknown dtype %s; the dtypes and their codes are %s", quoted,
                       known);
}

/* The dtype of C's words, of which the first one begins at s: "unsigned long long". */
static uf_status c_words_read(scanner *s, dtype *out) {
    const char *first = token_next(s);
    size_t start = s->at, end = start;
    int set = 0, word;
    bool once = true;
    while ((word = type_word_find(token_next(s), token_word(token_next(s)))) != 0) {
        once &= type_words_add(&set, word);
        end = s->at += token_word(token_next(s));
    }
    s->at = end;
    *out = once ? dtype_of_words(set) : DT_NONE;
    if (*out != DT_NONE)
        return UF_OK;
    char quoted[TOKEN_QUOTED];
    token_quote(quoted, first, end - start);
    if (set == (WORD_LONG | WORD_DOUBLE))
        return fail_source(UF_ERR_SYNTAX, s->text, start, "there is no long double; float64 is the widest");
    return fail_source(UF_ERR_SYNTAX, s->text, start, "%s is not a type of C", quoted);
}

/* A dtype behind a byte order, as NumPy writes it: "<f8". */
static uf_status ordered_read(scanner *s, dtype *out) {
    const char *order = s->text + s->at, *word = order + 1;
    size_t length = token_word(word);
    *out = dtype_of_array_name(word, length);
    if (*out == DT_NONE && length == 1)
        *out = dtype_of_code(*word);
    if (*out == DT_NONE)
        return fail_source(UF_ERR_SYNTAX, s->text, s->at,
                           "expected a dtype with a byte order as in \"<f8\", got \"%.*s\"",
                           (int)(1 + (length < 20 ? length : 20)), order);
    if (*order == '>' && dtypes[*out].size > 1)
        return fail_source(
            UF_ERR_SYNTAX, s->text, s->at,
            "\"%.*s\" is big-endian; arrays are used in the order of this machine, \"<%.*s\", so they must be "
            "converted first",
            (int)(1 + length), order, (int)length, word);
    s->at += 1 + length;
    return UF_OK;
}

uf_status token_record(scanner *s, const struct record **out) { return record_read(s, true, out); }

uf_status token_type_read(scanner *s, token_type *out) {
    const char *word = token_next(s);
    size_t length = token_word(word);
    *out = (token_type){DT_NONE, NULL};
    if (*word && strchr("<>=|", *word) && strncmp(word, "=>", 2))
        return ordered_read(s, &out->type);
    if (!length)
        return token_expected(
            s, *word == '(' ? "a dtype (operands stand without parentheses, \"float32,float32->float32\")" : "a dtype");
    if (type_word_find(word, length))
        return c_words_read(s, &out->type);
    dtype known = dtype_of_name(word, length), other = dtype_of_c_name(word, length);
    if (foreign_dtype(word, length))
        return unknown_dtype(s, word, length);
    known = known != DT_NONE ? known : other;
    other = known != DT_NONE ? known : dtype_of_array_name(word, length);
    if (known == DT_NONE)
        TRY(record_read(s, other != DT_NONE, &out->record));
    if (out->record)
        return UF_OK;
    if (other == DT_NONE)
        return unknown_dtype(s, word, length);
    out->type = other;
    s->at += length;
    return UF_OK;
}

uf_status token_expect_end(scanner *s) {
    char c = *token_next(s);
    return !c || token_separates(c) ? UF_OK : token_expected(s, "\";\", a new line or the end");
}

size_t token_count_entries(const char *source) {
    size_t n = 0;
    for (scanner s = {.text = source}; *token_next_entry(&s); n++)
        while (s.text[s.at] && !token_separates(s.text[s.at]))
            s.at++;
    return n;
}

void token_quote_entry(char out[TOKEN_QUOTED], const char *source) {
    size_t n = 0;
    while (source[n] && !token_separates(source[n]))
        n++;
    while (n && is_blank(source[n - 1]))
        n--;
    token_quote(out, source, n);
}

/* The error that the entry at `start` means the same as the one at `earlier` in the text. */
static uf_status repeated(const char *source, size_t start, const char *earlier, const char *what,
                          const char *meaning) {
    char this[TOKEN_QUOTED], that[TOKEN_QUOTED];
    int line, column;
    token_quote_entry(this, source + start);
    token_quote_entry(that, earlier);
    source_position(source, (size_t)(earlier - source), &line, &column);
    return fail_source(UF_ERR_SYNTAX, source, start, "%s %s repeats %s at %d:%d: both are %s", what, this, that, line,
                       column, meaning);
}

uf_status token_note(const char *source, size_t start, const char *what, const signature_list *one, map *seen) {
    text meaning = {0};
    signature_list_print(&meaning, one, 0);
    uf_status s = meaning.failed ? fail_memory() : UF_OK;
    const char *earlier = s ? NULL : map_get(seen, meaning.data, meaning.length);
    if (earlier)
        s = repeated(source, start, earlier, what, meaning.data);
    else if (!s && !map_put(seen, meaning.data, meaning.length, (char *)(uintptr_t)source + start))
        s = fail_memory();
    text_free(&meaning);
    return s;
}
