"""forall.py - kernels over indices against what NumPy makes of them, to the bit: random bodies (bodies.py) over spaces of
one to eight dimensions and arrays in any layout, in place, interleaved and one on top of the other; atomic functions of every
dtype; plans; options; more points than 2^32.

PROP_N=n makes n times as many calls. UF_TEST_GPU=1 makes them on the GPU as well, on arrays in its memory.
"""
import os
import sys

import numpy as np

from bodies import FLOATS, FOLDS, HALVES, INTEGERS, NAMES, Body, LoopBody, chance, fold_at, memory_type, narrowed, pick, widened
from uf import ERR_CAST, ERR_SIGNATURE, Failure, Func, GPU, random_values, random_window, run, same

ROUNDS = int(os.environ.get("PROP_N", "1"))
EXTENTS = [1, 2, 3, 5, 7, 16, 17, 31, 33, 64, 100, 257, 1000, 4099]
BLOCKS, ELEMENTS = [0, 32, 64, 128, 256, 512, 1024], [0, 1, 2, 4, 8, 16]


def named(test, name, device):
    test.__name__ = name + ("_on_the_gpu" if device else "")
    return test


def random_extents(rng, ndim, most):
    if chance(rng, 4):
        extents = [int(n) for n in rng.choice(EXTENTS[:4], ndim)]
        extents[rng.integers(ndim)] = 0
        return tuple(extents)
    if chance(rng, 10):  # long in one dimension
        extents = [1] * ndim
        extents[rng.integers(ndim)] = int(rng.integers(most // 2, most))
        return tuple(extents)
    while True:
        extents = tuple(int(n) for n in rng.choice(EXTENTS[:6] if ndim > 4 else EXTENTS, ndim))
        if np.prod(extents) <= most:
            return extents


# ---- Arrays ----


def contents(rng, p, shape):
    n = int(np.prod(shape))
    if p.unique:
        return (rng.permutation(n + 4)[:n] - 2).astype(p.type).reshape(shape)
    if p.use == "counter":
        return narrowed(rng.integers(0, 2 if p.type == "bool" else 9, shape).astype("f4" if p.type in HALVES else p.type), p.type)
    if p.type in INTEGERS and chance(rng, 50):
        return rng.integers(0, 9, shape).astype(p.type)
    if p.type in HALVES:
        return narrowed(random_values(rng, shape, np.dtype("f4")), p.type)
    return random_values(rng, shape, np.dtype(p.type))


class Arguments:
    """Random arguments of a body: blocks of memory, and for each parameter a view into one."""

    def __init__(self, rng, body, extents):
        self.blocks, self.views, self.shapes = [], {}, {}
        for p in sorted(body.parameters, key=lambda p: p.twin is not None):
            if p.use == "number":
                self.numbers(rng, p)
            elif p.twin:
                self.shapes[p.name] = self.shapes[p.twin.name]
                block, window, _ = self.views[p.twin.name]
                self.views[p.name] = block, window, int(p.beside)
            else:
                self.lay_out(rng, p, p.shape(rng, extents), any(q.twin is p and q.beside for q in body.parameters))
        self.order = [p.name for p in body.parameters]

    def lay_out(self, rng, p, shape, paired):
        spread = [p.use == "read" and not p.unique and chance(rng, 6) for _ in shape]  # stride 0
        small = tuple(1 if s and n else n for s, n in zip(spread, shape))
        size, window = random_window(rng, small)
        if chance(rng, 50) or np.prod(size, dtype=float) > 1e6:
            size, window = list(small), lambda block: block
        paired = paired or chance(rng, 10)
        ahead, n = int(rng.choice([0, 0, 0, 1, 3])), int(np.prod(size)) * (1 + paired)
        memory = np.empty(ahead + n, memory_type(p.type))
        memory[:ahead] = contents(rng, p, (ahead,)) if not p.unique else 0
        memory[ahead:] = contents(rng, p, (n,))
        self.blocks.append(memory)
        self.shapes[p.name] = shape

        def view(memory, which):
            block = memory[ahead:].reshape(size + [1 + paired])[..., which]
            return np.broadcast_to(window(block), shape) if any(spread) else window(block)
        self.views[p.name] = len(self.blocks) - 1, view, 0

    def numbers(self, rng, p):
        t = p.type
        if t in INTEGERS:  # numbers cast safely
            t = pick(rng, [t] + [u for u in ["int8", "uint8", "int16"] if np.can_cast(u, t)])
        if t == "float64":
            t = pick(rng, ["float64", "float32", "int16"])
        self.blocks.append(random_values(rng, (), np.dtype(t)).reshape(1))
        self.views[p.name] = len(self.blocks) - 1, lambda memory, which: memory.reshape(()), 0

    def arrays(self, blocks=None):
        blocks = self.blocks if blocks is None else blocks
        return {name: window(blocks[k], which) for name, (k, window, which) in self.views.items()}

    def copies(self):
        return [b.copy() for b in self.blocks]

    def text(self):
        arrays = self.arrays()
        return ", ".join(f"{name} {a.dtype} {a.shape} by {a.strides}" for name, a in ((n, arrays[n]) for n in self.order))


def expected(body, extents, arguments):
    """What the arguments' memory holds afterwards."""
    blocks = arguments.copies()
    arrays = arguments.arrays(blocks)
    for p in body.parameters:
        if p.use == "number":
            arrays[p.name] = arrays[p.name].astype(p.type)
    body.run(extents, arrays)
    return blocks


def random_options(rng, device):
    if device:
        return {"block": int(pick(rng, BLOCKS)), "elements": int(pick(rng, ELEMENTS))} if chance(rng, 50) else {}
    return {"threads": int(pick(rng, [0, 1, 1, 2, 3]))}


def compare(body, extents, arguments, got, want, options):
    for k, (a, b) in enumerate(zip(got, want)):
        if not same(a, b):
            names = [name for name, view in arguments.views.items() if view[0] == k]
            wrong = np.nonzero(~same_each(a, b))[0]
            raise AssertionError(f"{body.signature}\n{body.source}\nover {extents} with {options}: {arguments.text()}\n"
                                 f"memory of {names} differs at {wrong[:8]} of {a.size} ({len(wrong)}): "
                                 f"got {a[wrong[:8]]}, want {b[wrong[:8]]}")


def same_each(a, b):
    return np.array([same(a[k:k + 1], b[k:k + 1]) for k in range(a.size)])


def bodies_of(kind, name, device):
    def test(rng):
        for _ in range((40 if device else 80) * ROUNDS):
            body = kind(rng)
            try:
                f = Func.kernel(body.signature, body.source)
            except Failure as e:
                raise AssertionError(f"{body.signature}\n{body.source}\n{e}") from e
            for _ in range(3):
                extents = random_extents(rng, body.ndim, 100_000 if device else 20_000)
                arguments, options = Arguments(rng, body, extents), random_options(rng, device)
                want, got = expected(body, extents, arguments), arguments.copies()
                arrays = arguments.arrays(got)
                try:
                    f.forall(extents, *(arrays[n] for n in arguments.order), device=device, **options)
                except Failure as e:
                    raise AssertionError(f"{body.signature}\n{body.source}\nover {extents}: {arguments.text()}\n{e}") from e
                compare(body, extents, arguments, got, want, options)
    return named(test, name, device)


def random_bodies(device=None):
    return bodies_of(Body, "random_bodies", device)


def bodies_with_loops(device=None):
    return bodies_of(LoopBody, "bodies_with_loops", device)


# ---- Simple kernels, all shapes ----


def dimensions(device=None):
    """Every index of every point, in spaces of 1 to 8 dimensions."""
    def test(rng):
        for ndim in range(1, 9):
            head = ", ".join(f"{NAMES[d]} : m{d}" for d in range(ndim))
            at = "".join(f"[{NAMES[d]}]" for d in range(ndim))
            number = NAMES[0]
            for d in range(1, ndim):
                number = f"({number} * m{d} + {NAMES[d]})"
            f = Func.kernel(f"int64[{',' * (ndim - 1)}], int32[{',' * (ndim - 1)}]",
                            f"[{head}](a, b) {{ a{at} = {number}; b{at} += {NAMES[ndim - 1]} - 2 * {NAMES[0]}; }}")
            for _ in range(6 * ROUNDS):
                extents = random_extents(rng, ndim, 60_000)
                block, window = random_window(rng, extents)
                a, b = np.full(block, -1), random_values(rng, extents, np.dtype("i4"))
                want_a, want_b = a.copy(), b.copy()
                window(want_a)[...] = np.arange(np.prod(extents)).reshape(extents)
                index = np.indices(extents)
                want_b += (index[-1] - 2 * index[0]).astype("i4")
                f.forall(extents, window(a), b, device=device, **random_options(rng, device))
                assert (a == want_a).all() and (b == want_b).all(), extents
    return named(test, "dimensions", device)


def rows(device=None):
    """Contiguous rows of every length and alignment: what is taken by vectors, what is left over, and halos."""
    def test(rng):
        f = Func.kernel("float32[,], float32[,], float32; uint8[,], uint8[,], uint8; float64[,], float64[,], float64",
                        "[i : n, j : m](u, v, k) { if (i > 0 && i < n - 1 && j > 0 && j < m - 1) "
                        "v[i][j] = u[i][j] + k * (u[i-1][j] + u[i+1][j] + u[i][j-1] + u[i][j+1] - 4 * u[i][j]); }")
        for _ in range(60 * ROUNDS):
            t = pick(rng, [np.dtype(t) for t in ("f4", "u1", "f8")])
            n, m = int(rng.integers(1, 40)), int(pick(rng, [1, 2, 3, 4, 5, 8, 15, 16, 31, 64, 65, 127, 256, 1000]))
            wide, left = m + int(rng.integers(0, 5)), int(rng.integers(0, 5))
            u, v = (np.asarray(rng.integers(0, 9, n * wide + 8)).astype(t) for _ in range(2))
            want, k = v.copy(), t.type(3)

            def view(memory):
                return memory[left:left + n * wide].reshape(n, wide)[:, :m]
            x, y = view(u), view(want)
            if n > 2 and m > 2:
                y[1:-1, 1:-1] = x[1:-1, 1:-1] + k * (x[:-2, 1:-1] + x[2:, 1:-1] + x[1:-1, :-2] + x[1:-1, 2:]
                                                     - t.type(4) * x[1:-1, 1:-1])
            f.forall((n, m), view(u), view(v), np.asarray(k), device=device, **random_options(rng, device))
            assert same(v, want), (t, n, m, wide, left, np.nonzero(v != want))
    return named(test, "rows", device)


def pairs(device=None):
    """Reductions over pairs of points, of sizes around those of tiles, aligned and not; small integers, so that every order is exact."""
    def test(rng):
        bodies = {"(x[i][k] - y[j][k]) * (x[i][k] - y[j][k])": lambda x, y: ((x[:, None] - y) ** 2).sum(2),
                  "fabs(x[i][k] - y[j][k])": lambda x, y: abs(x[:, None] - y).sum(2),
                  "x[i][k] * y[j][k]": lambda x, y: x @ y.T}
        for text, of in bodies.items():
            f = Func.kernel("float32[,], float32[,], float32[], float32[,]; int32[,], int32[,], int32[], int32[,]",
                            f"[i, j](x, y, w, d) {{ d[i][j] = sum(k : extent(x, 1), {text}) * w[j]; }}")
            for _ in range(6 * ROUNDS):
                t = pick(rng, [np.dtype("f4"), np.dtype("i4")])
                n, m = (int(pick(rng, [1, 5, 63, 64, 65, 100, 127, 128, 129, 200, 256])) for _ in range(2))
                depth, left = int(pick(rng, [1, 8, 15, 16, 17, 23, 32, 33, 64])), int(rng.integers(0, 5))
                x, y = (rng.integers(-9, 9, (r, depth)).astype(t) for r in (n, m))
                w, d = rng.integers(1, 4, m).astype(t), np.full(n * (m + left) + 8, 7, t)
                want = d.copy()
                want[left:left + n * (m + left)].reshape(n, m + left)[:, :m] = of(x.astype("i8"), y.astype("i8")) * w.astype("i8")
                turned = np.asarray(y.T, order="C").T if rng.integers(2) else y
                f.forall((n, m), x, turned, w, d[left:left + n * (m + left)].reshape(n, m + left)[:, :m], device=device)
                assert same(d, want), (text, t, n, m, depth, left, np.nonzero(d != want))
    return named(test, "pairs", device)


# ---- Atomic functions ----


ATOMICS = {"add": 1, "sub": 1, "min": 1, "max": 1, "and": 0, "or": 0, "xor": 0}


def small(rng, t, n):
    """Values whose sums, taken in any order, are exact in the dtype, and without -0."""
    most = {"float16": 2, "bfloat16": 2, "bool": 2, "int8": 100, "uint8": 200}.get(t, 100)
    values = rng.integers(0, most, n)
    if t in ("int8", "int16", "int32", "int64", "float32", "float64"):
        values = values - most // 2
    return narrowed(values.astype("f4" if t in HALVES else t), t)


def atomic_functions(device=None):
    """Each of each dtype against the same done one after the other, without the old values, and with them."""
    def test(rng):
        for t in INTEGERS + FLOATS + HALVES + ["bool"]:
            integer, floating = t in INTEGERS, t in FLOATS + HALVES
            for op, arithmetic in ATOMICS.items():
                if (arithmetic and t == "bool") or (not arithmetic and floating):
                    continue
                plain = Func.kernel(f"{t}[], int32[], {t}[]", f"[i](h, b, x) {{ atomic_{op}(h[b[i]], x[i]); }}")
                used = Func.kernel(f"{t}[], int32[], {t}[], {t}[]",
                                   f"[i](h, b, x, old) {{ old[i] = atomic_{op}(h[b[i]], x[i]); }}")
                for f, outputs in ((plain, 0), (used, 1)):
                    few = t in HALVES  # exact only as long as sums are below 2^8
                    n = int(pick(rng, [1, 31, 100] if few else [1, 31, 1000, 10_007]))
                    size = int(pick(rng, [1, 7, 256, 5000])) if not few else 64
                    x, at = small(rng, t, n), rng.integers(-1, size + 1, n).astype("i4")
                    h = small(rng, t, size)
                    want, good = h.copy(), (at >= 0) & (at < size)
                    values = x if t not in HALVES else widened(x, t)
                    fold_at(op, want, (at[good],), values[good], t)
                    got, old = h.copy(), narrowed(np.full(n, 1).astype("f4" if t in HALVES else t), t)
                    f.forall((n,), got, at, x, *([old] if outputs else []), device=device, **random_options(rng, device))
                    assert same(got, want), f"atomic_{op} of {t}: {n} into {size}, got {got}, want {want}"
                    if outputs:
                        check_old(op, t, h, at, x, old, good, want)
    return named(test, "atomic_functions", device)


def check_old(op, t, h, at, x, old, good, want):
    """Old values of an element: with some order of its updates, each is what those before it left."""
    assert not old[~good].view(f"u{old.itemsize}").any(), f"atomic_{op} of {t}: old values outside of the array"
    if t in HALVES:
        h, x, old, want = (widened(a, t) for a in (h, x, old, want))
    for e in np.unique(at[good])[:50]:
        mine = good & (at == e)
        before, value = [h[e]], x[mine]
        after = FOLDS[op](old[mine], value)
        # every state but the first was left by one update, every state but the last was met by one
        left, met = np.sort(np.concatenate([before, after])), np.sort(np.concatenate([old[mine], [want[e]]]))
        assert (left == met).all(), f"atomic_{op} of {t} at {e}: old {old[mine]} of {value} from {h[e]} to {want[e]}"


def exchanges(device=None):
    """Nothing is lost: what was taken out and what is left is what was there and what came in. Of those who compare and exchange,
    one has the element."""
    def test(rng):
        for t in INTEGERS + FLOATS + HALVES + ["complex64"]:
            u = memory_type(t)
            n, size = (100, 9) if u.itemsize == 1 else (5000, 13)
            f = Func.kernel(f"{t}[], int32[], {t}[], {t}[]", "[i](h, b, x, old) { old[i] = atomic_exchange(h[b[i]], x[i]); }")
            values = np.arange(1, n + size + 1)
            values = narrowed((values % 249 + 1).astype("f4"), t) if t in HALVES else values.astype(u)
            x, h, at = values[:n].copy(), values[n:].copy(), rng.integers(-1, size + 1, n).astype("i4")
            got, old = h.copy(), x.copy()
            f.forall((n,), got, at, x, old, device=device, **random_options(rng, device))
            good = (at >= 0) & (at < size)
            raw = f"V{u.itemsize}"
            there = sorted(np.concatenate([got, old[good]]).view(raw).tolist())
            assert there == sorted(np.concatenate([h, x[good]]).view(raw).tolist()), f"atomic_exchange of {t}"
            assert not old[~good].view("u1").any(), f"atomic_exchange of {t}: outside"
            g = Func.kernel(f"{t}[], int32[], {t}[], int32[]", "[i](h, b, x, won) { "
                            "auto zero = x[i]; zero = 0; auto before = atomic_compare_exchange(h[b[i]], zero, x[i]); "
                            "won[i] = before == zero && b[i] >= 0 && b[i] < len(h); }")
            got, won = np.zeros(size, u), np.full(n, 7, "i4")
            g.forall((n,), got, at, x, won, device=device, **random_options(rng, device))
            for e in range(size):
                winners = np.nonzero((won == 1) & (at == e))[0]
                assert len(winners) == int((at == e).any()), f"atomic_compare_exchange of {t}: {len(winners)} have {e}"
                if len(winners):
                    assert got[e:e + 1].tobytes() == x[winners].tobytes(), f"atomic_compare_exchange of {t}"
            assert set(won) <= {0, 1}
    return named(test, "exchanges", device)


def counters(device=None):
    """Histograms, which have memory of their own for a while, beside arrays that are read and written; and tickets."""
    def test(rng):
        f = Func.kernel("uint8[], int32[], float32[]; int32[], int64[], float32[]; int64[], uint32[], float64[]",
                        "[i](b, h, total) { atomic_add(h[b[i]], 1); if (b[i] & 1) atomic_add(total[0], 2); "
                        "if (b[i] == 3) atomic_max(total[1], i); }")
        for types in (("u1", "i4", "f4"), ("i4", "i8", "f4"), ("i8", "u4", "f8")):
            for size in (0, 1, 256, 70_000):
                n = int(pick(rng, [1, 1000, 100_001]))
                b = np.asarray(rng.integers(0, 256 if types[0] == "u1" else size + 3, n)).astype(types[0])
                h, total = rng.integers(0, 9, size).astype(types[1]), np.zeros(2, types[2])
                want = h + np.bincount(b[b < size], minlength=size).astype(types[1])
                got = h.copy()
                f.forall((n,), b, got, total, device=device, **random_options(rng, device))
                last = np.nonzero(b == 3)[0]
                assert (got == want).all(), (types, size, n)
                assert total[0] == 2 * (b & 1).sum() and total[1] == (last[-1] if len(last) else 0), (types, size, n, total)
        rows = Func.kernel("uint8[,], int64[], float64[]",
                           "[i, j](b, h, most) { atomic_add(h[b[i][j]], j + 1); atomic_max(most[i & 1], b[i][j]); }")
        for extents in ((1, 1), (70_001, 2), (300, 333), (2, 50_021)):
            b, h, most = random_values(rng, extents, np.dtype("u1")), np.zeros(100, "i8"), np.zeros(2)
            weights = np.broadcast_to(np.arange(1, extents[1] + 1), extents)
            want = np.bincount(b.reshape(-1), weights.reshape(-1), 256)[:100].astype("i8")
            rows.forall(extents, b, h, most, device=device, **random_options(rng, device))
            assert (h == want).all() and (most == [b[0::2].max(), b[1::2].max(initial=0)]).all(), extents
        g = Func.kernel("int64[], int32[,]", "[i, j : m](n, out) { out[i][j] = atomic_add(n[0], 1); }")
        extents = (int(rng.integers(1, 300)), int(rng.integers(1, 300)))
        n, out = np.full(1, 5), np.zeros(extents, "i4")
        g.forall(extents, n, out, device=device)
        assert (np.sort(out.reshape(-1)) == 5 + np.arange(out.size)).all() and n[0] == 5 + out.size
    return named(test, "counters", device)


# ---- Plans, options, parameter lists ----


def plans(device=None):
    def test(rng):
        for _ in range(12 * ROUNDS):
            body = Body(rng)
            f = Func.kernel(body.signature, body.source)
            extents = random_extents(rng, body.ndim, 5000)
            arguments, options = Arguments(rng, body, extents), random_options(rng, device)
            arrays = arguments.arrays()
            sets = []
            for _ in range(3):  # the same layouts, other memory and content
                blocks = []
                for b in arguments.blocks:
                    # as aligned as the first
                    room = np.zeros(b.nbytes + 4096, "u1")
                    skip = (b.ctypes.data - room.ctypes.data) % 256
                    blocks.append(room[skip:skip + b.nbytes].view(b.dtype))
                    blocks[-1][...] = b if chance(rng, 50) or b.dtype.kind == "V" else b[rng.permutation(b.size)]
                for p in body.parameters:
                    if p.unique:
                        k = arguments.views[p.name][0]
                        blocks[k][...] = arguments.blocks[k]
                sets.append(blocks)
            first = arguments.blocks
            wants = []
            for blocks in sets:
                arguments.blocks = blocks
                wants.append(expected(body, extents, arguments))
            arguments.blocks = first
            runs = [arguments.arrays(blocks) for blocks in sets]
            f.forall_plan(extents, [arrays[n] for n in arguments.order],
                          [[r[n] for n in arguments.order] for r in runs], device=device, **options)
            for blocks, want in zip(sets, wants):
                compare(body, extents, arguments, blocks, want, options)
    return named(test, "plans", device)


def options(device=None):
    """Whatever a block is and however many elements a thread takes, the results are the same."""
    def test(rng):
        f = Func.kernel("float32[,], float32[,], int32[]",
                        "[i : n, j : m](x, y, h) { y[i][j] = 2 * x[i][j] + x[i][j + 1]; atomic_add(h[j & 15], 1); }")
        for extents in ((1, 1), (3, 1000), (70, 257), (1, 40_003)):
            x = random_values(rng, extents, np.dtype("f4"))
            want = np.float32(2) * x + np.pad(x, ((0, 0), (0, 1)))[:, 1:]
            count = np.bincount(np.arange(extents[1]) & 15, minlength=16) * extents[0]
            for block in BLOCKS if device else [0, 128]:
                for elements in ELEMENTS if device else [0, 4]:
                    for threads in [0] if device else [1, 2, 0]:
                        y, h = np.full(extents, 7, "f4"), np.zeros(16, "i4")
                        f.forall(extents, x, y, h, device=device, block=block, elements=elements, threads=threads)
                        assert same(y, want) and (h == count).all(), (extents, block, elements, threads)
    return named(test, "options", device)


def parameter_lists(device=None):
    """The list is chosen by arrays' dtypes and ranks, and the number of indices."""
    def test(rng):
        f = Func.kernel("float32[], float64; float64[], float64; int8[], int64; uint8[], float32",
                        "[i](x, k) { x[i] = x[i] * k; }")
        for t, given, wide, k in (("f4", "f4", "f8", 0.1), ("f8", "f4", "f8", 0.1), ("i1", "i2", "i8", 3),
                                  ("u1", "f4", "f4", 2.5)):
            x, number = np.asarray(rng.integers(0, 20, 50)).astype(t), np.asarray(k, given)
            want = (x.astype(wide) * number.astype(wide)).astype(t)
            f.forall((50,), x, number, device=device)
            assert same(x, want), (t, k, x, want)
        for bad in ((np.zeros(3, "i2"), np.asarray(1)), (np.zeros((3, 3)), np.asarray(1.0)),
                    (np.zeros(3, "i1"), np.asarray(1.5))):
            try:
                f.forall((3,), *bad, device=device)
                raise AssertionError(f"{bad} is taken")
            except Failure as e:
                assert e.status in (ERR_SIGNATURE, ERR_CAST), str(e)
    return named(test, "parameter_lists", device)


def launches(device=None):
    """What a launch is said to be."""
    def test(rng):
        f = Func.kernel("float32[,], float32[,]", "[i, j : m](x, y) { y[i][j] = sqrt(x[i][j]) + i; }")
        for extents in ((1, 1), (3, 5), (100, 1000), (1, 100_000)):
            x = np.ones(extents, "f4")
            y, points = x.copy(), int(np.prod(extents))
            for block in (0, 64, 256, 1024):
                for elements in (0, 1, 8):
                    info = f.launch_info(extents, x, y, device=device, block=block, elements=elements)
                    said = {name: getattr(info, name) for name, _ in info._fields_}
                    if device:
                        assert info.block % 32 == 0 and 32 <= info.block <= 1024 and (not block or info.block == block), said
                        assert info.elements >= 1 and (not elements or info.elements == elements), said
                        assert 1 <= info.vector <= info.elements and info.elements % info.vector == 0, said
                        assert info.grid >= 1 and info.grid * info.block * info.elements >= points, said
                        assert 8 <= info.registers <= 255 and info.registers * info.block <= 65536, said
                        assert 1 <= info.blocks_per_processor <= 32 and 0 < info.occupancy <= 1, said
                        assert info.shared_bytes >= 0 and info.local_bytes == 0 and info.threads == 0, said
                    else:
                        assert info.threads >= 1 and not (info.grid or info.registers or info.shared_bytes), said
            assert (y == 1).all(), "launch_info ran the kernel"
    return named(test, "launches", device)


# ---- More than 2^32 points, on the GPU ----


def over_2_32(rng):
    """Points are counted, and those that an extent of 2^32 would lose are looked at."""
    count = Func.kernel("int64[], int64[,]", "[i : n, j : m](total, seen) { auto at = i * m + j; "
                        "atomic_add(total[0], 1); "
                        "if (at % 1000003 == 17) { seen[at / 1000003][0] = i; seen[at / 1000003][1] = j; } }")
    line = Func.kernel("int64[], int64[]", "[i : n](total, seen) { atomic_add(total[i & 63], 1); "
                       "if (i % 1000003 == 17) seen[i / 1000003] = i + n; }")
    for extents in ((70_000, 70_000), (3, 2_000_000_011), (2_000_000_011, 3)):
        n = extents[0] * extents[1]
        want = np.array([divmod(at, extents[1]) for at in range(17, n, 1000003)])
        total, seen = np.zeros(1, "i8"), np.full((len(want) + 3, 2), -1)
        count.forall(extents, total, seen, device=GPU)
        assert total[0] == n and (seen[:-3] == want).all() and (seen[-3:] == -1).all(), extents
    n = 2 ** 33 + 5
    total, seen = np.zeros(64, "i8"), np.full(n // 1000003 + 1, -1)
    line.forall((n,), total, seen, device=GPU)
    assert total.sum() == n and total.max() - total.min() <= 1, total
    assert (seen == np.arange(17, n, 1000003)[:len(seen)] + n).all()


over_2_32.__name__ = "over_2_32_on_the_gpu"


def main():
    gpu = os.environ.get("UF_TEST_GPU") == "1"
    tests = []
    for device in (None, GPU) if gpu else (None,):
        tests += [make(device) for make in (random_bodies, bodies_with_loops, dimensions, rows, pairs, atomic_functions, exchanges,
                                            counters, plans, options, parameter_lists, launches)]
    tests += [over_2_32] if gpu else []
    if sys.argv[1:]:
        tests = [t for t in tests if t.__name__ in sys.argv[1:]]
    return run(tests)


if __name__ == "__main__":
    sys.exit(main())
