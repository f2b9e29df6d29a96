"""compare_numpy.py - one thread of the CPU engine beside NumPy, in one process: the cases where NumPy was, or is, the faster one. Ours runs
by plans, so that both are timed without what finding code takes, in a loop of C's (run_plan.c), since a call by ctypes takes 0.7 us more. Each
is the best of several repetitions, which take turns, as the machine is shared. Rows: case, ours and NumPy in ns an element, ratio (over 1: ours
is faster). Argument: a regular expression of cases."""
import ctypes as c
import os
import re
import subprocess
import sys
import time

import numpy as np

sys.path.insert(0, os.path.join(os.path.dirname(__file__), "..", "oracle"))
import uf  # noqa: E402

LARGE, SMALL = 1 << 24, 1 << 18
rng = np.random.default_rng(int(os.environ.get("SEED", "1")))


def plan(make, func, arrays, *more):
    p = c.c_void_p()
    args = (uf.DLTensor * len(arrays))(*map(uf.tensor, arrays))
    if make(c.byref(p), func.f, len(arrays), args, *more):
        raise uf.Failure()
    return p


def compiled(name):
    here = os.path.dirname(os.path.abspath(__file__))
    to = os.path.join(os.environ.get("BUILD", os.path.join(here, "..", "..", "build")), "perf", name + ".so")
    os.makedirs(os.path.dirname(to), exist_ok=True)
    subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-o", to, os.path.join(here, name + ".c")], check=True)
    return c.CDLL(to)


run_plan = compiled("run_plan").run_plan


def runner(p, arrays):
    data = (c.c_void_p * len(arrays))(*(a.ctypes.data for a in arrays))

    def run(times=1):
        if run_plan(uf.lib.uf_plan_run, p, data, times):
            raise uf.Failure()
    return run


def reduces(name, a, out, axes=None, where=None, **options):
    f = uf.Func.load(name)
    memory = uf.Memory()
    o = f.reduce_options(memory, axes=axes, threads=1, where=where, **options)
    return runner(plan(uf.lib.uf_reduce_plan, f, [a, out], o), [a, out] + ([] if where is None else [where])), f


def calls(name, *arrays, where=None):
    """name: of the catalogue, or a kernel's text."""
    f = uf.Func(name) if "(" in name else uf.Func.load(name)
    o = f.options(uf.Memory(), where, threads=1)
    return runner(plan(uf.lib.uf_plan_new, f, arrays, o), list(arrays) + ([] if where is None else [where])), f


def segments(name, a, starts, out):
    f = uf.Func.load(name)
    o = f.options(uf.Memory(), threads=1)
    return runner(plan(uf.lib.uf_reduceat_plan, f, [a, out], uf.tensor(starts), 0, o), [a, out, starts]), f


def accumulates(name, a, out):
    f = uf.Func.load(name)
    o = f.options(uf.Memory(), threads=1)
    return runner(plan(uf.lib.uf_accumulate_plan, f, [a, out], a.ndim - 1, o), [a, out]), f


def best(ours, numpys, n):
    times = [[], []]
    ours(), numpys()
    once = max(1e-7, min(timed(ours), timed(numpys)))
    inner = max(1, int(2e-3 / once))
    stop = time.perf_counter() + float(os.environ.get("SECONDS_EACH", "0.4"))
    def many():
        for _ in range(inner):
            numpys()
    while time.perf_counter() < stop or len(times[0]) < 5:
        for t, f in zip(times, (lambda: ours(inner), many)):
            start = time.perf_counter()
            f()
            t.append((time.perf_counter() - start) / inner)
    return [1e9 * min(t) / n for t in times]


def timed(f):
    start = time.perf_counter()
    f()
    return time.perf_counter() - start


def random(n, t):
    t = np.dtype(t)
    if t.kind == "b":
        return rng.integers(0, 2, n).astype(bool)
    if t.kind in "iu":
        i = np.iinfo(t)
        return rng.integers(i.min, i.max, n, dtype=t, endpoint=True)
    return rng.random(n).astype(t) if t.kind == "f" else (rng.random(n) + 1j * rng.random(n)).astype(t)


SIZES = {"16M": LARGE, "256K": SMALL}


