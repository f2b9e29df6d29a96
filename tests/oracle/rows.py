"""rows.py - loops of inner calls and of elementwise functions along rows of every length, on both sides of those that vectors take at once, against NumPy in twice the
precision. Rows end where a page begins that nobody may touch, and are a few elements apart, too.

PROP_N=n makes n times as many rounds.
"""
import os
import sys

import numpy as np

from uf import Func, at_page_end, random_values, run, same

ROUNDS = int(os.environ.get("PROP_N", "1"))
LENGTHS = list(range(1, 70)) + [95, 96, 97, 127, 128, 129, 130, 143, 191, 257, 300, 1000, 1003]
FLOATS = "float16->float16; float32->float32; float64->float64"
INTEGERS = [np.dtype(t) for t in ("i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8")]


def exps(x):
    return np.exp(x - x.max(axis=-1, keepdims=True))


def softmax(x):
    return exps(x) / exps(x).sum(axis=-1, keepdims=True)


def log_softmax(x):
    return x - x.max(axis=-1, keepdims=True) - np.log(exps(x).sum(axis=-1, keepdims=True))


def two(x):
    return np.sum(np.exp(x) * np.tanh(x), axis=-1)


def largest_exp(x):
    return np.exp(x).max(axis=-1)


FUNCTIONS = [
    (Func.load("softmax"), softmax, True),
    (Func.load("log_softmax"), log_softmax, True),
    (Func.load("normalize"), lambda x: x / np.sqrt(np.sum(x * x, axis=-1, keepdims=True)), True),
    (Func("(x) -> (y) { y = sum(i : n, exp(x[i]) * tanh(x[i])); }", FLOATS, "(n)->()"), two, False),
    (Func("(x) -> (y) { y = max(i : n, exp(x[i])); }", FLOATS, "(n)->()"), largest_exp, False),
    (Func("own(a, b) { return a > b ? a : b; } (x) -> (y) { y = reduce(own, i : n, exp(x[i])); }", FLOATS, "(n)->()"), largest_exp, False),
    (Func("(x) -> (y) { auto t = sum(i : n, exp(x[i])); forall (i : n) y[i] = exp(x[i]) / t + exp(x[i]); }", FLOATS, "(n)->(n)"),
     lambda x: np.exp(x) / np.exp(x).sum(axis=-1, keepdims=True) + np.exp(x), True),
    (Func("(x) -> (y) { auto t = max(i : n, exp(x[i])); forall (i : n) y[i] = exp(x[i]) / t; }", FLOATS, "(n)->(n)"),
     lambda x: np.exp(x) / np.exp(x).max(axis=-1, keepdims=True), True),
    (Func("(x) -> (y) { auto t = sum(i : n, exp(x[i])); forall (i : n) y[i] = exp(x[i]) / t + x[i]; }", FLOATS, "(n)->(n)"),
     lambda x: np.exp(x) / np.exp(x).sum(axis=-1, keepdims=True) + x, True),
    (Func("(x) -> (y) { auto t = sum(i : n, exp(x[i] - x[0])); forall (i : n) y[i] = exp(x[i] - x[0]) / t; }", FLOATS, "(n)->(n)"),
     lambda x: np.exp(x - x[:, :1]) / np.exp(x - x[:, :1]).sum(axis=-1, keepdims=True), True),
    (Func("(x) -> (y) { auto t = sum(i : n, exp(x[i] - x[n - 1 - i])); forall (i : n) y[i] = exp(x[i] - x[n - 1 - i]) / t; }", FLOATS,
          "(n)->(n)"), lambda x: np.exp(x - x[:, ::-1]) / np.exp(x - x[:, ::-1]).sum(axis=-1, keepdims=True), True),
    (Func("(x) -> (y) { y = sum(i : n - 3, exp(x[i])); }", FLOATS, "(n)->()"), lambda x: np.exp(x[:, :-3]).sum(axis=-1), False),
    (Func("(x) -> (y) { y = max(i : n - 3, exp(x[i])); }", FLOATS, "(n)->()"),
     lambda x: np.exp(x[:, :-3]).max(axis=-1, initial=-np.inf), False),
    (Func("own(a, b) { return a > b ? a : b; } (x) -> (y) { y = reduce(own, i : n - 3, exp(x[i])); }", FLOATS, "(n)->()"),
     lambda x: np.exp(x[:, :-3]).max(axis=-1, initial=0), False),
    (Func("(x) -> (y) { forall (i : n) y[i] = 7; forall (i : n - 3) y[i] = exp(x[i]); }", FLOATS, "(n)->(n)"),
     lambda x: np.where(np.arange(x.shape[1]) < x.shape[1] - 3, np.exp(x), 7), True),
    (Func("(x) -> (y) { forall (i : n) if (x[i] > 0) y[i] = log(x[i]); else y[i] = x[i]; }", FLOATS, "(n)->(n)"),
     lambda x: np.where(x > 0, np.log(np.where(x > 0, x, 1)), x), True),
]
HIGHEST = Func("(x) -> (y) { y = max(i : n, x[i]); }", "; ".join(f"{t.name}->{t.name}" for t in INTEGERS) + "; " + FLOATS, "(n)->()")
LOWEST = Func("(x) -> (y) { y = min(i : n, x[i]); }", "; ".join(f"{t.name}->{t.name}" for t in INTEGERS) + "; " + FLOATS, "(n)->()")


