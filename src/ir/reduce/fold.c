/* fold.c - partial results: made of elements, combined, and turned into results; and the module of a reduction. See fold.h. */
#include "ir/reduce/pairwise.h"

#include <assert.h>

#include "ir/common/internal.h"
#include "ir/common/nodes.h"

/* ---- Variables ---- */

static ssa variable(emit *e, const char *type) { return emit_value(e, "alloca %s", type); }

partial_slot partial_variable(fold_writer *w, bool sparse) {
    partial_slot slot = {.present = ssa_none()};
    for (int k = 0; k < w->nstate; k++)
        slot.v[k] = variable(w->s.e, ir_value_type(w->state[k]));
    if (sparse)
        slot.present = variable(w->s.e, "i1");
    return slot;
}

void partial_put(fold_writer *w, const partial_slot *slot, const partial *x) {
    emit *e = w->s.e;
    for (int k = 0; k < w->nstate; k++) {
        const char *t = ir_value_type(w->state[k]);
        emit_line(e, "store %s %s, %s* %s", t, x->v[k].text, t, slot->v[k].text);
    }
    if (ssa_is_set(slot->present))
        emit_line(e, "store i1 %s, i1* %s", ssa_or_true(x->present).text, slot->present.text);
}

partial partial_get(fold_writer *w, const partial_slot *slot) {
    emit *e = w->s.e;
    partial x = {.present = ssa_none()};
    for (int k = 0; k < w->nstate; k++) {
        const char *t = ir_value_type(w->state[k]);
        x.v[k] = emit_value(e, "load %s, %s* %s", t, t, slot->v[k].text);
    }
    if (ssa_is_set(slot->present))
        x.present = emit_value(e, "load i1, i1* %s", slot->present.text);
    return x;
}

/* ---- Values ---- */

bool fold_sparse(const fold_writer *w) { return w->s.v->reduction.sparse || w->f->order == FOLD_SERIAL; }

static bool counted(const fold_writer *w) { return w->s.v->reduction.counted; }
static int count_at(const fold_writer *w) { return w->f->nstate; } /* the count's place in a partial */

/* Value k as partials hold it (positions in 32 bits where they fit), and in the type of the state. */
static ssa held(fold_writer *w, ssa value, int k) { return emit_convert(w->s.e, value, w->f->state[k], w->state[k]); }
static ssa full(fold_writer *w, ssa value, int k) { return emit_convert(w->s.e, value, w->state[k], w->f->state[k]); }

static void full_values(fold_writer *w, const partial *x, ssa *values) {
    for (int k = 0; k < w->f->nstate; k++)
        values[k] = full(w, x->v[k], k);
}

static void hold_values(fold_writer *w, partial *x) {
    for (int k = 0; k < w->f->nstate; k++)
        x->v[k] = held(w, x->v[k], k);
}

/* Calls a tree of the fold; results are converted to what is wanted. */
static void apply(fold_writer *w, const tree *t, const char *entry, const ssa *in, const dtype *wanted, ssa *out) {
    const function *f = t->kernel;
    emit_kernel_call(w->s.e, t, entry, in, out);
    for (int k = 0; k < f->nresults; k++)
        out[k] = emit_convert(w->s.e, out[k], f->locals[f->nparams + k].type, wanted[k]);
}

static ssa operand_value(fold_writer *w, const ssa *in, int k) {
    const variant_operand *o = &w->s.v->operand[k];
    return w->s.uniform[k] ? w->s.value[k] : emit_convert(w->s.e, in[k], (dtype)o->memory, (dtype)o->value);
}

/* Is it a sum of integers of at most 16 bits in 64 bits? */
static bool fold_narrows(const fold_writer *w) {
    const fold *f = w->f;
    const variant_operand *o = w->s.v->operand;
    if (w->s.v->reduction.from_states || f->map || f->nstate != 1 ||
        (f->state[0] != DT_INT64 && f->state[0] != DT_UINT64) || o[0].kind >= OPERAND_NUMBER ||
        dtypes[o[0].memory].size > 2 || dtypes[o[0].memory].kind > DK_INTEGER ||
        !dtype_can_cast((dtype)o[0].memory, (dtype)o[0].value, UF_CAST_SAFE) ||
        !dtype_can_cast((dtype)o[0].memory, f->state[0], UF_CAST_SAFE))
        return false;
    const char *name = tree_operator(f->combine, f->state[0]);
    return name && !strcmp(name, "add") && !fold_sparse(w);
}

