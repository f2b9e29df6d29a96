/* shared_tile.c - see shared_tile.h. The term of the reduction reads elements a[i][k] and b[k][j], in any order of the indices, of
 * inputs of 32 bits. Of each such element a slice is an array in shared memory, [DEPTH][PITCH], with neighbours along i or j side by
 * side. A thread has rows i = 8 ty .. 8 ty + 7 of its tile and columns j = 4 tx + 0 .. 3 and 32 more, so that it reads by vectors and
 * the threads of a warp read few different addresses. */
#include "ir/construct/shared_tile.h"

#include <assert.h>
#include <stdio.h>

#include "ir/common/lanes.h"
#include "ir/common/nodes.h"
#include "ir/common/skeleton.h"
#include "ir/construct/cooperative.h"

enum {
    TILE = SHARED_TILE_SIDE,
    DEPTH = 8,        /* of a slice */
    PITCH = TILE + 4, /* keeps vectors aligned and columns of the array in different banks */
    SIDE = 8,         /* rows, and columns, of a thread */
    VECTOR = 4,
    ACROSS = TILE / SIDE, /* threads along a row of the tile */
    LOADS = TILE * DEPTH >> COOP_SHARED_TILE,
    SOURCES = 4, /* of a term, at most, */
    ELEMENTS = 8 /* and places where they are read */
};
_Static_assert(ACROSS *ACROSS == 1 << COOP_SHARED_TILE, "a block has the threads of a tile");
_Static_assert(SIDE *SIDE == SHARED_TILE_INSTANCES, "a thread has the outputs of its part");

/* What the term reads of an operand. */
typedef struct source {
    const node *n;
    bool of_row;  /* its other index is the first range's variable, else the second's */
    bool depth_0; /* its first index is the reduction's variable */
} source;

typedef struct term {
    const function *f;
    int row, column, depth; /* the variables */
    int count;
    source of[SOURCES];
    int nelements;
    struct {
        const node *n;
        int source;
    } element[ELEMENTS];
    bool fits;
} term;

/* ---- Which ---- */

static int index_local(const node *n, int d) {
    const node *i = element_index(n, 2, d);
    return i->kind == N_LOCAL ? i->local : -1;
}

/* The number of a source, which may be that of an element seen before. */
static int source_number(term *t, source s) {
    for (int k = 0; k < t->count; k++)
        if (t->of[k].n->local == s.n->local && t->of[k].of_row == s.of_row && t->of[k].depth_0 == s.depth_0)
            return k;
    if (t->count == SOURCES)
        return -1;
    t->of[t->count] = s;
    return t->count++;
}

static void note_source(term *t, const node *n) {
    const local *l = &t->f->locals[n->local];
    if (!l->core || n->local >= t->f->nparams || l->rank != 2 || !n->unchecked || t->nelements == ELEMENTS ||
        dtypes[n->type].size != 4) {
        t->fits = false;
        return;
    }
    int first = index_local(n, 0), second = index_local(n, 1), other = first == t->depth ? second : first;
    int k = source_number(t, (source){n, other == t->row, first == t->depth});
    t->fits &= k >= 0 && (first == t->depth) != (second == t->depth) && (other == t->row || other == t->column);
    t->element[t->nelements].n = n;
    t->element[t->nelements++].source = k;
}

static void note_node(const node *n, void *user) {
    static const node_kind plain[] = {N_CONST, N_LOCAL, N_SIZE, N_CONVERT, N_UNARY, N_BINARY, N_MATH};
    term *t = user;
    bool known = n->kind == N_ELEMENT;
    for (size_t i = 0; i < COUNT(plain); i++)
        known |= n->kind == plain[i];
    t->fits &= known;
    if (n->kind == N_ELEMENT)
        note_source(t, n);
}

static void note_variable(const node *n, void *user) {
    term *t = user;
    if ((n->kind == N_LOCAL || n->kind == N_ELEMENT) && (n->local == t->row || n->local == t->column))
        t->fits = false;
}

/* The one reduction of a forall whose body is one assignment of it. */
static const node *reduction_of(const node *forall) {
    const node *s = forall->body;
    if (!s || s->next || s->kind != N_EVAL || s->kid[0]->kind != N_ASSIGN)
        return NULL;
    const node *value = s->kid[0]->kid[1];
    while (value->kind == N_CONVERT)
        value = value->kid[0];
    return value->kind == N_REDUCE ? value : NULL;
}

