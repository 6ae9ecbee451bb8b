"""What only the first trip of a loop lacks, and is read after it only.

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


def left_to_later_trips(block: ir.Block) -> dict[ir.Var, set[ir.Block]]:
    """Of variables that only the first trip of a loop lacks, the blocks that it doesn't reach."""
    loops = (s for s in ir.walk(block) if isinstance(s, ir.Loop))
    return {v: later for loop in loops for v, later in _left_to_later_trips(loop)}


def _left_to_later_trips(loop: ir.Loop) -> Iterator[tuple[ir.Var, set[ir.Block]]]:
    if loop.range is None or loop.index is None or loop.backwards:
        return
    start, _, step = (getattr(bound, "value", None) for bound in loop.range)
    if type(start) is not int or type(step) is not int or step < 1:
        return
    lacking = [
        p for p, init, new in zip(loop.params, loop.inits, loop.body.results, strict=False)
        if init is ir.UNDEFINED and new is not ir.UNDEFINED and not getattr(new, "partial", False)
    ]  # fmt: skip
    if lacking:
        calls = {s.target: s for s in ir.walk(loop.body) if isinstance(s, ir.Assign)}
        later = set(_taken_later(loop.body, _Test(loop.index, start, calls)))
        yield from ((v, later) for v in lacking)


def _taken_later(block: ir.Block, test: _Test) -> Iterator[ir.Block]:
    """The blocks in a loop's body that the first trip doesn't reach."""
    for s in block.statements:
        if isinstance(s, ir.If):
            holds = test.first(s.test)
            for branch, outcome in (s.then, True), (s.orelse, False):
                within = _taken_later(branch, test)
                yield from ir.all_blocks(branch) if holds is (not outcome) else within
        elif isinstance(s, ir.Loop):
            yield from _taken_later(s.body, test)


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
