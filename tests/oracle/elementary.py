"""elementary.py - exp, log, tanh and atan2 of arrays against those of a wider type: bits of all sorts, where rounding counts most, special
values, and all lengths around those of vectors. Where vectors have 512 bits, the functions are our own, which come nearer than the
language says: the largest errors seen were, of float32 and float64, 0.76 and 0.79 of exp, 0.76 and 0.81 of log, 1.9 and 1.0 of tanh, 1.5 and 2.0
of atan2, in units in the last place. And what is exact: exponents, next numbers, remainders of halves."""
import sys

import numpy as np

from uf import Func, has_512_bits, run

# function: units in the last place of float32 and float64; ranges
ROWS = {"exp": ((.85, .85), [(-104, 89), (-746, 710), (-1, 1), (-88, -87)]),
        "log": ((.85, .9), [(0, 4), (.9, 1.1), (0, 1e30), (.49, .51)]),
        "tanh": ((2, 1.1), [(-1, 1), (-20, 20), (-.05, .05), (.19, .21)]),
        "atan2": ((1.75, 2.2), [])}
UNARY = ("exp", "log", "tanh")
WIDER = {np.dtype("f4"): np.float64, np.dtype("f8"): np.longdouble}
SPECIAL = [0, -0.0, 1, -1, np.inf, -np.inf, np.nan, 1e-45, -1e-45, 5e-324, -5e-324, 1.17549435e-38, 2.2250738585072014e-308, 3.4028235e38,
           -3.4028235e38, 1.7976931348623157e308, 88.72284, 88.72283, -103.97, -104, 709.78, -745.2, 1000, -1000]


def call(name, x):
    out = np.empty(x.shape, x.dtype)
    Func(f"(x) {{ return {name}(x); }}")(x, out)
    return out


def check(name, x):
    compare(name, call(name, x), getattr(np, name)(x.astype(WIDER[x.dtype])))


def compare(name, got, want):
    single = got.dtype == "f4"
    bits, least = (24, -125) if single else (53, -1021)
    bound = ROWS[name][0][not single] if has_512_bits() else 4
    rounded = want.astype(got.dtype)
    unit = np.ldexp(want.dtype.type(1), np.maximum(np.frexp(np.where(np.isfinite(want), want, 0))[1], least) - bits)
    same = np.isnan(got) & np.isnan(rounded) | (got == rounded) & (np.isinf(rounded) | (rounded == 0))
    error = np.where(same, 0, np.abs(got - want) / unit)
    bad = ~(error <= bound)
    assert not bad.any(), (name, got.dtype, error[bad].max(), [(float(a).hex(), float(b).hex()) for a, b in zip(got[bad][:3], want[bad][:3])])
    zero = (got == 0) & (rounded == 0)
    assert np.array_equal(np.signbit(got[zero]), np.signbit(rounded[zero]))


def every_so_many_bits(rng):
    first = int(rng.integers(1499))
    x = np.arange(first, 1 << 32, 1499, dtype="u8").astype("u4").view("f4")
    for name in UNARY:
        check(name, x)
        check(name, rng.integers(0, 1 << 64, 1 << 18, dtype="u8").view("f8"))


def ranges(rng):
    for name, (_, pairs) in ROWS.items():
        for low, high in pairs:
            for t in ("f4", "f8"):
                check(name, rng.uniform(low, high, 1 << 18).astype(t))


def all_magnitudes(rng):
    for name in UNARY:
        for t, least, most in (("f4", -149, 128), ("f8", -1074, 1024)):
            x = np.exp2(rng.uniform(least, most, 1 << 17)).astype(t)
            check(name, np.concatenate([x, -x]))


def near_one(rng):
    for t, bits in (("f4", 24), ("f8", 53)):
        check("log", (1 + rng.uniform(-1, 1, 1 << 18) * np.exp2(-rng.uniform(1, bits, 1 << 18))).astype(t))


def special(rng):
    for name in UNARY:
        for t in ("f4", "f8"):
            check(name, np.array(SPECIAL).astype(t))


def arcs(rng):
    """Of points in all directions, of numbers of any bits, and of special values."""
    f = Func("(y, x) { return atan2(y, x); }")
    n = 1 << 18
    for t in (np.dtype("f4"), np.dtype("f8")):
        values = np.array(SPECIAL).astype(t)
        some_bits = rng.integers(0, 1 << 8 * t.itemsize, (2, n), dtype=f"u{t.itemsize}").view(t)
        for y, x in (np.array(np.meshgrid(values, values)).reshape(2, -1), some_bits, rng.normal(size=(2, n)).astype(t),
                     (rng.normal(size=(2, n)) * np.exp2(rng.uniform(-20, 20, n))).astype(t), rng.random((2, 69)).astype(t)):
            got = np.empty(y.shape, t)
            f(y, x, got)
            compare("atan2", got, np.arctan2(y.astype(WIDER[t]), x.astype(WIDER[t])))
            for first, count in ((3, 1), (5, 7), (0, 33)):
                some = np.empty(count, t)
                f(y[first:first + count], x[first:first + count], some)
                assert np.array_equal(some, got[first:first + count], equal_nan=True)


