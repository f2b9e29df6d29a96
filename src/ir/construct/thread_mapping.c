/* thread_mapping.c - GPU: constructs whose iterations are shared by the threads of a cooperative group. The iteration space, that is, all
 * combinations of the values of a construct's ranges, is cut into tiles of `vector` neighbours along the last range. A thread takes
 * every size-th tile, `repeat` of them together. What is left over goes element by element, and so does everything where vectors are
 * not aligned.
 *
 *   a reduction that stands in no construct     its tiles over the threads of the group, whose results are then combined
 *   a forall without reductions                 its tiles over the threads of the group
 *   a forall around reductions, by lanes        its rows over groups of lanes of a warp, `repeat` of them together, and the tiles
 *                                               of the reduction over the lanes of such a group
 *   the same, by tiles (variant.tile)           see shared_tile.h
 *   the same, along (variant.along)             tiles of `repeat` rows by `vector` columns over the threads of the group, and the
 *                                               whole reduction in one thread */
#include "ir/common/nodes.h"

#include <assert.h>

#include "ir/common/skeleton.h"
#include "ir/construct/broadcast.h"
#include "ir/construct/cooperative.h"
#include "ir/construct/held.h"
#include "ir/construct/shared_tile.h"
#include "ir/construct/unroll_jam.h"

/* ---- Tiles ---- */

enum {
    TOGETHER = 8 /* tiles that a thread visits together, at most */
};

/* The iteration space of a construct, cut into tiles. */
typedef struct iteration_space {
    const node *ranges;
    int count;       /* of ranges */
    ssa *limit;      /* i64, by range, not negative */
    int rows, width; /* of a tile: along the last range but one, and along the last */
    ssa whole;       /* tiles along the last range */
    ssa across;      /* tiles along the one before (its extent where rows is 1) */
    ssa base, head;  /* i64: where the space begins along its one range, and elements before its tiles; none: 0 */
    ssa tiles;       /* their number */
    ssa rest; /* and that of elements that are in no tile, where the rows of a tile count as one; none: there are none */
} iteration_space;

static ssa at_least_0(emit *e, ssa x) {
    return emit_select_as(e, "i64", emit_value(e, "icmp sgt i64 %s, 0", x.text), x, ssa_constant(0));
}

/* gufunc.pieces: of the one range the block's piece. */
static void space_narrow(body *b, iteration_space *p) {
    assert(p->count == 1 && p->rows == 1);
    p->base = ssa_named("%%from");
    p->head = ssa_named("%%head");
    p->limit[0] = emit_op(b->e, "sub i64", ssa_named("%%to"), p->base);
}

static iteration_space space_make(body *b, const node *ranges, int rows, int width) {
    emit *e = b->e;
    iteration_space p = {.ranges = ranges, .rows = rows, .width = width};
    p.limit = ranges_read(b, ranges, &p.count);
    assert(p.count > 0 && p.count <= JAM_VARIABLES);
    ssa others = ssa_constant(1);
    for (int k = 0; k < p.count; k++)
        p.limit[k] = at_least_0(e, p.limit[k]);
    for (int k = 0; k < p.count - 1; k++) {
        ssa extent = p.limit[k];
        if (k == p.count - 2 && rows > 1) {
            extent = emit_value(e, "add i64 %s, %d", extent.text, rows - 1);
            extent = emit_value(e, "udiv i64 %s, %d", extent.text, rows);
        }
        p.across = extent;
        others = k ? emit_op(e, "mul i64", others, extent) : extent;
    }
    if (e->frame->v->gufunc.pieces && !b->depth)
        space_narrow(b, &p);
    ssa last = p.limit[p.count - 1];
    p.whole = last;
    bool even = e->frame->v->gufunc.even && !b->depth;
    if (width > 1 && even) {
        p.whole = emit_value(e, "udiv i64 %s, %d", last.text, width);
    } else if (width > 1) {
        ssa after = ssa_is_set(p.head) ? emit_op(e, "sub i64", last, p.head) : last;
        p.whole = emit_select_as(e, "i64", ssa_named("%%aligned"), emit_whole_vectors(e, after), ssa_constant(0));
    }
    p.tiles = p.count > 1 ? emit_op(e, "mul i64", others, p.whole) : p.whole;
    if (width > 1 && !even) {
        ssa in_tiles = emit_value(e, "mul i64 %s, %d", p.whole.text, width),
            left = emit_op(e, "sub i64", last, in_tiles);
        p.rest = p.count > 1 ? emit_op(e, "mul i64", others, left) : left;
    }
    return p;
}

/* The index of tile t (i64) of a piece; in the rest, of an element, of which the head's come first. */
static ssa piece_index(body *b, const iteration_space *p, ssa t, bool in_rest) {
    emit *e = b->e;
    ssa tiles = in_rest ? p->whole : t, i = emit_value(e, "mul i64 %s, %d", tiles.text, p->width);
    if (p->width == 1)
        return emit_op(e, "add i64", p->base, t);
    if (!in_rest)
        return emit_op(e, "add i64", emit_op(e, "add i64", p->base, p->head), i);
    ssa in_head = emit_op(e, "icmp slt i64", t, p->head);
    ssa skipped = emit_select_as(e, "i64", in_head, ssa_constant(0), i);
    return emit_op(e, "add i64", p->base, emit_op(e, "add i64", t, skipped));
}

