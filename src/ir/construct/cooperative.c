/* cooperative.c - barriers and reductions over a cooperative group: shuffles within a warp, shared memory between the warps of a block,
 * and between the blocks of a group a slot of global memory, in which a counter counts the blocks that have arrived. Values are
 * combined in a fixed order, so that results are the same in each run. */
#include "ir/construct/cooperative.h"

#include "ir/common/lanes.h"
#include "ir/common/skeleton.h"

enum {
    WARPS_MOST = 32 /* of a block; one entry more is common to all */
};

static ssa thread_index(emit *e) { return emit_special_register(e, "tid"); }

/* ---- Lanes of a warp ---- */

ssa coop_lane(body *b, int lanes) {
    return emit_widen(b->e, emit_value(b->e, "and i32 %s, %d", thread_index(b->e).text, (1 << lanes) - 1));
}

/* Combines two values, either of which may be missing. */
static void join(body *b, const node *reduce, ssa *value, ssa *present, ssa other, ssa other_present) {
    dtype type = (dtype)reduce->type;
    if (ssa_is_set(*present) && combines_by_loop(reduce)) {
        accumulator a = accumulator_new(b, reduce);
        accumulator_clear(b, reduce, &a);
        accumulator_join(b, reduce, &a, *value, *present);
        accumulator_join(b, reduce, &a, other, other_present);
        *value = accumulator_read(b, reduce, &a);
        *present = accumulator_present(b, &a);
        return;
    }
    ssa both = combine(b, reduce, *value, other);
    if (ssa_is_set(*present)) {
        both = emit_select(b->e, type, other_present, both, *value);
        both = emit_select(b->e, type, *present, both, other);
        *present = emit_value(b->e, "or i1 %s, %s", present->text, other_present.text);
    }
    *value = both;
}

/* Is the operator commutative to the bit? Then each lane may combine for itself (butterfly), and all get the same bits. */
static bool is_symmetric(const node *reduce) { return !reduce->callee && reduce->is_identity; }

void lanes_reduce(body *b, const node *reduce, int lanes, ssa *value, ssa *present) {
    emit *e = b->e;
    dtype type = (dtype)reduce->type;
    const char *mode = is_symmetric(reduce) ? "bfly" : "down";
    if (!lanes)
        return;
    ssa mask = lanes_mask(e, lanes);
    for (int by = 1 << lanes >> 1; by; by >>= 1) {
        ssa other = lanes_shuffle(e, mode, mask, type, *value, by, lanes), other_present = ssa_none();
        if (ssa_is_set(*present))
            other_present = lanes_shuffle(e, mode, mask, DT_BOOL, *present, by, lanes);
        if (ssa_is_set(*present) && combines_by_loop(reduce)) { /* lanes past the last have no value */
            ssa lane = emit_value(e, "and i32 %s, %d", thread_index(e).text, (1 << lanes) - 1);
            ssa there = emit_value(e, "icmp ult i32 %s, %d", lane.text, (1 << lanes) - by);
            other_present = emit_op(e, "and i1", other_present, there);
        }
        join(b, reduce, value, present, other, other_present);
    }
    if (is_symmetric(reduce))
        return;
    *value = lanes_shuffle(e, "idx", mask, type, *value, 0, lanes);
    if (ssa_is_set(*present))
        *present = lanes_shuffle(e, "idx", mask, DT_BOOL, *present, 0, lanes);
}

/* ---- Barriers ---- */

static ssa counter_of(emit *e, const char *slot) {
    return emit_value(e, "bitcast i8 addrspace(1)* %s to i64 addrspace(1)*", slot);
}

/* The first thread of a block counts its barriers with the other blocks (meetings), and its reductions, in shared memory. */
static ssa reductions_of(emit *e) {
    if (emit_once(e, "@coop_reductions"))
        text_puts(&e->declarations, "@coop_reductions = internal addrspace(3) global i32 undef, align 4\n");
    return ssa_named("@coop_reductions");
}

static ssa meeting_of(emit *e) {
    if (emit_once(e, "@coop_meeting"))
        text_puts(&e->declarations, "@coop_meeting = internal addrspace(3) global i64 undef, align 8\n");
    return ssa_named("@coop_meeting");
}

