/* scan.h - accumulations: the kernels of the two engines. Elements, states and results are those of reductions (reduce/fold.h). */
#ifndef UF_IR_SCAN_H
#define UF_IR_SCAN_H

#include "ir/reduce/fold.h"

/* Each reads its words after the operands', in the order of its own file. */
void cpu_scan(fold_writer *w);
int cpu_scan_words(const variant *v);
void gpu_scan(fold_writer *w);
int gpu_scan_words(const variant *v);

#endif
