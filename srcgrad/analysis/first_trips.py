"""What only the first trip of a loop lacks, and is used after it only.

In `if i > 0: total += x[i] - previous` and then `previous = x[i]`, the name has no value in the
first trip, in which it isn't read.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator
from typing import Any

from .. import ir

COMPARISONS = frozenset({
    operator.gt, operator.lt, operator.ge, operator.le, operator.eq, operator.ne,
})  # fmt: skip


def set_when_used(block: ir.Block) -> set[ir.Var]:
    """The variables that loops carry, and use in branches only that the first trip doesn't take."""
    return {v for s in ir.walk(block) if isinstance(s, ir.Loop) for v in _set_when_used(s)}


def _set_when_used(loop: ir.Loop) -> Iterator[ir.Var]:
    if loop.range is None or loop.index is None or loop.backwards:
        return
    start, _, step = (getattr(bound, "value", None) for bound in loop.range)
    if type(start) is not int or type(step) is not int or step < 1:
        return
    lacking = {
        p for p, init, new in zip(loop.params, loop.inits, loop.body.results, strict=False)
        if init is ir.UNDEFINED and new is not ir.UNDEFINED and not getattr(new, "partial", False)
    }  # fmt: skip
    if not lacking:
        return
    calls = {s.target: s for s in ir.walk(loop.body) if isinstance(s, ir.Assign)}
    later = set(_taken_later(loop.body, _Test(loop.index, start, calls)))
    used: dict[ir.Var, bool] = {}  # whether it is in later trips only
    for s in calls.values():
        for v in ir.uses(s):
            used[v] = used.get(v, True) and s in later
    yield from (v for v in lacking if used.get(v, False))


def _taken_later(block: ir.Block, test: _Test) -> Iterator[ir.Assign]:
    """The statements of a loop's body that the first trip doesn't reach."""
    for s in block.statements:
        if isinstance(s, ir.If):
            for branch, holds in (s.then, True), (s.orelse, False):
                if test.first(s.test) is not None and test.first(s.test) is not holds:
                    yield from (inner for inner in ir.walk(branch) if isinstance(inner, ir.Assign))
                else:
                    yield from _taken_later(branch, test)


class _Test:
    """What tests on a loop's index say in its first trip."""

    def __init__(self, index: ir.Var, start: int, calls: dict[ir.Var, ir.Assign]) -> None:
        self.index, self.start, self.calls = index, start, calls

    def first(self, test: ir.Operand) -> bool | None:
        """Whether a test holds in the first trip; None if that isn't known."""
        if test is self.index:
            return bool(self.start)
        call: Any = self.calls.get(test) if isinstance(test, ir.Var) else None
        if call is None:
            return None
        if call.function is operator.not_:
            inner = self.first(call.args[0])
            return None if inner is None else not inner
        if call.function not in COMPARISONS:
            return None
        values = [self.start if a is self.index else getattr(a, "value", None) for a in call.args]
        if self.index not in call.args or not all(type(v) is int for v in values):
            return None
        return bool(call.function(*values))
