"""linalg.py - linear algebra of the catalogue against NumPy: qr, eigh, svd and lstsq, whose results are unique up to signs, by what
they must satisfy; solve, inv, det and cholesky where LAPACK computes them. Random loop shapes, strides and sizes on both sides of those
that kernels take, singular matrices, NaN, parts of large calls.

PROP_N=n makes n times as many. With UF_TEST_GPU=1 everything runs on the GPU, too.
"""
import os
import sys

import numpy as np

from uf import GPU, Func, random_source, random_window, run

ROUNDS = int(os.environ.get("PROP_N", "1"))
SIZES = (1, 2, 3, 5, 8, 15, 16, 17, 24, 33)


def pick(rng, items):
    return items[rng.integers(len(items))]


def load(name):
    return LOADED.setdefault(name, Func.load(name))


LOADED = {}


def real_of(t):
    return np.dtype(t).char.lower()


def numbers(rng, shape, t):
    x = rng.standard_normal(shape)
    return (x + 1j * rng.standard_normal(shape) if t in "FD" else x).astype(t)


def adjoint(a):
    return np.conj(np.swapaxes(a, -1, -2))


def largest(x):
    return np.max(np.abs(x), initial=0)


def place(rng, x):
    """The same array with other strides, in memory of its own."""
    block, window = random_window(rng, x.shape)
    view = window(np.zeros(block, x.dtype))
    view[...] = x
    return view


class Outputs:
    """Views of blocks that hold something, beside which nothing may be written."""

    def __init__(self, rng, shapes, types):
        windows = [random_window(rng, shape) for shape in shapes]
        self.blocks = [np.full(block, 7, t) for (block, _), t in zip(windows, types)]
        self.windows = [window for _, window in windows]
        self.views = [window(b) for window, b in zip(self.windows, self.blocks)]

    def check(self):
        for block, window in zip(self.blocks, self.windows):
            rest = block.copy()
            window(rest)[...] = 7
            assert np.all(rest == 7), "written outside the output"


def compute(rng, name, inputs, shapes, types, device=None):
    out = Outputs(rng, shapes, types)
    load(name)(*(place(rng, x) if x.ndim else x for x in inputs), *out.views, threads=int(rng.integers(0, 3)), device=device)
    out.check()
    return [np.array(v) for v in out.views]


def near(error, bound, *say):
    assert error <= bound, f"{error} is more than {bound}: {say}"


def loops(rng):
    if rng.random() < .15:
        return (9,)  # so many that a GPU's library computes them at once
    return tuple(int(n) for n in rng.choice([0, 1, 2, 3], rng.choice([0, 1, 2], p=[.3, .4, .3]), p=[.05, .2, .4, .35]))


def orthonormal(q, t, *say):
    n = q.shape[-1]
    near(largest(adjoint(q) @ q - np.eye(n)), 20 * (q.shape[-2] + n) * np.finfo(t).eps, *say)


# ---- Factorisations ----

def rectangle(rng, t, loop, m=None, n=None):
    """A matrix of random numbers, or one that is short of rank, or far from 1 in size."""
    if m is None:
        m, n = int(pick(rng, SIZES)), int(pick(rng, SIZES))
    a = numbers(rng, loop + (m, n), t)
    kind = rng.integers(6)
    if kind == 0:
        a[...] = 1
    elif kind == 1:
        a = (a * (np.arange(n) < 2)).astype(t)
        a = (a @ numbers(rng, (n, n), t)).astype(t)
    elif kind == 2:
        a = a * np.dtype(real_of(t)).type(1e-30 if t in "fF" else 1e-250)
    elif kind == 3:
        a = a * np.dtype(real_of(t)).type(1e25 if t in "fF" else 1e250)
    elif kind == 4:
        a[...] = 0
    return a.astype(t), m, n, min(m, n)


def check_qr(t, a, q, r):
    assert np.array_equal(r, np.triu(r)), "r is not upper triangular"
    near(largest(q @ r - a), 20 * sum(a.shape[-2:]) * np.finfo(t).eps * largest(a), t, a.shape)
    if a.size:
        orthonormal(q, t, t, a.shape)


