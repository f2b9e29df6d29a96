/* cooperative.c - barriers of a cooperative group, and how its threads' partials (partial.h) come together: shared memory between the warps of a
 * block, asynchronous stores between the blocks of a cluster, and between the blocks of a group a slot of global memory, in which a
 * counter counts the blocks that have arrived. They are combined in a fixed order, so that results are the same in each run. */
#include "ir/construct/cooperative.h"

#include <assert.h>

#include "ir/common/lanes.h"
#include "ir/common/skeleton.h"

enum {
    ARCH_ASYNC = 80, /* the first architecture with asynchronous copies to shared memory */
    WARPS_MOST = 32  /* of a block; one entry more is common to all */
};

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
    emit_branch_if(e, emit_value(e, "icmp eq i32 %s, 0", lanes_thread(e).text), one, all);
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
        emit_device_fence(e);
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
        emit_device_fence(e);
        emit_line(e, "ret void");
        emit_define_end(e, &s);
    }
    emit_line(e, "call void @grid_meet(i8 addrspace(1)* %%slot, i32 %%blocks)");
}

static void grid_barrier(body *b) {
    emit *e = b->e;
    int one = emit_label_new(e), end = emit_label_new(e);
    emit_block_barrier(e);
    emit_branch_if(e, emit_value(e, "icmp eq i32 %s, 0", lanes_thread(e).text), one, end);
    emit_label(e, one);
    grid_meet(e);
    emit_branch(e, end);
    emit_label(e, end);
    emit_block_barrier(e);
}

/* ---- Pieces ---- */

int coop_threads(const variant *v) { return 1 << (v->gufunc.cluster ? v->gufunc.coop : variant_grid_block(v)); }

ssa coop_size(const variant *v) {
    if (v->gufunc.coop == COOP_GRID || v->gufunc.tile)
        return ssa_named("%%size");
    return ssa_constant((int64_t)1 << (v->gufunc.coop + (v->gufunc.pieces ? v->gufunc.cluster : 0)));
}

ssa coop_thread(body *b) { return emit_value(b->e, "and i64 %%rank, %d", coop_threads(b->e->frame->v) - 1); }

/* Blocks that meet through memory are faster by it only if they are small, and so are the elements. */
bool coop_copies_async(const emit *e) {
    const variant *v = e->frame->v;
    bool words = false;
    for (int k = 0; k < v->nin; k++)
        words |= v->operand[k].staged && dtypes[v->operand[k].memory].size >= 4;
    return !v->gufunc.across && (v->gufunc.coop != COOP_GRID || (v->gufunc.fine && !words)) &&
           e->target->arch >= ARCH_ASYNC;
}

void coop_copies_wait(emit *e) { emit_line(e, "call void asm sideeffect \"cp.async.wait_all;\", \"~{memory}\"()"); }

/* ---- Clusters of blocks ---- */

static void cluster_instruction(emit *e, const char *what) {
    emit_line(e, "call void asm sideeffect \"%s\", \"~{memory}\"() convergent", what);
}

/* A barrier over the blocks of the cluster: what a thread stored before it, in any memory, all of them see after it. */
static void cluster_barrier(emit *e) {
    cluster_instruction(e, "barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned;");
}

/* What the blocks of a cluster tell each other comes with asynchronous stores, whose bytes an mbarrier of the receiving block counts: a
 * barrier over the cluster would wait for all of a thread's accesses to global memory, and drop the first level cache. There are two,
 * since a block may send what belongs to the next reduction before this one has gone on from the last. */
enum {
    ARRIVALS = 2
};

/* The address in shared memory (i32) of the mbarrier of reductions set, set + 2 .. */
static ssa arrival_of(emit *e, int set) {
    if (emit_once(e, "@coop_arrivals"))
        text_printf(&e->declarations, "@coop_arrivals = internal addrspace(3) global [%d x i64] undef, align 8\n",
                    ARRIVALS);
    return emit_value(e,
                      "ptrtoint i64 addrspace(3)* getelementptr ([%d x i64], [%d x i64] addrspace(3)* "
                      "@coop_arrivals, i64 0, i64 %d) to i32",
                      ARRIVALS, ARRIVALS, set);
}

