/* cpu_extremum.c - the position of the first largest or smallest element on the CPU. A loop over elements and positions has to choose both
 * for each element. Here the work is done by chunks of keys, which are values that are ordered as the elements are: the best keys of a
 * chunk, one a lane, are found by values alone, and only these are compared with the best ones before, and the number of the chunk noted
 * where they are better. In the end the first chunk that has the best key of all is known, and that is searched. Keys are the elements
 * as they lie in memory, or, where these are not side by side or are halves, copies of them in an array. Of a row that is no more than
 * two chunks both are held in registers. Of bools the first one is looked for that nothing beats. NaN that goes behind all numbers is
 * taken for the infinity that all of them beat. */
#include "ir/common/internal.h"
#include "ir/reduce/pairwise.h"

enum {
    BLOCK_KEYS = 8192,  /* in a block, and in the last one less than a chunk more: numbers of chunks fit a byte */
    COPIED_KEYS = 1024, /* the same where keys are copied, since copies are to stay in the first level cache */
    LANES_MOST = 64,    /* in a chunk, since their bits fit a word */
    CHUNK_VECTORS = 4,  /* in a chunk, at most, */
    FEW_VECTORS = 8,    /* and in each of the two of a short row */
    VECTOR_BITS_MIN = 128
};

/* Some keys that follow each other; or a bit for each. */
typedef struct chunk {
    ssa v[FEW_VECTORS];
    int vectors, lanes; /* of each */
} chunk;

/* ---- Keys ---- */

static dtype key_of(dtype element) {
    return dtype_is_half(element) ? DT_FLOAT32 : element == DT_BOOL ? DT_UINT8 : element;
}

static bool is_floating(const extremum_search *x) { return dtype_is_floating(x->key); }

static bool is_largest(const extremum_search *x) {
    return x->which == EXTREMUM_LARGEST || x->which == EXTREMUM_LARGEST_NUMBER;
}

/* Does NaN go behind all numbers? */
static bool passes_nan(const extremum_search *x) {
    return is_floating(x) && (x->which == EXTREMUM_LARGEST_NUMBER || x->which == EXTREMUM_SMALLEST_NUMBER);
}

/* Does it go before them? */
static bool finds_nan(const extremum_search *x) { return is_floating(x) && !passes_nan(x); }

static bool is_bool(const extremum_search *x) { return x->c->w->f->state[0] == DT_BOOL; }

static const char *key_type(const extremum_search *x) { return ir_memory_type(x->key); }

static fragment vector_type(const extremum_search *x, int lanes) {
    return fragment_of("<%d x %s>", lanes, key_type(x));
}

static int lanes_most(const extremum_search *x, int vectors) {
    return x->lanes * vectors < LANES_MOST ? x->lanes * vectors : LANES_MOST;
}

static ssa splat(const extremum_search *x, fragment vector, const char *type, ssa a, int lanes) {
    emit *e = x->c->w->s.e;
    ssa one = emit_value(e, "insertelement %s undef, %s %s, i32 0", vector.text, type, a.text);
    return emit_value(e, "shufflevector %s %s, %s undef, <%d x i32> zeroinitializer", vector.text, one.text,
                      vector.text, lanes);
}

static ssa choose(const extremum_search *x, fragment vector, int lanes, ssa mask, ssa yes, ssa no) {
    return emit_value(x->c->w->s.e, "select <%d x i1> %s, %s %s, %s %s", lanes, mask.text, vector.text, yes.text,
                      vector.text, no.text);
}

/* Is a better than b, which are keys or vectors of them? Of NaN it is not known. */
static ssa beats(const extremum_search *x, const char *type, ssa a, ssa b) {
    const char *sort = is_floating(x) ? "fcmp o" : dtypes[x->key].is_signed ? "icmp s" : "icmp u";
    const char *relation = is_largest(x) ? "gt" : "lt";
    return emit_value(x->c->w->s.e, "%s%s %s %s, %s", sort, relation, type, a.text, b.text);
}

/* The better of each two keys, either of equal ones; if a is NaN, b. */
static ssa better(const extremum_search *x, int lanes, ssa a, ssa b) {
    fragment vector = vector_type(x, lanes);
    return choose(x, vector, lanes, beats(x, vector.text, a, b), a, b);
}

