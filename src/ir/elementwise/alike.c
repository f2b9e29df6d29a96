/* alike.c - CPU: records without gaps all of whose fields are computed alike, as in r.x = a.x + b.x, r.y = a.y + b.y. The arrays then are arrays
 * of the fields, several times as long, and the loop goes over these: whole vectors are read and written, and nothing is shuffled.
 * That fields are computed alike is seen from what a kernel without branches makes of its parameters, symbols of which equal ones are
 * one: if each parameter that is a first field is replaced by field f, the first field of a result must become its field f. */
#include "ir/common/nodes.h"
#include "ir/common/whole_line.h"
#include "ir/elementwise/elementwise.h"

enum {
    SYMBOLS_MOST = 200,
    CALLS_MOST = 16,   /* within each other */
    LOOKED_MOST = 2000 /* expressions, those of functions as often as these are called */
};

/* A value: an operator and what it is applied to, by number; or a parameter. */
typedef struct symbol {
    node_kind kind;
    int op, type, wide, local; /* local: of a parameter */
    bool exact;                /* see function.exact */
    const math_row *math;
    number value;
    int kid[3]; /* -1: none */
} symbol;

typedef struct symbols {
    const skeleton *s;
    int count, depth, looked;
    bool failed; /* something is not understood, or too large */
    symbol of[SYMBOLS_MOST];
} symbols;

/* ---- Symbols ---- */

static bool same_symbol(const symbol *a, const symbol *b) {
    return a->kind == b->kind && a->op == b->op && a->type == b->type && a->wide == b->wide && a->local == b->local &&
           a->exact == b->exact && a->math == b->math && numbers_same(&a->value, &b->value) &&
           !memcmp(a->kid, b->kid, sizeof a->kid);
}

static int give_up(symbols *x) {
    x->failed = true;
    return -1;
}

static int intern(symbols *x, const symbol *new) {
    for (int i = 0; i < x->count; i++)
        if (same_symbol(&x->of[i], new))
            return i;
    if (x->failed || x->count == SYMBOLS_MOST)
        return give_up(x);
    x->of[x->count] = *new;
    return x->count++;
}

/* ---- What a function makes of its arguments ---- */

/* A call that is followed: the symbols of its locals. */
typedef struct call {
    const function *f;
    int *local;
} call;

static int value_of(symbols *x, call *c, const node *n);
static void run(symbols *x, const function *f, const int *arguments, int *results);

static int zero_of(symbols *x, dtype t) {
    return intern(x, &(symbol){.kind = N_CONST, .type = t, .value = {.type = t}, .kid = {-1, -1, -1}});
}

/* Results of a call, at most as many as there are. */
static void call_results(symbols *x, call *c, const node *n, int *results) {
    const function *f = n->callee;
    int *arguments = arena_alloc(x->s->e->a, (size_t)(f->nparams + 1) * sizeof *arguments), count = 0;
    for (const node *a = n->args; a; a = a->next)
        arguments[count++] = value_of(x, c, a);
    if (!x->failed)
        run(x, f, arguments, results);
}

static int call_value(symbols *x, call *c, const node *n) {
    int result = -1;
    if (n->other || n->callee->nresults != 1)
        return give_up(x);
    call_results(x, c, n, &result);
    return result;
}

/* An operator, or a function of math.h, of the values of its parts. */
static int operation(symbols *x, call *c, const node *n) {
    symbol new = {.kind = (node_kind)n->kind,
                  .op = n->op,
                  .type = n->type,
                  .wide = n->wide,
                  .exact = c->f->exact,
                  .math = n->math,
                  .kid = {-1, -1, -1}};
    int count = 0;
    for (int k = 0; k < 3 && n->kid[k]; k++)
        new.kid[count++] = value_of(x, c, n->kid[k]);
    for (const node *a = n->args; a && count < 3; a = a->next)
        new.kid[count++] = value_of(x, c, a);
    return x->failed ? -1 : intern(x, &new);
}

static int value_of(symbols *x, call *c, const node *n) {
    if (x->failed || ++x->looked > LOOKED_MOST)
        return give_up(x);
    switch (n->kind) {
    case N_CONST:
        return intern(x, &(symbol){.kind = N_CONST, .type = n->type, .value = n->value, .kid = {-1, -1, -1}});
    case N_LOCAL:
        return c->f->locals[n->local].rank ? give_up(x) : c->local[n->local];
    case N_CONVERT:
    case N_UNARY:
    case N_BINARY:
    case N_AND:
    case N_OR:
    case N_SELECT:
    case N_COMPLEX:
    case N_REAL:
    case N_IMAG:
    case N_MATH:
        return operation(x, c, n);
    case N_CALL:
        return call_value(x, c, n);
    default:
        return give_up(x);
    }
}

