/* range.c - proves that indices lie within their extents, and finds the trip counts of loops. Integer expressions
 * become linear forms (form.h) over the sizes of the call, the indices and counters of the loops around, variables that
 * are assigned once, and atoms of which only bounds are known: remainders, quotients, minima, anything that has a type.
 *
 * The form that form_of makes of a 64-bit node is equal to its value modulo 2^64, because sums and products may wrap;
 * the form of a narrower node is its value. If the form of an index lies within its extent, which is below 2^63, then
 * the form is the value. All other conclusions need exact_form. */
#include <assert.h>

#include "lang/check.h"
#include "lang/form.h"

enum {
    FORM_DEPTH = 48,      /* of an expression; of what lies deeper only the type is used */
    TOTAL_STEPS = 400000, /* steps of all proofs for a kernel */
    NEED_STEPS = 200000,  /* steps of the proofs that depend on the sizes of a call */
    TRIP_STEPS = 200000,  /* steps of the proofs of trip counts */
    TRIPS_FEW = 64,       /* a small trip count, which is tried first */
    TRIPS_SCALE = 16      /* the largest factor by which a trip count may exceed a size */
};

static form form_of(check *c, const node *n, int depth);

/* ---- Types, quotients ---- */

static bool is_integral(dtype t) { return t == DT_BOOL || dtype_is_integer(t); }

static void type_limits(dtype type, int128 *low, int128 *high) {
    int bits = type == DT_BOOL ? 1 : 8 * dtypes[type].size;
    bool is_signed = dtype_is_integer(type) && dtypes[type].is_signed;
    *low = is_signed ? -((int128)1 << (bits - 1)) : 0;
    *high = ((int128)1 << (is_signed ? bits - 1 : bits)) - 1;
}

/* A form of which only the range of its type is known. */
static form type_form(check *c, dtype type) {
    int128 low, high;
    type_limits(type, &low, &high);
    int at = atom_new(c->known);
    form least = form_constant(low), most = form_constant(high);
    atom_low(c->known, at, &least, 1);
    atom_high(c->known, at, &most, 1);
    return form_atom(at);
}

static bool fits(check *c, const form *f, dtype type) {
    int128 low, high;
    type_limits(type, &low, &high);
    form least = form_constant(low), most = form_constant(high);
    return at_most(c->known, &least, f, 0) && at_most(c->known, f, &most, 0);
}

/* The value of an expression: its form, if that is proved to be in the range of the type; else what the type says. */
static form exact(check *c, form f, dtype type) { return fits(c, &f, type) ? f : type_form(c, type); }

static form exact_form(check *c, const node *n, int depth) { return exact(c, form_of(c, n, depth), (dtype)n->type); }

/* The quotient of a form that is not negative by a positive number: divisor * quotient is above x - divisor and not
 * above x. All equal quotients are one atom. */
static bool quotient_form(check *c, const form *x, const form *y, form *out) {
    int64_t divisor = (int64_t)y->constant;
    form zero = form_constant(0), least = form_constant(1 - y->constant);
    if (y->count || y->constant <= 0 || y->constant > INT64_MAX || !not_negative(c->known, x) ||
        !form_add(&least, x, 1))
        return false;
    int at = atom_quotient(c->known, x, divisor);
    if (at < 0) {
        at = atom_new(c->known);
        atom_low(c->known, at, &zero, 1);
        atom_low(c->known, at, &least, divisor);
        atom_high(c->known, at, x, divisor);
    }
    *out = form_atom(at);
    return true;
}

/* ---- Sizes ---- */

/* a = a op b. False: that has no form. */
static bool step_form(check *c, char o, form *a, const form *b) {
    form left = *a;
    switch (o) {
    case '+':
        return form_add(a, b, 1);
    case '-':
        return form_add(a, b, -1);
    case '*':
        return form_multiply(c->known, &left, b, a);
    case STEP_MIN:
    case STEP_MAX:
        return false;
    default:
        return quotient_form(c, &left, b, a);
    }
}

