"""Truth values of NumPy where the program has Python's: they are tested as they are."""

from __future__ import annotations

import builtins
import operator
from collections.abc import Iterable

from .. import ir
from ..frontend.operations import leave_unless
from ..kinds import Scalar

TESTS = (operator.not_, builtins.bool, leave_unless)


def drop_conversions(function: ir.Function, shown: Iterable[ir.Var]) -> None:
    """Leave out `bool(test)` where nothing is done with it but testing it, in place.

    `shown` are the variables that the function returns.
    """
    for body in (function, *(unit.body for unit in ir.units([function]))):
        made = {
            s.target: s.args[0]
            for s in ir.walk(body.block)
            if isinstance(s, ir.Assign) and s.function is builtins.bool and _is_flag(s.args[0])
        }
        if not made:
            continue
        seen = _seen(body.block)
        seen.update(shown if body is function else ())
        _spread(body.block, seen)
        names = ir.Renaming((v, test) for v, test in made.items() if v not in seen)
        for block in list(ir.all_blocks(body.block)):
            block.statements = [
                s for s in block.statements if not isinstance(s, ir.Assign) or s.target not in names
            ]
        ir.rename(body.block, names)


def _is_flag(operand: ir.Operand) -> bool:
    kind = getattr(operand, "kind", None)
    return isinstance(kind, Scalar) and kind.dtype.kind == "b"


def _seen(block: ir.Block) -> set[ir.Var]:
    """The variables of which more than their truth matters where they are used."""
    found = {v for operand in block.results for v in ir.variables(operand)}
    for s in ir.walk(block):
        if isinstance(s, ir.Assign):
            if not any(s.function is test for test in TESTS) or not _is_flag(s.args[0]):
                found.update(ir.uses(s))
        elif isinstance(s, ir.Loop) and s.range is not None:
            found.update(ir.variables_of(s.range))
    return found


def _spread(block: ir.Block, seen: set[ir.Var]) -> None:
    """Add what the variables that are seen have come from, by branches and loops."""
    ends: dict[ir.Var, list[ir.Var]] = {}
    for s in ir.walk(block):
        if not isinstance(s, ir.Assign):
            for target, operands in ir.joins(s):
                ends.setdefault(target, []).extend(ir.variables_of(operands))
    left = list(seen)
    while left:
        for v in ends.get(left.pop(), ()):
            if v not in seen:
                seen.add(v)
                left.append(v)
