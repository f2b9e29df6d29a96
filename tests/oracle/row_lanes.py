"""row_lanes.py - reductions of many rows, of which a GPU gives each so many lanes as are worth it (src/gpu/reduce.c): every number of lanes, rows whose
vectors begin anywhere, parts of an array, elements of every size, against NumPy. And accumulations along such rows, and across them (src/gpu/scan.c), and generalized
ufuncs that are one sum or one forall over them (src/gpu/gufunc.c). On a
simulated GPU, whose memory ends at a page that nobody may touch; with UF_TEST_GPU=1 on a GPU, with as many rows as fill it. PROP_N=n draws n
times as many."""
import os
import sys

os.environ["MOCK_SMS"] = "1"  # so that few rows are many

import numpy as np

import elimination  # says which GPU
from uf import GPU, Func, Memory, lib, run

ROUNDS = int(os.environ.get("PROP_N", "1"))
LENGTHS = (33, 35, 48, 50, 63, 64, 65, 100, 101, 128, 150, 200, 250, 255, 256, 300, 333, 500, 512, 1000, 1001, 2000, 2049, 3001, 4096, 5000, 10000)
ROWS = (3, 40, 130, 300, 600, 1100, 2100)  # with each of which half as many lanes fill the simulated device
WORK = 400000  # elements of a draw on a simulated GPU
DEVICE = os.environ.get("UF_TEST_GPU") == "1"
SCALE = 132 if DEVICE else 1
EXACT = ("sum", "max", "min", "any", "all", "count_nonzero", "argmax", "argmin", "mean", "prod")
CLOSE = ("var", "logsumexp") if DEVICE else ("var",)  # there is no libdevice
FUNCS = {name: Func.load(name) for name in EXACT + CLOSE + ("add", "maximum")}


def logsumexp(x, axis):
    x = x.astype(np.longdouble)
    return np.log(np.exp(x).sum(axis))


NUMPY = {"max": np.max, "min": np.min, "logsumexp": logsumexp, **{name: getattr(np, name) for name in EXACT + ("var",) if name not in ("max", "min")}}


