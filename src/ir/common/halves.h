/* halves.h - GPU: kernels that are chains of operations on halves, by instructions on pairs of them. */
#ifndef UF_HALVES_H
#define UF_HALVES_H

#include "ir/common/emit.h"

enum {
    HALVES_NODES = 8 /* so many nodes of such a kernel are about one instruction on a pair */
};
/* Is the kernel of the tree such a chain? */
bool halves_chain(const tree *t);
/* Can it be computed two elements at a time, with the bits that it has one at a time? Its operands must lie in
 * memory in the dtype that they are computed in. */
bool halves_suit(const emit *e, const tree *t, const variant *v);
/* Two elements: in[k] and results[k] hold both values of an operand as an i32, the first element's in its lower half. */
void halves_compute(emit *e, const tree *t, const ssa *in, ssa *results);
/* Two 16-bit values as such a word, and back. */
ssa halves_pack(emit *e, ssa low, ssa high);
void halves_unpack(emit *e, ssa pair, ssa *low, ssa *high);

#endif
