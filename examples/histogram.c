/* histogram.c - how often each of the 256 values of a byte occurs: all bytes are counted at once, by atomic additions
 * to the bins. The library sees to it that a block on the GPU, and a thread on the CPU, first counts in memory of its
 * own. Both are compared with plain C, exactly.
 *    histogram [BYTES] */
#include "example.h"

enum {
    BINS = 256,
    REPEAT = 5
};

/* Each byte is the mean of four random bytes, which gives a bell curve. */
static const char draw_source[] = UF_SOURCE([i](bytes, seed) {
    uint32 r = random_bits(seed, i, 0);
    bytes[i] = ((r & 255) + (r >> 8 & 255) + (r >> 16 & 255) + (r >> 24)) / 4;
});

static const char count_source[] = UF_SOURCE([i](bytes, bins) { atomic_add(bins[bytes[i]], 1); });

static void count_plainly(int64_t n, const uint8_t *bytes, int64_t *bins) {
    memset(bins, 0, BINS * sizeof *bins);
    for (int64_t i = 0; i < n; i++)
        bins[bytes[i]]++;
}

static void report(const char *how, int64_t n, double took, double plain) {
    printf("histogram  %-8s %8.2f Gbyte/s  %7.1f x plain C\n", how, 1e-9 * (double)n / took, plain / took);
}

/* Prints a bar for every eight bins, the longest one of 60 characters. */
static void draw_bars(const int64_t *bins) {
    int64_t bar[BINS / 8] = {0}, most = 1;
    for (int b = 0; b < BINS; b++) {
        bar[b / 8] += bins[b];
        most = bar[b / 8] > most ? bar[b / 8] : most;
    }
    for (int b = 0; b < BINS / 8; b++)
        printf("%3d-%3d %10lld %.*s\n", 8 * b, 8 * b + 7, (long long)bar[b], (int)(60 * bar[b] / most),
               "############################################################");
}

int main(int argc, char **argv) {
    int64_t n = number(argc, argv, 1, 1 << 26), bins[BINS] = {0}, want[BINS];
    uint8_t *host = allocate(n, 1);
    uf_func *draw, *count;
    UF_CHECK(uf_kernel(&draw, "draw", "uint8[], int64", draw_source));
    UF_CHECK(uf_kernel(&count, "histogram", "uint8[], int64[]", count_source));
    UF_CHECK(UF_FORALL(draw, (n), UF_ARRAY(host, n), UF_SCALAR(1)));
    double start = seconds();
    count_plainly(n, host, want);
    double plain = seconds() - start;
    report("plain C", n, plain, plain);

    DLDevice device;
    for (int k = 0; find_device(k, &device); k++) {
        DLManagedTensor *bytes = copy_to(device, UF_ARRAY(host, n)), *counts;
        double best = 0;
        for (int r = 0; r <= REPEAT; r++) { /* the first round compiles */
            memset(bins, 0, sizeof bins);
            counts = copy_to(device, UF_ARRAY(bins));
            start = seconds();
            UF_CHECK(UF_FORALL(count, (n), bytes->dl_tensor, counts->dl_tensor));
            UF_CHECK(uf_sync(device, NULL));
            double took = seconds() - start;
            best = r && (r == 1 || took < best) ? took : best;
            take_back(UF_ARRAY(bins), counts);
            check(memcmp(bins, want, sizeof bins) == 0, "a bin");
        }
        report(name_of(device), n, best, plain);
        bytes->deleter(bytes);
    }
    draw_bars(bins);
    uf_free(draw);
    uf_free(count);
    free(host);
}
