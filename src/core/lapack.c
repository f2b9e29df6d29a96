/* lapack.c - calls that a form of LAPACK computes: with core sizes that the function's kernel does not take, or for which the
 * engine's library is faster. A form is a program of a few steps over arrays in scratch memory: inputs are packed as the library wants
 * them, routines of the engine's library run over the whole batch, and a kernel of this file makes the results of theirs, wherever the
 * outputs lie. It puts NaN where a routine says that there is no result, so that the host need not wait for what it says. Where an
 * output lies as the routine would leave it, the routine works there, and the kernel has only those NaNs to put.
 *
 * Loop dimensions along which the matrix, operand 0, moves are the batch; along the others inner calls have one matrix, which is
 * factorised once. Calls whose arrays would take more than the engine's lapack_most are halved along their longest dimension. */
#include <assert.h>

#include "core/core.h"

/* ---- The kernels ---- */

typedef enum text_id {
    TEXT_FINITE,
    TEXT_SOLVE,
    TEXT_SOLVE_MATRIX,
    TEXT_MATRIX,
    TEXT_DET,
    TEXT_CHOLESKY,
    TEXT_MARK,
    TEXT_MARK_MATRIX,
    TEXT_QR,
    TEXT_SCALE,
    TEXT_REFLECT,
    TEXT_EIGH,
    TEXT_CONJUGATE,
    TEXT_SVD,
    TEXT_VALUES,
    TEXT_VALUES_WIDE,
    TEXT_PROJECT,
    TEXT_LSTSQ,
    TEXTS
} text_id;

/* Helpers of texts that take the exponent out of numbers. */
#define EXPONENTS                                                                                           \
    "size(z) { return _Generic(z, complex: max(fabs(real(z)), fabs(imag(z))), default: fabs(z)); }\n"       \
    "scaled(z, e) {\n"                                                                                      \
    "    return _Generic(z, complex: CMPLX(ldexp(real(z), e), ldexp(imag(z), e)), default: ldexp(z, e));\n" \
    "}\n"                                                                                                   \
    "exponent(z) { return size(z) > 0 && size(z) < INFINITY ? (int64)ilogb(size(z)) : (int64)0; }\n"

#define CONJUGATE "conjugate(z) { return _Generic(z, complex: conj(z), default: z); }\n"
#define SQUARE "square(z) { return _Generic(z, complex: real(z) * real(z) + imag(z) * imag(z), default: z * z); }\n"

/* Singular values of a matrix a from an orthogonal one, v, that makes its columns orthogonal but for the routine's errors: of each column
 * of the product what is left without its parts along those before it. The routine's errors are such parts, of the size of the largest
 * value times rounding, so that norms of the product alone may be above the cut where the matrix is short of rank; what is left has the
 * errors of one product. The exponent of the largest value, which s begins with, is taken out, as elements are squared. */
#define VALUES(rows, product)                                                                                        \
    EXPONENTS CONJUGATE SQUARE "(a, v) -> (b, s) {\n"                                                                \
                               "    const int32 e = (int32)exponent(s[0]);\n"                                        \
                               "    forall (i : " rows ", j : k) b[i][j] = " product ";\n"                           \
                               "    for (int64 l = 0; l < k; l++) {\n"                                               \
                               "        auto norm = sqrt(sum(i : " rows ", square(b[i][l])));\n"                     \
                               "        auto unit = norm > 0 ? 1 / norm : 0;\n"                                      \
                               "        s[l] = ldexp(norm, e);\n"                                                    \
                               "        forall (i : " rows ") b[i][l] *= unit;\n"                                    \
                               "        forall (j : k - l - 1) {\n"                                                  \
                               "            auto along = sum(i : " rows ", conjugate(b[i][l]) * b[i][l + 1 + j]);\n" \
                               "            for (int64 i = 0; i < " rows "; i++)\n"                                  \
                               "                b[i][l + 1 + j] -= along * b[i][l];\n"                               \
                               "        }\n"                                                                         \
                               "    }\n"                                                                             \
                               "}"