/* The first index of tile t (i64) along each range; in the rest, of an element. */
static void tile_find(body *b, const iteration_space *p, ssa t, bool in_rest, ssa *first) {
    emit *e = b->e;
    if (ssa_is_set(p->base)) {
        first[0] = piece_index(b, p, t, in_rest);
        return;
    }
    ssa columns = p->whole, start = ssa_constant(0);
    if (in_rest) {
        start = emit_value(e, "mul i64 %s, %d", p->whole.text, p->width);
        columns = emit_op(e, "sub i64", p->limit[p->count - 1], start);
    }
    ssa column = t;
    if (p->count > 1) {
        column = emit_op(e, "urem i64", t, columns);
        t = emit_op(e, "udiv i64", t, columns);
    }
    if (in_rest)
        column = emit_op(e, "add i64", start, column);
    else if (p->width > 1)
        column = emit_value(e, "mul i64 %s, %d", column.text, p->width);
    first[p->count - 1] = column;
    for (int k = p->count - 2; k >= 0; k--) {
        ssa extent = k == p->count - 2 ? p->across : p->limit[k], i = k ? emit_op(e, "urem i64", t, extent) : t;
        first[k] = k == p->count - 2 && p->rows > 1 ? emit_value(e, "mul i64 %s, %d", i.text, p->rows) : i;
        if (k)
            t = emit_op(e, "udiv i64", t, extent);
    }
}

/* Tiles that are visited together: the first index of each along each range, and whether the tile exists (i1; none: always). If it
 * does not, the indices are those of the first one. */
typedef struct tile_group {
    int tiles, width;
    ssa first[TOGETHER][JAM_VARIABLES], there[TOGETHER];
} tile_group;

/* Adds the variables of an iteration space to a jam whose count is outer * tiles * rows * width: tile s begins at first[s]. Rows past
 * the end repeat the last one. */
static void space_instances(body *b, const iteration_space *p, jam *t, int outer, const tile_group *at) {
    emit *e = b->e;
    int tiles = at->tiles, width = at->width;
    for (int k = 0; k < p->count; k++) {
        const node *r = range_at(p->ranges, k);
        bool last = k == p->count - 1, is_row = k == p->count - 2 && p->rows > 1;
        jam_variable *v = jam_add(b, t, r->local, last ? width : 1);
        for (int s = 0; s < tiles; s++)
            for (int u = 0; u < p->rows; u++)
                for (int w = 0; w < width; w++) {
                    int i = (s * p->rows + u) * width + w;
                    ssa base = at->first[s][k];
                    if (is_row && w)
                        base = v->base[i - w];
                    else if (is_row && u)
                        base = emit_min(e, emit_value(e, "add i64 %s, %d", base.text, u),
                                        emit_value(e, "sub i64 %s, 1", p->limit[k].text));
                    v->base[i] = v->value[i] = base;
                    v->lane[i] = last ? w : 0;
                    if (!last || !w)
                        continue;
                    v->value[i] = u ? v->value[i - width] : emit_value(e, "add i64 %s, %d", base.text, w);
                }
        int each = tiles * p->rows * width;
        for (int x = 1; x < outer; x++)
            for (int i = 0; i < each; i++) {
                v->value[x * each + i] = v->value[i];
                v->base[x * each + i] = v->base[i];
                v->lane[x * each + i] = v->lane[i];
            }
    }
}

typedef void visitor(body *b, const iteration_space *p, const tile_group *tiles, void *user);

/* Which tiles a thread takes, and in which order. Row k of the tiles consists of the `step` tiles from k * step on; the thread takes tile
 * `first` of each row, `together` rows at a time. Whether all tiles of a row exist is the same for all threads, so that their branches
 * do not diverge. */
typedef struct traversal {
    ssa first, step;       /* i64 */
    int together;          /* a power of two */
    bool backwards;        /* from the last row to the first */
    bool held;             /* the thread takes the tiles of which it has the elements, where it has them */
    const node *construct; /* held: a forall; NULL: a reduction */
} traversal;

/* Visits the rows from k (i64) on. whole: all their tiles exist; else the first stands in for those that do not. */
static void visit_rows(body *b, const iteration_space *p, const traversal *c, ssa k, ssa limit, tile_group *at,
                       bool whole, visitor *visit, void *user) {
    emit *e = b->e;
    ssa t = emit_op(e, "add i64", emit_op(e, "mul i64", k, c->step), c->first), next = t;
    int end = 0;
    if (!whole) {
        int some_there = emit_label_new(e);
        end = emit_label_new(e);
        emit_branch_if(e, emit_op(e, "icmp slt i64", t, limit), some_there, end);
        emit_label(e, some_there);
    }
    for (int i = 0; i < at->tiles; i++) {
        ssa own = next;
        at->there[i] = ssa_none();
        if (i && !whole) {
            at->there[i] = emit_op(e, "icmp slt i64", next, limit);
            own = emit_select_as(e, "i64", at->there[i], next, t);
        }
        tile_find(b, p, own, false, at->first[i]);
        next = emit_op(e, "add i64", next, c->step);
    }
    visit(b, p, at, user);
    if (end) {
        emit_branch(e, end);
        emit_label(e, end);
    }
}

