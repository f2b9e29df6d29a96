"""tiles.py - elementwise calls across memory order against NumPy: inputs, masks and outputs whose dimensions lie in memory in random orders,
so that what lies side by side in one array does not in another. Both compute exactly the same, so bits agree.

PROP_N=n makes n times as many calls. UF_TEST_GPU=1 makes them on the GPU as well.
"""
import os
import sys

import numpy as np

from uf import DLDevice, DTYPES, Func, GPU, Memory, at_page_end, lib, random_values, run, same

ROUNDS = int(os.environ.get("PROP_N", "1"))
DEVICES = [None, GPU] if os.environ.get("UF_TEST_GPU") else [None]
SIZES = [2, 3, 4, 5, 7, 8, 9, 15, 16, 17, 31, 32, 33, 48, 63, 64, 65, 100, 127, 128, 129, 130, 200, 255, 256, 257]
NUMERIC = [t for t in DTYPES if t.kind != "b"]
add = Func("(x, y) { return x + y; }", "; ".join(f"{t.name},{t.name}->{t.name}" for t in NUMERIC))
copy = Func("(x) { return x; }")
two = Func("(x, y, z) -> (p, q) { p = x * y - z; q = x + z; }", "ddd->df; iii->ih; bbb->ib")


def shape_of(rng, ndim, most):
    while True:
        shape = [int(rng.choice(SIZES)) for _ in range(2)] + [int(rng.choice([2, 3, 5])) for _ in range(ndim - 2)]
        if np.prod(shape) <= most:
            return tuple(shape[d] for d in rng.permutation(ndim))


def across(rng, shape, t, broadcast=True):
    """An array of the shape in a random order of its dimensions, at a random offset, with room in its lines, and perhaps reversed,
    stepped or broadcast along some dimension."""
    order = rng.permutation(len(shape))
    room = [shape[d] + int(rng.choice([0, 0, 0, 1, 3])) for d in order]
    step = [int(rng.choice([1] * 12 + [-1, 2, -2])) for _ in order]
    flat = random_values(rng, (int(rng.integers(0, 4)) + int(np.prod([n * abs(s) for n, s in zip(room, step)])),), t)
    block = flat[len(flat) - int(np.prod([n * abs(s) for n, s in zip(room, step)])):].reshape([n * abs(s) for n, s in zip(room, step)])
    view = block[tuple(slice(None, None, s) for s in step)].transpose(np.argsort(order))[tuple(slice(0, n) for n in shape)]
    if broadcast and rng.random() < 0.15:
        d = rng.integers(len(shape))
        view = view[tuple(slice(0, 1) if i == d else slice(None) for i in range(len(shape)))]
    return view


def call(f, arrays, device, where=None):
    with Memory(device) as memory:
        f.run(lib.uf_call, memory, arrays, Func.options(memory, where=where))


def compare(rng, f, compute, inputs, outs, masked, what):
    where = across(rng, outs[0].shape, np.dtype("?")) if masked else None
    with np.errstate(all="ignore"):
        results = [np.asarray(r).astype(o.dtype) for r, o in zip(compute(*inputs), outs)]
    mask = True if where is None else np.broadcast_to(where, outs[0].shape)
    wanted = [np.where(mask, np.broadcast_to(r, o.shape), o) for r, o in zip(results, outs)]
    before = [np.array(o) for o in outs]
    for device in DEVICES:
        for o, b in zip(outs, before):
            o[...] = b
        call(f, [*inputs, *outs], device, where)
        for o, w in zip(outs, wanted):
            assert same(np.asarray(o), w), (what, device, [(a.dtype, a.shape, a.strides) for a in [*inputs, *outs]], where is not None and where.strides)


def random_call(rng, t):
    shape = shape_of(rng, int(rng.choice([2, 2, 3, 4])), 300000)
    x, y, out = across(rng, shape, t), across(rng, shape, t), across(rng, shape, t, False)
    if rng.random() < 0.1:
        out = x if x.shape == shape else out
    compare(rng, add, lambda x, y: [x + y], [x, y], [out], rng.random() < 0.2, "add")


