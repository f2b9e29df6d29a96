/* lang_try.c - kernel C in the tests: from text to tree, and whether the tree is what lang.h promises. */
#include <stdio.h>
#include <stdlib.h>

#include "lang/fold.h"
#include "lang_try.h"

/* ---- What a text sees ---- */

/* The modules of a trial, each parsed once, and the arena that they are in. */
typedef struct visible {
    arena *a;
    const char *const *modules;
    const syntax *parsed[16];
    lang_names names;
} visible;

static uf_status module_use(void *user, const char *name, lang_import *out) {
    visible *v = user;
    for (int i = 0; v->modules && v->modules[2 * i]; i++) {
        if (strcmp(v->modules[2 * i], name) != 0)
            continue;
        char *title = arena_alloc(v->a, strlen(name) + sizeof "module ");
        if (!title)
            return fail_memory();
        sprintf(title, "module %s", name);
        if (!v->parsed[i])
            TRY(lang_parse_module(v->a, title, v->modules[2 * i + 1], &v->names, &v->parsed[i]));
        out->module = v->parsed[i];
        return UF_OK;
    }
    return fail(UF_ERR_ARGUMENT, "there is no module '%s'", name);
}

/* ---- Types ---- */

/* The operands of a list, "float32[,], interval(int8)", and the leaves that they are. */
typedef struct operand_list {
    int count, nleaves;
    int leaves[UF_MAX_OPERANDS];
    const record *records[UF_MAX_OPERANDS + 1];
    uint8_t ranks[UF_MAX_OPERANDS];   /* of the leaves */
    dtype types[2 * UF_MAX_OPERANDS]; /* likewise */
} operand_list;

static uf_status operand_read(arena *a, const syntax *s, const char *word, size_t length, operand_list *l) {
    size_t name = 0;
    uint8_t rank = 0;
    while (name < length && word[name] != '[')
        name++;
    for (size_t i = name; i < length; i++)
        rank += word[i] == '[' || word[i] == ',';
    const record *r = NULL;
    dtype type = dtype_of_name(word, name);
    if (type == DT_NONE)
        TRY(lang_record(a, s, word, name, &r));
    l->records[l->count] = r;
    l->leaves[l->count++] = r ? r->nleaves : 1;
    for (int i = 0; i < (r ? r->nleaves : 1); i++) {
        l->ranks[l->nleaves] = rank;
        l->types[l->nleaves++] = r ? r->leaves[i].type : type;
    }
    return UF_OK;
}

/* Commas within parentheses and brackets do not end an operand. */
static uf_status operands_read(arena *a, const syntax *s, const char *list, size_t length, operand_list *l) {
    for (size_t at = 0, end; at < length; at = end + 1) {
        int depth = 0;
        at += strspn(list + at, " ");
        for (end = at; end < length && (depth || list[end] != ','); end++)
            depth += list[end] == '(' || list[end] == '[' ? 1 : list[end] == ')' || list[end] == ']' ? -1 : 0;
        if (end > at)
            TRY(operand_read(a, s, list + at, end - at, l));
    }
    return UF_OK;
}

/* ---- Trials ---- */

static uf_status kernel_try(arena *a, const syntax *s, const char *parameters, tree **out) {
    operand_list l = {0};
    core_layout *core = arena_alloc(a, sizeof *core);
    if (!core)
        return fail_memory();
    TRY(operands_read(a, s, parameters, strlen(parameters), &l));
    int nindices = lang_indices(s);
    for (int d = 0; d < nindices; d++)
        l.types[l.nleaves + d] = DT_INT64;
    TRY(parameters_layout(a, l.ranks, l.nleaves, nindices, core));
    return lang_check(a, s, core, l.records, l.types, l.nleaves + nindices, NULL, 0, false, out);
}

static uf_status layout_read(arena *a, const char *source, const int *leaves, core_layout **out) {
    core_layout *whole = arena_alloc(a, sizeof *whole), *core = arena_alloc(a, sizeof *core);
    if (!whole || !core)
        return fail_memory();
    TRY(layout_parse(a, source, whole));
    *out = core;
    return layout_expand(a, whole, leaves, core);
}

