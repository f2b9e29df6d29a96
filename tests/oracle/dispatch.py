"""dispatch.py - the signatures chosen against NumPy's resolve_dtypes.

For every elementwise ufunc of NumPy, with the loops of the fourteen dtypes that are NumPy's too, under UF_FIRST_MATCH; and for
every function of the catalogue that NumPy has, with the signatures of the catalogue, in both modes: every tuple of dtypes
(numbers strong), and every array dtype beside Python's weak int, float and complex. We answer by
build/test/test_dispatch --choose.
"""

import itertools
import os
import subprocess
import sys

import numpy as np

from elementwise import first_name
from uf import Func, catalogue

PROGRAM = os.path.join(os.environ.get("BUILD", "build"), "test", "test_dispatch")
NARROWEST, FIRST_MATCH, STRONG_NUMBERS = 0, 1, 2
NO_MATCH = "4"  # UF_ERR_SIGNATURE
CODES = "?bhilBHILefdFD"
SYNONYMS = {"q": "l", "Q": "L"}
KINDS = {c: kind for kind, codes in enumerate(["?", "bhilBHIL", "efd", "FD"]) for c in codes}
WEAK = {int: (1, "#int64"), float: (2, "#float64"), complex: (3, "#complex128")}

# Ufuncs that do not search their list in order: their inputs go through a promoter or a resolver of their own first.
# What is left to compare: the tuples for which this is true.
OWN_RULES = {
    "divide": lambda kinds: max(kinds) > 1,  # integers and bools are divided as float64
    "logical_and": lambda kinds: max(kinds) == 0,  # everything is taken for its truth first
    "logical_or": lambda kinds: max(kinds) == 0,
    "logical_xor": lambda kinds: max(kinds) == 0,
    "subtract": lambda kinds: max(kinds) > 0,  # refused for bools, on principle
    "negative": lambda kinds: max(kinds) > 0,
    "positive": lambda kinds: max(kinds) > 0,
    "sign": lambda kinds: max(kinds) > 0,
    "gcd": lambda kinds: max(kinds) > 0,
    "lcm": lambda kinds: max(kinds) > 0,
}

# Where the catalogue is not NumPy: for which kinds, what stands in NumPy's place, and why.
REFUSED = {None: "int8,int8->int8"}
REFUSED_OF_ONE = {None: "int8->int8"}
EXCEPTIONS = {
    # NumPy divides integers and bools by its loop of float64; here they have signatures of their own, with its result.
    "divide": (lambda kinds: max(kinds) <= 1, "outputs"),
    # NumPy takes everything for its truth before its loop for bools; here each dtype has a signature.
    "logical_and": (lambda kinds: True, "outputs"),
    "logical_or": (lambda kinds: True, "outputs"),
    "logical_xor": (lambda kinds: True, "outputs"),
    "logical_not": (lambda kinds: True, "outputs"),
    # NumPy refuses bools; here they are int8.
    "subtract": (lambda kinds: max(kinds) == 0, REFUSED),
    "gcd": (lambda kinds: max(kinds) == 0, REFUSED),
    "lcm": (lambda kinds: max(kinds) == 0, REFUSED),
    "negative": (lambda kinds: max(kinds) == 0, REFUSED_OF_ONE),
    "positive": (lambda kinds: max(kinds) == 0, REFUSED_OF_ONE),
    "sign": (lambda kinds: max(kinds) == 0, REFUSED_OF_ONE),
}


def signatures(ufunc):
    """The ufunc's loops that are ours, in order; long long is a second name of int64."""
    ours = []
    for loop in ufunc.types:
        loop = "".join(SYNONYMS.get(c, c) for c in loop)
        if set(loop) <= set(CODES + "->") and loop not in ours:
            ours.append(loop)
    return ours


def elementwise_ufuncs():
    for name in sorted(dir(np)):
        ufunc = getattr(np, name)
        if isinstance(ufunc, np.ufunc) and ufunc.__name__ == name and not ufunc.signature and signatures(ufunc):
            yield ufunc


def resolve(ufunc, inputs):
    """NumPy's choice in our spelling; None: no loop."""
    try:
        chosen = ufunc.resolve_dtypes(tuple(inputs) + (None,) * ufunc.nout)
    except TypeError:
        return None
    names = [d.name for d in chosen]
    return ",".join(names[:ufunc.nin]) + "->" + ",".join(names[ufunc.nin:])


def strong_questions(ufunc):
    for codes in itertools.product(CODES, repeat=ufunc.nin):
        if OWN_RULES.get(ufunc.__name__, lambda kinds: True)([KINDS[c] for c in codes]):
            dtypes = [np.dtype(c) for c in codes]
            yield ",".join(d.name for d in dtypes), resolve(ufunc, dtypes)


def weak_questions(ufunc):
    for code, (python, (kind, word)) in itertools.product(CODES, WEAK.items()):
        if ufunc.nin != 2:
            continue
        if not OWN_RULES.get(ufunc.__name__, lambda kinds: True)([KINDS[code], kind]):
            continue
        dtype = np.dtype(code)
        yield f"{dtype.name},{word}", resolve(ufunc, [dtype, python])
        yield f"{word},{dtype.name}", resolve(ufunc, [python, dtype])


