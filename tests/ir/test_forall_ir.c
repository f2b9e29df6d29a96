/* test_forall_ir.c - code of kernels over indices: kernels of every kind for random variants are accepted by every LLVM and by
 * libNVVM; run on a simulated GPU, as the CUDA engine specialises them and lays them out, over random spaces and arrays, they do
 * what the interpreter does point by point, and nothing else. PROP_N=n takes n times as many; UF_SEED repeats a run, UF_BLESS=1
 * rewrites the goldens in tests/ir. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "draw.h"
#include "gpu/class.h"
#include "gpu_sim.h"
#include "ir/forall/forall.h"
#include "ir_check.h"
#include "lang_try.h"
#include "ref/ref.h"

#include <cmocka.h> /* after base.h: it has a macro named fail */

enum {
    RANK = LAYOUT_MAX_RANK,
    PARAMETERS = 6,
    POINTS = 3000
};

static const code_target gpu = {.gpu = true, .arch = 90}, cpu = {.vector_bits = 256, .f16c = true};

/* shapes: per parameter, between ';', the extents of an array: i j k l are those of the space, a digit is a number; a number has
 * none. */
typedef struct sample {
    const char *name, *parameters, *shapes, *source;
    bool in_place; /* a point reads its own elements alone: parameters 0 and 1 may be one array */
} sample;

