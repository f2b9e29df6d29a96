/* pairwise.c - see pairwise.h. The arrays of accumulators stay in the first-level cache, and the loops over lanes become vector loops,
 * whatever is combined. An array takes at most BLOCK groups of elements, one after the other; then it is full and stays on the stack,
 * where two arrays of the same number of elements are combined. Each lane takes its elements in order. */
#include "ir/reduce/pairwise.h"

#include <assert.h>

#include "ir/common/internal.h"
#include "ir/common/nodes.h"
#include "ir/common/report.h"

enum {
    LEVELS = 16, /* of 2^0 .. 2^15 blocks; sums of more blocks are a little less accurate */
    BLOCK = 16,
    LANES_MIN = 8,
    LANES_MOST = 16, /* of one vector */
    HELD_LANES = 4, /* of a loop in registers, at least: the last ones may be of no use, but are not beyond LANES_MIN */
    /* Of accumulators whose elements take much code: with more, variances of 32-bit elements were slower on 256 bits. */
    HELD_VECTORS = 4,
    FEW = 8,            /* elements that are combined without a loop, at most */
    NODES_AT_ONCE = 64, /* the same for code that is written for several vectors at once */
    NODES = 500,        /* nodes of tree in the code of a group, at most */
    COUNTED_STEPS = 32, /* in a group of which bytes are counted */
    NEAR_BYTES = 64,
    SHORT_STEPS = 64,     /* a result of no more steps, of one vector of lanes each, needs no stack, */
    SHORT_SINGLES = 8,    /* or of no more steps that are not taken by groups */
    SCALAR_LANES = 4,     /* taken at once where there are no vectors */
    NODES_INLINE = 12,    /* to combine two elements, in each place where arrays are combined, at most */
    NODES_OF_ELEMENT = 24 /* that is taken by itself rather than in a vector, at most */
};

static bool serial(const pairwise *c) { return c->w->f->order == FOLD_SERIAL; }

/* ---- The code of an element ---- */

/* Nodes of tree: to take an element and to combine it. */
static int step_nodes(const fold_writer *w) {
    return w->f->combine->nodes + (w->f->map && !w->s.v->reduction.from_states ? w->f->map->nodes : 0);
}

/* ---- Places ---- */

static ssa moved_position(fold_writer *w, const element_place *p, const operand_strides *by, ssa steps) {
    emit *e = w->s.e;
    if (!ssa_is_set(p->position) || !ssa_is_set(by->position))
        return p->position;
    return emit_op(e, "add i64", p->position, emit_op(e, "mul i64", steps, by->position));
}

element_place element_place_moved(fold_writer *w, const element_place *p, const operand_strides *by, ssa steps) {
    emit *e = w->s.e;
    element_place to = *p;
    for (int k = 0; k < w->s.noperands; k++) {
        if (!fold_reads(w, k) || !ssa_is_set(by->by[k]))
            continue;
        bool one = ssa_is(by->by[k], 1);
        to.at[k] = skeleton_address(&w->s, k, p->at[k], one ? steps : emit_op(e, "mul i64", steps, by->by[k]));
    }
    to.position = moved_position(w, p, by, steps);
    return to;
}

static ssa unknown_address(fold_writer *w, const element_place *p, int k) {
    const char *type = ir_memory_type(skeleton_memory(&w->s, k));
    return emit_value(w->s.e, "call %s* asm \"\", \"=r,0\"(%s* %s)", type, type, p->at[k].text);
}

element_place element_place_unknown(fold_writer *w, const element_place *p) {
    element_place copy = *p;
    for (int k = 0; k < w->s.noperands; k++)
        if (fold_reads(w, k))
            copy.at[k] = unknown_address(w, p, k);
    return copy;
}

static ssa scaled(emit *e, ssa by, ssa factor) {
    int64_t a, b;
    if (ssa_is_constant(by, &a) && ssa_is_constant(factor, &b))
        return ssa_constant(a * b);
    return !ssa_is(by, 1) ? emit_op(e, "mul i64", by, factor) : factor;
}

operand_strides strides_scaled(fold_writer *w, const operand_strides *by, ssa factor) {
    operand_strides to = *by;
    for (int k = 0; k < w->s.noperands; k++)
        if (ssa_is_set(by->by[k]))
            to.by[k] = scaled(w->s.e, by->by[k], factor);
    if (ssa_is_set(by->position))
        to.position = scaled(w->s.e, by->position, factor);
    return to;
}

/* ---- Loops over lanes ---- */

/* Is there a lane in every loop over them? In columns each is a result; of a row there may be no part that is no whole step. */
static bool has_lanes(const pairwise *c) { return c->w->s.v->reduction.columns; }

lane_loop lanes_begin(emit *e, ssa width, bool some) {
    lane_loop l = {.group = e->access_group};
    l.loop = (some ? counted_loop_begin_some : counted_loop_begin)(e, "i64", ssa_constant(0), width);
    e->access_group = emit_metadata(e, "distinct !{}");
    return l;
}

void lanes_end(emit *e, lane_loop *l, bool masked) {
    int n = 2,
        hints[6] = {emit_metadata(e, "!{!\"llvm.loop.parallel_accesses\", !%d}", e->access_group), loop_no_unroll(e)};
    if (masked)
        hints[n++] = emit_metadata(e, "!{!\"llvm.loop.vectorize.predicate.enable\", i1 true}");
    if (l->interleave)
        hints[n++] = emit_metadata(e, "!{!\"llvm.loop.interleave.count\", i32 %d}", l->interleave);
    if (l->scalar) {
        hints[1] = emit_metadata(e, "!{!\"llvm.loop.unroll.count\", i32 %d}", SCALAR_LANES);
        hints[n++] = loop_no_vectors(e);
    }
    if (l->vector) {
        hints[n++] = emit_metadata(e, "!{!\"llvm.loop.vectorize.enable\", i1 true}");
        hints[n++] = emit_metadata(e, "!{!\"llvm.loop.vectorize.width\", i32 %d}", l->vector);
    }
    e->access_group = l->group;
    counted_loop_end_hints(e, &l->loop, ssa_constant(1), hints, n);
}

/* ---- Arrays of accumulators ---- */

/* The addresses of lane 0, by value of the state. */
typedef struct lane_array {
    ssa at[PARTIAL_VALUES];
} lane_array;

/* The lanes from `lane` on. */
static lane_array lane_array_from(const pairwise *c, const lane_array *s, ssa lane) {
    emit *e = c->w->s.e;
    lane_array from;
    for (int k = 0; k < c->w->nstate; k++)
        from.at[k] = emit_element(e, c->stored[k], s->at[k], lane);
    return from;
}

static lane_array lane_array_of(const pairwise *c, ssa level) {
    lane_array s;
    memcpy(s.at, c->array, sizeof s.at);
    return !ssa_is(level, 0) ? lane_array_from(c, &s, emit_value(c->w->s.e, "mul i64 %s, %d", level.text, c->lanes))
                             : s;
}

