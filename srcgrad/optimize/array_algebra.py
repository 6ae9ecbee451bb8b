"""Rewriting rules of sums, means, transposes and scatters; `algebra.py` has those of arithmetic."""

from __future__ import annotations

import builtins
import operator
from typing import TYPE_CHECKING

import numpy as np

from .. import ir
from ..analysis.affine import is_whole
from ..analysis.elementwise import elementwise_kind, number_kind, same_kind
from ..analysis.keys import kept_axes
from ..kinds import INT, Array, Scalar, TupleOf, same_dtype
from .operands import given_arrays, is_array, is_floating, is_scalar, keeps_dtype, negated, scaled

if TYPE_CHECKING:
    from .simplify import Simplifier


def total(ctx: Simplifier, s: ir.Assign) -> ir.Operand | None:
    """Factors that are the same along the axes of a sum leave it."""
    value = s.args[0]
    kwargs = dict(s.kwargs)
    if len(s.args) > 1 or set(kwargs) - {"axis", "keepdims"} or not is_floating(s):
        return None
    if not is_array(value) or not keeps_dtype(s.target, value):
        return None
    kind = s.target.kind
    x = negated(ctx, value)
    if x is not None:
        inner = ctx.emit(np.sum, x, kind=kind, kwargs=s.kwargs)
        s.function, s.args, s.kwargs = operator.neg, (inner,), ()
        return None
    product = scaled(ctx, value)
    if product is not None and is_array(product[1]):
        inner = ctx.emit(np.sum, product[1], kind=kind, kwargs=s.kwargs)
        s.function, s.args, s.kwargs = operator.mul, (product[0], inner), ()
        return None
    ratio = ctx.temporary(value, operator.truediv)
    if ratio is not None and is_array(ratio.args[0]) and is_scalar(ratio.args[1]):
        if keeps_dtype(value, ratio.args[0]):
            inner = ctx.emit(np.sum, ratio.args[0], kind=kind, kwargs=s.kwargs)
            s.function, s.args, s.kwargs = operator.truediv, (inner, ratio.args[1]), ()
        return None
    factors = ctx.temporary(value, operator.mul)
    if factors is None:
        return None
    a, b = factors.args
    if not is_array(a) or not is_array(b):
        return None
    a_kind, b_kind = number_kind(a), number_kind(b)
    assert a_kind is not None and b_kind is not None
    if a_kind.shape is None or b_kind.shape is None or not same_dtype(a_kind, b_kind):
        return None
    if _normalized(ctx, s, a, b) or _normalized(ctx, s, b, a):
        return None
    if not kwargs and len(a_kind.shape) == 1 and a_kind.shape == b_kind.shape:
        if a_kind.dtype in (np.float64, np.float32):
            s.function, s.args = operator.matmul, (a, b)
        return None
    axes = _leading(kwargs)
    shape = value.kind.shape  # type: ignore[union-attr]
    if axes:
        for large, small in ((a, b), (b, a)):
            rest = number_kind(small)
            have = number_kind(large)
            if (
                rest is not None and have is not None and rest.rank is not None
                and have.shape == shape and rest.rank <= len(shape) - axes
            ):  # fmt: skip
                inner = ctx.emit(np.sum, large, kind=kind, kwargs=s.kwargs)
                s.function, s.args, s.kwargs = operator.mul, (inner, small), ()
                return None
    return None


def _normalized(ctx: Simplifier, s: ir.Assign, x: ir.Operand, y: ir.Operand) -> bool:
    """With `y = e / t`, t being the sum of e, that of `x / t * y` is that of `x * y`, over t.

    Then `(x / t - sum) * e`, the adjoint of a softmax, is `(x - sum) * y` (`restructure.py`).
    """
    product = ctx.definition(x, operator.mul)
    scale = product.args[0] if product is not None and is_scalar(product.args[0]) else None
    whole = product.args[1] if product is not None and scale is not None else x
    ratio, share = ctx.definition(whole, operator.truediv), ctx.definition(y, operator.truediv)
    if ratio is None or share is None or ratio.args[1] is not share.args[1]:
        return False
    spread = ctx.definition(ratio.args[1], operator.getitem)
    whole_sum = ctx.definition(ratio.args[1] if spread is None else spread.args[0], np.sum)
    if whole_sum is None or whole_sum.args[0] is not share.args[0]:
        return False
    above, t = (number_kind(o) for o in ratio.args)
    if t is None or not same_kind(t, s.target.kind):
        return False  # it varies along the axes of the sum
    if not all(same_kind(above, number_kind(o)) for o in (whole, x, y)):
        return False
    assert isinstance(above, Array)
    inner = ctx.emit(operator.mul, ratio.args[0], y, kind=above)
    sum_ = ctx.emit(np.sum, inner, kind=s.target.kind, kwargs=s.kwargs)
    if scale is not None:
        sum_ = ctx.emit(operator.mul, scale, sum_, kind=s.target.kind)
    s.function, s.args, s.kwargs = operator.truediv, (sum_, ratio.args[1]), ()
    return True


