/* coverage.h - included first in every file of `make coverage`: a process that ends by _exit, as the children of tests do,
 * writes its counts too. */
#ifndef UF_COVERAGE_H
#define UF_COVERAGE_H

#include <unistd.h>

void __gcov_dump(void);
#define _exit(status) (__gcov_dump(), _exit(status))

#endif
