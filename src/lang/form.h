/* form.h - what is known of integers, and what follows: linear forms over atoms, bounds of atoms, facts. It knows nothing of
 * kernels; range.c makes forms of expressions. All of it is about mathematical integers, which never wrap. */
#ifndef UF_FORM_H
#define UF_FORM_H

#include "base/base.h"

__extension__ typedef __int128 wide;

enum {
    FORM_TERMS = 6,
    NEED_SIZES = 4, /* in a product */
    NEEDS_MAX = 32
};

/* constant + factor[0] * atom[0] + .. ; atoms ascend, factors are not 0 */
typedef struct form {
    wide constant;
    int count;
    int atom[FORM_TERMS];
    int64_t factor[FORM_TERMS];
} form;

/* Of an atom: divisor * atom >= f, or <= f; divisor is at least 1. */
typedef struct bound {
    form f;
    int64_t divisor;
} bound;

/* An integer of which bounds are known, in terms of older atoms. Each bound holds; with every_low (every_high) it is known
 * only that one of them does, so that what follows must follow from each. */
typedef struct atom {
    bound low[2], high[2];
    int nlow, nhigh;
    bool every_low, every_high;
    int product[2]; /* the two atoms it is the product of, the older first; -1: it is none */
} atom;

/* What is to hold of sizes: constant + factor[0] * (the product of the sizes in term 0) + .. is not negative. */
typedef struct need {
    int64_t constant;
    int count;
    int64_t factor[FORM_TERMS];
    uint8_t nsizes[FORM_TERMS], size[FORM_TERMS][NEED_SIZES];
} need;

/* Atoms and facts (forms that are not negative) are two stacks: what is learned in a scope goes with it. */
typedef struct knowledge {
    arena *a;
    atom *atoms;
    form *facts;
    int natoms, nfacts, atoms_size, facts_size;
    int nsizes; /* the first atoms are sizes, which are known when a function is called */
    int depth;  /* of proofs, one within another */
    int steps;  /* of proofs, that may still be taken: no text is to take long */
    need *needs;
    int nneeds;
    int need_steps; /* the same, of proofs for what depends on needs */
    int pass_steps; /* and of those for how often loops go round */
} knowledge;

form form_constant(wide value);
form form_atom(int at);
/* a + times * b; false: it cannot be written. */
bool form_add(form *a, const form *b, int64_t times);
bool form_multiply(knowledge *k, const form *a, const form *b, form *out);
/* A new atom, with no bounds yet. */
int atom_new(knowledge *k);
void atom_low(knowledge *k, int at, const form *f, int64_t divisor);
void atom_high(knowledge *k, int at, const form *f, int64_t divisor);
/* The atom known as x / divisor, or -1. */
int atom_quotient(const knowledge *k, const form *x, int64_t divisor);
void fact_add(knowledge *k, const form *f);
/* True if f >= 0 follows. */
bool not_negative(knowledge *k, const form *f);
/* True if a <= b + difference follows. */
bool at_most(knowledge *k, const form *a, const form *b, wide difference);

/* True if f >= 0 follows from what is needed, which then has what that takes: best that a size is not below another one, and
 * rather one from `preferred` on. */
bool need_met(knowledge *k, const form *f, int preferred);
/* Makes it needed that f is not negative. False: it cannot be. */
bool need_add(knowledge *k, const form *f);
/* Exact, for sizes that are not negative. */
bool need_holds(const need *n, const int64_t *sizes);

#endif
