/* define.h - a function that a test needs, in one step: what is wrong with it is printed, and ends the program. */
#ifndef UF_TEST_DEFINE_H
#define UF_TEST_DEFINE_H

#include "ufunc.h"

/* uf_define with one section; layout may be NULL, max_steps 0. */
uf_func *define(const char *name, const char *layout, const char *signatures, const char *source, unsigned flags,
                int64_t max_steps);
/* uf_define of `definition`, named "f", with this section. */
uf_func *define_with(const uf_definition *definition, const char *signatures, const char *source);
/* An elementwise function named "f". */
uf_func *make(const char *signatures, const char *source);

#endif
