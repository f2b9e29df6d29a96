/* overload.c - which helper a call means. The candidates are the helpers of the name that the text sees, its own and those of the modules
 * that it uses, those of the texts that define the records among the arguments, and functions. Each argument gets a rank by how well
 * it fits its parameter; the best candidate is not worse than any other in any argument, and better in one. */
#include <assert.h>
#include <stdio.h>

#include "lang/check.h"

/* How well an argument fits a parameter, from the best. */
typedef enum rank {
    RANK_EXACT,
    RANK_VARIABLE, /* a type variable, or a record of one */
    RANK_UNTYPED,
    RANK_BUILTIN,    /* that of every argument of a built-in function */
    RANK_CONVERSION, /* it is converted */
    RANK_NESTED,     /* a number is converted to a record of records: to such a record first */
    RANK_NONE
} rank;

typedef struct candidate {
    const definition *def;
    const lang_function *function; /* in place of def */
} candidate;

/* A candidate with the arguments of a call. It is large, and so there is one of each call, not one of each candidate. */
typedef struct matching {
    candidate of;
    uint8_t ranks[UF_MAX_OPERANDS];
    value_type types[UF_MAX_OPERANDS];    /* what the arguments are converted to */
    value_type bindings[UF_MAX_OPERANDS]; /* of the type variables */
} matching;

typedef struct candidates {
    int count, size;
    candidate *of;
} candidates;

/* ---- Gathering ---- */

static void candidate_add(check *c, candidates *all, candidate x) {
    if (all->count == all->size) {
        candidate *of = arena_alloc(c->a, (size_t)(2 * all->size + 1) * sizeof *of);
        if (all->count)
            memcpy(of, all->of, (size_t)all->count * sizeof *of);
        all->of = of;
        all->size = 2 * all->size + 1;
    }
    all->of[all->count++] = x;
}

/* Those of a text, unless they are there. */
static void candidates_add(check *c, candidates *all, const syntax *s, const char *word, int length) {
    int id = name_find(s, word, (size_t)length);
    const definition *d = id == NO_NAME ? NULL : s->names[id].helper;
    for (int i = 0; i < all->count; i++)
        if (all->of[i].def && all->of[i].def->in == s)
            return;
    for (; d; d = d->overload)
        candidate_add(c, all, (candidate){.def = d});
}

static void candidates_of_record(check *c, candidates *all, const record *r, const char *word, int length) {
    for (; r; r = r->argument_record)
        candidates_add(c, all, ((const record_syn *)r->definition)->in, word, length);
}

static candidates candidates_gather(check *c, const call_arguments *a, const char *word, int length) {
    candidates all = {0};
    const syntax *s = c->frame->u->s;
    candidates_add(c, &all, s, word, length);
    for (int i = 0; i < s->nmodules; i++)
        candidates_add(c, &all, s->modules[i], word, length);
    for (const node *n = a->list; n; n = n->next)
        if (n->kind == N_RECORD)
            candidates_of_record(c, &all, n->record, word, length);
    for (int i = 0; i < s->nfunctions; i++)
        if (strncmp(s->functions[i]->name, word, (size_t)length) == 0 && !s->functions[i]->name[length])
            candidate_add(c, &all, (candidate){.function = s->functions[i]});
    return all;
}

static bool text_knows(const syntax *s, const char *word, int length) {
    int id = name_find(s, word, (size_t)length);
    return id != NO_NAME && s->names[id].helper;
}

bool overload_known(const check *c, const char *word, int length) {
    const syntax *s = c->frame->u->s;
    bool known = text_knows(s, word, length);
    for (int i = 0; i < s->nmodules; i++)
        known |= text_knows(s->modules[i], word, length);
    for (int i = 0; i < s->nfunctions; i++)
        known |= strncmp(s->functions[i]->name, word, (size_t)length) == 0 && !s->functions[i]->name[length];
    return known;
}

/* ---- Matching ---- */

static const node *argument_of(const call_arguments *a, int k) {
    const node *n = a->list;
    while (k--)
        n = n->next;
    return n;
}

