/* fold.c - what uf_reduce, uf_accumulate and uf_reduceat share: two loops, one over the results and within it one
 * over the elements of a result. A plan has one pass; or two, where the elements of a result are divided in parts:
 * then the first pass leaves a state for each part in scratch memory, and the second combines them. */
#include "core/fold.h"

enum {
    SCRATCH_ALIGN = 256 /* alignment of each piece of scratch memory */
};

static int states_of(const uf_plan *p) {
    const variant *v = p->fold.parts ? &p->fold.asked : &p->pass[0].v;
    return p->fold.fold->nstate + v->reduction.counted;
}

static dtype state_type(const uf_plan *p, int k) {
    return k < p->fold.fold->nstate ? p->fold.fold->state[k] : DT_INT64;
}

/* ---- Arguments ---- */

uf_status fold_arguments_count(const plan_request *r, int *nin, int *nout) {
    TRY(func_check(r->func));
    TRY(fold_arity(r->func, r->name, nin, nout));
    return args_count(r->name, r->func->name, *nin, *nout, r->nargs, r->args);
}

uf_status fold_arguments(const plan_request *r, call_args *a, void **data) {
    int nin, nout;
    TRY(fold_arguments_count(r, &nin, &nout));
    TRY(args_take(nin, r->nargs, r->args, NULL, r->options, r->how, a, data));
    for (int k = nin; k < a->nargs; k++)
        a->array[k].role = ND_RESULTS;
    for (int k = 0; r->initial && k < fold_states(r->func); k++) {
        char *at = r->initial[k].data;
        data[a->narrays + k] = at ? at + r->initial[k].byte_offset : NULL;
    }
    return UF_OK;
}

uf_status fold_bind(const plan_request *r, call_args *a, const binding **out) {
    return fold_find(r->func, a, r->options->casting, r->options->signature, r->options->flags, out);
}

static unsigned loop_flags(const plan_request *r, const fold_form *form, const fold *x) {
    return form->flags | (r->keepdims ? ND_KEEPDIMS : 0) | (x->order ? ND_KEEP_ORDER : 0);
}

/* ---- The operands that are no inputs or outputs ---- */

static uf_status initial_fail(uf_status status, int k, const char *why) {
    return fail(status, "initial value %d: %s", k, why);
}

/* Checks everything about an initial value but its value, which each run reads. */
static uf_status initial_check(const plan_request *r, int k, dtype to) {
    const DLTensor *t = &r->initial[k];
    dtype from = dtype_of_dl(t->dtype);
    int device = (int)t->device.device_type;
    if (from == DT_NONE)
        return initial_fail(UF_ERR_ARGUMENT, k, "its dtype is none of the fifteen");
    if (t->ndim != 0)
        return fail(UF_ERR_ARGUMENT, "initial value %d: its rank is %d, but must be 0", k, t->ndim);
    if (device != kDLCPU && device != kDLCUDAHost)
        return initial_fail(UF_ERR_DEVICE, k, "it is not in host memory");
    if (!t->data && !(r->how & (ARGS_LASTING | ARGS_EMPTY)))
        return initial_fail(UF_ERR_ARGUMENT, k, "its data is NULL");
    bool integers = dtype_is_integer(from) && dtype_is_integer(to); /* between integers only the value must fit */
    if (!integers && !dtype_can_cast(from, to, UF_CAST_SAME_KIND))
        return fail(UF_ERR_CAST, "initial value %d: is %s, which does not cast to %s, the state's, under the rule %s",
                    k, dtypes[from].name, dtypes[to].name, casting_name(UF_CAST_SAME_KIND));
    return UF_OK;
}

static void array_add(call_args *a, nd_array array) { a->array[a->narrays++] = array; }

/* Adds the arrays that are neither inputs nor outputs: bounds, initial values, position. The begins and the ends of
 * segments are one array, shifted by one element. */
static uf_status arrays_add(uf_plan *p, const plan_request *r, const fold_form *form, call_args *a) {
    fold_part *x = &p->fold;
    for (int k = 0; form->segmented && k < 2; k++)
        array_add(a, (nd_array){.shape = &x->nsegments, .ndim = 1, .size = sizeof(int64_t), .role = ND_BOUNDS});
    x->initial = p->nargs;
    for (int k = 0; r->initial && k < x->fold->nstate; k++) {
        dtype to = x->fold->state[k];
        TRY(initial_check(r, k, to));
        plan_argument_set(p, p->nargs, dtype_of_dl(r->initial[k].dtype), NULL, SAYS_INITIAL + k);
        p->argument[p->nargs++].number = !(r->how & ARGS_EMPTY);
        array_add(a, (nd_array){.number = true, .size = dtypes[to].size});
    }
    if (x->fold->takes_position)
        array_add(a, (nd_array){.role = ND_POSITION});
    return UF_OK;
}

