"""peers_gpu.py - Numba, CuPy and PyTorch on the GPU, on the cases of bench.c. Rows: case,system,metric,value,spread."""
import os
import time
import warnings

warnings.filterwarnings("ignore")
import numpy as np

if not hasattr(np, "row_stack"):
    np.row_stack = np.vstack  # numba-cuda still names it
import cupy as cp
import torch
from numba import cuda, float32, float64, guvectorize, vectorize

from peers import gpu_time, host_time, row


def once(work):
    t = time.perf_counter()
    work()
    cp.cuda.Device().synchronize()
    return [time.perf_counter() - t]


n = 1 << 28
x, y = (cp.random.uniform(0.5, 2, n, dtype=np.float32) for _ in range(2))
r = cp.empty_like(x)
s, so = cp.ones(16, np.float32), cp.empty(16, np.float32)
nx, ny, nr, ns, nso = (cuda.as_cuda_array(v) for v in (x, y, r, s, so))
tx, ty, tr, ts, tso = (torch.as_tensor(v, device="cuda") for v in (x, y, r, s, so))
m = 1 << 14
column, line, square = x[:m].reshape(m, 1), y[:m].reshape(1, m), r.reshape(m, m)


def numba_rel():
    @vectorize([float32(float32, float32), float64(float64, float64)], target="cuda")
    def rel_diff(x, y):
        return 2 * (x - y) / (x + y)

    return rel_diff


nb = numba_rel()
row("gpu_first_call", "Numba vectorize (2 signatures)", "us to the first result", 0, once(lambda: nb(ns, ns, out=nso)))
ck = cp.ElementwiseKernel("T x, T y", "T z", "z = 2*(x-y)/(x+y)", "rel_%d" % os.getpid())
row("gpu_first_call", "CuPy ElementwiseKernel", "us to the first result", 0, once(lambda: ck(s, s, so)))
row("gpu_rel_diff_f32", "Numba vectorize", "GB/s", 12e-9 * n, gpu_time(lambda: nb(nx, ny, out=nr)))
row("gpu_rel_diff_f32", "CuPy ElementwiseKernel", "GB/s", 12e-9 * n, gpu_time(lambda: ck(x, y, r)))
jit = torch.cuda.jiterator._create_jit_fn("template <typename T> T rel(T x, T y) { return 2 * (x - y) / (x + y); }")
row("gpu_rel_diff_f32", "torch jiterator", "GB/s", 12e-9 * n, gpu_time(lambda: jit(tx, ty)))
row("gpu_outer_bcast_f32", "CuPy ElementwiseKernel", "GB/s", 4e-9 * m * m, gpu_time(lambda: ck(column, line, square)))
tc, tl, tq = (torch.as_tensor(v, device="cuda") for v in (column, line, square))
row("gpu_outer_bcast_f32", "torch.add", "GB/s", 4e-9 * m * m, gpu_time(lambda: torch.add(tc, tl, out=tq)))
row("gpu_bias_f32", "torch.add", "GB/s", 8e-9 * m * m, gpu_time(lambda: torch.add(tx.reshape(m, m), tl, out=tq)))
row("gpu_transposed_operand_f32", "torch.add", "GB/s", 12e-9 * m * m, gpu_time(lambda: torch.add(tx.reshape(m, m), ty.reshape(m, m).T, out=tq)))
row("gpu_call_16", "Numba vectorize", "host us/call", 0, host_time(lambda: nb(ns, ns, out=nso)))
row("gpu_call_16", "CuPy ElementwiseKernel", "host us/call", 0, host_time(lambda: ck(s, s, so)))
row("gpu_call_16", "torch.add", "host us/call", 0, host_time(lambda: torch.add(ts, ts, out=tso)))


@guvectorize(["void(float32[:,:], float32[:], float32[:])"], "(m,n),(n)->(m)", target="cuda")
def numba_matvec(a, v, out):
    for i in range(a.shape[0]):
        sum = float32(0)
        for j in range(a.shape[1]):
            sum += a[i, j] * v[j]
        out[i] = sum


def check(got, want, what):
    if not torch.allclose(got.double(), want.double(), rtol=1e-4):
        raise SystemExit(f"{what}: wrong result")


torch.backends.cuda.matmul.allow_tf32 = False
for size, count in ((8, 1 << 20), (32, 1 << 16), (256, 1 << 12)):
    case, moved = f"gpu_matvec_f32_{size}x{size}", 4e-9 * count * (size * size + 2 * size)
    a = tx[: count * size * size].reshape(count, size, size)
    v, out = (t[: count * size].reshape(count, size) for t in (ty, tr))
    column, result = v.unsqueeze(-1), out.unsqueeze(-1)
    torch.bmm(a, column, out=result)
    check(out[-8:], (a[-8:].double() * v[-8:].double().unsqueeze(1)).sum(2), "torch.bmm")
    row(case, "torch.bmm (cuBLAS)", "GB/s", moved, gpu_time(lambda: torch.bmm(a, column, out=result)))
    out.zero_()
    na, nv, no = (cuda.as_cuda_array(t) for t in (a, v, out))
    numba_matvec(na, nv, no)
    check(out[-8:], (a[-8:].double() * v[-8:].double().unsqueeze(1)).sum(2), "Numba matvec")
    row(case, "Numba guvectorize", "GB/s", moved, gpu_time(lambda: numba_matvec(na, nv, no), 5))
for size, count in ((16, 1 << 18), (32, 1 << 16)):
    a, b, c = (t[: count * size * size].reshape(count, size, size) for t in (tx, ty, tr))
    torch.bmm(a, b, out=c)
    check(c[-8:], a[-8:].double() @ b[-8:].double(), "torch.bmm")
    row(f"gpu_matmul_f32_{size}x{size}", "torch.bmm (cuBLAS)", "GB/s", 12e-9 * count * size * size, gpu_time(lambda: torch.bmm(a, b, out=c)))
for size, tag in ((64, "64"), (1024, "1024"), (1 << 20, "1M")):
    a, b = tx.reshape(-1, size), tr.reshape(-1, size)
    row(f"gpu_softmax_f32_{tag}", "torch.softmax", "GB/s", 8e-9 * n, gpu_time(lambda: torch.softmax(a, 1, out=b)))
    norms = tr[: n // size]
    row(f"gpu_norm_f32_{tag}", "torch.linalg.vector_norm", "GB/s", 4e-9 * n, gpu_time(lambda: torch.linalg.vector_norm(a, dim=1, out=norms)))
