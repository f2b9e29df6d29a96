/* call.c - uf_call, uf_plan_new and uf_infer, and the row of elementwise functions, whose loop goes over all
 * dimensions of the arrays. The row of generalized ufuncs is in gufunc.c. */
#include "core/core.h"

/* ---- Elementwise ---- */

uf_status call_arguments(const plan_request *r, call_args *a, void **data) {
    return args_take(r->func->nin, r->nargs, r->args, r->func->layout, r->options, r->how, a, data);
}

uf_status call_arity(const plan_request *r, int *nin, int *nout) {
    *nin = r->func->nin;
    *nout = r->func->nout;
    return UF_OK;
}

uf_status call_bind(const plan_request *r, call_args *a, const binding **out) {
    return binding_find(r->func, a, r->options, out);
}

/* Makes the elements of the loop inner calls, which take their operands by address. */
void call_inside(plan_pass *s) {
    nd_loop *loop = &s->loops.kept;
    loop->loop = LOOP_GUFUNC;
    for (int k = 0; k < loop->narrays; k++)
        if (loop->kind[k] != OPERAND_NUMBER)
            loop->kind[k] = OPERAND_STRIDED;
}

/* The shape in which reports give indices is that of an output. */
void call_points(uf_plan *p, const nd_array *output) {
    p->npoints = output->ndim;
    for (int d = 0; d < output->ndim; d++)
        p->points[d] = output->shape[d];
}

uf_status call_operands(uf_plan *p, const call_args *a, uint8_t reports) {
    plan_pass *s = &p->pass[0];
    const binding *b = p->binding;
    p->source = b->source;
    p->idle = s->loops.kept.count == 0;
    plan_arguments_set(p, a);
    plan_variant(s, s->loops.kept.loop, a->nin, a->nargs - a->nin);
    s->v.reports = reports;
    s->v.masked = a->narrays > a->nargs;
    plan_operands(s, a, a->nargs, b->types);
    if (s->v.masked)
        plan_operand(s, a->nargs, a->nargs, DT_BOOL, DT_BOOL);
    return plan_outputs_check(p);
}

void call_specialise(const uf_plan *p, const uint8_t *misalignment, variant *v) {
    engines[p->engine]->specialise(v, &(loop_problem){.loop = &p->pass[0].loops.kept,
                                                      .layout = p->layout,
                                                      .core = p->core,
                                                      .traits = &p->binding->traits,
                                                      .unrolled = p->unrolled,
                                                      .form = p->layout ? lapack_form_of(p) : LAPACK_NONE,
                                                      .device = p->device,
                                                      .misalignment = misalignment});
}

/* ---- Operands that lie interleaved, which follows from the addresses of a run ---- */

/* Only a strided operand can be in a group. */
static bool may_interleave(const plan_pass *s) { return s->loops.kept.loop == LOOP_GENERAL && !s->v.reports; }

/* Returns the class that the loop has by these groups. */
static loop_class interleave(const plan_pass *s, void *const *data, nd_member *out) {
    nd_place place[VARIANT_OPERANDS];
    plan_places(s, data, place);
    return nd_interleave(&s->loops.kept, place, s->v.nin, s->v.nout, out);
}

static bool elementwise_fits(const uf_plan *p, void *const *data) {
    const plan_pass *s = &p->pass[0];
    nd_member member[VARIANT_OPERANDS];
    if (!may_interleave(s))
        return true;
    interleave(s, data, member);
    return !memcmp(member, p->member, (size_t)s->loops.kept.narrays * sizeof *member);
}

/* Makes the variant of a loop of a class, whose operands are in these groups. */
static void variant_make(const uf_plan *p, loop_class loop, const nd_member *member, variant *v) {
    const plan_pass *s = &p->pass[0];
    int n = s->loops.kept.narrays;
    variant_reclass(v, loop);
    plan_groups(v, member, n);
    for (int k = 0; k < n; k++) {
        v->operand[k].kind = member[k].record ? OPERAND_INTERLEAVED : s->loops.kept.kind[k];
        v->operand[k].fixed = v->operand[k].staged = 0;
    }
    call_specialise(p, NULL, v);
}

