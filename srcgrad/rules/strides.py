"""Views in which an element occurs several times: windows, and strides chosen at will.

The adjoint of such a view is no view of the array's adjoint: what it holds is added up.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from .. import ir
from ..analysis.inference import Inferred
from ..kinds import Array
from .helpers import known
from .registry import adjoint, kind, linear, tangent
from .shapes import as_shape
from .shaping import along, at


@adjoint(np.lib.stride_tricks.sliding_window_view)
def sliding_window_view(x, window_shape, axis=None, *, subok=False, writeable=False, out, d_out):
    """Add up the adjoints of all windows, one offset within the window at a time."""
    if isinstance(window_shape, (int, np.integer)):
        window_shape = (window_shape,)
    if axis is None:
        axes = tuple(range(len(window_shape)))
    else:
        axes = (axis % x.ndim,) if isinstance(axis, (int, np.integer)) else axis
    sizes = window_shape
    first = tuple(range(x.ndim, d_out.ndim))
    d_out = d_out.transpose((*first, *range(x.ndim)))  # so that what is added up is long
    # axes may repeat: the later windows are made of what the earlier have left
    for number in reversed(range(len(sizes))):
        place = number + along(axes[number], x.ndim)
        shape = d_out.shape
        count = shape[place + 1]
        length = count + sizes[number] - 1
        shape = (*shape[:number], *shape[number + 1 : place + 1], length, *shape[place + 2 :])
        d_x = np.zeros(shape, d_out.dtype)
        for offset in range(sizes[number]):
            d_x[at(place, slice(offset, offset + count))] += d_out[at(number, offset)]
        d_out = d_x
    return d_out


def span_of(shape, steps):
    """Where the first element of a view lies in its memory, and how many elements that spans.

    >>> span_of((3, 2), [2, 1]), span_of((3,), [-2])
    ((0, 6), (4, 5))
    """
    if 0 in shape:
        return 0, 0
    reaches = [step * (n - 1) for step, n in zip(steps, shape, strict=True)]
    first = -sum(reach for reach in reaches if reach < 0)
    return first, first + 1 + sum(reach for reach in reaches if reach > 0)


def own_steps(x):
    """The strides of an array in elements, and what `span_of` says of them.

    >>> own_steps(np.zeros((3, 2)).T), own_steps(np.zeros(6)[::-2])
    (([1, 2], 0, 6), ([-2], 4, 5))
    """
    if x.flags.c_contiguous:
        return [math.prod(x.shape[axis + 1 :]) for axis in range(x.ndim)], 0, x.size
    steps = [stride // x.itemsize for stride in x.strides]
    reach = 0
    for step, n in sorted(zip(map(abs, steps), x.shape, strict=True)):
        if n > 1 and step <= reach:
            raise ValueError(
                "as_strided is differentiated for np.ascontiguousarray(x), not for this x, of "
                "which several elements lie in one place"
            )
        reach += step * (n - 1)
    if any(stride % x.itemsize for stride in x.strides):
        raise ValueError("as_strided is differentiated for strides of whole elements")
    return steps, *span_of(x.shape, steps)


def at_steps(flat, first, shape, steps):
    """The view of a flat array that begins at an element, with strides counted in elements."""
    strides = [flat.itemsize * step for step in steps]
    return np.lib.stride_tricks.as_strided(flat[first:], shape, strides)


def elements(x, shape, strides):
    """The strides of a view counted in elements of `x`, in whose memory it must lie."""
    own, first, size = own_steps(x)
    steps = [stride // x.itemsize for stride in strides]
    before, reach = span_of(shape, steps)
    inside = 0 in shape or (before <= first and first - before + reach <= size)
    if inside and size > x.size:  # what lies between the elements isn't of the array
        taken = np.zeros(size, bool)
        at_steps(taken, first, x.shape, own)[...] = True
        inside = at_steps(taken, first, shape, steps).all()
    if not inside:
        raise ValueError("as_strided shows memory outside of the array: give it all that it shows")
    if any(stride % x.itemsize for stride in strides):
        raise ValueError("as_strided is differentiated for strides of whole elements")
    return steps


def strided(x, like, shape, strides):
    """What `as_strided` makes of an array of the shape of `like`, whose strides they are.

    `x` is taken to lie in memory as `like` does.

    >>> x = np.arange(4.0)
    >>> strided(x, x.astype(np.float32), (2, 3), (4, 4))
    array([[0., 1., 2.],
           [1., 2., 3.]])
    """
    steps = elements(like, shape, strides)
    if like.flags.c_contiguous:
        return at_steps(np.ascontiguousarray(x).reshape(-1), 0, shape, steps)
    own, first, size = own_steps(like)
    flat = np.zeros(size, x.dtype)
    at_steps(flat, first, like.shape, own)[...] = x
    return at_steps(flat, first, shape, steps)


def sum_of_strided(windows, like, strides):
    """For each element of `like`, the sum of the `windows` that `as_strided` shows it in.

    One addition takes all axes that together name no element twice, the longest first.

    >>> sum_of_strided(np.ones((2, 3)), np.zeros(4), (8, 8))
    array([1., 2., 2., 1.])
    """
    steps = elements(like, windows.shape, strides)
    own, first, size = own_steps(like)
    total = np.zeros(size, windows.dtype)
    together = []
    for axis in sorted(range(windows.ndim), key=lambda axis: -windows.shape[axis]):
        reach = 0
        for other in sorted([*together, axis], key=lambda other: abs(steps[other])):
            if windows.shape[other] > 1 and abs(steps[other]) <= reach:
                break
            reach += abs(steps[other]) * (windows.shape[other] - 1)
        else:
            together.append(axis)
    together.sort()
    apart = [axis for axis in range(windows.ndim) if axis not in together]
    rows = windows.transpose(*apart, *together)
    shown = at_steps(total, first, windows.shape, steps).transpose(*apart, *together)
    for place in np.ndindex(rows.shape[: len(apart)]) if windows.size else ():
        shown[place] += rows[place]
    return at_steps(total, first, like.shape, own)


linear(strided, sum_of_strided)


@tangent(np.lib.stride_tricks.as_strided)
def tangent_as_strided(x, shape=None, strides=None, *, subok=False, writeable=True, out, tangents):
    of_array(x)
    shape = x.shape if shape is None else shape
    return strided(tangents[0], x, shape, x.strides if strides is None else strides)


@adjoint(np.lib.stride_tricks.as_strided)
def as_strided(x, shape=None, strides=None, *, subok=False, writeable=True, out, d_out):
    of_array(x)
    return sum_of_strided(d_out, x, x.strides if strides is None else strides), None, None


def of_array(x):
    if known(np.ndim(x)) and not isinstance(x, np.ndarray):
        raise NotImplementedError("of a number: use np.broadcast_to")


@adjoint(strided)
def d_strided(x, like, shape, strides, *, out, d_out):
    return sum_of_strided(d_out, like, strides), None, None, None


@adjoint(sum_of_strided)
def d_sum_of_strided(windows, like, strides, *, out, d_out):
    return strided(d_out, like, windows.shape, strides), None, None


@kind(np.lib.stride_tricks.as_strided)
def kind_as_strided(args: tuple[ir.Operand, ...], kwargs: dict[str, ir.Operand]) -> Any:
    x, shape = args[0], args[1] if len(args) > 1 else kwargs.get("shape", ir.Const(None))
    if not isinstance(x, ir.Var) or not isinstance(x.kind, Array):
        return None
    same = isinstance(shape, ir.Const) and shape.value is None
    return Inferred(Array(x.kind.dtype, x.kind.shape if same else as_shape(shape)), (x,))


@kind(strided)
def kind_strided(args: tuple[ir.Operand, ...], kwargs: dict[str, ir.Operand]) -> Any:
    x = args[0]
    assert isinstance(x, ir.Var) and isinstance(x.kind, Array)
    return Inferred(Array(x.kind.dtype, as_shape(args[2])), (x,), False)


@kind(sum_of_strided)
def kind_sum_of_strided(args: tuple[ir.Operand, ...], kwargs: dict[str, ir.Operand]) -> Any:
    windows, like = args[:2]
    assert isinstance(windows, ir.Var) and isinstance(windows.kind, Array)
    assert isinstance(like, ir.Var) and isinstance(like.kind, Array)
    return Inferred(Array(windows.kind.dtype, like.kind.shape))
