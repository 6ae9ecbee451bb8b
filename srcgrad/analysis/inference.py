"""The kind of a primitive's result, found by running the primitive on two small samples.

Instead of a shape rule for each of NumPy's functions there is one mechanism: give every unknown
dimension a length, call the function, and read the result. Two samples with different lengths,
values and memory layouts tell a dimension that follows an argument's from one that only happens
to have its length, and a view that is certain from one that depends on the layout. Functions
whose result depends on more than kinds (an index, a new shape) have a kind function of their own.
"""

from __future__ import annotations

import contextlib
import operator
import random
import sys
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import ir
from ..kinds import (
    UNKNOWN,
    Array,
    Dimension,
    Kind,
    ListOf,
    Opaque,
    Scalar,
    Size,
    TupleOf,
    derived_size,
    fresh_size,
    join,
    kind_of,
)

# Lengths of the unknown dimensions in the two samples: all differences A - B are different.
LENGTHS = ((6, 7, 9, 11, 13, 17), (17, 14, 12, 10, 8, 7))
LARGEST_LITERAL = 24
# Of the ints that are the length of nothing: the first, and how each differs from the one before.
CONFIRMING = (
    *((-1, 0), (0, 1), (2, 0), (1, -1), (3, -2), (0, 0), (-2, 1)),
    *((0, 3), (2, -2), (3, -1), (5, -1)),
)
UNIFORM = 3  # the attempt in which all dimensions but 0 and 1 have the same length


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


class Missing(Exception):
    """An operand of which no sample can be made."""


def infer(function: Any, args: tuple[ir.Operand, ...], kwargs: dict[str, ir.Operand]) -> Inferred:
    """The kind of `function(*args, **kwargs)`; UNKNOWN where the samples don't tell.

    >>> import numpy as np
    >>> n = Size(0); x = ir.Var("x", Array(np.dtype("f4"), (n, 3)))
    >>> infer(np.sum, (x,), {"axis": ir.Const(0)}).kind
    Array(dtype=dtype('float32'), shape=(3,))
    >>> infer(np.transpose, (x,), {}).views == (x,)
    True
    """
    bases: list[Size | int] = []
    leaves: list[ir.Var] = []
    key: list[Any] = [function]
    for operand in args:
        _describe(operand, bases, leaves, key)
    for name in kwargs:
        key.append(name)
        _describe(kwargs[name], bases, leaves, key)
    try:
        cached = _cache.get(tuple(key))
        hashable = True
    except TypeError:
        cached, hashable = None, False
    if cached is None:
        sampled = _sampled_each if any(_any_dtype(leaf.kind) for leaf in leaves) else _sampled
        cached = sampled(function, args, kwargs, bases, leaves)
        if hashable:
            if len(_cache) > 20000:
                _cache.clear()
            _cache[tuple(key)] = cached
    pattern, positions, certain = cached
    kind = _filled(pattern, bases)
    if isinstance(pattern, tuple) and pattern == (int, None):
        kind = _derived_int(function, args, kwargs) or kind
    elif isinstance(pattern, tuple) and pattern[0] is Array and None in pattern[2] and not kwargs:
        kind = _broadcast(function, args, kind)
    return Inferred(kind, tuple(leaves[i] for i in positions), certain)


def _broadcast(function: Any, args: tuple[ir.Operand, ...], kind: Kind) -> Kind:
    """The kind of a result whose dimensions follow from those of elementwise operands."""
    ufunc = isinstance(function, np.ufunc) and function.signature is None
    if not (ufunc or function in _ELEMENTWISE) or not isinstance(kind, Array):
        return kind
    shapes: list[tuple[Dimension, ...]] = []
    for operand in args:
        known = operand.kind if isinstance(operand, ir.Var) else kind_of(operand.value)  # type: ignore[union-attr]
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
    return Array(kind.dtype, tuple(found))


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


_ELEMENTWISE = frozenset(
    (operator.add, operator.sub, operator.mul, operator.truediv, operator.pow, operator.mod)
)
_INTEGER_ARITHMETIC = frozenset(
    (operator.add, operator.sub, operator.mul, operator.floordiv, operator.mod, operator.neg)
)


