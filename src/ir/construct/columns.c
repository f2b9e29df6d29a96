/* columns.c - CPU: foralls around sums, as in the product of two matrices, whose sizes are constants of the variant (gufunc.columns). One
 * range is cut into vectors, of which the last may be shorter; some rows, another range if there is one, are computed together, so that
 * each vector that is loaded serves all of them, and their sums stay in registers. The columns are the last range, or the one before it where
 * neighbours in memory go along that, as in the product of transposed matrices whose result is transposed, too. */
#include <assert.h>
#include <string.h>

#include "ir/common/nodes.h"
#include "ir/common/skeleton.h"
#include "ir/construct/construct.h"

enum {
    SUMS_512 = 24,           /* vector registers that hold sums, where there are 32; */
    SUMS = 12,               /* and where there are 16 */
    TERMS = 4,               /* of a sum, one after the other, between two jumps */
    MASKED_BITS = 512,       /* where vectors are so long, accesses may be masked */
    NEAREST_CACHE = 32 << 10 /* bytes */
};

/* ---- What fits: that is decided by the tree ---- */

/* NULL: there are not so many. */
static const node *range_with_behind(const node *ranges, int behind) {
    int count = 0;
    for (const node *r = ranges; r; r = r->next)
        count++;
    return count > behind ? range_at(ranges, count - 1 - behind) : NULL;
}

/* 1 + the core dimension that has the variable for an index, of an element that has no other index with it; 0: none has. */
static int dimension_with(const function *f, const node *element, int variable) {
    int rank = f->locals[element->local].rank, found = 0;
    for (int d = 0; d < rank; d++)
        if (element_index(element, rank, d)->local == variable)
            found = 1 + d;
    return found;
}

static bool is_constant_limit(const node *range) {
    return range->kid[0]->kind == N_SIZE || range->kid[0]->kind == N_CONST;
}

typedef struct column_survey {
    const function *f;
    dtype type;
    int column; /* the variable */
    uint8_t *column_of;
} column_survey;

/* An element of an operand whose indices are variables of ranges; the columns are at most one of them, and always the same. */
static bool element_fits(const column_survey *s, const node *n) {
    const local *l = &s->f->locals[n->local];
    int columns = 0;
    if (n->kind != N_ELEMENT || !l->core || !n->unchecked || l->rank < 1)
        return false;
    for (int d = 0; d < l->rank; d++) {
        const node *i = element_index(n, l->rank, d);
        if (i->kind != N_LOCAL)
            return false;
        columns += i->local == s->column;
    }
    int at = dimension_with(s->f, n, s->column), before = s->column_of[n->local];
    if (columns > 1 || (at && before && at != before))
        return false;
    s->column_of[n->local] = (uint8_t)(at ? at : before);
    return true;
}

static bool expression_fits(const column_survey *s, const node *n, bool in_sum) {
    if (n->type != s->type)
        return false;
    switch (n->kind) {
    case N_CONST:
        return true;
    case N_ELEMENT:
        return n->local < s->f->nparams && element_fits(s, n);
    case N_BINARY:
        return (n->op == OP_ADD || n->op == OP_SUB || n->op == OP_MUL) && expression_fits(s, n->kid[0], in_sum) &&
               expression_fits(s, n->kid[1], in_sum);
    case N_REDUCE:
        return !in_sum && !n->callee && n->op == OP_ADD && !n->args->next && is_constant_limit(n->args) &&
               expression_fits(s, n->kid[0], true);
    default:
        return false;
    }
}

static void count_reductions(const node *n, void *user) { *(int *)user += n->kind == N_REDUCE; }

static bool forall_fits(const function *f, const node *n, int behind, uint8_t *column_of) {
    const node *statement = n->body, *column = n->kind == N_FORALL ? range_with_behind(n->args, behind) : NULL;
    int reductions = 0;
    if (!column || !statement || statement->next || statement->kind != N_EVAL || statement->kid[0]->kind != N_ASSIGN)
        return false;
    for (const node *r = n->args; r; r = r->next)
        if (!is_constant_limit(r))
            return false;
    const node *to = statement->kid[0]->kid[0], *value = statement->kid[0]->kid[1];
    column_survey s = {.f = f, .type = (dtype)to->type, .column = column->local, .column_of = column_of};
    node_visit(value, count_reductions, &reductions);
    return reductions == 1 && (s.type == DT_FLOAT32 || s.type == DT_FLOAT64) && element_fits(&s, to) &&
           dimension_with(f, to, s.column) && expression_fits(&s, value, false);
}