static uf_status elementwise_specialise(const uf_plan *p, void *const *data, variant *v) {
    const plan_pass *s = &p->pass[0];
    nd_member member[VARIANT_OPERANDS];
    memcpy(v, &s->v, variant_size(&s->v));
    loop_class loop = interleave(s, data, member);
    variant_make(p, loop, member, v);
    return UF_OK;
}

/* A call that reports is laid out as one of a generalized ufunc whose operands are all scalars, since only inner
 * calls can report. */
static uf_status elementwise_lay(uf_plan *p, const plan_request *r, call_args *a, void *const *data) {
    static const int64_t no_words[1];
    plan_pass *s = &p->pass[0];
    const engine *e = engines[p->engine];
    uint8_t reports = func_reports(p->func, p->binding->traits.unbounded, r->options->cancel);
    void *space = plan_space(p, nd_space(args_rank(a), a->narrays));
    if (!space)
        return fail_memory();
    TRY(nd_plan(a->array, a->narrays, a->nin, reports ? ND_KEEP_ORDER : 0, space, &s->loops.kept));
    if (!reports)
        nd_tile(a->array, e->tiles_outputs && a->narrays == a->nargs, e->tile_narrow(&p->binding->traits),
                &s->loops.kept);
    if (reports) {
        p->layout = &layout_scalars;
        p->core = no_words;
        call_points(p, &a->array[a->nin]);
        call_inside(s);
    }
    TRY(call_operands(p, a, reports));
    if (may_interleave(s))
        variant_make(p, interleave(s, data, p->member), p->member, &s->v);
    else
        call_specialise(p, NULL, &s->v);
    return UF_OK;
}

static bool elementwise_self_overlap(const uf_plan *p, const plan_pass *s, int k) {
    (void)p;
    return nd_self_overlap(&s->loops.kept, k);
}

static void elementwise_bounds(const uf_plan *p, const plan_pass *s, int k, int64_t *lowest, int64_t *highest) {
    (void)p;
    nd_bounds(&s->loops.kept, k, lowest, highest);
}

static nd_overlap elementwise_compare(const uf_plan *p, const plan_pass *s, int a, const char *data_a, int b,
                                      const char *data_b) {
    const variant_operand *o = s->v.operand;
    (void)p;
    return nd_compare(&s->loops.kept, a, data_a, dtypes[o[a].memory].size, b, data_b, dtypes[o[b].memory].size);
}

static uf_status elementwise_infer(const plan_request *r, const call_args *a, const dtype *types, DLTensor *args) {
    int ndim;
    int64_t shape[UF_MAX_NDIM];
    TRY(nd_broadcast(a->array, a->narrays, &ndim, shape));
    for (int k = a->nin; k < r->nargs; k++)
        TRY(output_check(k, types[k], ndim, shape));
    for (int k = a->nin; k < r->nargs; k++) {
        args[k].ndim = ndim;
        memcpy(args[k].shape, shape, (size_t)ndim * sizeof *shape);
    }
    return UF_OK;
}

/* ---- What uf_inspect shows: contiguous arrays of the signature's own dtypes ---- */

uf_status inputs_imagine(const uf_func *f, const char *types, call_args *a) {
    dtype in[UF_MAX_OPERANDS];
    int n = f->nin;
    if (types)
        TRY(fail_named(types_parse(types, in, &n), "types"));
    else if (f->any_types)
        return fail(UF_ERR_ARGUMENT, "%s was registered for any types: name the dtypes of its inputs", f->name);
    else
        memcpy(in, f->signatures.types, (size_t)n * sizeof *in);
    if (n != f->nin)
        return fail(UF_ERR_ARGUMENT, "%s takes %d inputs, but \"%s\" has %d dtypes", f->name, f->nin, types, n);
    a->nin = a->nargs = a->narrays = n;
    for (int k = 0; k < n; k++)
        a->key.type[k] = (uint8_t)in[k];
    return UF_OK;
}

