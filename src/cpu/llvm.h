/* llvm.h - libLLVM, opened when it is first needed. The prototypes are our own declarations of the C interface that
 * versions 15 to 22 share; none of LLVM's headers is used. */
#ifndef UF_CPU_LLVM_H
#define UF_CPU_LLVM_H

#include "base/base.h"

typedef struct llvm_context *llvm_context;
typedef struct llvm_module *llvm_module;
typedef struct llvm_value *llvm_value;
typedef struct llvm_type *llvm_type;
typedef struct llvm_block *llvm_block;
typedef struct llvm_builder *llvm_builder;
typedef struct llvm_attribute *llvm_attribute;
typedef struct llvm_buffer *llvm_buffer;
typedef struct llvm_error *llvm_error; /* NULL: success. Reading its message frees it */
typedef struct llvm_diagnostic *llvm_diagnostic;
typedef struct llvm_target *llvm_target;
typedef struct llvm_machine *llvm_machine;
typedef struct llvm_layout *llvm_layout;
typedef struct llvm_pass_options *llvm_pass_options;
typedef struct llvm_jit *llvm_jit;
typedef struct llvm_jit_builder *llvm_jit_builder;
typedef struct llvm_layer *llvm_layer;
typedef struct llvm_session *llvm_session;
typedef struct llvm_dylib *llvm_dylib;
typedef struct llvm_tracker *llvm_tracker;
typedef struct llvm_unit *llvm_unit;
typedef struct llvm_name *llvm_name; /* an entry of ORC's string pool, which counts references */
typedef struct llvm_pool *llvm_pool;

/* The values of LLVM's enumerations that are used. They are the same in every version. */
enum {
    LLVM_SEVERITY_ERROR = 0,
    LLVM_CODEGEN_AGGRESSIVE = 3,
    LLVM_RELOC_STATIC = 1,
    LLVM_CODE_MODEL_JIT = 1,
    LLVM_ASSEMBLY = 0,
    LLVM_OBJECT = 1,
    LLVM_RETURN_STATUS = 2,
    LLVM_SYMBOL_EXPORTED = 1,
    LLVM_SYMBOL_CALLABLE = 4,
    LLVM_UNWIND_ANYWHERE = 2 /* the value of the attribute uwtable */
};

/* The versions that libufunc is tested with. */
enum {
    LLVM_OLDEST = 15,
    LLVM_NEWEST = 22
};
#define LLVM_VERSIONS "15 to 22"

/* The index of attributes of a function itself, as opposed to those of its result or parameters. */
#define LLVM_FUNCTION_INDEX UINT32_MAX

typedef struct llvm_symbol_flags {
    uint8_t generic, target;
} llvm_symbol_flags;

/* LLVMOrcCSymbolMapPair. */
typedef struct llvm_symbol {
    llvm_name name;
    uint64_t address;
    llvm_symbol_flags flags;
} llvm_symbol;

#if defined(__x86_64__)
#define LLVM_HOST(X, part) X(void, InitializeX86##part, (void))
#define LLVM_START(l, part) (l)->InitializeX86##part()
#elif defined(__aarch64__)
#define LLVM_HOST(X, part) X(void, InitializeAArch64##part, (void))
#define LLVM_START(l, part) (l)->InitializeAArch64##part()
#else
#error "libufunc's CPU engine knows x86-64 and aarch64; a new host is a row here"
#endif

