"""powers.py - pow of arrays against that of a wider type: bases and exponents of all bits, near 1 with large exponents, powers at the ends of
the range, subnormal ones; bases a little below 1, whose powers are the least exact; every pair of special values; all lengths
around those of vectors; and powers of integers. Where vectors have 512 bits, pow is our own, which comes nearer than the language says: the largest errors
seen were 2.42 and 1.69 units in the last place."""
import sys

import numpy as np

from uf import Func, has_512_bits, run

# type, wider type, units in the last place, bits of the fraction, smallest and largest exponent of 2
TYPES = [(np.dtype("f4"), np.dtype("f8"), 2.6 if has_512_bits() else 4, 24, -149, 128),
         (np.dtype("f8"), np.dtype(np.longdouble), 1.8 if has_512_bits() else 4, 53, -1074, 1024)]
SPECIAL = [0, -0.0, 1, -1, 2, -2, .5, -.5, 3, -3, 1.5, -1.5, np.inf, -np.inf, np.nan, 1e-45, -1e-45, 1.1754942e-38, 3.4e38, -3.4e38,
           16777215, -16777215, 16777216, 33554432, 1e30, -1e30]


def powers(x, y):
    out = np.empty(x.shape, x.dtype)
    Func.load("power")(x, y, out)
    return out


def check(row, x, y):
    t, wide, bound, bits, _, most = row
    x, y = x.astype(t), y.astype(t)
    got, want = powers(x, y), np.power(x.astype(wide), y.astype(wide))
    rounded = want.astype(t)
    unit = np.ldexp(wide.type(1), np.maximum(np.frexp(np.where(np.isfinite(want), want, 0))[1], 3 - most) - bits)
    exact = (got == rounded) & ~np.isfinite(rounded) | (np.isnan(got) & np.isnan(rounded)) | ((got == 0) & (rounded == 0))
    error = np.where(exact, 0, np.abs(got - want) / unit)
    # At the end of the range a power may be rounded to infinity or to the largest number.
    end = np.abs(want / np.finfo(t).max.astype(wide) - 1) < 1e-5
    bad = ~(error <= bound) & ~end
    assert not bad.any(), [(float(a).hex(), float(b).hex(), float(c).hex(), float(d).hex())
                           for a, b, c, d in zip(x[bad][:3], y[bad][:3], got[bad][:3], want[bad][:3])]
    zero = (got == 0) & (rounded == 0)
    assert np.array_equal(np.signbit(got[zero]), np.signbit(rounded[zero]))


def any_bits(rng):
    for row in TYPES:
        for _ in range(4):
            x, y = (rng.integers(0, 1 << 8 * row[0].itemsize, 1 << 17, dtype=f"u{row[0].itemsize}").view(row[0]) for _ in range(2))
            check(row, x, y)


def of_exponent(row, x, exponents):
    """y such that x to the y has these exponents."""
    t, wide = row[:2]
    return np.nan_to_num(exponents / np.log2(x.astype(t).astype(wide))).astype(t)


def ends_of_the_range(rng):
    n = 1 << 17
    for row in TYPES:
        least, most = row[4:]
        for low, high in ((least - 6, least + 30), (most - 8, most + 2), (least - 11, most + 32), (-1, 1)):
            x = np.exp2(rng.uniform(least, most - 1, n)).astype(row[0])
            check(row, x, of_exponent(row, x, rng.uniform(low, high, n)))


def near_one(rng):
    n = 1 << 18
    for row in TYPES:
        x = (1 + rng.uniform(-.5, .5, n) * np.exp2(-rng.uniform(0, row[3] - 1, n))).astype(row[0])
        check(row, x, of_exponent(row, x, rng.uniform(-row[5] - 2, row[5] + 2, n)))


def below_one(rng):
    """Where logarithms have the longest rest beside their table, the powers just below those of 2 at the ends of the range."""
    n = 1 << 19
    for row, low, high in zip(TYPES, (.982, .968), (.991, .985)):
        x = rng.uniform(low, high, n).astype(row[0])
        exponents = row[5] - rng.integers(1, 5, n) - rng.uniform(0, .03, n)
        check(row, x, of_exponent(row, x, exponents))
        check(row, x, of_exponent(row, x, 2 - exponents))
    seen = np.array([[0.9854712, -6013.563], [0.98606956, -6273.956], [0.98444754, -5571.6577], [0.9869157, -6577.873]], "f4")
    check(TYPES[0], *np.repeat(seen, 16, 0).T)


def negative(rng):
    n = 1 << 16
    for row in TYPES:
        check(row, -np.exp2(rng.uniform(-5, 5, n)), rng.integers(-20, 20, n))
        check(row, -np.exp2(rng.uniform(-.001, .001, n)), rng.integers(-30000, 30000, n))


def special(rng):
    for row in TYPES:
        x, y = (a.ravel().copy() for a in np.meshgrid(np.array(SPECIAL, row[0]), np.array(SPECIAL, row[0])))
        check(row, x, y)


def lengths(rng):
    """Also with a negative base among others, which takes the vector around it another way."""
    for row in TYPES:
        for n in range(1, 70):
            at = int(rng.integers(5))
            x, y = rng.uniform(0, 4, n + at).astype(row[0])[at:], rng.uniform(-3, 3, n + at).astype(row[0])[at:]
            alone = np.array([powers(x[i:i + 1], y[i:i + 1])[0] for i in range(n)])
            check(row, x, y)
            check(row, x, np.broadcast_to(y[:1], n))
            assert np.array_equal(powers(x, y), alone)
            k = int(rng.integers(n))
            x[k] = -x[k]
            assert np.array_equal(np.delete(powers(x, y), k), np.delete(alone, k))


def integers(rng):
    """Of every integer dtype, with one exponent and with as many as bases: those without a loop, those with one, and negative ones."""
    f = Func.load("power")
    for t in ("i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8"):
        n = int(rng.integers(1, 300))
        info = np.iinfo(t)
        x = rng.integers(info.min, info.max, n, dtype=t, endpoint=True)
        out = np.empty_like(x)
        for y in [*range(20), 31, 32, 63, 100]:
            f(x, np.array(y, t), out)
            assert np.array_equal(out, np.power(x, np.array(y, t))), (t, y)
        y = rng.integers(0, 40, n).astype(t)
        f(x, y, out)
        assert np.array_equal(out, np.power(x, y)), t
        for y in (-1, -2, -3, -16) if info.min else ():
            small = rng.integers(-3, 4, n).astype(t)
            f(small, np.array(y, t), out)
            assert np.array_equal(out, np.where(small == 1, 1, np.where(small == -1, -1 if y & 1 else 1, 0))), (t, y)


if __name__ == "__main__":
    np.seterr(all="ignore")
    sys.exit(run([any_bits, ends_of_the_range, near_one, below_one, negative, special, lengths, integers]))
