"""Python's builtin functions, and those of functools and bisect."""

from __future__ import annotations

import bisect
import builtins
import collections
import functools
import inspect
import itertools
import operator
import types
from collections.abc import Iterable
from typing import Any

import gast
import numpy as np

from .. import ir, runtime
from ..analysis.alternatives import classes_of_kind
from ..analysis.inference import Inferred
from ..kinds import BOOL, INT, UNKNOWN, Array, ListOf, Opaque, Scalar, int_kind
from ..packages import computes_attributes, has_of_class, lacks_room
from ..rules import registry
from .boxes import STANDS_FOR
from .choices import options
from .columns import is_reference
from .comparisons import is_plain_number
from .links import Linked
from .lookup import LOCAL
from .operations import attribute_or, extreme_or, has_attribute
from .powers import may_be_negative, may_be_power
from .predicates import (
    FALSE,
    NONE,
    TRUE,
    array_kind,
    is_iterator,
    is_number,
    is_object,
    is_range,
    is_settled,
    is_static,
    is_unknown,
    is_written,
    without_items,
)
from .slots import told_class
from .sorting import Sorting, given
from .structure import OR_DEQUE, constant, is_table, may_be_absent, nothing
from .subclasses import protocol_members
from .values import (
    Bound,
    Choice,
    Closure,
    DictObject,
    Generator,
    Heap,
    InnerGradient,
    Instance,
    ListObject,
    Partial,
    Path,
    Place,
    Ref,
    Sequence,
    Slice,
    Tuple,
    Value,
)
from .wording import described

# Such as a NumPy scalar of unknown dtype may be
OF_ANY_DTYPE: frozenset[type] = frozenset({np.float64, np.complex128, np.int64, np.bool_, np.str_})
# What a method or a function with arguments of its own may be, and what goes through items.
CALLED: tuple[type, ...] = (
    types.FunctionType,
    types.MethodType,
    types.BuiltinMethodType,
    functools.partial,
)
ITERATED: tuple[type, ...] = (
    *(types.GeneratorType, zip, map, filter, enumerate, reversed, itertools.chain, itertools.cycle),
    *(np.flatiter, np.ndenumerate, np.ndindex, np.nditer, type({}.items()), type(iter([]))),
)
FIRST_ID = 2**64  # larger than any number that Python gives an object
ASK_IS = "compare the objects themselves, by `is`, or use them as keys"
HAS_UNKNOWN = "whether this has the attribute isn't known when compiling"
PLAIN_MODULES = ("builtins", "collections", "numpy")  # their classes have what they seem to


def having(classes: Iterable[type], name: str) -> set[bool]:
    """Whether instances of classes have an attribute: the answers that there are."""
    return {has_of_class(c, name) for c in classes}


def of_ints(kind: Any) -> bool:
    """Whether a list holds ints of Python's: in an array they would be NumPy's."""
    return _of_python(kind, "i") and not kind.holes


def of_floats(kind: Any) -> bool:
    """Whether a list holds floats of Python's, and nothing else."""
    return _of_python(kind, "f")


def _of_python(kind: Any, letter: str) -> bool:
    item = kind.item if isinstance(kind, ListOf) else None
    if not isinstance(item, Scalar) or item.mixed:
        return False
    return item.python is True and item.dtype.kind == letter


def is_compared_whole(kind: Any) -> bool:
    """Whether items of a kind aren't numbers of one type: tuples, texts, arrays of one element,
    or some of Python's numbers and some of NumPy's that an array of both would turn into others."""
    if isinstance(kind, Scalar):
        return bool(kind.mixed) or (kind.python is None and kind.dtype.char not in "?lqdD")
    if isinstance(kind, Array):
        return kind.shape != ()
    return isinstance(kind, (tuple, ListOf, Opaque))


