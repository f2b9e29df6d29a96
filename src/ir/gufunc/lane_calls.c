/* lane_calls.c - CPU: unrolled inner calls, a vector of them at a time: each has a lane. Their operands are copied to arrays in which the same
 * element of all these calls lies side by side, the loop over the lanes becomes one vector, and what it has made of the outputs' arrays
 * is copied back. Elements that lie side by side in a core are copied by squares, which are transposed in registers. Where it is calls that lie
 * side by side, nothing is copied.
 *
 * Where one call is computed at a time, cores in which no vectors are to be had (`staged`) are copied in the same way. If it is calls that lie
 * side by side, some of them are copied together, by squares, and then computed one by one.
 *
 * Lanes behind the last call have this call once more. They read what it reads, before anything is stored, and store what it stores. */
#include "ir/gufunc/lane_calls.h"

#include <assert.h>
#include <string.h>

#include "ir/common/nodes.h"
#include "ir/common/transpose.h"
#include "ir/construct/construct.h"
#include "ir/gufunc/call_copy.h"

enum {
    LINE_COPY = 32,          /* bytes that are copied at once where they stay together */
    GROUP_MOST = 32,         /* calls that lie side by side, and are copied together to be computed one by one, .. */
    GROUP_BYTES = 256 << 10, /* .. if all their copies have no more, which should stay in the second level cache */
};

static int size_of(const gufunc_writer *w, int k) { return dtypes[skeleton_memory(&w->s, k)].size; }

static int elements_of(const gufunc_writer *w, int k) { return core_bytes(w->s.v, w->layout, k) / size_of(w, k); }

static bool is_copied(const lane_calls *c, int k) {
    return skeleton_is_array(&c->w->s, k) && (c->lanes > 1 || c->w->s.v->operand[k].staged);
}

/* One call at a time: how many are copied together, where they lie side by side. */
static int group_of(const lane_calls *c) {
    int bytes = 0, group = GROUP_MOST;
    bool beside = false;
    for (int k = 0; k < c->w->s.noperands && c->lanes == 1; k++)
        if (is_copied(c, k)) {
            beside |= !c->w->s.v->operand[k].unit;
            bytes += elements_of(c->w, k) * size_of(c->w, k);
        }
    while (group > CALL_GROUP_LEAST && group * bytes > GROUP_BYTES)
        group /= 2;
    return beside ? group : 1;
}

/* Elements from a core to the next one's in an array: of a group an odd number of lines of the cache, as multiples of 4 KiB would share few
 * places of the nearest one. */
static int pitch_of(const lane_calls *c, int k) {
    int size = size_of(c->w, k), bytes = elements_of(c->w, k) * size;
    return c->group > 1 ? (int)call_group_pitch(bytes) / size : elements_of(c->w, k);
}

bool lane_calls_needed(gufunc_writer *w) {
    const lane_calls alone = {.w = w, .lanes = 1};
    bool copies = false;
    for (int k = 0; k < w->s.noperands && w->s.v->gufunc.columns; k++)
        copies |= is_copied(&alone, k);
    return copies || w->s.v->gufunc.calls;
}

lane_calls lane_calls_begin(gufunc_writer *w, const ssa *stride) {
    lane_calls c = {.w = w, .lanes = 1 << w->s.v->gufunc.calls, .stride = stride};
    assert(c.lanes <= LANE_CALLS_MOST);
    c.group = group_of(&c);
    uint8_t column_of[UF_MAX_OPERANDS];
    if (w->s.v->gufunc.columns)
        columns_fit(w->s.t->kernel, w->s.v->gufunc.columns - 1, column_of);
    for (int k = 0; k < w->s.v->nin + w->s.v->nout; k++)
        c.inner[k] = (w->s.v->gufunc.columns ? column_of[k] : w->layout->operands[k].rank) - 1;
    for (int k = 0; k < w->s.noperands; k++)
        if (is_copied(&c, k))
            c.array[k] = emit_array(w->s.e, skeleton_memory(&w->s, k), pitch_of(&c, k) * c.lanes * c.group);
    return c;
}

