/* any_order.c - elements whose order changes nothing, so that it need not be that of lanes. Of bools one that is the absorbing value decides:
 * they are looked at, and nothing is kept. Integers that are a line of the cache apart are combined one by one: the processor foresees
 * what one load reads next, but not what each of several reads. Those that are a few apart are read by vectors, with what lies between
 * them, in place of which neutral values are combined. See pairwise.h. */
#include "ir/reduce/pairwise.h"

enum {
    AT_ONCE = 8,         /* elements that are apart, of which a branch asks whether one decides */
    VECTORS_AT_ONCE = 4, /* the same of elements side by side */
    FAR_BYTES = 56,      /* from one element to the next, at least, .. */
    FAR_SLOWLY = 36,     /* .. and where a combination takes longer than an addition */
    TOGETHER = 4,        /* elements that are then combined before what there is of others */
    UNKNOWN_STRIDE = 9,  /* at least: shorter ones are constants of the variant (cpu/fold.c) */
    WORD_BYTES = 4,    /* of elements that are read by vectors, at least: shorter ones LLVM takes out of vectors well */
    MASKED_BYTES = 32, /* of state for an element of these and what lies between it and the next, at most; */
    WIDENED_BYTES = 24, /* where that is wider than the elements; */
    MASKED_LANES = 8,   /* at a time, at least, */
    NARROW_BYTES = 32   /* of vectors, on processors that read faster by these */
};

/* ---- A line of the cache apart ---- */

/* Does a combination take longer than an addition, whose neutral value is 0, and have vectors of 512 bits been no help? */
static bool combines_slowly(const pairwise *c) {
    int64_t neutral;
    return c->w->s.e->target->vector_bits >= 512 && (!ssa_is_constant(c->neutral, &neutral) || neutral);
}

static bool is_far(const pairwise *c) {
    const fold_writer *w = c->w;
    bool far = true;
    for (int k = 0; k < w->s.noperands; k++) {
        int64_t by;
        if (!fold_reads(w, k) || !ssa_is_set(c->lane.by[k]))
            continue;
        by = ssa_is_constant(c->lane.by[k], &by) ? by : UNKNOWN_STRIDE;
        far &= by * dtypes[skeleton_memory(&w->s, k)].size >= (combines_slowly(c) ? FAR_SLOWLY : FAR_BYTES);
    }
    return far;
}

bool pairwise_one_by_one(const pairwise *c) {
    return c->apart && ssa_is_set(c->neutral) && dtype_is_integer(c->w->state[0]) && is_far(c);
}

/* Combines elements `first` .. m - 1 (i64) behind what lane 0 holds. */
static void take_each(pairwise *c, const element_place *p, ssa first, ssa m) {
    emit *e = c->w->s.e;
    int hints[] = {loop_no_unroll(e), loop_no_vectors(e)};
    counted_loop l = counted_loop_begin(e, "i64", first, m);
    partial x = pairwise_element(c, p, l.i), old = pairwise_lane(c, ssa_constant(0)), both = fold_join(c->w, &old, &x);
    pairwise_put(c, ssa_constant(0), &both);
    counted_loop_end_hints(e, &l, ssa_constant(1), hints, COUNT(hints));
}

/* Combines neighbours, and then with what lane 0 holds, so that an element takes a part of the time of a combination, where it is
 * that which is waited for. The largest of every 8th int64, one thread of a Zen 5 guest, ns an element in the second level cache and in memory: one by
 * one 0.73, pairs 0.50 and 1.70, four 0.46 and 1.60; sums of pairs in memory take 2.1 in place of 1.5. Returns the first element (i64) that is left. */
static ssa take_together(pairwise *c, const element_place *p, ssa m) {
    emit *e = c->w->s.e;
    if (!combines_slowly(c))
        return ssa_constant(0);
    int hints[] = {loop_no_unroll(e), loop_no_vectors(e)};
    partial some[TOGETHER];
    ssa whole = emit_value(e, "and i64 %s, %d", m.text, -TOGETHER);
    counted_loop l = counted_loop_begin(e, "i64", ssa_constant(0), whole);
    for (int i = 0; i < TOGETHER; i++)
        some[i] = pairwise_element(c, p, i ? emit_op(e, "add i64", l.i, ssa_constant(i)) : l.i);
    partial joined = fold_tree(c->w, some, TOGETHER), old = pairwise_lane(c, ssa_constant(0));
    partial all = fold_join(c->w, &old, &joined);
    pairwise_put(c, ssa_constant(0), &all);
    counted_loop_end_hints(e, &l, ssa_constant(TOGETHER), hints, COUNT(hints));
    return whole;
}

void pairwise_take_one_by_one(pairwise *c, const element_place *p, ssa m) {
    partial none = {.v = {c->neutral}, .present = ssa_none()};
    pairwise_put(c, ssa_constant(0), &none);
    take_each(c, p, take_together(c, p, m), m);
}

/* ---- A few apart ---- */