uf_status call_imagine(uf_plan *p, plan_request *r, const char *types, call_args *a) {
    const uf_func *f = p->func;
    TRY(inputs_imagine(f, types, a));
    for (int k = 0; k < f->nin + f->nout; k++)
        a->array[k] = (nd_array){.output = k >= f->nin};
    TRY(r->verb->bind(r, a, &p->binding));
    a->nargs = a->narrays = f->nin + f->nout;
    for (int k = 0; k < a->nargs; k++) {
        a->key.type[k] = (uint8_t)p->binding->types[k];
        a->array[k].size = dtypes[a->key.type[k]].size;
    }
    return UF_OK;
}

static uf_status elementwise_arrays(uf_plan *p, call_args *a) {
    static const int64_t shape[] = {1 << 20};
    (void)p;
    for (int k = 0; k < a->narrays; k++) {
        a->array[k].shape = shape;
        a->array[k].ndim = 1;
    }
    return UF_OK;
}

const plan_verb elementwise_verb = {.options = "uf_options",
                                    .arity = call_arity,
                                    .arguments = call_arguments,
                                    .bind = call_bind,
                                    .lay = elementwise_lay,
                                    .imagine = call_imagine,
                                    .imagine_arrays = elementwise_arrays,
                                    .infer = elementwise_infer,
                                    .self_overlap = elementwise_self_overlap,
                                    .bounds = elementwise_bounds,
                                    .compare = elementwise_compare,
                                    .fits = elementwise_fits,
                                    .specialise = elementwise_specialise};

/* ---- The verbs ---- */

uf_status uf_call(const uf_func *func, int nargs, const DLTensor *args, const uf_options *options) {
    RANGE("uf_call", func);
    uf_options own;
    TRY(options_read(options, &own, &options));
    if (options->flags & UF_STAGE)
        return stage_call(func, nargs, args, options);
    TRY(args_match(func, nargs, args, options));
    return plan_once(&(plan_request){
        .verb = call_verb(func), .name = "uf_call", .func = func, .options = options, .nargs = nargs, .args = args});
}

uf_status uf_plan_new(uf_plan **out, const uf_func *func, int nargs, const DLTensor *args, const uf_options *options) {
    uf_options own;
    TRY(plan_out(out));
    TRY(options_read(options, &own, &options));
    if (options->flags & UF_STAGE)
        return fail(UF_ERR_ARGUMENT, "a plan cannot stage arrays; use uf_call, or arrays of one device");
    TRY(args_match(func, nargs, args, options));
    return plan_new(out, &(plan_request){.verb = call_verb(func),
                                         .name = "uf_plan_new",
                                         .func = func,
                                         .options = options,
                                         .nargs = nargs,
                                         .args = args});
}

static uf_status infer(const plan_request *r, void *user) {
    const uf_func *func = r->func;
    DLTensor *args = (DLTensor *)(uintptr_t)r->args;
    call_args a;
    dtype types[UF_MAX_OPERANDS];
    void *data[PLAN_ARGUMENTS];
    int section_index;
    (void)user;
    TRY(call_arguments(r, &a, data));
    TRY(choose_types(func, &a, r->options, true, types, &section_index));
    if (func->any_types) {
        arena scratch = {0};
        tree *t;
        uf_status typed = type_kernel(func, section_index, types, &scratch, &t);
        arena_free(&scratch);
        TRY(typed);
    }
    TRY(r->verb->infer(r, &a, types, args));
    for (int k = func->nin; k < r->nargs; k++)
        args[k].dtype = dtypes[types[k]].dl;
    return UF_OK;
}

uf_status uf_infer(const uf_func *func, int nargs, DLTensor *args, const uf_options *options) {
    uf_options own;
    TRY(options_read(options, &own, &options));
    TRY(args_match(func, nargs, args, options));
    const plan_request r = {.verb = call_verb(func),
                            .name = "uf_infer",
                            .func = func,
                            .options = options,
                            .how = ARGS_NO_OUTPUTS | ARGS_NO_DATA,
                            .nargs = nargs,
                            .args = args};
    return with_records(&r, infer, NULL);
}
