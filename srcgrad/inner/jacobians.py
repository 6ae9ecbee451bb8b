"""Products with Hessians, Jacobians and the like, taken inside the code being lowered.

What `hessian(f)` makes in differentiated code is a `Partial` of `derive`. A call of it places its
arguments, and makes a unit of `f` as a function of the chosen ones alone (the *inputs*), whose
derivatives are taken as by `jvp` and `vjp`. A Jacobian is a loop over the unit directions of an
argument or of a result: an ordinary function, which is lowered too (`columns`, `rows`).
"""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from .. import forward, ir, jacobians, pullback, sparse
from ..api import grad
from ..frontend.lower import Lowerer
from ..frontend.predicates import NONE
from ..frontend.values import Partial, Place, StandIn, Tuple, Value
from ..gradient import Gradient
from ..joins import is_complex
from ..kinds import is_float
from .calls import floats, name_of
from .derivatives import (
    Taken,
    copied,
    lower_pull,
    pulled,
    pushed,
    seeded,
    still,
    taken_at,
    tangent_of,
)
from .gradients import bound, make_gradient, mapped, option, placed, stub

Args = list[Value]
Kwargs = dict[str, Value]


@dataclass(frozen=True)
class Made(StandIn):
    """A derivative that the code being lowered takes of a function.

    Attributes:
        name: of the function that makes it, as users know it.
        take: makes the derivative of a call.
        at: a Gradient by the inputs, of a function with the same parameters.
        inputs: what `at` is by.
        single: whether there is one input, not a tuple of them.
        mode: of a Jacobian: "forward", "reverse" or "either".
        holomorphic: whether the inputs of a Jacobian are complex.
    """

    name: str
    take: Callable[[Lowerer, Made, Call], Value]
    at: Gradient = field(compare=False)
    inputs: tuple[Any, ...]
    single: bool
    mode: str = ""
    holomorphic: bool = False

    @property
    def along(self) -> bool:
        """Whether a direction stands after the arguments."""
        return self.take in (_product, _vector_product)

    @property
    def signature(self) -> inspect.Signature:
        """The parameters of the derivative."""
        parameters = inspect.signature(self.at)
        return forward.with_direction(parameters) if self.along else parameters


@dataclass(frozen=True)
class Placing(StandIn):
    """Where the inputs stand among the arguments of a function."""

    name: str
    where: tuple[int | str, ...]
    count: int  # of positional arguments


@dataclass(frozen=True)
class Call:
    """A call whose derivative is taken: a function of the inputs alone, these, and a direction."""

    function: Value
    inputs: tuple[Value, ...]
    names: tuple[str, ...]
    direction: Value = NONE


# Making derivatives


def making(name: str, take: Any, of: Any = None, mode: str = "") -> Any:
    """What lowers a call such as `hessian(f, argnums)`; `of` makes what is differentiated of f."""

    def lower(low: Lowerer, args: Args, kwargs: Kwargs) -> Value:
        given = dict(zip(("f", "argnums"), args, strict=False), **kwargs)
        unknown = given.keys() - {"f", "argnums", "holomorphic" if mode else "f"}
        if unknown or "f" not in given:
            wrong = f"{name}(..., {min(unknown)}=...)" if unknown else f"{name} without a function"
            raise low.refuse(f"{wrong} isn't supported in differentiated code")
        primal = given["f"]
        argnums = option(low, given.get("argnums", ir.Const(0)), "argnums")
        holomorphic = bool(option(low, given.get("holomorphic", ir.Const(False)), "holomorphic"))
        if of is not None:
            primal = make_gradient(low, of, [primal, ir.Const(argnums)], {})
        function = primal.value if isinstance(primal, ir.Const) else stub(low, primal)
        at, single = grad(function, argnums), not isinstance(argnums, (tuple, list))
        made = Made(name, take, at, at._inputs, single, mode, holomorphic)
        return Partial(Place(derive), (ir.Const(made), primal), {})

    return lower


def known(name: str, take: Any) -> Any:
    """What lowers the call of an object that was made outside the code being lowered."""

    def lower(low: Lowerer, args: Args, kwargs: Kwargs) -> Value:
        held, *rest = args
        assert isinstance(held, ir.Const)
        derived = held.value
        mode, holomorphic = getattr(derived, "_mode", ""), getattr(derived, "_holomorphic", False)
        made = Made(
            name, take, derived._at, derived._at._inputs, derived._single, mode, holomorphic
        )
        return lower_derive(low, [ir.Const(made), Place(derived._at.primal), *rest], kwargs)

    return lower


def refused(message: str, advice: str) -> Any:
    """What lowers the call of an object that can't be called in differentiated code."""

    def lower(low: Lowerer, args: Args, kwargs: Kwargs) -> Value:
        raise low.refuse(message, advice)

    return lower