/* An assert fails where there is no result; it is evaluated in functions with UF_DEBUG only. */
static const struct {
    const char *name, *layout, *source;
} texts[TEXTS] = {
    [TEXT_FINITE] = {"finite", "(m,n)->()",
                     "(a) -> (skip) { skip = any(i : m, j : n, !isfinite(a[i][j])) ? (int32)1 : (int32)0; }"},
    [TEXT_SOLVE] = {"solve", "(n),()->(n)",
                    "(x, info) -> (y) {\n"
                    "    assert(info == 0); // the matrix is singular\n"
                    "    forall (i : n) y[i] = info ? NAN : x[i];\n"
                    "}"},
    [TEXT_SOLVE_MATRIX] = {"solve", "(n,r),()->(n,r)",
                           "(x, info) -> (y) {\n"
                           "    assert(info == 0); // the matrix is singular\n"
                           "    forall (i : n, j : r) y[i][j] = info ? NAN : x[i][j];\n"
                           "}"},
    [TEXT_MATRIX] = {"inv", "(n,n),()->(n,n)",
                     "(x, info) -> (y) {\n"
                     "    assert(info == 0); // the matrix is singular\n"
                     "    forall (i : n, j : n) y[i][j] = info ? NAN : x[i][j];\n"
                     "}"},
    /* The product of the diagonal, with the exponent apart, so that only the result can overflow. */
    [TEXT_DET] = {"det", "(n,n),(n)->()",
                  EXPONENTS "(lu, p) -> (d) {\n"
                            "    typeof(lu[0][0]) t = sum(i : n, p[i] != i + 1) & 1 ? -1 : 1;\n"
                            "    int64 e = 0;\n"
                            "    for (int64 i = 0; i < n; i++) {\n"
                            "        auto z = lu[i][i];\n"
                            "        auto more = exponent(z);\n"
                            "        t *= scaled(z, (int32)-more);\n"
                            "        auto over = exponent(t);\n"
                            "        t = scaled(t, (int32)-over);\n"
                            "        e += more + over;\n"
                            "    }\n"
                            "    d = scaled(t, (int32)clamp(e, (int64)-5000, (int64)5000));\n"
                            "}"},
    [TEXT_CHOLESKY] = {"cholesky", "(n,n),()->(n,n)",
                       "(a, info) -> (l) {\n"
                       "    assert(info == 0); // the matrix is not positive definite\n"
                       "    forall (i : n, j : n) l[i][j] = j > i ? 0 : info ? NAN : a[i][j];\n"
                       "}"},
    /* Of what is there already; an element that is not assigned stays. */
    [TEXT_MARK] = {"mark", "()->(n)", "(info) -> (y) { if (info) forall (i : n) y[i] = NAN; }"},
    [TEXT_MARK_MATRIX] = {"mark", "()->(n,r)", "(info) -> (y) { if (info) forall (i : n, j : r) y[i][j] = NAN; }"},
    [TEXT_QR] = {"qr", "(m,n),(m,k)->(m,k),(k,n)",
                 "(a, x) -> (q, r) {\n"
                 "    forall (i : m, j : k) q[i][j] = x[i][j];\n"
                 "    forall (i : k, j : n) r[i][j] = j < i ? 0 : a[i][j];\n"
                 "}"},
    /* The routine that makes reflectors squares elements without regard to their size, so it is given a matrix whose largest is near 1. */
    [TEXT_SCALE] = {"qr", "(m,n)->(m,n),()",
                    EXPONENTS "(a) -> (x, e) {\n"
                              "    e = (int32)exponent(max(i : m, j : n, size(a[i][j])));\n"
                              "    forall (i : m, j : n) x[i][j] = scaled(a[i][j], -e);\n"
                              "}"},
    /* Each column of Q is one of the unit matrix after all reflectors 1 - tau v v*, of which the last comes first; v[l] is 1, and what is
     * above is 0. Reflectors behind that of the column's number leave it as it is. A reflector is one
     * that 2 real(tau) = |tau|^2 v* v holds for. It does not where a column is no more than rounding errors of rounding errors, which the
     * routine squares to 0. So each tau is scaled to one that it holds for; they are kept in the first row of R, which is written last. */
    [TEXT_REFLECT] = {"qr", "(m,n),(k),()->(m,k),(k,n)",
                      EXPONENTS CONJUGATE "(a, tau, e) -> (q, r) {\n"
                                          "    forall (l : k) {\n"
                                          "        auto z = tau[l], norm = 0 * z + 1;\n"
                                          "        for (int64 i = l + 1; i < m; i++)\n"
                                          "            norm += conjugate(a[i][l]) * a[i][l];\n"
                                          "        r[0][l] = z == 0 ? z : (z + conjugate(z)) / (conjugate(z) * norm);\n"
                                          "    }\n"
                                          "    forall (j : k) {\n"
                                          "        for (int64 i = 0; i < m; i++)\n"
                                          "            q[i][j] = i == j;\n"
                                          "        for (int64 l = j; l >= 0; l--) {\n"
                                          "            auto dot = q[l][j];\n"
                                          "            for (int64 i = l + 1; i < m; i++)\n"
                                          "                dot += conjugate(a[i][l]) * q[i][j];\n"
                                          "            dot *= r[0][l];\n"
                                          "            q[l][j] -= dot;\n"
                                          "            for (int64 i = l + 1; i < m; i++)\n"
                                          "                q[i][j] -= dot * a[i][l];\n"
                                          "        }\n"
                                          "    }\n"
                                          "    forall (i : k, j : n) r[i][j] = j < i ? 0 : scaled(a[i][j], e);\n"
                                          "}"},
    /* The routine had the transposed matrix, whose eigenvectors are conjugated. */
    [TEXT_EIGH] = {"eigh", "(n),(n,n),(),()->(n),(n,n)",
                   CONJUGATE "(w, v, info, skip) -> (x, y) {\n"
                             "    assert(info == 0 && skip == 0); // not finite, or no convergence\n"
                             "    forall (i : n) x[i] = info || skip ? NAN : w[i];\n"
                             "    forall (i : n, j : n) y[i][j] = info || skip ? NAN : conjugate(v[i][j]);\n"
                             "}"},
    [TEXT_CONJUGATE] = {"svd", NULL, "(z) { return conj(z); }"},
    [TEXT_SVD] = {"svd", "(m,k),(k),(k,n),(),()->(m,k),(k),(k,n)",
                  "(u, s, v, info, skip) -> (x, y, z) {\n"
                  "    assert(info == 0 && skip == 0); // not finite, or no convergence\n"
                  "    forall (i : m, j : k) x[i][j] = info || skip ? NAN : u[i][j];\n"
                  "    forall (i : k) y[i] = info || skip ? NAN : s[i];\n"
                  "    forall (i : k, j : n) z[i][j] = info || skip ? NAN : v[i][j];\n"
                  "}"},
    [TEXT_VALUES] = {"lstsq", "(m,n),(k,n)->(m,k),(k)",
                     VALUES("m", "sum(l : n, scaled(a[i][l], -e) * conjugate(v[j][l]))")},
    [TEXT_VALUES_WIDE] = {"lstsq", "(m,n),(m,k)->(n,k),(k)",
                          VALUES("n", "sum(l : m, conjugate(scaled(a[l][i], -e)) * v[l][j])")},
    [TEXT_PROJECT] = {"lstsq", "(m,k),(m,r)->(k,r)",
                      CONJUGATE
                      "(u, b) -> (c) { forall (i : k, j : r) c[i][j] = sum(l : m, conjugate(u[l][i]) * b[l][j]); }"},
    [TEXT_LSTSQ] =
        {"lstsq", "(m,k),(k),(k,n),(k,r),(m,r),(),(),()->(n,r),(r),(),(k)",
         CONJUGATE SQUARE
         "epsilon(z) { return _Generic(z, float64: 0x1p-52, default: 0x1p-23f); }\n"
         "(u, s, v, c, b, rcond, info, skip) -> (x, residuals, rank, y) {\n"
         "    assert(info == 0 && skip == 0); // not finite, or no convergence\n"
         "    auto cut = max(i : k, s[i]) * (rcond < 0 ? epsilon(s[0]) * (m > n ? m : n) : rcond);\n"
         "    auto above = sum(i : k, s[i] > cut);\n"
         "    auto none = info || skip;\n"
         "    rank = none ? (int32)0 : (int32)above;\n"
         "    forall (i : k) y[none ? i : sum(j : k, s[j] > s[i] || (s[j] == s[i] && j < i))] = none ? NAN : s[i];\n"
         "    forall (i : n, j : r)\n"
         "        x[i][j] = none ? NAN : sum(l : k, s[l] > cut ? conjugate(v[l][i]) * (c[l][j] / s[l]) : 0);\n"
         "    forall (j : r)\n"
         "        residuals[j] = none || above < n ? NAN\n"
         "                       : sum(i : m, square(b[i][j] - sum(l : k, u[i][l] * c[l][j])));\n"
         "}"},
};

/* ---- The programs ---- */

/* An array in scratch memory. Letters name core dimensions: m and n are those of the matrix, k the lesser of them, r that of right
 * sides; p is n once more. */
typedef struct temporary {
    /* 'T' the dtype of the function, 'R' the real numbers of its precision, 'i' int32, 'P' an address; 'U' and 'V' as 'T', the vectors that
     * ROUTINE_SVD makes: another of the routines has them otherwise. 0: the end */
    char type;
    const char *memory; /* core dimensions in the order of memory, outermost first */
    const char *view;   /* in the order in which the kernels see them */
    bool all;           /* it has all loop dimensions; else those of the batch */
    int same;           /* it is another view of temporary same - 1; 0: it is not */
} temporary;

