/* construct.c - forall and the reductions (sum, prod, min, max, any, all, reduce) as loops of one thread. The CPU uses this form, and so
 * does a GPU thread that computes an inner call alone, or is inside a construct that is mapped to threads already. LLVM is told that
 * the iterations of a forall are independent and that a floating sum may be reordered, so that it makes vector loops. */
#include "ir/construct/construct.h"

#include "ir/common/nodes.h"
#include "ir/common/report.h"
#include "ir/common/skeleton.h"
#include "ir/common/target.h"
#include "ir/common/unrolled.h"
#include "ir/construct/unroll_jam.h"

/* ---- Ranges ---- */

const node *range_at(const node *ranges, int k) {
    while (k--)
        ranges = ranges->next;
    return ranges;
}

static const node *last_range(const node *ranges) {
    while (ranges->next)
        ranges = ranges->next;
    return ranges;
}

ssa *ranges_read(body *b, const node *ranges, int *count) {
    *count = 0;
    for (const node *r = ranges; r; r = r->next)
        ++*count;
    ssa *limits = arena_alloc(b->e->a, (size_t)*count * sizeof *limits);
    const node *r = ranges;
    for (int k = 0; k < *count; k++, r = r->next)
        limits[k] = emit_expression(b, r->kid[0]);
    return limits;
}

ssa natural_extent(emit *e, ssa extent) {
    ssa negative = emit_value(e, "icmp slt i64 %s, 0", extent.text);
    return emit_select_as(e, "i64", negative, ssa_constant(0), extent);
}

/* Loops over all ranges but the last, one in the other; their variables are bound. */
static counted_loop *nest_begin(body *b, const node *ranges, const ssa *limits, int count) {
    counted_loop *loops = arena_alloc(b->e->a, (size_t)count * sizeof *loops);
    int k = 0;
    for (const node *r = ranges; r->next; r = r->next, k++) {
        loops[k] = counted_loop_begin(b->e, "i64", ssa_constant(0), limits[k]);
        b->bound[r->local] = loops[k].i;
    }
    return loops;
}

static void nest_end(body *b, const node *construct, const counted_loop *loops, int count) {
    for (int k = count - 2; k >= 0; k--) {
        steps_count(b, construct);
        counted_loop_end(b->e, &loops[k], ssa_constant(1), 0);
    }
    for (const node *r = construct->args; r; r = r->next)
        b->bound[r->local] = ssa_none();
}

/* ---- Combining ---- */

static bool is_float_sum(const node *reduce) {
    return !reduce->callee && reduce->op == OP_ADD && dtype_is_floating((dtype)reduce->type);
}

/* "max" or "min" where one instruction of the GPU does what the reduction wants: NaN where there is one; which zero is left open. */
static const char *instruction_of(const body *b, const node *reduce) {
    enum {
        ARCH_NAN = 80 /* the first that has it */
    };
    const function *f = reduce->callee;
    const code_target *t = b->e->target;
    if (!f || !f->body || f->body->line || reduce->type != DT_FLOAT32 || !t->gpu || t->arch < ARCH_NAN)
        return NULL;
    return !strcmp(f->name, "max") ? "max" : !strcmp(f->name, "min") ? "min" : NULL;
}

ssa combine(body *b, const node *reduce, ssa x, ssa y) {
    dtype type = (dtype)reduce->type;
    const char *instruction = instruction_of(b, reduce);
    if (instruction)
        return emit_value(b->e, "call float asm \"%s.NaN.f32 $0, $1, $2;\", \"=f,f,f\"(float %s, float %s)",
                          instruction, x.text, y.text);
    if (reduce->callee)
        return emit_call(b, reduce->callee, (ssa[]){x, y}, reduce->line);
    if (type == DT_BOOL)
        return emit_value(b->e, "%s i1 %s, %s", reduce->op == OP_AND ? "and" : "or", x.text, y.text);
    if (is_float_sum(reduce))
        return emit_value(b->e, "fadd reassoc %s %s, %s", ir_value_type(type), x.text, y.text);
    return emit_binary(b->e, (op)reduce->op, type, x, y, type);
}

