"""Implicit functions: solvers that the code being lowered calls, and their derivatives."""

from __future__ import annotations

import functools
import operator
from typing import Any

import numpy as np

from .. import custom, ir
from ..api import grad
from ..frontend.lower import Lowerer
from ..frontend.values import Bound, Closure, Partial, Place, Value
from ..kinds import FLOAT, Array, Kind, Scalar, is_float, kind_of
from .calls import called, lists_of, no_more, refuse_lists, results, variables
from .derivatives import Taken, pull, pulled
from .outside import guard_outside, opaque_call
from .rules import Pairs, attach


def lower_implicit(low: Lowerer, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """The call of what `implicit_root` or `implicit_minimum` made."""
    held, *rest = args
    assert isinstance(held, ir.Const)
    no_more(low, "a solver", kwargs)
    made = held.value
    f: Value = Place(made.f)
    if isinstance(made, custom.ImplicitMinimum):
        f = Partial(Place(stationarity), (f,), {})
    return implicit(low, f, made.solve, rest)


def stationarity(f: Any, x: Any, *args: Any) -> Any:
    return grad(f)(x, *args)


def lower_making(made: Any) -> Any:
    """What lowers `implicit_root(f, solver)` itself, where both are known when compiling."""

    def lower(low: Lowerer, args: list[Value], kwargs: dict[str, Value]) -> Value:
        values = dict(zip(("f", "solver"), args, strict=False), **kwargs)
        f, solver = values["f"], values["solver"]
        if made is custom.implicit_minimum:
            f = Partial(Place(stationarity), (f,), {})
        if isinstance(solver, (ir.Const, Partial)):
            known = functools.partial(custom.solved, _known(low, solver))
            return Partial(Place(solve_implicitly), (f, ir.Const(known)), {})
        return Partial(Place(solve_implicitly), (f, solver), {})

    return lower


def _known(low: Lowerer, function: Value) -> Any:
    """A function that is known when compiling, as the Python object that it is."""
    match function:
        case Partial():
            args = [_known(low, a) for a in function.args]
            kwargs = {k: _known(low, a) for k, a in function.kwargs.items()}
            return functools.partial(_known(low, function.function), *args, **kwargs)
        case ir.Const():
            return function.value
    raise low.refuse(
        "a function that the differentiated code defines can't be called by a solver",
        "define it outside, and pass what it captures as arguments: args=(...)",
    )


def solve_implicitly() -> None:
    """Stands for a solver made in the code being lowered."""


def lower_solving(low: Lowerer, args: list[Value], kwargs: dict[str, Value]) -> Value:
    f, solver, *rest = args
    no_more(low, "a solver", kwargs)
    return implicit(low, f, solver.value if isinstance(solver, ir.Const) else solver, rest)


def implicit(low: Lowerer, f: Value, solver: Any, args: list[Value]) -> Value:
    """The root of `f(x, *args)`, found by `solver(x0, *args)`.

    `solver` is a Python function, which is called as it is, or one of the code being lowered.
    """
    x0, *rest = args
    rest = [variables(low, a) for a in rest]
    if isinstance(solver, (Closure, Bound, Partial)):
        x, call = called(low, solver, [variables(low, x0), *rest], False)
    else:
        guard_outside(low, solver, [x0, *rest])
        x, call = opaque_call(low, solver, [x0, *rest], _root_kind(low, x0))
    if not isinstance(x, ir.Var):
        raise low.refuse("a solver must return an array or a number")

    def rule(d_out: Value) -> Pairs:
        residual, statement = called(low, f, [x, *rest])
        refuse_lists(low, statement.function.name, lists_of(statement))
        taken = Taken(statement, results(low, statement), residual, (x,))
        pullback = Partial(Place(pull), (ir.Const(taken),), {})
        solution = low.call(Place(custom.adjoint_solution), [pullback, x, d_out], {})
        wanted = [
            v for v in dict.fromkeys(statement.args)
            if isinstance(v, ir.Var) and v is not x and is_float(v.kind)
        ]  # fmt: skip
        negative = low.binary(operator.mul, ir.Const(-1.0), solution)
        return pulled(low, taken, negative, wanted)

    attach(low, call, x, rule)
    return x


def _root_kind(low: Lowerer, x0: Value) -> Kind:
    kind = x0.kind if isinstance(x0, ir.Var) else kind_of(low.key(x0))
    if isinstance(kind, Array) and kind.shape is not None and kind.dtype is not None:
        return Array(np.result_type(kind.dtype, np.float64), kind.shape)
    if isinstance(kind, Scalar):
        return FLOAT
    raise low.refuse("the initial guess must be a number or an array of known rank")
