"""measure_accuracy.py - docs/accuracy.csv, the largest errors seen of the catalogue's functions, and docs/accuracy.md, which shows them
beside the bounds that tests/oracle/accuracy.py and tests/oracle/reductions.py check.

  measure COUNT [NAME..]
                  takes that many arguments of elementwise functions in float64, and 250 times as many in float32, and lines of all
                  lengths of reductions, on the CPU and with UF_TEST_GPU=1 on the GPU; puts what was seen in place of what the
                  records had of that engine
  page            prints docs/accuracy.md
"""
import csv
import os
import re
import subprocess
import sys

HERE = os.path.dirname(os.path.abspath(__file__))
sys.path.insert(0, os.path.join(HERE, "..", "tests", "oracle"))

import numpy as np

import accuracy
import elementwise
import reductions
from uf import GPU

RECORDS = os.path.join(HERE, "..", "docs", "accuracy.csv")
ENGINES, DTYPES = ("CPU", "GPU"), ("float32", "float64")


def records():
    if not os.path.exists(RECORDS):
        return {}
    with open(RECORDS, newline="") as file:
        return {(r["function"], r["engine"], r["dtype"]): r for r in csv.DictReader(file)}


def machine(engine):
    """What `ufunc info` says of the engine."""
    tool = os.path.join(os.path.dirname(os.environ["UFUNC_LIB"]), "ufunc")
    info = subprocess.run([tool, "info"], check=True, capture_output=True, text=True).stdout
    if engine == "CPU":
        return "{} with libLLVM {}".format(*(re.search(rf"^ *{key} +([^,]+)", info, re.M)[1] for key in ("host", "libLLVM")))
    return "{} with libnvvm {}".format(*(re.search(key, info, re.M)[1] for key in (r" 0: ([^,]+)", r"^libnvvm .* version ([\d.]+)")))


def measured(name, t, count, device):
    """The largest error, of how many arguments or results, and where. In ULP; of reductions a share of what it may be."""
    rng = np.random.default_rng(1)
    if name in reductions.ROUNDED:
        share, results = reductions.share_of_limit(rng, name, t, device)
        return f"{share:.1e}", results, ""
    error, args, *_ = accuracy.measured(rng, name, t, count, device)
    return f"{error:.2f}", count, " ".join(float(x).hex() for x in args)


def measure(count, names):
    rows = records()
    engines = [("CPU", None, machine("CPU"))]
    if os.environ.get("UF_TEST_GPU") == "1":
        engines.append(("GPU", GPU, machine("GPU")))
    for name in names or [*accuracy.TESTS, *reductions.ROUNDED]:
        for engine, device, said in engines:
            for t, n in (("float64", count), ("float32", 250 * count)):
                with np.errstate(all="ignore"):
                    error, n, at = measured(name, np.dtype(t), n, device)
                rows[name, engine, t] = dict(function=name, engine=engine, dtype=t, error=error, arguments=n, at=at, machine=said)
    with open(RECORDS, "w", newline="") as file:
        out = csv.DictWriter(file, ["function", "engine", "dtype", "error", "arguments", "at", "machine"], lineterminator="\n")
        out.writeheader()
        out.writerows(rows[key] for key in sorted(rows))


HEAD = """# Accuracy

Written by `make accuracy`: the largest errors that were seen of the catalogue's functions, those of elementwise ones in units in the last
place (ULP), and behind them the bounds that the tests check (tests/oracle/accuracy.py has the table). The references are mpmath's, with
{bits} bits. In float64 {count64} arguments of each function were looked at, in float32 {count32}, of which the references are the function
in float64 on the same engine. A half of the arguments is drawn from where the function does most, the others are of every size, or
near to zeros, poles, and the ends of formulas.

Errors are in ULP of the result. *In units of* says of what else, where that is larger: zeros of such a function lie where its argument
cannot say it more precisely. Of functions marked *, whose results are products with a factor that may be subnormal, errors are at least in ULP
of the argument times the least normal number. float16 and bfloat16 are computed in float32 and rounded once more; the tests
compare all 65536 of each. On the GPU, functions whose results are all halves compute `exp`, `exp2` and `exp10` in float32 with a relative
error of up to 2^-17, a 64th of a unit in the last place of float16, in their whole kernels; helpers marked `exact` do not.

Machines: {machines}.

| function | float32, CPU | GPU | float64, CPU | GPU | in units of |
|---|---|---|---|---|---|
"""