static ssa fused(emit *e, const char *t, ssa x, ssa y, ssa z) {
    const char *width = strcmp(t, "float") ? "f64" : "f32";
    emit_declare(e, "declare %s @llvm.fma.%s(%s, %s, %s)", t, width, t, t, t);
    return emit_value(e, "call %s @llvm.fma.%s(%s %s, %s %s, %s %s)", t, width, t, x.text, t, y.text, t, z.text);
}

/* A product that is summed is rounded once with the sum. */
static ssa add_product(body *b, const node *reduce, ssa so_far) {
    emit *e = b->e;
    const node *product = reduce->kid[0];
    const char *t = ir_value_type((dtype)reduce->type);
    ssa x = emit_expression(b, product->kid[0]), y = emit_expression(b, product->kid[1]);
    if (!e->target->gpu) {
        ssa p = emit_value(e, "fmul contract %s %s, %s", t, x.text, y.text);
        return emit_value(e, "fadd reassoc contract %s %s, %s", t, so_far.text, p.text);
    }
    return fused(e, t, x, y, so_far);
}

/* Is it a product of complex numbers by the language's own operator? */
static bool is_complex_product(const node *n) { return n->kind == N_CALL && function_is_own(n->callee, "complex_mul"); }

/* The same for a product of complex numbers, of which each real product is rounded with a sum. */
static ssa add_complex_product(body *b, const node *reduce, ssa so_far) {
    emit *e = b->e;
    dtype type = (dtype)reduce->type;
    const char *t = ir_memory_type(type);
    const node *product = reduce->kid[0];
    ssa x = emit_expression(b, product->args), y = emit_expression(b, product->args->next), part[4], sum[2];
    for (int i = 0; i < 2; i++) {
        part[i] = emit_part(e, type, x, i);
        part[2 + i] = emit_part(e, type, y, i);
        sum[i] = fused(e, t, part[0], part[2 + i], emit_part(e, type, so_far, i));
    }
    ssa less = emit_value(e, "fsub %s -0.0, %s", t, part[1].text);
    return emit_complex(e, type, fused(e, t, less, part[3], sum[0]), fused(e, t, part[1], part[2], sum[1]));
}

ssa accumulate(body *b, const node *reduce, ssa so_far) {
    const node *term = reduce->kid[0];
    if (b->e->target->gpu && !reduce->callee && reduce->op == OP_ADD && is_complex_product(term))
        return add_complex_product(b, reduce, so_far);
    if (is_float_sum(reduce) && term->kind == N_BINARY && term->op == OP_MUL)
        return add_product(b, reduce, so_far);
    ssa value = emit_expression(b, term);
    return combine(b, reduce, so_far, value);
}

/* ---- Accumulators ---- */

accumulator accumulator_new(body *b, const node *reduce) {
    accumulator a = {.slot = emit_slot(b, ir_value_type((dtype)reduce->type))};
    if (!reduce->is_identity)
        a.present = emit_slot(b, "i1");
    return a;
}

static void put(body *b, const char *type, ssa value, ssa slot) {
    emit_line(b->e, "store %s %s, %s* %s", type, value.text, type, slot.text);
}

void accumulator_clear(body *b, const node *reduce, const accumulator *a) {
    put(b, ir_value_type((dtype)reduce->type), emit_constant(reduce->value, (dtype)reduce->type), a->slot);
    if (ssa_is_set(a->present))
        put(b, "i1", ssa_bool(false), a->present);
}

void accumulator_set(body *b, const node *reduce, const accumulator *a, ssa value) {
    put(b, ir_value_type((dtype)reduce->type), value, a->slot);
}

ssa accumulator_read(body *b, const node *reduce, const accumulator *a) {
    const char *type = ir_value_type((dtype)reduce->type);
    return emit_value(b->e, "load %s, %s* %s", type, type, a->slot.text);
}

ssa accumulator_present(body *b, const accumulator *a) {
    return ssa_is_set(a->present) ? emit_value(b->e, "load i1, i1* %s", a->present.text) : ssa_none();
}

static bool has_loop(const node *list) {
    for (const node *n = list; n; n = n->next) {
        if (n->kind == N_LOOP || (n->callee && has_loop(n->callee->body)) || has_loop(n->args) || has_loop(n->body) ||
            has_loop(n->other))
            return true;
        for (int k = 0; k < 3; k++)
            if (has_loop(n->kid[k]))
                return true;
    }
    return false;
}

