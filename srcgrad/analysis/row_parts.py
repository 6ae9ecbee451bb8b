"""Parts of arrays that don't lie in one piece: of each row there is a part."""

from __future__ import annotations

import operator
from typing import TypeGuard

from .. import ir
from ..kinds import Array


def is_part_of_rows(s: ir.Statement) -> TypeGuard[ir.Assign]:
    """Whether a statement takes a part of each row of an array, `u[1:-1, 1:-1]`, as a matrix."""
    if not isinstance(s, ir.Assign) or s.function is not operator.getitem or not s.views:
        return False
    source, key = s.args
    if not isinstance(source, ir.Var) or not isinstance(source.kind, Array):
        return False
    kind, items = s.target.kind, ir.items_of(key)
    if not isinstance(kind, Array) or kind.rank is None or kind.rank < 2:
        return False
    whole = [item for item in items if ir.is_constant(item, Ellipsis)]
    slices = [ir.slice_parts(item) for item in items if item not in whole]
    reaches = bool(whole) or len(items) == source.kind.rank
    if not reaches or not slices or not all(slices):
        return False
    return any(not ir.is_constant(end, None) for end in slices[-1])
