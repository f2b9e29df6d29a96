/* report.h - what a kernel that reports says of the first failure of a launch: the memory that generated code writes
 * (ir/common/report.c), and the error that it becomes. */
#ifndef UF_REPORT_H
#define UF_REPORT_H

#include "base/base.h"

typedef enum report_what {
    REPORT_INDEX = 1, /* value is an index outside of 0 .. extent-1 */
    REPORT_DIVISION,  /* of integers, by 0 */
    REPORT_ASSERT,    /* value is the offset of "assert(..)" in the source */
    REPORT_STEPS,     /* value is how many there may be */
    REPORT_CANCEL
} report_what;

/* All 0 before the launch, but for cancel. Whoever fails first sets state to 1 by comparing and swapping, and then the others; they are whole
 * when the launch is done. */
typedef struct report {
    int64_t state;
    int64_t what, line;
    int64_t operand, dimension; /* of an index; operand -1: an array of the kernel's own */
    int64_t value, extent;
    int64_t element; /* its number, in C order of the points */
    uint64_t cancel; /* where a kernel with REPORTS_CANCEL finds the int that is not 0 once the call is cancelled */
} report;

/* What the numbers in a report are about. */
typedef struct report_place {
    const char *name, *source;
    bool inner; /* elements are inner calls, dimensions core dimensions */
    int npoints;
    const int64_t *points; /* extents */
} report_place;

/* For those who see between pieces of work that a call is cancelled: reports it, if nothing is reported so far. */
void report_cancelled(report *r);
/* The error KERNEL of a report whose state is set. */
uf_status report_fail(const report *r, const report_place *place);

#endif
