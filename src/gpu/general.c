/* general.c - any strides: elements of a thread, and whether 32 bits number them. */
#include "gpu/elementwise.h"

enum {
    GENERAL_REPEAT = 4
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

void general_specialise(variant *v, const loop_problem *s) {
    uint8_t one = 1;
    v->general.elements_per_thread = GENERAL_REPEAT;
    v->wide = !is_narrow(v, s->loop);
    for (int k = 0; k < variant_operands(v); k++) {
        variant_operand *o = &v->operand[k];
        o->fixed = o->record = 0; /* the strides of groups are parameters, as all others */
        o->kind = o->kind == OPERAND_INTERLEAVED ? OPERAND_STRIDED : o->kind;
    }
    elementwise_lighten(s->traits, &one, &v->general.elements_per_thread);
}

int64_t general_layout(const launch *l, const occupancy *r, parameter_writer *w, grid *g) {
    put_parameter(w, GPU_GENERAL_ELEMENTS, l->loop->count);
    put_extents(w, GPU_GENERAL_EXTENTS, l->loop, 0, l->loop->ndim - 1);
    put_strides(w, GPU_GENERAL_STRIDES, l->loop, 0);
    return elementwise_line(l->loop->count, l->v->general.elements_per_thread, r, g);
}
