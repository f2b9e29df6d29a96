/* layout.c - from a loop to a grid. Each class of loops is a row of the table: how many elements a thread takes, which is part of
 * the variant and so of the code, and at each launch the parameter block, the blocks and the threads. Nothing here knows a driver,
 * allocates or waits. */
#include "gpu/class.h"

/* ---- Parameter blocks ---- */

static int count_arrays(const variant *v, int *words) {
    int arrays = 0;
    *words = 0;
    for (int k = 0; k < variant_operands(v); k++) {
        arrays += v->operand[k].kind != OPERAND_NUMBER;
        *words += operand_words(&v->operand[k]);
    }
    return arrays;
}

static uint64_t *put_operands(uint64_t *w, const launch *l) {
    const variant *v = l->v;
    for (int k = 0; k < variant_operands(v); k++) {
        const variant_operand *o = &v->operand[k];
        if (o->kind != OPERAND_NUMBER) {
            *w++ = (uint64_t)(uintptr_t)l->data[k];
            continue;
        }
        *w++ = l->numbers[k][0];
        if (operand_words(o) == 2)
            *w++ = l->numbers[k][1];
    }
    return w;
}

/* ---- Classes ---- */

static const struct {
    void (*specialise)(variant *v, const problem *s);
    int (*words)(const variant *v, const core_layout *layout, int arrays); /* after the operands' */
    int64_t (*layout)(const launch *l, const occupancy *r, uint64_t *w, grid *g);
} classes[LOOP_CLASSES] = {
    [LOOP_FLAT] = {flat_specialise, flat_words, flat_layout},
    [LOOP_ROWS] = {rows_specialise, rows_words, rows_layout},
    [LOOP_GENERAL] = {general_specialise, general_words, general_layout},
    [LOOP_GUFUNC] = {gufunc_specialise, gufunc_words, gufunc_layout},
    [LOOP_FOLD] = {NULL, fold_words, fold_layout},
    [LOOP_SCAN] = {NULL, scan_words, scan_layout},
    [LOOP_AT] = {at_specialise, at_words, at_layout},
    [LOOP_FORALL] = {forall_specialise, forall_words, forall_layout},
};

void gpu_specialise(variant *v, const nd_loop *loop, const core_layout *layout, const int64_t *core,
                    const code_traits *traits) {
    v->ndim = (uint8_t)loop->ndim;
    v->wide = 0;
    classes[v->loop].specialise(v, &(problem){loop, layout, core, traits});
}

int64_t gpu_specialise_fold(variant *v, const fold_problem *s, int sms) {
    static int64_t (*const by_class[LOOP_CLASSES])(variant * v, const fold_problem *s, int sms) = {
        [LOOP_FOLD] = fold_specialise, [LOOP_SCAN] = scan_specialise};
    return by_class[v->loop](v, s, sms);
}

size_t gpu_fold_scratch(const launch *l) { return l->v->loop == LOOP_SCAN ? scan_scratch(l) : 0; }

/* Classes that know nothing of the elements of a report have its address in the last word. */
static bool reports_last(const variant *v) {
    return v->reports && (v->loop == LOOP_FOLD || v->loop == LOOP_SCAN || v->loop == LOOP_AT);
}

int gpu_words(const variant *v, const core_layout *layout) {
    int words, arrays = count_arrays(v, &words);
    return words + classes[v->loop].words(v, layout, arrays) + reports_last(v);
}

/* What is laid out behind the operands' words. */
uf_status gpu_layout_behind(const launch *l, const occupancy *r, uint64_t *words, uint64_t *w, grid *g) {
    *g = (grid){.words = (uint32_t)gpu_words(l->v, l->layout), .slots = (uint32_t)(w - words)};
    int64_t blocks = classes[l->v->loop].layout(l, r, w, g);
    if (blocks > GRID_MAX)
        return fail(UF_ERR_ARGUMENT, "%lld elements take more than the %lld blocks of a CUDA grid",
                    (long long)l->loop->count, (long long)GRID_MAX);
    g->blocks = (uint32_t)blocks;
    if (reports_last(l->v))
        words[g->words - 1] = (uintptr_t)l->report;
    return UF_OK;
}

uf_status gpu_layout(const launch *l, const occupancy *r, uint64_t *words, grid *g) {
    return gpu_layout_behind(l, r, words, put_operands(words, l), g);
}

/* The blocks of some classes are all to be resident, or loop over more work than there are blocks. */
int gpu_resident_block(const launch *l) {
    if (l->v->loop == LOOP_GUFUNC && l->v->coop == COOP_GRID)
        return 1 << COOP_GRID_BLOCK;
    return l->v->loop == LOOP_FORALL && variant_privatised(l->v) ? forall_block(l) : 0;
}
