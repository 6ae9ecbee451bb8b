"""A gradient taken inside a function that is itself compiled: `grad(grad(f))`, inner `grad`s.

The inner gradient is made in IR, where its call stands, by the same stages as an outer one; what
results is ordinary IR, which the outer transformation differentiates like the rest.
"""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from .. import ir
from ..analysis.aliasing import Aliasing
from ..analysis.ownership import settle_augmented
from ..analysis.recalled import check_recalled
from ..copies import check_apart, in_copies, own_copies, unshared
from ..frontend.inlining import is_mutable
from ..frontend.journals import check_journals
from ..frontend.lower import Lowerer
from ..frontend.restarts import Unreached
from ..frontend.structure import held_by, holds_values, leaves, parts, rebuild
from ..frontend.values import (
    Bound,
    Closure,
    DictObject,
    InnerGradient,
    Instance,
    ListObject,
    Partial,
    Place,
    Ref,
    StandIn,
    State,
    Tuple,
    Value,
)
from ..frontend.wording import described
from ..ir import reverse_sweep
from ..kinds import FLOAT, Array, ListOf, Opaque, is_float
from ..optimize.prune import prune, prune_to
from ..optimize.simplify import simplify
from ..results import finished, holds_one, seed_gradient
from ..signature import is_record, signature_of
from ..transform.conformity import demand
from ..transform.recording import record
from ..transform.reverse import Adjoint
from ..transform.splitting import close


def lower_gradient(
    low: Lowerer,
    gradient: Any,
    args: list[Value],
    kwargs: dict[str, Value],
    primal: Value | None = None,
) -> Value:
    """The value of `gradient(*args, **kwargs)`, its statements emitted into `low.block`.

    `primal` is the function to differentiate where it isn't the gradient's own.
    """
    outer_values = bound(low, gradient, args, kwargs)
    outer: dict[ir.Var, ir.Operand] = {}

    def fresh(leaf: ir.Var | ir.Const) -> Value:
        if isinstance(leaf, ir.Const):
            if not isinstance(leaf.value, float):
                return leaf
            var = ir.Var("x", FLOAT)
        else:
            var = ir.Var(leaf.name, leaf.kind, leaf.user, leaf.origins)
        outer[var] = leaf
        return var

    for name, _ in gradient._inputs:
        outer_values[name] = opened(low, outer_values[name])
    by = {name for name, _ in gradient._inputs}
    values = {n: mapped(low, v, fresh, kept=n not in by) for n, v in outer_values.items()}
    targets = [target(low, values, which) for which in gradient._inputs]
    around, low.block = low.block, ir.Block()
    trying, low.trying = low.trying, None
    try:
        given = {name: unshared(low, value) for name, value in values.items()}  # may be written
        args, kwargs = placed(low, gradient, given)
        copying = set(low.block.statements)
        passed = [v for value in given.values() for v in leaves(low, value)]
        before, number = low.state.copy(), len(low.looked_up)
        with low.inner_tables():
            result = low.call(primal or Place(gradient.primal), args, kwargs)
        block = low.block
        ir.rename(block, low.renamed)
    except Unreached:  # what raises stands there
        ir.rename(low.block, outer)
        around.statements += low.block.statements
        raise
    finally:
        low.block, low.trying = around, trying
    met = primal or Place(gradient.primal), *(v for _, v in low.looked_up[number:])
    check_apart(low, outer_values.values(), given.values(), before, met)
    value, aux = result, ir.Const(None)
    if gradient._has_aux:
        if not isinstance(result, Tuple) or len(result.items) != 2:
            raise low.refuse("with has_aux=True the function must return a pair (value, aux)")
        value, aux = result.items  # type: ignore[assignment]
    if not isinstance(value, (ir.Var, ir.Const)) or (
        isinstance(value, ir.Var) and not holds_one(value.kind)
    ):
        raise low.refuse(
            "grad needs a function that returns a number",
            "use jacobian (for second derivatives jacobian(jacobian(f))), or vjp",
        )
    wrt = [v for t in targets for v in leaves(low, t) if is_float(v.kind)]
    function = ir.Function("inner", tuple(outer), block)
    _check_lists(low, block, copying, [*passed, *outer, *ir.variables_of(outer.values())])
    free = _unwritten(low, function)
    copies = own_copies(function, free)
    value, aux = (in_copies(low, v, copies) for v in (value, aux))
    outputs = [value] if isinstance(value, ir.Var) else []
    check_journals(low, function, outputs)
    check_recalled(function, wrt, outputs, low.replaced())
    left = left_behind(low, before, {*outer, *(t for s in ir.walk(block) for t in ir.targets(s))})
    demand(function, low)
    shown = [*outputs, *ir.variables_of(_operands(low, aux)), *left]
    settle_augmented(block, shown)
    prune_to(function, [*shown, *wrt])
    adjoint = _differentiated(low, function, wrt, outputs)
    results: list[ir.Operand] = []

    def derivative(leaf: ir.Var | ir.Const) -> Value:
        operand = finished(adjoint, low, leaf) if isinstance(leaf, ir.Var) else leaf
        results.append(operand)
        return ir.Var(f"result{len(results) - 1}", Opaque(None))

    holders = [mapped(low, t, derivative) for t in targets]
    returned = [value, *_operands(low, aux)]
    place = len(results) + len(returned)
    _finish(function, adjoint, (*results, *returned, *left))
    ir.rename(function.block, outer)
    low.block.statements += [
        s
        for s in function.block.statements
        if not (isinstance(s, ir.Assign) and s.function is reverse_sweep)
    ]
    final = function.block.results

    def settled(leaf: ir.Var | ir.Const) -> Value:
        if isinstance(leaf, ir.Var) and isinstance(leaf.kind, Opaque):
            if leaf.name.startswith("result"):
                operand = final[int(leaf.name[6:])]
                assert isinstance(operand, (ir.Var, ir.Const))
                return operand
        return leaf

    exchange(low, {**outer, **dict(zip(left, final[place:], strict=True))})
    answers = [mapped(low, h, settled) for h in holders]
    single = not isinstance(gradient._argnums, tuple)
    answer: Value = answers[0] if single else Tuple(tuple(answers))
    outer_value = final[len(results)]
    assert isinstance(outer_value, (ir.Var, ir.Const))
    aux = mapped(low, aux, lambda leaf: outer.get(leaf, leaf) if isinstance(leaf, ir.Var) else leaf)  # type: ignore[assignment,arg-type,return-value]
    if gradient._has_aux:
        pair = Tuple((outer_value, aux))
        return Tuple((pair, answer)) if gradient._value else Tuple((answer, aux))
    return Tuple((outer_value, answer)) if gradient._value else answer


