"""What a function that is handed to others reads of lists outside."""

from __future__ import annotations

import operator

from .. import ir
from ..analysis.activity import carries
from ..frontend.lower import Lowerer
from ..kinds import ListOf, Reference


def read_before(low: Lowerer, call: ir.Assign, varying: list[ir.Var]) -> None:
    """Have what a function reads of outer lists, whatever it is applied to, read before the call.

    The numbers have derivatives for the rule of whatever the function is handed to; the lists
    haven't. Objects in tables are such lists, one for each attribute.
    """
    unit: ir.Unit = call.function
    body = unit.body
    pairs = list(zip(body.params, call.args, strict=True))
    outer = {p: a for p, a in pairs if a not in varying}
    lists = {p for p in outer if isinstance(p.kind, ListOf) and carries(p.kind)}
    if not lists or unit in ir.units([body]):
        return
    moved = _same_each_time(body.block, lists, set(outer))
    _take_out(body.block, moved)
    for block in list(ir.all_blocks(body.block)):
        rows = [s for s in block.statements if _reads_row(s, lists, set(outer))]
        _take_out(block, rows)
        moved += rows
    used = ir.free_variables(body.block)
    made = {v: v.anew() for s in moved for v in ir.targets(s) if v in used}
    ir.rename(body.block, made)
    kept = [(p, a) for p, a in pairs if p not in outer or p in used]
    body.params = (*(p for p, _ in kept), *made.values())
    call.args = (*(a for _, a in kept), *made)
    ir.rename(ir.Block(list(moved)), outer)
    position = low.block.statements.index(call)
    low.block.statements[position:position] = moved


def _same_each_time(block: ir.Block, lists: set[ir.Var], outer: set[ir.Var]) -> list[ir.Statement]:
    """The statements that read lists, and what those need, if they need nothing but `outer`."""
    same, found = set(outer), []
    for s in block.statements:
        inner = ir.Block([s])
        pure = not any(isinstance(t, ir.Assign) and (t.effect or t.writes) for t in ir.walk(inner))
        if pure and same.issuperset(ir.free_variables(inner)):
            same.update(ir.targets(s))
            found.append(s)
    wanted: list[ir.Statement] = []
    needed = set(lists)
    for s in reversed(found):
        free = ir.free_variables(ir.Block([s]))
        if not lists.isdisjoint(free) or not needed.isdisjoint(ir.targets(s)):
            needed.update(free)
            wanted.append(s)
    return wanted[::-1]


def _take_out(block: ir.Block, statements: list[ir.Statement]) -> None:
    block.statements = [s for s in block.statements if s not in statements]


def _reads_row(s: ir.Statement, lists: set[ir.Var], outer: set[ir.Var]) -> bool:
    """Whether a statement, in a branch, say, reads an attribute of an outer object in a table."""
    if not isinstance(s, ir.Assign) or s.function is not operator.getitem:
        return False
    items, row = s.args
    if not isinstance(row, ir.Var) or not isinstance(row.kind, Reference):
        return False
    known = row.assured and len(row.kind.types) == 1 and type(None) not in row.kind.types
    return known and items in lists and row in outer
