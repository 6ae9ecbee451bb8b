"""Batches: a program that is linear in some inputs, for many of them at once.

What depends on those inputs, and the memory it is written into, gets one more axis in front, with
a row for each; what doesn't stays as it is, and is computed once. How a primitive works on such
batches is said in `rules/batching.py`; one of which nothing is said is called for one row after
the other. Loops and branches never depend on the inputs, so they stay as they are.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from .. import ir
from ..analysis.aliasing import Aliasing
from ..analysis.inference import Inferred
from ..emit import runtime
from ..errors import Unbatchable
from ..frontend.lower import Lowerer
from ..frontend.operations import list_append
from ..kinds import INT, Array, Kind, ListOf, Opaque, Scalar, Size, TupleOf, is_float, parts_like
from ..rules import registry
from ..rules.batching import with_batch
from .application import parameters_of

ROW = (slice(None),)
IN_PLACE: frozenset[Any] = frozenset(
    {operator.iadd, operator.isub, operator.imul, operator.itruediv, operator.ipow}
)
AT: frozenset[Any] = frozenset({np.add.at, np.subtract.at, np.multiply.at})
# What returns its operand for a batch if and only if it does so for a row
ALIKE: frozenset[Any] = frozenset(
    {runtime.unbroadcast, runtime.as_dtype, runtime.project, runtime.writable}
)


def batch(
    function: ir.Function, low: Lowerer, inputs: list[ir.Var], count: ir.Var, results: list[int]
) -> None:
    """Make a function, in place, work on batches of some of its inputs.

    Args:
        function: the function; some of its statements may be calls of rules' results, which
            `low` lowers.
        low: emits statements.
        inputs: the variables that become batches; they are linear in what they stand for.
        count: the number of rows.
        results: the positions of the results that are batches, whether they depend on the
            inputs or not.

    Raises:
        Unbatchable: the function can't be made to.
    """
    assert isinstance(count.kind, Scalar) and isinstance(count.kind.size, Size)
    Batch(function, low, inputs, count).run(function, results)


COPIES: frozenset[Any] = frozenset(
    {runtime.as_dtype, runtime.project, runtime.own_copy, runtime.writable}
)


class Batch:
    def __init__(
        self, function: ir.Function, low: Lowerer, inputs: list[ir.Var], count: ir.Var
    ) -> None:
        self.low, self.count = low, count
        self.size: Size = count.kind.size  # type: ignore[attr-defined]
        self.aliasing = Aliasing(function.block)
        self.batched: set[ir.Var] = set(inputs)
        self.classes: set[ir.Var] = set()  # of memory that is batched
        self.now: dict[ir.Var, ir.Var] = {}  # what a batched variable is from now on
        self.rows: dict[ir.Var, Kind] = {}  # the kind of a row, of variables of a changed kind
        self.inputs = set(inputs)
        for v in inputs:
            self.mark(v)
        self.find(function.block)
        for v in inputs:
            self.change(v)

    def run(self, function: ir.Function, results: list[int]) -> None:
        self.block(function.block)
        self.low.block = function.block
        function.block.results = tuple(
            self.result(r) if i in results else self.known(r)
            for i, r in enumerate(function.block.results)
        )

    # What is batched

    def mark(self, v: ir.Var) -> bool:
        """Note that a variable is batched, with all memory it may share if that is written."""
        if v in self.batched and self.aliasing.find(v) in self.classes:
            return False
        new = v not in self.batched
        self.batched.add(v)
        if isinstance(v.kind, ListOf) or self.aliasing.is_written(v):
            root = self.aliasing.find(v)
            new = new or root not in self.classes
            self.classes.add(root)
        return new

    def is_batched(self, operand: ir.Operand) -> bool:
        return any(
            v in self.batched or self.aliasing.find(v) in self.classes
            for v in ir.variables(operand)
        )

    def find(self, block: ir.Block) -> None:
        """Find all that depends on the inputs, until nothing more is found."""
        while self._found(block):
            pass

    def _found(self, block: ir.Block) -> bool:
        found = False
        for s in block.statements:
            match s:
                case ir.Assign():
                    moving = any(map(self.is_batched, s.operands()))
                    if moving and not self.looks_only(s):
                        if s.writes:
                            for v in s.writes:
                                found |= self.mark(v)
                        if not isinstance(s.target.kind, Opaque):
                            found |= self.mark(s.target)
                case ir.If():
                    found |= self._found(s.then) | self._found(s.orelse)
                    for k, t in enumerate(s.targets):
                        if any(map(self.is_batched, (s.then.results[k], s.orelse.results[k]))):
                            found |= self.mark(t)
                case ir.Loop():
                    found |= self._found(s.body)
                    for k, (t, p) in enumerate(zip(s.targets, s.params, strict=True)):
                        meeting = (s.inits[k], s.body.results[k], t, p)
                        if any(map(self.is_batched, meeting)):
                            found |= any([self.mark(p), self.mark(t)])
        return found

    @staticmethod
    def looks_only(s: ir.Assign) -> bool:
        """Whether a statement only looks at shapes and dtypes."""
        record = registry.lookup(registry.methods.get(s.function, s.function))
        if s.function is getattr:
            return True
        return (record is not None and record.inert) or s.function in (
            np.zeros_like, np.ones_like, np.empty_like, np.may_share_memory, runtime.zero_like,
        )  # fmt: skip

    # Kinds and operands

    def kind(self, kind: Kind) -> Kind:
        """The kind of a batch of values of a kind."""
        match kind:
            case Array(dtype, shape):
                if shape is None:
                    raise Unbatchable("an array of unknown rank")
                return Array(dtype, (self.size, *shape))
            case Scalar(dtype):
                return Array(dtype, (self.size,))
            case TupleOf(items, type_):
                if type_ is not tuple:
                    raise Unbatchable("a named tuple")
                return TupleOf(tuple(map(self.kind, items)), type_)
            case ListOf(item):
                if isinstance(item, tuple):
                    return ListOf(parts_like(item, map(self.kind, item)))
                return ListOf(None if item is None else self.kind(item))
        return kind

    def known(self, operand: ir.Operand) -> ir.Operand:
        """The operand as it is from now on."""
        return ir.substitute(operand, lambda v: self.now.get(v, v))

    def full(self, operand: ir.Operand, kind: Kind | None = None) -> ir.Operand:
        """The operand as a batch, repeated if it is none."""
        if isinstance(operand, ir.Pack):
            if operand.type is slice:
                raise Unbatchable("a slice")
            return ir.Pack(operand.type, tuple(map(self.full, operand.items)))
        if self.is_batched(operand):
            assert isinstance(operand, ir.Var)
            return self.now.get(operand, operand)
        if operand is ir.UNDEFINED or (isinstance(operand, ir.Const) and operand.value is None):
            return operand
        kind = operand.kind if isinstance(operand, ir.Var) else kind
        if not isinstance(operand, ir.Var) or isinstance(kind, Scalar):
            if isinstance(kind, Array) and kind.shape != ():
                raise Unbatchable("a number that stands for an array")
            dtype = getattr(kind, "dtype", None) or np.asarray(operand.value).dtype  # type: ignore[union-attr]
            return self.low.emit(
                np.full, (self.count, operand), {"dtype": ir.Const(dtype)},
                inferred=Inferred(Array(dtype, (self.size,))),
            )  # fmt: skip
        if isinstance(kind, TupleOf):
            items = [
                self.full(self.low.emit(operator.getitem, (operand, ir.Const(i))))
                for i in range(len(kind.items))
            ]
            return self.joined(items, kind)
        if not isinstance(kind, Array):
            raise Unbatchable("something that isn't an array")
        return self.repeated(operand, operand.name)

    def joined(self, items: list[ir.Operand], kind: TupleOf) -> ir.Var:
        return self.low.emit(
            tuple, (ir.Pack(list, tuple(items)),), inferred=Inferred(self.kind(kind))
        )

    def repeated(self, operand: ir.Var, name: str) -> ir.Var:
        """A batch with equal rows, in memory of its own."""
        row = self.low.emit(operator.getitem, (operand, ir.Const(None)), name=name)
        return self.low.emit(
            np.repeat, (row, self.count, ir.Const(0)),
            inferred=Inferred(self.kind(operand.kind)), name=name,
        )  # fmt: skip

    def raised(self, operand: ir.Operand, rank: int) -> ir.Operand:
        """An operand that, if it is a batch, has a row of that rank."""
        if isinstance(operand, ir.Pack) and self.is_batched(operand):
            raise Unbatchable("a list in arithmetic")
        if not self.is_batched(operand):
            return operand
        assert isinstance(operand, ir.Var)
        own = self.rank(operand)
        now = self.now.get(operand, operand)
        if own == rank:
            return now
        key = ir.Const(ROW + (None,) * (rank - own))
        return self.low.emit(operator.getitem, (now, key), name=now.name)

    def rank(self, operand: ir.Operand) -> int:
        """The rank of a row of an operand."""
        if isinstance(operand, ir.Var):
            shape = getattr(self.row_kind(operand), "shape", None)
            if shape is None:
                raise Unbatchable("an array of unknown rank")
            return len(shape)
        if isinstance(operand, ir.Const):
            return np.ndim(operand.value)
        return 1

    def row_kind(self, v: ir.Var) -> Kind:
        """The kind of a row of a variable."""
        return self.rows.get(v, v.kind)

    # Statements

    def block(self, block: ir.Block) -> None:
        outer, statements = self.low.block, block.statements
        block.statements = []
        for s in statements:
            self.low.block = block
            self.low.span = s.span
            match s:
                case ir.Assign():
                    self.assign(s)
                case ir.If():
                    self.branch(s)
                case ir.Loop():
                    self.loop(s)
        self.low.block = outer

    def branch(self, s: ir.If) -> None:
        if self.is_batched(s.test):
            raise Unbatchable("a test of what depends on the direction")
        outer = self.low.block
        kinds = [t.kind for t in s.targets]
        for inner in (s.then, s.orelse):
            self.block(inner)
            self.low.block = inner
            inner.results = tuple(
                self.full(r, kind) if self.is_batched(t) else r
                for r, t, kind in zip(inner.results, s.targets, kinds, strict=True)
            )
        self.low.block = outer
        for t in s.targets:
            self.change(t)
        outer.statements.append(s)

    def loop(self, s: ir.Loop) -> None:
        if any(map(self.is_batched, s.range or ())):
            raise Unbatchable("a loop whose range depends on the direction")
        kinds = [p.kind for p in s.params]
        s.inits = tuple(
            self.full(i, kind) if self.is_batched(t) else i
            for i, t, kind in zip(s.inits, s.targets, kinds, strict=True)
        )
        outer = self.low.block
        for v in (*s.params, *s.targets):
            self.change(v)
        self.block(s.body)
        self.low.block = s.body
        count = len(s.params)
        own, flags = s.body.results[:count], s.body.results[count:]
        if any(map(self.is_batched, flags)):
            raise Unbatchable("a loop whose end depends on the direction")
        s.body.results = (
            *(
                self.full(r, kind) if self.is_batched(t) else r
                for r, t, kind in zip(own, s.targets, kinds, strict=True)
            ),
            *flags,
        )
        self.low.block = outer
        outer.statements.append(s)

    def change(self, v: ir.Var) -> None:
        if self.is_batched(v):
            self.rows[v] = v.kind
            v.kind = self.kind(v.kind)

    def assign(self, s: ir.Assign) -> None:
        moving = any(map(self.is_batched, s.operands()))
        if s.target in self.inputs:  # taken out of an argument
            self.low.block.statements.append(s)
            return
        if s.writes:
            if moving:
                self.write(s)
            else:
                self.low.block.statements.append(s)
            return
        if not self.is_batched(s.target):
            if moving:
                self.look(s)
            else:
                self.low.block.statements.append(s)
            return
        if not moving or self.looks_only(s):
            result = self.allocated(s)
        else:
            result = self.applied(s)
        self.now[s.target] = self.settled(result, s)

    def settled(self, result: ir.Var, s: ir.Assign) -> ir.Var:
        """A result with the kind that it must have."""
        kind = self.kind(s.target.kind)
        if isinstance(kind, Array):
            found = result.kind
            if isinstance(found, Array) and found.shape is not None:
                assert kind.shape is not None
                if len(found.shape) != len(kind.shape):
                    raise Unbatchable(f"{s.function} made rows of another rank")
                both = found.dtype is not None and kind.dtype is not None  # float64 == None
                if both and found.dtype != kind.dtype:
                    result = self.low.emit(
                        np.ndarray.astype, (result, ir.Const(kind.dtype)), inferred=Inferred(kind)
                    )
        result = self.apart(result, s)
        result.kind = kind
        result.name, result.user = s.target.name, s.target.user
        if self.aliasing.is_written(s.target) and s.views and isinstance(kind, Array):
            definition = self.definition(result)
            certain = s.certain and definition is not None and definition.certain
            view = definition is not None and definition.views
            if not (certain and view) and s.function not in ALIKE:
                raise Unbatchable("a view that is written")
        return result

    def definition(self, v: ir.Var) -> ir.Assign | None:
        """The statement that has just made a variable."""
        for s in reversed(self.low.block.statements):
            if isinstance(s, ir.Assign) and s.target is v:
                return s
        return None

    def apart(self, result: ir.Var, s: ir.Assign) -> ir.Var:
        """A copy, if the result is a view of what is written later, but the row was none."""
        definition = self.definition(result)
        if s.views or definition is None:
            return result
        written = any(self.aliasing.is_written(v) for o in s.operands() for v in ir.variables(o))
        if not (written and definition.views and isinstance(result.kind, Array)):
            return result
        return self.low.emit(np.ndarray.copy, (result,), inferred=Inferred(result.kind))

    def look(self, s: ir.Assign) -> None:
        """A statement that looks at the shape of a batch: it looks at the first row."""
        if not self.looks_only(s) and not isinstance(s.target.kind, Opaque):
            raise Unbatchable(f"{s.function} of what depends on the direction")
        if isinstance(s.target.kind, Opaque) and not self.looks_only(s):
            made = isinstance(s.function, type) or s.function is runtime.make_object
            change = self.result if made else self.known
            s.args = tuple(change(a) for a in s.args)
            s.kwargs = tuple((k, change(a)) for k, a in s.kwargs)
        else:
            s.args = tuple(ir.substitute(a, self.first) for a in s.args)
            s.kwargs = tuple((k, ir.substitute(a, self.first)) for k, a in s.kwargs)
        self.low.block.statements.append(s)

    def first(self, v: ir.Var) -> ir.Var:
        """The first row."""
        if not self.is_batched(v):
            return v
        now = self.now.get(v, v)
        if not isinstance(now.kind, Array):
            raise Unbatchable("the shape of a container")
        return self.low.emit(operator.getitem, (now, ir.Const(0)), name=v.name)

    def result(self, operand: ir.Operand) -> ir.Operand:
        """A result, each float in it a batch."""
        if isinstance(operand, ir.Pack):
            if operand.type is dict:  # of pairs of a key and an item
                pairs = [
                    ir.Pack(p.type, (p.items[0], self.result(p.items[1])))
                    for p in operand.items
                    if isinstance(p, ir.Pack)
                ]
                return ir.Pack(dict, tuple(pairs))
            return ir.Pack(operand.type, tuple(map(self.result, operand.items)))
        if isinstance(operand, ir.Var):
            if isinstance(operand.kind, ListOf):
                raise Unbatchable("a list")
            return self.full(operand) if is_float(operand.kind) else self.known(operand)
        if isinstance(operand, ir.Const) and isinstance(operand.value, (float, complex)):
            return self.full(operand)
        return operand

    def allocated(self, s: ir.Assign) -> ir.Var:
        """Memory that doesn't depend on the inputs, but into which what does is written."""
        kind = s.target.kind
        if isinstance(kind, ListOf):
            if (s.function is list and s.args == (ir.Pack(list, ()),)) or (
                isinstance(s.args[0], ir.Pack) and not s.args[0].items
            ):
                return self.low.emit(list, s.args, inferred=Inferred(self.kind(kind)))
            raise Unbatchable("a list")
        if s.function is np.zeros_like and isinstance(kind, Array) and s.args:
            like = self.first(s.args[0]) if isinstance(s.args[0], ir.Var) else s.args[0]
            if isinstance(like, ir.Var) and kind.dtype is not None and kind.shape is not None:
                size = self.full_shape(like)
                kwargs: dict[str, ir.Operand] = {}
                if kind.dtype != np.dtype(float):
                    kwargs["dtype"] = ir.Const(kind.dtype)
                return self.low.emit(np.zeros, (size,), kwargs, inferred=Inferred(self.kind(kind)))
        row = ir.Var(s.target.name, kind)
        args = tuple(ir.substitute(a, self.first) for a in s.args)
        kwargs_ = tuple((k, ir.substitute(a, self.first)) for k, a in s.kwargs)
        self.low.block.statements.append(
            ir.Assign(row, s.function, args, kwargs_, s.span, s.views, s.certain, (), s.effect)
        )
        full = self.full(row)
        assert isinstance(full, ir.Var)
        return full

    # Primitives

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
        if not batched:  # what is batched is one of many
            return None
        low: Any = self.low
        args = [low._value(self.packed(a)) for a in s.args]
        kwargs = {k: low._value(self.packed(a)) for k, a in s.kwargs}
        kwargs["batched"] = low.lift(batched, None)
        result = low.inline(rule, args, kwargs)
        if isinstance(result, ir.Const) and result.value is NotImplemented:
            return None
        operand = low.operand(result)
        if not isinstance(operand, ir.Var):
            raise Unbatchable(f"{s.function} made {operand}")
        return operand

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
        if isinstance(first, ir.Var) and registry.role(function, 0) == "arrays":
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
        rank, wanted = self.rank(value), len(like.kind.shape)  # type: ignore[attr-defined]
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

    def full_shape(self, like: ir.Var) -> ir.Pack:
        """The shape of a batch of arrays like one."""
        lengths = tuple(Scalar(INT.dtype, True, n) for n in like.kind.shape)  # type: ignore[attr-defined]
        shape = self.low.emit(np.shape, (like,), inferred=Inferred(TupleOf(lengths)), name="shape")
        items = [
            self.low.emit(operator.getitem, (shape, ir.Const(i)), inferred=Inferred(length))
            for i, length in enumerate(lengths)
        ]
        return ir.Pack(tuple, (self.count, *items))

    def finished(self, s: ir.Assign) -> ir.Var:
        value, like = s.args
        assert isinstance(like, ir.Var)
        if self.is_batched(like):
            like = self.first(like)
        known = self.raised(value, len(like.kind.shape))  # type: ignore[attr-defined]
        return self.low.emit(
            runtime.finished,
            (known, self.spread(like)),
            inferred=Inferred(self.kind(s.target.kind)),
        )

    # Indices

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
        items: tuple[ir.Operand, ...]
        if isinstance(key, ir.Pack) and key.type is tuple:
            items = key.items
        elif isinstance(key, ir.Const) and isinstance(key.value, tuple):
            items = tuple(map(ir.Const, key.value))
        else:
            items = (key,)
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

    # Writes

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
            self.low.emit(list_append, (now, item), inferred=Inferred(Opaque(None)), writes=(now,))
            return
        if s.function is operator.setitem and not self.is_batched(s.args[1]):
            self.low.emit(
                operator.setitem, (now, s.args[1], self.full(s.args[2])),
                inferred=Inferred(Opaque(None)), writes=(now,),
            )  # fmt: skip
            return
        if s.function is list.pop:
            views = (now,) if s.views else ()
            self.now[s.target] = self.low.emit(
                list.pop, (now, *s.args[1:]), name=s.target.name,
                inferred=Inferred(self.kind(s.target.kind), views), writes=(now,),
            )  # fmt: skip
            return
        raise Unbatchable(f"{s.function} of a list")

    # One row after the other

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
        self.low.emit(list_append, (rows, result), inferred=Inferred(Opaque(None)), writes=(rows,))
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
        if kind.shape is None:
            raise Unbatchable("an index of unknown rank")
        return len(kind.shape)
    return 0 if isinstance(kind, Scalar) else None


def _is_mask(item: ir.Operand) -> bool:
    kind = item.kind if isinstance(item, ir.Var) else None
    dtype = getattr(kind, "dtype", None)
    if isinstance(item, ir.Const) and isinstance(item.value, np.ndarray):
        dtype = item.value.dtype
    return dtype is not None and dtype.kind == "b"
