"""core_reductions.py - reductions whose elements are vectors and matrices: uf_reduce, uf_accumulate and uf_reduceat with generalized
ufuncs, against NumPy's matmul, folded from the left, and formulas for quaternions: on random ranks, core sizes, axes, strides, dtypes,
masks, initial values, orders and threads; then in place, and on bad input.

Integer products wrap and are exact in any grouping. Those of floating dtypes are of matrices near orthogonal ones, so that they
stay near 1, and are compared with the same product in twice the precision.

PROP_N=n makes n times as many calls. UF_TEST_GPU=1 makes them on the GPU as well, on arrays in its memory.
"""
import itertools
import os
import sys

import numpy as np

from uf import (ERR_ARGUMENT, ERR_SHAPE, ERR_SIGNATURE, Failure, Func, GPU, SERIAL, random_window, run)

ROUNDS = int(os.environ.get("PROP_N", "1"))
DEVICES = [None, GPU] if os.environ.get("UF_TEST_GPU") == "1" else [None]
TYPES = [np.dtype(t) for t in ("i4", "i8", "u1", "f4", "f8", "c8", "c16")]

PRODUCT = "(a, b) -> (c) { forall (i : n, j : n) c[i][j] = sum(k : n, a[i][k] * b[k][j]); }"
HAMILTON = """(p, q) -> (r) {
    r[0] = p[0] * q[0] - p[1] * q[1] - p[2] * q[2] - p[3] * q[3];
    r[1] = p[0] * q[1] + p[1] * q[0] + p[2] * q[3] - p[3] * q[2];
    r[2] = p[0] * q[2] - p[1] * q[3] + p[2] * q[0] + p[3] * q[1];
    r[3] = p[0] * q[3] + p[1] * q[2] - p[2] * q[1] + p[3] * q[0];
}"""
PAIRS = ("int32,int32->int32; int64,int64->int64; uint8,uint8->uint8; float32,float32->float32; float64,float64->float64; "
         "complex64,complex64->complex64; complex128,complex128->complex128")


def hamilton(p, q):
    p, q = np.moveaxis(p, -1, 0), np.moveaxis(q, -1, 0)
    return np.stack([p[0] * q[0] - p[1] * q[1] - p[2] * q[2] - p[3] * q[3],
                     p[0] * q[1] + p[1] * q[0] + p[2] * q[3] - p[3] * q[2],
                     p[0] * q[2] - p[1] * q[3] + p[2] * q[0] + p[3] * q[1],
                     p[0] * q[3] + p[1] * q[2] - p[2] * q[1] + p[3] * q[0]], -1)


class Case:
    """A function, what it is in NumPy, and the ranks and sizes of its cores."""

    def __init__(self, f, numpy, rank, sizes, identity=None):
        self.f, self.numpy, self.rank, self.sizes, self.identity = f, numpy, rank, sizes, identity


def cases():
    eye = lambda n: np.eye(n)
    return [Case(Func(PRODUCT, PAIRS, "(n,n),(n,n)->(n,n)"), np.matmul, 2, SIZES),
            Case(Func.define(PRODUCT, PAIRS, "(n,n),(n,n)->(n,n)", identity="[i, j]() { return i == j; }"), np.matmul, 2,
                 SIZES, eye),
            Case(Func(PRODUCT, None, "(n,n),(n,n)->(n,n)"), np.matmul, 2, SIZES),
            Case(Func.load("matmul"), np.matmul, 2, SIZES),
            Case(Func.load("quat_mul"), hamilton, 1, [4]),
            Case(Func.define(HAMILTON, PAIRS, "(4),(4)->(4)", identity="[i]() { return i == 0; }"), hamilton, 1, [4],
                 lambda n: np.arange(n) == 0),
            Case(Func.define("(x, y) -> (z) { forall (i : n) z[i] = x[i] + y[i]; }", PAIRS, "(n),(n)->(n)", identity="0"),
                 np.add, 1, [1, 2, 5, 16], lambda n: np.zeros(n))]


SIZES = [1, 2, 2, 3, 3, 4]


def served(case, t):
    """Does the function combine in the dtype? Without signatures small integers become wider."""
    signatures = case.f.describe().signatures
    return t.name.encode() in signatures if signatures else t.kind in "fc" or t.itemsize == 8


def elements(rng, loops, core, t):
    if t.kind in "iu":
        return rng.integers(0 if t.kind == "u" else -9, 9, loops + core).astype(t)
    x = rng.standard_normal(loops + core)
    if t.kind == "c":
        x = x + 1j * rng.standard_normal(loops + core)
    if len(core) == 2 and x.size:
        x = np.linalg.qr(x)[0]
    elif x.size:
        x = x / np.sqrt(np.sum(np.abs(x)**2, -1, keepdims=True))
    return x.astype(t)


