/* block_jacobi.c - GPU: singular values and eigenvalues, with their vectors, of matrices that are too large for the registers of a warp, by
 * Jacobi's rotations, as in jacobi.c. A block has the matrix in shared memory, with the product of the rotations (type/rotated.h). In a round every
 * column meets one other, as in a tournament in which each meets each: a group of lanes takes a pair, has both columns in registers, and
 * rotates them and those of the product. Of two columns the longer one gets the lower number, so that the values are in order at the end; where columns
 * are interchanged for that, the rotation is by a quarter of a turn more.
 *
 * Of a Hermitian matrix a round has two halves: the pairs' rotations are found, and then each thread rotates what some of the pairs have in
 * common with others, two rows and two columns at a time, so that no two threads have the same elements. */
#include <assert.h>
#include <math.h>

#include "ir/common/lanes.h"
#include "ir/gufunc/lane_matrix.h"
#include "ir/gufunc/rotation.h"
#include "type/rotated.h"

enum {
    SLOTS = 16 /* of a lane's elements of a column, at most, as the policy has it */
};

typedef struct block_jacobi {
    gufunc_writer *w;
    emit *e;
    bool hermitian;
    num_kind of;
    const num_precision *precision;
    rotated z;
    int threads;             /* of the block */
    ssa thread, lane, group; /* i32: the lane in its group of those that have a pair */
    ssa x, v;                /* the matrix and the product, in shared memory */
    ssa units, sines, words, flags;
    ssa largest; /* part_size of the largest element, while elements are loaded */
    matrix_scale scale;
    /* What loops change. */
    ssa sweep, pass, round, game, element; /* i32; game: the first one that the groups have */
    ssa active, changed;                   /* i1: there is something to do; columns have changed in this sweep */
} block_jacobi;

static ssa both(const block_jacobi *j, ssa a, ssa b) { return emit_op(j->e, "and i1", a, b); }
static ssa either(const block_jacobi *j, ssa a, ssa b) { return emit_op(j->e, "or i1", a, b); }
static ssa less(const block_jacobi *j, ssa a, int b) { return emit_value(j->e, "icmp slt i32 %s, %d", a.text, b); }

/* ---- Shared memory ---- */

static ssa shared_element(const block_jacobi *j, dtype t, ssa base, ssa index) {
    j->e->shared = true;
    ssa at = emit_element(j->e, t, base, emit_widen(j->e, index));
    j->e->shared = false;
    return at;
}

static ssa shared_load(const block_jacobi *j, dtype t, ssa at) {
    j->e->shared = true;
    ssa x = emit_load(j->e, t, at);
    j->e->shared = false;
    return x;
}

static void shared_store(const block_jacobi *j, dtype t, ssa x, ssa at) {
    j->e->shared = true;
    emit_store(j->e, t, x, at);
    j->e->shared = false;
}

/* Element i of column c (i32) of the matrix, or of the product. */
static ssa column_element(const block_jacobi *j, bool product, ssa c, ssa i) {
    int pitch = product ? j->z.product_pitch : j->z.pitch;
    ssa index = emit_op(j->e, "add i32", emit_value(j->e, "mul i32 %s, %d", c.text, pitch), i);
    return shared_element(j, j->of.type, product ? j->v : j->x, index);
}

static num num_at(const block_jacobi *j, ssa at) { return num_of_value(&j->of, shared_load(j, j->of.type, at)); }
static void num_put(const block_jacobi *j, num x, ssa at) { shared_store(j, j->of.type, num_value(&j->of, x), at); }

/* The lane's elements of a column: the first one's address, and what they are. */
static ssa slot(const block_jacobi *j, ssa first, int s) {
    return shared_element(j, j->of.type, first, ssa_constant(s << j->z.lanes));
}
static void column_load(const block_jacobi *j, ssa first, int slots, num *x) {
    for (int s = 0; s < slots; s++)
        x[s] = num_at(j, slot(j, first, s));
}
static void column_store(const block_jacobi *j, ssa first, int slots, const num *x) {
    for (int s = 0; s < slots; s++)
        num_put(j, x[s], slot(j, first, s));
}

/* The sum of what the lanes of a group have. */
static ssa sum_of_group(const block_jacobi *j, ssa x) {
    for (int by = 1 << j->z.lanes >> 1; by; by /= 2)
        x = part_binary(&j->of, OP_ADD, x,
                        lanes_shuffle(j->e, "bfly", ssa_constant(-1), j->of.real, x, ssa_constant(by), COOP_WARP));
    return x;
}