/* The type that is written in a candidate's parameter, as far as its type variables are bound. */
static value_type parameter_type(check *c, matching *x, const type_syn *to) {
    frame inside = {.def = x->of.def, .u = unit_of(c, x->of.def->in), .bindings = x->bindings}, *outer = c->frame;
    syn at = {.at = x->of.def->at};
    c->frame = &inside;
    value_type t = named_type(c, to, &at);
    c->frame = outer;
    return t;
}

static value_type *binding_of(matching *x, int id) {
    for (int i = 0; i < x->of.def->nvariables; i++)
        if (x->of.def->variables[i] == id)
            return &x->bindings[i];
    assert(!"a type variable of the definition");
    return NULL;
}

static bool is_bound(value_type t) { return t.record || t.type != DT_NONE; }

/* Binds the type variables of a type so that it becomes that of the argument. */
static bool unify(matching *x, const type_syn *to, value_type with) {
    if (to->variable != NO_NAME) {
        value_type *b = binding_of(x, to->variable);
        if (!is_bound(*b))
            *b = with;
        return value_same(*b, with);
    }
    if (!to->record)
        return to->of || value_same(value_scalar((dtype)to->type), with);
    if (!with.record || with.record->definition != to->record)
        return false;
    return !to->argument || unify(x, to->argument, (value_type){with.record->argument, with.record->argument_record});
}

static bool has_variable(const type_syn *to) { return to && (to->variable != NO_NAME || has_variable(to->argument)); }

/* Is it known what the type variables in a type stand for? */
static bool has_bindings(matching *x, const type_syn *to) {
    return !to ||
           ((to->variable == NO_NAME || is_bound(*binding_of(x, to->variable))) && has_bindings(x, to->argument));
}

/* The floating type of a weak argument of a helper without types: the widest among the others. */
static dtype widest_floating(const call_arguments *a) {
    dtype floating = DT_NONE;
    for (const node *n = a->list; n; n = n->next)
        if (n->kind != N_RECORD && !n->weak && dtypes[n->type].kind >= DK_FLOATING)
            floating = floating == DT_FLOAT64 ? floating : dtype_promoted(dtypes[n->type].component);
    return floating == DT_NONE ? DT_FLOAT64 : floating;
}

/* The type that a number has where nothing is said of it: its own, of a weak floating one the widest of the others. */
static dtype untyped(const call_arguments *a, const node *n) {
    if (!n->weak || dtypes[n->type].kind < DK_FLOATING)
        return (dtype)n->type;
    return dtype_is_complex(n->type) ? complex_of(widest_floating(a)) : widest_floating(a);
}

/* Binds the variables that numbers alone stand for: to their common type. */
static void numbers_unify(matching *x, const call_arguments *a) {
    const node *n = a->list;
    bool common[UF_MAX_OPERANDS] = {false}, weak[UF_MAX_OPERANDS] = {false};
    for (int k = 0; k < a->count; k++, n = n->next) {
        const type_syn *to = x->of.def->params[k].to;
        if (!to || to->variable == NO_NAME || n->kind == N_RECORD)
            continue;
        value_type *b = binding_of(x, to->variable);
        int i = (int)(b - x->bindings);
        dtype type = untyped(a, n);
        if (is_bound(*b) && !common[i])
            continue; /* by a record */
        if (!common[i]) {
            *b = value_scalar(type);
            weak[i] = n->weak;
        } else if (b->type != type) {
            b->type = common_type(b->type, weak[i], type, n->weak, &weak[i]);
        }
        common[i] = true;
    }
}

/* Is a number one of a type by the rules for weak values, so that this is the common type of both? Where operators would
 * promote that type, a number that follows it takes the type itself: 2 beside vec2(float16). */
static bool gives_way(const node *n, dtype type) {
    bool weak, yields = n->weak || (dtype_is_integer((dtype)n->type) && dtype_is_floating(type));
    dtype common = common_type((dtype)n->type, n->weak, type, false, &weak);
    return (dtype)n->type == type || common == type || (yields && common == dtype_promoted(type));
}

/* "operator interval": the conversion's name. */
static int conversion_word(value_type to, char *buffer, size_t size) {
    const char *word = value_text(to);
    int length = (int)strcspn(word, "(");
    return snprintf(buffer, size, "operator %.*s", length, word);
}

static bool has_conversion(check *c, value_type to) {
    char word[LANG_MAX_NAME + 16];
    int length = conversion_word(to, word, sizeof word);
    return to.record && (text_knows(((const record_syn *)to.record->definition)->in, word, length) ||
                         overload_known(c, word, length));
}

