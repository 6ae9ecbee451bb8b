"""Functions that describe an array: what they mean in terms of its attributes."""

from __future__ import annotations

import numpy as np

from .registry import definition


@definition(np.ndim)
def ndim(a):
    return a.ndim


@definition(np.shape)
def shape(a):
    return a.shape


@definition(np.iscomplexobj)
def iscomplexobj(x):
    return x.dtype.kind == "c"


@definition(np.isrealobj)
def isrealobj(x):
    return x.dtype.kind != "c"
