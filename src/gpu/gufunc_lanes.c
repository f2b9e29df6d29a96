/* gufunc_lanes.c - which forms of LAPACK the lanes of a warp or the threads of a block compute, of which matrices (variant.gufunc.form), and how
 * many lanes a matrix has. The code is in ir/gufunc/elimination.c, jacobi.c, least_squares.c, reflectors.c and block_jacobi.c. */
#include "gpu/calls.h"
#include "type/rotated.h"

enum {
    ELIMINATE_COOP = 2,        /* log2 of the fewest lanes */
    ELIMINATE_LANE = 60,       /* registers for its part of the matrix that a lane should have, .. */
    ELIMINATE_LANE_MOST = 136, /* .. and of a whole warp's, at most */
    ROTATE_LEAST = 2,          /* columns of which lanes have one each, .. */
    REFLECT_NUMBERS = 50,      /* .. real numbers of a matrix that they reflect, at least, .. */
    LANE_COLUMNS_MOST = 136,   /* .. and of a lane's columns, at most */
    ROTATE_COOP = 10,          /* log2 of the threads of a block that rotate, at most, .. */
    ROTATE_LANES = 3,          /* .. and of those that have a pair of columns, at least; more where .. */
    ROTATE_COLUMN = 16,        /* .. each would have more registers of a column, and of .. */
    ROTATE_FEW = 128,          /* .. so many Hermitian matrices */
};

/* Registers of an element. */
static int words_of(const variant *v) { return dtypes[v->operand[0].value].size / 4; }

/* ---- Elimination ---- */

/* For which matrices lanes eliminate: the registers of one from which its code is too long for a thread, and the most rows; 0: the form is
 * not one of these. */
static const struct {
    uint8_t words, rows;
} eliminated[LAPACK_FORMS] = {[LAPACK_SOLVE] = {64, ELIMINATION_N},
                              [LAPACK_SOLVE_MATRIX] = {64, ELIMINATION_N},
                              [LAPACK_INV] = {64, ELIMINATION_N},
                              [LAPACK_DET] = {100, ELIMINATION_N},
                              [LAPACK_CHOLESKY] = {81, ELIMINATION_N}};

/* Does a matrix serve several calls? It is factorised once then, elsewhere. */
static bool serves_several(const cores *c) {
    bool several = false;
    for (int d = 0; d < c->loop->ndim; d++)
        several |= c->loop->extent[d] > 1 && !stride_of(c->loop, d, 0);
    return several;
}

static bool can_eliminate(const cores *c, const loop_problem *s) {
    if (!s->form || c->v->reports || rank_of(c, 0) != 2 || serves_several(c))
        return false;
    int64_t n = extent_at(c, 0, 0);
    return n <= eliminated[s->form].rows && n * n * words_of(c->v) >= eliminated[s->form].words;
}

/* Can a lane load its rows by vectors? */
static bool loads_rows(const cores *c, const loop_problem *s) {
    const variant_operand *a = &c->v->operand[0];
    return (s->form == LAPACK_SOLVE || s->form == LAPACK_SOLVE_MATRIX) && a->fixed && a->memory == a->value &&
           s->misalignment;
}

/* The lanes of a warp, or some of them, compute a call. As few as have registers for the matrix: what one tells the others serves more
 * elements then. */
static bool choose_elimination(const cores *c, variant *v, const loop_problem *s) {
    if (!can_eliminate(c, s))
        return false;
    int64_t n = extent_at(c, 0, 0),
            sides = s->form == LAPACK_SOLVE_MATRIX ? extent_at(c, 1, 1) : s->form == LAPACK_SOLVE;
    int coop = ELIMINATE_COOP;
    while (coop < COOP_WARP && ceil_shift(n, coop) * (n + sides) * words_of(v) > ELIMINATE_LANE)
        coop++;
    if (sides > ELIMINATION_N || ceil_shift(n, coop) * (n + sides) * words_of(v) > ELIMINATE_LANE_MOST)
        return false;
    v->gufunc.form = (uint8_t)s->form;
    v->gufunc.coop = (uint8_t)coop;
    fix_sizes(v, s);
    for (int k = 0; k < v->nin + v->nout; k++) {
        v->operand[k].fixed = rank_of(c, k) && packed_count(c, k);
        if (k && s->form != LAPACK_INV)
            v->operand[k].unit = 0; /* vectors are loaded of the matrix alone, and only how that lies matters */
    }
    v->gufunc.vector = loads_rows(c, s) ? (uint8_t)least(ACCESS_BYTES / element_size(v, 0), n & -n) : 1;
    if (v->gufunc.vector > 1 && !vectors_aligned(c, s->misalignment))
        v->gufunc.vector = 1;
    v->gufunc.aligned = v->gufunc.vector > 1;
    return true;
}

/* ---- Rotations and reflectors ---- */

/* Right sides of least squares are taken in turn, and may be any number: how many is no constant of the variant. */
static void unfix_sides(const cores *c, variant *v) {
    int sides = c->layout->operands[1].dim[1];
    v->gufunc.size[sides] = 0;
    for (int k = 0; k < v->nin + v->nout; k++)
        for (int d = 0; d < rank_of(c, k); d++)
            if (c->layout->operands[k].dim[d] == sides)
                v->operand[k].fixed = 0;
}

/* Each lane has a column of the matrix, or for rotations one of its adjoint if that has fewer, and other elements: of what rotates it, or of
 * Q. */
