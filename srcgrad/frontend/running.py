"""What Python's methods do to lists that exist at run time, in fewer operations.

Written in what the compiler reads, and inlined where the methods are called.
"""

from __future__ import annotations

from typing import Any

from ..rules.registry import definition


def put(items: Any, position: Any, value: Any) -> None:
    """Insert a value at a position that there is: `Containers.list_put` emits it."""
    items.insert(position, value)


def insert(items: Any, position: Any, value: Any) -> None:
    """`items.insert(position, value)`"""
    count = len(items)
    if position < 0:
        position = position + count
    position = min(max(position, 0), count)
    put(items, position, value)


def bounds(items: Any, start: Any, stop: Any) -> tuple[Any, Any]:
    """Where `items[start:stop]` begins and ends, counted from the front and in order."""
    count = len(items)
    start = 0 if start is None else start
    stop = count if stop is None else stop
    start = min(max(start + count, 0) if start < 0 else start, count)
    stop = min(max(stop + count, 0) if stop < 0 else stop, count)
    return start, max(start, stop)


def is_or_equals(item: Any, value: Any) -> Any:
    """Whether an item of a container is what is looked for: the same object isn't asked."""
    return item is value or item == value


def index(items: Any, value: Any) -> Any:
    """`items.index(value)`, with one test at its end, which a `try` can ask beforehand."""
    found = -1
    for position, item in enumerate(items):
        if found < 0 and is_or_equals(item, value):
            found = position
    if found < 0:
        raise ValueError("the value isn't in the list")
    return found


def count(items: Any, value: Any) -> Any:
    """`items.count(value)`"""
    found = 0
    for item in items:
        if is_or_equals(item, value):
            found += 1
    return found


def holds(items: Any, value: Any) -> Any:
    """`value in items`, of objects: none is asked after one that is found."""
    return any(is_or_equals(item, value) for item in items)


def rotate(items: Any, n: Any) -> None:
    """`items.rotate(n)`"""
    if items:
        for _ in range(n):
            insert(items, 0, items.pop())
        for _ in range(-n):
            items.append(items.pop(0))


for _function in (bounds, count, holds, index, insert, rotate):
    definition(_function)(_function)
