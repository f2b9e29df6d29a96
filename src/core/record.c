/* record.c - calls with arrays of records: chooses the form of the function (form.c) by what the arrays hold, and takes each array of
 * records apart into one array for each leaf, which lies in the same memory. What comes behind is a call of the form like any other.
 * Plans and inference go the same way. Errors of the form are restated in terms of the caller's arguments. */
#include <assert.h>
#include <stdio.h>

#include "core/record.h"

/* ---- Which records an array may hold ---- */

/* The bytes of an element with several lanes, or with one; 0: it is no array of records, nor of a dtype. */
static int64_t element_bytes(DLDataType t) {
    DLDataType one = t;
    one.lanes = 1;
    dtype type = dtype_of_dl(one);
    return type == DT_NONE ? 0 : (int64_t)dtypes[type].size * t.lanes;
}

/* Is it an array whose elements have several lanes, and so are records? */
static bool record_is_array(const DLTensor *t) { return t->dtype.lanes > 1 && element_bytes(t->dtype); }

static bool holds(DLDataType t, const record *r) {
    DLDataType one = t;
    one.lanes = 1;
    dtype type = dtype_of_dl(one), uniform = record_uniform(r);
    return type != DT_NONE && (type == DT_UINT8 || type == uniform) && (int64_t)dtypes[type].size * t.lanes == r->size;
}

DLDataType record_dtype(const record *r) {
    dtype uniform = record_uniform(r);
    DLDataType t = dtypes[uniform == DT_NONE ? DT_UINT8 : uniform].dl;
    t.lanes = (uint16_t)(uniform == DT_NONE ? r->size : record_scalars(r));
    return t;
}

/* ---- The operands of a call ---- */

typedef struct operand {
    const DLTensor *array;
    int at; /* its operand of the function */
    bool output;
} operand;

/* Lists the operands of a request: one for each argument. */
static int operands_list(const plan_request *r, int nin, operand *out) {
    bool folds = r->verb->folds && !r->func->reduction;
    int n = r->how & ARGS_NO_OUTPUTS ? nin : r->nargs;
    for (int k = 0; k < n; k++)
        out[k] = (operand){.array = &r->args[k], .at = folds && k ? 2 : k, .output = k >= nin && !is_kernel(r->func)};
    return n;
}

static bool is_host_number(const DLTensor *t) {
    int type = (int)t->device.device_type;
    return t->ndim == 0 && (type == kDLCPU || type == kDLCUDAHost);
}

/* ---- Which forms fit ---- */

static bool rank_fits(const record_form *x, const operand *o) { return !x->ranks || o->array->ndim == x->ranks[o->at]; }

/* Does a scalar operand take the argument? Numbers count by their kind, as under a forced signature. */
static bool scalar_fits(const record_form *x, const operand *o, unsigned flags) {
    dtype from = dtype_of_dl(o->array->dtype), to = x->types[o->at];
    if (from == DT_NONE || !rank_fits(x, o))
        return false;
    if (o->output)
        return true;
    if (is_host_number(o->array) && !(flags & UF_STRONG_NUMBERS))
        return dtypes[from].kind <= dtypes[to].kind;
    return x->ranks && x->ranks[o->at] ? from == to : dtype_can_cast(from, to, UF_CAST_SAFE);
}

static bool operand_fits(const record_form *x, const operand *o, unsigned flags) {
    const record *r = x->records[o->at];
    return r ? holds(o->array->dtype, r) && rank_fits(x, o) : scalar_fits(x, o, flags);
}

/* The first operand that does not fit; -1: all do. */
static int form_misfit(const record_form *x, const plan_request *r, const operand *o, int n) {
    for (int k = 0; k < n; k++)
        if (!operand_fits(x, &o[k], r->options->flags))
            return k;
    return -1;
}

static bool form_serves(const record_form *x, const plan_request *r) {
    return (!r->verb->folds || x->fold) && (!x->ranks || x->nindices == r->ndim);
}

