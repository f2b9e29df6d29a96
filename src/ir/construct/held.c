/* held.c - see held.h. */
#include "ir/construct/held.h"

#include <assert.h>

#include "ir/common/halves.h"
#include "ir/common/nodes.h"
#include "ir/construct/broadcast.h"
#include "ir/construct/cooperative.h"
#include "ir/construct/unroll_jam.h"

bool held_covers(const body *b, const node *range) {
    const node *limit = range->kid[0];
    return b->held && !range->next && limit->kind == N_SIZE && limit->dim == b->held->dimension;
}

/* Rows that begin anywhere: where the last tile ends. */
static ssa end_of_tiles(emit *e, const struct held *h, ssa head) {
    ssa tiles = emit_whole_vectors(e, emit_value(e, "sub i64 %%s%d, %s", h->dimension, head.text));
    return emit_op(e, "add i64", head, emit_value(e, "mul i64 %s, %d", tiles.text, h->width));
}

/* The elements before the tiles, and those behind them. */
static void find_ends(body *b, struct held *h, ssa head, ssa end) {
    emit *e = b->e;
    ssa rank = ssa_named("%%rank"), before = emit_op(e, "icmp slt i64", rank, head);
    ssa skipped = emit_select_as(e, "i64", before, ssa_constant(0), emit_op(e, "sub i64", end, head));
    ssa i = emit_op(e, "add i64", rank, skipped), there = emit_value(e, "icmp slt i64 %s, %%s%d", i.text, h->dimension);
    h->there[h->count] = there;
    h->index[h->count] = emit_select_as(e, "i64", there, i, h->index[0]);
}

/* The first vectors of a block's piece, and of the elements before them, which go one by one, one or none. */
static void find_part_tiles(body *b, struct held *h) {
    emit *e = b->e;
    const variant *v = e->frame->v;
    ssa own = coop_thread(b), first = emit_value(e, "sub i64 %%from, %d", variant_held_part(v));
    h->apart = coop_threads(v) * h->width;
    for (int j = 0; j < h->count; j++) {
        ssa tile = j ? emit_value(e, "add i64 %s, %d", own.text, j * coop_threads(v)) : own;
        h->index[j] = emit_op(e, "add i64", first, emit_value(e, "mul i64 %s, %d", tile.text, h->width));
        h->there[j] = ssa_none();
    }
    if (!h->ends)
        return;
    ssa there = emit_value(e, "icmp slt i64 %s, %%before", own.text);
    ssa before = emit_op(e, "add i64", emit_value(e, "sub i64 %s, %%before", first.text), own);
    h->there[h->count] = there;
    h->index[h->count] = emit_select_as(e, "i64", there, before, h->index[0]);
}

static void find_tiles(body *b, struct held *h) {
    emit *e = b->e;
    const variant *v = e->frame->v;
    ssa head = ssa_named("%%head"), end = h->ends ? end_of_tiles(e, h, head) : ssa_named("%%s%d", h->dimension);
    const int loose = v->gufunc.even == EVEN_ROUNDS ? 0 : HELD_LOOSE;
    h->apart = h->width << v->gufunc.coop;
    for (int j = 0; j < h->count; j++) {
        ssa i = j ? emit_value(e, "add i64 %%rank, %d", j << v->gufunc.coop) : ssa_named("%%rank");
        h->there[j] = ssa_none();
        if (h->width > 1)
            i = emit_value(e, "mul i64 %s, %d", i.text, h->width);
        if (h->ends)
            i = emit_op(e, "add i64", i, head);
        if (j >= h->count - loose) { /* there are more, so that the first is there */
            h->there[j] = emit_op(e, "icmp slt i64", i, end);
            i = emit_select_as(e, "i64", h->there[j], i, h->index[0]);
        }
        h->index[j] = i;
    }
    if (h->ends)
        find_ends(b, h, head, end);
}

/* ---- Inputs ---- */

/* An operand, where some of its tiles are, and how many neighbours are moved together there. */
typedef struct part {
    int operand, tiles, together;
    ssa pointer[HELD_MOST];
} part;

