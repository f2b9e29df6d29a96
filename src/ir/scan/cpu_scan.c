/* cpu_scan.c - accumulations on the CPU.
 *
 * Lines that lie side by side in memory (columns) go together: the states of a strip of lines stay in the first-level cache, and each
 * row of the strip is a vector loop. A line by itself is a recurrence, which takes the latency of the operator a step. Where elements
 * may be grouped in any way, the line goes in blocks of several chains: chain j scans elements j * steps .. of the block, all chains
 * side by side; then a vector loop combines what comes before a chain with each of its states. The state of a piece of a line alone
 * (`inside`) does not depend on what comes before the piece (`full` includes that), so that the bits are the same whether several
 * threads compute the pieces or one after the other. */
#include "ir/common/nodes.h"
#include "ir/scan/scan.h"

enum {
    CHAINS = 8,
    CHAIN_STEPS = 64,       /* at most: the states of a block lie in the first-level cache; */
    CHAIN_LEAST = 4,        /* steps: fewer take longer to begin and to end than one element after the other takes; */
    CHAIN_LEAST_QUICK = 24, /* of quick operations */
    STRIP = 512,            /* lines that go together; the same number of states */
    LIGHT = 24,             /* nodes of tree for one element: with more there are fewer chains, */
    HEAVY = 100,            /* or one, since latency is not the limit then, and code grows */
    CARRY_BYTES = 16
};

typedef struct scan {
    fold_writer *w;
    ssa n, m, first;              /* lines; elements of a line; index of the first of them */
    ssa across[VARIANT_OPERANDS]; /* strides from line to line, */
    ssa along[VARIANT_OPERANDS];  /* and along the line */
    ssa at[VARIANT_OPERANDS]; /* arrays: address of element 0 of the row or the line; the position: its value there */
    ssa carry, resumes, results; /* address as i8*; i1: a state was carried here; i1: more than the total is wanted */
    ssa wanted;                  /* i1: the same, asked for once a line */
    ssa buffer[UF_MAX_STATE];    /* states, as they lie in memory */
    partial_slot inside, full, chain[CHAINS];
    ssa begin; /* i64 variable: where the next block begins */
    prefix vectors;
    ssa vector_inside, vector_full; /* variables: what each lane has of the piece; `full` in all lanes */
    bool by_vectors;
} scan;

/* ---- Elements: operands move by `stride` (contiguous ones by 1) from at[] ---- */

static ssa offset(scan *c, int k, const ssa *stride, ssa index) {
    switch (c->w->s.v->operand[k].kind) {
    case OPERAND_CONTIGUOUS:
        return index;
    case OPERAND_CONSTANT:
        return ssa_constant(0);
    default:
        return emit_op(c->w->s.e, "mul i64", index, stride[k]);
    }
}

static ssa position_at(scan *c, const ssa *stride, ssa index) {
    int k = variant_position(c->w->s.v);
    if (!c->w->s.v->position)
        return ssa_none();
    return emit_op(c->w->s.e, "add i64", c->at[k], emit_op(c->w->s.e, "mul i64", index, stride[k]));
}

static partial element(scan *c, const ssa *stride, ssa index) {
    skeleton *s = &c->w->s;
    ssa in[VARIANT_OPERANDS];
    for (int k = 0; k < s->nin; k++)
        if (fold_reads(c->w, k))
            in[k] =
                emit_load(s->e, skeleton_memory(s, k), skeleton_address(s, k, c->at[k], offset(c, k, stride, index)));
    return fold_element(c->w, in, position_at(c, stride, index));
}

/* count: elements of the line up to this one. */
static void put_results(scan *c, const ssa *stride, ssa index, const partial *x, ssa count) {
    skeleton *s = &c->w->s;
    ssa results[UF_MAX_OPERANDS];
    fold_results(c->w, x, count, results);
    for (int k = s->nin; k < s->nin + s->v->nout; k++)
        emit_store(s->e, skeleton_memory(s, k), results[k - s->nin],
                   skeleton_address(s, k, c->at[k], offset(c, k, stride, index)));
}