/* The outputs are read behind the inputs, as whose records and leaves theirs follow. */
static uf_status elementwise_try(arena *a, const syntax *s, const lang_trial *what, tree **out) {
    operand_list l = {0};
    core_layout *core = NULL;
    const char *arrow = strstr(what->types, "->");
    TRY(operands_read(a, s, what->types, arrow ? (size_t)(arrow - what->types) : strlen(what->types), &l));
    int nin = l.nleaves, nout = lang_outputs(s);
    if (arrow)
        TRY(operands_read(a, s, arrow + 2, strlen(arrow + 2), &l));
    for (int k = 0; k < nout && !arrow; k++) {
        l.leaves[l.count++] = 1;
        l.types[l.nleaves++] = DT_NONE;
    }
    nout = l.nleaves - nin;
    if (what->layout)
        TRY(layout_read(a, what->layout, l.leaves, &core));
    return lang_check(a, s, core, l.records, l.types, nin, l.types + nin, nout, false, out);
}

uf_status lang_try_with(arena *a, const lang_trial *what, tree **out) {
    const syntax *s;
    tree *t;
    visible *v = arena_alloc(a, sizeof *v);
    if (!v)
        return fail_memory();
    *v = (visible){.a = a, .modules = what->modules, .names = {.use = module_use, .user = v}};
    TRY(lang_parse(a, what->source, &v->names, &s));
    if (what->parameters)
        TRY(kernel_try(a, s, what->parameters, &t));
    else
        TRY(elementwise_try(a, s, what, &t));
    if (out)
        *out = t;
    return UF_OK;
}

uf_status lang_try(arena *a, const char *source, const char *types, tree **out) {
    return lang_try_with(a, &(lang_trial){.source = source, .types = types}, out);
}

uf_status lang_try_core(arena *a, const char *layout, const char *source, const char *types, tree **out) {
    return lang_try_with(a, &(lang_trial){.source = source, .types = types, .layout = layout}, out);
}

uf_status lang_try_kernel(arena *a, const char *parameters, const char *source, tree **out) {
    return lang_try_with(a, &(lang_trial){.source = source, .parameters = parameters}, out);
}

/* ---- Reductions ---- */

static const tree *typed(arena *a, const char *source, const dtype *in, int nin, const dtype *out, int nout) {
    const syntax *s;
    tree *t;
    dtype results[UF_MAX_OPERANDS];
    if (!source)
        return NULL;
    memcpy(results, out, (size_t)nout * sizeof *out);
    if (lang_parse(a, source, NULL, &s) || lang_check(a, s, NULL, NULL, in, nin, results, nout, false, &t)) {
        fprintf(stderr, "%s: %s\n", source, uf_last_error()->message);
        abort();
    }
    return t;
}

void fold_try(arena *a, fold *f, const fold_texts *texts) {
    dtype in[UF_MAX_OPERANDS + 1], states[2 * UF_MAX_STATE + 1];
    memcpy(in, f->in, (size_t)f->nin * sizeof *in);
    in[f->nin] = DT_INT64;
    f->map = typed(a, texts->map, in, f->nin + f->takes_position, f->state, f->nstate);
    for (int k = 0; k < f->nstate; k++)
        states[k] = states[f->nstate + k] = f->state[k];
    f->combine = typed(a, texts->combine, states, 2 * f->nstate, f->state, f->nstate);
    states[f->nstate] = DT_INT64;
    f->finish = typed(a, texts->finish, states, f->nstate + f->takes_count, f->out, f->nout);
    f->identity = typed(a, texts->identity, NULL, 0, f->state, f->nstate);
}

/* ---- The promises of lang.h ---- */

typedef struct walk {
    const tree *t;
    const function *f;
    const char *fault;
    int loops, switches;
    int inlines, sequences; /* N_INLINEs that N_LEAVE can leave; N_SEQUENCEs that no other jump can leave */
    int64_t nodes;
    bool has_loop;
    int foralls, terms; /* around the node */
    int *depth;         /* by local: foralls and terms around its declaration; NEVER: nothing may assign it */
} walk;

enum {
    NEVER = -1
};

static void require(walk *w, bool holds, const char *fault) {
    if (!holds && !w->fault)
        w->fault = fault;
}

