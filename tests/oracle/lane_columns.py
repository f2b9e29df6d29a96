"""lane_columns.py - small matrices of which each lane of a warp has a column: qr (src/ir/gufunc/reflectors.c), eigh and svd (jacobi.c), lstsq
(least_squares.c), by what NumPy says that their results must satisfy: random sizes around all bounds, strides, places of inputs, matrices that are short of rank, not
finite, or far from 1 in size. On a simulated GPU, whose memory ends at a page that nobody may touch; with UF_TEST_GPU=1 on a GPU.
PROP_N=n draws n times as many."""
import sys

import numpy as np

from elimination import compute, lay, randomly  # first: it says which GPU
from linalg import check_eigh, check_lstsq, check_qr, check_svd, hermitian, largest, near, numbers, pick, real_of, rectangle
from uf import Func, run

FUNCS = {name: Func.load(name) for name in ("qr", "eigh", "svd", "lstsq")}


def words(t):
    return np.dtype(t).itemsize // 4


def fits(name, t, m, n):
    """Is it a matrix that lanes have?"""
    parts = 2 if t in "FD" else 1
    columns, rows = (n, m) if name == "qr" else (min(m, n), max(m, n))
    others = rows if name == "qr" else columns
    return (2 <= columns <= 32 and rows <= 64 and (rows + others) * words(t) <= 136 and (name != "qr" or m * n * parts >= 50))


def draw_sizes(rng, name, t):
    while True:
        m, n = (int(pick(rng, (1, 2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 24, 31, 32, 33, 34, 63, 64))) for _ in range(2))
        n = m if name == "eigh" else n
        if fits(name, t, m, n):
            return m, n


def calls_of(rng):
    return (int(pick(rng, (1, 2, 3, 7, 20, 33))),)


def outputs(rng, *shapes_types):
    return [lay(rng, np.full(shape, 7, t)) for shape, t in shapes_types]


def shapes(name, t, loop, m, n):
    k, real = min(m, n), real_of(t)
    return {"qr": [(loop + (m, k), t), (loop + (k, n), t)], "eigh": [(loop + (n,), real), (loop + (n, n), t)],
            "svd": [(loop + (m, k), t), (loop + (k,), real), (loop + (k, n), t)]}[name]


def factorised(rng, name, t, a):
    out = outputs(rng, *shapes(name, t, a.shape[:-2], *a.shape[-2:]))
    compute(FUNCS[name], lay(rng, a), *out)
    return out


def reflected(rng, t):
    m, n = draw_sizes(rng, "qr", t)
    a = rectangle(rng, t, calls_of(rng), m, n)[0]
    check_qr(t, a, *factorised(rng, "qr", t, a))


def eigenvectors(rng, t):
    m, n = draw_sizes(rng, "eigh", t)
    a, above = hermitian(rng, t, calls_of(rng) + (n, n))
    check_eigh(t, a, *factorised(rng, "eigh", t, above))


def singular_vectors(rng, t):
    m, n = draw_sizes(rng, "svd", t)
    a = rectangle(rng, t, calls_of(rng), m, n)[0]
    check_svd(t, a, *factorised(rng, "svd", t, a))


def least_squares(rng, t):
    m, n = draw_sizes(rng, "lstsq", t)
    loop, r = calls_of(rng), int(pick(rng, (0, 1, 2, 5, 255, 256, 300)))
    a = numbers(rng, loop + (m, n), t)
    if min(m, n) > 2 and rng.random() < .3:  # of rank 2
        a = (a[..., :2] @ numbers(rng, (2, n), t)).astype(t)
    b, rcond = numbers(rng, loop + (m, r), t), np.array(pick(rng, (-1, 1e-3)), real_of(t))
    out = outputs(rng, (loop + (n, r), t), (loop + (r,), real_of(t)), (loop, "i"), (loop + (min(m, n),), real_of(t)))
    compute(FUNCS["lstsq"], lay(rng, a), lay(rng, b), rcond, *out)
    check_lstsq(t, a, b, rcond, *out)


def in_place(rng):
    for t in "fdFD":
        a = hermitian(rng, t, (5, 9, 9))[0]
        w, v = np.zeros((5, 9), real_of(t)), a.copy()
        compute(FUNCS["eigh"], v, w, v)
        check_eigh(t, a, w, v)
        b = numbers(rng, (5, 9, 9), t)
        q, r = b.copy(), np.zeros_like(b)
        compute(FUNCS["qr"], q, q, r)
        check_qr(t, b, q, r)


def same_bits(rng):
    """Wherever a matrix lies, and whatever lies beside it: others take more rotations, or fewer."""
    for name in ("qr", "eigh", "svd"):
        for t in "fD":
            m, n = draw_sizes(rng, name, t)
            a = rectangle(rng, t, (12,), m, n)[0]
            a[::3] = 0
            a[1::3] = np.eye(m, n)
            all_of, order = factorised(rng, name, t, a), rng.permutation(12)
            turned = factorised(rng, name, t, a[order])
            alone = factorised(rng, name, t, a[5:6])
            for x, y, z in zip(all_of, turned, alone):
                assert np.array_equal(x[order], y) and np.array_equal(x[5:6], z), (name, t, m, n)


