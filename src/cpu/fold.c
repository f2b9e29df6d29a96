/* fold.c - reductions on the CPU: how the loops of a call become lanes, parts and units of work. A unit is a piece of a row
 * of results (along dimension 0 of the loop), or, where the elements of results are divided, one part of those. Which there
 * are follows from shapes alone; how units are spread over threads changes no result. */
#include "cpu/cpu.h"

enum {
    COLUMN_GRAIN = 64,     /* columns: into multiples of so many results */
    PART = 1 << 17,        /* elements of all results in a part, at least; */
    RESULTS_ENOUGH = 64,   /* for so many pieces of work there is no need to divide */
    FEW_APART = 8,         /* elements: LLVM makes shuffles for no more; */
    HALVES_APART = 4,      /* of halves, beyond which it is slower than what it does else */
    FEW_ELEMENTS = 16,     /* of a result: lanes rather take other results, */
    FEW_RESULTS = 16,      /* if there are so many; */
    SEARCHED_ELEMENTS = 3, /* but not if the position of an extremum among so many is looked for, */
    COPIED_ELEMENTS = 6,   /* or among so many that are copied first */
    WORD = 4,              /* bytes */
    COLUMNS_FEW = 8,       /* results side by side, .. */
    COLUMNS_FEW_WIDE = 4,  /* .. of more than a word, whose positions are looked for by themselves .. */
    COLUMNS_LONG = 6,      /* .. where they have so many times as many elements; */
    COLUMNS_LONG_2 = 64,   /* the elements from which on two, .. */
    COLUMNS_LONG_3 = 256,  /* .. and three, are computed so otherwise */
    MERGED_BYTES = 2048,   /* runs of elements of no more bytes are read together with those of other results, */
    MERGED_RUNS = 8,       /* if a result has so many */
    STEP_COST = 32,        /* 1024ths of a tick that an element takes at least, if it is looked at */
    FOLD_PARAMETERS = VARIANT_OPERANDS * (3 + UF_MAX_NDIM) + UF_MAX_NDIM + 5
};

/* ---- Variants ---- */

static int64_t stride_of(const nd_loop *loop, int d, int k) {
    return d < loop->ndim ? loop->stride[(size_t)d * (size_t)loop->narrays + (size_t)k] : 0;
}

static bool is_read(const variant *v, int k) {
    return (k < v->nin && v->operand[k].kind != OPERAND_NUMBER) || (v->masked && k == variant_mask(v));
}

/* Bytes from one lane's elements to the next's, which is what reading them costs if they are few; beyond a cache line it is all
 * the same. */
static int64_t distance(const variant *v, const nd_loop *lanes) {
    int64_t sum = 0;
    for (int k = 0, n = variant_operands(v); k < n; k++) {
        int64_t stride = stride_of(lanes, 0, k), size = dtypes[v->operand[k].memory].size;
        if (is_read(v, k))
            sum +=
                stride > LINE_BYTES || stride < -LINE_BYTES || stride * size > LINE_BYTES || stride * size < -LINE_BYTES
                    ? LINE_BYTES
                : stride < 0 ? -stride * size
                             : stride * size;
    }
    return sum;
}

/* Has each result along dimension 0 a segment of its own, of the same elements? */
static bool has_segments(const variant *v, const nd_loop *kept) {
    bool has = v->segmented && (!v->position || !stride_of(kept, 0, variant_position(v)));
    for (int k = 0, n = variant_operands(v); k < n && has; k++)
        has = !is_read(v, k) || !stride_of(kept, 0, k);
    for (int i = 0; i < 2 && has; i++)
        has = stride_of(kept, 0, variant_bounds(v) + i) == 1;
    return has;
}

static bool bounds_differ(const variant *v, const nd_loop *kept) {
    for (int i = 0; i < 2 * v->segmented; i++)
        if (stride_of(kept, 0, variant_bounds(v) + i))
            return true;
    return false;
}

/* Do the elements of a result follow each other in the order of their positions? */
static bool in_order(const variant *v, const nd_loop *reduced) {
    return v->position && reduced->ndim == 1 && stride_of(reduced, 0, variant_position(v)) == 1;
}

/* Are the elements of a result neighbours of which the position of an extremum is looked for, and enough for a search by vectors? */
static bool is_row_of_extremum(const variant *v, const fold_problem *s) {
    const nd_loop *reduced = &s->loops->reduced;
    dtype memory = (dtype)v->operand[0].memory;
    bool copied = dtype_is_half(memory) || v->operand[0].value != memory;
    return s->traits->extremum && in_order(v, reduced) && stride_of(reduced, 0, 0) == 1 && !v->masked &&
           reduced->count >= (copied ? COPIED_ELEMENTS : SEARCHED_ELEMENTS);
}

