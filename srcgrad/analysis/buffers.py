"""Which arrays are surely others, though they may share memory at other times.

Of two buffers that a loop swaps, each is now the one and now the other one, so they are of one
class; but they are never the same one.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable

from .. import ir
from ..kinds import Array
from .aliasing import Aliasing, holds_memory

# The number of the statement that makes a variable, the statement, and what meets there
Maker = tuple[int, ir.Statement | None, tuple[ir.Operand, ...]]


class Buffers(Aliasing):
    """The memory classes of a function's variables, and what is apart in them."""

    def __init__(self, block: ir.Block, together: Iterable[ir.Together] = ()) -> None:
        super().__init__(block, together)
        self.makers: dict[ir.Var, Maker] = {}  # found when first asked for

    def are_distinct(
        self, a: ir.Var, b: ir.Var, known: frozenset[frozenset[ir.Var]] = frozenset()
    ) -> bool:
        """Whether two arrays never share memory while both are there, though their classes may.

        Two buffers that a loop swaps aren't the same one before it, nor after a trip that begins
        with two. What is made last is looked at first, for what it comes from was
        there at the same time as the other one. Of the pairs that are `known`, that is to be shown.
        """
        if self.find(a) is not self.find(b) or frozenset((a, b)) in known:
            return True
        if a is b:
            return False
        if not self.makers:
            self._number(self.block)
        nothing: Maker = (-1, None, ())
        (number, made, ends), (before, _, others) = (self.makers.get(v, nothing) for v in (a, b))
        if number < before:
            return self.are_distinct(b, a, known)
        if isinstance(made, ir.Assign):
            fresh = not (made.views or made.writes or made.function is operator.getitem)
            if fresh:
                return not isinstance(made.function, ir.Unit) and isinstance(a.kind, Array)
            ends = made.views
        pairs = zip(ends, others, strict=True) if number == before else ((e, b) for e in ends)
        known |= {frozenset((a, b))}
        return bool(ends) and all(  # what is taken out of a list or record may be anything in it
            isinstance(x, ir.Var) and isinstance(x.kind, Array)
            and isinstance(y, ir.Var) and isinstance(y.kind, Array)
            and self.are_distinct(x, y, known)
            for x, y in pairs
        )  # fmt: skip

    def may_write(self, s: ir.Statement, array: ir.Var) -> bool:
        """Whether a statement may write into an array that is there when it is executed."""
        if self.find(array) not in self.written_by(s):
            return False
        return not isinstance(s, ir.Assign) or not all(
            self.are_distinct(array, v) for v in s.writes
        )

    def may_touch(self, s: ir.Statement, array: ir.Var) -> bool:
        """Whether a statement may read or write an array that is there when it is executed."""
        if not self.mentions(s, self.find(array)):
            return False
        arrays = [v for v in ir.uses(s) if holds_memory(v.kind)]
        return not isinstance(s, ir.Assign) or not all(
            isinstance(v.kind, Array) and self.are_distinct(array, v) for v in arrays
        )

    def _number(self, block: ir.Block) -> None:
        """Note which statement makes each variable, in what order, and what meets at joins."""
        for s in block.statements:
            if isinstance(s, ir.Assign):
                self.makers[s.target] = (len(self.makers), s, ())
                continue
            first = len(self.makers)
            found = dict(ir.joins(s))
            params = s.params if isinstance(s, ir.Loop) else ()
            self.makers.update((v, (first, s, found[v])) for v in params)
            for inner in ir.blocks(s):
                self._number(inner)
            last = len(self.makers)
            self.makers.update((v, (last, s, found[v])) for v in s.targets)
