"""Loops whose iterations don't depend on each other: each has rows of its own.

An iteration reads what the loop doesn't write, and reads and writes the rows that its own index
chooses, the same ones of all arrays that share memory: `a[i, k:] -= a[i, k] * a[k, k:]` for each
`i` from `k + 1` on. What is read elsewhere in an array that is written, as `a[k, k:]` is, must
surely lie outside all those rows. Besides, an iteration may add to a number, or to a place in an
array, that no other statement of the loop asks for.
"""

from __future__ import annotations

import contextlib
import operator
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from .. import ir
from ..kinds import Array, Dimension
from .affine import ONE, Affine, Interval, Proof, items_by_axis
from .aliasing import holds_memory, is_slice
from .buffers import Buffers
from .keys import same_key


class Dependent(Exception):
    """The iterations of a loop depend on each other, or aren't known not to."""


@dataclass(frozen=True)
class Rows:
    """What an index takes out of an array: of one axis, a place that follows the loop's index."""

    array: ir.Var
    axis: int  # of the array
    position: int  # among the items of the index
    kept: int  # how many axes of the result stand before
    first: Affine  # the first of these places, counted upwards
    last: Affine  # and one after the last
    falls: bool  # whether the places go down as the index goes up


@dataclass(frozen=True)
class Sum:
    """A number, or a place in an array, that each iteration adds something to.

    `chain` are the additions (and what is added or taken off), from the first to the last.
    If it is a place in an array, `read` is the statement that takes it, and `written` the one that
    stores it, if there are such, and `place` the array and the index, if it isn't all of it;
    otherwise `position` says which parameter of the loop it is.
    """

    chain: tuple[tuple[ir.Assign, ir.Operand], ...]
    position: int = -1
    read: ir.Assign | None = None
    written: ir.Assign | None = None
    place: tuple[ir.Var, ir.Operand | None] | None = None


