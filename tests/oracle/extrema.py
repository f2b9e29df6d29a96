"""extrema.py - positions of largest and smallest elements against NumPy: lengths around those of vectors, chunks, blocks and parts, where the
best elements are few, many, in order, at the ends, NaN, or zeros of both signs; the same where NaN is passed over, -1 if there is nothing else. The elements themselves,
and counts. And texts that nearly are such a reduction: those of the last of equal elements, and without NaN. PROP_N=n goes through all of it n times."""
import functools
import os
import sys

import numpy as np

from uf import ORDERED, Func, run

TYPES = ["?", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8", "f2", "f4", "f8"]
LENGTHS = [1, 2, 7, 31, 63, 64, 65, 127, 128, 129, 255, 256, 257, 511, 512, 513, 1000, 1023, 1025, 2047, 2049, 4097, 16383, 20000,
           262143, 400001]


def values(rng, n, t):
    t = np.dtype(t)
    kind = rng.integers(6)
    if t.kind == "b":
        a = np.zeros(n, t) if kind < 3 else np.ones(n, t)
        a[rng.integers(n, size=rng.integers(3))] ^= True
        return a
    if t.kind in "iu":
        low, high = np.iinfo(t).min, np.iinfo(t).max
    else:
        low, high = -1000, 1000
    if kind == 0:  # any
        a = rng.integers(low, high, n, dtype="i8" if t.kind == "f" else t, endpoint=True)
    elif kind == 1:  # few different ones
        a = rng.integers(3, 6, n)
    elif kind == 2:  # all equal
        a = np.full(n, rng.integers(3, 6))
    else:  # in order, up or down
        a = np.sort(rng.integers(low // 2, high // 2, n, dtype="i8" if t.kind == "f" or t.itemsize < 8 else t))[::1 if kind == 3 else -1]
    a = a.astype(t)
    if kind == 5:  # one that stands out
        a[rng.integers(n)] = rng.choice([low, high])
    if t.kind == "f":
        a[a == 3] = rng.choice([-0.0, 0.0], size=np.count_nonzero(a == 3))
        a = np.where(rng.random(n) < rng.choice([0, 0, 0, 0, 1 / n, .01, .95, 1]), rng.choice(np.array([np.nan, -np.nan])), a).astype(t)
        if rng.random() < .2:
            a[rng.integers(n)] = rng.choice([np.inf, -np.inf])
    return a


def passing_nan(position):
    """NaN is the worst number; where no number is better, the first one that is none counts."""
    def of_numbers(a, axis=0):
        worst = -np.inf if position is np.argmax else np.inf
        nan = np.isnan(a)
        numbers = np.where(nan, worst, a)
        best = numbers.max(axis, keepdims=True) if position is np.argmax else numbers.min(axis, keepdims=True)
        return np.where(nan.all(axis), -1, np.argmax((numbers == best) & ~nan, axis))
    return of_numbers


POSITIONS = {"argmax": np.argmax, "argmin": np.argmin, "nanargmax": passing_nan(np.argmax),
             "nanargmin": passing_nan(np.argmin)}


def positions(rng):
    for t in TYPES:
        for name in POSITIONS:
            f = Func.load(name)
            for n in LENGTHS:
                a = values(rng, n, t)
                out = np.full((), -1, "i8")
                f.reduce(a, out, threads=int(rng.integers(3)))
                want = POSITIONS[name](a)
                assert out == want, (name, t, n, out, want, a[out], a[want])


def rows(rng):
    for t in TYPES:
        for name in POSITIONS:
            f = Func.load(name)
            for _ in range(6):
                m, n, step = (int(x) for x in (rng.integers(1, 6), rng.integers(1, 3000), rng.integers(1, 5)))
                a = np.stack([values(rng, n * step, t) for _ in range(m)])[:, ::step * rng.choice([-1, 1])]
                a = a.T if rng.random() < .2 else a
                axis = int(rng.integers(2))
                out = np.full(a.shape[1 - axis], -1, "i8")
                f.reduce(a, out, axes=(axis,))
                assert np.array_equal(out, POSITIONS[name](a, axis=axis)), (name, t, a.shape, a.strides, axis)


def short_rows(rng):
    """As many results as make columns of other reductions; rows of up to two chunks, and a little more, of elements side by side or not."""
    for t in TYPES:
        for name in POSITIONS:
            f = Func.load(name)
            for n in [*range(1, 10), *rng.integers(10, 70, 4), 64, 65, *rng.integers(70, 300, 6), 128, 129]:
                at, step = int(rng.integers(1, 70)), int(rng.choice([1, 1, 2]))
                a = np.concatenate([values(rng, at, t), *(values(rng, n * step, t) for _ in range(20))])[at:].reshape(20, -1)[:, ::step]
                out = np.full(20, -1, "i8")
                f.reduce(a, out, axes=(1,))
                assert np.array_equal(out, POSITIONS[name](a, axis=1)), (name, t, n, step, out)


def unaligned(rng):
    f = Func.load("argmax")
    for t in TYPES:
        for _ in range(5):
            at, n = int(rng.integers(1, 70)), int(rng.integers(200, 5000))
            a = values(rng, at + n, t)[at:]
            out = np.full((), -1, "i8")
            f.reduce(a, out)
            assert out == np.argmax(a), (t, at, n)


def guarded(rng):
    """Nothing is read before or behind the elements, which an infinity there would show."""
    f = Func.load("argmax")
    for n in LENGTHS:
        a = np.full(n + 2000, np.inf, "f4")
        a[1000:1000 + n] = rng.random(n)
        out = np.full((), -1, "i8")
        f.reduce(a[1000:1000 + n], out)
        assert out == np.argmax(a[1000:1000 + n])


def elements(rng):
    for t in TYPES:
        for name in ("max", "min"):
            f, pairs = Func.load(name), Func.load(name + "imum")
            for n in LENGTHS:
                a, b = values(rng, n, t), values(rng, n, t)
                out, both = np.zeros((), t), np.zeros(n, t)
                f.reduce(a, out)
                pairs(a, b, both)
                assert np.array_equal(out, getattr(np, name)(a), equal_nan=t[0] == "f"), (name, t, n)
                assert np.array_equal(both, getattr(np, name + "imum")(a, b), equal_nan=t[0] == "f"), (name, t, n)


def counts(rng):
    f = Func.load("count_nonzero")
    for t in TYPES:
        for n in LENGTHS:
            a = values(rng, n * 2, t)
            a[rng.random(n * 2) < rng.choice([0, .01, .5])] = 0
            out = np.full((), -1, "i8")
            for part in (a, a[::2], a[::-1]):
                f.reduce(part, out)
                assert out == np.count_nonzero(part), (t, n, out)
        a = values(rng, 700 * 300, t).reshape(700, 300)
        for axis in (0, 1):
            out = np.full(a.shape[1 - axis], -1, "i8")
            f.reduce(a, out, axes=(axis,))
            assert np.array_equal(out, np.count_nonzero(a, axis=axis)), (t, axis)


def other_texts(rng):
    """Not the first of equal elements, or not NaN: by loops over all elements, in plain Python."""
    def fold(a, better):
        best = 0
        for k in range(1, len(a)):
            best = k if better(a[k], a[best]) else best
        return best
    texts = [("bool first = i < j ? a > b : !(b > a); best = first ? a : b; index = first ? i : j;", lambda x, b: x >= b),
             ("bool first = i < j ? a >= b : !(b >= a); best = first ? a : b; index = first ? i : j;", lambda x, b: not b >= x),
             ("bool first = i < j ? a <= b : !(b <= a); best = first ? a : b; index = first ? i : j;", lambda x, b: not b <= x),
             ("bool first = i < j; best = first ? a : b; index = first ? i : j;", lambda x, b: False),
             ("bool first = i < j ? a >= b : !(b >= a); best = first ? a : b; index = i < j ? i : j;", None)]
    for text, better in texts:
        f = Func.reduction("float32->int64; int16->int64", ORDERED, map="[k](x) -> (best, index) { best = x; index = k; }",
                           combine="(a, i, b, j) -> (best, index) { " + text + " }", finish="(best, index) { return index; }",
                           state="float32,int64; int16,int64")
        for t in ("f4", "i2"):
            for n in (1, 100, 700, 5000, 300000):
                a = rng.integers(-50, 50, n).astype(t)
                out = np.full((), -1, "i8")
                f.reduce(a, out)
                want = fold(a.tolist(), better) if better else 0
                assert out == want, (text, t, n, out, want)


def beginnings(rng):
    """What a reduction begins with is an element in front of all others, with a position of its own."""
    f = Func.load("argmax")
    for n in LENGTHS:
        a = rng.integers(0, 100, n).astype("i4")
        for first in (-5, 50, 200):
            out = np.full((), -1, "i8")
            f.reduce(a, out, initial=[np.array(first, "i4"), np.array(-7, "i8")])
            assert out == (-7 if first >= a.max() else np.argmax(a)), (n, first, out)


def repeated(test):
    @functools.wraps(test)
    def several(rng):
        for _ in range(int(os.environ.get("PROP_N", "1"))):
            test(rng)
    return several


if __name__ == "__main__":
    tests = positions, rows, short_rows, unaligned, guarded, elements, counts, other_texts, beginnings
    sys.exit(run([repeated(test) for test in tests]))
