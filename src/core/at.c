/* at.c - uf_at: updates in place of elements that are found by indices. The loop goes over the indices, and within them
 * over the dimensions of the target that are not indexed, in C order. The target takes part twice, as the first input
 * and as the output. Other arrays that overlap the target are copied first. Indices in host memory are checked before anything is
 * written (indices.c), or, where the target is small beside them, by the kernel itself, which then updates a copy.
 *
 * Errors count the target as argument 0, then the indices, then the operand. */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>

#include "core/at.h"
#include "core/record.h"

enum {
    TARGET = 0,
    INDEX_BYTES = 1 << 15, /* so many bytes of indices, at least, are worth copies of a target */
    INDEX_SHARE = 16       /* that has so many times fewer */
};

/* ---- Errors in the caller's words ---- */

static void name_of(int argument, int nindices, char name[32]) {
    if (argument == TARGET)
        snprintf(name, 32, "target");
    else if (argument <= nindices)
        snprintf(name, 32, "indices[%d]", argument - 1);
    else
        snprintf(name, 32, "operand");
}

/* Replaces each "argument N" of the message by what the caller knows it as: argument which[N], or first + N where
 * which is NULL. The new names are not longer than the old ones, so that they fit. */
static __attribute__((noinline)) uf_status rename_all(uf_status status, int nindices, int first, const int *which) {
    uf_error *e = error_slot();
    char was[sizeof e->message], *to = e->message;
    strcpy(was, e->message);
    for (const char *at = was; *at;) {
        char name[32], *end;
        if (strncmp(at, "argument ", 9) != 0 || !isdigit((unsigned char)at[9])) {
            *to++ = *at++;
            continue;
        }
        long n = strtol(at + 9, &end, 10);
        name_of(which ? which[n] : first + (int)n, nindices, name);
        to = stpcpy(to, name);
        at = end;
    }
    *to = 0;
    if (e->argument >= 0)
        e->argument = which ? which[e->argument] : first + e->argument;
    return status;
}

static inline uf_status named(uf_status status, int nindices, int first, const int *which) {
    return status ? rename_all(status, nindices, first, which) : UF_OK;
}

/* Renames the arguments of the elementwise call: the target, the operand if there is one, and the target again. */
static uf_status call_named(uf_status status, const plan_request *r) {
    int operand = 1 + r->nindices, which[UF_MAX_OPERANDS];
    const uf_func *f = r->func;
    for (int k = 0; k < f->nin + f->nout; k++)
        which[k] = k < f->nout || k >= f->nin ? TARGET : operand;
    return named(status, r->nindices, 0, which);
}

/* Has the function an operand beside the target? Of a form, whose operands are leaves, there are as many of the target as outputs. */
static bool has_operand(const uf_func *f) { return f->nin > f->nout; }

/* ---- Arguments ---- */

static uf_status updates_check(const uf_func *f) {
    TRY(func_check(f));
    if (!f->owner && (f->reduction || f->layout || f->nout != 1 || f->nin < 1 || f->nin > 2))
        return fail(UF_ERR_ARGUMENT,
                    "uf_at of %s: the function must be elementwise, of one or two inputs and one output", f->name);
    return UF_OK;
}

static uf_status pointers_check(const plan_request *r) {
    const char *name = r->func->name;
    if (!r->target || !r->indices)
        return fail(UF_ERR_ARGUMENT, "uf_at of %s: %s is NULL", name, r->target ? "indices" : "target");
    if (r->nindices < 1)
        return fail(UF_ERR_ARGUMENT, "uf_at of %s: nindices is %d; at least one index array is needed", name,
                    r->nindices);
    if (has_operand(r->func) && !r->operand)
        return fail(UF_ERR_ARGUMENT, "%s has two inputs, but operand is NULL", name);
    if (!has_operand(r->func) && r->operand)
        return fail(UF_ERR_ARGUMENT, "%s has one input; operand must be NULL", name);
    return UF_OK;
}

static uf_status options_check(const uf_options *o) {
    const char *wrong = o->flags & UF_STAGE ? "UF_STAGE"
                        : o->where          ? "uf_options.where"
                        : o->axes           ? "uf_options.axes"
                                            : NULL;
    return wrong ? fail(UF_ERR_ARGUMENT, "uf_at does not take %s", wrong) : UF_OK;
}

