/* gpu_forall.c - points on the GPU. A thread takes a tile of points: `vector` along the last index and `vectors_per_thread` along the one
 * before it, or in a space of one index `vectors_per_thread` vectors a block's width apart. Where the tile lies in the interior of the
 * space (interior.h), what the coalesced accesses (coalesced.h) of a tile read is loaded before its first point is computed, by vectors,
 * and neighbouring rows share what both read; what they write is stored after the last point. Tiles at a border go point by point, by
 * the general form of the kernel.
 *
 * Where the variant is wide, or an operand is privatised, blocks loop over tiles. */
#include "ir/common/lanes.h"

#include <assert.h>

#include "ir/common/nodes.h"
#include "ir/forall/coalesced.h"
#include "ir/forall/interior.h"
#include "ir/forall/privatised.h"

enum {
    REACH = COALESCED_REACH
};

typedef struct tiles {
    forall_writer *w;
    emit *e;
    const coalesced *s;
    /* The points that full tiles may have: @interior's, and what is loaded for them; NULL: any point of the space. */
    interior *interior;
    int ndim;
    int units, rows, columns; /* of a thread */
    const char *type;         /* of a tile's number */
    ssa n;
    divisor extent[LAYOUT_MAX_RANK];
    ssa variable[COALESCED_MOST], flag[COALESCED_MOST];
} tiles;

/* One of a thread's tiles: its first point, and what was loaded for it. */
typedef struct tile {
    ssa index[LAYOUT_MAX_RANK];
    ssa *loaded; /* [(family * (side + 2 REACH) + row) * (side + 2 REACH) + column], see side_of */
    ssa *row;    /* [family * (side + 2 REACH) + row]: the offset of a row's element 0 */
    ssa *result; /* see result_slot */
    ssa *wrote;  /* i1, likewise */
} tile;

static ssa core_parameter(const tiles *t, int i) { return t->w->g.core[i]; }
static ssa extent_of(const tiles *t, int d) { return core_parameter(t, d); }

static dtype coalesced_type(const tiles *t, const coalesced_access *s) {
    return (dtype)t->w->g.s.v->operand[s->array].memory;
}
static const local *array_of(const tiles *t, const coalesced_access *s) {
    return &t->w->g.s.t->kernel->locals[s->array];
}

/* ---- The tile as an access sees it: along its array's last dimension, and across it ---- */

static int columns_of(const tiles *t, const coalesced_access *s) { return s->turned ? t->rows : t->columns; }
static int rows_of(const tiles *t, const coalesced_access *s) { return s->turned ? t->columns : t->rows; }
/* The indices of the space that its column and its row move with. */
static int column_index(const tiles *t, const coalesced_access *s) { return t->ndim - (s->turned ? 2 : 1); }
static int row_index(const tiles *t, const coalesced_access *s) { return t->ndim - (s->turned ? 1 : 2); }

/* The larger side of a tile: arrays over it have room for both ways. */
static int side_of(const tiles *t) { return t->rows > t->columns ? t->rows : t->columns; }

/* ---- Indices and addresses ---- */

/* May an element of the family be out of range when it is read? */
static bool may_miss(const tiles *t, int family) {
    for (int k = 0; k < t->s->count; k++)
        if (t->s->of[k].family == family && (t->s->of[k].checked || t->s->of[k].guarded))
            return true;
    return false;
}

/* Index d, or 0 where it is out of range; @interior does not use the element that is then read. Those that move with the point are in range
 * in the interior. */
static ssa index_within(const tiles *t, const coalesced_access *s, int d, ssa index) {
    if (d == s->row_dim || !may_miss(t, s->family))
        return index;
    ssa inside = emit_op(t->e, "icmp ult i64", index, core_parameter(t, array_of(t, s)->dim[d]));
    return emit_select_as(t->e, "i64", inside, index, ssa_constant(0));
}

static ssa index_plus(const tiles *t, ssa index, int by) {
    return by ? emit_value(t->e, "add i64 %s, %d", index.text, by) : index;
}

