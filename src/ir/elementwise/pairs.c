/* pairs.c - CPU: arithmetic of complex numbers, in vectors in which the parts of a number are neighbours, as they are in memory. LLVM's vector
 * loops have all real parts in one vector and all imaginary parts in another, which takes twelve shuffles for four numbers read and written.
 * Where both parts of a value are made alike, as those of a sum, one operation makes both; of a product one sum does once the parts of an
 * operand are exchanged or doubled within their pairs, and a subtraction beside an addition is one instruction. What a kernel makes of
 * its parameters are symbols (symbols.h); a pair is two of them. */
#include <string.h>

#include "ir/common/nodes.h"
#include "ir/elementwise/elementwise.h"
#include "ir/elementwise/symbols.h"

#include "ir/common/internal.h"

enum {
    KNOWN_MOST = 200,  /* pairs */
    IMPOSSIBLE = 1000, /* operations */
    NO_SYMBOL = -1,
    NARROW_BITS = 256, /* of vectors, where these are read faster */
    AT_ONCE = 4        /* vectors */
};

/* The parts of a value, two symbols; or one that is complex, and NO_SYMBOL. */
typedef struct pair {
    int re, im, cost;
    ssa value; /* in the loop that is being written */
} pair;

typedef struct pairs {
    skeleton *s;
    symbols *x;
    dtype type, part;
    int parameters[UF_MAX_OPERANDS], results[UF_MAX_OPERANDS];
    int nknown;
    pair known[KNOWN_MOST];
    int count; /* pairs in a vector */
} pairs;

/* ---- Can it be done? ---- */

static const symbol *at(const pairs *p, int i) { return &p->x->of[i]; }

static bool is_sum(const symbol *a) { return a->kind == N_BINARY && (a->op == OP_ADD || a->op == OP_SUB); }
static bool is_part(const symbol *a) { return a->kind == N_REAL || a->kind == N_IMAG; }
static bool is_negation(const symbol *a) { return a->kind == N_UNARY && a->op == OP_NEG; }

static bool commutes(const symbol *a) { return a->op == OP_ADD || a->op == OP_MUL; }

/* A part of a number that is put together is what it was put together of. */
static int resolved(const pairs *p, int i) {
    while (is_part(at(p, i)) && at(p, at(p, i)->kid[0])->kind == N_COMPLEX)
        i = at(p, at(p, i)->kid[0])->kid[at(p, i)->kind == N_IMAG];
    return i;
}

static int cost_of(pairs *p, int re, int im);

static int cost_of_complex(pairs *p, const symbol *a) {
    if (a->type != (int)p->type)
        return IMPOSSIBLE;
    switch (a->kind) {
    case N_LOCAL:
    case N_CONST:
        return 0;
    case N_COMPLEX:
        return cost_of(p, a->kid[0], a->kid[1]);
    case N_UNARY:
        return is_negation(a) ? 1 + cost_of(p, a->kid[0], NO_SYMBOL) : IMPOSSIBLE;
    case N_BINARY:
        return is_sum(a) ? 1 + cost_of(p, a->kid[0], NO_SYMBOL) + cost_of(p, a->kid[1], NO_SYMBOL) : IMPOSSIBLE;
    default:
        return IMPOSSIBLE;
    }
}

/* The operands of two operators, which go together: of each part one, and the other ones. */
typedef struct couples {
    int re[2], im[2], cost;
} couples;

/* Operands of one that commutes may change places. */
static couples couples_of(pairs *p, const symbol *a, const symbol *b) {
    couples c = {{a->kid[0], a->kid[1]}, {b->kid[0], b->kid[1]}, 0};
    c.cost = cost_of(p, c.re[0], c.im[0]) + cost_of(p, c.re[1], c.im[1]);
    if (!commutes(a) && !commutes(b))
        return c;
    int other = cost_of(p, c.re[0], c.im[1]) + cost_of(p, c.re[1], c.im[0]);
    if (other >= c.cost)
        return c;
    int *moved = commutes(b) ? c.im : c.re, first = moved[0];
    moved[0] = moved[1];
    moved[1] = first;
    c.cost = other;
    return c;
}

static int cost_of_binary(pairs *p, const symbol *a, const symbol *b) {
    bool same = a->op == b->op, arithmetic = is_sum(a) || a->op == OP_MUL || a->op == OP_DIV;
    return arithmetic && (same || (is_sum(a) && is_sum(b))) ? couples_of(p, a, b).cost + (same ? 1 : 2) : IMPOSSIBLE;
}

