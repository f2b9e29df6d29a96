/* plain_windows.c - the windows of bench_windows.c as the loops a C programmer would write. Built with -O3 -march=native by run.sh and
 * loaded by bench_windows.c. `args` are the addresses of the arrays, `n` the extents of the space. */
#include <stdint.h>
#include <stdlib.h>

typedef void plain_loop(void *const *args, const int64_t *n);
plain_loop plain_window3_f32, plain_window5_f32, plain_sobel_u8, plain_rows9_f32;

static inline void window(void *const *args, const int64_t *n, int64_t reach) {
    const float *restrict x = args[0];
    float *restrict y = args[1];
    int64_t m = n[1], wide = 2 * reach + 1;
    for (int64_t i = reach; i < n[0] - reach; i++)
        for (int64_t j = reach; j < m - reach; j++) {
            float s = 0;
            for (int64_t a = -reach; a <= reach; a++)
                for (int64_t b = -reach; b <= reach; b++)
                    s += x[(i + a) * m + j + b];
            y[i * m + j] = s * (1.0f / (float)(wide * wide));
        }
}

void plain_window3_f32(void *const *args, const int64_t *n) { window(args, n, 1); }
void plain_window5_f32(void *const *args, const int64_t *n) { window(args, n, 2); }

void plain_sobel_u8(void *const *args, const int64_t *n) {
    const uint8_t *restrict x = args[0];
    uint8_t *restrict y = args[1];
    int64_t m = n[1];
    for (int64_t i = 1; i < n[0] - 1; i++)
        for (int64_t j = 1; j < m - 1; j++) {
            const uint8_t *at = x + i * m + j;
            int gx = at[-m + 1] + 2 * at[1] + at[m + 1] - at[-m - 1] - 2 * at[-1] - at[m - 1];
            int gy = at[m - 1] + 2 * at[m] + at[m + 1] - at[-m - 1] - 2 * at[-m] - at[-m + 1];
            int g = (abs(gx) + abs(gy)) >> 2;
            y[i * m + j] = (uint8_t)(g > 255 ? 255 : g);
        }
}

void plain_rows9_f32(void *const *args, const int64_t *n) {
    const float *restrict x = args[0], *restrict w = args[1];
    float *restrict y = args[2];
    for (int64_t i = 0; i < n[0]; i++)
        for (int64_t j = 0; j < n[1]; j++) {
            float s = 0;
            for (int64_t k = 0; k < 9; k++)
                s += w[k] * x[i * (n[1] + 8) + j + k];
            y[i * n[1] + j] = s;
        }
}
