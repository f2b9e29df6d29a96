/* rewrite.c - copies of functions with changes: see rewrite.h. */
#include "ir/common/rewrite.h"
#include "ir/common/nodes.h"

enum {
    REACH_MOST = 1 << 20 /* constants of indices that are added up: far from wrapping */
};

/* A function and its copy. */
typedef struct rewritten_function {
    const function *from;
    function *to;
} rewritten_function;

/* What is known of a variable. */
typedef struct rewritten_local {
    int assigned;   /* nodes that assign it, not counting its declaration */
    const node *is; /* an expression of the copy that it stands for: it never changes; NULL: none */
} rewritten_local;

static node *expression(rewriter *r, const node *n);
static node *list(rewriter *r, const node *n);

/* ---- Nodes ---- */

static node *node_new(rewriter *r, const node *like) {
    r->full |= ++r->nodes > r->nodes_most;
    node *n = r->full || r->failed ? NULL : arena_alloc(r->a, sizeof *n);
    if (!n) {
        r->failed |= !r->full;
        n = &r->nowhere;
    }
    *n = *like;
    n->next = NULL;
    return n;
}

static bool is_int(const node *n) { return n->type == DT_INT32 || n->type == DT_INT64; }
static bool is_constant(const node *n) { return n->kind == N_CONST && (is_int(n) || n->type == DT_BOOL); }

node *rewrite_integer(rewriter *r, dtype type, int64_t value) {
    if (type == DT_INT32)
        value = (int32_t)(uint32_t)(uint64_t)value;
    return node_new(r, &(node){.kind = N_CONST, .type = (uint8_t)type, .value = {.type = type, .as.i = value}});
}

bool node_is_offset(const node *n, int *index, int64_t *constant) {
    *index = -1;
    *constant = 0;
    if (n->type != DT_INT64)
        return false;
    if (n->kind == N_CONST)
        *constant = n->value.as.i;
    else if (n->kind == N_LOCAL)
        *index = n->local;
    else if (n->kind == N_BINARY && n->op == OP_ADD && n->kid[0]->kind == N_LOCAL && n->kid[1]->kind == N_CONST) {
        *index = n->kid[0]->local;
        *constant = n->kid[1]->value.as.i;
    } else
        return false;
    return *constant >= -REACH_MOST && *constant <= REACH_MOST;
}

/* ---- Folding ---- */

/* x + constant, in the one form that node_is_offset knows. */
static node *plus(rewriter *r, node *x, int64_t constant) {
    if (!constant)
        return x;
    node *sum = node_new(r, &(node){.kind = N_BINARY, .op = OP_ADD, .type = DT_INT64, .line = x->line});
    sum->kid[0] = x;
    sum->kid[1] = rewrite_integer(r, DT_INT64, constant);
    return sum;
}

/* Sums and differences of an int64 and constants. */
static node *fold_offset(rewriter *r, node *n) {
    int left, right;
    int64_t x, y;
    if (n->type != DT_INT64 || (n->op != OP_ADD && n->op != OP_SUB) || !node_is_offset(n->kid[1], &right, &y))
        return n;
    if (!node_is_offset(n->kid[0], &left, &x)) {
        bool sum = n->kid[0]->kind == N_BINARY && n->kid[0]->op == OP_ADD && n->kid[0]->kid[1]->kind == N_CONST;
        x = sum ? n->kid[0]->kid[1]->value.as.i : 0;
        if (right >= 0 || x > REACH_MOST || x < -REACH_MOST)
            return n;
        return plus(r, sum ? n->kid[0]->kid[0] : n->kid[0], n->op == OP_ADD ? x + y : x - y);
    }
    if (right < 0 && left >= 0) {
        node *base = n->kid[0]->kind == N_LOCAL ? n->kid[0] : n->kid[0]->kid[0];
        return plus(r, base, n->op == OP_ADD ? x + y : x - y);
    }
    if (left < 0 && right >= 0 && n->op == OP_ADD)
        return plus(r, n->kid[1]->kind == N_LOCAL ? n->kid[1] : n->kid[1]->kid[0], x + y);
    return n;
}

/* The value of x o y, for operators whose result is defined; false: it is left alone. */
static bool compute(op o, int64_t x, int64_t y, int64_t *value) {
    switch (o) {
    case OP_ADD:
        return !__builtin_add_overflow(x, y, value);
    case OP_SUB:
        return !__builtin_sub_overflow(x, y, value);
    case OP_MUL:
        return !__builtin_mul_overflow(x, y, value);
    case OP_DIV:
    case OP_REM:
    case OP_FLOOR_DIV:
    case OP_FLOOR_MOD:
        if (x < 0 || y <= 0)
            return false;
        *value = op_of_naturals(o) == OP_DIV ? x / y : x % y;
        return true;
    case OP_AND:
        *value = x & y;
        return true;
    case OP_LT:
        *value = x < y;
        return true;
    case OP_LE:
        *value = x <= y;
        return true;
    case OP_GT:
        *value = x > y;
        return true;
    case OP_GE:
        *value = x >= y;
        return true;
    case OP_EQ:
        *value = x == y;
        return true;
    case OP_NE:
        *value = x != y;
        return true;
    default:
        return false;
    }
}

