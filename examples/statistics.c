/* statistics.c - statistics of a table: mean and variance of each column in one pass (by Welford and Chan), the row of
 * each column's largest value, and running sums. Runs on the CPU and, if there is one, on the GPU, and compares both
 * with plain loops. */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ufunc.h>

enum {
    ROWS = 100000,
    COLUMNS = 64
};

static float table[ROWS][COLUMNS];

/* A state of three values: the mean of some elements, the sum of the squared distances from it, and the number of
 * elements. */
static const uf_reduction_def moments = {
    .size = sizeof(uf_reduction_def),
    .map = UF_SOURCE((x)->(mean, m2, n) {
        mean = x;
        n = 1;
    }),
    .combine = UF_SOURCE((mean, m2, n, other, other2, k)->(both, both2, all) {
        double apart = other - mean;
        all = n + k;
        double part = all > 0 ? k / all : 0;
        both = mean + apart * part;
        both2 = m2 + other2 + apart * apart * n * part;
    }),
    .finish = UF_SOURCE((mean, m2, n)->(average, variance) {
        average = mean;
        variance = m2 / n;
    }),
    .state = "float64,float64,float64",
    .identity = "0, 0, 0",
};

static uint32_t state = 1;

static float noise(void) {
    state = state * 1664525 + 1013904223;
    return (float)(state >> 8) * 0x1p-24f;
}

/* What is computed from the table, in host memory. */
typedef struct findings {
    double mean[COLUMNS], variance[COLUMNS];
    int64_t largest[COLUMNS];
    float running[ROWS][COLUMNS];
} findings;

static void find_plainly(findings *f) {
    for (int c = 0; c < COLUMNS; c++) {
        double sum = 0, squares = 0;
        f->largest[c] = 0;
        for (int r = 0; r < ROWS; r++) {
            sum += (double)table[r][c];
            f->running[r][c] = (float)sum;
            if (table[r][c] > table[f->largest[c]][c])
                f->largest[c] = r;
        }
        f->mean[c] = sum / ROWS;
        for (int r = 0; r < ROWS; r++)
            squares += ((double)table[r][c] - f->mean[c]) * ((double)table[r][c] - f->mean[c]);
        f->variance[c] = squares / ROWS;
    }
}

/* args: the table, then mean, variance, largest and running, all on one device. */
static void find(DLTensor args[5]) {
    uf_func *spread, *argmax, *cumsum;
    UF_CHECK(uf_reduction(&spread, "spread", "float32->float64,float64", &moments));
    UF_CHECK(uf_load(&argmax, "argmax"));
    UF_CHECK(uf_load(&cumsum, "cumsum"));
    UF_CHECK(UF_REDUCE(spread, args[0], args[1], args[2], .axis = 0));
    UF_CHECK(UF_REDUCE(argmax, args[0], args[3], .axis = 0));
    UF_CHECK(UF_ACCUMULATE(cumsum, args[0], args[4], .axis = 0));
    UF_CHECK(uf_sync(args[0].device, NULL));
    uf_free(spread);
    uf_free(argmax);
    uf_free(cumsum);
}

static bool find_on_gpu(const DLTensor host[5]) {
    DLManagedTensor *array[5];
    DLTensor args[5];
    for (int k = 0; k < 5; k++) {
        if (uf_empty(&array[k], (DLDevice){kDLCUDA, 0}, host[k].dtype, host[k].ndim, host[k].shape)) {
            const char *why = uf_last_error()->message;
            printf("statistics  cuda:0  left out: %.*s\n", (int)strcspn(why, "\n"), why);
            return false;
        }
        args[k] = array[k]->dl_tensor;
    }
    UF_CHECK(uf_copy(&args[0], &host[0], NULL));
    find(args);
    for (int k = 0; k < 5; k++) {
        if (k)
            UF_CHECK(uf_copy(&host[k], &args[k], NULL));
        array[k]->deleter(array[k]);
    }
    return true;
}

static bool near(double a, double b, double bound) { return fabs(a - b) <= bound * fabs(b); }

static void compare(const findings *got, const findings *want, const char *device) {
    for (int c = 0; c < COLUMNS; c++) {
        if (!near(got->mean[c], want->mean[c], 1e-12) || !near(got->variance[c], want->variance[c], 1e-9) ||
            got->largest[c] != want->largest[c] ||
            !near((double)got->running[ROWS - 1][c], (double)want->running[ROWS - 1][c], 1e-4)) {
            fprintf(stderr, "statistics: %s: column %d differs\n", device, c);
            exit(1);
        }
    }
    printf("statistics  %-7s column 3: mean %.6f, variance %.6f, largest in row %lld, sum %.2f\n", device, got->mean[3],
           got->variance[3], (long long)got->largest[3], (double)got->running[ROWS - 1][3]);
}

int main(void) {
    static findings plain, found;
    for (int r = 0; r < ROWS; r++)
        for (int c = 0; c < COLUMNS; c++)
            table[r][c] = (float)c + noise();
    find_plainly(&plain);
    DLTensor args[] = {UF_ARRAY(table), UF_ARRAY(found.mean), UF_ARRAY(found.variance), UF_ARRAY(found.largest),
                       UF_ARRAY(found.running)};
    find(args);
    compare(&found, &plain, "cpu");
    memset(&found, 0, sizeof found);
    if (find_on_gpu(args))
        compare(&found, &plain, "cuda:0");
}
