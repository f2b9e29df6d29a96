/* skeleton.h - what the kernel skeletons share: parameters, operands, batches of elements. A skeleton is the part of a kernel that
 * knows loops and addresses, around the functions of the tree, which know one element. Its file writes one IR function, from
 * skeleton_begin to skeleton_end. */
#ifndef UF_SKELETON_H
#define UF_SKELETON_H

#include "ir/common/emit.h"
#include "type/schema.h"

typedef struct skeleton {
    emit *e;
    const tree *t;
    const variant *v;
    int noperands, nin;             /* operands of the variant: inputs, outputs, mask */
    parameter_cursor next;          /* the kernel parameter to be read next */
    ssa base[VARIANT_OPERANDS];     /* an array: typed address of its first element */
    bool uniform[VARIANT_OPERANDS]; /* an input is the same for all elements, and in value: a number, or loaded */
    ssa value[VARIANT_OPERANDS];    /* of the signature's dtype */
} skeleton;

/* Writes a module: `write` writes its functions and the kernel, and is given the user's data. It may be called twice: a module that
 * turns out too large is written again in the plain form (emit.plain). If arena memory runs out, control comes back here, so `write`
 * must own nothing else. */
uf_status skeleton_module(arena *a, const char *name, const variant *v, const code_target *target, code_module *module,
                          void (*write)(emit *e, void *user), void *user);
/* How many instructions the kernel has in what `write` writes, with those of the functions that it calls; INT_MAX: more than the limit, or
 * the writing was given up (UF_ERR_COMPILE); -1: out of memory. */
int skeleton_measure(arena *a, const code_target *target, int limit, void (*write)(emit *e, void *user), void *user);
/* Writes the head of the kernel (name module->entry) and reads the operands' parameters. layout: LOOP_GUFUNC and LOOP_FORALL. */
void skeleton_begin(skeleton *s, emit *e, const tree *t, const variant *v, const core_layout *layout);
/* All parameters have been read. */
void skeleton_end(skeleton *s);
/* The next kernel parameter, which must be one of this row of the schema, as its kind says: i64, i32 or i1. */
ssa skeleton_parameter(skeleton *s, parameter_id id);
/* The address of the report, which comes last, read ahead of the others. */
ssa skeleton_report(skeleton *s);

static inline bool skeleton_is_array(const skeleton *s, int k) { return s->v->operand[k].kind < OPERAND_NUMBER; }
static inline bool skeleton_is_output(const skeleton *s, int k) { return k >= s->nin && k < s->nin + s->v->nout; }
static inline dtype skeleton_memory(const skeleton *s, int k) { return (dtype)s->v->operand[k].memory; }
/* Does any operand lie in memory as a pair, or in records, so that even one element can be misaligned for a single access? */
bool skeleton_has_pairs(const variant *v);
bool skeleton_has_records(const variant *v);
/* Loads and converts an input once, which from here on is the same for every element. */
void skeleton_load_uniform(skeleton *s, int k, ssa pointer);

/* Does operand k have an address that differs from element to element? The others are uniform, or follow one that has. */
static inline bool skeleton_moves(const skeleton *s, int k) { return !s->uniform[k] && !variant_follows(s->v, k); }

/* The address of element `index` (i64) of operand k counted from `pointer`; and where elements lie side by side: operand k is contiguous,
 * or its group is. */
ssa skeleton_address(skeleton *s, int k, ssa pointer, ssa index);
ssa skeleton_neighbour(skeleton *s, int k, ssa pointer, ssa index);

/* Loads n neighbours of operand k, and of those that follow it, into in[lane * noperands + operand]. whole: by accesses as wide as their
 * alignment allows (a group that is strided is always accessed so); else n is 1. */
void skeleton_load(skeleton *s, int k, ssa pointer, int n, bool whole, ssa *in);
/* The same for outputs, from out[lane * nout + output]. */
void skeleton_store(skeleton *s, int k, ssa pointer, int n, bool whole, const ssa *out);

/* CPU: a stride that LLVM must not guess to be 1. For a plain parameter it makes a vector loop for the stride 1, which no strided
 * operand has, and leaves all others to a scalar loop; at the value of a select it does not guess. */
ssa skeleton_opaque_stride(emit *e, ssa stride);

/* A loop `for (i = from; i < limit; i += step)` over i32 or i64, signed; its body lies between begin and end. hint: number
 * of a metadata node that says something about the loop, 0: nothing. */
typedef struct counted_loop {
    const char *type;
    ssa i, next, limit;
    int head, latch, end;
} counted_loop;
counted_loop counted_loop_begin(emit *e, const char *type, ssa from, ssa limit);
/* The same for one that has an iteration. Where that is asked for in a loop LLVM makes a copy of this for the other answer. */
counted_loop counted_loop_begin_some(emit *e, const char *type, ssa from, ssa limit);
void counted_loop_end(emit *e, const counted_loop *l, ssa step, int hint);
/* The same for a loop of few iterations: LLVM masks lanes of the last vector instead of taking its elements one by one. */
void counted_loop_end_short(emit *e, const counted_loop *l, ssa step, int hint);
void counted_loop_end_hints(emit *e, const counted_loop *l, ssa step, const int *hints, int n);
int loop_no_unroll(
    emit *e); /* a hint; without it the legacy dialect of libNVVM unrolls loops that gain nothing by it */
