"""Reading items and slices, and storing them."""

from __future__ import annotations

import inspect
import operator
import types
from contextlib import suppress
from dataclasses import replace
from typing import Any

import gast
import numpy as np

from .. import ir
from ..analysis.inference import Inferred
from ..errors import UnsupportedError
from ..kinds import (
    BOOL,
    INT,
    NOTHING,
    SHAPE,
    Array,
    ListOf,
    Opaque,
    Reference,
    Scalar,
    TupleOf,
)
from ..packages import is_of_package
from ..rules import registry
from .choices import is_function, options
from .comparisons import Comparisons
from .operations import item_of_range, part_of_range, places_of_slice
from .operators import TEXT, is_text
from .predicates import (
    NONE,
    SIMPLE,
    array_kind,
    is_none,
    is_number,
    is_range,
    is_static,
    is_written,
    without_items,
)
from .restarts import Empty, Materialize, NeedStatic
from .settled import settled_item
from .structure import constant, item_structure, resized
from .values import (
    Bound,
    Choice,
    DictObject,
    Generator,
    Journal,
    ListObject,
    Path,
    Place,
    Ref,
    Sequence,
    Slice,
    Tuple,
    Value,
)
from .wording import described

MOST_ITEMS = 64  # of a tuple or list that an unrolled loop takes its items from one by one


