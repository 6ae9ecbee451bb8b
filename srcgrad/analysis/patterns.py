"""What the results of samples have in common: a kind, with dimensions relative to the operands'.

A pattern is a kind, `Unknown`, or a tuple: `(Array, dtype, dimensions)`, `(int, dimension)`, or the
type of a tuple and the patterns of its items. A dimension is a number, `Relative` to one of the
bases (the unknown lengths among the operands), or None where it follows from nothing.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import ir
from ..joins import join
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
    fresh_size,
    kind_of,
)
from .samples import Lengths, Sampler, base_of


@dataclass(frozen=True, slots=True)
class _Real:
    """The dtype of arrays of floats or ints."""

    kind: str = "f"


REAL = _Real()


@dataclass(frozen=True, slots=True)
class Unknown:
    pass


@dataclass(frozen=True, slots=True)
class Relative:
    base: int
    offset: int


def pattern_of(a: Any, b: Any, seen: list[set[int]], lengths: Lengths) -> Any:
    """What the two sample results have in common, dimensions relative to the bases."""
    if isinstance(a, (tuple, list)):
        if type(a) is not type(b) or len(a) != len(b):
            return Unknown()
        return (type(a), tuple(pattern_of(x, y, seen, lengths) for x, y in zip(a, b, strict=True)))
    if isinstance(a, (np.matrix, np.ma.MaskedArray)):
        return Opaque(type(a))  # their arithmetic isn't that of arrays
    if isinstance(a, np.ndarray):
        if not isinstance(b, np.ndarray) or a.ndim != b.ndim:
            return Unknown()
        dtype = a.dtype if a.dtype == b.dtype else None
        dimensions = zip(a.shape, b.shape, strict=True)
        return (Array, dtype, tuple(_relative(m, n, seen, lengths) for m, n in dimensions))
    if type(a) is not type(b):
        return _either(kind_of(a), kind_of(b))
    if isinstance(a, int) and not isinstance(a, bool):
        return (int, _relative(a, b, seen, lengths))
    return kind_of(a)


def _relative(a: int, b: int, seen: list[set[int]], lengths: Lengths) -> Relative | int | None:
    """The dimension that is `a` long in the first sample and `b` in the second."""
    best: Relative | None = None
    for position, offsets in enumerate(seen):
        offset = a - lengths.of(0, position)
        if (
            offset == b - lengths.of(1, position)
            and abs(offset) <= 4
            and _follows(offset, offsets)
            and (best is None or abs(offset) < abs(best.offset))
        ):
            best = Relative(position, offset)
    if best is None and a == b:
        return a
    return best


def _follows(offset: int, seen: set[int]) -> bool:
    """Whether lengths clamped at zero still agree: `n - 4 + 2` isn't `n - 2` when n is 3."""
    if offset in seen or not seen:
        return True
    return offset < min(seen) if offset < 0 else min(seen) >= 0


def offsets_of(leaves: list[ir.Var], bases: list[Size | int]) -> list[set[int]]:
    """The offsets with which each base occurs among the operands."""
    seen: list[set[int]] = [set() for _ in bases]
    for leaf in leaves:
        kind = leaf.kind
        sizes: tuple[Any, ...] = ()
        if isinstance(kind, Array):
            sizes = kind.shape or ()
        elif isinstance(kind, Scalar):
            sizes = (kind.size,)
        elif isinstance(kind, ListOf):
            sizes = (kind.length,)
        for n in sizes:
            if isinstance(n, Size):
                seen[base_of(n, bases)].add(n.offset)
    return seen


def _either(a: Kind, b: Kind) -> Kind | Unknown:
    """Of two kinds of numbers or flags: NumPy's or Python's. An array may be of any rank."""
    if a == b:
        return a
    if isinstance(a, Array) and isinstance(b, (Array, Scalar)):
        return a if a.shape is None and a.dtype == b.dtype else Unknown()
    if isinstance(a, Scalar) and isinstance(b, Scalar) and a.dtype.kind == b.dtype.kind in "fcbi":
        return join(a, b)
    return Unknown()


