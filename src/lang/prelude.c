/* prelude.c - the functions that are written in kernel C, one text for both engines. The text of a row is parsed when a
 * kernel first names the row. docs/kernel-c.md states the accuracy; the source of each algorithm stands above it.
 * Within the prelude, a name that both tables have means the row of the math table: so a text can mend what the two
 * math libraries do differently. */
#include "lang/check.h"

/* A constant whose value depends on the type of x: `single` for float32, else `wide`. */
#define BY_TYPE(x, single, wide) "_Generic(" #x ", float32: " single ", default: " wide ")"
/* Where |x| is larger than this, exp(x / 2) is multiplied in twice: exp(x) may overflow although its product with a
 * sine does not. */
#define LARGE BY_TYPE(x, "80", "700")

/* clang-format off */

/* Philox 4x32-10: J. K. Salmon, M. A. Moraes, R. O. Dror, D. E. Shaw, Parallel Random Numbers: As Easy as 1, 2, 3,
 * 2011. Words 0 and 2 of the counter are a and c; words 1 and 3 are the low halves of q and p, the products of the last
 * round. The rounds are written out, without a loop, and which word is wanted decides at the end only, so that
 * neighbours can share the rounds. */
#define ROUND(old, new)                                                                                                  \
    "auto p" #new " = 0xD2511F53ul * a" #old ", q" #new " = 0xCD9E8D57ul * c" #old ";"                                   \
    "auto a" #new " = (uint32)(q" #new " >> 32) ^ (uint32)q" #old " ^ (s + 0x9E3779B9 * " #old ")"                       \
    ", c" #new " = (uint32)(p" #new " >> 32) ^ (uint32)p" #old " ^ (t + 0xBB67AE85 * " #old ");"
/* Block i >> shift of stream (seed, k). Its four words are a10, (uint32)q10, c10, (uint32)p10. */
#define PHILOX(shift)                                                                                                    \
    "auto n = i >> " #shift ", q0 = n >> 32, p0 = k >> 32;"                                                              \
    "auto a0 = (uint32)n, c0 = (uint32)k, s = (uint32)seed, t = (uint32)(seed >> 32);"                                   \
    ROUND(0, 1) ROUND(1, 2) ROUND(2, 3) ROUND(3, 4) ROUND(4, 5) ROUND(5, 6) ROUND(6, 7) ROUND(7, 8) ROUND(8, 9) ROUND(9, 10)
/* The sine, or cosine, of 2 pi t for -0.5 <= t < 0.5, computed as one sine of an angle of magnitude at most pi / 2. */
#define CIRCLE                                                                                                           \
    "circle(t, sine) {"                                                                                                  \
    "    auto size = fabs(t), quarter = sine ? (size > 0.25 ? copysign(0.5 - size, t) : t) : 0.25 - size;"               \
    "    return sin(2 * M_PI * quarter);"                                                                                \
    "}"

