"""peers_gpu_linalg.py - CuPy, which calls cuBLAS and cuSOLVER, on the cases of bench_linalg.c. Results are checked before they are
timed."""
import warnings

warnings.filterwarnings("ignore")
import cupy as cp

from peers import gpu_time, row

for n in (3, 4, 8, 32, 256):
    count = (1 << 24) // (n * n)
    a = cp.random.uniform(-1, 1, (count, n, n), dtype=cp.float32) + n * cp.eye(n, dtype=cp.float32)
    b = cp.random.uniform(-1, 1, (count, n, 1), dtype=cp.float32)
    for case, work, check in ((f"gpu_inv_f32_{n}", lambda: cp.linalg.inv(a), lambda y: a @ y - cp.eye(n, dtype=cp.float32)),
                              (f"gpu_solve_f32_{n}", lambda: cp.linalg.solve(a, b), lambda x: a @ x - b)):
        if not float(cp.abs(check(work())).max()) < 1e-3:
            raise SystemExit(f"{case}: wrong result")
        row(case, "CuPy", "Mmatrix/s", 1e-6 * count, gpu_time(work, 5))