/* The form of a computed size. False: it has none. */
static bool steps_form(check *c, const layout_dim *d, form *out) {
    form stack[8];
    int top = 0;
    for (int i = 0; i < d->nsteps; i++) {
        const layout_step *s = &d->steps[i];
        if (s->op == 'n' || s->op == 'd') {
            if (top == COUNT(stack))
                return false;
            stack[top++] = s->op == 'n' ? form_constant(s->value) : form_atom(s->dim);
            continue;
        }
        assert(top >= 2); /* layout.c pushes an operator after its two operands */
        top--;
        if (!step_form(c, s->op, &stack[top - 1], &stack[top]))
            return false;
    }
    *out = stack[0];
    return true;
}

/* The form of a dimension's size. Each step of a computed size is checked when the function is called, so that the
 * steps give its value as mathematical integers do. */
static form size_form(check *c, int dim) {
    const layout_dim *d = &c->core->dims[dim];
    form f;
    if (d->frozen)
        return form_constant(d->frozen);
    return d->steps && steps_form(c, d, &f) ? f : form_atom(dim);
}

/* A size that is the lesser of two is at most either. */
static void lesser_bound(check *c, int dim) {
    const layout_dim *d = &c->core->dims[dim];
    if (!d->steps || d->nsteps != 3 || d->steps[2].op != STEP_MIN)
        return;
    for (int i = 0; i < 2; i++) {
        form most = d->steps[i].op == 'n' ? form_constant(d->steps[i].value) : form_atom(d->steps[i].dim);
        atom_high(c->known, dim, &most, 1);
    }
}

/* How many parameters of a kernel over indices have an atom behind those of the sizes: all, of which the numbers use theirs. */
static int numbers_of(const check *c) { return c->core && kernel_indices(c) ? c->core->nin - kernel_indices(c) : 0; }

void known_begin(check *c) {
    c->known = arena_alloc(c->a, sizeof *c->known);
    c->known->a = c->a;
    c->known->steps = TOTAL_STEPS;
    c->known->need_steps = NEED_STEPS;
    c->known->trip_steps = TRIP_STEPS;
    c->known->nsizes = c->core ? c->core->ndims + numbers_of(c) : 0;
    if (kernel_indices(c))
        c->known->needs = arena_alloc(c->a, NEEDS_MAX * sizeof *c->known->needs);
    form least = form_constant(0), most = form_constant(INT64_MAX);
    for (int d = 0; c->core && d < c->core->ndims; d++) {
        int at = atom_new(c->known);
        atom_low(c->known, at, &least, 1);
        atom_high(c->known, at, &most, 1);
    }
    for (int k = 0; k < numbers_of(c); k++)
        atom_new(c->known); /* number_known gives it bounds, if the parameter is a number that is known */
    for (int d = 0; c->core && d < c->core->ndims; d++)
        lesser_bound(c, d);
}

/* Does n compute what the steps up to *last do? *last is moved to before them. */
static bool steps_match(const node *n, const layout_step *steps, int *last) {
    static const struct {
        char step;
        op o;
    } operators[] = {{'+', OP_ADD}, {'-', OP_SUB}, {'*', OP_MUL}, {'/', OP_DIV}};
    const layout_step *s = &steps[(*last)--];
    if (s->op == 'n')
        return n->kind == N_CONST && n->type == DT_INT64 && n->value.as.i == s->value;
    if (s->op == 'd')
        return n->kind == N_SIZE && n->dim == s->dim;
    for (size_t i = 0; i < COUNT(operators); i++)
        if (operators[i].step == s->op && n->kind == N_BINARY && n->type == DT_INT64 && n->op == operators[i].o)
            return steps_match(n->kid[1], steps, last) && steps_match(n->kid[0], steps, last);
    return false;
}

/* An expression that is written like a computed size has the same value. */
static bool computed_form(check *c, const node *n, form *out) {
    if (!c->core || !c->frame->is_kernel || n->type != DT_INT64)
        return false;
    for (int d = 0; d < c->core->ndims; d++) {
        int last = c->core->dims[d].nsteps - 1;
        if (c->core->dims[d].steps && steps_match(n, c->core->dims[d].steps, &last)) {
            *out = size_form(c, d);
            return true;
        }
    }
    return false;
}

/* ---- Expressions ---- */

/* A remainder of x by a positive y has the sign of x, or none if it is floor_mod's, is nearer to 0 than y, and is not further from 0 than
 * an x that is not negative. */
