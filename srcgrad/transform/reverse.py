"""Reverse mode: from a function to the function that also runs it backwards.

The forward sweep is the function itself, with what the reverse sweep needs added to it; the
reverse sweep walks its statements backwards, and for each active one inlines the adjoint rule.

There are two kinds of adjoint. A value that is never written in place has a *value adjoint*:
contributions are added up. Memory that is written in place has a *shadow*: an array (or list) of
adjoints made where the primal one is made, and passed on wherever the primal one is: the shadow
of a view is the same view of the shadow. So shadows alias exactly as the primal arrays do, and
aliasing needs no analysis to be right. An array that a loop reads again and again has its adjoint
in a *buffer*, into which contributions are added in place.

The reverse sweep refers to variables of the forward sweep as if they were still there; which of
them must be recorded is decided afterwards (`recording.py`).
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from .. import ir
from ..analysis.activity import Activity, carries
from ..analysis.aliasing import Aliasing, holds_memory
from ..analysis.inference import Inferred
from ..emit import runtime
from ..errors import UnsupportedError
from ..frontend.builder import list_append
from ..frontend.lower import Lowerer
from ..frontend.values import ListObject, Place, Ref, Slice, Tuple
from ..kinds import BOOL, INT, Array, Kind, ListOf, Opaque, Scalar, Size, TupleOf
from ..rules import registry

NONE = ir.Const(None)


class Adjoint(Lowerer):
    """Emits the reverse sweep; a Lowerer, because rules are lowered like any function."""

    def __init__(self, function: ir.Function, inputs: list[ir.Var], outputs: list[ir.Var]) -> None:
        super().__init__()
        self.fixed_span = True
        self.aliasing = Aliasing(function.block)
        self.activity = Activity(function.block, inputs, outputs, self.aliasing)
        self.function = function
        self.inputs = frozenset(inputs)
        self.shadows: dict[ir.Var, ir.Var] = {}
        self.adjoints: dict[ir.Var, Any] = {}
        self.buffers: dict[ir.Var, ir.Var] = {}
        self.parts: dict[ir.Var, dict[int, Any]] = {}
        self.live_buffers: set[ir.Var] = set()
        self.definitions: dict[ir.Var, ir.Assign] = {}
        self.snapshots: dict[ir.Assign, dict[ir.Var, ir.Var]] = {}
        self.counts: dict[ir.Loop, ir.Var] = {}
        self.shares: dict[ir.Assign, ir.Var] = {}
        self.mirrors: dict[int, ir.Block] = {}
        self.indices: dict[ir.Var, ir.Var] = {}
        self.loops: list[set[ir.Var]] = []
        self.last_write: dict[ir.Var, int] = {}
        self.position = 0
        self.loop_writes: list[set[ir.Var]] = []

    def emit(self, *args: Any, **kwargs: Any) -> ir.Var:
        var = super().emit(*args, **kwargs)
        statement = self.block.statements[-1]
        if isinstance(statement, ir.Assign) and statement.target is var:
            self.definitions[var] = statement
        return var

    # The forward sweep

    def shadowed(self, var: Any) -> bool:
        """Whether a variable's adjoint is a shadow."""
        return (
            isinstance(var, ir.Var)
            and isinstance(var.kind, (Array, ListOf))
            and (isinstance(var.kind, ListOf) or self.aliasing.is_written(var))
            and self.activity.active(var)
        )

    def augment(self, block: ir.Block) -> ir.Block:
        """The forward sweep: the block with shadows, snapshots and trip counts added."""
        order: dict[ir.Var, int] = {}
        for number, statement in enumerate(ir.walk(block)):
            if isinstance(statement, ir.Assign):
                for v in statement.writes:
                    order[self.aliasing.find(v)] = number
        self.last_write = order
        self.position = -1
        return self._augmented(block)

    def _written_later(self, var: ir.Var) -> bool:
        root = self.aliasing.find(var)
        if any(root in writes for writes in self.loop_writes):
            return True
        return self.last_write.get(root, -1) >= self.position

    def _augmented(self, block: ir.Block) -> ir.Block:
        outer, self.block = self.block, ir.Block()
        result = self.block
        for s in block.statements:
            self.position += 1
            match s:
                case ir.Assign():
                    self.span = s.span
                    self._augment_assign(s)
                case ir.If():
                    s.then, s.orelse = self._augmented(s.then), self._augmented(s.orelse)
                    twins = []
                    for k, target in enumerate(s.targets):
                        if self.shadowed(target):
                            a, b = s.then.results[k], s.orelse.results[k]
                            twin = self._twin(target)
                            twins.append((self._shadow_of(a), self._shadow_of(b), twin))
                    s.then.results += tuple(t[0] for t in twins)
                    s.orelse.results += tuple(t[1] for t in twins)
                    s.targets += tuple(t[2] for t in twins)
                    self.block.statements.append(s)
                case ir.Loop():
                    self._augment_loop(s)
        result.results = block.results
        self.block = outer
        return result

    def _twin(self, var: ir.Var) -> ir.Var:
        twin = ir.Var(f"d_{var.name}", self._shadow_kind(var.kind))
        self.shadows[var] = twin
        self.live_buffers.add(twin)
        return twin

    @staticmethod
    def _shadow_kind(kind: Kind) -> Kind:
        return kind

    def _shadow_of(self, operand: ir.Operand) -> ir.Operand:
        if isinstance(operand, ir.Var) and operand in self.shadows:
            return self.shadows[operand]
        return ir.UNDEFINED

    def _augment_loop(self, s: ir.Loop) -> None:
        writes = {
            self.aliasing.find(v)
            for inner in ir.walk(s.body)
            if isinstance(inner, ir.Assign)
            for v in inner.writes
        }
        twins = [(k, self._twin(p)) for k, p in enumerate(s.params) if self.shadowed(p)]
        inits = tuple(self._shadow_of(s.inits[k]) for k, _ in twins)
        finals = tuple(self._twin(s.targets[k]) for k, _ in twins)
        self.loop_writes.append(writes)
        body = self._augmented(s.body)
        self.loop_writes.pop()
        results = tuple(self._shadow_of(s.body.results[k]) for k, _ in twins)
        params = tuple(twin for _, twin in twins)
        flags = body.results[len(s.params) :]
        own = body.results[: len(s.params)]
        if s.range is None or s.exits:
            count = ir.Var("trips", INT)
            outer, self.block = self.block, body
            more = self.emit(operator.add, (count, ir.Const(1)), name="trips")
            self.block = outer
            final = ir.Var("trips", INT)
            self.counts[s] = final
            params, inits = (*params, count), (*inits, ir.Const(0))
            results, finals = (*results, more), (*finals, final)
        body.results = (*own, *results, *flags)
        s.body, s.params, s.inits = body, s.params + params, s.inits + inits
        s.targets += finals
        self.block.statements.append(s)

    def _augment_assign(self, s: ir.Assign) -> None:
        involved = any(self.activity.is_varied(o) for o in s.operands())
        active = involved and (
            self.activity.active(s.target) or any(self.activity.active(v) for v in s.writes)
        )
        copies: dict[ir.Var, ir.Var] = {}
        if active and not (s.views and s.certain and self.shadowed(s.target)):
            for operand in s.operands():
                for v in ir.variables(operand):
                    if v not in copies and self._needs_snapshot(v):
                        copies[v] = self.emit(
                            np.ndarray.copy,
                            (v,),
                            inferred=Inferred(v.kind),
                            name=v.name,
                        )
        self.block.statements.append(s)
        self.definitions[s.target] = s
        if self.shadowed(s.target):
            self._make_shadow(s)
        if active and self._needs_snapshot(s.target) and not s.views:
            copies[s.target] = self.emit(
                np.ndarray.copy, (s.target,), inferred=Inferred(s.target.kind), name=s.target.name
            )
        if copies:
            self.snapshots[s] = copies
        if not active:
            return
        first = s.args[0] if s.args else None
        if isinstance(first, ir.Var) and first in self.shadows and isinstance(first.kind, ListOf):
            self._augment_list(s, self.shadows[first])

    def _needs_snapshot(self, v: ir.Var) -> bool:
        return isinstance(v.kind, Array) and self.aliasing.is_written(v) and self._written_later(v)

    def _make_shadow(self, s: ir.Assign) -> None:
        """Emit the shadow of a new array, view or list."""
        target = s.target
        if isinstance(target.kind, ListOf):
            if s.function is list:
                zeros = tuple(self._zero_item(item) for item in _pack_items(s.args))
                shadow = self.emit(
                    list, (ir.Pack(list, zeros),), inferred=Inferred(target.kind)
                )
                shadow.name = f"d_{target.name}"
                self._adopt(target, shadow)
                return
            raise UnsupportedError(
                "a slice or copy of a list that is built in a loop can't be differentiated",
                s.span,
                "use its items one by one",
            )
        views = [v for v in s.views if v in self.shadows]
        if any(isinstance(v.kind, ListOf) for v in views):
            raise UnsupportedError(
                "an array kept in a list that is built in a loop is written in place",
                s.span,
                "make a copy of it first",
            )
        if not views:
            self._adopt(target, self._zeros_like(target))
            return

        def mirror() -> ir.Var:
            args = tuple(ir.substitute(a, lambda v: self.shadows[v] if v in views else v)
                         for a in s.args)
            kwargs = {k: v for k, v in s.kwargs}
            return self.emit(
                s.function,
                args,
                kwargs,
                inferred=Inferred(target.kind, tuple(self.shadows[v] for v in views)),
                name=f"d_{target.name}",
            )

        if s.certain:
            self._adopt(target, mirror())
            return
        shares = self.emit(
            np.may_share_memory, (target, views[0]), inferred=Inferred(BOOL), name="shares"
        )
        self.shares[s] = shares
        outer = self.block
        then, orelse = ir.Block(), ir.Block()
        self.block = then
        then.results = (mirror(),)
        self.block = orelse
        orelse.results = (self._zeros_like(target),)
        self.block = outer
        shadow = ir.Var(f"d_{target.name}", target.kind)
        self.block.statements.append(ir.If(shares, then, orelse, (shadow,), s.span))
        self._adopt(target, shadow)

    def _adopt(self, var: ir.Var, shadow: ir.Var) -> None:
        self.shadows[var] = shadow
        self.live_buffers.add(shadow)

    def _zeros_like(self, var: ir.Var) -> ir.Var:
        kind = var.kind
        if isinstance(kind, Array) and kind.shape is None:
            return self.emit(
                runtime.zero_like, (var,), inferred=Inferred(kind), name=f"d_{var.name}"
            )
        return self.emit(
            np.zeros_like, (var,), inferred=Inferred(kind), name=f"d_{var.name}"
        )

    def _zero_item(self, operand: ir.Operand) -> ir.Operand:
        """A zero adjoint for a list item."""
        if isinstance(operand, ir.Pack):
            return ir.Pack(operand.type, tuple(self._zero_item(item) for item in operand.items))
        if isinstance(operand, ir.Var):
            if isinstance(operand.kind, ListOf):
                if operand in self.shadows:
                    return self.shadows[operand]
                return ir.Const(None)
            if isinstance(operand.kind, Array):
                return self._zeros_like(operand)
        return ir.Const(0.0)

    def _augment_list(self, s: ir.Assign, shadow: ir.Var) -> None:
        """Keep the shadow of a list as long as the list."""
        if s.function is list_append:
            item = self._zero_item(s.args[1])
            self.emit(
                list_append,
                (shadow, item),
                inferred=Inferred(Opaque(None)),
                writes=(shadow,),
            )
        elif s.function is list.pop:
            self.emit(
                list.pop,
                (shadow, *s.args[1:]),
                inferred=Inferred(s.target.kind),
                writes=(shadow,),
                name="dropped",
            )

    # Adjoints of variables

    def add(self, var: ir.Var, contribution: Any) -> None:
        """Add a contribution to the adjoint of a variable."""
        if not self.activity.active(var):
            return
        if isinstance(contribution, ir.Const) and (
            contribution.value is None
            or (isinstance(contribution.value, (int, float)) and contribution.value == 0)
        ):
            return
        if isinstance(var.kind, ListOf):
            self._add_list(var, contribution)
            return
        if isinstance(var.kind, TupleOf):
            items = self.unpacked(contribution)
            parts = self.parts.setdefault(var, {})
            for i, item in enumerate(items):
                parts[i] = self._sum(parts[i], item) if i in parts else item
            return
        operand = self.operand(contribution)
        if isinstance(operand, ir.Pack):
            operand = self.number(contribution)
        value = self.fit(operand, var.kind, var)
        into = self.shadows.get(var) or self.buffers.get(var)
        if into is not None:
            self._accumulate(into, value)
            return
        old = self.adjoints.get(var)
        if old is None:
            self.adjoints[var] = self.settled(value, var)
        else:
            self.adjoints[var] = self.emit(operator.add, (old, value), name=f"d_{var.name}")

    def _accumulate(self, into: ir.Var, value: ir.Operand) -> None:
        self.emit(
            operator.iadd, (into, value), inferred=Inferred(Opaque(None)), writes=(into,)
        )

    def _sum(self, a: Any, b: Any) -> Any:
        return self.emit(operator.add, (self.operand(a), self.operand(b)))

    def settled(self, value: ir.Operand, var: ir.Var) -> ir.Operand:
        """The value as an adjoint that nothing will change: a copy if it is part of a buffer."""
        if not isinstance(value, ir.Var):
            return value
        if self._aliases_buffer(value, set()):
            return self.emit(
                np.ndarray.copy, (value,), inferred=Inferred(value.kind), name=f"d_{var.name}"
            )
        if not value.user and not value.name.startswith("d_"):
            value.name = f"d_{var.name}"
        return value

    def _aliases_buffer(self, var: ir.Var, seen: set[ir.Var]) -> bool:
        if var in self.live_buffers:
            return True
        if var in seen:
            return False
        seen.add(var)
        definition = self.definitions.get(var)
        if definition is None:
            return False
        return any(self._aliases_buffer(v, seen) for v in definition.views)

    def take(self, var: ir.Var) -> Any:
        """The complete adjoint of a variable whose definition is reached, None if it is zero."""
        self.parts.get(var)
        if var in self.buffers:
            buffer = self.buffers.pop(var)
            self.live_buffers.discard(buffer)
            return buffer
        if isinstance(var.kind, TupleOf):
            parts = self.parts.pop(var, None)
            if parts is None:
                return None
            return Tuple(
                tuple(
                    parts[i] if i in parts else self._zero_part(var, i, kind)
                    for i, kind in enumerate(var.kind.items)
                ),
                var.kind.type if var.kind.type is not list else tuple,
            )
        return self.adjoints.pop(var, None)

    def _zero_part(self, var: ir.Var, i: int, kind: Kind) -> Any:
        if isinstance(kind, Array) and carries(kind):
            item = self.emit(operator.getitem, (var, ir.Const(i)), inferred=Inferred(kind))
            return self._zeros_like(item)
        return ir.Const(0.0)

    def zero(self, var: ir.Var) -> ir.Operand:
        """A zero adjoint for a variable."""
        if isinstance(var.kind, Array):
            return self._zeros_like(var)
        return ir.Const(0.0)

    def buffer(self, var: ir.Var) -> ir.Var:
        """The buffer into which a variable's adjoint is accumulated in place."""
        into = self.shadows.get(var) or self.buffers.get(var)
        if into is not None:
            return into
        old = self.adjoints.pop(var, None)
        if old is None:
            into = self._zeros_like(var)
        else:
            into = self.emit(
                np.array, (old,), inferred=Inferred(var.kind), name=f"d_{var.name}"
            )
        self.buffers[var] = into
        self.live_buffers.add(into)
        return into

    # Shapes and dtypes of contributions

    def fit(self, value: ir.Operand, kind: Kind, like: ir.Var) -> ir.Operand:
        """Give a contribution the shape and dtype of the variable it belongs to."""
        if not isinstance(value, ir.Var) or not isinstance(kind, (Array, Scalar)):
            if isinstance(value, ir.Const) and isinstance(kind, Array):
                return self._spread(value, kind, like)
            return value
        if not isinstance(value.kind, (Array, Scalar)):
            return value
        value = self._reduced(value, kind, like)
        have = value.kind
        assert isinstance(have, (Array, Scalar))
        if kind.dtype is not None and kind.dtype.kind != "c":
            if have.dtype is None:
                if kind.dtype.kind == "f":
                    value = self.emit(
                        runtime.as_dtype, (value, ir.Const(kind.dtype)),
                        inferred=Inferred(_with_dtype(have, kind.dtype), (value,), False),
                    )
            elif have.dtype.kind == "c":
                value = self.emit(np.real, (value,), name=f"d_{like.name}")
                have = value.kind
        if (
            kind.dtype is not None
            and isinstance(have, (Array, Scalar))
            and have.dtype is not None
            and have.dtype != kind.dtype
            and kind.dtype.kind in "fc"
            and have.dtype.kind in "fc"
            and not (isinstance(kind, Scalar) and kind.python is not False)
            and not (isinstance(have, Scalar) and have.python is not False)
        ):
            value = self.cast(value, kind.dtype)
        return value

    def cast(self, value: ir.Var, dtype: np.dtype[Any]) -> ir.Var:
        if isinstance(value.kind, Array) and value.kind.shape is not None:
            return self.emit(
                np.ndarray.astype,
                (value, ir.Const(dtype)),
                inferred=Inferred(Array(dtype, value.kind.shape)),
                name=value.name,
            )
        if isinstance(value.kind, Scalar):
            return self.emit(dtype.type, (value,), inferred=Inferred(Scalar(dtype, False)))
        return self.emit(
            runtime.as_dtype, (value, ir.Const(dtype)),
            inferred=Inferred(_with_dtype(value.kind, dtype), (value,), False),
        )

    def _reduced(self, value: ir.Var, kind: Array | Scalar, like: ir.Var) -> ir.Var:
        """Sum a contribution over the axes along which its operand was broadcast."""
        assert isinstance(value.kind, (Array, Scalar))
        have, want = value.kind.shape, kind.shape
        if have == want and have is not None:
            return value
        if want == ():
            if have is None:
                return self.emit(
                    runtime.total, (value,), inferred=Inferred(Scalar(_dtype(value.kind), False))
                )
            return self.emit(np.sum, (value,), name=f"d_{like.name}")
        if have is None or want is None:
            return self._unbroadcast(value, kind, like)
        if len(have) < len(want):
            return self._spread(value, kind, like)
        extra = len(have) - len(want)
        axes = list(range(extra))
        keep: list[int] = []
        for axis, (m, n) in enumerate(zip(have[extra:], want, strict=True)):
            if m == n:
                continue
            if n == 1:
                keep.append(axis + extra)
            elif m == 1:
                return self._spread(value, kind, like)
            elif isinstance(n, Size) and n.never_one:
                continue
            elif isinstance(n, int):
                continue
            else:
                return self._unbroadcast(value, kind, like)
        if not axes and not keep:
            return self._as(value, kind)
        if keep and axes:
            value = self.emit(
                np.sum, (value,), {"axis": ir.Const(tuple(axes) if len(axes) > 1 else axes[0])}
            )
            keep = [k - extra for k in keep]
            axes = []
        every = tuple(axes or keep)
        kwargs: dict[str, ir.Operand] = {"axis": ir.Const(every[0] if len(every) == 1 else every)}
        if keep:
            kwargs["keepdims"] = ir.Const(True)
        assert isinstance(value.kind, (Array, Scalar))
        return self.emit(
            np.sum,
            (value,),
            kwargs,
            inferred=Inferred(Array(value.kind.dtype, want)),
            name=f"d_{like.name}",
        )

    def _as(self, value: ir.Var, kind: Array | Scalar) -> ir.Var:
        """The same variable, known by now to have the shape of `kind`."""
        return value

    def _unbroadcast(self, value: ir.Var, kind: Array | Scalar, like: ir.Var) -> ir.Var:
        return self.emit(
            runtime.unbroadcast,
            (value, like),
            inferred=Inferred(_with_shape(value.kind, kind), (value,), False),
            name=f"d_{like.name}",
        )

    def _spread(self, value: ir.Operand, kind: Array, like: ir.Var) -> ir.Var:
        shape = self.emit(
            np.shape, (like,), inferred=Inferred(TupleOf(
                tuple(Scalar(INT.dtype, True, n) for n in kind.shape or ())
            )),
            name="shape",
        )
        views = (value,) if isinstance(value, ir.Var) else ()
        dtype = value.kind.dtype if isinstance(value, ir.Var) else kind.dtype  # type: ignore[union-attr]
        return self.emit(
            np.broadcast_to, (value, shape), inferred=Inferred(Array(dtype, kind.shape), views),
            name=f"d_{like.name}",
        )

    # The reverse sweep

    def reverse(self, block: ir.Block) -> None:
        """Emit the adjoint statements of a block, last statement first."""
        for s in reversed(block.statements):
            self.span = s.span
            match s:
                case ir.Assign():
                    self._reverse_assign(s)
                case ir.If():
                    self._reverse_if(s)
                case ir.Loop():
                    self._reverse_loop(s)

    def _reverse_assign(self, s: ir.Assign) -> None:
        if s.target in self.inputs:  # taken out of a container: its adjoint is a result
            return
        if s.target in self.shadows and any(s.target is v for v in self.shadows.values()):
            return
        if s.writes:
            self._reverse_write(s)
            return
        first = s.args[0] if s.args else None
        if s.target in self.shadows:
            if isinstance(s.target.kind, ListOf):
                self._reverse_list(s)
                return
            if s.views and any(v in self.shadows for v in s.views):
                if not s.certain:
                    self._reverse_copy(s)
                return
            d_out: Any = self.shadows[s.target]
            self.live_buffers.discard(d_out)
        else:
            d_out = self.take(s.target)
        if d_out is None:
            return
        if isinstance(first, ir.Var):
            if s.function is operator.getitem and isinstance(first.kind, TupleOf):
                key = s.args[1]
                assert isinstance(key, ir.Const)
                self._add_part(first, key.value, d_out)
                return
            if isinstance(first.kind, ListOf) and s.function is operator.getitem:
                self._add_to_item(self.shadows[first], self._key(s), d_out)
                return
        self.apply(s, d_out)

    def _key(self, s: ir.Assign) -> ir.Operand:
        return s.args[1]

    def _add_part(self, var: ir.Var, i: int, d_out: Any) -> None:
        if not self.activity.active(var):
            return
        if self._source(var) is not None:
            items, key = self._source(var)  # type: ignore[misc]
            old = self.subscript(self._list_value(items), key)
            assert isinstance(old, Tuple)
            new = list(old.items)
            new[i] = self._added(new[i], d_out)
            self.emit(
                operator.setitem,
                (items, key, self.operand(Tuple(tuple(new)))),
                inferred=Inferred(Opaque(None)),
                writes=(items,),
            )
            return
        parts = self.parts.setdefault(var, {})
        parts[i] = self._sum(parts[i], d_out) if i in parts else d_out

    def _source(self, var: ir.Var) -> tuple[ir.Var, ir.Operand] | None:
        return None

    def _list_value(self, var: ir.Var) -> Ref:
        ref = Ref(self.unique())
        self.state.heap[ref.id] = ListObject((), var)
        return ref

    def _add_to_item(self, shadow: ir.Var, key: ir.Operand, d_out: Any) -> None:
        """`shadow[key] += d_out` for a list of adjoints."""
        assert isinstance(shadow.kind, ListOf)
        old = self.subscript(self._list_value(shadow), key)
        new = self._added(old, d_out)
        self.emit(
            operator.setitem,
            (shadow, key, self.operand(new)),
            inferred=Inferred(Opaque(None)),
            writes=(shadow,),
        )

    def _added(self, old: Any, new: Any) -> Any:
        if isinstance(old, Tuple):
            items = self.unpacked(new) if not isinstance(new, Tuple) else new.items
            return Tuple(tuple(self._added(a, b) for a, b in zip(old.items, items, strict=True)))
        if isinstance(new, ir.Const) and (new.value is None or new.value == 0):
            return old
        if isinstance(old, ir.Var) and isinstance(old.kind, ListOf):
            return old
        if isinstance(old, ir.Var) and not carries(old.kind):
            return old
        return self.emit(operator.add, (self.operand(old), self.operand(new)))

    def _add_list(self, var: ir.Var, contribution: Any) -> None:
        """Add a list of contributions, item by item."""
        shadow = self.shadows[var]
        sequence = self.require(contribution)

        def body(index: Any) -> None:
            self._add_to_item(shadow, self.operand(index), sequence.item(index))

        self.iterate(self.builtin_range(sequence.length), body, "i")

    def _reverse_list(self, s: ir.Assign) -> None:
        shadow = self.shadows[s.target]
        for i, operand in enumerate(_pack_items(s.args)):
            self._spill(operand, self.subscript(self._list_value(shadow), ir.Const(i)))

    def _spill(self, operand: ir.Operand, d: Any) -> None:
        """Add the adjoint of a list item to what the item was made of."""
        if isinstance(operand, ir.Pack):
            for item, part in zip(operand.items, self.unpacked(d), strict=True):
                self._spill(item, part)
        elif isinstance(operand, ir.Var) and not isinstance(operand.kind, ListOf):
            self.add(operand, d)

    def _reverse_write(self, s: ir.Assign) -> None:
        written = s.writes[0]
        if written not in self.shadows:
            if self.activity.active(written):
                raise UnsupportedError(
                    f"{_name(s.function)} writes in place something that has no adjoint", s.span
                )
            self._refuse_integer_store(s, written)
            return
        shadow = self.shadows[written]
        if isinstance(written.kind, ListOf):
            self._reverse_list_write(s, shadow)
            return
        rule = registry.inplace_rules.get(s.function)
        if rule is None:
            raise UnsupportedError(
                f"{_name(s.function)} has no reverse rule", s.span, HOW_TO_ADD
            )
        values = self._values(s)
        kwargs = self._named(s)
        result = self.inline(rule, values, {**kwargs, "d_x": shadow})  # type: ignore[arg-type]
        contributions = self._contributions(result)
        for operand, c in zip(s.args[1:], contributions[1:], strict=True):
            self.distribute(operand, c)

    def _refuse_integer_store(self, s: ir.Assign, written: ir.Var) -> None:
        if (
            isinstance(written.kind, Array)
            and written.kind.dtype is not None
            and written.kind.dtype.kind in "iu"
            and any(self.activity.active(v) for o in s.args[1:] for v in ir.variables(o))
        ):
            raise UnsupportedError(
                f"a float is written into {written.name!r}, an array of ints: it would be cut off",
                s.span,
                "make it an array of floats, for example np.zeros(n) or x.astype(float)",
            )

    def _reverse_list_write(self, s: ir.Assign, shadow: ir.Var) -> None:
        assert isinstance(shadow.kind, ListOf)
        if s.function is list_append:
            d = self.project(
                self.emit(
                    list.pop,
                    (shadow,),
                    inferred=Inferred(_structure(shadow.kind.item), (shadow,)),
                    writes=(shadow,),
                    name="d_item",
                )
            )
            self._spill(s.args[1], d)
        elif s.function is list.pop:
            d = self._popped(s)
            if len(s.args) > 1:
                self.emit(
                    list.insert,
                    (shadow, s.args[1], self.operand(d)),
                    inferred=Inferred(Opaque(None)),
                    writes=(shadow,),
                )
                return
            self.emit(
                list_append,
                (shadow, self.operand(d)),
                inferred=Inferred(Opaque(None)),
                writes=(shadow,),
            )
        elif s.function is operator.setitem:
            key, value = s.args[1], s.args[2]
            d = self.subscript(self._list_value(shadow), key)
            zero = self._zero_item(value)
            self.emit(
                operator.setitem,
                (shadow, key, zero),
                inferred=Inferred(Opaque(None)),
                writes=(shadow,),
            )
            self._spill(value, d)
        else:
            raise UnsupportedError(f"{_name(s.function)} on a list has no reverse rule", s.span)

    def _popped(self, s: ir.Assign) -> Any:
        d = self.take(s.target)
        if d is None:
            if isinstance(s.target.kind, TupleOf):
                return Tuple(tuple(self._zero_part(s.target, i, k)
                                   for i, k in enumerate(s.target.kind.items)))
            return self.zero(s.target)
        return d

    def _reverse_copy(self, s: ir.Assign) -> None:
        """The adjoint of a function that returned a copy where it may return a view."""
        shares = self.shares[s]
        shadow = self.shadows[s.target]
        outer = self.block
        then, orelse = ir.Block(), ir.Block()
        self.block = orelse
        saved = dict(self.adjoints)
        self.apply(s, shadow)
        self.adjoints = saved
        self.block = outer
        if orelse.statements:
            self.block.statements.append(ir.If(shares, then, orelse, (), s.span))

    def _values(self, s: ir.Assign) -> list[Any]:
        copies = self.snapshots.get(s, {})
        return [self._value(ir.substitute(a, lambda v: copies.get(v, v))) for a in s.args]

    def _named(self, s: ir.Assign) -> dict[str, Any]:
        copies = self.snapshots.get(s, {})
        return {
            k: self._value(ir.substitute(a, lambda v: copies.get(v, v))) for k, a in s.kwargs
        }

    def _value(self, operand: ir.Operand) -> Any:
        """The abstract value of an operand."""
        match operand:
            case ir.Pack(type=t) if t is tuple:
                return Tuple(tuple(self._value(item) for item in operand.items))
            case ir.Pack(type=t) if t is slice:
                return Slice(*(self._value(item) for item in operand.items))
            case ir.Pack():
                return self.new(ListObject(tuple(self._value(item) for item in operand.items)))
            case ir.Var() if isinstance(operand.kind, ListOf):
                return self._list_value(operand)
            case ir.Var() if isinstance(operand.kind, TupleOf):
                items = []
                for i, kind in enumerate(operand.kind.items):
                    items.append(
                        self.emit(
                            operator.getitem, (operand, ir.Const(i)), inferred=Inferred(kind)
                        )
                    )
                return Tuple(tuple(items), operand.kind.type, operand)
            case ir.Const() if isinstance(operand.value, tuple):
                return self.lift(operand.value, None)
        return operand

    def apply(self, s: ir.Assign, d_out: Any) -> None:
        """Inline the adjoint rule of a statement, and distribute what it contributes."""
        record = registry.lookup(s.function)
        if record is None or (record.adjoint is None and record.partials is None):
            if record is not None and record.zero:
                return
            self._refuse_missing(s, record)
        assert record is not None
        self.span = s.span
        copies = self.snapshots.get(s, {})
        out = self._value(copies.get(s.target, s.target))
        values, kwargs = self._values(s), self._named(s)
        if (
            s.function is operator.getitem
            and isinstance(s.args[0], ir.Var)
            and isinstance(s.args[0].kind, Array)
        ):
            self._accumulate_at(s.args[0], values[1], d_out)
            return
        if record.adjoint is not None:
            rule = record.adjoint
            self._check_keywords(s, rule)
            result = self.inline(rule, values, {**kwargs, "out": out, "d_out": d_out})  # type: ignore[arg-type]
            contributions = self._contributions(result)
        else:
            assert record.partials is not None
            self._check_keywords(s, record.partials)
            result = self.inline(record.partials, values, {**kwargs, "out": out})  # type: ignore[arg-type]
            contributions = []
            for operand, p in zip(s.args, self._contributions(result), strict=False):
                wanted = any(self.activity.active(v) for v in ir.variables(operand))
                skip = isinstance(p, ir.Const) and (p.value is None or p.value == 0)
                if not wanted or skip:
                    contributions.append(NONE)
                else:
                    contributions.append(self.binary(operator.mul, d_out, p))
        names = list(_parameters(record.adjoint or record.partials))
        for i, operand in enumerate(s.args):
            if i < len(contributions):
                self.distribute(operand, contributions[i])
            elif any(self.activity.active(v) for v in ir.variables(operand)):
                raise UnsupportedError(
                    f"{_name(s.function)} isn't differentiable with respect to argument {i + 1}",
                    s.span,
                )
        for k, operand in s.kwargs:
            if k in names and names.index(k) < len(contributions):
                self.distribute(operand, contributions[names.index(k)])
            elif any(self.activity.active(v) for v in ir.variables(operand)):
                raise UnsupportedError(
                    f"{_name(s.function)} isn't differentiable with respect to {k!r}", s.span
                )

    def _check_keywords(self, s: ir.Assign, rule: Any) -> None:
        names = _parameters(rule)
        code = rule.__code__
        variadic = code.co_flags & 0x04
        named = {*names, *code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]}
        for k, _ in s.kwargs:
            if k not in named or k in ("out", "d_out"):
                raise UnsupportedError(
                    f"the rule of {_name(s.function)} doesn't support the argument {k!r}",
                    s.span,
                    HOW_TO_ADD,
                )
        if len(s.args) > len(names) and not variadic:
            raise UnsupportedError(
                f"the rule of {_name(s.function)} supports {len(names)} positional arguments",
                s.span,
                HOW_TO_ADD,
            )

    def _refuse_missing(self, s: ir.Assign, record: Any) -> None:
        name = _name(s.function)
        if record is not None and record.refused:
            raise UnsupportedError(f"{name} can't be differentiated: {record.refused}", s.span)
        raise UnsupportedError(f"{name} has no derivative rule", s.span, HOW_TO_ADD)

    def _contributions(self, result: Any) -> list[Any]:
        if isinstance(result, Tuple):
            return list(result.items)
        return [result]

    def distribute(self, operand: ir.Operand, contribution: Any) -> None:
        """Add a rule's contribution for one operand to the variables in it."""
        if not any(self.activity.active(v) for v in ir.variables(operand)):
            return
        if isinstance(contribution, ir.Const) and contribution.value is None:
            return
        if isinstance(operand, ir.Pack):
            items = self.unpacked(contribution) if not isinstance(contribution, ir.Var) else [
                self.subscript(contribution, ir.Const(i)) for i in range(len(operand.items))
            ]
            for item, c in zip(operand.items, items, strict=True):
                self.distribute(item, c)
        elif isinstance(operand, ir.Var):
            self.add(operand, contribution)

    def _accumulate_at(self, array: ir.Var, key: Any, d_out: Any) -> None:
        """The adjoint of a read: `d_array[key] += d_out`, in place."""
        if not self.activity.active(array):
            return
        buffer = self.buffer(array)
        operand = self.index(key)
        value = self.operand(d_out)
        items = operand.items if isinstance(operand, ir.Pack) and operand.type is tuple else (
            operand,
        )
        if any(_is_integer_array(item) for item in items):
            self.emit(
                np.add.at,
                (buffer, operand, value),
                inferred=Inferred(Opaque(None)),
                writes=(buffer,),
            )
            return
        item = self.emit(operator.getitem, (buffer, operand), name=buffer.name)
        if item.kind != Opaque(None) and isinstance(item.kind, Array) and self.definitions[item].views:
            self.emit(
                operator.iadd, (item, value), inferred=Inferred(Opaque(None)), writes=(item,)
            )
            return
        total = self.emit(operator.add, (item, value), name=buffer.name)
        self.emit(
            operator.setitem,
            (buffer, operand, total),
            inferred=Inferred(Opaque(None)),
            writes=(buffer,),
        )

    # Control flow

    def _reverse_if(self, s: ir.If) -> None:
        wanted = [
            (k, self._taken(t)) for k, t in enumerate(s.targets)
            if t not in self.shadows and not self._is_shadow(t) and self.activity.active(t)
        ]
        outer, before = self.block, dict(self.adjoints)
        parts_before = {k: dict(v) for k, v in self.parts.items()}
        self._prepare_buffers(s)
        before = dict(self.adjoints)
        results: list[tuple[ir.Block, dict[ir.Var, Any]]] = []
        for branch in (s.then, s.orelse):
            block = self.block = ir.Block()
            self.adjoints = dict(before)
            buffers = dict(self.buffers)
            for k, d in wanted:
                operand = branch.results[k]
                if d is not None and isinstance(operand, ir.Var):
                    self.add(operand, d)
            self.reverse(branch)
            for var, buffer in list(self.buffers.items()):
                if var not in buffers:
                    self.adjoints[var] = buffer
                    self.live_buffers.discard(buffer)
                    del self.buffers[var]
            self.mirrors[id(branch)] = block
            results.append((block, self.adjoints))
        self.parts = parts_before
        self.block, self.span = outer, s.span
        (then, first), (orelse, second) = results
        inside = _defined(s.then) | _defined(s.orelse)
        targets, a_results, b_results = [], [], []
        after = dict(before)
        for var in {**first, **second}:
            if var in inside:
                continue
            a, b = first.get(var), second.get(var)
            if a is b:
                after[var] = a
                continue
            if a is None:
                self.block = then
                a = self.zero(var)
            if b is None:
                self.block = orelse
                b = self.zero(var)
            self.block = outer
            target = ir.Var(f"d_{var.name}", _adjoint_kind(var.kind))
            targets.append(target)
            a_results.append(a)
            b_results.append(b)
            after[var] = target
        self.adjoints = after
        self.block = outer
        then.results, orelse.results = tuple(a_results), tuple(b_results)
        if then.statements or orelse.statements or targets:
            self.block.statements.append(ir.If(s.test, then, orelse, tuple(targets), s.span))

    def _taken(self, var: ir.Var) -> Any:
        return self.take(var)

    def _is_shadow(self, var: ir.Var) -> bool:
        return var in self.live_buffers

    def _prepare_buffers(self, s: ir.If) -> None:
        """Inside a loop, an array that a branch reads by index needs its buffer before it."""
        for branch in (s.then, s.orelse):
            for inner in ir.walk(branch):
                if isinstance(inner, ir.Assign) and inner.function is operator.getitem:
                    v = inner.args[0]
                    if (
                        isinstance(v, ir.Var)
                        and isinstance(v.kind, Array)
                        and self.activity.active(v)
                        and self.activity.active(inner.target)
                        and v not in self.shadows
                        and v in ir.free_variables(branch)
                    ):
                        self.buffer(v)

    def _reverse_loop(self, s: ir.Loop) -> None:
        active = [
            k for k, p in enumerate(s.params)
            if self.activity.active(p) and p not in self.shadows and not self._is_shadow(p)
            and not isinstance(p.kind, ListOf)
        ]
        inside = _defined(s.body) | set(s.params)
        outer_vars = [
            v for v in ir.free_variables(s.body)
            if v not in inside and self.activity.active(v) and v not in self.shadows
            and not self._is_shadow(v) and not isinstance(v.kind, (ListOf, TupleOf))
        ]
        incoming = [self._taken(s.targets[k]) for k in active]
        if not active and not outer_vars and not _touches_shadows(s.body, self.shadows):
            return
        if (
            all(d is None for d in incoming)
            and not outer_vars
            and not _touches_shadows(s.body, self.shadows)
        ):
            return
        carried: list[ir.Var] = []
        for v in outer_vars:
            if isinstance(v.kind, Array) and v.kind.shape is not None:
                self.buffer(v)
            else:
                carried.append(v)
        params: list[ir.Var] = []
        inits: list[ir.Operand] = []
        for k, d in zip(active, incoming, strict=True):
            target = s.targets[k]
            params.append(ir.Var(f"d_{target.name}", _adjoint_kind(s.params[k].kind)))
            inits.append(self.zero(target) if d is None else d)
        for v in carried:
            params.append(ir.Var(f"d_{v.name}", _adjoint_kind(v.kind)))
            inits.append(self.adjoints.pop(v, None) or self._carried_zero(v))
        outer, outer_adjoints = self.block, self.adjoints
        parts, self.parts = self.parts, {}
        body = self.block = ir.Block()
        self.adjoints = {v: p for v, p in zip(carried, params[len(active) :], strict=True)}
        buffers = dict(self.buffers)
        for k, p in zip(active, params, strict=False):
            operand = s.body.results[k]
            if isinstance(operand, ir.Var):
                self.add(operand, p)
        self.reverse(s.body)
        for v in list(self.buffers):
            if v not in buffers:
                buffer = self.buffers.pop(v)
                self.live_buffers.discard(buffer)
                self.adjoints[v] = buffer
        results: list[ir.Operand] = []
        for k, p in zip(active, params, strict=False):
            d = self.adjoints.pop(s.params[k], None)
            if d is None:
                same = s.params[k].kind == p.kind and isinstance(p.kind, Array)
                d = self._zeros_like(p) if same else self.zero(s.params[k])
            results.append(d)
        for v in carried:
            results.append(self.adjoints.pop(v, ir.Const(0.0)))
        body.results = tuple(results)
        self.mirrors[id(s.body)] = body
        self.block, self.adjoints, self.parts = outer, outer_adjoints, parts
        finals = tuple(ir.Var(p.name, p.kind) for p in params)
        index = None
        if s.index is not None:
            index = ir.Var(s.index.name, s.index.kind, s.index.user)
            self.indices[s.index] = index
        self.block.statements.append(
            ir.Loop(
                index, self._reverse_range(s), tuple(params), tuple(inits), body, finals,
                backwards=s.range is not None, span=s.span,
            )
        )
        self.span = s.span
        for v, final in zip(carried, finals[len(active) :], strict=True):
            self.adjoints[v] = final
        for k, final in zip(active, finals, strict=False):
            init = s.inits[k]
            if isinstance(init, ir.Var):
                self.add(init, final)

    def _carried_zero(self, v: ir.Var) -> ir.Operand:
        return ir.Const(0.0)

    def _reverse_range(self, s: ir.Loop) -> tuple[ir.Operand, ir.Operand, ir.Operand]:
        count = self.counts.get(s)
        if s.range is None:
            assert count is not None
            return (ir.Const(0), count, ir.Const(1))
        if count is None:
            return s.range
        start, _, step = s.range
        length: ir.Operand = count
        if not (isinstance(step, ir.Const) and step.value == 1):
            length = self.emit(operator.mul, (count, step), name="stop")
        if not (isinstance(start, ir.Const) and start.value == 0):
            length = self.emit(operator.add, (start, length), name="stop")
        return (start, length, step)