bool columns_fit(const function *kernel, int behind, uint8_t column_of[UF_MAX_OPERANDS]) {
    bool all = kernel->body != NULL;
    memset(column_of, 0, UF_MAX_OPERANDS);
    for (const node *n = kernel->body; n && all; n = n->next)
        all = forall_fits(kernel, n, behind, column_of);
    return all;
}

/* ---- Values: of a row, for some neighbouring columns (a vector), or the same for all of them ---- */

typedef struct columns {
    body *b;
    dtype type;
    int64_t all, all_rows;       /* columns, and rows */
    int variable;                /* of the columns */
    uint8_t of[UF_MAX_OPERANDS]; /* columns_fit */
    const node *sum;             /* the one in the statement */
    int width;                   /* columns of a vector, but for the last one */
    int nvectors;                /* of a row */
    ssa *slot;                   /* sums, by row and vector */
    /* What is being written. */
    int row, now;
    int count;       /* columns of this vector, */
    int lanes;       /* and its lanes, of which the last ones are not used if it is masked */
    fragment vector; /* "<16 x float>" */
} columns;

/* The power of two that is not less. */
static int lanes_for(int count) {
    int lanes = 1;
    while (lanes < count)
        lanes *= 2;
    return lanes;
}

/* A vector of another length than a power of two LLVM puts together from such, where a processor with masks needs one access. Two pieces
 * of the longest vectors are as good as a mask. */
static bool is_masked(const columns *c) {
    int one = c->count & -c->count, two = c->count - one;
    bool pair = !(two & (two - 1));
    return c->b->e->target->vector_bits == MASKED_BITS && two && !(pair && lanes_for(c->count) == c->width);
}

static void take_vector(columns *c, int row, int i) {
    int64_t left = c->all - (int64_t)i * c->width;
    c->row = row;
    c->now = i;
    c->count = left < c->width ? (int)left : c->width;
    c->lanes = is_masked(c) ? lanes_for(c->count) : c->count;
    c->vector = fragment_of("<%d x %s>", c->lanes, ir_value_type(c->type));
}

static ssa slot_of(const columns *c) { return c->slot[c->row * c->nvectors + c->now]; }

typedef struct column_value {
    ssa value;
    bool is_vector;
} column_value;

static int64_t limit_of(const body *b, const node *range) {
    int64_t size = range->kid[0]->value.as.i;
    if (range->kid[0]->kind == N_SIZE)
        frame_size(b->e->frame, range->kid[0]->dim, &size);
    return size;
}

/* Elements from one index of dimension d of operand k to the next: a constant where the core has no gaps, or is a copy. */
static ssa stride_of(const columns *c, int k, int d) {
    const frame *f = c->b->e->frame;
    const variant_operand *o = &f->v->operand[k];
    if (!o->staged && !o->fixed)
        return ssa_named("%%s%d", f->layout->operands[k].strides + d);
    return ssa_constant(core_apart(f->v, f->layout, k, (o->staged ? c->of[k] : o->unit) - 1, d));
}

/* The address of an element, or of the first of its row's vector. */
static ssa place_of(const columns *c, const node *n) {
    body *b = c->b;
    int rank = b->f->locals[n->local].rank;
    ssa offset = ssa_constant(0);
    for (int d = rank - 1; d >= 0; d--) {
        int i = element_index(n, rank, d)->local;
        ssa step = i == c->variable ? ssa_constant((int64_t)c->now * c->width)
                                    : emit_op(b->e, "mul i64", b->bound[i], stride_of(c, n->local, d));
        offset = ssa_is(offset, 0) ? step : emit_op(b->e, "add i64", offset, step);
    }
    return emit_element(b->e, c->type, ssa_named("%%p%d", n->local), offset);
}

