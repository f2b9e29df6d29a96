/* unrolled.c - see unrolled.h. */
#include "ir/common/unrolled.h"

#include <setjmp.h>

#include "ir/common/nodes.h"

/* What an integer holds. Of an output's element: 1 where it has been assigned for sure, 0 where it has not. */
typedef struct interval {
    int64_t low, high;
} interval;

static const interval anything = {INT64_MIN, INT64_MAX};

typedef struct element {
    bool has_slot;
    ssa value; /* what it holds, in the block with this label; of an input in all */
    int block;
} element;

typedef struct array {
    int count;
    int64_t extent[LAYOUT_MAX_RANK];
    element *of;
    int facts;          /* number of the fact about its first element; -1: there are none */
    bool needs_content; /* of an output: see unrolled_needs_content */
} array;

/* What is known at a label, by the jumps to it so far. */
typedef struct arrival {
    int label;
    interval *facts;
    struct arrival *next;
} arrival;

enum {
    COMPARISONS = 64
};

struct unrolled {
    int nfacts;
    interval *facts;    /* by local, then of the elements of arrays */
    element *variables; /* by local of rank 0 */
    array *arrays;      /* by local */
    arrival *arrivals;
    struct {
        ssa index, same;
        int64_t number;
        int block;
    } comparison[COMPARISONS]; /* the last ones */
    int ncomparisons;
};

enum {
    FACTS_MOST = 4096,   /* elements of arrays about which something is known */
    ELEMENTS_MOST = 8192 /* of an array */
};

void unrolled_refuse(const body *b) { longjmp(*b->e->a->escape, UF_ERR_COMPILE); }

static bool is_output(const body *b, int k) { return b->f->locals[k].core && k >= b->f->nparams; }
static bool is_whole_number(dtype t) { return t == DT_BOOL || dtype_is_integer(t); }

static int64_t extent_of(const body *b, int k, int d) {
    const local *l = &b->f->locals[k];
    int64_t size;
    return !l->core || l->extent[d] >= 0 || !frame_size(b->e->frame, l->dim[d], &size) ? l->extent[d] : size;
}

static void array_begin(body *b, int k) {
    array *a = &b->unrolled->arrays[k];
    const local *l = &b->f->locals[k];
    a->count = 1;
    for (int d = 0; d < l->rank; d++) {
        a->extent[d] = extent_of(b, k, d);
        if (a->extent[d] > ELEMENTS_MOST / a->count)
            unrolled_refuse(b);
        a->count *= (int)a->extent[d];
    }
    a->of = arena_alloc(b->e->a, (size_t)(a->count + 1) * sizeof *a->of);
    bool known = is_output(b, k) || (!l->core && is_whole_number(l->type));
    a->facts = known && b->unrolled->nfacts + a->count <= FACTS_MOST ? b->unrolled->nfacts : -1;
    if (a->facts < 0 && is_output(b, k))
        unrolled_refuse(b);
    b->unrolled->nfacts += a->facts >= 0 ? a->count : 0;
}

void unrolled_begin(body *b) {
    const frame *f = b->e->frame;
    if (!b->is_kernel || f->v->loop != LOOP_GUFUNC || !f->v->gufunc.unrolled)
        return;
    int n = b->f->nlocals;
    unrolled *u = b->unrolled = arena_alloc(b->e->a, sizeof *u);
    u->nfacts = n;
    u->variables = arena_alloc(b->e->a, (size_t)n * sizeof *u->variables);
    u->arrays = arena_alloc(b->e->a, (size_t)n * sizeof *u->arrays);
    for (int k = 0; k < n; k++)
        if (b->f->locals[k].rank && !b->f->locals[k].table)
            array_begin(b, k);
    u->facts = arena_alloc(b->e->a, (size_t)u->nfacts * sizeof *u->facts); /* zeroed, as all variables are */
    for (int k = 0; k < b->f->nparams; k++)
        u->facts[k] = anything;
}

/* ---- What is known ---- */

static interval interval_of(ssa value) {
    int64_t x;
    return ssa_is_constant(value, &x) ? (interval){x, x} : anything;
}