static ssa square_of_norm(const block_jacobi *j, const num *x) {
    ssa sum = num_constant(&j->of, 0);
    for (int s = 0; s < j->z.slots; s++)
        sum = num_square(&j->of, x[s], sum);
    return sum_of_group(j, sum);
}

static ssa flag_of(const block_jacobi *j, ssa column) {
    return emit_value(j->e, "icmp ne i32 %s, 0",
                      shared_load(j, DT_INT32, shared_element(j, DT_INT32, j->flags, column)).text);
}
static void flag_put(const block_jacobi *j, ssa flag, ssa column) {
    ssa x = emit_value(j->e, "zext i1 %s to i32", flag.text);
    shared_store(j, DT_INT32, x, shared_element(j, DT_INT32, j->flags, column));
}

/* The i32 that all lanes of a warp have, of all warps: each lane gets one of them, and the warp all. All threads of the block get there. */
static ssa of_warps(const block_jacobi *j, ssa x) {
    emit *e = j->e;
    ssa lane = emit_value(e, "and i32 %s, %d", j->thread.text, (1 << COOP_WARP) - 1);
    ssa warp = emit_value(e, "lshr i32 %s, %d", j->thread.text, COOP_WARP);
    int end = skeleton_if(&j->w->s, emit_value(e, "icmp eq i32 %s, 0", lane.text));
    shared_store(j, DT_INT32, x, shared_element(j, DT_INT32, j->words, warp));
    skeleton_end_if(&j->w->s, end);
    emit_block_barrier(e);
    ssa from = emit_value(e, "and i32 %s, %d", lane.text, (j->threads >> COOP_WARP) - 1);
    x = shared_load(j, DT_INT32, shared_element(j, DT_INT32, j->words, from));
    emit_block_barrier(e);
    return x;
}

/* Is that true for any thread? */
static ssa any_of_block(const block_jacobi *j, ssa is) {
    ssa all = of_warps(j, lane_ballot_of_warp(j->w, is));
    ssa some = emit_value(j->e, "icmp ne i32 %s, 0", all.text);
    return emit_value(j->e, "icmp ne i32 %s, 0", lane_ballot_of_warp(j->w, some).text);
}

/* ---- Loops ---- */

static carrying_loop loop_of(block_jacobi *j, ssa *counter, ssa from) {
    carrying_loop l = carrying_loop_new(j->e, 5);
    *counter = from;
    carry(&l, counter, "i32");
    return l;
}

static void loop_end(block_jacobi *j, carrying_loop *l, ssa *counter, int by) {
    *counter = emit_value(j->e, "add i32 %s, %d", counter->text, by);
    carrying_loop_end(l);
}

/* The elements of the thread of a matrix of so many rows and columns: `visit` gets their indices along both. The thread's neighbours have their
 * neighbours along the second. */
static void each_element(block_jacobi *j, int rows, int length,
                         void (*visit)(block_jacobi *j, ssa row, ssa column, void *user), void *user) {
    emit *e = j->e;
    carrying_loop l = loop_of(j, &j->element, j->thread);
    carry(&l, &j->largest, "i32");
    carrying_loop_begin(&l);
    carrying_loop_while(&l, less(j, j->element, rows * length));
    ssa row = emit_value(e, "udiv i32 %s, %d", j->element.text, length);
    ssa before = emit_value(e, "mul i32 %s, %d", row.text, length);
    visit(j, row, emit_op(e, "sub i32", j->element, before), user);
    loop_end(j, &l, &j->element, j->threads);
}

/* Numbers 0 .. n - 1 by groups, of which every warp's all get there; *own: the group's, n or more: it has none. `l` carries what is to be. */
static void groups_begin(block_jacobi *j, carrying_loop *l, int n, ssa *own) {
    carrying_loop_begin(l);
    carrying_loop_while(l, less(j, j->game, n));
    *own = emit_op(j->e, "add i32", j->game, j->group);
}

static void groups_end(block_jacobi *j, carrying_loop *l) { loop_end(j, l, &j->game, j->threads >> j->z.lanes); }

/* ---- Memory ---- */

static ssa core_address(const block_jacobi *j, int k, ssa row, ssa column) {
    ssa at = matrix_moved(j->w, k, j->w->at[k], matrix_offset(j->w, emit_widen(j->e, row), k, 0));
    return matrix_moved(j->w, k, at, matrix_offset(j->w, emit_widen(j->e, column), k, 1));
}

