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
from tests import golden_programs, random_programs
from tests.programs import finite_differences as fd
from tests.test_programs import argnums_of, filled


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
    if function is not golden_programs.recurrent_network:  # it stores rows, to be faster
        assert len(gradient.source) > len(shorter.source)


@pytest.mark.slow
@pytest.mark.parametrize("name", fd.names()[::4])
def test_of_programs(name: str) -> None:
    module = fd.load(name)
    program, argnums = anew(module.program), argnums_of(module)
    direction, expected = fd.directional_difference(program, module.inputs(), argnums, 0)
    moved = dict(zip(argnums, direction, strict=True))
    arguments = module.inputs()
    tangents = tuple(filled(moved.get(i), a) for i, a in enumerate(arguments))
    with np.errstate(all="ignore"):  # what nobody needs is computed too
        gradients = srcgrad.grad(program, argnums=argnums)(*module.inputs())
        _, tangent = srcgrad.jvp(program, arguments, tangents)
    assert fd.relative_error(fd.inner(gradients, direction), expected) < 1e-6
    assert fd.relative_error(tangent, expected) < 1e-6


@pytest.mark.parametrize("seed", range(8))
def test_second_derivatives_of_random_programs(seed: int) -> None:
    _, program, arguments = random_programs.program(seed)
    rng = np.random.default_rng(seed)
    v = tuple(rng.normal(size=np.shape(a)) for a in arguments)
    with np.errstate(all="ignore"):
        gradient = srcgrad.grad(program, argnums=(0, 1, 2))
        product = srcgrad.hvp(program, (0, 1, 2))(*copy.deepcopy(arguments), (*v[:2], float(v[2])))
        ends = [
            gradient(*(a + h * d for a, d in zip(copy.deepcopy(arguments), v, strict=True)))
            for h in (1e-5, -1e-5)
        ]
    for found, a, b in zip(product, *ends, strict=True):
        scale = max(1.0, float(np.max(np.abs(found))))
        np.testing.assert_allclose(found, (a - b) / 2e-5, rtol=0, atol=1e-4 * scale)
