"""Keys: which are the same in every run, and which take all elements of an array, in their order.

The latter, as `x[:, None]` or `x[..., 0]` of one column, add axes of length 1 or take them out.
And the keys under which what is computed with constants is found again.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import ir
from ..kinds import Dimension


def same_key(a: ir.Operand, b: ir.Operand) -> bool:
    """Whether two keys are the same in every run."""
    if a is b:
        return True
    if isinstance(a, ir.Const) and isinstance(b, ir.Const):
        return type(a.value) is type(b.value) and repr(a.value) == repr(b.value)
    if isinstance(a, ir.Pack) and isinstance(b, ir.Pack):
        return (
            a.type is b.type
            and len(a.items) == len(b.items)
            and all(same_key(x, y) for x, y in zip(a.items, b.items, strict=True))
        )
    return False


def kept_axes(key: ir.Operand, shape: tuple[Dimension, ...]) -> list[int | None] | None:
    """For each axis of `x[key]` the axis of x that it is, None for a new one.

    The whole is None if the key may take a part of an array of this shape.
    """
    items = ir.items_of(key)
    there: list[int | None] = []
    axis = 0
    for position, item in enumerate(items):
        if ir.is_constant(item, None):
            there.append(None)
        elif ir.is_constant(item, Ellipsis):
            stop = _after_ellipsis(items[position + 1 :], shape)
            there += range(axis, stop)
            axis = stop
        elif _is_whole(item):
            there.append(axis)
            axis += 1
        elif _is_only(item) and axis < len(shape) and shape[axis] == 1:
            axis += 1
        else:
            return None
    return [*there, *range(axis, len(shape))]


def undone(key: ir.Operand, shape: tuple[Dimension, ...] | None) -> ir.Operand | None:
    """The key that gives `x` back from `x[key]`, None if the key may take a part of x."""
    items = ir.items_of(key)
    from_the_end = any(ir.is_constant(item, Ellipsis) for item in items)
    back: list[ir.Operand] = []
    axis = 0
    for position, item in enumerate(items):
        if ir.is_constant(item, None):
            back.append(ir.Const(0))
        elif ir.is_constant(item, Ellipsis):
            back.append(item)
            axis = _after_ellipsis(items[position + 1 :], shape or ())
        elif _is_whole(item):
            back.append(item)
            axis += 1
        elif _is_only(item) and shape is not None and axis < len(shape) and shape[axis] == 1:
            back.append(ir.Const(None))
            axis += 1
        else:
            return None
    while len(back) > 1 and _is_whole(back[-1]) and not from_the_end:
        back.pop()
    return back[0] if len(back) == 1 else ir.Pack(tuple, tuple(back))


def _after_ellipsis(later: tuple[ir.Operand, ...], shape: tuple[Dimension, ...]) -> int:
    """The axis that comes after an ellipsis with these items behind it, even too many of them."""
    return max(0, len(shape) - sum(not ir.is_constant(item, None) for item in later))


def _is_whole(item: ir.Operand) -> bool:
    """Whether a part of a key is `:`."""
    if isinstance(item, ir.Const):
        return isinstance(item.value, slice) and item.value == slice(None)
    parts = item.items if isinstance(item, ir.Pack) and item.type is slice else ()
    return bool(parts) and all(isinstance(p, ir.Const) and p.value is None for p in parts)


def _is_only(item: ir.Operand) -> bool:
    """Whether a part of a key names the only place of an axis, if that has the length 1."""
    return isinstance(item, ir.Const) and type(item.value) is int and item.value in (0, -1)


def constant_key(value: Any) -> Any:
    """What equal constants have in common; None for those that can't be told apart by it."""
    if isinstance(value, (tuple, frozenset, slice)):
        return (type(value), repr(value)) if is_plain(value) else None
    plain = (int, float, complex, str, bytes, type(None), np.dtype, type(Ellipsis))
    if isinstance(value, plain):
        return (type(value), value, str(value))
    return ("object", id(value))


def is_plain(value: Any) -> bool:
    """Whether a constant is a number, a text or the like, or holds but such: its text tells all."""
    if isinstance(value, (tuple, frozenset)):
        return all(is_plain(item) for item in value)
    if isinstance(value, slice):
        return all(is_plain(item) for item in (value.start, value.stop, value.step))
    return value is None or value is Ellipsis or type(value) in (bool, int, float, str, complex)