bool combines_by_loop(const node *reduce) { return reduce->callee && has_loop(reduce->callee->body); }

/* Combines only values that are present: with anything else the helper that combines might never end, or might report a failure. */
static void join_there(body *b, const node *reduce, const accumulator *a, ssa value, ssa present) {
    emit *e = b->e;
    const char *type = ir_value_type((dtype)reduce->type);
    int some = emit_label_new(e), both = emit_label_new(e), alone = emit_label_new(e), end = emit_label_new(e);
    emit_branch_if(e, present, some, end);
    emit_label(e, some);
    emit_branch_if(e, accumulator_present(b, a), both, alone);
    emit_label(e, both);
    put(b, type, combine(b, reduce, accumulator_read(b, reduce, a), value), a->slot);
    emit_branch(e, end);
    emit_label(e, alone);
    put(b, type, value, a->slot);
    put(b, "i1", ssa_bool(true), a->present);
    emit_branch(e, end);
    emit_label(e, end);
}

void accumulator_join(body *b, const node *reduce, const accumulator *a, ssa value, ssa present) {
    dtype type = (dtype)reduce->type;
    if (ssa_is_set(a->present) && (combines_by_loop(reduce) || (reduce->callee && reports(b->e)))) {
        join_there(b, reduce, a, value, present);
        return;
    }
    ssa old = accumulator_read(b, reduce, a), joined = combine(b, reduce, old, value);
    if (ssa_is_set(a->present)) {
        ssa had = accumulator_present(b, a), any = present;
        joined = emit_select(b->e, type, had, joined, value);
        if (!ssa_is(present, true)) {
            joined = emit_select(b->e, type, present, joined, old);
            any = emit_value(b->e, "or i1 %s, %s", had.text, present.text);
        }
        put(b, "i1", any, a->present);
    }
    put(b, ir_value_type(type), joined, a->slot);
}

void accumulator_term(body *b, const node *reduce, const accumulator *a, ssa counts) {
    dtype type = (dtype)reduce->type;
    if (ssa_is_set(a->present)) {
        ssa value = emit_expression(b, reduce->kid[0]);
        accumulator_join(b, reduce, a, value, ssa_or_true(counts));
        return;
    }
    ssa old = accumulator_read(b, reduce, a), next = accumulate(b, reduce, old);
    if (ssa_is_set(counts))
        next = emit_select(b->e, type, counts, next, old);
    put(b, ir_value_type(type), next, a->slot);
}

/* ---- Without loops (common/unrolled.h) ---- */

/* The iterations of a construct, one after the other, each of which binds the variables. Begin with next 0. */
typedef struct iteration {
    int count; /* ranges */
    int64_t *limit, *at;
    bool begun;
} iteration;

static iteration iterations_of(body *b, const node *ranges) {
    iteration x = {0};
    ssa *limits = ranges_read(b, ranges, &x.count);
    x.limit = arena_alloc(b->e->a, (size_t)x.count * sizeof *x.limit);
    x.at = arena_alloc(b->e->a, (size_t)x.count * sizeof *x.at);
    for (int k = 0; k < x.count; k++)
        if (!ssa_is_constant(limits[k], &x.limit[k]))
            unrolled_refuse(b);
    return x;
}

static bool iterate(body *b, const node *ranges, iteration *x) {
    bool more = true;
    b->e->written.lines++;
    emit_bound(b->e);
    for (int k = 0; k < x->count && !x->begun; k++)
        more &= x->limit[k] > 0;
    int k = x->count - 1;
    for (; k >= 0 && x->begun && ++x->at[k] == x->limit[k]; k--)
        x->at[k] = 0;
    more &= k >= 0;
    x->begun = true;
    k = 0;
    for (const node *r = ranges; r; r = r->next, k++)
        b->bound[r->local] = more ? ssa_constant(x->at[k]) : ssa_none();
    return more;
}

