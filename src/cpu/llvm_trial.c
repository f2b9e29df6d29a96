/* llvm_trial.c - tries whether a libLLVM that is newer than those that libufunc was tested with understands
 * generated code. A small module in the same spelling is parsed, verified, optimised and compiled to an object file. */
#include <stdio.h>

#include "cpu/llvm.h"

/* What a later version might no longer accept: typed pointers, a loop, alignments and an intrinsic. */
static const char trial[] = "define void @uf_trial(i64* %words) nounwind {\n"
                            "entry:\n"
                            "  %a = load i64, i64* %words, align 8\n"
                            "  %q = getelementptr inbounds i64, i64* %words, i64 1\n"
                            "  %n = load i64, i64* %q, align 8\n"
                            "  %p = inttoptr i64 %a to float*\n"
                            "  br label %loop\n"
                            "loop:\n"
                            "  %i = phi i64 [ 0, %entry ], [ %j, %loop ]\n"
                            "  %e = getelementptr inbounds float, float* %p, i64 %i\n"
                            "  %x = load float, float* %e, align 4\n"
                            "  %y = call float @llvm.fabs.f32(float %x)\n"
                            "  store float %y, float* %e, align 4\n"
                            "  %j = add nuw nsw i64 %i, 1\n"
                            "  %more = icmp slt i64 %j, %n\n"
                            "  br i1 %more, label %loop, label %done\n"
                            "done:\n"
                            "  ret void\n"
                            "}\n"
                            "declare float @llvm.fabs.f32(float)\n";

typedef struct attempt {
    const llvm *l;
    llvm_context context;
    llvm_module module;
    llvm_machine machine;
    llvm_buffer object;
    char *message;
    char *reason; /* has room for a sentence */
    size_t size;
} attempt;

static const char *refuse(attempt *t, const char *what, const char *message) {
    snprintf(t->reason, t->size, "%s%s%s", what, message && *message ? ": " : "", message ? message : "");
    return t->reason;
}

static void ignore(llvm_diagnostic diagnostic, void *user) { (void)diagnostic, (void)user; }

static const char *parse(attempt *t) {
    const llvm *l = t->l;
    t->context = l->ContextCreate();
    l->ContextSetDiagnosticHandler(t->context, ignore, NULL);
    llvm_buffer input = l->CreateMemoryBufferWithMemoryRange(trial, sizeof trial - 1, "trial", 1);
    if (l->ParseIRInContext(t->context, input, &t->module, &t->message)) /* it takes the buffer */
        return refuse(t, "does not read the code that is generated", t->message);
    if (l->VerifyModule(t->module, LLVM_RETURN_STATUS, &t->message))
        return refuse(t, "does not take the code that is generated", t->message);
    l->DisposeMessage(t->message);
    t->message = NULL;
    return NULL;
}

static const char *optimise(attempt *t) {
    const llvm *l = t->l;
    t->machine = l->CreateTargetMachine(l->target, l->triple, l->cpu, l->features, LLVM_CODEGEN_AGGRESSIVE,
                                        LLVM_RELOC_STATIC, LLVM_CODE_MODEL_JIT);
    if (!t->machine)
        return refuse(t, "has no code generator for this host", l->triple);
    llvm_error error = llvm_optimise(l, t->module, t->machine, PASSES_OF_RUNS);
    if (!error)
        return NULL;
    char *message = l->GetErrorMessage(error);
    const char *reason = refuse(t, "does not optimise the code that is generated", message);
    l->DisposeErrorMessage(message);
    return reason;
}

static const char *emit(attempt *t) {
    if (t->l->TargetMachineEmitToMemoryBuffer(t->machine, t->module, LLVM_OBJECT, &t->message, &t->object))
        return refuse(t, "does not compile the code that is generated", t->message);
    return t->l->GetBufferSize(t->object) ? NULL : refuse(t, "compiles to nothing", NULL);
}

const char *llvm_trial(const llvm *l, char *reason, size_t size) {
    attempt t = {.l = l, .reason = reason, .size = size};
    const char *why = parse(&t);
    if (!why)
        why = optimise(&t);
    if (!why)
        why = emit(&t);
    if (t.message)
        l->DisposeMessage(t.message);
    if (t.object)
        l->DisposeMemoryBuffer(t.object);
    if (t.machine)
        l->DisposeTargetMachine(t.machine);
    if (t.module)
        l->DisposeModule(t.module);
    if (t.context)
        l->ContextDispose(t.context);
    return why;
}
