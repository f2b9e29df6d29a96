/* gpu_gufunc.c - inner calls on the GPU: which threads compute which call (variant.coop), and where its operands are. Cooperative groups
 * loop over the calls, so that a grid may be smaller than their number. The threads of a group that is larger than a warp meet at
 * barriers, so all of them make the same calls. */
#include "ir/construct/cooperative.h"
#include "ir/gufunc/gufunc.h"

typedef struct gpu {
    bool wide;
    ssa n, aligned;
    divisor extent[UF_MAX_NDIM];
    ssa stride[VARIANT_OPERANDS][UF_MAX_NDIM];
    ssa blocks, slots; /* COOP_GRID */
    divisor side;      /* the same, across: calls, .. */
    ssa ranks;         /* .. and threads of a block for each */
    const staging *staged;
} gpu;

/* Has operand k an address in global memory for each call? Not where those of a block's calls are one piece (staging.c). */
static bool has_place(const variant *v, int k) { return !v->operand[k].staged || v->gufunc.coop; }

/* The addresses of call number x (i64). */
static void find_call(gufunc_writer *w, void *user, ssa x) {
    const gpu *g = user;
    skeleton *s = &w->s;
    emit *e = s->e;
    ssa offset[VARIANT_OPERANDS] = {ssa_none()}, rest = g->wide ? x : emit_value(e, "trunc i64 %s to i32", x.text),
        index;
    for (int d = 0; d < s->v->ndim; d++) {
        index = rest;
        if (d < s->v->ndim - 1)
            skeleton_divide(s, &g->extent[d], g->wide, rest, &rest, &index);
        ssa far = g->wide ? index : emit_widen(e, index);
        for (int k = 0; k < s->noperands; k++) {
            if (!skeleton_is_array(s, k) || !has_place(s->v, k))
                continue;
            ssa step = emit_op(e, "mul i64", far, g->stride[k][d]);
            offset[k] = d ? emit_op(e, "add i64", offset[k], step) : step;
        }
    }
    for (int k = 0; k < s->noperands; k++)
        if (skeleton_is_array(s, k) && has_place(s->v, k))
            w->at[k] = skeleton_address(s, k, s->base[k], offset[k]);
}

static void read_parameters(gufunc_writer *w, gpu *g) {
    skeleton *s = &w->s;
    g->wide = s->v->wide;
    g->n = skeleton_parameter(s, GPU_GUFUNC_CALLS);
    g->aligned = skeleton_parameter(s, GPU_GUFUNC_ALIGNED);
    if (s->v->gufunc.aligned) /* it is true, and the compiler is to know */
        g->aligned = ssa_bool(true);
    for (int d = 0; d < s->v->ndim - 1; d++)
        g->extent[d] = skeleton_divisor(s, GPU_GUFUNC_EXTENTS);
    for (int k = 0; k < s->noperands; k++)
        for (int d = 0; d < s->v->ndim && skeleton_is_array(s, k); d++)
            g->stride[k][d] = skeleton_parameter(s, GPU_GUFUNC_STRIDES);
}

/* The calls first, first + step .., which are those of one cooperative group. */
static void each_call(gufunc_writer *w, gpu *g, ssa first, ssa step, ssa stores) {
    emit *e = w->s.e;
    counted_loop l = counted_loop_begin(e, "i64", first, g->n);
    find_call(w, g, l.i);
    w->element = l.i;
    gufunc_call(w, stores);
    counted_loop_end(e, &l, step, loop_no_unroll(e));
}

static ssa wide_product(emit *e, ssa a, ssa b) { return emit_op(e, "mul i64", emit_widen(e, a), emit_widen(e, b)); }

/* The mask's element (i1). */
static ssa call_counts(gufunc_writer *w) { return emit_load(w->s.e, DT_BOOL, w->at[variant_mask(w->s.v)]); }

/* What @kernel is told of its cooperative group, in the order of its parameters. */
static void mapped_arguments(gufunc_writer *w, ssa rank, ssa size, ssa aligned, ssa slot, ssa blocks) {
    text_printf(&w->arguments, ", i64 %s, i64 %s, i1 %s, i8 addrspace(1)* %s, i32 %s", rank.text, size.text,
                aligned.text, slot.text, blocks.text);
}

