/* elimination.c - GPU: solutions, inverses, determinants and Cholesky factors of small matrices. The lanes of a group, neighbours in a
 * warp, have the matrix in registers, each some of its columns, or rows for solutions: the vectors. A step takes one of them for the
 * pivot, which all lanes are told by shuffles, and subtracts multiples of it from the others, so that their first element becomes 0.
 *
 * Steps are one loop, not so many copies of it: what a step makes of element j it leaves in the place of j - 1, so that the element which
 * is next stands first, and no register has a number that is only known at run time. What takes the last place is the inverse's (Gauss
 * and Jordan's elimination in place; G. H. Golub and C. F. Van Loan, Matrix Computations, has it and the others), or what went out in
 * front. Pivots are the largest elements (partial pivoting, along the rows of a matrix whose columns the lanes have). Nothing is exchanged
 * for that: a vector knows in which step it was the pivot, and that it is to be divided by its element then, which is left to the end. */
#include <assert.h>
#include <math.h>

#include "ir/common/lanes.h"
#include "ir/gufunc/lane_matrix.h"

enum {
    SLOTS = 4,                    /* vectors of a lane, at most */
    ELEMENTS = 2 * ELIMINATION_N, /* of one, with those of right sides */
    PRODUCT_ALONE = 16,           /* rows up to which a determinant is the product of pivots as they are */
    /* What is left becomes so much shorter that it pays to write the steps once more: so often, and after so many at least. */
    PHASES = 4,
    PHASE = 8
};

typedef struct lanes_matrix {
    gufunc_writer *w;
    emit *e;
    lapack_form form;
    num_kind of;      /* elements */
    int n, more;      /* more: elements behind the n, of right sides */
    int lanes, slots; /* log2 of the lanes */
    /* Core dimensions of the matrix: elements of a vector are along the one, vectors along the other. */
    int along, across;
    ssa lane;          /* in the group; all that follow are i32 */
    ssa number[SLOTS]; /* of the vectors: beyond the last one there may be more, which are never pivots */
    /* What a step changes. */
    ssa k;             /* the step */
    ssa pivot[SLOTS];  /* in which step the vector was the pivot; below 0: it was not yet */
    ssa chosen[SLOTS]; /* which vector was that in the step with the number of this one */
    ssa place[SLOTS]; /* of the vector, if it had changed places with the pivots: that gives the determinant its sign */
    num divisor[SLOTS]; /* that the vector is still to be divided by; of Cholesky factors, by its root */
    num product;        /* of the pivots, .. */
    ssa exponent;       /* .. without their exponents, the sum of these (i32), where there are many */
    ssa good;           /* i1: so far pivots of Cholesky factors were above 0 */
    num x[SLOTS][ELEMENTS];
} lanes_matrix;

/* ---- Pivots ---- */

/* The first lane of the group for which that is true: there is one. */
static ssa first_lane(const lanes_matrix *m, ssa is) {
    emit_declare(m->e, "declare i32 @llvm.cttz.i32(i32, i1)");
    return emit_value(m->e, "call i32 @llvm.cttz.i32(i32 %s, i1 false)", lane_ballot(m->w, is).text);
}

/* The vector that is the pivot: its slot in its lane; that lane; and for each slot, whether it is this one. */
typedef struct pivot {
    ssa slot, lane;
    ssa is[SLOTS];
} pivot;

/* The value of that slot, of each of those given. */
static ssa of_slot(const lanes_matrix *m, const pivot *p, const char *type, const ssa *values, size_t apart) {
    ssa x = values[0];
    for (int s = 1; s < m->slots; s++) {
        ssa own = emit_value(m->e, "icmp eq i32 %s, %d", p->slot.text, s);
        x = emit_select_as(m->e, type, own, values[(size_t)s * apart], x);
    }
    return x;
}

/* Of each lane the largest first element that was no pivot, and of all lanes. */
static pivot pivot_largest(const lanes_matrix *m) {
    emit *e = m->e;
    pivot p = {.slot = ssa_constant(0)};
    ssa best = ssa_none();
    for (int s = 0; s < m->slots; s++) {
        ssa left = emit_value(e, "icmp slt i32 %s, 0", m->pivot[s].text);
        ssa size = emit_select_as(e, "i32", left, num_size(&m->of, m->x[s][0]), ssa_constant(-1));
        ssa more = s ? emit_op(e, "icmp sgt i32", size, best) : ssa_none();
        p.slot = s ? emit_select_as(e, "i32", more, ssa_constant(s), p.slot) : p.slot;
        best = s ? emit_select_as(e, "i32", more, size, best) : size;
    }
    p.lane = first_lane(m, emit_op(e, "icmp eq i32", best, lane_largest(m->w, best)));
    return p;
}

