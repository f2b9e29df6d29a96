/* gpu_scan.c - what the skeletons of accumulations on the GPU share, see gpu_scan.h. */
#include "ir/scan/gpu_scan.h"

#include <assert.h>

#include "ir/common/internal.h"
#include "ir/common/lanes.h"

/* ---- Parameters ---- */

/* Reads the parameters after the operands'; type/schema.h says what they are. */
static gpu_scan_kernel gpu_scan_begin(fold_writer *w) {
    skeleton *s = &w->s;
    const variant *v = s->v;
    gpu_scan_kernel g = {.w = w};
    for (int k = 0; k < w->nstate; k++)
        g.words += lanes_word_count(w->state[k]);
    g.lines = skeleton_parameter(s, GPU_SCAN_LINES);
    g.length = skeleton_parameter(s, GPU_SCAN_LENGTH);
    g.aligned = skeleton_parameter(s, GPU_SCAN_ALIGNED);
    g.tiles = skeleton_parameter(s, GPU_SCAN_TILES);
    g.order = skeleton_divisor(s, GPU_SCAN_ORDER);
    g.columns = skeleton_divisor(s, GPU_SCAN_COLUMNS);
    g.counter = skeleton_parameter(s, GPU_SCAN_COUNTER);
    for (int i = 0; i < SCAN_LEVELS; i++)
        g.level[i] = skeleton_parameter(s, GPU_SCAN_LEVEL);
    g.kept = arena_alloc(s->e->a, (size_t)v->ndim * sizeof *g.kept);
    for (int d = 0; d < v->ndim - 1; d++)
        g.kept[d] = skeleton_divisor(s, GPU_SCAN_KEPT);
    for (int k = 0; k < s->noperands; k++) {
        g.kept_stride[k] = arena_alloc(s->e->a, (size_t)v->ndim * sizeof **g.kept_stride);
        for (int d = 0; d < v->ndim && v->operand[k].kind != OPERAND_NUMBER; d++)
            g.kept_stride[k][d] = skeleton_parameter(s, GPU_SCAN_KEPT_STRIDES);
    }
    for (int k = 0; k < s->noperands; k++)
        if (v->operand[k].kind != OPERAND_NUMBER)
            g.along[k] = skeleton_parameter(s, GPU_SCAN_ALONG_STRIDES);
    return g;
}

static ssa divide(gpu_scan_kernel *g, const divisor *d, ssa x, ssa *rest) {
    emit *e = g->w->s.e;
    ssa quotient;
    if (g->w->s.v->wide) {
        skeleton_divide(&g->w->s, d, true, x, &quotient, rest);
        return quotient;
    }
    x = emit_value(e, "trunc i64 %s to i32", x.text);
    skeleton_divide(&g->w->s, d, false, x, &quotient, rest);
    *rest = emit_widen(e, *rest);
    return emit_widen(e, quotient);
}

void gpu_scan_line(gpu_scan_kernel *g, ssa line, int first) {
    skeleton *s = &g->w->s;
    emit *e = s->e;
    const variant *v = s->v;
    ssa *index = arena_alloc(e->a, (size_t)v->ndim * sizeof *index);
    for (int d = first; d < v->ndim - 1; d++)
        line = divide(g, &g->kept[d], line, &index[d]);
    index[v->ndim - 1] = line;
    for (int k = 0; k < s->noperands; k++) {
        if (v->operand[k].kind == OPERAND_NUMBER)
            continue;
        ssa at = ssa_constant(0);
        for (int d = first; d < v->ndim; d++) {
            ssa part = emit_op(e, "mul i64", index[d], g->kept_stride[k][d]);
            at = d > first ? emit_op(e, "add i64", at, part) : part;
        }
        g->at[k] = v->operand[k].kind == OPERAND_POSITION ? emit_op(e, "add i64", s->value[k], at)
                                                          : skeleton_address(s, k, s->base[k], at);
    }
}

ssa gpu_scan_position(gpu_scan_kernel *g, ssa index) {
    int k = variant_position(g->w->s.v);
    if (!g->w->s.v->position)
        return ssa_none();
    return emit_op(g->w->s.e, "add i64", g->at[k], emit_op(g->w->s.e, "mul i64", index, g->along[k]));
}

/* ---- Partials as words ---- */

