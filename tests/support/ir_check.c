/* ir_check.c - see ir_check.h. LLVM's C interface by dlopen, one library beside the other. */
#include "ir_check.h"

#include <dlfcn.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include <cmocka.h> /* after base.h: it has a macro named fail */

#if defined(__aarch64__)
#define HOST "AArch64"
#else
#define HOST "X86"
#endif

enum {
    NAMES = 8,
    TEXT = 1 << 22
};

typedef struct judge {
    const char *name;
    void *library;
    bool started;
} judge;

static judge judges[NAMES];
static int count = -1;
static char complaint[16384], dump[TEXT];

static void *function_of(const judge *j, const char *name) {
    void *f = dlsym(j->library, name);
    if (!f) {
        fprintf(stderr, "%s has no %s\n", j->name, name);
        abort();
    }
    return f;
}

/* FUNCTION(j, "LLVMName", result type, (parameter types))(arguments ..) */
#define FUNCTION(j, name, result, types) ((result(*) types)(uintptr_t)function_of(j, name))

int judge_count(void) {
    static const char *const names[] = {"libLLVM-15.so.1", "libLLVM-16.so.1", "libLLVM-17.so.1", "libLLVM-18.so.1",
                                        "libLLVM.so.19.1"};
    if (count >= 0)
        return count;
    count = 0;
    for (size_t i = 0; i < COUNT(names); i++) {
        void *library = dlopen(names[i], RTLD_NOW | RTLD_LOCAL);
        if (library)
            judges[count++] = (judge){.name = names[i], .library = library};
    }
    return count;
}

const char *judge_name(int i) { return judges[i].name; }

static void complain(const char *what, const char *why) { snprintf(complaint, sizeof complaint, "%s: %s", what, why); }

static void drop_text(const judge *j, char *message) {
    if (message)
        FUNCTION(j, "LLVMDisposeMessage", void, (char *))(message);
}

/* A module in a context of its own, and the machine it is compiled for. */
typedef struct work {
    const judge *j;
    void *context, *module, *machine;
} work;

static void drop_work(work *w) {
    if (w->module)
        FUNCTION(w->j, "LLVMDisposeModule", void, (void *))(w->module);
    if (w->context)
        FUNCTION(w->j, "LLVMContextDispose", void, (void *))(w->context);
    if (w->machine)
        FUNCTION(w->j, "LLVMDisposeTargetMachine", void, (void *))(w->machine);
    *w = (work){0};
}

/* The module of a text, verified; without module, and a complaint, otherwise. */
static work parse(const judge *j, const char *ir) {
    work w = {.j = j};
    char *message = NULL;
    w.context = FUNCTION(j, "LLVMContextCreate", void *, (void))();
    void *buffer = FUNCTION(j, "LLVMCreateMemoryBufferWithMemoryRangeCopy", void *,
                            (const char *, size_t, const char *))(ir, strlen(ir), "text");
    int failed = FUNCTION(j, "LLVMParseIRInContext", int, (void *, void *, void **, char **))(w.context, buffer,
                                                                                              &w.module, &message);
    if (failed)
        complain("parse", message);
    drop_text(j, message);
    message = NULL;
    if (!failed && FUNCTION(j, "LLVMVerifyModule", int, (void *, int, char **))(w.module, 2, &message)) {
        complain("verify", message);
        FUNCTION(j, "LLVMDisposeModule", void, (void *))(w.module);
        w.module = NULL;
    }
    drop_text(j, message);
    return w;
}

const char *judge_ir(int i, const char *ir) {
    work w = parse(&judges[i], ir);
    bool good = w.module;
    drop_work(&w);
    return good ? NULL : complaint;
}

static void start(judge *j) {
    if (j->started)
        return;
    FUNCTION(j, "LLVMInitialize" HOST "TargetInfo", void, (void))();
    FUNCTION(j, "LLVMInitialize" HOST "Target", void, (void))();
    FUNCTION(j, "LLVMInitialize" HOST "TargetMC", void, (void))();
    FUNCTION(j, "LLVMInitialize" HOST "AsmPrinter", void, (void))();
    FUNCTION(j, "LLVMLinkInMCJIT", void, (void))();
    j->started = true;
}