# Calling them


def derive() -> None:
    """Stands for a derivative made in the code being lowered."""


def lower_derive(low: Lowerer, args: Args, kwargs: Kwargs) -> Value:
    """The call of a derivative: `args` are what made it, its function, and the arguments."""
    held, primal, *rest = args
    assert isinstance(held, ir.Const)
    made: Made = held.value
    direction: Value = NONE
    if made.along:
        if not rest:
            raise low.refuse(f"{made.name} needs the direction after the arguments")
        direction = rest.pop()
    positional, named = placed(low, made.at, bound(low, made.at, rest, kwargs))
    where = [_where(made.at, which, len(positional)) for which in made.at._inputs]
    inputs, names = [], []
    for at, (name, part) in zip(where, made.at._inputs, strict=True):
        value = named[at] if isinstance(at, str) else positional[at]
        shown = name if part is None else f"{name}[{part!r}]"
        if not _has_floats(low, value):
            raise low.refuse(f"argument {shown!r} of {made.name} isn't of floats")
        inputs.append(value)
        names.append(shown)
    for at in where:
        if isinstance(at, str):
            named[at] = NONE
        else:
            positional[at] = NONE
    spec = ir.Const(Placing(name_of(primal), tuple(where), len(positional)))
    function = Partial(Place(put), (spec, primal, *positional), named)
    return made.take(low, made, Call(function, tuple(inputs), tuple(names), direction))


def _has_floats(low: Lowerer, value: Value) -> bool:
    found: list[bool] = []

    def leaf(v: ir.Var | ir.Const) -> Value:
        found.append(isinstance(v.value, float) if isinstance(v, ir.Const) else is_float(v.kind))
        return v

    mapped(low, value, leaf)
    return any(found)


def _where(at: Gradient, which: tuple[str, Any], count: int) -> int | str:
    """Where an input stands among the arguments of a call: at a position, or under a name."""
    name, part = which
    if isinstance(part, str):
        return part
    position: int | None = part
    positional = [
        p.name for p in at._signature.parameters.values()
        if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)
    ]  # fmt: skip
    if position is not None:
        return len(positional) + position if position >= 0 else count + position
    if name in positional and positional.index(name) < count:
        return positional.index(name)
    return name


def put() -> None:
    """Stands for a function of the inputs alone."""


def lower_put(low: Lowerer, args: Args, kwargs: Kwargs) -> Value:
    """The call of a function with its inputs put where they belong."""
    spec, primal, *rest = args
    assert isinstance(spec, ir.Const)
    placing: Placing = spec.value
    positional = [copied(low, a) for a in rest[: placing.count]]
    named = {k: copied(low, a) for k, a in kwargs.items()}
    for at, value in zip(placing.where, rest[placing.count :], strict=True):
        if isinstance(at, str):
            named[at] = value
        else:
            positional[at] = value
    return low.call(primal, positional, named)


# Products, and derivatives along directions


def _product(low: Lowerer, made: Made, call: Call) -> Value:
    """`hvp(f)(*args, v)`: the derivative of the gradient along `v`."""
    taken, _ = taken_at(low, call.function, call.inputs)
    directions = [call.direction] if made.single else low.unpacked(call.direction)
    return tangent_of(low, taken, directions)


def _vector_product(low: Lowerer, made: Made, call: Call) -> Value:
    """`vhp(f)(*args, v)`: the gradient pulled back."""
    taken, _ = taken_at(low, call.function, call.inputs)
    found = lower_pull(low, [ir.Const(taken), call.direction], {})
    return low.unpacked(found)[0] if made.single else found


def _slope(low: Lowerer, made: Made, call: Call) -> Value:
    """`derivative(f)(x)`."""
    (x,) = call.inputs
    if _rank(x) != 0:
        raise low.refuse(
            f"derivative is of a function of one float, but {call.names[0]!r} is an array",
            "use jacobian or elementwise_grad",
        )
    taken, _ = taken_at(low, call.function, call.inputs)
    if _rank(taken.out) != 0:
        raise low.refuse("derivative is of a function that returns a float", "use jacfwd")
    return tangent_of(low, taken, [ir.Const(1.0)])


def _elementwise(low: Lowerer, made: Made, call: Call) -> Value:
    """`elementwise_grad(f)(x)`."""
    taken, _ = taken_at(low, call.function, call.inputs)
    linear = Partial(Place(push_inputs), (ir.Const(taken),), {})
    if _rank(taken.out) is None or _rank(taken.out) != _rank(call.inputs[0]):
        raise low.refuse("elementwise_grad needs a result of the shape of the argument")
    (x,) = taken.primals
    assert isinstance(x, ir.Var)
    tolerance = float(np.finfo(x.kind.dtype).eps) ** 0.5  # type: ignore[attr-defined]
    return _derived(low, elementwise_slopes, [linear, x, ir.Const(tolerance)])