static bool remainder_form(check *c, const form *x, const form *y, bool floored, form *out) {
    form one = form_constant(1), least = one, most = form_constant(-1);
    if (!at_most(c->known, &one, y, 0) || !form_add(&least, y, -1) || !form_add(&most, y, 1))
        return false;
    bool positive = not_negative(c->known, x);
    if (positive || floored)
        least = form_constant(0);
    int at = atom_new(c->known);
    atom_low(c->known, at, &least, 1);
    atom_high(c->known, at, &most, 1);
    if (positive)
        atom_high(c->known, at, x, 1);
    *out = form_atom(at);
    return true;
}

/* x & y lies between 0 and whichever of the two is not negative. */
static bool and_form(check *c, const form *x, const form *y, form *out) {
    bool left = not_negative(c->known, x), right = not_negative(c->known, y);
    form zero = form_constant(0);
    if (!left && !right)
        return false;
    int at = atom_new(c->known);
    atom_low(c->known, at, &zero, 1);
    if (right)
        atom_high(c->known, at, y, 1);
    if (left)
        atom_high(c->known, at, x, 1);
    *out = form_atom(at);
    return true;
}

/* The form of a value that is used only where a condition is true (false). The condition adds a fact, a form that is
 * not negative: the value lies between its form less the fact and its form plus the fact, and is an atom with these
 * bounds. */
static form branch_form(check *c, const node *n, const node *condition, bool truth, int depth) {
    form f = exact_form(c, n, depth), more = f, less = f;
    int before = c->known->nfacts;
    condition_assume(c, condition, truth);
    if (c->known->nfacts == before)
        return f;
    const form fact = c->known->facts[c->known->nfacts - 1];
    c->known->nfacts = before;
    if (!form_add(&more, &fact, 1) || !form_add(&less, &fact, -1))
        return f;
    int at = atom_new(c->known);
    atom_low(c->known, at, &less, 1);
    atom_low(c->known, at, &f, 1);
    atom_high(c->known, at, &more, 1);
    atom_high(c->known, at, &f, 1);
    return form_atom(at);
}

/* One of a and b: the smaller one, the larger one, or either. */
static form chosen_form(check *c, const form *a, const form *b, bool smaller, bool larger) {
    int at = atom_new(c->known);
    atom_low(c->known, at, a, 1);
    atom_low(c->known, at, b, 1);
    atom_high(c->known, at, a, 1);
    atom_high(c->known, at, b, 1);
    c->known->atoms[at].every_low = !larger;
    c->known->atoms[at].every_high = !smaller;
    return form_atom(at);
}

static bool shift_form(check *c, const node *n, form a, form *out) {
    const node *count = n->kid[1];
    if (count->kind != N_CONST || count->value.as.u > 62)
        return false;
    int64_t factor = INT64_C(1) << count->value.as.u;
    *out = form_constant(0);
    if (n->op == OP_SHL)
        return form_add(out, &a, factor);
    a = exact(c, a, (dtype)n->type);
    form divisor = form_constant(factor);
    return quotient_form(c, &a, &divisor, out);
}

static bool binary_form(check *c, const node *n, form *out, int depth) {
    dtype type = (dtype)n->kid[0]->type;
    if (ops[n->op].kind == 'R' || ops[n->op].kind == 'E' || !dtype_is_integer(type))
        return false;
    form a = form_of(c, n->kid[0], depth), b;
    if (ops[n->op].kind == 'S')
        return shift_form(c, n, a, out);
    b = form_of(c, n->kid[1], depth);
    if (n->op == OP_MUL)
        return form_multiply(c->known, &a, &b, out);
    if (n->op == OP_ADD || n->op == OP_SUB) {
        *out = a;
        return form_add(out, &b, n->op == OP_ADD ? 1 : -1);
    }
    a = exact(c, a, type);
    b = exact(c, b, type);
    switch (n->op) {
    case OP_DIV:
    case OP_FLOOR_DIV:
        return quotient_form(c, &a, &b, out);
    case OP_REM:
    case OP_FLOOR_MOD:
        return remainder_form(c, &a, &b, n->op == OP_FLOOR_MOD, out);
    case OP_AND:
        return and_form(c, &a, &b, out);
    default:
        return false;
    }
}