/* Visits the rows 0 .. rows-1, all of whose tiles exist, at->tiles at a time. */
static void visit_whole(body *b, const iteration_space *p, const traversal *c, ssa rows, ssa limit, tile_group *at,
                        visitor *visit, void *user) {
    emit *e = b->e;
    counted_loop l = counted_loop_begin(e, "i64", ssa_constant(0), rows);
    ssa k = l.i;
    if (c->backwards)
        k = emit_value(e, "sub i64 %s, %d", emit_op(e, "sub i64", rows, l.i).text, at->tiles);
    visit_rows(b, p, c, k, limit, at, true, visit, user);
    counted_loop_end(e, &l, ssa_constant(at->tiles), loop_no_unroll(e));
}

static void visit_singly(body *b, const iteration_space *p, const traversal *c, ssa limit, tile_group *at, bool in_rest,
                         visitor *visit, void *user) {
    emit *e = b->e;
    counted_loop l = counted_loop_begin(e, "i64", c->first, limit);
    at->there[0] = ssa_none();
    tile_find(b, p, l.i, in_rest, at->first[0]);
    visit(b, p, at, user);
    counted_loop_end(e, &l, c->step, loop_no_unroll(e));
}

/* A visit of tiles that are held. */
typedef struct held_visit {
    const iteration_space *p;
    const tile_group *at;
    visitor *visit;
    void *user;
} held_visit;

static void visit_call(body *b, void *user) {
    const held_visit *v = user;
    v->visit(b, v->p, v->at, v->user);
}

/* Visits the tiles of which the thread has the elements in registers. What else they reach of memory may not be aligned. */
static void visit_held(body *b, const iteration_space *p, const traversal *c, tile_group *at, visitor *visit,
                       void *user) {
    struct held *h = b->held;
    h->variable = p->ranges->local;
    at->width = h->width;
    b->if_aligned = h->width > 1;
    for (h->first = 0; h->first < h->count; h->first += at->tiles) {
        at->tiles = h->count - h->first < c->together ? h->count - h->first : c->together;
        for (int i = 0; i < at->tiles; i++) {
            at->first[i][0] = h->index[h->first + i];
            at->there[i] = h->there[h->first + i];
        }
        held_unpack(b, h->first, at->tiles);
        broadcast_read(b, h->first, at->tiles);
        held_each_call(b, c->construct, at->tiles, visit_call, &(held_visit){p, at, visit, user});
    }
    b->if_aligned = false;
    if (h->ends) {
        h->first = h->count;
        at->tiles = at->width = 1;
        at->first[0][0] = h->index[h->count];
        at->there[0] = h->there[h->count];
        visit(b, p, at, user);
    }
    h->variable = -1;
}

/* Has every thread as many tiles, in whole visits? */
static bool goes_by_rounds(const body *b, const iteration_space *p, const traversal *c) {
    const variant *v = b->e->frame->v;
    return v->gufunc.even == EVEN_ROUNDS && !v->gufunc.held && !b->depth &&
           p->width * c->together <= v->gufunc.vector * v->gufunc.steps;
}

/* Calls visit for all tiles of a traversal, and for the elements that are in no tile: first whole rows, `together` at a time, and then
 * the rows that are left, which are fewer. */
static void space_walk(body *b, const iteration_space *p, const traversal *c, visitor *visit, void *user) {
    emit *e = b->e;
    tile_group *at = arena_alloc(e->a, sizeof *at);
    if (c->held)
        visit_held(b, p, c, at, visit, user);
    if (c->held && !variant_holds_part(e->frame->v))
        return;
    bool even = goes_by_rounds(b, p, c);
    for (int in_rest = 0; in_rest < (ssa_is_set(p->rest) ? 2 : 1); in_rest++) {
        ssa limit = in_rest ? p->rest : p->tiles;
        at->tiles = in_rest ? 1 : c->together;
        at->width = in_rest ? 1 : p->width;
        assert(at->tiles <= TOGETHER);
        if (at->tiles == 1) {
            visit_singly(b, p, c, limit, at, in_rest, visit, user);
            continue;
        }
        ssa all = emit_op(e, "udiv i64", limit, c->step);
        ssa rows = even ? all : emit_value(e, "and i64 %s, %d", all.text, -at->tiles);
        if (c->backwards && !even)
            visit_rows(b, p, c, rows, limit, at, false, visit, user);
        visit_whole(b, p, c, rows, limit, at, visit, user);
        if (!c->backwards && !even)
            visit_rows(b, p, c, rows, limit, at, false, visit, user);
    }
}

/* How a cooperative group traverses a construct that stands in no other one. Each goes in the opposite direction to the one before, so
 * that what a group of a block or more still has in its caches comes first. */
static traversal coop_traversal(body *b, int together) {
    const variant *v = b->e->frame->v;
    bool backwards = (v->gufunc.coop > COOP_WARP || v->gufunc.across) && b->constructs % 2;
    b->constructs++;
    traversal c = {ssa_named("%%rank"), coop_size(v), together, backwards, b->held != NULL, NULL};
    if (v->gufunc.pieces && (v->gufunc.coop == COOP_GRID || v->gufunc.cluster)) { /* a block has its piece for itself */
        c.first = coop_thread(b);
        c.step = ssa_constant(coop_threads(v));
    }
    return c;
}

