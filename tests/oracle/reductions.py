"""reductions.py - uf_reduce, uf_accumulate, uf_reduceat, uf_at and uf_outer against NumPy: the reductions of the catalogue, the
binary functions, and operators of our own, on random ranks, axes, strides, dtypes, masks, initial values and threads; then on
the sizes where code changes its ways, on hard sums, and on bad input.

The oracle folds from the left, in the accumulator's dtype, where that is exact; else it computes in long double (sums of float64
exactly), and the error is bounded: of sums by 2 eps log2(n) sum|x|.

PROP_N=n makes n times as many calls. UF_TEST_GPU=1 makes them on the GPU as well, on arrays in its memory.
"""
import math
import os
import sys

import numpy as np

import elementwise
from uf import (BFLOAT16, DTYPES, ERR_ARGUMENT, ERR_CAST, ERR_SHAPE, ERR_SIGNATURE, Failure, Func, GPU, ORDERED, SERIAL,
                cast, computed_in, epsilon, limit_of, near, random_values, random_window, run, same, widen)

ROUNDS = int(os.environ.get("PROP_N", "1"))
ALL_DTYPES = DTYPES + [BFLOAT16]
REAL = [t for t in ALL_DTYPES if t.kind != "c"]
FLOATS = [t for t in ALL_DTYPES if t.kind in "fV"]


# ---- Arrays ----


def pick(rng, items):
    return items[rng.integers(len(items))]


def random_dims(rng, most=1500, ranks=(0, 1, 1, 2, 2, 3, 3, 4, 5)):
    while True:
        shape = tuple(int(n) for n in rng.choice([0, 1, 2, 3, 4, 5, 7, 16, 33, 130, 300], pick(rng, ranks),
                                                 p=[.02, .1, .18, .2, .15, .12, .1, .06, .04, .02, .01]))
        if math.prod(shape) <= most:
            return shape


def random_axes(rng, rank):
    """None (all), or some, in any order, counted from either end."""
    if rng.random() < 0.15:
        return None
    some = rng.permutation(rank)[:rng.integers(0, rank + 1)]
    return tuple(int(a) - (rank if rng.random() < 0.3 else 0) for a in some)


def placed(rng, x):
    """The same array with other strides, inside memory of its own; and that memory."""
    block, window = random_window(rng, x.shape)
    block = random_values(rng, block, x.dtype) if x.dtype != BFLOAT16 else np.zeros(block, x.dtype)
    view = window(block)
    view[...] = x
    return view, block, window


def values(rng, shape, t):
    """Numbers with edges among them."""
    return elementwise.values(rng, math.prod(shape), t).reshape(shape)


def moderate(rng, shape, t):
    """Numbers whose sums and squares stay in range, now and then with an infinity or a NaN."""
    if t.kind in "biu":
        return random_values(rng, shape, t)
    x = rng.standard_normal(shape) * 2.0 ** rng.integers(-3, 3)
    x = np.asarray(x + 1j * rng.standard_normal(shape) if t.kind == "c" else x)
    if rng.random() < 0.1:
        x[rng.random(shape) < 0.05] = pick(rng, [np.inf, -np.inf, np.nan])
    return cast(x, t)


def factors(rng, shape, t):
    """The same; complex ones are finite: what infinite ones multiply to is open."""
    x = moderate(rng, shape, t)
    return cast(np.where(np.isfinite(x), x, 1), t) if t.kind == "c" else x


def near_one(rng, shape, t):
    """Numbers of which the products of any part stay in range, however many there are."""
    largest = .5 * min(1, 64 / np.sqrt(np.prod(shape) + 1))
    return random_values(rng, shape, t) if t.kind in "biu" else cast(2.0 ** rng.uniform(-largest, largest, shape), t)


def repeating(rng, shape, t):
    """Few different numbers, with zeros and now and then NaNs."""
    x = np.asarray(rng.integers(0, 4, shape) - (1 if t.kind in "ifcV" else 0)).astype(np.complex128)
    if t.kind == "c":
        x = x + 1j * rng.integers(0, 3, shape)
    if t.kind in "fcV" and rng.random() < 0.4:
        x = np.where(rng.random(shape) < 0.1, np.nan, x)
    return cast(x if t.kind == "c" else x.real, t)


def ordinary(rng, shape, t):
    """Numbers of which at most one is greatest: not complex ones with different NaNs."""
    return (repeating if t.kind == "c" else values)(rng, shape, t)


def reduced_last(x, axes):
    """[kept .., reduced], the latter in C order."""
    rank = x.ndim
    axes = sorted(a % rank for a in (range(rank) if axes is None else axes))
    moved = np.moveaxis(x, axes, range(rank - len(axes), rank))
    kept = moved.shape[:rank - len(axes)]
    return moved.reshape(kept + (math.prod(moved.shape[rank - len(axes):]),))


def result_shape(shape, axes, keepdims):
    rank = len(shape)
    gone = {a % rank for a in (range(rank) if axes is None else axes)}
    return tuple(1 if a in gone else n for a, n in enumerate(shape) if keepdims or a not in gone)


# ---- The reductions of the catalogue: results of one line, and the bound of their errors in epsilons ----


def log2(n):
    return max(math.log2(n), 1) if n else 1


def exact_sum(x):
    """The sum, of what came from float64 rounded once."""
    if x.dtype.kind == "c":
        return exact_sum(x.real) + 1j * exact_sum(x.imag)
    return math.fsum(x.tolist()) if x.dtype.kind == "f" and np.all(np.isfinite(x)) else np.sum(x)


def magnitudes(x):
    """Of what is finite; of complex numbers by part."""
    return np.abs(np.where(np.isfinite(x.real), x.real, 0)) + np.abs(np.where(np.isfinite(x.imag), x.imag, 0))


def total(x):
    return exact_sum(x), 2 * log2(x.size) * np.sum(magnitudes(x))


def product(x):
    p = np.prod(x)
    return p, 2 * x.size * np.abs(p)


def mean(x):
    if not x.size:
        return x.dtype.type(0) / x.dtype.type(0) if x.dtype.kind == "c" else np.nan, 0
    s, bound = total(x.astype(np.float64) if x.dtype.kind in "biu" else x)
    m = s.real / x.size + 1j * (s.imag / x.size) if x.dtype.kind == "c" else s / x.size
    return m, bound / x.size + 4 * np.abs(np.where(np.isfinite(m), m, 0))


def var(x):
    if not x.size:
        return np.nan, 0
    x = x.astype(np.longdouble) if x.dtype.kind in "biu" else x
    v = np.mean(np.abs(x - np.mean(x)) ** 2)
    return v, 8 * (x.size + 4) * (np.mean(np.abs(x)) * np.sqrt(v) + v)


def std(x):
    v, bound = var(x)
    s = np.sqrt(v)
    return s, bound / s if s > 0 else np.sqrt(bound)


def wide_enough(x):
    return x.astype(np.longdouble) if x.dtype.kind in "biu" else x


def spread(x):
    """The mean and the standard deviation, which is 0 where all are equal, and how much larger the numbers are."""
    x = wide_enough(x)
    s = np.sqrt(np.mean((x - np.mean(x)) ** 2)) if np.any(x != x[0]) else x.dtype.type(0)
    return np.mean(x), s, np.mean(np.abs(x)) / s + 1


