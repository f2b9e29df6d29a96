/* numbering.h - value numbering of a GPU's module, as text. */
#ifndef UF_NUMBERING_H
#define UF_NUMBERING_H

#include "ir/common/module_text.h"

/* A function while it is written again. */
typedef struct numbering {
    bool settled;
    arena memory;                       /* of one function */
    map pure;                           /* of the module: names of functions that are readnone */
    flow blocks;                        /* of the function, as all that follows */
    map variables;                      /* name -> what is known of an alloca */
    map numbers;                        /* text of an instruction -> its number */
    map renamed;                        /* name -> the name or constant that stands for it */
    map sums, multiples, walks, halves; /* cheaper.c */
    map awaited;                        /* names that a phi has from a block behind it */
    text line, *out;
    bool failed;
} numbering;

/* Removes from a module's functions what is computed or loaded again: see numbering.c. `settled`: no compiler will look for what is
 * cheaper, so that cheaper.c does. Out of memory: module->failed. */
void number_values(text *module, bool settled);

/* Memory of the function's, a copy there, and a place in one of its maps; without memory n->failed is set, and the result NULL. */
void *numbering_take(numbering *n, size_t size);
const char *numbering_copy(numbering *n, const char *at, size_t length);
void numbering_put(numbering *n, map *m, const char *key, size_t length, void *value);
/* The name of a value that is computed besides the instructions that there are, in block `here`: that of one which has it already, or `name`
 * and `more`, whose instruction is then written. NULL: no memory. */
const char *numbering_besides(numbering *n, const char *name, const char *more, const char *instruction, int here);

/* cheaper.c: writes something cheaper than an instruction, which computes the same; false: there is nothing, or it is noted for others. */
bool write_cheaper(numbering *n, const char *name, const char *at, size_t length, int here);
/* constant_division.c: appends what computes `name` without a division, if the instruction is one of integers by a constant, a power of two
 * where they are signed: "udiv i32 %r1, 24". */
bool write_constant_division(text *out, const char *name, const char *instruction, size_t length);

#endif
