/* gathers.c - reads and writes of vectors whose lanes lie apart, taken apart into accesses of single elements. LLVM's vectoriser makes them
 * of loops over strided arrays and of reads by index, wherever a processor has the instructions, which from AVX-512 on is everywhere; those
 * behind a condition stay as they are, as they would become branches.
 *
 * sqrt of float32, every second and every ninth element, one thread of a Zen 5 guest, ns an element: gathered 0.26 and 0.43 in the second
 * level cache, 1.0 and 2.8 in memory; element by element 0.24, 0.38, 0.29, 1.1. Written to every second element 0.29 and 0.53, then 0.27
 * and 0.29. A vector's addresses are computed as a vector still, which takes a third of what is left. */
#include <string.h>

#include "cpu/llvm.h"

typedef struct spreader {
    const llvm *l;
    llvm_builder at;
    llvm_type index; /* of lanes */
} spreader;

static llvm_value lane(const spreader *s, unsigned k) { return s->l->ConstInt(s->index, k, false); }

static llvm_value extract(const spreader *s, llvm_value vector, unsigned k) {
    return s->l->BuildExtractElement(s->at, vector, lane(s, k), "");
}

/* Elements lie at any byte, which no instruction that accesses one of them minds. */
static void access(const spreader *s, llvm_value instruction) { s->l->SetAlignment(instruction, 1); }

static void spread_read(const spreader *s, llvm_value gather) {
    const llvm *l = s->l;
    llvm_type type = l->TypeOf(gather), element = l->GetElementType(type);
    llvm_value pointers = l->GetOperand(gather, 0), all = l->GetUndef(type);
    for (unsigned k = 0; k < l->GetVectorSize(type); k++) {
        llvm_value one = l->BuildLoad2(s->at, element, extract(s, pointers, k), "");
        access(s, one);
        all = l->BuildInsertElement(s->at, all, one, lane(s, k), "");
    }
    l->ReplaceAllUsesWith(gather, all);
}

/* Of two lanes at one address the later one is what remains there, as of a scatter. */
static void spread_write(const spreader *s, llvm_value scatter) {
    const llvm *l = s->l;
    llvm_value all = l->GetOperand(scatter, 0), pointers = l->GetOperand(scatter, 1);
    for (unsigned k = 0; k < l->GetVectorSize(l->TypeOf(all)); k++)
        access(s, l->BuildStore(s->at, extract(s, all, k), extract(s, pointers, k)));
}

/* Intrinsics of LLVM, and where the mask is, counted back from behind the last argument: between it and the addresses versions before 22
 * have the alignment. */
static const struct form {
    const char *prefix;
    unsigned mask_before_end;
    void (*spread)(const spreader *s, llvm_value call);
} forms[] = {
    {"llvm.masked.gather.", 2, spread_read},
    {"llvm.masked.scatter.", 1, spread_write},
};

static const struct form *form_of(const llvm *l, llvm_value instruction) {
    size_t length;
    if (!l->IsACallInst(instruction))
        return NULL;
    const char *name = l->GetValueName2(l->GetCalledValue(instruction), &length);
    for (size_t f = 0; f < COUNT(forms); f++)
        if (!strncmp(name, forms[f].prefix, strlen(forms[f].prefix)))
            return &forms[f];
    return NULL;
}

static void visit(const spreader *s, llvm_value instruction) {
    const llvm *l = s->l;
    const struct form *f = form_of(l, instruction);
    if (!f)
        return;
    llvm_value mask = l->GetOperand(instruction, l->GetNumArgOperands(instruction) - f->mask_before_end);
    if (mask != l->ConstAllOnes(l->TypeOf(mask))) /* equal constants are one value */
        return;
    l->PositionBuilderBefore(s->at, instruction);
    f->spread(s, instruction);
    l->InstructionEraseFromParent(instruction);
}

void llvm_spread_gathers(const llvm *l, llvm_module module) {
    llvm_context context = l->GetModuleContext(module);
    spreader s = {.l = l, .at = l->CreateBuilderInContext(context), .index = l->Int64TypeInContext(context)};
    for (llvm_value f = l->GetFirstFunction(module); f; f = l->GetNextFunction(f))
        for (llvm_block b = l->GetFirstBasicBlock(f); b; b = l->GetNextBasicBlock(b))
            for (llvm_value i = l->GetFirstInstruction(b), next; i; i = next) {
                next = l->GetNextInstruction(i);
                visit(&s, i);
            }
    l->DisposeBuilder(s.at);
}
