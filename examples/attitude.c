/* attitude.c - where a body points after many small turns: the quaternions of the turns are multiplied in order, by a reduction whose
 * elements are vectors of four, on the CPU and, if there is one, on the GPU. Both are compared with a loop in plain C, and with the turn
 * that all of them make together where every turn is about one axis.
 *    attitude [TURNS] */
#include "example.h"
#include <math.h>

typedef double quaternion[4];

static void multiply(const double *p, const double *q, double *r) {
    r[0] = p[0] * q[0] - p[1] * q[1] - p[2] * q[2] - p[3] * q[3];
    r[1] = p[0] * q[1] + p[1] * q[0] + p[2] * q[3] - p[3] * q[2];
    r[2] = p[0] * q[2] - p[1] * q[3] + p[2] * q[0] + p[3] * q[1];
    r[3] = p[0] * q[3] + p[1] * q[2] - p[2] * q[1] + p[3] * q[0];
}

/* Turns about an axis that sways (or, swaying by 0, stays); the gyroscope is read once for each. */
static void turns_fill(quaternion *turns, int64_t n, double swaying) {
    for (int64_t i = 0; i < n; i++) {
        double t = (double)i / (double)n, half = 3 / (double)n, sway = swaying * sin(40 * t);
        turns[i][0] = cos(half);
        turns[i][1] = sin(half) * sin(sway);
        turns[i][2] = 0;
        turns[i][3] = sin(half) * cos(sway);
    }
}

static void turns_multiply(quaternion *turns, int64_t n, double *out) {
    quaternion next;
    memcpy(out, turns[0], sizeof next);
    for (int64_t i = 1; i < n; i++) {
        multiply(out, turns[i], next);
        memcpy(out, next, sizeof next);
    }
}

static bool near(const double *a, const double *b) {
    for (int i = 0; i < 4; i++)
        if (fabs(a[i] - b[i]) > 1e-9)
            return false;
    return true;
}

int main(int argc, char **argv) {
    int64_t n = number(argc, argv, 1, 1000000);
    quaternion *turns = allocate(n, sizeof *turns), total = {0}, want;
    const quaternion about_one_axis = {cos(3), 0, 0, sin(3)};
    uf_func *product;
    UF_CHECK(uf_load(&product, "quat_mul")); /* (4),(4)->(4) */

    DLDevice device;
    for (int swaying = 0; swaying < 2; swaying++)
        for (int k = 0; find_device(k, &device); k++) {
            turns_fill(turns, n, swaying);
            turns_multiply(turns, n, want);
            DLManagedTensor *in = copy_to(device, UF_ARRAY(&turns[0][0], n, 4)),
                            *out = copy_to(device, UF_ARRAY(total, 4));
            const DLTensor args[] = {in->dl_tensor, out->dl_tensor};
            UF_CHECK(uf_reduce(product, 2, args, NULL)); /* compiles */
            UF_CHECK(uf_sync(device, NULL));
            double start = seconds();
            UF_CHECK(uf_reduce(product, 2, args, NULL));
            UF_CHECK(uf_sync(device, NULL));
            double took = seconds() - start;
            in->deleter(in);
            take_back(UF_ARRAY(total, 4), out);
            check(near(total, want), "the product of the turns");
            check(swaying > 0 || near(total, about_one_axis), "turns about one axis");
            printf("attitude  %-7s %9.3f Mturn/s\n", name_of(device), 1e-6 * (double)n / took);
        }
    printf("attitude  the body points to (%.6f, %.6f, %.6f, %.6f)\n", total[0], total[1], total[2], total[3]);
    uf_free(product);
    free(turns);
}