static ssa as_vector(const columns *c, ssa pointer) {
    return emit_value(c->b->e, "bitcast %s* %s to %s*", ir_memory_type(c->type), pointer.text, c->vector.text);
}

static ssa spread(const columns *c, column_value v) {
    emit *e = c->b->e;
    if (v.is_vector)
        return v.value;
    ssa one =
        emit_value(e, "insertelement %s undef, %s %s, i32 0", c->vector.text, ir_value_type(c->type), v.value.text);
    return emit_value(e, "shufflevector %s %s, %s undef, <%d x i32> zeroinitializer", c->vector.text, one.text,
                      c->vector.text, c->lanes);
}

/* ---- Vectors in memory ---- */

/* "v16f32" */
static fragment vector_name(const columns *c) { return fragment_of("v%df%d", c->lanes, 8 * dtypes[c->type].size); }

/* The lanes that are used: bit i is lane i, as such processors order them. */
static fragment mask_of(const columns *c) {
    return fragment_of("<%d x i1> bitcast (i%d %d to <%d x i1>)", c->lanes, c->lanes, (1 << c->count) - 1, c->lanes);
}

static ssa load_vector(const columns *c, ssa at) {
    emit *e = c->b->e;
    fragment name = vector_name(c);
    int align = dtypes[c->type].align;
    if (!is_masked(c))
        return emit_load_as(e, c->vector.text, at, align);
    emit_declare(e, "declare %s @llvm.masked.load.%s.p0%s(%s*, i32, <%d x i1>, %s)", c->vector.text, name.text,
                 name.text, c->vector.text, c->lanes, c->vector.text);
    return emit_value(e, "call %s @llvm.masked.load.%s.p0%s(%s* %s, i32 %d, %s, %s zeroinitializer)", c->vector.text,
                      name.text, name.text, c->vector.text, at.text, align, mask_of(c).text, c->vector.text);
}

static void store_vector(const columns *c, ssa value, ssa at) {
    emit *e = c->b->e;
    fragment name = vector_name(c);
    int align = dtypes[c->type].align;
    if (!is_masked(c)) {
        emit_store_as(e, c->vector.text, value, at, align);
        return;
    }
    emit_declare(e, "declare void @llvm.masked.store.%s.p0%s(%s, %s*, i32, <%d x i1>)", name.text, name.text,
                 c->vector.text, c->vector.text, c->lanes);
    emit_line(e, "call void @llvm.masked.store.%s.p0%s(%s %s, %s* %s, i32 %d, %s)", name.text, name.text,
              c->vector.text, value.text, c->vector.text, at.text, align, mask_of(c).text);
}

static column_value element_value(const columns *c, const node *n) {
    emit *e = c->b->e;
    ssa at = place_of(c, n);
    if (dimension_with(c->b->f, n, c->variable))
        return (column_value){load_vector(c, as_vector(c, at)), true};
    return (column_value){emit_load_as(e, ir_value_type(c->type), at, dtypes[c->type].align), false};
}

static column_value value_of(const columns *c, const node *n);

/* contract: a product whose sum with something is rounded once. */
static column_value binary_value(const columns *c, const node *n, const char *flags) {
    static const char *const names[OP_COUNT] = {[OP_ADD] = "fadd", [OP_SUB] = "fsub", [OP_MUL] = "fmul"};
    column_value x = value_of(c, n->kid[0]), y = value_of(c, n->kid[1]);
    bool is_vector = x.is_vector || y.is_vector;
    ssa left = is_vector ? spread(c, x) : x.value, right = is_vector ? spread(c, y) : y.value;
    return (column_value){emit_value(c->b->e, "%s%s %s %s, %s", names[n->op], flags,
                                     is_vector ? c->vector.text : ir_value_type(c->type), left.text, right.text),
                          is_vector};
}

static column_value value_of(const columns *c, const node *n) {
    emit *e = c->b->e;
    bool contract = (e->module->fast & UF_FAST_CONTRACT) && !e->exact;
    switch (n->kind) {
    case N_CONST:
        return (column_value){emit_constant(n->value, c->type), false};
    case N_ELEMENT:
        return element_value(c, n);
    case N_REDUCE:
        return (column_value){emit_value(e, "load %s, %s* %s", c->vector.text, c->vector.text, slot_of(c).text), true};
    default:
        return binary_value(c, n, contract ? " contract" : "");
    }
}