def _leading(kwargs: dict[str, ir.Operand]) -> int:
    """How many leading axes a sum reduces and drops, 0 if it reduces others."""
    axis, keepdims = kwargs.get("axis"), kwargs.get("keepdims", ir.Const(False))
    if kwargs.keys() - {"axis", "keepdims"}:
        return 0  # an `initial` summand has no factor
    if not isinstance(axis, ir.Const) or not isinstance(keepdims, ir.Const) or keepdims.value:
        return 0
    axes = axis.value if isinstance(axis.value, tuple) else (axis.value,)
    return len(axes) if axes == tuple(range(len(axes))) else 0


def taken_in(ctx: Simplifier, s: ir.Assign) -> ir.Operand | None:
    """With `z = x * y`, `(w * x).sum(axis=0) * y` is `(w * z).sum(axis=0)`: nothing more needs x.

    So with a quotient, and with `x = w / y`, when it is `(w * w).sum(axis=0)`. The gradient of what
    was standardized, `z = (x - mean) / sigma`, is made of such sums.
    """
    divides = s.function is operator.truediv
    for sum_, y in (s.args,) if divides else (s.args, s.args[::-1]):
        reduced = ctx.temporary(sum_, np.sum)
        if reduced is None or len(reduced.args) != 1 or not is_array(sum_) or not is_array(y):
            continue
        axes, rest = _leading(dict(reduced.kwargs)), number_kind(y)
        if not axes or rest is None or not same_kind(number_kind(sum_), s.target.kind):
            continue
        whole = reduced.args[0]
        product = ctx.temporary(whole, operator.mul)
        pairs = () if product is None else (product.args, product.args[::-1])
        for w, x in ((None, whole), *pairs):
            z: ir.Operand | None = ctx.known(s.function, x, y)
            ratio = None if z is not None or divides else ctx.definition(x, operator.truediv)
            if ratio is not None and ratio.args == (w, y):
                z = w
            if z is None or not same_kind(number_kind(z), number_kind(whole)):
                continue
            inner = z
            if w is not None:
                kind = elementwise_kind(operator.mul, (w, z))
                if not same_kind(kind, number_kind(whole)):
                    continue
                inner = ctx.emit(operator.mul, w, z, kind=kind)
            s.function, s.args, s.kwargs = np.sum, (inner,), reduced.kwargs
            return None
    return None


def indexed(ctx: Simplifier, s: ir.Assign) -> ir.Operand | None:
    """`x.sum(axis=1, keepdims=True)[:, 0]` is `x.sum(axis=1)`, and `x[:, 0][:, None]` and `x[:]` x.

    The sign of what a key takes all elements of moves outwards.
    """
    x, key = s.args
    if not is_floating(s) or not is_array(x):
        return None
    assert isinstance(x, ir.Var) and isinstance(x.kind, Array)
    there = None if x.kind.shape is None else kept_axes(key, x.kind.shape)
    if there is None or x.kind.shape is None:
        return None
    own = isinstance(s.span, ir.Origin) and s.span.role == "reverse"
    if own and there == list(range(len(x.kind.shape))):
        whole = x if s.views and s.certain and x.kind == s.target.kind else None
        return whole or ctx.same(s.target, x)
    if not ctx.stable(s.target):
        return None
    inner = ctx.definition(x, operator.getitem)
    if inner is not None and inner.args[0].kind == s.target.kind:  # type: ignore[union-attr]
        shape = s.target.kind.shape  # type: ignore[attr-defined]
        first = kept_axes(inner.args[1], shape)
        if first is not None:
            axes = [None if i is None else first[i] for i in there]
            if all(i == k or (i is None and shape[k] == 1) for k, i in enumerate(axes)):
                return ctx.same(s.target, inner.args[0])
    y = negated(ctx, x)
    if y is not None:
        taken = ctx.emit(operator.getitem, y, key, kind=s.target.kind, view=True)
        s.function, s.args, s.views = operator.neg, (taken,), ()
        return None
    total_ = ctx.temporary(x, np.sum)
    if total_ is not None and len(total_.args) == 1 and None not in there:
        kwargs = dict(total_.kwargs)
        axis, keepdims = kwargs.get("axis"), kwargs.get("keepdims")
        if isinstance(axis, ir.Const) and isinstance(keepdims, ir.Const) and len(kwargs) == 2:
            rank = len(x.kind.shape)
            along = axis.value if isinstance(axis.value, tuple) else (axis.value,)
            gone = set(range(rank)) - set(there)
            if (
                keepdims.value is True
                and all(type(k) is int for k in along)
                and gone == {k % rank for k in along}
            ):
                s.function, s.args, s.kwargs = np.sum, total_.args, (("axis", axis),)
                s.views = ()
    return None


