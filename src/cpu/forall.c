/* forall.c - kernels over indices on the CPU: the space is cut into rows of the last index, or pieces of them where there are few
 * rows, and the code takes any number of rows. */
#include "cpu/cpu.h"

enum {
    PIECE_GRAIN = 64,   /* pieces of rows are multiples of so many points */
    COUNTERS_PAY = 128, /* points for each counter of a run, at least: it clears them and takes them into the array */
    COUNTERS_MOST = 4,  /* operands: their counters are to stay in the cache */
    NONTEMPORAL_ROW = 8192, /* bytes of a row that is written past the caches, at least */
    NONTEMPORAL_MOST = 4,   /* operands: strips lie on the stack */
    FORALL_PARAMETERS = UF_MAX_OPERANDS * (2 + LAYOUT_MAX_RANK) + LAYOUT_MAX_DIMS + LAYOUT_MAX_RANK + 4 + 1
};

/* ---- Variants ---- */

/* Points of the space, or more than ever are. */
static double points_of(const core_layout *layout, const int64_t *core) {
    double n = 1;
    for (int d = 0; d < layout->nindices; d++)
        n *= (double)core[d];
    return n;
}

/* Operands that are counted in copies: few elements of them, for very many points. */
static void choose_counters(variant *v, const core_layout *layout, const int64_t *core, const code_traits *traits) {
    int count = 0;
    double points = points_of(layout, core);
    for (int k = 0; k < v->nin; k++) {
        variant_operand *o = &v->operand[k];
        o->privatised = 0;
        if (!(traits->use[k] & USE_COUNTER) ||
            !(dtype_is_integer((dtype)o->memory) || dtype_is_floating((dtype)o->memory)))
            continue;
        int64_t n = core_elements(layout, core, k);
        o->privatised = n && n <= COPY_BYTES / dtypes[o->memory].size && count < COUNTERS_MOST &&
                        points >= (double)n * 2 * COUNTERS_PAY;
        count += o->privatised;
    }
}

/* Operands whose rows are filled, where all arrays together are more than stays in the caches. */
static void choose_nontemporal(variant *v, const core_layout *layout, const int64_t *core, const code_traits *traits) {
    double bytes = 0;
    for (int k = 0; k < v->nin; k++) {
        v->operand[k].nontemporal = 0;
        if (layout->operands[k].rank)
            bytes += (double)core_elements(layout, core, k) * dtypes[v->operand[k].memory].size;
    }
    if (v->reports || !v->forall.noalias || v->ndim != layout->nindices || !nontemporal_pays(bytes))
        return;
    for (int k = 0, count = 0; k < v->nin && count < NONTEMPORAL_MOST; k++) {
        v->operand[k].nontemporal = (traits->use[k] & USE_FILLED) && v->operand[k].unit &&
                                    core[v->ndim - 1] * dtypes[v->operand[k].memory].size >= NONTEMPORAL_ROW;
        count += v->operand[k].nontemporal;
    }
}

void cpu_forall_specialise(variant *v, const loop_problem *p) {
    const core_layout *layout = p->layout;
    const int64_t *core = p->core;
    v->ndim = (uint8_t)layout->nindices;
    while (v->ndim > 1 && core[v->ndim - 1] == 1)
        v->ndim--;
    choose_counters(v, layout, core, p->traits);
    choose_nontemporal(v, layout, core, p->traits);
}

/* ---- Launches ---- */

/* The parameters of the code, and those that change from run to run. */
typedef struct forall_cursor {
    uint64_t parameters[FORALL_PARAMETERS];
    uint64_t *first, *last, *rows, *index;
} forall_cursor;

static void put_parameters(forall_cursor *p, const launch *l) {
    const variant *v = l->v;
    parameter_writer w = parameters_write(p->parameters, v, l->layout, false);
    for (int k = 0; k < v->nin; k++)
        put_operand(&w, k, (uintptr_t)l->data[k], l->numbers);
    p->first = put_parameter(&w, CPU_FORALL_FIRST, 0);
    p->last = put_parameter(&w, CPU_FORALL_LAST, 0);
    p->rows = put_parameter(&w, CPU_FORALL_ROWS, 0);
    p->index = w.next;
    for (int d = 0; d < v->ndim - 1; d++)
        put_parameter(&w, CPU_FORALL_INDEX, 0);
    if (variant_has_nontemporal(v))
        put_parameter(&w, CPU_FORALL_COPY, (int64_t)(uintptr_t)nontemporal_copy);
    if (v->reports)
        put_address(&w, PARAMETER_REPORT, l->report);
    put_core(&w, l->layout, l->core);
    parameters_finish(&w);
}

