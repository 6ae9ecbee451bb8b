"""Rewriting rules of shapes: what was broadcast is used unbroadcast, and shapes are asked of
arrays that are there anyway.

The adjoint of a sum is a number spread over a shape. Nearly everything that uses it broadcasts by
itself, so the number does as well.
"""

from __future__ import annotations

import builtins
import math
import operator
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import ir, runtime
from ..analysis.alternatives import is_mixed
from ..analysis.elementwise import (
    broadcast,
    elementwise_kind,
    is_elementwise,
    number_kind,
    promoted,
)
from ..kinds import INT, Array, Scalar, TupleOf, same_dtype
from ..transform.layouts import asks_layout
from .operands import Rule, given_arrays, is_number

if TYPE_CHECKING:
    from .simplify import Simplifier


def spread(ctx: Simplifier, operand: ir.Operand) -> ir.Assign | None:
    """The call that spread a smaller array or a number over a shape to make an operand."""
    s = ctx.definition(operand, np.broadcast_to)
    if s is None or s.kwargs or len(s.args) != 2:
        return None
    kind = number_kind(s.args[0])
    return s if kind is not None and kind.shape is not None else None


def scalar_spread(ctx: Simplifier, operand: ir.Operand) -> ir.Assign | None:
    s = spread(ctx, operand)
    return s if s is not None and number_kind(s.args[0]).shape == () else None  # type: ignore[union-attr]


def moved_spread(ctx: Simplifier, operand: ir.Operand) -> ir.Assign | None:
    """The call that spread a number over a shape, if all that was done since was to move axes."""
    s = ctx.definition(operand, *_MOVES)
    if s is None or not s.args or number_kind(operand) is None:
        return None
    return scalar_spread(ctx, s.args[0])


def typed_constant(ctx: Simplifier, s: ir.Assign) -> ir.Operand | None:
    """A number spread over a shape has the dtype that the kind says."""
    kind, value = s.target.kind, s.args[0]
    if not isinstance(kind, Array) or kind.dtype is None or not is_number(value):
        return None
    assert isinstance(value, ir.Const)
    if np.asarray(value.value).dtype != kind.dtype and kind.dtype.kind == "f":
        number = kind.dtype.type(value.value)
        s.args = (ir.Const(float(number) if kind.dtype == np.float64 else number), *s.args[1:])
    return None


def sink(ctx: Simplifier, s: ir.Assign) -> ir.Operand | None:
    """An elementwise function of spread operands takes them as they were before."""
    if not ctx.reversing or s.kwargs or not isinstance(s.target.kind, Array):
        return None
    found = [spread(ctx, a) or moved_spread(ctx, a) for a in s.args]
    if not any(found) or s.target.kind.shape is None:
        return None
    args = tuple(a if f is None else f.args[0] for a, f in zip(s.args, found, strict=True))
    args = _weak(args, s.args)
    kinds = [number_kind(a) for a in args]
    if any(k is None or k.shape is None for k in kinds):
        return None
    dtype = promoted(s.args)
    if dtype is None or promoted(args) != dtype:
        return None
    shape = broadcast(k.shape for k in kinds if k is not None and k.shape is not None)
    if shape == s.target.kind.shape:
        s.args = args
        return None
    # all are spread: so is the result
    if ctx.escapes(s.target) or not ctx.stable(s.target):
        return None
    like = next((f for f in found if f and f.target.kind.shape == s.target.kind.shape), None)  # type: ignore[attr-defined]
    kind = elementwise_kind(s.function, args)
    if like is None or kind is None or not same_dtype(kind, s.target.kind):
        return None
    inner = ctx.emit(s.function, *args, kind=kind)
    s.function, s.args = np.broadcast_to, (inner, like.args[1])
    s.views = tuple(v for v in ir.variables(inner) if isinstance(v.kind, Array))
    for v in s.views:
        ctx.union(v, s.target)
    return None


def _weak(args: tuple[ir.Operand, ...], before: tuple[ir.Operand, ...]) -> tuple[ir.Operand, ...]:
    """Constants as Python numbers where that yields the same dtype."""
    plain = tuple(
        ir.Const(float(a.value)) if isinstance(a, ir.Const) and isinstance(a.value, np.floating)
        else a for a in args
    )  # fmt: skip
    return plain if promoted(plain) == promoted(before) is not None else args


