"""neighbours.py - elementwise calls whose outputs have no gaps, on a GPU: a thread takes neighbours in the order of the loop (src/gpu/general.c), inputs that
are broadcast, lie apart, backwards or across beside it, of all sizes of elements, against NumPy. On a simulated GPU, whose memory ends at a
page that nobody may touch; with UF_TEST_GPU=1 on a GPU. PROP_N=n draws n times as many."""
import os
import sys

os.environ["MOCK_SMS"] = "1"

import numpy as np

import elimination  # says which GPU
from uf import GPU, Func, run

ROUNDS = int(os.environ.get("PROP_N", "1"))
TYPES = {"i1": "int8", "f2": "float16", "f4": "float32", "f8": "float64", "c8": "complex64", "i2": "int16"}
EXTENTS = (1, 2, 3, 5, 7, 8, 10, 15, 16, 17, 31, 32, 33, 48, 63, 64, 65, 100, 101, 250, 257)
ADD = {name: Func("(x, z) { return x + z; }", f"{name},{name}->{name}") for name in TYPES.values()}
MIXED = Func("(x, z) -> (p, q) { p = x + z; q = x - z; }", "int8,float32->float32,float64")
MOST = 60000


def draw_shape(rng):
    shape = []
    for _ in range(int(rng.integers(1, 5))):
        shape.append(int(rng.choice(EXTENTS)) if rng.random() < .7 else int(rng.integers(1, 40)))
    while np.prod(shape) > MOST:
        shape[int(np.argmax(shape))] //= 2
    return tuple(shape)


def numbers(rng, t, n):
    return rng.integers(-3, 4, n).astype(t)


def draw_input(rng, t, shape):
    """Whole, from an address of any kind on; with axes that it is broadcast along; in rows apart; every second element; backwards; across."""
    kind = int(rng.integers(7))
    if kind == 0:
        first = int(rng.choice([0, 0, 1, 3]))
        return numbers(rng, t, first + int(np.prod(shape)))[first:].reshape(shape)
    if kind <= 2:
        own = tuple(1 if rng.random() < .5 else n for n in shape)
        return np.broadcast_to(numbers(rng, t, int(np.prod(own))).reshape(own), shape)
    if kind == 3:
        apart = shape[:-1] + (shape[-1] + int(rng.integers(1, 4)),)
        return numbers(rng, t, int(np.prod(apart))).reshape(apart)[..., :shape[-1]]
    if kind == 4:
        return numbers(rng, t, 2 * int(np.prod(shape))).reshape(shape[:-1] + (2 * shape[-1],))[..., ::2]
    if kind == 5:
        return numbers(rng, t, int(np.prod(shape))).reshape(shape)[..., ::-1]
    axes = rng.permutation(len(shape))
    return numbers(rng, t, int(np.prod(shape))).reshape(tuple(shape[a] for a in axes)).transpose(np.argsort(axes))


def draw_output(rng, t, shape):
    first = int(rng.choice([0, 0, 0, 1]))
    return np.zeros(first + int(np.prod(shape)), t)[first:].reshape(shape)


def sums(rng):
    for t, name in TYPES.items():
        for _ in range(20 * ROUNDS):
            shape = draw_shape(rng)
            x, z, out = draw_input(rng, t, shape), draw_input(rng, t, shape), draw_output(rng, t, shape)
            ADD[name](x, z, out, device=GPU)
            assert np.array_equal(out, x + z), (name, shape, x.strides, z.strides)


def in_place(rng):
    for t, name in TYPES.items():
        for _ in range(5 * ROUNDS):
            shape = draw_shape(rng)
            z, out = draw_input(rng, t, shape), draw_output(rng, t, shape)
            out[...] = numbers(rng, t, out.size).reshape(shape)
            expected = out + z
            ADD[name](out, z, out, device=GPU)
            assert np.array_equal(out, expected), (name, shape, z.strides)


def draw_mask(rng, shape):
    """Of any kind; often in runs."""
    mask = draw_input(rng, "i1", shape)
    return mask > rng.integers(-4, 3) if rng.random() < .5 else np.broadcast_to(draw_input(rng, "i1", shape[:-1] + (1,)) > 0, shape)


def masked(rng):
    for t, name in TYPES.items():
        for _ in range(20 * ROUNDS):
            shape = draw_shape(rng)
            x, z, out, where = draw_input(rng, t, shape), draw_input(rng, t, shape), draw_output(rng, t, shape), draw_mask(rng, shape)
            out[...] = 100
            ADD[name](x, z, out, where=where, device=GPU)
            assert np.array_equal(out, np.where(where, x + z, np.array(100, t))), (name, shape, x.strides, z.strides, where.strides)


def mixed(rng):
    """Elements of several sizes, and a number."""
    for _ in range(30 * ROUNDS):
        shape = draw_shape(rng)
        x, z = draw_input(rng, "i1", shape), draw_input(rng, "f4", shape)
        p, q = draw_output(rng, "f4", shape), draw_output(rng, "f8", shape)
        MIXED(x, z, p, q, device=GPU)
        assert np.array_equal(p, x + z) and np.array_equal(q, x.astype("f8") - z), (shape, x.strides, z.strides)


if __name__ == "__main__":
    if "asan" in os.environ.get("LD_PRELOAD", ""):
        print("the address sanitizer does not follow the threads of a simulated GPU through Python")
        sys.exit(77)
    sys.exit(run([sums, in_place, masked, mixed]))
