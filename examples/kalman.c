/* kalman.c - a Kalman filter over many tracks at once: a generalized ufunc, whose inner call is one step of one track.
 * The states (position and velocity in the plane) and covariances of all tracks are arrays with one row for each track;
 * the model (F, H, Q, R) is the same for all and broadcasts. Runs on the CPU and, if there is one, on the GPU, and
 * compares both with a plain C loop.
 *    kalman [TRACKS [STEPS]] */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <ufunc.h>

enum {
    N = 4, /* a state: x, y and their velocities */
    M = 2, /* a measurement: x, y */
    ARGS = 9
};

static const double interval = 0.1, noise = 0.5;

/* Predict, then update with the measurement z. */
static const char step[] = UF_SOURCE((x, P, z, F, H, Q, R)->(next, C) {
    typeof(x[0]) p[4], T[4][4], S[4][4], B[4][2], K[4][2];
    for (int i = 0; i < 4; i++) { /* p = F x, T = F P */
        for (int k = 0; k < 4; k++)
            p[i] += F[i][k] * x[k];
        for (int j = 0; j < 4; j++)
            for (int k = 0; k < 4; k++)
                T[i][j] += F[i][k] * P[k][j];
    }
    for (int i = 0; i < 4; i++) /* S = T F' + Q */
        for (int j = 0; j < 4; j++) {
            S[i][j] = Q[i][j];
            for (int k = 0; k < 4; k++)
                S[i][j] += T[i][k] * F[j][k];
        }
    for (int i = 0; i < 4; i++) /* B = S H' */
        for (int j = 0; j < 2; j++)
            for (int k = 0; k < 4; k++)
                B[i][j] += S[i][k] * H[j][k];
    auto a = R[0][0], b = R[0][1], c = R[1][0], d = R[1][1]; /* H B + R, the covariance of the innovation */
    auto u = z[0], v = z[1];                                 /* z - H p, the innovation */
    for (int k = 0; k < 4; k++) {
        a += H[0][k] * B[k][0];
        b += H[0][k] * B[k][1];
        c += H[1][k] * B[k][0];
        d += H[1][k] * B[k][1];
        u -= H[0][k] * p[k];
        v -= H[1][k] * p[k];
    }
    auto scale = 1 / (a * d - b * c);
    for (int i = 0; i < 4; i++) {
        K[i][0] = (B[i][0] * d - B[i][1] * c) * scale;
        K[i][1] = (B[i][1] * a - B[i][0] * b) * scale;
        next[i] = p[i] + (K[i][0] * u + K[i][1] * v);
        for (int j = 0; j < 4; j++)
            C[i][j] = S[i][j] - (K[i][0] * B[j][0] + K[i][1] * B[j][1]);
    }
});

/* The same step in C, as one would write it without a library. */
static void plain_step(const double *x, const double (*P)[N], const double *z, const double (*F)[N],
                       const double (*H)[N], const double (*Q)[N], const double (*R)[M], double *next, double (*C)[N]) {
    double p[N] = {0}, T[N][N] = {{0}}, S[N][N], B[N][M] = {{0}}, V[M][M], e[M];
    for (int i = 0; i < N; i++)
        for (int k = 0; k < N; k++) {
            p[i] += F[i][k] * x[k];
            for (int j = 0; j < N; j++)
                T[i][j] += F[i][k] * P[k][j];
        }
    for (int i = 0; i < N; i++)
        for (int j = 0; j < N; j++) {
            S[i][j] = Q[i][j];
            for (int k = 0; k < N; k++)
                S[i][j] += T[i][k] * F[j][k];
            for (int k = 0; k < M; k++)
                B[i][k] += S[i][j] * H[k][j];
        }
    for (int i = 0; i < M; i++) {
        e[i] = z[i];
        memcpy(V[i], R[i], sizeof V[i]);
        for (int k = 0; k < N; k++) {
            e[i] -= H[i][k] * p[k];
            for (int j = 0; j < M; j++)
                V[i][j] += H[i][k] * B[k][j];
        }
    }
    double scale = 1 / (V[0][0] * V[1][1] - V[0][1] * V[1][0]);
    for (int i = 0; i < N; i++) {
        double k0 = (B[i][0] * V[1][1] - B[i][1] * V[1][0]) * scale;
        double k1 = (B[i][1] * V[0][0] - B[i][0] * V[0][1]) * scale;
        next[i] = p[i] + (k0 * e[0] + k1 * e[1]);
        for (int j = 0; j < N; j++)
            C[i][j] = S[i][j] - (k0 * B[j][0] + k1 * B[j][1]);
    }
}