static pivot pivot_next(const lanes_matrix *m) {
    emit *e = m->e;
    return (pivot){.slot = emit_value(e, "lshr i32 %s, %d", m->k.text, m->lanes),
                   .lane = emit_value(e, "and i32 %s, %d", m->k.text, (1 << m->lanes) - 1)};
}

static pivot find_pivot(const lanes_matrix *m) {
    emit *e = m->e;
    pivot p = m->form == LAPACK_CHOLESKY ? pivot_next(m) : pivot_largest(m);
    ssa mine = emit_op(e, "icmp eq i32", m->lane, p.lane);
    for (int s = 0; s < m->slots; s++) {
        ssa own = m->slots > 1 ? emit_value(e, "icmp eq i32 %s, %d", p.slot.text, s) : ssa_bool(true);
        p.is[s] = m->slots > 1 ? emit_op(e, "and i1", mine, own) : mine;
    }
    return p;
}

static num pivot_element(const lanes_matrix *m, const pivot *p, int j) {
    num v;
    for (int i = 0; i < m->of.parts; i++) {
        ssa own = of_slot(m, p, ir_value_type(m->of.real), &m->x[0][j].part[i], ELEMENTS * PARTS);
        v.part[i] = lane_told(m->w, m->of.real, own, p->lane);
    }
    return v;
}

/* ---- Steps ---- */

/* There are Cholesky factors only if all pivots are above 0: the first one that is not makes all of them NaN at the end. */
static void judge_pivot(lanes_matrix *m, num diagonal) {
    ssa positive = emit_binary(m->e, OP_GT, m->of.real, diagonal.part[0], num_constant(&m->of, 0), m->of.real);
    m->good = emit_op(m->e, "and i1", m->good, positive);
}

/* The pivot's multiple that is added to the vector of slot s. Of Cholesky factors that is the conjugate of the pivot's element
 * with the number of the vector, as what is left of the matrix is Hermitian. */
static num multiplier(const lanes_matrix *m, int s, const pivot *p, const num_divisor *d) {
    emit *e = m->e;
    ssa done = p->is[s];
    num f = m->x[s][0], zero = num_real(&m->of, 0);
    if (m->form == LAPACK_CHOLESKY) { /* and columns before it are */
        f = num_scaled(&m->of, num_scaled(&m->of, f, d->by), d->inverse.part[0]);
        done = emit_op(e, "icmp sle i32", m->number[s], m->k);
    } else {
        f = num_quotient(&m->of, f, d);
    }
    f = num_select(&m->of, done, zero, num_negated(&m->of, f));
    return m->form == LAPACK_DET ? num_select(&m->of, num_is_zero(&m->of, d->x), zero, f) : f;
}

/* The product with one more pivot. The exponent of the pivot's larger part is taken out if there are many, so that the product, of numbers from 1
 * to 2, or to 2 sqrt(2) in size, is in range, and only the result may not be. */
static void multiply_product(lanes_matrix *m, num x) {
    emit *e = m->e;
    if (ssa_is_set(m->exponent)) {
        const num_precision *p = num_precision_of(&m->of);
        ssa size = part_size(&m->of, x.part[0]);
        for (int i = 1; i < m->of.parts; i++) {
            ssa other = part_size(&m->of, x.part[i]);
            size = emit_select_as(e, "i32", emit_op(e, "icmp sgt i32", other, size), other, size);
        }
        ssa biased = emit_value(e, "lshr i32 %s, %d", size.text, p->mantissa % 32);
        ssa taken = emit_value(e, "sub i32 %s, %d", biased.text, p->bias);
        const num_factors by = num_power_of_two(&m->of, emit_op(e, "sub i32", ssa_constant(0), taken));
        m->exponent = emit_op(e, "add i32", m->exponent, taken);
        for (int i = 0; i < m->of.parts; i++)
            x.part[i] = part_times(&m->of, x.part[i], &by);
    }
    m->product = num_product(&m->of, m->product, x);
}

