"""Methods of arrays and numbers that mean the same as a NumPy function."""

from __future__ import annotations

import numpy as np

from srcgrad.rules.registry import method

_SAME = (
    *("sum", "mean", "var", "std", "prod", "max", "min", "cumsum", "cumprod"),
    *("any", "all", "argmax", "argmin", "clip", "round", "conj", "conjugate", "real", "imag"),
)

for _owner in (np.ndarray, np.generic):
    for _name in _SAME:
        method(getattr(_owner, _name), getattr(np, _name))

method(np.ndarray.dot, np.dot)
for _number in (float, complex):
    method(_number.conjugate, np.conjugate)
    method(_number.real, np.real)
    method(_number.imag, np.imag)
