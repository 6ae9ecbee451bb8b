"""The samples' Jacobians: forward against reverse mode, and all directions at once against each.

That forward and reverse mode give the same matrix is the dot-product identity for all directions
together. SRCGRAD_ALL_SAMPLES runs all samples, of all functions.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import pytest

from srcgrad import UnsupportedError
from srcgrad.jacobians import Jacobian
from srcgrad.trees import float_leaves

from .compiled import Program
from .kit import Case
from .test_compiled import FUNCTIONS, some
from .test_rules import name

MOST = 10**6 if os.environ.get("SRCGRAD_ALL_SAMPLES") else 1  # samples of one function
LARGEST = 60  # numbers in a result, or in an argument

# A result of unknown dtype; lists of an unknown number
NOT_FORWARD = {
    *("numpy.linalg.eig", "numpy.linalg.eigvals"),
    *("numpy.quantile", "numpy.percentile"),
}
# SciPy's spline filter begins with a sum that it cuts off: its transpose is exact to this
ROUGH = {"scipy.ndimage._interpolation.map_coordinates": 1e-6}


class Plain(Program):
    """A sample as source text: `loss(p0, p1, ...)`, which returns the result itself."""

    def __init__(self, function: Any, sample: Case) -> None:
        super().__init__(function, sample)
        for parameter in [k for k in self.values if k.startswith("w")]:
            del self.values[parameter]
        call = self.text.splitlines()[1]
        self.text = f"def loss({', '.join(self.values)}):\n{call}\n    return out\n"


def jacobians(program: Plain, argnums: tuple[str, ...]) -> dict[str, list[Any]]:
    """The entries of the Jacobian, computed in each way that isn't refused."""
    found = {}
    loss = program.primal()
    for mode in ("forward", "reverse"):
        for batched in (True, False):
            jacobian = Jacobian(loss, argnums, mode, False)
            if not batched:
                jacobian._batched = lambda *_: None  # type: ignore[method-assign]
            key = f"{mode}, {'all at once' if batched else 'one after the other'}"
            try:
                found[key] = list(float_leaves(jacobian(**program.values)))
            except UnsupportedError:
                found[key] = []
    return found


def difference(function: Any, sample: Case) -> str | None:
    """What is wrong with a sample's Jacobians."""
    program = Plain(function, sample)
    values = program.values
    argnums = tuple(a for a in program.active if np.size(values[a]) <= LARGEST)
    out = list(float_leaves(function(*sample.args, **sample.kwargs)))
    if not argnums or sum(map(np.size, out)) > LARGEST:
        return None
    if any(np.iscomplexobj(x) for x in (*out, *(values[a] for a in argnums))):
        return None  # no one matrix
    found = jacobians(program, argnums)
    reference = found["reverse, one after the other"]
    for key, entries in found.items():
        if not entries and name(function) in NOT_FORWARD:
            continue
        if len(entries) != len(reference):
            return f"{key}: refused, or another nesting"
        for a, b in zip(entries, reference, strict=True):
            scale = max(1.0, float(np.max(np.abs(b), initial=0.0)))
            if a.shape != b.shape:
                return f"{key}: shape {a.shape}, not {b.shape}"
            tolerance = ROUGH.get(name(function), 1e-10)
            if not np.allclose(a, b, rtol=tolerance, atol=tolerance * scale, equal_nan=True):
                return f"{key}: {a!r}, not {b!r}"
    return None


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("function", FUNCTIONS if MOST > 1 else FUNCTIONS[::2], ids=name)
def test_jacobians_agree(function: Any, record_property: Any) -> None:
    with np.errstate(all="ignore"):
        samples = some(function, MOST)
        record_property("Jacobians in four ways", len(samples))
        for sample in samples:
            shapes = [getattr(a, "shape", a) for a in sample.args]
            message = difference(function, sample)
            assert message is None, f"{shapes} {sample.kwargs}: {message}"


def test_the_adjoint_of_what_is_no_float_tells_no_length() -> None:
    """There is none, in a Jacobian: the order of the columns is counted along the matrix."""
    linalg = pytest.importorskip("scipy.linalg")
    x = np.random.default_rng(0).normal(size=(4, 4))
    sample = Case((x,), {"mode": "economic", "pivoting": True})
    assert difference(linalg.qr, sample) is None
