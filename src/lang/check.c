/* check.c - the driver of the checker: the kernel, the instances of helpers, the types of results, and the limits on
 * the tree. */
#include <assert.h>
#include <stdio.h>

#include "lang/check.h"

enum {
    /* nodes that are made while checking, also those of typeof and _Generic, which are dropped */
    MADE_MAX = 16 * LANG_MAX_NODES,
    GUESS_ROUNDS = 2 * DT_COUNT /* the type of an output only becomes wider from round to round */
};

/* ---- Errors ---- */

/* Within the prelude the error is reported at the user's call that led there. */
_Noreturn static void fail_at(check *c, uf_status status, size_t at, const char *format, va_list arguments) {
    char message[2048];
    const syntax *in = c->call ? c->call_unit->s : c->frame->u->s;
    vsnprintf(message, sizeof message, format, arguments);
    if (c->call)
        fail_kernel(status, in->source, c->call->at, "in '%s': %s", c->call_name, message);
    else
        fail_kernel(status, in->source, at, "%s", message);
    longjmp(*c->a->escape, in->title ? fail_named(status, "%s", in->title) : status);
}

_Noreturn void check_fail(check *c, size_t at, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fail_at(c, UF_ERR_TYPE, at, format, arguments);
}

_Noreturn void check_limit(check *c, size_t at, const char *format, ...) {
    va_list arguments;
    va_start(arguments, format);
    fail_at(c, UF_ERR_SYNTAX, at, format, arguments);
}

_Noreturn static void fail_nodes(check *c, size_t at) {
    check_limit(c, at, "the kernel is too large: more than %d nodes, each helper counted once", LANG_MAX_NODES);
}

/* ---- Nodes and locals ---- */

node *node_new(check *c, node_kind kind, dtype type, const syn *at) {
    if (++c->made > MADE_MAX)
        fail_nodes(c, at->at);
    node *n = arena_alloc(c->a, sizeof *n);
    n->kind = (uint8_t)kind;
    n->type = (uint8_t)type;
    n->wide = DT_NONE;
    n->line = c->frame->u->prelude ? 0 : at->line;
    return n;
}

const char *name_text(check *c, int id) {
    const name *n = &c->frame->u->s->names[id];
    return arena_text(c->a, n->text, (size_t)n->length);
}

int local_add(check *c, const char *title, dtype type, int rank, const int64_t *extent) {
    instance *i = c->now;
    function *f = &i->f;
    if ((size_t)f->nlocals == i->locals_size) {
        size_t size = i->locals_size ? 2 * i->locals_size : 8;
        local *locals = arena_alloc(c->a, size * sizeof *locals);
        if (f->nlocals)
            memcpy(locals, f->locals, (size_t)f->nlocals * sizeof *locals);
        f->locals = locals;
        i->locals_size = size;
    }
    local *l = &f->locals[f->nlocals];
    *l = (local){.name = title, .type = type, .rank = rank};
    for (int k = 0; k < rank; k++)
        l->extent[k] = extent[k];
    return f->nlocals++;
}

int temporary_new(check *c, dtype type) { return local_add(c, "", type, 0, NULL); }

void local_count(check *c, int slot, size_t at) {
    instance *i = c->now;
    const local *l = &i->f.locals[slot];
    int64_t bytes = l->type == DT_NONE ? 16 : dtypes[l->type].size;
    for (int k = 0; k < l->rank && bytes <= LANG_MAX_LOCAL_BYTES; k++)
        bytes = l->extent[k] > LANG_MAX_LOCAL_BYTES ? LANG_MAX_LOCAL_BYTES + 1 : bytes * l->extent[k];
    if (slot >= i->f.nparams + i->f.nresults)
        *(l->rank ? &i->arrays : &i->bytes) += bytes;
    if (i->arrays + i->bytes > LANG_MAX_LOCAL_BYTES)
        check_limit(c, at, "the local variables take more than %d bytes", LANG_MAX_LOCAL_BYTES);
}

int local_new(check *c, const char *title, dtype type, int rank, const int64_t *extent, size_t at) {
    int slot = local_add(c, title, type, rank, extent);
    local_count(c, slot, at);
    return slot;
}

