"""small_integers.py - arithmetic of short integers, which the CPU computes in 16 bits where all values are known to fit, against that of NumPy
in the types of C: random expressions of bytes, 16-bit numbers, bools, constants and variables, on the ends of their ranges; what just
fits and what just does not; windows and their sums. To the bit."""
import sys

import numpy as np

from uf import Func, run

SHORT = {"uint8": (0, 255), "int8": (-128, 127), "int16": (-32768, 32767), "uint16": (0, 65535), "bool": (0, 1)}
WHOLE = {"int32": (True, 32), "uint32": (False, 32), "int64": (True, 64), "uint64": (False, 64)}
CONSTANTS = [1, 2, 3, 5, 7, 9, 16, 77, 127, 128, 129, 150, 254, 255, 256, 257, 1000, 32767, 32768, 65535]


def wrapped(x, t):
    """Values (int64, or uint64 bits in it) as those of a type."""
    return x.astype(t).astype("i8")


class Node:
    """Text, the type in which C computes it, and its values; those of uint64 stand for their bits."""

    def __init__(self, text, t, x):
        self.text, self.t, self.x = text, t, wrapped(np.asarray(x), t)


def promoted(n):
    return n if n.t in WHOLE else Node(n.text, "int32", n.x)


def common(a, b):
    a, b = promoted(a), promoted(b)
    t = max(a.t, b.t, key=lambda t: (WHOLE[t][1], not WHOLE[t][0]))
    return Node(a.text, t, a.x), Node(b.text, t, b.x), t


def order(x, t):
    return x.astype("u8") if t == "uint64" else x


def binary(rng, a, b):
    a, b, t = common(a, b)
    o = rng.choice(["+", "-", "*", "&", "|", "^", "min", "max", "+", "-", "*"])
    if o in ("min", "max"):
        f = np.minimum if o == "min" else np.maximum
        return Node(f"{o}({a.text}, {b.text})", t, f(order(a.x, t), order(b.x, t)))
    values = {"+": np.add, "-": np.subtract, "*": np.multiply, "&": np.bitwise_and, "|": np.bitwise_or,
              "^": np.bitwise_xor}[o](a.x, b.x)
    return Node(f"({a.text} {o} {b.text})", t, values)