def rows(rng, n, t, gaps=0.2):
    """Two rows of values that nothing overflows of, at a page's end or, now and then, with gaps between the elements."""
    x = rng.uniform(-4, 4, (2, n)).astype(t)
    if rng.random() >= gaps:
        return at_page_end(x)
    apart = np.zeros((2, n * 3), t)
    apart[:, ::3] = x
    return apart[:, ::3]


def functions(rng):
    for name in ("f2", "f4", "f8"):
        t = np.dtype(name)
        for f, reference, keeps in FUNCTIONS:
            for n in LENGTHS * ROUNDS:
                x = rows(rng, n, t)
                got = at_page_end(np.zeros((2, n) if keeps else 2, t))
                f(x, got)
                want = reference(x.astype("f8" if name != "f8" else np.longdouble))
                scale = np.maximum(np.abs(want), np.abs(want).max(axis=-1, keepdims=True) if keeps else 1)
                assert ((np.abs(got - want) <= 32 * np.finfo(t).eps * scale) | (got == want)).all(), (f, t, n, x, got, want)


def in_place(rng):
    """An output that is the input gets the same bits as another one that lies like it."""
    for t in (np.dtype("f4"), np.dtype("f8")):
        for f, _, keeps in FUNCTIONS:
            for n in LENGTHS if keeps else ():
                x = rows(rng, n, t, gaps=0)
                want = np.zeros((2, n), t)
                f(x, want)
                f(x, x)
                assert same(np.ascontiguousarray(x), want), (f, t, n)


ELEMENTWISE = [Func(text, FLOATS) for text in (
    "(x) { return exp(x); }", "(x) { return sin(x); }", "(x) { return x > 0 ? log(x) : x; }", "(x) { return tanh(x) * cbrt(x) + exp(x); }")]


def positions(rng):
    """An element's result has the same bits in arrays and rows of all lengths; nothing behind the last one is read or written."""
    for f in ELEMENTWISE:
        for t in (np.dtype("f2"), np.dtype("f4"), np.dtype("f8")):
            values = rng.uniform(-4, 4, 1024).astype(t)
            want = np.empty_like(values)
            f(values, want)
            for n in [n for n in LENGTHS if n <= 1024]:
                x, got = at_page_end(values[-n:]), at_page_end(np.zeros(n, t))
                f(x, got)
                assert same(np.asarray(got), want[-n:]), (t, n)
            for n in (1, 3, 7, 8, 15, 16, 17, 20, 31):
                x = values.reshape(32, 32)[:, 32 - n:]
                block = np.full((32, 32), 7, t)
                f(x, block[:, 32 - n:])
                assert same(np.ascontiguousarray(block[:, 32 - n:]), np.ascontiguousarray(want.reshape(32, 32)[:, 32 - n:])), (t, n)
                assert (block[:, :32 - n] == 7).all(), (t, n)


def extremes(rng):
    for f, reference in ((HIGHEST, np.max), (LOWEST, np.min)):
        for t in INTEGERS + [np.dtype(name) for name in ("f2", "f4", "f8")]:
            for n in LENGTHS * ROUNDS:
                x = at_page_end(random_values(rng, (2, n), t))
                if t.kind == "f" and rng.random() < 0.5:
                    x[0, rng.integers(n)] = np.nan
                got = np.zeros(2, t)
                f(x, got)
                with np.errstate(invalid="ignore"):
                    want = reference(x, axis=1)
                assert (got == want).all() or (np.isnan(got) == np.isnan(want)).all() and (got == want)[~np.isnan(want)].all(), (t, n)


if __name__ == "__main__":
    sys.exit(run([functions, in_place, positions, extremes]))
