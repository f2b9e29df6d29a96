/* nvvm.c - from IR text to PTX by libnvvm. libnvvm is documented as thread-safe; each compilation has a program of
 * its own. Only text of our own generators may reach it, as it ends the process on some IR that is invalid. */
#include <stdio.h>

#include "cuda/toolkit.h"

/* Architectures that libnvvm of some version of CUDA 12 or 13 knows, ascending. */
static const short architectures[] = {50, 52, 53, 60, 61,  62,  70,  72,  75,  80, 86,
                                      87, 88, 89, 90, 100, 101, 103, 110, 120, 121};

enum {
    MAX_OPTIONS = 8,
    MODERN = 100,    /* libnvvm's second dialect begins with this architecture */
    LOG_SHOWN = 1800 /* how many bytes of a compiler's log an error shows */
};

typedef struct options {
    int count;
    const char *list[MAX_OPTIONS];
    char arch[32];
} options;

static void options_make(options *o, int arch, unsigned fast, unsigned flags) {
    o->count = 0;
    snprintf(o->arch, sizeof o->arch, "-arch=compute_%d", arch);
    o->list[o->count++] = o->arch;
    o->list[o->count++] = fast & UF_FAST_CONTRACT ? "-fma=1" : "-fma=0";
    o->list[o->count++] = fast & UF_FAST_DIVIDE ? "-prec-div=0" : "-prec-div=1";
    o->list[o->count++] = fast & UF_FAST_DIVIDE ? "-prec-sqrt=0" : "-prec-sqrt=1";
    o->list[o->count++] = fast & UF_FAST_FLUSH ? "-ftz=1" : "-ftz=0";
    if (flags & (UF_DEBUG | UF_LINES))
        o->list[o->count++] = "-generate-line-info";
}

static uf_status nvvm_fail(const toolkit *kit, nvvm_program program, int result, const char *call, const char *entry) {
    size_t size = 0;
    char *log = NULL;
    if (result == NVVM_OUT_OF_MEMORY)
        return fail_memory();
    if (program && !kit->nvvmGetProgramLogSize(program, &size) && size > 1)
        log = mem_zero(1, size + 1);
    if (log && kit->nvvmGetProgramLog(program, log))
        *log = 0;
    bool cut = log && strlen(log) > LOG_SHOWN;
    uf_status s =
        fail(UF_ERR_COMPILE, "%s: %s, for the generated code of %s (%s)%s%.*s%s", call, kit->nvvmGetErrorString(result),
             entry, kit->nvvm_path, log && *log ? "\n" : "", LOG_SHOWN, log ? log : "", cut ? " .." : "");
    mem_free(log);
    return s;
}

