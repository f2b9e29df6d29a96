"""simulated.py - random calls on a simulated GPU, through the whole library: the choice of a variant and the layout of a launch, which other
simulations draw, are the ones that a device would get. Against the CPU, on values that are exact in any order. Cores lie along rows, along
columns or anyhow; some operands have another core than the ranges of the kernel, whose elements are read checked; some results take an
operand's place. Device memory ends at a page that nobody may touch. PROP_N=n draws n times as many."""
import ctypes as c
import os
import sys

build = os.environ.get("BUILD", "build")
simulated = os.path.abspath(os.path.join(build, "test", "libsimcuda.so"))
# There is no libdevice, so any file will do.
os.environ.update(UFUNC_CUDA_DRIVER=simulated, UFUNC_NVVM=simulated, UFUNC_LIBDEVICE=simulated, MOCK_DEVICES="1")

import numpy as np

import construct_texts
from uf import DTYPES, GPU, DLTensor, Failure, Func, Memory, Options, STRONG_NUMBERS, lib, random_shape, random_source, random_view, run

ROUNDS = float(os.environ.get("PROP_N", "1"))
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

    def arrays(self, rng, operands, way, shared):
        """shared: the chance of an operand that is the same for all calls."""
        extents = {"n": [self.n], "m": [self.m], "": []}
        return [array(rng, t, [1 if rng.random() < shared else self.calls] + extents[core], len(core), way) for core, t in operands]

    def check(self):
        rng, source = self.rng, self.source()
        layout, types = ("->".join(",".join(part(x) for x in z) for z in (self.inputs, self.outputs))
                         for part in (lambda x: f"({x[0]})", lambda x: NAMES[x[1]]))
        f, way = Func(source, types, layout), str(rng.choice(["rows", "columns", "columns", "anyhow"]))
        inputs, outputs = self.arrays(rng, self.inputs, way, .2), self.arrays(rng, self.outputs, way, 0)
        for o, operand in enumerate(self.outputs):
            if operand in self.inputs and rng.random() < .2 and self.outputs.count(operand) == 1 and \
                    inputs[self.inputs.index(operand)][1].shape == outputs[o][1].shape:
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
    for _ in range(int(16 * ROUNDS)):
        Case(rng).check()


# ---- Kernels whose constructs stand anywhere ----


def agree(call, memories, what):
    """call(device) leaves the same in the memories on the CPU and on the GPU."""
    before, results = [x.copy() for x in memories], []
    for device in (None, GPU):
        for x, was in zip(memories, before):
            x[...] = was
        call(device)
        results.append([x.copy() for x in memories])
    for x, y in zip(*results):
        assert np.array_equal(x, y, equal_nan=x.dtype.kind in "fc"), (*what, x[x != y][:5], y[x != y][:5])