/* Is form a as good as b for this call: of the same records, and with scalars that are no wider? */
static bool at_least(const record_form *a, const record_form *b, const operand *o, int n) {
    for (int k = 0; k < n; k++) {
        const record *x = a->records[o[k].at], *y = b->records[o[k].at];
        if (x || y ? !record_same(x, y)
                   : !o[k].output && !dtype_can_cast(a->types[o[k].at], b->types[o[k].at], UF_CAST_SAFE))
            return false;
    }
    return true;
}

/* ---- Errors ---- */

/* What an argument is, as messages name it: "float32", "uint8 of 16 lanes". */
static void array_print(text *t, const DLTensor *array) {
    DLDataType one = array->dtype;
    one.lanes = 1;
    dtype type = dtype_of_dl(one);
    if (type == DT_NONE)
        text_printf(t, "of DLPack code %d, %d bits", one.code, one.bits);
    else
        text_puts(t, dtypes[type].name);
    if (array->dtype.lanes != 1)
        text_printf(t, " of %d lanes", array->dtype.lanes);
}

static void misfit_print(text *t, const plan_request *r, const record_form *x, const operand *o, int n) {
    int k = form_serves(x, r) ? form_misfit(x, r, o, n) : -1;
    text_printf(t, "\n  %s", x->signature);
    if (!form_serves(x, r))
        text_printf(t, r->verb->folds ? ": it does not reduce" : ": over %d indices", x->nindices);
    if (k < 0)
        return;
    const record *of = x->records[o[k].at];
    text_printf(t, ": argument %d is ", k);
    array_print(t, o[k].array);
    if (!rank_fits(x, &o[k]))
        text_printf(t, " of rank %d", o[k].array->ndim);
    if (of)
        text_printf(t, ", which is no array of %s (uint8 of %lld lanes%s)", of->name, (long long)of->size,
                    record_uniform(of) != DT_NONE ? ", or all its fields' dtype" : "");
    else
        text_printf(t, ", which does not fit %s", dtypes[x->types[o[k].at]].name);
}

static uf_status no_form(const plan_request *r, const operand *o, int n) {
    text t = {0};
    enum {
        MOST = 2400
    };
    text_printf(&t, "%s: no signature matches the arguments (", r->func->name);
    for (int k = 0; k < n; k++) {
        text_puts(&t, k ? "," : "");
        array_print(&t, o[k].array);
    }
    text_puts(&t, ")");
    for (const record_form *x = forms_of(r->func); x && t.length < MOST; x = x->next)
        misfit_print(&t, r, x, o, n);
    for (int s = 0; s < r->func->signatures.count && t.length < MOST; s++) {
        text_puts(&t, "\n  ");
        signature_list_print(&t, &r->func->signatures, s);
        text_puts(&t, ": it has no records");
    }
    if (r->func->any_types)
        text_puts(&t, "\n  without signatures records need uf_options.signature");
    uf_status s = t.failed ? fail_memory() : fail(UF_ERR_SIGNATURE, "%s", t.data);
    text_free(&t);
    return s;
}

static uf_status several_forms(const plan_request *r, const record_form *a, const record_form *b) {
    return fail(UF_ERR_SIGNATURE,
                "%s: arrays do not say which records they hold, and several signatures fit; uf_options.signature "
                "chooses one\n  %s\n  %s",
                r->func->name, a->signature, b->signature);
}

/* ---- Choosing ---- */

static uf_status form_choose(const plan_request *r, const operand *o, int n, const record_form **out) {
    const record_form *best = NULL, *first = forms_of(r->func);
    for (const record_form *x = first; x; x = x->next)
        if (form_serves(x, r) && form_misfit(x, r, o, n) < 0 && (!best || !at_least(best, x, o, n)))
            best = x;
    *out = best;
    if (!best)
        return no_form(r, o, n);
    for (const record_form *x = first; x; x = x->next)
        if (form_serves(x, r) && form_misfit(x, r, o, n) < 0 && !at_least(best, x, o, n))
            return several_forms(r, x, best);
    return UF_OK;
}