static bool is_staged(const gufunc_writer *w) {
    bool any = false;
    for (int k = 0; k < w->s.nin + w->s.v->nout; k++)
        any |= w->s.v->operand[k].staged;
    return any;
}

static void calls_by_thread(gufunc_writer *w, gpu *g) {
    emit *e = w->s.e;
    if (w->s.v->gufunc.unrolled && is_staged(w)) {
        staged_calls(w, g->n, find_call, g);
        return;
    }
    ssa threads = emit_special_register(w->s.e, "ntid"),
        first = wide_product(e, emit_special_register(w->s.e, "ctaid"), threads);
    ssa step = wide_product(e, emit_special_register(w->s.e, "nctaid"), threads);
    if (g->staged->any) {
        staging_run(w, g->staged, g->n, first, step, find_call, g);
        return;
    }
    first = emit_op(e, "add i64", first, emit_widen(e, emit_special_register(w->s.e, "tid")));
    each_call(w, g, first, step, ssa_none());
}

/* Is a block's call x another one than its first, where that matters to whole_cores (i1)? */
static ssa is_again(gufunc_writer *w, const gpu *g, ssa x, ssa first) {
    return w->s.v->gufunc.pieces && g->staged->any ? emit_op(w->s.e, "icmp ne i64", x, first) : ssa_none();
}

/* One inner call, whose operands are at w->at, by a group or a block of one: a thread has the number `rank` of `size` that copy. again (i1): it is
 * not their first. */
static void call_together(gufunc_writer *w, gpu *g, ssa rank, ssa size, ssa again, ssa stores) {
    int end = w->s.v->masked && g->staged->any ? skeleton_if(&w->s, call_counts(w)) : 0;
    whole_cores(w, g->staged, rank, size, again, g->aligned);
    gufunc_call(w, stores);
    if (end)
        skeleton_end_if(&w->s, end);
}

/* Cooperative groups within a block: of lanes of a warp, or the block. */
static void calls_by_block(gufunc_writer *w, gpu *g) {
    emit *e = w->s.e;
    int coop = w->s.v->gufunc.coop;
    ssa threads = emit_special_register(w->s.e, "ntid"), block = emit_special_register(w->s.e, "ctaid");
    ssa thread = emit_special_register(w->s.e, "tid"), size = coop_size(w->s.v);
    ssa rank = emit_widen(e, emit_value(e, "and i32 %s, %d", thread.text, (1 << coop) - 1));
    ssa all = emit_op(e, "add i64", wide_product(e, block, threads), emit_widen(e, thread));
    ssa first = emit_value(e, "lshr i64 %s, %d", all.text, coop);
    ssa step = wide_product(e, emit_special_register(w->s.e, "nctaid"), threads);
    step = emit_value(e, "lshr i64 %s, %d", step.text, coop);
    mapped_arguments(w, rank, size, g->aligned, ssa_literal("null"), ssa_constant(1));
    ssa stores = emit_value(e, "icmp eq i64 %s, 0", rank.text);
    counted_loop l = counted_loop_begin(e, "i64", first, g->n);
    find_call(w, g, l.i);
    if (w->s.v->gufunc.pieces)
        piece_find(w, g->aligned, ssa_constant(0), ssa_constant(1));
    call_together(w, g, rank, size, is_again(w, g, l.i, first), stores);
    counted_loop_end(e, &l, step, loop_no_unroll(e));
}

/* Neighbouring calls side by side, one or two a thread, by a block, a cluster of blocks or a grid. All threads of it make all calls, so that
 * they meet at barriers: those beyond the last call, and calls that a mask leaves out, read what the last call (or they) would, and store
 * nothing. */