/* A conversion to 64 bits keeps the form modulo 2^64; the form of what is converted to a narrower type must be the
 * value. */
static bool convert_form(check *c, const node *n, form *out, int depth) {
    const node *from = n->kid[0];
    if (!is_integral((dtype)from->type))
        return false;
    *out = form_of(c, from, depth);
    return dtypes[n->type].size == 8 || fits(c, out, (dtype)from->type);
}

/* Calls of the prelude's min, max and clamp. */
static bool call_form(check *c, const node *n, form *out, int depth) {
    const instance *callee = (const instance *)n->callee;
    if (!callee->frame.u->prelude)
        return false;
    bool smaller = strcmp(callee->frame.u->row, "min") == 0, larger = strcmp(callee->frame.u->row, "max") == 0;
    bool both = strcmp(callee->frame.u->row, "clamp") == 0;
    if (!smaller && !larger && !both)
        return false;
    form a = exact_form(c, n->args, depth), b = exact_form(c, n->args->next, depth);
    *out = chosen_form(c, &a, &b, smaller, larger || both);
    if (both) {
        b = exact_form(c, n->args->next->next, depth);
        *out = chosen_form(c, out, &b, true, false);
    }
    return true;
}

static bool local_form(const check *c, const node *n, form *out) {
    for (const variable *v = c->scope; v; v = v->scope_next)
        if (v->known && v->owner == c->frame && v->local == n->local) {
            *out = form_atom(v->known - 1);
            return true;
        }
    return false;
}

static bool node_form(check *c, const node *n, form *out, int depth) {
    form a, b;
    switch (n->kind) {
    case N_CONST:
        *out = form_constant(n->type == DT_UINT64 ? (int128)n->value.as.u : (int128)n->value.as.i);
        return true;
    case N_LOCAL:
        return local_form(c, n, out);
    case N_SIZE:
        *out = size_form(c, n->dim);
        return true;
    case N_CONVERT:
        return convert_form(c, n, out, depth);
    case N_UNARY:
        *out = form_constant(0);
        a = form_of(c, n->kid[0], depth);
        return n->op == OP_NEG && form_add(out, &a, -1);
    case N_BINARY:
        return computed_form(c, n, out) || binary_form(c, n, out, depth);
    case N_SELECT:
        a = branch_form(c, n->kid[1], n->kid[0], true, depth);
        b = branch_form(c, n->kid[2], n->kid[0], false, depth);
        *out = chosen_form(c, &a, &b, false, false);
        return true;
    case N_CALL:
        return call_form(c, n, out, depth);
    default:
        return false;
    }
}

static form form_of(check *c, const node *n, int depth) {
    form f;
    if (depth < FORM_DEPTH && node_form(c, n, &f, depth + 1) &&
        (dtypes[n->type].size == 8 || fits(c, &f, (dtype)n->type)))
        return f;
    return type_form(c, (dtype)n->type);
}

/* ---- Indices ---- */

/* What must not be negative for an index to be in range: the index, and the extent less 1 less the index. */
static bool goals_make(check *c, const node *index, const form *extent, form *low, form *high) {
    *low = form_of(c, index, 0);
    *high = form_constant(-1);
    return form_add(high, extent, 1) && form_add(high, low, -1);
}

/* Does the goal follow if the extent is not below another size? Then that becomes a need. */
static bool met_by_comparison(check *c, const form *goal, int extent) {
    form size = form_atom(extent);
    for (int d = c->known->nsizes - 1; d >= 0; d--) {
        form above = size, other = form_atom(d), rest = *goal;
        if (d != extent && form_add(&above, &other, -1) && form_add(&rest, &above, -1) && not_negative(c->known, &rest))
            return need_add(c->known, &above);
    }
    return false;
}

/* Does the goal follow from needs, which may be added? */
static bool met(check *c, const form *goal, int extent) {
    return need_met(c->known, goal, kernel_indices(c)) || met_by_comparison(c, goal, extent);
}

