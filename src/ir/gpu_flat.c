/* gpu_flat.c - one dimension, every operand contiguous or constant. A block covers a tile of blockDim.x * vector * repeat
 * elements. A full, aligned tile is done without a loop: `repeat` vectors a thread, a block's width apart, all loaded before
 * the first is computed. The rest (the last block with the head, and everything when operands do not align) goes element
 * by element, neighbouring threads on neighbouring elements, several in flight. */
#include "ir/shape.h"

typedef struct flat {
    ssa thread, threads;      /* i32 */
    ssa n, left;              /* i64: all elements, and those from the tile's first on */
    ssa tile;                 /* i32: elements of a full tile */
    ssa head;                 /* i32: elements before the first tile */
    ssa at[VARIANT_OPERANDS]; /* arrays: address of the tile's first element */
    bool peeled;              /* is there a head? */
} flat;

static void find_operands(shape *s, flat *f, ssa start) {
    for (int k = 0; k < s->noperands; k++) {
        if (s->known[k])
            continue;
        if (!shape_is_output(s, k) && s->v->operand[k].kind == OPERAND_CONSTANT)
            shape_know(s, k, s->base[k]);
        else
            f->at[k] = shape_at(s, k, s->base[k], start);
    }
}

/* *whole: the block's tile is full and aligned, and no head is left to it. */
static flat flat_begin(shape *s, ssa *whole) {
    emit *e = s->e;
    flat f = {.peeled = s->v->vector > 1};
    f.n = shape_word(s);
    ssa head = shape_word(s);
    f.thread = shape_register(s, "tid");
    f.threads = shape_register(s, "ntid");
    ssa block = shape_widen(e, shape_register(s, "ctaid"));
    f.tile = emit_value(e, "mul i32 %s, %d", f.threads.text, s->v->vector * s->v->repeat);
    ssa tile = shape_widen(e, f.tile), need = tile;
    ssa start = shape_op(e, "mul i64", block, tile);
    if (f.peeled) {
        ssa positive = emit_value(e, "icmp sgt i64 %s, 0", head.text);
        ssa some = shape_select(e, "i64", positive, head, ssa_text("0"));
        f.head = emit_value(e, "trunc i64 %s to i32", some.text);
        start = shape_op(e, "add i64", start, some);
        need = shape_op(e, "add i64", tile, emit_value(e, "zext i1 %s to i64", positive.text));
    }
    f.left = shape_op(e, "sub i64", f.n, start);
    *whole = shape_op(e, "icmp sge i64", f.left, need);
    if (f.peeled || shape_has_pairs(s->v))
        *whole = shape_op(e, "and i1", *whole, emit_value(e, "icmp sge i64 %s, 0", head.text));
    find_operands(s, &f, start);
    return f;
}

static void full_tile(shape *s, const flat *f) {
    emit *e = s->e;
    int vector = s->v->vector;
    batch b = batch_new(s, s->v->repeat, vector, true);
    for (int g = 0; g < b.groups; g++) {
        ssa unit = f->thread;
        if (g)
            unit = shape_op(e, "add i32", unit, emit_value(e, "mul i32 %s, %d", f->threads.text, g));
        ssa index = shape_widen(e, emit_value(e, "mul i32 %s, %d", unit.text, vector));
        for (int k = 0; k < s->noperands; k++)
            if (!s->known[k])
                batch_access(s, &b, g, k, shape_at(s, k, f->at[k], index));
    }
    batch_finish(s, &b);
}

/* Up to `step` elements from j on, a block's width apart, as far as they are below count; j is. In the last block those from
 * `inside` on are the head: as n is the tile's first element + inside, they lie at their number - n from there. */
static void elements(shape *s, const flat *f, int step, ssa j, ssa count, ssa inside) {
    emit *e = s->e;
    batch b = batch_new(s, step, 1, false);
    for (int g = 0; g < step; g++) {
        ssa here = j;
        if (g) {
            ssa far = shape_op(e, "add i32", j, emit_value(e, "mul i32 %s, %d", f->threads.text, g));
            b.guard[g] = shape_op(e, "icmp slt i32", far, count);
            here = shape_select(e, "i32", b.guard[g], far, j);
        }
        ssa index = shape_widen(e, here);
        if (f->peeled) {
            ssa before = shape_op(e, "icmp sge i32", here, inside);
            index = shape_op(e, "sub i64", index, shape_select(e, "i64", before, f->n, ssa_text("0")));
        }
        for (int k = 0; k < s->noperands; k++)
            if (!s->known[k])
                batch_access(s, &b, g, k, shape_at(s, k, f->at[k], index));
    }
    batch_finish(s, &b);
}

/* What a block does that is not a whole tile. */
static void part_tile(shape *s, const flat *f) {
    emit *e = s->e;
    int all = s->v->vector * s->v->repeat, most = shape_single_step(s), step = all < most ? all : most;
    ssa tile = shape_widen(e, f->tile), last = shape_op(e, "icmp sle i64", f->left, tile);
    ssa inside = emit_value(e, "trunc i64 %s to i32", shape_select(e, "i64", last, f->left, tile).text), count = inside;
    if (f->peeled)
        count = shape_op(e, "add i32", inside, shape_select(e, "i32", last, f->head, ssa_text("0")));
    ssa width = emit_value(e, "mul i32 %s, %d", f->threads.text, step);
    shape_loop l = shape_loop_begin(e, "i32", f->thread, count);
    elements(s, f, step, l.i, count, inside);
    shape_loop_end(e, &l, width, shape_no_unroll(e));
}

void gpu_flat(shape *s) {
    emit *e = s->e;
    ssa whole;
    flat f = flat_begin(s, &whole);
    if (s->v->vector * s->v->repeat == 1) {
        part_tile(s, &f);
        return;
    }
    int full = emit_label_new(e), part = emit_label_new(e), end = emit_label_new(e);
    emit_branch_if(e, whole, full, part);
    emit_label(e, full);
    full_tile(s, &f);
    emit_branch(e, end);
    emit_label(e, part);
    part_tile(s, &f);
    emit_branch(e, end);
    emit_label(e, end);
}
