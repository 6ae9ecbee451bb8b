"""Python's iterators as classes that make one item when they are asked for it, as Python's do.

Mostly, lowering knows an iterator by how many items it has and what each of them is, or runs a body
for each item (`iterators`). One that is asked in several places, or while what it goes through
changes, is an object of one of these classes instead, which are lowered like the user's: how far it
has come is in its attributes. `Changes.ask_stepwise` says when, and `Cursors.stepwise` makes it.
"""

from __future__ import annotations

import itertools
import operator
from typing import Any


class Stepwise:
    """What all of them are."""

    def __iter__(self) -> Any:
        return self


class Items(Stepwise):
    """The items of what has them by number: a list, an array, a tuple, a range."""

    def __init__(self, items: Any) -> None:
        self.items, self.position = items, 0

    def __next__(self) -> Any:
        if not 0 <= self.position < len(self.items):
            self.position = -1  # for good, even if the list gets longer
            raise StopIteration
        self.position += 1
        return self.items[self.position - 1]


class Reversed(Stepwise):
    """`reversed` of such."""

    def __init__(self, items: Any) -> None:
        self.items, self.position = items, len(items) - 1

    def __next__(self) -> Any:
        if not 0 <= self.position < len(self.items):
            self.position = -1
            raise StopIteration
        self.position -= 1
        return self.items[self.position + 1]


class Entries(Stepwise):
    """What a dict or a set has; `part` makes of it, and of a key, what is wanted.

    To `entered` there is added something whenever a key is.
    """

    def __init__(self, table: Any, keys: Any, part: Any, entered: Any) -> None:
        self.table, self.keys, self.part = table, keys, part
        self.position, self.count = 0, len(keys)
        self.entered, self.ever = entered, len(entered)

    def __next__(self) -> Any:
        if self.position < 0:
            raise StopIteration
        if len(self.table) != self.count:
            raise RuntimeError("dictionary changed size during iteration")
        if self.position >= self.count:
            self.position = -1
            raise StopIteration
        key = self.keys[self.position]
        if key not in self.table or len(self.entered) != self.ever:
            raise RuntimeError("dictionary keys changed during iteration")
        self.position += 1
        return self.part(self.table, key)


class Zip(Stepwise):
    """`zip`"""

    def __init__(self, *iterables: Any, strict: Any = False) -> None:
        self.iterators, self.strict = [iter(items) for items in iterables], strict

    def __next__(self) -> Any:
        if len(self.iterators) == 0:
            raise StopIteration
        if not self.strict:
            return tuple([next(iterator) for iterator in self.iterators])
        return self.as_many()

    def as_many(self) -> Any:
        """The next items, where all must have one or none."""
        row: list[Any] = []
        for k, iterator in enumerate(self.iterators):
            try:
                row.append(next(iterator))
            except StopIteration:
                if k > 0:
                    raise ValueError(f"zip() argument {k + 1} is too short") from None
                break
        if len(row) > 0:
            return tuple(row)
        for k, iterator in enumerate(self.iterators[1:]):
            more = True
            try:
                next(iterator)
            except StopIteration:
                more = False
            if more:
                raise ValueError(f"zip() argument {k + 2} is too long")
        raise StopIteration


class ZipLongest(Stepwise):
    """`itertools.zip_longest`"""

    def __init__(self, *iterables: Any, fillvalue: Any = None) -> None:
        self.iterators, self.fill = [iter(items) for items in iterables], fillvalue
        self.going = [True for _ in iterables]
        self.left = len(self.iterators)

    def __next__(self) -> Any:
        if self.left == 0:
            raise StopIteration
        return tuple([self.taken(k) for k in range(len(self.iterators))])

    def taken(self, k: int) -> Any:
        """The next item of an iterator, or what is given in its place."""
        if self.going[k]:
            try:
                return next(self.iterators[k])
            except StopIteration:
                self.going[k] = False
                self.left -= 1
        if self.left == 0:
            raise StopIteration
        return self.fill


class Map(Stepwise):
    """`map`"""

    def __init__(self, function: Any, *iterables: Any) -> None:
        self.function, self.iterators = function, [iter(items) for items in iterables]

    def __next__(self) -> Any:
        return self.function(*[next(iterator) for iterator in self.iterators])


class StarMap(Stepwise):
    """`itertools.starmap`"""

    def __init__(self, function: Any, iterable: Any) -> None:
        self.function, self.iterator = function, iter(iterable)

    def __next__(self) -> Any:
        return self.function(*next(self.iterator))


