"""Scheduling: the order of statements in which the fewest arrays are needed at a time.

A variable's next value is computed when its present one isn't needed any more, so that the two are
one Python variable: `xs.append(x); x = f(x)` rather than `y = f(x); xs.append(x); x = y`. An array
that is only there to be reduced is reduced at once, and may be overwritten; two that are only there
to be added are added at once.

Only calls without effects move, and never past a write of what they read.
"""

from __future__ import annotations

import builtins
from collections.abc import Mapping
from typing import Any, TypeGuard

import numpy as np

from .. import ir
from ..analysis.aliasing import Aliasing
from ..analysis.elementwise import is_elementwise, makes_fresh
from ..kinds import Array, Scalar

ASKING: frozenset[Any] = frozenset({builtins.getattr, np.shape, np.zeros_like})


def schedule(function: ir.Function) -> None:
    """Order the statements of a function, in place."""
    _Scheduler(function).block(function.block)


class _Scheduler:
    def __init__(self, function: ir.Function) -> None:
        self.aliasing = Aliasing(function.block)
        self.counts = ir.use_counts(function.block)

    def block(self, block: ir.Block) -> None:
        for s in block.statements:
            for inner in ir.blocks(s):
                self.block(inner)
            if isinstance(s, ir.Loop):
                self.next_values(s)
        self.reductions(block)
        self.last_passes(block)
        self.shapes(block)

    # What is moved

    def next_values(self, loop: ir.Loop) -> None:
        """Compute the next value of a variable after the last use of its present one."""
        statements = loop.body.statements
        for param, result in zip(loop.params, loop.body.results, strict=False):
            position = next(
                (i for i, s in enumerate(statements)
                 if isinstance(s, ir.Assign) and s.target is result), None,
            )  # fmt: skip
            if position is None or self.counts.get(statements[position].target) != 1:  # type: ignore[union-attr]
                continue
            s, following = statements[position], statements[position + 1 :]
            present = self.read_with(param, statements)
            if not self.movable(s) or present.isdisjoint(ir.all_uses(ir.Block(following))):
                continue
            if all(self.passes(s, other) for other in following):
                statements.append(statements.pop(position))

    def read_with(self, param: ir.Var, statements: list[ir.Statement]) -> set[ir.Var]:
        """A variable, and what is made of it to be used once: that is written where it is used."""
        found = {param}
        for s in statements:
            if isinstance(s, ir.Assign) and self.counts.get(s.target) == 1 and self.movable(s):
                if not s.target.user and not found.isdisjoint(ir.uses(s)):
                    found.add(s.target)
        return found

    def reductions(self, block: ir.Block) -> None:
        """Reduce and combine what is used for that alone as soon as it is there."""
        made: dict[ir.Var, int] = {}  # the position of what is defined in this block
        statements = block.statements
        for position, s in enumerate(list(statements)):
            if isinstance(s, ir.Assign) and self.frees(s, made) and self.movable(s):
                earliest = 1 + max(made.get(v, -1) for v in ir.uses(s))
                between = statements[earliest:position]
                if any(self.reads_again(o) for o in between):
                    if all(self.passes(s, other) for other in between):
                        statements.insert(earliest, statements.pop(position))
                        made = {v: p + (p >= earliest) for v, p in made.items()}
                        position = earliest
            made.update((v, position) for v in ir.targets(s))

    def last_passes(self, block: ir.Block) -> None:
        """Reduce an array before the last array of its shape is made of it, which may then be made
        in its place. Both undo one line: else the order of the lines is worth more."""
        made: dict[ir.Var, list[ir.Statement]] = {}  # what is made, and the statements that use it
        statements = block.statements
        for s in statements:
            for v in set(ir.all_uses(ir.Block([s]))) & made.keys():
                made[v].append(s)
            if isinstance(s, ir.Assign) and makes_fresh(s):
                made[s.target] = []
        seen: set[ir.Var] = set()
        for s in list(statements):
            if not isinstance(s, ir.Assign) or not makes_fresh(s):
                continue
            if isinstance(s.span, ir.Origin) and is_elementwise(s.function):
                alike = {v for v in ir.uses(s) if v in seen and v.kind == s.target.kind}
                if len(alike) == 1:
                    self.reduce_before(statements, s, alike.pop(), made)
            seen.add(s.target)

    def reduce_before(
        self,
        statements: list[ir.Statement],
        s: ir.Assign,
        v: ir.Var,
        made: Mapping[ir.Var, list[ir.Statement]],
    ) -> None:
        """Move what reduces an array before a call, if that is all that comes after it."""
        if not any(self.summarizes(o, v) for o in made[v] if isinstance(o, ir.Assign)):
            return
        using = set(map(id, made[v]))
        start = next(i for i, o in enumerate(statements) if o is s)
        users = [o for o in statements[start + 1 :] if id(o) in using]
        uses = sum(ir.uses(o).count(v) for o in statements[: start + 1] if id(o) in using)
        defined = {t for o in statements[start:] for t in ir.targets(o)}
        for o in users:
            if not isinstance(o, ir.Assign) or not self.movable(o) or not _same_line(o, s):
                return
            if not self.summarizes(o, v) or not defined.isdisjoint(ir.uses(o)):
                return
            between = statements[start : next(i for i, p in enumerate(statements) if p is o)]
            if not all(self.passes(o, p) for p in between):
                return
            uses += ir.uses(o).count(v)
        if users and uses == self.counts.get(v):
            moved = set(map(id, users))
            rest = [o for o in statements[start:] if id(o) not in moved]
            statements[start:] = [*users, *rest]

    def shapes(self, block: ir.Block) -> None:
        """Ask an array for its shape that is needed later anyway, not one that is needed no more.

        In the reverse sweep alone: zeros like another array may be laid out another way.
        """
        if not any(map(_asks, block.statements)):
            return
        last: dict[ir.Var, int] = {}
        for position, s in enumerate(block.statements):
            last.update(dict.fromkeys(ir.all_uses(ir.Block([s])), position))
        last.update((v, len(block.statements)) for o in block.results for v in ir.variables(o))
        made: dict[ir.Var, None] = {}
        for position, s in enumerate(block.statements):
            if _asks(s):
                v = s.args[0]
                if isinstance(v, ir.Var) and v in made and last[v] == position:
                    others = (w for w in made if w.kind == v.kind and last.get(w, -1) > position)
                    w = next(others, None)
                    asked = len(s.args) == 1 or getattr(s.args[1], "value", None) == "shape"
                    if w is not None and asked and not s.kwargs:
                        s.args = (w, *s.args[1:])
                        self.counts.update({v: -1, w: 1})
            if isinstance(s, ir.Assign) and makes_fresh(s):
                made[s.target] = None

    def frees(self, s: ir.Assign, made: dict[ir.Var, int]) -> bool:
        """Whether fewer numbers are needed after a call than before."""
        if not is_elementwise(s.function):
            return self.reduces(s, made)
        if isinstance(s.span, ir.Origin):
            return False  # the reverse sweep keeps the order of the primal lines
        done = {v for v in ir.uses(s) if v in made and self.counts.get(v) == 1}
        return len([v for v in done if v.kind == s.target.kind]) > 1

    def reduces(self, s: ir.Assign, made: dict[ir.Var, int]) -> bool:
        """Whether a call makes an array of this block that nothing else uses a smaller one."""
        return any(
            v in made and self.counts.get(v) == 1 and self.summarizes(s, v) for v in ir.uses(s)
        )

    def summarizes(self, s: ir.Assign, v: ir.Var) -> bool:
        """Whether a call makes of an array one of fewer dimensions, or a number."""
        kind = s.target.kind
        if not isinstance(kind, (Array, Scalar)) or is_elementwise(s.function):
            return False
        return (
            isinstance(v.kind, Array) and v.kind.shape is not None and kind.shape is not None
            and len(v.kind.shape) > len(kind.shape)
        )  # fmt: skip

    def reads_again(self, s: ir.Statement) -> bool:
        """Whether a statement makes an array."""
        return isinstance(s, ir.Assign) and isinstance(s.target.kind, Array)

    # What may move where

    def movable(self, s: ir.Statement) -> bool:
        """Whether a statement is a call that does nothing but make a value of its own."""
        if not isinstance(s, ir.Assign) or s.writes or s.effect or s.views:
            return False
        return makes_fresh(s) or isinstance(s.target.kind, Scalar)

    def passes(self, s: ir.Statement, other: ir.Statement) -> bool:
        """Whether a movable call may be made after another statement instead of before, or before
        instead of after, if neither uses what the other defines."""
        if isinstance(other, ir.Assign) and other.effect:
            return False
        return self.aliasing.held_by(ir.uses(s)).isdisjoint(self.aliasing.written_by(other))


def _asks(s: ir.Statement) -> TypeGuard[ir.Assign]:
    """Whether a statement of the reverse sweep asks an array for its shape."""
    return isinstance(s, ir.Assign) and s.function in ASKING and isinstance(s.span, ir.Origin)


def _same_line(a: ir.Assign, b: ir.Assign) -> bool:
    """Whether two statements of the reverse sweep undo the same line."""
    if not isinstance(a.span, ir.Origin) or not isinstance(b.span, ir.Origin):
        return False
    return (a.span.filename, a.span.line) == (b.span.filename, b.span.line)