def standardised(power, less):
    def moment(x):
        if not x.size:
            return np.nan, 0
        center, s, large = spread(x)
        y = np.mean((wide_enough(x) - center) ** power) / s ** power - less
        return y, 8 * (x.size + 4) * large * (power + np.abs(y))
    return moment


def covariance(x, y):
    if not x.size:
        return np.nan, 0
    (a, s, large), (b, t, larger) = spread(x), spread(y)
    c = np.mean((wide_enough(x) - a) * (wide_enough(y) - b))
    return c, 8 * (x.size + 4) * (np.mean(np.abs(wide_enough(x))) + s) * (np.mean(np.abs(wide_enough(y))) + t)


def correlation(x, y):
    if not x.size:
        return np.nan, 0
    (_, s, large), (_, t, larger) = spread(x), spread(y)
    return covariance(x, y)[0] / s / t, 8 * (x.size + 4) * (large + larger)


def average(x, weights):
    x, weights = wide_enough(x), wide_enough(weights)
    result, size = np.sum(x * weights) / np.sum(weights), np.sum(np.abs(weights))
    rest = np.abs(np.sum(weights)) - 4 * log2(x.size) * size * 2.0 ** -23  # the least that the computed sum may be
    bound = 4 * (log2(x.size) + 2) * (np.sum(np.abs(x * weights)) + np.abs(result) * size) / rest
    return result, bound if rest > 0 else np.inf


def all_close(x, y, relative, absolute):
    return np.all((x == y) | (np.isfinite(y) & (np.abs(x - y) <= absolute + relative * np.abs(y)))), 0


def position_of_number(f):
    """Of nothing but NaNs, -1."""
    return lambda x: f(x) if np.any(x == x) else -1


def logsumexp(x):
    if not x.size:
        return -np.inf, 0
    top = np.max(x)
    y = top + np.log(np.sum(np.exp(x - top))) if np.isfinite(top) else top
    return y, 8 * (x.size + 4) * (1 + np.max(np.abs(x), initial=0, where=np.isfinite(x)))


def norm2(x):
    size = np.sqrt(exact_sum(np.abs(x.astype(np.result_type(x, np.longdouble))) ** 2)) if x.size else 0
    return size, 4 * (log2(x.size) + 2) * np.abs(size)


def dot(x, y):
    return (np.any(x & y) if x.dtype.kind == "b" else exact_sum(x * y)), 2 * (log2(x.size) + 2) * np.sum(magnitudes(x * y))


def without_nans(f):
    return lambda x: f(x[x == x])


def with_nans(draw):
    """What it draws, with NaNs among it."""
    def nans(rng, shape, t):
        x = draw(rng, shape, t)
        return x if t.kind in "biu" else cast(np.where(rng.random(shape) < 0.2, np.nan, widen(x)), t)
    return nans


def exactly(*fs):
    return lambda x: (tuple(f(x) for f in fs), (0,) * len(fs))


class Row:
    """f: results and bounds of one line. inputs: what draws it. empty: of nothing there is a result. initial: the state that `first`
    elements make. own: the state has the input's dtype, not one of 64 bits. numpy: what has the dtype. positions: the results that
    are positions in the line."""

    def __init__(self, f, inputs=moderate, empty=True, initial=None, own=False, dtypes=ALL_DTYPES, numpy=None, nin=1,
                 nout=1, positions=(), first=3):
        self.f, self.inputs, self.empty, self.initial, self.own = f, inputs, empty, initial, own
        self.dtypes, self.numpy, self.nin, self.nout, self.positions = dtypes, numpy, nin, nout, positions
        self.first = first

    def values(self, x):
        return widen(x) if self.own else widest(x)


def moments(x):
    m = np.mean(x) if x.size else 0
    return m, np.sum(np.abs(x - m) ** 2), x.size


def scaled_sum(x):
    top = np.max(x, initial=-np.inf)
    return top, np.sum(np.exp(x - top)) if np.isfinite(top) else x.size


TESTS = {
    "sum": Row(total, initial=lambda x: [np.sum(x)], numpy=np.sum),
    "prod": Row(product, near_one, initial=lambda x: [np.prod(x)], numpy=np.prod),
    "cumsum": Row(total, initial=lambda x: [np.sum(x)], numpy=np.cumsum),
    "cumprod": Row(product, near_one, initial=lambda x: [np.prod(x)], numpy=np.cumprod),
    "nansum": Row(without_nans(total), with_nans(moderate), initial=lambda x: [np.nansum(x)], numpy=np.nansum),
    "nanprod": Row(without_nans(product), with_nans(near_one), initial=lambda x: [np.nanprod(x)], numpy=np.nanprod),
    "nancumsum": Row(without_nans(total), with_nans(moderate), initial=lambda x: [np.nansum(x)], numpy=np.nancumsum),
    "nancumprod": Row(without_nans(product), with_nans(near_one), initial=lambda x: [np.nanprod(x)], numpy=np.nancumprod),
    "nanmin": Row(exactly(np.nanmin), with_nans(ordinary), False, own=True, numpy=np.nanmin),
    "nanmax": Row(exactly(np.nanmax), with_nans(ordinary), False, own=True, numpy=np.nanmax),
    "nanmean": Row(without_nans(mean), with_nans(moderate), numpy=np.nanmean),
    "nanvar": Row(without_nans(var), with_nans(moderate), numpy=np.nanvar),
    "nanstd": Row(without_nans(std), with_nans(moderate), numpy=np.nanstd),
    "ptp": Row(exactly(np.ptp), values, False, own=True, dtypes=[t for t in REAL if t.kind != "b"], numpy=np.ptp),
    "min": Row(exactly(np.min), ordinary, False, lambda x: [np.min(x)], True, numpy=np.min),
    "max": Row(exactly(np.max), ordinary, False, lambda x: [np.max(x)], True, numpy=np.max),
    "cummax": Row(exactly(np.max), repeating, False, lambda x: [np.max(x)], True, numpy=np.max),
    "any": Row(exactly(np.any), repeating, initial=lambda x: [np.any(x)], numpy=np.any),
    "all": Row(exactly(np.all), repeating, initial=lambda x: [np.all(x)], numpy=np.all),
    "mean": Row(mean, numpy=np.mean),
    "var": Row(var, initial=moments, numpy=np.var),
    "std": Row(std, initial=moments, numpy=np.std),
    "skew": Row(standardised(3, 0), dtypes=REAL, numpy=np.var),
    "kurtosis": Row(standardised(4, 3), dtypes=REAL, numpy=np.var),
    "covariance": Row(covariance, dtypes=REAL, numpy=np.var, nin=2),
    "correlation": Row(correlation, dtypes=REAL, numpy=np.var, nin=2),
    "average": Row(average, dtypes=REAL, numpy=lambda x: np.average(x, weights=x), nin=2),
    "allclose": Row(all_close, repeating, dtypes=FLOATS, own=True, nin=4, numpy=lambda x: np.asarray(np.allclose(x, x))),
    "argmin": Row(exactly(np.argmin), repeating, False, numpy=np.argmin, positions=(0,)),
    "argmax": Row(exactly(np.argmax), repeating, False, numpy=np.argmax, positions=(0,)),
    "nanargmin": Row(exactly(position_of_number(np.nanargmin)), with_nans(repeating), False, numpy=np.nanargmin, positions=(0,)),
    "nanargmax": Row(exactly(position_of_number(np.nanargmax)), with_nans(repeating), False, numpy=np.nanargmax, positions=(0,)),
    "min_at": Row(exactly(np.min, np.argmin), repeating, False, own=True, nout=2, positions=(1,)),
    "max_at": Row(exactly(np.max, np.argmax), repeating, False, own=True, nout=2, positions=(1,)),
    "minmax": Row(exactly(np.min, np.max), values, False, lambda x: [np.min(x), np.max(x)], True, REAL, nout=2),
    "logsumexp": Row(logsumexp, initial=scaled_sum, dtypes=FLOATS),
    "norm2": Row(norm2, initial=lambda x: [np.sum(np.abs(x * 1.0) ** 2)], numpy=np.linalg.norm),
    "dot": Row(dot, factors, own=True, nin=2, numpy=lambda x: np.dot(x, x)),
    "count_nonzero": Row(exactly(np.count_nonzero), repeating, initial=lambda x: [np.count_nonzero(x)],
                         numpy=lambda x: np.asarray(np.count_nonzero(x))),
}