static void clear(block_jacobi *j, ssa column, ssa i, void *user) {
    (void)user;
    num_put(j, num_real(&j->of, 0), column_element(j, false, column, i));
}

static void note_size(block_jacobi *j, num x) {
    emit *e = j->e;
    for (int i = 0; i < j->of.parts; i++) {
        ssa size = part_size(&j->of, x.part[i]);
        j->largest = emit_select_as(e, "i32", emit_op(e, "icmp sgt i32", size, j->largest), size, j->largest);
    }
}

static void load_one(block_jacobi *j, ssa row, ssa column, void *user) {
    (void)user;
    num x = matrix_load(j->w, 0, core_address(j, 0, row, column));
    note_size(j, x);
    if (j->z.wide)
        num_put(j, num_conjugate(&j->of, x), column_element(j, false, row, column));
    else
        num_put(j, x, column_element(j, false, column, row));
}

/* What is above the diagonal is not read, and an element on it is its real part. */
static void load_hermitian(block_jacobi *j, ssa row, ssa column, void *user) {
    (void)user;
    emit *e = j->e;
    ssa below = emit_op(e, "icmp sge i32", row, column), diagonal = emit_op(e, "icmp eq i32", row, column);
    ssa low = emit_select_as(e, "i32", below, row, column), high = emit_select_as(e, "i32", below, column, row);
    num x = matrix_load(j->w, 0, core_address(j, 0, low, high));
    x = num_select(&j->of, below, x, num_conjugate(&j->of, x));
    if (j->of.parts > 1)
        x.part[1] = part_select(&j->of, diagonal, num_constant(&j->of, 0), x.part[1]);
    note_size(j, x);
    num_put(j, x, column_element(j, false, column, row));
}

static void scale_one(block_jacobi *j, ssa column, ssa i, void *user) {
    (void)user;
    ssa at = column_element(j, false, column, i);
    num x = num_at(j, at);
    for (int k = 0; k < j->of.parts; k++)
        x.part[k] = part_times(&j->of, x.part[k], &j->scale.out);
    num_put(j, x, at);
}

/* The product is 1; without a result it is NaN, and stays so. */
static void product_one(block_jacobi *j, ssa column, ssa i, void *user) {
    (void)user;
    ssa none = part_select(&j->of, j->scale.finite, num_constant(&j->of, 0), num_constant(&j->of, NAN));
    ssa one = part_select(&j->of, j->scale.finite, num_constant(&j->of, 1), num_constant(&j->of, NAN));
    num x = {{part_select(&j->of, emit_op(j->e, "icmp eq i32", column, i), one, none), none}};
    num_put(j, x, column_element(j, true, column, i));
}

/* Element `row` of column `column` of what belongs to operand k: an element of the matrix is multiplied by what makes the column's norm 1. */
typedef struct output {
    int k;
    bool product;
    bool across; /* the columns are along the operand's second dimension */
} output;

static void store_one(block_jacobi *j, ssa row, ssa column, void *user) {
    const output *o = user;
    ssa c = o->across ? column : row, i = o->across ? row : column;
    num x = num_at(j, column_element(j, o->product, c, i));
    if (!o->product)
        x = num_scaled(&j->of, x, shared_load(j, j->of.real, shared_element(j, j->of.real, j->units, c)));
    matrix_store(j->w, o->k, core_address(j, o->k, row, column), o->across ? x : num_conjugate(&j->of, x));
}

static void store_matrix(block_jacobi *j, output o) {
    int length = o.product ? j->z.n : j->z.rows;
    each_element(j, o.across ? length : j->z.n, o.across ? j->z.n : length, store_one, &o);
}

/* ---- Rotations ---- */

typedef struct columns {
    ssa number[2]; /* i32 */
    ssa filled[2]; /* i1; see fill */
    num x[2][SLOTS];
    ssa first[2];
} columns;

/* The rotation of a pair that `rotates`, and by a quarter of a turn more if it is turned. The tangent's sign is that of y - x, so that a length
 * along z may be negative. */