void coop_cluster_arrive(emit *e) {
    int first = emit_label_new(e), all = emit_label_new(e);
    emit_branch_if(e, emit_value(e, "icmp eq i32 %s, 0", lanes_thread(e).text), first, all);
    emit_label(e, first);
    for (int set = 0; set < ARRIVALS; set++)
        emit_line(e, "call void asm sideeffect \"mbarrier.init.shared::cta.b64 [$0], 1;\", \"r,~{memory}\"(i32 %s)",
                  arrival_of(e, set).text);
    emit_line(e, "call void asm sideeffect \"fence.mbarrier_init.release.cluster;\", \"~{memory}\"()");
    emit_branch(e, all);
    emit_label(e, all);
    cluster_instruction(e, "barrier.cluster.arrive.relaxed.aligned;");
}

void coop_cluster_wait(emit *e) { cluster_instruction(e, "barrier.cluster.wait.aligned;"); }

/* Stores a word in the shared memory of another block, where that has what lies here at `at`, and counts it there. */
static void cluster_store(emit *e, ssa at, ssa block, ssa word, int set) {
    ssa address = emit_value(e, "ptrtoint i32 addrspace(3)* %s to i32", at.text);
    emit_line(e,
              "call void asm sideeffect \"{ .reg .b32 there, count; mapa.shared::cluster.u32 there, $0, $1; "
              "mapa.shared::cluster.u32 count, $3, $1; "
              "st.async.shared::cluster.mbarrier::complete_tx::bytes.u32 [there], $2, [count]; }\", "
              "\"r,r,r,r,~{memory}\"(i32 %s, i32 %s, i32 %s, i32 %s)",
              address.text, block.text, word.text, arrival_of(e, set).text);
}

/* All threads wait until all blocks have stored what they should here: so many words. reduction: its number. */
static void cluster_receive(emit *e, int reduction, int words) {
    int set = reduction % ARRIVALS, first = emit_label_new(e), all = emit_label_new(e), wait = emit_label_new(e),
        done = emit_label_new(e);
    ssa count = arrival_of(e, set);
    emit_branch_if(e, emit_value(e, "icmp eq i32 %s, 0", lanes_thread(e).text), first, all);
    emit_label(e, first);
    emit_line(e,
              "call void asm sideeffect \"mbarrier.arrive.expect_tx.shared::cta.b64 _, [$0], $1;\", "
              "\"r,r,~{memory}\"(i32 %s, i32 %d)",
              count.text, words * 4);
    emit_branch(e, all);
    emit_label(e, all);
    emit_branch(e, wait);
    emit_label(e, wait);
    ssa there = emit_value(e,
                           "call i32 asm sideeffect \"{ .reg .pred done; mbarrier.try_wait.parity.shared::cta.b64 "
                           "done, [$1], $2; selp.u32 $0, 1, 0, done; }\", \"=r,r,r,~{memory}\"(i32 %s, i32 %d)",
                           count.text, reduction / ARRIVALS % 2);
    emit_branch_if(e, emit_value(e, "icmp ne i32 %s, 0", there.text), done, wait);
    emit_label(e, done);
}