typedef enum step_kind {
    STEP_END,
    STEP_PACK, /* array[0], converted, to array[1] */
    STEP_POINTERS, /* the addresses of the matrices of array[0], to array[1], and if there are any, those of array[2] to array[3] */
    STEP_CONJUGATE, /* array[0], of complex numbers, where the routine makes V in place of V^H */
    STEP_ROUTINE, /* `which` is the routine; array[ROUTINE_ARRAYS] is its info, the next ones its skip, first and third */
    STEP_RESULT, /* `which` is the text that makes operand array[2] of array[0] and info, array[1]; array[0] may lie in the operand */
    STEP_TRIANGLE, /* the same of Cholesky factors */
    STEP_KERNEL,   /* `which` is the text; its inputs and outputs */
    STEP_JACOBI,   /* the same, where the routine was ROUTINE_SVD_SQUARE */
    STEP_SVD       /* where it is ROUTINE_SVD_FUNCTION: that of array[0], to array[1..3], and info, array[4] */
} step_kind;

enum {
    TEMPORARIES = 10,
    STEPS = 10,
    STEP_ARRAYS = 12,
    TEMPORARY = 0x40, /* added to the number of a temporary; lower numbers are operands of the function */
    NO_ARRAY = 0xFF,
    OPERANDS = 7, /* of a form, at most */
    SCRATCH_ALIGN = 256
};

typedef struct program_step {
    step_kind kind;
    int which;
    uint8_t array[STEP_ARRAYS];
} program_step;

typedef struct lapack_program {
    lapack_form form;
    bool reflects; /* the engine has reflectors only */
    bool wide;     /* for matrices with fewer rows than columns, whose transpose the routine gets */
    temporary temporaries[TEMPORARIES];
    program_step steps[STEPS];
} lapack_program;

