"""updates.py - uf_at on a GPU (src/ir/at/gpu_at.c), whose warps combine updates of one element that follow each other: indices at random, sorted, in runs,
all the same, by turns; operators with and without an instruction; numbers; targets with and without copies in shared memory, against
NumPy's ufunc.at. On a simulated GPU, whose memory ends at a page that nobody may touch; with UF_TEST_GPU=1 on a GPU. PROP_N=n draws n times as many."""
import os
import sys

import numpy as np

import elimination  # says which GPU
from uf import BFLOAT16, GPU, Func, cast, run

ROUNDS = int(os.environ.get("PROP_N", "1"))
DEVICE = os.environ.get("UF_TEST_GPU") == "1"
OPERATORS = {"add": np.add, "subtract": np.subtract, "maximum": np.maximum, "minimum": np.minimum, "bitwise_or": np.bitwise_or, "bitwise_xor": np.bitwise_xor,
             "bitwise_and": np.bitwise_and, "multiply": np.multiply}
TYPES = ("i1", "u1", "i2", "i4", "u4", "i8", "u8", "f2", "f4", "f8", "c8", "c16")
FUNCS = {name: Func.load(name) for name in OPERATORS}


def draw_indices(rng, n, extent):
    way = rng.integers(6)
    if way == 0:
        at = np.full(n, rng.integers(extent))
    elif way == 1:
        at = rng.integers(0, extent, 2)[np.arange(n) % 2]
    elif way == 2:
        at = np.repeat(rng.integers(0, extent, n), rng.integers(1, 70, n))[:n]
    else:
        at = rng.integers(0, extent, n)
        at = np.sort(at) if way == 3 else at
    at = at.astype(str(rng.choice(["i4", "i8"] + (["u1"] if extent < 256 else []))))
    if at.dtype.kind == "i" and rng.random() < .3:
        at = np.where(rng.random(n) < .5, at, at - extent).astype(at.dtype)  # counted from the end
    wrong = np.zeros(n, bool)
    if at.dtype.kind == "i" and rng.random() < .3:  # left out
        wrong = rng.random(n) < .2
        at[wrong] = rng.choice([extent, -extent - 1, 2 * extent + 5], int(wrong.sum()))
    return at, ~wrong


def numbers(rng, t, n):
    """Of which sums are exact, few enough for halves."""
    if np.dtype(t).kind == "c":
        return (rng.integers(-2, 3, n) + 1j * rng.integers(-2, 3, n)).astype(t)
    x = rng.integers(0 if t[0] == "u" else -2, 3, n)
    return (np.where(rng.random(n) < .02, x, 0) if t == "f2" else x).astype(t)


def check(rng, name, t, extents, n, number):
    f, numpy = FUNCS[name], OPERATORS[name]
    drawn = [draw_indices(rng, n, e) for e in extents]
    target = numbers(rng, t, int(np.prod(extents)) * 2).reshape(*extents, 2)[..., 0] if rng.random() < .5 else numbers(rng, t, int(np.prod(extents))).reshape(extents)
    operand = np.array(numbers(rng, t, 3)[0]) if number else numbers(rng, t, n)
    if name == "multiply":
        operand = np.where(operand == 0, 1, -1).astype(t) if np.dtype(t).kind != "u" else np.ones(operand.shape, t)
    wanted = np.logical_and.reduce([w for _, w in drawn])
    if number and t == "f2":  # as many of one number as a half can count
        counts = np.zeros(extents, int)
        np.add.at(counts, tuple(at[wanted] for at, _ in drawn), 1)
        operand = operand if counts.max() <= 1000 else np.zeros_like(operand)
    want = target.copy()
    numpy.at(want, tuple(at[wanted] for at, _ in drawn), operand if number else operand[wanted])
    f.at(target, [at for at, _ in drawn], operand, device=GPU)
    assert np.array_equal(target, want), (name, t, extents, n, number, [at[:5] for at, _ in drawn], np.argwhere(target != want)[:4].tolist())


def operators(rng):
    for name in OPERATORS:
        for t in TYPES:
            kind = np.dtype(t).kind
            if (kind in "fc" and name.startswith("bitwise")) or (kind == "c" and name in ("maximum", "minimum")) or (t == "c16" and name == "multiply"):
                continue
            for _ in range(2 * ROUNDS):
                n = int(rng.choice([1, 31, 32, 33, 100, 257, 1000, 3000]))
                extents = [(7,), (300,), (40000,), (3, 5), (30, 40)][rng.integers(5)]
                check(rng, name, t, extents, n, rng.random() < .3)


