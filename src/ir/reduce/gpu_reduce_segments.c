/* gpu_reduce_segments.c - reductions on the GPU of segments that a block takes, or several.
 *
 * A segment that is too long for the lanes of its group is left to the whole block behind the others. One that is longer still is split: the first
 * launch leaves it to the second one (type/segments.h), of whose blocks each has a part; the last one that is done with its part combines
 * them. If that has no room for it, which happens only to segments that overlap, the block takes its parts one after the other, for the same
 * result. */
#include "ir/common/internal.h"
#include "ir/common/lanes.h"
#include "ir/reduce/gpu_reduce_rows.h"
#include "type/segments.h"

enum {
    DEFER_STEPS = 4,     /* accesses of a thread at a time, of a segment that is left to the block, .. */
    DEFER_ELEMENTS = 16, /* .. of so many elements, at most */
    BLOCK_WARPS = 1 << (COOP_SEGMENTS - COOP_WARP)
};

/* Elements of an access by vectors, of the widest operand that has any. */
static int widest_vector(const rows *r) {
    int vector = 0;
    for (int k = 0; k < r->w->s.noperands; k++) {
        int most = ACCESS_BYTES / dtypes[skeleton_memory(&r->w->s, k)].size;
        if (fold_reads(r->w, k) && r->w->s.v->operand[k].kind == OPERAND_CONTIGUOUS && (!vector || most < vector))
            vector = most;
    }
    return vector ? vector : 1;
}

/* The group that a block is for its segments. */
static rows block_rows(const rows *r) {
    rows all = *r;
    if (r->coop == COOP_SEGMENTS)
        return all;
    all.vector = widest_vector(r);
    all.steps = all.vector * DEFER_STEPS <= DEFER_ELEMENTS ? DEFER_STEPS : DEFER_ELEMENTS / all.vector;
    all.compact = true;
    rows_group(&all, COOP_SEGMENTS);
    return all;
}

typedef struct segments {
    rows *own, *all; /* the groups of the first launch; the block */
    emit *e;
    skeleton *s;
    bool split;
    ssa thread;          /* i64, in the block */
    ssa masks;           /* of warps: the lanes that lead groups whose segments are left to the block */
    partial_array here;  /* the partials of the parts of a segment that this block has, .. */
    partial_array there; /* .. and of those that all blocks of the second launch have */
} segments;

static ssa shared_word(emit *e, const char *name) {
    if (emit_once(e, name))
        text_printf(&e->declarations, "%s = internal addrspace(3) global i32 undef, align 4\n", name);
    return ssa_named("%s", name);
}

static ssa get_word(segments *g, const char *name) {
    return emit_value(g->e, "load volatile i32, i32 addrspace(3)* %s, align 4", shared_word(g->e, name).text);
}

static void put_word(segments *g, const char *name, ssa value) {
    emit_line(g->e, "store i32 %s, i32 addrspace(3)* %s, align 4", value.text, shared_word(g->e, name).text);
}

/* The address of entry i (i64) of an array of the list in global memory. */
static ssa list_entry(segments *g, int array, ssa i) {
    ssa at = emit_value(g->e, "add i64 %s, %d", g->all->g->list.text, array);
    at = emit_op(g->e, "add i64", at, emit_value(g->e, "shl i64 %s, 3", i.text));
    return emit_value(g->e, "inttoptr i64 %s to i64%s", at.text, ir_global_pointer(g->e));
}

static ssa get_entry(segments *g, int array, ssa i) {
    const char *star = ir_global_pointer(g->e);
    return emit_value(g->e, "load volatile i64, i64%s %s, align 8", star, list_entry(g, array, i).text);
}

static void put_entry(segments *g, int array, ssa i, ssa value) {
    const char *star = ir_global_pointer(g->e);
    emit_line(g->e, "store i64 %s, i64%s %s, align 8", value.text, star, list_entry(g, array, i).text);
}

static ssa add_to_entry(segments *g, int array, ssa i, ssa value) {
    return emit_value(g->e, "atomicrmw add i64%s %s, i64 %s monotonic", ir_global_pointer(g->e),
                      list_entry(g, array, i).text, value.text);
}

