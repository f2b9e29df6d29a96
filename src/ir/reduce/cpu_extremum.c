/* cpu_extremum.c - the position of the first largest or smallest element on the CPU. A loop over elements and positions has to choose both
 * for each element. Here a block of elements is reduced to its extremes, one a lane, by values alone; only where one of these is better
 * than the best element so far, which is rare, is the block searched for its first best element. Where nothing can be better any more
 * the search ends. Blocks are small at first, and stay in the first level cache. */
#include "ir/common/internal.h"
#include "ir/reduce/pairwise.h"

enum {
    KEY_BYTES = 256,     /* of the array of keys: a step */
    BLOCK_BYTES = 16384, /* of keys in a block, at most */
    NEAR_BYTES = 64,     /* of keys: lanes of so many take elements that follow each other */
    GROUP = 8,           /* steps whose keys are compared with each other before they are with the array */
    FIRST_STEPS = 8,     /* in the first block */
    FEWEST_STEPS = 2     /* elements for so many steps; for fewer it is not worth it */
};

/* ---- Keys: values that are ordered as the elements are ---- */

static dtype key_of(dtype element) {
    return dtype_is_half(element) ? DT_FLOAT32 : element == DT_BOOL ? DT_UINT8 : element;
}

static bool is_floating(const extremum_search *x) { return dtype_is_floating(x->key); }

static op better_op(const extremum_search *x) { return x->which == EXTREMUM_LARGEST ? OP_GT : OP_LT; }

static ssa is_nan(const extremum_search *x, ssa a) { return emit_binary(x->c->w->s.e, OP_NE, x->key, a, a, x->key); }

/* Is a better than b (i1)? Of NaN it is not known. */
static ssa beats(const extremum_search *x, ssa a, ssa b) {
    return emit_binary(x->c->w->s.e, better_op(x), x->key, a, b, x->key);
}

/* The better of two, either of equal ones; if one is NaN, either. */
static ssa better(const extremum_search *x, ssa a, ssa b) {
    return emit_select(x->c->w->s.e, x->key, beats(x, a, b), a, b);
}

/* Is an element as good as the best one of its block, none of which is NaN? */
static ssa is_best(const extremum_search *x, ssa a, ssa best) {
    return emit_binary(x->c->w->s.e, OP_EQ, x->key, a, best, x->key);
}

/* Is there nothing better than this key? */
static ssa is_last(const extremum_search *x, ssa a) {
    int bits = 8 * dtypes[x->key].size;
    bool largest = x->which == EXTREMUM_LARGEST, is_signed = dtypes[x->key].is_signed;
    number last = {.type = DT_INT64};
    if (is_floating(x))
        return is_nan(x, a);
    last.as.i = x->c->w->f->state[0] == DT_BOOL ? largest
                : is_signed                     ? (largest ? INT64_MAX >> (64 - bits) : -(INT64_MAX >> (64 - bits)) - 1)
                                                : -(int64_t)largest;
    return emit_binary(x->c->w->s.e, OP_EQ, x->key, a, emit_constant(last, x->key), x->key);
}

/* ---- Elements ---- */

static partial element(const extremum_search *x, const element_place *p) {
    fold_writer *w = x->c->w;
    ssa in[VARIANT_OPERANDS];
    for (int k = 0; k < w->s.noperands; k++)
        if (fold_reads(w, k))
            in[k] = emit_load(w->s.e, skeleton_memory(&w->s, k), p->at[k]);
    return fold_element(w, in, p->position);
}

static element_place moved(const extremum_search *x, const element_place *p, ssa by) {
    return element_place_moved(x->c->w, p, &x->c->lane, by);
}

/* The key of lane l of the step that begins at p. */
static ssa key(const extremum_search *x, const element_place *p, ssa l) {
    fold_writer *w = x->c->w;
    element_place at = moved(x, p, l);
    partial one = element(x, &at);
    return emit_convert(w->s.e, one.v[0], w->state[0], x->key);
}

/* ---- Variables, and the array of keys ---- */

static ssa get(const extremum_search *x, ssa variable) {
    return emit_value(x->c->w->s.e, "load i64, i64* %s", variable.text);
}

