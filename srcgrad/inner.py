"""Derivatives taken inside the code being lowered, of functions that are made units for it.

`vjp(f, x)` calls a unit, `f` applied to x; its pullback calls the unit's backward function, which
computes what it needs again. `jvp` calls the tangent function. A function with a rule of its own
(`custom_vjp`, `implicit_root`) is called as a unit too, to which the rule is attached in IR: the
rule is lowered where the call stands, so that it sees the variables that the function captures.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from . import custom, ir, units
from .analysis.inference import Inferred
from .analysis.jumps import jumps
from .api import grad
from .emit import runtime
from .frontend.lower import Lowerer
from .frontend.units import Wanted, call_of, describe, emit_call
from .frontend.values import (
    Bound,
    Closure,
    DictObject,
    Held,
    InnerGradient,
    Instance,
    ListObject,
    Partial,
    Path,
    Place,
    Ref,
    Tuple,
    Value,
)
from .inputs import leaves
from .kinds import FLOAT, Array, Kind, Opaque, Scalar, is_float, kind_of
from .nested import mapped
from .rules.registry import Unknown
from .transform.contributions import Contributions, adjoint_kind
from .transform.recording import rename

NONE = ir.Const(None)
Pairs = list[tuple[ir.Var, ir.Operand]]


def applied(function: Any, args: Any) -> Any:
    return function(*args)


def called_here() -> None:
    """Stands for a function that is called from `applied`, but by a line of the user's."""


@dataclass(frozen=True)
class Here(Held):
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


def called(
    low: Lowerer, function: Value, args: list[Value], recompute: bool = True
) -> tuple[Value, ir.Assign]:
    """The call of a function as a unit: its value, and the statement."""
    name = name_of(function)
    closure = replace(low.closure_of(applied), name=name)
    here = Partial(Place(called_here), (ir.Const(Here(name, low.span)), function), {})
    values: dict[str, Value] = {"function": here, "args": Tuple(tuple(args))}
    return call_of(low, closure, values, Wanted(recompute, every=True))


def name_of(function: Value) -> str:
    match function:
        case Closure():
            name = function.name
        case Partial(args=(ir.Const(Held() as held), *_)):
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


# vjp and jvp


def isolate(low: Lowerer, call: ir.Assign, sources: dict[ir.Var, ir.Var]) -> None:
    """Let a function that writes into its arguments do so in copies of its own.

    The derivative calls it once more, with the same arguments: copies, whose `sources` mustn't
    share memory.
    """
    if not call.writes:
        return
    for v in call.writes:
        if v not in sources:
            raise low.refuse(
                f"{v.name!r} is written inside a function whose derivative is taken here",
                "pass a copy of it as an argument",
            )
    written = tuple(sources[v] for v in call.writes)
    arrays = tuple(v for v in sources.values() if isinstance(v.kind, Array))
    if len(arrays) > 1:
        apart = ir.Assign(
            ir.Var("_", Opaque(None)), runtime.check_apart,
            (ir.Pack(tuple, written), ir.Pack(tuple, arrays)), span=low.span, effect=True,
        )  # fmt: skip
        statements = low.block.statements
        statements.insert(statements.index(call), apart)
    call.function = units.by_value(call.function, returned=False)[0]
    describe(call)


def lower_vjp(low: Lowerer, args: list[Value], kwargs: dict[str, Value]) -> Value:
    has_aux = bool(low.key(kwargs.pop("has_aux", ir.Const(False))))
    _no_more(low, "vjp", kwargs)
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
    _no_more(low, "jvp", kwargs)
    taken, aux = taken_at(low, function, primals, has_aux)
    t_out = tangent_of(low, taken, tangents)
    return Tuple((taken.out, t_out) if aux is None else (taken.out, t_out, aux))


def lower_linearize(low: Lowerer, args: list[Value], kwargs: dict[str, Value]) -> Value:
    _no_more(low, "linearize", kwargs)
    function, *primals = args
    taken, _ = taken_at(low, function, primals)
    return Tuple((taken.out, Partial(Place(push), (ir.Const(taken),), {})))


def push() -> None:
    """Stands for the linear function that `linearize` returns."""


def lower_push(low: Lowerer, args: list[Value], kwargs: dict[str, Value]) -> Value:
    held, *tangents = args
    assert isinstance(held, ir.Const)
    _no_more(low, "this linear function", kwargs)
    return tangent_of(low, held.value, tangents)