static const sample samples[] = {
    {"copy", "float32[], float32[]", "i;i", "[i](x, y) { y[i] = x[i]; }", true},
    {"bytes", "uint8[], uint8[]", "i;i", "[i](x, y) { y[i] = x[i] * 3 + i; }", true},
    {"mixed", "uint8[], float64[], float16[]", "i;i;i", "[i](x, y, z) { y[i] += x[i] * 0.5; z[i] = y[i] - x[i]; }",
     false},
    {"axpy", "float32[,], float32[,], float32", "ij;ij;", "[i, j](x, y, a) { y[i][j] = a * x[i][j] + y[i][j]; }", true},
    {"heat", "float32[,], float32[,], float32", "ij;ij;",
     "[i : n, j : m](u, v, k) { if (i > 0 && i < n - 1 && j > 0 && j < m - 1) v[i][j] = u[i][j] + k * (u[i-1][j] + "
     "u[i+1][j] + u[i][j-1] + u[i][j+1] - 4 * u[i][j]); }",
     false},
    {"heat without guards", "float64[,], float64[,]", "ij;ij",
     "[i, j](u, v) { v[i][j] = u[i-1][j] + u[i+1][j] + u[i][j-1] + u[i][j+1] - 4 * u[i][j]; }", false},
    {"left early", "int16[,], int16[,]", "ij;ij",
     "[i, j : m](u, v) { if (j >= m - 3) return; v[i][j] = u[i][j + 3] - u[i + 1][j]; if (u[i][j] < 2) return; v[i][j] "
     "+= 7; }",
     false},
    {"one of two", "int32[,], int32[,], int32[,]", "ij;ij;ij",
     "[i, j](x, y, z) { if (x[i][j] & 1) y[i][j] = x[i][j]; else z[i][j] = -x[i][j]; }", true},
    {"row and column", "float32[,], float32[], float32[]", "ij;i;j", "[i, j](a, x, y) { a[i][j] += x[i] * y[j]; }",
     false},
    {"transposed", "float32[,], float32[,]", "ij;ji", "[i, j](x, y) { y[j][i] = x[i][j]; }", false},
    {"mirrored", "int8[,], int8[,]", "ij;ij", "[i : n, j : m](x, y) { y[i][m - 1 - j] = x[n - 1 - i][j] + 1; }", false},
    {"planes", "float32[,,], float32[,,]", "ijk;ijk",
     "[i, j, k](x, y) { y[i][j][k] = x[i][j][k] + x[i][j + 1][k] + x[i + 1][j][k] + x[i][j][k - 2]; }", false},
    {"flattened", "int64[], int64[,]", "9;ij", "[i : n, j : m](x, y) { y[i][j] = x[(i * m + j) % 9] + i - j; }", false},
    {"gathered", "int32[], int32[], int32[]", "i;i;i", "[i](x, at, y) { y[i] = x[at[i]] + x[at[i] * 2]; }", false},
    {"looked at along a row", "float32[,], float32[]", "ij;i",
     "[i](x, y) { float t = 0; for (int64 j = 0; j < extent(x, 1); j++) t += x[i][j]; y[i] = t; }", false},
    {"looked at from each point", "float32[], float32[]", "9;i",
     "[i](x, y) { float t = 0, u = x[i]; for (int64 k = 0; k < len(x); k++) { if (k == i) continue; t += u - x[k]; } "
     "y[i] = t; }",
     false},
    {"a product of matrices", "float64[,], float64[,], float64[,]", "i5;5j;ij",
     "[i, j](a, b, c) { auto s = 0.0; for (int k = 0; k < 5; k++) { bool odd = k & 1; if (odd) continue; s += a[i][k] "
     "* "
     "b[k][j]; } c[i][j] = s; }",
     false},
    {"sums of integers", "int32[,], int64[,]", "ij;ij", "[i, j](x, y) { y[i][j] = sum(k : 4, x[i][j + k]); }", false},
    {"rows of a sparse matrix", "int8[], int32[], float32[], float32[], float32[]", "i;i;i;9;i",
     "[i](count, column, value, x, y) { int64 start = 2 * i; y[i] = sum(k : count[i], value[start + k] * "
     "x[column[start + "
     "k] & 7]) + 1; }",
     false},
    {"rows with branches", "int16[], int32[], int64[], int32[]", "i;i;i;i",
     "[i](count, x, y, z) { if (count[i] < 0) return; for (int j = 0; j < 2; j++) y[i] = max(k : count[i] + 1, x[i + k "
     "* "
     "(j + 1)]); z[i] = any(k : count[i] * 2, x[k] > 3) + prod(k : count[i] / 2, sum(l : 2, x[k + l])); }",
     false},
    {"local array", "float32[], float32[]", "i;i",
     "[i](x, y) { float t[3]; forall (k : 3) t[k] = x[i + k]; y[i] = t[i % 3] - t[0]; }", false},
    {"numbers", "float32[], int8, complex64, uint64, float32[]", "i;;;;i",
     "[i](x, a, z, b, y) { y[i] = x[i] * a + real(z) - imag(z) + b % 5; }", true},
    {"complex", "complex64[,], complex128[,]", "ij;ij",
     "[i, j](x, y) { y[i][j] = y[i][j] * x[i][j] + conj(x[i][j + 1]); }", false},
    {"bools", "bool[], bool[], bfloat16[]", "i;i;i", "[i](x, y, z) { y[i] = x[i] && !y[i]; z[i] = z[i] + x[i]; }",
     false},
    {"four indices", "float32[,,,], float32[,]", "ijkl;jl",
     "[i, j, k, l](x, y) { x[i][j][k][l] = 2 * x[i][j][k][l] + y[j][l]; }", false},
    {"fixed rows", "float32[,], float32[], int32", "4i;i;",
     "[i](x, y, k) { y[i] = x[2][i] + x[k][i] + x[k - 1][i + 1]; k = 3; }", false},
    {"stepped", "uint16[], uint16[]", "i;i", "[i](x, y) { y[2 * i] = x[i]; y[2 * i + 1] = x[i] + x[i + 1]; }", false},
    {"a window", "float32[,], float32[,]", "ij;ij",
     "[i, j](x, y) { y[i][j] = x[i-4][j-4] + x[i][j+4] + x[i+4][j] + x[i][j+5] + x[i+1][j+1]; }", false},
    {"a window by loops", "float32[,], float32[,]", "ij;ij",
     "[i : n, j : m](x, y) { if (i > 1 && i < n - 2 && 2 <= j && j + 2 < m) { float s = 0; for (int a = 0; a < 5; a++) "
     "for (int b = 0; b < 5; b++) s += x[i + a - 2][j + b - 2]; y[i][j] = s; } }",
     false},
    {"a window that is clamped", "int32[,], int32[,]", "ij;ij",
     "[i : n, j : m](x, y) { int s = 0; for (int64 a = -1; a <= 1; a++) for (int b = -1; b <= 1; b++) "
     "s += x[clamp(i + a, 0, n - 1)][min(max(j + b, 0), m - 1)] * (a + 2 * b); y[i][j] = s; }",
     false},
    {"a window that wraps", "uint8[,], int16[,]", "ij;ij",
     "[i : n, j : m](x, y) { int64 up = (i + n - 1) % n, left = j > 0 ? j - 1 : m - 1; "
     "y[i][j] = x[up][j] + 2 * x[(i + 1) % n][j] + 3 * x[i][left] + 5 * x[i][(j + 1) % m]; }",
     false},
    {"a window that wraps on both sides", "uint8[,], int16[,]", "ij;ij",
     "[i : n, j : m](x, y) { y[i][j] = x[floor_mod(i - 1, n)][j] + 2 * x[i][floor_mod(j - 2, m)] - x[floor_mod(i + 3, "
     "n)][j]; }",
     false},
    {"a window that ends", "uint8[,], uint8[,]", "ij;ij",
     "[i, j](x, y) { y[i][j] = sum(a : 3, b : 3, x[i + a - 1][j + b - 1] * (1 + a)) + max(k : 2, x[i][j + k]); }",
     false},
    {"a window of any size", "float32[,], float32[,], float32[,]", "ij;ij;25",
     "[i, j](y, x, w) { y[i][j] = sum(a : extent(w, 0), b : extent(w, 1), x[i + a - 1][j + b - 1] * w[a][b]); }",
     false},
    {"a window of any size by loops", "int32[,], int32[,], int16[,]", "ij;ij;33",
     "[i : n, j : m](y, x, w) { int s = 0; for (int64 a = 0; a < extent(w, 0); a++) for (int64 b = 0; b < extent(w, "
     "1); "
     "b++) { int64 r = i + a - 1; if (r >= 0 && r < n) s += x[r][clamp(j + b - 1, 0, m - 1)] * w[a][b]; } y[i][j] = s; "
     "}",
     false},
    {"a window of three extents", "float32[,,], float32[,,], float32[,,]", "ijk;ijk;233",
     "[i, j, k](y, x, w) { float s = 0; for (int64 a = 0; a < extent(w, 0); a++) for (int64 b = 0; b < extent(w, 1); "
     "b++) "
     "s += sum(c : extent(w, 2), x[i + a][j + b][k + c - 1] * w[a][b][c]); y[i][j][k] = s; }",
     false},
    {"a polynomial", "float64[], float64[], float64[]", "i;i;4",
     "[i](x, y, c) { auto n = len(c); auto s = 0.0; for (int64 k = n - 1; k >= 0; k--) s = s * 2 + c[k]; "
     "y[i] = s + x[i]; }",
     false},
    {"points of few coordinates", "float32[,], float32[,], float32[,]", "i3;j3;ij",
     "[i, j](x, y, d) { d[i][j] = sum(k : extent(x, 1), (x[i][k] - y[j][k]) * (x[i][k] - y[j][k])); }", false},
    {"what an extent decides", "int32[], int32[], int32[]", "i;8;4",
     "[i](x, h, w) { for (int64 k = 0; k < len(w); k++) { if (k == 3) h[7] = 1; atomic_add(h[k], x[i] & 3); } }",
     false},
    {"rows by nine", "float32[,], float32[], float32[,]", "ij;9;ij",
     "[i, j](x, w, y) { y[i][j] = sum(k : 9, w[k] * x[i][j + k]); }", false},
    {"edges that differ", "float64[], float64[]", "i;i",
     "[i : n](x, y) { if (i == 0) y[i] = x[i]; else if (i >= n - 3) y[i] = -x[i - 1]; else y[i] = x[i - 1] + x[i + 3]; "
     "if (n - i != 7) y[i] += 1; }",
     false},
    {"sorted by threes", "int16[], int16[]", "i;i",
     "[i](x, y) { int16 t[3]; for (int k = 0; k < 3; k++) t[k] = x[i + k]; for (int a = 0; a < 2; a++) for (int b = 0; "
     "b < 2 - a; b++) if (t[b] > t[b + 1]) { auto z = t[b]; t[b] = t[b + 1]; t[b + 1] = z; } y[i] = t[1]; }",
     false},
    {"pulled", "float32[,], float32[,]", "i4;i4",
     "[i : n](p, v) { auto a = 0.0f, b = 0.0f; for (int64 j = 0; j < n; j++) { a += p[j][0] - p[i][0] * p[j][3]; b += "
     "p[j][1] * "
     "p[j][2]; } v[i][0] = a; v[i][1] = b; }",
     false},
    {"pulled by pairs", "float64[,], float64[]", "i2;i",
     "[i : n](p, v) { double a = 0, x = p[i][1]; for (int64 j = 0; j < n; j++) { if (p[j][0] > x) a += p[j][1]; a -= "
     "p[j][0] * v[i]; } v[i] = a; }",
     false},
    {"distances of pairs", "float64[,], int16[,], float64[,]", "i2;j8;ij",
     "[i, j](x, y, d) { d[i][j] = x[i][0] * y[j][1] - x[i][1] * y[j][7] + y[j][5]; }", false},
    {"symmetric", "float64[,], float64[,]", "ij;ij",
     "[i, j](x, y) { y[i][j] = x[i][j] + 2 * x[j][i] - x[j + 1][i - 1]; }", false},
    {"turned where odd", "int16[,], int16[,]", "ij;ji", "[i, j](x, y) { if (x[i][j] & 1) y[j][i] = x[i][j]; }", false},
    {"turned planes", "uint8[,,], uint8[,,], int32[,]", "ijk;ikj;kj",
     "[i, j, k](x, y, z) { y[i][k][j] = x[i][j][k] + 1; atomic_add(z[k][j], 1); }", false},
    {"distances", "float32[,], float32[,], float32[,]", "i3;j3;ij",
     "[i, j](x, y, d) { d[i][j] = sum(k : 3, (x[i][k] - y[j][k]) * (x[i][k] - y[j][k])); }", false},
    {"histogram", "uint8[], int32[]", "i;8", "[i](x, h) { atomic_add(h[x[i]], 1); }", false},
    {"histogram of a picture", "uint8[,], uint32[], int64[]", "ij;8;3",
     "[i, j](x, h, t) { atomic_add(h[x[i][j]], 1); if (x[i][j] > 2) { atomic_max(t[0], j); atomic_max(t[i], x[i][j]); "
     "} }",
     false},
    {"counted in 64 bits", "uint8[], int64[], uint64[,], int64[]", "i;8;32;5",
     "[i](x, h, g, t) { atomic_add(h[x[i]], 1); if (x[i] > 2) atomic_add(g[i % 3][x[i]], true); for (int j = 0; j < 2; "
     "j++) atomic_add(t[j + 1], 1); }",
     false},
    {"counted by bits", "int32[], uint32[,], int64[]", "i;43;9",
     "[i](x, h, t) { atomic_xor(h[x[i] & 3][i % 3], 1 << (i & 31)); atomic_sub(t[0], x[i]); }", false},
    {"least and largest", "float32[], float32[], float32[]", "i;3;3",
     "[i](x, a, b) { atomic_min(a[i % 3], x[i]); atomic_max(b[i % 3], x[i]); }", false},
    {"counted beside streams", "float32[,], float32[,], int32[]", "ij;ij;9",
     "[i, j](x, y, h) { y[i][j] = x[i][j] + 1; if (x[i][j] > 1) atomic_add(h[j % 9], i); }", true},
    {"narrow counters", "int16[], uint8[], float16[]", "i;5;5",
     "[i](x, h, m) { atomic_add(h[i % 5], x[i]); atomic_max(m[i % 5], (float32)x[i]); }", false},
    {"random bits", "uint32[], uint64", "i;",
     "[i](x, seed) { x[i] = random_bits(seed, i, 3) + random_bits(seed, 2 * i + 1, i); }", false},
    {"random rows", "float32[,], int32, float32[,]", "ij;;ij",
     "[i, j : m](x, seed, y) { if (j != 3) x[i][j] = y[i][j] + random_uniformf(seed, i * m + j, 1); }", false},
    {"random columns", "float64[,], int64", "ij;",
     "[i : n, j](x, seed) { x[i][j] = random_uniform(seed * 1000000007, j * n + i - 5, seed); }", false},
    {"wide products", "uint32[], uint64[]", "i;i",
     "[i](x, y) { uint32 z = x[i] * 3000000019u; y[i] = (uint64)z * 4000000007u ^ (uint64)z * (uint64)(z + x[i]); }",
     false},
    {"exchanged", "int32[], int32[], int32[]", "i;i;i",
     "[i](x, h, y) { y[i] = atomic_exchange(h[i], x[i]) + atomic_compare_exchange(h[i], 3, 4); }", false},
};

