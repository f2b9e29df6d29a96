"""construct_texts.py - random kernels over core dimensions and over indices, whose constructs stand in each other, in conditions, in loops,
in indices and in ranges. Results do not depend on the order of iterations: an iteration of a forall reads and assigns elements of outputs
at its own place alone, and values are integers, or floating numbers so small that sums are exact."""
import numpy as np

INTEGERS, FLOATS = ["int8", "uint8", "int16", "int32", "uint32", "int64", "bool"], ["float32", "float64"]
HELPERS = """clip(v) { return v < -3 || v > 3 ? 3 : v; }
both(a, b) { return a + b; }
larger(a, b) { return a > b ? a : b; }
steps(a) { auto t = a; for (int64 q = 0; q < 3; q++) { if (t > q) t = clip(t + q); else t = clip(t - 1); } return t; }
first(a, b) { if (a > b) return clip(a); auto t = clip(b); return t - 1; }
parts(a, b) -> (p, q) { p = clip(a) + 1; if (a < b) q = clip(b); }
above(x[e], a) { return sum(q : e, x[q] > a); }
last(x[e]) { auto t = x[0]; for (int64 q = 1; q < e; q++) if (x[q] > t) t = x[q]; return t; }
"""


class Operand:
    """pointer: its values go up. counter: it is updated by atomic functions alone."""

    def __init__(self, name, core, type, output, pointer=False, counter=None):
        self.name, self.core, self.type, self.output, self.pointer, self.counter = name, core, type, output, pointer, counter


class Scope:
    """What may stand at a place. cost: iterations of all that is around it. indices: [(text, the most there are, the dimension that it goes
    along or None)]. own: the indices of the innermost construct. readable, assignable: variables. place: by output, its indices, of which
    those that are None are free; an output that is not in it may not be touched. within: is it in a forall, or a point?"""

    def __init__(self, **fields):
        self.__dict__.update({"cost": 1, "indices": [], "own": [], "readable": [], "assignable": [], "place": {}, "within": False,
                              "returns": False, "foralls": True, **fields})

    def inner(self, **fields):
        s = Scope(**{**self.__dict__, **fields})
        s.indices, s.readable, s.assignable = list(s.indices), list(s.readable), list(s.assignable)
        return s


