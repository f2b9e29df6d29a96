/* at_case.c - see at_case.h. */
#include "at_case.h"

#include <string.h>

#include "draw.h"

const at_rule at_rules[AT_RULES] = {{"(x, y) { return x + y; }", false, false, true},
                                    {"(x, y) { return y; }", false, true, true},
                                    {"(x, y) { return x > 10 ? x - 7 : x + 2 * y; }", false, true, false},
                                    {"(x, y) { return max(x, y); }", false, false, false},
                                    {"(x) { return x > 12 ? 1 : x + 3; }", true, false, false},
                                    {"(x, y) { return x - y; }", false, false, true},
                                    {"(x, y) { return min(x, y); }", false, false, false}};

enum {
    SUBTRACTION = 5
};

static double apply(int f, double x, double y) {
    switch (f) {
    case 0:
        return x + y;
    case 1:
        return y;
    case 2:
        return x > 10 ? x - 7 : x + 2 * y;
    case 3:
        return x > y ? x : y;
    case 4:
        return x > 12 ? 1 : x + 3;
    case SUBTRACTION:
        return x - y;
    default:
        return x < y ? x : y;
    }
}

static double real_of(number n) {
    if (n.type == DT_BOOL || (dtype_is_integer(n.type) && !dtypes[n.type].is_signed))
        return (double)n.as.u;
    return dtype_is_integer(n.type) ? (double)n.as.i : n.as.f[0];
}

static double imaginary_of(number n) { return dtype_is_complex(n.type) ? n.as.f[1] : 0; }

static number number_of(double x, dtype like) {
    if (dtype_is_integer(like) || like == DT_BOOL)
        return (number){.type = DT_INT64, .as.i = (int64_t)x};
    return (number){.type = DT_FLOAT64, .as.f = {x, 0}};
}

/* Complex numbers get both parts. */
static number draw_number(dtype type, int64_t low, int64_t high) {
    double re = (double)pick(low, high);
    if (dtype_is_complex(type))
        return (number){.type = DT_COMPLEX128, .as.f = {re, (double)pick(low, high)}};
    return number_of(re, DT_INT64);
}

static void fill(view *v, dtype type, int64_t low, int64_t high) {
    int size = dtypes[type].size;
    for (int64_t i = 0; i < v->elements; i++)
        number_write(draw_number(type, low, high), type, v->block + i * size);
}

/* A shape that broadcasts to one. */
static int narrower(int ndim, const int64_t *shape, int64_t *out) {
    int drop = chance(70) ? 0 : (int)pick(0, ndim);
    for (int d = drop; d < ndim; d++)
        out[d - drop] = chance(80) ? shape[d] : 1;
    return ndim - drop;
}

static void draw_index(at_case *p, int i, int ndim, const int64_t *shape, int64_t extent, bool strays) {
    dtype type = (dtype)pick(DT_INT8, DT_UINT64);
    int64_t own[VIEW_RANK];
    int own_ndim = ndim;
    memcpy(own, shape, sizeof own);
    if (i)
        own_ndim = narrower(ndim, shape, own);
    view_make(&p->index[i], dtypes[type].dl, own_ndim, own);
    int64_t more = strays && chance(50) ? pick(1, 100) : 0;
    fill(&p->index[i], type, dtypes[type].is_signed ? -extent - more : 0, extent - 1 + more);
    if (more && type == DT_UINT64)
        memset(p->index[i].block, 255, 8); /* no int64 */
}

static void draw_operand(at_case *p) {
    int64_t own[VIEW_RANK];
    dtype most = at_rules[p->rule].complex ? DT_COMPLEX128 : DT_FLOAT64;
    p->operand_type = (dtype)pick(DT_BOOL, most);
    if (dtype_is_complex(p->operand_type) && !dtype_is_complex(p->type))
        p->operand_type = DT_FLOAT32;
    p->number = chance(25);
    int ndim = narrower(p->ndim, p->shape, own);
    if (p->number || at_rules[p->rule].unary)
        ndim = 0;
    view_make(&p->operand, dtypes[p->operand_type].dl, ndim, own);
    fill(&p->operand, p->operand_type, 0, p->operand_type == DT_BOOL ? 1 : 3);
    if (!ndim) /* an array without elements may end there */
        memcpy(p->value, p->operand.host.data, dtypes[p->operand_type].size);
}

