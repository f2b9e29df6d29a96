"""npy.py - the tool on .npy files, against NumPy: what `ufunc run` and the other verbs read of every dtype, byte order,
order and version of the format, and that NumPy reads what they write.

PROP_N=n makes n times as many calls. UF_TEST_GPU=1 makes some on the GPU as well.
"""
import io
import os
import resource
import struct
import subprocess
import sys
import time
import zipfile
import zlib

import numpy as np

from uf import BFLOAT16, DTYPES, cast, in_folder, random_values, run, same, to_bfloat16, widen

ROUNDS = int(os.environ.get("PROP_N", "1"))
TOOL = os.path.join(os.environ.get("BUILD", "build"), "ufunc")
IDENTITY = "(x) { return x; }"


def tool(*args, status=0, **options):
    done = subprocess.run([TOOL, *map(str, args)], capture_output=True, **options)
    assert done.returncode == status, f"{args}: status {done.returncode}, {status} was meant: {done.stderr.decode()}"
    return done


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
def archives(rng, path):
    """.npz files, stored and deflated, of one array and of several, and ZIP64."""
    for save in (np.savez, np.savez_compressed):
        for dtype in DTYPES:
            x = random_array(rng, dtype, "CF"[rng.integers(2)])
            save(path("x.npz"), x=x.astype(swapped(dtype, "<>"[rng.integers(2)])))
            tool("run", IDENTITY, path("x.npz"), "-o", path("y.npy"))
            assert same(np.load(path("y.npy")), x) and np.load(path("y.npy")).shape == x.shape, (dtype, x)
        x, y = random_values(rng, (1000, 30), np.dtype("f4")), np.arange(7)
        save(path("two.npz"), x=x, other=y)
        for name, want in (("x", x), ("other", y), ("other.npy", y)):
            tool("run", IDENTITY, path("two.npz:" + name), "-o", path("y.npy"))
            assert same(np.load(path("y.npy")), want), name
        assert b"has several arrays; :NAME chooses one; it has x, other" in tool("run", IDENTITY, path("two.npz"), status=1).stderr
        assert b"has no such array; it has x, other" in tool("run", IDENTITY, path("two.npz:z"), status=1).stderr
        with open(path("two.npz"), "rb") as file:
            done = tool("run", IDENTITY, "-:npz", "-o", path("y.npy"), status=1, stdin=file)
        assert b"has several arrays" in done.stderr
    with zipfile.ZipFile(path("c.npz"), "w") as archive:  # names that would change a terminal's title
        for name in ("\x1b]0;a\x07.npy", "b.npy"):
            archive.writestr(name, b"abc")
    assert b"it has ?]0;a?, b" in tool("run", IDENTITY, path("c.npz"), status=1).stderr
    np.savez(path("none.npz"))
    assert b"has no array" in tool("run", IDENTITY, path("none.npz"), status=1).stderr
    with zipfile.ZipFile(path("b.npz"), "w", zipfile.ZIP_BZIP2) as archive:
        archive.writestr("x.npy", b"abc")
    assert b"compressed by method 12" in tool("run", IDENTITY, path("b.npz"), status=1).stderr


@in_folder
def raw_data(rng, path):
    for dtype in DTYPES:
        name = dtype.name if dtype != BFLOAT16 else "bfloat16"
        for order in "<>":
            x = random_values(rng, (4, 3), dtype)
            with open(path("x.bin"), "wb") as file:
                file.write(b"head" + x.astype(swapped(dtype, order)).tobytes())
            for shape in ("4,3", "-1,3", "4,-1"):
                tool("run", IDENTITY, f"{path('x.bin')}:{order}{name}[{shape}]@4", "-t", name, "-o", path("y.raw"))
                with open(path("y.raw"), "rb") as file:
                    assert file.read() == x.tobytes(), (dtype, order, shape)
    with open(path("x.bin"), "rb") as file:
        done = tool("run", IDENTITY, "-:uint8[]", "-o", "-:npy", stdin=file)
    assert np.array_equal(np.load(io.BytesIO(done.stdout)), np.fromfile(path("x.bin"), "u1"))
    for form, message in (("float64[7]", "the dtype and shape given need 56"), ("uint8[-1,7919]", "need a multiple"),
                          ("uint8[]@10000", "before byte 10000, where the data are to begin"), ("int9[3]", "is no form"), ("uint8[-1,-1]", "is no form"),
                          ("uint8[-2]", "is no form"), ("uint8[3]x", "is no form"), ("uint8[3", "is no form"), ("", "is no form"),
                          ("int64[4294967296,4294967296]", "exceeds 2^63"), ("float64[0,-1]", "need 0")):
        assert message.encode() in tool("run", IDENTITY, f"{path('x.bin')}:{form}", status=1).stderr, form
    assert b"raw data do not say what they are" in tool("run", IDENTITY, path("x.bin"), status=1).stderr


