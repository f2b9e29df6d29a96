/* points_of_calls.c - a generalized ufunc as a kernel over indices, where all that an inner call does is one forall whose inputs are windows:
 * elements at the range's index and something. Its points are the loop dimensions and the ranges; each operand is an array with the loop
 * dimensions before those of its core. So neighbouring points share what they read, the border is apart from the interior, and small
 * extents are constants, as of kernels that were written over indices. */
#include "ir/common/nodes.h"
#include "ir/common/rewrite.h"
#include "ir/forall/forall.h"

/* ---- Which ---- */

typedef struct search {
    const tree *t;
    int ranges[LAYOUT_MAX_RANK]; /* the forall's variables */
    int nranges;
    bool windows, odd;
} search;

static int operands_of(const tree *t) { return t->layout->nin + t->layout->nout; }

static bool is_range(const search *s, const node *n) {
    for (int r = 0; r < s->nranges; r++)
        if (n->kind == N_LOCAL && n->local == s->ranges[r])
            return true;
    return false;
}

static void find_range(const node *n, void *user) {
    search *s = user;
    s->windows |= is_range(s, n);
}

static bool is_operand(const search *s, const node *n) {
    return n->kind == N_ELEMENT && n->local < operands_of(s->t) && s->t->kernel->locals[n->local].core;
}

/* Is an index more than a range's variable, but made of one? */
static bool is_window(const search *s, const node *index) {
    search inner = *s;
    inner.windows = false;
    node_visit(index, find_range, &inner);
    return inner.windows && !is_range(s, index);
}

/* Are the indices of an output the ranges' variables, each once? Then no two points write one element. */
static bool is_own(const search *s, const node *element) {
    int rank = s->t->kernel->locals[element->local].rank;
    unsigned seen = 0;
    for (int d = 0; d < rank; d++)
        for (int r = 0; r < s->nranges; r++) {
            const node *i = element_index(element, rank, d);
            seen |= i->kind == N_LOCAL && i->local == s->ranges[r] ? 1u << r : 0;
        }
    return rank == s->nranges && seen == (1u << s->nranges) - 1;
}

static bool is_size(const node *n) { return n->kind == N_SIZE || n->kind == N_CONST; }

static void look(const node *n, void *user) {
    search *s = user;
    switch (n->kind) {
    case N_FORALL:
    case N_RETURN:
    case N_BREAK:
    case N_CONTINUE:
    case N_SWITCH:
    case N_ATOMIC:
    case N_ASSERT:
        s->odd = true;
        break;
    case N_RANGE:
        s->odd |= !is_size(n->kid[0]);
        break;
    case N_ELEMENT:
        for (int d = 0; is_operand(s, n) && d < s->t->kernel->locals[n->local].rank; d++)
            s->windows |=
                n->local < s->t->layout->nin && is_window(s, element_index(n, s->t->kernel->locals[n->local].rank, d));
        s->odd |= is_operand(s, n) && n->local >= s->t->layout->nin && !is_own(s, n);
        break;
    case N_ASSIGN:
    case N_COMPOUND:
    case N_UPDATE:
        s->odd |= is_operand(s, n->kid[0]) && n->kid[0]->local < s->t->layout->nin;
        break;
    default:
        break;
    }
    for (const node *to = node_assigned(n); to; to = to->next)
        s->odd |= to->local < operands_of(s->t) || is_range(s, to);
}

/* The forall, if the kernel is one such. */
static const node *find_forall(const tree *t, search *s) {
    const node *n = t->kernel->body;
    *s = (search){.t = t};
    if (!n || n->next || n->kind != N_FORALL)
        return NULL;
    for (const node *r = n->args; r; r = r->next) {
        if (s->nranges == LAYOUT_MAX_RANK || !is_size(r->kid[0]))
            return NULL;
        s->ranges[s->nranges++] = r->local;
    }
    for (int k = t->layout->nin; k < operands_of(t); k++)
        if (!t->kernel->locals[k].core)
            return NULL;
    for (const node *item = n->body; item; item = item->next)
        node_visit(item, look, s);
    return s->windows && !s->odd ? n : NULL;
}

bool calls_are_windows(const tree *t) {
    search s;
    return find_forall(t, &s) != NULL;
}

/* ---- The tree ---- */

typedef struct copying {
    arena *a;
    search s;
    const core_layout *layout; /* of the kernel over indices */
    uint64_t numbers;
    int loops; /* dimensions before the ranges */
    bool failed;
    node nowhere;
} copying;

static int indices_of(const copying *c) { return c->loops + c->s.nranges; }

static int local_of(const copying *c, int k) {
    int n = operands_of(c->s.t);
    for (int r = 0; r < c->s.nranges; r++)
        if (k == c->s.ranges[r])
            return n + c->loops + r;
    return k < n ? k : k + indices_of(c);
}

/* The dimension of an operand that has the size of a dimension of the function's layout. */
static int dimension_of(const copying *c, int dim) {
    const core_layout *from = c->s.t->layout;
    for (int k = 0; k < operands_of(c->s.t); k++)
        for (int d = 0; d < from->operands[k].rank; d++)
            if (from->operands[k].dim[d] == dim && !from->operands[k].stretch[d])
                return c->layout->operands[k].dim[c->loops + d];
    return -1;
}

static node *node_new(copying *c, const node *like) {
    node *n = arena_alloc(c->a, sizeof *n);
    c->failed |= !n;
    n = n ? n : &c->nowhere;
    *n = *like;
    n->next = NULL;
    return n;
}

static node *copy_node(copying *c, const node *n);

