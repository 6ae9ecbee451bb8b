"""Rewriting rules of arithmetic: signs and constant factors move outwards, where they meet.

A rule sees one call and returns what replaces it, or changes the call in place, or does nothing.
`ALGEBRA` holds for the reverse sweep, whose results may differ from the textbook's by rounding;
the forward sweep computes what the user wrote, and gets the rules of `FORWARD` alone.
"""

from __future__ import annotations

import builtins
import math
import operator
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from .. import ir
from ..kinds import INT, Array, Kind, Scalar, TupleOf, same_dtype
from .elementwise import elementwise_kind, number_kind, promoted, same_kind

if TYPE_CHECKING:
    from .simplify import Simplifier

Rule = Callable[["Simplifier", ir.Assign], ir.Operand | None]

FOLDABLE: frozenset[Any] = frozenset(
    {operator.add, operator.sub, operator.mul, operator.truediv, operator.neg, operator.pow,
     operator.floordiv, operator.mod, operator.lt, operator.le, operator.gt, operator.ge,
     operator.eq, operator.ne, operator.not_, builtins.abs, builtins.float, builtins.int,
     builtins.bool}
)  # fmt: skip


def fold(s: ir.Assign) -> ir.Const | None:
    """The value of a call of numbers that are known."""
    if s.kwargs or not s.args or not all(type(a) is ir.Const for a in s.args):
        return None
    values = [a.value for a in s.args if isinstance(a, ir.Const)]
    if not all(type(v) in (int, float, bool) or isinstance(v, np.floating) for v in values):
        return None
    try:
        if s.function not in FOLDABLE:
            return None
        with np.errstate(all="raise"):
            result = s.function(*values)
    except (TypeError, ArithmeticError, ValueError):
        return None
    if isinstance(result, complex) or (isinstance(result, float) and not math.isfinite(result)):
        return None
    return ir.Const(result)


# -- what operands are -----------------------------------------------------------------------------


def is_number(operand: ir.Operand, *values: float) -> bool:
    """Whether an operand is a known number, one of these if any are given."""
    if not isinstance(operand, ir.Const):
        return False
    value = operand.value
    if isinstance(value, bool) or not isinstance(value, (int, float, np.floating)):
        return False
    return not values or any(float(value) == v for v in values)


def is_scalar(operand: ir.Operand) -> bool:
    """Whether an operand is a real number that can be a coefficient."""
    if isinstance(operand, ir.Const):
        return is_number(operand) and math.isfinite(operand.value)
    kind = operand.kind if isinstance(operand, ir.Var) else None
    return isinstance(kind, Scalar) and kind.dtype.kind == "f"


def is_array(operand: ir.Operand) -> bool:
    return isinstance(operand, ir.Var) and isinstance(operand.kind, Array)


def is_floating(s: ir.Assign) -> bool:
    """Whether a call yields floats of known dtype and shape."""
    kind = s.target.kind
    return (
        isinstance(kind, (Array, Scalar))
        and kind.dtype is not None
        and kind.dtype.kind in "fc"
        and kind.shape is not None
    )


def keeps_dtype(whole: ir.Operand, part: ir.Operand) -> bool:
    """Whether a call and its operand have the same floating dtype."""
    a, b = number_kind(whole), number_kind(part)
    return (
        a is not None and b is not None and a.dtype is not None
        and a.dtype == b.dtype and a.dtype.kind in "fc"
    )  # fmt: skip


def scaled(ctx: Simplifier, operand: ir.Operand) -> tuple[ir.Operand, ir.Operand] | None:
    """(c, x) if an operand is `c * x`, used nowhere else, with c a scalar and x an array.

    x may be a scalar too if c is a constant.
    """
    s = ctx.temporary(operand, operator.mul)
    if s is None or not is_scalar(s.args[0]) or not keeps_dtype(operand, s.args[1]):
        return None
    if is_array(s.args[1]) or (is_number(s.args[0]) and isinstance(s.args[1], ir.Var)):
        return s.args[0], s.args[1]
    return None


def negated(ctx: Simplifier, operand: ir.Operand) -> ir.Operand | None:
    """x if an operand is `-x`, used at most twice: signs that are taken over make it vanish."""
    s = ctx.definition(operand, operator.neg)
    if s is None or ctx.counts.get(s.target, 0) > 2 or not keeps_dtype(operand, s.args[0]):
        return None
    return s.args[0]


def choice(
    ctx: Simplifier, operand: ir.Operand
) -> tuple[ir.Operand, ir.Operand, ir.Operand] | None:
    """(test, x, y) if an operand is `np.where(test, x, y)`, used nowhere else."""
    s = ctx.temporary(operand, np.where)
    if s is None or s.kwargs or len(s.args) != 3:
        return None
    test, x, y = s.args
    return test, x, y


def combine(ctx: Simplifier, function: Any, *operands: ir.Operand) -> ir.Operand | None:
    """A new call on scalars, None if its kind isn't known."""
    if all(is_number(o) for o in operands):
        return fold(ir.Assign(ir.Var("", Scalar(np.dtype(float))), function, operands))
    kind = elementwise_kind(function, operands)
    return None if kind is None else ctx.emit(function, *operands, kind=kind, name="scale")


