/* parameters.c - the parameters of kernels over indices: reads and writes the text of their lists, and makes the layout
 * in which arrays are operands with core dimensions, as the checker and code generation want them. */
#include <assert.h>
#include <limits.h>

#include "type/record.h"
#include "type/token.h"

/* ---- Writing ---- */

static char *put(char *at, const char *s) {
    size_t n = strlen(s);
    memcpy(at, s, n + 1);
    return at + n;
}

static char *put_named(char *at, const char *name, int rank) {
    at = put(at, name);
    for (int d = 0; d < rank; d++)
        at = put(at, d ? "," : "[");
    return rank ? put(at, "]") : at;
}

static char *put_parameter(char *at, dtype type, int rank) { return put_named(at, dtypes[type].name, rank); }

void parameter_format(char buffer[PARAMETER_TEXT], dtype type, int rank) { put_parameter(buffer, type, rank); }

void parameters_format(char buffer[PARAMETERS_TEXT], const dtype *types, const uint8_t *ranks, int nparams) {
    char *at = put(buffer, "");
    for (int k = 0; k < nparams; k++)
        at = put_parameter(put(at, k ? ", " : ""), types[k], ranks[k]);
}

/* A parameter by its pattern, if it has one. */
static const char *parameter_name(const signature_list *list, size_t at) {
    return list->patterns && list->patterns[at].kind ? list->patterns[at].name : dtypes[list->types[at]].name;
}

void list_parameter_format(char buffer[PARAMETER_TEXT], const signature_list *list, int s, int k) {
    size_t at = (size_t)s * (size_t)list->nin + (size_t)k;
    put_named(buffer, parameter_name(list, at), list->ranks[at]);
}

static void patterns_format(char buffer[ENTRY_TEXT], const signature_list *list, size_t first) {
    char *at = put(buffer, "");
    for (size_t k = first; k < first + (size_t)list->nin; k++)
        at = put_named(put(at, k > first ? ", " : ""), parameter_name(list, k), list->ranks[k]);
}

void signature_list_format(char buffer[ENTRY_TEXT], const signature_list *list, int s) {
    size_t first = (size_t)s * (size_t)(list->nin + list->nout);
    _Static_assert((int)ENTRY_TEXT >= (int)SIGNATURE_TEXT, "a signature is longer");
    if (signature_has_patterns(list, s))
        patterns_format(buffer, list, first);
    else if (list->ranks)
        parameters_format(buffer, list->types + first, list->ranks + first, list->nin);
    else
        signature_format(buffer, list->types + first, list->nin, list->nout);
}

bool signature_has_records(const signature_list *list, int s) {
    int n = list->nin + list->nout;
    for (int k = 0; list->records && k < n; k++)
        if (list->records[s * n + k])
            return true;
    return false;
}

/* The name of operand k of signature s, which ends in brackets if it is an array of a kernel over indices. */
static void operand_print(text *out, const signature_list *list, int s, int k) {
    int at = s * (list->nin + list->nout) + k;
    const record *r = list->records ? list->records[at] : NULL;
    text_puts(out, r ? r->name : parameter_name(list, (size_t)at));
    for (int d = 0; list->ranks && d < list->ranks[at]; d++)
        text_puts(out, d ? "," : "[");
    if (list->ranks && list->ranks[at])
        text_puts(out, "]");
}

void signature_list_print(text *out, const signature_list *list, int s) {
    text_puts(out, "");
    for (int k = 0; k < list->nin + list->nout; k++) {
        text_puts(out, k == list->nin ? "->" : k == 0 ? "" : list->ranks ? ", " : ",");
        operand_print(out, list, s, k);
    }
}

/* ---- Reading ---- */

typedef struct parameters {
    dtype types[UF_MAX_OPERANDS];
    const record *records[UF_MAX_OPERANDS];
    type_pattern patterns[UF_MAX_OPERANDS];
    uint8_t ranks[UF_MAX_OPERANDS];
    int count;
    bool dtypes_only; /* patterns are not taken */
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
    if (*token_next(s) == '[')
        return token_expected(s, "the dimensions of an array as commas, as in \"float64[,]\"");
    *rank = (uint8_t)(commas + 1);
    return UF_OK;
}

/* Is the word followed by another one, as in "complex double"? */
static bool goes_on(const char *word, size_t length) {
    scanner after = {.text = word + length};
    return token_word(token_next(&after)) > 0;
}

/* A type character, a name, or a pattern. A record hides a type variable. */
static uf_status read_type(scanner *s, const parameters *p, token_type *out, type_pattern *of) {
    const char *word = token_next(s);
    size_t length = token_word(word);
    *of = (type_pattern){.kind = PATTERN_NONE};
    *out = (token_type){length == 1 ? dtype_of_code(*word) : DT_NONE, NULL};
    if (out->type == DT_NONE && !p->dtypes_only && !goes_on(word, length) && pattern_read(word, length, of)) {
        if (of->kind == PATTERN_VARIABLE && s->records)
            TRY(token_record(s, &out->record));
        if (out->record)
            *of = (type_pattern){.kind = PATTERN_NONE};
        else
            s->at += length;
        return UF_OK;
    }
    s->at += out->type != DT_NONE;
    return out->type != DT_NONE ? UF_OK : token_type_read(s, out);
}

