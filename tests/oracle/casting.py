"""casting.py - the type tables and conversions of the library against NumPy's and against exact arithmetic.

build/test/test_type prints the tables (--dump) and converts elements (--convert). NumPy is the oracle for its fourteen
dtypes; bfloat16's rows and every conversion are derived here from the definition of the formats, with rational numbers.
"""

import os
import random
import struct
import subprocess
import sys
import warnings
from fractions import Fraction

import numpy as np

PROGRAM = os.path.join(os.environ.get("BUILD", "build"), "test", "test_type")
RULES = ["no", "equiv", "safe", "same_kind", "unsafe"]
NAMES = ("bool int8 int16 int32 int64 uint8 uint16 uint32 uint64 float16 bfloat16 float32 float64 "
         "complex64 complex128").split()

# Fraction bits and exponent bias of the floating formats.
FORMATS = {"float16": (10, 15), "bfloat16": (7, 127), "float32": (23, 127), "float64": (52, 1023)}
COMPONENT = {"complex64": "float32", "complex128": "float64"}


def size(name):
    return 2 if name == "bfloat16" else np.dtype(name).itemsize


def is_float(name):
    return name in FORMATS


def is_complex(name):
    return name in COMPONENT


def is_integer(name):
    return "int" in name


# ---- The tables ----


def bfloat16_promotes(other):
    """8 bits of significand hold bool, int8 and uint8; beyond, what float32 promotes to."""
    return "bfloat16" if other in ("bool", "int8", "uint8", "bfloat16") else np.result_type("float32", other).name


def bfloat16_casts(a, b):
    """The rules that let a cast pass: safe loses nothing, same_kind does not lead to a less general kind."""
    if a == b:
        return "11111"
    if a == "bfloat16":
        safe, kind = b in ("float32", "float64", "complex64", "complex128"), is_float(b) or is_complex(b)
    else:
        safe, kind = bfloat16_promotes(a) == "bfloat16", not is_complex(a)
    return f"00{safe:d}{kind:d}1"


def expected_row(a, b):
    if "bfloat16" in (a, b):
        return bfloat16_casts(a, b), bfloat16_promotes(b if a == "bfloat16" else a)
    return "".join(f"{np.can_cast(a, b, rule):d}" for rule in RULES), np.promote_types(a, b).name


def check_tables():
    rows = {}
    for line in subprocess.run([PROGRAM, "--dump"], capture_output=True, text=True, check=True).stdout.splitlines():
        a, b, rules, promoted = line.split()
        rows[a, b] = rules, promoted
    if len(rows) != len(NAMES) ** 2:
        return [f"{len(rows)} pairs"]
    return [f"{a} {b}: got {rows[a, b]}, want {expected_row(a, b)}"
            for a in NAMES for b in NAMES if rows[a, b] != expected_row(a, b)]


# ---- Conversions: values are int, Fraction, "nan", "inf", "-inf", "-0" ----


def decode_float(name, bits):
    fraction, bias = FORMATS[name]
    top = (1 << (8 * size(name) - 1 - fraction)) - 1
    sign = -1 if bits >> (8 * size(name) - 1) else 1
    e, m = bits >> fraction & top, bits & ((1 << fraction) - 1)
    if e == top:
        return "nan" if m else "inf" if sign > 0 else "-inf"
    if e == 0 and m == 0 and sign < 0:
        return "-0"
    m, e = (m + (1 << fraction), e) if e else (m, 1)
    return sign * m * Fraction(2) ** (e - bias - fraction)


def encode_float(name, value):
    """Bits of the nearest value of the format, ties to even; None for any NaN."""
    fraction, bias = FORMATS[name]
    width = 8 * size(name)
    infinity = ((1 << (width - 1 - fraction)) - 1) << fraction
    if value == "nan":
        return None
    if value == "-0":
        return 1 << (width - 1)
    if value in ("inf", "-inf"):
        return infinity | (value == "-inf") << (width - 1)
    value = Fraction(value)
    sign, a = (1 if value < 0 else 0) << (width - 1), abs(value)
    e = 1 - bias
    if a >= Fraction(2) ** e:
        e = a.numerator.bit_length() - a.denominator.bit_length()
        e -= a < Fraction(2) ** e
    m = round(a / Fraction(2) ** (e - fraction))  # Python rounds half to even
    bits = m if e == 1 - bias and m < 1 << fraction else m + ((e + bias - 1) << fraction)
    return sign | min(bits, infinity)


def decode(name, data):
    """The real and imaginary part of an element."""
    if is_complex(name):
        half = len(data) // 2
        return tuple(decode_float(COMPONENT[name], int.from_bytes(d, "little")) for d in (data[:half], data[half:]))
    if is_float(name):
        return decode_float(name, int.from_bytes(data, "little")), 0
    if name == "bool":
        return int(data != b"\0"), 0
    return int.from_bytes(data, "little", signed=name.startswith("int")), 0


