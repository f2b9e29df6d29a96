/* relation.c - can steps along up to four strides, each taken a bounded number of times, lead back to where they began?
 *
 * The integer vectors x with stride . x = 0 form a lattice of rank n - 1. A basis of it is reduced (by Lagrange's
 * algorithm for two vectors, Semaev's of 2001 for three) in the Euclidean norm of the coordinates x[i] / bound[i]. The
 * box that is asked about lies in the ball of radius sqrt(n) <= 2. If no basis vector lies in the box, each of them is
 * longer than 1. The orthogonality defect of a reduced basis of rank 3 is at most sqrt(2), so that the coefficients of
 * a vector in the ball are below 2 sqrt(2): it is enough to try all coefficients up to 3. The vectors are exact; only
 * the choices of the reduction are made in floating point. */
#include <assert.h>
#include <math.h>

#include "nd/nd.h"

enum {
    MAX_N = 4,
    MAX_RANK = MAX_N - 1,
    MAX_COEFFICIENT = 3,
    MAX_ROUNDS = 4096 /* far more than vectors of 128-bit integers take */
};

__extension__ typedef __int128 int128; /* entries of the first basis are below 2^65, products of them below 2^127 */

typedef struct lattice {
    int n, rank;
    const int64_t *bound;
    int128 vector[MAX_RANK][MAX_N];
} lattice;

/* ---- A basis ---- */

static int128 remainder_of(int128 a, int128 m) { return a % m < 0 ? a % m + m : a % m; }

static int64_t gcd(int64_t a, int64_t b) {
    while (b) {
        int64_t r = a % b;
        a = b;
        b = r;
    }
    return a;
}

/* The inverse of a modulo m, which has no divisor in common with a. */
static int128 inverse(int128 a, int128 m) {
    int128 r0 = m, r1 = remainder_of(a, m), t0 = 0, t1 = 1;
    while (r1) {
        int128 q = r0 / r1, r = r0 - q * r1, t = t0 - q * t1;
        r0 = r1;
        r1 = r;
        t0 = t1;
        t1 = t;
    }
    return remainder_of(t0, m);
}

/* Finds x with the sum of stride[i] * x[i] over i <= last equal to target, which is a multiple of divisor[last]. All
 * but x[0] are small. divisor[i] is the greatest common divisor of stride[0 .. i]. */
static void solve(const int64_t *stride, const int64_t *divisor, int last, int128 target, int128 *x) {
    for (int i = last; i > 0; i--) {
        int128 modulus = divisor[i - 1] / divisor[i], step = stride[i] / divisor[i];
        x[i] = remainder_of(remainder_of(target / divisor[i], modulus) * inverse(step, modulus), modulus);
        target -= x[i] * stride[i];
    }
    x[0] = target / stride[0];
}

/* A first basis. The last coordinate of vector r that is not 0 is the one at r + 1, and it is as small as it can be. */
static void make_basis(lattice *l, const int64_t *stride) {
    int64_t divisor[MAX_N] = {stride[0]};
    memset(l->vector, 0, sizeof l->vector);
    for (int i = 1; i < l->n; i++) {
        divisor[i] = gcd(divisor[i - 1], stride[i]);
        int128 last = divisor[i - 1] / divisor[i];
        solve(stride, divisor, i - 1, -last * stride[i], l->vector[i - 1]);
        l->vector[i - 1][i] = last;
    }
    l->rank = l->n - 1;
}

/* ---- Reduction ---- */

static double dot(const lattice *l, const int128 *a, const int128 *b) {
    double sum = 0;
    for (int i = 0; i < l->n; i++)
        sum += ((double)a[i] / (double)l->bound[i]) * ((double)b[i] / (double)l->bound[i]);
    return sum;
}

/* out = a - factor * b */
static void subtract(const lattice *l, const int128 *a, int128 factor, const int128 *b, int128 *out) {
    for (int i = 0; i < l->n; i++)
        out[i] = a[i] - factor * b[i];
}

/* Replaces a by `shorter` if that is shorter by more than a rounding error. */
static bool improve(const lattice *l, int128 *a, const int128 *shorter) {
    if (dot(l, shorter, shorter) >= dot(l, a, a) * (1 - 0x1p-40))
        return false;
    memcpy(a, shorter, (size_t)l->n * sizeof *a);
    return true;
}

/* Makes a as short as subtracting a multiple of b can. */
static bool reduce_by(const lattice *l, int128 *a, const int128 *b) {
    int128 shorter[MAX_N];
    double factor = round(dot(l, a, b) / dot(l, b, b));
    if (factor == 0)
        return false;
    subtract(l, a, (int128)factor, b, shorter);
    return improve(l, a, shorter);
}

/* Tries to shorten the longest of the three vectors by the sums and differences of the two others. */
static bool reduce_by_two(lattice *l) {
    int c = 0;
    for (int i = 1; i < 3; i++)
        if (dot(l, l->vector[i], l->vector[i]) > dot(l, l->vector[c], l->vector[c]))
            c = i;
    const int128 *a = l->vector[(c + 1) % 3], *b = l->vector[(c + 2) % 3];
    for (int signs = 0; signs < 4; signs++) {
        int128 shorter[MAX_N];
        subtract(l, l->vector[c], signs & 1 ? 1 : -1, a, shorter);
        subtract(l, shorter, signs & 2 ? 1 : -1, b, shorter);
        if (improve(l, l->vector[c], shorter))
            return true;
    }
    return false;
}

static bool reduce_once(lattice *l) {
    bool changed = false;
    for (int i = 0; i < l->rank; i++)
        for (int j = 0; j < l->rank; j++)
            if (i != j)
                changed |= reduce_by(l, l->vector[i], l->vector[j]);
    return changed || (l->rank == 3 && reduce_by_two(l));
}

/* ---- The box ---- */

static bool in_box(const lattice *l, const int128 *x) {
    bool zero = true;
    for (int i = 0; i < l->n; i++) {
        if (x[i] > l->bound[i] || x[i] < -l->bound[i])
            return false;
        zero &= x[i] == 0;
    }
    return !zero;
}

static bool any_in_box(const lattice *l) {
    enum {
        CHOICES = 2 * MAX_COEFFICIENT + 1
    };
    for (int choice = 0; choice < CHOICES * CHOICES * CHOICES; choice++) {
        int128 x[MAX_N] = {0};
        for (int r = 0, rest = choice; r < l->rank; r++, rest /= CHOICES)
            subtract(l, x, rest % CHOICES - MAX_COEFFICIENT, l->vector[r], x);
        if (in_box(l, x))
            return true;
    }
    return false;
}

bool nd_has_relation(int n, const int64_t *stride, const int64_t *bound) {
    assert(n >= 1 && n <= MAX_N);
    lattice l = {.n = n, .bound = bound};
    make_basis(&l, stride);
    for (int round = 0; reduce_once(&l); round++)
        if (round == MAX_ROUNDS)
            return true;
    return any_in_box(&l);
}