def test_sums(rng):
    for t in NUMERIC:
        for _ in range(8 * ROUNDS):
            random_call(rng, t)


def test_copies(rng):
    for t in DTYPES:
        for _ in range(6 * ROUNDS):
            shape = shape_of(rng, int(rng.choice([2, 3, 4])), 300000)
            compare(rng, copy, lambda x: [x], [across(rng, shape, t)], [across(rng, shape, t, False)], rng.random() < 0.1, "copy")


def test_casts(rng):
    """Dtypes of other sizes in memory than in the signature, and others in each operand."""
    real = [t for t in NUMERIC if t.kind == "f" and t.itemsize < 8] + [np.dtype(t) for t in ("i1", "u1", "i2", "u2")]
    for _ in range(40 * ROUNDS):
        shape = shape_of(rng, int(rng.choice([2, 3])), 100000)
        types = [real[rng.integers(len(real))] for _ in range(2)]
        arrays = [across(rng, shape, t) for t in types]
        common = np.result_type(*types)
        out = across(rng, shape, np.result_type(common, np.float32) if common.kind == "f" else common, False)
        compare(rng, add, lambda x, y: [x.astype(common) + y.astype(common)], arrays, [out], rng.random() < 0.2, "cast")


def test_several(rng):
    """Three inputs and two outputs, each in an order of its own."""
    kinds = [("i4", "i4", "i2"), ("f8", "f8", "f4"), ("i1", "i4", "i1")]
    for _ in range(20 * ROUNDS):
        name, p, q = kinds[rng.integers(len(kinds))]
        shape = shape_of(rng, int(rng.choice([2, 3])), 60000)
        t = np.dtype(name)
        inputs = [across(rng, shape, t) for _ in range(3)]
        outs = [across(rng, shape, np.dtype(p), False), across(rng, shape, np.dtype(q), False)]
        wide = np.dtype("i4") if t.kind == "i" else t
        compare(rng, two, lambda x, y, z: [x.astype(wide) * y.astype(wide) - z.astype(wide), x.astype(wide) + z.astype(wide)], inputs, outs,
                rng.random() < 0.2, "two")


def test_transposed_in_place(rng):
    """a += a.T, whose input overlaps the output in another order."""
    for n in (17, 64, 200):
        a = random_values(rng, (n, n), np.dtype("f4"))
        want = a + a.T
        call(add, [a, a.T, a], None)
        assert same(a, want), n


def test_guard_pages(rng):
    for t in (np.dtype(name) for name in ("u1", "f2", "f4", "f8", "c16")):
        for shape in ((3, 130), (130, 3), (17, 65), (100, 200), (129, 257)):
            x = at_page_end(random_values(rng, shape, t))
            out = at_page_end(np.zeros(shape[::-1], t))
            call(copy, [x.T, out], None)
            assert same(np.asarray(out), np.asarray(x.T)), (t, shape)


def test_layouts(rng):
    """Channels first and last, of few channels and many."""
    for t in (np.dtype("u1"), np.dtype("f2"), np.dtype("f4"), np.dtype("c16")):
        for channels in (2, 3, 4, 5, 8, 9, 16, 40):
            last = random_values(rng, (2, 20, 37, channels), t)
            first = np.empty((2, channels, 20, 37), t)
            compare(rng, copy, lambda x: [x], [last.transpose(0, 3, 1, 2)], [first], False, "to channels first")
            back = np.empty_like(last)
            compare(rng, copy, lambda x: [x], [first.transpose(0, 2, 3, 1)], [back], False, "to channels last")
            assert same(last, back)


if __name__ == "__main__":
    sys.exit(run([test_sums, test_copies, test_casts, test_several, test_transposed_in_place, test_guard_pages, test_layouts]))
