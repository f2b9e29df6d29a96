"""elementwise.py - NumPy's binary ufuncs in the catalogue against NumPy: the dtypes of the results for all pairs of dtypes, and the
values for some signatures, on random, large, small and special numbers. What rounds once is equal to the bit; of other functions
the error is bounded, against NumPy in long double.

PROP_N=n makes n times as many calls, and takes n times as many signatures. UF_TEST_GPU=1 makes them on the GPU as well.
"""
import os
import re
import sys

import numpy as np

from uf import (BFLOAT16, DTYPES, Failure, Func, GPU, cast, computed_in, dtype_of, epsilon, near, random_values, random_view, run,
                same, widen)

ROUNDS = int(os.environ.get("PROP_N", "1"))
COUNT = 3000


# ---- Inputs ----


def special(t):
    """Numbers where functions have their edges."""
    if t.kind == "b":
        return [False, True]
    if t.kind in "iu":
        low, high = np.iinfo(t).min, np.iinfo(t).max
        width = 8 * t.itemsize
        return [v for v in (0, 1, 2, 3, 7, width - 1, width, -1, -2, -7, low, low + 1, high, high - 1) if low <= v <= high]
    info = np.finfo(computed_in(t) if t == BFLOAT16 else t)
    real = [0, -0.0, 0.5, 1, -1, 2, 3, -7.5, np.inf, -np.inf, np.nan, info.max, -info.max, info.tiny, 2 * info.tiny,
            -info.smallest_subnormal, info.smallest_subnormal, 1 + info.eps]
    return [complex(a, b) for a in real[:10] + [np.nan] for b in real[:5] + [np.nan]] if t.kind == "c" else real


def values(rng, count, t):
    """Half of them special ones, in some places equal ones."""
    if t == BFLOAT16:
        return cast(values(rng, count, np.dtype("f4")), t)
    x = random_values(rng, count, t)
    if t.kind in "iu":
        small = rng.integers(0 if t.kind == "u" else -20, 21, count).astype(t)
        x = np.where(rng.random(count) < 0.5, small, x)
    which = rng.random(count) < 0.4
    x[which] = rng.choice(np.array(special(t)).astype(t), np.count_nonzero(which))
    return x


def any_values(rng, dtypes):
    x, y = (values(rng, COUNT, t) for t in dtypes)
    if dtypes[0] == dtypes[1]:
        equal = rng.random(COUNT) < 0.1
        y[equal] = x[equal]
    return x, y


def finite(rng, dtypes):
    """Not so large that products overflow."""
    return tuple(cast(np.where(np.abs(z) < 1e4, z, 1), t) if t.kind == "c" else x
                 for x, t in zip(any_values(rng, dtypes), dtypes) for z in [widen(x)])


def for_power(rng, dtypes):
    """Integers: exponents that are not negative. Complex: of moderate size, and off the axes' special cases."""
    x, y = any_values(rng, dtypes)
    if dtypes[0].kind == "i":
        y = np.where(y < 0, ~y, y)
    if dtypes[0].kind == "c":
        z, w = (rng.standard_normal(COUNT) + 1j * rng.standard_normal(COUNT) for _ in range(2))
        return z.astype(dtypes[0]), (3 * w).astype(dtypes[1])
    return x, y


def for_multiples(rng, dtypes):
    """Integers whose least common multiple fits."""
    most = min(np.iinfo(dtypes[0]).max, 2 ** 31)
    high = int(np.sqrt(most))
    low = -high if dtypes[0].kind == "i" else 0
    return tuple(rng.integers(low, high + 1, COUNT).astype(t) for t in dtypes)


def with_exponents(rng, dtypes):
    return values(rng, COUNT, dtypes[0]), np.where(rng.random(COUNT) < 0.9, rng.integers(-50, 50, COUNT),
                                                   values(rng, COUNT, dtypes[1])).astype(dtypes[1])


# ---- What they must be ----


def units(n):
    """Error in units in the last place, of a complex number in its magnitude."""
    return lambda x, y, want, one: n * one * np.abs(want)


def of_terms(x, y, want, one):
    return 4 * one * (1 + np.maximum(np.abs(x), np.abs(y)))


