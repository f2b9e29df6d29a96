/* magic.c - the multipliers by which generated code divides by an extent that is known only at the launch. */
#include "type/variant.h"

#include <assert.h>

__extension__ typedef unsigned __int128 uint128;

magic magic_of(uint64_t d, int bits) {
    assert(d > 0 && (bits == 64 ||
                     (bits == 32 && d <= UINT64_C(1) << 31))); /* an empty loop is not launched, a long one is wide */
    unsigned shift = d > 1 ? 64u - (unsigned)__builtin_clzll(d - 1) : 0; /* ceil(log2 d) */
    /* less than d, so that the quotient below is less than 2^bits */
    uint64_t excess = ((uint64_t)1 << shift) - d;
    uint64_t quotient = bits == 32 ? (excess << 32) / d : (uint64_t)(((uint128)excess << 64) / d);
    return (magic){quotient + 1, shift};
}