static ssa constant_as(dtype t, int64_t x) { return t == DT_BOOL ? ssa_bool(x != 0) : ssa_constant(x); }

void unrolled_loaded(body *b, int variable, ssa value) {
    if (b->unrolled)
        b->unrolled->variables[variable] = (element){.value = value, .block = b->e->block};
}

bool unrolled_knows(const body *b, int variable, ssa *value) {
    dtype t = b->f->locals[variable].type;
    const unrolled *u = b->unrolled;
    if (!u)
        return false;
    bool exact = is_whole_number(t) && u->facts[variable].low == u->facts[variable].high,
         here = ssa_is_set(u->variables[variable].value) && u->variables[variable].block == b->e->block;
    *value = exact ? constant_as(t, u->facts[variable].low) : u->variables[variable].value;
    return exact || here;
}

static arrival *arrival_at(const unrolled *u, int label) {
    arrival *a = u->arrivals;
    while (a && a->label != label)
        a = a->next;
    return a;
}

void unrolled_jump(body *b, int label) {
    unrolled *u = b->unrolled;
    if (!u)
        return;
    arrival *a = arrival_at(u, label);
    size_t size = (size_t)u->nfacts * sizeof *u->facts;
    if (!a) {
        a = arena_alloc(b->e->a, sizeof *a);
        *a = (arrival){label, arena_alloc(b->e->a, size), u->arrivals};
        u->arrivals = a;
        memcpy(a->facts, u->facts, size);
        return;
    }
    for (int i = 0; i < u->nfacts; i++) {
        a->facts[i].low = u->facts[i].low < a->facts[i].low ? u->facts[i].low : a->facts[i].low;
        a->facts[i].high = u->facts[i].high > a->facts[i].high ? u->facts[i].high : a->facts[i].high;
    }
}

bool unrolled_arrives(const body *b, int label) { return arrival_at(b->unrolled, label); }

/* Nothing jumps back, so a label that has been reached is not jumped to again. */
void unrolled_land(body *b, int label) {
    unrolled *u = b->unrolled;
    arrival **link = u ? &u->arrivals : NULL;
    while (link && *link && (*link)->label != label)
        link = &(*link)->next;
    if (!link || !*link)
        return;
    memcpy(u->facts, (*link)->facts, (size_t)u->nfacts * sizeof *u->facts);
    *link = (*link)->next;
}

/* ---- Elements ---- */

/* ---- Intervals of expressions that have been evaluated and have no effects; of others nothing is known ---- */

static interval interval_of_node(const body *b, const node *n);

static interval both(interval x, interval y) {
    return (interval){x.low < y.low ? x.low : y.low, x.high > y.high ? x.high : y.high};
}

static bool is_small(interval x) { return x.low > INT32_MIN && x.high < INT32_MAX; }

static bool fits(interval x, dtype t) {
    number low = {.type = DT_INT64, .as.i = x.low}, high = {.type = DT_INT64, .as.i = x.high};
    return number_fits(low, t) && number_fits(high, t);
}

/* Of a variable that has been noted. Numbers of unsigned types are held as constants are, sign-extended. */
static interval number_of_bits(interval x, dtype t) { return dtypes[t].is_signed || x.low >= 0 ? x : anything; }

static interval interval_of_sum(const body *b, const node *n) {
    interval x = interval_of_node(b, n->kid[0]), y = interval_of_node(b, n->kid[1]);
    if (!is_small(x) || !is_small(y) || (n->op != OP_ADD && n->op != OP_SUB))
        return anything;
    interval sum =
        n->op == OP_ADD ? (interval){x.low + y.low, x.high + y.high} : (interval){x.low - y.high, x.high - y.low};
    return fits(sum, (dtype)n->type) ? sum : anything;
}