static ssa and_not(emit *e, ssa a, ssa b) { return emit_op(e, "and i1", a, emit_value(e, "xor i1 %s, true", b.text)); }

static ssa low_half(emit *e, ssa x) { return emit_value(e, "and i64 %s, 4294967295", x.text); }
static ssa high_half(emit *e, ssa x) { return emit_value(e, "lshr i64 %s, 32", x.text); }

static int if_first_thread(segments *g, ssa condition) {
    ssa first = emit_value(g->e, "icmp eq i64 %s, 0", g->thread.text);
    return skeleton_if(g->s, emit_op(g->e, "and i1", first, condition));
}

/* Tells all threads of the block for which of them an i1 is true. */
static void tell(segments *g, ssa is) {
    emit *e = g->e;
    ssa thread = emit_special_register(e, "tid"), lane = emit_value(e, "and i32 %s, 31", thread.text);
    ssa own = lanes_ballot(e, is);
    int end = skeleton_if(g->s, emit_value(e, "icmp eq i32 %s, 0", lane.text));
    e->shared = true;
    emit_store(e, DT_UINT32, own,
               emit_element(e, DT_UINT32, g->masks, emit_widen(e, emit_value(e, "lshr i32 %s, 5", thread.text))));
    e->shared = false;
    skeleton_end_if(g->s, end);
}

/* Once all have told: is it true for any (i1)? */
static ssa is_any(segments *g) {
    emit *e = g->e;
    ssa word[BLOCK_WARPS], any = ssa_none();
    emit_block_barrier(e);
    e->shared = true;
    for (int i = 0; i < BLOCK_WARPS; i += ACCESS_BYTES / 4)
        emit_load_vector(e, DT_UINT32, emit_element(e, DT_UINT32, g->masks, ssa_constant(i)), ACCESS_BYTES / 4,
                         word + i);
    e->shared = false;
    for (int i = 0; i < BLOCK_WARPS; i++)
        any = i ? emit_op(e, "or i32", any, word[i]) : word[0];
    return emit_value(e, "icmp ne i32 %s, 0", any.text);
}

/* A number in entry i of the list; in the first launch `otherwise`. */
static ssa listed(segments *g, ssa first, int array, ssa i, ssa otherwise) {
    emit *e = g->e;
    int before = e->block, load = emit_label_new(e), end = emit_label_new(e);
    emit_branch_if(e, first, end, load);
    emit_label(e, load);
    ssa value = get_entry(g, array, i);
    emit_branch(e, end);
    emit_label(e, end);
    return emit_value(e, "phi i64 [ %s, %%L%d ], [ %s, %%L%d ]", otherwise.text, before, value.text, load);
}

/* First launch, first thread: leaves a segment of so many parts to the second launch, if there is room; says so in @segments_said. */
static void leave(segments *g, ssa index, ssa parts) {
    emit *e = g->e;
    put_word(g, "@segments_said", ssa_constant(0));
    ssa now = get_entry(g, 0, ssa_constant(0));
    ssa few = emit_value(e, "icmp ult i64 %s, %d", low_half(e, now).text, SPLIT_SEGMENTS);
    int asked = skeleton_if(g->s, few); /* so that the count of those that had no room does not overflow */
    ssa both = emit_value(e, "or i64 %s, 1", emit_value(e, "shl i64 %s, 32", parts.text).text);
    ssa old = add_to_entry(g, 0, ssa_constant(0), both), i = low_half(e, old), base = high_half(e, old);
    ssa behind = emit_op(e, "add i64", base, parts);
    ssa room = emit_op(e, "and i1", emit_value(e, "icmp ult i64 %s, %d", i.text, SPLIT_SEGMENTS),
                       emit_value(e, "icmp ule i64 %s, %d", behind.text, SPLIT_PLACES));
    int has_room = skeleton_if(g->s, room);
    put_entry(g, SPLIT_INDEX, i, index);
    put_entry(g, SPLIT_BASE, i, emit_value(e, "add i64 %s, 1", base.text));
    put_word(g, "@segments_said", ssa_constant(1));
    skeleton_end_if(g->s, has_room);
    skeleton_end_if(g->s, asked);
}