class Text:
    """sizes: by dimension, the largest it will have. most: iterations of everything around an expression. plain: ranges are sizes, and
    indices those of ranges. writes_only: outputs are not read."""

    def __init__(self, rng, operands, sizes, most, floats, plain=.35, writes_only=.3):
        self.rng, self.operands, self.sizes, self.most, self.floats = rng, operands, sizes, most, floats
        self.count, self.plain, self.writes_only = 0, rng.random() < plain, rng.random() < writes_only

    # -- Draws

    def chance(self, percent):
        return self.rng.random() * 100 < percent

    def pick(self, *items):
        return items[int(self.rng.integers(len(items)))]

    def new(self, letter):
        self.count += 1
        return f"{letter}{self.count}"

    def type(self):
        return self.pick(*(FLOATS if self.floats else INTEGERS + ["int32", "int64"]))

    # -- Expressions

    def extent(self, s):
        """An extent, the largest value it has (at least 1), and the dimension that it is."""
        d = self.pick(*self.sizes)
        n, k = max(1, self.sizes[d]), int(self.rng.integers(1, 6))
        way = self.rng.random()
        if way < .6 or self.plain:
            return d, n, d
        if way < .7:
            return str(k), k, None
        if way < .78:
            return f"{d} - {k}", n, d
        if way < .84 and s.indices:
            i, most, _ = self.pick(*s.indices)
            return f"{i} + {k}", most + k, None
        if way < .92:
            return f"(int64)({self.value(s, 1)}) & {(1 << k) - 1}", 1 << k, None
        return f"{d} / {k + 1} + 1", n, d

    def ranges(self, s, most_ranges):
        """Text, and a scope in which the indices are there. None: it would take too long."""
        drawn, cost = [], s.cost
        for _ in range(int(self.rng.integers(1, most_ranges + 1))):
            extent, most, d = self.extent(s)
            if cost * most > self.most:
                break
            cost *= most
            drawn.append((self.new("i"), extent, most, d))
        if not drawn:
            return None
        inner = s.inner(cost=cost)
        inner.indices += [(name, most, d) for name, _, most, d in drawn]
        inner.own = [name for name, *_ in drawn]
        return ", ".join(f"{name} : {extent}" for name, extent, *_ in drawn), inner

    def index(self, s, d, depth):
        way = self.rng.random()
        along = [i for i, _, of in s.indices if of == d]
        small = [(i, most) for i, most, of in s.indices if of is None and most < 9]
        if along and small and self.chance(60):
            i, most = self.pick(*small)
            return f"{along[-1]} + {i} - {most // 2}"
        if along and self.chance(95 if self.plain else 50):
            return along[-1] if self.chance(70) else self.pick(*along)
        if s.indices and way < .8:
            i = self.pick(*s.indices)[0] if self.chance(40) else s.indices[-1][0]
            c = int(self.rng.integers(1, 4))
            return i if way < .5 else self.pick(f"{i} + {c}", f"{i} - {c}", f"{d} - 1 - {i}", f"{i} / 2", f"{i} * {c}", f"({i} + {c}) % {d}")
        if way < .88 or not depth:
            return self.pick("0", "1", f"{d} - 1", f"{d} / 2")
        return f"(int64)({self.value(s, depth - 1)})"

    def leaves(self):
        """Elements that are the same for all iterations."""
        return [o.name + "[0]" * len(o.core) for o in self.operands if not o.output and not o.counter]

    def element(self, s, depth):
        o = self.pick(*(o for o in self.operands if not o.output and not o.counter))
        return o.name + "".join(f"[{self.index(s, d, depth)}]" for d in o.core)

    def own_element(self, s, depth):
        """An element that the iteration may read and assign; None: there is none."""
        o = [o for o in self.operands if o.name in s.place and (o.core or not s.within)]
        if not o:
            return None
        o = self.pick(*o)
        return o.name + "".join(f"[{at or self.index(s, d, depth)}]" for at, d in zip(s.place[o.name], o.core))

    def reduction(self, s, depth):
        rows = [o for o in self.operands if o.pointer]
        if rows and s.indices and s.cost * 40 < self.most and self.chance(50):
            p, (i, _, _), k = self.pick(*rows).name, self.pick(*s.indices), self.new("i")
            inner = s.inner(cost=s.cost * 40, place={})
            inner.indices.append((f"({p}[{i}] + {k})", 40, "e"))
            return f"clip({self.pick('sum', 'max')}({k} : {p}[{i} + 1] - {p}[{i}], clip({self.value(inner, depth)})))"
        drawn = self.ranges(s, 2)
        if not drawn:
            return self.element(s, 0)
        ranges, inner = drawn
        inner.place = {} if self.chance(80) else {name: at for name, at in s.place.items() if at}
        term = self.value(inner, depth)
        word = self.pick("sum", "sum", "sum", "max", "min", "any", "all", "prod", "both", "larger")
        if word == "prod":
            return f"(int32)prod({ranges}, clip({term}) == 2 ? 2 : 1)" if not self.floats else f"(prod({ranges}, {term} > 9 ? 2 : 1) & 7)"
        if word in ("both", "larger"):
            return f"clip(reduce({word}, {ranges}, clip({term}) + 0))"
        if word in ("any", "all"):
            return f"{word}({ranges}, {term} > {self.pick(0, 1, -2)})"
        return f"clip({word}({ranges}, clip({term})))"

    def condition(self, s, depth):
        a = self.value(s, depth)
        way = self.rng.random()
        if way < .6 or not depth:
            return f"{a} {self.pick('<', '>', '==', '!=', '<=')} {self.value(s, depth - 1) if self.chance(50) else self.pick(0, 1, 2)}"
        if way < .7 and s.indices:
            return f"{self.pick(*s.indices)[0]} {self.pick('<', '>')} {self.index(s, self.pick(*self.sizes), 0)}"
        return f"({self.condition(s, depth - 1)} {self.pick('&&', '||')} {self.condition(s, depth - 1)})"

    def value(self, s, depth):
        if depth <= 0:
            return self.leaf(s)
        way, a = self.rng.random(), lambda: self.value(s, depth - 1)
        if way < .28:
            return self.reduction(s, depth - 1)
        if way < .5:
            return f"({a()} {self.pick('+', '-', '*')} {a()})"
        if way < .62:
            return f"({self.condition(s, depth - 1)} ? {a()} : {a()})"
        if way < .7:
            return f"{self.pick('clip', 'steps')}({a()})"
        if way < .76:
            return f"{self.pick('first', 'min', 'max')}({a()}, {a()})"
        arrays = [o for o in self.operands if len(o.core) == 1 and not o.output and not o.counter]
        if way < .84 and arrays and s.cost * self.sizes[arrays[0].core[0]] < self.most:
            return self.pick(f"above({arrays[0].name}, {a()})", f"last({arrays[0].name})")
        if way < .9:
            return f"({self.type()})({a()})"
        return self.leaf(s)

    def leaf(self, s):
        way = self.rng.random()
        if way < .5:
            return self.element(s, 1)
        if way < .75 and s.readable:
            return f"clip({self.pick(*s.readable)})"
        if way < .83 and s.place and not self.writes_only and (s.within or self.chance(20)):
            own = self.own_element(s, 1)
            return f"clip({own})" if own else "1"
        if way < .92 and s.indices:
            return f"(int32)({self.pick(*s.indices)[0]} & 3)"
        return self.pick("1", "2", "-1", "3")

    # -- Statements

    def body(self, s, depth, count):
        """Statements, as lines."""
        out = []
        for _ in range(count):
            out += self.statement(s, depth)
        return out

    def block(self, s, depth):
        return "{ " + " ".join(self.body(s.inner(), depth, int(self.rng.integers(1, 3)))) + " }"

    def statement(self, s, depth):
        way = self.rng.random()
        if way < .22:
            value, name = self.value(s, 2), self.new("v")
            s.readable.append(name)
            s.assignable.append(name)
            return [f"{self.pick('auto', self.type())} {name} = {value};"]
        if way < .3 and s.assignable:
            return [f"{self.pick(*s.assignable)} = {self.value(s, 2)};"]
        if way < .42 and depth:
            other = f" else {self.block(s, depth - 1)}" if self.chance(40) else ""
            return [f"if ({self.condition(s, 2)}) {self.block(s, depth - 1)}{other}"]
        if way < .48 and depth:
            k, name = int(self.rng.integers(2, 5)), self.new("t")
            if s.cost * k > self.most:
                return []
            inner = s.inner(cost=s.cost * k)
            inner.indices.append((name, k, None))
            leave = f"if ({self.condition(inner, 1)}) {self.pick('break', 'continue')}; " if self.chance(25) else ""
            return [f"for (int64 {name} = 0; {name} < {k}; {name}++) {{ {leave}{' '.join(self.body(inner, depth - 1, 2))} }}"]
        if way < .52 and depth:
            name = self.new("w")
            inner = s.inner(cost=s.cost * 4)
            return [f"int64 {name} = (int64)({self.value(s, 1)}) & 3; while ({name} > 0 && {self.condition(s, 1)}) "
                    f"{{ {name} -= 1; {' '.join(self.body(inner, depth - 1, 1))} }}"]
        if way < .56:
            p, q = self.new("v"), self.new("v")
            text = f"auto ({p}, {q}) = parts({self.value(s, 2)}, {self.value(s, 1)});"
            s.readable += [p, q]
            s.assignable += [p, q]
            return [text]
        if way < .6:
            name, k = self.new("a"), int(self.rng.integers(2, 5))
            i, inner = self.new("i"), s.inner(cost=s.cost * k)
            inner.indices.append((i, k, None))
            fill = f"forall ({i} : {k})" if self.chance(15) else f"for (int64 {i} = 0; {i} < {k}; {i}++)"
            text = f"{self.type()} {name}[{k}]; {fill} {name}[{i}] = {self.value(inner, 1)};"
            s.readable += [f"{name}[{j}]" for j in range(k)] + [f"{name}[(int64)({self.pick(*self.leaves())}) & 3]"]
            return [text]
        if way < .63 and s.returns and self.chance(50):
            return [f"if ({self.condition(s, 1)}) return;"]
        if way < .8 and depth and s.foralls:
            return self.forall(s, depth)
        return self.store(s)

    def store(self, s):
        counters = [o for o in self.operands if o.counter]
        if counters and self.chance(40):
            o = self.pick(*counters)
            return [f"atomic_{o.counter}({o.name}[{self.index(s, o.core[0], 2)}], {self.value(s, 2)});"]
        place = self.own_element(s, 1) if s.within or self.chance(40) else None
        if not place:
            return self.forall(s, 1) if not s.within and s.foralls else []
        if self.chance(15) and not self.writes_only and place.split("[")[0] in s.place:
            return [f"{place} += {self.value(s, 2)};"]
        return [f"{place} = {self.value(s, 2)};"]

    def forall(self, s, depth):
        drawn = self.ranges(s, 2)
        if not drawn:
            return []
        ranges, inner = drawn
        inner.place = self.places(s, [(i, d) for i, _, d in inner.indices if i in inner.own])
        inner.within, inner.assignable, inner.returns = True, [], False
        lines = self.body(inner, depth - 1, int(self.rng.integers(1, 3)) if self.chance(60) else 0) + self.store(inner)
        return [f"forall ({ranges}) " + (lines[0] if len(lines) == 1 and lines[0][0] == "y" else f"{{ {' '.join(lines)} }}")] if lines else []

    def places(self, s, indices):
        """Where an iteration is at home: at places that no other one has. indices: with the dimensions that they go over."""
        out = {}
        for o in self.operands:
            free = [k for k, at in enumerate(s.place.get(o.name, [])) if at is None]
            if len(free) < len(indices):
                continue
            at = list(s.place[o.name])
            for (name, over), k in zip(indices, self.rng.permutation(free) if self.chance(30) else free):
                d = o.core[k]
                at[k] = self.pick(name, name, name, name, f"{d} - 1 - {name}", f"{name} + 1")
                if self.chance(8) and over == d and s.cost * self.sizes[d] ** 2 < self.most:
                    rank = f"sum({self.new('q')} : {d}, q{self.count} < {name})"  # the index itself
                    at[k] = self.pick(rank, f"({self.pick(*self.leaves())} > 0 ? {name} : {rank})")
            out[o.name] = at
        return out


