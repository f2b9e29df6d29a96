/* reflectors.c - GPU: QR factorisations of small matrices by Householder's reflectors (G. H. Golub and C. F. Van Loan, Matrix Computations).
 * The lanes of a group, neighbours in a warp, have a column of the matrix each, and then one of Q.
 *
 * Steps are one loop, not so many copies of it: the element of a column that a step is about stands first, and the others move up by a place,
 * so that no register has a number that is only known at run time. What goes out in front is a row of R, which is written at once; in its
 * place each lane puts an element of its reflector, 1 - tau u u*, at the end: 0 before it has one. So after the steps the lanes have
 * reflectors in whole columns, with nothing above them, and Q is made by telling them all, last one first. */
#include <assert.h>
#include <math.h>

#include "ir/gufunc/lane_matrix.h"

typedef struct reflecting {
    gufunc_writer *w;
    emit *e;
    num_kind of;
    int m, n, k;      /* rows, columns, the lesser of them */
    ssa lane, stores; /* i1: is there a column, of a call that is stored? */
    matrix_scale scale;
    ssa row,
        column; /* where the step's row of R begins, operand 2, at this lane's column; of Q the lane's column, operand 1 */
    /* What steps change. */
    ssa step;
    num tau; /* of the lane's reflector */
    num x[REFLECT_M], q[REFLECT_M];
} reflecting;

static num told(const reflecting *r, num x) { return lane_told_num(r->w, &r->of, x, r->step); }

/* ---- Steps ---- */

/* The reflector of a column that takes it to (beta, 0, ..); its first element is u, the others are the column's. */
typedef struct reflector {
    num u, tau;
    ssa beta;
} reflector;

/* A column that has nothing below its first element, a real one, stays as it is. Squares are numbers unless they are of what is far less than
 * the matrix's rounding errors. */
static reflector reflector_of(const reflecting *r) {
    num a = r->x[0];
    ssa rest = num_constant(&r->of, 0), zero = num_constant(&r->of, 0);
    for (int t = 1; t < r->m; t++)
        rest = num_square(&r->of, r->x[t], rest);
    if (r->of.parts > 1)
        rest = part_fused(&r->of, a.part[1], a.part[1], rest);
    ssa some = part_binary(&r->of, OP_GT, rest, num_constant(&r->of, num_precision_of(&r->of)->tiny));
    ssa square = part_fused(&r->of, a.part[0], a.part[0], rest), inverse = part_inverse_root(&r->of, square);
    ssa norm = part_signed_as(&r->of, part_binary(&r->of, OP_MUL, square, inverse), a.part[0]);
    reflector f = {.u = a, .beta = part_select(&r->of, some, part_negated(&r->of, norm), a.part[0])};
    f.u.part[0] = part_select(&r->of, some, part_binary(&r->of, OP_ADD, a.part[0], norm), a.part[0]);
    if (r->of.parts == 1) {
        f.tau.part[0] = part_inverse(
            &r->of, part_binary(&r->of, OP_MUL, part_magnitude(&r->of, f.u.part[0]), part_magnitude(&r->of, norm)));
    } else { /* u / (|u|^2 norm) */
        f.tau = num_scaled(&r->of, f.u, part_inverse(&r->of, num_square(&r->of, f.u, zero)));
        f.tau = num_scaled(&r->of, f.tau, part_signed_as(&r->of, inverse, norm));
    }
    f.tau = num_select(&r->of, some, f.tau, num_real(&r->of, 0));
    return f;
}

static void store_row(reflecting *r, num x) {
    int end = skeleton_if(&r->w->s, r->stores);
    for (int i = 0; i < r->of.parts; i++)
        x.part[i] = part_times(&r->of, x.part[i], &r->scale.back);
    matrix_store(r->w, 2, r->row, x);
    skeleton_end_if(&r->w->s, end);
    r->row = matrix_moved(r->w, 2, r->row, matrix_offset(r->w, ssa_constant(1), 2, 0));
}

static void reflect(reflecting *r) {
    emit *e = r->e;
    const reflector own = reflector_of(r);
    num v[REFLECT_M], first = r->x[0], zero = num_real(&r->of, 0);
    ssa before = emit_op(e, "icmp slt i32", r->lane, r->step), now = emit_op(e, "icmp eq i32", r->lane, r->step);
    v[0] = told(r, own.u);
    num dot = num_product(&r->of, num_conjugate(&r->of, v[0]), first);
    for (int t = 1; t < r->m; t++) {
        v[t] = told(r, r->x[t]);
        dot = num_fused(&r->of, num_conjugate(&r->of, v[t]), r->x[t], dot);
    }
    num f = num_negated(&r->of, num_product(&r->of, num_conjugate(&r->of, told(r, own.tau)), dot));
    f = num_select(&r->of, emit_op(e, "or i1", before, now), zero, f);
    for (int t = 1; t < r->m; t++)
        r->x[t - 1] = num_fused(&r->of, f, v[t], r->x[t]);
    r->x[r->m - 1] = num_select(&r->of, before, first, num_select(&r->of, now, own.u, zero));
    r->tau = num_select(&r->of, now, own.tau, r->tau);
    num diagonal = {{own.beta, num_constant(&r->of, 0)}};
    store_row(r,
              num_select(&r->of, before, zero, num_select(&r->of, now, diagonal, num_fused(&r->of, f, v[0], first))));
}

