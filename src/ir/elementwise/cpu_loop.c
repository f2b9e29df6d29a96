/* cpu_loop.c - the CPU's loops: flat (one loop) and strided (a loop over rows, for LOOP_ROWS and LOOP_GENERAL). Every access to an array in
 * the inner loop is in one access group, of which the loop says that its iterations are independent. That is true: operands that are
 * not exactly the same array do not overlap, and one that is the same is read before it is written. So LLVM makes vector loops
 * without checks at run time, in place too. */
#include <assert.h>

#include "ir/common/nodes.h"
#include "ir/common/target.h"
#include "ir/common/whole_line.h"
#include "ir/elementwise/elementwise.h"

#include "ir/common/internal.h"

enum {
    STRIP = 1024, /* elements */
    CHUNK = 32,   /* of a strip: bytes of its mask are looked at together, */
    NODES = 50,   /* in kernels of at most so many nodes */
    SCALAR_NODES = 24,
    SCALARS = 4,           /* taken at once where there are no vectors, .. */
    SCALARS_AVX2 = 1,      /* .. or with AVX2: of several loads the processor does not foresee what each reads next */
    NARROW_BYTES = 32,     /* of a narrow vector, */
    NARROW_NODES = 12,     /* in kernels of at most so many nodes, */
    NARROW_VECTORS = 4,    /* and so many at once, */
    NARROW_ELEMENTS = 64,  /* but of bytes two, as more would leave over most of a short array, */
    NARROW_LANES = 16,     /* or in the end one of at most so many lanes */
    SHRINKING_LANES = 16,  /* where results are smaller than operands, at most */
    SHRINKING_VECTORS = 4, /* of 512 bits at once */
    FEW_ROOTS = 4,         /* and quotients, that take less time one by one than as a vector */
    SHORT_LANES = 8        /* of the vectors by which a row ends that began by long ones, or several at once */
};

ssa cpu_element(skeleton *s, int k, ssa row, ssa i, const ssa *stride) {
    switch (s->v->operand[k].kind) {
    case OPERAND_STRIDED:
        assert(stride);
        return skeleton_address(s, k, row, emit_op(s->e, "mul i64", i, stride[k]));
    case OPERAND_CONSTANT:
        return row;
    default:
        return skeleton_neighbour(s, k, row, i);
    }
}

/* Are elements with gaps between them as well read one by one as put together in vectors? Words and longer ones; of AVX2's vectors 64-bit integers,
 * which it has few operations for, and complex numbers alone; of those of 512 bits all, since of bytes LLVM puts 64 together, or takes as many apart. */
static bool gathers_badly(const skeleton *s, dtype type) {
    switch (s->e->target->vector_bits) {
    case 512:
        return true;
    case 256:
        return dtype_is_complex(type) || (dtypes[type].size == 8 && !dtype_is_floating(type));
    default:
        return dtypes[type].size >= 4;
    }
}

/* Are elements best read and written one by one? Vectors of those with gaps between them are gathered and scattered, which takes no less time
 * where little is computed of an element, which a division is not, nor a product of complex numbers, and the processor does not foresee memory that is
 * read so. Of complex numbers that are compared LLVM takes vectors of conditions apart bit by bit, where AVX2 compares both parts of one at once. */
bool cpu_is_by_element(const skeleton *s) {
    bool gaps = false, complex = false;
    for (int k = 0; k < s->noperands; k++) {
        dtype type = skeleton_memory(s, k);
        gaps |= s->v->operand[k].kind == OPERAND_STRIDED && gathers_badly(s, type);
        complex |= dtype_is_complex(type);
    }
    bool bits = complex && s->e->target->vector_bits == 256 && tree_compares_complex(s->t);
    return (gaps || bits) && !s->v->masked && s->t->nodes <= SCALAR_NODES && !s->t->has_loop && !tree_has_math(s->t) &&
           !tree_divides(s->t) && !(complex && tree_multiplies_complex(s->t));
}

