/* any_order.c - elements that are apart and whose order changes nothing, so that they need no lanes. Of bools one that is the absorbing
 * value decides: they are looked at, and nothing is kept. Integers that are a line of the cache apart are combined one by one: the
 * processor foresees what one load reads next, but not what each of several reads. See pairwise.h. */
#include "ir/reduce/pairwise.h"

enum {
    AT_ONCE = 8,       /* elements, of which a branch asks whether one decides */
    FAR_BYTES = 56,    /* from one element to the next, at least */
    UNKNOWN_STRIDE = 9 /* at least: shorter ones are constants of the variant (cpu/fold.c) */
};

static bool is_far(const pairwise *c) {
    const fold_writer *w = c->w;
    bool far = true;
    for (int k = 0; k < w->s.noperands; k++) {
        int64_t by;
        if (!fold_reads(w, k) || !ssa_is_set(c->lane.by[k]))
            continue;
        by = ssa_is_constant(c->lane.by[k], &by) ? by : UNKNOWN_STRIDE;
        far &= by * dtypes[skeleton_memory(&w->s, k)].size >= FAR_BYTES;
    }
    return far;
}

bool pairwise_one_by_one(const pairwise *c) {
    return c->apart && ssa_is_set(c->neutral) && dtype_is_integer(c->w->state[0]) && is_far(c);
}

void pairwise_take_one_by_one(pairwise *c, const element_place *p, ssa m) {
    fold_writer *w = c->w;
    emit *e = w->s.e;
    partial none = {.v = {c->neutral}, .present = ssa_none()};
    int hints[] = {loop_no_unroll(e), loop_no_vectors(e)};
    pairwise_put(c, ssa_constant(0), &none);
    counted_loop l = counted_loop_begin(e, "i64", ssa_constant(0), m);
    partial x = pairwise_element(c, p, l.i), old = pairwise_lane(c, ssa_constant(0)), both = fold_join(w, &old, &x);
    pairwise_put(c, ssa_constant(0), &both);
    counted_loop_end_hints(e, &l, ssa_constant(1), hints, COUNT(hints));
}

bool pairwise_decides(const pairwise *c) { return c->apart && ssa_is_set(c->absorbed); }

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

void pairwise_decide(pairwise *c, const element_place *p, ssa m) {
    emit *e = c->w->s.e;
    bool value = c->w->s.v->cpu_fold.absorbing == ABSORBING_TRUE;
    partial decided = {.v = {ssa_bool(value)}, .present = ssa_none()},
            other = {.v = {ssa_bool(!value)}, .present = ssa_none()};
    int end = emit_label_new(e);
    ssa whole = emit_value(e, "and i64 %s, %d", m.text, -AT_ONCE);
    pairwise_put(c, ssa_constant(0), &decided);
    look_for(c, p, ssa_constant(0), whole, AT_ONCE, end);
    look_for(c, p, whole, m, 1, end);
    pairwise_put(c, ssa_constant(0), &other);
    emit_branch(e, end);
    emit_label(e, end);
}
