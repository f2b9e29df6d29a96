"""PyTorch's softmax and layer_norm along the axes and sizes of bench_lines.c: rows of the benchmark, useful bytes (one read, one write)."""

import torch

ELEMENTS = 1 << 27
RUNS = 7
ROWS = (256, 1024, 4096, 5000, 16384, 32768, 50257)
COLUMNS = (64, 256, 1024, 4096, 16384)


def times(work):
    start, end = torch.cuda.Event(enable_timing=True), torch.cuda.Event(enable_timing=True)
    out = []
    for k in range(-2, RUNS):
        start.record()
        work()
        end.record()
        end.synchronize()
        if k >= 0:
            out.append(1e-3 * start.elapsed_time(end))
    return sorted(out)


def row(case, name, size, work):
    t = times(work)
    spread = (t[3 * RUNS // 4] - t[RUNS // 4]) / t[RUNS // 2]
    print(f"{case},{name},GB/s,{2e-9 * size / t[RUNS // 2]:.5g},{spread:.3f}", flush=True)


for dtype, tag in ((torch.float32, "f32"), (torch.bfloat16, "bf16")):
    data = torch.rand(ELEMENTS, device="cuda").to(dtype)
    result = torch.empty_like(data)
    for n in ROWS:
        count = ELEMENTS // n
        x, y = data[: n * count].view(count, n), result[: n * count].view(count, n)
        weight = torch.full((n,), 2, device="cuda", dtype=dtype)
        size = x.numel() * x.element_size()
        row(f"gpu_softmax_{tag}_rows_{n}", "torch.softmax", size, lambda: torch.softmax(x, 1, out=y))
        row(
            f"gpu_layer_norm_{tag}_rows_{n}",
            "torch.layer_norm",
            size,
            lambda: torch.nn.functional.layer_norm(x, (n,), weight, weight),
        )
    for n in COLUMNS:
        count = ELEMENTS // n
        x, y = data[: n * count].view(n, count), result[: n * count].view(n, count)
        size = x.numel() * x.element_size()
        row(f"gpu_softmax_{tag}_columns_{n}", "torch.softmax", size, lambda: torch.softmax(x, 0, out=y))
