/* gpu_scan_rows.c - accumulations on the GPU along lines whose elements are neighbours.
 *
 * 2^coop threads take a line: a block, of a line one of whose tiles it has; or lanes of a warp, with several lines to a block, which go over the
 * tiles of their line one after the other if it has several. A thread has `accesses` vectors of `vector` elements, each beside the vectors of
 * neighbouring threads, so that accesses are coalesced. It scans each of its vectors by itself; shuffles scan the states of the vectors over
 * the lanes; vectors, the warps of the block, and tiles are then combined one after the other, those of different blocks by look-back. Beyond the
 * end of a line its last element stands in for those that do not exist: nothing comes after it, so that only its stores are left out. */
#include "ir/scan/gpu_scan.h"

#include "ir/common/internal.h"
#include "ir/common/lanes.h"

typedef struct rows {
    gpu_scan_kernel *g;
    fold_writer *w;
    int lanes; /* log2 of those of a warp that share a line */
    int warps; /* that share one */
    int vector, slots;
    ssa lane;     /* i32, in its group */
    ssa warp;     /* i32, in the block */
    ssa tile;     /* i32, of the line */
    ssa first;    /* i64: the thread's first element */
    ssa left;     /* i64: elements from there to the end; may be negative */
    ssa mine;     /* i1: the line is to be written */
    ssa whole;    /* i1: all of the thread's vectors are, and aligned */
    ssa *raw;     /* [(slot * vector + i) * noperands + k]: variables, of what is loaded */
    partial *x;   /* [slot * vector + i] */
    ssa *results; /* [(slot * vector + i) * nout + k] */
} rows;

/* ---- Where ---- */

/* Elements from the thread's first to its i-th of a slot. */
static int distance(const rows *r, int slot, int i) { return (slot << r->lanes) * r->vector + i; }

static ssa thread_in_line(rows *r) {
    emit *e = r->w->s.e;
    int each = r->slots * r->vector; /* elements of a thread */
    ssa at = emit_value(e, "mul i32 %s, %d", r->lane.text, r->vector);
    if (r->warps > 1) {
        ssa warp = emit_value(e, "mul i32 %s, %d", r->warp.text, each * WARP);
        at = emit_op(e, "add i32", at, warp);
    }
    ssa tile =
        emit_value(e, "mul i64 %s, %lld", emit_widen(e, r->tile).text, (long long)each * r->warps * (1 << r->lanes));
    return emit_op(e, "add i64", emit_widen(e, at), tile);
}

static void find_line(rows *r, ssa block) {
    skeleton *s = &r->w->s;
    emit *e = s->e;
    ssa line, thread = emit_special_register(e, "tid");
    if (r->warps > 1) {
        ssa quotient;
        skeleton_divide(s, &r->g->order, false, block, &quotient, &r->tile);
        line = emit_widen(e, quotient);
        r->mine = ssa_bool(true);
    } else {
        ssa across = emit_value(e, "lshr i32 %s, %d", emit_special_register(e, "ntid").text, r->lanes);
        line = emit_op(e, "mul i64", emit_widen(e, block), emit_widen(e, across));
        ssa own = emit_value(e, "lshr i32 %s, %d", thread.text, r->lanes);
        line = emit_op(e, "add i64", line, emit_widen(e, own));
        r->tile = ssa_constant(0);
        r->mine = emit_op(e, "icmp slt i64", line, r->g->lines);
        line = emit_select_as(e, "i64", r->mine, line, emit_value(e, "sub i64 %s, 1", r->g->lines.text));
    }
    gpu_scan_line(r->g, line, 0);
    r->lane = emit_value(e, "and i32 %s, %d", thread.text, (1 << r->lanes) - 1);
    r->warp = emit_value(e, "lshr i32 %s, 5", thread.text);
}

static void find_tile(rows *r, ssa tile) {
    emit *e = r->w->s.e;
    r->tile = tile;
    r->first = thread_in_line(r);
    r->left = emit_op(e, "sub i64", r->g->length, r->first);
    ssa all = emit_value(e, "icmp sge i64 %s, %d", r->left.text, distance(r, r->slots - 1, r->vector));
    r->whole = emit_op(e, "and i1", all, emit_op(e, "and i1", r->mine, r->g->aligned));
}

/* ---- Loads and stores ---- */

