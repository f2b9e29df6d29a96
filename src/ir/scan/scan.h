/* scan.h - accumulations: the kernels of the two engines. Elements, states and results are those of reductions (reduce/fold.h). */
#ifndef UF_IR_SCAN_H
#define UF_IR_SCAN_H

#include "ir/reduce/fold.h"

/* Each reads its parameters after the operands', in the order of type/schema.h. */
void cpu_scan(fold_writer *w);
void gpu_scan(fold_writer *w);

#endif