def qr(rng, t, device=None):
    loop = loops(rng)
    a, m, n, k = rectangle(rng, t, loop)
    check_qr(t, a, *compute(rng, "qr", [a], [loop + (m, k), loop + (k, n)], [t, t], device))


def hermitian(rng, t, shape):
    """A matrix, and the same with something else above the diagonal, which is not read."""
    a = numbers(rng, shape, t)
    a = (a + adjoint(a)) / 2
    kind = rng.integers(4)
    a = a * 0 + np.eye(shape[-1], dtype=t) if kind == 0 else a * (1e-15 if kind == 1 else 1)
    a = a.astype(t)
    return a, (np.tril(a) + np.triu(numbers(rng, a.shape, t), 1)).astype(t)


def check_eigh(t, a, w, v):
    want = np.linalg.eigvalsh(a)
    bound = 20 * a.shape[-1] * np.finfo(t).eps * largest(want)
    near(largest(w - want), bound, t, a.shape)
    assert np.all(np.diff(w) >= 0), "not in ascending order"
    near(largest(a @ v - v * w[..., None, :]), bound, t, a.shape)
    orthonormal(v, t, t, a.shape)


def eigh(rng, t, device=None):
    loop, n = loops(rng), int(pick(rng, SIZES))
    a, above = hermitian(rng, t, loop + (n, n))
    check_eigh(t, a, *compute(rng, "eigh", [above], [loop + (n,), loop + (n, n)], [real_of(t), t], device))


def check_svd(t, a, u, s, vh):
    bound = 20 * sum(a.shape[-2:]) * np.finfo(t).eps * largest(a)
    near(largest((u * s[..., None, :]) @ vh - a), bound, t, a.shape)
    near(largest(s - np.linalg.svd(a, compute_uv=False)), bound, t, a.shape)
    assert np.all(np.diff(s) <= 0) and np.all(s >= 0), "not in descending order"
    orthonormal(u, t, t, a.shape)
    orthonormal(adjoint(vh), t, t, a.shape)


def svd(rng, t, device=None):
    loop = loops(rng)
    a, m, n, k = rectangle(rng, t, loop)
    check_svd(t, a, *compute(rng, "svd", [a], [loop + (m, k), loop + (k,), loop + (k, n)], [t, real_of(t), t], device))


def check_lstsq(t, a, b, rcond, x, residuals, rank, s):
    m, n = a.shape[-2:]
    for i in np.ndindex(a.shape[:-2]):
        want, left, full, values = np.linalg.lstsq(a[i], b[i], rcond=np.finfo(t).eps * max(m, n) if rcond < 0 else float(rcond))
        assert rank[i] == full, (rank[i], full)
        one = 100 * (m + n) * np.finfo(t).eps
        above = values[values > values[0] * 1e-4]
        near(largest(s[i] - values), one * values[0], t, a.shape)
        near(largest(x[i] - want), one * (values[0] / above[-1]) ** 2 * (largest(want) + 1), t, a.shape, full)
        if full < n:
            assert np.all(np.isnan(residuals[i]))
        else:
            got = np.sum(np.abs(b[i] - a[i] @ want) ** 2, axis=0)
            near(largest(residuals[i] - got), one * largest(b[i]) ** 2 * m * (values[0] / above[-1]), t, a.shape)


def lstsq(rng, t, device=None):
    loop, r, real = loops(rng), int(pick(rng, (1, 2, 17))), real_of(t)
    m, n = int(pick(rng, SIZES)), int(pick(rng, SIZES))
    k, short = min(m, n), int(rng.integers(3)) == 0
    a = numbers(rng, random_source(rng, loop) + (m, n), t)
    if short and k > 1:  # of rank 1 to 3
        rank = int(rng.integers(1, min(k, 4)))
        a = (a[..., :rank] @ numbers(rng, (rank, n), t)).astype(t)
    b = numbers(rng, loop + (m, r), t)
    rcond = np.array(pick(rng, (-1, 1e-3)), real)
    check_lstsq(t, np.broadcast_to(a, loop + (m, n)), b, rcond,
                *compute(rng, "lstsq", [a, b, rcond], [loop + (n, r), loop + (r,), loop, loop + (k,)], [t, real, "i", real], device))