static rotation_angle rotation_choose(const block_jacobi *j, const rotated_pair *p, ssa rotates, ssa turned,
                                      rotation *r) {
    const num_kind *of = &j->of;
    ssa zero = num_constant(of, 0), one = num_constant(of, 1);
    rotation_angle a = rotation_of_pair(of, p);
    ssa sine = part_binary(of, OP_MUL, a.tangent, a.cosine);
    r->cosine = part_select(of, turned, part_select(of, rotates, sine, zero), part_select(of, rotates, a.cosine, one));
    num along = rotation_along(of, p, part_select(of, turned, a.cosine, part_negated(of, sine)));
    r->sine = num_select(of, rotates, along, num_select(of, turned, num_real(of, 1), num_real(of, 0)));
    return a;
}

/* The pair's rotation; *turned: they change places. i1: is there anything to do? */
static ssa pair_rotation(const block_jacobi *j, const columns *c, ssa *turned, rotation *r) {
    const num_kind *of = &j->of;
    ssa zero = num_constant(of, 0);
    rotated_pair p = {.x = square_of_norm(j, c->x[0]), .y = square_of_norm(j, c->x[1])};
    num z = num_real(of, 0);
    for (int s = 0; s < j->z.slots; s++)
        z = num_fused(of, num_conjugate(of, c->x[0][s]), c->x[1][s], z);
    for (int i = 0; i < of->parts; i++)
        z.part[i] = sum_of_group(j, z.part[i]);
    p.z = z;
    p.r = num_absolute(of, p.z);
    ssa rotates = rotation_counts(of, &p, part_binary(of, OP_MUL, p.x, part_inverse_root(of, p.x)),
                                  part_binary(of, OP_MUL, p.y, part_inverse_root(of, p.y)));
    *turned =
        part_binary(of, OP_GT, part_select(of, c->filled[1], zero, p.y), part_select(of, c->filled[0], zero, p.x));
    rotation_choose(j, &p, rotates, *turned, r);
    return either(j, rotates, *turned);
}

static void rotate_product(const block_jacobi *j, const columns *c, const rotation *r) {
    num x[2][SLOTS];
    ssa first[2];
    for (int i = 0; i < 2; i++) {
        first[i] = column_element(j, true, c->number[i], j->lane);
        column_load(j, first[i], j->z.product_slots, x[i]);
    }
    for (int s = 0; s < j->z.product_slots; s++)
        rotation_turn(&j->of, r, false, &x[0][s], &x[1][s]);
    for (int i = 0; i < 2; i++)
        column_store(j, first[i], j->z.product_slots, x[i]);
}

/* The group's pair: columns `number`. */
static void play(block_jacobi *j, columns *c) {
    emit *e = j->e;
    rotation r;
    ssa turned;
    for (int i = 0; i < 2; i++) {
        c->first[i] = column_element(j, false, c->number[i], j->lane);
        column_load(j, c->first[i], j->z.slots, c->x[i]);
        c->filled[i] = flag_of(j, c->number[i]);
    }
    ssa changes = pair_rotation(j, c, &turned, &r);
    j->changed = either(j, j->changed, changes);
    int end = skeleton_if(&j->w->s, changes);
    for (int s = 0; s < j->z.slots; s++)
        rotation_turn(&j->of, &r, false, &c->x[0][s], &c->x[1][s]);
    for (int i = 0; i < 2; i++)
        column_store(j, c->first[i], j->z.slots, c->x[i]);
    rotate_product(j, c, &r);
    skeleton_end_if(&j->w->s, end);
    emit_warp_barrier(e, ssa_constant(-1)); /* all lanes have read the flags */
    end = skeleton_if(&j->w->s, both(j, turned, emit_value(e, "icmp eq i32 %s, 0", j->lane.text)));
    for (int i = 0; i < 2; i++)
        flag_put(j, c->filled[1 - i], c->number[i]);
    skeleton_end_if(&j->w->s, end);
}

/* A number from -others to 2 others - 1 modulo others. */
static ssa within(const block_jacobi *j, ssa x, int others) {
    emit *e = j->e;
    ssa more = emit_value(e, "add i32 %s, %d", x.text, others), fewer = emit_value(e, "sub i32 %s, %d", x.text, others);
    x = emit_select_as(e, "i32", less(j, x, 0), more, x);
    return emit_select_as(e, "i32", less(j, x, others), x, fewer);
}

/* Games of a round: of n columns, or with that of zeros if n is odd, the last one stays, and meets the one with the round's number; others meet
 * where their numbers' mean is that of the round, modulo all but the last. A group without a game has that of zeros twice. */