/* ---- Reductions ---- */

enum {
    ACCUMULATORS = 32, /* of a thread, at most, since they take registers */
    ONLINE_WAYS = 4    /* those of the tiles that move a pair of reductions on */
};

typedef struct reduction {
    const node *n;
    int outer;    /* instances of the forall around it that are computed in one loop, or 1 */
    bool of_each; /* it is computed for all of them, not for the one that is being written alone */
    int ways;     /* accumulators of each */
    accumulator *all;
} reduction;

static void reduce_tiles(body *b, const iteration_space *p, const tile_group *at, void *user) {
    const reduction *r = user;
    int each = at->tiles * p->rows * at->width;
    assert(at->width > 0 && r->ways > 0); /* a tile has elements, and a thread an accumulator */
    jam *t = jam_begin(b, r->outer * each, r->of_each);
    space_instances(b, p, t, r->outer, at);
    b->depth++;
    jam_load(b, r->n->kid[0]);
    for (int i = 0; i < t->count; i++) {
        jam_now(b, i);
        accumulator_term(b, r->n, &r->all[i / each * r->ways + i % each % r->ways], at->there[i % each / at->width]);
    }
    b->depth--;
    jam_end(b);
}

static int fits(const body *b, int wanted, int nodes, int others) {
    if (b->e->plain)
        return 1;
    while (wanted > 1 && (wanted * others * nodes > BODY_NODES_MAX || wanted * others > JAM_MOST))
        wanted /= 2;
    return wanted;
}

/* A construct in no other one begins, by tiles of so many elements. Threads have copied what they read of staged operands themselves,
 * if those tiles are as wide as the vectors that they copied. */
static void construct_begin(body *b, int width) {
    const variant *v = b->e->frame->v;
    if (!v->gufunc.pieces || !variant_stages(v) || width == v->gufunc.vector)
        return;
    emit_block_barrier(b->e);
    b->e->crosses = true;
}

/* Elements of a reduction's tiles: as many as a vector has, or one. */
static int tile_width(const body *b, int nodes, int outer) {
    int vector = b->e->frame->v->gufunc.vector;
    return fits(b, vector, nodes, outer) < vector ? 1 : vector;
}

/* The value of a reduction for each of `outer` instances: tiles first, first + step .. */
static void reduce_over(body *b, const node *n, int outer, bool of_each, traversal c, ssa *value, ssa *present) {
    int nodes = node_cost(n->kid[0]);
    int together = c.together =
        fits(b, c.together, nodes, outer * fits(b, b->e->frame->v->gufunc.vector, nodes, outer));
    int width = tile_width(b, nodes, outer);
    reduction r = {.n = n,
                   .outer = outer,
                   .of_each = of_each,
                   .ways = outer * width * together > ACCUMULATORS ? 1 : width * together};
    bool by_lanes = b->by_lanes;
    if (!b->depth)
        construct_begin(b, width);
    iteration_space p = space_make(b, n->args, 1, width);
    b->by_lanes = false;
    r.all = arena_alloc(b->e->a, (size_t)(outer * r.ways) * sizeof *r.all);
    for (int i = 0; i < outer * r.ways; i++) {
        r.all[i] = accumulator_new(b, n);
        accumulator_clear(b, n, &r.all[i]);
    }
    space_walk(b, &p, &c, reduce_tiles, &r);
    for (int x = 0; x < outer; x++) {
        accumulator *a = &r.all[x * r.ways];
        for (int half = r.ways / 2; half; half /= 2)
            for (int i = 0; i < half; i++)
                accumulator_join(b, n, &a[i], accumulator_read(b, n, &a[i + half]),
                                 accumulator_present(b, &a[i + half]));
        value[x] = accumulator_read(b, n, a);
        present[x] = accumulator_present(b, a);
    }
    b->by_lanes = by_lanes;
}

/* Where the lanes of a row share a reduction, or one thread does all of it. */
static void reduce_inside(body *b, const node *n, int outer, bool of_each, ssa *value) {
    const variant *v = b->e->frame->v;
    int lanes = v->gufunc.along ? 0 : v->gufunc.lanes;
    ssa *present = arena_alloc(b->e->a, (size_t)outer * sizeof *present);
    traversal c = {
        ssa_constant(0), ssa_constant(1 << lanes), outer == 1 && !v->gufunc.along ? 2 : 1, false, false, NULL};
    if (lanes)
        c.first = coop_lane(b, lanes);
    reduce_over(b, n, outer, of_each, c, value, present);
    for (int x = 0; x < outer; x++)
        lanes_reduce(b, n, lanes, &value[x], &present[x]);
}

/* ---- Two reductions in one pass (online.h) ---- */

/* The terms of all instances, joined to nothing else. */
static ssa reduce_instances(body *b, const node *n, const tile_group *at) {
    accumulator all[ONLINE_WAYS];
    jam *t = b->jam;
    if (b->held && b->held->variable >= 0)
        b->held->variable = n->args->local;
    for (int w = 0; w < ONLINE_WAYS; w++) {
        all[w] = accumulator_new(b, n);
        accumulator_clear(b, n, &all[w]);
    }
    jam_load(b, n->kid[0]);
    for (int i = 0; i < t->count; i++) {
        jam_now(b, i);
        accumulator_term(b, n, &all[i % ONLINE_WAYS], at->there[i / at->width]);
    }
    for (int w = 1; w < ONLINE_WAYS; w++)
        accumulator_join(b, n, &all[0], accumulator_read(b, n, &all[w]), ssa_none());
    return accumulator_read(b, n, &all[0]);
}