static void set(const extremum_search *x, ssa variable, ssa value) {
    emit_line(x->c->w->s.e, "store i64 %s, i64* %s", value.text, variable.text);
}

static ssa lane(const extremum_search *x, ssa l) { return emit_element(x->c->w->s.e, x->key, x->keys, l); }

static ssa keys_get(const extremum_search *x, ssa l) { return emit_load(x->c->w->s.e, x->key, lane(x, l)); }

static void keys_put(const extremum_search *x, ssa l, ssa value) {
    emit_store(x->c->w->s.e, x->key, value, lane(x, l));
}

static ssa best_get(const extremum_search *x) { return emit_load(x->c->w->s.e, x->key, x->best); }

/* The type of `found`: an integer as wide as keys, so that a vector of them is a vector of what keys are compared to. */
static const char *found_type(const extremum_search *x) {
    static const char *const types[] = {[1] = "i8", [2] = "i16", [4] = "i32", [8] = "i64"};
    return types[dtypes[x->key].size];
}

static void found_put(const extremum_search *x, ssa value) {
    const char *t = found_type(x);
    emit_line(x->c->w->s.e, "store %s %s, %s* %s", t, value.text, t, x->found.text);
}

static ssa found_get(const extremum_search *x) {
    const char *t = found_type(x);
    return emit_value(x->c->w->s.e, "load %s, %s* %s", t, t, x->found.text);
}

/* In a loop over lanes: notes that a condition is true of one. Not by sext, from which LLVM makes a select that only some conditions leave
 * a loop of vectors. */
static void found_any(const extremum_search *x, ssa condition) {
    emit *e = x->c->w->s.e;
    const char *t = found_type(x);
    ssa one = emit_value(e, "zext i1 %s to %s", condition.text, t);
    found_put(x, emit_value(e, "or %s %s, %s", t, found_get(x).text, one.text));
}

static ssa was_found(const extremum_search *x) {
    return emit_value(x->c->w->s.e, "icmp ne %s %s, 0", found_type(x), found_get(x).text);
}

/* ---- A block ---- */

/* Notes that one of `count` elements is NaN, by a comparison for two of them. */
static void note_nan(const extremum_search *x, const ssa *a, int count) {
    emit *e = x->c->w->s.e;
    ssa any = ssa_none();
    for (int j = 0; j < count; j += 2) {
        ssa other = a[j + 1 < count ? j + 1 : j];
        ssa nan = emit_value(e, "fcmp uno %s %s, %s", ir_value_type(x->key), a[j].text, other.text);
        any = j ? emit_op(e, "or i1", any, nan) : nan;
    }
    found_any(x, any);
}

/* Takes `count` steps from p on into the keys, those of `lanes` lanes from `first` on; elements of a step are `width` apart. `found` says
 * then if an element was NaN; keys are not what they should be if so. */
static void take_lanes(const extremum_search *x, const element_place *p, ssa first, int lanes, int width, int count) {
    emit *e = x->c->w->s.e;
    element_place at[GROUP];
    ssa a[GROUP];
    for (int j = 0; j < count; j++)
        at[j] = moved(x, p, ssa_constant((int64_t)j * width));
    lane_loop l = lanes_begin(e, ssa_constant(lanes));
    l.interleave = lanes < x->width && e->target->vector_bits < 512 ? 512 / e->target->vector_bits : 0;
    for (int j = 0; j < count; j++)
        a[j] = key(x, &at[j], l.loop.i);
    if (is_floating(x))
        note_nan(x, a, count);
    for (int n = count; n > 1; n /= 2)
        for (int j = 0; j < n / 2; j++)
            a[j] = better(x, a[2 * j], a[2 * j + 1]);
    ssa to = emit_op(e, "add i64", first, l.loop.i);
    keys_put(x, to, better(x, keys_get(x, to), a[0]));
    lanes_end(e, &l, false);
}