/* Operand k at an element counted from the thread's first one: a number, or i64. */
static ssa address(rows *r, int k, ssa from, ssa index) {
    skeleton *s = &r->w->s;
    switch (s->v->operand[k].kind) {
    case OPERAND_CONTIGUOUS:
        return skeleton_address(s, k, from, index);
    case OPERAND_CONSTANT:
        return from;
    default:
        return skeleton_address(s, k, from, emit_op(s->e, "mul i64", index, r->g->along[k]));
    }
}

static ssa *raw_at(rows *r, int slot, int i, int k) { return &r->raw[(slot * r->vector + i) * r->w->s.noperands + k]; }

static void keep_raw(rows *r, int slot, int i, int k, ssa value) {
    const char *type = ir_value_type(skeleton_memory(&r->w->s, k));
    emit_line(r->w->s.e, "store %s %s, %s* %s", type, value.text, type, raw_at(r, slot, i, k)->text);
}

static void load_whole(rows *r, int k, ssa from) {
    skeleton *s = &r->w->s;
    ssa values[BATCH_LANES] = {0};
    for (int slot = 0; slot < r->slots; slot++) {
        if (s->v->operand[k].kind == OPERAND_CONTIGUOUS)
            emit_load_vector(s->e, skeleton_memory(s, k), address(r, k, from, ssa_constant(distance(r, slot, 0))),
                             r->vector, values);
        for (int i = 0; i < r->vector; i++) {
            if (s->v->operand[k].kind != OPERAND_CONTIGUOUS)
                values[i] =
                    emit_load(s->e, skeleton_memory(s, k), address(r, k, from, ssa_constant(distance(r, slot, i))));
            keep_raw(r, slot, i, k, values[i]);
        }
    }
}

static void load_part(rows *r, int k, ssa from, ssa last) {
    skeleton *s = &r->w->s;
    for (int slot = 0; slot < r->slots; slot++)
        for (int i = 0; i < r->vector; i++) {
            ssa at = ssa_constant(distance(r, slot, i));
            at = emit_select_as(s->e, "i64", emit_op(s->e, "icmp slt i64", at, last), at, last);
            keep_raw(r, slot, i, k, emit_load(s->e, skeleton_memory(s, k), address(r, k, from, at)));
        }
}

static void load(rows *r) {
    skeleton *s = &r->w->s;
    emit *e = s->e;
    int whole = emit_label_new(e), part = emit_label_new(e), end = emit_label_new(e);
    ssa from[VARIANT_OPERANDS] = {0}, last = emit_value(e, "sub i64 %s, 1", r->left.text);
    for (int k = 0; k < s->nin; k++)
        if (fold_reads(r->w, k))
            from[k] = address(r, k, r->g->at[k], r->first);
    emit_branch_if(e, r->whole, whole, part);
    emit_label(e, whole);
    for (int k = 0; k < s->nin; k++)
        if (fold_reads(r->w, k))
            load_whole(r, k, from[k]);
    emit_branch(e, end);
    emit_label(e, part);
    for (int k = 0; k < s->nin; k++)
        if (fold_reads(r->w, k))
            load_part(r, k, from[k], last);
    emit_branch(e, end);
    emit_label(e, end);
}

static ssa *result_at(rows *r, int slot, int i, int k) {
    return &r->results[(slot * r->vector + i) * r->w->s.v->nout + k];
}

static void store_whole(rows *r, int k, ssa from) {
    skeleton *s = &r->w->s;
    dtype t = skeleton_memory(s, s->nin + k);
    for (int slot = 0; slot < r->slots; slot++) {
        ssa values[BATCH_LANES] = {0}, at = ssa_constant(distance(r, slot, 0));
        for (int i = 0; i < r->vector; i++)
            values[i] = *result_at(r, slot, i, k);
        if (s->v->operand[s->nin + k].kind == OPERAND_CONTIGUOUS)
            emit_store_vector(s->e, t, values, address(r, s->nin + k, from, at), r->vector);
        for (int i = 0; i < r->vector && s->v->operand[s->nin + k].kind != OPERAND_CONTIGUOUS; i++)
            emit_store(s->e, t, values[i], address(r, s->nin + k, from, ssa_constant(distance(r, slot, i))));
    }
}