/* The infinity that all numbers beat. */
static ssa worst(const extremum_search *x) {
    return ssa_literal(is_largest(x) ? "0xFFF0000000000000" : "0x7FF0000000000000");
}

/* Keys of which NaN are the worst number, where they go behind all. */
static ssa numbers_alone(const extremum_search *x, int lanes, ssa keys) {
    return passes_nan(x) ? better(x, lanes, keys, splat(x, vector_type(x, lanes), key_type(x), worst(x), lanes)) : keys;
}

/* Is there nothing better than this key, which is an integer? */
static ssa is_last(const extremum_search *x, ssa key) {
    int bits = 8 * dtypes[x->key].size;
    bool largest = is_largest(x);
    int64_t last = !dtypes[x->key].is_signed ? -(int64_t)largest
                   : largest                 ? INT64_MAX >> (64 - bits)
                                             : -(INT64_MAX >> (64 - bits)) - 1;
    return emit_value(x->c->w->s.e, "icmp eq %s %s, %lld", key_type(x), key.text, (long long)last);
}

/* ---- Elements ---- */

static element_place moved(const extremum_search *x, const element_place *p, ssa by) {
    return element_place_moved(x->c->w, p, &x->c->lane, by);
}

static partial element(const extremum_search *x, const element_place *p) {
    fold_writer *w = x->c->w;
    ssa in[VARIANT_OPERANDS];
    fold_load(w, p->at, in);
    return fold_element(w, in, p->position);
}

/* Are elements in memory what keys are, side by side? A bool in memory may be any byte, so that it is compared with 0. */
static bool lies_ready(const extremum_search *x) {
    const fold_writer *w = x->c->w;
    return ssa_is(x->c->lane.by[0], 1) && skeleton_memory(&w->s, 0) == w->f->state[0] && !dtype_is_half(w->f->state[0]);
}

/* The key of the element that is `by` behind p. */
static ssa key(const extremum_search *x, const element_place *p, ssa by) {
    fold_writer *w = x->c->w;
    element_place at = moved(x, p, by);
    return emit_convert(w->s.e, element(x, &at).v[0], w->state[0], x->key);
}

/* The address of the keys of n elements from p on. */
static ssa keys_at(const extremum_search *x, const element_place *p, ssa n) {
    emit *e = x->c->w->s.e;
    if (lies_ready(x))
        return p->at[0];
    lane_loop l = lanes_begin(e, n, false);
    l.scalar = pairwise_has_gaps(x->c, true);
    emit_store(e, x->key, key(x, p, l.loop.i), emit_element(e, x->key, x->keys, l.loop.i));
    lanes_end(e, &l, false);
    return x->keys;
}

/* ---- Chunks ---- */

static chunk chunk_load(const extremum_search *x, ssa keys, int lanes) {
    emit *e = x->c->w->s.e;
    chunk c = {.lanes = lanes < x->lanes ? lanes : x->lanes};
    c.vectors = lanes / c.lanes;
    fragment vector = vector_type(x, c.lanes);
    for (int j = 0; j < c.vectors; j++) {
        ssa at = emit_element(e, x->key, keys, ssa_constant((int64_t)j * c.lanes));
        ssa keys_there =
            emit_load_as(e, vector.text, emit_pointer_as(e, key_type(x), at, vector.text), dtypes[x->key].align);
        c.v[j] = numbers_alone(x, c.lanes, keys_there);
    }
    return c;
}

/* Vectors of bits of a chunk. */
static ssa masks_or(const extremum_search *x, const chunk *masks) {
    ssa any = masks->v[0];
    for (int j = 1; j < masks->vectors; j++)
        any = emit_value(x->c->w->s.e, "or <%d x i1> %s, %s", masks->lanes, any.text, masks->v[j].text);
    return any;
}

static ssa is_any(const extremum_search *x, const chunk *masks) {
    emit *e = x->c->w->s.e;
    ssa bits = emit_value(e, "bitcast <%d x i1> %s to i%d", masks->lanes, masks_or(x, masks).text, masks->lanes);
    return emit_value(e, "icmp ne i%d %s, 0", masks->lanes, bits.text);
}

