"""gufuncs.py - generalized ufuncs against NumPy's: core dimensions, broadcasting, axes, axis, keepdims, optional,
frozen and computed sizes, casts, overlap, and which calls are refused. Data are small integers: sums are exact in any order.

PROP_N=n makes n times as many calls.
"""
import os
import sys

import numpy as np
import numpy._core._umath_tests as umath

from uf import (ERR_ARGUMENT, ERR_CAST, ERR_SHAPE, ERR_SIGNATURE, Failure, Func, random_source, random_window, run,
                same)

ROUNDS = int(os.environ.get("PROP_N", "1"))
REAL = "int64,int64->int64; float64,float64->float64"
EVERY = "; ".join(f"{t},{t}->{t}" for t in ("int32", "int64", "float32", "float64", "complex64", "complex128"))
ONE = "int64->int64; float64->float64"
INTEGRAL = [np.dtype(t) for t in ("i1", "i4", "i8")]
FLOATING = [np.dtype(t) for t in ("f4", "f8")]

MATMUL = "(A, B) -> (C) { forall (i : m, k : p) C[i][k] = sum(j : n, A[i][j] * B[j][k]); }"
CONJ = "(a, b) -> (c) { c = sum(i : n, conj(a[i]) * b[i]); }"


class Row:
    """A function of ours, NumPy's, and the core dimensions of the inputs by letter (3: frozen)."""

    def __init__(self, numpy, cores, layout, source, signatures=REAL, complex_too=False):
        self.numpy, self.cores = numpy, cores.split()
        self.f = Func(source, signatures, layout)
        self.dtypes = INTEGRAL + FLOATING + ([np.dtype("c8"), np.dtype("c16")] if complex_too else [])
        self.main = self.dtypes[-1]

    def dtype(self, rng):
        """Most of the time goes into compiling: one dtype a run, and now and then another."""
        return pick(rng, self.dtypes) if rng.random() < 0.03 else self.main

    def optional(self, rng):
        """The core dimensions of the inputs in one call; upper-case letters may be missing."""
        missing = {d for core in self.cores for d in core if d.isupper() and rng.random() < 0.4}
        return [[d for d in core if d not in missing] for core in self.cores]


inner1d = Row(umath.inner1d, "n n", "(n),(n)->()", "(a, b) -> (c) { c = sum(i : n, a[i] * b[i]); }")
vecdot = Row(np.vecdot, "n n", "(n),(n)->()", CONJ, EVERY, True)
innerwt = Row(umath.innerwt, "n n n", "(n),(n),(n)->()", "(a, b, w) -> (c) { c = sum(i : n, a[i] * b[i] * w[i]); }",
              "lll->l; ddd->d")
matmul = Row(np.matmul, "Mn nP", "(m?,n),(n,p?)->(m?,p?)", MATMUL, EVERY, True)
umatmul = Row(umath.matmul, "Mn nP", "(m?,n),(n,p?)->(m?,p?)", MATMUL, "ll->l; ff->f; dd->d")
matrix_multiply = Row(umath.matrix_multiply, "mn np", "(m,n),(n,p)->(m,p)", MATMUL, "ll->l; ff->f; dd->d")
matvec = Row(np.matvec, "mn n", "(m,n),(n)->(m)",
             "(A, x) -> (y) { forall (i : m) y[i] = sum(j : n, A[i][j] * x[j]); }", EVERY, True)
vecmat = Row(np.vecmat, "n np", "(n),(n,p)->(p)",
             "(x, A) -> (y) { forall (k : p) y[k] = sum(j : n, conj(x[j]) * A[j][k]); }", EVERY, True)
cross1d = Row(umath.cross1d, "3 3", "(3),(3)->(3)",
              "(a, b) -> (c) { forall (i : 3) c[i] = a[(i + 1) % 3] * b[(i + 2) % 3] - "
              "a[(i + 2) % 3] * b[(i + 1) % 3]; }")
cumsum = Row(umath.cumsum, "n", "(n)->(n)",
             "(x) -> (y) { auto t = x[0]; t = 0; for (int64 i = 0; i < n; i++) { t += x[i]; y[i] = t; } }", ONE)
ROWS = [inner1d, vecdot, innerwt, matmul, umatmul, matrix_multiply, matvec, vecmat, cross1d, cumsum]