static void assign_results(symbols *x, call *c, const node *n) {
    int *results = arena_alloc(x->s->e->a, (size_t)(n->callee->nresults + 1) * sizeof *results), i = 0;
    call_results(x, c, n, results);
    for (const node *to = n->other; to && !x->failed; to = to->next)
        c->local[to->local] = results[i++];
}

static void evaluate(symbols *x, call *c, const node *n) {
    if (n->kind == N_ASSIGN && n->kid[0]->kind == N_LOCAL)
        c->local[n->kid[0]->local] = value_of(x, c, n->kid[1]);
    else if (n->kind == N_CALL && n->other)
        assign_results(x, c, n);
    else
        give_up(x);
}

/* Statements that are all done, one after the other; a function may return behind the last of its own. */
static void follow(symbols *x, call *c, const node *list, bool last) {
    for (const node *n = list; n && !x->failed; n = n->next) {
        if (n->kind == N_EVAL)
            evaluate(x, c, n->kid[0]);
        else if (n->kind == N_DECLARE && !c->f->locals[n->local].rank)
            c->local[n->local] = n->kid[0] ? value_of(x, c, n->kid[0]) : zero_of(x, c->f->locals[n->local].type);
        else if (n->kind == N_BLOCK)
            follow(x, c, n->body, false);
        else if (n->kind != N_RETURN || n->next || !last)
            give_up(x);
    }
}

static void run(symbols *x, const function *f, const int *arguments, int *results) {
    call c = {f, arena_alloc(x->s->e->a, (size_t)(f->nlocals + 1) * sizeof *c.local)};
    if (!f->body || x->depth == CALLS_MOST) {
        give_up(x);
        return;
    }
    x->depth++;
    for (int k = 0; k < f->nlocals; k++)
        c.local[k] = k < f->nparams ? arguments[k] : f->locals[k].rank ? -1 : zero_of(x, f->locals[k].type);
    follow(x, &c, f->body, true);
    x->depth--;
    for (int k = 0; k < f->nresults; k++)
        results[k] = c.local[f->nparams + k];
}

/* ---- Fields ---- */

static int size_of(const variant_operand *o) { return dtypes[o->memory].size; }

/* Operand k's fellow in its group at field f; -1: there is none of its dtypes. */
static int fellow_of(const skeleton *s, int k, int f) {
    const variant_operand *o = &s->v->operand[k];
    for (int i = 0; i < s->v->nin + s->v->nout; i++) {
        const variant_operand *p = &s->v->operand[i];
        if (p->group == o->group && p->offset == f * size_of(o) && p->memory == o->memory && p->value == o->value &&
            skeleton_is_output(s, i) == skeleton_is_output(s, k))
            return i;
    }
    return -1;
}

/* Is operand k a number, or a field of records that are nothing but so many fields of its dtypes, all of which are operands, and are read as
 * numbers of one dtype alone? */
static bool is_even(const skeleton *s, int k, int fields) {
    const variant_operand *o = &s->v->operand[k];
    if (o->kind == OPERAND_NUMBER)
        return true;
    if (o->kind != OPERAND_INTERLEAVED || !o->group || o->record != fields * size_of(o) ||
        o->memory != s->v->operand[o->group - 1].memory)
        return false;
    for (int f = 0; f < fields; f++)
        if (fellow_of(s, k, f) < 0)
            return false;
    return true;
}

/* What symbol i is where all fields are replaced by fields f. */
static int image_of(symbols *x, int i, int f, int *known) {
    if (i < 0 || known[i] >= 0)
        return i < 0 ? i : known[i];
    symbol new = x->of[i];
    if (new.kind == N_LOCAL && x->s->v->operand[new.local].kind != OPERAND_NUMBER)
        new.local = fellow_of(x->s, new.local, f);
    for (int k = 0; k < 3 && !x->failed; k++)
        new.kid[k] = image_of(x, new.kid[k], f, known);
    return x->failed ? -1 : (known[i] = intern(x, &new));
}

/* Is field f of each result what field 0 is, of fields f? For f = 0 this says that field 0 is made of nothing but fields 0. */
static bool fields_agree(symbols *x, const int *results, int f) {
    const skeleton *s = x->s;
    int known[SYMBOLS_MOST];
    memset(known, -1, sizeof known);
    for (int k = s->nin; k < s->nin + s->v->nout; k++)
        if (!s->v->operand[k].offset &&
            image_of(x, results[k - s->nin], f, known) != results[fellow_of(s, k, f) - s->nin])
            return false;
    return !x->failed;
}