#define T(number) (TEMPORARY + (number))
#define NONE NO_ARRAY
/* clang-format off */
static const lapack_program programs[] = {
    /* Row-major matrices are the transposed ones in column-major order: LU_SOLVE solves with the transpose of its factors. */
    {.form = LAPACK_SOLVE,
     .temporaries = {{'T', "nn", "nn", false, 0}, {'i', "n", "n", false, 0}, {'i', "", "", false, 0}, {'T', "n", "n", true, 0},
                     {'P', "", "", false, 0}, {'P', "", "", false, 0}},
     .steps = {{STEP_PACK, 0, {0, T(0)}}, {STEP_POINTERS, 0, {T(0), T(4), T(3), T(5)}},
               {STEP_ROUTINE, ROUTINE_LU, {T(0), T(1), NONE, NONE, T(2), NONE, T(4), NONE}}, {STEP_PACK, 0, {1, T(3)}},
               {STEP_ROUTINE, ROUTINE_LU_SOLVE, {T(0), T(1), T(3), NONE, NONE, NONE, T(4), T(5)}},
               {STEP_RESULT, TEXT_SOLVE, {T(3), T(2), 2}}}},
    {.form = LAPACK_SOLVE_MATRIX,
     .temporaries = {{'T', "nn", "nn", false, 0}, {'i', "n", "n", false, 0}, {'i', "", "", false, 0}, {'T', "rn", "nr", true, 0},
                     {'P', "", "", false, 0}, {'P', "", "", false, 0}},
     .steps = {{STEP_PACK, 0, {0, T(0)}}, {STEP_POINTERS, 0, {T(0), T(4), T(3), T(5)}},
               {STEP_ROUTINE, ROUTINE_LU, {T(0), T(1), NONE, NONE, T(2), NONE, T(4), NONE}}, {STEP_PACK, 0, {1, T(3)}},
               {STEP_ROUTINE, ROUTINE_LU_SOLVE, {T(0), T(1), T(3), NONE, NONE, NONE, T(4), T(5)}},
               {STEP_RESULT, TEXT_SOLVE_MATRIX, {T(3), T(2), 2}}}},
    {.form = LAPACK_INV,
     .temporaries = {{'T', "nn", "nn", false, 0}, {'i', "n", "n", false, 0}, {'i', "", "", false, 0}, {'T', "nn", "nn", false, 0},
                     {'P', "", "", false, 0}, {'P', "", "", false, 0}},
     .steps = {{STEP_PACK, 0, {0, T(0)}}, {STEP_POINTERS, 0, {T(0), T(4), T(3), T(5)}},
               {STEP_ROUTINE, ROUTINE_LU, {T(0), T(1), NONE, NONE, T(2), NONE, T(4), NONE}},
               {STEP_ROUTINE, ROUTINE_LU_INVERSE, {T(0), T(1), T(3), NONE, NONE, T(2), T(4), T(5)}},
               {STEP_RESULT, TEXT_MATRIX, {T(3), T(2), 1}}}},
    {.form = LAPACK_DET,
     .temporaries = {{'T', "nn", "nn", false, 0}, {'i', "n", "n", false, 0}, {'i', "", "", false, 0}, {'P', "", "", false, 0}},
     .steps = {{STEP_PACK, 0, {0, T(0)}}, {STEP_POINTERS, 0, {T(0), T(3), NONE, NONE}},
               {STEP_ROUTINE, ROUTINE_LU, {T(0), T(1), NONE, NONE, T(2), NONE, T(3), NONE}},
               {STEP_KERNEL, TEXT_DET, {T(0), T(1), 1}}}},
    /* With M the transposed matrix, M = U^H U means that the matrix is L L^H, where L, the transposed U, is U in row-major order. */
    {.form = LAPACK_CHOLESKY,
     .temporaries = {{'T', "nn", "nn", false, 0}, {'i', "", "", false, 0}, {'P', "", "", false, 0}},
     .steps = {{STEP_PACK, 0, {0, T(0)}}, {STEP_POINTERS, 0, {T(0), T(2), NONE, NONE}},
               {STEP_ROUTINE, ROUTINE_CHOLESKY, {T(0), NONE, NONE, NONE, T(1), NONE, T(2), NONE}},
               {STEP_TRIANGLE, TEXT_CHOLESKY, {T(0), T(1), 1}}}},
    {.form = LAPACK_QR,
     .temporaries = {{'T', "nm", "mn", false, 0}, {'T', "km", "mk", false, 0}},
     .steps = {{STEP_PACK, 0, {0, T(0)}},
               {STEP_ROUTINE, ROUTINE_QR, {T(0), T(1), NONE, NONE, NONE, NONE, NONE, NONE}},
               {STEP_KERNEL, TEXT_QR, {T(0), T(1), 1, 2}}}},
    {.form = LAPACK_QR, .reflects = true,
     .temporaries = {{'T', "nm", "mn", false, 0}, {'T', "k", "k", false, 0}, {'P', "", "", false, 0}, {'P', "", "", false, 0},
                     {'i', "", "", false, 0}},
     .steps = {{STEP_KERNEL, TEXT_SCALE, {0, T(0), T(4)}}, {STEP_POINTERS, 0, {T(0), T(2), T(1), T(3)}},
               {STEP_ROUTINE, ROUTINE_REFLECTORS, {T(0), NONE, T(1), NONE, NONE, NONE, T(2), T(3)}},
               {STEP_KERNEL, TEXT_REFLECT, {T(0), T(1), T(4), 1, 2}}}},
    {.form = LAPACK_EIGH,
     .temporaries = {{'T', "np", "np", false, 0}, {'T', "np", "pn", false, 1}, {'R', "n", "n", false, 0}, {'i', "", "", false, 0},
                     {'i', "", "", false, 0}},
     .steps = {{STEP_PACK, 0, {0, T(0)}}, {STEP_KERNEL, TEXT_FINITE, {T(0), T(4)}},
               {STEP_ROUTINE, ROUTINE_EIGH, {T(0), T(2), NONE, NONE, T(3), T(4), NONE, NONE}},
               {STEP_KERNEL, TEXT_EIGH, {T(2), T(1), T(3), T(4), 1, 2}}}},
    {.form = LAPACK_SVD,
     .temporaries = {{'T', "nm", "mn", false, 0}, {'U', "km", "mk", false, 0}, {'R', "k", "k", false, 0}, {'V', "nk", "kn", false, 0},
                     {'i', "", "", false, 0}, {'i', "", "", false, 0}},
     .steps = {{STEP_PACK, 0, {0, T(0)}}, {STEP_KERNEL, TEXT_FINITE, {T(0), T(5)}},
               {STEP_ROUTINE, ROUTINE_SVD, {T(0), T(1), T(2), T(3), T(4), T(5), NONE, NONE}}, {STEP_CONJUGATE, 0, {T(3)}},
               {STEP_KERNEL, TEXT_SVD, {T(1), T(2), T(3), T(4), T(5), 1, 2, 3}}}},
    /* The transposed matrix is V' S U^T: its U is the V^H wanted, transposed. */
    {.form = LAPACK_SVD, .wide = true,
     .temporaries = {{'T', "mn", "mn", false, 0}, {'V', "mk", "mk", false, 0}, {'R', "k", "k", false, 0}, {'U', "kn", "kn", false, 0},
                     {'i', "", "", false, 0}, {'i', "", "", false, 0}},
     .steps = {{STEP_PACK, 0, {0, T(0)}}, {STEP_KERNEL, TEXT_FINITE, {T(0), T(5)}},
               {STEP_ROUTINE, ROUTINE_SVD, {T(0), T(3), T(2), T(1), T(4), T(5), NONE, NONE}}, {STEP_CONJUGATE, 0, {T(1)}},
               {STEP_KERNEL, TEXT_SVD, {T(1), T(2), T(3), T(4), T(5), 1, 2, 3}}}},
    {.form = LAPACK_LSTSQ,
     .temporaries = {{'T', "nm", "mn", false, 0}, {'U', "km", "mk", false, 0}, {'R', "k", "k", false, 0}, {'V', "nk", "kn", false, 0},
                     {'i', "", "", false, 0}, {'i', "", "", false, 0}, {'T', "rm", "mr", true, 0}, {'T', "rk", "kr", true, 0},
                     {'T', "mk", "mk", false, 1}},
     .steps = {{STEP_PACK, 0, {0, T(0)}}, {STEP_PACK, 0, {1, T(6)}}, {STEP_KERNEL, TEXT_FINITE, {T(0), T(5)}},
               {STEP_ROUTINE, ROUTINE_SVD, {T(0), T(1), T(2), T(3), T(4), T(5), NONE, NONE}}, {STEP_CONJUGATE, 0, {T(3)}},
               {STEP_SVD, 0, {T(0), T(1), T(2), T(3), T(4)}}, {STEP_JACOBI, TEXT_VALUES, {0, T(3), T(8), T(2)}},
               {STEP_KERNEL, TEXT_PROJECT, {T(1), T(6), T(7)}},
               {STEP_KERNEL, TEXT_LSTSQ, {T(1), T(2), T(3), T(7), T(6), 2, T(4), T(5), 3, 4, 5, 6}}}},
    {.form = LAPACK_LSTSQ, .wide = true,
     .temporaries = {{'T', "mn", "mn", false, 0}, {'V', "mk", "mk", false, 0}, {'R', "k", "k", false, 0}, {'U', "kn", "kn", false, 0},
                     {'i', "", "", false, 0}, {'i', "", "", false, 0}, {'T', "rm", "mr", true, 0}, {'T', "rk", "kr", true, 0},
                     {'T', "nk", "nk", false, 1}},
     .steps = {{STEP_PACK, 0, {0, T(0)}}, {STEP_PACK, 0, {1, T(6)}}, {STEP_KERNEL, TEXT_FINITE, {T(0), T(5)}},
               {STEP_ROUTINE, ROUTINE_SVD, {T(0), T(3), T(2), T(1), T(4), T(5), NONE, NONE}}, {STEP_CONJUGATE, 0, {T(1)}},
               {STEP_SVD, 0, {T(0), T(1), T(2), T(3), T(4)}}, {STEP_JACOBI, TEXT_VALUES_WIDE, {0, T(1), T(8), T(2)}},
               {STEP_KERNEL, TEXT_PROJECT, {T(1), T(6), T(7)}},
               {STEP_KERNEL, TEXT_LSTSQ, {T(1), T(2), T(3), T(7), T(6), 2, T(4), T(5), 3, 4, 5, 6}}}},
};
/* clang-format on */
#undef T
#undef NONE

/* The dtypes that the operands of a form have, as types of temporaries; a form that is not here has 'T' throughout. */
static const char *const form_types[LAPACK_FORMS] = {
    [LAPACK_EIGH] = "TRT", [LAPACK_SVD] = "TTRT", [LAPACK_LSTSQ] = "TTRTRiR"};

static dtype type_of(char letter, dtype type) {
    if (letter == 'i' || letter == 'P')
        return letter == 'i' ? DT_INT32 : DT_INT64;
    return letter == 'T' || letter == 'U' || letter == 'V' ? type
           : type == DT_COMPLEX64                          ? DT_FLOAT32
           : type == DT_COMPLEX128                         ? DT_FLOAT64
                                                           : type;
}

/* ---- The choice ---- */

