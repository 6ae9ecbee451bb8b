"""Results that are kept outside from call to call, and returned where the arguments are the same.

    if not np.array_equal(x, self.x):
        self.x, self.energy = x, np.sum(x**2)
    return self.energy

That is returned for one such `x` only, and is no constant around it; but its derivative isn't kept.
A choice that other tests make (the best of all calls, the matrix of every tenth) lasts around the
arguments too, and there what is found is a constant.
"""

from __future__ import annotations

import math
import operator
from collections.abc import Iterable, Mapping

import numpy as np

from .. import ir
from ..errors import UnsupportedError
from ..rules import registry
from .activity import Activity
from .aliasing import Aliasing

DIFFERENCES = frozenset({operator.sub, operator.isub, np.subtract})
POWERS = frozenset({operator.pow, np.power, np.float_power, math.pow})
PRODUCTS = frozenset({operator.mul, operator.matmul, np.multiply, np.dot, np.vdot, np.inner})
ROUNDING = 1e-5  # of differences: what is within that is meant to be the same


def check_recalled(
    function: ir.Function,
    inputs: Iterable[ir.Var],
    outputs: Iterable[ir.Var],
    kept: Mapping[ir.Var, str],
) -> None:
    """Refuse what may return, of what is kept outside and written, what another call has found.

    Args:
        inputs: what is differentiated by.
        outputs: what is differentiated.
        kept: what stands for that at the beginning, and what it is called.

    Raises:
        UnsupportedError: there is such a choice.
    """
    if kept:
        _check(function, set(inputs), outputs, dict(kept), ())


def _check(
    function: ir.Function,
    inputs: set[ir.Var],
    outputs: Iterable[ir.Var],
    kept: dict[ir.Var, str],
    within: tuple[ir.Unit, ...],
) -> None:
    block = function.block
    given, found = _made_from(block, inputs), _made_from(block, set(kept))
    asked = set()
    for s in ir.walk(block):
        if not isinstance(s, ir.Assign):
            continue
        used = ir.uses(s)
        if isinstance(s.function, ir.Unit):
            _check_call(s, given, found, kept, within)
        elif registry.hashable(s.function) and s.function in registry.matching:
            if not (given.isdisjoint(used) or found.isdisjoint(used)):
                asked.add(s.target)
    asked |= _nearly_the_same(block, given, found)
    if not asked:
        return
    tests = _made_from(block, asked, decided=True)
    activity = Activity(block, inputs, outputs, Aliasing(block, function.together))
    for s in ir.walk(block):
        if not tests.isdisjoint(ir.uses(s)):
            for target, ends in _chosen(s, tests):
                if not activity.active(target) or all(map(activity.is_varied, ends)):
                    continue
                recalled = [v for e in ends if not activity.is_varied(e) for v in ir.variables(e)]
                if not found.isdisjoint(recalled):
                    names = [kept[v] for v in recalled if v in kept]
                    what = names[0] if names else target.name
                    raise UnsupportedError(
                        f"{what!r}, which an earlier call has kept, is returned where the "
                        "arguments are the same again: its derivative isn't kept",
                        s.span,
                        "compute it anew, or keep it by functools.cache",
                    )


def _chosen(s: ir.Statement, tests: set[ir.Var]) -> list[tuple[ir.Var, tuple[ir.Operand, ...]]]:
    """What a statement chooses, and from what."""
    if isinstance(s, ir.If):
        return [(target, tuple(ends)) for target, ends in ir.joins(s)]
    if isinstance(s, ir.Assign) and s.function is np.where and len(s.args) == 3:
        if not tests.isdisjoint(ir.variables(s.args[0])):
            return [(s.target, s.args[1:])]
    return []


def _nearly_the_same(block: ir.Block, given: set[ir.Var], found: set[ir.Var]) -> set[ir.Var]:
    """The tests whether the size of a difference from what is kept is more than rounding."""
    calls = [s for s in ir.walk(block) if isinstance(s, ir.Assign)]
    hashed = [s for s in calls if registry.hashable(s.function)]
    both = [s for s in hashed if not given.isdisjoint(u := ir.uses(s)) and not found.isdisjoint(u)]
    apart = {v for s in both if s.function in DIFFERENCES for v in (s.target, *s.writes)}
    apart = _made_from(block, apart)
    sizes = {s.target for s in hashed if _measures(s) and not apart.isdisjoint(ir.uses(s))}
    sizes |= {s.target for s in both if s.function in registry.measuring and len(s.args) > 1}
    sizes = _made_from(block, sizes)
    return {
        s.target for s in hashed
        if s.function in registry.ordering and not sizes.isdisjoint(ir.uses(s))
        and any(isinstance(a, ir.Const) and _is_rounding(a.value) for a in s.args)
    }  # fmt: skip


def _is_rounding(value: object) -> bool:
    return isinstance(value, (int, float)) and 0 <= value <= ROUNDING


def _measures(s: ir.Assign) -> bool:
    """Whether a call tells how large something is: its absolute value, norm or square."""
    if s.function in POWERS:
        return isinstance(s.args[1], ir.Const) and bool(s.args[1].value == 2)
    if s.function in PRODUCTS:
        return len(s.args) == 2 and s.args[0] == s.args[1]
    return s.function in registry.measuring


def _check_call(
    s: ir.Assign,
    given: set[ir.Var],
    found: set[ir.Var],
    kept: dict[ir.Var, str],
    within: tuple[ir.Unit, ...],
) -> None:
    """Check a unit that is called with what is kept."""
    unit = s.function
    if unit in within or unit.rule is not None or unit.later is not None or unit.function is None:
        return
    pairs = list(zip(unit.body.params, s.operands(), strict=False))
    inputs = {p for p, o in pairs if not given.isdisjoint(ir.variables(o))}
    inner = {
        p: next((kept[v] for v in ir.variables(o) if v in kept), p.name)
        for p, o in pairs
        if not found.isdisjoint(ir.variables(o))
    }
    if inputs and inner:
        outputs = ir.variables_of(unit.body.block.results)
        _check(unit.body, inputs, outputs, inner, (*within, unit))


def _made_from(block: ir.Block, seeds: set[ir.Var], decided: bool = False) -> set[ir.Var]:
    """What depends on variables; if `decided`, also by a test that chooses it."""
    made = set(seeds)
    size = -1
    while len(made) != size:
        size = len(made)
        for s in ir.walk(block):
            if isinstance(s, ir.Assign):
                if not made.isdisjoint(ir.uses(s)):
                    made.update((s.target, *s.writes))
                continue
            chosen = decided and not made.isdisjoint(ir.uses(s))
            for target, ends in ir.joins(s):
                if chosen or not made.isdisjoint(ir.variables_of(ends)):
                    made.add(target)
    return made