/* ---- The variant ---- */

/* Sets the variant of the first pass as far as the call decides it; the engine decides the rest. */
static void variant_fill(uf_plan *p, const plan_request *r, const fold_form *form, const call_args *a) {
    plan_pass *s = &p->pass[0];
    variant *v = &s->v;
    const fold *f = p->fold.fold;
    int k = a->nargs;
    plan_variant(s, form->loop, a->nin, a->nargs - a->nin);
    v->reports = func_reports_steps(p->func, p->binding->traits.unbounded, p->cancel);
    v->masked = r->options->where != NULL;
    v->segmented = form->segmented;
    v->ninitial = (uint8_t)(r->initial ? f->nstate : 0);
    v->position = f->takes_position;
    v->reduction.empty = s->loops.reduced.count == 0;
    code_items(v, &p->binding->traits);
    plan_operands(s, a, k, p->binding->types);
    if (v->masked)
        plan_operand(s, k++, a->nargs, DT_BOOL, DT_BOOL);
    for (int i = 0; i < 2 * v->segmented; i++)
        plan_operand(s, k++, SOURCE_BOUNDS, DT_INT64, DT_INT64);
    for (int i = 0; i < v->ninitial; i++)
        plan_operand(s, k++, p->fold.initial + i, f->state[i], f->state[i]);
    if (v->position)
        plan_operand(s, k, SOURCE_POSITION, DT_INT64, DT_INT64);
}

/* Lets the engine complete the variant; returns the elements of a part. whole: the elements of a result must not be
 * divided. misalignment: as in fold_problem. */
static int64_t pass_specialise(const uf_plan *p, plan_pass *s, bool whole, const uint8_t *misalignment) {
    return engines[p->engine]->specialise_fold(&s->v, &(fold_problem){.loops = &s->loops,
                                                                      .traits = &p->binding->traits,
                                                                      .device = p->device,
                                                                      .whole = whole,
                                                                      .uneven = p->fold.uneven,
                                                                      .misalignment = misalignment});
}

/* The same of the first pass, for the addresses of a call. */
static int64_t first_specialise(uf_plan *p, void *const *data) {
    plan_misalignment(&p->pass[0], data, p->misalignment);
    return pass_specialise(p, &p->pass[0], false, p->misalignment);
}

/* ---- Inputs that lie interleaved, which follows from the addresses of a run ---- */

static void interleave(const uf_plan *p, const plan_pass *s, void *const *data, nd_member *out) {
    nd_place place[VARIANT_OPERANDS];
    plan_places(s, data, place);
    nd_fold_interleave(&s->loops, place, p->binding->fold->nin, out);
}

/* Where nothing is reduced inputs are not read. */
static bool may_interleave(const uf_plan *p, const plan_pass *s) {
    return s->v.loop == LOOP_FOLD && !s->v.reduction.empty && s->v.nin > 1 && !p->idle;
}

static bool groups_fit(const uf_plan *p, void *const *data) {
    const plan_pass *s = &p->pass[0];
    nd_member member[VARIANT_OPERANDS];
    if (!may_interleave(p, s))
        return true;
    interleave(p, s, data, member);
    return !memcmp(member, p->member, (size_t)s->v.nin * sizeof *member);
}

/* Is the code one that is for aligned addresses alone? */
static bool is_aligned(const uf_plan *p) {
    const variant *v = &p->pass[0].v;
    return p->engine == ENGINE_CUDA && v->loop == LOOP_FOLD && v->fold.aligned;
}

bool fold_fits(const uf_plan *p, void *const *data) {
    uint8_t misalignment[VARIANT_OPERANDS];
    if (!groups_fit(p, data))
        return false;
    if (!is_aligned(p))
        return true;
    plan_misalignment(&p->pass[0], data, misalignment);
    return !memcmp(misalignment, p->misalignment, (size_t)p->pass[0].loops.kept.narrays);
}

