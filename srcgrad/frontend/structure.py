"""The structure of abstract values: their parts, their likeness, and templates of them."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from dataclasses import dataclass, replace
from itertools import product
from typing import Any, TypeGuard

import numpy as np

from .. import ir
from ..errors import Span
from ..kinds import (
    NOTHING,
    Array,
    Fields,
    Kind,
    ListOf,
    Opaque,
    Reference,
    Scalar,
    Size,
    TupleOf,
    fresh_size,
)
from .predicates import FALSE, NUMBERS, TRUE, is_none, is_plain, leaf_kind, same_constant
from .set_orders import Order
from .tables import KINDS_OF_TABLES, Keys, View
from .values import (
    KEPT,
    Bound,
    Choice,
    Closure,
    DictObject,
    Generator,
    Heap,
    Instance,
    ListObject,
    Partial,
    Path,
    Ref,
    Sequence,
    Slice,
    State,
    Tuple,
    Value,
)


class Absent:
    """What stands for an attribute that an object doesn't have on some paths."""


ABSENT = ir.Const(Absent())
PRESENCE = "whether this object has the attribute isn't known when compiling"


OR_DEQUE = "whether this is a list or a deque isn't known when compiling"
FLAGS = frozenset({"%stop", "%break", "%returned"})
BOUND = "%bound "  # begins the name of the flag that says whether a name is bound


@dataclass(eq=False, slots=True)
class Poison:
    """A value that can't be described; it is an error only if the program uses it."""

    message: str
    span: Span | None
    origins: frozenset[Any] = frozenset()
    site: int | None = None  # of a dict's key: the expression that makes the dict


@dataclass(eq=False, slots=True)
class Widened:
    """A leaf of a loop parameter: any value of a kind."""

    kind: Kind
    name: str
    optional: bool = False
    partial: bool = False
    origins: frozenset[Any] = frozenset()  # what would tell the rank of an array if it were known


@dataclass(eq=False, slots=True)
class Mold:
    """A loop parameter that is another object in each iteration: one with templates as items."""

    thing: Heap
    site: int | None = None  # the expression that makes the objects


COMPOUND = (Tuple, Slice, Bound, Partial, Choice, Closure)


def parts(value: Any) -> list[Any]:
    """The values that a compound value holds."""
    match value:
        case Tuple():
            return [*value.items] if value.missing is None else [*value.items, value.missing]
        case Slice():
            return [value.start, value.stop, value.step]
        case Bound():
            return [value.function, value.receiver]
        case Partial():
            return [value.function, *value.args, *value.kwargs.values()]
        case Choice():
            return [value.index, *value.options]
        case Closure():
            return [*value.defaults, *value.keyword_defaults.values()]
    return []


def part_names(name: Any, value: Any) -> list[Any]:
    """What to call the parts of a value that has this name."""
    count = len(parts(value))
    optional = isinstance(value, Tuple) and value.missing is not None
    return [name] * (count - 1) + ["missing"] if optional else [name] * count


def rebuild(value: Any, items: list[Any]) -> Any:
    """The compound value with other parts."""
    match value:
        case Tuple() if value.missing is not None:
            *held, missing = items
            known = isinstance(missing, ir.Const) and missing.value is False
            return Tuple(tuple(held), value.type, None, None if known else missing)
        case Tuple():
            return Tuple(tuple(items), value.type)
        case Slice():
            return Slice(*items)
        case Bound():
            return Bound(*items)
        case Partial():
            count = len(value.args) + 1
            named = dict(zip(value.kwargs, items[count:], strict=True))
            return Partial(items[0], tuple(items[1:count]), named)
        case Choice():
            return Choice(items[0], tuple(items[1:]))
        case Closure() if items:
            count = len(value.defaults)
            named = dict(zip(value.keyword_defaults, items[count:], strict=True))
            return replace(value, defaults=tuple(items[:count]), keyword_defaults=named)
    return value


def alike(a: Any, b: Any) -> bool:
    """Whether two compound values are of the same form."""
    if type(a) is not type(b) or not isinstance(a, COMPOUND):
        return False
    if isinstance(a, Tuple):
        return is_like(a, b) and (a.missing is None) == (b.missing is None)
    if isinstance(a, Partial):
        return len(a.args) == len(b.args) and list(a.kwargs) == list(b.kwargs)
    if isinstance(a, Choice):
        pairs = zip(a.options, b.options, strict=False)
        return len(a.options) == len(b.options) and all(interchangeable(*p) for p in pairs)
    if isinstance(a, Closure):
        return a.node is b.node and a.frame == b.frame and len(parts(a)) == len(parts(b))
    return True


