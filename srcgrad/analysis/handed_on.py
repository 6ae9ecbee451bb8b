"""What branches and loops hand on: for nobody, perhaps, and perhaps nothing."""

from __future__ import annotations

from collections.abc import Iterable

from .. import ir


def asked_for(block: ir.Block, needed: Iterable[ir.Var]) -> set[ir.Var]:
    """The variables that are asked for, other than to be handed on and never asked for."""
    found = {*needed, *(v for r in block.results for v in ir.variables(r))}
    handed: list[tuple[ir.Var, tuple[ir.Operand, ...]]] = []
    for s in ir.walk(block):
        match s:
            case ir.Assign():
                found.update(ir.uses(s))
                continue
            case ir.If():
                found.update(ir.variables(s.test))
            case ir.Loop():
                asked = (*(s.range or ()), *s.body.results[len(s.params) :])
                found.update(v for o in asked for v in ir.variables(o))
        handed += ir.joins(s)
    size = -1
    while len(found) != size:
        size = len(found)
        for v, ends in handed:
            if v in found:
                found.update(w for end in ends for w in ir.variables(end))
    return found


def may_be_missing(block: ir.Block) -> set[ir.Var]:
    """The variables that may be undefined, or None, so that only what is run may use them."""
    found: set[ir.Operand] = {ir.UNDEFINED}
    size = 0
    while len(found) != size:
        size = len(found)
        for s in ir.walk(block):
            for target, ends in () if isinstance(s, ir.Assign) else ir.joins(s):
                if any(e in found or ir.is_constant(e, None) for e in ends):
                    found.add(target)
    return {v for v in found if isinstance(v, ir.Var)}