/* Moves to element `index` along a dimension. */
static void move(scan *c, const ssa *from, const ssa *stride, ssa index) {
    skeleton *s = &c->w->s;
    for (int k = 0; k < s->noperands; k++) {
        if (s->v->operand[k].kind == OPERAND_NUMBER)
            continue;
        ssa by = emit_op(s->e, "mul i64", index, stride[k]);
        c->at[k] = s->v->operand[k].kind == OPERAND_POSITION ? emit_op(s->e, "add i64", from[k], by)
                                                             : skeleton_address(s, k, from[k], by);
    }
}

/* ---- States in the buffer ---- */

static void buffer_new(scan *c, int states) {
    for (int k = 0; k < c->w->nstate; k++)
        c->buffer[k] = emit_array(c->w->s.e, c->w->state[k], states);
}

static void buffer_put(scan *c, const partial *x, ssa index) {
    emit *e = c->w->s.e;
    for (int k = 0; k < c->w->nstate; k++)
        emit_store(e, c->w->state[k], x->v[k], emit_element(e, c->w->state[k], c->buffer[k], index));
}

static partial buffer_get(scan *c, ssa index) {
    emit *e = c->w->s.e;
    partial x = {.present = ssa_none()};
    for (int k = 0; k < c->w->nstate; k++)
        x.v[k] = emit_load(e, c->w->state[k], emit_element(e, c->w->state[k], c->buffer[k], index));
    return x;
}

/* A loop over i64 whose iterations are independent. */
static counted_loop parallel_begin(scan *c, ssa from, ssa limit) {
    emit *e = c->w->s.e;
    counted_loop l = counted_loop_begin(e, "i64", from, limit);
    e->access_group = emit_metadata(e, "distinct !{}");
    return l;
}

static void parallel_end(scan *c, const counted_loop *l) {
    emit *e = c->w->s.e;
    int group = e->access_group;
    e->access_group = 0;
    counted_loop_end(e, l, ssa_constant(1), emit_metadata(e, "!{!\"llvm.loop.parallel_accesses\", !%d}", group));
}

/* ---- Columns ---- */

static ssa count_at(scan *c, ssa index) {
    ssa before = emit_op(c->w->s.e, "add i64", c->first, index);
    return emit_value(c->w->s.e, "add i64 %s, 1", before.text);
}

/* Element `row` of lines 0 .. width-1 from at[] on. */
static void strip_row(scan *c, ssa row, ssa width, bool begins) {
    ssa count = count_at(c, row);
    counted_loop l = parallel_begin(c, ssa_constant(0), width);
    partial x = element(c, c->across, l.i);
    if (!begins) {
        partial before = buffer_get(c, l.i);
        x = fold_join(c->w, &before, &x);
    }
    buffer_put(c, &x, l.i);
    put_results(c, c->across, l.i, &x, count);
    parallel_end(c, &l);
}

static void columns(scan *c) {
    emit *e = c->w->s.e;
    ssa lines[VARIANT_OPERANDS], step = ssa_constant(STRIP);
    counted_loop strips = counted_loop_begin(e, "i64", ssa_constant(0), c->n);
    ssa left = emit_op(e, "sub i64", c->n, strips.i);
    ssa width = emit_select_as(e, "i64", emit_op(e, "icmp slt i64", left, step), left, step);
    move(c, c->w->s.base, c->across, strips.i);
    memcpy(lines, c->at, sizeof lines);
    strip_row(c, ssa_constant(0), width, true);
    counted_loop rows = counted_loop_begin(e, "i64", ssa_constant(1), c->m);
    move(c, lines, c->along, rows.i);
    strip_row(c, rows.i, width, false);
    counted_loop_end(e, &rows, ssa_constant(1), 0);
    counted_loop_end(e, &strips, step, 0);
}

