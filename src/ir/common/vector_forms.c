/* vector_forms.c - which functions we have vector forms of; see vector_forms.h. */
#include "ir/common/vector_forms.h"

#include <stdio.h>

typedef struct vector_form {
    const char *function; /* in the table of math functions */
    const char *names[2]; /* of the module's functions, of float32 and float64 */
    void (*body)(const vec *v, const ssa *x);
} vector_form;

static const vector_form forms[] = {
    {"atan2", {"v_atan2_f32", "v_atan2_f64"}, vec_atan2}, {"exp", {"v_exp_f32", "v_exp_f64"}, vec_exp},
    {"log", {"v_log_f32", "v_log_f64"}, vec_log},         {"pow", {"v_pow_f32", "v_pow_f64"}, vec_pow},
    {"tanh", {"v_tanh_f32", "v_tanh_f64"}, vec_tanh},
};

static const vector_form *find(const emit *e, const math_row *row) {
    for (size_t i = 0; i < COUNT(forms) && !e->target->gpu && e->target->vector_bits == 512; i++)
        if (!strcmp(forms[i].function, row->name))
            return &forms[i];
    return NULL;
}

bool emit_has_vector_form(const emit *e, const math_row *row) { return find(e, row); }

const char *emit_vector_form(emit *e, const math_row *row, dtype wide) {
    const vector_form *form = find(e, row);
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
