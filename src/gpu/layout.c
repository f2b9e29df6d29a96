/* layout.c - from a loop to a grid. Each class of loops is a row of the table: how many elements a thread takes, which is part of
 * the variant and so of the code, and at each launch the parameter block, the blocks and the threads. Nothing here knows a driver,
 * allocates or waits. */
#include "gpu/class.h"

/* ---- Classes ---- */

/* specialise or specialise_fold, by what the engine is asked for. NULL: no scratch memory; no number of resident blocks matters. streams: an
 * element is written once, where it belongs. */
static const struct {
    bool streams;
    void (*specialise)(variant *v, const loop_problem *p);
    int64_t (*specialise_fold)(variant *v, const fold_problem *p, int sms);
    int64_t (*layout)(const launch *l, const occupancy *r, parameter_writer *w, grid *g);
    size_t (*scratch)(const launch *l);
    int (*resident_block)(const launch *l);
    int (*resident_shared)(const launch *l, int shared);
} classes[LOOP_CLASSES] = {
    [LOOP_FLAT] = {.streams = true, .specialise = flat_specialise, .layout = flat_layout},
    [LOOP_ROWS] = {.streams = true, .specialise = rows_specialise, .layout = rows_layout},
    [LOOP_TILE] = {.streams = true, .specialise = tile_specialise, .layout = tile_layout},
    [LOOP_GENERAL] = {.streams = true, .specialise = general_specialise, .layout = general_layout},
    [LOOP_GUFUNC] = {.specialise = gufunc_specialise,
                     .layout = gufunc_layout,
                     .resident_block = gufunc_resident_block,
                     .resident_shared = gufunc_resident_shared},
    [LOOP_FOLD] = {.specialise_fold = fold_specialise, .layout = fold_layout, .scratch = fold_scratch},
    [LOOP_SCAN] = {.specialise_fold = scan_specialise, .layout = scan_layout, .scratch = scan_scratch},
    [LOOP_AT] = {.specialise = at_specialise, .layout = at_layout, .resident_block = at_resident_block},
    [LOOP_FORALL] = {.streams = true,
                     .specialise = forall_specialise,
                     .layout = forall_layout,
                     .resident_block = forall_resident_block},
};

void gpu_specialise(variant *v, const loop_problem *p) {
    v->ndim = (uint8_t)p->loop->ndim;
    v->wide = 0;
    classes[v->loop].specialise(v, p);
    if (classes[v->loop].streams)
        gpu_choose_streamed(v, p);
}

int64_t gpu_specialise_fold(variant *v, const fold_problem *p, int sms) {
    return classes[v->loop].specialise_fold(v, p, sms);
}

size_t gpu_scratch(const launch *l) { return classes[l->v->loop].scratch ? classes[l->v->loop].scratch(l) : 0; }

int gpu_resident_block(const launch *l) {
    return classes[l->v->loop].resident_block ? classes[l->v->loop].resident_block(l) : 0;
}

int gpu_resident_shared(const launch *l, int shared) {
    return classes[l->v->loop].resident_shared ? classes[l->v->loop].resident_shared(l, shared) : 0;
}

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