/* Where it is the variable's value that is chosen if this is below a bound, it is below that. */
static interval interval_of_choice(const body *b, const node *n) {
    const node *test = n->kid[0];
    interval yes = interval_of_node(b, n->kid[1]), no = interval_of_node(b, n->kid[2]);
    bool below = test->kind == N_BINARY && test->op == OP_LT && test->kid[0]->kind == N_LOCAL &&
                 n->kid[1]->kind == N_LOCAL && n->kid[1]->local == test->kid[0]->local;
    interval limit = below ? interval_of_node(b, test->kid[1]) : anything;
    if (below && limit.high <= yes.high)
        yes.high = limit.high - 1;
    return yes.low > yes.high ? no : both(yes, no);
}

/* The least or the greatest of some terms is one of them. */
static interval interval_of_least(const body *b, const node *n) {
    bool known =
        n->callee && !n->callee->body->line && (!strcmp(n->callee->name, "min") || !strcmp(n->callee->name, "max"));
    for (const node *r = n->args; r && known; r = r->next) {
        interval limit = interval_of_node(b, r->kid[0]);
        known = limit.low > 0 && is_small(limit);
        b->unrolled->facts[r->local] = (interval){0, limit.high - 1};
    }
    return known ? interval_of_node(b, n->kid[0]) : anything;
}

static interval interval_of_variable(const body *b, const node *n) {
    return ssa_is_set(b->bound[n->local]) ? interval_of(b->bound[n->local])
                                          : number_of_bits(b->unrolled->facts[n->local], (dtype)n->type);
}

static int number_of(const array *a, int rank, const int64_t *at) {
    int64_t i = 0;
    for (int d = 0; d < rank; d++)
        i = i * a->extent[d] + at[d];
    return (int)i;
}

static interval interval_of_element(const body *b, const node *n) {
    const local *l = &b->f->locals[n->local];
    const array *a = &b->unrolled->arrays[n->local];
    int64_t at[LAYOUT_MAX_RANK];
    if (l->core || l->table || a->facts < 0)
        return anything;
    for (int d = 0; d < l->rank; d++) {
        interval x = interval_of_node(b, element_index(n, l->rank, d));
        if (x.low != x.high || x.low < 0 || x.low >= a->extent[d])
            return anything;
        at[d] = x.low;
    }
    return number_of_bits(b->unrolled->facts[a->facts + number_of(a, l->rank, at)], l->type);
}

/* A conversion changes nothing if the numbers fit. */
static interval interval_of_conversion(const body *b, const node *n) {
    if (!dtype_is_integer((dtype)n->kid[0]->type))
        return anything;
    interval x = interval_of_node(b, n->kid[0]);
    return fits(x, (dtype)n->type) ? x : anything;
}

static interval interval_of_node(const body *b, const node *n) {
    int64_t size;
    if (!dtype_is_integer((dtype)n->type))
        return anything;
    switch (n->kind) {
    case N_CONST:
        return (interval){n->value.as.i, n->value.as.i};
    case N_SIZE:
        return frame_size(b->e->frame, n->dim, &size) ? (interval){size, size} : anything;
    case N_LOCAL:
        return interval_of_variable(b, n);
    case N_ELEMENT:
        return interval_of_element(b, n);
    case N_CONVERT:
        return interval_of_conversion(b, n);
    case N_BINARY:
        return interval_of_sum(b, n);
    case N_SELECT:
        return interval_of_choice(b, n);
    case N_REDUCE:
        return interval_of_least(b, n);
    default:
        return anything;
    }
}

/* An interval that is not negative is held for an unsigned type if no bit of it is that of a sign. */
static interval interval_of_value(const body *b, ssa value, const node *from) {
    if (!from || value.kind == SSA_INTEGER || !dtype_is_integer((dtype)from->type))
        return interval_of(value);
    interval x = interval_of_node(b, from);
    int bits = 8 * dtypes[from->type].size;
    return dtypes[from->type].is_signed || x.high >> (bits - 1) == 0 ? x : anything;
}

void unrolled_note(body *b, int variable, ssa value, const node *from) {
    if (!b->unrolled)
        return;
    b->unrolled->facts[variable] = interval_of_value(b, value, from);
    unrolled_loaded(b, variable, value);
}