/* What is remembered of the pivot. */
static void note_pivot(lanes_matrix *m, const pivot *p, num diagonal) {
    emit *e = m->e;
    ssa vector = p->lane, place = ssa_none();
    if (m->form == LAPACK_CHOLESKY)
        judge_pivot(m, diagonal);
    if (m->form == LAPACK_INV && m->slots > 1) {
        ssa own = emit_value(e, "shl i32 %s, %d", p->slot.text, m->lanes);
        vector = emit_op(e, "add i32", lane_told(m->w, DT_INT32, own, p->lane), p->lane);
    }
    if (m->form == LAPACK_DET) {
        place = lane_told(m->w, DT_INT32, of_slot(m, p, "i32", m->place, 1), p->lane);
        ssa moved = emit_op(e, "icmp ne i32", place, m->k);
        multiply_product(m, num_select(&m->of, moved, num_negated(&m->of, diagonal), diagonal));
    }
    for (int s = 0; s < m->slots; s++) {
        ssa turn = emit_op(e, "icmp eq i32", m->number[s], m->k);
        m->pivot[s] = emit_select_as(e, "i32", p->is[s], m->k, m->pivot[s]);
        m->chosen[s] = m->form == LAPACK_INV ? emit_select_as(e, "i32", turn, vector, m->chosen[s]) : m->chosen[s];
        if (m->form != LAPACK_DET) {
            m->divisor[s] = num_select(&m->of, p->is[s], diagonal, m->divisor[s]);
            continue;
        }
        ssa here = emit_op(e, "icmp eq i32", m->place[s], m->k);
        m->place[s] = emit_select_as(e, "i32", p->is[s], m->k, emit_select_as(e, "i32", here, place, m->place[s]));
    }
}

/* One step, in which the first `live` elements are left of each vector. */
static void eliminate(lanes_matrix *m, int live) {
    pivot p = find_pivot(m);
    num v[ELEMENTS], one = num_real(&m->of, 1);
    for (int j = 0; j < m->n + m->more; j++)
        if (j < live || j >= m->n)
            v[j] = pivot_element(m, &p, j);
    if (m->form == LAPACK_CHOLESKY) /* it is a real number */
        v[0].part[1] = num_constant(&m->of, 0);
    const num_divisor d = num_divide_by(&m->of, v[0]);
    note_pivot(m, &p, v[0]);
    for (int s = 0; s < m->slots; s++) {
        num *x = m->x[s], first = x[0], f = multiplier(m, s, &p, &d);
        for (int j = 1; j < live; j++)
            x[j - 1] = num_fused(&m->of, f, v[j], x[j]);
        if (m->form == LAPACK_INV)
            x[live - 1] = num_select(&m->of, p.is[s], one, f);
        else if (m->form == LAPACK_CHOLESKY)
            x[live - 1] = first;
        for (int j = m->n; j < m->n + m->more; j++)
            x[j] = num_fused(&m->of, f, v[j], x[j]);
    }
}

/* Of each vector `live` elements, and those of right sides. */
static void carry_all(lanes_matrix *m, carrying_loop *l, int live) {
    *l = carrying_loop_new(m->e, 1 + m->slots * (3 + m->of.parts * (1 + live + m->more)) + m->of.parts + 2);
    carry(l, &m->k, "i32");
    for (int s = 0; s < m->slots; s++) {
        carry(l, &m->pivot[s], "i32");
        carry(l, &m->chosen[s], "i32");
        carry(l, &m->place[s], "i32");
        carry_num(l, &m->of, &m->divisor[s]);
        for (int j = 0; j < m->n + m->more; j++)
            if (j < live || j >= m->n)
                carry_num(l, &m->of, &m->x[s][j]);
    }
    carry_num(l, &m->of, &m->product);
    carry(l, &m->exponent, "i32");
    carry(l, &m->good, "i1");
}

/* Steps from m->k on to `end`. */
static void steps(lanes_matrix *m, int end, int live) {
    carrying_loop l;
    carry_all(m, &l, live);
    carrying_loop_begin(&l);
    carrying_loop_while(&l, emit_value(m->e, "icmp slt i32 %s, %d", m->k.text, end));
    eliminate(m, live);
    m->k = emit_value(m->e, "add i32 %s, 1", m->k.text);
    carrying_loop_end(&l);
}

