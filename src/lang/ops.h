/* ops.h - the table of operators: X(name, spelling, precedence, kind). Enum, lexer, parser, checker, printer and emitter are
 * driven by it. precedence 0: unary. */
#ifndef UF_OPS_H
#define UF_OPS_H

/* kinds: A arithmetic (integers, floats, complex), M integers only, S shift, B bitwise, R relation (bool result), E equality,
 * L logical (bool operand and result) */
#define OPERATORS(X)        \
    X(OP_MUL, "*", 10, 'A') \
    X(OP_DIV, "/", 10, 'A') \
    X(OP_REM, "%", 10, 'M') \
    X(OP_ADD, "+", 9, 'A')  \
    X(OP_SUB, "-", 9, 'A')  \
    X(OP_SHL, "<<", 8, 'S') \
    X(OP_SHR, ">>", 8, 'S') \
    X(OP_LT, "<", 7, 'R')   \
    X(OP_LE, "<=", 7, 'R')  \
    X(OP_GT, ">", 7, 'R')   \
    X(OP_GE, ">=", 7, 'R')  \
    X(OP_EQ, "==", 6, 'E')  \
    X(OP_NE, "!=", 6, 'E')  \
    X(OP_AND, "&", 5, 'B')  \
    X(OP_XOR, "^", 4, 'B')  \
    X(OP_OR, "|", 3, 'B')   \
    X(OP_NEG, "-", 0, 'A')  \
    X(OP_NOT, "~", 0, 'M')  \
    X(OP_LNOT, "!", 0, 'L')

typedef enum op {
#define X(name, spelling, precedence, kind) name,
    OPERATORS(X)
#undef X
    OP_COUNT
} op;

typedef struct op_info {
    const char *spelling;
    int precedence;
    char kind;
} op_info;
extern const op_info ops[OP_COUNT]; /* lang/ops.c */

#endif