/* Does it follow if the array has an element? Then that becomes a need. */
static bool met_if_any(check *c, const node *index, int dim) {
    form extent = size_form(c, dim), any = extent, one = form_constant(1), low, high;
    if (!form_add(&any, &one, -1))
        return false;
    fact_add(c->known, &any);
    bool proved =
        goals_make(c, index, &extent, &low, &high) && not_negative(c->known, &low) && not_negative(c->known, &high);
    c->known->nfacts--; /* the fact must not prove the need that it is itself */
    return proved && need_add(c->known, &any);
}

/* Can an index into an array of a kernel over indices, which could not be proved to be in range, be proved with
 * needs? */
static bool proved_by_needs(check *c, const node *index, int dim, const form *low, const form *high) {
    knowledge *k = c->known;
    int before = k->nneeds, steps = k->steps;
    k->steps = k->need_steps;
    bool proved = met(c, low, dim) && met(c, high, dim);
    if (!proved) {
        k->nneeds = before;
        proved = met_if_any(c, index, dim);
    }
    k->need_steps = k->steps;
    k->steps = steps;
    return proved;
}

proof index_proof(check *c, const node *index, const local *l, int k) {
    known_mark before = known_here(c);
    form extent = l->core ? size_form(c, l->dim[k]) : form_constant(l->extent[k]), low, high;
    proof p = PROOF_NONE;
    if (goals_make(c, index, &extent, &low, &high)) {
        if (not_negative(c->known, &low) && not_negative(c->known, &high))
            p = PROOF_FULL;
        else if (l->core && kernel_indices(c) && proved_by_needs(c, index, l->dim[k], &low, &high))
            p = PROOF_NEEDS;
    }
    known_drop(c, before);
    return p;
}

int needs_here(const check *c) { return c->known->nneeds; }
void needs_drop(check *c, int to) { c->known->nneeds = to; }

void needs_take(const check *c, tree *t) {
    t->needs = c->known->needs;
    t->nneeds = c->known->nneeds;
}

bool lang_needs_hold(const tree *t, const int64_t *sizes, const int64_t *numbers, bool otherwise) {
    int nsizes = t->layout ? t->layout->ndims : 0;
    bool all = true;
    for (int i = 0; i < t->nneeds && all; i++)
        all = !numbers && need_names_number(&t->needs[i], nsizes) ? otherwise
                                                                  : need_holds(&t->needs[i], sizes, nsizes, numbers);
    return all;
}

bool lang_needs_numbers(const tree *t) {
    for (int i = 0; i < t->nneeds; i++)
        if (need_names_number(&t->needs[i], t->layout ? t->layout->ndims : 0))
            return true;
    return false;
}

/* ---- What is learned from conditions ---- */

known_mark known_here(const check *c) { return (known_mark){c->known->natoms, c->known->nfacts}; }

known_facts facts_set_aside(check *c) {
    known_facts aside = {0};
    if (c->known) {
        aside = (known_facts){c->known->facts, c->known->nfacts, c->known->facts_size};
        c->known->facts = NULL;
        c->known->nfacts = c->known->facts_size = 0;
    }
    return aside;
}

void facts_restore(check *c, known_facts aside) {
    c->known->facts = aside.facts;
    c->known->nfacts = aside.count;
    c->known->facts_size = aside.size;
}

void known_drop(check *c, known_mark to) {
    assert(to.atoms <= c->known->natoms && to.facts <= c->known->nfacts); /* both are stacks */
    c->known->natoms = to.atoms;
    c->known->nfacts = to.facts;
}

/* The fact that a <= b + difference. */
static void assume_at_most(check *c, const form *a, const form *b, int128 difference) {
    form f = form_constant(difference);
    if (form_add(&f, b, 1) && form_add(&f, a, -1) && f.count)
        fact_add(c->known, &f);
}

static void relation_assume(check *c, op o, const form *a, const form *b) {
    switch (o) {
    case OP_LT:
    case OP_LE:
        assume_at_most(c, a, b, o == OP_LT ? -1 : 0);
        return;
    case OP_GT:
    case OP_GE:
        assume_at_most(c, b, a, o == OP_GT ? -1 : 0);
        return;
    case OP_EQ:
        assume_at_most(c, a, b, 0);
        assume_at_most(c, b, a, 0);
        return;
    default: /* not equal: tells something only where one side is known to be not above the other */
        if (at_most(c->known, a, b, 0))
            assume_at_most(c, a, b, -1);
        else if (at_most(c->known, b, a, 0))
            assume_at_most(c, b, a, -1);
    }
}