/* An argument that is an array must be passed to an array parameter, and nothing else to one. */
static rank array_fit(check *c, matching *x, const call_arguments *a, int k) {
    const parameter_syn *p = &x->of.def->params[k];
    const variable *v = a->arrays[k];
    if (!v || !p->rank)
        return RANK_NONE;
    const local *l = &c->now->f.locals[v->local];
    value_type t = v->record ? (value_type){DT_NONE, v->record} : value_scalar(l->type);
    x->types[k] = t;
    if (l->rank != p->rank)
        return RANK_NONE;
    if (!p->to)
        return RANK_UNTYPED;
    return !unify(x, p->to, t) ? RANK_NONE : has_variable(p->to) ? RANK_VARIABLE : RANK_EXACT;
}

static rank fit(check *c, matching *x, const call_arguments *a, int k, const node *n, bool is_cast) {
    const type_syn *to = x->of.def->params[k].to;
    value_type from = node_type(n);
    if (a->arrays[k] || x->of.def->params[k].rank)
        return array_fit(c, x, a, k);
    if (!to) {
        x->types[k] = from.record ? from : value_scalar(untyped(a, n));
        return RANK_UNTYPED;
    }
    if (!has_bindings(x, to))
        return RANK_NONE;
    value_type t = x->types[k] = parameter_type(c, x, to);
    if (value_same(from, t))
        return has_variable(to) ? RANK_VARIABLE : RANK_EXACT;
    if (from.record)
        return RANK_NONE;
    if (t.record)
        return !has_conversion(c, t) ? RANK_NONE : t.record->argument_record ? RANK_NESTED : RANK_CONVERSION;
    if (!has_variable(to) || is_cast)
        return RANK_CONVERSION;
    return gives_way(n, t.type) ? RANK_VARIABLE : RANK_NONE;
}

bool has_record(const call_arguments *a) {
    for (const node *n = a->list; n; n = n->next)
        if (n->kind == N_RECORD)
            return true;
    return false;
}

/* Does a function of arrays take these arguments? Its signatures are looked at when it is called. For records it stands behind all
 * helpers, as its text was not written for them. */
static bool function_match(matching *x, const call_arguments *a) {
    if (x->of.function->nin != a->count)
        return false;
    for (int k = 0; k < a->count; k++) {
        x->ranks[k] = has_record(a) ? RANK_NESTED : RANK_UNTYPED;
        if (a->arrays[k] || !is_bound(node_type(argument_of(a, k))))
            return false;
    }
    return true;
}

/* wanted: the record that a conversion is to give, whose argument its type variable must then be; or NULL. */
static bool match(check *c, matching *x, const call_arguments *a, const record *wanted, bool is_cast) {
    if (x->of.function)
        return function_match(x, a);
    if (x->of.def->nparams != a->count)
        return false;
    for (int i = 0; i < x->of.def->nvariables; i++)
        x->bindings[i] = value_scalar(DT_NONE);
    if (wanted && x->of.def->nvariables == 1)
        x->bindings[0] = (value_type){wanted->argument, wanted->argument_record};
    const node *n = a->list;
    for (int k = 0; k < a->count; k++, n = n->next)
        if (n->kind == N_RECORD && x->of.def->params[k].to && !x->of.def->params[k].rank && !a->arrays[k] &&
            !unify(x, x->of.def->params[k].to, node_type(n)))
            return false;
    numbers_unify(x, a);
    n = a->list;
    for (int k = 0; k < a->count; k++, n = n->next) {
        x->ranks[k] = (uint8_t)fit(c, x, a, k, n, is_cast);
        if (x->ranks[k] == RANK_NONE)
            return false;
    }
    return true;
}

/* ---- Choosing ---- */

static bool is_better(const matching *x, const matching *y, int n) {
    bool better = n == 0;
    for (int k = 0; k < n; k++) {
        if (x->ranks[k] > y->ranks[k])
            return false;
        better |= x->ranks[k] < y->ranks[k];
    }
    return better;
}