static ssa is_said(segments *g) { return emit_value(g->e, "icmp ne i32 %s, 0", get_word(g, "@segments_said").text); }

/* Second launch, first thread: is this block the last one that is done with its part of segment i of the list? */
static void arrive(segments *g, ssa i, ssa parts) {
    emit *e = g->e;
    emit_device_fence(e);
    ssa done = emit_value(e, "add i64 %s, 1", add_to_entry(g, SPLIT_DONE, i, ssa_constant(1)).text);
    emit_device_fence(e);
    ssa last = emit_op(e, "icmp eq i64", done, parts);
    put_word(g, "@segments_said", emit_value(e, "zext i1 %s to i32", last.text));
}

/* Combines the partials of all parts of a segment, into r->outer: where the second launch has them they begin at `base`. */
static void combine_parts(segments *g, ssa first, ssa parts, ssa base) {
    rows *all = g->all;
    emit *e = g->e;
    partial x = fold_none(all->w);
    partial_put(all->w, &all->outer, &x);
    ssa has = emit_op(e, "icmp slt i64", g->thread, parts);
    int end = skeleton_if(g->s, emit_op(e, "and i1", has, first));
    x = partial_array_get(all->w, &g->here, g->thread);
    partial_put(all->w, &all->outer, &x);
    skeleton_end_if(g->s, end);
    end = skeleton_if(g->s, and_not(e, has, first));
    x = partial_array_get(all->w, &g->there, emit_op(e, "add i64", base, g->thread));
    partial_put(all->w, &all->outer, &x);
    skeleton_end_if(g->s, end);
    x = partial_get(all->w, &all->outer);
    x = rows_lanes(all, &x, all->lanes);
    x = rows_warps(all, &x);
    partial_put(all->w, &all->outer, &x);
}

/* The block's parts of a segment, from `from` to `to`, into the array of those that it has. */
static void fold_parts(segments *g, const fold_place *p, ssa from, ssa to, ssa step) {
    rows *all = g->all;
    emit *e = g->e;
    fold_place own = *p;
    counted_loop l = counted_loop_begin(e, "i64", from, to);
    ssa size = all->w->s.v->wide ? all->g->split.extent : emit_widen(e, all->g->split.extent);
    own.begin = emit_op(e, "add i64", p->begin, emit_op(e, "mul i64", l.i, size));
    own.end = emit_min(e, p->end, emit_op(e, "add i64", own.begin, size));
    rows_line(all, &own);
    partial x = partial_get(all->w, &all->outer);
    x = rows_combine(all, &x);
    int end = if_first_thread(g, ssa_bool(true));
    partial_array_put(all->w, &g->here, l.i, &x);
    skeleton_end_if(g->s, end);
    emit_block_barrier(e); /* what warps tell each other is read before the next part's is written */
    counted_loop_end(e, &l, step, loop_no_unroll(e));
}

/* First launch: offers a segment of several parts to the second one; has that taken it (i1)? */
static ssa offer(segments *g, ssa index, ssa parts, ssa offered) {
    emit *e = g->e;
    int end = skeleton_if(g->s, offered), one = if_first_thread(g, ssa_bool(true));
    leave(g, index, parts);
    skeleton_end_if(g->s, one);
    emit_block_barrier(e);
    skeleton_end_if(g->s, end);
    return emit_op(e, "and i1", offered, is_said(g)); /* nothing else is said before the next barrier */
}

/* The block is done with its part, or parts, of segment i of the list, which has several: leaves it, and is this the last one? To all threads. */
static ssa all_done(segments *g, ssa i, ssa first, ssa parts, ssa part, ssa base) {
    emit *e = g->e;
    int one = if_first_thread(g, first);
    put_word(g, "@segments_said", ssa_constant(1));
    skeleton_end_if(g->s, one);
    one = if_first_thread(g, emit_value(e, "xor i1 %s, true", first.text));
    partial x = partial_array_get(g->all->w, &g->here, part);
    partial_array_put(g->all->w, &g->there, emit_op(e, "add i64", base, part), &x);
    arrive(g, i, parts);
    skeleton_end_if(g->s, one);
    emit_block_barrier(e);
    return is_said(g);
}