def choose(listed, flags, inputs):
    """Our choices among the signatures of a list, one for each text of inputs; None: no match."""
    text = "".join(f"{flags}|{listed}|{words}\n" for words in inputs)
    answers = subprocess.run([PROGRAM, "--choose"], input=text, capture_output=True, text=True, check=True)
    got = [None if line == NO_MATCH else line for line in answers.stdout.splitlines()]
    assert len(got) == len(inputs)
    return got


def compare(ufunc, flags, questions):
    asked = list(questions(ufunc))
    got = choose(";".join(signatures(ufunc)), flags, [inputs for inputs, _ in asked])
    return len(asked), [f"{ufunc.__name__}({inputs}): got {line}, NumPy {want}"
                        for (inputs, want), line in zip(asked, got) if line != want]


# ---- The catalogue ----

NUMBERS = {np.dtype(bool): (0, "#bool"), **WEAK}  # NumPy's stand-ins; a Python bool is a bool array


def catalogue_ufuncs():
    for name in catalogue():
        ufunc = getattr(np, name, None)
        if isinstance(ufunc, np.ufunc) and first_name(name) == name:
            yield ufunc, Func.load(name).describe().signatures.decode()


def catalogue_questions(ufunc):
    """The text of the inputs, their kinds, NumPy's choice. Operands with core dimensions are no numbers, nor is a single operand."""
    arrays = [(np.dtype(code), KINDS[code], np.dtype(code).name) for code in CODES]
    numbers = [] if ufunc.signature else [(dtype, *named) for dtype, named in NUMBERS.items()]
    pairs = [*itertools.product(arrays, arrays), *itertools.product(arrays, numbers), *itertools.product(numbers, arrays)]
    for operands in pairs if ufunc.nin == 2 else itertools.product(arrays):
        dtypes, kinds, words = zip(*operands)
        yield ",".join(words), kinds, resolve(ufunc, dtypes)


def outputs(signature):
    return signature and signature.split("->")[1]


def differs(name, kinds, got, want):
    concerns, instead = EXCEPTIONS.get(name, (lambda kinds: False, None))
    if not concerns(kinds):
        return got != want
    return outputs(got) != outputs(want) if instead == "outputs" else got != instead.get(want)


def compare_catalogue(ufunc, listed, flags):
    asked = list(catalogue_questions(ufunc))
    got = choose(listed, flags, [inputs for inputs, _, _ in asked])
    return len(asked), [f"{ufunc.__name__}({inputs}): got {line}, NumPy {want}"
                        for (inputs, kinds, want), line in zip(asked, got)
                        if differs(ufunc.__name__, kinds, line, want)]


# ---- What NumPy has ----

NOT_HERE = {"isnat"}  # of datetime and timedelta only
# NumPy's list ends with loops that divide int64 and others in float64, by a rule of its own; here each dtype has a signature.
OTHER_TYPES = {"divide", "true_divide"}


def numpy_ufuncs():
    """All, by each of their names. Those of strings are not in this namespace."""
    return {name: f for name in dir(np) for f in [getattr(np, name)] if isinstance(f, np.ufunc)}


def numpy_signatures(ufunc):
    """Its loops that are ours, in its order. Without object, datetime, timedelta and long double."""
    named = [[[np.dtype(code).name for code in side] for side in loop.split("->")] for loop in signatures(ufunc)]
    return ["->".join(",".join(side) for side in sides) for sides in named]


def listed_differently(name, ufunc):
    listed = Func.load(name).describe().signatures.decode().split("; ")
    got, want = [s for s in listed if "bfloat16" not in s], numpy_signatures(ufunc)
    return [] if got == want else [f"{name}: {got}, NumPy {want}"]


def compare_names():
    """Every ufunc is in the catalogue, with NumPy's types in NumPy's order, and by another name it is the same."""
    names = catalogue()
    for name, ufunc in numpy_ufuncs().items():
        if name in NOT_HERE:
            continue
        if name not in names:
            yield 0, [f"{name} is not in the catalogue"]
            continue
        wrong = [] if name in OTHER_TYPES else listed_differently(name, ufunc)
        if Func.load(name).describe().doc != Func.load(first_name(name)).describe().doc:
            wrong.append(f"{name} is not {first_name(name)} by another name")
        yield len(ufunc.types), wrong


def main():
    loops, listed = list(elementwise_ufuncs()), list(catalogue_ufuncs())
    tests = [("every tuple of dtypes",
              lambda: [compare(ufunc, FIRST_MATCH | STRONG_NUMBERS, strong_questions) for ufunc in loops]),
             ("weak numbers", lambda: [compare(ufunc, FIRST_MATCH, weak_questions) for ufunc in loops]),
             ("the catalogue under UF_FIRST_MATCH",
              lambda: [compare_catalogue(*entry, FIRST_MATCH) for entry in listed]),
             ("the catalogue by the narrowest signature",
              lambda: [compare_catalogue(*entry, NARROWEST) for entry in listed]),
             ("every ufunc is in the catalogue, and its signatures", lambda: list(compare_names()))]
    print(f"1..{len(tests)}\n# NumPy {np.__version__}")
    failed = 0
    for number, (name, questions) in enumerate(tests, 1):
        results = questions()
        count, wrong = sum(n for n, _ in results), [line for _, lines in results for line in lines]
        ok = count > 1000 and not wrong
        failed += not ok
        print(f"{'ok' if ok else 'not ok'} {number} - {name} choose NumPy's loop: {count} questions, "
              f"{len(results)} ufuncs")
        for line in wrong[:20]:
            print("#", line)
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
