/* life.c - Conway's game of life on a torus, from a random beginning. A living cell is 255; a dead one fades, so that
 * the picture shows where life has been. Runs on the CPU and, if there is one, on the GPU, and compares both with plain
 * C, bit by bit.
 *    life [FILE.png [ROWS COLUMNS GENERATIONS]] */
#include "example.h"
#include "picture.h"

/* Four of eleven cells live. They are the same on every device, since a random number depends only on the seed and the
 * cell. */
static const char soup_source[] = UF_SOURCE(
    [i, j : columns](cells, seed) { cells[i][j] = random_bits(seed, i * columns + j, 0) % 11 < 4 ? 255 : 0; });

static const char step_source[] = UF_SOURCE([i : n, j : m](now, next) {
    int64 up = i > 0 ? i - 1 : n - 1;
    int64 down = i < n - 1 ? i + 1 : 0;
    int64 left = j > 0 ? j - 1 : m - 1;
    int64 right = j < m - 1 ? j + 1 : 0;
    int living = (now[up][left] == 255) + (now[up][j] == 255) + (now[up][right] == 255) + (now[i][left] == 255) +
                 (now[i][right] == 255) + (now[down][left] == 255) + (now[down][j] == 255) + (now[down][right] == 255);
    int old = now[i][j];
    next[i][j] = living == 3 || (living == 2 && old == 255) ? 255 : old - (old + 15) / 16;
});

static int64_t rows, columns, generations;

static void step_plainly(const uint8_t *now, uint8_t *next) {
    for (int64_t i = 0; i < rows; i++) {
        const uint8_t *row = now + i * columns;
        const uint8_t *up = now + (i > 0 ? i - 1 : rows - 1) * columns;
        const uint8_t *down = now + (i < rows - 1 ? i + 1 : 0) * columns;
        for (int64_t j = 0; j < columns; j++) {
            int64_t left = j > 0 ? j - 1 : columns - 1, right = j < columns - 1 ? j + 1 : 0;
            int living = (up[left] == 255) + (up[j] == 255) + (up[right] == 255) + (row[left] == 255) +
                         (row[right] == 255) + (down[left] == 255) + (down[j] == 255) + (down[right] == 255);
            int old = row[j];
            next[i * columns + j] = (uint8_t)(living == 3 || (living == 2 && old == 255) ? 255 : old - (old + 15) / 16);
        }
    }
}

static void report(const char *how, double took, double plain) {
    printf("life  %-8s %8.2f Gcell/s  %7.1f x plain C\n", how, 1e-9 * (double)(rows * columns * generations) / took,
           plain / took);
}

/* Computes all generations on one device. The first one and the last one come back to the host. */
static double live(const uf_func *soup, const uf_func *step, DLDevice device, DLTensor first, DLTensor last) {
    DLManagedTensor *a = copy_to(device, first), *b = copy_to(device, first);
    DLTensor now = a->dl_tensor, next = b->dl_tensor;
    UF_CHECK(UF_FORALL(soup, (now.shape[0], now.shape[1]), now, UF_SCALAR(2026)));
    UF_CHECK(uf_copy(&first, &now, NULL));
    uf_plan *plan; /* making the plan compiles */
    UF_CHECK(UF_FORALL_PLAN(&plan, step, (now.shape[0], now.shape[1]), now, next));
    double start = seconds();
    for (int64_t g = 0; g < generations; g++) {
        UF_CHECK(uf_plan_run(plan, (void *[]){now.data, next.data}, NULL));
        DLTensor old = now;
        now = next, next = old;
    }
    UF_CHECK(uf_sync(device, NULL));
    double took = seconds() - start;
    uf_plan_free(plan);
    UF_CHECK(uf_copy(&last, &now, NULL));
    a->deleter(a);
    b->deleter(b);
    return took;
}

int main(int argc, char **argv) {
    const char *file = argc > 1 ? argv[1] : "life.png";
    rows = number(argc, argv, 2, 768), columns = number(argc, argv, 3, 1024), generations = number(argc, argv, 4, 300);
    int64_t cells = rows * columns;
    uint8_t *soup = allocate(cells, 1), *last = allocate(cells, 1), *want[2] = {allocate(cells, 1), allocate(cells, 1)};
    uf_func *fill, *step;
    UF_CHECK(uf_kernel(&fill, "soup", "uint8[,], int64", soup_source));
    UF_CHECK(uf_kernel(&step, "life", "uint8[,], uint8[,]", step_source));
    double plain = 0;
    DLDevice device;
    for (int k = 0; find_device(k, &device); k++) {
        double took = live(fill, step, device, UF_ARRAY(soup, rows, columns), UF_ARRAY(last, rows, columns));
        if (k == 0) { /* plain C starts from the soup that the CPU made */
            memcpy(want[0], soup, (size_t)cells);
            double start = seconds();
            for (int64_t g = 0; g < generations; g++)
                step_plainly(want[g % 2], want[(g + 1) % 2]);
            plain = seconds() - start;
            report("plain C", plain, plain);
        }
        report(name_of(device), took, plain);
        check(memcmp(last, want[generations % 2], (size_t)cells) == 0, "the last generation");
    }
    write_png(file, last, rows, columns, 1);
    uf_free(fill);
    uf_free(step);
    free(soup);
    free(last);
    free(want[0]);
    free(want[1]);
}