static void die(const judge *j, const char *why) {
    fprintf(stderr, "%s: %s\n", j->name, why);
    abort();
}

static void *machine_of(const judge *j, const char *cpu, const char *features) {
    char *triple = FUNCTION(j, "LLVMGetDefaultTargetTriple", char *, (void))(), *message = NULL;
    void *target = NULL;
    if (FUNCTION(j, "LLVMGetTargetFromTriple", int, (const char *, void **, char **))(triple, &target, &message))
        die(j, message);
    void *machine = FUNCTION(j, "LLVMCreateTargetMachine", void *,
                             (void *, const char *, const char *, const char *, int, int, int))(target, triple, cpu,
                                                                                                features, 3, 2, 3);
    drop_text(j, triple);
    return machine;
}

static void optimise(work *w, const char *cpu, const char *features, const char *passes) {
    const judge *j = w->j;
    w->machine = machine_of(j, cpu, features);
    char *triple = FUNCTION(j, "LLVMGetTargetMachineTriple", char *, (void *))(w->machine);
    FUNCTION(j, "LLVMSetTarget", void, (void *, const char *))(w->module, triple);
    drop_text(j, triple);
    void *layout = FUNCTION(j, "LLVMCreateTargetDataLayout", void *, (void *))(w->machine);
    FUNCTION(j, "LLVMSetModuleDataLayout", void, (void *, void *))(w->module, layout);
    FUNCTION(j, "LLVMDisposeTargetData", void, (void *))(layout);
    void *options = FUNCTION(j, "LLVMCreatePassBuilderOptions", void *, (void))();
    if (FUNCTION(j, "LLVMRunPasses", void *, (void *, const char *, void *, void *))(w->module, passes, w->machine,
                                                                                     options))
        die(j, "passes failed");
    FUNCTION(j, "LLVMDisposePassBuilderOptions", void, (void *))(options);
}

static work parse_or_die(judge *j, const char *ir) {
    start(j);
    work w = parse(j, ir);
    if (!w.module) {
        fprintf(stderr, "%s\n", ir);
        die(j, complaint);
    }
    return w;
}

/* MCJIT takes the host's features from nowhere else. */
static void set_attributes(const work *w, const char *cpu, const char *features) {
    const judge *j = w->j;
    const char *keys[] = {"target-cpu", "target-features"}, *values[] = {cpu, features};
    void *f = FUNCTION(j, "LLVMGetFirstFunction", void *, (void *))(w->module);
    for (; f; f = FUNCTION(j, "LLVMGetNextFunction", void *, (void *))(f))
        for (int k = 0; k < 2; k++) {
            void *attribute = FUNCTION(j, "LLVMCreateStringAttribute", void *,
                                       (void *, const char *, unsigned, const char *, unsigned))(
                w->context, keys[k], (unsigned)strlen(keys[k]), values[k], (unsigned)strlen(values[k]));
            FUNCTION(j, "LLVMAddAttributeAtIndex", void, (void *, unsigned, void *))(f, (unsigned)-1, attribute);
        }
}

struct judged {
    work w; /* its module is the JIT's */
    void *jit;
};

static void map_symbols(const work *w, void *jit, const code_module *m) {
    for (int k = 0; k < m->nsymbols; k++) {
        const code_symbol *s = &m->symbols[k];
        void *f = FUNCTION(w->j, "LLVMGetNamedFunction", void *, (void *, const char *))(w->module, s->name);
        if (!f)
            continue;
        void (*add)(void *, void *, void *) = FUNCTION(w->j, "LLVMAddGlobalMapping", void, (void *, void *, void *));
        add(jit, f, (void *)(uintptr_t)s->address);
    }
}