def widest(x):
    """As the accumulator has them: integers of 64 bits."""
    x = widen(x)
    return x.astype({"b": np.int64, "i": np.int64, "u": np.uint64}[x.dtype.kind]) if x.dtype.kind in "biu" else x


def expected(row, lines, kept):
    """Arrays of results and of bounds, for arrays [.., line] of which some elements are kept."""
    lines = [row.values(x) for x in lines]
    shape, results, bounds = kept.shape[:-1], [], []
    for index in np.ndindex(shape):
        take = np.flatnonzero(kept[index])
        result, bound = row.f(*(x[index][take] for x in lines))
        result, bound = (r if isinstance(r, tuple) else (r,) for r in (result, bound))
        results.append([take[r] if k in row.positions and r >= 0 else r for k, r in enumerate(result)])
        bounds.append(bound)
    return [tuple(np.array([r[k] for r in rows]).reshape(shape) for rows in (results, bounds)) for k in range(row.nout)]


# The reductions whose results are rounded.
ROUNDED = ("sum nansum mean nanmean average prod nanprod var std nanvar nanstd skew kurtosis covariance correlation dot norm2 "
           "logsumexp").split()
MEASURED_LENGTHS = (2, 7, 100, 3000, 100000, 1000000)


def share_of_limit(rng, name, t, device=None):
    """The largest error of a result as a share of the one that it may have, for lines of MEASURED_LENGTHS, and how many results."""
    f, row, share, results = Func.load(name), TESTS[name], 0.0, 0
    for n in MEASURED_LENGTHS:
        shape = (max(1, min(1000, 1000000 // n)), n)
        lines = [row.inputs(rng, shape, t) for _ in range(row.nin)]
        ((dtype, kept),) = f.reduce_infer(*lines, axes=(1,))
        got = np.zeros(kept, dtype)
        f.reduce(*lines, got, axes=(1,), device=device)
        ((want, bound),) = expected(row, lines, np.ones(shape, bool))
        limit, _ = limit_of(got.dtype, want, bound * epsilon(got.dtype))
        usual = np.isfinite(want) & np.isfinite(limit)
        share = max(share, float(np.max(np.abs(widen(got) - want)[usual] / limit[usual], initial=0)))
        results += int(np.sum(usual))
    return share, results


def agree(got, want, bound):
    got = got.copy()
    if got.dtype.kind in "biu":
        return np.array_equal(got, np.asarray(want).astype(got.dtype))
    return bool(np.all(near(got, np.asarray(want), np.asarray(bound) * epsilon(computed_in(got.dtype)))))


def untouched(out, block, before, window):
    window(before)[...] = out
    return block.tobytes() == before.tobytes()


def initial_state(row, first):
    """The state that some elements make, in dtypes of its kind."""
    x = row.values(first)
    return [np.asarray(v) for v in row.initial(x.astype({"f": np.float64, "c": np.complex128}.get(x.dtype.kind, x.dtype)))]


class Case:
    """A random call: the inputs, the options, and as the oracle has it the elements of each result in a line."""

    def __init__(self, rng, row, t, shape=None):
        self.shape = shape = random_dims(rng) if shape is None else shape
        self.axes, self.keepdims = random_axes(rng, len(shape)), bool(rng.random() < 0.3)
        sources = [shape] + [tuple(1 if rng.random() < 0.2 else n for n in shape) for _ in range(row.nin - 1)]
        self.xs = [placed(rng, row.inputs(rng, s, t))[0] for s in sources]
        if row.nin == 1 and shape and shape[0] and rng.random() < 0.1:  # an input that repeats
            self.xs = [np.broadcast_to(self.xs[0][:1], shape)]
        self.lines = [reduced_last(np.broadcast_to(x, shape), self.axes) for x in self.xs]
        self.kept = np.ones(self.lines[0].shape, bool)
        self.where = self.initial = None
        if row.initial and rng.random() < 0.3:
            self.start(row, row.inputs(rng, (row.first,), t))
        if (row.empty or self.initial) and rng.random() < 0.3:
            self.where = np.asarray(rng.random(shape[rng.integers(len(shape) + 1):]) < 0.7)
            part = reduced_last(np.broadcast_to(self.where, shape), self.axes)
            self.kept[..., self.kept.shape[-1] - part.shape[-1]:] = part
        self.options = dict(axes=self.axes, keepdims=self.keepdims, where=self.where, initial=self.initial)

    def start(self, row, first):
        before = np.broadcast_to(first, self.lines[0].shape[:-1] + first.shape)
        self.lines = [np.concatenate([before, x], axis=-1) for x in self.lines]
        self.kept = np.ones(self.lines[0].shape, bool)
        self.initial = initial_state(row, first)

    def results_of_nothing(self):
        return self.kept.shape[-1] == 0  # an error even if there are no results

    def __str__(self):
        return f"{[(str(x.dtype), x.shape, x.strides) for x in self.xs]} {self.options}"


def reduce_once(rng, name, f, t, device):
    row = TESTS[name]
    case = Case(rng, row, t)
    types = f.reduce_infer(*case.xs, nout=row.nout, axes=case.axes, keepdims=case.keepdims)
    assert all(s == result_shape(case.shape, case.axes, case.keepdims) for _, s in types), f"{case}: {types}"
    outs = [placed(rng, np.zeros(s, d)) for d, s in types]
    before = [block.copy() for _, block, _ in outs]
    call = lambda: f.reduce(*case.xs, *(o for o, _, _ in outs), device=device, threads=int(rng.integers(0, 3)),
                            **case.options)
    if not row.empty and case.results_of_nothing():
        return refused(call, ERR_ARGUMENT)
    call()
    for (out, block, window), old, (want, bound) in zip(outs, before, expected(row, case.lines, case.kept)):
        want, bound = (a.reshape(out.shape) for a in (want, bound))
        assert agree(out, want, bound), f"{case}: got {out}, want {want}, bound {bound}"
        assert untouched(out, block, old, window), f"{case}: written outside of the output"


def refused(call, *statuses):
    try:
        call()
    except Failure as e:
        assert e.status in statuses, f"status {e.status}, {statuses} was meant: {e}"
        return
    raise AssertionError("no error")


def numpy_dtypes(name, f):
    for t in DTYPES:
        if TESTS[name].numpy and t in TESTS[name].dtypes:
            x = [np.ones(3, t)] * TESTS[name].nin
            want, got = TESTS[name].numpy(x[0]).dtype, f.reduce_infer(*x)[0][0]
            assert got == want, f"{name}({t}): {got}, NumPy's is {want}"


def catalogue_reduction(name, device=None):
    def test(rng):
        f = Func.load(name)
        numpy_dtypes(name, f)
        dtypes = TESTS[name].dtypes
        for k in rng.permutation(len(dtypes))[:3 * ROUNDS]:  # a few: most of the time goes into compiling
            for _ in range(2):
                reduce_once(rng, name, f, dtypes[k], device)
    test.__name__ = f"reduce_{name}" + ("_on_the_gpu" if device else "")
    return test


# ---- Binary functions: folded from the left, in the accumulator's dtype ----


EXTREMES = ("maximum", "minimum", "fmax", "fmin")
POWERS = ("power", "float_power", "arctan2")
SUMS = ("add", "multiply", "hypot", "logaddexp", "logaddexp2")
BINARY = [name for name, (op, *_) in elementwise.TESTS.items()
          if (op.nin, op.nout) == (2, 1) and name != "ldexp"]  # whose operands are of two kinds
IDENTITY = {name: elementwise.TESTS[name][0].identity for name in BINARY}
WIDENED = {np.dtype("f2"): np.dtype("f4"), BFLOAT16: np.dtype("f4")}


def is_exact(name, t):
    """Every operation is rounded once, or not at all."""
    return t.kind in "biu" or not (name in SUMS or name in POWERS or t.kind == "c" and name == "divide")


def accumulator(name, f, t):
    """The dtype that NumPy folds in; where it does not, that of the operands."""
    op = elementwise.TESTS[name][0]
    if t == BFLOAT16:
        return np.dtype("f8" if name == "float_power" else "?" if name.startswith("logical") else t)
    try:
        return op.reduce(np.ones(2, t)).dtype
    except TypeError:
        return f.infer(np.ones(2, t), np.ones(2, t))[0] if name == "subtract" else t


def operands_of(name):
    def draw(rng, shape, t):
        if name == "lcm":
            return rng.integers(1, 5, shape).astype(t)
        if name in EXTREMES and t.kind == "c":
            return repeating(rng, shape, t)
        if not is_exact(name, t) or t.kind == "c":
            x = (near_one if name == "multiply" or name in POWERS or t.kind == "c" and name == "divide" else moderate)
            return x(rng, shape, t)
        x = values(rng, shape, t)
        return np.where(x < 0, ~x, x) if t.kind == "i" and name == "power" else x
    return draw


def binary_row(name, f, t):
    bools = accumulator(name, f, t).kind == "b"
    return Row(None, operands_of(name), IDENTITY[name] is not None,
               lambda x: [bool(x[0]) if bools else x[0]], own=True, first=1)


def converted(x, t):
    return x if x.dtype == t else cast(widen(x), t)


def steps(name, lines, kept, t, start=None):
    """The state after each element of [.., line]."""
    value = None if start is None else np.broadcast_to(cast(np.asarray(start), t), lines.shape[:-1])
    for k in range(lines.shape[-1]):
        x = lines[..., k]
        if value is None:
            value = x
        else:
            value = np.where(kept[..., k], converted(elementwise.expected(name, (value, x))[0], t), value)
        yield value


def error_of(name, lines, kept, want, t):
    """The bound of a fold's error, in epsilons of the dtype that t is computed in."""
    n = lines.shape[-1]
    step = epsilon(t) / epsilon(computed_in(t))  # halves: `add` and `multiply` stay in float32, the others round each step
    if name == "add":
        return 2 * log2(n) * np.sum(magnitudes(lines), axis=-1, where=kept)
    if name == "multiply":
        return 4 * (n + 1) * np.prod(np.abs(lines), axis=-1, where=kept)
    if name == "hypot":
        return (8 + step) * (n + 1) * np.abs(want)
    if name in ("logaddexp", "logaddexp2"):
        largest = np.max(np.where(kept & np.isfinite(lines), np.abs(lines), 0), axis=-1, initial=0)
        return (8 + step) * (n + 1) * (1 + largest)
    return 64.0 ** min(n, 40) * np.abs(want)


def folded(name, lines, kept, t, begun=False):
    """Results and bounds. begun: by the first elements (in scans, or initial values), not by the identity."""
    start = None if begun else IDENTITY[name]
    if is_exact(name, t) or name in POWERS or name == "divide":
        value = np.broadcast_to(cast(np.asarray(start or 0), t), lines.shape[:-1])
        for value in steps(name, converted(lines, t), kept, t, start):
            pass
        return value, None if is_exact(name, t) else error_of(name, widen(lines), kept, widen(value), t)
    lines = widen(converted(lines, t))
    op, rest = elementwise.TESTS[name][0], slice(1 if begun else 0, None)
    want = op.reduce(lines[..., rest], axis=-1, where=kept[..., rest], initial=lines.dtype.type(IDENTITY[name]))
    if begun:
        want = np.where(kept[..., rest].any(axis=-1), op(lines[..., 0], want), lines[..., 0])
    return want, error_of(name, lines, kept, want, t)


def matches(name, got, want, bound):
    got = got.copy()
    if bound is not None:
        return agree(got, widen(want), bound)
    if got.dtype == BFLOAT16:
        got, want = (widen(x).astype(np.float32) for x in (got, want))
    if name in EXTREMES and got.dtype.kind in "fc" or name == "nextafter" and got.dtype == np.float16:  # as in beginnings
        got, want = got + 0, want + 0
    return same(got, np.asarray(want).astype(got.dtype))


def binary_once(rng, name, f, t, device):
    row, own = binary_row(name, f, t), accumulator(name, f, t)
    shape = random_dims(rng, 60 if name in POWERS else 1500, (0, 1, 1, 2, 2, 3, 4))
    case = Case(rng, row, t, shape)
    if name in POWERS or t.kind == "c" and name == "divide":  # errors grow with each step
        if case.lines[0].shape[-1] > 6:
            return
    got, shape = f.reduce_infer(*case.xs, axes=case.axes, keepdims=case.keepdims)[0]
    assert got == own and shape == result_shape(case.shape, case.axes, case.keepdims), f"{name}: {case}: {got}, {shape}"
    out, block, window = placed(rng, np.zeros(shape, own))
    before = block.copy()
    call = lambda: f.reduce(*case.xs, out, device=device, threads=int(rng.integers(0, 3)), **case.options)
    if not row.empty and case.results_of_nothing():
        return refused(call, ERR_ARGUMENT)
    call()
    want, bound = folded(name, case.lines[0], case.kept, own, case.initial is not None)
    assert matches(name, out.reshape(want.shape), want, bound), f"{name}: {case}: got {out}, want {want}"
    assert untouched(out, block, before, window), f"{name}: {case}: written outside of the output"


def check_properties(name, f):
    """Identity and order are NumPy's: what has no identity and is not reorderable there is a left fold here."""
    d, op = f.describe(), elementwise.TESTS[name][0]
    said = None if d.identity is None else {"true": True, "false": False, "-INFINITY": -np.inf}.get(
        d.identity.decode(), d.identity.decode())
    assert (said is None) == (op.identity is None) and (said is None or float(said) == float(op.identity)), \
        f"{name}: identity {said}, NumPy's is {op.identity}"
    try:
        op.reduce(np.ones((2, 2), int if "ii->i" in op.types else float), axis=(0, 1))
        reorderable = True
    except (TypeError, ValueError):
        reorderable = False
    assert name == "lcm" or (d.order != SERIAL) == reorderable, f"{name}: order {d.order}, reorderable in NumPy: {reorderable}"


def binary_reduction(name, device=None):
    def test(rng):
        f = Func.load(name)
        check_properties(name, f)
        dtypes = [t for t in ALL_DTYPES if any(s[0] == t for s in elementwise.signatures_of(f))]
        for k in rng.permutation(len(dtypes))[:2 * ROUNDS]:
            for _ in range(2):
                binary_once(rng, name, f, dtypes[k], device)
    test.__name__ = f"reduce_{name}" + ("_on_the_gpu" if device else "")
    return test


# ---- Operators of our own ----


MATRICES = ("uint32,uint32,uint32,uint32->uint32,uint32,uint32,uint32",
            dict(combine="(a, b, c, d, e, f, g, h) -> (p, q, r, s) { p = a*e + b*g; q = a*f + b*h; r = c*e + d*g; "
                         "s = c*f + d*h; }", identity="1, 0, 0, 1", flags=ORDERED))
AFFINE = ("int64,int64->int64,int64",
          dict(combine="(a, b, c, d) -> (e, f) { e = c * a; f = c * b + d; }", identity="1, 0", flags=ORDERED))


def matrix_product(x, y):
    a, b, c, d = x
    e, f, g, h = y
    return np.array([a * e + b * g, a * f + b * h, c * e + d * g, c * f + d * h])


def composition(x, y):
    return np.array([y[0] * x[0], y[0] * x[1] + y[1]])


def in_order(combine, state):
    """[value, .., line] combined from the left."""
    value = state[..., 0]
    for k in range(1, state.shape[-1]):
        value = combine(value, state[..., k])
    return value


def in_halves(combine, state):
    """The same, for long lines: neighbours are combined until one is left."""
    while state.shape[-1] > 1:
        odd = state[..., state.shape[-1] // 2 * 2:]
        state = np.concatenate([combine(state[..., 0:-1:2], state[..., 1::2]), odd], axis=-1)
    return state[..., 0]


def ordered_operators(device=None):
    def test(rng):
        for (signature, texts), combine, t in ((MATRICES, matrix_product, "u4"), (AFFINE, composition, "i8")):
            f = Func.reduction(signature, **texts)
            nstate = signature.count(",") // 2 + 1
            for _ in range(12 * ROUNDS):
                shape = random_dims(rng, 600)
                axes, keepdims = random_axes(rng, len(shape)), bool(rng.random() < 0.3)
                xs = [placed(rng, random_values(rng, shape, np.dtype(t)))[0] for _ in range(nstate)]
                outs = [placed(rng, np.zeros(result_shape(shape, axes, keepdims), t))[0] for _ in range(nstate)]
                f.reduce(*xs, *outs, axes=axes, keepdims=keepdims, threads=int(rng.integers(0, 3)), device=device)
                state = np.stack([reduced_last(x, axes) for x in xs])
                want = in_order(combine, state) if state.shape[-1] else None
                if want is None:
                    identity = np.array(eval(f"({texts['identity']})"), t)
                    want = np.broadcast_to(identity.reshape(nstate, *[1] * (state.ndim - 2)), state.shape[:-1])
                got = np.stack([o.reshape(want.shape[1:]) for o in outs])
                assert np.array_equal(got, want), (signature, shape, axes)
            for n in (1023, 1025, 34567, 1048577):
                for shape in ((n,), (n, 3) if n < 1e5 else (n, 1), (2, n)):
                    axis = shape.index(n)
                    xs = [random_values(rng, shape, np.dtype(t)) for _ in range(nstate)]
                    outs = [np.zeros(shape[:axis] + shape[axis + 1:], t) for _ in range(nstate)]
                    f.reduce(*xs, *outs, axes=(axis,), device=device)
                    want = in_halves(combine, np.stack([reduced_last(x, (axis,)) for x in xs]))
                    assert np.array_equal(np.stack(outs), want), (signature, shape)
    test.__name__ = "ordered_operators" + ("_on_the_gpu" if device else "")
    return test


def positions_and_counts(rng, device=None):
    """The map's position is that in C order of the reduced axes; finish has the number of elements that took part."""
    f = Func.reduction("int64->int64,int64", map="[k](x) -> (p, q) { p = k * x; q = k; }",
                       combine="(a, b, c, d) -> (p, q) { p = a + c; q = b + d; }", identity="0, 0",
                       finish="(p, q, n) -> (r, s) { r = p; s = 1000000 * n + q; }")
    for _ in range(25 * ROUNDS):
        shape = random_dims(rng)
        axes = random_axes(rng, len(shape))
        x = placed(rng, rng.integers(-9, 9, shape))[0]
        mask = np.asarray(rng.random(shape) < pick(rng, [0.5, 2]))
        outs = [placed(rng, np.zeros(result_shape(shape, axes, False), "i8"))[0] for _ in range(2)]
        f.reduce(x, *outs, axes=axes, where=mask, device=device)
        lines, kept = reduced_last(x, axes), reduced_last(mask, axes)
        k = np.arange(lines.shape[-1])
        assert np.array_equal(outs[0], np.sum(k * lines, axis=-1, where=kept)), (shape, axes)
        counted = np.broadcast_to(k + 1000000, lines.shape)
        assert np.array_equal(outs[1], np.sum(counted, axis=-1, where=kept)), (shape, axes)


# ---- Sizes, sums that are hard, the same bits ----


SIZES = (0, 1, 15, 16, 17, 127, 128, 129, 1023, 1024, 1025, 34567, 1048575, 1048576, 1048577)


def shapes_of_size(n):
    yield (n,), 0
    if n < 40000:
        yield (n, 3), 0
        yield (3, n), 1
        yield (2, n, 3), 1
        yield (n, 33), 0


def sizes(device=None):
    def test(rng):
        subjects = [("sum", "f4"), ("sum", "i4"), ("argmax", "f4")]
        more = [("sum", "f8"), ("sum", "f2"), ("max", "f4"), ("minmax", "i1"), ("var", "f4"), ("dot", "f4"), ("any", "?"),
                ("logsumexp", "f4"), ("sum", "c8")]
        subjects += [more[k] for k in rng.permutation(len(more))[:2 * ROUNDS]]
        for name, t in subjects:
            f, row = Func.load(name), TESTS[name]
            for n in SIZES:
                for shape, axis in shapes_of_size(n):
                    if n == 0 and not row.empty:
                        continue
                    xs = [row.inputs(rng, shape, np.dtype(t)) for _ in range(row.nin)]
                    outs = [np.zeros(s, d) for d, s in f.reduce_infer(*xs, nout=row.nout, axes=(axis,))]
                    f.reduce(*xs, *outs, axes=(axis,), device=device)
                    lines = [reduced_last(x, (axis,)) for x in xs]
                    for out, (want, bound) in zip(outs, expected(row, lines, np.ones(lines[0].shape, bool))):
                        assert agree(out, want, bound), f"{name} {t} {shape} axis {axis}: got {out}, want {want}, {bound}"
    test.__name__ = "sizes" + ("_on_the_gpu" if device else "")
    return test


def merged_rows(rng):
    """Axes on both sides of one that is kept: where short runs of elements of neighbouring results lie side by side, and where they
    do not, with masks, and on threads."""
    subjects = [("sum", "f4"), ("sum", "f8"), ("sum", "i1"), ("max", "i2"), ("var", "f8"), ("mean", "f4"), ("count_nonzero", "i1"),
                ("any", "?"), ("prod", "i8"), ("argmax", "f4"), ("minmax", "f4")]
    shapes = [((8, 5, 4), (0, 2)), ((17, 300, 7), (0, 2)), ((300, 3, 33), (0, 2)), ((9, 2, 3, 50, 3), (0, 1, 2, 4)),
              ((6, 7, 5, 6, 5), (0, 2, 4)), ((700, 2, 257), (0, 2))]
    for name, t in subjects:
        f, row = Func.load(name), TESTS[name]
        for shape, axes in shapes:
            whole = row.inputs(rng, shape, np.dtype(t))
            across = np.ascontiguousarray(np.swapaxes(whole, 0, -1)).swapaxes(0, -1)
            for x in (whole, whole[::-2], whole[..., :-1], across):
                mask = rng.random(x.shape) < .7 if row.empty and rng.random() < .5 else None
                outs = [np.zeros(s, d) for d, s in f.reduce_infer(x, nout=row.nout, axes=axes)]
                f.reduce(x, *outs, axes=axes, where=mask, threads=int(rng.integers(3)))
                kept = reduced_last(np.ones(x.shape, bool) if mask is None else mask, axes)
                for out, (want, bound) in zip(outs, expected(row, [reduced_last(x, axes)], kept)):
                    assert agree(out, want, bound), f"{name} {t} {x.shape} {x.strides} axes {axes}: got {out}, want {want}, {bound}"


def loops_in_combining(device=None):
    """Operators with a loop, whose elements are combined one by one: every size around those of strips, which short dtypes have
    the longest of."""
    def test(rng):
        f = Func.load("lcm")
        for t in ("u1", "i1", "u2", "i2", "u4", "i8"):
            for n in {*SIZES[1:-3], *(int(n) for n in rng.integers(1, 1100, 60))}:
                x, out = rng.integers(1, 5, n).astype(t), np.zeros((), t)
                f.reduce(x, out, device=device, threads=int(rng.integers(0, 3)))
                assert out == np.lcm.reduce(x), f"lcm of {n} {t}: got {out}, want {np.lcm.reduce(x)}"
    test.__name__ = "loops_in_combining" + ("_on_the_gpu" if device else "")
    return test


def hard_data(rng, n, t):
    """Numbers whose sum is far smaller than they are, that are all alike, or sorted."""
    magnitudes = 2.0 ** rng.uniform(-12, 12, n)
    some = rng.standard_normal(n)
    yield "constant", np.full(n, pick(rng, [0.1, 1 / 3, 0.7]))
    yield "cancellation", np.concatenate([some, -some[::-1]])[:n] * magnitudes[::-1]
    yield "opposites", np.concatenate([some * 1e4, [0.1] * (n % 2), -some * 1e4])[:n]
    yield "rising", np.sort(magnitudes)
    yield "falling", -np.sort(-magnitudes)
    yield "one that is large", np.where(np.arange(n) == rng.integers(n), 3e4, 0.1)


def hard_sums(device=None):
    def test(rng):
        add, total_of = Func.load("add"), Func.load("sum")
        for t in ("f4", "f8", "f2"):
            for n in (100, 4097, 34567, 1048577):
                for what, x in hard_data(rng, n, t):
                    x = x.astype(t)
                    columns = np.stack([x, x[::-1], -x], axis=1)
                    own = np.dtype("f4") if t == "f2" else np.dtype(t)
                    want = math.fsum(x.astype(float).tolist())
                    bound = 2 * np.finfo(own).eps * log2(n) * math.fsum(np.abs(x.astype(float)).tolist())
                    bound += np.finfo(t).eps * abs(want) * (t == "f2")
                    for f in (add, total_of):
                        out, outs = np.zeros((), t), np.zeros(3, t)
                        f.reduce(x, out, device=device)
                        f.reduce(columns, outs, axes=(0,), device=device)
                        for got, exact in ((out, want), (outs[0], want), (outs[1], want), (outs[2], -want)):
                            assert abs(float(got) - exact) <= bound, \
                                f"{t} {n} {what}: got {got}, want {exact}, error {abs(float(got) - exact) / bound} bounds"
    test.__name__ = "hard_sums" + ("_on_the_gpu" if device else "")
    return test


def same_bits(device=None):
    def test(rng):
        """From run to run, and with any number of threads."""
        for name in ("sum", "prod", "var", "logsumexp", "dot"):
            f, row = Func.load(name), TESTS[name]
            for shape, axes in (((300001,), None), ((700, 513), (0,)), ((700, 513), (1,)), ((60, 70, 80), (0, 2)),
                                ((5, 200003), (1,)), ((200003, 5), (0,))):
                xs = [near_one(rng, shape, np.dtype("f4")) for _ in range(row.nin)]
                results = []
                for threads in (1, 2, 0, 3, 1):
                    out = np.zeros(result_shape(shape, axes, False), "f4")
                    f.reduce(*xs, out, axes=axes, threads=threads, device=device)
                    results.append(out.tobytes())
                assert len(set(results)) == 1, (name, shape, axes)
    test.__name__ = "same_bits" + ("_on_the_gpu" if device else "")
    return test


def rows_of_ends(rng):
    """Rows of the last value of an order, beside which no other one may be taken for the result: alone, and behind one that is not the last."""
    for name, largest in (("maximum", False), ("minimum", True), ("fmax", False), ("fmin", True)):
        f = Func.load(name)
        for t in [t for t in DTYPES if t.kind in "biuf"]:
            end = (largest if t.kind == "b" else np.inf if largest and t.kind == "f" else -np.inf if t.kind == "f" else
                   np.iinfo(t).max if largest else np.iinfo(t).min)
            for n in (1, 9, 17, 70, 300, 1030, 2001, 4999, 40001):
                step = pick(rng, (3, 8, 11))
                x = np.full((3, n * step), end, t)
                x[1, step * rng.integers(n)] = not end if t.kind == "b" else 1
                for row in (x[:, ::step], x[:, ::step].copy()):
                    out = np.zeros(3, t)
                    f.reduce(row, out, axes=(1,), threads=1)
                    assert np.array_equal(out, getattr(np, name).reduce(row, axis=1)), (name, t, n, out)


def weights_of_complex_numbers(rng):
    """They are real."""
    for t, r in (("c8", "f4"), ("c16", "f8")):
        x, weights, out = random_values(rng, 500, np.dtype(t)), rng.random(500).astype(r), np.zeros((), t)
        Func.load("average").reduce(x, weights, out)
        assert np.allclose(out, np.average(x.astype(complex), weights=weights), rtol=1e-5)


def close_as_numpy(rng):
    """allclose and isclose of numbers about as far apart as they may be; tolerances are numbers."""
    for t in (np.float32, np.float64, np.complex64, np.int32):
        x = elementwise.values(rng, 400, np.dtype(t))
        near_by = (x * (1 + rng.standard_normal(400) * 1e-5)).astype(t)
        y = np.where(rng.random(400) < 0.8, near_by, elementwise.values(rng, 400, np.dtype(t)))
        real = np.dtype(np.float32 if t in (np.float32, np.complex64) else np.float64)
        tolerances = np.array(1e-5, real), np.array(1e-8, real)
        want, got = np.isclose(x, y), np.zeros(400, bool)
        Func.load("isclose")(x, y, *tolerances, got)
        apart = np.abs(np.abs(x.astype(complex) - y) - 1e-8 - 1e-5 * np.abs(y)) > 1e-6 * (1e-8 + 1e-5 * np.abs(y))
        sure = apart | ~np.isfinite(x) | ~np.isfinite(y)
        assert np.array_equal(got[sure], want[sure]), (t, x[got != want], y[got != want])
        for take in (np.flatnonzero(sure & want), np.flatnonzero(sure)):
            out = np.zeros((), bool)
            Func.load("allclose").reduce(x[take], y[take], *tolerances, out)
            assert out == np.all(want[take])


def outputs_of_other_dtypes(rng):
    """A binary function accumulates in the dtype that its input and the output's promote to."""
    for name in ("add", "multiply", "maximum", "subtract", "bitwise_or", "logical_and"):
        f, op = Func.load(name), elementwise.TESTS[name][0]
        for _ in range(5 * ROUNDS):
            s, t = pick(rng, DTYPES), pick(rng, DTYPES)
            x, want, got = rng.integers(0, 3, (7, 5)).astype(s), np.zeros(5, t), np.zeros(5, t)
            own = np.dtype("?") if name.startswith("logical") else np.promote_types(s, t)
            if own.kind in "fc" and t.kind in "iu" or own.kind != t.kind == "b":  # NumPy's state has been in the output
                continue
            try:
                op.reduce(x, axis=0, out=want, dtype=own)
            except TypeError:
                continue
            f.reduce(x, got, axes=(0,), casting="unsafe")
            assert np.array_equal(got, want), f"{name} of {s} into {t}: got {got}, want {want}"


# ---- What folds begin with, and what is left of nothing ----


def same_signs(got, want):
    parts = (lambda x: [x.real, x.imag]) if want.dtype.kind == "c" else lambda x: [x]
    return all(np.all((np.signbit(g) == np.signbit(w)) | np.isnan(w)) for g, w in zip(parts(got), parts(want)))


def folds_itself(name, t):
    """Does NumPy fold this dtype in itself?"""
    try:
        return elementwise.TESTS[name][0].reduce(np.ones(2, t)).dtype == t
    except TypeError:
        return False


def begins_alike(name, f, t, order, device):
    """One element, all but one left out, all left out, none; from initial values on, and without: as NumPy has it."""
    op, own = elementwise.TESTS[name][0], accumulator(name, f, t)
    x = np.array([-3, -1, -0.0, 0, 1, 2, 5][3 if own.kind in "bu" else 0:])
    lines = {"one": (x[:, None], None), "none": (x[:, None][:, :0], None)}
    beside = np.stack([x[::-1], x, x[::-1]], axis=1)
    lines["all but one left out"] = beside, np.array([False, True, False])
    lines["all left out"] = beside, np.zeros(3, bool)
    for initial in [None, -0.0, -3, 5][:2 if own.kind in "bu" else 4]:
        for what, (line, where) in lines.items():
            line, first = line.astype(own), None if initial is None else np.asarray(initial).astype(own)
            if initial is None and IDENTITY[name] is None and what != "one":
                continue
            options = dict(**({} if where is None else dict(where=where)), **({} if first is None else dict(initial=first)))
            want, got = op.reduce(line, axis=1, **options), np.zeros(len(x), own)
            f.reduce(line, got, axes=(1,), where=where, initial=None if first is None else [first], flags=order,
                     device=device)
            close = got == want if is_exact(name, t) else np.isclose(got, want, 8 * np.finfo(want.dtype).eps)
            signs = own.kind in "fc" and name not in EXTREMES  # which of 0.0 and -0.0 is greater is open
            assert np.all(close | (got != got) & (want != want)) and (not signs or same_signs(got, want)), \
                f"{name} of {own}, order {order}, {what}, initial {initial}: {x}: got {got}, NumPy {want}"


def segments_begin_alike(name, f, t, device):
    """Segments and scans know no identity."""
    own = accumulator(name, f, t)
    x = np.array([-3, -1, -0.0, 0, 1, 2, 5][3 if own.kind in "bu" else 0:]).astype(own)
    got, scan = np.zeros(len(x), own), np.zeros((1, len(x)), own)
    f.reduceat(x, got, starts=np.arange(len(x)), device=device)
    assert np.array_equal(got, x) and (own.kind not in "fc" or same_signs(got, x)), f"{name} of {own}: {x} became {got}"
    f.accumulate(x[None], scan, axis=0, device=device)
    assert np.array_equal(scan[0], x) and (own.kind not in "fc" or same_signs(scan[0], x)), f"{name} of {own}: {scan}"


def beginnings(device=None):
    def test(rng):
        for name in BINARY:
            f = Func.load(name)
            if elementwise.TESTS[name][0].identity is None and name in ("float_power", "power"):
                continue  # what negative numbers to the power of others are is not the point
            own = [t for t in DTYPES if t.kind != "c" or name in ("add", "subtract", "multiply")]
            own = [t for t in own if folds_itself(name, t) and any(s[0] == t for s in elementwise.signatures_of(f))]
            if name == "nextafter":  # float16's of -0.0 and 0.0 is -0.0 in NumPy up to 2.4, 0.0 as in C from 2.5 on
                own.remove(np.dtype("e"))
            for k in rng.permutation(len(own))[:2]:
                order = SERIAL if f.describe().order == SERIAL else pick(rng, [0, ORDERED, SERIAL])
                begins_alike(name, f, own[k], order, device)
                segments_begin_alike(name, f, own[k], device)
    test.__name__ = "beginnings" + ("_on_the_gpu" if device else "")
    return test


def succeeds(call):
    try:
        call()
        return True
    except (ValueError, Failure) as e:
        assert not isinstance(e, Failure) or e.status == ERR_ARGUMENT, e
        return False


def nothing_to_reduce(rng):
    """What NumPy refuses is refused, whether there are results or not, and nothing else."""
    shapes = [(0,), (0, 0), (0, 3), (3, 0), (1, 0), (0, 1), (2, 0, 3), (0, 3, 2), (3, 2, 0), (0, 0, 2), (3, 2)]
    verbs = {"max": np.max, "sum": np.sum, "maximum": np.maximum.reduce, "argmax": np.argmax}
    for shape in shapes:
        every = range(len(shape))
        for axes in [tuple(a for a in every if n >> a & 1) for n in range(1 << len(shape))]:
            for name, op in verbs.items():
                if name == "argmax" and len(axes) != 1:
                    continue
                x, out = np.zeros(shape), np.zeros(result_shape(shape, axes, False), "i8" if name == "argmax" else "f8")
                want = succeeds(lambda: op(x, axis=axes[0] if name == "argmax" else axes))
                got = succeeds(lambda: Func.load(name).reduce(x, out, axes=axes))
                assert got == want, f"{name} of {shape} over {axes}: {'no ' * got}error, but {'no ' * want}error in NumPy"
            mask, out = np.ones(shape, bool), np.zeros(result_shape(shape, axes, False))
            for name, op in {"add": np.add, "maximum": np.maximum}.items():
                want = succeeds(lambda: op.reduce(np.zeros(shape), axis=axes, where=mask))
                got = succeeds(lambda: Func.load(name).reduce(np.zeros(shape), out, axes=axes, where=mask))
                assert got == want, f"{name} of {shape} over {axes} with a mask: {got}, in NumPy {want}"
        for axis in every:
            np.maximum.accumulate(np.zeros(shape), axis=axis)
            Func.load("maximum").accumulate(np.zeros(shape), np.zeros(shape), axis=axis)
            starts = np.array([], "i8")
            np.maximum.reduceat(np.zeros(shape), starts, axis=axis)
            Func.load("maximum").reduceat(np.zeros(shape), np.zeros(shape[:axis] + (0,) + shape[axis + 1:]), starts=starts,
                                          axis=axis)


def large_spread(rng):
    """The squares of the numbers overflow, and there is no distance between them."""
    for name in ("var", "std"):
        for x in (np.array([1e200]), np.array([[1e200] * 40] * 30), np.full(3, 1e200 + 1e200j)):
            got, mask = np.zeros((), "f8"), np.ones(x.shape, bool)
            mask.flat[1:] = False
            Func.load(name).reduce(x, got)
            assert got == 0, f"{name}: {got}"
            Func.load(name).reduce(x, got, where=mask)
            assert got == 0, f"{name}, masked: {got}"


# ---- Bad input ----


def bad_input(rng):
    x, out = np.ones((3, 4)), np.zeros(4)
    add, subtract, minimum, total_of = (Func.load(n) for n in ("add", "subtract", "minimum", "sum"))
    refused(lambda: add.reduce(x, out, axes=(2,)), ERR_ARGUMENT)
    refused(lambda: add.reduce(x, out, axes=(-3,)), ERR_ARGUMENT)
    refused(lambda: add.reduce(x, out, axes=(0, 0)), ERR_ARGUMENT)
    refused(lambda: add.reduce(x, out, axes=(0, -2)), ERR_ARGUMENT)
    refused(lambda: add.reduce(x, out), ERR_SHAPE)
    refused(lambda: add.reduce(x, np.zeros(3), axes=(0,)), ERR_SHAPE)
    refused(lambda: add.reduce(x, np.zeros((1, 4)), axes=(0,)), ERR_SHAPE)
    refused(lambda: add.reduce(x, out, axes=(0,), keepdims=True), ERR_SHAPE)
    refused(lambda: add.reduce(x, np.zeros(4, "i4"), axes=(0,)), ERR_CAST)
    refused(lambda: total_of.reduce(x, np.zeros(4, "i4"), axes=(0,)), ERR_CAST)
    refused(lambda: add.reduce(x, out, axes=(0,), signature="float32,float32->float32", casting="safe"), ERR_CAST)
    refused(lambda: add.reduce(x, out, axes=(0,), signature="float32,float64->float32"), ERR_SIGNATURE)
    refused(lambda: minimum.reduce(np.ones((0, 4)), out, axes=(0,)), ERR_ARGUMENT)
    refused(lambda: Func.load("min").reduce(np.ones((0, 4)), out, axes=(0,)), ERR_ARGUMENT)
    refused(lambda: minimum.reduce(x, out, axes=(0,), where=np.ones((3, 4), bool)), ERR_ARGUMENT)
    refused(lambda: add.reduce(x, out, axes=(0,), where=np.ones((3, 5), bool)), ERR_SHAPE)
    refused(lambda: add.reduce(x, out, axes=(0,), initial=[np.ones(1)]), ERR_ARGUMENT)
    refused(lambda: add.reduce(x.astype("f4"), out.astype("f4"), axes=(0,), initial=[np.asarray(1j)]), ERR_CAST)
    refused(lambda: add.reduce(out), ERR_ARGUMENT)
    refused(lambda: add.reduce(x, x, out), ERR_ARGUMENT)
    refused(lambda: Func.load("matmul").reduce(x, out), ERR_SHAPE)
    refused(lambda: Func("(x) { return -x; }").reduce(x, out), ERR_ARGUMENT)
    refused(lambda: Func.load("ldexp").reduce(x, out, axes=(0,)), ERR_SIGNATURE)
    refused(lambda: Func.load("left_shift").reduce(x, out, axes=(0,)), ERR_SIGNATURE)
    assert not out.any()
    minimum.reduce(np.ones((0, 4)), out, axes=(0,), initial=[np.asarray(7.0)])
    assert np.array_equal(out, [7] * 4)
    minimum.reduce(np.ones((4, 0)), np.zeros(0), axes=(0,))
    refused(lambda: add.accumulate(x, np.lib.stride_tricks.as_strided(np.zeros(3), (3, 4), (8, 0)), axis=1), ERR_ARGUMENT)
    refused(lambda: add.accumulate(x, np.lib.stride_tricks.as_strided(np.zeros(4), (3, 4), (0, 8)), axis=0), ERR_ARGUMENT)
    refused(lambda: add.accumulate(x, np.lib.stride_tricks.as_strided(np.zeros(4), (3, 4), (0, 8)), axis=1), ERR_ARGUMENT)
    refused(lambda: add.accumulate(x[0], np.lib.stride_tricks.as_strided(np.zeros(1), (4,), (0,)), axis=0), ERR_ARGUMENT)
    subtract.reduce(np.arange(12.0).reshape(4, 3), np.zeros(()))


def main():
    np.set_printoptions(threshold=20)
    gpu = os.environ.get("UF_TEST_GPU") == "1"
    tests = []
    for device in (None, GPU) if gpu else (None,):
        tests += [catalogue_reduction(name, device) for name in TESTS] + [binary_reduction(name, device) for name in BINARY]
        tests += [ordered_operators(device), sizes(device), loops_in_combining(device), hard_sums(device), same_bits(device),
                  beginnings(device)]
    tests += [positions_and_counts, merged_rows, rows_of_ends, weights_of_complex_numbers, close_as_numpy,
              outputs_of_other_dtypes, nothing_to_reduce, large_spread, bad_input]
    if sys.argv[1:]:
        tests = [t for t in tests if t.__name__ in sys.argv[1:]]
    return run(tests)


if __name__ == "__main__":
    import warnings
    warnings.simplefilter("ignore")
    sys.exit(main())
