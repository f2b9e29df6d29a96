/* cpu_tile.c - inputs that lie side by side along dimension 1, across the order of the others. The kernel is called for at most
 * TILE_COLUMNS elements of dimension 0. It goes along dimension 1 by strips, of as many elements as a line of the cache has of the
 * smallest of these inputs, so that each line is read once, whole: it copies the strip of each of them into an array, in
 * which dimension 0 is innermost, and then takes the rows of the strip like any others. Strips are copied by squares of 16 bytes, which are
 * transposed in registers, and what is left element by element. */
#include "ir/elementwise/elementwise.h"

#include "ir/common/internal.h"
#include "ir/common/transpose.h"

enum {
    RECORD_BYTES = 16, /* of a record that is a vector, at least, .. */
    RECORD_LEAST = 4,  /* .. and its elements; .. */
    RECORD_MOST = 8,   /* .. of so many it may have fewer bytes */
    GATHERED_LEAST = 4 /* bytes of an element */
};

typedef struct strips {
    cpu_loop all;
    int rows;                    /* of a strip, at most */
    ssa array[VARIANT_OPERANDS]; /* of staged operands: element (column, row) is number row * pitch + column */
    ssa dense, pitch;            /* i1, i64: see find_pitch */
} strips;

static bool is_staged(const skeleton *s, int k) { return s->v->operand[k].staged; }
static int size_of(const skeleton *s, int k) { return dtypes[skeleton_memory(s, k)].size; }
static int square_of(const skeleton *s, int k) { return ACCESS_BYTES / size_of(s, k); }

/* A line of the smallest staged operand. */
static int strip_rows(const skeleton *s) {
    int rows = 1;
    for (int k = 0; k < s->noperands; k++)
        if (is_staged(s, k) && LINE_BYTES / size_of(s, k) > rows)
            rows = LINE_BYTES / size_of(s, k);
    return rows;
}

/* The element of operand k at (column, row), i64, from an address on. */
static ssa source_at(skeleton *s, const strips *f, int k, ssa from, ssa column, ssa row) {
    emit *e = s->e;
    ssa offset = emit_op(e, "mul i64", column, f->all.stride[0][k]);
    ssa along = s->v->operand[k].unit ? row : emit_op(e, "mul i64", row, f->all.stride[1][k]);
    return skeleton_address(s, k, from, emit_op(e, "add i64", offset, along));
}

/* That of the next column. Addresses that are made of each other are less to compile than those made of numbers. */
static ssa next_column(skeleton *s, const strips *f, int k, ssa element) {
    return skeleton_address(s, k, element, f->all.stride[0][k]);
}

static ssa array_at(skeleton *s, const strips *f, int k, ssa column, ssa row) {
    ssa line = emit_op(s->e, "mul i64", row, f->pitch);
    return skeleton_address(s, k, f->array[k], emit_op(s->e, "add i64", line, column));
}

/* ---- Squares ---- */

/* Copies a square from its place in an operand to that in the operand's array. */
static void copy_square(skeleton *s, const strips *f, int k, ssa from, ssa column, ssa row) {
    emit *e = s->e;
    int n = square_of(s, k), align = dtypes[skeleton_memory(s, k)].align;
    fragment type = fragment_of("<%d x i%d>", n, 8 * size_of(s, k));
    const char *memory = ir_memory_type(skeleton_memory(s, k));
    ssa vectors[SQUARE_MAX], line = source_at(s, f, k, from, column, row);
    for (int i = 0; i < n; i++) {
        vectors[i] = emit_load_as(e, type.text, emit_pointer_as(e, memory, line, type.text), align);
        line = next_column(s, f, k, line);
    }
    emit_transpose(e, type.text, n, 1, vectors);
    ssa at = array_at(s, f, k, column, row);
    for (int i = 0; i < n; i++) {
        emit_store_as(e, type.text, vectors[i], emit_pointer_as(e, memory, at, type.text), align);
        at = skeleton_address(s, k, at, f->pitch);
    }
}

/* ---- Strips ---- */

