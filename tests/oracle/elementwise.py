"""elementwise.py - NumPy's ufuncs in the catalogue against NumPy: the dtypes of the results for all dtypes, or pairs of them, and the
values for some signatures, on random, large, small and special numbers. What rounds once is equal to the bit; of other functions
the error is bounded, against NumPy in long double.

PROP_N=n makes n times as many calls, and takes n times as many signatures. UF_TEST_GPU=1 makes them on the GPU as well.
"""
import ctypes
import itertools
import os
import re
import sys

import numpy as np

from uf import (BFLOAT16, DTYPES, Failure, Func, GPU, Options, cast, computed_in, dtype_of, epsilon, lib, near, random_values,
                random_view, run, same, widen)

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
    args = [values(rng, COUNT, t) for t in dtypes]
    if len(dtypes) == 2 and dtypes[0] == dtypes[1]:
        equal = rng.random(COUNT) < 0.1
        args[1][equal] = args[0][equal]
    return args


def finite(rng, dtypes):
    """Not so large that products overflow."""
    return [cast(np.where(np.abs(z) < 1e4, z, 1), t) if t.kind == "c" else x
            for x, t in zip(any_values(rng, dtypes), dtypes) for z in [widen(x)]]


def not_zero(rng, dtypes):
    """Integers and complex numbers that have a reciprocal."""
    return [np.where(x == 0, 1, x).astype(t) if t.kind in "iuc" else x for x, t in zip(moderate(rng, dtypes), dtypes)]


def moderate(rng, dtypes):
    """Complex numbers near and far from 0, finite, so that functions of them are; others of every size."""
    if dtypes[0].kind != "c":
        return any_values(rng, dtypes)
    parts = (rng.standard_normal(COUNT) * 4.0 ** rng.integers(-8, 3, COUNT) for _ in range(2))
    real, imag = (np.where(rng.random(COUNT) < 0.1, 0, part) for part in parts)
    return [(real + 1j * imag).astype(dtypes[0])]


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
    return lambda args, want, one: n * one * np.abs(want)


def of_terms(args, want, one):
    return 4 * one * (1 + np.maximum(*map(np.abs, args)))


def of_product(args, want, one):
    return 2 * one * np.abs(args[0]) * np.abs(args[-1])


def of_power(args, want, one):
    x, y = args
    return one * np.abs(want) * 16 * (1 + np.abs(y * np.log(x))) if np.iscomplexobj(want) else 4 * one * np.abs(want)


def of_exponential(args, want, one):
    """As large as the exponential is, and for each radian that the angle turns."""
    return 4 * one * (np.abs(want) + np.abs(np.expm1(args[0].real))) * (1 + np.abs(args[0]))


def of_log1p(args, want, one):
    """NumPy's loses what 1 + z rounds off, in long double."""
    return 8 * one * np.abs(want) + 2 * np.finfo(args[0].dtype).eps


def row(f, bound=None, inputs=any_values, complex_bound=None):
    """bound: None where every result is rounded once."""
    return f, bound, complex_bound or bound, inputs


