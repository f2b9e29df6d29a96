"""accuracy.py - the errors of the catalogue's elementwise functions in units in the last place, against mpmath: float64 on random and
on hard arguments; float32 against the function itself in float64, whose own error is nothing beside that; and every float16 and
bfloat16. The bounds that docs/accuracy.md states are those of the table here. Special values are SciPy's, but for those that are
listed.

PROP_N=n takes n times as many arguments. UF_TEST_GPU=1 measures on the GPU as well. UF_REFERENCES=file has arguments and
mpmath's results ready, for machines without it; `accuracy.py references FILE COUNT` writes such a file.
"""
import os
import re
import sys

import numpy as np

from elementwise import signatures_of
from uf import BFLOAT16, Func, GPU, cast, run, widen

try:
    import mpmath as mp
    import scipy.special
except ImportError:
    mp = None

ROUNDS = int(os.environ.get("PROP_N", "1"))
F2, F4, F8 = np.dtype("f2"), np.dtype("f4"), np.dtype("f8")
PRECISION = 240  # bits of mpmath's numbers: what cancels in a reference formula leaves enough


# ---- The functions ----


class Row:
    """bounds: in ULP, of float32 and float64 on the CPU, and of both on the GPU. reference: in mpmath. ranges: what half of the arguments
    are drawn from, for each a range; hard: numbers that many are near to. widest: the magnitude that others go up to; 0: there are no
    others. domain: which arguments are taken. scale: errors are in units in the last place of this number where it is larger
    than the result. subnormal: of a result that is the argument times a factor, which may be subnormal, they are at least those of
    the argument times the least normal number. scipy: SciPy's function, whose special values these are."""

    def __init__(self, bounds, reference, *ranges, hard=(), widest=1e300, domain=None, scale=None, subnormal=False, outputs=1,
                 scipy=None):
        self.bounds, self.reference, self.ranges, self.hard = bounds, reference, ranges, hard
        self.widest, self.domain, self.scale, self.subnormal = widest, domain, scale, subnormal
        self.outputs, self.scipy = outputs, scipy

    def bound(self, t, gpu):
        return self.bounds[(2 if gpu else 0) + (t == F8)]

    def size(self, args, want, t):
        """The numbers in whose units in the last place errors are."""
        wide = [widen(x).astype(F8) for x in args]
        least = self.scale(*wide) if self.scale else np.abs(wide[0]) * np.finfo(t).tiny if self.subnormal else 0
        return np.maximum(np.abs(want), least)


# What errors are measured in where that is larger than the result, as docs/accuracy.md says it.


def between_zeros(x):
    """sqrt(2 / (pi x)), at most 1"""
    return np.minimum(1, np.sqrt(2 / (np.pi * np.maximum(np.abs(x), 1e-300))))


def one(*x):
    """1"""
    return np.ones_like(x[0])


def larger_and_one(x, y):
    """1 + the larger argument"""
    return 1 + np.maximum(np.abs(x), np.abs(y))


def below_zero(x):
    """below 0, 1 or log(1 - x)"""
    return np.where(x < 0, np.maximum(1, np.log1p(np.abs(x))), 0)


def prices(spot, strike, years, rate, volatility):
    """price and discounted strike"""
    return spot + strike * np.exp(-rate * years)


def ends(a, b, t):
    """(abs(a) + abs(b)) (1 + abs(t))"""
    return (np.abs(a) + np.abs(b)) * (1 + np.abs(t))


def logarithms(x, y):
    """x (abs(log x) + abs(log y))"""
    return x * (np.abs(np.log(x)) + np.abs(np.log(y)))


# mpmath's names for what the functions are, and formulas where it has none.


def clamp(x, low, high):
    return min(max(x, mp.mpf(low)), mp.mpf(high))


def mp_ndtr(x):
    return mp.erfc(-x / mp.sqrt(2)) / 2


def mp_sinc(x):
    return mp.sincpi(x)


def mp_erfinv(x):
    return mp.erfinv(x) if abs(x) < 1 else mp.inf * x


