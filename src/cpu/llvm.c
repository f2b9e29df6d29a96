/* llvm.c - finds and opens libLLVM. If UFUNC_LLVM, a file path, is set, that file is the only candidate. Else the
 * sonames of versions 22 to 14 are tried, newest first: a newer version knows more processors, makes shorter code, and
 * is not slower. (Time to open, and of the first and of later compilations of a float32 loop, in ms: LLVM 19: 14, 10.3,
 * 8.0; 16: 15, 10.6, 8.9; 15: 16, 13.2, 9.1; 14: 16, 12.8, 8.7; 22 as 19.) Where none of these is there, later versions
 * are looked for.
 *
 * A version later than those that libufunc is tested with must compile a small module first (llvm_trial.c). If it
 * does not, it is refused with the reason, unless UFUNC_LLVM_UNTRIED is 1. */
#if defined(__x86_64__)
#include <cpuid.h>
#endif
#include <dlfcn.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "cpu/llvm.h"

static const char *const sonames[] = {
    "libLLVM.so.22.1", "libLLVM-22.so",   "libLLVM.so.21.1", "libLLVM-21.so",   "libLLVM.so.20.1", "libLLVM-20.so",
    "libLLVM.so.19.1", "libLLVM-19.so.1", "libLLVM-19.so",   "libLLVM.so.18.1", "libLLVM-18.so.1", "libLLVM-18.so",
    "libLLVM-17.so.1", "libLLVM-17.so",   "libLLVM-16.so.1", "libLLVM-16.so",   "libLLVM-15.so.1", "libLLVM-15.so",
};

enum {
    LATER = 10 /* how many versions after the newest are looked for */
};

static const char *const functions[] = {
#define X(result, name, parameters) "LLVM" #name,
    LLVM_FUNCTIONS(X)
#undef X
};

static pthread_rwlock_t gate = PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP;
static pthread_once_t gate_once = PTHREAD_ONCE_INIT;
static pthread_mutex_t opening = PTHREAD_MUTEX_INITIALIZER;
static llvm library;
static _Atomic(const llvm *) opened;

static void fork_prepare(void) { pthread_rwlock_wrlock(&gate); }
static void fork_parent(void) { pthread_rwlock_unlock(&gate); }
static void fork_child(void) { gate = (pthread_rwlock_t)PTHREAD_RWLOCK_WRITER_NONRECURSIVE_INITIALIZER_NP; }
static void gate_watch(void) { pthread_atfork(fork_prepare, fork_parent, fork_child); }

void llvm_enter(void) {
    pthread_once(&gate_once, gate_watch);
    pthread_rwlock_rdlock(&gate);
}

void llvm_leave(void) { pthread_rwlock_unlock(&gate); }

/* LLVMGetVersion came with version 16. A function that came with 15 tells it from older ones. */
static void find_version(void *handle, llvm *l) {
    void (*get)(unsigned *, unsigned *, unsigned *) =
        (void (*)(unsigned *, unsigned *, unsigned *))(uintptr_t)dlsym(handle, "LLVMGetVersion");
    unsigned major = dlsym(handle, "LLVMOrcExecutionSessionLookup") ? 15 : 14, minor = 0, patch = 0;
    if (get)
        get(&major, &minor, &patch);
    snprintf(l->version, sizeof l->version, get ? "%u.%u.%u" : "%u", major, minor, patch);
    l->major = major;
}

/* Fills the table, with which the structure begins, one pointer a row in the order of `functions`. The name of the
 * first function that is missing, or NULL. */
static const char *bind(void *handle, llvm *l) {
    for (size_t k = 0; k < COUNT(functions); k++) {
        void *address = dlsym(handle, functions[k]);
        if (!address)
            return functions[k];
        memcpy((char *)l + k * sizeof address, &address, sizeof address);
    }
    Dl_info info;
    void *any = dlsym(handle, functions[0]);
    snprintf(l->path, sizeof l->path, "%s", dladdr(any, &info) && info.dli_fname ? info.dli_fname : "?");
    find_version(handle, l);
    return NULL;
}

