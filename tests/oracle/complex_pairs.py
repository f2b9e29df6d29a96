"""complex_pairs.py - arithmetic of complex numbers, whose two parts the CPU computes as neighbours in a vector: random expressions, of which
some have parts that are not made alike, or cannot be taken for that, against NumPy on the parts, to the bit; arrays that lie side by
side or not, numbers, rows that stay, results in the place of an operand. What lies between the elements must stay."""
import sys

import numpy as np

from uf import Func, run, same

PARTS = {"c8": np.float32, "c16": np.float64}
NAMES = {"c8": "complex64", "c16": "complex128"}


class Value:
    """A complex or a real value: the text of it, and its parts (imag: None for a real one)."""

    def __init__(self, text, real, imag=None):
        self.text, self.real, self.imag = text, real, imag


def product(x, y):
    return x.real * y.real - x.imag * y.imag, x.real * y.imag + x.imag * y.real


def complex_value(rng, depth, leaves, part):
    if not depth:
        return leaves[int(rng.integers(len(leaves)))]
    x = complex_value(rng, depth - 1, leaves, part)
    y = complex_value(rng, int(rng.integers(depth)), leaves, part)
    way = int(rng.integers(9))
    if way == 0:
        return Value(f"({x.text} + {y.text})", x.real + y.real, x.imag + y.imag)
    if way == 1:
        return Value(f"({x.text} - {y.text})", x.real - y.real, x.imag - y.imag)
    if way < 5:
        return Value(f"({x.text} * {y.text})", *product(x, y))
    if way == 5:
        return Value(f"(-{x.text})", -x.real, -x.imag)
    if way == 6:
        return Value(f"conj({x.text})", x.real, -x.imag)
    re, im = real_value(rng, x, y, part), real_value(rng, x, y, part)
    return Value(f"CMPLX({re.text}, {im.text})", re.real, im.real)


def real_value(rng, x, y, part):
    """Of the parts of two complex ones."""
    leaves = [Value(f"real({x.text})", x.real), Value(f"imag({x.text})", x.imag), Value(f"real({y.text})", y.real),
              Value(f"imag({y.text})", y.imag), Value("3", part(3))]
    a, b = (leaves[int(i)] for i in rng.integers(len(leaves), size=2))
    way = int(rng.integers(6))
    if way == 0:
        return Value(f"({a.text} + {b.text})", a.real + b.real)
    if way == 1:
        return Value(f"({a.text} - {b.text})", a.real - b.real)
    if way == 2:
        return Value(f"({a.text} * {b.text})", a.real * b.real)
    if way == 3:
        return Value(f"(-{a.text})", -a.real)
    if way == 4:
        return Value(f"max({a.text}, {b.text})", np.maximum(a.real, b.real))
    return a


def laid_out(rng, block, shape):
    """A view of this shape of a block that is larger."""
    view = block[:shape[0], :2 * shape[1]]
    way = int(rng.integers(5))
    if way == 0:
        return view[:, ::2]
    if way == 1:
        return view[:, shape[1] - 1::-1]
    if way == 2:
        return block.reshape(-1)[:shape[0] * shape[1]].reshape(shape)
    if way == 3:
        return block.reshape(-1)[:shape[0] * shape[1]].reshape(shape[::-1]).T
    return view[:, :shape[1]]


def again(copy, block, view):
    """The view of a copy of a block."""
    return np.lib.stride_tricks.as_strided(copy.reshape(-1)[(view.ctypes.data - block.ctypes.data) // block.itemsize:], view.shape, view.strides)


def side_by_side(rng, block, shape):
    first = int(rng.integers(9))
    return block.reshape(-1)[first:first + shape[0] * shape[1]].reshape(shape)


def check(rng, bytes=0):
    """bytes: of three arrays that lie side by side, about; 0: few elements, laid out anyhow."""
    t = str(rng.choice(list(PARTS)))
    part = PARTS[t]
    shape, lay = (int(rng.choice([1, 1, 3, 10])), int(rng.choice([1, 2, 3, 7, 8, 9, 31, 100]))), laid_out
    if bytes:
        shape, lay = (1, bytes // (3 * np.dtype(t).itemsize) + int(rng.integers(100))), side_by_side
    blocks = [(rng.integers(-9, 10, (shape[0], 2 * shape[1] + 1)) + 1j * rng.integers(-9, 10, (shape[0], 2 * shape[1] + 1))).astype(t)
              for _ in range(3)]
    for block in blocks:
        block += np.array(0.1 - 0.3j, t)
        block[rng.random(block.shape) < .02] = complex(float(rng.choice([0, -0.0, np.inf])), float(rng.choice([1, -0.0, np.nan])))
    arrays = [lay(rng, block, shape) for block in blocks]
    out = arrays[2]
    for k in range(2):
        way = rng.random()
        if way < .1:
            arrays[k] = arrays[k][:1, :1]
        elif way < .2:
            arrays[k] = arrays[k][:1]
        elif way < .3:
            arrays[k] = arrays[k][:, :1]
        elif way < .4:
            arrays[k] = out
    two = complex(2, -0.5)
    z, w = (np.broadcast_to(a, shape).copy() for a in arrays[:2])
    leaves = [Value("z", z.real, z.imag), Value("w", w.real, w.imag), Value("z", z.real, z.imag), Value("w", w.real, w.imag),
              Value("CMPLX(2, -0.5)", part(two.real), part(two.imag))]
    value = complex_value(rng, int(rng.integers(1, 4)), leaves, part)
    source = f"(z, w) {{ return {value.text}; }}"
    want = np.empty(shape, t)
    want.real, want.imag = value.real, value.imag
    expected = [block.copy() for block in blocks]
    Func(source, f"{NAMES[t]},{NAMES[t]}->{NAMES[t]}")(*arrays)
    where = f"{source} of {t}, {shape}, strides {[a.strides for a in arrays]}"
    assert same(out, want), f"{where}: {out[out != want][:3]} for {want[out != want][:3]}"
    out[...] = again(expected[2], blocks[2], out)
    assert all(same(block, there) for block, there in zip(blocks, expected)), f"{where}: something else was written"


def random_expressions(rng):
    for _ in range(150):
        check(rng)


def past_the_caches(rng):
    """More than a last level cache has: whole lines are written."""
    for _ in range(12):
        check(rng, 40 << 20)


if __name__ == "__main__":
    sys.exit(run([random_expressions, past_the_caches]))
