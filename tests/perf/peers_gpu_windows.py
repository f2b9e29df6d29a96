"""PyTorch on the convolution of rows of bench_windows.c."""
import statistics
import sys

try:
    import torch
except ImportError:
    sys.exit("no PyTorch: its row is left out")

side = 1 << 13
x = torch.rand(side, 1, side + 8, device="cuda")
w = torch.rand(1, 1, 9, device="cuda")
with torch.no_grad():
    times = []
    for run in range(-3, 31):
        begin, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        begin.record()
        torch.nn.functional.conv1d(x, w)
        end.record()
        end.synchronize()
        if run >= 0:
            times.append(begin.elapsed_time(end) * 1e-3)
quarter = statistics.quantiles(times)
print(f"gpu_rows9_f32,torch conv1d,GB/s,{8e-9 * side * side / quarter[1]:.5g},{(quarter[2] - quarter[0]) / quarter[1]:.3f}")
