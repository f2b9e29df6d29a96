"""doc_code.py - every piece of code in docs/ does what it says: blocks of C are compiled without warnings and run, kernels are
type-checked, blocks of Python are run, and in tables whose columns say the same in two languages both are run and compared.

Blocks of C that are no whole programs stand in one program a document, each in a scope of its own, behind doc_code/NAME.h, which
declares what they take for granted and fills it afresh before each of them (fresh). A call that fails in one is an error. Programs whose
arrays are in CUDA memory have them on the CPU where GPU tests are off. A comment in front of a block says how it is looked at where that is not enough:

    <!-- kernel OPTIONS -->              it is a kernel; OPTIONS are those of `ufunc inspect`: -l '(n)->(n)', -p 'int64[]', -s 'd->d'
    <!-- kernel line OPTIONS -->         one for each line that is a kernel of its own; `skip`: it is none
    <!-- kernel OPTIONS inside TEXT -->  the block stands in place of the ... in a kernel's text
    <!-- file NAME -->                   it is a file that later blocks of Python and of the shell read
    <!-- needs WHAT -->                  a block of Python that runs where GPU tests are on, and WHAT is there
"""
import contextlib
import os
import re
import shlex
import subprocess
import sys
import tempfile

import numpy as np

from uf import run

HERE = os.path.dirname(os.path.abspath(__file__))
ROOT = os.path.dirname(os.path.dirname(HERE))
BUILD = os.path.abspath(os.environ.get("BUILD", os.path.join(ROOT, "build")))
LIBRARY = os.path.abspath(os.environ.get("UFUNC_LIB", os.path.join(BUILD, "libufunc.so")))
COMPILER = shlex.split(os.environ.get("CC", "cc"))
UNUSED = ["-Wno-unused-variable", "-Wno-unused-local-typedefs"]  # what a piece declares to show it
ON_GPU = os.environ.get("UF_TEST_GPU") == "1"
FENCE = re.compile(r"((?:<!--[^\n]*-->\n)*)```(\w*)\n(.*?)^```$", re.S | re.M)


class Block:
    def __init__(self, document, match):
        text = match.string
        self.comments = re.findall(r"<!-- (.*?) -->", match[1])
        self.language, self.code = match[2], match[3]
        self.line = text.count("\n", 0, match.start(2)) + 2
        self.where = f"docs/{document}.md:{self.line}"

    def options(self, word):
        return [c[len(word):].strip() for c in self.comments if c == word or c.startswith(word + " ")]


def documents():
    return sorted(f[:-3] for f in os.listdir(os.path.join(ROOT, "docs")) if f.endswith(".md"))


def read(document):
    with open(os.path.join(ROOT, "docs", document + ".md")) as f:
        return f.read()


def blocks(document):
    return [Block(document, m) for m in FENCE.finditer(read(document))]


def sanitizers():
    libraries = subprocess.run(["ldd", os.path.join(BUILD, "libufunc.so")], capture_output=True, text=True).stdout
    return [f"-fsanitize={name}" for lib, name in (("libasan", "address"), ("libtsan", "thread")) if lib in libraries]


