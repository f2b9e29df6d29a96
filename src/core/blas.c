/* blas.c - the forms of BLAS and LAPACK that a definition may name, and the layouts they have. */
#include "core/core.h"

typedef struct form_row {
    const char *name;
    library_form form; /* one of the two */
    const char *layouts[2];
} form_row;

/* clang-format off */
static const form_row forms[] = {
    {"gemm",  {.blas = BLAS_GEMM},   {"(m?,n),(n,p?)->(m?,p?)", "(m,n),(n,p)->(m,p)"}},
    {"gemv",  {.blas = BLAS_GEMV},   {"(m,n),(n)->(m)"}},
    {"gevm",  {.blas = BLAS_GEVM},   {"(n),(n,p)->(p)"}},
    {"gevmc", {.blas = BLAS_GEVMC},  {"(n),(n,p)->(p)"}},
    {"dot",   {.blas = BLAS_DOT},    {"(n),(n)->()"}},
    {"dotc",  {.blas = BLAS_DOTC},   {"(n),(n)->()"}},
    {"ger",   {.blas = BLAS_GER},    {"(m),(n)->(m,n)"}},
    {"solve", {.lapack = LAPACK_SOLVE},        {"(n,n),(n)->(n)"}},
    {"solve", {.lapack = LAPACK_SOLVE_MATRIX}, {"(n,n),(n,r)->(n,r)"}},
    {"inv",      {.lapack = LAPACK_INV},       {"(n,n)->(n,n)"}},
    {"det",      {.lapack = LAPACK_DET},       {"(n,n)->()"}},
    {"cholesky", {.lapack = LAPACK_CHOLESKY},  {"(n,n)->(n,n)"}},
    {"qr",       {.lapack = LAPACK_QR},        {"(m,n)->(m,min(m,n)),(min(m,n),n)"}},
    {"eigh",     {.lapack = LAPACK_EIGH},      {"(n,n)->(n),(n,n)"}},
    {"svd",      {.lapack = LAPACK_SVD},       {"(m,n)->(m,min(m,n)),(min(m,n)),(min(m,n),n)"}},
    {"lstsq",    {.lapack = LAPACK_LSTSQ},     {"(m,n),(m,r),()->(n,r),(r),(),(min(m,n))"}},
};
/* clang-format on */

static bool dims_alike(const layout_dim *a, const layout_dim *b) {
    return !a->frozen && !b->frozen && a->nsteps == b->nsteps && a->optional == b->optional;
}

/* Do computed sizes compute the same, if as[d] stands for dimension d of a? */
static bool sizes_alike(const core_layout *a, const core_layout *b, const int *as) {
    for (int d = 0; d < a->ndims; d++)
        for (int i = 0; i < a->dims[d].nsteps; i++) {
            const layout_step *p = &a->dims[d].steps[i], *q = &b->dims[as[d]].steps[i];
            if (p->op != q->op || (p->op == 'd' ? as[p->dim] != q->dim : p->value != q->value))
                return false;
        }
    return true;
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
    return sizes_alike(a, b, as);
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
        if (!i || strcmp(forms[i].name, forms[i - 1].name) != 0)
            text_printf(&names, "%s%s", i ? " " : "", forms[i].name);
    uf_status s = names.failed ? fail_memory()
                               : fail(UF_ERR_ARGUMENT, "%s: blas is \"%s\"; known are: %s", owner, name, names.data);
    text_free(&names);
    return s;
}

/* A name may have several rows, for several layouts. */
uf_status blas_read(const char *owner, const char *name, const core_layout *l, library_form *out) {
    const char *wanted = NULL;
    bool fits = false;
    *out = (library_form){0};
    if (!name)
        return UF_OK;
    for (size_t i = 0; i < COUNT(forms) && !fits; i++) {
        if (strcmp(forms[i].name, name) != 0)
            continue;
        if (l)
            TRY(form_fits(&forms[i], l, &fits));
        wanted = wanted ? wanted : forms[i].layouts[0];
        if (fits)
            *out = forms[i].form;
    }
    if (!wanted)
        return unknown_form(owner, name);
    if (!fits)
        return fail(UF_ERR_ARGUMENT, "%s: blas is \"%s\", which is for the layout %s", owner, name, wanted);
    return UF_OK;
}
