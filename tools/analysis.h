/* analysis.h - clang-tidy includes this before each file of src/. It says what the declarations do not: the fail
 * functions return the status that they are given, so that code after TRY(..) is reached only on success. */
#include "base/base.h"

#define fail(status, ...) (fail(status, __VA_ARGS__), (status))
#define fail_argument(status, ...) (fail_argument(status, __VA_ARGS__), (status))
#define fail_source(status, ...) (fail_source(status, __VA_ARGS__), (status))
#define fail_kernel(status, ...) (fail_kernel(status, __VA_ARGS__), (status))
#define fail_memory() (fail_memory(), UF_ERR_MEMORY)