/* How many vectors a loop with math functions takes at a time: one. What our forms compute for the arguments or of the results of libmvec's
 * waits for them, and they for it: with AVX2 four vectors overlap better (softplus, log(1 + e^x), of float64 5.0 and 3.5 ns an element). */
static int math_vectors(const skeleton *s) {
    enum {
        MIXED_VECTORS = 4,
        MIXED_BITS = 256
    };
    vector_calls calls = emit_vector_calls(s->e, s->t->kernel->body);
    bool mixed = calls.own && calls.own < calls.count;
    return mixed && s->e->target->vector_bits == MIXED_BITS ? MIXED_VECTORS : 1;
}

/* Of loops with math functions of whole vectors: how many at a time, and as many lanes as these have. LLVM would choose them by the elements
 * in memory, and twice or half as many lanes are a function of their own, whose constants are in memory. */
static int math_hints(const skeleton *s, int hints[2]) {
    emit *e = s->e;
    int largest = 0;
    for (int k = 0; k < s->noperands; k++) {
        int size = dtypes[dtypes[skeleton_memory(s, k)].component].size; /* pairs are two numbers to LLVM */
        largest = s->v->operand[k].kind != OPERAND_NUMBER && size > largest ? size : largest;
    }
    bool other = largest * e->vector_lanes * 8 != e->target->vector_bits;
    hints[0] = emit_metadata(e, "!{!\"llvm.loop.interleave.count\", i32 %d}", math_vectors(s));
    if (other)
        hints[1] = emit_metadata(e, "!{!\"llvm.loop.vectorize.width\", i32 %d}", e->vector_lanes);
    return 1 + other;
}

bool cpu_does_little(const skeleton *s, int fields) {
    return s->t->nodes <= NARROW_NODES * fields && !s->t->has_loop && !tree_has_math(s->t) &&
           !tree_divides_integers(s->t);
}

static bool has_row_loop(const skeleton *s) { return s->v->loop == LOOP_ROWS || s->v->loop == LOOP_GENERAL; }

/* Do the elements of a row lie side by side, in all arrays? */
static bool is_dense(const skeleton *s) {
    for (int k = 0; k < s->noperands; k++)
        if (s->v->operand[k].kind == OPERAND_STRIDED)
            return false;
    return true;
}

/* Where results are smaller than what they are made of, as those of comparisons: lanes for a whole vector of results, or a good part of one. By as
 * many lanes as the largest elements have, as LLVM takes them, results are put together a few at a time. Not of vectors of 512 bits, whose
 * instructions narrow them, and whose comparisons give masks. 0: LLVM chooses. */
static int shrinking_lanes(const skeleton *s) {
    int bytes = s->e->target->vector_bits / 8, in = 0, out = bytes;
    for (int k = 0; k < s->noperands; k++) {
        const variant_operand *o = &s->v->operand[k];
        int size = dtypes[dtypes[o->memory].component].size;
        if (o->kind == OPERAND_INTERLEAVED)
            return 0;
        if (skeleton_is_output(s, k))
            out = size < out ? size : out;
        else if (o->kind == OPERAND_CONTIGUOUS)
            in = size > in ? size : in;
    }
    if (s->e->target->vector_bits != 256 || out >= in || !is_dense(s) || !cpu_does_little(s, 1))
        return 0;
    return bytes / out < SHRINKING_LANES ? bytes / out : SHRINKING_LANES;
}

/* Of loops without math functions. A row is often short, so that one vector at a time is taken: of several, most of a row would be left to single
 * elements. */
static int plain_hints(const skeleton *s, int hints[2]) {
    int lanes = shrinking_lanes(s), count = 0;
    if (lanes)
        hints[count++] = emit_metadata(s->e, "!{!\"llvm.loop.vectorize.width\", i32 %d}", lanes);
    if (lanes || (has_row_loop(s) && !s->v->masked && is_dense(s)))
        hints[count++] = emit_metadata(s->e, "!{!\"llvm.loop.interleave.count\", i32 1}");
    return count;
}