static uf_status read_parameter(scanner *s, parameters *p) {
    token_type t;
    token_next(s);
    size_t start = s->at;
    type_pattern of;
    TRY(read_type(s, p, &t, &of));
    if (p->count == UF_MAX_OPERANDS)
        return fail_source(UF_ERR_SYNTAX, s->text, start, "expected at most %d parameters, got more", UF_MAX_OPERANDS);
    if (*token_next(s) == '*')
        return token_expected(s, "\"[]\" behind the dtype of an array");
    p->patterns[p->count] = of;
    p->records[p->count] = t.record;
    p->types[p->count] = t.type;
    return read_rank(s, &p->ranks[p->count++]);
}

static uf_status read_list(scanner *s, parameters *p) {
    p->count = 0;
    do
        TRY(read_parameter(s, p));
    while (token_take(s, ","));
    for (int k = 0; k < p->count; k++)
        for (int j = 0; j < p->count && p->records[k]; j++)
            if (p->patterns[j].kind)
                return fail_source(UF_ERR_SYNTAX, s->text, s->at,
                                   "a list with a record, %s, names dtypes, and not \"%s\"", p->records[k]->name,
                                   p->patterns[j].name);
    if (!strncmp(token_next(s), "->", 2))
        return fail_source(UF_ERR_SYNTAX, s->text, s->at,
                           "a kernel over indices has no outputs; it writes to arrays among its parameters");
    return token_expect_end(s);
}

uf_status parameter_list_parse(const char *source, dtype types[UF_MAX_OPERANDS], uint8_t ranks[UF_MAX_OPERANDS],
                               int *nparams) {
    scanner s = {.text = source};
    parameters p = {.count = 0, .dtypes_only = true};
    if (*token_next_entry(&s))
        TRY(read_list(&s, &p));
    if (*token_next_entry(&s))
        return token_expected(&s, "one parameter list");
    memcpy(types, p.types, (size_t)p.count * sizeof *types);
    memcpy(ranks, p.ranks, (size_t)p.count * sizeof *ranks);
    *nparams = p.count;
    return UF_OK;
}

/* Checks that no list is the same as the one that starts at `start`. */
static uf_status row_note(const char *source, size_t start, const parameters *p, map *seen) {
    signature_list one = {.count = 1, .nin = p->count};
    one.types = (dtype *)(uintptr_t)p->types;
    one.records = (const record **)(uintptr_t)p->records;
    one.patterns = p->patterns;
    one.ranks = (uint8_t *)(uintptr_t)p->ranks;
    return token_note(source, start, "the list", &one, seen);
}

/* Reads the parameter list at s and adds it. */
static uf_status read_row(scanner *s, arena *a, size_t most, map *seen, signature_list *list) {
    parameters p = {.count = 0};
    size_t start = s->at;
    TRY(read_list(s, &p));
    size_t n = (size_t)p.count;
    if (!list->count) {
        list->nin = p.count;
        list->types = arena_alloc(a, most * n * sizeof *list->types);
        list->ranks = arena_alloc(a, most * n);
        list->records = s->records ? arena_alloc(a, most * n * sizeof *list->records) : NULL;
        list->patterns = arena_alloc(a, most * n * sizeof *list->patterns);
        if (!list->types || !list->ranks || !list->patterns || (s->records && !list->records))
            return UF_ERR_MEMORY;
    } else if (p.count != list->nin) {
        return fail_source(UF_ERR_SYNTAX, s->text, start, "a list of %d parameter%s, where the first one has %d",
                           p.count, p.count == 1 ? "" : "s", list->nin);
    }
    TRY(row_note(s->text, start, &p, seen));
    assert((size_t)list->count < most); /* so many rows were allocated */
    memcpy(list->types + (size_t)list->count * n, p.types, n * sizeof *p.types);
    memcpy((type_pattern *)(uintptr_t)list->patterns + (size_t)list->count * n, p.patterns, n * sizeof *p.patterns);
    if (list->records)
        memcpy(list->records + (size_t)list->count * n, p.records, n * sizeof *p.records);
    memcpy(list->ranks + (size_t)list->count++ * n, p.ranks, n);
    return UF_OK;
}

/* The single, empty list of a kernel without parameters. */
static uf_status no_parameters(arena *a, signature_list *out) {
    out->count = 1;
    out->types = arena_alloc(a, sizeof *out->types);
    out->ranks = arena_alloc(a, sizeof *out->ranks);
    out->patterns = arena_alloc(a, sizeof *out->patterns);
    return out->types && out->ranks && out->patterns ? UF_OK : UF_ERR_MEMORY;
}

uf_status parameters_parse(arena *a, const char *source, const record_lookup *records, signature_list *out) {
    scanner s = {.text = source, .records = records};
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

uf_status layout_expand(arena *a, const core_layout *from, const int *leaves, core_layout *out) {
    int n = 0, words = from->ndims, count[2] = {0, 0};
    for (int k = 0; k < from->nin + from->nout; k++) {
        count[k >= from->nin] += leaves[k];
        n += leaves[k];
    }
    layout_operand *operands = arena_alloc(a, (size_t)n * sizeof *operands), *to = operands;
    if (!operands)
        return UF_ERR_MEMORY;
    for (int k = 0; k < from->nin + from->nout; k++)
        for (int i = 0; i < leaves[k]; i++, to++) {
            *to = from->operands[k];
            to->strides = words;
            words += to->rank;
        }
    *out = *from;
    out->nin = count[0];
    out->nout = count[1];
    out->nparameters = words;
    out->operands = operands;
    return UF_OK;
}

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