/* ---- Lines ---- */

/* The address of value k of the first or the second state at the carry. */
static ssa carry_at(scan *c, int state, int k) {
    emit *e = c->w->s.e;
    int at_byte = CARRY_BYTES * (UF_MAX_STATE * state + k);
    ssa at = emit_value(e, "getelementptr i8, i8* %s, i64 %d", c->carry.text, at_byte);
    return emit_value(e, "bitcast i8* %s to %s*", at.text, ir_memory_type(c->w->state[k]));
}

static partial carry_get(scan *c, int state) {
    partial x = {.present = ssa_none()};
    for (int k = 0; k < c->w->nstate; k++)
        x.v[k] = emit_load(c->w->s.e, c->w->state[k], carry_at(c, state, k));
    return x;
}

static void carry_put(scan *c, int state, const partial *x) {
    for (int k = 0; k < c->w->nstate; k++)
        emit_store(c->w->s.e, c->w->state[k], x->v[k], carry_at(c, state, k));
}

/* Sets `inside` to x, and `full` to x with the state that was carried here in front. */
static void set_inside(scan *c, const partial *x) {
    partial_put(c->w, &c->inside, x);
    partial_put(c->w, &c->full, x);
    int end = skeleton_if(&c->w->s, unknown_answer(c->w->s.e, c->resumes));
    partial before = carry_get(c, 0), all = fold_join(c->w, &before, x);
    partial_put(c->w, &c->full, &all);
    skeleton_end_if(&c->w->s, end);
}

/* Stores the results of element `index`, whose state is `full`. */
static void put_full(scan *c, ssa index) {
    partial x = partial_get(c->w, &c->full);
    put_results(c, c->along, index, &x, count_at(c, index));
}

/* Combines an element into `inside`, and into `full` as well where that is wanted. */
static void take(scan *c, ssa index, bool full_too) {
    partial x = element(c, c->along, index), inside = partial_get(c->w, &c->inside);
    inside = fold_join(c->w, &inside, &x);
    partial_put(c->w, &c->inside, &inside);
    if (!full_too)
        return;
    partial full = partial_get(c->w, &c->full);
    full = fold_join(c->w, &full, &x);
    partial_put(c->w, &c->full, &full);
}

/* One element after the other from `from` on. */
static void one_by_one(scan *c, ssa from, ssa limit) {
    emit *e = c->w->s.e;
    int end = skeleton_if(&c->w->s, c->wanted);
    counted_loop l = counted_loop_begin(e, "i64", from, limit);
    take(c, l.i, true);
    put_full(c, l.i);
    counted_loop_end(e, &l, ssa_constant(1), loop_no_unroll(e));
    skeleton_end_if(&c->w->s, end);
    end = skeleton_if(&c->w->s, emit_value(e, "xor i1 %s, true", c->wanted.text));
    l = counted_loop_begin(e, "i64", from, limit);
    take(c, l.i, false);
    counted_loop_end(e, &l, ssa_constant(1), 0);
    skeleton_end_if(&c->w->s, end);
}

/* Scans `chains` chains of `steps` elements from element `from` on, each by itself, into the buffer. */
static void scan_chains(scan *c, ssa from, ssa steps, int chains) {
    emit *e = c->w->s.e;
    ssa begin[CHAINS], index[CHAINS];
    partial x[CHAINS];
    for (int j = 0; j < chains; j++) {
        begin[j] = emit_value(e, "mul i64 %s, %d", steps.text, j);
        x[j] = element(c, c->along, emit_op(e, "add i64", from, begin[j]));
        partial_put(c->w, &c->chain[j], &x[j]);
        buffer_put(c, &x[j], begin[j]);
    }
    counted_loop l = counted_loop_begin(e, "i64", ssa_constant(1), steps);
    for (int j = 0; j < chains; j++) {
        index[j] = emit_op(e, "add i64", begin[j], l.i);
        x[j] = element(c, c->along, emit_op(e, "add i64", from, index[j]));
    }
    for (int j = 0; j < chains; j++) {
        partial before = partial_get(c->w, &c->chain[j]);
        x[j] = fold_join(c->w, &before, &x[j]);
        partial_put(c->w, &c->chain[j], &x[j]);
        buffer_put(c, &x[j], index[j]);
    }
    counted_loop_end(e, &l, ssa_constant(1), loop_no_unroll(e));
}