/* Appends "f(interval(T) a, b) at 3:4 of module vec". */
static void candidate_print(char *out, size_t size, const candidate *x) {
    size_t n = strlen(out);
    int line, column;
    if (x->function) {
        snprintf(out + n, size - n, "\n    the function %s, of %d", x->function->name, x->function->nin);
        return;
    }
    const char *from = x->def->in->source + x->def->at;
    size_t length = strcspn(from, "{\n");
    while (length && from[length - 1] == ' ')
        length--;
    kernel_position(x->def->in->source, x->def->at, &line, &column);
    snprintf(out + n, size - n, "\n    %.*s at %d:%d%s%s", (int)(length < 120 ? length : 120), from, line, column,
             x->def->in->title ? " of " : "", x->def->in->title ? x->def->in->title : "");
}

enum {
    LISTED = 8
};

_Noreturn static void fail_candidates(check *c, const call_arguments *a, const char *what, const candidates *all) {
    char types[1024] = "", list[1500] = "";
    const node *n = a->list;
    for (int k = 0; k < a->count; k++, n = n->next) {
        char one[32];
        size_t used = strlen(types);
        snprintf(types + used, sizeof types - used, "%s%s%s", k ? ", " : "",
                 n->kind == N_RECORD && n->record ? n->record->name
                 : n->kind == N_RECORD            ? "nothing"
                                                  : type_text(n, one),
                 a->arrays[k] ? "[]" : "");
    }
    for (int i = 0; i < all->count && i < LISTED; i++)
        candidate_print(list, sizeof list, &all->of[i]);
    check_fail(c, a->call->at, "%s '%s' with (%s)%s%s%s", what, a->callee, types, all->count ? "; there are" : "", list,
               all->count > LISTED ? "\n    .." : "");
}

static bool is_worse_than_builtin(const matching *x, int n) {
    for (int k = 0; k < n; k++)
        if (x->ranks[k] > RANK_BUILTIN)
            return true;
    return false;
}

/* Of those that match, the best becomes *best. False: none matches, or the built-in function is better. */
static bool choose(check *c, const call_arguments *a, candidates *all, bool has_builtin, const record *wanted,
                   bool is_cast, matching *best) {
    candidates fitting = {.of = all->of}; /* those that match, which are moved to the front */
    int which = -1;
    for (int i = 0; i < all->count; i++) {
        matching x = {.of = all->of[i]};
        if (!match(c, &x, a, wanted, is_cast) || (has_builtin && is_worse_than_builtin(&x, a->count)))
            continue;
        if (which < 0 || is_better(&x, best, a->count)) {
            which = fitting.count;
            *best = x;
        }
        fitting.of[fitting.count++] = x.of;
    }
    for (int i = 0; i < fitting.count; i++) {
        matching x = {.of = fitting.of[i]};
        if (i != which && match(c, &x, a, wanted, is_cast) && !is_better(best, &x, a->count))
            fail_candidates(c, a, "more than one helper fits", &fitting);
    }
    return which >= 0;
}

/* ---- Calling ---- */

/* The arguments converted to the types of the parameters, as a list of scalars. */
static node *leaves_list(check *c, const call_arguments *a, const matching *x, bool is_cast) {
    node *list = NULL, **end = &list, *n = a->list, *following;
    for (int k = 0; k < a->count; k++, n = following) {
        following = n->next;
        n->next = NULL;
        value_type to = x->types[k];
        node *value = n->kind != N_RECORD && !to.record ? adapt(c, n, to.type, false, a->call)
                                                        : value_convert(c, n, to, is_cast, a->call);
        if (value->kind != N_RECORD) {
            *end = value;
            end = &value->next;
            continue;
        }
        for (int i = 0; i < value->record->nleaves; i++) {
            *end = record_leaf_node(c, value, i);
            if (i == 0)
                *end = sequence(c, value->body, *end, a->call);
            end = &(*end)->next;
        }
    }
    *end = NULL;
    return list;
}

/* The types of the results of a body that has been checked. results[k] is that of output k, or of the unnamed one. */
static int results_of(check *c, const frame *f, const function *in, value_type *results) {
    if (!f->def->noutputs) {
        results[0] = f->result;
        return f->returned ? 1 : 0;
    }
    for (int k = 0, leaf = f->output_slot; k < f->def->noutputs; k++) {
        results[k] = output_type(c, f, k, in->locals[leaf].type);
        leaf += value_leaves(results[k]);
    }
    return f->def->noutputs;
}