pdist = Func("(x) -> (r) { forall (i : n) for (int64 j = i + 1; j < n; j++) "
             "r[i * n - i * (i + 1) / 2 + j - i - 1] = "
             "sqrt(sum(c : d, (x[i][c] - x[j][c]) * (x[i][c] - x[j][c]))); }",
             "float32->float32; float64->float64", "(n,d)->(n*(n-1)/2)")
pdist_given = Func("(x) -> (r) { int64 k = 0; for (int64 i = 0; i < n; i++) for (int64 j = i + 1; j < n; j++) { "
                   "r[k] = sqrt(sum(c : d, (x[i][c] - x[j][c]) * (x[i][c] - x[j][c]))); k++; } }",
                   "float32->float32; float64->float64", "(n,d)->(p)")
conv = Func("(a, b) -> (c) { forall (k : m + n - 1) c[k] = sum(i : m, i <= k && k - i < n ? a[i] * b[k - i] : 0); }",
            "float64,float64->float64", "(m),(n)->(m+n-1)")
outer = Func("(a, b) -> (c) { forall (i : m, j : n) c[i][j] = a[i] * b[j]; }", EVERY, "(m),(n)->(m,n)")


def pick(rng, items):
    return items[rng.integers(len(items))]


def integers(rng, shape, dtype):
    values = rng.integers(-9, 10, shape)
    return np.asarray(values + 1j * rng.integers(-9, 10, shape) if dtype.kind == "c" else values).astype(dtype)


def view(rng, shape, dtype):
    block, window = random_window(rng, shape)
    return window(integers(rng, block, dtype))


def check(rng, f, inputs, results, **options):
    """Calls f with outputs in random windows: each must hold its result, and nothing around it may be written."""
    windows = [random_window(rng, r.shape) for r in results]
    blocks = [integers(rng, block, r.dtype) for (block, _), r in zip(windows, results)]
    wanted = [b.copy() for b in blocks]
    for block, (_, window), result in zip(wanted, windows, results):
        window(block)[...] = result
    outputs = [window(block) for block, (_, window) in zip(blocks, windows)]
    f(*inputs, *outputs, threads=int(rng.integers(0, 4)), **options)
    for got, want in zip(blocks, wanted):
        assert (got == want).all(), ([(a.dtype.name, a.shape, a.strides) for a in (*inputs, *outputs)], options)


def random_loop(rng):
    return tuple(int(n) for n in rng.choice([0, 1, 2, 3, 5], rng.choice([0, 1, 1, 2, 3]), p=[.04, .24, .24, .24, .24]))


def sizes(rng, row):
    return {d: 3 if d == "3" else int(pick(rng, [0, 1, 2, 3, 4, 7, 8, 17, 33])) for core in row.cores for d in core}


def placed(rng, loop, core, axes):
    """A shape with the core extents at random dimensions, and where they are."""
    rank = len(loop) + len(core)
    at = [int(d) for d in rng.permutation(rank)[:len(core)]] if axes else list(range(len(loop), rank))
    rest, shape = iter(loop), [0] * rank
    for d in range(rank):
        shape[d] = core[at.index(d)] if d in at else next(rest)
    return tuple(shape), tuple(d - rank if rng.random() < 0.5 else d for d in at)


def random_call(rng, row):
    """Inputs, and options that NumPy takes."""
    loop, size, axes = random_loop(rng), sizes(rng, row), rng.random() < 0.5
    inputs, lists, cores = [], [], row.optional(rng)
    for core, whole in zip(cores, row.cores):
        own = random_source(rng, loop) if len(core) == len(whole) else ()  # what has loops lacks no dimension
        shape, at = placed(rng, own, [size[d] for d in core], axes)
        inputs.append(view(rng, shape, row.dtype(rng)))
        lists.append(at)
    if row in (inner1d, vecdot, innerwt) and not axes and rng.random() < 0.4:
        return inputs, {"keepdims": True}
    return inputs, {"axes": lists} if axes else {}


def output_rank(row, axes):
    """Core dimensions of the output, from those of the inputs."""
    return {cross1d: 1, cumsum: 1, innerwt: 0}.get(row, sum(map(len, axes)) - 2)