node *local_node(check *c, int slot, const syn *at) {
    assert(slot >= 0 && slot < c->now->f.nlocals);
    node *n = node_new(c, N_LOCAL, c->now->f.locals[slot].type, at);
    n->local = slot;
    return n;
}

variable *variable_bind(check *c, int id, int slot) {
    variable *v = arena_alloc(c->a, sizeof *v);
    variable **bound = &c->frame->u->bound[id];
    *v = (variable){.name = id,
                    .local = slot,
                    .depth = c->scope_depth,
                    .owner = c->frame,
                    .in = c->frame->u,
                    .shadowed = *bound,
                    .scope_next = c->scope};
    return *bound = c->scope = v;
}

variable *variable_find(const check *c, int id) {
    variable *v = c->frame->u->bound[id];
    return v && v->owner == c->frame ? v : NULL;
}

/* ---- The size of a finished function ---- */

typedef struct measure {
    check *c;
    instance *of;
    int variables; /* the most of a callee, or of a scope within the one that is measured, which exist beside the scope's own */
} measure;

static int64_t most(int64_t a, int64_t b) { return a > b ? a : b; }

static void measure_list(measure *m, node *list);

static void measure_call(measure *m, const instance *callee) {
    m->of->called += callee->called;
    m->of->arrays += callee->arrays;
    m->of->deepest = most(m->of->deepest, callee->bytes + callee->deepest);
    m->of->has_loop |= callee->has_loop;
    m->variables = (int)most(m->variables, callee->variables);
    if (m->of->called > LANG_MAX_CALLED)
        check_limit(m->c, m->of->frame.def->at,
                    "the kernel is too large: more than %d nodes, helpers counted at each call", LANG_MAX_CALLED);
}

/* Counts a node with all nodes below it. Left operands are walked in a loop, so that a long sum does not recurse. */
static void measure_node(measure *m, node *n) {
    for (; n; n = n->kid[0]) {
        m->of->nodes++;
        m->of->called++;
        m->of->has_loop |= n->kind == N_LOOP || n->kind == N_FORALL || n->kind == N_REDUCE;
        if (n->callee)
            measure_call(m, (const instance *)n->callee);
        if (n->kind == N_CONST && n->type == DT_FLOAT64)
            n->value.as.f[1] = 0; /* where a weak literal kept its rounding to float32 */
        measure_node(m, n->kid[1]);
        measure_node(m, n->kid[2]);
        measure_list(m, n->args);
        measure_list(m, n->body);
        measure_list(m, n->other);
        measure_list(m, n->step);
        if (m->of->nodes > LANG_MAX_NODES)
            fail_nodes(m->c, m->of->frame.def->at);
    }
}

/* The variables that a list declares exist beside the most of one of its items. */
static void measure_list(measure *m, node *list) {
    int outside = m->variables, own = 0;
    m->variables = 0;
    for (; list; list = list->next) {
        own += (list->kind == N_DECLARE && !m->of->f.locals[list->local].rank) || list->kind == N_RANGE;
        measure_node(m, list);
    }
    m->variables = (int)most(outside, own + m->variables);
}

static void measure_function(check *c, instance *i) {
    measure m = {.c = c, .of = i};
    measure_list(&m, i->f.body);
    i->variables = m.variables + i->f.nparams + i->f.nresults;
    if (i->arrays + i->bytes + i->deepest > LANG_MAX_LOCAL_BYTES)
        check_limit(c, i->frame.def->at, "the local variables take more than %d bytes once helpers are inlined",
                    LANG_MAX_LOCAL_BYTES);
}

static void mark_used(node *list);

static void mark_node(node *n) {
    for (; n; n = n->kid[0]) {
        if (n->callee)
            ((instance *)n->callee)->used = true;
        mark_node(n->kid[1]);
        mark_node(n->kid[2]);
        mark_used(n->args);
        mark_used(n->body);
        mark_used(n->other);
        mark_used(n->step);
    }
}

static void mark_used(node *list) {
    for (; list; list = list->next)
        mark_node(list);
}