static void store_part(rows *r, const ssa *from) {
    skeleton *s = &r->w->s;
    ssa left = emit_select_as(s->e, "i64", r->mine, r->left, ssa_constant(0));
    for (int slot = 0; slot < r->slots; slot++)
        for (int i = 0; i < r->vector; i++) {
            int at = distance(r, slot, i), end = skeleton_if(s, emit_value(s->e, "icmp sgt i64 %s, %d", left.text, at));
            for (int k = 0; k < s->v->nout; k++)
                emit_store(s->e, skeleton_memory(s, s->nin + k), *result_at(r, slot, i, k),
                           address(r, s->nin + k, from[k], ssa_constant(at)));
            skeleton_end_if(s, end);
        }
}

static void store(rows *r) {
    skeleton *s = &r->w->s;
    emit *e = s->e;
    int whole = emit_label_new(e), part = emit_label_new(e), end = emit_label_new(e);
    ssa from[UF_MAX_OPERANDS] = {0};
    for (int k = 0; k < s->v->nout; k++)
        from[k] = address(r, s->nin + k, r->g->at[s->nin + k], r->first);
    emit_branch_if(e, r->whole, whole, part);
    emit_label(e, whole);
    for (int k = 0; k < s->v->nout; k++)
        store_whole(r, k, from[k]);
    emit_branch(e, end);
    emit_label(e, part);
    store_part(r, from);
    emit_branch(e, end);
    emit_label(e, end);
}

/* ---- Scans ---- */

static void elements(rows *r) {
    skeleton *s = &r->w->s;
    emit *e = s->e;
    for (int slot = 0; slot < r->slots; slot++)
        for (int i = 0; i < r->vector; i++) {
            ssa in[VARIANT_OPERANDS] = {0},
                index = emit_value(e, "add i64 %s, %d", r->first.text, distance(r, slot, i));
            for (int k = 0; k < s->nin; k++)
                if (fold_reads(r->w, k)) {
                    const char *type = ir_value_type(skeleton_memory(s, k));
                    in[k] = emit_value(e, "load %s, %s* %s", type, type, raw_at(r, slot, i, k)->text);
                }
            partial x = fold_element(r->w, in, gpu_scan_position(r->g, index));
            partial *own = &r->x[slot * r->vector + i];
            *own = i ? fold_join(r->w, own - 1, &x) : x;
        }
}

/* The state of what comes before a thread's vector of a slot, among the lanes; *total: the state of all lanes' vectors, in every lane. */
static partial scan_lanes(rows *r, const partial *own, partial *total) {
    emit *e = r->w->s.e;
    partial all = *own;
    for (int by = 1; by < 1 << r->lanes; by *= 2) {
        partial before = partial_up(r->w, &all, by, r->lanes);
        before.present = emit_value(e, "icmp uge i32 %s, %d", r->lane.text, by);
        all = fold_join(r->w, &before, &all);
    }
    *total = partial_from(r->w, &all, (1 << r->lanes) - 1, r->lanes);
    partial before = partial_up(r->w, &all, 1, r->lanes);
    before.present = emit_value(e, "icmp ne i32 %s, 0", r->lane.text);
    return before;
}

/* before[slot]: the state of what comes before each of the thread's vectors in its warp; returns the state of all the warp's vectors. */
static partial scan_slots(rows *r, partial *before) {
    partial total, so_far;
    for (int slot = 0; slot < r->slots; slot++) {
        const partial *own = &r->x[slot * r->vector + r->vector - 1];
        if (!r->lanes) {
            total = *own;
            before[slot] = *own; /* stands in */
            before[slot].present = ssa_bool(false);
        } else {
            before[slot] = scan_lanes(r, own, &total);
        }
        if (slot)
            before[slot] = fold_join(r->w, &so_far, &before[slot]);
        so_far = slot ? fold_join(r->w, &so_far, &total) : total;
    }
    return so_far;
}

/* The same over the warps of a block, through shared memory; *total: the state of all of them. */
static partial scan_warps(rows *r, const partial *own, partial *total) {
    skeleton *s = &r->w->s;
    emit *e = s->e;
    int first = skeleton_if(s, emit_value(e, "icmp eq i32 %s, 0", r->lane.text));
    scan_shared_put(r->g, r->warp, own);
    skeleton_end_if(s, first);
    emit_block_barrier(r->w->s.e);
    partial before = {.present = ssa_none()};
    for (int i = 0; i < r->warps; i++) {
        partial one = scan_shared_get(r->g, ssa_constant(i));
        if (i) {
            ssa after = emit_value(e, "icmp uge i32 %s, %d", r->warp.text, i);
            before = i > 1 ? fold_choose(r->w, after, total, &before) : *total;
            one = fold_join(r->w, total, &one);
        }
        *total = one;
    }
    before.present = emit_value(e, "icmp ne i32 %s, 0", r->warp.text);
    return before;
}

