/* jit.c - from IR text through LLVM's passes (passes.c) for this processor to object code, which is linked and looked
 * up. All of this happens when code is compiled, so that a launch is a call. One LLJIT serves the process. Each piece
 * of code has an entry of a unique name, and a resource tracker; removing the tracker frees the memory of the code.
 * Symbols are absolute addresses: those that the module lists, and those of `builtins`. What an object needs is read
 * from its symbol table, so that the process is never searched for a name.
 *
 * Code is static and has the JIT's (large) code model: every reference is a full address, so that code, constants
 * and libm may lie anywhere. */
#include <math.h>
#include <pthread.h>
#include <stdio.h>

#include "cpu/cpu.h"
#include "cpu/llvm.h"

/* What LLVM may call by itself: functions that move blocks, and those that it makes of intrinsics or of calls to
 * libm. */
/* clang-format off */
#define BUILTIN(name) {#name, (const void *)(uintptr_t)name}
#define BUILTIN_MATH(name) BUILTIN(name), BUILTIN(name##f)
static const code_symbol builtins[] = {
    BUILTIN(memcpy), BUILTIN(memmove), BUILTIN(memset), BUILTIN(memcmp),
    BUILTIN_MATH(acos), BUILTIN_MATH(asin), BUILTIN_MATH(atan), BUILTIN_MATH(atan2), BUILTIN_MATH(cbrt),
    BUILTIN_MATH(ceil), BUILTIN_MATH(cos), BUILTIN_MATH(cosh), BUILTIN_MATH(exp), BUILTIN_MATH(exp10),
    BUILTIN_MATH(exp2), BUILTIN_MATH(floor), BUILTIN_MATH(fma), BUILTIN_MATH(fmax), BUILTIN_MATH(fmin),
    BUILTIN_MATH(fmod), BUILTIN_MATH(ldexp), BUILTIN_MATH(llrint), BUILTIN_MATH(llround), BUILTIN_MATH(log),
    BUILTIN_MATH(log10), BUILTIN_MATH(log2), BUILTIN_MATH(lrint), BUILTIN_MATH(lround), BUILTIN_MATH(nearbyint),
    BUILTIN_MATH(pow), BUILTIN_MATH(rint), BUILTIN_MATH(round), BUILTIN_MATH(roundeven), BUILTIN_MATH(sin),
    BUILTIN_MATH(sincos), BUILTIN_MATH(sinh), BUILTIN_MATH(sqrt), BUILTIN_MATH(tan), BUILTIN_MATH(tanh),
    BUILTIN_MATH(trunc),
};
/* clang-format on */

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* taken between llvm_enter and llvm_leave */
static llvm_jit jit;
static map defined; /* name -> address of each absolute symbol that is defined */
static _Atomic uint64_t serial;

/* Target machines that no compilation uses. To describe the processor to a new one takes a millisecond. */
static struct {
    llvm_machine list[16];
    int count;
} idle;

/* One compilation. */
typedef struct job {
    const llvm *l;
    const code_module *source;
    llvm_context context;
    llvm_module module;
    llvm_machine machine;
    llvm_buffer output;
    char entry[96];
    text diagnostics; /* errors that LLVM reported to its handler */
} job;

/* ---- Messages ---- */

static uf_status refuse(const job *j, const char *what, const char *message) {
    size_t length = message ? strlen(message) : 0;
    while (length && message[length - 1] == '\n')
        length--;
    return fail(UF_ERR_COMPILE, "LLVM %s, kernel '%s': %s: %.*s", j->l->version, j->source->entry, what, (int)length,
                message ? message : "");
}

/* Frees the message. */
static uf_status refuse_text(const job *j, const char *what, char *message) {
    uf_status status = refuse(j, what, message);
    j->l->DisposeMessage(message);
    return status;
}

/* Frees the error. */
static uf_status refuse_error(const job *j, const char *what, llvm_error error) {
    if (!error)
        return UF_OK;
    char *message = j->l->GetErrorMessage(error);
    uf_status status = refuse(j, what, message);
    j->l->DisposeErrorMessage(message);
    return status;
}

static void on_diagnostic(llvm_diagnostic diagnostic, void *user) {
    job *j = user;
    if (j->l->GetDiagInfoSeverity(diagnostic) != LLVM_SEVERITY_ERROR)
        return;
    char *description = j->l->GetDiagInfoDescription(diagnostic);
    text_printf(&j->diagnostics, "%s%s", j->diagnostics.length ? "\n" : "", description);
    j->l->DisposeMessage(description);
}

/* What ORC reports here it also returns, so that it is only freed. */
static void on_session_error(void *user, llvm_error error) { ((const llvm *)user)->ConsumeError(error); }