/* Lists the target, the operand, and the target again, as the arguments of a call. */
static int arguments_list(const plan_request *r, DLTensor args[3]) {
    int n = 0;
    args[n++] = *r->target;
    if (r->operand)
        args[n++] = *r->operand;
    args[n++] = *r->target;
    return n;
}

/* Reads them, or the leaves of their records. */
static uf_status operands_take(const plan_request *r, call_args *a) {
    void *data[PLAN_ARGUMENTS];
    const uf_func *f = r->func;
    DLTensor args[3];
    int n = arguments_list(r, args);
    return call_named(
        args_take(f->nin, r->expanded ? r->nargs : n, r->expanded ? r->args : args, NULL, r->options, r->how, a, data),
        r);
}

static uf_status index_take(const plan_request *r, int i, nd_array *out) {
    const DLTensor *t = &r->indices[i];
    TRY(array_check(t, i, r->how));
    dtype type = dtype_of_dl(t->dtype);
    if (!dtype_is_integer(type))
        return fail_argument(UF_ERR_ARGUMENT, i, -1, "its dtype is %s; indices are integers", dtypes[type].name);
    *out = (nd_array){.data = t->data ? (char *)t->data + t->byte_offset : NULL,
                      .shape = t->shape,
                      .strides = t->strides,
                      .ndim = t->ndim,
                      .size = dtypes[type].size};
    return UF_OK;
}

/* Finds the device that all arrays are on. */
static uf_status place_all(const plan_request *r, call_args *a) {
    placement p = placement_none;
    TRY(place(&p, r->target, TARGET));
    for (int i = 0; i < r->nindices; i++)
        TRY(place(&p, &r->indices[i], 1 + i));
    if (r->operand && !a->array[r->func->nout].number)
        TRY(place(&p, r->operand, 1 + r->nindices));
    return place_decide(&p, 0, a);
}

static void *leaf_address(const DLTensor *t) { return t->data ? (char *)t->data + t->byte_offset : NULL; }

/* The arrays of *a are those of the call (target, operand, target), then the indices. */
static uf_status at_arguments(const plan_request *r, call_args *a, void **data) {
    int first, n = r->nindices;
    TRY(updates_check(r->func));
    TRY(pointers_check(r));
    TRY(options_check(r->options));
    TRY(operands_take(r, a));
    first = r->func->nin + r->func->nout;
    if (first + n > VARIANT_OPERANDS)
        return fail(UF_ERR_ARGUMENT, "nindices is %d, which is too many beside %d scalars of records", n, first);
    if (n > r->target->ndim)
        return fail(UF_ERR_ARGUMENT, "nindices is %d, but the rank of target is %d", n, r->target->ndim);
    for (int i = 0; i < n; i++)
        TRY(named(index_take(r, i, &a->array[first + i]), n, 1, NULL));
    a->narrays = first + n;
    data[TARGET] = a->array[0].data;
    for (int i = 0; i < n; i++)
        data[1 + i] = a->array[first + i].data;
    for (int k = r->func->nout; k < r->func->nin; k++)
        data[1 + n + k - r->func->nout] = r->expanded ? leaf_address(&r->args[k]) : leaf_address(r->operand);
    return named(place_all(r, a), n, 0, NULL);
}

static uf_status at_bind(const plan_request *r, call_args *a, const binding **out) {
    return call_named(call_bind(r, a, out), r);
}

/* ---- Shapes ---- */

/* The shape of the updates: that of the indices, then the dimensions of the target that are not indexed. */
static uf_status shape_find(const plan_request *r, const call_args *a, int *ndim, int64_t *shape) {
    int n = r->nindices, left = r->target->ndim - n;
    TRY(named(nd_broadcast(a->array + r->func->nin + r->func->nout, n, ndim, shape), n, 1, NULL));
    if (*ndim + left > UF_MAX_NDIM)
        return fail(UF_ERR_SHAPE, "the indices' rank, %d, and the dimensions of target that are left, %d, exceed %d",
                    *ndim, left, UF_MAX_NDIM);
    for (int d = 0; d < left; d++)
        shape[(*ndim)++] = r->target->shape[n + d];
    return UF_OK;
}

