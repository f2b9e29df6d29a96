"""scans.py - uf_accumulate, uf_reduceat, uf_at and uf_outer against NumPy: the catalogue's functions and operators of our own, on
random ranks, axes, strides, dtypes, starts and indices, on the sizes where code changes its ways, and on bad input. The oracle
is that of reductions.py, for each piece of a line; the error of a running sum may grow as fast as its length.

PROP_N=n makes n times as many calls. UF_TEST_GPU=1 makes them on the GPU as well, on arrays in its memory.
"""
import math
import os
import sys

import numpy as np

import elementwise
from reductions import (AFFINE, ALL_DTYPES, BINARY, MATRICES, POWERS, TESTS, accumulator, agree, binary_row, composition,
                        expected, folded, in_halves, is_exact, matches, matrix_product, pick, placed, random_dims,
                        refused, untouched, values)
from uf import (BFLOAT16, DETERMINISTIC, ERR_ARGUMENT, ERR_CAST, ERR_SHAPE, Func, GPU, cast, random_source,
                random_values, run)

ROUNDS = int(os.environ.get("PROP_N", "1"))


def named(test, name, device):
    test.__name__ = name + ("_on_the_gpu" if device else "")
    return test


# ---- Pieces of lines: a prefix for each element, or what the starts say ----


def prefixes(n):
    return [(0, i + 1) for i in range(n)]


def segments(starts, n):
    """NumPy's rule."""
    ends = [*starts[1:], n]
    return [(s, e if e > s else s + 1) for s, e in zip(starts, ends)]


def of_pieces(oracle, lines, pieces):
    """The oracle's (results, bounds) for each piece, side by side in the last dimension."""
    parts = [oracle([x[..., a:b] for x in lines], a) for a, b in pieces]
    return [tuple(np.stack([part[k][i] for part in parts], axis=-1) for i in range(2)) for k in range(len(parts[0]))]


def catalogue_oracle(row):
    def oracle(lines, first):
        """Positions are those along the axis."""
        n = lines[0].shape[-1]
        return [(np.where(want >= 0, want + first, want) if k in row.positions else want, bound * (n + 8))
                for k, (want, bound) in enumerate(expected(row, lines, np.ones(lines[0].shape, bool)))]
    return oracle


def binary_oracle(name, own):
    def oracle(lines, first):
        want, bound = folded(name, lines[0], np.ones(lines[0].shape, bool), own, begun=True)
        return [(want, np.full(want.shape, np.nan) if bound is None else bound * (lines[0].shape[-1] + 8))]
    return oracle


class Call:
    """A random accumulation or reduceat: inputs, the axis, outputs."""

    def __init__(self, rng, row, t, most=400):
        self.shape = ()
        while not self.shape:
            self.shape = random_dims(rng, most, (1, 1, 2, 2, 3, 4))
        self.axis = int(rng.integers(-len(self.shape), len(self.shape)))
        sources = [self.shape] + [tuple(1 if rng.random() < 0.2 else n for n in self.shape) for _ in range(row.nin - 1)]
        self.xs = [placed(rng, row.inputs(rng, s, t))[0] for s in sources]
        self.lines = [np.moveaxis(np.broadcast_to(x, self.shape), self.axis, -1) for x in self.xs]

    def outputs(self, rng, dtypes, length):
        shape = list(self.shape)
        shape[self.axis] = length
        self.outs = [placed(rng, np.zeros(shape, d)) for d in dtypes]
        self.before = [block.copy() for _, block, _ in self.outs]
        return [o for o, _, _ in self.outs]

    def check(self, wanted, agrees):
        for (out, block, window), old, (want, bound) in zip(self.outs, self.before, wanted):
            got = np.moveaxis(out, self.axis, -1)
            assert agrees(got, want, bound), f"{self}: got {got}, want {want}, bound {bound}"
            assert untouched(out, block, old, window), f"{self}: written outside of the output"

    def __str__(self):
        return f"{[(str(x.dtype), x.shape, x.strides) for x in self.xs]} axis {self.axis}"


def random_starts(rng, n):
    count = int(rng.integers(0, 12))
    return rng.integers(0, n, count).astype(pick(rng, ["i1", "i4", "i8", "u2", "u8"]) if n < 128 else "i4")


