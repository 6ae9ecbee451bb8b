"""The primitives that each line of a function became, with their rules, and what became of them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from .. import ir
from ..errors import Span
from ..kinds import is_float
from .calls import Call, primitive_name
from .formulas import Rule, rule_of, view_of

Place = tuple[str, int]  # a file name and a line number


@dataclass(frozen=True)
class Primitive:
    """One primitive that a primal line became.

    Attributes:
        name: of the primitive, as it is written: `np.exp`.
        text: the call as a line of Python: `exp = np.exp(product)`.
        place: the primal line.
        rule: the rule that was used, or None where no derivative is wanted.
        fate: "" if the gradient computes it; "dead" if nothing needs its value; "merged" if it was
            folded into something else.
        times: how often the line became this, being inlined or unrolled.
    """

    name: str
    text: str
    place: Place
    rule: Rule | None
    fate: str
    times: int = 1


@dataclass(frozen=True)
class Passed:
    """What must be known of a statement after a stage."""

    function: Any
    span: Span | None
    target: int
    view: bool


def passed(function: ir.Function) -> list[Passed]:
    """The calls of a function after a stage."""
    return [
        Passed(s.function, s.span, s.target.id, bool(s.views))
        for s in ir.walk(function.block)
        if isinstance(s, ir.Assign)
    ]


def primitives(calls: list[Call], stages: dict[str, list[Passed]]) -> Iterator[Primitive]:
    """What each line became, with the rules used, in program order."""
    last = list(stages)[-1]
    reversed_ = stages.get("reversed", [])
    own = {c.target for c in calls}
    reached = {s.target for s in reversed_}
    mirrored = {_identity(s.span, s.function) for s in reversed_ if s.view and s.target not in own}
    pruned = {s.target for s in stages.get("pruned", stages[last])}
    final = {s.target for s in stages[last]}
    found: dict[tuple[Any, ...], Primitive] = {}
    for c in calls:
        if c.span is None:
            continue
        fate = "" if c.target in final else "merged" if c.target in pruned else "dead"
        identity = _identity(c.span, c.function)
        rule = None
        if identity in mirrored:
            rule = view_of(c)
        elif c.active and c.target in reached and (c.written or is_float(c.kind)):
            rule = rule_of(c)
        text = c.text
        if (identity, text) in found:
            made = found[identity, text]
            found[identity, text] = replace(made, times=made.times + 1)
            continue
        place = (c.span.filename, c.span.line)
        found[identity, text] = Primitive(primitive_name(c.function), text, place, rule, fate)
    yield from found.values()


def _identity(span: Span | None, function: Any) -> tuple[Any, ...]:
    """A call in the primal function, told from others by where it stands."""
    if span is None:
        return ()
    return (span.filename, span.line, span.column, span.end_line, span.end_column, function)
