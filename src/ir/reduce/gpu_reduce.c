/* gpu_reduce.c - reductions on the GPU, what rows and columns share: reading the parameters, finding results and elements, loading,
 * storing, partials in shared memory. */
#include "ir/reduce/gpu_reduce.h"

#include "ir/common/internal.h"

/* ---- Parameters ---- */

static bool has_parts(const variant *v) { return v->reduction.to_states; }

static ssa *read_strides(skeleton *s, parameter_id id, int n) {
    ssa *strides = arena_alloc(s->e->a, (size_t)n * sizeof *strides);
    for (int d = 0; d < n; d++)
        strides[d] = skeleton_parameter(s, id);
    return strides;
}

static divisor *read_divisors(skeleton *s, parameter_id id, int first, int end) {
    divisor *d = arena_alloc(s->e->a, (size_t)(end + 1) * sizeof *d);
    for (int i = first; i < end; i++)
        d[i] = skeleton_divisor(s, id);
    return d;
}

static void read_reduced(gpu_fold *g) {
    skeleton *s = &g->w->s;
    if (s->v->reduction.reduced > 1) {
        g->unit = skeleton_divisor(s, GPU_FOLD_UNIT);
        g->reduced = read_divisors(s, GPU_FOLD_REDUCED, 0, s->v->reduction.reduced - 1);
    }
}

gpu_fold *gpu_fold_begin(fold_writer *w) {
    skeleton *s = &w->s;
    const variant *v = s->v;
    gpu_fold *g = arena_alloc(s->e->a, sizeof *g);
    g->w = w;
    g->results = skeleton_parameter(s, GPU_FOLD_RESULTS);
    g->total = skeleton_parameter(s, GPU_FOLD_TOTAL);
    g->elements = skeleton_parameter(s, GPU_FOLD_ELEMENTS);
    g->aligned = skeleton_parameter(s, GPU_FOLD_ALIGNED);
    if (v->fold.aligned) /* it is true, and the compiler is to know */
        g->aligned = ssa_bool(true);
    if (v->segmented)
        g->stop = skeleton_parameter(s, GPU_FOLD_STOP);
    if (variant_defers_segments(v))
        g->longest = skeleton_parameter(s, GPU_FOLD_LONG);
    if (v->fold.split) {
        g->split = skeleton_divisor(s, GPU_FOLD_SPLIT);
        g->second = skeleton_parameter(s, GPU_FOLD_SECOND);
        g->list = skeleton_parameter(s, GPU_FOLD_LIST);
    }
    if (has_parts(v)) {
        g->chunk = skeleton_parameter(s, GPU_FOLD_CHUNK);
        g->chunk_stride = skeleton_parameter(s, GPU_FOLD_CHUNK_STRIDE);
        g->parts = skeleton_divisor(s, GPU_FOLD_PARTS);
    }
    if (v->reduction.columns) {
        g->columns = skeleton_parameter(s, GPU_FOLD_COLUMNS);
        g->shift = skeleton_parameter(s, GPU_FOLD_SHIFT);
        g->across = skeleton_divisor(s, GPU_FOLD_ACROSS);
    }
    g->kept = read_divisors(s, GPU_FOLD_KEPT, v->reduction.columns, v->ndim - !v->reduction.columns);
    if (!v->reduction.empty)
        read_reduced(g);
    for (int k = 0; k < s->noperands; k++)
        if (variant_places(v, k))
            g->kept_stride[k] = read_strides(s, GPU_FOLD_KEPT_STRIDES, v->ndim);
    for (int k = 0; k < s->noperands && !v->reduction.empty; k++)
        if (variant_moves(v, k))
            g->reduced_stride[k] = read_strides(s, GPU_FOLD_REDUCED_STRIDES, v->reduction.reduced);
    return g;
}

/* ---- Places ---- */

void gpu_fold_divide(gpu_fold *g, const divisor *d, ssa x, ssa *quotient, ssa *remainder) {
    skeleton *s = &g->w->s;
    if (s->v->wide) {
        skeleton_divide(s, d, true, x, quotient, remainder);
        return;
    }
    ssa q, r;
    skeleton_divide(s, d, false, emit_value(s->e, "trunc i64 %s to i32", x.text), &q, &r);
    *quotient = emit_widen(s->e, q);
    *remainder = emit_widen(s->e, r);
}

/* a + b * c, or b * c if a is none. */
static ssa multiply_add(emit *e, ssa a, ssa b, ssa c) {
    ssa product = emit_op(e, "mul i64", b, c);
    return ssa_is_set(a) ? emit_op(e, "add i64", a, product) : product;
}