def mp_ndtri(p):
    """By Newton's method for the logarithm of the tail, which takes any p."""
    if p == 0 or p == 1:
        return mp.inf if p else -mp.inf
    tail, sign = (p, -1) if p < 0.5 else (1 - p, 1)
    z = mp.sqrt(-2 * mp.log(tail)) if tail < 0.1 else mp.mpf(1) / 2
    for _ in range(60):
        share = mp.erfc(z / mp.sqrt(2)) / 2
        step = (mp.log(share) - mp.log(tail)) * share / mp.npdf(z)
        z += step
        if abs(step) < mp.mpf(2) ** -150 * (1 + abs(z)):
            break
    return sign * z


def mp_kl_div(x, y):
    return x * mp.log(x / y) - x + y


def mp_boxcox(x, power):
    return mp.log(x) if power == 0 else mp.powm1(x, power) / power


def mp_softplus(x):
    return mp.log1p(mp.exp(x)) if x < 0 else x + mp.log1p(mp.exp(-x))


def mp_mish(x):
    return x * mp.tanh(mp_softplus(x))


def mp_logaddexp(x, y):
    return max(x, y) + mp.log1p(mp.exp(-abs(x - y)))


def mp_logaddexp2(x, y):
    return max(x, y) + mp.log1p(mp.mpf(2) ** -abs(x - y)) / mp.ln2


def mp_smoothstep(low, high, x):
    t = clamp((x - low) / (high - low), 0, 1)
    return t * t * (3 - 2 * t)


def mp_haversine(a, b, c, d):
    h = mp.sin((c - a) / 2) ** 2 + mp.cos(a) * mp.cos(c) * mp.sin((d - b) / 2) ** 2
    return 2 * mp.asin(mp.sqrt(min(h, 1)))


def mp_black_scholes(spot, strike, years, rate, volatility):
    spread, present = volatility * mp.sqrt(years), strike * mp.exp(-rate * years)
    d = mp.log(spot / present) / spread + spread / 2
    return spot * mp_ndtr(d) - present * mp_ndtr(d - spread), present * mp_ndtr(spread - d) - spot * mp_ndtr(-d)


def mp_huber(delta, r):
    return r * r / 2 if abs(r) <= delta else delta * (abs(r) - delta / 2)


def mp_srgb_to_linear(x):
    return x / mp.mpf("12.92") if x <= 0.04045 else ((x + mp.mpf("0.055")) / mp.mpf("1.055")) ** mp.mpf("2.4")


def mp_linear_to_srgb(x):
    return x * mp.mpf("12.92") if x <= 0.0031308 else mp.mpf("1.055") * x ** (1 / mp.mpf("2.4")) - mp.mpf("0.055")


def lazily(f):
    """A function of mpmath by its name, for machines without it."""
    return lambda *x: getattr(mp, f)(*x)


def positive(x):
    return x > 0


def up_to_one(x):
    return np.abs(x) <= 1


def share(x):
    return (x > 0) & (x < 1)


def shade(x):
    return (x >= 0) & (x <= 1)


def no_pole(x):
    return (x > 0) | (x != np.rint(x))


def first_positive(x, y):
    return x > 0


def both_positive(x, y):
    return (x > 0) & (y > 0)