void unrolled_note_either(body *b, int variable, ssa value, const node *x, const node *y) {
    if (!b->unrolled)
        return;
    interval one = interval_of_value(b, emit_expression(b, x), x),
             other = interval_of_value(b, emit_expression(b, y), y);
    b->unrolled->facts[variable] = both(one, other);
    unrolled_loaded(b, variable, value);
}

unrolled_place *unrolled_find(body *b, const node *n) {
    const local *l = &b->f->locals[n->local];
    const array *a = &b->unrolled->arrays[n->local];
    unrolled_place *p = arena_alloc(b->e->a, sizeof *p);
    p->local = n->local;
    p->proved = true;
    for (int d = 0; d < l->rank; d++) {
        const node *i = element_index(n, l->rank, d);
        p->index[d] = emit_expression(b, i);
        interval x = interval_of_value(b, p->index[d], i);
        p->proved &= n->unchecked || (x.low >= 0 && x.high < a->extent[d]);
        p->range[d].low = x.low > 0 ? x.low : 0;
        p->range[d].high = x.high < a->extent[d] - 1 ? x.high : a->extent[d] - 1;
    }
    return p;
}

static ssa slot_of(int k, int i) { return ssa_named("%%v%d_%d", k, i); }

/* The variable of an element; it is made, and set to 0, at the head of the function when it is first written to. */
static ssa slot_make(body *b, int k, int i) {
    element *x = &b->unrolled->arrays[k].of[i];
    ssa slot = slot_of(k, i);
    const char *type = ir_value_type(b->f->locals[k].type);
    if (!x->has_slot)
        text_printf(&b->slots, "  %s = alloca %s\n  store %s zeroinitializer, %s* %s\n", slot.text, type, type, type,
                    slot.text);
    x->has_slot = true;
    return slot;
}

static ssa zero_of(dtype t) { return emit_constant((number){.type = DT_INT64}, t); }

static ssa element_get(body *b, int k, int i) {
    emit *e = b->e;
    array *a = &b->unrolled->arrays[k];
    element *x = &a->of[i];
    dtype t = b->f->locals[k].type;
    const interval *fact = a->facts < 0 ? NULL : &b->unrolled->facts[a->facts + i];
    if (is_output(b, k))
        a->needs_content |= !fact || fact->low < 1; /* array_begin gives all outputs facts */
    else if (fact && fact->low == fact->high)
        return constant_as(t, fact->low);
    if (ssa_is_set(x->value) && (x->block == e->block || x->block < 0))
        return x->value;
    if (k < b->f->nparams && b->f->locals[k].core) {
        b->hooks->input(b, k, i);
        return x->value;
    }
    if (!x->has_slot && !is_output(b, k))
        return zero_of(t);
    const char *type = ir_value_type(t);
    x->value = emit_value(e, "load %s, %s* %s", type, type, slot_make(b, k, i).text);
    x->block = e->block;
    return x->value;
}

static void element_put(body *b, int k, int i, ssa value, interval known) {
    array *a = &b->unrolled->arrays[k];
    element *x = &a->of[i];
    const char *type = ir_value_type(b->f->locals[k].type);
    ssa slot = slot_make(b, k, i);
    emit_line(b->e, "store %s %s, %s* %s", type, value.text, type, slot.text);
    x->value = value;
    x->block = b->e->block;
    if (a->facts >= 0 && !is_output(b, k))
        b->unrolled->facts[a->facts + i] = known;
}

/* The elements that a place may name, one after the other. at: their indices; begin with those of the first. */
static bool next_candidate(const unrolled_place *p, int rank, int64_t *at) {
    for (int d = rank - 1; d >= 0; d--) {
        if (at[d]++ < p->range[d].high)
            return true;
        at[d] = p->range[d].low;
    }
    return false;
}

static bool first_candidate(const unrolled_place *p, int rank, int64_t *at) {
    for (int d = 0; d < rank; d++) {
        at[d] = p->range[d].low;
        if (p->range[d].low > p->range[d].high)
            return false;
    }
    return true;
}