/* A signature without blanks; *out is NULL if it does not fit. */
static const char *without_blanks(const char *s, char *out, size_t size) {
    size_t n = 0;
    for (; *s; s++) {
        if (strchr(" \t\r\n\f\v", *s))
            continue;
        if (n + 1 == size)
            return NULL;
        out[n++] = *s;
    }
    out[n] = 0;
    return out;
}

/* Finds the form of a forced signature, and checks that the arguments fit it. *out is NULL if no records are in it. */
static uf_status form_forced(const plan_request *r, const operand *o, int n, const record_form **out) {
    char wanted[2048], own[2048];
    record_form *made;
    *out = NULL;
    if (!without_blanks(r->options->signature, wanted, sizeof wanted))
        return UF_OK;
    for (const record_form *x = forms_of(r->func); x && !*out; x = x->next)
        if (without_blanks(x->signature, own, sizeof own) && strcmp(own, wanted) == 0 && form_serves(x, r))
            *out = x;
    if (!*out) {
        TRY(form_ask(r->func, wanted, &made));
        *out = made && form_serves(made, r) ? made : NULL;
    }
    if (!*out)
        return UF_OK;
    for (int k = 0; k < n; k++) {
        const record *of = (*out)->records[o[k].at];
        if (of && !(holds(o[k].array->dtype, of) && rank_fits(*out, &o[k]))) {
            text t = {0};
            array_print(&t, o[k].array);
            uf_status s =
                t.failed ? fail_memory()
                         : fail_argument(UF_ERR_CAST, k, -1, "is %s, but the signature asked for (%s) of %s has %s",
                                         t.data, (*out)->signature, r->func->name, of->name);
            text_free(&t);
            return s;
        }
    }
    return UF_OK;
}

static bool has_record_arrays(const operand *o, int n) {
    for (int k = 0; k < n; k++)
        if (record_is_array(o[k].array))
            return true;
    return false;
}

/* Chooses the form; NULL: the call is one of the function's own signatures, which have no records. */
static uf_status form_find(const plan_request *r, int nin, const record_form **out) {
    operand o[UF_MAX_OPERANDS];
    int n = operands_list(r, nin, o);
    bool plain = r->func->any_types || r->func->signatures.count;
    *out = NULL;
    if (r->options->signature) {
        TRY(form_forced(r, o, n, out));
        return *out || !has_record_arrays(o, n) || r->func->any_types ? UF_OK : no_form(r, o, n);
    }
    if (!has_record_arrays(o, n) && plain)
        return UF_OK;
    return form_choose(r, o, n, out);
}

/* ---- Taking arrays apart ---- */

enum {
    LEAF_SIZES = 4 /* 1, 2, 4 and 8 bytes */
};

/* Words for the strides of an array, in elements of each size of leaves; an array of one leaf needs one row. */
static size_t words_most(const record *const *records, const int *at, const DLTensor *args, int n) {
    size_t words = 0;
    for (int k = 0; k < n; k++)
        if (records[at[k]])
            words += (size_t)args[k].ndim * LEAF_SIZES;
    return words;
}

/* Checks one array of records by itself. */
static uf_status records_check(const DLTensor *t, int k, const record *r, unsigned how) {
    return nd_check(t, k, (int)r->size, r->align, !(how & (ARGS_NO_DATA | ARGS_LASTING)));
}

/* Writes an array's strides in elements of `size` bytes, of which a record is a whole number. */
static void strides_write(const DLTensor *t, const record *r, int size, int64_t *out) {
    int64_t dense = r->size / size;
    assert(r->size % size == 0);
    for (int d = t->ndim - 1; d >= 0; d--) {
        out[d] = t->strides ? t->strides[d] * (r->size / size) : dense;
        dense *= t->shape[d] > 1 ? t->shape[d] : 1;
    }
}