const prelude_row prelude_rows[] = {

/* ---- Real ---- */

{"min", 2, RULE_ARITHMETIC, "min(a, b) { return a < b || a != a ? a : b; }"},
{"max", 2, RULE_ARITHMETIC, "max(a, b) { return a > b || a != a ? a : b; }"},
{"fmin", 2, RULE_FLOATING, "fmin(a, b) { return a < b || b != b ? a : b; }"},
{"fmax", 2, RULE_FLOATING, "fmax(a, b) { return a > b || b != b ? a : b; }"},
{"rcp", 1, RULE_FLOATING, "rcp(x) { return 1 / x; }"},
{"fdim", 2, RULE_FLOATING, "fdim(a, b) { return a <= b ? 0 : a - b; }"},
{"abs", 1, RULE_ARITHMETIC, "abs(x) { return _Generic(x, floating: fabs(x), default: x < 0 ? -x : x); }"},
{"clamp", 3, RULE_ARITHMETIC, "clamp(x, low, high) { return min(max(x, low), high); }"},
{"sign", 1, RULE_ARITHMETIC, "sign(x) { return x > 0 ? 1 : x < 0 ? -1 : x; }"},
{"isnan", 1, RULE_INEXACT, "isnan(x) { return x != x; }"},
{"isinf", 1, RULE_INEXACT,
 "isinf(x) { return _Generic(x, complex: isinf(real(x)) || isinf(imag(x)), default: fabs(x) == INFINITY); }"},
{"isfinite", 1, RULE_INEXACT,
 "isfinite(x) { return _Generic(x, complex: isfinite(real(x)) && isfinite(imag(x)), default: fabs(x) < INFINITY); }"},
{"signbit", 1, RULE_FLOATING, "signbit(x) { return copysign(1, x) < 0; }"},
{"lrint", 1, RULE_FLOATING, "lrint(x) { return (int64)rint(x); }"},
{"llrint", 1, RULE_FLOATING, "llrint(x) { return (int64)rint(x); }"},
{"lround", 1, RULE_FLOATING, "lround(x) { return (int64)round(x); }"},
{"llround", 1, RULE_FLOATING, "llround(x) { return (int64)round(x); }"},
{"scalbln", 2, RULE_EXPONENT, "scalbln(x, n) { return scalbn(x, (int)clamp(n, -100000, 100000)); }"},
/* glibc 2.36 gives a result of zero the wrong sign where y is the smallest normal number; it must have the sign of
 * x. */
{"remainder", 2, RULE_FLOATING, "remainder(x, y) { auto r = remainder(x, y); return r == 0 ? copysign(r, x) : r; }"},
/* libdevice gives NaN for negative orders and, of jn, for arguments near 0; and both libraries count up or down to the
 * order, however large it is. So the order is made positive; jn takes the first term of its series where that is exact;
 * and from |J_n(x)| <= (x / 2)^n / n! <= (e / 4)^n for n >= 2 x it is known where the result underflows, or that of yn
 * overflows, and nothing is called. */
{"jn", 2, RULE_ORDER,
 "jn(n, x) {"
 "    auto order = abs(max(n, -2147483647));"
 "    auto size = fabs(x), value = x;"
 "    if (size < " BY_TYPE(x, "0x1p-12f", "0x1p-26") ") {"
 "        value = 1;"
 "        for (int k = 1; k <= order && value > 0; k++)"
 "            value *= 0.5 * size / k;"
 "    } else if (size == INFINITY || order > 2 * size + 2000) {"
 "        value = 0;"
 "    } else if (size < INFINITY) {"
 "        value = jn(order, size);"
 "    }"
 "    return (n & 1) && signbit(x) != (n < 0) ? -value : value;"
 "}"},
{"yn", 2, RULE_ORDER,
 "yn(n, x) {"
 "    auto order = abs(max(n, -2147483647));"
 "    auto value = x;"
 "    if (x < 0)"
 "        value = NAN;"
 "    else if (x == INFINITY)"
 "        value = 0;"
 "    else if (order > 2 * x + 2000)"
 "        value = -INFINITY;"
 "    else if (x < INFINITY)"
 "        value = yn(order, x);"
 "    return n < 0 && (n & 1) ? -value : value;"
 "}"},

/* In float64 whatever the type. Below 0 the reflection psi(1 - x) - pi / tan(pi x), then the recurrence psi(x + 1) = psi(x) + 1 / x
 * until the argument is in [1, 2], where the zero at 1.4616 is a factor of the approximation, by J. Maddock, or at least 10, where
 * the asymptotic series of psi(x) = psi(x - 1) + 1 / (x - 1) is short. */
{"digamma", 1, RULE_FLOATING,
 "digamma(x) {"
 "    auto result = x;"
 "    double y = x, sum = 0;"
 "    if (y < 0) {"
 "        double t = y - rint(y);"
 "        sum = t == 0 ? NAN : -M_PI / tan(M_PI * t);"
 "        y = 1 - y;"
 "    } else if (y < 1) {"
 "        sum = -1 / y;"
 "        y += 1;"
 "    }"
 "    if (y < 10) {"
 "        for (int k = 0; k < 8; k++)"
 "            if (y > 2) {"
 "                y -= 1;"
 "                sum += 1 / y;"
 "            }"
 "        double g = y - 1569415565. / 1073741824 - 381566830. / 1152921504606846976 - 0.9016312093258695919e-19, u = y - 1;"
 "        double p = ((((-0.0020713321167745952 * u - 0.045251321448739056) * u - 0.28919126444774784) * u"
 "                     - 0.65031853770896507) * u - 0.32555031186804491) * u + 0.25479851061131551;"
 "        double q = (((((-0.55789841321675513e-6 * u + 0.0021284987017821144) * u + 0.054151797245674225) * u"
 "                      + 0.43593529692665969) * u + 1.4606242909763515) * u + 2.0767117023730469) * u + 1;"
 "        sum += g * 0.99558162689208984 + g * (p / q);"
 "    } else {"
 "        double w = y - 1, z = 1 / (w * w);"
 "        double p = ((((((-3617. / 8160 * z + 1. / 12) * z - 691. / 32760) * z + 1. / 132) * z - 1. / 240) * z + 1. / 252) * z"
 "                    - 1. / 120) * z + 1. / 12;"
 "        sum += log(w) + 0.5 / w - z * p;"
 "    }"
 "    result = sum;"
 "    return result;"
 "}"},

/* ---- Random numbers ---- */

{"random_bits", 3, RULE_WORDS,
 "random_bits(seed, i, k) {"
 PHILOX(2)
 "    return i & 2 ? (i & 1 ? (uint32)p10 : c10) : (i & 1 ? (uint32)q10 : a10);"
 "}"},
{"random_uniformf", 3, RULE_WORDS,
 "random_uniformf(seed, i, k) {"
 PHILOX(2)
 "    auto word = i & 2 ? (i & 1 ? (uint32)p10 : c10) : (i & 1 ? (uint32)q10 : a10);"
 "    return (int)(word >> 8) * 0x1p-24f;"
 "}"},
{"random_uniform", 3, RULE_WORDS,
 "random_uniform(seed, i, k) {"
 PHILOX(1)
 "    auto high = i & 1 ? c10 : a10, low = (uint32)(i & 1 ? p10 : q10);"
 "    return ((double)(int)(high >> 5) * 0x1p26 + (int)(low >> 6)) * 0x1p-53;"
 "}"},
/* By G. E. P. Box and M. E. Muller, A Note on the Generation of Random Normal Deviates, 1958. */
{"random_normalf", 3, RULE_WORDS,
 "random_normalf(seed, i, k) {"
 PHILOX(2)
 "    auto first = i & 2 ? c10 : a10, second = (uint32)(i & 2 ? p10 : q10);"
 "    auto size = sqrt(-2 * log(1 - (int)(first >> 8) * 0x1p-24f));"
 "    return size * circle(((int)second >> 8) * 0x1p-24f, (i & 1) != 0);"
 "}"
 CIRCLE},
{"random_normal", 3, RULE_WORDS,
 "random_normal(seed, i, k) {"
 PHILOX(1)
 "    double u = ((double)(int)(a10 >> 5) * 0x1p26 + (int)((uint32)q10 >> 6)) * 0x1p-53;"
 "    double turn = ((double)((int)c10 >> 5) * 0x1p26 + (int)((uint32)p10 >> 6)) * 0x1p-53;"
 "    return sqrt(-2 * log(1 - u)) * circle(turn, (i & 1) != 0);"
 "}"
 CIRCLE},

/* ---- Complex arithmetic. Division is by R. L. Smith, Algorithm 116, 1962; division by a complex zero is as by a real
 * one. ---- */

{"complex_mul", 2, RULE_EXACT,
 "complex_mul(z, w) {"
 "    auto a = real(z), b = imag(z), c = real(w), d = imag(w);"
 "    return CMPLX(a * c - b * d, a * d + b * c);"
 "}"},
{"complex_mul_real", 2, RULE_EXACT, "complex_mul_real(z, c) { return CMPLX(real(z) * c, imag(z) * c); }"},
{"real_mul", 2, RULE_EXACT, "real_mul(a, w) { return CMPLX(a * real(w), a * imag(w)); }"},
{"complex_div", 2, RULE_EXACT,
 "complex_div(z, w) {"
 "    auto a = real(z), b = imag(z), c = real(w), d = imag(w);"
 "    if (fabs(c) >= fabs(d)) {"
 "        if (c == 0)"
 "            return CMPLX(a / c, b / c);"
 "        auto r = d / c, n = c + d * r;"
 "        return CMPLX((a + b * r) / n, (b - a * r) / n);"
 "    }"
 "    auto r = c / d, n = c * r + d;"
 "    return CMPLX((a * r + b) / n, (b * r - a) / n);"
 "}"},
{"complex_div_real", 2, RULE_EXACT, "complex_div_real(z, c) { return CMPLX(real(z) / c, imag(z) / c); }"},

{"cabs", 1, RULE_COMPLEX, "cabs(z) { return hypot(real(z), imag(z)); }"},
{"cfabs", 1, RULE_COMPLEX, "cfabs(z) { return hypot(real(z), imag(z)); }"},
{"carg", 1, RULE_COMPLEX, "carg(z) { return atan2(imag(z), real(z)); }"},
{"conj", 1, RULE_COMPLEX, "conj(z) { return CMPLX(real(z), -imag(z)); }"},
{"cproj", 1, RULE_COMPLEX, "cproj(z) { return isinf(z) ? CMPLX(INFINITY, copysign(0, imag(z))) : z; }"},

/* ---- Exponential, logarithm, power, root ---- */

{"cexp", 1, RULE_COMPLEX,
 "cexp(z) {"
 "    auto x = real(z), y = imag(z);"
 "    if (y == 0)"
 "        return CMPLX(exp(x), y);"
 "    if (isinf(x) && !isfinite(y))"
 "        return x < 0 ? CMPLX(0, 0) : CMPLX(x, NAN);"
 "    auto c = cos(y), s = sin(y);"
 "    if (fabs(x) > " LARGE ") {"
 "        auto e = exp(0.5 * x);"
 "        return CMPLX(e * c * e, e * s * e);"
 "    }"
 "    auto e = exp(x);"
 "    return CMPLX(e * c, e * s);"
 "}"},
/* Near the unit circle, |z|^2 - 1 is computed in twice the precision: products are split by fma, sums by Knuth's
 * two-sum. */
{"clog", 1, RULE_COMPLEX,
 "clog(z) {"
 "    auto x = fabs(real(z)), y = fabs(imag(z)), h = hypot(x, y), arg = atan2(imag(z), real(z));"
 "    auto tiny = " BY_TYPE(x, "0x1p-100f", "0x1p-960") ", up = " BY_TYPE(x, "0x1p60f", "0x1p120") ";"
 "    if (isinf(h) && x < INFINITY && y < INFINITY)"
 "        return CMPLX(log(hypot(0.5 * x, 0.5 * y)) + M_LN2, arg);"
 "    if (h < tiny && h > 0)"
 "        return CMPLX(log(hypot(up * x, up * y)) - log(up), arg);"
 "    if (!(h > 0.7 && h < 1.5))"
 "        return CMPLX(log(h), arg);"
 "    auto p = x * x, q = y * y, e = fma(x, x, -p) + fma(y, y, -q);"
 "    if (p < q) {"
 "        auto swap = p;"
 "        p = q;"
 "        q = swap;"
 "    }"
 "    auto t = p - 1, part = t - p;"
 "    e += (p - (t - part)) + (-1 - part);"
 "    auto u = t + q;"
 "    part = u - t;"
 "    e += (t - (u - part)) + (q - part);"
 "    return CMPLX(0.5 * log1p(u + e), arg);"
 "}"},
/* W. Kahan, Branch Cuts for Complex Elementary Functions, 1987, as in FreeBSD's s_csqrt.c. Very large and very small
 * arguments are scaled. */
{"csqrt", 1, RULE_COMPLEX,
 "csqrt(z) {"
 "    auto a = real(z), b = imag(z), size = fmax(fabs(a), fabs(b));"
 "    if (a == 0 && b == 0)"
 "        return CMPLX(0, b);"
 "    if (isinf(b))"
 "        return CMPLX(fabs(b), b);"
 "    if (isnan(a))"
 "        return CMPLX(a, a);"
 "    if (isinf(a))"
 "        return a < 0 ? CMPLX(fabs(b - b), copysign(a, b)) : CMPLX(a, copysign(b - b, b));"
 "    auto huge = " BY_TYPE(a, "0x1p125f", "0x1p1021") ", tiny = " BY_TYPE(a, "0x1p-100f", "0x1p-960") ";"
 "    auto up = " BY_TYPE(a, "0x1p60f", "0x1p120") ", down = " BY_TYPE(a, "0x1p-30f", "0x1p-60") ";"
 "    typeof(a) scale = 1;"
 "    if (size > huge) {"
 "        a *= 0.25;"
 "        b *= 0.25;"
 "        scale = 2;"
 "    } else if (size < tiny) {"
 "        a *= up;"
 "        b *= up;"
 "        scale = down;"
 "    }"
 "    auto t = sqrt(0.5 * (fabs(a) + hypot(a, b)));"
 "    if (a >= 0)"
 "        return CMPLX(scale * t, scale * (b / (2 * t)));"
 "    return CMPLX(scale * (fabs(b) / (2 * t)), copysign(scale * t, b));"
 "}"},
/* z^n by squaring, 0 < |n| <= 100, z finite and not 0, where what comes in between would overflow or underflow: numbers are kept as
 * x * 2^e with parts of x of about 1. */
{"complex_power_scaled", 2, RULE_EXACT,
 "complex_power_scaled(z, n) {"
 "    typeof(z) power = 1, square = z;"
 "    int e = 0, s = 0;"
 "    for (int k = abs(n); k > 0; k >>= 1) {"
 "        int shift = ilogb(fmax(fabs(real(square)), fabs(imag(square))));"
 "        square = CMPLX(ldexp(real(square), -shift), ldexp(imag(square), -shift));"
 "        s += shift;"
 "        if (k & 1) {"
 "            power *= square;"
 "            shift = ilogb(fmax(fabs(real(power)), fabs(imag(power))));"
 "            power = CMPLX(ldexp(real(power), -shift), ldexp(imag(power), -shift));"
 "            e += s + shift;"
 "        }"
 "        square *= square;"
 "        s *= 2;"
 "    }"
 "    if (n < 0) {"
 "        power = 1 / power;"
 "        e = -e;"
 "    }"
 "    return CMPLX(ldexp(real(power), e), ldexp(imag(power), e));"
 "}"},
/* w log z may overflow in parts although its real part is so far below 0 that the power is 0. */
{"complex_power_by_log", 2, RULE_EXACT,
 "complex_power_by_log(z, w) {"
 "    auto t = w * log(z);"
 "    if (isfinite(t) || !isfinite(z) || !isfinite(w))"
 "        return exp(t);"
 "    auto part = CMPLX(0x1p-20 * real(w), 0x1p-20 * imag(w)) * log(z);"
 "    return real(part) < -1 ? CMPLX(0, 0) : exp(CMPLX(0x1p20 * real(part), 0x1p20 * imag(part)));"
 "}"},
/* Small integer powers by squaring; all others as exp(w log z), whose relative error grows with |w log z|. */
{"cpow", 2, RULE_COMPLEX,
 "cpow(z, w) {"
 "    auto n = real(w);"
 "    typeof(z) power = 1, square = z;"
 "    if (w == 0)"
 "        return power;"
 "    if (z == 0)"
 "        return n > 0 ? CMPLX(0, 0) : CMPLX(NAN, NAN);"
 "    if (!(imag(w) == 0 && n == trunc(n) && fabs(n) <= 100))"
 "        return complex_power_by_log(z, w);"
 "    bool first = true;"
 "    for (int k = (int)fabs(n); k > 0; k >>= 1) {"
 "        if (k & 1)"
 "            power = first ? square : power * square;"
 "        first = first && !(k & 1);"
 "        square *= square;"
 "    }"
 "    auto size = fmax(fabs(real(power)), fabs(imag(power)));"
 "    auto least = " BY_TYPE(n, "0x1p-120f", "0x1p-1000") ", largest = " BY_TYPE(n, "0x1p120f", "0x1p1000") ";"
 "    bool direct = n < 0 ? size > least && size < largest : isfinite(power);"
 "    if (!direct && isfinite(z))"
 "        return complex_power_scaled(z, (int)n);"
 "    return n < 0 ? 1 / power : power;"
 "}"},

/* ---- Hyperbolic and circular functions. ctanh: Kahan 1987, as in FreeBSD's s_ctanh.c. ---- */

{"csinh", 1, RULE_COMPLEX,
 "csinh(z) {"
 "    auto x = real(z), y = imag(z);"
 "    if (y == 0)"
 "        return CMPLX(sinh(x), y);"
 "    if (!isfinite(y))"
 "        return CMPLX(x == 0 || isinf(x) ? x : NAN, NAN);"
 "    auto c = cos(y), s = sin(y);"
 "    if (fabs(x) > " LARGE ") {"
 "        auto e = exp(0.5 * fabs(x));"
 "        return CMPLX(copysign(0.5 * e, x) * c * e, 0.5 * e * s * e);"
 "    }"
 "    return CMPLX(sinh(x) * c, cosh(x) * s);"
 "}"},
{"ccosh", 1, RULE_COMPLEX,
 "ccosh(z) {"
 "    auto x = real(z), y = imag(z);"
 "    if (y == 0)"
 "        return CMPLX(cosh(x), copysign(0, x) * y);"
 "    if (!isfinite(y))"
 "        return CMPLX(isinf(x) ? INFINITY : NAN, x == 0 ? 0 : NAN);"
 "    auto c = cos(y), s = sin(y);"
 "    if (fabs(x) > " LARGE ") {"
 "        auto e = exp(0.5 * fabs(x));"
 "        return CMPLX(0.5 * e * c * e, copysign(0.5 * e, x) * s * e);"
 "    }"
 "    return CMPLX(cosh(x) * c, sinh(x) * s);"
 "}"},
{"ctanh", 1, RULE_COMPLEX,
 "ctanh(z) {"
 "    auto x = real(z), y = imag(z);"
 "    if (isnan(x))"
 "        return CMPLX(x, y == 0 ? y : x);"
 "    if (isinf(x))"
 "        return CMPLX(copysign(1, x), copysign(0, isfinite(y) ? sin(y) * cos(y) : y));"
 "    if (!isfinite(y))"
 "        return CMPLX(x == 0 ? x : NAN, NAN);"
 "    if (fabs(x) > " BY_TYPE(x, "11", "22") ") {"
 "        auto e = exp(-fabs(x));"
 "        return CMPLX(copysign(1, x), 4 * sin(y) * cos(y) * e * e);"
 "    }"
 "    auto t = tan(y), beta = 1 + t * t, s = sinh(x), rho = sqrt(1 + s * s), n = 1 + beta * s * s;"
 "    return CMPLX(beta * rho * s / n, t / n);"
 "}"},
{"csin", 1, RULE_COMPLEX, "csin(z) { auto w = csinh(CMPLX(-imag(z), real(z))); return CMPLX(imag(w), -real(w)); }"},
{"ccos", 1, RULE_COMPLEX, "ccos(z) { return ccosh(CMPLX(-imag(z), real(z))); }"},
{"ctan", 1, RULE_COMPLEX, "ctan(z) { auto w = ctanh(CMPLX(-imag(z), real(z))); return CMPLX(imag(w), -real(w)); }"},

/* ---- Inverse functions: T. E. Hull, T. F. Fairgrieve and P. T. P. Tang, Implementing the Complex Arcsine and
 * Arccosine
 *     Functions Using Exception Handling, 1997. x and y are the magnitudes of the parts. ----  */

{"arc_quadrant", 3, RULE_EXACT,
 "arc_quadrant(x, y, cosine) {"
 "    auto safe_max = " BY_TYPE(x, "0x1p61f", "0x1p509") ", safe_min = " BY_TYPE(x, "0x1p-61f", "0x1p-509") ";"
 "    auto epsilon = " BY_TYPE(x, "0x1p-23f", "0x1p-52") ", above = x + 1, below = x - 1;"
 "    if (x < safe_max && x > safe_min && y < safe_max && y > safe_min) {"
 "        auto yy = y * y, r = sqrt(above * above + yy), s = sqrt(below * below + yy);"
 "        auto a = 0.5 * (r + s), b = x / a, re = a, im = a;"
 "        if (b <= 0.6417) {"
 "            re = cosine ? acos(b) : asin(b);"
 "        } else {"
 "            auto t = x <= 1 ? sqrt(0.5 * (a + x) * (yy / (r + above) + (s - below)))"
 "                            : y * sqrt(0.5 * ((a + x) / (r + above) + (a + x) / (s + below)));"
 "            re = cosine ? atan(t / x) : atan(x / t);"
 "        }"
 "        if (a <= 10) {"
 "            auto m = 0.5 * (yy / (r + above) + (x < 1 ? yy / (s - below) : s + below));"
 "            im = log1p(m + sqrt(m * (a + 1)));"
 "        } else {"
 "            im = log(a + sqrt(a * a - 1));"
 "        }"
 "        return CMPLX(re, im);"
 "    }"
 "    auto slope = cosine ? atan2(y, x) : atan2(x, y);"
 "    if (isinf(x) || isinf(y))"
 "        return CMPLX(slope, INFINITY);"
 "    if (y <= epsilon * fabs(below)) {"
 "        if (x < 1)"
 "            return CMPLX(cosine ? acos(x) : asin(x), y / sqrt(-above * below));"
 "        auto root = x < safe_max ? sqrt(above) * sqrt(below) : x;"
 "        return CMPLX(!cosine ? M_PI_2 : y == 0 ? 0 : y / root, x < safe_max ? log1p(below + root) : M_LN2 + log(x));"
 "    }"
 "    if (y <= safe_min)"
 "        return CMPLX(cosine ? sqrt(y) : M_PI_2 - sqrt(y), sqrt(y));"
 "    if (epsilon * y - 1 >= x)"
 "        return CMPLX(cosine ? M_PI_2 : x / y, M_LN2 + log(y));"
 "    if (x > 1)"
 "        return CMPLX(slope, M_LN2 + log(y) + 0.5 * log1p((x / y) * (x / y)));"
 "    auto a = sqrt(1 + y * y);"
 "    return CMPLX(cosine ? M_PI_2 : x / a, 0.5 * log1p(2 * y * (y + a)));"
 "}"},
{"casin", 1, RULE_COMPLEX,
 "casin(z) {"
 "    auto x = real(z), y = imag(z);"
 "    if (isnan(x) || isnan(y))"
 "        return CMPLX(x == 0 ? x : NAN, isinf(x) ? INFINITY : isinf(y) ? y : NAN);"
 "    auto w = arc_quadrant(fabs(x), fabs(y), false);"
 "    return CMPLX(copysign(real(w), x), copysign(imag(w), y));"
 "}"},
{"cacos", 1, RULE_COMPLEX,
 "cacos(z) {"
 "    auto x = real(z), y = imag(z);"
 "    if (isnan(x) || isnan(y))"
 "        return CMPLX(x == 0 ? M_PI_2 : NAN, isinf(x) ? -INFINITY : isinf(y) ? -y : NAN);"
 "    auto w = arc_quadrant(fabs(x), fabs(y), true);"
 "    return CMPLX(x < 0 ? M_PI - real(w) : real(w), signbit(y) ? imag(w) : -imag(w));"
 "}"},
{"casinh", 1, RULE_COMPLEX, "casinh(z) { auto w = casin(CMPLX(imag(z), real(z))); return CMPLX(imag(w), real(w)); }"},
{"cacosh", 1, RULE_COMPLEX,
 "cacosh(z) {"
 "    auto w = cacos(z);"
 "    auto x = real(w), y = imag(w);"
 "    if (isnan(x) && isnan(y))"
 "        return CMPLX(x, x);"
 "    if (isnan(y))"
 "        return CMPLX(y, imag(z) == 0 ? x : y);"
 "    return CMPLX(fabs(y), copysign(x, imag(z)));"
 "}"},
/* As in FreeBSD's catrig.c. */
{"catanh", 1, RULE_COMPLEX,
 "catanh(z) {"
 "    auto x = fabs(real(z)), y = fabs(imag(z)), epsilon = " BY_TYPE(x, "0x1p-23f", "0x1p-52") ";"
 "    auto small = " BY_TYPE(x, "0x1p-63f", "0x1p-511") ", cube = " BY_TYPE(x, "0x1p-13f", "0x1p-27") ";"
 "    if (y == 0 && x <= 1)"
 "        return CMPLX(atanh(real(z)), imag(z));"
 "    if (x == 0)"
 "        return CMPLX(real(z), atan(imag(z)));"
 "    if (isinf(x) || isinf(y) || ((x > 1 / epsilon || y > 1 / epsilon) && !isnan(x) && !isnan(y))) {"
 "        auto big = fmax(x, y), other = fmin(x, y);"
 "        auto re = isinf(big) ? 0 : (x >= y ? 0.5 : 0.5 * (x / y)) / (0.5 * big + 0.5 * other * (other / big));"
 "        return CMPLX(copysign(re, real(z)), isnan(y) ? y : copysign(M_PI_2, imag(z)));"
 "    }"
 "    if (isnan(x) || isnan(y))"
 "        return CMPLX(NAN, NAN);"
 "    if (x < cube && y < cube)"
 "        return z;"
 "    auto d = x - 1, square = y < small ? d * d : d * d + y * y;"
 "    auto re = x == 1 && y < epsilon ? 0.5 * (M_LN2 - log(y)) : 0.25 * log1p(4 * x / square);"
 "    auto im = x == 1 ? atan2(2, -y) : atan2(2 * y, (1 - x) * (1 + x) - (y < epsilon ? 0 : y * y));"
 "    return CMPLX(copysign(re, real(z)), copysign(0.5 * im, imag(z)));"
 "}"},
{"catan", 1, RULE_COMPLEX, "catan(z) { auto w = catanh(CMPLX(imag(z), real(z))); return CMPLX(imag(w), real(w)); }"},
};
/* clang-format on */
const int prelude_row_count = COUNT(prelude_rows);
