/* rotation.c - turns points about an axis by quaternions: arrays of records, of C's own layout, go in and come out. Each point has a
 * rotation of its own, halfway between two by slerp. Runs on the CPU and, if there is one, on the GPU, and compares both with rotation
 * by a matrix in plain C.
 *    rotation [POINTS] */
#include "example.h"
#include <math.h>

typedef struct point {
    double x, y, z;
} point;

/* The part of a turn about (1, 2, 2) / 3 that a point makes. */
static const char source[] = "use quaternion, vec;\n"
                             "(p, angle) {\n"
                             "    auto axis = (vec3(float64)){1, 2, 2};\n"
                             "    auto half = slerp(rotation(axis, 0), rotation(axis, angle), 0.5);\n"
                             "    return rotate(half, p);\n"
                             "}";

/* By the matrix of the rotation (Rodrigues). */
static point turned(point p, double angle) {
    const double c = cos(angle), s = sin(angle), x = 1. / 3, y = 2. / 3, z = 2. / 3;
    double along = (x * p.x + y * p.y + z * p.z) * (1 - c);
    return (point){c * p.x + s * (y * p.z - z * p.y) + x * along, c * p.y + s * (z * p.x - x * p.z) + y * along,
                   c * p.z + s * (x * p.y - y * p.x) + z * along};
}

static bool near(double a, double b) { return fabs(a - b) <= 1e-14; }

int main(int argc, char **argv) {
    int64_t n = number(argc, argv, 1, 1000000);
    point *p = allocate(n, sizeof *p), *q = allocate(n, sizeof *q);
    double *angle = allocate(n, sizeof *angle);
    for (int64_t i = 0; i < n; i++) {
        double t = (double)i / (double)n;
        p[i] = (point){cos(7 * t), sin(7 * t), 1 - 2 * t};
        angle[i] = 3 * t;
    }

    uf_func *turn;
    const uf_section only = {.signatures = "vec3(float64),float64->vec3(float64)", .source = source};
    UF_CHECK(uf_define(
        &turn, &(uf_definition){.size = sizeof(uf_definition), .name = "turn", .nsections = 1, .sections = &only}));
    uf_record vec3 = {.size = sizeof vec3};
    UF_CHECK(uf_function_record(turn, "vec3(float64)", &vec3));
    check(vec3.bytes == sizeof(point) && vec3.fields[2]->offset == offsetof(point, z), "the layout of a point");

    DLDevice device;
    for (int k = 0; find_device(k, &device); k++) {
        DLManagedTensor *in = copy_to(device, UF_RECORDS(p, n)), *by = copy_to(device, UF_ARRAY(angle, n)),
                        *out = copy_to(device, UF_RECORDS(q, n));
        UF_CHECK(UF_CALL(turn, in->dl_tensor, by->dl_tensor, out->dl_tensor)); /* compiles */
        UF_CHECK(uf_sync(device, NULL));
        double start = seconds();
        UF_CHECK(UF_CALL(turn, in->dl_tensor, by->dl_tensor, out->dl_tensor));
        UF_CHECK(uf_sync(device, NULL));
        double took = seconds() - start;
        in->deleter(in);
        by->deleter(by);
        take_back(UF_RECORDS(q, n), out);
        for (int64_t i = 0; i < n; i++) {
            point want = turned(p[i], angle[i] / 2);
            check(near(q[i].x, want.x) && near(q[i].y, want.y) && near(q[i].z, want.z), "a point");
        }
        memset(q, 0, (size_t)n * sizeof *q);
        printf("rotation  %-7s %8.3f Mpoint/s\n", name_of(device), 1e-6 * (double)n / took);
    }
    point last = turned(p[n - 1], angle[n - 1] / 2);
    printf("rotation  the last point is (%.6f, %.6f, %.6f)\n", last.x, last.y, last.z);
    uf_free(turn);
    free(p);
    free(q);
    free(angle);
}