class Filter(Stepwise):
    """`filter`"""

    def __init__(self, function: Any, iterable: Any) -> None:
        self.function, self.iterator = function, iter(iterable)

    def __next__(self) -> Any:
        while True:
            item = next(self.iterator)
            if self.wants(item):
                return item

    def wants(self, item: Any) -> Any:
        """Whether an item is one of those that are given."""
        return item if self.function is None else self.function(item)


class FilterFalse(Filter):
    """`itertools.filterfalse`"""

    def wants(self, item: Any) -> Any:
        return not (item if self.function is None else self.function(item))


class TakeWhile(Stepwise):
    """`itertools.takewhile`"""

    def __init__(self, predicate: Any, iterable: Any) -> None:
        self.predicate, self.iterator, self.over = predicate, iter(iterable), False

    def __next__(self) -> Any:
        if not self.over:
            item = next(self.iterator)
            if self.predicate(item):
                return item
            self.over = True
        raise StopIteration


class DropWhile(Stepwise):
    """`itertools.dropwhile`"""

    def __init__(self, predicate: Any, iterable: Any) -> None:
        self.predicate, self.iterator, self.dropping = predicate, iter(iterable), True

    def __next__(self) -> Any:
        while True:
            item = next(self.iterator)
            if not (self.dropping and self.predicate(item)):
                self.dropping = False
                return item


class Compress(Stepwise):
    """`itertools.compress`"""

    def __init__(self, data: Any, selectors: Any) -> None:
        self.iterator, self.selectors = iter(data), iter(selectors)

    def __next__(self) -> Any:
        while True:
            item = next(self.iterator)
            if next(self.selectors):
                return item


class Enumerate(Stepwise):
    """`enumerate`"""

    def __init__(self, iterable: Any, start: int = 0) -> None:
        self.iterator, self.count = iter(iterable), start

    def __next__(self) -> Any:
        item = next(self.iterator)
        self.count += 1
        return self.count - 1, item


class Accumulate(Stepwise):
    """`itertools.accumulate`"""

    def __init__(self, iterable: Any, func: Any = None, *, initial: Any = None) -> None:
        self.iterator, self.function = iter(iterable), operator.add if func is None else func
        self.totals = [] if initial is None else [initial]  # no more than one
        self.begun = initial is None

    def __next__(self) -> Any:
        if not self.begun:
            self.begun = True
        elif len(self.totals) > 0:
            self.totals[0] = self.function(self.totals[0], next(self.iterator))
        else:
            self.totals.append(next(self.iterator))
        return self.totals[0]


class Pairwise(Stepwise):
    """`itertools.pairwise`"""

    def __init__(self, iterable: Any) -> None:
        self.iterator = iter(iterable)
        self.before: list[Any] = []  # no more than one

    def __next__(self) -> Any:
        if len(self.before) == 0:
            self.before.append(next(self.iterator))
        before = self.before[0]
        self.before[0] = after = next(self.iterator)
        return before, after


class Chain(Stepwise):
    """`itertools.chain`"""

    def __init__(self, *iterables: Any) -> None:
        self.iterators, self.number = [iter(items) for items in iterables], 0

    def __next__(self) -> Any:
        for k, iterator in enumerate(self.iterators):
            if self.number == k:
                try:
                    return next(iterator)
                except StopIteration:
                    self.number = k + 1
        raise StopIteration


class Islice(Stepwise):
    """`itertools.islice`"""

    def __init__(self, iterable: Any, *bounds: Any) -> None:
        parts = (None, *bounds) if len(bounds) == 1 else bounds
        self.iterator, self.stop = iter(iterable), parts[1]
        self.following = 0 if parts[0] is None else parts[0]
        self.step = 1 if len(parts) < 3 or parts[2] is None else parts[2]
        self.count, self.over = 0, False

    def __next__(self) -> Any:
        if self.over:
            raise StopIteration
        self.over = True  # unless there is an item
        while self.count < self.following:
            next(self.iterator)
            self.count += 1
        if self.stop is not None and self.count >= self.stop:
            raise StopIteration
        item = next(self.iterator)
        self.count += 1
        self.following += self.step
        if self.stop is not None and self.following > self.stop:
            self.following = self.stop
        self.over = False
        return item


