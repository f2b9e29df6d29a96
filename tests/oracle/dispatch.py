"""dispatch.py - the signature chosen under UF_FIRST_MATCH against NumPy's resolve_dtypes.

For every elementwise ufunc of NumPy, with the loops of the fourteen dtypes that are NumPy's too: every tuple of dtypes
(numbers strong), and every array dtype beside Python's weak int, float and complex. We answer by
build/test/test_dispatch --choose.
"""

import itertools
import os
import subprocess
import sys

import numpy as np

PROGRAM = os.path.join(os.environ.get("BUILD", "build"), "test", "test_dispatch")
FIRST_MATCH, STRONG_NUMBERS = 1, 2
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
    """Numbers of a kind that the array has as well. Beside an array of a lesser kind (bool + 1, int8 + 0.5) NumPy takes
    its default dtype, int64 or float64; here the kind alone counts, as everywhere."""
    for code, (python, (kind, word)) in itertools.product(CODES, WEAK.items()):
        if ufunc.nin != 2 or KINDS[code] < kind:
            continue
        if not OWN_RULES.get(ufunc.__name__, lambda kinds: True)([KINDS[code], kind]):
            continue
        dtype = np.dtype(code)
        yield f"{dtype.name},{word}", resolve(ufunc, [dtype, python])
        yield f"{word},{dtype.name}", resolve(ufunc, [python, dtype])


def compare(ufunc, flags, questions):
    listed = ";".join(signatures(ufunc))
    asked = list(questions(ufunc))
    text = "".join(f"{flags}|{listed}|{inputs}\n" for inputs, _ in asked)
    answers = subprocess.run([PROGRAM, "--choose"], input=text, capture_output=True, text=True, check=True)
    got = [None if line == NO_MATCH else line for line in answers.stdout.splitlines()]
    assert len(got) == len(asked)
    return len(asked), [f"{ufunc.__name__}({inputs}): got {line}, NumPy {want}"
                        for (inputs, want), line in zip(asked, got) if line != want]


def main():
    tests = [("every tuple of dtypes", FIRST_MATCH | STRONG_NUMBERS, strong_questions),
             ("weak numbers", FIRST_MATCH, weak_questions)]
    print(f"1..{len(tests)}\n# NumPy {np.__version__}")
    failed = 0
    for number, (name, flags, questions) in enumerate(tests, 1):
        results = [compare(ufunc, flags, questions) for ufunc in elementwise_ufuncs()]
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