void at_draw(at_case *p, bool strays) {
    int64_t whole[VIEW_RANK], shape[VIEW_RANK];
    memset(p, 0, sizeof *p);
    p->rule = (int)pick(0, AT_RULES - 1);
    p->type = (dtype)pick(DT_INT8, at_rules[p->rule].complex ? DT_COMPLEX128 : DT_FLOAT64);
    if (p->type == DT_UINT64 && p->rule == SUBTRACTION) /* wraps to what float64 does not hold */
        p->type = DT_INT64;
    p->nindices = (int)pick(1, 3);
    p->rest = (int)pick(0, 2);
    for (int d = 0; d < p->nindices + p->rest; d++)
        whole[d] = pick(1, 6);
    if (p->rest && chance(20))
        whole[p->nindices + p->rest - 1] = pick(40, 300);
    view_make(&p->target, dtypes[p->type].dl, p->nindices + p->rest, whole);
    fill(&p->target, p->type, 0, 20);
    p->ndim = (int)pick(0, 2);
    for (int d = 0; d < p->ndim; d++)
        shape[d] = chance(3) ? 0 : pick(1, 6);
    if (p->ndim == 1 && !p->rest && chance(20))
        shape[0] = pick(30, 60);
    for (int i = 0; i < p->nindices; i++)
        draw_index(p, i, p->ndim, shape, whole[i], strays);
    memcpy(p->shape, shape, sizeof shape);
    memcpy(p->shape + p->ndim, whole + p->nindices, (size_t)p->rest * sizeof *whole);
    p->ndim += p->rest;
    draw_operand(p);
    view_copy(&p->expected, &p->target);
    p->deterministic = at_rules[p->rule].ordered || chance(20);
}

static number operand_at(const at_case *p, const int64_t *index) {
    return number_read(p->operand_type, p->number ? p->value : view_at(&p->operand, p->ndim, index));
}

/* One update of the expected target. */
static void expect_update(at_case *p, const int64_t *index) {
    int64_t at[VIEW_RANK];
    for (int i = 0; i < p->nindices; i++) {
        dtype type = dtype_of_dl(p->index[i].host.dtype);
        number n = number_read(type, view_at(&p->index[i], p->ndim - p->rest, index));
        int64_t extent = p->target.shape[i];
        at[i] = dtypes[type].is_signed && n.as.i < 0 ? n.as.i + extent : n.as.i;
        if (at[i] < 0 || at[i] >= extent)
            return;
    }
    memcpy(at + p->nindices, index + p->ndim - p->rest, (size_t)p->rest * sizeof *at);
    void *element = view_at(&p->expected, p->nindices + p->rest, at);
    number old = number_read(p->type, element), operand = operand_at(p, index);
    double r = apply(p->rule, real_of(old), real_of(operand));
    bool integers = p->operand_type <= DT_UINT64 || at_rules[p->rule].unary;
    number result = number_of(r, integers ? p->type : DT_FLOAT64);
    if (dtype_is_complex(p->type))
        result = (number){.type = DT_COMPLEX128, .as.f = {r, apply(p->rule, old.as.f[1], imaginary_of(operand))}};
    number_write(result, p->type, element);
}

void at_expect(at_case *p) {
    int64_t index[VIEW_RANK] = {0}, n = 1;
    for (int d = 0; d < p->ndim; d++)
        n *= p->shape[d];
    for (int64_t i = 0; i < n; i++, index_next(p->ndim, p->shape, index))
        expect_update(p, index);
}

void at_release(at_case *p) {
    view_free(&p->target);
    view_free(&p->expected);
    view_free(&p->operand);
    for (int i = 0; i < p->nindices; i++)
        view_free(&p->index[i]);
}
