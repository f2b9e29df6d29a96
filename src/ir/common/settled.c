/* settled.c - which code for the GPU needs none of libNVVM's passes: what follows from the variant was measured, form by form
 * (docs/code-generation.md, "libNVVM"). */
#include "ir/common/settled.h"

#include <limits.h>
#include <stdio.h>

#include "ir/common/module_text.h"

enum {
    UNROLLED_ROW = 16, /* elements */
    EVEN_COOP = 8,     /* log2 of the threads of a column of which each has as many elements, .. */
    COLUMN_COOP = 7,   /* .. of another one, .. */
    WEIGHTED_COOP = 9, /* .. and of a pair of columns with weights */
    BLOCK_COOP = 4,    /* The same of a column of words that a small block has; and how many of its elements .. */
    WEIGHTED_FEWEST = 9,
    WEIGHTED_MOST = 16, /* .. a thread has, if there are weights */
    HALF_BYTES = 2,
    HALVES_LINES = 40, /* of a function that combines them: a maximum has 37 */
    WORD_BYTES = 4,
    PRODUCTS_MOST = 16
};

/* Has one of the functions of the module loops of its own? */
static bool loops_in(const emit *e, const char *name) {
    const ir_size *size = map_get(&e->sizes, name, strlen(name));
    return size && size->loops;
}

/* ---- Calls ---- */

/* Are there inputs that threads read beside the elements that they have in registers: weights of columns, or of rows that begin anywhere? */
static bool reads_beside(const variant *v) {
    bool any = false;
    for (int k = 0; k < v->nin; k++) {
        const variant_operand *o = &v->operand[k];
        any |= v->gufunc.across ? o->kind != OPERAND_NUMBER && !o->held : o->shifted;
    }
    return any;
}

/* Have elements of inputs so many bytes? */
static bool has_size(const variant *v, int least, int most) {
    bool has = true;
    for (int k = 0; k < v->nin; k++) {
        int size = dtypes[v->operand[k].memory].size;
        has &= v->operand[k].kind == OPERAND_NUMBER || (size >= least && size <= most);
    }
    return has;
}

static bool stages_any(const variant *v) {
    bool any = false;
    for (int k = 0; k < v->nin; k++)
        any |= v->operand[k].staged;
    return any;
}

/* Are all elements that are read through the whole loop in registers or in shared memory? */
static bool reads_staged(const variant *v) {
    bool all = true;
    for (int k = 0; k < v->nin; k++)
        all &= v->operand[k].kind == OPERAND_NUMBER || v->operand[k].staged || v->operand[k].held;
    return all;
}

/* Columns whose elements a thread has in registers: pairs of halves, with weights where they are packed; words that a cluster has, or a small
 * block, with weights as many of them as leave registers and keep threads busy; and others without weights of which every thread has as many
 * elements. Without libNVVM's passes others spill, and so do the tallest. */
static bool columns_settled(const emit *e, const variant *v) {
    if (!v->gufunc.held)
        return false;
    bool beside = reads_beside(v), words = has_size(v, WORD_BYTES, WORD_BYTES),
         even = v->gufunc.even == EVEN_ROUNDS && !beside && v->gufunc.coop <= EVEN_COOP,
         few = !beside || (v->gufunc.held >= WEIGHTED_FEWEST && v->gufunc.held <= WEIGHTED_MOST);
    if (v->gufunc.calls)
        return e->half_results && (!beside || (variant_packs_calls(v) && v->gufunc.coop <= WEIGHTED_COOP));
    return (even && has_size(v, WORD_BYTES, INT_MAX)) ||
           (words && (v->gufunc.cluster ? v->gufunc.coop <= COLUMN_COOP : few && v->gufunc.coop <= BLOCK_COOP));
}

/* Rows that threads have in registers, if they read nothing beside. Of those in shared memory: of words, what reads nothing else, or is shared by a
 * cluster, or reads the rest by vectors that begin where those of the row do; of halves, what blocks that meet through memory have, if it reads
 * nothing else, and whole vectors of others. */
static bool rows_settled(const emit *e, const variant *v) {
    if (!v->gufunc.pieces || (v->gufunc.held && !variant_holds_part(v)))
        return v->gufunc.held && e->written.loops <= 1 && !reads_beside(v);
    if (e->half_results)
        return variant_holds_part(v) ? reads_staged(v) : v->gufunc.even && v->gufunc.vector > 1;
    bool aligned = v->gufunc.vector > 1 && !variant_shifts(v) && (v->gufunc.even || v->gufunc.coop != COOP_GRID);
    return has_size(v, WORD_BYTES, WORD_BYTES) && (v->gufunc.cluster || reads_staged(v) || aligned);
}

/* Unrolled calls are straight code. Their cores come through shared memory, where addresses are constants but for one, or are a single row.
 * Of several rows a thread would load all elements first, where libNVVM's passes find an order that needs fewer registers. */
static bool unrolled_settled(const variant *v) {
    int arrays = 0;
    for (int k = 0; k < v->nin; k++)
        arrays += v->operand[k].kind != OPERAND_NUMBER;
    bool row = arrays == 1 && v->gufunc.size[0] >= UNROLLED_ROW && !v->gufunc.size[1];
    return stages_any(v) || (row && has_size(v, WORD_BYTES, WORD_BYTES));
}

