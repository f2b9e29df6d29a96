/* forall.h - what the files of kernels over indices share. Such a kernel is that of a generalized ufunc whose arrays are all core operands
 * (gufunc.h); it is called once for each point of the index space. */
#ifndef UF_IR_FORALL_H
#define UF_IR_FORALL_H

#include "ir/gufunc/gufunc.h"

/* A kernel over indices: a gufunc_writer, whose arrays are core operands altogether, and what this class adds to it. */
typedef struct forall_writer {
    gufunc_writer g;
    private_copy private_copies
        [UF_MAX_OPERANDS]; /* the private copies of privatised operands (privatised.h), as @kernel knows them */
    ssa private_base[UF_MAX_OPERANDS]; /* and their addresses as the caller of @kernel knows them */
    const struct coalesced *coalesced; /* GPU: see coalesced.h; NULL: no access is */
    const struct interior *interior;   /* GPU: there is @interior, see interior.h; NULL: there is none */
    text variables;              /* the arguments of @interior behind those of @kernel: see coalesced_parameters */
    const struct guards *guards; /* CPU: see guards.h; NULL: not looked for */
    struct outer_vector *outer;  /* CPU: see outer_vector.h; NULL: there is no @points */
    struct {
        const node *write;          /* that fills operand k; NULL: none */
        ssa array, buffer;          /* where its elements are computed, and the address of that (i64) */
    } nontemporal[UF_MAX_OPERANDS]; /* CPU: see nontemporal.h */
    ssa copy;                       /* CPU, with nontemporal operands: void (i8 *to, i8 *from, i64 bytes) */
    int by_lines; /* CPU: the one such operand whose lines are written one by one; -1: there is none */
    int group;    /* CPU: the access group of @kernel's accesses to arrays */
} forall_writer;

/* Writes a call of @<entry> for a point: "kernel", "interior", or "points" for the run of points that begins there (outer_vector.h). index[d]
 * (i64) is the index of dimension d; 0 is the outermost. */
void forall_point(forall_writer *w, const char *entry, const ssa *index);
/* Outside of @kernel: the value of an integer expression of constants, sizes, indices, and numbers that are not assigned. */
ssa forall_value(const forall_writer *w, const ssa *index, const node *n);
/* USE_ of each parameter, but for USE_COALESCED and USE_TURNED; and all that is known of a kernel (uses.c; false: no memory). */
void forall_uses(const tree *t, uint16_t *use);
bool forall_traits(arena *a, const tree *source, const known_extents *known, code_traits *out);

/* Is all that a generalized ufunc's inner call does one forall over windows of its inputs (points_of_calls.c)? */
bool calls_are_windows(const tree *t);

/* The one atomic operation by which an operand with USE_COUNTER is updated. */
atomic_op forall_counted(const tree *t, int k);

void cpu_forall(forall_writer *w);
void gpu_forall(forall_writer *w);

#endif
