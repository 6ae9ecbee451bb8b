"""Iterators that stand somewhere: `iter(x)`, and what is made by zip, map and the like and is used
more than once.

Most iterators are consumed where they are made, or once, and need no place. One that isn't, because
of a `next` or a loop that is left, is an object with the position of its next item; the function
is lowered once more when this is found out (`Lookup.use_up`).
"""

from __future__ import annotations

import builtins
import itertools
import operator
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import gast

from .. import ir
from ..analysis.inference import Inferred
from ..kinds import int_kind
from ..rules.registry import hashable
from .operations import items_until, next_or
from .predicates import FALSE, TRUE, is_range, is_users
from .selections import Selections
from .stepping import COUNTED, ENDLESS, Ahead, Indexed, Span
from .stepwise import ROWS, STEPWISE, Chain, Entries, Items, Reversed
from .structure import Poison, is_table, is_view
from .values import Bound, DictObject, Generator, Instance, Place, Ref, Sequence, Tuple, Value
from .wording import described

ONE = ir.Const(1)


class Cursor:
    """The type of such an iterator as it stands on the abstract heap."""


def is_count_of_ints(value: Any) -> bool:
    """Whether this is an `itertools.count` outside, as those that number objects."""
    if not isinstance(value, itertools.count):
        return False
    return all(text.lstrip("-").isdigit() for text in repr(value)[len("count(") : -1].split(", "))


def ref_site(thing: Any) -> Any:
    """Where an iterator was made, as it stands on the abstract heap."""
    return getattr(thing.items["sequence"], "site", None)


def may_be_stepwise(function: Any) -> bool:
    """Whether a function makes an iterator that can be made as an object of `stepwise`."""
    return hashable(function) and (function in STEPWISE or function in ROWS or function in MAKERS)


MAKERS = (iter, reversed, itertools.chain.from_iterable)


def is_like_dict(thing: Any) -> bool:
    """Whether an object is a dict or set, or shows one, as it is whenever it is asked."""
    return isinstance(thing, DictObject) or is_table(thing) or is_view(thing)


def key_alone(table: Any, key: Any) -> Any:
    """What one gets that goes through a dict itself: inlined like a function of the user's."""
    return key


