"""The kind of a primitive's result, found by running the primitive on two small samples.

Instead of a shape rule for each of NumPy's functions there is one mechanism: give every unknown
dimension a length, call the function, and read the result. Two samples with different lengths,
values and memory layouts tell a dimension that follows an argument's from one that only happens
to have its length, and a view that is certain from one that depends on the layout. Functions
whose result depends on more than kinds (an index, a new shape) have a kind function of their own.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .. import ir
from ..kinds import (
    FLOAT,
    UNKNOWN,
    Array,
    Dimension,
    Kind,
    ListOf,
    Scalar,
    Size,
    TupleOf,
    derived_size,
    kind_of,
)
from ..packages import told
from .alternatives import (
    is_mixed,
    number_of_any_rank,
    of_either,
    shared_of_any_rank,
    tuple_of_any_rank,
)
from .patterns import (
    Unknown,
    agreed,
    common,
    filled,
    numeric,
    offsets_of,
    pattern_of,
    without_lengths,
)
from .quantities import of_quantities
from .samples import (
    GENERATORS,
    MOST_NUMBERS,
    ONES,
    UNIFORM,
    Lengths,
    Missing,
    Sampler,
    arrays_of,
    base_of,
    draws,
    is_literal,
    lengths_for,
    many_axes,
    not_random,
    overlap,
    silent,
    undrawn,
)

# Of the ints that are the length of nothing: the first, and how each differs from the one before.
CONFIRMING = (
    *((-1, 0), (0, 1), (2, 0), (1, -1), (3, -2), (0, 0), (-2, 1)),
    *((0, 3), (2, -2), (3, -1), (5, -1)),
)
_ELEMENTWISE = frozenset(
    {operator.add, operator.sub, operator.mul, operator.truediv, operator.pow, operator.mod}
)
_INTEGER_ARITHMETIC = frozenset(
    {operator.add, operator.sub, operator.mul, operator.floordiv, operator.mod, operator.neg}
)
MOST_AXES_OF_TWO = 6  # of the operands of a product, together, that have long samples
_JOINING = frozenset(
    {np.concatenate, np.stack, np.hstack, np.vstack, np.dstack, np.column_stack, np.block}
)
# Operators whose result's kind never depends on a value
_CERTAIN = frozenset(
    {operator.add, operator.sub, operator.mul, operator.truediv, operator.neg, operator.pos,
     operator.matmul, operator.eq, operator.ne, operator.lt, operator.le, operator.gt, operator.ge}
)  # fmt: skip
# Those that never return an operand
_FRESH = (_CERTAIN - {operator.pos}) | {operator.floordiv, operator.mod, operator.pow, operator.abs}
Fits = Callable[[tuple[ir.Operand, ...], dict[str, ir.Operand]], bool | None]
_cache: dict[tuple[Any, ...], tuple[Any, tuple[int, ...], bool]] = {}
_fitting: dict[tuple[Any, ...], bool] = {}
_fits_by_lengths: dict[Any, Fits] = {}


@dataclass(frozen=True, slots=True)
class Inferred:
    """The kind of a result, the variables whose memory it may share, and whether it surely does."""

    kind: Kind
    views: tuple[ir.Var, ...] = ()
    certain: bool = True


@dataclass(frozen=True, slots=True)
class LengthsNeeded:
    """What a kind function returns where the rank of a result follows from unknown lengths."""

    lengths: tuple[Size, ...]


def infer(function: Any, args: tuple[ir.Operand, ...], kwargs: dict[str, ir.Operand]) -> Inferred:
    """The kind of `function(*args, **kwargs)`; UNKNOWN where the samples don't tell.

    >>> import numpy as np
    >>> n = Size(0); x = ir.Var("x", Array(np.dtype("f4"), (n, 3)))
    >>> infer(np.sum, (x,), {"axis": ir.Const(0)}).kind
    Array(dtype=dtype('float32'), shape=(3,))
    >>> infer(np.transpose, (x,), {}).views == (x,)
    True
    """
    key, bases, leaves = _key(function, args, kwargs)
    if not kwargs and (made := of_quantities(function, args)) is not None:
        return Inferred(made)
    if mixed := [leaf for leaf in leaves if is_mixed(leaf.kind)]:
        return Inferred(*of_either(infer, function, args, kwargs, mixed))
    cached = None if key is None else _cache.get(key)
    if cached is None:
        arrays = (array for leaf in leaves for array in arrays_of(leaf.kind))
        unknown = any(array.dtype is None and array.shape is not None for array in arrays)
        sampled = _sampled_each if unknown else _sampled
        cached = sampled(function, args, kwargs, bases, leaves)
        if key is not None:
            _keep(_cache, key, cached)
    pattern, positions, certain = cached
    kind = filled(pattern, bases)
    if isinstance(pattern, tuple) and pattern == (int, None):
        kind = _derived_int(function, args, kwargs) or kind
    elif isinstance(pattern, tuple) and pattern[0] is Array and None in pattern[2] and not kwargs:
        kind = _broadcast(function, args, kind)
    elif kind == UNKNOWN and (number := number_of_any_rank(infer, function, args, kwargs)):
        return Inferred(number)
    elif kind == UNKNOWN:
        kind = tuple_of_any_rank(infer, function, args, kwargs) or kind
    return Inferred(kind, tuple(leaves[i] for i in positions), certain)


def fits(function: Any, args: tuple[ir.Operand, ...], kwargs: dict[str, ir.Operand]) -> bool:
    """Whether operands of these shapes surely go together: the function takes samples of them.

    Samples whose lengths are all the same don't count.

    >>> import numpy as np
    >>> x, y = (ir.Var("x", Array(np.dtype("f8"), (Size(n),))) for n in (0, 1))
    >>> fits(np.dot, (x, x), {}), fits(np.dot, (x, y), {})
    (True, False)
    """
    key, bases, leaves = _key(function, args, kwargs)
    if key is None:
        return True
    if (
        function in _fits_by_lengths
        and (known := _fits_by_lengths[function](args, kwargs)) is not None
    ):
        return known
    if key not in _fitting:
        _keep(_fitting, key, _taken(function, args, kwargs, bases, leaves))
    return _fitting[key]


def fits_by_lengths(*functions: Any) -> Callable[[Fits], Fits]:
    """Decorator: how it is known whether operands of functions fit that take long for samples.

    None leaves it to the samples.
    """

    def register(rule: Fits) -> Fits:
        _fits_by_lengths.update(dict.fromkeys(functions, rule))
        return rule

    return register


def mistaken(
    function: Any,
    args: tuple[ir.Operand, ...],
    kwargs: dict[str, ir.Operand],
    exception: type[Exception] = TypeError,
) -> Exception | None:
    """The exception of this type that a call raises for all samples of its operands, or None.

    >>> mistaken(operator.add, (ir.Const(None), ir.Var("x", Scalar(np.dtype(float)))), {})
    TypeError("unsupported operand type(s) for +: 'NoneType' and 'float'")
    """
    _, bases, leaves = _key(function, args, kwargs)
    found = None
    for lengths, attempt in _attempts(_lengths(function, args, kwargs, leaves, bases)):
        sampler = Sampler(0, attempt, bases, lengths=lengths)
        try:
            values = [sampler.operand(a) for a in args]
            named = {k: sampler.operand(v) for k, v in kwargs.items()}
            with silent():
                _called(function, values, named)
        except Missing:
            return None
        except Exception as error:
            if not isinstance(error, exception):
                return None  # it's of the values or lengths
            found = error
        else:
            return None
    return found


def _key(
    function: Any, args: tuple[ir.Operand, ...], kwargs: dict[str, ir.Operand]
) -> tuple[tuple[Any, ...] | None, list[Size | int], list[ir.Var]]:
    """What a call's result depends on, if that can be a key, and its dimensions and variables."""
    bases: list[Size | int] = []
    leaves: list[ir.Var] = []
    key: list[Any] = [function]
    for operand in args:
        _describe(operand, bases, leaves, key)
    for name in kwargs:
        key.append(name)
        _describe(kwargs[name], bases, leaves, key)
    try:
        hash(whole := tuple(key))
    except TypeError:
        return None, bases, leaves
    return whole, bases, leaves