/* ---- One launch ---- */

typedef struct array {
    char *block, *wanted;
    size_t elements; /* of the block */
    int64_t first;   /* of them, the array's element 0 */
    int same;        /* the parameter whose block it is, else its own number */
} array;

typedef struct point_call {
    int elements; /* that a thread is to take; 0: any */
    const sample *x;
    arena a;
    tree *t;
    const core_layout *layout;
    code_traits size;
    int nparams, ndim;
    int64_t extents[RANK], reversed[RANK], core[256];
    array array[PARAMETERS];
    uint64_t numbers[PARAMETERS][2];
    variant v;
    nd_loop loop;
} point_call;

static dtype type_of(const point_call *c, int k) { return (dtype)c->t->kernel->locals[k].type; }
static bool is_number(const point_call *c, int k) { return !c->layout->operands[k].rank; }
static bool is_written(const point_call *c, int k) { return c->size.use[k] & (USE_WRITE | USE_ATOMIC); }

static void make(point_call *c, const sample *x) {
    *c = (point_call){.x = x};
    if (lang_try_kernel(&c->a, x->parameters, x->source, &c->t))
        fail_msg("%s: %s", x->name, uf_last_error()->message);
    c->layout = c->t->layout;
    c->ndim = c->layout->nindices;
    c->nparams = c->t->kernel->nparams - c->ndim;
    assert_true(c->nparams <= PARAMETERS && c->layout->nparameters <= (int)COUNT(c->core));
    ir_traits(c->t, &c->size);
}

static void draw_space(point_call *c) {
    static const int64_t some[] = {1, 1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 33, 64, 100, 129, 257, 1000, 2049};
    int64_t n;
    do {
        n = 1;
        for (int d = 0; d < c->ndim; d++) {
            c->extents[d] = c->reversed[c->ndim - 1 - d] = some[pick(0, c->ndim > 2 ? 11 : COUNT(some) - 1)];
            n *= c->extents[d];
        }
    } while (n > POINTS);
    memcpy(c->core, c->extents, sizeof c->extents);
}

static const char *shape_text(const sample *x, int k) {
    const char *at = x->shapes;
    for (; k > 0; k--)
        at = strchr(at, ';') + 1;
    return at;
}

static int64_t pair_terms; /* the extent that is called t */
static bool dense;         /* arrays have the extents that they should, and no gaps */

static void shape_set(point_call *c, int k) {
    const layout_operand *o = &c->layout->operands[k];
    const char *at = shape_text(c->x, k);
    for (int d = 0; d < o->rank; d++)
        c->core[o->dim[d]] = at[d] == 't' ? pair_terms : at[d] >= 'i' ? c->extents[at[d] - 'i'] : at[d] - '0';
}

static void draw_shape(point_call *c, int k) {
    const layout_operand *o = &c->layout->operands[k];
    shape_set(c, k);
    for (int d = 0; d < o->rank; d++)
        if (!dense && chance(20))
            c->core[o->dim[d]] += pick(c->core[o->dim[d]] ? -1 : 0, 3);
}