/* Nothing else of a variant depends on addresses, and on the CPU nothing on how they are aligned. */
uf_status fold_respecialise(const uf_plan *p, void *const *data, variant *v) {
    nd_member member[VARIANT_OPERANDS];
    memcpy(v, &p->pass[0].v, variant_size(&p->pass[0].v));
    if (is_aligned(p))
        v->fold.aligned = 0; /* code that serves all */
    if (!may_interleave(p, &p->pass[0]))
        return UF_OK;
    interleave(p, &p->pass[0], data, member);
    for (int k = 0; k < v->nin; k++) {
        v->operand[k].group = member[k].group;
        v->operand[k].offset = member[k].offset;
        v->operand[k].align = p->engine == ENGINE_CUDA ? member[k].align : 0;
    }
    return UF_OK;
}

/* ---- Parts ---- */

/* The operands of the first pass once it writes states. of[k] becomes the number that operand k had before, or -1
 * for a state. */
static int states_operands(const variant *v, int states, int *of) {
    int n = 0;
    for (int k = 0; k < v->nin; k++)
        of[n++] = k;
    for (int k = 0; k < states; k++)
        of[n++] = -1;
    if (v->masked)
        of[n++] = variant_mask(v);
    for (int i = 0; i < 2 * v->segmented; i++)
        of[n++] = variant_bounds(v) + i;
    if (v->position)
        of[n++] = variant_position(v);
    return n;
}

/* Sets the loops of the first pass when it writes the states of parts. Its chunk is the size of a part. States are
 * laid out as [results][parts], so that the second pass finds those of one result side by side. */
static void states_loops(uf_plan *p, void *space) {
    plan_pass *s = &p->pass[0];
    fold_part *x = &p->fold;
    int of[VARIANT_OPERANDS], n = states_operands(&x->asked, states_of(p), of);
    int64_t total = x->whole.reduced.count;
    x->parts = total / s->chunk + (total % s->chunk != 0);
    nd_fold_regroup(&x->whole, n, of, x->parts, space, &s->loops);
}

static void states_fill(uf_plan *p) {
    plan_pass *s = &p->pass[0];
    variant *v = &s->v;
    const variant *was = &p->fold.asked;
    uint8_t source[VARIANT_OPERANDS];
    int of[VARIANT_OPERANDS], states = states_of(p), n = states_operands(was, states, of);
    memcpy(source, s->source, sizeof source);
    v->reduction.to_states = 1;
    v->nout = (uint8_t)states;
    v->ninitial = 0;
    for (int k = 0; k < n; k++) {
        if (of[k] < 0) {
            plan_operand(s, k, SOURCE_SCRATCH, state_type(p, k - v->nin), state_type(p, k - v->nin));
            continue;
        }
        v->operand[k] = was->operand[of[k]];
        s->source[k] = source[of[k]];
        s->shift[k] = 0;
    }
}

/* Makes the first pass write a state for each part. The size of a part is what specialise_fold said; parts_settle
 * asks again once the code is compiled, if the engine wants that. */
static uf_status divide(uf_plan *p, void *const *data) {
    plan_pass *s = &p->pass[0];
    fold_part *x = &p->fold;
    s->v.reduction.counted |=
        s->v.segmented && s->v.reduction.sparse; /* parts of a short segment may have no elements */
    x->whole = s->loops;
    x->asked = s->v;
    x->parts = 1;
    int of[VARIANT_OPERANDS], n = states_operands(&x->asked, states_of(p), of);
    void *space = plan_space(p, nd_fold_space(x->whole.kept.ndim + x->whole.reduced.ndim, n));
    if (!space)
        return fail_memory();
    states_loops(p, space);
    s->chunk_stride = 1;
    states_fill(p);
    first_specialise(p, data);
    p->npasses = 2;
    return UF_OK;
}

/* Makes the arrays of the second pass: states, outputs, bounds, initial values. Its loops go over the results, in the order
 * of the first pass's loop, and over the parts. `words` holds their shape and strides. */