def elementwise_slopes(linear: Any, x: Any, tolerance: Any) -> Any:
    """The diagonal of a Jacobian, which must be diagonal."""
    if np.ndim(x) == 0:
        return linear(1.0)
    slopes = linear(np.ones_like(x))
    v = np.reshape(1.0 + 0.5 * np.cos(np.arange(np.size(x)) ** 2.0), np.shape(x))
    if not np.allclose(linear(v), v * slopes, rtol=tolerance, atol=1e-300, equal_nan=True):
        raise TypeError("elementwise_grad needs a function that is elementwise; use jacobian")
    return slopes


def push_inputs() -> None:
    """Stands for the derivative of a call along directions of its inputs."""


def lower_push_inputs(low: Lowerer, args: Args, kwargs: Kwargs) -> Value:
    held, *tangents = args
    assert isinstance(held, ir.Const)
    return tangent_of(low, held.value, tangents)


# Jacobians


@dataclass(frozen=True, eq=False)
class Leaf:
    """One array or number among the arguments, or the results, of a call."""

    taken: Taken
    var: ir.Var


def _jacobian(low: Lowerer, made: Made, call: Call) -> Value:
    """`jacobian(f)(*args)`, by columns or by rows."""
    taken, _ = taken_at(low, call.function, call.inputs)
    inputs = [v for p in taken.primals for v in floats(low, p)]
    for v in inputs:
        _check_complex(low, made, v)
    outs = list(dict.fromkeys(floats(low, taken.out)))
    if made.mode != "forward" and not made.holomorphic and any(is_complex(v.kind) for v in outs):
        raise low.refuse(
            "the result is complex",
            "pass holomorphic=True if the function is holomorphic, else return its real and "
            "imaginary parts",
        )
    blocks: dict[tuple[ir.Var, ir.Var], Value] = {}  # of a result by an input
    if made.mode == "forward" or (made.mode == "either" and _is_tall(inputs, outs)):
        for x in inputs:
            linear = Partial(Place(push_leaf), (ir.Const(Leaf(taken, x)),), {})
            found = _derived(low, columns, [linear, x, Tuple(tuple(outs)), _dtypes(outs)])
            blocks.update(zip(((o, x) for o in outs), low.unpacked(found), strict=True))
    else:
        for o in outs:
            linear = Partial(Place(pull_leaf), (ir.Const(Leaf(taken, o)),), {})
            found = _derived(low, rows, [linear, o, Tuple(tuple(inputs)), _dtypes(inputs)])
            blocks.update(zip(((o, x) for x in inputs), low.unpacked(found), strict=True))

    def of_result(o: Any) -> Value:
        def by(x: Any) -> Value:
            if not isinstance(x, ir.Var) or not is_float(x.kind):
                return NONE
            return blocks[o, x] if isinstance(o, ir.Var) else still(low, x)

        if isinstance(o, ir.Const) and not isinstance(o.value, float):
            return NONE
        if isinstance(o, ir.Var) and not is_float(o.kind):
            return NONE
        by_inputs = tuple(mapped(low, p, by) for p in taken.primals)
        return by_inputs[0] if made.single else Tuple(by_inputs)

    return mapped(low, taken.out, of_result)


def _derived(low: Lowerer, function: Any, args: list[Value]) -> Value:
    """The call of a function of this module, whose statements come from the user's line."""
    before, low.fixed_span = low.fixed_span, True
    try:
        return low.call(Place(function), args, {})
    finally:
        low.fixed_span = before


def _dtypes(variables: list[ir.Var]) -> Value:
    return Tuple(tuple(ir.Const(v.kind.dtype) for v in variables))  # type: ignore[attr-defined]


def columns(linear: Any, x: Any, outs: Any, dtypes: Any) -> Any:
    """The derivatives of some results by an argument, along one direction after the other."""
    if np.ndim(x) == 0:
        return linear(1.0)
    unit = np.eye(np.size(x), dtype=x.dtype)
    found = [np.zeros((*np.shape(o), np.size(x)), d) for o, d in zip(outs, dtypes, strict=True)]
    for i in range(np.size(x)):
        direction = unit[i] if np.ndim(x) == 1 else np.reshape(unit[i], np.shape(x))
        for matrix, tangent in zip(found, linear(direction), strict=True):
            matrix[..., i] = tangent
    if np.ndim(x) == 1:
        return found
    return [np.reshape(m, (*m.shape[:-1], *np.shape(x))) for m in found]