class Subscripts(Comparisons):
    """Evaluates `container[key]`, and stores to it."""

    def expression_Subscript(self, node: Any) -> Value:
        container = self.expression(node.value)
        return self.subscript(container, self.written_key(node.slice))

    def written_key(self, node: Any) -> Value:
        """What stands in brackets."""
        if isinstance(node, gast.Tuple):
            return self.made_tuple(self.displayed(node))
        return self.unlinked(self.expression(node))

    def expression_Slice(self, node: Any) -> Value:
        parts = (self.expression(p) if p else NONE for p in (node.lower, node.upper, node.step))
        return Slice(*parts)

    def static_slice(self, key: Slice) -> slice | None:
        """A slice of a list, tuple or text whose bounds are known, and such that Python takes."""
        parts = (key.start, key.stop, key.step)
        if not all(isinstance(p, ir.Const) for p in parts):
            return None
        known = slice(*(p.value for p in parts))  # type: ignore[union-attr]
        try:
            known.indices(0)
        except (TypeError, ValueError) as error:
            raise self.raised_by_python(error) from None
        return known

    def parametrised(self, cls: ir.Const, key: Value) -> Value:
        """`list[float]`: what a class makes of what stands in brackets after it."""
        getter = inspect.getattr_static(cls.value, "__class_getitem__", None)
        of_user = isinstance(getattr(getter, "__func__", None), types.FunctionType)
        if of_user and not is_static(getter.__func__.__module__):
            return self.call(self.attribute(cls, "__class_getitem__"), [key], {})
        try:
            return Place(cls.value[self.key(key)])
        except TypeError as error:
            raise self.fault(TypeError, str(error)) from None

    def subscript(self, container: Value, key: Value) -> Value:
        """`container[key]`."""
        container = self.spread(container)
        if isinstance(container, ir.Var):
            key = self.as_shape(key)
        key = self.tuple_or_none(key)
        if isinstance(key, Choice):
            return self.for_each(key, lambda k: self.subscript(container, k))
        key = self.as_slice(container, key)
        match container:
            case Choice():
                having = self.having_key(container, key)
                if not isinstance(having, Choice):
                    return self.subscript(having, key)
                return self.for_each(having, lambda c: self.subscript(c, key))
            case ir.Var() if container in self.flats:  # a part of it, as it is now, is no view
                part = self.subscript(self.emit(np.ravel, (self.flats[container][0],)), key)
                copied = array_kind(part) is not None
                return self.call(self.attribute(part, "copy"), [], {}) if copied else part
            case ir.Var() if isinstance(container.kind, Reference):
                lacking = "{} object is not subscriptable"
                return self.by_class(container, "__getitem__", [key], lacking)
            case Journal():
                return self.read_journal(container, key)
            case Tuple():
                self.check_given(container)
                return self.item_of(container.items, key, container)
            case Ref():
                thing = self.state.heap[container.id]
                if isinstance(thing, ListObject):
                    if thing.var is not None:
                        return self.list_item(thing.var, key)
                    return self.item_of(thing.items, key, container)
                if isinstance(thing, DictObject):
                    if isinstance(key, ir.Var) and self.is_table_of_functions(thing, key):
                        return self.function_of(thing, key)
                    if self.asks_at_run_time(container, key):
                        return self.subscript(container, key)
                    k = self.hashed(key)
                    if k not in thing.items:
                        return self.missing_item(container, k)
                    return self.known(f"[{k!r}]", thing.items[k])
                found = self.class_attribute(thing.type, "__getitem__")
                if found is not None:
                    return self.call(Bound(found, container), [key], {})
                raise self.fault(TypeError, f"a {thing.type.__name__} can't be indexed")
            case Sequence() if is_range(container):
                return self.item_of_range(container, key)
            case Sequence() | Generator():
                raise self.fault(TypeError, "an iterator can't be indexed")
            case ir.Const() if is_parametrised(container.value):
                return self.parametrised(container, key)
            case Place() if is_written(container, "__getitem__") and not is_of_package(
                type(container.value)
            ):
                return self.call(self.attribute(container, "__getitem__"), [key], {})
            case Place() if not isinstance(container.value, SIMPLE):
                if isinstance(key, ir.Const):
                    place = container.path or container.value
                    try:
                        found = container.value[key.value]
                    except Exception as error:  # as when the program runs
                        self.guards[Path("fails", place, key.value)] = type(error)
                        raise self.raised_by_python(error) from None
                    if isinstance(found, SIMPLE) or container.value[key.value] is found:
                        return self.lift(found, Path("item", place, key.value))
            case ir.Const():
                if isinstance(key, (ir.Const, Slice)):
                    known = key.value if isinstance(key, ir.Const) else self.static_slice(key)
                    if known is not None and isinstance(container.value, (str, bytes)):
                        try:
                            return ir.Const(container.value[known])
                        except Exception as error:
                            raise self.raised_by_python(error) from None
        if is_none(container):
            raise self.fault_of_none(TypeError, "is not subscriptable")
        if name := without_items(container):
            raise self.fault(TypeError, f"{name!r} object is not subscriptable")
        if isinstance(container, ir.Const):
            getter = getattr(type(container.value), "__getitem__", None)
            if getter in registry.definitions:
                return self.call(Bound(Place(getter), container), [key], {})
        operand = self.operand(container)
        if is_number(operand):
            self.check_indexable(operand, key)
        if isinstance(operand, ir.Var) and isinstance(operand.kind, ListOf):
            return self.list_item(operand, key)
        if isinstance(operand, ir.Var) and isinstance(operand.kind, TupleOf):
            return self.subscript(self.project(operand), key)
        if isinstance(operand, ir.Var) and isinstance(operand.kind, (Array, Scalar)):
            index = self.index(key)
            self.guard_index(operand, index)
            return self.emit(operator.getitem, (operand, index), name=operand.name)
        if isinstance(operand, ir.Var) and operand.kind == SHAPE:
            index = self.operand(key)
            if isinstance(key, Slice):
                return self.emit(operator.getitem, (operand, index), inferred=Inferred(SHAPE))
            self.guard(operator.getitem, (operand, index), {})
            return self.emit(operator.getitem, (operand, index), inferred=Inferred(INT))
        if is_text(container):
            if isinstance(container, ir.Const) and not self.making:
                operand = self.texts.get(container.value, operand)
            operands = operand, self.operand(key)
            return self.emit(operator.getitem, operands, inferred=TEXT, name="letters")
        return self.opaque(operator.getitem, [container, key])

    def having_key(self, choice: Choice, key: Value) -> Value:
        """One of several dicts, of those that have a key, once it is known that it is one of them.

        Anything else as it is.
        """
        things = [self.on_heap(option) for option in choice.options]
        plain = all(isinstance(t, DictObject) and t.type is dict and not t.factory for t in things)
        if not plain or not isinstance(key, ir.Const):
            return choice
        k = self.hashed(key)
        having = [i for i, thing in enumerate(things) if k in thing.items]
        if not 0 < len(having) < len(things):
            return choice
        given = (k,) if isinstance(k, SIMPLE) else None
        self.insist(self.which(choice, having), KeyError, f"the dict has no key {k!r}", given)
        return self.among(choice, having)

    def check_indexable(self, number: ir.Operand, key: Value) -> None:
        """Raise what indexing a number raises, if it is known whose number it is."""
        python = None
        if isinstance(number, ir.Const):
            python = not isinstance(number.value, np.generic)
        elif isinstance(number, ir.Var) and isinstance(number.kind, Scalar):
            python = number.kind.python
        if python:
            raise self.fault(TypeError, "a number can't be indexed")
        if python is False and axes_taken(self.index(key)) > 0:
            raise self.fault(IndexError, "invalid index to scalar variable.")

    def is_table_of_functions(self, thing: DictObject, key: ir.Var) -> bool:
        """Whether a dict holds functions alone, and is asked for a key that the data choose."""
        functions = bool(thing.items) and all(map(is_function, thing.items.values()))
        return functions and not thing.is_set and not self.is_known_soon([key])

    def function_of(self, thing: DictObject, key: ir.Var) -> Value:
        """The function that a dict has for a key that only the run tells."""
        keys, name = list(thing.items), f"%place{self.unique()}"

        def find(i: int) -> None:
            if i == len(keys):
                self.throw_new(KeyError, [key])
                return

            def put() -> None:
                self.state.frames[self.current][name] = ir.Const(i)

            test = self.truth(self.compare(gast.Eq(), key, ir.Const(keys[i])))
            if not isinstance(test, ir.Const):
                self.branch(test, put, lambda: find(i + 1))
            elif test.value:
                put()
            else:
                find(i + 1)

        find(0)
        index = self.known("this key", self.state.frames[self.current].pop(name, NONE))
        return self.option_at(index, tuple(thing.items.values()))

    def index(self, key: Value) -> ir.Operand:
        """The operand of an index: lists and ranges in it are arrays of ints."""
        if isinstance(key, Tuple):
            return ir.Pack(tuple, tuple(self.index(item) for item in key.items))
        if isinstance(key, Ref):
            operand = self.operand(key)
            if isinstance(operand, ir.Pack) and all(
                isinstance(item, ir.Const) for item in operand.items
            ):
                dtype = None if operand.items else np.intp  # an empty list would be one of floats
                return ir.Const(np.array([item.value for item in operand.items], dtype))  # type: ignore[union-attr]
            named: dict[str, ir.Operand] = {}
            kind = operand.kind if isinstance(operand, ir.Var) else None
            if isinstance(kind, ListOf) and (
                kind.item is None or (isinstance(kind.item, Scalar) and kind.item.dtype.kind == "i")
            ):
                named["dtype"] = ir.Const(np.dtype(np.intp))
            return self.emit(np.array, (operand,), named)
        if isinstance(key, Sequence) and key.bounds is not None:
            return self.array_of_range(key)
        return self.operand(key)

    def array_of_range(self, sequence: Sequence) -> ir.Var:
        start, stop, step = map(self.operand, self.int_bounds(sequence))
        plain = constant(start) == (True, 0) and constant(step) == (True, 1)
        return self.emit(np.arange, (stop,) if plain else (start, stop, step), name="indices")

    def as_slice(self, container: Value, key: Value) -> Value:
        """A slice that is known when compiling, as one written in the brackets of a list."""
        if not isinstance(key, ir.Const) or not isinstance(key.value, slice):
            return key
        in_order = isinstance(container, (Tuple, Sequence))
        if in_order or isinstance(self.thing(container), ListObject):
            return Slice(*map(ir.Const, (key.value.start, key.value.stop, key.value.step)))
        return key

    def as_index(self, key: Value) -> Value:
        """What an index is in ints: an object outside says it itself."""
        if isinstance(key, ir.Const) and is_written(key, "__index__"):
            return self.call(self.attribute(key, "__index__"), [], {})
        return key

    def item_of_range(self, container: Sequence, key: Value) -> Value:
        """An item of a range, or a part of it, which is a range."""
        start, stop, step = self.int_bounds(container)
        if not isinstance(key, Slice):
            index = self.as_index(key)
            return self.inline(item_of_range, [start, container.length, step, index], {})
        known = self.static_slice(key)
        if known is None or not all(isinstance(b, ir.Const) for b in (start, stop, step)):
            parts = map(self.bound_of_slice, (key.start, key.stop, key.step))
            length = self.call(ir.Const(len), [container], {})
            places = self.inline(places_of_slice, [length, *parts], {})
            assert isinstance(places, Tuple)
            if constant(start) == (True, 0) and constant(step) == (True, 1):
                return self.call(ir.Const(range), list(places.items), {})
            return self.inline(part_of_range, [start, step, *places.items], {})
        part_of = range(start.value, stop.value, step.value)[known]
        bounds: list[Value] = [ir.Const(b) for b in (part_of.start, part_of.stop, part_of.step)]
        return self.call(ir.Const(range), bounds, {})

    def bound_of_slice(self, bound: Value) -> Value:
        """A bound of a slice as Python's int, or None."""
        if is_none(bound):
            return bound
        self.check_counts(bound)
        return self.python_int(self.as_index(bound))

    def item_of(self, items: tuple[Value, ...], key: Value, container: Value) -> Value:
        if isinstance(key, Slice):
            known = self.static_slice(key)
            if known is None:
                if isinstance(container, Ref) and self.compact:
                    with suppress(UnsupportedError):
                        return self.list_item(self.materialized(container), key)
                for part in (key.start, key.stop, key.step):
                    if isinstance(part, ir.Var) and part.origins:
                        self.takes_apart = True
                        raise NeedStatic(part.origins, "this slice of a tuple or list", self.span)
                if isinstance(container, Ref):
                    self.materialize(Materialize(container, self.span))
                    return self.subscript(container, key)
                raise self.refuse("the bounds of this slice must be known when compiling")
            if isinstance(container, Tuple):
                return Tuple(items[known])
            return self.new(ListObject(items[known]))
        key = self.as_index(key)
        number = settled_item(key, self.block) if isinstance(key, ir.Var) else None
        if number is not None and -len(items) <= number < len(items):
            key = ir.Const(number)
        if isinstance(key, ir.Const) and hasattr(type(key.value), "__index__"):
            try:
                return self.known("item", items[key.value])
            except IndexError:
                what = "tuple" if isinstance(container, Tuple) else "list"
                error = self.fault(
                    IndexError,
                    f"index {key.value} is out of range here",
                    given=(f"{what} index out of range",),
                )
                later = isinstance(container, Ref) and (self.loop_depth or self.making)
                raise (Empty(error) if later else error) from None
        self.check_index_of_list(key)
        if isinstance(key, ir.Var) and isinstance(key.kind, Scalar):
            few = len(items) <= MOST_ITEMS
            if few and key.origins & self.unrollable and not self.compact:
                self.takes_apart = True
                raise NeedStatic(key.origins, "an index into a tuple or list", self.span)
            functions = bool(items) and all(map(is_function, items))
            if functions or (few and self.may_be_tuple_or_none(items)):
                places = ir.Pack(tuple, tuple(map(ir.Const, range(len(items)))))
                index = self.emit(
                    operator.getitem, (places, key), inferred=Inferred(INT), name="choice"
                )
                if functions:
                    return self.option_at(index, tuple(items))
                which = Choice(index, places.items)  # type: ignore[arg-type]
                return self.for_each(which, lambda place: items[place.value])  # type: ignore[union-attr]
            if isinstance(container, Ref):
                try:
                    return self.list_item(self.materialized(container, key), key)
                except UnsupportedError:
                    if key.origins:
                        raise NeedStatic(key.origins, "an index into a list", self.span) from None
                    raise
            if (few and key.origins) or not items:
                self.need_static(key, "an index into a tuple must be known when compiling")
            try:
                return self.list_item(self.built_list(tuple(items)), key)  # nobody else writes it
            except UnsupportedError:
                if key.origins:
                    raise NeedStatic(key.origins, "an index into a tuple", self.span) from None
                raise
        raise self.refuse(f"a tuple or list can't be indexed by {described(key)}")

    def may_be_tuple_or_none(self, items: tuple[Value, ...]) -> bool:
        """Whether one of some items may be a tuple, and one of them None."""
        held = [option for item in items for option in options(item)]
        none = any(is_none(v) or self.may_be_none(v) for v in held)
        return none and any(isinstance(v, Tuple) for v in held)

    def materialized(self, ref: Ref, key: Value = NONE) -> ir.Var:
        """The variable of a list that exists at run time since `key` isn't known."""
        thing = self.state.heap[ref.id]
        assert isinstance(thing, ListObject)
        if thing.var is None:
            if thing.external:
                return self.built_list(thing.items)
            self.materialize(Materialize(ref, self.span))
        thing = self.state.heap[ref.id]
        assert isinstance(thing, ListObject) and thing.var is not None
        if isinstance(key, ir.Var):
            thing.var.origins |= key.origins  # knowing it, the items would be known too
        return thing.var

    def compacted(self, ref: Ref, thing: ListObject) -> ListObject:
        """A list of several like items as one that exists at run time, where that is preferred."""
        if self.compact and thing.var is None and not thing.external and len(thing.items) > 1:
            with suppress(UnsupportedError):
                self.materialized(ref)
        now = self.state.heap[ref.id]
        assert isinstance(now, ListObject)
        return now

    def check_index_of_list(self, key: Value) -> None:
        """A list or tuple has no item at what surely is no int."""
        kind = getattr(key, "kind", None)
        of_numpy = isinstance(kind, Scalar) and kind.dtype.kind == "b" and kind.python is False
        if of_numpy or (isinstance(key, ir.Const) and not hasattr(type(key.value), "__index__")):
            raise self.fault(TypeError, f"a tuple or list can't be indexed by {described(key)}")

    def note_rank(self, items: ir.Var, key: Value) -> None:
        """Note what tells the rank of items, some of which are numbers yet (`[0] * n`)."""
        assert isinstance(items.kind, ListOf)
        if is_rankless(items.kind.item) and isinstance(key, ir.Var):
            for marker in key.origins:
                items.origins |= self.instead_of.get(marker, frozenset())

    def list_item(self, items: ir.Var, key: Value) -> Value:
        """An item or a slice of a list that exists at run time."""
        assert isinstance(items.kind, ListOf)
        if isinstance(key, Slice):
            part = tuple if items.kind.type is tuple else list
            var = self.emit(
                operator.getitem,
                (items, self.operand(key)),
                inferred=Inferred(replace(items.kind, type=part), (items,)),
            )
            self.link(items, None, var, sliced=True)
            return self.project(var)
        self.check_index_of_list(key)
        index = self.operand(key)
        self.guard_index(items, index)
        inferred = self.item_inferred(items)
        if items.kind.holes and isinstance(inferred.kind, TupleOf):
            if ("%missing", self.site) in self.known_sites:
                return self.item_or_none(items, index, inferred)
        item = self.emit(operator.getitem, (items, index), inferred=inferred, name="item")
        return self.item_taken(item, items)

    def item_taken(self, item: ir.Var, items: ir.Var) -> Value:
        """The value of an item of a list, which is None where nothing was put yet."""
        assert isinstance(items.kind, ListOf)
        item.optional = items.kind.holes
        if item.optional and isinstance(item.kind, TupleOf):
            item.origins |= {("%missing", self.site)}  # what is to be known if the program asks
        return self.project(item, items)

    def item_or_none(self, items: ir.Var, index: ir.Operand, inferred: Inferred) -> Value:
        """A tuple of a list, or None."""
        name = f"%item{self.unique()}"

        def put(value: Value) -> None:
            self.state.frames[self.current][name] = value

        def taken() -> Value:
            item = self.emit(operator.getitem, (items, index), inferred=inferred, name="item")
            return self.project(item, items)

        given = self.emit(
            operator.getitem, (items, index), inferred=Inferred(Opaque(None)), name="item"
        )
        missing = self.emit(operator.is_, (given, NONE), inferred=Inferred(BOOL))
        self.branch(missing, lambda: put(NONE), lambda: put(taken()))
        return self.state.frames[self.current].pop(name)

    def item_inferred(self, items: ir.Var) -> Inferred:
        assert isinstance(items.kind, ListOf)
        if items.kind.item is None and items.kind.holes:
            return Inferred(NOTHING)
        if items.kind.item is None:
            raise self.empty(IndexError, "list index out of range")
        kind = item_structure(items.kind.item)
        # items put in by different iterations may differ in what varies
        return Inferred(resized(kind, self.first_loop), (items,))

    def guard_index(self, container: ir.Var, index: ir.Operand) -> None:
        """Refuse fields; where a try catches an IndexError, find out first if there is one."""
        if isinstance(container.kind, Array) and is_field(index):
            if container.kind.dtype is not None and container.kind.dtype.names is None:
                raise self.fault(IndexError, "this array has no fields")
            raise self.refuse("a structured array has no derivative", "use an array for each field")
        trying = self.catcher(IndexError)
        rank = container.kind.rank if isinstance(container.kind, Array) else None
        if trying is not None and rank is not None and axes_taken(index) > rank:
            many = f"array is {rank}-dimensional, but {axes_taken(index)} were indexed"
            message = f"too many indices for array: {many}"
            raise self.fault(IndexError, message, given=(message,))
        if self.trying is not None and not is_inside(container.kind, index):
            self.guard(operator.getitem, (container, index), {})


