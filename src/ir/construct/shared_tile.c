/* shared_tile.c - see shared_tile.h. The term of the reduction reads elements a[i][k] and b[k][j], in any order of the indices. What is
 * read of one operand in the same way is one source, however often; if it is short and converted first, the conversion is. */
#include "ir/construct/shared_tile.h"

#include <assert.h>

#include "ir/common/lanes.h"
#include "ir/common/nodes.h"
#include "ir/common/skeleton.h"
#include "ir/construct/slices.h"
#include "ir/construct/tile_parts.h"
#include "type/tile.h"

enum {
    ROWS = 0, /* sides */
    COLUMNS = 1,
    USES = 8,       /* of sources in a term, at most */
    CALL_COST = 32, /* nodes of a helper in a term, which each of a thread's outputs has a copy of */
    STRIP = 8       /* tiles in a column that are computed side by side, so that those under way share what they read */
};

/* Where the term has a source's value. */
typedef struct source_use {
    const node *n;
    int source;
} source_use;

typedef struct term {
    const function *f;
    const node *reduce, *narrow; /* narrow: the conversion of its value, if a sum of fewer bits has the same ones */
    int side[2], depth;          /* the variables */
    int count, uses;
    slice_source of[SLICE_SOURCES];
    source_use use[USES];
    bool fits;
} term;

/* ---- Which ---- */

static bool is_one_of(const node *n, const uint8_t *kinds, size_t count) {
    for (size_t i = 0; i < count; i++)
        if (n->kind == kinds[i])
            return true;
    return false;
}

static void note_loop(const node *n, void *user) { *(bool *)user |= n->kind == N_LOOP || n->callee; }

/* Is it short, and does it go straight through? */
static bool is_short(const function *helper) {
    bool loops = false;
    node_each(helper->body, note_loop, &loops);
    return !loops && node_cost(helper->body) <= CALL_COST;
}

/* May n stand in a term or around the reduction? The names in it are those of scalars. */
static bool is_plain(const function *f, const node *n) {
    static const uint8_t plain[] = {N_CONST, N_LOCAL, N_SIZE,   N_CONVERT, N_UNARY, N_BINARY, N_AND,
                                    N_OR,    N_MATH,  N_SELECT, N_COMPLEX, N_REAL,  N_IMAG,   N_CALL};
    return is_one_of(n, plain, COUNT(plain)) && (n->kind != N_LOCAL || !f->locals[n->local].rank) &&
           (n->kind != N_CALL || is_short(n->callee));
}

static int index_local(const node *n, int d) {
    const node *i = element_index(n, 2, d);
    return i->kind == N_LOCAL ? i->local : -1;
}

/* The source of an element, of which `value` is to be stored; -1: it is none. */
static int find_source(term *t, const node *n, const node *value) {
    const local *l = &t->f->locals[n->local];
    if (!l->core || n->local >= t->f->nparams || l->rank != 2 || !n->unchecked || value->type == DT_BOOL ||
        dtypes[value->type].size < 4)
        return -1;
    int first = index_local(n, 0), second = index_local(n, 1), other = first == t->depth ? second : first;
    if ((first == t->depth) == (second == t->depth) || (other != t->side[ROWS] && other != t->side[COLUMNS]))
        return -1;
    slice_source s = {n, value, other == t->side[ROWS] ? ROWS : COLUMNS, first == t->depth};
    for (int k = 0; k < t->count; k++)
        if (t->of[k].element->local == n->local && t->of[k].side == s.side && t->of[k].depth_0 == s.depth_0 &&
            t->of[k].value->type == value->type)
            return k;
    if (t->count == SLICE_SOURCES)
        return -1;
    t->of[t->count] = s;
    return t->count++;
}

static void note_use(term *t, const node *n, const node *element) {
    int source = t->uses < USES ? find_source(t, element, n) : -1;
    t->fits &= source >= 0;
    if (source >= 0)
        t->use[t->uses++] = (source_use){n, source};
}