void coop_grid_begin(emit *e) {
    int one = emit_label_new(e), all = emit_label_new(e);
    emit_branch_if(e, emit_value(e, "icmp eq i32 %s, 0", thread_index(e).text), one, all);
    emit_label(e, one);
    emit_line(e, "store i64 0, i64 addrspace(3)* %s, align 8", meeting_of(e).text);
    emit_line(e, "store i32 0, i32 addrspace(3)* %s, align 4", reductions_of(e).text);
    emit_branch(e, all);
    emit_label(e, all);
    emit_block_barrier(e);
}

/* The first thread's part of a barrier over all blocks: it arrives, and waits until all blocks have. The counter is never reset: the
 * n-th meeting is over once there are n * blocks arrivals. What a block stored before the meeting is visible to all after it. */
static void grid_meet(emit *e) {
    definition s;
    if (emit_define(e, &s,
                    "define internal void @grid_meet(i8 addrspace(1)* %%slot, i32 %%blocks) convergent nounwind "
                    "noinline")) {
        int wait = emit_label_new(e), done = emit_label_new(e);
        emit_declare(e, "declare void @llvm.nvvm.membar.gl() nounwind");
        emit_line(e, "call void @llvm.nvvm.membar.gl()");
        ssa counter = counter_of(e, "%slot"), mine = meeting_of(e);
        emit_value(e, "atomicrmw add i64 addrspace(1)* %s, i64 1 monotonic", counter.text);
        ssa before = emit_value(e, "load i64, i64 addrspace(3)* %s, align 8", mine.text);
        ssa meeting = emit_value(e, "add i64 %s, 1", before.text);
        emit_line(e, "store i64 %s, i64 addrspace(3)* %s, align 8", meeting.text, mine.text);
        ssa all = emit_op(e, "mul i64", meeting, emit_widen(e, ssa_named("%%blocks")));
        emit_branch(e, wait);
        emit_label(e, wait);
        ssa now = emit_value(e, "load volatile i64, i64 addrspace(1)* %s, align 8", counter.text);
        emit_branch_if(e, emit_value(e, "icmp ult i64 %s, %s", now.text, all.text), wait, done);
        emit_label(e, done);
        emit_line(e, "call void @llvm.nvvm.membar.gl()");
        emit_line(e, "ret void");
        emit_define_end(e, &s);
    }
    emit_line(e, "call void @grid_meet(i8 addrspace(1)* %%slot, i32 %%blocks)");
}

static void grid_barrier(body *b) {
    emit *e = b->e;
    int one = emit_label_new(e), end = emit_label_new(e);
    emit_block_barrier(e);
    emit_branch_if(e, emit_value(e, "icmp eq i32 %s, 0", thread_index(e).text), one, end);
    emit_label(e, one);
    grid_meet(e);
    emit_branch(e, end);
    emit_label(e, end);
    emit_block_barrier(e);
}

void coop_barrier(body *b) {
    emit *e = b->e;
    int coop = e->frame->v->gufunc.coop;
    if (coop == COOP_GRID) {
        grid_barrier(b);
    } else if (coop > COOP_WARP || e->frame->v->gufunc.across) {
        emit_block_barrier(e);
    } else {
        emit_warp_barrier(e, lanes_mask(e, coop));
    }
}

/* ---- Entries: a value, and whether it is present, in memory ---- */

typedef struct entries {
    const char *space; /* " addrspace(3)*" */
    ssa base;          /* i32 pointer */
} entries;

static ssa entry_word(emit *e, const entries *in, ssa index, int word) {
    ssa at = emit_value(e, "mul i32 %s, %d", index.text, COOP_ENTRY);
    at = emit_value(e, "add i32 %s, %d", at.text, word);
    return emit_value(e, "getelementptr i32, i32%s %s, i64 %s", in->space, in->base.text, emit_widen(e, at).text);
}

static void entry_write(body *b, const entries *in, ssa index, dtype type, ssa value, ssa present) {
    emit *e = b->e;
    ssa words[LANE_WORDS + 1];
    int n = lanes_words(e, type, value, words);
    if (ssa_is_set(present))
        n += lanes_words(e, DT_BOOL, present, words + n);
    for (int i = 0; i < n; i++)
        emit_line(e, "store i32 %s, i32%s %s, align 4", words[i].text, in->space, entry_word(e, in, index, i).text);
}

