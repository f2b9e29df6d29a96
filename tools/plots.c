/* plots.c - a picture of each function of the catalogue of one real number, computed by the library and written with libpng.
 *
 *    plots FOLDER NAME..      writes FOLDER/NAME.png for each NAME that is such a function
 *
 * A curve is drawn on a finer grid, with a pen some points wide, and each pixel is as dark as the part of it that is covered. */
#include <math.h>
#include <png.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ufunc.h>

enum {
    WIDTH = 240,
    HEIGHT = 150,
    LEFT = 34, /* of the frame, in pixels; what stands outside has the numbers */
    RIGHT = WIDTH - 5,
    TOP = 4,
    BOTTOM = HEIGHT - 12,
    FINE = 4, /* points of the grid along a pixel */
    PEN = 6,  /* points */
    PER_PIXEL = 128,
    SAMPLES = (RIGHT - LEFT) * PER_PIXEL,
    SHADES = FINE * FINE,
    PAPER = SHADES + 1, /* colours: that many shades of the curve, and then these */
    AXIS,
    INK,
    COLOURS
};

/* What is shown where it is not -5 to 5 and all values of the function there. */
typedef struct {
    const char *name;
    double left, right, bottom, top; /* bottom == top: all values */
} window;

static const window windows[] = {
    {"arccos", -1, 1, 0, 0},      {"arccosh", 0, 10, 0, 0},
    {"arcsin", -1, 1, 0, 0},      {"arctanh", -1, 1, -3, 3},
    {"cosh", -4, 4, 0, 0},        {"deg2rad", -360, 360, 0, 0},
    {"digamma", -4, 6, -5, 5},    {"entr", 0, 1.5, -0.7, 0.5},
    {"erf", -3, 3, 0, 0},         {"erfc", -3, 3, 0, 0},
    {"erfinv", -1, 1, -2.5, 2.5}, {"exp", -3, 3, 0, 0},
    {"exp10", -2, 1, 0, 0},       {"exp2", -4, 4, 0, 0},
    {"expm1", -3, 3, 0, 0},       {"gamma", -4, 5, -6, 12},
    {"gammaln", -4, 8, -2, 6},    {"i0", -4, 4, 0, 0},
    {"i1", -4, 4, 0, 0},          {"j0", 0, 25, 0, 0},
    {"j1", 0, 25, 0, 0},          {"linear_to_srgb", 0, 1, 0, 0},
    {"log", 0, 10, -3, 3},        {"log10", 0, 10, -2, 1.2},
    {"log1p", -1, 9, -3, 3},      {"log2", 0, 10, -4, 4},
    {"logit", 0, 1, -5, 5},       {"ndtr", -4, 4, 0, 0},
    {"ndtri", 0, 1, -3, 3},       {"rad2deg", -7, 7, 0, 0},
    {"reciprocal", -5, 5, -5, 5}, {"sinh", -4, 4, 0, 0},
    {"sinc", -6, 6, 0, 0},        {"spacing", 0, 16, 0, 0},
    {"sqrt", 0, 10, 0, 0},        {"srgb_to_linear", 0, 1, 0, 0},
    {"tan", -5, 5, -6, 6},        {"y0", 0, 25, -1.5, 0.8},
    {"y1", 0, 25, -1.5, 0.8},
};

/* Digits and what else is in numbers, 4 x 6 pixels: a row is a hexadecimal digit. */
static const struct {
    char sign;
    const char *rows;
} glyphs[] = {{'0', "699996"}, {'1', "262227"}, {'2', "69124f"}, {'3', "e1611e"}, {'4', "26af22"},
              {'5', "f8e11e"}, {'6', "68e996"}, {'7', "f12244"}, {'8', "696996"}, {'9', "699716"},
              {'-', "00e000"}, {'.', "000004"}, {'e', "006f86"}};

static void ok(uf_status status) {
    if (status) {
        fprintf(stderr, "plots: %s\n", uf_last_error()->message);
        exit(1);
    }
}

/* ---- What is shown ---- */

/* The next number outwards of which four or so make up the range. */
static double outwards(double bound, double range, bool up) {
    double step = pow(10, floor(log10(range / 3)));
    step *= range / 3 >= 5 * step ? 5 : range / 3 >= 2 * step ? 2 : 1;
    return (up ? ceil(bound / step - 1e-6) : floor(bound / step + 1e-6)) * step;
}

static window window_of(const char *name) {
    for (size_t i = 0; i < sizeof windows / sizeof *windows; i++)
        if (!strcmp(windows[i].name, name))
            return windows[i];
    return (window){name, -5, 5, 0, 0};
}

static void show_all_values(window *w, const double *y) {
    double least = INFINITY, most = -INFINITY;
    for (int i = 0; i < SAMPLES; i++) {
        least = isfinite(y[i]) ? fmin(least, y[i]) : least;
        most = isfinite(y[i]) ? fmax(most, y[i]) : most;
    }
    w->bottom = outwards(least - 0.03 * (most - least), most - least, false);
    w->top = outwards(most + 0.03 * (most - least), most - least, true);
}

/* ---- The picture ---- */

static uint8_t picture[HEIGHT][WIDTH];
static bool fine[HEIGHT * FINE][WIDTH * FINE];

