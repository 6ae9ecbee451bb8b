"""What is taken out of lists: the loops that can go through one themselves, and tuples in lists."""

from __future__ import annotations

import builtins
import operator
from typing import TypeGuard

from .. import ir
from ..kinds import ListOf, TupleOf
from .aliasing import Aliasing, is_slice


def item_reads(function: ir.Function, aliasing: Aliasing) -> dict[ir.Loop, ir.Assign]:
    """The loops that can go through a list themselves, with the statement that takes its item.

    Such a loop counts to the length of the list, uses the number for nothing else, and finds the
    list as it was when its length was asked for.
    """
    counts = ir.use_counts(function.block)
    lengths: dict[ir.Var, tuple[int, ir.Var]] = {}  # where a length is asked for, and of what
    last_write: dict[ir.Var, int] = {}
    found: dict[ir.Loop, ir.Assign] = {}
    loops: list[ir.Loop] = []
    for number, s in enumerate(ir.walk(function.block)):
        if isinstance(s, ir.Loop):
            loops.append(s)
        elif isinstance(s, ir.Assign):
            if s.writes:
                last_write.update(dict.fromkeys(aliasing.written_by(s), number))
            if s.function is builtins.len and isinstance(s.args[0], ir.Var):
                lengths[s.target] = number, s.args[0]
    for loop in loops:
        if loop.index is None or loop.range is None or loop.exits or counts[loop.index] != 1:
            continue
        start, stop, step = loop.range
        asked, items = lengths.get(stop, (0, None)) if isinstance(stop, ir.Var) else (0, None)
        if items is None or not ir.is_constant(start, 0) or not ir.is_constant(step, 1):
            continue
        root = aliasing.find(items)
        if not isinstance(items.kind, ListOf) or last_write.get(root, -1) >= asked:
            continue
        for s in loop.body.statements:
            if reads_list(s) and s.args == (items, loop.index):
                found[loop] = s
    return found


def is_found_in_list(s: ir.Statement) -> TypeGuard[ir.Assign]:
    """Whether a statement reads a tuple that is in a list."""
    return reads_list(s) and isinstance(s.target.kind, TupleOf)


def reads_list(s: ir.Statement) -> TypeGuard[ir.Assign]:
    """Whether a statement takes something out of a list."""
    if not isinstance(s, ir.Assign) or s.function is not operator.getitem:
        return False
    return isinstance(s.args[0], ir.Var) and isinstance(s.args[0].kind, ListOf)


def takes_list(s: ir.Assign) -> bool:
    """Whether a call takes a list out of a list."""
    container = s.args[0] if s.args else None
    lists = isinstance(container, ir.Var) and isinstance(container.kind, ListOf)
    held = lists and isinstance(s.target.kind, ListOf)
    return held and s.function is operator.getitem and not is_slice(s.args[1])