/* A value for the locals of one result. */
static node *result_value(check *c, value_type t, int slot, const syn *at) {
    return t.record ? record_of_locals(c, t.record, slot, NULL, at) : local_node(c, slot, at);
}

/* Calls an instance. *body: the statements that come first; values: of the results. Returns how many there are. */
static int instance_call(check *c, const call_arguments *a, node *args, instance *callee, node **body, node **values) {
    value_type results[UF_MAX_OPERANDS];
    int count = results_of(c, &callee->frame, &callee->f, results);
    node *n = node_new(c, N_CALL, DT_NONE, a->call), **end = &n->other;
    appender to = {body};
    n->callee = &callee->f;
    n->args = args;
    if (count == 1 && !results[0].record) {
        n->type = (uint8_t)results[0].type;
        n->weak = callee->frame.weak && n->type != DT_BOOL;
        values[0] = n;
        return 1;
    }
    int first = c->now->f.nlocals;
    for (int i = 0; i < callee->f.nresults; i++) {
        node *declared = node_new(c, N_DECLARE, DT_NONE, a->call);
        declared->local = temporary_new(c, callee->f.locals[callee->f.nparams + i].type);
        append(&to, declared);
        *end = local_node(c, declared->local, a->call);
        end = &(*end)->next;
    }
    if (callee->f.nresults == 1) { /* a record of one scalar */
        n->other = NULL;
        n->type = (uint8_t)callee->f.locals[callee->f.nparams].type;
        append(&to, evaluate(c, assign_node(c, local_node(c, first, a->call), n, a->call), a->call));
    } else {
        append(&to, evaluate(c, n, a->call));
    }
    for (int k = 0, leaf = first; k < count; k++) {
        values[k] = result_value(c, results[k], leaf, a->call);
        leaf += value_leaves(results[k]);
    }
    return count;
}

/* ---- Bodies in place of calls ---- */

static bool has_arrays(const definition *d) {
    for (int k = 0; k < d->nparams; k++)
        if (d->params[k].rank)
            return true;
    return false;
}

/* Binds the name of an extent, which all dimensions that have it must agree on. */
static void extent_bind(check *c, int id, node *extent, const call_arguments *a, check *caller) {
    const variable *v = variable_find(c, id);
    if (!v) {
        variable *bound = variable_bind(c, id, -1);
        bound->stands_for = extent;
        bound->read_only = "the extent of an array";
        return;
    }
    const node *known = v->stands_for;
    bool same = known && known->kind == extent->kind &&
                (known->kind == N_CONST ? known->value.as.i == extent->value.as.i : known->dim == extent->dim);
    if (!same) {
        const char *word = name_text(c, id);
        c->frame = caller->frame;
        check_fail(c, a->call->at, "the arrays of '%s' have several extents for '%s'", a->callee, word);
    }
}

static void array_bind(check *c, const call_arguments *a, const parameter_syn *p, const variable *v, check *caller) {
    variable *bound = variable_bind(c, p->name, v->local);
    bound->record = v->record;
    bound->read_only = v->read_only;
    for (int d = 0; d < p->rank; d++)
        extent_bind(c, p->extent[d], extent_node(c, v->local, d, a->call), a, caller);
}

/* The variable of the caller that an argument is, if the parameter can stand for it: neither the helper nor another argument (calm)
 * assigns it. What is known of it, by which indices are proved to be in range, is then known of the parameter. NULL: there is none. */
static const variable *same_variable(const check *c, const frame *f, const parameter_syn *p, const node *arg,
                                     bool calm) {
    if (!calm || arg->kind != N_LOCAL || name_assigned(f->def->body, p->name))
        return NULL;
    const variable *v = c->scope;
    while (v && !(v->local == arg->local && v->owner == f->outer && !v->record && !c->now->f.locals[v->local].rank))
        v = v->scope_next;
    return v;
}

/* Is every argument a variable or a constant? */
static bool all_calm(const node *args) {
    for (; args; args = args->next)
        if (args->kind != N_LOCAL && args->kind != N_CONST)
            return false;
    return true;
}

