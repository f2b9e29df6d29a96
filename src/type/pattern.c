/* pattern.c - parameters of kernels over indices that take any dtype, those of a kind, or all the same one: "any[]", "floating[]",
 * "T[], T". A list that has them becomes one of dtypes for the arguments of each call. */
#include <stdio.h>

#include "type/type.h"

static const struct {
    const char *name;
    pattern_kind kind;
} kinds[] = {
    {"any", PATTERN_ANY}, {"integer", PATTERN_INTEGER}, {"floating", PATTERN_FLOATING}, {"complex", PATTERN_COMPLEX}};

/* A type variable begins with a capital letter. */
static bool is_variable(const char *word, size_t length) {
    nearest_word n = nearest_begin(word, length);
    for (int t = 0; t < DT_COUNT; t++)
        nearest_try_text(&n, dtypes[t].name);
    return *word >= 'A' && *word <= 'Z' && length < PATTERN_NAME && !n.best;
}

bool pattern_read(const char *word, size_t length, type_pattern *out) {
    *out = (type_pattern){.kind = PATTERN_NONE};
    for (size_t i = 0; i < COUNT(kinds); i++)
        if (strlen(kinds[i].name) == length && !memcmp(kinds[i].name, word, length))
            out->kind = (uint8_t)kinds[i].kind;
    if (out->kind == PATTERN_NONE && is_variable(word, length))
        out->kind = PATTERN_VARIABLE;
    if (out->kind != PATTERN_NONE)
        memcpy(out->name, word, length);
    return out->kind != PATTERN_NONE;
}

bool signature_has_patterns(const signature_list *list, int s) {
    for (int k = 0; list->patterns && k < list->nin; k++)
        if (list->patterns[s * list->nin + k].kind)
            return true;
    return false;
}

/* ---- Dtypes for the arguments of a call ---- */

/* One list, and what is known of its parameters so far. */
typedef struct matching {
    const type_pattern *patterns;
    const uint8_t *ranks;
    const dispatch_input *inputs;
    int n;
    bool strong;  /* numbers count by their dtypes */
    dtype arrays; /* what all arrays promote to; DT_NONE: there are none */
    dtype *types; /* by parameter: DT_NONE: it has none yet, or its argument does not fit */
} matching;

static bool kind_allows(pattern_kind kind, dtype t) {
    switch (kind) {
    case PATTERN_INTEGER:
        return dtype_is_integer(t);
    case PATTERN_FLOATING:
        return dtype_is_floating(t);
    case PATTERN_COMPLEX:
        return dtype_is_complex(t);
    default:
        return true;
    }
}

/* The dtype that a variable has by the parameters before k, or by any array. */
static dtype variable_type(const matching *m, int k) {
    for (int j = 0; j < m->n; j++)
        if (j != k && m->patterns[j].kind == PATTERN_VARIABLE && m->types[j] != DT_NONE &&
            !strcmp(m->patterns[j].name, m->patterns[k].name))
            return m->types[j];
    return DT_NONE;
}

/* The dtype of a floating or complex number beside the arrays: theirs, if that is of its kind. */
static dtype beside_arrays(const matching *m, dtype_kind kind) {
    dtype_kind arrays = m->arrays == DT_NONE ? DK_BOOL : (dtype_kind)dtypes[m->arrays].kind;
    if (kind == DK_COMPLEX)
        return arrays == DK_COMPLEX    ? m->arrays
               : arrays == DK_FLOATING ? dtype_promote(DT_COMPLEX64, m->arrays)
                                       : DT_COMPLEX128;
    return arrays == DK_FLOATING ? m->arrays : arrays == DK_COMPLEX ? (dtype)dtypes[m->arrays].component : DT_FLOAT64;
}

/* The dtype of a number for a pattern; DT_NONE: it is of a kind that the pattern does not take. */
static dtype number_type(const matching *m, int k) {
    static const dtype_kind most[] = {[PATTERN_ANY] = DK_COMPLEX,
                                      [PATTERN_INTEGER] = DK_INTEGER,
                                      [PATTERN_FLOATING] = DK_FLOATING,
                                      [PATTERN_COMPLEX] = DK_COMPLEX,
                                      [PATTERN_VARIABLE] = DK_COMPLEX};
    pattern_kind taken = (pattern_kind)m->patterns[k].kind;
    dtype own = m->inputs[k].type;
    dtype_kind kind = (dtype_kind)dtypes[own].kind;
    if (taken == PATTERN_VARIABLE && variable_type(m, k) != DT_NONE) {
        dtype bound = variable_type(m, k);
        return m->strong ? (own == bound ? own : DT_NONE) : kind <= (dtype_kind)dtypes[bound].kind ? bound : DT_NONE;
    }
    if (m->strong)
        return kind_allows(taken, own) ? own : DT_NONE;
    if (kind > most[taken])
        return DT_NONE;
    if (taken == PATTERN_INTEGER || (kind == DK_INTEGER && (taken == PATTERN_ANY || taken == PATTERN_VARIABLE)))
        return DT_INT64;
    if (kind == DK_BOOL && (taken == PATTERN_ANY || taken == PATTERN_VARIABLE))
        return DT_BOOL;
    return beside_arrays(m, taken == PATTERN_FLOATING ? DK_FLOATING : taken == PATTERN_COMPLEX ? DK_COMPLEX : kind);
}

/* The dtype of an array for a pattern; DT_NONE: it does not fit. */
static dtype array_type(const matching *m, int k) {
    const dispatch_input *in = &m->inputs[k];
    dtype bound = m->patterns[k].kind == PATTERN_VARIABLE ? variable_type(m, k) : DT_NONE;
    bool fits = !in->is_number && in->rank == m->ranks[k] && kind_allows((pattern_kind)m->patterns[k].kind, in->type);
    return fits && (bound == DT_NONE || bound == in->type) ? in->type : DT_NONE;
}

static void match(matching *m) {
    for (int pass = 0; pass < 2; pass++) /* arrays say what variables are, and numbers follow */
        for (int k = 0; k < m->n; k++) {
            if (!m->patterns[k].kind || (m->ranks[k] == 0) != (pass == 1))
                continue;
            m->types[k] = m->ranks[k] ? array_type(m, k) : m->inputs[k].is_number ? number_type(m, k) : DT_NONE;
        }
}

void patterns_match(const signature_list *list, const dispatch_input *inputs, unsigned flags, dtype *types) {
    size_t n = (size_t)list->nin;
    matching m = {.inputs = inputs, .n = list->nin, .strong = flags & UF_STRONG_NUMBERS, .arrays = DT_NONE};
    for (int k = 0; k < m.n; k++)
        if (!inputs[k].is_number)
            m.arrays = m.arrays == DT_NONE ? inputs[k].type : dtype_promote(m.arrays, inputs[k].type);
    memcpy(types, list->types, (size_t)list->count * n * sizeof *types);
    for (int s = 0; s < list->count; s++) {
        m.patterns = list->patterns + (size_t)s * n;
        m.ranks = list->ranks + (size_t)s * n;
        m.types = types + (size_t)s * n;
        match(&m);
    }
}

void patterns_force(const signature_list *list, const dtype *forced, const uint8_t *ranks, dtype *types) {
    dispatch_input inputs[UF_MAX_OPERANDS];
    for (int k = 0; k < list->nin; k++)
        inputs[k] = (dispatch_input){.type = forced[k], .is_number = ranks[k] == 0, .rank = ranks[k]};
    patterns_match(list, inputs, UF_STRONG_NUMBERS, types);
}