/* All bits of a chunk, the first one lowest (i64). */
static ssa bits_of(const extremum_search *x, const chunk *masks) {
    emit *e = x->c->w->s.e;
    ssa all = ssa_constant(0);
    for (int j = 0; j < masks->vectors; j++) {
        ssa bits = emit_value(e, "bitcast <%d x i1> %s to i%d", masks->lanes, masks->v[j].text, masks->lanes);
        if (masks->lanes < 64)
            bits = emit_value(e, "zext i%d %s to i64", masks->lanes, bits.text);
        if (j)
            bits = emit_value(e, "shl i64 %s, %d", bits.text, j * masks->lanes);
        all = j ? emit_op(e, "or i64", all, bits) : bits;
    }
    return all;
}

/* Which keys are as good as the best, none being NaN? Of bools: which are what nothing beats? */
static chunk wanted(const extremum_search *x, const chunk *c, ssa best) {
    emit *e = x->c->w->s.e;
    const char *relation = is_floating(x) ? "fcmp oeq" : is_bool(x) && is_largest(x) ? "icmp ne" : "icmp eq";
    fragment vector = vector_type(x, c->lanes);
    ssa all = is_bool(x) ? ssa_literal("zeroinitializer") : splat(x, vector, key_type(x), best, c->lanes);
    chunk masks = *c;
    for (int j = 0; j < c->vectors; j++)
        masks.v[j] = emit_value(e, "%s %s %s, %s", relation, vector.text, c->v[j].text, all.text);
    return masks;
}

/* Is a key of two chunks, or of the halves of one, NaN (i1)? A comparison is for both. */
static ssa has_nan(const extremum_search *x, const chunk *a, const ssa *b, int vectors) {
    chunk masks = {.lanes = a->lanes, .vectors = vectors};
    for (int j = 0; j < vectors; j++)
        masks.v[j] =
            emit_value(x->c->w->s.e, "fcmp uno %s %s, %s", vector_type(x, a->lanes).text, a->v[j].text, b[j].text);
    return is_any(x, &masks);
}

/* `count` lanes of a vector, from `first` on and then from 0 on. */
static ssa some_lanes(const extremum_search *x, const char *type, ssa a, int lanes, int first, int count) {
    text list = {0};
    emit *e = x->c->w->s.e;
    for (int i = 0; i < count; i++)
        text_printf(&list, "%si32 %d", i ? ", " : "", (first + i) % lanes);
    e->failed |= list.failed;
    ssa some = emit_value(e, "shufflevector <%d x %s> %s, <%d x %s> undef, <%d x i32> <%s>", lanes, type, a.text, lanes,
                          type, count, list.failed ? "" : list.data);
    text_free(&list);
    return some;
}

/* What two vectors are combined to. */
typedef ssa combiner(const extremum_search *x, int lanes, ssa a, ssa b);

/* The lanes of a vector combined. The last two in both lanes, so that the result stays in a vector if it is used in one. */
static ssa lanes_combined(const extremum_search *x, const char *type, ssa a, int lanes, combiner *combine) {
    for (; lanes > 2; lanes /= 2) {
        int rest = lanes / 2;
        a = combine(x, rest, some_lanes(x, type, a, lanes, 0, rest), some_lanes(x, type, a, lanes, rest, rest));
    }
    if (lanes == 2)
        a = combine(x, 2, a, some_lanes(x, type, a, 2, 1, 2));
    return emit_value(x->c->w->s.e, "extractelement <%d x %s> %s, i32 0", lanes, type, a.text);
}

/* The best keys of the lanes of a chunk's vectors. */
static ssa vectors_best(const extremum_search *x, const chunk *c) {
    ssa v[FEW_VECTORS];
    memcpy(v, c->v, sizeof v);
    for (int n = c->vectors / 2; n; n /= 2)
        for (int j = 0; j < n; j++)
            v[j] = better(x, c->lanes, v[j], v[j + n]);
    return v[0];
}

static ssa best_lane(const extremum_search *x, ssa keys, int lanes) {
    return lanes_combined(x, key_type(x), keys, lanes, better);
}

/* Where the first bit is (i64), one of which is set. */
static ssa first_bit(const extremum_search *x, ssa bits) {
    emit *e = x->c->w->s.e;
    emit_declare(e, "declare i64 @llvm.cttz.i64(i64, i1)");
    return emit_value(e, "call i64 @llvm.cttz.i64(i64 %s, i1 false)", bits.text);
}