/* ---- Rows ---- */

/* The variable of the rows has this value. */
static void bind_row(columns *c, const node *range, ssa value) {
    if (range)
        c->b->bound[range->local] = value;
}

/* Calls write for each vector of the rows first .. first + rows - 1 of the range `row`; NULL: there is one row, which has no number. */
static void each_vector(columns *c, const node *row, ssa first, int rows,
                        void (*write)(columns *c, const node *statement), const node *statement) {
    int64_t constant;
    for (int r = 0; r < rows; r++) {
        bind_row(c, row,
                 ssa_is_constant(first, &constant) ? ssa_constant(constant + r)
                                                   : emit_value(c->b->e, "add i64 %s, %d", first.text, r));
        for (int i = 0; i < c->nvectors; i++) {
            take_vector(c, r, i);
            write(c, statement);
        }
    }
    bind_row(c, row, ssa_none());
}

static void clear_sum(columns *c, const node *statement) {
    (void)statement;
    emit_line(c->b->e, "store %s zeroinitializer, %s* %s", c->vector.text, c->vector.text, slot_of(c).text);
}

/* One more term of a row's sums; that of a product is rounded with the sum, as in all sums (construct.c). */
static void add_term(columns *c, const node *statement) {
    (void)statement;
    emit *e = c->b->e;
    const node *term = c->sum->kid[0];
    bool product = term->kind == N_BINARY && term->op == OP_MUL;
    ssa so_far = emit_value(e, "load %s, %s* %s", c->vector.text, c->vector.text, slot_of(c).text);
    ssa x = spread(c, product ? binary_value(c, term, " contract") : value_of(c, term));
    ssa sum =
        emit_value(e, "fadd reassoc%s %s %s, %s", product ? " contract" : "", c->vector.text, so_far.text, x.text);
    emit_line(e, "store %s %s, %s* %s", c->vector.text, sum.text, c->vector.text, slot_of(c).text);
}

static void store_row(columns *c, const node *statement) {
    const node *assign = statement->kid[0];
    ssa value = spread(c, value_of(c, assign->kid[1])), at = place_of(c, assign->kid[0]);
    store_vector(c, value, as_vector(c, at));
}

/* ---- The next call ---- */

/* Bytes of operand k's core; 0: it has none. */
static int64_t bytes_of(const columns *c, int k) {
    const body *b = c->b;
    const layout_operand *o = &b->e->frame->layout->operands[k];
    int64_t bytes = b->f->locals[k].core ? dtypes[b->f->locals[k].type].size : 0, size;
    for (int d = 0; d < o->rank; d++) {
        frame_size(b->e->frame, o->dim[d], &size);
        bytes *= size;
    }
    return bytes;
}

static int operands_of(const columns *c) { return c->b->f->nparams + c->b->f->nresults; }

/* Where a call's operands are more than the nearest cache holds, the processor loses sight of what will be read next, as its rows are
 * read again and again. */
static bool is_large(const columns *c) {
    int64_t bytes = 0;
    for (int k = 0; k < operands_of(c); k++)
        bytes += bytes_of(c, k);
    return bytes > NEAREST_CACHE;
}

/* Fetches a part of what lies behind each operand, which in most batches is the next call's: with each term of the sums of `rows` rows from
 * `first` on as much as makes the whole by the last one. */
static void fetch_ahead(const columns *c, ssa first, int rows, ssa term, int64_t terms) {
    emit *e = c->b->e;
    assert(terms > 0 && c->all_rows > 0);
    for (int k = 0; k < operands_of(c); k++) {
        int64_t bytes = bytes_of(c, k), row = bytes / c->all_rows, step = (row * rows + terms - 1) / terms;
        if (!bytes)
            continue;
        ssa done = emit_value(e, "mul i64 %s, %lld", first.text, (long long)row);
        ssa more = emit_value(e, "mul i64 %s, %lld", term.text, (long long)step);
        ssa ahead = emit_value(e, "add i64 %s, %lld", emit_op(e, "add i64", done, more).text, (long long)bytes);
        emit_prefetch(e, ir_memory_type(c->b->f->locals[k].type), ssa_named("%%p%d", k), ahead,
                      k < c->b->f->nparams ? PREFETCH_READ_L2 : PREFETCH_WRITE_L2);
    }
}

