"""segments.py - segments on a GPU (src/gpu/reduce.c, src/ir/reduce): few and long ones, which several blocks have; many and short ones, a thread or
some lanes each; long ones among short ones, which several blocks share; along any axis, of every kind of starts, against NumPy. On a simulated GPU, whose memory ends at a page that nobody may
touch; with UF_TEST_GPU=1 on a GPU. PROP_N=n draws n times as many."""
import os
import sys

os.environ["MOCK_SMS"] = "1"  # so that few elements are many

import numpy as np

import elimination  # says which GPU
from uf import GPU, ORDERED, SERIAL, UNEVEN, Func, Memory, lib, run, tensor

ROUNDS = int(os.environ.get("PROP_N", "1"))
DEVICE = os.environ.get("UF_TEST_GPU") == "1"
MOST = 1 << 19 if DEVICE else 40000  # elements of a draw
LONG = MOST * (8 if DEVICE else 4)
HUGE = 4 << 20 if DEVICE else 1 << 17  # of 8 bytes
FUNCS = {name: Func.load(name) for name in ("sum", "max", "argmax", "mean", "var", "add", "any")}
# x -> a x + b, composed: integers, in which it is exact; the order counts.
AFFINE = Func.reduction("int64,int64->int64,int64", state="int64,int64", combine="(a, b, c, d) -> (e, f) { e = a * c; f = b * c + d; }")
# Nothing is known of it: an identity, or a neutral value; the first element that is there stays.
FIRST = Func.reduction("int32->int32", flags=ORDERED, state="int32", combine="(a, b) { return a; }")


def bounds(starts, n):
    """Segments as uf_reduceat has them; None: one that starts nowhere, whose result stays."""
    s = [int(x) for x in starts]
    for i, begin in enumerate(s):
        end = s[i + 1] if i + 1 < len(s) else n
        end = min(end, n)
        yield (begin, end if end > begin else begin + 1) if 0 <= begin < n else None


