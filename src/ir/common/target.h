/* target.h - what differs between the CPU and NVPTX. */
#ifndef UF_TARGET_H
#define UF_TARGET_H

#include "engine.h"
#include "lang/math.h"

/* The data layout and triple lines. The CPU's are empty: cpu/ sets those of the host. */
const char *target_head(const code_target *t);
/* What follows a type to make it a pointer to array data. */
const char *target_pointer(const code_target *t);
/* What a math row is called: "llvm.floor", "__nv_sin", "sin". */
const char *target_math_name(const code_target *t, const math_row *row);

/* Lanes of the host's vectors of a floating dtype that libmvec serves, and the letter of its instruction set in the names
 * of libmvec; lanes are 0 where there are none. */
int target_lanes(const code_target *t, dtype type, char *isa);
/* CPU: have vectors conditions for lanes, so that a part of one can be read and written, of elements of so many bytes? */
bool target_has_lane_conditions(const code_target *t, int bytes);
/* Do they take no time of their own? A store with conditions for its lanes takes 16 cycles on a Zen 3, and nothing can be loaded sooner from there. */
bool target_masks_freely(const code_target *t);
/* Is there an instruction that makes 64-bit integers of floating numbers: on a CPU with vectors wider than 128 bits, one for vectors? */
bool target_has_wide_conversion(const code_target *t);
/* Does LLVM compile fixed-point products of 16 and 32 bits for this processor? For some others it ends the process before version 18. */
bool target_has_fixed_products(void);
/* The address of a function of libmvec, NULL if it or the library is missing. Any thread. */
const void *target_vector_symbol(const char *name);

/* CPU: what LLVM may call on its own. */
extern const code_symbol target_symbols[];
extern const int target_symbol_count;

#endif