def same_numbers(got, want):
    return np.array_equal(got, want, equal_nan=True) and np.array_equal(np.signbit(got[got == 0]), np.signbit(want[want == 0]))


def exponents(rng):
    """What is exact: the next number, products with powers of two, and the exponent, of any bits, subnormal numbers and special values."""
    n = 1 << 17
    for t in (np.dtype("f4"), np.dtype("f8")):
        bits = 8 * t.itemsize
        values = np.array(SPECIAL).astype(t)
        x, y = (np.concatenate([rng.integers(0, 1 << bits, n, dtype=f"u{t.itemsize}").view(t), a.ravel(),
                                rng.integers(0, 1 << 24, n, dtype=f"u{t.itemsize}").view(t)])
                for a in np.meshgrid(values, values))
        for a, b in ((x, y), (x, x), (x, -x), (-x, y)):
            got = np.empty_like(a)
            Func("(x, y) { return nextafter(x, y); }")(a, b, got)
            assert same_numbers(got, np.nextafter(a, b)), t
        kind = f"float{bits}"
        for low, high in ((-30, 30), (-300, 300), (-2200, 2200), (-(1 << 31), (1 << 31) - 1)):
            by = rng.integers(low, high, x.size, dtype="i4", endpoint=True)
            got = np.empty_like(x)
            for name in ("ldexp", "scalbn"):
                Func(f"(x, n) {{ return {name}(x, n); }}", f"{kind},int32->{kind}")(x, by, got)
                assert same_numbers(got, np.ldexp(x, by)), (t, name, low)
        want = np.frexp(x)[1].astype("i4") - 1
        want[(x == 0) | np.isnan(x)], want[np.isinf(x)] = -(1 << 31), (1 << 31) - 1
        got = np.empty(x.size, "i4")
        Func("(x) { return ilogb(x); }", f"{kind}->int32")(x, got)
        assert np.array_equal(got, want), t


def remainders_of_halves(rng):
    """Of all float16, by some of them and all special ones."""
    x = np.arange(1 << 16, dtype="u2").view("f2")
    special = np.array([0, -0.0, np.inf, -np.inf, np.nan, 1, 6e-8, -6e-8, 65504, 3], "f2")
    for y in np.concatenate([special, rng.choice(x, 20)]):
        for a, b in ((x, np.full(x.size, y)), (np.full(x.size, y), x)):
            for name, f in (("fmod", np.fmod), ("remainder", np.remainder), ("floor_divide", np.floor_divide)):
                got = np.empty_like(x)
                Func.load(name)(a, b, got)
                if name != "floor_divide":
                    assert same_numbers(got, f(a, b)), (name, y)
                else:
                    assert np.array_equal(got, f(a, b), equal_nan=True), (name, y)


def reciprocals_of_integers(rng):
    f = Func.load("reciprocal")
    for t in "bBhHiIqQ":
        low, high = np.iinfo(t).min, np.iinfo(t).max
        x = np.concatenate([np.arange(max(low, -3), 4), [low, low + 1, high - 1, high]]).astype(t)
        x = np.concatenate([x, rng.integers(low, high, 50, dtype=t, endpoint=True)])
        got = np.empty_like(x)
        f(x, got)
        assert got.tolist() == [v if v in (1, -1) else 0 for v in x.tolist()], t


def outside_the_domain(rng):
    """One number, some and all of them outside, at every place of a vector: the others are what they are alone, and NaN stands for it."""
    domains = {"acos": (-1, 1), "acosh": (1, 90), "asin": (-1, 1), "atanh": (-1, 1), "log": (0, 90), "log10": (0, 90), "log1p": (-1, 90),
               "log2": (0, 90)}
    for name, (low, high) in domains.items():
        for t in ("f2", "f4", "f8"):
            n = int(rng.integers(70, 200))
            inside = rng.uniform(low, high, n).astype(t)
            inside[rng.integers(n, size=4)] = low, high, low, high
            want = call(name, inside)
            outside = rng.choice(np.array([np.nan, -np.inf, low - .5, -300] + ([high + .5, np.inf] if high == 1 else []), t), n)
            for share in (1 / n, .1, .9, 1):
                there = rng.random(n) < share
                there[rng.integers(n)] = True
                got = call(name, np.where(there, outside, inside))
                assert np.isnan(got[there]).all(), (name, t, share)
                assert np.array_equal(got[~there], want[~there]), (name, t, share)


def lengths(rng):
    for name in UNARY:
        for t in ("f4", "f8"):
            for n in range(1, 70):
                at = int(rng.integers(5))
                x = rng.uniform(.1, 4, n + at).astype(t)[at:]
                assert np.array_equal(call(name, x), np.array([call(name, x[i:i + 1])[0] for i in range(n)]))


if __name__ == "__main__":
    np.seterr(all="ignore")
    sys.exit(run([every_so_many_bits, ranges, all_magnitudes, near_one, special, arcs, exponents, remainders_of_halves, reciprocals_of_integers, outside_the_domain,
                  lengths]))