static void entry_read(body *b, const entries *in, ssa index, dtype type, ssa *value, ssa *present) {
    emit *e = b->e;
    ssa words[LANE_WORDS + 1];
    int n = lanes_word_count(type);
    for (int i = 0; i < n + ssa_is_set(*present); i++)
        words[i] = emit_value(e, "load i32, i32%s %s, align 4", in->space, entry_word(e, in, index, i).text);
    *value = lanes_value(e, type, words);
    if (ssa_is_set(*present))
        *present = lanes_value(e, DT_BOOL, words + n);
}

static entries shared_entries(emit *e) {
    if (emit_once(e, "@coop_entries"))
        text_printf(&e->declarations, "@coop_entries = internal addrspace(3) global [%d x i32] undef, align 16\n",
                    (WARPS_MOST + 1) * COOP_ENTRY);
    return (entries){" addrspace(3)*",
                     emit_value(e, "getelementptr [%d x i32], [%d x i32] addrspace(3)* @coop_entries, i64 0, i64 0",
                                (WARPS_MOST + 1) * COOP_ENTRY, (WARPS_MOST + 1) * COOP_ENTRY)};
}

/* ---- Blocks ---- */

/* Each warp combines its lanes' values and leaves the result in shared memory; then each warp combines the results of all. */
static void block_reduce(body *b, const node *reduce, int warps, ssa *value, ssa *present) {
    emit *e = b->e;
    dtype type = (dtype)reduce->type;
    entries shared = shared_entries(e);
    lanes_reduce(b, reduce, COOP_WARP, value, present);
    if (!warps)
        return;
    ssa thread = thread_index(e), lane = emit_value(e, "and i32 %s, 31", thread.text);
    int first = emit_label_new(e), rest = emit_label_new(e);
    emit_block_barrier(e); /* what an earlier reduction left has been read */
    emit_branch_if(e, emit_value(e, "icmp eq i32 %s, 0", lane.text), first, rest);
    emit_label(e, first);
    entry_write(b, &shared, emit_value(e, "lshr i32 %s, 5", thread.text), type, *value, *present);
    emit_branch(e, rest);
    emit_label(e, rest);
    emit_block_barrier(e);
    entry_read(b, &shared, emit_value(e, "and i32 %s, %d", lane.text, (1 << warps) - 1), type, value, present);
    lanes_reduce(b, reduce, warps, value, present);
}

/* ---- Groups side by side, gufunc.across ---- */

/* Word `word` of a thread's entry; threads that are neighbours meet different banks. */
static ssa across_word(emit *e, ssa thread, int threads, int word) {
    int words = (LANE_WORDS + 1) * threads;
    if (emit_once(e, "@coop_across"))
        text_printf(&e->declarations, "@coop_across = internal addrspace(3) global [%d x i32] undef, align 16\n",
                    words);
    ssa at = emit_widen(e, emit_value(e, "add i32 %s, %d", thread.text, word * threads));
    return emit_value(e, "getelementptr [%d x i32], [%d x i32] addrspace(3)* @coop_across, i64 0, i64 %s", words, words,
                      at.text);
}

static void across_write(body *b, int threads, dtype type, ssa value, ssa present) {
    emit *e = b->e;
    ssa words[LANE_WORDS + 1];
    int n = lanes_words(e, type, value, words);
    if (ssa_is_set(present))
        n += lanes_words(e, DT_BOOL, present, words + n);
    for (int i = 0; i < n; i++)
        emit_line(e, "store i32 %s, i32 addrspace(3)* %s, align 4", words[i].text,
                  across_word(e, thread_index(e), threads, i).text);
}

static void across_read(body *b, int threads, ssa thread, dtype type, ssa *value, ssa *present) {
    emit *e = b->e;
    ssa words[LANE_WORDS + 1];
    int n = lanes_word_count(type);
    for (int i = 0; i < n + ssa_is_set(*present); i++)
        words[i] = emit_value(e, "load i32, i32 addrspace(3)* %s, align 4", across_word(e, thread, threads, i).text);
    *value = lanes_value(e, type, words);
    if (ssa_is_set(*present))
        *present = lanes_value(e, DT_BOOL, words + n);
}

