/* pi.c - pi by throwing darts at a square: four times the share of darts that land in the quarter circle inside it.
 * Dart i draws the numbers 2i and 2i + 1 of a random stream, so that the same darts hit on every engine and in every
 * run. All darts that hit add one to a single counter, at once. Runs on the CPU and, if there is one, on the GPU, and
 * compares both with plain C, which draws the same numbers.
 *    pi [DARTS [SEED]] */
#include "example.h"
#include <math.h>

static const char source[] = UF_SOURCE([i](hits, seed) {
    auto x = random_uniform(seed, 2 * i, 0), y = random_uniform(seed, 2 * i + 1, 0);
    if (x * x + y * y < 1)
        atomic_add(hits[0], 1);
});

/* Block n of the random stream: Philox 4x32-10, of Salmon, Moraes, Dror and Shaw, Parallel Random Numbers, 2011. */
static void philox(uint64_t seed, uint64_t n, uint32_t word[4]) {
    uint32_t s = (uint32_t)seed, t = (uint32_t)(seed >> 32);
    word[0] = (uint32_t)n, word[1] = (uint32_t)(n >> 32), word[2] = word[3] = 0;
    for (int round = 0; round < 10; round++) {
        uint64_t p = UINT64_C(0xD2511F53) * word[0], q = UINT64_C(0xCD9E8D57) * word[2];
        word[0] = (uint32_t)(q >> 32) ^ word[1] ^ s, word[1] = (uint32_t)q;
        word[2] = (uint32_t)(p >> 32) ^ word[3] ^ t, word[3] = (uint32_t)p;
        s += 0x9E3779B9, t += 0xBB67AE85;
    }
}

/* A number from 0 up to 1, made of the 53 high bits of two words. */
static double uniform(uint32_t high, uint32_t low) { return ((high >> 5) * 0x1p26 + (low >> 6)) * 0x1p-53; }

static int64_t throw_plainly(int64_t darts, int64_t seed) {
    int64_t hits = 0;
    for (int64_t i = 0; i < darts; i++) {
        uint32_t word[4];
        philox((uint64_t)seed, (uint64_t)i, word);
        double x = uniform(word[0], word[1]), y = uniform(word[2], word[3]);
        hits += x * x + y * y < 1;
    }
    return hits;
}

static void report(const char *how, int64_t darts, double took, double plain) {
    printf("pi  %-8s %8.3f Gdart/s  %7.1f x plain C\n", how, 1e-9 * (double)darts / took, plain / took);
}

int main(int argc, char **argv) {
    int64_t darts = number(argc, argv, 1, 1 << 26), seed = number(argc, argv, 2, 2026), hits = 0;
    check(darts > 0, "the number of darts");
    double start = seconds();
    int64_t want = throw_plainly(darts, seed);
    double plain = seconds() - start;
    report("plain C", darts, plain, plain);

    uf_func *throw;
    UF_CHECK(uf_kernel(&throw, "throw", "int64[], int64", source));
    DLDevice device;
    for (int k = 0; find_device(k, &device); k++) {
        double took = 0;
        for (int warm = 0; warm < 2; warm++) { /* the first round compiles */
            hits = 0;
            DLManagedTensor *counter = copy_to(device, UF_ARRAY(&hits, 1));
            start = seconds();
            UF_CHECK(UF_FORALL(throw, (darts), counter->dl_tensor, UF_SCALAR(seed)));
            UF_CHECK(uf_sync(device, NULL));
            took = seconds() - start;
            take_back(UF_ARRAY(&hits, 1), counter);
            check(hits == want, "the number of hits");
        }
        report(name_of(device), darts, took, plain);
    }
    uf_free(throw);

    double pi = acos(-1), got = 4 * (double)hits / (double)darts, expected = sqrt(pi * (4 - pi) / (double)darts);
    printf("pi  %.8f, off by %+.8f: %.2f of the standard error %.8f\n", got, got - pi, fabs(got - pi) / expected,
           expected);
    check(fabs(got - pi) < 5 * expected, "pi");
}