/* The number of elements in the tiles that exist. */
static ssa count_elements(body *b, const online *o, const tile_group *at) {
    dtype type = (dtype)o->first->type;
    ssa none = emit_constant((number){.type = type, .as.f = {0}}, type),
        some = emit_constant((number){.type = type, .as.f = {at->width}}, type), all = none;
    for (int s = 0; s < at->tiles; s++) {
        ssa one = ssa_is_set(at->there[s]) ? emit_select(b->e, type, at->there[s], some, none) : some;
        all = s ? online_add(b, o, all, one) : one;
    }
    return all;
}

/* What is in the tiles moves the first on, and with it what has been found of the second. */
static void online_tiles(body *b, const iteration_space *p, const tile_group *at, void *user) {
    const partial_accumulator *so_far = user;
    const online *o = so_far->like.online;
    iteration_space other = *p;
    other.ranges = o->second->args;
    jam *t = jam_begin(b, at->tiles * at->width, false);
    space_instances(b, p, t, 1, at);
    space_instances(b, &other, t, 1, at);
    b->depth++;
    partial before = partial_end(b, so_far), now = before;
    now.value = combine(b, o->first, before.value, reduce_instances(b, o->first, at));
    if (o->counted)
        now.count = online_add(b, o, before.count, count_elements(b, o, at));
    online_suppose(b, o, (online_state){now.value, now.count});
    partial_correct(b, &now, &before);
    now.second = combine(b, o->second, now.second, reduce_instances(b, o->second, at));
    partial_set(b, so_far, &now);
    b->depth--;
    jam_end(b);
}

static void reduce_online(body *b, traversal c, partial *p) {
    const node *first = p->reduce;
    int nodes = node_cost(first->kid[0]) + node_cost(p->online->second->kid[0]), width = tile_width(b, nodes, 1);
    partial_accumulator so_far = partial_begin(b, p);
    c.together = fits(b, c.together, nodes, fits(b, b->e->frame->v->gufunc.vector, nodes, 1));
    construct_begin(b, width);
    iteration_space space = space_make(b, first->args, 1, width);
    space_walk(b, &space, &c, online_tiles, &so_far);
    *p = partial_end(b, &so_far);
}

/* What the thread has of a reduction that stands in no construct. */
static void reduce_own(body *b, partial *p) {
    traversal c = coop_traversal(b, b->e->frame->v->gufunc.steps);
    c.held &= held_covers(b, p->reduce->args);
    if (p->online)
        reduce_online(b, c, p);
    else
        reduce_over(b, p->reduce, 1, false, c, &p->value, &p->present);
}

ssa mapped_reduce(body *b, const node *n) {
    ssa value;
    if (b->depth) {
        reduce_inside(b, n, 1, false, &value);
        return value;
    }
    return held_reduce(b, n, reduce_own);
}

/* ---- forall ---- */

static bool contains(const node *n, node_kind kind) {
    for (; n; n = n->next) {
        if (n->kind == kind || contains(n->kid[0], kind) || contains(n->kid[1], kind) || contains(n->kid[2], kind) ||
            contains(n->args, kind) || contains(n->body, kind) || contains(n->other, kind) || contains(n->step, kind))
            return true;
    }
    return false;
}

static bool is_pure(const function *f, const node *n);

static bool declares(const node *list, int variable) {
    for (; list; list = list->next)
        if ((list->kind == N_DECLARE && list->local == variable) ||
            (node_is_block(list) && declares(list->body, variable)))
            return true;
    return false;
}

/* Does a statement of a sequence assign nothing but variables that the sequence declares? */
static bool is_own(const function *f, const node *sequence, const node *n) {
    if (node_is_block(n)) {
        for (const node *s = n->body; s; s = s->next)
            if (!is_own(f, sequence, s))
                return false;
        return true;
    }
    if (n->kind == N_LEAVE)
        return true; /* at the end of a block */
    if (n->kind == N_DECLARE)
        return (!f->locals[n->local].rank || f->locals[n->local].table) && is_pure(f, n->kid[0]);
    if (n->kind != N_EVAL || (n->kid[0]->kind != N_ASSIGN && n->kid[0]->kind != N_CALL))
        return false;
    for (const node *to = node_assigned(n->kid[0]); to; to = to->next)
        if (!declares(sequence->body, to->local))
            return false;
    return node_assigned(n->kid[0]) && is_pure(f, n->kid[0]->kid[1]) && is_pure(f, n->kid[0]->args);
}

/* Is it free of assignments, and does it read nothing that the body may have written? Then it may be computed in any order. */
static bool is_pure(const function *f, const node *n) {
    for (; n; n = n->next) {
        for (const node *s = n->kind == N_SEQUENCE ? n->body : NULL; s; s = s->next)
            if (!is_own(f, n, s))
                return false;
        if (n->kind == N_ASSIGN || n->kind == N_COMPOUND || n->kind == N_UPDATE)
            return false;
        if (n->kind == N_ELEMENT && f->locals[n->local].core && n->local >= f->nparams)
            return false;
        for (int k = 0; k < 3; k++)
            if (n->kid[k] && !is_pure(f, n->kid[k]))
                return false;
        if (n->args && !is_pure(f, n->args))
            return false;
    }
    return true;
}

