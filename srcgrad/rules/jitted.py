"""Functions that Numba compiles: they do what the Python does that they are made of."""

from __future__ import annotations

import sys

from .registry import definition, python_of


def load() -> None:
    """Register them, once the user's program has imported Numba."""
    numba = sys.modules.get("numba")
    dispatcher = getattr(sys.modules.get("numba.core.registry"), "CPUDispatcher", None)
    if dispatcher is None or dispatcher in python_of or not hasattr(numba, "prange"):
        return
    python_of[dispatcher] = lambda function: function.py_func
    definition(numba.prange)(_prange)  # type: ignore[union-attr]


def _prange(*bounds):
    return range(*bounds)
