"""Test functions of SciPy; solvers call functions that the compiler can't pass to them."""

from __future__ import annotations

import numpy as np
from scipy import optimize

from ..registry import definition, refuse


@definition(optimize.rosen)
def rosen(x):
    return np.sum(100.0 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2, axis=0)


refuse(
    *(optimize.minimize, optimize.minimize_scalar, optimize.root, optimize.root_scalar),
    *(optimize.fsolve, optimize.newton, optimize.brentq, optimize.bisect, optimize.least_squares),
    *(optimize.curve_fit, optimize.fixed_point),
    reason="it calls a function again and again; write the iteration as a loop",
)