def is_like(a: Tuple, b: Tuple) -> bool:
    """Whether two tuples are of one type and length; one may be None instead."""
    return len(a.items) == len(b.items) and a.type is b.type


def optional_tuples(a: Any, b: Any) -> tuple[Any, Any]:
    """Two values, as tuples that may be None if that is what either is where the other is one."""
    known = b if isinstance(b, Tuple) else a
    if not isinstance(known, Tuple):
        return a, b
    if isinstance(a, Tuple) and isinstance(b, Tuple):
        if not is_like(a, b) or (a.missing is None) == (b.missing is None):
            return a, b
    elif not (is_none(a) or is_none(b)):
        return a, b
    return as_optional(a, known), as_optional(b, known)


def as_optional(value: Any, like: Tuple) -> Any:
    """None, or a tuple like another one, as a tuple that may be None."""
    if is_none(value):
        return Tuple((ir.UNDEFINED,) * len(like.items), like.type, None, TRUE)  # type: ignore[arg-type]
    if isinstance(value, Tuple) and value.missing is None and is_like(value, like):
        return Tuple(value.items, value.type, None, FALSE)  # type: ignore[arg-type]
    return value


def same_option(a: Any, b: Any) -> bool:
    """Whether two functions or objects are surely the same."""
    if a is b or (isinstance(a, Ref) and a == b):
        return True
    if isinstance(a, ir.Const) and isinstance(b, ir.Const):
        return same_constant(a.value, b.value)
    return alike(a, b) and all(map(same_option, parts(a), parts(b)))


def interchangeable(a: Any, b: Any) -> bool:
    """Whether two options are one: numbers, like tuples, or a function of other arguments."""
    if isinstance(a, (Bound, Partial)) and alike(a, b):
        return same_option(a.function, b.function)
    if isinstance(a, (Tuple, Closure)) and alike(a, b):
        return True
    return same_option(a, b) or (leaf_family(a) is not None and leaf_family(a) == leaf_family(b))


def leaf_family(value: Any) -> Any:
    """What variables have in common that may be one option; None if a value can't be such a one."""
    if isinstance(value, ir.Const):
        return NUMBERS if isinstance(value.value, NUMBERS) else None
    match getattr(value, "kind", None) if isinstance(value, (ir.Var, Widened)) else None:
        case Array() | Scalar():
            return NUMBERS
        case Opaque(type=cls) if cls is not type(None):
            return (Opaque, cls)
        case Reference(table=table):
            return table
    return None


def is_absent(value: Any) -> bool:
    """Whether a value stands for an attribute that isn't there."""
    return isinstance(value, ir.Const) and isinstance(value.value, Absent)


def may_be_absent(value: Any) -> bool:
    """Whether a value stands for an attribute that isn't there on some paths."""
    return is_absent(value) or (isinstance(value, Choice) and any(map(is_absent, value.options)))


def same_layout(p: Heap, q: Heap) -> bool:
    """Whether two objects have the same names of values, in the same order."""
    if isinstance(p, ListObject) or isinstance(q, ListObject):
        return (
            isinstance(p, ListObject)
            and isinstance(q, ListObject)
            and p.var is None
            and q.var is None
            and len(p.items) == len(q.items)
            and p.type is q.type
        )
    if type(p) is not type(q) or list(p.items) != list(q.items):
        return False
    if isinstance(p, Instance) and isinstance(q, Instance):
        return p.type is q.type
    if not isinstance(p, DictObject) or not isinstance(q, DictObject):
        return False
    return p.type is q.type and same_order(p, q)


def is_list(template: Any) -> bool:
    """Whether a loop carries a list that exists at run time."""
    return isinstance(template, Widened) and isinstance(template.kind, ListOf)


def may_be_twins(p: Heap, q: Heap) -> bool:
    """Whether two objects may be one option: of one layout, or lists that exist at run time."""
    if isinstance(p, ListObject) and isinstance(q, ListObject):
        return p.var is not None and q.var is not None and p.type is q.type
    return same_layout(p, q)


def list_held_by(var: ir.Var) -> ListObject:
    """The list that a variable is at run time."""
    assert isinstance(var.kind, ListOf)
    return ListObject((), var, type=var.kind.type)


def has_layout(thing: Any) -> bool:
    """Whether objects like this one may be told apart by the names of their values."""
    return isinstance(thing, Instance) or (isinstance(thing, DictObject) and not thing.is_set)


