/* mockllvm.c - a libLLVM that says that it is version 99.1.0, or MOCKLLVM_VERSION. It hands every call on to a real one, can break three of them, and can
 * leave most modules as they are instead of optimising them. All parameters and results are numbers and pointers, so that one
 * prototype of eight words serves for all. */
#include <dlfcn.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "mockllvm.h"

#define EXPORT __attribute__((visibility("default")))

typedef void *word;
typedef word function(word, word, word, word, word, word, word, word);

static void *find(const char *name) {
    static _Atomic(void *) handle;
    if (!handle && getenv(MOCKLLVM_REAL))
        handle = dlopen(getenv(MOCKLLVM_REAL), RTLD_NOW | RTLD_LOCAL);
    return handle ? dlsym(handle, name) : NULL;
}

static function *real(const char *name) {
    void *address = find(name);
    if (!address)
        abort();
    return (function *)(__UINTPTR_TYPE__)address;
}

static int breaks(const char *what) {
    const char *value = getenv(MOCKLLVM_BREAKS);
    return value && !strcmp(value, what);
}

#define F(name)                                                                              \
    EXPORT word LLVM##name(word, word, word, word, word, word, word, word);                  \
    EXPORT word LLVM##name(word a, word b, word c, word d, word e, word f, word g, word h) { \
        return real("LLVM" #name)(a, b, c, d, e, f, g, h);                                   \
    }
/* clang-format off */
#define FUNCTIONS                                                                                                      \
    F(ParseCommandLineOptions) F(GetHostCPUName) F(GetHostCPUFeatures) F(GetDefaultTargetTriple) F(GetTargetFromTriple) \
    F(DisposeMessage)                        \
    F(DisposeTargetData) F(ContextCreate) F(ContextDispose) F(ContextSetDiagnosticHandler)                            \
    F(GetDiagInfoDescription) F(GetDiagInfoSeverity) F(CreateMemoryBufferWithMemoryRange) F(GetBufferStart)           \
    F(GetBufferSize) F(DisposeMemoryBuffer) F(VerifyModule) F(DisposeModule) F(SetTarget)                             \
    F(SetModuleDataLayout) F(GetNamedFunction) F(GetNamedGlobal) F(DeleteGlobal) F(IsDeclaration) F(GetFirstFunction) F(GetNextFunction)                \
    F(GetEnumAttributeKindForName) F(CreateEnumAttribute) F(AddAttributeAtIndex) F(SetValueName2) F(GetFirstParam) F(GetNextParam) F(ContextSetDiscardValueNames)                     \
    F(GetModuleContext) F(GetFirstBasicBlock) F(GetNextBasicBlock) F(GetFirstInstruction) F(GetNextInstruction) F(IsACallInst) \
    F(GetCalledValue) F(GetNumArgOperands) F(GetOperand) F(GetValueName2) F(TypeOf) F(GetElementType) F(GetVectorSize) \
    F(Int64TypeInContext) F(ConstInt) F(ConstAllOnes) F(GetUndef) F(CreateBuilderInContext) F(DisposeBuilder) \
    F(PositionBuilderBefore) F(BuildExtractElement) F(BuildInsertElement) F(BuildLoad2) F(BuildStore) F(SetAlignment) \
    F(ReplaceAllUsesWith) F(InstructionEraseFromParent) \
    F(CreatePassBuilderOptions) F(DisposePassBuilderOptions) F(GetErrorMessage)                          \
    F(DisposeErrorMessage) F(ConsumeError) F(OrcCreateLLJITBuilder)                                                   \
    F(OrcLLJITBuilderSetObjectLinkingLayerCreator)                                                                    \
    F(OrcCreateRTDyldObjectLinkingLayerWithSectionMemoryManager) F(OrcCreateLLJIT)                                    \
    F(OrcLLJITGetExecutionSession) F(OrcLLJITGetMainJITDylib) F(OrcLLJITMangleAndIntern)                              \
    F(OrcLLJITAddObjectFileWithRT) F(OrcLLJITLookup) F(OrcExecutionSessionSetErrorReporter)                           \
    F(OrcExecutionSessionGetSymbolStringPool) F(OrcSymbolStringPoolClearDeadEntries) F(OrcAbsoluteSymbols)            \
    F(OrcDisposeMaterializationUnit) F(OrcJITDylibDefine) F(OrcJITDylibCreateResourceTracker)                         \
    F(OrcResourceTrackerRemove) F(OrcReleaseResourceTracker)
/* clang-format on */
FUNCTIONS
#if defined(__x86_64__)
F(InitializeX86TargetInfo)
F(InitializeX86Target)
F(InitializeX86TargetMC)
F(InitializeX86AsmPrinter)
F(InitializeX86AsmParser)
#else
F(InitializeAArch64TargetInfo)
F(InitializeAArch64Target)
F(InitializeAArch64TargetMC)
F(InitializeAArch64AsmPrinter)
F(InitializeAArch64AsmParser)
#endif

