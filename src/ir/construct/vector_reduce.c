/* vector_reduce.c - CPU: min, max and reduce over one range, by operators that LLVM does not make vectors of. The terms go into lanes, an
 * array of accumulators that becomes registers, by loops over lanes that become vectors; the lanes are combined in the end. */
#include "ir/common/nodes.h"
#include "ir/common/report.h"
#include "ir/common/skeleton.h"
#include "ir/construct/construct.h"

enum {
    VECTOR_BYTES = 64,
    VECTORS = 4,    /* of lanes, which are combined into the last ones: */
    LAST_MOST = 16, /* one vector, or so many lanes */
    LANES_MOST = VECTORS * LAST_MOST,
    LANES_LEAST = 4 /* of a loop */
};

typedef struct lanes {
    body *b;
    const node *n; /* the reduction */
    const char *type;
    int count, few;  /* all lanes; those that are combined in the end, and take the terms that are left */
    ssa array, last; /* addresses of lane 0 of either */
    bool apart;
} lanes;

/* ---- What fits ---- */

static void find_loop(const node *n, void *user) {
    bool *found = user;
    *found |= n->kind == N_LOOP || n->kind == N_REDUCE;
    if (n->callee && !*found)
        node_each(n->callee->body, find_loop, found);
}

/* A term that has a loop would keep the loop over lanes from becoming a vector loop. */
bool vector_reduce_fits(const body *b, const node *n) {
    dtype type = (dtype)n->type;
    bool loops = false;
    if (b->e->plain || b->e->target->gpu || reports(b->e) || !n->callee || n->args->next || type == DT_BOOL ||
        dtype_is_complex(type))
        return false;
    node_visit(n->kid[0], find_loop, &loops);
    return !loops;
}

/* Do lanes take the terms that are left, too? They begin with the identity, which is combined with itself: a helper of the program's need not have
 * thought of that. Of integers with AVX2 LLVM's loop for what is left is faster (rows of 33 int32 0.11 ns an element, by lanes 0.42). */
static bool takes_all(const lanes *x) {
    bool extremum = function_is_own(x->n->callee, "max") || function_is_own(x->n->callee, "min");
    bool better = dtype_is_floating((dtype)x->n->type) || x->b->e->target->vector_bits == 512;
    return x->n->is_identity && extremum && better && !x->apart && lanes_fit(x->b, x->n);
}

/* ---- Loops over lanes ---- */

typedef struct lane_loop {
    counted_loop loop;
    int group, count;
    bool apart; /* it goes over elements that are */
} lane_loop;

static lane_loop lanes_begin(const lanes *x, int count) {
    emit *e = x->b->e;
    lane_loop l = {.group = e->access_group, .count = count};
    l.loop = counted_loop_begin_some(e, "i64", ssa_constant(0), ssa_constant(count));
    e->access_group = emit_metadata(e, "distinct !{}");
    return l;
}

static void lanes_end(const lanes *x, const lane_loop *l) {
    emit *e = x->b->e;
    int own = e->access_group;
    e->access_group = l->group;
    x->b->bound[x->n->args->local] = ssa_none();
    if (l->apart) {
        counted_loop_end(e, &l->loop, ssa_constant(1), loop_no_vectors(e));
        return;
    }
    int parallel = emit_metadata(e, "!{!\"llvm.loop.parallel_accesses\", !%d}", own);
    if (l->count > x->few || !takes_all(x)) {
        counted_loop_end_short(e, &l->loop, ssa_constant(1), parallel);
        return;
    }
    int hints[1 + ONE_VECTOR_HINTS] = {parallel};
    loop_one_vector(e, l->count, hints + 1);
    counted_loop_end_hints(e, &l->loop, ssa_constant(1), hints, COUNT(hints));
}

/* The range's variable is `from` (i64) and the lane. */
static void bind(const lanes *x, lane_loop *l, ssa from) {
    l->apart = x->apart;
    x->b->bound[x->n->args->local] = emit_value(x->b->e, "add nuw nsw i64 %s, %s", from.text, l->loop.i.text);
}

static ssa lane_at(const lanes *x, ssa array, ssa l) {
    return emit_value(x->b->e, "getelementptr inbounds %s, %s* %s, i64 %s", x->type, x->type, array.text, l.text);
}

static void lane_put(const lanes *x, ssa value, ssa at) {
    emit *e = x->b->e;
    emit_line(e, "store %s %s, %s* %s, !llvm.access.group !%d", x->type, value.text, x->type, at.text, e->access_group);
}

static ssa lane_get(const lanes *x, ssa at) {
    emit *e = x->b->e;
    if (!e->access_group)
        return emit_value(e, "load %s, %s* %s", x->type, x->type, at.text);
    return emit_value(e, "load %s, %s* %s, !llvm.access.group !%d", x->type, x->type, at.text, e->access_group);
}

/* ---- Terms ---- */

/* The last lanes get the identity. */
static void lanes_clear(const lanes *x) {
    dtype type = (dtype)x->n->type;
    emit_fill(x->b->e, x->type, emit_constant(x->n->value, type), x->last, x->few, dtypes[type].align);
}

/* All lanes take the terms from `from` (i64) on, combined with what they have, or in place of it. */
static void lanes_take(const lanes *x, ssa from, bool first) {
    lane_loop l = lanes_begin(x, x->count);
    bind(x, &l, from);
    ssa at = lane_at(x, x->array, l.loop.i), old = first ? at : lane_get(x, at),
        term = emit_expression(x->b, x->n->kid[0]);
    lane_put(x, first ? term : combine(x->b, x->n, old, term), at);
    lanes_end(x, &l);
}

