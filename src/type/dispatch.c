/* dispatch.c - which signature of a list a call's inputs select. Input: dtypes, and which of them are numbers.
 * A signature matches when every input fits its operand: an array by casting, a weak number by kind alone. Values
 * choose nothing, so that one choice holds for every call with the same dtypes; an integer that its dtype cannot hold
 * is an error afterwards. Nothing is allocated. */
#include <inttypes.h>
#include <stdio.h>

#include "type/type.h"

typedef struct request {
    const char *name;
    const signature_list *list;
    const dispatch_input *inputs;
    uf_casting rule; /* by which arrays and strong numbers match */
    bool weak;       /* numbers count by kind */
    int nindices;    /* of kernels over indices, whose lists have ranks: those that take part */
} request;

static const dtype *signature_at(const request *r, int s) {
    return r->list->types + (size_t)s * (size_t)(r->list->nin + r->list->nout);
}

/* ---- Matching ---- */

static int rank_at(const request *r, int s, int k) {
    return r->list->ranks[(size_t)s * (size_t)r->list->nin + (size_t)k];
}

static bool is_candidate(const request *r, int s) { return !r->list->ranks || r->list->indices[s] == r->nindices; }

static bool is_weak(const request *r, int k) { return r->weak && r->inputs[k].is_number; }

/* Kernels over indices use arrays in place, with no rule to cast them by: is input k, or what it is to be, one? */
static bool in_place(const request *r, int s, int k) {
    return r->list->ranks && (rank_at(r, s, k) || !r->inputs[k].is_number);
}

static bool fits(const request *r, int s, int k) {
    dtype from = r->inputs[k].type, to = signature_at(r, s)[k];
    if (in_place(r, s, k))
        return !r->inputs[k].is_number && rank_at(r, s, k) && r->inputs[k].rank == rank_at(r, s, k) && from == to;
    if (is_weak(r, k))
        return dtypes[from].kind <= dtypes[to].kind || r->rule == UF_CAST_UNSAFE;
    return dtype_can_cast(from, to, r->rule);
}

/* The first input that does not fit signature s, or -1: the signature matches. */
static int misfit(const request *r, int s) {
    for (int k = 0; k < r->list->nin; k++)
        if (!fits(r, s, k))
            return k;
    return -1;
}

static bool matches(const request *r, int s) { return is_candidate(r, s) && misfit(r, s) < 0; }

static bool all_cast(const dtype *from, const dtype *to, int n) {
    for (int k = 0; k < n; k++)
        if (!dtype_can_cast(from[k], to[k], UF_CAST_SAFE))
            return false;
    return true;
}

/* A strict order: casting safely is transitive. */
static bool narrower(const request *r, int a, int b) {
    const dtype *x = signature_at(r, a), *y = signature_at(r, b);
    int n = r->list->nin;
    return all_cast(x, y, n) && !all_cast(y, x, n);
}

static bool has_narrower_match(const request *r, int s) {
    for (int t = 0; t < r->list->count; t++)
        if (narrower(r, t, s) && matches(r, t))
            return true;
    return false;
}

static int kind_changes(const request *r, int s) {
    const dtype *types = signature_at(r, s);
    int n = 0;
    for (int k = 0; k < r->list->nin; k++)
        n += dtypes[r->inputs[k].type].kind != dtypes[types[k]].kind;
    return n;
}

/* ---- Choosing; -1: no match ---- */

static int first_match(const request *r) {
    for (int s = 0; s < r->list->count; s++)
        if (matches(r, s))
            return s;
    return -1;
}

static int narrowest_match(const request *r) {
    int best = -1, fewest = 0;
    for (int s = 0; s < r->list->count; s++) {
        if (!matches(r, s))
            continue;
        int changes = kind_changes(r, s);
        if (best >= 0 && changes >= fewest)
            continue;
        if (has_narrower_match(r, s))
            continue;
        best = s;
        fewest = changes;
    }
    return best;
}

/* A signature's own text. */
typedef struct wanted {
    dtype types[UF_MAX_OPERANDS];
    uint8_t ranks[UF_MAX_OPERANDS]; /* of kernels over indices */
    int nin, nout;
} wanted;

static int find_signature(const request *r, const wanted *w) {
    const signature_list *list = r->list;
    size_t n = (size_t)(list->nin + list->nout);
    if (w->nin != list->nin || w->nout != list->nout)
        return -1;
    for (int s = 0; s < list->count; s++)
        if (is_candidate(r, s) && !memcmp(signature_at(r, s), w->types, n * sizeof *w->types) &&
            (!list->ranks || !memcmp(list->ranks + (size_t)s * n, w->ranks, n)))
            return s;
    return -1;
}

