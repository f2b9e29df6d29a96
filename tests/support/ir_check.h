/* ir_check.h - what tests of generated code need: every libLLVM of the machine and libNVVM as judges of IR text, and a JIT
 * that knows nothing of the library's own. */
#ifndef UF_IR_CHECK_H
#define UF_IR_CHECK_H

#include "engine.h"

/* The libLLVMs found, oldest first. */
int judge_count(void);
const char *judge_name(int i);

/* Parses and verifies; NULL if all is well, else what is wrong (static storage). */
const char *judge_ir(int i, const char *ir);

/* Compiles a CPU module for this host with default<O0> or default<O3>; aborts on error. Addresses of its
 * functions live until judge_free. */
typedef struct judged judged;
judged *judge_compile(int i, const code_module *module, int level);
uintptr_t judge_address(const judged *from, const char *function);
void judge_free(judged *from); /* NULL does nothing */
/* Assembly of the module for a CPU and features ("", "+f16c"), after default<O3>; static storage. */
const char *judge_assembly(int i, const char *ir, const char *cpu, const char *features);
/* The IR after default<O3>; static storage. */
const char *judge_optimised(int i, const char *ir, const char *cpu, const char *features);

/* Bytes of the arrays that a GPU module has in shared memory. */
int shared_bytes(const char *ir);

/* libNVVM: verifies and compiles for compute_<arch> (with line information where the module wants it), and, if
 * with_ptxas, assembles with ptxas where that is found. NULL if all is well. *ptx, if wanted, is the PTX (static storage). */
bool nvvm_found(void);
bool ptxas_found(void);
const char *nvvm_judge(const code_module *module, int arch, bool with_ptxas, const char **ptx);

/* All of them: every LLVM, and for the GPU libNVVM for compute_75, 90, 100 and 120, whose PTX must not call anything outside.
 * Complaints go to stderr. turn: any number. */
enum {
    JUDGE_ASSEMBLE = 1, /* with ptxas too */
    JUDGE_ONE_ARCH = 2  /* one architecture, by turn */
};
bool judge_accept(const code_module *module, const code_target *target, unsigned how, uint64_t turn);

/* Fails the test unless the module's text, which it frees, is that of tests/ir/<file>.ll; prints the text then. UF_BLESS=1 writes
 * that file anew. */
void judge_golden(const char *file, code_module *module);

/* This host as the engine would describe it. */
code_target judge_host(void);

#endif
