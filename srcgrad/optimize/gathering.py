"""Outer products that a loop adds up become one product of matrices after it.

    for t in reversed(range(n)):                   for t in reversed(range(n)):
        ...                                            ...
        d_W += d_z[:, None] * h              =>        d_z_rows[t] = d_z
        d_b += d_z                                     h_rows[t] = h
                                                   d_W += d_z_rows.T @ h_rows
                                                   d_b += d_z_rows.sum(axis=0)

Each outer product touches a whole matrix, a row only a vector. It is the adjoint of a product of a
matrix and a vector, which a recurrent network makes in each step. The loop must do nothing else
with the matrix than add to it; then what is added may come later. Where the rows are those of an
array anyway, there is nothing to store. The rows take memory, as much as the vectors that the
forward sweep computes take in all trips; what it recorded of them is let go meanwhile. As the order
of the terms is another one, this is done in the reverse sweep only.
"""

from __future__ import annotations

import builtins
import operator
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from .. import ir
from ..analysis.affine import Integers, Proof, is_whole
from ..analysis.aliasing import Aliasing
from ..analysis.inference import Inferred
from ..analysis.lengths import dimension
from ..frontend.lower import Lowerer
from ..kinds import INT, Array, Dimension, Kind, Scalar, TupleOf, fresh_size
from .prune import prune

FEW = 4  # trips that aren't worth an array
PRODUCTS = (operator.matmul, np.matmul, np.dot)
ALL = ir.Const(slice(None))


def gather(function: ir.Function, low: Lowerer) -> bool:
    """Add up outer products after the loops of the reverse sweep, in place; whether any were.

    Args:
        function: both sweeps, recorded.
        low: emits statements.
    """
    analysed, outer = None, (low.block, low.span)
    done = False
    for loop, block in _loops(function):
        analysed = analysed or _Analysed(function)
        gathering = _Gathering(loop, analysed, low)
        if gathering.run():
            at = next(i for i, s in enumerate(block.statements) if s is loop)
            block.statements[at + 1 : at + 1] = gathering.after.statements
            block.statements[at:at] = gathering.before.statements
            analysed, done = None, True
    low.block, low.span = outer
    if done:
        prune(function)
    return done


def _loops(function: ir.Function) -> list[tuple[ir.Loop, ir.Block]]:
    """The loops of the reverse sweep that may be worth it, with the blocks that they stand in."""
    sweep = ir.reverse_part(function).statements
    inner = [b for s in sweep for body in ir.blocks(s) for b in ir.all_blocks(body)]
    found = [(s, function.block) for s in sweep]
    found += [(s, block) for block in inner for s in block.statements]
    loops = [(s, block) for s, block in found if isinstance(s, ir.Loop)]
    return [(s, block) for s, block in loops if _may_be_long(s) and _adds_to_matrices(s)]


def _adds_to_matrices(loop: ir.Loop) -> bool:
    """Whether a loop adds anything to an array of two dimensions: it's worth a look then."""
    for s in ir.walk(loop.body):
        if isinstance(s, ir.Assign) and s.function in (operator.iadd, operator.isub):
            kind = s.args[0].kind if isinstance(s.args[0], ir.Var) else None
            if isinstance(kind, Array) and kind.rank == 2:
                return True
    return False


def _may_be_long(loop: ir.Loop) -> bool:
    """Whether a loop's trips have numbers from a small one on, and there may be some."""
    if loop.range is None or loop.exits:
        return False
    start, stop, step = (o.value if isinstance(o, ir.Const) else None for o in loop.range)
    few = type(stop) is int and stop < FEW
    return step == 1 and type(start) is int and 0 <= start < FEW and not few


class _Analysed:
    """What is known of a function."""

    def __init__(self, function: ir.Function) -> None:
        self.function = function
        self.aliasing = Aliasing(function.block, function.together)
        self.made = {s.target: s for s in ir.walk(function.block) if isinstance(s, ir.Assign)}
        self.counts = ir.use_counts(function.block)


@dataclass(eq=False)
class _Addition:
    """A statement of a loop that adds to an array which the loop does nothing else with."""

    statement: ir.Assign
    block: ir.Block
    array: ir.Var
    view: ir.Assign | None  # the part of the array, if it is but a part

    @property
    def value(self) -> ir.Operand:
        return self.statement.args[1]


