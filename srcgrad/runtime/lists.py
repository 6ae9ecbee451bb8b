"""Lists, and the adjoints of the numbers in them."""

from __future__ import annotations

from typing import Any

import numpy as np


def fresh_items(items: Any) -> Any:
    """The shadow of a copy of a list, from its shadow: the same arrays, zero for each number.

    >>> fresh_items([2.5, (1.5, 2.5)])
    [0.0, (0.0, 0.0)]
    """

    def fresh(item: Any) -> Any:
        if isinstance(item, tuple):
            return tuple(fresh(part) for part in item)
        return item if item is None or isinstance(item, (np.ndarray, list)) else 0.0

    return [fresh(item) for item in items]


def zero_items(items: Any) -> Any:
    """The shadow of a list that has none: zeros for its numbers and arrays.

    >>> zero_items([2.5, (np.ones(1), 1.5), [2.5]])
    [0.0, (array([0.]), 0.0), [0.0]]
    """

    def zero(item: Any) -> Any:
        if isinstance(item, np.ndarray):
            if item.flags.c_contiguous:  # in less time
                return np.zeros(item.shape, item.dtype)
            return np.zeros_like(item)
        if isinstance(item, (list, tuple)):
            if set(map(type, item)) == {float}:  # in less time
                return type(item)((0.0,) * len(item))
            return type(item)([zero(part) for part in item])
        return 0.0

    return [zero(item) for item in items]


def as_numbers(items: Any, number: Any) -> Any:
    """The adjoints of a list of NumPy's numbers, or of lists of them, as such numbers.

    >>> as_numbers([1.5, [0.0]], np.float32)
    [np.float32(1.5), [np.float32(0.0)]]
    >>> as_numbers([(1.5, 2.5)], (np.float32, float))
    [(np.float32(1.5), 2.5)]
    """

    def made(item: Any, number: Any) -> Any:
        if isinstance(item, tuple) and isinstance(number, tuple):
            return tuple(map(made, item, number))
        if isinstance(item, (list, tuple)):
            return type(item)([made(part, number) for part in item])
        return number(item)

    return [made(item, number) for item in items]


def drop_imaginary(items: Any) -> None:
    """Make the adjoints of the numbers in a list of real numbers real.

    >>> d = [1 + 2j, (3 + 1j, None)]
    >>> drop_imaginary(d)
    >>> d
    [1.0, (3.0, None)]
    """

    def real(item: Any) -> Any:
        if isinstance(item, list):
            drop_imaginary(item)
            return item
        if isinstance(item, tuple):
            return tuple(real(part) for part in item)
        return item if item is None or isinstance(item, np.ndarray) else item.real

    items[:] = [real(item) for item in items]


def add_items(items: Any, key: Any, more: Any) -> None:
    """Add the adjoints of the numbers in a part of a list to those in the list.

    >>> d = [1.0, 2.0, 3.0]
    >>> add_items(d, slice(1, None), [10.0, 20.0])
    >>> d
    [1.0, 12.0, 23.0]
    """

    def total(a: Any, b: Any) -> Any:
        if isinstance(a, tuple):
            return tuple(total(x, y) for x, y in zip(a, b, strict=True))
        return a if a is None or isinstance(a, (np.ndarray, list)) else a + b

    items[key] = [total(a, b) for a, b in zip(items[key], more, strict=True)]


def add_nested(adjoints: Any, more: Any) -> None:
    """Add to the adjoints in a list of tuples or lists; nothing to those that are None.

    >>> d = [(1.0, None, [np.ones(1)])]
    >>> add_nested(d, [(2.0, 3.0, [4.0])])
    >>> d
    [(3.0, None, [array([5.])])]
    """

    def total(a: Any, b: Any) -> Any:
        if a is None or b is None:
            return a
        if isinstance(a, tuple):
            return tuple(map(total, a, b))
        if isinstance(a, list):
            add_nested(a, b)
            return a
        if isinstance(a, np.ndarray):
            a += b
            return a
        return a + b

    adjoints[:] = [total(a, b) for a, b in zip(adjoints, more, strict=True)]


