"""Popped: arrays that are the reverse sweep's own once it has taken them from a record.

What the forward sweep made for one iteration, and handed to a record (`analysis/records.py`) alone,
nothing refers to any more once it is popped: the reverse sweep may compute in it (`reuse.py`).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from .. import ir
from ..analysis.aliasing import Aliasing, holds_memory
from ..analysis.elementwise import makes_fresh
from ..analysis.records import Record
from ..kinds import Array
from .keeping import seen_by_others


class _Apart(Aliasing):
    """Which variables share memory, if what records hand over is another array afterwards."""

    def _hand_over(self) -> None:
        pass


@dataclass
class Popped:
    """An array that nothing else refers to once it is popped.

    `before` is what was pushed; `sharing` the variables that may share its memory afterwards.
    """

    before: ir.Var
    sharing: set[ir.Var]


def own_once_popped(function: ir.Function) -> dict[ir.Var, Popped]:
    """The arrays that only variables of the reverse sweep refer to once they have been popped."""
    apart = _Apart(function.block, function.together)
    if not apart.recorded:
        return {}
    counts = ir.use_counts(function.block)
    classes: dict[ir.Var, set[ir.Var]] = {}
    for v in {*counts, *(t for s in ir.walk(function.block) for t in ir.targets(s))}:
        if holds_memory(v.kind):
            classes.setdefault(apart.find(v), set()).add(v)
    kept = {apart.find(v) for v in apart.contents.values()}
    others = (s for s in ir.walk(function.block) if id(s) not in apart.handing)
    kept |= {apart.find(v) for v in seen_by_others(others) if holds_memory(v.kind)}
    pushed = [
        apart.find(v) for r in apart.recorded for v in ir.variables(r.push.args[1])
        if holds_memory(v.kind)
    ]  # fmt: skip
    owned = Counter(apart.find(v) for r in apart.recorded for _, v in r.handed_over())
    found: dict[ir.Var, Popped] = {}
    for record in apart.recorded:
        for before, after in record.handed_over():
            if not isinstance(before, ir.Var) or not isinstance(before.kind, Array):
                continue
            root, own = apart.find(before), apart.find(after)
            if (
                before.kind == after.kind and owned[own] == 1
                and pushed.count(root) == 1 and kept.isdisjoint({root, own})
                and _made_for_it(record, before, classes[root], counts)
            ):  # fmt: skip
                found[after] = Popped(before, classes[own])
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
