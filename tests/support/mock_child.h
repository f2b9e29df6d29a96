/* mock_child.h - tests of the CUDA engine against the mock driver: each body runs in a process of its own, as the engine keeps
 * what it found. */
#ifndef UF_TEST_MOCK_CHILD_H
#define UF_TEST_MOCK_CHILD_H

#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "base/base.h"
#include "mock/mockcuda.h"

extern char mock_path[4096];       /* the library, beside the program unless UF_MOCK_CUDA names another */
extern const mock_functions *mock; /* in a child */

/* Sets mock_path; false if nothing is there. */
bool mock_find(void);
/* Runs body(user) in a child that uses the mock: its exit status, 0 if body returns, -1 if it died. */
int child_status(void (*body)(void *), void *user);
/* PTX of a kernel with so many words as parameters and blocks of at most so many threads; a static buffer. */
char *ptx_of(const char *name, int words, int threads);

/* What bodies check with: the end of the child. */
#define CHECK(condition)                                                                                             \
    do {                                                                                                             \
        if (!(condition)) {                                                                                          \
            fprintf(stderr, "%s:%d: %s\n  last error: %s\n", __FILE__, __LINE__, #condition, error_slot()->message); \
            _exit(1);                                                                                                \
        }                                                                                                            \
    } while (0)

#define CHECK_FAILS(expression, code, part)                                                                            \
    do {                                                                                                               \
        uf_status check_status = (expression);                                                                         \
        if (check_status != (code) || !strstr(error_slot()->message, part)) {                                          \
            fprintf(stderr, "%s:%d: %s is %d, not %d, or does not say \"%s\":\n%s\n", __FILE__, __LINE__, #expression, \
                    check_status, code, part, error_slot()->message);                                                  \
            _exit(1);                                                                                                  \
        }                                                                                                              \
        CHECK(error_slot()->status == (code));                                                                         \
    } while (0)

/* In a test of cmocka's. */
#define in_child(body, user) assert_int_equal(child_status(body, user), 0)

#endif