/* The one operand that is read, if its elements are a few apart, a constant number (*by), and are words; -1: others are read, or otherwise. */
static int near_operand(const pairwise *c, int64_t *by) {
    const fold_writer *w = c->w;
    int found = -1;
    for (int k = 0; k < w->s.noperands; k++) {
        if (!fold_reads(w, k))
            continue;
        if (found >= 0 || !ssa_is_set(c->lane.by[k]) || !ssa_is_constant(c->lane.by[k], by))
            return -1;
        found = k;
    }
    bool near = found >= 0 && *by > 1 && *by < UNKNOWN_STRIDE;
    return near && dtypes[skeleton_memory(&w->s, found)].size >= WORD_BYTES ? found : -1;
}

bool pairwise_by_masks(const pairwise *c) {
    const fold_writer *w = c->w;
    bool free = pairwise_is_simple(c) && ssa_is_set(c->neutral) && dtype_is_integer(w->state[0]);
    int64_t by;
    int k = free && !ssa_is_set(c->lane.position) ? near_operand(c, &by) : -1;
    if (k < 0)
        return false;
    int state = dtypes[w->state[0]].size;
    return by * state <= (state > dtypes[skeleton_memory(&w->s, k)].size ? WIDENED_BYTES : MASKED_BYTES);
}

/* x, or the neutral value where `rest` (i64, at least 0) isn't 0. With AVX-512 by `and` and `or`: of a select LLVM makes an instruction that
 * reads memory under a mask, which on Zen 5 takes twice as long where it reads across two lines. */
static ssa counted(const pairwise *c, ssa rest, ssa x) {
    emit *e = c->w->s.e;
    dtype t = c->w->state[0];
    const char *type = ir_value_type(t);
    if (e->target->vector_bits < 512)
        return emit_select(e, t, emit_value(e, "icmp eq i64 %s, 0", rest.text), x, c->neutral);
    ssa ones = emit_value(e, "ashr i64 %s, 63", emit_value(e, "sub i64 %s, 1", rest.text).text);
    if (dtypes[t].size < dtypes[DT_INT64].size)
        ones = emit_value(e, "trunc i64 %s to %s", ones.text, type);
    ssa zeros = emit_value(e, "xor %s %s, -1", type, ones.text),
        kept = emit_value(e, "and %s %s, %s", type, x.text, ones.text);
    return emit_value(e, "or %s %s, %s", type, kept.text,
                      emit_value(e, "and %s %s, %s", type, c->neutral.text, zeros.text).text);
}

/* Combines as many elements as there are lanes, as they lie in memory, by vectors of so many: the first is `at` elements behind one that
 * counts, and every one counts whose distance from that `by` divides. */
static void take_masked(pairwise *c, const element_place *p, int64_t at, int64_t by, int vector) {
    fold_writer *w = c->w;
    emit *e = w->s.e;
    lane_loop l = lanes_begin(e, ssa_constant(c->lanes), true);
    l.interleave = c->lanes / vector;
    l.vector = vector;
    ssa place = emit_value(e, "add i64 %s, %d", l.loop.i.text, (int)at);
    ssa rest = emit_value(e, "urem i64 %s, %d", place.text, (int)by);
    partial x = pairwise_element(c, p, place), old = pairwise_lane(c, l.loop.i);
    x.v[0] = counted(c, rest, x.v[0]);
    partial both = fold_join(w, &old, &x);
    pairwise_put(c, l.loop.i, &both);
    lanes_end(e, &l, false);
}

/* Whole vectors end behind the last element that counts in them, so that one more is needed behind all of them. */
void pairwise_take_by_masks(pairwise *c, const element_place *p, ssa m) {
    emit *e = c->w->s.e;
    int64_t by = 0;
    int k = near_operand(c, &by), bytes = e->target->narrow_reads ? NARROW_BYTES : e->target->vector_bits / 8;
    int vector = bytes / dtypes[skeleton_memory(&c->w->s, k)].size;
    pairwise all = *c;
    all.lanes = vector < MASKED_LANES ? MASKED_LANES : vector;
    all.held = true;
    all.lane.by[k] = ssa_constant(1);
    e->module->outer_vectors = true; /* the passes that remove loops of one iteration, and then arrays */
    pairwise_held_clear(&all);
    ssa whole = emit_value(e, "and i64 %s, %d", emit_value(e, "sub i64 %s, 1", m.text).text, -all.lanes);
    counted_loop l = counted_loop_begin(e, "i64", ssa_constant(0), whole);
    element_place from = element_place_moved(c->w, p, &c->lane, l.i);
    for (int64_t j = 0; j < by; j++)
        take_masked(&all, &from, j * all.lanes, by, vector);
    counted_loop_end(e, &l, ssa_constant(all.lanes), loop_no_unroll(e));
    pairwise_halve_all(&all, all.lanes);
    take_each(c, p, whole, m);
}

/* ---- Elements one of which decides ---- */

bool pairwise_decides(const pairwise *c) { return ssa_is_set(c->absorbed) && (c->apart || pairwise_takes_masked(c)); }