class Cursors(Selections):
    """Evaluates `iter` and `next`, and loops over iterators that stand somewhere."""

    def builtin_iter(self, value: Value, last: Value | None = None) -> Value:
        """An iterator: what it goes through, and how far it has come."""
        if last is not None:
            return self.inline(items_until, [value, last], {})
        if isinstance(value, Generator) or self.is_cursor(value):
            return value
        iterator = self.iterator_of(value)
        if iterator is not None and (
            isinstance(iterator, Generator)
            or self.is_cursor(iterator)
            or self.stepped(iterator) is not iterator
        ):
            return iterator
        sequence: Any = self.require(value if iterator is None else iterator)
        return self.cursor(sequence)

    def builtin_counted(self, items: Value) -> Value:
        """What a loop of a generator that stops goes through: it is asked by index, or ahead."""
        items = self.spread(items)
        if is_range(items):
            start, _, step = self.int_bounds(items)
            return self.call(ir.Const(Span), [start, self.builtin_len(items), step], {})
        if isinstance(items, Tuple) and items.type in COUNTED:
            return items
        thing = self.on_heap(items)
        if isinstance(thing, Instance) and thing.type is Ahead:
            return items
        if is_like_dict(thing):
            items = self.stepwise(items) or self.builtin_list(items)
        iterates = isinstance(items, (Sequence, Generator)) or self.is_cursor(items)
        if iterates or self.iterator_of(items) is not None:
            return self.call(ir.Const(Ahead), [self.builtin_iter(items)], {})
        return self.call(ir.Const(Indexed), [items], {})

    def builtin_at_once(self, items: Value) -> Value:
        """What such a loop goes through, if it is the same whenever that begins."""
        items = self.spread(items)
        return items if is_like_dict(self.on_heap(items)) else self.builtin_counted(items)

    def cursor(self, sequence: Any) -> Ref:
        """An iterator over a sequence, at its beginning."""
        if sequence.site is None:
            sequence = replace(sequence, site=self.stepwise_site)
        return self.new(Instance(Cursor, {"sequence": sequence, "position": ir.Const(0)}))

    def made_stepwise(
        self, function: Any, args: list[Value], kwargs: dict[str, Value]
    ) -> Value | None:
        """What a function that makes an iterator makes here, if that is to be a `Stepwise`."""
        if not may_be_stepwise(function) or self.stepwise_site not in self.known_sites:
            return None
        maker = STEPWISE.get(function)
        if maker is not None:
            return self.call(ir.Const(maker), args, kwargs)
        if function in ROWS:
            special = self.special(function)
            assert special is not None
            made = special(*args, **kwargs)
            return (
                None if made is None else self.call(ir.Const(Items), [self.builtin_list(made)], {})
            )
        if function == itertools.chain.from_iterable:
            return self.call(ir.Const(Chain), self.unpacked(args[0]), {})
        if len(args) != 1 or self.is_own_iterator(args[0]):
            return None
        return self.stepwise(args[0], backwards=function is reversed)

    def is_own_iterator(self, value: Value) -> bool:
        """Whether a value goes by itself, or says what goes through it."""
        if isinstance(value, Generator) or self.is_cursor(value):
            return True
        return any(self.has_method(value, name) for name in ("__iter__", "__next__")) and not (
            is_view(self.on_heap(value)) or is_table(self.on_heap(value))
        )

    def stepwise(self, value: Value, backwards: bool = False) -> Value | None:
        """An iterator through a container that looks at it whenever it is asked."""
        if isinstance(value, Sequence) and not is_range(value):
            return None
        thing = self.on_heap(value)
        part: Value = ir.Const(key_alone)
        if is_view(thing):
            part = thing.items.get("part", part)
            value = thing.items["table"]
            thing = self.on_heap(value)
        elif isinstance(thing, DictObject) and thing.is_set:
            return None
        if isinstance(thing, DictObject) or is_table(thing):
            keys = self.builtin_list(value)
            if backwards:
                keys = self.builtin_list(self.builtin_reversed(keys))
            grows = is_table(thing) and "entries" in thing.items
            entered = self.thing(value).items["entries"] if grows else Tuple(())
            return self.call(ir.Const(Entries), [value, keys, part, entered], {})
        return self.call(ir.Const(Reversed if backwards else Items), [value], {})

    def is_cursor(self, value: Value) -> bool:
        thing = self.on_heap(value)
        return isinstance(thing, Instance) and thing.type is Cursor

    def rest_of(self, ref: Ref) -> Sequence:
        """The items that an iterator hasn't given yet, for who asks for them in whatever order."""
        rest = self.rest_from(ref)
        asked = frozenset([rest.site]) if rest.site is not None else frozenset()
        self.move_cursor(
            ref, Poison("how far this iterator has come isn't known", self.span, asked)
        )
        return rest

    def rest_from(self, ref: Ref) -> Sequence:
        """The items of an iterator from where it stands, which stays there."""
        thing: Any = self.state.heap[ref.id]
        self.unfrozen(thing)
        start = self.known("this iterator", thing.items["position"])
        whole: Any = self.known("this iterator", thing.items["sequence"])
        self.check_position(whole, start)
        self.check_lengths(whole)
        self.sources += whole.over
        endless = isinstance(whole.length, ir.Const) and whole.length.value == ENDLESS
        length = whole.length if endless else self.binary(operator.sub, whole.length, start)
        return Sequence(
            length,
            lambda i: whole.item(self.binary(operator.add, start, i)),
            whole.structural,
            over=whole.over,
            site=whole.site,
        )

    def moving_along(self, ref: Ref) -> Sequence:
        """The items of an iterator from where it stands, for a loop, with which it moves on."""
        rest = self.rest_from(ref)
        start = self.cursor_position(ref)

        def item(i: Value) -> Value:
            self.move_cursor(
                ref, self.binary(operator.add, self.binary(operator.add, start, i), ONE)
            )
            return rest.item(i)

        return replace(rest, item=item)

    def check_position(self, sequence: Sequence, position: Value) -> None:
        """Do without a position that isn't known in what is known item by item."""
        if sequence.structural and not isinstance(position, ir.Const):
            self.ask_stepwise(sequence.site)

    def cursor_position(self, ref: Ref) -> Value:
        thing: Any = self.state.heap[ref.id]
        found: Value = thing.items["position"]
        return found

    def move_cursor(self, ref: Ref, position: Any) -> None:
        thing: Any = self.state.heap[ref.id]
        self.state.heap[ref.id] = replace(thing, items={**thing.items, "position": position})

    def iterate(self, iterable: Value, body: Callable[[Value], None], name: str = "i") -> None:
        """Run `body` for each item; a break it sets ends the iteration."""
        if not isinstance(iterable, Ref) or not self.is_cursor(iterable):
            super().iterate(iterable, body, name)
            return
        ref = iterable

        def checked(item: Value) -> None:
            before = self.cursor_position(ref)
            body(item)
            if not self.state.unreachable and self.cursor_position(ref) is not before:
                self.ask_stepwise(ref_site(self.state.heap[ref.id]))
                raise self.refuse(
                    "next() of an iterator in a loop over it isn't supported",
                    "use next() alone, in a while loop, or indices",
                )

        super().iterate(self.moving_along(ref), checked, name)

    def builtin_next(self, iterator: Value, default: Value | None = None) -> Value:
        if isinstance(iterator, Generator):
            return self.first_item(iterator, default)
        if isinstance(iterator, Sequence):
            self.asked_where(iterator)
            if iterator.born is not None and not is_range(
                iterator
            ):  # it has no name: next(zip(...))
                self.use_up(iterator)
                iterator = self.cursor(iterator)
        thing = self.on_heap(iterator)
        if isinstance(thing, Instance) and thing.type is not Cursor:
            found = self.class_attribute(thing.type, "__next__")
            if found is not None:
                if default is not None:
                    return self.inline(next_or, [iterator, default], {})
                return self.call(Bound(found, iterator), [], {})
            if is_users(thing.type):
                raise self.fault(TypeError, f"{thing.type.__name__!r} object is not an iterator")
        if isinstance(iterator, Place) and is_count_of_ints(iterator.value):
            operands, kind = (self.operand(iterator),), Inferred(int_kind())
            return self.emit(builtins.next, operands, inferred=kind, effect=True, name="number")
        if not isinstance(thing, Instance) or thing.type is not Cursor:
            raise self.refuse(f"next() of {described(iterator)} isn't supported")
        assert isinstance(iterator, Ref)
        self.unfrozen(thing)
        position = self.known("this iterator", thing.items["position"])
        sequence: Any = self.known("this iterator", thing.items["sequence"])
        self.check_position(sequence, position)
        self.check_lengths(sequence)
        left = self.truth(self.compare(gast.Lt(), position, sequence.length))
        if isinstance(left, ir.Const) and not left.value:
            if default is None:
                raise self.empty(StopIteration, "this iterator has no more items", ())
            return default
        if default is None:
            self.insist(left, StopIteration, "this iterator has no more items", ())
        self.move_cursor(iterator, self.binary(operator.add, position, ONE))
        if isinstance(left, ir.Const) or default is None:
            item: Value = sequence.item(position)
            return item
        frame, name = self.current, self.hidden(default)

        def take() -> None:
            self.state.frames[frame][name] = sequence.item(position)

        self.branch(self.operand(left), take, lambda: None)
        return self.known("this value", self.state.frames[frame].pop(name))

    def first_item(self, generator: Generator, default: Value | None) -> Value:
        """`next(...)` of a generator expression, which is left after its first item."""
        frame = self.current
        found = self.hidden(FALSE)
        name = self.hidden(ir.UNDEFINED if default is None else default)

        def take(item: Value) -> None:
            values = self.state.frames[self.current]
            values[name], values[found] = item, TRUE
            values["%stop"] = values["%break"] = TRUE

        self.left_early(generator, take)
        values = self.state.frames[frame]
        test, item = values.pop(found), values.pop(name)
        if default is None:
            self.insist(test, StopIteration, "this generator has no items", ())
        return self.known("this value", item)

    def builtin_tee(self, value: Value, n: Value = ir.Const(2)) -> Value:  # noqa: B008
        anew = not self.is_cursor(value) and isinstance(value, (Generator, Sequence))
        sequence = self.made_at_once(value) if anew else self.require(value)
        sequence = replace(sequence, site=self.stepwise_site)
        return Tuple(tuple(self.cursor(sequence) for _ in range(self.key(n))))
