"""Every callable in NumPy's public namespace is in one of the classes."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import srcgrad.rules  # noqa: F401  (registers the rules)
from srcgrad.frontend.calls import SPECIAL
from srcgrad.rules import registry

MODULES = {
    "np": np,
    "np.linalg": np.linalg,
    "np.fft": np.fft,
    "np.random": np.random,
    "np.polynomial": np.polynomial,
    "np.polynomial.polynomial": np.polynomial.polynomial,
    "np.polynomial.chebyshev": np.polynomial.chebyshev,
    "np.polynomial.legendre": np.polynomial.legendre,
    "np.polynomial.hermite": np.polynomial.hermite,
    "np.polynomial.hermite_e": np.polynomial.hermite_e,
    "np.polynomial.laguerre": np.polynomial.laguerre,
    "np.lib.stride_tricks": np.lib.stride_tricks,
    "np.lib.scimath": np.lib.scimath,
    "np.char": np.char,
    "np.strings": np.strings,
    "np.ma": np.ma,
    "np.rec": np.rec,
}
# What NumPy 2.0 to 2.3 have still, deprecated or for what it says instead.
OLD = {"np.in1d", "np.ndarray.newbyteorder", "np.ndarray.ptp", "np.ndarray.tostring"}
UFUNC_METHODS = ("reduce", "accumulate", "reduceat", "outer", "at")


def functions(module: Any) -> Iterator[tuple[str, Any]]:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name in sorted(getattr(module, "__all__", None) or dir(module)):
            thing = getattr(module, name, None)
            if name.startswith("_") or isinstance(thing, type) or not callable(thing):
                continue
            yield name, thing


def members(cls: type) -> Iterator[tuple[str, Any]]:
    for name in sorted(dir(cls)):
        if not name.startswith("_"):
            yield name, getattr(cls, name)


def everything() -> Iterator[tuple[str, Any]]:
    for path, module in MODULES.items():
        for name, function in functions(module):
            yield f"{path}.{name}", function
            if path == "np" and isinstance(function, np.ufunc):
                for method in UFUNC_METHODS:
                    yield f"{path}.{name}.{method}", getattr(function, method)
    for name, member in members(np.ndarray):
        yield f"np.ndarray.{name}", member
    for name, member in members(np.generic):
        yield f"np.generic.{name}", member


EVERYTHING = {path: thing for path, thing in everything() if path not in OLD}


@pytest.mark.parametrize("path", EVERYTHING)
def test_every_function_of_numpy_is_in_a_class(path: str) -> None:
    assert registry.classified(EVERYTHING[path]), f"{path} is in no class"


def test_the_special_forms_of_the_frontend_are_no_numpy_functions() -> None:
    assert not any(function in EVERYTHING.values() for function in SPECIAL)
