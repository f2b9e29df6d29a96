/* gpu_reduce_rows.c - reductions on the GPU whose neighbouring lanes take neighbouring elements of one result. A cooperative group of threads
 * visits a result's elements, some accesses of 16 bytes a thread at a time, and loads all of a visit before it combines the first. Visits
 * are combined in two levels, so that rounding errors grow slowly; then the threads of the group are combined, by shuffles within a warp
 * and shared memory between warps. What is no whole visit is one whose accesses ask whether they exist; a result that has no more than that
 * (fold.once) has no code for whole ones. How often "combine" stands in the code is what it takes to compile: where it is long, it stands in loops. If order is to be kept (FOLD_ORDERED), each warp has a run of elements of its own, and each lane
 * neighbouring accesses of a visit, which its warp combines before the next visit. */
#include "ir/reduce/gpu_reduce_rows.h"
#include "ir/common/internal.h"
#include "ir/common/lanes.h"

enum {
    SINGLES = 4, /* elements a thread has in flight where it goes by single ones */
    WARPS_MOST = 32
};

/* ---- What is visited: accesses by vectors, or single elements ---- */

/* Access i (i64) of a line: by vectors the i-th from the first aligned one on, else the i-th element outside of those. */
typedef struct line {
    const fold_place *p;
    ssa first;       /* element at which accesses by vectors begin */
    ssa head, whole; /* elements before it (counted from p->begin), and in all accesses by vectors */
    bool vectors;
} line;

/* The index, as gpu_fold_index takes it. */
static ssa index_of(rows *r, const line *l, ssa i) {
    emit *e = r->e;
    int vector = r->vector;
    if (vector == 1)
        return emit_op(e, "add i64", l->first, i);
    if (!l->vectors) {
        ssa past = emit_op(e, "add i64", i, l->whole);
        i = emit_select_as(e, "i64", emit_op(e, "icmp slt i64", i, l->head), i, past);
        return emit_op(e, "add i64", l->p->begin, i);
    }
    if (r->w->s.v->reduction.reduced == 1)
        return emit_op(e, "add i64", l->first, emit_value(e, "mul i64 %s, %d", i.text, vector));
    return emit_op(e, "add i64", emit_value(e, "udiv i64 %s, %d", l->first.text, vector), i);
}

static void load_operand(rows *r, const fold_access *a, int k, ssa offset, const fold_place *p) {
    skeleton *s = &r->w->s;
    emit *e = r->e;
    int n = s->noperands, kind = s->v->operand[k].kind;
    dtype type = skeleton_memory(s, k);
    ssa at = skeleton_address(s, k, p->at[k], offset), values[BATCH_LANES];
    for (int i = 0; i < a->lanes && s->v->operand[k].group; i++) {
        ssa step = i ? emit_value(e, "mul i64 %s, %d", r->g->reduced_stride[k][0].text, i) : ssa_constant(0);
        skeleton_load(s, k, skeleton_address(s, k, at, step), 1, true, a->in + (size_t)i * (size_t)n);
    }
    if (s->v->operand[k].group)
        return;
    if (kind == OPERAND_CONTIGUOUS && a->lanes > 1) {
        emit_load_vector(e, type, at, a->lanes, values);
    } else {
        for (int i = 0; i < a->lanes; i++) {
            if (i && kind == OPERAND_CONSTANT) {
                values[i] = values[0];
                continue;
            }
            ssa step = i ? emit_value(e, "mul i64 %s, %d", r->g->reduced_stride[k][0].text, i) : ssa_constant(0);
            values[i] = emit_load(e, type, skeleton_address(s, k, at, step));
        }
    }
    for (int i = 0; i < a->lanes; i++)
        a->in[i * n + k] = values[i];
}

static fold_access load_access(rows *r, const line *l, ssa i) {
    skeleton *s = &r->w->s;
    int vector = l->vectors ? r->vector : 1;
    bool units = l->vectors && s->v->reduction.reduced > 1;
    fold_index x;
    if (s->v->reduction.reduced == 1) {
        x.part = arena_alloc(r->e->a, sizeof(ssa));
        x.part[0] = index_of(r, l, i);
    } else {
        x = gpu_fold_index(r->g, index_of(r, l, i), units);
    }
    fold_access a = fold_access_new(r->g, vector);
    emit_invariant(r->e, true);
    for (int k = 0; k < s->noperands; k++)
        if (fold_reads(r->w, k))
            load_operand(r, &a, k, gpu_fold_offset(r->g, &x, k), l->p);
    emit_invariant(r->e, false);
    if (!s->v->position)
        return a;
    int k = variant_position(s->v);
    ssa start = emit_op(r->e, "add i64", s->value[k], gpu_fold_offset(r->g, &x, k));
    for (int j = 0; j < vector; j++)
        a.position[j] = gpu_fold_position(r->g, start, r->g->reduced_stride[k][0], j);
    return a;
}