/* ---- Results ---- */

/* The type of the result: that of all values returned if they agree, else their common one, as for ?: */
static dtype returned_type(const pending *returns, bool *weak) {
    assert(returns);
    const node *first = returns->assign->kid[1];
    dtype type = first->type;
    *weak = first->weak;
    for (const pending *r = returns->next; r; r = r->next) {
        const node *n = r->assign->kid[1];
        if (n->type != type || n->weak != *weak)
            type = common_type(type, *weak, n->type, n->weak, weak);
    }
    return type;
}

/* Gives the unnamed result its type, and converts every value returned to it. A record is known since the last round. */
static void result_settle(check *c, frame *f) {
    if (f->result.record || f->result.type != DT_NONE)
        return;
    local *result = &c->now->f.locals[f->result_slot];
    if (!f->returns)
        check_fail(c, f->def->end, "no return gives the result a type: the loop never ends");
    f->result.type = result->type = returned_type(f->returns, &f->weak);
    for (pending *r = f->returns; r; r = r->next) {
        syn at = {.at = r->at, .line = r->assign->line};
        r->assign->kid[0]->type = r->assign->type = (uint8_t)result->type;
        r->assign->kid[1] = adapt(c, r->assign->kid[1], result->type, false, &at);
    }
}

/* ---- Parameters and outputs ---- */

int kernel_indices(const check *c) { return c->core ? c->core->nindices : 0; }

int size_find(const check *c, int id) {
    const name *n = &c->frame->u->s->names[id];
    if (!c->core || !c->frame->is_kernel)
        return -1;
    for (int d = 0; d < kernel_indices(c); d++)
        if (c->frame->def->extents[d] == id)
            return d;
    for (int d = 0; d < c->core->ndims; d++) {
        const char *known = c->core->dims[d].name;
        if (known && strncmp(known, n->text, (size_t)n->length) == 0 && !known[n->length])
            return d;
    }
    return -1;
}

/* Makes a local of a kernel's operand an array, if its layout has core dimensions. */
static void operand_lay(const check *c, int slot, const layout_operand *o) {
    local *l = &c->now->f.locals[slot];
    l->core = o->rank > 0;
    l->rank = o->rank;
    for (int d = 0; d < o->rank; d++) {
        l->dim[d] = o->dim[d];
        l->extent[d] = c->core->dims[o->dim[d]].frozen ? c->core->dims[o->dim[d]].frozen : -1;
    }
}

/* "a.lo" for a leaf of the parameter a. */
static const char *leaf_name(check *c, const char *word, const record *r, int i) {
    char buffer[1200];
    int n = snprintf(buffer, sizeof buffer, "%s.%s", word, r->leaves[i].path);
    return arena_text(c->a, buffer, (size_t)n);
}

/* Binds a parameter or an output. Its locals are the next ones, one a leaf; operand k of the kernel's layout is the first. */
static variable *parameter_bind(check *c, const frame *f, const parameter_syn *p, value_type type, int k) {
    const char *word = name_text(c, p->name);
    bool laid = c->core && f->is_kernel;
    int slot = c->now->f.nlocals;
    for (int i = 0; i < value_leaves(type); i++) {
        int leaf = local_new(c, type.record ? leaf_name(c, word, type.record, i) : word, value_leaf(type, i), 0, NULL,
                             f->def->at);
        if (laid)
            operand_lay(c, leaf, &c->core->operands[k + i]);
    }
    variable *v = variable_bind(c, p->name, slot);
    v->record = type.record;
    if (laid && size_find(c, p->name) >= 0)
        check_fail(c, p->at, "'%s' is %s; %s needs another name", word,
                   kernel_indices(c) ? "the extent of an index" : "a dimension of the layout",
                   kernel_indices(c) ? "a parameter" : "an operand");
    return v;
}

static void index_bind(check *c, variable *v, int d) {
    v->read_only = "an index";
    index_bounds(c, v, d);
}

