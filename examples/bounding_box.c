/* bounding_box.c - the bounding box of a cloud of points in one pass: a reduction whose inputs are records, points, and whose state is
 * one, a box of two corners. Runs on the CPU and, if there is one, on the GPU, and compares both with a plain loop.
 *    bounding_box [POINTS] */
#include "example.h"

typedef struct point {
    float x, y, z;
} point;
typedef struct box {
    point low, high;
} box;

static const char module_source[] =
    "use vec;\n"
    "struct box(T) { vec3(T) low, high; };\n"
    "around(box(T) a, box(T) b) { return (box(T)){min(a.low, b.low), max(a.high, b.high)}; }";

static box box_plainly(const point *p, int64_t n) {
    box b = {p[0], p[0]};
    for (int64_t i = 1; i < n; i++) {
        const float *at = &p[i].x;
        float *low = &b.low.x, *high = &b.high.x;
        for (int k = 0; k < 3; k++) {
            low[k] = at[k] < low[k] ? at[k] : low[k];
            high[k] = at[k] > high[k] ? at[k] : high[k];
        }
    }
    return b;
}

static bool same(const point *p, const point *q) { return p->x == q->x && p->y == q->y && p->z == q->z; }

int main(int argc, char **argv) {
    int64_t n = number(argc, argv, 1, 10000000);
    point *p = allocate(n, sizeof *p);
    uint32_t state = 1;
    for (int64_t i = 0; i < n; i++)
        for (int k = 0; k < 3; k++) {
            state = state * 1664525 + 1013904223;
            (&p[i].x)[k] = (float)(k + 1) * ((float)(state >> 8) * 0x1p-23f - 1);
        }
    double start = seconds();
    box want = box_plainly(p, n);
    printf("bounding_box  plain C %8.3f ms\n", 1e3 * (seconds() - start));

    uf_module *sees[2];
    uf_func *bound;
    UF_CHECK(uf_module_load(&sees[0], "vec"));
    UF_CHECK(uf_module_new(
        &sees[1],
        &(uf_module_definition){.size = sizeof(uf_module_definition), .name = "boxes", .source = module_source}));
    UF_CHECK(uf_reduction(&bound, "bound", "vec3(float32)->box(float32)",
                          &(uf_reduction_def){.size = sizeof(uf_reduction_def),
                                              .map = "(p) { return (box(float32)){p, p}; }",
                                              .combine = "(a, b) { return around(a, b); }",
                                              .nmodules = 2,
                                              .modules = sees}));
    uf_module_free(sees[0]); /* the reduction keeps what it needs */
    uf_module_free(sees[1]);

    DLDevice device;
    for (int k = 0; find_device(k, &device); k++) {
        box got = {0};
        DLTensor one = UF_RECORDS(&got, 1);
        one.ndim = 0;
        DLManagedTensor *points = copy_to(device, UF_RECORDS(p, n)), *result = copy_to(device, one);
        double took = 0;
        for (int warm = 0; warm < 2; warm++) { /* the first round compiles */
            start = seconds();
            UF_CHECK(UF_REDUCE(bound, points->dl_tensor, result->dl_tensor));
            UF_CHECK(uf_sync(device, NULL));
            took = seconds() - start;
        }
        points->deleter(points);
        take_back(one, result);
        check(same(&got.low, &want.low) && same(&got.high, &want.high), "the box");
        printf("bounding_box  %-7s %8.3f ms\n", name_of(device), 1e3 * took);
    }
    printf("bounding_box  from (%.4f, %.4f, %.4f) to (%.4f, %.4f, %.4f)\n", (double)want.low.x, (double)want.low.y,
           (double)want.low.z, (double)want.high.x, (double)want.high.y, (double)want.high.z);
    uf_free(bound);
    free(p);
}
