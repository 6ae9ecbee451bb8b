"""Batches: primitives of batches, as `rules/batching.py` says they work, or row by row."""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from .. import ir, runtime
from ..analysis.inference import Inferred
from ..errors import Unbatchable
from ..ir import list_append
from ..kinds import INT, Array, ListOf, Opaque, Scalar, TupleOf
from ..rules import registry
from ..rules.batching import with_batch
from ..rules.parameters import role
from .batched_values import Values
from .misfits import parameters_of

IN_PLACE: frozenset[Any] = frozenset(
    {operator.iadd, operator.isub, operator.imul, operator.itruediv, operator.ipow}
)
AT: frozenset[Any] = frozenset({np.add.at, np.subtract.at, np.multiply.at})
COPIES: frozenset[Any] = frozenset(
    {runtime.as_dtype, runtime.project, runtime.own_copy, runtime.writable}
)


class Calls(Values):
    """Calls, of which some operands are batches."""

    def applied(self, s: ir.Assign) -> ir.Var:
        """The result of a primitive on batches."""
        function = registry.methods.get(s.function, s.function)
        if function is operator.getitem:
            return self.subscript(s)
        if function is list and isinstance(s.target.kind, ListOf):
            return self.low.emit(
                list, tuple(map(self.full, s.args)), inferred=self._item(s), name=s.target.name
            )
        if isinstance(s.target.kind, ListOf) or function is list.pop:
            raise Unbatchable("a list")
        if isinstance(s.target.kind, TupleOf) and function is tuple:
            pack = s.args[0]
            assert isinstance(pack, ir.Pack)
            return self.joined([self.full(item) for item in pack.items], s.target.kind)
        if function is runtime.unbroadcast:
            return self.unbroadcast(s)
        if function is runtime.total:
            return self.sum_of_rows(s.args[0])
        if function is runtime.finished:
            return self.finished(s)
        if function is np.einsum:
            return self.einsum(s)
        ufunc = isinstance(function, np.ufunc) and function.signature is None
        elementwise = ufunc or function in registry.batch_elementwise
        cast = isinstance(function, type) and issubclass(function, np.generic)
        if elementwise or cast or function in COPIES:
            return self.elementwise(s, np.array if function is runtime.own_copy else function)
        rule = registry.batch_rules.get(function)
        if rule is not None:
            result = self.by_rule(s, rule)
            if result is not None:
                return result
        elif function in registry.batch_axes:
            return self.along_axis(s, function)
        record = registry.lookup(function)
        if record is not None and record.partials is not None:
            try:
                return self.elementwise(s, function)
            except Unbatchable:
                pass
        return self.row_by_row(s)

    def elementwise(self, s: ir.Assign, function: Any) -> ir.Var:
        ranks = [self.rank(o) for o in s.operands() if self.is_array(o)]
        rank = max(ranks, default=0)
        args = tuple(self.raised(a, rank) for a in s.args)
        kwargs = {k: self.raised(a, rank) for k, a in s.kwargs}
        return self.low.emit(function, args, kwargs)

    @staticmethod
    def is_array(operand: ir.Operand) -> bool:
        return isinstance(operand, ir.Var) and isinstance(operand.kind, (Array, Scalar))

    def by_rule(self, s: ir.Assign, rule: Any) -> ir.Var | None:
        names = parameters_of(rule)
        code = rule.__code__
        if len(s.args) > len(names) and not code.co_flags & 0x04:
            return None
        keywords = {*names, *code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]}
        if any(k not in keywords for k, _ in s.kwargs):
            return None
        named = [*zip(names, s.args, strict=False), *s.kwargs]
        batched = tuple(k for k, a in named if self.is_batched(a))
        if not batched or any(k not in registry.batchable[rule] for k in batched):
            return None
        if any(map(self.is_batched, s.args[len(names) :])):
            return None
        low: Any = self.low
        args = [self.abstract(self.packed(a)) for a in s.args]
        kwargs = {k: self.abstract(self.packed(a)) for k, a in s.kwargs}
        kwargs["batched"] = low.lift(batched, None)
        result = low.inline(rule, args, kwargs)
        if isinstance(result, ir.Const) and result.value is NotImplemented:
            return None
        operand = low.operand(result)
        if not isinstance(operand, ir.Var):
            raise Unbatchable(f"{s.function} made {operand}")
        return operand

    def abstract(self, operand: ir.Operand) -> Any:
        """The abstract value of an operand, as a rule is called with it."""
        low: Any = self.low
        return low._value(operand)

    def packed(self, operand: ir.Operand) -> ir.Operand:
        """The operand, of which all items are batches if one is."""
        if isinstance(operand, ir.Pack) and self.is_batched(operand):
            return self.full(operand)
        return self.known(operand)

    def along_axis(self, s: ir.Assign, function: Any) -> ir.Var:
        position, default, name = registry.batch_axes[function]
        first = s.args[0]
        if any(map(self.is_batched, s.args[1:])) or any(self.is_batched(a) for _, a in s.kwargs):
            return self.row_by_row(s)
        ranks = [self.rank(v) for v in ir.variables(first)]
        if isinstance(first, ir.Pack) and not all(isinstance(i, ir.Var) for i in first.items):
            return self.row_by_row(s)
        if isinstance(first, ir.Var) and role(function, 0) == "arrays":
            return self.row_by_row(s)  # its rows stand for a list
        rank = max(ranks)
        operand = self.packed(first)
        if position is None:
            return self.low.emit(s.function, (operand, *s.args[1:]), dict(s.kwargs))
        kwargs = dict(s.kwargs)
        given = s.args[position] if len(s.args) > position else kwargs.pop(name, None)
        if not isinstance(given, (ir.Const, ir.Pack, type(None))):
            return self.row_by_row(s)
        axis: Any
        if isinstance(given, ir.Pack):
            if not all(isinstance(i, ir.Const) for i in given.items):
                return self.row_by_row(s)
            axis = tuple(i.value for i in given.items if isinstance(i, ir.Const))
        elif given is None:
            axis = default
        else:
            axis = given.value
            if axis is None:
                axis = default if default in (registry.ALL, registry.FLAT) else None
        if axis is None or axis is registry.REQUIRED:
            return self.row_by_row(s)
        if axis is registry.ALL:
            axis = tuple(range(-rank, 0))
        elif axis is registry.FLAT:
            minus = ir.Pack(tuple, (self.count, ir.Const(-1)))
            operand = self.low.emit(np.reshape, (operand, minus))
            axis = -1
        else:
            out = rank + (len(np.atleast_1d(axis)) if function is np.expand_dims else 0)
            axis = _from_end(axis, out)
        if isinstance(axis, tuple) and len(axis) == 1:
            axis = axis[0]
        rest = s.args[1:]
        if len(s.args) > position:
            rest = (*s.args[1:position], ir.Const(axis), *s.args[position + 1 :])
        else:
            kwargs[name] = ir.Const(axis)
        return self.low.emit(function, (operand, *rest), kwargs)

    def einsum(self, s: ir.Assign) -> ir.Var:
        subscripts = s.args[0]
        numbers = tuple(i - 1 for i, a in enumerate(s.args) if i and self.is_batched(a))
        text = subscripts.value if isinstance(subscripts, ir.Const) else None
        batched = with_batch(text, numbers)
        if batched is None:
            return self.row_by_row(s)
        args = (ir.Const(batched), *map(self.known, s.args[1:]))
        return self.low.emit(np.einsum, args, dict(s.kwargs))

    def sum_of_rows(self, operand: ir.Operand) -> ir.Var:
        known = self.known(operand)
        axes = tuple(range(1, self.rank(operand) + 1))
        return self.low.emit(np.sum, (known,), {"axis": ir.Const(axes)})

    def unbroadcast(self, s: ir.Assign) -> ir.Var:
        """The sum over axes that were broadcast, of each row."""
        value, like = s.args
        assert isinstance(like, ir.Var)
        if self.is_batched(like):
            like = self.first(like)
        rank, wanted = self.rank(value), self.rank(like)
        known = self.raised(value, max(rank, wanted))
        assert isinstance(known, ir.Var)
        if rank > wanted:
            axes = tuple(range(1, 1 + rank - wanted))
            known = self.low.emit(np.sum, (known,), {"axis": ir.Const(axes)})
        return self.low.emit(
            runtime.unbroadcast, (known, self.spread(like)),
            inferred=Inferred(self.kind(s.target.kind), (known,), False),
        )  # fmt: skip

    def spread(self, like: ir.Var) -> ir.Var:
        """A view of an array, or a number, as a batch of equal rows."""
        return self.low.emit(
            np.broadcast_to, (like, self.full_shape(like)),
            inferred=Inferred(self.kind(like.kind), (like,)),
        )  # fmt: skip

    def finished(self, s: ir.Assign) -> ir.Var:
        value, like = s.args
        assert isinstance(like, ir.Var)
        if self.is_batched(like):
            like = self.first(like)
        known = self.raised(value, self.rank(like))
        return self.low.emit(
            runtime.finished,
            (known, self.spread(like)),
            inferred=Inferred(self.kind(s.target.kind)),
        )

    def subscript(self, s: ir.Assign) -> ir.Var:
        array, key = s.args
        if not isinstance(array, ir.Var) or self.is_batched(key):
            raise Unbatchable("an index that depends on the direction")
        now = self.now.get(array, array)
        if isinstance(now.kind, (ListOf, TupleOf)):
            return self.low.emit(
                operator.getitem, (now, key), inferred=self._item(s), name=s.target.name
            )
        rows, moved = self.rows_key(key)
        result = self.low.emit(operator.getitem, (now, rows))
        if moved:
            result = self.low.emit(np.moveaxis, (result, ir.Const(moved), ir.Const(0)))
        return result

    def _item(self, s: ir.Assign) -> Inferred:
        views = tuple(self.now.get(v, v) for v in s.views)
        return Inferred(self.kind(s.target.kind), views, s.certain)

    def rows_key(self, key: ir.Operand) -> tuple[ir.Operand, int]:
        """The key that indexes each row, and to which place that moves the axis of the rows."""
        items = ir.items_of(key)
        whole: ir.Operand = ir.Const(slice(None))
        return ir.Pack(tuple, (whole, *items)), self._apart(items)

    def _apart(self, items: tuple[ir.Operand, ...]) -> int:
        """How many axes arrays that index axes apart from each other put in front."""
        arrays = [_index_rank(i) for i in items]
        if not any(r is not None and r > 0 for r in arrays):
            return 0
        places = [i for i, r in enumerate(arrays) if r is not None]
        if places[-1] - places[0] + 1 == len(places):
            return 0
        if any(_is_mask(i) for i in items):
            raise Unbatchable("a mask apart from another index")
        return max(r for r in arrays if r is not None)

    def write(self, s: ir.Assign) -> None:
        target = s.writes[0]
        if isinstance(self.row_kind(target), ListOf):
            self.write_list(s)
            return
        if len(s.writes) > 1 or s.args[0] is not target or not self.is_batched(target):
            raise Unbatchable("a write of several arrays")
        now = self.now.get(target, target)
        nothing = Inferred(Opaque(None))
        if s.function in IN_PLACE:
            args: tuple[ir.Operand, ...] = (now, self.raised(s.args[1], self.rank(target)))
        elif s.function is operator.setitem or s.function in AT:
            key, value = s.args[1], s.args[2]
            if self.is_batched(key):
                raise Unbatchable("an index that depends on the direction")
            rows, moved = self.rows_key(key)
            if moved:
                raise Unbatchable("indices apart from each other")
            if self.is_batched(value):
                row = self.low.emit(operator.getitem, (self.first(target), key))
                shape = getattr(row.kind, "shape", None)
                self.low.block.statements.pop()
                if shape is None:
                    raise Unbatchable("an array of unknown rank")
                if self.rank(value) > len(shape):
                    raise Unbatchable("a value of more axes than it is written to")
                value = self.raised(value, len(shape))
            args = (now, rows, value)
        else:
            raise Unbatchable(f"{s.function} in place")
        self.low.emit(s.function, args, dict(s.kwargs), inferred=nothing, writes=(now,))

    def write_list(self, s: ir.Assign) -> None:
        items = s.writes[0]
        now = self.now.get(items, items)
        if s.function is list_append:
            item = self.full(s.args[1])
            self.low.modify(list_append, now, item)
            return
        if s.function is operator.setitem and not self.is_batched(s.args[1]):
            self.low.modify(operator.setitem, now, s.args[1], self.full(s.args[2]))
            return
        if s.function is list.pop:
            views = (now,) if s.views else ()
            self.now[s.target] = self.low.emit(
                list.pop, (now, *s.args[1:]), name=s.target.name,
                inferred=Inferred(self.kind(s.target.kind), views), writes=(now,),
            )  # fmt: skip
            return
        raise Unbatchable(f"{s.function} of a list")

    def row_by_row(self, s: ir.Assign) -> ir.Var:
        """A loop over the rows, for a primitive of which nothing is known."""
        kind = s.target.kind
        if s.effect or self.aliasing.is_written(s.target) or not isinstance(kind, (Array, Scalar)):
            raise Unbatchable(f"{s.function} of a batch")
        for operand in s.operands():
            for v in ir.variables(operand):
                if self.is_batched(v) and not isinstance(self.row_kind(v), (Array, Scalar)):
                    raise Unbatchable(f"{s.function} of a container")
        listed = ListOf(kind)
        rows = self.low.emit(list, (ir.Pack(list, ()),), inferred=Inferred(listed), name="rows")
        index = ir.Var("row", INT)
        outer, self.low.block = self.low.block, ir.Block()

        def row(v: ir.Var) -> ir.Operand:
            if not self.is_batched(v):
                return v
            return self.low.emit(operator.getitem, (self.now.get(v, v), index), name=v.name)

        args = tuple(ir.substitute(a, row) for a in s.args)
        kwargs = {k: ir.substitute(a, row) for k, a in s.kwargs}
        result = self.low.emit(s.function, args, kwargs, inferred=Inferred(kind))
        self.low.modify(list_append, rows, result)
        body, self.low.block = self.low.block, outer
        zero, one = ir.Const(0), ir.Const(1)
        outer.statements.append(
            ir.Loop(index, (zero, self.count, one), (), (), body, (), span=s.span)
        )
        return self.low.emit(np.stack, (rows,), inferred=Inferred(self.kind(kind)))


def _from_end(axis: Any, rank: int) -> Any:
    if isinstance(axis, (tuple, list)):
        return tuple(i if i < 0 else i - rank for i in axis)
    return axis if axis < 0 else axis - rank


def _index_rank(item: ir.Operand) -> int | None:
    """The rank of an item of an index: of an array or an int; None of slices and the like."""
    if isinstance(item, ir.Pack):
        return 1 if item.type is list else None
    if isinstance(item, ir.Const):
        if isinstance(item.value, (np.ndarray, list)):
            return np.ndim(item.value)
        return 0 if isinstance(item.value, (int, np.integer)) else None
    kind = item.kind
    if isinstance(kind, Array):
        if kind.shape is None or kind.dtype is None:  # which may be a mask
            raise Unbatchable("an index of unknown rank or dtype")
        return len(kind.shape)
    return 0 if isinstance(kind, Scalar) else None


def _is_mask(item: ir.Operand) -> bool:
    kind = item.kind if isinstance(item, ir.Var) else None
    dtype = getattr(kind, "dtype", None)
    if isinstance(item, ir.Const) and isinstance(item.value, np.ndarray):
        dtype = item.value.dtype
    return dtype is not None and dtype.kind == "b"