static ssa reduce_unrolled(body *b, const node *n) {
    iteration x = iterations_of(b, n->args);
    ssa value = emit_constant(n->value, (dtype)n->type);
    bool some = n->is_identity;
    b->depth++;
    for (; iterate(b, n->args, &x); some = true)
        value = some ? accumulate(b, n, value) : emit_expression(b, n->kid[0]);
    b->depth--;
    return value;
}

/* The iterations of a forall around its one statement, term by term: each term of all sums, then the next, so that what several sums
 * need of a term is at hand. The order of a sum's own terms is the same. */
static void forall_by_terms(body *b, const node *n, const node *sum) {
    iteration terms = iterations_of(b, sum->args), points = iterations_of(b, n->args);
    int64_t count = 1;
    bool some = sum->is_identity;
    for (int k = 0; k < points.count; k++)
        count *= points.limit[k] > 0 ? points.limit[k] : 0;
    ssa *sums = arena_alloc(b->e->a, (size_t)(count + 1) * sizeof *sums);
    for (int64_t i = 0; i < count; i++)
        sums[i] = emit_constant(sum->value, (dtype)sum->type);
    for (; iterate(b, sum->args, &terms); some = true, points.begun = false)
        for (int64_t i = 0; iterate(b, n->args, &points); i++)
            sums[i] = some ? accumulate(b, sum, sums[i]) : emit_expression(b, sum->kid[0]);
    b->summed = sum;
    for (int64_t i = 0; iterate(b, n->args, &points); i++) {
        b->sum = sums[i];
        emit_statements(b, n->body);
    }
    b->summed = NULL;
}

typedef struct sums_found {
    const node *last;
    int count;
} sums_found;

static void find_sum(const node *n, void *user) {
    sums_found *s = user;
    if (n->kind == N_REDUCE) {
        s->last = n;
        s->count++;
    }
}

/* The only reduction in the one statement of a forall, if its ranges are those of all iterations; else NULL. */
static const node *sum_of_all(const body *b, const node *forall) {
    sums_found s = {NULL, 0};
    if (!b->is_kernel || !frame_has_parts(b->e->frame) || !forall->body || forall->body->next)
        return NULL;
    node_each(forall->body, find_sum, &s);
    for (const node *r = s.count == 1 ? s.last->args : NULL; r; r = r->next)
        if (r->kid[0]->kind != N_SIZE && r->kid[0]->kind != N_CONST)
            return NULL;
    return s.count == 1 ? s.last : NULL;
}

static void forall_unrolled(body *b, const node *n) {
    const node *sum = sum_of_all(b, n);
    int leave = b->leave, next = b->next;
    b->depth++;
    if (sum) {
        forall_by_terms(b, n, sum);
    } else {
        iteration x = iterations_of(b, n->args);
        while (iterate(b, n->args, &x))
            emit_statements(b, n->body);
    }
    b->depth--;
    b->leave = leave;
    b->next = next;
}

/* ---- Loops ---- */

/* Goes on at label `end` where a condition is false; but what depends on the variable of the innermost loop is a part of b->chosen. */
static void choose_by(body *b, const node *condition, int variable, int end) {
    emit *e = b->e;
    if (condition->kind == N_AND) {
        choose_by(b, condition->kid[0], variable, end);
        choose_by(b, condition->kid[1], variable, end);
        return;
    }
    ssa holds = emit_expression(b, condition);
    if (jam_depends(condition, variable)) {
        b->chosen = ssa_is_set(b->chosen) ? emit_op(e, "and i1", b->chosen, holds) : holds;
        return;
    }
    int on = emit_label_new(e);
    emit_branch_if(e, holds, on, end);
    emit_label(e, on);
}

/* A compound assignment behind conditions, which is done without a branch that differs between the lanes of a vector: the element keeps its
 * value where one is false. A masked store would do, but what is loaded of its line waits until it is in the cache. */
static void assign_by_choice(body *b, const node *s, int variable) {
    int end = emit_label_new(b->e);
    for (; s->kind == N_IF; s = s->body)
        choose_by(b, s->kid[0], variable, end);
    emit_statement(b, s);
    b->chosen = ssa_none();
    emit_branch(b->e, end);
    emit_label(b->e, end);
}

typedef struct steady_search {
    const body *b;
    bool found;
} steady_search;