void fold_narrow(fold_writer *w, bool on) {
    if (!fold_narrows(w))
        return;
    w->narrow = on;
    w->state[0] = on ? DT_INT32 : w->f->state[0];
}

partial fold_widened(fold_writer *w, const partial *x) {
    partial y = *x;
    if (fold_narrows(w))
        y.v[0] = emit_convert(w->s.e, x->v[0], DT_INT32, w->state[0]);
    return y;
}

/* Is it a sum in 64 bits of what is 0 or 1, as counts are? */
bool fold_counts(const fold_writer *w) {
    const fold *f = w->f;
    const node *flag =
        f->map && f->nstate == 1 && f->map->kernel->nresults == 1 ? function_returned(f->map->kernel) : NULL;
    if (w->s.v->reduction.from_states || !flag || flag->kind != N_CONVERT || flag->kid[0]->type != DT_BOOL ||
        (f->state[0] != DT_INT64 && f->state[0] != DT_UINT64) || counted(w) || fold_sparse(w))
        return false;
    const char *name = tree_operator(f->combine, f->state[0]);
    return name && !strcmp(name, "add");
}

/* An input in 32 bits. */
static ssa narrow_value(fold_writer *w, const ssa *in) {
    return emit_convert(w->s.e, in[0], (dtype)w->s.v->operand[0].memory, DT_INT32);
}

/* The address of input k, which lies beside the one that leads its group. */
static ssa beside(fold_writer *w, int k, const ssa *at) {
    emit *e = w->s.e;
    const variant_operand *o = &w->s.v->operand[k];
    int leader = o->group - 1;
    const char *from = ir_memory_type(skeleton_memory(&w->s, leader)), *to = ir_memory_type(skeleton_memory(&w->s, k));
    ssa bytes = emit_pointer_as(e, from, at[leader], "i8");
    return emit_pointer_as(e, "i8", emit_value(e, "getelementptr inbounds i8, i8* %s, i64 %d", bytes.text, o->offset),
                           to);
}

void fold_load(fold_writer *w, const ssa *at, ssa *in) {
    for (int k = 0; k < w->s.noperands; k++)
        if (fold_reads(w, k))
            in[k] = emit_load(w->s.e, skeleton_memory(&w->s, k), at[k]);
        else if (variant_follows(w->s.v, k))
            in[k] = emit_load(w->s.e, skeleton_memory(&w->s, k), beside(w, k, at));
}

bool fold_needs_rows(const fold_writer *w) {
    bool needs = fold_has_loops(w->f);
    for (int k = 0; k < w->s.noperands; k++)
        needs |= fold_reads(w, k) && !w->s.v->operand[k].staged;
    return needs;
}

partial fold_element(fold_writer *w, const ssa *in, ssa position) {
    const fold *f = w->f;
    const variant *v = w->s.v;
    emit *e = w->s.e;
    ssa values[UF_MAX_OPERANDS + 1] = {0};
    partial x = {.present = ssa_none()};
    for (int k = 0; k < v->nin; k++)
        values[k] = operand_value(w, in, k);
    if (v->reduction.from_states) {
        memcpy(x.v, values, (size_t)w->nstate * sizeof *values);
        if (counted(w) && fold_sparse(w))
            x.present = emit_value(e, "icmp ne i64 %s, 0", x.v[count_at(w)].text);
        return x;
    }
    values[v->nin] = position;
    if (f->map) {
        apply(w, f->map, "map", values, f->state, x.v);
        hold_values(w, &x);
    }
    for (int k = 0; k < f->nstate && !f->map; k++)
        x.v[k] = w->narrow ? narrow_value(w, in) : emit_convert(e, values[k], f->in[k], f->state[k]);
    if (counted(w))
        x.v[count_at(w)] = ssa_constant(1);
    if (!v->masked)
        return x;
    ssa mask = operand_value(w, in, variant_mask(v));
    return fold_if(w, mask, &x);
}