/* The last lanes take the terms from `from` on, of which there are `left` (i64) or as many as lanes. */
static void lanes_take_some(const lanes *x, ssa from, ssa left) {
    body *b = x->b;
    emit *e = b->e;
    ssa left_too = unknown_value(e, left);
    lane_loop l = lanes_begin(x, x->few);
    bind(x, &l, from);
    ssa at = lane_at(x, x->last, l.loop.i), old = lane_get(x, at);
    b->along = x->n->args->local;
    lanes_guard(b, l.loop.i, left, left_too);
    ssa term = emit_expression(b, x->n->kid[0]), both = combine(b, x->n, old, term);
    lane_put(x, emit_select(e, (dtype)x->n->type, b->there_too, both, old), at);
    lanes_unguard(b);
    lanes_end(x, &l);
}

/* ---- Lanes together ---- */

/* Combines `count` lanes, `by` apart, from lane `at` (i64) on: the upper half of them with the lower one, until one is left. */
static ssa lanes_combined(const lanes *x, ssa array, ssa at, int count, int by) {
    emit *e = x->b->e;
    ssa v[LANES_MOST] = {ssa_none()};
    for (int i = 0; i < count; i++)
        v[i] = lane_get(x, lane_at(x, array, emit_value(e, "add i64 %s, %d", at.text, i * by)));
    for (int half = count / 2; half; half /= 2)
        for (int i = 0; i < half; i++)
            v[i] = combine(x->b, x->n, v[i], v[half + i]);
    return v[0];
}

/* Combines all lanes into the last ones by a loop, which becomes vectors. With a loop for each half LLVM took a fifth of its time for them, and the
 * code was slower. */
static void lanes_fold(const lanes *x) {
    lane_loop l = lanes_begin(x, x->few);
    ssa some = lanes_combined(x, x->array, l.loop.i, x->count / x->few, x->few);
    lane_put(x, some, lane_at(x, x->last, l.loop.i));
    lanes_end(x, &l);
}

/* Combines lanes half .. 2 half - 1 into those before them. */
static void lanes_halve(const lanes *x, int half) {
    lane_loop l = lanes_begin(x, half);
    ssa at = lane_at(x, x->last, l.loop.i),
        far = lane_at(x, x->last, emit_value(x->b->e, "add i64 %s, %d", l.loop.i.text, half));
    ssa old = lane_get(x, at);
    lane_put(x, combine(x->b, x->n, old, lane_get(x, far)), at);
    lanes_end(x, &l);
}

static ssa lanes_new(const lanes *x, int count) {
    fragment array = fragment_of("[%d x %s]", count, x->type);
    ssa slot = emit_slot(x->b, array.text);
    return emit_value(x->b->e, "getelementptr %s, %s* %s, i64 0, i64 0", array.text, array.text, slot.text);
}

/* Whole vectors of terms, of which there is one at least, into the last lanes. */
static void take_whole(const lanes *x, ssa whole) {
    emit *e = x->b->e;
    lanes_take(x, ssa_constant(0), true);
    counted_loop l = counted_loop_begin(e, "i64", ssa_constant(x->count), whole);
    lanes_take(x, l.i, false);
    counted_loop_end(e, &l, ssa_constant(x->count), 0);
    lanes_fold(x);
}

/* The terms from `whole` on into the last lanes, which are then combined, down to four. */
static void take_rest(const lanes *x, ssa whole, ssa limit) {
    emit *e = x->b->e;
    counted_loop l = counted_loop_begin(e, "i64", whole, limit);
    lanes_take_some(x, l.i, emit_op(e, "sub i64", limit, l.i));
    counted_loop_end(e, &l, ssa_constant(x->few), 0);
    int more = emit_label_new(e), end = emit_label_new(e);
    emit_branch_if(e, emit_value(e, "icmp sgt i64 %s, %d", limit.text, LANES_LEAST), more, end);
    emit_label(e, more);
    for (int half = x->few / 2; half >= LANES_LEAST; half /= 2)
        lanes_halve(x, half);
    emit_branch(e, end);
    emit_label(e, end);
}

static void join(const lanes *x, const accumulator *into, int count) {
    accumulator_join(x->b, x->n, into, lanes_combined(x, x->last, ssa_constant(0), count, 1), ssa_bool(true));
}

bool vector_reduce(body *b, const node *n, ssa limit, bool apart, const accumulator *into, ssa *taken) {
    emit *e = b->e;
    lanes x = {.b = b, .n = n, .type = ir_value_type((dtype)n->type), .apart = apart};
    int vector = VECTOR_BYTES / dtypes[n->type].size, enough = emit_label_new(e), end = emit_label_new(e);
    bool all = takes_all(&x);
    x.few = vector < LAST_MOST ? vector : LAST_MOST;
    x.count = VECTORS * x.few;
    x.array = lanes_new(&x, x.count);
    x.last = lanes_new(&x, x.few);
    /* Of what LLVM knows to be a multiple it would compute with twice, and leave the copy for few iterations without vectors. */
    limit = unknown_value(e, natural_extent(e, limit));
    *taken = emit_value(e, "and i64 %s, %d", limit.text, -x.count);
    if (all)
        lanes_clear(&x);
    emit_branch_if(e, emit_value(e, "icmp sge i64 %s, %d", limit.text, x.count), enough, end);
    emit_label(e, enough);
    take_whole(&x, *taken);
    if (!all)
        join(&x, into, x.few);
    emit_branch(e, end);
    emit_label(e, end);
    if (!all)
        return false;
    e->module->outer_vectors = true; /* the passes that remove loops of one iteration, and then arrays */
    take_rest(&x, *taken, limit);
    join(&x, into, LANES_LEAST);
    return true;
}
