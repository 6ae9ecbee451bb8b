"""The body of a loop whose iterations are independent, for all of them at once.

Statement by statement: what is the same in each iteration stays, rows are taken and stored all
together, arithmetic is that of whole arrays, and what each iteration adds is summed.
"""

from __future__ import annotations

import builtins
import operator
from dataclasses import replace
from typing import Any

import numpy as np

from .. import ir
from ..analysis.affine import ONE, is_int
from ..analysis.aliasing import is_slice
from ..analysis.independence import Iterations, Sum
from ..analysis.inference import Inferred, fits
from ..analysis.keys import same_key
from ..errors import Unbatchable
from ..frontend.lower import Lowerer
from ..kinds import Array, Dimension, Lesser, Scalar
from ..rules import registry
from ..transform.batched_calls import IN_PLACE
from .filled_lists import kept_item
from .operands import is_number, number_dtype
from .vectorized_rows import BACKWARDS, PRODUCTS, VectorizedRows

DIVISIONS = (operator.truediv, operator.floordiv, operator.mod, operator.pow, divmod)
AUGMENTED = {
    operator.add: operator.iadd, operator.sub: operator.isub, operator.mul: operator.imul,
    operator.truediv: operator.itruediv,
}  # fmt: skip
SAME_NUMBER = (float, complex, np.generic.item, np.ndarray.item)
TOTAL = (operator.add, operator.sub, operator.mul, operator.neg, operator.pos, abs)


