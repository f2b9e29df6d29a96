/* report.h - variants that report, that is, whose kernel can end the computation of an element and say why. With REPORTS_ERRORS an index
 * out of range, an integer division by 0, and an assertion that fails end it. With REPORTS_STEPS it ends after too many steps, which
 * are counted in loops that are not proved to be short (node.counted), and under REPORTS_SIZES also in those over sizes of the call
 * (node.sized); with REPORTS_CANCEL when the flag of the call is set, which is read in an element's first counted step and then every
 * few thousand steps.
 *
 * Every function of the tree then has more parameters, behind the others: i64 %report, the address of the report (type/report.h), and
 * i64 %element, the number of the element. All but @kernel also have i64 %line, the line of the call, with which the functions of the
 * prelude, which have no lines of their own, report; and, if steps are counted, i64* %steps, two numbers: the steps left in this
 * slice, and the steps left after it. @kernel has these two as variables of its own. The last member of a function's result, an i1,
 * is true if the element has ended; the other results then have no meaning.
 *
 * The trees of reductions, accumulations and updates in place have no frame: the kernels of these trees are called like helpers, once an
 * element, and share the report and the steps that report_shared makes. Once one of these calls has ended its element, all later ones
 * in the thread (CPU: in the call of the compiled kernel) end at once, and results are 0. */
#ifndef UF_IR_REPORT_H
#define UF_IR_REPORT_H

#include "ir/common/internal.h"
#include "type/report.h"

static inline bool reports(const emit *e) { return e->reports; }
static inline bool reports_errors(const emit *e) { return e->reports & REPORTS_ERRORS; }
static inline bool counts_steps(const emit *e) { return e->reports & (REPORTS_STEPS | REPORTS_CANCEL); }

/* ", i64 %report, i64 %element": the last parameters of @kernel; and the arguments for them. */
void report_parameters(text *out);
void report_arguments(text *out, ssa address, ssa element);
/* The same of any other function of the tree, called in a line (node.line). */
void report_helper_parameters(const emit *e, text *out);
void report_helper_arguments(const body *b, text *out, int line);

typedef struct failure {
    report_what what;
    int line; /* node.line */
    int operand, dimension;
    ssa value, extent; /* i64 */
} failure;
/* Where `holds` (i1) is false, reports the failure and leaves the function. */
void report_unless(body *b, ssa holds, const failure *f);
/* Without a frame: the arguments of the trees' functions behind their operands; and what a function that the emitter defines takes to
 * pass them on, as parameters and as arguments. report_shared reads the last parameter, the address of the report, and makes the steps. */
extern const char report_shared_arguments[];
const char *report_shared_parameters(const emit *e); /* "" in variants that do not report */
struct skeleton;
void report_shared(struct skeleton *s);

/* In the kernel of a tree, at its beginning: no step has been taken. */
void steps_begin(body *b);
/* Takes n steps (i64, not negative) at a line of the source, or reports and leaves the function. */
void steps_take(body *b, ssa n, int line);
/* One step of a loop or construct, if it is counted. */
void steps_count(body *b, const node *loop);
/* Leaves the function where one that was called has ended the element; `all` is its result. */
void report_pass_on(body *b, const function *callee, const char *type, ssa all);
/* The last member of the result of a function. */
ssa report_ended(emit *e, const function *f, const char *type, ssa all);
/* At the end of a function with this result type: the block that report_unless and report_pass_on leave by. */
void report_exit(body *b, const char *type);

#endif
