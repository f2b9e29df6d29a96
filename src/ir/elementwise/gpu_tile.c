/* gpu_tile.c - inputs that lie side by side along dimension 1, across the order of the others. A block has a tile of both dimensions. It
 * reads the tile of such an input along dimension 1 into shared memory; then each thread has `vector` elements along dimension 0 in `rows`
 * neighbouring rows of dimension 1, and reads, computes and writes them along dimension 0. A tile that is whole and aligned is accessed by
 * vectors, any other one element by element, neighbouring threads on neighbouring elements. The two ways meet before the body, which
 * stands in the code only once for each of a thread's elements.
 *
 * In shared memory a tile has a line for each element of dimension 0, of units of `rows` elements along dimension 1. Units are exchanged
 * within 128 bytes by a number that follows from the line, so that threads that read the same unit of neighbouring lines, or of lines a
 * vector apart, reach different banks. */
#include "ir/elementwise/elementwise.h"

#include "ir/common/lanes.h"

enum {
    BANK_BYTES = 128 /* of all banks together */
};

typedef struct tile {
    int vector, rows, columns, across; /* of the variant */
    int width, height;                 /* elements of the tile along dimensions 0 and 1 */
    ssa thread;                        /* i32 */
    ssa count[2];                      /* i32: elements of the tile in the array, along each dimension */
    ssa whole;                         /* i1 */
    ssa at[VARIANT_OPERANDS];          /* arrays: address of the tile's first element */
    ssa stride[2][VARIANT_OPERANDS];   /* i64: of dimensions 0 and 1 */
    int shared[VARIANT_OPERANDS];      /* staged: offset in shared memory */
    ssa column[BATCH_LANES];           /* i32: the thread's elements along dimension 0 */
    ssa row[ACCESS_BYTES];             /* i32: along dimension 1 */
    ssa has_row[ACCESS_BYTES];         /* i1: there is that row; else the first stands in */
} tile;

static bool is_record(const skeleton *s, int k) { return s->v->operand[k].kind == OPERAND_INTERLEAVED; }
static ssa less(emit *e, ssa a, ssa b) { return emit_op(e, "icmp slt i32", a, b); }
static ssa and_constant(emit *e, ssa a, int b) { return emit_value(e, "and i32 %s, %d", a.text, b); }
static ssa shift_right(emit *e, ssa a, int by) { return by ? emit_value(e, "lshr i32 %s, %d", a.text, by) : a; }
static int log2_of(int power) { return __builtin_ctz((unsigned)power); }
static bool is_staged(const skeleton *s, int k) { return s->v->operand[k].staged; }

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

/* The thread's elements: side by side where the tile is whole, else a tile's threads apart. Beyond the end its first stands in, which
 * of a thread without elements is the tile's. */
