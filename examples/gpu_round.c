/* gpu_round.c - rounds a column of numbers to a given number of decimals. cuDF did this with a kernel of the same name
 * that ran by Numba's forall. As in NumPy, halves of the scaled number go to the even neighbour: 0.125 becomes 0.12
 * with two decimals, and 0.375 becomes 0.38. 2.675 becomes 2.68, because 2.675 * 100 is 267.5 in float64; Python's
 * round says 2.67, because it looks at the digits of the number as which 2.675 is stored, which is a little smaller. A
 * number too large to be scaled, an infinity and a NaN stay as they are. Runs on the CPU and, if there is one, on the
 * GPU, and compares both with plain C, bit by bit.
 *    gpu_round [ROWS] */
#include "example.h"
#include <math.h>

/* A helper, which is exact up to 10^22, and the kernel. */
/* clang-format off */
static const char source[] = UF_SOURCE(
    ten_to(n) {
        double power = n & 1 ? 1e1 : 1e0;
        power *= n & 2 ? 1e2 : 1e0;
        power *= n & 4 ? 1e4 : 1e0;
        power *= n & 8 ? 1e8 : 1e0;
        return n & 16 ? power * 1e16 : power;
    }
    [i](x, y, decimals) {
        auto scale = ten_to(abs(decimals));
        auto r = decimals < 0 ? rint(x[i] / scale) * scale : rint(x[i] * scale) / scale;
        y[i] = isfinite(r) ? r : x[i];
    });
/* clang-format on */

static void round_plainly(int64_t rows, const double *x, double *y, int decimals) {
    double scale = 1;
    for (int k = 0; k < abs(decimals); k++)
        scale *= 10;
    for (int64_t i = 0; i < rows; i++) {
        double r = decimals < 0 ? rint(x[i] / scale) * scale : rint(x[i] * scale) / scale;
        y[i] = isfinite(r) ? r : x[i];
    }
}

/* Numbers that show the rule, with the expected results. */
static void show(const uf_func *gpu_round) {
    static const struct {
        double x, y;
        int decimals;
    } shown[] = {{0.5, 0, 0},        {1.5, 2, 0},
                 {-2.5, -2, 0},      {0.125, 0.12, 2},
                 {0.375, 0.38, 2},   {2.675, 2.68, 2},
                 {1e300, 1e300, 20}, {1234.5678, 1234.568, 3},
                 {1250, 1200, -2},   {-INFINITY, -INFINITY, 1}};
    for (size_t k = 0; k < sizeof shown / sizeof *shown; k++) {
        double y = 0;
        UF_CHECK(UF_FORALL(gpu_round, (1), UF_ARRAY(&shown[k].x, 1), UF_ARRAY(&y, 1), UF_SCALAR(shown[k].decimals)));
        printf("round(%g, %d) = %.10g\n", shown[k].x, shown[k].decimals, y);
        check(y == shown[k].y, "a rounded number");
    }
}

static void report(const char *how, int64_t rows, double took, double plain) {
    printf("gpu_round  %-8s %8.2f Grow/s  %8.1f GB/s  %7.1f x plain C\n", how, 1e-9 * (double)rows / took,
           16e-9 * (double)rows / took, plain / took);
}

int main(int argc, char **argv) {
    enum {
        REPEAT = 5,
        DECIMALS = 2
    };
    int64_t rows = number(argc, argv, 1, 1 << 24);
    double *x = allocate(rows, sizeof *x), *y = allocate(rows, sizeof *y), *want = allocate(rows, sizeof *want);
    for (int64_t i = 0; i < rows; i++)
        x[i] = (double)(i * 7919 % 2000003 - 1000001) / 64; /* some are halves of the last decimal */
    round_plainly(rows, x, want, DECIMALS);
    double start = seconds();
    round_plainly(rows, x, want, DECIMALS);
    double plain = seconds() - start;

    uf_func *gpu_round;
    UF_CHECK(uf_kernel(&gpu_round, "gpu_round", "float64[], float64[], int32", source));
    show(gpu_round);
    report("plain C", rows, plain, plain);
    DLDevice device;
    for (int k = 0; find_device(k, &device); k++) {
        DLManagedTensor *from = copy_to(device, UF_ARRAY(x, rows)), *to = copy_to(device, UF_ARRAY(y, rows));
        DLTensor args[] = {from->dl_tensor, to->dl_tensor, UF_SCALAR(DECIMALS)};
        UF_CHECK(UF_FORALL(gpu_round, (rows), args[0], args[1], args[2])); /* the first call compiles */
        UF_CHECK(uf_sync(device, NULL));
        start = seconds();
        for (int r = 0; r < REPEAT; r++)
            UF_CHECK(UF_FORALL(gpu_round, (rows), args[0], args[1], args[2]));
        UF_CHECK(uf_sync(device, NULL));
        report(name_of(device), rows, (seconds() - start) / REPEAT, plain);
        take_back(UF_ARRAY(y, rows), to);
        check(memcmp(y, want, (size_t)rows * sizeof *y) == 0, "the rounded column");
        memset(y, 0, (size_t)rows * sizeof *y);
        from->deleter(from);
    }
    uf_free(gpu_round);
    free(x);
    free(y);
    free(want);
}