/* Appends the leaves of argument k. */
static void array_expand(expansion *x, const DLTensor *t, int k, const record *r) {
    int64_t *of_size[LEAF_SIZES] = {NULL};
    for (int i = 0; i < r->nleaves; i++) {
        const record_leaf *leaf = &r->leaves[i];
        int size = dtypes[leaf->type].size, row = __builtin_ctz((unsigned)size);
        if (!of_size[row]) {
            of_size[row] = x->words;
            x->words += t->ndim;
            strides_write(t, r, size, of_size[row]);
        }
        DLTensor *to = &x->args[x->n];
        *to = *t;
        to->dtype = dtypes[leaf->type].dl;
        to->byte_offset += (uint64_t)leaf->offset;
        to->strides = t->ndim ? of_size[row] : NULL;
        x->offset[x->n] = leaf->offset;
        x->of[x->n++] = (uint8_t)k;
    }
}

static void plain_add(expansion *x, const DLTensor *t, int k) {
    x->args[x->n] = *t;
    x->offset[x->n] = 0;
    x->of[x->n++] = (uint8_t)k;
}

static uf_status args_expand(expansion *x, const plan_request *r, const int *at) {
    for (int k = 0; k < r->nargs; k++) {
        const record *of = x->form->records[at[k]];
        bool unread = r->how & ARGS_NO_OUTPUTS && k >= x->nin;
        x->align[k] = (uint8_t)(of ? of->align : 1);
        if (of && unread) {
            for (int i = 0; i < of->nleaves; i++)
                plain_add(x, &r->args[k], k);
            continue;
        }
        if (of) {
            TRY(records_check(&r->args[k], k, of, r->how));
            array_expand(x, &r->args[k], k, of);
        } else
            plain_add(x, &r->args[k], k);
    }
    return UF_OK;
}

/* The values that a fold begins with: a record gives one for each leaf. */
static uf_status initial_expand(expansion *x, const plan_request *r) {
    const uf_func *h = x->form->fold;
    for (int k = 0; r->initial && k < h->reduction->nvalues; k++) {
        const DLTensor *t = &r->initial[k];
        const record *of = x->form->state[k];
        if (of && !holds(t->dtype, of))
            return fail(UF_ERR_ARGUMENT, "initial value %d: it is no %s, which has %lld bytes", k, of->name,
                        (long long)of->size);
        for (int i = 0; i < (of ? of->nleaves : 1); i++) {
            DLTensor *to = &x->initial[x->ninitial];
            *to = *t;
            x->initial_offset[x->ninitial] = of ? of->leaves[i].offset : 0;
            x->initial_of[x->ninitial++] = (uint8_t)k;
            if (!of)
                continue;
            to->dtype = dtypes[of->leaves[i].type].dl;
            to->byte_offset += (uint64_t)of->leaves[i].offset;
        }
    }
    x->request.initial = r->initial ? x->initial : NULL;
    return UF_OK;
}

/* A list of axes for each leaf, where the caller gave one for each argument. */
static uf_status axes_expand(expansion *x, const plan_request *r) {
    const uf_axes *given = r->options->axes;
    if (!given)
        return UF_OK;
    TRY(struct_read(given, &x->axes, sizeof x->axes, "uf_axes"));
    if (!x->axes.lists || x->axes.count < 1)
        return UF_OK;
    int n = 0;
    for (int k = 0; k < x->n; k++)
        if (x->of[k] < x->axes.count)
            x->lists[n++] = x->axes.lists[x->of[k]];
    if (x->axes.count > r->nargs)
        return fail(UF_ERR_ARGUMENT, "uf_axes.count is %d, but there are %d arguments", x->axes.count, r->nargs);
    x->axes.count = n;
    x->axes.lists = x->lists;
    x->options.axes = &x->axes;
    return UF_OK;
}

/* ---- Errors in terms of the caller's arguments ---- */

static int caller_argument(const void *user, int argument) {
    const expansion_map *m = user;
    return argument < m->n ? m->of[argument] : argument;
}
static int caller_initial(const void *user, int value) {
    const expansion_map *m = user;
    return value < m->ninitial ? m->initial_of[value] : value;
}

