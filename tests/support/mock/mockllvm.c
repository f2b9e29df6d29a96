/* mockllvm.c - a libLLVM that says that it is version 99.1.0, or MOCKLLVM_VERSION. It hands every call on to a real one, and can break two of them. All
 * parameters and results are numbers and pointers, so that one prototype of eight words serves for all. */
#include <dlfcn.h>
#include <stdlib.h>
#include <string.h>

#include "mockllvm.h"

#define EXPORT __attribute__((visibility("default")))

typedef void *word;
typedef word function(word, word, word, word, word, word, word, word);

static function *real(const char *name) {
    static void *handle;
    if (!handle && getenv(MOCKLLVM_REAL))
        handle = dlopen(getenv(MOCKLLVM_REAL), RTLD_NOW | RTLD_LOCAL);
    void *address = handle ? dlsym(handle, name) : NULL;
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
    F(GetHostCPUName) F(GetHostCPUFeatures) F(GetDefaultTargetTriple) F(GetTargetFromTriple)                          \
    F(DisposeMessage) F(CreateTargetMachine) F(DisposeTargetMachine) F(CreateTargetDataLayout)                        \
    F(DisposeTargetData) F(ContextCreate) F(ContextDispose) F(ContextSetDiagnosticHandler)                            \
    F(GetDiagInfoDescription) F(GetDiagInfoSeverity) F(CreateMemoryBufferWithMemoryRange) F(GetBufferStart)           \
    F(GetBufferSize) F(DisposeMemoryBuffer) F(VerifyModule) F(DisposeModule) F(SetTarget)                             \
    F(SetModuleDataLayout) F(GetNamedFunction) F(IsDeclaration) F(GetFirstFunction) F(GetNextFunction)                \
    F(GetEnumAttributeKindForName) F(CreateEnumAttribute) F(AddAttributeAtIndex) F(SetValueName2)                     \
    F(CreatePassBuilderOptions) F(DisposePassBuilderOptions) F(RunPasses) F(GetErrorMessage)                          \
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
    const char *version = getenv("MOCKLLVM_VERSION");
    *major = version ? (unsigned)atoi(version) : 99;
    *minor = 1;
    *patch = 0;
}

EXPORT int LLVMParseIRInContext(word context, word text, word *out, char **message);
EXPORT int LLVMParseIRInContext(word context, word text, word *out, char **message) {
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
            machine, module, (word)(__INTPTR_TYPE__)type, message, out, 0, 0, 0);
    *message = strdup("mock");
    return 1;
}