# ---- Kernels ----


class Kernel:
    """What a test calls. layout: None for kernels over indices. space: their dimensions."""

    def __init__(self, text, source, signature, layout=None, space=()):
        self.operands, self.sizes, self.source, self.signature, self.layout, self.space = text.operands, text.sizes, source, signature, layout, space

    def __str__(self):
        return f"{self.source[len(HELPERS):]} {self.layout or ''} {self.signature}"


def types_of(rng):
    """Are they floating, and a function that draws one, which is most often the same."""
    floats = rng.random() < .4
    one, of = str(rng.choice(FLOATS if floats else INTEGERS)), FLOATS if floats else INTEGERS
    return floats, lambda: one if rng.random() < .6 else str(rng.choice(of))


def operands_of(type, inputs, outputs):
    return [Operand(f"{'y' if output else 'x'}{k}", core, type(), output)
            for output, cores in ((False, inputs), (True, outputs)) for k, core in enumerate(cores)]


def core_text(text, lines):
    """The kernel of a generalized ufunc."""
    names, cores, types = ([[f(o) for o in text.operands if o.output == output] for output in (False, True)]
                           for f in (lambda o: o.name, lambda o: f"({','.join(o.core)})", lambda o: o.type))
    source = f"{HELPERS}({', '.join(names[0])}) -> ({', '.join(names[1])}) {{\n" + "\n".join(lines) + "\n}"
    return Kernel(text, source, "->".join(map(",".join, types)), "->".join(map(",".join, cores)))


