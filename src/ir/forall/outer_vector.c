/* outer_vector.c - which statements of a kernel the points of a run share, and loops over points for the others: see outer_vector.h. */
#include "ir/forall/outer_vector.h"

#include "ir/common/nodes.h"
#include "ir/forall/forall.h"
#include "ir/forall/guards.h"

enum {
    EXPANDED = -1,
    EXPANDED_MOST = 64, /* expanded variables: their arrays lie on the stack */
    NEAR = 8            /* greatest distance, in elements, from one point's element to that of the next */
};

/* ---- What varies ---- */

static bool list_varies(const outer_vector *p, const node *list);

/* Does nobody write the array of an element while the kernel runs? */
static bool stays(const outer_vector *p, const node *element) {
    const local *l = &p->f->locals[element->local];
    return l->table || (l->core && operand_stays(p->frame, p->f, element->local));
}

/* May an expression differ between the points of a run, in its value or its effect? */
static bool varies(const outer_vector *p, const node *n) {
    if (guards_get(p->guards, n))
        return false;
    if (n->kind == N_LOCAL)
        return p->varies[n->local];
    if (n->kind == N_ATOMIC || (n->kind == N_REDUCE && n->args))
        return true;
    if (n->kind == N_ELEMENT && !stays(p, n))
        return true;
    for (int k = 0; k < 3; k++)
        if (n->kid[k] && varies(p, n->kid[k]))
            return true;
    for (const node *a = n->args; a; a = a->next)
        if (varies(p, a))
            return true;
    for (const node *to = n->kind == N_CALL ? n->other : NULL; to; to = to->next)
        if (varies(p, to))
            return true;
    return n->kind == N_SEQUENCE && list_varies(p, n->body);
}

static bool is_own_loop(const outer_vector *p, const node *loop) {
    for (int i = 0; i < p->nown_loops; i++)
        if (p->own_loops[i] == loop)
            return true;
    return false;
}

static bool shares_loop(const outer_vector *p, const node *n) {
    if (is_own_loop(p, n) || (n->kid[0] && varies(p, n->kid[0])))
        return false;
    for (const node *s = n->step; s; s = s->next)
        if (varies(p, s->kid[0]))
            return false;
    return true;
}

static bool is_shared(const outer_vector *p, const node *n) {
    switch (n->kind) {
    case N_EVAL:
    case N_IF:
        return !varies(p, n->kid[0]);
    case N_DECLARE:
        return !p->varies[n->local] && !(n->kid[0] && varies(p, n->kid[0]));
    case N_LOOP:
        return shares_loop(p, n);
    case N_SWITCH:
    case N_CASE:
    case N_FORALL:
        return false;
    case N_INLINE:
        return node_is_block(n);
    default:
        return true;
    }
}

/* Is there a statement in a list, or within its statements, that points do not share? */
static bool list_varies(const outer_vector *p, const node *list) {
    for (const node *n = list; n; n = n->next)
        if (!is_shared(p, n) || list_varies(p, n->body) || list_varies(p, n->other))
            return true;
    return false;
}

/* ---- Statements that points do not share: what they assign varies, and their jumps may break up a shared loop ---- */

static void set_varies(outer_vector *p, int k) {
    p->changed |= !p->varies[k];
    p->varies[k] = true;
}

static void note_variable(const node *n, void *user) {
    for (const node *to = node_assigned(n); to; to = to->next)
        set_varies(user, to->local);
    if (n->kind == N_DECLARE || n->kind == N_RANGE)
        set_varies(user, n->local);
}

/* The jumps that leave a statement: break, continue, return. */
typedef struct jumps {
    bool leaves, goes_on, returns;
    bool to_end; /* of an N_INLINE, around the statement or in it */
} jumps;