static void stop(llvm *l) {
    l->DisposeMessage(l->triple);
    l->DisposeMessage(l->cpu);
}

/* What this processor has, but for SSE4a: LLVM puts its two shuffles, which have no form that leaves the rest of a vector's register alone,
 * among instructions that do, and each then takes a hundred cycles. False: there is no room for all. */
static bool find_features(llvm *l) {
    char *all = l->GetHostCPUFeatures();
    int length = snprintf(l->features, sizeof l->features, "%s,-sse4a", all);
    l->DisposeMessage(all);
    return length < (int)sizeof l->features;
}

/* Intel's processors from Skylake to Rocket Lake, by model. Since August 2023 their microcode lets nothing go on while an instruction gathers
 * (Gather Data Sampling, INTEL-SA-00828), and a guest is not told whether that of its host does. A guest may be told one of these models on a later
 * processor, which has half floats of AVX-512. */
static bool gathers_wait(void) {
#if defined(__x86_64__)
    enum {
        FEATURES = 7,     /* leaf of cpuid, .. */
        HALVES = 1 << 23, /* .. and bit in edx: AVX512_FP16 */
    };
    static const uint8_t models[] = {0x4E, 0x55, 0x5E, 0x66, 0x6A, 0x6C, 0x7D, 0x7E,
                                     0x8C, 0x8D, 0x8E, 0x9E, 0xA5, 0xA6, 0xA7};
    unsigned a, b, c, d;
    if (!__builtin_cpu_is("intel") || !__get_cpuid(1, &a, &b, &c, &d) || (a >> 8 & 0xF) != 6)
        return false;
    if (!memchr(models, (int)((a >> 12 & 0xF0) | (a >> 4 & 0xF)), sizeof models))
        return false;
    return !__get_cpuid_count(FEATURES, 0, &a, &b, &c, &d) || !(d & HALVES);
#else
    return false;
#endif
}

/* Processors of AMD with AVX-512 run an instruction that gathers or scatters as a program, which asks for no line ahead (gathers.c). */
static bool gathers_are_slow(void) {
#if defined(__x86_64__)
    __builtin_cpu_init();
    return __builtin_cpu_is("amd") || gathers_wait();
#else
    return false;
#endif
}

/* Starts the code generator for this processor and asks for its description. The reason why that failed, or NULL. */
static const char *start(llvm *l, char *reason, size_t size) {
    LLVM_START(l, TargetInfo);
    LLVM_START(l, Target);
    LLVM_START(l, TargetMC);
    LLVM_START(l, AsmPrinter);
    LLVM_START(l, AsmParser); /* without it, assembly in an IR text would end the process */
    l->triple = l->GetDefaultTargetTriple();
    char *message = NULL;
    if (l->GetTargetFromTriple(l->triple, &l->target, &message)) {
        snprintf(reason, size, "%s", message ? message : "no target for the host");
        l->DisposeMessage(message);
        l->DisposeMessage(l->triple);
        return reason;
    }
    l->cpu = l->GetHostCPUName();
    l->slow_gathers = gathers_are_slow();
    if (find_features(l))
        return NULL;
    stop(l);
    snprintf(reason, size, "describes this processor in more than %zu bytes", sizeof l->features);
    return reason;
}

static bool is_forced(void) {
    const char *value = secure_getenv("UFUNC_LLVM_UNTRIED");
    return value && !strcmp(value, "1");
}

/* Checks that a version can be used which is none of the tested ones. The reason why not, or NULL. Version 14 is no longer one of these:
 * where its vectoriser makes a second vector loop of what a first one leaves over, that loop may begin at element 0 again. */
