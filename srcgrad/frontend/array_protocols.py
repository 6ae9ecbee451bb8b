"""Functions of NumPy that a class takes over: `__array_ufunc__` and `__array_function__`."""

from __future__ import annotations

import operator
from collections.abc import Iterable
from inspect import signature
from typing import Any

import numpy as np

from .. import ir
from ..kinds import Reference, Scalar
from ..packages import told
from ..rules import registry
from ..rules.registry import hashable
from ..signature import has_fields
from .libraries import Libraries
from .operators import LEFT_TO_THEM, is_kept
from .predicates import array_kind, is_none, is_number
from .primitives import RULES, of_numpy
from .restarts import NeedStatic
from .slots import told_class
from .values import Bound, DictObject, Instance, ListObject, Place, Tuple, Value

BOXED = ("%boxed",)  # of known sites: arrays of objects are followed object by object
OBJECT_TYPES = (object, np.dtype(object), "O", "object")


class ArrayProtocols(Libraries):
    """Calls of functions of NumPy with objects that have methods for that."""

    def taken_over(
        self, function: Any, args: list[Value], kwargs: dict[str, Value]
    ) -> Value | None:
        """What an object among the arguments makes of a function of NumPy; None if there is none.

        As NumPy does, the object's class is asked for `__array_ufunc__` or `__array_function__`,
        the next object's if that returns `NotImplemented`.
        """
        if hashable(function) and function in registry.methods and any(map(self.is_ours, args)):
            function = registry.methods[function]  # `array.dot(matrix)`, of a class of arrays
        ufunc, way = function, "__call__"
        if isinstance(told(function, "__self__"), np.ufunc):
            ufunc, way = function.__self__, function.__name__
        is_ufunc = isinstance(ufunc, np.ufunc)
        if not is_ufunc and not (of_numpy(function) and hasattr(function, "_implementation")):
            return None
        name = "__array_ufunc__" if is_ufunc else "__array_function__"
        found = list(self.takers(name, [*args, *kwargs.values()], not is_ufunc))
        types = tuple(ir.Const(self.state.heap[b.receiver.id].type) for b in found)  # type: ignore[union-attr]
        for method in found:
            if is_ufunc:
                result = self.call(method, [Place(ufunc), ir.Const(way), *args], kwargs)
            else:
                named = self.new(DictObject(dict(kwargs)))
                given: list[Value] = [Place(function), Tuple(types), Tuple(tuple(args)), named]
                result = self.call(method, given, {})
            if not self.is_declined(result):
                return result
        if found:
            raise self.refuse(
                f"what {function.__name__} makes of this object isn't known",
                "give it an array: np.asarray(...)",
            )
        if hashable(function) and function in registry.of_each_object and not kwargs:
            if any(map(self.is_one_object, args)):
                return self.applied_to_objects(function, args)
        return None

    def applied_to_objects(self, function: Any, args: list[Value]) -> Value:
        """What NumPy does with objects, which it asks for their operators and methods."""
        return self.inline(registry.of_each_object[function], [Place(function), *args], {})

    def of_array_and_object(self, function: Any, a: Value, b: Value) -> Value | None:
        """What an operator makes of an array and an object, where NumPy asks the object of each
        number; None where Python asks it of the array."""
        kind = array_kind(a)
        if kind is None or kind.shape == () or not self.is_one_object(b) or self.is_left_to(b):
            return None
        if function is operator.matmul:
            raise self.fault(ValueError, "matmul: an object without axes can't be multiplied by")
        known = function in registry.of_each_object
        return self.applied_to_objects(function, [a, b]) if known else None

    def is_left_to(self, value: Value) -> bool:
        """Whether an operator of an array beside an object is left to the object."""
        classes = self.object_classes(value)
        return any(hasattr(cls, name) for cls in classes for name in LEFT_TO_THEM)

    def is_array_like(self, value: Value) -> bool:
        """Whether an object is an array, or several items, to an operator of NumPy's beside it."""
        classes = self.object_classes(value)
        if any(is_kept(c) or issubclass(told_class(c), dict) for c in classes):  # no sequences
            return False
        return bool(classes) and not self.is_left_to(value)

    def object_classes(self, value: Value) -> tuple[type, ...]:
        """Of which classes an object may be."""
        thing = self.on_heap(value)
        if isinstance(thing, Instance):
            return (thing.type,)
        kind = value.kind if isinstance(value, ir.Var) else None
        return tuple(kind.types) if isinstance(kind, Reference) else ()

    def is_one_object(self, value: Value) -> bool:
        """Whether a value is an object of the program's that is a single thing to NumPy."""
        classes = self.object_classes(value)
        return bool(classes) and not self.is_ours(value) and all(map(is_kept, classes))

    def is_ours(self, value: Value) -> bool:
        """Whether a value is an object of a class that stands for one of NumPy's."""
        return any(cls.__module__.startswith(RULES) for cls in self.object_classes(value))

    def made_records(self, maker: Any, args: list[Value], kwargs: dict[str, Value]) -> Value | None:
        """What a function makes that is given a dtype with fields; None if it is given none."""
        dtypes = [None, *map(self.with_fields, args[1:])][: len(args)]
        named = {k: self.with_fields(v) for k, v in kwargs.items()}
        if not any((*dtypes, *named.values())):
            return None
        args = [d or a for d, a in zip(dtypes, args, strict=True)]
        made = self.inline(maker, args, {k: named[k] or v for k, v in kwargs.items()})
        for name, column in self.on_heap(self.on_heap(made).items["columns"]).items.items():
            if isinstance(column, ir.Var) and not column.user and name.isidentifier():
                column.name = name
        return made

    def makes_objects(self, function: Any, args: list[Value], kwargs: dict[str, Value]) -> bool:
        """Whether a function makes an array of objects that is followed object by object.

        It does of a list of objects. What else is said to be of objects is so if that is needed.
        """
        if not hashable(function) or function not in registry.of_objects:
            return False
        try:
            bound = signature(registry.of_objects[function]).bind(*args, **kwargs)
        except TypeError:
            return False  # in a way that isn't known of arrays of objects
        given = bound.arguments
        if "shape" not in given:
            items = next(iter(given.values()))
            of_objects = self.is_object_type(given.get("dtype"))
            return self.are_objects(items) or (of_objects and self.are_apart(items))
        if BOXED not in self.known_sites:
            return False
        shape, dtype = given["shape"], given.get("dtype")
        of_none = dtype is None and is_none(given.get("fill_value", ir.Const(0)))
        items = shape.items if isinstance(shape, Tuple) else self.on_heap(shape)
        if isinstance(items, ListObject):
            items = items.items if items.var is None else ()
        few_axes = is_number(shape) if items is None else len(items) in (1, 2)
        return few_axes and (of_none or self.is_object_type(dtype))

    def is_object_type(self, dtype: Value | None) -> bool:
        """Whether a dtype that a function is given is that of objects."""
        return isinstance(dtype, ir.Const) and hashable(dtype.value) and dtype.value in OBJECT_TYPES

    def are_apart(self, value: Value) -> bool:
        """Whether an array of objects that is made of these has one axis: they are single things,
        or lists of different lengths."""
        boxed = BOXED in self.known_sites
        thing = value if isinstance(value, Tuple) else self.on_heap(value)
        if isinstance(thing, ListObject) and thing.var is not None:
            return boxed and isinstance(getattr(thing.var.kind, "item", None), (Scalar, Reference))
        if not isinstance(thing, (Tuple, ListObject)):
            return False
        counts = [self.items_to_numpy(item) for item in thing.items]
        return one_axis(counts) and (boxed or any(counts))

    def items_to_numpy(self, value: Value) -> int | None:
        """How many items something in a list has to NumPy: 0 if it is a single thing; None if that
        isn't known."""
        thing = value if isinstance(value, Tuple) else self.on_heap(value)
        if isinstance(thing, (Tuple, ListObject)) and getattr(thing, "var", None) is None:
            return len(thing.items)
        of_program = isinstance(thing, Instance) and is_kept(thing.type)
        of_program = of_program or isinstance(thing, DictObject)
        text = isinstance(value, ir.Const) and isinstance(value.value, str)
        return 0 if of_program or text or is_none(value) or is_number(value) else None

    def are_objects(self, value: Value) -> bool:
        """Whether what an array is made of is a list of objects that NumPy keeps as they are."""
        value = self.on_heap(value)
        if isinstance(value, Instance) and value.type in registry.arrays_of_objects:
            return True
        if isinstance(value, ListObject) and value.var is not None:
            item = getattr(value.var.kind, "item", None)
            return isinstance(item, Reference) and all(map(is_kept, item.types))
        items = value.items if isinstance(value, (ListObject, Tuple)) else ()
        things = [self.on_heap(item) for item in items]
        return bool(things) and all(
            isinstance(thing, DictObject) or (isinstance(thing, Instance) and is_kept(thing.type))
            for thing in things
        )

    def with_fields(self, value: Value) -> ir.Const | None:
        """The dtype that a value describes, if it has fields."""
        if isinstance(value, ir.Const) and not isinstance(value.value, (np.dtype, str)):
            return None
        self.need_known(value)
        dtype = self.computed(np.dtype, [value], {})
        known = isinstance(dtype, ir.Const) and has_fields(dtype.value)
        return dtype if known else None  # type: ignore[return-value]

    def need_known(self, value: Value) -> None:
        """Begin again with known numbers where a list outside describes fields with some."""
        thing = self.on_heap(value)
        rows = thing.items if isinstance(thing, ListObject) and thing.external else ()
        if rows and all(
            isinstance(r, Tuple) and r.items and is_constant_text(r.items[0]) for r in rows
        ):
            numbers = [v for v in parts_of(rows) if isinstance(v, ir.Var)]
            if numbers:
                origins = frozenset().union(*(v.origins for v in numbers))
                message = "the fields of a dtype must be known when compiling"
                raise NeedStatic(origins, message, self.span)

    def for_scipy(self, function: Any, args: list[Value]) -> list[Value]:
        """The arguments of a function of SciPy, which takes arrays: so it does of `np.matrix`."""
        package, *rest = (told(function, "__module__") or "").split(".")
        if package != "scipy" or rest[:1] == ["sparse"]:
            return args
        return list(map(self.only_array, args))

    def takers(self, name: str, values: Iterable[Value], inside: bool) -> Iterable[Bound]:
        """The methods of such a name of objects among some values, or inside lists of them."""
        for value in values:
            thing = value if isinstance(value, Tuple) else self.on_heap(value)
            if isinstance(thing, Instance):
                method = self.class_attribute(thing.type, name)
                if method is not None and not is_none(method):
                    yield Bound(method, value)
            elif inside and isinstance(thing, (Tuple, ListObject)) and thing.items:
                yield from self.takers(name, thing.items, True)


def one_axis(counts: list[int | None]) -> bool:
    """Whether an array of things with so many items each surely has but one axis."""
    return None not in counts and (0 in counts or len(set(counts)) > 1)


def is_constant_text(value: Value) -> bool:
    return isinstance(value, ir.Const) and isinstance(value.value, str)


def parts_of(values: Iterable[Value]) -> Iterable[Value]:
    """Some values, and what the tuples among them hold."""
    for value in values:
        yield value
        if isinstance(value, Tuple):
            yield from parts_of(value.items)
