/* parameters.c - the parameters of kernels over indices: reads and writes the text of their lists, and makes the layout
 * in which arrays are operands with core dimensions, as the checker and code generation want them. */
#include <assert.h>
#include <limits.h>

#include "type/token.h"

/* ---- Writing ---- */

static char *put(char *at, const char *s) {
    size_t n = strlen(s);
    memcpy(at, s, n + 1);
    return at + n;
}

static char *put_parameter(char *at, dtype type, int rank) {
    at = put(at, dtypes[type].name);
    for (int d = 0; d < rank; d++)
        at = put(at, d ? "," : "[");
    return rank ? put(at, "]") : at;
}

void parameter_format(char buffer[PARAMETER_TEXT], dtype type, int rank) { put_parameter(buffer, type, rank); }

void parameters_format(char buffer[PARAMETERS_TEXT], const dtype *types, const uint8_t *ranks, int nparams) {
    char *at = put(buffer, "");
    for (int k = 0; k < nparams; k++)
        at = put_parameter(put(at, k ? ", " : ""), types[k], ranks[k]);
}

void signature_list_format(char buffer[ENTRY_TEXT], const signature_list *list, int s) {
    size_t first = (size_t)s * (size_t)(list->nin + list->nout);
    _Static_assert((int)ENTRY_TEXT >= (int)SIGNATURE_TEXT, "a signature is longer");
    if (list->ranks)
        parameters_format(buffer, list->types + first, list->ranks + first, list->nin);
    else
        signature_format(buffer, list->types + first, list->nin, list->nout);
}

/* ---- Reading ---- */

typedef struct parameters {
    dtype types[UF_MAX_OPERANDS];
    uint8_t ranks[UF_MAX_OPERANDS];
    int count;
} parameters;

/* rank := [ "[" { "," } "]" ] */
static uf_status read_rank(scanner *s, uint8_t *rank) {
    *rank = 0;
    size_t start = s->at;
    if (!token_take(s, "["))
        return UF_OK;
    int commas = 0;
    while (token_take(s, ","))
        commas++;
    if (!token_take(s, "]"))
        return token_expected(s, "\",\" or \"]\" (brackets hold commas alone: one less than the rank of the array)");
    if (commas >= LAYOUT_MAX_RANK)
        return fail_source(UF_ERR_SYNTAX, s->text, start, "an array of rank %d; %d is the most", commas + 1,
                           LAYOUT_MAX_RANK);
    *rank = (uint8_t)(commas + 1);
    return UF_OK;
}

static uf_status read_parameter(scanner *s, parameters *p) {
    const char *word = token_next(s);
    size_t length = token_word(word);
    dtype type = dtype_of_name(word, length);
    if (type == DT_NONE && length == 1)
        type = dtype_of_code(*word);
    if (!length)
        return token_expected(s, "a dtype");
    if (type == DT_NONE)
        return token_unknown_dtype(s, word, length);
    if (p->count == UF_MAX_OPERANDS)
        return fail_source(UF_ERR_SYNTAX, s->text, s->at, "expected at most %d parameters, got more", UF_MAX_OPERANDS);
    s->at += length;
    p->types[p->count] = type;
    return read_rank(s, &p->ranks[p->count++]);
}

static uf_status read_list(scanner *s, parameters *p) {
    p->count = 0;
    do
        TRY(read_parameter(s, p));
    while (token_take(s, ","));
    if (!strncmp(token_next(s), "->", 2))
        return fail_source(UF_ERR_SYNTAX, s->text, s->at,
                           "a kernel over indices has no outputs; it writes to arrays among its parameters");
    return token_expect_end(s);
}

uf_status parameter_list_parse(const char *source, dtype types[UF_MAX_OPERANDS], uint8_t ranks[UF_MAX_OPERANDS],
                               int *nparams) {
    scanner s = {source, 0};
    parameters p = {.count = 0};
    if (*token_next_entry(&s))
        TRY(read_list(&s, &p));
    if (*token_next_entry(&s))
        return token_expected(&s, "one parameter list");
    memcpy(types, p.types, (size_t)p.count * sizeof *types);
    memcpy(ranks, p.ranks, (size_t)p.count * sizeof *ranks);
    *nparams = p.count;
    return UF_OK;
}