def order(keys: Any, reverse: bool) -> list[int]:
    """The positions of a list's items in their order.

    >>> order([2.5, 0.5, 2.5], False), order([2.5, 0.5, 2.5], True)
    ([1, 0, 2], [0, 2, 1])
    """
    return sorted(range(len(keys)), key=keys.__getitem__, reverse=reverse)


def reorder(items: Any, order: list[int]) -> None:
    """Give the items of a list the order that `order` found.

    >>> letters = ["c", "a", "b"]
    >>> reorder(letters, [1, 2, 0])
    >>> letters
    ['a', 'b', 'c']
    """
    items[:] = [items[k] for k in order]


def restore_order(items: Any, order: list[int]) -> None:
    """Undo `reorder`.

    >>> letters = ["a", "b", "c"]
    >>> restore_order(letters, [1, 2, 0])
    >>> letters
    ['c', 'a', 'b']
    """
    before = items[:]
    for k, item in zip(order, before, strict=True):
        items[k] = item


def put_back(items: Any, index: int, item: Any) -> None:
    """Undo `item = items.pop(index)`.

    >>> letters = ["a", "b", "c"]
    >>> put_back(letters, -2, letters.pop(-2))
    >>> letters
    ['a', 'b', 'c']
    """
    items.insert(index if index >= 0 else len(items) + 1 + index, item)


def copied_items(items: Any) -> Any:
    """A copy of a list with copies of its arrays.

    >>> copied_items([2.5, np.ones(1)])
    [2.5, array([1.])]
    """

    def copied(item: Any) -> Any:
        if isinstance(item, (list, tuple)):
            return type(item)(copied(part) for part in item)
        return item.copy() if isinstance(item, np.ndarray) else item

    return copied(items)


def nested_tangents(items: Any, tangents: Any = None) -> Any:
    """The tangents of a list of tuples or lists: None of what is no float, zeros where they miss.

    >>> nested_tangents([(1.5, 2, np.ones(1))], [(0.5, 0.0, None)])
    [(0.5, None, array([0.]))]
    """

    def tangent(item: Any, t: Any) -> Any:
        if isinstance(item, (list, tuple)):
            given = [None] * len(item) if t is None else t
            return type(item)(tangent(*pair) for pair in zip(item, given, strict=True))
        if isinstance(item, np.ndarray):
            if item.dtype.kind not in "fc":
                return None
            return np.zeros_like(item) if t is None else np.array(t)
        if not isinstance(item, (float, complex, np.inexact)):
            return None
        return type(item)(0.0) if t is None else t

    return tangent(items, tangents)


def items_of(value: Any) -> list[Any]:
    """The items of what was unknown when compiling, all of them before the first is used.

    >>> items_of({"a": 1, "b": 2})
    ['a', 'b']
    """
    items = []
    for item in value:
        items.append(item)
        if len(items) > 1_000_000 and not hasattr(value, "__len__"):
            raise RuntimeError(
                f"this {type(value).__name__} seems to be endless, and srcgrad takes all its items "
                "before the first is used: take those that are needed outside of the function"
            )
    return items


def items_of_again(value: Any) -> list[Any]:
    """The items of something that may have been gone through in part: an iterator has others left.

    >>> items_of_again([1, 2])
    [1, 2]
    """
    if hasattr(value, "__next__"):
        raise ValueError(
            f"this {type(value).__name__} is gone through again where a loop over it may have been "
            "left early, and srcgrad has taken all its items: make a list of it first"
        )
    return items_of(value)


def listed(x: Any) -> Any:
    """The numbers of a short array as a list, which loops are faster at; a long one as it is.

    >>> listed(np.ones(2)), listed(np.ones(1000)).shape
    ([1.0, 1.0], (1000,))
    """
    return x.tolist() if x.size <= 32 else x


def boxed(number: Any) -> Any:
    """A float as NumPy's, as it was before the loop that took it for Python's; ints stay ints.

    >>> boxed(2), boxed(0.5)
    (2, np.float64(0.5))
    """
    return np.float64(number) if isinstance(number, float) else number