static int second_arrays(const uf_plan *p, int64_t *words, nd_array *arrays) {
    const fold_part *x = &p->fold;
    const variant *was = &x->asked;
    const nd_loop *kept = &x->whole.kept;
    int nd = kept->ndim, n = 0, states = states_of(p);
    int64_t *shape = words, *strides = words + nd + 1, dense = x->parts;
    shape[nd] = x->parts;
    strides[nd] = p->pass[0].chunk_stride;
    for (int d = 0; d < nd; d++) {
        shape[nd - 1 - d] = kept->extent[d];
        strides[nd - 1 - d] = dense;
        dense *= kept->extent[d];
    }
    for (int k = 0; k < states; k++)
        arrays[n++] =
            (nd_array){.shape = shape, .strides = strides, .ndim = nd + 1, .size = dtypes[state_type(p, k)].size};
    for (int k = was->nin; k < was->nin + was->nout; k++) {
        strides += nd + 1;
        for (int d = 0; d < nd; d++)
            strides[nd - 1 - d] = kept->stride[d * kept->narrays + k];
        arrays[n++] = (nd_array){.shape = shape,
                                 .strides = strides,
                                 .ndim = nd,
                                 .size = dtypes[was->operand[k].memory].size,
                                 .output = true,
                                 .role = ND_RESULTS};
    }
    for (int i = 0; i < 2 * was->segmented; i++) {
        strides += nd + 1;
        for (int d = 0; d < nd; d++)
            strides[nd - 1 - d] = kept->stride[d * kept->narrays + variant_bounds(was) + i];
        arrays[n++] =
            (nd_array){.shape = shape, .strides = strides, .ndim = nd, .size = sizeof(int64_t), .role = ND_RESULTS};
    }
    for (int k = 0; k < was->ninitial; k++)
        arrays[n++] = (nd_array){.number = true};
    return n;
}

static void second_fill(uf_plan *p) {
    plan_pass *s = &p->pass[1];
    variant *v = &s->v;
    const fold_part *x = &p->fold;
    const variant *was = &x->asked;
    int states = states_of(p), k = 0;
    plan_variant(s, LOOP_FOLD, states, was->nout);
    v->reports = was->reports;
    v->ninitial = was->ninitial;
    v->segmented = was->segmented;
    v->reduction.sparse = was->reduction.sparse;
    v->reduction.counted = was->reduction.counted;
    v->reduction.from_states = 1;
    for (; k < states; k++)
        plan_operand(s, k, SOURCE_SCRATCH, state_type(p, k), state_type(p, k));
    for (int i = was->nin; i < was->nin + was->nout; i++, k++) {
        plan_operand(s, k, i, was->operand[i].memory, was->operand[i].value);
        s->shift[k] = x->whole.kept.offset[i] * dtypes[was->operand[i].memory].size;
    }
    for (int i = 0; i < 2 * was->segmented; i++, k++)
        plan_operand(s, k, SOURCE_BOUNDS, DT_INT64, DT_INT64);
    for (int i = 0; i < was->ninitial; i++, k++)
        plan_operand(s, k, x->initial + i, x->fold->state[i], x->fold->state[i]);
}

/* Lays the second pass, from states to results. */
static uf_status second_lay(uf_plan *p) {
    plan_pass *s = &p->pass[1];
    nd_array arrays[VARIANT_OPERANDS];
    int nd = p->fold.whole.kept.ndim;
    int64_t *words =
        plan_space(p, (size_t)((nd + 1) * (p->fold.asked.nout + 2 * p->fold.asked.segmented + 2)) * sizeof *words);
    if (!words)
        return fail_memory();
    int n = second_arrays(p, words, arrays);
    void *space = plan_space(p, nd_fold_space(nd + 1, n));
    if (!space)
        return fail_memory();
    TRY(nd_fold_plan(arrays, n, (uint64_t)1 << nd, p->fold.flags & ND_KEEP_ORDER, space, &s->loops));
    second_fill(p);
    pass_specialise(p, s, true, NULL);
    return UF_OK;
}

static void parts_set(uf_plan *p, int64_t chunk) {
    p->pass[0].chunk = chunk;
    states_loops(p, p->pass[0].loops.kept.extent);
}

/* Compiles the first pass and, at the same time, the second for as many parts as the engine takes there to be. Where it is wrong the second
 * is compiled again, for those that there are. */
static uf_status parts_compile(uf_plan *p) {
    plan_pass *s = p->pass;
    const variant *const v[] = {&s[0].v, &s[1].v};
    const code *made[CODE_TOGETHER];
    const int64_t asked = s->chunk;
    const launch l = plan_launch(p, s);
    int64_t chunk;
    TRY(engines[p->engine]->fold_chunk(NULL, &l, &chunk));
    parts_set(p, chunk);
    TRY(second_lay(p));
    TRY(binding_codes(p->func, p->binding, v, 2, made));
    s->code = made[0];
    parts_set(p, asked);
    return UF_OK;
}

static uf_status parts_settle(uf_plan *p) {
    plan_pass *s = &p->pass[0];
    const engine *e = engines[p->engine];
    int64_t chunk;
    if (!e->fold_chunk)
        return UF_OK;
    s->code = binding_has(p->binding, &s->v);
    if (!s->code)
        TRY(parts_compile(p));
    const launch l = plan_launch(p, s);
    TRY(e->fold_chunk(s->code, &l, &chunk));
    parts_set(p, chunk);
    return UF_OK;
}

