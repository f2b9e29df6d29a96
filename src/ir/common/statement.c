/* statement.c - statements, and functions of the typed tree as functions of the module: internal, always inlined, results in a
 * structure. A return branches to the one exit. */
#include "ir/common/report.h"

#include <assert.h>
#include <ctype.h>

#include "ir/common/nodes.h"
#include "ir/common/skeleton.h"
#include "ir/common/unrolled.h"

enum {                   /* in the plain form: */
    INLINED_LINES = 100, /* of a function */
    INLINED_ALL = 30000  /* of all functions, as often as they are called */
};

static void jump(body *b, int label) {
    if (b->open) {
        emit_branch(b->e, label);
        unrolled_jump(b, label);
    }
    b->open = false;
}

static void land(body *b, int label) {
    jump(b, label);
    emit_label(b->e, label);
    unrolled_land(b, label);
    b->open = true;
}

static int64_t local_bytes(const local *l) {
    int64_t size = l->type == DT_BOOL ? 1 : dtypes[l->type].size;
    for (int d = 0; d < l->rank; d++)
        size *= l->extent[d];
    return size;
}

/* "[12 x float]", or the value type of a scalar. */
static void local_type(text *t, const local *l) {
    const char *element = ir_value_type(l->type);
    if (!l->rank)
        text_puts(t, element);
    else
        text_printf(t, "[%lld x %s]", (long long)(local_bytes(l) / dtypes[l->type].size),
                    l->type == DT_BOOL ? "i8" : element);
}

ssa emit_slot(body *b, const char *type) {
    ssa slot = ssa_named("%%a%d", ++b->nslots);
    text_printf(&b->slots, "  %s = alloca %s\n", slot.text, type);
    return slot;
}

ssa emit_local_slot(body *b, int k) { return ssa_named("%%v%d%s%s", k, b->call ? "_next" : "", jam_suffix(b, k).text); }

static void clear_local(body *b, int k) {
    const local *l = &b->f->locals[k];
    emit *e = b->e;
    if (b->unrolled && l->rank) {
        unrolled_clear(b, k);
        return;
    }
    unrolled_note(b, k, emit_constant((number){.type = DT_INT64}, l->type), NULL);
    if (!l->rank) {
        emit_line(e, "store %s zeroinitializer, %s* %s", ir_value_type(l->type), ir_value_type(l->type),
                  emit_local_slot(b, k).text);
        return;
    }
    text type = {0};
    local_type(&type, l);
    e->failed |= type.failed;
    ssa bytes = emit_value(e, "bitcast %s* %s to i8*", type.failed ? "" : type.data, emit_local_slot(b, k).text);
    text_free(&type);
    emit_clear(e, bytes, local_bytes(l));
}

/* ---- Statements ---- */

static void eval(body *b, const node *n) { emit_expression(b, n->kid[0]); }

static void declare(body *b, const node *n) {
    const local *l = &b->f->locals[n->local];
    if (l->table)
        return;
    if (l->rank || !n->kid[0]) {
        clear_local(b, n->local);
        emit_statements(b, n->body);
        return;
    }
    ssa v = emit_expression(b, n->kid[0]);
    emit_line(b->e, "store %s %s, %s* %s", ir_value_type(l->type), v.text, ir_value_type(l->type),
              emit_local_slot(b, n->local).text);
    unrolled_note(b, n->local, v, n->kid[0]);
}

static void block(body *b, const node *n) { emit_statements(b, n->body); }

/* Unrolled kernels: `if (c) x = y;` of plain variables is a selection, so that no block ends here in which values are known. */
static bool is_choice(const body *b, const node *n) {
    const node *x = n->body && !n->body->next && !n->other ? n->body : NULL;
    if (!b->unrolled || !x || x->kind != N_EVAL || x->kid[0]->kind != N_ASSIGN)
        return false;
    const node *to = x->kid[0]->kid[0], *from = x->kid[0]->kid[1];
    return to->kind == N_LOCAL && (from->kind == N_LOCAL || from->kind == N_CONST);
}