/* ---- Copies ---- */

typedef struct copy {
    const lane_calls *c;
    int k;
    bool out; /* from the array */
    /* Elements that lie side by side: along this dimension of the core, of them all if it has no gaps, or none (length 1). */
    int along, length;
    int apart;                  /* how many elements of a call lie between those in the array, at least 1 */
    ssa first[LANE_CALLS_MOST]; /* the address of the core of each lane's call */
    ssa array;
    ssa calls; /* of a group (i64) */
} copy;

static bool is_whole(const copy *p) { return p->c->w->s.v->operand[p->k].fixed; }

/* How far apart elements along dimension d are in the array of one call. */
static int apart_of(const lane_calls *c, int k, int d) {
    return core_apart(c->w->s.v, c->w->layout, k, c->inner[k], d);
}

static copy copy_of(const lane_calls *c, int k, const ssa *row, bool out) {
    const gufunc_writer *w = c->w;
    const layout_operand *o = &w->layout->operands[k];
    int unit = w->s.v->operand[k].unit;
    copy p = {.c = c, .k = k, .out = out, .along = unit - 1, .length = 1, .apart = 1, .array = c->array[k]};
    if (is_whole(&p)) {
        p.length = elements_of(w, k);
    } else if (unit) {
        p.length = w->s.v->gufunc.size[o->dim[unit - 1]];
        p.apart = apart_of(c, k, unit - 1);
    }
    for (int l = 0; l < c->lanes; l++)
        p.first[l] = skeleton_address(&c->w->s, k, row[k], emit_op(w->s.e, "mul i64", c->call[l], c->stride[k]));
    return p;
}

static ssa memory_at(const copy *p, int lane, ssa offset, const char *type) {
    skeleton *s = &p->c->w->s;
    return emit_pointer_as(s->e, ir_memory_type(skeleton_memory(s, p->k)),
                           skeleton_address(s, p->k, p->first[lane], offset), type);
}

/* Element `element` (i64) of the call in that lane, and of the lanes that follow. */
static ssa array_at(const copy *p, ssa element, int lane, const char *type) {
    emit *e = p->c->w->s.e;
    dtype t = skeleton_memory(&p->c->w->s, p->k);
    ssa line = emit_element(e, t, p->array, emit_value(e, "mul i64 %s, %d", element.text, p->c->lanes));
    return emit_pointer_as(e, ir_memory_type(t), lane ? emit_element(e, t, line, ssa_constant(lane)) : line, type);
}

static void move_bits(const copy *p, const char *type, ssa memory, ssa array) {
    emit *e = p->c->w->s.e;
    int align = size_of(p->c->w, p->k);
    ssa from = p->out ? array : memory, to = p->out ? memory : array;
    emit_store_as(e, type, emit_load_as(e, type, from, align), to, align);
}

/* One element of all calls, whose offset in the core is `offset`. */
static void copy_element(const copy *p, ssa offset, ssa element) {
    fragment type = fragment_of("i%d", 8 * size_of(p->c->w, p->k));
    for (int l = 0; l < p->c->lanes; l++)
        move_bits(p, type.text, memory_at(p, l, offset, type.text), array_at(p, element, l, type.text));
}

/* ---- Squares ---- */

static int square_of(const copy *p) { return ACCESS_BYTES / size_of(p->c->w, p->k); }
static int parts_of(const copy *p) { return p->c->lanes / square_of(p); }