/* ---- Variables ---- */

static ssa get(const extremum_search *x, ssa variable) {
    return emit_value(x->c->w->s.e, "load i64, i64* %s", variable.text);
}

static void set(const extremum_search *x, ssa variable, ssa value) {
    emit_line(x->c->w->s.e, "store i64 %s, i64* %s", value.text, variable.text);
}

static ssa vector_get(const extremum_search *x, fragment vector, ssa variable) {
    return emit_value(x->c->w->s.e, "load %s, %s* %s", vector.text, vector.text, variable.text);
}

static void vector_set(const extremum_search *x, fragment vector, ssa variable, ssa value) {
    emit_line(x->c->w->s.e, "store %s %s, %s* %s", vector.text, value.text, vector.text, variable.text);
}

static ssa best_get(const extremum_search *x) { return emit_load(x->c->w->s.e, x->key, x->best); }

/* ---- NaN ---- */

/* Goes on at label `nan` with the element from which on there is one, if two chunks, or the halves of one, have one. */
static void leave_if_nan(const extremum_search *x, const chunk *a, const ssa *b, int vectors, ssa from, int nan) {
    emit *e = x->c->w->s.e;
    int some = emit_label_new(e), none = emit_label_new(e);
    if (!finds_nan(x))
        return;
    emit_branch_if(e, has_nan(x, a, b, vectors), some, none);
    emit_label(e, some);
    set(x, x->at, from);
    emit_branch(e, nan);
    emit_label(e, none);
}

/* Moves x->at to the first NaN from there on: one by one, since nothing is looked for behind it. */
static void find_nan(const extremum_search *x, const element_place *p, int end) {
    emit *e = x->c->w->s.e;
    int head = emit_label_new(e), on = emit_label_new(e);
    emit_branch(e, head);
    emit_label(e, head);
    ssa at = get(x, x->at), a = key(x, p, at);
    emit_branch_if(e, emit_value(e, "fcmp uno %s %s, 0.0", key_type(x), a.text), end, on);
    emit_label(e, on);
    set(x, x->at, emit_value(e, "add i64 %s, 1", at.text));
    emit_branch(e, head);
}

/* Moves x->at, which is the first element that nothing beats but may be NaN, to the first one that is not; if all are, to the last. */
static void pass_nan(const extremum_search *x, const element_place *p, ssa m) {
    emit *e = x->c->w->s.e;
    int head = emit_label_new(e), on = emit_label_new(e), end = emit_label_new(e);
    ssa last = emit_value(e, "sub i64 %s, 1", m.text);
    emit_branch(e, head);
    emit_label(e, head);
    ssa at = get(x, x->at), a = key(x, p, at);
    ssa is_nan = emit_value(e, "fcmp uno %s %s, 0.0", key_type(x), a.text);
    emit_branch_if(e, emit_op(e, "and i1", is_nan, emit_op(e, "icmp slt i64", at, last)), on, end);
    emit_label(e, on);
    set(x, x->at, emit_value(e, "add i64 %s, 1", at.text));
    emit_branch(e, head);
    emit_label(e, end);
}

/* ---- Short rows ---- */

/* Of n keys, at least as many as `lanes` and at most twice as many: two chunks, which may overlap, are all of them. */
static void few(const extremum_search *x, ssa keys, ssa n, int lanes, int nan) {
    emit *e = x->c->w->s.e;
    ssa behind = emit_value(e, "sub i64 %s, %d", n.text, lanes), best = ssa_none();
    chunk a = chunk_load(x, keys, lanes), b = chunk_load(x, emit_element(e, x->key, keys, behind), lanes), both = a;
    if (!is_bool(x)) {
        for (int j = 0; j < a.vectors; j++)
            both.v[j] = better(x, a.lanes, a.v[j], b.v[j]);
        leave_if_nan(x, &a, b.v, a.vectors, ssa_constant(0), nan);
        best = best_lane(x, vectors_best(x, &both), both.lanes);
    }
    chunk in_a = wanted(x, &a, best), in_b = wanted(x, &b, best);
    ssa bits = bits_of(x, &in_a), others = bits_of(x, &in_b);
    ssa second = emit_op(e, "add i64", behind, first_bit(x, others));
    if (is_bool(x))
        second = emit_select_as(e, "i64", emit_value(e, "icmp ne i64 %s, 0", others.text), second, ssa_constant(0));
    ssa found = emit_value(e, "icmp ne i64 %s, 0", bits.text);
    set(x, x->at, emit_select_as(e, "i64", found, first_bit(x, bits), second));
}