static partial lane_array_get(const pairwise *c, const lane_array *s, ssa l) {
    fold_writer *w = c->w;
    emit *e = w->s.e;
    partial x = {.present = ssa_none()};
    for (int k = 0; k < w->nstate; k++)
        x.v[k] = emit_convert(e, emit_load(e, c->stored[k], emit_element(e, c->stored[k], s->at[k], l)), c->stored[k],
                              w->state[k]);
    if (c->sparse)
        x.present = emit_value(e, "icmp ne i64 %s, 0", x.v[w->f->nstate].text);
    return x;
}

static void lane_array_put(const pairwise *c, const lane_array *s, ssa l, const partial *x) {
    fold_writer *w = c->w;
    emit *e = w->s.e;
    for (int k = 0; k < w->nstate; k++)
        emit_store(e, c->stored[k], emit_convert(e, x->v[k], w->state[k], c->stored[k]),
                   emit_element(e, c->stored[k], s->at[k], l));
}

/* The addresses as parameters: "float* %a0, i64* %a1, ". */
static void lane_array_types(const pairwise *c, text *out, const char *name) {
    for (int k = 0; k < c->w->nstate; k++)
        text_printf(out, "%s* %%%s%d, ", ir_memory_type(c->stored[k]), name, k);
}

static lane_array lane_array_named(const pairwise *c, const char *name) {
    lane_array s;
    for (int k = 0; k < c->w->nstate; k++)
        s.at[k] = ssa_named("%%%s%d", name, k);
    return s;
}

static void lane_array_arguments(const pairwise *c, text *out, const lane_array *s) {
    for (int k = 0; k < c->w->nstate; k++)
        text_printf(out, "%s* %s, ", ir_memory_type(c->stored[k]), s->at[k].text);
}

static void join_lanes(const pairwise *c, const lane_array *a, const lane_array *b, ssa width) {
    lane_loop l = lanes_begin(c->w->s.e, width, true);
    if (pairwise_holds(c)) {
        l.vector = pairwise_vector(c);
        l.interleave = 1;
    }
    partial x = lane_array_get(c, a, l.loop.i), y = lane_array_get(c, b, l.loop.i), both = fold_join(c->w, &x, &y);
    lane_array_put(c, a, l.loop.i, &both);
    lanes_end(c->w->s.e, &l, c->masked);
}

/* Combining two arrays is a function, since several places call it, but for little code. */
static void write_join(const pairwise *c) {
    emit *e = c->w->s.e;
    text parameters = {0};
    definition *s = arena_alloc(e->a, sizeof *s);
    lane_array_types(c, &parameters, "a");
    lane_array_types(c, &parameters, "b");
    e->failed |= parameters.failed;
    bool fresh = emit_define(
        e, s, "define internal void @join(%si64 %%width%s) nounwind noinline \"prefer-vector-width\"=\"%d\"",
        parameters.failed ? "" : parameters.data, report_shared_parameters(e), e->target->vector_bits);
    text_free(&parameters);
    if (!fresh)
        return;
    e->writing[0] = &s->body;
    lane_array a = lane_array_named(c, "a"), b = lane_array_named(c, "b");
    join_lanes(c, &a, &b, pairwise_holds(c) ? ssa_constant(c->lanes) : ssa_named("%%width"));
    emit_line(e, "ret void");
    e->writing[0] = NULL;
    emit_define_end(e, s);
}

/* Combines the lanes of b into those of a: all of them where lanes are held, which are combined otherwise in the end. */
static void lane_array_join(const pairwise *c, const lane_array *a, const lane_array *b, ssa width) {
    emit *e = c->w->s.e;
    text arguments = {0};
    assert(!pairwise_holds(c) || ssa_is(width, c->lanes));
    if (pairwise_holds(c) && c->w->f->combine->nodes <= NODES_INLINE) {
        join_lanes(c, a, b, width);
        return;
    }
    write_join(c);
    lane_array_arguments(c, &arguments, a);
    lane_array_arguments(c, &arguments, b);
    e->failed |= arguments.failed;
    emit_line(e, "call void @join(%si64 %s%s)", arguments.failed ? "" : arguments.data, width.text,
              report_shared_parameters(e));
    text_free(&arguments);
}

/* ---- Steps ---- */

/* The position of lane l, in 32 bits where they suffice, so that vectors hold more. Where a step is a constant it is added as a constant,
 * so that LLVM can tell which of two positions is the smaller one. */
static ssa position_of(const pairwise *c, const element_place *p, int step, ssa l) {
    emit *e = c->w->s.e;
    ssa by = c->lane.position;
    int64_t next;
    if (c->w->s.v->wide || !ssa_is_set(p->position))
        return moved_position(c->w, p, &c->lane, l);
    ssa at = emit_value(e, "trunc i64 %s to i32", p->position.text);
    if (ssa_is_set(by)) {
        ssa lane = emit_value(e, "trunc i64 %s to i32", l.text);
        if (!ssa_is(by, 1))
            lane = emit_op(e, "mul i32", lane, emit_value(e, "trunc i64 %s to i32", by.text));
        at = emit_op(e, "add nsw i32", at, lane);
    }
    if (ssa_is_constant(c->step.position, &next))
        at = emit_op(e, "add nsw i32", at, ssa_constant(step * next));
    return emit_value(e, "sext i32 %s to i64", at.text);
}

/* The element of lane l in step `step`. moved: the place of that step (step_place). */
static partial element(const pairwise *c, const element_place *moved, int step, ssa l) {
    fold_writer *w = c->w;
    int64_t by;
    ssa in[VARIANT_OPERANDS];
    element_place p = element_place_moved(w, moved, &c->lane, l);
    for (int k = 0; k < w->s.noperands; k++) {
        if (!fold_reads(w, k))
            continue;
        if (ssa_is_constant(c->step.by[k], &by))
            p.at[k] = skeleton_address(&w->s, k, p.at[k], ssa_constant(step * by));
    }
    fold_load(w, p.at, in);
    return fold_element(w, in, position_of(c, moved, step, l));
}

partial pairwise_element(const pairwise *c, const element_place *p, ssa l) { return element(c, p, 0, l); }

/* The place of a step, where operands with constant strides are not moved: `element` does that. LLVM is not to know how far the others are
 * apart: each way to write an address by another takes it time (sums of columns: a quarter of the time to generate code). */
static element_place step_place(const pairwise *c, const element_place *p, int step) {
    fold_writer *w = c->w;
    operand_strides rest = c->step;
    int64_t constant;
    for (int k = 0; k < w->s.noperands; k++)
        if (ssa_is_constant(rest.by[k], &constant))
            rest.by[k] = ssa_none();
    if (!w->s.v->wide && ssa_is_constant(rest.position, &constant))
        rest.position = ssa_none();
    if (!step)
        return *p;
    element_place place = element_place_moved(w, p, &rest, ssa_constant(step));
    for (int k = 0; k < w->s.noperands; k++)
        if (fold_reads(w, k) && ssa_is_set(rest.by[k]))
            place.at[k] = unknown_address(w, &place, k);
    return place;
}

