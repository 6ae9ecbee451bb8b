"""What SciPy's solvers return: a dict, the items of which are attributes, too."""

from __future__ import annotations

from typing import Any

from scipy import integrate, optimize

from ..registry import passes_for

# what SciPy's solvers say of their way
UNTOLD = frozenset({
    "nit", "nfev", "njev", "nhev", "nlu", "hess", "hess_inv", "grad", "active_mask", "optimality",
    "iterations", "function_calls", "method",
})  # fmt: skip


OF_EQUATION = type(integrate.solve_ivp(lambda t, y: y, (0.0, 1.0), [1.0]))


@passes_for(optimize.OptimizeResult, optimize.RootResults, OF_EQUATION)
class OptimizeResult(dict[str, Any]):
    def __getattr__(self, name):
        if name in self:
            return self[name]
        refuse_untold(name)
        raise AttributeError(name)

    def get(self, name, default=None):
        if name in self:
            return self[name]
        refuse_untold(name)
        return default

    def __setattr__(self, name, value):
        self[name] = value


def refuse_untold(name):
    if name in UNTOLD:
        raise NotImplementedError(f"{name!r} of a solver that is differentiated isn't known")