/* Do the elements of a result lie a few apart, so that vectors of them are shuffles of what is loaded whole? */
static bool lies_closely(const variant *v, const nd_loop *reduced) {
    bool all = reduced->ndim == 1;
    for (int k = 0, n = variant_operands(v); k < n; k++) {
        int64_t stride = stride_of(reduced, 0, k);
        all &= !is_read(v, k) || (stride > 0 && stride <= FEW_APART);
    }
    return all;
}

/* Are columns so few that most lanes of a vector of them would be empty, and so long that each goes faster as a row? Positions, which are found
 * beside each element, take longer then. */
static bool few_columns(const variant *v, const fold_problem *s) {
    int64_t columns = s->loops->kept.extent[0], n = s->loops->reduced.count;
    int most = dtypes[v->operand[0].memory].size > WORD ? COLUMNS_FEW_WIDE : COLUMNS_FEW;
    if (v->segmented || s->traits->order != FOLD_FREE || !lies_closely(v, &s->loops->reduced))
        return false;
    if (v->position)
        return columns <= most && n >= COLUMNS_LONG * columns;
    return (columns == 2 && n >= COLUMNS_LONG_2) || (columns == 3 && n >= COLUMNS_LONG_3);
}

static bool takes_columns(const variant *v, const fold_problem *s) {
    const nd_loop *kept = &s->loops->kept, *reduced = &s->loops->reduced;
    if (v->reduction.empty || bounds_differ(v, kept) || kept->extent[0] < 2)
        return false;
    if (is_row_of_extremum(v, s) || few_columns(v, s))
        return false;
    if (!v->segmented && reduced->count <= FEW_ELEMENTS && kept->extent[0] >= FEW_RESULTS)
        return true;
    return distance(v, kept) < distance(v, reduced);
}

/* Rows: elements a few apart are known to be, so that vectors of them are shuffles of what is loaded whole. */
static void fix_stride(variant_operand *o, int64_t stride) {
    int most = dtype_is_half((dtype)o->memory) ? HALVES_APART : FEW_APART;
    if (o->kind == OPERAND_STRIDED && stride > 1 && stride <= most) {
        o->kind = OPERAND_INTERLEAVED;
        o->record = (uint8_t)(stride * dtypes[o->memory].size);
    }
}

static void fill_kinds(variant *v, const nd_fold *loops) {
    const nd_loop *lanes = v->reduction.columns ? &loops->kept : &loops->reduced;
    for (int k = 0, n = variant_operands(v); k < n; k++) {
        variant_operand *o = &v->operand[k];
        bool position = v->position && k == variant_position(v);
        o->fixed = o->record = 0;
        o->unit = position && stride_of(&loops->reduced, 0, k) == 1;
        if (o->kind != OPERAND_NUMBER)
            o->kind = position ? OPERAND_POSITION : lanes->kind[k];
        if (!v->reduction.columns && is_read(v, k))
            fix_stride(o, stride_of(lanes, 0, k));
    }
    if (has_segments(v, &loops->kept))
        v->operand[variant_bounds(v)].unit = 1;
}

/* How many elements of each result a part has: whole steps of the outermost dimension. Where results are few, and the
 * elements of each many. */
static int64_t part_size(const variant *v, const fold_problem *s) {
    const nd_loop *kept = &s->loops->kept, *reduced = &s->loops->reduced;
    int64_t results = kept->count, pieces = v->reduction.columns ? results / COLUMN_GRAIN : results;
    int64_t outer = reduced->extent[reduced->ndim - 1], inner = outer ? reduced->count / outer : 0;
    if (s->whole || v->reduction.empty || v->segmented || s->traits->order == FOLD_SERIAL || pieces >= RESULTS_ENOUGH ||
        !inner)
        return 0;
    int64_t wanted = v->reduction.columns ? (PART + results - 1) / results : PART;
    int64_t steps = (wanted + inner - 1) / inner;
    return steps <= outer / 2 ? steps * inner : 0;
}

/* Are the runs of elements along the reduced dimension 0 short, and those of a result next to those of the next one? Then memory is read in
 * long pieces if lanes go over both dimensions: one result alone would take short ones that are far apart. */
