"""catalogue.py - every generalized ufunc of the catalogue, and those of tests/oracle/layouts, against NumPy: some of its
signatures, on random sizes, loop dimensions that broadcast, strides and threads. Integers must be equal; floating results
are compared with NumPy's in long double, within a bound that grows with the number of terms and their size. A function
without a test, here or in elementwise.py or reductions.py, fails.

PROP_N=n makes n times as many calls, and takes n times as many signatures. UF_TEST_GPU=1 makes them on the GPU as well.
"""
import colorsys
import glob
import os
import re
import sys

import numpy as np

import accuracy
import elementwise
import linalg
import reductions
import special
from uf import (BFLOAT16, EXACT, Func, GPU, cast, catalogue, computed_in, double, dtype_of, epsilon, is_floating, magnitude,
                random_source, random_values, random_window, run, widen)

ROUNDS = int(os.environ.get("PROP_N", "1"))
LOCAL = {os.path.basename(path)[:-3]: path
         for path in glob.glob(os.path.join(os.path.dirname(os.path.abspath(__file__)), "layouts", "*.uf"))}


def load(name):
    return Func.load(LOCAL.get(name, name))


# ---- The functions: NumPy's result for one inner call, and the size of the terms that rounding errors come from ----


def linear(f, *gs):
    """A function that is linear in each input: its terms have the size of the result for magnitudes."""
    return lambda *x: (f(*x), (gs[0] if gs else f)(*map(magnitude, x)))


def sized(f, terms=None):
    return lambda *x: (f(*x), magnitude(np.asarray(f(*x))) if terms is None else terms(*x))


def pdist(x):
    pairs = np.triu_indices(len(x), 1)
    return np.sqrt(np.sum((x[pairs[0]] - x[pairs[1]]) ** 2, axis=-1))


def pdist_terms(x):
    return (pdist(x) + np.max(np.abs(x), initial=0)) * (1 + x.shape[1]) ** 0.5


def convolve(a, b):
    return np.convolve(a, b) if a.size and b.size else np.zeros(max(a.size + b.size - 1, 0), a.dtype)


def length(x):
    return np.sqrt(np.sum(np.abs(x) ** 2))


def normalize(x):
    return x / (length(x) or 1), np.full(x.shape, 1.0)


def cosine(a, b):
    return np.vdot(a, b) / (length(a) * length(b)), 1.0


def softmax(x):
    e = np.exp(x - np.max(x, initial=-np.inf))
    y = e / np.sum(e)
    return y, y * (2 + np.ptp(x) if x.size else 1)


def logsumexp(x):
    return np.logaddexp.reduce(x) if x.size else -np.inf


def log_softmax(x):
    return x - logsumexp(x), 1 + np.abs(x) + np.max(np.abs(x), initial=0)


def mean(x):
    return (np.mean(x) if x.size else np.nan), (np.mean(magnitude(x)) if x.size else 0)


def var(x):
    x = x.astype(EXACT) if x.dtype.kind in "biu" else x
    return (np.var(x), np.mean(np.abs(x)) * np.sqrt(np.var(x)) + np.var(x)) if x.size else (np.nan, 0)


def layer_norm(x, weight, bias, epsilon):
    scaled = (x - np.mean(x)) / np.sqrt(np.var(x) + epsilon) if x.size else x
    large = np.mean(np.abs(x)) / np.sqrt(np.var(x) + epsilon) if x.size else 0
    return scaled * weight + bias, (np.abs(scaled) + large) * (1 + large) * np.abs(weight) + np.abs(bias)


def rms_norm(x, weight, epsilon):
    y = x / np.sqrt(np.mean(x * x) + epsilon) * weight if x.size else x
    return y, np.abs(y)


def polyval(p, x):
    return np.polyval(p, x), np.polyval(magnitude(p), magnitude(x))


def interp(x, xp, fp):
    if xp.size == 0:
        return np.nan, 0
    return np.interp(double(x), double(xp), double(fp)), np.max(np.abs(fp))


