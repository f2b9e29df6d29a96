/* test_corpora.c - every input in tests/fuzz/corpus/TARGET once more: those that `make fuzz` began from, and those that something was found
 * with. And some mutations of each, so that the targets are seen to stand what they are made for. */
#include <dirent.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "draw.h"
#include "targets.h"

#include <cmocka.h>

enum {
    LONGEST = 1 << 14,
    MUTATIONS = 6
};

/* Reads a file of the corpus; its size. */
static size_t read_input(const char *path, uint8_t *to) {
    FILE *file = fopen(path, "rb");
    if (!file)
        fail_msg("%s cannot be read", path);
    size_t size = fread(to, 1, LONGEST, file);
    fclose(file);
    return size;
}

static size_t mutate(uint8_t *data, size_t size) {
    for (int64_t n = pick(1, 4); n && size; n--) {
        size_t at = (size_t)pick(0, (int64_t)size - 1);
        switch (pick(0, 2)) {
        case 0:
            data[at] = (uint8_t)draw_bits();
            break;
        case 1:
            memmove(data + at, data + at + 1, --size - at);
            break;
        default: {
            size_t length = (size_t)pick(1, (int64_t)(size - at));
            if (size + length > LONGEST)
                break;
            memmove(data + at + length, data + at, size - at);
            size += length;
        }
        }
    }
    return size;
}

static void test_corpora(void **unused) {
    (void)unused;
    static uint8_t data[LONGEST], copy[LONGEST];
    for (int i = 0; fuzz_target_at(i); i++) {
        const fuzz_target *t = fuzz_target_at(i);
        char folder[128], path[512];
        struct dirent *entry;
        int inputs = 0;
        snprintf(folder, sizeof folder, "tests/fuzz/corpus/%s", t->name);
        DIR *d = opendir(folder);
        if (!d)
            fail_msg("%s is not there", folder);
        while ((entry = readdir(d))) {
            if (entry->d_name[0] == '.')
                continue;
            snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
            size_t size = read_input(path, data);
            t->run(data, size);
            for (int k = 0; k < MUTATIONS; k++) {
                memcpy(copy, data, size);
                t->run(copy, mutate(copy, size));
            }
            inputs++;
        }
        closedir(d);
        printf("%s: %d inputs\n", t->name, inputs);
        assert_int_not_equal(inputs, 0);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_corpora)};
    return cmocka_run_group_tests(tests, draw_seed, NULL);
}
