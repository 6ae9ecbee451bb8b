"""Loops over elements or rows whose iterations are independent become operations on whole arrays.

    for i in range(1, n):                       c[1:] = a[1:] * b[:-1]
        c[i] = a[i] * b[i - 1]           =>     total = total + np.sum(c[1:])
        total += c[i]

What depends on the loop's index gets one more axis in front, with a row for each iteration, as in
`batching`; `analysis/independence.py` says of which loops that is right. Inner loops come first, so
that nested ones vanish from within. A loop stays where an operation isn't known to work on rows,
where it might not raise what the loop raises, and where it would make an array larger than those
that the program has.
"""

from __future__ import annotations

import operator
from collections.abc import Iterable
from typing import Any

import numpy as np

from .. import ir
from ..analysis.affine import Affine, Integers, constant, is_int
from ..analysis.aliasing import Aliasing, is_slice
from ..analysis.independence import Dependent, Iterations, Rows, Sum, slice_parts
from ..analysis.inference import Inferred, fits
from ..analysis.keys import same_key
from ..errors import Unbatchable, UnsupportedError
from ..frontend.lower import Lowerer
from ..frontend.values import NeedStatic, Tuple
from ..kinds import Array, Dimension, Scalar, Size, fresh_size
from ..rules import registry
from ..transform.batched_calls import IN_PLACE
from ..transform.batching import Batch

BACKWARDS = ir.Const(slice(None, None, -1))
FEW = 8  # as many elements are as fast one by one
DIVISIONS = (operator.truediv, operator.floordiv, operator.mod, operator.pow, divmod)
AUGMENTED = {
    operator.add: operator.iadd, operator.sub: operator.isub, operator.mul: operator.imul,
    operator.truediv: operator.itruediv,
}  # fmt: skip
PRODUCTS = (operator.matmul, np.matmul, np.dot, np.inner)
TOTAL = (operator.add, operator.sub, operator.mul, operator.neg, operator.pos, abs)


def vectorize(function: ir.Function, low: Lowerer, needed: Iterable[ir.Operand]) -> None:
    """Replace the loops of a function that are independent, in place.

    Args:
        function: the program.
        low: emits statements.
        needed: what is made of its variables later, besides its results.
    """
    if not any(isinstance(s, ir.Loop) for s in ir.walk(function.block)):
        return
    _Loops(function, low, [v for operand in needed for v in ir.variables(operand)]).block(
        function.block
    )


class _Loops:
    def __init__(self, function: ir.Function, low: Lowerer, needed: list[ir.Var]) -> None:
        self.function, self.low, self.needed = function, low, needed
        self._look()

    def _look(self) -> None:
        block = self.function.block
        self.aliasing = Aliasing(block, self.function.together)
        self.integers = Integers(block)
        self.integers.exist(self.function.params)
        self.used = asked_for(block, self.needed)
        self.missing = may_be_missing(block)

    def block(self, block: ir.Block) -> None:
        for s in list(block.statements):
            for inner in ir.blocks(s):
                self.block(inner)
            if isinstance(s, ir.Loop):
                made = self.loop(s)
                if made is not None:
                    at = block.statements.index(s)
                    block.statements[at : at + 1] = made
                    self._look()

    def loop(self, loop: ir.Loop) -> list[ir.Statement] | None:
        """The statements that do what a loop does; None if it has to stay."""
        used = self.used
        if any(not isinstance(s, ir.Assign) or s.effect for s in loop.body.statements):
            return None
        outer, lengths = (self.low.block, self.low.span), set(self.integers.lengths)
        self.low.block = ir.Block()
        try:
            self.integers.exist(ir.free_variables(loop.body))
            iterations = Iterations(loop, self.aliasing, self.integers, used)
            whole = Whole(iterations, self.low)
            if not whole.surely_runs and not self.missing.isdisjoint(ir.free_variables(loop.body)):
                return None
            whole.all_at_once()
            return self.low.block.statements
        except (Dependent, Unbatchable, UnsupportedError, NeedStatic):
            return None
        finally:
            self.low.block, self.low.span = outer
            self.integers.lengths = lengths