/* ---- No elements, and what stands in front of all ---- */

static void identity_values(fold_writer *w, partial *x) {
    apply(w, w->f->identity, "identity", NULL, w->f->state, x->v);
}

bool fold_fills(const fold_writer *w) {
    number n;
    return w->f->identity && !fold_sparse(w) && !fold_neutral(w->f, &n);
}

partial fold_none(fold_writer *w) {
    partial x = {.present = ssa_none()};
    number n;
    bool sparse = fold_sparse(w), neutral = !sparse && fold_neutral(w->f, &n);
    if (fold_fills(w)) {
        identity_values(w, &x);
        hold_values(w, &x);
    }
    for (int k = 0; k < w->f->nstate && (sparse || neutral); k++)
        x.v[k] = emit_constant(neutral ? n : (number){.type = w->state[k]}, w->state[k]);
    if (sparse)
        x.present = ssa_bool(false);
    if (counted(w))
        x.v[count_at(w)] = ssa_constant(0);
    return x;
}

bool fold_begins(const fold_writer *w) {
    const variant *v = w->s.v;
    return !v->reduction.to_states && (v->ninitial || (w->f->identity && !v->segmented));
}

partial fold_beginning(fold_writer *w) {
    partial x = {.present = ssa_none()};
    bool initial = w->s.v->ninitial;
    if (!initial)
        identity_values(w, &x);
    for (int k = 0; initial && k < w->f->nstate; k++)
        x.v[k] = w->s.value[variant_initial(w->s.v) + k];
    if (counted(w))
        x.v[count_at(w)] = ssa_constant(0);
    return x;
}

partial fold_if(fold_writer *w, ssa counts, const partial *x) {
    partial y = *x;
    if (!ssa_is_set(counts))
        return y;
    if (fold_sparse(w)) {
        y.present = ssa_is_set(x->present) ? emit_op(w->s.e, "and i1", x->present, counts) : counts;
        if (counted(w))
            y.v[count_at(w)] = emit_select_as(w->s.e, "i64", counts, x->v[count_at(w)], ssa_constant(0));
        return y;
    }
    partial none = fold_none(w);
    return fold_choose(w, counts, x, &none);
}

partial fold_choose(fold_writer *w, ssa condition, const partial *yes, const partial *no) {
    partial x = {.present = ssa_none()};
    for (int k = 0; k < w->nstate; k++)
        x.v[k] = emit_select(w->s.e, w->state[k], condition, yes->v[k], no->v[k]);
    if (ssa_is_set(yes->present) || ssa_is_set(no->present))
        x.present = emit_select_as(w->s.e, "i1", condition, ssa_or_true(yes->present), ssa_or_true(no->present));
    return x;
}

/* CPU: the larger or smaller of two integers of at most 16 bits, which the text computes in 32, is found in those bits, so that a vector
 * holds as many as it has room for. The predicate, or NULL. */
static const char *narrow_order(const fold_writer *w) {
    static const char *const rows[][2] = {{"max", "sgt"}, {"umax", "ugt"}, {"min", "slt"}, {"umin", "ult"}};
    const fold *f = w->f;
    if (w->s.e->target->gpu || f->nstate != 1 || dtypes[f->state[0]].size > 2 || !dtype_is_integer(f->state[0]))
        return NULL;
    const char *name = tree_operator(f->combine, f->state[0]);
    for (size_t i = 0; name && i < COUNT(rows); i++)
        if (!strcmp(name, rows[i][0]))
            return rows[i][1];
    return NULL;
}

static partial combine_values(fold_writer *w, const partial *a, const partial *b) {
    const fold *f = w->f;
    ssa in[2 * UF_MAX_STATE] = {0};
    partial x = {.present = ssa_none()};
    const char *order = narrow_order(w);
    if (w->narrow) {
        x.v[0] = emit_op(w->s.e, "add i32", a->v[0], b->v[0]);
    } else if (order) {
        const char *t = ir_value_type(f->state[0]);
        ssa first = emit_value(w->s.e, "icmp %s %s %s, %s", order, t, a->v[0].text, b->v[0].text);
        x.v[0] = emit_select_as(w->s.e, t, first, a->v[0], b->v[0]);
    } else {
        full_values(w, a, in);
        full_values(w, b, in + f->nstate);
        apply(w, f->combine, "combine", in, f->state, x.v);
        hold_values(w, &x);
    }
    if (counted(w))
        x.v[count_at(w)] = emit_op(w->s.e, "add i64", a->v[count_at(w)], b->v[count_at(w)]);
    return x;
}