static bool merges(const variant *v, const fold_problem *s) {
    const nd_loop *kept = &s->loops->kept, *reduced = &s->loops->reduced;
    bool free = s->traits->order == FOLD_FREE && s->traits->absorbing == ABSORBING_NONE;
    if (!free || v->reduction.columns || v->reduction.empty || v->segmented || v->position || reduced->ndim < 2 ||
        kept->extent[0] < 2 || reduced->count / reduced->extent[0] < MERGED_RUNS ||
        s->traits->state_bytes * reduced->extent[0] > MERGED_BYTES)
        return false;
    for (int k = 0, n = variant_operands(v); k < n; k++)
        if (is_read(v, k) && stride_of(kept, 0, k) != reduced->extent[0] * stride_of(reduced, 0, k))
            return false;
    return true;
}

/* May a result end before its last element, where the absorbing value has been found? Not where counts are a part of the state, nor where
 * what stops early would have been reported. */
static bool may_end(const variant *v, const fold_problem *s) {
    return !v->reduction.columns && !v->reduction.counted && !v->reports &&
           (absorbing_anywhere(s->traits->absorbing) || in_order(v, &s->loops->reduced));
}

/* How long the rows are that code is generated for: that for the others takes as long to compile, and most calls need one of both alone.
 * part: elements of a part; the last one may have fewer. Of states, for which nothing is computed beforehand, more may count as few. */
static row_lengths rows_of(const variant *v, const fold_problem *s, int64_t part) {
    const nd_loop *reduced = &s->loops->reduced;
    int64_t most = part ? part : reduced->count, last = most > 0 ? reduced->count % most : 0;
    if (reduced->ndim != 1 || s->traits->order != FOLD_FREE || v->reduction.columns || v->reduction.empty ||
        v->reduction.counted || v->segmented || v->position)
        return ROWS_ANY;
    if (most <= s->traits->short_rows)
        return ROWS_SHORT;
    return v->reduction.from_states || (last && last <= s->traits->short_rows) ? ROWS_ANY : ROWS_LONG;
}

int64_t cpu_fold_specialise(variant *v, const fold_problem *s) {
    v->ndim = 1;
    v->wide = v->position && s->loops->reduced.count > INT32_MAX;
    v->reduction.reduced = (uint8_t)s->loops->reduced.ndim;
    for (int k = 0, n = variant_operands(v); k < n; k++) {
        variant_operand *o = &v->operand[k];
        o->kind = s->loops->kept.kind[k] == OPERAND_NUMBER ? OPERAND_NUMBER : OPERAND_STRIDED;
        o->align = 0;
    }
    v->reduction.columns = takes_columns(v, s);
    v->cpu_fold.absorbing = may_end(v, s) ? (uint8_t)s->traits->absorbing : ABSORBING_NONE;
    v->cpu_fold.merged = merges(v, s);
    fill_kinds(v, s->loops);
    int64_t part = part_size(v, s);
    v->cpu_fold.rows = (uint8_t)rows_of(v, s, part);
    return part;
}

/* ---- Launches ---- */

/* The parameters of a kernel, and those that change from unit to unit. */
typedef struct fold_cursor {
    uint64_t parameters[FOLD_PARAMETERS];
    uint64_t *results, *first, *last;
    uint64_t *operand[VARIANT_OPERANDS];
} fold_cursor;

static void put_parameters(fold_cursor *p, const launch *l) {
    const variant *v = l->v;
    int n = variant_operands(v);
    parameter_writer w = parameters_write(p->parameters, v, NULL, false);
    for (int k = 0; k < n; k++)
        p->operand[k] = put_operand(&w, k, (uintptr_t)l->data[k], l->numbers);
    p->results = put_parameter(&w, CPU_FOLD_RESULTS, 0);
    for (int k = 0; k < n; k++)
        if (operand_has_strides(v, k))
            put_parameter(&w, CPU_FOLD_KEPT_STRIDES, stride_of(l->loop, 0, k));
    put_parameter(&w, CPU_FOLD_ELEMENTS, l->elements);
    p->first = put_parameter(&w, CPU_FOLD_FIRST, 0);
    p->last = put_parameter(&w, CPU_FOLD_LAST, 0);
    if (v->segmented)
        put_address(&w, CPU_FOLD_STOP, launch_bounds_stop(l));
    for (int d = 0; d < l->reduced->ndim - 1; d++)
        put_parameter(&w, CPU_FOLD_EXTENTS, l->reduced->extent[d]);
    for (int k = 0; k < n; k++)
        for (int d = 0; d < l->reduced->ndim && variant_moves(v, k); d++)
            put_parameter(&w, CPU_FOLD_REDUCED_STRIDES, stride_of(l->reduced, d, k));
    if (v->reports)
        put_address(&w, PARAMETER_REPORT, l->report);
    parameters_finish(&w);
}