def of_product(x, y, want, one):
    return 2 * one * np.abs(x) * np.abs(y)


def of_power(x, y, want, one):
    return one * np.abs(want) * 16 * (1 + np.abs(y * np.log(x))) if np.iscomplexobj(want) else 4 * one * np.abs(want)


def row(f, bound=None, inputs=any_values, complex_bound=None):
    """bound: None where every result is rounded once."""
    return f, bound, complex_bound or bound, inputs


TESTS = {
    "add": row(np.add),
    "arctan2": row(np.arctan2, units(4)),
    "bitwise_and": row(np.bitwise_and),
    "bitwise_or": row(np.bitwise_or),
    "bitwise_xor": row(np.bitwise_xor),
    "copysign": row(np.copysign),
    "divide": row(np.divide, None, finite, units(8)),
    "equal": row(np.equal),
    "float_power": row(np.float_power, of_power, for_power),
    "floor_divide": row(np.floor_divide),
    "fmax": row(np.fmax),
    "fmin": row(np.fmin),
    "fmod": row(np.fmod),
    "gcd": row(np.gcd),
    "greater": row(np.greater),
    "greater_equal": row(np.greater_equal),
    "heaviside": row(np.heaviside),
    "hypot": row(np.hypot, units(4)),
    "lcm": row(np.lcm, None, for_multiples),
    "ldexp": row(np.ldexp, None, with_exponents),
    "left_shift": row(np.left_shift),
    "less": row(np.less),
    "less_equal": row(np.less_equal),
    "logaddexp": row(np.logaddexp, of_terms),
    "logaddexp2": row(np.logaddexp2, of_terms),
    "logical_and": row(np.logical_and),
    "logical_or": row(np.logical_or),
    "logical_xor": row(np.logical_xor),
    "maximum": row(np.maximum),
    "minimum": row(np.minimum),
    "multiply": row(np.multiply, None, finite, of_product),
    "nextafter": row(np.nextafter),
    "not_equal": row(np.not_equal),
    "power": row(np.power, of_power, for_power),
    "remainder": row(np.remainder),
    "right_shift": row(np.right_shift),
    "subtract": row(np.subtract),
}
OPEN_ZEROS = ("fmax", "fmin", "maximum", "minimum", "nextafter")  # which zero they give differs among NumPys


def signatures_of(f):
    return [[dtype_of(t) for t in re.split(",|->", s)] for s in f.describe().signatures.decode().split("; ")]


def narrow(x):
    """bfloat16 as float32."""
    return widen(x).astype(np.float32) if x.dtype == BFLOAT16 else x


def next_bfloat16(x, y):
    """nextafter of two bfloat16, by the order of their bits."""
    bits = x.view(np.int16).astype(np.int32)
    a, b = widen(x), widen(y)
    up = np.where(a == 0, 0, np.where((a < b) == (a > 0), bits + 1, bits - 1))
    up = np.where(a == 0, np.where(np.signbit(b), -0x8000, 0) + 1, up)
    result = np.where(a == b, bits, up).astype(np.int16).view(BFLOAT16)
    return np.where(np.isnan(a) | np.isnan(b), cast(np.float32(np.nan), BFLOAT16), result)


def expected(name, x, y):
    """NumPy's result in the dtype of the signature."""
    if name == "nextafter" and x.dtype == BFLOAT16:
        return next_bfloat16(x, y)
    return TESTS[name][0](narrow(x), narrow(y))


def check_exact(name, x, y, got):
    want = expected(name, x, y)
    want = cast(want, got.dtype) if got.dtype == BFLOAT16 != want.dtype else want
    assert want.dtype == got.dtype, f"dtype {got.dtype}, NumPy's is {want.dtype}"
    numbers = (got, want) if got.dtype != BFLOAT16 else (narrow(got), narrow(want))
    if name in OPEN_ZEROS and got.dtype.kind in "fcV":
        numbers = tuple(n + n.dtype.type(0) for n in numbers)
    if not same(*numbers):
        k = next(k for k in range(got.size) if not same(*(n[k:k + 1] for n in numbers)))
        raise AssertionError(f"{name}({widen(x)[k]}, {widen(y)[k]}) of {x.dtype}: got {widen(got)[k]}, want {widen(want)[k]}")


