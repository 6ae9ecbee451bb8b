"""Appends at the ends of branches, taken out of them.

    if v > 0:                                item = v * v if v > 0 else 0.1 * v
        squares.append(v * v)         =>     squares.append(item)
    else:
        squares.append(0.1 * v)

Where one side does nothing, what the other one appends is noted with the test: the list has the
items for which it's true.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from .. import ir
from ..kinds import ListOf, Scalar


@dataclass(eq=False)
class Hoisted:
    """The statements of a loop's body, whose appends aren't in branches.

    Attributes:
        statements: the body's.
        origins: for an append, those in whose place it is.
        tests: for an append, what has to be true.
        chosen: the variables that are one thing or another now.
        hasty: what is done whether the test is true or not.
    """

    statements: list[ir.Statement]
    origins: dict[ir.Statement, frozenset[ir.Statement]] = field(default_factory=dict)
    tests: dict[ir.Statement, ir.Operand] = field(default_factory=dict)
    chosen: set[ir.Var] = field(default_factory=set)
    hasty: list[ir.Assign] = field(default_factory=list)


def appends(s: ir.Statement) -> bool:
    return isinstance(s, ir.Assign) and s.function is ir.list_append


def hoisted(body: ir.Block) -> Hoisted:
    """The statements of a loop's body, with appends taken out of branches; it isn't changed."""
    found = Hoisted([])
    for s in body.statements:
        found.statements += _either(s, found) if isinstance(s, ir.If) else [s]
    for s in [s for s in found.statements if isinstance(s, ir.If)]:
        inside = s.then.statements
        if not inside or not appends(inside[-1]) or s.orelse.statements or s.targets:
            continue
        *before, append = inside
        if all(isinstance(each, ir.Assign) and not appends(each) for each in before):
            at = found.statements.index(s)
            found.statements[at : at + 1] = inside
            found.tests[append] = s.test
            found.hasty += before  # type: ignore[arg-type]
    for s in found.statements:
        if appends(s):
            found.origins.setdefault(s, frozenset([s]))
    return found


def _either(s: ir.If, found: Hoisted) -> list[ir.Statement]:
    """A branch, both of whose sides may append to one list at the end, and what it appends then."""
    sides = []
    for block in (s.then, s.orelse):
        statements = block.statements
        if statements and isinstance(statements[-1], ir.If):
            statements = [*statements[:-1], *_either(statements[-1], found)]
        sides.append(statements)
    lasts = [side[-1] if side else None for side in sides]
    if not all(isinstance(last, ir.Assign) and appends(last) for last in lasts):
        return [s]
    one, other = lasts
    assert isinstance(one, ir.Assign) and isinstance(other, ir.Assign)
    items = one.args[0]
    kind = items.kind.item if isinstance(items, ir.Var) and isinstance(items.kind, ListOf) else None
    if items is not other.args[0] or not isinstance(kind, Scalar):
        return [s]
    item = ir.Var("item", kind)
    blocks = [
        ir.Block(side[:-1], (*block.results, last.args[1]))  # type: ignore[union-attr]
        for side, block, last in zip(sides, (s.then, s.orelse), lasts, strict=True)
    ]
    append = ir.Assign(
        ir.Var("_", one.target.kind), one.function, (items, item), span=one.span, writes=one.writes
    )
    origins = [found.origins.pop(last, frozenset([last])) for last in (one, other)]
    found.origins[append] = origins[0] | origins[1]
    found.chosen.add(item)
    return [ir.If(s.test, blocks[0], blocks[1], (*s.targets, item), s.span), append]