static bool computes(dtype t) {
    return t == DT_INT32 || t == DT_INT64 || t == DT_UINT32 || t == DT_UINT64 || t == DT_FLOAT32 || t == DT_FLOAT64;
}
static bool computes_integer(dtype t) { return computes(t) && dtype_is_integer(t); }
static bool is_expression(const node *n) { return n && n->kind < N_EVAL; }

static dtype kid_type(const node *n, int k) { return is_expression(n->kid[k]) ? (dtype)n->kid[k]->type : DT_NONE; }

static int list_length(const node *n) {
    int count = 0;
    for (; n; n = n->next)
        count++;
    return count;
}

static void check_constant(walk *w, const node *n) {
    number v = n->value, again;
    char bytes[16];
    require(w, v.type == n->type, "constant of another type");
    number_write(v, n->type, bytes);
    again = number_read(n->type, bytes);
    bool complex = dtype_is_complex(n->type);
    for (int i = 0; i < 1 + complex && dtypes[n->type].kind >= DK_FLOATING; i++)
        require(w, again.as.f[i] == v.as.f[i] || v.as.f[i] != v.as.f[i], "constant not rounded to its type");
    require(w, dtypes[n->type].kind >= DK_FLOATING || again.as.u == v.as.u, "constant outside of its type");
}

static void check_element(walk *w, const node *n) {
    const local *l = &w->f->locals[n->local];
    require(w, l->rank > 0 && l->type == n->type, "element of what is no such array");
    const node *index = n->args;
    require(w, l->rank <= 3 ? !n->args : list_length(n->args) == l->rank, "number of indices");
    for (int k = 0; k < 3; k++)
        if (l->rank <= 3)
            require(w, k < l->rank ? kid_type(n, k) == DT_INT64 || kid_type(n, k) == DT_UINT64 : !n->kid[k], "index");
    for (; index; index = index->next)
        require(w, index->type == DT_INT64 || index->type == DT_UINT64, "index");
}

static void check_binary(walk *w, const node *n) {
    dtype a = kid_type(n, 0), b = kid_type(n, 1);
    char kind = ops[n->op].kind;
    bool relation = kind == 'R' || kind == 'E', both = n->op == OP_ADD || n->op == OP_SUB || kind == 'E';
    require(w, computes(a) || (both && dtype_is_complex(a)), "operand of no type for computing");
    require(w, kind == 'S' ? computes_integer(a) && computes_integer(b) : a == b, "operands of different types");
    require(w, kind == 'A' || relation || computes_integer(a), "integer operator on others");
    require(w, n->type == (relation ? DT_BOOL : a), "type of an operator");
}

static void check_place(walk *w, const node *n) {
    const node *place = n->kid[0];
    if (place && place->kind == N_LOCAL)
        require(w, w->depth[place->local] == w->foralls + w->terms, "assignment to what is not the forall's own");
    if (place && place->kind == N_ELEMENT)
        require(w,
                w->depth[place->local] != NEVER && !w->f->locals[place->local].table &&
                    (!w->terms || w->depth[place->local] >= w->terms),
                "assignment to an input, or in a term to what is not its own");
    require(w, n->kid[0] && (n->kid[0]->kind == N_LOCAL || n->kid[0]->kind == N_ELEMENT), "assignment to no place");
    require(w, kid_type(n, 0) == n->type, "type of an assignment");
}

static void check_compound(walk *w, const node *n) {
    dtype right = kid_type(n, 1), wide = n->wide;
    check_place(w, n);
    require(w, computes(wide) || dtype_is_complex(wide), "compound assignment in no type for computing");
    if (n->callee)
        require(w,
                n->callee->nparams == 2 && n->callee->locals[0].type == wide && n->callee->locals[1].type == right &&
                    n->callee->locals[2].type == wide,
                "helper of a compound assignment");
    else if (ops[n->op].kind == 'S')
        require(w, computes_integer(wide) && computes_integer(right), "shift of no integer");
    else
        require(w, right == wide && (computes(wide) || n->op == OP_ADD || n->op == OP_SUB), "compound assignment");
}