def _keep(cache: dict[tuple[Any, ...], Any], key: tuple[Any, ...], found: Any) -> None:
    if len(cache) > 20000:
        cache.clear()
    cache[key] = found


def _taken(
    function: Any,
    args: tuple[ir.Operand, ...],
    kwargs: dict[str, ir.Operand],
    bases: list[Size | int],
    leaves: list[ir.Var],
) -> bool:
    """Whether a call takes samples of two different lengths, as `x.reshape(2, 3)` does not."""
    short = many_axes(leaf.kind for leaf in leaves)
    tried = _lengths(function, args, kwargs, leaves, bases, short)
    return all(_takes(variant, function, args, kwargs, bases, tried) for variant in (0, 1))


def _takes(
    variant: int,
    function: Any,
    args: tuple[ir.Operand, ...],
    kwargs: dict[str, ir.Operand],
    bases: list[Size | int],
    tried: list[Lengths],
) -> bool:
    for lengths, attempt in _attempts(tried):
        if attempt >= UNIFORM:
            continue
        sampler = Sampler(variant, attempt, bases, unknown=FLOAT.dtype, lengths=lengths)
        try:
            values = [sampler.operand(a) for a in args]
            named = {k: sampler.operand(v) for k, v in kwargs.items()}
            with silent():
                _called(function, values, named)
        except Missing:
            return True
        except Exception:
            continue
        return True
    return False


