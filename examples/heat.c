/* heat.c - heat that spreads in a plate with cold edges: the equation u' = laplace(u) in two dimensions. Each step goes
 * from one array to another, and the next one back: it is planned once, and run with the addresses of the two in turn.
 * A second kernel, over rows, columns and colours, paints the picture. Runs on the CPU and, if there is one, on the
 * GPU, and compares both with plain C, bit by bit.
 *    heat [FILE.png [ROWS COLUMNS STEPS]] */
#include "example.h"
#include "picture.h"

static const char step_source[] = UF_SOURCE([i : n, j : m](u, v, k) {
    if (i > 0 && i < n - 1 && j > 0 && j < m - 1)
        v[i][j] = u[i][j] + k * (u[i - 1][j] + u[i + 1][j] + u[i][j - 1] + u[i][j + 1] - 4 * u[i][j]);
});

/* From black through red and yellow to white. */
static const char paint_source[] =
    UF_SOURCE([i, j, colour](u, pixels) { pixels[i][j][colour] = clamp(255 * (3 * u[i][j] - colour), 0, 255); });

static int64_t rows, columns, steps;
static float speed = 0.2f; /* conductivity * time step / distance^2; stable up to 0.25 */

static void step_plainly(const float *u, float *v) {
    for (int64_t i = 1; i < rows - 1; i++)
        for (int64_t j = 1; j < columns - 1; j++) {
            const float *c = u + i * columns + j;
            v[i * columns + j] = c[0] + speed * (c[-columns] + c[columns] + c[-1] + c[1] - 4 * c[0]);
        }
}

static uint8_t paint_plainly(float u, int colour) {
    float brightness = 255 * (3 * u - (float)colour);
    return brightness < 0 ? 0 : brightness > 255 ? 255 : (uint8_t)brightness;
}

/* The heat in the beginning: hot rings in a cold plate. */
static void heat_up(float *u) {
    for (int64_t i = 1; i < rows - 1; i++)
        for (int64_t j = 1; j < columns - 1; j++) {
            double y = 2 * (double)i / (double)rows - 1, x = 2 * (double)j / (double)columns - 1;
            u[i * columns + j] = (int)(8 * (x * x + y * y)) % 3 == 1 ? 1 : 0;
        }
}

static void report(const char *how, double took, double plain) {
    printf("heat  %-8s %8.2f Gpoint/s  %8.2f us a step  %7.1f x plain C\n", how,
           1e-9 * (double)(rows * columns * steps) / took, 1e6 * took / (double)steps, plain / took);
}

/* Computes all steps on one device. The last array comes back to the host, with its picture. */
static double spread(const uf_func *step, const uf_func *paint, DLDevice device, DLTensor heat, DLTensor picture) {
    DLManagedTensor *u = copy_to(device, heat), *v = copy_to(device, heat), *pixels = copy_to(device, picture);
    uf_plan *plan;
    UF_CHECK(UF_FORALL_PLAN(&plan, step, (heat.shape[0], heat.shape[1]), u->dl_tensor, v->dl_tensor, UF_SCALAR(speed)));
    void *there[] = {u->dl_tensor.data, v->dl_tensor.data, &speed}, *back[] = {there[1], there[0], &speed};
    double start = seconds();
    for (int64_t s = 0; s < steps; s++)
        UF_CHECK(uf_plan_run(plan, s % 2 ? back : there, NULL));
    UF_CHECK(uf_sync(device, NULL));
    double took = seconds() - start;
    uf_plan_free(plan);
    if (steps % 2) {
        DLManagedTensor *last = v;
        v = u, u = last;
    }
    UF_CHECK(uf_forall(paint, 3, picture.shape, 2, (DLTensor[]){u->dl_tensor, pixels->dl_tensor}, NULL));
    take_back(picture, pixels);
    take_back(heat, u);
    v->deleter(v);
    return took;
}

int main(int argc, char **argv) {
    const char *file = argc > 1 ? argv[1] : "heat.png";
    rows = number(argc, argv, 2, 1024), columns = number(argc, argv, 3, 1024), steps = number(argc, argv, 4, 500);
    int64_t points = rows * columns;
    float *hot = allocate(points, sizeof *hot), *u = allocate(points, sizeof *u), *want[2];
    uint8_t *pixels = allocate(points, 3);
    heat_up(hot);
    for (int k = 0; k < 2; k++)
        want[k] = memcpy(allocate(points, sizeof *hot), hot, (size_t)points * sizeof *hot);
    double start = seconds();
    for (int64_t s = 0; s < steps; s++)
        step_plainly(want[s % 2], want[(s + 1) % 2]);
    double plain = seconds() - start;
    report("plain C", plain, plain);

    uf_func *step, *paint;
    UF_CHECK(uf_kernel(&step, "step", "float32[,], float32[,], float32", step_source));
    UF_CHECK(uf_kernel(&paint, "paint", "float32[,], uint8[,,]", paint_source));
    DLDevice device;
    for (int k = 0; find_device(k, &device); k++) {
        memcpy(u, hot, (size_t)points * sizeof *u);
        report(name_of(device),
               spread(step, paint, device, UF_ARRAY(u, rows, columns), UF_ARRAY(pixels, rows, columns, 3)), plain);
        check(memcmp(u, want[steps % 2], (size_t)points * sizeof *u) == 0, "the heat in the end");
        for (int64_t p = 0; p < 3 * points; p++)
            check(pixels[p] == paint_plainly(u[p / 3], (int)(p % 3)), "the picture");
    }
    write_png(file, pixels, rows, columns, 3);
    uf_free(step);
    uf_free(paint);
    for (int k = 0; k < 2; k++)
        free(want[k]);
    free(hot);
    free(u);
    free(pixels);
}
