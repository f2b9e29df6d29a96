/* c_code.h - C text, compiled while a test runs, as an oracle that shares nothing with the library. */
#ifndef UF_TEST_C_CODE_H
#define UF_TEST_C_CODE_H

#include <stdbool.h>

/* Is there a C compiler, $CC or cc? */
bool c_compiler_there(void);
/* Compiles C for this machine, with integers that wrap and without contraction, and loads it: a handle of dlopen, for as long as the program
 * runs. Prints the compiler's errors and aborts if there are any. */
void *c_code_load(const char *source);

#endif