def statements_of(text, most):
    operands = text.operands
    top = Scope(readable=[o.name for o in operands if not o.core and not o.output], returns=text.chance(15),
                place={o.name: [None] * len(o.core) for o in operands if o.output})
    lines = text.body(top, 2, int(text.rng.integers(1, most)))
    for o in operands:
        if o.output and o.core and text.chance(70):
            lines += text.forall(top, 1)
        elif o.output and not o.core:
            lines.append(f"{o.name} = {text.value(top, 2)};")
    return core_text(text, lines)


def matrices(rng):
    """Of up to two dimensions."""
    floats, type = types_of(rng)
    sizes = {"n": int(rng.choice([1, 3, 16, 33, 64, 97, 130, 300])), "m": int(rng.choice([0, 1, 5, 8, 17, 32, 40, 65]))}
    cores = [("n",), ("n",), (), ("m",), ("n", "m"), ("m", "n")]
    draw = lambda: cores[int(rng.integers(len(cores)))]
    inputs, outputs = [("n",), ("m",)] + [draw() for _ in range(int(rng.integers(0, 2)))], [draw() for _ in range(int(rng.integers(1, 3)))]
    return statements_of(Text(rng, operands_of(type, inputs, outputs), sizes, 40000, floats), 5)


def rows(rng, lengths=(33, 64, 97, 128, 257, 520, 1025, 2100, 4100, 9000)):
    """Along one dimension, or two of nearly one size."""
    floats, type = types_of(rng)
    n = int(rng.choice(lengths))
    sizes = {"n": n, "m": n + 1} if rng.random() < .3 else {"n": n}
    draw = lambda: [("n",), ("n",), ("n",), tuple(sizes)[-1:], ()][int(rng.integers(5))]
    inputs, outputs = [tuple(sizes)[:1], tuple(sizes)[-1:]] + [draw() for _ in range(int(rng.integers(0, 2)))], [draw() for _ in range(int(rng.integers(1, 3)))]
    return statements_of(Text(rng, operands_of(type, inputs, outputs), sizes, 3 * n, floats, plain=.7), 4)


