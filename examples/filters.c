/* filters.c - filters of an image: a blur by a window of weights, edges by Sobel's two windows, and a gamma curve. Windows are kernels
 * over the pixels, the curve is an elementwise function. Blur and edges compute in integers, so that every engine finds the same
 * pixels. The picture has the image, blurred, its edges, and brighter, side by side. Runs on the CPU and, if there is one, on the GPU,
 * and compares both with plain C.
 *    filters [FILE.png [ROWS COLUMNS]] */
#include "example.h"
#include "picture.h"
#include <math.h>

/* Beyond the border the image goes on with the pixels of the border. */
static const char blur_source[] = UF_SOURCE([i : n, j : m](in, weights, out) {
    auto total = sum(a : 5, b : 5, in[clamp(i + a - 2, 0, n - 1)][clamp(j + b - 2, 0, m - 1)] * weights[a][b]);
    out[i][j] = (total + 128) / 256;
});

static const char sobel_source[] = UF_SOURCE([i : n, j : m](in, out) {
    auto up = max(i - 1, 0), down = min(i + 1, n - 1), left = max(j - 1, 0), right = min(j + 1, m - 1);
    int dx = in[up][right] + 2 * in[i][right] + in[down][right] - in[up][left] - 2 * in[i][left] - in[down][left];
    int dy = in[down][left] + 2 * in[down][j] + in[down][right] - in[up][left] - 2 * in[up][j] - in[up][right];
    out[i][j] = min(sqrt((float)(dx * dx + dy * dy)), 255);
});

static const char gamma_source[] = UF_SOURCE((grey, gamma) { return 255 * pow(grey / 255.f, 1 / gamma) + 0.5f; });

enum {
    IMAGE,
    BLUR,
    SOBEL,
    GAMMA,
    PANES
};

static int64_t rows, columns;
static const int32_t weights[5][5] = {
    {1, 4, 6, 4, 1}, {4, 16, 24, 16, 4}, {6, 24, 36, 24, 6}, {4, 16, 24, 16, 4}, {1, 4, 6, 4, 1}};
static const float bright = 2.2f;

static int pixel(const uint8_t *in, int64_t i, int64_t j) {
    i = i < 0 ? 0 : i < rows ? i : rows - 1;
    j = j < 0 ? 0 : j < columns ? j : columns - 1;
    return in[i * columns + j];
}

static uint8_t blur_plainly(const uint8_t *in, int64_t i, int64_t j) {
    int total = 128;
    for (int a = 0; a < 5; a++)
        for (int b = 0; b < 5; b++)
            total += pixel(in, i + a - 2, j + b - 2) * weights[a][b];
    return (uint8_t)(total / 256);
}

static uint8_t sobel_plainly(const uint8_t *in, int64_t i, int64_t j) {
    int dx = 0, dy = 0;
    for (int k = -1; k <= 1; k++) {
        dx += (k ? 1 : 2) * (pixel(in, i + k, j + 1) - pixel(in, i + k, j - 1));
        dy += (k ? 1 : 2) * (pixel(in, i + 1, j + k) - pixel(in, i - 1, j + k));
    }
    return (uint8_t)fminf(sqrtf((float)(dx * dx + dy * dy)), 255);
}

static uint8_t gamma_plainly(const uint8_t *in, int64_t i, int64_t j) {
    return (uint8_t)(255 * powf((float)pixel(in, i, j) / 255, 1 / bright) + 0.5f);
}