static void put(dtype t, char *p, int64_t x) { number_write(number_read(DT_INT64, &x), t, p); }

/* Dimensions from the last to the first, or in some other order; gaps, backwards, not aligned; no movement where nothing is
 * written. */
static void lay_out(point_call *c, int k) {
    const layout_operand *o = &c->layout->operands[k];
    int order[RANK];
    int64_t step = !dense && chance(8) ? 2 : 1, lowest = 0, highest = 0, ahead = !dense && chance(30) ? pick(1, 4) : 0;
    bool plain = dense || chance(50);
    for (int d = 0; d < o->rank; d++)
        order[d] = o->rank - 1 - d;
    if (o->rank > 1 && !plain && chance(20)) {
        int swap = order[0];
        order[0] = order[1];
        order[1] = swap;
    }
    for (int i = 0; i < o->rank; i++) {
        int d = order[i];
        int64_t extent = c->core[o->dim[d]], stride = !plain && chance(10) ? -step : step;
        bool still = !plain && !is_written(c, k) && chance(8);
        c->core[o->strides + d] = extent > 1 && !still ? stride : 0;
        int64_t reach = extent > 1 && !still ? stride * (extent - 1) : 0;
        *(reach < 0 ? &lowest : &highest) += reach;
        step *= extent > 1 && !still ? extent : 1;
        step += dense ? 0 : chance(25) ? pick(1, 4) : i == 0 && chance(30) ? -step & 3 : 0;
    }
    array *a = &c->array[k];
    a->first = ahead - lowest;
    a->elements = (size_t)(ahead + highest - lowest + 1 + 4);
    a->same = k;
}

/* Small integers: sums are exact in every order, and nothing becomes -0 or a NaN. */
static void fill(array *a, dtype t) {
    size_t size = dtypes[t].size, bytes = (a->elements * size + 127) / 64 * 64;
    a->block = aligned_alloc(64, bytes);
    a->wanted = aligned_alloc(64, bytes);
    memset(a->block, 0, bytes);
    for (size_t i = 0; i < a->elements; i++)
        put(t, a->block + i * size, t == DT_BOOL ? pick(0, 1) : pick(0, 9));
    memcpy(a->wanted, a->block, bytes);
}

/* Parameter 1 is parameter 0, if it can be. */
static bool share(point_call *c) {
    const layout_operand *o = c->layout->operands;
    if (!c->x->in_place || o[0].rank != o[1].rank || type_of(c, 0) != type_of(c, 1) || !is_written(c, 1) || !chance(30))
        return false;
    for (int d = 0; d < o[0].rank; d++)
        if (c->core[o[0].dim[d]] > 1 && !c->core[o[0].strides + d])
            return false;
    for (int d = 0; d < o[0].rank; d++) {
        c->core[o[1].dim[d]] = c->core[o[0].dim[d]];
        c->core[o[1].strides + d] = c->core[o[0].strides + d];
    }
    c->array[1] = c->array[0];
    return true;
}

static void draw_arrays(point_call *c) {
    for (int k = 0; k < c->nparams; k++) {
        if (is_number(c, k)) {
            put(type_of(c, k), (char *)c->numbers[k], pick(0, 5));
            continue;
        }
        draw_shape(c, k);
        lay_out(c, k);
        if (k == 1 && share(c))
            continue;
        c->array[k].same = k;
        fill(&c->array[k], type_of(c, k));
    }
}

static char *address(const point_call *c, int k, bool wanted) {
    const array *a = &c->array[k];
    return (wanted ? a->wanted : a->block) + a->first * dtypes[type_of(c, k)].size;
}

/* ---- The variant, as core makes it ---- */

static int known_kernels; /* with extents that are constants */

static int unit_of(const point_call *c, const layout_operand *o) {
    for (int d = o->rank; d > 0; d--)
        if (c->core[o->strides + d - 1] == 1)
            return d;
    return c->core[o->dim[o->rank - 1]] <= 1 ? o->rank : 0;
}

static int alignment(const point_call *c, int k, int unit) {
    const layout_operand *o = &c->layout->operands[k];
    uint64_t all = (uintptr_t)address(c, k, false) | 16;
    for (int d = 0; d < o->rank; d++)
        if (d + 1 != unit)
            all |= (uint64_t)(c->core[o->strides + d] * dtypes[type_of(c, k)].size);
    return __builtin_ctzll(all);
}

/* c->v says what is known and reported: debug, apart, proved; c->elements what is asked for. */
static void specialise(point_call *c, const code_target *target) {
    variant *v = &c->v;
    uint8_t align[PARAMETERS] = {0};
    static int64_t still[RANK * PARAMETERS];
    v->loop = LOOP_FORALL;
    v->ndim = (uint8_t)c->ndim;
    v->nin = (uint8_t)c->nparams;
    c->loop = (nd_loop){.ndim = c->ndim,
                        .narrays = c->nparams,
                        .count = 1,
                        .extent = c->reversed,
                        .stride = still,
                        .offset = still,
                        .loop = LOOP_FORALL};
    for (int d = 0; d < c->ndim; d++)
        c->loop.count *= c->extents[d];
    for (int k = 0; k < c->nparams; k++) {
        uint8_t t = (uint8_t)type_of(c, k), kind = is_number(c, k) ? OPERAND_NUMBER : OPERAND_STRIDED;
        v->operand[k] = (variant_operand){.memory = t, .value = t, .kind = kind};
        c->loop.kind[k] = kind;
        if (is_number(c, k))
            continue;
        int unit = unit_of(c, &c->layout->operands[k]);
        v->operand[k].unit = (uint8_t)unit;
        align[k] = (uint8_t)alignment(c, k, unit);
        v->forall.noalias &= c->array[k].same == k;
    }
    const loop_problem p = {.loop = &c->loop,
                            .layout = c->layout,
                            .core = c->core,
                            .traits = &c->size,
                            .elements = c->elements,
                            .align = align};
    if (target->gpu)
        forall_specialise(v, &p);
    else
        cpu_engine.specialise(v, &p);
}

/* Draws which of the extents that may be constants are, as core chooses them, but from spaces of any size. */
static void draw_known(point_call *c) {
    known_extents *known = &c->v.forall.known;
    int64_t product = 1;
    int count = 0;
    for (uint64_t left = c->size.extents; left; left &= left - 1) {
        int dim = __builtin_ctzll(left);
        if (c->core[dim] < 1 || c->core[dim] > FORALL_KNOWN_EXTENT || product * c->core[dim] > FORALL_KNOWN_MOST)
            continue;
        product *= c->core[dim];
        known->dim[count] = (uint8_t)(dim + 1);
        known->size[count++] = (uint8_t)c->core[dim];
    }
    known_kernels += count > 0;
    if (count)
        assert_int_equal(ir_known_traits(c->t, known, &c->size), UF_OK);
}