def pair_term(text, s):
    """What a sum over c makes of an element of the first operand and one of the second."""
    names = {"n": "i", "m": "j", "k": "c"}
    a, b = (o.name + "".join(f"[{names[d]}]" for d in o.core) for o in text.operands[:2])
    term = text.pick(f"{a} * {b}", f"{a} * {b}", f"({a} - {b}) * ({a} - {b})", f"clip({a}) + {b}", f"{a} > {b} ? {a} : {b}",
                     f"(int32){a} * {b}", f"({a} > 0 && {b} > 0)", f"both({a}, {b}) * {a}", text.value(s, 2))
    return term if text.chance(70) else f"{term} + {text.leaf(s)}"


def pair_text(rng):
    """What products of matrices and pairs of points have in common: the text, without statements."""
    floats, type = types_of(rng)
    sizes = {"n": int(rng.choice([32, 33, 64, 65, 70, 96, 128])), "m": int(rng.choice([64, 70, 127, 128, 16])), "k": int(rng.choice([16, 17, 33, 40]))}
    inputs = [tuple(str(d) for d in rng.permutation(core)) for core in (["n", "k"], ["m", "k"])]
    inputs += [[("n",), ("m",), ("n", "m"), ()][int(rng.integers(4))]] if rng.random() < .5 else []
    outputs = [("n", "m") if rng.random() < .8 else ("m", "n") for _ in range(int(rng.integers(1, 3)))]
    return Text(rng, operands_of(type, inputs, outputs), sizes, 1000000, floats, plain=.9, writes_only=.9)


def pair_value(text, s):
    inner = s.inner()
    inner.indices.append(("c", text.sizes["k"], "k"))
    word = text.pick("sum", "sum", "sum", "max", "min", "any")
    value = f"{word}(c : k, {pair_term(text, inner)})"
    value = f"({text.type()}){value}" if text.chance(20) else value
    return text.pick(value, value, f"clip({value}) - {text.value(s, 1)}", f"({text.condition(s, 1)} ? {value} : 1)")


