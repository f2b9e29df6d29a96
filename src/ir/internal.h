/* internal.h - what the emitter's own files share. */
#ifndef UF_IR_INTERNAL_H
#define UF_IR_INTERNAL_H

#include "ir/emit.h"

/* A function of the module written while another one is being written: defined once, placed at the end. */
typedef struct aside {
    text body;
    text *out; /* what was being written */
    int scope, block;
} aside;

/* Begins the function with this head ("define .. nounwind", without the brace); false if it is there already. They nest. */
bool emit_aside(emit *e, aside *s, const char *head, ...) PRINTF(3, 4);
void emit_aside_end(emit *e, aside *s);
/* True the first time it is asked for a key in a module. */
bool emit_once(emit *e, const char *key);

/* The function that is being written. */
typedef struct body {
    emit *e;
    const function *f;
    int leave, next; /* labels of break and continue */
    int finish;      /* label of the one exit */
    int case_label;  /* label of the next case of the innermost switch */
    bool open;       /* the current block is not terminated */
} body;

ssa emit_expression(body *b, const node *n);         /* expr.c */
ssa emit_function_name(emit *e, const function *f);  /* stmt.c; "kernel", "f3_square" */
void emit_result_type(text *out, const function *f); /* "{ float, i32 }" */

#endif