UNIT, ALL = (-1, 1), (-1e3, 1e3)
TESTS = {
    "arccos": Row((4, 4, 4, 4), lazily("acos"), UNIT, hard=(1, -1, 0), widest=1, domain=up_to_one),
    "arccosh": Row((4, 4, 4, 4), lazily("acosh"), (1, 1e3), hard=(1,), domain=lambda x: x >= 1),
    "arcsin": Row((4, 4, 4, 4), lazily("asin"), UNIT, hard=(1, -1, 0.5), widest=1, domain=up_to_one),
    "arcsinh": Row((4, 4, 4, 4), lazily("asinh"), ALL),
    "arctan": Row((4, 4, 4, 4), lazily("atan"), (-10, 10), hard=(1, -1)),
    "arctan2": Row((4, 4, 4, 4), lazily("atan2"), (-5, 5), (-5, 5)),
    "arctanh": Row((4, 4, 4, 4), lazily("atanh"), UNIT, hard=(1, -1), widest=1, domain=up_to_one),
    "black_scholes": Row((8, 8, 8, 8), mp_black_scholes, (1, 200), (1, 200), (0.01, 5), (-0.05, 0.2), (0.05, 1),
                         widest=0, outputs=2, scale=prices),
    "boxcox": Row((8, 8, 8, 8), mp_boxcox, (1e-3, 1e3), (-4, 4), hard=(1,), widest=30, domain=first_positive,
                  scipy="boxcox"),
    "cbrt": Row((4, 4, 4, 4), lambda x: mp.sign(x) * mp.cbrt(abs(x)), ALL, scipy="cbrt"),
    "cos": Row((4, 4, 4, 4), lazily("cos"), (-10, 10), hard=(np.pi / 2, 3 * np.pi / 2, np.pi)),
    "cosh": Row((4, 4, 4, 4), lazily("cosh"), (-10, 10), hard=(710.4, 89.4), widest=1e3),
    "deg2rad": Row((2, 2, 2, 2), lazily("radians"), (-360, 360)),
    "digamma": Row((1, 6, 1, 6), lazily("digamma"), (-20, 20),
                   hard=(1.4616321449683623, -0.5040830082644554, 1, 2, 10, -1, -2), widest=1e15,
                   scale=below_zero, domain=no_pole,
                   scipy="digamma"),
    "entr": Row((8, 8, 8, 8), lambda x: -x * mp.log(x), (0, 10), hard=(1,), domain=positive, scipy="entr"),
    "erf": Row((4, 4, 4, 4), lazily("erf"), (-6, 6), hard=(0.84375, 1.25, 2.857, 6), scipy="erf"),
    "erfc": Row((4, 4, 5, 5), lazily("erfc"), (-6, 27), hard=(0.84375, 1.25, 2.857, 10, 26), widest=1e3,
                scipy="erfc"),
    "erfinv": Row((8, 8, 8, 8), mp_erfinv, UNIT, hard=(0, 0.85, 1, -1), widest=1, domain=up_to_one, scipy="erfinv"),
    "exp": Row((4, 4, 4, 4), lazily("exp"), (-20, 20), hard=(709.7, -708, -745, 88.7, -87, -103), widest=800),
    "exp10": Row((4, 4, 4, 4), lambda x: mp.mpf(10) ** x, (-20, 20), hard=(308.2, -307, -323, 38.5, -38), widest=400,
                 scipy="exp10"),
    "exp2": Row((4, 4, 4, 4), lambda x: mp.mpf(2) ** x, (-20, 20), hard=(1023.9, -1022, -1074, 127.9, -126),
                widest=1100, scipy="exp2"),
    "expit": Row((8, 8, 8, 8), lambda x: 1 / (1 + mp.exp(-x)), (-20, 20), hard=(-700,), widest=800, scipy="expit"),
    "expm1": Row((4, 4, 4, 4), lazily("expm1"), (-10, 10), hard=(709.7, 88.7), widest=800, scipy="expm1"),
    "gamma": Row((8, 10, 8, 10), lazily("gamma"), (-10, 35), hard=(1, 2, 171.6, 35, -1, -2), widest=180,
                 domain=no_pole, scipy="gamma"),
    # libdevice's float32 is off by up to 17.6 beside its poles: of all numbers from -12 to -0.001, 169 are above 8
    "gammaln": Row((8, 8, 18, 8), lazily("loggamma"), (-10, 35), hard=(1, 2, 3, -1, -2, -2.4570247382208006), widest=1e15,
                   scale=one, domain=no_pole, scipy="gammaln"),
    "gelu": Row((8, 8, 8, 8), lambda x: x * mp_ndtr(x), (-14, 10), hard=(-38,), widest=1e3, subnormal=True),
    "hardswish": Row((4, 4, 4, 4), lambda x: x * clamp(x + 3, 0, 6) / 6, (-5, 5), hard=(-3, 3)),
    "haversine": Row((8, 8, 8, 8), mp_haversine, (-1.5, 1.5), (-3.1, 3.1), (-1.5, 1.5), (-3.1, 3.1), widest=0,
                     scale=one),
    "huber": Row((4, 4, 4, 4), mp_huber, (0, 5), (-10, 10), widest=1e100, domain=lambda x, y: x >= 0, scipy="huber"),
    "hypot": Row((4, 4, 4, 4), lazily("hypot"), ALL, ALL),
    "i0": Row((10, 10, 10, 10), lambda x: mp.besseli(0, x), (-20, 90), hard=(8, -8, 713.9, 91.8), widest=720,
              scipy="i0"),
    "i1": Row((10, 10, 10, 10), lambda x: mp.besseli(1, x), (-20, 90), hard=(8, -8, 713.9, 91.8), widest=720,
              scipy="i1"),
    "j0": Row((8, 10, 8, 10), lambda x: mp.besselj(0, x), (-40, 40), hard=(2.404825557695773, 5.520078110286311),
              widest=1e6, scale=between_zeros, scipy="j0"),
    "j1": Row((8, 10, 8, 10), lambda x: mp.besselj(1, x), (-40, 40), hard=(3.831705970207512, 7.015586669815619),
              widest=1e6, scale=between_zeros, scipy="j1"),
    "kl_div": Row((16, 16, 16, 16), mp_kl_div, (0.01, 10), (0.01, 10), domain=both_positive, scipy="kl_div"),
    "lerp": Row((8, 8, 8, 8), lambda a, b, t: (1 - t) * a + t * b, (-5, 5), (-5, 5), (-1, 2), widest=0,
                scale=ends),
    "linear_to_srgb": Row((8, 8, 8, 8), mp_linear_to_srgb, (0, 1), hard=(0.0031308,), widest=1, domain=shade),
    "log": Row((4, 4, 4, 4), lazily("log"), (0, 10), hard=(1,), domain=positive),
    "log10": Row((4, 4, 4, 4), lazily("log10"), (0, 10), hard=(1,), domain=positive),
    "log1p": Row((4, 4, 4, 4), lazily("log1p"), (-1, 10), hard=(-1,), domain=lambda x: x > -1, scipy="log1p"),
    "log2": Row((4, 4, 4, 4), lambda x: mp.log(x) / mp.ln2, (0, 10), hard=(1,), domain=positive),
    "logaddexp": Row((4, 4, 4, 4), mp_logaddexp, (-20, 20), (-20, 20), scale=larger_and_one),
    "logaddexp2": Row((4, 4, 4, 4), mp_logaddexp2, (-20, 20), (-20, 20), scale=larger_and_one),
    "logit": Row((8, 8, 8, 8), lambda x: mp.log(x) - mp.log1p(-x), (0, 1), hard=(0.5, 1), widest=1, domain=share,
                 scipy="logit"),
    "mish": Row((8, 8, 8, 8), mp_mish, (-20, 20), widest=800, subnormal=True),
    "ndtr": Row((8, 8, 8, 8), mp_ndtr, (-14, 9), hard=(-37, 0), widest=1e3, scipy="ndtr"),
    "ndtri": Row((8, 8, 8, 8), mp_ndtri, (0, 1), hard=(0.5, 1, 0.075, 0.925), widest=1, domain=share, scipy="ndtri"),
    "power": Row((4, 4, 4, 4), lazily("power"), (0, 10), (-10, 10), hard=(1,), widest=100, domain=first_positive),
    "rad2deg": Row((2, 2, 2, 2), lazily("degrees"), (-7, 7)),
    "rel_entr": Row((8, 8, 8, 8), lambda x, y: x * (mp.log(x) - mp.log(y)), (0, 10), (0, 10), hard=(1,),
                    scale=logarithms, domain=both_positive,
                    scipy="rel_entr"),
    "silu": Row((8, 8, 8, 8), lambda x: x / (1 + mp.exp(-x)), (-20, 20), widest=800, subnormal=True),
    "sin": Row((4, 4, 4, 4), lazily("sin"), (-10, 10), hard=(np.pi, 2 * np.pi)),
    "sinc": Row((8, 8, 8, 8), mp_sinc, (-10, 10), hard=(1, -1, 2, 3, 0.5)),
    "sinh": Row((4, 4, 4, 4), lazily("sinh"), (-10, 10), hard=(710.4, 89.4), widest=1e3),
    "smoothstep": Row((8, 8, 8, 8), mp_smoothstep, (-3, 0), (0.1, 3), (-4, 4), widest=0),
    "softplus": Row((8, 8, 8, 8), mp_softplus, (-20, 20), widest=700),
    "srgb_to_linear": Row((8, 8, 8, 8), mp_srgb_to_linear, (0, 1), hard=(0.04045,), widest=1, domain=shade),
    "tan": Row((4, 4, 4, 4), lazily("tan"), (-10, 10), hard=(np.pi / 2, np.pi, 3 * np.pi / 2)),
    "tanh": Row((4, 4, 4, 4), lazily("tanh"), (-10, 10)),
    "xlog1py": Row((8, 8, 8, 8), lambda x, y: x * mp.log1p(y), (-10, 10), (-1, 10), hard=(-1,),
                   domain=lambda x, y: y > -1, scipy="xlog1py"),
    "xlogy": Row((8, 8, 8, 8), lambda x, y: x * mp.log(y), (-10, 10), (0, 10), hard=(1,), domain=lambda x, y: y > 0,
                 scipy="xlogy"),
    "y0": Row((8, 10, 8, 10), lambda x: mp.bessely(0, x), (0, 40), hard=(0.8935769662791675, 3.957678419314858),
              widest=1e6, scale=between_zeros, domain=positive, scipy="y0"),
    "y1": Row((8, 10, 8, 10), lambda x: mp.bessely(1, x), (0, 40), hard=(2.197141326031017, 5.429681040794135),
              widest=1e6, scale=between_zeros, domain=positive, scipy="y1"),
}