def draw_rows(rng, n):
    most = max(3, WORK // n)
    return int(rng.choice([r for r in ROWS if r <= most])) * SCALE


def draw_array(rng, t, rows, n):
    """Numbers of which sums and products are exact, in rows that are a few elements apart, from any address on."""
    first, apart = int(rng.choice([0, 0, 1, 5])), int(rng.choice([0, 0, 0, 1, 3, 16]))
    memory = rng.integers(0 if t in ("u1", "?") else -2, 2 if t == "?" else 3, first + rows * (n + apart)).astype(t)
    return memory[first:first + rows * (n + apart)].reshape(rows, n + apart)[:, :n]


def check(rng, name, t):
    n = int(rng.choice(LENGTHS)) if rng.random() < .8 else int(rng.integers(33, 1200))
    rows = draw_rows(rng, n)
    x, f = draw_array(rng, t, rows, n), FUNCS[name]
    if name == "prod":
        x[...] = np.where(np.arange(n) % 97 == 5, 2, 1)
    [(result, shape)] = f.reduce_infer(x, axes=[1])
    out = np.zeros(shape, result)
    f.reduce(x, out, axes=[1], device=GPU)
    expected = NUMPY[name](x.astype("f8") if x.dtype.kind == "f" else x, axis=1)
    if name in CLOSE or name == "mean":
        eps = np.finfo(result).eps
        assert np.allclose(out.astype("f8"), expected, rtol=8 * eps, atol=8 * eps), (name, t, rows, n, x.strides)
    else:
        assert np.array_equal(out, expected.astype(result)), (name, t, rows, n, x.strides, out[:4], expected[:4])


def exact(rng):
    for name in EXACT:
        for t in ("i1", "u1", "f2", "f4", "f8", "i4", "i8", "?"):
            if (name, t) not in (("mean", "?"), ("prod", "?"), ("prod", "i1"), ("prod", "u1"), ("prod", "f2")):
                for _ in range(ROUNDS):
                    check(rng, name, t)


def close(rng):
    for name in CLOSE:
        for t in ("f4", "f8", "f4"):
            for _ in range(2 * ROUNDS):
                check(rng, name, t)


def masked(rng):
    """An array and a mask, whose elements differ in size."""
    f = Func.load("norm2")
    for _ in range(6 * ROUNDS):
        n = int(rng.choice(LENGTHS[:20]))
        rows = draw_rows(rng, n)
        x, where = draw_array(rng, "f4", rows, n), draw_array(rng, "?", rows, n)
        out = np.zeros(rows, "f4")
        f.reduce(x, out, axes=[1], where=where, device=GPU)
        assert np.allclose(out, np.sqrt((x.astype("f8") ** 2).sum(1, where=where)), rtol=1e-6), (rows, n)
    for n, across in ((17, 33), (9, 5), (64, 64), (200, 7), (int(rng.integers(2, 80)), int(rng.integers(2, 80)))):
        x = rng.integers(-2, 3, ((1100 // across + 2) * SCALE, n, across)).astype("f4")
        where, out = rng.random(x.shape) < .6, np.zeros((len(x), across), "f4")
        f.reduce(x, out, axes=[1], where=where, device=GPU)
        assert np.allclose(out, np.sqrt((x.astype("f8") ** 2).sum(1, where=where)), rtol=1e-6), x.shape
        FUNCS["sum"].reduce(x, out, axes=[1], where=where, device=GPU)
        assert np.array_equal(out, x.sum(1, where=where)), x.shape


def accumulated(rng):
    """Vectors are as wide as the rows' distance lets them be."""
    for name, numpy in (("add", np.add), ("maximum", np.maximum)):
        for t in ("i1", "u1", "f2", "f4", "f8", "i4"):
            for _ in range(ROUNDS):
                n = int(rng.choice(LENGTHS)) if rng.random() < .7 else int(rng.integers(33, 1200))
                x = draw_array(rng, t, max(1, 20000 // n) * SCALE, n)
                x[...] = np.where(np.arange(n) % 5 == 3, x, 0)  # small sums, for halves
                out = draw_array(rng, FUNCS[name].accumulate_infer(x, axis=1)[0][0].str[1:], *x.shape)
                FUNCS[name].accumulate(x, out, axis=1, device=GPU)
                expected = numpy.accumulate(x, axis=1, dtype=out.dtype)
                assert np.array_equal(out, expected), (name, t, x.shape, x.strides, out.strides)


def side_by_side(rng):
    """Accumulations along another axis than the last: few lines to a block, a thread for each of many, and tiles of long ones."""
    for name, numpy in (("add", np.add), ("maximum", np.maximum)):
        for t in ("i1", "f2", "f4", "f8", "i4"):
            for planes, n, across in ((1, int(rng.integers(2, 200)), int(rng.integers(8, 300))), (int(rng.integers(2, 40)), int(rng.integers(2, 70)), int(rng.integers(2, 80))),
                                      (132000 // 33, int(rng.integers(2, 12)), 33), (1, int(rng.integers(2, 8)), 131100), (44000, int(rng.integers(65, 70)) // 16, 3)):
                x = rng.integers(-2, 3, (planes, n, across)).astype(t)
                x[:, 8:] = np.where(np.arange(n - 8)[:, None] % 5 == 3, x[:, 8:], 0) if n > 8 else x[:, 8:]
                shape = FUNCS[name].accumulate_infer(x, axis=1)[0]
                out = np.zeros(shape[1], shape[0])
                FUNCS[name].accumulate(x, out, axis=1, device=GPU)
                assert np.array_equal(out, numpy.accumulate(x, axis=1, dtype=out.dtype)), (name, t, x.shape)
                if out.dtype == x.dtype:
                    expected = out.copy()
                    FUNCS[name].accumulate(x, x, axis=1, device=GPU)
                    assert np.array_equal(x, expected), (name, t, x.shape, "in place")


def planes(rng):
    """Reductions along a middle axis, of so few columns to a plane that each is a thread's, and of others."""
    for name in EXACT + CLOSE:
        for t in ("i1", "f2", "f4", "f8"):
            if name == "prod" or name in CLOSE and t not in ("f4", "f8"):
                continue
            for n, across in ((17, 33), (64, 64), (9, 5), (int(rng.integers(2, 80)), int(rng.integers(2, 80))), (200, 7)):
                x = rng.integers(-2, 3, (max(1, (1100 if n < 65 else 300) * SCALE // across), n, across)).astype(t)
                x = x[..., :across - int(rng.integers(2))] if across > 2 else x
                [(result, shape)] = FUNCS[name].reduce_infer(x, axes=[1])
                out = np.zeros(shape, result)
                FUNCS[name].reduce(x, out, axes=[1], device=GPU)
                expected = NUMPY[name](x.astype(np.longdouble) if x.dtype.kind == "f" else x, axis=1)
                if name in CLOSE or name == "mean":
                    eps = np.finfo(result).eps
                    assert np.allclose(out.astype(np.longdouble), expected, rtol=8 * eps, atol=8 * eps), (name, t, x.shape)
                else:
                    assert np.array_equal(out, expected.astype(result)), (name, t, x.shape)


def draw_like(rng, x):
    """Another array of its shape: at the same distances, from the same address or another on; at its own; or one row for all."""
    t, kind = x.dtype, rng.integers(4)
    if kind == 0:
        return draw_array(rng, t, *x.shape)
    if kind == 1:
        return np.broadcast_to(draw_array(rng, t, 1, x.shape[1])[0], x.shape)
    first, apart = int(rng.integers(4)) if kind == 2 else 0, x.strides[0] // x.itemsize
    memory = rng.integers(-2, 3, first + len(x) * apart).astype(t)
    return memory[first:].reshape(len(x), apart)[:, :x.shape[1]]


def once(rng):
    """Sums and foralls of many calls, and of few."""
    texts = (("(n),(n)->()", "(x, z) -> (y) { y = sum(i : n, x[i] * z[i] + z[i]); }", 2), ("(n)->()", "(x) -> (y) { y = sum(i : n, x[i]) * 2; }", 1),
             ("(n),(n)->(n)", "(x, z) -> (y) { forall (i : n) y[i] = x[i] * 3 + z[i]; }", 2), ("(n)->(n)", "(x) -> (y) { forall (i : n) y[i] = x[i] + 1; }", 1))
    names = {"i1": "int8", "f2": "float16", "f4": "float32", "f8": "float64", "i4": "int32"}
    for layout, text, inputs in texts:
        for t, name in names.items():
            f = Func(text, f"{','.join([name] * inputs)}->{name}", layout)
            for _ in range(2 * ROUNDS):
                n = int(rng.choice(LENGTHS[:24]))
                rows = 2100 if n < WORK // 2100 or DEVICE and n < 4096 else max(3, WORK // n)
                x = draw_array(rng, t, rows, n)
                x[...] = np.where(np.arange(n) % 5 == 3, x, 0)  # small sums, for halves
                arrays = [x] + ([draw_like(rng, x)] if inputs == 2 else [])
                z = arrays[-1].astype("i8")
                total = "sum" in text
                if inputs == 2:
                    expected = x.astype("i8") * (z if total else 3) + z
                else:
                    expected = x.astype("i8") + (0 if total else 1)
                if total:
                    expected = expected.sum(1) * (3 - inputs)
                out = draw_array(rng, t, rows, n) if not total else np.zeros(rows, t)
                f(*arrays, out, device=GPU)
                assert np.array_equal(out, expected.astype(t)), (text, t, x.shape, [a.strides for a in arrays], out.strides)


if __name__ == "__main__":
    if "asan" in os.environ.get("LD_PRELOAD", ""):
        print("the address sanitizer does not follow the threads of a simulated GPU through Python")
        sys.exit(77)
    sys.exit(run([exact, close, masked, planes, accumulated, side_by_side, once]))