judged *judge_compile(int i, const code_module *m, int level) {
    judge *j = &judges[i];
    work w = parse_or_die(j, m->ir.data);
    void *jit = NULL;
    char *message = NULL, passes[] = "default<O3>";
    passes[9] = (char)('0' + level);
    char *cpu = FUNCTION(j, "LLVMGetHostCPUName", char *, (void))();
    char *features = FUNCTION(j, "LLVMGetHostCPUFeatures", char *, (void))();
    set_attributes(&w, cpu, features);
    optimise(&w, cpu, features, passes);
    drop_text(j, cpu);
    drop_text(j, features);
    struct { /* LLVMMCJITCompilerOptions */
        unsigned level;
        int model, no_frame, fast_select;
        void *manager;
    } options;
    FUNCTION(j, "LLVMInitializeMCJITCompilerOptions", void, (void *, size_t))(&options, sizeof options);
    options.level = (unsigned)level;
    if (FUNCTION(j, "LLVMCreateMCJITCompilerForModule", int,
                 (void **, void *, void *, size_t, char **))(&jit, w.module, &options, sizeof options, &message))
        die(j, message);
    map_symbols(&w, jit, m);
    w.module = NULL;
    judged *result = malloc(sizeof *result);
    *result = (judged){w, jit};
    return result;
}

uintptr_t judge_address(const judged *from, const char *function) {
    return (uintptr_t)FUNCTION(from->w.j, "LLVMGetFunctionAddress", uint64_t, (void *, const char *))(from->jit,
                                                                                                      function);
}

void judge_free(judged *from) {
    if (!from)
        return;
    FUNCTION(from->w.j, "LLVMDisposeExecutionEngine", void, (void *))(from->jit);
    drop_work(&from->w);
    free(from);
}

const char *judge_assembly(int i, const char *ir, const char *cpu, const char *features) {
    judge *j = &judges[i];
    work w = parse_or_die(j, ir);
    void *buffer = NULL;
    char *message = NULL;
    optimise(&w, cpu, features, "default<O3>");
    if (FUNCTION(j, "LLVMTargetMachineEmitToMemoryBuffer", int,
                 (void *, void *, int, char **, void **))(w.machine, w.module, 0, &message, &buffer))
        die(j, message);
    snprintf(dump, sizeof dump, "%.*s", (int)FUNCTION(j, "LLVMGetBufferSize", size_t, (void *))(buffer),
             FUNCTION(j, "LLVMGetBufferStart", const char *, (void *))(buffer));
    FUNCTION(j, "LLVMDisposeMemoryBuffer", void, (void *))(buffer);
    drop_work(&w);
    return dump;
}

const char *judge_optimised(int i, const char *ir, const char *cpu, const char *features) {
    judge *j = &judges[i];
    work w = parse_or_die(j, ir);
    optimise(&w, cpu, features, "default<O3>");
    char *all = FUNCTION(j, "LLVMPrintModuleToString", char *, (void *))(w.module);
    snprintf(dump, sizeof dump, "%s", all);
    drop_text(j, all);
    drop_work(&w);
    return dump;
}

/* ---- libNVVM ---- */

static judge nvvm_judge_of = {.name = "libnvvm"};
static const char *root;

static bool readable(const char *directory, const char *name) {
    char path[512];
    snprintf(path, sizeof path, "%s/%s", directory, name);
    return !access(path, R_OK);
}

int shared_bytes(const char *ir) {
    static const char array[] = "addrspace(3) global [";
    static const struct {
        const char *type;
        int bytes;
    } types[] = {{"i8", 1}, {"i16", 2}, {"i32", 4}, {"i64", 8}, {"float", 4}, {"double", 8}};
    int bytes = 0;
    for (const char *at = ir; (at = strstr(at, array));) {
        char *end, *type;
        long n = strtol(at + strlen(array), &end, 10);
        type = end + strlen(" x ");
        for (size_t i = 0; i < COUNT(types); i++)
            if (!strncmp(type, types[i].type, strlen(types[i].type)) && type[strlen(types[i].type)] == ']')
                bytes += (int)n * types[i].bytes;
        at = type;
    }
    return bytes;
}

