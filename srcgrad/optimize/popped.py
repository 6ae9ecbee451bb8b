"""Popped: arrays that are the reverse sweep's own once it has taken them from a record.

What the forward sweep made for one iteration, and handed to a record, nothing refers to any more
once it is popped: the reverse sweep may compute in it (`reuse.py`). A record is a list that the
function makes, into which one statement pushes, and from which one statement pops; nobody else
sees it.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from .. import ir
from ..analysis.aliasing import Aliasing, holds_memory
from ..analysis.elementwise import makes_fresh
from ..frontend.operations import list_append
from ..kinds import Array, ListOf
from .keeping import seen_by_others


@dataclass
class Record:
    """The statements about a record: what pushes, in a block, what pops, and what takes apart what
    was popped (`item = popped[0]`)."""

    push: ir.Assign
    block: ir.Block
    pop: ir.Assign
    items: list[ir.Assign]

    def handed_over(self) -> Iterator[tuple[ir.Var, ir.Var]]:
        """The variables that are pushed, and those that they are when they have been popped."""
        pushed = self.push.args[1]
        if isinstance(pushed, ir.Var):
            yield pushed, self.pop.target
        elif isinstance(pushed, ir.Pack):
            for s in self.items:
                operand = pushed.items[s.args[1].value]  # type: ignore[union-attr]
                if isinstance(operand, ir.Var):
                    yield operand, s.target


class _Apart(Aliasing):
    """Which variables share memory, if what records hand over is another array afterwards."""

    def __init__(self, function: ir.Function, handing: set[int]) -> None:
        self.handing = handing
        super().__init__(function.block, function.together)

    def _assign(self, s: ir.Assign) -> None:
        if id(s) not in self.handing:
            super()._assign(s)


def own_once_popped(function: ir.Function) -> dict[ir.Var, set[ir.Var]]:
    """The arrays that only variables of the reverse sweep refer to once they have been popped.

    Each with the variables that may share its memory from then on.
    """
    counts = ir.use_counts(function.block)
    records = list(_records(function.block, counts))
    if not records:
        return {}
    handing = {id(s) for r in records for s in (r.push, r.pop, *r.items)}
    apart = _Apart(function, handing)
    classes: dict[ir.Var, set[ir.Var]] = {}
    for v in {*counts, *(t for s in ir.walk(function.block) for t in ir.targets(s))}:
        if holds_memory(v.kind):
            classes.setdefault(apart.find(v), set()).add(v)
    kept = {apart.find(v) for v in apart.contents.values()}
    others = (s for s in ir.walk(function.block) if id(s) not in handing)
    kept |= {apart.find(v) for v in seen_by_others(others) if holds_memory(v.kind)}
    pushed = [
        apart.find(v) for r in records for v in ir.variables(r.push.args[1])
        if holds_memory(v.kind)
    ]  # fmt: skip
    found: dict[ir.Var, set[ir.Var]] = {}
    for record in records:
        for before, after in record.handed_over():
            root, own = apart.find(before), apart.find(after)
            if (
                isinstance(before.kind, Array) and before.kind == after.kind
                and pushed.count(root) == 1 and kept.isdisjoint({root, own})
                and _made_for_it(record, before, classes[root], counts)
            ):  # fmt: skip
                found[after] = classes[own]
    return found


def _made_for_it(
    record: Record, v: ir.Var, sharing: Iterable[ir.Var], counts: dict[ir.Var, int]
) -> bool:
    """Whether what is pushed is made in the same block, and all use of it ends there."""
    statements = record.block.statements
    position = next(i for i, s in enumerate(statements) if s is record.push)
    until = ir.Block(statements[: position + 1])
    maker = next((s for s in until.statements if isinstance(s, ir.Assign) and s.target is v), None)
    if maker is None or not makes_fresh(maker):
        return False
    made = {t for s in ir.walk(until) for t in ir.targets(s)}
    made.update(p for s in ir.walk(until) if isinstance(s, ir.Loop) for p in s.params)
    used = ir.use_counts(until)
    return all(w in made and used.get(w) == counts.get(w) for w in sharing)


def _records(block: ir.Block, counts: dict[ir.Var, int]) -> Iterator[Record]:
    """The lists of a block that are records."""
    pushes: dict[ir.Operand, tuple[ir.Assign, ir.Block]] = {}
    pops: dict[ir.Operand, ir.Assign] = {}
    items: dict[ir.Operand, list[ir.Assign]] = {}
    for inner in ir.all_blocks(block):
        for s in inner.statements:
            if isinstance(s, ir.Assign) and s.function is list_append:
                pushes[s.args[0]] = s, inner
            elif isinstance(s, ir.Assign) and s.function is list.pop and len(s.args) == 1:
                pops[s.args[0]] = s
            elif isinstance(s, ir.Assign) and s.function is operator.getitem:
                items.setdefault(s.args[0], []).append(s)
    for s in block.statements:
        v = s.target if isinstance(s, ir.Assign) and s.function is list else None
        if v is None or v not in pushes or v not in pops or counts[v] != 2:
            continue
        assert isinstance(v.kind, ListOf)
        push, pop = pushes[v], pops[v]
        taken = items.get(pop.target, [])
        keys = {o.args[1].value for o in taken if isinstance(o.args[1], ir.Const)}
        if isinstance(push[0].args[1], ir.Pack) and counts.get(pop.target, 0) != len(keys):
            continue  # an item is taken twice, or what was popped is used otherwise
        yield Record(*push, pop, taken)
