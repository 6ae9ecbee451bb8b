"""`vjp`, `jvp` and `linearize` inside the code being lowered.

`vjp(f, x)` calls a unit, `f` applied to x; its pullback calls the unit's backward function, which
computes what it needs again. `jvp` calls the tangent function.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np

from .. import ir, runtime, units
from ..analysis.inference import Inferred
from ..copies import check_apart, unshared
from ..frontend.effects import describe, emit_call
from ..frontend.lower import Lowerer
from ..frontend.predicates import NONE
from ..frontend.values import (
    DictObject,
    Instance,
    ListObject,
    Partial,
    Path,
    Place,
    Ref,
    Tuple,
    Value,
)
from ..kinds import FLOAT, Array, Opaque, Scalar, is_float
from ..transform.contributions import Contributions, adjoint_kind
from .calls import called, floats, no_more, results, with_aux
from .gradients import mapped, opened
from .rules import Pairs


def lower_vjp(low: Lowerer, args: list[Value], kwargs: dict[str, Value]) -> Value:
    has_aux = bool(low.key(kwargs.pop("has_aux", ir.Const(False))))
    no_more(low, "vjp", kwargs)
    function, *primals = args
    taken, aux = taken_at(low, function, primals, has_aux)
    out = taken.out
    pullback = Partial(Place(pull), (ir.Const(taken),), {})
    return Tuple((out, pullback) if aux is None else (out, pullback, aux))


def pull() -> None:
    """Stands for a pullback."""


def lower_pull(low: Lowerer, args: list[Value], kwargs: dict[str, Value]) -> Value:
    held, d_out = args
    assert isinstance(held, ir.Const)
    taken: Taken = held.value
    wrt = [v for p in taken.primals for v in floats(low, p)]
    found = dict(pulled(low, taken, d_out, wrt))

    def leaf(v: ir.Var | ir.Const) -> Value:
        if isinstance(v, ir.Const) or not is_float(v.kind):
            return NONE
        d = found.get(v)
        if d is not None:
            assert isinstance(d, (ir.Var, ir.Const))
            return d
        if isinstance(v.kind, Array):
            return low.emit(np.zeros_like, (v,), inferred=Inferred(v.kind), name=f"d_{v.name}")
        return ir.Const(0.0)

    return Tuple(tuple(mapped(low, p, leaf) for p in taken.primals))


@dataclass(frozen=True)
class Taken:
    """What a pullback knows of the call that it pulls back over."""

    call: ir.Assign
    results: list[ir.Var]
    out: Value
    primals: tuple[Value, ...]


def pulled(low: Lowerer, taken: Taken, d_out: Value, wanted: Collection[ir.Var]) -> Pairs:
    """The contributions of an adjoint of a call's result to some variables."""
    call, outer = taken.call, taken.results
    unit: ir.Unit = call.function
    wrt = [i for i, a in enumerate(call.args) if a in wanted]
    seeds = seeded(low, taken.out, d_out)
    positions = [i for i, v in enumerate(outer) if v in seeds]
    if not positions or not wrt:
        return []
    if unit.function is None:
        raise low.refuse("a derivative of a function is taken inside itself")
    function = units.backward(unit, tuple(wrt), tuple(positions), True)
    given = (*call.args, *(seeds[outer[i]] for i in positions))
    operands = [call.args[i] for i in wrt]
    targets = [
        ir.Var(f"d_{o.name}", adjoint_kind(o.kind)) for o in operands if isinstance(o, ir.Var)
    ]
    emit_call(low, function, given, targets)
    pairs: Pairs = []
    for o, t in zip(operands, targets, strict=True):
        assert isinstance(o, ir.Var)
        pairs.append((o, t))
    return pairs


def seeded(low: Lowerer, out: Value, d_out: Value) -> dict[ir.Var, ir.Operand]:
    """The adjoint of each leaf of a result, of its shape and dtype."""
    found: dict[ir.Var, ir.Operand] = {}

    def visit(a: Value, d: Value) -> None:
        match a:
            case ir.Var() if is_float(a.kind):
                if isinstance(d, ir.Const) and d.value is None:
                    return
                fitter = Contributions(ir.Function("seed", (), ir.Block()), [], [])
                fitter.within(low)
                fitter.block, fitter.span = low.block, low.span
                value = d.value if isinstance(d, ir.Const) else None
                if isinstance(value, int) and not isinstance(value, bool):
                    d = ir.Const(float(value))
                found[a] = fitter.fit(low.operand(d), a.kind, a)
            case Tuple():
                for x, y in zip(a.items, low.unpacked(d), strict=True):
                    visit(x, y)
            case Ref():
                thing = low.state.heap[a.id]
                if isinstance(thing, ListObject):
                    for x, y in zip(thing.items, low.unpacked(d), strict=True):
                        visit(x, y)
                else:
                    assert isinstance(d, Ref)
                    other = low.state.heap[d.id]
                    assert isinstance(other, (DictObject, Instance))
                    for key, x in thing.items.items():
                        visit(x, other.items[key])

    try:
        visit(out, d_out)
    except (AssertionError, KeyError, ValueError):
        raise low.refuse("the cotangent isn't nested like the function's result") from None
    return found