/* Declares locals of the caller for a parameter, with the argument's value; a variable that nothing assigns meanwhile is used itself. */
static void value_bind(check *c, frame *f, const parameter_syn *p, value_type t, node **arg, bool calm, appender *to,
                       const syn *at) {
    const variable *same = t.record ? NULL : same_variable(c, f, p, *arg, calm);
    if (same) {
        variable *v = variable_bind(c, p->name, same->local);
        v->known = same->known;
        assert(*arg); /* there is one for each leaf */
        *arg = (*arg)->next;
        return;
    }
    int slot = c->now->f.nlocals;
    for (int i = 0; i < value_leaves(t); i++)
        local_new(c, name_text(c, p->name), value_leaf(t, i), 0, NULL, at->at);
    variable *v = variable_bind(c, p->name, slot);
    v->record = t.record;
    for (int i = 0; i < value_leaves(t); i++) {
        node *n = node_new(c, N_DECLARE, DT_NONE, at), *value = *arg;
        assert(value);
        *arg = value->next;
        value->next = NULL;
        n->local = slot + i;
        n->kid[0] = value;
        append(to, n);
        if (!t.record && !name_assigned(f->def->body, p->name))
            value_known(c, v, value);
    }
}

/* Declares the results of a body in place, whose locals begin at a slot: they are 0 each time that the body begins. */
static void results_declare(check *c, int slot, int leaves, appender *to, const syn *at) {
    for (int i = 0; i < leaves; i++) {
        node *n = node_new(c, N_DECLARE, DT_NONE, at);
        n->local = slot + i;
        append(to, n);
    }
}

/* The arguments that are no arrays, converted to the types of their parameters, as a list of scalars. */
static node *scalars_list(check *c, const call_arguments *a, const matching *x) {
    call_arguments scalars = {.call = a->call, .callee = a->callee};
    matching only = *x;
    node **end = &scalars.list, *following;
    int k = 0;
    for (node *n = a->list; n; n = following, k++) {
        following = n->next;
        if (a->arrays[k])
            continue;
        only.types[scalars.count++] = x->types[k];
        *end = n;
        end = &n->next;
    }
    *end = NULL;
    return leaves_list(c, &scalars, &only, false);
}

static frame *place_frame(check *c, const call_arguments *a, const matching *x) {
    size_t size = (size_t)x->of.def->nvariables * sizeof *x->bindings;
    for (const frame *around = c->frame; around; around = around->outer)
        if (around->def == x->of.def)
            check_fail(c, a->call->at, "'%s' calls itself; helpers are inlined and cannot be recursive", a->callee);
    frame *f = arena_alloc(c->a, sizeof *f);
    *f = (frame){.outer = c->frame,
                 .def = x->of.def,
                 .u = unit_of(c, x->of.def->in),
                 .in_place = true,
                 .result = {DT_NONE, NULL},
                 .bindings = arena_alloc(c->a, size + 1)};
    memcpy(f->bindings, x->bindings, size);
    return f;
}

/* Declares the results of a body in place before it, and makes their values. Returns how many there are. */
static int place_results(check *c, const call_arguments *a, const frame *f, appender *to, node **values) {
    value_type results[UF_MAX_OPERANDS];
    int count = results_of(c, f, &c->now->f, results), slot = f->def->noutputs ? f->output_slot : f->result_slot;
    for (int k = 0; k < count; k++) {
        results_declare(c, slot, value_leaves(results[k]), to, a->call);
        values[k] = result_value(c, results[k], slot, a->call);
        slot += value_leaves(results[k]);
    }
    return count;
}

/* Puts the body of a helper that works on arrays in place of its call. */
static int place_call(check *c, const call_arguments *a, matching *x, node **body, node **values) {
    check caller = *c;
    variable *outer = c->scope;
    known_mark before = known_here(c);
    node *list = scalars_list(c, a, x), *done = NULL;
    bool calm = all_calm(list);
    appender to = {body};
    frame *f = c->frame = place_frame(c, a, x);
    c->scope_depth++;
    for (int k = 0; k < a->count; k++) {
        if (a->arrays[k])
            array_bind(c, a, &f->def->params[k], a->arrays[k], &caller);
        else
            value_bind(c, f, &f->def->params[k], x->types[k], &list, calm, &to, a->call);
    }
    in_place_check(c, f, a->call, outer, &done);
    c->scope_depth--;
    c->frame = caller.frame;
    known_drop(c, before);
    int count = place_results(c, a, f, &to, values);
    append(&to, done);
    return count;
}

