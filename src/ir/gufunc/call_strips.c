/* call_strips.c - see call_strips.h. The kernel is written anew, with the calls as one more range: a variable becomes an array with an element for
 * each call, and "auto top = max(i : n, x[i]);" becomes "forall (c : calls) top[c] = max(i : n, x[i][c]);", whose loops are interchanged
 * (ir/construct/interchange.c). Softmax of columns of 12 and 40 float64, one thread of a Xeon with AVX-512, ns an element: copied to rows 4.0 and
 * 4.7, in strips 1.7. */
#include "ir/gufunc/call_strips.h"

#include <string.h>

#include "ir/common/nodes.h"
#include "ir/common/rewrite.h"
#include "ir/common/target.h"
#include "ir/gufunc/call_copy.h"

/* ---- What fits ---- */

static void find_loop(const node *n, void *user) {
    bool *found = user;
    *found |= n->kind == N_LOOP || n->kind == N_SWITCH || n->kind == N_REDUCE || n->kind == N_IF;
    if (n->kind == N_CALL && n->callee)
        node_each(n->callee->body, find_loop, user);
}

/* Is it the same for all calls, as it is made of sizes and of variables of ranges? */
static bool is_steady(const node *n, const node *const *ranges) {
    switch (n->kind) {
    case N_CONST:
    case N_SIZE:
        return true;
    case N_LOCAL:
        for (int i = 0; i < 2; i++)
            for (const node *r = ranges[i]; r; r = r->next)
                if (r->local == n->local)
                    return true;
        return false;
    case N_CONVERT:
    case N_UNARY:
        return is_steady(n->kid[0], ranges);
    case N_BINARY:
        return is_steady(n->kid[0], ranges) && is_steady(n->kid[1], ranges);
    default:
        return false;
    }
}

static bool indices_fit(const function *f, const node *n, const node *const *ranges) {
    const local *l = &f->locals[n->local];
    bool all = l->core && l->rank;
    for (int d = 0; d < l->rank && all; d++)
        all = is_steady(element_index(n, l->rank, d), ranges);
    return all;
}

static bool ranges_fit(const node *ranges) {
    static const node *const none[2];
    bool all = true;
    for (const node *r = ranges; r; r = r->next)
        all &= is_steady(r->kid[0], none);
    return all;
}

static bool list_fits(const function *f, const node *list, const node *const *ranges, bool reached);

/* ranges[0]: of the forall around, ranges[1]: of the reduction. reached: it is evaluated in all calls. A reduction stands in neither of both, and
 * has an accumulator that vectors hold. */
static bool expression_fits(const function *f, const node *n, const node *const *ranges, bool reached) {
    if (!n)
        return true;
    if (dtype_is_complex((dtype)n->type))
        return false;
    switch (n->kind) {
    case N_CONST:
    case N_LOCAL:
    case N_SIZE:
        return true;
    case N_ELEMENT:
        return indices_fit(f, n, ranges);
    case N_CALL: {
        bool loops = n->other != NULL;
        node_each(n->callee->body, find_loop, &loops);
        return !loops && list_fits(f, n->args, ranges, reached);
    }
    case N_MATH:
        return list_fits(f, n->args, ranges, reached);
    case N_CONVERT:
    case N_UNARY:
    case N_BINARY:
        return expression_fits(f, n->kid[0], ranges, reached) && expression_fits(f, n->kid[1], ranges, reached);
    case N_AND:
    case N_OR:
    case N_SELECT:
        return expression_fits(f, n->kid[0], ranges, reached) && expression_fits(f, n->kid[1], ranges, false) &&
               expression_fits(f, n->kid[2], ranges, false);
    case N_REDUCE: {
        const node *own[] = {ranges[0], n->args};
        return reached && !ranges[0] && !ranges[1] && n->is_identity && n->type != DT_BOOL && ranges_fit(n->args) &&
               expression_fits(f, n->kid[0], own, true);
    }
    default:
        return false;
    }
}

static bool list_fits(const function *f, const node *list, const node *const *ranges, bool reached) {
    bool all = true;
    for (; list && all; list = list->next)
        all = expression_fits(f, list, ranges, reached);
    return all;
}

