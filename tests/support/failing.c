/* failing.c - see failing.h. */
#include "failing.h"

#include <stdatomic.h>
#include <stddef.h>

extern bool (*mem_may_alloc)(size_t size); /* base.h's, which tests that see ufunc.h only can link too */

static _Atomic int64_t left;
static bool alone;

static bool count_down(size_t size) {
    (void)size;
    int64_t n = atomic_fetch_sub(&left, 1);
    return alone ? n != 0 : n > 0;
}

static void begin(int64_t good, bool one) {
    atomic_store(&left, good);
    alone = one;
    mem_may_alloc = count_down;
}

void allocations_fail_after(int64_t good) { begin(good, false); }
void allocation_fails_after(int64_t good) { begin(good, true); }

bool allocations_succeed(void) {
    mem_may_alloc = NULL;
    return atomic_load(&left) < 0;
}
