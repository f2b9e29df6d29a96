/* simcuda.c - a GPU that is not there, for the library as a whole: the mock driver (mock/mockcuda.c) and a libnvvm in one library, which
 * UFUNC_CUDA_DRIVER and UFUNC_NVVM name. What this libnvvm makes of a module is its text behind a few lines that look like PTX, and the
 * simulated GPU (gpu_sim.h) runs that at each launch. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>

#include "engine.h"

#include "draw.h"
#include "gpu_sim.h"
#include "mockcuda.h"

#pragma GCC diagnostic ignored "-Wmissing-prototypes" /* the symbols are libnvvm's */

#define API __attribute__((visibility("default")))

static const char name_mark[] = "//name ", text_mark[] = "//text\n";

/* ---- libnvvm ---- */

typedef struct program {
    text ir, ptx;
    char name[64];
} program;

API int nvvmVersion(int *major, int *minor) {
    *major = 2;
    *minor = 0;
    return 0;
}

API int nvvmIRVersion(int *major, int *minor, int *debug_major, int *debug_minor) {
    *major = *debug_minor = 2;
    *minor = 0;
    *debug_major = 3;
    return 0;
}

API int nvvmCreateProgram(program **p) {
    *p = calloc(1, sizeof **p);
    return *p ? 0 : 1;
}

API int nvvmDestroyProgram(program **p) {
    text_free(&(*p)->ir);
    text_free(&(*p)->ptx);
    free(*p);
    *p = NULL;
    return 0;
}

API int nvvmAddModuleToProgram(program *p, const char *ir, size_t size, const char *name) {
    text_add(&p->ir, ir, size);
    snprintf(p->name, sizeof p->name, "%s", name);
    return 0;
}

API int nvvmLazyAddModuleToProgram(program *p, const char *ir, size_t size, const char *name) {
    (void)p, (void)ir, (void)size, (void)name; /* libdevice */
    return 0;
}

API int nvvmVerifyProgram(program *p, int n, const char **options) {
    (void)p, (void)n, (void)options;
    return 0;
}

/* The parameters of the kernel, and the threads of a block, are what the driver reads. */
API int nvvmCompileProgram(program *p, int n, const char **options) {
    static const char most_mark[] = "maxntidx\", i32 ";
    char head[128];
    (void)n, (void)options;
    snprintf(head, sizeof head, "define void @%s(", p->name);
    const char *from = strstr(p->ir.data, head), *end = from ? strstr(from, ") nounwind") : NULL,
               *most = strstr(p->ir.data, most_mark);
    text_printf(&p->ptx, ".version 8.0\n.visible .entry %s(", p->name);
    for (const char *at = from; end && (at = strstr(at, " %w")) && at < end; at++)
        text_puts(&p->ptx, " .param .u64 p");
    text_printf(&p->ptx, ")\n.maxntid %d\n%s%s\n%s", most ? atoi(most + strlen(most_mark)) : BLOCK_MAX, name_mark,
                p->name, text_mark);
    text_add(&p->ptx, p->ir.data, p->ir.length);
    return p->ptx.failed ? 1 : 0;
}

API int nvvmGetCompiledResultSize(program *p, size_t *size) {
    *size = p->ptx.length + 1;
    return 0;
}

API int nvvmGetCompiledResult(program *p, char *out) {
    memcpy(out, p->ptx.data, p->ptx.length + 1);
    return 0;
}

API int nvvmGetProgramLogSize(program *p, size_t *size) {
    (void)p;
    *size = 1;
    return 0;
}

API int nvvmGetProgramLog(program *p, char *out) {
    (void)p;
    *out = 0;
    return 0;
}

API const char *nvvmGetErrorString(int error) {
    (void)error;
    return "an error of the simulated libnvvm";
}

/* ---- Launches ---- */

static void simulate(const mock_launch *l) {
    static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
    code_module m = {.flags = 0};
    pthread_mutex_lock(&lock);
    sscanf(strstr(l->ptx, name_mark) + strlen(name_mark), "%63s", m.entry);
    text_puts(&m.ir, strstr(l->ptx, text_mark) + strlen(text_mark));
    const char *wrong = sim_run(&m, l->words, (int)(l->bytes / 8), (int)l->blocks, (int)l->threads);
    if (wrong) {
        fprintf(stderr, "simcuda: %s: %s\n", m.entry, wrong);
        abort();
    }
    text_free(&m.ir);
    pthread_mutex_unlock(&lock);
}

const mock_functions *mock_control(void);

__attribute__((constructor)) static void begin(void) {
    const char *seed = getenv("UF_SEED");
    draw_state = (seed ? strtoull(seed, NULL, 0) : 1) | 1;
    mock_control()->on_launch(simulate);
}
