/* pair_tile.c - see pair_tile.h. */
#include "ir/forall/pair_tile.h"

#include <assert.h>

#include "ir/common/nodes.h"
#include "ir/common/rewrite.h"
#include "ir/construct/shared_tile.h"

/* A term stands once for each of a slice's places and each of a thread's points, and what else a point does twice for each point: code
 * would grow. */
enum {
    TERM_COST = 36,
    REST_COST = 48
};

/* ---- Which ---- */

typedef struct search {
    const function *f;
    const node *reduce; /* the first one that was found */
    int reductions;
    bool odd; /* something that a tile does not do */
} search;

static void look(const node *n, void *user) {
    search *s = user;
    if (n->kind == N_REDUCE) {
        s->reductions++;
        s->reduce = s->reduce ? s->reduce : n;
    }
    s->odd |= n->kind == N_RETURN || n->kind == N_ATOMIC || n->kind == N_FORALL;
    for (const node *to = node_assigned(n); to;
         to = to->next) /* numbers and indices, which all points of a thread have in common */
        s->odd |= to->local < s->f->nparams && !s->f->locals[to->local].core;
}

/* The term, and how many there are, must be known before the text declares anything. */
static void look_at_term(const node *n, void *user) {
    search *s = user;
    s->odd |= n->kind == N_LOCAL && n->local >= s->f->nparams && n->local != s->reduce->args->local;
}

static const node *find_reduction(const function *f) {
    search s = {.f = f};
    node_each(f->body, look, &s);
    if (s.odd || s.reductions != 1 || !s.reduce->args || s.reduce->args->next)
        return NULL;
    const node *extent = s.reduce->args->kid[0];
    node_visit(s.reduce->kid[0], look_at_term, &s);
    return !s.odd && (extent->kind == N_CONST || extent->kind == N_SIZE) ? s.reduce : NULL;
}

/* The last index, and the one before it, which the rows of tiles go along. */
static int column_of(const function *f) { return f->nparams - 1; }
static int row_of(const function *f) { return f->nparams - 2; }

static bool fits(const function *f) {
    const node *reduce = find_reduction(f);
    if (!reduce || !shared_tile_takes(f, row_of(f), column_of(f), reduce) || !instances_simple(f, f->body))
        return false;
    int term = node_cost(reduce->kid[0]);
    return term <= TERM_COST && node_cost(f->body) - term <= REST_COST;
}

const node *pair_tile_reduction(const tree *form) { return find_reduction(form->kernel); }

/* ---- The form ---- */

static node *prove(rewriter *r, node *n) {
    (void)r;
    n->unchecked |= n->kind == N_ELEMENT && n->conditional;
    return n;
}

bool pair_tile_form(arena *a, const tree *t, const uint16_t *use, const tree **out) {
    rewriter r = {.a = a, .settle = prove, .nodes_most = 2 * LANG_MAX_NODES};
    *out = NULL;
    for (int k = 0; k < t->layout->nin; k++)
        if (use[k] & USE_ATOMIC || (use[k] & USE_READ && use[k] & USE_WRITE))
            return true;
    if (t->layout->nindices != 2 || !t->has_loop || !find_reduction(t->kernel))
        return true;
    const tree *form = rewrite_tree(&r, t);
    if (form && fits(form->kernel))
        *out = form;
    return !r.failed;
}

/* ---- A tile's points ---- */

/* An index of the tile's first point, which is a parameter of @kernel. */
static ssa first_index(body *b, int index) {
    return emit_value(b->e, "load i64, i64* %s", emit_local_slot(b, index).text);
}

static void write_points(body *b, const shared_tile *t, bool whole, const node *reduce, ssa *value) {
    shared_tile_instances(b, t, whole);
    b->depth++;
    jam_know(b, reduce, value);
    instances_write(b, b->f->body);
    b->depth--;
    jam_end(b);
}

const node *pair_tile_statements(body *b, const node *n) {
    emit *e = b->e;
    if (n != b->f->body)
        return NULL;
    ssa *value;
    shared_tile_place at = {.row = row_of(b->f), .column = column_of(b->f), .reduce = find_reduction(b->f)};
    at.thread = emit_widen(e, emit_special_register(e, "tid"));
    at.rows = ssa_named("%%s0");
    at.columns = ssa_named("%%s1");
    at.first_row = first_index(b, at.row);
    at.first_column = first_index(b, at.column);
    shared_tile *t = shared_tile_at(b, &at, &value);
    int whole = emit_label_new(e), part = emit_label_new(e), end = emit_label_new(e);
    if (e->frame->v->forall.pairs > 1) {
        ssa row = emit_value(e, "add i64 %s, %d", at.first_row.text, SHARED_TILE_SIDE),
            column = emit_value(e, "add i64 %s, %d", at.first_column.text, SHARED_TILE_SIDE);
        ssa down = emit_op(e, "icmp sle i64", row, at.rows), across = emit_op(e, "icmp sle i64", column, at.columns);
        emit_branch_if(e, emit_op(e, "and i1", down, across), whole, part);
        emit_label(e, whole);
        write_points(b, t, true, at.reduce, value);
        emit_branch(e, end);
        emit_label(e, part);
    }
    write_points(b, t, false, at.reduce, value);
    emit_branch(e, end);
    emit_label(e, end);
    while (n->next)
        n = n->next;
    return n;
}

/* ---- The kernel ---- */

/* The points of the tile from this one on, one after the other. */
static void single_points(forall_writer *w, const ssa *first) {
    emit *e = w->g.s.e;
    ssa thread = emit_widen(e, emit_special_register(e, "tid"));
    counted_loop l = counted_loop_begin(e, "i64", thread, ssa_constant(SHARED_TILE_SIDE * SHARED_TILE_SIDE));
    ssa row = emit_value(e, "udiv i64 %s, %d", l.i.text, SHARED_TILE_SIDE),
        column = emit_value(e, "urem i64 %s, %d", l.i.text, SHARED_TILE_SIDE);
    ssa index[] = {emit_op(e, "add i64", first[0], row), emit_op(e, "add i64", first[1], column)};
    ssa down = emit_op(e, "icmp slt i64", index[0], w->g.core[0]),
        across = emit_op(e, "icmp slt i64", index[1], w->g.core[1]);
    int end = skeleton_if(&w->g.s, emit_op(e, "and i1", down, across));
    forall_point(w, "kernel", index);
    skeleton_end_if(&w->g.s, end);
    counted_loop_end(e, &l, ssa_constant(1 << COOP_SHARED_TILE), loop_no_unroll(e));
}

void pair_tile_kernel(forall_writer *w, bool plain) {
    skeleton *s = &w->g.s;
    ssa first[2];
    assert(s->v->ndim == 2 && !s->v->wide && !variant_privatised(s->v));
    skeleton_parameter(s, GPU_FORALL_TILES); /* a block for each */
    divisor across = skeleton_divisor(s, GPU_FORALL_EXTENTS);
    gufunc_core_parameters(&w->g);
    skeleton_divide(s, &across, false, emit_special_register(s->e, "ctaid"), &first[0], &first[1]);
    for (int d = 0; d < 2; d++)
        first[d] = emit_value(s->e, "mul nuw nsw i64 %s, %d", emit_widen(s->e, first[d]).text, SHARED_TILE_SIDE);
    if (plain)
        single_points(w, first);
    else
        forall_point(w, "kernel", first);
}