/* The offset, in elements, of element 0 along the last dimension, in the row that is so far from the tile's first. */
static ssa row_offset(const tiles *t, const tile *at, const coalesced_access *s, int row) {
    const layout_operand *o = &t->w->g.layout->operands[s->array];
    ssa offset = ssa_constant(0);
    for (int d = 0; d < o->rank - 1; d++) {
        ssa i = d == s->row_dim ? index_plus(t, at->index[row_index(t, s)], row)
                                : forall_value(t->w, at->index, element_index(s->element, o->rank, d));
        i = index_within(t, s, d, i);
        i = emit_op(t->e, "mul i64", i, core_parameter(t, o->strides + d));
        offset = d ? emit_op(t->e, "add i64", offset, i) : i;
    }
    return offset;
}

static ssa element_at(const tiles *t, const coalesced_access *s, ssa row, ssa column) {
    ssa offset = !ssa_is(row, 0) ? emit_op(t->e, "add i64", row, column) : column;
    return emit_element(t->e, coalesced_type(t, s), t->w->g.s.base[s->array], offset);
}

static ssa load_one(const tiles *t, const coalesced_access *s, ssa row, ssa column) {
    emit_invariant(t->e, !(t->w->g.frame.operand_uses[s->array] & USE_WRITE));
    ssa value = emit_load(t->e, coalesced_type(t, s), element_at(t, s, row, column));
    t->e->invariant = 0;
    return value;
}

/* ---- A tile ---- */

static int row_slot(const tiles *t, int family, int row) {
    assert(family < t->s->count && row >= -REACH && row < side_of(t) + REACH);
    return family * (side_of(t) + 2 * REACH) + row + REACH;
}

static int loaded_slot(const tiles *t, int family, int row, int column) {
    return row_slot(t, family, row) * (side_of(t) + 2 * REACH) + column + REACH;
}

static int result_slot(const tiles *t, int k, int row, int column) {
    const coalesced_access *s = &t->s->of[k];
    return k * t->rows * t->columns + row * columns_of(t, s) + column;
}

static tile tile_new(const tiles *t) {
    size_t rows = (size_t)t->s->count * (size_t)(side_of(t) + 2 * REACH);
    size_t points = (size_t)t->s->count * (size_t)t->rows * (size_t)t->columns;
    return (tile){.loaded = arena_alloc(t->e->a, rows * (size_t)(side_of(t) + 2 * REACH) * sizeof(ssa) + 1),
                  .row = arena_alloc(t->e->a, rows * sizeof(ssa) + 1),
                  .result = arena_alloc(t->e->a, points * sizeof(ssa) + 1),
                  .wrote = arena_alloc(t->e->a, points * sizeof(ssa) + 1)};
}

/* A number of points as a power of two. */
static int log2_of(int n) { return n > 1 ? 31 - __builtin_clz((unsigned)n) : 0; }

/* With `across`, x is the number of a block: the thread's place in it. */
static void thread_place(const tiles *t, ssa *index) {
    emit *e = t->e;
    int shift = t->w->g.s.v->forall.across, last = t->ndim - 1;
    ssa thread = emit_special_register(e, "tid"), threads = emit_special_register(e, "ntid");
    ssa before = emit_value(e, "shl i32 %s, %d", index[last].text, shift);
    index[last] = emit_op(e, "or i32", before, emit_value(e, "and i32 %s, %d", thread.text, (1 << shift) - 1));
    before = emit_op(e, "mul i32", index[last - 1], emit_value(e, "lshr i32 %s, %d", threads.text, shift));
    index[last - 1] = emit_op(e, "add i32", before, emit_value(e, "lshr i32 %s, %d", thread.text, shift));
}

/* The first point of tile x. Multiples of a power of two are written as shifts, through which the compiler sees the alignment. */
static void tile_find(const tiles *t, tile *at, ssa x) {
    bool wide = t->w->g.s.v->wide;
    ssa index[LAYOUT_MAX_RANK];
    for (int d = t->ndim - 1; d > 0; d--)
        skeleton_divide(&t->w->g.s, &t->extent[d], wide, x, &x, &index[d]);
    index[0] = x;
    if (t->w->g.s.v->forall.across)
        thread_place(t, index);
    for (int d = 0; d < t->ndim; d++) {
        int each = d == t->ndim - 1 ? t->columns : d == t->ndim - 2 ? t->rows : 1;
        at->index[d] = wide ? index[d] : emit_widen(t->e, index[d]);
        if (each > 1)
            at->index[d] = emit_value(t->e, "shl nuw nsw i64 %s, %d", at->index[d].text, log2_of(each));
    }
}