EXPORT void LLVMGetVersion(unsigned *major, unsigned *minor, unsigned *patch);
EXPORT void LLVMGetVersion(unsigned *major, unsigned *minor, unsigned *patch) {
    const char *version = getenv(MOCKLLVM_VERSION);
    *major = version ? (unsigned)atoi(version) : 99;
    *minor = 1;
    *patch = 0;
}

/* Whether the module that this thread parsed last is optimised. */
static _Thread_local int optimises = 1;

static int next_is_optimised(void) {
    static atomic_int begun;
    const char *value = getenv(MOCKLLVM_OPTIMISES);
    int first, of;
    if (!value || sscanf(value, "%d/%d", &first, &of) != 2)
        return 1;
    return atomic_fetch_add(&begun, 1) % of == (first - 1) % of;
}

/* A machine is two: for modules that are optimised, and for those that are not. */
typedef struct pair {
    word plain, optimising;
} pair;

static word machine_of(word machine) { return optimises ? ((pair *)machine)->optimising : ((pair *)machine)->plain; }

static atomic_int machines;

EXPORT int mockllvm_machines(void);
EXPORT int mockllvm_machines(void) { return machines; }

EXPORT word LLVMCreateTargetMachine(word target, word triple, word cpu, word features, int level, int reloc, int model);
EXPORT word LLVMCreateTargetMachine(word target, word triple, word cpu, word features, int level, int reloc,
                                    int model) {
    pair *both = calloc(1, sizeof *both);
    machines++;
    for (int k = 0; both && k < 2; k++)
        *(k ? &both->optimising : &both->plain) =
            real("LLVMCreateTargetMachine")(target, triple, cpu, features, (word)(__INTPTR_TYPE__)(k ? level : 0),
                                            (word)(__INTPTR_TYPE__)reloc, (word)(__INTPTR_TYPE__)model, 0);
    return both;
}

EXPORT word LLVMCreateTargetDataLayout(word machine);
EXPORT word LLVMCreateTargetDataLayout(word machine) {
    return real("LLVMCreateTargetDataLayout")(machine_of(machine), 0, 0, 0, 0, 0, 0, 0);
}

EXPORT void LLVMDisposeTargetMachine(word machine);
EXPORT void LLVMDisposeTargetMachine(word machine) {
    real("LLVMDisposeTargetMachine")(((pair *)machine)->plain, 0, 0, 0, 0, 0, 0, 0);
    real("LLVMDisposeTargetMachine")(((pair *)machine)->optimising, 0, 0, 0, 0, 0, 0, 0);
    free(machine);
}

static const char option[] = "<no-verify-fixpoint>";

/* Would libLLVM of the version that this one says it is end the process where a second instcombine found more to do? */
static int would_end(const char *passes) {
    unsigned major, minor, patch;
    static const char combine[] = "instcombine";
    LLVMGetVersion(&major, &minor, &patch);
    int would = 0;
    for (const char *at = passes; major >= 18 && (at = strstr(at, combine)); at++)
        would |= strncmp(at + sizeof combine - 1, option, sizeof option - 1) != 0;
    return would;
}

/* The passes without an option that libLLVM has from version 18 on, if the real one is older; static storage. */
static char *passes_for_real(const char *passes) {
    static _Thread_local char buffer[4096];
    snprintf(buffer, sizeof buffer, "%s", passes);
    if (find("LLVMCreateTargetMachineWithOptions"))
        return buffer;
    for (char *at; (at = strstr(buffer, option));)
        memmove(at, at + sizeof option - 1, strlen(at + sizeof option - 1) + 1);
    return buffer;
}

EXPORT word LLVMRunPasses(word module, const char *passes, word machine, word options);
EXPORT word LLVMRunPasses(word module, const char *passes, word machine, word options) {
    static char none[] = "default<O0>",
                unknown[] = "mock"; /* of which the real one says that there are no such passes */
    char *all = breaks("passes") || would_end(passes) ? unknown : optimises ? passes_for_real(passes) : none;
    return real("LLVMRunPasses")(module, all, machine_of(machine), options, 0, 0, 0, 0);
}

EXPORT int LLVMParseIRInContext(word context, word text, word *out, char **message);
EXPORT int LLVMParseIRInContext(word context, word text, word *out, char **message) {
    optimises = next_is_optimised();
    if (!breaks("parse"))
        return (int)(__INTPTR_TYPE__)real("LLVMParseIRInContext")(context, text, out, message, 0, 0, 0, 0);
    real("LLVMDisposeMemoryBuffer")(text, 0, 0, 0, 0, 0, 0, 0);
    *message = strdup("mock");
    return 1;
}

EXPORT int LLVMTargetMachineEmitToMemoryBuffer(word machine, word module, int type, char **message, word *out);
EXPORT int LLVMTargetMachineEmitToMemoryBuffer(word machine, word module, int type, char **message, word *out) {
    if (!breaks("emit"))
        return (int)(__INTPTR_TYPE__)real("LLVMTargetMachineEmitToMemoryBuffer")(
            machine_of(machine), module, (word)(__INTPTR_TYPE__)type, message, out, 0, 0, 0);
    *message = strdup("mock");
    return 1;
}