static node *fold_binary(rewriter *r, node *n) {
    int64_t value;
    if (!is_constant(n->kid[0]) || !is_constant(n->kid[1]) || !is_int(n->kid[0]) ||
        !compute((op)n->op, n->kid[0]->value.as.i, n->kid[1]->value.as.i, &value))
        return fold_offset(r, n);
    return rewrite_integer(r, (dtype)n->type, value);
}

static node *fold_convert(rewriter *r, node *n) {
    bool integers = is_constant(n->kid[0]) && (is_int(n) || n->type == DT_BOOL);
    if (!integers)
        return n;
    int64_t value = n->kid[0]->value.as.i;
    return rewrite_integer(r, (dtype)n->type, n->type == DT_BOOL ? value != 0 : value);
}

static bool is_bool(const node *n, bool value) {
    return n->kind == N_CONST && n->type == DT_BOOL && (n->value.as.u != 0) == value;
}

/* Are all indices of a local array or table constants within its extents? */
static bool is_inside(const rewriter *r, const node *n) {
    const local *l = &r->f->locals[n->local];
    for (int d = 0; d < l->rank; d++) {
        const node *i = element_index(n, l->rank, d);
        if (l->core || i->kind != N_CONST || i->value.as.u >= (uint64_t)l->extent[d])
            return false;
    }
    return true;
}

/* An expression of the copy, whose parts are folded. */
static node *fold(rewriter *r, node *n) {
    switch (n->kind) {
    case N_BINARY:
        return fold_binary(r, n);
    case N_CONVERT:
        return fold_convert(r, n);
    case N_UNARY:
        if (n->op == OP_LNOT && is_constant(n->kid[0]))
            return rewrite_integer(r, DT_BOOL, !n->kid[0]->value.as.u);
        if (n->op == OP_NEG && is_constant(n->kid[0]) && n->kid[0]->value.as.i != INT64_MIN)
            return rewrite_integer(r, (dtype)n->type, -n->kid[0]->value.as.i);
        return n;
    case N_AND:
    case N_OR: /* the second part alone is left out: the first may have effects */
        if (is_bool(n->kid[0], n->kind == N_AND))
            return n->kid[1];
        return is_bool(n->kid[0], n->kind == N_OR) || is_bool(n->kid[1], n->kind == N_AND) ? n->kid[0] : n;
    case N_SELECT:
        return is_bool(n->kid[0], true) ? n->kid[1] : is_bool(n->kid[0], false) ? n->kid[2] : n;
    case N_ELEMENT:
        n->unchecked |= is_inside(r, n);
        return n;
    default:
        return n;
    }
}

/* ---- Iterations ---- */

static function *callee(const rewriter *r, function *f) {
    for (int i = 0; i < r->nfunctions; i++)
        if (r->functions[i].from == f)
            return r->functions[i].to;
    return f;
}

static node *joined(rewriter *r, const node *reduce, node *so_far, node *term) {
    if (!so_far && !reduce->is_identity)
        return term;
    if (!so_far)
        so_far = node_new(r, &(node){.kind = N_CONST, .type = reduce->type, .value = reduce->value});
    node *n = node_new(r, reduce);
    n->args = NULL;
    n->callee = callee(r, reduce->callee);
    n->kid[0] = term;
    n->kid[1] = so_far;
    return n;
}

/* How many iterations the ranges of a construct have together, if their extents are constants; 0: unknown, none, or too many. */
static int iterations(rewriter *r, const node *ranges) {
    int64_t n = 1;
    for (; ranges; ranges = ranges->next) {
        const node *extent = expression(r, ranges->kid[0]);
        if (extent->kind != N_CONST || extent->value.as.i < 1 || extent->value.as.i > r->unroll_most)
            return 0;
        n *= extent->value.as.i;
        if (n > r->unroll_most)
            return 0;
    }
    return (int)n;
}

/* Gives the variables of ranges their values in iteration number i, the last fastest. */
static void iteration_set(rewriter *r, const node *ranges, int i) {
    if (!ranges)
        return;
    int behind = 1;
    for (const node *x = ranges->next; x; x = x->next)
        behind *= (int)expression(r, x->kid[0])->value.as.i;
    r->locals[ranges->local].is = rewrite_integer(r, DT_INT64, i / behind);
    iteration_set(r, ranges->next, i % behind);
}