static void move_to(fold_cursor *p, const launch *l, const int64_t *index, int64_t part) {
    const variant *v = l->v;
    for (int k = 0, n = variant_operands(v); k < n; k++) {
        const variant_operand *o = &v->operand[k];
        if (o->kind == OPERAND_NUMBER || variant_follows(v, k))
            continue;
        int64_t at = k >= v->nin && k < v->nin + v->nout ? part * l->chunk_stride : 0;
        for (int d = 0; d < l->loop->ndim; d++)
            at += index[d] * stride_of(l->loop, d, k);
        *p->operand[k] =
            (uintptr_t)l->data[k] + (uint64_t)(o->kind == OPERAND_POSITION ? at : at * dtypes[o->memory].size);
    }
}

/* Steps of the outermost dimension in a part. */
static int64_t part_steps(const launch *l) {
    int64_t outer = l->reduced->extent[l->reduced->ndim - 1];
    return l->chunk ? l->chunk / (l->reduced->count / outer) : outer;
}

static void move_to_piece(fold_cursor *p, const launch *l, int64_t row, int64_t first, int64_t part) {
    int64_t index[UF_MAX_NDIM] = {first};
    for (int d = 1; d < l->loop->ndim; d++) {
        index[d] = row % l->loop->extent[d];
        row /= l->loop->extent[d];
    }
    move_to(p, l, index, part);
}

/* n results from `first` on of a row, of each the part. */
static void run_piece(const work *w, fold_cursor *p, int64_t row, int64_t first, int64_t n, int64_t part) {
    const launch *l = w->l;
    int64_t steps = part_steps(l), outer = l->reduced->extent[l->reduced->ndim - 1];
    move_to_piece(p, l, row, first, part);
    *p->results = (uint64_t)n;
    *p->first = (uint64_t)(part * steps);
    *p->last = (uint64_t)(outer - part * steps < steps ? outer : (part + 1) * steps);
    w->c->run(p->parameters);
}

/* ---- Parts that need not be computed ---- */

/* The absorbing value of a dtype of integers or bools, in the low bytes. */
static uint64_t absorbing_bits(absorbing_value a, dtype t) {
    uint64_t most = t == DT_BOOL ? 1 : UINT64_MAX >> (64 - 8 * dtypes[t].size);
    bool least = a == ABSORBING_FALSE || a == ABSORBING_LEAST;
    if (dtypes[t].is_signed)
        return least ? most ^ most >> 1 : most >> 1;
    return least ? 0 : most;
}

/* The address of value k of the state of result i, of those that the part `behind` the current one leaves. */
static char *state_at(const fold_cursor *p, const launch *l, int k, int64_t i, int64_t behind) {
    int o = l->v->nin + k;
    int64_t at = i * stride_of(l->loop, 0, o) + behind * l->chunk_stride;
    return (char *)(uintptr_t)*p->operand[o] + at * dtypes[l->v->operand[o].memory].size;
}

/* The states of n results that a part leaves: do all of them have the absorbing value? */
static bool states_absorbed(const fold_cursor *p, const launch *l, int64_t n) {
    dtype t = (dtype)l->v->operand[l->v->nin].memory;
    uint64_t value = absorbing_bits((absorbing_value)l->v->cpu_fold.absorbing, t);
    bool all = true;
    for (int64_t i = 0; i < n && all; i++)
        all = memcmp(state_at(p, l, 0, i, 0), &value, dtypes[t].size) == 0;
    return all;
}

/* Makes a state of n results what it were if the first element of its part, at `position`, were the absorbing value. */
static void states_fill(const fold_cursor *p, const launch *l, int64_t n, int64_t behind, int64_t position) {
    const variant *v = l->v;
    dtype t = (dtype)v->operand[v->nin].memory;
    uint64_t value = absorbing_bits((absorbing_value)v->cpu_fold.absorbing, t);
    for (int64_t i = 0; i < n; i++) {
        memcpy(state_at(p, l, 0, i, behind), &value, dtypes[t].size);
        if (v->nout > 1) {
            int64_t at = position + i * stride_of(l->loop, 0, variant_position(v));
            memcpy(state_at(p, l, 1, i, behind), &at, sizeof at);
        }
    }
}

/* The states of parts that need not be computed: `begin` to `end` - 1 behind the current one. */
static void parts_fill(const fold_cursor *p, const launch *l, int64_t n, int64_t part, int64_t begin, int64_t end) {
    const variant *v = l->v;
    int64_t first = v->position ? (int64_t)*p->operand[variant_position(v)] : 0;
    int64_t each = v->position ? part_steps(l) * stride_of(l->reduced, 0, variant_position(v)) : 0;
    for (int64_t k = begin; k < end; k++)
        states_fill(p, l, n, k, first + (part + k) * each);
}