/* One of two partials, chosen in the types of the arrays, so that positions stay narrow. */
static partial choose(const pairwise *c, ssa condition, const partial *yes, const partial *no) {
    fold_writer *w = c->w;
    emit *e = w->s.e;
    partial x = {.present = ssa_none()};
    for (int k = 0; k < w->nstate; k++) {
        dtype from = w->state[k], to = c->stored[k];
        x.v[k] =
            emit_select(e, to, condition, emit_convert(e, yes->v[k], from, to), emit_convert(e, no->v[k], from, to));
        x.v[k] = emit_convert(e, x.v[k], to, from);
    }
    if (ssa_is_set(yes->present) || ssa_is_set(no->present))
        x.present = emit_select_as(e, "i1", condition, ssa_or_true(yes->present), ssa_or_true(no->present));
    return x;
}

/* Combines x behind what lanes hold (old), or, if they are empty (i1), gives x. Where no value is neutral the code combines even then, but x
 * with itself: with uninitialised memory combining might not end. */
static partial joined(const pairwise *c, ssa empty, const partial *old, const partial *x) {
    int64_t is_empty;
    if (ssa_is_set(c->neutral))
        return ssa_is_constant(empty, &is_empty) && is_empty ? *x : fold_join(c->w, old, x);
    partial before = choose(c, empty, x, old), both = fold_join(c->w, &before, x);
    return choose(c, empty, x, &both);
}

/* `take` (below) for counts. Vectors of accumulators, which have 64 bits, would be vectors of as few elements; so the elements are counted in fewer
 * bits first. */
static void take_counted(const pairwise *c, const lane_array *into, const element_place *p, int count, ssa width,
                         ssa empty) {
    fold_writer *w = c->w;
    emit *e = w->s.e;
    element_place *at = arena_alloc(e->a, (size_t)count * sizeof *at);
    const char *t = ir_value_type(c->few);
    for (int j = 0; j < count; j++)
        at[j] = step_place(c, p, j);
    lane_loop l = lanes_begin(e, width, has_lanes(c));
    ssa sum = ssa_none();
    for (int j = 0; j < count; j++) {
        ssa one = emit_convert(e, element(c, &at[j], j, l.loop.i).v[0], w->state[0], c->few);
        sum = j ? emit_value(e, "add %s %s, %s", t, sum.text, one.text) : one;
    }
    emit_store(e, c->few, sum, emit_element(e, c->few, c->few_array, l.loop.i));
    lanes_end(e, &l, c->masked);
    l = lanes_begin(e, width, has_lanes(c));
    ssa few = emit_load(e, c->few, emit_element(e, c->few, c->few_array, l.loop.i));
    partial all = {.v = {emit_convert(e, few, c->few, w->state[0])}, .present = ssa_none()};
    partial old = lane_array_get(c, into, l.loop.i), both = joined(c, empty, &old, &all);
    lane_array_put(c, into, l.loop.i, &both);
    lanes_end(e, &l, c->masked);
}

/* How many vectors a loop over the lanes of one vector of 64 bytes takes at once, so that it is no loop; 0: LLVM decides, since there are
 * more lanes, or each takes much code. Of complex numbers the parts are a vector each, of half as many bytes. */
static int vectors_at_once(const pairwise *c, ssa width, int count) {
    int64_t lanes;
    int bits = c->w->s.e->target->vector_bits, bytes = dtype_is_complex(c->stored[0]) ? NEAR_BYTES / 2 : NEAR_BYTES;
    bool few = ssa_is_constant(width, &lanes) && lanes <= LANES_MOST && count * step_nodes(c->w) <= NODES_AT_ONCE;
    return few && bits < 8 * NEAR_BYTES ? 8 * bytes / bits : 0;
}

/* Takes `count` steps from p on into an array: combined behind what it holds, or, if it is empty (i1), in place of that. */
static void take_lanes(const pairwise *c, const lane_array *into, const element_place *p, int count, ssa width,
                       ssa empty) {
    fold_writer *w = c->w;
    emit *e = w->s.e;
    if (count > 1 && c->few != DT_NONE) {
        take_counted(c, into, p, count, width, empty);
        return;
    }
    element_place *at = arena_alloc(e->a, (size_t)count * sizeof *at);
    partial *x = arena_alloc(e->a, (size_t)count * sizeof *x);
    for (int j = 0; j < count; j++)
        at[j] = step_place(c, p, j);
    lane_loop l = lanes_begin(e, width, has_lanes(c));
    l.scalar = c->apart;
    l.interleave = c->held ? 1 : vectors_at_once(c, width, count);
    l.vector = c->held ? c->lanes : 0;
    for (int j = 0; j < count; j++)
        x[j] = element(c, &at[j], j, l.loop.i);
    partial all = fold_tree(w, x, count), old = lane_array_get(c, into, l.loop.i);
    partial after = joined(c, empty, &old, &all);
    lane_array_put(c, into, l.loop.i, &after);
    lanes_end(e, &l, c->masked);
}

/* So many lanes have elements side by side in a vector of 64 bytes, whichever operand that is. */
static int lanes_near(const pairwise *c) {
    const skeleton *s = &c->w->s;
    int lanes = pairwise_vector(c);
    for (int k = 0; k < s->noperands; k++)
        if (fold_reads(c->w, k) && NEAR_BYTES / dtypes[skeleton_memory(s, k)].size > lanes)
            lanes = NEAR_BYTES / dtypes[skeleton_memory(s, k)].size;
    return lanes;
}

/* As many lanes have elements side by side in a vector of 64 bytes, and accumulators in two. */
static int held_vector(const pairwise *c) {
    int lanes = lanes_near(c), bytes = 0;
    for (int k = 0; k < c->w->nstate; k++)
        bytes = dtypes[c->stored[k]].size > bytes ? dtypes[c->stored[k]].size : bytes;
    while (lanes * bytes > 2 * NEAR_BYTES)
        lanes /= 2;
    return lanes;
}

/* Takes `count` steps from p on, as take_lanes does, but in the order of memory where the steps follow each other: some lanes take
 * their elements from a piece that is a vector long for each step, and the next lanes from the next piece. Memory is read
 * several times faster so than by steps that are far apart. Of elements that are apart each lane takes neighbouring ones. */
static void take(const pairwise *c, const lane_array *into, const element_place *p, int count, ssa width, ssa empty) {
    emit *e = c->w->s.e;
    int near = c->apart ? 1 : lanes_near(c);
    if (!(c->dense || c->apart) || count == 1 || near >= c->lanes) {
        take_lanes(c, into, p, count, width, empty);
        return;
    }
    pairwise piece = *c;
    piece.step = strides_scaled(c->w, &c->lane, ssa_constant(near));
    if (pairwise_holds(c)) {
        piece.held = true; /* so many lanes by a vector */
        piece.lanes = held_vector(c);
    }
    counted_loop l = counted_loop_begin(e, "i64", ssa_constant(0), width);
    element_place from = element_place_moved(c->w, p, &c->lane, emit_value(e, "mul i64 %s, %d", l.i.text, count));
    lane_array some = lane_array_from(c, into, l.i);
    take_lanes(&piece, &some, &from, count, ssa_constant(near), empty);
    int hints[] = {loop_no_unroll(e), c->apart ? loop_no_vectors(e) : 0};
    counted_loop_end_hints(e, &l, ssa_constant(near), hints, c->apart ? 2 : 1);
}

