"""Functions that Numba compiles: they do what the Python does that they are made of."""

from __future__ import annotations

import sys

import numpy as np

from .functional import over_elements
from .registry import definition, python_of


def load() -> None:
    """Register them, once the user's program has imported Numba."""
    numba = sys.modules.get("numba")
    dispatcher = getattr(sys.modules.get("numba.core.registry"), "CPUDispatcher", None)
    if dispatcher is None or dispatcher in python_of or not hasattr(numba, "prange"):
        return
    python_of[dispatcher] = lambda function: function.py_func
    definition(numba.prange)(_prange)  # type: ignore[union-attr]
    ufunc = getattr(sys.modules.get("numba.np.ufunc.dufunc"), "DUFunc", None)
    if ufunc is not None:
        definition(ufunc.__call__)(_call_ufunc)
    typed = sys.modules.get("numba.typed")
    if typed is not None:  # they are lists and dicts with the types of their items said
        definition(typed.List)(_list)
        definition(typed.List.empty_list.__func__)(lambda cls, item_type, allocated=0: [])
        definition(typed.Dict)(_dict)
        definition(typed.Dict.empty.__func__)(lambda cls, key_type, value_type, n_keys=0: {})


def _prange(*bounds):
    return range(*bounds)


def _list(*items):
    return list(*items)


def _dict(*items):
    return dict(*items)


def _call_ufunc(self, *args, **kwargs):
    """What `vectorize` made of a function of numbers."""
    function = self._dispatcher.py_func
    if all(np.ndim(a) == 0 for a in args):
        return function(*args, **kwargs)
    return over_elements(function, None, None, None, args, kwargs)