/* Does a point of the tile read this element of the family? */
static bool is_wanted(const tiles *t, int family, int row, int column) {
    for (int k = 0; k < t->s->count; k++) {
        const coalesced_access *s = &t->s->of[k];
        int r = row - s->row, c = column - s->column;
        if (s->family == family && s->read && c >= 0 && c < columns_of(t, s) &&
            (s->row_dim < 0 ? !row : r >= 0 && r < rows_of(t, s)))
            return true;
    }
    return false;
}

static int wanted_count(const tiles *t, int family, int row, int first, int last) {
    int n = 0;
    for (int c = first; c <= last; c++)
        n += is_wanted(t, family, row, c);
    return n;
}

/* The elements of a row from a multiple of the tile's width on: do vectors of that width reach them, and does one pay? */
static bool is_vector(const tiles *t, int family, int row, int first) {
    int columns = columns_of(t, &t->s->of[family]), last = first + columns - 1;
    return columns > 1 && first % columns == 0 && first >= -REACH && last < columns + REACH &&
           wanted_count(t, family, row, first, last) > (first ? 1 : 0);
}

static void load_row(const tiles *t, tile *at, const coalesced_access *s, int row) {
    int columns = columns_of(t, s);
    ssa offset = at->row[row_slot(t, s->family, row)];
    ssa *loaded = &at->loaded[loaded_slot(t, s->family, row, 0)], first = at->index[column_index(t, s)];
    for (int c = -REACH; c < columns + REACH; c++) {
        if (is_vector(t, s->family, row, c)) {
            emit_invariant(t->e, !(t->w->g.frame.operand_uses[s->array] & USE_WRITE));
            emit_load_vector(t->e, coalesced_type(t, s), element_at(t, s, offset, index_plus(t, first, c)), columns,
                             &loaded[c]);
            t->e->invariant = 0;
            c += columns - 1;
        } else if (is_wanted(t, s->family, row, c)) {
            loaded[c] = load_one(t, s, offset, index_plus(t, first, c));
        }
    }
}

static void load_tile(const tiles *t, tile *at) {
    for (int k = 0; k < t->s->count; k++) {
        const coalesced_access *s = &t->s->of[k];
        if (s->family != k)
            continue;
        for (int row = -REACH; row < rows_of(t, s) + REACH; row++) {
            bool reads = wanted_count(t, k, row, -REACH, columns_of(t, s) + REACH - 1);
            if (!reads && (row < 0 || row >= rows_of(t, s) || (s->row_dim < 0 && row)))
                continue;
            at->row[row_slot(t, k, row)] = row_offset(t, at, s, row);
            if (reads)
                load_row(t, at, s, row);
        }
    }
}

/* Computes a point: what its coalesced accesses read goes into their variables before, and what they wrote is taken from there after. */
static void compute_point(const tiles *t, const ssa *index, const ssa *read, ssa *result, ssa *wrote) {
    emit *e = t->e;
    for (int k = 0; k < t->s->count; k++) {
        const char *type = ir_value_type(coalesced_type(t, &t->s->of[k]));
        if (t->s->of[k].read)
            emit_line(e, "store %s %s, %s* %s", type, read[k].text, type, t->variable[k].text);
        if (t->s->of[k].written)
            emit_line(e, "store i1 false, i1* %s", t->flag[k].text);
    }
    forall_point(t->w, t->w->interior ? "interior" : "kernel", index);
    for (int k = 0; k < t->s->count; k++) {
        const char *type = ir_value_type(coalesced_type(t, &t->s->of[k]));
        if (!t->s->of[k].written)
            continue;
        result[k] = emit_value(e, "load %s, %s* %s", type, type, t->variable[k].text);
        wrote[k] = emit_value(e, "load i1, i1* %s", t->flag[k].text);
    }
}