/* Elements of rows first_row .. rows-1, one by one. LLVM would make vectors of columns that lie side by side, as these do not. */
static void copy_elements(skeleton *s, const strips *f, int k, ssa from, ssa first_row, ssa rows) {
    emit *e = s->e;
    counted_loop row = counted_loop_begin(e, "i64", first_row, rows);
    counted_loop column = counted_loop_begin(e, "i64", ssa_constant(0), f->all.n);
    int group = e->access_group = emit_metadata(e, "distinct !{}");
    emit_store(e, skeleton_memory(s, k), emit_load(e, skeleton_memory(s, k), source_at(s, f, k, from, column.i, row.i)),
               array_at(s, f, k, column.i, row.i));
    e->access_group = 0;
    int hints[] = {emit_metadata(e, "!{!\"llvm.loop.parallel_accesses\", !%d}", group), loop_no_vectors(e)};
    counted_loop_end_hints(e, &column, ssa_constant(1), hints, COUNT(hints));
    counted_loop_end(e, &row, ssa_constant(1), 0);
}

/* Has the lines fetched that so many columns from one on have two strips behind this one. The processor sees no order in them: a strip has
 * one line of each column. */
static void fetch_ahead(skeleton *s, const strips *f, int k, ssa from, ssa column, int columns) {
    ssa line = source_at(s, f, k, from, column, ssa_constant(0)),
        ahead = ssa_constant((int64_t)2 * f->rows * size_of(s, k));
    for (int i = 0; i < columns; i++) {
        emit_prefetch(s->e, ir_memory_type(skeleton_memory(s, k)), line, ahead, PREFETCH_READ);
        line = next_column(s, f, k, line);
    }
}

/* Copies the strip of operand k of so many rows, the first of which is at `from`: by squares, of which the last along each dimension lies over the
 * one before it as far as it must, and element by element where a square has no room. */
static void copy_strip(skeleton *s, const strips *f, int k, ssa from, ssa rows) {
    emit *e = s->e;
    int n = square_of(s, k);
    ssa none = ssa_constant(0), by_squares = none;
    if (s->v->operand[k].unit && n > 1) {
        ssa last = emit_op(e, "sub i64", f->all.n, ssa_constant(n)),
            last_row = emit_op(e, "sub i64", rows, ssa_constant(n)),
            room = emit_op(e, "icmp sge i64", emit_min(e, last, last_row), none);
        by_squares = emit_select_as(e, "i64", room, rows, none);
        counted_loop column = counted_loop_begin(e, "i64", none, emit_select_as(e, "i64", room, f->all.n, none));
        ssa first = emit_min(e, column.i, last);
        fetch_ahead(s, f, k, from, first, n);
        counted_loop row = counted_loop_begin(e, "i64", none, by_squares);
        copy_square(s, f, k, from, first, emit_min(e, row.i, last_row));
        counted_loop_end(e, &row, ssa_constant(n), 0);
        counted_loop_end(e, &column, ssa_constant(n), 0);
    }
    copy_elements(s, f, k, from, by_squares, rows);
}

static void strip_row(skeleton *s, const strips *f, ssa first, ssa i, ssa n) {
    ssa row[VARIANT_OPERANDS] = {0};
    cpu_loop_row(s, &f->all, emit_op(s->e, "add i64", first, i), row);
    for (int k = 0; k < s->noperands; k++)
        if (is_staged(s, k))
            row[k] = array_at(s, f, k, ssa_constant(0), i);
    cpu_row(s, n, row, f->all.stride[0]);
}

/* If the rows of all operands that are not staged lie one behind the other, those of a strip are one row: short ones would each have a rest that fills
 * no vector. */
static void find_pitch(skeleton *s, strips *f) {
    emit *e = s->e;
    f->dense = ssa_bool(true);
    for (int k = 0; k < s->noperands; k++)
        if (s->v->operand[k].kind == OPERAND_CONTIGUOUS && !is_staged(s, k))
            f->dense = emit_op(e, "and i1", f->dense, emit_op(e, "icmp eq i64", f->all.stride[1][k], f->all.n));
        else if (s->v->operand[k].kind != OPERAND_NUMBER && !is_staged(s, k))
            f->dense = ssa_bool(false);
    f->pitch = emit_select_as(e, "i64", f->dense, f->all.n, ssa_constant(TILE_COLUMNS));
}

/* ---- A narrow dimension 1 ---- */

/* Is a record a vector, or two of half its elements? With several operands that are records, vectors of records, whose fields LLVM takes apart, are no
 * faster than these, and take several times as long to compile. */
