/* failing.h - allocations that fail, for tests of what is said and left then. */
#ifndef UF_TEST_FAILING_H
#define UF_TEST_FAILING_H

#include <stdbool.h>
#include <stdint.h>

/* From here on `good` allocations succeed and all others fail. */
void allocations_fail_after(int64_t good);
/* The one behind `good` others fails alone. */
void allocation_fails_after(int64_t good);
/* They succeed again. False: the one that was to fail was not reached. */
bool allocations_succeed(void);

#endif
