/* row_tile.c - rows of a constant length in shared memory, see row_tile.h.
 *
 * A row is accessed by the widest power of two of elements that divides it, at most 16 bytes. Where these accesses are an odd number, the
 * threads of a warp, a row each, use all banks alike. Where they are even, accesses are of 16 bytes, and the same banks come again
 * after some rows: behind these 16 bytes are left free. Planes of rows that lie side by side are accessed one element after the other, and what is
 * free lies behind planes. */
#include "ir/common/row_tile.h"

#include <assert.h>

#include "ir/common/internal.h"
#include "ir/common/lanes.h"

enum {
    BANK_BYTES = 128,   /* of all banks of shared memory together */
    PLANE_LARGE = 1024, /* bytes of a plane behind which an eighth and less may be free */
    TOGETHER = 8        /* accesses of a thread that are in flight together */
};

static int low_bit(int x) { return x & -x; }

static int row_bytes(dtype type, int length) { return dtypes[type].size * length; }

/* Rows of a piece without gaps: those of a plane, or one. */
static int piece_rows(const row_tile *t) { return t->plane ? t->plane : 1; }

static int piece_bytes(const row_tile *t) { return piece_rows(t) * row_bytes(t->type, t->length); }

/* Pieces after which bytes are free; 0: none are. A power of two. */
static int pieces_between(const row_tile *t) {
    int step = low_bit(piece_bytes(t));
    if (step <= ACCESS_BYTES)
        return 0;
    return step < BANK_BYTES ? BANK_BYTES / step : 1;
}

/* Bytes that are free there. Behind a large plane that uses all banks alike so many that the next one's elements are in the banks behind. */
static int free_bytes(const row_tile *t) {
    int beside = t->plane * dtypes[t->type].size, whole = (beside + ACCESS_BYTES - 1) / ACCESS_BYTES * ACCESS_BYTES;
    bool large = t->plane && piece_bytes(t) % BANK_BYTES == 0 && piece_bytes(t) >= PLANE_LARGE;
    return large && whole % BANK_BYTES ? whole % BANK_BYTES : ACCESS_BYTES;
}

static int tile_bytes(const row_tile *t) {
    int between = pieces_between(t), pieces = t->rows / piece_rows(t);
    return pieces * piece_bytes(t) + (between ? (pieces + between - 1) / between * free_bytes(t) : 0);
}

/* In memory of operand `where`. */
static row_tile tile_new(const row_tiles *all, int where, dtype type, int rows) {
    emit *e = all->s->e;
    row_tile t = {.e = e,
                  .type = type,
                  .length = all->length,
                  .rows = rows,
                  .plane = all->plane,
                  .threads = all->threads,
                  .filled = all->filled};
    const char *element = ir_memory_type(type);
    int words = (tile_bytes(&t) + 3) / 4 + 1; /* one more may be read, see get_bytes */
    ssa name = ssa_named("@rows_%d", where);
    assert(rows * row_bytes(type, t.length) % ACCESS_BYTES == 0);
    if (emit_once(e, name.text))
        text_printf(&e->declarations, "%s = internal addrspace(3) global [%d x i32] undef, align 16\n", name.text,
                    words);
    ssa first =
        emit_value(e, "getelementptr [%d x i32], [%d x i32] addrspace(3)* %s, i64 0, i64 0", words, words, name.text);
    e->shared = true;
    t.base = strcmp(element, "i32") != 0 ? emit_pointer_as(e, "i32", first, element) : first;
    e->shared = false;
    return t;
}

/* ---- Addresses in shared memory ---- */

/* x (i32), counted in pieces of `size` bytes from the tile's first, moved past the free bytes before it. */
static ssa past_free(const row_tile *t, ssa x, int size) {
    int between = pieces_between(t);
    if (!between)
        return x;
    ssa gaps = emit_value(t->e, "udiv i32 %s, %d", x.text, between * piece_bytes(t) / size);
    return emit_op(t->e, "add i32", x, emit_value(t->e, "mul i32 %s, %d", gaps.text, free_bytes(t) / size));
}

