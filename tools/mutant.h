/* mutant.h - included first in every file of the copy that tools/mutants.py makes: mutant(n) is 1 if mutant n is on, else 0. */
#ifndef UF_MUTANT_H
#define UF_MUTANT_H

extern int mutant_on; /* the number in the environment variable UF_MUTANT; 0: none is on */

/* A byte for each mutant, set where the run comes by its place; NULL: nobody asked. */
extern volatile unsigned char *mutant_reached;

static inline int mutant(int n) {
    if (mutant_reached)
        mutant_reached[n] = 1;
    return mutant_on == n;
}

/* What test programs see of the library is in a shared library here, hidden symbols too. */
#pragma GCC visibility push(default)

#endif
