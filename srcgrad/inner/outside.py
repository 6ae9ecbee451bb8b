"""Functions that the compiler doesn't look into, and functions that are handed to them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.linalg import LinAlgError

from .. import custom, ir, runtime, units
from ..analysis.jumps import jumps
from ..frontend.effects import describe, emit_call
from ..frontend.lower import Lowerer
from ..frontend.predicates import NONE
from ..frontend.structure import leaves, nothing
from ..frontend.values import Instance, ListObject, Partial, Place, Ref, Tuple, Value
from ..kinds import BOOL, FLOAT, Kind, Opaque, is_float, kind_of
from ..packages import told
from ..rules.registry import Unknown
from .calls import called, name_of, no_more
from .captures import read_before
from .gradients import mapped
from .rules import Pairs, attach, matched

# What a solver raises that finds no solution, or is given what it can't solve
FAILURES = (LinAlgError, ValueError, RuntimeError, ZeroDivisionError, OverflowError)


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
    no_more(low, "close", kwargs)

    def standing(v: ir.Var | ir.Const) -> Value:
        if isinstance(v, ir.Var):
            return ir.Var(v.name, v.kind)
        if isinstance(v.value, np.ndarray):
            return ir.Var("x", kind_of(v.value))
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
    read_before(low, call, varying)
    captured = [v for v in call.args if v not in varying]
    low.block.statements.remove(call)
    moving = [v for v in captured if isinstance(v, ir.Var) and is_float(v.kind)]
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
    twins = {p: p.anew() for p in params}
    call = ir.Assign(value, unit, tuple(twins[p] for p in unit.body.params), span=low.span)
    describe(call)
    body = ir.Function(unit.name, tuple(twins.values()), ir.Block([call], (value,)))
    return ir.Unit(unit.name, unit.place, unit.kinds, low, body, recompute=True)


def lower_jumps(low: Lowerer, args: list[Value], kwargs: dict[str, Value]) -> Value:
    """What `jumps(f, count)` returns, by what the body of the closed function shows."""
    f, count = args
    no_more(low, "jumps", kwargs)
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
    no_more(low, made.__name__, kwargs)
    here = len(low.block.statements)
    trying, low.trying = low.trying, None
    like = low.call(Place(made.like), rest, {})
    low.trying = trying
    del low.block.statements[here:]
    kind = like.kind if isinstance(like, ir.Var) else kind_of(low.key(like))
    given = [_handed(a) for a in rest]
    guard_outside(low, made.run, given)
    out, call = opaque_call(low, made.run, given, kind)

    def rule(d_out: Value) -> Pairs:
        if made.rule is None:
            return []
        found = low.call(Place(made.rule), rest, {"out": out, "d_out": d_out})
        _only_where_needed(low.block)
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


def _only_where_needed(block: ir.Block) -> None:
    """Have a rule call what it is given for the sake of the values alone.

    What an integrand raises at an endpoint, say, isn't the program's: SciPy doesn't ask for it.
    """
    statements = list(ir.walk(block))
    used = {v for s in statements for v in ir.uses(s)}
    for s in statements:
        if isinstance(s, ir.Assign) and isinstance(s.function, ir.Unit) and s.target in used:
            s.effect = False


def _handed(value: Value) -> Value:
    """What plain Python is handed: for a closed function, the unit."""
    match value:
        case Partial(args=(ir.Const(value=Closed() as closed),)):
            return ir.Const(closed.unit)
        case Tuple():
            return Tuple(tuple(map(_handed, value.items)))
    return value


def guard_outside(low: Lowerer, function: Any, args: list[Value]) -> None:
    """Inside a try: find out first whether a call fails, of a solver that finds nothing, say."""
    asked: dict[Any, list[type[BaseException]]] = {}
    for exception in FAILURES:
        trying = low.catcher(exception) if low.trying is not None else None
        if trying is not None:
            named = next(c for c in trying.caught if issubclass(exception, c))
            asked.setdefault((trying, named), []).append(exception)
    for exceptions in asked.values():
        which = (ir.Pack(tuple, tuple(ir.Const(e) for e in exceptions)), ir.Const(function))
        failed, _ = opaque_call(low, runtime.fails, args, BOOL, which)

        def fail(which: Any = which, exceptions: Any = tuple(exceptions)) -> None:
            kind = Opaque(None if exceptions[1:] else exceptions[0])
            error, _ = opaque_call(low, runtime.failure, args, kind, which)
            low.throw_one_of(exceptions, error)

        low.branch(failed, fail, nothing)


def opaque_call(
    low: Lowerer, function: Any, args: list[Value], kind: Kind, first: tuple[Any, ...] = ()
) -> tuple[ir.Var, ir.Assign]:
    """The call of a Python function that the compiler doesn't look into, as a unit.

    `first` are constants that it is given before its arguments.
    """
    operands: list[ir.Operand] = []
    trees = tuple(_tree(low, a, operands) for a in args)
    if any(isinstance(tree, Container) for tree in trees):
        if first:  # the last of them is the function
            first = (*first[:-1], ir.Const(Unflattened(first[-1].value, trees)))
        else:
            function = Unflattened(function, trees)
    else:
        operands = [low.operand(a) for a in args]
    given = tuple(dict.fromkeys(v for o in operands for v in ir.variables(o)))
    twins = {v: v.anew() for v in given}
    inside = tuple(ir.substitute(o, lambda v: twins[v]) for o in operands)
    solution = ir.Var("solution", kind)
    body = ir.Block([ir.Assign(solution, function, (*first, *inside), span=low.span)], (solution,))
    called_here = first[-1].value if first else function
    name = str(told(called_here, "__name__", "solve"))
    name = name if name.isidentifier() else "solve"
    unit = ir.Unit(f"{name}_{function.__name__}" if first else name, "its solver", (kind,), low)
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
        if issubclass(self.type, tuple):
            return runtime.tuple_of(self.type, items.values())
        if issubclass(self.type, list):
            return self.type(items.values())
        return runtime.make_object(self.type, items)


class Unflattened:
    """A function of containers, called with their leaves."""

    def __init__(self, function: Any, trees: tuple[Any, ...]) -> None:
        self.function, self.trees = function, trees
        self.__name__ = str(told(function, "__name__", "solve"))

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
