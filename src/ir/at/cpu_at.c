/* cpu_at.c - updates in place on the CPU, one after the other in the order of the indices. Where all indices are constant along the
 * rows of the loop, a row is an elementwise loop at one place of the target, and becomes a vector loop: no two of its updates
 * are of the same element, and core has copied what overlaps the target. */
#include "ir/at/at.h"

enum {
    GROUP = 64,   /* updates whose indices are looked at together, a cache line at a time, */
    UNROLLED = 8, /* and so many of which are made in a turn of a loop, */
    NODES = 64    /* if the tree has no more nodes */
};

static void rows(skeleton *s, const cpu_loop *all, const indexed *x, ssa *row) {
    ssa offset = indexed_offset(s, x, row, NULL);
    for (int k = 0; k < at_targets(s); k++)
        row[k] = row[s->nin + k] = indexed_address(s, k, row[k], offset);
    cpu_row(s, all->n, row, all->stride[0]);
}

/* Operand k of element i of a row. */
static ssa element(skeleton *s, const cpu_loop *all, const ssa *row, int k, ssa i) {
    bool strided = s->v->operand[k].kind == OPERAND_STRIDED;
    return skeleton_address(s, k, row[k], strided ? emit_op(s->e, "mul i64", i, all->stride[0][k]) : i);
}

/* Where the operands of element i of a row are, but for numbers and what has been loaded. */
static void elements_at(skeleton *s, const cpu_loop *all, const ssa *row, ssa i, ssa *at) {
    for (int k = 0; k < s->noperands; k++)
        if (!s->uniform[k])
            at[k] = s->v->operand[k].kind == OPERAND_CONSTANT ? row[k] : element(s, all, row, k, i);
}

/* Ends the kernel unless an index is in range, and says so. */
static void leave_unless(emit *e, ssa inside, ssa outside) {
    int leave = emit_label_new(e), stay = emit_label_new(e);
    emit_branch_if(e, inside, stay, leave);
    emit_label(e, leave);
    emit_line(e, "store i64 1, i64* %s", emit_value(e, "inttoptr i64 %s to i64*", outside.text).text);
    emit_line(e, "ret void");
    emit_label(e, stay);
}

static void update(skeleton *s, const cpu_loop *all, const indexed *x, const ssa *row, ssa i) {
    emit *e = s->e;
    ssa at[VARIANT_OPERANDS] = {0}, in[UF_MAX_OPERANDS] = {0}, result[UF_MAX_OPERANDS] = {0};
    elements_at(s, all, row, i, at);
    ssa inside, offset = indexed_offset(s, x, at, &inside);
    if (!x->counted)
        leave_unless(e, inside, x->outside);
    for (int k = 0; k < at_targets(s); k++)
        at[k] = indexed_address(s, k, at[k], offset);
    for (int k = 0; k < s->nin; k++)
        if (!s->uniform[k])
            in[k] = emit_load(e, skeleton_memory(s, k), at[k]);
    skeleton_compute(s, in, result);
    for (int k = 0; k < at_targets(s); k++)
        emit_store(e, skeleton_memory(s, k), result[k], at[k]);
}

/* hint: about the loop, or 0. */
static void updates(skeleton *s, const cpu_loop *all, const indexed *x, const ssa *row, ssa count, int hint) {
    counted_loop l = counted_loop_begin(s->e, "i64", ssa_constant(0), count);
    update(s, all, x, row, l.i);
    counted_loop_end(s->e, &l, ssa_constant(1), hint);
}

/* Do neighbouring updates have neighbouring indices, in each of the arrays, and is an update little code? */
static bool has_groups(const skeleton *s) {
    if (s->t->nodes > NODES || s->t->has_loop)
        return false;
    for (int j = 0; j < s->v->nindices; j++)
        if (s->v->operand[variant_index(s->v) + j].kind != OPERAND_CONTIGUOUS)
            return false;
    return true;
}

/* The largest index of operand k that counts from the front, which its type can say. The extent is not 0. */
static ssa last_index(skeleton *s, int k, ssa extent) {
    const dtype_info *t = &dtypes[s->v->operand[k].memory];
    ssa last = emit_value(s->e, "sub i64 %s, 1", extent.text);
    return t->size == 8 ? last : emit_min(s->e, last, ssa_constant((1LL << (8 * t->size - t->is_signed)) - 1));
}

