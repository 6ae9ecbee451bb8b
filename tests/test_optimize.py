"""Without `srcgrad/optimize/`, derivatives are longer and slower, and just as right.

Whoever reads the source may skip that package; and a gradient that is wrong with it, but right
without, is wrong because of a pass.
"""

from __future__ import annotations

import copy
import importlib
import pkgutil
import types
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import srcgrad
from tests import golden_programs
from tests.programs import finite_differences as fd


@pytest.fixture(autouse=True)
def no_passes(monkeypatch: pytest.MonkeyPatch) -> None:
    """No stage calls any pass."""
    for found in pkgutil.walk_packages(srcgrad.__path__, "srcgrad."):
        if found.name == "srcgrad.__main__" or found.name.startswith("srcgrad.optimize"):
            continue
        module = importlib.import_module(found.name)
        for name, thing in list(vars(module).items()):
            if isinstance(thing, types.FunctionType) and thing.__module__.startswith(
                "srcgrad.optimize"
            ):
                monkeypatch.setattr(module, name, lambda *args, **kwargs: None)


def anew(function: Callable[..., Any]) -> Any:
    """A function that is compiled as if it were another one."""
    names = dict(function.__globals__)
    return types.FunctionType(
        function.__code__, names, function.__name__, function.__defaults__, function.__closure__
    )


@pytest.mark.parametrize("function", golden_programs.PROGRAMS, ids=lambda f: f.__name__)
def test_of_golden_programs(function: Any, request: pytest.FixtureRequest) -> None:
    arguments, argnums = golden_programs.PROGRAMS[function]
    gradient = srcgrad.grad(anew(function), argnums=argnums)
    with np.errstate(all="ignore"):
        found = gradient(*copy.deepcopy(arguments))
    request.getfixturevalue("monkeypatch").undo()
    shorter = srcgrad.grad(function, argnums=argnums)
    expected = shorter(*copy.deepcopy(arguments))
    for a, b in zip(
        found if isinstance(argnums, tuple) else (found,),
        expected if isinstance(argnums, tuple) else (expected,),
        strict=True,
    ):
        np.testing.assert_allclose(a, b, rtol=1e-10)
    assert len(gradient.source) > len(shorter.source)


@pytest.mark.slow
@pytest.mark.parametrize("name", fd.names())
def test_of_programs(name: str) -> None:
    module = fd.load(name)
    program, argnums = anew(module.program), tuple(getattr(module, "ARGNUMS", (0,)))
    with np.errstate(
        all="ignore"
    ):  # what nobody needs, as the logarithm of a base, is computed too
        gradients = srcgrad.grad(program, argnums=argnums)(*module.inputs())
    direction, expected = fd.directional_difference(program, module.inputs(), argnums, 0)
    assert fd.relative_error(fd.inner(gradients, direction), expected) < 1e-6