def with_outputs(rng, row, inputs, options):
    """Output axes for axes that name inputs alone, where the outputs have core dimensions."""
    if "axes" not in options or row in (inner1d, vecdot, innerwt):
        return options
    core = output_rank(row, options["axes"])
    rank = np.ndim(row.numpy(*inputs, axes=options["axes"] + [tuple(range(-core, 0))]))
    at = rng.permutation(rank)[:core]
    return {"axes": options["axes"] + [tuple(int(d) - rank if rng.random() < 0.5 else int(d) for d in at)]}


def random_calls(rng):
    rows = [ROWS[k] for k in rng.permutation(len(ROWS))[:5 * ROUNDS]]
    for row in ROWS:
        row.main = pick(rng, row.dtypes)
    for _ in range(500 * ROUNDS):
        row = pick(rng, rows)
        inputs, options = random_call(rng, row)
        options = with_outputs(rng, row, inputs, options)
        want = np.asarray(row.numpy(*inputs, **options))
        assert row.f.infer(*inputs, **options)[1] == want.shape, ([a.shape for a in inputs], options)
        check(rng, row.f, inputs, [want], **options)


def one_axis(rng):
    for _ in range(250 * ROUNDS):
        row = pick(rng, [inner1d, vecdot, innerwt, cumsum])
        loop, n = random_loop(rng), int(pick(rng, [0, 1, 2, 5, 16, 40]))
        axis = int(rng.integers(0, len(loop) + 1))
        shape = loop[:axis] + (n,) + loop[axis:]
        inputs = [view(rng, shape, row.dtype(rng)) for _ in row.cores]
        options = {"axis": axis - len(shape) if rng.random() < 0.5 else axis}
        if row is not cumsum and rng.random() < 0.5:
            options["keepdims"] = True
        check(rng, row.f, inputs, [np.asarray(row.numpy(*inputs, **options))], **options)


def refusals(rng):
    """Random shapes and options: accepted if and only if NumPy accepts them, with the same shape."""
    accepted = refused = 0
    for _ in range(3000 * ROUNDS):
        row = pick(rng, ROWS)
        inputs = [np.ones(tuple(int(n) for n in rng.choice([1, 2, 3], rng.integers(0, 4), p=[.15, .15, .7])))
                  for _ in row.cores]
        options = {}
        if rng.random() < 0.3:
            operands = [len(core) for core in row.cores] + [output_rank(row, row.cores)]
            if rng.random() < 0.3:
                operands.pop()
            slips = [0, 0, 0, 0, 1, -1]
            options["axes"] = [tuple(map(int, rng.integers(-3, 3, n + pick(rng, slips if n else slips[:5]))))
                               for n in operands]
        if rng.random() < 0.2:
            options["axis"] = int(rng.integers(-4, 4))
        if rng.random() < 0.2:
            options["keepdims"] = True
        try:
            want = np.asarray(row.numpy(*inputs, **options)).shape
        except (ValueError, TypeError) as e:
            want = e
        try:
            got = row.f.infer(*inputs, **options)[1]
        except Failure as e:
            got = e
        where = f"{row.numpy} {[a.shape for a in inputs]} {options}: NumPy {want}, here {got}"
        if isinstance(want, Exception):
            refused += 1
            assert isinstance(got, Failure) and got.status in (ERR_SHAPE, ERR_ARGUMENT), where
        else:
            accepted += 1
            assert got == want, where
    assert accepted > 300 and refused > 300, (accepted, refused)


def outputs_that_do_not_fit(rng):
    """The output's shape is what NumPy says, or larger in loop dimensions; core dimensions are exact."""
    for _ in range(300 * ROUNDS):
        row = pick(rng, [matvec, matrix_multiply, inner1d, cumsum, cross1d])
        inputs, _ = random_call(rng, row)
        try:
            want = np.asarray(row.numpy(*inputs))
        except ValueError:  # drawn for axes
            continue
        core = {matrix_multiply: 2, inner1d: 0}.get(row, 1)
        shape = list(want.shape)
        change = rng.integers(0, 3)
        if change == 0 and shape:
            shape[rng.integers(0, len(shape))] += 1
        elif change == 1 and core:
            shape[-1] += 1
        else:
            shape = [2] + shape
        fits = len(shape) >= want.ndim and tuple(shape[len(shape) - core:]) == want.shape[want.ndim - core:]
        try:
            fits = fits and np.broadcast_shapes(want.shape[:want.ndim - core],
                                                tuple(shape[:len(shape) - core])) == tuple(shape[:len(shape) - core])
        except ValueError:
            fits = False
        out = np.full(shape, 77, want.dtype)
        try:
            row.f(*inputs, out)
            assert fits and (out == want).all(), ([a.shape for a in inputs], shape)
        except Failure as e:
            assert not fits and e.status == ERR_SHAPE and (out == 77).all(), ([a.shape for a in inputs], shape, str(e))