def common(a: Any, b: Any) -> Any:
    """What two patterns have in common."""
    if a == b:
        return a
    if isinstance(a, tuple) and isinstance(b, tuple) and a[0] is b[0]:
        if a[0] is Array and len(a[2]) == len(b[2]):
            dimensions = zip(a[2], b[2], strict=True)
            real = all(d is not None and d.kind in "biuf" for d in (a[1], b[1]))
            dtype = a[1] if a[1] == b[1] else REAL if real else None
            return (Array, dtype, tuple(m if m == n else None for m, n in dimensions))
        if a[0] is not Array and a[0] is not int and len(a[1]) == len(b[1]):
            return (a[0], tuple(map(common, a[1], b[1])))
    if all(isinstance(k, Scalar) and k.dtype.kind in "biuf" for k in (a, b)):
        return join(a, b)
    return Unknown()


def agreed(pattern: Any, result: Any, sampler: Sampler) -> Any:
    """What of a pattern is true of another sample's result."""
    if isinstance(pattern, Unknown):
        return pattern
    if isinstance(pattern, Kind):
        return Unknown() if type(result) is int else _either(pattern, kind_of(result))
    if pattern[0] is Array:
        if not isinstance(result, np.ndarray):
            return Unknown()
        dtype = pattern[1] if result.dtype == pattern[1] else None
        if result.ndim != len(pattern[2]):
            return Unknown() if dtype is None else Array(dtype, None)  # squeezed, say
        dimensions = zip(pattern[2], result.shape, strict=True)
        return (Array, dtype, tuple(n if _as_long(n, m, sampler) else None for n, m in dimensions))
    if pattern[0] is int:
        if type(result) is not int:
            return Unknown()
        return (int, pattern[1] if _as_long(pattern[1], result, sampler) else None)
    if type(result) is not pattern[0] or len(result) != len(pattern[1]):
        return Unknown()
    items = zip(pattern[1], result, strict=True)
    return (pattern[0], tuple(agreed(p, r, sampler) for p, r in items))


def _as_long(n: Relative | int | None, length: int, sampler: Sampler) -> bool:
    """Whether a dimension of another sample's result is as long as was found."""
    if isinstance(n, Relative):
        base = sampler.given.get(n.base, sampler.base_length(n.base))
        return max(base + n.offset, 0) == length
    return n == length


def numeric(pattern: Any) -> bool:
    """Whether a pattern is one of numbers and arrays, and of tuples of them."""
    if isinstance(pattern, tuple):
        return pattern[0] in (int, Array) or all(map(numeric, pattern[1]))
    return isinstance(pattern, Scalar)


def without_lengths(pattern: Any, of_arrays: bool = False) -> Any:
    """A pattern in which an int is as long as nothing: it was drawn.

    `of_arrays`: of arrays there is but the rank, too.
    """
    match pattern:
        case (kind, _) if kind is int:
            return (int, None)
        case (kind, dtype, shape) if kind is Array:
            return (Array, dtype, (None,) * len(shape)) if of_arrays else pattern
        case (kind, items):
            return (kind, tuple(without_lengths(item, of_arrays) for item in items))
    return pattern


def filled(pattern: Any, bases: list[Size | int]) -> Kind:
    """The kind that a pattern stands for, given the real bases."""
    if isinstance(pattern, Unknown):
        return UNKNOWN
    if isinstance(pattern, Kind):
        return pattern
    if pattern[0] is Array:
        dtype = None if pattern[1] is REAL else pattern[1]
        return Array(dtype, tuple(_dimension(n, bases) for n in pattern[2]), pattern[1] is REAL)
    if pattern[0] is int:
        n = _dimension(pattern[1], bases) if not isinstance(pattern[1], int) else None
        return Scalar(np.dtype(np.int64), True, n if isinstance(n, Size) else fresh_size())
    return TupleOf(tuple(filled(item, bases) for item in pattern[1]), pattern[0])


def _dimension(n: Relative | int | None, bases: list[Size | int]) -> Dimension:
    if n is None:
        return fresh_size()
    if isinstance(n, int):
        return n
    base = bases[n.base]
    if isinstance(base, int):
        return base + n.offset
    return Size(base.base, n.offset, base.big)