def unbroadcast(ctx: Simplifier, s: ir.Assign) -> ir.Operand | None:
    """The sign of what may be summed to another shape moves outwards."""
    x = negated(ctx, s.args[0])
    if x is not None and is_floating(s) and ctx.stable(s.target):
        summed = ctx.emit(s.function, x, *s.args[1:], kind=s.target.kind, view=True)
        s.function, s.args, s.views = operator.neg, (summed,), ()
    return None


def transposed(ctx: Simplifier, s: ir.Assign) -> ir.Operand | None:
    """`x.T @ v` with a vector v is `v @ x`, and `v @ x.T` is `x @ v`: no view is made."""
    a, b = s.args
    kinds = number_kind(a), number_kind(b)
    for matrix, vector, order in ((0, 1, -1), (1, 0, 1)):
        found = ctx.definition(s.args[matrix], np.transpose)
        if found is None or len(found.args) != 1 or found.kwargs:
            continue
        m, v = kinds[matrix], kinds[vector]
        if m is not None and v is not None and m.rank == 2 and v.rank == 1:
            s.args = (s.args[vector], found.args[0])[::-order]
            return None
    return None


def twice(ctx: Simplifier, s: ir.Assign) -> ir.Operand | None:
    """`x.transpose((1, 0))` is `x.T`, `x.T.T` is `x`, and `(x.T @ y).T` is `y.T @ x`."""
    x = s.args[0]
    if len(s.args) == 2 and isinstance(s.target.kind, Array) and s.target.kind.rank:
        items = ir.items_of(s.args[1])
        axes = [item.value if isinstance(item, ir.Const) else None for item in items]
        if axes == list(reversed(range(s.target.kind.rank))) and not s.kwargs:
            s.function, s.args = np.transpose, (x,)
    if len(s.args) != 1 or s.kwargs or not is_floating(s):
        return None
    inner = ctx.definition(x, np.transpose)
    if inner is not None and len(inner.args) == 1 and not inner.kwargs:
        return ctx.same(s.target, inner.args[0])
    product = ctx.temporary(x, operator.matmul)
    if product is None or not same_kind(product.target.kind, x.kind):  # type: ignore[union-attr]
        return None
    kinds = [number_kind(a) for a in product.args]
    if any(k is None or k.rank != 2 for k in kinds):
        return None
    found = [ctx.definition(a, np.transpose) for a in product.args]
    plain = [f is not None and len(f.args) == 1 and not f.kwargs for f in found]
    if not any(plain):
        return None
    a, b = (
        f.args[0] if f is not None and ok else _transpose(ctx, operand)
        for f, ok, operand in zip(found, plain, product.args, strict=True)
    )
    s.function, s.args, s.views = operator.matmul, (b, a), ()
    return None