/* Lanes first .. first + count - 1 of two vectors of so many, one behind the other. */
static ssa lanes_from(emit *e, int bits, int lanes, ssa low, const char *high, int first, int count) {
    text mask = {0};
    for (int i = 0; i < count; i++)
        text_printf(&mask, "%si32 %d", i ? ", " : "", first + i);
    e->failed |= mask.failed;
    ssa all = emit_value(e, "shufflevector <%d x i%d> %s, <%d x i%d> %s, <%d x i32> <%s>", lanes, bits, low.text, lanes,
                         bits, high, count, mask.failed ? "" : mask.data);
    text_free(&mask);
    return all;
}

/* Vectors behind each other, a power of two of them, as one. */
static ssa concatenate(emit *e, int bits, int n, int count, const ssa *vectors) {
    if (count == 1)
        return vectors[0];
    ssa low = concatenate(e, bits, n, count / 2, vectors),
        high = concatenate(e, bits, n, count / 2, vectors + count / 2);
    return lanes_from(e, bits, n * count / 2, low, high.text, 0, n * count);
}

static ssa part_of(emit *e, int bits, int n, int parts, int part, ssa vector) {
    return lanes_from(e, bits, n * parts, vector, "undef", part * n, n);
}

/* So many elements of all calls as lie side by side in 16 bytes. */
static void copy_square(const copy *p, ssa offset, ssa element) {
    emit *e = p->c->w->s.e;
    int n = square_of(p), parts = parts_of(p), size = size_of(p->c->w, p->k);
    fragment few = fragment_of("<%d x i%d>", n, 8 * size), all = fragment_of("<%d x i%d>", n * parts, 8 * size);
    ssa line[SQUARE_MAX], array[SQUARE_MAX];
    for (int i = 0; i < n; i++)
        array[i] = array_at(p, emit_op(e, "add i64", element, ssa_constant(i * p->apart)), 0, all.text);
    for (int i = 0; i < n; i++) {
        ssa own[LANE_CALLS_MOST];
        if (p->out) {
            line[i] = emit_load_as(e, all.text, array[i], size);
            continue;
        }
        for (int part = 0; part < parts; part++)
            own[part] = emit_load_as(e, few.text, memory_at(p, part * n + i, offset, few.text), size);
        line[i] = concatenate(e, 8 * size, n, parts, own);
    }
    emit_transpose(e, all.text, n, parts, line);
    for (int i = 0; i < n; i++) {
        if (!p->out)
            emit_store_as(e, all.text, line[i], array[i], size);
        for (int part = 0; part < parts && p->out; part++)
            emit_store_as(e, few.text, parts == 1 ? line[i] : part_of(e, 8 * size, n, parts, part, line[i]),
                          memory_at(p, part * n + i, offset, few.text), size);
    }
}

/* ---- Cores ---- */

static void end_loop(emit *e, const counted_loop *l, int step) {
    int hints[] = {loop_no_vectors(e), loop_no_unroll(e)};
    counted_loop_end_hints(e, l, ssa_constant(step), hints, COUNT(hints));
}

/* Neighbours in the core and in the array of the one call there is. */
static int line_of(const copy *p) { return LINE_COPY / size_of(p->c->w, p->k); }

static void copy_line(const copy *p, ssa offset, ssa element) {
    fragment type = fragment_of("<%d x i%d>", line_of(p), 8 * size_of(p->c->w, p->k));
    move_bits(p, type.text, memory_at(p, 0, offset, type.text), array_at(p, element, 0, type.text));
}

/* ---- One call at a time ---- */

/* The elements along the innermost dimension of the array of so many neighbours in memory, which are `apart` elements apart there. */
static void copy_neighbours(const copy *p, ssa offset, ssa element, ssa count, int apart) {
    gufunc_writer *w = p->c->w;
    const layout_operand *o = &w->layout->operands[p->k];
    int inner = p->c->inner[p->k];
    emit_call_copy(w->s.e,
                   &(call_copy){.size = size_of(w, p->k),
                                .array = array_at(p, element, 0, "i8"),
                                .memory = memory_at(p, 0, offset, "i8"),
                                .extent = ssa_constant(w->s.v->gufunc.size[o->dim[inner]]),
                                .step = w->core[o->strides + inner],
                                .count = count,
                                .pitch = ssa_constant(apart)},
                   p->out);
}

