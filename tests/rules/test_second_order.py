"""The samples' second derivatives: products with the Hessian against differences of gradients.

Each sample is compiled, as a program whose loss is not linear in the result. One of each
function's samples; all of them where SRCGRAD_ALL_SAMPLES is set.
"""

from __future__ import annotations

import os
from typing import Any

import numpy as np
import pytest

import srcgrad
from srcgrad import UnsupportedError

from .compiled import Program
from .kit import Case, is_float
from .test_compiled import FUNCTIONS, some
from .test_compiled import REFUSED as REFUSED_AT_ALL
from .test_rules import name

# Whose rules call functions that have none: logm its eigenvalues
REFUSED = {"eigvals", "eig", "logm"}
MOST = 10**6 if os.environ.get("SRCGRAD_ALL_SAMPLES") else 1  # samples of one function


class Curved(Program):
    """A sample as source text: `loss(p0, ...)` of what is differentiated, of squares of results."""

    def __init__(self, function: Any, sample: Case) -> None:
        super().__init__(function, sample)
        fixed = {k: v for k, v in self.values.items() if k not in self.active}
        self.names.update(fixed)
        _, *lines = self.text.splitlines()
        self.text = "\n".join([f"def loss({', '.join(self.active)}):", *lines, ""])

    def terms(self, out: Any, where: str) -> Any:
        if isinstance(out, (list, tuple)):
            for i, item in enumerate(out):
                yield from self.terms(item, f"{where}[{i}]")
        elif is_float(out):
            weight = f"w{len(self.names)}"
            self.names[weight] = self.rng.uniform(0.5, 1.5, np.shape(out))
            if np.iscomplexobj(out):
                yield f"np.sum(np.real({weight} * (1 - 0.7j) * {where} * {where}))"
            else:
                yield f"np.sum({weight} * {where} * {where})"


def check(program: Curved) -> str | None:
    """What is wrong with the product of the Hessian and a direction."""
    loss = program.primal()
    argnums = tuple(range(len(program.active)))
    gradient = srcgrad.grad(loss, argnums)
    values = tuple(program.values[name] for name in program.active)
    direction = program.direction(0)
    found = srcgrad.jvp(gradient, values, tuple(direction[name] for name in program.active))[1]
    step = 2e-6
    above, below = (
        gradient(*(program.moved(direction, s)[name] for name in program.active))
        for s in (step, -step)
    )
    for f, a, b, name_ in zip(found, above, below, program.active, strict=True):
        expected = (np.asarray(a) - np.asarray(b)) / (2 * step)
        scale = max(1.0, float(np.max(np.abs(expected), initial=0.0)))
        tolerance = max(1e-5, 10 * program.sample.tolerance) * scale
        if np.shape(f) != np.shape(a):
            return f"{name_}: shape {np.shape(f)}, not {np.shape(a)}"
        if not np.allclose(f, expected, rtol=0, atol=tolerance, equal_nan=True):
            return f"{name_}: {f!r}, differences {expected!r}"
    return None


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("function", FUNCTIONS, ids=name)
def test_second_order(function: Any, record_property: Any) -> None:
    found, refused = [], 0
    with np.errstate(all="ignore"):
        samples = some(function, MOST)
        record_property("second derivatives", len(samples))
        for sample in samples:
            program = Curved(function, sample)
            if not program.active:
                continue
            try:
                message = check(program)
            except UnsupportedError as error:
                refused += 1
                expected = getattr(function, "__name__", "") in REFUSED
                expected = expected or refused <= REFUSED_AT_ALL.get(function, 0)
                message = None if expected else f"refused: {error}"
            except Exception as error:
                message = f"{type(error).__name__}: {error}"
            if message:
                shapes = [getattr(a, "shape", a) for a in sample.args]
                found.append(f"{shapes} {sample.kwargs}: {message}")
    assert not found, "\n".join([f"{len(found)} of {len(samples)} samples fail", *found[:5]])