/* Makes the first lanes of an array empty, if there is a value for that. */
static void make_neutral(const pairwise *c, ssa level, ssa width) {
    emit *e = c->w->s.e;
    lane_array array = lane_array_of(c, level);
    partial x = {.v = {c->neutral}, .present = ssa_none()};
    int64_t lanes;
    if (!ssa_is_set(c->neutral))
        return;
    if (ssa_is_constant(width, &lanes) && !dtype_is_complex(c->stored[0])) {
        dtype type = c->stored[0] == DT_BOOL ? DT_UINT8 : c->stored[0]; /* as it is in memory */
        ssa value = emit_convert(e, c->neutral, c->w->state[0], type);
        emit_fill(e, ir_memory_type(type), value, array.at[0], (int)lanes, dtypes[type].align);
        return;
    }
    lane_loop l = lanes_begin(e, width, true);
    lane_array_put(c, &array, l.loop.i, &x);
    lanes_end(e, &l, false);
}

/* Takes steps from *at on, `count` at a time as long as there are that many, and moves *at behind them. */
static void take_plain(pairwise *c, const element_place *p, ssa *at, ssa steps, int count, ssa width) {
    emit *e = c->w->s.e;
    lane_array bottom = lane_array_of(c, ssa_constant(0));
    ssa left = emit_op(e, "sub i64", steps, *at);
    ssa whole = count > 1 ? emit_value(e, "and i64 %s, %d", left.text, -count) : left;
    ssa end = emit_op(e, "add i64", *at, whole);
    counted_loop l = counted_loop_begin(e, "i64", *at, end);
    element_place from = element_place_moved(c->w, p, &c->step, l.i);
    take(c, &bottom, &from, count, width, emit_value(e, "icmp eq i64 %s, 0", l.i.text));
    counted_loop_end(e, &l, ssa_constant(count), loop_no_unroll(e));
    *at = end;
}

void pairwise_plain(pairwise *c, const element_place *p, ssa steps, int lanes) {
    ssa width = ssa_constant(lanes), at = ssa_constant(0);
    if (!c->held)
        make_neutral(c, ssa_constant(0), width);
    if (c->group > 1)
        take_plain(c, p, &at, steps, c->group, width);
    take_plain(c, p, &at, steps, 1, width);
}

void pairwise_part(pairwise *c, const element_place *p, ssa width, bool empty) {
    lane_array bottom = lane_array_of(c, ssa_constant(0));
    take(c, &bottom, p, 1, width, ssa_constant(empty));
}

partial pairwise_lane(pairwise *c, ssa l) {
    lane_array bottom = lane_array_of(c, ssa_constant(0));
    return lane_array_get(c, &bottom, l);
}

void pairwise_put(pairwise *c, ssa l, const partial *x) {
    lane_array bottom = lane_array_of(c, ssa_constant(0));
    lane_array_put(c, &bottom, l, x);
}

/* Combines n partials into the first one, as pairwise_halve does. */
static void halve(const pairwise *c, partial *x, int n) {
    for (int half = LANES_MOST / 2; half > 0; half /= 2)
        for (int i = 0; i < half && i + half < n; i++)
            x[i] = fold_join(c->w, &x[i], &x[half + i]);
}

void pairwise_halve_all(pairwise *c, int lanes) {
    partial x[LANES_MOST];
    assert(lanes <= LANES_MOST);
    for (int i = 0; i < lanes; i++)
        x[i] = pairwise_lane(c, ssa_constant(i));
    halve(c, x, lanes);
    pairwise_put(c, ssa_constant(0), &x[0]);
}

/* How many elements are combined without a loop, at most. 0: that takes too much code. */
static int few_elements(const pairwise *c) {
    int few = FEW;
    while (few > 1 && few * few / 2 * step_nodes(c->w) > NODES)
        few /= 2;
    return few > 1 && !fold_has_loops(c->w->f) && !c->sparse ? few : 0;
}

static void take_few(pairwise *c, const element_place *p, int m) {
    partial x[FEW];
    for (int i = 0; i < m; i++)
        x[i] = element(c, p, 0, ssa_constant(i));
    halve(c, x, m);
    pairwise_put(c, ssa_constant(0), &x[0]);
}

void pairwise_few(pairwise *c, const element_place *p, ssa m, int end) {
    emit *e = c->w->s.e;
    int few = few_elements(c), more = emit_label_new(e), first[FEW];
    text cases = {0};
    for (int i = 0; i < few; i++) {
        first[i] = emit_label_new(e);
        text_printf(&cases, " i64 %d, label %%L%d", i + 1, first[i]);
    }
    e->failed |= cases.failed;
    emit_line(e, "switch i64 %s, label %%L%d [%s ]", m.text, more, few && !cases.failed ? cases.data : "");
    text_free(&cases);
    for (int i = 0; i < few; i++) {
        emit_label(e, first[i]);
        take_few(c, p, i + 1);
        emit_branch(e, end);
    }
    emit_label(e, more);
}

void pairwise_halve(pairwise *c, ssa first, ssa width) {
    emit *e = c->w->s.e;
    lane_array lowest = lane_array_of(c, ssa_constant(0)), bottom = lane_array_from(c, &lowest, first);
    emit_line(e, "store i64 %s, i64* %s", width.text, c->left.text);
    int head = emit_label_new(e), on = emit_label_new(e), end = emit_label_new(e);
    emit_branch(e, head);
    emit_label(e, head);
    ssa now = emit_value(e, "load i64, i64* %s", c->left.text);
    emit_branch_if(e, emit_value(e, "icmp sgt i64 %s, 1", now.text), on, end);
    emit_label(e, on);
    emit_declare(e, "declare i64 @llvm.ctlz.i64(i64, i1)");
    ssa last = emit_value(e, "sub i64 %s, 1", now.text);
    ssa zeros = emit_value(e, "call i64 @llvm.ctlz.i64(i64 %s, i1 true)", last.text);
    ssa half = emit_value(e, "lshr i64 %s, %s", "-9223372036854775808", zeros.text);
    lane_array upper = lane_array_from(c, &bottom, half);
    lane_array_join(c, &bottom, &upper, emit_op(e, "sub i64", now, half));
    emit_line(e, "store i64 %s, i64* %s", half.text, c->left.text);
    emit_branch(e, head);
    emit_label(e, end);
}

/* ---- Elements that are apart ---- */

