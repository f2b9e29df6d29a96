/* interior.c - what a kernel over indices does in the interior of its space: see interior.h. */
#include "ir/forall/interior.h"

#include "ir/common/nodes.h"

/* A sum of at most one index, at most one size, and a constant, as mathematical integers: what it is made of is far from wrapping, since
 * indices and sizes are not negative, and the constants are small. */
typedef struct sum {
    int index, index_factor; /* 1, 0, -1 */
    int size, size_factor;
    int64_t constant;
} sum;

typedef struct finding {
    interior *in;
    int first_index; /* local number of index 0 */
} finding;

/* ---- Notes ---- */

static bool is_far(int64_t constant) { return constant > INTERIOR_REACH || constant < -INTERIOR_REACH; }

bool interior_low(interior *in, int index, int64_t constant) {
    if (is_far(constant))
        return false;
    if (constant < in->low[index])
        in->low[index] = constant;
    return true;
}

bool interior_limit(interior *in, int index, int size, int64_t constant) {
    if (is_far(constant))
        return false;
    int i = 0;
    while (i < in->nlimits && (in->limit[i].index != index || in->limit[i].size != size))
        i++;
    if (i == in->room)
        return false;
    if (i == in->nlimits) {
        in->limit[i].index = index;
        in->limit[i].size = size;
        in->limit[i].constant = constant;
        in->nlimits++;
    }
    if (constant > in->limit[i].constant)
        in->limit[i].constant = constant;
    return true;
}

/* ---- Sums ---- */

/* *part += factor of `which`; false: there would be two, or twice the same. */
static bool add_part(int *which, int *factor, int other, int by) {
    if (!by)
        return true;
    if (*factor && (*which != other || *factor == by))
        return false;
    *which = other;
    *factor += by;
    return true;
}

static bool add_to(sum *x, const sum *y, int sign) {
    x->constant += sign * y->constant;
    return !is_far(x->constant) && add_part(&x->index, &x->index_factor, y->index, sign * y->index_factor) &&
           add_part(&x->size, &x->size_factor, y->size, sign * y->size_factor);
}

static bool read_sum(const finding *f, const node *n, sum *out) {
    sum other;
    *out = (sum){.index = -1, .size = -1};
    if (n->type != DT_INT64)
        return false;
    switch (n->kind) {
    case N_CONST:
        out->constant = n->value.as.i;
        return !is_far(out->constant);
    case N_SIZE:
        out->size = n->dim;
        out->size_factor = 1;
        return true;
    case N_LOCAL:
        out->index = n->local - f->first_index;
        out->index_factor = 1;
        return out->index >= 0 && out->index < f->in->nindices;
    case N_BINARY:
        return (n->op == OP_ADD || n->op == OP_SUB) && read_sum(f, n->kid[0], out) && read_sum(f, n->kid[1], &other) &&
               add_to(out, &other, n->op == OP_ADD ? 1 : -1);
    default:
        return false;
    }
}

/* ---- Comparisons ---- */

/* x o y as it is in the interior; what that takes is noted. False: it is not decided. */
static bool decide(const finding *f, op o, const node *x, const node *y, bool *truth) {
    sum d, other;
    if (!read_sum(f, x, &d) || !read_sum(f, y, &other) || !add_to(&d, &other, -1) || !d.index_factor)
        return false;
    if (d.index_factor < 0) {
        d.size_factor = -d.size_factor;
        d.constant = -d.constant;
        o = op_mirrored(o);
    }
    if (d.size_factor > 0)
        return false;
    /* d, which is index + constant and perhaps less a size, is not 0 in the interior, unless 0 comes out like the rest. */
    if (d.size_factor < 0) {
        *truth = o == OP_LT || o == OP_LE || o == OP_NE;
        return interior_limit(f->in, d.index, d.size, d.constant - (o == OP_LE || o == OP_GT));
    }
    *truth = o == OP_GT || o == OP_GE || o == OP_NE;
    return interior_low(f->in, d.index, d.constant - (o != OP_LT && o != OP_GE));
}