TESTS = {
    "absolute": row(np.absolute, None, moderate, units(4)),
    "add": row(np.add),
    "arccos": row(np.arccos, units(4), moderate, units(8)),
    "arccosh": row(np.arccosh, units(4), moderate, units(8)),
    "arcsin": row(np.arcsin, units(4), moderate, units(8)),
    "arcsinh": row(np.arcsinh, units(4), moderate, units(8)),
    "arctan": row(np.arctan, units(4), moderate, units(8)),
    "arctan2": row(np.arctan2, units(4)),
    "arctanh": row(np.arctanh, units(4), moderate, units(8)),
    "bitwise_and": row(np.bitwise_and),
    "bitwise_count": row(np.bitwise_count),
    "bitwise_or": row(np.bitwise_or),
    "bitwise_xor": row(np.bitwise_xor),
    "cbrt": row(np.cbrt, units(4)),
    "ceil": row(np.ceil),
    "conjugate": row(np.conjugate),
    "copysign": row(np.copysign),
    "cos": row(np.cos, units(4), moderate, units(8)),
    "cosh": row(np.cosh, units(4), moderate, units(8)),
    "deg2rad": row(np.deg2rad, units(2)),
    "divide": row(np.divide, None, finite, units(8)),
    "divmod": row(np.divmod),
    "equal": row(np.equal),
    "exp": row(np.exp, units(4), moderate, units(8)),
    "exp2": row(np.exp2, units(4), moderate, of_exponential),
    "expm1": row(np.expm1, units(4), moderate, of_exponential),
    "fabs": row(np.fabs),
    "float_power": row(np.float_power, of_power, for_power),
    "floor": row(np.floor),
    "floor_divide": row(np.floor_divide),
    "fmax": row(np.fmax),
    "fmin": row(np.fmin),
    "fmod": row(np.fmod),
    "frexp": row(np.frexp),
    "gcd": row(np.gcd),
    "greater": row(np.greater),
    "greater_equal": row(np.greater_equal),
    "heaviside": row(np.heaviside),
    "hypot": row(np.hypot, units(4)),
    "invert": row(np.invert),
    "isfinite": row(np.isfinite),
    "isinf": row(np.isinf),
    "isnan": row(np.isnan),
    "lcm": row(np.lcm, None, for_multiples),
    "ldexp": row(np.ldexp, None, with_exponents),
    "left_shift": row(np.left_shift),
    "less": row(np.less),
    "less_equal": row(np.less_equal),
    "log": row(np.log, units(4), moderate, units(8)),
    "log10": row(np.log10, units(4), moderate, units(10)),
    "log1p": row(np.log1p, units(4), moderate, of_log1p),
    "log2": row(np.log2, units(4), moderate, units(10)),
    "logaddexp": row(np.logaddexp, of_terms),
    "logaddexp2": row(np.logaddexp2, of_terms),
    "logical_and": row(np.logical_and),
    "logical_not": row(np.logical_not),
    "logical_or": row(np.logical_or),
    "logical_xor": row(np.logical_xor),
    "maximum": row(np.maximum),
    "minimum": row(np.minimum),
    "modf": row(np.modf),
    "multiply": row(np.multiply, None, finite, of_product),
    "negative": row(np.negative),
    "nextafter": row(np.nextafter),
    "not_equal": row(np.not_equal),
    "positive": row(np.positive),
    "power": row(np.power, of_power, for_power),
    "rad2deg": row(np.rad2deg, units(2)),
    "reciprocal": row(np.reciprocal, None, not_zero, units(8)),
    "remainder": row(np.remainder),
    "right_shift": row(np.right_shift),
    "rint": row(np.rint),
    "sign": row(np.sign, None, any_values, units(4)),
    "signbit": row(np.signbit),
    "sin": row(np.sin, units(4), moderate, units(8)),
    "sinh": row(np.sinh, units(4), moderate, units(8)),
    "spacing": row(np.spacing),
    "sqrt": row(np.sqrt, None, moderate, units(8)),
    "square": row(np.square, None, finite, of_product),
    "subtract": row(np.subtract),
    "tan": row(np.tan, units(4), moderate, units(16)),
    "tanh": row(np.tanh, units(4), moderate, units(16)),
    "trunc": row(np.trunc),
}
OPEN_ZEROS = ("fmax", "fmin", "maximum", "minimum", "nextafter")  # which zero they give differs among NumPys


SAME = {"degrees": "rad2deg", "radians": "deg2rad"}  # one function here, two with equal results in NumPy


def first_name(name):
    """Of a function's second name, which NumPy has for some, the first."""
    ufunc = getattr(np, name, None)
    return SAME.get(name, ufunc.__name__ if isinstance(ufunc, np.ufunc) else name)


def signatures_of(f):
    return [[dtype_of(t) for t in re.split(",|->", s)] for s in f.describe().signatures.decode().split("; ")]


def narrow(x):
    """bfloat16 as float32."""
    return widen(x).astype(np.float32) if x.dtype == BFLOAT16 else x


def next_bfloat16(x, y):
    """nextafter of two bfloat16, by the order of their bits; of two that are equal it is the second, as in C: of -0.0 and 0.0, 0.0."""
    bits = x.view(np.int16).astype(np.int32)
    a, b = widen(x), widen(y)
    up = np.where(a == 0, 0, np.where((a < b) == (a > 0), bits + 1, bits - 1))
    up = np.where(a == 0, np.where(np.signbit(b), -0x8000, 0) + 1, up)
    result = np.where(a == b, y.view(np.int16), up).astype(np.int16).view(BFLOAT16)
    return np.where(np.isnan(a) | np.isnan(b), cast(np.float32(np.nan), BFLOAT16), result)


def spacing_of_halves(x):
    """spacing of float16 and bfloat16: the next one away from 0 is that with the next bits. NumPy's of float16 is that of the next
    larger number, so that of negative ones it is positive, unlike its others."""
    x = np.where(widen(x) == 0, np.zeros_like(x), x)
    following = (x.view(np.uint16) + np.uint16(1)).view(x.dtype)
    return np.where(np.isfinite(widen(x)), cast(widen(following) - widen(x), x.dtype), cast(np.float32(np.nan), x.dtype))