static int cost_of_parts(pairs *p, const symbol *a, const symbol *b, int re, int im) {
    if (a->type != (int)p->part || b->type != (int)p->part)
        return IMPOSSIBLE;
    if (is_part(a) && is_part(b))
        return a->kid[0] == b->kid[0] ? cost_of(p, a->kid[0], NO_SYMBOL) + (a->kind == N_IMAG || b->kind == N_REAL)
                                      : IMPOSSIBLE;
    if (a->kind == N_CONST && b->kind == N_CONST)
        return 0;
    if (is_negation(a) || is_negation(b))
        return 1 + cost_of(p, is_negation(a) ? a->kid[0] : re, is_negation(b) ? b->kid[0] : im);
    return a->kind == N_BINARY && b->kind == N_BINARY ? cost_of_binary(p, a, b) : IMPOSSIBLE;
}

static pair *find(pairs *p, int re, int im) {
    for (int i = 0; i < p->nknown; i++)
        if (p->known[i].re == re && p->known[i].im == im)
            return &p->known[i];
    return NULL;
}

/* How many operations it takes; IMPOSSIBLE: the loop needs another form. What a pair is made of comes before it among those that are known. */
static int cost_of(pairs *p, int re, int im) {
    re = resolved(p, re);
    im = im == NO_SYMBOL ? im : resolved(p, im);
    const pair *known = find(p, re, im);
    if (known)
        return known->cost;
    if (p->nknown == KNOWN_MOST)
        return IMPOSSIBLE;
    int cost = im == NO_SYMBOL ? cost_of_complex(p, at(p, re)) : cost_of_parts(p, at(p, re), at(p, im), re, im);
    if (cost > IMPOSSIBLE)
        cost = IMPOSSIBLE;
    if (p->nknown == KNOWN_MOST)
        return IMPOSSIBLE;
    p->known[p->nknown++] = (pair){.re = re, .im = im, .cost = cost};
    return cost;
}

/* ---- Vectors ---- */

static fragment type_of(const pairs *p, int count) {
    return fragment_of("<%d x %s>", 2 * count, ir_value_type(p->part));
}

/* A lane of the result of a shuffle of two vectors: those of the second one have the numbers behind those of the first. */
typedef int lane_rule(int i, int lanes);

static int doubled_even(int i, int lanes) { return (void)lanes, i & ~1; }
static int doubled_odd(int i, int lanes) { return (void)lanes, i | 1; }
static int exchanged(int i, int lanes) { return (void)lanes, i ^ 1; }
static int odd_of_second(int i, int lanes) { return i & 1 ? lanes + i : i; }
static int even_of_second(int i, int lanes) { return i & 1 ? i : lanes + i; }
static int in_order(int i, int lanes) { return (void)lanes, i; }
static int first_pair(int i, int lanes) { return (void)lanes, i & 1; }

/* Of vectors of `from` pairs, `to` pairs, whose lanes are those of the rule, moved by so many. */
static ssa shuffle(const pairs *p, int from, ssa a, ssa b, int to, lane_rule *rule, int moved) {
    emit *e = p->s->e;
    text lanes = {0};
    fragment type = type_of(p, from);
    for (int i = 0; i < 2 * to; i++)
        text_printf(&lanes, "%si32 %d", i ? ", " : "", rule(i, 2 * from) + moved);
    e->failed |= lanes.failed;
    ssa r = emit_value(e, "shufflevector %s %s, %s %s, <%d x i32> <%s>", type.text, a.text, type.text, b.text, 2 * to,
                       lanes.failed ? "" : lanes.data);
    text_free(&lanes);
    return r;
}

static ssa within_pairs(const pairs *p, ssa a, lane_rule *rule) {
    return shuffle(p, p->count, a, a, p->count, rule, 0);
}

/* The same parts in all pairs. */
static ssa spread(const pairs *p, ssa re, ssa im) {
    const char *t = ir_value_type(p->part);
    fragment one = type_of(p, 1);
    ssa first = emit_value(p->s->e, "insertelement %s undef, %s %s, i32 0", one.text, t, re.text);
    ssa both = emit_value(p->s->e, "insertelement %s %s, %s %s, i32 1", one.text, first.text, t, im.text);
    return shuffle(p, 1, both, both, p->count, first_pair, 0);
}

/* Of two vectors, lanes that stay where they are. */
static ssa mixed(const pairs *p, ssa a, ssa b, lane_rule *rule) {
    return shuffle(p, p->count, a, b, p->count, rule, 0);
}

static ssa operation(const pairs *p, const char *name, ssa a, ssa b) {
    return emit_value(p->s->e, "%s %s %s, %s", name, type_of(p, p->count).text, a.text, b.text);
}

static ssa negated(const pairs *p, ssa a) {
    ssa minus = ssa_literal("-0.0");
    return operation(p, "fsub", spread(p, minus, minus), a);
}

static ssa arithmetic(const pairs *p, int o, ssa a, ssa b) {
    static const char *const names[OP_COUNT] = {
        [OP_ADD] = "fadd", [OP_SUB] = "fsub", [OP_MUL] = "fmul", [OP_DIV] = "fdiv"};
    return operation(p, names[o], a, b);
}

