/* inspect.c - uf_inspect and uf_system_info: the stages of compilation, shown. */
#include "core/core.h"

/* What is shown for: the variant of contiguous arrays of the signature's own dtypes. */
typedef struct subject {
    dtype types[UF_MAX_OPERANDS];
    arena arena;
    tree *tree;
    variant v;
    compile_job job;
} subject;

static uf_status inputs_read(const uf_func *f, const char *types, call_args *a) {
    dtype in[UF_MAX_OPERANDS];
    int n = f->nin;
    if (types)
        TRY(types_parse(types, in, &n));
    else if (f->any_types)
        return fail(UF_ERR_ARGUMENT, "%s was registered for any types: name the dtypes of its inputs", f->name);
    else
        memcpy(in, f->signatures.types, (size_t)n * sizeof *in);
    if (n != f->nin)
        return fail(UF_ERR_ARGUMENT, "%s takes %d inputs, but \"%s\" has %d dtypes", f->name, f->nin, types, n);
    a->nin = n;
    for (int k = 0; k < n; k++) {
        a->key.type[k] = (uint8_t)in[k];
        a->array[k].number = false;
    }
    return UF_OK;
}

/* What inspected calls have: elements of an elementwise loop, or inner calls and the size of a core dimension. */
enum {
    ELEMENTS = 1 << 20,
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
    code_size size;
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
    ir_traits(s->tree, &size);
    uf_status status = space && plan ? plan_lay(plan, f, a, &options, s->types, &size, space) : fail_memory();
    if (!status)
        memcpy(&s->v, &plan->v, variant_key_size(&plan->v));
    mem_free(plan);
    mem_free(space);
    return status;
}

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

/* Runs on a big stack. */
static uf_status inspect(void *user) {
    request *r = user;
    const uf_func *f = r->func;
    subject *s = &r->subject;
    const uf_options options = {.size = sizeof options};
    call_args a;
    int engine_index = 0, section_index;
    TRY(device_read(r->device, &engine_index));
    TRY(inputs_read(f, r->types, &a));
    TRY(choose_types(f, &a, &options, s->types, &section_index));
    TRY(type_kernel(f, section_index, s->types, &s->arena, &s->tree));
    if (r->view == UF_VIEW_TREE) {
        lang_print(&r->out, s->tree);
        return UF_OK;
    }
    s->job = (compile_job){.name = f->name,
                           .source = f->sections[section_index].source,
                           .layout = f->layout ? f->layout_text : "",
                           .tree = s->tree,
                           .v = &s->v,
                           .engine = engine_index,
                           .device = r->device.device_id,
                           .fast = f->fast,
                           .flags = f->flags,
                           .max_registers = f->max_registers};
    a.engine = engine_index;
    a.device = r->device.device_id;
    TRY(engines[engine_index]->target(r->device.device_id, &s->job.target));
    TRY(variant_make(f, &a, s));
    return view_write(s, r->view, &r->out);
}

uf_status uf_inspect(const uf_func *func, const char *types, DLDevice device, uf_view view, char **out) {
    if (!out)
        return fail(UF_ERR_ARGUMENT, "text is NULL");
    *out = NULL;
    if (!func)
        return fail(UF_ERR_ARGUMENT, "func is NULL");
    if (func->reduction)
        return fail(UF_ERR_ARGUMENT, "%s is a reduction, whose code cannot be inspected", func->name);
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

uf_status uf_system_info(char **out) {
    if (!out)
        return fail(UF_ERR_ARGUMENT, "text is NULL");
    uf_error before = *error_slot(); /* what is missing is no error of this call's */
    text t = {0};
    text_printf(&t, "libufunc %s\n", uf_version());
    for (int i = 0; i < ENGINES; i++)
        engines[i]->info(&t);
    *error_slot() = before;
    *out = text_take(&t);
    return *out ? UF_OK : fail_memory();
}