/* Stores the results of a chain that begins at `begin` in the buffer: each state with `full` in front. */
static void join_chain(scan *c, ssa from, ssa begin, ssa end) {
    emit *e = c->w->s.e;
    int skip = skeleton_if(&c->w->s, unknown_answer(e, c->results));
    partial before = partial_get(c->w, &c->full);
    counted_loop l = parallel_begin(c, begin, end);
    partial x = buffer_get(c, l.i);
    x = fold_join(c->w, &before, &x);
    ssa index = emit_op(e, "add i64", from, l.i);
    put_results(c, c->along, index, &x, count_at(c, index));
    parallel_end(c, &l);
    skeleton_end_if(&c->w->s, skip);
}

/* Goes in blocks of chains from element 1 on, as long as each chain has `least` steps; returns the first element behind them. */
static ssa blocks(scan *c, int chains, int least) {
    emit *e = c->w->s.e;
    ssa slot = c->begin, most = ssa_constant(CHAIN_STEPS);
    emit_line(e, "store i64 1, i64* %s", slot.text);
    ssa whole = emit_value(e, "sub i64 %s, %d", c->m.text, least * chains - 1); /* a block begins at an element below */
    int head = emit_label_new(e), body = emit_label_new(e), done = emit_label_new(e);
    emit_branch(e, head);
    emit_label(e, head);
    ssa from = emit_value(e, "load i64, i64* %s", slot.text);
    emit_branch_if(e, emit_op(e, "icmp slt i64", from, whole), body, done);
    emit_label(e, body);
    ssa steps = emit_value(e, "udiv i64 %s, %d", emit_op(e, "sub i64", c->m, from).text, chains);
    steps = emit_select_as(e, "i64", emit_op(e, "icmp slt i64", steps, most), steps, most);
    scan_chains(c, from, steps, chains);
    ssa size = emit_value(e, "mul i64 %s, %d", steps.text, chains);
    counted_loop l = counted_loop_begin(e, "i64", ssa_constant(0), size);
    ssa end = emit_op(e, "add i64", l.i, steps), last = emit_value(e, "sub i64 %s, 1", end.text);
    join_chain(c, from, l.i, end);
    partial chain = buffer_get(c, last), inside = partial_get(c->w, &c->inside);
    inside = fold_join(c->w, &inside, &chain);
    set_inside(c, &inside);
    counted_loop_end(e, &l, steps, loop_no_unroll(e));
    emit_line(e, "store i64 %s, i64* %s", emit_op(e, "add i64", from, size).text, slot.text);
    emit_branch(e, head);
    emit_label(e, done);
    return from;
}

/* One element after the other, onto what is carried as well. */
static void serial_line(scan *c) {
    emit *e = c->w->s.e;
    counted_loop l = counted_loop_begin(e, "i64", ssa_constant(1), c->m);
    partial full = partial_get(c->w, &c->full), x = element(c, c->along, l.i);
    full = fold_join(c->w, &full, &x);
    partial_put(c->w, &c->full, &full);
    put_results(c, c->along, l.i, &full, count_at(c, l.i));
    counted_loop_end(e, &l, ssa_constant(1), loop_no_unroll(e));
}

/* Integers that one operation combines, in a cycle or two. */
static bool is_quick(const fold *f) {
    return f->nstate == 1 && dtype_is_integer(f->state[0]) && tree_operator(f->combine, f->state[0]);
}