static int games(const block_jacobi *j) { return (j->z.n + 1) / 2; }
static void game_columns(const block_jacobi *j, ssa own, ssa *numbers) {
    emit *e = j->e;
    int others = (j->z.n - 1) | 1;
    ssa first = emit_value(e, "icmp eq i32 %s, 0", own.text), none = ssa_constant(j->z.n),
        there = less(j, own, games(j));
    ssa p = within(j, emit_op(e, "add i32", j->round, own), others),
        q = within(j, emit_op(e, "sub i32", j->round, own), others);
    q = emit_select_as(e, "i32", first, ssa_constant(others), q);
    p = emit_select_as(e, "i32", there, p, none);
    q = emit_select_as(e, "i32", there, q, none);
    ssa low = emit_op(e, "icmp slt i32", p, q);
    numbers[0] = emit_select_as(e, "i32", low, p, q);
    numbers[1] = emit_select_as(e, "i32", low, q, p);
}

static void round_of_games(block_jacobi *j) {
    columns c;
    ssa own;
    carrying_loop l = loop_of(j, &j->game, ssa_constant(0));
    carry(&l, &j->changed, "i1");
    groups_begin(j, &l, games(j), &own);
    game_columns(j, own, c.number);
    play(j, &c);
    groups_end(j, &l);
    emit_block_barrier(j->e);
}

/* ---- Hermitian matrices ---- */

/* Of a pair: the cosine, and what its elements on the diagonal become. */
static ssa pair_number(const block_jacobi *j, ssa game, int which) {
    return shared_element(j, j->of.real, j->units, emit_value(j->e, "add i32 %s, %d", game.text, which * games(j)));
}

/* Its columns, in the flags' place; there are none of a Hermitian matrix. */
static void pair_columns(const block_jacobi *j, ssa game, ssa *numbers) {
    ssa pair = shared_load(j, DT_INT32, shared_element(j, DT_INT32, j->flags, game));
    numbers[0] = emit_value(j->e, "and i32 %s, %d", pair.text, UINT8_MAX);
    numbers[1] = emit_value(j->e, "lshr i32 %s, 8", pair.text);
}

/* The rotation of the thread's pair, whose elements are its columns' on the diagonal, which are to be in ascending order, and beside it. */
static void find_rotation(block_jacobi *j, ssa game) {
    const num_kind *of = &j->of;
    ssa numbers[2];
    rotation r;
    game_columns(j, game, numbers);
    rotated_pair p = {.x = num_at(j, column_element(j, false, numbers[0], numbers[0])).part[0],
                      .y = num_at(j, column_element(j, false, numbers[1], numbers[1])).part[0],
                      .z = num_at(j, column_element(j, false, numbers[1], numbers[0]))};
    p.r = num_absolute(of, p.z);
    ssa rotates = rotation_counts_hermitian(of, &p);
    /* The column of zeros stays the last one. */
    ssa turned = both(j, part_binary(of, OP_LT, p.y, p.x), less(j, numbers[1], j->z.n));
    ssa change = part_binary(of, OP_MUL, rotation_choose(j, &p, rotates, turned, &r).tangent, p.r);
    change = part_select(of, rotates, change, num_constant(of, 0));
    ssa low = part_binary(of, OP_SUB, p.x, change), high = part_binary(of, OP_ADD, p.y, change);
    j->changed = either(j, j->changed, either(j, rotates, turned));
    ssa pair = emit_op(j->e, "or i32", numbers[0], emit_value(j->e, "shl i32 %s, 8", numbers[1].text));
    shared_store(j, DT_INT32, pair, shared_element(j, DT_INT32, j->flags, game));
    num_put(j, r.sine, shared_element(j, of->type, j->sines, game));
    shared_store(j, of->real, r.cosine, pair_number(j, game, 0));
    shared_store(j, of->real, part_select(of, turned, high, low), pair_number(j, game, 1));
    shared_store(j, of->real, part_select(of, turned, low, high), pair_number(j, game, 2));
}

static rotation rotation_found(const block_jacobi *j, ssa game, ssa *changes) {
    rotation r = {.cosine = shared_load(j, j->of.real, pair_number(j, game, 0)),
                  .sine = num_at(j, shared_element(j, j->of.type, j->sines, game))};
    *changes = emit_op(j->e, "xor i1", num_is_zero(&j->of, r.sine), ssa_bool(true));
    return r;
}

/* The thread's rows of a pair `row` in the columns of pair `column`, by the rotations of both if one `changes`. Of a pair itself what is on the
 * diagonal is known, and what is beside it becomes 0. */