/* A segment, of group number `group` of the block, or that has been split as number i: the parts that this block has, and the result if all have
 * been done. */
static void fold_split(segments *g, ssa i, ssa group) {
    rows *all = g->all;
    emit *e = g->e;
    /* asked for each time, so that there are no copies of all this for either answer */
    ssa first = emit_value(e, "icmp ne i32 %s, 0", get_word(g, "@segments_first").text);
    ssa index = listed(g, first, SPLIT_INDEX, i, emit_op(e, "add i64", rows_before(g->own, 1), group));
    ssa word = listed(g, first, SPLIT_BASE, i, ssa_constant(0)), base = emit_value(e, "add i64 %s, -1", word.text);
    fold_place p = rows_place(all, index);
    ssa parts, rest;
    gpu_fold_divide(all->g, &all->g->split, emit_value(e, "add i64 %s, -1", p.count.text), &parts, &rest);
    parts = emit_value(e, "add i64 %s, 1", parts.text);
    ssa many = emit_value(e, "icmp sgt i64 %s, 1", parts.text);
    ssa left = offer(g, index, parts, emit_op(e, "and i1", many, first));
    ssa other = and_not(e, emit_value(e, "icmp eq i64 %s, 0", word.text), first); /* the first launch did it */
    ssa blocks = emit_widen(e, emit_special_register(e, "nctaid"));
    ssa own = emit_op(e, "sub i64", emit_widen(e, emit_special_register(e, "ctaid")), base);
    own = emit_op(e, "and i64", own, emit_value(e, "add i64 %s, -1", blocks.text));
    ssa from = emit_select_as(e, "i64", first, ssa_constant(0), own);
    ssa step = emit_select_as(e, "i64", first, ssa_constant(1), blocks);
    ssa to = emit_select_as(e, "i64", emit_op(e, "or i1", left, other), ssa_constant(0), parts);
    fold_parts(g, &p, from, to, step);
    int done = skeleton_if(g->s, emit_op(e, "icmp slt i64", from, to));
    partial x = partial_array_get(all->w, &g->here, ssa_constant(0)); /* the first thread's own */
    partial_put(all->w, &all->outer, &x);
    int several = skeleton_if(g->s, many), end = skeleton_if(g->s, all_done(g, i, first, parts, from, base));
    combine_parts(g, first, parts, base);
    skeleton_end_if(g->s, end);
    emit_block_barrier(e);
    skeleton_end_if(g->s, several);
    ssa whole = emit_op(e, "or i1", is_said(g), emit_value(e, "xor i1 %s, true", many.text));
    x = partial_get(all->w, &all->outer);
    gpu_fold_store(all->g, &p, &x, NULL, rows_leads(all, emit_op(e, "and i1", p.there, whole)));
    skeleton_end_if(g->s, done);
    emit_block_barrier(e);
}

/* The segments of the groups of warp `warp` (i64) that are in a mask, one after the other. */
static void fold_groups(segments *g, ssa warp, ssa mask) {
    emit *e = g->e;
    emit_declare(e, "declare i32 @llvm.cttz.i32(i32, i1)");
    int before = emit_label_new(e), turn = emit_label_new(e), next = emit_label_new(e), done = emit_label_new(e);
    ssa left = ssa_named("%%left%d", turn);
    emit_branch(e, before);
    emit_label(e, before);
    emit_branch_if(e, emit_value(e, "icmp ne i32 %s, 0", mask.text), turn, done);
    emit_label(e, turn);
    ssa now = emit_value(e, "phi i32 [ %s, %%L%d ], [ %s, %%L%d ]", mask.text, before, left.text, next);
    ssa bit = emit_widen(e, emit_value(e, "call i32 @llvm.cttz.i32(i32 %s, i1 false)", now.text));
    ssa leader = emit_op(e, "add i64", emit_value(e, "shl i64 %s, 5", warp.text), bit);
    ssa group = emit_value(e, "lshr i64 %s, %d", leader.text, g->own->coop);
    if (g->split) {
        fold_split(g, leader, group);
    } else {
        fold_place p = rows_place(g->all, emit_op(e, "add i64", rows_before(g->own, 1), group));
        rows_result(g->all, &p);
        emit_block_barrier(e); /* what warps tell each other is read before the next segment's is written */
    }
    emit_branch(e, next);
    emit_label(e, next);
    emit_line(e, "%s = and i32 %s, %s", left.text, now.text, emit_value(e, "add i32 %s, -1", now.text).text);
    emit_branch_if(e, emit_value(e, "icmp ne i32 %s, 0", left.text), turn, done);
    emit_label(e, done);
}