def by_constant(rng, a):
    a = promoted(a)
    o = rng.choice(["<<", ">>", "/", "%"])
    k = int(rng.integers(0, 16)) if o in ("<<", ">>") else int(rng.choice(CONSTANTS))
    x = order(a.x, a.t)
    if o == "<<":
        return Node(f"({a.text} << {k})", a.t, a.x << k)
    if o == ">>":
        return Node(f"({a.text} >> {k})", a.t, x >> np.array(k, x.dtype))
    if a.t == "uint64":
        quotient, rest = x // np.uint64(k), x % np.uint64(k)
    else:
        quotient = np.sign(x) * (np.abs(x) // k)
        rest = x - quotient * k
    return Node(f"({a.text} {o} {k})", a.t, quotient if o == "/" else rest)


def unary(rng, a):
    a = promoted(a)
    o = rng.choice(["-", "~", "abs", "cast"])
    if o == "cast":
        t = str(rng.choice(list(WHOLE) + list(SHORT)[:4]))
        return Node(f"({t})({a.text})", t, a.x)
    if o == "abs":
        return Node(f"abs({a.text})", a.t, np.where(a.x < 0, -a.x, a.x) if WHOLE[a.t][0] else a.x)
    return Node(f"(-{a.text})" if o == "-" else f"(~{a.text})", a.t, -a.x if o == "-" else ~a.x)


class Kernel:
    """A kernel of random inputs: variables, and a last expression."""

    def __init__(self, rng, n):
        self.rng = rng
        self.types = [str(t) for t in rng.choice(list(SHORT), int(rng.integers(1, 4)), p=[.4, .2, .15, .15, .1])]
        self.arrays = [self.values(t, n) for t in self.types]
        self.names = [Node("xyz"[k], t, a) for k, (t, a) in enumerate(zip(self.types, self.arrays))]
        self.lines = []
        for k in range(int(rng.integers(0, 4))):
            self.declare(k)
        self.last = self.expression(int(rng.integers(1, 5)))

    def values(self, t, n):
        low, high = SHORT[t]
        x = self.rng.integers(low, high + 1, n)
        ends = self.rng.choice([low, high, high // 2, 0, 1], n)
        return np.where(self.rng.random(n) < .5, x, ends).astype(t)

    def declare(self, k):
        e = promoted(self.expression(int(self.rng.integers(1, 4))))
        t = str(self.rng.choice([e.t, "int32", "uint8", "int64"]))
        self.lines.append(f"{t} v{k} = {e.text};")
        self.names.append(Node(f"v{k}", t, e.x))

    def expression(self, depth):
        rng = self.rng
        if not depth:
            if rng.random() < .2:
                k = int(rng.choice(CONSTANTS))
                return Node(str(k), "int32", np.full(self.arrays[0].shape, k))
            return self.names[int(rng.integers(len(self.names)))]
        kind = rng.random()
        if kind < .6:
            return binary(rng, self.expression(depth - 1), self.expression(int(rng.integers(depth))))
        return (by_constant if kind < .85 else unary)(rng, self.expression(depth - 1))

    def check(self):
        e = promoted(self.last)
        names = "xyz"[:len(self.types)]
        t = str(self.rng.choice([e.t, "uint8", "int16", "int32", "int64"]))
        text = f"({', '.join(names)}) {{ {' '.join(self.lines)} return ({t})({e.text}); }}"
        out = np.empty(self.arrays[0].shape, t)
        Func(text, f"{','.join(self.types)}->{t}")(*self.arrays, out)
        want = e.x.astype(t)
        bad = out != want
        assert not bad.any(), (text, self.types, [a[bad][:3] for a in self.arrays], out[bad][:3], want[bad][:3])


def random_expressions(rng):
    for _ in range(400):
        Kernel(rng, int(rng.choice([1, 7, 33, 64, 257, 1000]))).check()


# What reaches the end of 16 bits, and one more than that.
ENDS = ["x * 128 + 127", "x * 128 + 128", "x * 257 + 0 * y", "x * 257 + y - 254", "(x - y) * 128 - 128", "(x - y) * 128 - 129",
        "abs((int)x * 128 + 128) * 2", "(x * 257) / 3 + y", "((x * 257 + y) >> 1) - x", "min(x * 257, 40000) - y",
        "max(x * 257 - y, 0) % 1000", "(x << 8 | y) >> 3", "(x << 7 ^ -1) + y", "-(x * 128) - 128", "~(x * 257) & 255",
        "abs((x - y) * 128 - 128) / 5", "abs(z) * 2 / 3", "(z + 0) / 7 - 1", "-z - 1", "abs(z - 1) + 1", "z * 2 >> 1",
        "(x + 2 * y + (int)w) / 3", "(w + 1) / 2", "w - x - y", "w % 77 - x", "(uint32)x - y + 1", "((uint32)w - x) >> 3"]


def ends_of_16_bits(rng):
    x, y = np.meshgrid(np.arange(256), np.arange(256))
    z, w = np.arange(65536).reshape(256, 256) - 32768, np.arange(65536).reshape(256, 256)
    arrays = x.astype("u1"), y.astype("u1"), z.astype("i2"), w.astype("u2")
    for text in ENDS:
        got, want = np.empty((256, 256), "i4"), np.empty((256, 256), "i4")
        Func(f"(x, y, z, w) {{ return (int32)({text}); }}", "uint8,uint8,int16,uint16->int32")(*arrays, got)
        # in 64 bits of loops that count, whose values nobody knows
        wide = text.replace("(uint32)", "(uint32)(int32)")
        Func("(x, y, z, w) { auto a = (int32)x, b = (int32)y, c = (int32)z, d = (int32)w; a += 0; b += 0; c += 0; d += 0; "
             f"return (int32)({''.join({'x': 'a', 'y': 'b', 'z': 'c', 'w': 'd'}.get(q, q) if is_name(wide, k) else q for k, q in enumerate(wide))}); }}",
             "uint8,uint8,int16,uint16->int32")(*arrays, want)
        bad = got != want
        assert not bad.any(), (text, [a[bad][:3] for a in arrays], got[bad][:3], want[bad][:3])


def is_name(text, k):
    """Does one letter stand alone there?"""
    return not (k and text[k - 1].isalnum()) and not (k + 1 < len(text) and text[k + 1].isalnum())


def windows(rng):
    for t in ("uint8", "int8", "int16"):
        for width in (3, 9, 40, 200):
            low, high = SHORT[t]
            x = rng.choice([low, high, high - 1, 0, 1], (37, 300 + width)).astype(t)
            seen = np.lib.stride_tricks.sliding_window_view(x, width, 1)[:, :300].astype("i8")
            for text, want in ((f"sum(k : {width}, x[i][j + k]) / {width}", seen.sum(2)),
                               (f"max(k : {width}, x[i][j + k]) - min(k : {width}, x[i][j + k])", seen.max(2) - seen.min(2))):
                out = np.empty((37, 300), "i4")
                Func.kernel(f"{t}[,], int32[,]", f"[i, j](x, y) {{ y[i][j] = {text}; }}").forall((37, 300), x, out)
                if "/" in text:
                    want = np.sign(want) * (np.abs(want) // width)
                assert np.array_equal(out, want), (t, text)


def skipped_declarations(rng):
    """A switch that goes past a declaration leaves 0 in the variable."""
    x = np.arange(256, dtype="u1")
    out = np.empty(256, "i4")
    Func("(x) { int r = 0; switch (x & 1) { case 0: int v = x * 2 + 100; case 1: r = v * 3 - 1; } return r; }", "uint8->int32")(x, out)
    assert np.array_equal(out, np.where(x & 1, -1, (x.astype("i4") * 2 + 100) * 3 - 1)), out


def divided_in_place(rng):
    """x /= y and x %= y are computed in the type that both convert to, in which a negative x may be large; y differs, or is one number."""
    types = [*SHORT, *WHOLE]
    for t in types:
        for u in types:
            if t == "bool":
                continue
            ends = {v: (0, 1) if v == "bool" else (np.iinfo(v).min, np.iinfo(v).max) for v in (t, u)}
            x = rng.choice(np.array([ends[t][0], ends[t][1], 0, 1, 5, 7, 100, ends[t][0] // 3], t), 200)
            for each in (True, False):
                y = rng.choice(np.array([min(v, ends[u][1]) for v in (1, 2, 3, 7, 11, ends[u][1])], u), 200 if each else 1)
                a, b, type_of = common(Node("", t, x), Node("", u, y))
                for sign, numpy in (("/=", lambda p, q: int(abs(p) // abs(q)) * (1 if (p < 0) == (q < 0) else -1)),
                                    ("%=", lambda p, q: (abs(p) % abs(q)) * (-1 if p < 0 else 1))):
                    p, q = (z.x.astype(type_of).tolist() for z in (a, b))
                    want = [numpy(i, j) for i, j in zip(p, q * (200 // len(q)))]
                    want = np.array([v & (1 << 64) - 1 for v in want], "u8").astype(t)
                    for n in (200, 3):
                        out = np.empty(n, t)
                        Func(f"(x, y) {{ x {sign} y; return x; }}", f"{t},{u}->{t}")(x[:n], y[:n], out)
                        assert np.array_equal(out, want[:n]), (t, u, sign, each, x[:n][out != want[:n]][:3], y[:9], out[out != want[:n]][:3])


def nan_of_a_maximum(rng):
    """NaN becomes 0 behind a maximum or minimum with an end of the range, too, which compilers may take for the conversion's own."""
    for t in ("float32", "float64"):
        for u in ("uint8", "uint16", "uint32", "uint64", "int8", "int32"):
            for body in ("max((typeof(x))0, x)", "max(x, (typeof(x))0)", "min((typeof(x))255, x)", "max((typeof(x))-128, x)"):
                f = Func("(x) -> (y) { y = %s; }" % body, t + "->" + u)
                for n in (1, 40):
                    y = np.ones(n, u)
                    f(np.full(n, np.nan, t), y)
                    assert not np.any(y), (t, u, body, n, y)


if __name__ == "__main__":
    sys.exit(run([random_expressions, ends_of_16_bits, windows, skipped_declarations, divided_in_place, nan_of_a_maximum]))
