/* fold.h - what the files of uf_reduce, uf_accumulate and uf_reduceat share (fold.c). */
#ifndef UF_CORE_FOLD_H
#define UF_CORE_FOLD_H

#include "core/core.h"

/* What differs between the three verbs. */
typedef struct fold_form {
    unsigned flags; /* for nd_fold_plan */
    loop_class loop;
    bool segmented;
    /* Checks that there is a value to begin with, where one is needed. NULL: the first element always is one. */
    uf_status (*begins)(const uf_plan *p, const plan_request *r);
} fold_form;

uf_status fold_arguments_count(const plan_request *r, int *nin, int *nout);
uf_status fold_arguments(const plan_request *r, call_args *a, void **data);
uf_status fold_bind(const plan_request *r, call_args *a, const binding **out);
uf_status fold_lay(uf_plan *p, const plan_request *r, call_args *a, const fold_form *form, void *const *data);
uf_status fold_settle(uf_plan *p);
bool fold_self_overlap(const uf_plan *p, const plan_pass *s, int k);
void fold_bounds(const uf_plan *p, const plan_pass *s, int k, int64_t *lowest, int64_t *highest);
bool fold_fits(const uf_plan *p, void *const *data);
uf_status fold_respecialise(const uf_plan *p, void *const *data, variant *v);
nd_overlap fold_compare(const uf_plan *p, const plan_pass *s, int a, const char *data_a, int b, const char *data_b);
uf_status fold_check_initial(const plan_run *run);

/* Sets ranks, extents and dtypes of the results. r->how has ARGS_NO_OUTPUTS and ARGS_NO_DATA. */
uf_status fold_infer(const plan_request *r, const fold_form *form);
/* The bytes of scratch memory that the call takes. r->how has ARGS_NO_DATA; *bytes is 0 before. */
uf_status fold_scratch_size(const plan_request *r, size_t *bytes);
uf_status fold_bytes_check(size_t *bytes);

#endif