/* X(result, name without LLVM, parameters) */
/* clang-format off */
#define LLVM_FUNCTIONS(X)                                                                                              \
    LLVM_HOST(X, TargetInfo)                                                                                           \
    LLVM_HOST(X, Target)                                                                                               \
    LLVM_HOST(X, TargetMC)                                                                                             \
    LLVM_HOST(X, AsmPrinter)                                                                                           \
    LLVM_HOST(X, AsmParser)                                                                                            \
    X(void, ParseCommandLineOptions, (int count, const char *const *words, const char *overview))                     \
    X(char *, GetHostCPUName, (void))                                                                                  \
    X(char *, GetHostCPUFeatures, (void))                                                                              \
    X(char *, GetDefaultTargetTriple, (void))                                                                          \
    X(int, GetTargetFromTriple, (const char *triple, llvm_target *out, char **message))                                \
    X(void, DisposeMessage, (char *message))                                                                           \
    X(llvm_machine, CreateTargetMachine, (llvm_target target, const char *triple, const char *cpu,                     \
                                          const char *features, int level, int reloc, int model))                      \
    X(void, DisposeTargetMachine, (llvm_machine machine))                                                              \
    X(llvm_layout, CreateTargetDataLayout, (llvm_machine machine))                                                     \
    X(void, DisposeTargetData, (llvm_layout layout))                                                                   \
    X(int, TargetMachineEmitToMemoryBuffer, (llvm_machine machine, llvm_module module, int type, char **message,       \
                                             llvm_buffer *out))                                                        \
    X(llvm_context, ContextCreate, (void))                                                                             \
    X(void, ContextDispose, (llvm_context context))                                                                    \
    X(void, ContextSetDiscardValueNames, (llvm_context context, int discard))                                          \
    X(void, ContextSetDiagnosticHandler, (llvm_context context, void (*handler)(llvm_diagnostic, void *), void *user)) \
    X(char *, GetDiagInfoDescription, (llvm_diagnostic diagnostic))                                                    \
    X(int, GetDiagInfoSeverity, (llvm_diagnostic diagnostic))                                                          \
    X(llvm_buffer, CreateMemoryBufferWithMemoryRange, (const char *data, size_t size, const char *name,                \
                                                       int terminated))                                                \
    X(const char *, GetBufferStart, (llvm_buffer buffer))                                                              \
    X(size_t, GetBufferSize, (llvm_buffer buffer))                                                                     \
    X(void, DisposeMemoryBuffer, (llvm_buffer buffer))                                                                 \
    X(int, ParseIRInContext, (llvm_context context, llvm_buffer text, llvm_module *out, char **message))               \
    X(int, VerifyModule, (llvm_module module, int action, char **message))                                             \
    X(void, DisposeModule, (llvm_module module))                                                                       \
    X(void, SetTarget, (llvm_module module, const char *triple))                                                       \
    X(void, SetModuleDataLayout, (llvm_module module, llvm_layout layout))                                             \
    X(llvm_context, GetModuleContext, (llvm_module module))                                                            \
    X(llvm_value, GetNamedFunction, (llvm_module module, const char *name))                                            \
    X(llvm_value, GetNamedGlobal, (llvm_module module, const char *name))                                              \
    X(void, DeleteGlobal, (llvm_value global))                                                                         \
    X(int, IsDeclaration, (llvm_value value))                                                                          \
    X(llvm_value, GetFirstFunction, (llvm_module module))                                                              \
    X(llvm_value, GetNextFunction, (llvm_value function))                                                              \
    X(unsigned, GetEnumAttributeKindForName, (const char *name, size_t length))                                        \
    X(llvm_attribute, CreateEnumAttribute, (llvm_context context, unsigned kind, uint64_t value))                      \
    X(void, AddAttributeAtIndex, (llvm_value function, unsigned index, llvm_attribute attribute))                      \
    X(void, SetValueName2, (llvm_value value, const char *name, size_t length))                                        \
    X(llvm_value, GetFirstParam, (llvm_value function))                                                                \
    X(llvm_value, GetNextParam, (llvm_value parameter))                                                                \
    X(llvm_block, GetFirstBasicBlock, (llvm_value function))                                                           \
    X(llvm_block, GetNextBasicBlock, (llvm_block block))                                                               \
    X(llvm_value, GetFirstInstruction, (llvm_block block))                                                             \
    X(llvm_value, GetNextInstruction, (llvm_value instruction))                                                        \
    X(llvm_value, IsACallInst, (llvm_value value))                                                                     \
    X(llvm_value, GetCalledValue, (llvm_value call))                                                                   \
    X(unsigned, GetNumArgOperands, (llvm_value call))                                                                  \
    X(llvm_value, GetOperand, (llvm_value user, unsigned index))                                                       \
    X(const char *, GetValueName2, (llvm_value value, size_t *length))                                                 \
    X(llvm_type, TypeOf, (llvm_value value))                                                                           \
    X(llvm_type, GetElementType, (llvm_type type))                                                                     \
    X(unsigned, GetVectorSize, (llvm_type type))                                                                       \
    X(llvm_type, Int64TypeInContext, (llvm_context context))                                                           \
    X(llvm_value, ConstInt, (llvm_type type, unsigned long long value, int is_signed))                                 \
    X(llvm_value, ConstAllOnes, (llvm_type type))                                                                      \
    X(llvm_value, GetUndef, (llvm_type type))                                                                          \
    X(llvm_builder, CreateBuilderInContext, (llvm_context context))                                                    \
    X(void, DisposeBuilder, (llvm_builder builder))                                                                    \
    X(void, PositionBuilderBefore, (llvm_builder builder, llvm_value instruction))                                     \
    X(llvm_value, BuildExtractElement, (llvm_builder builder, llvm_value vector, llvm_value lane, const char *name))   \
    X(llvm_value, BuildInsertElement, (llvm_builder builder, llvm_value vector, llvm_value element, llvm_value lane,   \
                                       const char *name))                                                              \
    X(llvm_value, BuildLoad2, (llvm_builder builder, llvm_type type, llvm_value pointer, const char *name))            \
    X(llvm_value, BuildStore, (llvm_builder builder, llvm_value value, llvm_value pointer))                            \
    X(void, SetAlignment, (llvm_value access, unsigned bytes))                                                         \
    X(void, ReplaceAllUsesWith, (llvm_value value, llvm_value other))                                                  \
    X(void, InstructionEraseFromParent, (llvm_value instruction))                                                      \
    X(llvm_pass_options, CreatePassBuilderOptions, (void))                                                             \
    X(void, DisposePassBuilderOptions, (llvm_pass_options options))                                                    \
    X(llvm_error, RunPasses, (llvm_module module, const char *passes, llvm_machine machine,                            \
                              llvm_pass_options options))                                                              \
    X(char *, GetErrorMessage, (llvm_error error))                                                                     \
    X(void, DisposeErrorMessage, (char *message))                                                                      \
    X(void, ConsumeError, (llvm_error error))                                                                          \
    X(llvm_jit_builder, OrcCreateLLJITBuilder, (void))                                                                 \
    X(void, OrcLLJITBuilderSetObjectLinkingLayerCreator, (llvm_jit_builder builder,                                    \
      llvm_layer (*make)(void *user, llvm_session session, const char *triple), void *user))                           \
    X(llvm_layer, OrcCreateRTDyldObjectLinkingLayerWithSectionMemoryManager, (llvm_session session))                   \
    X(llvm_error, OrcCreateLLJIT, (llvm_jit *out, llvm_jit_builder builder))                                           \
    X(llvm_session, OrcLLJITGetExecutionSession, (llvm_jit jit))                                                       \
    X(llvm_dylib, OrcLLJITGetMainJITDylib, (llvm_jit jit))                                                             \
    X(llvm_name, OrcLLJITMangleAndIntern, (llvm_jit jit, const char *name))                                            \
    X(llvm_error, OrcLLJITAddObjectFileWithRT, (llvm_jit jit, llvm_tracker tracker, llvm_buffer object))               \
    X(llvm_error, OrcLLJITLookup, (llvm_jit jit, uint64_t *address, const char *name))                                 \
    X(void, OrcExecutionSessionSetErrorReporter, (llvm_session session, void (*report)(void *, llvm_error),            \
                                                  void *user))                                                         \
    X(llvm_pool, OrcExecutionSessionGetSymbolStringPool, (llvm_session session))                                       \
    X(void, OrcSymbolStringPoolClearDeadEntries, (llvm_pool pool))                                                     \
    X(llvm_unit, OrcAbsoluteSymbols, (llvm_symbol *symbols, size_t count))                                             \
    X(void, OrcDisposeMaterializationUnit, (llvm_unit unit))                                                           \
    X(llvm_error, OrcJITDylibDefine, (llvm_dylib dylib, llvm_unit unit))                                               \
    X(llvm_tracker, OrcJITDylibCreateResourceTracker, (llvm_dylib dylib))                                              \
    X(llvm_error, OrcResourceTrackerRemove, (llvm_tracker tracker))                                                    \
    X(void, OrcReleaseResourceTracker, (llvm_tracker tracker))