/* ---- Scratch memory: the states of parts, then the bounds, then what a launch takes ---- */

static bool piece_add(uf_plan *p, int64_t count, size_t size, size_t *at) {
    size_t bytes;
    *at = p->scratch_size;
    return !__builtin_mul_overflow((size_t)count, size, &bytes) &&
           !__builtin_add_overflow(p->scratch_size, (bytes + SCRATCH_ALIGN - 1) / SCRATCH_ALIGN * SCRATCH_ALIGN,
                                   &p->scratch_size);
}

static size_t launch_scratch(const uf_plan *p, const plan_pass *s) {
    const engine *e = engines[p->engine];
    if (!e->fold_scratch)
        return 0;
    const launch l = plan_launch(p, s);
    return e->fold_scratch(&l);
}

static bool states_place(uf_plan *p) {
    for (int k = 0; k < states_of(p); k++) {
        int64_t count;
        size_t at;
        if (__builtin_mul_overflow(p->pass[0].loops.kept.count, p->fold.parts, &count) ||
            !piece_add(p, count, dtypes[state_type(p, k)].size, &at))
            return false;
        p->pass[0].shift[p->pass[0].v.nin + k] = p->pass[1].shift[k] = (int64_t)at;
    }
    return true;
}

/* The begins and the ends of segments are one array, shifted by one element. On a GPU there is room for a copy of it. */
static bool bounds_place(uf_plan *p) {
    p->fold.bounds_at = 0;
    for (int i = 0; i < p->npasses; i++) {
        plan_pass *s = &p->pass[i];
        int k = variant_bounds(&s->v);
        int64_t first = i ? p->fold.whole.kept.offset[variant_bounds(&p->fold.asked)] : 0;
        s->shift[k] = first * (int64_t)sizeof(int64_t);
        s->shift[k + 1] = s->shift[k] + (int64_t)sizeof(int64_t);
    }
    return p->engine == ENGINE_CPU || piece_add(p, p->fold.nsegments + 1, sizeof(int64_t), &p->fold.bounds_at);
}

/* The two launches share one piece, as the second runs after the first. */
static uf_status scratch_lay(uf_plan *p) {
    bool two = p->npasses == 2;
    size_t first = launch_scratch(p, &p->pass[0]), second = two ? launch_scratch(p, &p->pass[1]) : 0;
    bool fits = (!two || states_place(p)) && (!p->pass[0].v.segmented || bounds_place(p)) &&
                piece_add(p, 1, first > second ? first : second, &p->launch_at);
    return fits ? UF_OK : fail(UF_ERR_MEMORY, "the states of parts of the results need 2^64 bytes or more");
}

uf_status fold_settle(uf_plan *p) {
    if (p->npasses == 2) {
        TRY(parts_settle(p));
        TRY(second_lay(p));
    }
    return scratch_lay(p);
}

/* ---- Laying a plan ---- */

static uf_status axes_find(uf_plan *p, const plan_request *r, const call_args *a, uint64_t *axes) {
    int64_t shape[UF_MAX_NDIM];
    int ndim;
    TRY(nd_fold_shape(a->array, a->narrays, &ndim, shape));
    TRY(nd_axes(r->naxes, r->axes, ndim, axes));
    p->fold.extent = *axes ? shape[__builtin_ctzll(*axes)] : 1;
    return UF_OK;
}

static uf_status loops_lay(uf_plan *p, const plan_request *r, const fold_form *form, call_args *a) {
    uint64_t axes;
    TRY(axes_find(p, r, a, &axes));
    TRY(arrays_add(p, r, form, a));
    void *space = plan_space(p, nd_fold_space(args_rank(a), a->narrays));
    if (!space)
        return fail_memory();
    return nd_fold_plan(a->array, a->narrays, axes, p->fold.flags, space, &p->pass[0].loops);
}

/* Is there nothing to do? That is so without results, and in scans and segments also without elements: starts on a
 * device are then all out of range. */
static bool is_idle(const plan_pass *s, const fold_form *form) {
    return s->loops.kept.count == 0 || (s->loops.reduced.count == 0 && (form->loop == LOOP_SCAN || form->segmented));
}

