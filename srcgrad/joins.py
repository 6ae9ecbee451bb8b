"""The kind of a value that is one of two: after a branch, in a loop, in a list.

What both have in common is known of it. A number that is an int on one path and a float on another,
or a float of another precision, is a `mixed` one, and such an array has no known dtype.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from .kinds import (
    NOTHING,
    Array,
    Dimension,
    Kind,
    Lesser,
    ListOf,
    Opaque,
    Reference,
    Scalar,
    TupleOf,
    both_several,
    fresh_size,
    parts_like,
    same_dtype,
    same_form,
)


class KindMismatch(Exception):
    """Two kinds that no kind describes both of."""


def join(a: Kind, b: Kind) -> Kind:
    """The kind of a value that is either of kind `a` or of kind `b`.

    Raises:
        KindMismatch: no kind describes both.
    """
    if a == b:
        return a
    if isinstance(a, Scalar) and isinstance(b, Scalar):
        dtype = _common_dtype(a, b)
        python = a.python if a.python == b.python else None
        integer = dtype.kind == "i" and python
        mixed = a.mixed | b.mixed | _lesser(a, dtype) | _lesser(b, dtype)
        return Scalar(dtype, python, fresh_size() if integer else None, mixed)
    if isinstance(a, (Array, Scalar)) and isinstance(b, (Array, Scalar)):
        if isinstance(a, Scalar) or isinstance(b, Scalar):
            return _number_or_array(a, b)
        if a.shape is None or b.shape is None or a.rank != b.rank:
            return either_array(a, b, None)
        pairs = zip(a.shape, b.shape, strict=True)
        shape = (m if m == n else fresh_size(both_several(m, n)) for m, n in pairs)
        return either_array(a, b, tuple(shape))
    if isinstance(a, ListOf) and type(a) is type(b) and a.type is b.type:
        return replace(a, item=join_items(a.item, b.item), holes=a.holes or b.holes)
    if isinstance(a, Reference) or isinstance(b, Reference):
        return _join_references(a, b)
    if isinstance(a, Opaque) and isinstance(b, Opaque):
        return Opaque(None)
    raise KindMismatch


def _lesser(kind: Scalar, dtype: np.dtype[Any]) -> Lesser:
    """What a number makes one that is taken to be of another dtype.

    >>> _lesser(Scalar(np.dtype(int)), np.dtype(float))
    <Lesser.WHOLE: 1>
    >>> _lesser(Scalar(np.dtype("f"), False), np.dtype(float))
    <Lesser.SHORT: 2>
    """
    found = Lesser(0)
    if kind.dtype.kind != dtype.kind:
        found |= Lesser.WHOLE
        if kind.dtype.kind == "b" and dtype.kind in "fc":
            found |= Lesser.TRUTH
    if kind.dtype != dtype and not _is_python(kind) and kind.dtype.char not in "lqdD":
        found |= Lesser.SHORT  # what is Python's takes on any precision
    return found


def _join_references(a: Kind, b: Kind) -> Kind:
    """The kind of an object in a table, or of one of two, or of one and None."""
    for x, y in ((a, b), (b, a)):
        if isinstance(x, Reference) and y == NOTHING:
            return x
    if not isinstance(a, Reference) or not isinstance(b, Reference):
        raise KindMismatch
    if a.table is not b.table:
        a.table.related.append(b.table)
        raise KindMismatch
    return Reference(a.table, a.types | b.types)


def either_array(a: Array, b: Array, shape: tuple[Dimension, ...] | None) -> Array:
    """The kind of one of two arrays: where they are of two dtypes, its dtype isn't known."""
    if a.dtype is not None and same_dtype(a, b):
        return Array(a.dtype, shape)
    return Array(None, shape, is_real(a) and is_real(b))


def _number_or_array(a: Array | Scalar, b: Array | Scalar) -> Array:
    """The kind of what is either a number or an array: of a known dtype if both are of one.

    That of a number of Python's is the other's, as in arithmetic.
    """
    known = a.dtype is not None and b.dtype is not None and a.dtype.kind == b.dtype.kind
    if known and not any(isinstance(k, Scalar) and k.mixed for k in (a, b)):
        if same_dtype(a, b) or _is_python(a) or _is_python(b):
            return Array(_common_dtype(a, b), None)
    return Array(None, None, is_real(a) and is_real(b))


def is_real(kind: Array | Scalar) -> bool:
    """Whether an array's items are known to be real numbers."""
    if isinstance(kind, Array) and kind.dtype is None:
        return kind.real
    return kind.dtype is not None and kind.dtype.kind in "biuf"


def _common_dtype(a: Array | Scalar, b: Array | Scalar) -> np.dtype[Any]:
    """Of two known dtypes; a Python number takes on NumPy's precision, as it does in arithmetic."""
    assert a.dtype is not None and b.dtype is not None
    if _is_python(a) != _is_python(b):
        weak, strong = (a.dtype, b.dtype) if _is_python(a) else (b.dtype, a.dtype)
        if strong.kind in "fc":
            return np.result_type(strong, weak.type(0).item())
    return np.promote_types(a.dtype, b.dtype)


def _is_python(kind: Array | Scalar) -> bool:
    return isinstance(kind, Scalar) and kind.python is True


def join_items(a: Any, b: Any) -> Any:
    """Join the kinds of list items, which may be tuples of kinds."""
    if a is None or b is None:
        return b if a is None else a
    if same_form(a, b):
        return parts_like(a, (join_items(x, y) for x, y in zip(a, b, strict=True)))
    if isinstance(a, tuple) or isinstance(b, tuple):
        raise KindMismatch
    return join(a, b)


def without_sizes(kind: Any) -> bool:
    """Whether values of a kind are numbers, or lists or tuples of such, of which no size is known.

    >>> number = Scalar(np.dtype(float))
    >>> without_sizes(ListOf(number)), without_sizes(Opaque())
    (True, False)
    """
    if isinstance(kind, tuple):
        return type(kind) is tuple and all(map(without_sizes, kind))
    if type(kind) is ListOf:
        return kind.type is list and (kind.item is None or without_sizes(kind.item))
    return isinstance(kind, Scalar) and kind.size is None


def is_complex(kind: Any) -> bool:
    """Whether values of a kind are, or hold, numbers that are known to be complex.

    >>> from srcgrad.kinds import FLOAT, INT
    >>> is_complex(ListOf((INT, Array(np.dtype(complex), None)))), is_complex(FLOAT)
    (True, False)
    """
    if isinstance(kind, tuple):
        return any(map(is_complex, kind))
    if isinstance(kind, (ListOf, TupleOf)):
        return is_complex(kind.item if isinstance(kind, ListOf) else kind.items)
    return isinstance(kind, (Array, Scalar)) and kind.dtype is not None and kind.dtype.kind == "c"