static void rotate_block(const block_jacobi *j, const ssa *pair, ssa column, ssa row, const rotation *across,
                         ssa changes) {
    const num_kind *of = &j->of;
    ssa rows[2], at[2][2], moves;
    num x[2][2];
    const rotation down = rotation_found(j, row, &moves);
    int end = skeleton_if(&j->w->s, either(j, changes, moves));
    pair_columns(j, row, rows);
    for (int c = 0; c < 2; c++)
        for (int i = 0; i < 2; i++) {
            at[c][i] = column_element(j, false, pair[c], rows[i]);
            x[c][i] = num_at(j, at[c][i]);
        }
    for (int i = 0; i < 2; i++)
        rotation_turn(of, across, false, &x[0][i], &x[1][i]);
    for (int c = 0; c < 2; c++)
        rotation_turn(of, &down, true, &x[c][0], &x[c][1]);
    for (int c = 0; c < 2; c++)
        for (int i = 0; i < 2; i++)
            num_put(j, x[c][i], at[c][i]);
    int itself = skeleton_if(&j->w->s, emit_op(j->e, "icmp eq i32", column, row));
    for (int c = 0; c < 2; c++) {
        ssa own = shared_load(j, of->real, pair_number(j, column, 1 + c));
        num_put(j, (num){{own, num_constant(of, 0)}}, at[c][c]);
        num_put(j, num_real(of, 0), at[c][1 - c]);
    }
    skeleton_end_if(&j->w->s, itself);
    skeleton_end_if(&j->w->s, end);
}

/* The group's pair of columns, in the matrix and in the product. */
static void rotate_columns(block_jacobi *j, ssa there, ssa own) {
    emit *e = j->e;
    ssa changes;
    columns c;
    const rotation across = rotation_found(j, own, &changes);
    pair_columns(j, own, c.number);
    int end = skeleton_if(&j->w->s, both(j, there, changes));
    rotate_product(j, &c, &across);
    skeleton_end_if(&j->w->s, end);
    ssa limit = emit_select_as(e, "i32", there, ssa_constant(games(j)), ssa_constant(0));
    carrying_loop l = loop_of(j, &j->element, j->lane);
    carrying_loop_begin(&l);
    carrying_loop_while(&l, emit_op(e, "icmp slt i32", j->element, limit));
    rotate_block(j, c.number, own, j->element, &across, changes);
    loop_end(j, &l, &j->element, 1 << j->z.lanes);
}

static void hermitian_round(block_jacobi *j) {
    carrying_loop l = loop_of(j, &j->game, j->thread);
    carry(&l, &j->changed, "i1");
    carrying_loop_begin(&l);
    carrying_loop_while(&l, less(j, j->game, games(j)));
    find_rotation(j, j->game);
    loop_end(j, &l, &j->game, j->threads);
    emit_block_barrier(j->e);
    ssa own;
    l = loop_of(j, &j->game, ssa_constant(0));
    groups_begin(j, &l, games(j), &own);
    ssa there = less(j, own, games(j));
    rotate_columns(j, there, emit_select_as(j->e, "i32", there, own, ssa_constant(0)));
    groups_end(j, &l);
    emit_block_barrier(j->e);
}

/* ---- Sweeps ---- */

static void sweep(block_jacobi *j) {
    carrying_loop l = loop_of(j, &j->round, ssa_constant(0));
    carry(&l, &j->changed, "i1");
    carrying_loop_begin(&l);
    carrying_loop_while(&l, less(j, j->round, (j->z.n - 1) | 1));
    (j->hermitian ? hermitian_round : round_of_games)(j);
    loop_end(j, &l, &j->round, 1);
}

/* Until a sweep has changed nothing. */
static void sweeps(block_jacobi *j) {
    carrying_loop l = loop_of(j, &j->sweep, ssa_constant(0));
    carry(&l, &j->active, "i1");
    carrying_loop_begin(&l);
    carrying_loop_while(&l, both(j, less(j, j->sweep, ROTATION_SWEEPS), j->active));
    j->changed = ssa_bool(false);
    sweep(j);
    j->active = any_of_block(j, j->changed);
    loop_end(j, &l, &j->sweep, 1);
}