def placed(rng, x):
    block, window = random_window(rng, x.shape)
    block = np.zeros(block, x.dtype)
    view = window(block)
    view[...] = x
    return view


def wide(x):
    return x.astype({"f4": "f8", "c8": "c16"}.get(x.dtype.str[1:], x.dtype))


def folded(case, x, begin=None):
    """The left fold of a list of elements."""
    out = begin
    for e in x:
        out = e if out is None else case.numpy(out, e)
    return out


def check(got, want, t, n):
    if t.kind in "iu":
        assert np.array_equal(got, want), (got, want)
    else:
        bound = 40 * (n + 1) * np.finfo(t).eps * max(1.0, float(np.max(np.abs(want), initial=0)))
        assert np.all(np.abs(wide(got) - want) <= bound), (np.max(np.abs(got - want)), bound)


def drawn(rng, all_cases, most=400):
    """A function, a dtype, loop dimensions and a core."""
    while True:
        case = all_cases[rng.integers(len(all_cases))]
        t = TYPES[rng.integers(len(TYPES))]
        if not served(case, t):
            continue
        loops = tuple(int(n) for n in rng.choice([0, 1, 2, 3, 5, 17, 40, 129], rng.integers(0, 4),
                                                 p=[.04, .12, .2, .2, .16, .12, .1, .06]))
        core = (case.sizes[rng.integers(len(case.sizes))],) * case.rank
        if np.prod(loops, dtype=int) <= most:
            return case, t, loops, core


def test_reduce(rng):
    reduce_some(rng, cases(), 150 * ROUNDS, 400)


def reduce_some(rng, all_cases, count, most):
    for _ in range(count):
        case, t, loops, core = drawn(rng, all_cases, most)
        x = placed(rng, elements(rng, loops, core, t))
        axes = None if rng.random() < .2 else tuple(int(a) for a in rng.permutation(len(loops))[:rng.integers(0, len(loops) + 1)])
        reduced = sorted(range(len(loops)) if axes is None else axes)
        kept = [d for d in range(len(loops)) if d not in reduced]
        keepdims = bool(rng.random() < .3)
        initial = elements(rng, (), core, t) if rng.random() < .3 else None
        where = np.asarray(rng.random(loops) < .6) if (case.identity or (initial is not None and np.prod(core) <= 16)) and rng.random() < .3 else None
        empty = any(loops[d] == 0 for d in reduced)
        if empty and not case.identity and initial is None:
            continue
        begin = initial if initial is not None else case.identity(core[0]).astype(t) if case.identity else None
        shape = tuple(1 if d in reduced else n for d, n in enumerate(loops)) if keepdims else tuple(loops[d] for d in kept)
        want = np.zeros(tuple(loops[d] for d in kept) + core, wide(x).dtype)
        for at in itertools.product(*(range(loops[d]) for d in kept)):
            items = []
            for inner in itertools.product(*(range(loops[d]) for d in reduced)):
                index = tuple(at[kept.index(d)] if d in kept else inner[reduced.index(d)] for d in range(len(loops)))
                if where is None or where[index]:
                    items.append(wide(x)[index])
            want[at] = folded(case, items, None if begin is None else wide(begin))
        got = placed(rng, np.zeros(shape + core, t))
        device = DEVICES[rng.integers(len(DEVICES))]
        case.f.reduce(x, got, axes=axes, keepdims=keepdims, where=where, threads=int(rng.integers(0, 3)), device=device,
                      initial=None if initial is None else [placed(rng, initial)],
                      flags=SERIAL if rng.random() < .2 else 0)
        check(got, want.reshape(got.shape), t, x.size)
        infers = case.f.reduce_infer(x, axes=axes, keepdims=keepdims, initial=None if initial is None else [initial])
        assert infers == [(t, got.shape)], infers


def test_reduce_large(rng):
    """Cores of more scalars than a state can have."""
    global SIZES
    few, SIZES = SIZES, [0, 5, 6, 8, 17]
    try:
        reduce_some(rng, [c for c in cases() if c.numpy is np.matmul] +
                    [Case(Func.define("(x, y) -> (z) { forall (i : n) z[i] = x[i] + y[i]; }", PAIRS, "(n),(n)->(n)",
                                      identity="0"), np.add, 1, [0, 17, 100], lambda n: np.zeros(n))], 100 * ROUNDS, 60)
    finally:
        SIZES = few


