"""Iterating: loops that are kept or unrolled, and what can be iterated over.

A loop is unrolled where its items are known one by one, as those of a tuple are, or where its body
asks for the value of the index. All others are kept (`loops`).
"""

from __future__ import annotations

import enum
import operator
import types
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import gast
import numpy as np

from .. import ir, runtime
from ..analysis.inference import Inferred
from ..errors import UnsupportedError
from ..kinds import INT, SHAPE, Array, ListOf, Opaque, Reference, Scalar, Size, TupleOf, int_kind
from .boxes import Mixed
from .changes import Source
from .expressions import Expressions
from .operations import (
    entries_of_changing,
    items_by_index,
    items_of,
    items_of_changing,
    members_of_changing,
)
from .predicates import FALSE, NONE, SIMPLE, TRUE, array_kind, is_none, is_range, is_users
from .restarts import NeedStatic, Peel, Raised, Thaw
from .structure import FLAGS, is_table, nothing
from .tables import Keys, Members, View
from .values import (
    Bound,
    Choice,
    Closure,
    DictObject,
    Generator,
    Instance,
    ListObject,
    Place,
    Ref,
    Sequence,
    State,
    Tuple,
    Value,
)

MOST_UNROLLED = 100
MOST_NEEDED = 1000  # where it can't be had otherwise, as of objects that keep functions
Body = Callable[[Value], None]
Loop = Callable[..., None]  # of an iterable, a body, and a name for the index
ITERATED = (str, bytes, tuple, list, range, dict, types.MappingProxyType)  # when compiling


