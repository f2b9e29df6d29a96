/* inspect.c - uf_inspect and uf_system_info: show the results of each pass of compilation, and what the library
 * found. */
#include "core/core.h"

/* Prints the trees of a reduction's texts, under their names. */
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

typedef struct inspection {
    const uf_func *func;
    const char *types;
    DLDevice device;
    uf_view view;
    uf_plan plan;
    text out;
} inspection;

static void tree_print(text *out, const binding *b) {
    if (b->fold)
        fold_print(out, b->fold);
    else
        lang_print(out, b->tree);
}

static uf_status code_print(inspection *x, arena *a) {
    const uf_plan *p = &x->plan;
    compile_job job = binding_job(p->func, plan_binding_of(p), plan_variant_of(p, &p->pass[0]));
    code_module module = {0};
    uf_status s = engines[p->engine]->target(p->device, &job.target);
    if (!s)
        s = compile_ir(a, &job, &module);
    if (!s && x->view == UF_VIEW_IR)
        text_add(&x->out, module.ir.data, module.ir.length);
    else if (!s)
        s = engines[p->engine]->inspect(&module, &job.target, p->device, x->view, &x->out);
    text_free(&module.ir);
    return s;
}

/* Shows the plan of a call with contiguous arrays of the signature's own dtypes; for a reduction, of one over all
 * elements of such arrays; for a plan of two passes, the first. Runs on a big stack. */
static uf_status inspect(void *user) {
    inspection *x = user;
    TRY(form_of_types(x->func, &x->types, &x->func));
    const uf_func *f = x->func;
    const uf_options options = {.size = sizeof options};
    plan_request r = {.verb = is_kernel(f)   ? &forall_verb
                              : f->reduction ? &reduce_verb
                                             : call_verb(f),
                      .name = "uf_inspect",
                      .func = f,
                      .options = &options};
    call_args a;
    arena scratch = {0};
    memset(&a.key, 0, sizeof a.key);
    TRY(device_read(x->device, &a.engine));
    a.key.engine = a.engine;
    a.device = a.key.device = x->device.device_id;
    TRY(plan_imagine(&x->plan, &r, x->types, &a));
    if (x->view == UF_VIEW_TREE) {
        tree_print(&x->out, x->plan.binding);
        return UF_OK;
    }
    code_target target;
    TRY(engines[a.engine]->target(a.device, &target));
    TRY(plan_imagine_arrays(&x->plan, &r, &a));
    uf_status s = code_print(x, &scratch);
    arena_free(&scratch);
    return s;
}

uf_status uf_inspect(const uf_func *func, const char *types, DLDevice device, uf_view view, char **out) {
    if (!out)
        return fail(UF_ERR_ARGUMENT, "text is NULL");
    *out = NULL;
    if (!func)
        return fail(UF_ERR_ARGUMENT, "func is NULL");
    if ((unsigned)view > UF_VIEW_RESOURCES)
        return fail(UF_ERR_ARGUMENT, "view is %d; 0 to %d are known", (int)view, UF_VIEW_RESOURCES);
    inspection *x = mem_zero(1, sizeof *x);
    if (!x)
        return fail_memory();
    x->func = func;
    x->types = types;
    x->device = device;
    x->view = view;
    uf_status s = on_big_stack(inspect, x);
    if (!s && !(*out = text_take(&x->out)))
        s = fail_memory();
    text_free(&x->out);
    plan_end(&x->plan);
    mem_free(x);
    return s;
}

/* Engines report what is missing as the error of the thread that runs this, so that the caller's thread keeps its
 * own. */
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