void gpu_fold_place(gpu_fold *g, fold_place *p, ssa index, int first) {
    skeleton *s = &g->w->s;
    ssa offset[VARIANT_OPERANDS] = {ssa_none()}, rest = index, part;
    for (int d = first; d < s->v->ndim; d++) {
        if (d < s->v->ndim - 1 || (s->v->reduction.columns && has_parts(s->v)))
            gpu_fold_divide(g, &g->kept[d], rest, &rest, &part);
        else
            part = rest;
        for (int k = 0; k < s->noperands; k++)
            if (g->kept_stride[k])
                offset[k] = multiply_add(s->e, offset[k], part, g->kept_stride[k][d]);
    }
    if (s->v->reduction.columns && has_parts(s->v))
        p->part = rest;
    for (int k = 0; k < s->noperands; k++)
        if (g->kept_stride[k])
            p->at[k] = ssa_is_set(offset[k]) ? skeleton_address(s, k, s->base[k], offset[k]) : s->base[k];
}

/* Reads where the segment of a result begins and ends; a segment that does not end behind its begin is one element. */
static void segment_range(gpu_fold *g, fold_place *p) {
    emit *e = g->w->s.e;
    int k = variant_bounds(g->w->s.v);
    ssa first = p->at[k], second = p->at[k + 1];
    ssa bits = emit_value(e, "ptrtoint i64%s %s to i64", ir_global_pointer(e), second.text);
    ssa open = emit_op(e, "icmp eq i64", bits, g->stop);
    ssa begin = emit_load(e, DT_INT64, first), axis = variant_reads_segments(g->w->s.v) ? g->total : g->elements;
    second = emit_value(e, "select i1 %s, i64%s %s, i64%s %s", open.text, ir_global_pointer(e), first.text,
                        ir_global_pointer(e), second.text);
    ssa end = emit_load(e, DT_INT64, second), over = emit_op(e, "icmp sgt i64", end, axis);
    end = emit_select_as(e, "i64", emit_op(e, "or i1", open, over), axis, end);
    ssa length = emit_op(e, "sub i64", end, begin), some = emit_op(e, "icmp sgt i64", end, begin);
    ssa inside = emit_op(e, "icmp ult i64", begin, axis);
    p->there = emit_op(e, "and i1", p->there, inside);
    p->begin = emit_select_as(e, "i64", inside, begin, ssa_constant(0));
    p->count = emit_select_as(e, "i64", emit_op(e, "and i1", inside, some), length, ssa_constant(1));
    p->end = emit_op(e, "add i64", p->begin, p->count);
}

/* Interleaved parts let blocks that run at the same time read neighbouring memory, however that is spread over memory channels. */
bool gpu_fold_interleaved(const gpu_fold *g) { return has_parts(g->w->s.v) && g->w->f->order == FOLD_FREE; }

ssa gpu_fold_parts(gpu_fold *g) { return g->w->s.v->wide ? g->parts.extent : emit_widen(g->w->s.e, g->parts.extent); }

ssa gpu_fold_last_part(gpu_fold *g, const fold_place *p) {
    ssa next = emit_value(g->w->s.e, "add i64 %s, 1", p->part.text);
    return emit_op(g->w->s.e, "icmp eq i64", next, gpu_fold_parts(g));
}

/* Elements of a part of a segment: so many that all parts have all of them. */
static ssa part_of_segment(gpu_fold *g, const fold_place *p) {
    ssa up = emit_value(g->w->s.e, "sub i64 %s, 1", gpu_fold_parts(g).text), chunk, rest;
    gpu_fold_divide(g, &g->parts, emit_op(g->w->s.e, "add i64", p->count, up), &chunk, &rest);
    return chunk;
}

void gpu_fold_range(gpu_fold *g, fold_place *p) {
    emit *e = g->w->s.e;
    if (g->w->s.v->segmented)
        segment_range(g, p);
    if (!variant_reads_segments(g->w->s.v)) {
        p->begin = ssa_constant(0);
        p->end = g->total;
    }
    if (has_parts(g->w->s.v) && !gpu_fold_interleaved(g)) {
        ssa end = p->end, chunk = g->w->s.v->segmented ? part_of_segment(g, p) : g->chunk;
        ssa begin = emit_op(e, "mul i64", p->part, chunk);
        p->begin = g->w->s.v->segmented ? emit_min(e, emit_op(e, "add i64", p->begin, begin), end) : begin;
        p->end = emit_min(e, emit_op(e, "add i64", p->begin, chunk), end);
    }
}

/* ---- Elements ---- */