static void read_term(term *t, const node *n) {
    const node *of = n->kind == N_CONVERT ? n->kid[0] : NULL;
    if (of && of->kind == N_ELEMENT && dtypes[of->type].size < 4) {
        note_use(t, n, of);
        return;
    }
    if (n->kind == N_ELEMENT) {
        note_use(t, n, n);
        return;
    }
    t->fits &= is_plain(t->f, n);
    for (int k = 0; k < 3 && t->fits; k++)
        if (n->kid[k])
            read_term(t, n->kid[k]);
    for (const node *a = n->args; a && t->fits; a = a->next)
        read_term(t, a);
}

static void note_variable(const node *n, void *user) {
    term *t = user;
    if ((n->kind == N_LOCAL || n->kind == N_ELEMENT) && (n->local == t->side[ROWS] || n->local == t->side[COLUMNS]))
        t->fits = false;
}

/* A sum or a product of integers whose value is converted to fewer bits needs no more of them on the way. */
static bool narrows(const node *n, const node *reduce) {
    return n->kind == N_CONVERT && n->kid[0] == reduce && !reduce->callee && dtype_is_integer((dtype)n->type) &&
           dtype_is_integer((dtype)reduce->type) && n->type != DT_BOOL &&
           dtypes[n->type].size < dtypes[reduce->type].size;
}

/* Looks for the reductions in an expression around them, which reads nothing that the body writes. */
static void find_reduction(term *t, const node *n, const node *around) {
    if (n->kind == N_REDUCE) {
        t->fits &= !t->reduce;
        t->reduce = n;
        t->narrow = around && narrows(around, n) ? around : NULL;
        return;
    }
    t->fits &= is_plain(t->f, n) || (n->kind == N_ELEMENT && n->local < t->f->nparams);
    for (int k = 0; k < 3 && t->fits; k++)
        if (n->kid[k])
            find_reduction(t, n->kid[k], n);
    for (const node *a = n->args; a && t->fits; a = a->next)
        find_reduction(t, a, n);
}

/* The one assignment to an element of an output that is the forall's body. */
static const node *assignment_of(const function *f, const node *forall) {
    const node *s = forall->body;
    if (!s || s->next || s->kind != N_EVAL || s->kid[0]->kind != N_ASSIGN)
        return NULL;
    const node *to = s->kid[0]->kid[0];
    return to->kind == N_ELEMENT && f->locals[to->local].core ? s->kid[0] : NULL;
}

static bool term_read(const function *f, int row, int column, const node *reduce, term *t) {
    bool sides[2] = {false, false};
    *t = (term){.f = f, .reduce = reduce, .side = {row, column}, .fits = true};
    if (!reduce->args || reduce->args->next || !reduce->is_identity || (reduce->callee && !is_short(reduce->callee)))
        return false;
    t->depth = reduce->args->local;
    node_visit(reduce->args->kid[0], note_variable, t);
    read_term(t, reduce->kid[0]);
    for (int k = 0; k < t->count; k++)
        sides[t->of[k].side] = true;
    return t->fits && sides[ROWS] && sides[COLUMNS];
}

/* The term of a forall that is all of a kernel. */
static bool forall_read(const function *f, const node *forall, term *t) {
    const node *assign = assignment_of(f, forall), *rows = forall->args, *columns = rows ? rows->next : NULL;
    term around = {.f = f, .fits = true};
    if (!assign || !columns || columns->next || f->body != forall || forall->next)
        return false;
    find_reduction(&around, assign->kid[1], NULL);
    if (!around.fits || !around.reduce || !term_read(f, rows->local, columns->local, around.reduce, t))
        return false;
    t->narrow = around.narrow;
    return true;
}

static dtype accumulated(const term *t) {
    if (!t->narrow)
        return (dtype)t->reduce->type;
    return dtypes[t->narrow->type].is_signed ? DT_INT32 : DT_UINT32;
}

int shared_tile_words(const function *f, const node *forall) {
    term t;
    if (!forall_read(f, forall, &t))
        return 0;
    int size = dtypes[accumulated(&t)].size;
    return size < 4 ? 1 : size / 4;
}

bool shared_tile_takes(const function *f, int row, int column, const node *reduce) {
    term t;
    if (reduce->callee || !term_read(f, row, column, reduce, &t))
        return false;
    for (int k = 0; k < t.count; k++)
        if (dtypes[t.of[k].value->type].size != 4)
            return false;
    return true;
}