static void carry_columns(const reflecting *r, carrying_loop *l, num *x) {
    for (int t = 0; t < r->m; t++)
        carry_num(l, &r->of, &x[t]);
}

static void all_steps(reflecting *r) {
    carrying_loop l = carrying_loop_new(r->e, 2 + (r->m + 1) * PARTS);
    fragment pointer =
        fragment_of("%s%s", ir_memory_type((dtype)r->w->s.v->operand[2].memory), ir_global_pointer(r->e));
    r->step = ssa_constant(0);
    carry(&l, &r->step, "i32");
    carry(&l, &r->row, pointer.text);
    carry_num(&l, &r->of, &r->tau);
    carry_columns(r, &l, r->x);
    carrying_loop_begin(&l);
    carrying_loop_while(&l, emit_value(r->e, "icmp slt i32 %s, %d", r->step.text, r->k));
    reflect(r);
    r->step = emit_value(r->e, "add i32 %s, 1", r->step.text);
    carrying_loop_end(&l);
}

/* ---- Q ---- */

/* Where the steps have left an element: its row. */
static int row_of(const reflecting *r, int t) { return (t + r->k) % r->m; }

static void reflect_back(reflecting *r) {
    num v[REFLECT_M], dot = num_real(&r->of, 0);
    for (int t = 0; t < r->m; t++) {
        v[t] = told(r, r->x[t]);
        dot = num_fused(&r->of, num_conjugate(&r->of, v[t]), r->q[t], dot);
    }
    num f = num_negated(&r->of, num_product(&r->of, told(r, r->tau), dot));
    for (int t = 0; t < r->m; t++)
        r->q[t] = num_fused(&r->of, f, v[t], r->q[t]);
}

static void all_back(reflecting *r) {
    carrying_loop l = carrying_loop_new(r->e, 1 + r->m * PARTS);
    /* Without a result Q is NaN, and stays so. */
    ssa none = part_select(&r->of, r->scale.finite, num_constant(&r->of, 0), num_constant(&r->of, NAN)),
        one = part_select(&r->of, r->scale.finite, num_constant(&r->of, 1), num_constant(&r->of, NAN));
    for (int t = 0; t < r->m; t++) {
        ssa own = emit_value(r->e, "icmp eq i32 %s, %d", r->lane.text, row_of(r, t));
        r->q[t] = (num){{part_select(&r->of, own, one, none), none}};
    }
    r->step = ssa_constant(r->k - 1);
    carry(&l, &r->step, "i32");
    carry_columns(r, &l, r->q);
    carrying_loop_begin(&l);
    carrying_loop_while(&l, emit_value(r->e, "icmp sge i32 %s, 0", r->step.text));
    reflect_back(r);
    r->step = emit_value(r->e, "sub i32 %s, 1", r->step.text);
    carrying_loop_end(&l);
}

/* Elements of Q by row, so that the addresses follow each other. */
static void store_column(reflecting *r) {
    ssa last = ssa_none(), stores = emit_value(r->e, "icmp slt i32 %s, %d", r->lane.text, r->k);
    int end = skeleton_if(&r->w->s, emit_op(r->e, "and i1", r->stores, stores));
    for (int i = 0; i < r->m; i++)
        matrix_store(r->w, 1, matrix_element(r->w, 1, 0, r->column, i, &last), r->q[(i + r->m - r->k) % r->m]);
    skeleton_end_if(&r->w->s, end);
}

/* ---- All ---- */

void reflectors(gufunc_writer *w, ssa there) {
    const variant *v = w->s.v;
    emit *e = w->s.e;
    reflecting *r = arena_alloc(e->a, sizeof *r);
    *r = (reflecting){.w = w,
                      .e = e,
                      .of = num_kind_of(e, (dtype)v->operand[0].value),
                      .m = (int)matrix_extent(w, 0, 0),
                      .n = (int)matrix_extent(w, 0, 1)};
    r->k = r->m < r->n ? r->m : r->n;
    assert(r->m <= REFLECT_M && r->n <= 1 << v->gufunc.coop);
    r->lane = emit_value(e, "and i32 %s, %d", emit_special_register(e, "tid").text, (1 << v->gufunc.coop) - 1);
    ssa exists = emit_value(e, "icmp slt i32 %s, %d", r->lane.text, r->n), last = ssa_none();
    r->stores = emit_op(e, "and i1", there, exists);
    ssa own = emit_widen(e, emit_select_as(e, "i32", exists, r->lane, ssa_constant(r->n - 1)));
    ssa column = matrix_moved(w, 0, w->at[0], matrix_offset(w, own, 0, 1));
    for (int t = 0; t < r->m; t++)
        r->x[t] = matrix_load(w, 0, matrix_element(w, 0, 0, column, t, &last));
    r->scale = matrix_take_exponent(w, &r->of, r->x, r->m);
    r->column = matrix_moved(w, 1, w->at[1], matrix_offset(w, own, 1, 1));
    r->row = matrix_moved(w, 2, w->at[2], matrix_offset(w, own, 2, 1));
    r->tau = num_real(&r->of, 0);
    all_steps(r);
    all_back(r);
    store_column(r);
}