_JOINING = frozenset(
    (np.concatenate, np.stack, np.hstack, np.vstack, np.dstack, np.column_stack, np.block)
)
_cache: dict[tuple[Any, ...], tuple[Any, tuple[int, ...], bool]] = {}


def _base(size: Size | int, bases: list[Size | int]) -> int:
    """The position of a dimension's base among the bases."""
    number: Any = size.base if isinstance(size, Size) else size
    for position, known in enumerate(bases):
        if (known.base if isinstance(known, Size) else known) == number and type(known) is type(
            size
        ):
            if isinstance(size, Size) and size.big:
                bases[position] = Size(size.base, 0, True)
            return position
    bases.append(Size(size.base, 0, size.big) if isinstance(size, Size) else size)
    return len(bases) - 1


def _literal(n: Dimension) -> bool:
    return isinstance(n, int) and n <= LARGEST_LITERAL


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
            key.append((Array, dtype))
            for n in shape:
                offset = n.offset if isinstance(n, Size) else 0
                key.append(n if _literal(n) else (_base(n, bases), offset))
            key.append(None)
        case Scalar(dtype, python, size):
            key.append((Scalar, dtype, python))
            key.append((_base(size, bases), size.offset) if isinstance(size, Size) else size)
        case TupleOf(items, type_):
            key.append((TupleOf, len(items), type_))
            for item in items:
                _describe_kind(item, bases, key)
        case ListOf(item):
            key.append(ListOf)
            for part in item if isinstance(item, tuple) else (item,):
                _describe_kind(part, bases, key)
            key.append(None)
        case _:
            key.append(kind)


def _sampled(
    function: Any,
    args: tuple[ir.Operand, ...],
    kwargs: dict[str, ir.Operand],
    bases: list[Size | int],
    leaves: list[ir.Var],
    unknown: np.dtype[Any] | None = None,
) -> tuple[Any, tuple[int, ...], bool]:
    for attempt in range(4):
        results, shared = [], []
        try:
            for variant in (0, 1):
                sampler = _Sampler(variant, attempt, bases, unknown=unknown)
                sampler.resizes = attempt == UNIFORM and function in _JOINING
                values = [sampler.operand(a) for a in args]
                named = {k: sampler.operand(v) for k, v in kwargs.items()}
                with _silent():
                    result = _unrandom(function)(*values, **named)
                results.append(result)
                shared.append(
                    frozenset(i for i, leaf in enumerate(sampler.leaves) if _overlap(result, leaf))
                )
        except Missing:
            break
        except Exception:
            continue
        seen = _offsets(leaves, bases) if attempt < UNIFORM else []
        pattern = _pattern(results[0], results[1], seen)
        if _draws(function) or any(isinstance(v, _GENERATORS) for v in sampler.leaves):
            pattern = _without_lengths(pattern)
        if not isinstance(function, np.ufunc) and function not in _CERTAIN:
            pattern = _confirmed(pattern, function, args, kwargs, bases, leaves, shared, unknown)
        return pattern, tuple(sorted(frozenset().union(*shared))), len(set(shared)) == 1
    # a ufunc or an operator makes a new array; anything else may return its operands
    fresh = isinstance(function, np.ufunc) or function in _ARITHMETIC
    return _Unknown(), () if fresh else tuple(range(len(leaves))), False


def _any_dtype(kind: Any) -> bool:
    """Whether there are arrays of a known shape but unknown dtype in this kind."""
    match kind:
        case Array(dtype, shape):
            return dtype is None and shape is not None
        case TupleOf(items):
            return any(map(_any_dtype, items))
        case ListOf(item) if not isinstance(item, tuple):
            return _any_dtype(item)
    return False