static bool term_read(const function *f, int row, int column, const node *reduce, term *t) {
    bool sides[2] = {false, false};
    if (!reduce->args || reduce->args->next || !reduce->is_identity || reduce->callee)
        return false;
    *t = (term){.f = f, .row = row, .column = column, .depth = reduce->args->local, .fits = true};
    node_visit(reduce->args->kid[0], note_variable, t);
    node_visit(reduce->kid[0], note_node, t);
    for (int i = 0; i < t->count; i++)
        sides[t->of[i].of_row] = true;
    return t->fits && sides[0] && sides[1];
}

bool shared_tile_takes(const function *f, int row, int column, const node *reduce) {
    term unused;
    return term_read(f, row, column, reduce, &unused);
}

bool shared_tile_fits(const function *f, const node *forall) {
    const node *reduce = reduction_of(forall), *rows = forall->args, *columns = rows ? rows->next : NULL;
    return columns && !columns->next && reduce && shared_tile_takes(f, rows->local, columns->local, reduce);
}

/* ---- A tile ---- */

struct shared_tile {
    term term;
    const node *reduce;
    ssa rows, columns, depth;       /* extents, i64 */
    ssa first_row, first_column;    /* of the tile */
    ssa thread, across, down;       /* the thread's number; its place along a row of the tile, and along a column */
    counted_loop by_row, by_column; /* over the tiles of a forall */
};

static ssa last_of(emit *e, ssa extent) { return emit_value(e, "sub i64 %s, 1", extent.text); }
static ssa plus(emit *e, ssa x, int by) { return by ? emit_value(e, "add i64 %s, %d", x.text, by) : x; }

static const char *type_of(const source *s) { return ir_value_type((dtype)s->n->type); }

/* The address in shared memory of element `at` (i64) of source k's slice. */
static ssa shared_element(emit *e, const source *s, int k, ssa at) {
    const char *type = type_of(s);
    char key[32];
    snprintf(key, sizeof key, "@tile_%d", k);
    if (emit_once(e, key))
        text_printf(&e->declarations, "%s = internal addrspace(3) global [%d x %s] undef, align 16\n", key,
                    DEPTH * PITCH, type);
    return emit_value(e, "getelementptr [%d x %s], [%d x %s] addrspace(3)* %s, i64 0, i64 %s", DEPTH * PITCH, type,
                      DEPTH * PITCH, type, key, at.text);
}

/* Do neighbours along the reduction lie side by side? */
static bool is_along_depth(const body *b, const source *s) {
    int unit = b->e->frame->v->operand[s->n->local].unit;
    return unit == (s->depth_0 ? 1 : 2);
}

/* Where this thread's load number i goes: along the rows or columns of the tile, and along the slice. */
static void load_place(body *b, const shared_tile *t, const source *s, int i, ssa *side, ssa *depth) {
    emit *e = b->e;
    if (!is_along_depth(b, s)) {
        *side = t->thread;
        *depth = ssa_constant(i);
        return;
    }
    *side = plus(e, emit_value(e, "udiv i64 %s, %d", t->thread.text, DEPTH), i * ((1 << COOP_SHARED_TILE) / DEPTH));
    *depth = emit_value(e, "and i64 %s, %d", t->thread.text, DEPTH - 1);
}

/* Loads the thread's part of source k for the slice from `first` on, and says where each value goes. What is past an end repeats what is
 * at it. */
static void load_slice(body *b, const shared_tile *t, const source *s, int k, ssa first, ssa *value, ssa *to) {
    emit *e = b->e;
    ssa begin = s->of_row ? t->first_row : t->first_column;
    ssa last_side = last_of(e, s->of_row ? t->rows : t->columns), last_depth = last_of(e, t->depth);
    for (int i = 0; i < LOADS; i++) {
        ssa side, depth;
        load_place(b, t, s, i, &side, &depth);
        b->bound[s->of_row ? t->term.row : t->term.column] = emit_min(e, emit_op(e, "add i64", begin, side), last_side);
        b->bound[t->term.depth] = emit_min(e, emit_op(e, "add i64", first, depth), last_depth);
        value[i] = emit_expression(b, s->n);
        ssa at = emit_op(e, "add i64", emit_value(e, "mul i64 %s, %d", depth.text, PITCH), side);
        to[i] = shared_element(e, s, k, at);
    }
}