static partial access_partial(rows *r, const fold_access *a) {
    partial *partials = arena_alloc(r->e->a, (size_t)a->lanes * sizeof *partials);
    for (int j = 0; j < a->lanes; j++)
        partials[j] = fold_access_partial(r->g, a, j);
    return fold_tree(r->w, partials, a->lanes);
}

/* A partial of each lane, combined over groups of 2^lanes lanes. */
partial rows_lanes(rows *r, const partial *x, int lanes) {
    return ssa_is_set(r->across.v[0]) ? partial_fold_lanes_in_loop(r->w, x, &r->across, lanes)
                                      : partial_fold_lanes(r->w, x, lanes);
}

/* Visits `steps` accesses of this thread from access `base` of the group on. limit: accesses from it on do not exist; none: all do. The
 * access `base` itself always exists. */
static partial visit(rows *r, const line *l, ssa base, int steps, ssa limit) {
    emit *e = r->e;
    fold_access *access = arena_alloc(e->a, (size_t)steps * sizeof *access);
    partial *partials = arena_alloc(e->a, (size_t)steps * sizeof *partials);
    ssa *there = arena_alloc(e->a, (size_t)steps * sizeof *there);
    for (int u = 0; u < steps; u++) {
        ssa own = r->ordered ? emit_value(e, "mul i64 %s, %d", r->lane.text, steps) : r->lane;
        ssa i = emit_op(e, "add i64", base, own);
        if (u)
            i = emit_value(e, "add i64 %s, %d", i.text, r->ordered ? u : u << r->coop);
        if (ssa_is_set(limit)) {
            there[u] = emit_op(e, "icmp slt i64", i, limit);
            i = emit_select_as(e, "i64", there[u], i, base);
        }
        access[u] = load_access(r, l, i);
    }
    for (int u = 0; u < steps; u++) {
        partials[u] = access_partial(r, &access[u]);
        partials[u] = fold_if(r->w, there[u], &partials[u]);
    }
    partial all = fold_tree(r->w, partials, steps);
    return r->ordered ? rows_lanes(r, &all, r->lanes) : all;
}

static void add(rows *r, const partial_slot *slot, const partial *x) {
    partial old = partial_get(r->w, slot), both = fold_join(r->w, &old, x);
    partial_put(r->w, slot, &both);
}

/* In order: the accesses of this thread's warp. Single elements behind the accesses by vectors are the last warp's. */
static void own_run(rows *r, const line *l, ssa count, ssa *from, ssa *to) {
    emit *e = r->e;
    int warps = 1 << (r->coop - COOP_WARP);
    ssa each = emit_value(e, "udiv i64 %s, %d", emit_value(e, "add i64 %s, %d", count.text, warps - 1).text, warps);
    ssa thread = emit_value(e, "and i32 %s, %d", emit_special_register(e, "tid").text, (1 << r->coop) - 1);
    ssa warp = emit_widen(e, emit_value(e, "lshr i32 %s, 5", thread.text));
    *from = emit_min(r->e, emit_op(e, "mul i64", warp, each), count);
    *to = emit_min(r->e, emit_op(e, "add i64", *from, each), count);
    if (l->vectors)
        return;
    ssa rest = emit_value(e, "icmp ne i64 %s, 0", l->whole.text);
    ssa last = emit_value(e, "icmp eq i64 %s, %d", warp.text, warps - 1);
    ssa own = emit_select_as(e, "i64", last, ssa_constant(0), count);
    *from = emit_select_as(e, "i64", rest, own, *from);
    *to = emit_select_as(e, "i64", rest, count, *to);
}