def rewritten(
    ctx: Simplifier,
    s: ir.Assign,
    function: Any,
    coefficient: ir.Operand,
    inner: Any,
    *operands: ir.Operand,
) -> None:
    """Make a call `function(coefficient, inner(*operands))`, if that keeps its kind."""
    kind = elementwise_kind(inner, operands)
    if kind is None:
        return
    probe = ir.Var(s.target.name, kind)
    whole = promoted((coefficient, probe))
    if kind.shape != s.target.kind.shape or whole != s.target.kind.dtype:  # type: ignore[attr-defined]
        return
    s.args = (coefficient, ctx.emit(inner, *operands, kind=kind))
    s.function = function


def negate(ctx: Simplifier, s: ir.Assign, inner: Any, *operands: ir.Operand) -> None:
    """Make a call `-inner(*operands)`, if that keeps its kind."""
    kind = elementwise_kind(inner, operands)
    if same_kind(kind, s.target.kind):
        s.args, s.function = (ctx.emit(inner, *operands, kind=kind),), operator.neg


def become(s: ir.Assign, function: Any, *operands: ir.Operand) -> None:
    """Turn a call into another that yields the same, if that keeps its kind."""
    if same_kind(elementwise_kind(function, operands), s.target.kind):
        s.function, s.args = function, operands


# -- the rules -------------------------------------------------------------------------------------


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


def _never_zero(ctx: Simplifier, operand: ir.Operand) -> bool:
    """Whether a scalar is a number but 0, or such a number divided by a count."""
    if is_number(operand):
        return not is_number(operand, 0.0)
    ratio = ctx.definition(operand, operator.truediv)
    if ratio is None or not is_number(ratio.args[0]) or is_number(ratio.args[0], 0.0):
        return False
    kind = number_kind(ratio.args[1])
    return isinstance(kind, Scalar) and kind.dtype.kind == "i"


def choose(ctx: Simplifier, s: ir.Assign) -> ir.Operand | None:
    """`np.where(t, c * x, c * y)` is `c * np.where(t, x, y)`."""
    if s.kwargs or len(s.args) != 3 or not is_floating(s):
        return None
    test, a, b = s.args
    other = ctx.definition(test, np.where)
    if other is not None and is_number(b, 0.0) and len(other.args) == 3:
        # a mask made of a number that isn't zero is the test itself
        inner, x, y = other.args
        kind = number_kind(inner)
        if kind is not None and kind.dtype == np.bool_:
            if is_number(y, 0.0) and _never_zero(ctx, x):
                s.args = (inner, a, b)
                return None
            if is_number(x, 0.0) and _never_zero(ctx, y):
                s.args = (inner, b, a)
                return None
    for k, value in ((1, a), (2, b)):
        if is_number(s.args[3 - k], 0.0) and _unguard(ctx, s, k):
            return None
        found = choice(ctx, value)
        if found is not None and found[0] is test and is_number(found[3 - k], 0.0):
            if is_number(s.args[3 - k], 0.0):
                s.args = (test, found[1], found[2])
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


def rescaled(ctx: Simplifier, operand: ir.Operand, factor: float) -> ir.Operand | None:
    """`factor * operand` where a constant in it takes the factor, so that it costs nothing."""
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
        inner = rescaled(ctx, first, factor)
        if inner is None:
            return None
        return ctx.emit(s.function, inner, *rest, kind=kind, kwargs=s.kwargs, view=True)
    for k, part in enumerate(s.args if s.function is operator.mul else s.args[:1]):
        other = rescaled(ctx, part, factor)
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


def _leading(kwargs: dict[str, ir.Operand]) -> int:
    """How many leading axes a sum reduces and drops, 0 if it reduces others."""
    axis, keepdims = kwargs.get("axis"), kwargs.get("keepdims", ir.Const(False))
    if not isinstance(axis, ir.Const) or not isinstance(keepdims, ir.Const) or keepdims.value:
        return 0
    axes = axis.value if isinstance(axis.value, tuple) else (axis.value,)
    return len(axes) if axes == tuple(range(len(axes))) else 0


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
    """`x.T.T` is `x`; `(x.T @ y).T` is `y.T @ x`."""
    x = s.args[0]
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
    # a parameter is there anyway
    hidden = () if ctx.reversing else ctx.function.seeds
    alike = (p for p in ctx.function.params if isinstance(p.kind, Array) and p not in hidden)
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


FORWARD: dict[Any, list[Rule]] = {operator.pow: [cube], np.mean: [mean], operator.mul: [once]}

ALGEBRA: dict[Any, list[Rule]] = {
    operator.mul: [multiply],
    operator.truediv: [divide],
    operator.neg: [negative],
    operator.add: [add],
    operator.sub: [subtract],
    operator.pow: [power],
    np.sum: [total],
    operator.matmul: [transposed],
    np.where: [choose],
    np.transpose: [twice],
    np.add.at: [unique],
}