static uf_status operand_fit(const plan_request *r, const nd_array *x, int ndim, const int64_t *shape) {
    int argument = 1 + r->nindices;
    if (!r->operand || x->number)
        return UF_OK;
    if (x->ndim > ndim)
        return fail_argument(UF_ERR_SHAPE, argument, -1, "its rank is %d, but that of the updates is %d", x->ndim,
                             ndim);
    for (int d = 0, shift = ndim - x->ndim; d < x->ndim; d++)
        if (x->shape[d] != 1 && x->shape[d] != shape[d + shift])
            return fail_argument(UF_ERR_SHAPE, argument, d,
                                 "is %lld, but dimension %d of the updates (the shape of the indices, then what is "
                                 "left of target's) is %lld: it must be that or 1",
                                 (long long)x->shape[d], d + shift, (long long)shape[d + shift]);
    return UF_OK;
}

/* ---- The loop ---- */

/* Finds which elements the target reaches, and checks that no two of them are at one address. */
static uf_status target_check(uf_plan *p, const nd_array *target) {
    int64_t space[2 * UF_MAX_NDIM + 1];
    nd_array whole = *target;
    nd_loop loop;
    whole.output = false;
    TRY(nd_plan(&whole, 1, 1, ND_KEEP_ORDER, space, &loop));
    if (nd_self_overlap(&loop, 0))
        return fail_argument(UF_ERR_ARGUMENT, TARGET, -1,
                             "has two elements at one address (or its strides are too many to tell)");
    nd_bounds(&loop, 0, &p->at.lowest, &p->at.highest);
    p->at.dense = p->at.highest - p->at.lowest + 1 == loop.count;
    return UF_OK;
}

/* Appends to an index array a dimension of extent 1 for each dimension of the target that is not indexed, so that it
 * broadcasts. */
static uf_status index_view(uf_plan *p, nd_array *x, int left) {
    int ndim = x->ndim + left;
    int64_t *shape = plan_space(p, 2 * (size_t)ndim * sizeof *shape), *strides = shape + ndim;
    if (!shape)
        return fail_memory();
    if (x->ndim)
        memcpy(shape, x->shape, (size_t)x->ndim * sizeof *shape);
    if (x->ndim && x->strides)
        memcpy(strides, x->strides, (size_t)x->ndim * sizeof *strides);
    for (int d = x->ndim; d < ndim; d++)
        shape[d] = strides[d] = 1;
    x->strides = x->strides ? strides : NULL;
    x->shape = shape;
    x->ndim = ndim;
    return UF_OK;
}

/* Sets extent and stride of each indexed dimension of the target. */
static uf_status indexed_fill(uf_plan *p, const nd_array *t) {
    int64_t dense = 1, *indexed = plan_space(p, 2 * (size_t)p->at.nindices * sizeof *indexed);
    if (!indexed)
        return fail_memory();
    for (int d = t->ndim - 1; d >= 0; d--) {
        if (d < p->at.nindices) {
            indexed[2 * d] = t->shape[d];
            indexed[2 * d + 1] = t->strides ? t->strides[d] : dense;
        }
        dense *= t->shape[d];
    }
    p->indexed = indexed;
    return UF_OK;
}

static uf_status loop_make(uf_plan *p, call_args *a, int ndim) {
    int nin = a->nin, n = p->at.nindices, targets = p->func->nout, left = a->array[0].ndim - n;
    nd_loop *loop = &p->pass[0].loops.kept;
    TRY(indexed_fill(p, &a->array[0]));
    for (int k = 0; k < targets; k++) {
        nd_array *t = &a->array[k];
        t->output = false;
        t->ndim -= n;
        t->shape += n;
        t->strides = t->strides ? t->strides + n : NULL;
        a->array[nin + k] = *t;
    }
    for (int i = 0; i < n && left; i++)
        TRY(index_view(p, &a->array[nin + targets + i], left));
    void *space = plan_space(p, nd_space(ndim, a->narrays));
    if (!space)
        return fail_memory();
    TRY(nd_plan(a->array, a->narrays, a->narrays, ND_KEEP_ORDER, space, loop));
    loop->loop = LOOP_AT;
    p->idle = loop->count == 0;
    return UF_OK;
}

/* ---- The variant ---- */

