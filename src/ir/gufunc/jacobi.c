/* jacobi.c - GPU: eigenvalues and singular values of small matrices, with their vectors, by Jacobi's rotations (G. H. Golub and C. F. Van
 * Loan, Matrix Computations). The lanes of a group, neighbours in a warp, have a column of the matrix each, and a row of the product of the
 * rotations. A Hermitian matrix is rotated from both sides, until what is beside its diagonal is nothing; any other from one side, until its
 * columns are orthogonal: of these the norms are the singular values, the directions the left vectors.
 *
 * In a step each column meets one of its neighbours: that with the next number in the even columns' turn, that with the one before in the
 * odd ones'. Rotations are by a quarter of a turn more than those that would do, so that the two columns change places as well, and in as many steps as
 * there are columns each meets each (odd-even transposition). So all lanes do the same, and no register has a number that is only known
 * at run time. What belongs to a column of the matrix is where that is, also in a row of the product; the order is found at the end. */
#include <assert.h>
#include <math.h>

#include "ir/gufunc/jacobi.h"
#include "ir/gufunc/rotation.h"

enum {
    FILLED = 1,          /* of a column: it had nothing in it, and got something: see `fill` */
    NEGATED = INT32_MIN, /* it was, when it changed places with others */
    RANK = JACOBI_N - 1, /* its place among the results, in its flags */
};

/* ---- Numbers ---- */

static dtype real_of(const jacobi *j) { return j->of.real; }
static ssa root(const jacobi *j, ssa x) { return emit_math(j->e, math_find("sqrt", 4), real_of(j), &x); }

static ssa both(const jacobi *j, ssa a, ssa b) { return emit_op(j->e, "and i1", a, b); }

/* ---- Rotations ---- */

/* The rotation of the pair, if it `rotates`, and a quarter of a turn; *change: what the elements on the diagonal change by. */
static rotation turned_rotation(const jacobi *j, const rotated_pair *p, ssa rotates, ssa idle, ssa *change) {
    ssa one = num_constant(&j->of, 1), zero = num_constant(&j->of, 0);
    rotation_angle a = rotation_of_pair(&j->of, p);
    num still = num_real(&j->of, 0), turned = num_real(&j->of, 1);
    *change = part_select(&j->of, rotates, part_binary(&j->of, OP_MUL, a.tangent, p->r), zero);
    ssa cosine = part_select(&j->of, rotates, part_binary(&j->of, OP_MUL, a.tangent, a.cosine), zero);
    return (rotation){.cosine = part_select(&j->of, idle, one, cosine),
                      .sine = num_select(&j->of, idle, still,
                                         num_select(&j->of, rotates, rotation_along(&j->of, p, a.cosine), turned))};
}

/* This lane's column, with the partner's. */
static void rotate_column(jacobi *j, const num *other, const meeting *m, const rotation *r) {
    num own = num_negated(&j->of, r->sine);
    own = num_select(&j->of, m->first, num_conjugate(&j->of, r->sine), own);
    for (int t = 0; t < j->rows; t++)
        j->x[t] = num_fused(&j->of, own, other[t], num_scaled(&j->of, j->x[t], r->cosine));
}

/* Pairs of all columns, in registers: of the lane's row of the product, and of a Hermitian matrix its column, whose rows they are; where that
 * column is one of them, what is beside the diagonal becomes exactly 0, and the places on it stay so. */
static void rotate_rows(jacobi *j, int parity, const rotation *own) {
    num zero = num_real(&j->of, 0);
    for (int p = parity; p + 1 < j->n; p += 2) {
        const rotation r = {lane_told(j->w, real_of(j), own->cosine, ssa_constant(p)),
                            lane_told_num(j->w, &j->of, own->sine, ssa_constant(p))};
        rotation_turn(&j->of, &r, false, &j->v[p], &j->v[p + 1]);
        if (!j->hermitian)
            continue;
        ssa met = emit_value(j->e, "icmp eq i32 %s, %d", j->meets[parity].low.text, p);
        rotation_turn(&j->of, &r, true, &j->x[p], &j->x[p + 1]);
        j->x[p] = num_select(&j->of, met, zero, j->x[p]);
        j->x[p + 1] = num_select(&j->of, met, zero, j->x[p + 1]);
    }
}

/* ---- Steps ---- */