/* ---- A thread's place ---- */

struct shared_tile {
    term term;
    const node *forall; /* or NULL: a tile of two variables */
    const node *reduce; /* the reduction as it is computed */
    const tile_shape *shape;
    bool by_rows;    /* instances that follow each other are neighbours along a column of the tile */
    int group[2];    /* of each side: neighbours that a thread has */
    ssa at[2];       /* i64: the thread's first place along each side */
    ssa from, depth; /* i64: where the block begins in the reductions, and how long they are */
    slices slices;
    tile_parts parts;
    accumulator *all;
};

static ssa plus(emit *e, ssa x, int by) { return by ? emit_value(e, "add i64 %s, %d", x.text, by) : x; }
static ssa bits(emit *e, ssa x, int from, int count) {
    ssa high = from ? emit_value(e, "lshr i64 %s, %d", x.text, from) : x;
    return emit_value(e, "and i64 %s, %d", high.text, (1 << count) - 1);
}

static int part_of(const shared_tile *t, int side) { return side == ROWS ? t->shape->rows : t->shape->columns; }
static int threads_of(const shared_tile *t, int side) {
    return 1 << (side == ROWS ? t->shape->down : t->shape->across);
}
static int instances(const shared_tile *t) { return t->shape->rows * t->shape->columns; }

/* Number of instance i along a side. */
static int number_of(const shared_tile *t, int i, int side) {
    int minor = t->by_rows ? t->shape->rows : t->shape->columns;
    assert(minor > 0); /* shapes have results */
    return (side == ROWS) == t->by_rows ? i % minor : i / minor;
}

/* How far from the thread's first place its n-th one along a side is. */
static int place_of(const shared_tile *t, int side, int n) {
    int group = t->group[side];
    assert(group > 0); /* a thread has a place along each side */
    return n / group * group * threads_of(t, side) + n % group;
}

/* The threads of a warp are four down and eight across, so that they read few different words. */
static void find_thread(emit *e, shared_tile *t) {
    int down = t->shape->down, across = t->shape->across;
    ssa thread = t->slices.thread, at[2];
    if (down < 2 || across < 3) {
        at[COLUMNS] = bits(e, thread, 0, across);
        at[ROWS] = bits(e, thread, across, down);
    } else {
        ssa right = bits(e, thread, 5, across - 3), below = bits(e, thread, across + 2, down - 2);
        at[COLUMNS] = emit_op(e, "add i64", bits(e, thread, 0, 3), emit_value(e, "shl i64 %s, 3", right.text));
        at[ROWS] = emit_op(e, "add i64", bits(e, thread, 3, 2), emit_value(e, "shl i64 %s, 2", below.text));
    }
    for (int side = 0; side < 2; side++)
        t->at[side] = emit_value(e, "mul i64 %s, %d", at[side].text, t->group[side]);
}

/* ---- Slices ---- */

typedef struct reading {
    ssa address[SLICE_SOURCES];
} reading;

static reading begin_reading(body *b, const shared_tile *t, ssa buffer) {
    reading r;
    for (int k = 0; k < t->slices.count; k++)
        r.address[k] = slices_address(b, &t->slices, k, buffer, t->at[t->slices.of[k].side]);
    return r;
}

/* What the thread needs of source k at a place of the slice. */
static void read_part(body *b, const shared_tile *t, const reading *r, int k, ssa place, ssa *out) {
    int side = t->slices.of[k].side, group = t->group[side];
    for (int n = 0; n < part_of(t, side); n += group)
        slices_read(b, &t->slices, k, r->address[k], place, place_of(t, side, n), group, out + n);
}

