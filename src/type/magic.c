/* magic.c - the multipliers by which generated code divides by an extent that is known at launch only. */
#include "type/variant.h"

__extension__ typedef unsigned __int128 wide;

magic magic_of(uint64_t d, int bits) {
    unsigned shift = 0;
    while (((uint64_t)1 << shift) < d) /* ceil(log2 d); d < 2^63, so the shift stays below 64 */
        shift++;
    wide excess = ((uint64_t)1 << shift) - d; /* < d: the quotient below is < 2^bits */
    return (magic){(uint64_t)((excess << bits) / d) + 1, shift};
}