typedef struct sizes {
    int64_t m, n, k, r;
} sizes;

static sizes sizes_of(const core_layout *l, const int64_t *core) {
    const layout_operand *a = &l->operands[0], *b = &l->operands[1];
    sizes z = {
        .m = core[l->operands[0].dim[0]], .n = core[a->dim[1]], .r = l->nin > 1 && b->rank > 1 ? core[b->dim[1]] : 1};
    z.k = z.m < z.n ? z.m : z.n;
    return z;
}

/* The form takes these dtypes. */
static bool types_fit(lapack_form form, const variant *v) {
    dtype type = (dtype)v->operand[0].value;
    if (type != DT_FLOAT32 && type != DT_FLOAT64 && type != DT_COMPLEX64 && type != DT_COMPLEX128)
        return false;
    for (int k = 0; k < v->nin + v->nout; k++)
        if (v->operand[k].value != type_of(form_types[form] ? form_types[form][k] : 'T', type))
            return false;
    return true;
}

lapack_form lapack_form_of(const uf_plan *p) {
    lapack_form form = p->func->form.lapack;
    return form && types_fit(form, &p->pass[0].v) ? form : LAPACK_NONE;
}

/* With sizes that the function's kernel may not take. */
static bool is_generated(const uf_plan *p) { return p->pass[0].v.loop == LOOP_GUFUNC && p->pass[0].v.gufunc.form; }

bool lapack_generated(uf_plan *p) {
    if (!engines[p->engine]->lapack_generates || !lapack_form_of(p))
        return false;
    p->unrolled = 0; /* the text does not matter yet */
    call_specialise(p, p->misalignment, &p->pass[0].v);
    return is_generated(p);
}

static const lapack_program *program_find(lapack_form form, const sizes *z, bool reflects) {
    const lapack_program *found = NULL;
    for (size_t i = 0; i < COUNT(programs) && !found; i++)
        if (programs[i].form == form && programs[i].reflects == reflects && (!programs[i].wide || z->m < z->n) &&
            (programs[i].wide || z->m >= z->n || form == LAPACK_QR))
            found = &programs[i];
    assert(found); /* every form has one for matrices of any shape */
    return found;
}

/* Inner calls that share a matrix, if `shared`, else matrices. */
static int64_t inner_calls(const nd_loop *loop, bool shared) {
    int64_t n = 1;
    for (int d = 0; d < loop->ndim; d++)
        if (shared == !loop->stride[(size_t)d * (size_t)loop->narrays])
            n *= loop->extent[d];
    return n;
}

static lapack_problem problem_of(const uf_plan *p, const sizes *z) {
    const nd_loop *loop = &p->pass[0].loops.kept;
    return (lapack_problem){.form = p->func->form.lapack,
                            .type = (dtype)p->pass[0].v.operand[0].value,
                            .m = z->m,
                            .n = z->n,
                            .nrhs = z->r * inner_calls(loop, true),
                            .batch = inner_calls(loop, false)};
}

/* The first core dimension that is larger than the kernel takes; -1: there is none, or no work. */
static int too_large(const uf_plan *p) {
    int found = -1;
    for (int d = p->layout->ndims - 1; d >= 0 && p->func->max_extent; d--) {
        if (!p->core[d])
            return -1;
        if (p->core[d] > p->func->max_extent)
            found = d;
    }
    return found;
}

/* Says which size the kernel does not take, and if the library that would take it is missing, why. */
static uf_status refuse(const uf_plan *p, int d, const char *missing) {
    text t = {0};
    layout_dim_print(&t, p->layout, d);
    uf_status s = t.failed
                      ? fail_memory()
                      : fail(missing ? UF_ERR_LIBRARY : UF_ERR_SHAPE,
                             "%s: %s is %lld, but its kernel takes core dimensions of at most %lld%s%s", p->func->name,
                             t.data, (long long)p->core[d], (long long)p->func->max_extent,
                             missing ? "; larger ones need a library that is missing: " : "", missing ? missing : "");
    text_free(&t);
    return s;
}

static uf_status needs_library(const uf_plan *p, int d) {
    char why[sizeof error_slot()->message];
    if (!engines[p->engine]->lapack_open(p->device))
        return UF_OK;
    strcpy(why, error_slot()->message);
    return refuse(p, d, why);
}

/* Does the library compute what the kernel could, because it is faster and there is one? */
static bool library_pays(const uf_plan *p, const sizes *z) {
    const lapack_problem problem = problem_of(p, z);
    uf_error before = *error_slot();
    if (!z->m || !z->n || !z->r || !engines[p->engine]->lapack_pays(&problem))
        return false;
    bool there = !engines[p->engine]->lapack_open(p->device);
    *error_slot() = before;
    return there;
}

/* By what the form finds singular values, if it does. */
static lapack_routine svd_of(const uf_plan *p, const sizes *z) {
    const lapack_problem problem = problem_of(p, z);
    const engine *e = engines[p->engine];
    return e->lapack_svd ? e->lapack_svd(p->device, &problem) : ROUTINE_SVD;
}

static uf_status kernels_compile(const uf_plan *p);

uf_status lapack_settle(uf_plan *p) {
    int d = too_large(p);
    if (is_generated(p))
        return UF_OK;
    if (!lapack_form_of(p))
        return d < 0 ? UF_OK : refuse(p, d, NULL);
    const sizes z = sizes_of(p->layout, p->core);
    bool own = p->func->form.lapack == LAPACK_LSTSQ && svd_of(p, &z) == ROUTINE_SVD_FUNCTION;
    if (d >= 0 && !own)
        TRY(needs_library(p, d));
    if (d < 0 && !library_pays(p, &z))
        return UF_OK;
    const lapack_problem problem = problem_of(p, &z);
    const engine *e = engines[p->engine];
    bool reflects = problem.form == LAPACK_QR && e->lapack_reflects && e->lapack_reflects(&problem);
    p->lapack = program_find(problem.form, &z, reflects);
    return p->lasts ? kernels_compile(p) : UF_OK;
}

/* ---- One run ---- */

/* A call, or a part of it. Loop dimensions are in the order of arrays: those of the batch first, outermost first. */
typedef struct run {
    const lapack_program *program;
    const engine *e;
    DLDevice device;
    const launch *l;
    sizes size;
    dtype type;
    lapack_routine svd; /* the engine's */
    bool compiles;      /* only compiles the kernels; there are no addresses */
    bool listed;        /* routines get lists of addresses: the call has several matrices, though a part may have one */
    int ndim, nbatch;
    int64_t extent[UF_MAX_NDIM];
    int64_t stride[UF_MAX_NDIM][OPERANDS]; /* by operand, in elements */
    char *address[OPERANDS];
    char *temporary[TEMPORARIES];
    bool landed[TEMPORARIES]; /* it is where an operand lies */
} run;