def read_text(path, text, form=""):
    """What the tool reads of a text."""
    with open(path("t.csv"), "wb") as file:
        file.write(text if isinstance(text, bytes) else text.encode())
    tool("run", IDENTITY, path("t.csv") + form, "-o", path("t.npy"))
    return np.load(path("t.npy"))


@in_folder
def text(rng, path):
    """Numbers as NumPy writes them, as the tool does, and as people do."""
    for dtype in DTYPES:
        shapes = [(), (1,), (5,), (3, 4), (1, 3), (2000, 3)]
        for shape in (shapes[k] for k in rng.permutation(len(shapes))[:2 * ROUNDS]):
            x = random_values(rng, shape, dtype)
            wide = widen(x) if dtype == BFLOAT16 else x
            np.save(path("x.npy"), x)
            for suffix in ("csv", "tsv", "txt"):
                tool("run", IDENTITY, path("x.npy"), "-t", "bfloat16" if dtype == BFLOAT16 else dtype.name, "-o", path("x." + suffix))
                tool("run", IDENTITY, path("x." + suffix), "-o", path("y.npy"))
                y = np.load(path("y.npy"))
                if dtype == BFLOAT16:  # NaNs lose their payload
                    good = np.array_equal(y, wide.reshape(y.shape), equal_nan=True)
                else:
                    good = np.array_equal(y.astype(dtype), x.reshape(y.shape), equal_nan=dtype.kind in "fc")
                assert good and y.shape == (shape or (1,)), (dtype, shape, suffix, x, y)
            if dtype != BFLOAT16 and len(shape) == 2 and dtype.kind in "fc":
                np.savetxt(path("s.csv"), x, delimiter=",", header="a comment")
                tool("run", IDENTITY, path("s.csv"), "-o", path("y.npy"))
                assert np.array_equal(np.load(path("y.npy")).astype(dtype), x, equal_nan=True), (dtype, shape)
    f, i = "f8", "i8"
    for given, want, kind in (("1,2\n3,4\n", [[1, 2], [3, 4]], i), ("1;2.5\r\n3 ; 4\r\n", [[1, 2.5], [3, 4]], f), ("a,b\n1,2", [[1, 2]], i),
                              ("\n# c\n1\n\n2 # d\n", [1, 2], i), ("1 2\t3", [[1, 2, 3]], i), ('"1","-2e3"', [[1, -2000]], f),
                              ("true\nFALSE\n", [True, False], "?"), ("true,3", [[1, 3]], i), ("1\n18446744073709551615", [1, 2**64 - 1], "u8"),
                              ("-1\n18446744073709551615", [-1, 2.0**64], f), ("18446744073709551615\n-1", [2.0**64, -1], f),
                              ("1\n(2+3j)\n4.5", [1, 2 + 3j, 4.5], "c16"), ("nan\n-inf\n1", [np.nan, -np.inf, 1], f),
                              (b"\xef\xbb\xbf7", [7], i), ("9007199254740993\n0.5", [9007199254740992, 0.5], f), ("1, 2\n3 ,4\n5\t, 6 \n", [[1, 2], [3, 4], [5, 6]], i)):
        got = read_text(path, given)
        assert got.dtype == np.dtype(kind) and np.array_equal(got, np.array(want, kind), equal_nan=kind in (f, "c16")), (given, got)
    for given, message in (("1,2\n3\n", "line 2: it has 1 number, but lines before it have 2"), ("1\nx\n", 'line 2: column 1: "x" is no number'),
                           ("1,,2\n", "line 1: column 2 is empty"), ("1.5,2,\n3,4,\n", "line 1: column 3 is empty"), ("1;2\n3;\n", "line 2: column 2 is empty"),
                           ("1,5;2,5\n", "line 1: column 2: a semicolon is behind the number, but a comma behind one before"),
                           ("1;2\n3,4\n", "line 2: column 1: a comma is behind the number, but a semicolon"), ("1,5\t2,5\n", "column 2: a blank is behind the number, but a comma"), ("", "the text ends without a number"), ("# c\n", "without a number"),
                           ("1\n" + "9" * 300, "is no number"), (b"1\n2\0\n", "is no number"), ("a\nb\n", 'line 2: column 1: "b" is no number')):
        with open(path("t.csv"), "wb") as file:
            file.write(given if isinstance(given, bytes) else given.encode())
        assert message.encode() in tool("run", IDENTITY, path("t.csv"), status=1).stderr, given
    np.save(path("x.npy"), np.zeros((2, 2, 2)))
    assert b"text has rows and columns of numbers; the output has 3 dimensions" in tool("run", IDENTITY, path("x.npy"), "-o", path("y.csv"), status=1).stderr
    assert b"archives are not written" in tool("run", IDENTITY, path("x.npy"), "-o", path("y.npz"), status=1).stderr
    assert tool("run", "add", 1, 2, "-o", "-:csv").stdout == b"3\n"
    np.save(path("a:b.npy"), np.arange(2))
    assert tool("run", IDENTITY, path("a:b.npy"), "-o", "-:txt").stdout == b"0\n1\n"