static node *reduction(rewriter *r, const node *n) {
    node *value = NULL;
    int count = r->unroll_most ? iterations(r, n->args) : 0;
    for (int i = 0; i < count && !r->full && !r->failed; i++) {
        iteration_set(r, n->args, i);
        value = joined(r, n, value, expression(r, n->kid[0]));
    }
    return value;
}

/* ---- Expressions ---- */

static node *expressions(rewriter *r, const node *n) {
    node *first = NULL, **end = &first;
    for (; n && !r->full && !r->failed; n = n->next) {
        *end = expression(r, n);
        end = &(*end)->next;
    }
    return first;
}

static node *expression(rewriter *r, const node *n) {
    if (r->full || r->failed)
        return node_new(r, n);
    if (n->kind == N_LOCAL && r->locals[n->local].is) {
        const node *is = r->locals[n->local].is;
        return is->kind == N_LOCAL || is->kind == N_CONST ? node_new(r, is) : expression(r, is);
    }
    node *unrolled = n->kind == N_REDUCE && n->args ? reduction(r, n) : NULL;
    if (unrolled)
        return unrolled;
    node *copy = node_new(r, n);
    copy->body = list(r, n->body); /* of a sequence, what comes first */
    for (int k = 0; k < 3; k++)
        copy->kid[k] = n->kid[k] ? expression(r, n->kid[k]) : NULL;
    copy->args = expressions(r, n->args);
    copy->other = expressions(r, n->other);
    copy->callee = callee(r, n->callee);
    if (r->full || r->failed)
        return copy;
    copy = fold(r, copy);
    return r->settle ? r->settle(r, copy) : copy;
}

/* ---- Statements ---- */

/* A jump in a list that would leave the loop around it. */
static bool jumps(const node *n) {
    for (; n; n = n->next)
        if (n->kind == N_BREAK || n->kind == N_CONTINUE ||
            (n->kind != N_LOOP && n->kind > N_EVAL && (jumps(n->body) || jumps(n->other))))
            return true;
    return false;
}

/* The variable that a loop counts in, if its step is "counter += constant", "counter++" or their like; NULL: there is none. */
static const node *counter_of(const node *loop) {
    const node *step = loop->step;
    if (!step || step->next || step->kind != N_EVAL || !loop->kid[0] || loop->test_last || jumps(loop->body))
        return NULL;
    const node *n = step->kid[0];
    bool counts = n->kind == N_UPDATE || (n->kind == N_COMPOUND && !n->callee && (n->op == OP_ADD || n->op == OP_SUB));
    return counts && n->kid[0]->kind == N_LOCAL && is_int(n->kid[0]) && n->wide == n->kid[0]->type ? n->kid[0] : NULL;
}

/* Moves the counter by one step; false: it is not known by how much. */
static bool count_on(rewriter *r, const node *step, rewritten_local *counter) {
    const node *by = step->kind == N_COMPOUND ? expression(r, step->kid[1]) : NULL;
    int64_t value;
    if (by && !is_constant(by))
        return false;
    if (!compute((op)step->op, counter->is->value.as.i, by ? by->value.as.i : 1, &value))
        return false;
    counter->is = rewrite_integer(r, (dtype)counter->is->type, value);
    return true;
}

/* Counts the iterations of a loop whose counter begins with a constant: 0: none, unknown, or too many. */
static int trips(rewriter *r, const node *loop, rewritten_local *counter) {
    int count = 0;
    for (; count <= r->unroll_most && !r->full && !r->failed; count++) {
        const node *more = expression(r, loop->kid[0]);
        if (!is_constant(more))
            return 0;
        if (!more->value.as.u)
            return count;
        if (!count_on(r, loop->step->kid[0], counter))
            return 0;
    }
    return 0;
}

/* A loop behind the declaration of its counter, and last in its block: its iterations one after the other; NULL: it stays a loop. */
static node *iterations_of(rewriter *r, const node *loop, const node *declared) {
    const node *n = loop->kind == N_LOOP && r->unroll_most ? counter_of(loop) : NULL;
    if (!n || loop->next || !declared || declared->kind != N_DECLARE || declared->local != n->local ||
        !declared->kid[0] || r->locals[n->local].assigned != 1)
        return NULL;
    rewritten_local *counter = &r->locals[n->local];
    node *start = expression(r, declared->kid[0]), *first = NULL, **end = &first;
    if (!is_constant(start))
        return NULL;
    counter->is = start;
    int count = trips(r, loop, counter);
    counter->is = start;
    for (int i = 0; i < count && !r->full && !r->failed; i++) {
        *end = node_new(r, &(node){.kind = N_BLOCK, .line = loop->line});
        (*end)->body = list(r, loop->body);
        end = &(*end)->next;
        count_on(r, loop->step->kid[0], counter);
    }
    counter->is = NULL;
    return first;
}

