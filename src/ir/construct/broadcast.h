/* broadcast.h - GPU: inputs that are the same for all columns which threads hold (variant_operand.broadcast), as the weights of a
 * normalisation are. Left alone, all threads of a row would load the same element when they come to it. Instead each thread of a block
 * loads, at the head of the kernel, some of the elements that the block's rows need, so that these loads are under way together with those
 * of the columns, and leaves them in shared memory: those of a thread's rows behind each other, from where it reads them by vectors. */
#ifndef UF_BROADCAST_H
#define UF_BROADCAST_H

#include "ir/construct/held.h"

/* What a thread has loaded, by operand. */
typedef struct broadcast_loads {
    ssa *value[UF_MAX_OPERANDS];
} broadcast_loads;

/* Loads a thread's part of all such inputs. */
void broadcast_load(body *b, broadcast_loads *l);
/* Leaves it in shared memory; then the threads of the block have met. */
void broadcast_share(body *b, const broadcast_loads *l);
/* Finds held.broadcast for the thread's rows first, first + 1 .., so many. */
void broadcast_read(body *b, int first, int rows);

#endif
