"""A function called as a unit, by the code being lowered."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

from .. import ir
from ..analysis.activity import carries
from ..analysis.inference import Inferred
from ..frontend.lower import Lowerer
from ..frontend.structure import leaves
from ..frontend.units import Wanted, call_of
from ..frontend.values import (
    Bound,
    Closure,
    InnerGradient,
    ListObject,
    Partial,
    Place,
    Ref,
    StandIn,
    Tuple,
    Value,
)
from ..kinds import FLOAT, ListOf, is_float
from .gradients import mapped


def called(
    low: Lowerer, function: Value, args: list[Value], recompute: bool = True
) -> tuple[Value, ir.Assign]:
    """The call of a function as a unit: its value, and the statement."""
    name = name_of(function)
    closure = replace(low.closure_of(applied), name=name)
    here = Partial(Place(called_here), (ir.Const(Here(name, low.span)), function), {})
    values: dict[str, Value] = {"function": here, "args": Tuple(tuple(args))}
    value, call = call_of(low, closure, values, Wanted(recompute, every=True))
    given = Tuple(tuple(args))
    refuse_lists(low, name, [a for a in lists_of(call) if is_among(low, a, given)])
    return value, call


def lists_of(call: ir.Assign) -> list[ir.Var]:
    """The lists of numbers that a function takes as one value each."""
    lists = (a for a in call.args if isinstance(a, ir.Var) and isinstance(a.kind, ListOf))
    return [a for a in lists if carries(a.kind)]


def refuse_lists(low: Lowerer, name: str, lists: list[ir.Var]) -> None:
    """Refuse to take derivatives by the items of lists: none of them has an adjoint of its own."""
    if lists:
        raise low.refuse(
            f"{name!r}, whose derivative is taken here, chooses items of a list when it runs",
            "pass an array: np.array(...) or np.stack(...) of the items",
        )


def is_among(low: Lowerer, var: ir.Var, value: Value) -> bool:
    """Whether a list that exists at run time is a value, or an item of it."""
    if isinstance(value, Ref):
        thing = low.state.heap[value.id]
        if isinstance(thing, ListObject):
            return thing.var is var or any(is_among(low, var, v) for v in thing.items)
        return any(is_among(low, var, v) for v in thing.items.values())
    return isinstance(value, Tuple) and any(is_among(low, var, v) for v in value.items)


def applied(function: Any, args: Any) -> Any:
    return function(*args)


def called_here() -> None:
    """Stands for a function that is called from `applied`, but by a line of the user's."""


@dataclass(frozen=True)
class Here(StandIn):
    """The line that a call comes from."""

    name: str
    span: Any = field(compare=False)


def lower_called_here(low: Lowerer, args: list[Value], kwargs: dict[str, Value]) -> Value:
    here, function, *rest = args
    assert isinstance(here, ir.Const)
    before, low.span = low.span, here.value.span
    fixed, low.fixed_span = low.fixed_span, False
    try:
        return low.call(function, rest, kwargs)
    finally:
        low.span, low.fixed_span = before, fixed


def name_of(function: Value) -> str:
    match function:
        case Closure():
            name = function.name
        case Partial(args=(ir.Const(StandIn() as held), *_)):
            name = held.name
        case Bound() | Partial():
            name = name_of(function.function)
        case InnerGradient():
            name = f"d_{function.gradient.__name__}"
        case ir.Const():
            name = str(getattr(function.value, "__name__", "function"))
        case _:
            name = "function"
    return name if name.isidentifier() else "function"


def results(low: Lowerer, call: ir.Assign) -> list[ir.Var]:
    """The variables that hold the results of a call."""
    if len(call.function.kinds) == 1:
        return [call.target]
    found = {
        s.args[1].value: s.target for s in low.block.statements
        if isinstance(s, ir.Assign) and s.args and s.args[0] is call.target
        and isinstance(s.args[1], ir.Const)
    }  # fmt: skip
    return [found[i] for i in range(len(call.function.kinds))]


def floats(low: Lowerer, value: Value) -> list[ir.Var]:
    return [v for v in leaves(low, value) if is_float(v.kind)]


def variables(low: Lowerer, value: Value) -> Value:
    """A value with its float constants in variables."""

    def leaf(v: ir.Var | ir.Const) -> Value:
        if isinstance(v, ir.Const) and isinstance(v.value, float):
            return low.emit(float, (v,), inferred=Inferred(FLOAT), name="x")
        return v

    return mapped(low, value, leaf)


def with_aux(low: Lowerer, value: Value) -> tuple[Value, Value]:
    if not isinstance(value, Tuple) or len(value.items) != 2:
        raise low.refuse("with has_aux=True the function must return a pair (value, aux)")
    return value.items[0], value.items[1]


def no_more(low: Lowerer, name: str, kwargs: dict[str, Value]) -> None:
    if kwargs:
        raise low.refuse(f"{name}(..., {next(iter(kwargs))}=...) isn't supported here")
