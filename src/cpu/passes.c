/* passes.c - the passes that a module goes through before code generation: those of default<O3> that our modules gain by, in its order. The
 * attribute of each function says whether it is inlined, so the passes that decide this, the rounds that clean up after them, and what
 * else is for programs of many functions are left out.
 *
 * Loops whose trip counts are not known are not copied, nor are those that are too long to be unrolled whole. LLVM would copy them as
 * often as the processor's cache of decoded instructions holds, which it takes for large in Zen 3: a loop of vectors of 64 elements became
 * one of 512 with one of 64 behind it, which took most of the time to compile, and was seldom faster. */
#include "cpu/llvm.h"

#define WHOLE_LOOPS "no-partial;no-runtime"

/* Simplifies functions, inlines them, simplifies the rest, and makes vectors. Before functions are inlined, a call behind a condition is
 * divided, so that what is constant on one side is so in the function, and conditions of several parts become one. */
#define VECTOR_PASSES(combine)                                                                                  \
    "function(simplifycfg,sroa,early-cse,callsite-splitting," combine ",simplifycfg),"                          \
    "always-inline,globaldce,cgscc(function-attrs),"                                                            \
    "function(sroa,jump-threading,correlated-propagation,simplifycfg," combine ",reassociate,"                  \
    "loop-mssa(licm,loop-rotate,licm,simple-loop-unswitch<nontrivial;trivial>),"                                \
    "simplifycfg,loop(loop-idiom,indvars,loop-deletion),"                                                       \
    "loop-unroll<O3;" WHOLE_LOOPS ";no-upperbound;no-profile-peeling>,sroa,gvn," combine ",jump-threading,dse," \
    "loop-mssa(licm),"                                                                                          \
    "loop-vectorize," combine ",simplifycfg<bonus-inst-threshold=1;forward-switch-cond;switch-to-lookup;"       \
    "no-keep-loops;hoist-common-insts;sink-common-insts>,slp-vectorizer,vector-combine,"                        \
    "loop-unroll<O3;" WHOLE_LOOPS ">,loop-mssa(licm),instsimplify,div-rem-pairs,simplifycfg)"

/* Inner calls that are written out, without conditions. Other passes find nothing to do in them, and take time by the square of their length
 * (global value numbering), or do harm: straight-line vectorisation puts elements of several rows together, by instructions that gather, where a
 * processor has them. */
#define STRAIGHT_PASSES(combine)                                                             \
    "always-inline,globaldce,function(sroa,early-cse," combine ",simplifycfg,"               \
    "loop-mssa(licm,loop-rotate,licm),simplifycfg,loop(indvars),loop-vectorize," combine "," \
    "early-cse,simplifycfg,loop-mssa(licm),instsimplify,simplifycfg)"

/* The vectoriser calls functions of whole vectors (ir/common/vector_forms.c), which are inlined after it: their constants stay in registers
 * along a loop. */
#define INLINE_PASSES "always-inline,globaldce"

/* Code of kernels over indices has loops over a run of points, which are one pass long once the points are vectors.
 * These loops are removed. Arrays of the kernel's variables then become variables, which stay in registers along the
 * loops of its text. */
#define RUN_PASSES(combine) \
    INLINE_PASSES ",function(loop(loop-deletion)," combine ",sroa,early-cse,loop-mssa(licm),simplifycfg)"

/* From version 18 on LLVM ends the process where instcombine has left anything to do, unless it is told not to look. */
#define OF_VERSION(l, PASSES) ((l)->major < 18 ? PASSES("instcombine") : PASSES("instcombine<no-verify-fixpoint>"))

/* Passes for kernels with very much code, whose time is in proportion to its length. That of default<O1> is not: for
 * each loop that it unrolls LLVM looks at all loops of the function again, and to move accesses out of a loop it
 * looks at pairs of them. */
#define PLAIN_PASSES                                                                    \
    "always-inline,globaldce,function(sroa,early-cse<memssa>,simplifycfg,instsimplify," \
    "loop(loop-rotate),early-cse,adce,simplifycfg)"

static llvm_error run(const llvm *l, llvm_module module, llvm_machine machine, const char *passes) {
    llvm_pass_options options = l->CreatePassBuilderOptions();
    llvm_error error = l->RunPasses(module, passes, machine, options);
    l->DisposePassBuilderOptions(options);
    return error;
}

/* Functions of whole vectors that no loop calls can go once all vectors are made. Until then the list of what is used holds them. */
static void drop_used(const llvm *l, llvm_module module) {
    llvm_value list = l->GetNamedGlobal(module, "llvm.compiler.used");
    if (list)
        l->DeleteGlobal(list);
}

llvm_error llvm_optimise(const llvm *l, llvm_module module, llvm_machine machine, llvm_passes passes) {
    if (passes == PASSES_PLAIN)
        return run(l, module, machine, PLAIN_PASSES);
    llvm_error error = run(l, module, machine,
                           passes == PASSES_STRAIGHT ? OF_VERSION(l, STRAIGHT_PASSES) : OF_VERSION(l, VECTOR_PASSES));
    if (error)
        return error;
    drop_used(l, module);
    error = run(l, module, machine, passes == PASSES_OF_RUNS ? OF_VERSION(l, RUN_PASSES) : INLINE_PASSES);
    if (!error && l->slow_gathers)
        llvm_spread_gathers(l, module);
    return error;
}