def command(*words, **more):
    env = dict(os.environ, LD_LIBRARY_PATH=BUILD, ASAN_OPTIONS=os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0")
    return subprocess.run(words, capture_output=True, text=True, env=env, **more)


def run_program(folder, name, source):
    """Compiles a C program as a reader would, and returns what it prints."""
    path = os.path.join(folder, name)
    with open(path + ".c", "w") as f:
        f.write(source)
    made = command(*COMPILER, "-std=c11", "-O1", "-Wall", "-Wextra", "-Werror", *UNUSED, *sanitizers(),
                   "-I" + os.path.join(ROOT, "include"), path + ".c", "-L" + BUILD, "-lufunc", "-lm", "-o", path)
    assert made.returncode == 0, made.stderr[:4000]
    ended = command(path, cwd=folder)
    assert ended.returncode == 0, ended.stderr or f"exit status {ended.returncode}"
    return ended.stdout


# ---- C ----

def prologue(document):
    path = os.path.join(HERE, "doc_code", document + ".h")
    text = open(path).read() if os.path.exists(path) else ""
    if "void fresh(void)" not in text:
        text += "static void fresh(void) {}\n"
    return f'#include <stdio.h>\n#include <stdlib.h>\n#include <string.h>\n#include <ufunc.h>\n#line 1 "{path}"\n{text}'


SCOPE = """
    fresh();
    {{
#line {line} "docs/{document}.md"
{code}
    }}
    if (uf_last_error()->status) {{
        fprintf(stderr, "docs/{document}.md:{line}: %s\\n", uf_last_error()->message);
        return 1;
    }}
"""


def fragments(document, some):
    scopes = "".join(SCOPE.format(line=b.line, document=document, code=b.code) for b in some)
    return f"{prologue(document)}\nint main(void) {{\n{scopes}    return 0;\n}}\n"


def check_programs(folder, document):
    some = [b for b in blocks(document) if b.language == "c" and not b.comments]
    whole = [b for b in some if "int main(" in b.code]
    for k, b in enumerate(whole):
        code = b.code if ON_GPU else b.code.replace("{kDLCUDA, 0}", "{kDLCPU, 0}")
        printed = run_program(folder, f"{document}-{k}", f'#line {b.line} "docs/{document}.md"\n{code}').rstrip("\n")
        wanted = re.search(r"/\* prints (.*) \*/", b.code)
        assert wanted and printed == wanted[1], f"{b.where}: printed {printed}"
    rest = [b for b in some if b not in whole]
    if rest:
        run_program(folder, document, fragments(document, rest))


# ---- Kernels ----

def check_kernels(folder, document):
    for b in blocks(document):
        lines = b.options("kernel line")
        each = [line for line in b.code.splitlines() if line.strip()]
        assert not lines or len(lines) == len(each), f"{b.where}: {len(lines)} comments for {len(each)} kernels"
        whole = [] if lines else b.options("kernel")
        for options, code in [*zip(lines, each), *((o, b.code) for o in whole)]:
            if options == "skip":
                continue
            options, _, around = options.partition(" inside ")
            text = around.replace("...", "\n" + code) if around else code
            made = command(os.path.join(BUILD, "ufunc"), "inspect", "-v", "tree", *shlex.split(options), "-e", text)
            assert made.returncode == 0, f"{b.where}: {made.stderr}"


# ---- Python and the shell ----

def check_python(folder, document):
    space = {"__name__": "document"}
    here = os.getcwd()
    os.chdir(folder)
    try:
        for b in blocks(document):
            for name in b.options("file"):
                with open(name, "w") as f:
                    f.write(b.code)
            if b.language == "python" and (ON_GPU or not b.options("needs")):
                code = "\n" * (b.line - 1) + b.code.replace('"libufunc.so"', repr(LIBRARY))
                with contextlib.redirect_stdout(sys.stderr):
                    exec(compile(code, f"docs/{document}.md", "exec"), space)
            if b.language == "sh":
                ended = command("sh", "-ec", f"PATH={BUILD}:$PATH\n{b.code}")
                assert ended.returncode == 0, f"{b.where}: {ended.stdout}{ended.stderr}"
    finally:
        os.chdir(here)


# ---- Tables ----

def rows(document):
    """(head of the first column, line, first cell, second cell) of tables of two columns."""
    head = None
    for number, line in enumerate(read(document).splitlines(), 1):
        cells = [c.strip().replace("\\|", "|") for c in re.split(r"(?<!\\)\|", line)[1:-1]]
        if len(cells) != 2:
            head = None
        elif not head:
            head = cells[0] if cells[1] == "libufunc" else ""
        elif head and not cells[0].startswith("---"):
            yield head, number, *cells


def code_of(cell):
    """The code that is all of a cell; None: it is prose."""
    found = re.fullmatch(r"`([^`]*[;}])`", cell)
    return found and found[1]


def table_program(document, cells):
    scopes = "".join(SCOPE.format(line=line, document=document, code=code) + f'    puts("row {line}");\n    dump();\n'
                     for line, code in cells)
    return f"{prologue(document)}\nint main(void) {{\n{scopes}    return 0;\n}}\n"


def dumps(printed):
    """What the rows left: {line: {name: values}}."""
    out, row = {}, None
    for line in printed.splitlines():
        word, *rest = line.split()
        if word == "row":
            row = out.setdefault(int(rest[0]), {})
        else:
            row[word] = np.array([float(v) for v in rest])
    return out


def python_target(code):
    return next(m[1] for m in (re.match(r"(\w+) =", code), re.search(r"out=(\w+)", code), re.search(r"at\((\w+)", code)) if m)


def check_numpy(document, start, after):
    compared = 0
    for head, line, first, second in rows(document):
        if head != "NumPy" or not code_of(second):
            continue
        code, space = first.strip("`"), {"np": np}
        for name, (t, shape) in TYPES.items():
            space[name] = start[name].reshape(shape).astype(t).copy()
        exec(code, space)
        name = python_target(code)
        got, want = after[line][name], np.asarray(space[name]).astype(float).reshape(-1)
        assert np.allclose(got, want, rtol=1e-6), f"docs/{document}.md:{line}: {name} is {got}, NumPy has {want}"
        compared += 1
    return compared


# Of doc_code/from.h.
TYPES = {"x": ("f4", 6), "y": ("f4", 6), "r": ("f4", 6), "m": ("f4", (3, 4)), "v": ("f4", 4), "w": ("f4", 3), "t": ("f4", (4, 3)), "k": ("i8", 6)}


def check_tables(folder, document):
    cells = [(line, code_of(second)) for _, line, _, second in rows(document) if code_of(second)]
    after = dumps(run_program(folder, "tables", table_program(document, [(0, ""), *cells])))
    assert check_numpy(document, after[0], after) >= 25
    loops = [(line, code_of(first)) for head, line, first, _ in rows(document) if head == "C"]
    assert len(loops) >= 5
    for line, left in dumps(run_program(folder, "loops", table_program(document, loops))).items():
        for name, values in left.items():
            assert np.allclose(values, after[line][name], rtol=1e-6), f"docs/{document}.md:{line}: {name}: {values}, {after[line][name]}"


def checks(what, document):
    def test(rng):
        with tempfile.TemporaryDirectory() as folder:
            what(folder, document)
    test.__name__ = f"{what.__name__.removeprefix('check_')}_of_{document.replace('-', '_')}"
    return test


def main():
    compiles = not command(*COMPILER, "-fsyntax-only", "-xc", "-", input="#include <dlpack/dlpack.h>\n").returncode
    tests = []
    for document in documents():
        some = blocks(document)
        if compiles and any(b.language == "c" and not b.comments for b in some):
            tests.append(checks(check_programs, document))
        if any(b.options("kernel") or b.options("kernel line") for b in some):
            tests.append(checks(check_kernels, document))
        if any(b.language in ("python", "sh") for b in some):
            tests.append(checks(check_python, document))
    if compiles:
        tests.append(checks(check_tables, "from"))
    if sys.argv[1:]:
        tests = [t for t in tests if t.__name__ in sys.argv[1:]]
    return run(tests)


if __name__ == "__main__":
    sys.exit(main())
