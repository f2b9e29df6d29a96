"""calls.py - calls on random shapes, strides and dtypes against NumPy. Both compute exactly the same, so bits agree.

PROP_N=n makes n times as many calls, and from 2 on one of more than 2^31 elements.
"""
import os
import sys
import warnings

import numpy as np

from uf import (DTYPES, ERR_ARGUMENT, ERR_CAST, ERR_SHAPE, Failure, Func, STRONG_NUMBERS, random_shape,
                random_source, random_values, random_view, random_window, run, same)

ROUNDS = int(os.environ.get("PROP_N", "1"))
NUMERIC = [t for t in DTYPES if t.kind != "b"]
REAL = [t for t in NUMERIC if t.kind != "c"]
FLOAT = [t for t in REAL if t.kind == "f"]
KIND = {"b": 0, "i": 1, "u": 1, "f": 2, "c": 3}


def every(dtypes, form):
    return "; ".join(form.replace("T", t.name) for t in dtypes)


add = Func("(x, y) { return x + y; }", every(NUMERIC, "T,T->T"))
mixed = Func("(x, y) { return x * y - x; }", every(REAL, "T,T->T"))
copy = Func("(x) { return x; }")
divide = Func("(x, y) -> (q, r) { q = floor(x / y); r = x - q * y; }", every(FLOAT[1:], "T,T->T,T"))
split = Func("(x) -> (i, f, b) { i = trunc(x); f = x - trunc(x); b = x > 0; }",
             "float64->int32,float32,bool; float32->int16,float32,bool")
smooth = Func("(x) { return sin(x) * exp(x) + log(x); }", every(FLOAT, "T->T"))


def pick(rng, items):
    return items[rng.integers(len(items))]


def some(rng, dtypes, n=3):
    """A few dtypes for one run: most of the time goes into compiling."""
    return [dtypes[k] for k in rng.permutation(len(dtypes))[:n * ROUNDS]]


def check(rng, f, inputs, results, shape, where=None, **options):
    """Calls f with outputs of a shape in random windows. Each must hold its result, or what it held where `where` is
    false, and nothing around it may be written."""
    windows = [random_window(rng, shape) for _ in results]
    blocks = [random_values(rng, block, r.dtype) for (block, _), r in zip(windows, results)]
    wanted = [b.copy() for b in blocks]
    for block, (_, window), result in zip(wanted, windows, results):
        np.copyto(window(block), result, where=True if where is None else where)
    outputs = [window(block) for block, (_, window) in zip(blocks, windows)]
    f(*inputs, *outputs, where=where, threads=int(rng.integers(0, 4)), **options)
    for got, want in zip(blocks, wanted):
        assert same(got, want), [(a.dtype.name, a.shape, a.strides) for a in (*inputs, *outputs)]


def in_halves(f, *arrays):
    """f of NumPy, whose float16 intermediates are rounded: kernel C rounds where a value is stored."""
    if all(a.dtype == np.float16 for a in arrays):
        return f(*(a.astype(np.float32) for a in arrays)).astype(np.float16)
    return np.asarray(f(*arrays))


def arithmetic(rng):
    kernels = (add, some(rng, NUMERIC), np.add), (mixed, some(rng, REAL), lambda x, y: x * y - x)
    for _ in range(400 * ROUNDS):
        f, dtypes, formula = pick(rng, kernels)
        dtype, shape = pick(rng, dtypes), random_shape(rng)
        x, y = (random_view(rng, random_source(rng, shape), dtype) for _ in range(2))
        check(rng, f, (x, y), [in_halves(formula, x, y)], shape)


def casts_of_outputs(rng):
    for a in DTYPES:
        for b in DTYPES:
            x = random_values(rng, (257,), a)
            if a.kind in "fc" and b.kind in "iu":  # what does not fit is NumPy's to choose
                x = rng.integers(0, 100, 257).astype(a)
            try:
                check(rng, copy, (x,), [x.astype(b)], (257,))
                allowed = True
            except Failure as e:
                assert (e.status, e.argument) == (ERR_CAST, 1), e
                allowed = False
            assert allowed == np.can_cast(a, b, "same_kind"), (a, b)
            check(rng, copy, (x,), [x.astype(b)], (257,), casting="unsafe")


def casts_of_inputs(rng):
    """With every dtype in the list, in any order, dispatch is promotion."""
    for _ in range(30 * ROUNDS):
        f = Func("(x, y) { return x + y; }", every(rng.permutation(NUMERIC), "T,T->T"))
        for _ in range(6):
            a, b, shape = pick(rng, DTYPES), pick(rng, NUMERIC), random_shape(rng)
            if rng.random() < 0.5:
                a, b = b, a
            x, y = (random_view(rng, random_source(rng, shape), t) for t in (a, b))
            t, common = np.promote_types(a, b), np.broadcast_shapes(x.shape, y.shape)
            number = 0 in (x.ndim, y.ndim)  # a 0-d array is a number, and weak
            if not number:
                assert f.infer(x, y) == (t, common), (a, b, f.infer(x, y))
            check(rng, f, (x, y), [in_halves(np.add, x.astype(t), y.astype(t))], shape,
                  flags=STRONG_NUMBERS if number else 0)


