"""special.py - functions of the catalogue that NumPy has not, SciPy's and activations among them, against formulas in long double: each
signature, on random, large, small and special numbers, within a stated error.

PROP_N=n makes n times as many calls. UF_TEST_GPU=1 makes them on the GPU as well.
"""
import os
import sys

import numpy as np

from elementwise import COUNT, any_values, signatures_of, units
from uf import BFLOAT16, Func, GPU, cast, computed_in, epsilon, near, random_view, run, widen

ROUNDS = int(os.environ.get("PROP_N", "1"))


# ---- Inputs ----


def numbers(rng, dtypes):
    """Of moderate size."""
    return [cast(rng.standard_normal(COUNT) * 4.0 ** rng.integers(-4, 4, COUNT), t) for t in dtypes]


def with_share(rng, dtypes):
    """Two numbers, and a third from -1 to 2 that is often 0 or 1."""
    share = np.where(rng.random(COUNT) < 0.5, rng.uniform(-1, 2, COUNT), rng.integers(0, 2, COUNT))
    return numbers(rng, dtypes[:2]) + [cast(share, dtypes[2])]


def with_edges(rng, dtypes):
    """Edges in order, and a number about them."""
    low = rng.integers(-8, 8, COUNT)
    return [cast(x, t) for x, t in zip((low, low + rng.integers(1, 8, COUNT), rng.uniform(-10, 18, COUNT)), dtypes)]


def shares(rng, dtypes):
    """Half of them between 0 and 1."""
    x = any_values(rng, dtypes)[0]
    return [np.where(rng.random(COUNT) < 0.5, cast(rng.random(COUNT), x.dtype), x)]


def small_numbers(rng, dtypes):
    """Whole ones, whose sums and products are exact in every dtype, and those that are none."""
    return [cast(rng.choice([-3.0, -2, -1, 0, 1, 2, 3, np.inf, -np.inf, np.nan], COUNT), t) for t in dtypes]


def not_infinite(rng, dtypes):
    x = any_values(rng, dtypes)[0]
    wide = widen(x)
    return [x if x.dtype.kind in "biu" else cast(np.where(np.isinf(wide.real) | np.isinf(wide.imag), 7, wide), x.dtype)]


# ---- The formulas, in long double ----


def is_close(x, y, relative, absolute):
    return (x == y) | (np.isfinite(y) & (np.abs(x - y) <= absolute + relative * np.abs(y)))


def at_minus_infinity(f):
    """f, and -0 of -infinity, where the formula has infinity times 0."""
    return lambda x: np.where(x == -np.inf, -0.0, f(x))


def unless_zero(f):
    """x f(y), and 0 where x is 0 and y a number."""
    return lambda x, y: np.where((x == 0) & ~np.isnan(y), 0, x * f(y))


def entr(x):
    return np.where(x == 0, 0, np.where(x < 0, -np.inf, -x * np.log(x)))


def huber(delta, r):
    size = np.abs(r)
    return np.where(delta < 0, np.inf, np.where(size <= delta, r * r / 2, delta * (size - delta / 2)))


def logit(x):
    return np.where((x > 0.25) & (x < 0.75), np.log1p(2 * x - 1) - np.log1p(1 - 2 * x), np.log(x / (1 - x)))


def rel_entr(x, y):
    close = np.abs(x - y) < y / 2
    terms = x * np.where(close, np.log1p((x - y) / np.where(close, y, 1)), np.log(x) - np.log(y))
    outside = np.where((x == 0) & (y >= 0), 0, np.inf)
    return np.where(np.isnan(x) | np.isnan(y), np.nan, np.where((x > 0) & (y > 0), terms, outside))


def smoothstep(low, high, x):
    t = np.clip((x - low) / (high - low), 0, 1)
    return t * t * (3 - 2 * t)


# ---- Their errors ----


def with_subnormals(args, want, one):
    """A factor exp(x) that is subnormal has an error of its own."""
    tiny = 2.0 ** -149 if one > 1e-10 else 2.0 ** -1074
    return 8 * one * np.abs(want) + tiny * np.minimum(np.abs(args[0]), 1e4)


def of_lerp(args, want, one):
    a, b, t = map(np.abs, args)
    return 4 * one * (a + b) * (1 + t)


def of_fma(args, want, one):
    """Rounded once; the formula in long double is rounded twice."""
    a, b, c = map(np.abs, args)
    return 2 * np.finfo(np.longdouble).eps * (a * b + c)


def of_logarithms(args, want, one):
    x, y = args
    return 8 * one * np.abs(x) * (np.abs(np.log(x)) + np.abs(np.log(y)))