/* An array for a call of this library. */
typedef struct view {
    DLTensor array;
    int64_t shape[UF_MAX_NDIM], strides[UF_MAX_NDIM];
} view;

static int64_t size_of(const sizes *z, char letter) {
    return letter == 'm' ? z->m : letter == 'k' ? z->k : letter == 'r' ? z->r : z->n;
}

/* Elements of one matrix of a temporary. */
static int64_t core_of(const run *r, const temporary *t) {
    const sizes *z = &r->size;
    int64_t n = 1, rows = z->m > z->n ? z->m : z->n;
    for (const char *c = t->memory; *c; c++)
        n *= size_of(z, *c);
    return t->type == 'U' && r->svd == ROUTINE_SVD_SQUARE ? rows * rows : n;
}

static int64_t count_of(const run *r, const temporary *t) {
    int64_t n = core_of(r, t);
    for (int d = 0; d < (t->all ? r->ndim : r->nbatch); d++)
        n *= r->extent[d];
    return n;
}

static void view_begin(const run *r, dtype type, void *data, view *out) {
    out->array = (DLTensor){
        .data = data, .device = r->device, .dtype = dtypes[type].dl, .shape = out->shape, .strides = out->strides};
}

static void view_add(view *v, int64_t extent, int64_t stride) {
    v->shape[v->array.ndim] = extent;
    v->strides[v->array.ndim++] = stride;
}

/* Temporary k, with `loops` loop dimensions; in those that it does not have it does not move. */
static void temporary_view(const run *r, int k, int loops, view *out) {
    const temporary *t = &r->program->temporaries[k];
    int own = t->all ? r->ndim : r->nbatch, rank = (int)strlen(t->memory);
    bool reversed = t->type == 'V' && r->svd == ROUTINE_SVD_SQUARE; /* V, of which V^H is a view but for signs */
    int64_t core = 1, step[UF_MAX_NDIM] = {0}, stride[LAYOUT_MAX_RANK];
    for (int d = rank - 1; d >= 0; d--) {
        char letter = t->memory[reversed ? rank - 1 - d : d];
        stride[strchr(t->view, letter) - t->view] = core;
        core *= size_of(&r->size, letter);
    }
    core = core_of(r, t);
    if (rank == 2 && t->memory[0] == t->memory[1]) {
        stride[0] = r->size.n;
        stride[1] = 1;
    }
    for (int d = own - 1; d >= 0; d--) {
        step[d] = core;
        core *= r->extent[d];
    }
    view_begin(r, type_of(t->type, r->type), r->temporary[t->same ? t->same - 1 : k], out);
    for (int d = 0; d < loops; d++)
        view_add(out, r->extent[d], step[d]);
    for (int d = 0; d < rank; d++)
        view_add(out, size_of(&r->size, t->view[d]), stride[d]);
}

/* Operand k of the function, with `loops` loop dimensions. */
static void operand_view(const run *r, int k, int loops, view *out) {
    const launch *l = r->l;
    const variant_operand *v = &l->v->operand[k];
    const layout_operand *o = &l->layout->operands[k];
    if (v->kind == OPERAND_NUMBER) {
        static const uint64_t any[2];
        view_begin(r, (dtype)v->value, (void *)(uintptr_t)(r->compiles ? any : l->numbers[k]), out);
        out->array.device = (DLDevice){kDLCPU, 0};
        return;
    }
    view_begin(r, (dtype)v->memory, r->address[k], out);
    for (int d = 0; d < loops; d++)
        view_add(out, r->extent[d], r->stride[d][k]);
    for (int d = 0; d < o->rank; d++)
        view_add(out, l->core[o->dim[d]], l->core[o->strides + d]);
}

static void array_view(const run *r, int which, int loops, view *out) {
    if (which & TEMPORARY)
        temporary_view(r, which & ~TEMPORARY, loops, out);
    else
        operand_view(r, which, loops, out);
}

/* ---- Steps ---- */

static uf_status text_func(text_id id, bool debug, const uf_func **out) {
    static _Atomic(uf_func *) made[TEXTS][2];
    _Atomic(uf_func *) *slot = &made[id][debug];
    const uf_section only = {.source = texts[id].source};
    uf_func *mine;
    *out = atomic_load(slot);
    if (*out)
        return UF_OK;
    TRY(uf_define(&mine, &(uf_definition){.size = sizeof(uf_definition),
                                          .name = texts[id].name,
                                          .nsections = 1,
                                          .sections = &only,
                                          .flags = debug ? UF_DEBUG : 0,
                                          .layout = texts[id].layout}));
    *out = func_publish(slot, mine);
    return UF_OK;
}

static uf_status call(const run *r, const uf_func *f, int n, const DLTensor *args) {
    const uf_options options = {.size = sizeof options,
                                .stream = r->l->stream,
                                .threads = r->l->threads,
                                .casting = UF_CAST_UNSAFE,
                                .flags = UF_STRONG_NUMBERS};
    uf_plan *plan;
    if (!r->compiles)
        return uf_call(f, n, args, &options);
    TRY(uf_plan_new(&plan, f, n, args, &options));
    uf_plan_free(plan);
    return UF_OK;
}

/* The loop dimensions of a step: those of the batch, unless one of its arrays has all. */
static int step_loops(const run *r, const program_step *s, int n) {
    for (int i = 0; i < n; i++)
        if (!(s->array[i] & TEMPORARY) ? s->kind >= STEP_RESULT && s->array[i] >= r->l->layout->nin
                                       : r->program->temporaries[s->array[i] & ~TEMPORARY].all)
            return r->ndim;
    return r->nbatch;
}

static uf_status step_pack(const run *r, const program_step *s) {
    view from, to;
    const uf_func *copy;
    int loops = step_loops(r, s, 2);
    array_view(r, s->array[0], loops, &from);
    array_view(r, s->array[1], loops, &to);
    TRY(copy_function(&copy));
    return call(r, copy, 2, (DLTensor[]){from.array, to.array});
}

static uf_status step_kernel(const run *r, const program_step *s) {
    view views[STEP_ARRAYS];
    DLTensor args[STEP_ARRAYS];
    const uf_func *f;
    TRY(text_func((text_id)s->which, r->l->v->reports & REPORTS_ERRORS, &f));
    int n = f->nin + f->nout, loops = step_loops(r, s, n);
    for (int i = 0; i < n; i++) {
        array_view(r, s->array[i], loops, &views[i]);
        args[i] = views[i].array;
    }
    return call(r, f, n, args);
}