static void draw_variant(point_call *c, const code_target *target, bool debug) {
    memset(&c->v, 0, sizeof c->v);
    c->v.reports = (uint8_t)(debug ? REPORTS_ERRORS | (chance(50) ? REPORTS_STEPS : 0) : 0);
    c->v.forall.noalias = chance(85);
    c->v.forall.proved = lang_needs_hold(c->t, c->core, NULL, false) && chance(80);
    c->elements = chance(40) ? 1 << pick(0, 4) : 0;
    if (!debug && chance(70))
        draw_known(c);
    specialise(c, target);
}

static int shared_points, tallies; /* variants whose points several lanes compute; operands counted in 32 bits */

/* Spaces here are too small for these. */
static void draw_rare(point_call *c) {
    int private = 0;
    c->v.wide |= chance(15);
    for (int k = 0; k < c->nparams; k++) {
        if (!(c->size.use[k] & USE_COUNTER) || dtypes[c->v.operand[k].memory].size < 4 || !chance(60))
            continue;
        c->v.operand[k].privatised = c->size.use[k] & USE_TALLY && chance(70) ? PRIVATE_TALLY : 1;
        tallies += c->v.operand[k].privatised == PRIVATE_TALLY;
        private++;
    }
    if (private)
        c->v.forall.block = (uint8_t)pick(5, 9);
    if (c->size.ragged && c->v.forall.noalias && !c->v.reports) {
        c->v.forall.lanes = (uint8_t)pick(0, COOP_WARP);
        c->v.forall.vector = c->v.forall.vectors_per_thread = 1;
        for (int k = 0; k < c->nparams; k++)
            c->v.operand[k].coalesced = 0;
        shared_points += c->v.forall.lanes > 0;
    }
    if (private || c->v.wide || c->v.forall.lanes)
        c->v.forall.across = 0;
    if (c->v.wide)
        c->v.forall.shared_rows = 0;
}

static code_module generate(point_call *c, const code_target *target) {
    code_module m = {.flags = c->v.reports ? UF_DEBUG : 0, .max_steps = 1000};
    if (ir_forall(&c->a, "points", c->t, &c->v, target, &m))
        fail_msg("%s: %s", c->x->name, uf_last_error()->message);
    return m;
}

static void describe(const point_call *c) {
    const variant *v = &c->v;
    fprintf(stderr, "%s over", c->x->name);
    for (int d = 0; d < c->ndim; d++)
        fprintf(stderr, " %lld", (long long)c->extents[d]);
    fprintf(stderr, ": vector %d repeat %d wide %d proved %d apart %d debug %d block %d lanes %d\n", v->forall.vector,
            v->forall.vectors_per_thread, v->wide, v->forall.proved, v->forall.noalias, v->reports, v->forall.block,
            v->forall.lanes);
    for (int k = 0; k < c->nparams; k++) {
        const layout_operand *o = &c->layout->operands[k];
        fprintf(stderr, "  %d: %s%s%s, unit %d, first %lld,", k, dtypes[type_of(c, k)].name,
                v->operand[k].coalesced ? ", streamed" : "", v->operand[k].privatised ? ", privatised" : "",
                v->operand[k].unit, (long long)c->array[k].first);
        for (int d = 0; d < o->rank; d++)
            fprintf(stderr, " %lld by %lld", (long long)c->core[o->dim[d]], (long long)c->core[o->strides + d]);
        fputs("\n", stderr);
    }
}

/* ---- What should come out ---- */

static void interpret(point_call *c) {
    dtype types[PARAMETERS + RANK];
    char *data[PARAMETERS + RANK];
    int64_t index[RANK];
    for (int k = 0; k < c->nparams; k++) {
        types[k] = type_of(c, k);
        data[k] = is_number(c, k) ? (char *)c->numbers[k] : address(c, k, true);
    }
    for (int d = 0; d < c->ndim; d++) {
        types[c->nparams + d] = DT_INT64;
        data[c->nparams + d] = (char *)&index[d];
    }
    for (int64_t p = 0; p < c->loop.count; p++) {
        int64_t rest = p;
        for (int d = c->ndim - 1; d >= 0; d--) {
            index[d] = rest % c->extents[d];
            rest /= c->extents[d];
        }
        ref_core core = {.data = data, .types = types, .words = c->core, .steps = 100000};
        const char *wrong = ref_run_core(c->t, &core);
        if (wrong) {
            describe(c);
            fail_msg("%s: %s", c->x->name, wrong);
        }
    }
}

static void compare(const point_call *c) {
    for (int k = 0; k < c->nparams; k++) {
        const array *a = &c->array[k];
        dtype t = type_of(c, k);
        for (size_t i = 0; !is_number(c, k) && i < a->elements; i++) {
            const char *got = a->block + i * dtypes[t].size, *wanted = a->wanted + i * dtypes[t].size;
            if (ref_same(number_read(t, got), number_read(t, wanted)))
                continue;
            describe(c);
            fail_msg("%s, element %lld of parameter %d is %g, not %g", c->x->name, (long long)i - a->first, k,
                     ref_convert(number_read(t, got), DT_FLOAT64).as.f[0],
                     ref_convert(number_read(t, wanted), DT_FLOAT64).as.f[0]);
        }
    }
}

static void simulate(point_call *c, code_module *m) {
    static uint64_t words[512];
    char *data[PARAMETERS];
    grid g;
    occupancy r = {.block = 32u << pick(0, 3), .sms = (int)pick(1, 4), .resident = (int)pick(1, 3)};
    for (int k = 0; k < c->nparams; k++)
        data[k] = is_number(c, k) ? NULL : address(c, k, false);
    launch l = {.v = &c->v,
                .loop = &c->loop,
                .data = data,
                .numbers = (const uint64_t(*)[2])c->numbers,
                .layout = c->layout,
                .core = c->core,
                .block = chance(20) ? 32 << pick(0, 4) : 0};
    int nparameters = schema_count(&c->v, c->layout, true);
    assert_true(nparameters <= (int)COUNT(words));
    assert_int_equal(gpu_layout(&l, &r, words, &g), UF_OK);
    assert_true(g.blocks >= 1 && g.threads >= 32 && g.threads % 32 == 0 && g.threads <= 1024 && g.shared <= SIM_SHARED);
    const char *wrong = sim_run(m, words, nparameters, (int)g.blocks, (int)g.threads);
    if (wrong) {
        describe(c);
        fail_msg("%s: %s", c->x->name, wrong);
    }
}