# ---- Equations, inverses, determinants ----

def equations(rng, t, device=None):
    """Residuals of x, of a matrix for each right side, or one for several."""
    loop, n = loops(rng), int(pick(rng, SIZES + (100,)))
    a = numbers(rng, random_source(rng, loop) + (n, n), t)
    b = numbers(rng, random_source(rng, loop) + (n,), t)
    loop = np.broadcast_shapes(a.shape[:-2], b.shape[:-1])
    (x,) = compute(rng, "solve", [a, b], [loop + (n,)], [t], device)
    bound = 20 * n * np.finfo(t).eps * largest(a) * largest(x) * n
    near(largest((a @ x[..., None])[..., 0] - b), bound, t, a.shape, b.shape)


def inverses(rng, t, device=None):
    loop, n = loops(rng), int(pick(rng, SIZES + (100,)))
    a = numbers(rng, loop + (n, n), t)
    (y,) = compute(rng, "inv", [a], [a.shape], [t], device)
    near(largest(a @ y - np.eye(n)), 20 * n * np.finfo(t).eps * largest(a) * largest(y) * n, t, a.shape)
    (d,) = compute(rng, "det", [a], [loop], [t], device)
    sign, size = np.linalg.slogdet(a)
    close = np.abs(d) < np.inf
    worst = largest(np.linalg.cond(a)) if a.size else 0
    got = np.abs(np.where(close, d, 1) - np.where(close, sign * np.exp(np.where(close, size, 0)), 1))
    near(largest(got / np.where(close, np.abs(d), 1)), (1 + worst) * 100 * n * np.finfo(t).eps, t, a.shape)
    assert np.all(close | (size > np.log(np.finfo(t).max) - 0.1)), "overflow of what has a determinant"


def definite(rng, t, device=None):
    loop, n = loops(rng), int(pick(rng, SIZES + (100,)))
    a = numbers(rng, loop + (n, n), t)
    a = (a @ adjoint(a) + n * np.eye(n)).astype(t)
    above = (np.tril(a) + np.triu(numbers(rng, a.shape, t), 1)).astype(t)
    (l,) = compute(rng, "cholesky", [above], [a.shape], [t], device)
    assert np.array_equal(l, np.tril(l)), "not lower triangular"
    near(largest(l @ adjoint(l) - a), 20 * n * np.finfo(t).eps * largest(a), t, a.shape)


# ---- What has no result ----

def bad_matrices(n, t):
    """Singular, with a NaN, and a good one between them."""
    a = np.zeros((4, n, n), t)
    a[1] = np.eye(n)
    a[2] = np.eye(n)
    a[2, n - 1, 0] = np.nan
    a[3] = 2 * np.eye(n)
    return a


def without_a_result(device=None):
    def test(rng):
        for t in "fdFD":
            for n in rng.permutation([3, 16, 17, 40])[:2 * ROUNDS]:
                bad_matrix(rng, int(n), t, device)
    test.__name__ = "without_a_result" + ("_on_the_gpu" if device else "")
    return test