/* ---- Look-back ---- */

/* What stands before a tile, from left to right: the parts before its own, as one entry that their last tile leaves; the
 * groups before the previous one in its part, an entry each; the tiles of the previous group, rather than the entry of that,
 * which comes later; the tiles before it in its group. A warp waits for each, if there are warps enough. */
enum {
    BACK_PARTS,
    BACK_GROUPS,
    BACK_PREVIOUS,
    BACK_TILES,
    BACKS
};

typedef struct lookback {
    ssa base[SCAN_LEVELS];         /* i64: the line's first entry of each level */
    ssa from[BACKS], count[BACKS]; /* i32 */
    ssa group, part;               /* i32: the tile's */
    ssa last, last_group;          /* i1: in its group, and that in its part */
} lookback;

static const int back_levels[BACKS] = {2, 1, 0, 0};

static ssa low_bits(emit *e, ssa x) { return emit_value(e, "and i32 %s, %d", x.text, (1 << SCAN_FAN_ROWS) - 1); }
static ssa high_bits(emit *e, ssa x) { return emit_value(e, "lshr i32 %s, %d", x.text, SCAN_FAN_ROWS); }
static ssa round_up(emit *e, ssa x) {
    return high_bits(e, emit_value(e, "add i32 %s, %d", x.text, (1 << SCAN_FAN_ROWS) - 1));
}
static ssa is_last(emit *e, ssa index) {
    return emit_value(e, "icmp eq i32 %s, %d", index.text, (1 << SCAN_FAN_ROWS) - 1);
}
static ssa is_positive(emit *e, ssa x) { return emit_value(e, "icmp sgt i32 %s, 0", x.text); }

static lookback find_lookback(rows *r, ssa block) {
    emit *e = r->w->s.e;
    lookback b;
    ssa line, tile, entries = r->g->tiles, zero = ssa_constant(0);
    skeleton_divide(&r->w->s, &r->g->order, false, block, &line, &tile);
    for (int level = 0; level < SCAN_LEVELS; level++) {
        b.base[level] = emit_op(e, "mul i64", emit_widen(e, line), emit_widen(e, entries));
        entries = round_up(e, entries);
    }
    b.group = high_bits(e, r->tile);
    b.part = high_bits(e, b.group);
    ssa in_group = low_bits(e, r->tile), in_part = low_bits(e, b.group), after_first = is_positive(e, in_part);
    b.last = is_last(e, in_group);
    b.last_group = emit_op(e, "and i1", b.last, is_last(e, in_part));
    b.count[BACK_PARTS] = emit_select_as(e, "i32", is_positive(e, b.part), ssa_constant(1), zero);
    b.from[BACK_PARTS] = emit_value(e, "sub i32 %s, 1", b.part.text);
    b.count[BACK_GROUPS] = emit_value(e, "sub i32 %s, 1", in_part.text); /* -1: none */
    b.from[BACK_GROUPS] = emit_op(e, "sub i32", b.group, in_part);
    b.count[BACK_PREVIOUS] = emit_select_as(e, "i32", after_first, ssa_constant(1 << SCAN_FAN_ROWS), zero);
    b.from[BACK_TILES] = emit_op(e, "sub i32", r->tile, in_group);
    b.from[BACK_PREVIOUS] = emit_value(e, "sub i32 %s, %d", b.from[BACK_TILES].text, 1 << SCAN_FAN_ROWS);
    b.count[BACK_TILES] = in_group;
    return b;
}

static ssa entry(rows *r, const lookback *b, int level, ssa index) {
    return emit_op(r->w->s.e, "add i64", b->base[level], emit_widen(r->w->s.e, index));
}

