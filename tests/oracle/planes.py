"""planes.py - reductions and accumulations along a middle axis, whose results or lines lie side by side, few before the next ones, and along the
first of two axes, against NumPy: every length and every number side by side around the bounds of code, arrays that begin anywhere, gaps, and
results in place. Values are small integers in every dtype, so that results are exact.

PROP_N=n makes n times as many calls. UF_TEST_GPU=1 makes them on the GPU as well, on arrays in its memory.
"""
import os
import sys

import numpy as np

from uf import GPU, Func, Memory, lib, run

ROUNDS = int(os.environ.get("PROP_N", "1"))
ROWS = 4096  # from which on they go by planes
REDUCE = {"sum": np.sum, "max": np.max, "min": np.min, "argmax": np.argmax}
SCAN = {"cumsum": np.cumsum, "cummax": np.maximum.accumulate}
TYPES = ("int8", "int16", "int32", "int64", "float16", "float32", "float64")
SIGNATURES = ";".join(f"{t}->{t}" for t in TYPES)
SIGNATURES_TWO = ";".join(f"{t},{t}->{t}" for t in TYPES)
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


def check_accumulation(rng, name, f, x, device):
    """Along the middle axis, now and then in place."""
    (own, _), = f.accumulate_infer(x, axis=1)
    want = SCAN[name](x.astype(own), axis=1)
    out = x if own == x.dtype and rng.random() < 0.3 else np.zeros(x.shape, own)
    f.accumulate(x, out, axis=1, device=device)
    assert np.array_equal(out, want), f"{name} {x.dtype} {x.shape} {x.strides}, in place: {out is x}"