def draw_starts(rng, n, most):
    """How many, and what order, and whether they may be wrong, as those on a device may."""
    count = int(rng.integers(1, most + 1))
    way = rng.integers(6)
    if way == 0:
        starts = np.linspace(0, n, count, endpoint=False).astype("i8")
    elif way == 1:
        starts = rng.integers(0, n, count)
    elif way == 2:  # a few are much longer than the others
        starts = np.sort((n * rng.random(count) ** 8).astype("i8"))
    else:
        starts = np.sort(rng.integers(0, n, count))
    wrong = way == 5
    if wrong:
        starts[rng.integers(0, count, 1 + count // 8)] = rng.choice([-1, n, n + 5, -(1 << 62), 1 << 62], 1 + count // 8)
    types = ["i8", "i8", "i8"] if wrong else ["i8", "i8", "i4", "u8"] + (["u1"] if n < 256 else [])
    starts = starts.astype(str(rng.choice(types)))
    if rng.random() < .3:  # strided
        wide = np.zeros((count, 2), starts.dtype)
        wide[:, 1] = starts
        starts = wide[:, 1]
    if rng.random() < .2:
        starts = starts[::-1].copy()[::-1]
    return starts, wrong


def expected(name, x, starts, axis, out):
    want = np.moveaxis(out.copy(), axis, 0)
    numpy = {"sum": np.sum, "add": np.sum, "max": np.max, "argmax": np.argmax, "mean": np.mean, "var": np.var, "any": np.any}[name]
    x = np.moveaxis(x, axis, 0)
    for i, b in enumerate(bounds(starts, len(x))):
        if b:
            part = x[b[0]:b[1]]
            want[i] = (b[0] if name == "argmax" else 0) + numpy(part.astype("f8") if part.dtype.kind == "f" else part, axis=0)
    return np.moveaxis(want, 0, axis)


def reduceat(f, arrays, starts, axis, on_host, **options):
    with Memory(GPU) as memory:
        f.run(lib.uf_reduceat, memory, arrays, tensor(starts) if on_host else memory.tensor(starts), axis, f.options(memory, **options))


def check(rng, name, t, shape, axis, most, flags=0):
    memory = rng.integers(0 if t in ("u1", "?") else -2, 2 if t == "?" else 3, int(np.prod(shape)) + 8).astype(t)
    first = int(rng.integers(0, 8))
    x = memory[first:first + int(np.prod(shape))].reshape(shape)
    if t == "f2":
        x[...] = np.where(np.arange(x.size).reshape(shape) % 29 == 3, x, 0)  # small sums
    if rng.random() < .2:
        x = np.flip(x, int(rng.integers(0, x.ndim)))
    starts, wrong = draw_starts(rng, shape[axis], most)
    f = FUNCS[name]
    kept = list(shape)
    kept[axis] = len(starts)
    [(result, _)] = f.reduce_infer(x, axes=[axis])
    out = (rng.integers(3, 9, kept) if result != bool else np.ones(kept)).astype(result)
    if rng.random() < .2:
        out = np.flip(np.flip(out, axis).copy(), axis)
    want = expected(name, x, starts, axis, out)
    reduceat(f, [x, out], starts, axis, not wrong and rng.random() < .3, flags=flags)
    about = (name, t, shape, x.strides, axis, starts[:9], starts.dtype, starts.strides, out.strides)
    if name in ("mean", "var"):
        eps = np.finfo(result).eps
        assert np.allclose(out.astype("f8"), want.astype("f8"), rtol=8 * eps, atol=8 * eps), about
    else:
        assert np.array_equal(out, want), (*about, np.argwhere(out != want)[:4].tolist())


def each(rng, draw):
    for name, types in (("sum", ("i1", "f2", "f4", "f8", "i8", "?")), ("max", ("i1", "u1", "f2", "f4", "i8")), ("argmax", ("i1", "f4", "i8")),
                        ("mean", ("f4", "f8")), ("var", ("f4",)), ("add", ("i4", "f4")), ("any", ("?", "f4"))):
        for t in types:
            for _ in range(ROUNDS):
                flags = int(rng.choice([0, 0, 0, ORDERED, SERIAL])) if name in ("sum", "max", "add") else 0
                flags |= UNEVEN * int(rng.random() < .3)
                check(rng, name, t, *draw(), flags=flags)


def long(rng):
    """Few of them: parts of each, by rows and by columns."""
    def draw():
        n, most = int(rng.integers(LONG // 4, LONG)), int(rng.choice([1, 2, 3, 10, 40]))
        c = int(rng.choice([1, 1, 1, 3, 10, 40, 130]))
        return ((n // c, c), 0, most) if c > 1 else ((n,), 0, most)
    each(rng, draw)


def short(rng):
    """Many of them, of one line."""
    def draw():
        n = int(rng.integers(MOST // 8, MOST))
        return (n,), 0, n // int(rng.choice([1, 2, 3, 5, 9, 20, 40, 130, 600]))
    each(rng, draw)


def skewed(rng):
    """A few that are much longer than the others, so that blocks share them, in any order and number; twice, for the same bits."""
    numpy = {"add": np.add.reduceat, "max": np.maximum.reduceat, "min": np.minimum.reduceat, "first": lambda x, starts: x[starts]}
    for name, t in (("add", "i8"), ("add", "f8"), ("max", "f4"), ("add", "i4"), ("argmax", "f4"), ("var", "f8"), ("add", "c16"), ("min", "i2"),
                    ("first", "i4")):
        for _ in range(2 * ROUNDS):
            n = int(rng.integers(HUGE // 2, HUGE)) * 8 // np.dtype(t).itemsize
            count = n // int(rng.choice([5, 30, 300, 3000]))
            way = rng.integers(4)
            if way == 0:  # one of half of all
                starts = np.sort(rng.integers(0, n // 2, count))
            elif way == 1:  # some, between short ones
                starts = np.sort(np.concatenate([rng.integers(a, min(n, a + count), 1 + count // 8) for a in rng.integers(0, n, 8)]))
            elif way == 2:  # power law
                starts = np.sort((n * rng.random(count) ** 12).astype("i8"))
            else:  # a begin and an end each: more long ones than there is room for
                first = rng.integers(0, n // 8, int(rng.choice([20, 300])))
                last = first + rng.integers(n // 80, n // 30, len(first)) * (1 if DEVICE else 25)
                starts = np.concatenate([np.column_stack((first, last)).ravel(), np.sort(rng.integers(0, n, count))])
            x = rng.integers(-9, 10, n).astype(t)
            f = FIRST if name == "first" else Func.load(name)
            [(result, _)] = f.reduce_infer(x, axes=[0])
            outs, flags = [np.zeros(len(starts), result) for _ in range(2)], UNEVEN * int(rng.random() < .8)
            for out in outs:
                reduceat(f, [x, out], starts, 0, False, flags=flags)
            about = (name, t, n, len(starts), int(way), flags)
            assert outs[0].tobytes() == outs[1].tobytes(), about
            if name in numpy:
                assert np.array_equal(outs[0], numpy[name](x.astype(result), starts)), about
                continue
            ends = np.append(starts[1:], n)
            for i in np.unique(np.concatenate([rng.choice(len(starts), min(len(starts), 1000)), np.argsort(starts - ends)[:40]])):
                part = x[starts[i]:max(ends[i], starts[i] + 1)]
                want = starts[i] + np.argmax(part) if name == "argmax" else np.var(part)
                assert np.isclose(outs[0][i], want, rtol=1e-12, atol=1e-12), (*about, i, outs[0][i], want)


def across(rng):
    """Segments of rows, each a sum of rows."""
    def draw():
        c = int(rng.choice([2, 3, 7, 16, 31, 32, 33, 64, 100, 128, 257, 1024]))
        n = max(2, int(rng.integers(MOST // 8, MOST)) // c)
        return (n, c), 0, max(1, n // int(rng.choice([1, 2, 3, 8, 20, 100])))
    each(rng, draw)


def within(rng):
    """Segments of each row, and along a middle axis."""
    def draw():
        n = int(rng.choice([2, 5, 33, 64, 100, 1000]))
        rows = max(1, int(rng.integers(MOST // 8, MOST)) // n)
        starts = max(1, n // int(rng.choice([1, 2, 3, 10, 30])))
        c = int(rng.choice([2, 5, 40]))
        return ((rows, n), 1, starts) if rng.random() < .6 else ((max(1, rows // c), n, c), 1, starts)
    each(rng, draw)


def in_order(rng):
    for n, most in ((LONG // 2, 3), (LONG // 4, 30), (MOST // 2, MOST // 20)):
        for _ in range(2 * ROUNDS):
            a, b = (rng.integers(-9, 9, n) * 2 + 1 for _ in range(2))
            starts = np.sort(rng.integers(0, n, most))
            outs = [np.zeros(most, "i8") for _ in range(2)]
            reduceat(AFFINE, [a, b, *outs], starts, 0, False, flags=ORDERED)
            for i, (begin, end) in enumerate(list(bounds(starts, n))[:40]):
                p, q = 1, 0
                for k in range(begin, end):
                    p, q = p * int(a[k]) & (1 << 64) - 1, q * int(a[k]) + int(b[k]) & (1 << 64) - 1
                got = [int(o[i]) & (1 << 64) - 1 for o in outs]
                assert got == [p, q], (n, most, i, begin, end, got, p, q)
            x, out = rng.integers(0, 1 << 30, n).astype("i4"), np.zeros(most, "i4")
            reduceat(FIRST, [x, out], starts, 0, False)
            assert np.array_equal(out, x[starts]), (n, most)


def over_starts(rng):
    """Results that lie over the starts, as if these had been copied first."""
    for n, count in ((MOST, MOST // 10), (LONG, 3)):
        x, starts = rng.integers(-2, 3, n), np.sort(rng.integers(0, n, count))
        want = np.add.reduceat(x, starts) if count > 3 else np.array([x[a:b].sum() for a, b in bounds(starts, n)])
        for shift in (0, 1):
            memory = np.zeros(count + 1, "i8")
            memory[:count] = starts
            at, out = memory[:count], memory[shift:count + shift]
            reduceat(FUNCS["sum"], [x, out], at, 0, False)
            assert np.array_equal(out, want), (n, count, shift)


if __name__ == "__main__":
    if "asan" in os.environ.get("LD_PRELOAD", ""):
        print("the address sanitizer does not follow the threads of a simulated GPU through Python")
        sys.exit(77)
    sys.exit(run([long, short, skewed, across, within, in_order, over_starts]))
