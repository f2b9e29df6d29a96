/* streamed.c - outputs that leave the second level cache first. What a kernel writes goes there, and so pushes out what it reads again and
 * again: few arrays that broadcast over a large output, as in outer sums and the distances of all pairs. Stores that are marked to be evicted
 * first leave them there. Measured on an H200 (docs/measured.md): the sum of a row and a column 3.7 to 4.4 TB/s, distances in three
 * dimensions 4.1 to 4.2; where as much is read as is written, or nothing, it makes no difference. */
#include "gpu/class.h"

enum {
    READ_PART = 8 /* of the bytes written at most this part is read */
};

/* Bytes of output that no cache holds: those of second level caches are 40 to 126 MiB. Smaller outputs are left to whoever reads them next. */
static const double output_least = 64 << 20;

/* Elements of operand k that are not the same. */
static double elements_of(const variant *v, const loop_problem *p, int k) {
    double n = 1;
    if (p->layout)
        return (double)core_elements(p->layout, p->core, k);
    for (int d = 0; d < p->loop->ndim && v->operand[k].kind != OPERAND_NUMBER; d++)
        n *= stride_of(p->loop, d, k) ? (double)p->loop->extent[d] : 1;
    return n;
}

static int use_of(const variant *v, const loop_problem *p, int k) {
    return p->layout                             ? p->traits->use[k] & (USE_READ | USE_WRITE | USE_ATOMIC)
           : k >= v->nin && k < v->nin + v->nout ? USE_WRITE
                                                 : USE_READ;
}

void gpu_choose_streamed(variant *v, const loop_problem *p) {
    double read = 0, written = 0;
    bool large = true;
    for (int k = 0; k < variant_operands(v); k++) {
        double bytes = elements_of(v, p, k) * element_size(v, k);
        int use = use_of(v, p, k);
        read += use == USE_READ ? bytes : 0;
        written += use == USE_WRITE ? bytes : 0;
        large = large && (!use || use == USE_READ || (use == USE_WRITE && bytes >= output_least));
    }
    for (int k = 0; k < variant_operands(v); k++)
        v->operand[k].nontemporal = large && written > 0 && read * READ_PART <= written && use_of(v, p, k) == USE_WRITE;
}