# By bits, where NumPy has no answer, or not the one wanted.
OF_HALVES = {("nextafter", BFLOAT16): next_bfloat16, ("spacing", BFLOAT16): spacing_of_halves,
             ("spacing", np.dtype("f2")): spacing_of_halves}


def as_tuple(results):
    return results if isinstance(results, tuple) else (results,)


def expected(name, args):
    """NumPy's results in the dtypes of the signature."""
    if (name, args[0].dtype) in OF_HALVES:
        return as_tuple(OF_HALVES[name, args[0].dtype](*args))
    return as_tuple(TESTS[name][0](*map(narrow, args)))


def call_shown(name, args, k):
    return f"{name}({', '.join(str(widen(x)[k]) for x in args)}) of {args[0].dtype}"


def check_exact(name, args, got, want):
    want = cast(want, got.dtype) if got.dtype == BFLOAT16 != want.dtype else want
    assert want.dtype == got.dtype, f"dtype {got.dtype}, NumPy's is {want.dtype}"
    numbers = (got, want) if got.dtype != BFLOAT16 else (narrow(got), narrow(want))
    if name in OPEN_ZEROS and got.dtype.kind in "fcV":
        numbers = tuple(n + n.dtype.type(0) for n in numbers)
    if not same(*numbers):
        k = next(k for k in range(got.size) if not same(*(n[k:k + 1] for n in numbers)))
        raise AssertionError(f"{call_shown(name, args, k)}: got {widen(got)[k]}, want {widen(want)[k]}")


def check_near(name, args, got, bound):
    wide = [widen(x) for x in args]
    if wide[0].dtype.kind == "c" and name not in ("multiply", "square"):
        # long double complex functions of C libraries differ in what they give
        wide = [z.astype(np.complex128) if x.dtype == np.complex64 else z for z, x in zip(wide, args)]
    want = TESTS[name][0](*wide)
    limit = bound(wide, want, epsilon(computed_in(got.dtype)))
    close = near(got, want, limit)
    if not np.all(close):
        k = np.argmin(close)
        raise AssertionError(f"{call_shown(name, args, k)}: got {widen(got)[k]}, want {want[k]}, bound {limit[k]}")


def check(rng, name, f, signature, device):
    ufunc, bound, complex_bound, inputs = TESTS[name]
    args = inputs(rng, signature[:ufunc.nin])
    outs = [random_view(rng, (COUNT,), t) for t in signature[ufunc.nin:]]
    f(*args, *outs, threads=int(rng.integers(0, 3)), device=device)
    outs = [np.ascontiguousarray(out) for out in outs]
    bound = complex_bound if signature[0].kind == "c" else bound
    if bound and signature[0].kind not in "biu":
        check_near(name, args, outs[0], bound)
    else:
        for out, want in zip(outs, expected(name, args)):
            check_exact(name, args, out, want)


def check_dtypes(name, f):
    """NumPy's result dtypes for every tuple of input dtypes for which it has a result."""
    ufunc = TESTS[name][0]
    one = {t: np.ones(2, t) for t in DTYPES}
    for dtypes in itertools.product(DTYPES, repeat=ufunc.nin):
        args = [one[t] for t in dtypes]
        try:
            want = [x.dtype for x in as_tuple(ufunc(*args))]
        except TypeError:
            continue
        got = [t for t, _ in f.inferred(lib.uf_infer, args, ufunc.nout, Options(size=ctypes.sizeof(Options)))]
        assert got == want, f"{name}({dtypes}): {got}, NumPy's are {want}"


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
    """Bools that are subtracted, negative powers of integers, division by zero, shifts that NumPy's C leaves open, complex numbers
    whose magnitude is too large or too small."""
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
    for name in ("negative", "positive", "sign"):
        assert Func.load(name).infer(bools[0])[0] == np.int8
    z, out = np.array([3e38 + 3e38j, 3e38 - 1j, -1e-45], np.complex64), np.zeros(3, np.complex64)
    Func.load("sign")(z, out)
    assert np.allclose(out, [0.5 ** 0.5 * (1 + 1j), 1, -1], rtol=1e-6, atol=1e-37), out
    x, out = np.array([0, 1, -1, 2], np.int8), np.ones(4, np.int8)
    Func.load("reciprocal")(x, out)
    assert out.tolist() == [0, 1, -1, 0]
    out = np.zeros(1, np.complex64)
    Func.load("reciprocal")(np.zeros(1, np.complex64), out)
    assert np.isinf(out[0])
    try:
        Func.load("left_shift").infer(np.ones(2), np.ones(2))
        raise AssertionError("left_shift of floats")
    except Failure as e:
        assert "left_shift" in str(e), e