static void operands_lay(uf_plan *p, const plan_request *r, const call_args *a) {
    plan_pass *s = &p->pass[0];
    int nin = a->nin, n = r->nindices, targets = r->func->nout;
    plan_variant(s, LOOP_AT, nin, targets);
    s->v.reports = func_reports_steps(p->func, p->binding->traits.unbounded, p->cancel);
    s->v.nindices = (uint8_t)n;
    plan_operands(s, a, nin + targets, p->binding->types);
    for (int k = 0; k < nin + targets; k++) {
        bool target = k < targets || k >= nin;
        s->source[k] = (uint8_t)(target ? TARGET : 1 + n + k - targets);
        s->shift[k] = target && r->expanded ? expanded_offset(r->expanded, k) : 0;
    }
    for (int i = 0; i < n; i++)
        plan_operand(s, nin + targets + i, 1 + i, dtype_of_dl(r->indices[i].dtype), DT_INT64);
}

/* Is the target aligned to the size of its elements, or of the words that its records are exchanged as? Complex numbers and records need
 * not be. */
static bool is_aligned(const uf_plan *p, const void *target) {
    const variant *v = &p->pass[0].v;
    return (uintptr_t)target % (v->at.record ? v->at.record : dtypes[v->operand[0].memory].size) == 0;
}

/* Says where the leaves of the target's records lie, if these are words that a GPU can compare and swap. */
static void word_lay(uf_plan *p, const plan_request *r) {
    variant *v = &p->pass[0].v;
    int64_t bytes = r->expanded ? expanded_target(r->expanded)->size : 0;
    if (p->engine == ENGINE_CPU || r->func->nout == 1 || (bytes != 4 && bytes != 8))
        return;
    v->at.record = (uint8_t)bytes;
    for (int k = 0; k < r->func->nout; k++)
        v->operand[k].offset = (uint8_t)expanded_offset(r->expanded, k);
}

/* Must one warp make all updates of an element? It must where neither an atomic instruction nor compare and swap can
 * make them, or where their order would show in the result and UF_DETERMINISTIC is set. Compare and swap needs
 * aligned elements. */
static uf_status owners_find(uf_plan *p, const plan_request *r) {
    code_target target;
    at_part *x = &p->at;
    x->owned[0] = x->owned[1] = false;
    x->counters = COUNTERS_NONE;
    if (p->engine == ENGINE_CPU)
        return UF_OK;
    TRY(engines[p->engine]->target(p->device, &target));
    const variant *v = &p->pass[0].v;
    at_way way = ir_at_way(p->binding->tree, v, &target);
    x->counters = (uint8_t)ir_at_counters(p->binding->tree, v, &target);
    x->owned[1] = way == AT_OWNED || (way != AT_EXACT && r->options->flags & UF_DETERMINISTIC);
    x->owned[0] = x->owned[1] || way == AT_EXCHANGE;
    return UF_OK;
}

static void at_decide(const uf_plan *p, bool owned, variant *v) {
    v->at.deterministic = owned;
    engines[p->engine]->specialise(v, &(loop_problem){.loop = &p->pass[0].loops.kept,
                                                      .traits = &p->binding->traits,
                                                      .indexed = p->indexed,
                                                      .counters = (at_counters)p->at.counters});
}

static bool at_fits(const uf_plan *p, void *const *data) {
    return p->at.owned[is_aligned(p, data[TARGET])] == p->at.owns;
}

static uf_status at_specialise(const uf_plan *p, void *const *data, variant *v) {
    memcpy(v, &p->pass[0].v, variant_size(&p->pass[0].v));
    at_decide(p, p->at.owned[is_aligned(p, data[TARGET])], v);
    return UF_OK;
}

/* ---- Plans ---- */

static void arguments_set(uf_plan *p, const plan_request *r, const call_args *a) {
    int n = r->nindices;
    plan_argument_set(p, TARGET, (dtype)a->key.type[0], &a->array[0], TARGET);
    for (int i = 0; i < n; i++)
        plan_argument_set(p, 1 + i, dtype_of_dl(r->indices[i].dtype), &a->array[a->nin + r->func->nout + i], 1 + i);
    p->nargs = 1 + n;
    for (int k = r->func->nout; k < a->nin; k++)
        plan_argument_set(p, p->nargs++, (dtype)(a->key.type[k] & ~BINDING_NUMBER),
                          a->array[k].number ? NULL : &a->array[k], 1 + n);
}

static uf_status indices_of(uf_plan *p, const plan_request *r, const call_args *a) {
    dtype types[UF_MAX_NDIM];
    if (p->engine != ENGINE_CPU)
        return UF_OK;
    for (int i = 0; i < r->nindices; i++)
        types[i] = dtype_of_dl(r->indices[i].dtype);
    return indices_lay(p, a->array + a->nin + r->func->nout, types, r->target->shape);
}