static void compute_in_tile(const tiles *t, tile *at, int row, int column) {
    ssa index[LAYOUT_MAX_RANK], read[COALESCED_MOST], result[COALESCED_MOST], wrote[COALESCED_MOST];
    int last = t->ndim - 1;
    memcpy(index, at->index, sizeof index);
    if (column)
        index[last] = emit_value(t->e, "or i64 %s, %d", index[last].text, column);
    if (row)
        index[last - 1] = emit_value(t->e, "or i64 %s, %d", index[last - 1].text, row);
    for (int k = 0; k < t->s->count; k++) {
        const coalesced_access *s = &t->s->of[k];
        int down = s->turned ? column : row, along = s->turned ? row : column;
        if (s->read)
            read[k] = at->loaded[loaded_slot(t, s->family, s->row_dim < 0 ? 0 : s->row + down, s->column + along)];
    }
    compute_point(t, index, read, result, wrote);
    for (int k = 0; k < t->s->count; k++) {
        bool turned = t->s->of[k].turned;
        int slot = result_slot(t, k, turned ? column : row, turned ? row : column);
        if (t->s->of[k].written) {
            at->result[slot] = result[k];
            at->wrote[slot] = wrote[k];
        }
    }
}

static void store_if(const tiles *t, const coalesced_access *s, ssa row, ssa column, ssa value, ssa wrote) {
    int end = skeleton_if(&t->w->g.s, wrote);
    emit_store(t->e, coalesced_type(t, s), value, element_at(t, s, row, column));
    skeleton_end_if(&t->w->g.s, end);
}

/* Stores what a row of points wrote: by one access if all of them did. */
static void store_row(const tiles *t, const tile *at, int k, int row) {
    const coalesced_access *s = &t->s->of[k];
    skeleton *sh = &t->w->g.s;
    ssa offset = at->row[row_slot(t, s->family, s->row_dim < 0 ? 0 : row)], first = at->index[column_index(t, s)];
    const ssa *value = &at->result[result_slot(t, k, row, 0)], *wrote = &at->wrote[result_slot(t, k, row, 0)];
    int end = 0, columns = columns_of(t, s);
    if (columns > 1) {
        ssa all = wrote[0];
        for (int c = 1; c < columns; c++)
            all = emit_op(t->e, "and i1", all, wrote[c]);
        int together = emit_label_new(t->e), single = emit_label_new(t->e);
        end = emit_label_new(t->e);
        emit_branch_if(t->e, all, together, single);
        emit_label(t->e, together);
        emit_store_vector(t->e, skeleton_memory(sh, s->array), value, element_at(t, s, offset, first), columns);
        emit_branch(t->e, end);
        emit_label(t->e, single);
    }
    for (int c = 0; c < columns; c++)
        store_if(t, s, offset, index_plus(t, first, c), value[c], wrote[c]);
    if (end) {
        emit_branch(t->e, end);
        emit_label(t->e, end);
    }
}

/* ---- A thread's tiles ---- */

static void full_tiles(const tiles *t, tile *of) {
    for (int u = 0; u < t->units; u++)
        load_tile(t, &of[u]);
    for (int u = 0; u < t->units; u++)
        for (int row = 0; row < t->rows; row++)
            for (int column = 0; column < t->columns; column++)
                compute_in_tile(t, &of[u], row, column);
    for (int u = 0; u < t->units; u++)
        for (int k = 0; k < t->s->count; k++)
            for (int row = 0; row < rows_of(t, &t->s->of[k]) && t->s->of[k].written; row++)
                store_row(t, &of[u], k, row);
}

/* A loop over `each` points from `first` on along dimension d, as far as they lie within the space. */
static counted_loop points_begin(const tiles *t, ssa first, int each, int d) {
    ssa end = emit_value(t->e, "add i64 %s, %d", first.text, each);
    ssa inside = emit_op(t->e, "icmp slt i64", end, extent_of(t, d));
    return counted_loop_begin(t->e, "i64", first, emit_select_as(t->e, "i64", inside, end, extent_of(t, d)));
}