bool nvvm_found(void) {
    static const char *const roots[] = {"/usr/local/cuda", "/usr/local/cuda-13.0", "/usr/local/cuda-12"};
    static const char *const names[] = {"nvvm/lib64/libnvvm.so", "lib/libnvvm.so.4", "lib64/libnvvm.so.4"};
    const char *given = getenv("UFUNC_NVVM");
    if (nvvm_judge_of.library)
        return true;
    for (size_t r = 0; r < COUNT(roots) && !nvvm_judge_of.library; r++)
        for (size_t n = 0; n < COUNT(names) && !nvvm_judge_of.library; n++) {
            char path[512];
            snprintf(path, sizeof path, "%s/%s", roots[r], names[n]);
            root = roots[r];
            nvvm_judge_of.library = dlopen(given ? given : path, RTLD_NOW | RTLD_LOCAL);
        }
    return nvvm_judge_of.library != NULL;
}

bool ptxas_found(void) { return nvvm_found() && readable(root, "bin/ptxas"); }

static bool nvvm_fails(const char *step, int status, void *program) {
    static char log[8192];
    size_t size = 0;
    if (!status)
        return false;
    log[0] = 0;
    FUNCTION(&nvvm_judge_of, "nvvmGetProgramLogSize", int, (void *, size_t *))(program, &size);
    if (size && size < sizeof log)
        FUNCTION(&nvvm_judge_of, "nvvmGetProgramLog", int, (void *, char *))(program, log);
    complain(step, log);
    return true;
}

static bool add_libdevice(void *program) {
    static char *bitcode; /* stays */
    static size_t size;
    if (!bitcode) {
        char path[512];
        const char *given = getenv("UFUNC_LIBDEVICE");
        snprintf(path, sizeof path, "%s/nvvm/libdevice/libdevice.10.bc", root);
        FILE *f = fopen(given ? given : path, "rb");
        if (!f)
            return false;
        bitcode = malloc(1 << 20);
        size = fread(bitcode, 1, 1 << 20, f);
        fclose(f);
    }
    return !FUNCTION(&nvvm_judge_of, "nvvmLazyAddModuleToProgram", int,
                     (void *, const char *, size_t, const char *))(program, bitcode, size, "libdevice");
}

static const char *assemble(const char *ptx, int arch) {
    char input[64], command[512];
    snprintf(input, sizeof input, "/tmp/uf_judge_%d.ptx", (int)getpid());
    FILE *f = fopen(input, "w");
    if (!f)
        return "cannot write PTX";
    fputs(ptx, f);
    fclose(f);
    snprintf(command, sizeof command, "%s/bin/ptxas -arch=sm_%d -o /dev/null %s > %s.log 2>&1", root, arch, input,
             input);
    int status = system(command);
    if (status) {
        snprintf(command, sizeof command, "%s.log", input);
        FILE *log = fopen(command, "r");
        char why[4096] = "";
        if (log) {
            size_t n = fread(why, 1, sizeof why - 1, log);
            why[n] = 0;
            fclose(log);
        }
        complain("ptxas", why);
    }
    unlink(input);
    snprintf(command, sizeof command, "%s.log", input);
    unlink(command);
    return status ? complaint : NULL;
}

/* Leaves the PTX in dump. */
static bool nvvm_compiles(const code_module *m, int arch, void *program) {
    const judge *j = &nvvm_judge_of;
    size_t size = 0;
    char option[32];
    snprintf(option, sizeof option, "-arch=compute_%d", arch);
    const char *options[] = {option, "-fma=0", "-generate-line-info"};
    int n = m->flags & UF_DEBUG ? 3 : 2;
    int (*add)(void *, const char *, size_t, const char *) =
        FUNCTION(j, "nvvmAddModuleToProgram", int, (void *, const char *, size_t, const char *));
    int (*verify)(void *, int, const char **) = FUNCTION(j, "nvvmVerifyProgram", int, (void *, int, const char **));
    int (*compile)(void *, int, const char **) = FUNCTION(j, "nvvmCompileProgram", int, (void *, int, const char **));
    if (nvvm_fails("add", add(program, m->ir.data, m->ir.length, "kernel"), program) ||
        nvvm_fails("verify", verify(program, n, options), program))
        return false;
    if (m->math && !add_libdevice(program)) {
        complain("libdevice", "not found");
        return false;
    }
    if (nvvm_fails("compile", compile(program, n, options), program))
        return false;
    FUNCTION(j, "nvvmGetCompiledResultSize", int, (void *, size_t *))(program, &size);
    if (size > sizeof dump) {
        complain("PTX", "too long for the test");
        return false;
    }
    FUNCTION(j, "nvvmGetCompiledResult", int, (void *, char *))(program, dump);
    return true;
}

