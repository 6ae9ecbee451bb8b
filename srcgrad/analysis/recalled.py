"""Results that are kept outside from call to call, and returned where the arguments are the same.

    if not np.array_equal(x, self.x):
        self.x, self.energy = x, np.sum(x**2)
    return self.energy

That is returned for one such `x` only, and is no constant around it; but its derivative isn't kept.
A choice that other tests make (the best of all calls, the matrix of every tenth) lasts around the
arguments too, and there what is found is a constant.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from .. import ir
from ..errors import UnsupportedError
from ..rules import registry
from .activity import Activity
from .aliasing import Aliasing


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
    if not asked:
        return
    tests = _made_from(block, asked, decided=True)
    activity = Activity(block, inputs, outputs, Aliasing(block, function.together))
    for s in ir.walk(block):
        if isinstance(s, ir.If) and not tests.isdisjoint(ir.uses(s)):
            for target, ends in ir.joins(s):
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
