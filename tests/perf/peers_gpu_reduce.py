"""peers_gpu_reduce.py - CuPy and PyTorch on the GPU, on the cases of bench_reduce.c. Results are checked before they are timed."""
import warnings

warnings.filterwarnings("ignore")
import cupy as cp
import numpy as np
import torch

from peers import gpu_time, host_time, row

n = 1 << 28
x = cp.random.uniform(0.5, 2, n, dtype=np.float32)
r = cp.empty_like(x)
tx, tr = (torch.as_tensor(v, device="cuda") for v in (x, r))


def check(got, want, what, tolerance=1e-4):
    got, want = (cp.asarray(v).astype(np.float64) for v in (got, want))
    if not bool(cp.all(cp.abs(got - want) <= tolerance * cp.abs(want))):
        raise SystemExit(f"{what}: wrong result")


def rate(case, system, work, want, moved=4e-9 * n, result=lambda v: v):
    """Times work() if what it returns is right."""
    check(result(work()), want, f"{case}, {system}")
    row(case, system, "GB/s", moved, gpu_time(work))


def total(a):
    return cp.sum(a, dtype=np.float64)


def full():
    part = (x - np.float32(1.25)) * np.float32(1e-4)
    sign = cp.where(x < np.float32(1.25), np.float32(-1), np.float32(1))
    tsign = torch.as_tensor(sign, device="cuda")
    want = total(x)
    rate("gpu_sum_f32", "cupy.sum", lambda: cp.sum(x), want)
    rate("gpu_sum_f32", "torch.sum", lambda: torch.sum(tx), want)
    want = cp.prod(sign, dtype=np.float64)
    rate("gpu_prod_f32", "cupy.prod", lambda: cp.prod(sign), want)
    rate("gpu_prod_f32", "torch.prod", lambda: torch.prod(tsign), want)
    user = cp.ReductionKernel("T x", "T y", "x", "a + b - a * b", "y = a", "0", "either")
    rate("gpu_user_f32", "CuPy ReductionKernel", lambda: user(part), 1 - cp.prod(1 - part.astype(np.float64)))
    want = cp.asarray(int(np.argmax(cp.asnumpy(x))))
    rate("gpu_argmax_f32", "cupy.argmax", lambda: cp.argmax(x), want)
    rate("gpu_argmax_f32", "torch.argmax", lambda: torch.argmax(tx), want)
    rate("gpu_minmax_f32", "torch.aminmax", lambda: torch.aminmax(tx), x.min(), result=lambda v: v[0])


def axes():
    lines = [(1 << 14, 1 << 14), (1 << 22, 64), (64, 1 << 22), (1 << 18, 1 << 10), (1 << 10, 1 << 18)]
    for shape in [*lines, (512, 512, 1024)]:
        for axis in (0, 1) if len(shape) == 2 else (1,):
            case = f"gpu_sum_f32_{'x'.join(map(str, shape))}_axis{axis}"
            a, t = x.reshape(shape), tx.reshape(shape)
            want = torch.sum(t, axis, dtype=torch.float64)
            slow = 5 if shape[1] == 64 and axis == 0 else 15
            check(a.sum(axis=axis), want, case)
            row(case, "cupy.sum", "GB/s", 4e-9 * n, gpu_time(lambda: a.sum(axis=axis), slow))
            rate(case, "torch.sum", lambda: torch.sum(t, axis), want)


def dtypes():
    half, wide = tx.half().repeat(2), tx[: n // 2].double()
    small = (tx * 60 - 70).to(torch.int8).repeat(4)
    for tag, t, out in (("f16", half, torch.float32), ("i8", small, torch.int64), ("f64", wide, torch.float64)):
        want = torch.sum(t, dtype=torch.int64 if tag == "i8" else torch.float64)
        a, dtype = cp.asarray(t), {"f16": np.float32, "i8": np.int64, "f64": np.float64}[tag]
        rate(f"gpu_sum_{tag}", "torch.sum", lambda: torch.sum(t, dtype=out), want)
        rate(f"gpu_sum_{tag}", "cupy.sum", lambda: cp.sum(a, dtype=dtype), want)
        square = t.reshape(1 << 14, -1)
        for axis in (0, 1):
            rate(f"gpu_sum_{tag}_axis{axis}", "torch.sum", lambda: torch.sum(square, axis, dtype=out), torch.sum(square, axis, dtype=want.dtype))


def scans():
    last, want = (lambda v: v[-1]), total(x)
    rate("gpu_cumsum_f32", "cupy.cumsum", lambda: cp.cumsum(x, out=r), want, 8e-9 * n, last)
    rate("gpu_cumsum_f32", "torch.cumsum", lambda: torch.cumsum(tx, 0, out=tr), want, 8e-9 * n, last)
    square, result = tx.reshape(1 << 14, 1 << 14), tr.reshape(1 << 14, 1 << 14)
    for axis in (0, 1):
        want = torch.sum(square, axis, dtype=torch.float64)
        case = f"gpu_cumsum_f32_16384x16384_axis{axis}"
        rate(case, "torch.cumsum", lambda: torch.cumsum(square, axis, out=result), want, 8e-9 * n, lambda v: v.select(axis, -1))


def small():
    for count in (16, 65536):
        a, t = x[:count].copy(), tx[:count].clone()
        out, tout = cp.empty((), np.float32), torch.empty((), device="cuda")
        row(f"gpu_reduce_{count}", "cupy.sum", "host us/call", 0, host_time(lambda: cp.sum(a, out=out)))
        row(f"gpu_reduce_{count}", "torch.sum", "host us/call", 0, host_time(lambda: torch.sum(t, 0, out=tout)))
        check(out, total(a), "cupy.sum")
        check(tout, total(a), "torch.sum")


full()
axes()
dtypes()
scans()
small()