static void parameters_bind(check *c, instance *i) {
    const definition *def = i->frame.def;
    int indices = i->frame.is_kernel ? kernel_indices(c) : 0, first = def->nparams - indices, operand = 0;
    for (int k = 0; k < def->nparams; k++) {
        const int at = operand;
        variable *v = parameter_bind(c, &i->frame, &def->params[k], i->types[k], operand);
        operand += value_leaves(i->types[k]);
        if (indices && k >= first)
            index_bind(c, v, k - first);
        else if (value_leaves(i->types[k]) && i->f.locals[v->local].core)
            v->read_only = indices ? NULL : "an input array";
        else if (i->frame.u->prelude || v->record || name_assigned(def->body, v->name))
            continue;
        else if (indices)
            number_known(c, v, at);
        else
            value_known(c, v, NULL);
    }
}

/* The type of named output k, as far as it is given: by the kernel's caller, by the call of a function, or by the list. */
static value_type output_given(check *c, const frame *f, const dtype *results, int k, int leaf) {
    const definition *def = f->def;
    syn at = {.at = def->outputs[k].at};
    if (f->is_kernel && c->records && c->records[def->nparams + k])
        return (value_type){DT_NONE, c->records[def->nparams + k]};
    if (f->is_kernel)
        return value_scalar(c->out[leaf]);
    if (results)
        return value_scalar(results[leaf]);
    if (f->found && f->found[k])
        return (value_type){DT_NONE, f->found[k]};
    return def->outputs[k].to ? named_type(c, def->outputs[k].to, &at) : value_scalar(DT_NONE);
}

value_type output_type(check *c, const frame *f, int k, dtype type) {
    syn at = {.at = f->def->outputs[k].at};
    if (f->found && f->found[k])
        return (value_type){DT_NONE, f->found[k]};
    if (!f->def->outputs[k].to)
        return value_scalar(type);
    frame *outer = c->frame, inside = *f;
    c->frame = &inside;
    value_type t = named_type(c, f->def->outputs[k].to, &at);
    c->frame = outer;
    return t;
}

/* Binds the outputs that have names. Those whose types are not given have the guessed ones. */
static void outputs_bind(check *c, frame *f, const dtype *results) {
    const definition *def = f->def;
    f->output_slot = c->now->f.nlocals;
    for (int k = 0, leaf = 0; k < def->noutputs; k++) {
        value_type type = output_given(c, f, results, k, leaf);
        if (!type.record && type.type == DT_NONE)
            type.type = f->guesses[leaf].assumed;
        parameter_bind(c, f, &def->outputs[k], type, c->now->f.nparams + leaf);
        leaf += value_leaves(type);
    }
}

/* ---- Functions ---- */

void scope_leave(check *c, variable *outer) {
    for (; c->scope != outer; c->scope = c->scope->scope_next)
        c->scope->in->bound[c->scope->name] = c->scope->shadowed;
}

static const char *definition_name(check *c, const frame *f) {
    return f->def->name == NO_NAME ? "kernel" : name_text(c, f->def->name);
}

/* A body without named outputs has come to its end, or not. */
static void result_check(check *c, frame *f, bool ends) {
    bool kernel = f->is_kernel;
    if (f->in_place && f->empty)
        check_fail(c, f->empty->at, "return needs a value, as another return of the helper has one");
    if (!f->returned && ends)
        check_fail(c, f->def->end, "%s returns no value; it is given by return: return ..;",
                   kernel ? "the kernel" : "the helper");
    if (ends)
        check_fail(c, f->def->end, "not every path returns a value");
    if (!f->again)
        result_settle(c, f);
}

static bool returns_value(const check *c, const frame *f) {
    return !f->def->noutputs && !(f->is_kernel && kernel_indices(c));
}

/* The number of locals that hold results. */
static int result_count(check *c, const instance *i) {
    if (returns_value(c, &i->frame))
        return value_leaves(i->frame.result);
    int count = 0;
    for (int k = 0; k < i->frame.def->noutputs; k++)
        count += value_leaves(output_given(c, &i->frame, i->results, k, count));
    return count;
}

