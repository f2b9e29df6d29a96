/* elementwise.h - the loops of elementwise kernels, of which updates in place are built too, and their skeletons. */
#ifndef UF_IR_ELEMENTWISE_H
#define UF_IR_ELEMENTWISE_H

#include "ir/common/skeleton.h"

/* GPU: the elements of a loop by number (gpu_general.c), which is taken apart into indices by magic numbers. A thread has
 * `repeat` of them, a block's width apart. */
typedef struct general {
    bool wide;
    const char *type;                          /* of numbers, indices and offsets: i64 if wide, else i32 */
    ssa n;                                     /* elements */
    divisor extent[UF_MAX_NDIM];               /* of all dimensions but the outermost */
    ssa stride[VARIANT_OPERANDS][UF_MAX_NDIM]; /* of all arrays */
} general;
general *general_read(skeleton *s); /* reads its parameters */
/* The g-th element of a thread after its first, or that again beyond the end, which *exists (i1) tells. */
ssa general_next(skeleton *s, const general *f, ssa first, int g, ssa *exists);
/* The addresses of element number x in all arrays that are not uniform. */
void general_find(skeleton *s, const general *f, ssa x, ssa *at);

/* CPU: dimensions 0 and 1 of a loop (cpu_loop.c). */
typedef struct cpu_loop {
    ssa n, m, stride[2][VARIANT_OPERANDS];
} cpu_loop;
void cpu_loop_read(skeleton *s, cpu_loop *l);
/* The addresses of row i in all arrays. */
void cpu_loop_row(skeleton *s, const cpu_loop *l, ssa i, ssa *row);
/* The address of element i of a row of operand k. */
ssa cpu_element(skeleton *s, int k, ssa row, ssa i, const ssa *stride);
/* All elements of a row; stride[k] is read for strided operands. */
void cpu_row(skeleton *s, ssa n, const ssa *row, const ssa *stride);

/* CPU: does a loop do little, so that reading and writing is what takes its time? fields: what it does for so many elements, all alike. */
bool cpu_does_little(const skeleton *s, int fields);
/* CPU: does a loop do so little that reading is what takes its time, on a processor that reads faster by narrow vectors? fields: what it does
 * for so many elements, all alike. */
bool cpu_reads_narrowly(const skeleton *s, int fields);
enum {
    NARROW_HINTS = 3
};
/* Such a loop over n elements of at most `size` bytes is two: several vectors at a time, and what is left by one. */
typedef struct narrow_loops {
    ssa whole, rest; /* elements of the two */
    int hints[2][NARROW_HINTS];
} narrow_loops;
narrow_loops cpu_narrow(skeleton *s, ssa n, int size);

/* CPU: of how many fields the records of all operands are, if these are computed alike (alike.c); 0: they are not. All elements of a row of
 * such records. */
int alike_fields(skeleton *s);
void alike_row(skeleton *s, ssa n, int fields, const ssa *row);
/* n records from the first on, which are whole lines of each output, by way of an array for each output (whole_line.h). */
void alike_by_lines(skeleton *s, ssa n, int fields, const ssa *array);

/* CPU: are elements with gaps between them best read and written one by one? */
bool cpu_is_by_element(const skeleton *s);
/* CPU: the elements of a row of complex numbers as pairs in vectors (pairs.c); false: the kernel is none that can be computed so, and nothing
 * was written. */
bool pairs_row(skeleton *s, ssa n, const ssa *row, const ssa *stride);
/* The same of n elements that make up whole vectors of so many bytes, written out. */
bool pairs_line(skeleton *s, int n, int bytes, const ssa *row);

/* The skeletons. Each reads its parameters after the operands', in the order of type/schema.h, and leaves the "ret" to skeleton_end. */
void cpu_flat(skeleton *s);
void cpu_strided(skeleton *s); /* rows and general */
void cpu_tile(skeleton *s);
void gpu_flat(skeleton *s);
void gpu_rows(skeleton *s);
void gpu_general(skeleton *s);
void gpu_tile(skeleton *s);
/* gpu_general, with general.vector. */
void gpu_neighbours(skeleton *s);

#endif