static void drop(point_call *c) {
    for (int k = 0; k < c->nparams; k++)
        if (!is_number(c, k) && c->array[k].same == k) {
            free(c->array[k].block);
            free(c->array[k].wanted);
        }
    arena_free(&c->a);
}

/* ---- Tests ---- */

static const sample *sample_named(const char *name) {
    const sample *x = samples;
    while (strcmp(x->name, name) != 0)
        x++;
    return x;
}

static struct { int runs, coalesced, privatised, vectors, repeats, wide, unproved, across, strides; } seen;

static void note(const variant *v) {
    bool streamed = false, private = false, strides = false;
    for (int k = 0; k < v->nin; k++) {
        streamed |= v->operand[k].coalesced;
        private |= v->operand[k].privatised;
        strides |= v->operand[k].record > 0;
    }
    seen.runs++;
    seen.coalesced += streamed;
    seen.privatised += private;
    seen.vectors += v->forall.vector > 1;
    seen.repeats += v->forall.vectors_per_thread > 1;
    seen.wide += v->wide;
    seen.unproved += !v->forall.proved;
    seen.across += v->forall.across > 0;
    seen.strides += strides;
}

static void simulate_sample(const sample *x) {
    static point_call c;
    make(&c, x);
    draw_space(&c);
    draw_arrays(&c);
    draw_variant(&c, &gpu, false);
    draw_rare(&c);
    code_module m = generate(&c, &gpu);
    assert_true(sim_can(&m));
    note(&c.v);
    interpret(&c);
    simulate(&c, &m);
    compare(&c);
    text_free(&m.ir);
    drop(&c);
}

/* What so few draws may miss: few samples have it, and not for all arrays. */
static bool rare_seen(void) { return seen.across && seen.strides && shared_points && tallies && known_kernels; }

static void test_simulated(void **unused) {
    int64_t n = trials(3 * COUNT(samples));
    (void)unused;
    if (!sim_there())
        skip();
    memset(&seen, 0, sizeof seen);
    for (int64_t i = 0; i < n; i++)
        simulate_sample(&samples[i % (int64_t)COUNT(samples)]);
    for (size_t i = 0; i < 20 * COUNT(samples) && n >= (int64_t)COUNT(samples) && !rare_seen(); i++)
        simulate_sample(&samples[i % COUNT(samples)]);
    print_message(
        "%d launches: %d streamed, %d by vectors, %d repeated, %d privatised, %d wide, %d not proved, %d turned, %d "
        "with constant strides\n",
        seen.runs, seen.coalesced, seen.vectors, seen.repeats, seen.privatised, seen.wide, seen.unproved, seen.across,
        seen.strides);
    if (seen.runs > 100)
        assert_true(seen.coalesced > seen.runs / 5 && seen.vectors > seen.runs / 10 && seen.repeats > seen.runs / 5 &&
                    seen.privatised > seen.runs / 20 && rare_seen());
}

/* Rows that a loop reads in all points alike go through shared memory: spaces of fewer and of more rows than a block stages at a time, with
 * blocks that end within the space and beyond it. */
static void test_shared_rows(void **unused) {
    static const char *const names[] = {"pulled", "pulled by pairs"};
    static point_call c;
    int64_t n = trials(200);
    int staged = 0, blocks = 0;
    (void)unused;
    if (!sim_there())
        skip();
    for (int64_t i = 0; i < n && (staged < 10 || n > 200); i++) {
        make(&c, sample_named(names[i % 2]));
        draw_space(&c);
        draw_arrays(&c);
        c.v = (variant){.forall.noalias = 1, .forall.proved = lang_needs_hold(c.t, c.core, NULL, false)};
        c.elements = 0;
        specialise(&c, &gpu);
        if (c.v.forall.shared_rows) {
            code_module m = generate(&c, &gpu);
            assert_non_null(strstr(m.ir.data, "barrier0"));
            interpret(&c);
            simulate(&c, &m);
            compare(&c);
            text_free(&m.ir);
            staged++;
            blocks += c.extents[0] > SHARED_ROWS;
        }
        drop(&c);
    }
    print_message("%d staged, %d of more rows than fit\n", staged, blocks);
    assert_true(staged);
}

/* ---- Pairs, by tiles through shared memory ---- */

/* t: the extent that the reduction's length is, drawn around what slices hold. */
static const sample pairs[] = {
    {"sums of squares", "float32[,], float32[,], float32[,]", "it;jt;ij",
     "[i, j](x, y, d) { d[i][j] = sum(k : extent(x, 1), (x[i][k] - y[j][k]) * (x[i][k] - y[j][k])); }", false},
    {"a constant length", "float32[,], float32[,], float64[,]", "it;jt;ij",
     "[i, j](x, y, d) { d[i][j] = sqrt(sum(k : 16, (x[i][k] - y[j][k]) * (x[i][k] - y[j][k])) * 0) + i; }", false},
    {"sums of distances", "float32[,], float32[,], float32[,]", "it;jt;ij",
     "[i, j](x, y, d) { d[i][j] = sum(k : extent(x, 1), sqrt((x[i][k] - y[j][k]) * (x[i][k] - y[j][k]))); }", false},
    {"a product of matrices", "int32[,], int32[,], int64[,], int32", "it;tj;ij;",
     "[i, j](a, b, c, s) { c[i][j] = s * sum(k : extent(a, 1), a[i][k] * b[k][j]) - j; }", false},
    {"with weights", "float32[,], float32[,], float32[], float32[], float32[,], uint8[,]", "it;jt;i;j;ij;ij",
     "[i, j](x, y, v, w, d, e) { float t = sum(k : extent(x, 1), x[i][k] * y[j][k] + k); auto u = t * v[i] + w[j]; "
     "d[i][j] = u; e[i][j] = (int32)u & 127; }",
     false},
    {"of one set", "uint32[,], uint32[,]", "it;ji",
     "[i, j](x, d) { d[j][i] = sum(k : extent(x, 1), x[i][k] ^ x[j][k] + i * 3); }", false},
    {"beyond the array", "float32[,], float32[,], float32[,]", "it;jt;ij",
     "[i, j](x, y, d) { d[i][j + 2] = prod(k : extent(x, 1), 1 + (x[i][k] - x[i][k]) * y[j][k]); }", false},
    {"the way that NumPy has it", "float32[,], float32[,], float16[,]", "ti;tj;ij",
     "[i, j](x, y, d) { d[i][j] = sum(k : extent(x, 0), x[k][i] > y[k][j]); }", false},
};

