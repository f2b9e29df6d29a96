"""Writes series.txt, and series.stumpy: its matrix profile by STUMPY, with which the example matrix_profile is compared.

STUMPY needs Numba and so some 300 MB, so it is not in the tests' environment. Run this where it is installed:
    pip install stumpy && python3 tests/examples/stumpy_profile.py
"""

import pathlib

import numpy as np
import stumpy

here = pathlib.Path(__file__).parent
window = 20
rng = np.random.default_rng(5)
x = np.cumsum(rng.normal(size=400))
x[250:290] = 3 + 0.5 * x[100:140] + 0.01 * rng.normal(size=40)  # what came before, smaller
x[320:355] = 1.5  # windows without deviation
np.savetxt(here / "series.txt", x, fmt="%.6f")
profile = stumpy.stump(np.loadtxt(here / "series.txt"), m=window)
with open(here / "series.stumpy", "w") as file:
    for distance, nearest in profile[:, :2]:
        file.write("%.6f %d\n" % (distance, nearest))