fold_index gpu_fold_index(gpu_fold *g, ssa index, bool units) {
    skeleton *s = &g->w->s;
    int last = s->v->reduction.reduced - 1;
    fold_index x = {arena_alloc(s->e->a, (size_t)s->v->reduction.reduced * sizeof *x.part)};
    ssa rest = index;
    for (int d = 0; d < last; d++)
        gpu_fold_divide(g, units && !d ? &g->unit : &g->reduced[d], rest, &rest, &x.part[d]);
    x.part[last] = rest;
    if (units && s->v->fold.vector > 1)
        x.part[0] = emit_value(s->e, "mul i64 %s, %d", x.part[0].text, s->v->fold.vector);
    return x;
}

ssa gpu_fold_offset(gpu_fold *g, const fold_index *x, int k) {
    const variant *v = g->w->s.v;
    ssa offset = ssa_none();
    for (int d = 0; d < v->reduction.reduced; d++) {
        bool plain = !d && !v->reduction.columns && v->operand[k].kind == OPERAND_CONTIGUOUS;
        if (plain)
            offset = x->part[0];
        else if (d || v->reduction.columns || v->operand[k].kind != OPERAND_CONSTANT)
            offset = multiply_add(g->w->s.e, offset, x->part[d], g->reduced_stride[k][d]);
    }
    return ssa_is_set(offset) ? offset : ssa_constant(0);
}

fold_access fold_access_new(gpu_fold *g, int lanes) {
    arena *a = g->w->s.e->a;
    return (fold_access){.in = arena_alloc(a, (size_t)(lanes * g->w->s.noperands) * sizeof(ssa)),
                         .position = arena_alloc(a, (size_t)lanes * sizeof(ssa)),
                         .lanes = lanes};
}

ssa gpu_fold_position(gpu_fold *g, ssa start, ssa stride, int times) {
    emit *e = g->w->s.e;
    if (!g->w->hold_positions)
        return times ? emit_op(e, "add i64", start, emit_value(e, "mul i64 %s, %d", stride.text, times)) : start;
    ssa low = emit_value(e, "trunc i64 %s to i32", start.text);
    ssa step = emit_value(e, "trunc i64 %s to i32", stride.text);
    if (times)
        low = emit_op(e, "add i32", low, emit_value(e, "mul i32 %s, %d", step.text, times));
    return emit_widen(e, low);
}

partial fold_access_partial(gpu_fold *g, const fold_access *a, int lane) {
    return fold_element(g->w, a->in + (size_t)lane * (size_t)g->w->s.noperands, a->position[lane]);
}

/* ---- Partials ---- */

static ssa count_of(const gpu_fold *g, const fold_place *p) { return ssa_is_set(p->count) ? p->count : g->elements; }

static void store_results(gpu_fold *g, const fold_place *p, const ssa *results, const ssa *offset) {
    skeleton *s = &g->w->s;
    for (int k = s->nin; k < s->nin + s->v->nout; k++) {
        ssa at = p->at[k];
        if (offset)
            at = skeleton_address(s, k, at, offset[k]);
        if (has_parts(s->v))
            at = skeleton_address(s, k, at, emit_op(s->e, "mul i64", p->part, g->chunk_stride));
        emit_store(s->e, skeleton_memory(s, k), results[k - s->nin], at);
    }
}

void gpu_fold_store(gpu_fold *g, const fold_place *p, const partial *x, const ssa *offset, ssa where) {
    ssa results[UF_MAX_OPERANDS];
    int end = skeleton_if(&g->w->s, where);
    fold_outcome(g->w, x, count_of(g, p), results);
    store_results(g, p, results, offset);
    skeleton_end_if(&g->w->s, end);
}

void gpu_fold_store_vector(gpu_fold *g, const fold_place *p, const partial *x, int n, ssa first) {
    skeleton *s = &g->w->s;
    ssa results[BATCH_LANES][UF_MAX_OPERANDS], values[BATCH_LANES];
    for (int i = 0; i < n; i++)
        fold_outcome(g->w, &x[i], count_of(g, p), results[i]);
    for (int k = s->nin; k < s->nin + s->v->nout; k++) {
        for (int i = 0; i < n; i++)
            values[i] = results[i][k - s->nin];
        emit_store_vector(s->e, skeleton_memory(s, k), values, skeleton_address(s, k, p->at[k], first), n);
    }
}

void gpu_fold_empty(gpu_fold *g) {
    emit *e = g->w->s.e;
    ssa threads = emit_widen(e, emit_special_register(e, "ntid"));
    ssa index = emit_op(e, "mul i64", emit_widen(e, emit_special_register(e, "ctaid")), threads);
    index = emit_op(e, "add i64", index, emit_widen(e, emit_special_register(e, "tid")));
    fold_place p = {.there = emit_op(e, "icmp slt i64", index, g->results)};
    ssa results[UF_MAX_OPERANDS];
    int end = skeleton_if(&g->w->s, p.there);
    gpu_fold_place(g, &p, index, 0);
    partial x = fold_beginning(g->w);
    fold_results(g->w, &x, ssa_constant(0), results);
    store_results(g, &p, results, NULL);
    skeleton_end_if(&g->w->s, end);
}

