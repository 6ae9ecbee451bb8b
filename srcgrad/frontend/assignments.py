"""Assignment: to names, items and attributes; unpacking, augmented assignment, `del`."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import gast
import numpy as np

from .. import ir, runtime
from ..analysis.inference import Inferred
from ..errors import UnsupportedError
from ..kinds import SHAPE, Array, Opaque, Reference, Size, is_float
from ..rules import registry
from .attributes import FLAGS
from .choices import options
from .matching import Matching
from .operations import check_count
from .operators import BINARY, INPLACE, is_of_numpy
from .predicates import NONE
from .restarts import NeedStatic
from .setters import is_of_python
from .structure import is_long
from .subclasses import added_by
from .values import (
    Bound,
    Choice,
    Closure,
    Generator,
    Instance,
    Journal,
    ListObject,
    Place,
    Ref,
    Sequence,
    Slice,
    Tuple,
    Value,
)


class Assignments(Matching):
    """Gives names, items and attributes their values."""

    def statement_Assign(self, node: Any) -> None:
        self.assign_all(node, node.value)

    def assign_all(self, node: Any, value: Any) -> None:
        """Assign what an expression is to all targets; what is unpacked, in each case apart."""
        unpacked = any(isinstance(t, (gast.Tuple, gast.List)) for t in node.targets)
        if unpacked and isinstance(value, gast.IfExp):
            self.decided(
                self.tested(value.test),
                lambda: self.assign_all(node, value.body),
                lambda: self.assign_all(node, value.orelse),
            )
            return
        assigned = self.expression(value)
        for target in node.targets:
            self.at(node)
            self.assign(target, assigned)

    def statement_AnnAssign(self, node: Any) -> None:
        if node.value is not None:
            self.assign(node.target, self.expression(node.value))

    def assign(self, target: Any, value: Value) -> None:
        match target:
            case gast.Name():
                self.bind(target.id, value)
            case gast.Tuple() | gast.List():
                self.unpack(target.elts, value)
            case gast.Starred():
                self.assign(target.value, value)
            case gast.Subscript():
                container = self.expression(target.value)
                self.put_item(container, self.written_key(target.slice), value)
            case gast.Attribute():
                flags = isinstance(target.value, gast.Attribute) and target.value.attr == "flags"
                owner = self.expression(target.value.value) if flags else NONE
                thing = self.attribute(owner, "flags") if flags else self.expression(target.value)
                if isinstance(thing, ir.Var) and thing.kind == Opaque(FLAGS):
                    if target.attr == "writeable" and flags:
                        self.call(ir.Const(np.ndarray.setflags), [owner, value], {})
                    return
                if isinstance(thing, ir.Var) and target.attr == "shape":
                    reshaped = self.attribute(thing, "reshape")
                    self.rename(target.value, thing, self.call(reshaped, [value], {}))
                    return
                if isinstance(thing, ir.Var) and isinstance(thing.kind, Array):
                    self.assign_array_attribute(thing, target.attr, value)
                    return
                self.set_attribute(thing, target.attr, value)
            case _:
                raise self.refuse(f"assignment to {type(target).__name__} isn't supported")

    def unpack(self, targets: list[Any], value: Value) -> None:
        value = self.spread(value)
        if isinstance(value, Choice):

            def take(option: Value) -> Value:
                self.unpack(targets, option)
                return NONE

            self.for_each(value, take)
            return
        star = next((i for i, t in enumerate(targets) if isinstance(t, gast.Starred)), None)
        known = isinstance(value, ir.Var) and isinstance(value.kind, Array)
        if star is None and (known or getattr(value, "kind", None) == Opaque(None)):
            sequence = self.require(value)
            self.check_count(value if known else sequence, len(targets))
            items = [sequence.item(ir.Const(i)) for i in range(len(targets))]
        else:
            if isinstance(value, Generator) or getattr(value, "kind", None) == SHAPE:
                value = self.list_of_items(value)
            value, site = self.taken_from(value), ("%unpack", *map(id, targets[:1]))
            if site in self.known_sites and self.unpack_list(targets, star, value):
                return
            used = self.state.used
            try:
                items = self.unpacked(value)
            except NeedStatic as need:  # which asks for loops to be unrolled, if they can be
                need.origins |= {site}
                raise
            except UnsupportedError:
                if isinstance(value, Sequence):
                    self.state.used = used
                    value = self.builtin_list(value)
                if not self.unpack_list(targets, star, value):
                    raise
                return
        if star is None:
            if len(items) != len(targets):
                raise self.miscounted(
                    f"{len(items)} values can't be unpacked into {len(targets)} names"
                )
            for target, item in zip(targets, items, strict=True):
                self.assign(target, item)
            return
        after = len(targets) - star - 1
        if len(items) < star + after:
            raise self.miscounted("not enough values to unpack")
        for target, item in zip(targets[:star], items[:star], strict=True):
            self.assign(target, item)
        before, self.site = self.site, id(targets[star])
        middle = self.new(ListObject(tuple(items[star : len(items) - after])))
        self.site = before
        self.assign(targets[star], middle)
        for target, item in zip(targets[star + 1 :], items[len(items) - after :], strict=True):
            self.assign(target, item)

    def miscounted(self, message: str) -> UnsupportedError:
        """What is wrong with so many items: the run may only go where there are others."""
        error = self.fault(ValueError, message)
        error.late = True
        return error

    def taken_from(self, value: Value) -> Value:
        """What an object is iterated over: a list, if only the run knows how many items."""
        sequence = self.sequence(value) if isinstance(self.thing(value), Instance) else None
        if sequence is None:
            return value
        if isinstance(sequence.length, ir.Const):
            return Tuple(tuple(self.unrolled_items(sequence, value)))
        return self.builtin_list(sequence)

    def check_count(self, value: Value, count: int, more: bool = False) -> None:
        """See to it that there are as many items as names, or `more`, or that this is raised.

        Nothing but an array of this length could be unpacked, so an argument's is made known.
        """
        kind = value.kind if isinstance(value, ir.Var) else None
        length = kind.shape[0] if isinstance(kind, Array) and kind.shape else None
        if isinstance(length, Size) and length.offset == 0 and length.base in self.outer_sizes:
            raise NeedStatic(self.size_origins[length.base], "its length must be known", self.span)
        if length != count:
            exact = ir.Const(self.trying is not None)
            self.call_object(check_count, [value, ir.Const(count), ir.Const(more), exact], {})

    def unpack_list(self, targets: list[Any], star: int | None, value: Value) -> bool:
        """Unpack a list that exists at run time, its length unknown; False if it isn't one."""
        thing = self.on_heap(value)
        if not isinstance(thing, ListObject) or thing.var is None:
            return False
        self.check_count(thing.var, len(targets) - (star is not None), star is not None)
        for i, target in enumerate(targets):
            after = len(targets) - 1 - i
            if star is None or i < star:
                self.assign(target, self.subscript(value, ir.Const(i)))
            elif i > star:
                self.assign(target, self.subscript(value, ir.Const(-after - 1)))
            else:
                stop = ir.Const(-after) if after else NONE
                part = self.subscript(value, Slice(ir.Const(i), stop, NONE))
                self.assign(
                    target, self.builtin_list(part) if is_long(self.on_heap(part)) else part
                )
        return True

    def statement_AugAssign(self, node: Any) -> None:
        function = BINARY[type(node.op)]
        target = node.target
        match target:
            case gast.Name():
                old = self.lookup(target.id)
                value = self.expression(node.value)
                self.at(node)
                new = self.augmented(function, old, value)
                if new is not old or self.found(target.id, read=False) != old:
                    self.bind(target.id, new)
            case gast.Subscript():
                container, key = self.expression(target.value), self.written_key(target.slice)
                if isinstance(container, ir.Var) and container in self.flats:
                    container, key = self.flat_place(self.flats[container][0], key)
                old = self.subscript(container, key)
                is_view = self.is_view(old, container)
                before = self.held_items(container)
                value = self.expression(node.value)
                same = self.keeps_items(container, before)
                self.at(node)
                if isinstance(container, ir.Var) and container in self.imaginary:
                    self.augment_imaginary(function, self.imaginary[container], key, old, value)
                    return
                if self.is_of_array(old, container):
                    self.store_item(container, key, self.binary(function, old, value))
                    return
                new = self.augmented(function, old, value)
                if new is not old or not is_view or not same or not self.keeps_item(container):
                    self.put_item(container, key, new)
            case gast.Attribute():
                thing = self.expression(target.value)
                old = self.attribute(thing, target.attr)
                before = self.held_items(thing)
                value = self.expression(node.value)
                same = self.keeps_items(thing, before)
                self.at(node)
                new = self.augmented(function, old, value)
                if new is not old or not same or not self.keeps_attribute(thing, target.attr):
                    self.set_attribute(thing, target.attr, new)
            case _:
                raise self.refuse("this augmented assignment isn't supported")

    def held_items(self, container: Value) -> tuple[list[Any], ir.Block, int]:
        """What a container holds here, if that is known, and where here is."""
        found = [self.on_heap(option) for option in options(self.spread(container))]
        return found, self.block, len(self.block.statements)

    def keeps_items(self, container: Value, before: tuple[list[Any], ir.Block, int]) -> bool:
        """Whether a container surely holds what it held before: calls in between may put other
        items in it (`self.v += self.moved()`)."""
        things, block, count = before
        now, here, _ = self.held_items(container)
        if len(now) != len(things) or any(a is not b for a, b in zip(now, things, strict=True)):
            return False
        at_run_time = any(isinstance(thing, ListObject) and thing.var is not None for thing in now)
        rows = (isinstance(getattr(o, "kind", None), Reference) for o in options(container))
        if not at_run_time and not any(rows):
            return True
        done = ir.walk(ir.Block(block.statements[count:]))
        return here is block and not any(
            isinstance(s, ir.Assign) and (s.effect or s.writes) for s in done
        )

    def keeps_item(self, container: Value) -> bool:
        """Whether storing an item where it was read does nothing, as in arrays, lists and dicts."""
        for option in options(self.spread(container)):
            is_row = isinstance(option, ir.Var) and isinstance(option.kind, Reference)
            if is_row or isinstance(option, Tuple) or isinstance(self.thing(option), Instance):
                return False
        return True

    def is_view(self, old: Value, container: Value) -> bool:
        """Whether an item just read shares its memory with its container."""
        if not isinstance(old, ir.Var):
            return True
        for statement in reversed(self.block.statements):
            if isinstance(statement, ir.Assign) and statement.target is old:
                return bool(statement.views)
        return not isinstance(container, ir.Var)

    def augmented(self, function: Callable[..., Any], old: Value, value: Value) -> Value:
        """`old op= value`: in place for arrays and lists, a new value for numbers."""
        self.refuse_base(old)
        if isinstance(old, ir.Var) and old in self.imaginary:
            self.augment_imaginary(function, self.imaginary[old], ir.Const(Ellipsis), old, value)
            return old
        if isinstance(choice := self.spread(old), Choice):
            return self.for_each(choice, lambda option: self.augmented(function, option, value))
        if isinstance(old, Ref) and isinstance(choice := self.spread(value), Choice):
            if any(self.makes_an_array(function, option) for option in choice.options):
                return self.for_each(choice, lambda o: self.augmented(function, old, o))
        if isinstance(old, Journal) and isinstance(old.thing, list) and function is operator.add:
            if is_of_numpy(value):
                raise self.refuse("a list outside plus an array is an array, not the list")
            self.call_of_journal(list.extend, [old, value], {})
            return old
        if isinstance(old, ir.Var) and isinstance(old.kind, Array):
            if old.kind.shape is None:
                return self.augmented_unknown(function, old, value)
            inplace = INPLACE[function]
            value = self.range_as_array(value, old)
            if self.trying is not None:
                self.guard_augmented(function, old, self.number(value))
            self.modify(inplace, old, self.number(value))
            return old
        name = f"__i{function.__name__.strip('_')}__"
        if isinstance(old, Ref) and name not in added_by(self.container_class(old) or list):
            thing = self.state.heap[old.id]
            if is_long(thing) or (
                isinstance(thing, ListObject) and self.makes_an_array(function, value)
            ):
                return self.binary(function, old, value)
            if isinstance(thing, ListObject) and function is operator.add:
                self.extend(old, value)
                return old
            if isinstance(thing, ListObject) and function is operator.mul:
                self.store_item(old, Slice(NONE, NONE, NONE), self.binary(function, old, value))
                return old
            if self.dict_augmented(function, old, value):
                return old
        cls = getattr(self.thing(old), "type", None)
        found = None if cls is None else self.class_attribute(cls, name)
        if isinstance(found, (Place, Closure)):
            result = self.call(Bound(found, old), [value], {})
            if not self.is_declined(result):
                return result
        if isinstance(old, ir.Var) and isinstance(old.kind, Opaque) and self.is_made_here(old):
            inplace = INPLACE[function]
            if hasattr(old.kind.type, f"__{inplace.__name__}__"):  # it may write into the object
                operands = (old, self.operand(value))
                return self.emit(inplace, operands, inferred=Inferred(old.kind), effect=True)
        if isinstance(old, ir.Var) and old.kind == Opaque(None):
            return self.augmented_unknown(function, old, value)
        return self.binary(function, old, value)

    def augmented_unknown(self, function: Callable[..., Any], old: ir.Var, value: Value) -> Value:
        """`old op= value` of what only the run knows: it sees to it that nothing is written.

        What turns out to be nobody else's may be: that isn't seen.
        """
        if old.origins:
            message = "whether this is an array, written in place, or a number isn't known here"
            self.need_static(old, message)
        place = "" if self.span is None else f"{self.span.filename}, line {self.span.line}: "
        method = f"__{INPLACE[function].__name__}__"
        check = old, ir.Const(method), ir.Const(place)
        if not isinstance(old.kind, Array):
            self.act(runtime.check_unwritten, *check)
            return self.binary(function, old, value)
        result = self.binary(function, old, value)
        self.act(runtime.check_unwritten, *check)
        if not (is_float(old.kind) and is_of_python(value)):
            self.act(runtime.check_as_written, old, self.operand(result))
        return result

    def is_made_here(self, var: ir.Var) -> bool:
        """Whether an object is a new one of a class, not one that the caller may see change."""
        for s in reversed(self.block.statements):
            if isinstance(s, ir.Assign) and s.target is var:
                return isinstance(s.function, type) or s.function in INPLACE.values()
        return False

    def statement_Delete(self, node: Any) -> None:
        for target in node.targets:
            match target:
                case gast.Name():
                    self.lookup(target.id)
                    self.leave_unbound(target.id)
                case gast.Subscript():
                    container = self.expression(target.value)
                    self.take_item(container, self.written_key(target.slice))
                case gast.Attribute():
                    self.delete_attribute(self.expression(target.value), target.attr)
                case gast.Tuple() | gast.List():
                    self.statement_Delete(gast.Delete(target.elts))
                case _:
                    raise self.refuse("this del isn't supported")

    def reshaping(self, node: Any) -> bool:
        """Lower a call of a method that gives an array another shape; whether it is one."""
        method = node.func if isinstance(node, gast.Call) else None
        if not isinstance(method, gast.Attribute) or method.attr not in registry.reshaping:
            return False
        if not isinstance(method.value, (gast.Name, gast.Attribute)):
            return False
        array = self.expression(method.value)
        if not isinstance(array, ir.Var) or not isinstance(array.kind, Array):
            return False
        args = [self.expression(a) for a in node.args]
        kwargs = {k.arg: self.expression(k.value) for k in node.keywords}
        function = Place(registry.reshaping[method.attr])
        self.rename(method.value, array, self.call(function, [array, *args], kwargs))
        return True

    def rename(self, target: Any, array: ir.Var, reshaped: Value) -> None:
        """Let a name stand for its array in another shape."""
        self.check_sole(array)
        self.assign(target, reshaped)