class BuiltinFunctions(Sorting):
    """Evaluates calls of builtin functions."""

    def builtin_len(self, value: Value) -> Value:
        value = self.spread(self.tuple_or_none(value))
        if isinstance(value, Choice):
            return self.for_each(value, self.builtin_len)
        if is_iterator(value) and not is_range(value):
            raise self.fault(TypeError, "an iterator has no len()")
        return self.count_of(value)

    def count_of(self, value: Value) -> Value:
        """How many items there are, of an iterator too."""
        value = self.spread(value)
        number = is_number(value) or getattr(getattr(value, "kind", None), "shape", None) == ()
        if number:
            lacking = f"{described(value)} has no len()"
            if isinstance(value, ir.Var) and is_object(value.kind):
                raise self.unknown_object(value.kind, lacking)
            raise self.fault(TypeError, lacking)
        if name := without_items(value):
            raise self.fault(TypeError, f"object of type {name!r} has no len()")
        match value:
            case Choice():
                return self.for_each(value, self.count_of)
            case Tuple():
                self.check_given(value)
                return ir.Const(len(value.items))
            case Sequence(length=ir.Var(kind=kind)) if is_range(value) and may_be_negative(kind):
                return self.call_object(builtins.max, [value.length, ir.Const(0)], {})
            case Sequence():
                return value.length
            case ir.Var() if is_reference(value):
                answer = self.by_class(value, "__len__", [], "object of type {} has no len()")
                return self.allowed_answer("__len__", answer)
            case ir.Const() if is_written(value, "__len__"):
                answer = self.call(self.attribute(value, "__len__"), [], {})
                return self.allowed_answer("__len__", answer)
            case ir.Const() if not is_settled(value) and hasattr(type(value.value), "__len__"):
                kind = int_kind()
                return self.emit(len, (value,), inferred=Inferred(kind), name="n", effect=True)
            case ir.Const():
                try:
                    return ir.Const(len(value.value))
                except TypeError as error:
                    raise self.fault(TypeError, str(error)) from None
            case Ref():
                thing = self.state.heap[value.id]
                if isinstance(thing, ListObject) and thing.var is not None:
                    size = self.lengths.get(thing.var) if thing.count is None else thing.count
                    size = 0 if thing.var.kind == ListOf(None) else size  # nothing was put in it
                    kind = int_kind(size)
                    return self.emit(len, (thing.var,), inferred=Inferred(kind), name="count")
                if isinstance(thing, Instance):
                    found = self.class_attribute(thing.type, "__len__")
                    if found is None:
                        raise self.fault(
                            TypeError, f"object of type {thing.type.__name__} has no len()"
                        )
                    return self.allowed_answer("__len__", self.call(Bound(found, value), [], {}))
                if isinstance(thing, DictObject):
                    self.settled_keys(thing)
                return ir.Const(len(thing.items))
            case ir.Var() if isinstance(value.kind, Array) and value.kind.shape:
                n = value.kind.shape[0]
                if isinstance(n, int):
                    return ir.Const(n)
                kind = Scalar(np.dtype(np.int64), True, n)
                return self.emit(len, (value,), inferred=Inferred(kind), name="n")
        counted = self.operand(value)
        self.guard(len, (counted,), {})
        return self.emit(len, (counted,), inferred=Inferred(int_kind()), name="n")

    def insist_on_items(self, value: ir.Var) -> None:
        """Ask what may be a number or an array, of which NumPy reduces both, if it has items."""
        kind = value.kind
        assert isinstance(kind, Array)
        if kind.shape == ():
            raise self.fault(TypeError, "iteration over a 0-d array")
        if kind.shape is None:
            several = self.emit(np.ndim, (value,), inferred=Inferred(INT), name="ndim")
            test = self.binary(operator.gt, several, ir.Const(0))
            self.insist(test, TypeError, "a number can't be iterated over")

    def builtin_sum(self, value: Value, start: Value = ir.Const(0)) -> Value:  # noqa: B008
        if isinstance(value, ir.Var) and isinstance(value.kind, Array):
            self.insist_on_items(value)
            options: dict[str, Value] = {"axis": ir.Const(0)}
            dtype = value.kind.dtype
            if dtype is not None and dtype.kind in "iu" and dtype.itemsize < 8:
                options["dtype"] = ir.Const(dtype)  # adding keeps it, which np.sum would widen
            total = self.call_object(np.sum, [value], options)
            if isinstance(start, ir.Const) and start.value == 0:
                return total
            return self.binary(operator.add, start, total)
        return self.reduced(value, start, lambda a, b: self.binary(operator.add, a, b))

    def builtin_reduce(self, function: Value, value: Value, start: Value | None = None) -> Value:
        return self.reduced(value, start, lambda a, b: self.call(function, [a, b], {}))

    def builtin_concat(self, a: Value, b: Value) -> Value:
        return self.binary(operator.add, a, b)

    def builtin_min(self, *args: Value, **kwargs: Value) -> Value | None:
        return self.extreme(builtins.min, np.min, args, kwargs)

    def builtin_max(self, *args: Value, **kwargs: Value) -> Value | None:
        return self.extreme(builtins.max, np.max, args, kwargs)

    def extreme(
        self, function: Any, whole: Any, args: tuple[Value, ...], kwargs: dict[str, Value]
    ) -> Value | None:
        key = given(kwargs.pop("key", None))
        default = kwargs.pop("default", None)
        values: list[Value]
        if len(args) == 1:
            value = args[0]
            if default is not None:
                if self.goes_by_itself(value):
                    value = self.builtin_list(value)
                given_key = NONE if key is None else key
                return self.inline(extreme_or, [ir.Const(function), value, given_key, default], {})
            if key is None and isinstance(value, ir.Var) and isinstance(value.kind, Array):
                self.insist_on_items(value)
                if len(value.kind.shape or ()) < 2:
                    return self.call_object(whole, [value], {})
                # rows are compared as arrays, which have to be of one item
                return self.extreme_of_many(function is builtins.max, self.require(value), None)
            if isinstance(value, Generator):
                value = self.builtin_list(value)
            sequence = self.require(value)
            if not isinstance(sequence.length, ir.Const) and not self.is_list_or_range(value):
                value = self.builtin_list(value)
                sequence = self.require(value)
            thing = self.on_heap(value)
            var = thing.var if isinstance(thing, ListObject) else None
            kind = None if var is None else var.kind
            whole_items = isinstance(kind, ListOf) and is_compared_whole(kind.item)
            if key is None and var is not None and of_ints(kind):
                return self.emit(function, (var,), inferred=Inferred(int_kind()))
            if (key is not None or whole_items) and not isinstance(sequence.length, ir.Const):
                return self.extreme_of_many(function is builtins.max, sequence, key)
            if var is not None:
                array = self.emit(np.array, (var,))
                found = self.call_object(whole, [array], {})
                return self.call_object(float, [found], {}) if of_floats(kind) else found
            values = self.unrolled_items(sequence, value)
        else:
            values = list(args)
        if not values:
            raise self.empty(ValueError, f"{function.__name__}() arg is an empty sequence")
        if key is not None:
            return self.extreme_by_key(function is builtins.max, values, key)
        if len(values) == 1:
            return values[0]
        if all(isinstance(v, ir.Const) for v in values):
            self.check_ordered(values)
        if any(isinstance(v, (Ref, Tuple)) for v in values):
            return self.extreme_by_key(function is builtins.max, values, None)
        return self.primitive(function, registry.lookup(function), values, {})

    def is_list_or_range(self, value: Value) -> bool:
        """Whether a value has items by number, however many the run tells."""
        return is_range(value) or isinstance(self.on_heap(value), ListObject)

    def extreme_by_key(self, largest: bool, values: list[Value], key: Value | None) -> Value:
        def key_of(value: Value) -> Value:
            return value if key is None else self.call(key, [value], {})

        best, best_key = values[0], key_of(values[0])
        for value in values[1:]:
            k = key_of(value)
            test = self.truth(self.compare(gast.Gt() if largest else gast.Lt(), k, best_key))
            best, best_key = self.chosen(test, value, best), self.chosen(test, k, best_key)
        return best

    def extreme_of_many(self, largest: bool, sequence: Sequence, key: Value | None) -> Value:
        """The extreme item by key of a sequence whose length isn't known."""

        def key_of(value: Value) -> Value:
            return value if key is None else self.call(key, [value], {})

        frame, one = self.current, ir.Const(1)
        name = "max" if largest else "min"
        self.need_some(sequence, ValueError, f"{name}() arg is an empty sequence")
        start = sequence.item(ir.Const(0))
        best, best_key = self.hidden(start), self.hidden(key_of(start))
        rest = self.binary(operator.sub, sequence.length, one)

        def compare(item: Value) -> None:
            values = self.state.frames[frame]
            k = key_of(item)
            op = gast.Gt() if largest else gast.Lt()
            test = self.truth(self.compare(op, k, values[best_key]))

            def take() -> None:
                self.state.frames[frame].update({best: item, best_key: k})

            self.decided(test, take)

        later = Sequence(rest, lambda i: sequence.item(self.binary(operator.add, i, one)))
        self.iterate(later, compare)
        self.state.frames[frame].pop(best_key)
        return self.known("this value", self.state.frames[frame].pop(best))

    def builtin_any(self, value: Value) -> Value:
        return self.quantified(value, operator.or_)

    def builtin_all(self, value: Value) -> Value:
        return self.quantified(value, operator.and_)

    def quantified(self, value: Value, function: Any) -> Value:
        if isinstance(value, ir.Var) and isinstance(value.kind, Array):
            conjunction = function is operator.and_
            if value.kind.shape is None or len(value.kind.shape) != 1:
                asked = all if conjunction else any  # it raises what a row without a truth raises
                self.guard(asked, (value,), {})
                return self.emit(asked, (value,), inferred=Inferred(BOOL))
            whole = np.all if conjunction else np.any
            return self.own_bool(self.truth(self.call_object(whole, [value], {})))
        start = ir.Const(function is operator.and_)
        if isinstance(value, (Generator, Sequence)):  # what comes after the answer isn't made
            return self.first_unlike(start, value)

        def step(a: Value, b: Value) -> Value:
            if isinstance(a, ir.Const) and a.value != start.value:
                return a
            if not isinstance(a, ir.Const) and self.asks_much(b):  # once it is decided, nobody is
                ways = (lambda: self.boolean(b)), (lambda: a)
                return self.either(self.truth(a), *(ways if start.value else ways[::-1]))
            test = self.boolean(b)
            if isinstance(test, ir.Const):
                return a if test.value == start.value else test
            if isinstance(a, ir.Const):
                return test if a.value == start.value else a
            return self.emit(function, (self.operand(a), test))

        return self.own_bool(self.truth(self.reduced(value, start, step)))

    def asks_much(self, value: Value) -> bool:
        """Whether to ask for the truth of a value may do more than tell it: objects, arrays."""
        kinds = (self.user_class(v) or array_kind(v) for v in options(value))
        return any(kind is not None for kind in kinds)

    def first_unlike(self, start: ir.Const, value: Generator | Sequence) -> Value:
        """`start` unless an item is unlike it in truth: then the other one, at once."""
        frame, name = self.current, self.hidden(start)

        def leave() -> None:
            values = self.state.frames[frame]
            values[name] = ir.Const(not start.value)
            values["%stop"] = values["%break"] = TRUE

        def ask(item: Value) -> None:
            ways = (nothing, leave) if start.value else (leave, nothing)
            self.decided(self.truth(item), *ways)

        self.left_early(value, ask)
        return self.known("this value", self.state.frames[frame].pop(name))

    def builtin_isinstance(self, value: Value, classes: Value) -> Value:
        kinds = self.key(classes)
        if is_reference(value):
            return self.is_of_class(value, kinds)  # type: ignore[arg-type]
        kinds = kinds if isinstance(kinds, tuple) else (kinds,)
        answers: list[bool | None] = []
        for kind in kinds:
            try:
                isinstance(None, kind)
            except TypeError as error:
                if True in answers:  # what follows isn't looked at
                    break
                raise self.raised_by_python(error) from None
            answers.append(self.is_instance(value, kind))
        kinds = kinds[: len(answers)]
        if True in answers or None not in answers:
            known, of_none = True in answers, isinstance(None, kinds)
            if known is of_none or not self.may_be_none(value):
                return ir.Const(known)
            none = self.identical(value, NONE)
            return none if of_none else self.negated(none)
        if not isinstance(value, ir.Var):
            raise self.refuse("isinstance() of this value isn't known when compiling")
        return self.class_test(self.operand(value), kinds if len(kinds) > 1 else kinds[0])

    def is_instance(self, value: Value, cls: Any) -> bool | None:
        """Whether a value is an instance of a class; None if only the run tells."""
        classes = self.classes_of(value)
        if classes is None and not isinstance(value, ir.Var):
            raise self.refuse("isinstance() of this value isn't known when compiling")
        classes = set(classes or ())
        members = protocol_members(cls)
        if members is not None:
            derived = classes and all(cls in c.__mro__ for c in classes)
            there = set() if derived else {self.has(value, name) for name in members}
            return False if False in there else None if None in there else True
        if np.generic in classes:  # of any dtype
            classes |= OF_ANY_DTYPE
        thing = self.on_heap(value)
        answers = set().union(*(self.are_of(thing, c, cls) for c in map(told_class, classes)))
        if len(answers) == 2 and collections.deque in classes:
            raise self.refuse(OR_DEQUE)
        return answers.pop() if len(answers) == 1 else None

    def classes_of(self, value: Value) -> set[type] | None:
        """The classes of which a value may be unless it is None; None if that isn't known."""
        match value:
            case ir.Const():
                return {type(value.value)}
            case Tuple():
                return {value.type}
            case Ref():
                thing = self.state.heap[value.id]
                if value.id in self.deques:
                    return {collections.deque}
                found = {heap_type(thing)}
                if self.may_be_deque(thing):
                    found |= {collections.deque}
                return found
            case ir.Var():
                of_kind = classes_of_kind(value.kind)
                if of_kind is not None and value.kind == UNKNOWN and not self.fixed_span:
                    return of_kind | {tuple, list}  # there may be several results
                power = of_kind is not None and may_be_power(self, value.kind)
                return of_kind | {float} if power else of_kind  # type: ignore[operator]
            case Closure():
                return {types.FunctionType}
            case Bound(function=Closure() | ir.Const(value=types.FunctionType())):
                return {types.MethodType}
            case Slice():
                return {slice}
            case Sequence() if is_range(value):
                return {range}
            case Bound() | Partial():
                return {*CALLED}
            case Generator() | Sequence():
                return {*ITERATED}
        return None

    def may_be_deque(self, thing: Heap) -> bool:
        """Whether only the run tells if what stands on the heap is a list or a deque."""
        return self.has_deques and isinstance(thing, ListObject) and thing.type is list

    def may_be_none(self, value: Value) -> bool:
        """Whether only the run tells if a value is None."""
        missing = value.missing if isinstance(value, Tuple) else None
        return (missing is not None and missing not in self.given_here) or self.is_optional(value)

    def builtin_type(self, value: Value, *rest: Value) -> Value:
        if self.may_be_none(value):
            if self.telling:
                return self.told_type(value)
            several = self.object_or_none(value)
            if isinstance(several, Choice):
                return self.for_each(several, self.builtin_type)
            raise self.refuse("whether this is None isn't known when compiling", "use `is None`")
        match value:
            case ir.Const():
                return Place(type(value.value))
            case Tuple():
                return Place(value.type)
            case Ref():
                thing = self.state.heap[value.id]
                if value.id in self.deques:
                    return Place(collections.deque)
                if self.may_be_deque(thing):
                    raise self.refuse(OR_DEQUE)
                return Place(self.seen_class(thing, heap_type(thing)))
            case Choice():
                return self.for_each(value, self.builtin_type)
            case ir.Var():
                if may_be_power(self, value.kind):
                    raise self.refuse(
                        "whether this is an int or a float isn't known when compiling",
                        "a power of ints may be a float: use isinstance(...)",
                    )
                if is_reference(value) and len(value.kind.types) == 1:  # type: ignore[attr-defined]
                    return Place(self.seen_class(None, *value.kind.types))  # type: ignore[attr-defined]
                match value.kind:
                    case Array(shape=shape) if shape is not None:
                        return Place(np.ndarray)
                    case Scalar(dtype, python, _, mixed) if not (
                        python is None or mixed or is_object(value.kind)
                    ):
                        return Place(type(dtype.type(0).item()) if python else dtype.type)
        if self.telling:
            return self.told_type(value)
        either = isinstance(value, ir.Var) and getattr(value.kind, "mixed", False)
        advice = "use isinstance(...)" if either else None
        raise self.refuse("the type of this value isn't known when compiling", advice)

    def told_type(self, value: Value) -> Value:
        """The type of a value that isn't known, for what is told with an exception."""
        return self.emit(type, (self.operand(value),), inferred=Inferred(Opaque(type)), name="cls")

    def builtin_id(self, value: Value) -> Value:
        """A number for each object, that no other has at the same time."""
        if isinstance(value, Choice):
            return self.for_each(value, self.builtin_id)
        if isinstance(value, Ref):
            thing = self.state.heap[value.id]
            held = self.copies.get(value.id) or self.held_outside(value)
            if held is not None:
                return self.emit(builtins.id, (held,), inferred=Inferred(int_kind()), name="number")
            at_run_time = isinstance(thing, ListObject) and thing.var is not None
            at_run_time = at_run_time or value.id in self.copies
            if at_run_time or thing.external or is_table(thing) or self.making:
                raise self.refuse("the id of this object isn't known when compiling", ASK_IS)
            self.the_only_one(thing)
            return ir.Const(FIRST_ID + value.id)
        if is_plain_number(value):
            raise self.refuse("the id of a number isn't known when compiling", "compare by ==")
        if isinstance(value, ir.Var):
            if is_reference(value) or isinstance(value.kind, ListOf):
                raise self.refuse("the id of this object isn't known when compiling", ASK_IS)
            kind = Inferred(int_kind())  # an effect, as it keeps the array
            return self.emit(runtime.identity, (value,), inferred=kind, effect=True, name="number")
        if isinstance(value, ir.Const):
            return self.emit(builtins.id, (value,), inferred=Inferred(int_kind()), name="number")
        raise self.refuse(f"the id of {described(value)} isn't known when compiling", ASK_IS)

    @staticmethod
    def builtin_surely_is(value: Value, other: Value) -> Value:
        return ir.Const(value is other)

    def builtin_column(self, value: Value) -> Value:
        if isinstance(value, ir.Var):
            self.record_fields.add(value)
        return value

    def builtin_callable(self, value: Value) -> Value:
        if isinstance(value, Choice):
            return self.answered(value, self.builtin_callable) or self.for_each(
                value, self.builtin_callable
            )
        if isinstance(value, (Closure, Bound, Partial, InnerGradient)):
            return TRUE
        if isinstance(value, ir.Const):
            return ir.Const(callable(value.value))
        classes = self.classes_of(value)
        answers = {self.class_attribute(c, "__call__") is not None for c in classes or ()}
        if len(answers) == 2 or (classes is None and isinstance(value, ir.Var)):
            raise self.refuse("whether this can be called isn't known when compiling")
        return self.is_there(value) if True in answers else FALSE

    def builtin_hasattr(self, value: Value, name: Value) -> Value:
        if isinstance(value := self.object_or_none(value), Choice):

            def asked(option: Value) -> Value:
                return self.builtin_hasattr(option, name)

            return self.answered(value, asked) or self.for_each(value, asked)
        if self.may_be_none(value) and not self.has(NONE, self.key(name)):
            there = self.is_there(value)
            run = functools.partial(self.hasattr_of_given, value, name)
            return self.either(there, lambda: self.own_bool(self.truth(run())), lambda: FALSE)
        return self.hasattr_of_given(value, name)

    def hasattr_of_given(self, value: Value, name: Value) -> Value:
        """`hasattr(value, name)` of what isn't None."""
        thing = self.thing(value)
        held = thing.items.get(self.key(name)) if isinstance(thing, Instance) else None
        if isinstance(held, Choice) and may_be_absent(held):
            found = self.class_attribute(thing.type, self.key(name))
            if found is None and self.class_attribute(thing.type, "__getattr__") is None:
                return self.is_present(held)
        number = isinstance(value, ir.Var) and isinstance(value.kind, (Array, Scalar))
        some = number and len(having(self.classes_of(value) or (), self.key(name))) == 2
        there = None if some else self.has(value, self.key(name))
        if there is None and (some or is_unknown(value)):
            operands = (self.operand(value), name)
            return self.emit(hasattr, operands, inferred=Inferred(BOOL), name="has", effect=True)  # type: ignore[arg-type]
        return self.inline(has_attribute, [value, name], {}) if there is None else ir.Const(there)

    def builtin_getattr(self, value: Value, name: Value, *default: Value) -> Value:
        if default and isinstance(value := self.object_or_none(value), Choice):
            return self.for_each(value, lambda o: self.builtin_getattr(o, name, *default))
        if default and self.may_be_none(value):
            test = self.identical(value, NONE)
            of_none, of_given = (
                functools.partial(self.getattr_of_given, v, name, *default) for v in (NONE, value)
            )
            return self.either(test, of_none, of_given)
        return self.getattr_of_given(value, name, *default)

    def getattr_of_given(self, value: Value, name: Value, *default: Value) -> Value:
        """`getattr(value, name, *default)` of what isn't None, or is None for sure."""
        there = not default or self.has(value, self.key(name))
        if there is None and is_unknown(value):
            return self.opaque(getattr, [value, name, *default])
        if there is None:
            return self.inline(attribute_or, [value, name, *default], {})
        return self.attribute(value, self.key(name)) if there else default[0]

    def has(self, value: Value, name: str) -> bool | None:
        """Whether a value has an attribute; None if it must be asked: code says what it is."""
        self.check_settled(value, name)
        thing = self.thing(value)
        if isinstance(thing, Instance) and issubclass(thing.type, Linked):
            there = hasattr(thing.type._of, name)
            return there if there == hasattr(None, name) or not self.may_be_none(value) else None
        if isinstance(thing, Instance) and heap_type(thing) is thing.type:
            if is_reference(value):
                return True if has_of_class(object, name) else None  # as of None
            if self.unshown(thing, name):
                return False
            if name in thing.items and thing.items[name] is not ir.UNDEFINED:
                return None if may_be_absent(self.known(name, thing.items[name])) else True
            found = self.class_attribute(thing.type, name)
            room = () if lacks_room(thing.type) else ("__dict__", "__weakref__")
            if found is None and name in (*vars(object), *room, "__module__"):
                return True
            if found is None and self.class_attribute(thing.type, "__getattr__") is None:
                lacked = self.lacked(thing, name)
                if lacked is None:
                    raise self.refuse(HAS_UNKNOWN)
                if not lacked:
                    return True
                if LOCAL not in vars(thing.type):
                    self.guard_having(thing.type, None, name)
                return False
            raw = found.value if isinstance(found, ir.Const) else found
            return True if isinstance(raw, (Closure, types.FunctionType, int, float, str)) else None
        if isinstance(value, ir.Const):
            return self.has_outside(value, name)
        classes = self.classes_of(value)
        if classes is None or any(c.__module__ not in PLAIN_MODULES for c in classes):
            return None
        answers = having(classes, name)
        if len(answers) == 2:
            raise self.refuse(HAS_UNKNOWN)
        if self.may_be_none(value) and {hasattr(None, name)} != answers:
            if False in answers:
                raise self.refuse(HAS_UNKNOWN)
            return None
        return answers.pop()

    def has_outside(self, value: ir.Const, name: str) -> bool | None:
        """Whether something from outside has an attribute; None if it must be asked."""
        thing = value.value
        taken = self.outer(thing, None)
        if taken is not None:
            return self.has(taken, name)
        raw = inspect.getattr_static(thing, name, None)
        if not isinstance(thing, type):
            if isinstance(raw, property) or (raw is None and computes_attributes(type(thing))):
                return None
            getter = inspect.getattr_static(type(raw), "__get__", None)
            if isinstance(getter, types.FunctionType) and not is_static(type(raw).__module__):
                return None
        path = value.path if isinstance(value, Place) else None
        self.unasked(Path("attribute", path or thing, name))
        return self.guard_having(thing, path, name)

    def builtin_setattr(self, value: Value, name: Value, new: Value) -> Value:
        self.set_attribute(value, self.key(name), new)
        return NONE

    def builtin_setitem(self, container: Value, key: Value, value: Value) -> Value:
        self.store_item(container, key, value)
        return NONE

    def builtin_slice(self, *args: Value) -> Value:
        parts = [NONE, *args] if len(args) == 1 else list(args)
        while len(parts) < 3:
            parts.append(NONE)
        return Slice(*parts)

    def builtin_divmod(self, a: Value, b: Value) -> Value:
        if self.user_class(a) is not None or self.user_class(b) is not None:
            special = self.dunder(divmod, a, b)
            if special is not None:
                return special
        return Tuple((self.binary(operator.floordiv, a, b), self.binary(operator.mod, a, b)))

    def builtin_bisect_left(self, items: Value, x: Value, *bounds: Value) -> Value:
        return self.bisected(bisect.bisect_left, items, x, bounds)

    def builtin_bisect_right(self, items: Value, x: Value, *bounds: Value) -> Value:
        return self.bisected(bisect.bisect_right, items, x, bounds)

    def bisected(self, function: Any, items: Value, x: Value, bounds: tuple[Value, ...]) -> Value:
        """An index into a sorted list: an int without a derivative."""
        operands = tuple(self.operand(v) for v in (items, x, *bounds))
        known = [constant(o) for o in operands]
        if all(k for k, _ in known):
            return ir.Const(function(*(v for _, v in known)))
        return self.emit(function, operands, inferred=Inferred(int_kind()), name="i")

    def builtin_partial(self, function: Value, /, *args: Value, **kwargs: Value) -> Value:
        return Partial(function, args, dict(kwargs))


def heap_type(thing: Heap) -> type:
    """The type of an object on the heap, as Python would tell it."""
    return STANDS_FOR.get(thing.type, told_class(thing.type))
