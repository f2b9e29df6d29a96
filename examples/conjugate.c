/* conjugate.c - the potential of a few charges in a grounded box: Poisson's equation in two dimensions, as a sparse matrix in
 * compressed rows, solved by conjugate gradients. The matrix times a vector is a kernel over its rows, a product of vectors is a
 * composed reduction, and the two numbers of a step stay on the device as 0-d arrays, so that a step waits for nothing. The picture
 * has the potential and its level lines. Runs on the CPU and, if there is one, on the GPU; what remains of the equations is checked
 * in plain C, and so is the solution, against conjugate gradients in plain C.
 *    conjugate [FILE.png [SIZE]] */
#include "example.h"
#include "picture.h"
#include <math.h>

/* Row i has the elements first[i] .. first[i + 1] - 1 of value, in the columns that column has. */
static const char times_source[] = UF_SOURCE([i](first, column, value, x, y) {
    y[i] = sum(k : first[i + 1] - first[i], value[first[i] + k] * x[column[first[i] + k]]);
});

/* A step goes a / b far. At the solution both are 0, and it stays there. */
static const char forward_source[] = UF_SOURCE((x, y, a, b) { return x + (b > 0 ? a / b : 0) * y; });
static const char back_source[] = UF_SOURCE((x, y, a, b) { return x - (b > 0 ? a / b : 0) * y; });

enum {
    ROUND = 50, /* steps between looks at the residual */
    MOST = 100  /* rounds */
};
static const double small = 1e-10; /* what may remain, of what was there */

typedef struct sparse {
    int64_t n, elements;
    int64_t *first, *column;
    double *value;
} sparse;

/* The Laplacian of size x size points, whose neighbours beyond the border are 0. */
static sparse laplacian(int64_t size) {
    int64_t n = size * size;
    sparse a = {n, 0, allocate(n + 1, sizeof(int64_t)), allocate(5 * n, sizeof(int64_t)),
                allocate(5 * n, sizeof(double))};
    for (int64_t i = 0; i < n; i++) {
        int64_t row = i / size, col = i % size;
        int64_t columns[] = {i - size, i - 1, i, i + 1, i + size};
        bool there[] = {row > 0, col > 0, true, col < size - 1, row < size - 1};
        for (int k = 0; k < 5; k++)
            if (there[k]) {
                a.column[a.elements] = columns[k];
                a.value[a.elements++] = k == 2 ? 4 : -1;
            }
        a.first[i + 1] = a.elements;
    }
    return a;
}

static void times_plainly(const sparse *a, const double *x, double *y) {
    for (int64_t i = 0; i < a->n; i++) {
        y[i] = 0;
        for (int64_t k = a->first[i]; k < a->first[i + 1]; k++)
            y[i] += a->value[k] * x[a->column[k]];
    }
}

static double dot_plainly(const double *x, const double *y, int64_t n) {
    double total = 0;
    for (int64_t i = 0; i < n; i++)
        total += x[i] * y[i];
    return total;
}

static int64_t solve_plainly(const sparse *a, const double *b, double *x) {
    int64_t n = a->n, steps = 0;
    double *r = allocate(n, sizeof *r), *p = allocate(n, sizeof *p), *q = allocate(n, sizeof *q);
    memcpy(r, b, (size_t)n * sizeof *r);
    memcpy(p, b, (size_t)n * sizeof *p);
    double rr = dot_plainly(r, r, n), enough = small * small * rr;
    for (; rr > enough && steps < ROUND * MOST; steps++) {
        times_plainly(a, p, q);
        double alpha = rr / dot_plainly(p, q, n), before = rr;
        for (int64_t i = 0; i < n; i++) {
            x[i] += alpha * p[i];
            r[i] -= alpha * q[i];
        }
        rr = dot_plainly(r, r, n);
        for (int64_t i = 0; i < n; i++)
            p[i] = r[i] + rr / before * p[i];
    }
    free(r);
    free(p);
    free(q);
    return steps;
}

typedef struct solver {
    uf_func *times, *dot, *forward, *back;
} solver;