static const char *check_version(llvm *l, char *reason, size_t size) {
    char why[256];
    if (l->major < LLVM_OLDEST) {
        snprintf(reason, size,
                 "is version %s, which compiles some loops wrongly; versions " LLVM_VERSIONS " are needed", l->version);
        stop(l);
        return reason;
    }
    if (l->major <= LLVM_NEWEST || is_forced() || !llvm_trial(l, why, sizeof why))
        return NULL;
    snprintf(reason, size,
             "version %s, which libufunc is not tested with (" LLVM_VERSIONS " are), %s; "
             "UFUNC_LLVM_UNTRIED=1 uses it all the same",
             l->version, why);
    stop(l);
    return reason;
}

/* Loops in which there is no other one begin at multiples of 32 bytes, in place of 16: a loop of a few instructions that lies across the
 * end of a line of the cache takes up to 1.6 times as long. The option is one of the whole library, so that it is set only where the
 * program did not load that for itself. Processors of other kinds, and versions that do not know it, leave it alone. */
static void set_options(const llvm *l) {
    static const char *const words[] = {"libufunc", "-x86-experimental-pref-innermost-loop-alignment=5"};
    l->ParseCommandLineOptions(COUNT(words), words, "");
}

/* Takes a library that was opened into use. own: nothing else in the process had it open. The reason why that failed, or NULL. */
static const char *take(void *handle, bool own, llvm *l, char *reason, size_t size) {
    const char *missing = bind(handle, l);
    if (missing) {
        snprintf(reason, size, "has no function %s; versions " LLVM_VERSIONS " are needed", missing);
        return reason;
    }
    if (own)
        set_options(l);
    const char *why = start(l, reason, size);
    return why ? why : check_version(l, reason, size);
}

/* Opens one file. If that fails, the file and the reason are added to `tried`, but for an optional file that is not
 * there. */
static bool try_file(const char *file, bool optional, llvm *l, text *tried) {
    char buffer[512];
    const char *reason;
    void *before = library_load(file, RTLD_NOLOAD, &reason), *handle = before ? before : library_load(file, 0, &reason);
    if (handle)
        reason = take(handle, !before, l, buffer, sizeof buffer);
    if (!reason)
        return true;
    if (handle)
        dlclose(handle);
    if (handle || !optional)
        text_printf(tried, "\n  %s: %s", file, reason);
    return false;
}

static bool search(llvm *l, text *tried) {
    const char *file = secure_getenv("UFUNC_LLVM");
    if (file && *file)
        return try_file(file, false, l, tried);
    for (size_t k = 0; k < COUNT(sonames); k++)
        if (try_file(sonames[k], false, l, tried))
            return true;
    for (int major = LLVM_NEWEST + 1; major <= LLVM_NEWEST + LATER; major++) {
        char later[32];
        snprintf(later, sizeof later, "libLLVM.so.%d.1", major);
        if (try_file(later, true, l, tried))
            return true;
    }
    return false;
}

/* Runs on a big stack: the loader, and what libLLVM does first, take much. */
static uf_status open_locked(void *unused) {
    (void)unused;
    if (atomic_load_explicit(&opened, memory_order_acquire))
        return UF_OK;
    text tried = {0};
    uf_status status = UF_OK;
    if (search(&library, &tried))
        atomic_store_explicit(&opened, &library, memory_order_release);
    else if (tried.failed)
        status = fail_memory();
    else
        status = fail(
            UF_ERR_LIBRARY,
            "libLLVM, version " LLVM_VERSIONS ", is needed to compile for the CPU. Tried:%s\n"
            "UFUNC_LLVM=<file> names the file to use. To install one: apt-get install libllvm15 (or a newer one, to "
            "libllvm22)",
            tried.data);
    text_free(&tried);
    return status;
}

uf_status llvm_open(const llvm **out) {
    uf_status status = UF_OK;
    *out = atomic_load_explicit(&opened, memory_order_acquire);
    if (*out)
        return UF_OK;
    llvm_enter();
    pthread_mutex_lock(&opening);
    status = on_big_stack(open_locked, NULL);
    pthread_mutex_unlock(&opening);
    llvm_leave();
    *out = atomic_load_explicit(&opened, memory_order_acquire);
    return status;
}