def not_finite(rng):
    """All of such a matrix's results are NaN, and nothing of its neighbours'."""
    for name in ("qr", "eigh", "svd"):
        for t in "fdFD":
            m, n = draw_sizes(rng, name, t)
            a = numbers(rng, (9, m, n), t)
            a[2, m - 1, 0], a[4, m - 1, 0] = np.nan, -np.inf
            for x in factorised(rng, name, t, a):
                bad = np.isnan(x).reshape(9, -1)
                assert np.all(bad[[2, 4]] | (name == "qr")) and np.any(bad[[2, 4]], axis=1).all(), (name, t, m, n)
                assert not np.any(bad[[0, 1, 3, 5, 6, 7, 8]]), (name, t, m, n)
    a, x = numbers(rng, (3, 5, 4), "f"), [np.zeros(shape, t) for shape, t in (((3, 4, 2), "f"), ((3, 2), "f"), (3, "i"), ((3, 4), "f"))]
    a[1, 4, 3] = np.inf
    compute(FUNCS["lstsq"], a, np.ones((3, 5, 2), "f"), np.array(-1, "f"), *x)
    assert [list(np.isnan(x[k].reshape(3, -1)).all(1)) for k in (0, 1, 3)] == [[False, True, False]] * 3 and list(x[2]) == [4, 0, 4], x


def exact(rng):
    """What needs no rotation or reflector is as it was; zeros have singular values 0, and orthonormal vectors."""
    for t in "fdFD":
        d = np.arange(9, 0, -1)
        w, v = factorised(rng, "eigh", t, np.stack([np.diag(d), np.zeros((9, 9))]).astype(t))
        assert np.array_equal(w, [d[::-1], 0 * d]) and np.array_equal(v[0], np.eye(9)[:, ::-1]) and np.array_equal(np.sort(v[1]), np.sort(np.eye(9))), t
        u, s, vh = factorised(rng, "svd", t, np.stack([np.diag(d[::-1]), np.zeros((9, 9))]).astype(t))
        assert np.array_equal(s, [d, 0 * d]) and np.array_equal(u[0], np.eye(9)[:, ::-1]) and np.array_equal(vh[0], np.eye(9)[::-1]), t
        q, r = factorised(rng, "qr", t, np.stack([np.triu(np.ones((9, 9))), np.zeros((9, 9))]).astype(t))
        assert np.array_equal(q, [np.eye(9)] * 2) and np.array_equal(r, [np.triu(np.ones((9, 9))), np.zeros((9, 9))]), t


def graded(rng):
    """Elements over many decades, subnormal ones, and the largest of all."""
    for t in "fdFD":
        for scale in (np.logspace(0, -30, 8), np.logspace(-30, 0, 8)):
            a = (numbers(rng, (3, 8, 8), t) * scale).astype(t)
            check_qr(t, a, *factorised(rng, "qr", t, a))
            check_svd(t, a, *factorised(rng, "svd", t, a))
        info = np.finfo(np.dtype(t))
        large = np.full((2, 8, 8), info.max / 40, t)
        large[1] = np.diag(np.linspace(.1, .9, 8)) * info.max
        u, s, vh = factorised(rng, "svd", t, large)
        near(largest(np.max(s, 1) / info.max - [8 / 40, .9]), 100 * info.eps, t)
        tiny = np.full((1, 8, 8), info.tiny / 8, t)
        w, v = factorised(rng, "eigh", t, tiny)
        near(abs(w[0, 7] / info.tiny - 1), 2 * info.smallest_subnormal / info.tiny + 20 * info.eps, t)
        q, r = factorised(rng, "qr", t, tiny)
        near(largest(np.abs(r[0, 0]) / info.tiny - np.sqrt(8) / 8), 20 * info.smallest_subnormal / info.tiny, t)


def converted(rng):
    """Elements are converted as they are read and written."""
    for t in (np.int8, np.int16, np.float16):
        a = rng.integers(-9, 9, (5, 8, 8)).astype(t)
        q, r = np.zeros(a.shape), np.zeros(a.shape)
        compute(FUNCS["qr"], lay(rng, a), q, r)
        check_qr("f", a.astype(float), q, r)
        w, v = np.zeros((5, 8)), np.zeros(a.shape)
        compute(FUNCS["eigh"], lay(rng, a), w, v)
        near(largest(np.linalg.eigvalsh(a.astype(float)) - w), 1e-4, t)


if __name__ == "__main__":
    import os
    import warnings
    warnings.simplefilter("ignore")
    if "asan" in os.environ.get("LD_PRELOAD", ""):
        print("the address sanitizer does not follow the threads of a simulated GPU through Python")
        sys.exit(77)
    sys.exit(run([randomly(f) for f in (reflected, eigenvectors, singular_vectors, least_squares)] + [in_place, same_bits, not_finite, exact, graded, converted]))
