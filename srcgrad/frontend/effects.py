"""Calls of units: which memory their results share, what they write, and what else they do."""

from __future__ import annotations

import operator
from typing import Any

from .. import ir, runtime
from ..analysis.aliasing import Aliasing, holds_memory, shared_memory
from ..kinds import Kind, Opaque, TupleOf
from ..rules import registry
from .counts import READ_NOW
from .item_counts import forget
from .operations import (
    count_outside,
    enter_context,
    exit_context,
    leave_unless,
    raise_exception,
    read_outside,
)
from .purity import has_effect

# What may run twice: it changes nothing, and what it raises it has raised before
REPEATABLE = frozenset(
    {raise_exception, leave_unless, runtime.check_apart, runtime.check_direction,
     runtime.check_fresh, runtime.check_given, runtime.check_items_unread,
     runtime.check_listed_once, runtime.check_other_list, runtime.check_power, runtime.check_sole,
     runtime.check_unread, runtime.check_whole_power}
)  # fmt: skip


def emit_call(
    low: Any, unit: ir.Unit, operands: tuple[ir.Operand, ...], targets: list[ir.Var]
) -> ir.Assign:
    """Append the call of a unit, its results in the given variables."""
    forget(low.state.heap)  # of what it writes
    low.times_forgotten += 1
    if len(targets) == 1:
        statement = ir.Assign(targets[0], unit, operands, span=low.span)
        low.block.statements.append(statement)
        return statement
    kind: Kind = TupleOf(tuple(v.kind for v in targets)) if targets else Opaque(None)
    whole = ir.Var("results", kind)
    statement = ir.Assign(whole, unit, operands, span=low.span)
    low.block.statements.append(statement)
    for i, v in enumerate(targets):
        views = (whole,) if holds_memory(v.kind) else ()
        item = ir.Assign(v, operator.getitem, (whole, ir.Const(i)), span=low.span, views=views)
        low.block.statements.append(item)
    return statement


def describe(call: ir.Assign) -> None:
    """Note in a call which memory its results may share, and which it writes."""
    unit: ir.Unit = call.function
    body = unit.body
    unit.shares = shared_memory(body) | (unit.shares or frozenset())
    aliasing = Aliasing(body.block)
    results = [r for o in body.block.results for r in ir.variables(o)]
    shared = {root for r in results for root in aliasing.classes(r)}
    views: list[ir.Var] = []
    writes: list[ir.Var] = []
    for param, operand in zip(body.params, call.args, strict=True):
        if isinstance(operand, ir.Var) and holds_memory(operand.kind):
            if holds_memory(param.kind) and not shared.isdisjoint(aliasing.classes(param)):
                views.append(operand)
            if any(root in aliasing.written for root in aliasing.classes(param)):
                writes.append(operand)
    call.views, call.writes, call.certain = tuple(views), tuple(writes), not views
    call.effect = any(isinstance(s, ir.Assign) and s.effect for s in ir.walk(body.block))


def lasting_change(block: ir.Block) -> str | None:
    """What makes it wrong to run a unit again without its effects, or None.

    What only has an effect, such as a print, or a count that is written, isn't run again.
    """
    used = ir.use_counts(block)
    changes: list[str] = []
    for s in reversed(list(ir.walk(block))):
        again = isinstance(s, ir.Assign) and s.function not in (enter_context, exit_context)
        if again and isinstance(s, ir.Assign) and not s.writes and not used[s.target]:
            used.subtract(ir.uses(s))
        elif (change := _changes(s)) is not None:
            changes.append(change)
    return changes[-1] if changes else None


def _changes(s: ir.Statement) -> str | None:
    """What makes it wrong to run a statement twice, or None."""
    if not isinstance(s, ir.Assign):
        return None
    if isinstance(s.function, ir.Unit):
        return s.function.changes
    if not s.effect or s.function in REPEATABLE or is_reentrant(s):
        return None
    if registry.lookup(s.function) is not None and not has_effect(s.function):
        return None  # its effect is that it may raise what a `try` catches
    if s.function in (read_outside, count_outside):
        return f"reads {s.args[0].name!r}, which it writes"  # type: ignore[union-attr]
    if s.function is READ_NOW:
        return f"reads {s.args[1].value!r}, which it writes"  # type: ignore[union-attr]
    return f"calls {getattr(s.function, '__name__', 'a function')!r}"


def is_reentrant(s: ir.Assign) -> bool:
    """Whether a statement makes, enters or leaves a context as often as one likes."""
    manager = s.args[0] if s.function in (enter_context, exit_context) else s.target
    kind = manager.kind if isinstance(manager, ir.Var) else None
    return isinstance(kind, Opaque) and kind.type in registry.reentrant