int alike_fields(skeleton *s) {
    int first = s->nin, fields = s->v->operand[first].record / size_of(&s->v->operand[first]);
    int arguments[UF_MAX_OPERANDS] = {0}, results[UF_MAX_OPERANDS] = {0};
    if (s->v->masked || s->v->reports || s->v->operand[first].kind != OPERAND_INTERLEAVED || s->t->layout)
        return 0;
    for (int k = 0; k < s->nin + s->v->nout; k++)
        if (!is_even(s, k, fields))
            return 0;
    symbols *x = arena_alloc(s->e->a, sizeof *x);
    x->s = s;
    for (int k = 0; k < s->nin; k++) {
        const variant_operand *o = &s->v->operand[k];
        int same = o->kind == OPERAND_NUMBER ? k : fellow_of(s, k, o->offset / size_of(o)); /* the first of one field */
        arguments[k] = intern(x, &(symbol){.kind = N_LOCAL, .local = same, .kid = {-1, -1, -1}});
    }
    run(x, s->t->kernel, arguments, results);
    for (int f = 0; f < fields && !x->failed; f++)
        if (!fields_agree(x, results, f))
            return 0;
    return x->failed ? 0 : fields;
}

/* ---- The loop ---- */

/* Computes n fields. given: so many hints about vectors; without any LLVM decides. */
static void row_of_fields(skeleton *s, ssa n, const ssa *row, const int *given, int ngiven) {
    emit *e = s->e;
    ssa in[VARIANT_OPERANDS] = {0}, results[UF_MAX_OPERANDS];
    counted_loop l = counted_loop_begin(e, "i64", ssa_constant(0), n);
    int group = e->access_group = emit_metadata(e, "distinct !{}");
    for (int k = 0; k < s->nin; k++) {
        int leader = s->v->operand[k].group - 1;
        if (leader == k)
            in[k] = emit_load(e, skeleton_memory(s, k), skeleton_address(s, k, row[k], l.i));
    }
    for (int k = 0; k < s->nin; k++)
        if (s->v->operand[k].group)
            in[k] = in[s->v->operand[k].group - 1];
    skeleton_compute(s, in, results);
    for (int k = s->nin; k < s->nin + s->v->nout; k++)
        if (s->v->operand[k].group == k + 1)
            emit_store(e, skeleton_memory(s, k), results[k - s->nin], skeleton_address(s, k, row[k], l.i));
    e->access_group = 0;
    int count = 1, hints[2 + WHOLE_LINE_HINTS] = {emit_metadata(e, "!{!\"llvm.loop.parallel_accesses\", !%d}", group)};
    for (int i = 0; i < ngiven; i++)
        hints[count++] = given[i];
    if (!ngiven && e->vector_lanes)
        hints[count++] = emit_metadata(e, "!{!\"llvm.loop.interleave.count\", i32 1}");
    counted_loop_end_hints(e, &l, ssa_constant(1), hints, count);
}

static ssa fields_of(skeleton *s, ssa n, int fields) { return emit_value(s->e, "mul i64 %s, %d", n.text, fields); }

/* The fields from number `first` on. */
static void row_from(skeleton *s, const ssa *row, ssa first, ssa *from) {
    for (int k = 0; k < s->nin + s->v->nout; k++)
        if (s->v->operand[k].group == k + 1)
            from[k] = skeleton_address(s, k, row[k], first);
}

void alike_row(skeleton *s, ssa n, int fields, const ssa *row) {
    ssa all = fields_of(s, n, fields), rest[VARIANT_OPERANDS] = {0};
    if (!cpu_reads_narrowly(s, fields)) {
        row_of_fields(s, all, row, NULL, 0);
        return;
    }
    narrow_loops by = cpu_narrow(s, all, size_of(&s->v->operand[s->nin]));
    row_of_fields(s, by.whole, row, by.hints[0], NARROW_HINTS);
    row_from(s, row, by.whole, rest);
    row_of_fields(s, by.rest, rest, by.hints[1], NARROW_HINTS);
}

void alike_by_lines(skeleton *s, ssa n, int fields, const ssa *array) {
    emit *e = s->e;
    ssa row[VARIANT_OPERANDS] = {0}, to[VARIANT_OPERANDS] = {0};
    int first = s->nin, end = first + s->v->nout, size = size_of(&s->v->operand[first]), elements = LINE_BYTES / size;
    int hints[WHOLE_LINE_HINTS];
    counted_loop l = counted_loop_begin(e, "i64", ssa_constant(0), fields_of(s, n, fields));
    row_from(s, s->base, l.i, row);
    for (int k = first; k < end; k++)
        if (s->v->operand[k].group == k + 1) {
            to[k] = row[k];
            row[k] = whole_line_elements(e, array[k], skeleton_memory(s, k));
        }
    whole_line_hints(e, size, hints);
    row_of_fields(s, ssa_constant(elements), row, hints, WHOLE_LINE_HINTS);
    for (int k = first; k < end; k++)
        if (s->v->operand[k].group == k + 1)
            whole_line_store(e, array[k], skeleton_memory(s, k), to[k]);
    counted_loop_end(e, &l, ssa_constant(elements), loop_no_unroll(e));
}
