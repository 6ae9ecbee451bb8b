"""`sorted`: of arrays, and of lists whose items are numbers or anything else."""

from __future__ import annotations

from typing import Any

import gast
import numpy as np

from .. import ir, runtime
from ..analysis.elementwise import number_kind
from ..analysis.inference import Inferred
from ..kinds import INT, Array, ListOf, Opaque, Scalar
from .predicates import FALSE, NONE, is_none, is_number
from .texts import Texts
from .values import Generator, Instance, ListObject, Sequence, Slice, Tuple, Value


class Sorting(Texts):
    """Lowers `sorted` and `list.sort`."""

    def builtin_sorted(self, value: Value, **kwargs: Value) -> Value:
        key, reverse = given(kwargs.get("key")), kwargs.get("reverse", FALSE)
        if not isinstance(reverse, ir.Const):
            raise self.refuse("reverse= must be known when compiling")
        of_run = isinstance(value, ir.Var) and value.kind == Opaque(str) and not value.optional
        made = isinstance(value, (Generator, Sequence)) or isinstance(self.on_heap(value), Instance)
        if made or of_run:
            value = self.builtin_list(value)
        thing = self.on_heap(value)
        if isinstance(thing, Instance):  # a list of several kinds
            self.call(self.attribute(value, "sort"), [], kwargs)
            return value
        listed = isinstance(thing, ListObject) and thing.var is not None
        kinds: list[Any] = [None]
        if not listed and not (isinstance(value, ir.Var) and isinstance(value.kind, Array)):
            items = self.unpacked(value)
            kinds = [number_kind(i) for i in items]  # type: ignore[arg-type]
            keys = [self.call(key, [i], {}) if key is not None else i for i in items]
            if all(isinstance(k, Tuple) and k.items for k in keys):
                first = [k.items[0] for k in keys]  # type: ignore[union-attr]
                known = {k.value for k in first if isinstance(k, ir.Const)}
                if len(known) == len(keys):  # the others aren't compared
                    keys = first
            if all(isinstance(k, ir.Const) for k in keys):
                self.check_ordered(keys)
                order = sorted(
                    range(len(items)),
                    key=lambda i: keys[i].value,  # type: ignore[union-attr]
                    reverse=reverse.value,
                )
                return self.new(ListObject(tuple(items[i] for i in order)))
            if key is not None or not all(map(is_number, items)) or not are_alike(kinds):
                return self.insertion_sorted(items, keys, reverse.value)
        elif key is not None or not self.holds_numbers(value):
            held, places = self.require(value), self.order_of(value, **kwargs)
            ref = self.new(ListObject((), places))
            return self.listed(held.length, lambda i: held.item(self.subscript(ref, i)))
        elif listed and thing.var.kind.item.python:
            copied = self.builtin_list(value)
            self.call(self.attribute(copied, "sort"), [], kwargs)
            return copied
        elif isinstance(value, ir.Var) and value.kind.rank != 1:  # type: ignore[attr-defined]
            raise self.refuse("sorted() of an array that isn't known to have one dimension")
        array = self.call_object(np.sort, [self.number(value)], {})  # type: ignore[list-item]
        if reverse.value:
            back = Slice(NONE, NONE, ir.Const(-1))
            array = self.subscript(array, back)
        first = kinds[0] if not listed else thing.var.kind.item
        if isinstance(first, Scalar) and first.python:
            array = self.call_object(np.ndarray.tolist, [array], {})  # Python's stay Python's
        return self.builtin_list(array)

    def check_ordered(self, known: list[Value]) -> None:
        """Raise what comparing what is known when compiling does: of a number and a text."""
        try:
            sorted(k.value for k in known)  # type: ignore[union-attr]
        except TypeError as error:
            raise self.raised_by_python(error) from None

    def holds_numbers(self, value: Value) -> bool:
        """Whether a value is an array, or a list that exists at run time, of numbers."""
        thing = self.on_heap(value)
        kind = thing.var.kind if isinstance(thing, ListObject) and thing.var is not None else None
        if not isinstance(kind, ListOf):
            return True
        return isinstance(kind.item, Scalar) and are_alike([kind.item])

    def order_of(self, value: Value, **kwargs: Value) -> ir.Var:
        """The positions of a list that exists at run time, sorted by what stands there."""
        key, reverse = given(kwargs.get("key")), kwargs.get("reverse", FALSE)
        if not isinstance(reverse, ir.Const):
            raise self.refuse("reverse= must be known when compiling")
        items, keys = self.require(value), self.operand(value)

        def key_of(i: Value) -> Value:
            item = items.item(i)
            return item if key is None else self.call(key, [item], {})

        if key is not None or not are_compared(keys):
            keys = self.operand(self.listed(items.length, key_of))
        inferred = Inferred(ListOf(INT))
        return self.emit(runtime.order, (keys, reverse), inferred=inferred, name="order")

    def insertion_sorted(self, items: list[Value], keys: list[Value], reverse: bool) -> Value:
        pairs = [Tuple((k, i)) for k, i in zip(keys, items, strict=True)]
        for last in range(len(pairs) - 1, 0, -1):
            for j in range(last):
                a, b = pairs[j], pairs[j + 1]
                less, more = (a, b) if reverse else (b, a)
                test = self.truth(self.compare(gast.Lt(), less.items[0], more.items[0]))
                both = list(zip(a.items, b.items, strict=True))
                pairs[j], pairs[j + 1] = (
                    Tuple(tuple(self.chosen(test, y, x) for x, y in both)),
                    Tuple(tuple(self.chosen(test, x, y) for x, y in both)),
                )
        return self.new(ListObject(tuple(p.items[1] for p in pairs)))


def are_alike(kinds: list[Any]) -> bool:
    """Whether numbers are of one type, so that an array of them keeps it.

    >>> are_alike([INT, INT]), are_alike([INT, Scalar(np.dtype(float))])
    (True, False)
    """
    known = {(k.dtype.kind, k.python) if isinstance(k, Scalar) else k for k in kinds}
    sure = all(not isinstance(k, Scalar) or (k.python is not None and not k.mixed) for k in kinds)
    return sure and len(known) == 1


def are_compared(items: ir.Operand) -> bool:
    """Whether what a list holds at run time is what Python compares: numbers, texts or tuples."""
    item = items.kind.item if isinstance(items, ir.Var) and isinstance(items.kind, ListOf) else None
    plain = (Scalar, Opaque)
    return isinstance(item, plain) or (
        type(item) is tuple and all(isinstance(part, plain) for part in item)
    )


def given(argument: Value | None) -> Value | None:
    """An argument, if it is there and isn't None."""
    return None if argument is None or is_none(argument) else argument
