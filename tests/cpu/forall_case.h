/* forall_case.h - a kernel over indices by itself: from text to code of the CPU engine, with what core would say of arguments. */
#ifndef UF_FORALL_CASE_H
#define UF_FORALL_CASE_H

#include "engine.h"
#include "ir/ir.h"

typedef struct forall_case {
    arena memory;
    tree *t;
    variant v;
    code_traits size;
    nd_loop loop;
    int64_t *core;
    char *data[UF_MAX_OPERANDS];
    uint64_t numbers[UF_MAX_OPERANDS][2];
    launch l;
    code *code;
} forall_case;

/* A kernel for these arguments: arrays in host memory, and numbers (ndim 0) of the parameter's dtype. `apart`: no array overlaps
 * another. Aborts when something fails; forall_close ends it. */
void forall_open(forall_case *f, const char *parameters, const char *source, int ndim, const int64_t *extents,
                 const DLTensor *args, bool apart);
void forall_close(forall_case *f);
/* The engine has chosen; the variant may be changed in between. */
void forall_compile(forall_case *f);
void forall_launch(forall_case *f, int threads);

#endif
