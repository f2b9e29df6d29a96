/* relation.c - can steps along up to four strides, each taken a bounded number of times, lead back to where they started?
 *
 * The integer vectors x with stride . x = 0 form a lattice of rank n - 1. A basis of it is reduced (Lagrange for two
 * vectors, Semaev 2001 for three) in the Euclidean norm of the coordinates x[i] / bound[i]. The box asked about lies in the
 * ball of radius sqrt(n) <= 2. If no basis vector lies in the box, each is longer than 1; the orthogonality defect of a
 * reduced basis of rank 3 is at most sqrt(2), so the coefficients of a vector in the ball are below 2 sqrt(2): trying all
 * up to 3 decides. Vectors are exact; only the reduction's choices are made in floating point. */
#include <math.h>

#include "nd/nd.h"

enum {
    MAX_N = 4,
    MAX_RANK = MAX_N - 1,
    MAX_COEFFICIENT = 3,
    MAX_ROUNDS = 4096 /* far beyond what 128-bit vectors take */
};

__extension__ typedef __int128 wide; /* entries of the first basis are below 2^65, of products 2^127 */

typedef struct lattice {
    int n, rank;
    const int64_t *bound;
    wide vector[MAX_RANK][MAX_N];
} lattice;

/* ---- A basis ---- */

static wide remainder_of(wide a, wide m) { return a % m < 0 ? a % m + m : a % m; }

static int64_t gcd(int64_t a, int64_t b) {
    while (b) {
        int64_t r = a % b;
        a = b;
        b = r;
    }
    return a;
}

/* The inverse of a modulo m; they have no common divisor. */
static wide inverse(wide a, wide m) {
    wide r0 = m, r1 = remainder_of(a, m), t0 = 0, t1 = 1;
    while (r1) {
        wide q = r0 / r1, r = r0 - q * r1, t = t0 - q * t1;
        r0 = r1;
        r1 = r;
        t0 = t1;
        t1 = t;
    }
    return remainder_of(t0, m);
}

/* x with the sum of stride[i] * x[i], i <= last, equal to target, a multiple of divisor[last]; all but x[0] small.
 * divisor[i] is the greatest common divisor of stride[0 .. i]. */
static void solve(const int64_t *stride, const int64_t *divisor, int last, wide target, wide *x) {
    for (int i = last; i > 0; i--) {
        wide modulus = divisor[i - 1] / divisor[i], step = stride[i] / divisor[i];
        x[i] = remainder_of(remainder_of(target / divisor[i], modulus) * inverse(step, modulus), modulus);
        target -= x[i] * stride[i];
    }
    x[0] = target / stride[0];
}

/* Vector r has its last coordinate other than 0 at r + 1, as small as can be. */
static void make_basis(lattice *l, const int64_t *stride) {
    int64_t divisor[MAX_N] = {stride[0]};
    memset(l->vector, 0, sizeof l->vector);
    for (int i = 1; i < l->n; i++) {
        divisor[i] = gcd(divisor[i - 1], stride[i]);
        wide last = divisor[i - 1] / divisor[i];
        solve(stride, divisor, i - 1, -last * stride[i], l->vector[i - 1]);
        l->vector[i - 1][i] = last;
    }
    l->rank = l->n - 1;
}

/* ---- Reduction ---- */

static double dot(const lattice *l, const wide *a, const wide *b) {
    double sum = 0;
    for (int i = 0; i < l->n; i++)
        sum += ((double)a[i] / (double)l->bound[i]) * ((double)b[i] / (double)l->bound[i]);
    return sum;
}

/* a - factor * b -> out */
static void subtract(const lattice *l, const wide *a, wide factor, const wide *b, wide *out) {
    for (int i = 0; i < l->n; i++)
        out[i] = a[i] - factor * b[i];
}

/* Puts shorter in a's place if it is shorter than a by more than rounding. */
static bool improve(const lattice *l, wide *a, const wide *shorter) {
    if (dot(l, shorter, shorter) >= dot(l, a, a) * (1 - 0x1p-40))
        return false;
    memcpy(a, shorter, (size_t)l->n * sizeof *a);
    return true;
}

/* Makes a as short as multiples of b can. */
static bool reduce_by(const lattice *l, wide *a, const wide *b) {
    wide shorter[MAX_N];
    double factor = round(dot(l, a, b) / dot(l, b, b));
    if (factor == 0)
        return false;
    subtract(l, a, (wide)factor, b, shorter);
    return improve(l, a, shorter);
}

/* The longest of three against the sums and differences of the others. */
static bool reduce_by_two(lattice *l) {
    int c = 0;
    for (int i = 1; i < 3; i++)
        if (dot(l, l->vector[i], l->vector[i]) > dot(l, l->vector[c], l->vector[c]))
            c = i;
    const wide *a = l->vector[(c + 1) % 3], *b = l->vector[(c + 2) % 3];
    for (int signs = 0; signs < 4; signs++) {
        wide shorter[MAX_N];
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

static bool in_box(const lattice *l, const wide *x) {
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
        wide x[MAX_N] = {0};
        for (int r = 0, rest = choice; r < l->rank; r++, rest /= CHOICES)
            subtract(l, x, rest % CHOICES - MAX_COEFFICIENT, l->vector[r], x);
        if (in_box(l, x))
            return true;
    }
    return false;
}

bool nd_has_relation(int n, const int64_t *stride, const int64_t *bound) {
    lattice l = {.n = n, .bound = bound};
    make_basis(&l, stride);
    for (int round = 0; reduce_once(&l); round++)
        if (round == MAX_ROUNDS)
            return true;
    return any_in_box(&l);
}