static void check_call(walk *w, const node *n) {
    int k = 0;
    const function *f = w->t->functions;
    while (f && f != n->callee && f != w->f)
        f = f->next;
    require(w, f == n->callee, "callee does not stand before its caller");
    for (const node *a = n->args; a; a = a->next, k++)
        require(w, k < n->callee->nparams && n->callee->locals[k].type == a->type, "argument of another type");
    require(w, k == n->callee->nparams, "number of arguments");
    require(w, n->callee->nresults > 0 && (n->callee->nresults == 1) == !n->other, "number of results");
    if (!n->other)
        require(w, n->callee->locals[k].type == n->type, "call");
    for (const node *to = n->other; to; to = to->next, k++) {
        require(w,
                to->kind == N_LOCAL && k < n->callee->nparams + n->callee->nresults &&
                    n->callee->locals[k].type == to->type,
                "result of another type");
        require(w, w->depth[to->local] == w->foralls + w->terms, "assignment to what is not the forall's own");
    }
    require(w, !n->other || k == n->callee->nparams + n->callee->nresults, "number of variables for results");
}

/* The elements are already of the array's type. */
static void check_table(walk *w, const local *l) {
    int64_t count = l->rank > 0;
    require(w, l->rank > 0 && !l->core, "table that is no local array");
    for (int d = 0; d < l->rank; d++)
        count *= l->extent[d];
    for (int64_t i = 0; i < count; i++)
        check_constant(w, &(node){.type = (uint8_t)l->type, .value = l->table[i]});
}

static void check_size(walk *w, const node *n) {
    require(w, w->t->layout && w->f == w->t->kernel && n->type == DT_INT64, "size");
    require(w, n->dim < w->t->layout->ndims, "size of no dimension");
}

static void check_atomic(walk *w, const node *n) {
    const node *element = n->kid[0];
    dtype a = kid_type(n, 0);
    char kind = atomics[n->op].kind;
    require(w, !w->terms, "atomic function in a term");
    require(w, element && element->kind == N_ELEMENT && w->f->locals[element->local].core && w->t->layout->nindices,
            "atomic function of what is not shared");
    require(w, kind == 'A' ? a != DT_BOOL && !dtype_is_complex(a) : kind == 'E' || dtypes[a].kind <= DK_INTEGER,
            "type of an atomic function");
    require(w, a == n->type && kid_type(n, 1) == a && kid_type(n, 2) == (atomics[n->op].operands == 2 ? a : DT_NONE),
            "operand of an atomic function");
}

static void check_ranges(walk *w, const node *n) {
    int count = 0;
    for (const node *r = n->args; r; r = r->next, count++) {
        const local *l = &w->f->locals[r->local];
        require(w, r->kind == N_RANGE && l->type == DT_INT64 && !l->rank && kid_type(r, 0) == DT_INT64, "range");
        w->depth[r->local] = NEVER;
    }
    require(w, count >= 1 && count <= 8, "number of ranges");
}

static void check_reduce(walk *w, const node *n) {
    bool whole = n->type == DT_BOOL, arithmetic = n->op == OP_ADD || n->op == OP_MUL;
    check_ranges(w, n);
    require(w, kid_type(n, 0) == n->type && n->value.type == n->type, "type of a reduction");
    if (n->callee)
        require(w,
                n->callee->nparams == 2 && n->callee->locals[0].type == n->type &&
                    n->callee->locals[1].type == n->type && n->callee->locals[2].type == n->type,
                "helper of a reduction");
    else
        require(w,
                whole ? n->op == OP_AND || n->op == OP_OR
                      : arithmetic && (computes(n->type) || (n->op == OP_ADD && dtype_is_complex(n->type))),
                "operator of a reduction");
}

static void check_math(walk *w, const node *n) {
    bool bits = n->math->rule == MATH_BITS;
    int whole = n->math->rule == MATH_FLOATING_INT   ? n->math->arity - 1
                : n->math->rule == MATH_INT_FLOATING ? 0
                                                     : -1,
        k = 0;
    require(w, bits ? dtype_is_integer(n->wide) : n->wide == DT_FLOAT32 || n->wide == DT_FLOAT64, "math in this type");
    require(w, n->type == (bits || n->math->rule == MATH_TO_INT ? DT_INT32 : n->wide), "type of math");
    for (const node *a = n->args; a; a = a->next, k++)
        require(w, a->type == (k == whole ? DT_INT32 : n->wide), "argument of math");
    require(w, k == n->math->arity, "arguments of math");
}

