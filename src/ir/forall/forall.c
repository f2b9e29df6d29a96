/* forall.c - a kernel over indices: the tree's functions, with @kernel over its parameters and the indices of a point, and around it the
 * loop over points, which each engine has its own of. */
#include <assert.h>

#include "ir/common/nodes.h"
#include "ir/common/report.h"
#include "ir/forall/coalesced.h"
#include "ir/forall/forms.h"
#include "ir/forall/guards.h"
#include "ir/forall/lanes.h"
#include "ir/forall/outer_vector.h"
#include "ir/forall/pair_tile.h"
#include "ir/forall/privatised.h"
#include "ir/forall/shared_rows.h"

/* A number, or the address of an array, as @kernel takes it. */
static void argument(const forall_writer *w, int k, text *out) {
    const variant_operand *o = &w->g.s.v->operand[k];
    if (gufunc_is_core(&w->g, k))
        text_printf(out, "%s%s %s, ", ir_memory_type((dtype)o->memory), ir_global_pointer(w->g.s.e),
                    w->g.s.base[k].text);
    else
        text_printf(out, "%s %s, ", ir_value_type((dtype)o->value), w->g.s.value[k].text);
}

/* The number of a point in C order. */
static ssa number_of(const forall_writer *w, const ssa *index) {
    emit *e = w->g.s.e;
    ssa n = index[0];
    for (int d = 1; d < w->g.layout->nindices; d++) {
        n = emit_op(e, "mul i64", n, w->g.core[d]);
        n = emit_op(e, "add i64", n, index[d]);
    }
    return n;
}

void forall_point(forall_writer *w, const char *entry, const ssa *index) {
    emit *e = w->g.s.e;
    text arguments = {0}, type = {0};
    if (w->g.s.v->reports)
        w->g.element = number_of(w, index);
    for (int k = 0; k < w->g.s.v->nin; k++)
        argument(w, k, &arguments);
    for (int d = 0; d < w->g.layout->nindices; d++)
        text_printf(&arguments, "%si64 %s", d ? ", " : "", index[d].text);
    gufunc_more_arguments(&w->g, &arguments);
    private_arguments(w, &arguments);
    if (w->variables.data && !strcmp(entry, "interior"))
        text_puts(&arguments, w->variables.data);
    emit_result_type(e, &type, w->g.s.t->kernel);
    e->failed |= arguments.failed || type.failed || w->g.arguments.failed;
    if (!e->failed)
        emit_invoke(e, type.data, entry, arguments.data, NULL);
    text_free(&arguments);
    text_free(&type);
}

ssa forall_value(const forall_writer *w, const ssa *index, const node *n) {
    emit *e = w->g.s.e;
    int nin = w->g.s.v->nin;
    switch (n->kind) {
    case N_CONST:
        return emit_constant(n->value, (dtype)n->type);
    case N_SIZE:
        return w->g.core[n->dim];
    case N_LOCAL:
        return n->local < nin ? w->g.s.value[n->local] : index[n->local - nin];
    default:
        break;
    }
    dtype type = (dtype)n->kid[0]->type;
    ssa x = forall_value(w, index, n->kid[0]);
    if (n->kind == N_CONVERT)
        return emit_convert(e, x, type, (dtype)n->type);
    if (n->kind == N_UNARY)
        return emit_unary(e, (op)n->op, type, x);
    return emit_binary(e, (op)n->op, type, x, forall_value(w, index, n->kid[1]), (dtype)n->kid[1]->type);
}

/* ---- What @kernel knows of its nodes: see body_hooks ---- */

static bool variable_of_element(const forall_writer *w, const node *element, int *k) {
    *k = w->coalesced ? coalesced_of(w->coalesced, element) : -1;
    return *k >= 0;
}

/* An element at a constant last index, by an access to those around it that other elements of the row are taken from, too. The extent is a
 * multiple of their number, so that they are in range if one is. */
static bool recall_row(body *b, const node *n, ssa *value) {
    const local *l = &b->f->locals[n->local];
    const variant *v = b->e->frame->v;
    int bytes = l->core ? 1 << v->operand[n->local].align : 0, variable;
    int group = bytes > 1 ? bytes / dtypes[v->operand[n->local].memory].size : 1;
    const node *last = element_index(n, l->rank, l->rank - 1);
    if (group == 1 || l->rank > 3 || last->kind != N_CONST || variable_of_element(b->user, n, &variable) ||
        !(n->unchecked || (n->conditional && v->forall.proved)))
        return false;
    node first = *last, row = *n;
    first.value.as.i &= -group;
    row.kid[l->rank - 1] = &first;
    *value = emit_core_vector(b, &row, group)[last->value.as.i & (group - 1)];
    return true;
}

static bool recall(body *b, const node *n, ssa *value) {
    const forall_writer *w = b->user;
    if (n->kind == N_ELEMENT && shared_rows_recall(b, n, value))
        return true;
    return n->kind == N_ELEMENT ? recall_row(b, n, value) : w->guards && guards_recall(w->guards, n, value);
}

static int variable_of(const body *b, const node *element, bool *written) {
    const forall_writer *w = b->user;
    int k;
    *written = variable_of_element(w, element, &k) && w->coalesced->of[k].written;
    return k;
}

/* ---- The module ---- */