static uf_status named(uf_status status, const expansion_map *m) {
    if (!status)
        return UF_OK;
    fail_renumber("argument ", caller_argument, m);
    fail_renumber("initial value ", caller_initial, m);
    uf_error *e = error_slot();
    if (e->argument >= 0)
        e->argument = caller_argument(m, e->argument);
    return status;
}

static expansion_map map_of(expansion *x) {
    return (expansion_map){
        .n = x->n, .of = (uint8_t *)x->of, .ninitial = x->ninitial, .initial_of = (uint8_t *)x->initial_of};
}

/* ---- Doing something with the form in place of the function ---- */

static uf_status expand(expansion *x, const plan_request *r) {
    int at[UF_MAX_OPERANDS];
    bool folds = r->verb->folds && !r->func->reduction;
    for (int k = 0; k < r->nargs; k++)
        at[k] = folds && k ? 2 : k;
    size_t need = words_most(x->form->records, at, r->args, r->how & ARGS_NO_OUTPUTS ? x->nin : r->nargs);
    x->words = x->few;
    if (need > COUNT(x->few)) {
        x->words = x->block = mem_alloc(need * sizeof *x->words);
        if (!x->block)
            return fail_memory();
    }
    TRY(args_expand(x, r, at));
    x->request = *r;
    x->request.expanded = x;
    x->request.func = r->verb->folds ? x->form->fold : x->form->func;
    x->request.args = x->args;
    x->request.nargs = x->n;
    if (x->request.verb == &elementwise_verb || x->request.verb == &gufunc_verb)
        x->request.verb = call_verb(x->request.func);
    x->options = *r->options;
    x->request.options = &x->options;
    if (x->options.signature)
        x->options.signature = x->request.func->signatures_text;
    TRY(axes_expand(x, r));
    return r->verb->folds ? initial_expand(x, r) : UF_OK;
}

/* Writes the outputs that were inferred for the form to the caller's. */
static void outputs_return(const expansion *x, const plan_request *r) {
    if (!(r->how & ARGS_NO_OUTPUTS))
        return;
    for (int e = x->n - 1; e >= 0; e--) {
        int k = x->of[e];
        DLTensor *to = (DLTensor *)(uintptr_t)&r->args[k];
        if (k < x->nin)
            continue;
        const record *of = x->form->records[r->verb->folds && !r->func->reduction ? 2 : k];
        to->ndim = x->args[e].ndim;
        to->dtype = of ? record_dtype(of) : x->args[e].dtype;
    }
}

static void expansion_clear(expansion *x, int nin, const record_form *f) {
    x->form = f;
    x->nin = nin;
    x->n = x->ninitial = 0;
    x->block = NULL;
}

uf_status expansion_begin(expansion *x, const plan_request *r, int nin, bool *found) {
    const record_form *f;
    expansion_clear(x, nin, NULL);
    TRY(form_find(r, nin, &f));
    x->form = f;
    *found = f != NULL;
    return f ? expand(x, r) : UF_OK;
}

void expansion_end(expansion *x) { mem_free(x->block); }

uf_status expansion_run(expansion *x, uf_status (*run)(const plan_request *r, void *user), void *user) {
    uf_status s = run(&x->request, user);
    const expansion_map m = map_of(x);
    return named(s, &m);
}

static __attribute__((noinline)) uf_status form_do(const plan_request *r, int nin, const record_form *f,
                                                   uf_status (*run)(const plan_request *r, void *user), void *user) {
    expansion x; /* 10 KiB, which it is not worth clearing */
    expansion_clear(&x, nin, f);
    uf_status s = expand(&x, r);
    if (!s)
        s = expansion_run(&x, run, user);
    if (!s)
        outputs_return(&x, r);
    expansion_end(&x);
    return s;
}