static void choose(body *b, const node *assign, ssa condition) {
    const node *to = assign->kid[0], *from = assign->kid[1];
    dtype t = (dtype)to->type;
    ssa old = emit_expression(b, to), value = emit_expression(b, from);
    ssa chosen = emit_select(b->e, t, condition, value, old);
    emit_line(b->e, "store %s %s, %s* %s", ir_value_type(t), chosen.text, ir_value_type(t),
              emit_local_slot(b, to->local).text);
    unrolled_note_either(b, to->local, chosen, to, from);
}

static void if_else(body *b, const node *n) {
    emit *e = b->e;
    int64_t known;
    ssa condition = emit_expression(b, n->kid[0]);
    if (b->unrolled && ssa_is_constant(condition, &known)) {
        emit_statements(b, known ? n->body : n->other);
        return;
    }
    if (is_choice(b, n)) {
        choose(b, n->body->kid[0], condition);
        return;
    }
    int yes = emit_label_new(e), no = n->other ? emit_label_new(e) : 0, end = emit_label_new(e);
    emit_branch_if(e, condition, yes, n->other ? no : end);
    unrolled_jump(b, n->other ? no : end);
    emit_label(e, yes);
    emit_statements(b, n->body);
    if (n->other) {
        jump(b, end);
        emit_label(e, no);
        unrolled_land(b, no);
        b->open = true;
        emit_statements(b, n->other);
    }
    land(b, end);
}

/* Is there one more iteration? */
static bool goes_on(body *b, const node *n) {
    int64_t known = 1;
    if (n->kid[0] && !ssa_is_constant(emit_expression(b, n->kid[0]), &known))
        unrolled_refuse(b);
    return known;
}

/* The label, unless nothing jumps to it: within a block the values of variables stay known. */
static void land_unrolled(body *b, int label) {
    if (!b->open || unrolled_arrives(b, label))
        land(b, label);
}

/* Each iteration by itself. */
static void loop_unrolled(body *b, const node *n) {
    int leave = b->leave, next = b->next;
    b->leave = emit_label_new(b->e);
    for (bool first = true; b->open && ((first && n->test_last) || goes_on(b, n)); first = false) {
        b->e->written.lines++; /* so that what has no end is ended by emit_bound */
        emit_bound(b->e);
        b->next = emit_label_new(b->e);
        emit_statements(b, n->body);
        if (!b->open && !unrolled_arrives(b, b->next))
            break;
        land_unrolled(b, b->next);
        for (const node *s = n->step; s; s = s->next)
            eval(b, s);
    }
    land_unrolled(b, b->leave);
    b->leave = leave;
    b->next = next;
}

typedef struct loop_content {
    const function *f;
    bool reads, nested; /* elements of core operands; other loops */
} loop_content;

static void find_content(const node *n, void *user) {
    loop_content *c = user;
    c->reads |= n->kind == N_ELEMENT && c->f->locals[n->local].core;
    c->nested |= n->kind == N_LOOP || n->kind == N_FORALL || (n->kind == N_REDUCE && n->args) || n->kind == N_ATOMIC;
}

/* GPU, kernels over indices: a hint that makes several iterations of a short loop over elements one, whose loads are then under way
 * together; 0: none. */
static int unrolled_loop(body *b, const node *n) {
    enum {
        NODES = 80, /* of the loop's body at most */
        TIMES = 8
    };
    emit *e = b->e;
    loop_content c = {.f = b->f};
    if (!e->target->gpu || !b->is_kernel || !e->frame->layout->nindices || e->plain || reports(e))
        return 0;
    node_each(n->body, find_content, &c);
    return c.reads && !c.nested && node_cost(n->body) <= NODES
               ? emit_metadata(e, "!{!\"llvm.loop.unroll.count\", i32 %d}", TIMES)
               : 0;
}

/* What a loop does to elements of an array of the kernel's own, and besides. */
typedef struct small_content {
    const function *f;
    int counter;       /* the variable that the loop's step changes */
    bool small, other; /* assigns elements of a small array, another one in each iteration; does anything else */
} small_content;