/* A number without a pattern. */
static ssa mixed(const block_jacobi *j, ssa x, int part) {
    emit *e = j->e;
    x = emit_value(e, "add i32 %s, %d", emit_value(e, "mul i32 %s, %d", x.text, PARTS).text, part + 1);
    x = emit_value(e, "mul i32 %s, %d", x.text, (int)0x9E3779B9u);
    x = emit_op(e, "xor i32", x, emit_value(e, "lshr i32 %s, 16", x.text));
    x = emit_value(e, "mul i32 %s, %d", x.text, (int)0x85EBCA6Bu);
    return emit_value(e, "or i32 %s, 1", emit_op(e, "xor i32", x, emit_value(e, "lshr i32 %s, 13", x.text)).text);
}

/* A column of nothing gets some elements. */
static void fill_column(const block_jacobi *j, ssa column, ssa first, double least) {
    emit *e = j->e;
    ssa odd = emit_value(e, "or i32 %s, 1", emit_value(e, "shl i32 %s, 1", column.text).text);
    for (int s = 0; s < j->z.slots; s++) {
        ssa row = emit_value(e, "add i32 %s, %d", j->lane.text, s << j->z.lanes);
        num x;
        for (int i = 0; i < j->of.parts; i++) {
            x.part[i] = emit_convert(e, emit_op(e, "mul i32", mixed(j, row, i), odd), DT_INT32, j->of.real);
            x.part[i] = part_binary(&j->of, OP_MUL, x.part[i], num_constant(&j->of, ldexp(least, -31)));
        }
        num_put(j, num_select(&j->of, less(j, row, j->z.rows), x, num_real(&j->of, 0)), slot(j, first, s));
    }
    flag_put(j, ssa_bool(true), column);
}

/* Columns of nothing have no direction. They get some elements, too small to count, of which further rotations make what is orthogonal to the
 * others. */
static void fill(block_jacobi *j) {
    double least = ldexp(j->precision->epsilon * j->precision->epsilon, j->precision->scale);
    num x[SLOTS];
    ssa own;
    carrying_loop l = loop_of(j, &j->game, ssa_constant(0));
    j->changed = ssa_bool(false);
    carry(&l, &j->changed, "i1");
    groups_begin(j, &l, j->z.n, &own);
    ssa there = less(j, own, j->z.n), column = emit_select_as(j->e, "i32", there, own, ssa_constant(j->z.n));
    ssa first = column_element(j, false, column, j->lane);
    column_load(j, first, j->z.slots, x);
    ssa nothing = part_binary(&j->of, OP_LE, square_of_norm(j, x), num_constant(&j->of, least * least));
    nothing = both(j, both(j, nothing, there), emit_value(j->e, "icmp eq i32 %s, 0", j->pass.text));
    j->changed = either(j, j->changed, nothing);
    int end = skeleton_if(&j->w->s, nothing);
    fill_column(j, column, first, least);
    skeleton_end_if(&j->w->s, end);
    groups_end(j, &l);
    j->active = any_of_block(j, j->changed);
}

static void passes(block_jacobi *j) {
    carrying_loop l = loop_of(j, &j->pass, ssa_constant(0));
    j->active = ssa_bool(true);
    carry(&l, &j->active, "i1");
    carrying_loop_begin(&l);
    carrying_loop_while(&l, j->active);
    sweeps(j);
    fill(j);
    loop_end(j, &l, &j->pass, 1);
}

/* ---- All ---- */

static ssa shared_part(const block_jacobi *j, int offset, dtype t) {
    return emit_shared_address(j->e, ssa_constant(offset), ir_memory_type(t));
}

static void begin(block_jacobi *j) {
    emit *e = j->e;
    j->thread = emit_special_register(e, "tid");
    j->lane = emit_value(e, "and i32 %s, %d", j->thread.text, (1 << j->z.lanes) - 1);
    j->group = emit_value(e, "lshr i32 %s, %d", j->thread.text, j->z.lanes);
    j->x = shared_part(j, 0, j->of.type), j->v = shared_part(j, j->z.product, j->of.type);
    j->units = shared_part(j, j->z.units, j->of.real);
    j->sines = shared_part(j, j->z.sines, j->of.type);
    j->words = shared_part(j, j->z.words, DT_INT32), j->flags = shared_part(j, j->z.flags, DT_INT32);
}

static void flag_clear(block_jacobi *j, ssa row, ssa column, void *user) {
    (void)user;
    (void)row;
    flag_put(j, ssa_bool(false), column);
}

