/* interval_dot.c - the dot product of vectors whose elements are known to lie between bounds: arrays of C structs, a reduction over the
 * catalogue's module `interval`, and bounds that hold in spite of all rounding. Runs on the CPU and, if there is one, on
 * the GPU, and compares both with the exact bounds, in integers of 128 bits.
 *    interval_dot [ELEMENTS] */
#include "example.h"
#include <math.h>

typedef struct interval {
    double lo, hi;
} interval;

__extension__ typedef __int128 wide;

static const uf_reduction_def dot = {
    .size = sizeof(uf_reduction_def),
    .map = UF_SOURCE(use interval; (x, y) { return x * y; }),
    .combine = UF_SOURCE(use interval; (a, b) { return a + b; }),
    .identity = "0",
};

static const double unit = 0x1p-32; /* of the vectors' bounds, so that products of bounds are no float64 numbers */

static uint64_t state = 1;

/* A number of 36 bits and a sign. */
static int64_t draw(void) {
    state = state * 6364136223846793005 + 1442695040888963407;
    return (int64_t)(state >> 27) - (INT64_C(1) << 36);
}

/* Bounds that are a few units apart, and now and then on both sides of 0. */
static void measure(interval *x, int64_t n) {
    for (int64_t i = 0; i < n; i++) {
        int64_t lo = i % 16 ? draw() : -(draw() & 255), hi = lo + (draw() & 255);
        x[i] = (interval){(double)lo * unit, (double)hi * unit};
    }
}

/* The exact bounds, in squares of the unit. */
static void dot_exactly(const interval *x, const interval *y, int64_t n, wide *lo, wide *hi) {
    *lo = *hi = 0;
    for (int64_t i = 0; i < n; i++) {
        int64_t a[2] = {(int64_t)(x[i].lo / unit), (int64_t)(x[i].hi / unit)};
        int64_t b[2] = {(int64_t)(y[i].lo / unit), (int64_t)(y[i].hi / unit)};
        wide least = (wide)a[0] * b[0], most = least;
        for (int k = 1; k < 4; k++) {
            wide p = (wide)a[k & 1] * b[k >> 1];
            least = p < least ? p : least;
            most = p > most ? p : most;
        }
        *lo += least;
        *hi += most;
    }
}

static interval dot_on(DLDevice device, interval *x, interval *y, int64_t n) {
    interval r = {1, -1};
    const DLTensor result = {
        .data = &r, .device = {kDLCPU, 0}, .dtype = {kDLUInt, 8, sizeof r}}; /* of rank 0: one interval */
    uf_func *f;
    UF_CHECK(uf_reduction(&f, "dot", "interval(float64),interval(float64)->interval(float64)", &dot));
    DLManagedTensor *a = copy_to(device, UF_RECORDS(x, n)), *b = copy_to(device, UF_RECORDS(y, n)),
                    *c = copy_to(device, result);
    UF_CHECK(UF_REDUCE(f, a->dl_tensor, b->dl_tensor, c->dl_tensor));
    take_back(result, c);
    a->deleter(a);
    b->deleter(b);
    uf_free(f);
    return r;
}

int main(int argc, char **argv) {
    int64_t n = number(argc, argv, 1, 1000000);
    interval *x = allocate(n, sizeof *x), *y = allocate(n, sizeof *y);
    DLDevice device;
    wide lo, hi;
    measure(x, n);
    measure(y, n);
    dot_exactly(x, y, n, &lo, &hi);
    for (int k = 0; find_device(k, &device); k++) {
        interval r = dot_on(device, x, y, n);
        double scale = unit * unit;
        double slack =
            ((double)(wide)(lo - (wide)floor(r.lo / scale)) + (double)(wide)((wide)ceil(r.hi / scale) - hi)) * scale;
        check(r.lo <= r.hi && (wide)ceil(r.lo / scale) <= lo && (wide)floor(r.hi / scale) >= hi,
              "the exact dot product lies between the bounds");
        check(slack <= 1e-12 * (double)n * 512, "rounding makes the bounds a little wider, and not more");
        printf("%-7s   dot product of %lld intervals: [%.9g, %.9g], %.3g wide, of which %.2g is rounding\n",
               name_of(device), (long long)n, r.lo, r.hi, r.hi - r.lo, slack);
    }
    free(x);
    free(y);
}