def numpys_own_cases(rng):
    """What NumPy's tests of generalized ufuncs look at."""
    a = np.arange(27.0).reshape(3, 3, 3)
    for axes in ([(-2, -1), (-2, -1), (-2, -1)], [(-1, -2), (-1, -2), (-1, -2)], [(0, 1), (0, 1), (0, 1)],
                 [(0, 2), (0, 2), (0, 2)], [(2, 0), (2, 0), (2, 0)], [(1, 2), (-2, -3), (0, -1)]):
        check(rng, matrix_multiply.f, (a, a), [umath.matrix_multiply(a, a, axes=axes)], axes=axes)
    # inputs and outputs of size 0 and 1, and empty loops
    for shapes in (((0, 3), (3, 0)), ((3, 0), (0, 3)), ((2, 0, 3), (3, 4)), ((0, 2, 3), (3, 4)), ((1, 1), (1, 1)),
                   ((5, 1, 2, 3), (6, 3, 1)), ((0, 1, 0), (0, 1))):
        x, y = (integers(rng, s, np.dtype("f8")) for s in shapes)
        check(rng, matrix_multiply.f, (x, y), [umath.matrix_multiply(x, y)])
    # strides of matrices: zero, negative, a column, a row, columns of a wider matrix, neither unit
    block = integers(rng, (40, 40), np.dtype("f8"))
    forms = [block[:6, :6], block[:6, :6].T, block[5::-1, :6], block[:12:2, :12:2], block[:6, 6:0:-1],
             np.broadcast_to(block[0, :6], (6, 6)), np.broadcast_to(block[:6, :1], (6, 6)), block[:6:, 3::6][:, :6],
             np.lib.stride_tricks.as_strided(block, (6, 6), (8, 8))]
    for x in forms:
        for y in forms:
            check(rng, matmul.f, (x, y), [x @ y])
            check(rng, matvec.f, (x, y[0]), [np.matvec(x, y[0])])
            check(rng, matvec.f, (x, y[:, 0]), [np.matvec(x, y[:, 0])])
    # the output has its own layout
    x, y = block[:5, :7], block[:7, :3]
    for out in (np.empty((5, 3)), np.empty((3, 5)).T, np.empty((10, 6))[::2, ::2], np.empty((5, 3))[::-1, ::-1]):
        matmul.f(x, y, out)
        assert (out == x @ y).all()
    # broadcast along the loop
    for sx, sy in (((1, 4, 5), (6, 1, 5)), ((5,), (3, 2, 5)), ((2, 1, 5), (5,)), ((7, 1, 1, 5), (4, 5))):
        x, y = (integers(rng, s, np.dtype("i8")) for s in (sx, sy))
        check(rng, inner1d.f, (x, y), [umath.inner1d(x, y)])
    for bad in (((4,), (5,)), ((5,), (1,)), ((3, 5), (4, 5))):  # no core dimension broadcasts
        try:
            inner1d.f(*(np.ones(s) for s in bad), np.ones(3))
            raise AssertionError(bad)
        except Failure as e:
            assert e.status == ERR_SHAPE