TAIL = """
*Rounded once, or exact*: {exact}, and `clip fma leaky_relu nan_to_num relu where`. These are equal to NumPy's to the bit, on every engine.

`float_power` is `power` in float64. *Complex numbers*: the bounds are those of [kernel-c.md](kernel-c.md), section 14, and of [function-files.md](function-files.md).

*Reductions and generalized ufuncs*, in float32 and float64 with e = 2^-24 and 2^-53, of n elements, on every engine; halves are rounded once more:

| | at most |
|---|---|
| `sum cumsum nansum nancumsum dot` | 4 e log2(n) times the sum of magnitudes of what is added; `dot` with log2(n) + 2; running sums n in place of log2(n) |
| `mean nanmean`, `average` | the same, divided as the result is, and 8 e of the result |
| `prod cumprod nanprod nancumprod` | 4 e n times the result |
| `norm2` | 8 e (log2(n) + 2) times the result |
| `var std nanvar nanstd` | 16 e (n + 4) of the variance times 1 + m / s, where m is the mean of magnitudes and s the standard deviation |
| `skew`, `kurtosis` | 16 e (n + 4) (1 + m / s) (3 + result), and (4 + result) |
| `covariance`, `correlation` | 16 e (n + 4) times the product of both m + s; times the sum of both 1 + m / s |
| `logsumexp` | 16 e (n + 4) times 1 + the largest magnitude |
| extremes, positions, counts, truth | exact |
| generalized ufuncs | 16 e (n + 4) times the size of what is added, with n the largest extent; of systems of equations times the condition of the matrix |
| `hsv_to_rgb rgb_to_hsv` | 112 e |

These are what the tests hold results to. The largest errors seen of
reductions, as shares of these bounds and of the rounding of the result, over random lines of 2 to 1,000,000 elements:

| reduction | float32, CPU | GPU | float64, CPU | GPU |
|---|---|---|---|---|
"""


def machines_said(rows):
    of = {engine: " and ".join(sorted({r["machine"] for key, r in rows.items() if key[1] == engine})) for engine in ENGINES}
    return "; ".join(f"{engine}: {said}" for engine, said in of.items() if said)


def cell(rows, name, engine, dtype):
    seen = rows.get((name, engine, dtype))
    bound = accuracy.TESTS[name].bound(np.dtype(dtype), engine == "GPU")
    assert seen is None or float(seen["error"]) <= bound, f"{name} of {dtype} on the {engine}: {seen['error']}, bound {bound}"
    return f"{seen['error'] if seen else '-'} of {bound}"


def share(rows, name, engine, dtype):
    seen = rows.get((name, engine, dtype))
    assert seen is None or float(seen["error"]) <= 1, f"{name} of {dtype} on the {engine}: {seen['error']} of its bound"
    return f"{float(seen['error']):.2g}" if seen else "-"


def page():
    rows = records()
    counts = {t: max(int(r["arguments"]) for key, r in rows.items() if key[0] in accuracy.TESTS and key[2] == t) for t in DTYPES}
    text = HEAD.format(bits=accuracy.PRECISION, count64=counts["float64"], count32=counts["float32"], machines=machines_said(rows))
    for name, row in accuracy.TESTS.items():
        cells = [cell(rows, name, engine, dtype) for dtype in DTYPES for engine in ENGINES]
        said = row.scale.__doc__ if row.scale else ""
        text += f"| `{name}`{' *' if row.subnormal else ''} | {' | '.join(cells)} | {said} |\n"
    exact = " ".join(name for name, (_, bound, *_) in elementwise.TESTS.items() if bound is None)
    text += TAIL.format(exact=f"`{exact}`")
    for name in reductions.ROUNDED:
        text += f"| `{name}` | {' | '.join(share(rows, name, engine, dtype) for dtype in DTYPES for engine in ENGINES)} |\n"
    return text


def main():
    if sys.argv[1:2] == ["measure"]:
        return measure(int(sys.argv[2]), sys.argv[3:])
    sys.stdout.write(page())


if __name__ == "__main__":
    sys.exit(main())