/* ---- Errors ---- */

static const char *const kind_names[] = {
    [DK_BOOL] = "a bool number",
    [DK_INTEGER] = "an integer number",
    [DK_FLOATING] = "a floating number",
    [DK_COMPLEX] = "a complex number",
};

static const char *const refusals[] = {
    [UF_CAST_NO] = "is not",
    [UF_CAST_EQUIV] = "is not",
    [UF_CAST_SAFE] = "does not cast safely to",
    [UF_CAST_SAME_KIND] = "does not cast under same_kind to",
    [UF_CAST_UNSAFE] = "does not cast to",
};

enum {
    INPUT_TEXT = PARAMETER_TEXT + sizeof " of rank -2147483648" /* an input of a call */
};

static const char *input_name(const request *r, int k, char out[INPUT_TEXT]) {
    const dispatch_input *in = &r->inputs[k];
    const dtype_info *type = &dtypes[in->type];
    if (is_weak(r, k))
        return kind_names[type->kind];
    if (!r->list->ranks || in->is_number)
        return type->name;
    if (in->rank < 1 || in->rank > LAYOUT_MAX_RANK)
        snprintf(out, INPUT_TEXT, "%s of rank %d", type->name, in->rank);
    else
        parameter_format(out, in->type, in->rank);
    return out;
}

enum {
    LIST_TEXT = 2400,                                     /* of signatures in one message */
    LINE_TEXT = ENTRY_TEXT + 128,                         /* one of them */
    INPUTS_TEXT = UF_MAX_OPERANDS * ((int)INPUT_TEXT + 2) /* a call's inputs */
};

/* A line for signature s, and why it does not match where it does not. */
static size_t format_signature(const request *r, int s, char line[LINE_TEXT]) {
    char types[ENTRY_TEXT], in[INPUT_TEXT], needed[PARAMETER_TEXT];
    int k = misfit(r, s), length;
    signature_list_format(types, r->list, s);
    if (!is_candidate(r, s))
        length = snprintf(line, LINE_TEXT, "\n  %s: over %d ind%s", types, r->list->indices[s],
                          r->list->indices[s] == 1 ? "ex" : "ices");
    else if (k < 0)
        length = snprintf(line, LINE_TEXT, "\n  %s", types);
    else if (in_place(r, s, k)) {
        parameter_format(needed, signature_at(r, s)[k], rank_at(r, s, k));
        length = snprintf(line, LINE_TEXT, "\n  %s: argument %d is %s, which is not %s%s", types, k,
                          input_name(r, k, in), rank_at(r, s, k) ? "" : "a number: ", needed);
    } else
        length = snprintf(line, LINE_TEXT, "\n  %s: argument %d is %s, which %s %s", types, k, input_name(r, k, in),
                          refusals[r->rule], dtypes[signature_at(r, s)[k]].name);
    return (size_t)length;
}

/* All signatures, a line each, cut where the message would overflow. */
static void format_list(const request *r, char out[LIST_TEXT]) {
    char line[LINE_TEXT];
    size_t used = 0;
    out[0] = 0;
    for (int s = 0; s < r->list->count; s++) {
        size_t length = format_signature(r, s, line);
        if (used + length + sizeof "\n  .. and 2147483647 more" > LIST_TEXT) {
            snprintf(out + used, LIST_TEXT - used, "\n  .. and %d more", r->list->count - s);
            return;
        }
        memcpy(out + used, line, length + 1);
        used += length;
    }
}

static uf_status no_match(const request *r) {
    char inputs[INPUTS_TEXT] = "", list[LIST_TEXT], in[INPUT_TEXT];
    size_t used = 0;
    for (int k = 0; k < r->list->nin; k++)
        used += (size_t)snprintf(inputs + used, sizeof inputs - used, "%s%s", k ? ", " : "", input_name(r, k, in));
    format_list(r, list);
    if (r->list->ranks)
        return fail(UF_ERR_SIGNATURE, "%s: no parameter list matches the arguments (%s)%s", r->name, inputs, list);
    return fail(UF_ERR_SIGNATURE, "%s: no signature matches the inputs (%s)%s", r->name, inputs, list);
}