typedef struct counter_search {
    int counter;
    bool found;
} counter_search;

static void find_counter(const node *n, void *user) {
    counter_search *s = user;
    s->found |= n->kind == N_LOCAL && n->local == s->counter;
}

/* Is the last index of an element another one in each iteration? An element that stays is a variable to LLVM, and may be a sum. */
static bool is_counted(const small_content *c, const node *element, int rank) {
    counter_search s = {.counter = c->counter};
    node_visit(element_index(element, rank, rank - 1), find_counter, &s);
    return s.found;
}

static void find_small(const node *n, void *user) {
    enum {
        EXTENT = 16 /* of the array's last dimension, at most */
    };
    small_content *c = user;
    bool assigns = n->kind == N_ASSIGN || n->kind == N_COMPOUND || n->kind == N_UPDATE;
    const node *to = assigns && n->kid[0]->kind == N_ELEMENT ? n->kid[0] : NULL;
    const local *l = to ? &c->f->locals[to->local] : NULL;
    bool small = l && !l->core && l->extent[l->rank - 1] <= EXTENT && is_counted(c, to, l->rank);
    c->small |= small;
    c->other |= (assigns && !small) || n->kind == N_LOOP || n->kind == N_FORALL || n->kind == N_REDUCE ||
                n->kind == N_CALL || n->kind == N_ATOMIC;
}

/* CPU: hints for an innermost loop that only assigns elements of a small array, and so has few iterations. LLVM would take 64 at a time, and have a
 * second loop of vectors for 8 of the rest, neither of which often runs. Not where a variable is assigned: a hint of a width allows
 * LLVM to change the order of sums. Returns how many hints there are. */
static int small_loop(body *b, const node *n, int hints[FEW_LANE_HINTS]) {
    const node *step = n->step && !n->step->next && n->step->kind == N_EVAL ? n->step->kid[0] : NULL;
    const node *counter = step ? node_assigned(step) : NULL;
    if (b->e->target->gpu || b->e->plain || !counter || step->kind == N_CALL)
        return 0;
    small_content c = {.f = b->f, .counter = counter->local};
    node_each(n->body, find_small, &c);
    return c.small && !c.other ? loop_few_lanes(b->e, FEW_LANES, hints) : 0;
}

static void loop(body *b, const node *n) {
    if (b->unrolled) {
        loop_unrolled(b, n);
        return;
    }
    emit *e = b->e;
    int hints[FEW_LANE_HINTS] = {unrolled_loop(b, n)}, nhints = hints[0] ? 1 : small_loop(b, n, hints);
    int leave = b->leave, next = b->next;
    int head = emit_label_new(e), step = emit_label_new(e), inside = emit_label_new(e), end = emit_label_new(e);
    b->leave = end;
    b->next = step;
    emit_loop_begin(e);
    land(b, head);
    if (n->kid[0] && !n->test_last) {
        emit_branch_if(e, emit_expression(b, n->kid[0]), inside, end);
        emit_label(e, inside);
    }
    emit_statements(b, n->body);
    land(b, step);
    for (const node *s = n->step; s; s = s->next)
        eval(b, s);
    steps_count(b, n);
    if (n->kid[0] && n->test_last) {
        ssa more = emit_expression(b, n->kid[0]);
        emit_line(e, "br i1 %s, label %%L%d, label %%L%d%s", more.text, head, end, loop_hints(e, hints, nhints).text);
    } else {
        emit_line(e, "br label %%L%d%s", head, loop_hints(e, hints, nhints).text);
    }
    emit_loop_end(e);
    emit_label(e, end);
    b->leave = leave;
    b->next = next;
}

