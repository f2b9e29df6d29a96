/* neutral.c - the value that changes nothing that it is combined with, on either side, not even the sign of a zero. It need not be the
 * fold's identity: that of floating sums is 0.0, which turns -0.0 into itself. */
#include <math.h>

#include "ir/common/nodes.h"
#include "ir/reduce/fold.h"

static void put_integer(number *out, int64_t x) { *out = (number){.type = DT_INT64, .as.i = x}; }
static void put_floating(number *out, double x) { *out = (number){.type = DT_COMPLEX128, .as.f = {x, x}}; }

/* Not that of complex numbers multiplied: infinity times 1 + 0i has a part that is no number. */
bool fold_neutral(const fold *f, number *out) {
    static const struct {
        const char *operator;
        dtype_kind most; /* of these kinds and those below */
        int64_t integer;
        double floating;
    } rows[] = {{"add", DK_COMPLEX, 0, -0.0},
                {"mul", DK_FLOATING, 1, 1},
                {"and", DK_INTEGER, -1, 0},
                {"or", DK_INTEGER, 0, 0},
                {"xor", DK_INTEGER, 0, 0}};
    dtype type = f->state[0];
    const char *name = f->nstate == 1 ? tree_operator(f->combine, type) : NULL;
    for (size_t i = 0; name && i < COUNT(rows); i++)
        if (!strcmp(name, rows[i].operator) && dtypes[type].kind <= rows[i].most) {
            if (dtypes[type].kind <= DK_INTEGER)
                put_integer(out, rows[i].integer);
            else
                put_floating(out, rows[i].floating);
            return true;
        }
    return false;
}

/* ---- The last of an order ---- */

/* Of integers. */
static bool of_order(const fold *f, number *out) {
    dtype type = f->state[0];
    const char *name = tree_operator(f->combine, type);
    int64_t least = INT64_MIN >> (64 - 8 * dtypes[type].size);
    const struct {
        const char *operator;
        int64_t last;
    } rows[] = {{"max", least}, {"min", ~least}, {"umax", 0}, {"umin", -1}};
    for (size_t i = 0; name && i < COUNT(rows); i++)
        if (!strcmp(name, rows[i].operator)) {
            put_integer(out, rows[i].last);
            return true;
        }
    return false;
}

/* Is it the language's own max or min of two floating-point numbers, in either order? */
static bool calls(const function *combine, const char *name, dtype type) {
    const node *n = function_returned(combine);
    if (!n || n->kind != N_CALL || n->type != type || !function_is_own(n->callee, name) || combine->nparams != 2)
        return false;
    const node *a = n->args, *b = a->next;
    return a->kind == N_LOCAL && b->kind == N_LOCAL && a->local + b->local == 1;
}

static bool of_extreme(const fold *f, number *out) {
    const function *combine = f->combine->kernel;
    bool largest = calls(combine, "max", f->state[0]);
    put_floating(out, largest ? -INFINITY : INFINITY);
    return largest || calls(combine, "min", f->state[0]);
}

static bool of_bools(const fold *f, number *out) {
    absorbing_value a = fold_absorbing(f);
    put_integer(out, a == ABSORBING_FALSE);
    return absorbing_anywhere(a);
}

bool fold_neutral_or_last(const fold *f, number *out) {
    dtype type = f->state[0];
    if (fold_neutral(f, out))
        return true;
    if (f->nstate != 1)
        return false;
    return type == DT_BOOL           ? of_bools(f, out)
           : dtype_is_integer(type)  ? of_order(f, out)
           : dtype_is_floating(type) ? of_extreme(f, out)
                                     : false;
}
