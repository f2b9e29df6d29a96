/* form.h - proofs about integers, by linear forms over atoms, bounds of atoms, and facts. It knows nothing of kernels:
 * range.c makes forms of expressions. All integers here are mathematical ones, which never wrap. */
#ifndef UF_FORM_H
#define UF_FORM_H

#include "base/base.h"

__extension__ typedef __int128 int128;

enum {
    FORM_TERMS = 6,
    NEED_SIZES = 4, /* sizes in a product */
    NEEDS_MAX = 32
};

/* A linear form: constant + factor[0] * atom[0] + ... The atoms ascend, and no factor is 0. */
typedef struct form {
    int128 constant;
    int count;
    int atom[FORM_TERMS];
    int64_t factor[FORM_TERMS];
} form;

/* A bound of an atom: divisor * atom >= f, or divisor * atom <= f. divisor is at least 1. */
typedef struct bound {
    form f;
    int64_t divisor;
} bound;

/* An unknown integer with known bounds, which are forms over older atoms. Every bound holds; but with every_low
 * (every_high) it is only known that one of the lower (upper) bounds holds, so that what is to be proved must be proved
 * from each of them. */
typedef struct atom {
    bound low[2], high[2];
    int nlow, nhigh;
    bool every_low, every_high;
    int product[2]; /* the two atoms whose product it is, the older one first; -1: it is no product */
} atom;

/* A need, a condition on the sizes of a call, among which are the numbers that are passed to a kernel over indices: constant + factor[0] * (the product of the sizes in term 0) + ... is not
 * negative. */
typedef struct need {
    int64_t constant;
    int count;
    int64_t factor[FORM_TERMS];
    uint8_t nsizes[FORM_TERMS], size[FORM_TERMS][NEED_SIZES];
} need;

/* What came of an attempt to prove a form. */
typedef struct attempt {
    form f;
    int proof, depth; /* the number of the outermost proof; how many stood around this one */
    bool proved;
} attempt;

/* What is known at a point of the text: atoms, and facts, which are forms that are not negative. Both are stacks, and
 * what was learned in a scope is popped at its end. */
typedef struct knowledge {
    arena *a;
    atom *atoms;
    form *facts;
    int natoms, nfacts, atoms_size, facts_size;
    int nsizes; /* the first nsizes atoms are what each call gives: the sizes of the layout, then numbers among the parameters */
    int depth;         /* how many proofs are nested now */
    int proof;         /* the number of the outermost one */
    attempt *attempts; /* ATTEMPTS of them, each at a place that its form says */
    int steps;         /* steps that proofs may still take in all, so that no text takes long */
    need *needs;
    int nneeds;
    int need_steps; /* the same for proofs that depend on needs */
    int trip_steps; /* the same for proofs of trip counts */
} knowledge;

form form_constant(int128 value);
form form_atom(int at);
/* a += times * b. False: the result has too many terms or too large numbers, and a is unchanged. */
bool form_add(form *a, const form *b, int64_t times);
bool form_multiply(knowledge *k, const form *a, const form *b, form *out);
/* A new atom without bounds. */
int atom_new(knowledge *k);
void atom_low(knowledge *k, int at, const form *f, int64_t divisor);
void atom_high(knowledge *k, int at, const form *f, int64_t divisor);
/* The atom that stands for x / divisor; -1: there is none. */
int atom_quotient(const knowledge *k, const form *x, int64_t divisor);
void fact_add(knowledge *k, const form *f);
/* Is it proved that f >= 0? */
bool not_negative(knowledge *k, const form *f);
/* Is it proved that a <= b + difference? */
bool at_most(knowledge *k, const form *a, const form *b, int128 difference);

/* Does f >= 0 follow from the needs? If it does not yet, a need is added from which it does: preferably that one size
 * is not below another, and among those one of sizes from `preferred` on. */
bool need_met(knowledge *k, const form *f, int preferred);
/* Adds the need that f, a form over sizes, is not negative. False: it cannot be added. */
bool need_add(knowledge *k, const form *f);
/* Do the sizes fulfil the need? Those from nsizes on are numbers. The answer is exact. */
bool need_holds(const need *n, const int64_t *sizes, int nsizes, const int64_t *numbers);
/* Does the need name one that is not among the first nsizes? */
bool need_names_number(const need *n, int nsizes);

#endif
