/* general.c - any strides: elements of a thread, whether they are neighbours, and whether 32 bits number them. */
#include "gpu/elementwise.h"

enum {
    GENERAL_REPEAT = 4,

    /* Neighbours. */
    FLIGHT = 32,      /* bytes that a thread loads and stores by vectors together, .. */
    VECTORS_MOST = 4, /* .. in so many vectors at most */
    MASKED_FEW =
        4, /* elements of a vector with which stores one by one, where a mask differs within it, cost more than vectors bring */
    NEAR = 256,     /* bytes from an element to one that is likely in the first level cache when it is loaded */
    NEAR_LEAST = 32 /* elements in a row, at least, each of which is near the one before */
};

static bool is_narrow(const variant *v, const nd_loop *loop) {
    if (loop->count > NARROW_MAX)
        return false;
    for (int k = 0; k < variant_operands(v); k++) {
        int64_t reach = 0, part;
        if (!operand_has_strides(v, k))
            continue;
        for (int d = 0; d < loop->ndim; d++) {
            int64_t stride = stride_of(loop, d, k);
            if (stride == INT64_MIN ||
                __builtin_mul_overflow(stride < 0 ? -stride : stride, loop->extent[d] - 1, &part) ||
                __builtin_add_overflow(reach, part, &reach) || reach > INT32_MAX)
                return false;
        }
    }
    return true;
}

/* ---- Neighbours ---- */

/* Do the elements of operand k lie in the order of the loop without gaps? */
static bool is_dense(const variant *v, const nd_loop *loop, int k) {
    int64_t step = 1;
    bool dense = operand_has_strides(v, k) && !v->operand[k].group;
    for (int d = 0; d < loop->ndim && dense; d++) {
        dense = loop->extent[d] == 1 || stride_of(loop, d, k) == step;
        step *= loop->extent[d];
    }
    return dense;
}

/* Are so many elements of operand k that follow each other in the loop near each other? Where they are not, lanes that are vectors apart
 * read as many more sectors of memory than lanes side by side. */
static bool is_near(const variant *v, const nd_loop *loop, int k) {
    int64_t run = 1, most = NEAR / element_size(v, k);
    int d = 0;
    for (; d < loop->ndim && run < NEAR_LEAST; d++) {
        int64_t stride = stride_of(loop, d, k);
        if (stride > most || stride < -most)
            break;
        run = loop->extent[d] < NEAR_LEAST ? run * loop->extent[d] : NEAR_LEAST;
    }
    return run >= NEAR_LEAST || d == loop->ndim;
}

/* Does a vector have elements of two rows of dimension 0 at most? */
static bool has_rows(const nd_loop *loop, int vector) { return loop->ndim == 1 || loop->extent[0] >= vector; }

/* Elements of a vector, which is an access of 16 bytes of the widest operand that differs from one to the next, and vectors of a thread. */
static void size_neighbours(const variant *v, const loop_problem *s, uint8_t *vector, uint8_t *vectors) {
    int largest = 1, bytes = 0;
    for (int k = 0; k < variant_operands(v); k++) {
        if (!operand_has_strides(v, k) || v->operand[k].kind == OPERAND_CONSTANT)
            continue;
        bytes += is_dense(v, s->loop, k) ? element_size(v, k) : 0;
        largest = element_size(v, k) > largest ? element_size(v, k) : largest;
    }
    *vector = (uint8_t)(ACCESS_BYTES / largest);
    *vectors = (uint8_t)repeat_for(bytes * *vector, FLIGHT, VECTORS_MOST);
    elementwise_lighten(s->traits, vector, vectors);
}

bool general_has_neighbours(const variant *v, const loop_problem *s) {
    uint8_t vector, vectors;
    bool fits = !(v->masked && s->traits->has_loop);
    for (int k = 0; k < variant_operands(v) && fits; k++)
        fits = !v->operand[k].group &&
               (elementwise_is_output(v, k) ? is_dense(v, s->loop, k)
                                            : !operand_has_strides(v, k) || is_near(v, s->loop, k));
    if (!fits)
        return false;
    size_neighbours(v, s, &vector, &vectors);
    return vector > (v->masked ? MASKED_FEW : 1) && (!v->masked || has_rows(s->loop, vector));
}

static void choose_neighbours(variant *v, const loop_problem *s) {
    uint8_t vectors;
    size_neighbours(v, s, &v->general.vector, &vectors);
    v->general.elements_per_thread = (uint8_t)(v->general.vector * vectors);
    v->general.rows = has_rows(s->loop, v->general.vector);
    for (int k = 0; k < variant_operands(v); k++)
        v->operand[k].unit = is_dense(v, s->loop, k);
}

void general_specialise(variant *v, const loop_problem *s) {
    uint8_t one = 1;
    v->general.elements_per_thread = GENERAL_REPEAT;
    v->general.vector = v->general.rows = 0;
    v->wide = !is_narrow(v, s->loop);
    for (int k = 0; k < variant_operands(v); k++) {
        variant_operand *o = &v->operand[k];
        o->fixed = o->record = o->unit = 0; /* the strides of groups are parameters, as all others */
        o->kind = o->kind == OPERAND_INTERLEAVED ? OPERAND_STRIDED : o->kind;
    }
    elementwise_lighten(s->traits, &one, &v->general.elements_per_thread);
    if (v->loop == LOOP_GENERAL && general_has_neighbours(v, s))
        choose_neighbours(v, s);
}

static bool neighbours_aligned(const launch *l) {
    uintptr_t all = 0;
    for (int k = 0; k < variant_operands(l->v); k++)
        if (l->v->operand[k].unit)
            all |= (uintptr_t)l->data[k] & (uintptr_t)(l->v->general.vector * element_size(l->v, k) - 1);
    return !all;
}

int64_t general_layout(const launch *l, const occupancy *r, parameter_writer *w, grid *g) {
    put_parameter(w, GPU_GENERAL_ELEMENTS, l->loop->count);
    put_extents(w, GPU_GENERAL_EXTENTS, l->loop, 0, l->loop->ndim - 1);
    put_strides(w, GPU_GENERAL_STRIDES, l->loop, 0);
    if (l->v->general.vector)
        put_parameter(w, GPU_GENERAL_ALIGNED, neighbours_aligned(l));
    return elementwise_line(l->loop->count, l->v->general.elements_per_thread, r, g);
}