static node *copy_list(copying *c, const node *n) {
    node *first = NULL, **end = &first;
    for (; n && !c->failed; n = n->next) {
        *end = copy_node(c, n);
        end = &(*end)->next;
    }
    return first;
}

static node *loop_index(copying *c, int d) {
    return node_new(c, &(node){.kind = N_LOCAL, .type = DT_INT64, .local = operands_of(c->s.t) + d});
}

/* An element of operand k: the loop's indices, then those of the core. */
static node *operand_element(copying *c, const node *like, int k, int rank) {
    node *n = node_new(c, like), *list = NULL, **end = &list;
    n->kind = N_ELEMENT;
    n->local = k;
    n->args = n->kid[0] = n->kid[1] = n->kid[2] = NULL;
    for (int d = 0; d < c->loops + rank && !c->failed; d++) {
        node *index = d < c->loops ? loop_index(c, d) : copy_node(c, element_index(like, rank, d - c->loops));
        if (c->loops + rank <= 3) {
            n->kid[d] = index;
            continue;
        }
        *end = index;
        end = &index->next;
    }
    n->args = list;
    return n;
}

static node *copy_node(copying *c, const node *n) {
    const local *l = &c->s.t->kernel->locals[n->local];
    if (is_operand(&c->s, n))
        return operand_element(c, n, n->local, l->rank);
    if (n->kind == N_LOCAL && n->local < operands_of(c->s.t) && !(c->numbers >> n->local & 1)) {
        node *element = operand_element(c, n, n->local, 0);
        element->unchecked = true;
        return element;
    }
    node *copy = node_new(c, n);
    copy->local = local_of(c, n->local);
    if (n->kind == N_SIZE)
        copy->dim = dimension_of(c, n->dim);
    for (int k = 0; k < 3; k++)
        copy->kid[k] = n->kid[k] ? copy_node(c, n->kid[k]) : NULL;
    copy->args = copy_list(c, n->args);
    copy->body = copy_list(c, n->body);
    copy->other = copy_list(c, n->other);
    copy->step = copy_list(c, n->step);
    return copy;
}

static void find_loop(const node *n, void *user) {
    bool *found = user;
    *found |= n->kind == N_LOOP || (n->kind == N_REDUCE && n->args);
}

static void find_missing(const node *n, void *user) {
    bool *missing = user;
    *missing |= n->kind == N_SIZE && n->dim < 0;
}

static local *locals_of(const copying *c, const function *f) {
    int n = operands_of(c->s.t), more = indices_of(c);
    local *to = arena_alloc(c->a, (size_t)(f->nlocals + more) * sizeof *to);
    for (int k = 0; to && k < f->nlocals + more; k++)
        to[k] = k < n ? f->locals[k] : k < n + more ? (local){.name = "i", .type = DT_INT64} : f->locals[k - more];
    for (int k = 0; to && k < n; k++) {
        to[k].rank = c->layout->operands[k].rank;
        to[k].core = to[k].rank > 0;
        for (int d = 0; d < to[k].rank; d++) {
            to[k].extent[d] = -1;
            to[k].dim[d] = c->layout->operands[k].dim[d];
        }
    }
    return to;
}

/* The kernel, in place of `f`, which is its copy in t. */
static bool kernel_rewrite(copying *c, tree *t, function *f, const node *forall) {
    bool missing = false;
    f->locals = locals_of(c, f);
    f->body = copy_list(c, forall->body);
    f->nparams = operands_of(c->s.t) + indices_of(c);
    f->nresults = 0;
    f->nlocals += indices_of(c);
    c->failed |= !f->locals;
    node_each(f->body, find_missing, &missing);
    t->layout = c->layout;
    t->needs = NULL;
    t->nneeds = 0;
    t->has_loop = false;
    for (const function *g = t->functions; g; g = g->next)
        node_each(g->body, find_loop, &t->has_loop);
    return !missing && !c->failed;
}

/* False: the kernel over indices would have too many dimensions. */
static bool ranks_find(const tree *t, int loops, int nranges, uint64_t numbers, uint8_t *ranks) {
    int dims = loops + nranges;
    for (int k = 0; k < operands_of(t); k++) {
        int rank = numbers >> k & 1 ? 0 : loops + t->layout->operands[k].rank;
        if (rank > LAYOUT_MAX_RANK)
            return false;
        ranks[k] = (uint8_t)rank;
        dims += rank;
    }
    return loops + nranges <= LAYOUT_MAX_RANK && dims <= LAYOUT_MAX_DIMS;
}

bool ir_points(arena *a, const tree *t, points_form *out) {
    uint8_t ranks[UF_MAX_OPERANDS];
    uint64_t numbers = out->numbers;
    int loops = out->loops;
    copying c = {.a = a, .numbers = numbers, .loops = loops};
    rewriter r = {.a = a, .nodes_most = 2 * LANG_MAX_NODES};
    out->tree = NULL;
    tree *copy = rewrite_tree(&r, t);
    const node *forall = copy ? find_forall(copy, &c.s) : NULL;
    if (!forall || !ranks_find(t, loops, c.s.nranges, numbers, ranks))
        return !r.failed;
    core_layout *layout = arena_alloc(a, sizeof *layout);
    if (!layout || parameters_layout(a, ranks, operands_of(t), loops + c.s.nranges, layout))
        return false;
    c.layout = layout;
    c.s.t = t;
    int count = 0;
    for (const node *range = forall->args; range; range = range->next)
        out->range[count++] = range->kid[0]->kind == N_SIZE ? range->kid[0]->dim : -1 - range->kid[0]->value.as.i;
    if (kernel_rewrite(&c, copy, copy->kernel, forall))
        out->tree = copy;
    return !c.failed;
}
