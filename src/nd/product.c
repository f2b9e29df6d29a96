/* product.c - brings a loop of inner calls to products of matrices, for libraries that compute those. The form of a function becomes
 * one product,
 *     C[m][p] = sum over n of left[m][n] * right[n][p],
 * of which vectors are the case m = 1 or p = 1. Loop dimensions along which one side does not move are taken into p or m. */
#include "nd/nd.h"

enum {
    M,
    N,
    P
};

/* The core dimensions of each operand. */
/* clang-format off */
static const struct {
    struct {
        uint8_t rank, dim[2];
    } operand[3];
    bool conjugate; /* the left side */
} forms[] = {
    [BLAS_GEMM]  = {{{2, {M, N}}, {2, {N, P}}, {2, {M, P}}}, false},
    [BLAS_GEMV]  = {{{2, {M, N}}, {1, {N}},    {1, {M}}},    false},
    [BLAS_GEVM]  = {{{1, {N}},    {2, {N, P}}, {1, {P}}},    false},
    [BLAS_GEVMC] = {{{1, {N}},    {2, {N, P}}, {1, {P}}},    true},
    [BLAS_DOT]   = {{{1, {N}},    {1, {N}},    {0}},         false},
    [BLAS_DOTC]  = {{{1, {N}},    {1, {N}},    {0}},         true},
    [BLAS_GER]   = {{{1, {M}},    {1, {P}},    {2, {M, P}}}, false},
};
/* clang-format on */

bool nd_product_read(blas_form form, const core_layout *l, const int64_t *core, nd_product *out) {
    int64_t extent[3] = {1, 1, 1}, stride[3][3] = {{0}};
    if (form == BLAS_NONE || l->nin != 2 || l->nout != 1)
        return false;
    for (int k = 0; k < 3; k++) {
        const layout_operand *o = &l->operands[k];
        if (o->rank != forms[form].operand[k].rank)
            return false;
        for (int d = 0; d < o->rank; d++) {
            int dim = forms[form].operand[k].dim[d];
            extent[dim] = core[o->dim[d]];
            stride[k][dim] = core[o->strides + d];
        }
    }
    *out = (nd_product){.m = extent[M],
                        .n = extent[N],
                        .p = extent[P],
                        .left = {stride[0][M], stride[0][N], 0, forms[form].conjugate},
                        .right = {stride[1][P], stride[1][N], 1, false},
                        .row = stride[ND_RESULT][M],
                        .column = stride[ND_RESULT][P]};
    return true;
}

dtype nd_product_type(const variant *v) {
    uint8_t type = v->operand[0].value;
    if (v->loop != LOOP_GUFUNC || v->nin != 2 || v->nout != 1 || v->masked || v->reports || type < DT_FLOAT16)
        return DT_NONE;
    for (int k = 0; k < 3; k++) {
        const variant_operand *o = &v->operand[k];
        if (o->memory != type || o->value != type || o->kind == OPERAND_NUMBER)
            return DT_NONE;
    }
    return type;
}

nd_product nd_product_transposed(const nd_product *p) {
    return (nd_product){p->p, p->n, p->m, p->right, p->left, p->column, p->row};
}

bool nd_product_stored(const nd_side *s, int64_t extent, int64_t n, nd_stored *out) {
    if ((s->outer == 1 || extent == 1) && (n == 1 || s->inner >= extent))
        *out = (nd_stored){false, n == 1 ? extent : s->inner};
    else if ((s->inner == 1 || n == 1) && (extent == 1 || s->outer >= n))
        *out = (nd_stored){true, extent == 1 ? n : s->outer};
    else
        return false;
    return true;
}

/* Takes a loop dimension along which the left side does not move into p. False if the strides do not allow it. */
static bool widen(nd_product *p, int64_t extent, const int64_t *step, bool (*fits)(const nd_product *)) {
    int64_t right = step[p->right.operand];
    nd_product wide = *p;
    if (step[p->left.operand] || !right)
        return false;
    if (p->p == 1) {
        wide.right.outer = right;
        wide.column = step[ND_RESULT];
    } else if (right != p->p * p->right.outer || step[ND_RESULT] != p->p * p->column) {
        return false;
    }
    wide.p *= extent;
    if (!fits(&wide))
        return false;
    *p = wide;
    return true;
}

void nd_product_merge(const nd_loop *loop, bool (*fits)(const nd_product *), nd_product *p, nd_product_loop *out) {
    out->ndim = 0;
    out->count = 1;
    for (int d = 0; d < loop->ndim; d++) {
        const int64_t *step = loop->stride + (size_t)d * (size_t)loop->narrays;
        if (loop->extent[d] == 1 || widen(p, loop->extent[d], step, fits))
            continue;
        nd_product other = nd_product_transposed(p);
        if (widen(&other, loop->extent[d], step, fits)) {
            *p = nd_product_transposed(&other);
            continue;
        }
        memcpy(out->step[out->ndim], step, sizeof out->step[0]);
        out->count *= loop->extent[d];
        out->extent[out->ndim++] = loop->extent[d];
    }
}

void nd_product_next(const nd_product_loop *loop, int64_t *index, int64_t offset[3]) {
    for (int d = 0; d < loop->ndim; d++) {
        int64_t steps = ++index[d] < loop->extent[d] ? 1 : 1 - loop->extent[d];
        for (int k = 0; k < 3; k++)
            offset[k] += steps * loop->step[d][k];
        if (steps == 1)
            return;
        index[d] = 0;
    }
}