/* Of two chunks at most: by code for each number of lanes, since two chunks of so many have to be all keys. */
static void find_in_few(const extremum_search *x, const element_place *p, ssa m, int nan, int end) {
    emit *e = x->c->w->s.e;
    ssa keys = keys_at(x, p, m);
    for (int lanes = lanes_most(x, FEW_VECTORS); lanes > 1; lanes /= 2) {
        int so_many = emit_label_new(e), fewer = emit_label_new(e);
        emit_branch_if(e, emit_value(e, "icmp sgt i64 %s, %d", m.text, lanes), so_many, fewer);
        emit_label(e, so_many);
        few(x, keys, m, lanes, nan);
        emit_branch(e, end);
        emit_label(e, fewer);
    }
    few(x, keys, m, 1, nan);
    emit_branch(e, end);
}

/* ---- Long rows ---- */

/* The numbers of chunks are integers as wide as keys, so that a vector of them is one of what keys are compared to. */
static const char *number_type(const extremum_search *x) {
    static const char *const types[] = {[1] = "i8", [2] = "i16", [4] = "i32", [8] = "i64"};
    return types[dtypes[x->key].size];
}

static fragment number_vector(const extremum_search *x, int lanes) {
    return fragment_of("<%d x %s>", lanes, number_type(x));
}

static ssa smaller_number(const extremum_search *x, int lanes, ssa a, ssa b) {
    fragment vector = number_vector(x, lanes);
    ssa first = emit_value(x->c->w->s.e, "icmp ult %s %s, %s", vector.text, a.text, b.text);
    return choose(x, vector, lanes, first, a, b);
}

/* The number of the chunk that would begin at `place` if the first one were aligned, in all lanes. */
static ssa number_of(const extremum_search *x, ssa place) {
    emit *e = x->c->w->s.e;
    ssa which = emit_value(e, "udiv i64 %s, %d", place.text, x->chunk);
    if (dtypes[x->key].size < 8)
        which = emit_value(e, "trunc i64 %s to %s", which.text, number_type(x));
    return splat(x, number_vector(x, x->lanes), number_type(x), which, x->lanes);
}

/* The chunks of n keys, of which there are as many as in a chunk at least. The first one begins with the first key and the last one ends
 * with the last one; those between are aligned, since vectors across lines of the cache take twice the time. */
typedef struct chunk_loop {
    counted_loop loop;
    ssa before; /* how many keys would lie between the first one and the aligned address before it */
    ssa last;   /* where the last chunk begins */
    ssa at;     /* where this one begins */
} chunk_loop;

/* Where the chunk begins that would begin at `aligned` if the first one were aligned. */
static ssa chunk_place(const extremum_search *x, const chunk_loop *l, ssa aligned) {
    emit *e = x->c->w->s.e;
    ssa at = emit_min(e, emit_op(e, "sub i64", aligned, l->before), l->last);
    return emit_select_as(e, "i64", emit_value(e, "icmp slt i64 %s, 0", at.text), ssa_constant(0), at);
}

/* From chunk `first` on, 0 or 1. */
static chunk_loop chunks_begin(const extremum_search *x, ssa keys, ssa n, int first, chunk *c) {
    emit *e = x->c->w->s.e;
    int size = dtypes[x->key].size;
    ssa address = emit_value(e, "ptrtoint %s* %s to i64", key_type(x), keys.text);
    ssa bytes = emit_value(e, "and i64 %s, %d", address.text, x->lanes * size - 1);
    chunk_loop l = {.before = emit_value(e, "udiv i64 %s, %d", bytes.text, size),
                    .last = emit_value(e, "sub i64 %s, %d", n.text, x->chunk)};
    l.loop = counted_loop_begin(e, "i64", ssa_constant((int64_t)first * x->chunk), emit_op(e, "add i64", n, l.before));
    l.at = chunk_place(x, &l, l.loop.i);
    *c = chunk_load(x, emit_element(e, x->key, keys, l.at), x->chunk);
    return l;
}