/* A visit whose accesses from `to` on do not exist, into r->outer. */
static void visit_some(rows *r, const line *l, ssa base, int steps, ssa to) {
    fold_narrow(r->w, true);
    partial x = visit(r, l, base, steps, to);
    fold_narrow(r->w, false);
    x = fold_widened(r->w, &x);
    add(r, &r->outer, &x);
}

/* The accesses from `from` to `to`, of each thread `steps` at a time. */
static void visit_by(rows *r, const line *l, ssa from, ssa to, int steps) {
    counted_loop i = counted_loop_begin(r->e, "i64", from, to);
    visit_some(r, l, i.i, steps, to);
    counted_loop_end(r->e, &i, ssa_constant(steps << (r->ordered ? r->lanes : r->coop)), loop_no_unroll(r->e));
}

/* Has no line more accesses than one visit? Not of single elements, which are all of a line that is not aligned. */
static bool visits_once(const rows *r, const line *l) {
    return l->vectors && (r->w->s.v->fold.once || r->w->s.v->fold.results);
}

/* The visits from access `from` to `full`, `step` apart, into r->outer. limit: as in visit. */
static void visit_in_levels(rows *r, const line *l, ssa from, ssa full, ssa step, int steps, ssa limit) {
    emit *e = r->e;
    ssa far = emit_value(e, "mul i64 %s, %d", step.text, INNER_VISITS);
    counted_loop o = counted_loop_begin(e, "i64", from, full);
    fold_narrow(r->w, true);
    partial none = fold_none(r->w);
    partial_put(r->w, &r->inner, &none);
    ssa some = emit_min(r->e, emit_op(e, "add i64", o.i, far), full);
    counted_loop i = counted_loop_begin(e, "i64", o.i, some);
    partial x = visit(r, l, i.i, steps, limit);
    add(r, &r->inner, &x);
    counted_loop_end(e, &i, step, loop_no_unroll(e));
    x = partial_get(r->w, &r->inner);
    fold_narrow(r->w, false);
    x = fold_widened(r->w, &x);
    add(r, &r->outer, &x);
    counted_loop_end(e, &o, far, loop_no_unroll(e));
}

/* Combines the accesses 0 .. count-1 of a line into r->outer. Where parts are interleaved, only the visits of this part; what is no whole
 * visit is then the last part's: a second visit, of accesses that ask whether they exist, or, where combining is long, two of half as many. */
static void visit_all(rows *r, const line *l, ssa count, int steps) {
    emit *e = r->e;
    int threads = r->ordered ? r->lanes : r->coop, width = steps << threads;
    ssa from = ssa_constant(0), to = count, step = ssa_constant(width);
    if (r->ordered && r->coop > COOP_WARP)
        own_run(r, l, count, &from, &to);
    if (gpu_fold_interleaved(r->g)) {
        from = emit_value(e, "mul i64 %s, %d", l->p->part.text, width);
        step = emit_value(e, "mul i64 %s, %d", gpu_fold_parts(r->g).text, width);
        to = count;
    }
    if (r->compact) {
        visit_in_levels(r, l, from, to, step, steps, to);
        return;
    }
    ssa full = from;
    if (!visits_once(r, l)) {
        ssa length = r->ordered ? emit_op(e, "sub i64", to, from) : count;
        full = emit_op(e, "sub i64", to, emit_value(e, "srem i64 %s, %d", length.text, width));
        visit_in_levels(r, l, from, full, step, steps, ssa_none());
    }
    ssa rest = emit_op(e, "icmp slt i64", full, to);
    if (gpu_fold_interleaved(r->g))
        rest = emit_op(e, "and i1", rest, gpu_fold_last_part(r->g, l->p));
    int end = skeleton_if(&r->w->s, rest);
    if (fold_is_long(r->w) && !visits_once(r, l))
        visit_by(r, l, full, to, (steps + 1) / 2);
    else
        visit_some(r, l, full, steps, to);
    skeleton_end_if(&r->w->s, end);
}

/* ---- Lines ---- */