static void find_jumps(const node *n, bool in_loop, jumps *j) {
    j->leaves |= n->kind == N_BREAK && !in_loop;
    j->goes_on |= n->kind == N_CONTINUE && !in_loop;
    j->returns |= n->kind == N_RETURN;
    j->to_end |= n->kind == N_LEAVE;
    const node *lists[] = {n->body, n->other};
    for (size_t i = 0; i < COUNT(lists); i++)
        for (const node *item = lists[i]; item; item = item->next)
            find_jumps(item, in_loop || n->kind == N_LOOP, j);
}

static void set_own_loop(outer_vector *p, const node *loop) {
    if (is_own_loop(p, loop))
        return;
    p->changed = true;
    if (p->nown_loops < OUTER_VECTOR_LOOPS)
        p->own_loops[p->nown_loops++] = loop;
    else
        p->fits = false;
}

static bool all_own(const outer_vector *p, const node *list) {
    for (const node *n = list; n; n = n->next)
        if (is_shared(p, n))
            return false;
    return true;
}

/* In a loop over points, continue and return both go to the end of that loop. This is right if no shared statement comes behind it in the
 * loop of the text, or for return in the kernel. `last` says whether the list that n stands in is the last in that loop. */
static void look_at_own(outer_vector *p, const node *n, const node *loop, bool last) {
    jumps j = {false};
    node_visit(n, note_variable, p);
    if (!p->settled)
        return;
    find_jumps(n, false, &j);
    if (loop && (j.leaves || j.returns || (j.goes_on && !(last && all_own(p, n->next)))))
        set_own_loop(p, loop);
    if (!loop && j.returns && !(last && all_own(p, n->next)))
        p->fits = false;
}

static void look(outer_vector *p, const node *list, const node *loop, bool last) {
    for (const node *n = list; n; n = n->next) {
        bool is_loop = n->kind == N_LOOP;
        if (!is_shared(p, n)) {
            look_at_own(p, n, loop, last);
            continue;
        }
        look(p, n->body, is_loop ? n : loop, is_loop || (last && !n->next));
        look(p, n->other, loop, last && !n->next);
    }
}

/* ---- What is gained ---- */

/* By how much an index grows from one point to the next; false: it is not known. */
static bool grows(const outer_vector *p, const node *n, int64_t *by) {
    int64_t other;
    *by = 0;
    if (!varies(p, n))
        return true;
    switch (n->kind) {
    case N_LOCAL:
        *by = 1;
        return n->local == p->index;
    case N_CONVERT:
        return grows(p, n->kid[0], by);
    case N_BINARY:
        if (n->op == OP_ADD || n->op == OP_SUB) {
            if (!grows(p, n->kid[0], by) || !grows(p, n->kid[1], &other))
                return false;
            *by += n->op == OP_ADD ? other : -other;
            return true;
        }
        for (int k = 0; n->op == OP_MUL && k < 2; k++)
            if (n->kid[k]->kind == N_CONST && grows(p, n->kid[!k], by) && n->kid[k]->value.as.u <= NEAR) {
                *by *= n->kid[k]->value.as.i;
                return true;
            }
        return false;
    default:
        return false;
    }
}

/* Are the elements of neighbouring points near each other in memory, or the same? Otherwise the loop of the text, which may go along
 * memory, does better. */
static bool is_near(const outer_vector *p, const node *n) {
    const local *l = &p->f->locals[n->local];
    for (int d = 0; d < l->rank; d++) {
        int64_t by;
        bool unit = (l->table ? l->rank : p->frame->v->operand[n->local].unit) == d + 1;
        if (!grows(p, element_index(n, l->rank, d), &by) || by < -NEAR || by > NEAR || (by && !unit))
            return false;
    }
    return true;
}

/* Does a node keep LLVM from making vectors of the loop that it stands in? */
static bool stays_single(const node *n) {
    switch (n->kind) {
    case N_LOOP:
    case N_SWITCH:
    case N_FORALL:
    case N_ATOMIC:
        return true;
    case N_REDUCE:
        return n->args;
    default:
        return false;
    }
}