def case_reductions():
    rows = [("sum", "i1 i2 u1 u2 i4 i8 ? f2 f4 f8 c8"), ("max", "i1 i2 u1 u2 i4 i8 f2 f4 f8"),
            ("argmax", "i1 i2 u1 u2 i4 i8 f2 f4 f8 ?"), ("count_nonzero", "? i1 u1 i2 u2 i4 i8 f4 f8 f2"), ("any", "? u1 f4"),
            ("all", "? u1"), ("mean", "f4 f8"), ("prod", "f4 f8 i8"), ("var", "f8")]
    for name, types in rows:
        for t in types.split():
            for label, n in SIZES.items():
                def make(name=name, t=t, n=n):
                    a = random(n, t)
                    if name in ("any", "all"):
                        a = np.full(n, name == "all").astype(t)
                    result = getattr(np, name)(a)
                    out = np.zeros((), result.dtype)
                    return reduces(name, a, out), (lambda: getattr(np, name)(a)), n, out, result
                yield f"{name}_{np.dtype(t).name}_{label}", make


def case_axes():
    def over(name, shape, axes, t):
        a = random(int(np.prod(shape)), t).reshape(shape)
        f = getattr(np, name)
        where = axes[0] if len(axes) == 1 else axes
        result = f(a, axis=where)
        out = np.zeros(result.shape, result.dtype)
        return reduces(name, a, out, axes=axes), (lambda: f(a, axis=where, out=out)), a.size, out, result
    for name, shape, axes, t in [("sum", (64, 1024, 64), (0, 2), "f4"), ("sum", (64, 1024, 64), (0, 2), "f8"),
                                 ("sum", (16, 128, 128), (0, 2), "f8"), ("sum", (4096, 4096), (0,), "f8"),
                                 ("sum", (4096, 4096), (1,), "f8"), ("sum", (512, 512), (0,), "f8"),
                                 ("sum", (512, 512), (1,), "f8"), ("sum", (512, 512), (0,), "f4"),
                                 ("sum", (512, 512), (1,), "f4"), ("sum", (256, 1024, 64), (1,), "f4"),
                                 ("max", (512, 512), (0,), "i1"), ("max", (512, 512), (1,), "i1"),
                                 ("max", (512, 512), (0,), "i2"), ("max", (512, 512), (1,), "i2"),
                                 ("sum", (512, 512), (1,), "i2"), ("sum", (512, 512), (0,), "i2"), ("sum", (64, 4096), (0,), "u1"),
                                 ("sum", (1 << 18, 16), (1,), "f4"), ("sum", (1 << 18, 4), (1,), "f8")]:
        label = "x".join(map(str, shape)) + "_axes" + "".join(map(str, axes))
        yield f"{name}_{np.dtype(t).name}_{label}", lambda name=name, shape=shape, axes=axes, t=t: over(name, shape, axes, t)
    for shape, axis in [((1 << 15, 8), 1), ((1 << 13, 32), 1), ((2621, 100), 1), ((512, 512), 1), ((262, 1000), 1), ((512, 512), 0),
                        ((100, 2621), 0), ((2621, 100), 0)]:
        for t in ("i1", "i2", "i4", "i8", "f2", "f4", "f8", "?"):
            label = "x".join(map(str, shape)) + f"_axis{axis}"
            yield f"argmax_{np.dtype(t).name}_{label}", lambda shape=shape, axis=axis, t=t: over("argmax", shape, (axis,), t)
            if axis and shape[1] == 512:
                yield f"argmin_{np.dtype(t).name}_{label}", lambda shape=shape, t=t: over("argmin", shape, (1,), t)


