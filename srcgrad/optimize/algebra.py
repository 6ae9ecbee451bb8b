"""Rewriting rules of arithmetic: signs and constant factors move outwards, where they meet.

A rule sees one call and returns what replaces it, or changes the call in place, or does nothing.
`ALGEBRA` holds for the reverse sweep, whose results may differ from the textbook's by rounding;
the forward sweep computes what the user wrote, and gets the rules of `FORWARD` alone.
"""

from __future__ import annotations

import operator
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import ir, runtime
from ..analysis.elementwise import elementwise_kind, number_kind, same_kind
from ..kinds import Array, Kind, Scalar, same_dtype
from .array_algebra import (
    indexed,
    mean,
    taken_in,
    total,
    transposed,
    turned,
    twice,
    unbroadcast,
    unique,
)
from .operands import (
    Rule,
    become,
    choice,
    combine,
    is_array,
    is_floating,
    is_number,
    is_scalar,
    keeps_dtype,
    negate,
    negated,
    rewritten,
    scaled,
)

if TYPE_CHECKING:
    from .simplify import Simplifier

MOST_FACTORS = 8  # in how deep a product a constant is looked for


def multiply(ctx: Simplifier, s: ir.Assign) -> ir.Operand | None:
    a, b = s.args
    if not is_floating(s):
        return None
    if (is_scalar(b) and not is_scalar(a)) or (is_number(b) and not is_number(a)):
        s.args = a, b = b, a
    if is_number(a, 1.0) and same_kind(number_kind(b), s.target.kind):
        return ctx.same(s.target, b)
    if is_number(a, -1.0):
        become(s, operator.neg, b)
        return None
    x, y = negated(ctx, a), negated(ctx, b)
    if x is not None or y is not None:
        operands = a if x is None else x, b if y is None else y
        if x is None or y is None:
            negate(ctx, s, operator.mul, *operands)
        else:
            become(s, operator.mul, *operands)
        return None
    for x, y in ((a, b), (b, a)):
        if (found := choice(ctx, x)) is not None and _scale_choice(ctx, s, found, y):
            return None
    left, right = scaled(ctx, a), scaled(ctx, b)
    if is_number(a) and right is None and is_array(b) and type(a.value) in (int, float):  # type: ignore[union-attr]
        product = _rescaled(ctx, s, b, a.value)  # type: ignore[union-attr]
        if product is not None:
            return product
    if is_scalar(a) and right is not None:
        c = combine(ctx, operator.mul, a, right[0])
        if c is not None:
            become(s, operator.mul, c, right[1])
        return None
    if left is not None and right is not None and is_array(a) and is_array(b):
        c = combine(ctx, operator.mul, left[0], right[0])
        if c is not None:
            rewritten(ctx, s, operator.mul, c, operator.mul, left[1], right[1])
        return None
    shape = s.target.kind.shape  # type: ignore[attr-defined]
    if left is not None and number_kind(a).shape == shape:  # type: ignore[union-attr]
        rewritten(ctx, s, operator.mul, left[0], operator.mul, left[1], b)
    elif right is not None and number_kind(b).shape == shape:  # type: ignore[union-attr]
        rewritten(ctx, s, operator.mul, right[0], operator.mul, a, right[1])
    elif (ratio := ctx.definition(b, operator.truediv)) is not None:
        numerator, denominator = ratio.args
        if is_number(a) and is_number(numerator) and not is_array(denominator):
            c = combine(ctx, operator.mul, a, numerator)
            if c is not None:
                become(s, operator.truediv, c, denominator)
        elif ctx.counts.get(ratio.target, 0) != 1:
            return None
        elif is_number(numerator, 1.0):
            become(s, operator.truediv, a, denominator)
        elif is_scalar(a) and is_scalar(numerator) and is_array(denominator):
            c = combine(ctx, operator.mul, a, numerator)
            if c is not None:
                become(s, operator.truediv, c, denominator)
    return None


