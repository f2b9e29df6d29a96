/* shape.h - what the kernel skeletons share: parameters, operands, batches of elements. A shape is the part of a kernel that
 * knows loops and addresses; its file writes one function, from skeleton_begin to skeleton_end. */
#ifndef UF_SHAPE_H
#define UF_SHAPE_H

#include "ir/common/emit.h"

typedef struct skeleton {
    emit *e;
    const tree *t;
    const variant *v;
    int noperands, nin;             /* operands of the variant: inputs, outputs, mask */
    int word, nwords;               /* the parameter word to be read next; how many there are */
    ssa base[VARIANT_OPERANDS];     /* an array: typed address of its first element */
    bool uniform[VARIANT_OPERANDS]; /* value holds the input for all elements: numbers, and what skeleton_know loaded */
    ssa value[VARIANT_OPERANDS];    /* of the signature's dtype */
} skeleton;

/* Writes a module: `write` its functions and the kernel, with the user's data. Running out of arena memory in there ends it
 * here. */
uf_status skeleton_module(arena *a, const char *name, const variant *v, const code_target *target, code_module *module,
                          void (*write)(emit *e, void *user), void *user);
/* Writes the head of the kernel (name module->entry) and reads the words of the operands; `words` come behind them. */
void skeleton_begin(skeleton *s, emit *e, const tree *t, const variant *v, int words);
void skeleton_end(skeleton *s);
/* The next parameter word, in 64 bits or its low 32. */
ssa skeleton_word(skeleton *s);
ssa skeleton_word32(skeleton *s);

static inline bool skeleton_is_array(const skeleton *s, int k) { return s->v->operand[k].kind < OPERAND_NUMBER; }
static inline bool skeleton_is_output(const skeleton *s, int k) { return k >= s->nin && k < s->nin + s->v->nout; }
static inline dtype skeleton_memory(const skeleton *s, int k) { return (dtype)s->v->operand[k].memory; }
int skeleton_arrays(const variant *v); /* how many operands are arrays */
/* Does any operand lie in memory as a pair, so that even one element can be misaligned for a single access? */
bool skeleton_has_pairs(const variant *v);
/* Loads and converts an input that is the same for every element from here on. */
void skeleton_load_uniform(skeleton *s, int k, ssa pointer);

/* The address of element `index` (i64) of operand k counted from `pointer`. */
ssa skeleton_address(skeleton *s, int k, ssa pointer, ssa index);

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
void counted_loop_end(emit *e, const counted_loop *l, ssa step, int hint);
/* The same for a loop of few iterations: vectors of which some lanes are masked in place of single elements at its end. */
void counted_loop_end_short(emit *e, const counted_loop *l, ssa step, int hint);
void counted_loop_end_hints(emit *e, const counted_loop *l, ssa step, const int *hints, int n);
int loop_no_unroll(emit *e); /* a hint: libNVVM's older dialect unrolls what it sees */
/* ", !llvm.loop !7", to be put behind the branch that ends a loop: these hints, and that a loop of much code is not to be unrolled. */
fragment loop_hints(emit *e, const int *hints, int n);

/* GPU: how many elements a thread has in flight where it goes element by element (misaligned arrays, tails): more cost
 * registers, which the path of vectors would lack, and time to compile, a large body most of all. */
enum {
    SINGLE_STEP = 4
};
int skeleton_single_step(const skeleton *s);

/* GPU: the address of dynamic shared memory from so many bytes (i64) on, as a pointer to the type. */
ssa emit_shared_address(emit *e, ssa offset, const char *type);
/* GPU: a special register ("tid", "ctaid", "ntid"; .x). */
ssa emit_special_register(emit *e, const char *name);

/* Division by a magic number that stands in three parameter words: extent, magic, shift. i32, or i64 if wide. */
typedef struct divisor {
    ssa extent, magic, shift;
} divisor;
divisor skeleton_divisor(skeleton *s, bool wide);
void skeleton_divide(skeleton *s, const divisor *d, bool wide, ssa x, ssa *quotient, ssa *remainder);

/* ---- Batches: elements that are loaded together before the first of them is computed or stored. Every load of a batch
 * precedes its first store, which is what makes in-place operands and reordering by the vectoriser right. On the GPU it also
 * lets the first element of a thread stand in for those beyond the end: it is then computed and stored again, with the same
 * result, and no element needs a branch. ---- */

enum {
    BATCH_LANES = 16 /* largest variant.vector */
};

/* groups * vector elements; a group is `vector` neighbours along contiguous operands. */
typedef struct batch {
    int groups, vector;
    bool aligned; /* groups are aligned to vector * size and accessed whole; else vector is 1 */
    ssa *in;      /* [(group * vector + lane) * noperands + operand]: as loaded; unused for known operands */
    ssa *at;      /* [group * noperands + output]: address of the group's first element */
} batch;
batch batch_new(skeleton *s, int groups, int vector, bool aligned);
/* Operand k of a group by one access: loads it (inputs, mask) or notes its address (outputs). Not for known operands. */
void batch_access(skeleton *s, batch *b, int group, int k, ssa pointer);
/* The same input for all lanes of a group, by a load of one element; and a copy of what another group has. */
void batch_broadcast(skeleton *s, batch *b, int group, int k, ssa pointer);
void batch_copy(skeleton *s, batch *b, int group, const batch *from, int from_group, int k);
/* Computes, converts and stores, where the mask is true. */
void batch_finish(skeleton *s, batch *b);

/* One element's results, of the outputs' memory dtypes, from its operands as loaded (known ones are not looked at). */
void skeleton_compute(skeleton *s, const ssa *in, ssa *results);

/* What follows, up to shape_end_if with the returned label, runs only if the condition is true. */
int skeleton_if(skeleton *s, ssa condition);
void skeleton_end_if(skeleton *s, int end);

#endif
