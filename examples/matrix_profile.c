/* matrix_profile.c - the matrix profile of a series: for each of its windows the distance of the most similar one elsewhere, both
 * normalised to mean 0 and deviation 1. It is low where a pattern comes back, and highest at what never came before. Windows
 * are a strided view of the series, whose means and deviations are reductions, and which an elementwise function normalises; a kernel
 * over the windows finds the nearest. The picture has the series, with the two most similar windows in green and the oddest one in red, and the
 * profile below. Runs on the CPU and, if there is one, on the GPU, and compares both with plain C, which computes products of windows
 * from one to the next.
 *    matrix_profile [FILE.png [WINDOW [SERIES.txt]]]     a file has numbers, of which distance and window are printed */
#include "example.h"
#include "picture.h"
#include <math.h>

/* A window that does not change, but for rounding, becomes zeros. */
static const char normalise_source[] =
    UF_SOURCE((x, mean, deviation) { return deviation > 1e-12 * abs(mean) ? (x - mean) / deviation : 0; });

/* The windows are columns of w. */
static const char match_source[] = UF_SOURCE([i : n](w, zone, profile, nearest) {
    float64 best = INFINITY;
    int64 at = -1;
    for (int64 j = 0; j < n; j++) {
        float64 d = 0;
        for (int64 k = 0; k < len(w); k++)
            d += (w[k][i] - w[k][j]) * (w[k][i] - w[k][j]);
        bool better = abs(i - j) > zone && d < best;
        best = better ? d : best;
        at = better ? j : at;
    }
    profile[i] = sqrt(best);
    nearest[i] = at;
});

enum {
    OWN = 2000, /* numbers of the program's own series */
    OWN_WINDOW = 64,
    ANOMALY = 17, /* its odd heartbeat */
    ROWS = 320
};

static int64_t length, window, n, zone; /* n windows; the neighbours up to zone are no matches */
static double *series;

static double bump(double t, double middle, double width) {
    return exp(-0.5 * (t - middle) * (t - middle) / (width * width));
}

/* Like heartbeats, of different lengths, one of which has another form. */
static void make_series(void) {
    uint32_t state = 3;
    double beat = 0, pace = 0.016;
    series = allocate(length = OWN, sizeof *series);
    for (int64_t i = 0; i < OWN; i++) {
        state = state * 1664525 + 1013904223;
        double chance = (double)(state >> 8) * 0x1p-24, t = beat - floor(beat);
        bool odd = (int)beat == ANOMALY;
        series[i] = 0.06 * chance + 0.15 * bump(t, 0.2, 0.04) + 0.3 * bump(t, 0.65, 0.06);
        series[i] += odd ? 0.8 * bump(t, 0.32, 0.07) : bump(t, 0.36, 0.02) - 0.25 * bump(t, 0.42, 0.02);
        pace = floor(beat + pace) > floor(beat) ? 0.014 + 0.004 * chance : pace;
        beat += pace;
    }
}

static void read_series(const char *path) {
    FILE *file = fopen(path, "r");
    if (!file) {
        perror(path);
        exit(1);
    }
    int64_t room = 0;
    double x;
    while (fscanf(file, "%lf", &x) == 1) {
        if (length == room) {
            series = realloc(series, (size_t)(room = 2 * room + 1000) * sizeof *series);
            check(series != NULL, "memory suffices");
        }
        series[length++] = x;
    }
    fclose(file);
}

/* The sum of squared distances of two normalised windows, from their product and moments. */
static double distance2(double product, const double *mean, const double *deviation, int64_t i, int64_t j) {
    double m = (double)window,
           flat = (double)((deviation[i] <= 1e-12 * fabs(mean[i])) + (deviation[j] <= 1e-12 * fabs(mean[j])));
    if (flat > 0)
        return flat == 2 ? 0 : m;
    return fmax(0, 2 * m * (1 - (product - m * mean[i] * mean[j]) / (m * deviation[i] * deviation[j])));
}

static void profile_plainly(double *profile) {
    double *mean = allocate(n, sizeof *mean), *deviation = allocate(n, sizeof *deviation);
    for (int64_t i = 0; i < n; i++) {
        const double *x = series + i;
        for (int64_t k = 0; k < window; k++)
            mean[i] += x[k] / (double)window;
        for (int64_t k = 0; k < window; k++)
            deviation[i] += (x[k] - mean[i]) * (x[k] - mean[i]) / (double)window;
        deviation[i] = sqrt(deviation[i]);
        profile[i] = INFINITY;
    }
    for (int64_t apart = zone + 1; apart < n; apart++) {
        double product = 0;
        for (int64_t k = 0; k < window; k++)
            product += series[k] * series[apart + k];
        for (int64_t i = 0, j = apart; j < n; i++, j++) {
            double d = distance2(product, mean, deviation, i, j);
            profile[i] = fmin(profile[i], d);
            profile[j] = fmin(profile[j], d);
            if (j + 1 < n)
                product += series[i + window] * series[j + window] - series[i] * series[j];
        }
    }
    for (int64_t i = 0; i < n; i++)
        profile[i] = sqrt(profile[i]);
    free(mean);
    free(deviation);
}

/* A column of the picture, from one height to the next, in the half that begins at row `top`. */
static void draw(uint8_t *pixels, int64_t x, double from, double to, int64_t top, const uint8_t *colour) {
    const double half = ROWS * 0.5;
    int64_t a = top + (int64_t)(half - 8 - fmin(fmax(from, to), 1) * (half - 16));
    int64_t b = top + (int64_t)(half - 8 - fmax(fmin(from, to), 0) * (half - 16));
    for (int64_t y = a; y <= b; y++)
        memcpy(pixels + 3 * (y * length + x), colour, 3);
}

