/* gpu_tile.c - inputs that lie side by side along dimension 1, across the order of the others. A block has a tile of both dimensions. It
 * reads the tile of such an input along dimension 1 into shared memory; then each thread has `vector` elements along dimension 0 in `rows`
 * neighbouring rows of dimension 1, and reads, computes and writes them along dimension 0. A tile that is whole and aligned is accessed by
 * vectors, any other one element by element, neighbouring threads on neighbouring elements. The two ways have nothing but addresses in
 * common: what both needed would stay in registers, for bytes one for each.
 *
 * In shared memory a tile has a line for each element of dimension 0, of units of `rows` elements along dimension 1. Units are exchanged
 * within 128 bytes by a number that follows from the line, so that threads that read the same unit of neighbouring lines, or of lines a
 * vector apart, reach different banks. */
#include "ir/elementwise/elementwise.h"

#include "ir/common/lanes.h"

#include <assert.h>

enum {
    BANK_BYTES = 128, /* of all banks together */
    ACCESSES_MAX = 16 /* to a tile that a thread makes at once */
};

typedef struct tile {
    int vector, rows, columns, across; /* of the variant */
    int threads;                       /* of a block */
    int width, height;                 /* elements of the tile along dimensions 0 and 1 */
    ssa thread;                        /* i32 */
    ssa count[2];                      /* i32: elements of the tile in the array, along each dimension */
    ssa whole;                         /* i1 */
    ssa at[VARIANT_OPERANDS];          /* arrays: address of the tile's first element */
    ssa stride[2][VARIANT_OPERANDS];   /* i64: of dimensions 0 and 1 */
    int shared[VARIANT_OPERANDS];      /* staged: offset in shared memory */
    ssa column[BATCH_LANES];           /* i32: of a whole tile, the thread's elements along dimension 0 */
    ssa row[ACCESS_BYTES];             /* i32: and along dimension 1 */
} tile;

static bool is_record(const skeleton *s, int k) { return s->v->operand[k].kind == OPERAND_INTERLEAVED; }
static ssa less(emit *e, ssa a, ssa b) { return emit_op(e, "icmp slt i32", a, b); }
static ssa and_constant(emit *e, ssa a, int b) { return emit_value(e, "and i32 %s, %d", a.text, b); }
static ssa shift_right(emit *e, ssa a, int by) { return by ? emit_value(e, "lshr i32 %s, %d", a.text, by) : a; }
static int log2_of(int power) { return __builtin_ctz((unsigned)power); }
static bool is_staged(const skeleton *s, int k) { return s->v->operand[k].staged; }
/* Is its tile, where it is whole, read by accesses of whole units? */
static bool by_units(const skeleton *s, int k) { return is_staged(s, k) && s->v->operand[k].unit; }

/* How many elements of a tile of so many, from `first` on, there are. */
static ssa count_of(emit *e, ssa extent, ssa first, int most) {
    return emit_value(e, "trunc i64 %s to i32",
                      emit_min(e, emit_op(e, "sub i64", extent, first), ssa_constant(most)).text);
}

/* Which tile the block is: its index along each dimension of the loop, i64, in elements. */
static void find_tile(skeleton *s, tile *f, ssa *first) {
    emit *e = s->e;
    const variant *v = s->v;
    ssa extent[2] = {skeleton_parameter(s, GPU_TILE_EXTENTS)}, aligned, rest, index[UF_MAX_NDIM];
    extent[1] = skeleton_parameter(s, GPU_TILE_EXTENTS);
    aligned = skeleton_parameter(s, GPU_TILE_ALIGNED);
    divisor across = skeleton_divisor(s, GPU_TILE_ACROSS), down = skeleton_divisor(s, GPU_TILE_DOWN);
    skeleton_divide(s, &across, false, emit_special_register(e, "ctaid"), &rest, &index[0]);
    index[1] = rest;
    if (v->ndim > 2)
        skeleton_divide(s, &down, false, rest, &rest, &index[1]);
    for (int d = 2; d < v->ndim - 1; d++) {
        divisor outer = skeleton_divisor(s, GPU_TILE_OUTER);
        skeleton_divide(s, &outer, false, rest, &rest, &index[d]);
    }
    if (v->ndim > 2)
        index[v->ndim - 1] = rest;
    const int size[2] = {f->width, f->height};
    for (int d = 0; d < v->ndim; d++)
        first[d] = emit_widen(e, index[d]);
    for (int d = 0; d < 2; d++) {
        first[d] = emit_value(e, "mul i64 %s, %d", first[d].text, size[d]);
        f->count[d] = count_of(e, extent[d], first[d], size[d]);
    }
    ssa full[2];
    for (int d = 0; d < 2; d++)
        full[d] = emit_value(e, "icmp eq i32 %s, %d", f->count[d].text, size[d]);
    f->whole = emit_op(e, "and i1", aligned, emit_op(e, "and i1", full[0], full[1]));
}

