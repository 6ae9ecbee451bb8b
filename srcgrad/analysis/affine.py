"""Integers as sums of multiples of other integers, and what is known of them at some place.

What bounds an index: the lengths of arrays, the ranges of the loops around, tests that were
passed, and constants added to them. `k + 1`, where `k` runs over `range(n)`, is at least 1, and at
most `n`, the length of `a`: so `a[k + 1 :]` is apart from `a[: k + 1]`, and `a[k]` is there.
"""

from __future__ import annotations

import builtins
import operator
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import ir
from ..kinds import Array, Dimension, Scalar, Size, least
from .aliasing import is_slice

MOST_SUMS = 200  # that a proof looks at
# Whether a comparison says that the first operand is the larger one, and not equal
ORDER = {
    operator.gt: (True, True), operator.ge: (True, False),
    operator.lt: (False, True), operator.le: (False, False),
}  # fmt: skip
_SUMS: dict[Any, int] = {operator.add: 1, operator.sub: -1}
_EXTREMA = (builtins.min, builtins.max)


@dataclass(frozen=True)
class Affine:
    """The sum of a constant, and of terms (variables, bases of sizes) times whole factors.

    >>> n, k = term("n"), term("k") + constant(1)
    >>> (n - k).factor("k"), (n - k).constant, (n - n).known()
    (-1, -1, 0)
    """

    terms: frozenset[tuple[Any, int]]
    constant: int = 0

    def __add__(self, other: Affine) -> Affine:
        return self.plus(other, 1)

    def __sub__(self, other: Affine) -> Affine:
        return self.plus(other, -1)

    def plus(self, other: Affine, factor: int) -> Affine:
        """This and another times a factor."""
        terms = dict(self.terms)
        for t, n in other.terms:
            terms[t] = terms.get(t, 0) + factor * n
        kept = frozenset((t, n) for t, n in terms.items() if n)
        return Affine(kept, self.constant + factor * other.constant)

    def factor(self, of: Any) -> int:
        """What a term is multiplied by; 0 if it isn't one."""
        return next((n for t, n in self.terms if t == of), 0)

    def replaced(self, one: Any, by: Affine) -> Affine:
        """The same sum with another one in place of a term."""
        rest = frozenset((t, n) for t, n in self.terms if t is not one)
        return Affine(rest, self.constant).plus(by, self.factor(one))

    def known(self) -> int | None:
        """Its value, if that's known."""
        return None if self.terms else self.constant


def constant(value: int) -> Affine:
    """A constant."""
    return Affine(frozenset(), value)


def term(of: Any) -> Affine:
    """A sum of one term."""
    return Affine(frozenset({(of, 1)}))


ONE = constant(1)


@dataclass(frozen=True)
class Elsewhere:
    """What a variable of a loop is in another trip of it."""

    variable: ir.Var


class Integers:
    """The integers of a function.

    Attributes:
        made: the statement that makes a variable.
        places: the loops around the definition of a variable.
        loops: the loop that a variable is the index of.
        named: the sum that a size is the value of.
    """

    def __init__(self, block: ir.Block) -> None:
        self.made: dict[ir.Var, ir.Assign] = {}
        self.places: dict[ir.Var, tuple[ir.Loop, ...]] = {}
        self.loops: dict[ir.Var, ir.Loop] = {}
        self.named: dict[Dimension, ir.Var] = {}
        self._visit(block, ())

    def _visit(self, block: ir.Block, around: tuple[ir.Loop, ...]) -> None:
        for s in block.statements:
            inner = (*around, s) if isinstance(s, ir.Loop) else around
            if around:
                self.places.update(dict.fromkeys(ir.targets(s), around))
            if isinstance(s, ir.Assign):
                self.made[s.target] = s
                if is_int(s.target) and s.function in _SUMS:
                    self.named[s.target.kind.size] = s.target  # type: ignore[attr-defined]
            elif isinstance(s, ir.Loop):
                self.places.update(dict.fromkeys(s.params, inner))
                if s.index is not None:
                    self.loops[s.index], self.places[s.index] = s, inner
            for b in ir.blocks(s):
                self._visit(b, inner)