/* Half as many of quick operations, whose addresses so stay in registers. */
static int chains_of(const fold *f) {
    int nodes = f->combine->nodes + (f->map ? f->map->nodes : 0);
    return fold_has_loops(f) || nodes > HEAVY ? 1 : nodes > LIGHT || is_quick(f) ? CHAINS / 2 : CHAINS;
}

/* Stores the state from which the elements behind these carry on, grouped as join_carries groups it. */
static void leave_carry(scan *c) {
    emit *e = c->w->s.e;
    ssa given = emit_value(e, "icmp ne i8* %s, null", c->carry.text);
    int end = skeleton_if(&c->w->s, unknown_answer(e, given));
    partial inside = partial_get(c->w, &c->inside);
    set_inside(c, &inside);
    partial full = partial_get(c->w, &c->full);
    carry_put(c, 0, &full);
    skeleton_end_if(&c->w->s, end);
}

/* Whole vectors from element 1 on, up to element `limit`. */
static void vectors_of_line(scan *c, ssa limit) {
    emit *e = c->w->s.e;
    const prefix *p = &c->vectors;
    const char *t = p->type.text;
    emit_line(e, "store %s %s, %s* %s", t, p->neutral.text, t, c->vector_inside.text);
    emit_line(e, "store %s %s, %s* %s", t, prefix_splat(p, partial_get(c->w, &c->full).v[0]).text, t,
              c->vector_full.text);
    counted_loop l = counted_loop_begin(e, "i64", ssa_constant(1), limit);
    ssa x = prefix_load(p, skeleton_address(&c->w->s, 0, c->at[0], l.i));
    ssa inside = emit_value(e, "load %s, %s* %s", t, t, c->vector_inside.text);
    ssa full = emit_value(e, "load %s, %s* %s", t, t, c->vector_full.text);
    emit_line(e, "store %s %s, %s* %s", t, prefix_join(p, inside, x).text, t, c->vector_inside.text);
    x = prefix_lanes(p, x);
    prefix_store(p, prefix_join(p, full, x), skeleton_address(&c->w->s, 1, c->at[1], l.i));
    emit_line(e, "store %s %s, %s* %s", t, prefix_join(p, full, prefix_last(p, x)).text, t, c->vector_full.text);
    counted_loop_end(e, &l, ssa_constant(p->lanes), loop_no_unroll(e));
    inside = emit_value(e, "load %s, %s* %s", t, t, c->vector_inside.text);
    full = emit_value(e, "load %s, %s* %s", t, t, c->vector_full.text);
    partial all = partial_get(c->w, &c->inside);
    for (int i = 0; i < p->lanes; i++) {
        const partial lane = {.v = {prefix_lane(p, inside, i)}, .present = ssa_none()};
        all = fold_join(c->w, &all, &lane);
    }
    partial_put(c->w, &c->inside, &all);
    const partial before = {.v = {prefix_lane(p, full, 0)}, .present = ssa_none()};
    partial_put(c->w, &c->full, &before);
}

/* Whole vectors from element 1 on, if results are wanted; returns the first element behind them. */
static ssa vectors(scan *c) {
    emit *e = c->w->s.e;
    ssa more = emit_value(e, "sub i64 %s, 1", c->m.text);
    ssa left = emit_value(e, "urem i64 %s, %d", more.text, c->vectors.lanes);
    ssa behind = emit_op(e, "sub i64", c->m, left);
    int end = skeleton_if(&c->w->s, c->wanted);
    vectors_of_line(c, behind);
    skeleton_end_if(&c->w->s, end);
    return emit_select_as(e, "i64", c->wanted, behind, ssa_constant(1));
}