static void check_node(walk *w, const node *n) {
    dtype a = kid_type(n, 0),
          component = n->kind < N_EVAL && n->type != DT_NONE ? (dtype)dtypes[n->type].component : DT_NONE;
    switch (n->kind) {
    case N_CONST:
        check_constant(w, n);
        break;
    case N_LOCAL:
        require(w, n->local < w->f->nlocals && !w->f->locals[n->local].rank && w->f->locals[n->local].type == n->type,
                "local of another type");
        break;
    case N_ELEMENT:
        check_element(w, n);
        break;
    case N_CONVERT:
        require(w, a != DT_NONE && a != n->type, "conversion of nothing");
        break;
    case N_UNARY:
        require(w, a == n->type, "type of an operator");
        require(w,
                n->op == OP_LNOT ? a == DT_BOOL
                                 : computes_integer(a) || (n->op == OP_NEG && (computes(a) || dtype_is_complex(a))),
                "operand");
        break;
    case N_BINARY:
        check_binary(w, n);
        break;
    case N_AND:
    case N_OR:
        require(w, n->type == DT_BOOL && a == DT_BOOL && kid_type(n, 1) == DT_BOOL, "logical operator");
        break;
    case N_SELECT:
        require(w, a == DT_BOOL && kid_type(n, 1) == n->type && kid_type(n, 2) == n->type, "selection");
        break;
    case N_ASSIGN:
        check_place(w, n);
        require(w, kid_type(n, 1) == n->type, "assignment of another type");
        break;
    case N_COMPOUND:
        check_compound(w, n);
        break;
    case N_UPDATE:
        check_place(w, n);
        require(w, computes(n->wide) && (n->op == OP_ADD || n->op == OP_SUB), "update");
        break;
    case N_CALL:
        check_call(w, n);
        break;
    case N_MATH:
        check_math(w, n);
        break;
    case N_COMPLEX:
        require(w, dtype_is_complex(n->type) && a == component && kid_type(n, 1) == component, "complex of parts");
        break;
    case N_REAL:
    case N_IMAG:
        require(w, dtype_is_complex(a) && n->type == dtypes[a].component, "part");
        break;
    case N_SIZE:
        check_size(w, n);
        break;
    case N_ATOMIC:
        check_atomic(w, n);
        break;
    case N_ASSERT:
        require(w, a == DT_BOOL, "condition of an assert");
        break;
    case N_REDUCE:
        check_reduce(w, n);
        break;
    case N_FORALL:
        check_ranges(w, n);
        require(w, !w->terms, "forall in a term");
        break;
    case N_RETURN:
        require(w, !w->foralls && !w->inlines && !w->sequences,
                "return out of a forall, a body in place or an expression");
        break;
    case N_LEAVE:
        require(w, w->inlines > 0, "leave");
        break;
    case N_SEQUENCE:
        require(w, a == n->type, "type of a sequence");
        for (const node *s = n->body; s; s = s->next)
            require(w,
                    s->kind == N_DECLARE || s->kind == N_EVAL || s->kind == N_IF || s->kind == N_BLOCK ||
                        s->kind == N_INLINE,
                    "statement of a sequence");
        break;
    case N_EVAL:
        require(w, is_expression(n->kid[0]), "nothing evaluated");
        require(w, a != DT_NONE || n->kid[0]->kind == N_CALL, "nothing evaluated");
        break;
    case N_DECLARE:
        w->depth[n->local] = w->foralls + w->terms;
        require(w, !n->kid[0] || (!w->f->locals[n->local].rank && a == w->f->locals[n->local].type), "initialiser");
        require(w, !w->f->locals[n->local].table || !n->body, "initialiser of a table");
        break;
    case N_IF:
    case N_LOOP:
        require(w, a == DT_BOOL || (n->kind == N_LOOP && !n->kid[0]), "condition");
        break;
    case N_SWITCH:
        require(w, a == DT_INT64 || a == DT_UINT64, "switch");
        break;
    case N_BREAK:
        require(w, w->loops + w->switches > 0, "break");
        break;
    case N_CONTINUE:
        require(w, w->loops > 0, "continue");
        break;
    default:
        break;
    }
}