/* Takes `count` steps from p on. Which elements go into which key does not matter, so they are taken in the order of memory. */
static void take(const extremum_search *x, const element_place *p, int count) {
    emit *e = x->c->w->s.e;
    int near = NEAR_BYTES / dtypes[x->key].size;
    if (count == 1) {
        take_lanes(x, p, ssa_constant(0), x->width, x->width, 1);
        return;
    }
    counted_loop l = counted_loop_begin(e, "i64", ssa_constant(0), ssa_constant(x->width));
    element_place from = moved(x, p, emit_value(e, "mul i64 %s, %d", l.i.text, count));
    take_lanes(x, &from, l.i, near, near, count);
    counted_loop_end(e, &l, ssa_constant(near), loop_no_unroll(e));
}

/* Takes steps from *at on, `count` at a time, as long as there are that many. */
static void take_steps(const extremum_search *x, const element_place *p, ssa *at, ssa steps, int count) {
    emit *e = x->c->w->s.e;
    ssa left = emit_op(e, "sub i64", steps, *at), whole = emit_value(e, "and i64 %s, %d", left.text, -count);
    ssa end = emit_op(e, "add i64", *at, whole);
    counted_loop l = counted_loop_begin(e, "i64", *at, end);
    element_place from = moved(x, p, emit_value(e, "mul i64 %s, %d", l.i.text, x->width));
    take(x, &from, count);
    counted_loop_end(e, &l, ssa_constant(count), loop_no_unroll(e));
    *at = end;
}

/* The keys of a block, or the best one so far; `found` as `take` leaves it. */
static void take_block(const extremum_search *x, const element_place *p, ssa steps) {
    emit *e = x->c->w->s.e;
    ssa at = ssa_constant(0), best = best_get(x);
    found_put(x, ssa_constant(0));
    lane_loop l = lanes_begin(e, ssa_constant(x->width));
    keys_put(x, l.loop.i, best);
    lanes_end(e, &l, false);
    take_steps(x, p, &at, steps, GROUP);
    take_steps(x, p, &at, steps, 1);
}

static ssa block_beats(const extremum_search *x) {
    emit *e = x->c->w->s.e;
    ssa best = best_get(x);
    found_put(x, ssa_constant(0));
    lane_loop l = lanes_begin(e, ssa_constant(x->width));
    found_any(x, beats(x, keys_get(x, l.loop.i), best));
    lanes_end(e, &l, false);
    return was_found(x);
}

/* ---- The best element of a block ---- */

static dtype ordered_type(const extremum_search *x) {
    return !is_floating(x) ? x->key : dtypes[x->key].size == 4 ? DT_INT32 : DT_INT64;
}

/* The other of two forms of a floating key, one of which is an integer that is ordered as the keys are: bits behind a sign are turned. */
static ssa turned(const extremum_search *x, ssa bits) {
    emit *e = x->c->w->s.e;
    const char *t = ir_value_type(ordered_type(x));
    int size = 8 * dtypes[x->key].size;
    ssa sign = emit_value(e, "ashr %s %s, %d", t, bits.text, size - 1);
    return emit_value(e, "xor %s %s, %s", t, bits.text, emit_value(e, "lshr %s %s, 1", t, sign.text).text);
}

/* A key as an integer, so that LLVM finds the largest of all lanes by vectors. */
static ssa ordered(const extremum_search *x, ssa a) {
    if (!is_floating(x))
        return a;
    const char *from = ir_value_type(x->key), *to = ir_value_type(ordered_type(x));
    return turned(x, emit_value(x->c->w->s.e, "bitcast %s %s to %s", from, a.text, to));
}

/* The best key of all lanes. */
static ssa block_best(const extremum_search *x) {
    emit *e = x->c->w->s.e;
    dtype type = ordered_type(x);
    const char *t = ir_value_type(type);
    ssa first = ordered(x, keys_get(x, ssa_constant(0)));
    emit_line(e, "store %s %s, %s* %s", t, first.text, t, x->top.text);
    lane_loop l = lanes_begin(e, ssa_constant(x->width));
    ssa a = ordered(x, keys_get(x, l.loop.i)), top = emit_value(e, "load %s, %s* %s", t, t, x->top.text);
    ssa best = emit_select(e, type, emit_binary(e, better_op(x), type, a, top, type), a, top);
    emit_line(e, "store %s %s, %s* %s", t, best.text, t, x->top.text);
    lanes_end(e, &l, false);
    top = emit_value(e, "load %s, %s* %s", t, t, x->top.text);
    return is_floating(x) ? emit_value(e, "bitcast %s %s to %s", t, turned(x, top).text, ir_value_type(x->key)) : top;
}