/* finish: what computes and stores an element. given: so many hints about vectors; without any LLVM decides. */
static void row_by(skeleton *s, ssa n, const ssa *row, const ssa *stride, void (*finish)(skeleton *s, batch *b),
                   const int *given, int ngiven) {
    emit *e = s->e;
    for (int k = 0; k < s->noperands; k++)
        if (!skeleton_is_output(s, k) && s->v->operand[k].kind == OPERAND_CONSTANT)
            skeleton_load_uniform(s, k, row[k]);
    counted_loop l = counted_loop_begin(e, "i64", ssa_constant(0), n);
    batch b = batch_new(s, 1, 1, false);
    int group = e->access_group = emit_metadata(e, "distinct !{}");
    for (int k = 0; k < s->noperands; k++) {
        if (skeleton_moves(s, k))
            batch_access(s, &b, 0, k, cpu_element(s, k, row[k], l.i, stride));
    }
    finish(s, &b);
    e->access_group = 0;
    int count = 1, hints[4 + WHOLE_LINE_HINTS] = {emit_metadata(e, "!{!\"llvm.loop.parallel_accesses\", !%d}", group)};
    for (int i = 0; i < ngiven; i++)
        hints[count++] = given[i];
    if (!ngiven)
        count += e->vector_lanes ? math_hints(s, hints + count) : plain_hints(s, hints + count);
    int64_t few;
    if (!ngiven && ssa_is_constant(n, &few)) /* else LLVM writes it out, element by element, before it makes vectors */
        hints[count++] = loop_no_unroll(e);
    if (cpu_is_by_element(s)) {
        hints[count++] = loop_no_vectors(e);
        int at_once = e->target->vector_bits == 256 ? SCALARS_AVX2 : SCALARS;
        hints[count++] = emit_metadata(e, "!{!\"llvm.loop.unroll.count\", i32 %d}", at_once);
    }
    counted_loop_end_hints(e, &l, ssa_constant(1), hints, count);
}

/* Hints: so many vectors of so many lanes at a time. */
static void vectors_of(emit *e, int lanes, int at_once, int hints[NARROW_HINTS]) {
    hints[0] = emit_metadata(e, "!{!\"llvm.loop.vectorize.width\", i32 %d}", lanes);
    hints[1] = emit_metadata(e, "!{!\"llvm.loop.interleave.count\", i32 %d}", at_once);
    hints[2] = loop_no_unroll(e);
}

/* ---- Functions of vectors ---- */

/* The operands from element i on. stride: of those that have gaps; NULL: none have. */
static void row_from(skeleton *s, const ssa *row, const ssa *stride, ssa i, ssa *from) {
    for (int k = 0; k < s->noperands; k++)
        from[k] = skeleton_moves(s, k) ? cpu_element(s, k, row[k], i, stride) : row[k];
}

/* May a loop go by vectors whose lanes have conditions? AVX2 writes elements with gaps between them one by one. *gaps: are there such? */
static bool masks_fit(const skeleton *s, bool *gaps) {
    bool wide = s->e->target->vector_bits == 512, all = true;
    *gaps = false;
    for (int k = 0; k < s->noperands && all; k++) {
        int kind = s->v->operand[k].kind;
        bool output = skeleton_is_output(s, k), grouped = s->v->operand[k].group;
        dtype memory = skeleton_memory(s, k);
        *gaps |= kind == OPERAND_STRIDED || kind == OPERAND_INTERLEAVED;
        all = kind == OPERAND_CONTIGUOUS || kind == OPERAND_NUMBER || (kind == OPERAND_CONSTANT && !output) ||
              (kind == OPERAND_STRIDED && (wide || !output)) || (kind == OPERAND_INTERLEAVED && !grouped);
        all = all && !dtype_is_complex(memory) && target_has_lane_conditions(s->e->target, dtypes[memory].size);
    }
    return all && !s->v->masked && !s->v->reports && s->v->loop != LOOP_AT && !s->t->has_loop;
}

