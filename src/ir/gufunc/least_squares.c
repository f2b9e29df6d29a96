/* least_squares.c - GPU: least squares of small matrices, from their singular values (jacobi.c): of a = u s vh the solution of the least norm is
 * v (u* b / s), without the values that count as 0. The lanes of a group have a column each of what is rotated, which is u s, and a row of
 * the other factor; where a has fewer rows than columns it is its adjoint that is rotated, so that the two change their parts. What a row
 * has for each column is summed over the lanes, or told. */
#include <assert.h>
#include <math.h>

#include "ir/gufunc/jacobi.h"

enum {
    A,
    B,
    RCOND,
    X,
    RESIDUALS,
    RANK,
    VALUES
};

typedef struct squares {
    const jacobi *j;
    gufunc_writer *w;
    emit *e;
    num_kind of;
    int m, n;   /* of a */
    ssa counts; /* i1: the lane's singular value is above the cut */
    ssa rank;   /* how many are (i32) */
    ssa first;  /* i1: is this the lane that stores what all have? */
} squares;

static num none(const squares *q) { return (num){{num_constant(&q->of, NAN), num_constant(&q->of, NAN)}}; }

static ssa rcond(const squares *q) {
    return q->w->s.uniform[RCOND] ? q->w->s.value[RCOND] : matrix_load(q->w, RCOND, q->w->at[RCOND]).part[0];
}

/* Which values count. */
static void find_rank(squares *q) {
    emit *e = q->e;
    const jacobi *j = q->j;
    ssa largest = num_constant(&q->of, 0), given = rcond(q);
    for (int t = 0; t < j->n; t++) {
        ssa value = lane_told(q->w, q->of.real, j->value, ssa_constant(t));
        ssa more = part_binary(&q->of, OP_GT, value, largest);
        largest = emit_select(e, q->of.real, more, value, largest);
    }
    ssa own = num_constant(&q->of, 2 * j->precision->epsilon * j->rows);
    ssa cut = emit_select(e, q->of.real, part_binary(&q->of, OP_LT, given, num_constant(&q->of, 0)), own, given);
    q->counts = part_binary(&q->of, OP_GT, j->value, part_binary(&q->of, OP_MUL, largest, cut));
    q->counts = emit_op(e, "and i1", emit_op(e, "and i1", q->counts, j->exists), j->scale.finite);
    emit_declare(e, "declare i32 @llvm.ctpop.i32(i32)");
    q->rank = emit_value(e, "call i32 @llvm.ctpop.i32(i32 %s)", lane_ballot(q->w, q->counts).text);
}

/* The part of b, whose elements in column t are given, along the lane's left singular vector; of a wide matrix each lane has an element of all
 * of them. Lanes without a vector get 0. */
static num part_along(const squares *q, const num *b) {
    const jacobi *j = q->j;
    num along = num_real(&q->of, 0);
    if (!j->wide) {
        for (int i = 0; i < q->m; i++)
            along = num_fused(&q->of, num_conjugate(&q->of, j->x[i]), b[i], along);
        along = num_scaled(&q->of, along, j->unit);
    }
    for (int t = 0; t < j->n && j->wide; t++) {
        num own = num_product(&q->of, num_conjugate(&q->of, j->v[t]), b[0]);
        own = lane_sum(q->w, &q->of, num_select(&q->of, j->exists, own, num_real(&q->of, 0)));
        along = num_select(&q->of, emit_value(q->e, "icmp eq i32 %s, %d", j->lane.text, t), own, along);
    }
    return num_select(&q->of, j->exists, along, num_real(&q->of, 0));
}

/* The solution's element `i`, which all lanes get, or if the matrix is not wide the lane's own. `solved`: the solution along the lane's right
 * singular vector. */
static num element_of(const squares *q, num solved, int i) {
    const jacobi *j = q->j;
    if (j->wide)
        return lane_sum(q->w, &q->of, num_product(&q->of, num_scaled(&q->of, j->x[i], j->unit), solved));
    num x = num_real(&q->of, 0);
    for (int t = 0; t < j->n; t++)
        x = num_fused(&q->of, j->v[t], lane_told_num(q->w, &q->of, solved, ssa_constant(t)), x);
    return x;
}

static ssa is_full(const squares *q) { return emit_value(q->e, "icmp eq i32 %s, %d", q->rank.text, q->n); }