/* The first step of the block, from element `begin` on, that has an element as good as the best; of the elements before `last`. */
static ssa step_of(const extremum_search *x, const element_place *p, ssa begin, ssa last, ssa best) {
    emit *e = x->c->w->s.e;
    int head = emit_label_new(e), before = emit_label_new(e), end = emit_label_new(e);
    emit_branch(e, before);
    emit_label(e, before);
    emit_branch(e, head);
    emit_label(e, head);
    ssa at = ssa_named("%%step%d", head), next = ssa_named("%%next%d", head);
    int latch = emit_label_new(e);
    emit_line(e, "%s = phi i64 [ %s, %%L%d ], [ %s, %%L%d ]", at.text, begin.text, before, next.text, latch);
    element_place from = moved(x, p, at);
    found_put(x, ssa_constant(0));
    lane_loop l = lanes_begin(e, ssa_constant(x->width));
    found_any(x, is_best(x, key(x, &from, l.loop.i), best));
    lanes_end(e, &l, false);
    emit_branch_if(e, was_found(x), end, latch);
    emit_label(e, latch);
    emit_line(e, "%s = add i64 %s, %d", next.text, at.text, x->width);
    emit_branch_if(e, emit_op(e, "icmp slt i64", next, last), head, end);
    emit_label(e, end);
    return at;
}

/* The first lane of the step at `step` that has an element as good as the best. */
static ssa lane_of(const extremum_search *x, const element_place *p, ssa step, ssa best) {
    emit *e = x->c->w->s.e;
    element_place from = moved(x, p, step);
    found_put(x, ssa_constant(x->width - 1));
    lane_loop l = lanes_begin(e, ssa_constant(x->width));
    const char *t = found_type(x);
    bool wide = dtypes[x->key].size == 8;
    ssa is = is_best(x, key(x, &from, l.loop.i), best);
    ssa i = wide ? l.loop.i : emit_value(e, "trunc i64 %s to %s", l.loop.i.text, t);
    ssa here = emit_select_as(e, t, is, i, ssa_constant(x->width - 1)), least = found_get(x);
    ssa first = emit_value(e, "icmp ult %s %s, %s", t, here.text, least.text);
    found_put(x, emit_select_as(e, t, first, here, least));
    lanes_end(e, &l, false);
    return wide ? found_get(x) : emit_value(e, "zext %s %s to i64", t, found_get(x).text);
}

/* The first NaN of the elements from `begin` on, one of which is: one by one, since nothing is looked for behind it. */
static ssa first_nan(const extremum_search *x, const element_place *p, ssa begin) {
    emit *e = x->c->w->s.e;
    int before = emit_label_new(e), head = emit_label_new(e), latch = emit_label_new(e), end = emit_label_new(e);
    ssa at = ssa_named("%%nan%d", head), next = ssa_named("%%other%d", head);
    emit_branch(e, before);
    emit_label(e, before);
    emit_branch(e, head);
    emit_label(e, head);
    emit_line(e, "%s = phi i64 [ %s, %%L%d ], [ %s, %%L%d ]", at.text, begin.text, before, next.text, latch);
    emit_branch_if(e, is_nan(x, key(x, p, at)), end, latch);
    emit_label(e, latch);
    emit_line(e, "%s = add i64 %s, 1", next.text, at.text);
    emit_branch(e, head);
    emit_label(e, end);
    return at;
}

/* ---- All of them ---- */

static void begin(const extremum_search *x, const element_place *p) {
    emit *e = x->c->w->s.e;
    emit_store(e, x->key, key(x, p, ssa_constant(0)), x->best);
    set(x, x->at, ssa_constant(0));
    set(x, x->done, ssa_constant(0));
    set(x, x->next, ssa_constant(FIRST_STEPS));
}

