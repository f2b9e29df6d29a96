/* plain_tile.c - the loops a C programmer would write for arrays whose dimensions lie in another order, the output's innermost, built with -O3
 * -march=native by run.sh and loaded by bench_tile.c. Shapes and strides have four dimensions; the output is in C order. */
#include <complex.h>
#include <stdint.h>

void plain_permuted_copy(int64_t bytes, const int64_t *shape, const int64_t *sx, const void *x, void *r);
void plain_permuted_sum(const int64_t *shape, const int64_t *sx, const int64_t *sy, const float *x, const float *y,
                        float *r);

#define LOOPS(expression)                                   \
    for (int64_t a = 0, n = 0; a < shape[0]; a++)           \
        for (int64_t b = 0; b < shape[1]; b++)              \
            for (int64_t c = 0; c < shape[2]; c++)          \
                for (int64_t d = 0; d < shape[3]; d++, n++) \
    r[n] = expression
#define AT(s) (a * (s)[0] + b * (s)[1] + c * (s)[2] + d * (s)[3])

#define COPY(name, type)                                                                                  \
    static void name(const int64_t *shape, const int64_t *sx, const type *restrict x, type *restrict r) { \
        LOOPS(x[AT(sx)]);                                                                                 \
    }
COPY(copy1, uint8_t)
COPY(copy2, uint16_t)
COPY(copy4, uint32_t)
COPY(copy8, uint64_t)
COPY(copy16, double complex)

void plain_permuted_copy(int64_t bytes, const int64_t *shape, const int64_t *sx, const void *x, void *r) {
    switch (bytes) {
    case 1:
        copy1(shape, sx, x, r);
        break;
    case 2:
        copy2(shape, sx, x, r);
        break;
    case 4:
        copy4(shape, sx, x, r);
        break;
    case 8:
        copy8(shape, sx, x, r);
        break;
    default:
        copy16(shape, sx, x, r);
    }
}

void plain_permuted_sum(const int64_t *shape, const int64_t *sx, const int64_t *sy, const float *restrict x,
                        const float *restrict y, float *restrict r) {
    LOOPS(x[AT(sx)] + y[AT(sy)]);
}
