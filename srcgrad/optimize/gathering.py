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

What is added to parts of a matrix, `d_W[:, i:n] += ...`, is gathered too, where the parts become
smaller or larger trip by trip, as those of triangular matrices do: the rest of the rows is zeros.
"""

from __future__ import annotations

import builtins
import operator

import numpy as np

from .. import ir, runtime
from ..analysis.affine import is_whole
from ..analysis.inference import Inferred
from ..analysis.lengths import dimension
from ..frontend.lower import Lowerer
from ..kinds import INT, Array, Dimension, Scalar, TupleOf, fresh_size
from .outer_products import ALL, FEW, Addition, Analysed, OuterProducts, Product, up_to
from .prune import prune

PRODUCTS = (operator.matmul, np.matmul, np.dot)


def gather(function: ir.Function, low: Lowerer) -> bool:
    """Add up outer products after the loops of the reverse sweep, in place; whether any were.

    Args:
        function: both sweeps, recorded.
        low: emits statements.
    """
    analysed, outer = None, (low.block, low.span)
    done = False
    for loop, block in _loops(function):
        analysed = analysed or Analysed(function)
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


class _Gathering:
    """The additions of a loop that are made after it.

    Attributes:
        before: the statements that make arrays of rows.
        after: those that add up.
    """

    def __init__(self, loop: ir.Loop, analysed: Analysed, low: Lowerer) -> None:
        self.loop, self.low = loop, low
        self.aliasing, self.made = analysed.aliasing, analysed.made
        self.outer = OuterProducts(loop, analysed)
        self.before, self.after = ir.Block(), ir.Block()
        self.rows: dict[tuple[ir.Var, int], ir.Var] = {}  # by the block where a vector is added
        self.trips: Dimension = fresh_size()
        self.stop: ir.Operand = ir.Const(0)

    def run(self) -> bool:
        """Move the outer products, and what is made of their vectors; whether there are any."""
        additions = list(self.outer.additions())
        found = [(a, those) for a in additions if (those := self.outer.products(a))]
        if not found:
            return False
        self.written = self.aliasing.written_by(self.loop)
        self.count()
        for a, those in found:
            self.matrix(a, those)
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
            self.outer.inside.add(loop.index)
        elif loop.index.name == "_":
            loop.index.name, loop.index.user = "i", False
        self.stop = loop.range[1]
        number = self.outer.proof.of(self.stop)
        if number is not None:
            self.trips = dimension(number) or self.trips
        if number is None or not self.outer.proof.is_natural(number):
            self.low.block, self.low.span = self.before, loop.span
            self.stop = self.low.emit(builtins.max, (self.stop, ir.Const(0)), name="trips")

    # What is made

    def matrix(self, a: Addition, products: list[Product]) -> None:
        """Add the product of the rows of both vectors to an array of rank two.

        A vector of one number that is spread over the array is spread over its row.
        """
        array, multiply = a.array, operator.matmul
        if a.is_part:
            array, multiply = self.smallest(a), runtime.padded_product
        for product in products:
            columns = self.all_rows(a, array, product, 0)
            rows = self.all_rows(a, array, product, 1)
            self.low.block, self.low.span = self.after, a.statement.span
            total = self.emit(multiply, (self.transposed(columns), rows), array.kind)
            self.add(a, array, total)
        a.block.statements.remove(a.statement)

    def smallest(self, a: Addition) -> ir.Var:
        """The part of a matrix that all those lie in which are added to."""
        windows = [w for item in a.items if (w := self.outer.window(item)) is not None]
        if all(map(is_whole, windows)):
            return a.array
        assert isinstance(a.array.kind, Array) and a.array.kind.shape is not None
        sizes = zip(windows, a.array.kind.shape, strict=True)
        shape = tuple(n if is_whole(w) else fresh_size() for w, n in sizes)
        self.low.block, self.low.span = self.before, self.loop.span
        inferred = Inferred(Array(a.array.kind.dtype, shape), (a.array,))
        args = (a.array, ir.Pack(tuple, tuple(windows)))
        return self.low.emit(operator.getitem, args, inferred=inferred, name=a.array.name)

    def sum(self, a: Addition) -> None:
        """Add up a vector whose rows are there."""
        rows = self.known_rows(a.value)
        if rows is None or a.array.kind != _row(rows):
            return
        self.low.block, self.low.span = self.after, a.statement.span
        total = self.emit(np.sum, (rows,), a.array.kind, axis=ir.Const(0))
        self.add(a, a.array, total)
        a.block.statements.remove(a.statement)

    def row(self, a: Addition) -> None:
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
        rows, s = self.known_rows(v), self.outer.once(v)
        if rows is not None and v.kind == _row(rows):
            return rows, None
        for vector, matrix in (s.args, s.args[::-1]) if s and s.function in PRODUCTS else ():
            rows = self.known_rows(vector)
            if rows is None or not isinstance(matrix, ir.Var) or matrix in self.outer.inside:
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

    def add(self, a: Addition, array: ir.Var, total: ir.Var) -> None:
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

    def all_rows(self, a: Addition, array: ir.Var, product: Product, axis: int) -> ir.Var:
        """The rows of a vector, which are zeros in trips where nothing is added.

        That goes for both vectors: zero times an infinite number isn't zero.
        """
        v, item = (product.column, product.row)[axis], a.items[axis]
        key, lasts = (v, id(a.block)), self.written.isdisjoint(self.aliasing.classes(v))
        lasts = lasts and is_whole(item)
        if lasts and key in self.rows:
            return self.rows[key]
        rows = self.source(v) if lasts and a.block is self.loop.body else None
        lengths: tuple[Dimension, ...] = array.kind.shape  # type: ignore[attr-defined]
        if rows is not None and _row(rows).shape != (lengths[axis],):
            rows = None
        if rows is None:
            rows = self.buffer(a, array, v, axis)
            self.store(a, product, rows, v, item)
        if lasts:
            self.rows[key] = rows
        return rows

    def source(self, v: ir.Var) -> ir.Var | None:
        """The array of which a vector is the row, or the column, that has the trip's number."""
        s = self.made.get(v)
        if s is None or s.function is not operator.getitem or not self.starts_at_zero():
            return None
        array, items = s.args[0], ir.items_of(s.args[1])
        if array in self.outer.inside or not isinstance(array, ir.Var):
            return None
        self.low.block, self.low.span = self.after, s.span
        if self.is_row(s):
            return self.from_start(array)
        if len(items) == 2 and is_whole(items[0]) and items[1] is self.loop.index:
            return self.transposed(self.from_start(array, 1))
        return None

    def starts_at_zero(self) -> bool:
        assert self.loop.range is not None
        return ir.is_constant(self.loop.range[0], 0)

    def is_row(self, s: ir.Assign) -> bool:
        """Whether a statement takes the row that has the trip's number."""
        array = s.args[0]
        if s.function is not operator.getitem or s.args[1] is not self.loop.index:
            return False
        return isinstance(array, ir.Var) and isinstance(array.kind, Array) and array.kind.rank == 2

    def from_start(self, array: ir.Var, axis: int = 0) -> ir.Var:
        """As many rows of a matrix, or columns, as there are trips."""
        kind = array.kind
        assert isinstance(kind, Array) and kind.shape is not None
        number = self.outer.proof.of(self.stop)
        if number is not None and (self.outer.proof.length(kind.shape[axis]) - number).known() == 0:
            return array
        key, shape = up_to(self.stop), list(kind.shape)
        if axis == 1:
            key = ir.Pack(tuple, (ALL, key))
        shape[axis] = self.trips
        inferred = Inferred(Array(kind.dtype, tuple(shape)), (array,))
        return self.low.emit(operator.getitem, (array, key), inferred=inferred, name=array.name)

    def buffer(self, a: Addition, array: ir.Var, v: ir.Var, axis: int) -> ir.Var:
        """An array for the rows of a vector, before the loop."""
        self.low.block, self.low.span = self.before, self.loop.span
        lengths: tuple[Dimension, ...] = array.kind.shape  # type: ignore[attr-defined]
        sizes = tuple(Scalar(INT.dtype, True, n) for n in lengths)
        made, whole = self.made.get(array), array
        if made is not None and made.function is np.zeros_like:
            whole = made.args[0]  # type: ignore[assignment]
        if axis == 0:
            length = self.emit(len, (whole,), sizes[0])
        else:
            shape = self.emit(builtins.getattr, (whole, ir.Const("shape")), TupleOf(sizes))
            length = self.emit(operator.getitem, (shape, ir.Const(1)), sizes[1])
        kind = Array(array.kind.dtype, (self.trips, lengths[axis]))  # type: ignore[attr-defined]
        every = a.block is self.loop.body and self.starts_at_zero() and is_whole(a.items[axis])
        kwargs = {} if kind.dtype == np.float64 else {"dtype": ir.Const(kind.dtype)}
        name = f"{v.name}_rows"
        args = (ir.Pack(tuple, (self.stop, length)),)
        function = np.empty if every else np.zeros
        return self.low.emit(function, args, kwargs, inferred=Inferred(kind), name=name)  # type: ignore[arg-type]

    def store(
        self, a: Addition, product: Product, rows: ir.Var, v: ir.Var, item: ir.Operand
    ) -> None:
        """Store a vector as the trip's row, or a part of it, where it is multiplied: later it may
        be overwritten."""
        assert self.loop.index is not None
        self.low.block, self.low.span = ir.Block(), a.statement.span
        whole = is_whole(item)
        args = (rows, self.loop.index if whole else ir.Pack(tuple, (self.loop.index, item)), v)
        self.low.emit(operator.setitem, args, inferred=Inferred(rows.kind), writes=(rows,))
        at = next(i for i, s in enumerate(a.block.statements) if s is product.statement)
        a.block.statements[at:at] = self.low.block.statements


def _row(rows: ir.Var) -> Array:
    """The kind of the rows of an array of rank two."""
    assert isinstance(rows.kind, Array) and rows.kind.shape is not None
    return Array(rows.kind.dtype, rows.kind.shape[1:])