/* ---- Functions ---- */

/* The signature that the arguments select, as arrays and numbers select one at a call. A record stands there as its first scalar, and
 * integers beside it give way, as they do to its operators: what the kernel makes of records is of their types. */
static int function_signature(check *c, const call_arguments *a, const lang_function *f) {
    dispatch_input inputs[UF_MAX_OPERANDS];
    int k = 0, chosen = 0;
    for (const node *n = a->list; n; n = n->next, k++) {
        dtype type = value_leaf(node_type(n), 0);
        bool yields = n->weak || (has_record(a) && n->kind != N_RECORD && dtype_is_integer(type));
        inputs[k] = (dispatch_input){.type = type, .is_number = yields};
        inputs[k].value = n->kind == N_CONST ? n->value : (number){.type = type};
    }
    if (dispatch(f->name, f->signatures, inputs, 0, UF_CAST_DEFAULT, NULL, &chosen)) {
        char message[sizeof uf_last_error()->message];
        memcpy(message, uf_last_error()->message, sizeof message);
        check_fail(c, a->call->at, "%.1800s", message);
    }
    return chosen;
}

/* Chooses the kernel of a function for its arguments, and sets x->types. A record goes to the kernel as it is, and then the results
 * have the types that come out. */
static instance *function_instance(check *c, const call_arguments *a, matching *x) {
    const lang_function *f = x->of.function;
    const dtype *types = NULL, *results = NULL;
    int section = 0, k = 0;
    if (f->signatures && f->signatures->count) {
        int s = function_signature(c, a, f);
        types = f->signatures->types + (size_t)s * (size_t)(f->nin + f->nout);
        section = f->section_of[s];
        results = has_record(a) ? NULL : types + f->nin;
    }
    for (const node *n = a->list; n; n = n->next, k++)
        x->types[k] = n->kind == N_RECORD ? node_type(n) : value_scalar(types ? types[k] : untyped(a, n));
    const syntax *s = f->sections[section];
    return instance_of(c, unit_of(c, s), s->kernel, x->types, NULL, results, a->call);
}

static int function_call(check *c, const call_arguments *a, matching *x, node **body, node **values) {
    instance *callee = function_instance(c, a, x);
    return instance_call(c, a, leaves_list(c, a, x, false), callee, body, values);
}

/* ---- Entries ---- */

static int candidate_call(check *c, const call_arguments *a, matching *x, bool is_cast, node **body, node **values) {
    if (x->of.function)
        return function_call(c, a, x, body, values);
    if (has_arrays(x->of.def))
        return place_call(c, a, x, body, values);
    node *list = leaves_list(c, a, x, is_cast);
    instance *callee = instance_of(c, unit_of(c, x->of.def->in), x->of.def, x->types, x->bindings, NULL, a->call);
    return instance_call(c, a, list, callee, body, values);
}

/* A call of one result, or of none, as a value. */
static node *value_of(check *c, const call_arguments *a, int count, node *body, node **values) {
    if (count > 1)
        check_fail(c, a->call->at, "'%s' has %d results: auto (a, b) = %s(..); takes them", a->callee, count,
                   a->callee);
    if (count == 1 && values[0]->kind != N_RECORD)
        return sequence(c, body, values[0], a->call);
    node *n = count ? values[0] : record_new(c, NULL, a->call);
    assert(n);
    n->body = body;
    return n;
}

static node *call_best(check *c, call_arguments *a, const char *word, int length, bool has_builtin, bool required,
                       const record *wanted, bool is_cast) {
    node *values[UF_MAX_OPERANDS] = {NULL}, *body = NULL;
    candidates all = candidates_gather(c, a, word, length);
    if (wanted)
        candidates_of_record(c, &all, wanted, word, length);
    matching best;
    bool found = choose(c, a, &all, has_builtin, wanted, is_cast, &best);
    if (!found && required && all.count == 1 && all.of[0].def && all.of[0].def->nparams != a->count)
        check_fail(c, a->call->at, "'%s' takes %d argument%s, got %d", a->callee, all.of[0].def->nparams,
                   all.of[0].def->nparams == 1 ? "" : "s", a->count);
    if (!found && required)
        fail_candidates(c, a, "there is no", &all);
    if (!found)
        return NULL;
    int count = candidate_call(c, a, &best, is_cast, &body, values);
    return value_of(c, a, count, body, values);
}