/* The number of elements before the first one at which every contiguous operand is aligned for vectors; n if there is none. */
static ssa find_head(rows *r, const fold_place *p, ssa n) {
    skeleton *s = &r->w->s;
    emit *e = r->e;
    const fold_index start = {(ssa[]){p->begin}};
    ssa head = ssa_none(), good = ssa_bool(true);
    for (int k = 0; k < s->noperands; k++) {
        if (!fold_reads(r->w, k) || s->v->operand[k].kind != OPERAND_CONTIGUOUS)
            continue;
        dtype type = skeleton_memory(s, k);
        int size = dtypes[type].size, width = size * r->vector;
        ssa at = skeleton_address(s, k, p->at[k], gpu_fold_offset(r->g, &start, k));
        ssa bits = emit_value(e, "ptrtoint %s%s %s to i64", ir_memory_type(type), ir_global_pointer(e), at.text);
        ssa before = emit_value(e, "and i64 %s, %d", emit_op(e, "sub i64", ssa_constant(0), bits).text, width - 1);
        ssa mine = emit_value(e, "udiv i64 %s, %d", before.text, size);
        ssa exact = emit_value(e, "mul i64 %s, %d", mine.text, size);
        good = emit_op(e, "and i1", good, emit_op(e, "icmp eq i64", exact, before));
        if (ssa_is_set(head))
            good = emit_op(e, "and i1", good, emit_op(e, "icmp eq i64", head, mine));
        else
            head = mine;
    }
    return ssa_is_set(head) ? emit_select_as(e, "i64", good, emit_min(r->e, head, n), n) : ssa_constant(0);
}

/* Are elements that do not go by vectors no more than those at the two ends of a line? Of several operands, each may be aligned elsewhere. */
static bool has_ends_only(const rows *r) {
    const variant *v = r->w->s.v;
    int contiguous = 0;
    for (int k = 0; k < r->w->s.noperands; k++)
        contiguous += fold_reads(r->w, k) && v->operand[k].kind == OPERAND_CONTIGUOUS;
    return contiguous == 1 && v->reduction.reduced == 1 && !r->ordered;
}

/* All elements of a place into r->outer: by vectors from the head on, then all others one by one. In order, what comes
 * before a head would have to come first: there everything is either aligned or goes by single elements. */
static void visit_line(rows *r, const fold_place *p) {
    skeleton *s = &r->w->s;
    emit *e = r->e;
    ssa n = emit_op(e, "sub i64", p->end, p->begin);
    line l = {.p = p, .first = p->begin, .vectors = true};
    if (r->vector == 1) {
        visit_all(r, &l, n, r->steps);
        return;
    }
    if (s->v->reduction.reduced > 1) {
        l.head = emit_select_as(e, "i64", r->g->aligned, ssa_constant(0), n);
    } else {
        l.head = find_head(r, p, n);
        if (r->ordered)
            l.head = emit_select_as(e, "i64", emit_op(e, "icmp eq i64", l.head, ssa_constant(0)), ssa_constant(0), n);
    }
    ssa units = emit_value(e, "udiv i64 %s, %d", emit_op(e, "sub i64", n, l.head).text, r->vector);
    l.whole = emit_value(e, "mul i64 %s, %d", units.text, r->vector);
    l.first = emit_op(e, "add i64", p->begin, l.head);
    visit_all(r, &l, units, r->steps);
    l.vectors = false;
    ssa others = emit_op(e, "sub i64", n, l.whole);
    if (has_ends_only(r)) {
        if (gpu_fold_interleaved(r->g))
            others = emit_select_as(e, "i64", gpu_fold_last_part(r->g, p), others, ssa_constant(0));
        visit_by(r, &l, ssa_constant(0), others, 1);
    } else {
        visit_all(r, &l, others, SINGLES);
    }
}

/* ---- Cooperative groups ---- */

/* Combines the partials that the first lanes of the warps have; the first thread of the group has the result. */
partial rows_warps(rows *r, const partial *mine) {
    fold_writer *w = r->w;
    emit *e = r->e;
    ssa thread = emit_special_register(e, "tid"), lane = emit_value(e, "and i32 %s, 31", thread.text);
    int end = skeleton_if(&w->s, emit_value(e, "icmp eq i32 %s, 0", lane.text));
    partial_array_put(w, &r->shared, emit_widen(e, emit_value(e, "lshr i32 %s, 5", thread.text)), mine);
    skeleton_end_if(&w->s, end);
    emit_block_barrier(e);
    int warps = r->coop - COOP_WARP;
    ssa from = emit_value(e, "and i32 %s, %d", lane.text, (1 << warps) - 1);
    partial x = partial_array_get(w, &r->shared, emit_widen(e, from));
    return rows_lanes(r, &x, warps);
}

