"""squares.py - generalized ufuncs with small cores whose operands lie in memory in different orders of the loop's dimensions, so that neighbouring
calls find some of them far apart. Against NumPy, on integers and on floats of few bits, which are exact in any order.

PROP_N=n makes n times as many calls. UF_TEST_GPU=1 makes them on the GPU as well, where such loops go by squares (nd/square.c).
"""
import ctypes as c
import os
import sys

import numpy as np

from uf import DLTensor, Failure, Func, GPU, Memory, lib, run, same

ROUNDS = int(os.environ.get("PROP_N", "1"))
DEVICES = [None, GPU] if os.environ.get("UF_TEST_GPU") else [None]
# Extents with sides of squares of every kind: multiples of 16 and 8, other divisors, none, and whole ones.
SIZES = [2, 3, 5, 7, 11, 13, 16, 17, 20, 24, 29, 31, 32, 33, 37, 40, 48, 49, 50, 64, 67, 72, 95, 97, 100, 128, 131]
FEW = 8

# Name in the catalogue or a text, the function of NumPy, and the cores of inputs and output.
FUNCTIONS = {
    "cross": (Func.load("cross1d"), lambda x, y: np.cross(x, y), [(3,), (3,), (3,)]),
    "scale": (Func("(x, y) -> (z) { forall (i : n) z[i] = x[i] * y; }", "float32,float32->float32; int32,int32->int32; float64,float64->float64",
                   "(n),()->(n)"), lambda x, y: x * y[..., None], [(4,), (), (4,)]),
    "vecdot": (Func.load("vecdot"), np.vecdot, [(4,), (4,), ()]),
    "matvec": (Func.load("matvec"), np.matvec, [(3, 3), (3,), (3,)]),
    "matmul": (Func.load("matmul"), np.matmul, [(2, 2), (2, 2), (2, 2)]),
}
both = Func("(x, y) -> (p, q) { p = x[0] * y[1] - x[1] * y[0]; forall (i : 2) q[i] = x[i] + y[i]; }",
            "float32,float32->float32,float32; int32,int32->int32,int32", "(2),(2)->(),(2)")


def shape_of(rng, ndim, most):
    while True:
        shape = [int(rng.choice(SIZES)) for _ in range(2)] + [int(rng.choice([2, 3, 5])) for _ in range(ndim - 2)]
        if 256 <= np.prod(shape) <= most:
            return tuple(shape[d] for d in rng.permutation(ndim))


def across(rng, loop, core, t, broadcast=True):
    """An array of loop + core, in a random order of the loop's dimensions and sometimes of all, in a block with room, now and then reversed,
    stepped or broadcast along a dimension of the loop."""
    shape, n = loop + core, len(loop)
    order = rng.permutation(n).tolist() + list(range(n, len(shape))) if rng.random() < 0.7 else rng.permutation(len(shape)).tolist()
    room = [shape[d] + int(rng.choice([0, 0, 0, 1])) for d in order]
    step = [int(rng.choice([1] * 12 + [-1, 2])) for _ in order]
    block = rng.integers(-FEW, FEW + 1, [r * abs(s) for r, s in zip(room, step)]).astype(t)
    view = block[tuple(slice(None, None, s) for s in step)].transpose(np.argsort(order))[tuple(slice(0, e) for e in shape)]
    if broadcast and rng.random() < 0.2:
        d = rng.integers(n)
        view = view[tuple(slice(0, 1) if i == d else slice(None) for i in range(len(shape)))]
    return view


def call(f, arrays, device):
    with Memory(device) as memory:
        f.run(lib.uf_call, memory, arrays, Func.options(memory))


def planned(f, arrays, device):
    """The same by a plan, which is run twice."""
    with Memory(device) as memory:
        p = c.c_void_p()
        tensors = (DLTensor * len(arrays))(*map(memory.tensor, arrays))
        if lib.uf_plan_new(c.byref(p), f.f, len(arrays), tensors, c.byref(Func.options(memory))):
            raise Failure()
        data = (c.c_void_p * len(arrays))(*(t.data for t in tensors))
        failed = lib.uf_plan_run(p, data, None) or lib.uf_plan_run(p, data, None)
        lib.uf_plan_free(p)
        if failed:
            raise Failure()