/* The labels of its cases are numbered from the first on, in order: case_label counts them while the body is written. */
static void switch_case(body *b, const node *n) {
    emit *e = b->e;
    int leave = b->leave, first_case = b->case_label, count = 0, fallback = 0;
    ssa v = emit_expression(b, n->kid[0]);
    text cases = {0};
    int end = b->leave = emit_label_new(e);
    for (const node *s = n->body; s; s = s->next) {
        if (s->kind != N_CASE)
            continue;
        int label = emit_label_new(e);
        if (!count++)
            b->case_label = label;
        if (s->is_default)
            fallback = label;
        else
            text_printf(&cases, " i64 %lld, label %%L%d", (long long)s->value.as.i, label);
    }
    emit_line(e, "switch i64 %s, label %%L%d [%s ]", v.text, fallback ? fallback : end,
              cases.data && !cases.failed ? cases.data : "");
    for (int label = b->case_label; label < b->case_label + count; label++)
        unrolled_jump(b, label);
    if (!fallback)
        unrolled_jump(b, end);
    e->failed |= cases.failed;
    text_free(&cases);
    b->open = false;
    emit_statements(b, n->body);
    land(b, end);
    b->leave = leave;
    b->case_label = first_case;
}

static void case_label(body *b, const node *n) {
    (void)n;
    land(b, b->case_label++);
}

/* The body of a helper in place of its call. */
static void in_place(body *b, const node *n) {
    int outer = b->inline_end;
    b->inline_end = node_is_block(n) ? 0 : emit_label_new(b->e);
    emit_statements(b, n->body);
    if (b->inline_end)
        land(b, b->inline_end);
    b->inline_end = outer;
}

static void leave_inline(body *b, const node *n) {
    (void)n;
    if (b->inline_end) /* else nothing stands behind it */
        jump(b, b->inline_end);
}

static void leave(body *b, const node *n) {
    (void)n;
    jump(b, b->leave);
}

static void next(body *b, const node *n) {
    (void)n;
    jump(b, b->next);
}

static void finish(body *b, const node *n) {
    (void)n;
    jump(b, b->finish);
}

static void assertion(body *b, const node *n) {
    if (!reports_errors(b->e))
        return;
    ssa holds = emit_expression(b, n->kid[0]);
    report_unless(b, holds,
                  &(failure){.what = REPORT_ASSERT,
                             .line = n->line,
                             .operand = -1,
                             .dimension = -1,
                             .value = ssa_constant(n->value.as.i),
                             .extent = ssa_constant(0)});
}

/* What follows a jump is left out, up to the next case. */
void emit_statement(body *b, const node *n) {
    static void (*const writers[])(body *, const node *) = {
        [N_EVAL] = eval,       [N_DECLARE] = declare,    [N_BLOCK] = block,        [N_IF] = if_else,
        [N_LOOP] = loop,       [N_SWITCH] = switch_case, [N_CASE] = case_label,    [N_BREAK] = leave,
        [N_CONTINUE] = next,   [N_RETURN] = finish,      [N_FORALL] = emit_forall, [N_ASSERT] = assertion,
        [N_INLINE] = in_place, [N_LEAVE] = leave_inline,
    };
    if (!b->open && n->kind != N_CASE)
        return;
    emit_bound(b->e);
    if (n->line)
        b->e->line = n->line;
    assert(n->kind < COUNT(writers) && writers[n->kind]); /* a statement, no expression */
    writers[n->kind](b, n);
}

void emit_statements(body *b, const node *list) {
    for (const node *n = list; n; n = n->next) {
        const node *last = b->open && b->hooks && b->hooks->statements ? b->hooks->statements(b, n) : NULL;
        if (last)
            n = last;
        else
            emit_statement(b, n);
    }
}

/* ---- Functions ---- */

fragment emit_function_name(emit *e, const function *f) {
    intptr_t id = (intptr_t)map_get(&e->functions, &f, sizeof f);
    fragment out = id ? fragment_of("f%d_%.32s", (int)id, f->name ? f->name : "") : fragment_of("%s", e->entry);
    for (char *c = out.text; *c; c++) /* an operator has a sign in its name */
        if (!isalnum((unsigned char)*c) && *c != '_')
            *c = '_';
    return out;
}

