"""Which parts of an array are written again after they were read.

A loop that fills an array row by row reads what it has filled already: `x[i] = b[i] - a[i, :i] @
x[:i]`. What `x[:i]` reads is never written again, so it is still there when everything is done, and
needn't be copied. A *region* is a box: for each axis an interval whose bounds are affine in the
loops' indices and other ints. A read *lasts* if its region and that of each write that may come
after it are disjoint: in the same trip of the loops around both, or in a later trip of one of them.

Only what can be proved counts: an index that may be negative, and so count from the end, or an
array of indices, makes an interval everything.
"""

from __future__ import annotations

import builtins
import itertools
import operator
from collections.abc import Iterator

import numpy as np

from .. import ir
from ..kinds import Array, Scalar
from .affine import Affine, constant, term
from .aliasing import Aliasing

# Whether a comparison says that the first operand is the larger one, and not equal
ORDER = {
    operator.gt: (True, True), operator.ge: (True, False),
    operator.lt: (False, True), operator.le: (False, False),
}  # fmt: skip
DEPTH = 8  # bounds put in for variables, one after the other, in a proof


Key = tuple[ir.Operand, ...]  # the items of an index
Interval = tuple[Affine | None, Affine | None]  # None: as far as it goes
Loops = tuple[ir.Loop, ...]
Test = tuple[ir.Operand, bool]  # of a branch, and whether it is true there