/* Takes the terms at one place of a slice, which begins at `first`, into the accumulators. */
static void take_terms(body *b, const shared_tile *t, const reading *r, ssa first, ssa place) {
    jam *j = jam_begin(b, instances(t), true);
    jam_variable *v = jam_add(b, j, t->term.depth, 1);
    ssa index = emit_op(b->e, "add i64", first, place), part[SLICE_SOURCES][TILE_WORDS];
    for (int i = 0; i < j->count; i++)
        v->value[i] = v->base[i] = index;
    for (int k = 0; k < t->slices.count; k++)
        read_part(b, t, r, k, place, part[k]);
    for (int u = 0; u < t->term.uses; u++) {
        int k = t->term.use[u].source;
        ssa *value = arena_alloc(b->e->a, (size_t)j->count * sizeof *value);
        for (int i = 0; i < j->count; i++)
            value[i] = part[k][number_of(t, i, t->slices.of[k].side)];
        jam_know(b, t->term.use[u].n, value);
    }
    for (int i = 0; i < j->count; i++) {
        jam_now(b, i);
        accumulator_term(b, t->reduce, &t->all[i], ssa_none());
    }
    jam_end(b);
}

/* Takes the terms of a slice, of which `left` places are there at most. A whole one goes without a loop, so that reads of shared memory
 * come before the arithmetic that waits for them. */
static void take_slice(body *b, const shared_tile *t, ssa first, ssa left, ssa buffer) {
    emit *e = b->e;
    int whole = emit_label_new(e), part = emit_label_new(e), end = emit_label_new(e);
    reading r = begin_reading(b, t, buffer);
    emit_branch_if(e, emit_value(e, "icmp sge i64 %s, %d", left.text, t->slices.depth), whole, part);
    emit_label(e, whole);
    for (int i = 0; i < t->slices.depth; i++)
        take_terms(b, t, &r, first, ssa_constant(i));
    emit_branch(e, end);
    emit_label(e, part);
    counted_loop places = counted_loop_begin(e, "i64", ssa_constant(0), left);
    take_terms(b, t, &r, first, places.i);
    counted_loop_end(e, &places, ssa_constant(1), loop_no_unroll(e));
    emit_branch(e, end);
    emit_label(e, end);
}

/* What follows, up to the label that is returned, runs if there is a slice at `first`. */
static int if_slice(emit *e, const shared_tile *t, ssa first) {
    int there = emit_label_new(e), end = emit_label_new(e);
    emit_branch_if(e, emit_op(e, "icmp slt i64", first, t->slices.end), there, end);
    emit_label(e, there);
    return end;
}

static void end_if(emit *e, int end) {
    emit_branch(e, end);
    emit_label(e, end);
}

/* The next slice is loaded before this one is computed, and stored behind it to the other buffer, which all have read by then. */
static void pass_slices(body *b, shared_tile *t) {
    emit *e = b->e;
    slices *s = &t->slices;
    int end = if_slice(e, t, t->from), turn = __builtin_ctz((unsigned)s->depth);
    slices_load(b, s, t->from);
    slices_store(b, s, bits(e, t->from, turn, 1));
    end_if(e, end);
    emit_block_barrier(e);
    counted_loop l = counted_loop_begin(e, "i64", t->from, s->end);
    ssa next = plus(e, l.i, s->depth), buffer = bits(e, l.i, turn, 1);
    end = if_slice(e, t, next);
    slices_load(b, s, next);
    end_if(e, end);
    take_slice(b, t, l.i, emit_op(e, "sub i64", s->end, l.i), buffer);
    end = if_slice(e, t, next);
    slices_store(b, s, emit_value(e, "xor i64 %s, 1", buffer.text));
    end_if(e, end);
    emit_block_barrier(e);
    counted_loop_end(e, &l, ssa_constant(s->depth), loop_no_unroll(e));
}

/* ---- Outputs ---- */

/* Index of the thread's n-th place along a side. */
static ssa index_of(emit *e, const shared_tile *t, int side, int n) {
    ssa first = emit_op(e, "add i64", t->slices.side[side].first, t->at[side]);
    return plus(e, first, place_of(t, side, n));
}

/* The thread's outputs in the tile, of which neighbours along the minor side have one base if they are a vector. inside: those past the
 * last row or column repeat it. */