static bool choose_columns_of_lanes(const cores *c, variant *v, const loop_problem *s) {
    bool rotates = s->form == LAPACK_EIGH || s->form == LAPACK_SVD || s->form == LAPACK_LSTSQ,
         reflects = s->form == LAPACK_QR;
    if ((!rotates && !reflects) || v->reports || serves_several(c))
        return false;
    int64_t m = extent_at(c, 0, 0), n = extent_at(c, 0, 1);
    int64_t columns = rotates && m < n ? m : n, rows = rotates && m < n ? n : m, others = rotates ? columns : rows;
    int parts = dtype_is_complex(v->operand[0].value) ? 2 : 1;
    if (columns < ROTATE_LEAST || columns > WARP || rows > REFLECT_M || (reflects && m * n * parts < REFLECT_NUMBERS) ||
        (rows + others) * words_of(v) > LANE_COLUMNS_MOST)
        return false;
    v->gufunc.form = (uint8_t)s->form;
    v->gufunc.coop = (uint8_t)log2_ceil((uint64_t)columns);
    fix_sizes(v, s);
    for (int k = 0; k < v->nin + v->nout; k++) {
        v->operand[k].fixed = rank_of(c, k) && packed_count(c, k);
        v->operand[k].unit = 0;
    }
    if (s->form == LAPACK_LSTSQ)
        unfix_sides(c, v);
    v->gufunc.vector = 1;
    return true;
}

/* ---- Rotations by a block ---- */

/* log2 of the lanes that have a pair of columns: as few as have registers for it, as they share what a rotation is found by. They sum in an order
 * of their own, so that this looks at nothing but sizes. */
static int rotating_lanes(int64_t rows, int words) {
    int lanes = ROTATE_LANES;
    while (lanes < COOP_WARP && ceil_shift(rows, lanes) > ROTATE_COLUMN / words)
        lanes++;
    return lanes;
}

/* log2 of the threads of a block, which is more than a warp: a group of lanes for each pair of columns, if there can be so many. */
static int rotating_threads(int64_t columns, int lanes) {
    int threads = log2_ceil((uint64_t)(columns + 1) / 2) + lanes;
    return threads <= COOP_WARP ? COOP_WARP + 1 : least(threads, ROTATE_COOP);
}

bool gpu_rotates(dtype type, int64_t m, int64_t n, int shared) {
    int size = dtypes[type].size;
    return m >= ROTATE_LEAST && n >= ROTATE_LEAST && m <= UINT8_MAX && n <= UINT8_MAX &&
           rotated_sizes((int)m, (int)n, size, rotating_lanes(m > n ? m : n, size / 4)).end <=
               (shared > SHARED_FREE ? shared : SHARED_FREE);
}

/* Rows of Hermitian matrices up to which this is faster than cuSOLVER, by their number and the registers of an element. ms of a call of 1, 16,
 * 128, 256 and 1024 matrices on an H200, here and there: of 40 float32 rows 0.27, 0.29, 0.30, 0.34, 0.74 and 0.46, 0.29, 0.37, 0.61, 1.90; of 64
 * 0.56, 0.57, 0.58, 0.86, 2.43 and 0.64, 0.34, 0.50, 0.84, 2.74. */
static const struct {
    int64_t from;
    uint8_t rows[5];
} hermitian_rows[] = {{256, {[1] = 72, [2] = 56, [4] = 48}},
                      {100, {[1] = 48, [2] = 48, [4] = 24}},
                      {2, {[1] = 40, [2] = 34, [4] = 24}},
                      {1, {[1] = 64, [2] = 48, [4] = 24}}};

static int hermitian_most(const cores *c) {
    int i = 0;
    while (c->loop->count < hermitian_rows[i].from)
        i++;
    return hermitian_rows[i].rows[words_of(c->v)];
}

static bool rotates(const cores *c, const loop_problem *s) {
    int64_t m = extent_at(c, 0, 0), n = extent_at(c, 0, 1);
    if ((s->form != LAPACK_SVD && s->form != LAPACK_EIGH) || c->v->reports || serves_several(c) || !c->loop->count)
        return false;
    return gpu_rotates((dtype)c->v->operand[0].value, m, n, s->shared) &&
           (s->form == LAPACK_SVD || m <= hermitian_most(c));
}

static bool choose_rotating_block(const cores *c, variant *v, const loop_problem *s) {
    if (!rotates(c, s))
        return false;
    int64_t m = extent_at(c, 0, 0), n = extent_at(c, 0, 1);
    v->gufunc.form = (uint8_t)s->form;
    v->gufunc.lanes = (uint8_t)rotating_lanes(m > n ? m : n, words_of(v));
    if (s->form == LAPACK_EIGH) /* nothing is summed */
        v->gufunc.lanes = (uint8_t)(s->loop->count <= ROTATE_FEW ? ROTATE_LANES + 1 : ROTATE_LANES);
    v->gufunc.coop = (uint8_t)rotating_threads(m < n ? m : n, v->gufunc.lanes);
    fix_sizes(v, s);
    for (int k = 0; k < v->nin + v->nout; k++) {
        v->operand[k].fixed = rank_of(c, k) && packed_count(c, k);
        v->operand[k].unit = 0;
    }
    v->gufunc.vector = 1;
    return true;
}

bool choose_lanes(const cores *c, variant *v, const loop_problem *s) {
    return choose_elimination(c, v, s) || choose_columns_of_lanes(c, v, s) || choose_rotating_block(c, v, s);
}