def choose(ctx: Simplifier, s: ir.Assign) -> ir.Operand | None:
    """`np.where` broadcasts its operands by itself."""
    if not ctx.reversing or s.kwargs or len(s.args) != 3:
        return None
    found = [None, *(spread(ctx, a) for a in s.args[1:])]
    if not any(found) or not isinstance(s.target.kind, Array):
        return None
    args = tuple(a if f is None else f.args[0] for a, f in zip(s.args, found, strict=True))
    kinds = [number_kind(a) for a in args]
    if any(k is None or k.shape is None for k in kinds):
        return None
    if promoted(args[1:]) != promoted(s.args[1:]) or promoted(args[1:]) is None:
        return None
    shape = broadcast(k.shape for k in kinds if k is not None and k.shape is not None)
    if shape == s.target.kind.shape:
        s.args = args
    return None


def store(ctx: Simplifier, s: ir.Assign) -> ir.Operand | None:
    """What is stored in a part of an array, or added to it, is broadcast by that.

    NumPy's `add.at` is slow but for numbers, and reads beyond the end of a vector that it
    broadcasts to the places of a matrix of them.
    """
    if not s.args or not isinstance(s.args[0], ir.Var) or not isinstance(s.args[0].kind, Array):
        return None
    found = (scalar_spread if s.function == np.add.at else spread)(ctx, s.args[-1])
    if found is not None and ctx.reversing and isinstance(s.args[-1], ir.Var):
        value = found.args[0]
        if same_dtype(s.args[-1].kind, s.args[0].kind):
            if isinstance(value, ir.Const) and isinstance(value.value, np.floating):
                value = ir.Const(float(value.value))
            s.args = (*s.args[:-1], value)
    return None


def copied(ctx: Simplifier, s: ir.Assign) -> ir.Operand | None:
    """A copy of a spread number is a full array; what is kept of an array may stay where it is."""
    kept = isinstance(s.span, ir.Origin) and s.span.role == "recorded" and not ctx.escapes(s.target)
    if kept and not s.kwargs and (whole := ctx.same(s.target, s.args[0])) is not None:
        return whole
    found = scalar_spread(ctx, s.args[0]) if len(s.args) == 1 and not s.kwargs else None
    if found is not None and ctx.reversing:
        dtype = s.target.kind.dtype  # type: ignore[attr-defined]
        # the number may be of double precision, or an int
        other = dtype is not None and (dtype.char in "fF" or is_mixed(number_kind(found.args[0])))
        s.function = np.full
        s.args = (found.args[1], found.args[0], *((ir.Const(dtype),) if other else ()))
        if is_number(found.args[0], 0.0) and s.target.kind.dtype == np.float64:  # type: ignore[attr-defined]
            s.function, s.args = np.zeros, (found.args[1],)
        if is_number(found.args[0], 1.0) and s.target.kind.dtype == np.float64:  # type: ignore[attr-defined]
            s.function, s.args = np.ones, (found.args[1],)
    return None


def full_like(ctx: Simplifier, s: ir.Assign) -> ir.Operand | None:
    """`np.full_like(x, c)` is `np.full(x.shape, c)` where the dtype is that of c."""
    kind = s.target.kind
    if len(s.args) != 2 or s.kwargs or not isinstance(kind, Array) or kind.dtype != np.float64:
        return None
    value = s.args[1]
    if number_kind(s.args[0]) is None or promoted((value,)) != np.float64:
        return None
    if is_mixed(number_kind(value)):
        return None
    if isinstance(value, ir.Const) and not isinstance(value.value, float):
        value = ir.Const(float(value.value))
    if kind.shape is None or not isinstance(s.args[0], ir.Var):
        return None
    if isinstance(s.args[0].kind, Scalar) and s.args[0].kind.python is not False:
        return None  # a number of Python's has no shape
    shape = ctx.emit(builtins.getattr, s.args[0], ir.Const("shape"), kind=_shape_kind(kind))
    s.function, s.args = np.full, (shape, value)
    return None


def _shape_kind(kind: Array) -> Any:
    return TupleOf(tuple(Scalar(INT.dtype, True, n) for n in kind.shape or ()))


def cast(ctx: Simplifier, s: ir.Assign) -> ir.Operand | None:
    """A cast to the dtype an array has is the array; one of a spread number is the number's."""
    kind = s.target.kind
    if len(s.args) != 2 or s.kwargs or not isinstance(kind, Array):
        return None
    found = scalar_spread(ctx, s.args[0])
    if found is not None and is_number(found.args[0]) and not ctx.escapes(s.target):
        if kind.dtype is not None and kind.dtype.kind == "f" and ctx.stable(s.target):
            number = kind.dtype.type(found.args[0].value)  # type: ignore[union-attr]
            s.function, s.args = np.broadcast_to, (ir.Const(number), found.args[1])
        return None
    if ctx.reversing and isinstance(s.args[0], ir.Var) and s.args[0].kind == kind:
        return ctx.same(s.target, s.args[0])
    return None


