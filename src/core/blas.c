/* blas.c - the BLAS forms that a definition may name, and the layouts they have. */
#include "core/core.h"

typedef struct form_row {
    const char *name;
    blas_form form;
    const char *layouts[2];
} form_row;

/* clang-format off */
static const form_row forms[] = {
    {"gemm",  BLAS_GEMM,   {"(m?,n),(n,p?)->(m?,p?)", "(m,n),(n,p)->(m,p)"}},
    {"gemv",  BLAS_GEMV,   {"(m,n),(n)->(m)"}},
    {"gevm",  BLAS_GEVM,   {"(n),(n,p)->(p)"}},
    {"gevmc", BLAS_GEVMC,  {"(n),(n,p)->(p)"}},
    {"dot",   BLAS_DOT,    {"(n),(n)->()"}},
    {"dotc",  BLAS_DOTC,   {"(n),(n)->()"}},
    {"ger",   BLAS_GER,    {"(m),(n)->(m,n)"}},
};
/* clang-format on */

static bool dims_alike(const layout_dim *a, const layout_dim *b) {
    return !a->frozen && !b->frozen && !a->steps && !b->steps && a->optional == b->optional;
}

/* Are two layouts the same but for the names of their dimensions? as[d] becomes the dimension of b that stands for
 * dimension d of a. */
static bool layouts_alike(const core_layout *a, const core_layout *b) {
    int as[LAYOUT_MAX_DIMS];
    if (a->nin != b->nin || a->nout != b->nout || a->ndims != b->ndims)
        return false;
    for (int d = 0; d < a->ndims; d++)
        as[d] = -1;
    for (int k = 0; k < a->nin + a->nout; k++) {
        const layout_operand *p = &a->operands[k], *q = &b->operands[k];
        if (p->rank != q->rank)
            return false;
        for (int d = 0; d < p->rank; d++) {
            int *to = &as[p->dim[d]];
            if (p->stretch[d] || q->stretch[d] || (*to >= 0 && *to != q->dim[d]) ||
                !dims_alike(&a->dims[p->dim[d]], &b->dims[q->dim[d]]))
                return false;
            *to = q->dim[d];
        }
    }
    for (int d = 0; d < a->ndims; d++)
        for (int e = 0; e < d; e++)
            if (as[d] == as[e])
                return false;
    return true;
}

static uf_status form_fits(const form_row *row, const core_layout *l, bool *fits) {
    *fits = false;
    for (size_t i = 0; i < COUNT(row->layouts) && row->layouts[i] && !*fits; i++) {
        arena scratch = {0};
        core_layout own;
        uf_status s = layout_parse(&scratch, row->layouts[i], &own);
        *fits = !s && layouts_alike(l, &own);
        arena_free(&scratch);
        TRY(s);
    }
    return UF_OK;
}

static uf_status unknown_form(const char *owner, const char *name) {
    text names = {0};
    for (size_t i = 0; i < COUNT(forms); i++)
        text_printf(&names, "%s%s", i ? " " : "", forms[i].name);
    uf_status s = names.failed ? fail_memory()
                               : fail(UF_ERR_ARGUMENT, "%s: blas is \"%s\"; known are: %s", owner, name, names.data);
    text_free(&names);
    return s;
}

uf_status blas_read(const char *owner, const char *name, const core_layout *l, blas_form *out) {
    const form_row *row = NULL;
    *out = BLAS_NONE;
    if (!name)
        return UF_OK;
    for (size_t i = 0; i < COUNT(forms); i++)
        if (strcmp(forms[i].name, name) == 0)
            row = &forms[i];
    if (!row)
        return unknown_form(owner, name);
    bool fits = false;
    if (l)
        TRY(form_fits(row, l, &fits));
    if (!fits)
        return fail(UF_ERR_ARGUMENT, "%s: blas is \"%s\", which is for the layout %s", owner, name, row->layouts[0]);
    *out = row->form;
    return UF_OK;
}