def same_order(p: DictObject, q: DictObject) -> bool:
    """Whether Python goes through those keys that both dicts or sets have in the same order."""
    if isinstance(p.order, Order) and isinstance(q.order, Order):
        return p.order.is_like(q.order)
    common = p.items.keys() & q.items.keys()
    return p.order is q.order and (
        [k for k in p.items if k in common] == [k for k in q.items if k in common]
    )


def object_items(thing: Heap) -> list[Any]:
    """The values an object holds."""
    return list(thing.items) if isinstance(thing, ListObject) else list(thing.items.values())


def objects_in_key(key: Any) -> list[Ref]:
    """The objects in a key of a dict or set: itself, or items of a tuple."""
    if isinstance(key, tuple):
        return [ref for item in key for ref in objects_in_key(item)]
    return [key] if isinstance(key, Ref) else []


def held_by(thing: Heap) -> list[Any]:
    """The values an object holds, and the objects that are keys of a dict."""
    if not isinstance(thing, DictObject):
        return object_items(thing)
    return [*object_items(thing), *(ref for key in thing.items for ref in objects_in_key(key))]


def reachable(heap: dict[int, Heap], values: Iterable[Value]) -> set[int]:
    """The numbers of the objects that are found from some values."""
    found: set[int] = set()
    waiting: list[Any] = list(values)
    while waiting:
        value = waiting.pop()
        if not isinstance(value, Ref):
            waiting += parts(value)
        elif value.id in heap and value.id not in found:
            found.add(value.id)
            waiting += held_by(heap[value.id])
    return found


def stood_for(template: Any, state: State, value: Any) -> dict[int, None]:
    """The objects of a value in the places of which one of several may stand."""
    found: dict[int, None] = {}
    seen: set[tuple[int, int]] = set()  # the options of choices hold the same objects, and choices
    molded: dict[int, bool] = {}

    def may_differ(template: Any) -> bool:
        if id(template) not in molded:
            molded[id(template)] = has_mold(template)
        return molded[id(template)]

    def visit(template: Any, value: Any) -> None:
        pair = id(template), id(value)
        if pair in seen:
            return
        seen.add(pair)
        if isinstance(template, Mold) and isinstance(value, Ref):
            found[value.id] = None
            own, items = object_items(template.thing), object_items(state.heap[value.id])
            pairs: Iterable[tuple[Any, Any]] = zip(own, items, strict=False)
        elif isinstance(template, Choice):
            chosen = value.options if isinstance(value, Choice) else (value,)
            others = [v for v in chosen if not (isinstance(v, Ref) and v in template.options)]
            pairs = product(filter(may_differ, template.options), others)
        elif type(template) is type(value):
            pairs = zip(parts(template), parts(value), strict=False)
        else:
            return
        for inner, item in pairs:
            visit(inner, item)

    if may_differ(template):
        visit(template, value)
    return found


def frozen_later(
    entry: State, end: State, templates: Any, after: Any, marker: Any
) -> dict[int, Any]:
    """What froze the objects from before an iteration or call of which others may be one later.

    They are frozen from the beginning of the next one.
    """
    found: dict[int, Any] = {}
    if any(map(has_mold, templates.values())):
        for number, thing in end.heap.items():
            if number in entry.heap and thing.frozen not in (None, KEPT):
                found[number] = thing.frozen
    for slot, template in templates.items():
        for number in stood_for(template, end, after.get(slot)):
            if number in entry.heap:
                found[number] = marker
    return {n: frozen for n, frozen in found.items() if entry.heap[n].frozen is None}


def has_mold(template: Any) -> bool:
    return isinstance(template, Mold) or any(map(has_mold, parts(template)))


def freeze_molded(
    state: State, templates: Any, before: Any, marker: Any, frozen: dict[int, Any] | None = None
) -> None:
    """Freeze the objects that stood in slots before in which one of several may stand now.

    And those that an iteration froze at its end. To be done when all slots are filled: filling that
    of an item makes the object anew.
    """
    found = dict(frozen or {})
    for slot, template in templates.items():
        found |= dict.fromkeys(stood_for(template, state, before.get(slot)), marker)
    for number, by in found.items():
        if number in state.heap:
            state.heap[number] = replace(state.heap[number], frozen=by)