class Iterations:
    """What the iterations of a loop read and write.

    Attributes:
        body: what they do.
        moving: the variables that depend on the loop's index.
        rows: of statements that index arrays by it, what they take or where they write.
        sums: what iterations add to.
        surely_runs: whether there is one.
        starts: of the loop's other parameters, what they are throughout.

    Raises:
        Dependent: they aren't known to be independent.
    """

    def __init__(
        self, loop: ir.Loop, body: list[ir.Assign], aliasing: Buffers, proof: Proof,
        used: set[ir.Var],
    ) -> None:  # fmt: skip
        index, bounds = loop.index, proof.bounds(loop)
        if index is None or bounds is None or loop.exits or loop.backwards:
            raise Dependent("no range")
        step = loop.range[2]  # type: ignore[index]
        if not (isinstance(step, ir.Const) and step.value in (1, -1)):
            raise Dependent("a step")
        self.loop, self.index, self.body, self.aliasing = loop, index, body, aliasing
        self.proof, self.integers = proof, proof.integers
        self.start, self.stop = bounds
        self.surely_runs = self.proof.runs(loop)
        if not all(isinstance(v.kind, Array) for s in body for v in s.writes):
            raise Dependent("a list or an object that is written")
        self.readers: dict[ir.Var, list[ir.Assign]] = {}
        for s in self.body:
            for v in dict.fromkeys(ir.uses(s)):
                self.readers.setdefault(v, []).append(s)
        self.written = aliasing.written_by(*self.body)
        self.moving = {index}
        for s in self.body:
            if self.varies(*s.operands()):
                self.moving.add(s.target)
        self.rows: dict[ir.Assign, Rows] = {}
        self.sums: list[Sum] = []
        self.starts: dict[ir.Var, ir.Operand] = {}
        self._parameters(used)
        self._places()
        self._memory()

    def varies(self, *operands: ir.Operand) -> bool:
        """Whether something depends on the loop's index."""
        return any(not self.moving.isdisjoint(ir.variables(o)) for o in operands)

    def _parameters(self, used: set[ir.Var]) -> None:
        """What the loop carries from one iteration to the next."""
        loop = self.loop
        for k, (p, t) in enumerate(zip(loop.params, loop.targets, strict=True)):
            result = loop.body.results[k]
            readers = self.readers.get(p, [])
            if result is p and t not in used:
                self.starts[p] = loop.inits[k]
            elif t in used or readers:
                chain = self._chain(p, result)
                if holds_memory(p.kind) and self.aliasing.find(p) in self.written:
                    raise Dependent("an array that is carried")
                self.sums.append(Sum(chain, k))

    def _chain(
        self, start: ir.Var, end: ir.Operand, stored: ir.Assign | None = None
    ) -> tuple[tuple[ir.Assign, ir.Operand], ...]:
        """The additions that lead from a variable to another, neither asked for in between."""
        chain: list[tuple[ir.Assign, ir.Operand]] = []
        at = start
        while at is not end:
            readers = self.readers.get(at, [])
            if len(readers) != 1 or readers[0].function not in _ADDITIONS or readers[0].kwargs:
                raise Dependent("a value that is carried")
            s = readers[0]
            left, right = s.args
            if left is at and right is not at:
                chain.append((s, right))
            elif right is at and left is not at and s.function is operator.add:
                chain.append((s, left))
            else:
                raise Dependent("a value that is carried")
            at = s.target
        if at is not start and self.readers.get(at, []) != ([] if stored is None else [stored]):
            raise Dependent("a sum that is asked for")
        return tuple(chain)

    def _places(self) -> None:
        """Places in arrays that are added to: `c[k] += a[i]`, where `k` stays, or `c += a[i]`."""
        for s in self.body:
            if s.function is operator.setitem and not self.varies(*s.args[:2]):
                array, key, value = s.args
                assert isinstance(array, ir.Var)
                dtype = getattr(array.kind, "dtype", None)
                if dtype is None or dtype.kind not in "fc":
                    raise Dependent("a sum that is cut off in each iteration")
                read = self._read(s)
                chain = self._chain(read.target, value, s)
                self.sums.append(Sum(chain, -1, read, s, (array, key)))
            elif s.function in _IN_PLACE and not self.varies(s.args[0]):
                array = s.args[0]
                assert isinstance(array, ir.Var)
                if self.readers.get(s.target) or len(self.readers[array]) > 1:
                    raise Dependent("a sum that is asked for")
                made = self.integers.made.get(array)
                inside = made if made in self.body else None
                self.sums.append(Sum(((s, s.args[1]),), -1, inside, None, self._place(array)))

    def _read(self, stored: ir.Assign) -> ir.Assign:
        """The statement that takes from a place what, with something added, is stored there."""
        array, key, value = stored.args
        for s in self.body:
            if s.function is operator.getitem and s.args[0] is array and same_key(s.args[1], key):
                with contextlib.suppress(Dependent):
                    if not s.views and self._chain(s.target, value, stored):
                        return s
        raise Dependent("a place that is written by all")

    def at(self, value: Affine, bound: Affine) -> Affine:
        """A number made of the index, where that is at a bound."""
        return value.replaced(self.index, bound)

    def rows_at(self, array: ir.Var, key: ir.Operand) -> Rows:
        """The rows that an index chooses, all of which must be there."""
        kind, found = array.kind, None
        axis = kept = 0
        if not isinstance(kind, Array) or kind.shape is None or self.varies(array):
            raise Dependent("not an array of known rank")
        for position, item in enumerate(ir.items_of(key)):
            new = isinstance(item, ir.Const) and item.value is None
            if not (new or is_slice(item) or self.proof.of(item) is not None):
                raise Dependent("an index that isn't a number or a slice")
            if self.varies(item):
                place = self.proof.of(item)
                factor = 0 if place is None else place.factor(self.index)
                if place is None or factor not in (1, -1) or found is not None:
                    raise Dependent("an index that doesn't follow the loop's")
                rest = [t for t, _ in place.terms if isinstance(t, ir.Var) and t is not self.index]
                if self.varies(*rest):
                    raise Dependent("an index that doesn't follow the loop's")
                first, last = self.at(place, self.start), self.at(place, self.stop)
                if factor < 0:
                    first, last = last.plus(ONE, 1), first.plus(ONE, 1)
                found = Rows(array, axis, position, kept, first, last, factor < 0)
                if not self._is_there(found, kind.shape[axis]):
                    raise Dependent("an index that may be outside")
            axis += not new
            kept += found is None and (new or is_slice(item))
        if found is None:
            raise Dependent("not a row")
        return found

    def _is_there(self, rows: Rows, n: Dimension) -> bool:
        """Whether an axis has all these places, and a slice of it from `first` to `last` has them.

        With an end below zero there is none of them, but a slice counts it from the other end. At
        a known distance from the end of the axis it is written as that, and then comes out empty.
        """
        natural, length = self.proof.is_natural, self.proof.length(n)
        if not (natural(rows.first) and natural(length - rows.last)):
            return False
        return (length - rows.last).known() is not None or natural(rows.last)

    def _memory(self) -> None:
        """Find the rows, and that no iteration touches what another one writes."""
        mine: dict[ir.Var, ir.Var] = {}  # views of rows, and the arrays that these are of
        others: set[ir.Var] = set()  # what is a view of what lies outside of them
        changed: set[ir.Var] = set()  # the arrays of which rows are written
        read: list[tuple[ir.Var, ir.Operand | None]] = []
        for s in self.body:
            first = s.args[0] if s.args else None
            skipped = any(s in (total.read, total.written) for total in self.sums)
            skipped |= any(s is added and s.writes for t in self.sums for added, _ in t.chain)
            by_key = s.function in (operator.getitem, operator.setitem) and len(s.args) > 1
            if by_key and isinstance(first, ir.Var) and not skipped:
                if self.varies(s.args[1]):
                    self.rows[s] = self.rows_at(first, s.args[1])
                    skipped = True
                    if s.views:
                        mine[s.target] = first
            known = self.aliasing.find(s.target) not in self.written
            for position, operand in enumerate(s.operands()):
                for v in self._memories(operand):
                    known = True
                    if v in s.writes and position == 0 and (v in mine or s in self.rows):
                        changed.add(mine.get(v, v))
                    elif v in s.writes and not skipped:
                        raise Dependent("memory that all iterations write")
                    elif (skipped and position == 0) or v in mine or v in others:
                        continue
                    elif s.function is operator.getitem and position == 0:
                        read.append((v, s.args[1]))
                    else:
                        read.append(self._outer_view(v))
            if s.views and s.target not in mine and known:
                source = next((mine[v] for v in s.views if v in mine), None)
                if source is None:
                    others.add(s.target)
                else:
                    mine[s.target] = source
        self._check(changed, read)

    def _check(self, changed: set[ir.Var], read: list[tuple[ir.Var, ir.Operand | None]]) -> None:
        """Check that what is written is apart from what is read."""
        find = self.aliasing.find
        for made in self.integers.made.values():
            if made.function in _OVERLAPPING and find(made.target) in self.written:
                raise Dependent("rows that may overlap")
        places = [t.place for t in self.sums if t.place]
        used = (*(r.array for r in self.rows.values()), *(array for array, _ in (*places, *read)))
        arrays = [v for v in dict.fromkeys(used) if find(v) in self.written]
        for array in arrays:
            if not all(v is array or self.aliasing.are_distinct(v, array) for v in arrays):
                raise Dependent("two names of one array")
            rows = [r for r in self.rows.values() if r.array is array]
            kept = added = [key for v, key in places if v is array]
            elsewhere = [key for v, key in read if v is array]
            if array in changed:
                if not all(alike(rows[0], r) for r in rows):
                    raise Dependent("rows of other iterations")
                kept = [*added, *elsewhere]
            if not all(self._is_outside(r, key) for key in kept for r in rows):
                raise Dependent("what other iterations may write")
            for i, key in enumerate(added):
                if not all(self._is_apart(key, k) for k in (*added[:i], *elsewhere)):
                    raise Dependent("a place that is written by all")

    def _memories(self, operand: ir.Operand) -> Iterator[ir.Var]:
        """The variables in an operand whose memory the loop writes."""
        for v in ir.variables(operand):
            if holds_memory(v.kind) and self.aliasing.find(v) in self.written:
                yield v

    def _outer_view(self, v: ir.Var) -> tuple[ir.Var, ir.Operand | None]:
        """The array and the index that a variable was taken by, before the loop."""
        array, key = self._place(v)
        if key is None or self.integers.made.get(v) in self.body:
            raise Dependent("an array that is written, as a whole")
        return array, key

    def _place(self, v: ir.Var) -> tuple[ir.Var, ir.Operand | None]:
        """The array that a variable is a part of, and which; itself if it is no such part.

        What is taken out of a list, or a copy, is of another class of memory than its source.
        """
        made = self.integers.made.get(v)
        if made is not None and made.function is operator.getitem:
            array, key = made.args
            if isinstance(array, ir.Var) and self.aliasing.find(array) is self.aliasing.find(v):
                return array, key
        return v, None

    def _is_outside(self, rows: Rows, key: ir.Operand | None) -> bool:
        """Whether an index that stays chooses nothing of these rows."""
        extent = self._extents(key)[rows.axis : rows.axis + 1]
        return self.proof.are_apart([(rows.first, rows.last)], extent)

    def _is_apart(self, one: ir.Operand | None, other: ir.Operand | None) -> bool:
        """Whether two indices that stay choose nothing that both have."""
        return self.proof.are_apart(self._extents(one), self._extents(other))

    def _extents(self, key: ir.Operand | None) -> list[Interval]:
        """Where what an index chooses of each axis begins, and where it ends."""
        items = None if key is None else items_by_axis(key)
        return [self.proof.interval(item) for item in items or ()]


_ADDITIONS = (operator.add, operator.sub)
_IN_PLACE = (operator.iadd, operator.isub)
# Views in which one element of memory may occur several times
_OVERLAPPING = (
    np.lib.stride_tricks.as_strided, np.lib.stride_tricks.sliding_window_view,
    np.broadcast_to, np.broadcast_arrays, np.meshgrid,
)  # fmt: skip


def alike(a: Rows, b: Rows) -> bool:
    """Whether two indices choose the same place of the same axis in each iteration."""
    where = a.array is b.array and a.axis == b.axis and a.falls == b.falls
    return where and (a.first - b.first).known() == 0