def _describe(
    operand: ir.Operand, bases: list[Size | int], leaves: list[ir.Var], key: list[Any]
) -> None:
    """Append to `key` all that the result's kind can depend on."""
    if isinstance(operand, ir.Var):
        leaves.append(operand)
        _describe_kind(operand.kind, bases, key)
    elif isinstance(operand, ir.Pack):
        key.append((operand.type, len(operand.items)))
        for item in operand.items:
            _describe(item, bases, leaves, key)
    else:
        value = operand.value
        key.append(
            (type(value), value, str(value)) if isinstance(value, float) else (type(value), value)
        )


def _describe_kind(kind: Any, bases: list[Size | int], key: list[Any]) -> None:
    match kind:
        case Array(dtype, shape) if shape is not None:
            key.append((Array, dtype, kind.real))
            key += [_described(n, bases) for n in shape]
            key.append(None)
        case Scalar(dtype, python, size):
            key.append((Scalar, dtype, python))
            key.append(None if size is None else _described(size, bases))
        case TupleOf(items, type_):
            key.append((TupleOf, len(items), type_))
            for item in items:
                _describe_kind(item, bases, key)
        case ListOf(item):
            key.append(ListOf)
            key.append(None if kind.length is None else _described(kind.length, bases))
            for part in item if isinstance(item, tuple) else (item,):
                _describe_kind(part, bases, key)
            key.append(None)
        case _:
            key.append(kind)


def _described(n: Dimension, bases: list[Size | int]) -> Any:
    """A dimension as part of a key: a literal, or the position of its base, and what is known."""
    if is_literal(n):
        return n
    offset, big = (n.offset, n.big) if isinstance(n, Size) else (0, False)
    return base_of(n, bases), offset, big


def _broadcast(function: Any, args: tuple[ir.Operand, ...], kind: Kind) -> Kind:
    """The kind of a result whose dimensions follow from those of elementwise operands."""
    ufunc = isinstance(function, np.ufunc) and function.signature is None
    if not (ufunc or function in _ELEMENTWISE) or not isinstance(kind, Array):
        return kind
    shapes: list[tuple[Dimension, ...]] = []
    for operand in args:
        if isinstance(operand, ir.Pack):  # a list of numbers
            return kind
        known = operand.kind if isinstance(operand, ir.Var) else kind_of(operand.value)
        if not isinstance(known, (Array, Scalar)) or known.shape is None:
            return kind
        shapes.append(known.shape)
    assert kind.shape is not None
    rank = len(kind.shape)
    found = []
    for axis, n in enumerate(kind.shape):
        parts = dict.fromkeys(s[axis - rank] for s in shapes if len(s) >= rank - axis)
        parts.pop(1, None)
        if isinstance(n, Size) and n not in parts:
            # what isn't 1 is the length of the result, or else there is none
            sure: list[Dimension] = [m for m in parts if isinstance(m, int)]
            sure += [m for m in parts if isinstance(m, Size) and m.never_one]
            if sure or len(parts) == 1:
                n = [*sure, *parts][0]
            elif parts:
                n = derived_size("broadcast", frozenset(parts))
        found.append(n)
    return replace(kind, shape=tuple(found))


