"""npy.py - the tool on .npy files, against NumPy: what `ufunc run` and the other verbs read of every dtype, byte order,
order and version of the format, and that NumPy reads what they write.

PROP_N=n makes n times as many calls. UF_TEST_GPU=1 makes some on the GPU as well.
"""
import os
import subprocess
import sys
import tempfile

import numpy as np

from uf import BFLOAT16, DTYPES, cast, random_values, run, same, to_bfloat16, widen

ROUNDS = int(os.environ.get("PROP_N", "1"))
TOOL = os.path.join(os.environ.get("BUILD", "build"), "ufunc")
IDENTITY = "(x) { return x; }"


def tool(*args, status=0, **options):
    done = subprocess.run([TOOL, *map(str, args)], capture_output=True, **options)
    assert done.returncode == status, f"{args}: status {done.returncode}, {status} was meant: {done.stderr.decode()}"
    return done


def in_folder(test):
    """The test, with a folder for its files."""
    def with_folder(rng):
        with tempfile.TemporaryDirectory() as folder:
            test(rng, lambda name: os.path.join(folder, name))
    with_folder.__name__ = test.__name__
    return with_folder


def random_array(rng, dtype, order):
    rank = int(rng.integers(0, 5))
    x = random_values(rng, tuple(rng.choice([0, 1, 2, 3, 7], rank, p=[.05, .2, .25, .3, .2])), dtype)
    return np.asarray(x, order=order)


def swapped(dtype, order):
    return dtype if dtype.itemsize == 1 else dtype.newbyteorder(order)


@in_folder
def every_dtype(rng, path):
    """Read and written again: the same array, C-contiguous, in the machine's byte order."""
    for dtype in DTYPES:
        for byteorder in "<>":
            for order in "CF":
                x = random_array(rng, dtype, order)
                np.save(path("x.npy"), x.astype(swapped(dtype, byteorder), order=order))
                tool("run", IDENTITY, path("x.npy"), "-o", path("y.npy"))
                y = np.load(path("y.npy"))
                assert y.dtype == dtype and y.shape == x.shape and same(x, y), (dtype, byteorder, order, x, y)


@in_folder
def every_version(rng, path):
    for version in ((1, 0), (2, 0), (3, 0)):
        x = random_values(rng, (3, 4), np.dtype("i4"))
        with open(path("x.npy"), "wb") as file:
            np.lib.format.write_array(file, x, version=version)
        tool("run", IDENTITY, path("x.npy"), "-o", path("y.npy"))
        assert np.array_equal(np.load(path("y.npy")), x), version


@in_folder
def mapped(rng, path):
    """What np.lib.format.open_memmap makes, and what it opens."""
    x = random_values(rng, (100, 33), np.dtype("f8"))
    there = np.lib.format.open_memmap(path("x.npy"), "w+", x.dtype, x.shape)
    there[...] = x
    there.flush()
    tool("run", "(x) { return 2 * x; }", path("x.npy"), "-o", path("y.npy"))
    assert np.array_equal(np.load(path("y.npy"), mmap_mode="r"), 2 * x)


@in_folder
def pairs(rng, path):
    """Two files of any dtypes and orders, which broadcast, and the dtype of NumPy's result."""
    for _ in range(40 * ROUNDS):
        s, t = (DTYPES[k] for k in rng.integers(len(DTYPES), size=2))
        x = np.atleast_1d(random_array(rng, s, "CF"[rng.integers(2)]))  # a 0-d array is a number
        y = random_values(rng, x.shape[int(rng.integers(x.ndim)):], t)
        np.save(path("x.npy"), x.astype(swapped(s, "<>"[rng.integers(2)])))
        np.save(path("y.npy"), y.astype(swapped(t, "<>"[rng.integers(2)])))
        tool("run", "add", path("x.npy"), path("y.npy"), "-o", path("z.npy"))
        got, want = np.load(path("z.npy")), np.asarray(x + y)
        assert same(got, want), (s, t, x.shape, y.shape, got, want)