def lower_linear(low: Lowerer, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """The call of a linear function that `linearize` made outside the code being lowered."""
    held, *tangents = args
    assert isinstance(held, ir.Const)
    _no_more(low, "this linear function", kwargs)
    linear = held.value
    place = Path("attribute", linear, "_primals")
    primals = [low.lift(p, Path("item", place, i)) for i, p in enumerate(linear._primals)]
    taken, _ = taken_at(low, Place(linear.primal), primals)
    return tangent_of(low, taken, tangents)


def taken_at(
    low: Lowerer, function: Value, primals: Sequence[Value], has_aux: bool = False
) -> tuple[Taken, Value | None]:
    """The call of a function, of which derivatives are to be taken, and what it returns besides."""
    sources: dict[ir.Var, ir.Var] = {}
    own = tuple(copied(low, p, sources) for p in primals)
    value, call = called(low, function, list(own))
    isolate(low, call, sources)
    out, aux = _with_aux(low, value) if has_aux else (value, None)
    return Taken(call, results(low, call), out, own), aux


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


def _with_aux(low: Lowerer, value: Value) -> tuple[Value, Value]:
    if not isinstance(value, Tuple) or len(value.items) != 2:
        raise low.refuse("with has_aux=True the function must return a pair (value, aux)")
    return value.items[0], value.items[1]


def _no_more(low: Lowerer, name: str, kwargs: dict[str, Value]) -> None:
    if kwargs:
        raise low.refuse(f"{name}(..., {next(iter(kwargs))}=...) isn't supported here")


# Rules


def attach(
    low: Lowerer,
    call: ir.Assign,
    out: Value,
    make: Callable[[Value], Pairs],
) -> None:
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
    try:
        pairs = make(d_out)
        block = low.block
    finally:
        low.block = around
    unknown = [(v, d.value) for v, d in pairs if isinstance(d, ir.Const) and _is_unknown(d)]
    pairs = [(v, d) for v, d in pairs if not _is_unknown(d)]
    block.results = tuple(d for _, d in pairs)
    outputs = tuple(i for i, v in enumerate(outer) if v in seeds)
    own = [seeds[outer[i]] for i in outputs]
    wanted = [*(v for v, _ in (*pairs, *unknown)), *ir.free_variables(block)]
    for v in dict.fromkeys(wanted):
        if v not in call.args and v not in outer and v not in own:
            call.args = (*call.args, v)
            unit.body.params = (*unit.body.params, ir.Var(v.name, v.kind, v.user))
    first = {v: i for i, v in reversed(list(enumerate(call.args))) if isinstance(v, ir.Var)}
    twins = [ir.Var(p.name, p.kind, p.user) for p in unit.body.params]
    shown = [ir.Var(v.name, v.kind, v.user) for v in outer]
    names: dict[ir.Var, ir.Var] = {v: twins[i] for v, i in first.items()}
    names.update(zip(outer, shown, strict=True))
    rename(block, lambda v: names.get(v, v))
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
    match value:
        case ir.Var() if not is_float(value.kind):
            return []
        case ir.Var() if isinstance(contribution, ir.Const) and _is_unknown(contribution):
            return [(value, contribution)]
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


def lower_custom(low: Lowerer, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """The call of a function that is decorated with `custom_vjp`."""
    held, *rest = args
    assert isinstance(held, ir.Const)
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


# Functions that are handed to Python


@dataclass(frozen=True)
class Closed:
    """A function without outer variables: a unit, and the kind of what it returns."""

    unit: ir.Unit
    kind: Kind

    @property
    def __name__(self) -> str:
        return self.unit.name


def apply_closed() -> None:
    """Stands for the call of a closed function."""


def lower_close(low: Lowerer, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """What `close(f, *samples)` returns: the unit, and the outer variables that it takes.

    The unit is made by a call with variables that stand for the samples, which is taken out again.
    """
    f, *samples = args
    _no_more(low, "close", kwargs)

    def standing(v: ir.Var | ir.Const) -> Value:
        if isinstance(v, ir.Var):
            return ir.Var(v.name, v.kind)
        return ir.Var("x", FLOAT) if isinstance(v.value, (int, float)) else v

    own = [mapped(low, a, standing) for a in samples]
    value, call = called(low, f, own)
    unit: ir.Unit = call.function
    if not isinstance(value, ir.Var) or len(unit.kinds) != 1:
        raise low.refuse(
            f"{name_of(f)!r} is handed to a function of SciPy: it must return one array or number, "
            "and assign no outer variables"
        )
    varying = [v for a in own for v in leaves(low, a)]
    captured: list[Any] = [v for v in call.args if v not in varying]
    if any(v in captured for v in call.writes):
        raise low.refuse(f"{name_of(f)!r} writes into an outer variable", "return it instead")
    low.block.statements.remove(call)
    moving = [v for v in captured if isinstance(v, ir.Var) and is_float(v.kind)]
    if any(not isinstance(v.kind, (Array, Scalar)) for v in moving):
        raise low.refuse(f"{name_of(f)!r} reads a list of numbers from outside", "make it an array")
    held = [v for v in captured if v not in moving]
    if call.writes:
        unit = units.by_value(unit, returned=False)[0]
    unit = _of_arguments(low, unit, call.args, [*varying, *moving, *held])
    function = Partial(Place(apply_closed), (ir.Const(Closed(unit, value.kind)),), {})
    return Tuple((function, Tuple(tuple(moving)), Tuple(tuple(held))))


def _of_arguments(
    low: Lowerer, unit: ir.Unit, args: tuple[ir.Operand, ...], given: list[Any]
) -> ir.Unit:
    """A unit of the given arguments, some of which are those that `unit` takes."""
    if list(args) == given:
        return unit
    own = dict(zip(args, unit.body.params, strict=True))
    params = [own[v] if v in own else ir.Var(v.name, v.kind) for v in given]
    if unit not in ir.units([unit.body]):
        unit.function = ir.Function(unit.name, tuple(params), unit.body.block)
        return unit
    value = ir.Var("value", unit.kinds[0])
    twins = {p: ir.Var(p.name, p.kind, p.user) for p in params}
    call = ir.Assign(value, unit, tuple(twins[p] for p in unit.body.params), span=low.span)
    describe(call)
    body = ir.Function(unit.name, tuple(twins.values()), ir.Block([call], (value,)))
    return ir.Unit(unit.name, unit.place, unit.kinds, low, body, recompute=True)


def lower_jumps(low: Lowerer, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """What `jumps(f, count)` returns, by what the body of the closed function shows."""
    f, count = args
    _no_more(low, "jumps", kwargs)
    assert isinstance(f, Partial) and isinstance(count, ir.Const)
    (held,) = f.args
    assert isinstance(held, ir.Const)
    function = held.value.unit.body
    found: list[Value] = [NONE] * len(function.params)
    for jump in jumps(function):
        if min(jump.params) >= count.value:
            continue  # the same everywhere
        names = [function.params[i].name for i in sorted(jump.params) if i >= count.value]
        names = list(dict.fromkeys(names))
        for i in jump.params:
            found[i] = ir.Const(_jump(held.value, names, jump.span))
    return Tuple(tuple(found))


def lower_closed(low: Lowerer, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """The call of a closed function by the code being lowered."""
    held, *rest = args
    assert isinstance(held, ir.Const)
    closed: Closed = held.value
    target = ir.Var("value", closed.kind)
    statement = emit_call(low, closed.unit, tuple(low.operand(a) for a in rest), [target])
    describe(statement)
    return target


def lower_outside(low: Lowerer, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """The call of an `Outside`: as it is, its derivative by the rule that it has."""
    held, *rest = args
    assert isinstance(held, ir.Const)
    made: custom.Outside = held.value
    _no_more(low, made.__name__, kwargs)
    here = len(low.block.statements)
    like = low.call(Place(made.like), rest, {})
    del low.block.statements[here:]
    kind = like.kind if isinstance(like, ir.Var) else kind_of(low.key(like))
    given = [_handed(a) for a in rest]
    out, call = opaque_call(low, made.run, given, kind)

    def rule(d_out: Value) -> Pairs:
        if made.rule is None:
            return []
        found = low.call(Place(made.rule), rest, {"out": out, "d_out": d_out})
        pairs = zip(rest, low.unpacked(found), strict=True)
        return [pair for v, c in pairs for pair in matched(low, v, c)]

    span, call = low.span, replace(call)

    def attach_rule() -> None:
        """The rule may call an `Outside` itself, whose rule is lowered when it is wanted."""
        around, low.span = low.span, span
        try:
            attach(low, call, out, rule)
        finally:
            low.span = around

    call.function.later = attach_rule
    return out


def _handed(value: Value) -> Value:
    """What plain Python is handed: for a closed function, the unit."""
    match value:
        case Partial(args=(ir.Const(value=Closed() as closed),)):
            return ir.Const(closed.unit)
        case Tuple():
            return Tuple(tuple(map(_handed, value.items)))
    return value


def _jump(closed: Closed, names: list[str], place: Any) -> Unknown:
    """The reason why a jump is refused."""
    moves = " and ".join(map(repr, names)) if names else "the solution"
    return Unknown(
        f"{name_of(Place(closed))!r} jumps here, at a place that moves with {moves}: what the jump "
        "adds to the derivative isn't known",
        place,
        "divide the interval at the jump; or, where both sides meet so that nothing jumps, compare "
        "srcgrad.stop_gradient(...) instead",
    )


# Implicit functions


def stationarity(f: Any, x: Any, *args: Any) -> Any:
    return grad(f)(x, *args)


def lower_implicit(low: Lowerer, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """The call of what `implicit_root` or `implicit_minimum` made."""
    held, *rest = args
    assert isinstance(held, ir.Const)
    _no_more(low, "a solver", kwargs)
    made = held.value
    f: Value = Place(made.f)
    if isinstance(made, custom.ImplicitMinimum):
        f = Partial(Place(stationarity), (f,), {})
    return implicit(low, f, made.solve, rest)


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
    _no_more(low, "a solver", kwargs)
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
        x, call = opaque_call(low, solver, [x0, *rest], _root_kind(low, x0))
    if not isinstance(x, ir.Var):
        raise low.refuse("a solver must return an array or a number")

    def rule(d_out: Value) -> Pairs:
        residual, statement = called(low, f, [x, *rest])
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


def variables(low: Lowerer, value: Value) -> Value:
    """A value with its float constants in variables."""

    def leaf(v: ir.Var | ir.Const) -> Value:
        if isinstance(v, ir.Const) and isinstance(v.value, float):
            return low.emit(float, (v,), inferred=Inferred(FLOAT), name="x")
        return v

    return mapped(low, value, leaf)


def _root_kind(low: Lowerer, x0: Value) -> Kind:
    kind = x0.kind if isinstance(x0, ir.Var) else kind_of(low.key(x0))
    if isinstance(kind, Array) and kind.shape is not None and kind.dtype is not None:
        return Array(np.result_type(kind.dtype, np.float64), kind.shape)
    if isinstance(kind, Scalar):
        return FLOAT
    raise low.refuse("the initial guess must be a number or an array of known rank")


def opaque_call(
    low: Lowerer, function: Any, args: list[Value], kind: Kind
) -> tuple[ir.Var, ir.Assign]:
    """The call of a Python function that the compiler doesn't look into, as a unit."""
    operands: list[ir.Operand] = []
    trees = tuple(_tree(low, a, operands) for a in args)
    if any(isinstance(tree, Container) for tree in trees):
        function = Unflattened(function, trees)
    else:
        operands = [low.operand(a) for a in args]
    given = tuple(dict.fromkeys(v for o in operands for v in ir.variables(o)))
    twins = {v: ir.Var(v.name, v.kind, v.user) for v in given}
    inside = tuple(ir.substitute(o, lambda v: twins[v]) for o in operands)
    solution = ir.Var("solution", kind)
    body = ir.Block([ir.Assign(solution, function, inside, span=low.span)], (solution,))
    name = str(getattr(function, "__name__", "solve"))
    unit = ir.Unit(name if name.isidentifier() else "solve", "its solver", (kind,), low)
    unit.function = ir.Function(unit.name, tuple(twins.values()), body)
    target = ir.Var("solution", kind)
    return target, emit_call(low, unit, given, [target])


@dataclass(frozen=True)
class Container:
    """A container or object in an argument: how to make one like it of its items."""

    type: type
    items: dict[Any, Any]  # containers, and the positions of leaves

    def filled(self, leaves: tuple[Any, ...]) -> Any:
        items = {
            k: i.filled(leaves) if isinstance(i, Container) else leaves[i]
            for k, i in self.items.items()
        }
        if issubclass(self.type, dict):
            return self.type(items)
        if issubclass(self.type, (list, tuple)):
            values = items.values()
            return self.type(*values) if hasattr(self.type, "_fields") else self.type(values)
        made = object.__new__(self.type)
        for key, item in items.items():
            object.__setattr__(made, key, item)
        return made


class Unflattened:
    """A function of containers, called with their leaves."""

    def __init__(self, function: Any, trees: tuple[Any, ...]) -> None:
        self.function, self.trees = function, trees
        self.__name__ = str(getattr(function, "__name__", "solve"))

    def __call__(self, *leaves: Any) -> Any:
        return self.function(
            *(t.filled(leaves) if isinstance(t, Container) else leaves[t] for t in self.trees)
        )


def _tree(low: Lowerer, value: Value, leaves: list[ir.Operand]) -> Any:
    """The nesting of an argument, its leaves appended to a list."""
    items: dict[Any, Value] | None = None
    made: type = tuple
    if isinstance(value, Tuple):
        items, made = dict(enumerate(value.items)), value.type
    elif isinstance(value, Ref):
        thing = low.state.heap[value.id]
        if isinstance(thing, ListObject):
            items, made = (None if thing.var else dict(enumerate(thing.items))), list
        elif isinstance(thing, Instance) or not thing.is_set:
            items, made = thing.items, thing.type
    if items is None:
        leaves.append(low.operand(value))
        return len(leaves) - 1
    return Container(made, {k: _tree(low, v, leaves) for k, v in items.items()})


__all__ = ["attach", "called", "lower_custom", "lower_jvp", "lower_pull", "lower_vjp"]
