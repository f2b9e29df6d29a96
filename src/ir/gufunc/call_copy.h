/* call_copy.h - CPU: what code for groups of calls (call_groups.h) has copied. */
#ifndef UF_CALL_COPY_H
#define UF_CALL_COPY_H

#include <stdbool.h>
#include <stdint.h>

/* Copies `extent` elements of each of `count` calls between `array`, where those of a call lie side by side and calls are `pitch` bytes apart,
 * and `memory`, where calls lie side by side and elements are `step` bytes apart. */
typedef void call_copy(char *array, char *memory, int64_t extent, int64_t step, int64_t count, int64_t pitch);

/* That for elements of 2^size_log bytes, up to 16; out: from the array. *name: of the symbol, static storage. */
call_copy *call_copy_of(int size_log, bool out, const char **name);

#endif
