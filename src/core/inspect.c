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
    for (int k = 0; k < n; k++) {
        a->key.type[k] = (uint8_t)in[k];
        a->array[k].number = false;
    }
    return UF_OK;
}

static uf_status variant_make(const uf_func *f, const engine *e, subject *s) {
    static const int64_t shape[] = {1 << 20};
    int n = f->nin + f->nout;
    nd_array arrays[UF_MAX_OPERANDS];
    int64_t space[1 + UF_MAX_OPERANDS * 2 + 8];
    nd_loop loop;
    for (int k = 0; k < n; k++)
        arrays[k] = (nd_array){.shape = shape, .ndim = 1, .size = dtypes[s->types[k]].size, .output = k >= f->nin};
    if (nd_space(1, n) > sizeof space)
        return fail_memory();
    TRY(nd_plan(arrays, n, f->nin, 0, space, &loop));
    s->v.loop = (uint8_t)loop.loop;
    s->v.nin = (uint8_t)f->nin;
    s->v.nout = (uint8_t)f->nout;
    for (int k = 0; k < n; k++)
        s->v.operand[k] =
            (variant_operand){.memory = (uint8_t)s->types[k], .value = (uint8_t)s->types[k], .kind = loop.kind[k]};
    e->specialise(&s->v, &loop, NULL, NULL, &(code_size){.nodes = s->tree->nodes, .has_loop = s->tree->has_loop});
    return UF_OK;
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
                           .tree = s->tree,
                           .v = &s->v,
                           .engine = engine_index,
                           .device = r->device.device_id,
                           .fast = f->fast,
                           .flags = f->flags,
                           .max_registers = f->max_registers};
    TRY(engines[engine_index]->target(r->device.device_id, &s->job.target));
    TRY(variant_make(f, engines[engine_index], s));
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
