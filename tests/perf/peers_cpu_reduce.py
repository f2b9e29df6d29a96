"""peers_cpu_reduce.py - NumPy on the CPU, one thread, on the cases of bench_reduce.c. Results are checked before they are timed."""
import numpy as np

from peers import row, timed


def rate(case, work, count, want):
    first = 1 << 16  # in float32 the errors of a long cumsum add up
    assert np.allclose(np.atleast_1d(work())[:first], np.atleast_1d(want)[:first], rtol=1e-4), case
    row(case, "NumPy", "Gelem/s", 1e-9 * count, timed(work, 100 if count <= 1 << 16 else 1))


rng = np.random.default_rng(1)
for n, tag in ((1 << 16, "64K"), (1 << 24, "16M")):
    exact = rng.uniform(0.5, 2, n).astype(np.float32).astype(np.float64)
    side = int(n**0.5)
    for dtype in (np.float32, np.float64):
        x = exact.astype(dtype)
        square, out, bits = x.reshape(side, side), np.empty_like(x), 8 * x.itemsize
        rate(f"cpu_sum_f{bits}_{tag}", lambda: np.sum(x), n, exact.sum())
        for axis in (0, 1):
            rate(f"cpu_sum_axis{axis}_f{bits}_{tag}", lambda: np.sum(square, axis), n, exact.reshape(side, side).sum(axis))
        rate(f"cpu_max_f{bits}_{tag}", lambda: np.max(x), n, exact.max())
        rate(f"cpu_argmax_f{bits}_{tag}", lambda: np.argmax(x), n, int(exact.argmax()))
        rate(f"cpu_cumsum_f{bits}_{tag}", lambda: np.cumsum(x, out=out), n, exact.cumsum())
s, o = np.ones(16, np.float32), np.empty((), np.float32)
row("cpu_reduce_16", "NumPy", "host us/call", 0, timed(lambda: np.add.reduce(s, out=o), 20000, 11))
