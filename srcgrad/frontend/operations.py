"""The compiler's own primitives: what statements do that no function of Python's does."""

from __future__ import annotations

import contextlib
import math
import operator
from typing import Any

import numpy as np


def add_to_item(x: Any, key: Any, value: Any) -> None:
    """`x[key] += value`, as a primitive."""
    x[key] += value


def subtract_from_item(x: Any, key: Any, value: Any) -> None:
    """`x[key] -= value`, as a primitive."""
    x[key] -= value


def put_outside(container: Any, key: Any, value: Any) -> None:
    """`container[key] = value`, where no derivative is to be found."""
    container[key] = value


def read_outside(container: Any, key: Any) -> Any:
    """`container[key]`, as it is now."""
    return container[key]


def count_outside(container: Any, key: Any) -> Any:
    """`container[key]`, as it is now, which is an int; raises TypeError if it is a float."""
    return operator.index(container[key])


def or_numpys(x: float, again: float) -> float:
    """`x or np.float64(x)`: a number, but NumPy's if it is zero, by which Python won't divide."""
    return x or np.float64(again)


def leave_unless(test: bool) -> None:
    """A mark in a loop's body: if the test is false, the loop ends here, in the middle of a trip.

    Its results are then its parameters, as they were when the trip began; nothing that stands
    before the mark changes any memory, so that the trip needs no reversing.
    """


def len_of_range(start: int, stop: int, step: int) -> int:
    """The number of steps of `range(start, stop, step)`."""
    return len(range(start, stop, step))


def raise_exception(exception: Any, cause: Any = None) -> None:
    """`raise exception from cause`, as a primitive."""
    raise exception from cause


def enter_context(manager: Any) -> Any:
    """`manager.__enter__()`."""
    return manager.__enter__()


def managed(function: Any, /, *args: Any, **kwargs: Any) -> Any:
    """What a function made by `contextlib.contextmanager` from a local one returns."""
    return contextlib.contextmanager(function)(*args, **kwargs)


def dispatched_method(method: Any, receiver: Any, cls: type, /, *args: Any, **kwargs: Any) -> Any:
    """A call of a `functools.singledispatchmethod` of an object."""
    return method.__get__(receiver, cls)(*args, **kwargs)


def exit_context(manager: Any) -> Any:
    """`manager.__exit__(None, None, None)`."""
    return manager.__exit__(None, None, None)


def namedtuple_new(cls: Any, /, *args: Any, **kwargs: Any) -> Any:
    """`super().__new__(cls, ...)` in a class that derives from a named tuple."""
    return tuple.__new__(cls, cls(*args, **kwargs))


def namedtuple_make(cls: Any, values: Any, /) -> Any:
    """`cls._make(values)`."""
    return cls._make(values)


def namedtuple_replace(value: Any, /, **changes: Any) -> Any:
    """`value._replace(**changes)`."""
    return value._replace(**changes)


def namedtuple_asdict(value: Any, /) -> Any:
    """`value._asdict()`."""
    return value._asdict()


def items_of(iterator: Any) -> Any:
    """The items of a user's iterator: inlined like a function of the user's."""
    while True:
        try:
            item = iterator.__next__()
        except StopIteration:
            return
        yield item


def items_by_index(container: Any) -> Any:
    """The items of an object that only has a `__getitem__`: inlined like the user's functions."""
    index = 0
    while True:
        try:
            item = container[index]
        except IndexError:
            return
        yield item
        index += 1


def items_until(function: Any, last: Any) -> Any:
    """`iter(function, last)`: inlined like a function of the user's."""
    while (item := function()) != last:
        yield item


def next_or(iterator: Any, default: Any) -> Any:
    """`next(iterator, default)`: inlined like a function of the user's."""
    try:
        return iterator.__next__()
    except StopIteration:
        return default


def extreme_or(extreme: Any, items: Any, key: Any, default: Any) -> Any:
    """`max(items, key=key, default=default)`: inlined like a function of the user's."""
    return extreme(items, key=key) if count_of(items) > 0 else default


def checked_bool(answer: Any) -> Any:
    """What a `__bool__` may return, which is a bool: inlined like a function of the user's."""
    if not isinstance(answer, bool):
        raise TypeError("__bool__ should return bool, returned another")
    return answer


def checked_length(answer: Any) -> Any:
    """What a `__len__` may return, as Python's int: inlined like a function of the user's."""
    length = operator.index(answer)
    if length < 0:
        raise ValueError("__len__() should return >= 0")
    return length


def checked_conversion(function: Any, of: type, name: str, answer: Any) -> Any:
    """What `float(thing)` and the like make of an answer: inlined like a function of the user's."""
    if not isinstance(answer, of):
        raise TypeError(f"{name} returned non-{of.__name__}")
    return answer if function is hash else function(answer)


def has_attribute(thing: Any, name: str) -> bool:
    """`hasattr(thing, name)` of what code says: inlined like a function of the user's."""
    try:
        getattr(thing, name)
    except AttributeError:
        return False
    return True


def attribute_or(thing: Any, name: str, default: Any) -> Any:
    """`getattr(thing, name, default)` of what code says: inlined like a function of the user's."""
    try:
        return getattr(thing, name)
    except AttributeError:
        return default


def computed_or(compute: Any, otherwise: Any, name: str) -> Any:
    """An attribute that a class computes, which has a `__getattr__`: inlined like a function."""
    try:
        return compute()
    except AttributeError:
        return otherwise(name)


def item_of_range(start: int, length: int, step: int, index: int) -> int:
    """An item of a range: inlined like a function of the user's."""
    if index < 0:
        index = index + length
    if index < 0 or index >= length:
        raise IndexError("range object index out of range")
    return start + index * step