/* How many lanes have the functions of vectors that are called, where what whole vectors leave can go by one with conditions for its lanes? LLVM
 * would have a loop of half a vector and one of single elements behind that of whole ones, each with the code of the functions. 0: LLVM does.
 * In rows that is so of quotients and square roots, too, of which a vector takes little longer than an element, but for AVX2's that are
 * put together of single elements. */
static int masked_lanes(const skeleton *s) {
    bool gaps;
    int largest = 1;
    if (!masks_fit(s, &gaps))
        return 0;
    vector_calls calls = emit_vector_calls(s->e, s->t->kernel->body);
    if (calls.loops || calls.count || !has_row_loop(s) || !tree_takes_roots(s->t) ||
        (gaps && s->e->target->vector_bits != 512))
        return calls.loops ? 0 : calls.lanes;
    for (int k = 0; k < s->noperands; k++)
        largest = dtypes[skeleton_memory(s, k)].size > largest ? dtypes[skeleton_memory(s, k)].size : largest;
    return s->e->target->vector_bits / 8 / largest;
}

/* The first `n` (i64, at least 1) of so many elements, behind conditions. Lanes without an element have the first one: of others, as of 0, the
 * functions of libmvec may go a long way. */
static void row_below(skeleton *s, ssa n, const ssa *row, const ssa *stride, int lanes) {
    emit *e = s->e;
    ssa first[VARIANT_OPERANDS] = {0}, in[VARIANT_OPERANDS] = {0}, results[UF_MAX_OPERANDS];
    int before = emit_label_new(e), load = emit_label_new(e), after = emit_label_new(e);
    for (int k = 0; k < s->noperands; k++)
        if (skeleton_moves(s, k) && !skeleton_is_output(s, k))
            skeleton_load(s, k, row[k], 1, false, first);
    ssa n_too = unknown_value(e, n); /* or LLVM writes what is computed for either case */
    counted_loop l = counted_loop_begin_some(e, "i64", ssa_constant(0), ssa_constant(lanes));
    int group = e->access_group = emit_metadata(e, "distinct !{}");
    ssa there = emit_op(e, "icmp slt i64", l.i, n);
    emit_branch(e, before);
    emit_label(e, before);
    emit_branch_if(e, there, load, after);
    emit_label(e, load);
    for (int k = 0; k < s->noperands; k++)
        if (skeleton_moves(s, k) && !skeleton_is_output(s, k))
            skeleton_load(s, k, cpu_element(s, k, row[k], l.i, stride), 1, false, in);
    emit_branch(e, after);
    emit_label(e, after);
    for (int k = 0; k < s->noperands; k++)
        if (ssa_is_set(in[k]))
            in[k] = emit_value(e, "phi %s [ %s, %%L%d ], [ %s, %%L%d ]", ir_value_type(skeleton_memory(s, k)),
                               first[k].text, before, in[k].text, load);
    skeleton_compute(s, in, results);
    int end = skeleton_if(s, emit_op(e, "icmp slt i64", l.i, n_too));
    for (int k = s->nin; k < s->nin + s->v->nout; k++)
        skeleton_store(s, k, cpu_element(s, k, row[k], l.i, stride), 1, false, results);
    skeleton_end_if(s, end);
    e->access_group = 0;
    int hints[1 + ONE_VECTOR_HINTS] = {emit_metadata(e, "!{!\"llvm.loop.parallel_accesses\", !%d}", group)};
    loop_one_vector(e, lanes, hints + 1);
    counted_loop_end_hints(e, &l, ssa_constant(1), hints, COUNT(hints));
}

/* Elements of a row as lanes of one vector, if there are more than `from` and at most `to`. */
static void row_between(skeleton *s, ssa n, const ssa *row, const ssa *stride, int from, int to) {
    emit *e = s->e;
    ssa there = emit_value(e, "icmp sgt i64 %s, %d", n.text, from);
    there = emit_op(e, "and i1", there, emit_value(e, "icmp sle i64 %s, %d", n.text, to));
    int end = skeleton_if(s, there);
    row_below(s, n, row, stride, to);
    skeleton_end_if(s, end);
}