static bool is_result(const function *f, const node *n) {
    return n->local >= f->nparams && n->local < f->nparams + f->nresults;
}

/* An assignment to an element of an output or, outside of a forall, to a number that is no input: where those are arrays they would be written. */
static bool assignment_fits(const function *f, const node *n, const node *const *ranges) {
    const node *to = n->kind == N_EVAL && n->kid[0]->kind == N_ASSIGN ? n->kid[0]->kid[0] : NULL;
    if (!to || !expression_fits(f, n->kid[0]->kid[1], ranges, true))
        return false;
    return to->kind == N_ELEMENT ? is_result(f, to) && indices_fit(f, to, ranges)
                                 : !ranges[0] && to->local >= f->nparams;
}

static bool statement_fits(const function *f, const node *n) {
    static const node *const none[2];
    if (n->kind == N_DECLARE)
        return !f->locals[n->local].rank && !n->body && expression_fits(f, n->kid[0], none, true);
    if (n->kind != N_FORALL)
        return assignment_fits(f, n, none);
    const node *ranges[] = {n->args, NULL};
    bool all = ranges_fit(n->args);
    for (const node *s = n->body; s && all; s = s->next)
        all = assignment_fits(f, s, ranges);
    return all;
}

/* Numbers of 4 and 8 bytes. */
static bool types_fit(const function *f) {
    bool all = true;
    for (int k = 0; k < f->nparams + f->nresults; k++)
        all &= dtypes[f->locals[k].type].size >= 4 && !dtype_is_complex(f->locals[k].type) &&
               f->locals[k].rank < LAYOUT_MAX_RANK;
    return all;
}

static void count_arrays(const node *n, void *user) { *(int *)user += n->kind == N_DECLARE || n->kind == N_REDUCE; }

/* Variables, and accumulators of reductions, are arrays on the stack. */
static bool arrays_fit(const function *f) {
    enum {
        ARRAYS_MOST = 16
    };
    int arrays = 0;
    node_each(f->body, count_arrays, &arrays);
    return arrays <= ARRAYS_MOST;
}

bool call_strips_fit(const tree *t) {
    const function *f = t->kernel;
    bool all = types_fit(f) && arrays_fit(f) && t->layout->ndims < LAYOUT_MAX_DIMS && !t->layout->nindices;
    for (const node *n = f->body; n && all; n = n->next)
        all = statement_fits(f, n);
    return all;
}

static void find_vectored(const node *n, void *user) { *(bool *)user |= n->kind == N_MATH && n->math->vector; }

static void find_terms(const node *n, void *user) {
    if (n->kind == N_REDUCE)
        node_visit(n->kid[0], find_vectored, user);
}

bool call_strips_vectored(const tree *t) {
    bool found = false;
    node_each(t->kernel->body, find_terms, &found);
    return found;
}

/* ---- The kernel for a strip ---- */

typedef struct lifting {
    arena *a;
    const tree *t;
    const variant *v;
    core_layout *layout;
    int call; /* the calls' variable */
    bool failed;
    node nowhere;
} lifting;

static int operands_of(const tree *t) { return t->kernel->nparams + t->kernel->nresults; }

static bool lies_beside(const variant *v, const core_layout *layout, int k) {
    return v->operand[k].unit == layout->operands[k].rank + 1;
}

/* Is there one for each call of the strip? An operand, or a variable that a statement of the kernel's own declares. */
static bool is_lifted(const lifting *c, int k) {
    if (k < operands_of(c->t))
        return lies_beside(c->v, c->t->layout, k);
    for (const node *n = c->t->kernel->body; n; n = n->next)
        if (n->kind == N_DECLARE && n->local == k)
            return true;
    return false;
}

static node *node_like(lifting *c, const node *like) {
    node *n = arena_alloc(c->a, sizeof *n);
    c->failed |= !n;
    n = n ? n : &c->nowhere;
    *n = *like;
    n->next = NULL;
    return n;
}

static node *copy_node(lifting *c, const node *n);