Interval = tuple[Affine, Affine | None]  # from where up to where; None: as far as it goes


class Proof:
    """What is known of integers at a place of a function.

    Where two trips of loops are compared, `same` are the loops around the place that are in the
    same trip, and a variable that may differ is told apart from what it is `elsewhere`. Of such a
    variable no size is used: in another trip it is another one.

    >>> from srcgrad.kinds import INT
    >>> n, k = ir.Var("n", Scalar(np.dtype(int), True, Size(0))), ir.Var("k", INT)
    >>> after = ir.Var("after", INT)
    >>> add = ir.Assign(after, operator.add, (k, ir.Const(1)))
    >>> loop = ir.Loop(k, (ir.Const(0), n, ir.Const(1)), (), (), ir.Block([add]), ())
    >>> proof = Proof(Integers(ir.Block([loop])), [ir.Var("a", Array(np.dtype(float), (Size(0),)))])
    >>> length, next_k = proof.of(n), proof.of(after)
    >>> proof.is_natural(length - next_k), proof.is_natural(next_k - length)
    (True, False)
    """

    def __init__(
        self,
        integers: Integers,
        arrays: Iterable[ir.Var] = (),
        same: frozenset[ir.Loop] | None = None,
        natural: Iterable[int] = (),
    ) -> None:
        self.integers, self.same = integers, same
        self.facts: list[Affine] = []  # what isn't negative
        self.lengths = set(natural)  # the bases of sizes that are lengths, and so not negative
        for v in arrays:
            shape = v.kind.shape if isinstance(v.kind, Array) else None
            for n in shape or ():
                if isinstance(n, Size) and n.offset <= 0:
                    self.lengths.add(n.base)

    def passed(self, test: ir.Operand, true: bool, elsewhere: bool = False) -> None:
        """Note that a test was true, or false."""
        s = self.integers.made.get(test) if isinstance(test, ir.Var) else None
        if s is not None and s.function is operator.not_:
            self.passed(s.args[0], not true, elsewhere)
        elif s is not None and s.function in ORDER:
            a, b = (self.of(o, elsewhere) for o in s.args)
            if a is not None and b is not None:
                more, strict = ORDER[s.function]
                difference = a - b if more == true else b - a
                self.facts.append(difference - ONE if strict == true else difference)

    def comes_later(self, loop: ir.Loop) -> None:
        """Note that elsewhere is a later trip of a loop."""
        if loop.range is None or loop.index is None:
            return
        step = loop.range[2]
        if isinstance(step, ir.Const) and type(step.value) is int:
            further = term(Elsewhere(loop.index)) - term(loop.index)
            rises = (step.value > 0) != loop.backwards
            self.facts.append(constant(-1).plus(further, 1 if rises else -1))

    # Sums

    def of(self, operand: ir.Operand, elsewhere: bool = False) -> Affine | None:
        """An integer as a sum; None if the operand is none, or one that may wrap around."""
        if isinstance(operand, ir.Const):
            return constant(operand.value) if type(operand.value) is int else None
        if not isinstance(operand, ir.Var) or not isinstance(operand.kind, Scalar):
            return None
        if operand.kind.dtype != np.int64:
            return None
        total, size = self._sum(operand, elsewhere), operand.kind.size
        if isinstance(size, int):
            return constant(size)
        if total is not None:
            return total
        if not self._is_here(operand):
            return term(Elsewhere(operand) if elsewhere else operand)
        if isinstance(size, Size) and size.exact and operand not in self.integers.loops:
            if self._is_length(operand) and not size.offset:
                self.lengths.add(size.base)
            return self.length(size)
        return term(operand)

    def _is_here(self, v: ir.Var) -> bool:
        """Whether a variable is the same in all trips that are compared."""
        return self.same is None or self.same.issuperset(self.integers.places.get(v, ()))

    def _sum(self, v: ir.Var, elsewhere: bool) -> Affine | None:
        made = self.integers.made.get(v)
        if made is not None and made.function in _EXTREMA:
            several = {self.of(a, elsewhere) for a in made.args}
            return several.pop() if len(several) == 1 else None
        if made is None or len(made.args) != 2:
            return None
        if made.function not in _SUMS and made.function is not operator.mul:
            return None
        left, right = (self.of(a, elsewhere) for a in made.args)
        if left is None or right is None:
            return None
        if made.function is operator.mul:
            many, factor = (left, right.known()) if left.terms else (right, left.known())
            return None if factor is None else constant(0).plus(many, factor)
        return left.plus(right, _SUMS[made.function])

    def length(self, n: Dimension) -> Affine:
        """A dimension of an array as a sum."""
        if isinstance(n, int):
            return constant(n)
        named = self.integers.named.pop(n, None)  # so that it isn't asked for in its own terms
        if named is not None:
            total = self._sum(named, False) if self._is_here(named) else None
            self.integers.named[n] = named
            if total is not None:
                return total
        if not n.exact:
            return term(n)
        return term(Size(n.base, 0, n.big)) + constant(n.offset)

    # Inequalities

    def is_natural(self, value: Affine | None) -> bool:
        """Whether a number is surely 0 or more, wherever the loops that bound it are run.

        Bounds are put in for its terms until one of the sums that result, all of which are no
        larger, is known.
        """
        sums = [] if value is None else [value]
        seen = set(sums)
        for each in sums:
            if not each.terms and each.constant >= 0:
                return True
            for t, factor in each.terms if len(sums) < MOST_SUMS else ():
                for gap in self.gaps(t, factor > 0):
                    less = each.plus(gap, -abs(factor))
                    if less not in seen:
                        seen.add(less)
                        sums.append(less)
        return False

    def gaps(self, t: Any, below: bool) -> Iterator[Affine]:
        """Sums that aren't negative: a term less a bound below it, or a bound above less it."""
        this = term(t)
        yield from (f for f in self.facts if f.factor(t) == (1 if below else -1))
        if isinstance(t, Size):
            if below and (t.big or t.base in self.lengths):
                yield this - constant(max(least(t) or 0, 0))
            return
        elsewhere = isinstance(t, Elsewhere)
        v: ir.Var = t.variable if elsewhere else t
        loop = self.integers.loops.get(v)
        if loop is not None:
            bounds = self.bounds(loop, elsewhere)
            if bounds is not None:
                yield this - bounds[0] if below else bounds[1] - ONE - this
        elif below and self._is_length(v):
            yield this
        elif not elsewhere and (made := self.integers.made.get(v)) is not None:
            if made.function is (builtins.max if below else builtins.min):
                others = (o for a in made.args if (o := self.of(a)) is not None)
                yield from (this - o if below else o - this for o in others)
        elif not below and not elsewhere and isinstance(v.kind.size, Size) and self._is_here(v):  # type: ignore[attr-defined]
            yield self.length(v.kind.size) - this  # type: ignore[attr-defined]

    def bounds(self, loop: ir.Loop, elsewhere: bool = False) -> tuple[Affine, Affine] | None:
        """The least index of a loop that runs, and one more than the greatest."""
        if loop.range is None:
            return None
        start, stop = (self.of(o, elsewhere) for o in loop.range[:2])
        step = loop.range[2]
        if start is None or stop is None or not isinstance(step, ir.Const):
            return None
        return (start, stop) if step.value > 0 else (stop + ONE, start + ONE)

    def runs(self, loop: ir.Loop) -> bool:
        """Whether a loop surely has an iteration."""
        bounds = self.bounds(loop)
        return bounds is not None and self.is_natural(bounds[1] - bounds[0] - ONE)

    def _is_length(self, v: ir.Var) -> bool:
        """Whether an int is the length of something."""
        made = self.integers.made
        s = made.get(v)
        if s is None or s.function is builtins.len:
            return s is not None
        if s.function is builtins.min:
            return all(isinstance(a, ir.Var) and self._is_length(a) for a in s.args)
        shape = s.args[0] if s.function is operator.getitem else None
        asked = made.get(shape) if isinstance(shape, ir.Var) else None
        return asked is not None and asked.function is getattr and (
            ir.is_constant(asked.args[1], "shape")
        )  # fmt: skip

    # Indices

    def interval(self, item: ir.Operand, elsewhere: bool = False) -> Interval:
        """Where what an item of an index takes begins and ends; everything if it isn't known."""
        parts = ir.slice_parts(item)
        if parts:
            start, stop, step = parts
            if not isinstance(step, ir.Const) or step.value not in (None, 1):
                return constant(0), None
            low, high = (self.of(o, elsewhere) for o in (start, stop))
        else:
            low = high = self.of(item, elsewhere)
            high = None if high is None else high + ONE
            if not self.is_natural(low):
                high = None
        return (
            low if low is not None and self.is_natural(low) else constant(0),
            high if self.is_natural(high) else None,
        )

    def are_apart(self, one: Iterable[Interval], other: Iterable[Interval]) -> bool:
        """Whether two parts of an array, an interval for each axis, have nothing in common."""
        return any(
            high is not None and self.is_natural(low - high)
            for a, b in zip(one, other, strict=False)
            for low, high in ((a[0], b[1]), (b[0], a[1]))
        )

    def parts_apart(self, one: ir.Operand, other: ir.Operand) -> bool:
        """Whether two indices of an array choose nothing that both have."""
        keys = items_by_axis(one), items_by_axis(other)
        if keys[0] is None or keys[1] is None:
            return False
        return self.are_apart(map(self.interval, keys[0]), map(self.interval, keys[1]))

    def cover(self, keys: list[ir.Operand], rank: int | None) -> bool:
        """Whether slices of one axis, one after the other, are together all of an array."""
        several = [ir.items_of(key) for key in keys]
        cut = {i for items in several for i, item in enumerate(items) if not is_whole(item)}
        if len(cut) != 1 or any(len(items) > (rank or 0) for items in several):
            return False
        (axis,) = cut
        left = [items[axis] if len(items) > axis else ir.Const(0) for items in several]
        at = constant(0)
        while True:
            found = next((item for item in left if self._begins(item, at)), None)
            if found is None:
                return False
            left.remove(found)
            stop = ir.slice_parts(found)[1]
            end = self.of(stop)
            if ir.is_constant(stop, None):
                return not left
            if end is None or not self.is_natural(end):
                return False
            at = end

    def _begins(self, item: ir.Operand, at: Affine) -> bool:
        """Whether an item of an index is a slice from a place on."""
        if not is_slice(item):
            return False
        start, _, step = ir.slice_parts(item)
        begin = constant(0) if ir.is_constant(start, None) else self.of(start)
        same = begin is not None and (begin - at).known() == 0
        return same and isinstance(step, ir.Const) and step.value in (None, 1)

    def is_inside(self, array: ir.Var, key: ir.Operand, but: int = -1) -> bool:
        """Whether an index has no item, `but` one, that is outside the array."""
        kind, axis = array.kind, 0
        if not isinstance(kind, Array) or kind.shape is None:
            return False
        for position, item in enumerate(ir.items_of(key)):
            if ir.is_constant(item, None):
                continue
            if axis >= len(kind.shape):
                return False
            if not is_slice(item) and position != but:
                place, length = self.of(item), self.length(kind.shape[axis])
                if place is None or not self.is_natural(length - place - ONE):
                    return False
                if not self.is_natural(place) and not self.is_natural(place + length):
                    return False
            axis += 1
        return True


def items_by_axis(key: ir.Operand) -> tuple[ir.Operand, ...] | None:
    """The items of an index, each for one axis; None if that isn't sure."""
    kept = tuple(item for item in ir.items_of(key) if not ir.is_constant(item, None))
    return kept if all(map(_takes_one_axis, kept)) else None


def _takes_one_axis(item: ir.Operand) -> bool:
    if is_slice(item):
        return True
    if isinstance(item, ir.Const):
        return type(item.value) is int
    kind = item.kind if isinstance(item, ir.Var) else None
    return isinstance(kind, Scalar) and kind.dtype.kind in "iu"


def is_whole(item: ir.Operand) -> bool:
    """Whether an item of an index takes a whole axis."""
    return is_slice(item) and all(ir.is_constant(part, None) for part in ir.slice_parts(item))


def is_int(v: ir.Var) -> bool:
    """Whether a variable is a Python int."""
    kind = v.kind
    return isinstance(kind, Scalar) and kind.python is True and kind.dtype == np.dtype(np.int64)