/* One round of checking the body of c->now, whose parameters are typed. */
static void round_check(check *c, instance *i) {
    if (i->frame.is_kernel)
        known_begin(c);
    variable *outer = c->scope;
    known_mark before = known_here(c);
    frame *f = &i->frame;
    if (f->is_kernel) {
        c->made = 0;
        c->tables = NULL;
        c->table_bytes = 0;
    }
    i->f.nlocals = i->f.nparams = 0;
    i->tables = NULL;
    i->bytes = i->arrays = 0;
    f->returns = NULL;
    f->returned = f->again = false;
    for (int k = 0; k < f->def->nparams; k++)
        i->f.nparams += value_leaves(i->types[k]);
    i->f.nresults = result_count(c, i);
    i->f.name = definition_name(c, f);
    i->f.exact = f->def->exact;
    c->scope_depth++; /* parameters belong to the block of the body, as in C */
    parameters_bind(c, i);
    outputs_bind(c, f, i->results);
    f->result_slot = i->f.nlocals;
    for (int k = 0; k < i->f.nresults && returns_value(c, f); k++)
        local_new(c, "return", value_leaf(f->result, k), 0, NULL, f->def->at);
    c->scope_depth--;
    i->f.body = NULL;
    bool ends = statements_check(c, f->def->body, &i->f.body);
    if (returns_value(c, f))
        result_check(c, f, ends);
    scope_leave(c, outer);
    known_drop(c, before);
}

/* Assumes for the next round that the outputs of unknown type have the types that everything assigned to them fits.
 * False: nothing changed, and the types are found. A value that is still weak has its C type. */
static bool guesses_grow(check *c, const frame *f) {
    bool grew = false;
    for (int k = 0; k < f->nguesses; k++) {
        output_guess *g = &f->guesses[k];
        if (g->given)
            continue;
        if (g->found == DT_NONE)
            check_fail(c, f->def->at, "output '%s' is never assigned, so that it has no type",
                       name_text(c, f->def->outputs[k].name));
        grew |= g->found != g->assumed || g->found_weak != g->assumed_weak;
        g->assumed = g->found;
        g->assumed_weak = g->found_weak;
        g->found = DT_NONE;
    }
    return grew;
}

/* Guesses for the outputs whose types are not given, by leaf; those that stand between are marked as given. */
static void guesses_begin(check *c, frame *f, const dtype *results) {
    bool unknown = false;
    int leaves = 0;
    output_guess *guesses = arena_alloc(c->a, UF_MAX_OPERANDS * sizeof *guesses);
    for (int k = 0; k < f->def->noutputs; k++) {
        value_type type = output_given(c, f, results, k, leaves);
        bool given = type.record || type.type != DT_NONE;
        if (leaves + value_leaves(type) > UF_MAX_OPERANDS)
            check_fail(c, f->def->at, "the results have more than %d scalars", UF_MAX_OPERANDS);
        for (int l = 0; l < value_leaves(type); l++)
            guesses[leaves++] = (output_guess){
                .given = given, .output = k, .assumed = DT_INT32, .assumed_weak = true, .found = DT_NONE};
        unknown |= !given;
    }
    f->nguesses = leaves;
    f->guesses = unknown ? guesses : NULL;
    if (unknown && !f->found && !f->is_kernel)
        f->found = arena_alloc(c->a, (size_t)f->def->noutputs * sizeof *f->found);
}

/* Checks the body of c->now: again as long as what is known of the types of results grows. Named outputs of unknown type get the
 * narrowest that everything assigned to them fits; one that is read before its type is known reads as a weak 0 of int32. */
static void body_check(check *c, instance *i) {
    guesses_begin(c, &i->frame, i->results);
    for (int round = 0;; round++) {
        round_check(c, i);
        if (i->frame.again) {
            guesses_begin(c, &i->frame, i->results);
            continue;
        }
        if (!i->frame.guesses || !guesses_grow(c, &i->frame) || round >= GUESS_ROUNDS)
            break;
    }
    measure_function(c, i);
}