def places_of_slice(
    length: int, first: int | None, last: int | None, stride: int | None
) -> tuple[int, int, int]:
    """`slice(first, last, stride).indices(length)`: inlined like a function of the user's."""
    stride = 1 if stride is None else stride
    if stride == 0:
        raise ValueError("slice step cannot be zero")
    least, most = (0, length) if stride > 0 else (-1, length - 1)
    if first is None:
        first = least if stride > 0 else most
    else:
        first = min(max(first + length if first < 0 else first, least), most)
    if last is None:
        last = most if stride > 0 else least
    else:
        last = min(max(last + length if last < 0 else last, least), most)
    return first, last, stride


def part_of_range(start: int, step: int, first: int, last: int, stride: int) -> range:
    """The range of what stands at the places `range(first, last, stride)` of another one."""
    return range(start + first * step, start + last * step, stride * step)


def items_of_changing(items: Any) -> Any:
    """The items of a list that changes meanwhile: inlined like a function of the user's."""
    position = 0
    while position < len(items):
        yield items[position]
        position += 1


def entries_of_changing(table: Any, keys: Any, part: Any) -> Any:
    """What a dict has that may change meanwhile: inlined like a function of the user's.

    Which key comes next where one was taken away and another added, only Python's memory decides.
    """
    count, entered = len(keys), len(table.entries)
    for key in keys:
        if len(table) != count:
            raise RuntimeError("dictionary changed size during iteration")
        if len(table.entries) != entered:
            raise RuntimeError("dictionary keys changed during iteration")
        yield key if part is None else part(table, key)
    if len(table) != count:
        raise RuntimeError("dictionary changed size during iteration")


def members_of_changing(table: Any, keys: Any, part: Any) -> Any:
    """What a set has that may change meanwhile: inlined like a function of the user's."""
    before = table.copy()
    for key in keys:
        if table != before:
            raise RuntimeError("Set changed size during iteration")
        yield key
    if table != before:
        raise RuntimeError("Set changed size during iteration")


def count_of(items: Any) -> int:
    """How many items there are, of an iterator too: lowered by `BuiltinFunctions.count_of`."""
    return len(items)


def check_count(values: Any, count: Any, more: Any, exact: Any) -> Any:
    """Raise what unpacking so many values does: inlined like a function of the user's.

    `more`: a starred name takes the rest. `exact`: the text may be asked for.
    """
    if not exact:
        if count_of(values) < count if more else count_of(values) != count:
            at_least = "at least " if more else ""
            raise ValueError(f"expected {at_least}{count} values to unpack")
    elif more:
        if count_of(values) < count:
            raise ValueError(
                f"not enough values to unpack (expected at least {count}, got {count_of(values)})"
            )
    elif count_of(values) > count:
        raise ValueError(f"too many values to unpack (expected {count})")
    elif count_of(values) < count:
        raise ValueError(f"not enough values to unpack (expected {count}, got {count_of(values)})")


def check_arguments(values: Any, least: Any, most: Any) -> Any:
    """Raise what a call with so many arguments does: inlined like a function of the user's."""
    if count_of(values) < least:
        raise TypeError("there are fewer arguments than parameters")
    if most is not None and count_of(values) > most:
        raise TypeError("there are more arguments than parameters")


def check_as_many(strict: Any, lengths: Any) -> Any:
    """Raise what `zip(..., strict=strict)` does: inlined like a function of the user's."""
    for k, length in enumerate(lengths[1:], 1):
        if strict and length != lengths[0]:
            which = "shorter" if length < lengths[0] else "longer"
            others = "argument 1" if k == 1 else f"arguments 1-{k}"
            raise ValueError(f"zip() argument {k + 1} is {which} than {others}")


def zipped_strictly(*values: Any) -> Any:
    """`zip(*values, strict=True)` that raises once the shortest is used up: inlined like a
    function of the user's."""
    for items in zip(*values):  # noqa: B905, UP028
        yield items
    check_as_many(True, [count_of(value) for value in values])


def count_columns(rows: Any, strict: Any) -> Any:
    """How much `zip(*rows, strict=strict)` gives: inlined like a function of the user's."""
    lengths = [count_of(row) for row in rows]
    check_as_many(strict, lengths)
    return min(lengths, default=0)


def column_at(rows: Any, i: Any) -> Any:
    """What it gives after `i` others: inlined like a function of the user's."""
    return [row[i] for row in rows]


class ArrayIterator:
    """What `np.nditer` returns, as a class that is lowered like the user's."""

    def __init__(self, arrays: Any, several: bool, writes: bool) -> None:
        self.arrays, self.several, self.writes = arrays, several, writes
        self.shape = arrays[0].shape if several else arrays.shape
        self.itersize = math.prod(self.shape)
        self.iterindex = 0
        self.multi_index = tuple([0 for _ in self.shape])

    def __iter__(self) -> Any:
        for index in np.ndindex(self.shape):
            self.multi_index = index
            yield self.value

    @property
    def value(self) -> Any:
        """The items at the index: for an array that is written, a view of one."""
        if self.several:
            return tuple([array[self.multi_index] for array in self.arrays])
        if self.writes:
            return self.arrays[(*self.multi_index, ...)]
        return self.arrays[self.multi_index]

    def __getitem__(self, key: int) -> Any:
        return self.value[key] if self.several else self.value

    @property
    def finished(self) -> bool:
        return bool(self.iterindex >= self.itersize)

    def iternext(self) -> bool:
        self.iterindex += 1
        self.multi_index = np.unravel_index(self.iterindex % self.itersize, self.shape)
        return not self.finished

    def __enter__(self) -> Any:
        return self

    def __exit__(self, *error: Any) -> None:
        pass