/* ---- From text to an object or assembly ---- */

static uf_status job_parse(job *j) {
    const llvm *l = j->l;
    const text *ir = &j->source->ir;
    char *message = NULL;
    j->context = l->ContextCreate();
    l->ContextSetDiagnosticHandler(j->context, on_diagnostic, j);
    llvm_buffer input = l->CreateMemoryBufferWithMemoryRange(ir->data ? ir->data : "", ir->length, "kernel", 1);
    if (l->ParseIRInContext(j->context, input, &j->module, &message)) /* it takes the buffer */
        return refuse_text(j, "cannot read the generated code", message);
    bool broken = l->VerifyModule(j->module, LLVM_RETURN_STATUS, &message);
    if (broken)
        return refuse_text(j, "the generated code is not valid", message);
    l->DisposeMessage(message);
    return UF_OK;
}

/* Gives the entry a name that is unique in the process. */
static uf_status job_rename(job *j) {
    llvm_value entry = j->l->GetNamedFunction(j->module, j->source->entry);
    if (!entry || j->l->IsDeclaration(entry))
        return refuse(j, "no such function is defined in the generated code", "");
    uint64_t n = atomic_fetch_add_explicit(&serial, 1, memory_order_relaxed);
    int length = snprintf(j->entry, sizeof j->entry, "%s.%llu", j->source->entry, (unsigned long long)n);
    j->l->SetValueName2(entry, j->entry, (size_t)length);
    return UF_OK;
}

/* Asks for unwind information at every instruction, so that debuggers find a kernel's caller wherever it stopped. No
 * instruction changes. */
static void ask_for_frames(const job *j, llvm_value function) {
    static const char name[] = "uwtable";
    unsigned kind = j->l->GetEnumAttributeKindForName(name, sizeof name - 1);
    j->l->AddAttributeAtIndex(function, LLVM_FUNCTION_INDEX,
                              j->l->CreateEnumAttribute(j->context, kind, LLVM_UNWIND_ANYWHERE));
}

/* LLVM 15 frees names of parameters twice where the context discards names. */
static void unname_parameters(const job *j, llvm_value function) {
    for (llvm_value p = j->l->GetFirstParam(function); p; p = j->l->GetNextParam(p))
        j->l->SetValueName2(p, "", 0);
}

/* Values that passes make get no names, which nobody reads: making them took 3 % of the time to compile. */
static void job_prepare(job *j) {
    const llvm *l = j->l;
    for (llvm_value f = l->GetFirstFunction(j->module); f; f = l->GetNextFunction(f)) {
        unname_parameters(j, f);
        if (!l->IsDeclaration(f))
            ask_for_frames(j, f);
    }
    l->ContextSetDiscardValueNames(j->context, 1);
}

static llvm_machine machine_take(const llvm *l) {
    pthread_mutex_lock(&lock);
    llvm_machine machine = idle.count ? idle.list[--idle.count] : NULL;
    pthread_mutex_unlock(&lock);
    return machine ? machine
                   : l->CreateTargetMachine(l->target, l->triple, l->cpu, l->features, LLVM_CODEGEN_AGGRESSIVE,
                                            LLVM_RELOC_STATIC, LLVM_CODE_MODEL_JIT);
}

static void machine_give(const llvm *l, llvm_machine machine) {
    pthread_mutex_lock(&lock);
    bool kept = idle.count < (int)COUNT(idle.list);
    if (kept)
        idle.list[idle.count++] = machine;
    pthread_mutex_unlock(&lock);
    if (!kept)
        l->DisposeTargetMachine(machine);
}

static uf_status job_optimise(job *j) {
    const llvm *l = j->l;
    j->machine = machine_take(l);
    if (!j->machine)
        return refuse(j, "no code generator for this host", l->triple);
    llvm_layout layout = l->CreateTargetDataLayout(j->machine);
    l->SetTarget(j->module, l->triple);
    l->SetModuleDataLayout(j->module, layout);
    l->DisposeTargetData(layout);
    llvm_passes passes = j->source->plain           ? PASSES_PLAIN
                         : j->source->outer_vectors ? PASSES_OF_RUNS
                         : j->source->straight      ? PASSES_STRAIGHT
                                                    : PASSES_OF_VECTORS;
    return refuse_error(j, "optimisation", llvm_optimise(l, j->module, j->machine, passes));
}

