"""peers_gpu_tile.py - PyTorch on the GPU, on the cases of bench_tile.c. Results are checked before they are timed."""
import torch

from peers import gpu_time, row

CASES = [  # name, dtype, shape of the output, the orders in which the inputs' dimensions lie in memory
    ("copy_f32", torch.float32, (16384, 16384), ("01",)),
    ("sum_bT_f32", torch.float32, (16384, 16384), ("01", "10")),
    ("sum_aT_bT_f32", torch.float32, (16384, 16384), ("10", "10")),
    ("T_f32", torch.float32, (16384, 16384), ("10",)),
    ("T_f32_odd", torch.float32, (16383, 16381), ("10",)),
    ("T_u8", torch.uint8, (32768, 32768), ("10",)),
    ("T_f16", torch.float16, (16384, 32768), ("10",)),
    ("T_f64", torch.float64, (16384, 8192), ("10",)),
    ("T_c128", torch.complex128, (8192, 8192), ("10",)),
    ("021_f32", torch.float32, (64, 2048, 2048), ("021",)),
    ("210_f32", torch.float32, (512, 768, 640), ("210",)),
    ("021_f32_32", torch.float32, (262144, 32, 32), ("021",)),
    ("nchw64_f32", torch.float32, (64, 64, 256, 256), ("0231",)),
    ("nhwc64_f32", torch.float32, (64, 256, 256, 64), ("0312",)),
    ("nchw3_f32", torch.float32, (128, 3, 1024, 512), ("0231",)),
    ("nhwc3_f32", torch.float32, (128, 1024, 512, 3), ("0312",)),
    ("nchw4_f32", torch.float32, (128, 4, 1024, 512), ("0231",)),
    ("nchw3_u8", torch.uint8, (256, 3, 1024, 1024), ("0231",)),
    ("nhwc3_u8", torch.uint8, (256, 1024, 1024, 3), ("0312",)),
]


def view(shape, order, dtype):
    order = [int(d) for d in order]
    block = torch.randint(0, 64, [shape[d] for d in order], device="cuda", dtype=torch.uint8).to(dtype)
    return block.permute([order.index(d) for d in range(len(shape))])


for name, dtype, shape, orders in CASES:
    inputs, r = [view(shape, order, dtype) for order in orders], torch.empty(shape, dtype=dtype, device="cuda")
    work = (lambda: torch.add(*inputs, out=r)) if len(inputs) == 2 else (lambda: r.copy_(inputs[0]))
    work()
    last = tuple(n - 1 for n in shape)
    assert r[last] == sum(x[last] for x in inputs), name
    row(f"gpu_tile_{name}", "PyTorch", "GB/s", 1e-9 * (len(inputs) + 1) * r.numel() * r.element_size(), gpu_time(work, 9))