def asked_for(block: ir.Block, needed: Iterable[ir.Var]) -> set[ir.Var]:
    """The variables that are asked for, other than to be handed on and never asked for."""
    found = {*needed, *(v for r in block.results for v in ir.variables(r))}
    handed: list[tuple[tuple[ir.Var, ...], tuple[ir.Operand, ...]]] = []
    for s in ir.walk(block):
        match s:
            case ir.Assign():
                found.update(ir.uses(s))
            case ir.If():
                found.update(ir.variables(s.test))
                handed += zip(
                    ((t,) for t in s.targets),
                    zip(s.then.results, s.orelse.results, strict=False),
                    strict=False,
                )
            case ir.Loop():
                found.update(v for o in s.range or () for v in ir.variables(o))
                found.update(v for r in s.body.results[len(s.params) :] for v in ir.variables(r))
                for k, t in enumerate(s.targets):
                    handed.append(((t, s.params[k]), (s.inits[k], s.body.results[k])))
    size = -1
    while len(found) != size:
        size = len(found)
        for names, operands in handed:
            if not found.isdisjoint(names):
                found.update(v for o in operands for v in ir.variables(o))
    return found


def may_be_missing(block: ir.Block) -> set[ir.Var]:
    """The variables that may be undefined, or None, so that only what is run may use them."""
    found: set[ir.Operand] = {ir.UNDEFINED}
    size = 0
    while len(found) != size:
        size = len(found)
        for s in ir.walk(block):
            for target, ends in () if isinstance(s, ir.Assign) else ir.joins(s):
                if any(e in found or e == ir.Const(None) for e in ends):
                    found.add(target)
    return {v for v in found if isinstance(v, ir.Var)}


