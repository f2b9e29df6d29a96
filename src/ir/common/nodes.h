/* nodes.h - walks over typed trees, and what they find. */
#ifndef UF_IR_NODES_H
#define UF_IR_NODES_H

#include "lang/lang.h"

/* Calls visit for a node and every one below it; for those of a list. */
void node_visit(const node *n, void (*visit)(const node *n, void *user), void *user);
void node_each(const node *list, void (*visit)(const node *n, void *user), void *user);
/* Index d of an element of an array of this rank. */
const node *element_index(const node *element, int rank, int d);
/* Is it the language's own helper of that name, as max is? NULL is none. */
bool function_is_own(const function *f, const char *name);
/* Have two numbers of one type the same bits? */
bool numbers_same(const number *a, const number *b);
/* Are a and b the same expression, where what is local i in a is local j in b? */
bool node_same(const node *a, const node *b, int i, int j);
/* The local variables that a node itself assigns, a list of N_LOCALs; of any node but a call it has one at most. NULL: none. */
const node *node_assigned(const node *n);
bool node_reduces(const node *n); /* is there a reduction in it? */
/* Does a statement its body once, from the first statement to the last? So do N_BLOCK, and N_INLINE that nothing leaves early. */
bool node_is_block(const node *n);
/* What a list of statements or an expression costs, roughly: nodes, more for calls. */
int node_cost(const node *list);
/* Does it call functions of math.h, of which there are forms for vectors? */
bool tree_has_math(const tree *t);
bool tree_divides_integers(const tree *t);
bool tree_divides(const tree *t);            /* numbers of any kind */
bool tree_takes_roots(const tree *t);        /* or divides floating numbers, which takes long */
bool tree_branches(const tree *t);           /* has it conditions, or loops of the text? */
bool tree_multiplies_complex(const tree *t); /* or divides */
bool tree_compares_complex(const tree *t);   /* are complex numbers equal, or not? */

/* outputs.c: must the elements of output k be there before a kernel runs that computes with a copy of it? Not if it reads none, and a forall
 * assigns every one, whatever happens. Does this forall? */
bool needs_content(const function *f, int k);
bool forall_assigns(const function *f, const node *forall, int k);
/* outputs.c: does the kernel read output k, or may it return before it assigns it? */
bool reads_or_leaves(const node *n, int k);

/* operator.c: the expression that a function returns, if that is all it does; else NULL. */
const node *function_returned(const function *f);
/* operator.c: "add", "sub", "mul", "and", "or", "xor", "min", "max", "umin", "umax": what a kernel computes of its two inputs in
 * a dtype, which is that of both (min, max: of integers); NULL: something else. */
const char *tree_operator(const tree *t, dtype type);
/* The same of halves, which are computed in 32 bits and rounded: "add", "sub", "mul", or NULL. */
const char *tree_operator_of_halves(const tree *t, dtype type);

#endif