/* A bool that LLVM cannot relate to what it was computed of: else its SLP vectoriser gathers vectors of elements, which is slower, out of
 * memory several times so. */
static ssa alone(emit *e, ssa x) {
    ssa byte = emit_value(e, "zext i1 %s to i8", x.text);
    return emit_value(e, "trunc i8 %s to i1", emit_value(e, "call i8 asm \"\", \"=r,0\"(i8 %s)", byte.text).text);
}

/* Goes on at label `found` if one of the elements `at` .. end - 1 decides. They are taken `count` at a time. */
static void look_for(pairwise *c, const element_place *p, ssa at, ssa end, int count, int found) {
    fold_writer *w = c->w;
    emit *e = w->s.e;
    partial x[AT_ONCE];
    int yes = c->w->s.v->cpu_fold.absorbing == ABSORBING_TRUE ? found : emit_label_new(e);
    int no = yes == found ? emit_label_new(e) : found, hints[] = {loop_no_unroll(e), loop_no_vectors(e)};
    counted_loop l = counted_loop_begin(e, "i64", at, end);
    element_place from = element_place_moved(w, p, &c->lane, l.i);
    for (int i = 0; i < count; i++)
        x[i] = pairwise_element(c, &from, ssa_constant(i));
    for (int i = 0; i < count / 2; i++) {
        x[i] = fold_join(w, &x[2 * i], &x[2 * i + 1]);
        x[i].v[0] = alone(e, x[i].v[0]);
    }
    emit_branch_if(e, fold_tree(w, x, (count + 1) / 2).v[0], yes, no);
    emit_label(e, yes == found ? no : yes);
    counted_loop_end_hints(e, &l, ssa_constant(count), hints, COUNT(hints));
}

/* Goes on at label `found` if one of the elements from p on decides: of so many vectors, or, if n is set, of n elements (i64), at most those of
 * one vector. They are looked at by a loop over lanes, of which nothing is left but these vectors. */
static void look_at_vectors(pairwise *c, const element_place *p, int vectors, ssa n, int found) {
    emit *e = c->w->s.e;
    const char *flip = c->w->s.v->cpu_fold.absorbing == ABSORBING_TRUE ? "false" : "true";
    int lanes = pairwise_masked_lanes(c), next = emit_label_new(e);
    emit_line(e, "store i1 false, i1* %s", c->decided.text);
    lane_loop l = lanes_begin(e, ssa_constant(lanes * vectors), true);
    l.vector = lanes;
    l.interleave = vectors;
    ssa there;
    partial x = ssa_is_set(n) ? pairwise_element_below(c, p, l.loop.i, n, &there) : pairwise_element(c, p, l.loop.i);
    ssa yes = emit_value(e, "xor i1 %s, %s", x.v[0].text, flip);
    if (ssa_is_set(n))
        yes = emit_op(e, "and i1", yes, there);
    ssa so_far = emit_value(e, "load i1, i1* %s", c->decided.text);
    emit_line(e, "store i1 %s, i1* %s", emit_op(e, "or i1", so_far, yes).text, c->decided.text);
    lanes_end(e, &l, false);
    emit_branch_if(e, emit_value(e, "load i1, i1* %s", c->decided.text), found, next);
    emit_label(e, next);
}

/* The elements `at` .. end - 1 by so many vectors at a time, or, masked, by one. */
static void look_along(pairwise *c, const element_place *p, ssa at, ssa end, int vectors, bool masked, int found) {
    emit *e = c->w->s.e;
    counted_loop l = counted_loop_begin(e, "i64", at, end);
    element_place from = element_place_moved(c->w, p, &c->lane, l.i);
    look_at_vectors(c, &from, vectors, masked ? emit_op(e, "sub i64", end, l.i) : ssa_none(), found);
    counted_loop_end(e, &l, ssa_constant(vectors * pairwise_masked_lanes(c)), loop_no_unroll(e));
}

void pairwise_decide(pairwise *c, const element_place *p, ssa m) {
    emit *e = c->w->s.e;
    bool value = c->w->s.v->cpu_fold.absorbing == ABSORBING_TRUE;
    partial decided = {.v = {ssa_bool(value)}, .present = ssa_none()},
            other = {.v = {ssa_bool(!value)}, .present = ssa_none()};
    int end = emit_label_new(e), count = c->apart ? AT_ONCE : VECTORS_AT_ONCE * pairwise_masked_lanes(c);
    ssa whole = emit_value(e, "and i64 %s, %d", m.text, -count);
    pairwise_put(c, ssa_constant(0), &decided);
    if (c->apart) {
        look_for(c, p, ssa_constant(0), whole, AT_ONCE, end);
        look_for(c, p, whole, m, 1, end);
    } else {
        look_along(c, p, ssa_constant(0), whole, VECTORS_AT_ONCE, false, end);
        look_along(c, p, whole, m, 1, true, end);
    }
    pairwise_put(c, ssa_constant(0), &other);
    emit_branch(e, end);
    emit_label(e, end);
}
