"""Functions with rules of their own (`custom_vjp`), called by the code being lowered.

Such a function is called as a unit, to which the rule is attached in IR: the rule is lowered where
the call stands, so that it sees the variables that the function captures.
"""

from __future__ import annotations

from collections.abc import Callable

from .. import ir
from ..analysis.activity import carries
from ..frontend.lower import Lowerer
from ..frontend.predicates import NONE
from ..frontend.structure import leaves
from ..frontend.values import DictObject, Instance, ListObject, Place, Ref, Tuple, Value
from ..kinds import is_float
from ..rules.registry import Unknown
from ..transform.contributions import Contributions
from .calls import called, results
from .gradients import mapped

Pairs = list[tuple[ir.Var, ir.Operand]]


def lower_custom(low: Lowerer, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """The call of a function that is decorated with `custom_vjp`."""
    held, *rest = args
    if not isinstance(held, ir.Const):
        raise low.refuse("a custom_vjp made in the function isn't supported", "make it outside")
    custom = held.value
    if custom.forward is None:
        raise low.refuse(
            f"{custom.__name__} is a custom_vjp without a rule",
            f"call {custom.__name__}.defvjp(forward, backward)",
        )
    values = list(low.bound_arguments(low.closure_of(custom.function), rest, kwargs).values())
    pair, call = called(low, Place(custom.forward), values, False)
    if not isinstance(pair, Tuple) or len(pair.items) != 2:
        raise low.refuse(f"the forward rule of {custom.__name__} must return a pair")
    out, residuals = pair.items
    if custom.__name__.isidentifier():  # a lambda has no name that can be printed
        call.function.name = custom.__name__

    def rule(d_out: Value) -> Pairs:
        result = low.call(Place(custom.backward), [residuals, d_out], {})
        if not isinstance(result, Tuple) or len(result.items) != len(values):
            raise low.refuse(
                f"the backward rule of {custom.__name__} must return a tuple of {len(values)}, "
                "one contribution for each argument"
            )
        return [
            pair for v, c in zip(values, result.items, strict=True) for pair in matched(low, v, c)
        ]

    attach(low, call, out, rule)
    return out


def attach(low: Lowerer, call: ir.Assign, out: Value, make: Callable[[Value], Pairs]) -> None:
    """Give the unit that a statement calls a rule.

    `make` emits what the rule does with the adjoint of `out`, and returns the contributions to
    variables that are visible at the call.
    """
    unit: ir.Unit = call.function
    outer = results(low, call)
    seeds: dict[ir.Var, ir.Var] = {}

    def fresh(v: ir.Var | ir.Const) -> Value:
        if not isinstance(v, ir.Var) or not is_float(v.kind):
            return NONE
        seeds[v] = ir.Var("d_out", v.kind)
        return seeds[v]

    d_out = mapped(low, out, fresh)
    around, low.block = low.block, ir.Block()
    trying, low.trying = low.trying, None
    try:
        pairs = make(d_out)
        block = low.block
    finally:
        low.block, low.trying = around, trying
    unknown = [(v, d.value) for v, d in pairs if isinstance(d, ir.Const) and _is_unknown(d)]
    pairs = [(v, d) for v, d in pairs if not _is_unknown(d)]
    block.results = tuple(d for _, d in pairs)
    ir.rename(block, low.renamed)
    outputs = tuple(i for i, v in enumerate(outer) if v in seeds)
    own = [seeds[outer[i]] for i in outputs]
    wanted = [*(v for v, _ in (*pairs, *unknown)), *ir.free_variables(block)]
    for v in dict.fromkeys(wanted):
        if v not in call.args and v not in outer and v not in own:
            call.args = (*call.args, v)
            unit.body.params = (*unit.body.params, v.anew())
    first = {v: i for i, v in reversed(list(enumerate(call.args))) if isinstance(v, ir.Var)}
    twins = [p.anew() for p in unit.body.params]
    shown = [v.anew() for v in outer]
    names: dict[ir.Var, ir.Var] = {v: twins[i] for v, i in first.items()}
    names.update(zip(outer, shown, strict=True))
    ir.rename(block, names)
    function = ir.Function(f"rule_{unit.name}", (*twins, *shown, *own), block)
    reasons = {first[v]: reason for v, reason in unknown}
    unit.rule = ir.Rule(function, outputs, tuple(first[v] for v, _ in pairs), reasons)


def _is_unknown(contribution: Value | ir.Operand) -> bool:
    return isinstance(contribution, ir.Const) and isinstance(contribution.value, Unknown)


def _fitting(low: Lowerer, contribution: Value, like: ir.Var) -> ir.Operand:
    """A contribution that a user's rule returned, its shape checked."""
    fitter = Contributions(ir.Function("rule", (), ir.Block()), [], [])
    fitter.within(low)
    fitter.block, fitter.span = low.block, low.span
    fitted: ir.Operand = fitter.doubted(low.operand(contribution), like)
    return fitted


def matched(low: Lowerer, value: Value, contribution: Value) -> Pairs:
    """The contributions to the leaves of an argument."""
    if isinstance(contribution, ir.Const) and contribution.value is None:
        return []
    if isinstance(contribution, ir.Const) and _is_unknown(contribution):
        return [(v, contribution) for v in leaves(low, value) if carries(v.kind)]
    match value:
        case ir.Var() if not is_float(value.kind):
            return []
        case ir.Var():
            return [(value, _fitting(low, contribution, value))]
        case Tuple():
            items = zip(value.items, low.unpacked(contribution), strict=True)
            return [pair for v, c in items for pair in matched(low, v, c)]
        case Ref():
            thing = low.state.heap[value.id]
            if isinstance(thing, ListObject):
                items = zip(thing.items, low.unpacked(contribution), strict=True)
                return [pair for v, c in items for pair in matched(low, v, c)]
            assert isinstance(contribution, Ref)
            other = low.state.heap[contribution.id]
            assert isinstance(other, (DictObject, Instance))
            return [
                pair for key, v in thing.items.items()
                if key in other.items for pair in matched(low, v, other.items[key])
            ]  # fmt: skip
    return []