/* The address of element x (i32) in shared memory. */
static ssa shared_element(const row_tile *t, ssa x) {
    ssa at = emit_widen(t->e, past_free(t, x, dtypes[t->type].size));
    t->e->shared = true;
    at = emit_element(t->e, t->type, t->base, at);
    t->e->shared = false;
    return at;
}

/* ---- Copies ---- */

/* Accesses of 16 bytes: their number x (i32), and where they are on both sides, as pointers to four words. */
typedef struct wide_access {
    ssa global, shared;
} wide_access;

static const char words[] = "<4 x i32>";

static ssa wide_at(const row_tile *t, ssa base, ssa x, bool shared) {
    emit *e = t->e;
    e->shared = shared;
    ssa first = emit_pointer_as(e, ir_memory_type(t->type), base, words);
    first = emit_value(e, "getelementptr inbounds %s, %s%s %s, i64 %s", words, words, ir_global_pointer(e), first.text,
                       emit_widen(e, x).text);
    e->shared = false;
    return first;
}

static wide_access wide_access_at(const row_tile *t, ssa global, ssa x) {
    return (wide_access){wide_at(t, global, x, false), wide_at(t, t->base, past_free(t, x, ACCESS_BYTES), true)};
}

static void wide_copy(const row_tile *t, const wide_access *at, int n, bool out) {
    emit *e = t->e;
    ssa values[TOGETHER];
    for (int i = 0; i < n; i++) {
        e->shared = out;
        emit_invariant(e, t->constant);
        values[i] = emit_load_as(e, words, out ? at[i].shared : at[i].global, ACCESS_BYTES);
        emit_invariant(e, false);
    }
    for (int i = 0; i < n; i++) {
        e->shared = !out;
        emit_store_as(e, words, values[i], out ? at[i].global : at[i].shared, ACCESS_BYTES);
    }
    e->shared = false;
}

/* All of a whole tile. In the last round there may be accesses for some threads only: the others do their first one once more, which
 * changes nothing. */
static void copy_whole(const row_tile *t, ssa global, bool out) {
    emit *e = t->e;
    int all = t->rows * row_bytes(t->type, t->length) / ACCESS_BYTES, rounds = (all + t->threads - 1) / t->threads;
    ssa thread = emit_special_register(e, "tid");
    wide_access at[TOGETHER];
    for (int first = 0; first < rounds; first += TOGETHER) {
        int n = rounds - first < TOGETHER ? rounds - first : TOGETHER;
        for (int i = 0; i < n; i++) {
            int before = (first + i) * t->threads;
            ssa x = before ? emit_value(e, "add i32 %s, %d", thread.text, before) : thread;
            if (before + t->threads > all) {
                ssa there = emit_value(e, "icmp slt i32 %s, %d", x.text, all);
                x = emit_select_as(e, "i32", there, x, before ? thread : ssa_constant(0));
            }
            at[i] = wide_access_at(t, global, x);
        }
        wide_copy(t, at, n, out);
    }
}

/* The element in memory for place x (i32) of a tile of which there are `count` elements (i32). */
static ssa element_for(const row_tile *t, ssa x, ssa count, bool fill) {
    emit *e = t->e;
    if (!fill)
        return x;
    ssa last = emit_value(e, "sub i32 %s, %d", count.text, t->plane);
    ssa again = emit_op(e, "add i32", last, emit_value(e, "urem i32 %s, %d", x.text, t->plane));
    return emit_select_as(e, "i32", emit_op(e, "icmp slt i32", x, count), x, again);
}