/* What whole vectors leave of quotients and roots: a few one by one, or as one vector, of half the lanes if that has enough. */
static void rest_of_roots(skeleton *s, ssa left, const ssa *from, const ssa *stride, int lanes) {
    emit *e = s->e;
    int half = lanes / 2 > FEW_ROOTS ? lanes / 2 : FEW_ROOTS, hints[NARROW_HINTS];
    row_between(s, left, from, stride, half, lanes);
    if (half > FEW_ROOTS)
        row_between(s, left, from, stride, FEW_ROOTS, half);
    int end = skeleton_if(s, emit_value(e, "icmp sle i64 %s, %d", left.text, FEW_ROOTS));
    vectors_of(e, 1, 1, hints);
    row_by(s, left, from, stride, batch_finish, hints, NARROW_HINTS);
    skeleton_end_if(s, end);
}

/* The length goes through an empty asm, or LLVM copies a loop over rows for each case that it can think of. It makes no vectors of roots of float64
 * with gaps between them if it is not told to. */
static void row_by_masks(skeleton *s, ssa n, const ssa *row, const ssa *stride, int lanes) {
    emit *e = s->e;
    n = unknown_value(e, n);
    ssa from[VARIANT_OPERANDS] = {0}, whole = emit_value(e, "and i64 %s, %d", n.text, -lanes);
    int hints[NARROW_HINTS];
    bool told = !e->vector_lanes && lanes * 64 == e->target->vector_bits;
    if (told)
        vectors_of(e, lanes, 1, hints);
    row_by(s, whole, row, stride, batch_finish, hints, told ? NARROW_HINTS : 0);
    ssa left = emit_op(e, "sub i64", n, whole);
    row_from(s, row, stride, whole, from);
    if (e->vector_lanes)
        row_between(s, left, from, stride, 0, lanes);
    else
        rest_of_roots(s, left, from, stride, lanes);
}

/* ---- Rows in two parts ---- */

_Static_assert((int)NARROW_HINTS <= (int)WHOLE_LINE_HINTS, "row_by has room for either");

/* The bytes of the largest elements of arrays that lie side by side, beside what is the same for a row; 0: there are others, halves, or
 * complex numbers. */
static int largest_size(const skeleton *s) {
    int size = 0;
    for (int k = 0; k < s->noperands; k++) {
        int bytes = dtypes[skeleton_memory(s, k)].size, kind = s->v->operand[k].kind;
        if (kind == OPERAND_NUMBER || (kind == OPERAND_CONSTANT && !skeleton_is_output(s, k)))
            continue;
        dtype type = skeleton_memory(s, k);
        if (kind != OPERAND_CONTIGUOUS || dtype_is_half(type) || dtype_is_complex(type))
            return 0;
        size = bytes > size ? bytes : size;
    }
    return size;
}

/* By which vectors a row goes: so many of so many lanes at once, and what is left by one of fewer. */
typedef struct row_vectors {
    int at_once, lanes, rest;
} row_vectors;

/* A vector of bytes is longer than many a row; of 16-bit numbers LLVM chooses well. Results that are smaller than operands are best made by several
 * vectors of 512 bits at once, of which a row may have none. lanes 0: neither. */
static row_vectors row_vectors_of(const skeleton *s) {
    int bytes = s->e->target->vector_bits / 8, largest = largest_size(s), smallest = bytes;
    for (int k = s->nin; k < s->nin + s->v->nout; k++)
        smallest = dtypes[skeleton_memory(s, k)].size < smallest ? dtypes[skeleton_memory(s, k)].size : smallest;
    if (!has_row_loop(s) || s->v->masked || !cpu_does_little(s, 1))
        return (row_vectors){0};
    if (largest == 1)
        return (row_vectors){1, bytes, SHORT_LANES};
    bool shrinks = bytes == 64 && largest >= 4 && largest <= 8 && smallest < largest;
    return shrinks ? (row_vectors){SHRINKING_VECTORS, bytes / largest, SHORT_LANES} : (row_vectors){0};
}