static void add_instances(body *b, const shared_tile *t, int vector, bool inside) {
    emit *e = b->e;
    jam *j = jam_begin(b, instances(t), true);
    for (int side = 0; side < 2; side++) {
        bool minor = (side == ROWS) == t->by_rows;
        int width = !minor ? 1 : vector < t->group[side] ? vector : t->group[side];
        jam_variable *v = jam_add(b, j, t->term.side[side], width);
        ssa own[TILE_WORDS];
        ssa last = emit_value(e, "sub i64 %s, 1", t->slices.side[side].extent.text);
        for (int n = 0; n < part_of(t, side); n++) {
            own[n] = index_of(e, t, side, n);
            own[n] = inside ? emit_min(e, own[n], last) : own[n];
        }
        for (int i = 0; i < j->count; i++) {
            int n = number_of(t, i, side);
            v->value[i] = own[n];
            v->lane[i] = n % width;
            v->base[i] = own[n - n % width];
        }
    }
}

/* Writes the forall's body for a jam, now that the reduction has these values. */
static void write_body(body *b, const shared_tile *t, ssa *value, void (*write)(body *b, const node *list)) {
    jam_know(b, t->term.narrow ? t->term.narrow : t->term.reduce, value);
    b->depth++;
    jam_now(b, 0);
    write(b, t->forall->body);
    b->depth--;
    jam_end(b);
}

static int if_in_range(emit *e, const shared_tile *t, int side, ssa index) {
    int there = emit_label_new(e), end = emit_label_new(e);
    emit_branch_if(e, emit_op(e, "icmp slt i64", index, t->slices.side[side].extent), there, end);
    emit_label(e, there);
    return end;
}

/* Writes the body for each output by itself, if it is in range. */
static void write_singly(body *b, const shared_tile *t, ssa *value, void (*write)(body *b, const node *list)) {
    emit *e = b->e;
    for (int i = 0; i < instances(t); i++) {
        ssa index[2];
        int end[2];
        for (int side = 0; side < 2; side++) {
            index[side] = index_of(e, t, side, number_of(t, i, side));
            end[side] = if_in_range(e, t, side, index[side]);
        }
        jam *j = jam_begin(b, 1, true);
        for (int side = 0; side < 2; side++) {
            jam_variable *v = jam_add(b, j, t->term.side[side], 1);
            v->value[0] = v->base[0] = index[side];
        }
        write_body(b, t, &value[i], write);
        end_if(e, end[COLUMNS]);
        end_if(e, end[ROWS]);
    }
}

static ssa is_whole(emit *e, const shared_tile *t) {
    ssa whole = t->slices.vector > 1 ? ssa_named("%%aligned") : ssa_bool(true);
    for (int side = 0; side < 2; side++) {
        const slice_side *x = &t->slices.side[side];
        ssa behind = plus(e, x->first, x->length);
        whole = emit_op(e, "and i1", whole, emit_op(e, "icmp sle i64", behind, x->extent));
    }
    return whole;
}

static void finish_tile(body *b, const shared_tile *t, void (*write)(body *b, const node *list)) {
    emit *e = b->e;
    ssa *value = arena_alloc(e->a, (size_t)instances(t) * sizeof *value);
    for (int i = 0; i < instances(t); i++) {
        value[i] = accumulator_read(b, t->reduce, &t->all[i]);
        if (t->term.narrow)
            value[i] = emit_convert(e, value[i], accumulated(&t->term), (dtype)t->term.narrow->type);
    }
    int whole = emit_label_new(e), part = emit_label_new(e), end = emit_label_new(e);
    emit_branch_if(e, is_whole(e, t), whole, part);
    emit_label(e, whole);
    add_instances(b, t, t->slices.vector, false);
    write_body(b, t, value, write);
    emit_branch(e, end);
    emit_label(e, part);
    write_singly(b, t, value, write);
    end_if(e, end);
}

/* ---- Tiles ---- */

/* Computes the reductions of the thread's outputs. */
static void reduce_tile(body *b, shared_tile *t) {
    for (int i = 0; i < instances(t); i++)
        accumulator_clear(b, t->reduce, &t->all[i]);
    add_instances(b, t, 1, !t->forall); /* those of a forall beyond the end are not stored */
    jam_now(b, 0);
    b->depth++;
    pass_slices(b, t);
    b->depth--;
    jam_end(b);
}

