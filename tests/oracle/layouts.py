"""layouts.py - layouts and core dimensions against NumPy: texts against its own parser, calls of generalized ufuncs
with random shapes, strides, axes, axis and keepdims against its gufuncs of the same layouts.

PROP_N=n makes n times as many.
"""
import ctypes as c
import os
import re
import sys

import numpy as np
import numpy._core._umath_tests as umt

from uf import ERR_ARGUMENT, ERR_SHAPE, Failure, Func, lib, random_values, random_view, random_window, run

ROUNDS = int(os.environ.get("PROP_N", "1"))


def pick(rng, items):
    return items[rng.integers(len(items))]


# ---- Texts ----

class Description(c.Structure):
    _fields_ = [("size", c.c_size_t), ("name", c.c_char_p), ("doc", c.c_char_p), ("kind", c.c_char_p), ("nin", c.c_int), ("nout", c.c_int),
                ("signatures", c.c_char_p), ("layout", c.c_char_p), ("identity", c.c_char_p), ("order", c.c_uint),
                ("nstate", c.c_int)]


lib.uf_describe.argtypes = [c.c_void_p, c.POINTER(Description)]


def sides(text):
    """How many operands NumPy is to look for on each side of the arrow."""
    left, _, right = text.partition("->")
    return left.count("("), max(right.count("("), 1)


def read_by_numpy(text):
    """The canonical spelling, or the position of the error."""
    nin, nout = sides(text)
    try:
        _, ranks, dims, flags, sizes = umt.test_signature(nin, nout, text)
    except ValueError as e:
        return int(re.search(r"at position (\d+)", str(e))[1])
    tokens = [re.sub("^0+", "", t) for t in re.findall(r"[A-Za-z_]\w*|\d+", text)]
    spelling = {}
    for dim, token in zip(dims, tokens, strict=True):
        assert spelling.setdefault(dim, token) == token and (sizes[dim] < 0 or sizes[dim] == int(token)), text
    words = iter(spelling[d] + "?" * bool(flags[d] & 4) for d in dims)
    operands = ["(" + ",".join(next(words) for _ in range(rank)) + ")" for rank in ranks]
    return ",".join(operands[:nin]) + "->" + ",".join(operands[nin:])


def read_by_us(text):
    nin, nout = sides(text)
    outputs = ", ".join(f"out{k}" for k in range(nout)) or "out"
    try:
        f = Func(f"({', '.join(f'in{k}' for k in range(nin))}) -> ({outputs}) {{ }}", None, text)
    except Failure as e:
        place = re.search(r"\b1:(\d+): ", str(e))
        assert place, f"{text}: {e}"
        return int(place[1]) - 1
    d = Description(size=c.sizeof(Description))
    assert not lib.uf_describe(f.f, d)
    return d.layout.decode()


def random_text(rng):
    def extent():
        blank = pick(rng, ["", "", "", "", " ", "\t"])
        size = pick(rng, ["n", "m", "i1", "_K", "3", "03", "7", "n", "m?", "3?"])
        return blank + size + pick(rng, ["", "", "", blank])

    def operands(least):
        return pick(rng, [",", ",", " , "]).join("(" + ",".join(extent() for _ in range(rng.integers(0, 4))) + ")"
                                               for _ in range(rng.integers(least, 4)))
    text = operands(0) + "->" + operands(1)
    for _ in range(pick(rng, [0, 0, 1, 2])):
        at = rng.integers(len(text))
        text = text[:at] + pick(rng, ["", "", *"(),->n3?0 "]) + text[at + rng.integers(2):]
    return text


def nests(text):
    depth = np.cumsum([(letter == "(") - (letter == ")") for letter in text])
    return depth.max(initial=0) > 1


