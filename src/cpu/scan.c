/* scan.c - accumulations: which way a kernel goes through memory, and how lines are spread over threads. A long line that
 * any grouping will do for is cut into pieces of a fixed size, whether or not several threads take them, so that results do
 * not depend on threads: either one piece after the other hands on its state, or what each comes to is found first. */
#include "cpu/cpu.h"

enum {
    COLUMNS_MIN = 8,   /* lines side by side that are worth going together */
    PIECE_LINES = 128, /* columns: lines that a thread takes at least */
    PIECE = 1 << 16,   /* elements of a piece of a line */
    STATE = 16 * UF_MAX_STATE,
    SCAN_PARAMETERS = VARIANT_OPERANDS * 4 + 9
};

/* ---- Specialising ---- */

static int64_t stride_of(const nd_loop *loop, int k) { return loop->stride[k]; } /* along dimension 0 */

/* Bytes of the cache that a step along dimension 0 takes anew. */
static int64_t step_bytes(const variant *v, const nd_loop *loop) {
    int64_t bytes = 0;
    for (int k = 0; k < v->nin + v->nout; k++) {
        if (v->operand[k].kind == OPERAND_NUMBER)
            continue;
        int64_t stride = stride_of(loop, k), size = dtypes[v->operand[k].memory].size;
        bytes += stride > LINE_BYTES || stride < -LINE_BYTES           ? LINE_BYTES
                 : (stride < 0 ? -stride : stride) * size > LINE_BYTES ? LINE_BYTES
                                                                       : (stride < 0 ? -stride : stride) * size;
    }
    return bytes;
}

void cpu_scan_specialise(variant *v, const fold_problem *s) {
    const nd_loop *lines = &s->loops->kept, *along = &s->loops->reduced;
    v->ndim = v->reduction.reduced = 1;
    v->wide = 0;
    v->cpu_scan.divisible = s->traits->order != FOLD_SERIAL;
    v->reduction.columns = lines->extent[0] >= COLUMNS_MIN && step_bytes(v, lines) < step_bytes(v, along);
    for (int k = 0; k < variant_operands(v); k++) {
        variant_operand *o = &v->operand[k];
        int64_t stride = stride_of(v->reduction.columns ? lines : along, k);
        o->fixed = 0;
        if (o->kind < OPERAND_NUMBER)
            o->kind = (uint8_t)(stride == 1 ? OPERAND_CONTIGUOUS : stride ? OPERAND_STRIDED : OPERAND_CONSTANT);
    }
}

/* ---- Parameters ---- */

/* Some lines, and some elements of them. */
typedef struct scan_cursor {
    int64_t outer; /* index in the dimensions from 1 on, taken together */
    int64_t line, lines;
    int64_t first, elements;
    void *carry;
    bool resumes;
    int what; /* see CPU_SCAN_WHAT */
} scan_cursor;

/* How far operand k is from its first element, in elements. */
static int64_t offset_of(const launch *l, const scan_cursor *p, int k) {
    const nd_loop *loop = l->loop;
    int64_t at = p->line * stride_of(loop, k) + p->first * stride_of(l->reduced, k), outer = p->outer;
    for (int d = 1; d < loop->ndim; d++) {
        at += outer % loop->extent[d] * loop->stride[d * loop->narrays + k];
        outer /= loop->extent[d];
    }
    return at;
}

static void put_along(parameter_writer *w, parameter_id id, const nd_loop *loop) {
    for (int k = 0, n = variant_operands(w->v); k < n; k++)
        if (w->v->operand[k].kind != OPERAND_NUMBER)
            put_parameter(w, id, stride_of(loop, k));
}

static void run_place(const code *c, const launch *l, const scan_cursor *p) {
    const variant *v = l->v;
    uint64_t parameters[SCAN_PARAMETERS];
    parameter_writer w = parameters_write(parameters, v, NULL, false);
    for (int k = 0, n = variant_operands(v); k < n; k++) {
        const variant_operand *o = &v->operand[k];
        int64_t size = o->kind == OPERAND_POSITION ? 1 : dtypes[o->memory].size;
        bool array = o->kind != OPERAND_NUMBER;
        put_operand(&w, k, array ? (uintptr_t)l->data[k] + (uint64_t)(offset_of(l, p, k) * size) : 0, l->numbers);
    }
    put_parameter(&w, CPU_SCAN_LINES, p->lines);
    put_along(&w, CPU_SCAN_KEPT_STRIDES, l->loop);
    put_parameter(&w, CPU_SCAN_ELEMENTS, p->elements);
    put_parameter(&w, CPU_SCAN_FIRST, p->first);
    put_along(&w, CPU_SCAN_ALONG_STRIDES, l->reduced);
    put_address(&w, CPU_SCAN_CARRY, p->carry);
    put_parameter(&w, CPU_SCAN_RESUMES, p->resumes);
    put_parameter(&w, CPU_SCAN_WHAT, p->what);
    if (v->reports)
        put_address(&w, PARAMETER_REPORT, l->report);
    parameters_finish(&w);
    c->run(parameters);
}