/* The last tile of a group publishes the group's state, combined in the same order as by those who read the group's tiles. */
static void leave_group(rows *r, const lookback *b, const partial *tiles, const partial *own) {
    skeleton *s = &r->w->s;
    int last = skeleton_if(s, b->last);
    partial all = fold_choose(r->w, is_last(s->e, r->lane), own, tiles);
    all = partial_fold_lanes(r->w, &all, COOP_WARP);
    int one = skeleton_if(s, emit_value(s->e, "icmp eq i32 %s, 0", r->lane.text));
    scan_publish(r->g, scan_entry(r->g, 1, entry(r, b, 1, b->group)), &all);
    skeleton_end_if(s, one);
    skeleton_end_if(s, last);
}

/* By one warp: waits for some entries, and leaves their combined state in shared memory. */
static void wait_for(rows *r, const lookback *b, int what, const partial *own) {
    skeleton *s = &r->w->s;
    emit *e = s->e;
    ssa there = emit_op(e, "icmp slt i32", r->lane, b->count[what]);
    ssa index = emit_op(e, "add i32", b->from[what], emit_select_as(e, "i32", there, r->lane, ssa_constant(0)));
    ssa from = scan_entry(r->g, back_levels[what], entry(r, b, back_levels[what], index));
    partial x = scan_await(r->g, from), all = x;
    emit_warp_barrier(e, ssa_constant(-1));
    if (what != BACK_PARTS) {
        all.present = what == BACK_PREVIOUS ? ssa_none() : there;
        all = partial_fold_lanes(r->w, &all, COOP_WARP);
        all.present = ssa_none();
    }
    int one = skeleton_if(s, emit_value(e, "icmp eq i32 %s, 0", r->lane.text));
    scan_shared_put(r->g, ssa_constant(r->warps + what), &all);
    skeleton_end_if(s, one);
    if (what == BACK_TILES)
        leave_group(r, b, &x, own);
}

/* Leaves the tile's own entry, by the first thread. */
static void leave_tile(rows *r, const lookback *b, const partial *own) {
    skeleton *s = &r->w->s;
    int one = skeleton_if(s, emit_value(s->e, "icmp eq i32 %s, 0", emit_special_register(s->e, "tid").text));
    scan_publish(r->g, scan_entry(r->g, 0, entry(r, b, 0, r->tile)), own);
    skeleton_end_if(s, one);
}

static partial take_lookback(rows *r, const lookback *b, const partial *own) {
    emit *e = r->w->s.e;
    partial all = {.present = ssa_none()};
    for (int what = 0; what < BACKS; what++) {
        ssa there = is_positive(e, b->count[what]);
        partial x = scan_shared_get(r->g, ssa_constant(r->warps + what));
        x = fold_choose(r->w, there, &x, own); /* a state that is one, where there is none */
        x.present = there;
        all = what ? fold_join(r->w, &all, &x) : x;
    }
    return all;
}

static void leave_part(rows *r, const lookback *b, const partial *before, const partial *own) {
    skeleton *s = &r->w->s;
    ssa first = emit_value(s->e, "icmp eq i32 %s, 0", emit_special_register(s->e, "tid").text);
    int one = skeleton_if(s, emit_op(s->e, "and i1", first, b->last_group));
    partial all = fold_join(r->w, before, own);
    scan_publish(r->g, scan_entry(r->g, 2, entry(r, b, 2, b->part)), &all);
    skeleton_end_if(s, one);
}

/* What comes before the tile, for all threads of the block. */
static partial before_tile(rows *r, ssa block, const partial *own, const partial_slot *found) {
    skeleton *s = &r->w->s;
    emit *e = s->e;
    partial none = *own;
    none.present = ssa_bool(false);
    partial_put(r->w, found, &none);
    int many = skeleton_if(s, emit_value(e, "icmp ne i64 %s, 0", r->g->counter.text));
    lookback b = find_lookback(r, block);
    leave_tile(r, &b, own);
    for (int what = BACKS - 1; what >= 0; what--) {
        ssa mine = emit_value(e, "icmp eq i32 %s, %d", r->warp.text, (BACKS - 1 - what) % r->warps);
        int end = skeleton_if(s, emit_op(e, "and i1", mine, is_positive(e, b.count[what])));
        wait_for(r, &b, what, own);
        skeleton_end_if(s, end);
    }
    emit_block_barrier(r->w->s.e);
    partial x = take_lookback(r, &b, own);
    leave_part(r, &b, &x, own);
    partial_put(r->w, found, &x);
    skeleton_end_if(s, many);
    return partial_get(r->w, found);
}