def texts(rng):
    """The same texts are read, as the same, and refused at the same place: but for parentheses and "-", which compute to
    us, and a comma after the last operand, whose number NumPy is told."""
    read = refused = 0
    for _ in range(3000 * ROUNDS):
        text = random_text(rng)
        theirs = read_by_numpy(text)
        ours = read_by_us(text)
        read, refused = read + isinstance(ours, str), refused + isinstance(ours, int)
        if isinstance(theirs, int) and ("-" in text.replace("->", "") or nests(text)):
            continue
        if isinstance(theirs, str) or isinstance(ours, str):
            assert ours == theirs, f"{text!r}: {ours} is not {theirs}"
        else:
            assert ours == theirs or text[theirs:ours].strip() == ",", f"{text!r}: refused at {ours}, not {theirs}"
    print(f"# texts: {read} read, {refused} refused")


# ---- Calls ----

INT = "int64"


def gufunc(layout, source, dtype=INT):
    left, right = layout.split("->")
    types = [",".join([dtype] * side.count("(")) for side in (left, right)]
    return Func(source, "->".join(types), layout)


# NumPy's gufunc and ours.
PAIRS = [
    (umt.matrix_multiply, gufunc("(m,n),(n,p)->(m,p)",
                                 "(A, B) -> (C) { forall (i : m, j : p) C[i][j] = sum(k : n, A[i][k] * B[k][j]); }")),
    (umt.matmul, gufunc("(m?,n),(n,p?)->(m?,p?)",
                        "(A, B) -> (C) { forall (i : m, j : p) C[i][j] = sum(k : n, A[i][k] * B[k][j]); }")),
    (umt.inner1d, gufunc("(i),(i)->()", "(x, y) -> (r) { r = sum(k : i, x[k] * y[k]); }")),
    (umt.innerwt, gufunc("(i),(i),(i)->()", "(x, y, w) -> (r) { r = sum(k : i, x[k] * y[k] * w[k]); }")),
    (umt.cumsum, gufunc("(i)->(i)", "(x) -> (y) { auto s = x[0]; s = 0; for (int64 k = 0; k < i; k++) { s += x[k]; "
                        "y[k] = s; } }")),
    (umt.cross1d, gufunc("(3),(3)->(3)", "(x, y) -> (z) { z[0] = x[1] * y[2] - x[2] * y[1]; "
                         "z[1] = x[2] * y[0] - x[0] * y[2]; z[2] = x[0] * y[1] - x[1] * y[0]; }", "float64")),
]
DTYPE = {umt.cross1d: np.dtype("f8")}


def layout_of(f):
    return [[w.strip("?") for w in part.split(",") if w] for part in re.findall(r"\(([^)]*)\)", f.signature)]


def random_shapes(rng, f):
    """Shapes of the inputs: mostly such that they fit."""
    sizes = {w: int(w) if w.isdigit() else int(rng.integers(0, 6)) for part in layout_of(f) for w in part}
    loop = tuple(map(int, rng.integers(1, 4, rng.integers(0, 3))))
    shapes = []
    for part in layout_of(f)[:f.nin]:
        own = tuple(1 if rng.random() < 0.2 else n for n in loop)
        shape = own[rng.integers(0, len(own) + 1) if rng.random() < 0.3 else 0:] + tuple(sizes[w] for w in part)
        if "?" in f.signature and rng.random() < 0.3:
            shape = shape[-1:]
        if rng.random() < 0.1 and shape:
            at = rng.integers(len(shape))
            shape = shape[:at] + (shape[at] + 1,) * int(rng.integers(0, 2)) + shape[at + 1:]
        shapes.append(shape)
    return shapes


def random_axes(rng, f, shapes):
    options, parts = {}, layout_of(f)
    kind = rng.random()
    if kind < 0.3:
        options["axis"] = int(rng.integers(-3, 3))
    elif kind < 0.8:
        outputs = rng.random() < 0.6
        ranks = [len(s) for s in shapes] + [max(map(len, shapes))] * f.nout
        options["axes"] = [tuple(map(int, rng.permutation(np.arange(-n, n))[:len(part) - (rng.random() < 0.05)]))
                           for part, n in list(zip(parts, ranks))[:None if outputs else f.nin]]
    if rng.random() < 0.3:
        options["keepdims"] = True
    return options