static bool row_in_two(skeleton *s, ssa n, const ssa *row) {
    emit *e = s->e;
    row_vectors by = row_vectors_of(s);
    int hints[NARROW_HINTS];
    ssa rest[VARIANT_OPERANDS] = {0};
    if (!by.lanes)
        return false;
    ssa whole = emit_value(e, "and i64 %s, %d", n.text, -by.lanes * by.at_once);
    vectors_of(e, by.lanes, by.at_once, hints);
    row_by(s, whole, row, NULL, batch_finish, hints, NARROW_HINTS);
    row_from(s, row, NULL, whole, rest);
    vectors_of(e, by.rest, 1, hints);
    row_by(s, emit_op(e, "sub i64", n, whole), rest, NULL, batch_finish, hints, NARROW_HINTS);
    return true;
}

void cpu_row(skeleton *s, ssa n, const ssa *row, const ssa *stride) {
    if (pairs_row(s, n, row, stride) || row_in_two(s, n, row))
        return;
    int fields = alike_fields(s), lanes = fields ? 0 : masked_lanes(s);
    if (fields)
        alike_row(s, n, fields, row);
    else if (lanes)
        row_by_masks(s, n, row, stride, lanes);
    else
        row_by(s, n, row, stride, batch_finish, NULL, 0);
}

/* ---- Under a mask ---- */

/* Is an element of the mask true, of n from an address on (i1)? */
static ssa mask_any(skeleton *s, ssa any, ssa mask, ssa n) {
    emit *e = s->e;
    emit_line(e, "store i8 0, i8* %s", any.text);
    counted_loop l = counted_loop_begin(e, "i64", ssa_constant(0), n);
    ssa one = emit_load(e, DT_UINT8, emit_element(e, DT_BOOL, mask, l.i));
    ssa so_far = emit_value(e, "load i8, i8* %s", any.text);
    emit_line(e, "store i8 %s, i8* %s", emit_op(e, "or i8", so_far, one).text, any.text);
    counted_loop_end(e, &l, ssa_constant(1), 0);
    return emit_value(e, "icmp ne i8 %s, 0", emit_value(e, "load i8, i8* %s", any.text).text);
}

static const long long ALL_TRUE = 0x0101010101010101; /* eight bytes of a mask */

/* The words of a chunk's mask combined by `or` and `and`. */
static void chunk_words(skeleton *s, ssa mask, ssa *any, ssa *all) {
    emit *e = s->e;
    ssa words = emit_value(e, "bitcast i8* %s to i64*", mask.text);
    for (int j = 0; j < CHUNK / 8; j++) {
        ssa word = emit_value(e, "load i64, i64* %s, align 1",
                              emit_value(e, "getelementptr i64, i64* %s, i64 %d", words.text, j).text);
        *any = j ? emit_op(e, "or i64", *any, word) : word;
        *all = j ? emit_op(e, "and i64", *all, word) : word;
    }
}

/* A chunk of a strip: only its mask is read where no element counts, and masked accesses, of which the stores are slow, are for chunks of
 * which some do. */
static void chunk(skeleton *s, const ssa *row) {
    emit *e = s->e;
    ssa any, all;
    int every = emit_label_new(e), some = emit_label_new(e), end = emit_label_new(e);
    chunk_words(s, row[variant_mask(s->v)], &any, &all);
    int none = skeleton_if(s, emit_value(e, "icmp ne i64 %s, 0", any.text));
    emit_branch_if(e, emit_value(e, "icmp eq i64 %s, %lld", all.text, ALL_TRUE), every, some);
    emit_label(e, every);
    row_by(s, ssa_constant(CHUNK), row, NULL, batch_finish_unmasked, NULL, 0);
    emit_branch(e, end);
    emit_label(e, some);
    row_by(s, ssa_constant(CHUNK), row, NULL, batch_finish, NULL, 0);
    emit_branch(e, end);
    emit_label(e, end);
    skeleton_end_if(s, none);
}

