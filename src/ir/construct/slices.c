/* slices.c - see slices.h. Loads go by vectors along the operand's unit dimension where the launch is aligned and the slice is whole; that
 * the variant has vectors says that they fit the extents (variant.gufunc.vector, src/gpu/shared_tile.c). */
#include "ir/construct/slices.h"

#include <stdio.h>

#include "ir/common/nodes.h"
#include "ir/common/skeleton.h"

enum {
    SHARED_BYTES = 44 << 10 /* of all buffers */
};

static dtype type_of(const slices *s, int k) { return (dtype)s->of[k].value->type; }
static int size_of(const slices *s, int k) { return dtypes[type_of(s, k)].size; }
static int length_of(const slices *s, int k) { return s->side[s->of[k].side].length; }

int slices_vector(const slices *s, int k) { return size_of(s, k) < ACCESS_BYTES ? ACCESS_BYTES / size_of(s, k) : 1; }

/* Elements from one place to the next: vectors stay aligned, and columns of the array lie in different banks. */
static int pitch_of(const slices *s, int k) { return length_of(s, k) + slices_vector(s, k); }

static ssa plus(emit *e, ssa x, int by) { return by ? emit_value(e, "add i64 %s, %d", x.text, by) : x; }
static ssa part(emit *e, ssa x, int from, int count) {
    ssa high = from ? emit_value(e, "lshr i64 %s, %d", x.text, from) : x;
    return emit_value(e, "and i64 %s, %d", high.text, count - 1);
}

static int log2_of(int x) { return x > 1 ? 1 + log2_of(x / 2) : 0; }

/* ---- A thread's part of a source ---- */

/* So many accesses, each of `vector` neighbours along the depth or along the side. */
typedef struct share {
    int accesses, vector;
    bool along_depth;
} share;

static share share_of(const body *b, const slices *s, int k) {
    const slice_source *x = &s->of[k];
    const variant *v = b->e->frame->v;
    int unit = v->operand[x->element->local].unit, all = length_of(s, k) * s->depth;
    share p = {.along_depth = unit == (x->depth_0 ? 1 : 2)};
    int along = p.along_depth ? s->depth : length_of(s, k);
    p.vector = unit ? s->vector : 1;
    while (p.vector > 1 && (p.vector > along || all / p.vector < s->threads))
        p.vector /= 2;
    p.accesses = all / p.vector / s->threads;
    p.accesses += !p.accesses;
    return p;
}

/* Where access i begins: along the side, and along the depth. Neighbouring threads make neighbouring accesses; where there are more
 * threads than accesses, several make the same. */
static void find_access(emit *e, const slices *s, int k, const share *p, int i, ssa *side, ssa *depth) {
    int fast_all = (p->along_depth ? s->depth : length_of(s, k)) / p->vector,
        slow_all = p->along_depth ? length_of(s, k) : s->depth;
    ssa fast, slow;
    if (s->threads >= fast_all) {
        int lines = s->threads / fast_all;
        fast = part(e, s->thread, 0, fast_all);
        slow = plus(e, part(e, s->thread, log2_of(fast_all), lines < slow_all ? lines : slow_all), i * lines);
    } else {
        int each = fast_all / s->threads;
        fast = plus(e, s->thread, i % each * s->threads);
        slow = ssa_constant(i / each);
    }
    if (p->vector > 1)
        fast = emit_value(e, "mul i64 %s, %d", fast.text, p->vector);
    *side = p->along_depth ? slow : fast;
    *depth = p->along_depth ? fast : slow;
}

/* ---- Loading ---- */

static void hold(body *b, const slices *s, int k, int at, ssa value) {
    const char *type = ir_value_type(type_of(s, k));
    emit_line(b->e, "store %s %s, %s* %s", type, value.text, type, s->held[k][at].text);
}

static void load_vector(body *b, const slices *s, int k, const share *p, int i) {
    const slice_source *x = &s->of[k];
    ssa *all = emit_core_vector(b, x->element, p->vector);
    for (int j = 0; j < p->vector; j++)
        hold(b, s, k, i * p->vector + j, emit_convert(b->e, all[j], (dtype)x->element->type, (dtype)x->value->type));
}

/* Makes access i. whole: by a vector, and all its places exist. */
static void load_access(body *b, const slices *s, int k, const share *p, int i, ssa first, bool whole) {
    emit *e = b->e;
    const slice_side *along = &s->side[s->of[k].side];
    ssa side, depth, last = emit_value(e, "sub i64 %s, 1", s->end.text);
    find_access(e, s, k, p, i, &side, &depth);
    side = emit_op(e, "add i64", along->first, side);
    depth = emit_op(e, "add i64", first, depth);
    bool vector = whole && p->vector > 1;
    for (int j = 0; j < (vector ? 1 : p->vector); j++) {
        ssa own = plus(e, depth, p->along_depth ? j : 0);
        int behind = vector && !p->along_depth ? p->vector : 1; /* elements from the first on that must exist */
        b->bound[s->variable] = whole ? own : emit_min(e, own, last);
        b->bound[along->variable] = emit_min(e, plus(e, side, p->along_depth ? 0 : j),
                                             emit_value(e, "sub i64 %s, %d", along->extent.text, behind));
        if (vector)
            load_vector(b, s, k, p, i);
        else
            hold(b, s, k, i * p->vector + j, emit_expression(b, s->of[k].value));
    }
}

