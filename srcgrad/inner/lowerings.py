"""What srcgrad's own functions mean where they are called in the code being lowered."""

from __future__ import annotations

import types
from typing import Any

import numpy as np

from .. import checkpointing, custom, forward, ir, pullback
from ..analysis.inference import Inferred
from ..api import grad, value_and_grad
from ..frontend.calls import LOWERINGS
from ..frontend.lower import Lowerer
from ..frontend.units import Wanted
from ..frontend.values import Bound, Closure, Partial, Place, Value
from ..kinds import Scalar, int_kind, is_float
from ..rules import helpers, registry
from . import calls, derivatives, implicit, outside
from . import rules as own_rules
from .gradients import make_gradient, mapped
from .jacobians import DERIVATIVES

Args = list[Value]
Kwargs = dict[str, Value]


def _makes_gradient(maker: Any) -> Any:
    return lambda low, args, kwargs: make_gradient(low, maker, args, kwargs)


def _checkpoint(low: Lowerer, args: Args, kwargs: Kwargs) -> Value:
    """`checkpoint(f)`"""
    return Partial(Place(_call_again), tuple(args), kwargs)


def _call_again() -> None:
    """Stands for the call of a function that the code being lowered checkpoints."""


def _checkpointed(low: Lowerer, args: Args, kwargs: Kwargs) -> Value:
    """`checkpoint(f)(...)`: of a function known when compiling, or one that isn't."""
    function, *rest = args
    known = getattr(function, "value", None)
    if isinstance(known, checkpointing.Checkpointed):
        function = Place(known.function)
    return low.as_unit(function, rest, kwargs, Wanted(recompute=True))


def _loop(low: Lowerer, args: Args, kwargs: Kwargs) -> Value:
    return low.call(Place(checkpointing.repeated), args, kwargs)


def _steps(low: Lowerer, args: Args, kwargs: Kwargs) -> Value:
    wanted = Wanted(recompute=True, plain=low.closure_of(checkpointing.advance), own=True)
    return low.inline_closure(low.closure_of(checkpointing.steps), args, kwargs, wanted)


def _constant(low: Lowerer, args: Args, kwargs: Kwargs) -> Value:
    """`stop_gradient(x)`"""

    def leaf(v: ir.Var | ir.Const) -> Value:
        if isinstance(v, ir.Const) or not is_float(v.kind):
            return v
        return low.emit(custom.stop_gradient, (v,), inferred=Inferred(v.kind), name=v.name)

    (value,) = args
    return mapped(low, value, leaf)


registry.zero(custom.stop_gradient)
registry.no_jumps(custom.stop_gradient)


def _known(low: Lowerer, args: Args, kwargs: Kwargs) -> Value:
    (number,) = args
    return ir.Const(isinstance(number, ir.Const))


def _parameter_count(low: Lowerer, args: Args, kwargs: Kwargs) -> Value:
    function: Any = args[0]
    given = 0
    while not isinstance(function, Closure):
        match function:
            case Bound():
                function, given = function.function, given + 1
            case Partial():
                function, given = function.function, given + len(function.args)
            case ir.Const(value=types.MethodType() as method):
                function, given = Place(method.__func__), given + 1
            case ir.Const(value=types.FunctionType() as known):
                function = low.closure_of(known)
            case _:
                raise low.refuse("how many parameters this function has isn't known")
    parameters = function.node.args
    return ir.Const(len(parameters.posonlyargs) + len(parameters.args) - given)


def _may_be_python_float(low: Lowerer, args: Args, kwargs: Kwargs) -> Value:
    (number,) = args
    if isinstance(number, ir.Const):
        return ir.Const(type(number.value) is float)
    kind = number.kind if isinstance(number, ir.Var) else None
    return ir.Const(
        isinstance(kind, Scalar) and kind.python is not False and kind.dtype == np.float64
    )


def _integer(function: Any) -> Any:
    """What lowers a function of ints that returns an int, and has no derivative."""

    def lower(low: Lowerer, args: Args, kwargs: Kwargs) -> Value:
        if all(isinstance(a, ir.Const) for a in args):
            return ir.Const(function(*(low.key(a) for a in args)))
        operands = tuple(low.operand(a) for a in args)
        return low.emit(function, operands, inferred=Inferred(int_kind()))

    return lower


LOWERINGS.update(
    {
        grad: _makes_gradient(grad),
        value_and_grad: _makes_gradient(value_and_grad),
        pullback.vjp: derivatives.lower_vjp,
        derivatives.pull: derivatives.lower_pull,
        calls.called_here: calls.lower_called_here,
        forward.jvp: derivatives.lower_jvp,
        forward.linearize: derivatives.lower_linearize,
        derivatives.push: derivatives.lower_push,
        forward.Linear.__call__: derivatives.lower_linear,
        **DERIVATIVES,
        custom.custom_vjp.__call__: own_rules.lower_custom,
        custom.ImplicitRoot.__call__: implicit.lower_implicit,
        custom.implicit_root: implicit.lower_making(custom.implicit_root),
        custom.implicit_minimum: implicit.lower_making(custom.implicit_minimum),
        implicit.solve_implicitly: implicit.lower_solving,
        custom.close: outside.lower_close,
        custom.jumps: outside.lower_jumps,
        outside.apply_closed: outside.lower_closed,
        custom.Outside.__call__: outside.lower_outside,
        custom.stop_gradient: _constant,
        checkpointing.checkpoint: _checkpoint,
        checkpointing.Checkpointed.__call__: _checkpointed,
        _call_again: _checkpointed,
        checkpointing.checkpoint_loop: _loop,
        checkpointing.steps: _steps,
        checkpointing.first_part: _integer(checkpointing.first_part),
        helpers.known: _known,
        helpers.parameter_count: _parameter_count,
        helpers.may_be_python_float: _may_be_python_float,
        checkpointing.default_snapshots: _integer(checkpointing.default_snapshots),
    }
)
__all__ = ["LOWERINGS"]