/* Elements 0 .. count-1 (i32), one by one, and what stands in for others. */
static void copy_elements(const row_tile *t, ssa global, ssa count, bool out) {
    emit *e = t->e;
    bool fill = t->filled && !out;
    ssa thread = emit_special_register(e, "tid"), from[SINGLE_STEP], to[SINGLE_STEP], values[SINGLE_STEP];
    ssa limit = fill ? ssa_constant((int64_t)t->rows * t->length) : count;
    counted_loop l = counted_loop_begin(e, "i32", thread, limit);
    for (int i = 0; i < SINGLE_STEP; i++) {
        ssa x = i ? emit_value(e, "add i32 %s, %d", l.i.text, i * t->threads) : l.i;
        if (i)
            x = emit_select_as(e, "i32", emit_op(e, "icmp slt i32", x, limit), x, l.i);
        ssa outside = emit_element(e, t->type, global, emit_widen(e, element_for(t, x, count, fill))),
            inside = shared_element(t, x);
        from[i] = out ? inside : outside;
        to[i] = out ? outside : inside;
        e->shared = out;
        emit_invariant(e, t->constant);
        values[i] = emit_load(e, t->type, from[i]);
        emit_invariant(e, false);
        e->shared = false;
    }
    e->shared = !out;
    for (int i = 0; i < SINGLE_STEP; i++)
        emit_store(e, t->type, values[i], to[i]);
    e->shared = false;
    counted_loop_end(e, &l, ssa_constant((int64_t)SINGLE_STEP * t->threads), loop_no_unroll(e));
}

static void copy_rows(const row_tiles *all, int k, bool out) {
    const row_tile *t = &all->tile[k];
    emit *e = t->e;
    int whole = emit_label_new(e), part = emit_label_new(e), end = emit_label_new(e);
    emit_branch_if(e, emit_op(e, "and i1", all->all, all->aligned), whole, part);
    emit_label(e, whole);
    copy_whole(t, all->at[k], out);
    emit_branch(e, end);
    emit_label(e, part);
    copy_elements(t, all->at[k], all->count, out);
    emit_branch(e, end);
    emit_label(e, end);
}

/* ---- A row of a thread ---- */

/* Elements of an access. */
static int row_step(const row_tile *t) {
    int bytes = low_bit(row_bytes(t->type, t->length));
    return (bytes < ACCESS_BYTES ? bytes : ACCESS_BYTES) / dtypes[t->type].size;
}

/* Elements, and what is free between them, of so many rows. */
static int elements_of_rows(const row_tile *t, int rows) {
    int between = pieces_between(t), gap = free_bytes(t) / dtypes[t->type].size;
    assert(!between || rows % between == 0);
    return rows * t->length + (between ? rows / between * gap : 0);
}

/* x (i32), in elements, moved past what is free before a piece. */
static ssa past_pieces(const row_tile *t, ssa x, ssa piece) {
    emit *e = t->e;
    int between = pieces_between(t);
    if (!between)
        return x;
    ssa gaps = between > 1 ? emit_value(e, "udiv i32 %s, %d", piece.text, between) : piece;
    return emit_op(e, "add i32", x, emit_value(e, "mul i32 %s, %d", gaps.text, free_bytes(t) / dtypes[t->type].size));
}

static ssa row_at(const row_tile *t, const tile_row *row) {
    emit *e = t->e;
    ssa at = past_pieces(t, emit_value(e, "mul i32 %s, %d", row->of.text, t->length), row->of);
    at = emit_element(e, t->type, t->base, emit_widen(e, at));
    return row->behind ? emit_element(e, t->type, at, ssa_constant(elements_of_rows(t, row->behind))) : at;
}

/* A row of an odd number of bytes, by the words that it lies in: threads that read bytes would meet in a bank in pairs. */
static void get_bytes(const row_tile *t, const tile_row *row, ssa *values) {
    emit *e = t->e;
    int behind = row->behind * t->length / 4; /* words */
    e->shared = true;
    ssa base = emit_pointer_as(e, ir_memory_type(t->type), t->base, "i32"), word[2];
    ssa at = emit_value(e, "mul i32 %s, %d", row->of.text, t->length);
    ssa shift = emit_widen(e, emit_value(e, "shl i32 %s, 3", emit_value(e, "and i32 %s, 3", at.text).text));
    ssa first = emit_element(e, DT_INT32, base, emit_widen(e, emit_value(e, "lshr i32 %s, 2", at.text)));
    word[0] = emit_widen(e, emit_load(e, DT_INT32, emit_element(e, DT_INT32, first, ssa_constant(behind))));
    for (int i = 0; i < t->length; i += 4) {
        ssa next = emit_element(e, DT_INT32, first, ssa_constant(behind + i / 4 + 1));
        word[1] = emit_widen(e, emit_load(e, DT_INT32, next));
        ssa both = emit_op(e, "or i64", emit_value(e, "shl i64 %s, 32", word[1].text), word[0]);
        ssa four = emit_value(e, "trunc i64 %s to i32", emit_op(e, "lshr i64", both, shift).text);
        for (int j = 0; j < 4 && i + j < t->length; j++) {
            ssa byte = emit_value(e, "trunc i32 %s to i8", emit_value(e, "lshr i32 %s, %d", four.text, 8 * j).text);
            values[i + j] = emit_value_of_parts(e, t->type, &byte);
        }
        word[0] = word[1];
    }
    e->shared = false;
}

