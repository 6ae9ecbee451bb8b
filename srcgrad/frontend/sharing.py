"""Long functions that are called at several places: units, one for all calls that are alike.

Inlining a function of a hundred statements at ten places makes a gradient that takes long to
compile and that nobody reads. Such a function is lowered as a unit at each place instead, and
calls whose units do the same call one of them. Only a *pure* function is: what it takes and
returns, variables of the code around included, is numbers and arrays of their own (each result its
own), and it writes no array that was there before. Of all else inlining knows more.
"""

from __future__ import annotations

import dataclasses
import types
from collections import Counter
from collections.abc import Hashable, Iterable
from dataclasses import dataclass, field
from typing import Any

from .. import ir
from ..analysis.keys import constant_key
from ..errors import UnsupportedError
from ..kinds import Array, Scalar, Size
from .effects import REPEATABLE
from .restarts import Unshared
from .units import Making, Wanted, identity, lower_unit
from .values import Closure, Value

LEAST = 40  # statements of a function that is worth it
FEWEST = 2  # calls for each of its units


@dataclass(eq=False)
class Calls:
    """What lowerings have shown of the functions that are called.

    `lengths` says how many statements the longest call became that was inlined; of the functions in
    `inlined` all calls are to be, as those in `impure` were found not to be pure.
    """

    lengths: dict[Any, int] = field(default_factory=dict)
    inlined: set[Any] = field(default_factory=set)
    impure: set[Any] = field(default_factory=set)

    def note(self, function: Any, length: int) -> None:
        self.lengths[function] = max(length, self.lengths.get(function, 0))

    def long(self) -> frozenset[Any]:
        """The functions that may be worth sharing."""
        known = self.lengths.items()
        return frozenset(f for f, n in known if n >= LEAST and f not in self.inlined)


def shared_call(low: Any, closure: Closure, values: dict[str, Value]) -> Value:
    """The call of a function as a unit, the same as in other calls that do the same.

    What isn't pure is one of its own, for the time being, so that all such are found at once.

    Raises:
        Unshared: it can't be a unit.
    """
    before, function = low.emitted, identity(closure)
    try:
        making, value, call = lower_unit(low, closure, values, Wanted())
    except UnsupportedError:
        raise Unshared(frozenset((function, *low.calls.impure))) from None
    unit: ir.Unit = call.function
    if not _is_pure(low, making, call):
        low.calls.impure.add(function)
        return value
    names = {v: name for name, v in values.items() if isinstance(v, ir.Var)}
    for v, param in zip(reversed(making.captured), reversed(unit.body.params), strict=False):
        param.name = names.get(v, param.name)
    call.function = low.units.setdefault(_Structure().unit(unit), unit)
    if call.function is not unit:
        low.emitted = before + 1
    low.shared_units[call.function] = function
    return value


def check_shared(low: Any, function: ir.Function) -> None:
    """Check that functions that are shared have fewer units than calls, and all are that may be.

    Raises:
        Unshared: there is more to learn, or some haven't.
    """
    if low.shared is None:
        return
    bodies = [function, *(unit.body for unit in ir.units([function]))]
    called = [
        s.function for body in bodies for s in ir.walk(body.block)
        if isinstance(s, ir.Assign) and s.function in low.shared_units
    ]  # fmt: skip
    calls = Counter(low.shared_units[unit] for unit in called)
    units = Counter(low.shared_units[unit] for unit in set(called))
    alone = {f for f in low.shared if calls[f] < FEWEST * max(units[f], 1)} | low.calls.impure
    if alone or low.shared != low.calls.long():
        raise Unshared(frozenset(alone))


def _is_pure(low: Any, making: Making, call: ir.Assign) -> bool:
    body, unit = making.unit.body, making.unit
    assigned = (s for s in ir.walk(body.block) if isinstance(s, ir.Assign) and s.effect)
    numbers: Iterable[Any] = (*(p.kind for p in body.params), *unit.kinds)
    groups = unit.shares or ()
    return (
        not (making.recursive or call.writes or call.views)
        # where it is None it has no adjoint, and where it has no value it can't be given
        and not any(v.optional or v.partial for v in ir.uses(call))
        and not any(sum(position < 0 for position, _ in group) > 1 for group in groups)
        and unit.changes is None
        and all(s.function in low.shared_units or s.function in REPEATABLE for s in assigned)
        and all(isinstance(kind, (Array, Scalar)) for kind in numbers)
    )


class _Structure:
    """What a unit does, as a value: equal for units that do the same with what they are given.

    Variables and dimensions are numbered in the order in which they are met.
    """

    def __init__(self) -> None:
        self.variables: dict[ir.Var, int] = {}
        self.sizes: dict[int, int] = {}

    def unit(self, unit: ir.Unit) -> Hashable:
        body = unit.body
        return (
            tuple(map(self.operand, body.params)), self.block(body.block),
            tuple(map(self.kind, unit.kinds)), unit.shares,
        )  # fmt: skip

    def block(self, block: ir.Block) -> Hashable:
        return tuple(map(self.statement, block.statements)), self.operands(block.results)

    def statement(self, s: ir.Statement) -> Hashable:
        match s:
            case ir.Assign():
                keywords = tuple((name, self.operand(value)) for name, value in s.kwargs)
                written = self.operands(s.views), self.operands(s.writes), s.certain, s.effect
                parts = self.operands(s.args), keywords, self.operand(s.target), written
                return _value(s.function), parts, s.span
            case ir.If():
                branches = self.block(s.then), self.block(s.orelse)
                return self.operand(s.test), branches, self.operands(s.targets), s.span
        index, bounds = self.operands((s.index,) if s.index else ()), self.operands(s.range or ())
        start = index, bounds, self.operands(s.inits), self.operands(s.params)
        end = self.block(s.body), self.operands(s.targets)
        return start, end, s.range is None, s.exits, s.backwards, s.span

    def operands(self, operands: Iterable[ir.Operand]) -> Hashable:
        return tuple(map(self.operand, operands))

    def operand(self, operand: ir.Operand) -> Hashable:
        match operand:
            case ir.Const():
                return _value(operand.value)
            case ir.Pack():
                return operand.type, self.operands(operand.items)
        if operand in self.variables:
            return self.variables[operand]
        number = self.variables[operand] = len(self.variables)
        return number, self.kind(operand.kind), operand.optional, operand.partial

    def kind(self, part: Any) -> Hashable:
        """A kind, or a part of one."""
        if isinstance(part, Size):
            number = self.sizes.setdefault(part.base, len(self.sizes))
            return "size", number, part.offset, part.big
        if isinstance(part, tuple):
            return tuple(map(self.kind, part))
        if dataclasses.is_dataclass(part) and not isinstance(part, type):
            fields = dataclasses.fields(part)
            return type(part), *(self.kind(getattr(part, field.name)) for field in fields)
        return _value(part)


def _value(value: Any) -> Hashable:
    """A constant: by its value if that is plain, else as the object that it is.

    A method of an object, as `np.add.at`, is made anew when it is asked for.
    """
    if isinstance(value, (types.BuiltinMethodType, types.MethodType)):
        return type(value), value
    return constant_key(value) or _Same(value)


class _Same:
    """An object that equals itself alone."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _Same) and self.value is other.value

    def __hash__(self) -> int:
        return id(self.value)