static void load_all(body *b, const slices *s, ssa first, bool whole) {
    for (int k = 0; k < s->count; k++) {
        share p = share_of(b, s, k);
        for (int i = 0; i < p.accesses; i++)
            load_access(b, s, k, &p, i, first, whole);
    }
}

void slices_load(body *b, slices *s, ssa first) {
    emit *e = b->e;
    int whole = emit_label_new(e), some = emit_label_new(e), end = emit_label_new(e);
    ssa behind = plus(e, first, s->depth), is_whole = emit_op(e, "icmp sle i64", behind, s->end);
    if (s->vector > 1)
        is_whole = emit_op(e, "and i1", is_whole, ssa_named("%%aligned"));
    emit_branch_if(e, is_whole, whole, some);
    emit_label(e, whole);
    load_all(b, s, first, true);
    emit_branch(e, end);
    emit_label(e, some);
    load_all(b, s, first, false);
    emit_branch(e, end);
    emit_label(e, end);
}

/* ---- Shared memory ---- */

/* Its address is that of components, as everywhere in memory. */
ssa slices_address(body *b, const slices *s, int k, ssa buffer, ssa position) {
    emit *e = b->e;
    const char *type = ir_memory_type(type_of(s, k));
    int size = s->depth * pitch_of(s, k), parts = dtype_is_complex(type_of(s, k)) ? 2 : 1;
    char key[32];
    snprintf(key, sizeof key, "@slices_%d", k);
    if (emit_once(e, key))
        text_printf(&e->declarations, "%s = internal addrspace(3) global [%d x %s] undef, align 16\n", key,
                    2 * size * parts, type);
    ssa at = emit_op(e, "add i64", emit_value(e, "mul i64 %s, %d", buffer.text, size), position);
    at = emit_value(e, "mul i64 %s, %d", at.text, parts);
    return emit_value(e, "getelementptr [%d x %s], [%d x %s] addrspace(3)* %s, i64 0, i64 %s", 2 * size * parts, type,
                      2 * size * parts, type, key, at.text);
}

static ssa held_value(body *b, const slices *s, int k, int at) {
    const char *type = ir_value_type(type_of(s, k));
    return emit_value(b->e, "load %s, %s* %s", type, type, s->held[k][at].text);
}

static void store_access(body *b, const slices *s, int k, const share *p, int i, ssa buffer) {
    emit *e = b->e;
    dtype t = type_of(s, k);
    ssa side, depth, value[ACCESS_BYTES];
    find_access(e, s, k, p, i, &side, &depth);
    ssa at = emit_op(e, "add i64", emit_value(e, "mul i64 %s, %d", depth.text, pitch_of(s, k)), side);
    ssa to = slices_address(b, s, k, buffer, at);
    for (int j = 0; j < p->vector; j++)
        value[j] = held_value(b, s, k, i * p->vector + j);
    e->shared = true;
    if (!p->along_depth && p->vector > 1)
        emit_store_vector(e, t, value, to, p->vector);
    else
        for (int j = 0; j < p->vector; j++)
            emit_store(e, t, value[j], emit_element(e, t, to, ssa_constant(j * pitch_of(s, k))));
    e->shared = false;
}

void slices_store(body *b, const slices *s, ssa buffer) {
    for (int k = 0; k < s->count; k++) {
        share p = share_of(b, s, k);
        for (int i = 0; i < p.accesses; i++)
            store_access(b, s, k, &p, i, buffer);
    }
}

void slices_read(body *b, const slices *s, int k, ssa address, ssa place, int position, int n, ssa *out) {
    emit *e = b->e;
    dtype t = type_of(s, k);
    int64_t known;
    ssa offset = ssa_is_constant(place, &known)
                     ? ssa_constant(known * pitch_of(s, k) + position)
                     : plus(e, emit_value(e, "mul i64 %s, %d", place.text, pitch_of(s, k)), position);
    e->shared = true;
    emit_load_vector(e, t, emit_element(e, t, address, offset), n, out);
    e->shared = false;
}

/* ---- Beginning ---- */

static int bytes_of(const slices *s) {
    int bytes = 0;
    for (int k = 0; k < s->count; k++)
        bytes += 2 * s->depth * pitch_of(s, k) * size_of(s, k);
    return bytes;
}

void slices_begin(body *b, slices *s, int depth) {
    s->depth = depth;
    while (s->depth > 1 && bytes_of(s) > SHARED_BYTES)
        s->depth /= 2;
    for (int k = 0; k < s->count; k++) {
        share p = share_of(b, s, k);
        s->held[k] = arena_alloc(b->e->a, (size_t)(p.accesses * p.vector) * sizeof *s->held[k]);
        for (int i = 0; i < p.accesses * p.vector; i++)
            s->held[k][i] = emit_slot(b, ir_value_type(type_of(s, k)));
    }
}
