/* expect.h - what tests of the public interface expect of a call: that it succeeds, that it fails and how it says so, that a
 * helper has nothing to object. For tests
 * that include cmocka.h. */
#ifndef UF_TEST_EXPECT_H
#define UF_TEST_EXPECT_H

#include <stdlib.h>
#include <string.h>

#include "ufunc.h"

#define OK(...)                                                              \
    do {                                                                     \
        int ok_status = (int)(__VA_ARGS__);                                  \
        if (ok_status)                                                       \
            print_error("%s: %s\n", #__VA_ARGS__, uf_last_error()->message); \
        assert_int_equal(ok_status, UF_OK);                                  \
    } while (0)

/* An error that no test expects comes first, so that what is seen is new. UF_SHOW prints every message. */
#define FAILS(expected, part, ...)                                                 \
    do {                                                                           \
        uf_describe(NULL, NULL);                                                   \
        uf_status fails_status = (__VA_ARGS__);                                    \
        if (getenv("UF_SHOW"))                                                     \
            print_message("%d: %s\n", __LINE__, uf_last_error()->message);         \
        if (fails_status != (expected) || !strstr(uf_last_error()->message, part)) \
            print_error("message: %s\n", uf_last_error()->message);                \
        assert_int_equal(fails_status, expected);                                  \
        assert_int_equal(uf_last_error()->status, expected);                       \
        assert_non_null(strstr(uf_last_error()->message, part));                   \
    } while (0)

#define GOOD(expression)                \
    do {                                \
        const char *wrong = expression; \
        if (wrong)                      \
            print_error("%s\n", wrong); \
        assert_null(wrong);             \
    } while (0)

#endif