class Whole(Batch):
    """The walk through the body of a loop, which becomes that of all iterations at once."""

    def __init__(self, found: Iterations, low: Lowerer) -> None:
        self.low, self.found, self.aliasing = low, found, found.aliasing
        self.batched = set(found.moving) - {
            s.target for total in found.sums for s, _ in total.chain
        }
        self.inputs: set[ir.Var] = set()
        self.classes: set[ir.Var] = set()
        self.now: dict[ir.Var, Any] = dict(found.starts)
        self.rows: dict[ir.Var, Any] = {}
        self.uncopied: set[ir.Var] = set()  # views of rows
        self.size = self._trips()  # type: ignore[assignment]
        self.surely_runs = found.integers.is_natural(found.stop - found.start - constant(1))
        self.extents = [self._extent(s) for s in found.rows]

    @property
    def count(self) -> ir.Var:  # type: ignore[override]
        raise Unbatchable("the number of iterations")

    def _trips(self) -> Dimension:
        """How many iterations there are, as a dimension."""
        trips = self.found.stop - self.found.start
        if not trips.terms:
            if trips.constant < FEW:
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

    def all_at_once(self) -> None:
        """Append the statements for all iterations to the block of `low`."""
        found = self.found
        if not found.rows:
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

    # What stays as it is

    def keep(self, s: ir.Assign) -> None:
        """A statement that is the same for all iterations."""
        if not self.surely_runs and not self.is_harmless(s):
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
            return self._is_inside(s.args[0], s.args[1])
        if s.kwargs or not (isinstance(function, np.ufunc) or function in TOTAL):
            if function not in DIVISIONS or self.is_python(s):
                return False
        return fits(function, s.args, {})

    def _around(self) -> set[ir.Assign]:
        return {s for total in self.found.sums for s in (total.written,) if s is not None}

    def _is_inside(self, array: ir.Var, key: ir.Operand, but: int = -1) -> bool:
        """Whether an index has no item, `but` one, that is outside the array."""
        kind, axis = array.kind, 0
        if not isinstance(kind, Array) or kind.shape is None:
            return False
        integers = self.found.integers
        for position, item in enumerate(ir.items_of(key)):
            if isinstance(item, ir.Const) and item.value is None:
                continue
            if axis >= len(kind.shape):
                return False
            if not is_slice(item) and position != but:
                place, length = integers.of(item), integers.length(kind.shape[axis])
                if place is None or not integers.is_natural(length - place - constant(1)):
                    return False
                if not integers.is_natural(place) and not integers.is_natural(place + length):
                    return False
            axis += 1
        return True

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
        if not self.surely_runs and not fits(s.function, s.args, {}):
            raise Unbatchable("what may raise if the loop isn't run")
        if s.function is operator.add and is_zero(start):
            result = summed
        else:
            result = self.low.emit(s.function, pair, name=s.target.name)
        kind = s.target.kind
        if result.kind.shape != kind.shape or result.kind.dtype != kind.dtype:  # type: ignore[attr-defined]
            raise Unbatchable("a sum of another kind")
        if isinstance(kind, Scalar) and kind.python is True:
            raise Unbatchable("a sum of Python's numbers")
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
        writes = [i for i, w in enumerate(later) if root in map(self.aliasing.find, w.writes)]
        if not writes:
            return False
        readers = [(i, r) for i, r in enumerate(later) if s.target in ir.uses(r)]
        return any(i > writes[0] or not is_arithmetic(r.function) for i, r in readers)

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
        length = self.found.integers.length(rows.array.kind.shape[rows.axis])  # type: ignore[attr-defined]
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
        left, right = made.args
        if isinstance(right, ir.Const):
            sign = 1 if made.function is operator.add else -1
            return self.moved(left, at, plus + sign * right.value)
        moved = self.moved(left, at, plus), self.moved(right, at)
        if made.function is operator.add and is_zero(moved[0]):
            return moved[1]
        return moved[0] if is_zero(moved[1]) else self.low.emit(made.function, moved)

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
        if not self.surely_runs and not self._is_inside(rows.array, s.args[1], rows.position):
            raise Unbatchable("what may raise if the loop isn't run")
        shape = self._shape(s.args[0], s.args[1], rows)
        return tuple(n for i, n in enumerate(shape) if i != rows.kept)

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
        if self.surely_runs or not isinstance(value, ir.Var):
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
            if not all(is_slice(i) or self.found.integers.of(i) is not None for i in items):
                raise Unbatchable("an index that isn't a number or a slice")
            if not self.surely_runs and not self._is_inside(target, s.args[1]):
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
        self.check_arithmetic(s)
        function = registry.methods.get(s.function, s.function)
        known = (
            is_arithmetic(function) or function is operator.getitem
            or function in registry.batch_rules or function in registry.batch_axes
            or (isinstance(function, type) and issubclass(function, np.floating))
        )  # fmt: skip
        if not known or isinstance(s.function, ir.Unit):
            raise Unbatchable(f"{s.function} of rows")
        if not self.surely_runs and not self.is_harmless_of_rows(s, function):
            raise Unbatchable("what may raise if the loop isn't run")
        if not isinstance(s.target.kind, (Array, Scalar)):
            raise Unbatchable("a container")
        for operand in s.operands():
            self.materialized(operand)
        result = self.settled(self.applied(s), s)
        self.now[s.target] = result

    def is_harmless_of_rows(self, s: ir.Assign, function: Any) -> bool:
        """Whether a call with no rows raises nothing."""
        if function is operator.getitem:
            return isinstance(s.args[0], ir.Var) and self._is_inside(s.args[0], s.args[1])
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

    def is_covered(self, shape: tuple[Dimension, ...]) -> bool:
        """Whether some array has rows at least as large as these."""
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
        found, natural = self.found, self.found.integers.is_natural
        value = None if found.varies(operand) else found.integers.of(operand)
        if value is None:
            return False
        # the index is less than the loop's end, and not negative
        return natural(value - constant(1)) or (
            natural(found.start) and natural(value - found.stop)
        )

    @staticmethod
    def is_python(s: ir.Assign) -> bool:
        """Whether all operands of a call may be Python's own numbers."""
        return all(
            isinstance(o, ir.Const) or (
                isinstance(o, ir.Var) and isinstance(o.kind, Scalar) and o.kind.python is not False
            )
            for o in s.args
        )  # fmt: skip

    def materialized(self, operand: ir.Operand) -> ir.Operand:
        """An operand; if it is an index, the array of its values is made."""
        for v in ir.variables(operand):
            if v in self.batched and v not in self.now:
                self.now[v] = self.positions(v)
        return operand

    def positions(self, v: ir.Var) -> ir.Var:
        """The values of an index, in all iterations."""
        place = self.found.integers.of(v)
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
        if function in PRODUCTS and not s.kwargs and all(map(self.is_batched, s.args)):
            left, right = map(self.full, s.args)
            if self.rank(s.args[0]) == self.rank(s.args[1]) == 1:
                product = self.low.emit(operator.mul, (left, right))
                return self.low.emit(np.sum, (product,), {"axis": ir.Const(1)})
        raise Unbatchable(f"{s.function} of rows")

    def full(self, operand: ir.Operand, kind: Any = None) -> ir.Operand:
        if not self.is_batched(operand):
            raise Unbatchable("the same in each iteration")
        return super().full(self.materialized(operand), kind)


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


def is_zero(operand: ir.Operand) -> bool:
    """Whether an operand is the number zero."""
    return (
        isinstance(operand, ir.Const) and type(operand.value) in (int, float) and not operand.value
    )


def is_whole(item: ir.Operand) -> bool:
    """Whether an item of an index takes a whole axis."""
    return is_slice(item) and all(ir.is_constant(part, None) for part in slice_parts(item))


def sliced(start: ir.Operand, stop: ir.Operand) -> ir.Operand:
    """The operand for a slice from one place to another."""
    if isinstance(start, ir.Const) and isinstance(stop, ir.Const):
        return ir.Const(slice(start.value, stop.value))
    return ir.Pack(slice, (start, stop, ir.Const(None)))
