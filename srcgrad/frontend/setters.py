"""Assigning attributes, and deleting them.

Of an object made here, its items change. Of one outside, the assignment is noted, to be made by the
generated code. Of an array, what is written is what reading the attribute shows.
"""

from __future__ import annotations

import operator
import types
from collections.abc import Iterator
from dataclasses import FrozenInstanceError, replace
from typing import Any

import numpy as np

from .. import ir, runtime
from ..analysis.aliasing import holds_memory
from ..kinds import Array, Scalar
from ..packages import lacks_room, of_class
from ..rules.inplace import resized
from .attributes import MEMBERS, Attributes
from .choices import options
from .columns import is_reference
from .predicates import NONE, is_none, is_number, shape_of
from .structure import ABSENT, object_items, parts, references
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
    Value,
    as_value,
)
from .wording import described

READ_ONLY = "assignment destination is read-only"


class Setters(Attributes):
    """Assigns to `value.name`."""

    def set_attribute(self, target: Value, name: str, value: Value) -> None:
        if isinstance(target, Choice):

            def put_in(option: Value) -> Value:
                self.set_attribute(option, name, value)
                return NONE

            self.for_each(target, put_in)
            return
        if is_none(target):
            raise self.fault_of_none(AttributeError, f"has no attribute {name!r}")
        target = self.spread(target)
        if isinstance(target, Choice):
            self.set_attribute(target, name, value)
            return
        if isinstance(target, Place):
            taken = self.outer(target.value, None)
            if taken is None and self.write_count(self.outer_holder(target, name), value):
                return
            target = self.brought_in(target)
        thing = self.thing(target)
        if isinstance(target, Ref) and isinstance(thing, DictObject):
            if self.set_item_by_attribute(target, thing, name, value):
                return
        if name == "__isabstractmethod__" and isinstance(target, Closure):
            target.__isabstractmethod__ = bool(self.key(value))
            return
        if not isinstance(thing, Instance):
            cls = target.value if isinstance(target, ir.Const) else None
            if isinstance(cls, type) or isinstance(target, Closure):
                what = f"the class {cls.__name__}" if isinstance(cls, type) else "a function"
                raise self.refuse(
                    f"assigning .{name} of {what} can't be followed",
                    "keep it in an attribute of an object, or in a variable",
                )
            if is_number(target):
                raise self.fault(AttributeError, f"{described(target)} has no attributes to assign")
            raise self.refuse(
                f"assigning an attribute of {described(target)}, which the caller would see, "
                "can't be differentiated",
                "return the value instead",
            )
        if thing.external:
            self.want_own(thing)
            raise self.refuse(
                f"assigning to {thing.external}.{name}, which the caller would see, "
                "can't be differentiated",
                "make a copy of the object first, or return the value instead",
            )
        self.unfrozen(thing)
        code = self.assignment(thing.type, target, name)
        if code is None:
            self.plain_setattr(target, ir.Const(name), value)
            return
        function, first = code
        self.call(function, [*first, value], {})

    def set_item_by_attribute(
        self, target: Ref, thing: DictObject, name: str, value: Value
    ) -> bool:
        """Assign an attribute of a user's dict, if its items are its attributes."""
        if name == "__dict__" and value == target:
            self.state.heap[target.id] = replace(thing, is_namespace=True)
            return True
        setter = self.added_attribute(target, thing.type, "__setattr__")
        if setter is not None:
            self.call(setter, [ir.Const(name), value], {})
        elif thing.is_namespace:
            self.store_item(target, ir.Const(name), value)
        return setter is not None or thing.is_namespace

    def set_vars(self, target: Value, value: Value) -> None:
        """`target.__dict__ = value`: from here on, the object's attributes are the dict's items."""
        thing = self.thing(value)
        mine = isinstance(value, Ref) and isinstance(thing, DictObject) and thing.type is dict
        if not mine or not isinstance(target, Ref):
            advice = "assign each of its items"
            raise self.refuse("this can't be made the attributes of an object", advice)
        assert isinstance(value, Ref) and isinstance(thing, DictObject)
        self.writable(thing)
        shared = self.builtin_vars(target)
        frames = self.state.frames.values()
        names = [(frame, name) for frame in frames for name in frame if frame[name] == value]
        for frame, name in names:
            frame[name] = shared
        if references(self.state, value) or references(self.state, shared) > 1 + len(names):
            raise self.refuse("this dict is held elsewhere, too", "assign each of its items")
        self.put_items(target, thing.items)

    def assignment(self, cls: type, target: Value, name: str) -> tuple[Value, list[Value]] | None:
        """What of a class runs when an attribute is assigned, and what it gets before the value.

        None where the value is just kept.

        Raises:
            Raised: an exception, as by the assignment.
        """
        if _frozen_by(cls) is not None:
            self.check_frozen(cls, name, "assign to")
            return self.described_assignment(cls, target, name)
        setter = self.class_attribute(cls, "__setattr__")
        own = isinstance(setter, Closure) or (
            isinstance(setter, ir.Const) and isinstance(setter.value, types.FunctionType)
        )
        if setter is not None and own:
            return Bound(setter, target), [ir.Const(name)]
        return self.described_assignment(cls, target, name)

    def check_frozen(self, cls: type, name: str, what: str) -> None:
        """Raise what a frozen dataclass does where its fields are assigned or deleted."""
        frozen = _frozen_by(cls)
        if frozen is not None and (cls is frozen or name in vars(frozen)["__dataclass_fields__"]):
            raise self.fault(FrozenInstanceError, f"cannot {what} field {name!r}")

    def delete_attribute(self, target: Value, name: str) -> None:
        """`del target.name`."""
        thing = self.on_heap(target)
        if not isinstance(thing, Instance) or thing.external or is_reference(target):
            raise self.refuse("this del isn't supported")
        assert isinstance(target, Ref)
        self.check_frozen(thing.type, name, "delete")
        own = self.class_attribute(thing.type, "__delattr__")
        if own is not None:
            self.call(Bound(own, target), [ir.Const(name)], {})
            return
        found = self.class_attribute(thing.type, name)
        if isinstance(found, ir.Const) and isinstance(found.value, property):
            if found.value.fdel is None:
                raise self.fault(AttributeError, f"property {name!r} has no deleter")
            self.call(Bound(as_value(found.value.fdel), target), [], {})
            return
        deleter = self.descriptor(found, "__delete__")
        if deleter is not None:
            self.call(deleter, [target], {})
            return
        if found is not None:
            there = name in thing.items and self.class_default(thing.type, name) is ir.UNDEFINED
            if not there:  # a property's, or it may be that of the class
                raise self.refuse("this del isn't supported")
        held = thing.items.get(name, ABSENT)
        self.insist(self.is_present(held), AttributeError, name)
        self.put_items(target, {k: v for k, v in thing.items.items() if k != name})

    def described_assignment(
        self, cls: type, target: Value, name: str
    ) -> tuple[Value, list[Value]] | None:
        """What a property or descriptor runs when assigned, and what it gets before the value.

        None where there is none. Where a class has a `__setattr__`, only that asks for it.
        """
        found = self.class_attribute(cls, name)
        if isinstance(found, ir.Const) and isinstance(found.value, property):
            if found.value.fset is None:
                raise self.fault(
                    AttributeError,
                    f"property {name!r} of {cls.__qualname__!r} object has no setter",
                )
            return Bound(as_value(found.value.fset), target), []
        put = self.descriptor(found, "__set__")
        return None if put is None else (put, [target])

    def keeps_attribute(self, target: Value, name: str) -> bool:
        """Whether assigning an attribute what it is does nothing: no code of a class runs."""
        for option in options(target):
            thing = self.thing(option)
            if isinstance(thing, Instance):
                cls = thing.type
            elif isinstance(option, Place):
                cls = type(option.value)
            else:
                continue
            if self.assignment(cls, option, name) is not None:
                return False
        return True

    def plain_setattr(self, target: Value, name: Value, value: Value) -> Value:
        """`object.__setattr__(target, name, value)`."""
        thing = self.thing(target)
        if not isinstance(thing, Instance) or thing.external:
            self.want_own(thing)
            raise self.refuse("assigning an attribute of this object can't be differentiated")
        self.unfrozen(thing)
        text = self.key(name)
        code = self.described_assignment(thing.type, target, text)
        if code is not None:
            function, first = code
            self.call(function, [*first, value], {})
            return NONE
        if text == "__dict__":
            self.set_vars(target, value)
            return NONE
        own = of_class(thing.type, text)
        if lacks_room(thing.type) and not isinstance(own, MEMBERS):
            what = "has no attribute {!r}" if own is None else "attribute {!r} is read-only"
            message = f"{thing.type.__name__!r} object {what.format(text)}"
            raise self.fault(AttributeError, message)
        if text == "__class__":
            raise self.refuse("the class of an object can't be changed", "make a new object")
        value = self.with_position(text, value)
        if isinstance(value, ir.Var) and not value.user:
            value.name = text
        if isinstance(target, ir.Var):
            self.write(target, text, value)
            return NONE
        assert isinstance(target, Ref)
        self.put_items(target, {**thing.items, text: value})
        return NONE

    def assign_array_attribute(self, array: ir.Var, name: str, value: Value) -> None:
        """`x.flat = v`, `z.real = v`: what is written is what reading the attribute shows."""
        if name == "real":
            self.store(self.attribute(array, name), ir.Const(Ellipsis), value)
        elif name == "imag":
            self.store_imaginary(array, ir.Const(Ellipsis), value)
        elif name == "flat":
            self.store(
                array, ir.Const(Ellipsis), self.filling(self.one_by_one(array, value), array)
            )
        elif not hasattr(np.ndarray, name):
            raise self.fault(AttributeError, f"an array has no attribute {name!r}")
        else:
            raise self.refuse(f"assigning to .{name} of an array isn't supported")

    def one_by_one(self, array: Value, value: Value) -> Value:
        """What is written by `x.flat`, which takes the items of nested sequences one by one."""
        if self.sequence_type(value) is not None:
            return self.call(ir.Const(np.asarray), [value], {})
        if isinstance(array, ir.Var) and isinstance(value, ir.Var):
            self.check_unread(array, value)
        return value

    def filling(self, value: Value, places: Value) -> Value:
        """The items of an array, repeated or cut to as many as there are places."""
        if not (isinstance(value, ir.Var) and shape_of(value)):
            return value
        return self.call(ir.Const(resized), [value, self.attribute(places, "shape")], {})

    def store_imaginary(self, array: ir.Var, key: Value, value: Value) -> None:
        """`z.imag[key] = value`: the adjoint of the imaginary part isn't a view of that of z."""
        self.check_complex(array)
        value = self.attribute(self.number(value), "real")  # type: ignore[arg-type]
        real = self.attribute(self.subscript(array, key), "real")
        imaginary = self.binary(operator.mul, ir.Const(1j), self.operand(value))  # type: ignore[arg-type]
        self.store(array, key, self.binary(operator.add, real, imaginary))

    def check_complex(self, array: ir.Var) -> None:
        """The imaginary part of real numbers can't be written."""
        dtype = array.kind.dtype if isinstance(array.kind, Array) else None
        if dtype is None:
            raise self.refuse(
                "whether these numbers are complex isn't known here", "make them so: z = z + 0j"
            )
        if dtype.kind != "c":
            raise self.fault(ValueError, READ_ONLY, given=(READ_ONLY,))

    def augment_imaginary(
        self, function: Any, array: ir.Var, key: Value, old: Value, value: Value
    ) -> None:
        """`z.imag[key] op= value`: what comes out is made in a copy of the old, and stored."""
        if isinstance(old, ir.Var) and isinstance(old.kind, Array):
            old = self.call(self.attribute(old, "copy"), [], {})
        self.store_imaginary(array, key, self.augmented(function, old, value))

    def store_item(self, container: Value, key: Value, value: Value) -> None:
        if isinstance(container, ir.Var) and container in self.flats:
            self.store_flat(self.flats[container][0], key, value)
        elif isinstance(container, ir.Var) and container in self.imaginary:
            self.store_imaginary(self.imaginary[container], key, value)
        else:
            super().store_item(container, key, value)

    def store_flat(self, array: ir.Var, key: Value, value: Value) -> None:
        """`x.flat[key] = value`: the value is repeated, or cut, to as many as there are places."""
        single = is_number(key)
        place, key = self.flat_place(array, key)
        value = self.one_by_one(array, value)
        if single and isinstance(value, ir.Var) and shape_of(value):
            raise self.fault(ValueError, "Error setting single item of array.")
        if isinstance(value, ir.Var) and shape_of(value):
            places = self.operand(self.subscript(place, key))
            if isinstance(places, ir.Var) and shape_of(places) != shape_of(value):
                value = self.filling(value, places)
        self.store_item(place, key, value)

    def flat_place(self, array: ir.Var, key: Value) -> tuple[Value, Value]:
        """Of `x.flat[key]`, the array `x` and the index that means the same for it."""
        assert isinstance(array.kind, Array)
        if array.kind.rank == 1:
            return array, key
        if array.kind.rank == 0:
            return self.call(self.attribute(array, "reshape"), [ir.Const(1)], {}), key
        if not is_number(key) or (isinstance(key, ir.Const) and key.value < 0):
            every = self.call(ir.Const(np.arange), [self.attribute(array, "size")], {})
            key = self.subscript(every, key)  # of a mask or of negative numbers, too
        shape = self.attribute(array, "shape")
        return array, self.call(ir.Const(np.unravel_index), [key, shape], {})

    def check_sole(self, array: ir.Var) -> None:
        """Refuse to change the shape of an array that has other names, or find out in the run.

        What an iterator goes through isn't seen.
        """

        def within(value: Any) -> Iterator[Any]:
            yield value
            for part in parts(value):
                yield from within(part)

        frames = [v for frame in self.state.frames.values() for v in frame.values()]
        held = [v for thing in self.state.heap.values() for v in object_items(thing)]
        values = [v for value in (*frames, *held) for v in within(value)]
        times = sum(
            value is array
            or isinstance(value, Generator)
            or (isinstance(value, Sequence) and value.bounds is None)
            for value in values
        )
        if times > 1:
            raise self.refuse(runtime.OTHER_NAMES, runtime.RESHAPE)
        values += [t.var for t in self.state.heap.values() if isinstance(t, ListObject)]
        others = {v for v in values if isinstance(v, ir.Var) and holds_memory(v.kind)} - {array}
        if others and self.span is not None:
            place, most = ir.Const(self.span.place), ir.Const(1 - times)
            ordered = [v for v in dict.fromkeys(values) if v in others]
            self.act(runtime.check_sole, array, place, most, *ordered)

    @staticmethod
    def is_of_array(old: Value, container: Value) -> bool:
        """Whether an item is one of an array, but a number or an array itself, as the run tells."""
        if not (isinstance(old, ir.Var) and isinstance(container, ir.Var)) or old.origins:
            return False
        kind = old.kind
        return isinstance(container.kind, Array) and isinstance(kind, Array) and kind.shape is None


def is_of_python(value: Value) -> bool:
    """Whether a value is a number of Python's, which makes nothing another dtype."""
    if isinstance(value, ir.Const):
        return type(value.value) in (int, float)
    return isinstance(value, ir.Var) and isinstance(value.kind, Scalar) and bool(value.kind.python)


def _frozen_by(cls: type) -> type | None:
    """The frozen dataclass whose `__setattr__` a class has; None if it has another one."""
    for base in cls.__mro__:
        params = vars(base).get("__dataclass_params__")
        if params is not None:
            return base if params.frozen else None
        if "__setattr__" in vars(base):
            return None
    return None
