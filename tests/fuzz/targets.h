/* targets.h - what is fuzzed: one target for each form of text that strangers may write, one for the tool's files, and one for calls. */
#ifndef FUZZ_TARGETS_H
#define FUZZ_TARGETS_H

#include <stddef.h>
#include <stdint.h>

typedef struct fuzz_target {
    const char *name;
    /* Ends the process by abort() if something promised does not hold. */
    void (*run)(const uint8_t *data, size_t size);
} fuzz_target;

/* NULL: there is none of that name; of that number. */
const fuzz_target *fuzz_target_named(const char *name);
const fuzz_target *fuzz_target_at(int i);

/* fuzz_calls.c: any verb, on tensors of any kind between guard pages. */
void fuzz_calls(const uint8_t *data, size_t size);

#endif