def copies(rng):
    """So many updates that blocks have copies of the target, or counts."""
    for name in ("add", "subtract", "maximum", "minimum", "bitwise_or", "bitwise_and"):
        for t in ("i1", "u1", "i2", "i4", "u4", "i8", "f2", "f4", "f8"):
            if t[0] == "f" and name not in ("add", "subtract"):
                continue
            for number in (False, True):
                check(rng, name, t, [(7,), (300,), (3, 5)][rng.integers(3)], int(rng.integers(1 << 15, 40000)) * (20 if DEVICE else 1), number)


def halves(rng):
    """By pairs where a word is the target's, by comparing and swapping where it is not: what lies beside the target stays as it is, NaN or not."""
    for bfloat16 in (False, True):
        t = BFLOAT16 if bfloat16 else np.dtype("f2")
        for _ in range(12 * ROUNDS):
            shape = [(int(rng.integers(1, 400)),), (int(rng.integers(1, 20)), int(rng.choice([1, 2, 3, 31, 32, 33, 100])))][rng.integers(2)]
            first, size = int(rng.integers(0, 3)), int(np.prod(shape))
            apart = rng.random() < .3  # not in one piece
            memory = rng.integers(0x7C01, 0x7FFF, first + size * (2 if apart else 1) + 3).astype("u2")
            within = memory[first:first + size * (2 if apart else 1)]
            within = within[::2] if apart else within
            within = within[::-1] if rng.random() < .3 else within
            n = int(rng.integers(1, 300))
            at, wanted = draw_indices(rng, n, shape[0])
            start, operand = rng.integers(-2, 3, size).astype("f4"), rng.integers(-2, 3, (n, *shape[1:])).astype("f4")
            name = str(rng.choice(["add", "subtract"]))
            want = start.reshape(shape).astype("f8")
            OPERATORS[name].at(want, at[wanted], operand[wanted])
            if np.abs(want).max() > 200:
                continue  # not exact
            within[...] = cast(start, t).view("u2")
            before = memory.copy()
            target = np.lib.stride_tricks.as_strided(within, shape, [within.strides[0] * int(np.prod(shape[1:])), within.strides[0]][:len(shape)]).view(t)
            FUNCS[name].at(target, [at], cast(operand, t), device=GPU)
            assert np.array_equal(target.view("u2"), cast(want.astype("f4"), t).view("u2").reshape(shape)), (t, name, shape, n, first, apart, within.strides)
            within[...] = 0
            mine = np.zeros(len(memory), bool)
            mine[(within.__array_interface__["data"][0] - memory.__array_interface__["data"][0]) // 2 + np.arange(size) * (within.strides[0] // 2)] = True
            assert np.array_equal(before[~mine], memory[~mine]), (t, shape, first, apart)


def rows(rng):
    """Rows of a target: neighbouring updates are of different elements."""
    for t in ("f4", "i8", "f2", "u1"):
        for _ in range(2 * ROUNDS):
            extent, width, n = int(rng.integers(1, 40)), int(rng.choice([1, 3, 31, 32, 33, 100])), int(rng.integers(1, 100))
            at, wanted = draw_indices(rng, n, extent)
            target, operand = numbers(rng, t, extent * width).reshape(extent, width), numbers(rng, t, n * width).reshape(n, width)
            want = target.copy()
            np.add.at(want, at[wanted], operand[wanted])
            FUNCS["add"].at(target, [at], operand, device=GPU)
            assert np.array_equal(target, want), (t, extent, width, n)


def planes(rng):
    """Planes of a target whose rows lie apart: along a column, too, neighbouring updates with one index are of different elements."""
    for t in ("f4", "i8", "u1"):
        for _ in range(3 * ROUNDS):
            extent, height, width, n = (int(x) for x in (rng.integers(1, 9), rng.integers(2, 7), rng.choice([3, 31, 33, 100]), rng.integers(1, 40)))
            at, wanted = draw_indices(rng, n, extent)
            target, operand = (numbers(rng, t, m * height * (width + 1)).reshape(m, height, width + 1)[..., :width] for m in (extent, n))
            want = target.copy()
            np.add.at(want, at[wanted], operand[wanted])
            FUNCS["add"].at(target, [at], operand, device=GPU)
            assert np.array_equal(target, want), (t, extent, height, width, n)


if __name__ == "__main__":
    if "asan" in os.environ.get("LD_PRELOAD", ""):
        print("the address sanitizer does not follow the threads of a simulated GPU through Python")
        sys.exit(77)
    sys.exit(run([operators, copies, halves, rows, planes]))
