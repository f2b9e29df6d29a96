/* online.h - GPU: two reductions over one range, of which the second needs the first one's result: m = max(i : n, u), and then
 * sum(i : n, exp(u - m)). They are computed in one pass: each thread goes on with the largest of what it has seen, which is provisional, and
 * corrects the sum as that grows, by exp(before - now); and so do warps and blocks, which then tell each other both in one exchange
 * (M. Milakov, N. Gimelshein, "Online normalizer calculation for softmax", 2018).
 *
 * Which two these are is seen from the text: a variable that is declared to be the first, to which nothing else is assigned, and a sum of
 * the exponentials of the same terms less that variable. Where the elements are held in registers, a second pass over them costs
 * nothing, and they are computed one after the other. */
#ifndef UF_IR_ONLINE_H
#define UF_IR_ONLINE_H

#include "ir/common/internal.h"

typedef struct online {
    const node *first, *second;
    int variable; /* the local that is the first one's result */
    ssa found;    /* the second one's result */
    struct online *next;
} online;

/* The pair whose first is this reduction, which stands in no construct, to be computed now; NULL: it is the first of none. */
const online *online_first(body *b, const node *reduce);
/* Keeps the second one's result; and where that is to be computed, has it been? */
void online_found(body *b, ssa second);
bool online_recall(const body *b, const node *reduce, ssa *value);
/* Lets the variable be what the second is to be computed with, while the first is this. */
void online_suppose(body *b, const online *o, ssa first);
/* What has been computed while the first was `before`, now that it is `now`; and when that is the first of all elements. */
ssa online_correct(body *b, const online *o, ssa second, ssa before, ssa now);
ssa online_finish(body *b, const online *o, ssa second, ssa first);

#endif