static bool records_are_vectors(const skeleton *s) {
    int records = 0, narrow = s->v->tile.narrow;
    for (int k = 0; k < s->noperands; k++) {
        const variant_operand *o = &s->v->operand[k];
        if (o->kind == OPERAND_INTERLEAVED && narrow != RECORD_MOST && narrow * dtypes[o->memory].size < RECORD_BYTES)
            return false;
        records += o->kind == OPERAND_INTERLEAVED;
    }
    return records > 1 && !s->v->masked && narrow >= RECORD_LEAST && narrow <= RECORD_MOST && narrow % 2 == 0;
}

/* LLVM takes no record of more than eight numbers apart by shuffles: it would gather and scatter. Vectors of what is gathered pay where they
 * are made of real numbers for which there is an instruction, and are not scattered; else they take up to five times as long as the elements one by
 * one, and ten times as long to compile. */
static bool records_are_long(const skeleton *s) {
    for (int k = 0; k < s->noperands; k++) {
        dtype type = skeleton_memory(s, k);
        bool complex = dtype_is_complex(type), gathers = !complex && dtypes[type].size >= GATHERED_LEAST;
        if (s->v->operand[k].kind == OPERAND_INTERLEAVED && s->v->tile.narrow * (complex ? 2 : 1) > RECORD_SHUFFLED &&
            (!gathers || k >= s->nin))
            return true;
    }
    return false;
}

/* All rows together: the elements of dimension 1 that belong to an element of dimension 0 are loaded, computed and stored together, so that
 * LLVM sees accesses to whole records. */
static void narrow(skeleton *s) {
    emit *e = s->e;
    cpu_loop all;
    ssa(*row)[VARIANT_OPERANDS] = arena_alloc(e->a, s->v->tile.narrow * sizeof *row);
    cpu_loop_read(s, &all);
    for (int r = 0; r < s->v->tile.narrow; r++)
        for (int k = 0; k < s->noperands; k++)
            if (skeleton_moves(s, k))
                row[r][k] =
                    skeleton_address(s, k, s->base[k],
                                     s->v->operand[k].unit ? ssa_constant(r)
                                                           : emit_value(e, "mul i64 %s, %d", all.stride[1][k].text, r));
    counted_loop l = counted_loop_begin(e, "i64", ssa_constant(0), all.n);
    batch b = batch_new(s, s->v->tile.narrow, 1, false);
    int group = e->access_group = emit_metadata(e, "distinct !{}");
    for (int r = 0; r < b.groups; r++)
        for (int k = 0; k < s->noperands; k++)
            if (skeleton_moves(s, k))
                batch_access(s, &b, r, k, cpu_element(s, k, row[r][k], l.i, all.stride[0]));
    batch_finish(s, &b);
    e->access_group = 0;
    int hints[2] = {emit_metadata(e, "!{!\"llvm.loop.parallel_accesses\", !%d}", group)};
    bool alone = records_are_vectors(s) || records_are_long(s);
    if (alone)
        hints[1] = loop_no_vectors(e);
    counted_loop_end_hints(e, &l, ssa_constant(1), hints, 1 + alone);
}

static void in_strips(skeleton *s) {
    emit *e = s->e;
    strips f = {.rows = strip_rows(s)};
    cpu_loop_read(s, &f.all);
    find_pitch(s, &f);
    for (int k = 0; k < s->noperands; k++)
        if (is_staged(s, k))
            f.array[k] = emit_array(e, skeleton_memory(s, k), f.rows * TILE_COLUMNS);
    counted_loop strip = counted_loop_begin(e, "i64", ssa_constant(0), f.all.m);
    ssa rows = emit_min(e, emit_op(e, "sub i64", f.all.m, strip.i), ssa_constant(f.rows));
    ssa first[VARIANT_OPERANDS] = {0};
    cpu_loop_row(s, &f.all, strip.i, first);
    for (int k = 0; k < s->noperands; k++)
        if (is_staged(s, k))
            copy_strip(s, &f, k, first[k], rows);
    ssa one = ssa_constant(1), lines = emit_select_as(e, "i64", f.dense, one, rows),
        n = emit_select_as(e, "i64", f.dense, emit_op(e, "mul i64", rows, f.all.n), f.all.n);
    counted_loop row = counted_loop_begin(e, "i64", ssa_constant(0), lines);
    strip_row(s, &f, strip.i, row.i, n);
    counted_loop_end(e, &row, one, loop_no_unroll(e)); /* a strip of eight rows would be written out */
    counted_loop_end(e, &strip, ssa_constant(f.rows), loop_no_unroll(e));
}

void cpu_tile(skeleton *s) { (s->v->tile.narrow ? narrow : in_strips)(s); }