static instance *instance_new(check *c, unit *u, const definition *def, const value_type *types,
                              const value_type *bindings) {
    instance *i = arena_alloc(c->a, sizeof *i);
    size_t size = (size_t)def->nparams * sizeof *types, more = (size_t)def->nvariables * sizeof *bindings;
    i->frame = (frame){.def = def, .u = u, .result = {DT_NONE, NULL}};
    i->types = arena_alloc(c->a, size + 1);
    i->frame.bindings = arena_alloc(c->a, more + 1);
    if (size)
        memcpy(i->types, types, size);
    if (more && bindings)
        memcpy(i->frame.bindings, bindings, more);
    return i;
}

void surroundings_clear(check *c) {
    c->loops = c->breakables = c->forall_first = 0;
    c->parallel = false;
    c->pure = NULL;
    c->ranges = NULL;
}

void surroundings_restore(check *c, const check *outer) {
    c->now = outer->now;
    c->frame = outer->frame;
    c->call = outer->call;
    c->loops = outer->loops;
    c->broke = outer->broke;
    c->continued = outer->continued;
    c->breakables = outer->breakables;
    c->parallel = outer->parallel;
    c->forall_first = outer->forall_first;
    c->pure = outer->pure;
    c->pure_first = outer->pure_first;
    c->ranges = outer->ranges;
}

/* Checks an instance on its own: nothing of the function that calls it is visible. */
static void instance_check(check *c, instance *i, const syn *call) {
    check outer = *c;
    if (i->frame.u->prelude && !c->call) {
        c->call = call;
        c->call_unit = c->frame->u;
        c->call_name = i->frame.u->row;
    }
    c->now = i;
    c->frame = &i->frame;
    surroundings_clear(c);
    known_facts facts = facts_set_aside(c);
    i->busy = true;
    body_check(c, i);
    i->busy = false;
    facts_restore(c, facts);
    surroundings_restore(c, &outer);
    i->done_next = c->done;
    c->done = i;
}

static bool instance_fits(const instance *i, const value_type *types, const dtype *results) {
    for (int k = 0; k < i->frame.def->nparams; k++)
        if (!value_same(i->types[k], types[k]))
            return false;
    int n = i->frame.def->noutputs ? i->frame.def->noutputs : 1;
    return !results == !i->results && (!results || !memcmp(results, i->results, (size_t)n * sizeof *results));
}

instance *instance_of(check *c, unit *u, const definition *def, const value_type *types, const value_type *bindings,
                      const dtype *results, const syn *call) {
    for (instance *i = u->instances[def->index]; i; i = i->same_next) {
        if (!instance_fits(i, types, results))
            continue;
        if (i->busy)
            check_fail(c, call->at, "'%s' calls itself; helpers are inlined and cannot be recursive", i->f.name);
        return i;
    }
    if (c->depth == LANG_MAX_DEPTH)
        check_limit(c, call->at, "helpers call each other more than %d levels deep", LANG_MAX_DEPTH);
    instance *i = instance_new(c, u, def, types, bindings);
    i->results = results;
    if (results && !def->noutputs)
        i->frame.result.type = results[0];
    i->same_next = u->instances[def->index];
    u->instances[def->index] = i;
    c->depth++;
    instance_check(c, i, call);
    c->depth--;
    return i;
}

instance *instance_of_dtypes(check *c, unit *u, const definition *def, const dtype *types, const syn *call) {
    value_type values[UF_MAX_OPERANDS] = {{DT_NONE, NULL}};
    for (int k = 0; k < def->nparams; k++)
        values[k] = value_scalar(types[k]);
    return instance_of(c, u, def, values, NULL, NULL, call);
}

/* One round of checking a body in place. True if control can reach its end. */
static bool in_place_round(check *c, frame *f, node **body) {
    variable *parameters = c->scope;
    if (f->again)
        guesses_begin(c, f, NULL);
    f->returns = NULL;
    f->returned = f->again = false;
    f->empty = NULL;
    outputs_bind(c, f, NULL);
    f->result_slot = c->now->f.nlocals;
    for (int k = 0; k < value_leaves(f->result) && !f->def->noutputs; k++)
        local_new(c, "return", value_leaf(f->result, k), 0, NULL, f->def->at);
    c->scope_depth++;
    *body = NULL;
    bool ends = statements_check(c, f->def->body, body);
    c->scope_depth--;
    scope_leave(c, parameters);
    return ends;
}