/* The address of a row's first element, where rows lie side by side in planes. */
static ssa plane_at(const row_tile *t, const tile_row *row) {
    emit *e = t->e;
    ssa planes = emit_value(e, "udiv i32 %s, %d", row->of.text, t->plane);
    ssa more = emit_value(e, "mul i32 %s, %d", planes.text, t->plane * (t->length - 1));
    ssa at = past_pieces(t, emit_op(e, "add i32", row->of, more), planes);
    return emit_element(e, t->type, t->base, emit_widen(e, at));
}

static ssa element_in_plane(const row_tile *t, const tile_row *row, ssa i) {
    ssa first = plane_at(t, row);
    return ssa_is(i, 0) ? first
                        : emit_element(t->e, t->type, first,
                                       emit_widen(t->e, emit_op(t->e, "mul i32", i, ssa_constant(t->plane))));
}

static ssa behind_in_plane(const row_tile *t, ssa first, int i) {
    return emit_element(t->e, t->type, first, ssa_constant((int64_t)i * t->plane));
}

void row_tile_get_some(const row_tile *t, const tile_row *row, ssa from, int n, ssa *values) {
    t->e->shared = true;
    ssa first = element_in_plane(t, row, from);
    for (int i = 0; i < n; i++)
        values[i] = emit_load(t->e, t->type, behind_in_plane(t, first, i));
    t->e->shared = false;
}

void row_tile_put_some(const row_tile *t, const tile_row *row, ssa from, int n, const ssa *values) {
    t->e->shared = true;
    ssa first = element_in_plane(t, row, from);
    for (int i = 0; i < n; i++)
        emit_store(t->e, t->type, values[i], behind_in_plane(t, first, i));
    t->e->shared = false;
}

void row_tile_get(const row_tile *t, const tile_row *row, ssa *values) {
    int step = row_step(t);
    if (t->plane) {
        row_tile_get_some(t, row, ssa_constant(0), t->length, values);
        return;
    }
    if (step * dtypes[t->type].size == 1) {
        get_bytes(t, row, values);
        return;
    }
    t->e->shared = true;
    ssa at = row_at(t, row);
    for (int i = 0; i < t->length; i += step)
        emit_load_vector(t->e, t->type, emit_element(t->e, t->type, at, ssa_constant(i)), step, values + i);
    t->e->shared = false;
}

void row_tile_put(const row_tile *t, const tile_row *row, const ssa *values) {
    int step = row_step(t);
    if (t->plane) {
        row_tile_put_some(t, row, ssa_constant(0), t->length, values);
        return;
    }
    t->e->shared = true;
    ssa at = row_at(t, row);
    for (int i = 0; i < t->length; i += step)
        emit_store_vector(t->e, t->type, values + i, emit_element(t->e, t->type, at, ssa_constant(i)), step);
    t->e->shared = false;
}

/* ---- All operands ---- */

static bool is_staged(const skeleton *s, int k) { return s->v->operand[k].staged; }

/* Copies to shared memory what `like` says, of tiles of `rows` rows. */
static row_tiles *load_tiles(const row_tiles *like, int rows, bool constant) {
    emit *e = like->s->e;
    row_tiles *t = arena_alloc(e->a, sizeof *t);
    bool any = false;
    *t = *like;
    for (int k = 0; k < t->s->noperands; k++) {
        if (!is_staged(t->s, k))
            continue;
        t->tile[k] = tile_new(t, variant_tile(t->s->v, k), skeleton_memory(t->s, k), rows);
        t->tile[k].constant = constant;
        any = true;
        if (!skeleton_is_output(t->s, k))
            copy_rows(t, k, false);
    }
    if (any)
        emit_block_barrier(e);
    return t;
}

