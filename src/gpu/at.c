/* at.c - updates in place: a thread for some of them; or warps that each look at all. */
#include "gpu/class.h"

enum {
    OWNER_BLOCK = 256, /* threads: 8 warps */
    OWNER_UPDATES = 64 /* that a block has at least: fewer do not pay for looking at them in one more block */
};

void at_specialise(variant *v, const loop_problem *s) {
    general_specialise(v, s);
    if (v->at.deterministic)
        v->general.elements_per_thread = 1;
}

int64_t at_layout(const launch *l, const occupancy *r, parameter_writer *w, grid *g) {
    for (int i = 0; i < 2 * l->v->nindices; i++)
        put_parameter(w, PARAMETER_INDEXED, l->indexed[i]);
    int64_t blocks = general_layout(l, r, w, g);
    if (!l->v->at.deterministic)
        return blocks;
    g->threads = r->block < OWNER_BLOCK ? r->block : OWNER_BLOCK;
    blocks = (l->loop->count + OWNER_UPDATES - 1) / OWNER_UPDATES;
    return blocks < r->sms ? blocks : r->sms;
}
