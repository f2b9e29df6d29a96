/* extremum.c - finds that a reduction gives the position of the first largest or smallest element, where NaN goes before all others or
 * behind them: its state is an element and its position, and the text of combine chooses between two of these by comparing values with
 * each other, and positions. Comparisons know no more of two values than which is the larger, so the text is evaluated once for each
 * way in which two can be related; it must choose what such a reduction chooses. */
#include <math.h>

#include "ir/common/nodes.h"
#include "ir/reduce/fold.h"

enum {
    MOST_LOCALS = 16,
    MOST_DEPTH = 8, /* of calls */
    MOST_NUMBER = 1 << 20
};

/* What an expression is: one of two elements, one of two positions, or a bool or integer that is known. */
typedef enum what {
    IS_UNKNOWN,
    IS_VALUE,
    IS_POSITION,
    IS_NUMBER
} what;

typedef struct symbol {
    what is;
    int64_t number; /* which of the two, or the number */
} symbol;

typedef struct relation {
    dtype type;      /* of the elements */
    double value[2]; /* numbers that are related as the two elements are, */
    int position[2]; /* and the two positions; -1: there is none, since the element is passed over */
} relation;

/* A function being evaluated. */
typedef struct evaluation {
    const relation *r;
    const function *f;
    int depth;
    symbol local[MOST_LOCALS];
} evaluation;

static symbol value_of(const evaluation *c, const node *n);

static const symbol unknown = {IS_UNKNOWN, 0};

static symbol number_of(int64_t x) { return (symbol){IS_NUMBER, x}; }

/* ---- Expressions ---- */

/* Does a dtype hold every element as it is? */
static bool holds(dtype type, dtype element) {
    const dtype_info *to = &dtypes[type], *from = &dtypes[element];
    if (type == element)
        return true;
    if (dtype_is_floating(element))
        return dtype_is_floating(type) && to->size > from->size;
    return !dtype_is_floating(type) && type != DT_BOOL && to->size > from->size && (to->is_signed || !from->is_signed);
}

static symbol converted(const evaluation *c, const node *n) {
    symbol x = value_of(c, n->kid[0]);
    dtype to = (dtype)n->type;
    switch (x.is) {
    case IS_VALUE:
        return holds(to, c->r->type) ? x : unknown;
    case IS_POSITION:
        return to == DT_INT64 ? x : unknown;
    case IS_NUMBER:
        return to == DT_BOOL ? number_of(x.number != 0) : !dtype_is_floating(to) ? x : unknown;
    default:
        return unknown;
    }
}

static symbol compared(op o, double a, double b) {
    switch (o) {
    case OP_EQ:
        return number_of(a == b);
    case OP_NE:
        return number_of(a != b);
    case OP_LT:
        return number_of(a < b);
    case OP_LE:
        return number_of(a <= b);
    case OP_GT:
        return number_of(a > b);
    case OP_GE:
        return number_of(a >= b);
    default:
        return unknown;
    }
}

/* Is it asked whether a position is one? More than that, and which of two is the smaller, is not known of positions. */
static bool asks_for_position(op o, symbol a, symbol b) {
    return a.is == IS_POSITION && b.is == IS_NUMBER && !b.number && (o == OP_LT || o == OP_GE);
}

static symbol binary(const evaluation *c, const node *n) {
    symbol a = value_of(c, n->kid[0]), b = value_of(c, n->kid[1]);
    if (asks_for_position((op)n->op, a, b))
        return compared((op)n->op, c->r->position[a.number], 0);
    if (a.is != b.is || a.is == IS_UNKNOWN)
        return unknown;
    if (a.is == IS_VALUE)
        return compared((op)n->op, c->r->value[a.number], c->r->value[b.number]);
    if (a.is == IS_POSITION)
        return compared((op)n->op, c->r->position[a.number], c->r->position[b.number]);
    switch (n->op) {
    case OP_AND:
        return number_of(a.number & b.number);
    case OP_OR:
        return number_of(a.number | b.number);
    case OP_XOR:
        return number_of(a.number ^ b.number);
    default:
        return compared((op)n->op, (double)a.number, (double)b.number);
    }
}

/* "and" and "or", whose operands are bools; the second counts only where the first does not decide. */
static symbol logical(const evaluation *c, const node *n) {
    symbol a = value_of(c, n->kid[0]);
    if (a.is != IS_NUMBER || (a.number != 0) == (n->kind == N_OR))
        return a.is == IS_NUMBER ? a : unknown;
    return value_of(c, n->kid[1]);
}

static symbol chosen(const evaluation *c, const node *n) {
    symbol test = value_of(c, n->kid[0]);
    return test.is == IS_NUMBER ? value_of(c, n->kid[test.number ? 1 : 2]) : unknown;
}

static bool run(evaluation *c);

static symbol called(const evaluation *c, const node *n) {
    const function *f = n->callee;
    evaluation to = {.r = c->r, .f = f, .depth = c->depth + 1};
    int i = 0;
    if (to.depth > MOST_DEPTH || f->nlocals > MOST_LOCALS || f->nresults != 1)
        return unknown;
    for (const node *a = n->args; a && i < f->nparams; a = a->next)
        to.local[i++] = value_of(c, a);
    return i == f->nparams && run(&to) ? to.local[f->nparams] : unknown;
}

/* Small ones, whose signs may change, and which are compared as float64. */
static symbol constant(const number *x) {
    if (x->type == DT_BOOL)
        return number_of(x->as.u != 0);
    bool small = dtypes[x->type].kind == DK_INTEGER && dtypes[x->type].is_signed && x->as.i >= -MOST_NUMBER &&
                 x->as.i <= MOST_NUMBER;
    return small ? number_of(x->as.i) : unknown;
}