/* Elements that lie side by side along another dimension than in the array. */
static bool is_turned(const copy *p) { return p->c->lanes == 1 && p->apart > 1; }

static void copy_turned(const copy *p, ssa offset, ssa element) {
    copy_neighbours(p, offset, element, ssa_constant(p->length), p->apart);
}

/* All calls of a group, which lie side by side. */
static void copy_group(const copy *p, ssa offset, ssa element) {
    copy_neighbours(p, offset, element, p->calls, pitch_of(p->c, p->k));
}

static bool goes_along_inner(void (*each)(const copy *, ssa, ssa)) { return each == copy_turned || each == copy_group; }

/* ---- Whole cores ---- */

/* Elements that lie side by side, by squares or lines, the last of which has some of the one before it once more; fewer one by one. */
static void copy_run(const copy *p, ssa offset, ssa element) {
    emit *e = p->c->w->s.e;
    bool lines = p->c->lanes == 1 && p->apart == 1;
    int n = lines ? line_of(p) : parts_of(p) ? square_of(p) : 1, step = p->length < n ? 1 : n;
    counted_loop l = counted_loop_begin(e, "i64", ssa_constant(0), ssa_constant(p->length));
    ssa i = unknown_each_time(e, p->length % step ? emit_min(e, l.i, ssa_constant(p->length - step)) : l.i);
    (step == 1 ? copy_element
     : lines   ? copy_line
               : copy_square)(p, emit_op(e, "add i64", offset, i),
                            emit_op(e, "add i64", element, emit_value(e, "mul i64 %s, %d", i.text, p->apart)));
    end_loop(e, &l, step);
}

/* All dimensions of the core from d on, but for those along which `each` goes. */
static void copy_along(const copy *p, int d, ssa offset, ssa element, void (*each)(const copy *, ssa, ssa)) {
    const gufunc_writer *w = p->c->w;
    emit *e = w->s.e;
    const layout_operand *o = &w->layout->operands[p->k];
    if (d == o->rank) {
        each(p, offset, element);
        return;
    }
    if ((p->length > 1 && d == p->along) || (goes_along_inner(each) && d == p->c->inner[p->k])) {
        copy_along(p, d + 1, offset, element, each);
        return;
    }
    counted_loop l = counted_loop_begin(e, "i64", ssa_constant(0), ssa_constant(w->s.v->gufunc.size[o->dim[d]]));
    ssa i = unknown_each_time(e, l.i);
    copy_along(p, d + 1, emit_op(e, "add i64", offset, emit_op(e, "mul i64", i, w->core[o->strides + d])),
               emit_op(e, "add i64", element, emit_value(e, "mul i64 %s, %d", i.text, apart_of(p->c, p->k, d))), each);
    end_loop(e, &l, 1);
}

static void copy_all(const copy *p) {
    ssa none = ssa_constant(0);
    if (is_whole(p))
        copy_run(p, none, none);
    else
        copy_along(p, 0, none, none, is_turned(p) ? copy_turned : p->length > 1 ? copy_run : copy_element);
}

static void copy_core(const lane_calls *c, int k, const ssa *row, bool out) {
    gufunc_writer *w = c->w;
    copy p = copy_of(c, k, row, out);
    int end =
        ssa_is_set(c->beside[k]) ? skeleton_if(&w->s, emit_value(w->s.e, "xor i1 %s, true", c->beside[k].text)) : 0;
    copy_all(&p);
    if (end)
        skeleton_end_if(&w->s, end);
}

/* ---- Calls ---- */

