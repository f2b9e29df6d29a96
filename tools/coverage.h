/* coverage.h - included first in every file of `make coverage`: a process that ends by _exit, as the children of tests do,
 * writes its counts too. System headers are not included here: tests have functions with names that those take. */
#ifndef UF_COVERAGE_H
#define UF_COVERAGE_H

void __gcov_dump(void);
_Noreturn void _Exit(int status);

_Noreturn static inline void write_counts_and_exit(int status) {
    __gcov_dump();
    _Exit(status);
}
#define _exit write_counts_and_exit

#endif