def _derived_int(
    function: Any, args: tuple[ir.Operand, ...], kwargs: dict[str, ir.Operand]
) -> Kind | None:
    """The kind of an int that follows from other ints, if their values are known by their sizes."""
    if kwargs or function not in _INTEGER_ARITHMETIC:
        return None
    values: list[Any] = []
    for operand in args:
        if isinstance(operand, ir.Const) and type(operand.value) is int:
            values.append(operand.value)
        elif isinstance(operand, ir.Var) and isinstance(operand.kind, Scalar):
            if operand.kind.size is None:
                return None
            values.append(operand.kind.size)
        else:
            return None
    return Scalar(np.dtype(np.int64), True, derived_size(function, *values))


def _sampled(
    function: Any,
    args: tuple[ir.Operand, ...],
    kwargs: dict[str, ir.Operand],
    bases: list[Size | int],
    leaves: list[ir.Var],
    unknown: np.dtype[Any] | None = None,
) -> tuple[Any, tuple[int, ...], bool]:
    tried = _lengths(function, args, kwargs, leaves, bases)
    # a ufunc or an operator makes a new array; anything else may return its operands
    fresh = isinstance(function, np.ufunc) or function in _FRESH or copies(function, kwargs)
    may_share = () if fresh else tuple(range(len(leaves)))
    for lengths, attempt in _attempts(tried):
        results, shared = [], []
        try:
            for variant in (0, 1):
                sampler = Sampler(variant, attempt, bases, unknown=unknown, lengths=lengths)
                sampler.resizes = attempt == UNIFORM and function in _JOINING
                values = [sampler.operand(a) for a in args]
                named = {k: sampler.operand(v) for k, v in kwargs.items()}
                with silent():
                    result = _called(function, values, named)
                results.append(result)
                shared.append(
                    frozenset(i for i, leaf in enumerate(sampler.leaves) if overlap(result, leaf))
                )
        except Missing:
            break
        except Exception:
            continue
        seen = offsets_of(leaves, bases) if attempt < UNIFORM else []
        pattern = pattern_of(results[0], results[1], seen, lengths)
        drawn = draws(function) or any(isinstance(v, GENERATORS) for v in sampler.leaves)
        if attempt == ONES and not numeric(pattern):
            break  # an object, of which it isn't known whether it is always one
        if drawn or attempt == ONES:
            pattern = without_lengths(pattern, attempt == ONES)
        if not isinstance(function, np.ufunc) and function not in _CERTAIN:
            pattern = _confirmed(
                pattern, function, args, kwargs, bases, leaves, shared, unknown,
                [lengths, *(other for other in tried if other is not lengths)],
                UNIFORM if attempt == UNIFORM else 0,
                _numbers(results[1]) / max(_numbers(sampler.leaves), 1),
            )  # fmt: skip
        if attempt == ONES:
            return pattern, may_share, False
        return pattern, tuple(sorted(frozenset().union(*shared))), len(set(shared)) == 1
    if may_share:
        found = shared_of_any_rank(infer, mistaken, function, args, kwargs, leaves)
        may_share = tuple(i for i in may_share if leaves[i] in found)
    return Unknown(), may_share, False


def copies(function: Any, kwargs: dict[str, ir.Operand]) -> bool:
    """Whether a call is asked for an array of its own, whatever it is given."""
    copy = kwargs.get("copy", ir.Const(True))
    own = isinstance(copy, ir.Const) and copy.value is True
    return function is np.copy or (function is np.array and own)


def _attempts(tried: list[Lengths]) -> list[tuple[Lengths, int]]:
    """The samples that are tried, until a call takes them: what tells most comes first."""
    usual = [(tried[0], attempt) for attempt in range(ONES + 1)]
    return [*usual[:UNIFORM], *((lengths, 0) for lengths in tried[1:]), *usual[UNIFORM:]]


def _short(function: Any, leaves: list[ir.Var]) -> bool:
    """Whether the samples of the operands of a call must be short, lest its result be huge.

    Two arrays may be multiplied each item by each: `np.tensordot(x, y, n)` with `n` 0.
    """
    if many_axes(leaf.kind for leaf in leaves):
        return True
    if isinstance(function, np.ufunc) or function in _CERTAIN or function in _JOINING:
        return False
    axes = [len(v.kind.shape) for v in leaves if isinstance(v.kind, Array) and v.kind.shape]
    return len(axes) == 2 and sum(axes) > MOST_AXES_OF_TWO