class Regions:
    """What is read in a function and never written again."""

    def __init__(self, block: ir.Block, aliasing: Aliasing) -> None:
        self.aliasing = aliasing
        self.definitions: dict[ir.Var, ir.Assign] = {}
        self.places: dict[ir.Var, Loops] = {}  # the loops around the definition of a variable
        self.index_of: dict[ir.Var, ir.Loop] = {}
        self.writes: dict[ir.Var, list[tuple[ir.Assign, int, Loops]]] = {}
        self.joined: set[ir.Var] = set()  # classes with variables that branches or loops hand on
        self.tests: dict[int, tuple[Test, ...]] = {}  # what is known where a statement is
        self.number = itertools.count()
        self._visit(block, (), ())

    def _visit(self, block: ir.Block, loops: Loops, tests: tuple[Test, ...]) -> None:
        for s in block.statements:
            number = next(self.number)
            if tests:
                self.tests[number] = tests
            for v in ir.targets(s):
                self.places[v] = loops
            if isinstance(s, ir.Assign):
                self.definitions[s.target] = s
                for v in s.writes:
                    self.writes.setdefault(self.aliasing.find(v), []).append((s, number, loops))
                continue
            self.joined.update(self.aliasing.find(v) for v in s.targets)
            inner = (*loops, s) if isinstance(s, ir.Loop) else loops
            if isinstance(s, ir.Loop):
                self.joined.update(self.aliasing.find(v) for v in s.params)
                own = s.params if s.index is None else (*s.params, s.index)
                self.places.update(dict.fromkeys(own, inner))
                if s.index is not None:
                    self.index_of[s.index] = s
            for b in ir.blocks(s):
                more = ((s.test, b is s.then),) if isinstance(s, ir.If) else ()
                self._visit(b, inner, (*tests, *more))

    def lasts(self, v: ir.Var, position: int, loops: Loops, key: ir.Operand | None = None) -> bool:
        """Whether what an array, or an item of it, holds at a statement is never written after it.

        `position` is the number of the statement in the order of `ir.walk`, `loops` are those
        around it.
        """
        root = self.aliasing.find(v)
        read = self._part(v) if key is None else self._item(v, key)
        if read is None or root in self.joined or self.places.get(read[0]):
            return False
        for s, number, around in self.writes.get(root, ()):
            for w in s.writes:
                if self.aliasing.find(w) is root:
                    written = self._part(w, s)
                    if written is None or written[0] is not read[0]:
                        return False
                    if not self._apart(read[1], position, loops, written[1], number, around):
                        return False
        return True

    def spared(
        self, v: ir.Var, loop: ir.Loop, around: Loops, key: ir.Operand | None = None
    ) -> bool:
        """Whether a loop writes nothing of an array, or of the part of it that a key takes.

        The key is the same in each trip; `around` are the loops around this one.
        """
        root = self.aliasing.find(v)
        whole = self._part(v) if key is None else self._item(v, key)
        if whole is None or root in self.joined or self.places.get(whole[0]):
            return False
        for s, _, within in self.writes.get(root, ()):
            if loop not in within:
                continue
            for w in s.writes:
                if self.aliasing.find(w) is root:
                    written = self._part(w, s)
                    if written is None or written[0] is not whole[0]:
                        return False
                    if not self._disjoint(whole[1], written[1], within, len(around), None):
                        return False
        return True

    def untouched(self, v: ir.Var, s: ir.Assign, loops: Loops) -> bool:
        """Whether a call surely writes nothing of an array, in the same trip of the loops around.

        `loops` are those around both.
        """
        root, part = self.aliasing.find(v), self._part(v)
        for w in s.writes:
            if self.aliasing.find(w) is root:
                written = self._part(w, s)
                if part is None or written is None or written[0] is not part[0]:
                    return False
                if not self._disjoint(part[1], written[1], loops, len(loops), None):
                    return False
        return True

    def inside(self, s: ir.Assign, loops: Loops) -> bool:
        """Whether the ints among the items of an index surely are those of elements there are.

        `loops` are those around it.
        """
        array, key = s.args
        kind, items = getattr(array, "kind", None), _items(key)
        shape = kind.shape if isinstance(kind, Array) else None
        if shape is None or items is None or len(items) > len(shape):
            return False
        lengths = [o for loop in loops for o in loop.range or ()]
        proof = _Proof(self, frozenset(loops), None)
        for item, n in zip(items, shape, strict=False):
            if isinstance(item, ir.Pack) or (
                isinstance(item, ir.Const) and isinstance(item.value, slice)
            ):
                continue
            place = proof.affine(item, False)
            if place is None or not proof.holds(place):
                return False
            ends = [constant(n)] if isinstance(n, int) else [
                end for o in lengths if isinstance(o, ir.Var) and o.kind.size == n  # type: ignore[attr-defined]
                and (end := proof.affine(o, False)) is not None
            ]  # fmt: skip
            if not any(proof.holds(end - place - constant(1)) for end in ends):
                return False
        return True

    def _item(self, v: ir.Var, key: ir.Operand) -> tuple[ir.Var, Key | None] | None:
        """The array that an item is taken of, and the index that takes it, or more."""
        s = self.definitions.get(v)
        return self._part(v) if s is not None and s.views else (v, _items(key))

    def _part(self, v: ir.Var, write: ir.Assign | None = None) -> tuple[ir.Var, Key | None] | None:
        """The array that a variable is a part of, and the index that takes the part, or more."""
        key: Key | None = None
        if write is not None and write.function is operator.setitem:
            key = _items(write.args[1])
        while True:
            s = self.definitions.get(v)
            if not isinstance(v.kind, Array):
                return None  # two items of a list may be one array
            if s is None or not s.views:
                return v, key
            if len(s.views) != 1 or not s.certain or s.writes:
                return None
            first = s.views[0]
            taken = s.function is operator.getitem and s.args[0] is first
            key = _items(s.args[1]) if taken else None
            v = first

    def _apart(
        self, key: Key | None, position: int, loops: Loops,
        other: Key | None, number: int, around: Loops,
    ) -> bool:  # fmt: skip
        """Whether a part that is read has nothing in common with one that is written later."""
        common = sum(
            1 for _ in itertools.takewhile(lambda p: p[0] is p[1], zip(loops, around, strict=False))
        )
        tests = self.tests.get(position, ())
        if number >= position and not self._disjoint(key, other, around, common, None, tests):
            return False
        return all(self._disjoint(key, other, around, k, loops[k], tests) for k in range(common))

    def _disjoint(
        self, key: Key | None, other: Key | None, around: Loops, same: int,
        later: ir.Loop | None, tests: tuple[Test, ...] = (),
    ) -> bool:  # fmt: skip
        """Whether two parts are disjoint if the first loops around both are in the same trip.

        Of the next one, the write's trip is `later`. The `tests` are known where it is read.
        """
        if key is None or other is None:
            return False
        proof = _Proof(self, frozenset(around[:same]), later, tests)
        for a, b in zip(key, other, strict=False):
            (low, high), (start, stop) = proof.interval(a, False), proof.interval(b, True)
            if high is not None and start is not None and proof.holds(start - high):
                return True
            if stop is not None and low is not None and proof.holds(low - stop):
                return True
        return False


