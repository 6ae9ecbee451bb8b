"""Records: lists into which one statement pushes, from which one pops, and that nobody else sees.

What is popped is what was pushed, item by item: so the items of a record's tuples needn't be taken
for one another.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator
from dataclasses import dataclass

from .. import ir
from ..ir import list_append


@dataclass
class Record:
    """The statements about a record: what pushes, in a block, what pops, and what takes apart what
    was popped (`item = popped[0]`)."""

    push: ir.Assign
    block: ir.Block
    pop: ir.Assign
    items: list[ir.Assign]

    def statements(self) -> Iterator[ir.Assign]:
        yield self.push
        yield self.pop
        yield from self.items

    def handed_over(self) -> Iterator[tuple[ir.Operand, ir.Var]]:
        """What is pushed, and the variables that it is when it has been popped."""
        pushed = self.push.args[1]
        if isinstance(pushed, ir.Pack):
            for s in self.items:
                yield pushed.items[s.args[1].value], s.target  # type: ignore[union-attr]
        else:
            yield pushed, self.pop.target


def records(block: ir.Block) -> list[Record]:
    """The records among the lists that a block makes itself."""
    made = {
        s.target for s in block.statements
        if isinstance(s, ir.Assign) and s.function is list and _is_empty(s.args)
    }  # fmt: skip
    if not made:
        return []
    pushes: dict[ir.Var, tuple[ir.Assign, ir.Block]] = {}
    pops: dict[ir.Var, ir.Assign] = {}
    items: dict[ir.Var, list[ir.Assign]] = {}
    for inner in ir.all_blocks(block):
        for s in inner.statements:
            if not isinstance(s, ir.Assign):
                continue
            if s.function is operator.getitem:
                if isinstance(s.args[0], ir.Var) and _is_number(s.args[1]):
                    items.setdefault(s.args[0], []).append(s)
            elif s.function is list_append and s.args[0] in made:
                pushes[s.args[0]] = s, inner
            elif s.function is list.pop and s.args[0] in made and len(s.args) == 1:
                pops[s.args[0]] = s
    both = pushes.keys() & pops.keys()
    if not both:
        return []
    counts = ir.use_counts(block)
    found = []
    for v in both:
        (push, inner), pop = pushes[v], pops[v]
        pushed, taken = push.args[1], items.get(pop.target, [])
        if isinstance(pushed, ir.Pack):
            apart = pushed.type is tuple and counts[pop.target] == len(taken)
        else:
            apart, taken = True, []
        if counts[v] == 2 and apart:
            found.append(Record(push, inner, pop, taken))
    return found


def _is_number(key: ir.Operand) -> bool:
    return isinstance(key, ir.Const) and type(key.value) is int


def _is_empty(args: tuple[ir.Operand, ...]) -> bool:
    return len(args) == 1 and isinstance(args[0], ir.Pack) and not args[0].items