/* Combines two partials by a function with a loop, which might not end for values that are not present: a branch goes around it. */
static partial join_there(fold_writer *w, const partial *a, const partial *b) {
    emit *e = w->s.e;
    int here = emit_label_new(e), both = emit_label_new(e), end = emit_label_new(e);
    emit_branch(e, here);
    emit_label(e, here);
    ssa first = ssa_or_true(a->present), second = ssa_or_true(b->present);
    partial one = fold_choose(w, first, a, b), x = {.present = emit_op(e, "or i1", first, second)};
    emit_branch_if(e, emit_op(e, "and i1", first, second), both, end);
    emit_label(e, both);
    partial two = combine_values(w, a, b);
    int after = e->block;
    emit_branch(e, end);
    emit_label(e, end);
    for (int k = 0; k < w->nstate; k++)
        x.v[k] = emit_value(e, "phi %s [ %s, %%L%d ], [ %s, %%L%d ]", ir_value_type(w->state[k]), one.v[k].text, here,
                            two.v[k].text, after);
    return x;
}

/* The count of a partial that is not present is 0, so that counts are just added. */
partial fold_join(fold_writer *w, const partial *a, const partial *b) {
    if ((ssa_is_set(a->present) || ssa_is_set(b->present)) && w->f->combine->has_loop)
        return join_there(w, a, b);
    partial both = combine_values(w, a, b), x = both;
    for (int k = 0; k < w->f->nstate; k++) {
        if (ssa_is_set(b->present))
            x.v[k] = emit_select(w->s.e, w->state[k], b->present, x.v[k], a->v[k]);
        if (ssa_is_set(a->present))
            x.v[k] = emit_select(w->s.e, w->state[k], a->present, x.v[k], b->v[k]);
    }
    if (ssa_is_set(a->present) && ssa_is_set(b->present))
        x.present = emit_op(w->s.e, "or i1", a->present, b->present);
    return x;
}

bool fold_is_long(const fold_writer *w) { return !emit_is_short(w->s.e, "combine", SIMPLE_LINES); }

partial fold_tree(fold_writer *w, partial *partials, int n) {
    assert(n > 0);
    for (; n > 1; n = (n + 1) / 2)
        for (int i = 0; i < n / 2; i++) {
            partials[i] = fold_join(w, &partials[2 * i], &partials[2 * i + 1]);
            if (i == n / 2 - 1 && n % 2)
                partials[i + 1] = partials[n - 1];
        }
    return partials[0];
}

/* ---- Results ---- */

static void to_memory(fold_writer *w, ssa *results) {
    for (int k = 0; k < w->s.v->nout; k++) {
        const variant_operand *o = &w->s.v->operand[w->s.nin + k];
        results[k] = emit_convert(w->s.e, results[k], (dtype)o->value, (dtype)o->memory);
    }
}

/* Results of a state whose values are in full. */
static void results_of(fold_writer *w, ssa *in, ssa count, ssa *results) {
    const fold *f = w->f;
    if (w->s.v->reduction.to_states) {
        memcpy(results, in, (size_t)w->s.v->nout * sizeof *in);
    } else if (f->finish) {
        if (!counted(w))
            in[f->nstate] = count;
        apply(w, f->finish, "finish", in, f->out, results);
    } else {
        for (int k = 0; k < f->nout; k++)
            results[k] = emit_convert(w->s.e, in[k], f->state[k], f->out[k]);
    }
    to_memory(w, results);
}

void fold_results(fold_writer *w, const partial *x, ssa count, ssa *results) {
    ssa in[PARTIAL_VALUES] = {0};
    full_values(w, x, in);
    if (counted(w))
        in[count_at(w)] = x->v[count_at(w)];
    results_of(w, in, count, results);
}