/* n elements of a strip. */
static void strip_by_chunks(skeleton *s, const ssa *row, ssa n) {
    emit *e = s->e;
    ssa from[VARIANT_OPERANDS] = {0}, whole = emit_value(e, "and i64 %s, %d", n.text, -CHUNK);
    counted_loop l = counted_loop_begin(e, "i64", ssa_constant(0), whole);
    row_from(s, row, NULL, l.i, from);
    chunk(s, from);
    counted_loop_end(e, &l, ssa_constant(CHUNK), loop_no_unroll(e));
    row_from(s, row, NULL, whole, from);
    cpu_row(s, emit_op(e, "sub i64", n, whole), from, NULL);
}

/* A strip at a time, so that those without an element that counts cost the reading of their mask alone. */
static void flat_by_strips(skeleton *s, ssa n) {
    emit *e = s->e;
    ssa row[VARIANT_OPERANDS] = {0}, any = emit_value(e, "alloca i8"), rest;
    bool chunks = s->t->nodes <= NODES && !s->t->has_loop;
    counted_loop l = counted_loop_begin(e, "i64", ssa_constant(0), n);
    row_from(s, s->base, NULL, l.i, row);
    rest = emit_min(e, emit_op(e, "sub i64", n, l.i), ssa_constant(STRIP));
    int end = skeleton_if(s, mask_any(s, any, row[variant_mask(s->v)], rest));
    if (chunks)
        strip_by_chunks(s, row, rest);
    else
        cpu_row(s, rest, row, NULL);
    skeleton_end_if(s, end);
    counted_loop_end(e, &l, ssa_constant(STRIP), loop_no_unroll(e));
}

/* ---- Past the caches ---- */

/* A line of each output at a time, each by way of an array. n is a multiple of the elements of a line, at which outputs begin. */
static void flat_by_lines(skeleton *s, ssa n, const ssa *array) {
    emit *e = s->e;
    ssa row[VARIANT_OPERANDS] = {0}, to[VARIANT_OPERANDS] = {0};
    int first = s->v->nin, end = first + s->v->nout, size = dtypes[skeleton_memory(s, first)].size;
    int elements = LINE_BYTES / size, piece = whole_line_piece(e, size, cpu_does_little(s, 1));
    int hints[WHOLE_LINE_HINTS];
    counted_loop l = counted_loop_begin(e, "i64", ssa_constant(0), n);
    row_from(s, s->base, NULL, l.i, row);
    for (int k = first; k < end; k++) {
        to[k] = row[k];
        row[k] = whole_line_elements(e, array[k], skeleton_memory(s, k));
    }
    whole_line_hints(e, size, piece, hints);
    if (!pairs_line(s, elements, piece, row))
        row_by(s, ssa_constant(elements), row, NULL, batch_finish, hints, WHOLE_LINE_HINTS);
    for (int k = first; k < end; k++)
        whole_line_store(e, array[k], skeleton_memory(s, k), piece, to[k]);
    counted_loop_end(e, &l, ssa_constant(elements), loop_no_unroll(e));
}

/* The code of large loops has both ways. */
static void flat_large(skeleton *s, ssa n) {
    emit *e = s->e;
    ssa lines = skeleton_parameter(s, CPU_FLAT_LINES), array[VARIANT_OPERANDS] = {0};
    int fields = alike_fields(s);
    if (!fields && s->v->operand[s->v->nin].kind == OPERAND_INTERLEAVED) { /* records, which are shuffled */
        cpu_row(s, n, s->base, NULL);
        return;
    }
    for (int k = s->v->nin; k < s->v->nin + s->v->nout; k++)
        array[k] = whole_line_array(e);
    int by_lines = emit_label_new(e), plain = emit_label_new(e), end = emit_label_new(e);
    emit_branch_if(e, emit_value(e, "icmp ne i64 %s, 0", lines.text), by_lines, plain);
    emit_label(e, by_lines);
    if (fields)
        alike_by_lines(s, n, fields, array);
    else
        flat_by_lines(s, n, array);
    emit_branch(e, end);
    emit_label(e, plain);
    cpu_row(s, n, s->base, NULL);
    emit_branch(e, end);
    emit_label(e, end);
}