/* The nodes of a helper, whose elements are those of arrays of its own. */
static void weigh_helper(const node *n, void *user) {
    outer_vector *p = user;
    p->fits &= !stays_single(n) && n->kind != N_ELEMENT;
    if (n->callee)
        node_each(n->callee->body, weigh_helper, p);
}

/* The nodes of a loop over points that stands in a loop of the text. */
static void weigh(const node *n, void *user) {
    outer_vector *p = user;
    p->fits &= !stays_single(n) && (n->kind != N_ELEMENT || is_near(p, n));
    if (n->callee)
        node_each(n->callee->body, weigh_helper, p);
}

static void note_used_in(const node *n, void *user) {
    outer_vector *p = user;
    if ((n->kind != N_LOCAL && n->kind != N_DECLARE) || !p->varies[n->local] || n->local == p->index)
        return;
    int *used_in = &p->used_in[n->local];
    *used_in = *used_in && *used_in != p->runs ? EXPANDED : p->runs;
}

static void look_closer(outer_vector *p, const node *list, bool in_loop) {
    bool run = false;
    for (const node *n = list; n; n = n->next) {
        if (is_shared(p, n)) {
            p->shared += n->kind == N_LOOP;
            look_closer(p, n->body, in_loop || n->kind == N_LOOP);
            look_closer(p, n->other, in_loop);
            run = false;
            continue;
        }
        p->runs += !run;
        run = true;
        node_visit(n, note_used_in, p);
        if (in_loop)
            node_visit(n, weigh, p);
    }
}

static bool is_array(const local *l) { return l->rank && !l->table; }

/* Is there anything that a run cannot have: local arrays, a switch, parameters that are assigned? */
static void refuse(const node *n, void *user) {
    outer_vector *p = user;
    const node *to = node_assigned(n);
    p->fits &= n->kind != N_SWITCH && !(n->kind == N_DECLARE && is_array(&p->f->locals[n->local]));
    for (; to; to = to->next)
        p->fits &= to->local >= p->f->nparams;
}

/* Is a 64-bit floating type computed with? The widest type decides how many points a vector holds. */
static void widen(const node *n, void *user) {
    bool *wide = user;
    dtype t = (dtype)n->type;
    *wide |= t != DT_NONE && dtype_is_floating(t) && dtypes[dtypes[t].component].size == 8;
}

static int expanded_count(const outer_vector *p) {
    int n = 0;
    for (int k = 0; k < p->f->nlocals; k++)
        n += p->used_in[k] == EXPANDED;
    return n;
}

/* How many vectors a value takes: two hide latencies, but expanded variables must stay in registers. */
static int vectors(const outer_vector *p, const code_target *target) {
    int registers = target->vector_bits == 512 ? 32 : 16;
    return 2 * expanded_count(p) + 8 <= registers ? 2 : 1;
}

outer_vector *outer_vector_find(emit *e, const tree *t, int last, const guards *decided) {
    const function *f = t->kernel;
    outer_vector *p = arena_alloc(e->a, sizeof *p);
    size_t n = (size_t)f->nlocals;
    bool wide = false;
    *p = (outer_vector){.f = f,
                        .frame = e->frame,
                        .guards = decided,
                        .index = f->nparams - t->layout->nindices + last,
                        .changed = true,
                        .fits = true};
    p->varies = arena_alloc(e->a, n * sizeof *p->varies);
    p->used_in = arena_alloc(e->a, n * sizeof *p->used_in);
    p->varies[p->index] = true;
    node_each(f->body, refuse, p);
    if (e->plain || !t->has_loop || !e->target->vector_bits || !p->fits)
        return NULL;
    do { /* what jumps break up depends on what varies, and what varies on which loops they have broken up */
        p->settled = !p->changed;
        p->changed = false;
        look(p, f->body, NULL, true);
    } while (p->changed || !p->settled);
    look_closer(p, f->body, false);
    node_each(f->body, widen, &wide);
    p->width = e->target->vector_bits / (wide ? 64 : 32) * vectors(p, e->target);
    return p->fits && p->shared && expanded_count(p) <= EXPANDED_MOST ? p : NULL;
}

