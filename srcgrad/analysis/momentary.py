"""Views that are read at once: a copy in their place would do the same."""

from __future__ import annotations

from .. import ir
from ..kinds import Array
from .aliasing import Aliasing


def is_momentary(view: ir.Assign, block: ir.Block, aliasing: Aliasing) -> bool:
    """Whether what reads a view stands after it in its block, before its memory is written again.

    What is made of it, and may share its memory, counts as the view itself.
    """
    root = aliasing.find(view.target)
    held, written = {view.target}, False
    for s in block.statements[block.statements.index(view) + 1 :]:
        inside = list(ir.walk(ir.Block([s])))
        writes = {v for i in inside if isinstance(i, ir.Assign) for v in i.writes}
        writing = any(root in aliasing.classes(v) for v in writes)
        if not held.isdisjoint(_mentioned(inside)):
            if written or (writing and not _reads_first(s, held)):
                return False
            held.update(v for v in _defined(inside) if root in aliasing.classes(v))
        written = written or writing
    return held.isdisjoint(ir.variables_of(block.results))


def _reads_first(s: ir.Statement, held: set[ir.Var]) -> bool:
    """Whether a statement writes numbers into an array after it has read the others."""
    if not isinstance(s, ir.Assign) or isinstance(s.function, ir.Unit):
        return False
    return held.isdisjoint(s.writes) and all(isinstance(v.kind, Array) for v in s.writes)


def _mentioned(statements: list[ir.Statement]) -> set[ir.Var]:
    """The variables that statements read, what their blocks yield included."""
    yielded = (b.results for s in statements for b in ir.blocks(s))
    return {v for s in statements for v in ir.uses(s)} | {
        v for results in yielded for v in ir.variables_of(results)
    }


def _defined(statements: list[ir.Statement]) -> set[ir.Var]:
    """The variables that statements define."""
    params = (p for s in statements if isinstance(s, ir.Loop) for p in s.params)
    return {v for s in statements for v in ir.targets(s)}.union(params)