/* Elimination is written so that nothing is left to do. */
static bool calls_settled(const emit *e, const variant *v) {
    return v->gufunc.form       ? true
           : v->gufunc.unrolled ? unrolled_settled(v)
           : v->gufunc.across   ? columns_settled(e, v)
                                : rows_settled(e, v);
}

/* ---- Elementwise loops ---- */

/* Of tiles of words, rows that do not begin at whole vectors were slower, and of bytes several outputs. */
static bool tiles_settled(const variant *v) {
    int widest = 1, narrowest = INT_MAX;
    for (int k = 0; k < variant_operands(v); k++) {
        int size = dtypes[v->operand[k].memory].size;
        widest = size > widest ? size : widest;
        narrowest = size < narrowest ? size : narrowest;
    }
    return (v->tile.halo || widest != WORD_BYTES) && (narrowest > 1 || v->nout == 1);
}

/* ---- Reductions ---- */

/* Are states combined by few instructions? */
static bool combines_simply(const emit *e) { return emit_is_short(e, "combine", SIMPLE_LINES) && !loops_in(e, "map"); }

/* Are they halves, combined by few instructions beside those that convert them? */
static bool combines_halves(const emit *e, const variant *v) {
    return emit_is_short(e, "combine", HALVES_LINES) && !loops_in(e, "map") && has_size(v, HALF_BYTES, HALF_BYTES);
}

/* Of words and wider elements, columns, and rows of which a group has one at a time, but for loops over them that leave a bool or a half: threads
 * wait for memory. Of halves those that are a single visit, and columns by whole accesses; fewer columns at once take a fifth longer. */
static bool simple_folds_settled(const variant *v, bool loops) {
    bool wide = true, words = has_size(v, WORD_BYTES, INT_MAX);
    for (int k = v->nin; k < v->nin + v->nout; k++)
        wide &= dtypes[v->operand[k].memory].size >= WORD_BYTES;
    bool one = v->fold.results <= 1 && (wide || !loops),
         columns = v->reduction.columns && (words || v->fold.vector * HALF_BYTES == ACCESS_BYTES);
    return has_size(v, HALF_BYTES, INT_MAX) && (columns || one);
}

/* Are they positions of bytes? Without libNVVM's passes they are faster by up to a quarter. */
static bool finds_bytes(const emit *e, const variant *v) {
    return v->position && !loops_in(e, "map") && has_size(v, 1, 1);
}

static bool folds_settled(const emit *e, const variant *v) {
    return v->reduction.from_states ||
           ((combines_simply(e) || combines_halves(e, v)) && simple_folds_settled(v, e->written.loops > 0)) ||
           finds_bytes(e, v);
}

/* ---- All ---- */

bool code_is_settled(const emit *e, const variant *v) {
    if (e->module->fast & UF_FAST_CONTRACT)
        return false;
    switch (v->loop) {
    case LOOP_GUFUNC:
        return calls_settled(e, v);
    case LOOP_FOLD:
        return folds_settled(e, v);
    case LOOP_SCAN:
        return !e->written.loops || combines_simply(e) || (!v->reduction.columns && combines_halves(e, v));
    case LOOP_FLAT:
        return !e->written.loops;
    case LOOP_ROWS:
    case LOOP_GENERAL:
        return !loops_in(e, "kernel");
    case LOOP_TILE:
        return tiles_settled(v) && !loops_in(e, "kernel");
    }
    return false;
}

/* ---- Products ---- */

/* "  %r2 = mul i64 %r1, 3": of how many products by constants, one of the other, with sums between them, that is the last one. 0: none. */
static int note_products(map *depths, const char *line, const char *end) {
    char copy[160], name[64], operation[8], of[64];
    long long by;
    size_t length = (size_t)(end - line);
    if (length >= sizeof copy || !text_begins(line, "  %") || !text_find(line, end, " i64 %"))
        return 0;
    memcpy(copy, line, length);
    copy[length] = 0;
    if (sscanf(copy, "  %63s = %7s i64 %63[^, ], %lld", name, operation, of, &by) != 4)
        return 0;
    bool product = strcmp(operation, "mul") == 0;
    if (!product && strcmp(operation, "add") != 0 && strcmp(operation, "sub") != 0)
        return 0;
    intptr_t depth = (intptr_t)map_get(depths, of, strlen(of)) + product;
    if (depth && !map_put(depths, name, strlen(name), (void *)depth))
        return PRODUCTS_MOST + 1;
    return (int)depth;
}

bool code_multiplies_often(const text *module) {
    map depths = {0};
    int all = 0, most = 0; /* of the functions before, and of this one */
    const char *end = module->data + module->length;
    for (const char *line = module->data; line < end; line = line_end(line) + 1) {
        if (text_begins(line, "define ")) {
            all += most;
            most = 0;
            map_free(&depths);
            depths = (map){0};
        }
        int depth = note_products(&depths, line, line_end(line));
        most = depth > most ? depth : most;
    }
    map_free(&depths);
    return all + most > PRODUCTS_MOST;
}