HOW_TO_ADD = (
    "Add a rule: @srcgrad.adjoint(function) on a function of the same parameters and the keywords "
    "`out` and `d_out` (see the README)."
)


def _pack_items(args: tuple[ir.Operand, ...]) -> tuple[ir.Operand, ...]:
    return args[0].items if args and isinstance(args[0], ir.Pack) else ()


def _parameters(rule: Any) -> tuple[str, ...]:
    code = rule.__code__
    return tuple(code.co_varnames[: code.co_argcount])


def _name(function: Any) -> str:
    name = getattr(function, "__qualname__", None) or getattr(function, "__name__", str(function))
    module = getattr(function, "__module__", None) or ""
    if isinstance(function, np.ufunc) or module.startswith("numpy"):
        prefix = "np." + module.removeprefix("numpy").strip(".")
        prefix = prefix.rstrip(".") + "."
        return name if name.startswith("ndarray.") else prefix + name
    return f"{module}.{name}" if module not in ("", "builtins", "_operator", "operator") else name


def _defined(block: ir.Block) -> set[ir.Var]:
    found: set[ir.Var] = set()
    for s in ir.walk(block):
        found.update(ir.targets(s))
        if isinstance(s, ir.Loop):
            found.update(s.params)
            if s.index is not None:
                found.add(s.index)
    return found