def products(rng):
    """Of matrices, and what is like them."""
    text, lines = pair_text(rng), []
    for o in text.operands:
        s = Scope(cost=text.most, indices=[("i", text.sizes["n"], "n"), ("j", text.sizes["m"], "m")], within=True)
        if o.output:
            s.place = text.places(Scope(place={o.name: [None, None]}), [("i", "n"), ("j", "m")])
            lines.append(f"forall (i : n, j : m) {text.own_element(s, 0)} = {pair_value(text, s)};")
    return core_text(text, lines)


def over_indices(text, space, lines):
    head = ", ".join(f"{i} : {d}" for i, d in zip("ijl", space))
    constants = "".join(f"const int64 {d} = {n};\n" for d, n in text.sizes.items() if d not in space)
    source = f"{HELPERS}{constants}[{head}]({', '.join(o.name for o in text.operands)}) {{\n" + "\n".join(lines) + "\n}"
    types = ", ".join(o.type + ("[" + "," * (len(o.core) - 1) + "]" if o.core else "") for o in text.operands)
    return Kernel(text, source, types, space=space)


def point_scope(text, space, **fields):
    numbers = [o.name for o in text.operands if not o.core]
    s = Scope(cost=int(np.prod([max(1, text.sizes[d]) for d in space])), indices=[(i, text.sizes[d], d) for i, d in zip("ijl", space)],
              readable=list(numbers), assignable=list(numbers), within=True, **fields)
    free = Scope(place={o.name: [None] * len(o.core) for o in text.operands if o.output})
    s.place = text.places(free, list(zip("ijl", space)))
    return s


def pairs(rng):
    """Points of a space of two indices, which reduce over what their pairs of rows have."""
    text = pair_text(rng)
    s = point_scope(text, ["n", "m"])
    s.cost = text.most
    return over_indices(text, ["n", "m"], [f"{text.own_element(s.inner(place={o.name: s.place[o.name]}), 0)} = {pair_value(text, s)};"
                                           for o in text.operands if o.output])


def points(rng):
    """Of spaces of up to three indices: windows, rows whose length is data, counters."""
    floats, type = types_of(rng)
    rank = int(rng.choice([1, 2, 3], p=[.5, .4, .1]))
    space = ["n", "m", "k"][:rank]
    sizes = {"n": int(rng.choice([1, 3, 33, 64, 97, 300, 1025] if rank == 1 else [2, 5, 17, 33, 64])), "m": int(rng.choice([1, 3, 8, 31, 64, 100])),
             "k": int(rng.choice([1, 2, 9, 40]))}
    some = lambda least: tuple(str(rng.choice(list(sizes))) for _ in range(int(rng.integers(least, 3))))
    inputs = [tuple(space[-2:]) if rng.random() < .4 else some(k == 0) for k in range(int(rng.integers(1, 4)))]
    ragged = rank == 1 and rng.random() < .35
    if ragged:
        sizes["e"] = int(sizes["n"] * rng.choice([5, 9, 20, 70]))
        inputs.append(("e",))
    operands = operands_of(type, inputs, [tuple(space) if rng.random() < .7 else tuple(str(d) for d in rng.permutation(space)) for _ in range(int(rng.integers(1, 3)))])
    if ragged or rng.random() < .1:
        operands.append(Operand("p0", (space[0],), str(rng.choice(["int32", "int64"])), False, pointer=True))
    if rng.random() < .2:
        operands.append(Operand("h0", some(1)[:1], str(rng.choice(["int32", "uint32", "int64", "int16", "uint8"])), False, counter=str(rng.choice(["add", "max"]))))
    text = Text(rng, operands, sizes, 1000000, floats, plain=.5, writes_only=.8 if ragged else .3)
    s = point_scope(text, space, returns=text.chance(20), foralls=text.chance(50))
    lines = text.body(s, 2, int(rng.integers(0, 4)))
    for o in operands:
        if o.output:
            lines += text.store(s)
    return over_indices(text, space, lines)
