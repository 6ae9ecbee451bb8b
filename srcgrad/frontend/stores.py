"""Stores: `container[key] = value`, what may not be written so, and `del container[key]`."""

from __future__ import annotations

import collections
import operator
from typing import Any

import numpy as np

from .. import ir, runtime
from ..analysis.aliasing import holds_memory
from ..analysis.elementwise import number_kind
from ..errors import Boxed
from ..kinds import (
    UNKNOWN,
    Array,
    ListOf,
    Opaque,
    Reference,
    TupleOf,
    kind_of,
)
from .overlaps import is_basic
from .predicates import (
    NONE,
    is_none,
    is_number,
)
from .restarts import NeedStatic, Unkeepable
from .structure import constant
from .subscripts import Subscripts
from .values import (
    Bound,
    Choice,
    DictObject,
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
from .wording import described

MOST_ITEMS = 64  # of a tuple or list that an unrolled loop takes its items from one by one


class Stores(Subscripts):
    """Lowers assignments to items and parts."""

    def store(self, container: Value, key: Value, value: Value) -> None:
        """`container[key] = value` on an array."""
        if isinstance(value, Choice) and any(map(self.is_ours, value.options)):

            def put(option: Value) -> Value:
                self.store(container, key, option)
                return NONE

            self.for_each(value, put)
            return
        if self.is_ours(value):
            value = self.call(Place(np.asarray), [value], {})
        array = self.operand(container)
        if is_number(array):
            raise self.fault(TypeError, f"{described(array)} doesn't support item assignment")
        if not isinstance(array, ir.Var) or not isinstance(array.kind, (Array, Opaque)):
            raise self.refuse(f"{described(container)} can't be assigned to by index")
        self.refuse_base(array)
        self.refuse_boxed(array, key, value)
        of_range = isinstance(value, Sequence) and value.bounds is not None
        listed = of_range or isinstance(value, Tuple)
        listed = listed or isinstance(self.on_heap(value), ListObject)
        items = self.stored_items(value)
        if listed:
            value = self.data(value, "array")
        operand = self.operand(value)
        index = self.index(key)
        self.guard_written(array)
        self.guard_index(array, index)
        if listed:
            self.check_nested(array, index, operand)
        self.check_items_unread(array, index, items)
        self.guard_store(array, index, operand)
        self.check_floats(array, operand)
        if picks_each(array, index):
            self.check_unread(array, operand)
        self.modify(operator.setitem, array, index, operand)

    def refuse_boxed(self, array: ir.Var, key: Value, value: Value) -> None:
        """Refuse to store what isn't a number in an array of objects, where it stays what it is."""
        if not isinstance(array.kind, Array) or not is_objects(array.kind):
            return
        if isinstance(value, ir.Const) or is_number(value):
            return
        numbers = ir.Var(array.name, Array(np.dtype(float), array.kind.shape))
        one = self.result_of(operator.getitem, (numbers, self.index(key)), {}).kind
        listed = isinstance(self.on_heap(value), ListObject)
        if isinstance(one, Array) and (listed or isinstance(value, (Tuple, Sequence, ir.Var))):
            return  # its items are stored
        message = f"{described(value)} that is kept in an array of objects can't be followed"
        raise Boxed(message, self.span, "keep it in a list")

    def check_nested(self, array: ir.Var, index: ir.Operand, listed: ir.Operand) -> None:
        """Lists within lists need as many axes, of which an array made of them might lack some."""
        if not is_basic(index) or is_objects(array.kind):
            return
        place = self.result_of(operator.getitem, (array, index), {}).kind
        value = listed.kind if isinstance(listed, ir.Var) else kind_of(constant(listed)[1])
        axes, depth = (getattr(k, "shape", None) for k in (place, value))
        if axes is None or depth is None:
            self.act(runtime.check_nested, array, index, listed)
        elif len(axes) < len(depth):
            message = runtime.TOO_NESTED.format(len(axes))
            raise self.fault(ValueError, message, given=(message,))

    def check_floats(self, array: ir.Var, *values: ir.Operand) -> None:
        """Where an array may be one of ints, find out before floats are written into it."""
        span = self.span
        if span is None or isinstance(span, ir.Origin):
            return  # an adjoint isn't one
        if not isinstance(array.kind, Array) or array.kind.dtype is not None:
            return
        kinds = {v: number_kind(v) for v in values if not isinstance(v, ir.Pack)}
        unsure = [v for v, k in kinds.items() if k is None or k.dtype is None]
        floats = any(
            k is not None and k.dtype is not None and k.dtype.kind in "fc" for k in kinds.values()
        )
        if floats or unsure:
            self.act(runtime.check_floats, array, ir.Const(span.place), *(() if floats else unsure))

    def check_rereading(
        self, written: int | str, args: list[Value], kwargs: dict[str, Value]
    ) -> None:
        """Have a function that reads what it has just written read something else."""
        given: dict[int | str, Value] = dict(enumerate(args))
        given.update(kwargs)
        array = given.pop(written, None)
        if isinstance(array, ir.Var):
            self.check_unread(array, *map(self.argument, given.values()))

    def check_unread(self, array: ir.Var, *values: ir.Operand) -> None:
        """Where what is written may be read meanwhile, find out; refuse it where it surely is.

        Once all is lowered, it is known where it can't be: see `overlaps`.
        """
        span = self.span
        if span is None or isinstance(span, ir.Origin):
            return  # an adjoint isn't read
        read = [
            v for v in ir.variables_of(values)
            if holds_memory(v.kind) and getattr(v.kind, "shape", None) != ()
        ]  # fmt: skip
        if any(array in self.bases(v) or v in self.bases(array) for v in read):
            raise self.refuse(runtime.READS_WRITTEN, runtime.WRITE_COPY)
        if read:
            self.act(runtime.check_unread, array, ir.Const(span.place), *read)

    def stored_items(self, value: Value) -> ir.Operand:
        """The arrays in a list or tuple that is stored, which NumPy takes one after the other."""
        listed = self.on_heap(value) if isinstance(value, Ref) else value
        if isinstance(listed, (ListObject, Tuple)):
            whole = listed.var if isinstance(listed, ListObject) else listed.whole
            if whole is None:
                return ir.Pack(tuple, tuple(map(self.stored_items, listed.items)))
            listed = whole
        return listed if isinstance(listed, ir.Var) and holds_memory(listed.kind) else NONE

    def check_items_unread(self, array: ir.Var, index: ir.Operand, items: ir.Operand) -> None:
        """Where arrays in a list may be written before they are read, find out."""
        span = self.span
        if span is None or isinstance(span, ir.Origin) or not is_basic(index):
            return
        if isinstance(items, ir.Var) and not isinstance(items.kind, (ListOf, TupleOf)):
            return  # NumPy looks out for what an array shares
        if any(ir.variables_of((items,))):
            self.act(runtime.check_items_unread, array, index, ir.Const(span.place), items)

    def refuse_base(self, array: Value) -> None:
        """Refuse to write into `view.base`, of which it isn't known whose memory it is."""
        kind = array.kind if isinstance(array, ir.Var) else None
        if isinstance(kind, Opaque) and kind.type is memoryview:
            raise self.refuse("the base of a view isn't written", "write into the array itself")

    def own_way(self, container: Value, name: str) -> Value | None:
        """What a user's list or dict does in its own way; None if it does it as a plain one."""
        thing = self.state.heap[container.id] if isinstance(container, Ref) else None
        held = isinstance(thing, (ListObject, DictObject))
        return self.added_attribute(container, thing.type, name) if held else None  # type: ignore[union-attr]

    def put_item(self, container: Value, key: Value, value: Value) -> Value:
        """`container[key] = value`, as the container's class says."""
        if isinstance(container, Choice) and self.any_own(container, "__setitem__"):
            return self.for_each(container, lambda option: self.put_item(option, key, value))
        written = self.own_way(container, "__setitem__")
        if written is not None:
            return self.call(written, [key, value], {})
        self.store_item(container, key, value)
        return NONE

    def take_item(self, container: Value, key: Value) -> Value:
        """`del container[key]`, as the container's class says."""
        if isinstance(container, Choice) and self.any_own(container, "__delitem__"):
            return self.for_each(container, lambda option: self.take_item(option, key))
        written = self.own_way(container, "__delitem__")
        if written is not None:
            return self.call(written, [key], {})
        return self.builtin_delitem(container, key)

    def any_own(self, choice: Choice, name: str) -> bool:
        return any(self.own_way(option, name) is not None for option in choice.options)

    def store_item(self, container: Value, key: Value, value: Value) -> None:
        """Keep an item, as a plain container does."""
        container = self.spread(container)
        if isinstance(container, ir.Var):
            key = self.as_shape(key)
        key = self.tuple_or_none(key)
        if isinstance(key, Choice):

            def put_at(option: Value) -> Value:
                self.store_item(container, option, value)
                return NONE

            self.for_each(key, put_at)
            return
        if isinstance(container, Choice):

            def put(option: Value) -> Value:
                self.store_item(option, key, value)
                return NONE

            self.for_each(container, put)
            return
        if is_none(container):
            raise self.fault_of_none(TypeError, "does not support item assignment")
        key = self.as_slice(container, key)
        if isinstance(container, ir.Var) and isinstance(container.kind, Reference):
            lacking = "{} object does not support item assignment"
            self.by_class(container, "__setitem__", [key, value], lacking)
            return
        if isinstance(container, Ref):
            thing = self.state.heap[container.id]
            if isinstance(thing, Instance):
                found = self.class_attribute(thing.type, "__setitem__")
                if found is None:
                    raise self.refuse(f"{thing.type.__name__} doesn't support item assignment")
                self.call(Bound(found, container), [key, value], {})
                return
            self.writable(thing)
            if isinstance(thing, DictObject):
                if self.asks_at_run_time(container, key):
                    self.store_item(container, key, value)
                    return
                self.put_items(container, {**thing.items, self.hashed(key): value})
                return
            if thing.var is None and isinstance(key, ir.Const):
                items = list(thing.items)
                try:
                    items[key.value] = value
                except IndexError:
                    message = "list assignment index out of range"
                    raise self.fault(IndexError, message, given=(message,)) from None
                except TypeError as error:
                    raise self.fault(TypeError, str(error)) from None
                self.state.heap[container.id] = ListObject(tuple(items), type=thing.type)
                return
            if thing.var is None and isinstance(key, Slice):
                known = self.static_slice(key)
                if known is not None:
                    items = list(thing.items)
                    try:
                        items[known] = self.unpacked(value)
                    except ValueError as error:
                        raise self.fault(ValueError, str(error)) from None
                    self.state.heap[container.id] = ListObject(tuple(items), type=thing.type)
                    return
            if isinstance(key, Slice):
                self.replace_slice(container, key, value)
                return
            try:
                var = self.materialized(container, key)
                assert isinstance(var.kind, ListOf)
                value = self.as_item(var.kind.item, value)
                self.keep(var, value)
                self.note_rank(var, key)
            except Unkeepable as error:
                held = self.state.heap[container.id].var  # type: ignore[union-attr]
                origins: frozenset[Any] = frozenset()
                for v in (key, held):
                    origins |= v.origins if isinstance(v, ir.Var) else frozenset()
                if not origins:
                    raise
                need = NeedStatic(origins, "an index into a list", self.span)
                need.records |= error.slots
                raise need from None
            index = self.operand(key)
            self.guard_index(var, index)
            self.modify(operator.setitem, var, index, self.kept_operand(value))
            return
        if isinstance(container, Journal):
            self.store_journal(container, key, value)
            return
        if isinstance(container, Place):
            raise self.refuse(
                "this object belongs to the caller, who would see it change",
                "make a copy of it first, or return the value",
            )
        self.store(container, key, value)

    def builtin_delitem(self, container: Value, key: Value) -> Value:
        """Take an item out, as a plain container does."""
        container = self.spread(container)
        if isinstance(container, Choice):
            return self.for_each(container, lambda option: self.builtin_delitem(option, key))
        if is_none(container):
            raise self.fault_of_none(TypeError, "doesn't support item deletion")
        thing, key = self.thing(container), self.as_slice(container, key)
        if isinstance(thing, Instance):
            found = self.class_attribute(thing.type, "__delitem__")
            if found is None:
                raise self.fault(TypeError, f"{thing.type.__name__} doesn't support del")
            self.call(Bound(found, container), [key], {})
        elif isinstance(thing, DictObject):
            lenient = [NONE] if issubclass(thing.type, collections.Counter) else []
            self.call(self.attribute(container, "pop"), [key, *lenient], {})
        elif isinstance(key, Slice):
            kept: Value = Tuple(())
            known = None if is_none(key.step) else self.static_slice(key)
            if isinstance(thing, ListObject) and thing.var is None and known is not None:
                items = list(thing.items)
                del items[known]
                key, kept = Slice(NONE, NONE, NONE), Tuple(tuple(items))
            self.store_item(container, key, kept)
        elif isinstance(thing, ListObject):
            self.call(ir.Const(list.pop), [container, key], {})
        else:
            raise self.refuse(f"del of an item of {described(container)} can't be followed")
        return NONE


def is_objects(kind: Any) -> bool:
    return isinstance(kind, Array) and kind.dtype is not None and kind.dtype.kind == "O"


def picks_each(array: ir.Var, key: ir.Operand) -> bool:
    """Whether a key may be a mask that says of each element whether it is meant.

    Through such a one NumPy copies number by number, and looks out for nothing.
    """
    if isinstance(key, ir.Pack) and key.type is tuple and len(key.items) == 1:
        key = key.items[0]
    if isinstance(key, ir.Const):
        mask = kind_of(key.value)
    elif isinstance(key, ir.Var):
        mask = key.kind
    else:
        return False
    if not isinstance(mask, Array) or (mask.dtype is not None and mask.dtype.kind != "b"):
        return mask is UNKNOWN
    ranks = [
        k.shape if k.shape is None else len(k.shape)
        for k in (mask, array.kind)
        if isinstance(k, Array)
    ]
    return None in ranks or len(set(ranks)) == 1
