"""peers.py - what the programs of the peers share: rows (case,system,metric,value,spread) and clocks."""
import time

import numpy as np


def row(case, system, metric, scale, samples):
    t = np.sort(samples)
    n = len(t)
    median = t[n // 2]
    value = scale / median if scale else 1e6 * median
    print(f"{case},{system},{metric},{value:.5g},{(t[3 * n // 4] - t[n // 4]) / median:.3f}", flush=True)


def timed(work, inner, repetitions=31):
    work()
    samples = []
    for _ in range(repetitions):
        t = time.perf_counter()
        for _ in range(inner):
            work()
        samples.append((time.perf_counter() - t) / inner)
    return samples


def gpu_time(work, repetitions=15):
    import cupy as cp

    for _ in range(3):
        work()
    samples = []
    for _ in range(repetitions):
        a, b = cp.cuda.Event(), cp.cuda.Event()
        a.record(cp.cuda.Stream.null)
        work()
        b.record(cp.cuda.Stream.null)
        b.synchronize()
        samples.append(cp.cuda.get_elapsed_time(a, b) * 1e-3)
    return samples


def host_time(work, calls=400, repetitions=9):
    import cupy as cp

    work()
    samples = []
    for _ in range(repetitions):
        cp.cuda.Device().synchronize()
        t = time.perf_counter()
        for _ in range(calls):
            work()
        samples.append((time.perf_counter() - t) / calls)
    return samples
