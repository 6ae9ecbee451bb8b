"""Which parts of an array are written again after they were read.

A loop that fills an array row by row reads what it has filled already: `x[i] = b[i] - a[i, :i] @
x[:i]`. What `x[:i]` reads is never written again, so it is still there when everything is done, and
needn't be copied. A *region* is a box: for each axis an interval whose bounds are affine in the
loops' indices and other ints. A read *lasts* if its region and that of each write that may come
after it are disjoint: in the same trip of the loops around both, or in a later trip of one of them.

Only what can be proved counts (`affine`): an index that may be negative, and so count from the end,
or an array of indices, makes an interval everything.
"""

from __future__ import annotations

import bisect
import builtins
import itertools
import operator
from collections.abc import Iterator

import numpy as np

from .. import ir
from ..kinds import Array
from .affine import Integers, Proof, items_by_axis
from .aliasing import Aliasing

Key = tuple[ir.Operand, ...]  # the items of an index
Loops = tuple[ir.Loop, ...]
Test = tuple[ir.Operand, bool]  # of a branch, and whether it is true there
Part = tuple[ir.Var, Key | None]  # an array, and the index that takes a part of it, or more
Parts = list[tuple[Part | None, int, Loops]]  # None is what can't be told; where it is written


class Regions:
    """What is read in a function and never written again."""

    def __init__(self, block: ir.Block, aliasing: Aliasing) -> None:
        self.aliasing = aliasing
        self.integers = Integers(block)
        self.writes: dict[ir.Var, list[tuple[ir.Assign, int, Loops]]] = {}
        self.stores: list[tuple[ir.Assign, int, Loops]] = []
        self.touched: dict[ir.Var, list[tuple[ir.Assign, ir.Var, int, Loops]]] = {}  # that is read
        self.joined: set[ir.Var] = set()  # classes with variables that branches or loops hand on
        self.tests: dict[int, tuple[Test, ...]] = {}  # what is known where a statement is
        self.parts: dict[ir.Var, tuple[Parts, set[ir.Var | None]]] = {}  # that are written
        self.number = itertools.count()
        self._visit(block, (), ())

    def _visit(self, block: ir.Block, loops: Loops, tests: tuple[Test, ...]) -> None:
        for s in block.statements:
            number = next(self.number)
            if tests:
                self.tests[number] = tests
            if isinstance(s, ir.Assign):
                for root in self.aliasing.written_by(s):
                    self.writes.setdefault(root, []).append((s, number, loops))
                self._touch(s, number, loops)
                continue
            self.joined.update(self.aliasing.find(v) for v in s.targets)
            inner = (*loops, s) if isinstance(s, ir.Loop) else loops
            if isinstance(s, ir.Loop):
                self.joined.update(self.aliasing.find(v) for v in s.params)
            for b in ir.blocks(s):
                more = ((s.test, b is s.then),) if isinstance(s, ir.If) else ()
                self._visit(b, inner, (*tests, *more))

    def _touch(self, s: ir.Assign, number: int, loops: Loops) -> None:
        """Note what a call reads."""
        operands = s.operands()
        if s.function is operator.setitem:
            self.stores.append((s, number, loops))
            operands = s.args[1:]
        for v in (v for o in operands for v in ir.variables(o)):
            view = v in s.views and s.certain and not s.writes
            if not view and s.function not in (builtins.getattr, builtins.len, np.shape):
                for root in self.aliasing.classes(v):
                    self.touched.setdefault(root, []).append((s, v, number, loops))

    def unread(self, s: ir.Assign, position: int, loops: Loops) -> bool:
        """Whether nothing reads what a call stores in a part of an array of the function."""
        (v,) = s.writes
        root, stored = self.aliasing.find(v), self._part(v, s)
        if stored is None or root in self.joined or self.integers.places.get(stored[0]):
            return False
        for other, w, number, around in self.touched.get(root, ()):
            item = other.function is operator.getitem and other.args[0] is w
            read = self._item(w, other.args[1]) if item else self._part(w)
            if read is None or read[0] is not stored[0]:
                return False
            if not self._apart(stored[1], position, loops, read[1], number, around):
                return False
        return True

    def lasts(self, v: ir.Var, position: int, loops: Loops, key: ir.Operand | None = None) -> bool:
        """Whether what an array, or an item of it, holds at a statement is never written after it.

        `position` is the number of the statement in the order of `ir.walk`, `loops` are those
        around it.
        """
        root = self.aliasing.find(v)
        read = self._part(v) if key is None else self._item(v, key)
        if read is None or root in self.joined or self.integers.places.get(read[0]):
            return False
        parts, arrays = self._parts_written(root)
        if not arrays <= {read[0]}:
            return False
        # without a loop around both, what is written before doesn't matter
        first = 0 if loops else bisect.bisect_left(parts, position, key=operator.itemgetter(1))
        return all(
            part is not None and self._apart(read[1], position, loops, part[1], number, around)
            for part, number, around in itertools.islice(parts, first, None)
        )

    def _parts_written(self, root: ir.Var) -> tuple[Parts, set[ir.Var | None]]:
        """The parts of some memory that are written, in order, and the arrays that they are of."""
        if root not in self.parts:
            parts = [
                (part, number, around)
                for s, number, around in self.writes.get(root, ())
                for part in self._written(s, root)
            ]
            self.parts[root] = parts, {None if part is None else part[0] for part, *_ in parts}
        return self.parts[root]

    def spared(
        self, v: ir.Var, loop: ir.Loop, around: Loops, key: ir.Operand | None = None
    ) -> bool:
        """Whether a loop writes nothing of an array, or of the part of it that a key takes.

        The key is the same in each trip; `around` are the loops around this one.
        """
        root = self.aliasing.find(v)
        whole = self._part(v) if key is None else self._item(v, key)
        if whole is None or root in self.joined or self.integers.places.get(whole[0]):
            return False
        for s, _, within in self.writes.get(root, ()):
            if loop not in within:
                continue
            for written in self._written(s, root):
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
        for written in self._written(s, root):
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
        if not isinstance(array, ir.Var) or items_by_axis(key) is None:
            return False
        return Proof(self.integers, [array], frozenset(loops)).is_inside(array, key)

    def _written(self, s: ir.Assign, root: ir.Var) -> Iterator[Part | None]:
        """The parts of some memory that a call writes; None for what can't be told."""
        for w in s.writes:
            if self.aliasing.find(w) is root:
                yield self._part(w, s)
            elif root in self.aliasing.written_through(w, s):
                yield None

    def _item(self, v: ir.Var, key: ir.Operand) -> Part | None:
        """The array that an item is taken of, and the index that takes it, or more."""
        s = self.integers.made.get(v)
        return self._part(v) if s is not None and s.views else (v, items_by_axis(key))

    def _part(self, v: ir.Var, write: ir.Assign | None = None) -> Part | None:
        """The array that a variable is a part of, and the index that takes the part, or more."""
        key: Key | None = None
        if write is not None and write.function is operator.setitem:
            key = items_by_axis(write.args[1])
        while True:
            s = self.integers.made.get(v)
            if not isinstance(v.kind, Array):
                return None  # two items of a list may be one array
            if s is None or not s.views:
                return v, key
            if len(s.views) != 1 or not s.certain or s.writes:
                return None
            first = s.views[0]
            taken = s.function is operator.getitem and s.args[0] is first
            key = items_by_axis(s.args[1]) if taken else None
            v = first

    def _apart(
        self, key: Key | None, position: int, loops: Loops,
        other: Key | None, number: int, around: Loops,
    ) -> bool:  # fmt: skip
        """Whether a part that is read has nothing in common with one that is written later."""
        common = sum(
            1 for _ in itertools.takewhile(lambda p: p[0] is p[1], zip(loops, around, strict=False))
        )
        tests = self.tests.get(position, ()), self.tests.get(number, ())
        if number >= position and not self._disjoint(key, other, around, common, None, *tests):
            return False
        return all(self._disjoint(key, other, around, k, loops[k], *tests) for k in range(common))

    def _disjoint(
        self, key: Key | None, other: Key | None, around: Loops, same: int,
        later: ir.Loop | None, tests: tuple[Test, ...] = (), afterwards: tuple[Test, ...] = (),
    ) -> bool:  # fmt: skip
        """Whether two parts are disjoint if the first loops around both are in the same trip.

        Of the next one, the write's trip is `later`. The `tests` are known where it is read, those
        `afterwards` where it is written.
        """
        if key is None or other is None:
            return False
        proof = Proof(self.integers, (), frozenset(around[:same]))
        for test, true in tests:
            proof.passed(test, true)
        for test, true in afterwards:
            proof.passed(test, true, True)
        if later is not None:
            proof.comes_later(later)
        read = [proof.interval(item) for item in key]
        return proof.are_apart(read, (proof.interval(item, True) for item in other))