static uf_status job_emit(job *j, int type) {
    char *message = NULL;
    if (j->l->TargetMachineEmitToMemoryBuffer(j->machine, j->module, type, &message, &j->output))
        return refuse_text(j, "code generation", message);
    if (j->diagnostics.failed)
        return fail_memory();
    return j->diagnostics.length ? refuse(j, "code generation", j->diagnostics.data) : UF_OK;
}

/* Makes an object that can be linked. */
static uf_status job_build(job *j) {
    TRY(job_parse(j));
    TRY(job_rename(j));
    job_prepare(j);
    TRY(job_optimise(j));
    return job_emit(j, LLVM_OBJECT);
}

static void job_end(job *j) {
    if (j->output)
        j->l->DisposeMemoryBuffer(j->output);
    if (j->machine)
        machine_give(j->l, j->machine);
    if (j->module)
        j->l->DisposeModule(j->module);
    if (j->context)
        j->l->ContextDispose(j->context);
    text_free(&j->diagnostics);
}

/* ---- From an object to an address ---- */

/* Makes the older of LLVM's linkers, which all versions have. The newer one, the default from 17 on, looks its
 * helpers up in the process, where those of a libLLVM that was opened locally are not visible. */
static llvm_layer make_linker(void *user, llvm_session session, const char *triple) {
    (void)triple;
    return ((const llvm *)user)->OrcCreateRTDyldObjectLinkingLayerWithSectionMemoryManager(session);
}

static uf_status jit_start(job *j) {
    if (jit)
        return UF_OK;
    llvm_jit_builder builder = j->l->OrcCreateLLJITBuilder();
    j->l->OrcLLJITBuilderSetObjectLinkingLayerCreator(builder, make_linker, (void *)(uintptr_t)j->l);
    TRY(refuse_error(j, "the JIT does not start", j->l->OrcCreateLLJIT(&jit, builder)));
    j->l->OrcExecutionSessionSetErrorReporter(j->l->OrcLLJITGetExecutionSession(jit), on_session_error,
                                              (void *)(uintptr_t)j->l);
    return UF_OK;
}

static const void *symbol_address(const job *j, const char *name) {
    for (int k = 0; k < j->source->nsymbols; k++)
        if (!strcmp(j->source->symbols[k].name, name))
            return j->source->symbols[k].address;
    for (size_t k = 0; k < COUNT(builtins); k++)
        if (!strcmp(builtins[k].name, name))
            return builtins[k].address;
    return NULL;
}

/* Defines a name that the object needs in the JIT. */
static uf_status define(void *user, const char *name) {
    job *j = user;
    const llvm *l = j->l;
    const void *address = symbol_address(j, name), *known = map_get(&defined, name, strlen(name));
    if (!address)
        return refuse(j, "the code calls a function that it was given no address for", name);
    if (known)
        return known == address ? UF_OK : refuse(j, "a symbol has two addresses", name);
    if (!map_put(&defined, name, strlen(name), (void *)(uintptr_t)address))
        return fail_memory();
    llvm_symbol symbol = {.name = l->OrcLLJITMangleAndIntern(jit, name),
                          .address = (uintptr_t)address,
                          .flags = {.generic = LLVM_SYMBOL_EXPORTED | LLVM_SYMBOL_CALLABLE}};
    llvm_unit unit = l->OrcAbsoluteSymbols(&symbol, 1); /* it takes the name */
    llvm_error error = l->OrcJITDylibDefine(l->OrcLLJITGetMainJITDylib(jit), unit);
    if (!error)
        return UF_OK;
    l->OrcDisposeMaterializationUnit(unit); /* a unit that was refused is still ours */
    map_remove(&defined, name, strlen(name));
    return refuse_error(j, "a symbol is refused", error);
}

static uf_status define_all(job *j) {
    pthread_mutex_lock(&lock);
    uf_status status = jit_start(j);
    if (!status)
        status = elf_needs(j->l->GetBufferStart(j->output), j->l->GetBufferSize(j->output), define, j);
    pthread_mutex_unlock(&lock);
    return status;
}

static void tracker_free(const llvm *l, llvm_tracker tracker) {
    llvm_error error = l->OrcResourceTrackerRemove(tracker);
    if (error)
        l->ConsumeError(error);
    l->OrcReleaseResourceTracker(tracker);
    l->OrcSymbolStringPoolClearDeadEntries(
        l->OrcExecutionSessionGetSymbolStringPool(l->OrcLLJITGetExecutionSession(jit)));
}