static void single_points(const tiles *t, const tile *at) {
    ssa index[LAYOUT_MAX_RANK];
    int last = t->ndim - 1, hint = loop_no_unroll(t->e);
    counted_loop rows, columns;
    memcpy(index, at->index, sizeof index);
    if (t->rows > 1) {
        rows = points_begin(t, index[last - 1], t->rows, last - 1);
        index[last - 1] = rows.i;
    }
    columns = points_begin(t, index[last], t->columns, last);
    index[last] = columns.i;
    forall_point(t->w, "kernel", index);
    counted_loop_end(t->e, &columns, ssa_constant(1), hint);
    if (t->rows > 1)
        counted_loop_end(t->e, &rows, ssa_constant(1), hint);
}

static ssa tile_number(const tiles *t, ssa x, ssa threads, int u) {
    if (!u)
        return x;
    ssa far = emit_value(t->e, "mul i32 %s, %d", threads.text, u);
    return emit_value(t->e, "add %s %s, %s", t->type, x.text, (t->w->g.s.v->wide ? emit_widen(t->e, far) : far).text);
}

static ssa is_tile(const tiles *t, ssa x) { return emit_value(t->e, "icmp ult %s %s, %s", t->type, x.text, t->n.text); }

/* Is a tile's first point in the space (i1)? */
static ssa tile_begins(const tiles *t, const tile *at) {
    int last = t->ndim - 1;
    ssa column = emit_op(t->e, "icmp slt i64", at->index[last], extent_of(t, last));
    ssa row = emit_op(t->e, "icmp slt i64", at->index[last - 1], extent_of(t, last - 1));
    return emit_op(t->e, "and i1", column, row);
}

/* The tiles of a thread from tile x on, if some are not full: one after the other, point by point. */
static void partial_tiles(const tiles *t, ssa x, ssa threads) {
    emit *e = t->e;
    tile at = tile_new(t);
    if (t->units == 1) {
        tile_find(t, &at, x);
        int end = t->w->g.s.v->forall.across ? skeleton_if(&t->w->g.s, tile_begins(t, &at)) : 0;
        single_points(t, &at);
        if (end)
            skeleton_end_if(&t->w->g.s, end);
        return;
    }
    ssa step = t->w->g.s.v->wide ? emit_widen(e, threads) : threads, limit = tile_number(t, x, threads, t->units - 1);
    limit = emit_value(e, "add %s %s, 1", t->type, limit.text);
    ssa within = emit_value(e, "icmp slt %s %s, %s", t->type, limit.text, t->n.text);
    counted_loop l = counted_loop_begin(e, t->type, x, emit_select_as(e, t->type, within, limit, t->n));
    tile_find(t, &at, l.i);
    single_points(t, &at);
    counted_loop_end(e, &l, step, loop_no_unroll(e));
}

/* a && b, where none is true. */
static ssa both(emit *e, ssa a, ssa b) { return ssa_is_set(a) ? emit_op(e, "and i1", a, b) : b; }

/* Do a thread's tiles, of which these are the first and the last, lie in the interior (i1)? none: they always do. */
static ssa tiles_are_inside(const tiles *t, const tile *first, const tile *last) {
    const interior *in = t->interior;
    ssa inside = ssa_none();
    for (int d = 0; d < t->ndim; d++)
        if (in->low[d])
            inside = both(t->e, inside,
                          emit_value(t->e, "icmp sge i64 %s, %lld", first->index[d].text, -(long long)in->low[d]));
    for (int i = 0; i < in->nlimits; i++) {
        int d = in->limit[i].index, each = d == t->ndim - 1 ? t->columns : d == t->ndim - 2 ? t->rows : 1;
        long long beyond = (long long)in->limit[i].constant + each - 1;
        if (in->limit[i].size == d && !beyond && !t->w->g.s.v->forall.across) /* each point lies within the space */
            continue;
        ssa most = d < 0 ? ssa_constant(in->limit[i].constant) : index_plus(t, last->index[d], (int)beyond);
        inside = both(t->e, inside, emit_op(t->e, "icmp slt i64", most, core_parameter(t, in->limit[i].size)));
    }
    return inside;
}