/* The steps of a loop, but for the first one, which has those that are over. An inverse has all elements to the end. */
static int phase_of(const lanes_matrix *m) {
    int steps = (m->n + PHASES - 1) / PHASES;
    return m->form == LAPACK_INV ? m->n : steps > PHASE ? steps : PHASE;
}

static int first_phase(const lanes_matrix *m) {
    int steps = phase_of(m);
    return m->n <= steps ? m->n : m->n % steps ? m->n % steps : steps;
}

/* Where a loop of steps leaves row t, which the elements that are left go around, of Cholesky factors. */
static int resting(const lanes_matrix *m, int t) {
    int from = 0, count = first_phase(m);
    while (t >= from + count) {
        from += count;
        count = phase_of(m);
    }
    return m->n - from - count + t - from;
}

static void all_steps(lanes_matrix *m) {
    for (int from = 0, count = first_phase(m); from < m->n; from += count, count = phase_of(m)) {
        m->k = ssa_constant(from);
        steps(m, from + count, m->n - from);
    }
}

/* ---- Memory ---- */

/* May lanes have no vector in slot s? */
static bool is_partial(const lanes_matrix *m, int s) { return (s + 1) << m->lanes > m->n; }

/* The number of the vector that is read for slot s (i64): there is one. */
static ssa vector_read(const lanes_matrix *m, int s) {
    emit *e = m->e;
    ssa last = ssa_constant(m->n - 1), own = m->number[s];
    if (is_partial(m, s))
        own = emit_select_as(e, "i32", emit_op(e, "icmp slt i32", own, last), own, last);
    return emit_widen(e, own);
}

/* Elements of a row by vectors of them. */
static void load_row(lanes_matrix *m, int s, ssa first) {
    const variant_operand *o = &m->e->frame->v->operand[0];
    int width = m->e->frame->v->gufunc.vector;
    ssa values[ACCESS_BYTES];
    for (int t = 0; t < m->n; t += width) {
        emit_load_vector(m->e, (dtype)o->memory, matrix_moved(m->w, 0, first, ssa_constant(t)), width, values);
        for (int i = 0; i < width; i++)
            m->x[s][t + i] = num_of_value(&m->of, emit_convert(m->e, values[i], (dtype)o->memory, (dtype)o->value));
    }
}

static void load_lower(lanes_matrix *m, int s, ssa column, ssa row) {
    ssa last[2] = {ssa_none(), ssa_none()};
    for (int t = 0; t < m->n; t++)
        m->x[s][t] = matrix_load_hermitian(m->w, m->number[s], t, column, row, last);
}

static void load_vectors(lanes_matrix *m) {
    emit *e = m->e;
    ssa at = m->w->at[0];
    for (int s = 0; s < m->slots; s++) {
        ssa own = vector_read(m, s), first = matrix_moved(m->w, 0, at, matrix_offset(m->w, own, 0, m->across)),
            last = ssa_none();
        if (m->form == LAPACK_CHOLESKY)
            load_lower(m, s, first, matrix_moved(m->w, 0, at, matrix_offset(m->w, own, 0, m->along)));
        else if (e->frame->v->gufunc.vector > 1)
            load_row(m, s, first);
        else
            for (int t = 0; t < m->n; t++)
                m->x[s][t] = matrix_load(m->w, 0, matrix_element(m->w, 0, m->along, first, t, &last));
        ssa side = m->more ? matrix_moved(m->w, 1, m->w->at[1], matrix_offset(m->w, own, 1, 0)) : ssa_none();
        for (int q = 0; q < m->more; q++)
            m->x[s][m->n + q] = matrix_load(m->w, 1, q ? matrix_element(m->w, 1, 1, side, q, &last) : (last = side));
    }
}

/* What slot s is divided by at last: none gives NaN. */
static num last_divisor(const lanes_matrix *m, int s) {
    num none = {{num_constant(&m->of, NAN), num_constant(&m->of, NAN)}};
    return num_select(&m->of, num_is_zero(&m->of, m->divisor[s]), none, m->divisor[s]);
}

static void store_solution(lanes_matrix *m, int s, ssa first) {
    ssa last = first;
    const num_divisor d = num_divide_by(&m->of, last_divisor(m, s));
    for (int q = 0; q < m->more; q++)
        matrix_store(m->w, 2, q ? matrix_element(m->w, 2, 1, first, q, &last) : first,
                     num_quotient(&m->of, m->x[s][m->n + q], &d));
}