static void one_across(gufunc_writer *w, gpu *g, ssa first, ssa own, ssa rank) {
    emit *e = w->s.e;
    ssa call = emit_op(e, "add i64", first, own), there = emit_op(e, "icmp slt i64", call, g->n);
    ssa last = emit_value(e, "sub i64 %s, %d", g->n.text, 1 << w->s.v->gufunc.calls);
    find_call(w, g, emit_select_as(e, "i64", there, call, last));
    w->active = w->s.v->masked ? emit_op(e, "and i1", there, call_counts(w)) : there;
    whole_cores(w, g->staged, rank, coop_size(w->s.v), ssa_none(), g->aligned);
    if (w->s.v->gufunc.cluster) /* the other blocks run by now, so that results can be left in their shared memory */
        coop_cluster_wait(e);
    gufunc_call(w, emit_op(e, "and i1", emit_value(e, "icmp eq i64 %s, 0", rank.text), w->active));
}

static void calls_across(gufunc_writer *w, gpu *g) {
    emit *e = w->s.e;
    int across = w->s.v->gufunc.across, cluster = w->s.v->gufunc.cluster, calls = w->s.v->gufunc.calls;
    ssa thread = emit_special_register(e, "tid"), block = emit_special_register(e, "ctaid"), group = block;
    ssa rank = emit_value(e, "lshr i32 %s, %d", thread.text, across);
    if (cluster) {
        ssa part = emit_value(e, "and i32 %s, %d", block.text, (1 << cluster) - 1);
        part = emit_value(e, "shl i32 %s, %d", part.text, w->s.v->gufunc.coop - cluster);
        rank = emit_op(e, "or i32", rank, part);
        group = emit_value(e, "lshr i32 %s, %d", block.text, cluster);
    }
    rank = emit_widen(e, rank);
    ssa own = emit_value(e, "and i32 %s, %d", thread.text, (1 << across) - 1);
    own = emit_widen(e, emit_value(e, "shl i32 %s, %d", own.text, calls));
    ssa first = emit_value(e, "shl i64 %s, %d", emit_widen(e, group).text, across + calls);
    mapped_arguments(w, rank, coop_size(w->s.v), g->aligned, ssa_literal("null"), ssa_constant(1));
    if (cluster) { /* there is one for all calls */
        coop_cluster_arrive(e);
        one_across(w, g, first, own, rank);
        return;
    }
    ssa step = emit_value(e, "shl i64 %s, %d", emit_widen(e, emit_special_register(e, "nctaid")).text, across + calls);
    counted_loop l = counted_loop_begin(e, "i64", first, g->n);
    one_across(w, g, l.i, own, rank);
    counted_loop_end(e, &l, step, loop_no_unroll(e));
}

/* What computes a form by lanes. */
static void (*const by_lanes[LAPACK_FORMS])(gufunc_writer *w, ssa there) = {
    [LAPACK_SOLVE] = elimination,    [LAPACK_SOLVE_MATRIX] = elimination,
    [LAPACK_INV] = elimination,      [LAPACK_DET] = elimination,
    [LAPACK_CHOLESKY] = elimination, [LAPACK_EIGH] = jacobi_vectors,
    [LAPACK_SVD] = jacobi_vectors,   [LAPACK_QR] = reflectors,
    [LAPACK_LSTSQ] = least_squares,
};
/* And by a block. */
static void (*const by_blocks[LAPACK_FORMS])(gufunc_writer *w) = {
    [LAPACK_EIGH] = block_jacobi_eigenvectors, [LAPACK_SVD] = block_jacobi_singular_vectors};

/* A call for each group of lanes. All threads of a block go the same way: those beyond the last call read what that reads. */
static void calls_by_lanes(gufunc_writer *w, gpu *g) {
    emit *e = w->s.e;
    int coop = w->s.v->gufunc.coop;
    ssa thread = emit_special_register(e, "tid"), threads = emit_special_register(e, "ntid");
    ssa calls = emit_widen(e, emit_value(e, "lshr i32 %s, %d", threads.text, coop));
    ssa own = emit_widen(e, emit_value(e, "lshr i32 %s, %d", thread.text, coop));
    ssa first = emit_op(e, "mul i64", emit_widen(e, emit_special_register(e, "ctaid")), calls);
    ssa step = emit_op(e, "mul i64", emit_widen(e, emit_special_register(e, "nctaid")), calls);
    counted_loop l = counted_loop_begin(e, "i64", first, g->n);
    ssa call = emit_op(e, "add i64", l.i, own), there = emit_op(e, "icmp slt i64", call, g->n);
    find_call(w, g, emit_select_as(e, "i64", there, call, emit_value(e, "sub i64 %s, 1", g->n.text)));
    if (coop > COOP_WARP)
        by_blocks[w->s.v->gufunc.form](w);
    else
        by_lanes[w->s.v->gufunc.form](w, there);
    counted_loop_end(e, &l, step, loop_no_unroll(e));
}