/* ---- Partials of a thread ---- */

void fold_slot_add(fold_writer *w, const partial_slot *slot, const partial *x) {
    partial old = partial_get(w, slot), both = fold_join(w, &old, x);
    partial_put(w, slot, &both);
}

fold_levels fold_levels_new(fold_writer *w, int lanes) {
    arena *a = w->s.e->a;
    fold_levels l = {.w = w, .lanes = lanes};
    l.inner = arena_alloc(a, (size_t)lanes * sizeof *l.inner);
    l.outer = arena_alloc(a, (size_t)lanes * sizeof *l.outer);
    for (int i = 0; i < lanes; i++) {
        fold_narrow(w, true);
        l.inner[i] = partial_variable(w, fold_sparse(w));
        fold_narrow(w, false);
        l.outer[i] = partial_variable(w, fold_sparse(w));
    }
    return l;
}

void fold_levels_begin(const fold_levels *l) {
    fold_narrow(l->w, true);
    partial none = fold_none(l->w);
    for (int i = 0; i < l->lanes; i++)
        partial_put(l->w, &l->inner[i], &none);
}

void fold_levels_end(const fold_levels *l) {
    for (int i = 0; i < l->lanes; i++) {
        fold_narrow(l->w, true);
        partial part = partial_get(l->w, &l->inner[i]);
        fold_narrow(l->w, false);
        part = fold_widened(l->w, &part);
        fold_slot_add(l->w, &l->outer[i], &part);
    }
}

/* ---- Partials in memory ---- */

static ssa shared_array(emit *e, const char *name, int k, dtype type, int count) {
    const char *t = ir_memory_type(type);
    int n = dtype_is_complex(type) ? 2 * count : count;
    ssa array = ssa_named("@%s_%d", name, k);
    if (emit_once(e, array.text))
        text_printf(&e->declarations, "%s = internal addrspace(3) global [%d x %s] undef, align 16\n", array.text, n,
                    t);
    return emit_value(e, "getelementptr [%d x %s], [%d x %s] addrspace(3)* %s, i64 0, i64 0", n, t, n, t, array.text);
}

partial_array partial_array_new(fold_writer *w, const char *name, int count, bool sparse) {
    partial_array a = {.present = ssa_none(), .shared = true};
    for (int k = 0; k < w->nstate; k++)
        a.base[k] = shared_array(w->s.e, name, k, w->state[k], count);
    if (sparse)
        a.present = shared_array(w->s.e, name, PARTIAL_VALUES, DT_BOOL, count);
    return a;
}

/* The address of an array so many bytes behind an address. */
static ssa global_array(emit *e, ssa address, int bytes, dtype type) {
    ssa at = emit_value(e, "add i64 %s, %d", address.text, bytes);
    return emit_value(e, "inttoptr i64 %s to %s%s", at.text, ir_memory_type(type), ir_global_pointer(e));
}

partial_array partial_array_at(fold_writer *w, ssa address, int count, bool sparse) {
    partial_array a = {.present = ssa_none()};
    int bytes = 0;
    for (int k = 0; k < w->nstate; k++) {
        a.base[k] = global_array(w->s.e, address, bytes, w->state[k]);
        bytes += count * dtypes[w->state[k]].size;
    }
    if (sparse)
        a.present = global_array(w->s.e, address, bytes, DT_BOOL);
    return a;
}

void partial_array_put(fold_writer *w, const partial_array *a, ssa index, const partial *x) {
    emit *e = w->s.e;
    e->shared = a->shared;
    for (int k = 0; k < w->nstate; k++)
        emit_store(e, w->state[k], x->v[k], emit_element(e, w->state[k], a->base[k], index));
    if (ssa_is_set(a->present))
        emit_store(e, DT_BOOL, ssa_or_true(x->present), emit_element(e, DT_BOOL, a->present, index));
    e->shared = false;
}

partial partial_array_get(fold_writer *w, const partial_array *a, ssa index) {
    emit *e = w->s.e;
    partial x = {.present = ssa_none()};
    e->shared = a->shared;
    for (int k = 0; k < w->nstate; k++)
        x.v[k] = emit_load(e, w->state[k], emit_element(e, w->state[k], a->base[k], index));
    if (ssa_is_set(a->present))
        x.present = emit_load(e, DT_BOOL, emit_element(e, DT_BOOL, a->present, index));
    e->shared = false;
    return x;
}