TESTS = {
    "clip": (lambda x, low, high: np.minimum(np.maximum(x, low), high), units(0), any_values),
    "entr": (entr, units(8), any_values),
    "exp10": (lambda x: np.power(np.longdouble(10), x), units(4), any_values),
    "expit": (lambda x: 1 / (1 + np.exp(-x)), units(8), any_values),
    "fma": (lambda a, b, c: a * b + c, of_fma, any_values),
    "hardswish": (at_minus_infinity(lambda x: x * np.clip(x + 3, 0, 6) / 6), units(4), any_values),
    "huber": (huber, units(4), any_values),
    "isclose": (is_close, units(0), small_numbers),
    "leaky_relu": (lambda x, slope: np.where(x < 0, slope * x, x), units(1), any_values),
    "lerp": (lambda a, b, t: (1 - t) * a + t * b, of_lerp, with_share),
    "logit": (logit, units(8), shares),
    "mish": (at_minus_infinity(lambda x: x * np.tanh(np.log1p(np.exp(x)))), with_subnormals, any_values),
    "nan_to_num": (lambda x: np.where(np.isnan(x.real), 0, x.real) + 1j * np.where(np.isnan(x.imag), 0, x.imag)
                   if x.dtype.kind == "c" else np.where(np.isnan(x), 0, x), units(0), not_infinite),
    "rel_entr": (rel_entr, of_logarithms, any_values),
    "relu": (lambda x: np.where(x < 0, 0, x), units(0), any_values),
    "silu": (at_minus_infinity(lambda x: x / (1 + np.exp(-x))), with_subnormals, any_values),
    "smoothstep": (smoothstep, units(8), with_edges),
    "softplus": (lambda x: np.logaddexp(0, x), units(8), any_values),
    "where": (np.where, units(0), any_values),
    "xlog1py": (unless_zero(np.log1p), units(8), any_values),
    "xlogy": (unless_zero(np.log), units(8), any_values),
}


def check(rng, name, f, signature, device):
    formula, bound, inputs = TESTS[name]
    args, t = inputs(rng, signature[:-1]), signature[-1]
    out = random_view(rng, (COUNT,), t)
    f(*args, out, threads=int(rng.integers(0, 3)), device=device)
    out, wide = np.ascontiguousarray(out), [widen(x) for x in args]
    want = formula(*wide)
    if t.kind in "biu":
        assert np.array_equal(out, want), name
        return
    limit = bound(wide, want, epsilon(computed_in(t)))
    close = near(out, want, limit)
    if not np.all(close):
        k = np.argmin(close)
        raise AssertionError(f"{name}({', '.join(str(x[k]) for x in wide)}) of {t}: got {widen(out)[k]}, want {want[k]}, "
                             f"bound {limit[k]}")


def against_formula(name, device=None):
    def test(rng):
        f = Func.load(name)
        for signature in signatures_of(f):
            for _ in range(ROUNDS):
                check(rng, name, f, signature, device)
    test.__name__ = name + ("_on_the_gpu" if device else "")
    return test


def ends_of_lerp(rng):
    """Both ends, to the bit."""
    a, b = numbers(rng, [np.dtype("f4")] * 2)
    out = np.zeros(COUNT, np.float32)
    for t, want in ((0, a), (1, b)):
        Func.load("lerp")(a, b, np.full(COUNT, t, np.float32), out)
        assert np.array_equal(out, want)


def infinities_as_numpy(rng):
    x = np.array([np.inf, -np.inf, np.nan, 2, complex(np.inf, np.nan), complex(-1, -np.inf)])
    for t in ("f2", "f4", "f8", "c8", "c16"):
        y = (x if t[0] == "c" else x.real[:4]).astype(t)
        out = np.zeros_like(y)
        Func.load("nan_to_num")(y, out)
        assert np.array_equal(out, np.nan_to_num(y)), out
    bits, out = np.array([0x7F80, 0xFF80, 0x7FC0], np.uint16), np.ones(3, np.uint16)
    Func.load("nan_to_num")(bits.view(BFLOAT16), out.view(BFLOAT16))
    assert out.tolist() == [0x7F7F, 0xFF7F, 0]


def main():
    tests = [against_formula(name) for name in TESTS] + [ends_of_lerp, infinities_as_numpy]
    if os.environ.get("UF_TEST_GPU") == "1":
        tests += [against_formula(name, GPU) for name in TESTS]
    if sys.argv[1:]:
        tests = [t for t in tests if t.__name__ in sys.argv[1:]]
    return run(tests)


if __name__ == "__main__":
    import warnings
    warnings.simplefilter("ignore")
    sys.exit(main())
