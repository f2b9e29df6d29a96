/* shuffle.c - partials between the lanes of a warp (GPU): every value of a partial by a shuffle. */
#include "ir/common/lanes.h"
#include "ir/reduce/fold.h"

static partial shuffled(fold_writer *w, const partial *x, const char *mode, ssa by, int lanes) {
    emit *e = w->s.e;
    ssa mask = lanes_mask(e, lanes);
    partial y = {.present = ssa_none()};
    for (int k = 0; k < w->nstate; k++)
        y.v[k] = lanes_shuffle(e, mode, mask, w->state[k], x->v[k], by, lanes);
    if (ssa_is_set(x->present))
        y.present = lanes_shuffle(e, mode, mask, DT_BOOL, x->present, by, lanes);
    return y;
}

/* For all lanes: the partial of the lane that is `by` further in the group of 2^lanes lanes (past the last: some other one). */
static partial partial_down(fold_writer *w, const partial *x, ssa by, int lanes) {
    return shuffled(w, x, "down", by, lanes);
}
partial partial_up(fold_writer *w, const partial *x, int by, int lanes) {
    return shuffled(w, x, "up", ssa_constant(by), lanes);
}
partial partial_from(fold_writer *w, const partial *x, int lane, int lanes) {
    return shuffled(w, x, "idx", ssa_constant(lane), lanes);
}

partial partial_fold_lanes(fold_writer *w, const partial *x, int lanes) {
    partial all = *x;
    for (int by = 1; by < 1 << lanes; by *= 2) {
        partial next = partial_down(w, &all, ssa_constant(by), lanes);
        all = fold_join(w, &all, &next);
    }
    return all;
}

partial partial_fold_lanes_in_loop(fold_writer *w, const partial *x, const partial_slot *slot, int lanes) {
    emit *e = w->s.e;
    partial_put(w, slot, x);
    counted_loop l = counted_loop_begin(e, "i32", ssa_constant(1), ssa_constant(1 << lanes));
    partial all = partial_get(w, slot), next = partial_down(w, &all, l.i, lanes);
    all = fold_join(w, &all, &next);
    partial_put(w, slot, &all);
    counted_loop_end(e, &l, l.i, loop_no_unroll(e));
    return partial_get(w, slot);
}