/* ---- Code ---- */

static outer_vector *run_of(const body *b) { return b->user; }

/* The type of a value in an array: a bool is a byte. */
static const char *expanded_type(dtype t) { return t == DT_BOOL ? "i8" : ir_value_type(t); }

static void make_variables(body *b) {
    const outer_vector *p = run_of(b);
    for (int k = 0; k < b->f->nlocals; k++)
        if (p->used_in[k] == EXPANDED)
            text_printf(&b->slots, "  %%w%d = alloca [%d x %s], align 64\n", k, p->width,
                        expanded_type(b->f->locals[k].type));
}

/* The address of the point's value of an expanded variable. */
static ssa expanded_at(body *b, int k) {
    const char *t = expanded_type(b->f->locals[k].type);
    int n = run_of(b)->width;
    return emit_value(b->e, "getelementptr [%d x %s], [%d x %s]* %%w%d, i64 0, i64 %s", n, t, n, t, k,
                      run_of(b)->point.text);
}

static void store_expanded(body *b, int k) {
    emit *e = b->e;
    dtype type = b->f->locals[k].type;
    const char *t = ir_value_type(type), *expanded = expanded_type(type);
    ssa v = emit_value(e, "load %s, %s* %s", t, t, emit_local_slot(b, k).text);
    if (type == DT_BOOL)
        v = emit_value(e, "zext i1 %s to i8", v.text);
    ssa at = expanded_at(b, k);
    emit_line(e, "store %s %s, %s* %s, !llvm.access.group !%d", expanded, v.text, expanded, at.text,
              run_of(b)->variables);
}

static void load_expanded(body *b, int k) {
    emit *e = b->e;
    dtype type = b->f->locals[k].type;
    const char *t = ir_value_type(type), *expanded = expanded_type(type);
    ssa at = expanded_at(b, k);
    ssa v = emit_value(e, "load %s, %s* %s, !llvm.access.group !%d", expanded, expanded, at.text, run_of(b)->variables);
    if (type == DT_BOOL)
        v = emit_value(e, "icmp ne i8 %s, 0", v.text);
    emit_line(e, "store %s %s, %s* %s", t, v.text, t, emit_local_slot(b, k).text);
}

/* The variables that a loop over points reads, and those that it assigns. */
typedef struct variable_uses {
    bool *used, *set;
} variable_uses;

static void note_variable_uses(const node *n, void *user) {
    variable_uses *t = user;
    if (n->kind == N_LOCAL)
        t->used[n->local] = true;
    for (const node *to = node_assigned(n); to; to = to->next)
        t->set[to->local] = true;
    if (n->kind == N_DECLARE)
        t->set[n->local] = true;
}

static void each_expanded(body *b, const bool *which, void (*move)(body *b, int k)) {
    for (int k = 0; k < b->f->nlocals; k++)
        if (which[k] && run_of(b)->used_in[k] == EXPANDED)
            move(b, k);
}

/* ---- Elements that are the same for all points but read only where some condition holds. In a vector loop LLVM would gather them, so
 * they are read once before it. Their indices are checked even if they are proved, since the condition may be part of the proof. ---- */

struct outer_vector_read {
    const node *of;
    ssa value;
    struct outer_vector_read *next;
};

static void read_once(body *b, const node *n) {
    node checked = *n;
    checked.unchecked = checked.conditional = false;
    struct outer_vector_read *r = arena_alloc(b->e->a, sizeof *r);
    *r = (struct outer_vector_read){n, emit_expression(b, &checked), run_of(b)->reads};
    run_of(b)->reads = r;
}

static bool recall(body *b, const node *n, ssa *value) {
    if (guards_recall(run_of(b)->guards, n, value))
        return true;
    for (const struct outer_vector_read *r = run_of(b)->reads; r; r = r->next)
        if (r->of == n) {
            *value = r->value;
            return true;
        }
    return false;
}