static bool is_relation(const node *n) {
    return n->kind == N_BINARY && (ops[n->op].kind == 'R' || ops[n->op].kind == 'E') &&
           is_integral((dtype)n->kid[0]->type);
}

static void assume(check *c, const node *n, bool truth, int depth) {
    form a, zero = form_constant(0);
    if (depth == FORM_DEPTH)
        return;
    if (n->kind == (truth ? N_AND : N_OR)) {
        assume(c, n->kid[0], truth, depth + 1);
        assume(c, n->kid[1], truth, depth + 1);
    } else if (n->kind == N_UNARY && n->op == OP_LNOT) {
        assume(c, n->kid[0], !truth, depth + 1);
    } else if (n->kind == N_CONVERT && dtype_is_integer((dtype)n->kid[0]->type)) {
        a = exact_form(c, n->kid[0], 0);
        relation_assume(c, truth ? OP_NE : OP_EQ, &a, &zero);
    } else if (is_relation(n)) {
        a = exact_form(c, n->kid[0], 0);
        zero = exact_form(c, n->kid[1], 0);
        relation_assume(c, truth ? n->op : op_inverse(n->op), &a, &zero);
    }
}

void condition_assume(check *c, const node *condition, bool truth) { assume(c, condition, truth, 0); }

/* Makes v an atom between two forms, and in the range of its type. */
static void variable_between(check *c, variable *v, const form *low, const form *high) {
    int128 least, most;
    type_limits(c->now->f.locals[v->local].type, &least, &most);
    form bottom = form_constant(least), top = form_constant(most);
    int at = atom_new(c->known);
    atom_low(c->known, at, low, 1);
    atom_low(c->known, at, &bottom, 1);
    atom_high(c->known, at, high, 1);
    atom_high(c->known, at, &top, 1);
    v->known = at + 1;
    assume_at_most(c, low, high, 0);
}

void index_bounds(check *c, variable *v, int d) {
    form low = form_constant(0), high = form_constant(-1), size = size_form(c, d);
    if (form_add(&high, &size, 1))
        variable_between(c, v, &low, &high);
}

/* ---- Trip counts ---- */

/* The first power of 4, from one to another, that a trip count is proved not to exceed. less_1 is the distance from the
 * first to the last value of the counter, which moves by `step`. 0: none. */
static int64_t constant_proved(check *c, const form *less_1, int64_t step, int64_t from, int64_t to) {
    form zero = form_constant(0);
    for (int64_t factor = from; factor <= to; factor *= 4)
        if (at_most(c->known, less_1, &zero, (int128)factor * step - 1))
            return factor;
    return 0;
}

/* The trip count is proved not to exceed a small number, or else the multiple of a size, or else a number. */
static trips count_proved(check *c, const form *less_1, int64_t step) {
    int64_t few = constant_proved(c, less_1, step, 1, TRIPS_FEW);
    for (int64_t scale = 1; !few && scale <= TRIPS_SCALE; scale *= TRIPS_SCALE)
        for (int d = 0; c->core && d < c->core->ndims; d++) {
            form size = form_constant(TRIPS_OFFSET), one = size_form(c, d);
            if (form_add(&size, &one, scale) && at_most(c->known, less_1, &size, 0))
                return (trips){scale, 1, 0, !at_most(c->known, less_1, &size, -TRIPS_OFFSET - 1)};
        }
    return (trips){few ? few : constant_proved(c, less_1, step, 4 * TRIPS_FEW, TRIPS_MAX), 0, 0, 0};
}

/* The trip count of a loop from low to high in steps of `step`. */
static trips trips_between(check *c, const form *low, const form *high, int64_t step) {
    knowledge *k = c->known;
    known_mark before = known_here(c);
    form span = *high;
    trips most = {0};
    int steps = k->steps;
    k->steps = k->trip_steps;
    if (form_add(&span, low, -1))
        most = count_proved(c, &span, step < 0 ? -step : step);
    k->trip_steps = k->steps;
    k->steps = steps;
    known_drop(c, before);
    return most;
}