static void put_number(double value, int right, int top) {
    char text[32];
    int length = snprintf(text, sizeof text, "%.4g", value + 0);
    for (int k = 0; k < length; k++)
        for (size_t g = 0; g < sizeof glyphs / sizeof *glyphs; g++)
            for (int at = 0; at < 24 && glyphs[g].sign == text[k]; at++) {
                char digit[2] = {glyphs[g].rows[at / 4], 0};
                if (strtol(digit, NULL, 16) >> (3 - at % 4) & 1)
                    picture[top + at / 4][right - 5 * (length - k) + at % 4] = INK;
            }
}

static void put_frame(const window *w) {
    memset(picture, PAPER, sizeof picture);
    int zero_row = (int)lround(TOP + (BOTTOM - TOP) * w->top / (w->top - w->bottom));
    int zero_column = (int)lround(LEFT - (RIGHT - LEFT) * w->left / (w->right - w->left));
    for (int c = LEFT; c <= RIGHT; c++) {
        picture[TOP][c] = picture[BOTTOM][c] = AXIS;
        if (w->bottom < 0 && w->top > 0)
            picture[zero_row][c] = AXIS;
    }
    for (int r = TOP; r <= BOTTOM; r++) {
        picture[r][LEFT] = picture[r][RIGHT] = AXIS;
        if (w->left < 0 && w->right > 0)
            picture[r][zero_column] = AXIS;
    }
    put_number(w->left, LEFT + 12, BOTTOM + 4);
    put_number(w->right, RIGHT + 1, BOTTOM + 4);
    put_number(w->bottom, LEFT - 2, BOTTOM - 5);
    put_number(w->top, LEFT - 2, TOP);
}

static void put_point(double column, double row) {
    for (int dr = -PEN / 2; dr < PEN / 2; dr++)
        for (int dc = -PEN / 2; dc < PEN / 2; dc++) {
            int r = (int)row + dr, c = (int)column + dc;
            bool inside = r > TOP * FINE && r < BOTTOM * FINE && c > LEFT * FINE && c < RIGHT * FINE;
            if (inside && 4 * (dr * dr + dc * dc) <= PEN * PEN)
                fine[r][c] = true;
        }
}

/* From sample to sample, but not where the function jumps. */
static void put_curve(const window *w, const double *y) {
    memset(fine, 0, sizeof fine);
    double before = NAN, limit = (BOTTOM - TOP) * FINE;
    for (int i = 0; i < SAMPLES; i++) {
        double column = LEFT * FINE + (double)i * FINE / PER_PIXEL;
        double row = TOP * FINE + limit * (w->top - y[i]) / (w->top - w->bottom);
        bool drawn = row >= -limit && row <= 2 * limit, joined = drawn && fabs(row - before) < 6 * FINE;
        for (double at = fmin(before, row); joined && at <= fmax(before, row); at++)
            put_point(column, at);
        before = drawn ? row : NAN;
    }
    for (int r = 0; r < HEIGHT; r++)
        for (int c = 0; c < WIDTH; c++) {
            int covered = 0;
            for (int k = 0; k < FINE * FINE; k++)
                covered += fine[r * FINE + k / FINE][c * FINE + k % FINE];
            if (covered)
                picture[r][c] = (uint8_t)covered;
        }
}

static void write_picture(const char *folder, const char *name) {
    char path[1024];
    uint8_t colours[COLOURS][3];
    for (int k = 0; k <= SHADES; k++)
        for (int part = 0; part < 3; part++)
            colours[k][part] = (uint8_t)(255 - (255 - (const int[]){31, 90, 180}[part]) * k / SHADES);
    memset(colours[PAPER], 255, 3);
    memset(colours[AXIS], 190, 3);
    memset(colours[INK], 60, 3);
    png_image image = {.version = PNG_IMAGE_VERSION,
                       .width = WIDTH,
                       .height = HEIGHT,
                       .format = PNG_FORMAT_RGB_COLORMAP,
                       .colormap_entries = COLOURS};
    snprintf(path, sizeof path, "%s/%s.png", folder, name);
    if (!png_image_write_to_file(&image, path, 0, picture, 0, colours)) {
        fprintf(stderr, "plots: %s: %s\n", path, image.message);
        exit(1);
    }
}

/* ---- Functions ---- */

static bool is_real_function(const uf_func *f) {
    uf_description d = {.size = sizeof d};
    ok(uf_describe(f, &d));
    return !strcmp(d.kind, "elementwise") && d.nin == 1 && d.nout == 1 && strstr(d.signatures, "float64->float64");
}

static void plot(const char *folder, const char *name) {
    static double x[SAMPLES], y[SAMPLES];
    uf_func *f;
    ok(uf_load(&f, name));
    if (is_real_function(f)) {
        window w = window_of(name);
        for (int i = 0; i < SAMPLES; i++)
            x[i] = w.left + (w.right - w.left) * (i + 0.5) / SAMPLES;
        ok(UF_CALL(f, UF_ARRAY(x, SAMPLES), UF_ARRAY(y, SAMPLES)));
        if (w.bottom == w.top)
            show_all_values(&w, y);
        put_frame(&w);
        put_curve(&w, y);
        write_picture(folder, name);
    }
    uf_free(f);
}

int main(int argc, char **argv) {
    if (argc < 3) {
        fputs("usage: plots FOLDER NAME..\n", stderr);
        return 2;
    }
    for (int i = 2; i < argc; i++)
        plot(argv[1], argv[i]);
}