/* ---- The kernel ---- */

static void results(rows *r, const partial *before) {
    emit *e = r->w->s.e;
    for (int slot = 0; slot < r->slots; slot++)
        for (int i = 0; i < r->vector; i++) {
            partial x = fold_join(r->w, &before[slot], &r->x[slot * r->vector + i]);
            ssa count = emit_value(e, "add i64 %s, %d", r->first.text, distance(r, slot, i) + 1);
            x.present = ssa_none();
            fold_results(r->w, &x, count, result_at(r, slot, i, 0));
        }
}

static void make_variables(rows *r) {
    skeleton *s = &r->w->s;
    int n = r->slots * r->vector;
    r->x = arena_alloc(s->e->a, (size_t)n * sizeof *r->x);
    r->results = arena_alloc(s->e->a, (size_t)(n * s->v->nout) * sizeof *r->results);
    r->raw = arena_alloc(s->e->a, (size_t)(n * s->noperands) * sizeof *r->raw);
    for (int slot = 0; slot < r->slots; slot++)
        for (int i = 0; i < r->vector; i++)
            for (int k = 0; k < s->nin; k++)
                if (fold_reads(r->w, k))
                    *raw_at(r, slot, i, k) = emit_value(s->e, "alloca %s", ir_value_type(skeleton_memory(s, k)));
}

/* Scans a tile by itself. before[slot]: what comes before each of the thread's vectors in the tile, or in its warp; returns the state of all that the
 * tile, or the warp, has. */
static partial scan_tile(rows *r, ssa tile, partial *before) {
    find_tile(r, tile);
    load(r);
    elements(r);
    return scan_slots(r, before);
}

/* Adds what comes before all that scan_tile has scanned to what comes before each vector. */
static void join_before(rows *r, const partial *first, partial *before) {
    for (int slot = 0; slot < r->slots; slot++)
        before[slot] = fold_join(r->w, first, &before[slot]);
}

/* By lanes of a warp. */
static void tiles_in_turn(rows *r, const partial_slot *so_far, partial *before) {
    emit *e = r->w->s.e;
    partial none = {.present = ssa_bool(false)};
    for (int k = 0; k < r->w->nstate; k++)
        none.v[k] = emit_constant((number){.type = r->w->state[k]}, r->w->state[k]);
    partial_put(r->w, so_far, &none);
    counted_loop l = counted_loop_begin(e, "i32", ssa_constant(0), r->g->tiles);
    partial total = scan_tile(r, l.i, before), first = partial_get(r->w, so_far);
    join_before(r, &first, before);
    first = fold_join(r->w, &first, &total);
    partial_put(r->w, so_far, &first);
    results(r, before);
    store(r);
    counted_loop_end(e, &l, ssa_constant(1), loop_no_unroll(e));
}

/* By a block, or the lanes of a warp that have all of a line in one tile. */
static void one_tile(rows *r, ssa block, const partial_slot *found, partial *before) {
    partial total = scan_tile(r, r->tile, before);
    if (r->warps > 1) {
        partial warps = scan_warps(r, &total, &total), first = before_tile(r, block, &total, found);
        first = fold_join(r->w, &first, &warps);
        join_before(r, &first, before);
    }
    results(r, before);
    store(r);
}

void gpu_scan_rows(gpu_scan_kernel *g) {
    const variant *v = g->w->s.v;
    emit *e = g->w->s.e;
    int coop = v->scan.coop;
    rows r = {.g = g, .w = g->w, .vector = v->scan.vector, .slots = v->scan.accesses};
    r.lanes = coop < COOP_WARP ? coop : COOP_WARP;
    r.warps = 1 << (coop - r.lanes);
    g->shared = (r.warps + BACKS) * g->words + 1;
    make_variables(&r);
    partial *before = arena_alloc(e->a, (size_t)r.slots * sizeof *before);
    partial_slot so_far = partial_variable(g->w, true);
    ssa block = r.warps > 1 ? gpu_scan_ticket(g, g->shared - 1) : emit_special_register(e, "ctaid");
    find_line(&r, block);
    if (v->scan.in_turn)
        tiles_in_turn(&r, &so_far, before);
    else
        one_tile(&r, block, &so_far, before);
}
