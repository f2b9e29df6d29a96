/* report.h - the first failure of a launch: the memory in which generated code reports it (ir/common/report.c writes
 * the code), and the error that it becomes. */
#ifndef UF_REPORT_H
#define UF_REPORT_H

#include "base/base.h"

typedef enum report_what {
    REPORT_INDEX = 1, /* an index out of range: value is outside of 0 .. extent-1 */
    REPORT_DIVISION,  /* an integer division by 0 */
    REPORT_ASSERT,    /* an assertion that does not hold: value is the offset of "assert(..)" in the source */
    REPORT_STEPS,     /* more steps than allowed: value is how many there may be */
    REPORT_CANCEL
} report_what;

/* All members but cancel are 0 before the launch. The first thread that fails changes state from 0 to 1 atomically, and
 * then writes the other members; they are complete when the launch has ended. */
typedef struct report {
    int64_t state;
    int64_t what, line;
    int64_t operand, dimension; /* of an index out of range; operand -1: an array of the kernel's own */
    int64_t value, extent;
    int64_t element; /* number of the point, or inner call, that failed, in C order of the points */
    /* address of the caller's int that is not 0 once the call is cancelled; kernels with REPORTS_CANCEL read it */
    uint64_t cancel;
} report;

/* The kernel that a report is about, which says what the numbers in it mean. */
typedef struct report_kernel {
    const char *name, *source;
    bool inner; /* elements are inner calls, and dimensions core dimensions */
    int npoints;
    const int64_t *points; /* extents of the points */
} report_kernel;

/* For an engine that finds between two pieces of work that the call was cancelled: reports that, unless something else
 * was reported before. */
void report_cancelled(report *r);
/* Sets the error KERNEL for a report whose state is not 0. */
uf_status report_fail(const report *r, const report_kernel *kernel);

#endif