static void draw_pairs(point_call *c, int64_t terms) {
    static const int64_t some[] = {64, 65, 66, 102, 103, 124, 127, 128, 130, 160, 190, 192};
    do
        for (int d = 0; d < 2; d++)
            c->extents[d] = c->reversed[1 - d] = some[pick(0, COUNT(some) - 1)] & (dense ? -4 : -1);
    while (c->extents[0] * c->extents[1] * terms > 400000);
    memcpy(c->core, c->extents, sizeof c->extents);
    pair_terms = terms;
}

/* Sizes around those of tiles and slices, all layouts: what the interpreter makes of it, and nothing else is written. */
static void test_pairs(void **unused) {
    static point_call c;
    int tiled = 0, vectors = 0;
    (void)unused;
    if (!sim_there())
        skip();
    for (int64_t i = 0, n = trials(COUNT(pairs)); tiled < n && i < 20 * n; i++) {
        make(&c, &pairs[tiled % (int)COUNT(pairs)]);
        if (!c.size.pairs)
            fail_msg("%s: does not go by tiles", c.x->name);
        dense = chance(50);
        draw_pairs(&c, dense ? 4 * pick(4, 8) : pick(16, 35));
        draw_arrays(&c);
        dense = false;
        c.v = (variant){.forall.noalias = 1, .forall.proved = lang_needs_hold(c.t, c.core, NULL, false)};
        if (chance(50))
            draw_known(&c);
        specialise(&c, &gpu);
        if (c.v.forall.pairs) {
            code_module m = generate(&c, &gpu);
            assert_non_null(strstr(m.ir.data, "@slices_0"));
            interpret(&c);
            simulate(&c, &m);
            compare(&c);
            text_free(&m.ir);
            tiled++;
            vectors += c.v.forall.pairs > 1;
        }
        drop(&c);
    }
    print_message("%d by tiles, %d of them by vectors\n", tiled, vectors);
    assert_true(tiled && (tiled < 8 || vectors));
}

/* In the plain form, which a long helper brings about, each thread computes its points one after the other. */
static void test_pairs_plainly(void **unused) {
    static point_call c;
    text source = {0};
    (void)unused;
    if (!sim_there())
        skip();
    text_puts(&source, "long_one(int32 a) { ");
    for (int i = 0; i < 300; i++)
        text_printf(&source, "a = a * %d ^ (a >> 3); ", 2 * i + 3);
    text_puts(&source, "return a; } [i, j](x, y, d) { d[i][j] = long_one(sum(k : extent(x, 1), x[i][k] * y[j][k])); }");
    assert_false(source.failed);
    const sample x = {"pairs and a long helper", "int32[,], int32[,], int32[,]", "it;jt;ij", source.data, false};
    make(&c, &x);
    dense = true;
    c.extents[0] = c.reversed[1] = c.core[0] = 64;
    c.extents[1] = c.reversed[0] = c.core[1] = 110;
    pair_terms = 16;
    draw_arrays(&c);
    dense = false;
    c.v = (variant){.forall.noalias = 1, .forall.proved = 1};
    specialise(&c, &gpu);
    assert_true(c.v.forall.pairs);
    code_module m = generate(&c, &gpu);
    assert_true(m.plain && !strstr(m.ir.data, "@slices_0"));
    interpret(&c);
    simulate(&c, &m);
    compare(&c);
    text_free(&m.ir);
    text_free(&source);
    drop(&c);
}

/* Bodies that are no pairs, or do what a tile does not. */
static void test_no_pairs(void **unused) {
    static const sample others[] = {
        {"", "float64[,], float64[,], float64[,]", "", "[i, j](x, y, d) { d[i][j] = sum(k : 20, x[i][k] * y[j][k]); }",
         false},
        {"", "float32[,], float32[,], float32[,]", "", "[i, j](x, y, d) { d[i][j] = max(k : 20, x[i][k] * y[j][k]); }",
         false},
        {"", "float32[,], float32[,], float32[,]", "", "[i, j](x, y, d) { d[i][j] += sum(k : 20, x[i][k] * y[j][k]); }",
         false},
        {"", "float32[,], float32[,], float32[,]", "", "[i, j](x, y, d) { d[i][j] = sum(k : i, x[i][k] * y[j][k]); }",
         false},
        {"", "float32[,], float32[,], float32[,]", "",
         "[i, j](x, y, d) { if (i < j) return; d[i][j] = sum(k : 20, x[i][k] * y[j][k]); }", false},
        {"", "float32[,], float32[,], float32[,]", "",
         "[i, j](x, y, d) { float t = y[0][0]; d[i][j] = sum(k : 20, t * x[i][k] * y[j][k]); }", false},
        {"", "float32[,], float32[,], float32[,], int32", "",
         "[i, j](x, y, d, n) { d[i][j] = sum(k : 20, x[i][k] * y[j][k]) * n; n = i; }", false},
        {"", "float32[,], float32[,], float32[,]", "",
         "[i, j](x, y, d) { d[i][j] = sum(k : 20, x[i][k + 1] * y[j][k]); }", false},
        {"", "float32[,], float32[,], float32[,]", "",
         "[i, j](x, y, d) { atomic_add(d[i][j], sum(k : 20, x[i][k] * y[j][k])); }", false},
        {"", "float32[,], float32[,], float32[,]", "",
         "[i, j](x, y, d) { d[i][j] = sum(k : 20, x[i][k] * y[j][k]) + sum(k : 20, x[i][k]); }", false},
        {"", "float32[,], float32[,], float32[,,]", "",
         "[i, j, l](x, y, d) { d[i][j][l] = sum(k : 20, x[j][k] * y[l][k]); }", false},
    };
    static point_call c;
    (void)unused;
    for (size_t i = 0; i < COUNT(others); i++) {
        make(&c, &others[i]);
        if (c.size.pairs)
            fail_msg("%s goes by tiles", others[i].source);
        arena_free(&c.a);
    }
}

/* ---- Windows of random shape, whose borders are cared for in all ways ---- */

/* "[clamp(i + a, 0, n - 1)]": way 0 leaves the index to its check. */
static void index_text(text *out, char index, char size, char counter, int way) {
    char at[16];
    snprintf(at, sizeof at, "%c + %c", index, counter);
    if (way == 1)
        text_printf(out, "[clamp(%s, 0, %c - 1)]", at, size);
    else if (way == 2)
        text_printf(out, "[max(min(%s, %c - 1), 0)]", at, size);
    else if (way == 3)
        text_printf(out, "[%s < 0 ? 0 : %s >= %c ? %c - 1 : %s]", at, at, size, size, at);
    else if (way == 4)
        text_printf(out, "[(%s + %c) %% %c]", at, size, size);
    else
        text_printf(out, "[%s]", at);
}