def accumulations(device=None):
    def test(rng):
        for name in SCAN:
            f = Func.load(name)
            for _ in range(8 * ROUNDS):
                t = pick(rng, DTYPES[:-1] if name != "cumsum" else DTYPES)
                x = small(rng, random_shape(rng), t)
                check_accumulation(rng, name, f, x, device)
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
        for name in SCAN:
            f = Func.load(name)
            for _ in range(6 * ROUNDS):
                t = pick(rng, [t for t in DTYPES if t not in ("f2", "c8")])  # sums of so many are exact
                side = int(pick(rng, [2, 3, 4, 5, 7, 8, 9, 16, 17, 31, 33, 48, 63, 64, 65]))
                planes = int(pick(rng, [1, 1, 1, 2, 5]))
                x = small(rng, (planes, int(rng.integers(256, 600000 // side // planes)), side), t)
                check_accumulation(rng, name, f, x, device)
    test.__name__ = "long_lines" + ("_on_the_gpu" if device else "")
    return test


def few_results(device=None):
    """Reductions along the first axis to few results, whose elements lie side by side."""
    # of so many elements that a device of 132 multiprocessors takes them so; a simulated one has fewer
    most = 20_000_000 if device and "UFUNC_CUDA_DRIVER" not in os.environ else 600_000

    def test(rng):
        for name in ("sum", "max", "min"):
            f = Func.load(name)
            for _ in range(3 * ROUNDS):
                t = pick(rng, ["i1", "i2", "i4", "f4", "f8"])
                side = int(pick(rng, [2, 3, 5, 7, 9, 10, 17, 33, 34, 63, 100, 201, 255, 257]))
                x = small(rng, (most // side + int(rng.integers(0, 999)), side), t)
                (own, shape), = f.reduce_infer(x, axes=(0,))
                out = np.zeros(shape, own)
                f.reduce(x, out, axes=(0,), device=device)
                want = REDUCE[name](x, axis=0, **({"dtype": "f8" if t[0] == "f" else own} if name == "sum" else {}))
                assert np.array_equal(out, want.astype(own)), f"{name} {x.dtype} {x.shape} {x.strides}"
    test.__name__ = "few_results" + ("_on_the_gpu" if device else "")
    return test


def calls(device=None):
    """Calls of few elements that lie side by side: a function of rows, one of matrices and vectors, and one that reads its output."""
    rows = Func("(x) -> (y) { auto s = sum(i : n, x[i]); forall (i : n) y[i] = s - x[i]; }", SIGNATURES, "(n)->(n)")
    product = Func("(a, x) -> (y) { forall (i : m) y[i] = sum(j : n, a[i][j] * x[j]); }", SIGNATURES_TWO, "(m,n),(n)->(m)")
    partly = Func("(x) -> (y) { for (int64 i = 1; i < n; i++) y[i] = x[i] + y[i - 1]; }", SIGNATURES, "(n)->(n)")

    def run_on(f, memory_device, *arrays):
        with Memory(memory_device) as memory:
            f.run(lib.uf_call, memory, arrays, Func.options(memory))

    def moved(x, cores):
        """The same array, its core dimensions before the last dimension of the loop in memory."""
        order = [*range(x.ndim - cores - 1), *range(x.ndim - cores, x.ndim), x.ndim - cores - 1]
        back = np.argsort(order)
        return np.ascontiguousarray(x.transpose(order)).transpose(back)

    def test(rng):
        for _ in range(12 * ROUNDS):
            t = pick(rng, ["i1", "i2", "i4", "i8", "f2", "f4", "f8"])
            side, n, m = (int(pick(rng, s)) for s in ([2, 3, 4, 7, 8, 17, 33, 128, 129], [1, 2, 5, 6, 7, 8, 17, 31, 33], [1, 2, 3, 5]))
            planes = int(rng.integers(1, 12000 // (side * n) + 2))
            x = moved(small(rng, (planes, side, n), t), 1)
            y = moved(small(rng, (planes, side, n), t), 1)
            run_on(rows, device, x, y)
            assert np.array_equal(y, x.sum(axis=-1, keepdims=True, dtype=t) - x), f"rows {t} {planes} {side} {n}"
            before = y.copy()
            run_on(partly, device, x, y)
            want = np.concatenate([before[..., :1], x[..., 1:]], axis=-1)
            assert np.array_equal(y, np.cumsum(want, axis=-1, dtype=t)), f"partly {t} {planes} {side} {n}"
            if n * m > 100:
                continue
            a = moved(small(rng, (planes, side, m, n), t), 2)
            z = moved(np.zeros((planes, side, m), t), 1)
            b = x if rng.random() < 0.5 else small(rng, (n,), t)  # the same for all calls
            run_on(product, device, a, b, z)
            assert np.array_equal(z, (a * np.broadcast_to(b, x.shape)[..., None, :]).sum(axis=-1, dtype=t)), f"product {t} {planes} {side} {m} {n}"
    test.__name__ = "calls" + ("_on_the_gpu" if device else "")
    return test


def tall_calls(device=None):
    """Few tall calls side by side, which a GPU spreads over all its blocks: two results that need each other, and one that all blocks have first."""
    f = Func("(x) -> (y, s) { auto t = sum(i : n, x[i]); auto m = max(i : n, x[i] - t); auto k = min(i : n, x[i] * m); s = k;"
             " forall (i : n) y[i] = x[i] - t + m; }", ";".join(f"{t}->{t},{t}" for t in TYPES[2:] if t != "float16"), "(n)->(n),()")

    def test(rng):
        for _ in range(5 * ROUNDS):
            t = pick(rng, ["i4", "i8", "f4", "f8"])
            side = int(pick(rng, [2, 3, 4, 5, 8, 9, 31, 32, 33, 64, 65, 100, 255, 256, 257, 300, 500]))
            height = int(rng.integers(2, 100)) if rng.random() < 0.2 else int(rng.integers(20000, 3000000 // side + 30000))
            x = small(rng, (1, height, side), t)[0]
            y, s = np.zeros_like(x), np.zeros(side, t)
            with Memory(device) as memory:
                f.run(lib.uf_call, memory, (x.T, y.T, s), Func.options(memory))
            total = x.sum(axis=0, dtype=t)
            most = (x - total).max(axis=0)
            assert np.array_equal(s, (x * most).min(axis=0)), f"{t} {x.shape} {x.strides}"
            assert np.array_equal(y, x - total + most), f"{t} {x.shape} {x.strides}"
    test.__name__ = "tall_calls" + ("_on_the_gpu" if device else "")
    return test


def main():
    kinds = [reductions, accumulations, side_by_side, long_lines, few_results, calls, tall_calls]
    tests = [kind() for kind in kinds]
    if os.environ.get("UF_TEST_GPU"):
        tests += [kind(GPU) for kind in kinds]
    return run(tests)


if __name__ == "__main__":
    sys.exit(main())