static void find_elements(skeleton *s, tile *f) {
    emit *e = s->e;
    int lanes = 1 << f->columns;
    ssa lane = and_constant(e, f->thread, lanes - 1), row = shift_right(e, f->thread, f->columns);
    for (int j = 0; j < f->vector; j++) {
        ssa beside = emit_value(e, "add i32 %s, %d", emit_value(e, "mul i32 %s, %d", lane.text, f->vector).text, j);
        ssa apart = emit_value(e, "add i32 %s, %d", lane.text, j * lanes);
        ssa i = emit_select_as(e, "i32", f->whole, beside, apart);
        f->column[j] = emit_select_as(e, "i32", less(e, i, f->count[0]), i, j ? f->column[0] : ssa_constant(0));
    }
    for (int r = 0; r < f->rows; r++) {
        ssa t = emit_value(e, "add i32 %s, %d", emit_value(e, "mul i32 %s, %d", row.text, f->rows).text, r);
        f->has_row[r] = less(e, t, f->count[1]);
        f->row[r] = emit_select_as(e, "i32", f->has_row[r], t, r ? f->row[0] : ssa_constant(0));
    }
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

/* Accesses of so many elements that the threads make to read a tile. */
typedef struct accesses {
    int elements, count;
    ssa column[ACCESS_BYTES * BATCH_LANES], row[ACCESS_BYTES * BATCH_LANES]; /* i32: of the first element of each */
    ssa *values;                                                             /* [access * elements + i] */
} accesses;

static accesses *accesses_of(skeleton *s, const tile *f, int elements) {
    emit *e = s->e;
    accesses *a = arena_alloc(e->a, sizeof *a);
    int line = f->height / elements, threads = 1 << (f->columns + f->across);
    a->elements = elements;
    a->count = f->vector * f->rows / elements;
    a->values = arena_alloc(e->a, (size_t)(a->count * elements) * sizeof *a->values);
    for (int i = 0; i < a->count; i++) {
        ssa n = i ? emit_value(e, "add i32 %s, %d", f->thread.text, i * threads) : f->thread;
        a->column[i] = shift_right(e, n, log2_of(line));
        a->row[i] = emit_value(e, "mul i32 %s, %d", and_constant(e, n, line - 1).text, elements);
    }
    return a;
}

static ssa at_most(emit *e, ssa a, ssa count) {
    ssa last = emit_value(e, "sub i32 %s, 1", count.text);
    return emit_select_as(e, "i32", less(e, a, count), a, last);
}

/* Reads the thread's accesses to the tile of a staged operand. */
static accesses *stage_load(skeleton *s, const tile *f, int k, bool whole) {
    emit *e = s->e;
    bool vectors = whole && s->v->operand[k].unit;
    accesses *a = accesses_of(s, f, vectors ? variant_tile_access(s->v, k) : 1);
    for (int i = 0; i < a->count; i++) {
        ssa column = whole ? a->column[i] : at_most(e, a->column[i], f->count[0]),
            row = whole ? a->row[i] : at_most(e, a->row[i], f->count[1]);
        ssa pointer = element_at(s, f, k, column, row), *values = a->values + (size_t)i * (size_t)a->elements;
        if (vectors)
            emit_load_vector(e, skeleton_memory(s, k), pointer, a->elements, values);
        else
            values[0] = emit_load(e, skeleton_memory(s, k), pointer);
    }
    return a;
}

/* Writes them to shared memory, by units or by elements. */
static void stage_store(skeleton *s, const tile *f, int k, const accesses *a) {
    emit *e = s->e;
    dtype t = skeleton_memory(s, k);
    e->shared = true;
    for (int i = 0; i < a->count; i++) {
        ssa unit = shift_right(e, a->row[i], log2_of(f->rows));
        const ssa *values = a->values + (size_t)i * (size_t)a->elements;
        if (a->elements < f->rows) {
            ssa in_unit = emit_widen(e, and_constant(e, a->row[i], f->rows - 1));
            emit_store(e, t, values[0], emit_element(e, t, shared_at(s, f, k, a->column[i], unit), in_unit));
            continue;
        }
        for (int u = 0; u < a->elements / f->rows; u++)
            emit_store_vector(e, t, values + (size_t)(u * f->rows),
                              shared_at(s, f, k, a->column[i], emit_value(e, "add i32 %s, %d", unit.text, u)), f->rows);
    }
    e->shared = false;
}

/* ---- A thread's elements: in[(row * vector + lane) * noperands + operand] ---- */

static ssa *element_of(const skeleton *s, const tile *f, ssa *in, int r, int j) {
    return in + (size_t)(r * f->vector + j) * (size_t)s->noperands;
}

/* Takes the thread's elements of a staged operand out of shared memory. */
static void stage_take(skeleton *s, const tile *f, int k, ssa *in) {
    emit *e = s->e;
    dtype t = skeleton_memory(s, k);
    ssa unit = shift_right(e, f->row[0], log2_of(f->rows)), values[ACCESS_BYTES];
    for (int j = 0; j < f->vector; j++) {
        e->shared = true;
        emit_load_vector(e, t, shared_at(s, f, k, f->column[j], unit), f->rows, values);
        e->shared = false;
        for (int r = 0; r < f->rows; r++)
            element_of(s, f, in, r, j)[k] = r ? emit_select(e, t, f->has_row[r], values[r], values[0]) : values[0];
    }
}

static bool is_direct(const skeleton *s, int k) {
    return skeleton_moves(s, k) && !skeleton_is_output(s, k) && !is_staged(s, k);
}

/* ---- A narrow dimension 1: operands that lie dense along it, and from there on along dimension 0, are records of its elements, of which
 * a thread has `vector` side by side. ---- */

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
static void load_row(skeleton *s, const tile *f, int k, int r, bool whole, ssa *in) {
    int kind = s->v->operand[k].kind;
    if (whole && kind == OPERAND_CONTIGUOUS) {
        skeleton_load(s, k, element_at(s, f, k, f->column[0], f->row[r]), f->vector, true, element_of(s, f, in, r, 0));
        return;
    }
    for (int j = 0; j < f->vector; j++)
        if (j && kind == OPERAND_CONSTANT)
            element_of(s, f, in, r, j)[k] = element_of(s, f, in, r, 0)[k];
        else
            skeleton_load(s, k, element_at(s, f, k, f->column[j], f->row[r]), 1, false, element_of(s, f, in, r, j));
}

/* Loads all that is not staged. What is the same for all rows is loaded once. */
static void load_direct(skeleton *s, const tile *f, bool whole, ssa *in) {
    for (int k = 0; k < s->noperands; k++) {
        if (!is_direct(s, k))
            continue;
        if (whole && is_record(s, k)) {
            load_records(s, f, k, in);
            continue;
        }
        for (int r = 0; r < f->rows; r++)
            if (!r || !s->v->operand[k].fixed)
                load_row(s, f, k, r, whole, in);
        for (int r = 1; r < f->rows && s->v->operand[k].fixed; r++)
            for (int j = 0; j < f->vector; j++)
                element_of(s, f, in, r, j)[k] = element_of(s, f, in, 0, j)[k];
    }
}

/* All global loads, then the stores to shared memory. */
static void load_tile(skeleton *s, const tile *f, bool whole, ssa *in) {
    accesses *staged[VARIANT_OPERANDS];
    for (int k = 0; k < s->noperands; k++)
        if (is_staged(s, k))
            staged[k] = stage_load(s, f, k, whole);
    load_direct(s, f, whole, in);
    for (int k = 0; k < s->noperands; k++)
        if (is_staged(s, k))
            stage_store(s, f, k, staged[k]);
}

/* Loads by vectors or one by one; all threads of the block get behind it. */
static ssa *load(skeleton *s, const tile *f) {
    emit *e = s->e;
    size_t n = (size_t)(f->vector * f->rows * s->noperands);
    ssa *single = arena_alloc(e->a, n * sizeof *single), *whole = arena_alloc(e->a, n * sizeof *whole);
    int by_vectors = emit_label_new(e), one_by_one = emit_label_new(e), loaded = emit_label_new(e);
    emit_branch_if(e, f->whole, by_vectors, one_by_one);
    emit_label(e, by_vectors);
    load_tile(s, f, true, whole);
    emit_branch(e, loaded);
    emit_label(e, one_by_one);
    load_tile(s, f, false, single);
    emit_branch(e, loaded);
    emit_label(e, loaded);
    for (size_t i = 0; i < n; i++) {
        int k = (int)(i % (size_t)s->noperands);
        if (is_direct(s, k))
            whole[i] = emit_value(e, "phi %s [ %s, %%L%d ], [ %s, %%L%d ]", ir_value_type(skeleton_memory(s, k)),
                                  whole[i].text, by_vectors, single[i].text, one_by_one);
    }
    if (!s->v->tile.narrow)
        emit_block_barrier(e);
    return whole;
}

/* ---- Results ---- */

static void store_element(skeleton *s, const tile *f, int k, int r, int j, const ssa *out) {
    skeleton_store(s, k, element_at(s, f, k, f->column[j], f->row[r]), 1, false, out);
}

static void store_tile(skeleton *s, const tile *f, bool whole, const ssa *out) {
    for (int k = s->nin; k < s->nin + s->v->nout; k++)
        if (whole && is_record(s, k))
            store_records(s, f, k, out);
    for (int r = 0; r < f->rows; r++)
        for (int k = s->nin; k < s->nin + s->v->nout; k++) {
            if (whole && is_record(s, k))
                continue;
            const ssa *row = out + (size_t)(r * f->vector) * s->v->nout;
            if (whole && s->v->operand[k].kind == OPERAND_CONTIGUOUS) {
                skeleton_store(s, k, element_at(s, f, k, f->column[0], f->row[r]), f->vector, true, row);
                continue;
            }
            for (int j = 0; j < f->vector; j++)
                store_element(s, f, k, r, j, row + (size_t)j * s->v->nout);
        }
}

static void finish_all(skeleton *s, const tile *f, ssa *in) {
    emit *e = s->e;
    ssa *out = arena_alloc(e->a, (size_t)(f->vector * f->rows) * s->v->nout * sizeof *out);
    for (int i = 0; i < f->vector * f->rows; i++)
        skeleton_compute(s, in + (size_t)i * (size_t)s->noperands, out + (size_t)i * s->v->nout);
    int by_vectors = emit_label_new(e), one_by_one = emit_label_new(e), stored = emit_label_new(e);
    emit_branch_if(e, f->whole, by_vectors, one_by_one);
    emit_label(e, by_vectors);
    store_tile(s, f, true, out);
    emit_branch(e, stored);
    emit_label(e, one_by_one);
    store_tile(s, f, false, out);
    emit_branch(e, stored);
    emit_label(e, stored);
}

/* Element by element, where the mask is true. Where it is false nothing is computed either, since a kernel might loop for long. */
static void finish_masked(skeleton *s, const tile *f, ssa *in) {
    int mask = s->nin + s->v->nout;
    for (int r = 0; r < f->rows; r++)
        for (int j = 0; j < f->vector; j++) {
            const ssa *element = element_of(s, f, in, r, j);
            ssa results[UF_MAX_OPERANDS];
            int end = skeleton_if(s, s->uniform[mask] ? s->value[mask] : element[mask]);
            skeleton_compute(s, element, results);
            for (int k = s->nin; k < mask; k++)
                store_element(s, f, k, r, j, results);
            skeleton_end_if(s, end);
        }
}

void gpu_tile(skeleton *s) {
    emit *e = s->e;
    const variant *v = s->v;
    tile *f = arena_alloc(e->a, sizeof *f);
    ssa first[UF_MAX_NDIM];
    *f = (tile){.vector = v->tile.vector, .rows = v->tile.rows, .columns = v->tile.columns, .across = v->tile.across};
    f->width = f->vector << f->columns;
    f->height = f->rows << f->across;
    f->thread = emit_special_register(e, "tid");
    find_tile(s, f, first);
    find_operands(s, f, first);
    find_elements(s, f);
    ssa *in = load(s, f);
    /* threads without elements */
    ssa column = and_constant(e, f->thread, (1 << f->columns) - 1);
    ssa some = emit_op(e, "or i1", f->whole, less(e, column, f->count[0]));
    int end = skeleton_if(s, emit_op(e, "and i1", some, f->has_row[0]));
    for (int k = 0; k < s->noperands; k++)
        if (is_staged(s, k))
            stage_take(s, f, k, in);
    (v->masked ? finish_masked : finish_all)(s, f, in);
    skeleton_end_if(s, end);
}