def _scale_choice(
    ctx: Simplifier, s: ir.Assign, found: tuple[ir.Operand, ir.Operand, ir.Operand], y: ir.Operand
) -> bool:
    """`np.where(t, a, 0.0) * y` is `np.where(t, a * y, 0.0)`, if that keeps its kind."""
    test, *branches = found
    if sum(is_number(b, 0.0) for b in branches) != 1:
        return False
    taken = next(b for b in branches if not is_number(b, 0.0))
    kind = elementwise_kind(operator.mul, (taken, y))
    test_kind = number_kind(test)
    if kind is None or test_kind is None or test_kind.shape != s.target.kind.shape:  # type: ignore[attr-defined]
        return False
    if not same_dtype(kind, s.target.kind):
        return False
    product = ctx.emit(operator.mul, taken, y, kind=kind)
    s.function = np.where
    s.args = (test, *(b if is_number(b, 0.0) else product for b in branches))
    return True


def _unguard(ctx: Simplifier, s: ir.Assign, k: int) -> bool:
    """Under `np.where(t, x, 0.0)` it doesn't matter what `x` is elsewhere: no guards in it."""
    test, kind = s.args[0], s.target.kind
    value = _unguarded(ctx, s.args[k], test, k)
    found, shape = number_kind(value), number_kind(test)
    if value is s.args[k] or found is None or shape is None:
        return False
    if shape.shape != kind.shape or not same_dtype(found, kind):  # type: ignore[attr-defined]
        return False
    s.args = (test, value, s.args[2]) if k == 1 else (test, s.args[1], value)
    return True


def _unguarded(ctx: Simplifier, operand: ir.Operand, test: ir.Operand, k: int) -> ir.Operand:
    """An operand where `test` holds (k = 1) or doesn't (2); of divisors guards are kept."""
    guard = ctx.definition(operand, np.where)
    if guard is not None and len(guard.args) == 3 and guard.args[0] is test and not guard.kwargs:
        return guard.args[k]
    s = ctx.temporary(operand, operator.mul, operator.add, operator.sub, operator.neg)
    if s is None:
        return operand
    args = tuple(_unguarded(ctx, a, test, k) for a in s.args)
    if all(x is y for x, y in zip(args, s.args, strict=True)):
        return operand
    kind, before = elementwise_kind(s.function, args), number_kind(operand)
    if kind is None or before is None or not same_dtype(kind, before):
        return operand
    return ctx.emit(s.function, *args, kind=kind)


def choose(ctx: Simplifier, s: ir.Assign) -> ir.Operand | None:
    """`np.where(t, c * x, c * y)` is `c * np.where(t, x, y)`, and needs no guards of its own."""
    if s.kwargs or len(s.args) != 3 or not is_floating(s):
        return None
    test, a, b = s.args
    if any(is_number(s.args[3 - k], 0.0) and _unguard(ctx, s, k) for k in (1, 2)):
        return None
    left, right = scaled(ctx, a), scaled(ctx, b)
    if left is None or right is None or not is_array(left[1]) or not is_array(right[1]):
        return None
    (c, x), (d, y) = left, right
    x_kind, y_kind = number_kind(x), number_kind(y)
    assert x_kind is not None and y_kind is not None
    alike = same_dtype(x_kind, y_kind) and same_dtype(x_kind, s.target.kind)
    if c is d and alike:
        if same_kind(elementwise_kind(operator.mul, (c, s.target)), s.target.kind):
            inner = ctx.emit(np.where, test, x, y, kind=s.target.kind)
            s.function, s.args = operator.mul, (c, inner)
    return None