def convert(name, real, imaginary):
    """The bytes an element of the dtype gets from a value; None in place of a NaN's."""
    n = size(name)
    if is_complex(name):
        return convert(COMPONENT[name], real, 0) + convert(COMPONENT[name], imaginary, 0)
    if name == "bool":
        return [bytes([any(v not in (0, "-0") for v in (real, imaginary))])]
    if is_float(name):
        bits = encode_float(name, real)
        return [None if bits is None else bits.to_bytes(n, "little")]
    low, high = (-1 << (8 * n - 1), (1 << (8 * n - 1)) - 1) if name.startswith("int") else (0, (1 << 8 * n) - 1)
    if isinstance(real, int):
        return [(real & ((1 << 8 * n) - 1)).to_bytes(n, "little")]
    special = {"nan": 0, "-0": 0, "inf": high, "-inf": low}
    value = special[real] if isinstance(real, str) else min(max(int(real), low), high)
    return [value.to_bytes(n, "little", signed=name.startswith("int"))]


def is_nan(name, data):
    return decode_float(name, int.from_bytes(data, "little")) == "nan"


def agrees(name, got, want):
    if is_complex(name):
        half = len(got) // 2
        return agrees(COMPONENT[name], got[:half], want[:1]) and agrees(COMPONENT[name], got[half:], want[1:])
    return is_nan(name, got) if want[0] is None else got == want[0]


def random_component(name):
    """Bits that are any pattern, or a small value, or near a power of two where rounding decides."""
    n = size(name)
    how = random.randrange(4)
    if is_float(name) and how:
        values = [random.uniform(-300, 300), random.choice([-1, 1]) * 2.0 ** random.randint(-30, 66),
                  random.choice([0.0, -0.0, float("inf"), float("-inf"), float("nan"), 65520.0, 65519.0, 2.0 ** 63])]
        value = values[how - 1] * (1 + random.choice([0, 2.0 ** -8, 2.0 ** -11, 2.0 ** -11 + 2.0 ** -30, -2.0 ** -24]))
        if name == "float64":
            return struct.pack("<d", value)
        value = ("nan" if value != value else str(value) if value in (float("inf"), float("-inf"))
                 else Fraction(value))
        bits = encode_float(name, value)
        return (encode_float(name, "inf") + 1 if bits is None else bits).to_bytes(n, "little")
    if is_integer(name) and how:
        near = (1 << random.randrange(8 * n)) + (1 << random.randrange(8 * n)) + random.randint(-1, 1)
        return (random.choice([-1, 1]) * near & ((1 << 8 * n) - 1)).to_bytes(n, "little")
    return random.randbytes(n)


def random_element(name):
    if is_complex(name):
        return random_component(COMPONENT[name]) + random_component(COMPONENT[name])
    return bytes([random.randrange(2)]) if name == "bool" else random_component(name)


def check_conversions():
    jobs = [(a, b, random_element(a)) for a in NAMES for b in NAMES for _ in range(60)]
    text = "".join(f"{a} {b} {data.hex()}\n" for a, b, data in jobs)
    lines = subprocess.run([PROGRAM, "--convert"], input=text, capture_output=True, text=True,
                           check=True).stdout.split()
    if len(lines) != len(jobs):
        return [f"{len(lines)} answers to {len(jobs)} questions"]
    wrong = []
    for (a, b, data), line in zip(jobs, lines):
        want = convert(b, *decode(a, data))
        if not agrees(b, bytes.fromhex(line), want):
            wrong.append(f"{a} {data.hex()} to {b}: got {line}, want {want}")
    return wrong


def check_with_numpy():
    """Where C and IEEE 754 define the conversion, NumPy does the same: the exact oracle above is itself checked."""
    wrong = []
    with np.errstate(all="ignore"):
        for a in NAMES:
            for b in NAMES:
                if "bfloat16" in (a, b) or (is_integer(b) and not is_integer(a) and a != "bool"):
                    continue
                data = [random_element(a) for _ in range(40)]
                results = np.frombuffer(b"".join(data), dtype=a).astype(b)
                wrong += [f"{a} {d.hex()} to {b}: NumPy {r!r}, want {convert(b, *decode(a, d))}"
                          for d, r in zip(data, results) if not agrees(b, r.tobytes(), convert(b, *decode(a, d)))]
    return wrong


def main():
    seed = int(os.environ.get("UF_SEED", "0"), 0) or random.randrange(1, 1 << 32)
    random.seed(seed)
    np.seterr(all="ignore")
    tests = [("every pair of dtypes casts and promotes as in NumPy", check_tables),
             ("conversions agree with exact arithmetic", check_conversions),
             ("the exact oracle agrees with NumPy", check_with_numpy)]
    print(f"1..{len(tests)}\n# UF_SEED={seed}, NumPy {np.__version__}")
    failed = 0
    for number, (name, check) in enumerate(tests, 1):
        wrong = check()
        failed += bool(wrong)
        print(f"{'not ok' if wrong else 'ok'} {number} - {name}")
        for line in wrong[:20]:
            print("#", line)
    return bool(failed)


if __name__ == "__main__":
    warnings.simplefilter("ignore")  # complex to real drops the imaginary part
    sys.exit(main())