/* Reads the parameter list at s and adds it. seen: from the canonical spelling of a list to where it starts in the
 * text. */
static uf_status read_row(scanner *s, arena *a, size_t most, map *seen, signature_list *list) {
    parameters p;
    char meaning[PARAMETERS_TEXT];
    size_t start = s->at;
    TRY(read_list(s, &p));
    size_t n = (size_t)p.count;
    if (!list->count) {
        list->nin = p.count;
        list->types = arena_alloc(a, most * n * sizeof *list->types);
        list->ranks = arena_alloc(a, most * n);
        if (!list->types || !list->ranks)
            return UF_ERR_MEMORY;
    } else if (p.count != list->nin) {
        return fail_source(UF_ERR_SYNTAX, s->text, start, "a list of %d parameter%s, where the first one has %d",
                           p.count, p.count == 1 ? "" : "s", list->nin);
    }
    parameters_format(meaning, p.types, p.ranks, p.count);
    const char *earlier = map_get(seen, meaning, strlen(meaning));
    if (earlier)
        return token_repeated(s->text, start, earlier, "the list", meaning);
    if (!map_put(seen, meaning, strlen(meaning), (char *)s->text + start))
        return fail_memory();
    assert((size_t)list->count < most); /* so many rows were allocated */
    memcpy(list->types + (size_t)list->count * n, p.types, n * sizeof *p.types);
    memcpy(list->ranks + (size_t)list->count++ * n, p.ranks, n);
    return UF_OK;
}

/* The single, empty list of a kernel without parameters. */
static uf_status no_parameters(arena *a, signature_list *out) {
    out->count = 1;
    out->types = arena_alloc(a, sizeof *out->types);
    out->ranks = arena_alloc(a, sizeof *out->ranks);
    return out->types && out->ranks ? UF_OK : UF_ERR_MEMORY;
}

uf_status parameters_parse(arena *a, const char *source, signature_list *out) {
    scanner s = {source, 0};
    /* The arena may jump out of read_row only when it allocates for the first list, and until then the map owns no
     * memory. */
    map seen = {0};
    uf_status status = UF_OK;
    size_t most = token_count_entries(source);
    *out = (signature_list){0};
    if (!most)
        return no_parameters(a, out);
    if (most > INT_MAX)
        return fail(UF_ERR_SYNTAX, "%zu parameter lists are too many", most);
    while (!status && *token_next_entry(&s))
        status = read_row(&s, a, most, &seen, out);
    map_free(&seen);
    if (status)
        *out = (signature_list){0};
    return status;
}

/* ---- The layout ---- */

uf_status parameters_layout(arena *a, const uint8_t *ranks, int nparams, int nindices, core_layout *out) {
    int ndims = nindices, words;
    for (int k = 0; k < nparams; k++)
        ndims += ranks[k];
    if (ndims > LAYOUT_MAX_DIMS)
        return fail(UF_ERR_SYNTAX, "%d dimensions of arrays beside %d indices; together, %d are the most",
                    ndims - nindices, nindices, LAYOUT_MAX_DIMS);
    layout_dim *dims = arena_alloc(a, (size_t)ndims * sizeof *dims);
    layout_operand *operands = arena_alloc(a, (size_t)(nparams + nindices) * sizeof *operands);
    if (!dims || !operands)
        return UF_ERR_MEMORY;
    *out = (core_layout){
        .nin = nparams + nindices, .ndims = ndims, .nindices = nindices, .dims = dims, .operands = operands};
    ndims = nindices;
    words = out->ndims;
    for (int k = 0; k < nparams + nindices; k++) {
        operands[k].rank = k < nparams ? ranks[k] : 0;
        operands[k].strides = words;
        words += operands[k].rank;
        for (int d = 0; d < operands[k].rank; d++)
            operands[k].dim[d] = (uint8_t)ndims++;
    }
    out->nparameters = words;
    return UF_OK;
}