def keep_frozen(state: State, end: State, marker: Any) -> None:
    """Freeze what was frozen up to the end of a loop or function that others may now stand for.

    What the loop or function itself has frozen, it sees to. To be done when all slots are filled,
    too.
    """
    for number, thing in end.heap.items():
        old = state.heap.get(number)
        if old is not None and old.frozen is None and thing.frozen not in (None, marker):
            state.heap[number] = replace(old, frozen=thing.frozen)


def is_long(thing: Any) -> bool:
    """Whether an object on the abstract heap is a tuple of which only the run knows the length."""
    return isinstance(thing, ListObject) and thing.type is tuple


def may_get_long(value: Any) -> bool:
    """Whether a value is a tuple, or one of several, that could be one of any length."""
    if isinstance(value, Choice):
        return all(map(may_get_long, value.options))
    return isinstance(value, Tuple) and value.type is tuple and value.missing is None


def holds_values(kind: Any) -> bool:
    """Whether all that the items of a list hold are numbers and texts."""
    items = kind.item if isinstance(kind, ListOf) else kind
    if isinstance(items, tuple):
        return all(map(holds_values, items))
    return isinstance(items, Scalar) or items == Opaque(str)


def is_table(thing: Any) -> bool:
    """Whether an object is a dict or set that exists at run time."""
    return isinstance(thing, Instance) and thing.type in KINDS_OF_TABLES


def is_view(thing: Any) -> bool:
    """Whether an object is what `items`, `values` or `keys` of a dict returns."""
    return isinstance(thing, Instance) and thing.type in (View, Keys)


def with_items(thing: Heap, items: list[Any]) -> Heap:
    """The object with other values."""
    if isinstance(thing, ListObject):
        return replace(thing, items=tuple(items))
    return replace(thing, items=dict(zip(thing.items, items, strict=True)))


def same_template(a: Any, b: Any) -> bool:
    if isinstance(a, Mold) and isinstance(b, Mold):
        pairs = zip(object_items(a.thing), object_items(b.thing), strict=True)
        return all(same_template(x, y) for x, y in pairs)
    if isinstance(a, Widened) and isinstance(b, Widened):
        known = (
            (a.kind, a.optional, a.partial, a.origins),
            (b.kind, b.optional, b.partial, b.origins),
        )
        return known[0] == known[1]
    if isinstance(a, Tuple) and isinstance(b, Tuple) and a.fresh is not b.fresh:
        return False
    if alike(a, b) or (isinstance(a, Choice) and isinstance(b, Choice)):
        mine, other = parts(a), parts(b)
        return len(mine) == len(other) and all(map(same_template, mine, other))
    if isinstance(a, Poison) and isinstance(b, Poison):
        return True
    return a is b


def absent(name: Any) -> ir.Const:
    """What a name that isn't in a frame means: flags are down."""
    return FALSE if name in FLAGS or is_flag(name) else ir.UNDEFINED


def is_flag(name: Any) -> bool:
    """Whether a name is that of a flag that says whether another name is bound."""
    return isinstance(name, str) and name.startswith(BOUND)


def is_evaluated(name: Any) -> bool:
    """Whether a frame keeps something under this name only until a statement has been evaluated."""
    return str(name).startswith("%") and not is_flag(name)


def flagged(name: str) -> Any:
    """What is known if the names of this spelling have flags that say whether they are bound."""
    return "%bound", name


def is_partial(value: Any) -> bool:
    """Whether a value is undefined on some path."""
    return value is ir.UNDEFINED or getattr(value, "partial", False)


def becomes_array(template: Any, value: Any) -> bool:
    """Whether a number is replaced by an array of known rank, or an array by one of another."""
    before = leaf_kind(template) if isinstance(template, (ir.Var, ir.Const)) else None
    kind = value.kind if isinstance(value, ir.Var) else None
    if not isinstance(kind, Array) or not kind.shape:
        return False
    if isinstance(before, Array):
        return before.shape is not None and before.rank != kind.rank
    return isinstance(before, Scalar)


def origins_of_rank(kind: Kind, values: Iterable[Any]) -> frozenset[Any]:
    """What would tell the rank of an array, which is one of several values, if it were known."""
    found: frozenset[Any] = frozenset()
    if isinstance(kind, Array) and kind.shape is None:
        for value in values:
            if isinstance(value, (ir.Var, Widened)) and getattr(value.kind, "shape", ()) is None:
                found |= value.origins
    return frozenset(o for o in found if isinstance(o, (tuple, Path)))


def nothing() -> None:
    """What a branch does that does nothing."""


def is_nothing(value: Any) -> bool:
    """Whether a value is undefined, or never anything but None."""
    return value is ir.UNDEFINED or getattr(value, "kind", None) == NOTHING


