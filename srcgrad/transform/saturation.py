"""Which arguments and results of a unit are active, in all of its calls of itself too."""

from __future__ import annotations

import operator

from .. import ir
from ..analysis.activity import Activity, carries
from ..analysis.aliasing import Aliasing
from ..kinds import Array, ListOf, Scalar, TupleOf

Positions = tuple[int, ...]
PASSED = (Array, Scalar, ListOf)  # what active values may be in that units take and return


def changed(param: ir.Var, aliasing: Aliasing) -> bool:
    """Whether a function changes one of its arguments."""
    if isinstance(param.kind, ListOf):
        return any(root in aliasing.written for root in aliasing.classes(param))
    return aliasing.is_written(param)


def saturated(unit: ir.Unit, wrt: Positions, outputs: Positions) -> tuple[Positions, Positions]:
    """The active arguments and results of a unit, those of its calls of itself included.

    So one function serves all of these calls.
    """
    key = ("active", wrt, outputs)
    if key not in unit.derived:
        unit.derived[key] = _saturated(unit.body, unit, wrt, outputs)
    found: tuple[Positions, Positions] = unit.derived[key]
    return found


def _saturated(
    body: ir.Function, unit: ir.Unit, wrt: Positions, outputs: Positions
) -> tuple[Positions, Positions]:
    aliasing = Aliasing(body.block)
    calls = [
        s for s in ir.walk(body.block) if isinstance(s, ir.Assign) and s.function is unit
    ]  # fmt: skip
    takers: dict[ir.Var, list[tuple[int, ir.Var]]] = {s.target: [(0, s.target)] for s in calls}
    for s in ir.walk(body.block):
        if isinstance(s, ir.Assign) and s.function is operator.getitem and s.args[0] in takers:
            whole, position = s.args
            if isinstance(whole, ir.Var) and isinstance(whole.kind, TupleOf):
                assert isinstance(position, ir.Const)
                takers[whole].append((position.value, s.target))
    while True:
        results = [r for i in outputs if isinstance(r := body.block.results[i], ir.Var)]
        results += [p for i in wrt if changed(p := body.params[i], aliasing)]
        activity = Activity(body.block, [body.params[i] for i in wrt], results, aliasing)
        more_wrt, more_outputs = set(wrt), set(outputs)
        for s in calls:
            taken = [(i, v) for i, v in takers[s.target] if isinstance(v.kind, PASSED)]
            active = [i for i, v in taken if activity.active(v)]
            if active or any(activity.active(v) for v in s.writes):
                more_outputs.update(active)
                more_wrt.update(
                    i for i, (a, p) in enumerate(zip(s.args, body.params, strict=True))
                    if activity.is_varied(a) and isinstance(p.kind, PASSED)
                    and carries(p.kind)
                )  # fmt: skip
        if len(more_wrt) == len(wrt) and len(more_outputs) == len(outputs):
            return wrt, outputs
        wrt, outputs = tuple(sorted(more_wrt)), tuple(sorted(more_outputs))
