"""What temporaries are called, for what makes them or what they show; and what lowers a node."""

from __future__ import annotations

import functools
import operator
import sys
from typing import Any

from .. import ir
from ..analysis.aliasing import is_slice
from ..kinds import NOTHING, Array, Kind, Scalar
from .wording import hint

SIDES = {  # of a stencil: what lies before and after the middle, by rank and axis
    1: (("left", "right"),),
    2: (("above", "below"), ("left", "right")),
    3: (("behind", "before"), ("above", "below"), ("left", "right")),
}
NEIGHBOURS = {(operator.add, 1): "next", (operator.sub, 1): "previous"}


@functools.cache
def method_name(what: str, node: str) -> str:
    """The name of the method that lowers a node, given its class's.

    Interned: Python remembers where in a class of many bases such a name was found.

    >>> method_name("expression", "Name")
    'expression_Name'
    """
    return sys.intern(f"{what}_{node}")


def temporary_name(function: Any, args: tuple[ir.Operand, ...], name: str, kind: Kind) -> str:
    """A name for the result of a call, of which `name`, if not empty, is a first idea.

    >>> import numpy as np
    >>> u = ir.Var("u", Array(np.dtype(float), (3, 3)), user=True)
    >>> key = ir.Const((slice(1, -1), slice(2, None)))
    >>> temporary_name(operator.getitem, (u, key), "u", Array(np.dtype(float), (1, 1)))
    'u_right'
    """
    if kind == NOTHING:
        return "_"
    first = args[0] if args else None
    if not isinstance(first, ir.Var) or len(args) != 2:
        return name or hint(function)
    if function is operator.getitem and isinstance(kind, Array) and isinstance(first.kind, Array):
        part = _part(args[1])
        return f"{name or hint(function)}_{part}" if part is not None else name or hint(function)
    if not name and isinstance(kind, Scalar) and kind.dtype.kind == "i" and first.user:
        second = args[1]
        if isinstance(second, ir.Const) and type(second.value) is int:
            word = NEIGHBOURS.get((function, second.value))
            if word is not None:
                return f"{word}_{first.name}"
    return name or hint(function)


def _part(key: ir.Operand) -> str | None:
    """A word for the part of an array that a key of slices and numbers takes."""
    items: list[Any] = list(key.items) if isinstance(key, ir.Pack) and key.type is tuple else [key]
    if isinstance(key, ir.Const) and isinstance(key.value, tuple):
        items = [ir.Const(item) for item in key.value]
    numbers = [not is_slice(item) for item in items]
    if any(isinstance(i, ir.Const) and (i.value is None or i.value is Ellipsis) for i in items):
        return None
    if (len(items) == 2 and numbers == [True, False]) or numbers == [True]:
        return "row"
    if numbers == [False, True]:
        return "column"
    if any(numbers) or len(items) not in SIDES:
        return None
    words = []
    for item, (before, after) in zip(items, SIDES[len(items)], strict=True):
        start, stop = _bounds(item)
        if start is None and stop is None:
            continue
        if start is not None and stop is not None:
            words.append("inner")
        else:
            words.append(after if stop is None else before)
    sides = [word for word in words if word != "inner"]
    return "_".join(sides) if sides else "inner" if words else None


def _bounds(item: Any) -> tuple[Any, Any]:
    """The start and stop of a slice; None where the array begins and ends."""
    if isinstance(item, ir.Const):
        return item.value.start, item.value.stop
    bounds = (None if isinstance(p, ir.Const) and p.value is None else p for p in item.items[:2])
    start, stop = bounds
    return start, stop