static void calls_by_grid(gufunc_writer *w, gpu *g) {
    emit *e = w->s.e;
    ssa block = emit_special_register(w->s.e, "ctaid"), thread = emit_special_register(w->s.e, "tid"),
        blocks = g->blocks;
    ssa coop = emit_value(e, "udiv i32 %s, %s", block.text, blocks.text);
    ssa coops = emit_value(e, "udiv i32 %s, %s", emit_special_register(w->s.e, "nctaid").text, blocks.text);
    ssa own = emit_value(e, "urem i32 %s, %s", block.text, blocks.text);
    ssa rank = emit_value(e, "shl i32 %s, %d", own.text, variant_grid_block(w->s.v));
    rank = emit_widen(e, emit_op(e, "add i32", rank, thread));
    ssa size = emit_value(e, "shl i32 %s, %d", blocks.text, variant_grid_block(w->s.v));
    ssa slot = emit_value(e, "mul i32 %s, %d", coop.text, COOP_SLOT);
    slot = emit_value(e, "getelementptr i8, i8 addrspace(1)* %s, i64 %s", g->slots.text, emit_widen(e, slot).text);
    mapped_arguments(w, rank, emit_widen(e, size), g->aligned, slot, blocks);
    coop_grid_begin(e);
    ssa stores = emit_value(e, "icmp eq i64 %s, 0", rank.text);
    ssa first = emit_widen(e, coop);
    counted_loop l = counted_loop_begin(e, "i64", first, g->n);
    find_call(w, g, l.i);
    if (w->s.v->gufunc.pieces)
        piece_find(w, g->aligned, emit_widen(e, own), emit_widen(e, blocks));
    call_together(w, g, emit_widen(e, thread), ssa_constant(1 << variant_grid_block(w->s.v)),
                  is_again(w, g, l.i, first), stores);
    counted_loop_end(e, &l, emit_widen(e, coops), loop_no_unroll(e));
}

/* All calls side by side, by all blocks: each has %ranks threads of every call. Threads that are left over do what the last rank does of the last
 * call, and store nothing. */
static void calls_across_grid(gufunc_writer *w, gpu *g) {
    emit *e = w->s.e;
    ssa thread = emit_special_register(e, "tid"), block = emit_special_register(e, "ctaid"), row, call;
    skeleton_divide(&w->s, &g->side, false, thread, &row, &call);
    ssa there = emit_op(e, "icmp ult i32", row, g->ranks), last = emit_value(e, "sub i32 %s, 1", g->ranks.text);
    ssa rank =
        emit_op(e, "add i32", emit_op(e, "mul i32", block, g->ranks), emit_select_as(e, "i32", there, row, last));
    rank = emit_widen(e, rank);
    mapped_arguments(w, rank, wide_product(e, g->blocks, g->ranks), g->aligned, g->slots, g->blocks);
    text_printf(&w->arguments, ", i32 %s, i32 %s, i32 %s, i32 %s", block.text, g->side.extent.text, row.text,
                g->ranks.text);
    coop_grid_begin(e);
    one_across(w, g, ssa_constant(0), emit_select_as(e, "i64", there, emit_widen(e, call), g->n), rank);
}