/* Declarations of scalars, and assignments to them, by calls too, and to elements of outputs, one after the other: statements that can
 * be written for many instances, each for all of them before the next. */
bool instances_simple(const function *f, const node *list) {
    for (const node *n = list; n; n = n->next) {
        if ((node_is_block(n) && instances_simple(f, n->body)) || (n->kind == N_LEAVE && !n->next))
            continue;
        if (n->kind == N_DECLARE && !f->locals[n->local].rank && is_pure(f, n->kid[0]))
            continue;
        if (n->kind == N_DECLARE && f->locals[n->local].table)
            continue;
        if (n->kind == N_EVAL && n->kid[0]->kind == N_CALL && is_pure(f, n->kid[0]->args))
            continue;
        if (n->kind != N_EVAL || n->kid[0]->kind != N_ASSIGN)
            return false;
        const node *to = n->kid[0]->kid[0], *value = n->kid[0]->kid[1];
        const local *l = &f->locals[to->local];
        if ((l->rank && !l->core) || !is_pure(f, to->args))
            return false;
        for (int k = 0; k < 3; k++)
            if (to->kid[k] && !is_pure(f, to->kid[k]))
                return false;
        if (!is_pure(f, value))
            return false;
    }
    return true;
}

/* Computes those reductions of an expression that every instance gets to, for all instances in one loop. */
static void reductions_first(body *b, const node *n) {
    if (!n)
        return;
    if (n->kind == N_SEQUENCE) {
        jam_enter(b, n->body);
        for (const node *s = n->body; s; s = s->next)
            if (s->kind == N_DECLARE)
                reductions_first(b, s->kid[0]);
    }
    if (n->kind == N_REDUCE) {
        ssa known;
        if (!jam_is_early(b, n) || jam_recall(b, n, &known))
            return;
        for (const node *r = n->args; r; r = r->next)
            if (jam_varies(b, r->kid[0]))
                return;
        ssa *value = arena_alloc(b->e->a, (size_t)b->jam->count * sizeof *value);
        reduce_inside(b, n, b->jam->count, true, value);
        jam_know(b, n, value);
        return;
    }
    reductions_first(b, n->kid[0]);
    if (n->kind != N_AND && n->kind != N_OR && n->kind != N_SELECT)
        for (int k = 1; k < 3; k++)
            reductions_first(b, n->kid[k]);
    for (const node *a = n->args; a; a = a->next)
        reductions_first(b, a);
}

/* Stores value[i] of instance i to a core element; neighbours by one access. */
static void store_all(body *b, const node *to, const ssa *value) {
    jam *t = b->jam;
    if (held_keeps(b, to, value))
        return;
    const jam_variable *along = ssa_is_set(b->store_mask) ? NULL : jam_along(b, to);
    for (int i = 0; i < t->count; i += along ? along->width : 1) {
        jam_now(b, i);
        if (along)
            emit_core_store_vector(b, to, value + i, along->width);
        else
            emit_core_store(b, to, value[i]);
    }
}

/* One lane of a row stores, and all of them together find the reductions in the indices of what it stores to. */
static void indices_first(body *b, const node *to) {
    jam *t = b->jam;
    int rank = b->f->locals[to->local].rank;
    for (int d = 0; d < rank; d++) {
        const node *index = element_index(to, rank, d);
        if (!contains(index, N_REDUCE))
            continue;
        ssa *value = arena_alloc(b->e->a, (size_t)t->count * sizeof *value);
        for (int i = 0; i < t->count; i++) {
            jam_now(b, i);
            value[i] = emit_expression(b, index);
        }
        jam_know(b, index, value);
    }
}

static void assign_all(body *b, const node *assign) {
    jam *t = b->jam;
    const node *to = assign->kid[0], *from = assign->kid[1];
    bool core = b->f->locals[to->local].core;
    ssa *value = arena_alloc(b->e->a, (size_t)t->count * sizeof *value);
    bool converts = core && from->kind == N_CONVERT;
    for (int i = 0; i < t->count; i++) {
        jam_now(b, i);
        if (core)
            value[i] = emit_expression(b, converts ? from->kid[0] : from);
        else
            emit_expression(b, assign);
    }
    if (!core)
        return;
    if (converts)
        emit_convert_all(b->e, value, t->count, (dtype)from->kid[0]->type, (dtype)from->type);
    int end = 0;
    ssa keep = b->store_mask;
    if (ssa_is_set(keep)) {
        indices_first(b, to);
        int yes = emit_label_new(b->e);
        end = emit_label_new(b->e);
        emit_branch_if(b->e, keep, yes, end);
        emit_label(b->e, yes);
        b->store_mask = ssa_none();
    }
    store_all(b, to, value);
    if (end) {
        emit_branch(b->e, end);
        emit_label(b->e, end);
        b->store_mask = keep;
    }
}

