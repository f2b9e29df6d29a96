/* inspect.c - uf_inspect and uf_system_info: the stages of compilation, shown. */
#include "core/core.h"

/* What is shown for: the variant of contiguous arrays of the signature's own dtypes; of a reduction, that of all elements of
 * such. */
typedef struct subject {
    dtype types[UF_MAX_OPERANDS];
    arena arena;
    tree *tree;
    const binding *binding; /* of a reduction, and a kernel over indices: whose the trees are */
    variant v;
    compile_job job;
} subject;

static uf_status inputs_read(const uf_func *f, const char *types, call_args *a) {
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
    a->nin = a->nargs = n;
    for (int k = 0; k < n; k++) {
        a->key.type[k] = (uint8_t)in[k];
        a->array[k].number = false;
    }
    return UF_OK;
}

/* What inspected calls have: elements of an elementwise loop or a reduction, or inner calls and the size of a core dimension. */
enum {
    ELEMENTS = 1 << 20,
    REDUCED = 1 << 28,
    CALLS = 1 << 16,
    CORE_SIZE = 64
};

typedef int64_t core_shape[1 + LAYOUT_MAX_RANK];

/* The sizes of a layout's dimensions. A computed one that has no size then is left to the call's own check. */
static void sizes_choose(const core_layout *l, int64_t size, int64_t *sizes) {
    for (int d = 0; d < l->ndims; d++)
        sizes[d] = l->dims[d].frozen ? l->dims[d].frozen : size;
    for (int d = 0; d < l->ndims; d++)
        if (l->dims[d].steps && !layout_compute(&l->dims[d], sizes, &sizes[d]))
            sizes[d] = 0;
}

/* One dimension to loop over, then the operand's core dimensions; false if there are 2^48 elements or more. */
static bool shape_choose(const layout_operand *o, const int64_t *sizes, int64_t calls, int64_t *shape) {
    int64_t count = calls;
    bool overflow = false;
    shape[0] = calls;
    for (int d = 0; d < o->rank; d++) {
        shape[1 + d] = sizes[o->dim[d]];
        overflow |= __builtin_mul_overflow(count, shape[1 + d] > 1 ? shape[1 + d] : 1, &count);
    }
    return !overflow && count >> 48 == 0;
}

/* Core sizes become smaller until the arrays of some thousand calls could exist. */
static uf_status shapes_choose(const uf_func *f, core_shape *shapes) {
    int64_t sizes[LAYOUT_MAX_DIMS];
    int n = f->nin + f->nout;
    for (int64_t size = CORE_SIZE, calls = CALLS; calls; size = size > 1 ? size / 2 : 1, calls /= 2) {
        int k = 0;
        sizes_choose(f->layout, size, sizes);
        while (k < n && shape_choose(&f->layout->operands[k], sizes, calls, shapes[k]))
            k++;
        if (k == n)
            return UF_OK;
    }
    return fail(UF_ERR_SHAPE, "%s: there is no array with the frozen sizes of %s", f->name, f->layout_text);
}

static uf_status variant_make(const uf_func *f, call_args *a, subject *s) {
    core_shape shapes[UF_MAX_OPERANDS];
    const uf_options options = {.size = sizeof options};
    code_traits traits;
    a->nargs = a->narrays = f->nin + f->nout;
    if (f->layout)
        TRY(shapes_choose(f, shapes));
    for (int k = 0; k < a->nargs; k++) {
        int rank = f->layout ? f->layout->operands[k].rank : 0;
        if (!f->layout)
            shapes[k][0] = ELEMENTS;
        a->key.type[k] = (uint8_t)s->types[k];
        a->array[k] =
            (nd_array){.shape = shapes[k], .ndim = 1 + rank, .size = dtypes[s->types[k]].size, .output = k >= f->nin};
    }
    void *space = mem_alloc(plan_space(f, a));
    uf_plan *plan = mem_alloc(sizeof *plan);
    ir_traits(s->tree, &traits);
    uf_status status = space && plan ? plan_lay(plan, f, a, &options, s->types, &traits, space) : fail_memory();
    if (!status)
        memcpy(&s->v, &plan->v, variant_key_size(&plan->v));
    mem_free(plan);
    mem_free(space);
    return status;
}

/* ---- Reductions ---- */

