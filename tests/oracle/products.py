"""products.py - products of small matrices and vectors whose cores lie in memory in any order, with and without gaps, so that vectors go along one
range of a forall or another, or cores are copied first (gufunc.columns). Against NumPy, on floats of few bits, which are exact in any order.

PROP_N=n makes n times as many calls. UF_TEST_GPU=1 makes them on the GPU as well.
"""
import os
import sys

import numpy as np

from squares import FEW, compare
from uf import Func, run

ROUNDS = int(os.environ.get("PROP_N", "1"))
SIZES = [1, 2, 3, 4, 5, 7, 8, 9, 12, 15, 16, 17, 20, 24, 31, 33]
CALLS = 300  # from 256 on, sizes are constants


def of(layout, source):
    inputs = layout.split("->")[0].count("(")
    return Func(source, "; ".join(",".join([t] * inputs) + "->" + t for t in ("float32", "float64")), layout)


def gram(a):
    return np.einsum("bmn,bkn->bmk", a, a)


# The cores of the operands, the function, and what NumPy computes.
FUNCTIONS = [
    ("mn np mp", Func.load("matmul"), np.matmul),
    ("mn n m", Func.load("matvec"), np.matvec),
    ("m mn n", Func.load("vecmat"), np.vecmat),
    ("mn mm", of("(m,n)->(m,m)", "(a) -> (c) { forall (i : m, j : m) c[i][j] = sum(k : n, a[i][k] * a[j][k]); }"), gram),
    ("mn np m mp", of("(m,n),(n,p),(m)->(m,p)",
                      "(a, b, s) -> (c) { forall (i : m, j : p) c[i][j] = sum(k : n, a[i][k] * b[k][j]) - s[i]; }"),
     lambda a, b, s: a @ b - s[:, :, None]),
    ("mn np p mp", of("(m,n),(n,p),(p)->(m,p)",
                      "(a, b, s) -> (c) { forall (i : m, j : p) c[i][j] = s[j] + sum(k : n, a[i][k] - b[k][j]); }"),
     lambda a, b, s: s[:, None, :] + a.sum(axis=2)[:, :, None] - b.sum(axis=1)[:, None, :]),
    ("qmn np qmp", of("(q,m,n),(n,p)->(q,m,p)",
                      "(a, b) -> (c) { forall (h : q, i : m, j : p) c[h][i][j] = sum(k : n, a[h][i][k] * b[k][j]); }"),
     lambda a, b: a @ b[:, None]),
    ("qmn np mqp", of("(q,m,n),(n,p)->(m,q,p)",
                      "(a, b) -> (c) { forall (h : q, i : m, j : p) c[i][h][j] = sum(k : n, a[h][i][k] * b[k][j]); }"),
     lambda a, b: (a @ b[:, None]).swapaxes(1, 2)),
]


def lying(rng, shape, t):
    """An array of calls that lie behind each other or, now and then, side by side, with the core's dimensions in any order, and sometimes gaps."""
    core = [int(d) for d in 1 + rng.permutation(len(shape) - 1)]
    order = core + [0] if rng.random() < 0.1 else [0] + core
    gaps = rng.random() < 0.3
    block = rng.integers(-FEW, FEW + 1, [shape[d] + int(gaps and rng.integers(3)) for d in order]).astype(t)
    return block.transpose(np.argsort(order))[tuple(slice(0, n) for n in shape)]


def test_orders(rng):
    """Sizes that are alike, and others; each function many times, as there are many orders."""
    for cores, f, numpys in FUNCTIONS:
        cores = cores.split()
        for _ in range(24 * ROUNDS):
            t = np.dtype(rng.choice(["f4", "f8"]))
            alike = int(rng.choice(SIZES[:12] if "q" in cores[0] else SIZES))
            size = {d: alike if rng.random() < 0.6 else int(rng.choice(SIZES[:9])) for d in "mnpq"}
            *inputs, out = [lying(rng, (CALLS,) + tuple(size[d] for d in core), t) for core in cores]
            compare(f, inputs, [out], [numpys(*inputs)])


if __name__ == "__main__":
    sys.exit(run([test_orders]))