/* Combines the threads' partials; the first thread of a cooperative group has the result. */
partial rows_combine(rows *r, const partial *mine) {
    partial x = r->ordered ? *mine : rows_lanes(r, mine, r->lanes);
    return r->coop > COOP_WARP ? rows_warps(r, &x) : x;
}

/* Sets the threads of a cooperative group: 2^coop. */
void rows_group(rows *r, int coop) {
    r->coop = coop;
    r->lanes = coop < COOP_WARP ? coop : COOP_WARP;
    int within = (1 << (r->ordered ? r->lanes : coop)) - 1;
    r->lane = emit_widen(r->e, emit_value(r->e, "and i32 %s, %d", emit_special_register(r->e, "tid").text, within));
}

static rows rows_begin(fold_writer *w, gpu_fold *g) {
    emit *e = w->s.e;
    const variant *v = w->s.v;
    rows r = {.g = g, .w = w, .e = e, .ordered = w->f->order == FOLD_ORDERED};
    r.vector = v->fold.vector;
    r.steps = v->fold.accesses;
    rows_group(&r, v->fold.coop);
    fold_narrow(w, true);
    r.inner = partial_variable(w, fold_sparse(w));
    fold_narrow(w, false);
    r.outer = partial_variable(w, fold_sparse(w));
    if (fold_is_long(w) && !v->fold.results && !v->fold.once)
        r.across = partial_variable(w, fold_sparse(w));
    if (r.coop > COOP_WARP || variant_defers_segments(v))
        r.shared = partial_array_new(w, "fold_warps", WARPS_MOST, fold_sparse(w));
    return r;
}

/* The number of the cooperative group in the whole grid is the number of groups before this block plus coop_number. This is the former,
 * times `results` results a group (i64). */
ssa rows_before(const rows *r, int results) {
    emit *e = r->e;
    ssa coops = emit_value(e, "lshr i32 %s, %d", emit_special_register(e, "ntid").text, r->coop);
    ssa all = emit_value(e, "mul i32 %s, %d", coops.text, results);
    return emit_op(e, "mul i64", emit_widen(e, emit_special_register(e, "ctaid")), emit_widen(e, all));
}

static ssa coop_number(rows *r) {
    return emit_widen(r->e, emit_value(r->e, "lshr i32 %s, %d", emit_special_register(r->e, "tid").text, r->coop));
}

/* The number of the result of the thread's group, if each has one (i64). */
ssa rows_own(rows *r) { return emit_op(r->e, "add i64", rows_before(r, 1), coop_number(r)); }

ssa rows_leads(rows *r, ssa there) {
    int within = (1 << r->coop) - 1;
    ssa rank = emit_value(r->e, "and i32 %s, %d", emit_special_register(r->e, "tid").text, within);
    return emit_op(r->e, "and i1", there, emit_value(r->e, "icmp eq i32 %s, 0", rank.text));
}

/* The place of result `index`, or of the first result if there is none of that number. */
fold_place rows_place(rows *r, ssa index) {
    emit *e = r->e;
    gpu_fold *g = r->g;
    fold_place p = {.there = ssa_none()};
    ssa part = ssa_none(), limit = g->results;
    if (r->w->s.v->reduction.to_states)
        limit = emit_op(e, "mul i64", limit, gpu_fold_parts(g));
    p.there = emit_op(e, "icmp slt i64", index, limit);
    index = emit_select_as(e, "i64", p.there, index, ssa_constant(0));
    if (r->w->s.v->reduction.to_states)
        gpu_fold_divide(g, &g->parts, index, &index, &part);
    gpu_fold_place(g, &p, index, 0);
    p.part = part;
    gpu_fold_range(g, &p);
    return p;
}

void rows_line(rows *r, const fold_place *p) {
    partial x = fold_none(r->w);
    partial_put(r->w, &r->outer, &x);
    visit_line(r, p);
}

/* The result of a place, of whose elements the cooperative group takes all. */
void rows_result(rows *r, const fold_place *p) {
    rows_line(r, p);
    partial x = partial_get(r->w, &r->outer);
    x = rows_combine(r, &x);
    gpu_fold_store(r->g, p, &x, NULL, rows_leads(r, p->there));
}

static void one_result(rows *r) {
    const variant *v = r->w->s.v;
    if (v->fold.split || variant_defers_segments(v)) {
        rows_segments(r);
    } else {
        fold_place p = rows_place(r, rows_own(r));
        rows_result(r, &p);
    }
}