static double seconds(void) {
    struct timespec t;
    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static double *doubles(int64_t n) {
    double *p = calloc((size_t)n, sizeof *p);
    if (!p) {
        fprintf(stderr, "kalman: out of memory\n");
        exit(1);
    }
    return p;
}

/* ---- Tracks ---- */

static int64_t tracks = 1 << 16, steps = 20;
static double *truth;    /* [tracks][N], where each track really is in the end */
static double *measured; /* [steps][tracks][M] */
/* [tracks][N] and [tracks][N][N]: one for before and one for after a step, in turn */
static double *state[2], *spread[2];
static double *plain_state; /* the states that plain C computed */

static double F[N][N] = {{1, 0, 0.1, 0}, {0, 1, 0, 0.1}, {0, 0, 1, 0}, {0, 0, 0, 1}};
static double H[M][N] = {{1, 0, 0, 0}, {0, 1, 0, 0}};
static double Q[N][N] = {{1e-6, 0, 0, 0}, {0, 1e-6, 0, 0}, {0, 0, 1e-4, 0}, {0, 0, 0, 1e-4}};
static double R[M][M] = {{0.25, 0}, {0, 0.25}};

/* A random number that is nearly normally distributed: mean 0, standard deviation 1. */
static double normal(void) {
    static uint64_t s = 88172645463325252u;
    double sum = 0;
    for (int k = 0; k < 12; k++) {
        s ^= s << 13, s ^= s >> 7, s ^= s << 17;
        sum += (double)(s >> 11) / 9007199254740992.0;
    }
    return sum - 6;
}

static void simulate(void) {
    truth = doubles(tracks * N);
    measured = doubles(steps * tracks * M);
    plain_state = doubles(tracks * N);
    for (int k = 0; k < 2; k++) {
        state[k] = doubles(tracks * N);
        spread[k] = doubles(tracks * N * N);
    }
    for (int64_t i = 0; i < tracks * N; i++)
        truth[i] = (i % N < M ? 100 : 5) * normal();
    for (int64_t k = 0; k < steps; k++)
        for (int64_t i = 0; i < tracks; i++)
            for (int j = 0; j < M; j++) {
                double *t = truth + i * N;
                t[j] += interval * t[j + M];
                measured[(k * tracks + i) * M + j] = t[j] + noise * normal();
            }
}

/* Tracks begin at their first measurement, with unknown velocities. */
static void start(void) {
    for (int64_t i = 0; i < tracks; i++)
        for (int j = 0; j < N; j++) {
            state[0][i * N + j] = j < M ? measured[i * M + j] : 0;
            for (int k = 0; k < N; k++)
                spread[0][(i * N + j) * N + k] = j != k ? 0 : j < M ? noise * noise : 100;
        }
}

/* The root mean square distance of the filtered positions from the real ones. */
static double position_error(const double *filtered) {
    double sum = 0;
    for (int64_t i = 0; i < tracks; i++)
        sum += pow(filtered[i * N] - truth[i * N], 2) + pow(filtered[i * N + 1] - truth[i * N + 1], 2);
    return sqrt(sum / (double)tracks);
}

/* ---- Filters ---- */

static void report(const char *how, double took, const double *filtered) {
    double most = 0;
    for (int64_t i = 0; i < tracks * N; i++)
        most = fmax(most, fabs(filtered[i] - plain_state[i]));
    printf("kalman  %-8s %8.2f million steps/s  error %.3f m  from plain C at most %.2g\n", how,
           1e-6 * (double)(tracks * steps) / took, position_error(filtered), most);
    /* Unfiltered measurements are off by 0.7 m. From plain C the results may differ by rounding only. */
    if ((steps >= 20 && position_error(filtered) > 0.5) || !(most < 1e-9)) {
        fprintf(stderr, "kalman: %s is wrong\n", how);
        exit(1);
    }
}

static void filter_in_plain_c(void) {
    start();
    double begin = seconds();
    for (int64_t k = 0; k < steps; k++) {
        const double *z = measured + k * tracks * M;
        const double *x = state[k % 2], *P = spread[k % 2];
        double *next = state[(k + 1) % 2], *C = spread[(k + 1) % 2];
        for (int64_t i = 0; i < tracks; i++)
            plain_step(x + i * N, (const double(*)[N])(P + i * N * N), z + i * M, (const double(*)[N])F,
                       (const double(*)[N])H, (const double(*)[N])Q, (const double(*)[M])R, next + i * N,
                       (double(*)[N])(C + i * N * N));
    }
    double took = seconds() - begin;
    memcpy(plain_state, state[steps % 2], (size_t)(tracks * N) * sizeof *plain_state);
    report("plain C", took, plain_state);
}

/* Computes all steps on one device. x and P are the states and covariances before and after a step, z the
 * measurements. */
static double filter(const uf_func *f, const DLTensor *x, const DLTensor *P, const DLTensor *z, const DLTensor *model) {
    double begin = seconds();
    for (int64_t k = 0; k < steps; k++) {
        DLTensor args[ARGS] = {x[k % 2],       P[k % 2],      *z, model[0], model[1], model[2], model[3],
                               x[(k + 1) % 2], P[(k + 1) % 2]};
        int64_t now[] = {tracks, M};
        args[2].ndim = 2;
        args[2].shape = now;
        args[2].byte_offset += (uint64_t)(k * tracks * M) * sizeof(double);
        UF_CHECK(uf_call(f, ARGS, args, NULL));
    }
    UF_CHECK(uf_sync(x[0].device, NULL));
    return seconds() - begin;
}

static void filter_everywhere(const uf_func *f) {
    DLTensor host[ARGS] = {
        UF_ARRAY(state[0], tracks, N),
        UF_ARRAY(state[1], tracks, N),
        UF_ARRAY(spread[0], tracks, N, N),
        UF_ARRAY(spread[1], tracks, N, N),
        UF_ARRAY(measured, steps, tracks, M),
        UF_ARRAY(F),
        UF_ARRAY(H),
        UF_ARRAY(Q),
        UF_ARRAY(R),
    };
    DLManagedTensor *array[ARGS];
    DLTensor device[ARGS];
    for (int k = 0; k < 2; k++) { /* the first round compiles */
        start();
        double took = filter(f, host, host + 2, host + 4, host + 5);
        if (k)
            report("cpu", took, state[steps % 2]);
    }
    start();
    for (int k = 0; k < ARGS; k++) {
        if (uf_empty(&array[k], (DLDevice){kDLCUDA, 0}, host[k].dtype, host[k].ndim, host[k].shape)) {
            const char *why = uf_last_error()->message;
            printf("kalman  cuda:0   left out: %.*s\n", (int)strcspn(why, "\n"), why);
            while (k-- > 0)
                array[k]->deleter(array[k]);
            return;
        }
        device[k] = array[k]->dl_tensor;
        UF_CHECK(uf_copy(&device[k], &host[k], NULL));
    }
    for (int k = 0; k < 2; k++) {
        UF_CHECK(uf_copy(&device[0], &host[0], NULL));
        UF_CHECK(uf_copy(&device[2], &host[2], NULL));
        double took = filter(f, device, device + 2, device + 4, device + 5);
        if (k) {
            UF_CHECK(uf_copy(&host[1], &device[steps % 2], NULL));
            report("cuda:0", took, state[1]);
        }
    }
    for (int k = 0; k < ARGS; k++)
        array[k]->deleter(array[k]);
}

int main(int argc, char **argv) {
    if (argc > 1)
        tracks = atoll(argv[1]);
    if (argc > 2)
        steps = atoll(argv[2]);
    if (tracks < 1 || steps < 1 || argc > 3) {
        fprintf(stderr, "usage: kalman [TRACKS [STEPS]]\n");
        return 1;
    }
    simulate();
    filter_in_plain_c();
    uf_func *f;
    UF_CHECK(uf_guvectorize(&f, "kalman_step", "(4),(4,4),(2),(4,4),(2,4),(4,4),(2,2)->(4),(4,4)",
                            "float64,float64,float64,float64,float64,float64,float64->float64,float64", step));
    filter_everywhere(f);
    uf_free(f);
    free(truth);
    free(measured);
    free(plain_state);
    for (int k = 0; k < 2; k++) {
        free(state[k]);
        free(spread[k]);
    }
}