/* Writes the values of the threads whose numbers are `part` (0 or 1), shifted right. */
static void across_leave(body *b, const node *reduce, const accumulator *all, int threads, int shift, int part) {
    emit *e = b->e;
    int leaves = emit_label_new(e), end = emit_label_new(e);
    ssa high = emit_value(e, "lshr i32 %s, %d", thread_index(e).text, shift);
    emit_branch_if(e, emit_value(e, "icmp eq i32 %s, %d", high.text, part), leaves, end);
    emit_label(e, leaves);
    across_write(b, threads, (dtype)reduce->type, accumulator_read(b, reduce, all), accumulator_present(b, all));
    emit_branch(e, end);
    emit_label(e, end);
}

/* Of the threads of all groups the second half leaves its values in shared memory, and the first half takes them in; then the second
 * half of that first half, and so on, until each group has one thread with a value, which all of it read. No entry is written twice. */
static void across_reduce(body *b, const node *reduce, int coop, ssa *value, ssa *present) {
    emit *e = b->e;
    dtype type = (dtype)reduce->type;
    int across = e->frame->v->gufunc.across, threads = 1 << (coop + across);
    ssa thread = thread_index(e), other, there = *present;
    accumulator all = accumulator_new(b, reduce);
    accumulator_clear(b, reduce, &all);
    accumulator_join(b, reduce, &all, *value, *present);
    emit_block_barrier(e); /* what an earlier reduction left has been read */
    for (int half = coop + across - 1; half >= across; half--) {
        int takes = emit_label_new(e), end = emit_label_new(e);
        across_leave(b, reduce, &all, threads, half, 1);
        emit_block_barrier(e);
        emit_branch_if(e, emit_value(e, "icmp ult i32 %s, %d", thread.text, 1 << half), takes, end);
        emit_label(e, takes);
        across_read(b, threads, emit_value(e, "add i32 %s, %d", thread.text, 1 << half), type, &other, &there);
        accumulator_join(b, reduce, &all, other, there);
        emit_branch(e, end);
        emit_label(e, end);
    }
    across_leave(b, reduce, &all, threads, across, 0);
    emit_block_barrier(e);
    across_read(b, threads, emit_value(e, "and i32 %s, %d", thread.text, (1 << across) - 1), type, value, present);
}

/* ---- Grids ---- */

/* A block's value lies in the slot of the group as words of 64 bits: 32 bits of the value in the low half, and the number of the
 * reduction in the high half. A reader waits until that number is there, so that no barrier is needed. There are two sets of entries,
 * which alternate. None is overwritten while another block may still read it: before a block writes to a set again, it has read what
 * all blocks wrote to the other one, and they did that after they were done with this one. */
static ssa grid_word(emit *e, ssa turn, ssa block, int word) {
    ssa set = emit_value(e, "and i32 %s, 1", turn.text);
    ssa entry = emit_value(e, "mul i32 %s, %d", set.text, COOP_BLOCKS_MAX);
    entry = emit_op(e, "add i32", entry, block);
    ssa offset = emit_value(e, "mul i32 %s, %d", entry.text, 8 * COOP_ENTRY);
    offset = emit_value(e, "add i32 %s, %d", offset.text, COOP_SLOT_HEAD + 8 * word);
    ssa at = emit_value(e, "getelementptr i8, i8 addrspace(1)* %%slot, i64 %s", emit_widen(e, offset).text);
    return emit_value(e, "bitcast i8 addrspace(1)* %s to i64 addrspace(1)*", at.text);
}

static void grid_write(body *b, ssa turn, ssa block, dtype type, ssa value, ssa present) {
    emit *e = b->e;
    ssa words[LANE_WORDS + 1];
    int n = lanes_words(e, type, value, words);
    if (ssa_is_set(present))
        n += lanes_words(e, DT_BOOL, present, words + n);
    ssa high = emit_value(e, "shl i64 %s, 32", emit_widen(e, turn).text);
    for (int i = 0; i < n; i++)
        emit_line(e, "store volatile i64 %s, i64 addrspace(1)* %s, align 8",
                  emit_op(e, "or i64", high, emit_widen(e, words[i])).text, grid_word(e, turn, block, i).text);
}