/* Of two values, that of the column with the lesser number. */
static ssa lesser(const jacobi *j, const meeting *m, ssa own, ssa other) {
    return part_select(&j->of, m->first, own, other);
}
static ssa greater(const jacobi *j, const meeting *m, ssa own, ssa other) {
    return part_select(&j->of, m->first, other, own);
}

/* The element of the lane's column with the partner's number: halves of what is left are chosen by a bit of it at a time. */
static num beside_diagonal(const jacobi *j, const meeting *m) {
    emit *e = j->e;
    num x[JACOBI_N];
    for (int t = 0; t < j->n; t++)
        x[t] = j->x[t];
    for (int count = j->n, bit = 0; count > 1; count = (count + 1) / 2, bit++) {
        ssa odd = emit_value(e, "and i32 %s, %d", m->partner.text, 1 << bit);
        odd = emit_value(e, "icmp ne i32 %s, 0", odd.text);
        for (int t = 0; t < count; t += 2)
            x[t / 2] = t + 1 < count ? num_select(&j->of, odd, x[t + 1], x[t]) : x[t];
    }
    return x[0];
}

/* The pair of a Hermitian matrix: its elements, of which the rotation makes nothing of the one beside the diagonal. */
static ssa hermitian_pair(const jacobi *j, const meeting *m, rotated_pair *p) {
    ssa other = lane_told(j->w, real_of(j), j->diagonal, m->partner);
    p->x = lesser(j, m, j->diagonal, other), p->y = greater(j, m, j->diagonal, other);
    p->z = num_conjugate(&j->of, lane_told_num(j->w, &j->of, beside_diagonal(j, m), m->low));
    p->r = num_absolute(&j->of, p->z);
    return rotation_counts_hermitian(&j->of, p);
}

static ssa square_of_norm(const jacobi *j) {
    ssa sum = num_square(&j->of, j->x[0], num_constant(&j->of, 0));
    for (int t = 1; t < j->rows; t++)
        sum = num_square(&j->of, j->x[t], sum);
    return sum;
}

/* The pair of any other matrix: the products of its columns with each other. */
static ssa product_pair(const jacobi *j, const meeting *m, const num *other, rotated_pair *p) {
    ssa own = square_of_norm(j), norm = part_binary(&j->of, OP_MUL, own, part_inverse_root(&j->of, own));
    ssa square = lane_told(j->w, real_of(j), own, m->partner), length = lane_told(j->w, real_of(j), norm, m->partner);
    num z = num_real(&j->of, 0);
    for (int t = 0; t < j->rows; t++)
        z = num_fused(&j->of, num_conjugate(&j->of, j->x[t]), other[t], z);
    p->x = lesser(j, m, own, square), p->y = greater(j, m, own, square);
    p->z = lane_told_num(j->w, &j->of, z, m->low);
    p->r = num_absolute(&j->of, p->z);
    return rotation_counts(&j->of, p, norm, length);
}

static void step(jacobi *j, int parity) {
    emit *e = j->e;
    const meeting *m = &j->meets[parity];
    num other[2 * JACOBI_N];
    rotated_pair p;
    ssa rotates, change;
    if (j->hermitian)
        rotates = hermitian_pair(j, m, &p);
    for (int t = 0; t < j->rows; t++)
        other[t] = lane_told_num(j->w, &j->of, j->x[t], m->partner);
    if (!j->hermitian)
        rotates = product_pair(j, m, other, &p);
    ssa turns = both(j, j->active, m->any), idle = emit_op(e, "xor i1", turns, ssa_bool(true));
    rotates = both(j, rotates, turns);
    const rotation r = turned_rotation(j, &p, rotates, idle, &change);
    j->rotated = emit_op(e, "or i1", j->rotated, rotates);
    rotate_column(j, other, m, &r);
    rotate_rows(j, parity, &r);
    if (j->hermitian) {
        ssa low = part_binary(&j->of, OP_ADD, p.y, change), high = part_binary(&j->of, OP_SUB, p.x, change);
        j->diagonal = part_select(&j->of, idle, j->diagonal, part_select(&j->of, m->first, low, high));
    }
    ssa flags = lane_told(j->w, DT_INT32, j->flags, m->partner);
    flags = emit_op(e, "xor i32", flags, emit_select_as(e, "i32", m->first, ssa_constant(0), ssa_constant(NEGATED)));
    j->flags = emit_select_as(e, "i32", turns, flags, j->flags);
}