def divide(ctx: Simplifier, s: ir.Assign) -> ir.Operand | None:
    a, b = s.args
    if not is_floating(s):
        return None
    if is_number(b, 1.0) and same_kind(number_kind(a), s.target.kind):
        return ctx.same(s.target, a)
    x, y = negated(ctx, a), negated(ctx, b)
    if x is not None:
        negate(ctx, s, operator.truediv, x, b)
        return None
    if y is not None:
        if is_number(a):
            become(s, operator.truediv, ir.Const(-a.value), y)  # type: ignore[union-attr]
        else:
            negate(ctx, s, operator.truediv, a, y)
        return None
    product = ctx.definition(a, operator.mul)
    for x, y in (product.args, product.args[::-1]) if product is not None else ():
        if y is b and isinstance(b, ir.Var) and same_kind(number_kind(x), s.target.kind):
            return ctx.same(s.target, x)  # in the limit it is where b is zero, too
    left = scaled(ctx, a)
    if left is None:
        return None
    if is_scalar(b) and not is_number(b, 0.0) and is_array(a):
        c = combine(ctx, operator.truediv, left[0], b)
        if c is not None:
            become(s, operator.mul, c, left[1])
    elif number_kind(a).shape == s.target.kind.shape:  # type: ignore[union-attr, attr-defined]
        rewritten(ctx, s, operator.mul, left[0], operator.truediv, left[1], b)
    return None


def by_reciprocal(ctx: Simplifier, s: ir.Assign) -> ir.Operand | None:
    """`a / t * r`, where `r` is `1 / t`, is `a * r * r`, which needs no `t`."""
    for a, r in (s.args, s.args[::-1]):
        ratio = ctx.temporary(a, operator.truediv)
        made = ctx.definition(r, operator.truediv)
        if ratio is None or made is None or not is_number(made.args[0], 1.0):
            continue
        if made.args[1] is ratio.args[1] and same_kind(number_kind(ratio.args[0]), number_kind(a)):
            x = ratio.args[0]
            if elementwise_kind(operator.mul, (x, r)) == number_kind(a):
                become(s, operator.mul, ctx.emit(operator.mul, x, r, kind=number_kind(a)), r)
                return None
    return None


def negative(ctx: Simplifier, s: ir.Assign) -> ir.Operand | None:
    (a,) = s.args
    if not is_floating(s):
        return None
    x = negated(ctx, a)
    if x is not None and same_kind(number_kind(x), s.target.kind):
        return ctx.same(s.target, x)
    product = scaled(ctx, a)
    if product is not None:
        c = combine(ctx, operator.neg, product[0])
        if c is not None:
            become(s, operator.mul, c, product[1])
        return None
    difference = ctx.temporary(a, operator.sub)
    if difference is not None and keeps_dtype(a, difference.args[0]):
        become(s, operator.sub, difference.args[1], difference.args[0])
        return None
    ratio = ctx.temporary(a, operator.truediv)
    if ratio is not None and is_number(ratio.args[0]):
        become(s, operator.truediv, ir.Const(-ratio.args[0].value), ratio.args[1])  # type: ignore[union-attr]
        return None
    return _rescaled(ctx, s, a, -1.0)


def _rescaled(
    ctx: Simplifier, s: ir.Assign, operand: ir.Operand, factor: float
) -> ir.Operand | None:
    """`factor * operand` in place of a call, if that costs nothing and is as fresh."""
    if ctx.temporary(operand, operator.mul, operator.truediv) is None:
        return None
    return (
        rescaled(ctx, operand, factor) if same_kind(number_kind(operand), s.target.kind) else None
    )


def rescaled(
    ctx: Simplifier, operand: ir.Operand, factor: float, most: int = MOST_FACTORS
) -> ir.Operand | None:
    """`factor * operand` where a constant in it takes the factor, so that it costs nothing.

    The constant is one of so many factors of factors at `most`.
    """
    if not most:
        return None
    s = ctx.temporary(operand, operator.mul, operator.truediv, np.expand_dims, operator.getitem)
    kind = number_kind(operand)
    if s is None or kind is None or kind.dtype is None or kind.dtype.kind not in "fc":
        return None
    first, *rest = s.args
    if isinstance(first, ir.Const):
        if type(first.value) not in (int, float):
            return None
        known = combine(ctx, operator.mul, ir.Const(factor), first)
        return None if known is None else ctx.emit(s.function, known, *rest, kind=kind)
    if s.function in (np.expand_dims, operator.getitem):
        if not s.views or not s.certain or not isinstance(kind, Array):
            return None
        inner = rescaled(ctx, first, factor, most - 1)
        if inner is None:
            return None
        return ctx.emit(s.function, inner, *rest, kind=kind, kwargs=s.kwargs, view=True)
    for k, part in enumerate(s.args if s.function is operator.mul else s.args[:1]):
        other = rescaled(ctx, part, factor, most - 1)
        if other is not None:
            return ctx.emit(s.function, *s.args[:k], other, *s.args[k + 1 :], kind=kind)
    return None