static void declare_all(body *b, const node *n) {
    jam *t = b->jam;
    const char *type = ir_value_type((dtype)b->f->locals[n->local].type);
    t->own[n->local] = true;
    for (int i = 0; i < t->count; i++) {
        jam_now(b, i);
        ssa value = n->kid[0] ? emit_expression(b, n->kid[0]) : ssa_literal("zeroinitializer");
        ssa slot = emit_local_slot(b, n->local);
        if (i && emit_once(b->e, slot.text))
            text_printf(&b->slots, "  %s = alloca %s\n", slot.text, type);
        emit_line(b->e, "store %s %s, %s* %s", type, value.text, type, slot.text);
    }
}

/* A call that assigns its results. */
static void call_all(body *b, const node *call) {
    for (int i = 0; i < b->jam->count; i++) {
        jam_now(b, i);
        emit_expression(b, call);
    }
}

/* The statements of a simple body, each for all instances. */
void instances_write(body *b, const node *list) {
    for (const node *n = list; n; n = n->next) {
        const node *does = n->kind == N_EVAL ? n->kid[0] : n;
        if (n->line)
            b->e->line = n->line;
        if (node_is_block(n)) {
            instances_write(b, n->body);
            continue;
        }
        if (n->kind == N_LEAVE || (n->kind == N_DECLARE && b->f->locals[n->local].table))
            continue;
        reductions_first(b, n->kid[0]);
        jam_load(b, does->kind == N_CALL ? does : does->kind == N_DECLARE ? does->kid[0] : does->kid[1]);
        (does->kind == N_CALL ? call_all : does->kind == N_DECLARE ? declare_all : assign_all)(b, does);
        jam_forget(b);
    }
}

static void forall_tiles(body *b, const iteration_space *p, const tile_group *at, void *user) {
    const node *n = user;
    bool simple = instances_simple(b->f, n->body);
    jam *t = jam_begin(b, at->tiles * p->rows * at->width, true);
    space_instances(b, p, t, 1, at);
    b->depth++;
    jam_now(b, 0);
    if (simple)
        instances_write(b, n->body);
    else
        emit_statements(b, n->body);
    b->depth--;
    jam_end(b);
}

/* Rows over groups of lanes: an iteration space of single elements. */
static void forall_by_lanes(body *b, const node *n, int repeat) {
    emit *e = b->e;
    int lanes = e->frame->v->gufunc.lanes;
    iteration_space p = space_make(b, n->args, 1, 1);
    ssa keep = b->store_mask;
    if (lanes)
        b->store_mask = emit_value(e, "icmp eq i64 %s, 0", coop_lane(b, lanes).text);
    b->by_lanes = true;
    ssa group = emit_value(e, "lshr i64 %%rank, %d", lanes),
        groups = emit_value(e, "lshr i64 %s, %d", coop_size(e->frame->v).text, lanes);
    traversal c = {group, groups, repeat, false, false, NULL};
    space_walk(b, &p, &c, forall_tiles, (void *)(uintptr_t)n);
    b->by_lanes = false;
    b->store_mask = keep;
}

/* ---- Prefetching ---- */

enum {
    LINE = 128,             /* bytes */
    PREFETCH_MOST = 1 << 13 /* elements of an operand */
};

/* The address of element number t of a core operand in C order. */
static ssa core_element(body *b, int k, ssa t) {
    emit *e = b->e;
    const layout_operand *o = &e->frame->layout->operands[k];
    ssa offset = ssa_constant(0);
    for (int d = o->rank - 1; d >= 0; d--) {
        ssa i = d ? emit_value(e, "urem i64 %s, %%s%d", t.text, o->dim[d]) : t;
        if (d)
            t = emit_value(e, "udiv i64 %s, %%s%d", t.text, o->dim[d]);
        offset = emit_op(e, "add i64", offset, emit_value(e, "mul i64 %s, %%s%d", i.text, o->strides + d));
    }
    return emit_element(e, (dtype)e->frame->v->operand[k].memory, ssa_named("%%p%d", k), offset);
}

/* Where one thread reads rows one after the other, few of its loads are in flight: the cooperative group prefetches all cache lines of
 * its small operands before. */
static void prefetch_operand(body *b, int k) {
    emit *e = b->e;
    const layout_operand *o = &e->frame->layout->operands[k];
    dtype t = (dtype)e->frame->v->operand[k].memory;
    int step = LINE / dtypes[t].size;
    ssa count = ssa_constant(1);
    for (int d = 0; d < o->rank; d++)
        count = d ? emit_value(e, "mul i64 %s, %%s%d", count.text, o->dim[d]) : ssa_named("%%s%d", o->dim[d]);
    ssa few = emit_value(e, "icmp ule i64 %s, %d", count.text, PREFETCH_MOST);
    count = emit_select_as(e, "i64", few, count, ssa_constant(0));
    counted_loop l = counted_loop_begin(e, "i64", emit_value(e, "mul i64 %%rank, %d", step), count);
    ssa at = core_element(b, k, l.i);
    at = emit_value(e, "ptrtoint %s%s %s to i64", ir_memory_type(t), ir_global_pointer(e), at.text);
    emit_line(e, "call void asm sideeffect \"prefetch.global.L2 [$0];\", \"l\"(i64 %s)", at.text);
    counted_loop_end(e, &l, emit_value(e, "mul i64 %s, %d", coop_size(e->frame->v).text, step), loop_no_unroll(e));
}