/* The squared norm of what of b is along no left singular vector; NaN if there are columns that have none. */
static ssa residual_of(const squares *q, const num *b, num along) {
    const jacobi *j = q->j;
    ssa total = num_constant(&q->of, 0);
    if (j->wide)
        return num_constant(&q->of, NAN);
    num own = num_scaled(&q->of, along, j->unit);
    for (int i = 0; i < q->m; i++) {
        num sum = lane_sum(q->w, &q->of, num_product(&q->of, j->x[i], own));
        for (int k = 0; k < q->of.parts; k++)
            sum.part[k] = part_binary(&q->of, OP_SUB, b[i].part[k], sum.part[k]);
        total = num_square(&q->of, sum, total);
    }
    return emit_select(q->e, q->of.real, is_full(q), total, num_constant(&q->of, NAN));
}

/* Column t (i64) of b. */
static void load_side(const squares *q, ssa t, num *b) {
    const jacobi *j = q->j;
    ssa first = matrix_moved(q->w, B, q->w->at[B], matrix_offset(q->w, t, B, 1)), last = ssa_none();
    if (j->wide) {
        ssa own = emit_select_as(q->e, "i32", j->exists, j->lane, ssa_constant(q->m - 1));
        b[0] = matrix_load(q->w, B, matrix_moved(q->w, B, first, matrix_offset(q->w, emit_widen(q->e, own), B, 0)));
    }
    for (int i = 0; i < q->m && !j->wide; i++)
        b[i] = matrix_load(q->w, B, matrix_element(q->w, B, 0, first, i, &last));
}

static void solve_side(const squares *q, ssa there, ssa t) {
    emit *e = q->e;
    const jacobi *j = q->j;
    num b[2 * JACOBI_N], x[2 * JACOBI_N];
    load_side(q, t, b);
    num along = part_along(q, b), solved = num_scaled(&q->of, along, j->unit);
    for (int i = 0; i < q->of.parts; i++)
        solved.part[i] = part_times(&q->of, solved.part[i], &j->scale.out);
    solved = num_select(&q->of, q->counts, solved, num_real(&q->of, 0));
    int count = j->wide ? q->n : 1;
    for (int i = 0; i < count; i++)
        x[i] = num_select(&q->of, j->scale.finite, element_of(q, solved, i), none(q));
    num residual = {{residual_of(q, b, along), num_constant(&q->of, 0)}};
    ssa last = ssa_none(), first = matrix_moved(q->w, X, q->w->at[X], matrix_offset(q->w, t, X, 1));
    if (!j->wide)
        first = matrix_moved(q->w, X, first, matrix_offset(q->w, emit_widen(e, j->lane), X, 0));
    int end = skeleton_if(&q->w->s, emit_op(e, "and i1", there, j->wide ? q->first : j->exists));
    for (int i = 0; i < count; i++)
        matrix_store(q->w, X, matrix_element(q->w, X, 0, first, i, &last), x[i]);
    skeleton_end_if(&q->w->s, end);
    end = skeleton_if(&q->w->s, emit_op(e, "and i1", there, q->first));
    matrix_store(q->w, RESIDUALS,
                 matrix_moved(q->w, RESIDUALS, q->w->at[RESIDUALS], matrix_offset(q->w, t, RESIDUALS, 0)),
                 num_select(&q->of, j->scale.finite, residual, none(q)));
    skeleton_end_if(&q->w->s, end);
}

void least_squares(gufunc_writer *w, ssa there) {
    emit *e = w->s.e;
    squares *q = arena_alloc(e->a, sizeof *q);
    const jacobi *j = jacobi_rotate(w);
    *q = (squares){.j = j,
                   .w = w,
                   .e = e,
                   .of = j->of,
                   .m = (int)matrix_extent(w, A, 0),
                   .n = (int)matrix_extent(w, A, 1),
                   .first = emit_value(e, "icmp eq i32 %s, 0", j->lane.text)};
    find_rank(q);
    int end = skeleton_if(&w->s, emit_op(e, "and i1", there, j->exists));
    jacobi_store_value(j, VALUES);
    skeleton_end_if(&w->s, end);
    end = skeleton_if(&w->s, emit_op(e, "and i1", there, q->first));
    matrix_store(w, RANK, w->at[RANK], (num){{q->rank}});
    skeleton_end_if(&w->s, end);
    counted_loop l = counted_loop_begin(e, "i64", ssa_constant(0), w->core[w->layout->operands[B].dim[1]]);
    solve_side(q, there, l.i);
    counted_loop_end(e, &l, ssa_constant(1), loop_no_unroll(e));
}
