/* targets.h - what is fuzzed: one target for each form of text that strangers may write, one for each form of the tool's files, and one
 * for calls. */
#ifndef FUZZ_TARGETS_H
#define FUZZ_TARGETS_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

/* Ends the process if something promised does not hold. */
#define PROMISED(condition)                                     \
    do                                                          \
        if (!(condition)) {                                     \
            fprintf(stderr, "does not hold: %s\n", #condition); \
            abort();                                            \
        }                                                       \
    while (0)

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

/* fuzz_files.c: what the tool reads of files; for fuzz_raw, a line with the form in front. */
void fuzz_npy(const uint8_t *data, size_t size);
void fuzz_npz(const uint8_t *data, size_t size);
void fuzz_text(const uint8_t *data, size_t size);
void fuzz_raw(const uint8_t *data, size_t size);

/* A copy that ends with NUL, on the heap, where the address sanitizer sees what is read behind it. */
char *text_of(const uint8_t *data, size_t size);

#endif