static void prefetch_inputs(body *b) {
    for (int k = 0; k < b->f->nparams; k++)
        if (b->f->locals[k].core && !b->e->frame->v->operand[k].staged)
            prefetch_operand(b, k);
}

/* Calls that are not active store nothing. Those whose elements are held have nothing else to do here. */
static void forall_across(body *b, const iteration_space *p, const traversal *c, visitor *visit, void *user) {
    emit *e = b->e;
    int active = emit_label_new(e), end = emit_label_new(e);
    if (!c->held) {
        b->store_mask = ssa_named("%%active");
        space_walk(b, p, c, visit, user);
        b->store_mask = ssa_none();
        return;
    }
    emit_branch_if(e, ssa_named("%%active"), active, end);
    emit_label(e, active);
    space_walk(b, p, c, visit, user);
    emit_branch(e, end);
    emit_label(e, end);
}

static void note_apart(const node *n, void *user) {
    const body **any = user;
    if (n->kind == N_ELEMENT && *any && (*any)->f->locals[n->local].core &&
        !(*any)->e->frame->v->operand[n->local].unit)
        *any = NULL;
}

/* Rows that begin anywhere: does it reach an operand that does not move as these do? That goes element by element, neighbours by
 * neighbouring threads, and all else with it: a vector apart, threads would read each line several times. */
static bool goes_singly(const body *b, const node *forall) {
    const body *all = b;
    if (b->e->frame->v->gufunc.pieces)
        node_each(forall->body, note_apart, &all);
    return !all;
}

static void forall_along(body *b, const node *n, bool nested, bool simple) {
    const variant *v = b->e->frame->v;
    int nodes = node_cost(n->body), rows = 1, width = 1, together = 1, count = 0;
    for (const node *r = n->args; r; r = r->next)
        count++;
    if (simple && !nested && goes_singly(b, n)) {
        together = fits(b, TOGETHER, nodes, 1);
    } else if (simple) {
        width = fits(b, v->gufunc.vector, nodes, 1) == v->gufunc.vector ? v->gufunc.vector : 1;
        if (nested && count > 1)
            rows = fits(b, v->gufunc.steps, nodes, width);
        else if (!nested)
            together = fits(b, v->gufunc.steps, nodes, width);
    }
    construct_begin(b, width);
    iteration_space p = space_make(b, n->args, rows, width);
    bool by_lanes = b->by_lanes;
    b->by_lanes = nested;
    if (nested)
        prefetch_inputs(b);
    traversal c = coop_traversal(b, together);
    c.held &= simple && held_covers(b, n->args); /* elements beyond the end are computed once more */
    assert(c.held || !variant_holds_part(v));
    c.construct = n;
    (v->gufunc.across ? forall_across : space_walk)(b, &p, &c, forall_tiles, (void *)(uintptr_t)n);
    b->by_lanes = by_lanes;
}

/* Does anything read an output, which a forall may have stored? updates: do statements like y[i] += 1 count as well? */
static bool reads_outputs(const function *f, const node *n, bool updates) {
    for (; n; n = n->next) {
        const node *does = n->kind == N_EVAL ? n->kid[0] : n;
        bool update = does != n && !updates && (does->kind == N_COMPOUND || does->kind == N_UPDATE);
        const node *to = does->kind == N_ASSIGN || update ? does->kid[0] : NULL;
        if (does->kind == N_ELEMENT && f->locals[does->local].core && does->local >= f->nparams)
            return true;
        for (int k = 0; k < 3; k++)
            if ((to && reads_outputs(f, to->kid[k], updates)) ||
                (!(to && k == 0) && reads_outputs(f, does->kid[k], updates)))
                return true;
        if ((to && reads_outputs(f, to->args, updates)) || reads_outputs(f, does->args, updates) ||
            reads_outputs(f, does->body, updates) || reads_outputs(f, does->other, updates) ||
            reads_outputs(f, does->step, updates))
            return true;
    }
    return false;
}

/* Counts the foralls that are in no other, those in loops twice. */
static int foralls(const node *n, int each) {
    int count = 0;
    for (; n; n = n->next) {
        int inside = n->kind == N_LOOP ? 2 : each;
        count += n->kind == N_FORALL ? each : foralls(n->body, inside) + foralls(n->other, inside);
        for (int k = 0; k < 3; k++)
            count += foralls(n->kid[k], inside);
        count += foralls(n->args, inside);
    }
    return count;
}

/* By lanes, one lane of a row stores. If the body reads outputs, the other lanes could read what was there before, and branch
 * differently; then a row is computed by one thread. */
void mapped_forall(body *b, const node *n) {
    const variant *v = b->e->frame->v;
    bool nested = contains(n->body, N_REDUCE), simple = instances_simple(b->f, n->body);
    int leave = b->leave, next = b->next;
    if (v->gufunc.tile)
        shared_tile_forall(b, n, instances_write);
    else if (nested && !v->gufunc.along && !reads_outputs(b->f, n->body, false))
        forall_by_lanes(b, n, simple ? fits(b, v->gufunc.steps, node_cost(n->body), v->gufunc.vector) : 1);
    else
        forall_along(b, n, nested && v->gufunc.along, simple);
    b->leave = leave;
    b->next = next;
    if (reads_outputs(b->f, b->f->body, true) || foralls(b->f->body, 1) > 1)
        coop_barrier(b);
}