def scan_once(rng, f, row, oracle, agrees, t, device):
    case = Call(rng, row, t)
    n = case.lines[0].shape[-1]
    types = f.accumulate_infer(*case.xs, nout=row.nout, axis=case.axis)
    assert all(s == case.shape for _, s in types), f"{case}: {types}"
    dtypes = [d for d, _ in types]
    threads = int(rng.integers(0, 3))
    f.accumulate(*case.xs, *case.outputs(rng, dtypes, n), axis=case.axis, threads=threads, device=device)
    if all(case.shape):
        case.check(of_pieces(oracle, case.lines, prefixes(n)), agrees)
    if n == 0:
        return
    starts = random_starts(rng, n)
    outs = case.outputs(rng, dtypes, starts.size)
    f.reduceat(*case.xs, *outs, starts=placed(rng, starts)[0], axis=case.axis, threads=threads, device=device)
    if all(case.shape) and starts.size:
        case.check(of_pieces(oracle, case.lines, segments(starts.tolist(), n)), agrees)


def catalogue_scan(name, device=None):
    def test(rng):
        f, row = Func.load(name), TESTS[name]
        for k in rng.permutation(len(row.dtypes))[:3 * ROUNDS]:
            for _ in range(2):
                scan_once(rng, f, row, catalogue_oracle(row), agree, row.dtypes[k], device)
    return named(test, f"scan_{name}", device)


def binary_scan(name, device=None):
    def test(rng):
        f = Func.load(name)
        dtypes = [t for t in ALL_DTYPES if any(s[0] == t for s in elementwise.signatures_of(f))]
        if name in POWERS:
            dtypes = [t for t in dtypes if t.kind in "biu"]
        for k in rng.permutation(len(dtypes))[:2 * ROUNDS]:
            t = dtypes[k]
            own = accumulator(name, f, t)
            if not (name == "divide" and own.kind == "c"):
                scan_once(rng, f, binary_row(name, f, t), binary_oracle(name, own), lambda got, want, bound: matches(
                    name, got, want, None if np.all(np.isnan(bound)) else bound), t, device)
    return named(test, f"scan_{name}", device)


# ---- Sizes, and operators whose order counts ----


def long_scans(device=None):
    def test(rng):
        for name, t, f in (("cumsum", "i4", np.cumsum), ("cummax", "f4", np.maximum.accumulate),
                           ("cumsum", "u1", np.cumsum), ("cumprod", "i8", np.cumprod)):
            loaded = Func.load(name)
            for n in (1, 15, 16, 17, 127, 128, 129, 1023, 1024, 1025, 34567, 1048575, 1048576, 1048577):
                for shape in ((n,), (n, 3), (3, n)) if n < 1e5 else ((n,),):
                    axis = shape.index(n)
                    x = random_values(rng, shape, np.dtype(t))
                    want = f(x, axis=axis)
                    out = np.zeros_like(want)
                    loaded.accumulate(x, out, axis=axis, device=device)
                    assert np.array_equal(out, want), (name, t, shape)
    return named(test, "long_scans", device)


def integer_scans(device=None):
    """Operators that go by vectors, of every dtype, with 0 and more whole vectors, and what is left of one; inputs begin anywhere."""
    def test(rng):
        operators = {"add": np.add, "maximum": np.maximum, "minimum": np.minimum, "bitwise_and": np.bitwise_and,
                     "bitwise_or": np.bitwise_or, "bitwise_xor": np.bitwise_xor, "cumsum": np.add}
        for name, f in operators.items():
            loaded = Func.load(name)
            for t in ("b1", "i1", "u1", "i2", "u2", "i4", "u4", "i8", "u8"):
                if t == "b1" and name != "cumsum":
                    continue
                for n in rng.choice(150, 6).tolist() + [1, 2, 64, 65, 1000]:
                    offset = int(rng.integers(0, 3))
                    x = random_values(rng, (3, n + offset), np.dtype(t))[:, offset:]
                    own = loaded.accumulate_infer(x, nout=1, axis=1)[0][0]
                    for to in {own, np.dtype("i8"), np.dtype("i2")} if own.kind == "i" and name != "cumsum" else {own}:
                        if not np.can_cast(own, to, "safe"):
                            continue
                        out = np.zeros((3, n), to)
                        loaded.accumulate(x, out, axis=1, device=device)
                        assert np.array_equal(out, f.accumulate(x, axis=1, dtype=own)), (name, t, to, n)
            x = random_values(rng, 200001, np.dtype("i4"))
            for threads in (1, 2):
                out = np.zeros(x.size, loaded.accumulate_infer(x, nout=1, axis=0)[0][0])
                loaded.accumulate(x, out, axis=0, threads=threads, device=device)
                assert np.array_equal(out, f.accumulate(x, dtype=out.dtype)), (name, threads)
    return named(test, "integer_scans", device)