def add(ctx: Simplifier, s: ir.Assign) -> ir.Operand | None:
    a, b = s.args
    if not is_floating(s):
        return None
    for x, y in ((a, b), (b, a)):
        if is_number(x, 0.0) and same_kind(number_kind(y), s.target.kind):
            return ctx.same(s.target, y)
    if a is b:
        become(s, operator.mul, ir.Const(2.0), a)
        return None
    if is_array(b) and (rest := _besides(ctx, a, b)) is not None:
        twice = ctx.emit(operator.mul, ir.Const(2.0), b, kind=b.kind)  # type: ignore[union-attr]
        become(s, operator.add, rest, twice)
        return None
    left, right = negated(ctx, a), negated(ctx, b)
    if right is not None:
        become(s, operator.sub, a, right)
    elif left is not None:
        become(s, operator.sub, b, left)
    else:
        _factor(ctx, s, operator.add)
    return None


def _besides(ctx: Simplifier, total_: ir.Operand, term: ir.Operand) -> ir.Operand | None:
    """x if an operand is `x + term`, used nowhere else."""
    s = ctx.temporary(total_, operator.add)
    if s is None or term not in s.args or not keeps_dtype(total_, term):
        return None
    x = s.args[0] if s.args[1] is term else s.args[1]
    kinds = [number_kind(operand) for operand in (x, total_, term)]
    return x if all(_alike(kind, kinds[1]) for kind in kinds) else None


def _alike(a: Kind | None, b: Kind | None) -> bool:
    """Whether two kinds are the same but for how long the dimensions are known to be."""
    if isinstance(a, Array) and isinstance(b, Array) and a.shape and b.shape:
        return len(a.shape) == len(b.shape) and same_dtype(a, b)
    return a == b


def subtract(ctx: Simplifier, s: ir.Assign) -> ir.Operand | None:
    a, b = s.args
    if not is_floating(s):
        return None
    if is_number(b, 0.0) and same_kind(number_kind(a), s.target.kind):
        return ctx.same(s.target, a)
    if is_number(a, 0.0):
        become(s, operator.neg, b)
        return None
    x, y = negated(ctx, a), negated(ctx, b)
    if y is not None:
        become(s, operator.add, a, y)
    elif x is not None:
        negate(ctx, s, operator.add, x, b)
    else:
        _factor(ctx, s, operator.sub)
    return None


