"""Functions that describe an array: what they mean in terms of its attributes."""

from __future__ import annotations

import numbers

import numpy as np

from .registry import definition, of_none

definition(np.ndim)(lambda a: a.ndim)
definition(np.shape)(lambda a: a.shape)
of_none.update({np.ndim: 0, np.shape: (), np.size: 1})


@definition(np.size)
def size(a, axis=None):
    if axis is None:
        return a.size
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