static void load_matrix(block_jacobi *j) {
    emit_block_barrier(j->e); /* the block's last matrix has been stored */
    each_element(j, j->z.n + 1, j->z.slots << j->z.lanes, clear, NULL);
    each_element(j, 1, j->z.n + 1, flag_clear, NULL);
    emit_block_barrier(j->e);
    j->largest = ssa_constant(0);
    each_element(j, j->z.wide ? j->z.n : j->z.rows, j->z.wide ? j->z.rows : j->z.n,
                 j->hermitian ? load_hermitian : load_one, NULL);
    ssa largest = lane_largest(j->w, of_warps(j, lane_largest(j->w, j->largest)));
    j->largest = ssa_none();
    j->scale = matrix_scale_of(&j->of, largest);
    each_element(j, j->z.n, j->z.slots << j->z.lanes, scale_one, NULL);
    each_element(j, j->z.n, j->z.product_slots << j->z.lanes, product_one, NULL);
    emit_block_barrier(j->e);
}

/* The values, and what makes the columns' norms 1. */
static void store_values(block_jacobi *j) {
    emit *e = j->e;
    num x[SLOTS];
    ssa own;
    carrying_loop l = loop_of(j, &j->game, ssa_constant(0));
    groups_begin(j, &l, j->z.n, &own);
    ssa there = less(j, own, j->z.n), column = emit_select_as(e, "i32", there, own, ssa_constant(j->z.n));
    column_load(j, column_element(j, false, column, j->lane), j->z.slots, x);
    ssa square = square_of_norm(j, x), norm = emit_math(e, math_find("sqrt", 4), j->of.real, &square);
    ssa unit = part_binary(&j->of, OP_DIV, num_constant(&j->of, 1), norm);
    unit = part_select(&j->of, j->scale.finite, unit, num_constant(&j->of, NAN));
    norm = part_select(&j->of, flag_of(j, column), num_constant(&j->of, 0), norm);
    int end = skeleton_if(&j->w->s, both(j, there, emit_value(e, "icmp eq i32 %s, 0", j->lane.text)));
    shared_store(j, j->of.real, unit, shared_element(j, j->of.real, j->units, column));
    num value = {{part_times(&j->of, norm, &j->scale.back), num_constant(&j->of, 0)}};
    matrix_store(j->w, 2, matrix_moved(j->w, 2, j->w->at[2], matrix_offset(j->w, emit_widen(e, column), 2, 0)), value);
    skeleton_end_if(&j->w->s, end);
    groups_end(j, &l);
    emit_block_barrier(e);
}

static void store_value_of(block_jacobi *j, ssa row, ssa column, void *user) {
    (void)row;
    (void)user;
    ssa value = num_at(j, column_element(j, false, column, column)).part[0];
    num x = {{part_times(&j->of, value, &j->scale.back), num_constant(&j->of, 0)}};
    ssa at = matrix_moved(j->w, 1, j->w->at[1], matrix_offset(j->w, emit_widen(j->e, column), 1, 0));
    matrix_store(j->w, 1, at, x);
}

static block_jacobi *begin_at(gufunc_writer *w) {
    const variant *v = w->s.v;
    block_jacobi *j = arena_alloc(w->s.e->a, sizeof *j);
    *j = (block_jacobi){.w = w,
                        .e = w->s.e,
                        .hermitian = v->gufunc.form == LAPACK_EIGH,
                        .of = num_kind_of(w->s.e, (dtype)v->operand[0].value),
                        .z = rotated_of(v, w->layout),
                        .threads = 1 << v->gufunc.coop};
    j->precision = num_precision_of(&j->of);
    assert(j->z.slots <= SLOTS && j->z.product_slots <= SLOTS && j->threads <= ROTATED_WARPS << COOP_WARP);
    begin(j);
    load_matrix(j);
    return j;
}

void block_jacobi_eigenvectors(gufunc_writer *w) {
    block_jacobi *j = begin_at(w);
    j->active = ssa_bool(true);
    sweeps(j);
    each_element(j, 1, j->z.n, store_value_of, NULL);
    store_matrix(j, (output){.k = 2, .product = true, .across = true});
}

void block_jacobi_singular_vectors(gufunc_writer *w) {
    block_jacobi *j = begin_at(w);
    passes(j);
    store_values(j);
    store_matrix(j, (output){.k = j->z.wide ? 3 : 1, .product = false, .across = !j->z.wide});
    store_matrix(j, (output){.k = j->z.wide ? 1 : 3, .product = true, .across = j->z.wide});
}
