/* gpu_tile.c - operands that lie side by side along dimension 1, across the order of the others. A block has a tile of both dimensions. It
 * reads the tile of such an input along dimension 1 into shared memory; then each thread has `vector` elements along dimension 0 in `rows`
 * neighbouring rows of dimension 1, and reads, computes and writes them along dimension 0. Results that belong to such an output it leaves in
 * shared memory, from where the block writes them along dimension 1. A tile that is whole and aligned is accessed by
 * vectors, any other one element by element, neighbouring threads on neighbouring elements. The two ways have nothing but addresses in
 * common: what both needed would stay in registers, for bytes one for each.
 *
 * Where the lines of outputs across do not begin at a sector, no two blocks write parts of one: a tile has a halo of some rows before it, whose
 * elements in the line's first sector the block computes and writes too, and leaves its last ones to the next. They take the
 * others' places in shared memory.
 *
 * In shared memory a tile has a line for each element of dimension 0, of units of `rows` elements along dimension 1. Units are exchanged
 * within 128 bytes by a number that follows from the line, so that threads that read the same unit of neighbouring lines, or of lines a
 * vector apart, reach different banks. */
#include "ir/elementwise/elementwise.h"

#include "ir/common/internal.h"
#include "ir/common/lanes.h"

#include <assert.h>

enum {
    BANK_BYTES = 128,  /* of all banks together */
    ACCESSES_MAX = 16, /* to a tile that a thread makes at once */
    SINGLES_MAX = 8,   /* elements that it loads at once where not by vectors */
    TURNED_MAX = 8,    /* elements that it writes at once in lines that are turned: each has an address of its own */
    WORD_BYTES = 4
};