void fold_outcome(fold_writer *w, const partial *x, ssa count, ssa *results) {
    partial all = *x;
    dtype held_as[UF_MAX_STATE];
    if (!fold_begins(w) || w->begun || w->s.v->reduction.empty) {
        fold_results(w, x, count, results);
        return;
    }
    full_values(w, x, all.v);
    size_t size = (size_t)w->f->nstate * sizeof *held_as;
    memcpy(held_as, w->state,
           size); /* the values of a beginning need not be positions, so they are combined in the types of the state */
    memcpy(w->state, w->f->state, size);
    partial first = fold_beginning(w);
    all = fold_join(w, &first, &all);
    results_of(w, all.v, count, results);
    memcpy(w->state, held_as, size);
}

/* ---- The module ---- */

typedef struct fold_request {
    fold_writer w;
    const variant *v;
    fold_skeleton *write;
} fold_request;

static void write_kernel(emit *e, void *user) {
    fold_request *q = user;
    fold_writer *w = &q->w;
    const fold *f = w->f;
    e->reports = q->v->reports;
    if (f->map && !q->v->reduction.from_states)
        emit_functions(e, f->map, "map");
    emit_functions(e, f->combine, "combine");
    if (f->identity)
        emit_functions(e, f->identity, "identity");
    if (f->finish && !q->v->reduction.to_states)
        emit_functions(e, f->finish, "finish");
    skeleton_begin(&w->s, e, f->combine, q->v, NULL);
    for (int k = 0; k < f->nstate && w->hold_positions; k++)
        if (fold_is_position(w, k))
            w->state[k] = DT_UINT32;
    q->write(w);
    skeleton_end(&w->s);
}

uf_status fold_module(arena *a, const char *name, const fold *f, const variant *v, const code_target *target,
                      code_module *module, fold_skeleton *write) {
    fold_request *q = arena_alloc(a, sizeof *q);
    if (!q)
        return fail_memory();
    fold_writer *w = &q->w;
    q->v = v;
    q->write = write;
    w->f = f;
    w->nstate = f->nstate + v->reduction.counted;
    memcpy(w->state, f->state, sizeof f->state);
    if (v->reduction.counted)
        w->state[f->nstate] = DT_INT64;
    w->hold_positions = target->gpu && !v->wide && !v->reduction.empty && v->loop == LOOP_FOLD;
    return skeleton_module(a, name, v, target, module, write_kernel, q);
}

static fold_skeleton *skeleton_of(const variant *v, bool gpu) {
    static fold_skeleton *const skeletons[2][2] = {{cpu_fold, cpu_fold}, {gpu_fold_rows, gpu_fold_columns}};
    if (gpu && variant_interleaved_results(v))
        return gpu_fold_interleaved_results;
    return gpu && v->fold.length && !v->reduction.columns ? gpu_fold_short : skeletons[gpu][v->reduction.columns];
}

uf_status ir_fold(arena *a, const char *name, const fold *f, const variant *v, const code_target *target,
                  code_module *module) {
    return fold_module(a, name, f, v, target, module, skeleton_of(v, target->gpu));
}

void ir_fold_traits(const fold *f, code_traits *out) {
    number n;
    memset(out, 0, sizeof *out);
    out->nodes = f->combine->nodes + (f->map ? f->map->nodes : 0);
    out->has_loop = fold_has_loops(f);
    const tree *const trees[] = {f->map, f->combine, f->finish, f->identity};
    for (size_t i = 0; i < COUNT(trees); i++)
        out->unbounded |= trees[i] && trees[i]->has_unbounded;
    out->order = f->order;
    out->nstate = f->nstate;
    for (int k = 0; k < f->nstate; k++)
        out->state_bytes += dtypes[f->state[k]].size < 4 ? 4 : dtypes[f->state[k]].size;
    out->identity = f->identity;
    out->neutral = fold_neutral(f, &n);
    out->takes_count = f->takes_count;
    out->absorbing = fold_absorbing(f);
    out->short_rows = pairwise_short_rows(f);
    out->extremum = fold_extremum(f) != EXTREMUM_NONE;
}