/* Links the object, which it takes. */
static uf_status job_load(job *j, code *c) {
    const llvm *l = j->l;
    llvm_tracker tracker = l->OrcJITDylibCreateResourceTracker(l->OrcLLJITGetMainJITDylib(jit));
    llvm_buffer object = j->output;
    j->output = NULL; /* it was taken */
    uint64_t address = 0;
    uf_status status = refuse_error(j, "linking", l->OrcLLJITAddObjectFileWithRT(jit, tracker, object));
    if (!status)
        status = refuse_error(j, "linking", l->OrcLLJITLookup(jit, &address, j->entry));
    if (status) {
        tracker_free(l, tracker);
        return status;
    }
    c->tracker = tracker;
    c->run = (cpu_kernel *)(uintptr_t)address;
    return UF_OK;
}

/* Links the object, and tells debuggers and profilers of it, under the name that the kernel has in the generated
 * code. */
static uf_status job_link(job *j, code *c) {
    char *object =
        (char *)(uintptr_t)j->l->GetBufferStart(j->output); /* nobody else has it yet, so it may be changed */
    size_t size = j->l->GetBufferSize(j->output);
    TRY(define_all(j));
    c->image = debug_image_new(object, size);
    if (!c->image)
        return fail_memory();
    elf_keep_frames_back(object, size);
    uf_status status = job_load(j, c);
    if (status) {
        mem_free(c->image);
        return status;
    }
    perf_write(debug_image_bytes(c->image), size, j->entry, j->source->entry, (uintptr_t)c->run);
    debug_image_show(c->image, j->entry, j->source->entry, (uintptr_t)c->run);
    return UF_OK;
}

/* ---- Assembly and sizes ---- */

static uf_status add_name(void *user, const char *name) {
    text_printf(user, " %s", name);
    return UF_OK;
}

/* The width in bits of the widest vector registers that an assembly text names. */
static int assembly_bits(const char *assembly) {
#if defined(__x86_64__)
    return strstr(assembly, "%zmm") ? 512 : strstr(assembly, "%ymm") ? 256 : 128;
#else
    (void)assembly;
    return 128;
#endif
}

static uf_status add_resources(job *j, text *out) {
    TRY(job_emit(j, LLVM_ASSEMBLY));
    int bits = assembly_bits(j->l->GetBufferStart(j->output));
    j->l->DisposeMemoryBuffer(j->output);
    j->output = NULL;
    TRY(job_emit(j, LLVM_OBJECT));
    const char *object = j->l->GetBufferStart(j->output);
    size_t size = j->l->GetBufferSize(j->output), code_bytes, data_bytes;
    elf_sizes(object, size, &code_bytes, &data_bytes);
    text_printf(out, "code %zu bytes\nconstants %zu bytes\nvectors %d bits\ncalls", code_bytes, data_bytes, bits);
    size_t before = out->length;
    TRY(elf_needs(object, size, add_name, out));
    text_puts(out, out->length == before ? " nothing\n" : "\n");
    return UF_OK;
}

static uf_status job_view(job *j, uf_view view, text *out) {
    TRY(job_parse(j));
    TRY(job_optimise(j));
    if (view == UF_VIEW_RESOURCES)
        return add_resources(j, out);
    TRY(job_emit(j, LLVM_ASSEMBLY));
    text_add(out, j->l->GetBufferStart(j->output), j->l->GetBufferSize(j->output));
    return UF_OK;
}

/* ---- The engine's functions ---- */

uf_status cpu_inspect(const code_module *module, const code_target *target, int device, uf_view view, text *out) {
    (void)target, (void)device;
    if (view != UF_VIEW_ASSEMBLY && view != UF_VIEW_RESOURCES)
        return fail(UF_ERR_ARGUMENT, "the CPU has no view of this kind: PTX is made for CUDA devices");
    job j = {.source = module};
    TRY(llvm_open(&j.l));
    llvm_enter();
    uf_status status = job_view(&j, view, out);
    job_end(&j);
    llvm_leave();
    return status || !out->failed ? status : fail_memory();
}

void cpu_release(code *c) {
    const llvm *l;
    if (!c || llvm_open(&l))
        return;
    llvm_enter();
    debug_image_hide(c->image);
    tracker_free(l, c->tracker);
    llvm_leave();
    mem_free(c);
}

uf_status cpu_compile(const code_module *module, const code_target *target, int device, code **out) {
    (void)target;
    *out = NULL;
    if (device < 0)
        return fail(UF_ERR_ARGUMENT, "the CPU has no device %d", device);
    job j = {.source = module};
    TRY(llvm_open(&j.l));
    code *c = mem_zero(1, sizeof *c);
    if (!c)
        return fail_memory();
    llvm_enter();
    uf_status status = job_build(&j);
    if (!status)
        status = job_link(&j, c);
    job_end(&j);
    llvm_leave();
    if (status)
        mem_free(c);
    else
        *out = c;
    return status;
}
