"""block_columns.py - eigenvalues and singular values, with their vectors, of matrices whose columns the threads of a block rotate in shared memory
(src/ir/gufunc/block_jacobi.c): random sizes around all bounds, strides, places of inputs, matrices that are short of rank, not finite, or far from 1
in size. On a simulated GPU, whose memory ends at a page that nobody may touch; with UF_TEST_GPU=1 on a GPU. PROP_N=n draws n times as many."""
import sys

import numpy as np

from elimination import compute, lay, randomly  # first: it says which GPU
from lane_columns import FUNCS, factorised, fits
from linalg import adjoint, check_eigh, check_svd, hermitian, largest, near, numbers, pick, rectangle, real_of
from uf import run

SIZES = (2, 3, 15, 16, 17, 18, 24, 31, 32, 33, 34, 40, 48, 63, 64, 65, 100, 127, 128, 129, 255)
WORK = 300000  # of a draw (multiplications of 32 bits), so that a simulated GPU takes seconds


def hermitian_rows(t, calls=2):
    """Up to how many rows few Hermitian matrices, or one, are the block's, and not cuSOLVER's."""
    few, one = {1: (40, 64), 2: (34, 48), 4: (24, 24)}[np.dtype(t).itemsize // 4]
    return one if calls == 1 else few


def draw_sizes(rng, t, name="svd", calls=2):
    while True:
        m, n = int(pick(rng, SIZES)), int(pick(rng, SIZES))
        m = n if name == "eigh" else m
        if not fits(name, t, m, n) and (name == "svd" or n <= hermitian_rows(t, calls)) and m * n * min(m, n) * np.dtype(t).itemsize // 4 <= WORK:
            return m, n


def calls_of(rng):
    return (int(pick(rng, (1, 2, 3))),)


def singular_vectors(rng, t):
    m, n = draw_sizes(rng, t)
    a = rectangle(rng, t, calls_of(rng), m, n)[0]
    check_svd(t, a, *factorised(rng, "svd", t, a))


def eigenvectors(rng, t):
    calls = calls_of(rng)
    n = draw_sizes(rng, t, "eigh", calls[0])[0]
    a, above = hermitian(rng, t, calls + (n, n))
    check_eigh(t, a, *factorised(rng, "eigh", t, above))


def close_eigenvalues(rng, t):
    """The same several times, of either sign, and next to nothing."""
    n = draw_sizes(rng, t, "eigh")[0]
    q = np.linalg.qr(numbers(rng, (2, n, n), t.upper() if t in "FD" else "d"))[0]
    a = (q * rng.choice((1, -1, 1e-9, 0), (2, 1, n))) @ adjoint(q)
    a = ((a + adjoint(a)) / 2).astype(t)
    check_eigh(t, a, *factorised(rng, "eigh", t, a))


def short_of_rank(rng, t):
    """Vectors that belong to values of 0 are orthonormal, too."""
    m, n = draw_sizes(rng, t)
    rank = int(pick(rng, (0, 1, 2)))
    a = (numbers(rng, (2, m, rank), t) @ numbers(rng, (2, rank, n), t)).astype(t)
    u, s, vh = factorised(rng, "svd", t, a)
    check_svd(t, a, u, s, vh)
    near(largest(s[:, rank:]), 20 * (m + n) * np.finfo(t).eps * largest(a), t, m, n)


def same_bits(rng):
    """Wherever a matrix lies, and whatever lies beside it."""
    for name in ("eigh", "svd"):
        for t in "fD":
            m, n = draw_sizes(rng, t, name)
            a = rectangle(rng, t, (4,), m, n)[0]
            a[1] = np.eye(m, n)
            all_of, order = factorised(rng, name, t, a), rng.permutation(4)
            for x, y, z in zip(all_of, factorised(rng, name, t, a[order]), factorised(rng, name, t, a[2:3])):
                assert np.array_equal(x[order], y) and np.array_equal(x[2:3], z), (name, t, m, n)


def not_finite(rng):
    for name in ("eigh", "svd"):
        for t in "fdFD":
            n = min(34, hermitian_rows(t))
            a = numbers(rng, (4, n, n), t)
            a[1, n - 1, 0], a[3, n - 1, 0] = np.nan, -np.inf
            for x in factorised(rng, name, t, a):
                bad = np.isnan(x).reshape(4, -1)
                assert np.all(bad[[1, 3]]) and not np.any(bad[[0, 2]]), (name, t)


def in_place(rng):
    for t in "fD":
        n = min(35, hermitian_rows(t))
        a = numbers(rng, (2, n, n), t)
        u, s, vh = a.copy(), np.zeros((2, n), real_of(t)), np.zeros_like(a)
        compute(FUNCS["svd"], u, u, s, vh)
        check_svd(t, a, u, s, vh)
        h = hermitian(rng, t, (2, n, n))[0]
        v = h.copy()
        compute(FUNCS["eigh"], v, s, v)
        check_eigh(t, h, s, v)


def exact(rng):
    """What needs no rotation is as it was; zeros have values 0."""
    for t in "fdFD":
        n = min(37, hermitian_rows(t))
        d, one = np.arange(n, 0, -1), np.eye(n)
        u, s, vh = factorised(rng, "svd", t, np.stack([np.diag(d), np.diag(d[::-1]), 0 * one]).astype(t))
        assert np.array_equal(s, [d, d, 0 * d]) and np.array_equal(u[0], one) and np.array_equal(vh[0], one), t
        assert np.array_equal(np.abs(u[1]), one[:, ::-1]) and np.array_equal((u[1] * s[1]) @ vh[1], np.diag(d[::-1])), t
        near(largest(adjoint(u[2]) @ u[2] - one), 300 * np.finfo(t).eps, t)
        w, v = factorised(rng, "eigh", t, np.stack([np.diag(d), np.diag(d[::-1]), 0 * one]).astype(t))
        assert np.array_equal(w, [d[::-1], d[::-1], 0 * d]) and np.array_equal(np.abs(v), [one[::-1], one, one]), t


def graded(rng):
    """Elements over many decades, subnormal ones, and the largest of all."""
    for t in "fd":
        for scale in (np.logspace(0, -30, 36), np.logspace(-30, 0, 36)):
            a = (numbers(rng, (1, 36, 36), t) * scale).astype(t)
            check_svd(t, a, *factorised(rng, "svd", t, a))
        info = np.finfo(np.dtype(t))
        large = np.full((2, 36, 36), info.max / 40, t)
        large[1] = np.diag(np.linspace(.1, .9, 36)) * info.max
        s = factorised(rng, "svd", t, large)[1]
        near(largest(np.max(s, 1) / info.max - [36 / 40, .9]), 200 * info.eps, t)
        w = factorised(rng, "eigh", t, np.full((1, 36, 36), info.tiny / 8, t))[0]
        near(abs(w[0, 35] / info.tiny - 36 / 8), 36 * info.smallest_subnormal / info.tiny + 200 * info.eps, t)


def converted(rng):
    """Elements are converted as they are read and written."""
    for t in (np.int8, np.float16):
        a = rng.integers(-9, 9, (2, 34, 33)).astype(t)
        out = [np.zeros(shape) for shape in ((2, 34, 33), (2, 33), (2, 33, 33))]
        compute(FUNCS["svd"], lay(rng, a), *out)
        check_svd("f", a.astype(float), *out)


if __name__ == "__main__":
    import os
    import warnings
    warnings.simplefilter("ignore")
    if "asan" in os.environ.get("LD_PRELOAD", ""):
        print("the address sanitizer does not follow the threads of a simulated GPU through Python")
        sys.exit(77)
    sys.exit(run([randomly(f) for f in (eigenvectors, close_eigenvalues, singular_vectors, short_of_rank)] + [same_bits, not_finite, in_place, exact, graded, converted]))