def _sampled_each(
    function: Any,
    args: tuple[ir.Operand, ...],
    kwargs: dict[str, ir.Operand],
    bases: list[Size | int],
    leaves: list[ir.Var],
) -> tuple[Any, tuple[int, ...], bool]:
    """What holds whatever the unknown dtype is: eigenvalues may be real or complex."""
    pattern, views, certain = None, set(), True
    for dtype in map(np.dtype, "dDfFl?"):
        found, positions, sure = _sampled(function, args, kwargs, bases, leaves, dtype)
        if isinstance(found, _Unknown) and dtype.kind not in "fc":
            continue  # it takes no ints or bools
        certain = certain and sure and (pattern is None or views == set(positions))
        pattern = found if pattern is None else _both(pattern, found)
        views |= set(positions)
    return pattern, tuple(sorted(views)), certain


def _both(a: Any, b: Any) -> Any:
    """What two patterns have in common."""
    if a == b:
        return a
    if isinstance(a, tuple) and isinstance(b, tuple) and a[0] is b[0]:
        if a[0] is Array and len(a[2]) == len(b[2]):
            dimensions = zip(a[2], b[2], strict=True)
            return (
                Array,
                a[1] if a[1] == b[1] else None,
                tuple(m if m == n else None for m, n in dimensions),
            )
        if a[0] is not Array and a[0] is not int and len(a[1]) == len(b[1]):
            return (a[0], tuple(map(_both, a[1], b[1])))
    return _Unknown()


# Operators whose result's kind never depends on a value
_CERTAIN = frozenset(
    (
        *(operator.add, operator.sub, operator.mul, operator.truediv, operator.neg, operator.pos),
        *(operator.matmul, operator.eq, operator.ne, operator.lt, operator.le, operator.gt),
        operator.ge,
    )
)


def _confirmed(
    pattern: Any,
    function: Any,
    args: tuple[ir.Operand, ...],
    kwargs: dict[str, ir.Operand],
    bases: list[Size | int],
    leaves: list[ir.Var],
    shared: list[frozenset[int]],
    unknown: np.dtype[Any] | None,
) -> Any:
    """The part of a pattern that holds for other values too: of an axis, an index, a matrix."""
    dimensions = {
        _base(n, bases)
        for leaf in leaves
        if isinstance(leaf.kind, Array)
        for n in leaf.kind.shape or ()
        if not _literal(n)
    }
    free = any(isinstance(v.kind, Scalar) and v.kind.dtype.kind in "iu" for v in leaves)
    if not free and not any(isinstance(v.kind, Array) for v in leaves):
        return pattern
    for number, (first, step) in enumerate(CONFIRMING if free else CONFIRMING[:3]):
        sampler = _Sampler(number % 2, 0, bases, (number, first, step, dimensions), unknown)
        try:
            values = [sampler.operand(a) for a in args]
            named = {k: sampler.operand(v) for k, v in kwargs.items()}
            with _silent():
                result = _unrandom(function)(*values, **named)
        except Exception:
            continue
        pattern = _agreed(pattern, result, sampler)
        if not _empty(result):
            shared.append(
                frozenset(i for i, leaf in enumerate(sampler.leaves) if _overlap(result, leaf))
            )
    return pattern


@contextlib.contextmanager
def _silent() -> Iterator[None]:
    """Nothing is said of what a sample does: warnings, and errors that compiled code swallows."""
    hook = sys.unraisablehook
    sys.unraisablehook = lambda unraisable: None
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        sys.unraisablehook = hook


def _empty(result: Any) -> bool:
    return isinstance(result, np.ndarray) and not result.size


def _agreed(pattern: Any, result: Any, sampler: _Sampler) -> Any:
    """What of a pattern is true of another sample's result."""
    if isinstance(pattern, _Unknown):
        return pattern
    if isinstance(pattern, Kind):
        return _Unknown() if type(result) is int else _either(pattern, kind_of(result))
    if pattern[0] is Array:
        if not isinstance(result, np.ndarray) or result.ndim != len(pattern[2]):
            return _Unknown()
        dtype = pattern[1] if result.dtype == pattern[1] else None
        dimensions = zip(pattern[2], result.shape, strict=True)
        return (Array, dtype, tuple(n if sampler.agrees(n, m) else None for n, m in dimensions))
    if pattern[0] is int:
        if type(result) is not int:
            return _Unknown()
        return (int, pattern[1] if sampler.agrees(pattern[1], result) else None)
    if type(result) is not pattern[0] or len(result) != len(pattern[1]):
        return _Unknown()
    items = zip(pattern[1], result, strict=True)
    return (pattern[0], tuple(_agreed(p, r, sampler) for p, r in items))