def window(o, block):
    """What o is of its own block, of a copy of that."""
    return np.ndarray(o.shape, o.dtype, block, o.ctypes.data - o.base.ctypes.data, o.strides)


def compare(f, inputs, outs, results, how=call):
    """Every element of an output holds its result, and nothing around it is written."""
    before, wanted = [o.base.copy() for o in outs], [o.base.copy() for o in outs]
    for o, block, r in zip(outs, wanted, results):
        window(o, block)[...] = r
    for device in DEVICES:
        for o, b in zip(outs, before):
            o.base[...] = b
        how(f, [*inputs, *outs], device)
        for o, block in zip(outs, wanted):
            assert same(o.base, block), (device, how.__name__, [(a.dtype, a.shape, a.strides) for a in [*inputs, *outs]])


def random_call(rng, name, dims, most, how=call):
    f, compute, (*inputs, output) = FUNCTIONS[name]
    t = np.dtype(rng.choice(["f4", "f4", "f8", "i4"]))
    loop = shape_of(rng, dims, most)
    arrays = [across(rng, loop, core, t) for core in inputs]
    out = across(rng, loop, output, t, False)
    result = np.broadcast_to(compute(*arrays), out.shape).astype(t)
    compare(f, arrays, [out], [result], how)


def test_random(rng):
    for name in FUNCTIONS:
        for dims in (2, 2, 2, 3, 4):
            for _ in range(5 * ROUNDS):
                random_call(rng, name, dims, 20000)


def test_plans(rng):
    for name in FUNCTIONS:
        for dims in (2, 3):
            for _ in range(3 * ROUNDS):
                random_call(rng, name, dims, 10000, planned)


def test_sides(rng):
    """Extents around those that sides of squares divide, and those that none does, either operand and the result transposed."""
    f, compute, _ = FUNCTIONS["cross"]
    for rows, columns in [(16, 16), (17, 16), (16, 17), (31, 33), (32, 32), (37, 41), (41, 64), (64, 41), (48, 10), (3, 500), (500, 3), (125, 27)]:
        for turned in range(3):
            arrays = []
            for k in range(3):
                block = rng.integers(-FEW, FEW + 1, (columns, rows, 3) if k == turned else (rows, columns, 3)).astype("f4")
                arrays.append(block.swapaxes(0, 1) if k == turned else block[:])
            compare(f, arrays[:2], arrays[2:], [compute(*arrays[:2])])


def test_two_outputs(rng):
    """Two outputs, each in an order of its own."""
    for _ in range(20 * ROUNDS):
        t = np.dtype(rng.choice(["f4", "i4"]))
        loop = shape_of(rng, int(rng.choice([2, 3])), 20000)
        x, y = across(rng, loop, (2,), t), across(rng, loop, (2,), t)
        outs = [across(rng, loop, (), t, False), across(rng, loop, (2,), t, False)]
        results = [x[..., 0] * y[..., 1] - x[..., 1] * y[..., 0], x + y]
        compare(both, [x, y], outs, [np.broadcast_to(r, o.shape) for r, o in zip(results, outs)])


def test_in_place(rng):
    """a = cross(a, a transposed), whose second input overlaps the output in another order."""
    f, compute, _ = FUNCTIONS["cross"]
    for n in (16, 17, 37, 96):
        for device in DEVICES:
            a = rng.integers(-FEW, FEW + 1, (n, n, 3)).astype("f4")
            want = compute(a, a.swapaxes(0, 1))
            call(f, [a, a.swapaxes(0, 1), a], device)
            assert same(a, want), (n, device)


if __name__ == "__main__":
    sys.exit(run([test_random, test_plans, test_sides, test_two_outputs, test_in_place]))