static void store_factor(lanes_matrix *m, int s, ssa first) {
    emit *e = m->e;
    ssa last = ssa_none(), root = emit_math(e, math_find("sqrt", 4), m->of.real, &m->divisor[s].part[0]);
    ssa factor = part_quotient(&m->of, num_constant(&m->of, 1), root);
    factor = emit_select(e, m->of.real, m->good, factor, num_constant(&m->of, NAN));
    for (int t = 0; t < m->n; t++) {
        ssa below = emit_value(e, "icmp sle i32 %s, %d", m->number[s].text, t);
        num x = num_scaled(&m->of, m->x[s][resting(m, t)], factor);
        matrix_store(m->w, 1, matrix_element(m->w, 1, 0, first, t, &last),
                     num_select(&m->of, below, x, num_real(&m->of, 0)));
    }
}

/* Writes slot s of the lanes that have a vector there. */
static void store_slot(lanes_matrix *m, int s, void (*write)(lanes_matrix *m, int s, const void *user),
                       const void *user) {
    if (!is_partial(m, s)) {
        write(m, s, user);
        return;
    }
    int end = skeleton_if(&m->w->s, emit_value(m->e, "icmp slt i32 %s, %d", m->number[s].text, m->n));
    write(m, s, user);
    skeleton_end_if(&m->w->s, end);
}

/* A row of the inverse: where it is from the first one on (i64), and where a slot's element of that is. */
typedef struct inverse_row {
    int j;
    ssa offset;
    const ssa *first;
    const num *factor; /* of a slot */
} inverse_row;

static void store_element(lanes_matrix *m, int s, const void *user) {
    const inverse_row *r = user;
    matrix_store(m->w, 1, matrix_moved(m->w, 1, r->first[s], r->offset),
                 num_product(&m->of, m->x[s][r->j], r->factor[s]));
}

/* Row j of the inverse of a matrix whose columns the lanes have is at the place of the vector that was the pivot in step j, which all lanes ask
 * for together, and what a vector has of it in the column of the step in which that was the pivot itself. */
static void store_inverse(lanes_matrix *m, ssa there) {
    ssa first[SLOTS];
    num factor[SLOTS], one = num_real(&m->of, 1);
    for (int s = 0; s < m->slots; s++) {
        const num_divisor d = num_divide_by(&m->of, last_divisor(m, s));
        factor[s] = num_quotient(&m->of, one, &d);
        first[s] = matrix_moved(m->w, 1, m->w->at[1], matrix_offset(m->w, emit_widen(m->e, m->pivot[s]), 1, m->across));
    }
    for (int j = 0; j < m->n; j++) {
        ssa lane = ssa_constant(j & ((1 << m->lanes) - 1)),
            vector = lane_told(m->w, DT_INT32, m->chosen[j >> m->lanes], lane);
        const inverse_row row = {j, matrix_offset(m->w, emit_widen(m->e, vector), 1, m->along), first, factor};
        int end = skeleton_if(&m->w->s, there);
        for (int s = 0; s < m->slots; s++)
            store_slot(m, s, store_element, &row);
        skeleton_end_if(&m->w->s, end);
    }
}

static void store_vector(lanes_matrix *m, int s, const void *user) {
    const bool factor = m->form == LAPACK_CHOLESKY;
    int out = m->w->layout->nin;
    (void)user;
    ssa own = emit_widen(m->e, factor ? m->number[s] : m->pivot[s]);
    (factor ? store_factor
            : store_solution)(m, s, matrix_moved(m->w, out, m->w->at[out], matrix_offset(m->w, own, out, factor)));
}

static void store_vectors(lanes_matrix *m, ssa there) {
    int end = skeleton_if(&m->w->s, there);
    for (int s = 0; s < m->slots; s++)
        store_slot(m, s, store_vector, NULL);
    skeleton_end_if(&m->w->s, end);
}