static void find_operands(skeleton *s, tile *f, const ssa *first) {
    emit *e = s->e;
    int shared = 0;
    for (int k = 0; k < s->noperands; k++) {
        if (!skeleton_moves(s, k))
            continue;
        ssa offset = ssa_none();
        for (int d = 0; d < s->v->ndim; d++) {
            ssa stride = skeleton_parameter(s, GPU_TILE_STRIDES);
            if (d < 2)
                f->stride[d][k] = stride;
            ssa part = emit_op(e, "mul i64", first[d], stride);
            offset = d ? emit_op(e, "add i64", offset, part) : part;
        }
        f->at[k] = skeleton_address(s, k, s->base[k], offset);
        f->shared[k] = shared;
        if (is_staged(s, k))
            shared += f->width * f->height * dtypes[skeleton_memory(s, k)].size;
    }
}

/* A whole tile: the thread's elements, side by side along both dimensions. */
static void find_elements(skeleton *s, tile *f) {
    emit *e = s->e;
    ssa lane = and_constant(e, f->thread, (1 << f->columns) - 1), row = shift_right(e, f->thread, f->columns);
    ssa column = emit_value(e, "mul i32 %s, %d", lane.text, f->vector);
    row = emit_value(e, "mul i32 %s, %d", row.text, f->rows);
    for (int j = 0; j < f->vector; j++)
        f->column[j] = j ? emit_value(e, "add i32 %s, %d", column.text, j) : column;
    for (int r = 0; r < f->rows; r++)
        f->row[r] = r ? emit_value(e, "add i32 %s, %d", row.text, r) : row;
}

/* The address of element (column, row), i32, of operand k, from the tile's first on. */
static ssa element_at(skeleton *s, const tile *f, int k, ssa column, ssa row) {
    emit *e = s->e;
    const variant_operand *o = &s->v->operand[k];
    ssa at = f->at[k];
    if (o->staged || o->kind == OPERAND_STRIDED)
        at = skeleton_address(s, k, at, emit_op(e, "mul i64", emit_widen(e, column), f->stride[0][k]));
    else if (o->kind != OPERAND_CONSTANT)
        at = skeleton_neighbour(s, k, at, emit_widen(e, column));
    if (o->fixed)
        return at;
    ssa along = emit_widen(e, row);
    if (!o->unit)
        along = emit_op(e, "mul i64", along, f->stride[1][k]);
    return skeleton_address(s, k, at, along);
}

/* ---- Shared memory ---- */

/* The number of a unit in the tile, after the exchange. */
static ssa unit_number(skeleton *s, const tile *f, int k, ssa column, ssa unit) {
    emit *e = s->e;
    int units = 1 << f->across, bytes = f->rows * dtypes[skeleton_memory(s, k)].size;
    int mask = BANK_BYTES / (bytes > 4 ? bytes : 4) - 1;
    ssa linear = emit_op(e, "add i32", emit_value(e, "mul i32 %s, %d", column.text, units), unit);
    ssa by = shift_right(e, column, log2_of(f->vector));
    if (units > 1)
        by = f->vector > 1 ? emit_op(e, "xor i32", by, column) : column;
    else if (f->vector == 1)
        return linear;
    return emit_op(e, "xor i32", linear, and_constant(e, by, mask));
}