/* The segments of all groups of whose leaders, or of all entries of the list of whose numbers, the threads have told. */
static void fold_told(segments *g) {
    emit *e = g->e;
    int end = skeleton_if(g->s, is_any(g));
    counted_loop l = counted_loop_begin(e, "i64", ssa_constant(0), ssa_constant(BLOCK_WARPS));
    e->shared = true;
    ssa mask = emit_load(e, DT_UINT32, emit_element(e, DT_UINT32, g->masks, l.i));
    e->shared = false;
    fold_groups(g, l.i, mask);
    counted_loop_end(e, &l, ssa_constant(1), loop_no_unroll(e));
    skeleton_end_if(g->s, end);
}

/* The result of each group, but for those whose segments are too long for it: is this one (i1)? */
static ssa group_result(rows *r) {
    emit *e = r->e;
    fold_place p = rows_place(r, rows_own(r));
    ssa deferred = emit_op(e, "icmp sgt i64", p.count, r->g->longest), there = p.there;
    p.end = emit_select_as(e, "i64", deferred, p.begin, p.end);
    p.there = and_not(e, there, deferred);
    rows_result(r, &p);
    return emit_op(e, "and i1", deferred, there);
}

static segments segments_begin(rows *r, rows *all) {
    emit *e = r->e;
    segments g = {.own = r, .all = all, .e = e, .s = &r->w->s, .split = r->w->s.v->fold.split};
    *all = block_rows(r);
    g.thread = emit_widen(e, emit_special_register(e, "tid"));
    if (emit_once(e, "@segments_masks"))
        text_printf(&e->declarations, "@segments_masks = internal addrspace(3) global [%d x i32] undef, align 16\n",
                    BLOCK_WARPS);
    g.masks = emit_value(e, "getelementptr [%d x i32], [%d x i32] addrspace(3)* @segments_masks, i64 0, i64 0",
                         BLOCK_WARPS, BLOCK_WARPS);
    return g;
}

/* The results of groups, and of the segments that they leave to the block. */
static void deferred_results(rows *r) {
    rows all;
    ssa deferred = group_result(r);
    segments g = segments_begin(r, &all);
    tell(&g, rows_leads(r, deferred));
    fold_told(&g);
}

/* The same, or the block's one result, in the first launch of two; in the second one a block's parts of the segments in the list. */
static void split_results(rows *r) {
    rows all;
    emit *e = r->e;
    segments g = segments_begin(r, &all);
    g.here = partial_array_new(r->w, "fold_parts", SPLIT_PARTS, fold_sparse(r->w));
    ssa values = emit_value(e, "add i64 %s, %d", r->g->list.text, SPLIT_VALUES);
    g.there = partial_array_at(r->w, values, SPLIT_PLACES, fold_sparse(r->w));
    ssa first = emit_value(e, "xor i1 %s, true", r->g->second.text);
    int end = if_first_thread(&g, ssa_bool(true));
    put_word(&g, "@segments_first", emit_value(e, "zext i1 %s to i32", first.text));
    skeleton_end_if(g.s, end);
    end = skeleton_if(g.s, first);
    tell(&g, rows_leads(r, variant_defers_segments(g.s->v) ? group_result(r) : ssa_bool(true)));
    skeleton_end_if(g.s, end);
    end = skeleton_if(g.s, r->g->second);
    tell(&g, emit_op(e, "icmp slt i64", g.thread, low_half(e, get_entry(&g, 0, ssa_constant(0)))));
    skeleton_end_if(g.s, end);
    fold_told(&g);
}

void rows_segments(rows *r) { (r->w->s.v->fold.split ? split_results : deferred_results)(r); }