def limited():
    """For a process that may take 4 GiB of memory and ten seconds. The address sanitizer itself needs more addresses than that."""
    if "libasan" not in os.environ.get("LD_PRELOAD", ""):
        resource.setrlimit(resource.RLIMIT_AS, (1 << 32, 1 << 32))
    resource.setrlimit(resource.RLIMIT_CPU, (10, 10))


@in_folder
def hostile_forms(rng, path):
    """Archives and texts that are damaged anywhere: an array or an error, and nothing that takes long or crashes."""
    x = rng.integers(0, 9, (40, 5))
    for name, save in (("z.npz", np.savez), ("d.npz", np.savez_compressed), ("t.csv", lambda p, x: np.savetxt(p, x, "%d", ","))):
        save(path(name), x)
        with open(path(name), "rb") as file:
            whole = file.read()
        for _ in range(100 * ROUNDS):
            broken = bytearray(whole[:rng.integers(len(whole))] if rng.random() < 0.2 else whole)
            for _ in range(rng.integers(1, 5)):
                if broken:  # mostly in the directory, which is at the end
                    k = rng.integers(len(broken)) if rng.random() < 0.3 else -int(rng.integers(1, min(len(broken), 200) + 1))
                    broken[k] = (rng.integers(256), 255, 0)[rng.integers(3)]
            with open(path("broken" + name), "wb") as file:
                file.write(broken)
            done = subprocess.run([TOOL, "run", IDENTITY, path("broken" + name), "-o", path("y.npy")], capture_output=True, timeout=60)
            assert done.returncode in (0, 1), (done.returncode, name, bytes(broken), done.stderr)
            assert done.returncode == 0 or b"broken" in done.stderr, done.stderr
    # A member of 2^40 bytes by its directory and header, of a few bytes in truth; and one that unpacks to more than it says.
    header = np.lib.format.magic(1, 0) + (118).to_bytes(2, "little") + f"{{'descr': '|u1', 'fortran_order': False, 'shape': ({2**40},), }}".ljust(117).encode() + b"\n"
    for claimed, message in ((2**40 + 128, b"claims 1099511627904 bytes, which its"), (150, b"does not unpack to its 150 bytes"), (128, b"header promises 1099511627776")):
        packed = zlib.compressobj(9, zlib.DEFLATED, -15)
        data = packed.compress(header + bytes(0 if claimed == 128 else 100000)) + packed.flush()
        crc = zlib.crc32(header)
        extra = struct.pack("<HHQQ", 1, 16, claimed, len(data))
        local = struct.pack("<4sHHHHHIIIHH", b"PK\3\4", 45, 0, 8, 0, 0, crc, 2**32 - 1, 2**32 - 1, 5, len(extra)) + b"x.npy" + extra
        entry = struct.pack("<4sHHHHHHIIIHHHHHII", b"PK\1\2", 45, 45, 0, 8, 0, 0, crc, 2**32 - 1, 2**32 - 1, 5, len(extra), 0, 0, 0, 0, 0) + b"x.npy" + extra
        end = struct.pack("<4sHHHHIIH", b"PK\5\6", 0, 0, 1, 1, len(entry), len(local + data), 0)
        with open(path("bomb.npz"), "wb") as file:
            file.write(local + data + entry + end)
        begin = time.monotonic()
        done = tool("run", IDENTITY, path("bomb.npz"), status=1, preexec_fn=limited)
        assert message in done.stderr and time.monotonic() - begin < 5, (claimed, done.stderr)


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
             records, outer_at_reduceat, over_indices, archives, raw_data, text,
             hostile_forms]
    if os.environ.get("UF_TEST_GPU") == "1":
        tests.append(on_the_gpu)
    if sys.argv[1:]:
        tests = [t for t in tests if t.__name__ in sys.argv[1:]]
    return run(tests)


if __name__ == "__main__":
    sys.exit(main())
