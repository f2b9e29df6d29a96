/* ops.c - the table of operators as data. */
#include "lang/ops.h"

#include <stdint.h>

const op_info ops[OP_COUNT] = {
#define X(name, spelling, precedence, kind) [name] = {spelling, "operator " spelling, precedence, kind},
    OPERATORS(X)
#undef X
};

const atomic_info atomics[ATOMIC_COUNT] = {
#define X(name, spelling, operands, kind) [name] = {spelling, operands, kind},
    ATOMICS(X)
#undef X
};

op op_mirrored(op o) {
    static const uint8_t mirror[OP_COUNT] = {[OP_LT] = OP_GT, [OP_GT] = OP_LT, [OP_LE] = OP_GE, [OP_GE] = OP_LE};
    return mirror[o] ? (op)mirror[o] : o;
}

op op_inverse(op o) {
    static const uint8_t inverse[OP_COUNT] = {
        [OP_LT] = OP_GE, [OP_GE] = OP_LT, [OP_GT] = OP_LE, [OP_LE] = OP_GT, [OP_EQ] = OP_NE, [OP_NE] = OP_EQ};
    return inverse[o] ? (op)inverse[o] : o;
}

bool op_divides(op o) { return o == OP_DIV || o == OP_REM || ops[o].kind == 'F'; }

op op_of_naturals(op o) { return o == OP_FLOOR_DIV ? OP_DIV : o == OP_FLOOR_MOD ? OP_REM : o; }