/* Core operands lie in memory; a function returns the others. */
void emit_result_type(const emit *e, text *out, const function *f) {
    const char *comma = "";
    text_puts(out, "{");
    for (int k = f->nparams; k < f->nparams + f->nresults; k++) {
        if (f->locals[k].core)
            continue;
        text_printf(out, "%s %s", comma, ir_value_type(f->locals[k].type));
        comma = ",";
    }
    if (reports(e))
        text_printf(out, "%s i1", comma);
    text_puts(out, " }");
}

static void find_switch(const node *n, void *user) {
    bool *found = user;
    *found |= n->kind == N_SWITCH;
}

/* Makes slots for all locals: parameters hold their arguments, and all else begins as 0. An array is cleared where it is declared;
 * in a function with a switch, which can jump over the declaration, at its head. */
void emit_locals(body *b) {
    const function *f = b->f;
    bool clear_arrays = false;
    node_each(f->body, find_switch, &clear_arrays);
    for (int k = 0; k < f->nlocals; k++) {
        if (f->locals[k].core || f->locals[k].table || (b->unrolled && f->locals[k].rank))
            continue;
        text_printf(&b->slots, "  %s = alloca ", emit_local_slot(b, k).text);
        local_type(&b->slots, &f->locals[k]);
        text_puts(&b->slots, "\n");
    }
    for (int k = 0; k < f->nlocals; k++) {
        const char *t = ir_value_type(f->locals[k].type);
        if (f->locals[k].core || f->locals[k].table)
            continue;
        if (k < f->nparams)
            emit_line(b->e, "store %s %%p%d, %s* %s", t, k, t, emit_local_slot(b, k).text);
        else if (!f->locals[k].rank || clear_arrays)
            clear_local(b, k);
    }
}

static void return_results(body *b, const char *type) {
    const function *f = b->f;
    ssa all = ssa_literal("undef");
    int field = 0;
    for (int k = f->nparams; k < f->nparams + f->nresults; k++) {
        if (f->locals[k].core)
            continue;
        const char *t = ir_value_type(f->locals[k].type);
        ssa v = emit_value(b->e, "load %s, %s* %%v%d", t, t, k);
        all = emit_value(b->e, "insertvalue %s %s, %s %s, %d", type, all.text, t, v.text, field++);
    }
    if (reports(b->e))
        all = emit_value(b->e, "insertvalue %s %s, i1 false, %d", type, all.text, field);
    emit_line(b->e, "ret %s %s", type, all.text);
}

/* The address of a core operand, or the value of any other parameter. */
static void parameter(const body *b, text *out, int k, const char *comma) {
    emit *e = b->e;
    if (!b->is_kernel || !b->f->locals[k].core) {
        text_printf(out, "%s%s %%p%d", comma, ir_value_type(b->f->locals[k].type), k);
        return;
    }
    e->shared = e->frame->v->operand[k].staged && e->target->gpu;
    bool apart = e->frame->layout->nindices && e->frame->v->forall.noalias && !e->target->gpu;
    text_printf(out, "%s%s%s%s %%p%d", comma, ir_memory_type((dtype)e->frame->v->operand[k].memory),
                ir_global_pointer(e), apart ? " noalias" : "", k);
    e->shared = false;
}

/* ", i64 %s0, ..": what follows the operands; the rest of a list, or its beginning. */
static void more_parameters(const body *b, bool rest) {
    emit *e = b->e;
    text more = {0};
    if (b->is_kernel)
        text_puts(&more, e->frame->parameters);
    else if (reports(e))
        report_helper_parameters(e, &more);
    if (more.length)
        text_puts(e->out, more.data + (rest ? 0 : strlen(", ")));
    e->failed |= more.failed;
    text_free(&more);
}