def left_behind(low: Lowerer, before: State, inside: set[ir.Var]) -> list[ir.Var]:
    """The variables of a function that are kept by what is outside of it when it is done."""
    known = dict(low.slots(before))
    found: dict[ir.Var, None] = {}
    seen: set[int] = set()

    def visit(value: Any) -> None:
        if isinstance(value, ir.Var):
            found[value] = None
        elif isinstance(value, Ref):
            thing = low.state.heap.get(value.id)
            if thing is None or value.id in seen:
                return
            seen.add(value.id)
            for item in (*held_by(thing), getattr(thing, "var", None)):
                visit(item)
        elif value is not None:
            for part in (*parts(value), getattr(value, "missing", None)):
                visit(part)

    for slot, value in low.slots(low.state):
        there = low.state.frames if slot[0] == "frame" else low.state.heap
        was = before.frames if slot[0] == "frame" else before.heap
        if slot[1] in there and slot[1] in was and known.get(slot) is not value:
            visit(value)
    for number, thing in before.heap.items():
        if isinstance(thing, ListObject) and low.state.heap.get(number) is not thing:
            visit(Ref(number))
    return [v for v in found if v in inside]


def exchange(low: Lowerer, others: dict[ir.Var, ir.Operand]) -> None:
    """Put others in place of some variables, in all that there is."""

    def exchanged(value: Any) -> Any:
        if isinstance(value, ir.Var):
            return others.get(value, value)
        items = parts(value)
        missing = exchanged(value.missing) if isinstance(value, Tuple) else None
        new = list(map(exchanged, items))
        if all(a is b for a, b in zip(items, new, strict=True)):
            if not isinstance(value, Tuple) or missing is value.missing:
                return value
        made = rebuild(value, new)
        if isinstance(made, Tuple):
            made.missing = missing
        return made

    for slot, value in list(low.slots(low.state)):
        new = exchanged(value)
        if new is not value:
            low.put(low.state, slot, new)
    for number, thing in list(low.state.heap.items()):
        if isinstance(thing, ListObject) and thing.var in others:
            var = others[thing.var]
            assert isinstance(var, ir.Var)
            low.state.heap[number] = replace(thing, var=var)


def option(low: Lowerer, value: Value, name: str) -> Any:
    """An option of a derivative, which must be known when compiling."""
    if isinstance(value, ir.Const):
        return value.value
    if isinstance(value, (Tuple, Ref)):
        return tuple(option(low, item, name) for item in low.unpacked(value))
    low.need_static(value, f"{name} must be known when compiling")
    raise AssertionError


OWN_DEFAULT = object()  # the function being lowered knows the default itself