def rounded_to(t):
    """float32 numbers as those of a 16-bit type, which are float32 again."""
    def rounded(x):
        with np.errstate(all="ignore"):
            return np.where(np.isnan(x), np.float32(np.nan), widen(cast(x, t)).astype(np.float32))
    return rounded


def chain(rng, t):
    """A text of some operations on halves, each rounded, and what computes it with NumPy."""
    count = int(rng.integers(1, 12))
    lines, steps = ["x * y"], []
    for _ in range(count):
        k = int(rng.integers(0, 6))
        constant = float(rng.choice([0.5, 2.0, -3.0, 1.0]))
        lines.append((f"z + y", f"x - z", f"z * y", "-z", f"z * ({constant})", f"z - ({constant})")[k])
        steps.append((lambda z, x, y: z + y, lambda z, x, y: x - z, lambda z, x, y: z * y, lambda z, x, y: -z,
                      lambda z, x, y, c=np.float32(constant): z * c, lambda z, x, y, c=np.float32(constant): z - c)[k])
    helper = "twice(a) { typeof(a) b = a + a; return b; }"
    text = helper + "(x, y) -> (z) { " + " ".join(f"z = {line};" for line in lines) + " z = twice(z); }"

    def compute(x, y):
        rounded = rounded_to(t)
        z = rounded(x * y)
        for step in steps:
            z = rounded(step(z, x, y))
        return rounded(z + z)
    return text, compute


def chains_of_halves(device=None):
    """On a GPU these are computed by pairs: the bits are those of one operation after the other."""
    def test(rng):
        for t in (np.dtype("f2"), BFLOAT16):
            for _ in range(6 * ROUNDS):
                text, compute = chain(rng, t)
                n = int(rng.choice([1, 7, 64, 4099, 100000]))
                x, y = (rng.integers(0, 1 << 16, n).astype(np.uint16).view(t) for _ in range(2))
                if rng.random() < .2:
                    y = y[:1]
                out = np.zeros(n, t)
                Func(text, "bfloat16,bfloat16->bfloat16" if t == BFLOAT16 else "float16,float16->float16")(x, y, out, device=device)
                with np.errstate(all="ignore"):
                    want = compute(*(widen(a).astype(np.float32) for a in np.broadcast_arrays(x, y)))
                got = widen(out).astype(np.float32)
                assert same(got, want), (t, text, n)
    test.__name__ = "chains_of_halves" + ("_on_the_gpu" if device else "")
    return test


def remainders(rng):
    """fmod, which the CPU divides for where the quotient is not large: of any bits, of quotients around the limit, and of multiples and their
    neighbours, whose quotients round up to a whole number."""
    f = Func.load("fmod")
    for t, fraction in ((np.dtype("f4"), 24), (np.dtype("f8"), 53)):
        for _ in range(4 * ROUNDS):
            n = 1 << 15
            x, y = (rng.integers(0, 256, (n, t.itemsize), dtype="u1").view(t)[:, 0] for _ in range(2))
            whole = np.ldexp(rng.random(n), rng.integers(1, fraction + 12, n)).round()
            kind = rng.integers(3, size=n)
            y = np.where(kind > 0, rng.random(n), y).astype(t)
            x = np.where(kind > 0, whole * y, x).astype(t)
            x = np.where(kind > 1, np.nextafter(x, rng.choice(np.array([0, np.inf], t), n)), x)
            out = np.empty(n, t)
            f(x, y, out)
            want = np.fmod(x, y)
            wrong = ~((out.view(f"u{t.itemsize}") == want.view(f"u{t.itemsize}")) | (np.isnan(out) & np.isnan(want)))
            assert not wrong.any(), f"fmod({x[wrong][0]!r}, {y[wrong][0]!r}) is {out[wrong][0]!r}, not {want[wrong][0]!r}"


def other_names(rng):
    """A function does the same by another name, called from outside and from a text."""
    x, y = any_values(rng, [np.dtype("f4")] * 2)
    want, got = np.zeros((2, COUNT), np.float32)
    Func.load("remainder")(x, y, want)
    for f in (Func.load("mod"), Func("use mod; (x, y) { return mod(x, y); }")):
        got[:] = 0
        f(x, y, got)
        assert same(got, want)


def main():
    tests = [against_numpy(name) for name in TESTS]
    if os.environ.get("UF_TEST_GPU") == "1":
        tests += [against_numpy(name, GPU) for name in TESTS]
        tests += [chains_of_halves(GPU)]
    tests += [chains_of_halves(), remainders, beyond_numpy, other_names]
    if sys.argv[1:]:
        tests = [t for t in tests if t.__name__ in sys.argv[1:]]
    return run(tests)


if __name__ == "__main__":
    import warnings
    warnings.simplefilter("ignore")
    sys.exit(main())