/* ---- Several short results at once ---- */

/* Loads the elements of all n results before it combines the first. */
static void results_at_once(rows *r, const fold_place *places, int n) {
    emit *e = r->e;
    int steps = r->w->s.v->fold.accesses, vector = r->w->s.v->fold.vector;
    ssa units = emit_value(e, "udiv i64 %s, %d", r->g->total.text, vector);
    fold_access *access = arena_alloc(e->a, (size_t)(n * steps) * sizeof *access);
    ssa *there = arena_alloc(e->a, (size_t)steps * sizeof *there), *at = arena_alloc(e->a, (size_t)steps * sizeof *at);
    for (int u = 0; u < steps; u++) {
        ssa own = r->ordered ? emit_value(e, "mul i64 %s, %d", r->lane.text, steps) : r->lane;
        at[u] = u ? emit_value(e, "add i64 %s, %d", own.text, r->ordered ? u : u << r->coop) : own;
        there[u] = emit_op(e, "icmp slt i64", at[u], units);
        at[u] = emit_select_as(e, "i64", there[u], at[u], ssa_constant(0));
    }
    for (int q = 0; q < n; q++) {
        line l = {.p = &places[q], .first = places[q].begin, .vectors = true};
        for (int u = 0; u < steps; u++)
            access[q * steps + u] = load_access(r, &l, at[u]);
    }
    partial *all = arena_alloc(e->a, (size_t)n * sizeof *all),
            *partials = arena_alloc(e->a, (size_t)steps * sizeof *partials);
    for (int q = 0; q < n; q++) {
        fold_narrow(r->w, true);
        for (int u = 0; u < steps; u++) {
            partials[u] = access_partial(r, &access[q * steps + u]);
            partials[u] = fold_if(r->w, there[u], &partials[u]);
        }
        all[q] = fold_tree(r->w, partials, steps);
        fold_narrow(r->w, false);
        all[q] = fold_widened(r->w, &all[q]);
    }
    for (int q = 0; q < n; q++)
        all[q] = partial_fold_lanes(r->w, &all[q], r->lanes);
    for (int q = 0; q < n; q++)
        gpu_fold_store(r->g, &places[q], &all[q], NULL, rows_leads(r, places[q].there));
}

static void several_results(rows *r) {
    emit *e = r->e;
    int n = r->w->s.v->fold.results, aligned = emit_label_new(e), single = emit_label_new(e), end = emit_label_new(e);
    ssa coops = emit_widen(e, emit_value(e, "lshr i32 %s, %d", emit_special_register(e, "ntid").text, r->coop));
    ssa first = emit_op(e, "add i64", rows_before(r, n), coop_number(r));
    fold_place *places = arena_alloc(e->a, (size_t)n * sizeof *places);
    bool always = r->w->s.v->fold.vector == 1 || r->w->s.v->fold.aligned;
    if (!always) {
        emit_branch_if(e, r->g->aligned, aligned, single);
        emit_label(e, aligned);
    }
    for (int q = 0; q < n; q++) {
        ssa far = q ? emit_value(e, "mul i64 %s, %d", coops.text, q) : ssa_constant(0);
        places[q] = rows_place(r, q ? emit_op(e, "add i64", first, far) : first);
    }
    results_at_once(r, places, n);
    if (always)
        return;
    emit_branch(e, end);
    emit_label(e, single);
    ssa past = emit_op(e, "add i64", first, emit_value(e, "mul i64 %s, %d", coops.text, n));
    counted_loop l = counted_loop_begin(e, "i64", first, past);
    fold_place p = rows_place(r, l.i);
    rows_line(r, &p);
    partial x = partial_get(r->w, &r->outer);
    x = rows_combine(r, &x);
    gpu_fold_store(r->g, &p, &x, NULL, rows_leads(r, p.there));
    counted_loop_end(e, &l, coops, loop_no_unroll(e));
    emit_branch(e, end);
    emit_label(e, end);
}

void gpu_fold_rows(fold_writer *w) {
    gpu_fold *g = gpu_fold_begin(w);
    if (w->s.v->reduction.empty) {
        gpu_fold_empty(g);
        return;
    }
    rows r = rows_begin(w, g);
    (w->s.v->fold.results ? several_results : one_result)(&r);
}