const char *nvvm_judge(const code_module *m, int arch, bool with_ptxas, const char **ptx) {
    void *program = NULL;
    FUNCTION(&nvvm_judge_of, "nvvmCreateProgram", int, (void **))(&program);
    bool good = nvvm_compiles(m, arch, program);
    FUNCTION(&nvvm_judge_of, "nvvmDestroyProgram", int, (void **))(&program);
    if (!good)
        return complaint;
    if (ptx)
        *ptx = dump;
    return with_ptxas && ptxas_found() ? assemble(dump, arch) : NULL;
}

/* What PTX must not say: functions from elsewhere; compiled without optimisation for the sake of a debugger. */
static const char *nvvm_slip(const code_module *m, const char *ptx) {
    if (m->flags & UF_DEBUG && !strstr(ptx, ".loc"))
        return "no line information";
    return strstr(ptx, ".extern .func") ? strstr(ptx, ".extern .func") : strstr(ptx, ", debug");
}

/* Code for one architecture is compiled for older ones too, but for instructions that these do not have: conversions to bfloat16, and
 * copies from memory to shared memory. */
static bool has_instructions(int arch, const code_module *m) {
    return arch >= 80 || (!strstr(m->ir.data, "cvt.rn.bf16.f32") && !strstr(m->ir.data, "cp.async"));
}

bool judge_accept(const code_module *m, const code_target *target, unsigned how, uint64_t turn) {
    static const int archs[] = {75, 90, 100, 120};
    for (int i = 0; i < judge_count(); i++) {
        const char *wrong = judge_ir(i, m->ir.data);
        if (wrong) {
            fprintf(stderr, "%s\n%s: %s\n", m->ir.data, judge_name(i), wrong);
            return false;
        }
    }
    size_t step = how & JUDGE_ONE_ARCH ? COUNT(archs) : 1, first = how & JUDGE_ONE_ARCH ? turn % COUNT(archs) : 0;
    for (size_t k = first; target->gpu && nvvm_found() && k < COUNT(archs); k += step) {
        if (!has_instructions(archs[k], m))
            continue;
        const char *ptx = "", *wrong = nvvm_judge(m, archs[k], how & JUDGE_ASSEMBLE, &ptx);
        if (!wrong)
            wrong = nvvm_slip(m, ptx);
        if (wrong) {
            fprintf(stderr, "%s\ncompute_%d: %s\n", m->ir.data, archs[k], wrong);
            return false;
        }
    }
    return true;
}

code_target judge_host(void) {
    code_target host = {.vector_bits = 128};
#if defined(__x86_64__)
    host.vector_bits = __builtin_cpu_supports("avx512f") ? 512 : __builtin_cpu_supports("avx2") ? 256 : 128;
    host.f16c = __builtin_cpu_supports("avx2");
#endif
    return host;
}

void judge_golden(const char *file, code_module *module) {
    const text *ir = &module->ir;
    char path[128];
    snprintf(path, sizeof path, "tests/ir/%s.ll", file);
    FILE *f = getenv("UF_BLESS") ? fopen(path, "w") : NULL;
    if (f) {
        fwrite(ir->data, 1, ir->length, f);
        fclose(f);
    }
    f = fopen(path, "r");
    if (!f)
        fail_msg("%s is missing; run from the repository's root", path);
    char *golden = calloc(1, ir->length + 2);
    size_t n = fread(golden, 1, ir->length + 1, f);
    bool same = n == ir->length && !memcmp(golden, ir->data, n);
    fclose(f);
    free(golden);
    if (!same)
        fputs(ir->data, stderr);
    text_free(&module->ir);
    if (!same)
        fail_msg("%s differs; look, then UF_BLESS=1", path);
}