def lower_jvp(low: Lowerer, args: list[Value], kwargs: dict[str, Value]) -> Value:
    has_aux = bool(low.key(kwargs.pop("has_aux", ir.Const(False))))
    function = args[0]
    primals = low.unpacked(args[1] if len(args) > 1 else kwargs.pop("primals"))
    tangents = low.unpacked(args[2] if len(args) > 2 else kwargs.pop("tangents"))
    no_more(low, "jvp", kwargs)
    taken, aux = taken_at(low, function, primals, has_aux)
    t_out = tangent_of(low, taken, tangents)
    return Tuple((taken.out, t_out) if aux is None else (taken.out, t_out, aux))


def lower_linearize(low: Lowerer, args: list[Value], kwargs: dict[str, Value]) -> Value:
    no_more(low, "linearize", kwargs)
    function, *primals = args
    taken, _ = taken_at(low, function, primals)
    return Tuple((taken.out, Partial(Place(push), (ir.Const(taken),), {})))


def push() -> None:
    """Stands for the linear function that `linearize` returns."""


def lower_push(low: Lowerer, args: list[Value], kwargs: dict[str, Value]) -> Value:
    held, *tangents = args
    assert isinstance(held, ir.Const)
    no_more(low, "this linear function", kwargs)
    return tangent_of(low, held.value, tangents)