/* Reads such elements of n. *sometimes: not every point gets to n; becomes true for what follows if n contains a jump. */
static void find_reads(body *b, const node *n, bool *sometimes) {
    bool some = true, branches = n->kind == N_AND || n->kind == N_OR || n->kind == N_SELECT || n->kind == N_IF;
    if (n->kind == N_ELEMENT && !varies(run_of(b), n)) {
        if (*sometimes)
            read_once(b, n);
        return;
    }
    for (int k = 0; k < 3; k++)
        if (n->kid[k])
            find_reads(b, n->kid[k], branches && k ? &some : sometimes);
    for (const node *a = n->args; a; a = a->next)
        find_reads(b, a, sometimes);
    const node *lists[] = {n->body, n->other};
    for (size_t i = 0; i < COUNT(lists); i++)
        for (const node *s = lists[i]; s; s = s->next)
            find_reads(b, s, branches ? &some : sometimes);
    jumps j = {false};
    find_jumps(n, false, &j);
    *sometimes |= j.goes_on || j.returns || j.to_end;
}

/* Keeps a loop over points and a loop of the text from sharing a block where nothing else stands between their heads or ends: LLVM 14
 * would take the metadata of one loop for the other's. */
static void separate_loops(emit *e) {
    emit_declare(e, "declare void @llvm.sideeffect()");
    emit_line(e, "call void @llvm.sideeffect()");
}

/* A vector holds a value for all points of the run, so that the loop is gone. */
static void end_run(body *b, const counted_loop *l) {
    emit *e = b->e;
    int hints[] = {
        emit_metadata(e, "!{!\"llvm.loop.parallel_accesses\", !%d, !%d}", run_of(b)->variables, e->access_group),
        emit_metadata(e, "!{!\"llvm.loop.vectorize.width\", i32 %d}", run_of(b)->width),
        emit_metadata(e, "!{!\"llvm.loop.interleave.count\", i32 1}"), loop_no_unroll(e)};
    counted_loop_end_hints(e, l, ssa_constant(1), hints, COUNT(hints));
}

static const node *write_run(body *b, const node *first) {
    emit *e = b->e;
    outer_vector *p = run_of(b);
    size_t n = (size_t)b->f->nlocals;
    int next = b->next, finish = b->finish;
    const node *last = first, *end = first;
    bool sometimes = false;
    if (ssa_is_set(p->point) || is_shared(p, first))
        return NULL;
    variable_uses t = {arena_alloc(e->a, n * sizeof *t.used), arena_alloc(e->a, n * sizeof *t.set)};
    for (; end && !is_shared(p, end); last = end, end = end->next) {
        node_visit(end, note_variable_uses, &t);
        find_reads(b, end, &sometimes);
    }
    separate_loops(e);
    counted_loop l = counted_loop_begin(e, "i64", ssa_constant(0), ssa_constant(p->width));
    p->point = l.i;
    b->bound[p->index] = emit_value(e, "add i64 %%p%d, %s", p->index, l.i.text);
    b->next = b->finish = emit_label_new(e);
    each_expanded(b, t.used, load_expanded);
    for (const node *s = first; s != end; s = s->next)
        emit_statement(b, s);
    if (b->open)
        emit_branch(e, b->next);
    emit_label(e, b->next);
    b->open = true;
    each_expanded(b, t.set, store_expanded);
    end_run(b, &l);
    separate_loops(e);
    b->next = next;
    b->finish = finish;
    p->point = b->bound[p->index] = ssa_none();
    p->reads = NULL;
    return last;
}

void outer_vector_function(emit *e, const tree *t, outer_vector *p) {
    static const body_hooks hooks = {.recall = recall, .begin = make_variables, .statements = write_run};
    const char *entry = e->entry;
    e->entry = "points";
    p->variables = emit_metadata(e, "distinct !{}");
    e->module->outer_vectors = true;
    emit_function(e, t->kernel, &hooks, p);
    e->entry = entry;
}
