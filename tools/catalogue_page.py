"""catalogue_page.py - prints docs/catalogue.md: every function of the catalogue with what the library says of it, a shortest call, and
the plot that tools/plots.c draws of functions of one real number."""
import os
import re
import sys
import textwrap

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "tests", "oracle"))

from uf import Func, catalogue

ROOT = os.path.join(HERE, "..")

HEAD = """# The catalogue

Written by `make catalogue` from what the library says of its {count} functions, which come as texts in [`layouts/`](../layouts); the plots are
drawn by libufunc. [function-files.md](function-files.md) says how they relate to NumPy's and SciPy's, [accuracy.md](accuracy.md)
how precise they are. T stands for one of the dtypes that follow. Calls are for `f` after

<!-- a pattern: NAME is the function's -->
```c
uf_func *f;
uf_load(&f, "NAME");
```

and for names that are tensors, such as `UF_ARRAY(values, n)`, or `UF_OUT(variable)` for a result
without dimensions. `ufunc list` and `ufunc list NAME` show the same.

"""

KINDS = (("elementwise", "Elementwise functions"), ("gufunc", "Generalized ufuncs"), ("reduction", "Reductions"))


def wrapped(text):
    return textwrap.fill(text, 128, break_long_words=False, break_on_hyphens=False) + "\n\n"


def read(*path):
    with open(os.path.join(ROOT, *path)) as file:
        return file.read()


def other_names():
    """Of a function, those that layouts/aliases adds."""
    names = {}
    for line in read("layouts", "aliases").splitlines():
        if not line.startswith("#"):
            alias, name = line.split()
            names.setdefault(name, []).append(alias)
    return names


def operands(name, description):
    """The names of inputs and outputs: those of the text, which begins with (x, y) or (x, y) -> (q, r)."""
    text = read("layouts", name + ".uf")
    if description.kind == b"reduction" and "\nmap " not in text and "\nmap\n" not in text:
        inputs, outputs = "x", ""
    else:
        found = re.search(r"^(?:kernel +|map +)?(?:use [^;]*; *)?(?:\[\w+\])?\(([\w, ]+)\)(?: -> \(([\w, ]+)\))? \{", text, re.M)
        inputs, outputs = found[1], found[2] or ""
    if description.kind == b"reduction":
        outputs = ""  # what the map has is the state
    outputs = outputs.split(", ") if outputs else ["out"] if description.nout == 1 else [f"out{k}" for k in range(description.nout)]
    inputs = inputs.split(", ")
    assert len(inputs) == description.nin and len(outputs) == description.nout, (name, inputs, outputs)
    return inputs + outputs


def call(name, description):
    arguments = operands(name, description)
    scans = b"meant for uf_accumulate" in description.doc
    verb = "UF_CALL" if description.kind != b"reduction" else "UF_ACCUMULATE" if scans else "UF_REDUCE"
    return f"{verb}(f, {', '.join(arguments)})"


def grouped(signatures, position):
    """Signatures in which T stands for the dtype of the input at that position, each with the dtypes that it stands for."""
    groups = {}
    for signature in signatures:
        dtype = signature.split("->")[0].split(",")[position]
        groups.setdefault(re.sub(rf"\b{dtype}\b", "T", signature), []).append(dtype)
    for pattern in [p for p, dtypes in groups.items() if len(dtypes) == 1]:
        for larger, dtypes in groups.items():  # int64->int64 beside T->int64
            if len(dtypes) > 1 and larger.replace("T", groups[pattern][0]) == pattern.replace("T", groups[pattern][0]):
                dtypes += groups.pop(pattern)
                break
    return groups


def types(description):
    signatures = description.signatures.decode().split("; ")
    groups = min((grouped(signatures, position) for position in (0, -1)), key=len)
    return "; ".join(f"`{pattern}` {' '.join(dtypes)}" if len(dtypes) > 1 else f"`{pattern.replace('T', dtypes[0])}`"
                     for pattern, dtypes in groups.items())


def is_real_function(d):
    return (d.kind, d.nin, d.nout) == (b"elementwise", 1, 1) and b"float64->float64" in d.signatures


def entry(name, description, others):
    d, text = description, f"### {name}\n\n"
    if is_real_function(d):
        plot = f"plots/{name}.png"
        assert os.path.exists(os.path.join(ROOT, "docs", plot)), f"docs/{plot} is missing: make catalogue"
        text += f'<img src="{plot}" width="240" align="right" alt="{name}">\n\n'
    text += wrapped(d.doc.decode())
    if others:
        text += f"Also called {' and '.join(f'`{n}`' for n in others)}.\n\n"
    text += f"`{call(name, d)}`" + (f", layout `{d.layout.decode()}`" if d.layout else "")
    text += f", identity `{' '.join(d.identity.decode().split())}`" if d.identity else ""
    return text + "\n\n" + wrapped(f"Types: {types(d)}.") + ('<br clear="right">\n\n' if is_real_function(d) else "")


def main():
    aliases = other_names()
    second = {alias for names in aliases.values() for alias in names}
    functions = {name: Func.load(name).describe() for name in catalogue() if name not in second}
    text = HEAD.format(count=len(functions))
    for kind, title in KINDS:
        names = [name for name, d in functions.items() if d.kind.decode() == kind]
        text += f"## {title}\n\n" + wrapped(" · ".join(f"[{name}](#{name})" for name in names))
        text += "".join(entry(name, functions[name], aliases.get(name)) for name in names)
    sys.stdout.write(text.rstrip() + "\n")


if __name__ == "__main__":
    main()
