"""Methods of arrays and numbers that mean the same as a NumPy function."""

from __future__ import annotations

import operator

import numpy as np

from .registry import adjoint, definition, method, spelled

_SAME = (
    *("sum", "mean", "var", "std", "prod", "max", "min", "cumsum", "cumprod"),
    *("any", "all", "argmax", "argmin", "round", "conj", "conjugate", "real", "imag"),
)

_OPERATORS = (
    *("add", "sub", "mul", "truediv", "floordiv", "mod", "pow", "matmul", "neg", "pos", "abs"),
    *("getitem", "lt", "le", "eq", "ne", "gt", "ge", "and", "or", "xor", "invert"),
)


@definition(np.ndarray.conj, np.ndarray.conjugate)
def conj(self):
    """Unlike `np.conj`, the array itself if it is real, and no copy."""
    return np.conj(self) if np.iscomplexobj(self) else self


@definition(np.ndarray.clip, np.generic.clip)
def clip(self, min=None, max=None, out=None, **keywords):
    """Unlike `np.clip`, by one bound alone, too."""
    if out is None:
        return np.clip(self, min, max, **keywords)
    return np.clip(self, min, max, out=out, **keywords)


# What libraries that are written for several kinds of arrays ask of one
definition(np.ndarray.__array_namespace__)(lambda self, *, api_version=None: np)
definition(np.ndarray.__array__)(lambda self, dtype=None, *, copy=None: np.asarray(self, dtype))


@definition(np.ndarray.__array_wrap__)
def array_wrap(self, array, context=None, return_scalar=False):
    return array[()] if return_scalar else array


for _owner in (np.ndarray, np.generic):
    for _name in _SAME:
        if getattr(_owner, _name) not in (np.ndarray.conj, np.ndarray.conjugate):
            method(getattr(_owner, _name), getattr(np, _name))

    for _name in _OPERATORS:
        if (_written := getattr(_owner, f"__{_name}__", None)) is not None:
            method(_written, getattr(operator, f"__{_name}__"))

method(np.ndarray.dot, np.dot)
# Python's numbers remain Python's
definition(float.conjugate, int.conjugate)(lambda self: self)
adjoint(complex.conjugate)(lambda self, *, out, d_out: np.conj(d_out))
spelled(complex.conjugate, ".conjugate")
for _number in (float, complex):
    method(_number.real, np.real)
    method(_number.imag, np.imag)
