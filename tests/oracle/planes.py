"""planes.py - reductions and accumulations along a middle axis, whose results or lines lie side by side, few before the next ones, and along the
first of two axes, against NumPy: every length and every number side by side around the bounds of code, arrays that begin anywhere, gaps, and
results in place. Values are small integers in every dtype, so that results are exact.

PROP_N=n makes n times as many calls. UF_TEST_GPU=1 makes them on the GPU as well, on arrays in its memory.
"""
import os
import sys

import numpy as np

from uf import GPU, Func, run

ROUNDS = int(os.environ.get("PROP_N", "1"))
ROWS = 4096  # from which on they go by planes
REDUCE = {"sum": np.sum, "max": np.max, "min": np.min, "argmax": np.argmax}
SCAN = {"cumsum": np.cumsum, "cummax": np.maximum.accumulate}
DTYPES = ["i1", "u1", "i2", "i4", "i8", "f2", "f4", "f8", "c8"]


def pick(rng, items):
    return items[rng.integers(len(items))]


def random_shape(rng, most=300000):
    """Rows of few elements mostly, and lengths around which code changes."""
    while True:
        side = int(pick(rng, [2, 3, 4, 5, 7, 8, 16, 17, 33, 64, 100, 254, 255, 256]))
        length = int(pick(rng, [2, 3, 5, 8, 17, 31, 63, 64, 65, 72, 73, 100, 254, 255, 256]))
        planes = int(rng.integers(ROWS // side, ROWS // side + 40))
        if planes * side * length <= most:
            return planes, length, side


def small(rng, shape, t):
    """An array that begins at any element of its memory, now and then with gaps between its planes."""
    gap = int(rng.random() < 0.15)
    block = np.zeros(int(np.prod(shape[1:]) + gap) * shape[0] + 17, t)
    first = int(rng.integers(0, 17)) if rng.random() < 0.5 else 0
    strides = [int(np.prod(shape[1:]) + gap), *(int(np.prod(shape[d + 1:])) for d in range(1, len(shape)))]
    x = np.lib.stride_tricks.as_strided(block[first:], shape, [s * block.itemsize for s in strides])
    low, high = (0, 2) if block.dtype.kind in "fc" else (0 if block.dtype.kind == "u" else -3, 4)
    x[...] = rng.integers(low, high, shape)
    return x


def reductions(device=None):
    def test(rng):
        for name, numpys in REDUCE.items():
            f = Func.load(name)
            for _ in range(6 * ROUNDS):
                t = pick(rng, DTYPES[:-1] if name != "sum" else DTYPES)
                x = small(rng, random_shape(rng), t)
                (own, shape), = f.reduce_infer(x, axes=(1,))
                out = np.zeros(shape, own)
                f.reduce(x, out, axes=(1,), device=device)
                assert np.array_equal(out, numpys(x, axis=1).astype(own)), f"{name} {x.dtype} {x.shape} {x.strides}"
    test.__name__ = "reductions" + ("_on_the_gpu" if device else "")
    return test


def accumulations(device=None):
    def test(rng):
        for name, numpys in SCAN.items():
            f = Func.load(name)
            for _ in range(8 * ROUNDS):
                t = pick(rng, DTYPES[:-1] if name != "cumsum" else DTYPES)
                x = small(rng, random_shape(rng), t)
                (own, _), = f.accumulate_infer(x, axis=1)
                want = numpys(x.astype(own), axis=1)
                out = x if own == x.dtype and rng.random() < 0.3 else np.zeros(x.shape, own)
                f.accumulate(x, out, axis=1, device=device)
                assert np.array_equal(out, want), f"{name} {x.dtype} {x.shape} {x.strides}, in place: {out is x}"
    test.__name__ = "accumulations" + ("_on_the_gpu" if device else "")
    return test


def side_by_side(device=None):
    """Lines that are columns of a matrix, so many that a thread of a GPU has several."""
    def test(rng):
        for name, numpys in SCAN.items():
            f = Func.load(name)
            for _ in range(3 * ROUNDS):
                t = pick(rng, DTYPES[:-1] if name != "cumsum" else DTYPES)
                columns = (1 << 17) * int(pick(rng, [1, 2, 4])) + int(pick(rng, [0, 0, 0, 1, 2, 4]))
                x = small(rng, (int(pick(rng, [2, 3, 9])), columns), t)
                (own, _), = f.accumulate_infer(x, axis=0)
                out = np.zeros(x.shape, own)
                f.accumulate(x, out, axis=0, device=device)
                assert np.array_equal(out, numpys(x.astype(own), axis=0)), f"{name} {x.dtype} {x.shape} {x.strides}"
    test.__name__ = "side_by_side" + ("_on_the_gpu" if device else "")
    return test


def long_lines(device=None):
    """Few long lines side by side, whose tiles a GPU spreads over blocks."""
    def test(rng):
        for name, numpys in SCAN.items():
            f = Func.load(name)
            for _ in range(6 * ROUNDS):
                t = pick(rng, [t for t in DTYPES if t not in ("f2", "c8")])  # sums of so many are exact
                side = int(pick(rng, [2, 3, 4, 5, 7, 8, 9, 16, 17, 31, 33, 48, 63, 64, 65]))
                planes = int(pick(rng, [1, 1, 1, 2, 5]))
                x = small(rng, (planes, int(rng.integers(256, 600000 // side // planes)), side), t)
                (own, _), = f.accumulate_infer(x, axis=1)
                want = numpys(x.astype(own), axis=1)
                out = x if own == x.dtype and rng.random() < 0.3 else np.zeros(x.shape, own)
                f.accumulate(x, out, axis=1, device=device)
                assert np.array_equal(out, want), f"{name} {x.dtype} {x.shape} {x.strides}, in place: {out is x}"
    test.__name__ = "long_lines" + ("_on_the_gpu" if device else "")
    return test


def main():
    tests = [reductions(), accumulations(), side_by_side(), long_lines()]
    if os.environ.get("UF_TEST_GPU"):
        tests += [reductions(GPU), accumulations(GPU), side_by_side(GPU), long_lines(GPU)]
    return run(tests)


if __name__ == "__main__":
    sys.exit(main())