def bad_matrix(rng, n, t, device):
    """Matrix 0 is singular, matrix 2 has a NaN; the others are computed all the same."""
    a, real = bad_matrices(n, t), real_of(t)
    say = (n, t)
    (x,) = compute(rng, "solve", [a, np.ones(n, t)], [(4, n)], [t], device)
    assert not np.any(np.isfinite(x[0])) and np.any(np.isnan(x[2])), say
    assert np.all(x[1] == 1) and np.all(x[3] == 0.5), say
    (y,) = compute(rng, "inv", [a], [a.shape], [t], device)
    assert not np.all(np.isfinite(y[0])) and np.any(np.isnan(y[2])), say
    assert np.array_equal(y[1], np.eye(n)) and np.array_equal(y[3], np.eye(n) / 2), say
    (d,) = compute(rng, "det", [a], [(4,)], [t], device)
    assert d[0] == 0 and np.isnan(d[2]) and d[1] == 1 and d[3] == 2.0 ** n, (say, d)
    a[0] = -np.eye(n)
    (l,) = compute(rng, "cholesky", [a], [a.shape], [t], device)
    assert np.isnan(l[0, n - 1, n - 1]) and np.all(np.triu(l, 1) == 0), say
    assert np.isnan(l[2, n - 1, n - 1]) and np.array_equal(l[1], np.eye(n)), say
    w, v = compute(rng, "eigh", [a], [(4, n), a.shape], [real, t], device)
    assert np.all(np.isnan(w[2])) and np.all(np.isnan(v[2])) and np.all(w[0] == -1) and np.all(w[3] == 2), say
    u, s, vh = compute(rng, "svd", [a], [a.shape, (4, n), a.shape], [t, real, t], device)
    assert all(np.all(np.isnan(o[2])) for o in (u, s, vh)) and np.all(s[0] == 1) and np.all(s[3] == 2), say
    q, r = compute(rng, "qr", [a], [a.shape, a.shape], [t, t], device)
    assert np.any(np.isnan(r[2])) and np.allclose(np.abs(r[3]), 2 * np.eye(n)), say
    b, none = np.ones((n, 1), t), np.array(-1, real)
    x, residuals, rank, s = compute(rng, "lstsq", [a, b, none], [(4, n, 1), (4, 1), (4,), (4, n)], [t, real, "i", real], device)
    assert list(rank) == [n, n, 0, n] and np.all(np.isnan(x[2])) and np.all(np.isnan(s[2])) and np.isnan(residuals[2, 0]), say
    assert np.allclose(x[3], 0.5), say


def empty(rng):
    """Core dimensions of 0, beside which the others may be of any size."""
    for m, n in ((0, 0), (0, 40), (40, 0)):
        q, r = compute(rng, "qr", [np.zeros((m, n))], [(m, 0), (0, n)], "dd")
        u, s, vh = compute(rng, "svd", [np.zeros((m, n))], [(m, 0), (0,), (0, n)], "ddd")
        b = np.ones((m, 2))
        x, residuals, rank, s = compute(rng, "lstsq", [np.zeros((m, n)), b, np.array(-1.0)], [(n, 2), (2,), (), (0,)], "ddid")
        assert np.all(x == 0) and rank == 0 and (np.all(residuals == m) if n == 0 else np.all(np.isnan(residuals)))
    compute(rng, "eigh", [np.zeros((0, 0))], [(0,), (0, 0)], "dd")
    compute(rng, "solve", [np.zeros((0, 0)), np.zeros(0)], [(0,)], "d")
    assert compute(rng, "det", [np.zeros((0, 0))], [()], "d")[0] == 1


def exact_determinants(rng):
    """The product of the diagonal does not overflow before the determinant does."""
    for n in (20, 500):
        d = np.where(np.arange(n) % 2, 2.0 ** 300, 2.0 ** -300)
        d[rng.permutation(n)[:2]] = -3, 5
        got = compute(rng, "det", [np.diag(np.sort(d))], [()], "d")[0]
        want = np.ldexp(np.prod(np.frexp(d)[0] * 1.5) / 1.5 ** n, np.sum(np.frexp(d)[1]))
        assert np.isclose(got, want, rtol=1e-12), (n, got, want)
    assert compute(rng, "det", [np.eye(17)[::-1] * 2], [()], "d")[0] == 2.0 ** 17