def moved(rng, shapes, f, axes):
    """Shapes whose core dimensions are where axes say, so that calls fit."""
    if not axes or rng.random() < 0.3:
        return shapes
    result = []
    for shape, where, part in zip(shapes, axes, layout_of(f)):
        try:
            source = np.moveaxis(np.empty(shape, bool), range(-len(part), 0), where).shape
        except (ValueError, np.exceptions.AxisError):
            return shapes
        result.append(source)
    return result


def call(rng, f, ours, shapes, options):
    """True if both compute the same, False if both refuse."""
    dtype = DTYPE.get(f, np.dtype("i8"))
    inputs = [np.asarray(random_values(rng, s, dtype)) for s in shapes]
    inputs = [random_view(rng, x.shape, dtype) for x in inputs]
    try:
        wanted = f(*inputs, **options)
        problem = None
    except (ValueError, TypeError) as e:
        problem = e
    try:
        inferred = ours.infer(*inputs, **options)
        assert problem is None, f"accepted, but NumPy: {problem}"
        wanted = np.asarray(wanted)
        assert inferred == (dtype, wanted.shape), f"{inferred} is not {wanted.shape}"
        block, window = random_window(rng, wanted.shape)
        block = np.zeros(block, dtype)
        ours(*inputs, window(block), **options)
        assert np.array_equal(window(block), wanted, equal_nan=True)
    except Failure as e:
        assert problem is not None, f"refused: {e}"
        assert e.status in (ERR_ARGUMENT, ERR_SHAPE), e
    return problem is None


def calls(rng):
    counts = [0, 0]
    for _ in range(3000 * ROUNDS):
        f, ours = pick(rng, PAIRS)
        shapes = random_shapes(rng, f)
        options = random_axes(rng, f, shapes) if rng.random() < 0.6 else {}
        shapes = moved(rng, shapes, f, options.get("axes"))
        try:
            counts[call(rng, f, ours, shapes, options)] += 1
        except AssertionError as e:
            raise AssertionError(f"{f.__name__} {f.signature} {shapes} {options}: {e}") from None
    print(f"# calls: {counts[1]} the same, {counts[0]} refused by both")


def sizes_from_outputs(rng):
    """Output-only and computed sizes, which NumPy leaves to a hook."""
    pdist = gufunc("(n,d)->(p)", "(A) -> (r) { int64 at = 0; for (int64 i = 0; i < n; i++) for (int64 j = i + 1; "
                   "j < n; j++) { r[at] = sqrt(sum(k : d, (A[i][k] - A[j][k]) * (A[i][k] - A[j][k]))); at++; } }", "float64")
    conv = gufunc("(m),(n)->(m+n-1)", "(a, b) -> (c) { forall (k : m + n - 1) c[k] = sum(i : m, k >= i && k - i < n ? "
                  "a[i] * b[k - i] : 0); }")
    for _ in range(200 * ROUNDS):
        n, d = rng.integers(1, 8, 2)
        points = random_view(rng, (2, n, d), np.dtype("f8"))
        got = np.zeros((2, n * (n - 1) // 2))
        pdist(points, got)
        a, b = np.triu_indices(n, 1)
        assert np.allclose(got, np.sqrt(((points[:, a] - points[:, b]) ** 2).sum(-1)))
        m, n = rng.integers(1, 9, 2)
        x, y = rng.integers(-9, 9, (3, m)), rng.integers(-9, 9, n)
        want = np.asarray(umt.conv1d_full(x, y)).astype("i8")
        assert conv.infer(x, y) == (np.dtype("i8"), want.shape)
        got = np.zeros_like(want)
        conv(x, y, got)
        assert np.array_equal(got, want)


def main():
    tests = [texts, calls, sizes_from_outputs]
    return run(tests)


if __name__ == "__main__":
    sys.exit(main())