static void function_head(body *b, const char *result, const char *name, const char *attributes) {
    const function *f = b->f;
    emit *e = b->e;
    const char *comma = "";
    text_printf(e->out, "define internal %s @%s(", result, name);
    for (int k = 0; k < f->nparams + f->nresults; k++) {
        if (k >= f->nparams && !f->locals[k].core)
            continue;
        parameter(b, e->out, k, comma);
        comma = ", ";
    }
    more_parameters(b, *comma);
    text_printf(e->out, ") nounwind %s {\n", attributes);
}

static int number_of(emit *e, const function *f) { return (int)(intptr_t)map_get(&e->functions, &f, sizeof f); }

/* Is a function of so many lines inlined in the plain form? */
static bool inlines_plainly(emit *e, const function *f, int lines) {
    int calls = number_of(e, f) && e->calls ? e->calls[number_of(e, f)] : 1; /* the kernel has no number */
    if (lines > INLINED_LINES || lines * calls > INLINED_ALL - e->inlined)
        return false;
    e->inlined += lines * calls;
    return true;
}

/* Is the function that was written since `before` to be inlined? Notes what a call of it adds to the module's size. In the plain form
 * only short functions are inlined, while not too much becomes of it, and the kernel of a generalized ufunc on a GPU: it is called once, and its threads may wait for
 * each other in it, which they should not do in a called function. */
static bool decide_inlining(body *b, const char *name, ir_size before) {
    emit *e = b->e;
    ir_size *x = arena_alloc(e->a, sizeof *x);
    *x = (ir_size){
        .lines = e->written.lines - before.lines, .loops = e->written.loops - before.loops, .depth = e->written.depth};
    bool inlined = !e->plain || inlines_plainly(e, b->f, x->lines) || (b->is_kernel && e->target->gpu);
    if (inlined)
        e->written = before;
    else
        *x = (ir_size){.depth = x->depth};
    e->written.depth = before.depth;
    e->failed |= !map_put(&e->sizes, name, strlen(name), x);
    return inlined;
}

/* A function while it is written. The texts outlive an escape for want of memory: emit_finish frees them. */
typedef struct writing {
    body b;
    text type, lines;
} writing;

/* The body is written to a text of its own, since allocas that it asks for stand in front of it. */
void emit_function(emit *e, const function *f, const body_hooks *hooks, void *user) {
    writing *w = arena_alloc(e->a, sizeof *w);
    ssa *bound = w ? arena_alloc(e->a, (size_t)(f->nlocals + 1) * sizeof *bound) : NULL;
    if (!bound) {
        e->failed = true;
        return;
    }
    body *b = &w->b;
    text *out = e->out, *texts[] = {&w->type, &w->lines, &b->slots};
    fragment name = emit_function_name(e, f), scope = emit_scope(e, name.text, f->body ? f->body->line : 1);
    ir_size before = e->written;
    e->written.depth = 0;
    e->exact = f->exact || map_get(&e->exact_functions, &f, sizeof f);
    *b =
        (body){.e = e, .f = f, .finish = emit_label_new(e), .open = true, .bound = bound, .hooks = hooks, .user = user};
    b->is_kernel = e->frame && !strcmp(name.text, e->entry);
    memcpy(e->writing, texts, sizeof texts);
    unrolled_begin(b);
    emit_result_type(e, &w->type, f);
    const char *result = w->type.failed ? "" : w->type.data;
    int first = e->block = emit_label_new(e);
    e->out = &w->lines;
    emit_locals(b);
    if (f == e->kernel)
        steps_begin(b);
    if (hooks && hooks->begin)
        hooks->begin(b);
    const ssa stores = b->store_mask;
    emit_statements(b, f->body);
    land(b, b->finish);
    if (hooks && hooks->end)
        hooks->end(b);
    return_results(b, result);
    report_exit(b, result);
    e->out = out;
    e->failed |= w->type.failed || w->lines.failed || b->slots.failed;
    const char *inlined = decide_inlining(b, name.text, before) ? "alwaysinline" : "noinline";
    function_head(b, result, name.text, fragment_of("%s%s", inlined, scope.text).text);
    if (!e->failed)
        text_printf(e->out, "L%d:\n%s%s}\n\n", first, b->slots.data ? b->slots.data : "", w->lines.data);
    emit_scope_end(e);
    assert(!b->depth && !b->jam && b->store_mask.kind == stores.kind); /* every construct has ended */
    (void)stores;
    memset(e->writing, 0, sizeof e->writing);
    e->exact = false;
    for (size_t i = 0; i < COUNT(texts); i++)
        text_free(texts[i]);
}