def parts_of_large_calls(rng):
    """More matrices than scratch memory takes at once: windows of one array, so that the test takes little itself."""
    n, count = 32, 40000
    data = rng.standard_normal(count + n * n)
    a = np.lib.stride_tricks.as_strided(data, (count, n, n), (8, 8 * n, 8))
    d = np.zeros(count)
    load("det")(a, d)
    some = np.unique(np.append(rng.integers(0, count, 200), [0, count - 1]))
    assert np.allclose(d[some], np.linalg.det(a[some]), rtol=1e-8)


def qr_of_ones_on_the_gpu(rng):
    """Behind the first column there are rounding errors, then those of these, whose squares are 0 in float32."""
    for t in "fdFD":
        a = np.ones((9, 16, 33), t)
        q, r = compute(rng, "qr", [a], [(9, 16, 16), (9, 16, 33)], [t, t], GPU)
        near(largest(q @ r - a), 20 * 49 * np.finfo(t).eps, t)
        orthonormal(q, t, t)


def last_part_of_one_matrix_on_the_gpu(rng):
    """Eight dimensions of 3, of which a part takes 2: the last part is one matrix, and still a list of matrices to the library.
    They are windows of one array, so that only the results take much memory."""
    n, loop = 128, (3,) * 8
    data = numbers(rng, (3 ** 8 + n * n,), "D")
    steps = tuple(16 * 3 ** d for d in reversed(range(8)))
    a = np.lib.stride_tricks.as_strided(data, loop + (n, n), steps + (16 * n, 16))
    q, r = np.zeros((2,) + a.shape, "D")
    load("qr")(a, q, r, device=GPU)
    places = [(2,) * 8, (0,) * 8] + [tuple(rng.integers(0, 3, 8)) for _ in range(20)]
    for at in places:
        near(largest(q[at] @ r[at] - a[at]), 1e-12 * n, at)
        orthonormal(q[at], "D", at)


def same_bits_on_all_threads(rng):
    for name, out in (("inv", 1), ("qr", 2), ("eigh", 2), ("svd", 3)):
        a = rng.standard_normal((9, 40, 40))
        a = a + np.swapaxes(a, -1, -2)
        results = []
        for threads in (1, 2, 0):
            shapes = [(9, 40) if (name, k) in (("eigh", 0), ("svd", 1)) else a.shape for k in range(out)]
            arrays = [np.zeros(s) for s in shapes]
            load(name)(a, *arrays, threads=threads)
            results.append(b"".join(x.tobytes() for x in arrays))
        assert results[0] == results[1] == results[2], name


def other_dtypes(rng):
    """Arrays are converted to the signature's dtypes, and results to those of the arrays."""
    a = rng.integers(-9, 9, (20, 20)).astype(np.int32) + 50 * np.eye(20, dtype=np.int32)
    y = np.zeros((20, 20), np.float32)
    load("inv")(a, y)
    assert np.allclose(a @ y.astype(float), np.eye(20), atol=1e-5)
    w, v = np.zeros(20), np.zeros((20, 20), np.complex128)
    load("eigh")(a.T + a, w, v)
    assert np.allclose((a.T + a) @ v, v * w)


TESTS = {"qr": qr, "eigh": eigh, "svd": svd, "lstsq": lstsq}


def randomly(f, device=None):
    def test(rng):
        for t in "fdFD":
            for _ in range(3 * ROUNDS):
                f(rng, t, device)
    test.__name__ = f.__name__ + ("_on_the_gpu" if device else "")
    return test


def main():
    random_ones = [*TESTS.values(), equations, inverses, definite]
    tests = [randomly(f) for f in random_ones] + [without_a_result()]
    if os.environ.get("UF_TEST_GPU") == "1":
        tests += [randomly(f, GPU) for f in random_ones] + [without_a_result(GPU), last_part_of_one_matrix_on_the_gpu, qr_of_ones_on_the_gpu]
    tests += [empty, exact_determinants, parts_of_large_calls, same_bits_on_all_threads, other_dtypes]
    if sys.argv[1:]:
        tests = [t for t in tests if t.__name__ in sys.argv[1:]]
    return run(tests)


if __name__ == "__main__":
    import warnings
    warnings.simplefilter("ignore")
    sys.exit(main())
