/* vector_forms.c - which functions we have vector forms of; see vector_forms.h. */
#include "ir/common/vector_forms.h"

#include <stdio.h>

typedef struct vector_form {
    const char *function; /* in the table of math functions */
    int bits;             /* of the narrowest vectors that it is for */
    const char *names[2]; /* of the module's functions, of float32 and float64; NULL: it is not for that type */
    void (*body)(const vec *v, const ssa *x);
} vector_form;

/* Of two forms of a function the first one is for wider vectors. */
static const vector_form forms[] = {
    {"atan2", 512, {"v_atan2_f32", "v_atan2_f64"}, vec_atan2},
    {"cos", 256, {"v_cos_f32", NULL}, vec_cos},
    {"exp", 512, {"v_exp_f32", "v_exp_f64"}, vec_exp},
    {"exp", 256, {"v_exp_f32", "v_exp_f64"}, vec_exp_without_tables},
    {"exp2", 512, {"v_exp2_f32", "v_exp2_f64"}, vec_exp2},
    {"exp2", 256, {"v_exp2_f32", "v_exp2_f64"}, vec_exp2_without_tables},
    {"log", 512, {"v_log_f32", "v_log_f64"}, vec_log},
    {"log", 256, {"v_log_f32", NULL}, vec_log_without_tables},
    {"pow", 512, {"v_pow_f32", "v_pow_f64"}, vec_pow},
    {"sin", 256, {"v_sin_f32", NULL}, vec_sin},
    {"tanh", 512, {"v_tanh_f32", "v_tanh_f64"}, vec_tanh},
};

static const vector_form *find(const emit *e, const math_row *row, dtype wide) {
    for (size_t i = 0; i < COUNT(forms) && !e->target->gpu; i++)
        if (forms[i].bits <= e->target->vector_bits && forms[i].names[wide == DT_FLOAT64] &&
            !strcmp(forms[i].function, row->name))
            return &forms[i];
    return NULL;
}

bool emit_has_vector_form(const emit *e, const math_row *row, dtype wide) { return find(e, row, wide); }

const char *emit_vector_form(emit *e, const math_row *row, dtype wide) {
    const vector_form *form = find(e, row, wide);
    if (!form)
        return NULL;
    const char *name = form->names[wide == DT_FLOAT64];
    const ssa x[] = {ssa_named("%%x0"), ssa_named("%%x1")};
    char second[32] = "";
    definition s;
    vec v = vec_of(e, wide);
    if (row->arity > 1)
        snprintf(second, sizeof second, ", %s %%x1", v.real);
    if (emit_define(e, &s, "define internal %s @%s(%s %%x0%s) nounwind readnone alwaysinline", v.real, name, v.real,
                    second)) {
        form->body(&v, x);
        emit_define_end(e, &s);
    }
    return name;
}