static void find_steady(const node *n, void *user) {
    steady_search *s = user;
    const node *steady = NULL;
    if (n->kind == N_FORALL)
        walks_apart(s->b, n, &steady);
    s->found |= steady != NULL;
}

/* Has the kernel a forall with a steady element? Such are over pairs, as in the elimination of a matrix, so that sizes are small; and all other
 * foralls take little time beside it. */
static bool has_steady(const body *b) {
    steady_search s = {.b = b};
    if (b->is_kernel)
        node_each(b->f->body, find_steady, &s);
    return s.found;
}

/* The innermost loop of a construct. */
typedef struct innermost {
    const node *construct;
    const accumulator *into; /* of a reduction; NULL: it is a forall */
    const node *steady;      /* an element that is read before the loop (walks_apart); NULL: none */
    bool apart, few;         /* elements are a stride apart; there are few iterations */
    int lanes;               /* of a vector, where rows are short; 0: LLVM chooses */
} innermost;

/* The term, or the identity where no element is there: LLVM knows a sum that depends on a condition as one in some versions only. */
static void term_or_identity(body *b, const innermost *x) {
    const node *n = x->construct;
    dtype type = (dtype)n->type;
    if (!ssa_is_set(b->there) || !n->is_identity) {
        accumulator_term(b, n, x->into, b->there_too);
        return;
    }
    ssa term = emit_expression(b, n->kid[0]);
    term = emit_select(b->e, type, b->there_too, term, emit_constant(n->value, type));
    accumulator_join(b, n, x->into, term, ssa_bool(true));
}

/* The body of a forall or the term of a reduction. */
static void innermost_body(body *b, const innermost *x) {
    if (x->into)
        term_or_identity(b, x);
    else if (x->steady)
        assign_by_choice(b, x->construct->body, last_range(x->construct->args)->local);
    else
        emit_statements(b, x->construct->body);
}

/* From `first` on. rest: of a math_loop, the second one. */
static void innermost_loop(body *b, const innermost *x, ssa first, ssa limit, const math_loop *m, bool rest) {
    emit *e = b->e;
    int group = e->access_group, hints[1 + FEW_LANE_HINTS + MATH_LOOP_HINTS], n = 0;
    if (x->steady) {
        b->steady_value = emit_expression(b, x->steady);
        b->steady = x->steady;
    }
    ssa limit_too = rest ? unknown_value(e, limit) : limit;
    counted_loop l = counted_loop_begin(e, "i64", first, rest ? math_loop_end(e, m, limit) : limit);
    b->along = last_range(x->construct->args)->local;
    b->bound[b->along] = l.i;
    if (rest)
        lanes_guard(b, l.i, limit, limit_too);
    if (x->apart) {
        hints[n++] = loop_no_vectors(e);
    } else if ((!x->into || x->construct->kid[0]->kind == N_ASSIGN) && !e->target->gpu) {
        e->access_group = emit_metadata(e, "distinct !{}");
        hints[n++] = emit_metadata(e, "!{!\"llvm.loop.parallel_accesses\", !%d}", e->access_group);
    }
    if (x->few || (x->lanes && !m->split))
        n += loop_few_lanes(e, x->few ? FEW_LANES : x->lanes, hints + n);
    n += math_loop_hints(e, m, rest, hints + n);
    innermost_body(b, x);
    lanes_unguard(b);
    e->access_group = group;
    steps_count(b, x->construct);
    counted_loop_end_hints(e, &l, ssa_constant(1), hints, n);
    b->steady = NULL;
}

static void innermost_loops(body *b, const innermost *x, ssa first, ssa limit) {
    math_loop m = x->apart || x->few ? (math_loop){0} : math_loop_of(b, x->construct);
    if (m.split) {
        if (x->lanes && !target_masks_freely(b->e->target))
            m.at_once = 1; /* of a short row as little as can be is left to the loop whose lanes have conditions */
        limit = unknown_value(b->e, natural_extent(b->e, limit));
        ssa whole = math_loop_whole(b->e, &m, limit);
        innermost_loop(b, x, first, whole, &m, false);
        first = whole;
    }
    innermost_loop(b, x, first, limit, &m, m.split);
}