node *overload_call(check *c, call_arguments *a, const char *word, int length, bool has_builtin, bool required) {
    return call_best(c, a, word, length, has_builtin, required, NULL, false);
}

int unpacked_call(check *c, const syn *call, node **before, node **values) {
    call_arguments a = {.call = call, .callee = name_text(c, call->name)};
    const name *n = &c->frame->u->s->names[call->name];
    arguments_check(c, &a);
    candidates all = candidates_gather(c, &a, n->text, n->length);
    matching best;
    bool found = choose(c, &a, &all, false, NULL, false, &best);
    if (!found && !all.count)
        check_fail(c, call->at, "'%s' is no helper with several results", a.callee);
    if (!found)
        fail_candidates(c, &a, "there is no", &all);
    return candidate_call(c, &a, &best, false, before, values);
}

bool takes_array(const check *c, const char *word, int length, int k) {
    const syntax *s = c->frame->u->s;
    for (int i = -1; i < s->nmodules; i++) {
        const syntax *m = i < 0 ? s : s->modules[i];
        int id = name_find(m, word, (size_t)length);
        for (const definition *d = id == NO_NAME ? NULL : m->names[id].helper; d; d = d->overload)
            if (k < d->nparams && d->params[k].rank)
                return true;
    }
    return false;
}

instance *overload_instance(check *c, const syn *named, value_type type) {
    syn at = *named;
    node first = {.kind = N_LOCAL, .type = (uint8_t)type.type}, second = first;
    const name *n = &c->frame->u->s->names[named->name];
    first.next = &second;
    call_arguments a = {.call = &at, .callee = name_text(c, named->name), .list = &first, .count = 2};
    candidates all = candidates_gather(c, &a, n->text, n->length);
    if (all.count == 1 && all.of[0].def && all.of[0].def->nparams != 2)
        check_fail(c, named->at, "'%s' takes %d argument%s; reduce needs a helper of 2", a.callee,
                   all.of[0].def->nparams, all.of[0].def->nparams == 1 ? "" : "s");
    matching best;
    if (!choose(c, &a, &all, false, NULL, false, &best))
        fail_candidates(c, &a, "there is no", &all);
    if (best.of.function)
        return function_instance(c, &a, &best);
    if (has_arrays(best.of.def))
        check_fail(c, named->at, "reduce needs a helper of two numbers, and '%s' is none", a.callee);
    if (!value_same(best.types[0], type) || !value_same(best.types[1], type))
        check_fail(c, named->at, "reduce needs a helper of two %s, and '%s' takes %s and %s", value_text(type),
                   a.callee, value_text(best.types[0]), value_text(best.types[1]));
    return instance_of(c, unit_of(c, best.of.def->in), best.of.def, best.types, best.bindings, NULL, named);
}

node *operator_call(check *c, const char *word, node *a, node *b, const syn *at) {
    call_arguments args = {.call = at, .callee = word, .list = a, .count = b ? 2 : 1};
    a->next = b;
    return overload_call(c, &args, word, (int)strlen(word), false, false);
}

_Noreturn void fail_operator(check *c, const char *word, node *a, node *b, const syn *at) {
    call_arguments args = {.call = at, .callee = word, .list = a, .count = b ? 2 : 1};
    a->next = b;
    candidates all = candidates_gather(c, &args, word, (int)strlen(word));
    fail_candidates(c, &args, "there is no", &all);
}

node *conversion_call(check *c, node *n, value_type to, bool is_cast, const syn *at) {
    char word[LANG_MAX_NAME + 16];
    int length = conversion_word(to, word, sizeof word);
    call_arguments a = {.call = at, .callee = arena_text(c->a, word, (size_t)length), .list = n, .count = 1};
    n->next = NULL;
    node *result = call_best(c, &a, word, length, false, false, to.record, is_cast);
    if (result && result->kind != N_RECORD && !to.record)
        return convert(c, result, to.type, at);
    if (result && !value_same(node_type(result), to))
        check_fail(c, at->at, "'%s' gives %s, not %s", a.callee, value_text(node_type(result)), value_text(to));
    return result;
}