/* Of an operand that is `fixed` the thread's calls have the same, which is loaded once. */
static part *find_part(body *b, int k, int first, int tiles) {
    emit *e = b->e;
    const struct held *h = b->held;
    const variant_operand *v = &e->frame->v->operand[k];
    part *p = arena_alloc(e->a, sizeof *p);
    *p = (part){.operand = k, .tiles = tiles, .together = h->width * (v->fixed ? 1 : h->calls)};
    ssa base = ssa_named(v->staged ? "%%g%d" : "%%p%d", k), step = ssa_constant(h->apart);
    if (v->unit != 1)
        step = emit_value(e, "mul i64 %%s%d, %d", e->frame->layout->operands[k].strides, h->apart);
    for (int j = 0; j < tiles; j++) {
        int tile = first + j;
        bool follows = j && tile < h->count && !ssa_is_set(h->there[tile]);
        ssa offset = follows ? step : h->index[tile];
        if (!follows && v->unit != 1)
            offset = emit_value(e, "mul i64 %s, %%s%d", offset.text, e->frame->layout->operands[k].strides);
        p->pointer[j] = emit_element(e, (dtype)v->memory, follows ? p->pointer[j - 1] : base, offset);
    }
    return p;
}

/* All tiles are loaded before the first value is used. */
static void load_tiles(body *b, void *user, bool by_vectors, ssa *values) {
    const part *p = user;
    emit_invariant(b->e, true);
    for (int j = 0; j < p->tiles; j++)
        emit_neighbours(b->e, (dtype)b->e->frame->v->operand[p->operand].memory, (dtype)b->f->locals[p->operand].type,
                        p->pointer[j], p->together, by_vectors, values + j * p->together);
    b->e->invariant = 0;
}

/* Puts the elements of tiles into words, two and two, or those of two calls, if they are of 16 bits and computed with as they lie in memory. */
static void pack_tiles(body *b, int k, const ssa *value) {
    struct held *h = b->held;
    dtype memory = (dtype)b->e->frame->v->operand[k].memory;
    int words = h->count * h->width * h->calls / 2;
    if (dtypes[memory].size != 2 || (dtype)b->f->locals[k].type != memory)
        return;
    h->word[k] = arena_alloc(b->e->a, (size_t)words * sizeof *h->word[k]);
    for (int i = 0; i < words; i++)
        h->word[k][i] = halves_pack(b->e, value[2 * i], value[2 * i + 1]);
}

void held_unpack(body *b, int first, int tiles) {
    emit *e = b->e;
    struct held *h = b->held;
    int each = h->calls > 1 ? 1 : 2; /* elements of a call in a word */
    for (int k = 0; k < b->f->nparams; k++)
        for (int i = first * h->width / each; h->word[k] && i < (first + tiles) * h->width / each; i++) {
            ssa *low = &h->value[0][k][i * each], *high = h->calls > 1 ? &h->value[1][k][i] : low + 1;
            ssa word = emit_value(e, "call i32 asm sideeffect \"\", \"=r,0\"(i32 %s)", h->word[k][i].text);
            *low = emit_value(e, "trunc i32 %s to i16", word.text);
            word = emit_value(e, "lshr i32 %s, 16", word.text);
            *high = emit_value(e, "trunc i32 %s to i16", word.text);
        }
}

static void load_part(body *b, int k) {
    struct held *h = b->held;
    part *p = find_part(b, k, 0, h->count);
    int elements = h->count * h->width, apart = p->together / h->width;
    ssa *value = arena_alloc(b->e->a, (size_t)(elements * apart + h->ends) * sizeof *value);
    if (p->together > 1)
        emit_if_aligned(b, (dtype)b->f->locals[k].type, elements * apart, value, load_tiles, p);
    else
        load_tiles(b, p, false, value);
    if (h->ends) {
        part *one = find_part(b, k, h->count, 1);
        one->together = 1;
        load_tiles(b, one, false, value + elements++);
    }
    if (variant_holds_part(b->e->frame->v) || variant_packs_calls(b->e->frame->v))
        pack_tiles(b, k, value);
    for (int call = 0; call < h->calls; call++) {
        ssa *own = arena_alloc(b->e->a, (size_t)elements * sizeof *own);
        for (int i = 0; i < elements; i++)
            own[i] = value[i * apart + (apart > 1 ? call : 0)];
        h->value[call][k] = own;
    }
}

/* ---- Outputs ---- */

typedef struct assignments {
    int operand, count;
} assignments;

static void count_assignment(const node *n, void *user) {
    assignments *a = user;
    a->count += n->kind == N_ASSIGN && n->kid[0]->kind == N_ELEMENT && n->kid[0]->local == a->operand;
}

/* The forall that assigns output k, if all of it is assigned there, and nowhere else, and nothing reads it. */
static const node *find_kept(const body *b, int k) {
    assignments a = {k, 0};
    node_each(b->f->body, count_assignment, &a);
    if (a.count != 1 || reads_or_leaves(b->f->body, k))
        return NULL;
    for (const node *n = b->f->body; n; n = n->next)
        if (n->kind == N_FORALL && forall_assigns(b->f, n, k))
            return held_covers(b, n->args) && instances_simple(b->f, n->body) ? n : NULL;
    return NULL;
}