static void carry_all(jacobi *j, carrying_loop *l) {
    *l = carrying_loop_new(j->e, 7 + (j->rows + j->n) * PARTS);
    carry(l, &j->rotated, "i1");
    carry(l, &j->diagonal, ir_value_type(real_of(j)));
    carry(l, &j->flags, "i32");
    for (int t = 0; t < j->rows; t++)
        carry_num(l, &j->of, &j->x[t]);
    for (int t = 0; t < j->n; t++)
        carry_num(l, &j->of, &j->v[t]);
}

static void sweep(jacobi *j) {
    carrying_loop l;
    j->step = ssa_constant(0);
    carry_all(j, &l);
    carry(&l, &j->step, "i32");
    carrying_loop_begin(&l);
    carrying_loop_while(&l, emit_value(j->e, "icmp slt i32 %s, %d", j->step.text, (j->n + 1) / 2));
    step(j, 0);
    step(j, 1);
    j->step = emit_value(j->e, "add i32 %s, 1", j->step.text);
    carrying_loop_end(&l);
}

/* Is that true for any lane of the group, of the warp? */
static ssa any_of_group(const jacobi *j, ssa is) {
    return emit_value(j->e, "icmp ne i32 %s, 0", lane_ballot(j->w, is).text);
}

static ssa any_of_warp(const jacobi *j, ssa is) {
    return emit_value(j->e, "icmp ne i32 %s, 0", lane_ballot_of_warp(j->w, is).text);
}

/* Until a sweep has rotated nothing. A matrix that is done stays as it is while others of the warp go on, so that its results are the same
 * beside any others. */
static void sweeps(jacobi *j) {
    carrying_loop l;
    j->sweep = ssa_constant(0);
    carry_all(j, &l);
    carry(&l, &j->active, "i1");
    carry(&l, &j->sweep, "i32");
    carrying_loop_begin(&l);
    ssa some = emit_value(j->e, "icmp slt i32 %s, %d", j->sweep.text, ROTATION_SWEEPS);
    carrying_loop_while(&l, both(j, some, any_of_warp(j, j->active)));
    j->rotated = ssa_bool(false);
    sweep(j);
    j->active = any_of_group(j, j->rotated);
    j->sweep = emit_value(j->e, "add i32 %s, 1", j->sweep.text);
    carrying_loop_end(&l);
}

/* Number t of a sequence without a pattern. */
static uint32_t mixed(uint32_t t) {
    t = (t + 1) * 0x9E3779B9u;
    t = (t ^ t >> 16) * 0x85EBCA6Bu;
    return (t ^ t >> 13) | 1;
}

/* Columns of nothing have no direction. They get some elements, too small to count, of which further rotations make what is orthogonal to the
 * others. */
static void fill(jacobi *j) {
    emit *e = j->e;
    const num_precision *k = j->precision;
    double least = ldexp(k->epsilon * k->epsilon, k->scale);
    ssa nothing = part_binary(&j->of, OP_LE, square_of_norm(j), num_constant(&j->of, least * least));
    ssa first = emit_value(e, "icmp eq i32 %s, 0", j->pass.text);
    ssa odd = emit_value(e, "add i32 %s, 1", emit_value(e, "shl i32 %s, 1", j->lane.text).text);
    nothing = both(j, both(j, nothing, j->exists), first);
    for (int t = 0; t < j->rows; t++)
        for (int i = 0; i < j->of.parts; i++) {
            ssa x = emit_value(e, "mul i32 %s, %d", odd.text, (int)mixed((uint32_t)(PARTS * t + i)));
            x = emit_convert(e, x, DT_INT32, real_of(j));
            x = part_binary(&j->of, OP_MUL, x, num_constant(&j->of, ldexp(least, -31)));
            j->x[t].part[i] = part_select(&j->of, nothing, x, j->x[t].part[i]);
        }
    ssa filled = emit_select_as(e, "i32", nothing, ssa_constant(FILLED), ssa_constant(0));
    j->flags = emit_op(e, "or i32", j->flags, filled);
    j->active = any_of_group(j, nothing);
}

static void passes(jacobi *j) {
    carrying_loop l;
    j->pass = ssa_constant(0);
    carry_all(j, &l);
    carry(&l, &j->active, "i1");
    carry(&l, &j->pass, "i32");
    carrying_loop_begin(&l);
    carrying_loop_while(&l, any_of_warp(j, j->active));
    sweeps(j);
    fill(j);
    j->pass = emit_value(j->e, "add i32 %s, 1", j->pass.text);
    carrying_loop_end(&l);
}

