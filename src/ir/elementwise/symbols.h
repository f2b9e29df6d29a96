/* symbols.h - what a kernel without branches makes of its parameters, followed through variables and calls: symbols, of which equal ones are
 * one, so that values can be compared, and computed otherwise than in the order in which they are written down. */
#ifndef UF_SYMBOLS_H
#define UF_SYMBOLS_H

#include "lang/lang.h"

enum {
    SYMBOLS_MOST = 200
};

/* A value: an operator and what it is applied to, by number; or a parameter. */
typedef struct symbol {
    node_kind kind;
    int op, type, wide, local; /* local: of a parameter */
    bool exact;                /* see function.exact */
    const math_row *math;
    number value;
    int kid[3]; /* -1: none */
} symbol;

typedef struct symbols {
    arena *a;
    int count, depth, looked;
    bool failed; /* something is not understood, or too large */
    symbol of[SYMBOLS_MOST];
} symbols;

symbols *symbols_new(arena *a);
/* The number of a symbol, which is new or known; -1: there are too many. */
int symbol_intern(symbols *x, const symbol *new);
int symbol_of_parameter(symbols *x, int k, int type);
/* The kernel's results for arguments, all by number. False: something was not understood. */
bool symbols_of_results(symbols *x, const function *kernel, const int *arguments, int *results);

#endif
