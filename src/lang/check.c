/* check.c - the driver of the checker: the kernel, the instances of helpers, the types of results, and the limits on
 * the tree after inlining. */
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
    char message[1024];
    const unit *u = c->now->u;
    vsnprintf(message, sizeof message, format, arguments);
    if (c->call)
        longjmp(*c->a->escape,
                fail_source(status, c->call_unit->s->source, c->call->at, "in '%s': %s", c->call_name, message));
    longjmp(*c->a->escape, fail_source(status, u->s->source, at, "%s", message));
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
    check_limit(c, at, "the kernel is too large: more than %d nodes once helpers are inlined", LANG_MAX_NODES);
}

/* ---- Nodes and locals ---- */

node *node_new(check *c, node_kind kind, dtype type, const syn *at) {
    if (++c->made > MADE_MAX)
        fail_nodes(c, at->at);
    node *n = arena_alloc(c->a, sizeof *n);
    n->kind = (uint8_t)kind;
    n->type = (uint8_t)type;
    n->wide = DT_NONE;
    n->line = c->now->u->prelude ? 0 : at->line;
    return n;
}

const char *name_text(check *c, int id) {
    const name *n = &c->now->u->s->names[id];
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
    i->variables += rank == 0;
    return f->nlocals++;
}

void local_count(check *c, int slot, size_t at) {
    instance *i = c->now;
    const local *l = &i->f.locals[slot];
    int64_t bytes = l->type == DT_NONE ? 16 : dtypes[l->type].size;
    for (int k = 0; k < l->rank && bytes <= LANG_MAX_LOCAL_BYTES; k++)
        bytes = l->extent[k] > LANG_MAX_LOCAL_BYTES ? LANG_MAX_LOCAL_BYTES + 1 : bytes * l->extent[k];
    if (slot >= i->f.nparams + i->f.nresults)
        i->bytes += bytes;
    if (i->bytes > LANG_MAX_LOCAL_BYTES)
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
    variable **bound = &c->now->u->bound[id];
    *v = (variable){.name = id,
                    .local = slot,
                    .depth = c->scope_depth,
                    .owner = c->now,
                    .shadowed = *bound,
                    .scope_next = c->scope};
    return *bound = c->scope = v;
}

/* ---- The size of a finished function ---- */

typedef struct measure {
    check *c;
    instance *of;
} measure;

static void measure_list(measure *m, node *list);

/* Counts a node with all nodes below it; a callee counts at each of its calls. Left operands are walked in a loop, so
 * that a long sum does not recurse. */
static void measure_node(measure *m, node *n) {
    for (; n; n = n->kid[0]) {
        m->of->nodes++;
        m->of->has_loop |= n->kind == N_LOOP || n->kind == N_FORALL || n->kind == N_REDUCE;
        if (n->callee) {
            const instance *callee = (const instance *)n->callee;
            m->of->nodes += callee->nodes;
            m->of->bytes += callee->bytes;
            m->of->variables += callee->variables;
            m->of->has_loop |= callee->has_loop;
        }
        if (n->kind == N_CONST && n->type == DT_FLOAT64)
            n->value.as.f[1] = 0; /* where a weak literal kept its rounding to float32 */
        measure_node(m, n->kid[1]);
        measure_node(m, n->kid[2]);
        measure_list(m, n->args);
        measure_list(m, n->body);
        measure_list(m, n->other);
        measure_list(m, n->step);
        if (m->of->nodes > LANG_MAX_NODES)
            fail_nodes(m->c, m->of->def->at);
    }
}