/* In the body of a range its extent is at least 1. If the extent wraps, its form, which is not below -2^63, is larger
 * than its value; so the form is an upper bound in any case. */
trips range_bounds(check *c, variable *v, const node *extent) {
    form low = form_constant(0), least = form_constant(INT64_MIN), one = form_constant(1);
    form high = form_of(c, extent, 0);
    if (!at_most(c->known, &least, &high, 0) || !form_add(&high, &one, -1))
        high = form_constant(INT64_MAX - 1);
    trips most = trips_between(c, &low, &high, 1);
    variable_between(c, v, &low, &high);
    return most;
}

/* Values of 64 bits without sign may be larger than what needs are computed with. */
void number_known(check *c, variable *v, int operand) {
    dtype type = c->now->f.locals[v->local].type;
    int128 low, high;
    if (!is_integral(type) || type == DT_UINT64) {
        value_known(c, v, NULL);
        return;
    }
    type_limits(type, &low, &high);
    form least = form_constant(low), most = form_constant(high);
    int at = c->core->ndims + operand;
    atom_low(c->known, at, &least, 1);
    atom_high(c->known, at, &most, 1);
    v->known = at + 1;
}

void value_known(check *c, variable *v, const node *value) {
    dtype type = c->now->f.locals[v->local].type;
    if (!is_integral(type))
        return;
    form f = value ? exact_form(c, value, 0) : type_form(c, type);
    v->known = f.count == 1 && !f.constant && f.factor[0] == 1 ? f.atom[0] + 1 : 0;
    if (!v->known)
        variable_between(c, v, &f, &f);
}

/* ---- Loops ---- */

bool name_assigned(const syn *s, int id) {
    for (; s; s = s->next) {
        bool writes = s->kind == S_ASSIGN || s->kind == S_COMPOUND || s->kind == S_UPDATE;
        if (writes && s->kid[0]->kind == S_NAME && s->kid[0]->name == id)
            return true;
        if (name_assigned(s->kid[0], id) || name_assigned(s->kid[1], id) || name_assigned(s->kid[2], id))
            return true;
        if (name_assigned(s->list, id) || name_assigned(s->body, id) || name_assigned(s->other, id))
            return true;
    }
    return false;
}

/* By how much the third part of a for moves a variable, whose name it sets; 0: it does something else. */
static int64_t step_of(const syn *steps, int *id) {
    if (!steps || steps->next)
        return 0;
    const syn *s = steps->kid[0];
    bool moves = (s->kind == S_UPDATE || s->kind == S_COMPOUND) && s->kid[0]->kind == S_NAME &&
                 (s->op == OP_ADD || s->op == OP_SUB);
    if (!moves)
        return 0;
    *id = s->kid[0]->name;
    int64_t by = 1;
    if (s->kind == S_COMPOUND)
        by = s->kid[1]->kind == S_NUMBER && dtype_is_integer(s->kid[1]->value.type) ? s->kid[1]->value.as.i : 0;
    if (by <= 0)
        return 0;
    return s->op == OP_ADD ? by : -by;
}

/* Does the first part of a for give the variable of this name its value? */
static bool starts_with(const syn *init, int id) {
    if (init->kind == S_DECLARE)
        return init->name == id;
    const syn *lvalue = init->kid[0]->kid[0]; /* loop_start has found an assignment */
    return lvalue->kind == S_NAME && lvalue->name == id;
}

typedef struct counting {
    int64_t step;
    op relation; /* the condition is: counter relation limit */
    form start, limit;
    dtype type; /* type of the counter */
} counting;

/* Is n the variable, apart from conversions that keep its value? positive: the variable is not negative. */
static bool is_counter(const check *c, const node *n, const variable *v, bool positive) {
    int128 low, high, narrow_low, narrow_high;
    for (; n->kind == N_CONVERT; n = n->kid[0]) {
        if (!is_integral((dtype)n->type) || !is_integral((dtype)n->kid[0]->type))
            return false;
        type_limits((dtype)n->type, &low, &high);
        type_limits((dtype)n->kid[0]->type, &narrow_low, &narrow_high);
        if (narrow_high > high || (narrow_low < low && !positive))
            return false;
    }
    return n->kind == N_LOCAL && n->local == v->local && v->owner == c->frame;
}