/* Do all points of the block, one a thread, lie in the interior (i1)? */
static ssa block_is_inside(const tiles *t, ssa threads) {
    emit *e = t->e;
    tile first = tile_new(t), last = tile_new(t);
    assert(!t->w->g.s.v->wide && t->ndim == 1 && t->units == 1 && t->columns == 1);
    ssa x = emit_op(e, "mul i32", emit_special_register(e, "ctaid"), threads);
    ssa end = emit_value(e, "add i32 %s, -1", emit_op(e, "add i32", x, threads).text);
    tile_find(t, &first, x);
    tile_find(t, &last, end);
    ssa inside = tiles_are_inside(t, &first, &last);
    return both(e, inside, emit_op(e, "icmp ult i32", end, t->n));
}

/* Computes the tiles of a thread from tile x on, which exists. */
static void tiles_run(const tiles *t, ssa x, ssa threads) {
    emit *e = t->e;
    tile *of = arena_alloc(e->a, (size_t)t->units * sizeof *of);
    for (int u = 0; u < t->units; u++) {
        of[u] = tile_new(t);
        tile_find(t, &of[u], tile_number(t, x, threads, u));
    }
    ssa inside =
        t->w->g.s.v->forall.shared_rows ? block_is_inside(t, threads) : tiles_are_inside(t, &of[0], &of[t->units - 1]);
    if (t->units > 1 && t->columns == 1)
        inside = both(e, inside, is_tile(t, tile_number(t, x, threads, t->units - 1)));
    if (!ssa_is_set(inside)) {
        full_tiles(t, of);
        return;
    }
    int yes = emit_label_new(e), no = emit_label_new(e), end = emit_label_new(e);
    emit_branch_if(e, inside, yes, no);
    emit_label(e, yes);
    full_tiles(t, of);
    emit_branch(e, end);
    emit_label(e, no);
    partial_tiles(t, x, threads);
    emit_branch(e, end);
    emit_label(e, end);
}

/* The tiles that are computed as a whole: each of their points is in the interior, and all that is loaded for it is in range. */
static void interior_of_tiles(tiles *t) {
    interior *in = t->interior;
    in->room = COUNT(in->limit);
    for (int d = 0; d < t->ndim; d++)
        t->e->failed |= !interior_limit(in, d, d, 0);
    for (int k = 0; k < t->s->count; k++) {
        const coalesced_access *s = &t->s->of[k];
        const local *l = array_of(t, s);
        int column = column_index(t, s), down = row_index(t, s), low = s->column, high = s->column;
        for (int c = -REACH; c < columns_of(t, s) + REACH; c++)
            for (int row = -REACH; row < rows_of(t, s) + REACH; row++)
                if (is_vector(t, s->family, row, c)) {
                    low = c < low ? c : low;
                    high = c > high ? c : high;
                }
        bool fits = interior_low(in, column, low) && interior_limit(in, column, l->dim[l->rank - 1], high);
        if (s->row_dim >= 0)
            fits = fits && interior_low(in, down, s->row) && interior_limit(in, down, l->dim[s->row_dim], s->row);
        assert(fits);
        (void)fits;
    }
}

/* ---- The kernel ---- */

static void variables_new(tiles *t) {
    text arguments = {0};
    for (int k = 0; k < t->s->count; k++) {
        const char *type = ir_value_type(coalesced_type(t, &t->s->of[k]));
        t->variable[k] = emit_value(t->e, "alloca %s", type);
        text_printf(&arguments, ", %s* %s", type, t->variable[k].text);
        if (!t->s->of[k].written)
            continue;
        t->flag[k] = emit_value(t->e, "alloca i1");
        text_printf(&arguments, ", i1* %s", t->flag[k].text);
    }
    t->w->variables = arguments; /* with its memory */
    t->e->failed |= arguments.failed;
}

/* Strides between short rows that are constants of the variant. */
static void row_strides_set(const tiles *t) {
    const variant *v = t->w->g.s.v;
    for (int k = 0; k < v->nin; k++) {
        const layout_operand *o = &t->w->g.layout->operands[k];
        if (v->operand[k].record)
            t->w->g.core[o->strides + o->rank - 2] =
                ssa_constant(v->operand[k].record / dtypes[v->operand[k].memory].size);
    }
}