static void find_calls(lane_calls *c, ssa first, ssa extent) {
    emit *e = c->w->s.e;
    ssa last = emit_op(e, "sub i64", extent, ssa_constant(1));
    for (int l = 0; l < c->lanes; l++)
        c->call[l] = l ? emit_min(e, emit_op(e, "add i64", first, ssa_constant(l)), last) : first;
    c->full = emit_op(e, "icmp sle i64", emit_op(e, "add i64", first, ssa_constant(c->lanes - 1)), last);
}

/* Where the kernel finds operand k: an array whose calls lie side by side needs no copy. */
static void find_base(lane_calls *c, int k, const ssa *row) {
    gufunc_writer *w = c->w;
    emit *e = w->s.e;
    ssa at = skeleton_address(&w->s, k, row[k], emit_op(e, "mul i64", c->call[0], c->stride[k]));
    fragment type = fragment_of("%s*", ir_memory_type(skeleton_memory(&w->s, k)));
    c->beside[k] = ssa_none();
    c->base[k] = is_copied(c, k) ? c->array[k] : at;
    if (!is_copied(c, k) || (gufunc_is_core(w, k) && w->s.v->operand[k].staged))
        return;
    ssa next = emit_value(e, "icmp eq i64 %s, 1", c->stride[k].text);
    c->beside[k] = emit_op(e, "and i1", c->full, next);
    c->base[k] = emit_select_as(e, type.text, c->beside[k], at, c->array[k]);
}

/* The core strides of what the kernel computes with. */
static ssa *strides_of(const lane_calls *c) {
    const gufunc_writer *w = c->w;
    emit *e = w->s.e;
    ssa *core = arena_alloc(e->a, (size_t)w->layout->nparameters * sizeof *core);
    memcpy(core, w->core, (size_t)w->layout->nparameters * sizeof *core);
    for (int k = 0; k < w->s.nin + w->s.v->nout; k++)
        for (int d = 0; d < w->layout->operands[k].rank && ssa_is_set(c->beside[k]); d++) {
            ssa *stride = &core[w->layout->operands[k].strides + d];
            *stride = emit_select_as(e, "i64", c->beside[k], *stride, ssa_constant(apart_of(c, k, d) * c->lanes));
        }
    return core;
}

/* The calls of the lanes. */
static void compute(const lane_calls *c) {
    gufunc_writer *w = c->w;
    emit *e = w->s.e;
    ssa *core = w->core;
    w->core = strides_of(c);
    counted_loop l = counted_loop_begin(e, "i64", ssa_constant(0), ssa_constant(c->lanes));
    e->access_group = w->accesses;
    for (int k = 0; k < w->s.noperands; k++)
        if (skeleton_is_array(&w->s, k))
            w->at[k] = emit_element(e, skeleton_memory(&w->s, k), c->base[k], l.i);
    gufunc_call(w, ssa_none());
    e->access_group = 0;
    w->core = core;
    int hints[1 + ONE_VECTOR_HINTS] = {emit_metadata(e, "!{!\"llvm.loop.parallel_accesses\", !%d}", w->accesses)};
    loop_one_vector(e, c->lanes, hints + 1);
    counted_loop_end_hints(e, &l, ssa_constant(1), hints, COUNT(hints));
}

/* Must the array have what the operand holds before the kernel runs? */
static bool is_copied_in(const lane_calls *c, int k) {
    const gufunc_writer *w = c->w;
    return is_copied(c, k) &&
           (k < w->s.nin || (w->s.v->gufunc.unrolled ? w->reads_output[k] : needs_content(w->s.t->kernel, k)));
}

/* Calls in lanes. */
static void lanes_row(lane_calls *c, const ssa *row, ssa extent) {
    gufunc_writer *w = c->w;
    emit *e = w->s.e;
    counted_loop l = counted_loop_begin(e, "i64", ssa_constant(0), extent);
    find_calls(c, l.i, extent);
    for (int k = 0; k < w->s.noperands; k++)
        if (skeleton_is_array(&w->s, k))
            find_base(c, k, row);
    for (int k = 0; k < w->s.noperands; k++)
        if (is_copied_in(c, k))
            copy_core(c, k, row, false);
    compute(c);
    for (int k = w->s.nin; k < w->s.noperands; k++)
        if (is_copied(c, k))
            copy_core(c, k, row, true);
    counted_loop_end(e, &l, ssa_constant(c->lanes), loop_no_unroll(e));
}

