"""Whether arrays and containers are apart, where one of them is written."""

from __future__ import annotations

import enum
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from .objects import attributes, has_attributes

READS_WRITTEN = "NumPy reads what it has just written here, item by item"
OTHER_NAMES = "this array has other names, whose shape would change too"
RESHAPE = "write x = x.reshape(...)"
WRITE_COPY = "write a copy: y.copy()"


def check_apart(written: Any, arrays: Any) -> None:
    """Refuse arguments that share memory when one of them is written in place.

    `arrays` may have lists of arrays in it.

    >>> x = np.ones(3)
    >>> check_apart((x,), (x, np.ones(3), [np.ones(2)]))
    """
    arrays = [array for part in arrays for array in _arrays(part)]
    for i, a in enumerate(written):
        for j, b in enumerate(arrays):
            if a is b and i <= j and not any(c is a for c in arrays[:j]):
                continue
            if _overlap(a, b):
                raise ValueError(
                    "two arguments share memory, and the function writes into one of them: "
                    "pass a copy"
                )


def check_unread(written: Any, place: str, *arrays: Any) -> None:
    """Refuse to write an array from itself where NumPy reads what it has just written.

    >>> x = np.ones(3)
    >>> check_unread(x[:2], "model.py:3", x[2:], [np.ones(2)])
    """
    if any(_overlap(written, array) for array in _arrays(arrays)):
        raise ValueError(f"{place}: {READS_WRITTEN}: {WRITE_COPY}")


def check_items_unread(array: Any, key: Any, place: str, items: Any) -> None:
    """Refuse `array[key] = items` where a later one is read after its place has been written.

    >>> x = np.eye(3)
    >>> check_items_unread(x, slice(2), "model.py:3", [x[0], x[2]])
    """
    written = array[key]
    arrays = _arrays(items)
    if not any(_overlap(written, item) for item in arrays) or _axes(items) < np.ndim(written):
        return  # of a list that is broadcast, NumPy makes an array first
    if _reads_written(written, items):
        raise ValueError(f"{place}: {READS_WRITTEN}: {WRITE_COPY}")


def _axes(items: Any) -> int:
    """How many axes an array of nested lists of arrays has."""
    nested = isinstance(items, (list, tuple))
    return (1 + _axes(items[0]) if items else 1) if nested else np.ndim(items)


def _reads_written(written: Any, items: Any) -> bool:
    """Whether of arrays in nested lists, stored in turn, one overlaps what is written before."""
    if len(items) != len(written):
        return True
    return any(
        (isinstance(item, (list, tuple)) and _reads_written(written[i], item))
        or any(_overlap(written[i : i + 1], later) for later in _arrays(items[i + 1 :]))
        for i, item in enumerate(items)
    )


def check_sole(array: Any, place: str, most: int, *others: Any) -> None:
    """Refuse an array that is to have another shape where more than so many others are it.

    >>> x = np.ones(4)
    >>> check_sole(x, "model.py:3", 1, [x, x[:]])
    """
    if sum(other is array for other in _arrays(others)) > most:
        raise ValueError(f"{place}: {OTHER_NAMES}: {RESHAPE}")


def check_other_list(items: Any, place: str, other: Any) -> None:
    """Refuse a list that is extended by itself, under another name: it grows as it is read.

    >>> check_other_list([1.0], "model.py:3", [1.0])
    """
    if items is other:
        raise ValueError(f"{place}: this list is extended by itself: write list(...)")


def check_direction(array: Any, key: Any, value: Any, place: str) -> None:
    """Refuse `array[key] = value` where they cross, so that one place is written and read.

    >>> x = np.ones((3, 3))
    >>> check_direction(x, 1, x[0], "model.py:3"); check_direction(x, 1, x[:, 1], "model.py:3")
    """
    written = array[key]
    if np.ndim(written) != 1 or np.ndim(value) == 0 or value.shape[-1] < 2:
        return
    step, other = written.strides[0], value.strides[-1]
    if step != other and step * other > 0 and _overlap(written, value):
        to = written.ctypes.data + step * np.arange(len(written))
        of = value.ctypes.data + other * np.arange(len(written))
        _, when, then = np.intersect1d(to, of, assume_unique=True, return_indices=True)
        if written.dtype != value.dtype or np.any(when != then):
            raise ValueError(f"{place}: {READS_WRITTEN}: {WRITE_COPY}")


def check_fresh(result: Any, arrays: Any) -> None:
    """Refuse a result that shares memory with an argument when one of them is written in place.

    >>> x = np.ones(3)
    >>> check_fresh(x + 1, (x,))
    """
    if any(np.may_share_memory(result, a) for a in arrays):
        raise ValueError(
            "the result of a call shares memory with its argument, and one of them is written in "
            "place: make a copy of it first, by .copy()"
        )


def check_arrays_apart(written: Any, others: Any) -> None:
    """Refuse arguments in which two arrays share memory, when one may be written.

    >>> check_arrays_apart(([{"at": np.zeros(2)}, {"at": np.zeros(2)}],), (np.zeros(2),))
    """
    arrays = [a for a in _arrays_in(written) if a.size]
    count = len(arrays)
    arrays += [a for a in _arrays_in(others) if a.size]
    bounds = sorted((*np.lib.array_utils.byte_bounds(a), i) for i, a in enumerate(arrays))
    last = 0
    for n, (start, _, i) in enumerate(bounds):
        for _, end, j in bounds[last:n]:
            if start < end and min(i, j) < count and _overlap(arrays[i], arrays[j]):
                raise ValueError(
                    "two arrays in the arguments share memory, and the function writes into one "
                    "of them: pass a copy"
                )
        while last < n and bounds[last][1] <= start:
            last += 1