@in_folder
def reduced(rng, path):
    for _ in range(40 * ROUNDS):
        t = DTYPES[rng.integers(len(DTYPES))]
        x = random_array(rng, t, "CF"[rng.integers(2)])
        axes = tuple(int(a) for a in rng.permutation(x.ndim)[:rng.integers(x.ndim + 1)])
        name, f = (("max", np.max), ("any", np.any), ("count_nonzero", None))[rng.integers(3)]
        keepdims = bool(rng.random() < 0.5)
        if t.kind == "c" or 0 in x.shape:
            name, f = "any", np.any
        np.save(path("x.npy"), x.astype(swapped(t, "<>"[rng.integers(2)])))
        tool("reduce", name, path("x.npy"), "--axis", ",".join(map(str, axes)), "-o", path("y.npy"),
             *["--keepdims"] * keepdims)
        got = np.load(path("y.npy"))
        want = np.sum(x != 0, axis=axes, keepdims=keepdims) if f is None else f(x, axis=axes, keepdims=keepdims)
        assert same(got, np.asarray(want)), (name, t, x.shape, axes, got, want)


@in_folder
def masks_and_outputs(rng, path):
    x, mask = rng.integers(-99, 99, (20, 30)), rng.random((20, 30)) < 0.5
    np.save(path("x.npy"), x)
    np.save(path("mask.npy"), mask)
    tool("reduce", "minmax", path("x.npy"), "-a", "0", "-o", path("low.npy"), "-o", path("high.npy"))
    assert np.array_equal(np.load(path("low.npy")), x.min(axis=0))
    assert np.array_equal(np.load(path("high.npy")), x.max(axis=0))
    tool("reduce", "add", path("x.npy"), "-a", "1", "-w", path("mask.npy"), "-i", "1000", "-o", path("y.npy"))
    assert np.array_equal(np.load(path("y.npy")), np.sum(x, axis=1, where=mask, initial=1000))
    tool("accumulate", "add", path("x.npy"), "-a", "1", "-o", path("y.npy"))
    assert np.array_equal(np.load(path("y.npy")), np.cumsum(x, axis=1))
    tool("reduce", "-e", "(x, y) { return x - y; }", "-S", path("x.npy"), "-a", "0", "-o", path("y.npy"))
    assert np.array_equal(np.load(path("y.npy")), np.subtract.reduce(x, axis=0))
    tool("run", "(x) { return x * 2; }", path("x.npy"), "-w", path("mask.npy"), "-o", path("y.npy"))
    assert np.array_equal(np.load(path("y.npy")), np.where(mask, 2 * x, 0))


@in_folder
def outer_at_reduceat(rng, path):
    """Random calls of the verbs that have no `run` in them."""
    for _ in range(12 * ROUNDS):
        x, y = (random_values(rng, tuple(rng.integers(1, 5, rng.integers(1, 4))), np.dtype("i4")) for _ in "xy")
        np.save(path("x.npy"), x)
        np.save(path("y.npy"), np.asfortranarray(y))
        tool("outer", "subtract", path("x.npy"), path("y.npy"), "-o", path("z.npy"))
        assert same(np.load(path("z.npy")), np.subtract.outer(x, y)), (x.shape, y.shape)
        axis = int(rng.integers(-x.ndim, x.ndim))
        starts = rng.integers(0, x.shape[axis], rng.integers(1, 6))
        np.save(path("starts.npy"), starts)
        given = path("starts.npy") if rng.random() < 0.5 else ",".join(map(str, starts))
        tool("reduceat", "maximum", path("x.npy"), "--starts", given, "-a", axis, "-o", path("z.npy"))
        assert same(np.load(path("z.npy")), np.maximum.reduceat(x, starts, axis)), (x.shape, axis, starts)
        want, n = x.copy(), int(rng.integers(1, x.ndim + 1))
        indices = [rng.integers(-extent, extent, 9) for extent in x.shape[:n]]
        for k, index in enumerate(indices):
            np.save(path(f"i{k}.npy"), index)
        np.subtract.at(want, tuple(indices), np.int32(3))
        tool("at", "subtract", path("x.npy"), *[path(f"i{k}.npy") for k in range(n)], 3, "-o", path("z.npy"))
        assert same(np.load(path("z.npy")), want), (x.shape, n)
        assert same(np.load(path("x.npy")), x)