class Whole(VectorizedRows):
    """The walk through the body of a loop, which becomes that of all iterations at once.

    Attributes:
        made: the block in which the statements are that it becomes.
        careful: whether products of rows must not become one of matrices.
        kept: of statements that keep items, what is kept.
        fresh: which of that has memory of its own.
    """

    def __init__(self, found: Iterations, low: Lowerer, careful: bool = False) -> None:
        super().__init__(found, low)
        self.made, self.careful = low.block, careful
        self.kept: dict[ir.Assign, ir.Var] = {}
        self.fresh: set[ir.Var] = set()

    def all_at_once(self) -> None:
        """Append the statements for all iterations to the block of `low`."""
        found = self.found
        if not found.rows and not any(s.function is kept_item for s in found.body):
            raise Unbatchable("no rows")
        totals = {s: total for total in found.sums for s, _ in total.chain}
        around = {s for total in found.sums for s in (total.read, total.written)}
        for total in found.sums:
            if total.position >= 0:
                start = found.loop.inits[total.position]
                if start is ir.UNDEFINED:
                    raise Unbatchable("a sum without a start")
                self.now[found.loop.params[total.position]] = start
        for s in found.body:
            self.low.span = s.span
            if s in totals:
                self.add(s, totals[s])
            elif s.function is kept_item:
                self.kept[s] = self.array_kept(s)
            elif s in found.rows:
                self.take(s) if s.function is operator.getitem else self.store(s)
            elif s in around or not any(map(self.is_batched, s.operands())):
                self.keep(s)
            elif is_int(s.target) and self.is_batched(s.target):
                continue  # an index, written out where it is used
            elif s.writes:
                self.write_row(s)
            else:
                self.apply(s)

    def array_kept(self, s: ir.Assign) -> ir.Var:
        """An array that nobody writes, of the items that a list is given."""
        item, *tests = s.args
        batch = self.full(item)
        kind = self.kind(item.kind) if isinstance(item, ir.Var) else None
        if not isinstance(batch, ir.Var) or not isinstance(kind, Array):
            raise Unbatchable("a list of no numbers")
        if batch.kind.rank != kind.rank or batch.kind.dtype != kind.dtype:  # type: ignore[attr-defined]
            raise Unbatchable("a list of another kind")
        if tests:
            mask = self.full(tests[0])
            if not isinstance(mask, ir.Var) or mask.kind != Array(np.dtype(bool), (self.size,)):
                raise Unbatchable("what isn't known to be a truth value")
            batch = self.low.emit(operator.getitem, (batch, mask))
        if ir.is_constant(self.found.loop.range[2], -1):  # type: ignore[index]
            # the first index comes last
            own = Inferred(batch.kind, (batch,))
            batch = self.low.emit(operator.getitem, (batch, BACKWARDS), inferred=own)
        source = batch
        while (made := self.definition(source)) is not None and made.views:
            source = made.views[0]
        if made is None and self.aliasing.is_written(source):
            batch = self.low.emit(np.copy, (batch,), inferred=Inferred(batch.kind))
        made = self.definition(batch)
        if made is not None:
            batch.name, batch.user = s.target.name, s.target.user
            self.fresh.update({batch} if not made.views else ())
        return batch

    # What stays as it is

    def keep(self, s: ir.Assign) -> None:
        """A statement that is the same for all iterations."""
        if not self.found.surely_runs and not self.is_harmless(s):
            raise Unbatchable("what may raise if the loop isn't run")
        args = tuple(map(self.known, s.args))
        kwargs = tuple((k, self.known(a)) for k, a in s.kwargs)
        views, writes = self.all_known(s.views), self.all_known(s.writes)
        self.low.block.statements.append(
            ir.Assign(s.target, s.function, args, kwargs, s.span, views, s.certain, writes)
        )

    def all_known(self, several: tuple[ir.Var, ...]) -> tuple[ir.Var, ...]:
        """Variables as they are from now on."""
        return tuple(v for each in several for v in ir.variables(self.known(each)))

    def is_harmless(self, s: ir.Assign) -> bool:
        """Whether a statement can be run though the loop's body isn't."""
        function = s.function
        if function in (getattr, len, np.shape) or s in self._around():
            return True
        if function is operator.getitem and isinstance(s.args[0], ir.Var):
            return self.found.proof.is_inside(s.args[0], s.args[1])
        if s.kwargs or not (isinstance(function, np.ufunc) or function in TOTAL):
            if function not in DIVISIONS or self.is_python(s):
                return False
        return fits(function, s.args, {})

    def _around(self) -> set[ir.Assign]:
        return {s for total in self.found.sums for s in (total.written,) if s is not None}

    # Sums

    def add(self, s: ir.Assign, total: Sum) -> None:
        """An addition that each iteration makes: that of the sum of what is added."""
        value = next(v for statement, v in total.chain if statement is s)
        if not self.is_batched(value):
            raise Unbatchable("the same number added in each iteration")
        start = s.args[1] if s.args[0] is value else s.args[0]
        batch = self.full(value)
        assert isinstance(batch, ir.Var)
        added_to = start.kind if s.writes and isinstance(start, ir.Var) else s.target.kind
        if batch.kind.dtype != getattr(added_to, "dtype", None):  # type: ignore[attr-defined]
            raise Unbatchable("a sum of another precision")
        once = len(self.found.readers.get(value, ())) == 1  # type: ignore[arg-type]
        summed, start = self.sum(batch, once), self.known(start)
        pair = (summed, start) if s.args[0] is value else (start, summed)
        if s.writes:
            if self.rank(start) != summed.kind.rank:  # type: ignore[attr-defined]
                raise Unbatchable("what is added has other axes")
            self.check_fits(value, start.kind.shape)  # type: ignore[union-attr]
            writes = self.all_known(s.writes)
            self.low.emit(s.function, pair, writes=writes, inferred=Inferred(s.target.kind))
            return
        if not self.found.surely_runs and not fits(s.function, s.args, {}):
            raise Unbatchable("what may raise if the loop isn't run")
        if s.function is operator.add and is_number(start, 0.0):
            result = summed
        else:
            result = self.low.emit(s.function, pair, name=s.target.name)
        kind = s.target.kind
        if result.kind.shape != kind.shape or result.kind.dtype != kind.dtype:  # type: ignore[attr-defined]
            raise Unbatchable("a sum of another kind")
        if isinstance(kind, Scalar) and kind.python is True:
            python = builtins.complex if kind.dtype.kind == "c" else builtins.float
            own = Inferred(replace(kind, mixed=Lesser(0)))
            result = self.low.emit(python, (result,), inferred=own, name=s.target.name)
        self.now[s.target] = result
        if total.position >= 0 and s is total.chain[-1][0]:
            target = self.found.loop.targets[total.position]
            statement = self.low.block.statements[-1]
            assert isinstance(statement, ir.Assign)
            statement.target = target
            if isinstance(kind, Scalar):
                target.kind = result.kind  # NumPy's number, also where nothing is added
            self.now[s.target] = target

    def sum(self, batch: ir.Var, once: bool) -> ir.Var:
        """The sum of all rows, which are asked for `once`, or more often."""
        made = self.definition(batch)
        kind = batch.kind
        assert isinstance(kind, Array) and kind.shape is not None
        if kind.dtype is None or kind.dtype.kind not in "fc":
            raise Unbatchable("a sum of integers")
        product = made is not None and made.function in (operator.mul, np.multiply)
        if made is not None and product and once and kind.rank == 1:
            if all(isinstance(a, ir.Var) and a.kind == kind for a in made.args):
                self.low.block.statements.remove(made)
                return self.low.emit(operator.matmul, made.args)
        kwargs: dict[str, ir.Operand] = {} if kind.rank == 1 else {"axis": ir.Const(0)}
        return self.low.emit(np.sum, (batch,), kwargs)

    # Rows of arrays

    def take(self, s: ir.Assign) -> None:
        """Rows of an array."""
        view = self.view(s.args[0], s.args[1], self.found.rows[s], s.target.name)
        kind = self.kind(s.target.kind)
        if view.kind.rank != kind.rank or view.kind.dtype != kind.dtype:  # type: ignore[attr-defined]
            raise Unbatchable("rows of another kind")
        self.uncopied.add(view)
        if not s.views and self.is_overwritten(s):
            view = self.low.emit(np.copy, (view,), inferred=Inferred(kind), name=s.target.name)
        self.now[s.target] = view

    def is_overwritten(self, s: ir.Assign) -> bool:
        """Whether what a statement takes may be written before it is last asked for."""
        root = self.aliasing.find(s.args[0])  # type: ignore[arg-type]
        later = self.found.body[self.found.body.index(s) + 1 :]
        writes = [i for i, w in enumerate(later) if root in self.aliasing.written_by(w)]
        if not writes:
            return False
        readers = [(i, r) for i, r in enumerate(later) if s.target in ir.uses(r)]
        return any(i > writes[0] or not is_arithmetic(r.function) for i, r in readers)

    # Writes

    def store(self, s: ir.Assign) -> None:
        """A store into rows of an array."""
        array, key, value = s.args
        rows = self.found.rows[s]
        extent = self._extent(s)
        self.check_fits(value, extent)
        stored = self.stored(value, len(extent))
        assert isinstance(array, ir.Var)
        if not holds(array.kind, value):
            raise Unbatchable("a Python int that the array may not hold")
        if self.augmented(s, stored):
            return
        if rows.kept or rows.falls:
            view: ir.Var = self.view(array, key, rows, array.name)
            index: ir.Operand = ir.Const(slice(None))
        else:
            view, items = self.known(array), self.items(key, rows)  # type: ignore[assignment]
            index = items[0] if len(items) == 1 else ir.Pack(tuple, tuple(items))
        self.low.emit(
            operator.setitem, (view, index, stored), inferred=Inferred(s.target.kind),
            writes=(view,),
        )  # fmt: skip

    def augmented(self, s: ir.Assign, stored: ir.Operand) -> bool:
        """Compute in place what is stored where one of its operands is, if that can be done."""
        array, key, value = s.args
        made = self.low.block.statements[-1] if self.low.block.statements else None
        if not isinstance(made, ir.Assign) or made.target is not stored or len(made.args) != 2:
            return False
        function, view = AUGMENTED.get(made.function), made.args[0]
        if function is None or len(self.found.readers.get(value, ())) != 1:  # type: ignore[arg-type]
            return False
        read = next((r for r in self.found.rows if self.now.get(r.target) is view), None)
        if read is None or read.args[0] is not array or not same_key(read.args[1], key):
            return False
        if (
            not isinstance(view, ir.Var)
            or view not in self.uncopied
            or view.kind != made.target.kind
        ):
            return False
        self.low.block.statements.pop()
        self.low.emit(
            function, (view, made.args[1]), inferred=Inferred(s.target.kind), writes=(view,)
        )
        return True

    def check_fits(self, value: ir.Operand, shape: tuple[Dimension, ...]) -> None:
        """Refuse a write that raises if the shapes are unlike, though there is no row."""
        if self.found.surely_runs or not isinstance(value, ir.Var):
            return
        own = getattr(value.kind, "shape", None) or ()
        if not all(n in (1, m) for n, m in zip(own[::-1], shape[::-1], strict=False)):
            raise Unbatchable("what may raise if the loop isn't run")

    def stored(self, value: ir.Operand, rank: int) -> ir.Operand:
        """A value as it is stored in places that have so many axes in each iteration."""
        if isinstance(value, ir.Pack) or self.rank(value) > rank:
            raise Unbatchable("a value of more axes than it is written to")
        return self.raised(self.materialized(value), rank)

    def write_row(self, s: ir.Assign) -> None:
        """A write into a view of a row."""
        target = s.writes[0]
        if len(s.writes) > 1 or s.args[0] is not target or s.kwargs:
            raise Unbatchable("a write of several arrays")
        now = self.now[target]
        if s.function in IN_PLACE:
            self.check_fits(s.args[1], target.kind.shape)  # type: ignore[attr-defined]
            args: tuple[ir.Operand, ...] = (now, self.stored(s.args[1], self.rank(target)))
            self.check_arithmetic(s)
        elif s.function is operator.setitem:
            whole = ir.Const(slice(None))
            items = ir.items_of(s.args[1])
            if not all(is_slice(i) or self.found.proof.of(i) is not None for i in items):
                raise Unbatchable("an index that isn't a number or a slice")
            if not self.found.surely_runs and not self.found.proof.is_inside(target, s.args[1]):
                raise Unbatchable("what may raise if the loop isn't run")
            shape = self._shape_of(target, s.args[1])
            self.check_fits(s.args[2], shape)
            if not holds(target.kind, s.args[2]):
                raise Unbatchable("a Python int that the array may not hold")
            key = ir.Pack(tuple, (whole, *map(self.known, items)))
            args = (now, key, self.stored(s.args[2], len(shape)))
        else:
            raise Unbatchable(f"{s.function} in place")
        self.low.emit(s.function, args, inferred=Inferred(s.target.kind), writes=(now,))
        self.now[s.target] = now

    # Arithmetic

    def apply(self, s: ir.Assign) -> None:
        """A call that makes something new of rows."""
        if s.function in SAME_NUMBER and self.is_same_number(s):
            self.now[s.target] = self.full(s.args[0])
            return
        if s.function in (np.array, np.asarray) and isinstance(s.args[0], ir.Pack) and not s.kwargs:
            numbers = all(isinstance(v.kind, Scalar) for v in ir.variables(s.args[0]))
            if not numbers and not self.found.surely_runs:
                raise Unbatchable("what may raise if the loop isn't run")
            self.now[s.target] = self.settled(self.stacked(s.args[0]), s)
            return
        self.check_arithmetic(s)
        function = registry.methods.get(s.function, s.function)
        known = (
            is_arithmetic(function) or function is operator.getitem
            or function in registry.batch_rules or function in registry.batch_axes
            or (isinstance(function, type) and issubclass(function, np.floating))
        )  # fmt: skip
        if not known or isinstance(s.function, ir.Unit):
            raise Unbatchable(f"{s.function} of rows")
        if not self.found.surely_runs and not self.is_harmless_of_rows(s, function):
            raise Unbatchable("what may raise if the loop isn't run")
        if not isinstance(s.target.kind, (Array, Scalar)):
            raise Unbatchable("a container")
        for operand in s.operands():
            self.materialized(operand)
        start = len(self.low.block.statements)
        apart = self.careful and function in PRODUCTS
        self.now[s.target] = self.settled(self.row_by_row(s) if apart else self.applied(s), s)
        for made in self.low.block.statements[start:]:
            made.span = s.span  # not that of the rule

    def stacked(self, display: ir.Pack) -> ir.Var:
        """Arrays of the items of a display, for all iterations, one beside the other."""
        batches = [self.materialized(o) for o in display.items if self.is_batched(o)]
        like = next((self.full(o) for o in batches if number_dtype(o) == np.float64), None)
        items: list[ir.Operand] = []
        for o in display.items:
            if isinstance(o, ir.Pack):
                items.append(self.stacked(o))
            elif self.is_batched(o):
                items.append(self.full(o))
            elif like is not None and number_dtype(o) is not None:
                items.append(self.low.emit(np.full_like, (like, o)))
            else:
                raise Unbatchable("an array of what is the same in each iteration")
        return self.low.emit(np.stack, (ir.Pack(list, tuple(items)),), {"axis": ir.Const(1)})

    @staticmethod
    def is_same_number(s: ir.Assign) -> bool:
        """Whether a call makes Python's number of one of NumPy's, or the other way round."""
        (operand,) = s.args if len(s.args) == 1 else (None,)
        own, kind = getattr(operand, "kind", None), s.target.kind
        if not isinstance(own, Scalar) or not isinstance(kind, Scalar):
            return False
        return own.dtype == kind.dtype and not own.mixed and not kind.mixed

    def is_harmless_of_rows(self, s: ir.Assign, function: Any) -> bool:
        """Whether a call with no rows raises nothing."""
        if function is operator.getitem:
            return isinstance(s.args[0], ir.Var) and self.found.proof.is_inside(
                s.args[0], s.args[1]
            )
        if isinstance(function, type):
            return True
        known = is_arithmetic(function) or function in PRODUCTS or function in registry.batch_axes
        return known and fits(s.function, s.args, dict(s.kwargs))

    def settled(self, result: ir.Var, s: ir.Assign) -> ir.Var:
        kind, found = self.kind(s.target.kind), result.kind
        assert isinstance(kind, Array) and kind.shape is not None
        if not isinstance(found, Array) or found.rank != kind.rank or found.dtype != kind.dtype:
            raise Unbatchable(f"{s.function} made rows of another kind")
        if not self.is_covered(kind.shape[1:]):
            raise Unbatchable("an array larger than those there are")
        if self.aliasing.is_written(s.target):
            definition = self.definition(result)
            if not (s.views and s.certain and definition is not None and definition.certain):
                raise Unbatchable("a view that is written")
        result = self.apart(result, s)
        result.kind = kind
        result.name, result.user = s.target.name, s.target.user
        return result

    def check_arithmetic(self, s: ir.Assign) -> None:
        """Refuse what arrays do differently: Python's numbers raise where arrays have an inf."""
        if s.function in (*DIVISIONS, *IN_PLACE) and self.is_python(s):
            if s.function in (operator.add, operator.iadd, operator.isub, operator.imul):
                return
            divisor = s.args[1]
            if s.function in (operator.pow, operator.ipow):
                whole = isinstance(divisor, ir.Const) and divisor.value in (2, 3)
                if not whole:
                    raise Unbatchable("a power of Python's numbers")
            elif not self.is_nonzero(divisor):
                raise Unbatchable("a division of Python's numbers")
        if isinstance(s.function, np.ufunc) and s.kwargs:
            raise Unbatchable("keywords")

    def is_nonzero(self, operand: ir.Operand) -> bool:
        """Whether a number isn't zero where the loop's body is run."""
        if isinstance(operand, ir.Const):
            return bool(operand.value)
        found, natural = self.found, self.found.proof.is_natural
        value = None if found.varies(operand) else found.proof.of(operand)
        if value is None:
            return False
        # the index is less than the loop's end, and not negative
        return natural(value - ONE) or (natural(found.start) and natural(value - found.stop))

    @staticmethod
    def is_python(s: ir.Assign) -> bool:
        """Whether all operands of a call may be Python's own numbers."""
        return all(
            isinstance(o, ir.Const) or (
                isinstance(o, ir.Var) and isinstance(o.kind, Scalar) and o.kind.python is not False
            )
            for o in s.args
        )  # fmt: skip


def is_arithmetic(function: Any) -> bool:
    """Whether a function works element by element, and makes something new."""
    if isinstance(function, np.ufunc):
        return function.signature is None
    return function in registry.batch_elementwise and function not in _COPIES


_COPIES = (np.array, np.asarray, np.ascontiguousarray, np.real, np.ndarray.astype)


def holds(kind: Any, value: ir.Operand) -> bool:
    """Whether an array takes a number as it is, or an array of such numbers raises as well."""
    own = value.kind if isinstance(value, ir.Var) else None
    python = isinstance(own, Scalar) and own.python is not False and own.dtype.kind in "iu"
    return not python or kind.dtype in (np.int64, np.float64, np.complex128)