def make_gradient(low: Lowerer, maker: Any, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """The value of `grad(f, ...)`: a Gradient, or that of a function known only to lowering."""
    options = {k: option(low, v, k) for k, v in kwargs.items()}
    if not args:
        return Partial(Place(maker), (), kwargs)
    primal = args[0]
    if len(args) > 1:
        options["argnums"] = option(low, args[1], "argnums")
    if isinstance(primal, ir.Const):
        return Place(maker(primal.value, **options))
    return InnerGradient(maker(stub(low, primal), **options), primal)


def stub(low: Lowerer, primal: Value) -> Any:
    """A function with the parameters of one that exists only in the code being lowered."""

    def stub() -> None: ...

    stub.__signature__ = _signature(low, primal)  # type: ignore[attr-defined]
    function = primal
    while isinstance(function, (Bound, Partial)):
        function = function.function
    stub.__name__ = stub.__qualname__ = str(getattr(function, "name", "function"))
    return stub


def _signature(low: Lowerer, primal: Value) -> inspect.Signature:
    """The parameters of a function, with `OWN_DEFAULT` for the defaults it knows itself."""
    match primal:
        case Bound():
            whole = _signature(low, primal.function)
            return whole.replace(parameters=list(whole.parameters.values())[1:])
        case InnerGradient():
            return inspect.signature(primal.gradient)
        case Partial(args=(ir.Const(StandIn() as held), *_)) if held.signature is not None:
            return held.signature
        case Partial():
            given = [OWN_DEFAULT] * len(primal.args)
            named = dict.fromkeys(primal.kwargs, OWN_DEFAULT)
            inner = stub(low, primal.function)
            return inspect.signature(functools.partial(inner, *given, **named))
        case ir.Const():
            return signature_of(primal.value)
        case Closure():
            return _parameters(low, primal.node.args)
    raise low.refuse("the gradient of this object can't be taken here")


def _parameters(low: Lowerer, a: Any) -> inspect.Signature:
    P = inspect.Parameter
    positional = [*a.posonlyargs, *a.args]
    required = len(positional) - len(a.defaults)
    found = [
        P(low.argument_name(p), P.POSITIONAL_OR_KEYWORD,
          default=P.empty if i < required else OWN_DEFAULT)
        for i, p in enumerate(positional)
    ]  # fmt: skip
    if a.vararg is not None:
        found.append(P(low.argument_name(a.vararg), P.VAR_POSITIONAL))
    for p, default in zip(a.kwonlyargs, a.kw_defaults, strict=True):
        kind = P.empty if default is None else OWN_DEFAULT
        found.append(P(low.argument_name(p), P.KEYWORD_ONLY, default=kind))
    if a.kwarg is not None:
        found.append(P(low.argument_name(a.kwarg), P.VAR_KEYWORD))
    return inspect.Signature(found)


def opened(low: Lowerer, value: Value) -> Value:
    """A value by which derivatives are taken, the objects from outside in it with attributes."""
    if isinstance(value, Place) and is_record(value.value):
        taken = low.brought_in(value)
        if isinstance(taken, Place):
            raise low.refuse(
                f"derivatives are taken here by {described(value)}, which is found outside",
                "pass it as an argument",
            )
        return opened(low, taken)
    thing = value if isinstance(value, Tuple) else low.on_heap(value)
    if thing is None or (isinstance(thing, ListObject) and thing.var is not None):
        return value
    named = thing.items if isinstance(thing.items, dict) else dict(enumerate(thing.items))
    made = {key: opened(low, item) for key, item in named.items()}
    if all(made[key] is item for key, item in named.items()):
        return value  # which others may hold, too
    items: Any = made if isinstance(thing.items, dict) else tuple(made.values())
    if isinstance(thing, Tuple):
        return replace(thing, items=items)
    return low.new(replace(thing, items=items, external=None, frozen=None))


def mapped(low: Lowerer, value: Value, leaf: Callable[[Any], Value], kept: bool = False) -> Value:
    """A value of the same nesting, its numbers and arrays replaced.

    `kept`: lists that are one value at run time, too, if they hold nothing that can be written.
    """
    match value:
        case Place():
            return value
        case ir.Var() | ir.Const():
            return leaf(value)
        case Tuple():
            return Tuple(tuple(mapped(low, item, leaf, kept) for item in value.items), value.type)
        case Ref():
            thing = low.state.heap[value.id]
            if isinstance(thing, ListObject):
                if thing.var is not None:
                    if not kept or not holds_values(thing.var.kind):
                        raise low.refuse(
                            "a list that is built in a loop can't be passed to an inner gradient"
                        )
                    held = leaf(thing.var)
                    assert isinstance(held, ir.Var)
                    if thing.var in low.lengths:
                        low.lengths[held] = low.lengths[thing.var]
                    return low.new(replace(thing, var=held, external=None))
                items = tuple(mapped(low, item, leaf, kept) for item in thing.items)
                return low.new(ListObject(items))
            named = {k: mapped(low, item, leaf, kept) for k, item in thing.items.items()}
            if isinstance(thing, Instance):
                return low.new(Instance(thing.type, named))
            return low.new(replace(thing, items=named, external=None, frozen=None))
    return value


def _check_lists(
    low: Lowerer, block: ir.Block, copying: set[ir.Statement], passed: list[ir.Var]
) -> None:
    """Refuse to write lists that are one value and are passed: others may be the same list.

    `copying` is what has made those that are passed.
    """
    aliasing = Aliasing(block)
    written = aliasing.written_by(*(s for s in block.statements if s not in copying))
    for v in passed:
        if isinstance(v.kind, ListOf) and aliasing.find(v) in written:
            raise low.refuse(
                "a list that is built in a loop is passed to a function that writes it",
                "pass an array, or copy it there: list(...)",
            )


def bound(
    low: Lowerer, gradient: Any, args: list[Value], kwargs: dict[str, Value]
) -> dict[str, Value]:
    """The arguments by parameter."""
    signature: inspect.Signature = gradient._signature
    try:
        given = signature.bind(*args, **kwargs)
    except TypeError as error:
        raise low.refuse(str(error)) from None
    values: dict[str, Value] = {}
    for name, parameter in signature.parameters.items():
        if name in given.arguments:
            value = given.arguments[name]
            if parameter.kind is parameter.VAR_POSITIONAL:
                value = Tuple(tuple(value))
            elif parameter.kind is parameter.VAR_KEYWORD:
                value = low.new(DictObject(dict(value)))
            values[name] = value
        elif parameter.kind is parameter.VAR_POSITIONAL:
            values[name] = Tuple(())
        elif parameter.kind is parameter.VAR_KEYWORD:
            values[name] = low.new(DictObject({}))
        elif parameter.default is not OWN_DEFAULT and not is_mutable(parameter.default):
            values[name] = low.lift(parameter.default, None)
    return values


def placed(
    low: Lowerer, gradient: Any, values: dict[str, Value]
) -> tuple[list[Value], dict[str, Value]]:
    """The arguments of a call, from those by parameter; defaults of its own are left out."""
    args: list[Value] = []
    kwargs: dict[str, Value] = {}
    left_out = False
    for name, parameter in gradient._signature.parameters.items():
        if name not in values:
            left_out = True
            continue
        match parameter.kind:
            case parameter.VAR_POSITIONAL:
                args += low.unpacked(values[name])
            case parameter.VAR_KEYWORD:
                kwargs.update(low.dictionary(values[name]).items)
            case parameter.KEYWORD_ONLY:
                kwargs[name] = values[name]
            case _ if left_out:
                kwargs[name] = values[name]
            case _:
                args.append(values[name])
    return args, kwargs


def target(low: Lowerer, values: dict[str, Value], which: tuple[str, Any]) -> Value:
    name, part = which
    value = values[name]
    if part is None:
        return value
    if isinstance(part, str):
        item: Value = low.dictionary(value).items[part]
        return item
    assert isinstance(value, Tuple)
    at: int = part
    return value.items[at]


def _unwritten(low: Lowerer, function: ir.Function) -> set[ir.Var]:
    """What a function refers to of the code around, which it mustn't write."""
    aliasing = Aliasing(function.block)
    free = ir.free_variables(function.block).keys() - set(function.params)
    for v in free:
        if isinstance(v.kind, Array) and aliasing.is_written(v):
            raise low.refuse(
                f"{v.name!r} is written inside a function whose gradient is taken here",
                "pass a copy of it as an argument",
            )
    return free


def _differentiated(
    low: Lowerer, function: ir.Function, wrt: list[ir.Var], outputs: list[ir.Var]
) -> Adjoint:
    """The forward and the reverse sweep of a function, in an Adjoint that can finish it."""
    adjoint = Adjoint(function, wrt, outputs)
    adjoint.within(low)
    adjoint.again = True
    function.block = adjoint.augment(function.block)
    adjoint.block = ir.Block()
    adjoint.act(reverse_sweep)
    seed_gradient(adjoint, outputs)
    adjoint.reverse(function.block)
    return adjoint


def _finish(function: ir.Function, adjoint: Adjoint, results: tuple[ir.Operand, ...]) -> None:
    marker = adjoint.block.statements[0]
    function.block = ir.Block(function.block.statements + adjoint.block.statements, results)
    prune(function)
    simplify(function)  # what is differentiated again should be short
    prune(function)
    position = function.block.statements.index(marker)
    record(function, position, adjoint)
    prune(function)
    close(function)


def _operands(low: Lowerer, aux: Value) -> list[ir.Operand]:
    return list(leaves(low, aux))