@in_folder
def over_indices(rng, path):
    for order in "CF":
        u = np.asarray(random_values(rng, (6, 9), np.dtype("f8")), order=order)
        np.save(path("u.npy"), u)
        tool("forall", "[i, j](u, k, v) { v[j][i] = u[i][j] * k; }", path("u.npy"), 2, "float64[9,6]", "-n", "6,9", "-o", path("v.npy"))
        assert same(np.load(path("v.npy")), u.T * 2)
        tool("forall", "[i, j : m](u) { if (j > 0) u[i][j] = i; }", "copy:" + path("u.npy"), "-o", path("v.npy"))
        want = u.copy()
        want[:, 1:] = np.arange(6)[:, None]
        assert same(np.load(path("v.npy")), want) and same(np.load(path("u.npy")), u)


@in_folder
def halves(rng, path):
    """bfloat16 is <V2, and needs --dtype."""
    x = to_bfloat16(rng.standard_normal((5, 7)))
    np.save(path("x.npy"), x)
    tool("run", IDENTITY, path("x.npy"), "--dtype", "bfloat16", "-o", path("y.npy"))
    assert np.load(path("y.npy")).tobytes() == x.tobytes()
    tool("reduce", "max", path("x.npy"), "-a", "0", "--dtype", "bfloat16", "-o", path("y.npy"))
    got = np.load(path("y.npy"))
    assert got.dtype == BFLOAT16 and got.tobytes() == cast(widen(x).max(axis=0), BFLOAT16).tobytes()
    tool("run", IDENTITY, path("x.npy"), status=1)


@in_folder
def standard_streams(rng, path):
    x = random_values(rng, (3, 5), np.dtype("f4"))
    np.save(path("x.npy"), x)
    with open(path("x.npy"), "rb") as file:
        done = tool("run", "(x) { return -x; }", "-", "-o", "-", stdin=file)
    with open(path("y.npy"), "wb") as file:
        file.write(done.stdout)
    assert np.array_equal(np.load(path("y.npy")), -x)


@in_folder
def refused(rng, path):
    """Files that are not what they say, or are of dtypes that the library has not."""
    x = random_values(rng, (20, 3), np.dtype("f8"))
    np.save(path("x.npy"), x)
    with open(path("x.npy"), "rb") as file:
        whole = file.read()
    header = 10 + int.from_bytes(whole[8:10], "little")
    for _ in range(60 * ROUNDS):  # cut off, and with wrong bytes in the header: an error, or an array
        broken = bytearray(whole[:rng.integers(len(whole))] if rng.random() < 0.3 else whole)
        for _ in range(rng.integers(1, 4)):
            if broken:
                broken[rng.integers(min(len(broken), header))] = rng.integers(256)
        with open(path("broken.npy"), "wb") as file:
            file.write(broken)
        done = subprocess.run([TOOL, "run", IDENTITY, path("broken.npy"), "-o", path("y.npy")], capture_output=True,
                              timeout=60)
        assert done.returncode in (0, 1), (done.returncode, bytes(broken[:header]), done.stderr)
        assert done.returncode == 0 or b"broken.npy" in done.stderr, done.stderr
    for dtype in ("O", "U3", "S4", "M8[s]", "g", [("a", "i4")]):
        np.save(path("x.npy"), np.zeros(3, dtype), allow_pickle=True)
        tool("run", IDENTITY, path("x.npy"), status=1)


RECORDS = """ufunc shift
signatures sample,float64->sample
kernel
struct pixel { float32 r, g; };
struct sample { int8 tag; float64 value; pixel at[2]; uint16 kind; };
(s, by) { auto t = s; t.value = s.value + by; t.at[1].g = s.at[0].r; return t; }
"""
SUM = """ufunc join
signatures interval(float64),interval(float64)->interval(float64)
kernel
struct interval(T) { T lo, hi; };
(a, b) { return (interval(float64)){min(a.lo, b.lo), max(a.hi, b.hi)}; }
"""


