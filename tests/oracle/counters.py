"""counters.py - uf_at with many updates of few elements against NumPy's ufunc.at: histograms, and other operators that an atomic instruction
does, which a GPU counts in shared memory. Numbers of updates and elements lie around the bounds for that.

PROP_N=n makes n times as many calls. UF_TEST_GPU=1 makes them on the GPU as well.
"""
import os
import sys

import numpy as np

from uf import Func, GPU, run, same

ROUNDS = int(os.environ.get("PROP_N", "1"))
DEVICES = [None, GPU] if os.environ.get("UF_TEST_GPU") else [None]
UPDATES = [32767, 32768, 32769, 50000, 131072, 200001]
ELEMENTS = [1, 2, 7, 64, 256, 1000, 1023, 1024, 1025, 4095, 4096, 4097, 8191, 8192, 8193]
INTEGERS = [np.dtype(t) for t in ("i4", "u4", "i8", "u8")]
FLOATS = [np.dtype(t) for t in ("f4", "f8")]
OPERATORS = {name: (getattr(np, name), Func.load(name))
             for name in ("add", "subtract", "maximum", "minimum", "bitwise_and", "bitwise_or", "bitwise_xor")}


def target_of(rng, shape, t):
    """Small whole numbers, which sums of floats hold exactly, in an array that may have gaps or lie backwards."""
    step = tuple(int(rng.choice([1, 1, 2, -1])) for _ in shape)
    block = rng.integers(0, 50, [n * abs(s) for n, s in zip(shape, step)]).astype(t)
    return block[tuple(slice(None, None, s) for s in step)]


def indices_of(rng, shape, updates):
    crowded = rng.random() < 0.3
    return [rng.integers(-n, max(1, n // 50) if crowded else n, updates).astype(rng.choice(["i4", "i8"])) for n in shape]


def compare(rng, name, t):
    ufunc, f = OPERATORS[name]
    updates, n = int(rng.choice(UPDATES)), int(rng.choice(ELEMENTS))
    shape = (n,) if rng.random() < 0.6 else (max(1, n // 16), 16)
    target, indices = target_of(rng, shape, t), indices_of(rng, shape, updates)
    number = rng.random() < 0.5
    operand = np.asarray(t.type(rng.integers(0, 9))) if number else rng.integers(0, 9, updates).astype(t)
    want = target.copy()
    ufunc.at(want, tuple(indices), operand)
    before = target.copy()
    for device in DEVICES:
        target[...] = before
        f.at(target, indices, operand, device=device)
        assert same(np.ascontiguousarray(target), want), (name, t, updates, shape, number, device)


def test_integers(rng):
    for t in INTEGERS:
        for name in OPERATORS:
            for _ in range(3 * ROUNDS):
                compare(rng, name, t)


def test_floats(rng):
    for t in FLOATS:
        for name in ("add", "subtract"):
            for _ in range(4 * ROUNDS):
                compare(rng, name, t)


def test_wrapping(rng):
    """A count times the number may exceed the dtype: it wraps as the sum does."""
    for t in INTEGERS:
        index, number = np.zeros(100000, "i8"), np.asarray(np.iinfo(t).max // 3, t)
        want = np.zeros(1, t)
        with np.errstate(over="ignore"):
            want[0] = (np.full(len(index), number).astype(t)).sum(dtype=t)
        for device in DEVICES:
            got = np.zeros(1, t)
            OPERATORS["add"][1].at(got, [index], number, device=device)
            assert same(got, want), (t, device)


if __name__ == "__main__":
    sys.exit(run([test_integers, test_floats, test_wrapping]))