static void chunks_end(const extremum_search *x, const chunk_loop *l) {
    emit *e = x->c->w->s.e;
    counted_loop_end(e, &l->loop, ssa_constant(x->chunk), loop_no_unroll(e));
}

/* Of n bools that begin at element `from`, goes on at label `found` with the first chunk that has what nothing beats. */
static void find_last(const extremum_search *x, ssa keys, ssa n, ssa from, int found) {
    emit *e = x->c->w->s.e;
    int here = emit_label_new(e), none = emit_label_new(e);
    chunk c;
    chunk_loop l = chunks_begin(x, keys, n, 0, &c);
    c = wanted(x, &c, ssa_none());
    emit_branch_if(e, is_any(x, &c), here, none);
    emit_label(e, here);
    set(x, x->at, emit_op(e, "add i64", from, l.at));
    emit_branch(e, found);
    emit_label(e, none);
    chunks_end(x, &l);
}

/* Notes in each lane the best of n keys, which begin at element `from`, and the number of the first chunk that has it. */
static chunk_loop note_best(const extremum_search *x, ssa keys, ssa n, ssa from, int nan) {
    fragment vector = vector_type(x, x->lanes), numbers = number_vector(x, x->lanes);
    chunk c = chunk_load(x, keys, x->chunk);
    int halves = (c.vectors + 1) / 2;
    leave_if_nan(x, &c, c.v + c.vectors - halves, halves, from, nan);
    vector_set(x, vector, x->tops, vectors_best(x, &c));
    vector_set(x, numbers, x->numbers, ssa_literal("zeroinitializer"));
    chunk_loop l = chunks_begin(x, keys, n, 1, &c);
    leave_if_nan(x, &c, c.v + c.vectors - halves, halves, emit_op(x->c->w->s.e, "add i64", from, l.at), nan);
    ssa now = vectors_best(x, &c), old = vector_get(x, vector, x->tops);
    ssa which = number_of(x, l.loop.i), old_which = vector_get(x, numbers, x->numbers);
    ssa is_better = beats(x, vector.text, now, old);
    vector_set(x, vector, x->tops, choose(x, vector, x->lanes, is_better, now, old));
    vector_set(x, numbers, x->numbers, choose(x, numbers, x->lanes, is_better, which, old_which));
    chunks_end(x, &l);
    return l;
}

/* Where the first chunk begins that has the best key, which is that of a lane. */
static ssa noted_chunk(const extremum_search *x, const chunk_loop *l, ssa tops, ssa best) {
    emit *e = x->c->w->s.e;
    fragment numbers = number_vector(x, x->lanes);
    chunk all = {.v = {tops}, .vectors = 1, .lanes = x->lanes}, has = wanted(x, &all, best);
    ssa none = splat(x, numbers, number_type(x), ssa_constant(-1), x->lanes);
    ssa which = choose(x, numbers, x->lanes, has.v[0], vector_get(x, numbers, x->numbers), none);
    which = lanes_combined(x, number_type(x), which, x->lanes, smaller_number);
    if (dtypes[x->key].size < 8)
        which = emit_value(e, "zext %s %s to i64", number_type(x), which.text);
    return chunk_place(x, l, emit_value(e, "mul i64 %s, %d", which.text, x->chunk));
}

/* Looks at a block of n keys, which begin at element `from`. Returns whether no element behind can be better than the best so far (i1). */
static ssa look(const extremum_search *x, ssa keys, ssa n, ssa from, int nan) {
    emit *e = x->c->w->s.e;
    chunk_loop l = note_best(x, keys, n, from, nan);
    ssa tops = vector_get(x, vector_type(x, x->lanes), x->tops);
    ssa best = best_lane(x, tops, x->lanes);
    int no_better = skeleton_if(&x->c->w->s, beats(x, key_type(x), best, best_get(x)));
    emit_store(e, x->key, best, x->best);
    set(x, x->at, emit_op(e, "add i64", from, noted_chunk(x, &l, tops, best)));
    skeleton_end_if(&x->c->w->s, no_better);
    return is_floating(x) ? ssa_bool(false) : is_last(x, best_get(x));
}