def reshaped(ctx: Simplifier, s: ir.Assign) -> ir.Operand | None:
    """A spread number with its axes changed is the number spread over another shape."""
    found = scalar_spread(ctx, s.args[0]) if s.args else None
    kind = s.target.kind
    if found is None or not ctx.reversing or not isinstance(kind, Array) or kind.shape is None:
        return None
    if not kind.shape or ctx.escapes(s.target) or not ctx.stable(s.target):
        return None
    for p in given_arrays(ctx):
        if p.kind.shape == kind.shape:  # type: ignore[attr-defined]
            shape = ctx.emit(builtins.getattr, p, ir.Const("shape"), kind=_shape_kind(kind))
            s.function, s.args, s.kwargs = np.broadcast_to, (found.args[0], shape), ()
            s.views = ()
            return None
    return None


def summed(ctx: Simplifier, s: ir.Assign) -> ir.Operand | None:
    """The sum of a spread number is the number times the size."""
    found = scalar_spread(ctx, s.args[0]) if len(s.args) == 1 and not s.kwargs else None
    if found is None or not ctx.reversing:
        return None
    kind = elementwise_kind(operator.mul, (found.args[0], ir.Const(1)))
    if kind is None or not same_dtype(kind, s.target.kind) or kind.dtype != np.float64:
        return None
    size = ctx.emit(builtins.getattr, s.args[0], ir.Const("size"), kind=INT, name="size")
    s.function, s.args = operator.mul, (found.args[0], size)
    return None


# Questions about shapes


def attribute(ctx: Simplifier, s: ir.Assign) -> ir.Operand | None:
    """Ask the shape of an array that is there anyway."""
    if len(s.args) != 2 or not isinstance(s.args[1], ir.Const):
        return None
    what = s.args[1].value
    if what in ("shape", "size", "ndim"):
        return _query(ctx, s, what)
    return None


def zeros(ctx: Simplifier, s: ir.Assign) -> ir.Operand | None:
    """Zeros for an adjoint, in a shape that is known or that of an array that is there anyway."""
    x = s.args[0]
    if not ctx.reversing or len(s.args) != 1 or s.kwargs or not isinstance(x, ir.Var):
        return None
    kind = s.target.kind
    if isinstance(kind, Array) and kind.dtype == np.float64 and kind.shape:
        if all(isinstance(n, int) for n in kind.shape):
            shape = kind.shape if len(kind.shape) > 1 else kind.shape[0]
            s.function, s.args = np.zeros, (ir.Const(shape),)
            return None
    if isinstance(x.kind, Array) and x.kind.shape is not None and x.kind == s.target.kind:
        anchor = _anchor(ctx, x)
        if anchor is not x and anchor.kind == x.kind:
            s.args = (anchor,)
            ctx.counts[anchor] = ctx.counts.get(anchor, 0) + 1
    return None


def question(what: str) -> Rule:
    """The rule for a function that asks for `shape`, `size` or `ndim`."""

    def rule(ctx: Simplifier, s: ir.Assign) -> ir.Operand | None:
        if len(s.args) == 1 and not s.kwargs and isinstance(s.args[0], ir.Var):
            kind = s.args[0].kind
            if isinstance(kind, Array) and kind.shape is not None:
                s.function, s.args = builtins.getattr, (s.args[0], ir.Const(what))
        return None

    return rule


def _query(ctx: Simplifier, s: ir.Assign, what: str) -> ir.Operand | None:
    x = s.args[0]
    if not isinstance(x, ir.Var) or not isinstance(x.kind, Array) or x.kind.shape is None:
        return None
    shape = x.kind.shape
    if what == "ndim":
        return ir.Const(len(shape))
    if all(isinstance(n, int) and n < 2 for n in shape):
        return ir.Const(math.prod(int(n) for n in shape)) if what == "size" else None  # type: ignore[misc, arg-type]
    anchor = _anchor(ctx, x)
    if anchor is not x:
        s.args = (anchor, s.args[1])
        ctx.counts[anchor] = ctx.counts.get(anchor, 0) + 1
    elif what == "size" and len(shape) == 1 and x not in ctx.function.params and ctx.reversing:
        for p in given_arrays(ctx):
            if p.kind.shape and p.kind.shape[0] == shape[0]:  # type: ignore[attr-defined]
                s.function, s.args = builtins.len, (p,)
                return None
    return None


def length(ctx: Simplifier, s: ir.Assign) -> ir.Operand | None:
    """The length of what arithmetic makes, and nothing else needs, is that of an operand."""
    (x,) = s.args
    while isinstance(x, ir.Var) and ctx.counts.get(x, 0) < 2 and not ctx.reversing:
        made = ctx.definitions.get(x)
        if made is None or not is_elementwise(made.function):
            break
        like = [a for a in made.args if isinstance(a, ir.Var) and a.kind == x.kind]
        if not isinstance(x.kind, Array) or x.kind.shape is None or not like:
            break
        x = like[0]
        s.args = (x,)
        ctx.counts[x] = ctx.counts.get(x, 0) + 1
    return None