def turned(ctx: Simplifier, s: ir.Assign) -> ir.Operand | None:
    """`(v[:, None] * w).T` is `w[:, None] * v`, and `(-x).T` of such a product is `-x.T`."""
    if len(s.args) != 1 or s.kwargs or not is_floating(s) or not is_array(s.target):
        return None
    sign = ctx.temporary(s.args[0], operator.neg)
    product = ctx.temporary(s.args[0] if sign is None else sign.args[0], operator.mul)
    if product is None or not same_kind(product.target.kind, s.args[0].kind):  # type: ignore[union-attr]
        return None
    for one, row in (product.args, product.args[::-1]):
        column = ctx.temporary(one, operator.getitem)
        key = () if column is None else ir.items_of(column.args[1])
        if len(key) != 2 or not (is_whole(key[0]) and ir.is_constant(key[1], None)):
            continue
        assert column is not None
        kinds = number_kind(column.args[0]), number_kind(row)
        if any(not isinstance(k, Array) or k.rank != 1 for k in kinds):
            continue
        kind = Array(kinds[1].dtype, (*kinds[1].shape, 1))  # type: ignore[union-attr, misc]
        turned = ctx.emit(operator.getitem, row, column.args[1], kind=kind, view=True)
        args: tuple[ir.Operand, ...] = (turned, column.args[0])
        s.function, s.views = operator.mul, ()
        if sign is not None:
            args = (ctx.emit(operator.mul, *args, kind=s.target.kind),)
            s.function = operator.neg
        s.args = args
        return None
    return None


def _transpose(ctx: Simplifier, operand: ir.Operand) -> ir.Operand:
    assert isinstance(operand, ir.Var) and isinstance(operand.kind, Array)
    kind = Array(operand.kind.dtype, tuple(reversed(operand.kind.shape or ())))
    return ctx.emit(np.transpose, operand, kind=kind, name="transpose", view=True)


def mean(ctx: Simplifier, s: ir.Assign) -> ir.Operand | None:
    """`np.mean(x)` as `x.sum() / x.size`, which is what it does, and takes a third of the time."""
    x, kwargs = s.args[0], dict(s.kwargs)
    if len(s.args) > 1 or set(kwargs) - {"axis", "keepdims"} or not is_array(x):
        return None
    assert isinstance(x, ir.Var) and isinstance(x.kind, Array)
    if x.kind.dtype != np.float64 or not x.kind.shape or not is_floating(s):
        return None
    axis = kwargs.get("axis", ir.Const(None))
    if not isinstance(axis, ir.Const) or not (axis.value is None or type(axis.value) is int):
        return None
    hidden = () if ctx.reversing else ctx.function.seeds
    alike = (p for p in given_arrays(ctx) if p not in hidden)
    like = next((p for p in alike if p.kind.shape == x.kind.shape), x)  # type: ignore[attr-defined]
    if axis.value is None:
        size = ctx.emit(builtins.getattr, like, ir.Const("size"), kind=INT, name="size")
    else:
        kind = TupleOf(tuple(Scalar(INT.dtype, True, n) for n in x.kind.shape))
        shape = ctx.emit(builtins.getattr, like, ir.Const("shape"), kind=kind, name="shape")
        number = axis.value % len(x.kind.shape)
        length = Scalar(INT.dtype, True, x.kind.shape[number])
        size = ctx.emit(operator.getitem, shape, ir.Const(number), kind=length, name="n")
    total_ = ctx.emit(np.sum, x, kind=s.target.kind, kwargs=s.kwargs, name="total")
    s.function, s.args, s.kwargs = operator.truediv, (total_, size), ()
    return None


def unique(ctx: Simplifier, s: ir.Assign) -> ir.Operand | None:
    """`np.add.at` as `d[rows, columns] += c` where no element is met twice."""
    d, key, value = s.args
    if not isinstance(key, ir.Pack) or key.type is not tuple or len(key.items) < 2:
        return None
    if not all(isinstance(i, ir.Var) and isinstance(i.kind, Array) for i in key.items):
        return None
    shape = next((i.kind.shape for i in key.items if ctx.definition(i, np.arange)), None)  # type: ignore[union-attr]
    into = number_kind(d)
    if shape is None or len(shape) != 1 or into is None or into.dtype is None:
        return None
    never_one = shape[0] != 1 if isinstance(shape[0], int) else shape[0].never_one
    for i in key.items:
        assert isinstance(i, ir.Var) and isinstance(i.kind, Array)
        if i.kind.dtype is None or i.kind.dtype.kind not in "iu" or i.kind.rank != 1:
            return None
        if i.kind.shape != shape and not never_one:
            return None
    if into.rank != len(key.items):
        return None
    part = Array(into.dtype, shape)
    total_ = elementwise_kind(operator.add, (ir.Var("", part), value))
    if total_ is None or not same_dtype(total_, into):
        return None
    old = ctx.emit(operator.getitem, d, key, kind=part)
    new = ctx.emit(operator.add, old, value, kind=part)
    s.function, s.args = operator.setitem, (d, key, new)
    return None