/* ---- Values ---- */

static ssa value_of(pairs *p, int re, int im);

static ssa constant_of(const pairs *p, double x) {
    return emit_constant((number){.type = DT_FLOAT64, .as.f = {x}}, p->part);
}

/* Not of a parameter, which is loaded. */
static ssa complex_of(pairs *p, const symbol *a) {
    switch (a->kind) {
    case N_CONST:
        return spread(p, constant_of(p, a->value.as.f[0]), constant_of(p, a->value.as.f[1]));
    case N_COMPLEX:
        return value_of(p, a->kid[0], a->kid[1]);
    case N_UNARY:
        return negated(p, value_of(p, a->kid[0], NO_SYMBOL));
    default: {
        ssa x = value_of(p, a->kid[0], NO_SYMBOL), y = value_of(p, a->kid[1], NO_SYMBOL);
        return arithmetic(p, a->op, x, y);
    }
    }
}

static ssa part_of(pairs *p, const symbol *a, const symbol *b) {
    ssa all = value_of(p, a->kid[0], NO_SYMBOL);
    if (a->kind == b->kind)
        return within_pairs(p, all, a->kind == N_REAL ? doubled_even : doubled_odd);
    return a->kind == N_REAL ? all : within_pairs(p, all, exchanged);
}

static ssa binary_of(pairs *p, const symbol *a, const symbol *b) {
    couples c = couples_of(p, a, b);
    ssa x = value_of(p, c.re[0], c.im[0]), y = value_of(p, c.re[1], c.im[1]), re = arithmetic(p, a->op, x, y);
    return a->op == b->op ? re : mixed(p, re, arithmetic(p, b->op, x, y), odd_of_second);
}

static ssa parts_of(pairs *p, const symbol *a, const symbol *b, int re, int im) {
    if (is_part(a) && is_part(b))
        return part_of(p, a, b);
    if (a->kind == N_CONST && b->kind == N_CONST)
        return spread(p, emit_constant(a->value, p->part), emit_constant(b->value, p->part));
    if (!is_negation(a) && !is_negation(b))
        return binary_of(p, a, b);
    ssa all = value_of(p, is_negation(a) ? a->kid[0] : re, is_negation(b) ? b->kid[0] : im), minus = negated(p, all);
    if (is_negation(a) && is_negation(b))
        return minus;
    return mixed(p, all, minus, is_negation(b) ? odd_of_second : even_of_second);
}

static ssa value_of(pairs *p, int re, int im) {
    re = resolved(p, re);
    im = im == NO_SYMBOL ? im : resolved(p, im);
    pair *known = find(p, re, im);
    if (!ssa_is_set(known->value))
        known->value = im == NO_SYMBOL ? complex_of(p, at(p, re)) : parts_of(p, at(p, re), at(p, im), re, im);
    return known->value;
}

/* ---- Which calls ---- */

/* An array of numbers of the kernel's type, or one number for all elements. */
static bool is_plain(const skeleton *s, int k, dtype type) {
    const variant_operand *o = &s->v->operand[k];
    bool array = o->kind == OPERAND_CONTIGUOUS || o->kind == OPERAND_STRIDED;
    return o->memory == type && o->value == type && !o->group &&
           (array || (!skeleton_is_output(s, k) && (o->kind == OPERAND_CONSTANT || o->kind == OPERAND_NUMBER)));
}

static bool may_pair(const skeleton *s) {
    dtype type = skeleton_memory(s, s->nin);
    if (s->v->masked || s->v->reports || s->v->loop == LOOP_AT || s->t->layout || s->e->module->fast ||
        !dtype_is_complex(type))
        return false;
    for (int k = 0; k < s->nin + s->v->nout; k++)
        if (!is_plain(s, k, type))
            return false;
    return true;
}

static pairs *pairs_of(skeleton *s) {
    if (!may_pair(s))
        return NULL;
    pairs *p = arena_alloc(s->e->a, sizeof *p);
    *p = (pairs){.s = s, .x = symbols_new(s->e->a), .type = skeleton_memory(s, s->nin)};
    p->part = (dtype)dtypes[p->type].component;
    for (int k = 0; k < s->nin; k++)
        p->parameters[k] = symbol_of_parameter(p->x, k, p->type);
    if (!symbols_of_results(p->x, s->t->kernel, p->parameters, p->results))
        return NULL;
    for (int r = 0; r < s->v->nout; r++)
        if (cost_of(p, p->results[r], NO_SYMBOL) >= IMPOSSIBLE)
            return NULL;
    return p;
}

/* ---- The loop ---- */

static ssa address(const pairs *p, int k, ssa row, ssa i, int nth, const ssa *stride) {
    ssa index = nth ? emit_value(p->s->e, "add i64 %s, %d", i.text, nth) : i;
    return cpu_element(p->s, k, row, index, stride);
}

