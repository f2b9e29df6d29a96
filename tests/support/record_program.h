/* record_program.h - random programs over records, told twice: in kernel C, and in C with structs. Both give the same bits, any NaN being
 * equal to any other: the C text calls functions of its own for what kernel C defines and C leaves open. */
#ifndef UF_TEST_RECORD_PROGRAM_H
#define UF_TEST_RECORD_PROGRAM_H

#include "record_types.h"

enum {
    RECORD_PROGRAM_INPUTS = 3,
    RECORD_PROGRAM_OUTPUTS = 2,
    RECORD_PROGRAM_OPERANDS = RECORD_PROGRAM_INPUTS + RECORD_PROGRAM_OUTPUTS
};

typedef struct record_program {
    char name[16];
    random_records records;
    text module, kernel; /* kernel C: the text of a module, and that of a kernel which sees it */
    text c;              /* void NAME(char **operands): inputs, then outputs, each one element */
    int nin, nout;
    random_type types[RECORD_PROGRAM_OPERANDS];
    char signature[1024];
} record_program;

/* The text that comes before those of programs in a C file. */
extern const char record_program_c[];
/* Makes a program from draw.h's numbers. The name is that of its C function. */
void record_program_make(record_program *p, const char *name);
void record_program_free(record_program *p);

#endif