static void partial_to_words(gpu_scan_kernel *g, const partial *x, ssa *words) {
    for (int k = 0, n = 0; k < g->w->nstate; k++)
        n += lanes_words(g->w->s.e, g->w->state[k], x->v[k], words + n);
}

static partial partial_of_words(gpu_scan_kernel *g, const ssa *words) {
    partial x = {.present = ssa_none()};
    for (int k = 0, n = 0; k < g->w->nstate; n += lanes_word_count(g->w->state[k++]))
        x.v[k] = lanes_value(g->w->s.e, g->w->state[k], words + n);
    return x;
}

/* ---- Shared memory ---- */

/* The address of a word of shared memory, an i32 pointer. */
static ssa scan_shared_word(gpu_scan_kernel *g, ssa index) {
    emit *e = g->w->s.e;
    if (emit_once(e, "@scan_shared"))
        text_printf(&e->declarations, "@scan_shared = internal addrspace(3) global [%d x i32] undef, align 16\n",
                    g->shared);
    return emit_value(e, "getelementptr [%d x i32], [%d x i32] addrspace(3)* @scan_shared, i64 0, i64 %s", g->shared,
                      g->shared, emit_widen(e, index).text);
}

static ssa shared_at(gpu_scan_kernel *g, ssa index, int word) {
    assert(g->shared > 0 && word < g->words); /* the skeleton has said how much it needs */
    emit *e = g->w->s.e;
    ssa at = emit_value(e, "mul i32 %s, %d", index.text, g->words);
    return scan_shared_word(g, emit_value(e, "add i32 %s, %d", at.text, word));
}

void scan_shared_put(gpu_scan_kernel *g, ssa index, const partial *x) {
    ssa words[PARTIAL_WORDS] = {0};
    partial_to_words(g, x, words);
    for (int i = 0; i < g->words; i++)
        emit_line(g->w->s.e, "store i32 %s, i32 addrspace(3)* %s, align 4", words[i].text, shared_at(g, index, i).text);
}

partial scan_shared_get(gpu_scan_kernel *g, ssa index) {
    ssa words[PARTIAL_WORDS] = {0};
    for (int i = 0; i < g->words; i++)
        words[i] = emit_value(g->w->s.e, "load i32, i32 addrspace(3)* %s, align 4", shared_at(g, index, i).text);
    return partial_of_words(g, words);
}

/* ---- Tickets and levels ---- */

ssa gpu_scan_ticket(gpu_scan_kernel *g, int slot) {
    skeleton *s = &g->w->s;
    emit *e = s->e;
    ssa block = emit_special_register(e, "ctaid"), variable = emit_value(e, "alloca i32");
    emit_line(e, "store i32 %s, i32* %s", block.text, variable.text);
    int many = skeleton_if(s, emit_value(e, "icmp ne i64 %s, 0", g->counter.text));
    ssa word = scan_shared_word(g, ssa_constant(slot));
    int first = skeleton_if(s, emit_value(e, "icmp eq i32 %s, 0", emit_special_register(e, "tid").text));
    ssa counter = emit_value(e, "inttoptr i64 %s to i32 addrspace(1)*", g->counter.text);
    ssa mine = emit_value(e, "atomicrmw add i32 addrspace(1)* %s, i32 1 monotonic", counter.text);
    emit_line(e, "store i32 %s, i32 addrspace(3)* %s, align 4", mine.text, word.text);
    skeleton_end_if(s, first);
    emit_block_barrier(g->w->s.e);
    ssa ticket = emit_value(e, "load i32, i32 addrspace(3)* %s, align 4", word.text);
    emit_line(e, "store i32 %s, i32* %s", ticket.text, variable.text);
    skeleton_end_if(s, many);
    return emit_value(e, "load i32, i32* %s", variable.text);
}

ssa scan_entry(gpu_scan_kernel *g, int level, ssa index) {
    emit *e = g->w->s.e;
    ssa at = emit_value(e, "mul i64 %s, %d", index.text, 8 * g->words);
    return emit_op(e, "add i64", at, g->level[level]);
}

static ssa entry_word(gpu_scan_kernel *g, ssa address, int word) {
    emit *e = g->w->s.e;
    ssa at = emit_value(e, "add i64 %s, %d", address.text, 8 * word);
    return emit_value(e, "inttoptr i64 %s to i64 addrspace(1)*", at.text);
}