/* One source after the other, as the values of both would take registers that blocks on the same multiprocessor could have. */
static void copy_slice(body *b, const shared_tile *t, ssa first) {
    emit *e = b->e;
    ssa value[LOADS], to[LOADS];
    emit_block_barrier(e); /* the slice before has been read */
    for (int k = 0; k < t->term.count; k++) {
        const char *type = type_of(&t->term.of[k]);
        load_slice(b, t, &t->term.of[k], k, first, value, to);
        for (int i = 0; i < LOADS; i++)
            emit_line(e, "store %s %s, %s addrspace(3)* %s, align 4", type, value[i].text, type, to[i].text);
    }
    emit_block_barrier(e);
}

/* What the thread needs of source k at a place of the slice: its rows or columns. */
static void read_side(body *b, const shared_tile *t, int k, ssa depth, ssa *out) {
    emit *e = b->e;
    const source *s = &t->term.of[k];
    const char *type = type_of(s);
    ssa at =
        emit_op(e, "add i64", emit_value(e, "mul i64 %s, %d", depth.text, PITCH),
                emit_value(e, "mul i64 %s, %d", (s->of_row ? t->down : t->across).text, s->of_row ? SIDE : VECTOR));
    for (int v = 0; v < SIDE / VECTOR; v++) {
        ssa from = shared_element(e, s, k, plus(e, at, v * (s->of_row ? VECTOR : TILE / 2)));
        from = emit_value(e, "bitcast %s addrspace(3)* %s to <%d x %s> addrspace(3)*", type, from.text, VECTOR, type);
        ssa all = emit_value(e, "load <%d x %s>, <%d x %s> addrspace(3)* %s, align 16", VECTOR, type, VECTOR, type,
                             from.text);
        for (int i = 0; i < VECTOR; i++)
            out[v * VECTOR + i] = emit_value(e, "extractelement <%d x %s> %s, i32 %d", VECTOR, type, all.text, i);
    }
}

/* Takes the terms at one place of a slice into the accumulators. */
static void take_terms(body *b, const shared_tile *t, ssa first, ssa depth, const accumulator *all) {
    jam *j = jam_begin(b, SHARED_TILE_INSTANCES, true);
    jam_variable *v = jam_add(b, j, t->term.depth, 1);
    ssa index = emit_op(b->e, "add i64", first, depth);
    for (int i = 0; i < j->count; i++)
        v->value[i] = v->base[i] = index;
    for (int k = 0; k < t->term.count; k++) {
        ssa side[SIDE], *value = arena_alloc(b->e->a, (size_t)j->count * sizeof *value);
        read_side(b, t, k, depth, side);
        for (int i = 0; i < j->count; i++)
            value[i] = side[t->term.of[k].of_row ? i / SIDE : i % SIDE];
        for (int i = 0; i < t->term.nelements; i++)
            if (t->term.element[i].source == k)
                jam_know(b, t->term.element[i].n, value);
    }
    for (int i = 0; i < j->count; i++) {
        jam_now(b, i);
        accumulator_term(b, t->reduce, &all[i], ssa_none());
    }
    jam_end(b);
}

/* Takes the terms of a slice, of which `left` places are there at most. A whole one goes without a loop, so that reads of shared memory
 * come before the arithmetic that waits for them. */
static void take_slice(body *b, const shared_tile *t, ssa first, ssa left, const accumulator *all) {
    emit *e = b->e;
    int whole = emit_label_new(e), part = emit_label_new(e), end = emit_label_new(e);
    emit_branch_if(e, emit_value(e, "icmp sge i64 %s, %d", left.text, DEPTH), whole, part);
    emit_label(e, whole);
    for (int i = 0; i < DEPTH; i++)
        take_terms(b, t, first, ssa_constant(i), all);
    emit_branch(e, end);
    emit_label(e, part);
    counted_loop places = counted_loop_begin(e, "i64", ssa_constant(0), left);
    take_terms(b, t, first, places.i, all);
    counted_loop_end(e, &places, ssa_constant(1), loop_no_unroll(e));
    emit_branch(e, end);
    emit_label(e, end);
}