def check_near(name, x, y, got, bound):
    t = got.dtype
    wide = widen(x), widen(y)
    if t.kind == "c" and name != "multiply":  # long double complex functions of C libraries differ in what they give
        wide = tuple(z.astype(np.complex128) if t == np.complex64 else z for z in wide)
    want = TESTS[name][0](*wide)
    limit = bound(*wide, want, epsilon(computed_in(t)))
    close = near(got, want, limit)
    if not np.all(close):
        k = np.argmin(close)
        raise AssertionError(f"{name}({wide[0][k]}, {wide[1][k]}) of {x.dtype}: got {widen(got)[k]}, want {want[k]}, "
                             f"bound {limit[k]}")


def check(rng, name, f, signature, device):
    _, bound, complex_bound, inputs = TESTS[name]
    x, y = inputs(rng, signature[:2])
    out = random_view(rng, (COUNT,), signature[2])
    f(x, y, out, threads=int(rng.integers(0, 3)), device=device)
    out = np.ascontiguousarray(out)
    bound = complex_bound if signature[0].kind == "c" else bound
    if bound and signature[0].kind not in "biu":
        check_near(name, x, y, out, bound)
    else:
        check_exact(name, x, y, out)


def check_dtypes(name, f):
    """NumPy's result dtype for every pair of input dtypes for which it has a result."""
    one = {t: np.ones(2, t) for t in DTYPES}
    for s in DTYPES:
        for t in DTYPES:
            try:
                want = TESTS[name][0](one[s], one[t]).dtype
            except TypeError:
                continue
            got = f.infer(one[s], one[t])[0]
            assert got == want, f"{name}({s}, {t}): {got}, NumPy's is {want}"


def against_numpy(name, device=None):
    def test(rng):
        f = Func.load(name)
        if not device:
            check_dtypes(name, f)
        signatures = signatures_of(f)
        kinds = [[s for s in signatures if s[0].kind in kind] for kind in ("biu", "fV", "c")]
        for some in kinds:
            for k in rng.permutation(len(some))[:ROUNDS]:
                check(rng, name, f, some[k], device)
    test.__name__ = name + ("_on_the_gpu" if device else "")
    return test


# ---- What NumPy has not ----


def beyond_numpy(rng):
    """Bools that are subtracted, negative powers of integers, division by zero, shifts that NumPy's C leaves open."""
    def call(name, t, x, y):
        x, y, out = np.array(x, t), np.array(y, t), np.zeros(len(x), t)
        Func.load(name)(x, y, out)
        return out.tolist()

    assert call("power", "i4", [1, -1, -1, 2, 0, -3], [-5, -5, -4, -1, -1, -2]) == [1, -1, 1, 0, 0, 0]
    for name in ("floor_divide", "remainder", "fmod"):
        assert call(name, "i4", [5, -5, 0], [0, 0, 0]) == [0, 0, 0]
        assert call(name, "u1", [5, 255], [0, 0]) == [0, 0]
    assert call("left_shift", "i1", [1, 1, -1], [8, -1, 7]) == [0, 0, -128]
    assert call("right_shift", "i1", [127, -1, -128], [8, 100, -1]) == [0, -1, -1]
    bools = np.array([True, False]), np.array([False, True])
    assert Func.load("subtract").infer(*bools)[0] == np.int8
    try:
        Func.load("left_shift").infer(np.ones(2), np.ones(2))
        raise AssertionError("left_shift of floats")
    except Failure as e:
        assert "left_shift" in str(e), e


def main():
    tests = [against_numpy(name) for name in TESTS]
    if os.environ.get("UF_TEST_GPU") == "1":
        tests += [against_numpy(name, GPU) for name in TESTS]
    tests.append(beyond_numpy)
    if sys.argv[1:]:
        tests = [t for t in tests if t.__name__ in sys.argv[1:]]
    return run(tests)


if __name__ == "__main__":
    import warnings
    warnings.simplefilter("ignore")
    sys.exit(main())