def long_floats(device=None):
    """Running sums within eps n sum|x|, and the same bits with any number of threads."""
    def test(rng):
        add = Func.load("add")
        for t in ("f4", "f8"):
            for n in (1025, 34567, 1048577):
                x = (rng.standard_normal(n) + 0.1).astype(t)
                outs = [np.zeros(n, t) for _ in range(4)]
                for out, threads in zip(outs, (1, 2, 0, 1)):
                    add.accumulate(x, out, threads=threads, device=device, flags=DETERMINISTIC)
                assert len({o.tobytes() for o in outs}) == 1, (t, n)
                want, size = np.cumsum(x.astype(np.longdouble)), np.cumsum(np.abs(x).astype(np.longdouble))
                error = np.abs(outs[0] - want) / (np.finfo(t).eps * size)
                assert np.all(error <= np.arange(1, n + 1)), (t, n, error.max())
    return named(test, "long_floats", device)


def ordered_scans(device=None):
    def test(rng):
        for (signature, texts), combine, t in ((MATRICES, matrix_product, "u4"), (AFFINE, composition, "i8")):
            f = Func.reduction(signature, **texts)
            nstate = signature.count(",") // 2 + 1
            for n in (1, 2, 7, 64, 65, 1025, 5000, 70001):
                for shape in ((n,), (n, 3), (3, n)):
                    axis = shape.index(n)
                    xs = [random_values(rng, shape, np.dtype(t)) for _ in range(nstate)]
                    outs = [np.zeros(shape, t) for _ in range(nstate)]
                    f.accumulate(*xs, *outs, axis=axis, device=device)
                    x, y = (np.moveaxis(np.stack(a), axis + 1, -1) for a in (xs, outs))
                    assert np.array_equal(y[..., 0], x[..., 0]), (signature, shape)
                    assert np.array_equal(combine(y[..., :-1], x[..., 1:]), y[..., 1:]), (signature, shape)
                starts = np.sort(rng.integers(0, n, 5))
                xs = [random_values(rng, (n,), np.dtype(t)) for _ in range(nstate)]
                outs = [np.zeros(5, t) for _ in range(nstate)]
                f.reduceat(*xs, *outs, starts=starts, device=device)
                for i, (a, b) in enumerate(segments(starts.tolist(), n)):
                    want = in_halves(combine, np.stack(xs)[:, a:b])
                    assert np.array_equal([o[i] for o in outs], want), (signature, n, starts)
    return named(test, "ordered_scans", device)


# ---- outer, at ----


def outer(device=None):
    def test(rng):
        for _ in range(60 * ROUNDS):
            name = pick(rng, [n for n in BINARY if n not in POWERS])
            f, op = Func.load(name), elementwise.TESTS[name][0]
            s = pick(rng, elementwise.signatures_of(f))
            if s[0] == BFLOAT16 or not is_exact(name, s[0]):
                continue
            ranks = (0, 1, 1, 2, 3) if s[0] == s[1] else (1, 2)  # numbers beside arrays follow them
            x, y = (placed(rng, binary_row(name, f, t).inputs(rng, random_dims(rng, 40, ranks), t))[0] for t in s[:2])
            want = op.outer(x, y)
            out, block, window = placed(rng, np.zeros(want.shape, want.dtype))
            before = block.copy()
            f.outer(x, y, out, threads=int(rng.integers(0, 3)), device=device)
            assert matches(name, out, want, None), f"{name} {s} {x.shape} {y.shape}: got {out}, want {want}"
            assert untouched(out, block, before, window), f"{name} {x.shape} {y.shape}: written outside of the output"
        x, y, z = rng.standard_normal((3, 4)), rng.standard_normal(5), rng.standard_normal((2, 2))
        out = np.zeros((3, 4, 5, 2, 2))
        Func("(x, y, z) { return x + y * z; }", "ddd->d").outer(x, y, z, out, device=device)
        assert np.array_equal(out, x[..., None, None, None] + y[:, None, None] * z)
        mask, out = rng.random((4, 5)) < 0.5, np.full((3, 4, 5), 7.0)
        Func.load("add").outer(x, y, out, where=mask, device=device)
        assert np.array_equal(out, np.where(mask, np.add.outer(x, y), 7))
    return named(test, "outer", device)