static void write_rows(columns *c, const node *statement, const node *row, ssa first, int rows) {
    body *b = c->b;
    const node *range = c->sum->args;
    int64_t terms = limit_of(b, range);
    each_vector(c, row, first, rows, clear_sum, statement);
    counted_loop l = counted_loop_begin(b->e, "i64", ssa_constant(0), ssa_constant(terms));
    b->bound[range->local] = l.i;
    if (terms > 0 && is_large(c))
        fetch_ahead(c, first, rows, l.i, terms);
    each_vector(c, row, first, rows, add_term, statement);
    counted_loop_end(b->e, &l, ssa_constant(1), emit_metadata(b->e, "!{!\"llvm.loop.unroll.count\", i32 %d}", TERMS));
    b->bound[range->local] = ssa_none();
    each_vector(c, row, first, rows, store_row, statement);
}

static void find_sum(const node *n, void *user) {
    const node **found = user;
    if (n->kind == N_REDUCE)
        *found = n;
}

/* How rows are cut, and how many are computed together. */
static int choose_vectors(columns *c) {
    int bits = c->b->e->target->vector_bits ? c->b->e->target->vector_bits : 128;
    c->width = bits / 8 / dtypes[c->type].size;
    c->nvectors = (int)((c->all + c->width - 1) / c->width);
    int rows = c->nvectors ? (bits == 512 ? SUMS_512 : SUMS) / c->nvectors : 0;
    return rows > 1 ? rows : 1;
}

/* All rows, of a range, or one if there is none: whole tiles, then what is left. */
static void write_tiles(columns *c, const node *statement, const node *range) {
    emit *e = c->b->e;
    int64_t all = range ? limit_of(c->b, range) : 1, rows = choose_vectors(c);
    rows = rows < all ? rows : all;
    if (rows < 1)
        return;
    c->all_rows = all;
    c->slot = arena_alloc(e->a, (size_t)rows * (size_t)(c->nvectors + 1) * sizeof *c->slot);
    for (int s = 0; s < rows * c->nvectors; s++) {
        take_vector(c, s / c->nvectors, s % c->nvectors);
        c->slot[s] = emit_slot(c->b, c->vector.text);
    }
    counted_loop l = counted_loop_begin(e, "i64", ssa_constant(0), ssa_constant(all / rows * rows));
    write_rows(c, statement, range, l.i, (int)rows);
    counted_loop_end(e, &l, ssa_constant(rows), 0);
    if (all % rows)
        write_rows(c, statement, range, ssa_constant(all / rows * rows), (int)(all % rows));
}

void columns_forall(body *b, const node *n) {
    emit *e = b->e;
    int behind = e->frame->v->gufunc.columns - 1, count = 0;
    for (const node *r = n->args; r; r = r->next)
        count++;
    counted_loop *loops = arena_alloc(e->a, (size_t)count * sizeof *loops);
    const node *columns_range = range_with_behind(n->args, behind), *rows = range_with_behind(n->args, !behind);
    assert(columns_range); /* columns_fit */
    columns c = {.b = b, .type = (dtype)n->body->kid[0]->kid[0]->type, .variable = columns_range->local};
    columns_fit(b->f, behind, c.of);
    c.all = limit_of(b, columns_range);
    node_visit(n->body->kid[0]->kid[1], find_sum, &c.sum);
    count = 0;
    b->depth++;
    for (const node *r = n->args; r; r = r->next) {
        if (r == columns_range || r == rows)
            continue;
        loops[count] = counted_loop_begin(e, "i64", ssa_constant(0), ssa_constant(limit_of(b, r)));
        b->bound[r->local] = loops[count++].i;
    }
    write_tiles(&c, n->body, rows);
    while (count--)
        counted_loop_end(e, &loops[count], ssa_constant(1), 0);
    for (const node *r = n->args; r; r = r->next)
        b->bound[r->local] = ssa_none();
    b->depth--;
}
