"""peers_gpu_forall.py - Numba, CuPy and PyTorch on the GPU, on the cases of bench_forall.c. Results are checked before they are timed."""
import math
import sys
import warnings

warnings.filterwarnings("ignore")
import numpy as np

if not hasattr(np, "row_stack"):
    np.row_stack = np.vstack  # numba-cuda still names it
import cupy as cp
import torch
from numba import cuda, float32, int32
from numba.cuda.random import create_xoroshiro128p_states, xoroshiro128p_uniform_float32

from peers import gpu_time, host_time, row

n, side = 1 << 28, 1 << 14


@cuda.jit
def gpu_round(x, r, decimals):
    i = cuda.grid(1)
    if i < x.size:
        f = float32(1)
        for _ in range(decimals):
            f *= float32(10)
        r[i] = float32(math.floor(x[i] * f + float32(0.5))) / f


@cuda.jit
def heat(u, v, k):
    j, i = cuda.grid(2)
    rows, columns = u.shape
    if 0 < i < rows - 1 and 0 < j < columns - 1:
        v[i, j] = u[i, j] + k * (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1] - float32(4) * u[i, j])


@cuda.jit
def count(b, h):
    i = cuda.grid(1)
    if i < b.size:
        cuda.atomic.add(h, b[i], 1)


@cuda.jit
def count_shared(b, h):
    own = cuda.shared.array(256, int32)
    for k in range(cuda.threadIdx.x, 256, cuda.blockDim.x):
        own[k] = 0
    cuda.syncthreads()
    for i in range(cuda.grid(1), b.size, cuda.gridsize(1)):
        cuda.atomic.add(own, b[i], 1)
    cuda.syncthreads()
    for k in range(cuda.threadIdx.x, 256, cuda.blockDim.x):
        cuda.atomic.add(h, k, own[k])


@cuda.jit
def fill(states, r):
    first = cuda.grid(1)
    for i in range(first, r.size, cuda.gridsize(1)):
        r[i] = xoroshiro128p_uniform_float32(states, first)


@cuda.jit
def nbody(p, v, q, dt):
    i = cuda.grid(1)
    if i < p.shape[0]:
        x, y, z = p[i, 0], p[i, 1], p[i, 2]
        ax = ay = az = float32(0)
        for j in range(p.shape[0]):
            dx, dy, dz = p[j, 0] - x, p[j, 1] - y, p[j, 2] - z
            d = dx * dx + dy * dy + dz * dz + float32(1e-4)
            w = p[j, 3] / (d * math.sqrt(d))
            ax += w * dx
            ay += w * dy
            az += w * dz
        v[i, 0] += dt * ax
        v[i, 1] += dt * ay
        v[i, 2] += dt * az
        q[i, 0] = x + dt * v[i, 0]
        q[i, 1] = y + dt * v[i, 1]
        q[i, 2] = z + dt * v[i, 2]
        q[i, 3] = p[i, 3]


@cuda.jit
def life(a, b):
    j, i = cuda.grid(2)
    rows, columns = a.shape
    if 0 < i < rows - 1 and 0 < j < columns - 1:
        c = a[i - 1, j - 1] + a[i - 1, j] + a[i - 1, j + 1] + a[i, j - 1] + a[i, j + 1] + a[i + 1, j - 1] + a[i + 1, j] + a[i + 1, j + 1]
        b[i, j] = c == 3 or (c == 2 and a[i, j] != 0)


@cuda.jit
def add(x, y, r):
    i = cuda.grid(1)
    if i < r.size:
        r[i] = x[i] + y[i]


raw_heat = cp.RawKernel(
    """extern "C" __global__ void heat(const float *u, float *v, int n, int m, float k) {
    int j = blockIdx.x * blockDim.x + threadIdx.x, i = blockIdx.y * blockDim.y + threadIdx.y;
    if (i < 1 || j < 1 || i >= n - 1 || j >= m - 1)
        return;
    size_t c = (size_t)i * m + j;
    v[c] = u[c] + k * (u[c - m] + u[c + m] + u[c - 1] + u[c + 1] - 4 * u[c]);
}""",
    "heat",
)


def check(got, want, what, tolerance=1e-4, least=0.0):
    got, want = (cp.asarray(v).astype(np.float64) for v in (got, want))
    if not bool(cp.all(cp.abs(got - want) <= tolerance * cp.abs(want) + least)):
        raise SystemExit(f"{what}: wrong result")