static ssa shared_at(skeleton *s, const tile *f, int k, ssa column, ssa unit) {
    emit *e = s->e;
    int bytes = f->rows * dtypes[skeleton_memory(s, k)].size;
    ssa at = emit_value(e, "mul i32 %s, %d", unit_number(s, f, k, column, unit).text, bytes);
    return emit_shared_address(e, emit_value(e, "add i64 %s, %d", emit_widen(e, at).text, f->shared[k]),
                               ir_memory_type(skeleton_memory(s, k)));
}

/* Some of the accesses, each of so many elements along dimension 1, that the threads make to read a tile. */
typedef struct accesses {
    bool units; /* they are of whole units, and aligned; else of an element */
    int elements, count;
    ssa column[ACCESSES_MAX], row[ACCESSES_MAX]; /* i32: of the first element of each */
    ssa *values;                                 /* [access * elements + i] */
} accesses;

/* first: i32, the number of the thread's first of these `count`, counted over the threads; the others are a block's threads apart. */
static accesses *accesses_of(skeleton *s, const tile *f, ssa first, int count, int elements, bool units) {
    emit *e = s->e;
    accesses *a = arena_alloc(e->a, sizeof *a);
    int line = f->height / elements;
    assert(count <= ACCESSES_MAX);
    a->units = units;
    a->elements = elements;
    a->count = count;
    a->values = arena_alloc(e->a, (size_t)(count * elements) * sizeof *a->values);
    for (int i = 0; i < count; i++) {
        ssa n = i ? emit_value(e, "add i32 %s, %d", first.text, i * f->threads) : first;
        a->column[i] = shift_right(e, n, log2_of(line));
        a->row[i] = emit_value(e, "mul i32 %s, %d", and_constant(e, n, line - 1).text, elements);
    }
    return a;
}

/* The element itself, or the tile's first in the place of one beyond the end. */
static ssa there(emit *e, ssa index, ssa count) {
    return emit_select_as(e, "i32", less(e, index, count), index, ssa_constant(0));
}

static void stage_load(skeleton *s, const tile *f, int k, const accesses *a) {
    emit *e = s->e;
    for (int i = 0; i < a->count; i++) {
        ssa *values = a->values + (size_t)i * (size_t)a->elements;
        if (a->units) {
            ssa pointer = element_at(s, f, k, a->column[i], a->row[i]);
            emit_load_vector(e, skeleton_memory(s, k), pointer, a->elements, values);
            continue;
        }
        ssa pointer = element_at(s, f, k, there(e, a->column[i], f->count[0]), there(e, a->row[i], f->count[1]));
        values[0] = emit_load(e, skeleton_memory(s, k), pointer);
    }
}

static ssa shared_element(skeleton *s, const tile *f, int k, ssa column, ssa row) {
    emit *e = s->e;
    ssa unit = shared_at(s, f, k, column, shift_right(e, row, log2_of(f->rows)));
    return f->rows > 1 ? emit_element(e, skeleton_memory(s, k), unit, emit_widen(e, and_constant(e, row, f->rows - 1)))
                       : unit;
}

/* Writes them to shared memory, by units or by elements. */
static void stage_store(skeleton *s, const tile *f, int k, const accesses *a) {
    emit *e = s->e;
    dtype t = skeleton_memory(s, k);
    e->shared = true;
    for (int i = 0; i < a->count; i++) {
        ssa unit = shift_right(e, a->row[i], log2_of(f->rows));
        const ssa *values = a->values + (size_t)i * (size_t)a->elements;
        if (!a->units)
            emit_store(e, t, values[0], shared_element(s, f, k, a->column[i], a->row[i]));
        for (int u = 0; a->units && u < a->elements / f->rows; u++)
            emit_store_vector(e, t, values + (size_t)(u * f->rows),
                              shared_at(s, f, k, a->column[i], emit_value(e, "add i32 %s, %d", unit.text, u)), f->rows);
    }
    e->shared = false;
}