# ---- Arguments ----


def drawn(rng, row, low, high, count, t):
    """Half of them from the range; others of every size, or near the hard ones."""
    x, kind = rng.uniform(low, high, count), rng.random(count)
    if row.widest:
        sizes = 2.0 ** rng.uniform(-149 if t == F4 else -1040, np.log2(min(row.widest, np.finfo(t).max)), count)
        x = np.where(kind < 0.25, sizes * rng.choice([-1, 1], count), x)
    if row.hard:
        near = 2.0 ** rng.uniform(-23 if t == F4 else -52, -2, count)
        x = np.where(kind > 0.75, rng.choice(row.hard, count) + rng.choice([-1, 1], count) * near, x)
    return x


def arguments(rng, name, count, t):
    """Of `count` drawn ones those that are in the domain."""
    row = TESTS[name]
    args = [drawn(rng, row, low, high, count, t) for low, high in row.ranges]
    if len(args) == 2:  # near each other, too
        close = args[0] * (1 + rng.standard_normal(count) * 2.0 ** rng.uniform(-20, 0, count))
        args[1] = np.where(rng.random(count) < 0.15, close, args[1])
    args = [np.clip(x, -np.finfo(t).max, np.finfo(t).max).astype(t) for x in args]
    keep = row.domain(*args) if row.domain else np.ones(count, bool)
    return [x[keep] for x in args]


