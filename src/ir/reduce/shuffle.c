/* shuffle.c - items between the lanes of a warp (GPU): every value of an item by a shuffle. */
#include "ir/common/lanes.h"
#include "ir/reduce/fold.h"

static item shuffled(fold_writer *w, const item *x, const char *mode, int by, int lanes) {
    emit *e = w->s.e;
    ssa mask = lanes_mask(e, lanes);
    item y = {.has = ssa_none()};
    for (int k = 0; k < w->nstate; k++)
        y.v[k] = lanes_shuffle(e, mode, mask, w->state[k], x->v[k], by, lanes);
    if (ssa_is_set(x->has))
        y.has = lanes_shuffle(e, mode, mask, DT_BOOL, x->has, by, lanes);
    return y;
}

item lanes_down(fold_writer *w, const item *x, int by, int lanes) { return shuffled(w, x, "down", by, lanes); }
item lanes_up(fold_writer *w, const item *x, int by, int lanes) { return shuffled(w, x, "up", by, lanes); }
item lanes_from(fold_writer *w, const item *x, int lane, int lanes) { return shuffled(w, x, "idx", lane, lanes); }

item lanes_fold(fold_writer *w, const item *x, int lanes) {
    item all = *x;
    for (int by = 1; by < 1 << lanes; by *= 2) {
        item next = lanes_down(w, &all, by, lanes);
        all = fold_join(w, &all, &next);
    }
    return all;
}