/* The lanes of vectors that leave least of rows of few elements, which is what the loop goes along (gufunc.lanes). 0: LLVM chooses. */
static int row_lanes(const body *b, const node *construct) {
    return walks_rows(b, construct) && b->e->frame->v->gufunc.lanes ? 1 << b->e->frame->v->gufunc.lanes : 0;
}

/* May terms of a reduction be combined in another order? Rounding is then that of sums (docs/language.md). */
static bool takes_any_order(const node *reduce) {
    return is_float_sum(reduce) || (!reduce->callee && dtype_is_integer((dtype)reduce->type));
}

/* Does a reduction of elements that are apart take its terms one by one? Lanes shorten the time that one waits for the one before, but are much
 * code: they are for rows of any length, not for what a loop of the text leaves of a column. Only extrema, which no order changes. */
static bool one_by_one(const node *n) {
    return (function_is_own(n->callee, "max") || function_is_own(n->callee, "min")) && n->args->kid[0]->kind != N_SIZE;
}

static ssa reduce_alone(body *b, const node *n) {
    int count;
    ssa *limits = ranges_read(b, n->args, &count), first = ssa_constant(0);
    accumulator a = accumulator_new(b, n);
    innermost x = {.construct = n, .into = &a};
    accumulator_clear(b, n, &a);
    b->depth++;
    x.apart = walks_apart(b, n, &x.steady);
    x.lanes = takes_any_order(n) ? row_lanes(b, n) : 0;
    bool lanes = vector_reduce_fits(b, n) && !(x.apart && one_by_one(n));
    if (!lanes || !vector_reduce(b, n, limits[0], x.apart, &a, &first)) {
        counted_loop *loops = nest_begin(b, n->args, limits, count);
        innermost_loops(b, &x, first, limits[count - 1]);
        nest_end(b, n, loops, count);
    }
    b->depth--;
    return accumulator_read(b, n, &a);
}

void forall_alone(body *b, const node *n, const ssa *limits, int count) {
    int leave = b->leave, next = b->next;
    innermost x = {.construct = n};
    x.apart = walks_apart(b, n, &x.steady);
    x.few = !x.apart && !b->e->target->gpu && has_steady(b);
    x.lanes = row_lanes(b, n);
    b->depth++;
    counted_loop *loops = nest_begin(b, n->args, limits, count);
    innermost_loops(b, &x, ssa_constant(0), limits[count - 1]);
    nest_end(b, n, loops, count);
    b->depth--;
    b->leave = leave;
    b->next = next;
}

static void forall_plainly(body *b, const node *n) {
    int count;
    ssa *limits = ranges_read(b, n->args, &count);
    forall_alone(b, n, limits, count);
}

/* A step of a reduction that stands alone (ir/common/rewrite.c): joins the term to what kid[1] is. */
static ssa reduce_step(body *b, const node *n) {
    ssa so_far = emit_expression(b, n->kid[1]);
    return accumulate(b, n, so_far);
}

static bool is_mapped(const body *b) { return b->is_kernel && b->e->frame->mapped; }

ssa emit_reduce(body *b, const node *n) {
    ssa value;
    if (n == b->summed)
        return b->sum;
    if (!n->args)
        return reduce_step(b, n);
    if (b->hooks && b->hooks->reduce && b->hooks->reduce(b, n, &value))
        return value;
    bool over_coop = is_mapped(b) && (b->depth == 0 || b->by_lanes);
    if (b->unrolled)
        return reduce_unrolled(b, n);
    return over_coop ? mapped_reduce(b, n) : reduce_alone(b, n);
}

void emit_forall(body *b, const node *n) {
    if (b->unrolled)
        forall_unrolled(b, n);
    else if (is_mapped(b) && b->depth == 0)
        mapped_forall(b, n);
    else if (b->is_kernel && b->e->frame->v->loop == LOOP_GUFUNC && b->e->frame->v->gufunc.columns)
        columns_forall(b, n);
    else if (b->is_kernel && frame_has_strips(b->e->frame))
        forall_of_calls(b, n);
    else if (interchange_fits(b, n))
        interchange_forall(b, n);
    else
        forall_plainly(b, n);
}
