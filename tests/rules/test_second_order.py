"""The samples' second derivatives: products with the Hessian against differences of gradients.

Some of each function's samples; all of them where SRCGRAD_ALL_SAMPLES is set.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import pytest

from srcgrad import UnsupportedError, grad, hvp
from srcgrad.testing import directional_difference, inner

from .compiled import Program
from .kit import Case
from .test_compiled import FUNCTIONS, some
from .test_rules import name

MOST = 10**6 if os.environ.get("SRCGRAD_ALL_SAMPLES") else 1

# Results whose dtype depends on values, and rules that call functions without a rule
REFUSED = {
    *("numpy.linalg.eig", "numpy.linalg.eigvals", "scipy.linalg._decomp.eig"),
    *("scipy.linalg._decomp.eigvals", "scipy.linalg._matfuncs.logm"),
    *(f".{f}" for f in ("ber", "bei", "ker", "kei", "ellipk", "ellipkm1", "ellipe")),
    *(f".{f}" for f in ("ellipkinc", "ellipeinc", "elliprf")),
}


def difference(function: Any, sample: Case) -> str | None:
    """What is wrong with a sample's second derivative along random directions."""
    program = Program(function, sample)
    if not program.active:
        return None
    loss = program.primal()
    names = tuple(program.active)
    gradient = grad(loss, argnums=names)
    u, v = program.direction(1), program.direction(2)
    values = [u[n] for n in names]

    def slope(t: float) -> float:
        return inner(gradient(**program.moved(v, t)), values)

    expected, doubt = directional_difference(slope, 2.0**-12)
    directions = tuple(v[n] for n in names)
    found = inner(hvp(loss, names)(directions, **program.values), values)
    terms = [
        inner(np.abs(g), np.abs(d)) for g, d in zip(gradient(**program.values), values, strict=True)
    ]
    scale = max(abs(expected), sum(terms), 1.0)
    if np.isnan(expected) and np.isnan(found):
        return None
    if not abs(found - expected) <= 1e-5 * scale + 10 * min(doubt, 1e-4 * scale):
        return f"hvp {found!r}, differences {expected!r} ± {doubt:.1g}"
    return None


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("function", FUNCTIONS, ids=name)
def test_second_derivative(function: Any) -> None:
    with np.errstate(all="ignore"):
        for sample in some(function, MOST):
            shapes = [getattr(a, "shape", a) for a in sample.args]
            try:
                message = difference(function, sample)
            except UnsupportedError as error:
                assert name(function) in REFUSED, f"{shapes} {sample.kwargs}: refused: {error}"
                continue
            assert message is None, f"{shapes} {sample.kwargs}: {message}"