/* A call for each cluster of blocks, each of which has a piece of it. */
static void calls_by_cluster(gufunc_writer *w, gpu *g) {
    emit *e = w->s.e;
    int cluster = w->s.v->gufunc.cluster, coop = w->s.v->gufunc.coop;
    ssa block = emit_special_register(e, "ctaid"), thread = emit_special_register(e, "tid");
    ssa own = emit_value(e, "and i32 %s, %d", block.text, (1 << cluster) - 1);
    ssa rank = emit_op(e, "or i32", emit_value(e, "shl i32 %s, %d", own.text, coop), thread);
    rank = emit_widen(e, rank);
    mapped_arguments(w, rank, coop_size(w->s.v), g->aligned, ssa_literal("null"), ssa_constant(1));
    ssa call = emit_widen(e, emit_value(e, "lshr i32 %s, %d", block.text, cluster));
    find_call(w, g, call);
    coop_cluster_arrive(e);
    piece_find(w, g->aligned, emit_widen(e, own), ssa_constant(1 << cluster));
    whole_cores(w, g->staged, emit_widen(e, thread), ssa_constant(1 << coop), ssa_none(), g->aligned);
    coop_cluster_wait(e);
    gufunc_call(w, emit_value(e, "icmp eq i64 %s, 0", rank.text));
}

/* The blocks of a call take its tiles in turn. @kernel is told the number of the call too. */
static void calls_by_tiles(gufunc_writer *w, gpu *g) {
    emit *e = w->s.e;
    int coop = w->s.v->gufunc.coop;
    ssa block = emit_special_register(e, "ctaid"), thread = emit_widen(e, emit_special_register(e, "tid"));
    ssa group = emit_value(e, "udiv i32 %s, %s", block.text, g->blocks.text),
        groups = emit_value(e, "udiv i32 %s, %s", emit_special_register(e, "nctaid").text, g->blocks.text),
        own = emit_value(e, "urem i32 %s, %s", block.text, g->blocks.text);
    ssa rank = emit_op(e, "add i64", emit_value(e, "shl i64 %s, %d", emit_widen(e, own).text, coop), thread);
    ssa size = emit_value(e, "shl i64 %s, %d", emit_widen(e, g->blocks).text, coop);
    mapped_arguments(w, rank, size, g->aligned, w->s.v->gufunc.split ? g->slots : ssa_literal("null"), g->blocks);
    counted_loop l = counted_loop_begin(e, "i64", emit_widen(e, group), g->n);
    find_call(w, g, l.i);
    text_printf(&w->arguments, ", i64 %s", l.i.text);
    gufunc_call(w, emit_value(e, "icmp eq i64 %s, 0", rank.text));
    counted_loop_end(e, &l, emit_widen(e, groups), loop_no_unroll(e));
}

void gpu_gufunc(gufunc_writer *w) {
    emit *e = w->s.e;
    gpu *g = arena_alloc(e->a, sizeof *g);
    read_parameters(w, g);
    g->staged = staging_read(w);
    if (w->s.v->gufunc.coop == COOP_GRID || w->s.v->gufunc.tile)
        g->blocks = skeleton_parameter(&w->s, GPU_GUFUNC_BLOCKS);
    if (variant_grid_across(w->s.v)) {
        g->side = skeleton_divisor(&w->s, GPU_GUFUNC_SIDE);
        g->ranks = skeleton_parameter(&w->s, GPU_GUFUNC_RANKS);
    }
    if (w->s.v->gufunc.coop == COOP_GRID || w->s.v->gufunc.split)
        g->slots =
            emit_value(e, "inttoptr i64 %s to i8 addrspace(1)*", skeleton_parameter(&w->s, GPU_GUFUNC_SLOTS).text);
    gufunc_core_parameters(w);
    if (w->s.v->gufunc.form)
        calls_by_lanes(w, g);
    else if (variant_grid_across(w->s.v))
        calls_across_grid(w, g);
    else if (w->s.v->gufunc.coop == COOP_GRID)
        calls_by_grid(w, g);
    else if (w->s.v->gufunc.tile)
        calls_by_tiles(w, g);
    else if (w->s.v->gufunc.across)
        calls_across(w, g);
    else if (w->s.v->gufunc.cluster)
        calls_by_cluster(w, g);
    else if (w->s.v->gufunc.coop)
        calls_by_block(w, g);
    else
        calls_by_thread(w, g);
}