def _lengths(
    function: Any,
    args: tuple[ir.Operand, ...],
    kwargs: dict[str, ir.Operand],
    leaves: list[ir.Var],
    bases: list[Size | int],
    short: bool | None = None,
) -> list[Lengths]:
    """How long the samples of the operands of a call are: what is tried in turn."""
    if short is None:
        short = _short(function, leaves)
    if isinstance(function, np.ufunc) or function in _CERTAIN:
        return [Lengths(short)]  # a number that is added isn't the place of anything
    return lengths_for((*args, *kwargs.values()), [leaf.kind for leaf in leaves], short, bases)


def _sampled_each(
    function: Any,
    args: tuple[ir.Operand, ...],
    kwargs: dict[str, ir.Operand],
    bases: list[Size | int],
    leaves: list[ir.Var],
) -> tuple[Any, tuple[int, ...], bool]:
    """What holds whatever the unknown dtype is: eigenvalues may be real or complex."""
    pattern, views, certain = None, set(), True
    arrays = (array for leaf in leaves for array in arrays_of(leaf.kind))
    real = all(array.dtype is not None or array.real for array in arrays)
    for dtype in map(np.dtype, "dfl?" if real else "dDfFl?"):
        found, positions, sure = _sampled(function, args, kwargs, bases, leaves, dtype)
        if isinstance(found, Unknown) and dtype.kind not in "fc":
            continue  # it takes no ints or bools
        certain = certain and sure and (pattern is None or views == set(positions))
        pattern = found if pattern is None else common(pattern, found)
        views |= set(positions)
    return pattern, tuple(sorted(views)), certain


def _confirmed(
    pattern: Any,
    function: Any,
    args: tuple[ir.Operand, ...],
    kwargs: dict[str, ir.Operand],
    bases: list[Size | int],
    leaves: list[ir.Var],
    shared: list[frozenset[int]],
    unknown: np.dtype[Any] | None,
    tried: list[Lengths],
    attempt: int,
    growth: float,
) -> Any:
    """The part of a pattern that holds for other values too: of an axis, an index, a matrix.

    `growth`: how many numbers the result has for each of the operands.
    """
    dimensions = {
        base_of(n, bases)
        for leaf in leaves
        if isinstance(leaf.kind, Array)
        for n in leaf.kind.shape or ()
        if not is_literal(n)
    }
    free = any(isinstance(v.kind, Scalar) and v.kind.dtype.kind in "iu" for v in leaves)
    if not free and not any(isinstance(v.kind, Array) for v in leaves):
        return pattern
    lengths, *others = tried
    spread = not lengths.short and lengths.only is None
    samplers = [
        Sampler(
            number % 2, attempt, bases, (number, first, step, dimensions), unknown, lengths, apart
        )
        for number, (first, step) in enumerate(CONFIRMING if free else CONFIRMING[:3])
        for apart in ((False, True) if number in (1, 2) and spread else (False,))
    ]
    about = (2, *CONFIRMING[2], dimensions)
    samplers += [Sampler(0, attempt, bases, about, unknown, other) for other in others]
    for sampler in samplers:
        try:
            values = [sampler.operand(a) for a in args]
            named = {k: sampler.operand(v) for k, v in kwargs.items()}
            if growth * _numbers(sampler.leaves) > MOST_NUMBERS:
                continue
            with silent():
                result = _called(function, values, named)
        except Exception:
            continue
        pattern = agreed(pattern, result, sampler)
        if not _empty(result):
            shared.append(
                frozenset(i for i, leaf in enumerate(sampler.leaves) if overlap(result, leaf))
            )
    return pattern


def _called(function: Any, values: list[Any], named: dict[str, Any]) -> Any:
    """What a function returns for samples; an array's method is that of NumPy's numbers too."""
    if values and told(function, "__objclass__") is np.ndarray:
        if isinstance(values[0], (bool, int, float, complex, np.generic)):
            number = np.asarray(values[0])[()]
            return getattr(number, function.__name__)(*values[1:], **named)
    with undrawn(function, values):
        return not_random(function)(*values, **named)


def _numbers(values: Any) -> int:
    """How many numbers there are in an array, or in tuples and lists of them."""
    if isinstance(values, (tuple, list)):
        return sum(map(_numbers, values))
    return values.size if isinstance(values, np.ndarray) else 1


def _empty(result: Any) -> bool:
    return isinstance(result, np.ndarray) and not result.size