static void measure_list(measure *m, node *list) {
    for (; list; list = list->next)
        measure_node(m, list);
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

/* Gives the unnamed result its type, and converts every value returned to it. */
static void result_settle(check *c, instance *i) {
    local *result = &i->f.locals[i->f.nparams];
    if (result->type != DT_NONE)
        return;
    if (!i->returns)
        check_fail(c, i->def->end, "no return gives the result a type: the loop never ends");
    result->type = returned_type(i->returns, &i->weak);
    for (pending *r = i->returns; r; r = r->next) {
        syn at = {.at = r->at, .line = r->assign->line};
        r->assign->kid[0]->type = r->assign->type = (uint8_t)result->type;
        r->assign->kid[1] = adapt(c, r->assign->kid[1], result->type, false, &at);
    }
}

/* ---- Functions ---- */

int kernel_indices(const check *c) { return c->core ? c->core->nindices : 0; }

int size_find(const check *c, int id) {
    const name *n = &c->now->u->s->names[id];
    if (!c->core || c->now->def->name != NO_NAME)
        return -1;
    for (int d = 0; d < kernel_indices(c); d++)
        if (c->now->def->extents[d] == id)
            return d;
    for (int d = 0; d < c->core->ndims; d++) {
        const char *known = c->core->dims[d].name;
        if (known && strncmp(known, n->text, (size_t)n->length) == 0 && !known[n->length])
            return d;
    }
    return -1;
}

/* Binds operand k of the kernel, or a parameter of a helper. An operand is an array if its layout has core
 * dimensions. */
static variable *operand_bind(check *c, instance *i, int id, int k, dtype type) {
    int slot = local_new(c, name_text(c, id), type, 0, NULL, i->def->at);
    variable *v = variable_bind(c, id, slot);
    if (!c->core || i->def->name != NO_NAME)
        return v;
    if (size_find(c, id) >= 0)
        check_fail(c, i->def->offsets[k], "'%s' is %s; %s needs another name", name_text(c, id),
                   kernel_indices(c) ? "the extent of an index" : "a dimension of the layout",
                   kernel_indices(c) ? "a parameter" : "an operand");
    const layout_operand *o = &c->core->operands[k];
    local *l = &i->f.locals[slot];
    l->core = o->rank > 0;
    l->rank = o->rank;
    for (int d = 0; d < o->rank; d++) {
        l->dim[d] = o->dim[d];
        l->extent[d] = c->core->dims[o->dim[d]].frozen ? c->core->dims[o->dim[d]].frozen : -1;
    }
    return v;
}

static void index_bind(check *c, variable *v, int d) {
    v->read_only = "an index";
    index_bounds(c, v, d);
}

static void parameters_bind(check *c, instance *i) {
    int indices = i->def->name == NO_NAME ? kernel_indices(c) : 0, first = i->def->nparams - indices;
    for (int k = 0; k < i->def->nparams; k++) {
        variable *v = operand_bind(c, i, i->def->params[k], k, i->types[k]);
        if (indices && k >= first)
            index_bind(c, v, k - first);
        else if (i->f.locals[v->local].core)
            v->read_only = indices ? NULL : "an input array";
        else if (!i->u->prelude && !name_assigned(i->def->body, v->name))
            value_known(c, v, NULL);
    }
}

/* Binds the outputs that have names. Their types are those that are asked for, or guessed ones. */
static void outputs_bind(check *c, instance *i) {
    for (int k = 0; k < i->def->noutputs; k++) {
        dtype type = c->out[k];
        if (type == DT_NONE) {
            assert(c->guesses); /* kernel_settle has made them */
            type = c->guesses[k].assumed;
        }
        operand_bind(c, i, i->def->outputs[k], i->def->nparams + k, type);
    }
}

void scope_leave(check *c, variable *outer) {
    for (; c->scope != outer; c->scope = c->scope->scope_next)
        c->now->u->bound[c->scope->name] = c->scope->shadowed;
}

/* Checks the body of c->now, whose parameters are typed. */
static void body_check(check *c, instance *i) {
    variable *outer = c->scope;
    known_mark before = known_here(c);
    bool is_kernel = i->def->name == NO_NAME, returns = !i->def->noutputs && !(is_kernel && kernel_indices(c));
    i->f.nparams = i->def->nparams;
    i->f.nresults = returns ? 1 : i->def->noutputs;
    i->f.name = is_kernel ? "kernel" : name_text(c, i->def->name);
    c->scope_depth++; /* parameters belong to the block of the body, as in C */
    parameters_bind(c, i);
    outputs_bind(c, i);
    if (returns)
        local_new(c, "return", is_kernel ? c->out[0] : DT_NONE, 0, NULL, i->def->at);
    c->scope_depth--;
    bool ends = statements_check(c, i->def->body, &i->f.body);
    if (returns) {
        if (!i->returned && ends)
            check_fail(c, i->def->end, "%s returns no value", is_kernel ? "the kernel" : "the helper");
        if (ends)
            check_fail(c, i->def->end, "not every path returns a value");
        result_settle(c, i);
    }
    scope_leave(c, outer);
    known_drop(c, before);
    measure_list(&(measure){c, i}, i->f.body);
    if (i->bytes > LANG_MAX_LOCAL_BYTES)
        check_limit(c, i->def->at, "the local variables take more than %d bytes once helpers are inlined",
                    LANG_MAX_LOCAL_BYTES);
}

static instance *instance_new(check *c, unit *u, const definition *def, const dtype *types) {
    instance *i = arena_alloc(c->a, sizeof *i);
    size_t size = (size_t)def->nparams * sizeof *types;
    i->def = def;
    i->u = u;
    i->types = arena_alloc(c->a, size + 1);
    if (size)
        memcpy(i->types, types, size);
    return i;
}

/* Checks an instance on its own: nothing of the function that calls it is visible. */
static void instance_check(check *c, instance *i, const syn *call) {
    check outer = *c;
    if (i->u->prelude && !c->call) {
        c->call = call;
        c->call_unit = c->now->u;
        c->call_name = i->u->row;
    }
    c->now = i;
    c->loops = c->breakables = c->forall_first = 0;
    c->parallel = false;
    c->pure = NULL;
    c->ranges = NULL;
    i->busy = true;
    body_check(c, i);
    i->busy = false;
    c->now = outer.now;
    c->call = outer.call;
    c->loops = outer.loops;
    c->broke = outer.broke;
    c->continued = outer.continued;
    c->breakables = outer.breakables;
    c->parallel = outer.parallel;
    c->forall_first = outer.forall_first;
    c->pure = outer.pure;
    c->ranges = outer.ranges;
    i->done_next = c->done;
    c->done = i;
}

instance *instance_of(check *c, unit *u, const definition *def, const dtype *types, const syn *call) {
    for (instance *i = u->instances[def->index]; i; i = i->same_next) {
        if (memcmp(i->types, types, (size_t)def->nparams * sizeof *types) != 0)
            continue;
        if (i->busy)
            check_fail(c, call->at, "'%s' calls itself; helpers are inlined and cannot be recursive", i->f.name);
        return i;
    }
    if (c->depth == LANG_MAX_DEPTH)
        check_limit(c, call->at, "helpers call each other more than %d levels deep", LANG_MAX_DEPTH);
    instance *i = instance_new(c, u, def, types);
    i->same_next = u->instances[def->index];
    u->instances[def->index] = i;
    c->depth++;
    instance_check(c, i, call);
    c->depth--;
    return i;
}

/* ---- The kernel ---- */

unit *unit_new(check *c, const syntax *s) {
    unit *u = arena_alloc(c->a, sizeof *u);
    u->s = s;
    u->bound = arena_alloc(c->a, (size_t)(s->nnames + 1) * sizeof *u->bound);
    u->instances = arena_alloc(c->a, (size_t)s->ndefinitions * sizeof *u->instances);
    return u;
}

/* One round of checking the kernel, from the beginning. */
static instance *kernel_check(check *c, const syntax *s, const dtype *in) {
    c->user = unit_new(c, s);
    c->prelude = arena_alloc(c->a, (size_t)prelude_row_count * sizeof *c->prelude);
    c->done = NULL;
    c->scope = NULL;
    c->made = 0;
    c->tables = NULL;
    c->table_bytes = 0;
    known_begin(c);
    instance *kernel = instance_new(c, c->user, s->kernel, in);
    c->now = kernel;
    body_check(c, kernel);
    return kernel;
}

/* Assumes for the next round that the outputs of unknown type have the types that everything assigned to them fits.
 * False: nothing changed, and the types are found. A value that is still weak has its C type. */
static bool guesses_grow(check *c, const instance *kernel) {
    bool grew = false;
    for (int k = 0; k < c->nout; k++) {
        output_guess *g = &c->guesses[k];
        if (c->out[k] != DT_NONE)
            continue;
        if (g->found == DT_NONE)
            check_fail(c, kernel->def->at, "output '%s' is never assigned, so that it has no type",
                       name_text(c, kernel->def->outputs[k]));
        grew |= g->found != g->assumed || g->found_weak != g->assumed_weak;
        g->assumed = g->found;
        g->assumed_weak = g->found_weak;
        g->found = DT_NONE;
    }
    return grew;
}

/* Finds the types of named outputs of a function without signatures: the narrowest that everything assigned to them
 * fits. The kernel is checked again and again until they do not change. An output that is read before its type is known
 * reads as a weak 0 of int32. */
static instance *kernel_settle(check *c, const syntax *s, const dtype *in) {
    bool unknown = false;
    for (int k = 0; k < c->nout && s->kernel->noutputs; k++)
        unknown |= c->out[k] == DT_NONE;
    if (!unknown)
        return kernel_check(c, s, in);
    c->guesses = arena_alloc(c->a, (size_t)c->nout * sizeof *c->guesses);
    for (int k = 0; k < c->nout; k++)
        c->guesses[k] = (output_guess){.assumed = DT_INT32, .assumed_weak = true, .found = DT_NONE};
    for (int round = 0;; round++) {
        instance *kernel = kernel_check(c, s, in);
        if (!guesses_grow(c, kernel) || round == GUESS_ROUNDS)
            return kernel;
    }
}

/* The functions that the kernel needs, callees first. */
static tree *tree_make(check *c, instance *kernel) {
    tree *t = arena_alloc(c->a, sizeof *t);
    t->kernel = t->functions = &kernel->f;
    t->nodes = (int)kernel->nodes;
    t->variables = (int)kernel->variables;
    t->has_loop = kernel->has_loop;
    t->layout = c->core;
    needs_take(c, t);
    mark_used(kernel->f.body);
    for (instance *i = c->done; i; i = i->done_next)
        if (i->used) {
            mark_used(i->f.body);
            i->f.next = t->functions;
            t->functions = &i->f;
        }
    trips_mark(t, kernel, c->done);
    return t;
}

/* Does the kernel have what a kernel over so many indices has? */
static uf_status interface_check_indices(const syntax *s, int nindices, int nin, int nout) {
    if (s->kernel->nindices != nindices)
        return lang_fail(s, UF_ERR_TYPE, "the kernel has %d ind%s, not %d: [i, ..](..) { .. }", s->kernel->nindices,
                         s->kernel->nindices == 1 ? "ex" : "ices", nindices);
    if (s->kernel->noutputs)
        return lang_fail(s, UF_ERR_TYPE, "a kernel over indices has no outputs: it writes to its arrays");
    if (nin != s->kernel->nparams || nout)
        return lang_fail(s, UF_ERR_TYPE, "the kernel has %d parameters, the list of types %d",
                         s->kernel->nparams - nindices, nin - nindices);
    return UF_OK;
}

/* Does the kernel have as many parameters, outputs and indices as it should? */
static uf_status interface_check(const syntax *s, const core_layout *core, int nin, int nout) {
    const definition *k = s->kernel;
    if (core && core->nindices)
        return interface_check_indices(s, core->nindices, nin, nout);
    for (int d = 0; d < k->nindices; d++)
        if (k->extents[d] != NO_NAME)
            return fail_source(UF_ERR_TYPE, s->source, k->offsets[k->nparams - k->nindices + d],
                               "only the indices of a kernel over indices (uf_kernel) have an extent with a name");
    if (nin != s->kernel->nparams || nout != lang_outputs(s))
        return lang_fail(s, UF_ERR_TYPE, "the kernel has %d inputs and %d outputs, the signature %d and %d",
                         s->kernel->nparams, lang_outputs(s), nin, nout);
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
    (void)records;
    *result = NULL;
    TRY(interface_check(s, core, nin, nout));
    a->escape = &escape;
    if (setjmp(escape)) {
        a->escape = before;
        return uf_last_error()->status;
    }
    check c = {.a = a, .out = out, .nout = nout, .unchecked = unchecked, .core = core};
    instance *kernel = kernel_settle(&c, s, in);
    *result = tree_make(&c, kernel);
    for (int k = 0; k < nout; k++)
        out[k] = kernel->f.locals[nin + k].type;
    a->escape = before;
    return UF_OK;
}
