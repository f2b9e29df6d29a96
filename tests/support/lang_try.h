/* lang_try.h - kernel C in the tests: parse and check in one step. */
#ifndef UF_LANG_TRY_H
#define UF_LANG_TRY_H

#include "lang/lang.h"

/* A kernel that is tried. What is NULL is left out. */
typedef struct lang_trial {
    const char *source;
    const char
        *types; /* "float32,interval(int8)->float32"; without an arrow the outputs take the types of the kernel */
    const char *layout;     /* of a generalized ufunc */
    const char *parameters; /* of a kernel over indices, in place of types: "float32[,], interval(int8)" */
    /* What `use` finds: names and texts in turn, and NULL behind the last. A module called m has the title "module m". */
    const char *const *modules;
} lang_trial;

/* Parses and checks a kernel into a. The tree may be NULL. */
uf_status lang_try_with(arena *a, const lang_trial *what, tree **out);
uf_status lang_try(arena *a, const char *source, const char *types, tree **out);
uf_status lang_try_core(arena *a, const char *layout, const char *source, const char *types, tree **out);
uf_status lang_try_kernel(arena *a, const char *parameters, const char *source, tree **out);

/* What in a tree breaks the promises of lang.h, or NULL. */
const char *tree_fault(const tree *t);

/* Checks the texts of a reduction for a fold whose dtypes and flags are set; all but combine may be NULL. Prints what is wrong with
 * one, and aborts. */
typedef struct fold_texts {
    const char *map, *combine, *finish, *identity;
} fold_texts;
struct fold; /* lang/fold.h */
void fold_try(arena *a, struct fold *f, const fold_texts *texts);

#endif