static void line(scan *c, int chains) {
    partial x = element(c, c->along, ssa_constant(0));
    set_inside(c, &x);
    c->wanted = unknown_answer(c->w->s.e, c->results);
    int end = skeleton_if(&c->w->s, c->wanted);
    put_full(c, ssa_constant(0));
    skeleton_end_if(&c->w->s, end);
    if (c->w->f->order == FOLD_SERIAL) {
        serial_line(c);
        return;
    }
    int least = is_quick(c->w->f) ? CHAIN_LEAST_QUICK : CHAIN_LEAST;
    one_by_one(c, c->by_vectors ? vectors(c) : chains > 1 ? blocks(c, chains, least) : ssa_constant(1), c->m);
    leave_carry(c);
}

static void lines(scan *c) {
    emit *e = c->w->s.e;
    counted_loop l = counted_loop_begin(e, "i64", ssa_constant(0), c->n);
    move(c, c->w->s.base, c->across, l.i);
    line(c, chains_of(c->w->f));
    counted_loop_end(e, &l, ssa_constant(1), loop_no_unroll(e));
}

/* ---- The kernel ---- */

static void read_strides(scan *c, parameter_id id, ssa *strides) {
    skeleton *s = &c->w->s;
    for (int k = 0; k < s->noperands; k++)
        if (s->v->operand[k].kind != OPERAND_NUMBER)
            strides[k] = skeleton_parameter(s, id);
}

/* Replaces the second state at the carry by the first and the second combined. */
static void join_carries(scan *c) {
    partial a = carry_get(c, 0), b = carry_get(c, 1);
    a = fold_join(c->w, &a, &b);
    carry_put(c, 1, &a);
}

static void by_lines(scan *c, ssa what) {
    emit *e = c->w->s.e;
    int join = emit_label_new(e), whole = emit_label_new(e), end = emit_label_new(e);
    c->inside = partial_variable(c->w, false);
    c->full = partial_variable(c->w, false);
    c->begin = emit_value(e, "alloca i64");
    for (int j = 0; j < CHAINS; j++)
        c->chain[j] = partial_variable(c->w, false);
    c->by_vectors = prefix_begin(c->w, &c->vectors);
    if (c->by_vectors) {
        c->vector_inside = emit_value(e, "alloca %s", c->vectors.type.text);
        c->vector_full = emit_value(e, "alloca %s", c->vectors.type.text);
    } else {
        buffer_new(c, CHAINS * CHAIN_STEPS);
    }
    emit_branch_if(e, emit_value(e, "icmp eq i64 %s, 2", what.text), join, whole);
    emit_label(e, join);
    join_carries(c);
    emit_branch(e, end);
    emit_label(e, whole);
    lines(c);
    emit_branch(e, end);
    emit_label(e, end);
}

void cpu_scan(fold_writer *w) {
    emit *e = w->s.e;
    scan c = {.w = w};
    c.n = skeleton_parameter(&w->s, CPU_SCAN_LINES);
    read_strides(&c, CPU_SCAN_KEPT_STRIDES, c.across);
    c.m = skeleton_parameter(&w->s, CPU_SCAN_ELEMENTS);
    c.first = skeleton_parameter(&w->s, CPU_SCAN_FIRST);
    read_strides(&c, CPU_SCAN_ALONG_STRIDES, c.along);
    c.carry = emit_value(e, "inttoptr i64 %s to i8*", skeleton_parameter(&w->s, CPU_SCAN_CARRY).text);
    c.resumes = skeleton_parameter(&w->s, CPU_SCAN_RESUMES);
    ssa what = skeleton_parameter(&w->s, CPU_SCAN_WHAT);
    c.results = emit_value(e, "icmp eq i64 %s, 0", what.text);
    if (w->s.v->position)
        w->s.base[variant_position(w->s.v)] = w->s.value[variant_position(w->s.v)];
    if (w->s.v->reduction.columns) {
        buffer_new(&c, STRIP);
        columns(&c);
    } else {
        by_lines(&c, what);
    }
}
