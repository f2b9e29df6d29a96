"""peers_cpu.py - NumPy and Numba on the CPU, one thread, on the cases of bench.c. Rows: case,system,metric,value,spread."""
import math
import time

import numpy as np

from peers import row, timed

try:
    import numba
except ImportError:
    numba = None


def rel_diff_numba():
    f4, f8 = numba.float32, numba.float64
    return numba.vectorize([f4(f4, f4), f8(f8, f8)])(lambda x, y: 2 * (x - y) / (x + y))


rng = np.random.default_rng(1)
nb_rel = rel_diff_numba() if numba else None
for n, tag in ((1 << 16, "64K"), (1 << 24, "16M")):
    inner = 20 if n <= 1 << 16 else 1
    x, y = (rng.uniform(0.5, 2, n).astype(np.float32) for _ in range(2))
    r = np.empty_like(x)
    row(f"cpu_rel_diff_f32_{tag}", "NumPy", "Gelem/s", 1e-9 * n, timed(lambda: 2 * (x - y) / (x + y), inner))
    if numba:
        row(f"cpu_rel_diff_f32_{tag}", "Numba vectorize", "Gelem/s", 1e-9 * n, timed(lambda: nb_rel(x, y, r), inner))
    for dtype in (np.float32, np.float64):
        a = x.astype(dtype)
        out = np.empty_like(a)
        for name in ("exp", "log", "sin", "tanh", "power"):
            f = getattr(np, name)
            args = (a, a) if f.nin == 2 else (a,)
            row(f"cpu_{name}_f{8 * a.itemsize}_{tag}", "NumPy", "Gelem/s", 1e-9 * n, timed(lambda: f(*args, out), inner))
        if numba:
            for name in ("exp", "log", "sin", "tanh"):
                g = getattr(math, name)
                t = numba.from_dtype(np.dtype(dtype))
                f = numba.vectorize([t(t)])(eval("lambda v: g(v)", {"g": g}))
                row(f"cpu_{name}_f{8 * a.itemsize}_{tag}", "Numba vectorize", "Gelem/s", 1e-9 * n, timed(lambda: f(a, out), inner, 7))
m = 4096
a, b = (rng.uniform(0.5, 2, m).astype(np.float32) for _ in range(2))
r = np.empty((m, m), np.float32)
if numba:
    row("cpu_outer_bcast_f32_16M", "Numba vectorize", "Gelem/s", 1e-9 * m * m, timed(lambda: nb_rel(a[:, None], b[None], r), 1))
row("cpu_outer_bcast_f32_16M", "NumPy", "Gelem/s", 1e-9 * m * m, timed(lambda: 2 * (a[:, None] - b[None]) / (a[:, None] + b[None]), 1, 7))
s = np.ones(16, np.float32)
o = np.empty_like(s)
row("cpu_call_16", "NumPy add", "host us/call", 0, timed(lambda: np.add(s, s, o), 20000, 11))
if numba:
    row("cpu_call_16", "Numba vectorize", "host us/call", 0, timed(lambda: nb_rel(s, s, o), 5000, 11))
    t = time.perf_counter()
    rel_diff_numba()(s, s, o)
    row("cpu_first_call", "Numba vectorize (2 signatures)", "us to the first result", 0, [time.perf_counter() - t])

# Generalized ufuncs over batches that stay in the caches; elements are those of the first argument.
elements = 1 << 22
u, v = (rng.uniform(0.5, 2, elements).astype(np.float32) for _ in range(2))
if numba:

    @numba.guvectorize([(numba.float32[:, :], numba.float32[:], numba.float32[:])], "(m,n),(n)->(m)")
    def nb_matvec(a, x, out):
        for i in range(a.shape[0]):
            sum = numba.float32(0)
            for j in range(a.shape[1]):
                sum += a[i, j] * x[j]
            out[i] = sum

    @numba.guvectorize([(numba.float32[:], numba.float32[:], numba.float32[:])], "(n),(n)->()")
    def nb_vecdot(x, y, out):
        sum = numba.float32(0)
        for i in range(x.shape[0]):
            sum += x[i] * y[i]
        out[0] = sum


def batch(case, count, args, out, want, peers):
    for system, f in peers:
        f(*args, out)
        assert np.allclose(out, want, rtol=1e-4), (case, system)
        row(case, system, "Gelem/s", 1e-9 * count, timed(lambda: f(*args, out), 1))


for size in (8, 32, 256):
    a, x = u.reshape(-1, size, size), v[: elements // size].reshape(-1, size)
    want = np.einsum("bij,bj->bi", a.astype(float), x.astype(float))
    batch(f"cpu_matvec_f32_{size}", elements, (a, x), np.empty(x.shape, np.float32), want, [("NumPy", np.matvec)] + ([("Numba guvectorize", nb_matvec)] if numba else []))
for size in (8, 32, 256):
    x, y = (t[: elements // 2].reshape(-1, size) for t in (u, v))
    want = np.einsum("bi,bi->b", x.astype(float), y.astype(float))
    batch(f"cpu_vecdot_f32_{size}", elements // 2, (x, y), np.empty(len(x), np.float32), want, [("NumPy", np.vecdot)] + ([("Numba guvectorize", nb_vecdot)] if numba else []))
for size in (8, 64, 512):
    count = size * size * (512 // size)
    x, y = (t[:count].reshape(-1, size, size) for t in (u, v))
    batch(f"cpu_matmul_f32_{size}", count, (x, y), np.empty(x.shape, np.float32), x.astype(float) @ y.astype(float), [("NumPy", np.matmul)])