static void operand_set(variant *v, int k, dtype type, const nd_fold *loops) {
    v->operand[k] = (variant_operand){.memory = type, .value = type, .kind = loops->kept.kind[k]};
}

static void fold_variant(const binding *b, bool to_states, uint8_t reports, const nd_fold *loops, variant *v) {
    const fold *x = b->fold;
    const dtype *out = to_states ? x->state : x->out;
    int k = 0;
    memset(v, 0, sizeof *v);
    v->loop = LOOP_FOLD;
    v->reports = reports;
    v->nin = (uint8_t)x->nin;
    v->nout = (uint8_t)(to_states ? x->nstate : x->nout);
    v->to_states = to_states;
    v->position = x->takes_position;
    code_items(v, &b->traits);
    for (; k < v->nin; k++)
        operand_set(v, k, x->in[k], loops);
    for (; k < v->nin + v->nout; k++)
        operand_set(v, k, out[k - v->nin], loops);
    if (v->position)
        operand_set(v, k, DT_INT64, loops);
}

/* One-dimensional inputs, reduced to numbers. */
static int fold_arrays(const fold *x, nd_array *arrays) {
    static const int64_t shape[] = {REDUCED};
    int n = 0;
    for (int k = 0; k < x->nin; k++)
        arrays[n++] = (nd_array){.shape = shape, .ndim = 1, .size = dtypes[x->in[k]].size};
    for (int k = 0; k < x->nout; k++)
        arrays[n++] = (nd_array){.size = dtypes[x->out[k]].size, .output = true, .role = ND_RESULTS};
    if (x->takes_position)
        arrays[n++] = (nd_array){.role = ND_POSITION};
    return n;
}

/* Where the elements are divided in parts, the kernel is the one that combines a part. */
static uf_status fold_variant_make(const uf_func *f, call_args *a, const engine *e, int device, subject *s) {
    const binding *b = s->binding;
    const fold *x = b->fold;
    uint8_t reports = func_reports_steps(f, b->traits.unbounded, NULL);
    nd_fold loops, parts;
    const fold_problem whole = {.loops = &loops, .traits = &b->traits, .device = device},
                       part = {.loops = &parts, .traits = &b->traits, .device = device};
    int n = fold_arrays(x, a->array), of[VARIANT_OPERANDS], m = 0;
    size_t size = (nd_fold_space(2, VARIANT_OPERANDS) + 7) / 8 * 8;
    char *space = mem_alloc(2 * size);
    if (!space)
        return fail_memory();
    uf_status status = nd_fold_plan(a->array, n, 1, x->order ? ND_KEEP_ORDER : 0, space, &loops);
    if (!status) {
        fold_variant(b, false, reports, &loops, &s->v);
        if (e->specialise_fold(&s->v, &whole)) {
            for (int k = 0; k < x->nin; k++)
                of[m++] = k;
            for (int k = 0; k < x->nstate; k++)
                of[m++] = -1;
            if (x->takes_position)
                of[m++] = n - 1;
            nd_fold_regroup(&loops, m, of, 1, space + size, &parts);
            fold_variant(b, true, reports, &parts, &s->v);
            e->specialise_fold(&s->v, &part);
        }
    }
    mem_free(space);
    return status;
}

/* The trees of a reduction's texts, under their names. */
static void fold_print(text *out, const fold *x) {
    const struct {
        const char *name;
        const tree *tree;
    } texts[] = {{"map", x->map}, {"combine", x->combine}, {"finish", x->finish}, {"identity", x->identity}};
    for (size_t i = 0; i < COUNT(texts); i++)
        if (texts[i].tree) {
            text_printf(out, "# %s\n", texts[i].name);
            lang_print(out, texts[i].tree);
        }
}

/* ---- The views ---- */

static uf_status device_read(DLDevice device, int *engine_index) {
    switch ((int)device.device_type) {
    case kDLCPU:
        *engine_index = ENGINE_CPU;
        return UF_OK;
    case kDLCUDA:
        if (device.device_id < -9999)
            return fail(UF_ERR_DEVICE, "device_id is %d; -90 means compute capability 9.0", device.device_id);
        *engine_index = ENGINE_CUDA;
        return UF_OK;
    default:
        return fail(UF_ERR_DEVICE, "DLPack device type %d; kDLCPU and kDLCUDA can be inspected",
                    (int)device.device_type);
    }
}