@dataclass(eq=False)
class _Product:
    """A column times a row, and the statement that multiplies them."""

    column: ir.Var
    row: ir.Var
    statement: ir.Assign


class _Gathering:
    """The additions of a loop that are made after it.

    Attributes:
        before: the statements that make arrays of rows.
        after: those that add up.
    """

    def __init__(self, loop: ir.Loop, analysed: _Analysed, low: Lowerer) -> None:
        self.loop, self.low, self.analysed = loop, low, analysed
        self.aliasing, self.made = analysed.aliasing, analysed.made
        self.before, self.after = ir.Block(), ir.Block()
        self.inside = {*loop.params, *(t for s in ir.walk(loop.body) for t in ir.targets(s))}
        if loop.index is not None:
            self.inside.add(loop.index)
        inner = (s for s in ir.walk(loop.body) if isinstance(s, ir.Loop))
        # The blocks that a trip may run more than once
        self.repeated = {id(b) for s in inner for b in ir.all_blocks(s.body)}
        self.rows: dict[tuple[ir.Var, int], ir.Var] = {}  # by the block where a vector is added
        self.trips: Dimension = fresh_size()
        self.stop: ir.Operand = ir.Const(0)

    def run(self) -> bool:
        """Move the outer products, and what is made of their vectors; whether there are any."""
        additions = list(self.additions())
        found = [(a, those) for a in additions if a.view is None and (those := self.outer(a))]
        if not found:
            return False
        self.written = self.aliasing.written_by(self.loop)
        self.count()
        for a, products in found:
            self.matrix(a, products)
        for a in additions:
            if a.block is self.loop.body and all(a is not other for other, _ in found):
                self.sum(a) if a.view is None else self.row(a)
        return True

    def count(self) -> None:
        """Find how many trips there are, as an operand and as a dimension."""
        loop = self.loop
        assert loop.range is not None
        if loop.index is None:
            loop.index = ir.Var("i", INT)
            self.inside.add(loop.index)
        elif loop.index.name == "_":
            loop.index.name, loop.index.user = "i", False
        self.stop = loop.range[1]
        known = [*self.analysed.function.params, *ir.free_variables(loop.body)]
        self.proof = Proof(Integers(self.analysed.function.block), known)
        number = self.proof.of(self.stop)
        if number is not None:
            self.trips = dimension(number) or self.trips
        if number is None or not self.proof.is_natural(number):
            self.low.block, self.low.span = self.before, loop.span
            self.stop = self.low.emit(builtins.max, (self.stop, ir.Const(0)), name="trips")

    # What is found

    def additions(self) -> Iterator[_Addition]:
        """The additions to arrays that the loop does nothing else with."""
        uses: dict[ir.Var, list[_Addition | None]] = {}
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
    ) -> _Addition | None:
        """What a statement adds, if it is to an array from outside of the loop, and no loop's."""
        view, place = views.get(array, (None, block))
        whole = array if view is None else view.args[0]
        if whole in self.inside or place is not block or self.analysed.counts.get(s.target):
            return None
        if view is not None and self.analysed.counts.get(array) != 1:
            return None
        assert isinstance(whole, ir.Var)
        if self.aliasing.find(whole) in self.aliasing.held_by([s.args[1]]):
            return None
        if id(block) in self.repeated:
            return None
        return _Addition(s, block, whole, view)

    def outer(self, a: _Addition) -> list[_Product]:
        """The outer products whose sum a value is; none if it isn't that."""
        kind, products = a.array.kind, []
        if not isinstance(kind, Array) or kind.rank != 2 or not _is_float(kind):
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
            products.append(_Product(*pair, s))
        return products

    def once(self, operand: ir.Operand) -> ir.Assign | None:
        """What makes a value in the loop, which is asked for once."""
        if not isinstance(operand, ir.Var) or operand not in self.inside:
            return None
        s = self.made.get(operand)
        if s is None or s.kwargs or s.writes or s.effect or self.analysed.counts[operand] != 1:
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

    # What is made

    def matrix(self, a: _Addition, products: list[_Product]) -> None:
        """Add the product of the rows of both vectors to an array of rank two.

        A vector of one number that is spread over the array is spread over its row.
        """
        for product in products:
            columns = self.all_rows(a, product, product.column, 0)
            rows = self.all_rows(a, product, product.row, 1)
            self.low.block, self.low.span = self.after, a.statement.span
            args = (self.transposed(columns), rows)
            total = self.emit(operator.matmul, args, a.array.kind)
            self.add(a, a.array, total)
        a.block.statements.remove(a.statement)

    def sum(self, a: _Addition) -> None:
        """Add up a vector whose rows are there."""
        rows = self.known_rows(a.value)
        if rows is None or a.array.kind != _row(rows):
            return
        self.low.block, self.low.span = self.after, a.statement.span
        total = self.emit(np.sum, (rows,), a.array.kind, axis=ir.Const(0))
        self.add(a, a.array, total)
        a.block.statements.remove(a.statement)

    def row(self, a: _Addition) -> None:
        """Add vectors whose rows are there, or products of them, to rows of an array."""
        assert a.view is not None
        if not self.is_row(a.view) or not self.starts_at_zero():
            return
        if not isinstance(a.value, ir.Var) or a.value.kind != _row(a.array):
            return
        self.low.block, self.low.span = self.after, a.statement.span
        made = self.rows_of(a.value)
        if made is not None:
            rows, matrix = made
            whole = self.from_start(a.array)
            if matrix is not None:
                rows = self.emit(operator.matmul, (rows, matrix), whole.kind)
            self.add(a, whole, rows)
            a.block.statements.remove(a.statement)

    def rows_of(self, v: ir.Var) -> tuple[ir.Var, ir.Var | None] | None:
        """The rows whose products with a matrix, or None, are what a vector is in all trips."""
        rows, s = self.known_rows(v), self.once(v)
        if rows is not None and v.kind == _row(rows):
            return rows, None
        for vector, matrix in (s.args, s.args[::-1]) if s and s.function in PRODUCTS else ():
            rows = self.known_rows(vector)
            if rows is None or not isinstance(matrix, ir.Var) or matrix in self.inside:
                continue
            if not isinstance(matrix.kind, Array) or matrix.kind.rank != 2:
                continue
            if self.written.intersection(self.aliasing.classes(matrix)):
                continue
            if isinstance(vector, ir.Var) and vector.kind == _row(rows):
                assert s is not None
                return rows, self.transposed(matrix) if matrix is s.args[0] else matrix
        return None

    def transposed(self, matrix: ir.Var) -> ir.Var:
        kind = matrix.kind
        assert isinstance(kind, Array)
        turned = Array(kind.dtype, kind.shape and kind.shape[::-1])
        return self.low.emit(np.transpose, (matrix,), inferred=Inferred(turned, (matrix,)))

    def add(self, a: _Addition, array: ir.Var, total: ir.Var) -> None:
        inferred = Inferred(array.kind, (array,))
        self.low.emit(a.statement.function, (array, total), inferred=inferred, writes=(array,))

    def emit(
        self, function: object, args: tuple[ir.Operand, ...], kind: object, **kwargs: ir.Operand
    ) -> ir.Var:
        return self.low.emit(function, args, kwargs, inferred=Inferred(kind))  # type: ignore[arg-type]

    # Rows

    def known_rows(self, operand: ir.Operand) -> ir.Var | None:
        """The rows of a vector, after the loop, if they are known in each trip."""
        return self.rows.get((operand, id(self.loop.body)))  # type: ignore[arg-type]

    def all_rows(self, a: _Addition, product: _Product, v: ir.Var, axis: int) -> ir.Var:
        """The rows of a vector, which are zeros in trips where nothing is added.

        That goes for both vectors: zero times an infinite number isn't zero.
        """
        key, lasts = (v, id(a.block)), self.written.isdisjoint(self.aliasing.classes(v))
        if lasts and key in self.rows:
            return self.rows[key]
        rows = self.source(v) if lasts and a.block is self.loop.body else None
        lengths: tuple[Dimension, ...] = a.array.kind.shape  # type: ignore[attr-defined]
        if rows is not None and _row(rows).shape != (lengths[axis],):
            rows = None
        if rows is None:
            rows = self.buffer(a, v, axis)
            self.store(a, product, rows, v)
        if lasts:
            self.rows[key] = rows
        return rows

    def source(self, v: ir.Var) -> ir.Var | None:
        """The array of which a vector is the row that has the trip's number."""
        s = self.made.get(v)
        if s is None or not self.is_row(s) or not self.starts_at_zero():
            return None
        array = s.args[0]
        assert isinstance(array, ir.Var)
        if array in self.inside:
            return None
        self.low.block, self.low.span = self.after, s.span
        return self.from_start(array)

    def starts_at_zero(self) -> bool:
        assert self.loop.range is not None
        return ir.is_constant(self.loop.range[0], 0)

    def is_row(self, s: ir.Assign) -> bool:
        """Whether a statement takes the row that has the trip's number."""
        array = s.args[0]
        if s.function is not operator.getitem or s.args[1] is not self.loop.index:
            return False
        return isinstance(array, ir.Var) and isinstance(array.kind, Array) and array.kind.rank == 2

    def from_start(self, array: ir.Var) -> ir.Var:
        """As many rows of an array as there are trips."""
        kind = array.kind
        assert isinstance(kind, Array) and kind.shape is not None
        number = self.proof.of(self.stop)
        if number is not None and (self.proof.length(kind.shape[0]) - number).known() == 0:
            return array
        key: ir.Operand = ir.Pack(slice, (ir.Const(None), self.stop, ir.Const(None)))
        if isinstance(self.stop, ir.Const):
            key = ir.Const(slice(self.stop.value))
        inferred = Inferred(Array(kind.dtype, (self.trips, *kind.shape[1:])), (array,))
        return self.low.emit(operator.getitem, (array, key), inferred=inferred, name=array.name)

    def buffer(self, a: _Addition, v: ir.Var, axis: int) -> ir.Var:
        """An array for the rows of a vector, before the loop."""
        self.low.block, self.low.span = self.before, self.loop.span
        sizes = tuple(Scalar(INT.dtype, True, n) for n in a.array.kind.shape)  # type: ignore[attr-defined]
        made, whole = self.made.get(a.array), a.array
        if made is not None and made.function is np.zeros_like:
            whole = made.args[0]  # type: ignore[assignment]
        if axis == 0:
            length = self.emit(len, (whole,), sizes[0])
        else:
            shape = self.emit(builtins.getattr, (whole, ir.Const("shape")), TupleOf(sizes))
            length = self.emit(operator.getitem, (shape, ir.Const(1)), sizes[1])
        kind = Array(a.array.kind.dtype, (self.trips, a.array.kind.shape[axis]))  # type: ignore[attr-defined]
        every = a.block is self.loop.body and self.starts_at_zero()
        kwargs = {} if kind.dtype == np.float64 else {"dtype": ir.Const(kind.dtype)}
        name = f"{v.name}_rows"
        args = (ir.Pack(tuple, (self.stop, length)),)
        function = np.empty if every else np.zeros
        return self.low.emit(function, args, kwargs, inferred=Inferred(kind), name=name)  # type: ignore[arg-type]

    def store(self, a: _Addition, product: _Product, rows: ir.Var, v: ir.Var) -> None:
        """Store a vector as the trip's row where it is multiplied: later it may be overwritten."""
        assert self.loop.index is not None
        self.low.block, self.low.span = ir.Block(), a.statement.span
        args = (rows, self.loop.index, v)
        self.low.emit(operator.setitem, args, inferred=Inferred(rows.kind), writes=(rows,))
        at = next(i for i, s in enumerate(a.block.statements) if s is product.statement)
        a.block.statements[at:at] = self.low.block.statements


def _is_float(kind: Array) -> bool:
    return kind.dtype is not None and kind.dtype.kind in "fc"


def _is_alike(kind: Kind, other: Array) -> bool:
    """Whether a kind is that of arrays of the same rank and dtype."""
    return isinstance(kind, Array) and (kind.rank, kind.dtype) == (other.rank, other.dtype)


def _is_same(item: ir.Operand, other: ir.Operand) -> bool:
    """Whether two items of an index are the whole axis, or both a new one."""
    if is_whole(other):
        return is_whole(item)
    return ir.is_constant(item, None)


def _row(rows: ir.Var) -> Array:
    """The kind of the rows of an array of rank two."""
    assert isinstance(rows.kind, Array) and rows.kind.shape is not None
    return Array(rows.kind.dtype, rows.kind.shape[1:])