static node *settle_comparison(rewriter *r, node *n) {
    bool truth;
    return decide(r->user, (op)n->op, n->kid[0], n->kid[1], &truth) ? rewrite_integer(r, DT_BOOL, truth) : n;
}

/* ---- Clamped and wrapped indices ---- */

static node *lesser(const finding *f, node *x, node *y, bool larger) {
    bool below;
    if (!decide(f, OP_LT, x, y, &below))
        return NULL;
    return below != larger ? x : y;
}

static node *settle_call(const rewriter *r, node *n) {
    const finding *f = r->user;
    bool low = function_is_own(n->callee, "min"), high = function_is_own(n->callee, "max");
    if (n->type != DT_INT64 || !n->args || !n->args->next)
        return n;
    node *x = n->args, *y = x->next, *one = NULL;
    if (low || high)
        one = lesser(f, x, y, high);
    else if (function_is_own(n->callee, "clamp") && y->next && (one = lesser(f, x, y, true)))
        one = lesser(f, one, y->next, false);
    if (!one)
        return n;
    one->next = NULL;
    return one;
}

/* (index + constant) % size, and (index + constant + size) % size; the same of floor_mod. */
static node *settle_remainder(rewriter *r, node *n) {
    const finding *f = r->user;
    sum x, y;
    if (!read_sum(f, n->kid[0], &x) || !read_sum(f, n->kid[1], &y) || y.index_factor || y.constant ||
        y.size_factor != 1 || x.index_factor != 1 || x.size_factor < 0 || (x.size_factor && x.size != y.size))
        return n;
    if (!interior_low(f->in, x.index, x.constant) || !interior_limit(f->in, x.index, y.size, x.constant))
        return n;
    return rewrite_offset(r, f->first_index + x.index, x.constant);
}

/* ---- Elements ---- */

/* Is an index the point's plus a constant, or a constant (*index is -1)? */
static bool is_near(const finding *f, const node *n, int *index, int64_t *constant) {
    int variable;
    if (!node_is_offset(n, &variable, constant))
        return false;
    *index = variable < 0 ? -1 : variable - f->first_index;
    return variable < 0 ? *constant >= 0 : *index >= 0 && *index < f->in->nindices;
}

static node *settle_element(const rewriter *r, node *n) {
    const finding *f = r->user;
    const local *l = &r->f->locals[n->local];
    int index;
    int64_t constant;
    bool all = l->core && !n->unchecked;
    for (int d = 0; all && d < l->rank; d++)
        all = is_near(f, element_index(n, l->rank, d), &index, &constant) && !is_far(constant);
    for (int d = 0; all && d < l->rank; d++) {
        is_near(f, element_index(n, l->rank, d), &index, &constant);
        all = (index < 0 || interior_low(f->in, index, constant)) && interior_limit(f->in, index, l->dim[d], constant);
    }
    n->unchecked |= all;
    return n;
}

static node *settle(rewriter *r, node *n) {
    if (n->kind == N_ELEMENT)
        return settle_element(r, n);
    if (n->kind == N_CALL)
        return settle_call(r, n);
    if (n->kind != N_BINARY)
        return n;
    bool compares = ops[n->op].kind == 'R' || ops[n->op].kind == 'E';
    return compares ? settle_comparison(r, n) : op_of_naturals((op)n->op) == OP_REM ? settle_remainder(r, n) : n;
}

bool interior_find(arena *a, const tree *t, interior *out) {
    *out = (interior){.nindices = t->layout->nindices, .room = INTERIOR_LIMITS};
    finding f = {.in = out, .first_index = t->kernel->nparams - t->layout->nindices};
    rewriter r = {.a = a, .settle = settle, .user = &f, .nodes_most = 1 << 20};
    out->kernel = rewrite_function(&r, t->kernel);
    return out->kernel;
}