/* Results that lie in the operand are only marked. */
static uf_status step_result(const run *r, const program_step *s) {
    static const text_id marks[TEXTS] = {
        [TEXT_SOLVE] = TEXT_MARK, [TEXT_SOLVE_MATRIX] = TEXT_MARK_MATRIX, [TEXT_MATRIX] = TEXT_MARK_MATRIX};
    const program_step mark = {STEP_KERNEL, marks[s->which], {s->array[1], s->array[2]}};
    return step_kernel(r, r->landed[s->array[0] & ~TEMPORARY] ? &mark : s);
}

static uf_status step_jacobi(const run *r, const program_step *s) {
    return r->svd == ROUTINE_SVD_SQUARE ? step_kernel(r, s) : UF_OK;
}

static uf_status svd_func(const uf_func **out) {
    static _Atomic(uf_func *) made;
    uf_func *mine;
    *out = atomic_load(&made);
    if (*out)
        return UF_OK;
    TRY(uf_load(&mine, "svd"));
    *out = func_publish(&made, mine);
    return UF_OK;
}

static uf_status step_svd(const run *r, const program_step *s) {
    const program_step info = {STEP_KERNEL, TEXT_FINITE, {s->array[0], s->array[4]}};
    const uf_func *f;
    view views[4];
    DLTensor args[4];
    if (r->svd != ROUTINE_SVD_FUNCTION)
        return UF_OK;
    TRY(svd_func(&f));
    for (int i = 0; i < 4; i++) {
        array_view(r, s->array[i], r->nbatch, &views[i]);
        args[i] = views[i].array;
    }
    TRY(call(r, f, 4, args));
    return step_kernel(r, &info);
}

static uf_status step_conjugate(const run *r, const program_step *s) {
    view v;
    const uf_func *f;
    if (r->svd != ROUTINE_SVD_SQUARE || !dtype_is_complex(r->type))
        return UF_OK;
    TRY(text_func(TEXT_CONJUGATE, false, &f));
    array_view(r, s->array[0], r->nbatch, &v);
    return call(r, f, 2, (DLTensor[]){v.array, v.array});
}

/* Runs a kernel of this file over indices, of which the numbers are int64. */
static uf_status points_call(const run *r, _Atomic(uf_func *) *made, const char *name, const char *source, int ndim,
                             const int64_t *extents, int n, const DLTensor *args) {
    const uf_options options = {.size = sizeof options, .stream = r->l->stream, .threads = r->l->threads};
    const uf_func *f = atomic_load(made);
    uf_func *mine;
    uf_plan *plan;
    if (!f) {
        TRY(uf_kernel(&mine, name, NULL, source));
        f = func_publish(made, mine);
    }
    if (!r->compiles)
        return uf_forall(f, ndim, extents, n, args, &options);
    TRY(uf_forall_plan(&plan, f, ndim, extents, n, args, &options));
    uf_plan_free(plan);
    return UF_OK;
}

static int64_t batch_of(const run *r) {
    int64_t batch = 1;
    for (int d = 0; d < r->nbatch; d++)
        batch *= r->extent[d];
    return batch;
}

/* The addresses of matrices that lie behind each other, of one array or of two; of a call with one matrix there is no list. */
static uf_status step_pointers(const run *r, const program_step *s) {
    static _Atomic(uf_func *) made;
    int64_t batch = batch_of(r), words[4]; /* the first address, and the step; twice */
    view to[2];
    DLTensor args[6];
    if (!r->e->lapack_points || !r->listed)
        return UF_OK;
    for (int k = 0; k < 2; k++) {
        const uint8_t *pair = s->array + (s->array[2 * k] == NO_ARRAY ? 0 : 2 * k);
        int of = pair[0] & ~TEMPORARY;
        const temporary *t = &r->program->temporaries[of];
        words[2 * k] = (int64_t)(uintptr_t)r->temporary[of];
        words[2 * k + 1] = count_of(r, t) / batch * dtypes[type_of(t->type, r->type)].size;
        view_begin(r, DT_INT64, r->temporary[pair[1] & ~TEMPORARY], &to[k]);
        view_add(&to[k], batch, 1);
        args[k] = to[k].array;
    }
    for (int k = 0; k < 4; k++)
        args[2 + k] = (DLTensor){.data = &words[k], .device = {kDLCPU, 0}, .dtype = dtypes[DT_INT64].dl};
    return points_call(
        r, &made, "addresses",
        "[i](p, q, first, step, second, stride) { p[i] = first + i * step; q[i] = second + i * stride; }", 1, &batch, 6,
        args);
}

/* Factors that lie in the operand, one behind the other, get zeros above the diagonal. */
static uf_status step_triangle(const run *r, const program_step *s) {
    static _Atomic(uf_func *) made;
    int64_t n = r->size.n, space[] = {batch_of(r), n, n};
    view factors, info;
    if (!r->landed[s->array[0] & ~TEMPORARY])
        return step_kernel(r, s);
    view_begin(r, r->type, r->temporary[s->array[0] & ~TEMPORARY], &factors);
    view_begin(r, DT_INT32, r->temporary[s->array[1] & ~TEMPORARY], &info);
    view_add(&info, space[0], 1);
    for (int d = 0; d < 3; d++)
        view_add(&factors, space[d], d == 0 ? n * n : d == 1 ? n : 1);
    return points_call(r, &made, "cholesky",
                       "[k, i, j](l, info) { if (j > i) l[k][i][j] = 0; else if (info[k]) l[k][i][j] = NAN; }", 3,
                       space, 2, (DLTensor[]){factors.array, info.array});
}

static void *address_of(const run *r, int which) { return which == NO_ARRAY ? NULL : r->temporary[which & ~TEMPORARY]; }

static uf_status step_routine(const run *r, const program_step *s) {
    lapack_call c = {.routine = s->which == ROUTINE_SVD ? r->svd : (lapack_routine)s->which,
                     .type = r->type,
                     .m = r->program->wide ? r->size.n : r->size.m,
                     .n = r->program->wide ? r->size.m : r->size.n,
                     .nrhs = r->size.r,
                     .batch = 1,
                     .info = address_of(r, s->array[ROUTINE_ARRAYS]),
                     .skip = address_of(r, s->array[ROUTINE_ARRAYS + 1]),
                     .first = address_of(r, s->array[ROUTINE_ARRAYS + 2]),
                     .third = address_of(r, s->array[ROUTINE_ARRAYS + 3]),
                     .device = r->l->device,
                     .stream = r->l->stream,
                     .threads = r->l->threads};
    for (int d = 0; d < r->ndim; d++)
        *(d < r->nbatch ? &c.batch : &c.nrhs) *= r->extent[d];
    if (c.routine == ROUTINE_SVD_FUNCTION)
        return UF_OK;
    if (!r->listed)
        c.first = c.third = NULL;
    for (int i = 0; i < ROUTINE_ARRAYS; i++)
        c.array[i] = address_of(r, s->array[i]);
    return r->compiles ? UF_OK : r->e->lapack_run(&c);
}