def check_cores(rng, kernel, calls):
    """The first call has the largest sizes, and another one any."""
    f = Func(kernel.source, kernel.signature, kernel.layout)
    for sizes in (kernel.sizes, {d: int(rng.integers(0, n + 1)) for d, n in kernel.sizes.items()}):
        most = max(1, int(np.prod([max(1, n) for n in sizes.values()])))
        n, way = max(1, min(calls, 12000 // most)), str(rng.choice(["rows", "rows", "columns", "anyhow"]))
        pairs = [array(rng, np.dtype(o.type), [n] + [sizes[d] for d in o.core], len(o.core), way) for o in kernel.operands]
        arrays = [a[:1] if not o.output and rng.random() < .1 else a for o, (_, a) in zip(kernel.operands, pairs)]
        agree(lambda device: (on_gpu if device else Func.__call__)(f, *arrays), [m for m, _ in pairs], (str(kernel), sizes, n, way))


def check_points(rng, kernel):
    f = Func.kernel(kernel.signature, kernel.source)
    for sizes in (kernel.sizes, {d: int(rng.integers(0, n + 1)) if d in kernel.space else n for d, n in kernel.sizes.items()}):
        pairs = []
        for o in kernel.operands:
            shape, t = [max(0, sizes[d] + int(rng.choice([0, 0, 0, 0, 1, -1]))) for d in o.core], np.dtype(o.type)
            if o.pointer:
                a = (np.cumsum(rng.integers(0, 9, shape[0] + 1)) - 2).astype(t)
                pairs.append((a, a))
            else:
                pairs.append(array(rng, t, shape, len(o.core), str(rng.choice(["rows", "rows", "anyhow"]))) if o.core else
                             (np.zeros(1, t), np.array(int(rng.integers(0, 4))).astype(t)))
        agree(lambda device: f.forall([sizes[d] for d in kernel.space], *[a for _, a in pairs], device=device), [m for m, _ in pairs],
              (str(kernel), sizes))


def constructs_over_cores(rng):
    for _ in range(int(4 * ROUNDS)):
        check_cores(rng, construct_texts.matrices(rng), int(rng.choice([1, 2, 7, 32, 64, 130])))


def constructs_over_rows(rng):
    for _ in range(int(5 * ROUNDS)):
        check_cores(rng, construct_texts.rows(rng), int(rng.choice([1, 2, 7, 32, 64, 130])))


def constructs_over_grids(rng):
    """Rows so long that several blocks take one."""
    for _ in range(int(ROUNDS)):
        check_cores(rng, construct_texts.rows(rng, (262144, 263000, 270001)), 1)


def products(rng):
    for _ in range(int(3 * ROUNDS)):
        check_cores(rng, construct_texts.products(rng), int(rng.choice([1, 2, 7])))


def points(rng):
    for _ in range(int(7 * ROUNDS)):
        check_points(rng, construct_texts.points(rng))


def pairs_of_points(rng):
    for _ in range(int(2 * ROUNDS)):
        check_points(rng, construct_texts.pairs(rng))


# ---- The other verbs ----


def base(a):
    while isinstance(a.base, np.ndarray):
        a = a.base
    return a


def small(rng, shape, t):
    """A view of random strides, of small numbers."""
    a = random_view(rng, shape, t)
    base(a)[...] = rng.integers(0, 2 if t.kind == "b" else 5, base(a).shape) - (2 if t.kind in "ifc" else 0)
    return a


def of_function(rng, call, arrays, what):
    agree(call, [base(a) for a in arrays], (what, [(a.dtype.name, a.shape, a.strides) for a in arrays]))


def elementwise(rng):
    forms = [("(x, y) { return 2 * x - y; }", 2, 1), ("(x, y, z) { return x > y ? z : x * y; }", 3, 1), ("(x) { return x * x; }", 1, 1),
             ("(x, y) -> (p, q) { p = x + y; q = x - y; if (p == 2) q = 7; }", 2, 2)]
    for _ in range(int(10 * ROUNDS)):
        source, nin, nout = forms[int(rng.integers(len(forms)))]
        types = [DTYPES[k] for k in rng.integers(0, 12, nin + nout)] if rng.random() < .5 else [DTYPES[int(rng.integers(12))]] * (nin + nout)
        shape = random_shape(rng, 3000)
        arrays = [small(rng, random_source(rng, shape) if k < nin else shape, t) for k, t in enumerate(types)]
        if nout == 1 and types[0] == types[-1] and arrays[0].shape == shape and rng.random() < .2:
            arrays[-1] = arrays[0]
        where = small(rng, random_source(rng, shape), np.dtype("?")) if rng.random() < .3 else None
        f = Func(source, "->".join(",".join(t.name for t in part) for part in (types[:nin], types[nin:])))

        def call(device):
            if not device:
                f(*arrays, where=where, flags=STRONG_NUMBERS)
                return
            with Memory(device) as memory:
                f.run(lib.uf_call, memory, arrays, f.options(memory, where, flags=STRONG_NUMBERS))
        of_function(rng, call, arrays, source)


def reductions(rng):
    for _ in range(int(10 * ROUNDS)):
        f = Func.load(str(rng.choice(["sum", "max", "argmax", "argmin", "any", "all", "count_nonzero", "min"])))
        x = small(rng, random_shape(rng, 6000), DTYPES[int(rng.integers(12))])
        axes = None if rng.random() < .3 else [int(d) for d in rng.permutation(x.ndim)[:int(rng.integers(0, x.ndim + 1))]]
        options = {"axes": axes, "keepdims": bool(rng.random() < .3)}
        try:
            [(t, shape)] = f.reduce_infer(x, **options)
            out = small(rng, shape, t)
            f.reduce(x, out, **options)
        except Failure:
            continue  # some reduce no empty arrays
        of_function(rng, lambda device: f.reduce(x, out, device=device, **options), [x, out], options)


def lines(rng):
    """Accumulations, segments and outer products."""
    for _ in range(int(4 * ROUNDS)):
        f, x = Func.load(str(rng.choice(["add", "maximum", "multiply"]))), small(rng, random_shape(rng, 5000) or (7,), DTYPES[int(rng.integers(1, 12))])
        axis = int(rng.integers(x.ndim))
        out = small(rng, x.shape, f.accumulate_infer(x, axis=axis)[0][0])
        of_function(rng, lambda device: f.accumulate(x, out, axis=axis, device=device), [x, out], axis)
        if x.shape[axis]:
            starts = rng.integers(0, x.shape[axis], int(rng.integers(1, 9)))
            parts = small(rng, x.shape[:axis] + starts.shape + x.shape[axis + 1:], out.dtype)
            of_function(rng, lambda device: f.reduceat(x, parts, starts=starts, axis=axis, device=device), [x, parts], (axis, starts))
        y, z = (small(rng, tuple(int(n) for n in rng.integers(1, 40, int(rng.integers(1, 3)))), x.dtype) for _ in range(2))
        table = small(rng, y.shape + z.shape, x.dtype)
        of_function(rng, lambda device: f.outer(y, z, table, device=device), [y, z, table], "outer")


def updates(rng):
    for _ in range(int(6 * ROUNDS)):
        f, t = Func.load(str(rng.choice(["add", "maximum"]))), np.dtype(str(rng.choice(["i4", "i8", "f4", "f8", "i2", "u1"])))
        target = small(rng, (int(rng.integers(1, 60)),) + ((int(rng.integers(1, 9)),) if rng.random() < .4 else ()), t)
        index = rng.integers(-target.shape[0], target.shape[0], int(rng.choice([1, 33, 300])))
        operand = small(rng, index.shape + target.shape[1:], t)
        of_function(rng, lambda device: f.at(target, [index], operand, device=device), [target, operand], index.size)


# ---- What was found ----


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


def weights_of_columns(rng):
    """What all columns have in common, which goes through shared memory, by blocks and by clusters of up to 16 of them."""
    for t, heights in (("int16", (64, 100, 128, 300, 1025, 2048, 5000)), ("float32", (64, 300, 4100))):
        f = Func("(x, w, b) -> (y) { auto s = sum(i : n, x[i]); forall (i : n) y[i] = (x[i] - s) * w[i] + b[i]; }",
                 f"{t},{t},{t}->{t}", "(n),(n),(n)->(n)")
        for n in heights:
            calls, step = int(rng.choice([32, 64, 70])), int(rng.choice([1, 1, 2, -1]))
            x, y = (rng.integers(-3, 4, (n, calls)).astype(t) for _ in range(2))
            w, b = (rng.integers(-3, 4, n * abs(step) + 1).astype(t)[int(rng.integers(0, 2)):][:n * abs(step)][::step] for _ in range(2))
            on_gpu(f, x.T, w, b, y.T)
            assert np.array_equal(y, (x - x.sum(0, dtype=t)) * w[:, None] + b[:, None]), (t, n, calls, step)


def whole_rounds(rng):
    """Rows and columns that are whole vectors, and whole rounds of all threads; then the same function on others that are not, or not aligned."""
    for t in ("int16", "float32", "float64"):
        f = Func("(x, w) -> (y) { auto s = sum(i : n, x[i]); auto t = max(i : n, x[i]); forall (i : n) y[i] = (x[i] - s) * w[i] + t; }",
                 f"{t},{t}->{t}", "(n),(n)->(n)")
        for n in (64, 256, 1024, 1032, 2048, 4096, 4100, 5000, 8192, 40960):
            calls = 64 if n < 5000 else 5
            x, y = (rng.integers(-2, 3, (calls + 1, n + 16)).astype(t) for _ in range(2))
            w, axis = rng.integers(-3, 4, n + 16).astype(t), int(rng.integers(2))
            for first in (0, 16 // x.itemsize, 1):
                a, b, c_ = x[:calls, first:first + n], y[:calls, first:first + n], w[:n]
                if axis and n < 5000:
                    a, b = (np.ascontiguousarray(v.T).T for v in (a, b))
                on_gpu(f, a, c_, b)
                assert np.array_equal(b, (a - a.sum(1, dtype=t, keepdims=True)) * c_ + a.max(1, keepdims=True)), (t, n, first, axis)


def calls_made_again(rng):
    """A thread keeps the plans of calls that it makes again, whose results follow what the arrays have then."""
    add = Func("(x, y) { return x + y; }", "float32,float32->float32")
    sums = Func("(x, y) -> (z) { auto s = sum(i : n, x[i]); forall (i : n) z[i] = y[i] + s; }", "float32,float32->float32", "(n),(n)->(n)")
    x, y = (rng.integers(-9, 9, (5, 40)).astype("f4") for _ in range(2))
    before = y.copy()
    with Memory(GPU) as memory:
        tensors = (DLTensor * 3)(memory.tensor(x), memory.tensor(y), memory.tensor(y))
        tensors[2] = tensors[1]
        for f in (add, add, sums, add, sums, sums, add, sums):
            if lib.uf_call(f.f, 3, tensors, Options(size=c.sizeof(Options))):
                raise Failure()
    assert np.array_equal(y, before + 4 * x + 4 * x.sum(1)[:, None])


def planned(make, views, firsts):
    """Runs a plan of these arrays, and of what lies so many elements behind them."""
    plan = c.c_void_p()
    with Memory(GPU) as memory:
        tensors = (DLTensor * 2)(*map(memory.tensor, views))
        if make(c.byref(plan), tensors, memory):
            raise Failure()
        for first in firsts:
            data = (c.c_void_p * 2)(*(t.data + 2 * first for t in tensors))
            if lib.uf_plan_run(plan, data, None):
                raise Failure()
        lib.uf_plan_free(plan)


def plans_at_other_addresses(rng):
    """Code that was made for aligned arrays has accesses that others must not come to; the simulation looks at each of them."""
    less_sum = Func("(x) -> (y) { auto s = sum(i : n, x[i]); forall (i : n) y[i] = x[i] - s; }", "int16->int16", "(n)->(n)")
    total = Func.define("(x, y) { return x + y; }", "int16,int16->int16", identity="0")
    firsts = [0, 1, 24, 2, 8]
    for core in (0, 1):
        x, y = rng.integers(-9, 9, (64, 96)).astype("i2"), np.zeros((64, 96), "i2")
        expected = y.copy()
        planned(lambda plan, tensors, memory: lib.uf_plan_new(plan, less_sum.f, 2, tensors, c.byref(Func.options(memory))),
                [np.moveaxis(a[:, :72], core, -1) for a in (x, y)], firsts)
        for first in firsts:
            some = x[:, first:first + 72]
            expected[:, first:first + 72] = some - some.sum(core, keepdims=True)
        assert np.array_equal(y, expected), core
    for height in (5, 64, 3000):
        x, y = rng.integers(-9, 9, (height, 96)).astype("i2"), np.zeros(96, "i2")
        expected = y.copy()
        planned(lambda plan, tensors, memory: lib.uf_reduce_plan(plan, total.f, 2, tensors, c.byref(Func.reduce_options(memory, axes=[0]))),
                [x[:, :64], y[:64]], firsts)
        for first in firsts:
            expected[first:first + 64] = x[:, first:first + 64].sum(0)
        assert np.array_equal(y, expected), height
    x, y = rng.integers(-9, 9, (3000, 96)).astype("i2"), np.zeros(3000, "i2")
    planned(lambda plan, tensors, memory: lib.uf_reduce_plan(plan, total.f, 2, tensors, c.byref(Func.reduce_options(memory, axes=[1]))),
            [x[:2900, :64], y[:2900]], firsts)
    assert np.array_equal(y[8:2908], x[:2900, 8:72].sum(1))


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
    sys.exit(run([random_kernels, constructs_over_cores, constructs_over_rows, constructs_over_grids, products, points, pairs_of_points, elementwise,
                  reductions, lines, updates, columns_of_two_heights, weights_of_columns, whole_rounds, calls_made_again, plans_at_other_addresses, many_constructs,
                  reductions_in_indices]))
