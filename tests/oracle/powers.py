"""powers.py - pow of float32 arrays against that of float64: bases and exponents of all bits, near 1 with large exponents, powers at
the ends of the range, subnormal ones; every pair of special values; and all lengths around those of vectors."""
import sys

import numpy as np

from uf import Func, run

BOUND = 4  # units in the last place, as the language says
SPECIAL = np.array([0, -0.0, 1, -1, 2, -2, .5, -.5, 3, -3, 1.5, -1.5, np.inf, -np.inf, np.nan, 1e-45, -1e-45, 1.1754942e-38, 3.4e38, -3.4e38,
                    16777215, -16777215, 16777216, 33554432, 1e30, -1e30], "f4")


def powers(x, y):
    out = np.empty(x.shape, "f4")
    Func.load("power")(x, y, out)
    return out


def check(x, y):
    got, want = powers(x, y), np.power(x.astype("f8"), y.astype("f8"))
    rounded = want.astype("f4")
    unit = np.ldexp(1.0, np.maximum(np.frexp(np.where(np.isfinite(want), want, 0))[1], -125) - 24)
    exact = (got == rounded) | (np.isnan(got) & np.isnan(rounded))
    with np.errstate(all="ignore"):
        error = np.where(exact, 0, np.abs(got - want) / unit)
    # At the end of the range a power may be rounded to infinity or to the largest number.
    end = (np.abs(want) > 3.4028e38) & (np.abs(want) < 3.4029e38)
    bad = ~(error <= BOUND) & ~end
    assert not bad.any(), [(float(a).hex(), float(b).hex(), float(c).hex(), float(d).hex())
                           for a, b, c, d in zip(x[bad][:3], y[bad][:3], got[bad][:3], want[bad][:3])]
    zero = (got == 0) & (rounded == 0)
    assert np.array_equal(np.signbit(got[zero]), np.signbit(rounded[zero]))


def any_bits(rng):
    for _ in range(4):
        x, y = (rng.integers(0, 1 << 32, 1 << 18, dtype="u4").view("f4") for _ in range(2))
        check(x, y)


def ends_of_the_range(rng):
    n = 1 << 18
    for low, high in ((-155, -120), (120, 130), (-160, 160), (-1, 1)):
        x = np.exp2(rng.uniform(-149, 127, n)).astype("f4")
        check(x, (rng.uniform(low, high, n) / np.log2(x.astype("f8"))).astype("f4"))


def near_one(rng):
    n = 1 << 18
    x = (1 + rng.uniform(-.5, .5, n) * np.exp2(-rng.uniform(0, 23, n))).astype("f4")
    with np.errstate(divide="ignore"):
        check(x, np.nan_to_num(rng.uniform(-130, 130, n) / np.log2(x.astype("f8"))).astype("f4"))


def negative(rng):
    n = 1 << 16
    check(-np.exp2(rng.uniform(-5, 5, n)).astype("f4"), rng.integers(-20, 20, n).astype("f4"))
    check(-np.exp2(rng.uniform(-.001, .001, n)).astype("f4"), rng.integers(-30000, 30000, n).astype("f4"))


def special(rng):
    x, y = (a.ravel().copy() for a in np.meshgrid(SPECIAL, SPECIAL))
    check(x, y)


def lengths(rng):
    for n in range(1, 70):
        at = int(rng.integers(5))
        x, y = rng.uniform(0, 4, n + at).astype("f4")[at:], rng.uniform(-3, 3, n + at).astype("f4")[at:]
        check(x, y)
        check(x, np.broadcast_to(y[:1], n))
        assert np.array_equal(powers(x, y), np.array([powers(x[i:i + 1], y[i:i + 1])[0] for i in range(n)]))


if __name__ == "__main__":
    sys.exit(run([any_bits, ends_of_the_range, near_one, negative, special, lengths]))
