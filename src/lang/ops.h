/* ops.h - the table of operators, X(name, spelling, precedence, kind), which the enum, the lexer, the parser, the
 * checker, the printer and code generation read. precedence 0: a unary operator. The table of atomic functions
 * follows. */
#ifndef UF_OPS_H
#define UF_OPS_H

#include <stdbool.h>

/* kind: A arithmetic (integers, floating, complex), M integers only, S shifts, B bitwise, R order relations (the result
 * is bool), E equality, L logical (operand and result are bool), F integers only, and written like a call of a function */
#define OPERATORS(X)                      \
    X(OP_MUL, "*", 10, 'A')               \
    X(OP_DIV, "/", 10, 'A')               \
    X(OP_REM, "%", 10, 'M')               \
    X(OP_ADD, "+", 9, 'A')                \
    X(OP_SUB, "-", 9, 'A')                \
    X(OP_SHL, "<<", 8, 'S')               \
    X(OP_SHR, ">>", 8, 'S')               \
    X(OP_LT, "<", 7, 'R')                 \
    X(OP_LE, "<=", 7, 'R')                \
    X(OP_GT, ">", 7, 'R')                 \
    X(OP_GE, ">=", 7, 'R')                \
    X(OP_EQ, "==", 6, 'E')                \
    X(OP_NE, "!=", 6, 'E')                \
    X(OP_AND, "&", 5, 'B')                \
    X(OP_XOR, "^", 4, 'B')                \
    X(OP_OR, "|", 3, 'B')                 \
    X(OP_FLOOR_DIV, "floor_div", 10, 'F') \
    X(OP_FLOOR_MOD, "floor_mod", 10, 'F') \
    X(OP_NEG, "-", 0, 'A')                \
    X(OP_NOT, "~", 0, 'M')                \
    X(OP_LNOT, "!", 0, 'L')

typedef enum op {
#define X(name, spelling, precedence, kind) name,
    OPERATORS(X)
#undef X
    OP_COUNT
} op;

/* Atomic functions, X(name, spelling, operands, kind). kind: A integers and floating dtypes, B integers and bool, E any
 * dtype but complex128. operands is the number of arguments behind the element. */
#define ATOMICS(X)                                \
    X(ATOMIC_ADD, "atomic_add", 1, 'A')           \
    X(ATOMIC_SUB, "atomic_sub", 1, 'A')           \
    X(ATOMIC_MIN, "atomic_min", 1, 'A')           \
    X(ATOMIC_MAX, "atomic_max", 1, 'A')           \
    X(ATOMIC_AND, "atomic_and", 1, 'B')           \
    X(ATOMIC_OR, "atomic_or", 1, 'B')             \
    X(ATOMIC_XOR, "atomic_xor", 1, 'B')           \
    X(ATOMIC_EXCHANGE, "atomic_exchange", 1, 'E') \
    X(ATOMIC_COMPARE_EXCHANGE, "atomic_compare_exchange", 2, 'E')

typedef enum atomic_op {
#define X(name, spelling, operands, kind) name,
    ATOMICS(X)
#undef X
    ATOMIC_COUNT
} atomic_op;

typedef struct atomic_info {
    const char *name;
    int operands;
    char kind;
} atomic_info;
extern const atomic_info atomics[ATOMIC_COUNT]; /* lang/ops.c */

typedef struct op_info {
    const char *spelling;
    /* "operator +", the name of helpers that define it for records; unary and binary ones have other numbers of operands. */
    const char *helper;
    int precedence;
    char kind;
} op_info;
extern const op_info ops[OP_COUNT]; /* lang/ops.c */
/* Of a relation: the one that holds with its operands exchanged, and the one that holds where it does not. Any other
 * operator is its own. */
op op_mirrored(op o);
op op_inverse(op o);
/* Of integers: is it the quotient or the remainder of a division? */
bool op_divides(op o);
/* floor_div and floor_mod, where no operand is negative; any other operator is its own. */
op op_of_naturals(op o);

#endif
