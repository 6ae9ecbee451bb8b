"""Settled: items of arrays that are made of constants, while nothing else uses the arrays."""

from __future__ import annotations

import operator

import numpy as np

from .. import ir
from ..analysis.elementwise import COPIES
from .structure import constant


def settled_item(item: ir.Var, block: ir.Block) -> int | None:
    """The int that an item of an array is, if a block that is being made tells.

    `pos = np.array([0, 2])` in it, and `pos[1]` then: whoever has used the array in between for
    more than an item may have written it, or have kept it for that.
    """
    read = next((s for s in reversed(block.statements) if item in ir.targets(s)), None)
    if not isinstance(read, ir.Assign) or read.function is not operator.getitem:
        return None
    array, key = read.args
    known, index = constant(key)
    if not isinstance(array, ir.Var) or not known:
        return None
    for s in reversed(block.statements):
        if isinstance(s, ir.Assign) and s.target is array:
            made, items = constant(s.args[0]) if len(s.args) == 1 else (False, None)
            if s.function not in COPIES or s.kwargs or not made:
                return None
            try:
                found = np.array(items)[index]
            except (IndexError, ValueError):
                return None  # the run says so, if it comes here
            return int(found) if isinstance(found, np.integer) else None
        if array in ir.all_uses(ir.Block([s])) and not _reads_item(s, array):
            return None
    return None


def _reads_item(s: ir.Statement, array: ir.Var) -> bool:
    """Whether a statement only takes an item that is a number."""
    return isinstance(s, ir.Assign) and s.function is operator.getitem and (
        s.args[0] is array and not s.views and array not in ir.variables(s.args[1])
    )  # fmt: skip