# ---- References: two float64 each, whose sum is mpmath's result to 106 bits ----


def split(value):
    value = mp.re(value)
    high = float(value)
    return high, float(value - high) if np.isfinite(high) else 0.0


def computed(name, args):
    row, results = TESTS[name], []
    with mp.workprec(PRECISION):
        for numbers in zip(*args):
            try:
                values = row.reference(*(mp.mpf(float(x)) for x in numbers))
            except (ValueError, ZeroDivisionError):  # at a pole
                values = (mp.nan,) * row.outputs
            results.append([split(v) for v in (values if row.outputs > 1 else (values,))])
    return np.array(results, np.float64).reshape(-1, row.outputs, 2)


FILE = np.load(os.environ["UF_REFERENCES"]) if "UF_REFERENCES" in os.environ else None


def references(rng, name, count):
    """float64 arguments and results [.., output, high and low]."""
    if FILE is not None:
        return list(FILE[name + ".args"]), FILE[name + ".results"]
    args = arguments(rng, name, count, F8)
    return args, computed(name, args)


# ---- Errors ----


DIGITS = {F2: (10, -24), BFLOAT16: (7, -133), F4: (23, -149), F8: (52, -1074)}  # behind the point, and the exponent of the least number
LARGEST = {F2: 16, BFLOAT16: 128, F4: 128, F8: 1024}


