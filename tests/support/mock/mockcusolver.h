/* mockcusolver.h - what tests ask of the mock cuSOLVER. */
#ifndef MOCKCUSOLVER_H
#define MOCKCUSOLVER_H

typedef struct mock_cusolver {
    /* Every call of one function returns `status` from now on; NULL: none. */
    void (*fail_name)(const char *function, int status);
    int (*count)(const char *function); /* calls of it since the process began */
    void *(*stream)(void);              /* that the last routine ran on */
    /* The errors of gesvdjBatched from now on, in units of rounding of the largest singular value: so much of the first singular vector
     * is in the others, and in their values. */
    void (*spoil)(double units);
} mock_cusolver;

/* The library exports one: const mock_cusolver *mock_cusolver_control(void). */

#endif
