"""Functions that describe an array: what they mean in terms of its attributes."""

from __future__ import annotations

import numbers

import numpy as np

from .registry import definition

definition(np.ndim)(lambda a: 0 if a is None else a.ndim)
definition(np.shape)(lambda a: () if a is None else a.shape)


@definition(np.size)
def size(a, axis=None):
    if axis is None:
        return 1 if a is None else a.size
    if not isinstance(axis, tuple):
        return a.shape[axis]
    count = 1
    for i in axis:
        count = count * a.shape[i]
    return count


definition(np.iscomplexobj)(lambda x: np.asarray(x).dtype.kind == "c")
definition(np.isrealobj)(lambda x: np.asarray(x).dtype.kind != "c")
definition(np.isscalar)(
    lambda element: isinstance(element, (np.generic, str, bytes, numbers.Number))
)
