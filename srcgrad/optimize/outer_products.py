"""Which outer products a loop adds up, and to what: for `gathering`, which makes them one product.

d_total = d_W[:, i:n]
d_total += d_z[:, None] * h[None]
"""

from __future__ import annotations

import operator
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from .. import ir
from ..analysis.affine import Integers, Proof, is_whole
from ..analysis.aliasing import Aliasing, is_slice
from ..kinds import Array, Kind

FEW = 4  # trips that aren't worth an array
ALL = ir.Const(slice(None))


class Analysed:
    """What is known of a function."""

    def __init__(self, function: ir.Function) -> None:
        self.function = function
        self.aliasing = Aliasing(function.block, function.together)
        self.made = {s.target: s for s in ir.walk(function.block) if isinstance(s, ir.Assign)}
        self.counts = ir.use_counts(function.block)

    @cached_property
    def integers(self) -> Integers:
        return Integers(self.function.block)


@dataclass(eq=False)
class Addition:
    """A statement of a loop that adds to an array which the loop does nothing else with."""

    statement: ir.Assign
    block: ir.Block
    array: ir.Var
    view: ir.Assign | None  # the part of the array, if it is but a part

    @property
    def value(self) -> ir.Operand:
        return self.statement.args[1]

    @property
    def items(self) -> tuple[ir.Operand, ...]:
        """What is taken of the axes of a matrix."""
        items = () if self.view is None else ir.items_of(self.view.args[1])
        return (*items, *(ALL,) * (2 - len(items)))

    @property
    def is_part(self) -> bool:
        return not all(map(is_whole, self.items))


@dataclass(eq=False)
class Product:
    """A column times a row, and the statement that multiplies them."""

    column: ir.Var
    row: ir.Var
    statement: ir.Assign