static symbol value_of(const evaluation *c, const node *n) {
    switch (n->kind) {
    case N_LOCAL:
        return c->local[n->local];
    case N_CONST:
        return constant(&n->value);
    case N_CONVERT:
        return converted(c, n);
    case N_UNARY: {
        symbol x = value_of(c, n->kid[0]);
        bool negates = n->op == OP_NEG && dtypes[n->type].is_signed;
        return x.is != IS_NUMBER  ? unknown
               : n->op == OP_LNOT ? number_of(!x.number)
               : negates          ? number_of(-x.number)
                                  : unknown;
    }
    case N_BINARY:
        return binary(c, n);
    case N_AND:
    case N_OR:
        return logical(c, n);
    case N_SELECT:
        return chosen(c, n);
    case N_CALL:
        return n->other ? unknown : called(c, n);
    default:
        return unknown;
    }
}

/* ---- Statements ---- */

/* One of assignments and declarations, from the first statement to the last; else false. */
static bool run(evaluation *c) {
    for (const node *n = c->f->body; n; n = n->next) {
        if (n->kind == N_RETURN)
            return !n->next;
        if (n->kind == N_DECLARE && n->kid[0])
            c->local[n->local] = value_of(c, n->kid[0]);
        else if (n->kind == N_EVAL && n->kid[0]->kind == N_ASSIGN && n->kid[0]->kid[0]->kind == N_LOCAL)
            c->local[n->kid[0]->kid[0]->local] = value_of(c, n->kid[0]->kid[1]);
        else
            return false;
    }
    return true;
}

/* ---- The reduction ---- */

static const struct {
    bool smallest, numbers; /* numbers: NaN goes behind all others, else before them */
} kinds[] = {[EXTREMUM_LARGEST] = {false, false},
             [EXTREMUM_SMALLEST] = {true, false},
             [EXTREMUM_LARGEST_NUMBER] = {false, true},
             [EXTREMUM_SMALLEST_NUMBER] = {true, true}};

/* Is a fold's map "[k](x) -> (x, k)", but, where NaN goes behind all others, with -1 for the position of NaN? */
static bool maps_plainly(const fold *f, bool numbers) {
    const function *kernel = f->map ? f->map->kernel : NULL;
    if (!kernel || f->nin != 1 || f->in[0] != f->state[0] || kernel->nparams != 2 || kernel->nresults != 2 ||
        kernel->nlocals > MOST_LOCALS)
        return false;
    for (int nan = 0; nan <= dtype_is_floating(f->state[0]); nan++) {
        const relation r = {.type = f->state[0], .value = {nan ? NAN : 1}};
        evaluation c = {.r = &r, .f = kernel, .local = {{IS_VALUE, 0}, {IS_POSITION, 0}}};
        if (!run(&c) || c.local[2].is != IS_VALUE)
            return false;
        const symbol index = c.local[3];
        if (nan && numbers ? index.is != IS_NUMBER || index.number != -1 : index.is != IS_POSITION)
            return false;
    }
    return true;
}

/* Which of two elements combine chooses, with its position: 0 or 1; -1: neither, or it is not known. */
static int choice(const function *combine, const relation *r) {
    evaluation c = {.r = r, .f = combine, .local = {{IS_VALUE, 0}, {IS_POSITION, 0}, {IS_VALUE, 1}, {IS_POSITION, 1}}};
    if (!run(&c))
        return -1;
    symbol best = c.local[4], index = c.local[5];
    return best.is == IS_VALUE && index.is == IS_POSITION && best.number == index.number ? (int)best.number : -1;
}

/* Which an extremum is: of equal elements the one in front, and NaN before or behind all others. */
static int wanted(const relation *r, extremum which) {
    int first = r->position[0] < r->position[1] ? 0 : 1;
    double a = r->value[first], b = r->value[!first];
    if (isnan(a) || isnan(b))
        return (!isnan(a) == kinds[which].numbers) ? first : !first;
    return (kinds[which].smallest ? a <= b : a >= b) ? first : !first;
}

/* Of two NaN that have no position either will do. */
static bool chooses(const fold *f, extremum which) {
    static const double values[] = {1, 2, NAN};
    int n = dtype_is_floating(f->state[0]) ? 3 : 2;
    for (int at = 0; at < 2 * n * n; at++) {
        relation r = {f->state[0], {values[at / 2 % n], values[at / 2 / n]}, {at % 2, !(at % 2)}};
        for (int i = 0; i < 2; i++)
            if (isnan(r.value[i]) && kinds[which].numbers)
                r.position[i] = -1;
        int chosen = choice(f->combine->kernel, &r);
        bool either = r.position[0] == r.position[1] && chosen >= 0;
        if (!either && chosen != wanted(&r, which))
            return false;
    }
    return true;
}

extremum fold_extremum(const fold *f) {
    const function *combine = f->combine->kernel;
    if (f->order == FOLD_SERIAL || f->nstate != 2 || f->state[1] != DT_INT64 || f->identity ||
        dtype_is_complex(f->state[0]) || combine->nparams != 4 || combine->nresults != 2 ||
        combine->nlocals > MOST_LOCALS)
        return EXTREMUM_NONE;
    for (extremum which = EXTREMUM_LARGEST; which < COUNT(kinds); which++)
        if (maps_plainly(f, kinds[which].numbers) && chooses(f, which))
            return which;
    return EXTREMUM_NONE;
}