static node *copy_list(lifting *c, const node *n) {
    node *first = NULL, **end = &first;
    for (; n && !c->failed; n = n->next) {
        *end = copy_node(c, n);
        end = &(*end)->next;
    }
    return first;
}

/* An element, or a number, at the call's index behind its own. */
static node *lifted_element(lifting *c, const node *like, int rank) {
    node *n = node_like(c, like), *list = NULL, **end = &list;
    n->kind = N_ELEMENT;
    n->args = n->kid[0] = n->kid[1] = n->kid[2] = NULL;
    n->unchecked = like->unchecked || !rank;
    for (int d = 0; d <= rank && !c->failed; d++) {
        node *index = d < rank ? copy_node(c, element_index(like, rank, d))
                               : node_like(c, &(node){.kind = N_LOCAL, .type = DT_INT64, .local = c->call});
        if (rank < 3) {
            n->kid[d] = index;
            continue;
        }
        *end = index;
        end = &index->next;
    }
    n->args = list;
    return n;
}

static node *copy_node(lifting *c, const node *n) {
    if ((n->kind == N_LOCAL || n->kind == N_ELEMENT) && is_lifted(c, n->local))
        return lifted_element(c, n, n->kind == N_ELEMENT ? c->t->kernel->locals[n->local].rank : 0);
    node *copy = node_like(c, n);
    for (int k = 0; k < 3; k++)
        copy->kid[k] = n->kid[k] ? copy_node(c, n->kid[k]) : NULL;
    copy->args = copy_list(c, n->args);
    copy->body = copy_list(c, n->body);
    return copy;
}

static node **list_end(node **list) {
    while (*list)
        list = &(*list)->next;
    return list;
}

/* The range of the calls, behind those of a forall. */
static node *with_calls(lifting *c, node *ranges) {
    node *size = node_like(c, &(node){.kind = N_SIZE, .type = DT_INT64, .dim = c->t->layout->ndims});
    node *range = node_like(c, &(node){.kind = N_RANGE, .type = DT_INT64, .local = c->call, .kid = {size}});
    *list_end(&ranges) = range;
    return ranges;
}

/* What a declaration or an assignment outside of a forall does, for one call. */
static node *assignment(lifting *c, const node *n) {
    if (n->kind != N_DECLARE)
        return copy_node(c, n);
    dtype type = c->t->kernel->locals[n->local].type;
    node *to = lifted_element(c, &(node){.type = (uint8_t)type, .local = n->local, .line = n->line}, 0);
    node *value = n->kid[0] ? copy_node(c, n->kid[0]) : node_like(c, &(node){.kind = N_CONST, .type = (uint8_t)type});
    node *assign = node_like(c, &(node){.kind = N_ASSIGN, .type = (uint8_t)type, .line = n->line, .kid = {to, value}});
    return node_like(c, &(node){.kind = N_EVAL, .line = n->line, .kid = {assign}});
}

/* A declaration or an assignment that reduces nothing stands in one forall with what is before it, and so in one loop over the strip. */
static bool joins(const node *n, const node *before) {
    return before && !before->args->next && n->kind != N_FORALL && !node_reduces(n);
}

static node *lifted_statement(lifting *c, const node *n) {
    bool forall = n->kind == N_FORALL;
    node *ranges = forall ? copy_list(c, n->args) : NULL, *does = forall ? copy_list(c, n->body) : assignment(c, n);
    return node_like(c, &(node){.kind = N_FORALL,
                                .line = n->line,
                                .counted = n->counted,
                                .sized = n->sized,
                                .args = with_calls(c, ranges),
                                .body = does});
}

