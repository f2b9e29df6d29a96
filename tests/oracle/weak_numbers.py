"""weak_numbers.py - numbers beside arrays: comparisons of integers against Python's own, by value, and against NumPy which dtype other
functions give with a Python number, and which numbers they refuse.

Each call is made twice, so that the one which chooses the signature and those which know it must agree, and by both rules.
PROP_N=n draws n times as many pairs and numbers. UF_TEST_GPU=1 makes some of the comparisons on the GPU as well.
"""
import os
import random
import zlib
import sys

import numpy as np

from uf import DTYPES, ERR_CAST, ERR_SIGNATURE, FIRST_MATCH, GPU, Failure, Func

ROUNDS = int(os.environ.get("PROP_N", "1"))
COMPARISONS = {
    "less": lambda a, b: a < b, "less_equal": lambda a, b: a <= b, "greater": lambda a, b: a > b,
    "greater_equal": lambda a, b: a >= b, "equal": lambda a, b: a == b, "not_equal": lambda a, b: a != b,
}
INTEGERS = [t for t in DTYPES if t.kind in "biu"]
LOWEST, LARGEST = -2 ** 63, 2 ** 64 - 1


def limits(t):
    return (0, 1) if t.kind == "b" else (int(np.iinfo(t).min), int(np.iinfo(t).max))


# Where one dtype ends and the next one begins, and a few in between.
EDGES = sorted({v for t in INTEGERS for limit in limits(t) for v in (limit - 1, limit, limit + 1)
                if LOWEST <= v <= LARGEST} | {-100, 7, 300, -40000, 2 ** 53 + 1, 2 ** 63 + 1025})


def number(value):
    """A 0-d array of the dtype that C would give a literal."""
    if isinstance(value, int) and not isinstance(value, bool):
        return np.array(value, np.int64 if value < 2 ** 63 else np.uint64)
    return np.array(value)


def edges(t):
    low, high = limits(t)
    return [v for v in EDGES if low <= v <= high]


def array(values, t):
    return np.array(values, dtype=t)


def check(f, name, x, y, shape, want):
    calls = [(0, None), (0, None), (FIRST_MATCH, None)]
    if os.environ.get("UF_TEST_GPU") == "1" and zlib.crc32(f"{name} {x.dtype} {y}".encode()) % 16 == 0:
        calls += [(0, GPU)]
    for flags, device in calls:
        got = np.zeros(shape, bool)
        f(x, y, got, flags=flags, device=device)
        for i in np.flatnonzero(got != want)[:1]:
            a, b = (v[i] if v.ndim else v for v in (x, y))
            raise AssertionError(f"{name} of {x.dtype} {a} and {y.dtype} {b}, flags {flags}, device {device}: got {got[i]}")


def arrays_by_value(rng):
    for name, compare in COMPARISONS.items():
        f = Func.load(name)
        for a in INTEGERS:
            for b in INTEGERS:
                pairs = [(v, w) for v in edges(a) for w in edges(b)]
                pairs = rng.sample(pairs, min(len(pairs), 200 * ROUNDS))
                want = np.array([compare(v, w) for v, w in pairs])
                check(f, name, array([v for v, _ in pairs], a), array([w for _, w in pairs], b), len(pairs), want)


def numbers_by_value(rng):
    for name, compare in COMPARISONS.items():
        f = Func.load(name)
        for t in INTEGERS:
            values = edges(t)
            x = array(values, t)
            for n in EDGES:
                check(f, name, x, number(n), len(values), np.array([compare(v, n) for v in values]))
                check(f, name, number(n), x, len(values), np.array([compare(n, v) for v in values]))


def narrow_numbers_by_value(rng):
    """Numbers of any dtype: their kind counts."""
    for name, compare in COMPARISONS.items():
        f = Func.load(name)
        for t in INTEGERS:
            for u in INTEGERS:
                values = edges(t)
                for n in rng.choices(edges(u), k=ROUNDS):
                    check(f, name, array(values, t), array(n, u), len(values), np.array([compare(v, n) for v in values]))


# ---- Other functions, as NumPy ----

# Numbers that NumPy refuses, but for which a signature here gives the result's dtype: integers beside bools that are compared,
# and exponents that only int64 holds.
COMPUTED = ["less", "equal", "logical_and", "ldexp"]
FUNCTIONS = ["add", "subtract", "multiply", "divide", "floor_divide", "remainder", "power", "maximum", "minimum", "fmax",
             "bitwise_and", "bitwise_or", "left_shift", "right_shift", "gcd", "arctan2", "hypot", "copysign", "ldexp",
             "logical_and", "less", "equal"]
NUMBERS = [True, 0, 1, -1, 127, 128, -129, 255, 256, 300, 70000, 2 ** 31, 2 ** 40, 2 ** 63 - 1, 2 ** 63, 1.5, 1e6, 1e300, 2j]


def numpy_result(ufunc, x, n):
    """The dtype of NumPy's result; the status of our error in its place."""
    try:
        with np.errstate(all="ignore"):
            return ufunc(x, n).dtype
    except OverflowError:
        return ERR_CAST
    except TypeError:
        return ERR_SIGNATURE
    except ValueError:  # an integer to a negative power: a matter of values
        return None


def result(f, inputs):
    """Ours: of an inference, and of two calls."""
    try:
        t, _ = f.infer(*inputs)
    except Failure as e:
        t = e.status
    for _ in range(2):
        try:
            f(*inputs, np.zeros(3, t if isinstance(t, np.dtype) else np.complex128))
            assert isinstance(t, np.dtype), (inputs, t)
        except Failure as e:
            assert e.status == t, (inputs, t, e)
    return t


def as_numpy(rng):
    for name in FUNCTIONS:
        f, ufunc = Func.load(name), getattr(np, name)
        for t in DTYPES:
            x = np.ones(3, t)
            for n in rng.sample(NUMBERS, min(len(NUMBERS), 3 * ROUNDS)):
                for reverse in (False, True):
                    want = numpy_result(ufunc, *((n, x) if reverse else (x, n)))
                    if want is None or (t.kind == "b" and isinstance(n, bool)):
                        continue
                    got = result(f, (number(n), x) if reverse else (x, number(n)))
                    computed = want == ERR_CAST and name in COMPUTED and isinstance(got, np.dtype)
                    assert got == want or computed, f"{name} of {t} and {n}, reverse {reverse}: {got}, NumPy {want}"


def main():
    seed = int(os.environ.get("UF_SEED", "0"), 0) or random.randrange(1, 1 << 32)
    rng = random.Random(seed)
    tests = [arrays_by_value, numbers_by_value, narrow_numbers_by_value, as_numpy]
    print(f"1..{len(tests)}\n# UF_SEED={seed}, NumPy {np.__version__}")
    failed = 0
    for i, test in enumerate(tests, 1):
        try:
            test(rng)
            print(f"ok {i} - {test.__name__}")
        except (AssertionError, Failure) as e:
            failed += 1
            print(f"not ok {i} - {test.__name__}\n# {e}")
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
