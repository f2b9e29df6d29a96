"""even_records.py - records whose fields are computed alike, which the CPU takes for longer arrays of the fields, and records that look almost so:
one field that is computed in another way, from another field, or from none; a field that nobody reads or writes; numbers; one array
twice; results in the place of an operand. Against NumPy, to the bit, and what lies between the records must stay."""
import re
import sys

import numpy as np

from uf import Func, run

TYPES = ["f4", "f8", "i4", "u1", "i8", "i2"]
NAMES = {"f4": "float32", "f8": "float64", "i4": "int32", "u1": "uint8", "i8": "int64", "i2": "int16"}


def record_type(t, fields, gap):
    size = np.dtype(t).itemsize
    return np.dtype({"names": [f"f{k}" for k in range(fields)], "formats": [t] * fields, "offsets": [k * size for k in range(fields)],
                     "itemsize": (fields + gap) * size})


def expression(rng, depth):
    """Text with a and b for fields of two operands, and t for a number."""
    if not depth:
        return str(rng.choice(["a", "b", "a", "b", "t", "3"]))
    x, y = expression(rng, depth - 1), expression(rng, int(rng.integers(depth)))
    return f"({x} {rng.choice(['+', '-', '*'])} {y})" if rng.random() < .8 else f"{rng.choice(['min', 'max'])}({x}, {y})"


def evaluated(text, into, **values):
    """The value of an expression in the type `into`, as C computes it in a wider one for integers; nothing is NaN."""
    wide = "i8" if np.dtype(into).kind in "iu" else into
    names = {k: np.asarray(v).astype(wide) for k, v in values.items()}
    three = np.array(3, wide)
    x = eval(text.replace("3", "three"), {"min": np.minimum, "max": np.maximum, "three": three}, names)
    return np.asarray(x).astype(into)


class Case:
    def __init__(self, rng):
        self.rng = rng
        self.t = str(rng.choice(TYPES))
        self.fields = int(rng.integers(2, 6))
        self.gaps = [int(rng.random() < .1) for _ in range(3)]  # fields that no operand is, at the end of each array's records
        self.n = int(rng.choice([1, 3, 16, 33, 100, 257]))
        self.texts = [expression(rng, 2)] * self.fields
        self.sources = [(k, k) for k in range(self.fields)]
        change = rng.random()
        if change < .2:
            self.texts[int(rng.integers(self.fields))] = expression(rng, 2)
        elif change < .4:
            k = int(rng.integers(self.fields))
            self.sources[k] = (int(rng.integers(self.fields)), k)
        elif change < .5:  # another order of all
            order = rng.permutation(self.fields)
            self.sources = [(int(k), int(k)) for k in order]
        elif change < .6:
            k = int(rng.integers(self.fields))
            self.texts[k] = "3"

    def source(self):
        names = [f"a{k}" for k in range(self.fields)] + [f"b{k}" for k in range(self.fields)] + ["t"]
        lines = []
        for k, (text, (i, j)) in enumerate(zip(self.texts, self.sources)):
            text = re.sub(r"\ba\b", f"a{i}", re.sub(r"\bb\b", f"b{j}", text))
            lines.append(f"r{k} = {text};")
        if self.rng.random() < .3:
            lines = [f"auto v{k} = {line[5:-1]};" for k, line in enumerate(lines)] + [f"r{k} = v{k};" for k in range(self.fields)]
        return f"({', '.join(names)}) -> ({', '.join(f'r{k}' for k in range(self.fields))}) {{ {' '.join(lines)} }}"

    def check(self):
        rng, f = self.rng, range(self.fields)
        kinds = [record_type(self.t, self.fields, gap) for gap in self.gaps]
        shape = (self.n,) if rng.random() < .7 else (3, self.n)
        whole = shape if len(shape) == 1 else (3, self.n + 2)
        blocks = [rng.integers(0, 9, whole + (k.itemsize // np.dtype(self.t).itemsize,)).astype(self.t) for k in kinds]
        a, b, r = (x.view(k)[..., 0][..., :self.n] for x, k in zip(blocks, kinds))
        if rng.random() < .2:
            b = a
        place = rng.random()
        if place < .15:
            r = a
        t = np.array(int(rng.integers(1, 5)), self.t)
        number = t if rng.random() < .7 else np.broadcast_to(t, shape)
        want = [evaluated(text, self.t, a=a[f"f{i}"].copy(), b=b[f"f{j}"].copy(), t=t) for text, (i, j) in zip(self.texts, self.sources)]
        before = [x.copy() for x in blocks]
        call = Func(self.source(), f"{','.join([NAMES[self.t]] * (2 * self.fields + 1))}->{','.join([NAMES[self.t]] * self.fields)}")
        call(*[a[f"f{k}"] for k in f], *[b[f"f{k}"] for k in f], number, *[r[f"f{k}"] for k in f])
        for k in f:
            assert np.array_equal(r[f"f{k}"], np.broadcast_to(want[k], shape)), (self.source(), self.t, shape, k)
        which = 0 if r is a else 2
        for k in f:
            r[f"f{k}"] = before[which].view(kinds[which])[..., 0][..., :self.n][f"f{k}"]
        assert all(np.array_equal(x, y) for x, y in zip(blocks, before)), (self.source(), "wrote elsewhere")


def random_records(rng):
    for _ in range(400):
        Case(rng).check()


def records_of_modules(rng):
    """Vectors by the operators of the module vec."""
    kind = record_type("f4", 3, 0)
    for n in (1, 7, 64, 1000):
        a, b, r = (rng.normal(size=(n, 3)).astype("f4") for _ in range(3))
        for o, f in (("+", np.add), ("*", np.multiply), ("-", np.subtract)):
            v = [x.view(kind)[:, 0] for x in (a, b, r)]
            names = [f"{q}{k}" for q in "ab" for k in range(3)]
            text = (f"use vec; ({', '.join(names)}) -> (x, y, z) {{ auto s = (vec3(float32)){{a0, a1, a2}} {o} (vec3(float32)){{b0, b1, b2}}; "
                    "x = s.x; y = s.y; z = s.z; }")
            Func(text, "float32,float32,float32,float32,float32,float32->float32,float32,float32")(*[x[f"f{k}"] for x in v for k in range(3)])
            assert np.array_equal(r, f(a, b)), (n, o)


def records_of_two_types(rng):
    """The same records as numbers of one dtype and of another one."""
    pairs = [("f4", "i4"), ("i4", "f4"), ("u4", "i4"), ("f8", "i8"), ("u1", "i1"), ("?", "u1"), ("i1", "?"), ("i2", "f2")]
    for one, other in pairs:
        fields = int(rng.integers(2, 5))
        numbers = rng.integers(0, 2, (100, fields)).astype(f"u{np.dtype(one).itemsize}")
        a, b, r = numbers.view(one), numbers.view(other), np.empty(numbers.shape, "f8")
        names = [f"{q}{k}" for q in "ab" for k in range(fields)]
        text = f"({', '.join(names)}) -> ({', '.join(f'r{k}' for k in range(fields))}) {{ " + \
            " ".join(f"r{k} = (float64)a{k} + 3 * (float64)b{k};" for k in range(fields)) + " }"
        types = [np.dtype(t).name for t in (one, other, "f8") for _ in range(fields)]
        Func(text, f"{','.join(types[:2 * fields])}->{','.join(types[2 * fields:])}")(*a.T, *b.T, *r.T)
        assert np.array_equal(r, a.astype("f8") + 3 * b.astype("f8")), (one, other, fields)


if __name__ == "__main__":
    sys.exit(run([random_records, records_of_modules, records_of_two_types]))