/* What write_kernel is told; the texts outlive an escape for want of memory. */
typedef struct forall_request {
    forall_writer w;
    const tree *text; /* with its loops: for variants that report, and in the plain form */
    forall_forms forms;
    const tree *pairs; /* the form that goes by tiles, in variants that do */
    const tree *t;     /* of which the kernel is made */
    const variant *v;
    uint16_t use[UF_MAX_OPERANDS];
    guards guards;
    coalesced coalesced;
    text parameters; /* of @interior behind the operands */
} forall_request;

/* Finds the coalesced accesses of the operands that are to have some, in the interior. */
static void find_coalesced(forall_request *q) {
    bool eligible[UF_MAX_OPERANDS] = {false}, any = false;
    for (int k = 0; k < q->v->nin; k++)
        any |= eligible[k] = q->v->operand[k].coalesced;
    if (!any)
        return;
    coalesced_find(&q->forms.in_interior, eligible, q->v->forall.proved, &q->coalesced);
    q->w.coalesced = &q->coalesced;
}

static void find_guards(forall_request *q) {
    guards_find(q->t, q->v->ndim - 1, &q->guards);
    q->w.guards = &q->guards;
}

static const char *text_or_none(const text *x) { return x->failed || !x->data ? "" : x->data; }

/* The frame of @kernel, and its parameters behind the operands. */
static void make_frame(forall_request *q, emit *e) {
    static const body_hooks alone = {.recall = recall, .variable = variable_of},
                            shared = {.begin = point_lanes_begin, .reduce = point_lanes_reduce},
                            by_tiles = {.statements = pair_tile_statements};
    const body_hooks *chosen = q->v->forall.lanes && e->target->gpu ? &shared : q->t == q->pairs ? &by_tiles : &alone;
    gufunc_writer *g = &q->w.g;
    for (int i = 0; i < g->layout->nparameters; i++)
        text_printf(&g->parameters, ", i64 %%s%d", i);
    if (q->v->reports)
        report_parameters(&g->parameters);
    forall_uses(q->t, q->use);
    g->frame = (frame){.v = q->v, .layout = g->layout, .operand_uses = q->use, .hooks = chosen, .user = &q->w};
    private_declare(&q->w);
    e->failed |= g->parameters.failed;
    g->frame.parameters = text_or_none(&g->parameters);
    e->frame = &g->frame;
    e->reports = q->v->reports;
}

/* Writes @interior, whose parameters are those of @kernel and the variables of coalesced accesses. */
static void write_interior(forall_request *q, emit *e) {
    static const body_hooks staged = {.recall = recall, .variable = variable_of, .statements = shared_rows_loop};
    frame *f = &q->w.g.frame;
    const char *before = f->parameters, *entry = e->entry;
    text_free(&q->parameters);
    find_coalesced(q);
    text_puts(&q->parameters, before);
    if (q->w.coalesced)
        coalesced_parameters(&q->parameters, q->t, q->w.coalesced);
    e->failed |= q->parameters.failed;
    f->parameters = text_or_none(&q->parameters);
    e->entry = "interior";
    emit_function(e, q->forms.interior.kernel, q->v->forall.shared_rows ? &staged : f->hooks, f->user);
    e->entry = entry;
    f->parameters = before;
    q->w.interior = &q->forms.interior;
}

static void texts_free(forall_request *q) {
    text_free(&q->w.g.parameters);
    text_free(&q->w.g.arguments);
    text_free(&q->w.variables);
    text_free(&q->parameters);
}

/* The loop over points, around what has been written. */
static void write_points(forall_request *q, emit *e) {
    forall_writer *w = &q->w;
    skeleton_begin(&w->g.s, e, q->t, q->v, w->g.layout);
    if (q->v->forall.pairs)
        pair_tile_kernel(w, e->plain);
    else
        (e->target->gpu ? gpu_forall : cpu_forall)(w);
    skeleton_end(&w->g.s);
}

static void write_kernel(emit *e, void *user) {
    forall_request *q = user;
    forall_writer *w = &q->w;
    bool gpu = e->target->gpu, vectors = !gpu && !q->v->reports, as_written = e->plain || q->v->reports;
    texts_free(q);
    memset(w, 0, sizeof *w);
    q->t = as_written ? q->text : q->v->forall.pairs ? q->pairs : q->forms.general;
    w->g.layout = w->g.told = q->t->layout;
    w->g.s = (skeleton){.e = e, .v = q->v, .t = q->t};
    if (vectors)
        find_guards(q);
    make_frame(q, e);
    w->group = e->access_group = gpu ? 0 : emit_metadata(e, "distinct !{}");
    emit_functions(e, q->t, "kernel");
    if (gpu && !as_written && !q->v->forall.pairs)
        write_interior(q, e);
    if (vectors && (w->outer = outer_vector_find(e, q->t, q->v->ndim - 1, w->guards)))
        outer_vector_function(e, q->t, w->outer);
    e->access_group = 0;
    write_points(q, e);
}

uf_status ir_forall(arena *a, const char *name, const tree *t, const variant *v, const code_target *target,
                    code_module *module) {
    forall_request *q = arena_alloc(a, sizeof *q);
    if (!q || !(t = forall_known(a, t, &v->forall.known)) || !forall_forms_make(a, t, &v->forall.known, &q->forms))
        return fail_memory();
    q->text = t;
    q->v = v;
    forall_uses(t, q->use);
    if (v->forall.pairs && !pair_tile_form(a, t, q->use, &q->pairs))
        return fail_memory();
    assert(!v->forall.pairs || q->pairs); /* as the traits say */
    uf_status status = skeleton_module(a, name, v, target, module, write_kernel, q);
    texts_free(q);
    return status;
}