/* Reads the tile of operand k into shared memory element by element. */
static void stage_elements(skeleton *s, const tile *f, int k) {
    emit *e = s->e;
    int all = f->vector * f->rows, step = all < ACCESSES_MAX ? all : ACCESSES_MAX;
    ssa first = f->thread, limit = ssa_constant(all * f->threads);
    counted_loop l = {.i = first};
    if (step < all)
        l = counted_loop_begin(e, "i32", first, limit);
    accesses *a = accesses_of(s, f, l.i, step, 1, false);
    stage_load(s, f, k, a);
    stage_store(s, f, k, a);
    if (step < all)
        counted_loop_end(e, &l, ssa_constant(step * f->threads), loop_no_unroll(e));
}

/* ---- A whole tile, by vectors: in[(row * vector + lane) * noperands + operand] ---- */

static ssa *element_of(const skeleton *s, const tile *f, ssa *in, int r, int j) {
    return in + (size_t)(r * f->vector + j) * (size_t)s->noperands;
}

/* Takes the thread's elements of a staged operand out of shared memory. */
static void stage_take(skeleton *s, const tile *f, int k, ssa *in) {
    emit *e = s->e;
    ssa unit = shift_right(e, f->row[0], log2_of(f->rows)), values[ACCESS_BYTES];
    e->shared = true;
    for (int j = 0; j < f->vector; j++) {
        emit_load_vector(e, skeleton_memory(s, k), shared_at(s, f, k, f->column[j], unit), f->rows, values);
        for (int r = 0; r < f->rows; r++)
            element_of(s, f, in, r, j)[k] = values[r];
    }
    e->shared = false;
}

static bool is_direct(const skeleton *s, int k) {
    return skeleton_moves(s, k) && !skeleton_is_output(s, k) && !is_staged(s, k);
}

/* Operands that lie dense along a narrow dimension 1, and from there on along dimension 0, are records of its elements, of which a thread
 * has `vector` side by side. */
static interleaved records_of(const skeleton *s, const tile *f, int k) {
    int step = s->v->operand[k].record;
    interleaved x = {.count = f->vector, .step = step, .width = record_width(f->vector, step), .nfields = f->rows};
    for (int r = 0; r < f->rows; r++)
        x.field[r] = (interleaved_field){skeleton_memory(s, k), r * dtypes[skeleton_memory(s, k)].size};
    return x;
}

static void load_records(skeleton *s, const tile *f, int k, ssa *in) {
    interleaved x = records_of(s, f, k);
    ssa *values = arena_alloc(s->e->a, (size_t)(f->vector * f->rows) * sizeof *values);
    emit_load_interleaved(s->e, &x, skeleton_memory(s, k), element_at(s, f, k, f->column[0], f->row[0]), values);
    for (int r = 0; r < f->rows; r++)
        for (int j = 0; j < f->vector; j++)
            element_of(s, f, in, r, j)[k] = values[r * f->vector + j];
}

static void store_records(skeleton *s, const tile *f, int k, const ssa *out) {
    interleaved x = records_of(s, f, k);
    int n = f->vector * f->rows;
    ssa *values = arena_alloc(s->e->a, (size_t)n * sizeof *values);
    for (int i = 0; i < n; i++)
        values[i] = out[(size_t)i * s->v->nout + (size_t)(k - s->nin)];
    emit_store_interleaved(s->e, &x, skeleton_memory(s, k), element_at(s, f, k, f->column[0], f->row[0]), values);
}