def rows(linear: Any, out: Any, inputs: Any, dtypes: Any) -> Any:
    """The derivatives of a result by some arguments, one number of it after the other."""
    if np.ndim(out) == 0:
        return linear(1.0)
    unit = np.eye(np.size(out), dtype=out.dtype)
    found = [np.zeros((np.size(out), *np.shape(x)), d) for x, d in zip(inputs, dtypes, strict=True)]
    for i in range(np.size(out)):
        direction = unit[i] if np.ndim(out) == 1 else np.reshape(unit[i], np.shape(out))
        for matrix, adjoint in zip(found, linear(direction), strict=True):
            matrix[i] = adjoint
    if np.ndim(out) == 1:
        return found
    return [np.reshape(m, (*np.shape(out), *m.shape[1:])) for m in found]


def push_leaf() -> None:
    """Stands for the derivatives of all results along a direction of one argument."""


def lower_push_leaf(low: Lowerer, args: Args, kwargs: Kwargs) -> Value:
    held, direction = args
    assert isinstance(held, ir.Const)
    taken, x = held.value.taken, held.value.var
    moved = pushed(low, taken, seeded(low, x, direction))
    outs = dict.fromkeys(floats(low, taken.out))
    return Tuple(tuple(moved[o] if o in moved else still(low, o) for o in outs))


def pull_leaf() -> None:
    """Stands for the adjoints of all arguments from that of one result."""


def lower_pull_leaf(low: Lowerer, args: Args, kwargs: Kwargs) -> Value:
    held, d_out = args
    assert isinstance(held, ir.Const)
    taken, out = held.value.taken, held.value.var
    inputs = [v for p in taken.primals for v in floats(low, p)]
    found = dict(pulled(low, Taken(taken.call, taken.results, out, taken.primals), d_out, inputs))
    return Tuple(tuple(found[x] if x in found else still(low, x) for x in inputs))  # type: ignore[misc]


def _is_tall(inputs: list[ir.Var], outs: list[ir.Var]) -> bool:
    """Whether there may be as many results as inputs: of numbers that only the call knows."""

    def size(variables: list[ir.Var]) -> tuple[int, int]:
        shapes = [getattr(v.kind, "shape", ()) or () for v in variables]
        unknown = [sum(not isinstance(n, int) for n in shape) for shape in shapes]
        fixed = [int(np.prod([n for n in s if isinstance(n, int)])) for s in shapes]
        most = max(unknown, default=0)
        return most, sum(f for f, u in zip(fixed, unknown, strict=True) if u == most)

    return size(outs) >= size(inputs)


def _rank(value: Value) -> int | None:
    if isinstance(value, ir.Const):
        return np.ndim(value.value)
    if not isinstance(value, ir.Var) or not is_float(value.kind):
        return None
    shape = getattr(value.kind, "shape", ())
    return None if shape is None else len(shape)


def _check_complex(low: Lowerer, made: Made, v: ir.Var) -> None:
    if made.holomorphic and not is_complex(v.kind):
        raise low.refuse(f"with holomorphic=True argument {v.name!r} must be complex")
    if is_complex(v.kind) and not made.holomorphic and made.mode != "reverse":
        raise low.refuse(
            f"argument {v.name!r} is complex",
            "pass holomorphic=True if the function is holomorphic, else differentiate by the "
            "real and imaginary parts",
        )


DERIVATIVES: dict[Any, Any] = {
    forward.hvp: making("hvp", _product, grad),
    forward.vhp: making("vhp", _vector_product, grad),
    forward.derivative: making("derivative", _slope),
    forward.elementwise_grad: making("elementwise_grad", _elementwise),
    jacobians.jacfwd: making("jacfwd", _jacobian, mode="forward"),
    jacobians.jacrev: making("jacrev", _jacobian, mode="reverse"),
    jacobians.jacobian: making("jacobian", _jacobian, mode="either"),
    jacobians.hessian: making("hessian", _jacobian, grad, mode="forward"),
    forward.HessianProduct.__call__: known("hvp", _product),
    forward.VectorHessian.__call__: known("vhp", _vector_product),
    forward.Derivative.__call__: known("derivative", _slope),
    forward.Elementwise.__call__: known("elementwise_grad", _elementwise),
    jacobians.Jacobian.__call__: known("jacobian", _jacobian),
    sparse.SparseJacobian.__call__: refused(
        "a sparse Jacobian can't be differentiated", "leave sparsity out"
    ),
    pullback.Pullback.__call__: refused(
        "the pullback was made outside the differentiated code", "call vjp inside it"
    ),
    derive: lower_derive,
    put: lower_put,
    push_inputs: lower_push_inputs,
    push_leaf: lower_push_leaf,
    pull_leaf: lower_pull_leaf,
}

__all__ = ["DERIVATIVES"]