/* Do the GROUP indices at `at` all count from the front, within the extent (i1)? */
static ssa are_counted(skeleton *s, int k, ssa at, ssa extent) {
    emit *e = s->e;
    int bits = 8 * dtypes[s->v->operand[k].memory].size, lanes = 8 * LINE_BYTES / bits;
    fragment type = fragment_of("<%d x i%d>", lanes, bits);
    ssa last = last_index(s, k, extent), where = emit_value(e, "bitcast i%d* %s to %s*", bits, at.text, type.text);
    ssa beyond = ssa_none();
    if (bits < 64)
        last = emit_value(e, "trunc i64 %s to i%d", last.text, bits);
    ssa lane = emit_value(e, "insertelement %s undef, i%d %s, i32 0", type.text, bits, last.text);
    ssa most = emit_value(e, "shufflevector %s %s, %s undef, <%d x i32> zeroinitializer", type.text, lane.text,
                          type.text, lanes);
    for (int i = 0; i < GROUP / lanes; i++) {
        ssa line = emit_value(e, "getelementptr %s, %s* %s, i64 %d", type.text, type.text, where.text, i);
        ssa index = emit_value(e, "load %s, %s* %s, align %d", type.text, type.text, line.text, bits / 8);
        ssa some = emit_value(e, "icmp ugt %s %s, %s", type.text, index.text, most.text);
        beyond = i ? emit_value(e, "or <%d x i1> %s, %s", lanes, beyond.text, some.text) : some;
    }
    return emit_value(e, "icmp eq i%d %s, 0", lanes,
                      emit_value(e, "bitcast <%d x i1> %s to i%d", lanes, beyond.text, lanes).text);
}

static ssa group_is_counted(skeleton *s, const indexed *x, const ssa *from) {
    ssa counted = ssa_none();
    for (int j = 0; j < s->v->nindices; j++) {
        int k = variant_index(s->v) + j;
        ssa one = are_counted(s, k, from[k], x->extent[j]);
        counted = j ? emit_op(s->e, "and i1", counted, one) : one;
    }
    return counted;
}

/* Updates GROUP at a time, where these have indices that count from the front: a group is looked at with few vector instructions, and its
 * updates have none that deal with others. */
static void groups(skeleton *s, const cpu_loop *all, const indexed *x, const ssa *row) {
    emit *e = s->e;
    indexed counted = *x;
    ssa from[VARIANT_OPERANDS] = {0};
    counted.counted = true;
    ssa whole = emit_value(e, "and i64 %s, %d", all->n.text, -GROUP);
    counted_loop l = counted_loop_begin(e, "i64", ssa_constant(0), whole);
    elements_at(s, all, row, l.i, from);
    int plain = emit_label_new(e), any = emit_label_new(e), done = emit_label_new(e);
    emit_branch_if(e, group_is_counted(s, x, from), plain, any);
    emit_label(e, plain);
    updates(s, all, &counted, from, ssa_constant(GROUP),
            emit_metadata(e, "!{!\"llvm.loop.unroll.count\", i32 %d}", UNROLLED));
    emit_branch(e, done);
    emit_label(e, any);
    updates(s, all, x, from, ssa_constant(GROUP), loop_no_unroll(e));
    emit_branch(e, done);
    emit_label(e, done);
    counted_loop_end(e, &l, ssa_constant(GROUP), loop_no_unroll(e));
    elements_at(s, all, row, whole, from);
    updates(s, all, x, from, emit_op(e, "sub i64", all->n, whole), loop_no_unroll(e));
}

static void elements(skeleton *s, const cpu_loop *all, const indexed *x, const ssa *row) {
    for (int k = at_targets(s); k < s->noperands; k++)
        if (!skeleton_is_output(s, k) && s->v->operand[k].kind == OPERAND_CONSTANT)
            skeleton_load_uniform(s, k, row[k]);
    if (has_groups(s))
        groups(s, all, x, row);
    else
        updates(s, all, x, row, all->n, 0);
}

void cpu_at(skeleton *s) {
    cpu_loop all;
    ssa row[VARIANT_OPERANDS] = {0};
    cpu_loop_read(s, &all);
    indexed *x = indexed_read(s);
    if (!variant_at_rows(s->v))
        x->outside = skeleton_parameter(s, CPU_AT_OUTSIDE);
    counted_loop l = counted_loop_begin(s->e, "i64", ssa_constant(0), all.m);
    cpu_loop_row(s, &all, l.i, row);
    if (variant_at_rows(s->v))
        rows(s, &all, x, row);
    else
        elements(s, &all, x, row);
    counted_loop_end(s->e, &l, ssa_constant(1), loop_no_unroll(s->e));
}
