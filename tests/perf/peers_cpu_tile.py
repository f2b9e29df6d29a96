"""peers_cpu_tile.py - NumPy and Numba on the CPU, one thread, on the cases of bench_tile.c. Results are checked before they are timed."""
import numpy as np

try:
    import numba
except ImportError:
    numba = None
from peers import row, timed

CASES = [  # name, dtype, shape of the output, the orders in which the inputs' dimensions lie in memory
    ("sum_bT_f32_64", "f4", (64, 64), ("01", "10")),
    ("sum_bT_f32_100", "f4", (100, 100), ("01", "10")),
    ("sum_bT_f32_1024", "f4", (1024, 1024), ("01", "10")),
    ("sum_bT_f32_4096", "f4", (4096, 4096), ("01", "10")),
    ("sum_aT_bT_f32_4096", "f4", (4096, 4096), ("10", "10")),
    ("T_f32_64", "f4", (64, 64), ("10",)),
    ("T_u8_256", "u1", (256, 256), ("10",)),
    ("T_u8_8192", "u1", (8192, 8192), ("10",)),
    ("T_f16_4096", "f2", (4096, 4096), ("10",)),
    ("T_f32_4096", "f4", (4096, 4096), ("10",)),
    ("T_f32_4095", "f4", (4095, 4095), ("10",)),
    ("T_f64_4096", "f8", (4096, 4096), ("10",)),
    ("T_c128_2048", "c16", (2048, 2048), ("10",)),
    ("021_f32_16", "f4", (4096, 16, 16), ("021",)),
    ("210_f32", "f4", (128, 192, 160), ("210",)),
    ("nchw3_u8", "u1", (4, 3, 512, 512), ("0231",)),
    ("nhwc3_u8", "u1", (4, 512, 512, 3), ("0312",)),
    ("nchw3_f32", "f4", (4, 3, 512, 512), ("0231",)),
    ("nhwc3_f32", "f4", (4, 512, 512, 3), ("0312",)),
    ("nchw64_f32", "f4", (4, 64, 128, 128), ("0231",)),
]


def compiled(f):
    return numba.njit(f) if numba else None


@compiled
def add2(x, y, r):
    for i in range(r.shape[0]):
        for j in range(r.shape[1]):
            r[i, j] = x[i, j] + y[i, j]


@compiled
def copy2(x, r):
    for i in range(r.shape[0]):
        for j in range(r.shape[1]):
            r[i, j] = x[i, j]


def view(rng, shape, order, dtype):
    order = [int(d) for d in order]
    block = rng.integers(0, 64, [shape[d] for d in order]).astype(dtype)
    return block.transpose(np.argsort(order))


rng = np.random.default_rng(1)
for name, code, shape, orders in CASES:
    dtype = np.dtype(code)
    inputs, r = [view(rng, shape, order, dtype) for order in orders], np.empty(shape, dtype)
    want = sum(x.astype("c16") for x in inputs) if r.size <= 1 << 20 else None
    works = {"NumPy": (lambda: np.add(*inputs, out=r)) if len(inputs) == 2 else (lambda: np.copyto(r, inputs[0]))}
    if numba and len(shape) == 2 and code != "f2":
        works["Numba"] = (lambda: add2(*inputs, r)) if len(inputs) == 2 else (lambda: copy2(inputs[0], r))
    for system, work in works.items():
        r[...] = 0
        work()
        assert want is None or np.array_equal(r.astype("c16"), want), name
        moved = 1e-9 * (len(inputs) + 1) * r.nbytes
        row(f"cpu_tile_{name}", system, "GB/s", moved, timed(work, 100 if r.size <= 1 << 16 else 1, 9))
