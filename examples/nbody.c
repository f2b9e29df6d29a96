/* nbody.c - bodies that attract each other: softened gravity in float32, in leapfrog steps of which two plans do the
 * halves in turn. The pulls on a body are added up in one order, so that every engine gets the same bits after any
 * number of steps. Runs on the CPU and, if there is one, on the GPU, and compares both with plain C, bit by bit. How
 * well the energy is kept says how good the steps are.
 *    nbody [BODIES [STEPS]] */
#include "example.h"
#include <math.h>

/* The softening, 0.01, keeps the pull between close bodies finite, and that of a body on itself. */
static const char kick_source[] = UF_SOURCE([i : n](x, v, mass, dt) {
    float32 ax = 0, ay = 0, az = 0;
    for (int64 j = 0; j < n; j++) {
        auto dx = x[j][0] - x[i][0], dy = x[j][1] - x[i][1], dz = x[j][2] - x[i][2];
        auto r2 = dx * dx + dy * dy + dz * dz + 0.01;
        auto pull = mass[j] / (r2 * sqrt(r2));
        ax += pull * dx;
        ay += pull * dy;
        az += pull * dz;
    }
    v[i][0] += dt * ax;
    v[i][1] += dt * ay;
    v[i][2] += dt * az;
});

static const char drift_source[] = UF_SOURCE([i, axis](x, v, dt) { x[i][axis] += dt * v[i][axis]; });

static int64_t n, steps;

static void kick_plainly(float (*x)[3], float (*v)[3], const float *mass, float dt) {
    for (int64_t i = 0; i < n; i++) {
        float a[3] = {0};
        for (int64_t j = 0; j < n; j++) {
            float d[3] = {x[j][0] - x[i][0], x[j][1] - x[i][1], x[j][2] - x[i][2]};
            float r2 = d[0] * d[0] + d[1] * d[1] + d[2] * d[2] + 0.01f, pull = mass[j] / (r2 * sqrtf(r2));
            for (int axis = 0; axis < 3; axis++)
                a[axis] += pull * d[axis];
        }
        for (int axis = 0; axis < 3; axis++)
            v[i][axis] += dt * a[axis];
    }
}

/* A kick changes velocities, a drift positions. First comes half a kick, then drifts and kicks in turn, and the last
 * kick is half a one. */
static float drift_time(int64_t step) { return step ? 0.01f : 0; }
static float kick_time(int64_t step) { return step && step < steps ? 0.01f : 0.005f; }

static void leap_plainly(float (*x)[3], float (*v)[3], const float *mass) {
    for (int64_t s = 0; s <= steps; s++) {
        for (int64_t i = 0; i < n; i++)
            for (int axis = 0; axis < 3; axis++)
                x[i][axis] += drift_time(s) * v[i][axis];
        kick_plainly(x, v, mass, kick_time(s));
    }
}

/* The beginning: a ball of equal bodies that turns about its third axis. */
static void place(float (*x)[3], float (*v)[3], float *mass) {
    uint32_t state = 1;
    for (int64_t i = 0; i < n; i++) {
        float r2 = 2;
        while (r2 > 1) {
            r2 = 0;
            for (int axis = 0; axis < 3; axis++) {
                state = state * 1664525 + 1013904223;
                x[i][axis] = (float)(state >> 8) * 0x1p-23f - 1;
                r2 += x[i][axis] * x[i][axis];
            }
        }
        v[i][0] = -0.6f * x[i][1];
        v[i][1] = 0.6f * x[i][0];
        v[i][2] = 0;
        mass[i] = 1 / (float)n;
    }
}

static double energy(float (*x)[3], float (*v)[3], const float *mass) {
    double sum = 0;
    for (int64_t i = 0; i < n; i++) {
        sum += 0.5 * (double)mass[i] * (double)(v[i][0] * v[i][0] + v[i][1] * v[i][1] + v[i][2] * v[i][2]);
        for (int64_t j = 0; j < i; j++) {
            float d[3] = {x[j][0] - x[i][0], x[j][1] - x[i][1], x[j][2] - x[i][2]};
            sum -= (double)(mass[i] * mass[j] / sqrtf(d[0] * d[0] + d[1] * d[1] + d[2] * d[2] + 0.01f));
        }
    }
    return sum;
}

static void report(const char *how, double took, double plain) {
    printf("nbody  %-8s %8.3f Gpair/s  %7.1f x plain C\n", how,
           1e-9 * (double)n * (double)n * (double)(steps + 1) / took, plain / took);
}

/* Computes all steps on one device. The positions come back to the host. */
static double leap(const uf_func *kick, const uf_func *drift, DLDevice device, DLTensor places, DLTensor velocities,
                   DLTensor masses) {
    DLManagedTensor *x = copy_to(device, places), *v = copy_to(device, velocities), *mass = copy_to(device, masses);
    float time = 0; /* each run of a plan reads its numbers anew */
    DLTensor args[] = {x->dl_tensor, v->dl_tensor, mass->dl_tensor, UF_SCALAR(time)};
    uf_plan *kicks, *drifts;
    UF_CHECK(uf_forall_plan(&kicks, kick, 1, &n, 4, args, NULL));
    UF_CHECK(uf_forall_plan(&drifts, drift, 2, places.shape, 3, (DLTensor[]){args[0], args[1], args[3]}, NULL));
    double start = seconds();
    for (int64_t s = 0; s <= steps; s++) {
        time = drift_time(s);
        UF_CHECK(uf_plan_run(drifts, (void *[]){args[0].data, args[1].data, &time}, NULL));
        time = kick_time(s);
        UF_CHECK(uf_plan_run(kicks, (void *[]){args[0].data, args[1].data, args[2].data, &time}, NULL));
    }
    UF_CHECK(uf_sync(device, NULL));
    double took = seconds() - start;
    uf_plan_free(kicks);
    uf_plan_free(drifts);
    take_back(places, x);
    v->deleter(v);
    mass->deleter(mass);
    return took;
}

int main(int argc, char **argv) {
    n = number(argc, argv, 1, 1024), steps = number(argc, argv, 2, 100);
    float(*x)[3] = allocate(n, sizeof *x), (*v)[3] = allocate(n, sizeof *v), *mass = allocate(n, sizeof *mass);
    float(*want)[3] = allocate(n, sizeof *want), (*speed)[3] = allocate(n, sizeof *speed);
    place(want, speed, mass);
    double before = energy(want, speed, mass), start = seconds();
    leap_plainly(want, speed, mass);
    double plain = seconds() - start, after = energy(want, speed, mass);
    report("plain C", plain, plain);

    uf_func *kick, *drift;
    UF_CHECK(uf_kernel(&kick, "kick", "float32[,], float32[,], float32[], float32", kick_source));
    UF_CHECK(uf_kernel(&drift, "drift", "float32[,], float32[,], float32", drift_source));
    DLDevice device;
    for (int k = 0; find_device(k, &device); k++) {
        place(x, v, mass);
        double took = leap(kick, drift, device, UF_ARRAY(x[0], n, 3), UF_ARRAY(v[0], n, 3), UF_ARRAY(mass, n));
        report(name_of(device), took, plain);
        check(memcmp(x, want, (size_t)n * sizeof *x) == 0, "a place");
    }
    printf("nbody  energy %.6f, after %lld steps %.6f\n", before, (long long)steps, after);
    check(fabs(after - before) < 1e-3 * fabs(before), "energy is kept");
    uf_free(kick);
    uf_free(drift);
    free(x);
    free(v);
    free(mass);
    free(want);
    free(speed);
}
