/* layout.c - from a loop to a grid. Each class of loops is a row of the table: how many elements a thread takes, which is part of
 * the variant and so of the code, and at each launch the parameter block, the blocks and the threads. Nothing here knows a driver,
 * allocates or waits. */
#include "gpu/class.h"

/* ---- Classes ---- */

static const struct {
    void (*specialise)(variant *v, const loop_problem *s);
    int64_t (*layout)(const launch *l, const occupancy *r, parameter_writer *w, grid *g);
} classes[LOOP_CLASSES] = {
    [LOOP_FLAT] = {flat_specialise, flat_layout},
    [LOOP_ROWS] = {rows_specialise, rows_layout},
    [LOOP_GENERAL] = {general_specialise, general_layout},
    [LOOP_GUFUNC] = {gufunc_specialise, gufunc_layout},
    [LOOP_FOLD] = {NULL, fold_layout},
    [LOOP_SCAN] = {NULL, scan_layout},
    [LOOP_AT] = {at_specialise, at_layout},
    [LOOP_FORALL] = {forall_specialise, forall_layout},
};

void gpu_specialise(variant *v, const loop_problem *p) {
    v->ndim = (uint8_t)p->loop->ndim;
    v->wide = 0;
    classes[v->loop].specialise(v, p);
}

int64_t gpu_specialise_fold(variant *v, const fold_problem *s, int sms) {
    static int64_t (*const by_class[LOOP_CLASSES])(variant * v, const fold_problem *s, int sms) = {
        [LOOP_FOLD] = fold_specialise, [LOOP_SCAN] = scan_specialise};
    return by_class[v->loop](v, s, sms);
}

size_t gpu_fold_scratch(const launch *l) { return l->v->loop == LOOP_SCAN ? scan_scratch(l) : 0; }

static void put_operands(parameter_writer *w, const launch *l) {
    for (int k = 0; k < variant_operands(l->v); k++)
        put_operand(w, k, (uintptr_t)l->data[k], l->numbers);
}

/* What stands behind a class's own parameters. */
static void put_last(parameter_writer *w, const launch *l) {
    if (l->v->reports)
        put_address(w, PARAMETER_REPORT, l->report);
    if (l->layout)
        put_core(w, l->layout, l->core);
}

uf_status gpu_layout(const launch *l, const occupancy *r, uint64_t *parameters, grid *g) {
    parameter_writer w = parameters_write(parameters, l->v, l->layout, true);
    *g = (grid){.blocks = 0};
    put_operands(&w, l);
    int64_t blocks = classes[l->v->loop].layout(l, r, &w, g);
    put_last(&w, l);
    parameters_finish(&w);
    if (blocks > GRID_MAX)
        return fail(UF_ERR_ARGUMENT, "%lld elements take more than the %lld blocks of a CUDA grid",
                    (long long)l->loop->count, (long long)GRID_MAX);
    g->blocks = (uint32_t)blocks;
    g->parameters = (uint32_t)(w.next - parameters);
    return UF_OK;
}

/* The blocks of some classes are all to be resident, or loop over more work than there are blocks. */
int gpu_resident_block(const launch *l) {
    if (l->v->loop == LOOP_GUFUNC && l->v->gufunc.coop == COOP_GRID)
        return 1 << COOP_GRID_BLOCK;
    return l->v->loop == LOOP_FORALL && variant_privatised(l->v) ? forall_block(l) : 0;
}