static void note_exact(emit *e, const function *f) {
    e->failed |= !map_put(&e->exact_functions, &f, sizeof f, (void *)(intptr_t)1);
}

static void note_callee(const node *n, void *user) {
    if (n->callee)
        note_exact(user, n->callee);
}

/* Notes the functions that the `fast` bits do not enter: those that say so, and all that they call. On a GPU a module flushes
 * subnormals or does not, so one with such a function does not. */
static void find_exact(emit *e, const tree *t) {
    int count = 0;
    for (const function *f = t->functions; f; f = f->next)
        count++;
    const function **callers_first = arena_alloc(e->a, (size_t)count * sizeof *callers_first);
    if (!callers_first) {
        e->failed = true;
        return;
    }
    int i = count;
    for (const function *f = t->functions; f; f = f->next)
        callers_first[--i] = f;
    for (i = 0; i < count; i++) {
        const function *f = callers_first[i];
        if (!f->exact && !map_get(&e->exact_functions, &f, sizeof f))
            continue;
        note_exact(e, f);
        node_each(f->body, note_callee, e);
        e->module->fast &= ~(unsigned)UF_FAST_FLUSH;
    }
}

static void count_call(const node *n, void *user) {
    emit *e = user;
    if (n->callee)
        e->calls[number_of(e, n->callee)]++;
}

/* Numbers the functions of a tree, but for the kernel, and in the plain form counts their calls. */
static void number_functions(emit *e, const tree *t) {
    for (const function *f = t->functions; f; f = f->next)
        if (f != t->kernel)
            e->failed |= !map_put(&e->functions, &f, sizeof f, (void *)(intptr_t)++e->nfunctions);
    if (!e->plain)
        return;
    e->calls = arena_alloc(e->a, (size_t)(e->nfunctions + 1) * sizeof *e->calls);
    e->failed |= !e->calls;
    for (const function *f = t->functions; f && e->calls; f = f->next)
        node_each(f->body, count_call, e);
}

void emit_functions(emit *e, const tree *t, const char *entry) {
    e->entry = entry;
    find_exact(e, t);
    find_comparisons(e, t);
    e->divides_by_products =
        e->target->vector_bits && !t->layout && !t->has_loop && !e->plain && !strcmp(entry, "kernel");
    if (t->variables > e->written.variables)
        e->written.variables = t->variables;
    e->kernel = t->kernel;
    number_functions(e, t);
    for (const function *f = t->functions; f; f = f->next) {
        bool hooked = e->frame && f == t->kernel;
        emit_function(e, f, hooked ? e->frame->hooks : NULL, hooked ? e->frame->user : NULL);
    }
}

ssa emit_kernel_call(emit *e, const tree *t, const char *entry, const ssa *in, ssa *out) {
    const function *f = t->kernel;
    text type = {0}, arguments = {0};
    ssa ended = ssa_none();
    emit_result_type(e, &type, f);
    for (int k = 0; k < f->nparams; k++)
        text_printf(&arguments, "%s%s %s", k ? ", " : "", ir_value_type(f->locals[k].type), in[k].text);
    bool failed = type.failed || arguments.failed;
    e->failed |= failed;
    const char *result = failed ? "" : type.data;
    ssa all =
        emit_invoke(e, result, entry, failed ? NULL : arguments.data, reports(e) ? report_shared_arguments : NULL);
    for (int k = 0; k < f->nresults; k++)
        out[k] = emit_value(e, "extractvalue %s %s, %d", result, all.text, k);
    if (reports(e))
        ended = report_ended(e, f, result, all);
    text_free(&type);
    text_free(&arguments);
    return ended;
}
