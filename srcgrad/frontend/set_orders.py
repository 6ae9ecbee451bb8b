"""In which order Python goes through a set whose members are known when compiling.

It depends on how the set came about: of {0, 16} it is another order than of {16, 0}, and a set from
which much was taken keeps a table of the size that it had. So it is that of a real set, made as the
program makes it.
"""

from __future__ import annotations

import itertools
import sys
import types
from collections.abc import Callable, Iterable
from typing import Any

PROBE = 1 << 40
MOST_PERMUTED = 6  # keys: in which order they were added is tried
MOST_STEPS = 20  # that are worth being made again at run time
PURE = (set.union, set.intersection, set.difference, set.symmetric_difference)


class Order:
    """The order of a set after one more change.

    >>> order = Order(set.update, (16, 0, 3)).then(set.discard, 3)
    >>> order.keys()
    [16, 0]
    """

    __slots__ = ("before", "change", "given", "made", "outside")

    def __init__(self, change: Any = set.clear, *given: Any, before: Order | None = None) -> None:
        """The set `before` (an empty one), changed by a method of `set` that is given these."""
        self.before, self.change, self.given = before, change, given
        self.made: set[Any] | None = None
        self.outside: Any = None

    @classmethod
    def of(cls, outside: Any) -> Order:
        """The order of a set that there is; another one of its like is changed."""
        order = cls(set.update, outside)
        order.outside = outside
        return order

    def then(self, change: Any, *given: Any) -> Order:
        """The order after a change; of a set that a method returns, if it returns one."""
        return Order(change, *given, before=self)

    def keys(self) -> list[Any]:
        return list(self._as_it_is())

    def _as_it_is(self) -> Any:
        """A set made in this way, which nobody changes."""
        if self.outside is not None:
            return self.outside
        if self.made is None:
            self.made = self._made()
        return self.made

    def _made(self) -> set[Any]:
        """Another set made in this way."""
        steps = [self]
        while steps[-1].before is not None and steps[-1].change not in PURE:
            steps.append(steps[-1].before)
        before = steps[-1].before
        real: Any = set() if before is None else before._as_it_is()
        for step in reversed(steps):
            given = [g._as_it_is() if isinstance(g, Order) else g for g in step.given]
            if step.change in PURE:
                real = getattr(real, step.change.__name__)(*given)
                real = real if isinstance(real, set) else set(real)  # of a frozenset
            else:
                step.change(real, *given)
        made: set[Any] = real
        return made

    def is_like(self, other: Order) -> bool:
        """Whether Python goes through both in one order, now and after the same changes."""
        if self is other:
            return True
        if self.keys() != other.keys():
            return False
        return all(
            probe(self._made, start) == probe(other._made, start)
            for start in range(8)
            for probe in (_added_to, _merged_with, _emptied)
        )

    def as_added(self) -> list[Any] | None:
        """The keys in an order that makes such a set if they are added one by one."""
        found = self.keys()
        few = itertools.permutations(found) if len(found) <= MOST_PERMUTED else ()
        for keys in (self._added(), found, *few):
            if keys is not None and self.is_like(Order(set.update, tuple(keys))):
                return list(keys)
        return None

    def steps(self) -> list[Order] | None:
        """The changes since the set was empty; None if they are too many, or it was outside."""
        steps: list[Order] = []
        step: Order | None = self
        while step is not None:
            if step.outside is not None or len(steps) == MOST_STEPS:
                return None
            steps.append(step)
            step = step.before
        return steps[::-1]

    def _added(self) -> list[Any] | None:
        added: list[Any] = []
        step: Order | None = self
        while step is not None:
            if step.change is set.add:
                added.insert(0, step.given[0])
            elif step.change is set.update and all(type(g) is tuple for g in step.given):
                added[:0] = [key for keys in step.given for key in keys]
            elif step.change is not set.clear or step.before is not None:
                return None
            step = step.before
        return list(dict.fromkeys(added))


def constant_set(codes: Iterable[types.CodeType], keys: tuple[Any, ...]) -> frozenset[Any] | None:
    """The constant of a set of constants, as Python has made it."""
    for code in codes:
        for constant in code.co_consts:
            if isinstance(constant, types.CodeType):
                found = constant_set((constant,), keys)
                if found is not None:
                    return found
            elif type(constant) is frozenset and constant == set(keys):
                return constant
    return None


def _added_to(make: Callable[[], set[Any]], start: int) -> list[Any]:
    """What becomes of a set: keys may come to other places, or make its table larger earlier."""
    real, found = make(), []
    for i in range(40):
        real.add(PROBE + start + 3 * i)
        found.append((sys.getsizeof(real), list(real)))
    return found


def _merged_with(make: Callable[[], set[Any]], start: int) -> list[Any]:
    """The same with sets of many sizes: places that were left count, too."""
    found = []
    for size in range(1 + start, 41, 8):
        real = make()
        real.update({PROBE + start + 3 * i for i in range(size)})
        found.append((sys.getsizeof(real), list(real)))
    return found


def _emptied(make: Callable[[], set[Any]], start: int) -> list[Any]:
    """What `pop` takes: it goes on where it ended last."""
    real = make()
    real.add(PROBE + start)
    return [real.pop() for _ in range(len(real))]
