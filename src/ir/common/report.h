/* report.h - a variant that reports: what ends an element, and how. With REPORTS_ERRORS these are an index out of range, an
 * integer division by 0 and an assertion that fails; with REPORTS_STEPS and REPORTS_CANCEL the steps of the element, which are
 * counted where a loop is not proved short (node.counted), and the flag of its call, which is looked at in the first step of an
 * element and then from time to time.
 *
 * Every function of the tree then has parameters behind the others: the address of the report (type/report.h) and the element's
 * number, i64 %report and %element, and but for @kernel the line of the call, i64 %line, which what has no line of its own (the
 * prelude) is reported with, and, if steps are counted, i64* %steps: those left, and those left after these; @kernel has its own.
 * The last member of its result, i1, is true where the element has ended, and its other results are then nothing.
 *
 * The trees of folds, scans and updates in place have no frame, and their kernels are called like helpers, for each element anew,
 * in one report_shared for all. Once a call has ended so, all that follow in the thread (CPU: in the run of the code) end at
 * once, and results are 0. */
#ifndef UF_IR_REPORT_H
#define UF_IR_REPORT_H

#include "ir/common/internal.h"
#include "type/report.h"

static inline bool reports(const emit *e) { return e->reports; }
static inline bool reports_errors(const emit *e) { return e->reports & REPORTS_ERRORS; }
static inline bool counts_steps(const emit *e) { return e->reports & (REPORTS_STEPS | REPORTS_CANCEL); }

/* ", i64 %report, i64 %element": of @kernel, behind all others; and what it is called with. */
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
/* Where the i1 is false, reports and leaves the function. */
void report_unless(body *b, ssa holds, const failure *f);
/* Without a frame: what the functions are called with beside their operands, and what a function of the module's own takes and is
 * called with for that, both as they stand behind others. report_shared reads the last word and makes the steps. */
extern const char report_shared_arguments[];
const char *report_shared_parameters(const emit *e); /* "" in variants that do not report */
struct skeleton;
void report_shared(struct skeleton *s);

/* In the kernel of a tree, at its beginning: no step has been taken. */
void steps_begin(body *b);
/* Takes so many steps (i64, not negative) in a line, or leaves the function. */
void steps_take(body *b, ssa n, int line);
/* One step of a loop or construct, if it is counted. */
void steps_count(body *b, const node *loop);
/* Leaves the function where one that was called has ended the element; `all` is its result. */
void report_pass_on(body *b, const function *callee, const char *type, ssa all);
/* The last member of the result of a function. */
ssa report_ended(emit *e, const function *f, const char *type, ssa all);
/* The way out for what report_unless and report_pass_on leave, at the end of a function with this result type. */
void report_exit(body *b, const char *type);

#endif