/* Is an index this number? (i1) */
static ssa compare(body *b, ssa index, int64_t wanted) {
    unrolled *u = b->unrolled;
    for (int i = 0; i < COMPARISONS; i++)
        if (u->comparison[i].block == b->e->block && u->comparison[i].number == wanted &&
            ssa_same(&u->comparison[i].index, &index))
            return u->comparison[i].same;
    ssa same = emit_value(b->e, "icmp eq i64 %s, %lld", index.text, (long long)wanted);
    int i = u->ncomparisons++ % COMPARISONS;
    u->comparison[i].index = index;
    u->comparison[i].same = same;
    u->comparison[i].number = wanted;
    u->comparison[i].block = b->e->block;
    return same;
}

/* Do the indices name this element? (i1); none: they do for sure. */
static ssa names(body *b, const unrolled_place *p, int rank, const int64_t *at) {
    ssa all = ssa_none();
    for (int d = 0; d < rank; d++) {
        if (p->index[d].kind == SSA_INTEGER)
            continue;
        ssa same = compare(b, p->index[d], at[d]);
        all = ssa_is_set(all) ? emit_op(b->e, "and i1", all, same) : same;
    }
    return all;
}

ssa unrolled_load(body *b, const unrolled_place *p) {
    const local *l = &b->f->locals[p->local];
    const array *a = &b->unrolled->arrays[p->local];
    int64_t at[LAYOUT_MAX_RANK];
    ssa value = zero_of(l->type);
    bool more = first_candidate(p, l->rank, at), stands_in = p->proved;
    for (; more; more = next_candidate(p, l->rank, at)) {
        emit_bound(b->e);
        ssa one = element_get(b, p->local, number_of(a, l->rank, at));
        ssa here = stands_in ? ssa_none() : names(b, p, l->rank, at);
        value = ssa_is_set(here) ? emit_select(b->e, l->type, here, one, value) : one;
        stands_in = false;
    }
    return value;
}

void unrolled_store(body *b, const unrolled_place *p, ssa value, const node *from) {
    const local *l = &b->f->locals[p->local];
    interval known = interval_of_value(b, value, from);
    const array *a = &b->unrolled->arrays[p->local];
    int64_t at[LAYOUT_MAX_RANK];
    bool more = first_candidate(p, l->rank, at);
    for (; more; more = next_candidate(p, l->rank, at)) {
        emit_bound(b->e);
        int i = number_of(a, l->rank, at);
        ssa here = names(b, p, l->rank, at);
        if (ssa_is_set(here)) {
            ssa old = element_get(b, p->local, i);
            if (!ssa_same(&old, &value))
                element_put(b, p->local, i, emit_select(b->e, l->type, here, value, old), anything);
            continue;
        }
        element_put(b, p->local, i, value, known);
        if (is_output(b, p->local))
            b->unrolled->facts[a->facts + i] = (interval){1, 1};
    }
}

void unrolled_clear(body *b, int k) {
    array *a = &b->unrolled->arrays[k];
    for (int i = 0; i < a->count; i++) {
        if (a->of[i].has_slot)
            element_put(b, k, i, zero_of(b->f->locals[k].type), (interval){0, 0});
        else if (a->facts >= 0)
            b->unrolled->facts[a->facts + i] = (interval){0, 0};
    }
}

/* ---- Core operands ---- */

int unrolled_count(const body *b, int k) { return b->unrolled->arrays[k].count; }

void unrolled_set_input(body *b, int k, int i, ssa value) {
    b->unrolled->arrays[k].of[i] = (element){.value = value, .block = b->hooks->input ? b->e->block : -1};
}

void unrolled_set_output(body *b, int k, int i, ssa value) {
    const char *type = ir_value_type(b->f->locals[k].type);
    ssa slot = slot_make(b, k, i);
    emit_line(b->e, "store %s %s, %s* %s", type, value.text, type, slot.text);
}

ssa unrolled_output(body *b, int k, int i) { return element_get(b, k, i); }

bool unrolled_needs_content(const body *b, int k) { return b->unrolled->arrays[k].needs_content; }