def numbers(rng):
    """Beside an array of its kind or a more general one, a number is as weak as Python's."""
    for _ in range(250 * ROUNDS):
        t, python = pick(rng, NUMERIC), pick(rng, [True, 7, 2.5, 1 + 2j])
        number = np.asarray(python)
        if KIND[number.dtype.kind] > KIND[t.kind]:
            continue
        x = random_view(rng, random_shape(rng) or (1,), t)
        inputs = pick(rng, [(x, number), (number, x)])
        check(rng, add, inputs, [x + t.type(python)], x.shape)


def masks(rng):
    dtypes = some(rng, DTYPES)
    for _ in range(300 * ROUNDS):
        t, shape = pick(rng, dtypes), random_shape(rng)
        x = random_view(rng, random_source(rng, shape), t)
        where = random_view(rng, random_source(rng, shape), np.dtype(bool))
        check(rng, copy, (x,), [x], shape, where=where, flags=STRONG_NUMBERS)


def masks_in_runs(rng):
    """Long masks whose elements are alike for a while: strips without one that counts, with all, and mixed ones, in place too."""
    for _ in range(40 * ROUNDS):
        t, n = pick(rng, some(rng, NUMERIC)), int(rng.integers(1, 12000))
        run = int(pick(rng, [1, 31, 32, 33, 100, 1000, 1024, 1025, 5000]))
        where = np.repeat(rng.random(n // run + 1) < pick(rng, [0.05, 0.5, 0.95]), run)[:n]
        x, y = random_view(rng, (n,), t), random_view(rng, (n,), t)
        check(rng, add, (x, y), [x + y], (n,), where=where)
        check(rng, copy, (np.ascontiguousarray(x),), [x], (n,), where=where, flags=STRONG_NUMBERS)
        z = np.ascontiguousarray(x)
        want = np.where(where, z + z, z)
        add(z, z, z, where=where)
        assert same(z, want), (t, n, run)


def several_outputs(rng):
    for _ in range(150 * ROUNDS):
        t, shape = pick(rng, FLOAT[1:]), random_shape(rng)
        x, y = (random_view(rng, random_source(rng, shape), t) for _ in range(2))
        q = np.floor(x / y)
        where = pick(rng, [None, random_view(rng, random_source(rng, shape), np.dtype(bool))])
        check(rng, divide, (x, y), [q, x - q * y], shape, where=where)
        i = np.dtype("i4" if t == np.float64 else "i2")
        check(rng, split, (x,), [np.trunc(x).astype(i), (x - np.trunc(x)).astype(np.float32), x > 0], shape)


def the_same_everywhere(rng):
    """A result depends on its inputs only: not on place, stride, tail or threads."""
    for _ in range(150 * ROUNDS):
        t, shape = pick(rng, FLOAT), random_shape(rng)
        x = random_view(rng, shape, t)
        want = np.empty(shape, t)
        smooth(x.copy(), want, threads=1)
        check(rng, smooth, (x,), [want], shape)


# ---- Overlap ----

def addresses(a):
    """Of the bytes that an array's elements cover, one row an element."""
    start = np.zeros(1, np.int64)
    for n, s in zip(a.shape, a.strides):
        start = (start[:, None] + np.arange(n) * s).reshape(-1)
    return a.ctypes.data + start[:, None] + np.arange(a.itemsize)


def random_overlap(rng, block, shape, dtype):
    """A view of bytes in the middle of a block, with strides of all kinds."""
    strides = [int(rng.choice([-17, -3, -1, 1, 2, 12, 13, 24])) for _ in shape]
    start = (block.nbytes // 2 + int(rng.integers(-80, 80))) // dtype.itemsize
    view = block.view(dtype)[start:]
    return np.lib.stride_tricks.as_strided(view, shape, [dtype.itemsize * s for s in strides])


def overlap(rng):
    """Any overlap of inputs and outputs is as if the inputs had been copied; outputs must not overlap."""
    refused = 0
    for _ in range(400 * ROUNDS):
        block = rng.integers(-100, 100, 8000).astype(np.int16)
        shape = [int(rng.integers(1, 12)) for _ in range(pick(rng, [1, 2, 2]))]
        types = [np.dtype(pick(rng, ["i2", "i4", "i8"])) for _ in range(3)]
        x, y, out = (random_overlap(rng, block, shape, t) for t in types)
        if rng.random() < 0.25:
            x = out
        before, want = block.copy(), (x + y).astype(out.dtype)
        covered = addresses(out)
        try:
            add(x, y, out)
        except Failure as e:
            refused += 1
            assert (e.status, e.argument) == (ERR_ARGUMENT, 2), e
            assert len(np.unique(covered)) < covered.size and (block == before).all(), (shape, out.strides)
            continue
        assert len(np.unique(covered)) == covered.size, (shape, out.strides)
        got, block[:] = block.copy(), before
        out[...] = want
        assert same(got, block), [(a.dtype.name, a.shape, a.strides) for a in (x, y, out)]
    assert refused > 50


def outputs_that_overlap(rng):
    pair = Func("(x) -> (p, q) { p = x; q = x + 1; }", every([np.dtype("i2"), np.dtype("i4")], "T->T,T"))
    refused = 0
    for _ in range(400 * ROUNDS):
        block = np.zeros(8000, np.int16)
        shape = [int(rng.integers(1, 12)) for _ in range(pick(rng, [1, 2]))]
        p, q = (random_overlap(rng, block, shape, np.dtype(pick(rng, ["i2", "i4"]))) for _ in range(2))
        both = np.concatenate([addresses(p).reshape(-1), addresses(q).reshape(-1)])
        distinct = len(np.unique(both)) == both.size
        x = random_values(rng, shape, np.dtype("i2"))
        try:
            pair(x, p, q)
            assert distinct and (p == x).all() and (q == x + 1).all(), (shape, p.strides, q.strides)
        except Failure as e:
            refused += 1
            assert e.status == ERR_ARGUMENT and not distinct, (shape, p.strides, q.strides, str(e))
            assert (block == 0).all()
    assert refused > 50


def shapes_that_do_not_fit(rng):
    refused = 0
    for _ in range(350 * ROUNDS):
        shapes = [random_shape(rng, 300) for _ in range(4)]
        x, y, out = (np.zeros(s, np.float32) for s in shapes[:3])
        where = None if rng.random() < 0.5 else np.ones(shapes[3], bool)
        try:
            fits = np.broadcast_shapes(*shapes[:3 if where is None else 4]) == shapes[2]
        except ValueError:
            fits = False
        try:
            add(x, y, out, where=where)
            assert fits, shapes
        except Failure as e:
            refused += 1
            assert not fits and e.status == ERR_SHAPE, (shapes, e)
    assert refused > 100


# ---- Sizes ----

def large(rng):
    for n in ((1 << 20), (1 << 20) + 7, 3_000_001):
        x, y = (rng.standard_normal(n, np.float32) for _ in range(2))
        for threads in (0, 1, 2):
            for views in ((x, y), (x[::-1], y), (x, y[:1])):
                out = np.empty_like(x)
                add(*views, out, threads=threads)
                assert same(out, np.add(*views)), (n, threads)
    x = rng.integers(0, 255, (1500, 1403), np.uint8)
    for rows, columns in ((x, x.T.copy().T), (x, x[:, :1]), (x[:1], x), (x[:1], x[:, :1])):
        out = np.empty((1403, 1500), np.uint8).T
        add(rows, columns, out)
        assert same(out, rows + columns)
    where = rng.random(x.shape) < 0.5
    want = np.where(where, x + x, x)
    add(x, x, x, where=where)
    assert same(x, want)


def beyond_2_31(rng):
    n = (1 << 31) + 5
    x = np.zeros(n, np.uint8)
    x[-5:] = 1, 2, 3, 4, 5
    x[::4097] = 9
    add(x, np.asarray(3), x)
    assert x[-9:].tolist() == [3, 3, 3, 3, 4, 5, 6, 7, 8] and x[4096] == 3 and x[4097] == 12
    assert np.count_nonzero(x == 12) == -(-n // 4097), "every element once"
    far = x[:: 1 << 30]
    want = far + far
    add(far, far, far)
    assert same(far, want) and x[1 << 31] == 8
    half = n // 2
    add(x[half + 1:][::-1], x[:1], x[:n - half - 1])  # the number x[0] is overwritten by the first result
    assert x[0] == 8 + 24 and x[4] == 8 + 24 and x[5] == 3 + 24


def main():
    tests = [arithmetic, casts_of_outputs, casts_of_inputs, numbers, masks, masks_in_runs, several_outputs, the_same_everywhere,
             overlap, outputs_that_overlap, shapes_that_do_not_fit, large] + [beyond_2_31] * (ROUNDS > 1)
    return run(tests)


if __name__ == "__main__":
    warnings.simplefilter("ignore", np.exceptions.ComplexWarning)  # complex to real drops the imaginary part
    sys.exit(main())
