/* nodes.c - walks over typed trees. */
#include "ir/common/nodes.h"

#include <string.h>

void node_visit(const node *n, void (*visit)(const node *n, void *user), void *user) {
    visit(n, user);
    for (int k = 0; k < 3; k++)
        if (n->kid[k])
            node_each(n->kid[k], visit, user);
    const node *lists[] = {n->args, n->body, n->other, n->step};
    for (size_t i = 0; i < COUNT(lists); i++)
        node_each(lists[i], visit, user);
}

void node_each(const node *list, void (*visit)(const node *n, void *user), void *user) {
    for (const node *n = list; n; n = n->next)
        node_visit(n, visit, user);
}

bool function_is_own(const function *f, const char *name) {
    return f && f->body && !f->body->line && !strcmp(f->name, name);
}

bool numbers_same(const number *a, const number *b) {
    uint64_t x[2], y[2];
    _Static_assert(sizeof x == sizeof a->as, "all of a number");
    memcpy(x, &a->as, sizeof x);
    memcpy(y, &b->as, sizeof y);
    return x[0] == y[0] && x[1] == y[1];
}

static bool lists_same(const node *a, const node *b, int i, int j) {
    for (; a && b; a = a->next, b = b->next)
        if (!node_same(a, b, i, j))
            return false;
    return !a && !b;
}

bool node_same(const node *a, const node *b, int i, int j) {
    if (a->kind != b->kind || a->type != b->type || a->wide != b->wide || a->op != b->op || a->dim != b->dim ||
        a->callee != b->callee || a->math != b->math || (a->local != b->local && (a->local != i || b->local != j)) ||
        (a->kind == N_CONST && !numbers_same(&a->value, &b->value)) || a->body || b->body)
        return false;
    for (int k = 0; k < 3; k++)
        if (!lists_same(a->kid[k], b->kid[k], i, j))
            return false;
    return lists_same(a->args, b->args, i, j);
}

const node *node_assigned(const node *n) {
    if (n->kind == N_CALL)
        return n->other;
    bool assigns = n->kind == N_ASSIGN || n->kind == N_COMPOUND || n->kind == N_UPDATE;
    return assigns && n->kid[0]->kind == N_LOCAL ? n->kid[0] : NULL;
}

static void find_reduction(const node *n, void *found) { *(bool *)found |= n->kind == N_REDUCE; }

bool node_reduces(const node *n) {
    bool found = false;
    node_visit(n, find_reduction, &found);
    return found;
}

/* Does an N_LEAVE in a list of statements leave out some of what stands behind it in the N_INLINE around it? last: nothing stands behind
 * the list. */
static bool leaves(const node *list, bool last) {
    for (const node *n = list; n; n = n->next)
        if ((n->kind == N_LEAVE && !(last && !n->next)) ||
            (n->kind != N_INLINE && n->kind > N_EVAL && (leaves(n->body, false) || leaves(n->other, false))))
            return true;
    return false;
}

bool node_is_block(const node *n) { return n->kind == N_BLOCK || (n->kind == N_INLINE && !leaves(n->body, true)); }

static void count_node(const node *n, void *user) {
    int *count = user;
    *count += n->callee ? 20 : n->kind == N_MATH ? 10 : 1;
}

int node_cost(const node *list) {
    int count = 0;
    node_each(list, count_node, &count);
    return count;
}

static void find_math(const node *n, void *found) { *(bool *)found |= n->kind == N_MATH; }

static void find_division(const node *n, void *found) {
    *(bool *)found |= n->kind == N_BINARY && op_divides((op)n->op) && dtype_is_integer((dtype)n->type);
}

static void find_quotient(const node *n, void *found) {
    *(bool *)found |= n->kind == N_BINARY && op_divides((op)n->op);
}

static void find_product(const node *n, void *found) {
    *(bool *)found |=
        n->kind == N_BINARY && (n->op == OP_MUL || op_divides((op)n->op)) && dtype_is_complex((dtype)n->type);
}

static void find_comparison(const node *n, void *found) {
    *(bool *)found |=
        n->kind == N_BINARY && (n->op == OP_EQ || n->op == OP_NE) && dtype_is_complex((dtype)n->kid[0]->type);
}

/* Is it a quotient or a square root of floating numbers? */
static void find_root(const node *n, void *found) {
    bool quotient = n->kind == N_BINARY && n->op == OP_DIV && dtype_is_floating((dtype)n->type);
    *(bool *)found |= quotient || (n->kind == N_MATH && !strcmp(n->math->name, "sqrt"));
}

static void find_branch(const node *n, void *found) {
    switch (n->kind) {
    case N_AND:
    case N_OR:
    case N_SELECT:
    case N_IF:
    case N_SWITCH:
    case N_LOOP:
    case N_RETURN:
        *(bool *)found = true;
        break;
    default:
        break;
    }
}

static bool tree_has(const tree *t, void (*find)(const node *n, void *found)) {
    bool found = false;
    for (const function *f = t->functions; f && !found; f = f->next)
        node_each(f->body, find, &found);
    return found;
}

bool tree_has_math(const tree *t) { return tree_has(t, find_math); }
bool tree_divides_integers(const tree *t) { return tree_has(t, find_division); }
bool tree_divides(const tree *t) { return tree_has(t, find_quotient); }
bool tree_takes_roots(const tree *t) { return tree_has(t, find_root); }
bool tree_branches(const tree *t) { return tree_has(t, find_branch); }
bool tree_multiplies_complex(const tree *t) { return tree_has(t, find_product); }
bool tree_compares_complex(const tree *t) { return tree_has(t, find_comparison); }

const node *element_index(const node *element, int rank, int d) {
    if (rank <= 3)
        return element->kid[d];
    const node *index = element->args;
    while (d--)
        index = index->next;
    return index;
}
