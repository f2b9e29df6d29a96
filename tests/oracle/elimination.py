"""elimination.py - small matrices in which the lanes of a warp eliminate (src/ir/gufunc/elimination.c), against what NumPy says of the results:
random sizes around all bounds, strides, dtypes in memory, places of inputs, matrices without a result. On a simulated GPU, whose
memory ends at a page that nobody may touch; with UF_TEST_GPU=1 on a GPU. PROP_N=n draws n times as many."""
import os
import sys

build = os.environ.get("BUILD", "build")
if os.environ.get("UF_TEST_GPU") != "1":
    simulated = os.path.abspath(os.path.join(build, "test", "libsimcuda.so"))
    os.environ.update(UFUNC_CUDA_DRIVER=simulated, UFUNC_NVVM=simulated, UFUNC_LIBDEVICE=simulated, MOCK_DEVICES="1")

import numpy as np

from linalg import adjoint, largest, near, numbers, place
from uf import GPU, Func, Memory, lib, run

ROUNDS = int(os.environ.get("PROP_N", "1"))
# The least that are not one thread's, by the dtype of the matrix, and the largest.
LEAST = {"solve": dict(f=8, d=6, F=6, D=4), "inv": dict(f=8, d=6, F=6, D=4), "det": dict(f=10, d=8, F=8, D=5), "cholesky": dict(f=9, d=7, F=7, D=5)}
MOST = {"solve": dict(f=64, d=33, F=33, D=32), "inv": dict(f=64, d=34, F=34, D=32), "det": dict(f=64, d=34, F=34, D=32), "cholesky": dict(f=64, d=34, F=34, D=32)}
SIGNATURES = ";".join(f"{t},{t}->{t}" for t in ("float32", "float64", "complex64", "complex128"))
FUNCS = {name: Func.load(name) for name in MOST}
# Its text says something else, so that who comes to compute it shows.
RIGHT_SIDES = Func.define("(a, b) -> (x) { forall (i : n, j : r) x[i][j] = 7; }", SIGNATURES, layout="(n,n),(n,r)->(n,r)", blas="solve")


def compute(f, *arrays):
    """A call on copies whose strides are those of the arrays."""
    with Memory(GPU) as memory:
        f.run(lib.uf_call, memory, arrays, Func.options(memory))


def draw_size(rng, name, t):
    least, most = LEAST[name][t], MOST[name][t]
    return int(rng.choice([least, least + 1, most - 1, most])) if rng.random() < .3 else int(rng.integers(least, most + 1))


def lay(rng, x):
    """In C order, by columns, or anyhow; sometimes from an address on that is no multiple of 16 bytes."""
    way = rng.integers(4)
    if way == 0:
        return place(rng, x)
    if way == 1 and x.ndim > 1:
        return np.ascontiguousarray(np.swapaxes(x, -1, -2)).swapaxes(-1, -2)
    skip = int(rng.integers(0, 3)) if way == 2 else 0
    memory = np.zeros(skip + x.size, x.dtype)
    memory[skip:] = x.ravel()
    return memory[skip:].reshape(x.shape)


def matrices(rng, name, t):
    calls, n = int(rng.choice([1, 2, 3, 7, 20, 33])), draw_size(rng, name, t)
    return calls, n, numbers(rng, (calls, n, n), t)


def close(residual, size, n, t, *say):
    """residual: of each call; size: of what its rounding errors come from."""
    error = residual / np.maximum(size, np.finfo(np.dtype(t)).tiny)
    near(largest(error), 4 * n * np.finfo(np.dtype(t)).eps, t, n, *say)


def norms(a):
    return np.linalg.norm(a.astype(complex), axis=(-2, -1))