static void grid_read(body *b, ssa turn, ssa block, dtype type, ssa *value, ssa *present) {
    emit *e = b->e;
    ssa words[LANE_WORDS + 1];
    int n = lanes_word_count(type);
    for (int i = 0; i < n + ssa_is_set(*present); i++) {
        int wait = emit_label_new(e), there = emit_label_new(e);
        ssa at = grid_word(e, turn, block, i);
        emit_branch(e, wait);
        emit_label(e, wait);
        ssa both = emit_value(e, "load volatile i64, i64 addrspace(1)* %s, align 8", at.text);
        ssa high = emit_value(e, "trunc i64 %s to i32", emit_value(e, "lshr i64 %s, 32", both.text).text);
        emit_branch_if(e, emit_value(e, "icmp eq i32 %s, %s", high.text, turn.text), there, wait);
        emit_label(e, there);
        words[i] = emit_value(e, "trunc i64 %s to i32", both.text);
    }
    *value = lanes_value(e, type, words);
    if (ssa_is_set(*present))
        *present = lanes_value(e, DT_BOOL, words + n);
}

/* The first warp leaves the block's result in the slot, waits for those of all blocks, and combines them. */
static void gather_blocks(body *b, const node *reduce, ssa *value, ssa *present) {
    emit *e = b->e;
    dtype type = (dtype)reduce->type;
    ssa thread = thread_index(e), block = emit_value(e, "lshr i64 %%rank, %d", COOP_GRID_BLOCK), there = *present, one;
    int first = emit_label_new(e), rest = emit_label_new(e);
    ssa before = emit_value(e, "load i32, i32 addrspace(3)* %s, align 4", reductions_of(e).text);
    ssa turn = emit_value(e, "add i32 %s, 1", before.text);
    emit_warp_barrier(e, ssa_constant(-1));
    emit_branch_if(e, emit_value(e, "icmp eq i32 %s, 0", thread.text), first, rest);
    emit_label(e, first);
    emit_line(e, "store i32 %s, i32 addrspace(3)* %s, align 4", turn.text, reductions_of(e).text);
    grid_write(b, turn, emit_value(e, "trunc i64 %s to i32", block.text), type, *value, *present);
    emit_branch(e, rest);
    emit_label(e, rest);
    accumulator all = accumulator_new(b, reduce);
    accumulator_clear(b, reduce, &all);
    counted_loop l = counted_loop_begin(e, "i32", thread, ssa_named("%%blocks"));
    grid_read(b, turn, l.i, type, &one, &there);
    accumulator_join(b, reduce, &all, one, there);
    counted_loop_end(e, &l, ssa_constant(32), loop_no_unroll(e));
    *value = accumulator_read(b, reduce, &all);
    *present = accumulator_present(b, &all);
    emit_warp_barrier(e, ssa_constant(-1));
    lanes_reduce(b, reduce, COOP_WARP, value, present);
}

static void grid_reduce(body *b, const node *reduce, ssa *value, ssa *present) {
    emit *e = b->e;
    dtype type = (dtype)reduce->type;
    int warp = emit_label_new(e), end = emit_label_new(e);
    entries shared = shared_entries(e);
    ssa common = ssa_constant(WARPS_MOST), gathered, there = *present;
    block_reduce(b, reduce, COOP_GRID_BLOCK - COOP_WARP, value, present);
    gathered = *value;
    there = *present;
    emit_branch_if(e, emit_value(e, "icmp ult i32 %s, 32", thread_index(e).text), warp, end);
    emit_label(e, warp);
    gather_blocks(b, reduce, &gathered, &there);
    entry_write(b, &shared, common, type, gathered, there);
    emit_branch(e, end);
    emit_label(e, end);
    emit_block_barrier(e);
    entry_read(b, &shared, common, type, value, present);
}

void coop_reduce(body *b, const node *reduce, ssa *value, ssa *present) {
    int coop = b->e->frame->v->gufunc.coop;
    if (coop == COOP_GRID)
        grid_reduce(b, reduce, value, present);
    else if (b->e->frame->v->gufunc.across)
        across_reduce(b, reduce, coop, value, present);
    else if (coop > COOP_WARP)
        block_reduce(b, reduce, coop - COOP_WARP, value, present);
    else
        lanes_reduce(b, reduce, coop, value, present);
}