def unit_in_last_place(size, t):
    digits, least = DIGITS[t]
    usual = np.isfinite(size) & (size > 0)
    exponent = np.frexp(np.where(usual, size, 1))[1] - 1
    return np.exp2(np.where(usual, np.maximum(exponent - digits, least), least).astype(np.longdouble))


def distances(got, want, t):
    """Absolute, where an infinity is the number that the next one above the largest would be; infinite where one is NaN alone."""
    top = np.longdouble(2) ** LARGEST[t]
    got, want = widen(got).astype(np.longdouble), want.astype(np.longdouble)
    bounded = [np.where(np.isinf(x) | (np.abs(x) > top), np.sign(x) * top, x) for x in (got, want)]
    apart = np.abs(bounded[0] - bounded[1])
    return np.where(np.isnan(got) & np.isnan(want), 0, np.where(np.isnan(apart), np.inf, apart))


def called(name, args, t, device):
    outs = [np.zeros(len(args[0]), t) for _ in range(TESTS[name].outputs)]
    Func.load(name)(*args, *outs, device=device)
    return outs


def in_float64(name, args, device):
    return called(name, [widen(x).astype(F8) for x in args], F8, device)


def measured(rng, name, t, count, device):
    """The largest error in units in the last place, and what it is of. float64: against references. float32: against the float64 of
    the same engine."""
    row = TESTS[name]
    if t == F8:
        args, results = references(rng, name, count)
        wants = [results[:, k, 0].astype(np.longdouble) + results[:, k, 1] for k in range(row.outputs)]
    else:
        args = arguments(rng, name, count, t)
        wants = in_float64(name, args, device)
    outs = called(name, args, t, device)
    errors = [distances(got, want, t) / unit_in_last_place(row.size(args, want, t), t) for got, want in zip(outs, wants)]
    k = int(np.argmax(np.max(errors, axis=0)))
    return float(np.max(errors)), [x[k] for x in args], [out[k] for out in outs], [want[k] for want in wants]


def check(rng, name, device):
    for t, count in ((F8, 120 * ROUNDS), (F4, 20000 * ROUNDS)):
        error, args, got, want = measured(rng, name, t, count, device)
        bound = TESTS[name].bound(t, device is not None)
        assert error <= bound, f"{name}({', '.join(map(repr, args))}) of {t}: got {got}, want {want}: {error} ULP, bound {bound}"


HALF_EXP = 2.0**-17  # the relative error of exponentials on the GPU where results are halves
LAYOUTS = os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "layouts")


def half_error(name, device):
    """What functions whose text calls an exponential may lack for it, in units of their size."""
    with open(os.path.join(LAYOUTS, name + ".uf")) as text:
        return HALF_EXP if device is not None and re.search(r"\bexp(2|10)?\(", text.read()) else 0


def check_halves(rng, name, device):
    """Rounded once more after float32: all of them, of functions of several numbers some."""
    row = TESTS[name]
    for t in (F2, BFLOAT16):
        one = len(row.ranges) == 1
        args = [np.arange(1 << 16, dtype=np.uint16).view(t)] if one else [cast(x, t) for x in arguments(rng, name, 20000, F4)]
        with_results = zip(called(name, args, t, device), in_float64(name, args, device))
        usual = np.all([np.isfinite(widen(x)) for x in args], axis=0) & (row.domain(*map(widen, args)) if row.domain else True)
        for got, want in with_results:
            error = np.where(usual, distances(got, want, t), 0)
            size = row.size(args, want, F4)
            limit = 0.5 * unit_in_last_place(np.abs(want), t) + row.bound(F4, device is not None) * unit_in_last_place(size, F4)
            limit += half_error(name, device) * np.where(np.isfinite(size), np.abs(size), 0)
            k = int(np.argmax(error / limit))
            assert error[k] <= limit[k], f"{name}({[widen(x)[k] for x in args]}) of {t}: got {widen(got)[k]}, want {want[k]}"


