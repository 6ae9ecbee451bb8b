"""What is the same in every iteration: after the loop, the variable of the last one holds it.

It needn't be recorded, as long as it isn't written: the last iteration's is the others', too.
"""

from __future__ import annotations

import operator
from collections.abc import Mapping
from dataclasses import dataclass, field

from .. import ir
from ..analysis.aliasing import Aliasing
from ..kinds import BOOL, Array, Scalar, TupleOf, holds_objects

# From the outermost loop that a block is in to the block: statements, and which block of theirs.
Path = tuple[tuple[ir.If | ir.Loop, ir.Block], ...]


@dataclass
class Repeated:
    """Which variables are the same in all iterations of all loops that they are in.

    Attributes:
        definitions: the call that a variable is the result of.
        looped: the variables that belong to iterations of loops.
    """

    definitions: Mapping[ir.Var, ir.Assign]
    looped: Mapping[ir.Var, ir.Block]
    aliasing: Aliasing
    known: dict[ir.Var, bool] = field(default_factory=dict)

    def is_same(self, v: ir.Var) -> bool:
        """Whether a variable is; what an array is a part of may change."""
        if v not in self.looped:
            return True
        same = self.known.get(v)
        if same is None:
            s = self.definitions.get(v)
            same = self.known[v] = s is not None and self._repeats(s)
        return same

    def _repeats(self, s: ir.Assign) -> bool:
        if s.effect or s.writes or s.function is operator.call:
            return False
        used = ir.uses(s)
        if not all(isinstance(v.kind, (Array, Scalar, TupleOf)) for v in (s.target, *used)):
            return False
        if holds_objects(s.target.kind):
            return False
        if not all(map(self.is_same, used)):
            return False
        if s.views and s.certain:
            return True
        return self.aliasing.written.isdisjoint(self.aliasing.held_by([s.target, *used]))


def last_value(v: ir.Var, path: Path) -> ir.Var:
    """The variable that holds what a variable of a block did last, when the loops are done.

    `path` leads to the block from the outermost loop that it is in.
    """
    there = _passed_on(v, path)
    if there is not None:
        return there
    before: list[ir.Operand] = []
    last: ir.Operand = ir.UNDEFINED
    for s, _ in path:
        before.append(last)
        if isinstance(s, ir.Loop):
            param = ir.Var(v.name, v.kind, v.user, partial=True)
            s.params, s.inits = (*s.params, param), (*s.inits, last)
            last = param
    for (s, block), otherwise in zip(reversed(path), reversed(before), strict=True):
        results = dict.fromkeys(map(id, ir.blocks(s)), otherwise) | {id(block): v}
        for inner in ir.blocks(s):
            at = len(s.targets)  # a loop's exit flag comes last
            inner.results = (*inner.results[:at], results[id(inner)], *inner.results[at:])
        v = ir.Var(v.name, v.kind, v.user, partial=True)
        s.targets = (*s.targets, v)
    return v


def run_once(block: ir.Block) -> None:
    """Run what loops repeat, if that is all they do, once: in place.

    Such loops are what is left where of a forward sweep only the values that repeat are needed.
    """
    statements: list[ir.Statement] = []
    for s in block.statements:
        for inner in ir.blocks(s):
            run_once(inner)
        if isinstance(s, ir.Loop) and s.range is not None and _only_repeats(s):
            start, stop, _ = s.range
            some = ir.Assign(ir.Var("some", BOOL), operator.gt, (stop, start), span=s.span)
            nothing = ir.Block([], s.inits)
            statements += [some, ir.If(some.target, s.body, nothing, s.targets, s.span)]
        else:
            statements.append(s)
    block.statements[:] = statements


def _only_repeats(loop: ir.Loop) -> bool:
    if loop.exits or loop.range is None or not loop.body.statements:
        return False
    step = loop.range[2]
    if not isinstance(step, ir.Const) or step.value < 1:
        return False
    used = set(ir.variables_of(loop.body.results))
    for s in ir.walk(loop.body):
        if isinstance(s, ir.Assign) and (s.effect or s.writes or s.function is operator.call):
            return False
        used.update(ir.uses(s))
        used.update(ir.variables_of(r for inner in ir.blocks(s) for r in inner.results))
    return used.isdisjoint((*loop.params, loop.index))


def _passed_on(v: ir.Var, path: Path) -> ir.Var | None:
    """The variable that holds it then already, if there is one."""
    outside: ir.Operand | None = None  # what it is before the loop, if no trip changes that
    for s, block in reversed(path):
        if not isinstance(s, ir.Loop) or v not in block.results:
            return None
        at = block.results.index(v)
        if at >= len(s.targets) or outside not in (None, s.params[at]):
            return None
        v, outside = s.targets[at], s.inits[at]
    return v