/* Reads the condition as a relation of the counter to a limit. */
static bool limit_read(check *c, const node *n, const variable *v, counting *out) {
    bool positive = out->step > 0 && not_negative(c->known, &out->start);
    if (!n || n->kind != N_BINARY || ops[n->op].kind != 'R' || !is_integral((dtype)n->kid[0]->type))
        return false;
    int side = is_counter(c, n->kid[0], v, positive) ? 0 : 1;
    if (!is_counter(c, n->kid[side], v, positive))
        return false;
    out->relation = side ? op_mirrored((op)n->op) : (op)n->op;
    out->limit = form_of(c, n->kid[1 - side], 0);
    return fits(c, &out->limit, (dtype)n->kid[0]->type);
}

/* The lowest and the highest value of the counter in the body. False: the counter could step out of the range of its
 * type. */
static bool counter_bounds(check *c, const counting *l, form *low, form *high) {
    bool up = l->step > 0, reaches = l->relation == OP_LE || l->relation == OP_GE;
    form last = l->limit, inward = form_constant(reaches ? 0 : 1), beyond, step = form_constant(l->step);
    if (up ? l->relation != OP_LT && l->relation != OP_LE : l->relation != OP_GT && l->relation != OP_GE)
        return false;
    if (!form_add(&last, &inward, up ? -1 : 1))
        return false;
    *low = up ? l->start : last;
    *high = up ? last : l->start;
    beyond = last;
    int128 least, most;
    type_limits(l->type, &least, &most);
    form edge = form_constant(up ? most : least);
    return form_add(&beyond, &step, 1) &&
           (up ? at_most(c->known, &beyond, &edge, 0) : at_most(c->known, &edge, &beyond, 0));
}

/* Does the third part of a for shift a variable to the right, whose name it sets? It then becomes 0, or becomes -1 and
 * stays that. */
static bool halves(const syn *steps, int *id) {
    if (!steps || steps->next)
        return false;
    const syn *s = steps->kid[0];
    if (s->kind != S_COMPOUND || s->op != OP_SHR || s->kid[0]->kind != S_NAME || s->kid[1]->kind != S_NUMBER ||
        !dtype_is_integer(s->kid[1]->value.type) || s->kid[1]->value.as.u < 1 || s->kid[1]->value.as.u > 7)
        return false;
    *id = s->kid[0]->name;
    return true;
}

/* `for (..; k > 0; k >>= 1)` has at most as many iterations as k has bits. */
static bool ends_by_halves(check *c, const syn *loop, const node *condition) {
    int id = NO_NAME;
    if (!halves(loop->kid[1], &id) || !condition || condition->kind != N_BINARY || condition->op != OP_GT)
        return false;
    const variable *v = c->frame->u->bound[id];
    const node *limit = condition->kid[1];
    return v && v->owner == c->frame && !c->now->f.locals[v->local].rank && !name_assigned(loop->body, id) &&
           !name_assigned(loop->kid[0], id) && is_counter(c, condition->kid[0], v, false) && limit->kind == N_CONST &&
           dtype_is_integer(limit->type) && (limit->type == DT_UINT64 || limit->value.as.i >= 0);
}

variable *loop_counter(check *c, const syn *loop, const node *condition, const node *start, trips *most) {
    int id = NO_NAME;
    if (ends_by_halves(c, loop, condition))
        *most = (trips){64, 0, 0, 0};
    counting l = {.step = step_of(loop->kid[1], &id)};
    form low, high;
    if (!l.step || !start || !starts_with(loop->list, id))
        return NULL;
    variable *v = c->frame->u->bound[id];
    if (!v || v->owner != c->frame || name_assigned(loop->body, id) || name_assigned(loop->kid[0], id))
        return NULL;
    l.type = c->now->f.locals[v->local].type;
    if (c->now->f.locals[v->local].rank || !is_integral(l.type))
        return NULL;
    l.start = form_of(c, start, 0);
    if (!fits(c, &l.start, l.type) || !limit_read(c, condition, v, &l) || !counter_bounds(c, &l, &low, &high))
        return NULL;
    *most = trips_between(c, &low, &high, l.step);
    variable_between(c, v, &low, &high);
    return v;
}