@in_folder
def records(rng, path):
    """Structured dtypes, with the gaps that C leaves, in fields, nested, and arrays of these."""
    pixel = np.dtype([("r", "f4"), ("g", "f4")])
    sample = np.dtype([("tag", "i1"), ("value", "f8"), ("at", pixel, (2,)), ("kind", "u2")], align=True)
    with open(path("shift.uf"), "w") as file:
        file.write(RECORDS)
    with open(path("join.uf"), "w") as file:
        file.write(SUM)
    for order in "CF":
        x = np.zeros((5, 3), sample, order=order)
        x["tag"] = rng.integers(-128, 128, x.shape)
        x["value"] = rng.standard_normal(x.shape)
        x["at"]["r"] = rng.standard_normal(x.shape + (2,)).astype("f4")
        x["kind"] = rng.integers(0, 65536, x.shape)
        np.save(path("x.npy"), x)
        tool("run", path("shift.uf"), path("x.npy"), "1.5", "-o", path("y.npy"))
        y = np.load(path("y.npy"))
        want = x.copy()
        want["value"] += 1.5
        want["at"]["g"][..., 1] = x["at"]["r"][..., 0]
        assert y.dtype == sample and y.shape == x.shape, y.dtype
        for name in sample.names:
            assert np.array_equal(y[name], want[name]), name
    pairs_of = np.dtype([("lo", "f8"), ("hi", "f8")])
    a = np.zeros(40, pairs_of)
    a["lo"], a["hi"] = rng.standard_normal((2, 40))
    np.save(path("a.npy"), a)
    tool("run", path("join.uf"), path("a.npy"), path("a.npy"), "-o", path("r.npy"))
    assert np.array_equal(np.load(path("r.npy")), a)
    tool("reduce", path("join.uf"), path("a.npy"), "-o", path("r.npy"))
    r = np.load(path("r.npy"))
    assert r.dtype == pairs_of and r.shape == () and r["lo"] == a["lo"].min() and r["hi"] == a["hi"].max()
    # Other fields of as many bytes, an output to the screen, fields in the other byte order.
    np.save(path("b.npy"), np.zeros(4, [("lo", "f8"), ("hi", "i8")]))
    assert b"scalars f8@0;i8@8;" in tool("run", path("join.uf"), path("b.npy"), path("a.npy"), "-o", path("r.npy"), status=1).stderr
    assert b"-o writes them" in tool("run", path("join.uf"), path("a.npy"), path("a.npy"), status=1).stderr
    np.save(path("b.npy"), a.astype(pairs_of.newbyteorder(">")))
    assert b"byte order" in tool("run", path("join.uf"), path("b.npy"), path("a.npy"), "-o", path("r.npy"), status=1).stderr


@in_folder
def on_the_gpu(rng, path):
    x = random_values(rng, (300, 70), np.dtype("f4"))
    np.save(path("x.npy"), x)
    tool("outer", "add", path("x.npy"), 1.5, "-d", "cuda", "-o", path("y.npy"))
    assert np.array_equal(np.load(path("y.npy")), x + np.float32(1.5))
    tool("at", "add", path("x.npy"), 3, 1.0, "-d", "cuda", "-o", path("y.npy"))
    want = x.copy()
    want[3] += 1
    assert np.array_equal(np.load(path("y.npy")), want)
    tool("reduceat", "max", path("x.npy"), "-x", "0,10,250", "-d", "cuda", "-o", path("y.npy"))
    assert np.array_equal(np.load(path("y.npy")), np.maximum.reduceat(x, [0, 10, 250]))
    tool("forall", "[i, j](x, y) { y[j][i] = x[i][j]; }", path("x.npy"), "float32[70,300]", "-n", "300,70", "-d", "cuda", "-o", path("y.npy"))
    assert np.array_equal(np.load(path("y.npy")), x.T)
    tool("reduce", "max", path("x.npy"), "-a", "1", "-d", "cuda", "-o", path("y.npy"))
    assert np.array_equal(np.load(path("y.npy")), x.max(axis=1))
    tool("run", "(x, y) { return x + y; }", path("x.npy"), "1.5", "-d", "cuda", "-o", path("y.npy"))
    assert np.array_equal(np.load(path("y.npy")), x + np.float32(1.5))


def main():
    tests = [every_dtype, every_version, mapped, pairs, reduced, masks_and_outputs, halves, standard_streams, refused,
             records, outer_at_reduceat, over_indices]
    if os.environ.get("UF_TEST_GPU") == "1":
        tests.append(on_the_gpu)
    if sys.argv[1:]:
        tests = [t for t in tests if t.__name__ in sys.argv[1:]]
    return run(tests)


if __name__ == "__main__":
    sys.exit(main())
