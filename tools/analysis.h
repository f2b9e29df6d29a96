/* analysis.h - included first when clang-tidy reads src/: tells it what it cannot see from a declaration, that the fail
 * functions return the status they are given, so that code after TRY(..) is only reached on success. */
#include "base/base.h"

#define fail(status, ...) (fail(status, __VA_ARGS__), (status))
#define fail_argument(status, ...) (fail_argument(status, __VA_ARGS__), (status))
#define fail_source(status, ...) (fail_source(status, __VA_ARGS__), (status))
#define fail_memory() (fail_memory(), UF_ERR_MEMORY)