static void parameters_read(tiles *t) {
    skeleton *s = &t->w->g.s;
    t->n = skeleton_parameter(s, GPU_FORALL_TILES);
    for (int d = t->ndim - 1; d > 0; d--)
        t->extent[d] = skeleton_divisor(s, GPU_FORALL_EXTENTS);
    for (int k = 0; k < s->v->nin; k++)
        if (s->v->operand[k].privatised)
            t->w->private_base[k] = emit_shared_address(t->e, skeleton_parameter(s, GPU_FORALL_PRIVATE),
                                                        ir_memory_type(private_type(t->w, k)));
    gufunc_core_parameters(&t->w->g);
    row_strides_set(t);
}

/* The block's threads share the elements of its private copies. */
static void each_private(const tiles *t, ssa thread, ssa threads, void (*visit)(forall_writer *w, int k, ssa i)) {
    for (int k = 0; k < t->w->g.s.v->nin; k++) {
        if (!t->w->g.s.v->operand[k].privatised)
            continue;
        counted_loop l = counted_loop_begin(t->e, "i64", emit_widen(t->e, thread), private_size(t->w, k));
        visit(t->w, k, l.i);
        counted_loop_end(t->e, &l, emit_widen(t->e, threads), loop_no_unroll(t->e));
    }
}

/* a * b, in the type of a tile's number. */
static ssa product(const tiles *t, ssa a, ssa b) {
    emit *e = t->e;
    return t->w->g.s.v->wide ? emit_op(e, "mul i64", emit_widen(e, a), emit_widen(e, b)) : emit_op(e, "mul i32", a, b);
}

/* The tiles of a thread: one, or `units` of them, and where blocks loop all from that one on. */
static void tiles_loop(const tiles *t, ssa x, ssa threads, ssa all, bool loops) {
    emit *e = t->e;
    if (!loops) {
        int end = skeleton_if(&t->w->g.s, is_tile(t, x));
        tiles_run(t, x, threads);
        skeleton_end_if(&t->w->g.s, end);
        return;
    }
    ssa step = product(t, emit_special_register(e, "nctaid"), all);
    if (t->w->g.s.v->forall.lanes)
        step = emit_value(e, "lshr %s %s, %d", t->type, step.text, t->w->g.s.v->forall.lanes);
    counted_loop l = counted_loop_begin(e, t->type, x, t->n);
    tiles_run(t, l.i, threads);
    counted_loop_end(e, &l, step, loop_no_unroll(e));
}

void gpu_forall(forall_writer *w) {
    static const coalesced none;
    emit *e = w->g.s.e;
    const variant *v = w->g.s.v;
    bool counts = variant_privatised(v) > 0;
    tiles t = {.w = w,
               .e = e,
               .s = w->coalesced ? w->coalesced : &none,
               .ndim = v->ndim,
               .units = v->ndim == 1 ? v->forall.vectors_per_thread : 1,
               .rows = v->ndim == 1 ? 1 : v->forall.vectors_per_thread,
               .columns = v->forall.vector,
               .type = v->wide ? "i64" : "i32"};
    interior space = {.nindices = v->ndim};
    if (w->interior)
        space = *w->interior;
    t.interior = &space;
    interior_of_tiles(&t);
    parameters_read(&t);
    variables_new(&t);
    ssa thread = emit_special_register(e, "tid"), threads = emit_special_register(e, "ntid");
    ssa all = emit_value(e, "mul i32 %s, %d", threads.text, t.units);
    if (v->forall.across) { /* a block for each number */
        assert(!counts && !v->wide);
        tiles_run(&t, emit_special_register(e, "ctaid"), threads);
        return;
    }
    ssa x = product(&t, emit_special_register(e, "ctaid"), all);
    x = emit_value(e, "add %s %s, %s", t.type, x.text, (v->wide ? emit_widen(e, thread) : thread).text);
    if (v->forall.lanes)
        x = emit_value(e, "lshr %s %s, %d", t.type, x.text, v->forall.lanes);
    if (counts) {
        each_private(&t, thread, threads, private_clear);
        emit_block_barrier(e);
    }
    tiles_loop(&t, x, threads, all, counts || v->wide);
    if (counts) {
        emit_block_barrier(e);
        each_private(&t, thread, threads, private_merge);
    }
}