# ---- Special values ----


SPECIAL = (0.0, -0.0, 1.0, -1.0, 2.0, -2.0, 0.5, -0.5, 2.5, -2.5, np.inf, -np.inf, np.nan)
INFINITE = (np.inf, -np.inf)
# Where SciPy has NaN, or forgets a sign: the limit, as C's functions have it.
OTHERWISE = {**{(name, x): 0 for name in ("j0", "j1") for x in INFINITE}, ("y0", np.inf): 0, ("y1", np.inf): 0, ("i0", np.inf): np.inf,
             ("i0", -np.inf): np.inf, ("i1", np.inf): np.inf, ("i1", -np.inf): -np.inf, ("gammaln", -np.inf): np.inf,
             ("erfinv", -0.0): -0.0}


def special_case(got, want):
    """Is it the same NaN, infinity or zero, or about the same number?"""
    if np.isnan(want) or np.isinf(want) or want == 0:
        return bool(np.isnan(want) and np.isnan(got) or got == want)
    return abs(got - want) <= 1e-5 * abs(want)


def special_values(rng):
    for name, row in TESTS.items():
        if not row.scipy:
            continue
        points = [np.array(x) for x in np.broadcast_arrays(*np.ix_(*[SPECIAL] * len(row.ranges)))]
        for t in (F4, F8):
            args = [x.reshape(-1).astype(t) for x in points]
            wants, (got,) = getattr(scipy.special, row.scipy)(*args), called(name, args, t, None)
            for k, want in enumerate(wants):
                x = tuple(float(a[k]) for a in args)
                want = OTHERWISE.get((name, *x), want)
                assert special_case(got[k], want), f"{name}{x} of {t}: got {got[k]}, SciPy has {want}"
    for name, x in [(name, x) for name in ("erf", "erfinv", "i1", "j1") for x in (0.0, -0.0)]:
        assert np.signbit(called(name, [np.array([x])], F8, None)[0][0]) == np.signbit(x), (name, x)


def sinc_as_numpy(rng):
    x = np.array([0.0, -0.0, 0.5, -2.5, np.nan, np.inf, -np.inf])
    assert np.allclose(called("sinc", [x], F8, None)[0], np.sinc(x), equal_nan=True)
    assert not np.any(called("sinc", [np.arange(1, 50.0)], F8, None)[0])  # exactly, unlike NumPy's


# ---- Tests ----


def against_mpmath(name, device=None):
    def test(rng):
        check(rng, name, device)
        if any(s[0] == F2 for s in signatures_of(Func.load(name))):
            check_halves(rng, name, device)
    test.__name__ = name + ("_on_the_gpu" if device else "")
    return test


def write_references(path, count):
    rng, arrays = np.random.default_rng(1), {}
    for name in TESTS:
        args, results = references(rng, name, count)
        arrays |= {name + ".args": np.array(args), name + ".results": results}
    np.savez_compressed(path, **arrays)


def main():
    if FILE is None and mp is None:
        print("no mpmath and SciPy here")
        return 77
    if sys.argv[1:2] == ["references"]:
        return write_references(sys.argv[2], int(sys.argv[3]))
    tests = [against_mpmath(name) for name in TESTS] + [sinc_as_numpy] + [special_values] * (mp is not None)
    if os.environ.get("UF_TEST_GPU") == "1":
        tests += [against_mpmath(name, GPU) for name in TESTS]
    if sys.argv[1:]:
        tests = [t for t in tests if t.__name__ in sys.argv[1:]]
    return run(tests)


if __name__ == "__main__":
    sys.exit(main())