/* One more dimension behind the others, and for the operands concerned one more stride. */
static bool lift_layout(lifting *c) {
    const core_layout *from = c->t->layout;
    int n = operands_of(c->t), strides = from->ndims + 1;
    core_layout *to = arena_alloc(c->a, sizeof *to);
    layout_dim *dims = arena_alloc(c->a, (size_t)(from->ndims + 1) * sizeof *dims);
    layout_operand *operands = arena_alloc(c->a, (size_t)n * sizeof *operands);
    if (!to || !dims || !operands)
        return false;
    memcpy(dims, from->dims, (size_t)from->ndims * sizeof *dims);
    dims[from->ndims] = (layout_dim){.name = "calls"};
    for (int k = 0; k < n; k++) {
        operands[k] = from->operands[k];
        if (lies_beside(c->v, from, k))
            operands[k].dim[operands[k].rank++] = (uint8_t)from->ndims;
        operands[k].strides = strides;
        strides += operands[k].rank;
    }
    *to = *from;
    to->ndims = from->ndims + 1;
    to->nparameters = strides;
    to->dims = dims;
    to->operands = operands;
    c->layout = to;
    return true;
}

static bool lift_locals(lifting *c, function *f) {
    local *locals = arena_alloc(c->a, (size_t)(c->call + 1) * sizeof *locals);
    if (!locals)
        return false;
    for (int k = 0; k < c->call; k++) {
        local *l = &locals[k];
        *l = f->locals[k];
        if (!is_lifted(c, k))
            continue;
        l->core = k < operands_of(c->t);
        l->extent[l->rank] = l->core ? -1 : CALL_STRIP;
        l->dim[l->rank++] = (uint8_t)c->t->layout->ndims;
    }
    locals[c->call] = (local){.name = "c", .type = DT_INT64};
    f->locals = locals;
    f->nlocals = c->call + 1;
    return true;
}

tree *call_strips_lift(arena *a, const tree *t, const variant *v) {
    rewriter r = {.a = a, .nodes_most = 2 * LANG_MAX_NODES};
    tree *to = rewrite_tree(&r, t);
    if (!to)
        return NULL;
    function from = *to->kernel, *f = to->kernel;
    tree before = *to;
    before.kernel = &from;
    lifting c = {.a = a, .t = &before, .v = v, .call = from.nlocals};
    if (!lift_layout(&c) || !lift_locals(&c, f))
        return NULL;
    node *last = NULL, **end = &f->body;
    f->body = NULL;
    for (const node *n = from.body; n && !c.failed; n = n->next) {
        if (joins(n, last)) {
            *list_end(&last->body) = assignment(&c, n);
            continue;
        }
        *end = last = lifted_statement(&c, n);
        end = &last->next;
    }
    to->layout = c.layout;
    return c.failed ? NULL : to;
}

/* ---- Calls ---- */

typedef struct strips {
    gufunc_writer *w;
    const ssa *row, *stride; /* see call_strips_row */
    ssa first, left;         /* the strip's first call, and how many there are from it on (i64) */
    ssa few; /* i1: these are less than a vector. Then operands that lie side by side are copied, as staged ones always are: */
    ssa array[UF_MAX_OPERANDS];
} strips;

static int operands_written(const gufunc_writer *w) { return w->s.v->nin + w->s.v->nout; }

static bool is_staged(const gufunc_writer *w, int k) { return w->s.v->operand[k].staged; }

/* Calls of a strip, at most. */
static int calls_most(const gufunc_writer *w) {
    bool staged = false;
    for (int k = 0; k < operands_written(w); k++)
        staged |= is_staged(w, k);
    return staged ? STAGED_STRIP : CALL_STRIP;
}

/* How far neighbours of a core are apart in an operand's array: calls lie side by side in between. */
static int array_apart(const gufunc_writer *w, int k) { return is_staged(w, k) ? STAGED_STRIP : w->frame.strip_lanes; }

static ssa array_step(const strips *p, int k, int d) {
    return core_array_step(p->w, &p->w->told->operands[k], d, array_apart(p->w, k));
}

/* In the thread's scratch memory, which has room (cpu/engine.c). */
static void arrays_place(strips *p) {
    gufunc_writer *w = p->w;
    emit *e = w->s.e;
    ssa at = emit_scratch(e, THREAD_SCRATCH_BYTES - CALL_GROUP_BYTES);
    for (int k = 0; k < operands_written(w); k++) {
        if (!lies_beside(w->s.v, w->told, k))
            continue;
        dtype t = skeleton_memory(&w->s, k);
        p->array[k] = emit_value(e, "bitcast i8* %s to %s*", at.text, ir_memory_type(t));
        ssa bytes = emit_value(e, "mul i64 %s, %d", array_step(p, k, -1).text, dtypes[t].size);
        at = emit_value(e, "getelementptr i8, i8* %s, i64 %s", at.text, bytes.text);
    }
}