static uf_status not_in_list(const request *r, const wanted *w) {
    char spelled[ENTRY_TEXT], list[LIST_TEXT];
    if (r->list->ranks)
        parameters_format(spelled, w->types, w->ranks, w->nin);
    else
        signature_format(spelled, w->types, w->nin, w->nout);
    format_list(r, list);
    return fail(UF_ERR_SIGNATURE, "%s: the %s asked for, %s, is not in its list%s", r->name,
                r->list->ranks ? "parameter list" : "signature", spelled, list);
}

static uf_status forced_misfit(const request *r, int s, int k) {
    char types[ENTRY_TEXT], in[INPUT_TEXT], needed[PARAMETER_TEXT];
    signature_list_format(types, r->list, s);
    if (!in_place(r, s, k))
        return fail_argument(UF_ERR_CAST, k, -1, "%s %s %s, as the signature asked for (%s) of %s needs",
                             input_name(r, k, in), refusals[r->rule], dtypes[signature_at(r, s)[k]].name, types,
                             r->name);
    parameter_format(needed, signature_at(r, s)[k], rank_at(r, s, k));
    return fail_argument(UF_ERR_SIGNATURE, k, -1, "is %s, but the parameter list asked for (%s) of %s has %s%s",
                         input_name(r, k, in), types, r->name, rank_at(r, s, k) ? "" : "a number: ", needed);
}

static uf_status value_misfit(const request *r, int s, int k) {
    char types[ENTRY_TEXT], value[24];
    number n = r->inputs[k].value;
    if (dtypes[n.type].is_signed)
        snprintf(value, sizeof value, "%" PRId64, n.as.i);
    else
        snprintf(value, sizeof value, "%" PRIu64, n.as.u);
    signature_list_format(types, r->list, s);
    return fail_argument(UF_ERR_CAST, k, -1, "%s does not fit %s, its dtype in %s %s of %s", value,
                         dtypes[signature_at(r, s)[k]].name, r->list->ranks ? "the parameter list" : "signature", types,
                         r->name);
}

/* ---- The stages of a dispatch ---- */

static bool numbers_are_weak(const signature_list *list, const dispatch_input *inputs, unsigned flags) {
    bool arrays = false;
    for (int k = 0; k < list->nin; k++)
        arrays |= !inputs[k].is_number;
    return arrays && !(flags & UF_STRONG_NUMBERS);
}

static uf_status choose(request *r, unsigned flags, uf_casting casting, int *chosen) {
    r->rule = casting == UF_CAST_NO || casting == UF_CAST_EQUIV ? casting : UF_CAST_SAFE;
    *chosen = flags & UF_FIRST_MATCH ? first_match(r) : narrowest_match(r);
    return *chosen < 0 ? no_match(r) : UF_OK;
}

static uf_status force(request *r, uf_casting casting, const char *forced, int *chosen) {
    wanted w = {.nout = 0};
    r->rule = casting == UF_CAST_DEFAULT ? UF_CAST_SAME_KIND : casting;
    TRY(r->list->ranks ? parameter_list_parse(forced, w.types, w.ranks, &w.nin)
                       : signature_parse(forced, w.types, &w.nin, &w.nout));
    *chosen = find_signature(r, &w);
    if (*chosen < 0)
        return not_in_list(r, &w);
    int k = misfit(r, *chosen);
    return k < 0 ? UF_OK : forced_misfit(r, *chosen, k);
}

static uf_status check_values(const request *r, int s) {
    for (int k = 0; k < r->list->nin; k++)
        if (is_weak(r, k) && !number_fits(r->inputs[k].value, signature_at(r, s)[k]))
            return value_misfit(r, s, k);
    return UF_OK;
}

static uf_status decide(request *r, unsigned flags, uf_casting casting, const char *forced, int *chosen) {
    r->weak = numbers_are_weak(r->list, r->inputs, flags);
    TRY(forced ? force(r, casting, forced, chosen) : choose(r, flags, casting, chosen));
    return check_values(r, *chosen);
}

uf_status dispatch(const char *name, const signature_list *list, const dispatch_input *inputs, unsigned flags,
                   uf_casting casting, const char *forced, int *chosen) {
    return decide(&(request){.name = name, .list = list, .inputs = inputs}, flags, casting, forced, chosen);
}

uf_status dispatch_kernel(const char *name, const signature_list *list, int nindices, const dispatch_input *inputs,
                          unsigned flags, const char *forced, int *chosen) {
    return decide(&(request){.name = name, .list = list, .inputs = inputs, .nindices = nindices}, flags,
                  UF_CAST_DEFAULT, forced, chosen);
}