uf_status fold_lay(uf_plan *p, const plan_request *r, call_args *a, const fold_form *form, void *const *data) {
    plan_pass *s = &p->pass[0];
    p->fold.fold = p->binding->fold;
    p->fold.flags = loop_flags(r, form, p->fold.fold);
    p->fold.uneven = r->options->flags & UF_UNEVEN;
    if (form->segmented && p->fold.nsegments >= engines[p->engine]->segments_inside)
        p->fold.flags |= ND_SEGMENTS_INSIDE;
    p->fold.parts = 0;
    TRY(loops_lay(p, r, form, a));
    if (form->begins)
        TRY(form->begins(p, r));
    p->idle = is_idle(s, form);
    if (p->idle)
        return UF_OK;
    p->elements = s->loops.reduced.count;
    variant_fill(p, r, form, a);
    TRY(plan_outputs_check(p));
    if (may_interleave(p, s)) {
        interleave(p, s, data, p->member);
        plan_groups(&s->v, p->member, s->v.nin);
    }
    s->chunk = first_specialise(p, data);
    return s->chunk > 0 ? divide(p, data) : UF_OK;
}

/* ---- Overlap ---- */

bool fold_self_overlap(const uf_plan *p, const plan_pass *s, int k) {
    (void)p;
    return nd_fold_self_overlap(&s->loops, k);
}

void fold_bounds(const uf_plan *p, const plan_pass *s, int k, int64_t *lowest, int64_t *highest) {
    (void)p;
    nd_fold_bounds(&s->loops, k, lowest, highest);
}

/* Only a scan may run in place: it reads an element before it writes the one at the same place. */
nd_overlap fold_compare(const uf_plan *p, const plan_pass *s, int a, const char *data_a, int b, const char *data_b) {
    const variant_operand *o = s->v.operand;
    nd_overlap how =
        nd_fold_compare(&s->loops, a, data_a, dtypes[o[a].memory].size, b, data_b, dtypes[o[b].memory].size);
    (void)p;
    return how == ND_SAME && s->loops.kept.loop == LOOP_FOLD ? ND_OVERLAP : how;
}

/* ---- Initial values ---- */

uf_status fold_check_initial(const plan_run *run) {
    const uf_plan *p = run->plan;
    uint64_t words[2];
    for (int k = p->fold.initial; k < p->nargs && p->argument[k].number; k++)
        TRY(plan_number(p, k, run->data[k], p->fold.fold->state[k - p->fold.initial], words));
    return UF_OK;
}

/* ---- Shapes of results, and the size of scratch memory ---- */

static uf_status infer(const plan_request *r, void *user) {
    const fold_form *form = user;
    DLTensor *args = (DLTensor *)(uintptr_t)r->args;
    call_args a;
    const binding *b;
    int64_t shape[UF_MAX_NDIM], results[UF_MAX_NDIM];
    void *data[PLAN_ARGUMENTS];
    int ndim, results_ndim;
    uint64_t axes;
    TRY(fold_arguments(r, &a, data));
    TRY(fold_bind(r, &a, &b));
    TRY(nd_fold_shape(a.array, a.narrays, &ndim, shape));
    TRY(nd_axes(r->naxes, r->axes, ndim, &axes));
    nd_fold_results(ndim, shape, axes, loop_flags(r, form, b->fold), &results_ndim, results);
    for (int k = a.nin; k < r->nargs; k++)
        TRY(output_check(k, b->types[k], results_ndim, results));
    for (int k = a.nin; k < r->nargs; k++) {
        args[k].ndim = results_ndim;
        memcpy(args[k].shape, results, (size_t)results_ndim * sizeof *results);
        args[k].dtype = dtypes[b->types[k]].dl;
    }
    return UF_OK;
}

uf_status fold_infer(const plan_request *r, const fold_form *form) {
    return with_records(r, infer, (void *)(uintptr_t)form);
}

uf_status fold_bytes_check(size_t *bytes) {
    if (!bytes)
        return fail(UF_ERR_ARGUMENT, "bytes is NULL");
    *bytes = 0;
    return UF_OK;
}

static uf_status scratch_size(const plan_request *r, void *user) {
    size_t *bytes = user;
    uf_plan p;
    void *data[PLAN_ARGUMENTS];
    uf_status s = plan_decide(&p, r, data);
    if (!s)
        s = plan_look(&p, data);
    if (!s && !p.idle && p.engine == ENGINE_CUDA)
        *bytes = p.scratch_size;
    plan_end(&p);
    return s;
}

uf_status fold_scratch_size(const plan_request *r, size_t *bytes) { return with_records(r, scratch_size, bytes); }