/* forall: its iterations one after the other; NULL: it stays. */
static node *iterations_of_forall(rewriter *r, const node *n) {
    int count = n->kind == N_FORALL && r->unroll_most ? iterations(r, n->args) : 0;
    node *first = NULL, **end = &first;
    for (int i = 0; i < count && !r->full && !r->failed; i++) {
        iteration_set(r, n->args, i);
        *end = node_new(r, &(node){.kind = N_BLOCK, .line = n->line});
        (*end)->body = list(r, n->body);
        end = &(*end)->next;
    }
    return first;
}

/* Does a declared variable, which nothing assigns, stand for a constant or for an index and a constant? */
static bool stands_for(rewriter *r, const node *n, const node *value) {
    int index;
    int64_t constant;
    if (r->f->locals[n->local].rank || r->locals[n->local].assigned || !value)
        return false;
    return is_constant(value) ||
           (node_is_offset(value, &index, &constant) && index < r->f->nparams && !r->locals[index].assigned);
}

/* A copy of one statement, which may be several, or none. declared: the statement before it. */
static node *statement(rewriter *r, const node *n, const node *declared) {
    node *many = n->kind == N_LOOP ? iterations_of(r, n, declared) : iterations_of_forall(r, n);
    if (many)
        return many;
    node *copy = node_new(r, n);
    for (int k = 0; k < 3; k++)
        copy->kid[k] = n->kid[k] ? expression(r, n->kid[k]) : NULL;
    if (n->kind == N_DECLARE && stands_for(r, n, copy->kid[0])) {
        r->locals[n->local].is = copy->kid[0];
        return NULL;
    }
    const node *condition = n->kind == N_IF ? copy->kid[0] : NULL;
    if (condition && condition->kind == N_CONST) {
        node *block = node_new(r, &(node){.kind = N_BLOCK, .line = n->line});
        block->body = list(r, condition->value.as.u ? n->body : n->other);
        return block;
    }
    copy->args = expressions(r, n->args);
    copy->body = list(r, n->body);
    copy->other = list(r, n->other);
    copy->step = list(r, n->step);
    return copy;
}

static node *list(rewriter *r, const node *n) {
    node *first = NULL, **end = &first;
    const node *declared = NULL;
    for (; n && !r->full && !r->failed; declared = n, n = n->next) {
        *end = statement(r, n, declared);
        while (*end)
            end = &(*end)->next;
    }
    return first;
}

/* ---- Functions ---- */

static void note_assigned(const node *n, void *user) {
    rewriter *r = user;
    for (const node *to = node_assigned(n); to; to = to->next)
        r->locals[to->local].assigned++;
}

node *rewrite_offset(rewriter *r, int index, int64_t constant) {
    return plus(r, node_new(r, &(node){.kind = N_LOCAL, .type = DT_INT64, .local = index}), constant);
}

function *rewrite_function(rewriter *r, const function *f) {
    function *copy = arena_alloc(r->a, sizeof *copy);
    r->f = f;
    r->locals = arena_alloc(r->a, (size_t)(f->nlocals + 1) * sizeof *r->locals);
    r->failed |= !copy || !r->locals;
    if (r->failed)
        return NULL;
    node_each(f->body, note_assigned, r);
    *copy = *f;
    copy->next = NULL;
    copy->body = list(r, f->body);
    return r->full || r->failed ? NULL : copy;
}

static void find_loop(const node *n, void *user) {
    bool *found = user;
    *found |= n->kind == N_LOOP || n->kind == N_FORALL || (n->kind == N_REDUCE && n->args);
}

static void count_nodes(const node *n, void *user) {
    (void)n;
    ++*(int *)user;
}

static int nodes_of(const function *f) {
    int n = 0;
    node_each(f->body, count_nodes, &n);
    return n;
}

tree *rewrite_tree(rewriter *r, const tree *t) {
    tree *copy = arena_alloc(r->a, sizeof *copy);
    int n = 0;
    for (const function *f = t->functions; f; f = f->next)
        n++;
    r->functions = arena_alloc(r->a, (size_t)n * sizeof *r->functions);
    if (!copy || !r->functions) {
        r->failed = true;
        return NULL;
    }
    *copy = *t;
    copy->has_loop = false;
    function **end = &copy->functions;
    for (const function *f = t->functions; f; f = f->next, end = &(*end)->next) {
        *end = rewrite_function(r, f);
        if (!*end)
            return NULL;
        node_each((*end)->body, find_loop, &copy->has_loop);
        r->functions[r->nfunctions++] = (rewritten_function){f, *end};
        copy->kernel = *end;
    }
    copy->nodes += nodes_of(copy->kernel) - nodes_of(t->kernel);
    return copy;
}