def test_accumulate(rng):
    all_cases = cases()
    for _ in range(100 * ROUNDS):
        case, t, loops, core = drawn(rng, all_cases)
        if not loops:
            continue
        axis = int(rng.integers(len(loops)))
        x = placed(rng, elements(rng, loops, core, t))
        in_place = rng.random() < .2
        got = x if in_place else placed(rng, np.zeros(loops + core, t))
        want = np.moveaxis(wide(x), axis, 0).copy()
        for i in range(1, loops[axis]):
            want[i] = case.numpy(want[i - 1], want[i])
        case.f.accumulate(x, got, axis=axis - (len(loops) if rng.random() < .3 else 0), threads=int(rng.integers(0, 3)),
                          device=DEVICES[rng.integers(len(DEVICES))], flags=SERIAL if rng.random() < .2 else 0)
        check(got, np.moveaxis(want, 0, axis), t, x.size)
        assert case.f.accumulate_infer(x, axis=axis) == [(t, got.shape)]


def test_reduceat(rng):
    all_cases = cases()
    for _ in range(100 * ROUNDS):
        case, t, loops, core = drawn(rng, all_cases)
        if not loops or 0 in loops:
            continue
        axis = int(rng.integers(len(loops)))
        n = loops[axis]
        starts = rng.integers(0, n, rng.integers(1, 7))
        x = placed(rng, elements(rng, loops, core, t))
        lines = np.moveaxis(wide(x), axis, 0)
        ends = list(starts[1:]) + [n]
        want = np.stack([folded(case, lines[s:max(e, s + 1)]) for s, e in zip(starts, ends)])
        got = placed(rng, np.zeros(loops[:axis] + (len(starts),) + loops[axis + 1:] + core, t))
        case.f.reduceat(x, got, starts=starts, axis=axis, threads=int(rng.integers(0, 3)),
                        device=DEVICES[rng.integers(len(DEVICES))])
        check(got, np.moveaxis(want, 0, axis), t, x.size)


def test_long(rng):
    for n in (1, 2, 1000, 4097, 70001):
        for t in ("i4", "f4", "f8"):
            x = elements(rng, (n,), (4,), np.dtype(t))
            got = np.zeros(4, t)
            for device in DEVICES:
                Func.define(HAMILTON, PAIRS, "(4),(4)->(4)").reduce(x, got, device=device)
                want = wide(x)
                while len(want) > 1:  # pairs, which is what any grouping gives but for rounding
                    even = hamilton(want[0:len(want) // 2 * 2:2], want[1::2])
                    want = np.concatenate([even, want[-1:]]) if len(want) % 2 else even
                check(got, want[0], np.dtype(t), n)


def refused(status, text, call):
    try:
        call()
    except Failure as e:
        assert e.status == status and text in str(e), e
    else:
        assert False, "it was not refused"


def test_bad(rng):
    product = Func(PRODUCT, PAIRS, "(n,n),(n,n)->(n,n)")
    x = np.zeros((5, 2, 2))
    refused(ERR_SHAPE, "rank is 1", lambda: product.reduce(np.zeros(3), np.zeros((2, 2))))
    refused(ERR_SHAPE, "size 3, and core dimension 0 has 2", lambda: product.reduce(np.zeros((5, 2, 3)), np.zeros((2, 3))))
    refused(ERR_SHAPE, "size 3, but that of the input has 2", lambda: product.reduce(x, np.zeros((2, 3))))
    refused(ERR_SHAPE, "must have 4", lambda: Func.load("quat_mul").reduce(np.zeros((5, 3)), np.zeros(3)))
    refused(ERR_ARGUMENT, "no identity", lambda: product.reduce(x[:0], np.zeros((2, 2))))
    refused(ERR_ARGUMENT, "no identity", lambda: product.reduce(x, np.zeros((2, 2)), where=np.ones(5, bool)))
    refused(ERR_ARGUMENT, "its rank is 0, but must be 2",
            lambda: product.reduce(x, np.zeros((2, 2)), initial=[np.zeros(())]))
    refused(ERR_ARGUMENT, "dimension 1 has size 3, but that of the core has 2",
            lambda: product.reduce(x, np.zeros((2, 2)), initial=[np.zeros((2, 3))]))
    refused(ERR_ARGUMENT, "axis", lambda: product.reduce(x, np.zeros((2, 2)), axes=(1,)))
    refused(ERR_ARGUMENT, "with core dimensions, (m,n),(n)->(m)",
            lambda: Func("(a, x) -> (y) { forall (i : m) y[i] = sum(j : n, a[i][j] * x[j]); }", PAIRS,
                         "(m,n),(n)->(m)").reduce(x, np.zeros(2)))
    mixed = Func("(a, b) -> (c) { forall (i : n) c[i] = a[i] + b[i]; }", "float64,int32->float64", "(n),(n)->(n)")
    refused(ERR_SIGNATURE, "operands of one dtype", lambda: mixed.reduce(np.zeros((3, 2), "i4"), np.zeros(2)))


if __name__ == "__main__":
    sys.exit(run([test_reduce, test_reduce_large, test_accumulate, test_reduceat, test_long, test_bad]))