def case_strided():
    def rows(t, step, n):
        whole = random(n * step, t).reshape(n // 512, 512 * step)
        a = whole[:, ::step]
        result = a.sum(axis=1)
        out = np.zeros(result.shape, result.dtype)
        return reduces("sum", a, out, axes=(1,)), (lambda: np.sum(a, axis=1, out=out)), a.size, out, result

    def whole(name, t, step, n):
        a = random(n * abs(step), t)[::step]
        result = getattr(np, name)(a)
        out = np.zeros((), result.dtype)
        return reduces(name, a, out), (lambda: getattr(np, name)(a)), n, out, result

    def elements(t, step, n):
        x, y = (random(n * step, t)[::step] for _ in range(2))
        out = np.zeros(n, t)
        return calls("add", x, y, out), (lambda: np.add(x, y, out=out)), n, out, x + y

    def transposed(t, n):
        a = random(n * n, t).reshape(n, n).T
        result = a.sum(axis=1)
        out = np.zeros(result.shape, result.dtype)
        return reduces("sum", a, out, axes=(1,)), (lambda: np.sum(a, axis=1, out=out)), a.size, out, result
    for t in ("f4", "f8", "i4", "i8"):
        for step in (2, 3, 4, 5, 7, 8, 9, 16):
            for label, n in (("2M", 1 << 21), ("16K", 1 << 14)):
                yield f"rows_{np.dtype(t).name}_every{step}_{label}", lambda t=t, step=step, n=n: rows(t, step, n)
        for step in (2, 3, 8, 9):
            for label, n in (("2M", 1 << 21), ("64K", 1 << 16)):
                yield f"add_{np.dtype(t).name}_every{step}_{label}", lambda t=t, step=step, n=n: elements(t, step, n)
        for name in ("sum", "max", "argmax"):
            for step in (2, 3, 8, 9, -1):
                for label, n in (("2M", 1 << 21), ("16K", 1 << 14)):
                    yield (f"{name}_{np.dtype(t).name}_every{step}_{label}",
                           lambda name=name, t=t, step=step, n=n: whole(name, t, step, n))
        yield f"sum_transposed_{np.dtype(t).name}", lambda t=t: transposed(t, 1024)


def case_segments():
    def one(t, n, mean):
        a = random(n, t)
        starts = np.unique(rng.integers(0, n, n // mean)) if mean > 0 else np.arange(0, n, -mean)
        starts = starts.astype(np.int64)
        starts[0] = 0
        out = np.zeros(len(starts), t)
        result = np.add.reduceat(a, starts)
        return segments("add", a, starts, out), (lambda: np.add.reduceat(a, starts, out=out)), n, out, result
    for t in ("f4", "f8", "i8"):
        for mean in (4, 16, 64, 1000, 100000, -3, -8):
            yield f"segments_{np.dtype(t).name}_{'mean' if mean > 0 else 'of'}{abs(mean)}", lambda t=t, mean=mean: one(t, 1 << 20, mean)


def case_masks():
    def one(t, n, run, share):
        a, b, out, want = (random(n, t) for _ in range(4))
        np.copyto(want, out)
        m = np.repeat(rng.random(n // run + 1) < share, run)[:n].copy()
        np.add(a, b, out=want, where=m)
        return calls("add", a, b, out, where=m), (lambda: np.add(a, b, out=out, where=m)), n, out, want

    def reduce(t, n, run):
        a = random(n, t)
        m = np.repeat(rng.random(n // run + 1) < .5, run)[:n].copy()
        result = np.sum(a, where=m)
        out = np.zeros((), result.dtype)
        return reduces("sum", a, out, where=m), (lambda: np.sum(a, where=m)), n, out, result
    for t in ("f4", "f8", "i2"):
        for run in (1, 100, 5000):
            for label, n in SIZES.items():
                yield f"masked_add_{np.dtype(t).name}_runs{run}_{label}", lambda t=t, n=n, run=run: one(t, n, run, .5)
    for run in (1, 100):
        yield f"masked_sum_float32_runs{run}", lambda run=run: reduce("f4", SMALL, run)


def case_power():
    def pair(t, n):
        x, y = random(n, t) * 4, random(n, t) * 4 - 2
        x, y = x.astype(t), y.astype(t)
        out = np.zeros(n, t)
        return calls("power", x, y, out), (lambda: np.power(x, y, out=out)), n, out, np.power(x, y)

    def number(t, n, y):
        x = (random(n, t) * 4).astype(t)
        y, out = np.array(y, t), np.zeros(n, t)
        want = np.power(x, y)
        return calls("power", x, y, out), (lambda: np.power(x, y, out=out)), n, out, want
    for t in ("f4", "f8"):
        for label, n in (("4M", 1 << 22), ("64K", 1 << 16)):
            yield f"power_{np.dtype(t).name}_{label}", lambda t=t, n=n: pair(t, n)
            for y in (2., .5, -1., 3., 1.7):
                yield f"power_{np.dtype(t).name}_{y}_{label}", lambda t=t, n=n, y=y: number(t, n, y)


def case_elementwise():
    def unary(name, t, n):
        x, out = random(n, t), np.zeros(n, t)
        f = getattr(np, name)
        return calls(f"(x) {{ return {name}(x); }}", x, out), (lambda: f(x, out=out)), n, out, f(x)

    def divided(t, n, by, name):
        x, out = random(n, t), np.zeros(n, t)
        y = np.array(by, t)
        f = getattr(np, name)
        return calls(name, x, y, out), (lambda: f(x, y, out=out)), n, out, f(x, y)

    def binary(name, t, n):
        x, y = random(n, t), random(n, t)
        f = getattr(np, name)
        want = f(x, y)
        out = np.zeros(n, want.dtype)
        return calls(name, x, y, out), (lambda: f(x, y, out=out)), n, out, want
    for label, n in (("4M", 1 << 22), ("64K", 1 << 16)):
        for name in ("exp", "log", "sin", "cos", "tanh", "sqrt", "abs"):
            for t in ("f4", "f8"):
                yield f"{name}_{np.dtype(t).name}_{label}", lambda name=name, t=t, n=n: unary(name, t, n)
        for t in ("i1", "u1", "i2", "i4", "u4", "i8", "u8"):
            yield f"floor_divide_{np.dtype(t).name}_by7_{label}", lambda t=t, n=n: divided(t, n, 7, "floor_divide")
            yield f"remainder_{np.dtype(t).name}_by7_{label}", lambda t=t, n=n: divided(t, n, 7, "remainder")
        for name in ("add", "multiply", "maximum", "less", "logical_and", "arctan2", "hypot", "floor_divide"):
            for t in ("i1", "i2", "i4", "i8", "f4", "f8"):
                if name in ("arctan2", "hypot") and t[0] == "i":
                    continue
                yield f"{name}_{np.dtype(t).name}_{label}", lambda name=name, t=t, n=n: binary(name, t, n)


def case_accumulations():
    """Lines of so many elements."""
    for name in ("add", "maximum"):
        for t, result in (("i1", "i8"), ("i4", "i4"), ("i4", "i8"), ("i8", "i8"), ("f4", "f4"), ("f8", "f8")):
            if name == "maximum" and t != result:
                continue
            for length in (10, 20, 64, 100, 1000, SMALL):
                def make(name=name, t=t, result=result, length=length):
                    a = rng.integers(-9, 9, (SMALL // length, length)).astype(t)
                    out, f = np.zeros(a.shape, result), getattr(np, name).accumulate
                    theirs = np.zeros(a.shape, result)
                    return accumulates(name, a, out), (lambda: f(a, axis=1, out=theirs, dtype=result)), a.size, out, f(a, axis=1, dtype=result)
                yield f"accumulate_{name}_{np.dtype(t).name}_{np.dtype(result).name}_{length}", make


def case_layouts():
    """Elementwise calls of two dimensions whose operands lie in several ways: d dense, 2 every second element of a row, g the same of rows with
    gaps between them, 1 rows one element apart, < backwards, r a row for all rows, c a column for all columns, t transposed, n a number."""
    ways = {"d": lambda m, n: ((m, n), lambda a: a), "2": lambda m, n: ((m, 2 * n), lambda a: a[:, ::2]),
            "1": lambda m, n: ((m, n + 1), lambda a: a[:, :n]),
            "g": lambda m, n: ((m, 2 * n + 3), lambda a: a[:, :2 * n:2]), "<": lambda m, n: ((m, n), lambda a: a[:, ::-1]),
            "r": lambda m, n: ((1, n), lambda a: a), "c": lambda m, n: ((m, 1), lambda a: a),
            "t": lambda m, n: ((n, m), lambda a: a.T), "n": lambda m, n: ((1, 1), lambda a: a)}

    def laid_out(way, shape, t):
        whole, view = ways[way](*shape)
        return np.broadcast_to(view(random(whole[0] * whole[1], t).reshape(whole)), shape)

    def call(name, t, how, shape):
        inputs, f = [laid_out(way, shape, t) for way in how[:-1]], getattr(np, name)
        want = f(*inputs)
        outs = [laid_out(how[-1], shape, want.dtype).copy() if how[-1] == "d" else laid_out(how[-1], shape, want.dtype) for _ in range(2)]
        outs = [o if o.flags.writeable else o.copy() for o in outs]
        f(*inputs, out=outs[1])
        return calls(name, *inputs, outs[0]), (lambda: f(*inputs, out=outs[1])), want.size, outs[0], want
    shapes = {"long": (64, 1000), "ten": (6400, 10), "across": (10, 6400), "thirty": (2000, 30), "large": (2000, 2000)}
    rows = [("positive", "i1 i2 f4 f8 c16", "dd 2d d2 22 1d d1 11 <d td"), ("add", "i1 i2 i4 f4 f8 c8 c16", "ddd 2dd 22d 222 1dd 11d drd dcd dnd <dd tdd"),
            ("multiply", "f4 c8 c16", "22d 222 2dd ddd"), ("less", "i1 f4 f8", "ddd drd dcd 22d 1dd dnd"), ("sqrt", "f4 f8", "2d 22 1d gd dg"),
            ("exp", "f4 f8", "2d 1d gd dg"), ("divide", "f4 f8", "11d ggd ddg"), ("maximum", "i1 i2 f4", "ggd 22d")]
    for label, shape in shapes.items():
        for name, types, lies in rows:
            for t in types.split():
                for how in lies.split():
                    yield f"lies_{label}_{name}_{np.dtype(t).name}_{how}", lambda name=name, t=t, how=how, shape=shape: call(name, t, how, shape)


def case_casts():
    """Copies from dtype to dtype."""
    def call(a, b, n):
        x = random(n, a)
        if np.dtype(a).kind == "f" and np.dtype(b).kind in "iu":
            x = (x * 100).astype(a)
        want = x.astype(b)
        outs = [np.zeros(n, b) for _ in range(2)]
        f = uf.Func("(x) { return x; }", f"{np.dtype(a).name}->{np.dtype(b).name}")
        o = f.options(uf.Memory(), threads=1)
        return (runner(plan(uf.lib.uf_plan_new, f, [x, outs[0]], o), [x, outs[0]]), f), (lambda: np.copyto(outs[1], x, casting="unsafe")), n, outs[0], want
    types = "? i1 u1 i2 u2 i4 u4 i8 u8 f2 f4 f8 c8".split()
    for label, n in (("64K", 1 << 16), ("2K", 1 << 11)):
        for a in types:
            for b in types:
                if a != b and not (a == "c8" and b != "c8"):
                    yield f"cast_{np.dtype(a).name}_{np.dtype(b).name}_{label}", lambda a=a, b=b, n=n: call(a, b, n)


def case_cores():
    """Batches of small matrices and vectors, which lie behind each other or (last) side by side, or whose matrices are transposed (turned), or
    the first of them is (first), or are parts of larger ones (part); ns a call."""
    functions = {"det": ("m", "", np.linalg.det), "inv": ("m", "m", np.linalg.inv), "cholesky": ("m", "m", np.linalg.cholesky),
                 "solve": ("mv", "v", lambda a, b: np.linalg.solve(a, b[..., None])[..., 0]), "matvec": ("mv", "v", np.matvec),
                 "vecmat": ("vm", "v", np.vecmat), "vecdot": ("vv", "", np.vecdot), "matmul": ("mm", "m", np.matmul)}
    shapes = {"m": lambda k: (k, k), "v": lambda k: (k,), "": lambda k: ()}

    def turned(a):
        return np.ascontiguousarray(a.swapaxes(1, 2)).swapaxes(1, 2) if a.ndim == 3 else a

    def last(a):
        return np.moveaxis(np.ascontiguousarray(np.moveaxis(a, 0, -1)), -1, 0)

    def part(a):
        room = np.zeros([a.shape[0]] + [n + 3 for n in a.shape[1:]], a.dtype)
        view = room[tuple(slice(0, n) for n in a.shape)]
        view[...] = a
        return view

    def call(name, t, k, how):
        reads, writes, f = functions[name]
        n = 10000 if k <= 16 else 1000
        inputs = [rng.random((n,) + shapes[r](k)).astype(t) for r in reads]
        if name in ("det", "inv", "solve", "cholesky"):
            inputs[0] = inputs[0] + inputs[0].swapaxes(1, 2) + k * np.eye(k, dtype=t)
        lies = {"": lambda a: a, "_last": last, "_turned": turned, "_first": lambda a: a, "_part": part}[how]
        inputs = [turned(a) if how == "_first" and not i else lies(a) for i, a in enumerate(inputs)]
        want = f(*inputs)
        out = (lies if how != "_part" else lambda a: a)(np.zeros((n,) + shapes[writes](k), t))
        return calls(name, *inputs, out), (lambda: f(*inputs)), n, out, want
    for name in functions:
        for t in ("f4", "f8"):
            product = name.startswith(("vec", "mat"))
            for k in (2, 3, 4, 5, 6, 7, 8, 12, 16) + ((20, 28, 48) if product else ()):
                matrices = name in ("matmul", "matvec", "vecmat")
                for how in ("", "_last") + (("_turned", "_part") if matrices else ()) + (("_first",) if name == "matmul" else ()):
                    yield f"cores_{name}_{np.dtype(t).name}_{k}{how}", lambda name=name, t=t, k=k, how=how: call(name, t, k, how)


def case_columns():
    """Functions of rank 1 along axis 0, of 256K elements; ns an element."""
    def softmax(x):
        e = np.exp(x - x.max(axis=0))
        return e / e.sum(axis=0)

    def log_softmax(x):
        y = x - x.max(axis=0)
        return y - np.log(np.exp(y).sum(axis=0))

    def normalize(x):
        return x / np.linalg.norm(x, axis=0)

    functions = {"softmax": (softmax, 1, 1), "log_softmax": (log_softmax, 1, 1), "normalize": (normalize, 1, 1),
                 "norm": (lambda x: np.linalg.norm(x, axis=0), 1, 0), "vecdot": (lambda x, y: np.vecdot(x, y, axis=0), 2, 0)}

    def call(name, t, k):
        f, nin, rank = functions[name]
        n = SMALL // k
        inputs = [rng.random((k, n)).astype(t) for _ in range(nin)]
        want = f(*inputs)
        out = np.zeros((k, n) if rank else n, t)
        return calls(name, *(a.T for a in inputs), out.T), (lambda: f(*inputs)), n * k, out, want
    for name in functions:
        for t in ("f4", "f8"):
            for k in (5, 12, 20, 40, 100, 1000):
                yield f"columns_{name}_{np.dtype(t).name}_{k}", lambda name=name, t=t, k=k: call(name, t, k)


FAMILIES = [case_cores, case_columns, case_layouts, case_casts, case_reductions, case_accumulations, case_axes, case_strided, case_segments, case_masks, case_power,
            case_elementwise]


def main():
    wanted = re.compile(sys.argv[1] if len(sys.argv) > 1 else "")
    for verb in ("uf_reduce_plan", "uf_plan_new", "uf_reduceat_plan", "uf_accumulate_plan"):
        getattr(uf.lib, verb).argtypes = [c.POINTER(c.c_void_p)] + uf.VERBS.get(verb[:-5], uf.FEW + [c.POINTER(uf.Options)])
    print(f"{'case':44} {'ours':>9} {'NumPy':>9} {'ratio':>7}")
    for family in FAMILIES:
        for name, make in family():
            if not wanted.search(name):
                continue
            (ours, keep), numpys, n, out, want = make()
            ours()
            close = np.allclose(out, want, rtol=1e-2 if want.dtype == np.float16 else 1e-4,
                                atol=1e-6 * np.abs(want).max() if name.startswith("cores_") else 1e-8)
            a, b = best(ours, numpys, n)
            print(f"{name:44} {a:9.4f} {b:9.4f} {b / a:7.2f}{'' if close else '  WRONG'}{'  <' if b < a else ''}", flush=True)
            del keep


main()