def _factor(ctx: Simplifier, s: ir.Assign, function: Any) -> None:
    """`c * x + c * y` is `c * (x + y)`; `x + -2.0 * y` is `x - 2.0 * y`."""
    a, b = s.args
    first, second = choice(ctx, a), choice(ctx, b)
    if function is operator.add and first is not None and second is not None:
        test, x, y = first
        if second[0] is test and is_number(y, 0.0) and is_number(second[1], 0.0):
            s.function, s.args = np.where, (test, x, second[2])
            return
        for k in (1, 2):
            if second[0] is test and is_number(first[3 - k], 0.0) and is_number(second[3 - k], 0.0):
                kind = elementwise_kind(operator.add, (first[k], second[k]))
                if kind is not None and same_dtype(kind, s.target.kind):
                    total_ = ctx.emit(operator.add, first[k], second[k], kind=kind)
                    zero = ir.Const(0.0)
                    s.args = (test, total_, zero) if k == 1 else (test, zero, total_)
                    s.function = np.where
                    return
    left, right = scaled(ctx, a), scaled(ctx, b)
    if left is not None and right is not None and is_array(a) and is_array(b):
        (c, x), (d, y) = left, right
        if _opposite(ctx, c, d):
            other = operator.sub if function is operator.add else operator.add
            rewritten(ctx, s, operator.mul, c, other, x, y)
            return
        if c is d or (is_number(c) and is_number(d) and c.value == d.value):  # type: ignore[union-attr]
            rewritten(ctx, s, operator.mul, c, function, x, y)
            return
        if x is y:
            total = combine(ctx, function, c, d)
            if total is not None:
                become(s, operator.mul, total, x)
            return
    if right is not None and is_number(right[0]) and right[0].value < 0:  # type: ignore[union-attr]
        other = operator.sub if function is operator.add else operator.add
        minus = ir.Const(-right[0].value)  # type: ignore[union-attr]
        if same_kind(elementwise_kind(other, (a, b)), s.target.kind):
            s.args = (a, ctx.emit(operator.mul, minus, right[1], kind=number_kind(b)))
            s.function = other
    elif (
        function is operator.add and left is not None and right is None
        and is_number(left[0]) and left[0].value < 0  # type: ignore[union-attr]
    ):  # fmt: skip
        minus = ir.Const(-left[0].value)  # type: ignore[union-attr]
        if same_kind(elementwise_kind(operator.sub, (b, a)), s.target.kind):
            s.args = (b, ctx.emit(operator.mul, minus, left[1], kind=number_kind(a)))
            s.function = operator.sub


def _opposite(ctx: Simplifier, c: ir.Operand, d: ir.Operand) -> bool:
    """Whether two scalars are `k` and `-k`, or `k / n` and `-k / n`."""
    if is_number(c) and is_number(d):
        return bool(c.value == -d.value)  # type: ignore[union-attr]
    a, b = ctx.definition(c, operator.truediv), ctx.definition(d, operator.truediv)
    if a is None or b is None or a.args[1] is not b.args[1]:
        return False
    j, k = a.args[0], b.args[0]
    return is_number(j) and is_number(k) and j.value == -k.value  # type: ignore[union-attr]


def power(ctx: Simplifier, s: ir.Assign) -> ir.Operand | None:
    x, n = s.args
    if is_number(n, 1.0) and is_floating(s) and same_kind(number_kind(x), s.target.kind):
        return ctx.same(s.target, x)
    if is_number(n, 2.0) and is_floating(s) and keeps_dtype(s.target, x):
        become(s, operator.mul, x, x)
    return None


def cube(ctx: Simplifier, s: ir.Assign) -> ir.Operand | None:
    """`x ** 3` as a product: NumPy takes a general power for it."""
    x, n = s.args
    if is_array(x) and is_number(n, 3.0) and is_floating(s) and keeps_dtype(s.target, x):
        if ctx.stable(x) and same_kind(x.kind, s.target.kind):  # type: ignore[union-attr]
            square = ctx.emit(operator.mul, x, x, kind=s.target.kind)
            s.function, s.args = operator.mul, (square, x)
    return None


def once(ctx: Simplifier, s: ir.Assign) -> ir.Operand | None:
    """A number times 1.0, of a flag or a default that is known when compiling, is the number."""
    for one, x in (s.args, s.args[::-1]):
        if is_number(one, 1.0) and isinstance(s.target.kind, Scalar) and is_floating(s):
            if isinstance(x, ir.Var) and x.kind == s.target.kind:
                return ctx.same(s.target, x)
    return None


FORWARD: dict[Any, list[Rule]] = {operator.pow: [cube], np.mean: [mean], operator.mul: [once]}

ALGEBRA: dict[Any, list[Rule]] = {
    operator.mul: [by_reciprocal, multiply, taken_in],
    operator.truediv: [divide, taken_in],
    operator.neg: [negative],
    operator.add: [add],
    operator.sub: [subtract],
    operator.pow: [power],
    np.sum: [total],
    operator.matmul: [transposed],
    np.where: [choose],
    np.transpose: [twice, turned],
    np.ndarray.transpose: [twice, turned],
    operator.getitem: [indexed],
    runtime.unbroadcast: [unbroadcast],
    np.add.at: [unique],
}