def lower_linear(low: Lowerer, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """The call of a linear function that `linearize` made outside the code being lowered."""
    held, *tangents = args
    assert isinstance(held, ir.Const)
    no_more(low, "this linear function", kwargs)
    linear = held.value
    _, outside = linear._given
    if outside:
        raise low.refuse(
            "this linear function was made outside the differentiated code, of a function that "
            "finds arrays or numbers outside",
            "call linearize inside it",
        )
    place = Path("attribute", linear, "_primals")
    primals = [low.lift(p, Path("item", place, i)) for i, p in enumerate(linear._primals)]
    taken, _ = taken_at(low, Place(linear.primal), primals)
    return tangent_of(low, taken, tangents)


def taken_at(
    low: Lowerer, function: Value, primals: Sequence[Value], has_aux: bool = False
) -> tuple[Taken, Value | None]:
    """The call of a function, of which derivatives are to be taken, and what it returns besides."""
    sources: dict[ir.Var, ir.Var] = {}
    primals = [opened(low, p) for p in primals]
    own = tuple(copied(low, p, sources) for p in primals)
    given = [unshared(low, p) for p in own]
    before, number = low.state.copy(), len(low.looked_up)
    value, call = called(low, function, given)
    met = function, *(v for _, v in low.looked_up[number:])
    check_apart(low, primals, given, before, met)
    isolate(low, call, sources)
    keep_captured(low, call, sources)
    out, aux = with_aux(low, value) if has_aux else (value, None)
    return Taken(call, results(low, call), out, own), aux


def keep_captured(low: Lowerer, call: ir.Assign, own: Collection[ir.Var]) -> None:
    """Have a function called with copies of what it captures, which may be written later.

    The derivative calls it once more, with the same arguments. What is its `own` is a copy already.
    """
    statements, low.block = low.block, ir.Block()
    call.args = tuple(
        copied(low, a)  # type: ignore[misc]
        if isinstance(a, ir.Var) and isinstance(a.kind, Array) and a not in own else a
        for a in call.args
    )  # fmt: skip
    copies, low.block = low.block, statements
    if copies.statements:
        position = low.block.statements.index(call)
        low.block.statements[position:position] = copies.statements
        describe(call)


def tangent_of(low: Lowerer, taken: Taken, tangents: Sequence[Value]) -> Value:
    """The tangent of a call's result, nested like it, from those of its arguments."""
    moving: dict[ir.Var, ir.Operand] = {}
    if len(tangents) != len(taken.primals):
        raise low.refuse(f"there are {len(taken.primals)} primals but {len(tangents)} tangents")
    for p, t in zip(taken.primals, tangents, strict=True):
        moving.update(seeded(low, p, t))
    moved = pushed(low, taken, moving)

    def leaf(v: ir.Var | ir.Const) -> Value:
        if not isinstance(v, ir.Var) or not is_float(v.kind):
            return ir.Const(0.0) if isinstance(getattr(v, "value", None), float) else NONE
        return moved[v] if v in moved else still(low, v)

    return mapped(low, taken.out, leaf)


def still(low: Lowerer, v: ir.Var) -> ir.Var | ir.Const:
    """The tangent of a result that doesn't depend on what moves."""
    if isinstance(v.kind, Array):
        zeros: ir.Var = low.emit(np.zeros_like, (v,), inferred=Inferred(v.kind), name=f"t_{v.name}")
        return zeros
    return ir.Const(0.0)


def pushed(low: Lowerer, taken: Taken, moving: dict[ir.Var, ir.Operand]) -> dict[ir.Var, ir.Var]:
    """The tangents of a call's results along those of some variables."""
    call, outer = taken.call, taken.results
    unit: ir.Unit = call.function
    wrt = tuple(i for i, a in enumerate(call.args) if a in moving)
    outputs = tuple(i for i, v in enumerate(outer) if is_float(v.kind))
    if not wrt or not outputs:
        return {}
    if unit.function is None:
        raise low.refuse("a derivative of a function is taken inside itself")
    function = units.tangent(unit, wrt, outputs)
    targets = [ir.Var(v.name, v.kind) for v in outer]
    twins = [ir.Var(f"t_{outer[i].name}", adjoint_kind(outer[i].kind)) for i in outputs]
    given = (*call.args, *(moving[call.args[i]] for i in wrt))  # type: ignore[index]
    emit_call(low, function, given, [*targets, *twins])
    return dict(zip((outer[i] for i in outputs), twins, strict=True))


def copied(low: Lowerer, value: Value, sources: dict[ir.Var, ir.Var] | None = None) -> Value:
    """A value that nothing written later changes, its float constants in variables.

    Notes in `sources` of which variables its own are copies.
    """

    def leaf(v: ir.Var | ir.Const) -> Value:
        if isinstance(v, ir.Const):
            if not isinstance(v.value, float):
                return v
            return low.emit(float, (v,), inferred=Inferred(FLOAT), name="x")
        if isinstance(v.kind, Array) and v.kind.shape is not None:
            own = low.emit(np.ndarray.copy, (v,), inferred=Inferred(v.kind), name=v.name)
        elif isinstance(v.kind, Scalar) and is_float(v.kind):
            kind = Scalar(v.kind.dtype, v.kind.python)
            own = low.emit(np.positive, (v,), inferred=Inferred(kind), name=v.name)
        else:
            return v
        if sources is not None:
            sources[own] = v
        return own

    return mapped(low, value, leaf)


def isolate(low: Lowerer, call: ir.Assign, sources: dict[ir.Var, ir.Var]) -> None:
    """Let a function that writes into its arguments do so in copies of its own.

    The derivative calls it once more, with the same arguments: copies, whose `sources` mustn't
    share memory. Nor must those of what a gradient in it writes into copies of its own.
    """
    if call.function.function is None:
        raise low.refuse("a derivative of a function is taken inside itself")
    body = call.function.body
    given = dict(zip(body.params, call.args, strict=True))
    checked = [
        given[v] for s in ir.walk(body.block)
        if isinstance(s, ir.Assign) and s.function is runtime.check_apart
        for v in ir.variables(s.args[0]) if v in given
    ]  # fmt: skip
    if not call.writes and not checked:
        return
    for v in call.writes:
        if v not in sources:
            raise low.refuse(
                f"{v.name!r} is written inside a function whose derivative is taken here",
                "pass a copy of it as an argument",
            )
    written = tuple(sources.get(v, v) for v in dict.fromkeys((*call.writes, *checked)))
    operands = [sources.get(v, v) for v in call.args if isinstance(v, ir.Var)]
    arrays = tuple(v for v in operands if isinstance(v.kind, Array))
    if len(arrays) > 1:
        apart = ir.Assign(
            ir.Var("_", Opaque(None)), runtime.check_apart,
            (ir.Pack(tuple, written), ir.Pack(tuple, arrays)), span=low.span, effect=True,
        )  # fmt: skip
        statements = low.block.statements
        statements.insert(statements.index(call), apart)
    if not call.writes:
        return
    call.function = units.by_value(call.function, returned=False)[0]
    describe(call)