static void compute_tile(body *b, shared_tile *t, void (*write)(body *b, const node *list)) {
    reduce_tile(b, t);
    int end = t->parts.parts > 1 ? tile_parts_join(b, &t->parts, t->reduce, t->all, instances(t)) : 0;
    finish_tile(b, t, write);
    if (end)
        end_if(b->e, end);
}

/* The block's unit number x: its tile is returned, and its part of the depth, in whole slices, begins at t->from. */
static ssa find_part(emit *e, shared_tile *t, ssa x, ssa tiles) {
    slices *s = &t->slices;
    tile_parts *p = &t->parts;
    if (p->parts == 1)
        return x;
    ssa tile = emit_op(e, "urem i64", x, tiles);
    p->part = emit_op(e, "udiv i64", x, tiles);
    p->number = emit_op(e, "add i64", emit_value(e, "mul i64 %%call, %s", tiles.text), tile);
    p->threads = s->threads;
    p->thread = s->thread;
    int together = p->parts * s->depth; /* places of a slice of each part */
    ssa length = emit_value(e, "udiv i64 %s, %d", plus(e, t->depth, together - 1).text, together);
    length = emit_value(e, "mul i64 %s, %d", length.text, s->depth);
    t->from = emit_op(e, "mul i64", p->part, length);
    s->end = emit_min(e, emit_op(e, "add i64", t->from, length), t->depth);
    return tile;
}

/* Where tile number x begins. Tiles go down a strip of STRIP of them, then to the right, then to the next strip. */
static void find_tile(emit *e, shared_tile *t, ssa x, const ssa *tiles) {
    ssa strip_tiles = emit_value(e, "mul i64 %s, %d", tiles[COLUMNS].text, STRIP),
        strip = emit_op(e, "udiv i64", x, strip_tiles), own = emit_op(e, "urem i64", x, strip_tiles),
        above = emit_value(e, "mul i64 %s, %d", strip.text, STRIP);
    ssa height = emit_min(e, emit_op(e, "sub i64", tiles[ROWS], above), ssa_constant(STRIP));
    ssa row = emit_op(e, "add i64", above, emit_op(e, "urem i64", own, height)),
        column = emit_op(e, "udiv i64", own, height);
    t->slices.side[ROWS].first = emit_value(e, "mul i64 %s, %d", row.text, t->slices.side[ROWS].length);
    t->slices.side[COLUMNS].first = emit_value(e, "mul i64 %s, %d", column.text, t->slices.side[COLUMNS].length);
}

static ssa tiles_along(emit *e, const slice_side *x) {
    ssa some = emit_value(e, "icmp sgt i64 %s, 0", x->extent.text),
        up = emit_value(e, "udiv i64 %s, %d", plus(e, x->extent, x->length - 1).text, x->length);
    return emit_select_as(e, "i64", some, up, ssa_constant(0));
}

/* The reduction in fewer bits. */
static const node *narrowed(body *b, const term *t) {
    node *terms = arena_alloc(b->e->a, sizeof *terms), *reduce = arena_alloc(b->e->a, sizeof *reduce);
    if (!t->narrow)
        return t->reduce;
    *terms = (node){.kind = N_CONVERT, .type = (uint8_t)accumulated(t), .kid = {t->reduce->kid[0]}};
    *reduce = *t->reduce;
    reduce->type = terms->type;
    reduce->kid[0] = terms;
    return reduce;
}

static void choose_groups(body *b, shared_tile *t) {
    const node *to = t->forall ? t->forall->body->kid[0]->kid[0] : NULL;
    int unit = to ? b->e->frame->v->operand[to->local].unit : 0;
    const node *along = unit ? element_index(to, b->f->locals[to->local].rank, unit - 1) : NULL;
    t->by_rows = along && along->kind == N_LOCAL && along->local == t->term.side[ROWS];
    for (int side = 0; side < 2; side++) {
        t->group[side] = part_of(t, side);
        for (int k = 0; k < t->slices.count; k++)
            while (t->slices.of[k].side == side && t->group[side] > slices_vector(&t->slices, k))
                t->group[side] /= 2;
    }
}