/* Says that the parts behind this one need not be computed; where the order does not matter, those before neither. */
static void absorbed_at(_Atomic int64_t *last, const variant *v, int64_t part) {
    int64_t at = absorbing_anywhere((absorbing_value)v->cpu_fold.absorbing) ? -1 : part;
    int64_t known = atomic_load_explicit(last, memory_order_relaxed);
    while (at < known &&
           !atomic_compare_exchange_weak_explicit(last, &known, at, memory_order_relaxed, memory_order_relaxed))
        ;
}

/* Need this part not be computed, because one that another thread has computed decides the results? */
static bool is_decided(const work *w, int64_t part) {
    _Atomic int64_t *shared = w->user;
    return shared && part > atomic_load_explicit(shared, memory_order_relaxed);
}

/* Are the states of the parts behind the one that decides the results not needed? Where there is one piece, and the order matters: else
 * nothing is known of the parts in front of that one. */
static bool leaves_states(const work *w) {
    return w->user && w->l->deciding && !absorbing_anywhere((absorbing_value)w->l->v->cpu_fold.absorbing);
}

/* The same as run_piece for the first of `count` parts, and for all of them if that leaves the absorbing value in all of its results, so
 * that those behind need not be computed. Where there is one piece, other threads see it by w->user: behind which part that is so.
 * Returns how many parts are done. */
static int64_t run_parts(const work *w, fold_cursor *p, int64_t row, int64_t first, int64_t n, int64_t part,
                         int64_t count) {
    const launch *l = w->l;
    bool decided = is_decided(w, part);
    if (!decided) {
        run_piece(w, p, row, first, n, part);
        if (!l->v->cpu_fold.absorbing || !states_absorbed(p, l, n))
            return 1;
        if (w->user)
            absorbed_at(w->user, l->v, part);
    }
    if (leaves_states(w))
        return count;
    if (decided)
        move_to_piece(p, l, row, first, part);
    parts_fill(p, l, n, part, !decided, count);
    return count;
}

/* Units first .. last-1: of the parts of the pieces of the rows, or of columns, which are read side by side, of the pieces of the parts.
 * Neighbouring pieces of a row, and of a part, are taken together. */
static void fold_run(const work *w, int64_t first, int64_t last) {
    fold_cursor *p = thread_scratch(THREAD_SCRATCH_BYTES - sizeof *p); /* the kernel takes the beginning of the room */
    int64_t n = w->l->loop->extent[0];
    bool columns = w->l->v->reduction.columns, parts = w->parts > 1 && !columns;
    put_parameters(p, w->l);
    while (first < last) {
        int64_t part = columns ? first / w->pieces % w->parts : first % w->parts;
        int64_t at = columns ? first % w->pieces : first / w->parts % w->pieces, row = first / w->parts / w->pieces;
        int64_t left = last - first, take = parts ? 1 : w->pieces - at < left ? w->pieces - at : left;
        int64_t begin = at * w->piece, end = n - begin < take * w->piece ? n : begin + take * w->piece;
        if (parts)
            take = run_parts(w, p, row, begin, end - begin, part, w->parts - part < left ? w->parts - part : left);
        else
            run_piece(w, p, row, begin, end - begin, part);
        first += take;
    }
}

void cpu_fold_launch(code *c, const launch *l) {
    int64_t n = l->loop->extent[0], rows = l->loop->count / n, grain = l->v->reduction.columns ? COLUMN_GRAIN : 1;
    int64_t each = l->reduced->count > 0 ? l->reduced->count : 1;
    work w = {.c = c, .l = l, .run = fold_run, .probe_min = PROBE_MIN_CALLS, .grain = 1};
    w.parts = l->chunk ? (l->reduced->count + l->chunk - 1) / l->chunk : 1;
    work_cut_rows(&w, rows, n, grain);
    w.units *= w.parts;
    w.unit_steps = (double)w.piece * (double)(l->chunk ? l->chunk : each);
    w.size = cost_size((double)each);
    _Atomic int64_t absorbed = INT64_MAX;
    w.cost_min = l->v->cpu_fold.absorbing ? STEP_COST : 0;
    w.user = l->v->cpu_fold.absorbing && w.units == w.parts ? &absorbed : NULL;
    work_run(&w);
    if (leaves_states(&w) && absorbed < w.parts)
        *l->deciding = absorbed + 1;
}