static bool is_kept(const struct held *h, const node *forall) {
    bool any = false;
    for (int k = 0; k < UF_MAX_OPERANDS; k++)
        any |= forall && h->keeps[k] == forall;
    return any;
}

bool held_keeps(body *b, const node *element, const ssa *value) {
    struct held *h = b->held;
    if (!h || !h->construct || h->keeps[element->local] != h->construct)
        return false;
    h->assigned[b->call][element->local] = value;
    return true;
}

/* Tiles of an output, and what goes there. */
typedef struct assigned {
    const part *to;
    ssa *value;
} assigned;

static void store_assigned(body *b, void *user, bool by_vectors) {
    const assigned *x = user;
    const part *p = x->to;
    for (int j = 0; j < p->tiles; j++)
        emit_store_neighbours(b->e, (dtype)b->e->frame->v->operand[p->operand].memory, x->value + j * p->together,
                              p->pointer[j], p->together, by_vectors);
}

/* Stores what the forall assigns elements of output k, those of neighbouring calls together. */
static void store_tiles(body *b, int k, int tiles) {
    emit *e = b->e;
    const struct held *h = b->held;
    int n = tiles * h->calls;
    assigned x = {find_part(b, k, h->first, tiles), arena_alloc(e->a, (size_t)n * sizeof *x.value)};
    for (int i = 0; i < n; i++)
        x.value[i] = h->assigned[i % h->calls][k][i / h->calls];
    emit_convert_all(e, x.value, n, (dtype)b->f->locals[k].type, (dtype)e->frame->v->operand[k].memory);
    if (x.to->together > 1)
        emit_store_if_aligned(b, store_assigned, &x);
    else
        store_assigned(b, &x, false);
}

/* ---- Calls ---- */

/* The second call's value of a reduction. */
typedef struct found {
    const node *reduce;
    ssa value;
    struct found *next;
} found;

/* What a kernel with several calls a thread knows of them, whether anything is held or not. */
typedef struct calls {
    const ssa *next; /* the second call's cores, by operand */
    bool within;     /* a statement is being written for one of them; */
    bool together;   /* its reductions depend on nothing that it assigns itself, */
    found *found;    /* so that those of the second call are found with those of the first */
} calls;

static void turn_to(body *b, int call) {
    const calls *c = b->user;
    b->call = call;
    b->core = call ? c->next : NULL;
}

void held_each_call(body *b, const node *construct, int tiles, void (*write)(body *b, void *user), void *user) {
    struct held *h = b->held;
    if (!is_kept(h, construct)) {
        write(b, user);
        return;
    }
    h->construct = construct;
    for (int call = 0; call < h->calls; call++) {
        turn_to(b, call);
        write(b, user);
    }
    turn_to(b, 0);
    for (int k = 0; k < UF_MAX_OPERANDS; k++)
        if (h->keeps[k] == construct)
            store_tiles(b, k, tiles);
    h->construct = NULL;
}

/* Is there nothing in an expression, but for the terms of reductions, that assigns anything? */
static bool assigns_nothing(const node *n) {
    for (; n; n = n->next) {
        if (n->kind == N_ASSIGN || n->kind == N_COMPOUND || n->kind == N_UPDATE || n->kind == N_SEQUENCE ||
            (n->kind == N_CALL && node_assigned(n)))
            return false;
        if (n->kind == N_REDUCE)
            continue;
        if (!assigns_nothing(n->kid[0]) || !assigns_nothing(n->kid[1]) || !assigns_nothing(n->kid[2]) ||
            !assigns_nothing(n->args))
            return false;
    }
    return true;
}

/* Does a statement do no more than to assign a value to a variable? */
static bool only_assigns(const node *n) {
    const node *value = n->kind == N_DECLARE ? n->kid[0]
                        : n->kind == N_EVAL && n->kid[0]->kind == N_ASSIGN && n->kid[0]->kid[0]->kind == N_LOCAL
                            ? n->kid[0]->kid[1]
                            : NULL;
    return value && !value->next && assigns_nothing(value);
}

/* Finds it for `count` calls from this one on. */
static ssa reduce_calls(body *b, const node *n, int count, held_part *of_thread) {
    const online *o = online_first(b, n);
    partial p[HELD_CALLS];
    for (int i = 0; i < count; i++) {
        if (i)
            turn_to(b, i);
        p[i] = (partial){.reduce = n, .online = o};
        of_thread(b, &p[i]);
    }
    if (count > 1)
        turn_to(b, 0);
    coop_reduce(b, count, p);
    if (o)
        online_found(b, p[0].second);
    for (int i = 1; i < count; i++) {
        calls *c = b->user;
        found *one = arena_alloc(b->e->a, sizeof *one);
        *one = (found){n, p[i].value, c->found};
        c->found = one;
    }
    return p[0].value;
}