void scan_publish(gpu_scan_kernel *g, ssa entry, const partial *x) {
    emit *e = g->w->s.e;
    ssa words[PARTIAL_WORDS] = {0};
    partial_to_words(g, x, words);
    for (int i = 0; i < g->words; i++) {
        ssa both = emit_value(e, "or i64 %s, 4294967296", emit_widen(e, words[i]).text);
        emit_line(e, "store volatile i64 %s, i64 addrspace(1)* %s, align 8", both.text, entry_word(g, entry, i).text);
    }
}

partial scan_await(gpu_scan_kernel *g, ssa entry) {
    emit *e = g->w->s.e;
    ssa words[PARTIAL_WORDS] = {0}, at[PARTIAL_WORDS] = {0}, all = ssa_none();
    int wait = emit_label_new(e), there = emit_label_new(e);
    for (int i = 0; i < g->words; i++)
        at[i] = entry_word(g, entry, i);
    emit_branch(e, wait);
    emit_label(e, wait);
    for (int i = 0; i < g->words; i++) {
        words[i] = emit_value(e, "load volatile i64, i64 addrspace(1)* %s, align 8", at[i].text);
        all = i ? emit_op(e, "and i64", all, words[i]) : words[i];
    }
    emit_branch_if(e, emit_value(e, "icmp ugt i64 %s, 4294967295", all.text), there, wait);
    emit_label(e, there);
    for (int i = 0; i < g->words; i++)
        words[i] = emit_value(e, "trunc i64 %s to i32", words[i].text);
    return partial_of_words(g, words);
}

ssa *scan_await_variables(gpu_scan_kernel *g, int n) {
    ssa *words = arena_alloc(g->w->s.e->a, (size_t)(n * g->words) * sizeof *words);
    for (int i = 0; i < n * g->words; i++)
        words[i] = emit_value(g->w->s.e, "alloca i64");
    return words;
}

void scan_await_some(gpu_scan_kernel *g, const ssa *words, const ssa *entries, const ssa *there, int n, partial *x) {
    skeleton *s = &g->w->s;
    emit *e = s->e;
    ssa all = ssa_none();
    int wait = emit_label_new(e), end = emit_label_new(e), count = n * g->words;
    for (int i = 0; i < count; i++)
        emit_line(e, "store i64 %s, i64* %s",
                  emit_value(e, "select i1 %s, i64 0, i64 4294967296", there[i / g->words].text).text, words[i].text);
    emit_branch(e, wait);
    emit_label(e, wait);
    for (int i = 0; i < count; i++) {
        ssa before = emit_value(e, "load i64, i64* %s", words[i].text);
        int missing = skeleton_if(s, emit_value(e, "icmp ult i64 %s, 4294967296", before.text));
        ssa at = entry_word(g, entries[i / g->words], i % g->words);
        ssa word = emit_value(e, "load volatile i64, i64 addrspace(1)* %s, align 8", at.text);
        emit_line(e, "store i64 %s, i64* %s", word.text, words[i].text);
        skeleton_end_if(s, missing);
    }
    for (int i = 0; i < count; i++) {
        ssa word = emit_value(e, "load i64, i64* %s", words[i].text);
        all = i ? emit_op(e, "and i64", all, word) : word;
    }
    emit_branch_if(e, emit_value(e, "icmp ugt i64 %s, 4294967295", all.text), end, wait);
    emit_label(e, end);
    for (int i = 0; i < n; i++) {
        ssa own[PARTIAL_WORDS] = {0};
        for (int k = 0; k < g->words; k++) {
            ssa word = emit_value(e, "load i64, i64* %s", words[i * g->words + k].text);
            own[k] = emit_value(e, "trunc i64 %s to i32", word.text);
        }
        x[i] = partial_of_words(g, own);
    }
}

void gpu_scan(fold_writer *w) {
    gpu_scan_kernel g = gpu_scan_begin(w);
    if (w->s.v->scan.length)
        gpu_scan_short(&g);
    else if (variant_interleaved_lines(w->s.v))
        gpu_scan_interleaved(&g);
    else if (w->s.v->scan.alone)
        gpu_scan_serial(&g);
    else if (w->s.v->reduction.columns)
        gpu_scan_columns(&g);
    else
        gpu_scan_rows(&g);
}
