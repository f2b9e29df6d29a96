"""simulated.py - random generalized ufuncs on a simulated GPU, through the whole library: the choice of a variant and the layout of a launch,
which other simulations draw, are the ones that a device would get. Against the CPU, on values that are exact in any order. Cores lie along
rows, along columns or anyhow; some operands have another core than the ranges of the kernel, whose elements are read checked; some
results take an operand's place. Device memory ends at a page that nobody may touch."""
import ctypes as c
import os
import sys

build = os.environ.get("BUILD", "build")
simulated = os.path.abspath(os.path.join(build, "test", "libsimcuda.so"))
# There is no libdevice, so any file will do.
os.environ.update(UFUNC_CUDA_DRIVER=simulated, UFUNC_NVVM=simulated, UFUNC_LIBDEVICE=simulated, MOCK_DEVICES="1", MOCK_COOPERATIVE="0")

import numpy as np

from uf import GPU, DLTensor, Failure, Func, Memory, Options, lib, run

ROUNDS = int(60 * float(os.environ.get("PROP_N", "1")))
NAMES = {"f4": "float32", "f8": "float64", "i1": "int8", "u1": "uint8", "i2": "int16", "i4": "int32", "?": "bool", "c16": "complex128"}
FAMILIES = [["i1", "u1", "i2", "i4"], ["f4", "f8"], ["i1", "u1", "?", "f4", "f8"], ["c16"]]
HEIGHTS = [1, 2, 7, 33, 48, 64, 97, 128, 257, 300, 520, 1025, 2100]


def on_gpu(f, *arrays):
    """A call on copies whose strides are those of the arrays."""
    with Memory(GPU) as memory:
        tensors = (DLTensor * len(arrays))(*map(memory.tensor, arrays))
        if lib.uf_call(f.f, len(arrays), tensors, Options(size=c.sizeof(Options))):
            raise Failure()


def array(rng, t, shape, ncore, way):
    """Memory, and an array in it: its last dimensions are those of the core."""
    order = list(range(len(shape)))
    if way == "columns":
        order = order[len(shape) - ncore:] + order[:len(shape) - ncore]
    elif way == "anyhow":
        order = list(rng.permutation(len(shape)))
    extents = [shape[d] + int(rng.random() < .1) for d in order]
    first, count = int(rng.integers(0, 9)) * int(rng.random() < .3), int(np.prod(extents))
    memory = rng.integers(0 if t in ("u1", "?") else -3, 2 if t == "?" else 5, first + count + 4).astype(t)
    a = memory[first:first + count].reshape(extents)[tuple(slice(0, shape[d]) for d in order)]
    a = a.transpose(np.argsort(order))
    return memory, a[::-1] if rng.random() < .1 else a