/* ---- Memory ---- */

static void load_columns(jacobi *j) {
    emit *e = j->e;
    int along = j->wide, across = !j->wide;
    ssa last[2] = {ssa_none(), ssa_none()};
    ssa own = emit_widen(e, emit_select_as(e, "i32", j->exists, j->lane, ssa_constant(j->n - 1)));
    ssa column = matrix_moved(j->w, 0, j->w->at[0], matrix_offset(j->w, own, 0, across)),
        row = matrix_moved(j->w, 0, j->w->at[0], matrix_offset(j->w, own, 0, along));
    for (int t = 0; t < j->rows; t++)
        j->x[t] = j->hermitian ? matrix_load_hermitian(j->w, j->lane, t, column, row, last)
                               : matrix_load(j->w, 0, matrix_element(j->w, 0, along, column, t, &last[0]));
    for (int t = 0; t < j->rows && j->wide; t++)
        j->x[t] = num_conjugate(&j->of, j->x[t]);
}

/* How many columns come before the lane's: those with lesser values or, of singular ones, with larger. */
static ssa rank_of(const jacobi *j, ssa value) {
    emit *e = j->e;
    ssa rank = ssa_constant(0);
    for (int t = 0; t < j->n; t++) {
        ssa other = lane_told(j->w, real_of(j), value, ssa_constant(t));
        ssa before = part_binary(&j->of, j->hermitian ? OP_LT : OP_GT, other, value);
        ssa same =
            both(j, part_binary(&j->of, OP_EQ, other, value), emit_value(e, "icmp sgt i32 %s, %d", j->lane.text, t));
        ssa counts = emit_value(e, "zext i1 %s to i32", emit_op(e, "or i1", before, same).text);
        rank = emit_op(e, "add i32", rank, counts);
    }
    return rank;
}

void jacobi_store_value(const jacobi *j, int k) {
    ssa value = part_times(&j->of, j->value, &j->scale.back);
    matrix_store(j->w, k, matrix_moved(j->w, k, j->w->at[k], matrix_offset(j->w, emit_widen(j->e, j->rank), k, 0)),
                 (num){{value, num_constant(&j->of, 0)}});
}

static ssa has(const jacobi *j, ssa flags, int flag) {
    return emit_value(j->e, "icmp ne i32 %s, 0", emit_value(j->e, "and i32 %s, %d", flags.text, flag).text);
}

/* The lane's column, times `by`: its place is along dimension `across` of operand k. */
static void store_column(const jacobi *j, int k, int across, ssa by) {
    ssa last = ssa_none();
    ssa first = matrix_moved(j->w, k, j->w->at[k], matrix_offset(j->w, emit_widen(j->e, j->rank), k, across));
    for (int t = 0; t < j->rows; t++) {
        num x = num_scaled(&j->of, j->x[t], by);
        matrix_store(j->w, k, matrix_element(j->w, k, !across, first, t, &last), across ? x : num_conjugate(&j->of, x));
    }
}

/* The lane's row of the product: element t belongs to column t, of which `places` has the flags and the place, along dimension `across`. */
static void store_row(const jacobi *j, int k, int across, const ssa *places) {
    emit *e = j->e;
    ssa first = matrix_moved(j->w, k, j->w->at[k], matrix_offset(j->w, emit_widen(e, j->lane), k, !across));
    for (int t = 0; t < j->n; t++) {
        ssa rank = emit_widen(e, emit_value(e, "and i32 %s, %d", places[t].text, RANK));
        num x = across ? j->v[t] : num_conjugate(&j->of, j->v[t]);
        for (int i = 0; i < j->of.parts; i++)
            x.part[i] = part_negated_by(&j->of, x.part[i], places[t]);
        matrix_store(j->w, k, matrix_moved(j->w, k, first, matrix_offset(j->w, rank, k, across)), x);
    }
}

static void store_all(jacobi *j, ssa there) {
    emit *e = j->e;
    ssa places[JACOBI_N], place = emit_value(e, "and i32 %s, %d", j->flags.text, NEGATED);
    place = emit_op(e, "or i32", place, j->rank);
    for (int t = 0; t < j->n; t++)
        places[t] = lane_told(j->w, DT_INT32, place, ssa_constant(t));
    int end = skeleton_if(&j->w->s, both(j, there, j->exists));
    if (j->hermitian) {
        jacobi_store_value(j, 1);
        store_row(j, 2, 1, places);
    } else {
        jacobi_store_value(j, 2);
        store_column(j, j->wide ? 3 : 1, !j->wide, part_negated_by(&j->of, j->unit, j->flags));
        store_row(j, j->wide ? 1 : 3, j->wide, places);
    }
    skeleton_end_if(&j->w->s, end);
}