void coop_barrier(body *b) {
    emit *e = b->e;
    int coop = e->frame->v->gufunc.coop;
    if (coop == COOP_GRID) {
        grid_barrier(b);
    } else if (e->frame->v->gufunc.cluster) {
        cluster_barrier(e);
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

static void entry_write(body *b, const entries *in, ssa index, const partial *p) {
    emit *e = b->e;
    ssa words[PARTIAL_WORDS];
    int n = partial_words(e, p, words);
    for (int i = 0; i < n; i++)
        emit_line(e, "store i32 %s, i32%s %s, align 4", words[i].text, in->space, entry_word(e, in, index, i).text);
}

static void entry_read(body *b, const entries *in, ssa index, partial *p) {
    emit *e = b->e;
    ssa words[PARTIAL_WORDS];
    for (int i = 0; i < partial_word_count(p); i++)
        words[i] = emit_value(e, "load i32, i32%s %s, align 4", in->space, entry_word(e, in, index, i).text);
    partial_read(e, p, words);
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
static void block_reduce(body *b, int warps, partial *p) {
    emit *e = b->e;
    entries shared = shared_entries(e);
    partial_reduce(b, COOP_WARP, p);
    if (!warps)
        return;
    ssa thread = lanes_thread(e), lane = emit_value(e, "and i32 %s, 31", thread.text);
    int first = emit_label_new(e), rest = emit_label_new(e);
    emit_block_barrier(e); /* what an earlier reduction left has been read */
    emit_branch_if(e, emit_value(e, "icmp eq i32 %s, 0", lane.text), first, rest);
    emit_label(e, first);
    entry_write(b, &shared, emit_value(e, "lshr i32 %s, 5", thread.text), p);
    emit_branch(e, rest);
    emit_label(e, rest);
    emit_block_barrier(e);
    entry_read(b, &shared, emit_value(e, "and i32 %s, %d", lane.text, (1 << warps) - 1), p);
    partial_reduce(b, warps, p);
}

/* ---- Groups side by side, gufunc.across ---- */

/* Shared memory of the reductions (variant_across_entries). A row has one entry more than there are calls, so that the threads of a warp,
 * which write along rows and read along columns, meet different banks. An array has one word of all entries: those of wide partials
 * share theirs with those of narrow ones, as all of them do not fit beside each other. */
typedef struct across_entries {
    int words, pitch, results, all; /* pitch: of rows; results: where those entries begin */
    int reduction;                  /* its number in the kernel */
    int first;                      /* word of the value that is meant, of several in an entry */
} across_entries;

static void across_declare(emit *e, const across_entries *in) {
    for (int word = 0; word < in->words; word++)
        if (emit_once(e, fragment_of("@coop_across_%d", word).text))
            text_printf(&e->declarations, "@coop_across_%d = internal addrspace(3) global [%d x i32] undef, align 16\n",
                        word, in->all);
}

/* Other blocks of a cluster write this block's results. They may do so once all blocks have read those of the reduction before the last one,
 * so reductions alternate between two sets. */
static across_entries across_entries_of(body *b, int words) {
    emit *e = b->e;
    const variant *v = e->frame->v;
    int results = 1 << (v->gufunc.across + v->gufunc.cluster), sets = variant_result_sets(v);
    across_entries in = {.words = words, .pitch = variant_row_entries(v), .reduction = b->reductions++};
    assert(sets == (v->gufunc.cluster ? ARRIVALS : 1));
    in.all = variant_across_entries(v);
    in.results = in.all - (sets - in.reduction % sets) * results;
    across_declare(e, &in);
    return in;
}

static ssa across_word(emit *e, const across_entries *in, ssa entry, int word) {
    return emit_value(e, "getelementptr [%d x i32], [%d x i32] addrspace(3)* @coop_across_%d, i64 0, i64 %s", in->all,
                      in->all, in->first + word, emit_widen(e, entry).text);
}

/* The entry (i32) of a rank, and of a call. */
static ssa across_entry(emit *e, const across_entries *in, ssa rank, ssa call) {
    return emit_op(e, "add i32", emit_value(e, "mul i32 %s, %d", rank.text, in->pitch), call);
}

/* block (i32): that block of the cluster; none: this one. */
static void across_write(body *b, const across_entries *in, ssa entry, const partial *p, ssa block) {
    emit *e = b->e;
    ssa words[PARTIAL_WORDS];
    int n = partial_words(e, p, words);
    for (int i = 0; i < n; i++)
        if (ssa_is_set(block))
            cluster_store(e, across_word(e, in, entry, i), block, words[i], in->reduction % ARRIVALS);
        else
            emit_line(e, "store i32 %s, i32 addrspace(3)* %s, align 4", words[i].text,
                      across_word(e, in, entry, i).text);
}

static void across_read(body *b, const across_entries *in, ssa entry, partial *p) {
    emit *e = b->e;
    ssa words[PARTIAL_WORDS];
    for (int i = 0; i < partial_word_count(p); i++)
        words[i] = emit_value(e, "load i32, i32 addrspace(3)* %s, align 4", across_word(e, in, entry, i).text);
    partial_read(e, p, words);
}

/* Lane q of a call leaves its block's result in block q of the cluster; without one, the first lane in its own. */
static void across_leave(body *b, const across_entries *in, ssa lane, ssa call, const partial *p) {
    emit *e = b->e;
    const variant *v = e->frame->v;
    int leaves = emit_label_new(e), end = emit_label_new(e), cluster = v->gufunc.cluster;
    ssa entry = emit_value(e, "add i32 %s, %d", call.text, in->results);
    emit_branch_if(e, emit_value(e, "icmp ult i32 %s, %d", lane.text, 1 << cluster), leaves, end);
    emit_label(e, leaves);
    if (cluster) {
        ssa own = emit_value(e, "and i32 %s, %d", emit_special_register(e, "ctaid").text, (1 << cluster) - 1);
        own = emit_value(e, "shl i32 %s, %d", own.text, v->gufunc.across);
        across_write(b, in, emit_op(e, "add i32", entry, own), p, lane);
    } else {
        across_write(b, in, entry, p, ssa_none());
    }
    emit_branch(e, end);
    emit_label(e, end);
}

/* Combines `count` entries: number first, first + step .. */
static void across_gather(body *b, const across_entries *in, ssa first, int step, int count, partial *p) {
    emit *e = b->e;
    partial *all = arena_alloc(e->a, (size_t)count * sizeof *all);
    for (int i = 0; i < count; i++) {
        all[i] = *p;
        across_read(b, in, i ? emit_value(e, "add i32 %s, %d", first.text, i * step) : first, &all[i]);
    }
    *p = partial_gather(b, all, count);
}

/* Some lanes of a warp combine the entries of a call: each those of the ranks lane, lane + 32 ... */
static void across_combine(body *b, const across_entries *in, int coop, partial p) {
    emit *e = b->e;
    int lanes = coop < COOP_WARP ? coop : COOP_WARP;
    assert(lanes >= e->frame->v->gufunc.cluster); /* a lane for each block */
    ssa thread = lanes_thread(e), lane = emit_value(e, "and i32 %s, %d", thread.text, (1 << lanes) - 1),
        call = emit_value(e, "lshr i32 %s, %d", thread.text, lanes);
    across_gather(b, in, across_entry(e, in, lane, call), in->pitch << lanes, 1 << (coop - lanes), &p);
    partial_reduce(b, lanes, &p);
    across_leave(b, in, lane, call, &p);
}

/* The results of all blocks, in their order. */
static void across_results(body *b, const across_entries *in, ssa own, partial *p) {
    emit *e = b->e;
    const variant *v = e->frame->v;
    ssa entry = emit_value(e, "add i32 %s, %d", own.text, in->results);
    across_gather(b, in, entry, 1 << v->gufunc.across, 1 << v->gufunc.cluster, p);
}

/* Each thread leaves its partials, one for each of its calls; then as many threads as a warp has lanes for each call (or the group has threads)
 * combine those of the call, and all read the result. Between two writes to an entry every thread comes to a barrier behind its own
 * reading, so that none is needed before the first. */
static void across_reduce(body *b, int calls, partial *p) {
    emit *e = b->e;
    const variant *v = e->frame->v;
    int across = v->gufunc.across, coop = variant_block_coop(v), words = partial_word_count(&p[0]);
    across_entries all = across_entries_of(b, calls * words), in[COOP_CALLS];
    ssa thread = lanes_thread(e), rank = emit_value(e, "lshr i32 %s, %d", thread.text, across),
        own = emit_value(e, "and i32 %s, %d", thread.text, (1 << across) - 1);
    assert(calls <= COOP_CALLS);
    if (v->gufunc.cluster && all.reduction)
        emit_block_barrier(
            e); /* the entries of the last reduction have been read: what was received says so, but not to each thread */
    for (int i = 0; i < calls; i++) {
        in[i] = all;
        in[i].first = i * words;
        across_write(b, &in[i], across_entry(e, &in[i], rank, own), &p[i], ssa_none());
    }
    emit_block_barrier(e);
    int takes = emit_label_new(e), end = emit_label_new(e);
    if (coop > COOP_WARP)
        emit_branch_if(e, emit_value(e, "icmp ult i32 %s, %d", thread.text, 1 << (across + COOP_WARP)), takes, end);
    else
        emit_branch(e, takes);
    emit_label(e, takes);
    for (int i = 0; i < calls; i++)
        across_combine(b, &in[i], coop, p[i]);
    emit_branch(e, end);
    emit_label(e, end);
    if (v->gufunc.cluster)
        cluster_receive(e, all.reduction, all.words << (across + v->gufunc.cluster));
    else
        emit_block_barrier(e);
    for (int i = 0; i < calls; i++)
        across_results(b, &in[i], own, &p[i]);
}

/* Do entries of the partials of all of a thread's calls fit the shared memory that a kernel may have of its own? */
static bool fits_across(const variant *v, int calls, const partial *p) {
    return variant_across_entries(v) * calls * partial_word_count(p) * 4 + variant_broadcast_bytes(v) <= SHARED_FREE;
}

static void across_reduce_all(body *b, int calls, partial *p) {
    int together = fits_across(b->e->frame->v, calls, p) ? calls : 1;
    for (int i = 0; i < calls; i += together)
        across_reduce(b, together, p + i);
}

/* ---- Blocks of a cluster that have a piece each ---- */

/* Each warp leaves its lanes' value in all blocks of the cluster, and combines what all warps of all blocks left in its own. Entries
 * alternate between two sets, see across_entries_of. */
static void cluster_reduce(body *b, partial *p) {
    emit *e = b->e;
    const variant *v = e->frame->v;
    int cluster = v->gufunc.cluster, warps = v->gufunc.coop - COOP_WARP, all = 1 << (cluster + warps),
        lanes = cluster + warps < COOP_WARP ? cluster + warps : COOP_WARP;
    across_entries in = {.words = partial_word_count(p), .all = ARRIVALS * all, .reduction = b->reductions++};
    int first = in.reduction % ARRIVALS * all;
    across_declare(e, &in);
    partial_reduce(b, COOP_WARP, p);
    ssa thread = lanes_thread(e), lane = emit_value(e, "and i32 %s, 31", thread.text);
    ssa own = emit_value(e, "and i32 %s, %d", emit_special_register(e, "ctaid").text, (1 << cluster) - 1);
    ssa entry = emit_op(e, "add i32", emit_value(e, "shl i32 %s, %d", own.text, warps),
                        emit_value(e, "lshr i32 %s, %d", thread.text, COOP_WARP));
    int leaves = emit_label_new(e), end = emit_label_new(e);
    emit_branch_if(e, emit_value(e, "icmp ult i32 %s, %d", lane.text, 1 << cluster), leaves, end);
    emit_label(e, leaves);
    across_write(b, &in, emit_value(e, "add i32 %s, %d", entry.text, first), p, lane);
    emit_branch(e, end);
    emit_label(e, end);
    cluster_receive(e, in.reduction, in.words * all);
    ssa from =
        emit_value(e, "add i32 %s, %d", emit_value(e, "and i32 %s, %d", lane.text, (1 << lanes) - 1).text, first);
    across_gather(b, &in, from, 1 << lanes, all >> lanes, p);
    partial_reduce(b, lanes, p);
}

/* ---- Grids ---- */

/* A block's value lies in the slot of the group as words of 64 bits: 32 bits of the value in the low half, and the number of the
 * reduction in the high half. A reader waits until that number is there, so that no barrier is needed. There are two sets of entries,
 * which alternate. None is overwritten while another block may still read it: before a block writes to a set again, it has read what
 * all blocks wrote to the other one, and they did that after they were done with this one. */
static ssa grid_entry(emit *e, ssa turn, ssa block) {
    ssa set = emit_value(e, "and i32 %s, 1", turn.text);
    return emit_op(e, "add i32", emit_value(e, "mul i32 %s, %d", set.text, COOP_BLOCKS_MAX), block);
}

static ssa grid_word(emit *e, ssa entry, int word) {
    ssa offset = emit_value(e, "mul i32 %s, %d", entry.text, 8 * COOP_ENTRY);
    offset = emit_value(e, "add i32 %s, %d", offset.text, COOP_SLOT_HEAD + 8 * word);
    ssa at = emit_value(e, "getelementptr i8, i8 addrspace(1)* %%slot, i64 %s", emit_widen(e, offset).text);
    return emit_value(e, "bitcast i8 addrspace(1)* %s to i64 addrspace(1)*", at.text);
}

static void grid_write(body *b, ssa turn, ssa entry, const partial *p) {
    emit *e = b->e;
    ssa words[PARTIAL_WORDS];
    int n = partial_words(e, p, words);
    ssa high = emit_value(e, "shl i64 %s, 32", emit_widen(e, turn).text);
    for (int i = 0; i < n; i++)
        emit_line(e, "store volatile i64 %s, i64 addrspace(1)* %s, align 8",
                  emit_op(e, "or i64", high, emit_widen(e, words[i])).text, grid_word(e, entry, i).text);
}

static void grid_read(body *b, ssa turn, ssa entry, partial *p) {
    emit *e = b->e;
    ssa words[PARTIAL_WORDS];
    for (int i = 0; i < partial_word_count(p); i++) {
        int wait = emit_label_new(e), there = emit_label_new(e);
        ssa at = grid_word(e, entry, i);
        emit_branch(e, wait);
        emit_label(e, wait);
        ssa both = emit_value(e, "load volatile i64, i64 addrspace(1)* %s, align 8", at.text);
        ssa high = emit_value(e, "trunc i64 %s to i32", emit_value(e, "lshr i64 %s, 32", both.text).text);
        emit_branch_if(e, emit_value(e, "icmp eq i32 %s, %s", high.text, turn.text), there, wait);
        emit_label(e, there);
        words[i] = emit_value(e, "trunc i64 %s to i32", both.text);
    }
    partial_read(e, p, words);
}

/* The number of this reduction (i32). Once all that ask have it, the first thread counts the reduction. */
static ssa grid_turn(emit *e) {
    ssa before = emit_value(e, "load i32, i32 addrspace(3)* %s, align 4", reductions_of(e).text);
    return emit_value(e, "add i32 %s, 1", before.text);
}

static void grid_counted(emit *e, ssa turn) {
    emit_line(e, "store i32 %s, i32 addrspace(3)* %s, align 4", turn.text, reductions_of(e).text);
}

/* The first warp leaves the block's result in the slot, waits for those of all blocks, and combines them. */
static void gather_blocks(body *b, partial *p) {
    emit *e = b->e;
    ssa thread = lanes_thread(e), block = emit_value(e, "lshr i64 %%rank, %d", variant_grid_block(e->frame->v));
    partial one = *p;
    int first = emit_label_new(e), rest = emit_label_new(e);
    ssa turn = grid_turn(e);
    emit_warp_barrier(e, ssa_constant(-1));
    emit_branch_if(e, emit_value(e, "icmp eq i32 %s, 0", thread.text), first, rest);
    emit_label(e, first);
    grid_counted(e, turn);
    grid_write(b, turn, grid_entry(e, turn, emit_value(e, "trunc i64 %s to i32", block.text)), p);
    emit_branch(e, rest);
    emit_label(e, rest);
    partial_accumulator all = partial_begin(b, p);
    counted_loop l = counted_loop_begin(e, "i32", thread, ssa_named("%%blocks"));
    grid_read(b, turn, grid_entry(e, turn, l.i), &one);
    partial_join(b, &all, &one);
    counted_loop_end(e, &l, ssa_constant(32), loop_no_unroll(e));
    *p = partial_end(b, &all);
    emit_warp_barrier(e, ssa_constant(-1));
    partial_reduce(b, COOP_WARP, p);
}

static void grid_reduce(body *b, partial *p) {
    emit *e = b->e;
    int warp = emit_label_new(e), end = emit_label_new(e);
    entries shared = shared_entries(e);
    ssa common = ssa_constant(WARPS_MOST);
    block_reduce(b, variant_grid_block(e->frame->v) - COOP_WARP, p);
    partial gathered = *p;
    emit_branch_if(e, emit_value(e, "icmp ult i32 %s, 32", lanes_thread(e).text), warp, end);
    emit_label(e, warp);
    gather_blocks(b, &gathered);
    entry_write(b, &shared, common, &gathered);
    emit_branch(e, end);
    emit_label(e, end);
    emit_block_barrier(e);
    entry_read(b, &shared, common, p);
}

/* ---- Grids, with calls side by side ---- */

/* A block has %ranks threads for each of %side calls, whose numbers are %row and `call`; %row is %ranks of threads that are left over. */
typedef struct grid_across {
    across_entries shared; /* a row for each rank, of %side entries and one more; and the results */
    ssa turn, thread, call;
} grid_across;

static ssa row_entry(emit *e, ssa row, ssa call) {
    ssa pitch = emit_value(e, "add i32 %%side, 1");
    return emit_op(e, "add i32", emit_op(e, "mul i32", row, pitch), call);
}

/* The entry of the slot: of each call there is one for each block, and one more, for the result. That is written once those of all blocks are
 * there, and a block writes the next one of a call once it has read that call's result: so one set of entries does. */
static ssa slot_entry(emit *e, ssa block, ssa call) {
    return emit_op(e, "add i32", emit_value(e, "shl i32 %s, %d", block.text, e->frame->v->gufunc.across), call);
}

/* Some lanes of a warp combine what the ranks of a call have, and the first one leaves it in the slot. All lanes go the same way: those behind the last
 * call combine that once more. */
static void leave_calls(body *b, const grid_across *g, partial p) {
    emit *e = b->e;
    const variant *v = e->frame->v;
    int room = variant_grid_block(v) - v->gufunc.across, lanes = room < COOP_WARP ? room : COOP_WARP,
        leaves = emit_label_new(e), end = emit_label_new(e);
    ssa lane = emit_value(e, "and i32 %s, %d", g->thread.text, (1 << lanes) - 1),
        call = emit_value(e, "lshr i32 %s, %d", g->thread.text, lanes), last = emit_value(e, "sub i32 %%side, 1");
    ssa there = emit_op(e, "icmp ule i32", call, last), of = emit_select_as(e, "i32", there, call, last);
    partial_accumulator all = partial_begin(b, &p);
    counted_loop l = counted_loop_begin(e, "i32", lane, ssa_named("%%ranks"));
    across_read(b, &g->shared, row_entry(e, l.i, of), &p);
    partial_join(b, &all, &p);
    counted_loop_end(e, &l, ssa_constant(1 << lanes), loop_no_unroll(e));
    p = partial_end(b, &all);
    partial_reduce(b, lanes, &p);
    ssa first = emit_op(e, "icmp eq i32", lane, ssa_constant(0));
    emit_branch_if(e, emit_op(e, "and i1", there, first), leaves, end);
    emit_label(e, leaves);
    grid_write(b, g->turn, slot_entry(e, ssa_named("%%block"), call), &p);
    emit_branch(e, end);
    emit_label(e, end);
}

/* The block whose number is that of a call waits for what all blocks have of it, combines that, and leaves the result; if blocks are fewer, it does so
 * for some calls, one after the other. */
static void combine_calls(body *b, const grid_across *g, partial p) {
    emit *e = b->e;
    const variant *v = e->frame->v;
    int first = emit_label_new(e), rest = emit_label_new(e);
    counted_loop c = counted_loop_begin(e, "i32", ssa_named("%%block"), ssa_named("%%side"));
    partial_accumulator all = partial_begin(b, &p);
    counted_loop l = counted_loop_begin(e, "i32", g->thread, ssa_named("%%blocks"));
    grid_read(b, g->turn, slot_entry(e, l.i, c.i), &p);
    partial_join(b, &all, &p);
    counted_loop_end(e, &l, ssa_constant(1 << variant_grid_block(v)), loop_no_unroll(e));
    p = partial_end(b, &all);
    block_reduce(b, variant_grid_block(v) - COOP_WARP, &p);
    emit_branch_if(e, emit_op(e, "icmp eq i32", g->thread, ssa_constant(0)), first, rest);
    emit_label(e, first);
    grid_write(b, g->turn, slot_entry(e, ssa_constant(COOP_BLOCKS_MAX), c.i), &p);
    emit_branch(e, rest);
    emit_label(e, rest);
    counted_loop_end(e, &c, ssa_named("%%blocks"), loop_no_unroll(e));
}

/* Each thread leaves its partial, threads of the block combine those of a call, and tell the other blocks; the first threads, one for each call, tell the
 * others of the block what all blocks have. */
static void grid_across_reduce(body *b, partial *p) {
    emit *e = b->e;
    grid_across g = {across_entries_of(b, partial_word_count(p)), grid_turn(e), lanes_thread(e), ssa_none()};
    int writes = emit_label_new(e), written = emit_label_new(e), counts = emit_label_new(e),
        counted = emit_label_new(e), tells = emit_label_new(e), told = emit_label_new(e);
    g.call = emit_op(e, "sub i32", g.thread, emit_value(e, "mul i32 %%row, %%side"));
    emit_branch_if(e, emit_value(e, "icmp ult i32 %%row, %%ranks"), writes, written);
    emit_label(e, writes);
    across_write(b, &g.shared, row_entry(e, ssa_named("%%row"), g.call), p, ssa_none());
    emit_branch(e, written);
    emit_label(e, written);
    emit_block_barrier(e);
    emit_branch_if(e, emit_op(e, "icmp eq i32", g.thread, ssa_constant(0)), counts, counted);
    emit_label(e, counts);
    grid_counted(e, g.turn);
    emit_branch(e, counted);
    emit_label(e, counted);
    leave_calls(b, &g, *p);
    combine_calls(b, &g, *p);
    ssa result = emit_value(e, "add i32 %s, %d", g.call.text, g.shared.results);
    partial all = *p;
    emit_branch_if(e, emit_value(e, "icmp eq i32 %%row, 0"), tells, told);
    emit_label(e, tells);
    grid_read(b, g.turn, slot_entry(e, ssa_constant(COOP_BLOCKS_MAX), g.call), &all);
    across_write(b, &g.shared, result, &all, ssa_none());
    emit_branch(e, told);
    emit_label(e, told);
    emit_block_barrier(e);
    across_read(b, &g.shared, result, p);
}

void coop_reduce(body *b, int calls, partial *p) {
    int coop = b->e->frame->v->gufunc.coop;
    assert(calls == 1 || b->e->frame->v->gufunc.across);
    if (variant_grid_across(b->e->frame->v))
        grid_across_reduce(b, p);
    else if (coop == COOP_GRID)
        grid_reduce(b, p);
    else if (b->e->frame->v->gufunc.across)
        across_reduce_all(b, calls, p);
    else if (b->e->frame->v->gufunc.cluster)
        cluster_reduce(b, p);
    else if (coop > COOP_WARP)
        block_reduce(b, coop - COOP_WARP, p);
    else
        partial_reduce(b, coop, p);
    for (int i = 0; i < calls; i++)
        partial_finish(b, &p[i]);
}
