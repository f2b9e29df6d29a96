/* forall.c - a kernel over indices: the tree's functions with @kernel over its parameters and the indices of a point, and around
 * it the loop over points, one for each engine. */
#include "ir/common/report.h"
#include "ir/forall/coalesced.h"
#include "ir/forall/guards.h"
#include "ir/forall/outer_vector.h"
#include "ir/forall/privatised.h"

/* A number, or the address of an array, as @kernel takes it. */
static void argument(const calls *c, int k, text *out) {
    const variant_operand *o = &c->s.v->operand[k];
    if (calls_is_core(c, k))
        text_printf(out, "%s%s %s, ", ir_memory_type((dtype)o->memory), ir_global_pointer(c->s.e), c->s.base[k].text);
    else
        text_printf(out, "%s %s, ", ir_value_type((dtype)o->value), c->s.value[k].text);
}

/* The number of a point in C order. */
static ssa number_of(const calls *c, const ssa *index) {
    emit *e = c->s.e;
    ssa n = index[0];
    for (int d = 1; d < c->layout->nindices; d++) {
        n = emit_op(e, "mul i64", n, c->core[d]);
        n = emit_op(e, "add i64", n, index[d]);
    }
    return n;
}

void forall_point(calls *c, const char *entry, const ssa *index) {
    emit *e = c->s.e;
    text arguments = {0}, type = {0};
    if (c->s.v->reports)
        c->element = number_of(c, index);
    for (int k = 0; k < c->s.v->nin; k++)
        argument(c, k, &arguments);
    for (int d = 0; d < c->layout->nindices; d++)
        text_printf(&arguments, "%si64 %s", d ? ", " : "", index[d].text);
    calls_more_arguments(c, &arguments);
    counters_arguments(c, &arguments);
    emit_result_type(e, &type, c->s.t->kernel);
    e->failed |= arguments.failed || type.failed || c->arguments.failed;
    if (!e->failed)
        emit_invoke(e, type.data, entry, arguments.data, NULL);
    text_free(&arguments);
    text_free(&type);
}

ssa forall_value(const calls *c, const ssa *index, const node *n) {
    emit *e = c->s.e;
    int nin = c->s.v->nin;
    switch (n->kind) {
    case N_CONST:
        return emit_constant(n->value, (dtype)n->type);
    case N_SIZE:
        return c->core[n->dim];
    case N_LOCAL:
        return n->local < nin ? c->s.value[n->local] : index[n->local - nin];
    default:
        break;
    }
    dtype type = (dtype)n->kid[0]->type;
    ssa x = forall_value(c, index, n->kid[0]);
    if (n->kind == N_CONVERT)
        return emit_convert(e, x, type, (dtype)n->type);
    if (n->kind == N_UNARY)
        return emit_unary(e, (op)n->op, type, x);
    return emit_binary(e, (op)n->op, type, x, forall_value(c, index, n->kid[1]), (dtype)n->kid[1]->type);
}

/* What write_kernel is told; the texts outlive an escape for want of memory. */
typedef struct forall_text {
    calls c;
    const tree *t;
    const variant *v;
    uint8_t use[UF_MAX_OPERANDS];
    guards guards;
    coalesced coalesced;
    bool coalesces;
} forall_text;

/* The streams of the operands that are to be so. */
static void find_coalesced(forall_text *q) {
    bool eligible[UF_MAX_OPERANDS] = {false};
    for (int k = 0; k < q->v->nin; k++)
        q->coalesces |= eligible[k] = q->v->operand[k].coalesced;
    if (!q->coalesces)
        return;
    coalesced_find(q->t, eligible, q->v->proved, &q->coalesced);
    coalesced_parameters(&q->c.parameters, q->t, &q->coalesced);
}

static void write_kernel(emit *e, void *user) {
    forall_text *q = user;
    calls *c = &q->c;
    text_free(&c->parameters);
    text_free(&c->arguments);
    memset(c, 0, sizeof *c);
    c->layout = q->t->layout;
    for (int w = 0; w < c->layout->nwords; w++)
        text_printf(&c->parameters, ", i64 %%s%d", w);
    find_coalesced(q);
    if (q->v->reports)
        report_parameters(&c->parameters);
    forall_uses(q->t, q->use);
    c->frame = (frame){.v = q->v, .layout = c->layout, .use = q->use, .coalesced = q->coalesces ? &q->coalesced : NULL};
    c->s = (skeleton){.e = e, .v = q->v, .t = q->t};
    if (!e->target->gpu && !q->v->reports) {
        guards_find(q->t, q->v->ndim - 1, &q->guards);
        c->guards = c->frame.guards = &q->guards;
    }
    counters_declare(c);
    e->failed |= c->parameters.failed;
    c->frame.parameters = c->parameters.failed || !c->parameters.data ? "" : c->parameters.data;
    e->frame = &c->frame;
    c->group = e->access_group = e->target->gpu ? 0 : emit_metadata(e, "distinct !{}");
    e->reports = q->v->reports;
    emit_functions(e, q->t, "kernel");
    if (!e->target->gpu && !q->v->reports && (c->outer = outer_vector_find(e, q->t, q->v->ndim - 1)))
        outer_vector_function(e, q->t, c->outer);
    e->access_group = 0;
    skeleton_begin(&c->s, e, q->t, q->v, (e->target->gpu ? gpu_forall_words : cpu_forall_words)(c));
    (e->target->gpu ? gpu_forall : cpu_forall)(c);
    skeleton_end(&c->s);
}

uf_status ir_forall(arena *a, const char *name, const tree *t, const variant *v, const code_target *target,
                    code_module *module) {
    forall_text *q = arena_alloc(a, sizeof *q);
    if (!q)
        return fail_memory();
    q->t = t;
    q->v = v;
    uf_status status = skeleton_module(a, name, v, target, module, write_kernel, q);
    text_free(&q->c.parameters);
    text_free(&q->c.arguments);
    return status;
}