static void paint(const char *file, const double *profile, const int64_t *found) {
    static const uint8_t white[3] = {225, 225, 225}, blue[3] = {90, 160, 240},
                         marks[3][3] = {{90, 210, 90}, {90, 210, 90}, {240, 80, 70}};
    uint8_t *pixels = allocate(ROWS * length, 3);
    double low = INFINITY, high = -INFINITY, most = sqrt(2 * (double)window);
    memset(pixels, 20, (size_t)(ROWS * length * 3));
    for (int64_t i = 0; i < length; i++) {
        low = fmin(low, series[i]);
        high = fmax(high, series[i]);
    }
    for (int64_t i = 1; i < length; i++) {
        const uint8_t *colour = white;
        for (int k = 0; k < 3; k++)
            colour = i >= found[k] && i < found[k] + window ? marks[k] : colour;
        draw(pixels, i, (series[i - 1] - low) / (high - low), (series[i] - low) / (high - low), 0, colour);
        if (i < n)
            draw(pixels, i, profile[i - 1] / most, profile[i] / most, ROWS / 2, blue);
    }
    write_png(file, pixels, ROWS, length, 3);
    free(pixels);
}

int main(int argc, char **argv) {
    window = number(argc, argv, 2, OWN_WINDOW);
    bool own = argc < 4;
    if (own)
        make_series();
    else
        read_series(argv[3]);
    n = length - window + 1;
    zone = (window + 3) / 4;
    check(window > 1 && n > zone + 1, "the series is longer than two windows");
    double *profile = allocate(n, sizeof *profile), *want = allocate(n, sizeof *want);
    int64_t *nearest = allocate(n, sizeof *nearest);
    double start = seconds();
    profile_plainly(want);
    if (own)
        printf("matrix_profile  plain C %8.2f ms\n", 1e3 * (seconds() - start));

    uf_func *mean, *std, *normalise, *match;
    UF_CHECK(uf_load(&mean, "mean"));
    UF_CHECK(uf_load(&std, "std"));
    UF_CHECK(uf_vectorize(&normalise, "normalise", "float64,float64,float64->float64", normalise_source));
    UF_CHECK(uf_kernel(&match, "match", "float64[,], int64, float64[], int64[]", match_source));
    DLDevice device;
    for (int k = 0; (own || k == 0) && find_device(k, &device); k++) {
        memset(profile, 0, (size_t)n * sizeof *profile);
        memset(nearest, 0, (size_t)n * sizeof *nearest);
        DLManagedTensor *x = copy_to(device, UF_ARRAY(series, length)), *means, *deviations, *normal;
        DLManagedTensor *distances = copy_to(device, UF_ARRAY(profile, n)), *at = copy_to(device, UF_ARRAY(nearest, n));
        DLTensor windows = x->dl_tensor; /* [k][i] is element i + k */
        windows.ndim = 2;
        windows.shape = (int64_t[]){window, n};
        windows.strides = (int64_t[]){1, 1};
        UF_CHECK(UF_REDUCE_NEW(&means, mean, windows, .axis = 0));
        UF_CHECK(UF_REDUCE_NEW(&deviations, std, windows, .axis = 0));
        UF_CHECK(UF_NEW(&normal, normalise, windows, means->dl_tensor, deviations->dl_tensor));
        double took = 0;
        for (int warm = 0; warm < 2; warm++) { /* the first round compiles */
            start = seconds();
            UF_CHECK(UF_REDUCE(mean, windows, means->dl_tensor, .axis = 0));
            UF_CHECK(UF_REDUCE(std, windows, deviations->dl_tensor, .axis = 0));
            UF_CHECK(UF_CALL(normalise, windows, means->dl_tensor, deviations->dl_tensor, normal->dl_tensor));
            UF_CHECK(UF_FORALL(match, (n), normal->dl_tensor, UF_SCALAR(zone), distances->dl_tensor, at->dl_tensor));
            UF_CHECK(uf_sync(device, NULL));
            took = seconds() - start;
        }
        take_back(UF_ARRAY(profile, n), distances);
        take_back(UF_ARRAY(nearest, n), at);
        x->deleter(x), means->deleter(means), deviations->deleter(deviations), normal->deleter(normal);
        for (int64_t i = 0; i < n; i++) {
            check(fabs(profile[i] - want[i]) <= 1e-5, "a distance");
            check(nearest[i] >= 0 && nearest[i] < n && llabs(nearest[i] - i) > zone, "the place of the nearest window");
        }
        if (own)
            printf("matrix_profile  %-7s %8.2f ms, %.3f Gdistance/s\n", name_of(device), 1e3 * took,
                   1e-9 * (double)(n * n) / took);
    }
    int64_t found[3] = {0, 0, 0};
    for (int64_t i = 0; i < n; i++) {
        found[0] = profile[i] < profile[found[0]] ? i : found[0];
        found[2] = profile[i] > profile[found[2]] ? i : found[2];
    }
    found[1] = nearest[found[0]];
    if (own)
        printf("matrix_profile  the most similar windows begin at %lld and %lld, the oddest one at %lld\n",
               (long long)found[0], (long long)found[1], (long long)found[2]);
    else
        for (int64_t i = 0; i < n; i++)
            printf("%.6f %lld\n", profile[i], (long long)nearest[i]);
    if (own)
        paint(argc > 1 ? argv[1] : "matrix_profile.png", profile, found);
    uf_free(mean), uf_free(std), uf_free(normalise), uf_free(match);
    free(series), free(profile), free(want), free(nearest);
}
