/* fuzzer.c - libFuzzer's entry: runs the target that UF_FUZZ names. */
#include <stdio.h>
#include <stdlib.h>

#include "../targets.h"

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static const fuzz_target *target;

int LLVMFuzzerInitialize(int *argc, char ***argv) {
    (void)argc, (void)argv;
    target = fuzz_target_named(getenv("UF_FUZZ"));
    if (target)
        return 0;
    fputs("UF_FUZZ must name a target:", stderr);
    for (int i = 0; fuzz_target_at(i); i++)
        fprintf(stderr, " %s", fuzz_target_at(i)->name);
    fputs("\n", stderr);
    exit(2);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size) {
    target->run(data, size);
    return 0;
}