def histogram(x, low, high, bins):
    return np.histogram(double(x), bins, (double(low), double(high)))[0], 0


def lowest_and_largest(x):
    nothing = np.nan if x.dtype.kind == "f" else 0
    return (np.min(x), np.max(x)) if x.size else (nothing, nothing), (0, 0)


def quaternion(q):
    return np.array([[q[0] + 1j * q[1], q[2] + 1j * q[3]], [-q[2] + 1j * q[3], q[0] - 1j * q[1]]])


def quat_mul(p, q):
    r = quaternion(p) @ quaternion(q)  # the quaternions as complex matrices
    return np.array([r[0, 0].real, r[0, 0].imag, r[0, 1].real, r[0, 1].imag]), np.full(4, length(p) * length(q))


def rot3(q, v):
    w, x, y, z = q / length(q)
    matrix = np.array([[1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
                       [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
                       [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)]])
    return matrix @ v, np.full(3, length(v))


def det(a):
    a = double(a)
    d = np.linalg.det(a)
    return d, np.abs(d) * (1 + np.sum(np.abs(a) * np.abs(np.linalg.inv(a).T))) * len(a)


def solve(a, b):
    a, b = double(a), double(b)
    inverse, x = np.abs(np.linalg.inv(a)), np.linalg.solve(a, b)
    return x, inverse @ (np.abs(a) @ np.abs(x) + np.abs(b)) * len(a)


def inv(a):
    a = double(a)
    inverse = np.linalg.inv(a)
    size = np.abs(inverse)
    return inverse, size @ np.abs(a) @ size * len(a)


def cholesky(a):
    a = double(a)
    return np.linalg.cholesky(a), np.full(a.shape, np.linalg.norm(a) * np.linalg.cond(a) ** 0.5) if a.size else a


def mahalanobis(u, v, w):
    d = np.sqrt((u - v) @ w @ (u - v))
    terms = np.abs(u - v) @ np.abs(w) @ np.abs(u - v) if u.size else 0
    return d, terms / d if terms else 0


def moving(x, width):
    parts = [x[max(i - width + 1, 0):i + 1] if width > 0 else x[:0] for i in range(x.size)]
    return (np.array([np.mean(p) if p.size else np.nan for p in parts], x.dtype),
            np.array([np.mean(np.abs(p)) if p.size else 0 for p in parts], x.dtype))


# ---- Their inputs ----


def of_colour(f):
    return lambda c: (np.array(f(*map(float, c))), np.ones(3))


def pick(rng, items):
    return items[rng.integers(len(items))]


def sizes(*choices):
    return lambda rng, names: {n: int(pick(rng, choices)) for n in names}


def some_sizes(rng, names):
    return {n: int(rng.choice([0, 1, 2, 3, 5, 8, 16, 17, 33, 100], p=[.06, .1, .14, .14, .14, .12, .1, .1, .06, .04]))
            for n in names}


def not_both_empty(rng, names):
    s = some_sizes(rng, names)
    return s if any(s.values()) else dict.fromkeys(names, 1)


def plain(rng, shapes, dtypes):
    return [values(rng, s, t) for s, t in zip(shapes, dtypes)]


def values(rng, shape, t):
    if t.kind in "biu":
        return random_values(rng, shape, t)
    x = rng.standard_normal(shape) * 4.0 ** rng.integers(-2, 2)
    return cast(x + 1j * rng.standard_normal(shape) if t.kind == "c" else x, t)


def unit(rng, shapes, dtypes):
    """Floating numbers between 1/2 and 2, so that products of many stay in range."""
    return [values(rng, s, t) if t.kind in "biu" else cast(2.0 ** rng.uniform(-1, 1, s) * rng.choice([-1, 1], s), t)
            for s, t in zip(shapes, dtypes)]


def with_small_number(rng, shapes, dtypes):
    """Positive numbers as the last input."""
    return plain(rng, shapes[:-1], dtypes) + [cast(rng.uniform(1e-5, 0.1, shapes[-1]), dtypes[-1])]


def with_infinities(rng, shapes, dtypes):
    x = widen(plain(rng, shapes, dtypes)[0])
    x[rng.random(x.shape) < 0.05] = -np.inf
    return [cast(x, dtypes[0])]


def for_extremes(rng, shapes, dtypes):
    """Numbers that repeat, and now and then a NaN."""
    t, shape = dtypes[0], shapes[0]
    x = rng.integers(0, 5, shape).astype(float)
    if is_floating(t) and rng.random() < 0.5:
        x[rng.random(shape) < 0.1] = np.nan
    return [cast(x - 2 * (t.kind in "ifV"), t) if rng.random() < 0.8 else values(rng, shape, t)]


def for_interp(rng, shapes, dtypes):
    xp = np.sort(rng.integers(-8, 8, shapes[1]).astype(float), axis=-1)
    x = rng.integers(-20, 20, shapes[0]) / 2.0 + rng.choice([0, 0.125], shapes[0])
    return [cast(x, dtypes[0]), cast(xp, dtypes[1]), values(rng, shapes[2], dtypes[2])]


def for_histogram(rng, shapes, dtypes):
    low, high = rng.integers(-4, 1, shapes[1]), rng.integers(1, 5, shapes[2])
    x = rng.integers(-80, 80, shapes[0]) / 16.0
    if dtypes[0] == np.float64 and rng.random() < 0.7:
        low, high = low * 0.7, high * 1.3
        x = np.where(rng.random(shapes[0]) < 0.7, rng.standard_normal(shapes[0]) * 3, x)
    return [cast(x, dtypes[0]), cast(low, dtypes[1]), cast(high, dtypes[2])]


def square(rng, shapes, dtypes):
    """Matrices that are not too ill-conditioned."""
    a = widen(values(rng, shapes[0], dtypes[0]))
    n = shapes[0][-1]
    rows = np.argsort(rng.random(n))
    a = a + (2 + np.sqrt(n)) * np.eye(n)[rows]
    return [cast(a, dtypes[0])] + plain(rng, shapes[1:], dtypes[1:])


def positive(rng, shapes, dtypes):
    a = widen(values(rng, shapes[0], dtypes[0]))
    return [cast(a @ np.conj(np.swapaxes(a, -1, -2)) + (1 + a.shape[-1]) * np.eye(a.shape[-1]), dtypes[0])]


def with_metric(rng, shapes, dtypes):
    a = widen(values(rng, shapes[2], dtypes[2]))
    return plain(rng, shapes[:2], dtypes) + [cast(a @ np.swapaxes(a, -1, -2) + np.eye(a.shape[-1]), dtypes[2])]


def with_width(rng, shapes, dtypes):
    return [values(rng, shapes[0], dtypes[0]), rng.integers(-1, 7, shapes[1]).astype(dtypes[1])]


def colours(rng, shapes, dtypes):
    """Greys, pure ones and black among them."""
    x = rng.random(shapes[0])
    return [cast(np.where(rng.random(shapes[0]) < 0.3, rng.integers(0, 5, shapes[0]) / 4, x), dtypes[0])]


def row(f, some=some_sizes, inputs=plain):
    return f, some, inputs


TESTS = {
    "argmax": row(lambda x: (np.argmax(x) if x.size else -1, 0), inputs=for_extremes),
    "argmin": row(lambda x: (np.argmin(x) if x.size else -1, 0), inputs=for_extremes),
    "cholesky": row(cholesky, sizes(0, 1, 2, 3, 7, 17, 40), positive),
    "conv1d_full": row(linear(convolve), not_both_empty),
    "cosine_similarity": row(cosine, sizes(1, 2, 3, 8, 33)),
    "cross1d": row(linear(np.cross, lambda a, b: np.abs(a[[1, 2, 0]] * b[[2, 0, 1]]) + a[[2, 0, 1]] * b[[1, 2, 0]])),
    "cumprod": row(linear(np.cumprod), inputs=unit),
    "cumsum": row(linear(np.cumsum)),
    "det": row(det, sizes(0, 1, 2, 3, 4, 5, 9, 16, 17), square),
    "euclidean_pdist": row(sized(pdist, pdist_terms), sizes(0, 1, 2, 3, 4, 6, 9, 13)),
    "histogram": row(histogram, sizes(1, 2, 4, 8, 16, 64), for_histogram),
    "hsv_to_rgb": row(of_colour(colorsys.hsv_to_rgb), inputs=colours),
    "inner1d": row(linear(np.inner)),
    "innerwt": row(linear(lambda a, b, w: np.sum(a * b * w, dtype=a.dtype))),
    "interp": row(interp, sizes(0, 1, 2, 3, 9, 40), for_interp),
    "inv": row(inv, sizes(0, 1, 2, 3, 4, 7, 17, 40), square),
    "layer_norm": row(layer_norm, sizes(1, 2, 3, 8, 33, 200), with_small_number),
    "log_softmax": row(log_softmax),
    "logsumexp": row(lambda x: (logsumexp(x), 1 + np.max(np.abs(x), initial=0, where=np.isfinite(x))),
                     inputs=with_infinities),
    "mahalanobis": row(mahalanobis, inputs=with_metric),
    "matmul": row(linear(np.matmul), sizes(0, 1, 2, 3, 5, 8, 17, 33, 60)),
    "matvec": row(linear(np.matvec)),
    "mean": row(mean),
    "minmax": row(lowest_and_largest, inputs=for_extremes),
    "moving_average": row(moving, inputs=with_width),
    "norm": row(sized(length)),
    "normalize": row(normalize),
    "outer": row(linear(np.multiply.outer)),
    "polyval": row(polyval, inputs=unit),
    "quat_mul": row(quat_mul),
    "rgb_to_hsv": row(of_colour(colorsys.rgb_to_hsv), inputs=colours),
    "rms_norm": row(rms_norm, inputs=with_small_number),
    "rot3": row(rot3),
    "softmax": row(softmax),
    "solve": row(solve, sizes(0, 1, 2, 3, 4, 5, 9, 16, 17), square),
    "trace": row(linear(np.trace)),
    "var": row(var),
    "vecdot": row(linear(np.vecdot)),
    "vecmat": row(linear(np.vecmat)),
}


# ---- Calls ----


def parse_layout(text):
    """The dimensions of each operand, inputs and outputs."""
    return [[[d for d in operand.split(",") if d] for operand in re.findall(r"\(((?:[^()]|\([^()]*\))*)\)", side)]
            for side in text.replace(" ", "").split("->")]


def size_of(d, sizes):
    return int(eval(d.rstrip("?").replace("/", "//"), {}, sizes))


class Entry:
    def __init__(self, name):
        self.f = load(name)
        d = self.f.describe()
        assert d.name.decode() == name and d.doc, f"{name}: its name is {d.name}, its doc {d.doc}"
        self.name, self.nin = name, d.nin
        self.inputs, self.outputs = parse_layout(d.layout.decode())
        self.names = sorted({n for o in self.inputs + self.outputs for d in o for n in re.findall(r"[a-z]+", d)})
        self.optional = sorted({d[:-1] for o in self.inputs for d in o if d.endswith("?")})
        self.signatures = [[dtype_of(t) for t in re.split(",|->", s)] for s in d.signatures.decode().split("; ")]


def loop_shape(rng):
    return tuple(int(n) for n in rng.choice([0, 1, 2, 3, 5], rng.choice([0, 1, 1, 2, 2, 3]), p=[.02, .2, .4, .28, .1]))


def place(rng, x):
    """The same array with other strides, in memory of its own."""
    block, window = random_window(rng, x.shape)
    view = window(np.zeros(block, x.dtype))
    view[...] = x
    return view


def draw(rng, entry, signature):
    """Inputs, the loop shape, and the outputs' core shapes."""
    _, some, make = TESTS[entry.name]
    loop, dims = loop_shape(rng), some(rng, entry.names)
    gone = {n for n in entry.optional if rng.random() < 0.3}  # an operand without one has no loop dimensions either
    core = [[tuple(size_of(d, dims) for d in o if d.rstrip("?") not in gone) for o in side]
            for side in (entry.inputs, entry.outputs)]
    shapes = [(random_source(rng, loop) if len(s) == len(o) else ()) + s for s, o in zip(core[0], entry.inputs)]
    loop = np.broadcast_shapes(*(s[:len(s) - len(o)] for s, o in zip(shapes, core[0])))
    return [place(rng, x) for x in make(rng, shapes, signature)], loop, core


def wanted(entry, inputs, loop, core):
    """Results and sizes of terms of every inner call, by NumPy."""
    f = TESTS[entry.name][0]
    full = [np.broadcast_to(widen(x), loop + s) for x, s in zip(inputs, core[0])]
    for index in np.ndindex(loop):
        args = [x[index] for x in full]
        if entry.name == "histogram":
            args.append(core[1][0][0])
        results, terms = f(*args)
        yield index, *(x if isinstance(x, tuple) else (x,) for x in (results, terms))


def agree(got, want, terms, t, count):
    """Within the rounding of the result, and of `count` operations on terms of the given size."""
    if t.kind in "biu":
        return np.array_equal(got, want)
    got, want = widen(got), np.asarray(want)
    one = np.finfo(got.dtype).eps if t == np.longdouble else epsilon(t)
    bound = one * np.abs(want) + 8 * epsilon(computed_in(t)) * (count + 4) * np.abs(terms)
    tiny = 2.0 ** -133 if t == BFLOAT16 else np.finfo(t).smallest_subnormal
    special = ~np.isfinite(want)
    close = np.abs(got - np.where(special, 0, want)) <= bound + 2 * tiny
    if t == np.float16:  # what does not fit, or may not
        close |= np.isinf(got) & (np.abs(want) + bound > 65504) & (np.sign(got) == np.sign(want))
    same = (got == want) | (np.isnan(got) & np.isnan(want))
    return bool(np.all(np.where(special, same, close)))


def call(rng, entry, signature, device):
    inputs, loop, core = draw(rng, entry, signature)
    types = signature[entry.nin:]
    windows = [random_window(rng, loop + s) for s in core[1]]
    blocks = [values(rng, shape, t) for (shape, _), t in zip(windows, types)]
    before = [b.copy() for b in blocks]
    outputs = [window(b) for b, (_, window) in zip(blocks, windows)]
    entry.f(*inputs, *outputs, threads=int(rng.integers(0, 3)), device=device)
    say = [(str(a.dtype), a.shape, a.strides) for a in (*inputs, *outputs)]
    count = max([1] + [n for s in core[0] for n in s])
    for index, results, terms in wanted(entry, inputs, loop, core):
        for got, want, size, t in zip(outputs, results, terms, types):
            assert agree(got[index], want, size, t, count), \
                f"{say} at {index}: got {widen(got[index])}, want {want}, terms {size}"
    for block, old, (_, window), output in zip(blocks, before, windows, outputs):
        window(old)[...] = output
        assert block.tobytes() == old.tobytes(), f"{say}: written outside the output"


def against_numpy(name, device=None):
    def test(rng):
        entry = Entry(name)
        order = rng.permutation(len(entry.signatures))  # a few: most of the time goes into compiling
        kinds = [[k for k in order if (entry.signatures[k][entry.nin - 1].kind == "c") == c] for c in (True, False)]
        few = kinds[0][:ROUNDS] + kinds[1][:(1 if kinds[0] else 2) * ROUNDS]
        for signature in (entry.signatures[k] for k in few):
            for _ in range(5 * ROUNDS):
                call(rng, entry, signature, device)
    test.__name__ = name + ("_on_the_gpu" if device else "")
    return test


# ---- What random values do not meet ----


def result(name, *inputs, shape=(), dtype=np.float64):
    out = np.zeros(shape, dtype)
    load(name)(*map(np.asarray, inputs), out)
    return out


def special_values(rng):
    inf, nan = np.inf, np.nan
    assert np.array_equal(result("softmax", [-inf, 0.0, 0.0], shape=3), [0, 0.5, 0.5])
    assert np.array_equal(result("softmax", [1000.0, 1000.0], shape=2), [0.5, 0.5])
    assert np.array_equal(result("softmax", [0.0, 1000.0], shape=2), [0, 1])
    assert np.array_equal(result("log_softmax", [0.0, -1000.0], shape=2), [0, -1000])
    assert result("logsumexp", [-inf, -inf]) == -inf and result("logsumexp", [inf, 0.0]) == inf
    assert np.isnan(result("logsumexp", [inf, nan])) and result("logsumexp", [1000.0, 1000.0]) == 1000 + np.log(2)
    assert result("logsumexp", [1000.0, 0.0]) == 1000 == result("logsumexp", [0.0, 1000.0])
    assert np.allclose(result("normalize", [3e300 + 4e300j, 0, 1e-300j], shape=3, dtype=complex), [0.6 + 0.8j, 0, 0])
    for x in (1e300, 1e-300, 5e-324):
        got = result("normalize", [3 * x, 0 * x, 4 * x], shape=3)
        assert np.allclose(got, [0.6, 0, 0.8], rtol=1e-15), got
    assert np.array_equal(result("normalize", [0.0, 0.0], shape=2), [0, 0])
    assert np.all(np.isnan(result("rot3", np.zeros(4), np.ones(3), shape=3)))


def of_nothing_and_of_one(rng):
    for name, nothing, one in (("argmax", -1, 0), ("argmin", -1, 0), ("logsumexp", -np.inf, 7), ("mean", np.nan, 7),
                               ("var", np.nan, 0), ("norm", 0, 7), ("trace", 0, 7), ("det", 1, 7)):
        for x, want in ((np.zeros(0), nothing), (np.full(1, 7.0), one)):
            x = x.reshape(x.size, x.size) if name in ("trace", "det") else x
            got = result(name, x, dtype=np.int64 if name.startswith("arg") else float)
            assert np.array_equal(got, want, equal_nan=True), (name, x, got)
    minmax = load("minmax")
    for t, nothing in ((np.float64, np.nan), (np.int8, 0), (np.uint64, 0)):
        low, high = np.ones((2, 1), t)
        minmax(np.zeros((1, 0), t), low, high)
        assert np.array_equal([low, high], [[nothing], [nothing]], equal_nan=True), (t, low, high)


def interp_as_numpy(rng):
    """Ends, repeated points, infinities and NaNs, exactly."""
    specials = np.array([-np.inf, np.inf, np.nan, 0.0, 1.0, 2.0, 0.5, 3.0, -1.0])
    for _ in range(200 * ROUNDS):
        n = int(rng.integers(2, 6))  # of one point NumPy says that a NaN is there
        xp = np.sort(rng.choice([0.0, 1.0, 2.0, 3.0, -np.inf, np.inf], n))
        fp = rng.choice(specials, n)
        got = result("interp", specials, xp, fp, shape=specials.shape)
        want = np.interp(specials, xp, fp)
        assert np.array_equal(got, want, equal_nan=True), (xp, fp, got, want)


def histogram_as_numpy(rng):
    """Values on the edges, and equal ends."""
    for _ in range(100 * ROUNDS):
        low, bins = rng.uniform(-3, 3), int(rng.integers(1, 40))
        high = low if rng.random() < 0.1 else low + rng.uniform(0.1, 5)
        x = np.concatenate([np.linspace(low, high, bins + 1), rng.uniform(low - 1, high + 1, 50), [np.nan, np.inf]])
        x = np.concatenate([x, np.nextafter(x, -np.inf), np.nextafter(x, np.inf)])
        got = result("histogram", x, np.float64(low), np.float64(high), shape=bins, dtype=np.int64)
        assert np.array_equal(got, np.histogram(x, bins, (low, high))[0]), (low, high, bins)


def matrices_that_do_not_go(rng):
    """Singular: not finite; not positive definite: NaN."""
    assert np.array_equal(result("inv", np.eye(256)[::-1], shape=(256, 256)), np.eye(256)[::-1])
    singular = np.array([[1.0, 2], [2, 4]])
    assert result("det", singular) == 0 and result("det", np.zeros((0, 0))) == 1
    assert not np.any(np.isfinite(result("inv", singular, shape=(2, 2))))
    assert not np.any(np.isfinite(result("solve", singular, np.ones(2), shape=2)))
    assert not np.all(np.isfinite(result("solve", np.diag([1.0, 0]), np.ones(2), shape=2)))
    got = result("cholesky", np.diag([4.0, -1, 1]), shape=(3, 3))
    assert result("cholesky", [[0.25]], shape=(1, 1)) == 0.5
    assert got[0, 0] == 2 and np.isnan(got[1, 1]) and np.isnan(got[2, 1])


def first_of_equals(rng):
    for t in ("f4", "f8", "i1", "u8", "?"):
        x = rng.integers(0, 2, 5000).astype(t)
        assert result("argmax", x, dtype=np.int64) == np.argmax(x)
        assert result("argmin", x, dtype=np.int64) == np.argmin(x)


def long_ones(rng):
    """Inner calls large enough for several threads and for BLAS."""
    x, y = rng.standard_normal((2, 300, 257)), rng.standard_normal((257, 280))
    out = np.zeros((2, 300, 280))
    load("matmul")(x, y, out)
    assert np.allclose(out, x @ y, rtol=0, atol=1e-11)
    v = rng.standard_normal(1 << 18).astype(np.float32)
    assert np.isclose(result("norm", v, dtype=np.float32), np.linalg.norm(v.astype(float)), rtol=1e-5)
    out = result("softmax", v, shape=v.shape, dtype=np.float32)
    assert np.allclose(out, softmax(v.astype(float))[0], rtol=1e-5, atol=0)


def every_function_has_a_test(rng):
    tests = {"gufunc": TESTS | linalg.TESTS, "elementwise": elementwise.TESTS | special.TESTS | accuracy.TESTS,
             "reduction": reductions.TESTS}
    names = catalogue()
    assert names == sorted(set(names)), names
    for name in names:
        d = Func.load(name).describe()
        assert d.name.decode() == name and d.doc and d.signatures, name
        assert elementwise.first_name(name) in tests[d.kind.decode()], f"{name} ({d.kind.decode()}) has no test"


def what_numpy_has_without_nans(rng):
    """All but what needs sorting."""
    names = {name for name in dir(np) if name.startswith("nan") and callable(getattr(np, name))}
    missing = names - {"nanmedian", "nanpercentile", "nanquantile"} - set(catalogue())
    assert names and not missing, missing


def main():
    kinds = {name: Func.load(name).describe().kind.decode() for name in catalogue()}
    names = sorted({name for name in kinds if kinds[name] == "gufunc"} | set(LOCAL))
    names = sorted(set(names) - set(linalg.TESTS))
    tests = [against_numpy(name) for name in sorted(set(names) | set(TESTS))]
    if os.environ.get("UF_TEST_GPU") == "1":
        tests += [against_numpy(name, GPU) for name in names]
    tests += [every_function_has_a_test, what_numpy_has_without_nans, special_values, of_nothing_and_of_one, interp_as_numpy, histogram_as_numpy, matrices_that_do_not_go,
              first_of_equals, long_ones]
    if sys.argv[1:]:
        tests = [t for t in tests if t.__name__ in sys.argv[1:]]
    return run(tests)


if __name__ == "__main__":
    import warnings
    warnings.simplefilter("ignore")
    sys.exit(main())
