/* draw.c - random numbers for tests. */
#include "draw.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include <cmocka.h>

uint64_t draw_state = 1;

int draw_seed(void **unused) {
    const char *given = getenv("UF_SEED");
    (void)unused;
    draw_state = given ? strtoull(given, NULL, 0) : (uint64_t)time(NULL) * 1000003u + (uint64_t)getpid();
    print_message("UF_SEED=%llu\n", (unsigned long long)draw_state);
    draw_state |= 1;
    return 0;
}

uint64_t draw_bits(void) {
    draw_state ^= draw_state << 13;
    draw_state ^= draw_state >> 7;
    draw_state ^= draw_state << 17;
    return draw_state * 0x2545F4914F6CDD1Du >> 11;
}

int64_t pick(int64_t low, int64_t high) { return low + (int64_t)(draw_bits() % (uint64_t)(high - low + 1)); }

bool chance(int percent) { return pick(0, 99) < percent; }

int64_t trials(int64_t n) {
    const char *scale = getenv("PROP_N");
    return scale ? (int64_t)((double)n * atof(scale)) : n;
}