class Case:
    def __init__(self, rng):
        self.rng = rng
        self.n = int(rng.choice(HEIGHTS)) if rng.random() < .7 else int(rng.integers(33, 600))
        self.m = int(rng.choice([self.n, self.n + 1, max(1, self.n - 1), 7, 2 * self.n]))
        self.calls = int(rng.choice([2, 7, 32, 64, 96, 130]))
        while self.calls > 2 and self.calls * self.n > 40000:
            self.calls //= 2
        types = FAMILIES[int(rng.choice(4, p=[.4, .4, .1, .1]))]
        one = str(rng.choice(types))
        pick = lambda: one if rng.random() < .6 else str(rng.choice(types))
        cores = [str(rng.choice(["n", "m", ""], p=[.6, .3, .1])) for _ in range(int(rng.integers(0, 3)))]
        cores.insert(int(rng.integers(0, len(cores) + 1)), "n")
        self.inputs = [(core, pick()) for core in cores]
        self.outputs = [(str(rng.choice(["n", "n", ""])), pick()) for _ in range(int(rng.integers(1, 3)))]
        self.ordered = types[-1] != "c16"

    def element(self, at="i"):
        k = int(self.rng.integers(len(self.inputs)))
        return f"x{k}[{at}]" if self.inputs[k][0] else f"x{k}"

    def source(self):
        rng, lines, values = self.rng, [], []
        for r in range(int(rng.integers(1, 4))):
            a, b = self.element(str(rng.choice(["i", "i", "i", "n - 1 - i"]))), self.element()
            term = str(rng.choice([a, f"{a} * {b}", f"{a} + {b}"]))
            if values and self.ordered and rng.random() < .4:
                v = rng.choice(values)
                term += f" - ({v} < -3 || {v} > 3 ? 3 : {v})"  # sums stay small enough to be exact in float32
            operator = str(rng.choice(["sum", "sum", "max", "min", "reduce"] if self.ordered else ["sum", "reduce"]))
            lines.append(f"auto r{r} = " + (f"reduce(both, i : n, {term});" if operator == "reduce" else f"{operator}(i : n, {term});"))
            values.append(f"r{r}")
        for o, (core, t) in enumerate(self.outputs):
            value = f"({NAMES[t]})({self.element()} * 2 - {rng.choice(values)})" if core else f"({NAMES[t]}){rng.choice(values)}"
            lines.append(f"forall (i : n) y{o}[{rng.choice(['i', 'i', 'n - 1 - i'])}] = {value};" if core else f"y{o} = {value};")
        x, y = (", ".join(f"{q}{k}" for k in range(len(z))) for q, z in (("x", self.inputs), ("y", self.outputs)))
        return f"both(a, b) {{ return a + b; }} ({x}) -> ({y}) {{ {' '.join(lines)} }}"

    def arrays(self, rng, operands, way):
        extents = {"n": [self.n], "m": [self.m], "": []}
        return [array(rng, t, [self.calls] + extents[core], len(core), way) for core, t in operands]

    def check(self):
        rng, source = self.rng, self.source()
        layout, types = ("->".join(",".join(part(x) for x in z) for z in (self.inputs, self.outputs))
                         for part in (lambda x: f"({x[0]})", lambda x: NAMES[x[1]]))
        f, way = Func(source, types, layout), str(rng.choice(["rows", "columns", "columns", "anyhow"]))
        inputs, outputs = self.arrays(rng, self.inputs, way), self.arrays(rng, self.outputs, way)
        for o, operand in enumerate(self.outputs):
            if operand in self.inputs and rng.random() < .2 and self.outputs.count(operand) == 1:
                outputs[o] = inputs[self.inputs.index(operand)]
        memories = [x[0] for x in inputs + outputs]
        before, results = [x.copy() for x in memories], []
        for call in (Func.__call__, on_gpu):
            for x, was in zip(memories, before):
                x[...] = was
            call(f, *[x[1] for x in inputs + outputs])
            results.append([x.copy() for x in memories])
        assert all(np.array_equal(x, y, equal_nan=x.dtype.kind in "fc") for x, y in zip(*results)), \
            (source, types, layout, way, self.n, self.m, self.calls)


def random_kernels(rng):
    for _ in range(ROUNDS):
        Case(rng).check()


def columns_of_two_heights(rng):
    """An element beyond the shorter ones is 0."""
    f = Func("(y, x) -> (z) { auto s = sum(i : n, x[i] + y[i]); auto t = max(i : n, x[i] * y[i]); forall (i : n) z[i] = x[i] + y[i] - s * t; }",
             "float32,float32->float32", "(m),(n)->(n)")
    for n, m in ((64, 70), (64, 63), (64, 7), (300, 7)):
        x, y, z = (rng.integers(-3, 4, (k, 96)).astype("f4") for k in (n, m, n))
        on_gpu(f, y.T, x.T, z.T)
        all_y = np.zeros_like(x)
        all_y[:m] = y[:n]
        assert np.array_equal(z, x + all_y - (x + all_y).sum(0) * (x * all_y).max(0)), (n, m)


def many_constructs(rng):
    """More of them than the traits tell of, of which the last is the one that is not like the others: no call beyond the last may store."""
    sums = " ".join(f"auto s{k} = sum(i : n, x[i] * {k + 1});" for k in range(8))
    f = Func("(x) -> (y) { %s forall (i : n) y[i] += s0 + s7 + sum(j : n, x[j] > x[i]); }" % sums, "int32->int32", "(n)->(n)")
    for calls in (32, 39, 97):
        x, y = rng.integers(0, 9, (48, calls)).astype("i4"), np.full((48, calls), 100, "i4")
        on_gpu(f, x.T, y.T)
        assert np.array_equal(y, 100 + 9 * x.sum(0) + (x[None] > x[:, None]).sum(1)), calls


def reductions_in_indices(rng):
    """One lane of a row stores, and all of them find where to, in whichever branch the reduction stands."""
    f = Func("(x, still) -> (y) { forall (i : n) y[still ? i : sum(j : n, x[j] > x[i] || (x[j] == x[i] && j < i))] = x[i]; }",
             "int32,bool->int32", "(n),()->(n)")
    for n in (3, 17, 33, 40):
        x = rng.integers(0, 9, (4, n)).astype("i4")
        still, y = np.arange(4) % 2 == 1, np.zeros_like(x)
        on_gpu(f, x, still, y)
        assert np.array_equal(y, np.where(still[:, None], x, -np.sort(-x))), n


if __name__ == "__main__":
    if "asan" in os.environ.get("LD_PRELOAD", ""):
        print("the address sanitizer does not follow the threads of a simulated GPU through Python")
        sys.exit(77)
    sys.exit(run([random_kernels, columns_of_two_heights, many_constructs, reductions_in_indices]))
