"""`scipy.optimize.Bounds` that are made in the function."""

from __future__ import annotations

import numpy as np
from scipy import optimize

from ..registry import definition, stands_for


class Limits:
    def __init__(self, lb, ub, keep_feasible):
        self.lb, self.ub = np.atleast_1d(lb), np.atleast_1d(ub)
        self.keep_feasible = keep_feasible


stands_for[Limits] = optimize.Bounds
definition(optimize.Bounds)(
    lambda lb=-np.inf, ub=np.inf, keep_feasible=False: Limits(lb, ub, keep_feasible)
)