def is_inside(kind: Any, index: ir.Operand) -> bool:
    """Whether an index of an array is known, and inside the lengths that are known of it.

    >>> row = Array(np.dtype(float), (3, ir.Var("n", INT)))
    >>> [is_inside(row, ir.Const(i)) for i in (2, -3, 3, (1, 0), (0, slice(None)))]
    [True, True, False, False, True]
    """
    if not isinstance(kind, Array) or kind.shape is None:
        return False
    axis = 0
    for item in ir.items_of(index):
        known, value = (True, item.value) if isinstance(item, ir.Const) else constant(item)
        if not known or isinstance(value, (bool, np.bool_)):
            return False
        if value is None:
            continue
        if axis == len(kind.shape):
            return False
        length = kind.shape[axis]
        if isinstance(value, (int, np.integer)):
            if not isinstance(length, int) or not -length <= value < length:
                return False
        elif not isinstance(value, slice) or value.step == 0:
            return False
        axis += 1
    return True


def is_rankless(kind: Any) -> bool:
    return isinstance(kind, Array) and kind.shape is None


def is_parametrised(thing: Any) -> bool:
    """Whether brackets after something name types, as in `list[float]` and `Optional[float]`.

    >>> import typing
    >>> [is_parametrised(t) for t in (list, typing.Optional, np.float64, [1.0])]
    [True, True, True, False]
    """
    if not isinstance(thing, type):
        return type(thing).__module__ == "typing"
    return not hasattr(type(thing), "__getitem__")  # as an enumeration has, for its members


def axes_taken(index: ir.Operand) -> int:
    """How many axes of an array an index takes, as far as that is known."""
    taken = 0
    for item in ir.items_of(index):
        if isinstance(item, ir.Const):
            value = np.asarray(item.value)  # of objects, for a slice, None or an Ellipsis
            nothing = item.value is None or item.value is Ellipsis
            taken += value.ndim if value.dtype.kind == "b" else not nothing
        elif isinstance(item, ir.Var):
            dtype = getattr(item.kind, "dtype", None)
            taken += dtype is not None and dtype.kind in "iu"
        else:
            taken += item.type is slice
    return taken


def is_field(index: ir.Operand) -> bool:
    """Whether an index names a field, or several, of a structured array."""
    value = index.value if isinstance(index, ir.Const) else None
    return isinstance(value, str) or (isinstance(value, np.ndarray) and value.dtype.kind == "U")