/* y[i][j] becomes the sum of a window of x, with weights; perhaps only inside a frame, whose width is not that of the window. */
static char *window_text(void) {
    text out = {0};
    int up = (int)pick(-3, 0), down = (int)pick(0, 3), left = (int)pick(-3, 0), right = (int)pick(0, 3);
    int64_t inset = pick(0, 3);
    text_puts(&out, "[i : n, j : m](x, y) { ");
    if (chance(40))
        text_printf(&out, "if (i >= %d && i < n - %d && j > %d && %d + j < m) ", (int)inset, (int)pick(0, 3),
                    (int)pick(-1, 2), (int)pick(0, 3));
    text_printf(&out, "{ int64 s = 0; for (int64 a = %d; a <= %d; a++) for (int b = %d; b <= %d; b++) s += x", up, down,
                left, right);
    index_text(&out, 'i', 'n', 'a', (int)pick(0, 4));
    index_text(&out, 'j', 'm', 'b', (int)pick(0, 4));
    text_printf(&out, " * (1 + (a * 3 + b) %% 4); y%s = s; } }", chance(30) ? "[j][i]" : "[i][j]");
    assert_false(out.failed);
    return out.data;
}

static void test_random_windows(void **unused) {
    static point_call c;
    static const char *const parameters[] = {"int32[,], int64[,]", "uint8[,], uint8[,]", "int16[,], int32[,]"};
    (void)unused;
    if (!sim_there())
        skip();
    for (int64_t i = 0; i < trials(24); i++) {
        char *source = window_text();
        const sample x = {source, parameters[pick(0, 2)], strstr(source, "y[j]") ? "ij;ji" : "ij;ij", source, false};
        make(&c, &x);
        draw_space(&c);
        draw_arrays(&c);
        draw_variant(&c, &gpu, false);
        code_module m = generate(&c, &gpu);
        interpret(&c);
        simulate(&c, &m);
        compare(&c);
        text_free(&m.ir);
        drop(&c);
        free(source);
    }
}

/* Every sample at least once for both targets. */
static void test_accepted(void **unused) {
    static point_call c;
    (void)unused;
    for (int64_t i = 0; i < trials(2 * COUNT(samples)); i++) {
        make(&c, &samples[i % (int64_t)COUNT(samples)]);
        draw_space(&c);
        draw_arrays(&c);
        for (int target = 0; target < 2; target++) {
            draw_variant(&c, target ? &gpu : &cpu, chance(25));
            if (target && !c.v.reports)
                draw_rare(&c);
            code_module m = generate(&c, target ? &gpu : &cpu);
            if (!judge_accept(&m, target ? &gpu : &cpu, JUDGE_ONE_ARCH | (chance(30) ? JUDGE_ASSEMBLE : 0),
                              (uint64_t)i)) {
                describe(&c);
                fail_msg("%s", c.x->name);
            }
            text_free(&m.ir);
        }
        drop(&c);
    }
}

/* Dense arrays of the extents that they should have, aligned: only the code is looked at. */
static code_module plain_code(point_call *c, const sample *x, const int64_t *extents, const code_target *target) {
    make(c, x);
    for (int d = 0; d < c->ndim; d++)
        c->extents[d] = c->reversed[c->ndim - 1 - d] = c->core[d] = extents[d];
    for (int k = 0; k < c->nparams; k++) {
        const layout_operand *o = &c->layout->operands[k];
        int64_t step = 1;
        c->array[k].same = k;
        shape_set(c, k);
        for (int d = o->rank - 1; d >= 0; d--) {
            c->core[o->strides + d] = step;
            step *= c->core[o->dim[d]];
        }
    }
    c->elements = 0;
    c->v = (variant){.forall.noalias = 1, .forall.proved = lang_needs_hold(c->t, c->core, NULL, false)};
    specialise(c, target);
    return generate(c, target);
}

/* Counters of many points are counted in shared memory first. */
static void test_privatised(void **unused) {
    static point_call c;
    (void)unused;
    code_module m = plain_code(&c, sample_named("histogram"), (int64_t[]){1 << 20}, &gpu);
    assert_true(variant_privatised(&c.v) && c.v.forall.block);
    assert_non_null(strstr(m.ir.data, "addrspace(3)"));
    text_free(&m.ir);
    arena_free(&c.a);
}

/* The stride between short rows is a constant of the code, so that the accesses of an unrolled loop are at constant distances from each
 * other. */
static void test_row_strides(void **unused) {
    static point_call c;
    (void)unused;
    code_module m = plain_code(&c, sample_named("pulled"), (int64_t[]){1 << 14}, &gpu);
    assert_int_equal(c.v.operand[0].record, 4 * sizeof(float));
    assert_int_equal(c.v.operand[1].record, 0); /* it is written to */
    assert_non_null(strstr(m.ir.data, ", i64 4, i64 %"));
    text_free(&m.ir);
    arena_free(&c.a);
}

/* A reciprocal is one instruction. */
static void test_reciprocals(void **unused) {
    static const sample x = {"rcp", "float32[], float32[]", "i;i", "[i](x, y) { y[i] = rcp(x[i]); }", false};
    static point_call c;
    const char *ptx = "";
    (void)unused;
    if (!nvvm_found())
        skip();
    code_module m = plain_code(&c, &x, (int64_t[]){1000}, &gpu);
    assert_null(nvvm_judge(&m, 90, false, &ptx));
    assert_non_null(strstr(ptx, "rcp.rn.f32"));
    assert_null(strstr(ptx, "div."));
    text_free(&m.ir);
    arena_free(&c.a);
}

static void test_goldens(void **unused) {
    static const struct {
        const char *file, *sample;
        int64_t extents[2];
        const code_target *target;
    } goldens[] = {
        {"forall_cpu", "axpy", {1000, 4096}, &cpu},
        {"forall_gpu", "axpy", {1000, 4096}, &gpu},
        {"forall_counters_cpu", "histogram", {1 << 20}, &cpu},
    };
    static point_call c;
    (void)unused;
    for (size_t i = 0; i < COUNT(goldens); i++) {
        code_module m = plain_code(&c, sample_named(goldens[i].sample), goldens[i].extents, goldens[i].target);
        judge_golden(goldens[i].file, &m);
        arena_free(&c.a);
    }
}

int main(void) {
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_simulated),   cmocka_unit_test(test_shared_rows),   cmocka_unit_test(test_pairs),
        cmocka_unit_test(test_no_pairs),    cmocka_unit_test(test_pairs_plainly), cmocka_unit_test(test_random_windows),
        cmocka_unit_test(test_accepted),    cmocka_unit_test(test_privatised),    cmocka_unit_test(test_row_strides),
        cmocka_unit_test(test_reciprocals), cmocka_unit_test(test_goldens)};
    return cmocka_run_group_tests(tests, draw_seed, NULL);
}