def references(state: State, ref: Ref) -> int:
    """How many values refer to an object; many, if that isn't known."""

    found = int(-ref.id in state.heap)
    waiting: list[Any] = [v for frame in state.frames.values() for v in frame.values()]
    for thing in state.heap.values():
        waiting += held_by(thing)
    while waiting:
        value = waiting.pop()
        if isinstance(value, (ir.Var, ir.Const)):
            continue
        if isinstance(value, Ref):
            found += value.id == ref.id
        elif isinstance(value, (Sequence, Generator)):
            found += 2
        else:
            waiting += parts(value)
    return found


def item_structure(item: Any) -> Kind:
    """The kind of a list's item, tuples of kinds as TupleOf."""
    if isinstance(item, tuple):
        kinds = tuple(item_structure(part) for part in item)
        return TupleOf(kinds, *item.form()) if isinstance(item, Fields) else TupleOf(kinds)
    assert isinstance(item, Kind)
    return item


def item_kinds(kind: Kind) -> Any:
    """What `item_structure` makes a kind of: tuples of kinds where there are TupleOf."""
    if not isinstance(kind, TupleOf):
        return kind
    kinds = tuple(map(item_kinds, kind.items))
    if kind.type is tuple:
        return kinds
    return Fields(kinds, kind.type, kind.names, kind.outside)


def constant(operand: ir.Operand) -> tuple[bool, Any]:
    """Whether an operand is known when compiling, and its value."""
    if isinstance(operand, ir.Const):
        return is_plain(operand.value) or isinstance(operand.value, (type, tuple)), operand.value
    if isinstance(operand, ir.Pack):
        parts = [constant(item) for item in operand.items]
        if all(known for known, _ in parts):
            values = [value for _, value in parts]
            return True, slice(*values) if operand.type is slice else operand.type(values)
    return False, None


def folded(
    function: Any, operands: Iterable[ir.Operand], named: dict[str, ir.Operand]
) -> Value | None:
    """The result of a pure function of known values, if it is such a value too."""
    args, kwargs = [], {}
    for operand in operands:
        known, value = constant(operand)
        if not known:
            return None
        args.append(value)
    for name, operand in named.items():
        known, value = constant(operand)
        if not known:
            return None
        kwargs[name] = value
    try:
        with np.errstate(all="raise"):
            result = function(*args, **kwargs)
    except Exception:
        return None
    if is_plain(result):
        return ir.Const(result)
    if type(result) is tuple and all(type(item) in (int, bool) for item in result):
        return Tuple(tuple(ir.Const(item) for item in result))
    return None


def of_any_length(kind: Kind) -> Kind:
    """A kind of which no dimension of an array is known."""
    if isinstance(kind, TupleOf):
        return replace(kind, items=tuple(map(of_any_length, kind.items)))
    if isinstance(kind, Array) and kind.shape is not None:
        return replace(kind, shape=tuple(fresh_size() for _ in kind.shape))
    return kind


def resized(kind: Kind, since: int | None) -> Kind:
    """A kind with a new size for each that came up since another one did."""
    if since is None:
        return kind
    if isinstance(kind, TupleOf):
        return replace(kind, items=tuple(resized(item, since) for item in kind.items))
    if isinstance(kind, Array) and kind.shape is not None:
        sizes = (fresh_size() if isinstance(n, Size) and n.base > since else n for n in kind.shape)
        return Array(kind.dtype, tuple(sizes))
    return kind


def interned(value: Any) -> Any:
    """A literal; a text that could be a name is one object wherever it stands."""
    if isinstance(value, str) and value.isascii() and f"_{value}".isidentifier():
        return sys.intern(value)
    return value


def leaves(low: Any, value: Any) -> list[ir.Var]:
    """The variables in a value, in the order of its nesting."""
    match value:
        case ir.Var():
            return [value]
        case Tuple():
            return [leaf for item in value.items for leaf in leaves(low, item)]
        case Ref():
            thing = low.state.heap[value.id]
            if isinstance(thing, ListObject):
                if thing.var is not None:
                    return [thing.var]
                return [leaf for item in thing.items for leaf in leaves(low, item)]
            return [leaf for item in thing.items.values() for leaf in leaves(low, item)]
    return []


def is_records(kind: Any) -> TypeGuard[ListOf]:
    """Whether items of a list are objects or dicts of the caller's."""
    item = kind.item if isinstance(kind, ListOf) else None
    return isinstance(item, Fields) and item.outside is not None