def solutions(rng, t):
    calls, n, a = matrices(rng, "solve", t)
    r = int(rng.choice([0, 0, 1, 2, 5, 9]))
    words = np.dtype(t).itemsize // 4
    r = min(r, 136 // words // ((n + 31) // 32) - n)  # of more a library takes care
    shape = (calls, n, r) if r else (calls, n)
    b, x = numbers(rng, shape, t), lay(rng, np.full(shape, 7, t))
    shared = lay(rng, b)
    if rng.random() < .2:  # the same right sides for all
        shared = np.broadcast_to(shared[:1], shape)
        b = np.broadcast_to(b[:1], shape)
    compute(RIGHT_SIDES if r else FUNCS["solve"], lay(rng, a), shared, x)
    wide = (lambda z: z.astype(complex)) if r else (lambda z: z.astype(complex)[..., None])
    close(norms(a.astype(complex) @ wide(x) - wide(b)), norms(a) * norms(wide(x)), n, t, r)


def inverses(rng, t):
    calls, n, a = matrices(rng, "inv", t)
    x = lay(rng, a)
    y = x if rng.random() < .2 else lay(rng, np.full(a.shape, 7, t))
    compute(FUNCS["inv"], x, y)
    close(norms(a.astype(complex) @ y - np.eye(n)), norms(a) * norms(y), n, t)


def determinants(rng, t):
    calls, n, a = matrices(rng, "det", t)
    a /= np.dtype(t.lower()).type(np.sqrt(n))  # so that the result is in range
    d = place(rng, np.full(calls, 7, t))
    compute(FUNCS["det"], lay(rng, a), d)
    want = np.linalg.det(a.astype(complex))
    close(np.abs(d - want), np.abs(want) * np.linalg.cond(a.astype(complex)), n, t)


def far_determinants(rng):
    """Of more than 16 rows the exponents of pivots are apart: only the result may be out of range."""
    for t in "fdFD":
        n, tiny = min(30, MOST["det"][t]), np.finfo(np.dtype(t)).tiny
        large = 1 / tiny
        a = np.zeros((8, n, n), t)
        a[:] = np.eye(n)
        a[0, :12] *= large  # the largest first, then the smallest; and the other way round
        a[0, -12:] *= tiny
        a[1, :12] *= tiny
        a[1, -12:] *= large
        a[2] *= 2
        a[3] *= large
        a[4] *= tiny
        a[5, 3, 3] = 0
        a[6, 3] *= np.finfo(np.dtype(t)).smallest_subnormal
        a[7, 3, 3] = np.nan
        d = np.zeros(8, t)
        compute(FUNCS["det"], a[:, rng.permutation(n)], d)
        assert np.array_equal(np.abs(d[[0, 1, 2, 4, 5, 6]]), [1, 1, 2.0 ** n, 0, 0, np.finfo(np.dtype(t)).smallest_subnormal]), (t, d)
        assert not np.isfinite(d[3]) and np.isnan(d[7]), (t, d)


def factors(rng, t):
    """What stands above the diagonal is not read."""
    calls, n, a = matrices(rng, "cholesky", t)
    a = (a @ adjoint(a) + n * np.eye(n)).astype(t)
    x = lay(rng, np.tril(a) + np.triu(np.full_like(a, np.nan), 1))
    y = x if rng.random() < .2 else lay(rng, np.full(a.shape, 7, t))
    compute(FUNCS["cholesky"], x, y)
    assert np.array_equal(y, np.tril(y)), "not lower triangular"
    close(norms(y.astype(complex) @ adjoint(y) - a), norms(a), n, t)


def converted(rng):
    """Elements are converted as they are read and written."""
    for t in (np.int8, np.float16, np.int16):
        n = draw_size(rng, "inv", "f")
        a = (rng.integers(-9, 9, (5, n, n)) + 40 * np.eye(n)).astype(t)
        y, x = np.zeros(a.shape, "d"), np.zeros((5, n), "d")
        compute(FUNCS["inv"], lay(rng, a), y)
        compute(FUNCS["solve"], lay(rng, a), np.ones((5, n), t), x)
        close(norms(a.astype(float) @ y - np.eye(n)), norms(a) * norms(y), n, "f", t)
        close(norms((a.astype(float) @ x[..., None]) - 1), norms(a) * norms(x[..., None]), n, "f", t)


def same_bits(rng):
    """Wherever a matrix lies, and whatever lies beside it."""
    for name in ("inv", "cholesky", "det"):
        calls, n, a = matrices(rng, name, "d")
        a = (a @ adjoint(a) + n * np.eye(n)).astype("d")
        shape = (calls,) if name == "det" else a.shape
        want, got = np.zeros(shape), lay(rng, np.zeros(shape))
        compute(FUNCS[name], a, want)
        compute(FUNCS[name], np.ascontiguousarray(a[::-1]), got)
        assert np.array_equal(got, want[::-1]), (name, n)


def without_a_result(rng):
    for t in "fdFD":
        n = min(draw_size(rng, "cholesky", t), MOST["solve"][t])
        a = np.array([np.zeros((n, n)), np.eye(n), np.ones((n, n)), np.eye(n), 2 * np.eye(n)], t)
        a[3, n - 1, 0] = np.nan
        y, x = np.zeros_like(a), np.zeros((5, n), t)
        compute(FUNCS["inv"], a, y)
        compute(FUNCS["solve"], a, np.ones((5, n), t), x)
        assert np.all(np.isnan(y[[0, 2]])) and np.all(np.isnan(x[[0, 2]])), (t, n)
        assert np.any(np.isnan(y[3])) and np.any(np.isnan(x[3])), (t, n)
        assert np.array_equal(y[1], np.eye(n)) and np.array_equal(y[4], np.eye(n) / 2) and np.all(x[4] == .5), (t, n)
        m = min(n, MOST["det"][t]) if n >= LEAST["det"][t] else LEAST["det"][t]
        b, d = np.array([np.zeros((m, m)), np.eye(m), np.ones((m, m)), np.eye(m)[::-1], np.roll(np.eye(m), 1, 0)], t), np.full(5, 7, t)
        compute(FUNCS["det"], b, d)
        assert np.array_equal(d, [0, 1, 0, (-1) ** (m * (m - 1) // 2), (-1) ** (m - 1)]), (t, m, d)
        a[2] = -np.eye(n)
        a[0] = np.eye(n)
        a[0, n // 2, n // 2] = -1
        compute(FUNCS["cholesky"], a, y)
        lower = np.tril(np.ones((n, n), bool))
        assert np.all(y[:, ~lower] == 0) and np.all(np.isnan(y[[0, 2, 3]][:, lower])), (t, n)
        assert np.array_equal(y[1], np.eye(n)), (t, n)


def extremes(rng):
    """Pivots are found among numbers of any size, and a reciprocal neither overflows nor underflows before its number does."""
    for t, size in (("f", 1e30), ("f", 1e-30), ("d", 1e250), ("d", 1e-250), ("F", 1e30), ("F", 1e-30), ("D", 1e-250)):
        n = draw_size(rng, "inv", t)
        a = (numbers(rng, (3, n, n), t) * np.dtype(t).type(size)).astype(t)
        y = np.zeros_like(a)
        compute(FUNCS["inv"], a, y)
        close(norms(a.astype(complex) / size @ (y.astype(complex) * size) - np.eye(n)), norms(a.astype(complex) / size) * norms(y.astype(complex) * size), n, t)
    tiny = np.zeros((2, 9, 9))  # subnormal beside 0, in numbers whose upper halves are 0
    tiny[:, np.arange(9), np.roll(np.arange(9), 2)] = 1
    tiny[1, 0, np.roll(np.arange(9), 2)[0]] = 5e-324
    d = np.zeros(2)
    compute(FUNCS["det"], tiny, d)
    assert abs(d[0]) == 1 and abs(d[1]) == 5e-324, d


def randomly(f):
    def test(rng):
        for t in "fdFD":
            for _ in range(6 * ROUNDS):
                f(rng, t)
    test.__name__ = f.__name__
    return test


if __name__ == "__main__":
    import warnings
    warnings.simplefilter("ignore")
    if "asan" in os.environ.get("LD_PRELOAD", ""):
        print("the address sanitizer does not follow the threads of a simulated GPU through Python")
        sys.exit(77)
    sys.exit(run([randomly(f) for f in (solutions, inverses, determinants, factors)] +
                 [far_determinants, converted, same_bits, without_a_result, extremes]))