static int64_t solve(const solver *s, DLDevice device, const sparse *a, const double *b, double *result) {
    double zero = 0, first, now;
    int64_t n = a->n, steps = 0;
    DLManagedTensor *arrays[] = {copy_to(device, UF_ARRAY(a->first, n + 1)),
                                 copy_to(device, UF_ARRAY(a->column, a->elements)),
                                 copy_to(device, UF_ARRAY(a->value, a->elements)),
                                 copy_to(device, UF_ARRAY(result, n)),
                                 copy_to(device, UF_ARRAY(b, n)),
                                 copy_to(device, UF_ARRAY(b, n)),
                                 copy_to(device, UF_ARRAY(b, n)),
                                 copy_to(device, UF_OUT(zero)),
                                 copy_to(device, UF_OUT(zero)),
                                 copy_to(device, UF_OUT(zero))};
    DLTensor starts = arrays[0]->dl_tensor, column = arrays[1]->dl_tensor, value = arrays[2]->dl_tensor;
    DLTensor x = arrays[3]->dl_tensor, r = arrays[4]->dl_tensor, p = arrays[5]->dl_tensor, q = arrays[6]->dl_tensor;
    DLTensor rr = arrays[7]->dl_tensor, pq = arrays[8]->dl_tensor, before = arrays[9]->dl_tensor;
    UF_CHECK(UF_REDUCE(s->dot, r, r, rr));
    UF_CHECK(uf_copy(&UF_OUT(first), &rr, NULL));
    for (now = first; now > small * small * first && steps < ROUND * MOST;) {
        for (int k = 0; k < ROUND; k++, steps++) {
            UF_CHECK(UF_FORALL(s->times, (n), starts, column, value, p, q));
            UF_CHECK(UF_REDUCE(s->dot, p, q, pq));
            UF_CHECK(UF_CALL(s->forward, x, p, rr, pq, x));
            UF_CHECK(UF_CALL(s->back, r, q, rr, pq, r));
            DLTensor old = before;
            before = rr, rr = old;
            UF_CHECK(UF_REDUCE(s->dot, r, r, rr));
            UF_CHECK(UF_CALL(s->forward, r, p, rr, before, p));
        }
        UF_CHECK(uf_copy(&UF_OUT(now), &rr, NULL));
    }
    UF_CHECK(uf_copy(&UF_ARRAY(result, n), &x, NULL));
    for (size_t k = 0; k < sizeof arrays / sizeof *arrays; k++)
        arrays[k]->deleter(arrays[k]);
    return steps;
}

/* Red is positive, blue negative; level lines are dark. */
static void paint(uint8_t *pixels, const double *x, int64_t n) {
    double most = 0;
    for (int64_t i = 0; i < n; i++)
        most = fmax(most, fabs(x[i]));
    for (int64_t i = 0; i < n; i++) {
        double high = cbrt(x[i] / most), level = 12 * high - floor(12 * high), shade = level < 0.12 ? 0.55 : 1;
        pixels[3 * i] = (uint8_t)(255 * shade * fmin(1, 1 + high));
        pixels[3 * i + 1] = (uint8_t)(255 * shade * (1 - fabs(high)));
        pixels[3 * i + 2] = (uint8_t)(255 * shade * fmin(1, 1 - high));
    }
}

int main(int argc, char **argv) {
    int64_t size = number(argc, argv, 2, 160), n = size * size;
    sparse a = laplacian(size > 0 ? size : 0);
    double *b = allocate(n, sizeof *b), *x = allocate(n, sizeof *x), *want = allocate(n, sizeof *want),
           *left = allocate(n, sizeof *left);
    uint8_t *pixels = allocate(n, 3);
    b[size / 4 * size + size / 3] += 1;
    b[size / 2 * size + size * 3 / 4] -= 1;
    b[size * 4 / 5 * size + size / 4] += 0.5;
    double start = seconds(), plain;
    int64_t steps = solve_plainly(&a, b, want);
    plain = seconds() - start;
    printf("conjugate  plain C %8.2f ms, %lld steps\n", 1e3 * plain, (long long)steps);

    solver s;
    UF_CHECK(uf_kernel(&s.times, "times", "int64[], int64[], float64[], float64[], float64[]", times_source));
    UF_CHECK(uf_compose(&s.dot, "dot", "x, y", "sum(multiply(x, y))", 0, NULL));
    UF_CHECK(uf_vectorize(&s.forward, "forward", "float64,float64,float64,float64->float64", forward_source));
    UF_CHECK(uf_vectorize(&s.back, "back", "float64,float64,float64,float64->float64", back_source));
    DLDevice device;
    for (int k = 0; find_device(k, &device); k++) {
        double took = 0;
        for (int warm = 0; warm < 2; warm++) { /* the first time compiles */
            memset(x, 0, (size_t)n * sizeof *x);
            start = seconds();
            steps = solve(&s, device, &a, b, x);
            took = seconds() - start;
        }
        times_plainly(&a, x, left);
        double rest = 0, apart = 0;
        for (int64_t i = 0; i < n; i++) {
            rest = fmax(rest, fabs(left[i] - b[i]));
            apart = fmax(apart, fabs(x[i] - want[i]));
        }
        check(rest < 1e-9, "the equations hold");
        check(apart < 1e-7, "the solution");
        printf("conjugate  %-7s %8.2f ms, %lld steps, of the equations remains %.1e\n", name_of(device), 1e3 * took,
               (long long)steps, rest);
    }
    paint(pixels, x, n);
    write_png(argc > 1 ? argv[1] : "conjugate.png", pixels, size, size, 3);
    uf_free(s.times), uf_free(s.dot), uf_free(s.forward), uf_free(s.back);
    free(a.first), free(a.column), free(a.value);
    free(b), free(x), free(want), free(left), free(pixels);
}