/* Checks the body until the types of its results are known. What a round before the last declared is dropped. */
static void in_place_rounds(check *c, frame *f, node **body) {
    const instance before = *c->now;
    for (;;) {
        bool ends = in_place_round(c, f, body);
        if (!f->def->noutputs && (f->returned || !ends))
            result_check(c, f, ends);
        if (!f->again && (!f->guesses || !guesses_grow(c, f)))
            return;
        c->now->f.nlocals = before.f.nlocals;
        c->now->tables = before.tables;
        c->now->bytes = before.bytes;
        c->now->arrays = before.arrays;
    }
}

void in_place_check(check *c, frame *f, const syn *call, variable *outer, node **out) {
    check around = *c;
    known_mark before = known_here(c);
    if (c->depth == LANG_MAX_DEPTH)
        check_limit(c, call->at, "helpers call each other more than %d levels deep", LANG_MAX_DEPTH);
    guesses_begin(c, f, NULL);
    c->depth++;
    c->frame = f;
    c->loops = c->breakables = 0;
    c->parallel = false;
    *out = node_new(c, N_INLINE, DT_NONE, call);
    in_place_rounds(c, f, &(*out)->body);
    if (!f->def->noutputs && !f->returned)
        c->now->f.locals[f->result_slot].type = DT_BOOL; /* nothing is returned, and nothing reads it */
    c->depth--;
    scope_leave(c, outer);
    known_drop(c, before);
    c->frame = around.frame;
    c->loops = around.loops;
    c->breakables = around.breakables;
    c->broke = around.broke;
    c->continued = around.continued;
    c->parallel = around.parallel;
}

/* ---- The kernel ---- */

unit *unit_new(check *c, const syntax *s) {
    unit *u = arena_alloc(c->a, sizeof *u);
    u->s = s;
    u->bound = arena_alloc(c->a, (size_t)(s->nnames + 1) * sizeof *u->bound);
    u->instances = arena_alloc(c->a, (size_t)s->ndefinitions * sizeof *u->instances + 1);
    return u;
}

unit *unit_of(check *c, const syntax *s) {
    for (unit *u = c->units; u; u = u->next)
        if (u->s == s)
            return u;
    unit *u = unit_new(c, s);
    u->next = c->units;
    return c->units = u;
}

/* The types of the kernel's parameters and indices, from those of its inputs, which count leaves. */
static instance *kernel_new(check *c, const syntax *s, const dtype *in) {
    value_type types[2 * UF_MAX_OPERANDS];
    const definition *def = s->kernel;
    for (int k = 0, leaf = 0; k < def->nparams; k++) {
        const record *r = c->records && k < def->nparams - def->nindices ? c->records[k] : NULL;
        types[k] = r ? (value_type){DT_NONE, r} : value_scalar(in[leaf]);
        leaf += value_leaves(types[k]);
    }
    instance *kernel = instance_new(c, unit_of(c, s), def, types, NULL);
    kernel->frame.is_kernel = true;
    if (!def->noutputs && c->nout)
        kernel->frame.result = c->records && c->records[def->nparams] ? (value_type){DT_NONE, c->records[def->nparams]}
                                                                      : value_scalar(c->out[0]);
    return kernel;
}

static instance *kernel_check(check *c, const syntax *s, const dtype *in) {
    c->prelude = arena_alloc(c->a, (size_t)prelude_row_count * sizeof *c->prelude);
    instance *kernel = kernel_new(c, s, in);
    c->now = kernel;
    c->frame = &kernel->frame;
    body_check(c, kernel);
    return kernel;
}