/* ---- Copies ---- */

/* A copy of the elements of `count` calls between memory and the array; those of a staged operand are `pitch` elements apart in memory. */
typedef struct copying {
    const strips *p;
    int k;
    bool out;
    ssa count, pitch;
} copying;

/* The elements along the last dimension: the first is so many elements behind the beginning of the row, and of the array. */
static void copy_line(const void *user, ssa offset, ssa element) {
    const copying *c = user;
    const gufunc_writer *w = c->p->w;
    const layout_operand *o = &w->told->operands[c->k];
    int last = o->rank - 1, size = dtypes[skeleton_memory(&w->s, c->k)].size;
    ssa extent = o->rank ? w->core[o->dim[last]] : ssa_constant(1),
        memory = call_copy_place(w, c->k, c->p->row[c->k], offset),
        array = call_copy_place(w, c->k, c->p->array[c->k], element);
    if (is_staged(w, c->k)) { /* the lines of call_copy.h are memory's, which have elements side by side */
        call_copy rows = {size, memory, array, extent, array_step(c->p, c->k, last), c->count, c->pitch};
        emit_call_copy(w->s.e, &rows, !c->out);
        return;
    }
    ssa step = o->rank ? w->core[o->strides + last] : ssa_constant(0);
    call_copy columns = {size, array, memory, extent, step, c->count, ssa_none()};
    emit_few_calls_copy(w->s.e, &columns, w->frame.strip_lanes, c->out);
}

/* From so many elements behind the beginning of the row, and of the array. */
static void copy_core(const copying *c, ssa offset, ssa element) {
    gufunc_writer *w = c->p->w;
    core_array_lines(w, &w->told->operands[c->k], array_apart(w, c->k), offset, element, copy_line, c);
}

static ssa call_at(const strips *p, int k, ssa call) { return emit_op(p->w->s.e, "mul i64", call, p->stride[k]); }

/* The operands that are staged, or those that are not. */
static void copy_operands(const strips *p, bool staged, ssa count, bool out) {
    const gufunc_writer *w = p->w;
    for (int k = out ? w->s.v->nin : 0; k < operands_written(w); k++)
        if (ssa_is_set(p->array[k]) && is_staged(w, k) == staged &&
            (out || k < w->s.v->nin || needs_content(w->s.t->kernel, k)))
            copy_core(&(copying){p, k, out, count, p->stride[k]}, call_at(p, k, p->first), ssa_constant(0));
}

/* Lanes of staged inputs behind the last call become copies of it. */
static void repeat_last(const strips *p) {
    const gufunc_writer *w = p->w;
    emit *e = w->s.e;
    ssa more = emit_op(e, "sub i64", ssa_constant(w->frame.strip_lanes), p->left),
        last = emit_op(e, "add i64", p->first, emit_op(e, "sub i64", p->left, ssa_constant(1)));
    for (int k = 0; k < operands_written(w); k++)
        if (is_staged(w, k) && (k < w->s.v->nin || needs_content(w->s.t->kernel, k)))
            copy_core(&(copying){p, k, false, more, ssa_constant(0)}, call_at(p, k, last), p->left);
}

/* calls: of the strip, in whole vectors. */
static void copy_calls(const strips *p, ssa calls, bool out) {
    emit *e = p->w->s.e;
    copy_operands(p, true, emit_select_as(e, "i64", p->few, p->left, calls), out);
    int end = skeleton_if(&p->w->s, p->few);
    copy_operands(p, false, p->left, out);
    if (!out)
        repeat_last(p);
    skeleton_end_if(&p->w->s, end);
}

