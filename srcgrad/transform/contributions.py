"""Adjoints of values: how contributions are added up, and given the shape and dtype they need.

A value that is never written in place has a *value adjoint*: contributions are added up by
rebinding. What an index reads again and again has its adjoint in a *buffer*, into which they are
added in place; so have the *shadows* of memory that is written in place (`shadows.py`).
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import ir, runtime
from ..analysis.activity import Activity, carries
from ..analysis.aliasing import Aliasing
from ..analysis.elementwise import number_kind
from ..analysis.inference import Inferred
from ..errors import UnsupportedError
from ..frontend.lower import Lowerer
from ..joins import is_complex
from ..kinds import INT, Array, Kind, ListOf, Scalar, Size, TupleOf

NONE = ir.Const(None)
_OVERFLOWING = (operator.neg, operator.add, operator.sub, operator.mul)


class Contributions(Lowerer):
    """The adjoints known so far; a Lowerer, because rules are lowered like any function."""

    def __init__(self, function: ir.Function, inputs: list[ir.Var], outputs: list[ir.Var]) -> None:
        super().__init__()
        self.fixed_span = True
        self.function = function
        self.aliasing = Aliasing(function.block)
        self.activity = Activity(function.block, inputs, outputs, self.aliasing)
        self.shadows: dict[ir.Var, ir.Var] = {}  # the shadow of a variable
        self.adjoints: dict[ir.Var, Any] = {}  # its value adjoint, so far
        self.buffers: dict[ir.Var, ir.Var] = {}  # or the buffer that holds it
        self.numbers: set[ir.Var] = set()  # adjoints of arrays that may be the number 0.0
        self.live_buffers: set[ir.Var] = set()  # shadows and buffers that may yet change
        self.definitions: dict[ir.Var, ir.Assign] = {}
        self.items_of: dict[tuple[ir.Var, Any], ir.Var] = {}  # the variable of a tuple's item
        self.items_again: list[tuple[tuple[ir.Var, Any], ir.Var]] = []  # others that hold it
        for key, v in _items(function.block):
            if self.items_of.setdefault(key, v) is not v:
                self.items_again.append((key, v))
        self.may_be_complex = _may_be_complex(function)

    def emit(self, *args: Any, **kwargs: Any) -> ir.Var:
        var = super().emit(*args, **kwargs)
        statement = self.block.statements[-1]
        if isinstance(statement, ir.Assign) and statement.target is var:
            self.definitions[var] = statement
        return var

    # Arithmetic in rules

    def unary(self, function: Callable[..., Any], value: Any) -> Any:
        return super().unary(function, *self._widened(function, value))

    def binary(self, function: Callable[..., Any], a: Any, b: Any) -> Any:
        return super().binary(function, *self._widened(function, a, b))

    def _widened(self, function: Callable[..., Any], *values: Any) -> tuple[Any, ...]:
        """The operands of arithmetic on ints, without those that overflow: unsigned or short ones.

        Rules mean numbers when they write `-shift` or `order - 1`, which are 255 of `np.uint8`.
        """
        if function not in _OVERFLOWING:
            return values
        plain = all(isinstance(v, (ir.Var, ir.Const)) for v in values)
        kinds = [number_kind(v) for v in values] if plain else []
        if not any(map(_is_narrow, kinds)) or not all(k and _letter(k) in "iu" for k in kinds):
            return values
        return tuple(
            v if not _is_narrow(k)
            else ir.Const(int(v.value)) if isinstance(v, ir.Const)
            else self.cast(v, INT.dtype)
            for v, k in zip(values, kinds, strict=True)
        )  # fmt: skip

    # Adjoints of variables

    def if_given(self, operand: ir.Operand, var: ir.Var) -> ir.Operand:
        """A contribution to a variable's adjoint, with zeros where the run has none."""
        if not isinstance(operand, ir.Var) or not operand.optional:
            return operand
        inferred = Inferred(Array(None, None), (operand,), False)
        return self.emit(runtime.given, (operand, var), inferred=inferred)

    def add(self, var: ir.Var, contribution: Any) -> None:
        """Add a contribution to the adjoint of a variable."""
        if not self.activity.active(var):
            return
        if is_zero(contribution):
            return
        if isinstance(var.kind, ListOf):
            self.add_list(var, contribution)
            return
        if isinstance(var.kind, TupleOf):
            for i, part in enumerate(self.unpacked(contribution)):
                item = self.items_of.get((var, i))
                if item is not None:
                    self.add(item, part)
                elif carries(var.kind.items[i]) and not is_zero(part):
                    raise UnsupportedError("this tuple can't be differentiated", self.span)
            return
        operand = self.operand(contribution)
        if isinstance(operand, ir.Pack):
            operand = self.number(contribution)
        operand = self.if_given(operand, var)
        value: ir.Operand
        if operand in self.numbers and not var.assured:
            value = operand
        else:
            if operand in self.numbers and isinstance(var.kind, Array):
                operand = self._spread(operand, var.kind, var)
            value = self.fit(operand, var.kind, var)
        into = self.shadows.get(var) or self.buffers.get(var)
        if into is not None:
            self._accumulate(into, value)
            return
        old = self.adjoints.get(var)
        if old is None:
            self.adjoints[var] = self.settled(value, var)
        else:
            total = self.emit(operator.add, (old, value), name=f"d_{var.name}")
            if old in self.numbers or value in self.numbers:
                self.may_be_number(total)
            self.adjoints[var] = total

    def may_be_number(self, d: ir.Var) -> None:
        """Note that the adjoint of an array may be the number 0.0."""
        self.numbers.add(d)
        if isinstance(d.kind, Array):
            d.kind = Array(d.kind.dtype, None)

    def as_array(self, d: ir.Operand, kind: Kind) -> ir.Operand:
        """An adjoint that meets another one, as an array if it's that of one without axes."""
        if not isinstance(kind, Array) or kind.shape != ():
            return d
        if isinstance(d, ir.Var) and isinstance(d.kind, Array):
            return d
        return self.emit(np.asarray, (d,), inferred=Inferred(kind), name="d")

    def _accumulate(self, into: ir.Var, value: ir.Operand) -> None:
        self.modify(operator.iadd, into, value)

    if TYPE_CHECKING:

        def add_list(self, var: ir.Var, contribution: Any) -> None: ...

    def settled(self, value: ir.Operand, var: ir.Var) -> ir.Operand:
        """The value as an adjoint that nothing will change: a copy if it is part of a buffer."""
        if not isinstance(value, ir.Var):
            return value
        if not isinstance(value.kind, Scalar) and self._aliases_buffer(value, set()):
            # of what has no value on some path the adjoint may be the number 0.0
            number = value in self.numbers or getattr(value.kind, "shape", None) is None
            copied = np.array if number else np.ndarray.copy
            copy = self.emit(copied, (value,), inferred=Inferred(value.kind), name=f"d_{var.name}")
            if value in self.numbers:
                self.may_be_number(copy)
            return copy
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
        if var in self.buffers:
            buffer = self.buffers.pop(var)
            self.live_buffers.discard(buffer)
            return buffer
        return self.adjoints.pop(var, None)

    def _zeros_like(self, var: ir.Var) -> ir.Var:
        kind = var.kind
        unknown = isinstance(kind, Array) and (kind.shape is None or kind.dtype is None)
        function = runtime.zero_like if unknown else np.zeros_like
        return self.emit(function, (var,), inferred=Inferred(var.kind), name=f"d_{var.name}")

    def zero(self, var: ir.Var) -> ir.Operand:
        """A zero adjoint for a variable."""
        if isinstance(var.kind, Array) and var.assured:
            return self._zeros_like(var)
        return ir.Const(0.0)

    def buffer(self, var: ir.Var) -> ir.Var:
        """The buffer into which a variable's adjoint is accumulated in place."""
        into = self.shadows.get(var) or self.buffers.get(var)
        if into is not None:
            return into
        old = self.adjoints.pop(var, None)
        if old is None or old in self.numbers:
            into = self._zeros_like(var)
            if isinstance(var.kind, Array) and var.kind.shape is None:
                # what is indexed by a mask may be a number of NumPy's
                own = Inferred(var.kind)
                into = self.emit(np.array, (into,), inferred=own, name=into.name)
            if old is not None:
                self._accumulate(into, old)
        else:
            into = self.emit(np.array, (old,), inferred=Inferred(var.kind), name=f"d_{var.name}")
        self.buffers[var] = into
        self.live_buffers.add(into)
        return into

    # Shapes and dtypes of contributions

    def fit(self, value: ir.Operand, kind: Kind, like: ir.Var) -> ir.Operand:
        """Give a contribution the shape and dtype of the variable it belongs to."""
        if not isinstance(kind, (Array, Scalar)):
            return value
        if isinstance(value, ir.Const):
            if np.iscomplexobj(value.value) and not (kind.dtype is None or kind.dtype.kind == "c"):
                value = ir.Const(np.real(value.value))
            return self._spread(value, kind, like) if isinstance(kind, Array) else value
        if not isinstance(value, ir.Var):
            return value
        if not isinstance(value.kind, (Array, Scalar)):
            return value
        unsure = value.kind.dtype is None
        value = self._reduced(value, kind, like)
        if unsure and kind.dtype is not None and kind.dtype.kind == "c":
            value = self.cast(value, kind.dtype)
        if isinstance(kind, Scalar) and isinstance(value.kind, Array) and value.kind.shape == ():
            # a number has no memory: what is known of its adjoint is known of a number
            value = self.emit(operator.getitem, (value, ir.Const(())), name=f"d_{like.name}")
        have = value.kind
        assert isinstance(have, (Array, Scalar))
        unknown = have.dtype is None or have.dtype.kind == "c"
        if kind.dtype is None and unknown and self.may_be_complex:
            inferred = Inferred(_with_dtype(have, None), (value,), False)
            value = self.emit(runtime.project, (value, like), inferred=inferred)
        if kind.dtype is not None and kind.dtype.kind != "c":
            if have.dtype is None:
                if kind.dtype.kind == "f":
                    value = self.emit(
                        runtime.as_dtype,
                        (value, ir.Const(kind.dtype)),
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
            runtime.as_dtype,
            (value, ir.Const(dtype)),
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
                kind = Scalar(self._dtype(value.kind), False)
                return self.emit(runtime.total, (value,), inferred=Inferred(kind))
            return self.emit(np.sum, (value,), name=f"d_{like.name}")
        if have is None or want is None or 0 < len(have) < len(want):
            # of a value that is stored, axes of length 1 in front are dropped
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
                grows = not extra and all(m in (n, 1) for m, n in zip(have, want, strict=True))
                spread = self._spread if grows else self._unbroadcast
                return spread(value, kind, like)
            elif isinstance(n, Size) and n.never_one:
                continue
            elif isinstance(n, int):
                continue
            else:
                return self._unbroadcast(value, kind, like)
        if not axes and not keep:
            return value
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

    def doubted(self, contribution: Any, like: Any) -> Any:
        """A contribution of a rule that isn't the compiler's own: its shape is checked.

        Where it isn't known to be the operand's, the generated code raises ValueError unless it
        can be summed to that.
        """
        if isinstance(contribution, ir.Const) and isinstance(contribution.value, str):
            raise UnsupportedError(
                f"a rule contributes {contribution.value!r}, which is no number", self.span
            )
        if not isinstance(contribution, ir.Var) or not isinstance(contribution.kind, Array):
            return contribution
        have = contribution.kind.shape
        want = like.kind.shape if isinstance(getattr(like, "kind", None), Array) else None
        if have is None or want is None or have == want or len(have) < len(want):
            return contribution
        return self._unbroadcast(contribution, like.kind, like)

    def _unbroadcast(self, value: ir.Var, kind: Array | Scalar, like: ir.Var) -> ir.Var:
        return self.emit(
            runtime.unbroadcast,
            (value, like),
            inferred=Inferred(self._with_shape(value.kind, kind), (value,), False),
            name=f"d_{like.name}",
        )

    def _with_shape(self, kind: Any, like: Array | Scalar) -> Kind:
        if isinstance(like, Scalar):
            return Scalar(self._dtype(kind), False)
        return Array(kind.dtype, like.shape)

    def _dtype(self, kind: Any) -> np.dtype[Any]:
        """The dtype of a number; where it isn't known, the widest, which is made fit."""
        widest = np.complex128 if self.may_be_complex else np.float64
        return np.dtype(widest if kind.dtype is None else kind.dtype)

    def _spread(self, value: ir.Operand, kind: Array | Scalar, like: ir.Var) -> ir.Var:
        shape = self.emit(
            np.shape if like.assured else runtime.shape_if_any,
            (like,),
            inferred=Inferred(TupleOf(tuple(Scalar(INT.dtype, True, n) for n in kind.shape or ()))),
            name="shape",
        )
        views = (value,) if isinstance(value, ir.Var) else ()
        dtype = getattr(value.kind, "dtype", None) if isinstance(value, ir.Var) else kind.dtype
        return self.emit(
            np.broadcast_to,
            (value, shape),
            inferred=Inferred(Array(dtype, kind.shape), views),
            name=f"d_{like.name}",
        )


def _may_be_complex(function: ir.Function) -> bool:
    """Whether there are complex numbers, or a call makes what only the run knows the dtype of."""
    for s in ir.walk(function.block):
        made = [t.kind for t in ir.targets(s)]
        if any(is_complex(kind) for kind in made):
            return True
        if isinstance(s, ir.Assign) and any(map(_is_unknown, made)):
            operands = [v.kind for o in s.operands() for v in ir.variables(o)]
            if not any(map(_is_unknown, operands)):
                return True
    return any(is_complex(p.kind) for p in function.params)


def _is_unknown(kind: Kind) -> bool:
    if isinstance(kind, TupleOf):
        return any(map(_is_unknown, kind.items))
    return isinstance(kind, (Array, Scalar)) and kind.dtype is None


def _items(block: ir.Block) -> list[tuple[tuple[ir.Var, Any], ir.Var]]:
    """The variables that hold the items of tuples, by the tuple and the position."""
    found: list[tuple[tuple[ir.Var, Any], ir.Var]] = []
    for s in ir.walk(block):
        if isinstance(s, ir.Assign) and s.function is operator.getitem:
            container, key = s.args
            if isinstance(container, ir.Var) and isinstance(container.kind, TupleOf):
                assert isinstance(key, ir.Const)
                found.append(((container, key.value), s.target))
    return found


def adjoint_kind(kind: Kind) -> Kind:
    """The kind of an adjoint: of a number, a Python or a NumPy one."""
    return Scalar(kind.dtype, None) if isinstance(kind, Scalar) else kind


def is_zero(contribution: Any) -> bool:
    """Whether a contribution is known to be zero."""
    return isinstance(contribution, ir.Const) and (
        contribution.value is None
        or (isinstance(contribution.value, (int, float)) and contribution.value == 0)
    )


def _letter(kind: Array | Scalar) -> str:
    return "?" if kind.dtype is None else kind.dtype.kind


def _is_narrow(kind: Array | Scalar | None) -> bool:
    """Whether ints of this kind have no negatives, or few values."""
    return kind is not None and (
        _letter(kind) == "u" or (_letter(kind) == "i" and kind.dtype.itemsize < 4)  # type: ignore[union-attr]
    )


def _with_dtype(kind: Any, dtype: Any) -> Kind:
    if isinstance(kind, Scalar) and dtype is not None:
        return Scalar(dtype, False)
    return Array(dtype, kind.shape)
