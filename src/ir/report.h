/* report.h - a variant with debug: an index out of range, an integer division by 0 and an assertion that fails are reported,
 * and end their element. Every function of the tree then has parameters behind the others: the address of the report
 * (type/report.h) and the element's number, i64 %report and %element, and but for @kernel the line of the call, i64 %line,
 * which what has no line of its own (the prelude) is reported with. The last member of its result, i1, is true where the
 * element has ended, and its other results are then nothing. */
#ifndef UF_IR_REPORT_H
#define UF_IR_REPORT_H

#include "ir/internal.h"
#include "type/report.h"

static inline bool reports(const emit *e) { return e->frame && e->frame->v->debug; }

/* ", i64 %report, i64 %element": of @kernel, behind all others; and what it is called with. */
void report_parameters(text *out);
void report_arguments(text *out, ssa address, ssa element);
/* The same of any other function of the tree, called in a line (node.line). */
void report_helper_parameters(text *out);
void report_helper_arguments(const body *b, text *out, int line);

typedef struct failure {
    report_what what;
    int line; /* node.line */
    int operand, dimension;
    ssa value, extent; /* i64 */
} failure;
/* Where the i1 is false, reports and leaves the function. */
void report_unless(body *b, ssa holds, const failure *f);
/* Leaves the function where one that was called has ended the element; `all` is its result. */
void report_pass_on(body *b, const function *callee, const char *type, ssa all);
/* The last member of the result of a function. */
ssa report_ended(emit *e, const function *f, const char *type, ssa all);
/* The way out for what report_unless and report_pass_on leave, at the end of a function with this result type. */
void report_exit(body *b, const char *type);

#endif