class OuterProducts:
    """The outer products of a loop.

    Attributes:
        inside: the variables that the loop makes.
    """

    def __init__(self, loop: ir.Loop, analysed: Analysed) -> None:
        self.loop, self.analysed = loop, analysed
        self.aliasing, self.made, self.counts = analysed.aliasing, analysed.made, analysed.counts
        self.inside = {*loop.params, *(t for s in ir.walk(loop.body) for t in ir.targets(s))}
        if loop.index is not None:
            self.inside.add(loop.index)
        inner = (s for s in ir.walk(loop.body) if isinstance(s, ir.Loop))
        # The blocks that a trip may run more than once
        self.repeated = {id(b) for s in inner for b in ir.all_blocks(s.body)}

    @cached_property
    def proof(self) -> Proof:
        """What is known of the loop's integers."""
        known = [*self.analysed.function.params, *ir.free_variables(self.loop.body)]
        return Proof(self.analysed.integers, known)

    def additions(self) -> Iterator[Addition]:
        """The additions to arrays that the loop does nothing else with."""
        uses: dict[ir.Var, list[Addition | None]] = {}
        views: dict[ir.Var, tuple[ir.Assign, ir.Block]] = {}
        for block in ir.all_blocks(self.loop.body):
            for s in block.statements:
                if not isinstance(s, ir.Assign):
                    continue
                array = s.args[0] if s.args else None
                found = None
                if isinstance(array, ir.Var) and not s.kwargs:
                    if s.function is operator.getitem and array not in self.inside and s.views:
                        views[s.target] = s, block
                        continue
                    if s.function in (operator.iadd, operator.isub) and s.writes:
                        found = self.addition(s, block, array, views)
                for root in self.aliasing.held_by((*ir.uses(s), s.target)):
                    uses.setdefault(root, []).append(found)
        handed = self.aliasing.held_by(self.handed())
        roots: dict[ir.Var, list[ir.Var]] = {}
        for v, (s, _) in views.items():
            roots.setdefault(self.aliasing.find(s.args[0]), []).append(v)  # type: ignore[arg-type]
        for root, several in uses.items():
            if root in handed or any(a is None for a in several):
                continue
            additions = [a for a in several if a is not None]
            if any(self.aliasing.find(a.array) is not root for a in additions):
                continue
            used = {a.view.target for a in additions if a.view is not None}
            if used.issuperset(roots.get(root, ())):
                yield from additions

    def handed(self) -> Iterator[ir.Operand]:
        """What is handed on by branches and loops, in any way."""
        for s in (self.loop, *ir.walk(self.loop.body)):
            if not isinstance(s, ir.Assign):
                for target, operands in ir.joins(s):
                    yield target
                    yield from operands
        yield from self.loop.body.results

    def addition(
        self,
        s: ir.Assign,
        block: ir.Block,
        array: ir.Var,
        views: dict[ir.Var, tuple[ir.Assign, ir.Block]],
    ) -> Addition | None:
        """What a statement adds, if it is to an array from outside of the loop, and no loop's."""
        view, place = views.get(array, (None, block))
        whole = array if view is None else view.args[0]
        if whole in self.inside or place is not block or self.counts.get(s.target):
            return None
        if view is not None and self.counts.get(array) != 1:
            return None
        assert isinstance(whole, ir.Var)
        if self.aliasing.find(whole) in self.aliasing.held_by([s.args[1]]):
            return None
        if id(block) in self.repeated:
            return None
        return Addition(s, block, whole, view)

    def products(self, a: Addition) -> list[Product]:
        """The outer products whose sum is added; none if it isn't that, or isn't worth it."""
        kind, products = a.array.kind, []
        if not isinstance(kind, Array) or kind.rank != 2 or not is_float(kind):
            return []
        todo = [a.value]
        for operand in todo:
            s = self.once(operand)
            if s is None or not _is_alike(s.target.kind, kind):
                return []
            if s.function is operator.add:
                todo += s.args
                continue
            pair = self.vectors(s)
            if pair is None or all(s is not o for o in a.block.statements):
                return []
            products.append(Product(*pair, s))
        return products if self.is_worth_it(a, products) else []

    def once(self, operand: ir.Operand) -> ir.Assign | None:
        """What makes a value in the loop, which is asked for once."""
        if not isinstance(operand, ir.Var) or operand not in self.inside:
            return None
        s = self.made.get(operand)
        if s is None or s.kwargs or s.writes or s.effect or self.counts[operand] != 1:
            return None
        return s

    def vectors(self, s: ir.Assign) -> tuple[ir.Var, ir.Var] | None:
        """The column and the row that a call multiplies."""
        if s.function not in (operator.mul, np.multiply) or len(s.args) != 2:
            return None
        for one, other in (s.args, s.args[::-1]):
            column = self.turned(one, (ALL, ir.Const(None)))
            row = self.turned(other, (ir.Const(None), ALL)) or other
            if column is None or not isinstance(row, ir.Var):
                continue
            vector = Array(s.target.kind.dtype, (1,))  # type: ignore[attr-defined]
            if _is_alike(column.kind, vector) and _is_alike(row.kind, vector):
                return column, row
        return None

    def turned(self, operand: ir.Operand, key: tuple[ir.Operand, ...]) -> ir.Var | None:
        """The vector of which an operand is a view with another axis."""
        s = self.made.get(operand) if isinstance(operand, ir.Var) else None
        if s is None or s.function is not operator.getitem:
            return None
        items = ir.items_of(s.args[1])
        same = len(items) == 2 and all(map(_is_same, items, key))
        return s.args[0] if same and isinstance(s.args[0], ir.Var) else None

    def is_worth_it(self, a: Addition, products: list[Product]) -> bool:
        """Whether what is added to is all of a matrix, or a part that is half of a window."""
        return not a.is_part or (
            all(self.window(item) is not None for item in a.items)
            and all(self.is_there(item, a.block, p.statement) for item in a.items for p in products)
        )

    def window(self, item: ir.Operand) -> ir.Operand | None:
        """A slice that all parts of an axis lie in, and half of which they are on the average.

        So are those from the trip's number to a fixed end, or from the beginning to it. None if
        the parts may be of another kind.
        """
        if is_whole(item):
            return ALL
        if not is_slice(item) or self.loop.range is None or self.loop.index is None:
            return None
        first, last, step = ir.slice_parts(item)
        if not (ir.is_constant(step, None) or ir.is_constant(step, 1)):
            return None
        stop = self.loop.range[1]
        if (ir.is_constant(first, None) or ir.is_constant(first, 0)) and (
            self.distance(last, self.loop.index) == 0
        ):
            return up_to(stop)
        if not self.is_small(self.distance(first, self.loop.index)):
            return None
        if ir.is_constant(last, None):
            return ALL
        constant = last not in self.inside and self.is_small(self.distance(last, stop))
        return up_to(last) if constant else None

    def distance(self, one: ir.Operand, other: ir.Operand) -> int | None:
        """How much larger an integer is than another one, if that's known."""
        a, b = self.proof.of(one), self.proof.of(other)
        return None if a is None or b is None else (a - b).known()

    def is_small(self, distance: int | None) -> bool:
        return distance is not None and 0 <= distance < FEW

    def is_there(self, item: ir.Operand, block: ir.Block, statement: ir.Assign) -> bool:
        """Whether the bounds of a slice are known where a statement of a block stands."""
        at = next(i for i, s in enumerate(block.statements) if s is statement)
        later = {t for s in block.statements[at:] for t in ir.targets(s)}
        return later.isdisjoint(ir.slice_parts(item))


def is_float(kind: Array) -> bool:
    return kind.dtype is not None and kind.dtype.kind in "fc"


def _is_alike(kind: Kind, other: Array) -> bool:
    """Whether a kind is that of arrays of the same rank and dtype."""
    return isinstance(kind, Array) and (kind.rank, kind.dtype) == (other.rank, other.dtype)


def _is_same(item: ir.Operand, other: ir.Operand) -> bool:
    """Whether two items of an index are the whole axis, or both a new one."""
    if is_whole(other):
        return is_whole(item)
    return ir.is_constant(item, None)


def up_to(stop: ir.Operand) -> ir.Operand:
    """The slice of what is before a place."""
    if isinstance(stop, ir.Const):
        return ir.Const(slice(stop.value))
    return ir.Pack(slice, (ir.Const(None), stop, ir.Const(None)))