/* The extent of dimension d, the outermost is 0. */
static int64_t extent(const launch *l, int d) { return l->core[d]; }

static int64_t row_length(const launch *l) { return extent(l, l->v->ndim - 1); }

/* Points first .. last-1 of so many rows. */
static void run_rows(const work *w, forall_cursor *p, int64_t first, int64_t last, int64_t row, int64_t rows) {
    *p->first = (uint64_t)first;
    *p->last = (uint64_t)last;
    *p->rows = (uint64_t)rows;
    for (int d = w->l->v->ndim - 2; d >= 0; d--) {
        p->index[d] = (uint64_t)(row % extent(w->l, d));
        row /= extent(w->l, d);
    }
    w->c->run(p->parameters);
    if (variant_has_nontemporal(w->l->v))
        nontemporal_end();
}

/* Units of a space of many rows: so many rows each. */
static void run_units(const work *w, int64_t first, int64_t last) {
    forall_cursor p;
    int64_t n = row_length(w->l), rows = w->l->loop->count / n, each = w->parts;
    put_parameters(&p, w->l);
    int64_t end = last * each < rows ? last * each : rows;
    run_rows(w, &p, 0, n, first * each, end - first * each);
}

/* Units of a space of few: pieces of rows. Whole rows are taken together, and so are neighbouring pieces of one. */
static void run_pieces(const work *w, int64_t first, int64_t last) {
    forall_cursor p;
    int64_t n = row_length(w->l);
    put_parameters(&p, w->l);
    while (first < last) {
        int64_t row = first / w->pieces, at = first % w->pieces, left = last - first;
        if (!at && left >= w->pieces) {
            run_rows(w, &p, 0, n, row, left / w->pieces);
            first += left / w->pieces * w->pieces;
        } else {
            int64_t end = w->pieces - at < left ? w->pieces : at + left;
            run_rows(w, &p, at * w->piece, end * w->piece < n ? end * w->piece : n, row, 1);
            first += end - at;
        }
    }
}

/* Points that a run is to have, so that clearing its counters pays. */
static int64_t least_points(const launch *l) {
    int64_t counters = 0;
    for (int k = 0; k < l->v->nin; k++)
        if (l->v->operand[k].privatised)
            counters += core_elements(l->layout, l->core, k);
    return counters * COUNTERS_PAY;
}

static void cut(work *w) {
    int64_t n = row_length(w->l), rows = w->l->loop->count / n, least = least_points(w->l);
    if (n < least) {
        w->run = run_units;
        w->parts = (least + n - 1) / n;
        w->units = (rows + w->parts - 1) / w->parts;
        w->unit_steps = (double)(n * w->parts);
        return;
    }
    w->run = run_pieces;
    work_cut_rows(w, rows, n, least > PIECE_GRAIN ? least : PIECE_GRAIN);
    w->unit_steps = (double)w->piece;
}

/* A point may be a loop over any of the arrays: what it costs is looked up by the largest. */
static int size_of_arrays(const launch *l) {
    int64_t most = 1;
    for (int k = 0; k < l->v->nin; k++) {
        int64_t n = core_elements(l->layout, l->core, k);
        most = n > most ? n : most;
    }
    return cost_size((double)most);
}

static work work_of(code *c, const launch *l) {
    work w = {.c = c, .l = l, .probe_min = PROBE_MIN_CALLS, .grain = 1, .size = size_of_arrays(l)};
    cut(&w);
    return w;
}

void cpu_forall_launch(code *c, const launch *l) {
    work w = work_of(c, l);
    work_run(&w);
}

uf_status cpu_launch_info(const code *c, const launch *l, uf_launch *out) {
    work w = work_of((code *)(uintptr_t)c, l);
    int64_t threads = l->threads ? l->threads : cpu_count();
    out->threads = (int)(w.units < threads ? w.units : threads);
    return UF_OK;
}
