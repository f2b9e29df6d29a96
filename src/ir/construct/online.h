/* online.h - GPU: two reductions over one range, of which the second needs the first one's result, computed in one pass. Each thread goes on
 * with the first of what it has seen, which is provisional, and corrects the second as that changes; and so do warps and blocks, which
 * then tell each other both in one exchange. There are two forms:
 *
 *   top = max(i : n, u), sum(i : n, exp(u - top))         what there is of the sum is multiplied by exp(before - now)
 *   mean = sum(i : n, u) / n, sum(i : n, (u - mean)^2)    count * (before - now)^2 is added to it
 *
 * (M. Milakov, N. Gimelshein, "Online normalizer calculation for softmax", 2018; T. Chan, G. Golub, R. LeVeque, "Algorithms for computing
 * the sample variance", 1983.) Which two these are is seen from the text: a variable that is declared to be the first, to which nothing
 * else is assigned, and a sum of such terms, of the same u. Where the elements are held in registers, a second pass over them
 * costs nothing, and they are computed one after the other; so are the second two where the elements are in shared memory. */
#ifndef UF_IR_ONLINE_H
#define UF_IR_ONLINE_H

#include "ir/common/internal.h"

/* The first, and of how many terms, a number of its type, where that is `counted`; else none. */
typedef struct online_state {
    ssa first, count;
} online_state;

typedef struct online {
    const struct online_form *form;
    const node *first, *second;
    bool counted;
    int variable; /* the local that the first one's result, or what is made of it, is declared to be */
    ssa found;    /* the second one's result */
    struct online *next;
} online;

/* The pair whose first is this reduction, which stands in no construct, to be computed now; NULL: it is the first of none. */
const online *online_first(body *b, const node *reduce);
/* Keeps the second one's result; and where that is to be computed, has it been? */
void online_found(body *b, ssa second);
bool online_recall(const body *b, const node *reduce, ssa *value);
/* Lets the variable be what the second is to be computed with, while the first is this. */
void online_suppose(body *b, const online *o, online_state now);
/* What has been computed while the first was `before`, now that it is `now`; and when that is the first of all elements. */
ssa online_correct(body *b, const online *o, ssa second, online_state before, online_state now);
ssa online_finish(body *b, const online *o, ssa second, online_state all);
/* A sum of counts. */
ssa online_add(body *b, const online *o, ssa x, ssa y);

#endif