_ARITHMETIC: frozenset[Any] = frozenset(
    {operator.add, operator.sub, operator.mul, operator.truediv, operator.floordiv, operator.mod,
     operator.pow, operator.matmul, operator.neg, operator.abs, operator.lt, operator.le,
     operator.gt, operator.ge, operator.eq, operator.ne}
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class _Unknown:
    pass


@dataclass(frozen=True, slots=True)
class _Relative:
    base: int
    offset: int


_GENERATORS = (np.random.Generator, np.random.RandomState, random.Random)


def _seeded(cls: Any, seed: int) -> Any:
    return cls(seed if cls is random.Random else np.random.MT19937(seed))


def _draws(function: Any) -> bool:
    return isinstance(getattr(function, "__self__", None), _GENERATORS)


def _without_lengths(pattern: Any) -> Any:
    """A pattern in which an int is as long as nothing: it was drawn."""
    match pattern:
        case (kind, _) if kind is int:
            return (int, None)
        case (kind, items) if kind is not Array:
            return (kind, tuple(map(_without_lengths, items)))
    return pattern


def _unrandom(thing: Any) -> Any:
    """A generator of random numbers, or its method, not the user's, which stays as it is."""
    if isinstance(thing, _GENERATORS):
        return _seeded(type(thing), 0)
    if _draws(thing):
        return getattr(_unrandom(thing.__self__), thing.__name__)
    return thing


class _Sampler:
    """Makes sample values: variant 0 C-contiguous and all different, variant 1 neither."""

    def __init__(
        self,
        variant: int,
        attempt: int,
        bases: list[Size | int],
        confirming: tuple[int, int, int, set[int]] | None = None,
        unknown: np.dtype[Any] | None = None,
    ) -> None:
        self.variant, self.attempt, self.bases = variant, attempt, bases
        self.confirming = confirming
        self.unknown = unknown  # the dtype of arrays whose dtype isn't known
        self.resizes = False  # whether constant arrays are given other lengths too
        self.given: dict[int, int] = {}  # the bases that are an int's alone, in a confirmation
        self.leaves: list[Any] = []

    def agrees(self, n: _Relative | int | None, length: int) -> bool:
        """Whether a result's dimension is as long as was found."""
        if isinstance(n, _Relative):
            base = self.given.get(n.base, _length(self.variant, n.base))
            return max(base + n.offset, 0) == length
        return n == length

    def integer(self, size: Dimension | None) -> int:
        """The value of an int, in a confirmation one that is the length of nothing."""
        assert self.confirming is not None
        _, first, step, dimensions = self.confirming
        base = _base(size, self.bases) if size is not None and not _literal(size) else None
        if isinstance(size, int) or base in dimensions:
            assert size is not None
            return self.length(size)
        offset = size.offset if isinstance(size, Size) else 0
        if base in self.given:
            return self.given[base] + offset
        value = first + step * len(self.given)
        self.given[-1 - len(self.given) if base is None else base] = value
        return value + offset

    def length(self, n: Dimension) -> int:
        if self.attempt == UNIFORM and not (isinstance(n, int) and n < 2):
            return LENGTHS[self.variant][0]
        if isinstance(n, int) and n <= LARGEST_LITERAL:
            return n
        offset = n.offset if isinstance(n, Size) else 0
        return _length(self.variant, _base(n, self.bases)) + offset

    def operand(self, operand: ir.Operand) -> Any:
        if isinstance(operand, ir.Const):
            value = operand.value
            if self.resizes and isinstance(value, np.ndarray):
                return self.array(value.dtype, tuple(map(self.length, value.shape)))
            return _unrandom(value)
        if isinstance(operand, ir.Pack):
            items = [self.operand(item) for item in operand.items]
            return slice(*items) if operand.type is slice else operand.type(items)
        value = self.value(operand.kind)
        self.leaves.append(value)
        return value

    def value(self, kind: Any) -> Any:
        match kind:
            case Array(dtype, shape) if shape is not None:
                known = dtype if dtype is not None else self.unknown
                if known is not None:
                    return self.array(known, tuple(self.length(n) for n in shape))
            case Scalar():
                if kind.dtype.kind == "b":
                    number: Any = bool(self.variant)
                elif kind.dtype.kind in "iu" and self.confirming is not None:
                    number = self.integer(kind.size)
                elif kind.dtype.kind in "iu":
                    fixed = self.attempt == 0 or isinstance(kind.size, int)
                    by_size = kind.size is not None and fixed
                    # never the same in both: what follows from its value isn't known
                    v = self.variant
                    free = (1 + v, v, 2 - v, 1 + v)[self.attempt]
                    number = self.length(kind.size) if by_size else free  # type: ignore[arg-type]
                else:
                    number = (0.5, 0.25)[self.variant]
                scalar = kind.dtype.type(number)
                python = kind.python
                if python is None and kind.dtype.kind in "fc":  # only NumPy's raises a dtype
                    python = self.variant == 0
                return scalar if python is False else scalar.item()
            case ListOf(item) if item is not None and not isinstance(item, tuple):
                return [self.value(item) for _ in range((3, 5)[self.variant])]
            case TupleOf(items, type_):
                items = tuple(self.value(item) for item in items)
                return items if type_ is tuple else type_(*items)
            case Opaque(type=t) if t is type(None):
                return None
            case Opaque(type=t) if t in _GENERATORS:
                return _seeded(t, self.variant)
        raise Missing

    def array(self, dtype: np.dtype[Any], shape: tuple[int, ...]) -> Any:
        if dtype.kind == "O":
            return np.full(shape, None)
        if dtype.kind not in "fciub":
            raise Missing
        count = int(np.prod(shape))
        if self.confirming is not None:
            array = self.other(dtype, shape, count)
            # a view of an array that lies in memory by columns may be none of another
            return np.asfortranarray(array) if self.confirming[0] == 1 and shape else array
        if dtype.kind == "b":
            flat = np.arange(count) % 3 == self.variant
        elif dtype.kind in "iu":
            flat = np.arange(count) % 2 if self.variant else np.ones(count)
        elif self.variant and self.attempt == 0:
            flat = np.array([0.5, 0.5, 0.0])[np.arange(count) % 3]
        else:
            flat = 0.3 + 0.4 * np.arange(count) / (count + 1)
        array = flat.astype(dtype).reshape(shape)
        if dtype.kind in "fc" and len(shape) > 1 and shape[-1] == shape[-2]:
            array = (0.1 + 2 * np.eye(shape[-1]) + 0 * array).astype(dtype)
        if self.variant and shape:
            wide = np.zeros(tuple(2 * n for n in shape), dtype)
            wide[tuple(slice(None, None, 2) for _ in shape)] = array
            array = wide[tuple(slice(None, None, 2) for _ in shape)]
        return array

    def other(self, dtype: np.dtype[Any], shape: tuple[int, ...], count: int) -> Any:
        """An array of other values: zeros, then some of both signs and of several phases."""
        assert self.confirming is not None
        number = self.confirming[0]
        if number == 0:
            return np.zeros(shape, dtype)
        flat = np.cos(np.arange(count) * (number + 0.5))
        if dtype.kind == "c":
            return (flat * np.exp(1j * np.arange(count))).astype(dtype).reshape(shape)
        if dtype.kind == "f":
            return flat.astype(dtype).reshape(shape)
        return (np.arange(count) % (number + 2) > 0 if dtype.kind == "b" else
                np.arange(count) % (number + 2)).astype(dtype).reshape(shape)  # fmt: skip


def _length(variant: int, position: int) -> int:
    lengths = LENGTHS[variant]
    if position < len(lengths):
        return lengths[position]
    return (20 + 3 * position, 90 - 2 * position)[variant]


def _overlap(result: Any, leaf: Any) -> bool:
    if isinstance(result, (tuple, list)):
        return any(_overlap(item, leaf) for item in result)
    if isinstance(leaf, list):
        return any(_overlap(result, item) for item in leaf)
    return (
        isinstance(result, np.ndarray)
        and isinstance(leaf, np.ndarray)
        and (result is leaf or np.may_share_memory(result, leaf))
    )


def _offsets(leaves: list[ir.Var], bases: list[Size | int]) -> list[set[int]]:
    """The offsets with which each base occurs among the operands."""
    seen: list[set[int]] = [set() for _ in bases]
    for leaf in leaves:
        kind = leaf.kind
        sizes: tuple[Any, ...] = ()
        if isinstance(kind, Array):
            sizes = kind.shape or ()
        elif isinstance(kind, Scalar):
            sizes = (kind.size,)
        for n in sizes:
            if isinstance(n, Size):
                seen[_base(n, bases)].add(n.offset)
    return seen


def _follows(offset: int, seen: set[int]) -> bool:
    """Whether lengths clamped at zero still agree: `n - 4 + 2` isn't `n - 2` when n is 3."""
    if offset in seen or not seen:
        return True
    return offset < min(seen) if offset < 0 else min(seen) >= 0


def _pattern(a: Any, b: Any, seen: list[set[int]]) -> Any:
    """What the two sample results have in common, dimensions relative to the bases."""
    if isinstance(a, (tuple, list)):
        if type(a) is not type(b) or len(a) != len(b):
            return _Unknown()
        return (type(a), tuple(_pattern(x, y, seen) for x, y in zip(a, b, strict=True)))
    if isinstance(a, np.ndarray):
        if not isinstance(b, np.ndarray) or a.ndim != b.ndim:
            return _Unknown()
        dtype = a.dtype if a.dtype == b.dtype else None
        dimensions = zip(a.shape, b.shape, strict=True)
        return (Array, dtype, tuple(_relative(m, n, seen) for m, n in dimensions))
    if type(a) is not type(b):
        return _either(kind_of(a), kind_of(b))
    if isinstance(a, int) and not isinstance(a, bool):
        return (int, _relative(a, b, seen))
    return kind_of(a)


def _either(a: Kind, b: Kind) -> Kind | _Unknown:
    """Of two kinds of floats: NumPy's number or Python's."""
    if a == b:
        return a
    if isinstance(a, Scalar) and isinstance(b, Scalar) and a.dtype.kind == b.dtype.kind in "fc":
        if a.dtype == b.dtype or (a.python is True) != (b.python is True):
            return join(a, b)
    return _Unknown()


def _relative(a: int, b: int, seen: list[set[int]]) -> _Relative | int | None:
    """The dimension that is `a` long in the first sample and `b` in the second."""
    best: _Relative | None = None
    for position, offsets in enumerate(seen):
        offset = a - _length(0, position)
        if (
            offset == b - _length(1, position)
            and abs(offset) <= 4
            and _follows(offset, offsets)
            and (best is None or abs(offset) < abs(best.offset))
        ):
            best = _Relative(position, offset)
    if best is None and a == b:
        return a
    return best


def _filled(pattern: Any, bases: list[Size | int]) -> Kind:
    """The kind that a pattern stands for, given the real bases."""
    if isinstance(pattern, _Unknown):
        return UNKNOWN
    if isinstance(pattern, Kind):
        return pattern
    if pattern[0] is Array:
        return Array(pattern[1], tuple(_dimension(n, bases) for n in pattern[2]))
    if pattern[0] is int:
        n = _dimension(pattern[1], bases) if not isinstance(pattern[1], int) else None
        return Scalar(np.dtype(np.int64), True, n if isinstance(n, Size) else fresh_size())
    return TupleOf(tuple(_filled(item, bases) for item in pattern[1]), pattern[0])


def _dimension(n: _Relative | int | None, bases: list[Size | int]) -> Dimension:
    if n is None:
        return fresh_size()
    if isinstance(n, int):
        return n
    base = bases[n.base]
    if isinstance(base, int):
        return base + n.offset
    return Size(base.base, n.offset, base.big)