/* clang-format on */

typedef struct llvm {
#define X(result, name, parameters) result(*name) parameters;
    LLVM_FUNCTIONS(X)
#undef X
    char path[512]; /* of the library's file */
    char version[16];
    unsigned major;
    char *triple, *cpu;  /* of this processor */
    char features[8192]; /* that code may use */
    bool slow_gathers;   /* accesses of vectors whose lanes lie apart are slower than one of each lane */
    llvm_target target;
} llvm;

/* The library, which is opened by the first call. After a failure the next call searches again. Errors: LIBRARY
 * (every file that was tried, with the reason), MEMORY. Thread-safe. */
uf_status llvm_open(const llvm **out);

typedef enum llvm_passes {
    PASSES_OF_VECTORS,
    PASSES_OF_RUNS,  /* of kernels over indices whose runs of points become vectors */
    PASSES_STRAIGHT, /* of inner calls that are written out and have no conditions */
    PASSES_PLAIN     /* of kernels with very much code */
} llvm_passes;

/* passes.c: optimises a module. NULL if that works. */
llvm_error llvm_optimise(const llvm *l, llvm_module module, llvm_machine machine, llvm_passes passes);

/* gathers.c: makes accesses of single elements of those of vectors whose lanes lie apart. */
void llvm_spread_gathers(const llvm *l, llvm_module module);

/* llvm_trial.c: compiles a small module. NULL if that works; else what does not, written to `reason`. */
const char *llvm_trial(const llvm *l, char *reason, size_t size);

/* Go around every use of the library and of the locks taken with it. fork waits until nobody is inside, so that the
 * child finds LLVM's own locks free. They do not nest. */
void llvm_enter(void);
void llvm_leave(void);

#endif