bool pairwise_has_gaps(const pairwise *c, bool halves) {
    fold_writer *w = c->w;
    bool gaps = false;
    for (int k = 0; k < w->s.noperands; k++) {
        bool follows = variant_follows(w->s.v, k);
        dtype type = skeleton_memory(&w->s, k);
        if (!follows && (!fold_reads(w, k) || !ssa_is_set(c->lane.by[k])))
            continue;
        if (dtypes[type].size < 4 || dtype_is_complex(type))
            return false;
        if (follows) /* as far apart as the one that leads it */
            continue;
        bool half = ssa_is(c->lane.by[k], 2) && dtypes[type].size == 4 && dtypes[c->stored[0]].size == 4;
        gaps |= !ssa_is(c->lane.by[k], 1) && (halves || !half);
    }
    return gaps;
}

bool pairwise_is_simple(const pairwise *c) {
    const fold_writer *w = c->w;
    const variant *v = w->s.v;
    bool simple = c->lanes > 1 && v->reduction.reduced == 1 && !v->masked && !c->sparse && c->few == DT_NONE;
    return simple && step_nodes(w) <= NODES_OF_ELEMENT && !fold_has_loops(w->f) && !tree_has_math(w->f->combine) &&
           !(w->f->map && tree_has_math(w->f->map));
}

bool pairwise_by_element(const pairwise *c) { return pairwise_is_simple(c) && pairwise_has_gaps(c, false); }

/* ---- One vector in registers ---- */

typedef struct math_search {
    const emit *e;
    bool found;
} math_search;

static void find_scalar(const node *n, void *user) {
    math_search *s = user;
    s->found |= n->kind == N_MATH && !emit_math_has_vectors(s->e, n->math, (dtype)n->wide);
}

/* Does a tree, if there is one, call functions that take one number at a time? In vectors they would be called for lanes without an
 * element, too. */
static bool has_scalar_math(const fold_writer *w, const tree *t) {
    math_search s = {.e = w->s.e};
    for (const function *f = t ? t->functions : NULL; f; f = f->next)
        node_each(f->body, find_scalar, &s);
    return s.found;
}

static bool scalar_math(const fold_writer *w) {
    return has_scalar_math(w, w->f->combine) || has_scalar_math(w, w->f->map);
}

bool pairwise_takes_masked(const pairwise *c) {
    const fold_writer *w = c->w;
    const variant *v = w->s.v;
    int bits = w->s.e->target->vector_bits, most = scalar_math(w) ? NODES_AT_ONCE : NODES;
    bool plain = c->lanes > 1 && !v->reduction.columns && !v->cpu_fold.merged && v->reduction.reduced == 1 &&
                 !v->masked && !v->reports && !c->sparse && c->few == DT_NONE && !fold_has_loops(w->f);
    if (!plain || bits < 256 || c->group * step_nodes(w) > most)
        return false;
    for (int k = 0; k < w->s.noperands; k++) {
        dtype type = skeleton_memory(&w->s, k);
        bool taken = !dtype_is_complex(type) && !dtype_is_half(type) && (bits == 512 || dtypes[type].size >= 4);
        if (fold_reads(w, k) && (!taken || v->operand[k].kind != OPERAND_CONTIGUOUS))
            return false;
    }
    return true;
}

/* Do registers hold the lanes beside what is computed of an element? */
static bool can_hold(const pairwise *c) {
    const fold_writer *w = c->w;
    int bits = w->s.e->target->vector_bits, vectors = bits ? w->nstate * 512 / bits : 0;
    int most = vectors <= HELD_VECTORS ? NODES : NODES_AT_ONCE;
    if (!pairwise_takes_masked(c) || c->group * step_nodes(w) > most || c->lanes > LANES_MOST * pairwise_vector(c))
        return false;
    for (int k = 0; k < w->nstate; k++)
        if (dtype_is_complex(c->stored[k]) || dtype_is_half(c->stored[k]))
            return false;
    return true;
}

static void held_begin(pairwise *c) {
    emit *e = c->w->s.e;
    if (!can_hold(c))
        return;
    for (int k = 0; k < c->w->nstate; k++)
        c->held_array[k] = emit_array(e, c->stored[k], pairwise_vector(c));
    e->module->outer_vectors = true; /* the passes that remove loops of one iteration, and then arrays */
}

bool pairwise_holds(const pairwise *c) { return ssa_is_set(c->held_array[0]); }

pairwise pairwise_held(const pairwise *c) {
    pairwise held = *c;
    memcpy(held.array, c->held_array, sizeof held.array);
    held.lanes = pairwise_vector(c);
    held.held = true;
    return held;
}

/* Is lane l + more below n (i64, which fits 32 bits)? */
static ssa is_below(emit *e, ssa l, int more, ssa n) {
    ssa lane = emit_value(e, "trunc i64 %s to i32", l.text), limit = emit_value(e, "trunc i64 %s to i32", n.text);
    return emit_op(e, "icmp slt i32", more ? emit_value(e, "add i32 %s, %d", lane.text, more) : lane, limit);
}

static lane_loop held_lanes_begin(const pairwise *c, int lanes) {
    lane_loop l = lanes_begin(c->w->s.e, ssa_constant(lanes), true);
    l.interleave = 1;
    l.vector = lanes;
    return l;
}

void pairwise_held_clear(pairwise *c) {
    lane_array bottom = lane_array_of(c, ssa_constant(0));
    if (ssa_is_set(c->neutral)) {
        make_neutral(c, ssa_constant(0), ssa_constant(c->lanes));
        return;
    }
    for (int k = 0; k < c->w->nstate; k++)
        emit_fill(c->w->s.e, ir_memory_type(c->stored[k]), ssa_literal("zeroinitializer"), bottom.at[k], c->lanes,
                  dtypes[c->stored[k]].align);
}

/* The element of lane l at p; where there is none (i1), that of operands which are 0. */
static partial element_if(const pairwise *c, const element_place *p, ssa l, ssa there) {
    fold_writer *w = c->w;
    emit *e = w->s.e;
    ssa in[VARIANT_OPERANDS], loaded[VARIANT_OPERANDS];
    element_place at = element_place_moved(w, p, &c->lane, l);
    int before = emit_label_new(e), load = emit_label_new(e), after = emit_label_new(e);
    emit_branch(e, before);
    emit_label(e, before);
    emit_branch_if(e, there, load, after);
    emit_label(e, load);
    fold_load(w, at.at, loaded);
    emit_branch(e, after);
    emit_label(e, after);
    for (int k = 0; k < w->s.noperands; k++)
        if (fold_reads(w, k) || variant_follows(w->s.v, k))
            in[k] = emit_value(e, "phi %s [ zeroinitializer, %%L%d ], [ %s, %%L%d ]",
                               ir_value_type(skeleton_memory(&w->s, k)), before, loaded[k].text, load);
    return fold_element(w, in, position_of(c, p, 0, l));
}

partial pairwise_element_below(const pairwise *c, const element_place *p, ssa l, ssa n, ssa *there) {
    *there = is_below(c->w->s.e, l, 0, n);
    return element_if(c, p, l, *there);
}

int pairwise_masked_lanes(const pairwise *c) {
    const fold_writer *w = c->w;
    int widest = 1;
    for (int k = 0; k < w->s.noperands; k++)
        if (fold_reads(w, k) && dtypes[skeleton_memory(&w->s, k)].size > widest)
            widest = dtypes[skeleton_memory(&w->s, k)].size;
    return w->s.e->target->vector_bits / 8 / widest;
}