class Iteration(Expressions):
    """Runs a body for each item of an iterable."""

    def iterate(self, iterable: Value, body: Callable[[Value], None], name: str = "i") -> None:
        """Run `body` for each item; a break it sets ends the iteration."""
        iterable = self.spread(iterable)
        if isinstance(iterable, Choice):

            def over(option: Value) -> Value:
                self.iterate(option, body, name)
                return NONE

            self.for_each(iterable, over)
            return
        if isinstance(iterable, Tuple) and len(iterable.items) > MOST_UNROLLED:
            iterable = self.new(ListObject(iterable.items))
        iterable = self.stepped(self.iterator_of(iterable) or iterable)
        if isinstance(iterable, Generator):
            self.use_up(iterable)
            self.check_lengths(iterable)
            self.sources += iterable.over
            iterable.run(self.checked(iterable, body) if iterable.over else body)
            self.after_loop()
            return
        site, self.loop_site = self.loop_site, 0
        once, self.loop_once = self.loop_once, False
        sequence = self.sequence(iterable)
        if sequence is None:
            raise self.not_iterable(iterable)
        if ("%changing", site) in self.known_sites and sequence.changing is not None:
            self.iterate(sequence.changing(), body, name)
            self.check_items(sequence)
            return
        length = sequence.length

        def unrolled(most: int = MOST_NEEDED) -> bool:
            if isinstance(length, ir.Var):
                raise NeedStatic(length.origins, "how often this loop runs", self.span)
            if not isinstance(length, ir.Const) or length.value > most:
                return False
            self.unrolled(0, length.value, sequence.item, checked)
            if site and not eager:  # a recursion gets here again
                self.known_sites |= {("%site", site)}
            return True

        checked = self.checked(sequence, body, site)

        if self.never_runs(length):
            self.unrolled(0, 0, sequence.item, checked)
            return
        constant = isinstance(length, ir.Const) and length.value <= MOST_UNROLLED
        few = isinstance(length, ir.Const) and length.value <= MOST_NEEDED
        known = few or self.specialisable(getattr(length, "origins", frozenset()))
        eager = sequence.structural or self.fixed_span
        if known and ("%site", site) in self.known_sites and unrolled(MOST_UNROLLED):
            return
        if eager and isinstance(length, ir.Const) and unrolled(MOST_UNROLLED):
            return

        def iteration(index: ir.Var | None) -> Value:
            assert index is not None
            self.state.frames[self.current]["%returned"] = FALSE
            body(index if sequence.bounds is not None else sequence.item(index))
            return self.exit_flag()

        zero, one = ir.Const(0), ir.Const(1)
        if sequence.bounds is not None:
            bounds = tuple(self.operand(b) for b in sequence.bounds)
        else:
            bounds = (zero, self.operand(length), one)
        block, before, whole = self.block, len(self.block.statements), bounds
        start, span, depth = self.state.copy(), self.span, self.fork_depth
        dynamic = set(self.dynamic_sites)
        asked = ("%peel", site) in self.known_sites
        peeled = asked or once
        asks = self.instead(site, known, peeled)

        def rest(bounds: Any, peelable: bool = False) -> None:
            unroll = unrolled if known and bounds is whole else None
            index = name if sequence.bounds is not None else "i"
            self.loop(bounds, iteration, index, unroll, constant, asks, peelable)
            self.after_loop()

        def kept(peeled: bool) -> None:
            try:
                if not peeled:
                    rest(whole, True)
            except Peel:
                peeled = True
            if peeled:
                if asked and isinstance(length, ir.Var) and not self.surely_runs(length):
                    if self.specialisable(length.origins):
                        self.need_static(length, "whether this loop runs must be known here")
                self.peeled(sequence, body, rest)

        try:
            kept(peeled)
        except (Raised, Thaw):
            raise
        except UnsupportedError:  # of objects that are others in each iteration, say
            self.state, self.span = start, span
            self.block, self.fork_depth, self.dynamic_sites = block, depth, dynamic
            self.forget(block, before)
            if not isinstance(length, ir.Const) or not unrolled():
                raise
            return
        often = length.origins if isinstance(length, ir.Var) else frozenset()
        deciding = {("%site", site), *often} if site and known else often
        self.note_lists(sequence, block.statements[before:], deciding, site)

    def checked(self, made: Sequence | Generator, body: Body, site: int = 0) -> Body:
        """A body after which what is gone through must be as long as it was."""

        def run(item: Value) -> None:
            body(item)
            if not self.state.unreachable:
                self.check_lengths(made, site)

        return run

    def instead(self, site: int, unrollable: bool, peeled: bool) -> frozenset[Any]:
        """What to do with a loop instead, if what it changes has no counterpart at run time.

        Its first iteration may stand alone: what changes its kind in a loop often does so there.
        Where that doesn't help, it is unrolled.
        """
        if not site or (peeled and not unrollable):
            return frozenset()
        return frozenset([("%site" if peeled else "%peel", site)])

    def peeled(
        self, sequence: Sequence, body: Callable[[Value], None], rest: Callable[[Any], None]
    ) -> None:
        """Run the first iteration of a loop by itself, and then the rest, a loop.

        So a sum that starts as the number 0 is an array all through the loop, and what starts as
        None, say a list.
        """
        length, one = sequence.length, ir.Const(1)
        alone = isinstance(length, ir.Const) and length.value == 1
        later: tuple[Value, Value, Value] = (one, length, one)
        first: Value | None = None
        if sequence.bounds is not None:
            first, stop, step = self.int_bounds(sequence)
            later = (self.binary(operator.add, first, step), stop, step)
        bounds = tuple(self.operand(b) for b in later)

        def run() -> None:
            self.state.frames[self.current]["%returned"] = FALSE
            body(first if first is not None else sequence.item(ir.Const(0)))
            if self.state.unreachable:
                return
            flag = self.exit_flag()
            if not isinstance(flag, ir.Const):
                self.branch(self.operand(flag), lambda: None, lambda: rest(bounds))
            elif not flag.value and not alone:
                rest(bounds)
            self.after_loop()

        if self.surely_runs(length):
            run()
            return
        before = self.state.copy()
        test = self.operand(self.compare(gast.Gt(), length, ir.Const(0)))
        self.if_it_runs(test, run)
        if isinstance(test, ir.Const):
            self.values_of(before)
        self.after_loop()

    def values_of(self, before: State) -> None:
        """Go on after a loop that never runs with what there was before it.

        Names that had no value keep those of the loop: they are of some kind, where they are
        mentioned in code that doesn't run.
        """
        for number, frame in before.frames.items():
            values = {name: v for name, v in frame.items() if v is not ir.UNDEFINED}
            self.state.frames[number].update(values)
        self.state.heap.update(before.heap)

    def surely_runs(self, length: Value) -> bool:
        """Whether a loop of this length has a first iteration."""
        if isinstance(length, ir.Const):
            return bool(length.value > 0)
        kind = length.kind if isinstance(length, ir.Var) else None
        size = kind.size if isinstance(kind, Scalar) else None
        if isinstance(size, Size):
            return size.big and size.offset >= -1
        return size is not None and size > 0

    @staticmethod
    def never_runs(length: Value) -> bool:
        """Whether a loop of this length, maybe that of a list at run time, has no iteration."""
        if isinstance(length, ir.Const):
            return bool(length.value <= 0)
        return isinstance(length, ir.Var) and getattr(length.kind, "size", None) == 0

    def several_loops(self, run: Callable[[Body, Loop], None]) -> Generator:
        """A generator that takes several loops, in each other or in turn, to give its items.

        `run` is called with what gives an item to the consumer, and with what to use in place of
        `iterate`: when the consumer breaks off, all the loops end.
        """

        def start(body: Body) -> None:
            frame, broken = self.current, self.hidden(FALSE, "%broken")

            def give(item: Value) -> None:
                body(item)
                if not self.state.unreachable:
                    values = self.state.frames[frame]
                    values[broken] = values.get("%break", FALSE)

            def loop(iterable: Value, body: Body, name: str = "i") -> None:
                def iteration(item: Value) -> None:
                    self.state.frames[frame][broken] = FALSE
                    body(item)

                def go_on() -> None:
                    values = self.state.frames[frame]
                    values.update({flag: FALSE for flag in FLAGS if flag in values})
                    self.iterate(iterable, iteration, name)

                self.decided(self.state.frames[frame][broken], nothing, go_on)
                if not self.state.unreachable:
                    values = self.state.frames[frame]
                    values["%stop"] = values["%break"] = values[broken]

            run(give, loop)
            if not self.state.unreachable:
                values = self.state.frames[frame]
                flag = values.pop(broken)
                values["%stop"] = values["%break"] = values.get("%returned", FALSE)
                if self.broken.get(frame) in values:
                    values[self.broken[frame]] = flag

        return Generator(start)

    def unrolled(
        self, i: int, count: int, item: Callable[[Value], Value], body: Callable[[Value], None]
    ) -> None:
        """Run `body` for the items from number `i` on, one after the other."""
        if i == count:
            return
        body(item(ir.Const(i)))
        if self.state.unreachable:
            return
        flag = self.exit_flag()

        def rest() -> None:
            self.unrolled(i + 1, count, item, body)

        if isinstance(flag, ir.Const):
            if not flag.value:
                rest()
            else:
                self.after_loop()
            return
        self.branch(flag, lambda: None, rest)  # type: ignore[arg-type]
        self.after_loop()

    def with_else(self, node: Any, run: Callable[[], None]) -> None:
        """Run a loop, and its `else`, unless it is broken off."""
        frame = self.current
        around = self.broken.get(frame, "")
        name = self.broken[frame] = self.hidden(FALSE, "%broken") if node.orelse else ""
        try:
            run()
        finally:
            self.broken[frame] = around
        if node.orelse:
            flag = self.state.frames[frame].pop(name)
            self.decided(flag, nothing, lambda: self.run(node.orelse))

    def exit_flag(self) -> Value:
        """The exit flag at the end of an iteration; `break` and `continue` are over then."""
        if self.state.unreachable:
            return TRUE
        frame = self.state.frames[self.current]
        flag = frame.get("%break", FALSE)
        if "%stop" in frame:
            frame["%stop"] = FALSE
            frame["%break"] = FALSE
        if self.broken.get(self.current) in frame:
            frame[self.broken[self.current]] = flag
        return flag

    def after_loop(self) -> None:
        """After a loop, only a `return` inside it still skips what follows."""
        frame = self.state.frames[self.current]
        if "%returned" in frame:
            frame["%stop"] = frame["%break"] = frame["%returned"]

    def list_of_shape(self, shape: ir.Var) -> Value:
        """The lengths in the shape of an array whose rank isn't known."""
        return self.project(
            self.emit(list, (shape,), inferred=Inferred(ListOf(INT)), name="lengths")
        )

    def has_any_length(self, value: Value) -> bool:
        """Whether only the run tells how long a list or array is."""
        if isinstance(value, ir.Var) and isinstance(value.kind, Array) and value.kind.shape:
            length = value.kind.shape[0]
            return isinstance(length, Size) and not getattr(self.builtin_len(value), "origins", ())
        if isinstance(value, ir.Var) and value.kind == SHAPE:
            return True
        thing = self.on_heap(value)
        listed = isinstance(thing, ListObject) and thing.var is not None
        return listed or isinstance(value, Choice)

    def sequence(self, value: Value) -> Sequence | None:
        """Length and items of something that can be iterated over."""
        match value:
            case Sequence():
                self.use_up(value)
                self.check_lengths(value)
                self.sources += value.over
                return replace(value, born=None)  # what it has is asked for once, by whoever asked
            case Tuple():
                self.check_given(value, read=False)  # not by a loop that counts
                items = value.items
                return Sequence(ir.Const(len(items)), lambda i: self.item_of(items, i, value), True)
            case Generator():
                return self.sequence(self.builtin_list(value))
            case Ref():
                thing = self.state.heap[value.id]
                if isinstance(thing, ListObject):
                    changing = None
                    if thing.type is list and not self.has_deques:
                        changing = lambda: self.inline(items_of_changing, [value], {})  # noqa: E731
                    thing = self.compacted(value, thing)
                    if thing.var is None:
                        return Sequence(
                            ir.Const(len(thing.items)),
                            lambda i: self.subscript(value, i),
                            len(thing.items) <= MOST_UNROLLED,
                            over=self.over(value),
                            changing=changing,
                        )
                    var, count = thing.var, self.builtin_len(value)
                    return Sequence(
                        count,
                        lambda i: self.list_item(var, i),
                        over=self.over(value),
                        changing=changing,
                    )
                if isinstance(thing, DictObject):
                    keys = [self.lift(k, None) for k in self.keys_of(thing)]
                    known = self.sequence(Tuple(tuple(keys)))
                    return None if known is None else replace(known, over=self.over(value))
                return self.sequence_of_instance(value, thing)
            case ir.Var() if isinstance(value.kind, Reference):
                return self.sequence_of_instance(value, self.thing(value))
            case ir.Var() if value.kind == SHAPE:
                return self.sequence(self.list_of_shape(value))
            case ir.Const() if isinstance(value.value, enum.EnumMeta):
                return self.sequence(Tuple(tuple(map(Place, list(value.value)))))
            case ir.Const() if isinstance(value.value, str) and len(value.value) > 1:
                self.takes_apart = True
                letters = ir.Const(len(value.value))
                return Sequence(letters, lambda i: self.subscript(value, i), not self.compact)
            case ir.Const() if isinstance(value.value, ITERATED):
                return self.sequence(Tuple(tuple(self.lift(v, None) for v in value.value)))
            case ir.Var() if isinstance(value.kind, Array):
                if value.kind.shape == () or (value.kind.shape is None and value.origins):
                    return None  # a number, or what may turn out to be one
                return self.rows(value)
            case ir.Var() if isinstance(value.kind, (ListOf, TupleOf)):
                if isinstance(value.kind, TupleOf):
                    return self.sequence(self.project(value))
                return Sequence(
                    self.builtin_len(value),
                    lambda i: self.list_item(value, i),
                    over=self.over(value),
                    changing=lambda: self.inline(items_of_changing, [value], {}),
                )
            case ir.Var() if value.kind == Opaque(str) and not value.optional:
                letter = Inferred(Opaque(str))
                return Sequence(
                    self.builtin_len(value),
                    lambda i: self.emit(
                        operator.getitem, (value, self.operand(i)), inferred=letter, name="letter"
                    ),
                )
            case ir.Var() if value.kind == Opaque(None):
                listed = Inferred(Opaque(list))
                taking = runtime.items_of_again if value in self.in_part else runtime.items_of
                taken = self.emit(taking, (value,), inferred=listed, effect=True)
                return Sequence(
                    self.emit(len, (taken,), inferred=Inferred(int_kind()), name="count"),
                    lambda i: self.emit(
                        operator.getitem, (taken, self.operand(i)), inferred=Inferred(Opaque(None))
                    ),
                )
            case ir.Const():
                iterator = self.iterator_of(value)
                return None if iterator is None else self.sequence(self.stepped(iterator))
        return None

    def iterator_of(self, value: Value) -> Value | None:
        """What the `__iter__` of an object of a user class returns; None of anything else."""
        written = getattr(type(getattr(value, "value", None)), "__iter__", None)
        outside = isinstance(value, ir.Const) and not isinstance(value.value, type)
        if outside and isinstance(written, types.FunctionType):
            return self.call(self.attribute(value, "__iter__"), [], {})
        thing = self.thing(value)
        if not isinstance(thing, Instance) or self.is_cursor(value):
            return None
        if is_table(thing) or thing.type is Keys:
            return None
        found = self.class_attribute(thing.type, "__iter__")
        if found is None:
            if self.class_attribute(thing.type, "__getitem__") is None:
                return None
            if self.gone_through(value) is not None:
                return None
            return self.inline(items_by_index, [value], {})
        made = self.call(Bound(found, value), [], {})
        if is_users(thing.type):
            self.check_iterator(made)
        return made

    def check_iterator(self, made: Value) -> None:
        """Raise what Python does where an `__iter__` returns something that has no `__next__`."""
        thing, kind = self.on_heap(made), getattr(made, "kind", None)
        lacking = isinstance(made, Tuple) or is_range(made) or isinstance(kind, (Array, Scalar))
        if isinstance(made, ir.Const):
            lacking = isinstance(made.value, (*SIMPLE, np.generic))
        elif isinstance(thing, (ListObject, DictObject)):
            lacking = thing.type.__module__ == "builtins"
        elif isinstance(thing, Instance) and is_users(thing.type):
            lacking = self.class_attribute(thing.type, "__next__") is None
        if lacking:
            raise self.fault(TypeError, "iter() returned what is no iterator")

    def gone_through(self, value: Value) -> tuple[Source, ...] | None:
        """What is gone through where an object has as many items as it says.

        That is so of `self.items[i]` and `len(self.items)`, of a list, tuple or array. Otherwise it
        is None: Python doesn't ask how many there are, it goes on until there is an IndexError.
        """
        thing = self.thing(value)
        if not isinstance(thing, Instance):
            return ()
        found = [self.class_attribute(thing.type, name) for name in ("__getitem__", "__len__")]
        if any(m is None for m in found):
            return None
        methods = [
            self.closure_of(m.value)
            if isinstance(m, ir.Const) and isinstance(m.value, types.FunctionType)
            else m
            for m in found
        ]
        if not all(isinstance(m, Closure) for m in methods):
            return ()
        name = _counted_items(*(m.node for m in methods))  # type: ignore[union-attr]
        if name is None or not isinstance(value, Ref):
            return None
        held = thing.items.get(name)
        inner = self.on_heap(held)
        plain = isinstance(inner, ListObject) or isinstance(held, Tuple)
        return self.over_attribute(value, name) if plain or array_kind(held) is not None else None

    def stepped(self, iterator: Value) -> Value:
        """A generator of what the `__next__` of an object returns; anything else as it is."""
        thing = self.thing(iterator)
        if isinstance(thing, Instance) and self.class_attribute(thing.type, "__next__"):
            generator = self.inline(items_of, [iterator], {})
            assert isinstance(generator, Generator)
            return replace(generator, steps=iterator)
        return iterator

    def sequence_of_instance(self, ref: Ref | ir.Var, thing: Instance) -> Sequence | None:
        if isinstance(ref, Ref) and self.is_cursor(ref):
            return self.rest_of(ref)
        if thing.type in (Keys, View):
            table, part = thing.items["table"], thing.items.get("part", NONE)
            if is_table(self.thing(table)):
                return self.entries(table, part)
            keys = self.require(table)
            if is_none(part):
                return keys
            return replace(keys, item=lambda i: self.call(part, [table, keys.item(i)], {}))
        if is_table(thing):
            return self.entries(ref, NONE)
        if thing.type is Mixed:
            boxes = self.require(thing.items["boxes"])
            return replace(boxes, item=lambda i: self.content(boxes.item(i)))
        iterator = self.iterator_of(ref)
        if iterator is not None:
            return self.sequence(self.stepped(iterator))
        return self.by_number(ref)

    def entries(self, table: Value, part: Value) -> Sequence:
        """What a dict or set that exists at run time has; `part` makes of a key what is wanted."""
        thing = self.thing(table)
        keys = self.call(self.attribute(table, "__iter__"), [], {})
        made = members_of_changing if thing.type is Members else entries_of_changing
        sequence = self.require(keys)
        entry = lambda i: self.call(part, [table, sequence.item(i)], {})  # noqa: E731
        return replace(
            sequence,
            item=sequence.item if is_none(part) else entry,
            over=self.over(thing.items["where"]),
            changing=lambda: self.inline(made, [table, keys, part], {}),
        )

    def by_number(self, value: Value) -> Sequence | None:
        """What an object has by numbers, up to its length; None if it has no such methods."""
        if not all(self.has_method(value, name) for name in ("__getitem__", "__len__")):
            return None
        length = self.call(self.attribute(value, "__len__"), [], {})
        getter = self.attribute(value, "__getitem__")
        return Sequence(
            length,
            lambda i: self.call(getter, [i], {}),
            over=self.gone_through(value) or (),
            changing=lambda: self.inline(items_by_index, [value], {}),
        )

    def has_method(self, value: Value, name: str) -> bool:
        """Whether the class of an object has a method that is written in Python."""
        if isinstance(value, ir.Const):
            return isinstance(getattr(type(value.value), name, None), types.FunctionType)
        thing = self.thing(value)
        if not isinstance(thing, Instance) or self.is_cursor(value):
            return False
        return self.class_attribute(thing.type, name) is not None

    def rows(self, array: ir.Var) -> Sequence:
        """What an array holds along its first axis, which it surely has."""
        assert isinstance(array.kind, Array)
        n = array.kind.shape[0] if array.kind.shape else None
        length: Value = ir.Const(n) if isinstance(n, int) else self.builtin_len(array)
        return Sequence(
            length,
            lambda i: self.emit(
                operator.getitem, (array, self.operand(i)), name=array.name.rstrip("s")
            ),
        )

    def require(self, value: Value) -> Sequence:
        sequence = self.sequence(value)
        if sequence is None:
            raise self.not_iterable(value)
        return sequence

    def item(self, sequence: Sequence, i: Value) -> Value:
        return sequence.item(i)

    @staticmethod
    def discarded(value: Value) -> None:
        """What a statement does with the value of an expression."""

    def hidden(self, start: Value, name: str = "%total") -> str:
        """A name of the current frame that no program can have."""
        name = f"{name}{self.unique()}"
        self.state.frames[self.current][name] = start
        return name

    def left_early(self, iterable: Value, body: Callable[[Value], None]) -> None:
        """Run `body` for each item until it breaks, which no loop around has to do with."""
        around = self.broken.pop(self.current, "")
        try:
            self.iterate(iterable, body)
        finally:
            self.broken[self.current] = around

    def reduced(
        self, value: Value, start: Value | None, step: Callable[[Value, Value], Value]
    ) -> Value:
        """Combine the items of an iterable one by one."""
        frame = self.current
        if start is None:
            sequence = self.require(value)
            message = "reduce() of empty iterable with no initial value"
            self.need_some(sequence, TypeError, message)
            start = sequence.item(ir.Const(0))
            rest = self.binary(operator.sub, sequence.length, ir.Const(1))
            value = Sequence(
                rest,
                lambda i: sequence.item(self.binary(operator.add, i, ir.Const(1))),
                sequence.structural,
            )
        name = self.hidden(start)

        def combine(item: Value) -> None:
            total = self.state.frames[frame][name]
            zero = isinstance(total, ir.Const) and total.value == 0
            first = (
                zero
                and step is not None
                and isinstance(start, ir.Const)
                and isinstance(item, ir.Var)
                and isinstance(item.kind, (Scalar, Array))
                and not self.in_loop()
            )
            new = item if first else step(total, item)
            self.state.frames[frame][name] = new  # which isn't the state before, if it branched

        self.iterate(value, combine)
        return self.known("the total", self.state.frames[frame].pop(name))

    def need_some(self, sequence: Sequence, error: type[BaseException], message: str) -> None:
        """Inside a try: raise what Python raises where there is no first item, before it's read."""
        length = sequence.length
        if self.trying is None or self.surely_runs(length):
            return

        def fail() -> None:
            raised = self.fault(error, message)
            raised.late = True
            raise raised

        empty = self.truth(self.compare(gast.Eq(), length, ir.Const(0)))
        if isinstance(empty, ir.Var):
            self.branch(empty, fail, nothing)
        elif empty.value:
            fail()

    def in_loop(self) -> bool:
        return True


def _counted_items(getter: Any, length: Any) -> str | None:
    """What the items are called of two methods `return self.items[i]`, `return len(self.items)`."""
    bodies = [[s for s in m.body if not isinstance(s, gast.Expr)] for m in (getter, length)]
    match [s.value for body in bodies for s in body if isinstance(s, gast.Return)]:
        case (
            gast.Subscript(value=gast.Attribute() as held, slice=gast.Name(id=key)),
            gast.Call(func=gast.Name(id="len"), args=[gast.Attribute() as counted], keywords=[]),
        ) if [len(body) for body in bodies] == [1, 1]:
            names = [a.id for a in (*getter.args.args, *length.args.args)]
            owners = [getattr(part.value, "id", None) for part in (held, counted)]
            if names == [owners[0], key, owners[1]] and held.attr == counted.attr:
                return str(held.attr)
    return None