/* Rings and rays in the dark, a lit ball, and noise. */
static void draw(uint8_t *image) {
    uint32_t state = 1;
    for (int64_t i = 0; i < rows; i++)
        for (int64_t j = 0; j < columns; j++) {
            double size = (double)(rows < columns ? rows : columns), y = 2 * (double)i / size - 1,
                   x = 2 * (double)j / size - 1;
            double r = hypot(x, y), ball = 0.2 - (x - 0.3) * (x - 0.3) - (y - 0.25) * (y - 0.25);
            double light = 0.3 * (sin(90 * r * r) > 0) + 0.1 * (sin(12 * atan2(y, x)) > 0);
            if (ball > 0)
                light = 0.1 + 0.9 * fmax(0, (-0.5 * (x - 0.3) - 0.6 * (y - 0.25) + 0.6 * sqrt(ball)) / 0.45);
            state = state * 1664525 + 1013904223;
            image[i * columns + j] = (uint8_t)(255 * fmin(0.95 * light + 0.05 * (double)(state >> 8) * 0x1p-24, 1));
        }
}

static void check_all(const uint8_t *panes) {
    int64_t n = rows * columns;
    for (int64_t p = 0; p < n; p++) {
        int64_t i = p / columns, j = p % columns;
        check(panes[BLUR * n + p] == blur_plainly(panes, i, j), "blur");
        check(panes[SOBEL * n + p] == sobel_plainly(panes, i, j), "sobel");
        check(abs(panes[GAMMA * n + p] - gamma_plainly(panes, i, j)) <= 1,
              "gamma"); /* powers are rounded in different ways */
    }
}

/* A pane of the array of all of them. */
static DLTensor pane(const DLManagedTensor *panes, int k) {
    DLTensor t = panes->dl_tensor;
    t.ndim--;
    t.shape++;
    t.strides += t.strides ? 1 : 0;
    t.byte_offset += (uint64_t)(k * rows * columns);
    return t;
}

int main(int argc, char **argv) {
    rows = number(argc, argv, 2, 384), columns = number(argc, argv, 3, 384);
    int64_t n = rows * columns;
    uint8_t *panes = allocate(PANES * n, 1), *side_by_side = allocate(PANES * n, 1);
    uf_func *blur, *sobel, *gamma;
    UF_CHECK(uf_kernel(&blur, "blur", "uint8[,], int32[,], uint8[,]", blur_source));
    UF_CHECK(uf_kernel(&sobel, "sobel", "uint8[,], uint8[,]", sobel_source));
    UF_CHECK(uf_vectorize(&gamma, "gamma", "uint8,float32->uint8", gamma_source));

    DLDevice device;
    for (int k = 0; find_device(k, &device); k++) {
        memset(panes, 0, (size_t)(PANES * n));
        draw(panes);
        DLManagedTensor *all = copy_to(device, UF_ARRAY(panes, PANES, rows, columns)),
                        *w = copy_to(device, UF_ARRAY(weights));
        double took = 0;
        for (int warm = 0; warm < 2; warm++) { /* the first round compiles */
            double start = seconds();
            UF_CHECK(UF_FORALL(blur, (rows, columns), pane(all, IMAGE), w->dl_tensor, pane(all, BLUR)));
            UF_CHECK(UF_FORALL(sobel, (rows, columns), pane(all, IMAGE), pane(all, SOBEL)));
            UF_CHECK(UF_CALL(gamma, pane(all, IMAGE), UF_SCALAR(bright), pane(all, GAMMA), .flags = UF_STRONG_NUMBERS));
            UF_CHECK(uf_sync(device, NULL));
            took = seconds() - start;
        }
        w->deleter(w);
        take_back(UF_ARRAY(panes, PANES, rows, columns), all);
        check_all(panes);
        printf("filters  %-7s %8.2f Mpixel/s, three filters\n", name_of(device), 1e-6 * (double)n / took);
    }
    /* pane, row, column to row, pane, column: one strided copy */
    UF_CHECK(uf_copy(&UF_STRIDED(side_by_side, (PANES, rows, columns), (columns, PANES * columns, 1)),
                     &UF_ARRAY(panes, PANES, rows, columns), NULL));
    write_png(argc > 1 ? argv[1] : "filters.png", side_by_side, rows, PANES * columns, 1);
    uf_free(blur);
    uf_free(sobel);
    uf_free(gamma);
    free(panes);
    free(side_by_side);
}