/* One more step, of the first `width` of c->lanes lanes. */
static void take_held_part(const pairwise *c, const lane_array *into, const element_place *p, ssa width, ssa empty) {
    emit *e = c->w->s.e;
    lane_loop l = held_lanes_begin(c, c->lanes);
    ssa there = is_below(e, l.loop.i, 0, width);
    partial x = element_if(c, p, l.loop.i, there), old = lane_array_get(c, into, l.loop.i);
    partial after = joined(c, empty, &old, &x), now = choose(c, there, &after, &old);
    lane_array_put(c, into, l.loop.i, &now);
    lanes_end(e, &l, false);
}

void pairwise_held_part(pairwise *c, const element_place *p, ssa width, ssa empty) {
    lane_array bottom = lane_array_of(c, ssa_constant(0));
    take_held_part(c, &bottom, p, width, empty);
}

/* Combines lanes half .. 2 half - 1 into those before them, where they have one of the m elements. Math has forms for half of all lanes, but not
 * for fewer, which would be taken one by one. */
static void held_join(pairwise *c, int half, ssa m) {
    emit *e = c->w->s.e;
    int least = tree_has_math(c->w->f->combine) ? c->lanes / 2 : HELD_LANES;
    lane_loop l = held_lanes_begin(c, half < least ? least : half);
    lane_array bottom = lane_array_of(c, ssa_constant(0)), upper = lane_array_from(c, &bottom, ssa_constant(half));
    partial a = lane_array_get(c, &bottom, l.loop.i), b = lane_array_get(c, &upper, l.loop.i);
    partial both = fold_join(c->w, &a, &b);
    partial now = ssa_is_set(c->neutral) ? both : choose(c, is_below(e, l.loop.i, half, m), &both, &a);
    lane_array_put(c, &bottom, l.loop.i, &now);
    lanes_end(e, &l, false);
}

void pairwise_held_halve(pairwise *c, ssa m) {
    for (int half = c->lanes / 2; half > 0; half /= 2)
        held_join(c, half, m);
}

void pairwise_held_gather(const pairwise *c, pairwise *held) {
    partial x[LANES_MOST];
    int n = c->lanes / held->lanes;
    lane_array from = lane_array_of(c, ssa_constant(0)), to = lane_array_of(held, ssa_constant(0));
    assert(n <= LANES_MOST);
    lane_loop l = held_lanes_begin(c, held->lanes);
    for (int i = 0; i < n; i++) {
        lane_array part = lane_array_from(c, &from, ssa_constant(i * held->lanes));
        x[i] = lane_array_get(c, &part, l.loop.i);
    }
    halve(c, x, n);
    lane_array_put(held, &to, l.loop.i, &x[0]);
    lanes_end(c->w->s.e, &l, false);
}

/* ---- The stack ---- */

static ssa get(const pairwise *c, ssa variable) { return emit_value(c->w->s.e, "load i64, i64* %s", variable.text); }

static void set(const pairwise *c, ssa variable, ssa value) {
    emit_line(c->w->s.e, "store i64 %s, i64* %s", value.text, variable.text);
}

static int group_size(const fold_writer *w) {
    int size = 8;
    while (size > 1 && size * step_nodes(w) > NODES)
        size /= 2;
    return w->f->order == FOLD_SERIAL || fold_has_loops(w->f) ? 1 : size;
}

/* Sets what the arrays hold; returns how many lanes fit into `bytes`. */
static int lanes_of(pairwise *c, int bytes) {
    fold_writer *w = c->w;
    int state = 0, lanes = LANES_MIN;
    for (int k = 0; k < w->nstate; k++) {
        c->stored[k] = !w->s.v->wide && fold_is_position(w, k) ? DT_INT32 : w->state[k];
        state += dtypes[c->stored[k]].size;
    }
    while (2 * lanes * state <= bytes)
        lanes *= 2;
    return bytes ? lanes : 1;
}

int pairwise_vector(const pairwise *c) {
    int widest = 4;
    for (int k = 0; k < c->w->nstate; k++)
        widest = dtypes[c->stored[k]].size > widest ? dtypes[c->stored[k]].size : widest;
    return widest > 8 ? LANES_MIN : 64 / widest;
}

int pairwise_short(const pairwise *c) {
    int most = pairwise_vector(c) * (c->group > 1 ? SHORT_STEPS : SHORT_SINGLES);
    return most < c->lanes ? c->lanes : most;
}

int pairwise_short_rows(const fold *f) {
    static const variant plain;
    fold_writer w = {.s = {.v = &plain}, .f = f, .nstate = f->nstate};
    memcpy(w.state, f->state, sizeof f->state);
    pairwise c = {.w = &w, .group = group_size(&w)};
    c.lanes = lanes_of(&c, PAIRWISE_ROW_BYTES);
    return pairwise_short(&c);
}

/* Do accumulators start with the beginning? Where each lane is a result that costs nothing, since code that combines the first elements is
 * there in any case. Not where a count of 0 says that a lane is empty, nor where positions are narrow. */
static bool begins_lanes(const pairwise *c) {
    const fold_writer *w = c->w;
    bool narrow = false;
    for (int k = 0; k < w->nstate; k++)
        narrow |= c->stored[k] != w->state[k];
    return fold_begins(w) && (serial(c) || (w->s.v->reduction.columns && !c->sparse && !narrow));
}

/* Counts of elements of at most 32 bits, in rows. */
static void count_narrowly(pairwise *c) {
    const fold_writer *w = c->w;
    int size = dtypes[w->s.v->operand[0].memory].size;
    c->few = DT_NONE;
    if (c->group == 1 || w->s.v->reduction.columns || w->s.nin != 1 || size > 4 || !fold_counts(w))
        return;
    c->few = size == 1 ? DT_UINT8 : size == 2 ? DT_UINT16 : DT_UINT32;
    c->few_array = emit_array(w->s.e, c->few, c->lanes);
    c->group = size == 1 ? COUNTED_STEPS : c->group;
}

/* Of rows: in columns combining the first elements costs nothing, or they start with the beginning. */
static ssa neutral_of(const pairwise *c) {
    const fold_writer *w = c->w;
    const variant *v = w->s.v;
    number n;
    bool rows = c->lanes > 1 && !v->reduction.columns && !v->cpu_fold.merged && w->nstate == 1;
    return rows && fold_neutral_or_last(w->f, &n) ? emit_constant(n, w->state[0]) : ssa_none();
}

