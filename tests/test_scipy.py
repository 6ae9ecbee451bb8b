"""The rules for SciPy, compiled: gradients of small programs against finite differences."""

from __future__ import annotations

import importlib
import os
import pkgutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import srcgrad
import tests.rules
from srcgrad.rules import registry
from tests.rules.kit import Case, is_float

pytest.importorskip("scipy")

SAMPLES: dict[Any, list[Case]] = {}
for module in pkgutil.iter_modules(tests.rules.__path__, "tests.rules."):
    if module.name.startswith("tests.rules.samples_scipy_"):
        SAMPLES.update(importlib.import_module(module.name).SAMPLES)
MOST = 4  # samples of each function


def measured(result):
    """A number that depends on all that a function returns."""
    total = 0.0
    for number, part in enumerate(result if isinstance(result, tuple) else (result,)):
        total = total + (1 + 0.3 * number) * np.sum(np.sin(np.real(part)))
        if np.iscomplexobj(part):
            total = total + 0.7 * np.sum(np.imag(part))
    return total


def check(program: Any, x: Any, tolerance: float = 2e-6) -> None:
    """Compare the gradient of `program` at x with a difference along a random direction."""
    rng = np.random.default_rng(0)
    direction = rng.normal(size=np.shape(x))
    if np.iscomplexobj(x):
        direction = direction + 1j * rng.normal(size=np.shape(x))
    direction = direction if isinstance(x, np.ndarray) else direction[()]
    with np.errstate(all="ignore"):
        gradient = srcgrad.grad(program)(x)
        step = 1e-6
        difference = (program(x + step * direction) - program(x - step * direction)) / (2 * step)
    assert np.shape(gradient) == np.shape(x)
    found = np.sum(gradient * direction).real
    assert found == pytest.approx(difference, rel=tolerance, abs=tolerance)


def names(function: Any) -> str:
    return ".".join(registry.public_place(function) or (function.__name__,))


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("function", SAMPLES, ids=names)
def test_compiled(function: Any) -> None:
    cases = [c for c in SAMPLES[function] if np.size(c.args[-1])]
    if not hasattr(function, "__self__") and registry.public_place(function) is None:
        return  # a composition of the samples' own
    for case in cases[:: max(1, len(cases) // MOST)]:
        options = case.kwargs
        for position, x in enumerate(case.args):
            if position in case.fixed or not is_float(x) or isinstance(x, np.generic):
                continue
            before, after = case.args[:position], case.args[position + 1 :]

            def program(x, before=before, after=after, options=options):
                return measured(function(*before, x, *after, **options))

            check(program, x, max(case.tolerance, 2e-6))


def test_scipy_is_not_imported_by_srcgrad(tmp_path: Path) -> None:
    script = tmp_path / "script.py"
    script.write_text("""
import sys, numpy as np, srcgrad
srcgrad.grad(lambda x: np.tanh(x))(2.0)
assert not any(name.partition(".")[0] == "scipy" for name in sys.modules)
""")
    root = Path(srcgrad.__file__).parents[1]
    environment = {**os.environ, "PYTHONPATH": str(root)}
    subprocess.run([sys.executable, script], check=True, timeout=60, env=environment)


def test_special_is_classified() -> None:
    from scipy import special

    for name in special.__all__:
        thing = getattr(special, name)
        if callable(thing) and not isinstance(thing, type):
            assert registry.lookup(thing) is not None, name


def test_by_the_order_is_refused() -> None:
    from scipy import special

    def program(v):
        return special.jv(v, 2.0)

    with pytest.raises(srcgrad.UnsupportedError, match=r"scipy\.special\.jv.*by its order"):
        srcgrad.grad(program)(1.5)


def test_functions_are_printed_with_their_public_place() -> None:
    from scipy import special

    def program(x):
        return special.ndtr(x) * special.logsumexp(np.ones(3) * x)

    gradient = srcgrad.grad(program)
    gradient(0.5)
    assert "scipy.special.ndtr(x)" in gradient.source
    assert "scipy.special.logsumexp(" in gradient.source
