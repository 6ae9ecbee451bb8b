"""Where a function jumps: which of its parameters decide on the places.

A comparison, a rounding, an index: a *step*, whose result changes at once where its operands pass a
certain place. That is nothing to a derivative, for nobody differentiates just there; but an
integral, or a solution of a differential equation, passes over all places. If the place of a jump
moves with a parameter, what it passes over changes, though no value beside it does.

A step is of no consequence where nothing that is returned depends on it, as on a test that only
raises. Whether the function really jumps there, or the two sides meet, isn't known here.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator
from dataclasses import dataclass

from .. import ir
from ..errors import Span
from ..kinds import Array, Opaque, Scalar
from ..rules import registry
from .activity import Activity, carries, is_inert
from .aliasing import Aliasing

# The statements that define variables; None for parameters.
Definitions = dict[ir.Var, ir.Assign | None]
UNKNOWN = ir.Assign(ir.Var("_", Opaque(None)), None, ())


@dataclass(frozen=True)
class Jump:
    """A step: the positions of the parameters that it depends on, and where it stands."""

    params: frozenset[int]
    span: Span | None


def jumps(function: ir.Function, within: tuple[ir.Unit, ...] = ()) -> list[Jump]:
    """The steps in a function, and in the units that it calls, that what it returns depends on."""
    aliasing = Aliasing(function.block)
    reached = [Activity(function.block, [p], [], aliasing) for p in function.params]

    def params(operand: ir.Operand) -> frozenset[int]:
        return frozenset(i for i, a in enumerate(reached) if a.is_varied(operand))

    needed = _needed(function.block)
    statements = list(ir.walk(function.block))
    definitions: Definitions = dict.fromkeys(function.params)
    definitions.update((s.target, s) for s in statements if isinstance(s, ir.Assign))
    found: list[Jump] = []
    for s in statements:
        if not isinstance(s, ir.Assign) or not (s.target in needed or s.writes):
            continue
        given = [params(o) for o in s.operands()]
        if isinstance(s.function, ir.Unit):
            found += _of_call(s.function, given, (*within, s.function))
        elif _is_step(s, definitions, aliasing):
            found.append(Jump(frozenset().union(*given), s.span))
    return [jump for jump in found if jump.params]


def _of_call(
    unit: ir.Unit, given: list[frozenset[int]], within: tuple[ir.Unit, ...]
) -> Iterator[Jump]:
    """The steps in a unit, by the parameters of its caller that its operands depend on."""
    if unit.rule is not None or unit.later is not None or unit.function is None:
        return  # whoever wrote its derivative knows of its jumps
    if unit in within[:-1]:
        return  # it calls itself: its own parameters may change places
    recursive = unit in ir.units([unit.body])
    for jump in jumps(unit.body, within):
        places = range(len(given)) if recursive else jump.params
        yield Jump(frozenset().union(*(given[i] for i in places)), jump.span)


def _is_step(s: ir.Assign, definitions: Definitions, aliasing: Aliasing) -> bool:
    """Whether the result of a primitive changes at once, as a comparison's."""
    if s.function in registry.equalities:
        return not all(_is_analytic(a, definitions, aliasing) for a in s.args)
    given = registry.jumping.get(s.function)
    if given is not None:
        return not given or any(k in given for k, _ in s.kwargs)
    if s.function in registry.steady or (is_inert(s) and not _is_zero(s)):
        return False
    whole = isinstance(s.target.kind, (Array, Scalar)) and not carries(s.target.kind)
    return _is_zero(s) or (whole and s.function is not operator.getitem)


def _is_analytic(operand: ir.Operand, definitions: Definitions, aliasing: Aliasing) -> bool:
    """Whether an operand is an analytic function of the parameters."""
    waiting = list(ir.variables(operand))
    while waiting:
        v = waiting.pop()
        if aliasing.is_written(v):
            return False
        s = definitions.get(v, UNKNOWN)
        if s is None:
            continue
        if s is UNKNOWN or s.function not in registry.analytic:
            return False
        waiting += ir.uses(s)
    return True


def _is_zero(s: ir.Assign) -> bool:
    record = registry.lookup(s.function)
    return record is not None and record.zero and not record.inert


def _needed(block: ir.Block) -> set[ir.Var]:
    """The variables that what a block yields, or writes, depends on: decisions included."""
    needed = {v for r in block.results for v in ir.variables(r)}
    size = -1
    while len(needed) != size:
        size = len(needed)
        _need(block, needed)
    return needed


def _need(block: ir.Block, needed: set[ir.Var], trips: bool = False) -> None:
    """Add what a block needs; of `trips`, what may end a loop in the middle of one too."""
    for s in reversed(block.statements):
        inner = [i for b in ir.blocks(s) for i in ir.walk(b)]
        writes = any(isinstance(i, ir.Assign) and i.writes for i in (s, *inner))
        matters = writes or any(t in needed for t in ir.targets(s))
        matters = matters or (trips and isinstance(s, ir.Assign) and s.effect)
        if isinstance(s, ir.Loop):
            matters = matters or any(p in needed for p in s.params)
        if not matters:
            continue
        needed.update(ir.uses(s))
        for b in ir.blocks(s):
            needed.update(v for r in b.results for v in ir.variables(r))
            _need(b, needed, isinstance(s, ir.Loop))
