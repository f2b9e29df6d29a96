/* gpu_neighbours.c - any strides, where the elements of all outputs, and of some inputs, lie in the order of the loop (general.vector). A thread
 * takes neighbours in that order, which are one access of such operands; those of the others are loaded one by one, from the caches but for the
 * first of them. If a row has as many elements as a vector, they lie in one row or in two, and one division, and one for the second row, tells
 * where. A tile that is not whole, and all of them where arrays are not aligned, goes element by element, a block's width apart. */
#include "ir/elementwise/elementwise.h"

typedef struct neighbours {
    const general *f;
    ssa aligned;      /* i1 */
    ssa start, tile;  /* of f->type: the block's first element, and how many it has */
    ssa thread, wide; /* i32, and of f->type: the thread's number in the block */
} neighbours;

static ssa widen(emit *e, const general *f, ssa x) { return f->wide ? emit_widen(e, x) : x; }

static bool by_vectors(const skeleton *s, int k) { return s->v->operand[k].unit; }

/* The elements from one to the next of operand k, i64. */
static ssa step_of(skeleton *s, const general *f, int k) {
    int kind = s->v->operand[k].kind;
    if (kind == OPERAND_CONTIGUOUS || kind == OPERAND_CONSTANT)
        return ssa_constant(kind == OPERAND_CONTIGUOUS);
    return f->wide ? f->stride[k][0] : emit_value(s->e, "sext i32 %s to i64", f->stride[k][0].text);
}

static ssa one_load(skeleton *s, int k, ssa pointer) {
    ssa *in = arena_alloc(s->e->a, (size_t)s->noperands * sizeof *in);
    skeleton_load(s, k, pointer, 1, false, in);
    return in[k];
}

static ssa select_pointer(skeleton *s, int k, ssa condition, ssa a, ssa b) {
    emit *e = s->e;
    const char *type = ir_memory_type(skeleton_memory(s, k)), *pointer = ir_global_pointer(e);
    return emit_value(e, "select i1 %s, %s%s %s, %s%s %s", condition.text, type, pointer, a.text, type, pointer,
                      b.text);
}

/* Where the neighbours from x on lie that are in no vector: those before `left` (of f->type) in the row of the first, at `first`, the others as
 * if `next` were theirs. left unset: all are in one. */
typedef struct two_rows {
    ssa left;
    ssa first[VARIANT_OPERANDS], next[VARIANT_OPERANDS];
} two_rows;

static void find_rows(skeleton *s, const general *f, ssa x, two_rows *r) {
    emit *e = s->e;
    general_find(s, f, x, r->first);
    r->left = ssa_none();
    if (s->v->ndim == 1)
        return;
    ssa row, column;
    skeleton_divide(s, &f->extent[0], f->wide, x, &row, &column);
    r->left = emit_value(e, "sub %s %s, %s", f->type, f->extent[0].extent.text, column.text);
    general_find(s, f, emit_value(e, "add %s %s, %s", f->type, x.text, r->left.text), r->next);
    ssa left = f->wide ? r->left : emit_value(e, "sext i32 %s to i64", r->left.text);
    for (int k = 0; k < s->noperands; k++) {
        if (!skeleton_moves(s, k) || by_vectors(s, k))
            continue;
        if (s->v->operand[k].kind == OPERAND_CONSTANT) { /* the second row is there if the vector reaches it */
            ssa reached = emit_value(e, "icmp slt %s %s, %d", f->type, r->left.text, s->v->general.vector);
            r->next[k] = select_pointer(s, k, reached, r->next[k], r->first[k]);
            continue;
        }
        ssa back = emit_op(e, "sub i64", ssa_constant(0), emit_op(e, "mul i64", left, step_of(s, f, k)));
        r->next[k] = skeleton_address(s, k, r->next[k], back);
    }
}

/* Loads operand k of all neighbours from two rows. */
static void load_rows(skeleton *s, const general *f, const two_rows *r, int k, ssa *in) {
    emit *e = s->e;
    bool constant = s->v->operand[k].kind == OPERAND_CONSTANT, two = ssa_is_set(r->left);
    ssa first = constant ? one_load(s, k, r->first[k]) : ssa_none(),
        next = constant && two ? one_load(s, k, r->next[k]) : ssa_none(), step = step_of(s, f, k);
    for (int i = 0; i < s->v->general.vector; i++) {
        ssa *to = &in[i * s->noperands + k];
        ssa before = i && two ? emit_value(e, "icmp sgt %s %s, %d", f->type, r->left.text, i) : ssa_none();
        if (constant) {
            *to = i && two ? emit_select_as(e, ir_value_type(skeleton_memory(s, k)), before, first, next) : first;
            continue;
        }
        ssa at = i && two ? select_pointer(s, k, before, r->first[k], r->next[k]) : r->first[k];
        if (i)
            at = skeleton_address(s, k, at, emit_value(e, "mul i64 %s, %d", step.text, i));
        *to = one_load(s, k, at);
    }
}

