"""The rows that the iterations of a loop have, as arrays with one more axis in front.

`a[i - 1, k]` in a loop over `range(1, n)` is `a[:-1, k]`, and `a[k, i]` for all `i` is `a[k]`. What
is made of rows is no larger than some array's rows: the pairs of all rows would take as much memory
as there are pairs, and the loop stays.
"""

from __future__ import annotations

import math
import operator
from typing import Any

import numpy as np

from .. import ir
from ..analysis.affine import Affine, is_int, is_whole
from ..analysis.independence import Iterations, Rows
from ..analysis.inference import Inferred
from ..errors import Unbatchable
from ..frontend.lower import Lowerer
from ..frontend.values import Tuple
from ..kinds import Array, Dimension, Scalar, Size, fresh_size
from ..rules import registry
from ..transform.batching import Batch
from .filled_lists import kept_item
from .operands import is_number

BACKWARDS = ir.Const(slice(None, None, -1))
FEW = 8  # as many elements are as fast one by one
PRODUCTS = (operator.matmul, np.matmul, np.dot, np.inner)


class VectorizedRows(Batch):
    """Operands of the statements of a loop's body, as they are for all iterations at once."""

    def __init__(self, found: Iterations, low: Lowerer) -> None:
        self.low, self.found, self.aliasing = low, found, found.aliasing
        self.batched = set(found.moving) - {
            s.target for total in found.sums for s, _ in total.chain
        }
        self.now: dict[ir.Var, Any] = dict(found.starts)
        self.rows: dict[ir.Var, Any] = {}
        self.uncopied: set[ir.Var] = set()  # views of rows
        self.size = self._trips()  # type: ignore[assignment]
        self.extents = [self._extent(s) for s in found.rows]
        kept = (v for s in found.body if s.function is kept_item for v in ir.uses(s))
        self.extents += [getattr(v.kind, "shape", None) or () for v in kept]

    @property
    def count(self) -> ir.Var:  # type: ignore[override]
        raise Unbatchable("the number of iterations")

    def _trips(self) -> Dimension:
        """How many iterations there are, as a dimension."""
        trips = self.found.stop - self.found.start
        if not trips.terms:
            moved = all(s.function in (operator.getitem, kept_item) for s in self.found.body)
            if trips.constant < FEW and not moved:
                raise Unbatchable("a few iterations")
            return trips.constant
        if len(trips.terms) == 1:
            ((term, factor),) = trips.terms
            if isinstance(term, Size) and factor == 1 and abs(trips.constant) <= 4:
                size = Size(term.base, term.offset + trips.constant, term.big)
                if size.exact:
                    return size
        for s, rows in self.found.rows.items():
            outer, self.low.block = self.low.block, ir.Block()
            items = self.items(s.args[1], rows)
            kind = self.low.emit(operator.getitem, (s.args[0], ir.Pack(tuple, tuple(items)))).kind
            self.low.block = outer
            if isinstance(kind, Array) and kind.shape is not None:
                return kind.shape[rows.kept]
        return fresh_size()

    def is_batched(self, operand: ir.Operand) -> bool:
        return not self.batched.isdisjoint(ir.variables(operand))

    def view(self, array: Any, key: ir.Operand, rows: Rows, name: str) -> ir.Var:
        """A view of all rows, their axis in front."""
        items = self.items(key, rows)
        shape = self._shape(array, key, rows)
        if array.kind.dtype is None:
            raise Unbatchable("an array of unknown dtype")
        kind = Array(array.kind.dtype, tuple(shape))
        now: ir.Var = self.known(array)  # type: ignore[assignment]
        if not all(is_whole(item) for item in items):
            operand = items[0] if len(items) == 1 else ir.Pack(tuple, tuple(items))
            now = self.low.emit(
                operator.getitem, (now, operand), inferred=Inferred(kind, (now,)), name=name
            )
        if rows.falls:
            turned = ir.Pack(tuple, (*[ir.Const(slice(None))] * rows.kept, BACKWARDS))
            key = turned if rows.kept else BACKWARDS
            now = self.low.emit(
                operator.getitem, (now, key), inferred=Inferred(kind, (now,)), name=name
            )
        if rows.kept:
            others = (n for i, n in enumerate(shape) if i != rows.kept)
            inferred = Inferred(Array(kind.dtype, (self.size, *others)), (now,))
            if len(shape) == 2:
                return self.low.emit(np.transpose, (now,), inferred=inferred, name=name)
            args = (now, ir.Const(rows.kept), ir.Const(0))
            return self.low.emit(np.moveaxis, args, inferred=inferred, name=name)
        return now

    def items(self, key: ir.Operand, rows: Rows) -> list[ir.Operand]:
        """The items of an index of all rows."""
        items = list(map(self.known, ir.items_of(key)))
        length = self.found.proof.length(rows.array.kind.shape[rows.axis])  # type: ignore[attr-defined]
        item = ir.items_of(key)[rows.position]
        left = (length - rows.last).known()
        stop: ir.Operand = ir.Const(None if not left else -left)
        start: ir.Operand = ir.Const(None)
        lowest, beyond = self.bounds()[:: -1 if rows.falls else 1]
        if rows.first.known() != 0:
            start = self.place(item, lowest, rows.first, int(rows.falls))
        if left is None:
            stop = self.place(item, beyond, rows.last, int(rows.falls))
        items[rows.position] = sliced(start, stop)
        return items

    def bounds(self) -> tuple[ir.Operand, ir.Operand]:
        """The least index, and one more than the greatest."""
        assert self.found.loop.range is not None
        start, stop, step = self.found.loop.range
        assert isinstance(step, ir.Const)
        if step.value == 1:
            return self.known(start), self.known(stop)
        return self.shifted(stop, 1), self.shifted(start, 1)

    def shifted(self, operand: ir.Operand, by: int) -> ir.Operand:
        """An int plus a constant, as short as it can be written."""
        if isinstance(operand, ir.Const):
            return ir.Const(operand.value + by)
        assert isinstance(operand, ir.Var)
        made = self.found.integers.made.get(operand)
        if made is not None and made.function in (operator.add, operator.sub):
            left, right = made.args
            if isinstance(right, ir.Const) and not self.found.varies(left):
                sign = 1 if made.function is operator.add else -1
                return self.shifted(left, sign * right.value + by)
        if not by:
            return self.known(operand)
        function = operator.add if by > 0 else operator.sub
        return self.low.emit(function, (self.known(operand), ir.Const(abs(by))))

    def place(self, item: ir.Operand, at: ir.Operand, value: Affine, plus: int) -> ir.Operand:
        """What an index is where the loop's own is `at` some place, plus a number."""
        known = value.known()
        if known is not None:
            return ir.Const(known)
        return self.moved(item, at, plus)

    def moved(self, item: ir.Operand, at: ir.Operand, plus: int = 0) -> ir.Operand:
        """A sum of the index and other numbers, with another number for the index."""
        if item is self.found.index:
            return self.shifted(at, plus)
        if not self.found.varies(item):
            return self.shifted(item, plus)
        assert isinstance(item, ir.Var)
        made = self.found.integers.made[item]
        if made.function not in (operator.add, operator.sub):
            raise Unbatchable("a multiple of the index")
        left, right = made.args
        if isinstance(right, ir.Const):
            sign = 1 if made.function is operator.add else -1
            return self.moved(left, at, plus + sign * right.value)
        moved = self.moved(left, at, plus), self.moved(right, at)
        if made.function is operator.add and is_number(moved[0], 0.0):
            return moved[1]
        return moved[0] if is_number(moved[1], 0.0) else self.low.emit(made.function, moved)

    def _shape(self, array: Any, key: ir.Operand, rows: Rows) -> list[Dimension]:
        """The shape of all rows, the axis of the rows where the index has it."""
        original = ir.items_of(key)
        row = ir.Pack(tuple, (*original[: rows.position], ir.Const(slice(None)),
                              *original[rows.position + 1 :]))  # fmt: skip
        shape = self._shape_of(array, row)
        return [self.size if i == rows.kept else n for i, n in enumerate(shape)]

    def _shape_of(self, array: ir.Var, key: ir.Operand) -> tuple[Dimension, ...]:
        """The shape of what an index takes out of an array."""
        outer, self.low.block = self.low.block, ir.Block()
        kind = self.low.emit(operator.getitem, (array, key)).kind
        self.low.block = outer
        if not isinstance(kind, (Array, Scalar)) or kind.shape is None:
            raise Unbatchable("an array of unknown rank")
        return kind.shape

    def _extent(self, s: ir.Assign) -> tuple[Dimension, ...]:
        """The shape of one row."""
        rows = self.found.rows[s]
        if not self.found.surely_runs and not self.found.proof.is_inside(
            rows.array, s.args[1], rows.position
        ):
            raise Unbatchable("what may raise if the loop isn't run")
        shape = self._shape(s.args[0], s.args[1], rows)
        return tuple(n for i, n in enumerate(shape) if i != rows.kept)

    def is_covered(self, shape: tuple[Dimension, ...]) -> bool:
        """Whether some array has rows at least as large as these."""
        few = [n for n in shape if isinstance(n, int)]
        if math.prod(few) <= FEW:
            shape = tuple(n for n in shape if not isinstance(n, int))
        if not shape:
            return True
        for extent in self.extents:
            left = list(extent)
            for n in shape:
                if n in left:
                    left.remove(n)
                elif n != 1:
                    break
            else:
                return True
        return False

    # Operands

    def materialized(self, operand: ir.Operand) -> ir.Operand:
        """An operand; if it is an index, the array of its values is made."""
        for v in ir.variables(operand):
            if v in self.batched and v not in self.now:
                self.now[v] = self.positions(v)
        return operand

    def positions(self, v: ir.Var) -> ir.Var:
        """The values of an index, in all iterations."""
        place = self.found.proof.of(v)
        if not is_int(v) or place is None or place.factor(self.found.index) != 1:
            raise Unbatchable("a number made of the index")
        lowest, beyond = self.bounds()
        start = self.place(v, lowest, self.found.at(place, self.found.start), 0)
        stop = self.place(v, beyond, self.found.at(place, self.found.stop), 0)
        args = (stop,) if isinstance(start, ir.Const) and start.value == 0 else (start, stop)
        kind = Array(np.dtype(np.int64), (self.size,))
        return self.low.emit(np.arange, args, inferred=Inferred(kind), name=v.name)

    def abstract(self, operand: ir.Operand) -> Any:
        if isinstance(operand, ir.Pack):
            if operand.type is not tuple:
                raise Unbatchable("a container")
            return Tuple(tuple(map(self.abstract, operand.items)))
        if isinstance(operand, ir.Const) and isinstance(operand.value, tuple):
            return self.low.lift(operand.value, None)
        if isinstance(operand, ir.Var) and not isinstance(operand.kind, (Array, Scalar)):
            raise Unbatchable("a container")
        return operand

    def row_by_row(self, s: ir.Assign) -> ir.Var:
        function = registry.methods.get(s.function, s.function)
        if function in PRODUCTS and not s.kwargs and all(isinstance(a, ir.Var) for a in s.args):
            left, right = (self.full(a) if self.is_batched(a) else self.known(a) for a in s.args)
            if self.rank(s.args[0]) == self.rank(s.args[1]) == 1:
                product = self.low.emit(operator.mul, (left, right))
                return self.low.emit(np.sum, (product,), {"axis": ir.Const(1)})
        raise Unbatchable(f"{s.function} of rows")

    def full(self, operand: ir.Operand, kind: Any = None) -> ir.Operand:
        if not self.is_batched(operand):
            raise Unbatchable("the same in each iteration")
        return super().full(self.materialized(operand), kind)


def sliced(start: ir.Operand, stop: ir.Operand) -> ir.Operand:
    """The operand for a slice from one place to another."""
    if isinstance(start, ir.Const) and isinstance(stop, ir.Const):
        return ir.Const(slice(start.value, stop.value))
    return ir.Pack(slice, (start, stop, ir.Const(None)))