AT_NAMES = ("add", "subtract", "multiply", "maximum", "minimum", "fmax", "bitwise_and", "bitwise_or", "bitwise_xor", "gcd",
            "floor_divide", "logical_or", "heaviside", "copysign")


def at_call(rng, t, most=300):
    """A target, indices for its first dimensions that broadcast, and the shape of what is updated."""
    shape = ()
    while not shape or not math.prod(shape):
        shape = random_dims(rng, most, (1, 1, 2, 3))
    count = int(rng.integers(1, len(shape) + 1))
    common = random_dims(rng, 60, (0, 1, 1, 2))
    indices = []
    for n in shape[:count]:
        kind = np.dtype(pick(rng, ["i2", "i4", "i8", "u2", "u8"]))
        low = 0 if kind.kind == "u" else -n
        indices.append(placed(rng, rng.integers(low, n, random_source(rng, common)).astype(kind))[0])
    return shape, indices, np.broadcast_shapes(*(i.shape for i in indices)) + shape[count:]


def at(device=None):
    def test(rng):
        for _ in range(100 * ROUNDS):
            name = pick(rng, AT_NAMES)
            f, op = Func.load(name), elementwise.TESTS[name][0]
            t = pick(rng, [s[0] for s in elementwise.signatures_of(f) if s[0] == s[2] and s[0] != BFLOAT16])
            if t.kind == "c" and name != "add":
                continue
            shape, indices, updated = at_call(rng, t)
            draw = (lambda rng, s, t: cast(rng.integers(-9, 9, s), t)) if t.kind == "c" else values
            target, block, window = placed(rng, draw(rng, shape, t))
            operand = placed(rng, draw(rng, random_source(rng, updated), t))[0]
            want, before = target.copy(), block.copy()
            whole = np.broadcast_to(operand, updated)  # NumPy updates in the order of memory: here that of the indices
            op.at(want, tuple(np.ascontiguousarray(i, np.int64).reshape(i.shape) for i in indices), whole.copy())
            f.at(target, indices, operand, device=device, threads=int(rng.integers(0, 3)), flags=DETERMINISTIC)
            say = f"{name} {t} {shape}, {[(i.dtype, i.shape) for i in indices]}, {operand.shape}"
            assert matches(name, target, want, None), f"{say}: got {target}, want {want}"
            assert untouched(target, block, before, window), f"{say}: written outside of the target"
        negate = Func("(x) { return -x; }", "i->i; d->d")
        x = rng.standard_normal(10)
        want = x.copy()
        np.negative.at(want, [3, 3, -1, 0])
        negate.at(x, [np.array([3, 3, -1, 0])], device=device)
        assert np.array_equal(x, want)
    return named(test, "at", device)


def many_at_once(device=None):
    """Histograms: many updates of few elements, and of many."""
    def test(rng):
        for bins in (1, 7, 1000, 300000):
            index = rng.integers(-bins, bins, 400000)
            for t in ("i4", "u1", "i8", "f4", "f8"):
                got = np.zeros(bins, t)
                want = np.bincount(index % bins, minlength=bins).astype(t)
                Func.load("add").at(got, [index], np.ones((), t), device=device)
                assert np.array_equal(got, want), (bins, t)
            top, x = np.full(bins, -np.inf, "f4"), rng.standard_normal(index.size).astype("f4")
            want = top.copy()
            np.maximum.at(want, index, x)
            Func.load("maximum").at(top, [index], x, device=device)
            assert np.array_equal(top, want), bins
    return named(test, "many_at_once", device)


# ---- In place, bad input ----