class _Proof:
    """Inequalities between what is read and what is written, in trips of loops in an order."""

    def __init__(
        self,
        regions: Regions,
        same: frozenset[ir.Loop],
        later: ir.Loop | None,
        tests: tuple[Test, ...] = (),
    ) -> None:
        self.regions, self.same, self.later = regions, same, later
        self.facts = [fact for test in tests if (fact := self.fact(*test)) is not None]

    def fact(self, test: ir.Operand, true: bool) -> Affine | None:
        """A sum that isn't negative where a test is true, or false."""
        s = self.regions.definitions.get(test) if isinstance(test, ir.Var) else None
        if s is not None and s.function is operator.not_:
            return self.fact(s.args[0], not true)
        if s is None or s.function not in ORDER:
            return None
        a, b = (self.affine(o, False) for o in s.args)
        if a is None or b is None:
            return None
        more, strict = ORDER[s.function]
        difference = a - b if more == true else b - a
        return difference - constant(1) if strict == true else difference

    def interval(self, item: ir.Operand, written: bool) -> Interval:
        """From where up to where an item of an index reaches; everything if it may be negative."""
        zero = constant(0)
        parts = ir.slice_parts(item)
        if parts:
            start, stop, step = parts
            if not isinstance(step, ir.Const) or step.value not in (None, 1):
                return zero, None
            low = zero if ir.is_constant(start, None) else self.affine(start, written)
            high = None if ir.is_constant(stop, None) else self.affine(stop, written)
            low = low if low is not None and self.holds(low) else zero
            high = high if high is not None and self.holds(high) else None
            return low, high
        place = self.affine(item, written)
        if place is None or not self.holds(place):
            return zero, None
        return place, place + constant(1)

    def affine(self, operand: ir.Operand, written: bool) -> Affine | None:
        """An int as a sum, None if it isn't known to be an int."""
        if isinstance(operand, ir.Const):
            return constant(operand.value) if type(operand.value) is int else None
        if not isinstance(operand, ir.Var) or not isinstance(operand.kind, Scalar):
            return None
        if operand.kind.dtype != np.int64:
            return None  # smaller ones wrap around
        s = self.regions.definitions.get(operand)
        if s is not None and len(s.args) == 2 and s.function in (operator.add, operator.sub):
            a, b = (self.affine(o, written) for o in s.args)
            if a is not None and b is not None:
                return a + b if s.function is operator.add else a - b
        others = any(loop not in self.same for loop in self.regions.places.get(operand, ()))
        return term((operand, written and others))

    def holds(self, difference: Affine, depth: int = DEPTH) -> bool:
        """Whether a sum is surely not negative: bounds put in for its variables show it."""
        if not difference.terms:
            return difference.constant >= 0
        if depth == 0:
            return False
        return any(
            self.holds(difference.plus(gap, -abs(n)), depth - 1)
            for (v, written), n in difference.terms
            for gap in self.gaps(v, written, n > 0)
        )

    def gaps(self, v: ir.Var, written: bool, below: bool) -> Iterator[Affine]:
        """Sums that aren't negative: a variable less a bound below it, or a bound above less it."""
        this = term((v, written))
        yield from (f for f in self.facts if f.factor((v, written)) == (1 if below else -1))
        loop = self.regions.index_of.get(v)
        if loop is None:
            if below and self.counts(v):
                yield this
            return
        if loop.range is None:
            return
        start, stop, step = loop.range
        if not isinstance(step, ir.Const) or type(step.value) is not int:
            return
        up = step.value > 0
        one = constant(1)
        order = not loop.backwards and loop is self.later
        if order and below == (up if written else not up):
            # the write's trip comes after the read's
            other = term((v, not written))
            yield (this - other if below else other - this) - one
        if below:
            bound = self.affine(start if up else stop, written)
            if bound is not None:
                yield this - bound if up else this - bound - one
        else:
            bound = self.affine(stop if up else start, written)
            if bound is not None:
                yield bound - this - one if up else bound - this

    def counts(self, v: ir.Var) -> bool:
        """Whether an int is the length of something."""
        s = self.regions.definitions.get(v)
        if s is None:
            return False
        if s.function is builtins.len:
            return True
        shape = s.args[0] if s.function is operator.getitem else None
        asked = self.regions.definitions.get(shape) if isinstance(shape, ir.Var) else None
        return (
            asked is not None and asked.function is builtins.getattr
            and isinstance(asked.args[1], ir.Const) and asked.args[1].value == "shape"
        )  # fmt: skip


def _items(key: ir.Operand) -> Key | None:
    """The items of an index, each for one axis; None if that isn't sure."""
    kept = tuple(item for item in ir.items_of(key) if not ir.is_constant(item, None))
    return kept if all(map(_takes_one_axis, kept)) else None


def _takes_one_axis(item: ir.Operand) -> bool:
    match item:
        case ir.Const():
            return isinstance(item.value, slice) or type(item.value) is int
        case ir.Pack():
            return item.type is slice
    return isinstance(item.kind, Scalar) and item.kind.dtype.kind in "iu"
