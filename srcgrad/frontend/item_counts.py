"""How many items a list has that exists at run time, as far as that is known when compiling.

A loop that appends once in each iteration makes a list that is as long as the loop: an array of its
items has a dimension of that length, and a loop over them surely runs if the first one did.
"""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import replace
from typing import Any

from .. import ir
from ..ir import list_append
from ..kinds import Dimension, Scalar, Size, fresh_size, least
from .values import Heap, ListObject

Count = Dimension | None
Heaps = dict[int, Heap]
Alike = Callable[[ir.Var], set[ir.Var]]  # the lists that may be the same one


def some() -> Size:
    """The length of a list that isn't empty."""
    return Size(fresh_size().base, -1, True)


def changed(count: Count, by: int) -> Count:
    """The length of a list that has one item more, or one less.

    >>> changed(2, 1), changed(0, -1), changed(None, -1)
    (3, 0, None)
    """
    if count is None:
        return some() if by > 0 else None
    return max(count + by, 0) if isinstance(count, int) else count.shifted(by)


def merged(a: Count, b: Count) -> Count:
    """The length of a list after a branch, on whose sides it has these.

    >>> merged(2, 2), merged(0, 2)
    (2, None)
    """
    if a == b or a is None or b is None:
        return a if a == b else None
    return some() if (least(a) or 0) > 0 and (least(b) or 0) > 0 else None


def resized(start: Heaps, end: Heaps) -> set[int]:
    """The lists that have more or less items at the end of an iteration than at its start."""
    return {
        number for number, thing in start.items()
        if isinstance(thing, ListObject) and thing.var is not None and thing.count is not None
        and getattr(end.get(number), "count", None) != thing.count
    }  # fmt: skip


def forget(heap: Heaps, numbers: Collection[int] | None = None) -> None:
    """Forget how many items some of the lists have, or all."""
    for number in heap if numbers is None else numbers:
        thing = heap.get(number)
        if isinstance(thing, ListObject) and thing.count is not None:
            heap[number] = replace(thing, count=None)


def count_after(
    heap: Heaps, before: Heaps, numbers: Collection[int], body: ir.Block, trips: Count, alike: Alike
) -> None:
    """Note how many items lists have after a loop that makes them longer or shorter.

    `trips`: how often the loop runs, None where it may be left before its end.
    """
    for number in numbers:
        thing = heap.get(number)
        if isinstance(thing, ListObject) and thing.var is not None:
            old = getattr(before.get(number), "count", None)
            heap[number] = replace(thing, count=_after(old, thing.var, alike, body, trips))


def runs_at_least_once(bounds: Any) -> bool:
    """Whether a loop surely runs: one that only its exit flag ends does."""
    count = trips(bounds)
    return bounds is None or (isinstance(count, int) and count > 0)


def trips(bounds: tuple[ir.Operand, ir.Operand, ir.Operand] | None) -> Count:
    """How often a loop over a range runs that isn't left before its end.

    >>> trips((ir.Const(1), ir.Const(7), ir.Const(2)))
    3
    """
    if bounds is None:
        return None
    values = [operand.value if isinstance(operand, ir.Const) else None for operand in bounds]
    start, stop, step = values
    if stop is not None and start is not None and step is not None:
        return len(range(start, stop, step))
    end: Any = bounds[1]
    size = end.kind.size if isinstance(end, ir.Var) and isinstance(end.kind, Scalar) else None
    if not isinstance(start, int) or step != 1 or size is None:
        return None
    known = least(size)
    if known is None or known < start:  # it may be an int that is negative
        return None
    return size - start if isinstance(size, int) else size.shifted(-start)


def _after(before: Count, var: ir.Var, alike: Alike, body: ir.Block, trips: Count) -> Count:
    """The length of a list after a loop that writes it, or another one that may be the same."""
    names = alike(var)
    calls = [s for s in ir.walk(body) if isinstance(s, ir.Assign)]
    if any(isinstance(s.function, ir.Unit) for s in calls):
        return None
    writing = [s for s in calls if not names.isdisjoint(s.writes)]
    if not writing:
        return before
    if before is None or any(s.function is not list_append for s in writing):
        return None
    once = len(writing) == 1 and writing[0] in body.statements and writing[0].writes == (var,)
    if once and isinstance(before, int) and trips is not None:
        return trips + before if isinstance(trips, int) else trips.shifted(before)
    return some() if (least(before) or 0) > 0 else None
