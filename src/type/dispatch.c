/* dispatch.c - which signature of a list the inputs of a call select, from their dtypes and from which of them are
 * numbers.
 *
 * A signature matches if every input fits its operand: an array by casting, a weak number by its kind or as the dtype
 * that it counts as. Values do not take part in the choice, so that it holds for every call with the same dtypes. There
 * is one exception: if the chosen dtype of a weak integer does not hold its value, another signature serves whose
 * dtypes hold it, provided that its outputs have the same dtypes; otherwise the call is an error. Nothing is
 * allocated. */
#include <inttypes.h>
#include <stdio.h>

#include "type/type.h"

typedef struct request {
    const char *name;
    const signature_list *list;
    const dispatch_input *inputs;
    uf_casting rule;               /* the casting rule by which inputs match */
    bool weak;                     /* numbers are weak: they do not count as their own dtypes */
    int nindices;                  /* of kernels over indices: signatures with another number of indices take no part */
    dtype counts[UF_MAX_OPERANDS]; /* what each input counts as; DT_NONE: a weak number, by its kind alone */
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

/* Kernels over indices use arrays in place, and no rule casts those. Is input k, or the parameter for it, an array of
 * such a kernel? */
static bool in_place(const request *r, int s, int k) {
    return r->list->ranks && (rank_at(r, s, k) || !r->inputs[k].is_number);
}

static bool fits(const request *r, int s, int k) {
    dtype from = r->inputs[k].type, to = signature_at(r, s)[k];
    if (to == DT_NONE)
        return false; /* a pattern that the argument does not match */
    if (in_place(r, s, k))
        return !r->inputs[k].is_number && rank_at(r, s, k) && r->inputs[k].rank == rank_at(r, s, k) && from == to;
    if (r->counts[k] == DT_NONE)
        return dtypes[from].kind <= dtypes[to].kind || r->rule == UF_CAST_UNSAFE;
    return dtype_can_cast(r->counts[k], to, r->rule);
}

/* The first input that does not fit signature s; -1: all fit, the signature matches. */
static int misfit(const request *r, int s) {
    for (int k = 0; k < r->list->nin; k++)
        if (!fits(r, s, k))
            return k;
    return -1;
}

static bool matches(const request *r, int s) { return is_candidate(r, s) && misfit(r, s) < 0; }

static bool all_cast(const dtype *from, const dtype *to, int n) {
    for (int k = 0; k < n; k++)
        if (from[k] == DT_NONE || to[k] == DT_NONE || !dtype_can_cast(from[k], to[k], UF_CAST_SAFE))
            return false;
    return true;
}

/* Is signature a narrower than b? A strict partial order, since casting safely is transitive. */
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

static int pick(const request *r, unsigned flags) {
    return flags & UF_FIRST_MATCH ? first_match(r) : narrowest_match(r);
}

/* A forced signature, as its text says it. */
typedef struct wanted {
    dtype types[UF_MAX_OPERANDS];
    uint8_t ranks[UF_MAX_OPERANDS]; /* of a kernel over indices */
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
    INPUT_TEXT = PARAMETER_TEXT + sizeof "a floating number (complex128)" /* one input, as messages name it */
};

static const char *input_name(const request *r, int k, char out[INPUT_TEXT]) {
    const dispatch_input *in = &r->inputs[k];
    const dtype_info *type = &dtypes[in->type];
    if (is_weak(r, k)) {
        dtype counts = r->counts[k];
        snprintf(out, INPUT_TEXT, counts == DT_NONE ? "%s" : "%s (%s)", kind_names[type->kind],
                 counts == DT_NONE ? "" : dtypes[counts].name);
        return out;
    }
    if (!r->list->ranks || in->is_number)
        return type->name;
    if (in->rank < 1 || in->rank > LAYOUT_MAX_RANK)
        snprintf(out, INPUT_TEXT, "%s of rank %d", type->name, in->rank);
    else
        parameter_format(out, in->type, in->rank);
    return out;
}

enum {
    LIST_TEXT = 2400,                                     /* all signatures in one message */
    LINE_TEXT = ENTRY_TEXT + 128,                         /* one signature */
    INPUTS_TEXT = UF_MAX_OPERANDS * ((int)INPUT_TEXT + 2) /* all inputs of a call */
};

/* Writes a line about signature s, with the reason why it does not match, if it does not. */
static size_t format_signature(const request *r, int s, char line[LINE_TEXT]) {
    char types[ENTRY_TEXT], in[INPUT_TEXT], needed[PARAMETER_TEXT];
    int k = misfit(r, s), length;
    signature_list_format(types, r->list, s);
    if (!is_candidate(r, s))
        length = snprintf(line, LINE_TEXT, "\n  %s: over %d ind%s", types, r->list->indices[s],
                          r->list->indices[s] == 1 ? "ex" : "ices");
    else if (k < 0)
        length = snprintf(line, LINE_TEXT, "\n  %s", types);
    else if (in_place(r, s, k) || signature_at(r, s)[k] == DT_NONE) {
        list_parameter_format(needed, r->list, s, k);
        length = snprintf(line, LINE_TEXT, "\n  %s: argument %d is %s, which is not %s%s", types, k,
                          input_name(r, k, in), rank_at(r, s, k) ? "" : "a number: ", needed);
    } else
        length = snprintf(line, LINE_TEXT, "\n  %s: argument %d is %s, which %s %s", types, k, input_name(r, k, in),
                          refusals[r->rule], dtypes[signature_at(r, s)[k]].name);
    return (size_t)length;
}

/* Writes all signatures, a line each, and cuts the list where the message would overflow. */
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
    dtype to = signature_at(r, s)[k];
    if (!in_place(r, s, k))
        return fail_argument(UF_ERR_CAST, k, -1,
                             "%s %s %s, as the signature asked for (%s) of %s needs; the rule %s allows it",
                             input_name(r, k, in), refusals[r->rule], dtypes[to].name, types, r->name,
                             casting_name(casting_least(r->inputs[k].type, to)));
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

/* ---- What inputs count as ---- */

/* NumPy ranks the kinds of numbers like this, complex as high as floating, and gives each a default dtype. ORDER
 * dtype_kind */
static const struct {
    int rank;
    dtype type;
} defaults[] = {
    [DK_BOOL] = {0, DT_BOOL},
    [DK_INTEGER] = {1, DT_INT64},
    [DK_FLOATING] = {2, DT_FLOAT64},
    [DK_COMPLEX] = {2, DT_COMPLEX128},
};

dtype number_counts_as(dtype type, dtype_kind arrays) {
    dtype_kind kind = dtypes[type].kind;
    return defaults[kind].rank > defaults[arrays].rank ? defaults[kind].type : DT_NONE;
}

static bool numbers_are_weak(const signature_list *list, const dispatch_input *inputs, unsigned flags) {
    bool arrays = false;
    for (int k = 0; k < list->nin; k++)
        arrays |= !inputs[k].is_number;
    return (arrays || flags & DISPATCH_BY_KIND) && !(flags & UF_STRONG_NUMBERS);
}

/* Weak numbers count by their kinds alone, all other inputs as their dtypes. */
static void count_by_kind(request *r) {
    for (int k = 0; k < r->list->nin; k++)
        r->counts[k] = is_weak(r, k) ? DT_NONE : r->inputs[k].type;
}

/* NumPy's rule: weak numbers whose kind is more general than that of every array count as the default dtype of their
 * kind. */
static void count_beside_arrays(request *r) {
    dtype_kind arrays = DK_BOOL;
    count_by_kind(r);
    for (int k = 0; k < r->list->nin; k++)
        if (!r->inputs[k].is_number && dtypes[r->inputs[k].type].kind > arrays)
            arrays = dtypes[r->inputs[k].type].kind;
    for (int k = 0; k < r->list->nin; k++)
        if (is_weak(r, k))
            r->counts[k] = number_counts_as(r->inputs[k].type, arrays);
}

/* ---- A choice, by the list or forced ---- */

/* A kernel over indices uses arrays in place, so that mostly a single list has those of the call. If no list of it
 * takes the numbers as the dtypes that they count as, they are converted to what the list has, as the arguments of a C
 * function are. */
static uf_status choose(request *r, unsigned flags, uf_casting casting, int *chosen) {
    r->rule = casting == UF_CAST_NO || casting == UF_CAST_EQUIV ? casting : UF_CAST_SAFE;
    if (flags & DISPATCH_BY_KIND)
        count_by_kind(r);
    else
        count_beside_arrays(r);
    *chosen = pick(r, flags);
    if (*chosen < 0 && r->list->ranks) {
        count_by_kind(r);
        *chosen = pick(r, flags);
    }
    return *chosen < 0 ? no_match(r) : UF_OK;
}

static uf_status force(request *r, uf_casting casting, const char *forced, int *chosen) {
    wanted w = {.nout = 0};
    r->rule = casting == UF_CAST_DEFAULT ? UF_CAST_SAME_KIND : casting;
    count_by_kind(r);
    TRY(fail_named(r->list->ranks ? parameter_list_parse(forced, w.types, w.ranks, &w.nin)
                                  : signature_parse(forced, w.types, &w.nin, &w.nout),
                   "signature of the options"));
    *chosen = find_signature(r, &w);
    if (*chosen < 0)
        return not_in_list(r, &w);
    int k = misfit(r, *chosen);
    return k < 0 ? UF_OK : forced_misfit(r, *chosen, k);
}

/* Does the dtype that signature s has for input k hold its value? Only of weak numbers is that asked; and not under a
 * forced signature with the rule unsafe, which lets numbers wrap as it does the elements of arrays. */
static bool is_held(const request *r, int s, int k) {
    return !is_weak(r, k) || r->rule == UF_CAST_UNSAFE || number_fits(r->inputs[k].value, signature_at(r, s)[k]);
}

/* The first number whose value signature s does not hold; -1: there is none. */
static int first_not_held(const request *r, int s) {
    for (int k = 0; k < r->list->nin; k++)
        if (!is_held(r, s, k))
            return k;
    return -1;
}

static bool same_outputs(const request *r, int s, int t) {
    return !memcmp(signature_at(r, s) + r->list->nin, signature_at(r, t) + r->list->nin,
                   (size_t)r->list->nout * sizeof(dtype));
}

/* The signature that is chosen when the numbers that signature s does not hold count as dtypes that hold them; -1:
 * there is none that has the same outputs, which a value must not change. */
static int pick_holding(const request *r, int s, unsigned flags) {
    request held = *r;
    for (int k = 0; k < r->list->nin; k++)
        if (!is_held(r, s, k))
            held.counts[k] = number_holder(r->inputs[k].value);
    int t = pick(&held, flags);
    return t >= 0 && same_outputs(r, s, t) && first_not_held(r, t) < 0 ? t : -1;
}

static uf_status decide(request *r, unsigned flags, uf_casting casting, const char *forced, int *chosen) {
    r->weak = numbers_are_weak(r->list, r->inputs, flags);
    TRY(forced ? force(r, casting, forced, chosen) : choose(r, flags, casting, chosen));
    int k = first_not_held(r, *chosen);
    if (k < 0)
        return UF_OK;
    int holding = forced ? -1 : pick_holding(r, *chosen, flags);
    if (holding < 0)
        return value_misfit(r, *chosen, k);
    *chosen = holding;
    return UF_OK;
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