/* The product with its exponent, of which so much counts as makes any product infinite or 0: in two halves, as factors have a range, too. */
static num whole_product(const lanes_matrix *m) {
    emit *e = m->e;
    num x = m->product;
    if (!ssa_is_set(m->exponent))
        return x;
    ssa most = ssa_constant(7 * num_precision_of(&m->of)->bias / 2),
        least = emit_op(e, "sub i32", ssa_constant(0), most);
    ssa exponent = emit_select_as(e, "i32", emit_op(e, "icmp slt i32", m->exponent, most), m->exponent, most);
    exponent = emit_select_as(e, "i32", emit_op(e, "icmp sgt i32", exponent, least), exponent, least);
    ssa half = emit_value(e, "ashr i32 %s, 1", exponent.text);
    const num_factors by[] = {num_power_of_two(&m->of, half),
                              num_power_of_two(&m->of, emit_op(e, "sub i32", exponent, half))};
    for (int i = 0; i < m->of.parts; i++)
        x.part[i] = part_times(&m->of, part_times(&m->of, x.part[i], &by[0]), &by[1]);
    return x;
}

static void store_product(lanes_matrix *m, ssa there) {
    num product = whole_product(m);
    ssa first = emit_value(m->e, "icmp eq i32 %s, 0", m->lane.text);
    int end = skeleton_if(&m->w->s, emit_op(m->e, "and i1", there, first));
    matrix_store(m->w, 1, m->w->at[1], product);
    skeleton_end_if(&m->w->s, end);
}

/* ---- All ---- */

/* Rows that go by vectors, or whose elements lie apart, are a lane's; else, where a matrix lies by columns, these are what neighbouring
 * lanes read side by side. Cholesky factors are written by rows, side by side. */
static void turn(lanes_matrix *m) {
    const variant *v = m->e->frame->v;
    bool rows = m->form == LAPACK_SOLVE || m->form == LAPACK_SOLVE_MATRIX;
    bool turned =
        m->form != LAPACK_CHOLESKY && v->operand[0].unit == 1 && (m->form != LAPACK_INV || v->operand[1].unit == 1);
    m->along = rows || turned;
    m->across = !m->along;
}

static void begin(lanes_matrix *m) {
    emit *e = m->e;
    ssa thread = emit_special_register(e, "tid");
    m->lane = emit_value(e, "and i32 %s, %d", thread.text, (1 << m->lanes) - 1);
    for (int s = 0; s < m->slots; s++) {
        m->number[s] = s ? emit_value(e, "add i32 %s, %d", m->lane.text, s << m->lanes) : m->lane;
        ssa exists = emit_value(e, "icmp slt i32 %s, %d", m->number[s].text, m->n);
        m->pivot[s] = emit_select_as(e, "i32", exists, ssa_constant(-1), ssa_constant(m->n));
        m->chosen[s] = m->form == LAPACK_INV ? ssa_constant(0) : ssa_none();
        m->place[s] = m->form == LAPACK_DET ? m->number[s] : ssa_none();
        m->divisor[s] = m->form != LAPACK_DET ? num_real(&m->of, 1) : (num){{ssa_none()}};
    }
    m->good = m->form == LAPACK_CHOLESKY ? ssa_bool(true) : ssa_none();
    m->product = m->form == LAPACK_DET ? num_real(&m->of, 1) : (num){{ssa_none()}};
    m->exponent = m->form == LAPACK_DET && m->n > PRODUCT_ALONE ? ssa_constant(0) : ssa_none();
}

void elimination(gufunc_writer *w, ssa there) {
    emit *e = w->s.e;
    const variant *v = w->s.v;
    lanes_matrix *m = arena_alloc(e->a, sizeof *m);
    *m = (lanes_matrix){.w = w,
                        .e = e,
                        .form = (lapack_form)v->gufunc.form,
                        .of = num_kind_of(e, (dtype)v->operand[0].value),
                        .n = v->gufunc.size[w->layout->operands[0].dim[0]],
                        .lanes = v->gufunc.coop};
    m->slots = variant_slots(v, m->n);
    if (m->form == LAPACK_SOLVE || m->form == LAPACK_SOLVE_MATRIX)
        m->more = m->form == LAPACK_SOLVE ? 1 : (int)matrix_extent(m->w, 1, 1);
    assert(m->slots <= SLOTS && m->n <= ELIMINATION_N && m->n + m->more <= ELEMENTS);
    turn(m);
    begin(m);
    load_vectors(m);
    all_steps(m);
    (m->form == LAPACK_DET ? store_product : m->form == LAPACK_INV ? store_inverse : store_vectors)(m, there);
}
