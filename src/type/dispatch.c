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
} request;

static const dtype *signature_at(const request *r, int s) {
    return r->list->types + (size_t)s * (size_t)(r->list->nin + r->list->nout);
}

/* ---- Matching ---- */

static bool is_weak(const request *r, int k) { return r->weak && r->inputs[k].is_number; }

static bool fits(const request *r, int k, dtype to) {
    dtype from = r->inputs[k].type;
    if (is_weak(r, k))
        return dtypes[from].kind <= dtypes[to].kind || r->rule == UF_CAST_UNSAFE;
    return dtype_can_cast(from, to, r->rule);
}

/* The first input that does not fit signature s, or -1: the signature matches. */
static int misfit(const request *r, int s) {
    const dtype *types = signature_at(r, s);
    for (int k = 0; k < r->list->nin; k++)
        if (!fits(r, k, types[k]))
            return k;
    return -1;
}

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
        if (narrower(r, t, s) && misfit(r, t) < 0)
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
        if (misfit(r, s) < 0)
            return s;
    return -1;
}

static int narrowest_match(const request *r) {
    int best = -1, fewest = 0;
    for (int s = 0; s < r->list->count; s++) {
        if (misfit(r, s) >= 0)
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

static int find_signature(const request *r, const dtype *types, int nin, int nout) {
    const signature_list *list = r->list;
    if (nin != list->nin || nout != list->nout)
        return -1;
    for (int s = 0; s < list->count; s++)
        if (!memcmp(signature_at(r, s), types, (size_t)(nin + nout) * sizeof *types))
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

static const char *input_name(const request *r, int k) {
    const dtype_info *type = &dtypes[r->inputs[k].type];
    return is_weak(r, k) ? kind_names[type->kind] : type->name;
}

enum {
    LIST_TEXT = 2400,                  /* of signatures in one message */
    LINE_TEXT = SIGNATURE_TEXT + 128,  /* one of them */
    INPUTS_TEXT = UF_MAX_OPERANDS * 20 /* a call's inputs */
};

/* A line for signature s, and why it does not match where it does not. */
static size_t format_signature(const request *r, int s, char line[LINE_TEXT]) {
    char types[SIGNATURE_TEXT];
    int k = misfit(r, s);
    signature_format(types, signature_at(r, s), r->list->nin, r->list->nout);
    if (k < 0)
        return (size_t)snprintf(line, LINE_TEXT, "\n  %s", types);
    return (size_t)snprintf(line, LINE_TEXT, "\n  %s: argument %d is %s, which %s %s", types, k, input_name(r, k),
                            refusals[r->rule], dtypes[signature_at(r, s)[k]].name);
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
    char inputs[INPUTS_TEXT] = "", list[LIST_TEXT];
    size_t used = 0;
    for (int k = 0; k < r->list->nin; k++)
        used += (size_t)snprintf(inputs + used, sizeof inputs - used, "%s%s", k ? ", " : "", input_name(r, k));
    format_list(r, list);
    return fail(UF_ERR_SIGNATURE, "%s: no signature matches the inputs (%s)%s", r->name, inputs, list);
}

static uf_status not_in_list(const request *r, const dtype *types, int nin, int nout) {
    char wanted[SIGNATURE_TEXT], list[LIST_TEXT];
    signature_format(wanted, types, nin, nout);
    format_list(r, list);
    return fail(UF_ERR_SIGNATURE, "%s: the signature asked for, %s, is not in its list%s", r->name, wanted, list);
}

static uf_status forced_misfit(const request *r, int s, int k) {
    char types[SIGNATURE_TEXT];
    signature_format(types, signature_at(r, s), r->list->nin, r->list->nout);
    return fail_argument(UF_ERR_CAST, k, -1, "%s %s %s, as the signature asked for (%s) of %s needs", input_name(r, k),
                         refusals[r->rule], dtypes[signature_at(r, s)[k]].name, types, r->name);
}

static uf_status value_misfit(const request *r, int s, int k) {
    char types[SIGNATURE_TEXT], value[24];
    number n = r->inputs[k].value;
    if (dtypes[n.type].is_signed)
        snprintf(value, sizeof value, "%" PRId64, n.as.i);
    else
        snprintf(value, sizeof value, "%" PRIu64, n.as.u);
    signature_format(types, signature_at(r, s), r->list->nin, r->list->nout);
    return fail_argument(UF_ERR_CAST, k, -1, "%s does not fit %s, its dtype in signature %s of %s", value,
                         dtypes[signature_at(r, s)[k]].name, types, r->name);
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
    dtype types[UF_MAX_OPERANDS];
    int nin, nout;
    r->rule = casting == UF_CAST_DEFAULT ? UF_CAST_SAME_KIND : casting;
    TRY(signature_parse(forced, types, &nin, &nout));
    *chosen = find_signature(r, types, nin, nout);
    if (*chosen < 0)
        return not_in_list(r, types, nin, nout);
    int k = misfit(r, *chosen);
    return k < 0 ? UF_OK : forced_misfit(r, *chosen, k);
}

static uf_status check_values(const request *r, int s) {
    for (int k = 0; k < r->list->nin; k++)
        if (is_weak(r, k) && !number_fits(r->inputs[k].value, signature_at(r, s)[k]))
            return value_misfit(r, s, k);
    return UF_OK;
}

uf_status dispatch(const char *name, const signature_list *list, const dispatch_input *inputs, unsigned flags,
                   uf_casting casting, const char *forced, int *chosen) {
    request r = {.name = name, .list = list, .inputs = inputs, .weak = numbers_are_weak(list, inputs, flags)};
    TRY(forced ? force(&r, casting, forced, chosen) : choose(&r, flags, casting, chosen));
    return check_values(&r, *chosen);
}