static void best_put(const extremum_search *x, ssa best, ssa at) {
    emit_store(x->c->w->s.e, x->key, best, x->best);
    set(x, x->at, at);
}

/* If the block from `begin` on has a NaN that is the best element: then branches to `end`. What is written next is for others. */
static void find_nan(const extremum_search *x, const element_place *p, ssa begin, int end) {
    emit *e = x->c->w->s.e;
    int some = emit_label_new(e), none = emit_label_new(e);
    emit_branch_if(e, was_found(x), some, none);
    emit_label(e, some);
    ssa at = first_nan(x, p, begin);
    best_put(x, key(x, p, at), at);
    emit_branch(e, end);
    emit_label(e, none);
}

static void find_best(const extremum_search *x, const element_place *p, ssa begin, ssa last) {
    ssa best = block_best(x), step = step_of(x, p, begin, last, best);
    best_put(x, best, emit_op(x->c->w->s.e, "add i64", step, lane_of(x, p, step, best)));
}

/* Looks at the next block. The last elements, if they are less than a step, are a step with some in front of them: those are no better
 * than the best so far. */
static void look(const extremum_search *x, const element_place *p, ssa m) {
    emit *e = x->c->w->s.e;
    int most = BLOCK_BYTES / KEY_BYTES;
    ssa done = get(x, x->done), next = get(x, x->next), left = emit_op(e, "sub i64", m, done);
    ssa whole = emit_value(e, "sdiv i64 %s, %d", left.text, x->width);
    ssa few = emit_value(e, "icmp eq i64 %s, 0", whole.text);
    ssa begin = emit_select_as(e, "i64", few, emit_value(e, "sub i64 %s, %d", m.text, x->width), done);
    ssa steps = emit_select_as(e, "i64", few, ssa_constant(1), emit_min(e, whole, next));
    ssa last = emit_op(e, "add i64", begin, emit_value(e, "mul i64 %s, %d", steps.text, x->width));
    element_place from = moved(x, p, begin);
    take_block(x, &from, steps);
    int end = emit_label_new(e);
    if (is_floating(x))
        find_nan(x, p, begin, end);
    int no_better = skeleton_if(&x->c->w->s, block_beats(x));
    find_best(x, p, begin, last);
    skeleton_end_if(&x->c->w->s, no_better);
    emit_branch(e, end);
    emit_label(e, end);
    set(x, x->done, last);
    set(x, x->next, emit_min(e, emit_op(e, "add i64", next, next), ssa_constant(most)));
}

void extremum_run(extremum_search *x, const element_place *p, ssa m) {
    emit *e = x->c->w->s.e;
    int head = emit_label_new(e), on = emit_label_new(e), end = emit_label_new(e);
    begin(x, p);
    emit_branch(e, head);
    emit_label(e, head);
    ssa left = emit_op(e, "icmp slt i64", get(x, x->done), m);
    ssa open = emit_value(e, "xor i1 %s, true", is_last(x, best_get(x)).text);
    emit_branch_if(e, emit_op(e, "and i1", left, open), on, end);
    emit_label(e, on);
    look(x, p, m);
    emit_branch(e, head);
    emit_label(e, end);
    element_place at = moved(x, p, get(x, x->at));
    partial found = element(x, &at);
    pairwise_put(x->c, ssa_constant(0), &found);
}

int extremum_fewest(const extremum_search *x) { return FEWEST_STEPS * x->width; }

void extremum_begin(extremum_search *x, pairwise *c, extremum which) {
    emit *e = c->w->s.e;
    *x = (extremum_search){.c = c, .which = which};
    if (!which)
        return;
    x->key = key_of(c->w->f->state[0]);
    x->width = KEY_BYTES / dtypes[x->key].size;
    x->keys = emit_array(e, x->key, x->width);
    x->best = emit_array(e, x->key, 1);
    ssa *variables[] = {&x->at, &x->done, &x->next};
    for (size_t i = 0; i < COUNT(variables); i++)
        *variables[i] = emit_value(e, "alloca i64");
    x->found = emit_value(e, "alloca %s", found_type(x));
    x->top = emit_value(e, "alloca %s", ir_value_type(ordered_type(x)));
}