int loop_no_vectors(emit *e); /* a hint */
enum {
    FEW_LANES = 4,
    FEW_LANE_HINTS = 2,
    ONE_VECTOR_HINTS = 4
};
/* A copy (i64) that LLVM cannot relate to the original, of a loop around which it would otherwise make a copy for each case that it can think of. */
ssa unknown_value(emit *e, ssa x);
/* The same, another one in each iteration of the loops around it. */
ssa unknown_each_time(emit *e, ssa x);
/* An i1 that is asked for in each iteration: else LLVM makes a copy of the loops around it for each of its values. */
ssa unknown_answer(emit *e, ssa condition);
/* Hints for a loop of few iterations: one vector of so many lanes at a time. Returns FEW_LANE_HINTS. LLVM may change the order of sums then. */
int loop_few_lanes(emit *e, int lanes, int hints[FEW_LANE_HINTS]);
/* Hints for a loop over so many lanes that becomes one vector, before LLVM writes it out for each lane. */
void loop_one_vector(emit *e, int lanes, int hints[ONE_VECTOR_HINTS]);
/* ", !llvm.loop !7", to be put behind the branch that ends a loop: these hints, and, in the plain form on the GPU, that it is not to
 * be unrolled. */
fragment loop_hints(emit *e, const int *hints, int n);

/* GPU: how many elements a thread loads at once where it goes element by element (misaligned arrays, tails). More would take
 * registers from the path by vectors in the same kernel, and time to compile, most of all for a large body. */
enum {
    SINGLE_STEP = 4
};
int skeleton_single_step(const skeleton *s);

/* GPU: the address of dynamic shared memory from so many bytes (i64) on, as a pointer to the type. */
ssa emit_shared_address(emit *e, ssa offset, const char *type);
/* GPU: a special register ("tid", "ctaid", "ntid"; .x). */
ssa emit_special_register(emit *e, const char *name);

/* Division by an extent known at launch, as a multiplication by a magic number and a shift: KIND_DIVISOR (i32, or i64 where the variant is
 * wide) or KIND_DIVISOR32. */
typedef struct divisor {
    ssa extent, magic, shift;
} divisor;
divisor skeleton_divisor(skeleton *s, parameter_id id);
void skeleton_divide(skeleton *s, const divisor *d, bool wide, ssa x, ssa *quotient, ssa *remainder);

/* ---- Batches: elements that are loaded together before the first of them is computed or stored. That every load of a batch
 * precedes its first store makes in-place operands right, and what the vectoriser reorders. On the GPU the first element of a
 * thread also stands in for those beyond the end: it is computed and stored again, with the same result, so that no element
 * needs a branch. ---- */

enum {
    BATCH_LANES = 16 /* largest variant.vector */
};

/* groups * vector elements: a group is `vector` elements that are neighbours in contiguous operands. */
typedef struct batch {
    int groups, vector;
    bool aligned; /* groups are aligned to vector * size and accessed whole; else vector is 1 */
    ssa *in;      /* [(group * vector + lane) * noperands + operand]: as loaded; unused for known operands */
    ssa *at;      /* [group * noperands + output]: address of the group's first element */
} batch;
batch batch_new(skeleton *s, int groups, int vector, bool aligned);
/* Operand k of a group, and those that follow it, as skeleton_load: loads it (inputs, mask) or notes its address (outputs). For operands
 * that move (skeleton_moves) alone. */
void batch_access(skeleton *s, batch *b, int group, int k, ssa pointer);
/* The same input for all lanes of a group, by a load of one element; and the lanes that a group of another batch has loaded. */
void batch_broadcast(skeleton *s, batch *b, int group, int k, ssa pointer);
/* What has been loaded of a group: operand k of a lane at lane * noperands + k. */
ssa *batch_lanes(skeleton *s, batch *b, int group);
void batch_copy(skeleton *s, batch *b, int group, const batch *from, int from_group, int k);
/* Computes, converts and stores, where the mask is true; or as if there were no mask. */
void batch_finish(skeleton *s, batch *b);
void batch_finish_unmasked(skeleton *s, batch *b);

/* One element's results, in the outputs' memory dtypes, from its operands as loaded; in[k] of a uniform operand is not looked at. */
void skeleton_compute(skeleton *s, const ssa *in, ssa *results);
/* The same of n elements: in[i * noperands + k] and results[i * nout + k]. */
void skeleton_compute_all(skeleton *s, const ssa *in, int n, ssa *results);

/* GPU: is a kernel computed where the mask is false, too, so that only stores depend on it? Not if it might loop for long. */
static inline bool skeleton_ignores_mask(const skeleton *s) {
    return s->e->target->gpu && s->v->masked && !s->t->has_loop;
}
/* Where the mask is true: stores the results of n neighbours, results[lane * nout + output], all together if it is true for all of them. in: what
 * has been loaded of them, the mask among it; at: by operand, an output's address for the first of them. whole: as for skeleton_store. */
void skeleton_store_where(skeleton *s, const ssa *in, int n, bool whole, const ssa *at, const ssa *results);

/* What follows, up to skeleton_end_if with the returned label, runs only if the condition is true. */
int skeleton_if(skeleton *s, ssa condition);
void skeleton_end_if(skeleton *s, int end);

#endif