def _touches_shadows(block: ir.Block, shadows: dict[ir.Var, ir.Var]) -> bool:
    for s in ir.walk(block):
        if isinstance(s, ir.Assign) and any(
            v in shadows for o in s.operands() for v in ir.variables(o)
        ):
            return True
    return False


def _adjoint_kind(kind: Kind) -> Kind:
    if isinstance(kind, Scalar):
        return Scalar(kind.dtype, None)
    return kind


def _dtype(kind: Any) -> Any:
    return kind.dtype if kind.dtype is not None else np.dtype(np.float64)


def _with_dtype(kind: Any, dtype: Any) -> Kind:
    if isinstance(kind, Scalar):
        return Scalar(dtype, False)
    return Array(dtype, kind.shape)


def _with_shape(kind: Any, like: Array | Scalar) -> Kind:
    if isinstance(like, Scalar):
        return Scalar(_dtype(kind), False)
    return Array(kind.dtype, like.shape)


def _structure(item: Any) -> Kind:
    return TupleOf(tuple(_structure(part) for part in item)) if isinstance(item, tuple) else item


def _is_integer_array(item: ir.Operand) -> bool:
    if isinstance(item, ir.Const):
        return isinstance(item.value, np.ndarray) and item.value.dtype.kind in "iu"
    if isinstance(item, ir.Pack):
        return item.type is list
    kind = item.kind
    if not isinstance(kind, Array):
        return False
    return kind.dtype is None or kind.dtype.kind in "iu"


__all__ = ["Adjoint", "Place", "Ref", "holds_memory"]
