/* plain_records.c - loops over arrays of structs that a C programmer would write, built with -O3 -march=native by run.sh and loaded by
 * bench_records.c. */
#include <fenv.h>
#include <stdint.h>

#define RECORD(name, type, ...)                                                                     \
    typedef struct name {                                                                           \
        type __VA_ARGS__;                                                                           \
    } name;                                                                                         \
    void plain_##name(const name *restrict a, const name *restrict b, name *restrict r, int64_t n); \
    void plain_##name(const name *restrict a, const name *restrict b, name *restrict r, int64_t n)

/* clang-format off */
RECORD(f32x2, float, x, y) { for (int64_t i = 0; i < n; i++) r[i] = (f32x2){a[i].x + b[i].x, a[i].y + b[i].y}; }
RECORD(f32x3, float, x, y, z) { for (int64_t i = 0; i < n; i++) r[i] = (f32x3){a[i].x + b[i].x, a[i].y + b[i].y, a[i].z + b[i].z}; }
RECORD(f32x4, float, x, y, z, w) {
    for (int64_t i = 0; i < n; i++)
        r[i] = (f32x4){a[i].x + b[i].x, a[i].y + b[i].y, a[i].z + b[i].z, a[i].w + b[i].w};
}
RECORD(f64x2, double, x, y) { for (int64_t i = 0; i < n; i++) r[i] = (f64x2){a[i].x + b[i].x, a[i].y + b[i].y}; }
RECORD(f64x3, double, x, y, z) { for (int64_t i = 0; i < n; i++) r[i] = (f64x3){a[i].x + b[i].x, a[i].y + b[i].y, a[i].z + b[i].z}; }
RECORD(f64x4, double, x, y, z, w) {
    for (int64_t i = 0; i < n; i++)
        r[i] = (f64x4){a[i].x + b[i].x, a[i].y + b[i].y, a[i].z + b[i].z, a[i].w + b[i].w};
}
RECORD(u8x3, unsigned char, x, y, z) {
    for (int64_t i = 0; i < n; i++)
        r[i] = (u8x3){(unsigned char)(a[i].x + b[i].x), (unsigned char)(a[i].y + b[i].y), (unsigned char)(a[i].z + b[i].z)};
}

/* The product of intervals, without directed rounding. */
static double least(double a, double b) { return a < b ? a : b; }
static double most(double a, double b) { return a > b ? a : b; }
RECORD(interval, double, lo, hi) {
    for (int64_t i = 0; i < n; i++) {
        double p = a[i].lo * b[i].lo, q = a[i].lo * b[i].hi, s = a[i].hi * b[i].lo, t = a[i].hi * b[i].hi;
        r[i] = (interval){least(least(p, q), least(s, t)), most(most(p, q), most(s, t))};
    }
}

typedef struct mixed { double x; float y; int8_t z; } mixed;
void plain_mixed(const mixed *restrict a, const mixed *restrict b, mixed *restrict r, int64_t n);
void plain_mixed(const mixed *restrict a, const mixed *restrict b, mixed *restrict r, int64_t n) {
    for (int64_t i = 0; i < n; i++) {
        r[i].x = a[i].x + b[i].x;
        r[i].y = a[i].y + b[i].y;
        r[i].z = (int8_t)(a[i].z + b[i].z);
    }
}

/* Dot products of intervals with outward rounding: the bounds of the products chosen by signs, as the catalogue's module does. */
#define ROUNDS __attribute__((optimize("rounding-math"))) /* no rounding is moved, nor done by the compiler */

/* Rounding upwards throughout: the lower bounds are added with their signs changed. */
ROUNDS void plain_dot_once(const interval *a, const interval *b, interval *r, int64_t n);
ROUNDS void plain_dot_once(const interval *a, const interval *b, interval *r, int64_t n) {
    double less = 0, more = 0;
    int before = fegetround();
    fesetround(FE_UPWARD);
    for (int64_t i = 0; i < n; i++) {
        interval x = a[i], y = b[i];
        less += most(-(y.lo >= 0 ? x.lo : x.hi) * y.lo, -(y.hi >= 0 ? x.lo : x.hi) * y.hi);
        more += most((y.lo >= 0 ? x.hi : x.lo) * y.lo, (y.hi >= 0 ? x.hi : x.lo) * y.hi);
    }
    fesetround(before);
    *r = (interval){-less, more};
}

/* What a class of intervals does: each operator sets the direction that it needs, and the one that was before. The barriers keep what is
 * computed between the calls. */
#define HELD(x) __asm__ volatile("" : "+x"(x))
ROUNDS static interval times(interval x, interval y) {
    int before = fegetround();
    fesetround(FE_DOWNWARD);
    HELD(x.lo);
    HELD(x.hi);
    double lo = least((y.lo >= 0 ? x.lo : x.hi) * y.lo, (y.hi >= 0 ? x.lo : x.hi) * y.hi);
    HELD(lo);
    fesetround(FE_UPWARD);
    HELD(x.lo);
    HELD(x.hi);
    double hi = most((y.lo >= 0 ? x.hi : x.lo) * y.lo, (y.hi >= 0 ? x.hi : x.lo) * y.hi);
    HELD(hi);
    fesetround(before);
    return (interval){lo, hi};
}
ROUNDS static interval plus(interval x, interval y) {
    int before = fegetround();
    fesetround(FE_DOWNWARD);
    HELD(x.lo);
    double lo = x.lo + y.lo;
    HELD(lo);
    fesetround(FE_UPWARD);
    HELD(x.hi);
    double hi = x.hi + y.hi;
    HELD(hi);
    fesetround(before);
    return (interval){lo, hi};
}
ROUNDS void plain_dot_each(const interval *a, const interval *b, interval *r, int64_t n);
ROUNDS void plain_dot_each(const interval *a, const interval *b, interval *r, int64_t n) {
    interval sum = {0, 0};
    for (int64_t i = 0; i < n; i++)
        sum = plus(sum, times(a[i], b[i]));
    *r = sum;
}
