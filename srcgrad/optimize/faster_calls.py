"""Calls of NumPy that take their time, made by functions that do the same sooner.

Only those of the reverse sweep: what the user wrote stays. Late, as other passes know NumPy's.
But numbers change everywhere: beside an array of floats, NumPy takes a float a third faster than a
whole number, `2.0 * x` than `2 * x`.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import numpy as np

from .. import ir, runtime
from ..analysis.affine import is_whole
from ..analysis.aliasing import is_slice
from ..kinds import Array, same_dtype

Made = dict[ir.Var, ir.Assign]


def call_faster(function: ir.Function) -> None:
    """Replace the calls that a faster function can take, and whole numbers, in place."""
    made = {s.target: s for s in ir.walk(function.block) if isinstance(s, ir.Assign)}
    for s in ir.walk(function.block):
        if not isinstance(s, ir.Assign):
            continue
        if isinstance(s.span, ir.Origin):
            for slow, takes, fast in FASTER:
                if s.function == slow and takes(s, made):
                    s.function = fast
        if s.function in WITH_FLOATS and any(map(_is_of_floats, s.args)):
            s.args = tuple(map(_as_float, s.args))


def _is_of_floats(operand: ir.Operand) -> bool:
    kind = operand.kind if isinstance(operand, ir.Var) else None
    return isinstance(kind, Array) and kind.dtype is not None and kind.dtype.kind in "fc"


def _as_float(operand: ir.Operand) -> ir.Operand:
    """A small whole number as a float: one that is exact in every dtype."""
    if isinstance(operand, ir.Const) and type(operand.value) is int:
        return ir.Const(float(operand.value)) if abs(operand.value) <= EXACT else operand
    return operand


def _takes_vectors(s: ir.Assign, _: Made) -> bool:
    """Whether a call takes two arrays of floats, and their last axes for those of the vectors."""
    return not s.kwargs and len(s.args) == 2 and all(
        isinstance(a, ir.Var) and isinstance(a.kind, Array) and a.kind.shape
        and a.kind.dtype is not None and a.kind.dtype.kind in "fc" for a in s.args
    )  # fmt: skip


def _takes_places(s: ir.Assign, _: Made) -> bool:
    """Whether a call adds to places that arrays of whole numbers tell, between whole axes."""
    items = ir.items_of(s.args[1])
    numbers = [item for item in items if not is_whole(item)]
    return bool(numbers) and all(map(_is_of_places, numbers))


def _is_of_places(item: ir.Operand) -> bool:
    kind = item.kind if isinstance(item, ir.Var) else None
    return isinstance(kind, Array) and kind.dtype is not None and kind.dtype.kind in "iu"


def _takes_products(s: ir.Assign, made: Made) -> bool:
    """Whether a call multiplies vectors or matrices of one dtype of floats.

    Of a matrix whose rows are parts of longer ones `dot` makes a copy, `@` doesn't.
    """
    kinds = [a.kind for a in s.args if isinstance(a, ir.Var) and isinstance(a.kind, Array)]
    return (
        not s.kwargs and len(kinds) == 2 and all(k.rank in (1, 2) for k in kinds)
        and all(map(_is_of_floats, s.args)) and same_dtype(*kinds)
        and not any(_is_cut(a, made) for a in s.args)
    )  # fmt: skip


def _is_cut(operand: ir.Operand, made: Made) -> bool:
    """Whether a matrix is a view of parts of the rows of another one, or of their columns."""
    s = made.get(operand) if isinstance(operand, ir.Var) else None
    if s is None or not isinstance(s.target.kind, Array) or s.target.kind.rank != 2:
        return False
    if s.function is np.transpose:
        return _is_cut(s.args[0], made)
    if s.function is not operator.getitem:
        return False
    _, *others = ir.items_of(s.args[1])
    return any(is_slice(item) and not is_whole(item) for item in others)


EXACT = 2048  # the whole numbers up to which float16 has
WITH_FLOATS: frozenset[Any] = frozenset(
    {operator.add, operator.sub, operator.mul, operator.truediv, np.add, np.subtract, np.multiply,
     np.divide, operator.iadd, operator.isub, operator.imul, operator.itruediv, np.maximum,
     np.minimum, operator.lt, operator.le, operator.gt, operator.ge, operator.eq, operator.ne}
)  # fmt: skip
FASTER: tuple[tuple[Any, Callable[[ir.Assign, Made], bool], Any], ...] = (
    (np.add.at, _takes_places, runtime.add_at),
    (np.subtract.at, _takes_places, runtime.subtract_at),
    (np.cross, _takes_vectors, runtime.cross_product),
    (operator.matmul, _takes_products, np.ndarray.dot),
)
