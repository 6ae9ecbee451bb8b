"""Unpacking: what is taken out of a tuple in a list is taken out at once.

`x, y, mass = bodies[i]` is read, and runs, faster than one item after the other. Only reads of the
tuple move, up to where it is found itself: nothing can change it in between. Where a loop counts
up to the length of a list for the sake of its items alone, it goes through the list itself.
"""

from __future__ import annotations

import builtins
import operator
from typing import Any, TypeGuard

from .. import ir
from ..analysis.aliasing import Aliasing
from ..kinds import ListOf, TupleOf


def unpack(function: ir.Function) -> None:
    """Move the reads of the items of tuples up to where these are found, in place.

    Those of the items of a list that a loop goes through come first in it.
    """
    for loop, read in item_reads(function, Aliasing(function.block, function.together)).items():
        loop.body.statements.remove(read)
        loop.body.statements.insert(0, read)
    counts = ir.use_counts(function.block)
    for block in ir.all_blocks(function.block):
        reads: dict[ir.Var, dict[Any, ir.Statement]] = {}
        for s in block.statements:
            if is_found_in_list(s):
                reads[s.target] = {}
            elif isinstance(s, ir.Assign) and s.function is operator.getitem:
                container, key = s.args
                if container in reads and isinstance(key, ir.Const):
                    reads[container][key.value] = s
        reads = {v: found for v, found in reads.items() if _pays(v, found, counts)}
        moved = {s for found in reads.values() for s in found.values()}
        if moved:
            block.statements = [
                part
                for s in block.statements
                if s not in moved
                for part in (s, *(reads[s.target].values() if _makes(s, reads) else ()))
            ]


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
            if isinstance(s, ir.Assign) and s.function is operator.getitem:
                if s.args == (items, loop.index):
                    found[loop] = s
    return found


def is_found_in_list(s: ir.Statement) -> TypeGuard[ir.Assign]:
    """Whether a statement reads a tuple that is in a list."""
    if not isinstance(s, ir.Assign) or s.function is not operator.getitem:
        return False
    container = s.args[0]
    listed = isinstance(container, ir.Var) and isinstance(container.kind, ListOf)
    return listed and isinstance(s.target.kind, TupleOf)


def _makes(s: ir.Statement, reads: dict[ir.Var, dict[Any, ir.Statement]]) -> TypeGuard[ir.Assign]:
    return isinstance(s, ir.Assign) and s.target in reads


def _pays(v: ir.Var, reads: dict[Any, ir.Statement], counts: dict[ir.Var, int]) -> bool:
    """Whether nothing else is done with a tuple, of which most is read."""
    assert isinstance(v.kind, TupleOf)
    return len(reads) == counts.get(v, 0) > 1 and 2 * len(reads) > len(v.kind.items)