/* Loads a row of the thread's elements of an operand that is not staged. */
static void load_row(skeleton *s, const tile *f, int k, int r, ssa *in) {
    int kind = s->v->operand[k].kind;
    if (kind == OPERAND_CONTIGUOUS) {
        skeleton_load(s, k, element_at(s, f, k, f->column[0], f->row[r]), f->vector, true, element_of(s, f, in, r, 0));
        return;
    }
    for (int j = 0; j < f->vector; j++)
        if (j && kind == OPERAND_CONSTANT)
            element_of(s, f, in, r, j)[k] = element_of(s, f, in, r, 0)[k];
        else
            skeleton_load(s, k, element_at(s, f, k, f->column[j], f->row[r]), 1, false, element_of(s, f, in, r, j));
}

/* Loads an operand that is not staged. What is the same for all rows is loaded once. */
static void load_direct(skeleton *s, const tile *f, int k, ssa *in) {
    if (is_record(s, k)) {
        load_records(s, f, k, in);
        return;
    }
    bool fixed = s->v->operand[k].fixed;
    for (int r = 0; r < (fixed ? 1 : f->rows); r++)
        load_row(s, f, k, r, in);
    for (int r = 1; r < f->rows && fixed; r++)
        for (int j = 0; j < f->vector; j++)
            element_of(s, f, in, r, j)[k] = element_of(s, f, in, 0, j)[k];
}

/* All global loads, then the stores to shared memory. */
static ssa *load_whole(skeleton *s, const tile *f) {
    accesses *staged[VARIANT_OPERANDS] = {NULL};
    ssa *in = arena_alloc(s->e->a, (size_t)(f->vector * f->rows * s->noperands) * sizeof *in);
    for (int k = 0; k < s->noperands; k++)
        if (by_units(s, k)) {
            int elements = variant_tile_access(s->v, k);
            staged[k] = accesses_of(s, f, f->thread, f->vector * f->rows / elements, elements, true);
            stage_load(s, f, k, staged[k]);
        }
    for (int k = 0; k < s->noperands; k++)
        if (is_direct(s, k))
            load_direct(s, f, k, in);
    for (int k = 0; k < s->noperands; k++)
        if (staged[k])
            stage_store(s, f, k, staged[k]);
        else if (is_staged(s, k))
            stage_elements(s, f, k);
    return in;
}

static void store_row(skeleton *s, const tile *f, int k, int r, const ssa *out) {
    if (s->v->operand[k].kind == OPERAND_CONTIGUOUS) {
        skeleton_store(s, k, element_at(s, f, k, f->column[0], f->row[r]), f->vector, true, out);
        return;
    }
    for (int j = 0; j < f->vector; j++)
        skeleton_store(s, k, element_at(s, f, k, f->column[j], f->row[r]), 1, false, out + (size_t)j * s->v->nout);
}

static void finish_whole(skeleton *s, const tile *f, ssa *in) {
    ssa *out = arena_alloc(s->e->a, (size_t)(f->vector * f->rows) * s->v->nout * sizeof *out);
    for (int i = 0; i < f->vector * f->rows; i++)
        skeleton_compute(s, in + (size_t)i * (size_t)s->noperands, out + (size_t)i * s->v->nout);
    for (int k = s->nin; k < s->nin + s->v->nout; k++) {
        if (is_record(s, k)) {
            store_records(s, f, k, out);
            continue;
        }
        for (int r = 0; r < f->rows; r++)
            store_row(s, f, k, r, out + (size_t)(r * f->vector) * s->v->nout);
    }
}

/* Computes an element and stores its results where the mask is true. Where it is false nothing is computed either, since a kernel might
 * loop for long. */
static void finish_element(skeleton *s, const tile *f, ssa column, ssa row, const ssa *in) {
    int mask = s->nin + s->v->nout, end = 0;
    ssa results[UF_MAX_OPERANDS];
    if (s->v->masked)
        end = skeleton_if(s, s->uniform[mask] ? s->value[mask] : in[mask]);
    skeleton_compute(s, in, results);
    for (int k = s->nin; k < mask; k++)
        skeleton_store(s, k, element_at(s, f, k, column, row), 1, false, results);
    if (s->v->masked)
        skeleton_end_if(s, end);
}