/* A tile whose shape and term are set, for a thread of the block. */
static void tile_begin(body *b, shared_tile *t, ssa thread, int vector, const ssa *extent) {
    emit *e = b->e;
    slices *s = &t->slices;
    int count;
    t->reduce = narrowed(b, &t->term);
    s->count = t->term.count;
    memcpy(s->of, t->term.of, sizeof s->of);
    for (int side = 0; side < 2; side++)
        s->side[side] = (slice_side){
            .variable = t->term.side[side], .length = part_of(t, side) * threads_of(t, side), .extent = extent[side]};
    s->variable = t->term.depth;
    ssa depth = *ranges_read(b, t->term.reduce->args, &count), some = emit_value(e, "icmp sgt i64 %s, 0", depth.text);
    t->depth = s->end = emit_select_as(e, "i64", some, depth, ssa_constant(0));
    t->from = ssa_constant(0);
    s->threads = 1 << (t->shape->down + t->shape->across);
    s->vector = vector;
    s->thread = thread;
    slices_begin(b, s, t->shape->depth);
    choose_groups(b, t);
    find_thread(e, t);
    t->all = arena_alloc(e->a, (size_t)instances(t) * sizeof *t->all);
    for (int i = 0; i < instances(t); i++)
        t->all[i] = accumulator_new(b, t->reduce);
}

void shared_tile_forall(body *b, const node *forall, void (*write)(body *b, const node *list)) {
    emit *e = b->e;
    const variant *v = e->frame->v;
    shared_tile *t = arena_alloc(e->a, sizeof *t);
    int count;
    *t = (shared_tile){.forall = forall, .shape = &tile_shapes[v->gufunc.tile - 1]};
    bool fits = forall_read(b->f, forall, &t->term);
    assert(fits && v->gufunc.coop == t->shape->down + t->shape->across);
    (void)fits;
    t->parts.parts = 1 << v->gufunc.split;
    ssa *extent = ranges_read(b, forall->args, &count);
    tile_begin(b, t, bits(e, ssa_named("%%rank"), 0, v->gufunc.coop), v->gufunc.vector, extent);
    ssa tiles[2] = {tiles_along(e, &t->slices.side[ROWS]), tiles_along(e, &t->slices.side[COLUMNS])};
    ssa block = emit_value(e, "lshr i64 %%rank, %d", v->gufunc.coop),
        blocks = emit_value(e, "zext i32 %%blocks to i64");
    ssa all = emit_op(e, "mul i64", tiles[ROWS], tiles[COLUMNS]);
    counted_loop l = counted_loop_begin(e, "i64", block, emit_value(e, "mul i64 %s, %d", all.text, t->parts.parts));
    find_tile(e, t, find_part(e, t, l.i, all), tiles);
    compute_tile(b, t, write);
    counted_loop_end(e, &l, blocks, loop_no_unroll(e));
}

/* ---- A tile by itself ---- */

shared_tile *shared_tile_at(body *b, const shared_tile_place *at, ssa **value) {
    shared_tile *t = arena_alloc(b->e->a, sizeof *t);
    *t = (shared_tile){.shape = &tile_shapes[TILE_PAIRS], .parts.parts = 1};
    assert(tile_rows(t->shape) == SHARED_TILE_SIDE && tile_columns(t->shape) == SHARED_TILE_SIDE &&
           t->shape->down + t->shape->across == COOP_SHARED_TILE);
    bool fits = term_read(b->f, at->row, at->column, at->reduce, &t->term);
    assert(fits);
    (void)fits;
    tile_begin(b, t, at->thread, 1, (ssa[]){at->rows, at->columns});
    t->slices.side[ROWS].first = at->first_row;
    t->slices.side[COLUMNS].first = at->first_column;
    reduce_tile(b, t);
    *value = arena_alloc(b->e->a, (size_t)instances(t) * sizeof **value);
    for (int i = 0; i < instances(t); i++)
        (*value)[i] = accumulator_read(b, t->reduce, &t->all[i]);
    return t;
}

void shared_tile_instances(body *b, const shared_tile *t, bool whole) {
    add_instances(b, t, whole ? t->group[COLUMNS] : 1, !whole);
    jam_now(b, 0);
}