/* As many calls (i64) as a strip takes, of which LLVM knows that it is a number of whole vectors, and more than none. */
static ssa whole_vectors(const strips *p) {
    emit *e = p->w->s.e;
    int lanes = p->w->frame.strip_lanes;
    ssa most = ssa_constant(calls_most(p->w)),
        some = emit_select_as(e, "i64", p->few, ssa_constant(lanes), emit_min(e, p->left, most));
    ssa calls = emit_value(e, "and i64 %s, %d", unknown_each_time(e, some).text, -lanes);
    emit_declare(e, "declare void @llvm.assume(i1)");
    emit_line(e, "call void @llvm.assume(i1 %s)", emit_op(e, "icmp sgt i64", calls, ssa_constant(0)).text);
    return calls;
}

/* What the kernel of a strip is told: the sizes, how many calls there are, and the operands' strides. The others are those of the layout without
 * calls. */
static ssa *core_of_strip(const strips *p, ssa calls) {
    const gufunc_writer *w = p->w;
    emit *e = w->s.e;
    const core_layout *l = w->layout;
    ssa *own = arena_alloc(e->a, (size_t)l->nparameters * sizeof *own);
    for (int d = 0; d < l->ndims - 1; d++)
        own[d] = unknown_each_time(e, w->core[d]);
    own[l->ndims - 1] = calls;
    for (int k = 0; k < operands_written(w); k++)
        for (int d = 0; d < l->operands[k].rank; d++) {
            bool along = l->operands[k].dim[d] == l->ndims - 1;
            ssa step = along ? ssa_constant(1) : w->core[w->told->operands[k].strides + d];
            if (!along && is_staged(w, k))
                step = array_step(p, k, d);
            else if (!along && ssa_is_set(p->array[k]))
                step = unknown_each_time(e, emit_select_as(e, "i64", p->few, array_step(p, k, d), step));
            own[l->operands[k].strides + d] = step;
        }
    return own;
}

static ssa operand_at(const strips *p, int k) {
    gufunc_writer *w = p->w;
    if (k < operands_written(w) && is_staged(w, k))
        return p->array[k];
    ssa memory = skeleton_address(&w->s, k, p->row[k], call_at(p, k, p->first));
    if (k >= operands_written(w) || !ssa_is_set(p->array[k]))
        return memory;
    fragment type = fragment_of("%s*", ir_memory_type(skeleton_memory(&w->s, k)));
    return emit_select_as(w->s.e, type.text, p->few, p->array[k], memory);
}

void call_strips_row(gufunc_writer *w, const ssa *row, const ssa *stride, ssa extent) {
    emit *e = w->s.e;
    strips p = {.w = w, .row = row, .stride = stride};
    int lanes = w->frame.strip_lanes;
    ssa *core = w->core;
    if (lanes)
        arrays_place(&p);
    counted_loop l = counted_loop_begin(e, "i64", ssa_constant(0), extent);
    p.first = l.i;
    p.left = emit_op(e, "sub i64", extent, l.i);
    ssa most = ssa_constant(CALL_STRIP), calls;
    if (lanes) {
        p.few = emit_op(e, "icmp slt i64", p.left, ssa_constant(lanes));
        calls = whole_vectors(&p);
        copy_calls(&p, calls, false);
    } else {
        calls = emit_min(e, p.left, most);
    }
    for (int k = 0; k < w->s.noperands; k++)
        if (skeleton_is_array(&w->s, k))
            w->at[k] = operand_at(&p, k);
    w->core = core_of_strip(&p, calls);
    gufunc_call(w, ssa_none());
    w->core = core;
    if (lanes)
        copy_calls(&p, calls, true);
    counted_loop_end(e, &l, lanes ? calls : most, loop_no_unroll(e));
}

int call_strips_lanes(const variant *v, const code_target *t) {
    int largest = dtypes[DT_FLOAT32].size;
    for (int k = 0; k < v->nin + v->nout; k++)
        largest = dtypes[v->operand[k].memory].size > largest ? dtypes[v->operand[k].memory].size : largest;
    return target_masks_freely(t) ? 0 : t->vector_bits / 8 / largest;
}
