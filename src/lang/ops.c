/* ops.c - the table of operators as data. */
#include "lang/ops.h"

const op_info ops[OP_COUNT] = {
#define X(name, spelling, precedence, kind) [name] = {spelling, precedence, kind},
    OPERATORS(X)
#undef X
};