/* The block has up to `most` of all rows. */
static row_tiles *load_rows(row_tiles *like, int most, ssa rows, bool constant) {
    skeleton *s = like->s;
    emit *e = s->e;
    like->threads = ROW_TILE_THREADS;
    like->first = emit_value(e, "mul i64 %s, %d", emit_widen(e, emit_special_register(e, "ctaid")).text, most);
    like->some = emit_min(e, emit_op(e, "sub i64", rows, like->first), ssa_constant(most));
    like->all = emit_value(e, "icmp eq i64 %s, %d", like->some.text, most);
    ssa few = emit_value(e, "trunc i64 %s to i32", like->some.text);
    like->count = emit_value(e, "mul i32 %s, %d", few.text, like->length);
    ssa far = emit_value(e, "mul i64 %s, %d", like->first.text, like->length);
    for (int k = 0; k < s->noperands; k++)
        if (is_staged(s, k))
            like->at[k] = skeleton_address(s, k, s->base[k], far);
    return load_tiles(like, most, constant);
}

row_tiles *row_tiles_load(skeleton *s, int length, int each, ssa rows, ssa aligned, bool constant) {
    row_tiles like = {.s = s, .length = length, .each = each, .aligned = aligned};
    return load_rows(&like, each * ROW_TILE_THREADS, rows, constant);
}

row_tiles *row_tiles_load_planes(skeleton *s, int length, int plane, int planes, ssa rows, ssa aligned, bool constant) {
    row_tiles like = {.s = s, .length = length, .plane = plane, .aligned = aligned};
    return load_rows(&like, plane * planes, rows, constant);
}

row_tiles *row_tiles_load_part(skeleton *s, int length, int plane, int planes, const ssa *at, ssa count, ssa aligned) {
    int threads = plane * planes;
    row_tiles like = {.s = s,
                      .length = length,
                      .plane = plane,
                      .threads = threads,
                      .filled = true,
                      .aligned = aligned,
                      .count = count,
                      .all = emit_value(s->e, "icmp eq i32 %s, %d", count.text, threads * length)};
    memcpy(like.at, at, sizeof like.at);
    return load_tiles(&like, threads, false);
}

tile_row row_tiles_row(const row_tiles *t, int i, bool within, ssa *index, ssa *there) {
    emit *e = t->s->e;
    ssa thread = emit_special_register(e, "tid"), some = emit_value(e, "trunc i64 %s to i32", t->some.text);
    int behind = i * ROW_TILE_THREADS;
    ssa row = behind ? emit_value(e, "add i32 %s, %d", thread.text, behind) : thread;
    *there = emit_op(e, "icmp slt i32", row, some);
    if (within) {
        row = emit_select_as(e, "i32", *there, row, ssa_constant(0));
        *index = emit_op(e, "add i64", t->first, emit_widen(e, row));
        return (tile_row){.of = row};
    }
    *index = emit_op(e, "add i64", t->first, emit_widen(e, thread));
    if (behind)
        *index = emit_value(e, "add i64 %s, %d", index->text, behind);
    return (tile_row){thread, behind};
}

tile_row row_tiles_rows_begin(const row_tiles *t, counted_loop *l, ssa *index) {
    emit *e = t->s->e;
    ssa some = emit_value(e, "trunc i64 %s to i32", t->some.text);
    *l = counted_loop_begin(e, "i32", emit_special_register(e, "tid"), some);
    *index = emit_op(e, "add i64", t->first, emit_widen(e, l->i));
    return (tile_row){.of = l->i};
}

void row_tiles_rows_end(const row_tiles *t, counted_loop *l) {
    counted_loop_end(t->s->e, l, ssa_constant(ROW_TILE_THREADS), loop_no_unroll(t->s->e));
}

void row_tiles_store(const row_tiles *t) {
    const skeleton *s = t->s;
    emit_block_barrier(s->e);
    for (int k = s->nin; k < s->nin + s->v->nout; k++)
        if (is_staged(s, k))
            copy_rows(t, k, true);
}
