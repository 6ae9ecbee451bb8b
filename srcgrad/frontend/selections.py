"""`itertools.product`, `combinations` and `permutations`: loops in each other.

Where there are few rows, of items that are known one by one, each row is known by itself.
"""

from __future__ import annotations

import itertools
import math
import operator
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import gast
import numpy as np

from .. import ir
from ..kinds import Array
from .iteration import MOST_UNROLLED, Body, Loop
from .iterators import Iterators
from .structure import nothing
from .values import Sequence, Tuple, Value

FEW = 16  # rows that are made when compiling, though their items are known by their index alone


class Selections(Iterators):
    """Evaluates the functions of `itertools` that go through rows of items."""

    def builtin_product(self, *values: Value, repeat: Value = ir.Const(1)) -> Value:  # noqa: B008
        pools = [self.pool(v) for v in values] * self.key(repeat)
        lengths = [p.length.value for p in pools if isinstance(p.length, ir.Const)]
        if len(lengths) == len(pools) and self.are_few(pools, math.prod(lengths)):
            return rows(itertools.product(*map(self.items_of_pool, pools)))

        def run(give: Body, loop: Loop) -> None:
            def level(row: tuple[Value, ...]) -> None:
                if len(row) == len(pools):
                    give(Tuple(row))
                else:
                    loop(pools[len(row)], lambda item: level((*row, item)))

            level(())

        return replace(self.several_loops(run), early=True)

    def builtin_combinations(self, value: Value, r: Value) -> Value:
        return self.selected(value, self.key(r), itertools.combinations, math.comb, 1)

    def builtin_replacements(self, value: Value, r: Value) -> Value:
        def count(n: int, r: int) -> int:
            return math.comb(n + r - 1, r) if n else int(r == 0)

        made = itertools.combinations_with_replacement
        return self.selected(value, self.key(r), made, count, 0)

    def builtin_permutations(self, value: Value, r: Value = ir.Const(None)) -> Value:  # noqa: B008
        if self.key(r) is None:
            return rows(itertools.permutations(self.unpacked(value)))
        return self.selected(value, self.key(r), itertools.permutations, math.perm, None)

    def selected(
        self,
        value: Value,
        size: int,
        made: Callable[[list[Value], int], Any],
        count: Callable[[int, int], int],
        later: int | None,
    ) -> Value:
        """Rows of `size` items, the next of which stands `later` or more places after the one
        before, or, where that is None, anywhere but in the places of those before."""
        pool = self.pool(value)
        n = pool.length
        if isinstance(n, ir.Const) and self.are_few([pool], count(n.value, size)):
            return rows(made(self.items_of_pool(pool), size))

        def run(give: Body, loop: Loop) -> None:
            def level(places: tuple[Value, ...]) -> None:
                if len(places) == size:
                    give(Tuple(tuple(map(pool.item, places))))
                    return
                first: Value = ir.Const(0)
                if later is not None and places:
                    first = self.binary(operator.add, places[-1], ir.Const(later))

                def put(place: Value) -> None:
                    taken = () if later is not None else places
                    self.where_new(place, taken, lambda: level((*places, place)))

                loop(self.builtin_range(first, n), put, "ijkl"[len(places) % 4])

            level(())

        return replace(self.several_loops(run), early=True)

    def where_new(
        self, place: Value, others: tuple[Value, ...], further: Callable[[], None]
    ) -> None:
        """Go further unless a place is one of others."""
        if not others:
            further()
            return
        same = self.compare(gast.Eq(), place, others[0])
        if isinstance(same, ir.Const):
            if not same.value:
                self.where_new(place, others[1:], further)
            return
        rest = others[1:]
        self.branch(self.operand(same), nothing, lambda: self.where_new(place, rest, further))

    def pool(self, value: Value) -> Sequence:
        """The items of an iterable as they are now, whatever happens to it later."""
        if isinstance(value, ir.Var) and isinstance(value.kind, Array):
            if value.kind.shape is not None and len(value.kind.shape) == 1:
                value = self.call(ir.Const(np.copy), [value], {})
        elif not isinstance(value, Sequence) or value.bounds is None:
            value = self.builtin_list(value)
        return replace(self.require(value), born=None)  # it may be gone through again

    def are_few(self, pools: list[Sequence], number: int) -> bool:
        """Whether to make this number of rows when compiling."""
        return number <= (MOST_UNROLLED if all(p.structural for p in pools) else FEW)

    def items_of_pool(self, pool: Sequence) -> list[Value]:
        assert isinstance(pool.length, ir.Const)
        return [pool.item(ir.Const(i)) for i in range(pool.length.value)]


def rows(made: Any) -> Tuple:
    return Tuple(tuple(Tuple(tuple(row)) for row in made))
