"""Which temporaries are written where they are used.

One that is used once becomes part of the expression that uses it, unless that would grow too large,
something writes the memory that it reads in between, or its name is the user's.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable

from .. import ir
from ..analysis.aliasing import Aliasing
from ..analysis.items import takes_list
from ..ir import reverse_sweep
from ..kinds import Array, ListOf, TupleOf
from ..optimize.prune import SHAPE_ONLY

LARGEST = 9  # primitives in one expression
SMALL = 3  # primitives in one that computes in an operand's place


class Inlining:
    """The temporaries that are written where they are used.

    Attributes:
        found: the statement that makes each of them.
        counts: how often each variable of the function is used.
    """

    def __init__(
        self, function: ir.Function, aliasing: Aliasing, named: Iterable[ir.Assign] = ()
    ) -> None:
        self.aliasing, self.named = aliasing, {s.target for s in named}
        self.counts = ir.use_counts(function.block)
        self.found: dict[ir.Var, ir.Assign] = {}
        self.sizes: dict[ir.Var, int] = {}
        self.shapes = {
            s.target for s in ir.walk(function.block)
            if isinstance(s, ir.Assign) and s.function in SHAPE_ONLY
        }  # fmt: skip
        self._block(function.block, True)

    def _block(self, block: ir.Block, top: bool) -> None:
        answers: set[ir.Var] = set()  # the gradient itself may be returned as an expression
        if top and len(block.results) == 1 and isinstance(block.results[0], ir.Var):
            if block.statements and block.results[0] in ir.targets(block.statements[-1]):
                answers.add(block.results[0])
        pending: dict[ir.Var, ir.Assign] = {}
        reads: dict[ir.Var, set[ir.Var]] = {}
        over: set[ir.Var] = set()  # those in which something is computed in an operand's place

        def take(
            operands: Iterable[ir.Operand], size: int, into: tuple[ir.Var, ...] = ()
        ) -> tuple[int, set[ir.Var]]:
            """Write pending operands here; the size and memory reads of the expression."""
            memory: set[ir.Var] = set()
            for operand in operands:
                for v in ir.variables(operand):
                    if v in pending:
                        if size + self.sizes[v] <= (LARGEST if v not in over else SMALL):
                            self.found[v] = pending.pop(v)
                            size += self.sizes[v]
                            if v in over:
                                over.update(into)
                            memory |= reads[v]
                        else:
                            del pending[v]
            return size, memory

        for s in block.statements:
            match s:
                case ir.Assign():
                    if s.function is reverse_sweep:  # the value belongs to the forward sweep
                        for v in (v for o in block.results for v in ir.variables(o)):
                            pending.pop(v, None)
                        continue
                    for v in s.writes:
                        if v in pending and not _assignable(pending[v]):
                            del pending[v]
                    size, memory = take(s.operands(), 1, (s.target,))
                    memory |= self._reads(s)
                    if s.writes or s.effect:
                        written = self.aliasing.written_by(s)
                        for v in list(pending):
                            if s.effect or reads[v] & written:
                                del pending[v]
                        if size >= SMALL or all(k != "out" for k, _ in s.kwargs):
                            continue
                        over.add(s.target)
                    named = (s.target.user and s.target not in answers) or s.target in self.named
                    if self.counts.get(s.target, 0) == 1 and not named and self._may(s):
                        pending[s.target] = s
                        self.sizes[s.target] = size
                        reads[s.target] = memory
                case ir.If():
                    take([s.test], 1)
                    pending.clear()
                    self._block(s.then, False)
                    self._block(s.orelse, False)
                case ir.Loop():
                    take(s.range or (), 1)
                    pending.clear()
                    self._block(s.body, False)
        if top:
            take(block.results, 0)

    def _may(self, s: ir.Assign) -> bool:
        if s.function is operator.getitem and isinstance(s.args[0], ir.Var):
            container = s.args[0]
            if isinstance(container.kind, TupleOf) and container not in self.shapes:
                return self.counts.get(container, 0) <= 1  # records are unpacked
        listed = isinstance(s.target.kind, ListOf)
        return s.function is operator.mul or (takes_list(s) if listed else s.function is not list)

    def _reads(self, s: ir.Assign) -> set[ir.Var]:
        """The memory whose contents a statement reads, if anything writes it."""
        if takes_list(s):  # whatever is in it
            return {self.aliasing.find(v) for v in ir.uses(s)} & self.aliasing.written
        shape_only = s.function in SHAPE_ONLY  # but a list has another length when it is changed
        read: list[ir.Operand] = []
        for operand in s.operands():
            for v in ir.variables(operand):
                looks = v in s.views and s.certain and isinstance(v.kind, Array)
                looks = looks and not isinstance(s.function, ir.Unit)
                looks = looks or (shape_only and not isinstance(v.kind, ListOf))
                if not looks:  # what may be a copy is made now
                    read.append(v)
        return self.aliasing.held_by(read) & self.aliasing.written


def _assignable(s: ir.Assign) -> bool:
    """Whether a call can stand on the left of an augmented assignment, or its items there."""
    container = s.args[0] if s.args else None
    part = isinstance(container, ir.Var) and isinstance(container.kind, Array)
    return (part and s.function is operator.getitem) or takes_list(s)