def sizes_that_are_computed(rng):
    for _ in range(150 * ROUNDS):
        loop, n, d = random_loop(rng), int(rng.integers(1, 9)), int(pick(rng, [1, 2, 3, 8, 20]))
        dtype = pick(rng, FLOATING)
        x = view(rng, loop + (n, d), dtype)
        want = np.empty(loop + (n * (n - 1) // 2,), dtype)
        if want.size:
            umath.euclidean_pdist(x, want)
        tolerance = 4 * np.finfo(dtype).eps
        for f in (pdist, pdist_given):
            got = np.full(want.shape, np.nan, dtype)
            f(x, got)
            assert np.allclose(got, want, rtol=tolerance, atol=0), (x.shape, got, want)
        m = int(rng.integers(1, 20))
        a, b = view(rng, random_source(rng, loop) + (m,), np.dtype("f8")), view(rng, loop + (n,), np.dtype("i4"))
        check(rng, conv, (a, b), [umath.conv1d_full(a, b)])


def outer_products(rng):
    for _ in range(200 * ROUNDS):
        loop, m, n = random_loop(rng), int(rng.integers(0, 20)), int(rng.integers(0, 20))
        t = pick(rng, [np.dtype(t) for t in ("i4", "f4", "f8", "c8", "c16")])
        a, b = view(rng, random_source(rng, loop) + (m,), t), view(rng, loop + (n,), t)
        check(rng, outer, (a, b), [a[..., :, None] * b[..., None, :]])


def casts(rng):
    for _ in range(80 * ROUNDS):
        x = view(rng, (4, 6), pick(rng, INTEGRAL + FLOATING))
        y = view(rng, (6,), pick(rng, INTEGRAL + FLOATING))
        want = np.matvec(x.astype("f8"), y.astype("f8"))
        natural = np.result_type(x, y)
        natural = natural if natural.itemsize >= 4 else np.dtype("i4")
        to = pick(rng, [np.dtype(t) for t in ("i2", "i8", "f2", "f4", "f8", "c8")])
        out = np.zeros(4, to)
        try:
            matvec.f(x, y, out)
            assert np.can_cast(natural, to, "same_kind") and (out == want.astype(to)).all(), (x.dtype, y.dtype, to)
        except Failure as e:
            assert e.status == ERR_CAST and not np.can_cast(natural, to, "same_kind"), (x.dtype, y.dtype, to, str(e))
    try:
        umatmul.f(np.ones((2, 2), "c8"), np.ones((2, 2)), np.ones((2, 2)))
        raise AssertionError("complex")
    except Failure as e:
        assert e.status == ERR_SIGNATURE


def overlap(rng):
    """Inputs that overlap the output behave as copies."""
    for _ in range(400 * ROUNDS):
        block = rng.integers(-9, 10, 600).astype("f8")
        m, n = (int(k) for k in rng.integers(1, 8, 2))

        def some(*shape):
            strides = [8 * int(rng.choice([-3, -1, 1, 2, 8])) for _ in shape]
            return np.lib.stride_tricks.as_strided(block[300 + int(rng.integers(-20, 20)):], shape, strides)
        x, y, out = some(m, n), some(n), some(m)
        before, want = block.copy(), np.matvec(x.copy(), y.copy())
        matvec.f(x, y, out)
        got, block[:] = block.copy(), before
        out[...] = want
        assert same(got, block), (x.strides, y.strides, out.strides)
        line, to = some(3, n), some(3, n)
        before, want = block.copy(), np.cumsum(line, axis=1)
        try:
            cumsum.f(line, to)
        except Failure as e:
            places = sum(np.ix_(range(3), range(n))[k] * to.strides[k] for k in range(2))
            assert e.status == ERR_ARGUMENT and len(np.unique(places)) < places.size, to.strides
            continue
        got, block[:] = block.copy(), before
        to[...] = want
        assert same(got, block), (line.strides, to.strides)


def large(rng):
    """Long core dimensions, many calls, many threads."""
    for loop, m, n in (((3,), 500, 700), ((20000,), 3, 5), ((1,), 3, 200_003), ((40, 50), 8, 8), ((7,), 1, 4096)):
        for t in ("f4", "f8", "i8"):
            x = integers(rng, loop + (m, n), np.dtype(t))
            y = integers(rng, loop[:1] + (1,) * (len(loop) - 1) + (n,), np.dtype(t))
            for threads in (0, 1, 2):
                out = np.empty(loop + (m,), t)
                matvec.f(x, y, out, threads=threads)
                assert (out == np.einsum("...ij,...j->...i", x.astype("i8"), y.astype("i8"))).all(), (loop, m, n, t)
    a, b = integers(rng, (130, 70), np.dtype("f4")), integers(rng, (70, 90), np.dtype("f4"))
    for x in (a, np.asfortranarray(a)):
        for y in (b, np.asfortranarray(b)):
            for order in "CF":
                out = np.empty((130, 90), "f4", order)
                matmul.f(x, y, out)
                assert (out == a @ b).all()


def main():
    tests = [random_calls, one_axis, refusals, outputs_that_do_not_fit, numpys_own_cases, sizes_that_are_computed,
             outer_products, casts, overlap, large]
    return run(tests)


if __name__ == "__main__":
    sys.exit(main())