void pairwise_begin(pairwise *c, fold_writer *w, int bytes) {
    emit *e = w->s.e;
    const variant *v = w->s.v;
    *c = (pairwise){.w = w, .group = group_size(w)};
    c->masked = v->reduction.columns && e->target->vector_bits == 512;
    c->lanes = lanes_of(c, bytes);
    assert((c->group & (c->group - 1)) == 0); /* steps are rounded down to groups by a mask */
    c->sparse = v->reduction.sparse && v->reduction.counted && !serial(c);
    c->neutral = neutral_of(c);
    w->begun = begins_lanes(c);
    for (int k = 0; k < w->nstate; k++)
        c->array[k] = emit_array(e, c->stored[k], LEVELS * c->lanes);
    count_narrowly(c);
    held_begin(c);
    ssa *variables[] = {&c->level, &c->fill, &c->blocks, &c->done, &c->left};
    for (size_t i = 0; i < COUNT(variables); i++)
        *variables[i] = emit_value(e, "alloca i64");
    if (absorbing_anywhere((absorbing_value)v->cpu_fold.absorbing)) {
        c->absorbed = emit_value(e, "alloca i8");
        c->decided = emit_value(e, "alloca i1");
    }
}

void pairwise_clear(pairwise *c, ssa width) {
    emit *e = c->w->s.e;
    bool begun = c->w->begun;
    set(c, c->level, ssa_constant(0));
    set(c, c->blocks, ssa_constant(0));
    set(c, c->fill, ssa_constant(begun));
    if (ssa_is_set(c->absorbed))
        emit_line(e, "store i8 0, i8* %s", c->absorbed.text);
    make_neutral(c, ssa_constant(0), width);
    if (!begun)
        return;
    lane_array bottom = lane_array_of(c, ssa_constant(0));
    partial begin = fold_beginning(c->w);
    lane_loop l = lanes_begin(e, width, has_lanes(c));
    lane_array_put(c, &bottom, l.loop.i, &begin);
    lanes_end(e, &l, false);
}

/* Combines the array on top of the stack into the one below it. */
static void pop(pairwise *c, ssa width) {
    emit *e = c->w->s.e;
    ssa top = get(c, c->level), under = emit_value(e, "sub i64 %s, 1", top.text);
    lane_array a = lane_array_of(c, under), b = lane_array_of(c, top);
    lane_array_join(c, &a, &b, width);
    set(c, c->level, under);
}

/* Is the full block to be combined with the one below it (i1)? left (i64): the bits of the block's number that are not dealt with, the
 * next one lowest. A stack without room is combined as well. */
static ssa carries(pairwise *c, ssa left) {
    emit *e = c->w->s.e;
    ssa level = get(c, c->level), odd = emit_value(e, "trunc i64 %s to i1", left.text);
    ssa some = emit_value(e, "icmp sgt i64 %s, 0", level.text);
    ssa full = emit_value(e, "icmp eq i64 %s, %d", level.text, LEVELS - 1);
    return emit_op(e, "or i1", emit_op(e, "and i1", odd, some), full);
}

/* Deals with a full block: combines as often as its number ends in ones, and begins the next block. */
static void push(pairwise *c, ssa width) {
    emit *e = c->w->s.e;
    int head = emit_label_new(e), on = emit_label_new(e), end = emit_label_new(e), before = emit_label_new(e);
    ssa full = get(c, c->blocks);
    emit_branch(e, before);
    emit_label(e, before);
    emit_branch(e, head);
    emit_label(e, head);
    ssa left = ssa_named("%%ones%d", head), next = ssa_named("%%left%d", head);
    emit_line(e, "%s = phi i64 [ %s, %%L%d ], [ %s, %%L%d ]", left.text, full.text, before, next.text, on);
    int join = emit_label_new(e);
    emit_branch_if(e, carries(c, left), join, end);
    emit_label(e, join);
    pop(c, width);
    emit_branch(e, on);
    emit_label(e, on);
    emit_line(e, "%s = lshr i64 %s, 1", next.text, left.text);
    emit_branch(e, head);
    emit_label(e, end);
    set(c, c->blocks, emit_value(e, "add i64 %s, 1", full.text));
    set(c, c->level, emit_value(e, "add i64 %s, 1", get(c, c->level).text));
    make_neutral(c, get(c, c->level), width);
    set(c, c->fill, ssa_constant(0));
}

/* A step of fewer lanes goes into the last block, and begins none. */
static void push_if_full(pairwise *c, ssa steps, ssa width) {
    emit *e = c->w->s.e;
    if (serial(c))
        return;
    ssa full = emit_value(e, "icmp sge i64 %s, %d", get(c, c->fill).text, BLOCK);
    ssa whole = emit_op(e, "icmp slt i64", get(c, c->done), steps);
    int end = skeleton_if(&c->w->s, emit_op(e, "and i1", full, whole));
    push(c, width);
    skeleton_end_if(&c->w->s, end);
}

static void add_to(pairwise *c, ssa variable, ssa by) {
    set(c, variable, emit_op(c->w->s.e, "add i64", get(c, variable), by));
}

/* Takes `groups` groups into the array on top. */
static void take_groups(pairwise *c, const element_place *p, ssa groups, ssa width) {
    emit *e = c->w->s.e;
    lane_array top = lane_array_of(c, get(c, c->level));
    ssa fill = get(c, c->fill), at = get(c, c->done);
    ssa end = emit_op(e, "add i64", at, emit_value(e, "mul i64 %s, %d", groups.text, c->group));
    counted_loop l = counted_loop_begin(e, "i64", at, end);
    element_place from = element_place_moved(c->w, p, &c->step, l.i);
    from = pairwise_holds(c) ? element_place_unknown(c->w, &from) : from;
    ssa unfilled = emit_value(e, "icmp eq i64 %s, 0", fill.text), begins = emit_op(e, "icmp eq i64", l.i, at);
    take(c, &top, &from, c->group, width, emit_op(e, "and i1", unfilled, begins));
    counted_loop_end(e, &l, ssa_constant(c->group), loop_no_unroll(e));
    add_to(c, c->fill, groups);
    set(c, c->done, end);
}

/* Takes one step: of `part` lanes if it comes behind all whole ones. */
static void take_one(pairwise *c, const element_place *p, ssa steps, ssa width, ssa part) {
    emit *e = c->w->s.e;
    lane_array top = lane_array_of(c, get(c, c->level));
    ssa at = get(c, c->done), whole = emit_op(e, "icmp slt i64", at, steps);
    element_place from = element_place_moved(c->w, p, &c->step, at);
    ssa empty = emit_value(e, "icmp eq i64 %s, 0", get(c, c->fill).text);
    take(c, &top, &from, 1, emit_select_as(e, "i64", whole, width, part), empty);
    add_to(c, c->fill, ssa_constant(1));
    add_to(c, c->done, ssa_constant(1));
}

/* Takes `steps` steps (i64) from p on, and one more of the first `whole` lanes (i64, whole vectors). Each vector of lanes takes all of its own
 * one after the other, so that its accumulators are in registers. */