static ssa load_some(pairs *p, int k, ssa row, ssa i, int from, int count, const ssa *stride) {
    emit *e = p->s->e;
    fragment type = type_of(p, count);
    if (count > 1 && p->s->v->operand[k].kind == OPERAND_STRIDED) {
        ssa low = load_some(p, k, row, i, from, count / 2, stride);
        return shuffle(p, count / 2, low, load_some(p, k, row, i, from + count / 2, count / 2, stride), count, in_order,
                       0);
    }
    ssa pointer = emit_pointer_as(e, ir_memory_type(p->type), address(p, k, row, i, from, stride), type.text);
    return emit_load_as(e, type.text, pointer, dtypes[p->type].align);
}

static void store_some(pairs *p, int k, ssa value, ssa row, ssa i, const ssa *stride) {
    emit *e = p->s->e;
    int each = p->s->v->operand[k].kind == OPERAND_STRIDED ? 1 : p->count;
    fragment type = type_of(p, each);
    for (int first = 0; first < p->count; first += each) {
        ssa some = each == p->count ? value : shuffle(p, p->count, value, value, each, in_order, 2 * first);
        ssa pointer = emit_pointer_as(e, ir_memory_type(p->type), address(p, k, row, i, first, stride), type.text);
        emit_store_as(e, type.text, some, pointer, dtypes[p->type].align);
    }
}

static void set_input(pairs *p, int k, ssa value) {
    pair *known = find(p, p->parameters[k], NO_SYMBOL);
    if (known)
        known->value = value;
}

/* Vectors of so many pairs: nothing is known of them but the inputs that are the same for all. */
static void vectors_begin(pairs *p, int count) {
    skeleton *s = p->s;
    p->count = count;
    for (int i = 0; i < p->nknown; i++)
        p->known[i].value = ssa_none();
    for (int k = 0; k < s->nin; k++)
        if (!skeleton_moves(s, k))
            set_input(p, k,
                      spread(p, emit_part(s->e, p->type, s->value[k], 0), emit_part(s->e, p->type, s->value[k], 1)));
}

/* The elements of a vector from number i on. */
static void vector_of(pairs *p, ssa i, const ssa *row, const ssa *stride) {
    skeleton *s = p->s;
    ssa results[UF_MAX_OPERANDS];
    for (int k = 0; k < s->nin; k++)
        if (skeleton_moves(s, k))
            set_input(p, k, load_some(p, k, row[k], i, 0, p->count, stride));
    for (int r = 0; r < s->v->nout; r++)
        results[r] = value_of(p, p->results[r], NO_SYMBOL);
    for (int r = 0; r < s->v->nout; r++)
        store_some(p, s->nin + r, results[r], row[s->nin + r], i, stride);
}

/* Elements from `first` on, below n, so many at a time. */
static void loop_of(pairs *p, int count, ssa first, ssa n, const ssa *row, const ssa *stride) {
    emit *e = p->s->e;
    vectors_begin(p, count);
    counted_loop l = counted_loop_begin(e, "i64", first, n);
    vector_of(p, l.i, row, stride);
    int hint = count > 1 || ssa_is(first, 0) ? emit_metadata(e, "!{!\"llvm.loop.unroll.count\", i32 %d}", AT_ONCE)
                                             : loop_no_unroll(e);
    counted_loop_end_hints(e, &l, ssa_constant(count), &hint, 1);
}

bool pairs_row(skeleton *s, ssa n, const ssa *row, const ssa *stride) {
    emit *e = s->e;
    pairs *p = pairs_of(s);
    if (!p)
        return false;
    int bits = e->target->vector_bits;
    if (e->target->narrow_reads && bits > NARROW_BITS)
        bits = NARROW_BITS;
    int count = cpu_is_by_element(s) ? 1 : bits / 8 / dtypes[p->type].size;
    for (int k = 0; k < s->nin; k++)
        if (s->v->operand[k].kind == OPERAND_CONSTANT)
            skeleton_load_uniform(s, k, row[k]);
    ssa whole = emit_value(e, "and i64 %s, %d", n.text, -count);
    loop_of(p, count, ssa_constant(0), whole, row, stride);
    if (count > 1)
        loop_of(p, 1, whole, n, row, stride);
    return true;
}

bool pairs_line(skeleton *s, int n, int bytes, const ssa *row) {
    pairs *p = pairs_of(s);
    for (int k = 0; k < s->nin && p; k++)
        if (s->v->operand[k].kind == OPERAND_CONSTANT)
            p = NULL;
    for (int i = 0, count = 0; i < n && p; i += count) {
        count = bytes / dtypes[p->type].size;
        vectors_begin(p, count);
        vector_of(p, ssa_constant(i), row, NULL);
    }
    return p;
}