/* Do two copies of the target cost much less than a pass over the indices, and do kernels look at each index? A target whose elements lie
 * apart is not copied, since what lies between them is not ours to read; nor is one without elements. */
static bool copies_pay(const uf_plan *p) {
    const plan_pass *s = &p->pass[0];
    const at_part *x = &p->at;
    int64_t read = 0, size = dtypes[s->v.operand[0].memory].size;
    if (p->engine != ENGINE_CPU || s->v.nout != 1 || s->v.reports || p->cancel || variant_at_rows(&s->v))
        return false;
    for (int i = 0; i < x->nindices; i++)
        read += x->index[i].loop.count * dtypes[x->index[i].type].size;
    return x->dense && read >= INDEX_BYTES && x->highest - x->lowest < read / (INDEX_SHARE * size);
}

static uf_status at_lay(uf_plan *p, const plan_request *r, call_args *a, void *const *data) {
    int ndim, n = r->nindices;
    int64_t shape[UF_MAX_NDIM];
    p->at.nindices = n;
    p->at.copies = false;
    TRY(shape_find(r, a, &ndim, shape));
    TRY(named(operand_fit(r, &a->array[r->func->nout], ndim, shape), n, 0, NULL));
    TRY(named(target_check(p, &a->array[0]), n, 0, NULL));
    arguments_set(p, r, a);
    TRY(indices_of(p, r, a));
    TRY(loop_make(p, a, ndim));
    if (p->idle)
        return UF_OK;
    operands_lay(p, r, a);
    word_lay(p, r);
    TRY(owners_find(p, r));
    p->at.owns = p->at.owned[is_aligned(p, data[TARGET])];
    at_decide(p, p->at.owns, &p->pass[0].v);
    p->at.copies = copies_pay(p);
    return UF_OK;
}

/* ---- Runs ---- */

static bool is_target(const variant *v, int k) { return k < v->nout || (k >= v->nin && k < v->nin + v->nout); }

/* Those of the target are known in its first leaf's elements, of which another leaf's may be fewer or more. */
static void at_bounds(const uf_plan *p, const plan_pass *s, int k, int64_t *lowest, int64_t *highest) {
    const variant_operand *o = s->v.operand;
    if (!is_target(&s->v, k)) {
        nd_bounds(&s->loops.kept, k, lowest, highest);
        return;
    }
    *lowest = p->at.lowest * dtypes[o[0].memory].size / dtypes[o[k].memory].size;
    *highest = p->at.highest * dtypes[o[0].memory].size / dtypes[o[k].memory].size;
}

/* The target is what it is updated from, so that it may coincide with itself; all else must overlap none of its
 * elements. */
static nd_overlap at_compare(const uf_plan *p, const plan_pass *s, int a, const char *data_a, int b,
                             const char *data_b) {
    (void)p, (void)data_a, (void)data_b;
    if (!is_target(&s->v, a))
        return ND_OVERLAP;                            /* it reaches memory that the target reaches, too */
    return a + s->v.nin == b ? ND_SAME : ND_DISJOINT; /* leaves of one record lie apart */
}

static uf_status at_check(plan_run *run) {
    const at_part *x = &run->plan->at;
    return run->plan->engine == ENGINE_CPU && !x->copies ? indices_check(x, run->data + 1) : UF_OK;
}

/* Writes n elements of a target that have changed, and no others: another thread may be at work on those. */
static void changes_write(char *target, const char *was, const char *is, int64_t n, size_t size) {
    for (size_t at = 0, end = (size_t)n * size; at < end; at += size)
        if (memcmp(was + at, is + at, size) != 0)
            memcpy(target + at, is + at, size);
}

/* Updates a copy of the target without a pass over the indices before: the kernel looks at each index before its update, and stops where
 * one is out of range. */