/* The functions that the kernel needs, callees first. */
static tree *tree_make(check *c, instance *kernel) {
    tree *t = arena_alloc(c->a, sizeof *t);
    t->kernel = t->functions = &kernel->f;
    t->nodes = (int)kernel->called;
    t->variables = kernel->variables;
    t->has_loop = kernel->has_loop;
    t->layout = c->core;
    needs_take(c, t);
    mark_used(kernel->f.body);
    int64_t nodes = kernel->nodes;
    for (instance *i = c->done; i; i = i->done_next)
        if (i->used) {
            mark_used(i->f.body);
            nodes += i->nodes;
            i->f.next = t->functions;
            t->functions = &i->f;
        }
    if (nodes > LANG_MAX_NODES)
        fail_nodes(c, kernel->frame.def->at);
    trips_mark(t, kernel, c->done);
    return t;
}

/* The scalars that parameters first .. end-1 of a kernel are, of which the last so many are indices. */
static int count_leaves(const record *const *records, int first, int end, int nindices) {
    int count = 0;
    for (int k = first; k < end; k++)
        count += records && k < end - nindices && records[k] ? records[k]->nleaves : 1;
    return count;
}

/* Does the kernel have what a kernel over so many indices has? */
static uf_status interface_check_indices(const syntax *s, const record *const *records, int nindices, int nin,
                                         int nout) {
    if (s->kernel->nindices != nindices)
        return lang_fail(s, UF_ERR_TYPE, "the kernel has %d ind%s, not %d: [i, ..](..) { .. }", s->kernel->nindices,
                         s->kernel->nindices == 1 ? "ex" : "ices", nindices);
    if (s->kernel->noutputs)
        return lang_fail(s, UF_ERR_TYPE, "a kernel over indices has no outputs: it writes to its arrays");
    if (nin != count_leaves(records, 0, s->kernel->nparams, nindices) || nout)
        return lang_fail(s, UF_ERR_TYPE, "the kernel has %d parameters, the list of types %d",
                         s->kernel->nparams - nindices, nin - nindices);
    return UF_OK;
}

/* Does the kernel have as many parameters, outputs and indices as it should? */
static uf_status interface_check(const syntax *s, const core_layout *core, const record *const *records, int nin,
                                 int nout) {
    const definition *k = s->kernel;
    int inputs = count_leaves(records, 0, k->nparams, k->nindices),
        outputs = count_leaves(records, k->nparams, k->nparams + lang_outputs(s), 0);
    if (core && core->nindices)
        return interface_check_indices(s, records, core->nindices, nin, nout);
    for (int d = 0; d < k->nindices; d++)
        if (k->extents[d] != NO_NAME)
            return fail_kernel(UF_ERR_TYPE, s->source, k->params[k->nparams - k->nindices + d].at,
                               "only the indices of a kernel over indices (uf_kernel) have an extent with a name");
    if (nin != inputs || nout != outputs)
        return lang_fail(s, UF_ERR_TYPE, "the kernel has %d inputs and %d outputs, the signature %d and %d", inputs,
                         outputs, nin, nout);
    if (core && (core->nin != nin || core->nout != nout))
        return lang_fail(s, UF_ERR_TYPE, "the kernel has %d inputs and %d outputs, the layout %d and %d", nin, nout,
                         core->nin, core->nout);
    if (core && !s->kernel->noutputs)
        return lang_fail(s, UF_ERR_TYPE, "the kernel of a generalized ufunc names its outputs: (..) -> (y) { .. }");
    return UF_OK;
}

uf_status lang_check(arena *a, const syntax *s, const core_layout *core, const record *const *records, const dtype *in,
                     int nin, dtype *out, int nout, bool unchecked, tree **result) {
    jmp_buf escape, *before = a->escape;
    *result = NULL;
    TRY(interface_check(s, core, records, nin, nout));
    a->escape = &escape;
    if (setjmp(escape)) {
        a->escape = before;
        return uf_last_error()->status;
    }
    check c = {.a = a, .out = out, .nout = nout, .records = records, .unchecked = unchecked, .core = core};
    for (int k = 0; records && k < s->kernel->nparams + (nout ? lang_outputs(s) : 0); k++)
        record_know(&c, records[k]);
    instance *kernel = kernel_check(&c, s, in);
    *result = tree_make(&c, kernel);
    for (int k = 0; k < nout; k++)
        out[k] = kernel->f.locals[nin + k].type;
    a->escape = before;
    return UF_OK;
}