def in_place(rng):
    """An output that is the input, or overlaps it."""
    x = rng.integers(-99, 99, (60, 50))
    for axis in (0, 1):
        y = x.copy()
        Func.load("add").accumulate(y, y, axis=axis)
        assert np.array_equal(y, np.cumsum(x, axis=axis))
        y = x.copy()
        Func.load("add").accumulate(y[:-1], y[1:], axis=axis)
        assert np.array_equal(y[1:], np.cumsum(x[:-1], axis=axis))
        y = x.copy()
        Func.load("add").reduce(y, y[0] if axis == 0 else y[:, 0], axes=(axis,))
        assert np.array_equal(y[0] if axis == 0 else y[:, 0], np.sum(x, axis=axis))


def bad_input(rng):
    x, out, add = np.ones((3, 4)), np.zeros((3, 4)), Func.load("add")
    refused(lambda: add.accumulate(x, out, axis=2), ERR_ARGUMENT)
    refused(lambda: add.accumulate(x, out, axis=-3), ERR_ARGUMENT)
    refused(lambda: add.accumulate(x, np.zeros((3, 5))), ERR_SHAPE)
    refused(lambda: add.accumulate(x, np.zeros((4,))), ERR_SHAPE)
    refused(lambda: add.accumulate(np.ones(()), np.zeros(())), ERR_ARGUMENT)
    refused(lambda: add.accumulate(x, np.zeros((3, 4), "i4")), ERR_CAST)
    refused(lambda: add.accumulate(x, out, where=np.ones((3, 4), bool)), ERR_ARGUMENT)
    refused(lambda: Func.load("matmul").accumulate(x, out), ERR_SHAPE)
    for starts in ([0, 3], [-1], [0, 1, 100]):
        refused(lambda: add.reduceat(x, np.zeros((len(starts), 4)), starts=np.array(starts)), ERR_ARGUMENT)
    refused(lambda: add.reduceat(x, out, starts=np.array([0, 1])), ERR_SHAPE)
    refused(lambda: add.reduceat(x, out, starts=np.array([[0, 1, 2]])), ERR_SHAPE, ERR_ARGUMENT)
    refused(lambda: add.reduceat(x, out, starts=np.array([0.0, 1, 2])), ERR_ARGUMENT, ERR_CAST)
    refused(lambda: add.outer(x, out, np.zeros((3, 4, 3, 3))), ERR_SHAPE)
    refused(lambda: add.outer(x, out, np.zeros((3, 4))), ERR_SHAPE)
    refused(lambda: Func.load("matmul").outer(x, out, out), ERR_ARGUMENT)
    assert not out.any()
    for index in ([3], [-4], [0, 1, 2, 2 ** 40]):
        refused(lambda: add.at(x, [np.array(index)], np.ones(())), ERR_ARGUMENT)
    refused(lambda: add.at(x, [np.array([0.5])], np.ones(())), ERR_ARGUMENT, ERR_CAST)
    refused(lambda: add.at(x, [np.array([0])] * 3, np.ones(())), ERR_ARGUMENT, ERR_SHAPE)
    refused(lambda: add.at(x, [np.array([0, 1])], np.ones((3, 4))), ERR_SHAPE)
    refused(lambda: add.at(x, [np.array([0, 1]), np.array([0, 1, 2])], np.ones(())), ERR_SHAPE)
    refused(lambda: add.at(np.ones(3, "i4"), [np.array([0])], np.ones(1)), ERR_CAST)
    refused(lambda: add.at(x, [np.array([0])]), ERR_ARGUMENT)
    assert np.array_equal(x, np.ones((3, 4)))


def main():
    gpu = os.environ.get("UF_TEST_GPU") == "1"
    tests = []
    for device in (None, GPU) if gpu else (None,):
        tests += [catalogue_scan(name, device) for name in TESTS] + [binary_scan(name, device) for name in BINARY]
        tests += [test(device) for test in (long_scans, integer_scans, long_floats, ordered_scans, outer, at, many_at_once)]
    tests += [in_place, bad_input]
    if sys.argv[1:]:
        tests = [t for t in tests if t.__name__ in sys.argv[1:]]
    return run(tests)


if __name__ == "__main__":
    import warnings
    warnings.simplefilter("ignore")
    sys.exit(main())