static uf_status copy_update(plan_run *run) {
    const uf_plan *p = run->plan;
    size_t size = dtypes[p->pass[0].v.operand[0].memory].size;
    int64_t n = p->at.highest - p->at.lowest + 1, lowest = p->at.lowest * (int64_t)size;
    char *target = (char *)run->data[TARGET] + lowest, *was = workspace_take(&run->space, 2 * (size_t)n * size), *is;
    void *data[PLAN_ARGUMENTS];
    if (!was)
        return fail_memory();
    is = was + (size_t)n * size;
    memcpy(was, target, (size_t)n * size);
    memcpy(is, was, (size_t)n * size);
    memcpy(data, run->data, (size_t)p->nargs * sizeof *data);
    data[TARGET] = is - lowest;
    plan_run own = *run;
    own.data = data;
    TRY(plan_pass_run(&own));
    if (*run->outside)
        return indices_check(&p->at, run->data + 1);
    changes_write(target, was, is, n, size);
    return UF_OK;
}

static uf_status at_run(plan_run *run) {
    int64_t outside = 0;
    run->outside = &outside;
    return run->plan->at.copies ? copy_update(run) : plan_pass_run(run);
}

static uf_status at_named(const uf_plan *p, uf_status status) { return named(status, p->at.nindices, 0, NULL); }

/* How a plan's addresses become those of leaves: the target's and the indices' stay, the operand has one for each of its own. */
static uf_status at_keep(uf_plan *p, const plan_request *r) {
    int n = r->nindices, targets = r->func->nout;
    expansion_map *m = expansion_map_new(p);
    if (!m)
        return fail_memory();
    m->n = p->nargs;
    m->ncaller = 1 + n + (r->operand != NULL);
    for (int k = 0; k < p->nargs; k++) {
        m->of[k] = (uint8_t)(k <= n ? k : 1 + n);
        m->offset[k] = k <= n ? 0 : expanded_offset(r->expanded, targets + k - 1 - n);
    }
    memset(m->align, 1, (size_t)m->ncaller);
    m->align[TARGET] = r->expanded->align[0];
    if (r->operand)
        m->align[1 + n] = r->expanded->align[1];
    p->expanded = m;
    return UF_OK;
}

static const plan_verb at_verb = {.options = "uf_options",
                                  .keep = at_keep,
                                  .arguments = at_arguments,
                                  .bind = at_bind,
                                  .lay = at_lay,
                                  .bounds = at_bounds,
                                  .compare = at_compare,
                                  .check = at_check,
                                  .run = at_run,
                                  .fits = at_fits,
                                  .specialise = at_specialise,
                                  .named = at_named};

/* ---- The verbs ---- */

static inline plan_request request_of(const char *name, const uf_func *func, const DLTensor *target, int nindices,
                                      const DLTensor *indices, const DLTensor *operand, const uf_options *options) {
    return (plan_request){.verb = &at_verb,
                          .name = name,
                          .func = func,
                          .options = options,
                          .target = target,
                          .indices = indices,
                          .operand = operand,
                          .nindices = nindices};
}

static uf_status once(const plan_request *r, void *user) {
    (void)user;
    return plan_once(r);
}
static uf_status lasting(const plan_request *r, void *out) { return plan_new(out, r); }

/* Does something with a request, or, where the target has records, with that of a form of the function. */
static uf_status at_do(const plan_request *r, uf_status (*run)(const plan_request *r, void *user), void *user) {
    DLTensor args[3];
    plan_request own = *r;
    TRY(updates_check(r->func));
    TRY(pointers_check(r));
    if (!func_takes_records(r->func))
        return run(r, user);
    own.nargs = arguments_list(r, args);
    own.args = args;
    bool expanded = false;
    expansion x;
    uf_status s = call_named(expansion_begin(&x, &own, r->func->nin, &expanded), r);
    if (!s)
        s = run(expanded ? &x.request : r, user);
    expansion_end(&x);
    return s;
}

uf_status uf_at(const uf_func *func, const DLTensor *target, int nindices, const DLTensor *indices,
                const DLTensor *operand, const uf_options *options) {
    RANGE("uf_at", func);
    uf_options own;
    TRY(options_read(options, &own, &options));
    const plan_request r = request_of("uf_at", func, target, nindices, indices, operand, options);
    return at_do(&r, once, NULL);
}

uf_status uf_at_plan(uf_plan **out, const uf_func *func, const DLTensor *target, int nindices, const DLTensor *indices,
                     const DLTensor *operand, const uf_options *options) {
    uf_options own;
    TRY(plan_out(out));
    TRY(options_read(options, &own, &options));
    const plan_request r = request_of("uf_at_plan", func, target, nindices, indices, operand, options);
    return at_do(&r, lasting, out);
}