static ssa *reduce(body *b, const shared_tile *t) {
    emit *e = b->e;
    accumulator *all = arena_alloc(e->a, SHARED_TILE_INSTANCES * sizeof *all);
    ssa *value = arena_alloc(e->a, SHARED_TILE_INSTANCES * sizeof *value);
    for (int i = 0; i < SHARED_TILE_INSTANCES; i++) {
        all[i] = accumulator_new(b, t->reduce);
        accumulator_clear(b, t->reduce, &all[i]);
    }
    b->depth++;
    counted_loop slices = counted_loop_begin(e, "i64", ssa_constant(0), t->depth);
    copy_slice(b, t, slices.i);
    take_slice(b, t, slices.i, emit_op(e, "sub i64", t->depth, slices.i), all);
    counted_loop_end(e, &slices, ssa_constant(DEPTH), loop_no_unroll(e));
    b->depth--;
    for (int i = 0; i < SHARED_TILE_INSTANCES; i++)
        value[i] = accumulator_read(b, t->reduce, &all[i]);
    return value;
}

/* Opens a jam of the thread's outputs in the tile, `width` of which are neighbours along a row; with width 1 those past the last row or
 * column repeat it. */
static void add_instances(body *b, const shared_tile *t, int width) {
    emit *e = b->e;
    jam *j = jam_begin(b, SHARED_TILE_INSTANCES, true);
    jam_variable *row = jam_add(b, j, t->term.row, 1), *column = jam_add(b, j, t->term.column, width);
    ssa down = emit_op(e, "add i64", t->first_row, emit_value(e, "mul i64 %s, %d", t->down.text, SIDE)),
        across = emit_op(e, "add i64", t->first_column, emit_value(e, "mul i64 %s, %d", t->across.text, VECTOR));
    for (int i = 0; i < SIDE; i++) {
        ssa r = plus(e, down, i), c = plus(e, across, i / VECTOR * (TILE / 2) + i % VECTOR), base;
        if (width == 1) {
            r = emit_min(e, r, last_of(e, t->rows));
            c = emit_min(e, c, last_of(e, t->columns));
        }
        base = i % width ? column->base[i - 1] : c;
        for (int k = 0; k < SIDE; k++) {
            row->value[i * SIDE + k] = row->base[i * SIDE + k] = r;
            column->value[k * SIDE + i] = c;
            column->base[k * SIDE + i] = base;
            column->lane[k * SIDE + i] = i % width;
        }
    }
    jam_now(b, 0);
}

static shared_tile *tile_new(body *b, int row, int column, const node *reduction, ssa thread) {
    emit *e = b->e;
    shared_tile *t = arena_alloc(e->a, sizeof *t);
    int count;
    term_read(b->f, row, column, reduction, &t->term);
    t->reduce = reduction;
    t->depth = *ranges_read(b, reduction->args, &count);
    t->thread = thread;
    t->across = emit_value(e, "and i64 %s, %d", thread.text, ACROSS - 1);
    t->down = emit_value(e, "udiv i64 %s, %d", thread.text, ACROSS);
    return t;
}

shared_tile *shared_tile_begin(body *b, const node *forall, const node **reduction, ssa **value) {
    emit *e = b->e;
    int count;
    *reduction = reduction_of(forall);
    assert(*reduction); /* shared_tile_fits says so */
    ssa *extent = ranges_read(b, forall->args, &count);
    shared_tile *t = tile_new(b, forall->args->local, forall->args->next->local, *reduction, ssa_named("%%rank"));
    t->rows = extent[0];
    t->columns = extent[1];
    t->by_row = counted_loop_begin(e, "i64", ssa_constant(0), t->rows);
    t->by_column = counted_loop_begin(e, "i64", ssa_constant(0), t->columns);
    t->first_row = t->by_row.i;
    t->first_column = t->by_column.i;
    add_instances(b, t, 1);
    *value = reduce(b, t);
    jam_now(b, 0);
    return t;
}

void shared_tile_end(body *b, shared_tile *t) {
    jam_end(b);
    counted_loop_end(b->e, &t->by_column, ssa_constant(TILE), loop_no_unroll(b->e));
    counted_loop_end(b->e, &t->by_row, ssa_constant(TILE), loop_no_unroll(b->e));
}

shared_tile *shared_tile_at(body *b, const shared_tile_place *at, ssa **value) {
    shared_tile *t = tile_new(b, at->row, at->column, at->reduce, at->thread);
    t->rows = at->rows;
    t->columns = at->columns;
    t->first_row = at->first_row;
    t->first_column = at->first_column;
    add_instances(b, t, 1);
    *value = reduce(b, t);
    jam_end(b);
    return t;
}

void shared_tile_instances(body *b, const shared_tile *t, bool whole) { add_instances(b, t, whole ? VECTOR : 1); }