/* ---- By narrow vectors ---- */

bool cpu_reads_narrowly(const skeleton *s, int fields) {
    for (int k = 0; k < s->noperands; k++)
        if (dtype_is_half(skeleton_memory(s, k)) || dtype_is_complex(skeleton_memory(s, k)))
            return false;
    return s->e->target->narrow_reads && cpu_does_little(s, fields) && !s->v->masked;
}

narrow_loops cpu_narrow(skeleton *s, ssa n, int size) {
    emit *e = s->e;
    int lanes = NARROW_BYTES / size, most = NARROW_ELEMENTS / lanes;
    int at_once = most < NARROW_VECTORS ? most : NARROW_VECTORS;
    narrow_loops by = {.whole = emit_value(e, "and i64 %s, %d", n.text, -lanes * at_once)};
    by.rest = emit_op(e, "sub i64", n, by.whole);
    vectors_of(e, lanes, at_once, by.hints[0]);
    vectors_of(e, lanes < NARROW_LANES ? lanes : NARROW_LANES, 1, by.hints[1]);
    return by;
}

static void flat_by_narrow(skeleton *s, ssa n, int size) {
    ssa rest[VARIANT_OPERANDS] = {0};
    narrow_loops by = cpu_narrow(s, n, size);
    row_by(s, by.whole, s->base, NULL, batch_finish, by.hints[0], NARROW_HINTS);
    row_from(s, s->base, NULL, by.whole, rest);
    row_by(s, by.rest, rest, NULL, batch_finish, by.hints[1], NARROW_HINTS);
}

void cpu_flat(skeleton *s) {
    ssa n = skeleton_parameter(s, CPU_FLAT_ELEMENTS);
    int size = largest_size(s);
    if (variant_has_nontemporal(s->v))
        flat_large(s, n);
    else if (s->v->masked && s->v->operand[variant_mask(s->v)].kind == OPERAND_CONTIGUOUS)
        flat_by_strips(s, n);
    else if (size && cpu_reads_narrowly(s, 1))
        flat_by_narrow(s, n, size);
    else
        cpu_row(s, n, s->base, NULL);
}

void cpu_loop_read(skeleton *s, cpu_loop *l) {
    l->n = skeleton_parameter(s, CPU_LOOP_EXTENTS);
    l->m = skeleton_parameter(s, CPU_LOOP_EXTENTS);
    for (int k = 0; k < s->noperands; k++)
        for (int d = 0; d < 2 && operand_has_strides(s->v, k); d++)
            l->stride[d][k] = skeleton_parameter(s, CPU_LOOP_STRIDES);
    for (int k = 0; k < s->noperands; k++)
        if (s->v->operand[k].kind == OPERAND_STRIDED)
            l->stride[0][k] = skeleton_opaque_stride(s->e, l->stride[0][k]);
}

void cpu_loop_row(skeleton *s, const cpu_loop *l, ssa i, ssa *row) {
    for (int k = 0; k < s->noperands; k++)
        if (operand_has_strides(s->v, k))
            row[k] = skeleton_address(s, k, s->base[k], emit_op(s->e, "mul i64", i, l->stride[1][k]));
}

void cpu_strided(skeleton *s) {
    cpu_loop all;
    ssa row[VARIANT_OPERANDS] = {0};
    cpu_loop_read(s, &all);
    counted_loop l = counted_loop_begin(s->e, "i64", ssa_constant(0), all.m);
    cpu_loop_row(s, &all, l.i, row);
    cpu_row(s, all.n, row, all.stride[0]);
    counted_loop_end(s->e, &l, ssa_constant(1), 0);
}