def check_containers_apart(written: Any, others: Any) -> None:
    """Refuse arguments that have a list, dict or object in two places when it may be written.

    >>> check_containers_apart(({"a": [1.0]},), ([1.0],))
    """
    for thing in _again(_containers(written), {id(thing) for thing in _containers(others)}):
        raise ValueError(
            f"the same {type(thing).__name__} is in two places of the arguments, and the "
            "function writes it, or one beside it: pass a copy"
        )


def check_not_held(arguments: Any, things: Any) -> None:
    """Refuse arguments that hold what the function finds outside too when one is written.

    >>> check_not_held(({"a": [1.0]},), ([1.0],))
    """
    outside, waiting = set(), list(things)
    while waiting:
        outside.add(id(thing := waiting.pop()))
        if isinstance(thing, list) and thing and isinstance(thing[0], list):
            waiting += thing
    for thing in _containers(arguments):
        if id(thing) in outside:
            raise ValueError(
                f"the same {type(thing).__name__} is in the arguments and outside, and the "
                "function writes it, or one beside it: pass a copy"
            )


TWICE_COPIED = (
    "the same {} is in two places of what is copied by copy.deepcopy, and its copy is written: "
    "make a copy of it first"
)


def check_listed_once(things: Any) -> None:
    """Refuse arrays and lists, parts of what is copied deeply, of which some are the same one.

    >>> check_listed_once((np.ones(3), [np.ones(2), [1.0]]))
    """
    for thing in _again(_listed(things), set()):
        raise ValueError(TWICE_COPIED.format(type(thing).__name__))


# The checks that ask whether arrays are the same one, or share memory
OVERLAP = (
    check_apart, check_unread, check_items_unread, check_listed_once, check_other_list, check_sole
)  # fmt: skip


def check_different(items: list[Any]) -> None:
    """Refuse a list of objects, by number, which is copied deeply and has one in two places.

    >>> check_different([0, 2, 1])
    """
    if len(set(items)) < len(items):
        raise ValueError(
            "the same object is in two places of what is copied by copy.deepcopy: make a copy of "
            "it first"
        )


def check_once(things: Any, types: tuple[type, ...]) -> None:
    """Refuse objects, parts of what is copied deeply, of which some are the same one.

    `types`: the classes of those that are written.

    >>> check_once(([{"a": [1.0]}, {"b": 1.0}],), (dict,))
    """
    for thing in _again((t for t in _containers(things) if type(t) in types), set()):
        raise ValueError(TWICE_COPIED.format(type(thing).__name__))


def _again(things: Iterable[Any], seen: set[int]) -> Iterator[Any]:
    """The things that have been seen before."""
    for thing in things:
        if id(thing) in seen:
            yield thing
        seen.add(id(thing))


def _listed(things: Any) -> Iterator[Any]:
    """The arrays, lists and dicts in a nest of lists, tuples and dicts, each place of them."""
    waiting = list(things)
    while waiting:
        thing = waiting.pop()
        if isinstance(thing, (np.ndarray, list, dict)):
            yield thing
        if isinstance(thing, (list, tuple, dict)):
            waiting += thing.values() if isinstance(thing, dict) else thing


def _overlap(a: Any, b: Any) -> bool:
    """Whether two arrays share memory, as fields of records and every other item don't."""
    if not np.may_share_memory(a, b):
        return False
    try:
        return np.shares_memory(a, b, max_work=10_000)  # type: ignore[arg-type]
    except np.exceptions.TooHardError:
        return True


def _arrays(part: Any) -> Any:
    """The arrays in a nest of lists."""
    if isinstance(part, (list, tuple)):
        return [array for item in part for array in _arrays(item)]
    return (part,) if isinstance(part, np.ndarray) else ()


def _containers(things: Any) -> Iterator[Any]:
    """The lists, dicts, sets and objects in a nest, each place of them.

    Strategies that an object may hold, such as functions of NumPy and members of an enum,
    aren't written.
    """
    for thing in things:
        parts = _parts(thing)
        if parts is None:
            continue
        if not isinstance(thing, tuple):
            yield thing
        if not _LEAVES.issuperset(map(type, parts)):
            yield from _containers(parts)


def _arrays_in(things: Any) -> Iterator[Any]:
    """The arrays in a nest of lists, dicts and objects."""
    for thing in things:
        if isinstance(thing, np.ndarray):
            yield thing
        elif parts := _parts(thing):
            yield from _arrays_in(parts)


def _parts(thing: Any) -> Any:
    """What a list, dict, set or object holds that may be written; None of anything else."""
    if isinstance(thing, dict):
        return thing.values()
    if isinstance(thing, (list, tuple)) or hasattr(type(thing), "popleft"):
        return thing
    if isinstance(thing, (np.ufunc, type(np.sum), enum.Enum, type)):
        return None
    if type(thing).__module__ != "builtins" and has_attributes(thing):
        return attributes(thing).values()
    return () if isinstance(thing, set) else None


_LEAVES = frozenset({int, float, complex, bool, str, type(None), np.ndarray, np.float64})