static void whole_tile(skeleton *s, tile *f) {
    find_elements(s, f);
    ssa *in = load_whole(s, f);
    if (!s->v->tile.narrow)
        emit_block_barrier(s->e);
    for (int k = 0; k < s->noperands; k++)
        if (is_staged(s, k))
            stage_take(s, f, k, in);
    if (!s->v->masked) {
        finish_whole(s, f, in);
        return;
    }
    for (int r = 0; r < f->rows; r++)
        for (int j = 0; j < f->vector; j++)
            finish_element(s, f, f->column[j], f->row[r], element_of(s, f, in, r, j));
}

/* ---- Any other tile, element by element: thread by thread along dimension 0 ---- */

/* Loads the operands of the element (column, row), or of the tile's first one in the place of one beyond the end. */
static void load_element(skeleton *s, const tile *f, ssa column, ssa row, ssa *in) {
    emit *e = s->e;
    column = there(e, column, f->count[0]);
    row = there(e, row, f->count[1]);
    for (int k = 0; k < s->noperands; k++)
        if (is_staged(s, k)) {
            e->shared = true;
            in[k] = emit_load(e, skeleton_memory(s, k), shared_element(s, f, k, column, row));
            e->shared = false;
        } else if (is_direct(s, k)) {
            skeleton_load(s, k, element_at(s, f, k, column, row), 1, false, in);
        }
}

/* Some elements of the thread, from number `first`, i32, on: all are loaded before any of them is computed. Those beyond the end are not. */
static void some_elements(skeleton *s, const tile *f, ssa first, int count) {
    emit *e = s->e;
    ssa *in = arena_alloc(e->a, (size_t)(count * s->noperands) * sizeof *in), column[SINGLE_STEP], row[SINGLE_STEP];
    for (int i = 0; i < count; i++) {
        ssa n = i ? emit_value(e, "add i32 %s, %d", first.text, i * f->threads) : first;
        column[i] = and_constant(e, n, f->width - 1);
        row[i] = shift_right(e, n, log2_of(f->width));
        load_element(s, f, column[i], row[i], in + (size_t)(i * s->noperands));
    }
    for (int i = 0; i < count; i++) {
        ssa is_there = emit_op(e, "and i1", less(e, column[i], f->count[0]), less(e, row[i], f->count[1]));
        int end = skeleton_if(s, is_there);
        finish_element(s, f, column[i], row[i], in + (size_t)(i * s->noperands));
        skeleton_end_if(s, end);
    }
}

static void part_tile(skeleton *s, const tile *f) {
    emit *e = s->e;
    int step = skeleton_single_step(s);
    for (int k = 0; k < s->noperands; k++)
        if (is_staged(s, k))
            stage_elements(s, f, k);
    if (!s->v->tile.narrow)
        emit_block_barrier(e);
    while (f->vector * f->rows % step)
        step /= 2;
    counted_loop l = counted_loop_begin(e, "i32", f->thread, ssa_constant(f->width * f->height));
    some_elements(s, f, l.i, step);
    counted_loop_end(e, &l, ssa_constant(step * f->threads), loop_no_unroll(e));
}

void gpu_tile(skeleton *s) {
    emit *e = s->e;
    const variant *v = s->v;
    tile *f = arena_alloc(e->a, sizeof *f);
    ssa first[UF_MAX_NDIM];
    *f = (tile){.vector = v->tile.vector, .rows = v->tile.rows, .columns = v->tile.columns, .across = v->tile.across};
    f->width = f->vector << f->columns;
    f->height = f->rows << f->across;
    f->threads = 1 << (f->columns + f->across);
    f->thread = emit_special_register(e, "tid");
    find_tile(s, f, first);
    find_operands(s, f, first);
    int by_vectors = emit_label_new(e), one_by_one = emit_label_new(e), end = emit_label_new(e);
    emit_branch_if(e, f->whole, by_vectors, one_by_one);
    emit_label(e, by_vectors);
    whole_tile(s, f);
    emit_branch(e, end);
    emit_label(e, one_by_one);
    part_tile(s, f);
    emit_branch(e, end);
    emit_label(e, end);
}