/* ---- All ---- */

static meeting meeting_of(const jacobi *j, int parity) {
    emit *e = j->e;
    ssa odd = emit_value(e, "icmp ne i32 %s, 0", emit_value(e, "and i32 %s, 1", j->lane.text).text);
    ssa step = emit_select_as(e, "i32", odd, ssa_constant(parity ? 1 : -1), ssa_constant(parity ? -1 : 1));
    ssa partner = emit_op(e, "add i32", j->lane, step);
    ssa any = both(j, j->exists, emit_value(e, "icmp ult i32 %s, %d", partner.text, j->n));
    meeting m = {.any = any, .partner = emit_select_as(e, "i32", any, partner, j->lane)};
    m.first = emit_op(e, "icmp sgt i32", m.partner, j->lane);
    m.low = emit_select_as(e, "i32", m.first, j->lane, m.partner);
    return m;
}

static void begin(jacobi *j) {
    emit *e = j->e;
    num zero = num_real(&j->of, 0);
    ssa thread = emit_special_register(e, "tid");
    j->lane = emit_value(e, "and i32 %s, %d", thread.text, (1 << j->w->s.v->gufunc.coop) - 1);
    j->exists = emit_value(e, "icmp slt i32 %s, %d", j->lane.text, j->n);
    load_columns(j);
    j->scale = matrix_take_exponent(j->w, &j->of, j->x, j->rows);
    /* Without a result the product is NaN, and stays so. */
    num none = {{part_select(&j->of, j->scale.finite, num_constant(&j->of, 0), num_constant(&j->of, NAN))}}, one = none;
    none.part[1] = one.part[1] = none.part[0];
    one.part[0] = part_select(&j->of, j->scale.finite, num_constant(&j->of, 1), num_constant(&j->of, NAN));
    for (int parity = 0; parity < 2; parity++)
        j->meets[parity] = meeting_of(j, parity);
    j->active = ssa_bool(true);
    j->rotated = ssa_bool(false);
    j->flags = ssa_constant(0);
    j->diagonal = j->hermitian ? num_constant(&j->of, 0) : ssa_none();
    for (int t = 0; t < j->n; t++) {
        ssa own = emit_value(e, "icmp eq i32 %s, %d", j->lane.text, t);
        j->v[t] = num_select(&j->of, own, one, none);
        if (!j->hermitian)
            continue;
        j->diagonal = part_select(&j->of, own, j->x[t].part[0], j->diagonal);
        j->x[t] = num_select(&j->of, own, zero, j->x[t]);
    }
}

static void find_results(jacobi *j) {
    j->value = j->diagonal;
    if (!j->hermitian) {
        ssa norm = root(j, square_of_norm(j));
        j->value = part_select(&j->of, has(j, j->flags, FILLED), num_constant(&j->of, 0), norm);
        j->unit = part_select(&j->of, j->scale.finite, part_binary(&j->of, OP_DIV, num_constant(&j->of, 1), norm),
                              num_constant(&j->of, NAN));
    }
    j->rank = emit_select_as(j->e, "i32", j->scale.finite, rank_of(j, j->value), j->lane);
}

jacobi *jacobi_rotate(gufunc_writer *w) {
    const variant *v = w->s.v;
    jacobi *j = arena_alloc(w->s.e->a, sizeof *j);
    int m = (int)matrix_extent(w, 0, 0), n = (int)matrix_extent(w, 0, 1);
    *j = (jacobi){.w = w,
                  .e = w->s.e,
                  .hermitian = v->gufunc.form == LAPACK_EIGH,
                  .wide = m < n,
                  .of = num_kind_of(w->s.e, (dtype)v->operand[0].value),
                  .rows = m < n ? n : m,
                  .n = m < n ? m : n};
    j->precision = num_precision_of(&j->of);
    assert(j->n <= JACOBI_N && j->rows <= 2 * JACOBI_N && j->n <= 1 << v->gufunc.coop);
    begin(j);
    (j->hermitian ? sweeps : passes)(j);
    find_results(j);
    return j;
}

void jacobi_vectors(gufunc_writer *w, ssa there) { store_all(jacobi_rotate(w), there); }