static void take_held_steps(const pairwise *held, const lane_array *top, const element_place *p, ssa steps, ssa whole,
                            int lanes, ssa empty) {
    fold_writer *w = held->w;
    emit *e = w->s.e;
    counted_loop vectors = counted_loop_begin_some(e, "i64", ssa_constant(0), ssa_constant(lanes));
    lane_array some = lane_array_from(held, top, vectors.i);
    element_place first = element_place_moved(w, p, &held->lane, vectors.i);
    first = element_place_unknown(w, &first);
    ssa one = emit_value(e, "zext i1 %s to i64", emit_op(e, "icmp slt i64", vectors.i, whole).text);
    counted_loop l = counted_loop_begin(e, "i64", ssa_constant(0), emit_op(e, "add i64", steps, one));
    element_place from = element_place_moved(w, &first, &held->step, l.i);
    ssa begins = emit_op(e, "and i1", empty, emit_value(e, "icmp eq i64 %s, 0", l.i.text));
    take_lanes(held, &some, &from, 1, ssa_constant(held->lanes), begins);
    counted_loop_end(e, &l, ssa_constant(1), loop_no_unroll(e));
    counted_loop_end(e, &vectors, ssa_constant(held->lanes), loop_no_unroll(e));
}

/* Takes the steps behind the last whole group, as many as the block has room for, and behind the last of them the part of one: its whole
 * vectors as one more step, and the lanes that are left by one with a condition for each lane. That may be one step more than there is room
 * for, since nothing comes behind it: a result has one run. */
static void take_rest(pairwise *c, const element_place *p, ssa steps, ssa part) {
    fold_writer *w = c->w;
    emit *e = w->s.e;
    assert(w->s.v->reduction.reduced == 1);
    pairwise held = *c;
    held.lanes = held_vector(c);
    held.held = true;
    ssa at = get(c, c->done), left = emit_op(e, "sub i64", steps, at), fill = get(c, c->fill);
    ssa n = emit_min(e, left, emit_value(e, "sub i64 %d, %s", BLOCK, fill.text));
    ssa last = emit_op(e, "icmp eq i64", n, left), lanes = emit_select_as(e, "i64", last, part, ssa_constant(0));
    ssa whole = emit_value(e, "and i64 %s, %d", lanes.text, -held.lanes), few = emit_op(e, "sub i64", lanes, whole);
    lane_array top = lane_array_of(c, get(c, c->level));
    element_place from = element_place_moved(w, p, &c->step, at);
    int end = skeleton_if(&w->s, emit_value(e, "icmp ne i64 %s, 0", emit_op(e, "or i64", n, whole).text));
    take_held_steps(&held, &top, &from, n, whole, c->lanes, emit_value(e, "icmp eq i64 %s, 0", fill.text));
    skeleton_end_if(&w->s, end);
    end = skeleton_if(&w->s, emit_value(e, "icmp ne i64 %s, 0", few.text));
    lane_array rest = lane_array_from(&held, &top, whole);
    from = element_place_moved(w, &from, &c->step, n);
    from = element_place_moved(w, &from, &held.lane, whole);
    take_held_part(&held, &rest, &from, few, ssa_bool(false));
    skeleton_end_if(&w->s, end);
    ssa one = emit_value(e, "zext i1 %s to i64", emit_value(e, "icmp sgt i64 %s, 0", lanes.text).text);
    ssa taken = emit_op(e, "add i64", n, one);
    add_to(c, c->fill, taken);
    add_to(c, c->done, taken);
}

/* How many whole groups can be taken: as there are left, and as the block has room for. Then the absorbing value is looked for, first
 * behind one group and then behind about as many as were taken before: looking costs little in the whole. */
static ssa groups_now(pairwise *c, ssa steps) {
    emit *e = c->w->s.e;
    ssa done = get(c, c->done), left = emit_op(e, "sub i64", steps, done);
    ssa groups = emit_min(e, emit_value(e, "sdiv i64 %s, %d", left.text, c->group),
                          emit_value(e, "sub i64 %d, %s", BLOCK, get(c, c->fill).text));
    if (!ssa_is_set(c->absorbed))
        return groups;
    ssa before = emit_value(e, "udiv i64 %s, %d", done.text, c->group);
    return emit_min(e, groups, emit_value(e, "add i64 %s, 1", before.text));
}

/* Looks for the absorbing value in the array on top. */
static void look(pairwise *c, ssa width) {
    emit *e = c->w->s.e;
    lane_array top = lane_array_of(c, get(c, c->level));
    int other = c->w->s.v->cpu_fold.absorbing == ABSORBING_FALSE;
    lane_loop l = lanes_begin(e, width, has_lanes(c));
    ssa x = emit_load(e, DT_UINT8, emit_element(e, DT_BOOL, top.at[0], l.loop.i));
    ssa so_far = emit_value(e, "load i8, i8* %s", c->absorbed.text);
    ssa found = emit_op(e, "or i8", so_far, emit_value(e, "xor i8 %s, %d", x.text, other));
    emit_line(e, "store i8 %s, i8* %s", found.text, c->absorbed.text);
    lanes_end(e, &l, false);
}

/* Ends the run, by what has been done, if the absorbing value has been found. */
static void end_if_absorbed(pairwise *c, ssa all) {
    emit *e = c->w->s.e;
    ssa found = emit_value(e, "icmp ne i8 %s, 0", emit_value(e, "load i8, i8* %s", c->absorbed.text).text);
    set(c, c->done, emit_select_as(e, "i64", found, all, get(c, c->done)));
}

void pairwise_run(pairwise *c, const element_place *p, ssa steps, ssa width, ssa part) {
    emit *e = c->w->s.e;
    int head = emit_label_new(e), on = emit_label_new(e), end = emit_label_new(e);
    int many = emit_label_new(e), one = emit_label_new(e);
    ssa more = emit_value(e, "zext i1 %s to i64", emit_value(e, "icmp sgt i64 %s, 0", part.text).text);
    ssa all = emit_op(e, "add i64", steps, more);
    set(c, c->done, ssa_constant(0));
    if (ssa_is_set(c->absorbed))
        end_if_absorbed(c, all);
    emit_branch(e, head);
    emit_label(e, head);
    emit_branch_if(e, emit_op(e, "icmp slt i64", get(c, c->done), all), on, end);
    emit_label(e, on);
    push_if_full(c, steps, width);
    if (c->group > 1) {
        ssa groups = groups_now(c, steps);
        emit_branch_if(e, emit_value(e, "icmp sgt i64 %s, 0", groups.text), many, one);
        emit_label(e, many);
        take_groups(c, p, groups, width);
        if (ssa_is_set(c->absorbed)) {
            look(c, width);
            end_if_absorbed(c, all);
        }
        emit_branch(e, head);
        emit_label(e, one);
    }
    if (pairwise_holds(c))
        take_rest(c, p, steps, part);
    else
        take_one(c, p, steps, width, part);
    emit_branch(e, head);
    emit_label(e, end);
}

void pairwise_end(pairwise *c, ssa width) {
    emit *e = c->w->s.e;
    int head = emit_label_new(e), on = emit_label_new(e), end = emit_label_new(e);
    if (serial(c))
        return;
    emit_branch(e, head);
    emit_label(e, head);
    emit_branch_if(e, emit_value(e, "icmp sgt i64 %s, 0", get(c, c->level).text), on, end);
    emit_label(e, on);
    pop(c, width);
    emit_branch(e, head);
    emit_label(e, end);
}
