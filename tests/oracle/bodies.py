"""bodies.py - random kernels over indices, and what they do: every piece of text comes with a function that computes it with
NumPy for all points of the space at once, under a mask of the points that have come that far.

Points do not get into each other's way: an array that is written to is touched at one place a point, which no other point
has. Floating values are computed by + - * / sqrt and comparisons alone, so that results are right to the bit.
"""
import numpy as np

from uf import BFLOAT16, cast, to_bfloat16

INTEGERS = ["int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"]
HALVES = ["float16", "bfloat16"]
FLOATS = ["float32", "float64"]
NAMES = "ijklpqrs"
LOOPS = 4      # most iterations of a loop in a body
MOST = 300_000  # elements of an array that is read


def pick(rng, items):
    return items[rng.integers(len(items))]


def chance(rng, percent):
    return rng.random() * 100 < percent


# ---- Types and values: halves are kept as the float32 that they are ----


def memory_type(t):
    return BFLOAT16 if t == "bfloat16" else np.dtype(t)


def kept(t):
    return np.dtype("f4") if t in HALVES else np.dtype(t)


def is_integer(t):
    return t in INTEGERS or t == "bool"


def promoted(t):
    return "float32" if t in HALVES else "int32" if is_integer(t) and np.dtype(t).itemsize < 4 else t


def common(a, b):
    a, b = promoted(a), promoted(b)
    for t in ("float64", "float32"):
        if t in (a, b):
            return t
    sizes = np.dtype(a).itemsize, np.dtype(b).itemsize
    if sizes[0] != sizes[1]:
        return a if sizes[0] > sizes[1] else b
    return a if a.startswith("u") else b


