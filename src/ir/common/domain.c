/* domain.c - CPU: functions of libmvec around which numbers outside the function's domain are kept. libmvec goes to libm for each vector
 * that has one, lane by lane, some ten times as long as a vector takes; here such a lane gets a number from the domain in its place, and
 * NaN as its result. */
#include <math.h>
#include <stdio.h>

#include "ir/common/vector_forms.h"

enum {
    LEAST_BITS = 256 /* of the vectors that vector_ops.h writes */
};

typedef struct domain {
    const char *function;  /* in the table of math functions */
    double from, to, ours; /* the domain, and a number from it of which the result is an ordinary one */
} domain;

static const domain domains[] = {
    {"acos", -1, 1, 0},      {"acosh", 1, INFINITY, 2}, {"asin", -1, 1, 0},         {"atanh", -1, 1, 0},
    {"log", 0, INFINITY, 2}, {"log10", 0, INFINITY, 2}, {"log1p", -1, INFINITY, 1}, {"log2", 0, INFINITY, 2},
};

static const domain *domain_of(const math_row *row) {
    for (size_t i = 0; i < COUNT(domains); i++)
        if (!strcmp(domains[i].function, row->name))
            return &domains[i];
    return NULL;
}

/* Which lanes are in the domain; NaN is not. */
static ssa inside(const vec *v, const domain *d, ssa x) {
    ssa above = vec_compare(v, "oge", x, vec_constant(v, d->from));
    return isinf(d->to) ? above : vec_and(v, above, vec_compare(v, "ole", x, vec_constant(v, d->to)));
}

static ssa call(const vec *v, const char *routine, ssa x) {
    return emit_value(v->e, "call %s @%s(%s %s) nounwind readnone noinline", v->real, routine, v->real, x.text);
}

/* The function for vectors that have a number outside the domain. It stands alone, so that the loop that calls it stays short. */
static void define_outside(const vec *v, const domain *d, const char *routine, const char *name) {
    emit *e = v->e;
    definition s;
    const ssa x = ssa_named("%%x0");
    if (!emit_define(e, &s, "define internal %s @%s(%s %%x0) nounwind readnone noinline cold", v->real, name, v->real))
        return;
    int some = emit_label_new(e), none = emit_label_new(e);
    const ssa nan = vec_constant(v, NAN);
    ssa ordinary = inside(v, d, x);
    emit_branch_if(e, vec_any_false(v, vec_not(v, ordinary)), some, none);
    emit_label(e, some);
    ssa y = call(v, routine, vec_select(v, ordinary, x, vec_constant(v, d->ours)));
    emit_line(e, "ret %s %s", v->real, vec_select(v, ordinary, y, nan).text);
    emit_label(e, none);
    emit_line(e, "ret %s %s", v->real, nan.text);
    emit_define_end(e, &s);
}

bool emit_in_domain(emit *e, const math_row *row, dtype wide, const char *routine, char *name, size_t size) {
    const domain *d = domain_of(row);
    char outside[48];
    definition s;
    if (!d || e->target->vector_bits < LEAST_BITS)
        return false;
    const vec v = vec_of(e, wide);
    const ssa x = ssa_named("%%x0");
    const char *type = wide == DT_FLOAT32 ? "f32" : "f64";
    snprintf(name, size, "v_%s_in_domain_%s", d->function, type);
    snprintf(outside, sizeof outside, "v_%s_outside_%s", d->function, type);
    emit_declare(e, "declare %s @%s(%s) nounwind readnone", v.real, routine, v.real);
    if (!emit_define(e, &s, "define internal %s @%s(%s %%x0) nounwind readnone alwaysinline", v.real, name, v.real))
        return true;
    int all = emit_label_new(e), others = emit_label_new(e);
    emit_branch_if(e, vec_any_false(&v, inside(&v, d, x)), others, all);
    emit_label(e, all);
    emit_line(e, "ret %s %s", v.real, call(&v, routine, x).text);
    emit_label(e, others);
    emit_line(e, "ret %s %s", v.real, call(&v, outside, x).text);
    emit_define_end(e, &s);
    define_outside(&v, d, routine, outside);
    return true;
}