typedef struct tile {
    int vector, rows, columns, across; /* of the variant */
    int threads;                       /* of a block */
    int width, height;                 /* elements of the tile along dimensions 0 and 1 */
    ssa thread;                        /* i32 */
    ssa count[2];                      /* i32: elements of the tile in the array, along each dimension */
    ssa whole;                         /* i1: and every access by vectors is aligned */
    ssa inner;         /* i1: all of it is there along dimension 1, and at least so many bytes more as a word has */
    ssa before, apart; /* with a halo, i1: there are rows before the tile; no output is in the memory of an input */
    ssa at[VARIANT_OPERANDS];        /* arrays: address of the tile's first element */
    ssa instead[VARIANT_OPERANDS];   /* an element that is read in place of one that is not there */
    ssa stride[2][VARIANT_OPERANDS]; /* i64: of dimensions 0 and 1 */
    int shared[VARIANT_OPERANDS];    /* staged: offset in shared memory */
    ssa column[BATCH_LANES];         /* i32: of a whole tile, the thread's elements along dimension 0 */
    ssa row[ACCESS_BYTES];           /* i32: and along dimension 1 */
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
    if (v->tile.halo)
        f->apart = skeleton_parameter(s, GPU_TILE_APART);
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
    if (v->tile.halo)
        f->before = emit_value(e, "icmp ne i64 %s, 0", first[1].text);
    ssa full[2];
    for (int d = 0; d < 2; d++)
        full[d] = emit_value(e, "icmp eq i32 %s, %d", f->count[d].text, size[d]);
    f->whole = emit_op(e, "and i1", aligned, emit_op(e, "and i1", full[0], full[1]));
    ssa left = emit_op(e, "sub i64", extent[1], first[1]);
    f->inner = emit_value(e, "icmp sge i64 %s, %d", left.text, f->height + WORD_BYTES);
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
        f->instead[k] = s->v->tile.halo ? s->base[k] : f->at[k]; /* of the last tile there may be the halo alone */
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

/* The address of the element so many columns, i32, on from the one at `at`. */
static ssa column_at(skeleton *s, const tile *f, int k, ssa at, ssa column) {
    emit *e = s->e;
    const variant_operand *o = &s->v->operand[k];
    if (o->staged || o->kind == OPERAND_STRIDED)
        return skeleton_address(s, k, at, emit_op(e, "mul i64", emit_widen(e, column), f->stride[0][k]));
    return o->kind == OPERAND_CONSTANT ? at : skeleton_neighbour(s, k, at, emit_widen(e, column));
}

/* The address of element (column, row), i32, of operand k, from the tile's first on. */
static ssa element_at(skeleton *s, const tile *f, int k, ssa column, ssa row) {
    emit *e = s->e;
    const variant_operand *o = &s->v->operand[k];
    ssa at = column_at(s, f, k, f->at[k], column);
    if (o->fixed)
        return at;
    ssa along = emit_widen(e, row);
    if (!o->unit)
        along = emit_op(e, "mul i64", along, f->stride[1][k]);
    return skeleton_address(s, k, at, along);
}

/* The address of an element so many columns and rows on from the one at `pointer`. */
static ssa moved(skeleton *s, const tile *f, int k, ssa pointer, int columns, int rows) {
    emit *e = s->e;
    const variant_operand *o = &s->v->operand[k];
    if (columns && (o->staged || o->kind == OPERAND_STRIDED))
        pointer = skeleton_address(s, k, pointer, emit_value(e, "mul i64 %s, %d", f->stride[0][k].text, columns));
    else if (columns && o->kind != OPERAND_CONSTANT)
        pointer = skeleton_neighbour(s, k, pointer, ssa_constant(columns));
    if (!rows || o->fixed)
        return pointer;
    ssa far = o->unit ? ssa_constant(rows) : emit_value(e, "mul i64 %s, %d", f->stride[1][k].text, rows);
    return skeleton_address(s, k, pointer, far);
}

/* `pointer`, or `other` if there (i1) is false. */
static ssa pointer_if(skeleton *s, int k, ssa there, ssa pointer, ssa other) {
    emit *e = s->e;
    fragment type = fragment_of("%s%s", ir_memory_type(skeleton_memory(s, k)), ir_global_pointer(e));
    return emit_select_as(e, type.text, there, pointer, other);
}

/* ---- What a thread takes one after the other, a block's threads apart, of lines of a power of two: beside the first one's, all places are
 * constants, so that an address costs an addition ---- */

typedef struct walk {
    int line, threads;
    ssa near, far; /* i32: place of the first within its line, and number of that line */
} walk;

/* first: i32, the number of the thread's first, which is the thread's own number and a multiple of what all threads take at once. */
static walk walk_of(emit *e, const tile *f, ssa first, int line) {
    return (walk){line, f->threads, and_constant(e, first, line - 1), shift_right(e, first, log2_of(line))};
}

static int near_on(const walk *w, int i) { return i * w->threads % w->line; }
static int far_on(const walk *w, int i) { return i * w->threads / w->line; }

static ssa far_of(emit *e, const walk *w, int i) {
    int on = far_on(w, i);
    return on ? emit_value(e, "add i32 %s, %d", w->far.text, on) : w->far;
}

/* Are lines of operand k, along dimension d, turned where they are written element by element? Of smaller elements, of which a warp writes few
 * bytes, instructions count for more; of larger ones a tile's line is what one warp writes at once. */
static bool is_turned(const skeleton *s, const tile *f, int k, int d) {
    const variant_operand *o = &s->v->operand[k];
    return skeleton_is_output(s, k) && o->kind == OPERAND_CONTIGUOUS && (d ? o->staged && o->unit : !o->staged) &&
           dtypes[skeleton_memory(s, k)].size == WORD_BYTES && (d ? f->height : f->width) > 1 << COOP_WARP;
}

/* How many elements of memory lie before the one at which the line of operand k begins, along dimension d; modulo 2^32. */
static ssa line_start(skeleton *s, const tile *f, int k, ssa line, int d) {
    emit *e = s->e;
    dtype t = skeleton_memory(s, k);
    ssa address = emit_value(e, "ptrtoint %s%s %s to i64", ir_memory_type(t), ir_global_pointer(e), f->at[k].text);
    ssa element = emit_value(e, "trunc i64 %s to i32",
                             emit_value(e, "lshr i64 %s, %d", address.text, log2_of(dtypes[t].size)).text);
    ssa stride = emit_value(e, "trunc i64 %s to i32", f->stride[!d][k].text);
    return emit_op(e, "add i32", element, emit_op(e, "mul i32", line, stride));
}

static ssa near_of(emit *e, const walk *w, int i) {
    int on = near_on(w, i);
    return on ? emit_value(e, "add i32 %s, %d", w->near.text, on) : w->near;
}

/* Which element of its line, along dimension d, the i-th one of a walk is: lines are turned so that what a warp writes begins where a line of
 * memory does, whatever their alignment. Only where a tile's line begins and ends are sectors of memory written in parts. */
static ssa turned(skeleton *s, const tile *f, int k, const walk *w, int i, int d) {
    emit *e = s->e;
    ssa start = line_start(s, f, k, far_of(e, w, i), d);
    return and_constant(e, emit_op(e, "sub i32", near_of(e, w, i), start), w->line - 1);
}

/* With a halo: how many elements of the sector in which column `column` of output k begins are before it. */
static ssa halo_part(skeleton *s, const tile *f, int k, ssa column) {
    emit *e = s->e;
    ssa mask = emit_value(e, "select i1 %s, i32 %d, i32 0", f->apart.text, variant_tile_sector(s->v, k) - 1);
    return emit_op(e, "and i32", line_start(s, f, k, column, 1), mask);
}

/* Is index + on, i32, below the count? */
static ssa is_below(emit *e, ssa index, int on, ssa count) {
    return less(e, index, on ? emit_value(e, "sub i32 %s, %d", count.text, on) : count);
}

/* ---- Shared memory ---- */

/* By how much the number of a unit in the tile is exchanged, from the bits of its column: bits of `x` shifted right by these two numbers,
 * exclusive or; -1: nothing. */
static void exchange_of(const tile *f, int *first, int *second) {
    int lines = log2_of(f->vector);
    *first = f->across ? 0 : -1;
    *second = f->vector > 1 ? lines : -1;
}

static int exchange_mask(const skeleton *s, const tile *f, int k) {
    int bytes = f->rows * dtypes[skeleton_memory(s, k)].size;
    return BANK_BYTES / (bytes > 4 ? bytes : 4) - 1;
}

/* The number of a unit in the tile, after the exchange. */
static ssa unit_number(skeleton *s, const tile *f, int k, ssa column, ssa unit) {
    emit *e = s->e;
    int first, second;
    exchange_of(f, &first, &second);
    ssa linear = emit_op(e, "add i32", emit_value(e, "mul i32 %s, %d", column.text, 1 << f->across), unit), by = column;
    if (first < 0 && second < 0)
        return linear;
    if (second >= 0)
        by = shift_right(e, column, second);
    if (first >= 0 && second >= 0)
        by = emit_op(e, "xor i32", by, column);
    return emit_op(e, "xor i32", linear, and_constant(e, by, exchange_mask(s, f, k)));
}

/* The same of constants. Since each bit of the result is the exclusive or of bits of the column and the unit, the number of
 * (a | b, c | d) is the exclusive or of those of (a, c) and (b, d) where a and b, and c and d, have no bits in common. */
static int unit_constant(const skeleton *s, const tile *f, int k, int column, int unit) {
    int first, second, by = 0;
    exchange_of(f, &first, &second);
    by ^= first >= 0 ? column : 0;
    by ^= second >= 0 ? column >> second : 0;
    return ((column << f->across) + unit) ^ (by & exchange_mask(s, f, k));
}

static ssa shared_pointer(skeleton *s, const tile *f, int k, ssa byte) {
    emit *e = s->e;
    return emit_shared_address(e, emit_value(e, "add i64 %s, %d", emit_widen(e, byte).text, f->shared[k]),
                               ir_memory_type(skeleton_memory(s, k)));
}

static ssa shared_at(skeleton *s, const tile *f, int k, ssa column, ssa unit) {
    int bytes = f->rows * dtypes[skeleton_memory(s, k)].size;
    return shared_pointer(s, f, k, emit_value(s->e, "mul i32 %s, %d", unit_number(s, f, k, column, unit).text, bytes));
}

/* The byte of element (column, row) in the tile, and that of constants, which are put together as unit_constant says. */
static ssa shared_byte(skeleton *s, const tile *f, int k, ssa column, ssa row) {
    emit *e = s->e;
    int size = dtypes[skeleton_memory(s, k)].size;
    ssa unit = unit_number(s, f, k, column, shift_right(e, row, log2_of(f->rows)));
    ssa byte = emit_value(e, "mul i32 %s, %d", unit.text, f->rows * size);
    if (f->rows == 1)
        return byte;
    return emit_op(e, "or i32", byte, emit_value(e, "mul i32 %s, %d", and_constant(e, row, f->rows - 1).text, size));
}

static int byte_constant(const skeleton *s, const tile *f, int k, int column, int row) {
    int size = dtypes[skeleton_memory(s, k)].size;
    return (unit_constant(s, f, k, column, row / f->rows) * f->rows + row % f->rows) * size;
}

static ssa shared_moved(skeleton *s, const tile *f, int k, ssa byte, int columns, int rows) {
    int by = byte_constant(s, f, k, columns, rows);
    return shared_pointer(s, f, k, by ? emit_value(s->e, "xor i32 %s, %d", byte.text, by) : byte);
}

/* Whether operand k is across and is brought into shared memory before, and whether it is taken out of there after the block has computed. */
static bool is_brought(const skeleton *s, int k) { return is_staged(s, k) && !skeleton_is_output(s, k); }
static bool is_taken_out(const skeleton *s, int k) { return is_staged(s, k) && skeleton_is_output(s, k); }
static bool has_brought(const skeleton *s) {
    for (int k = 0; k < s->noperands; k++)
        if (is_brought(s, k))
            return true;
    return false;
}

/* How accesses to a tile go. */
typedef enum access_kind {
    BY_ELEMENTS, /* each of one, of a tile of which not all may be there */
    TURNED,      /* the same, of an output, in lines that are turned */
    FROM_HALO,   /* the same, in lines that begin with the halo's part of a sector */
    BY_WORDS, /* of as many small elements as 4 bytes are, whose alignment is any: by the two words that they lie in */
    BY_UNITS  /* of whole units, and aligned, of a whole tile */
} access_kind;

/* Some of the accesses, each of so many elements along dimension 1, that the threads make to read a tile. */
typedef struct accesses {
    access_kind kind;
    int elements, count;
    walk w;      /* lines are columns */
    ssa row;     /* i32: of the first */
    ssa *values; /* [access * elements + i]; by words: one for each access, i32 */
} accesses;

/* first: as walk_of has it, counted in accesses. */
static accesses *accesses_of(skeleton *s, const tile *f, ssa first, int count, int elements, access_kind kind) {
    emit *e = s->e;
    accesses *a = arena_alloc(e->a, sizeof *a);
    assert(count <= ACCESSES_MAX);
    *a = (accesses){.kind = kind, .elements = elements, .count = count};
    a->values = arena_alloc(e->a, (size_t)(count * elements) * sizeof *a->values);
    a->w = walk_of(e, f, first, f->height / elements);
    a->row = elements > 1 ? emit_value(e, "mul i32 %s, %d", a->w.near.text, elements) : a->w.near;
    return a;
}

/* The 4 bytes at `pointer`: those of the word that it lies in, and of the next one unless the pointer is aligned. */
static ssa load_word(skeleton *s, int k, ssa pointer) {
    emit *e = s->e;
    const char *type = ir_memory_type(skeleton_memory(s, k));
    ssa address = emit_value(e, "ptrtoint %s%s %s to i64", type, ir_global_pointer(e), pointer.text);
    ssa off = emit_value(e, "and i64 %s, 3", address.text), before = emit_value(e, "sub i64 0, %s", off.text);
    ssa rest = emit_value(e, "and i64 %s, 3", before.text), word[2]; /* to the next aligned address */
    const ssa at[2] = {before, rest};
    ssa bytes = strcmp(type, "i8") != 0 ? emit_pointer_as(e, type, pointer, "i8") : pointer;
    for (int i = 0; i < 2; i++) {
        ssa from = emit_value(e, "getelementptr i8, i8%s %s, i64 %s", ir_global_pointer(e), bytes.text, at[i].text);
        word[i] = emit_widen(e, emit_load_as(e, "i32", emit_pointer_as(e, "i8", from, "i32"), 4));
    }
    ssa both = emit_op(e, "or i64", emit_value(e, "shl i64 %s, 32", word[1].text), word[0]);
    ssa shift = emit_value(e, "shl i64 %s, 3", off.text);
    return emit_value(e, "trunc i64 %s to i32", emit_op(e, "lshr i64", both, shift).text);
}

static void stage_words(skeleton *s, const tile *f, int k, const accesses *a, ssa first) {
    emit *e = s->e;
    ssa instead = element_at(s, f, k, ssa_constant(0), a->row);
    for (int i = 0; i < a->count; i++) {
        int columns = far_on(&a->w, i), rows = near_on(&a->w, i) * a->elements;
        ssa there = is_below(e, a->w.far, columns, f->count[0]);
        ssa pointer = pointer_if(s, k, there, moved(s, f, k, first, columns, rows), moved(s, f, k, instead, 0, rows));
        a->values[i * a->elements] = load_word(s, k, pointer);
    }
}

static void stage_load(skeleton *s, const tile *f, int k, const accesses *a) {
    emit *e = s->e;
    dtype t = skeleton_memory(s, k);
    ssa first = element_at(s, f, k, a->w.far, a->row);
    if (a->kind == BY_WORDS) {
        stage_words(s, f, k, a, first);
        return;
    }
    for (int i = 0; i < a->count; i++) {
        int columns = far_on(&a->w, i), rows = near_on(&a->w, i) * a->elements;
        ssa pointer = moved(s, f, k, first, columns, rows), *values = a->values + (size_t)(i * a->elements);
        if (a->kind == BY_UNITS) {
            emit_load_vector(e, t, pointer, a->elements, values);
            continue;
        }
        ssa there =
            emit_op(e, "and i1", is_below(e, a->w.far, columns, f->count[0]), is_below(e, a->row, rows, f->count[1]));
        values[0] = emit_load(e, t, pointer_if(s, k, there, pointer, f->at[k]));
    }
}

/* Writes them to shared memory. */
static void stage_store(skeleton *s, const tile *f, int k, const accesses *a) {
    emit *e = s->e;
    dtype t = skeleton_memory(s, k);
    ssa byte = shared_byte(s, f, k, a->w.far, a->row);
    e->shared = true;
    for (int i = 0; i < a->count; i++) {
        int columns = far_on(&a->w, i), rows = near_on(&a->w, i) * a->elements;
        const ssa *values = a->values + (size_t)i * (size_t)a->elements;
        for (int u = 0; a->kind == BY_UNITS && u < a->elements; u += f->rows)
            emit_store_vector(e, t, values + u, shared_moved(s, f, k, byte, columns, rows + u), f->rows);
        if (a->kind == BY_UNITS)
            continue;
        ssa pointer = shared_moved(s, f, k, byte, columns, rows);
        if (a->kind == BY_ELEMENTS)
            emit_store(e, t, values[0], pointer);
        else
            emit_store_as(e, "i32", values[0], emit_pointer_as(e, ir_memory_type(t), pointer, "i32"), 4);
    }
    e->shared = false;
}

/* Has each element a row of its own? Lines do not begin at the tile's edge then. */
static bool has_rows(const accesses *a) { return a->kind == TURNED || a->kind == FROM_HALO; }

/* Which row the i-th element is in, i32, of lines that do not begin at the tile's edge. Of the halo it is negative. */
static ssa unstaged_row(skeleton *s, const tile *f, int k, const accesses *a, int i) {
    emit *e = s->e;
    if (a->kind == TURNED)
        return turned(s, f, k, &a->w, i, 1);
    return emit_op(e, "sub i32", near_of(e, &a->w, i), halo_part(s, f, k, far_of(e, &a->w, i)));
}

/* The other way round: takes elements of an output's tile out of shared memory, and writes them. */
static void unstage_load(skeleton *s, const tile *f, int k, const accesses *a) {
    emit *e = s->e;
    dtype t = skeleton_memory(s, k);
    int unit = a->kind == BY_UNITS ? f->rows : 1;
    ssa byte = shared_byte(s, f, k, a->w.far, a->row);
    for (int i = 0; i < a->count; i++)
        for (int u = 0; u < a->elements; u += unit) {
            ssa pointer = shared_moved(s, f, k, byte, far_on(&a->w, i), near_on(&a->w, i) * a->elements + u);
            if (has_rows(a)) {
                ssa row = and_constant(e, unstaged_row(s, f, k, a, i), f->height - 1);
                pointer = shared_pointer(s, f, k, shared_byte(s, f, k, far_of(e, &a->w, i), row));
            }
            e->shared = true;
            emit_load_vector(e, t, pointer, unit, a->values + (size_t)(i * a->elements + u));
            e->shared = false;
        }
}

static void unstage_store(skeleton *s, const tile *f, int k, const accesses *a) {
    emit *e = s->e;
    dtype t = skeleton_memory(s, k);
    ssa first = element_at(s, f, k, a->w.far, has_rows(a) ? ssa_constant(0) : a->row);
    for (int i = 0; i < a->count; i++) {
        int columns = far_on(&a->w, i), rows = has_rows(a) ? 0 : near_on(&a->w, i) * a->elements;
        ssa pointer = moved(s, f, k, first, columns, rows), row = a->row;
        if (has_rows(a)) {
            row = unstaged_row(s, f, k, a, i);
            pointer = skeleton_address(s, k, pointer, emit_value(e, "sext i32 %s to i64", row.text));
        }
        const ssa *values = a->values + (size_t)i * (size_t)a->elements;
        if (a->kind == BY_UNITS) {
            emit_store_vector(e, t, values, pointer, a->elements);
            continue;
        }
        ssa there =
            emit_op(e, "and i1", is_below(e, a->w.far, columns, f->count[0]), is_below(e, row, rows, f->count[1]));
        if (a->kind == FROM_HALO)
            there = emit_op(e, "and i1", there,
                            emit_op(e, "or i1", f->before, emit_value(e, "icmp sge i32 %s, 0", row.text)));
        int end = skeleton_if(s, there);
        emit_store(e, t, values[0], pointer);
        skeleton_end_if(s, end);
    }
}

/* Does so much for the accesses of a kind that the threads make to the tile of an operand. */
typedef void access_step(skeleton *s, const tile *f, int k, const accesses *a);

/* Moves the tile of operand k, whatever its alignment: first loads, then stores, some accesses at once. */
static void move_any(skeleton *s, const tile *f, int k, access_kind kind, access_step *load, access_step *store) {
    emit *e = s->e;
    int elements = kind == BY_WORDS ? WORD_BYTES / dtypes[skeleton_memory(s, k)].size : 1,
        all = f->vector * f->rows / elements, most = kind == TURNED || kind == FROM_HALO ? TURNED_MAX : ACCESSES_MAX,
        step = all < most ? all : most;
    ssa first = f->thread, limit = ssa_constant(all * f->threads);
    counted_loop l = {.i = first};
    if (step < all)
        l = counted_loop_begin(e, "i32", first, limit);
    accesses *a = accesses_of(s, f, l.i, step, elements, kind);
    load(s, f, k, a);
    store(s, f, k, a);
    if (step < all)
        counted_loop_end(e, &l, ssa_constant(step * f->threads), loop_no_unroll(e));
}

static void stage_any(skeleton *s, const tile *f, int k, access_kind kind) {
    move_any(s, f, k, kind, stage_load, stage_store);
}

/* Are its elements small, so that several of them, one behind the other, are read as a word? */
static bool has_words(const skeleton *s, const tile *f, int k) {
    return by_units(s, k) && f->rows * dtypes[skeleton_memory(s, k)].size >= WORD_BYTES &&
           dtypes[skeleton_memory(s, k)].size < WORD_BYTES;
}

static void stage_unaligned(skeleton *s, const tile *f, int k) {
    emit *e = s->e;
    if (!has_words(s, f, k)) {
        stage_any(s, f, k, BY_ELEMENTS);
        return;
    }
    int words = emit_label_new(e), elements = emit_label_new(e), end = emit_label_new(e);
    emit_branch_if(e, f->inner, words, elements);
    emit_label(e, words);
    stage_any(s, f, k, BY_WORDS);
    emit_branch(e, end);
    emit_label(e, elements);
    stage_any(s, f, k, BY_ELEMENTS);
    emit_branch(e, end);
    emit_label(e, end);
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

/* Leaves the thread's results of a staged output there. */
static void unstage_put(skeleton *s, const tile *f, int k, const ssa *out) {
    emit *e = s->e;
    ssa unit = shift_right(e, f->row[0], log2_of(f->rows)), values[ACCESS_BYTES];
    e->shared = true;
    for (int j = 0; j < f->vector; j++) {
        for (int r = 0; r < f->rows; r++)
            values[r] = out[(size_t)(r * f->vector + j) * s->v->nout + (size_t)(k - s->nin)];
        emit_store_vector(e, skeleton_memory(s, k), values, shared_at(s, f, k, f->column[j], unit), f->rows);
    }
    e->shared = false;
}

/* The number of accesses by units that a thread makes to a whole tile, in full. */
static accesses *units_of(skeleton *s, const tile *f, int k) {
    int elements = variant_tile_access(s->v, k);
    return accesses_of(s, f, f->thread, f->vector * f->rows / elements, elements, BY_UNITS);
}

/* Writes the tiles of all staged outputs, after all threads have left their results there. */
static void unstage(skeleton *s, const tile *f, bool whole) {
    int count = 0;
    for (int k = 0; k < s->noperands; k++) {
        if (!is_taken_out(s, k))
            continue;
        if (!count++)
            emit_block_barrier(s->e);
        if (!whole || !by_units(s, k)) {
            access_kind kind = s->v->tile.halo ? FROM_HALO : is_turned(s, f, k, 1) ? TURNED : BY_ELEMENTS;
            move_any(s, f, k, kind, unstage_load, unstage_store);
            continue;
        }
        accesses *a = units_of(s, f, k);
        unstage_load(s, f, k, a);
        unstage_store(s, f, k, a);
    }
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
        if (is_brought(s, k) && by_units(s, k)) {
            staged[k] = units_of(s, f, k);
            stage_load(s, f, k, staged[k]);
        }
    for (int k = 0; k < s->noperands; k++)
        if (is_direct(s, k))
            load_direct(s, f, k, in);
    for (int k = 0; k < s->noperands; k++)
        if (staged[k])
            stage_store(s, f, k, staged[k]);
        else if (is_brought(s, k))
            stage_any(s, f, k, BY_ELEMENTS);
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
    for (int k = s->nin; k < s->nin + s->v->nout; k++)
        if (is_taken_out(s, k))
            unstage_put(s, f, k, out);
        else if (is_record(s, k))
            store_records(s, f, k, out);
        else
            for (int r = 0; r < f->rows; r++)
                store_row(s, f, k, r, out + (size_t)(r * f->vector) * s->v->nout);
    unstage(s, f, true);
}

/* Computes an element and stores its results, which are at `at` (of staged outputs: in shared memory), where the mask is true. Where it is
 * false nothing is computed either, since a kernel might loop for long. */
static void finish_element(skeleton *s, const ssa *at, const ssa *in) {
    int mask = s->nin + s->v->nout, end = 0;
    ssa results[UF_MAX_OPERANDS];
    if (s->v->masked)
        end = skeleton_if(s, s->uniform[mask] ? s->value[mask] : in[mask]);
    skeleton_compute(s, in, results);
    for (int k = s->nin; k < mask; k++) {
        s->e->shared = is_taken_out(s, k);
        skeleton_store(s, k, at[k], 1, false, results);
        s->e->shared = false;
    }
    if (s->v->masked)
        skeleton_end_if(s, end);
}

static void whole_tile(skeleton *s, tile *f) {
    find_elements(s, f);
    ssa *in = load_whole(s, f);
    if (has_brought(s))
        emit_block_barrier(s->e);
    for (int k = 0; k < s->noperands; k++)
        if (is_brought(s, k))
            stage_take(s, f, k, in);
    if (!s->v->masked) {
        finish_whole(s, f, in);
        return;
    }
    ssa at[VARIANT_OPERANDS];
    for (int r = 0; r < f->rows; r++)
        for (int j = 0; j < f->vector; j++) {
            for (int k = s->nin; k < s->nin + s->v->nout; k++)
                at[k] = element_at(s, f, k, f->column[j], f->row[r]);
            finish_element(s, at, element_of(s, f, in, r, j));
        }
}

/* ---- Any other tile, element by element: thread by thread along dimension 0 ---- */

/* Some elements of a thread. */
typedef struct singles {
    walk w;     /* lines are rows */
    int output; /* whose lines are turned; -1: none */
    ssa first
        [VARIANT_OPERANDS]; /* where the first one is, or if lines are turned the first one of its row: its address, or staged operands: its
                                    byte in the tile, i32 */
} singles;

static singles singles_of(skeleton *s, const tile *f, ssa first) {
    singles x = {.w = walk_of(s->e, f, first, f->width), .output = -1};
    for (int k = s->noperands; k-- > 0;)
        if (is_turned(s, f, k, 0))
            x.output = k;
    ssa column = x.output < 0 ? x.w.near : ssa_constant(0);
    for (int k = 0; k < s->noperands; k++)
        if (is_staged(s, k))
            x.first[k] = shared_byte(s, f, k, column, x.w.far);
        else if (skeleton_moves(s, k))
            x.first[k] = element_at(s, f, k, column, x.w.far);
    return x;
}

/* The column of the i-th one. */
static ssa column_of(skeleton *s, const tile *f, const singles *x, int i) {
    return x->output < 0 ? near_of(s->e, &x->w, i) : turned(s, f, x->output, &x->w, i, 0);
}

/* Where the i-th one is, in memory or in shared memory. */
static ssa single_at(skeleton *s, const tile *f, const singles *x, int k, int i, ssa column) {
    int columns = near_on(&x->w, i), rows = far_on(&x->w, i);
    if (x->output < 0)
        return (is_staged(s, k) ? shared_moved : moved)(s, f, k, x->first[k], columns, rows);
    if (is_staged(s, k))
        return shared_pointer(s, f, k, shared_byte(s, f, k, column, far_of(s->e, &x->w, i)));
    return column_at(s, f, k, moved(s, f, k, x->first[k], 0, rows), column);
}

/* Loads the operands of the i-th one, or others in their place. */
static void load_single(skeleton *s, const tile *f, const singles *x, int i, ssa column, ssa there, ssa *in) {
    emit *e = s->e;
    for (int k = 0; k < s->noperands; k++)
        if (is_brought(s, k)) { /* beyond the end there is something, too */
            e->shared = true;
            in[k] = emit_load(e, skeleton_memory(s, k), single_at(s, f, x, k, i, column));
            e->shared = false;
        } else if (is_direct(s, k)) {
            ssa pointer = pointer_if(s, k, there, single_at(s, f, x, k, i, column), f->instead[k]);
            skeleton_load(s, k, pointer, 1, false, in);
        }
}

/* Some elements of the thread, from number `first`, i32, on: all are loaded before any of them is computed. Those beyond the end are not. */
static void some_elements(skeleton *s, const tile *f, ssa first, int count) {
    emit *e = s->e;
    ssa *in = arena_alloc(e->a, (size_t)(count * s->noperands) * sizeof *in), there[SINGLES_MAX], column[SINGLES_MAX],
        at[VARIANT_OPERANDS];
    singles x = singles_of(s, f, first);
    for (int i = 0; i < count; i++) {
        column[i] = column_of(s, f, &x, i);
        there[i] =
            emit_op(e, "and i1", less(e, column[i], f->count[0]), is_below(e, x.w.far, far_on(&x.w, i), f->count[1]));
        load_single(s, f, &x, i, column[i], there[i], in + (size_t)(i * s->noperands));
    }
    for (int i = 0; i < count; i++) {
        int end = skeleton_if(s, there[i]);
        for (int k = s->nin; k < s->nin + s->v->nout; k++)
            at[k] = single_at(s, f, &x, k, i, column[i]);
        finish_element(s, at, in + (size_t)(i * s->noperands));
        skeleton_end_if(s, end);
    }
}

static int single_step(const skeleton *s, const tile *f) {
    int step = skeleton_single_step(s) > 1 ? SINGLES_MAX : 1;
    while (f->vector * f->rows % step)
        step /= 2;
    return step;
}

/* ---- The halo's elements ---- */

/* Those of a thread. */
typedef struct halo {
    walk w; /* lines are rows, from the halo's first on */
    int count;
    ssa there[ACCESSES_MAX][UF_MAX_OPERANDS]; /* i1, by output: is it across, and the element this block's to write? */
    ssa any[ACCESSES_MAX];                    /* i1: of any output */
    ssa *in;                                  /* [i * noperands + operand] */
} halo;

/* The place of the i-th one in shared memory, counted in rows: where the last rows of the tile are, which are as far from the first one. */
static ssa halo_place(skeleton *s, const tile *f, const halo *h, int i) {
    return emit_value(s->e, "add i32 %s, %d", h->w.far.text, far_on(&h->w, i) + f->height - s->v->tile.halo);
}

/* Which outputs it is written to. */
static void halo_find(skeleton *s, const tile *f, halo *h, int i) {
    emit *e = s->e;
    ssa column = near_of(e, &h->w, i), row = emit_value(e, "sub i32 %s, %d", halo_place(s, f, h, i).text, f->height);
    ssa inside = emit_op(e, "and i1", less(e, column, f->count[0]), less(e, row, f->count[1]));
    inside = emit_op(e, "and i1", inside, emit_op(e, "and i1", f->before, less(e, row, ssa_constant(0))));
    h->any[i] = ssa_literal("false");
    for (int k = s->nin; k < s->nin + s->v->nout; k++) {
        if (!is_taken_out(s, k))
            continue;
        ssa from = emit_op(e, "add i32", row, halo_part(s, f, k, column));
        ssa there = emit_op(e, "and i1", inside, emit_value(e, "icmp sge i32 %s, 0", from.text));
        h->there[i][k - s->nin] = there;
        h->any[i] = emit_op(e, "or i1", h->any[i], there);
    }
}

static halo *halo_load(skeleton *s, const tile *f) {
    emit *e = s->e;
    halo *h = arena_alloc(e->a, sizeof *h);
    int all = s->v->tile.halo * f->width;
    *h = (halo){.w = walk_of(e, f, f->thread, f->width), .count = (all + f->threads - 1) / f->threads};
    assert(h->count <= ACCESSES_MAX);
    h->in = arena_alloc(e->a, (size_t)(h->count * s->noperands) * sizeof *h->in);
    for (int i = 0; i < h->count; i++)
        halo_find(s, f, h, i);
    for (int k = 0; k < s->noperands; k++) {
        if (!is_direct(s, k))
            continue;
        ssa first = moved(s, f, k, element_at(s, f, k, h->w.near, h->w.far), 0, -s->v->tile.halo);
        for (int i = 0; i < h->count; i++) {
            ssa pointer = moved(s, f, k, first, near_on(&h->w, i), far_on(&h->w, i));
            skeleton_load(s, k, pointer_if(s, k, h->any[i], pointer, f->instead[k]), 1, false,
                          h->in + (size_t)(i * s->noperands));
        }
    }
    return h;
}

/* Computes them, and leaves their results in shared memory, where the last rows' were. */
static void halo_finish(skeleton *s, const tile *f, const halo *h) {
    emit *e = s->e;
    ssa results[UF_MAX_OPERANDS];
    emit_block_barrier(e);
    for (int i = 0; i < h->count; i++) {
        int any = skeleton_if(s, h->any[i]);
        skeleton_compute(s, h->in + (size_t)(i * s->noperands), results);
        for (int k = s->nin; k < s->nin + s->v->nout; k++) {
            if (!is_taken_out(s, k))
                continue;
            int end = skeleton_if(s, h->there[i][k - s->nin]);
            ssa byte = shared_byte(s, f, k, near_of(e, &h->w, i), halo_place(s, f, h, i)),
                pointer = shared_pointer(s, f, k, byte);
            e->shared = true;
            skeleton_store(s, k, pointer, 1, false, results);
            e->shared = false;
            skeleton_end_if(s, end);
        }
        skeleton_end_if(s, any);
    }
}

static void part_tile(skeleton *s, const tile *f) {
    emit *e = s->e;
    int step = single_step(s, f);
    halo *h = s->v->tile.halo ? halo_load(s, f) : NULL;
    for (int k = 0; k < s->noperands; k++)
        if (is_brought(s, k))
            stage_unaligned(s, f, k);
    if (has_brought(s))
        emit_block_barrier(e);
    counted_loop l = counted_loop_begin(e, "i32", f->thread, ssa_constant(f->width * f->height));
    some_elements(s, f, l.i, step);
    counted_loop_end(e, &l, ssa_constant(step * f->threads), loop_no_unroll(e));
    if (h)
        halo_finish(s, f, h);
    unstage(s, f, false);
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
    if (v->tile.halo) {
        part_tile(s, f);
        return;
    }
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
