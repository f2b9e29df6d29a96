"""fold_types.py - which dtypes a binary function reduces in, against NumPy's ufunc.reduce: for every dtype of the input,
and of the output or none, the same refusals, dtypes and values. The functions have the ufuncs' own lists of loops. NumPy
casts results to an output unsafely, so that is asked for here; what same_kind refuses: tests/core/test_reduction.c. Outputs
are drawn: half of the dtypes for each input, all with PROP_N=2."""
import ctypes as c
import itertools
import os
import random
import sys
import warnings

import numpy as np

from uf import DTYPES, DLDataType, DLTensor, Failure, lib, own_part, tensor

ORDERED, SERIAL, WIDEN, FIRST_MATCH, UNSAFE = 0x10, 0x20, 0x80, 1, 5
LEFT_OUT = 1 - 0.5 * float(os.environ.get("PROP_N", "1"))
CODES = {d.char for d in DTYPES} | {"q", "Q"}
KINDS = {6: "b", 0: "i", 1: "u", 2: "f", 5: "c"}

# The ufunc, its kernel, its flags; dtypes it has no kernel for, or rules of its own
FUNCTIONS = [("add", "x + y", WIDEN, ""), ("multiply", "x * y", WIDEN, ""), ("subtract", "x - y", SERIAL, "?"),
             ("maximum", "max(x, y)", 0, "FD"), ("minimum", "min(x, y)", 0, "FD"),
             ("logical_and", "x && y", 0, ""), ("logical_or", "x || y", 0, ""), ("bitwise_or", "x | y", 0, ""),
             ("bitwise_xor", "x ^ y", 0, ""), ("copysign", "copysign(x, y)", SERIAL, ""),
             ("gcd", "gcd_of(x, y)", 0, "?")]
HELPERS = "gcd_of(a, b) { a = abs(a); b = abs(b); while (b) { auto r = a % b; a = b; b = r; } return a; } "


class Section(c.Structure):
    _fields_ = [("signatures", c.c_char_p), ("source", c.c_char_p)]


class Definition(c.Structure):
    _fields_ = [("size", c.c_size_t), ("name", c.c_char_p), ("doc", c.c_char_p), ("nsections", c.c_int),
                ("sections", c.POINTER(Section)), ("fast", c.c_uint), ("flags", c.c_uint), ("max_registers", c.c_int),
                ("layout", c.c_char_p), ("blas", c.c_char_p), ("identity", c.c_char_p), ("reduction", c.c_void_p)]


class ReduceOptions(c.Structure):
    _fields_ = [("size", c.c_size_t), ("stream", c.c_void_p), ("casting", c.c_int), ("signature", c.c_char_p),
                ("naxes", c.c_int), ("axes", c.POINTER(c.c_int)), ("keepdims", c.c_bool),
                ("initial", c.POINTER(DLTensor)), ("where", c.POINTER(DLTensor)), ("scratch", c.c_void_p),
                ("scratch_size", c.c_size_t), ("threads", c.c_int), ("flags", c.c_uint)]


lib.uf_define.argtypes = [c.POINTER(c.c_void_p), c.POINTER(Definition)]
lib.uf_reduce.argtypes = lib.uf_reduce_infer.argtypes = [c.c_void_p, c.c_int, c.POINTER(DLTensor),
                                                         c.POINTER(ReduceOptions)]


def loops(ufunc, without):
    """Its loops over our dtypes, each once."""
    seen = []
    for loop in ufunc.types:
        codes = loop.replace("->", "")
        names = [np.dtype(code).name for code in codes if code in CODES and code not in without]
        if len(names) == 3 and names not in seen:
            seen.append(names)
    return seen


def define(name, kernel, flags, signatures):
    f = c.c_void_p()
    text = "; ".join(f"{a},{b}->{r}" for a, b, r in signatures)
    section = Section(text.encode(), f"{HELPERS if 'gcd' in name else ''}(x, y) {{ return {kernel}; }}".encode())
    d = Definition(size=c.sizeof(Definition), name=name.encode(), nsections=1, sections=c.pointer(section), flags=flags)
    if lib.uf_define(f, d):
        raise Failure
    return f


def reduced(f, x, out):
    """The result in an array of dtype out; None: it is refused."""
    r = np.zeros((), out)
    args = (DLTensor * 2)(tensor(x), tensor(r))
    options = ReduceOptions(size=c.sizeof(ReduceOptions), flags=FIRST_MATCH, casting=UNSAFE)
    return None if lib.uf_reduce(f, 2, args, options) else r


def inferred(f, x):
    """The dtype of the result, or None."""
    shape = (c.c_int64 * 64)()
    args = (DLTensor * 2)(tensor(x), DLTensor(shape=shape))
    options = ReduceOptions(size=c.sizeof(ReduceOptions), flags=FIRST_MATCH)
    if lib.uf_reduce_infer(f, 2, args, options):
        return None
    d = args[1].dtype
    return np.dtype(bool) if d.code == 6 else np.dtype(f"{KINDS[d.code]}{d.bits // 8}")


def numpys(ufunc, x, out):
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("ignore")
            return ufunc.reduce(x) if out is None else ufunc.reduce(x, out=np.zeros((), out))
    except TypeError:
        return None


def same(got, want):
    return np.allclose(np.asarray(got, complex), np.asarray(want, complex), rtol=1e-2, atol=1e-6, equal_nan=True)


def compare(rng, name, kernel, flags, without):
    ufunc = getattr(np, name)
    f = define(name, kernel, flags, loops(ufunc, without))
    wrong = []
    asked = 0
    inputs = [d for d in DTYPES if d.char not in without]
    for d, out in itertools.product(inputs, [None] + inputs):
        if out is not None and rng.random() < LEFT_OUT:
            continue
        x = np.array([20, 3, 2, 1], d)  # their product fits int8
        want = numpys(ufunc, x, out)
        asked += 1
        if out is None:
            got = inferred(f, x)
            if got != (None if want is None else np.asarray(want).dtype):
                wrong.append(f"{name} of {d}: is {got}, NumPy's {None if want is None else np.asarray(want).dtype}")
            continue
        got = reduced(f, x, out)
        if (got is None) != (want is None) or (got is not None and not same(got, want)):
            wrong.append(f"{name} of {d} into {out}: {got}, NumPy {want}")
    lib.uf_free(f)
    return asked, wrong


def main():
    functions = own_part(FUNCTIONS)
    seed = int(os.environ.get("UF_SEED", "0"), 0) or random.randrange(1, 1 << 32)
    rng = np.random.default_rng(seed)
    print(f"1..{len(functions)}\n# UF_SEED={seed}, NumPy {np.__version__}")
    failed = 0
    for number, (name, *how) in enumerate(functions, 1):
        asked, wrong = compare(rng, name, *how)
        failed += bool(wrong)
        print(f"{'not ok' if wrong else 'ok'} {number} - {name} reduces in NumPy's dtypes: {asked} pairs")
        for line in wrong[:20]:
            print("#", line)
    return bool(failed)


if __name__ == "__main__":
    sys.exit(main())
