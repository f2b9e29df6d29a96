/* record_trial.h - a kernel over records of the catalogue's modules, by the public interface on the CPU and on the simulated GPU. For
 * tests that include cmocka.h. */
#ifndef UF_RECORD_TRIAL_H
#define UF_RECORD_TRIAL_H

#include "type/type.h"

enum {
    TRIAL_MAX_OPERANDS = 4
};

/* An operand: n numbers, or n records of so many scalars of one dtype. */
typedef struct trial_operand {
    dtype type;
    int scalars;
    void *data;
} trial_operand;

typedef struct record_trial {
    const char *module; /* of the catalogue, which the kernel sees */
    const char *source; /* the kernel */
    const char *types;  /* its signature */
    unsigned fast;      /* which must not enter the code: the module is exact */
    int64_t n;
    int noperands; /* the last one is the result */
    trial_operand operands[TRIAL_MAX_OPERANDS];
} record_trial;

/* Fails the test if something goes wrong. */
void trial_cpu(const record_trial *t);
/* False: the simulator cannot run it, as there is no libLLVM or the kernel needs libdevice. */
bool trial_gpu(const record_trial *t);

#endif
