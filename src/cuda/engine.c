/* engine.c - the table of the CUDA engine: targets, inspection, information. The other functions are in the files
 * beside it. */
#include "cuda/code.h"
#include "cuda/cublas.h"
#include "cuda/cusolver.h"
#include "cuda/toolkit.h"

/* ---- Targets ---- */

static uf_status nvvm_too_new(const cuda_device *d) {
    const toolkit *kit;
    TRY(toolkit_find(&kit));
    return fail(UF_ERR_LIBRARY,
                "libnvvm (%s) does not compile for CUDA device %d (%s, compute capability %d.%d), which is too old for "
                "it; CUDA 12 knows 5.0 and later\nUFUNC_NVVM and UFUNC_LIBDEVICE name another toolkit's files",
                kit->nvvm_path, d->ordinal, d->name, d->arch / 10, d->arch % 10);
}

static uf_status device_arch(int device, int *arch) {
    cuda_device *d;
    TRY(cuda_device_get(device, &d));
    *arch = atomic_load_explicit(&d->target, memory_order_relaxed);
    if (*arch)
        return UF_OK;
    TRY(nvvm_arch(d->arch, arch));
    if (!*arch)
        return nvvm_too_new(d);
    atomic_store(&d->target, *arch);
    return UF_OK;
}

static uf_status named_arch(int wanted, int *arch) {
    const toolkit *kit;
    TRY(toolkit_find(&kit));
    TRY(nvvm_arch(wanted, arch));
    if (*arch != wanted)
        return fail(UF_ERR_ARGUMENT, "libnvvm (%s) does not know the architecture compute_%d", kit->nvvm_path, wanted);
    return UF_OK;
}

static uf_status target(int device, code_target *out) {
    memset(out, 0, sizeof *out);
    out->gpu = true;
    return device < 0 ? named_arch(-device, &out->arch) : device_arch(device, &out->arch);
}

/* ---- Inspection ---- */

static uf_status inspect_resources(const code_module *module, const code_target *target, int device, text *out) {
    resources r;
    code *c;
    if (device < 0)
        return fail(UF_ERR_ARGUMENT,
                    "registers and occupancy are the driver's to tell: name a device of this machine, or "
                    "assemble the PTX with ptxas -v -arch=sm_%d",
                    target->arch);
    TRY(code_compile(module, target, device, &c));
    uf_status s = code_resources(c, 0, 0, &r);
    code_release(c);
    if (s)
        return s;
    text_printf(out,
                "architecture compute_%d\nregisters a thread %d\nlocal memory a thread %d bytes\n"
                "shared memory a block %d bytes\nlargest block %d threads\n"
                "block %d threads, %d blocks (%d threads) resident on a multiprocessor\n",
                target->arch, r.registers, r.local, r.shared, r.threads, r.block, r.blocks, r.blocks * r.block);
    return UF_OK;
}

static uf_status inspect(const code_module *module, const code_target *target, int device, uf_view view, text *out) {
    switch (view) {
    case UF_VIEW_PTX:
        return nvvm_compile(module, target->arch, out);
    case UF_VIEW_RESOURCES:
        return inspect_resources(module, target, device, out);
    case UF_VIEW_ASSEMBLY:
        return fail(UF_ERR_ARGUMENT,
                    "assembly is shown for the CPU; for a GPU save the PTX and use ptxas -arch=sm_%d -o k.cubin k.ptx, "
                    "then cuobjdump -sass k.cubin",
                    target->arch);
    default:
        return fail(UF_ERR_ARGUMENT, "view %d is not one of machine code", (int)view);
    }
}

/* ---- Information ---- */

/* Writes that something is missing, and the message of the thread's error, indented. */
static void say_missing(text *out, const char *what) {
    const char *message = error_slot()->message;
    text_printf(out, "%-12s missing: ", what);
    for (; *message; message++) {
        text_add(out, message, 1);
        if (*message == '\n')
            text_puts(out, "             ");
    }
    text_puts(out, "\n");
}

static void say_driver(text *out) {
    cuda_device *d;
    if (cuda_open()) {
        say_missing(out, "CUDA driver");
        return;
    }
    int version = cuda_driver_version();
    text_printf(out, "%-12s %s, CUDA %d.%d\n", "CUDA driver", cuda_driver_path(), version / 1000, version % 1000 / 10);
    for (int i = 0; i < cuda_device_count() && !cuda_device_get(i, &d); i++)
        text_printf(out, "%-12s %d: %s, compute capability %d.%d, %d multiprocessors, %.1f GiB\n",
                    i ? "" : "CUDA devices", i, d->name, d->arch / 10, d->arch % 10, d->sms,
                    (double)d->memory / (1 << 30));
    if (!cuda_device_count())
        text_printf(out, "%-12s none\n", "CUDA devices");
}

static void say_toolkit(text *out) {
    const toolkit *kit;
    const char *data;
    size_t size;
    int major = 0, minor = 0, ir[4] = {0};
    if (toolkit_find(&kit)) {
        say_missing(out, "libnvvm");
        return;
    }
    kit->nvvmVersion(&major, &minor);
    kit->nvvmIRVersion(&ir[0], &ir[1], &ir[2], &ir[3]);
    text_printf(out, "%-12s %s, version %d.%d, IR %d.%d\n", "libnvvm", kit->nvvm_path, major, minor, ir[0], ir[1]);
    if (toolkit_libdevice(&data, &size))
        say_missing(out, "libdevice");
    else
        text_printf(out, "%-12s %s\n", "libdevice", toolkit_libdevice_path());
}

static void info(text *out) {
    /* What is missing is written to `out`, and is no error of this call: the thread's error is put back. */
    uf_error before = *error_slot();
    say_driver(out);
    say_toolkit(out);
    cublas_info(out);
    cusolver_info(out);
    *error_slot() = before;
}

/* svd itself gets here where its own code does not take the call. */
static lapack_routine svd_routine(int device, const lapack_problem *p) {
    cuda_device *d;
    bool own = p->form != LAPACK_SVD && !cuda_device_get(device, &d) && gpu_rotates(p->type, p->m, p->n, d->shared);
    return own ? ROUTINE_SVD_FUNCTION : cusolver_svd(p->m, p->n);
}

static int tile_narrow(const code_traits *traits) { return (void)traits, GPU_NARROW_MAX; }

const engine cuda_engine = {
    .name = "cuda",
    .target = target,
    .specialise = launch_specialise,
    .tiles_outputs = true,
    .tile_narrow = tile_narrow,
    .segments_inside = 1,
    .squares = true,
    .specialise_fold = launch_specialise_fold,
    .fold_chunk = launch_fold_chunk,
    .fold_scratch = gpu_scratch,
    .compile = code_compile,
    .release = code_release,
    .takes = cublas_takes,
    .launch = launch_run,
    .lapack_pays = cusolver_pays,
    .lapack_open = cusolver_open,
    .lapack_run = cusolver_run,
    .lapack_most = (size_t)1 << 28, /* routines take as long for some tens of matrices as for hundreds */
    .lapack_svd = svd_routine,
    .lapack_reflects = batched_reflects,
    .lapack_lands = cusolver_lands,
    .lapack_generates = true,
    .lapack_points = true,
    .launch_info = launch_info,
    .inspect = inspect,
    .alloc = memory_alloc,
    .free = memory_free,
    .scratch = memory_scratch,
    .scratch_free = memory_scratch_free,
    .copy = memory_copy,
    .sync = memory_sync,
    .info = info,
};