uf_status records_do(const plan_request *r, uf_status (*run)(const plan_request *r, void *user), void *user) {
    const record_form *f;
    int nin, nout;
    TRY(r->verb->arity(r, &nin, &nout));
    TRY(form_find(r, nin, &f));
    return f ? form_do(r, nin, f, run, user) : run(r, user);
}

/* ---- What uf_inspect shows ---- */

/* Is `wanted` how the signature's inputs are spelled? It is what stands before the arrow, or a whole parameter list. */
static bool inputs_are(const record_form *x, const char *wanted) {
    char own[2048];
    const char *spelled = without_blanks(x->signature, own, sizeof own);
    const char *arrow = spelled ? strstr(spelled, "->") : NULL;
    size_t n = arrow ? (size_t)(arrow - spelled) : spelled ? strlen(spelled) : 0;
    return spelled && strlen(wanted) == n && strncmp(spelled, wanted, n) == 0;
}

uf_status form_of_types(const uf_func *f, const char **types, const uf_func **out) {
    char wanted[2048];
    const record_form *x = forms_of(f);
    *out = f;
    if (!x || (!*types && (f->signatures.count || f->any_types)))
        return UF_OK;
    if (*types && !without_blanks(*types, wanted, sizeof wanted))
        return UF_OK;
    while (x && *types && !inputs_are(x, wanted))
        x = x->next;
    if (!x && !f->signatures.count && !f->any_types)
        return fail(UF_ERR_SIGNATURE, "%s: no signature has the inputs \"%.500s\"; it has %s", f->name, *types,
                    f->signatures_text);
    if (x) {
        *out = x->func;
        *types = NULL;
    }
    return UF_OK;
}

/* ---- Runs of plans ---- */

expansion_map *expansion_map_new(uf_plan *p) {
    expansion_map *m = plan_space(p, sizeof *m);
    uint8_t *bytes = plan_space(p, PLAN_ARGUMENTS + UF_MAX_NDIM + UF_MAX_OPERANDS + UF_MAX_STATE);
    int64_t *offset = plan_space(p, PLAN_ARGUMENTS * sizeof *offset);
    if (!m || !bytes || !offset)
        return NULL;
    *m = (expansion_map){.of = bytes,
                         .initial_of = bytes + PLAN_ARGUMENTS,
                         .align = bytes + PLAN_ARGUMENTS + UF_MAX_STATE,
                         .offset = offset};
    return m;
}

uf_status expansion_keep(uf_plan *p, const plan_request *r) {
    const expansion *x = r->expanded;
    expansion_map *m = expansion_map_new(p);
    if (!m)
        return fail_memory();
    int caller = x->of[x->n - 1] + 1, first = p->nargs - x->ninitial, start = caller + first - x->n;
    for (int k = 0; k < p->nargs; k++) {
        bool leaf = k < x->n, initial = k >= first;
        m->of[k] = (uint8_t)(leaf ? x->of[k] : initial ? start + x->initial_of[k - first] : caller + k - x->n);
        m->offset[k] = leaf ? x->offset[k] : initial ? x->initial_offset[k - first] : 0;
    }
    m->n = x->n;
    m->ncaller = caller;
    m->ninitial = x->ninitial;
    memcpy(m->align, x->align, (size_t)caller);
    memcpy(m->initial_of, x->initial_of, (size_t)x->ninitial);
    p->expanded = m;
    return UF_OK;
}

uf_status expanded_run(const uf_plan *p, void *const *data, void *stream) {
    const expansion_map *m = p->expanded;
    void *leaves[PLAN_ARGUMENTS];
    for (int k = 0; k < m->ncaller; k++)
        if ((uintptr_t)data[k] % m->align[k])
            return fail_argument(UF_ERR_ARGUMENT, k, -1,
                                 "its data is at %p, but must be aligned to the %d bytes of its records", data[k],
                                 m->align[k]);
    for (int k = 0; k < p->nargs; k++) {
        char *from = data[m->of[k]];
        leaves[k] = from ? from + m->offset[k] : NULL;
    }
    return named(plan_run_addresses(p, leaves, stream), m);
}