static void walk_list(walk *w, const node *n, const node *in_switch);

/* The lists of a statement, or of a sequence. */
static void walk_body(walk *w, const node *n) {
    bool forall = n->kind == N_FORALL;
    bool apart = forall || n->kind == N_INLINE || n->kind == N_SEQUENCE; /* what no jump leaves */
    int loops = w->loops, switches = w->switches, inlines = w->inlines, sequences = w->sequences;
    w->foralls += forall;
    w->loops = apart ? 0 : loops + (n->kind == N_LOOP);
    w->switches = apart ? 0 : switches + (n->kind == N_SWITCH);
    w->inlines = n->kind == N_INLINE ? inlines + 1 : forall || n->kind == N_SEQUENCE ? 0 : inlines;
    w->sequences = sequences + (n->kind == N_SEQUENCE);
    walk_list(w, n->body, n->kind == N_SWITCH ? n : NULL);
    walk_list(w, n->other, NULL);
    w->foralls -= forall;
    w->loops = loops;
    w->switches = switches;
    w->inlines = inlines;
    w->sequences = sequences;
}

static void walk_node(walk *w, const node *n) {
    bool reduction = n->kind == N_REDUCE, term = reduction || n->kind == N_ASSERT;
    w->nodes++;
    w->has_loop |= n->kind == N_LOOP || n->kind == N_FORALL || reduction;
    require(w, n->kind < N_EVAL && !(n->kind == N_CALL && n->other) ? n->type < DT_COUNT : n->type == DT_NONE,
            "type of a node");
    check_node(w, n);
    w->terms += term;
    if (n->kind == N_SEQUENCE)
        walk_body(w, n);
    for (int k = 0; k < 3; k++)
        if (n->kid[k])
            walk_node(w, n->kid[k]);
    w->terms -= term;
    walk_list(w, n->args, NULL);
    walk_list(w, n->step, NULL);
    if (n->kind != N_SEQUENCE)
        walk_body(w, n);
}

static void walk_list(walk *w, const node *n, const node *in_switch) {
    for (; n && !w->fault; n = n->next) {
        require(w, n->kind != N_CASE || (in_switch && n->value.type == in_switch->kid[0]->type), "case");
        walk_node(w, n);
    }
}

/* Operands have the layout's dimensions. */
static void check_operand(walk *w, const function *f, int k) {
    const local *l = &f->locals[k];
    const layout_operand *o = f == w->t->kernel && w->t->layout ? &w->t->layout->operands[k] : NULL;
    require(w, o ? l->rank == o->rank && l->core == (o->rank > 0) : !l->rank && !l->core, "rank of an operand");
    for (int d = 0; o && d < o->rank; d++) {
        int64_t frozen = w->t->layout->dims[o->dim[d]].frozen;
        require(w, l->dim[d] == o->dim[d] && l->extent[d] == (frozen ? frozen : -1), "dimension of an operand");
    }
    if (l->core && k < f->nparams && !w->t->layout->nindices)
        w->depth[k] = NEVER;
    if (f == w->t->kernel && w->t->layout && k >= f->nparams - w->t->layout->nindices && k < f->nparams)
        w->depth[k] = NEVER;
}

const char *tree_fault(const tree *t) {
    walk w = {.t = t};
    for (const function *f = t->functions; f; f = f->next) {
        w.f = f;
        w.depth = calloc((size_t)f->nlocals, sizeof *w.depth);
        if (!w.depth)
            return "no memory to look at it";
        for (int k = 0; k < f->nparams + f->nresults; k++)
            check_operand(&w, f, k);
        for (int k = 0; k < f->nlocals; k++)
            if (f->locals[k].table)
                check_table(&w, &f->locals[k]);
        walk_list(&w, f->body, NULL);
        free(w.depth);
        require(&w, (f == t->kernel) == !f->next, "the kernel is not the last");
    }
    require(&w, w.nodes <= t->nodes && t->nodes <= LANG_MAX_CALLED, "number of nodes");
    require(&w, w.has_loop == t->has_loop, "has_loop");
    return w.fault;
}