static uf_status steps_run(const run *r) {
    static uf_status (*const by_kind[])(const run *r, const program_step *s) = {
        [STEP_PACK] = step_pack,       [STEP_POINTERS] = step_pointers, [STEP_CONJUGATE] = step_conjugate,
        [STEP_ROUTINE] = step_routine, [STEP_KERNEL] = step_kernel,     [STEP_JACOBI] = step_jacobi,
        [STEP_RESULT] = step_result,   [STEP_TRIANGLE] = step_triangle, [STEP_SVD] = step_svd};
    for (const program_step *s = r->program->steps; s->kind; s++)
        TRY(by_kind[s->kind](r, s));
    return UF_OK;
}

/* ---- Results in place ---- */

/* The operand that results in temporary k become; -1: they are no more than that. */
static int result_of(const run *r, int k) {
    for (const program_step *s = r->program->steps; s->kind; s++)
        if ((s->kind == STEP_RESULT || s->kind == STEP_TRIANGLE) && s->array[0] == TEMPORARY + k)
            return s->array[2];
    return -1;
}

/* Does temporary k lie in an operand? That must have its dtype and strides, complex numbers on addresses that are multiples of their size,
 * and be where routines may work. Where errors are reported it does not, as matrices without a result are left as they were. */
static bool lands(const run *r, int k) {
    int to = result_of(r, k);
    view mine, theirs;
    if (to < 0 || r->l->v->reports & REPORTS_ERRORS)
        return false;
    temporary_view(r, k, r->ndim, &mine);
    operand_view(r, to, r->ndim, &theirs);
    if (r->l->v->operand[to].memory != r->type || (uintptr_t)r->address[to] % dtypes[r->type].size)
        return false;
    for (int d = 0; d < mine.array.ndim; d++)
        if (mine.shape[d] > 1 && mine.strides[d] != theirs.strides[d])
            return false;
    return r->compiles || !r->e->lapack_lands || r->e->lapack_lands(r->address[to]);
}

/* ---- Parts of a call ---- */

static size_t bytes_of(const run *r, int k) {
    const temporary *t = &r->program->temporaries[k];
    size_t bytes = t->same || r->landed[k] ? 0 : (size_t)count_of(r, t) * dtypes[type_of(t->type, r->type)].size;
    return (bytes + SCRATCH_ALIGN - 1) / SCRATCH_ALIGN * SCRATCH_ALIGN;
}

/* Finds where the results of a part lie. The bytes of its scratch memory. */
static size_t results_find(run *r) {
    size_t bytes = 0;
    for (int k = 0; r->program->temporaries[k].type; k++) {
        r->landed[k] = lands(r, k);
        bytes += bytes_of(r, k);
    }
    return bytes;
}

static void temporaries_place(run *r, char *block) {
    for (int k = 0; r->program->temporaries[k].type; k++) {
        r->temporary[k] = r->landed[k] ? r->address[result_of(r, k)] : block;
        block += bytes_of(r, k);
    }
}

/* Halves the longest dimension until a part's arrays fit. The bytes that they take. */
static size_t part_choose(run *r) {
    size_t bytes;
    while ((bytes = results_find(r)) > r->e->lapack_most) {
        int longest = 0;
        for (int d = 1; d < r->ndim; d++)
            longest = r->extent[d] > r->extent[longest] ? d : longest;
        if (r->extent[longest] == 1)
            break;
        r->extent[longest] = (r->extent[longest] + 1) / 2;
    }
    return bytes;
}

/* Moves every operand by so many steps along dimension d. */
static void move(run *r, int d, int64_t steps) {
    for (int k = 0; k < r->l->loop->narrays; k++)
        if (r->address[k])
            r->address[k] += r->stride[d][k] * steps * dtypes[r->l->v->operand[k].memory].size;
}

/* Runs all parts of a call. whole: its extents; those of *r are a part's. */
static uf_status parts_run(run *r, const int64_t *whole, char *block) {
    int64_t at[UF_MAX_NDIM] = {0}, part[UF_MAX_NDIM];
    memcpy(part, r->extent, sizeof part);
    for (int d = 0; d >= 0;) {
        for (int i = 0; i < r->ndim; i++)
            r->extent[i] = whole[i] - at[i] < part[i] ? whole[i] - at[i] : part[i];
        results_find(r);
        temporaries_place(r, block);
        TRY(steps_run(r));
        for (d = r->ndim - 1; d >= 0; d--) {
            int64_t steps = at[d] + part[d] < whole[d] ? part[d] : -at[d];
            at[d] += steps;
            move(r, d, steps);
            if (steps > 0)
                break;
        }
    }
    return UF_OK;
}

/* Takes the loop dimensions over, outermost first, those along which the matrix moves before the others. */
static void run_begin(const uf_plan *p, const launch *l, run *r) {
    const nd_loop *loop = l->loop;
    const sizes z = sizes_of(l->layout, l->core);
    bool host = p->engine == ENGINE_CPU;
    *r = (run){.program = p->lapack,
               .e = engines[p->engine],
               .device = {host ? kDLCPU : kDLCUDA, host ? 0 : p->device},
               .l = l,
               .size = z,
               .type = (dtype)l->v->operand[0].value,
               .svd = svd_of(p, &z),
               .compiles = !l->data};
    for (int shared = 0; shared < 2; shared++) {
        for (int d = loop->ndim - 1; d >= 0; d--) {
            const int64_t *stride = loop->stride + (size_t)d * (size_t)loop->narrays;
            if (loop->extent[d] == 1 || (stride[0] == 0) != shared)
                continue;
            memcpy(r->stride[r->ndim], stride, (size_t)loop->narrays * sizeof *stride);
            r->extent[r->ndim++] = loop->extent[d];
        }
        r->nbatch = shared ? r->nbatch : r->ndim;
    }
    r->listed = r->nbatch > 0; /* dimensions of extent 1 were left out */
    for (int k = 0; k < loop->narrays && l->data; k++)
        r->address[k] = l->data[k];
}

static uf_status kernels_compile(const uf_plan *p) {
    const launch l = plan_launch(p, &p->pass[0]);
    run r;
    run_begin(p, &l, &r);
    part_choose(&r);
    return steps_run(&r);
}

uf_status lapack_launch(const uf_plan *p, const launch *l) {
    int64_t whole[UF_MAX_NDIM];
    void *block;
    run r;
    run_begin(p, l, &r);
    memcpy(whole, r.extent, sizeof whole);
    TRY(r.e->scratch(p->device, part_choose(&r), l->stream, &block));
    uf_status s = parts_run(&r, whole, block);
    r.e->scratch_free(p->device, block, l->stream);
    return s;
}