/* The thread's neighbours from element x on, all of which exist. */
static void whole_vector(skeleton *s, const general *f, batch *b, int group, ssa x) {
    emit *e = s->e;
    int vector = s->v->general.vector;
    ssa *in = batch_lanes(s, b, group);
    two_rows *r = arena_alloc(e->a, sizeof *r);
    for (int k = 0; k < s->noperands; k++)
        if (by_vectors(s, k) && skeleton_moves(s, k))
            batch_access(s, b, group, k, skeleton_address(s, k, s->base[k], f->wide ? x : emit_widen(e, x)));
    if (s->v->general.rows) {
        find_rows(s, f, x, r);
        for (int k = 0; k < s->noperands; k++)
            if (!by_vectors(s, k) && skeleton_moves(s, k))
                load_rows(s, f, r, k, in);
        return;
    }
    for (int i = 0; i < vector; i++) {
        general_find(s, f, i ? emit_value(e, "add %s %s, %d", f->type, x.text, i) : x, r->first);
        for (int k = 0; k < s->noperands; k++)
            if (!by_vectors(s, k) && skeleton_moves(s, k))
                in[i * s->noperands + k] = one_load(s, k, r->first[k]);
    }
}

static void whole_tile(skeleton *s, const neighbours *n) {
    emit *e = s->e;
    int vector = s->v->general.vector;
    batch b = batch_new(s, s->v->general.elements_per_thread / vector, vector, true);
    for (int g = 0; g < b.groups; g++) {
        ssa unit = n->thread;
        if (g)
            unit =
                emit_op(e, "add i32", unit, emit_value(e, "mul i32 %s, %d", emit_special_register(e, "ntid").text, g));
        ssa own = widen(e, n->f, emit_value(e, "mul i32 %s, %d", unit.text, vector));
        whole_vector(s, n->f, &b, g, emit_value(e, "add %s %s, %s", n->f->type, n->start.text, own.text));
    }
    batch_finish(s, &b);
}

/* Some elements at a time, a block's width apart. */
static void singles(skeleton *s, const neighbours *n) {
    emit *e = s->e;
    const general *f = n->f;
    int all = s->v->general.elements_per_thread, step = skeleton_single_step(s);
    ssa *at = arena_alloc(e->a, VARIANT_OPERANDS * sizeof *at), exists;
    step = step < all ? step : all;
    ssa end = emit_value(e, "add %s %s, %s", f->type, n->start.text, n->tile.text),
        over = emit_value(e, "icmp sgt %s %s, %s", f->type, end.text, f->n.text);
    ssa limit = emit_select_as(e, f->type, over, f->n, end);
    ssa first = emit_value(e, "add %s %s, %s", f->type, n->start.text, n->wide.text);
    counted_loop l = counted_loop_begin(e, f->type, first, limit);
    batch b = batch_new(s, step, 1, false);
    for (int g = 0; g < b.groups; g++) {
        general_find(s, f, g ? general_next(s, f, l.i, g, &exists) : l.i, at);
        for (int k = 0; k < s->noperands; k++)
            if (skeleton_moves(s, k))
                batch_access(s, &b, g, k, at[k]);
    }
    batch_finish(s, &b);
    ssa apart = emit_value(e, "mul i32 %s, %d", emit_special_register(e, "ntid").text, step);
    counted_loop_end(e, &l, widen(e, f, apart), loop_no_unroll(e));
}

void gpu_neighbours(skeleton *s) {
    emit *e = s->e;
    neighbours n = {.f = general_read(s)};
    n.aligned = skeleton_parameter(s, GPU_GENERAL_ALIGNED);
    n.thread = emit_special_register(e, "tid");
    n.wide = widen(e, n.f, n.thread);
    ssa tile =
        emit_value(e, "mul i32 %s, %d", emit_special_register(e, "ntid").text, s->v->general.elements_per_thread);
    n.tile = widen(e, n.f, tile);
    n.start =
        emit_value(e, "mul %s %s, %s", n.f->type, widen(e, n.f, emit_special_register(e, "ctaid")).text, n.tile.text);
    int whole = emit_label_new(e), part = emit_label_new(e), end = emit_label_new(e);
    ssa left = emit_value(e, "sub %s %s, %s", n.f->type, n.f->n.text, n.start.text),
        fits = emit_value(e, "icmp sge %s %s, %s", n.f->type, left.text, n.tile.text);
    emit_branch_if(e, emit_op(e, "and i1", fits, n.aligned), whole, part);
    emit_label(e, whole);
    whole_tile(s, &n);
    emit_branch(e, end);
    emit_label(e, part);
    singles(s, &n);
    emit_branch(e, end);
    emit_label(e, end);
}
