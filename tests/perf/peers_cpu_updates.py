"""peers_cpu_updates.py - NumPy on the CPU, one thread, on the cases of bench_updates.c. Results are checked before they are timed."""
import numpy as np

from peers import row, timed

N = 1 << 24
RUNS = 9


def rate(case, system, work, want):
    got = work()
    assert np.allclose(got, want, rtol=1e-5), case
    row(case, system, "Gelem/s", 1e-9 * N, timed(work, 1, RUNS))


def added(target, at, x):
    target[...] = 0
    np.add.at(target, at, x)
    return target


rng = np.random.default_rng(1)
x = rng.uniform(0.5, 2, N).astype(np.float32)
for bins, tag in ((1 << 8, "256"), (1 << 20, "1M")):
    at = rng.integers(0, bins, N, dtype=np.int32)
    want, counts = np.bincount(at, minlength=bins), np.zeros(bins, np.int64)
    rate(f"cpu_counters_i64_{tag}", "NumPy bincount", lambda: np.bincount(at, minlength=bins), want)
    rate(f"cpu_counters_i64_{tag}", "NumPy add.at", lambda: added(counts, at, 1), want)
at, wide, sums = rng.integers(0, 1 << 16, N, dtype=np.int32), x.astype(np.float64), np.zeros(1 << 16)
want = np.bincount(at, wide, 1 << 16)
rate("cpu_sums_f64_64K", "NumPy bincount", lambda: np.bincount(at, wide, 1 << 16), want)
rate("cpu_sums_f64_64K", "NumPy add.at", lambda: added(sums, at, wide), want)
for length in (4, 64, 4096):
    starts = np.arange(0, N, length)
    want = x.reshape(-1, length).sum(1, dtype=np.float64)
    rate(f"cpu_segments_f32_{length}", "NumPy add.reduceat", lambda: np.add.reduceat(x, starts), want)