static uf_status view_write(subject *s, uf_view view, text *out) {
    code_module module = {0};
    uf_status status = compile_ir(&s->arena, &s->job, &module);
    if (!status && view == UF_VIEW_IR)
        text_add(out, module.ir.data, module.ir.length);
    else if (!status)
        status = engines[s->job.engine]->inspect(&module, &s->job.target, s->job.device, view, out);
    text_free(&module.ir);
    return status;
}

typedef struct request {
    const uf_func *func;
    const char *types;
    DLDevice device;
    uf_view view;
    subject subject;
    text out;
} request;

/* The typed tree, or those of a reduction. */
static uf_status subject_type(const uf_func *f, const char *types, call_args *a, subject *s) {
    const uf_options options = {.size = sizeof options};
    int section_index;
    if (is_kernel(f)) {
        TRY(forall_imagine(f, types, a, &s->binding, &s->v));
        s->job.tree = s->tree = s->binding->tree;
        s->job.source = s->binding->source;
        s->job.layout = s->binding->layout;
        return UF_OK;
    }
    TRY(inputs_read(f, types, a));
    s->job.layout = f->layout ? f->layout_text : "";
    if (f->reduction) {
        TRY(fold_find(f, a, UF_CAST_DEFAULT, NULL, 0, &s->binding));
        s->job.fold = s->binding->fold;
        s->job.source = s->binding->source;
        return UF_OK;
    }
    TRY(choose_types(f, a, &options, false, s->types, &section_index));
    TRY(type_kernel(f, section_index, s->types, &s->arena, &s->tree));
    s->job.tree = s->tree;
    s->job.source = f->sections[section_index].source;
    return UF_OK;
}

/* Runs on a big stack. */
static uf_status inspect(void *user) {
    request *r = user;
    const uf_func *f = r->func;
    subject *s = &r->subject;
    compile_job *job = &s->job;
    call_args a;
    memset(&a.key, 0, sizeof a.key);
    TRY(device_read(r->device, &job->engine));
    a.engine = a.key.engine = job->engine;
    a.device = a.key.device = job->device = r->device.device_id;
    TRY(subject_type(f, r->types, &a, s));
    if (r->view == UF_VIEW_TREE) {
        if (job->fold)
            fold_print(&r->out, s->binding->fold);
        else
            lang_print(&r->out, s->tree);
        return UF_OK;
    }
    job->name = f->name;
    job->v = &s->v;
    job->fast = f->fast;
    job->flags = f->flags;
    job->max_registers = f->max_registers;
    job->max_steps = f->max_steps;
    const engine *e = engines[job->engine];
    TRY(e->target(job->device, &job->target));
    if (!is_kernel(f))
        TRY(job->fold ? fold_variant_make(f, &a, e, job->device, s) : variant_make(f, &a, s));
    return view_write(s, r->view, &r->out);
}

uf_status uf_inspect(const uf_func *func, const char *types, DLDevice device, uf_view view, char **out) {
    if (!out)
        return fail(UF_ERR_ARGUMENT, "text is NULL");
    *out = NULL;
    if (!func)
        return fail(UF_ERR_ARGUMENT, "func is NULL");
    if ((unsigned)view > UF_VIEW_RESOURCES)
        return fail(UF_ERR_ARGUMENT, "view is %d; 0 to %d are known", (int)view, UF_VIEW_RESOURCES);
    request *r = mem_zero(1, sizeof *r);
    if (!r)
        return fail_memory();
    r->func = func;
    r->types = types;
    r->device = device;
    r->view = view;
    uf_status s = on_big_stack(inspect, r);
    if (!s && !(*out = text_take(&r->out)))
        s = fail_memory();
    text_free(&r->out);
    arena_free(&r->subject.arena);
    mem_free(r);
    return s;
}

/* What is missing is an error of this thread's, not of the call. */
static uf_status engines_tell(void *t) {
    for (int i = 0; i < ENGINES; i++)
        engines[i]->info(t);
    ranges_info(t);
    return UF_OK;
}

uf_status uf_system_info(char **out) {
    if (!out)
        return fail(UF_ERR_ARGUMENT, "text is NULL");
    *out = NULL;
    text t = {0};
    text_printf(&t, "libufunc %s\n", uf_version());
    uf_status s = on_big_stack(engines_tell, &t);
    if (s) {
        text_free(&t);
        return s;
    }
    *out = text_take(&t);
    return *out ? UF_OK : fail_memory();
}