/* The number of elements in the block from `done` on: those of less than a chunk go with the ones before. */
static ssa block_size(const extremum_search *x, ssa m, ssa done) {
    emit *e = x->c->w->s.e;
    int size = lies_ready(x) ? BLOCK_KEYS : COPIED_KEYS;
    ssa left = emit_op(e, "sub i64", m, done), last = emit_value(e, "icmp slt i64 %s, %d", left.text, size + x->chunk);
    return emit_select_as(e, "i64", last, left, ssa_constant(size));
}

/* Moves x->at from the beginning of a chunk to the first element that is as good as the best; of bools there may be none. */
static void find_in_chunk(const extremum_search *x, const element_place *p) {
    emit *e = x->c->w->s.e;
    ssa at = get(x, x->at);
    element_place from = moved(x, p, at);
    chunk c = chunk_load(x, keys_at(x, &from, ssa_constant(x->chunk)), x->chunk), has = wanted(x, &c, best_get(x));
    ssa bits = bits_of(x, &has), found = emit_value(e, "icmp ne i64 %s, 0", bits.text);
    ssa by = emit_select_as(e, "i64", found, first_bit(x, bits), ssa_constant(0));
    set(x, x->at, emit_op(e, "add i64", at, by));
}

/* Looks at the elements block by block, and then into the chunk that has the best one. */
static void find_in_many(const extremum_search *x, const element_place *p, ssa m, int nan, int end) {
    emit *e = x->c->w->s.e;
    int head = emit_label_new(e), on = emit_label_new(e), found = emit_label_new(e);
    set(x, x->at, ssa_constant(0));
    set(x, x->done, ssa_constant(0));
    emit_store(e, x->key, passes_nan(x) ? worst(x) : key(x, p, ssa_constant(0)), x->best);
    emit_branch(e, head);
    emit_label(e, head);
    ssa done = get(x, x->done);
    emit_branch_if(e, emit_op(e, "icmp slt i64", done, m), on, found);
    emit_label(e, on);
    ssa n = block_size(x, m, done), next = emit_op(e, "add i64", done, n);
    element_place from = moved(x, p, done);
    ssa keys = keys_at(x, &from, n);
    if (is_bool(x))
        find_last(x, keys, n, done, found);
    else
        next = emit_select_as(e, "i64", look(x, keys, n, done, nan), m, next);
    set(x, x->done, next);
    emit_branch(e, head);
    emit_label(e, found);
    find_in_chunk(x, p);
    emit_branch(e, end);
}

/* ---- All of them ---- */

void extremum_run(extremum_search *x, const element_place *p, ssa m) {
    emit *e = x->c->w->s.e;
    int some = emit_label_new(e), many = emit_label_new(e), nan = emit_label_new(e), end = emit_label_new(e);
    emit_branch_if(e, emit_value(e, "icmp sle i64 %s, %d", m.text, 2 * lanes_most(x, FEW_VECTORS)), some, many);
    emit_label(e, some);
    find_in_few(x, p, m, nan, end);
    emit_label(e, many);
    find_in_many(x, p, m, nan, end);
    if (finds_nan(x)) {
        emit_label(e, nan);
        find_nan(x, p, end);
    }
    emit_label(e, end);
    if (passes_nan(x))
        pass_nan(x, p, m);
    element_place at = moved(x, p, get(x, x->at));
    partial found = element(x, &at);
    pairwise_put(x->c, ssa_constant(0), &found);
}

void extremum_begin(extremum_search *x, pairwise *c, extremum which) {
    emit *e = c->w->s.e;
    *x = (extremum_search){.c = c, .which = which};
    if (!which)
        return;
    x->key = key_of(c->w->f->state[0]);
    int size = dtypes[x->key].size, bits = e->target->vector_bits;
    x->lanes = (bits < VECTOR_BITS_MIN ? VECTOR_BITS_MIN : bits) / 8 / size;
    x->chunk = lanes_most(x, CHUNK_VECTORS);
    x->keys = emit_array(e, x->key, COPIED_KEYS + x->chunk);
    x->at = emit_value(e, "alloca i64");
    x->done = emit_value(e, "alloca i64");
    x->best = emit_value(e, "alloca %s", key_type(x));
    x->tops = emit_value(e, "alloca %s", vector_type(x, x->lanes).text);
    x->numbers = emit_value(e, "alloca %s", number_vector(x, x->lanes).text);
}