def to_integer(x, t):
    """Towards 0, saturating; NaN gives 0."""
    info, x = np.iinfo(t), np.trunc(x.astype("f8"))
    inside = (x >= float(info.min)) & (x < float(info.max // 2 + 1) * 2)
    whole = np.where(inside, x, 0).astype(t)
    none, least, most = (np.array(value, t) for value in (0, info.min, info.max))
    return np.where(inside, whole, np.where(np.isnan(x), none, np.where(x < 0, least, most)))


def convert(x, a, b):
    if a == b:
        return x
    if b == "bool":
        return x != 0
    if is_integer(b):
        return x.astype(b) if is_integer(a) else to_integer(x, b)
    if b in HALVES:
        return widened(cast(x.astype("f4"), memory_type(b)), b)
    return x.astype(b)


def widened(x, t):
    """What memory of dtype t holds, as values."""
    if t == "bfloat16":
        return (np.ascontiguousarray(x).view(np.uint16).astype(np.uint32) << 16).view(np.float32)
    return x.astype(kept(t))


def narrowed(x, t):
    return to_bfloat16(x) if t == "bfloat16" else x.astype(t)


class Expr:
    def __init__(self, text, t, value):
        self.text, self.type, self.value = text, t, value

    def to(self, t):
        """The expression with a cast."""
        return Expr(f"({t}){self.text}", t, lambda env: convert(self.value(env), self.type, t))

    def as_type(self, t, env):
        return convert(self.value(env), self.type, t)


def literal(x, t="int32"):
    text = f"({t})({x})" if t != "int32" else str(x) if x >= 0 else f"({x})"
    return Expr(text, t, lambda env: np.full(env.points, x).astype(kept(t)))


def quotient(a, b):
    """Towards 0; by 0: 0."""
    safe = np.where(b == 0, 1, b).astype(a.dtype)
    q = a // safe
    q = q + ((a - q * safe != 0) & ((a < 0) != (safe < 0))).astype(a.dtype)
    return np.where(b == 0, 0, q).astype(a.dtype), safe


def divide(a, b):
    return a / b if a.dtype.kind == "f" else quotient(a, b)[0]


def remainder(a, b):
    q, safe = quotient(a, b)
    return np.where(b == 0, 0, a - q * safe).astype(a.dtype)


ARITHMETIC = {"+": np.add, "-": np.subtract, "*": np.multiply, "/": divide}
BITS = {"%": remainder, "&": np.bitwise_and, "|": np.bitwise_or, "^": np.bitwise_xor}
COMPARISONS = {"<": np.less, "<=": np.less_equal, ">": np.greater, ">=": np.greater_equal, "==": np.equal,
               "!=": np.not_equal}


def smaller(a, b):
    return np.where((a < b) | (a != a), a, b)


def larger(a, b):
    return np.where((a > b) | (a != a), a, b)


def binary(op, a, b):
    t = common(a.type, b.type)
    f = {**ARITHMETIC, **BITS, **COMPARISONS}[op]
    return Expr(f"({a.text} {op} {b.text})", "bool" if op in COMPARISONS else t,
                lambda env: f(a.as_type(t, env), b.as_type(t, env)))


def shift(op, a, b):
    t, u = promoted(a.type), promoted(b.type)
    width = 8 * np.dtype(t).itemsize

    def value(env):
        x, by = a.as_type(t, env), b.as_type(u, env)
        by = by.view(f"u{by.itemsize}").astype("u8")
        some = np.minimum(by, width - 1).astype(t)
        if op == "<<":
            return np.where(by >= width, 0, x << some).astype(t)
        return np.where(by >= width, np.where(x < 0, -1, 0).astype(t), x >> some)
    return Expr(f"({a.text} {op} {b.text})", t, value)


def function(name, f, *args):
    t = promoted(args[0].type) if len(args) == 1 else common(args[0].type, args[1].type)
    return Expr(f"{name}({', '.join(a.text for a in args)})", t, lambda env: f(*(a.as_type(t, env) for a in args)))


def choose(condition, a, b):
    t = common(a.type, b.type)
    return Expr(f"({condition.text} ? {a.text} : {b.text})", t,
                lambda env: np.where(condition.as_type("bool", env), a.as_type(t, env), b.as_type(t, env)))


# ---- Arrays ----


class Parameter:
    """What becomes of it: 'read' anywhere; 'own': at one place a point, and written there unless `only_read`; 'counter':
    target of an atomic function; 'number'."""

    def __init__(self, name, t, rank, use):
        self.name, self.type, self.rank, self.use = name, t, rank, use
        self.place = None     # own: [Expr], and
        self.shape = None     # a function of the generator and the extents
        self.twin = None      # own: the parameter that has the same memory, or (`beside`) lies between its elements
        self.beside = self.only_read = False
        self.unique = False   # read: its values are places
        self.atomic = None

    def text(self):
        return self.type + ("[" + "," * (self.rank - 1) + "]" if self.rank else "")


def inside(indices, shape):
    good = np.ones(len(indices[0]), bool)
    for x, n in zip(indices, shape):
        good &= (x >= 0) & (x < n)
    return good


def brackets(place):
    return "".join(f"[{e.text}]" for e in place)


def element(p, place):
    def value(env):
        array, at = env.args[p.name], [e.as_type("int64", env) for e in place]
        good = inside(at, array.shape)
        out = np.zeros(env.points, kept(p.type))
        if good.any():
            out[good] = widened(array[tuple(x[good] for x in at)], p.type)
        return out
    return Expr(p.name + brackets(place), p.type, value)


def store(p, place, value_of):
    def run(env):
        array, at = env.args[p.name], [e.as_type("int64", env) for e in place]
        good = inside(at, array.shape) & env.mask
        values = value_of(env)
        if good.any():
            array[tuple(x[good] for x in at)] = narrowed(values[good], p.type)
    return run


FOLDS = {"add": np.add, "sub": np.subtract, "min": np.minimum, "max": np.maximum, "and": np.bitwise_and,
         "or": np.bitwise_or, "xor": np.bitwise_xor}


def fold_at(op, array, at, values, t):
    """The atomic function of all points, one after the other."""
    if t in HALVES:
        whole = widened(array, t).reshape(array.shape)
        FOLDS[op].at(whole, at, values)
        array[...] = narrowed(whole, t)
    else:
        FOLDS[op].at(array, at, values)


# ---- A body ----


class Environment:
    """Points of a space, as they run."""

    def __init__(self, extents, args):
        self.extents, self.args = extents, args
        self.points = int(np.prod(extents, dtype=np.int64))
        self.index = [x.reshape(-1) for x in np.indices(extents, dtype=np.int64)]
        self.locals, self.mask = {}, np.ones(self.points, bool)
        self.broken = self.continued = None

    def set(self, name, values):
        old = self.locals.get(name)
        self.locals[name] = values if old is None else np.where(self.mask, values, old)

    def run(self, statements):
        for s in statements:
            if self.mask.any():
                s(self)


class Body:
    """A random kernel: its parameters, its source, what it does."""

    def __init__(self, rng, ndim=None):
        self.rng = rng
        self.ndim = ndim or int(rng.choice([1, 2, 3, 4, 5, 8], p=[.35, .35, .15, .09, .04, .02]))
        self.parameters, self.locals, self.arrays, self.count, self.inside_loop = [], [], [], 0, 0
        self.extents = [chance(rng, 80) for _ in range(self.ndim)]  # has a name?
        self.helper = chance(rng, 20)
        for _ in range(int(rng.integers(1, 4))):
            self.add_read()
        for _ in range(int(rng.choice([0, 1, 2]))):
            self.add(pick(rng, INTEGERS + FLOATS + ["bool"]), 0, "number")
        for _ in range(int(rng.choice([1, 1, 2]))):
            self.add_own()
        if chance(rng, 25):
            self.add_counter()
        lines = self.guard() + self.lines()
        lines += [self.store_own(p) for p in self.written()]
        if chance(rng, 30):
            lines = [self.within_edges(lines)]
        self.statements = [run for _, run in lines]
        head = ", ".join(NAMES[d] + (f" : m{d}" if self.extents[d] else "") for d in range(self.ndim))
        order = self.parameters = [self.parameters[k] for k in rng.permutation(len(self.parameters))]
        text = "\n".join("    " + line for text, _ in lines for line in text.split("\n"))
        self.source = ("mix(a, b) { return a * b - a; }\n" if self.helper else "")
        self.source += f"[{head}]({', '.join(p.name for p in order)}) {{\n{text}\n}}"
        self.signature = ", ".join(p.text() for p in order)

    def lines(self):
        return self.block(2, int(self.rng.integers(2, 6)))

    def run(self, extents, args):
        env = Environment(extents, args)
        env.run(self.statements)

    # -- Parameters

    def add(self, t, rank, use):
        p = Parameter(f"{use[0]}{len(self.parameters)}", t, rank, use)
        self.parameters.append(p)
        return p

    def add_read(self):
        rng = self.rng
        p = self.add(pick(rng, INTEGERS + 3 * FLOATS + HALVES + ["bool"]), int(rng.choice([1, 2, 3], p=[.5, .35, .15])), "read")
        along = [int(rng.integers(self.ndim)) if d else self.ndim - 1 for d in range(p.rank)][::-1]
        more = rng.choice([-1, 0, 0, 0, 2], p.rank)

        def shape(rng, extents):
            sizes = [max(0, int(extents[d] + m)) for d, m in zip(along, more)]
            while np.prod(sizes) > MOST:
                sizes[int(np.argmax(sizes[:-1])) if len(sizes) > 1 else 0] //= 4
            return tuple(sizes)
        p.shape = shape

    def add_own(self):
        rng = self.rng
        t = pick(rng, INTEGERS + 3 * FLOATS + HALVES + ["bool"])
        way = rng.random()
        if way < .2:
            p = self.add(t, 1, "own")
            self.place_flat(p)
        elif way < .3:
            p = self.add(t, 1, "own")
            self.place_looked_up(p)
        else:
            p = self.add(t, min(8, self.ndim + int(chance(rng, 10))), "own")
            self.place_permuted(p)
        if chance(rng, 30):
            q = self.add(t, p.rank, "own")
            q.place, q.shape, q.twin, q.beside = p.place, p.shape, p, chance(rng, 50)
            q.only_read = chance(rng, 50)

    def place_permuted(self, p):
        """Each dimension is along an index of its own; one may be a constant."""
        rng = self.rng
        order = [int(d) for d in (rng.permutation(self.ndim) if chance(rng, 40) else range(self.ndim))]
        if p.rank > self.ndim:
            order.insert(int(rng.integers(len(order) + 1)), None)
        p.place, sizes = [], []
        for d in order:
            c = int(rng.integers(0, 4))
            if d is None:
                p.place.append(literal(c))
                sizes.append(lambda n, c=c: c + 1)
                continue
            x, way = self.index(d), rng.random()
            if way < .6:
                e, size = x, lambda n: n
            elif way < .7:
                e, size = binary("+", x, literal(c)), lambda n, c=c: n + c
            elif way < .78:
                e, size = binary("-", x, literal(c)), lambda n: n
            elif way < .86 and self.extents[d]:
                e, size = binary("-", self.extent(d), binary("+", x, literal(1))), lambda n: n
            elif way < .93 and self.ndim < 4:
                e, size = binary("+", binary("*", literal(2), x), literal(c)), lambda n, c=c: 2 * n + c
            else:
                e, size = binary("^", x, literal(1)), lambda n: n + 1
            p.place.append(e)
            sizes.append(size)
        more = rng.choice([-1, 0, 0, 0, 0, 3], p.rank)

        def shape(rng, extents):
            return tuple(max(0, int(size(extents[d] if d is not None else 1)) + int(m))
                         for size, d, m in zip(sizes, order, more))
        p.shape = shape

    def flat(self):
        e = self.index(0)
        for d in range(1, self.ndim):
            self.extents[d] = True
            e = binary("+", binary("*", e, self.extent(d)), self.index(d))
        return e

    def place_flat(self, p):
        c, more = int(self.rng.integers(0, 3)), int(pick(self.rng, [-2, 0, 0, 5]))
        p.place = [binary("+", self.flat(), literal(c)) if c else self.flat()]
        p.shape = lambda rng, extents: (max(0, int(np.prod(extents, dtype=np.int64)) + c + more),)

    def place_looked_up(self, p):
        """Where an array says."""
        where = self.add(pick(self.rng, ["int32", "int64"]), 1, "read")
        where.unique = True
        where.shape = p.shape = lambda rng, extents: (int(np.prod(extents, dtype=np.int64)),)
        p.place = [element(where, [self.flat()])]

    def add_counter(self):
        rng = self.rng
        t = pick(rng, ["int32", "int64", "uint32", "uint64", "float32", "float64", "int8", "uint16", "bool"] + HALVES)
        ops = ["and", "or", "xor"] if t == "bool" else ["min", "max"] if t in HALVES else ["add", "sub", "min", "max"]
        p = self.add(t, int(rng.choice([1, 2], p=[.8, .2])), "counter")
        p.atomic = pick(rng, ops + (["and", "or", "xor"] if is_integer(t) and t != "bool" else []))
        size = pick(rng, [1, 3, 64, 1000])
        p.shape = lambda rng, extents: (size,) + (3,) * (p.rank - 1)

    # -- Expressions

    def index(self, d):
        return Expr(NAMES[d], "int64", lambda env: env.index[d])

    def extent(self, d):
        return Expr(f"m{d}", "int64", lambda env: np.full(env.points, env.extents[d], np.int64))

    def length(self):
        p = pick(self.rng, [p for p in self.parameters if p.use != "number"])
        d = int(self.rng.integers(p.rank))
        text = f"len({p.name})" if p.rank == 1 or (d == 0 and chance(self.rng, 50)) else f"extent({p.name}, {d})"
        return Expr(text, "int64", lambda env: np.full(env.points, env.args[p.name].shape[d], np.int64))

    def number(self):
        p = pick(self.rng, [p for p in self.parameters if p.use == "number"])
        return Expr(p.name, p.type, lambda env: np.full(env.points, env.args[p.name]))

    def local(self, integer=False):
        found = [(n, t) for n, t in self.locals if not integer or t in ("int32", "int64")]
        if not found:
            return self.index(int(self.rng.integers(self.ndim)))
        name, t = pick(self.rng, found)
        return Expr(name, t, lambda env: env.locals[name])

    def place_expr(self):
        """An index: mostly near one of the space."""
        rng = self.rng
        x, c = self.index(int(rng.integers(self.ndim))), literal(int(rng.integers(-3, 4)))
        way = int(rng.integers(14))
        named = [d for d in range(self.ndim) if self.extents[d]]
        if way < 4:
            return x
        if way == 4:
            return binary("+", x, c)
        if way == 5:
            return binary("-", self.length(), binary("+", x, literal(1)))
        if way == 6:
            return binary("+", binary("*", literal(2), x), c)
        if way == 7:
            return binary("/", x, literal(2))
        if way == 8:
            return binary("%", binary("+", binary("*", x, literal(7)), c), self.length())
        if way == 9:
            return binary("+", x, self.local(integer=True))
        if way == 10 and named:
            d = pick(rng, named)
            return binary("+", binary("*", x, self.extent(d)), self.index(d))
        if way == 11:
            return binary("+", x, self.index(int(rng.integers(self.ndim))))
        if way == 12:
            e = self.expr(1)
            return (e if is_integer(e.type) else e.to("int32")).to("int64")
        low = literal(0)
        high = binary("-", self.length(), literal(1))
        moved = binary("+", x, c)
        return Expr(f"clamp({moved.text}, 0, {high.text})", "int64",
                    lambda env: smaller(larger(moved.value(env), low.as_type("int64", env)), high.value(env)))

    def read(self):
        p = pick(self.rng, [p for p in self.parameters if p.use in ("read", "own")])
        if p.use == "own":
            return element(p, p.place)
        if self.rng.random() < .5:  # the elements of the point, more or less
            order = [self.index(d % self.ndim) for d in range(self.ndim - p.rank, self.ndim)]
            return element(p, order)
        return element(p, [self.place_expr() for _ in range(p.rank)])

    def condition(self, depth):
        rng = self.rng
        way = rng.random()
        if depth > 0 and way < .25:
            a, b = self.condition(depth - 1), self.condition(depth - 1)
            op, f = pick(rng, [("&&", np.logical_and), ("||", np.logical_or)])
            return Expr(f"({a.text} {op} {b.text})", "bool", lambda env: f(a.as_type("bool", env), b.as_type("bool", env)))
        if way < .6:  # of indices
            x = self.index(int(rng.integers(self.ndim)))
            other = pick(rng, [literal(int(rng.integers(0, 9))), binary("-", self.length(), literal(1)), self.length()])
            return binary(pick(rng, list(COMPARISONS)), x, other)
        if way < .7:
            a = self.condition(0)
            return Expr(f"!{a.text}", "bool", lambda env: ~a.as_type("bool", env))
        return binary(pick(rng, list(COMPARISONS)), self.expr(depth - 1), self.expr(depth - 1))

    def expr(self, depth):
        rng = self.rng
        way = int(rng.integers(100)) if depth > 0 else int(rng.integers(40))
        if way < 22:
            return self.read()
        if way < 27:
            return self.index(int(rng.integers(self.ndim)))
        if way < 31 and any(p.use == "number" for p in self.parameters):
            return self.number()
        if way < 34:
            t = pick(rng, ["int32", "float32", "float64", "uint32", "int64"])
            return literal(pick(rng, [0, 1, 2, 3, 7, 100]) if is_integer(t) else pick(rng, [0.5, -1.25, 3.0, 0.1]), t)
        if way < 40:
            return self.local_element() if self.arrays and chance(rng, 40) else self.local()
        a = self.expr(depth - 1)
        if way < 45:
            return a.to(pick(rng, ["int32", "int64", "uint8", "float32", "float64", "int16", "uint64"]
                             if a.type not in HALVES else ["float32", "float64", "int32"]))
        if way < 49:
            t = promoted(a.type)
            return Expr(f"(-{a.text})", t, lambda env: -a.as_type(t, env))
        if way < 53 and is_integer(a.type):
            t = promoted(a.type)
            return Expr(f"(~{a.text})", t, lambda env: ~a.as_type(t, env))
        if way < 57 and not is_integer(a.type):
            if chance(rng, 50):  # a weak literal
                t = promoted(a.type)
                return Expr(f"(0.1 * {a.text})", t, lambda env: kept(t).type(0.1) * a.as_type(t, env))
            return function("sqrt", np.sqrt, a)
        if way < 60 and is_integer(a.type) and a.type != "bool":
            return Expr(f"popcount({a.text})", "int32",
                        lambda env: np.bitwise_count(a.value(env).view(f"u{np.dtype(a.type).itemsize}")).astype("i4"))
        if way < 66:
            return self.reduction(depth - 1)
        b = self.expr(depth - 1)
        if way < 70:
            return choose(self.condition(depth - 1), a, b)
        if way < 74:
            return function(*pick(rng, [("min", smaller), ("max", larger)]), a, b)
        if way < 77 and self.helper:
            t = common(a.type, b.type)
            u = promoted(a.type)

            def mixed(env):
                product = a.as_type(t, env) * b.as_type(t, env)
                return convert(product, t, common(t, u)) - a.as_type(common(t, u), env)
            return Expr(f"mix({a.text}, {b.text})", common(t, u), mixed)
        if way < 80 and is_integer(a.type) and is_integer(b.type):
            return shift(pick(rng, ["<<", ">>"]), a, b)
        if way < 85 and is_integer(a.type) and is_integer(b.type):
            return binary(pick(rng, list(BITS)), a, b)
        if way < 87:
            return binary(pick(rng, list(COMPARISONS)), a, b)
        return binary(pick(rng, list(ARITHMETIC)), a, b)

    def trip(self):
        """A number of iterations, up to LOOPS."""
        x = self.index(int(self.rng.integers(self.ndim)))
        return pick(self.rng, [literal(int(self.rng.integers(0, LOOPS + 1))), binary("&", x, literal(3)),
                               Expr(f"min({x.text}, 2)", "int64", lambda env: smaller(x.value(env), np.int64(2)))])

    def new_name(self, letter):
        self.count += 1
        return f"{letter}{self.count}"

    def reduction(self, depth):
        """Of integers, which any order gives."""
        rng = self.rng
        name, trip, saved = self.new_name("x"), self.trip(), list(self.locals)
        op = pick(rng, ["sum", "sum", "min", "max", "any", "all"])
        self.locals.append((name, "int64"))
        term = self.condition(depth) if op in ("any", "all") else self.expr(depth)
        if not is_integer(term.type):
            term = term.to("int32")
        self.locals = saved
        t = "bool" if op in ("any", "all") else promoted(term.type)
        if op == "sum":
            t = "uint64" if term.type.startswith("u") else "int64"
        first = {"sum": 0, "any": 0, "all": 1}.get(op)
        if first is None:
            first = np.iinfo(t).max if op == "min" else np.iinfo(t).min
        f = {"sum": np.add, "min": np.minimum, "max": np.maximum, "any": np.logical_or, "all": np.logical_and}[op]

        def value(env):
            n, result, hidden = trip.as_type("int64", env), np.full(env.points, first).astype(t), env.locals.get(name)
            for c in range(int(n.max(initial=0))):
                env.locals[name] = np.full(env.points, c, np.int64)
                result = np.where(c < n, f(result, term.as_type(t, env)), result)
            env.locals[name] = hidden
            return result
        return Expr(f"{op}({name} : {trip.text}, {term.text})", t, value)

    def local_element(self):
        name, t, size = pick(self.rng, self.arrays)
        at = self.place_expr() if chance(self.rng, 30) else binary("&", self.index(self.ndim - 1), literal(3))

        def value(env):
            x = at.as_type("int64", env)
            good = inside([x], (size,))
            return np.where(good, env.locals[name][np.arange(env.points), np.where(good, x, 0)], 0).astype(kept(t))
        return Expr(f"{name}[{at.text}]", t, value)

    # -- Statements: (text, function)

    def guard(self):
        if not chance(self.rng, 30):
            return []
        condition = self.condition(1)

        def leave(env):
            env.mask = env.mask & ~condition.as_type("bool", env)
        return [(f"if ({condition.text}) return;", leave)]

    def edge(self):
        """A comparison of an index, as of a stencil that keeps away from the edges."""
        rng, d = self.rng, int(self.rng.integers(self.ndim))
        x, c = self.index(d), literal(int(rng.integers(0, 4)))
        bounds = [c, self.length(), binary("-", self.length(), c)]
        bounds += [binary("-", self.extent(d), c), binary("/", self.extent(d), literal(2))] if self.extents[d] else []
        x = binary(pick(rng, "+-"), x, c) if chance(rng, 30) else x
        other, op = pick(rng, bounds), pick(rng, ["<", "<=", ">", ">=", "<", ">", "==", "!="])
        return binary(op, x, other) if chance(rng, 80) else binary(op, other, x)

    def within_edges(self, lines):
        condition = self.edge()
        for _ in range(int(self.rng.integers(0, 4))):
            op, f = pick(self.rng, 5 * [("&&", np.logical_and)] + [("||", np.logical_or)])
            a, b = condition, self.edge()
            condition = Expr(f"({a.text} {op} {b.text})", "bool", lambda env, a=a, b=b, f=f: f(a.value(env), b.value(env)))
        statements = [run for _, run in lines]

        def run(env):
            before, env.mask = env.mask, env.mask & condition.value(env)
            env.run(statements)
            env.mask = before
        text = "\n".join("    " + line for text, _ in lines for line in text.split("\n"))
        return f"if ({condition.text}) {{\n{text}\n}}", run

    def value_for(self, t, depth):
        """Halves are made of float32, so that they are rounded once."""
        e = self.expr(depth)
        return e.to("float32") if t in HALVES and promoted(e.type) != "float32" else e

    def written(self):
        return [p for p in self.parameters if p.use == "own" and not p.only_read]

    def store_own(self, p):
        rng = self.rng
        e = self.value_for(p.type, 3)
        own = element(p, p.place)
        ops = [op for op in ARITHMETIC] if p.type not in HALVES else []
        if ops and chance(rng, 30) and p.type != "bool":
            op = pick(rng, ops)
            both = binary(op, own, e)
            return (f"{own.text} {op}= {e.text};", store(p, p.place, lambda env: both.as_type(p.type, env)))
        return (f"{own.text} = {e.text};", store(p, p.place, lambda env: e.as_type(p.type, env)))

    def declare(self):
        rng = self.rng
        e, name = self.expr(2), self.new_name("t")
        t = pick(rng, ["int32", "int64", "uint32", "float32", "float64", "uint8"]) if chance(rng, 50) else e.type
        word = "auto" if t == e.type and chance(rng, 70) else t
        self.locals.append((name, t))
        return (f"{word} {name} = {e.text};", lambda env: env.set(name, e.as_type(t, env)))

    def declare_array(self):
        name, t, size = self.new_name("q"), pick(self.rng, ["int32", "float32", "float64", "uint8"]), int(self.rng.integers(2, 6))
        self.arrays.append((name, t, size))
        lines = [f"{t} {name}[{size}];"]
        steps = []
        for _ in range(int(self.rng.integers(1, 3))):
            lines, steps = self.fill_array(name, t, size, lines, steps)

        def run(env):
            env.locals[name] = np.zeros((env.points, size), kept(t))
            env.run(steps)
        return "\n".join(lines), run

    def fill_array(self, name, t, size, lines, steps):
        """Through a forall of one statement, or one element."""
        counter, saved = self.new_name("x"), list(self.locals)
        whole = chance(self.rng, 50)
        if whole:
            self.locals.append((counter, "int64"))
        at = Expr(counter, "int64", lambda env: env.locals[counter]) if whole else self.place_expr()
        self.arrays.pop()  # not of itself: iterations are independent
        e = self.expr(2)
        self.arrays.append((name, t, size))
        self.locals = saved

        def one(env):
            x, values = at.as_type("int64", env), e.as_type(t, env)
            good = inside([x], (size,)) & env.mask
            filled = env.locals[name].copy()
            filled[np.nonzero(good)[0], x[good]] = values[good]
            env.locals[name] = filled

        def every(env):
            for c in range(size + 1):
                env.locals[counter] = np.full(env.points, c, np.int64)
                one(env)
        text = f"{name}[{at.text}] = {e.text};"
        return lines + [f"forall ({counter} : {size + 1}) {text}" if whole else text], steps + [every if whole else one]

    def assign(self):
        found = [(n, t) for n, t in self.locals if n[0] == "t"]
        if not found:
            return self.declare()
        name, t = pick(self.rng, found)
        e, own = self.expr(2), Expr(name, t, lambda env: env.locals[name])
        op = pick(self.rng, ["", "", "+", "-", "*"])
        if op and t != "bool" and t not in HALVES:
            both = binary(op, own, e)
            return f"{name} {op}= {e.text};", lambda env: env.set(name, both.as_type(t, env))
        e = e.to("float32") if t in HALVES and promoted(e.type) != "float32" else e
        return f"{name} = {e.text};", lambda env: env.set(name, e.as_type(t, env))

    def nested(self, depth, n):
        """A block with a scope of its own."""
        saved = list(self.locals), list(self.arrays)
        lines = self.block(depth, n)
        self.locals, self.arrays = saved
        return "{\n" + "\n".join("    " + line for text, _ in lines for line in text.split("\n")) + "\n}", [r for _, r in lines]

    def branch(self, depth):
        condition = self.condition(2)
        then, run_then = self.nested(depth - 1, int(self.rng.integers(1, 3)))
        other, run_other = self.nested(depth - 1, 1) if chance(self.rng, 40) else ("", [])

        def run(env):
            before, c = env.mask, condition.as_type("bool", env)
            env.mask = before & c
            env.run(run_then)
            after, env.mask = env.mask, before & ~c
            env.run(run_other)
            env.mask = env.mask | after
        return f"if ({condition.text}) {then}" + (f" else {other}" if other else ""), run

    def loop(self, depth):
        name, trip, saved = self.new_name("x"), self.trip(), list(self.locals)
        t = pick(self.rng, ["int32", "int64"])
        down = chance(self.rng, 25)
        self.locals.append((name, t))
        self.inside_loop += 1
        text, body = self.nested(depth - 1, int(self.rng.integers(1, 3)))
        self.inside_loop -= 1
        self.locals = saved

        def run(env):
            outer = env.broken, env.continued
            env.broken = np.zeros(env.points, bool)
            n, done = convert(trip.as_type("int64", env), "int64", t), np.zeros(env.points, bool)
            counter = n - 1 if down else np.zeros(env.points, t)
            for _ in range(LOOPS + 2):
                more = (counter >= 0) if down else counter < n
                done |= env.mask & ~more
                env.mask = env.mask & more
                if not env.mask.any():
                    break
                env.continued = np.zeros(env.points, bool)
                env.locals[name] = counter
                env.run(body)
                env.mask = env.mask | env.continued
                counter = np.where(env.mask, counter + (-1 if down else 1), counter).astype(t)
            env.mask = done | env.broken
            env.broken, env.continued = outer
        head = (f"for ({t} {name} = {trip.text} - 1; {name} >= 0; {name}--)" if down else
                f"for ({t} {name} = 0; {name} < {trip.text}; {name}++)")
        return f"{head} {text}", run

    def jump(self):
        condition, word = self.condition(1), pick(self.rng, ["break", "continue"])

        def run(env):
            leave = env.mask & condition.as_type("bool", env)
            if word == "break":
                env.broken = env.broken | leave
            else:
                env.continued = env.continued | leave
            env.mask = env.mask & ~leave
        return f"if ({condition.text}) {word};", run

    def atomic(self):
        rng = self.rng
        p = pick(rng, [p for p in self.parameters if p.use == "counter"])
        place = [self.place_expr() for _ in range(p.rank)]
        if chance(rng, 50):
            place[0] = binary("%", place[0], self.length())
        op = p.atomic
        if op in ("add", "sub") and chance(rng, 20):
            op = "sub" if op == "add" else "add"
        if op == "add" and chance(rng, 30):
            e = literal(1)
        else:
            e = self.expr(2)
            e = e if is_integer(e.type) else e.to("int32")
            e = binary("&", e, literal(7)) if not is_integer(p.type) else e

        def run(env):
            at = [x.as_type("int64", env) for x in place]
            good = inside(at, env.args[p.name].shape) & env.mask
            values = e.as_type(p.type, env)
            fold_at(op, env.args[p.name], tuple(x[good] for x in at), values[good], p.type)
        return f"atomic_{op}({p.name}{brackets(place)}, {e.text});", run

    def statement(self, depth):
        way = int(self.rng.integers(100))
        own = self.written()
        if way < 15 and any(p.use == "counter" for p in self.parameters):
            return self.atomic()
        if way < 40:
            return self.declare()
        if way < 47:
            return self.declare_array()
        if way < 62:
            return self.assign()
        if way < 75:
            return self.store_own(pick(self.rng, own))
        if way < 80 and self.inside_loop:
            return self.jump()
        if way < 90 and depth > 0:
            return self.branch(depth)
        if depth > 0:
            return self.loop(depth)
        return self.store_own(pick(self.rng, own))

    def block(self, depth, n):
        return [self.statement(depth) for _ in range(n)]


class LoopBody(Body):
    """One whose loops are the same for all points of a row, or nearly, and whose accesses go along it: what runs of points are
    made of (src/ir/points.h)."""

    def lines(self):
        return [self.declare(), self.declare(), self.loop(2)] + self.block(1, int(self.rng.integers(1, 4)))

    def add_read(self):
        rng = self.rng
        p = self.add(pick(rng, INTEGERS + 3 * FLOATS + HALVES + ["bool"]), int(rng.choice([1, 2])), "read")
        more, rows = int(rng.choice([-1, 0, 0, 2])), int(rng.integers(1, LOOPS + 1))
        p.shape = lambda rng, extents: ((rows,) if p.rank > 1 else ()) + (max(0, extents[-1] + more),)

    def add_own(self):
        p = self.add(pick(self.rng, INTEGERS + 3 * FLOATS + HALVES + ["bool"]), self.ndim, "own")
        last = pick(self.rng, [lambda x: x, lambda x: x, lambda x: binary("+", x, literal(2)),
                               lambda x: binary("*", literal(2), x)])
        p.place = [self.index(d) for d in range(self.ndim - 1)] + [last(self.index(self.ndim - 1))]
        p.shape = lambda rng, extents: tuple(extents[:-1]) + (max(0, 2 * extents[-1] + int(pick(rng, [-1, 0, 2]))),)

    def counter(self):
        """The variable of a loop around, or 1."""
        found = [(name, t) for name, t in self.locals if name[0] == "x"]
        if not found:
            return literal(1)
        name, t = pick(self.rng, found)
        return Expr(name, t, lambda env: env.locals[name])

    def near(self):
        rng, x = self.rng, self.index(self.ndim - 1)
        return pick(rng, [x, x, binary("+", x, literal(int(rng.integers(-3, 4)))), binary("+", x, self.counter()),
                          binary("*", literal(2), x), self.counter(), literal(int(rng.integers(0, 5)))])

    def read(self):
        p = pick(self.rng, [p for p in self.parameters if p.use in ("read", "own")])
        if p.use == "own":
            return element(p, p.place)
        return element(p, [self.counter()] * (p.rank - 1) + [self.near()])

    def place_expr(self):
        return self.near()

    def trip(self):
        if chance(self.rng, 15):
            return super().trip()
        numbers = [binary("&", Expr(p.name, p.type, lambda env, p=p: np.full(env.points, env.args[p.name])), literal(3)).to("int64")
                   for p in self.parameters if p.use == "number" and is_integer(p.type) and p.type != "bool"]
        row = [binary("&", self.index(0), literal(3))] if self.ndim > 1 else []
        return pick(self.rng, [literal(int(self.rng.integers(1, LOOPS + 1))), binary("&", self.length(), literal(3))] + numbers + row)

    def reduction(self, depth):
        return self.read() if chance(self.rng, 90) else super().reduction(depth)

    def declare_array(self):
        return self.declare()

    def atomic(self):
        return self.assign() if self.inside_loop else super().atomic()
