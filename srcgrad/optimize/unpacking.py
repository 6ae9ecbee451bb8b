"""Unpacking: what is taken out of a tuple in a list is taken out at once.

`x, y, mass = bodies[i]` is read, and runs, faster than one item after the other. Only reads of the
tuple move, up to where it is found itself: nothing can change it in between. Where a loop counts
up to the length of a list for the sake of its items alone, it goes through the list itself.
"""

from __future__ import annotations

import operator
from typing import Any, TypeGuard

from .. import ir
from ..analysis.aliasing import Aliasing
from ..analysis.items import is_found_in_list, item_reads, reads_list
from ..kinds import TupleOf


def unpack(function: ir.Function) -> None:
    """Move the reads of the items of tuples up to where these are found, in place.

    Those of the items of a list that a loop goes through come first in it.
    """
    if not any(map(reads_list, ir.walk(function.block))):
        return
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


def _makes(s: ir.Statement, reads: dict[ir.Var, dict[Any, ir.Statement]]) -> TypeGuard[ir.Assign]:
    return isinstance(s, ir.Assign) and s.target in reads


def _pays(v: ir.Var, reads: dict[Any, ir.Statement], counts: dict[ir.Var, int]) -> bool:
    """Whether nothing else is done with a tuple, of which most is read."""
    assert isinstance(v.kind, TupleOf)
    return len(reads) == counts.get(v, 0) > 1 and 2 * len(reads) > len(v.kind.items)
