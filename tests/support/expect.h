/* expect.h - what tests of the public interface expect of a call: that it succeeds, that it fails and how it says so, that a
 * helper has nothing to object. Behind cmocka.h. */
#ifndef UF_TEST_EXPECT_H
#define UF_TEST_EXPECT_H

#include "ufunc.h"

#define OK(...)                                                              \
    do {                                                                     \
        uf_status ok_status = (__VA_ARGS__);                                 \
        if (ok_status)                                                       \
            print_error("%s: %s\n", #__VA_ARGS__, uf_last_error()->message); \
        assert_int_equal(ok_status, UF_OK);                                  \
    } while (0)

#define FAILS(expected, part, ...)                                  \
    do {                                                            \
        assert_int_equal((__VA_ARGS__), expected);                  \
        assert_int_equal(uf_last_error()->status, expected);        \
        if (!strstr(uf_last_error()->message, part))                \
            print_error("message: %s\n", uf_last_error()->message); \
        assert_non_null(strstr(uf_last_error()->message, part));    \
    } while (0)

#define GOOD(expression)                \
    do {                                \
        const char *wrong = expression; \
        if (wrong)                      \
            print_error("%s\n", wrong); \
        assert_null(wrong);             \
    } while (0)

#endif