def rate(case, system, gigabytes, work, right, repetitions=15):
    """Times work() if what it leaves is right."""
    work()
    right(f"{case}, {system}")
    row(case, system, "GB/s", gigabytes, gpu_time(work, repetitions))


def numba(a):
    return cuda.as_cuda_array(a)


def lines():
    x, y = (cp.random.uniform(0.5, 2, n, dtype=np.float32) for _ in range(2))
    r = cp.zeros_like(x)
    part = slice(n // 3, n // 3 + 1000)

    def rounded(what):
        check(r[part], x[part], what, 0, 5.1e-4)
        check(r[part] * 1000, cp.rint(r[part] * 1000), what, 1e-5)

    forall = gpu_round.forall(n)
    args = numba(x), numba(r), 3
    rate("gpu_round_f32", "Numba forall", 8e-9 * n, lambda: forall(*args), rounded)
    rate("gpu_round_f32", "Numba cuda.jit", 8e-9 * n, lambda: gpu_round[n // 256, 256](*args), rounded)
    ck = cp.ElementwiseKernel("float32 x, int32 d", "float32 r", "r = rintf(x * f) / f", "rounded", loop_prep="float f = 1; for (int k = 0; k < d; k++) f *= 10;")
    rate("gpu_round_f32", "CuPy ElementwiseKernel", 8e-9 * n, lambda: ck(x, 3, r), rounded)
    tx, ty, tr = (torch.as_tensor(v, device="cuda") for v in (x, y, r))
    rate("gpu_round_f32", "torch.round", 8e-9 * n, lambda: torch.round(tx, decimals=3, out=tr), rounded)

    def saxpy(what):
        check(r[part], 1.5 * x[part].astype(np.float64) + y[part], what)

    ck2 = cp.ElementwiseKernel("float32 a, float32 x, float32 y", "float32 r", "r = a * x + y", "saxpy")
    rate("gpu_saxpy_f32", "CuPy ElementwiseKernel", 12e-9 * n, lambda: ck2(np.float32(1.5), x, y, r), saxpy)
    rate("gpu_saxpy_f32", "torch.add", 12e-9 * n, lambda: torch.add(ty, tx, alpha=1.5, out=tr), saxpy)
    place = cp.random.randint(0, 1 << 20, n, dtype=np.int32)
    tplace = torch.as_tensor(place, device="cuda")

    def gathered(what):
        check(r[part], x[place[part]], what)

    rate("gpu_gather_f32", "cupy.take", 8e-9 * n, lambda: cp.take(x, place, out=r), gathered)
    rate("gpu_gather_f32", "torch.index_select", 8e-9 * n, lambda: torch.index_select(tx, 0, tplace, out=tr), gathered)


def planes():
    u = cp.random.uniform(0.5, 2, (side, side), dtype=np.float32)
    v, k = cp.zeros_like(u), np.float32(0.125)
    nu, nv = numba(u), numba(v)
    blocks = (side // 32, side // 8)

    def diffused(what):
        for i in (1, side // 3, side - 2):
            w = u[i - 1 : i + 2].astype(np.float64)
            want = w[1, 1:-1] + 0.125 * (w[0, 1:-1] + w[2, 1:-1] + w[1, :-2] + w[1, 2:] - 4 * w[1, 1:-1])
            check(v[i, 1:-1], want, what)

    rate("gpu_heat_f32", "Numba cuda.jit", 8e-9 * n, lambda: heat[blocks, (32, 8)](nu, nv, k), diffused)
    args = u, v, np.int32(side), np.int32(side), k
    rate("gpu_heat_f32", "CuPy RawKernel", 8e-9 * n, lambda: raw_heat(blocks, (32, 8), args), diffused)
    tu, tv = (torch.as_tensor(a, device="cuda") for a in (u, v))

    def turned(what):
        check(v[5], u[:, 5], what)

    rate("gpu_transpose_f32", "torch.copy_", 8e-9 * n, lambda: tv.copy_(tu.T), turned)
    a = cp.random.randint(0, 2, (side, side), dtype=np.uint8)
    b = cp.zeros_like(a)
    na, nb = numba(a), numba(b)

    def lived(what):
        for i in (1, side // 3, side - 2):
            w = a[i - 1 : i + 2].astype(np.int32)
            s = w.sum(0)
            c = s[:-2] + s[1:-1] + s[2:] - w[1, 1:-1]
            check(b[i, 1:-1], (c == 3) | ((c == 2) & (w[1, 1:-1] == 1)), what)

    rate("gpu_life_u8", "Numba cuda.jit", 2e-9 * n, lambda: life[blocks, (32, 8)](na, nb), lived)


def histograms():
    b = cp.random.randint(0, 256, n, dtype=np.uint8)
    want = cp.asarray(np.bincount(cp.asnumpy(b), minlength=256))
    nb = numba(b)
    for dtype, case in ((np.int32, "gpu_histogram_i32"), (np.int64, "gpu_histogram_i64")):
        h = cp.zeros(256, dtype)
        nh = numba(h)

        def by(kernel):
            def work():
                h.fill(0)
                kernel()

            return work

        def counted(what):
            check(h, want, what, 0)

        forall = count.forall(n)
        rate(case, "Numba cuda.jit shared", 1e-9 * n, by(lambda: count_shared[132 * 8, 256](nb, nh)), counted)
        rate(case, "Numba forall", 1e-9 * n, by(lambda: forall(nb, nh)), counted, 3)
    t = torch.as_tensor(b, device="cuda").to(torch.int32)
    check(torch.bincount(t, minlength=256), want, "torch.bincount", 0)
    row("gpu_histogram_i64", "torch.bincount (int32)", "GB/s", 1e-9 * n, gpu_time(lambda: torch.bincount(t, minlength=256), 5))


def randoms():
    r = cp.zeros(n, np.float32)
    tr = torch.as_tensor(r, device="cuda")

    def uniform(what):
        check(r.mean(dtype=np.float64), 1 / 2, what)
        check((r[: n // 4].astype(np.float64) ** 2).mean(), 1 / 3, what, 1e-3)

    threads = 132 * 2048
    states, nr = create_xoroshiro128p_states(threads, seed=1), numba(r)
    rate("gpu_uniform_f32", "Numba xoroshiro128p", 4e-9 * n, lambda: fill[threads // 256, 256](states, nr), uniform)
    rate("gpu_uniform_f32", "torch.uniform_ (Philox)", 4e-9 * n, lambda: tr.uniform_(), uniform)
    rng = cp.random.Generator(cp.random.Philox4x3210(1))
    rate("gpu_uniform_f32", "cupy Philox4x3210", 4e-9 * n, lambda: rng.random(n, dtype=np.float32, out=r), uniform)
    from cupy_backends.cuda.libs import curand

    g = curand.createGenerator(curand.CURAND_RNG_PSEUDO_PHILOX4_32_10)
    curand.setPseudoRandomGeneratorSeed(g, 1)
    rate("gpu_uniform_f32", "cuRAND host API (CuPy)", 4e-9 * n, lambda: curand.generateUniform(g, r.data.ptr, n), uniform)


def bodies():
    m = 1 << 14
    p = cp.random.uniform(0.5, 2, (m, 4), dtype=np.float32)
    v, q = cp.zeros_like(p), cp.zeros_like(p)
    np_, nv, nq, dt = numba(p), numba(v), numba(q), np.float32(0.5)
    nbody[m // 128, 128](np_, nv, nq, dt)
    d = (p[:, :3] - p[m // 3, :3]).astype(np.float64)
    w = p[:, 3] / ((d**2).sum(1) + 1e-4) ** 1.5
    check(v[m // 3, :3], 0.5 * (w[:, None] * d).sum(0), "Numba nbody", 1e-3, 1e-2)
    row("gpu_nbody_f32", "Numba cuda.jit", "Gpair/s", 1e-9 * m * m, gpu_time(lambda: nbody[m // 128, 128](np_, nv, nq, dt)))


def small():
    x, y, r = (cp.ones(16, np.float32) for _ in range(3))
    args, forall = [numba(a) for a in (x, y, r)], add.forall(16)
    ck = cp.ElementwiseKernel("float32 x, float32 y", "float32 r", "r = x + y", "small_add")
    for system, work in (("Numba forall", lambda: forall(*args)), ("Numba cuda.jit", lambda: add[1, 32](*args)), ("CuPy ElementwiseKernel", lambda: ck(x, y, r))):
        r.fill(0)
        work()
        check(r, x + y, system)
        row("gpu_forall_16", system, "host us/call", 0, host_time(work))


if __name__ == "__main__":
    failed = 0
    for part in (lines, planes, histograms, randoms, bodies, small):
        try:
            part()
        except (Exception, SystemExit) as e:
            print(f"peers_gpu_forall, {part.__name__}: {e}", file=sys.stderr)
            failed = 1
        cp.get_default_memory_pool().free_all_blocks()
    sys.exit(failed)