class Cycle(Stepwise):
    """`itertools.cycle`"""

    def __init__(self, iterable: Any) -> None:
        self.iterator, self.position, self.again = iter(iterable), 0, False
        self.saved: list[Any] = []

    def __next__(self) -> Any:
        if not self.again:
            try:
                item = next(self.iterator)
                self.saved.append(item)
                return item
            except StopIteration:
                self.again = True
        if len(self.saved) == 0:
            raise StopIteration
        item = self.saved[self.position]
        self.position = (self.position + 1) % len(self.saved)
        return item


class Repeat(Stepwise):
    """`itertools.repeat`"""

    def __init__(self, object: Any, times: Any = None) -> None:
        self.item, self.left = object, times

    def __next__(self) -> Any:
        if self.left is not None:
            if self.left <= 0:
                raise StopIteration
            self.left -= 1
        return self.item


class Count(Stepwise):
    """`itertools.count`"""

    def __init__(self, start: Any = 0, step: Any = 1) -> None:
        self.value, self.step = start, step

    def __next__(self) -> Any:
        value = self.value
        self.value = value + self.step
        return value


class Shared:
    """What the iterators that `itertools.tee` makes go through."""

    def __init__(self, iterable: Any) -> None:
        self.iterator = iter(iterable)
        self.items: list[Any] = []

    def item(self, position: int) -> Any:
        """The item at a position, up to the first that nobody has asked for."""
        if position == len(self.items):
            self.items.append(next(self.iterator))
        return self.items[position]


class Tee(Stepwise):
    """One of these iterators."""

    def __init__(self, shared: Any) -> None:
        self.shared, self.position = shared, 0

    def __next__(self) -> Any:
        item = self.shared.item(self.position)
        self.position += 1
        return item


def tee(iterable: Any, n: int = 2) -> Any:
    """`itertools.tee`"""
    shared = Shared(iterable)
    return tuple([Tee(shared) for _ in range(n)])


class GroupBy(Stepwise):
    """`itertools.groupby`"""

    def __init__(self, iterable: Any, key: Any = None) -> None:
        self.iterator, self.function = iter(iterable), key
        self.item, self.key, self.wanted = None, None, None
        self.begun, self.number = False, 0

    def __next__(self) -> Any:
        self.number += 1  # the group before gives no more
        if not self.begun:
            self.take()
            self.begun = True
        else:
            while self.key == self.wanted:
                self.take()
        self.wanted = self.key
        return self.key, Group(self, self.number)

    def take(self) -> None:
        """Go on to the next item."""
        item = next(self.iterator)
        self.key = item if self.function is None else self.function(item)
        self.item = item


class Group(Stepwise):
    """The items of one group."""

    def __init__(self, groups: Any, number: int) -> None:
        self.groups, self.number, self.first = groups, number, True

    def __next__(self) -> Any:
        if self.groups.number != self.number:
            raise StopIteration
        if not self.first:
            self.groups.take()
        self.first = False
        if self.groups.key != self.groups.wanted:
            raise StopIteration
        return self.groups.item


class Batched(Stepwise):
    """`itertools.batched`"""

    def __init__(self, iterable: Any, n: int, *, strict: bool = False) -> None:
        self.iterator, self.size, self.strict = iter(iterable), n, strict

    def __next__(self) -> Any:
        batch: list[Any] = []
        for _ in range(self.size):
            try:
                batch.append(next(self.iterator))
            except StopIteration:
                break
        if len(batch) == 0:
            raise StopIteration
        if self.strict and len(batch) < self.size:
            raise ValueError("batched(): incomplete batch")
        return tuple(batch)


STEPWISE: dict[Any, Any] = {
    zip: Zip,
    map: Map,
    filter: Filter,
    enumerate: Enumerate,
    itertools.accumulate: Accumulate,
    itertools.chain: Chain,
    itertools.compress: Compress,
    itertools.count: Count,
    itertools.cycle: Cycle,
    itertools.dropwhile: DropWhile,
    itertools.filterfalse: FilterFalse,
    itertools.groupby: GroupBy,
    itertools.islice: Islice,
    itertools.pairwise: Pairwise,
    itertools.repeat: Repeat,
    itertools.starmap: StarMap,
    itertools.takewhile: TakeWhile,
    itertools.tee: tee,
    itertools.zip_longest: ZipLongest,
}
if hasattr(itertools, "batched"):
    STEPWISE[itertools.batched] = Batched
# Those that look at all that they are given at once: their rows are there when they are made
ROWS = frozenset(
    {
        itertools.product, itertools.combinations, itertools.permutations,
        itertools.combinations_with_replacement,
    }
)  # fmt: skip