/* ---- Lines ---- */

static int64_t length_of(const launch *l) { return l->reduced->extent[0]; }

/* One line, piece by piece. */
static void run_line(const code *c, const launch *l, scan_cursor p) {
    _Alignas(16) char state[STATE];
    int64_t m = length_of(l);
    p.lines = 1;
    p.carry = state;
    for (p.first = 0; p.first < m; p.first += p.elements) {
        p.elements = m - p.first < PIECE ? m - p.first : PIECE;
        p.resumes = p.first > 0;
        run_place(c, l, &p);
    }
}

/* Units are `piece` neighbouring lines, `pieces` of which make dimension 0. */
static void run_lines(const work *w, int64_t first, int64_t last) {
    const launch *l = w->l;
    int64_t n = l->loop->extent[0], m = length_of(l);
    while (first < last) {
        int64_t at = first % w->pieces, take = w->pieces - at < last - first ? w->pieces - at : last - first;
        int64_t line = at * w->piece, end = (at + take) * w->piece < n ? (at + take) * w->piece : n;
        scan_cursor p = {.outer = first / w->pieces, .line = line, .lines = end - line, .elements = m};
        if (m <= PIECE || l->v->reduction.columns || !l->v->cpu_scan.divisible)
            run_place(w->c, l, &p);
        else
            for (; p.line < end; p.line++)
                run_line(w->c, l, p);
        first += take;
    }
}

/* ---- Pieces of lines ---- */

/* What the pieces of lines come to; units are pieces. */
typedef struct pieces {
    char (*states)[STATE];
    int64_t a_line; /* of them */
} pieces;

static scan_cursor piece_of(const work *w, int64_t unit) {
    const pieces *of = w->user;
    const launch *l = w->l;
    int64_t line = unit / of->a_line, n = l->loop->extent[0], first = unit % of->a_line * PIECE, m = length_of(l);
    return (scan_cursor){.outer = line / n,
                         .line = line % n,
                         .lines = 1,
                         .first = first,
                         .elements = m - first < PIECE ? m - first : PIECE};
}

static void find_totals(const work *w, int64_t first, int64_t last) {
    for (; first < last; first++) {
        scan_cursor p = piece_of(w, first);
        p.what = 1;
        p.carry = ((const pieces *)w->user)->states[first];
        run_place(w->c, w->l, &p);
    }
}

/* Each piece but a line's first goes on from what those before it come to. */
static void run_pieces(const work *w, int64_t first, int64_t last) {
    const pieces *of = w->user;
    for (; first < last; first++) {
        _Alignas(16) char state[STATE];
        scan_cursor p = piece_of(w, first);
        p.resumes = p.first > 0;
        p.carry = state;
        if (p.resumes)
            memcpy(state, of->states[first - 1], sizeof state);
        run_place(w->c, w->l, &p);
    }
}

static void join_totals(const work *w) {
    const pieces *of = w->user;
    for (int64_t u = 0; u < w->units; u++) {
        if (u % of->a_line == 0)
            continue;
        scan_cursor p = piece_of(w, u);
        p.carry = of->states[u - 1];
        p.what = 2;
        run_place(w->c, w->l, &p);
    }
}

/* Few long lines over several threads; false if there is no memory for that. */
static bool cut_lines(const work *lines) {
    work w = *lines;
    pieces of = {.a_line = (length_of(w.l) + PIECE - 1) / PIECE};
    w.units = w.l->loop->count * of.a_line;
    w.unit_steps = PIECE;
    w.user = &of;
    w.share = 0.5; /* of two that go over all elements */
    of.states = mem_zero((size_t)w.units, sizeof *of.states);
    if (!of.states)
        return false;
    w.run = find_totals;
    work_run(&w);
    join_totals(&w);
    w.run = run_pieces;
    work_run(&w);
    mem_free(of.states);
    return true;
}

void cpu_scan_launch(code *c, const launch *l) {
    int64_t n = l->loop->extent[0], m = length_of(l);
    if (!m)
        return;
    work w = {.c = c, .l = l, .run = run_lines, .probe_min = 2, .grain = 1};
    w.piece = l->v->reduction.columns ? PIECE_LINES : 1;
    w.pieces = (n + w.piece - 1) / w.piece;
    w.units = l->loop->count / n * w.pieces;
    w.unit_steps = (double)m * (double)(w.piece < n ? w.piece : n);
    bool cuts =
        !l->v->reduction.columns && l->v->cpu_scan.divisible && m > 2 * (int64_t)PIECE && w.units < 2 * cpu_count();
    if (!cuts || !work_parallel(&w) || !cut_lines(&w))
        work_run(&w);
}