def _anchor(ctx: Simplifier, x: ir.Var) -> ir.Var:
    """An array of the same shape that is likelier to be needed for itself."""
    assert isinstance(x.kind, Array)
    if x in ctx.function.params:
        return x
    if ctx.reversing:
        for p in given_arrays(ctx):
            if p.kind.shape == x.kind.shape:  # type: ignore[attr-defined]
                return p
    while ctx.counts.get(x, 0) < 2 or x.name.startswith("d_"):
        s = ctx.definitions.get(x)
        if s is None or not (is_elementwise(s.function) or s.function in SAME_SHAPE):
            return x
        found = next(
            (a for a in s.args if isinstance(a, ir.Var) and isinstance(a.kind, Array)
             and a.kind.shape == x.kind.shape), None,
        )  # fmt: skip
        if found is None:
            return x
        x = found
    return x


SAME_SHAPE: frozenset[Any] = frozenset(
    {np.zeros_like, np.ones_like, np.empty_like, np.ndarray.copy, np.copy, np.where, np.array,
     np.ndarray.astype, runtime.own_copy}
)  # fmt: skip


def fits(ctx: Simplifier, s: ir.Assign) -> ir.Operand | None:
    """Nothing is to be undone where shapes are equal in every run."""
    value, like = s.args
    if isinstance(value, ir.Var) and isinstance(like, ir.Var):
        a, b = value.kind, like.kind
        if isinstance(a, Array) and isinstance(b, Array) and a.shape == b.shape is not None:
            return value
    return None


def real_part(ctx: Simplifier, s: ir.Assign) -> ir.Operand | None:
    """The real part of a real array is the array."""
    (x,) = s.args
    kind = number_kind(x)
    if isinstance(x, ir.Var) and isinstance(kind, Array) and kind.dtype is not None:
        return x if kind.dtype.kind == "f" and not ctx.escapes(s.target) else None
    return None


def copied_argument(ctx: Simplifier, s: ir.Assign) -> ir.Operand | None:
    """What isn't written needs no copy; where no layout matters, a plain one will do."""
    if isinstance(s.span, ir.Origin):
        return None  # what is kept of an array where it does
    if not ctx.escapes(s.target) and (found := ctx.same(s.target, s.args[0])) is not None:
        return found
    root = ctx.aliasing.find(s.target)
    for other in ctx.definitions.values():
        if asks_layout(other) or other.function is np.may_share_memory:
            return None
        if not other.certain and any(
            ctx.aliasing.find(v) is root or ctx.aliasing.is_written(v) for v in other.views
        ):
            return None  # what is computed from the copy lies in memory as it does
        if other.function is builtins.getattr and len(other.args) == 2:
            key = other.args[1]
            if isinstance(key, ir.Const) and key.value not in ("shape", "size", "ndim", "dtype"):
                return None
    kind = s.target.kind
    if isinstance(kind, Array) and kind.shape is not None:
        s.function = np.ndarray.copy
    return None


def resized(ctx: Simplifier, s: ir.Assign) -> ir.Operand | None:
    """What is repeated, or cut, to the length that it has stays what it is."""
    operand, kind = s.args[0], s.target.kind
    if not isinstance(kind, Array) or not isinstance(operand, ir.Var) or operand.kind != kind:
        return None
    found = ctx.same(s.target, operand)
    if found is None:
        s.function, s.args = np.ndarray.copy, (operand,)
    return found


_MOVES = (np.reshape, np.transpose, np.expand_dims, np.squeeze, np.ravel, np.swapaxes, np.moveaxis,
          operator.getitem)  # fmt: skip

ELEMENTWISE: list[Rule] = [sink]
SPREADING: dict[Any, list[Rule]] = {
    np.broadcast_to: [typed_constant],
    np.where: [choose],
    np.ndarray.copy: [copied],
    np.array: [copied],
    np.copy: [copied],
    np.full_like: [full_like],
    np.resize: [resized],
    np.ndarray.astype: [cast],
    np.sum: [summed],
    np.zeros_like: [zeros],
    builtins.getattr: [attribute],
    np.shape: [question("shape")],
    builtins.len: [length],
    np.size: [question("size")],
    runtime.unbroadcast: [fits],
    np.real: [real_part],
    runtime.own_copy: [copied_argument],
    operator.setitem: [store],
    np.add.at: [store],
    **{f: [store] for f in (operator.iadd, operator.isub, operator.imul, operator.itruediv)},
    **{f: [reshaped] for f in _MOVES},
}