ssa held_reduce(body *b, const node *n, held_part *of_thread) {
    const calls *c = b->e->frame->v->gufunc.calls ? b->user : NULL;
    ssa value;
    if (online_recall(b, n, &value))
        return value;
    for (const found *f = c && b->call ? c->found : NULL; f; f = f->next)
        if (f->reduce == n)
            return f->value;
    return reduce_calls(b, n, c && c->together && !b->call ? HELD_CALLS : 1, of_thread);
}

/* A statement for each call. There is none that leaves the kernel (code_traits.uniform). */
static const node *statement_of_calls(body *b, const node *n) {
    calls *c = b->user;
    if (!c || c->within || node_is_block(n))
        return NULL;
    c->within = true;
    c->together = only_assigns(n);
    for (int call = 0; call < (b->held && is_kept(b->held, n) ? 1 : HELD_CALLS); call++) {
        turn_to(b, call);
        emit_statement(b, n);
    }
    turn_to(b, 0);
    c->within = c->together = false;
    c->found = NULL;
    return n;
}

static void begin_calls(body *b) {
    emit *e = b->e;
    const variant *v = e->frame->v;
    calls *c = arena_alloc(e->a, sizeof *c);
    ssa *core = arena_alloc(e->a, (size_t)(v->nin + v->nout) * sizeof *core);
    for (int k = 0; k < v->nin + v->nout; k++) {
        core[k] = ssa_named("%%p%d", k);
        if (b->f->locals[k].core && !v->operand[k].fixed)
            core[k] = emit_element(e, (dtype)v->operand[k].memory, core[k], ssa_constant(1));
    }
    *c = (calls){.next = core};
    b->user = c;
    turn_to(b, 1);
    emit_locals(b);
    turn_to(b, 0);
}

/* ---- The body ---- */

static void begin(body *b) {
    const variant *v = b->e->frame->v;
    struct held *h = arena_alloc(b->e->a, sizeof *h);
    *h = (struct held){.dimension = -1,
                       .count = v->gufunc.held,
                       .width = v->gufunc.across ? 1 : v->gufunc.vector,
                       .calls = 1 << v->gufunc.calls,
                       .ends = v->gufunc.pieces && !v->gufunc.even,
                       .variable = -1};
    const bool partly = variant_holds_part(v);
    assert((partly || h->count > HELD_LOOSE) && h->count * h->width * h->calls <= HELD_MOST);
    assert(h->calls <= HELD_CALLS && (h->calls == 1 || h->width == 1) && (!h->ends || h->width > 1));
    if (h->calls > 1)
        begin_calls(b);
    for (int k = 0; k < b->f->nparams; k++) {
        int own = b->e->frame->layout->operands[k].dim[0];
        assert(!v->operand[k].held || h->dimension < 0 || h->dimension == own);
        h->dimension = v->operand[k].held ? own : h->dimension;
    }
    if (h->dimension < 0 || (b->e->plain && !partly))
        return;
    b->held = h;
    (partly ? find_part_tiles : find_tiles)(b, h);
    broadcast_loads beside;
    broadcast_load(b, &beside);
    for (int k = 0; k < b->f->nparams; k++)
        if (v->operand[k].held)
            load_part(b, k);
    broadcast_share(b, &beside);
    if (partly && coop_copies_async(b->e)) /* what is staged has been on its way meanwhile */
        coop_copies_wait(b->e);
    for (int k = v->nin; k < v->nin + v->nout && v->gufunc.across; k++)
        h->keeps[k] = find_kept(b, k);
}

static bool recall(body *b, const node *n, ssa *value) {
    const struct held *h = b->held;
    if (!h || h->variable < 0 || n->kind != N_ELEMENT || n->local >= b->f->nparams ||
        (!h->value[0][n->local] && !h->broadcast[n->local]) || !b->jam || b->jam->outer)
        return false;
    const node *i = element_index(n, 1, 0);
    if (i->kind != N_LOCAL || i->local != h->variable)
        return false;
    if (h->broadcast[n->local]) {
        *value = h->broadcast[n->local][b->jam->now];
        return true;
    }
    *value = h->value[b->call][n->local][h->first * h->width + b->jam->now];
    return true;
}

const body_hooks held_hooks = {.begin = begin, .statements = statement_of_calls, .recall = recall};