#define NV(call, ...)                                                          \
    do {                                                                       \
        int nvvm_status = kit->call(__VA_ARGS__);                              \
        if (nvvm_status)                                                       \
            return nvvm_fail(kit, program, nvvm_status, #call, module->entry); \
    } while (0)

/* ---- What libnvvm knows ---- */

static const char empty_kernel[] = "target datalayout = \"e-i64:64-i128:128-v16:16-v32:32-n16:32:64\"\n"
                                   "target triple = \"nvptx64-nvidia-cuda\"\n"
                                   "define void @k() {\n  ret void\n}\n"
                                   "!nvvm.annotations = !{!0}\n"
                                   "!0 = !{void ()* @k, !\"kernel\", i32 1}\n"
                                   "!nvvmir.version = !{!1}\n"
                                   "!1 = !{i32 2, i32 0, i32 3, i32 2}\n";

/* Does libnvvm know an architecture? It is asked to verify an empty kernel, which takes 0.2 ms, or 10 us where it
 * refuses the option. */
static uf_status arch_known(const toolkit *kit, int arch, bool *known) {
    nvvm_program program = NULL;
    options o;
    options_make(&o, arch, 0, 0);
    int r = kit->nvvmCreateProgram(&program);
    if (!r)
        r = kit->nvvmAddModuleToProgram(program, empty_kernel, sizeof empty_kernel - 1, "k");
    if (!r)
        r = kit->nvvmVerifyProgram(program, 1, o.list);
    *known = r == 0;
    uf_status s =
        r && r != NVVM_INVALID_OPTION ? nvvm_fail(kit, program, r, "nvvmVerifyProgram", "an empty kernel") : UF_OK;
    if (program)
        kit->nvvmDestroyProgram(&program);
    return s;
}

uf_status nvvm_arch(int arch, int *best) {
    const toolkit *kit;
    bool known = false;
    *best = 0;
    TRY(toolkit_find(&kit));
    TRY(arch_known(kit, arch, &known));
    for (size_t i = COUNT(architectures); !known && i-- > 0;) {
        if (architectures[i] >= arch)
            continue;
        TRY(arch_known(kit, architectures[i], &known));
        arch = architectures[i];
    }
    *best = known ? arch : 0;
    return UF_OK;
}

/* ---- Compiling ---- */

/* Are libnvvm's passes left out? Without them its modern dialect leaves variables in memory. */
static bool without_passes(const code_module *module, int arch) { return module->settled && arch < MODERN; }

void ptx_raise_version(char *ptx) {
    static const char says[] = ".version 8.0";
    char *version = strstr(ptx, "st.async") ? strstr(ptx, says) : NULL;
    if (version)
        version[sizeof says - 2] = '1';
}

void ptx_stream_stores(text *out, const char *ptx) {
    static const char store[] = "st.global.";
    for (const char *next; (next = strstr(ptx, store)); ptx = next + sizeof store - 1)
        text_printf(out, "%.*s%scs.", (int)(next - ptx), ptx, store);
    text_puts(out, ptx);
}

static uf_status take_result(const toolkit *kit, nvvm_program program, const code_module *module, text *ptx) {
    size_t size = 0;
    NV(nvvmGetCompiledResultSize, program, &size); /* it includes the NUL */
    char *data = mem_zero(1, size + 1);
    if (!data)
        return fail_memory();
    int r = kit->nvvmGetCompiledResult(program, data);
    if (!r) {
        ptx_raise_version(data);
        if (module->streamed)
            ptx_stream_stores(ptx, data);
        else
            text_puts(ptx, data);
    }
    mem_free(data);
    if (r)
        return nvvm_fail(kit, program, r, "nvvmGetCompiledResult", module->entry);
    return ptx->failed ? fail_memory() : UF_OK;
}

static uf_status compile_program(const toolkit *kit, nvvm_program program, const code_module *module, int arch,
                                 text *ptx) {
    options o;
    options_make(&o, arch, module->fast, module->flags);
    if (without_passes(module, arch))
        o.list[o.count++] = "-opt=0";
    NV(nvvmAddModuleToProgram, program, module->ir.data, module->ir.length, module->entry);
    if (module->math) {
        const char *data;
        size_t size;
        TRY(toolkit_libdevice(&data, &size));
        /* This takes 8 ms, where nvvmAddModuleToProgram takes 71 ms. */
        NV(nvvmLazyAddModuleToProgram, program, data, size, "libdevice");
    }
    NV(nvvmCompileProgram, program, o.count, o.list);
    return take_result(kit, program, module, ptx);
}

/* Verifies a module without libdevice, about which the verifier would complain. Calls to libdevice then are calls of
 * declarations. */
static uf_status verify_program(const toolkit *kit, nvvm_program program, const code_module *module, int arch,
                                text *ptx) {
    options o;
    (void)ptx;
    options_make(&o, arch, module->fast, module->flags);
    NV(nvvmAddModuleToProgram, program, module->ir.data, module->ir.length, module->entry);
    NV(nvvmVerifyProgram, program, o.count, o.list);
    return UF_OK;
}

static uf_status with_program(const code_module *module, int arch, text *ptx,
                              uf_status (*run)(const toolkit *, nvvm_program, const code_module *, int, text *)) {
    const toolkit *kit;
    nvvm_program program = NULL;
    TRY(toolkit_find(&kit));
    if (module->ir.failed || !module->ir.data)
        return fail_memory();
    NV(nvvmCreateProgram, &program);
    uf_status s = run(kit, program, module, arch, ptx);
    kit->nvvmDestroyProgram(&program);
    return s;
}

uf_status nvvm_verify(const code_module *module, int arch) { return with_program(module, arch, NULL, verify_program); }

uf_status nvvm_compile(const code_module *module, int arch, text *ptx) {
    return with_program(module, arch, ptx, compile_program);
}
