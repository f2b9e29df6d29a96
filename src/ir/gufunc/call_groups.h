/* call_groups.h - CPU: inner calls that lie side by side, whose cores have no elements that do, and sizes that are not constants: their
 * operands (`staged`) are copied, for some calls at a time, to arrays in which the cores are in C order, and the calls are then computed
 * one by one, along rows. */
#ifndef UF_CALL_GROUPS_H
#define UF_CALL_GROUPS_H

#include "ir/gufunc/gufunc.h"

/* Are there such operands? */
bool call_groups_needed(const gufunc_writer *w);
/* Writes `extent` (i64) calls, of the first of which the operands are at `row`. stride: of neighbouring calls, by operand, in elements (i64);
 * of these operands it is 1. */
void call_groups_row(gufunc_writer *w, const ssa *row, const ssa *stride, ssa extent);

#endif
