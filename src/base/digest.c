/* digest.c - SHA-256 (FIPS 180-4): texts that have the same digest are taken for the same text. */
#include "base/base.h"

enum {
    BLOCK = 64
};

static const uint32_t rounds[64] = {
    0x428a2f98, 0x71374491, 0xb5c0fbcf, 0xe9b5dba5, 0x3956c25b, 0x59f111f1, 0x923f82a4, 0xab1c5ed5,
    0xd807aa98, 0x12835b01, 0x243185be, 0x550c7dc3, 0x72be5d74, 0x80deb1fe, 0x9bdc06a7, 0xc19bf174,
    0xe49b69c1, 0xefbe4786, 0x0fc19dc6, 0x240ca1cc, 0x2de92c6f, 0x4a7484aa, 0x5cb0a9dc, 0x76f988da,
    0x983e5152, 0xa831c66d, 0xb00327c8, 0xbf597fc7, 0xc6e00bf3, 0xd5a79147, 0x06ca6351, 0x14292967,
    0x27b70a85, 0x2e1b2138, 0x4d2c6dfc, 0x53380d13, 0x650a7354, 0x766a0abb, 0x81c2c92e, 0x92722c85,
    0xa2bfe8a1, 0xa81a664b, 0xc24b8b70, 0xc76c51a3, 0xd192e819, 0xd6990624, 0xf40e3585, 0x106aa070,
    0x19a4c116, 0x1e376c08, 0x2748774c, 0x34b0bcb5, 0x391c0cb3, 0x4ed8aa4a, 0x5b9cca4f, 0x682e6ff3,
    0x748f82ee, 0x78a5636f, 0x84c87814, 0x8cc70208, 0x90befffa, 0xa4506ceb, 0xbef9a3f7, 0xc67178f2};

static uint32_t turned(uint32_t x, int n) { return x >> n | x << (32 - n); }

static void block_add(uint32_t *state, const unsigned char *block) {
    uint32_t w[64], s[8];
    for (int i = 0; i < 16; i++)
        w[i] = (uint32_t)block[4 * i] << 24 | (uint32_t)block[4 * i + 1] << 16 | (uint32_t)block[4 * i + 2] << 8 |
               block[4 * i + 3];
    for (int i = 16; i < 64; i++) {
        uint32_t a = w[i - 15], b = w[i - 2];
        w[i] =
            w[i - 16] + (turned(a, 7) ^ turned(a, 18) ^ a >> 3) + w[i - 7] + (turned(b, 17) ^ turned(b, 19) ^ b >> 10);
    }
    memcpy(s, state, sizeof s);
    for (int i = 0; i < 64; i++) {
        uint32_t choice = (s[4] & s[5]) ^ (~s[4] & s[6]), majority = (s[0] & s[1]) ^ (s[0] & s[2]) ^ (s[1] & s[2]);
        uint32_t one = s[7] + (turned(s[4], 6) ^ turned(s[4], 11) ^ turned(s[4], 25)) + choice + rounds[i] + w[i];
        uint32_t two = (turned(s[0], 2) ^ turned(s[0], 13) ^ turned(s[0], 22)) + majority;
        memmove(s + 1, s, 7 * sizeof *s);
        s[4] += one;
        s[0] = one + two;
    }
    for (int i = 0; i < 8; i++)
        state[i] += s[i];
}

void digest_begin(digest *d) {
    static const uint32_t first[8] = {0x6a09e667, 0xbb67ae85, 0x3c6ef372, 0xa54ff53a,
                                      0x510e527f, 0x9b05688c, 0x1f83d9ab, 0x5be0cd19};
    memcpy(d->state, first, sizeof first);
    d->size = 0;
}

void digest_add(digest *d, const void *bytes, size_t size) {
    const unsigned char *from = bytes;
    while (size) {
        size_t used = d->size % BLOCK, n = BLOCK - used < size ? BLOCK - used : size;
        memcpy(d->block + used, from, n);
        d->size += n;
        from += n;
        size -= n;
        if (d->size % BLOCK == 0)
            block_add(d->state, d->block);
    }
}

void digest_add_text(digest *d, const char *s) {
    uint64_t length = s ? strlen(s) : UINT64_MAX;
    digest_add(d, &length, sizeof length);
    digest_add(d, s ? s : "", s ? (size_t)length : 0);
}

void digest_end(digest *d, char out[DIGEST_TEXT]) {
    static const char digits[] = "0123456789abcdef";
    static const unsigned char end = 0x80, zero = 0;
    uint64_t bits = d->size * 8;
    unsigned char length[8];
    for (int i = 0; i < 8; i++)
        length[i] = (unsigned char)(bits >> (56 - 8 * i));
    digest_add(d, &end, 1);
    while (d->size % BLOCK != BLOCK - sizeof length)
        digest_add(d, &zero, 1);
    digest_add(d, length, sizeof length);
    for (int i = 0; i < DIGEST_TEXT - 1; i++)
        out[i] = digits[d->state[i / 8] >> (28 - i % 8 * 4) & 0xF];
    out[DIGEST_TEXT - 1] = 0;
}
