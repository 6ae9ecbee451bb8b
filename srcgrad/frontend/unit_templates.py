"""What the calls of a unit have in common, and what differs from call to call: templates.

Of the arguments, the outer variables and the result of a unit (`units.py`), a template says what
is the same in all calls, and of which kind the rest is: `Widened` leaves, `Mold`s of objects.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from .. import ir
from ..kinds import INT, Array, Kind, ListOf, Scalar, Size, fresh_size, parts_like
from .restarts import Materialize
from .structure import (
    Mold,
    Widened,
    as_optional,
    held_by,
    object_items,
    objects_in_key,
    parts,
    rebuild,
    with_items,
)
from .values import (
    Choice,
    Closure,
    DictObject,
    Generator,
    InnerGradient,
    ListObject,
    Ref,
    Sequence,
    State,
    Tuple,
    Value,
)

if TYPE_CHECKING:
    from .units import Making


def templated(low: Any, making: Making, value: Any, end: State, inner: set[ir.Var]) -> Any:
    """The template of a result: what is made in the function has another value in each call."""
    match value:
        case ir.Var():
            if value not in inner and not making.wanted.every:
                return value
            text = value.name if value.user else "result"
            return Widened(value.kind, text, value.optional, value.partial)
        case Ref():
            if value.id in making.entry.heap:
                return value
            thing = end.heap[value.id]
            if isinstance(thing, ListObject) and thing.var is not None:
                return Widened(thing.var.kind, "items", thing.var.optional)
            if isinstance(thing, DictObject) and any(map(objects_in_key, thing.items)):
                raise low.refuse(
                    f"{making.closure.name!r} is compiled as a function, and makes a dict or set "
                    "whose keys are objects"
                )
            items = [templated(low, making, item, end, inner) for item in object_items(thing)]
            return Mold(replace(with_items(thing, items), external=None))
        case Closure() | Generator() | Sequence() | InnerGradient():
            raise low.refuse(
                f"{making.closure.name!r} is compiled as a function, and returns a function "
                "or an iterator",
                "return numbers, arrays, or containers of them",
            )
    inside = [templated(low, making, v, end, inner) for v in parts(value)]
    if isinstance(value, Choice) and isinstance(inside[0], Widened):
        inside[0] = Widened(INT, "choice")  # of two options it may have been a bool
    return rebuild(value, inside) if inside else value


def instantiated(low: Any, making: Making, template: Any, fresh: dict[int, Size]) -> Any:
    """What a call returns: new variables, with dimensions of their own."""
    value = low.instantiate(template, low.state, None)
    for v in leaves_of(low, template, value, low.state):
        if isinstance(v, ir.Var):
            v.kind, v.user = _renewed(v.kind, making.oldest, fresh), False
    return value


def _renewed(kind: Any, oldest: int, fresh: dict[int, Size]) -> Any:
    """A kind in which the dimensions made inside the function are new ones."""

    def size(n: Any) -> Any:
        if not isinstance(n, Size) or n.base <= oldest:
            return n
        new = fresh.setdefault(n.base, fresh_size(n.big))
        return Size(new.base, n.offset, n.big)

    match kind:
        case Array() if kind.shape is not None:
            return Array(kind.dtype, tuple(map(size, kind.shape)))
        case Scalar() if kind.size is not None:
            return replace(kind, size=size(kind.size))
        case ListOf():
            items = kind.item
            if isinstance(items, tuple):
                return replace(
                    kind, item=parts_like(items, (_renewed(k, oldest, fresh) for k in items))
                )
            return replace(kind, item=_renewed(items, oldest, fresh))
    return kind


def leaves_of(low: Any, template: Any, value: Any, state: State) -> Iterator[ir.Operand]:
    """The operands that stand for the widened leaves of a template in a value."""
    if isinstance(template, Widened):
        if isinstance(value, Ref):
            thing = state.heap[value.id]
            assert isinstance(thing, ListObject)
            if thing.var is None:
                raise Materialize(value, low.span)
            value = thing.var
        yield value
    elif isinstance(template, Mold):
        if isinstance(value, Ref):
            items = object_items(state.heap[value.id])
        else:
            items = [ir.UNDEFINED] * len(object_items(template.thing))
        for t, item in zip(object_items(template.thing), items, strict=True):
            yield from leaves_of(low, t, item, state)
    else:
        if isinstance(template, Choice):
            before, low.state = low.state, state
            value = low.as_choice(value, template)
            low.state = before
        if isinstance(template, Tuple) and template.missing is not None:
            value = as_optional(value, template)
        inside = parts(template)  # none of what a use is refused of, whatever the value
        values = (parts(value) if inside else []) or [ir.UNDEFINED] * len(inside)
        for t, item in zip(inside, values, strict=True):
            yield from leaves_of(low, t, item, state)


def kinds_of(template: Any) -> Iterator[Kind]:
    """The kinds of the widened leaves of a template."""
    if isinstance(template, Widened):
        yield template.kind
    else:
        inside = object_items(template.thing) if isinstance(template, Mold) else parts(template)
        for t in inside:
            yield from kinds_of(t)


def parameters_of(low: Any, making: Making, start: State) -> list[ir.Operand]:
    """The variables that hold the arguments and the outer variables when a call starts."""
    return [v for template, value in making.own for v in leaves_of(low, template, value, start)]


def operands_given(
    low: Any, making: Making, values: dict[str, Value], state: State
) -> list[ir.Operand]:
    """The operands of a call: what its arguments and the outer variables hold in a state."""
    found: list[ir.Operand] = []
    for name, template in making.args.items():
        found += leaves_of(low, template, values[name], state)
    held = dict(low.slots(state))
    for slot, template in making.slots.items():
        found += leaves_of(low, template, held.get(slot, low.absent(state, slot)), state)
    return found


def variables_in(values: Iterable[Any], state: State) -> dict[ir.Var, None]:
    """The variables in some values, in the order in which they are met."""
    found: dict[ir.Var, None] = {}
    seen: set[int] = set()  # the objects that have been looked into
    waiting = list(values)[::-1]
    while waiting:
        value = waiting.pop()
        if isinstance(value, ir.Var):
            found[value] = None
        elif not isinstance(value, Ref):
            waiting += reversed(parts(value))
        elif value.id not in seen:
            seen.add(value.id)
            thing = state.heap.get(value.id)
            if isinstance(thing, ListObject) and thing.var is not None:
                found[thing.var] = None
            elif thing is not None:
                waiting += reversed(held_by(thing))
    return found


def options_in(values: Iterable[Any]) -> Iterator[Value]:
    """The options of choices in some values."""
    for value in values:
        if isinstance(value, Choice):
            yield from value.options
        else:
            yield from options_in(parts(value))
