/* at.c - updates in place: the words of ir/at/at.h, and a thread for some of them; or warps that each look at all. */
#include "gpu/class.h"

enum {
    OWNER_BLOCK = 256, /* threads: 8 warps */
    OWNER_UPDATES = 64 /* that a block has at least: fewer do not pay for looking at them in one more block */
};

void at_specialise(variant *v, const problem *s) {
    general_specialise(v, s);
    v->loop = LOOP_AT;
    if (v->deterministic)
        v->repeat = 1;
}

int at_words(const variant *v, const core_layout *layout, int arrays) {
    return 2 * v->nindices + general_words(v, layout, arrays);
}

int64_t at_layout(const launch *l, const occupancy *r, uint64_t *w, grid *g) {
    for (int i = 0; i < 2 * l->v->nindices; i++)
        *w++ = (uint64_t)l->indexed[i];
    int64_t blocks = general_layout(l, r, w, g);
    if (!l->v->deterministic)
        return blocks;
    g->threads = r->block < OWNER_BLOCK ? r->block : OWNER_BLOCK;
    blocks = (l->loop->count + OWNER_UPDATES - 1) / OWNER_UPDATES;
    return blocks < r->sms ? blocks : r->sms;
}