/* ---- Groups of calls, which are computed one by one ---- */

typedef struct group {
    lane_calls *c;
    const ssa *row;
    ssa first, count; /* the calls */
} group;

static ssa array_of(const lane_calls *c, int k, ssa call) {
    const gufunc_writer *w = c->w;
    emit *e = w->s.e;
    return emit_element(e, skeleton_memory(&w->s, k), c->array[k],
                        emit_value(e, "mul i64 %s, %d", call.text, pitch_of(c, k)));
}

/* Copies each call by itself. */
static void copy_each(const group *g, int k, bool out) {
    gufunc_writer *w = g->c->w;
    emit *e = w->s.e;
    counted_loop l = counted_loop_begin(e, "i64", ssa_constant(0), g->count);
    g->c->call[0] = emit_op(e, "add i64", g->first, l.i);
    copy p = copy_of(g->c, k, g->row, out);
    p.array = array_of(g->c, k, l.i);
    copy_all(&p);
    end_loop(e, &l, 1);
}

static void copy_calls(const group *g, int k, bool out) {
    lane_calls *c = g->c;
    gufunc_writer *w = c->w;
    emit *e = w->s.e;
    if (w->s.v->operand[k].unit) {
        copy_each(g, k, out);
        return;
    }
    ssa beside = emit_value(e, "icmp eq i64 %s, 1", c->stride[k].text);
    int together = skeleton_if(&w->s, beside);
    c->call[0] = g->first;
    copy p = copy_of(c, k, g->row, out);
    p.calls = g->count;
    copy_along(&p, 0, ssa_constant(0), ssa_constant(0), copy_group);
    skeleton_end_if(&w->s, together);
    int apart = skeleton_if(&w->s, emit_value(e, "xor i1 %s, true", beside.text));
    copy_each(g, k, out);
    skeleton_end_if(&w->s, apart);
}

static void compute_each(const group *g) {
    lane_calls *c = g->c;
    gufunc_writer *w = c->w;
    emit *e = w->s.e;
    counted_loop l = counted_loop_begin(e, "i64", ssa_constant(0), g->count);
    ssa call = emit_op(e, "add i64", g->first, l.i);
    e->access_group = w->accesses;
    for (int k = 0; k < w->s.noperands; k++)
        if (skeleton_is_array(&w->s, k))
            w->at[k] = is_copied(c, k)
                           ? array_of(c, k, l.i)
                           : skeleton_address(&w->s, k, g->row[k], emit_op(e, "mul i64", call, c->stride[k]));
    gufunc_call(w, ssa_none());
    e->access_group = 0;
    end_loop(e, &l, 1);
}

static void groups_row(lane_calls *c, const ssa *row, ssa extent) {
    gufunc_writer *w = c->w;
    emit *e = w->s.e;
    counted_loop l = counted_loop_begin(e, "i64", ssa_constant(0), extent);
    ssa size = ssa_constant(c->group);
    group g = {.c = c, .row = row, .first = l.i, .count = emit_min(e, emit_op(e, "sub i64", extent, l.i), size)};
    for (int k = 0; k < w->s.noperands; k++)
        if (is_copied_in(c, k))
            copy_calls(&g, k, false);
    compute_each(&g);
    for (int k = w->s.nin; k < w->s.noperands; k++)
        if (is_copied(c, k))
            copy_calls(&g, k, true);
    counted_loop_end(e, &l, size, loop_no_unroll(e));
}

void lane_calls_row(lane_calls *c, const ssa *row, ssa extent) {
    (c->lanes > 1 ? lanes_row : groups_row)(c, row, extent);
}
