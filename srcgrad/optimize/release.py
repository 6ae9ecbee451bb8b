"""What may be let go before the reverse sweep: arrays that only have names still.

A function holds what it has names for until it returns. Where that makes the gradient need more
memory than its calls do (`footprint.py`), names that nobody uses in the reverse sweep are deleted
before it. Which variables have names, only emission knows.
"""

from __future__ import annotations

from .. import ir
from ..analysis.aliasing import Aliasing, holds_memory
from .footprint import SLACK, Footprint


def release(function: ir.Function) -> None:
    """Find the variables that only the forward sweep uses, in groups that may share memory.

    Only of memory that the function makes itself, and whose size matters. If no variable of a group
    has a name, its memory is free.
    """
    sweep = ir.reverse_part(function)
    footprint = Footprint(function)
    crowded = footprint.found()[1]
    if not any(v in crowded for s in ir.walk(sweep) for v in ir.targets(s)):
        return
    least = (SLACK - 1) * footprint.needed
    aliasing = Aliasing(function.block, function.together)
    groups: dict[ir.Var, set[ir.Var]] = {}
    for s in ir.walk(ir.forward_part(function)):
        for v in (*ir.targets(s), *(s.params if isinstance(s, ir.Loop) else ())):
            if holds_memory(v.kind):
                groups.setdefault(aliasing.find(v), set()).add(v)
    results = ir.variables_of(function.block.results)
    kept = {aliasing.find(v) for v in (*function.params, *ir.all_uses(sweep), *results)}
    function.released = tuple(
        group for root, group in groups.items()
        if root not in kept
        and any((footprint.made[v] > least).any() for v in group if v in footprint.made)
    )  # fmt: skip
