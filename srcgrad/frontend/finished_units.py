"""Finishing a unit: its function gets parameters and results, and is given what it captures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from .. import ir, runtime
from ..analysis.aliasing import Aliasing, holds_memory, shared_memory
from ..analysis.ownership import settle_augmented
from ..kinds import Array
from .effects import describe, lasting_change
from .overlaps import settle_overlaps
from .unit_templates import kinds_of, leaves_of, parameters_of, variables_in
from .values import State

if TYPE_CHECKING:
    from .units import Making


def finish(low: Any, making: Making, block: ir.Block, end: State) -> None:
    """Give a unit its function: parameters, results and captured variables."""
    start = making.start
    assert start is not None
    params = parameters_of(low, making, start)
    around, low.block = low.block, block  # what tells a choice among others is part of the unit
    results = list(leaves_of(low, making.result, making.returned, end))
    kinds = list(kinds_of(making.result))
    held = dict(low.slots(end))
    for slot, template in making.slots.items():
        results += leaves_of(low, template, held.get(slot, low.absent(end, slot)), end)
        kinds += kinds_of(template)
    low.block, block.results = around, tuple(results)
    ir.rename(block, low.renamed)
    unit = making.unit
    unit.function = ir.Function(unit.name, tuple(params), block, low.span)  # type: ignore[arg-type]
    unit.kinds = tuple(kinds)
    members = _members(unit, block)
    bodies = [unit.body, *(u.body for u in members)]
    free = [v for v in ir.free_variables(block) if v not in set(params)]
    given = variables_in(making.values.values(), making.entry)
    order = [*given, *free]
    making.captured = tuple(v for v in dict.fromkeys(order) if v in free)
    for body in bodies:
        _convert(low, body, making.captured, {unit, *members})
    if making.wanted.own:
        _write_into_copies(low, making)
    done = {unit, *members}
    calls = [
        s for body in bodies for s in ir.walk(body.block)
        if isinstance(s, ir.Assign) and s.function in done
    ]  # fmt: skip
    for other in done:
        other.shares = frozenset()
    known: Any = None
    while known != (found := [(s.views, s.writes, s.function.shares) for s in calls]):
        known = found
        for s in calls:
            describe(s)
    for body in bodies:
        settle_overlaps(body.block, low.stores_seen)
        settle_augmented(body.block, [])
    unit.shares = shared_memory(unit.body) | (unit.shares or frozenset())
    unit.changes = lasting_change(block)


def _write_into_copies(low: Any, making: Making) -> None:
    """Copy the arguments that a unit writes into, when it starts.

    What it returns shares no memory with them, nor with each other.
    """
    from ..copies import own_copies

    function = making.unit.body
    aliasing = Aliasing(function.block)
    taken = function.params[len(function.params) - len(making.captured) :]
    for v, twin in zip(making.captured, taken, strict=True):
        if holds_memory(v.kind) and aliasing.changes(twin):
            raise low.refuse(
                f"{v.name!r} is written in a function that {making.closure.name!r} repeats",
                "make it part of the state",
            )
    own_copies(function, set())
    function.block.statements = [
        s for s in function.block.statements
        if not (isinstance(s, ir.Assign) and s.function is runtime.check_apart)
    ]  # fmt: skip
    aliasing = Aliasing(function.block)
    known = {aliasing.find(p) for p in function.params}
    results: list[ir.Operand] = []
    for result in function.block.results:
        if isinstance(result, ir.Var) and isinstance(result.kind, Array):
            if aliasing.find(result) in known:
                copy = result.anew()
                function.block.statements.append(ir.Assign(copy, np.array, (result,)))
                result = copy
            else:
                known.add(aliasing.find(result))
        results.append(result)
    function.block.results = tuple(results)


def _members(unit: ir.Unit, block: ir.Block) -> list[ir.Unit]:
    """The units that a block calls, directly or not, and that call a unit which isn't done yet."""
    callees: dict[ir.Unit, set[ir.Unit]] = {}
    waiting = _callees(block) - {unit}
    while waiting:
        other = waiting.pop()
        callees[other] = set() if other.function is None else _callees(other.body.block)
        waiting |= callees[other] - set(callees) - {unit}
    found: dict[ir.Unit, None] = {}
    size = -1
    while len(found) != size:
        size = len(found)
        for other, called in callees.items():
            if unit in called or any(u in called for u in found):
                found[other] = None
    return [u for u in found if u.function is not None]


def _callees(block: ir.Block) -> set[ir.Unit]:
    return {
        s.function for s in ir.walk(block)
        if isinstance(s, ir.Assign) and isinstance(s.function, ir.Unit)
    }  # fmt: skip


def _convert(
    low: Any, body: ir.Function, captured: tuple[ir.Var, ...], members: set[ir.Unit]
) -> None:
    """Make parameters of the variables that a function captures, and pass them on in its calls."""

    for s in ir.walk(body.block):
        if isinstance(s, ir.Assign) and s.function in members:
            s.args += captured
    twins = {v: v.anew() for v in captured}
    low.record_fields |= {twins[v] for v in captured if v in low.record_fields}
    ir.rename(body.block, twins)
    body.params += tuple(twins.values())
