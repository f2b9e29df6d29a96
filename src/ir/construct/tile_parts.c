/* tile_parts.c - see tile_parts.h. A place is what one block leaves: its results one after the other, and of each one its threads' values,
 * so that neighbouring threads access neighbouring elements. */
#include "ir/construct/tile_parts.h"

#include "ir/common/lanes.h"
#include "ir/common/skeleton.h"
#include "type/tile.h"

/* What changes from one round of joining to the next, as i64 variables. */
typedef struct rounds {
    ssa parts, part; /* how many values there are, and which is this block's */
    ssa place;       /* of the first of them */
    ssa counter;     /* of the first group */
} rounds;

static ssa get(emit *e, ssa slot) { return emit_value(e, "load i64, i64* %s", slot.text); }
static void set(emit *e, ssa slot, ssa value) { emit_line(e, "store i64 %s, i64* %s", value.text, slot.text); }

static ssa groups_of(emit *e, ssa parts) {
    return emit_value(e, "udiv i64 %s, %d", emit_value(e, "add i64 %s, %d", parts.text, PARTS_JOINED - 1).text,
                      PARTS_JOINED);
}

/* The address of the thread's value of result i at a place. */
static ssa value_address(body *b, const tile_parts *p, dtype type, ssa place, int i, int count) {
    emit *e = b->e;
    ssa at = emit_value(e, "mul i64 %s, %d", p->number.text, p->parts * PARTS_PLACES);
    at = emit_op(e, "add i64", at, place);
    at = emit_value(e, "mul i64 %s, %d", at.text, count * p->threads);
    at = emit_value(e, "add i64 %s, %d", at.text, i * p->threads);
    return emit_element(e, type, emit_pointer_as(e, "i8", ssa_named("%%slot"), ir_memory_type(type)),
                        emit_op(e, "add i64", at, p->thread));
}

static ssa counter_address(emit *e, const tile_parts *p, ssa counter) {
    ssa before = emit_value(e, "sub i64 -%d, %s", PARTS_COUNTERS,
                            emit_value(e, "mul i64 %s, %d", p->number.text, PARTS_COUNTERS).text);
    ssa words = emit_pointer_as(e, "i8", ssa_named("%%slot"), "i32");
    return emit_value(e, "getelementptr i32, i32 addrspace(1)* %s, i64 %s", words.text,
                      emit_op(e, "add i64", before, counter).text);
}

/* How many blocks of a group came before this one; the same for all threads. */
static ssa arrive(emit *e, const tile_parts *p, ssa counter) {
    int one = emit_label_new(e), all = emit_label_new(e);
    if (emit_once(e, "@parts_before"))
        text_puts(&e->declarations, "@parts_before = internal addrspace(3) global i32 undef, align 4\n");
    emit_device_fence(e);
    emit_block_barrier(e);
    emit_branch_if(e, emit_value(e, "icmp eq i64 %s, 0", p->thread.text), one, all);
    emit_label(e, one);
    ssa before =
        emit_value(e, "atomicrmw add i32 addrspace(1)* %s, i32 1 monotonic", counter_address(e, p, counter).text);
    emit_line(e, "store i32 %s, i32 addrspace(3)* @parts_before, align 4", before.text);
    emit_branch(e, all);
    emit_label(e, all);
    emit_block_barrier(e);
    return emit_widen(e, emit_value(e, "load i32, i32 addrspace(3)* @parts_before, align 4"));
}

/* Sets the accumulators to the values of `size` places from `first` on. */
static void combine_places(body *b, const tile_parts *p, const node *reduce, const accumulator *all, int count,
                           ssa first, ssa size) {
    emit *e = b->e;
    dtype type = (dtype)reduce->type;
    emit_device_fence(e);
    for (int i = 0; i < count; i++)
        accumulator_clear(b, reduce, &all[i]);
    counted_loop l = counted_loop_begin(e, "i64", ssa_constant(0), size);
    ssa place = emit_op(e, "add i64", first, l.i), value[TILE_WORDS];
    for (int i = 0; i < count; i++)
        value[i] = emit_load(e, type, value_address(b, p, type, place, i, count));
    for (int i = 0; i < count; i++)
        accumulator_join(b, reduce, &all[i], value[i], ssa_bool(true));
    counted_loop_end(e, &l, ssa_constant(1), loop_no_unroll(e));
}

/* One round: leaves this block's values, and goes on with those of its group if it is the last of that, else to `end`. */
static void join_round(body *b, const tile_parts *p, const rounds *r, const node *reduce, const accumulator *all,
                       int count, int end) {
    emit *e = b->e;
    dtype type = (dtype)reduce->type;
    int last = emit_label_new(e);
    ssa parts = get(e, r->parts), part = get(e, r->part), place = get(e, r->place), counter = get(e, r->counter);
    ssa own = emit_op(e, "add i64", place, part), group = emit_value(e, "udiv i64 %s, %d", part.text, PARTS_JOINED),
        first = emit_value(e, "mul i64 %s, %d", group.text, PARTS_JOINED);
    for (int i = 0; i < count; i++)
        emit_store(e, type, accumulator_read(b, reduce, &all[i]), value_address(b, p, type, own, i, count));
    ssa before = arrive(e, p, emit_op(e, "add i64", counter, group));
    ssa size = emit_min(e, emit_op(e, "sub i64", parts, first), ssa_constant(PARTS_JOINED));
    emit_branch_if(e, emit_op(e, "icmp eq i64", emit_value(e, "add i64 %s, 1", before.text), size), last, end);
    emit_label(e, last);
    combine_places(b, p, reduce, all, count, emit_op(e, "add i64", place, first), size);
    ssa groups = groups_of(e, parts);
    set(e, r->parts, groups);
    set(e, r->part, group);
    set(e, r->place, emit_op(e, "add i64", place, parts));
    set(e, r->counter, emit_op(e, "add i64", counter, groups));
}

int tile_parts_join(body *b, const tile_parts *p, const node *reduce, const accumulator *all, int count) {
    emit *e = b->e;
    int head = emit_label_new(e), more = emit_label_new(e), done = emit_label_new(e), end = emit_label_new(e);
    rounds r = {emit_slot(b, "i64"), emit_slot(b, "i64"), emit_slot(b, "i64"), emit_slot(b, "i64")};
    set(e, r.parts, ssa_constant(p->parts));
    set(e, r.part, p->part);
    set(e, r.place, ssa_constant(0));
    set(e, r.counter, ssa_constant(0));
    emit_branch(e, head);
    emit_label(e, head);
    emit_branch_if(e, emit_value(e, "icmp sgt i64 %s, 1", get(e, r.parts).text), more, done);
    emit_label(e, more);
    join_round(b, p, &r, reduce, all, count, end);
    emit_branch(e, head);
    emit_label(e, done);
    return end;
}
