"""Kinds: what the compiler knows of a value before the program runs.

A kind is a static description: an array with its dtype and symbolic shape, a number, a list. Two
dimensions that are the same `Size` are equal in every run; that is what proves a broadcast absent.
"""

from __future__ import annotations

import enum
import itertools
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np

_counter = itertools.count()


@dataclass(frozen=True, slots=True)
class Size:
    """A dimension whose length isn't known: a base plus a constant offset, never below zero.

    `big` says that the base is known to be at least 2, so that the dimension never broadcasts.
    """

    base: int
    offset: int = 0
    big: bool = False

    def shifted(self, by: int) -> Size:
        if by == 0:
            return self
        cut = self.offset * by < 0 and not self.exact  # the clamp at zero loses information
        if cut or abs(self.offset + by) > 4:
            return fresh_size()
        return Size(self.base, self.offset + by, self.big)

    @property
    def never_one(self) -> bool:
        return self.big and self.offset >= 0

    @property
    def exact(self) -> bool:
        """Whether it surely is the sum of base and offset, not zero in place of a negative one."""
        return self.offset >= (-2 if self.big else 0)


Dimension = int | Size


def least(n: Dimension) -> int | None:
    """The least that a dimension, or an int as long as one, may be; None if that isn't known.

    >>> least(3), least(Size(0, -1, True)), least(Size(0))
    (3, 1, None)
    """
    if isinstance(n, int):
        return n
    return 2 + n.offset if n.big else None


def both_several(m: Dimension, n: Dimension) -> bool:
    """Whether two dimensions are both known to be at least 2.

    >>> both_several(Size(0, 0, True), 3), both_several(Size(0), 3)
    (True, False)
    """
    return (least(m) or 0) >= 2 and (least(n) or 0) >= 2


def fresh_size(big: bool = False) -> Size:
    """A dimension of which nothing is known."""
    return Size(next(_counter), 0, big)


def derived_size(*key: Any) -> Size:
    """A dimension that follows from others: the same one whenever it follows in the same way.

    `key` says how, and from which sizes and ints.

    >>> n, m = fresh_size(), fresh_size()
    >>> derived_size("sum", n, m) == derived_size("sum", n, m) != derived_size("sum", m, m)
    True
    """
    if len(_derived) > 20000:
        _derived.clear()
    return _derived.setdefault(key, fresh_size())


_derived: dict[tuple[Any, ...], Size] = {}


@dataclass(frozen=True, slots=True)
class Kind:
    """The base of all kinds."""


@dataclass(frozen=True, slots=True)
class Array(Kind):
    """A NumPy array. Shape None: an array or number of unknown rank; dtype None: unknown.

    `real` says of an unknown dtype that it is one of real numbers: of floats or ints.
    """

    dtype: np.dtype[Any] | None
    shape: tuple[Dimension, ...] | None
    real: bool = field(default=False, repr=False)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Array):
            return NotImplemented
        return same_dtype(self, other) and (self.shape, self.real) == (other.shape, other.real)

    @property
    def rank(self) -> int | None:
        return None if self.shape is None else len(self.shape)


class Lesser(enum.Flag):
    """What a number is in some runs, in place of what its kind says."""

    WHOLE = enum.auto()  # an int in place of a float, a bool in place of an int
    SHORT = enum.auto()  # NumPy's of half the precision, or less
    TRUTH = enum.auto()  # a bool in place of a float, of which functions are of half precision


@dataclass(frozen=True, slots=True)
class Scalar(Kind):
    """An immutable number. `python`: a Python number (True), a NumPy one (False), or either.

    `mixed` says of which lesser dtype it is in some runs: arithmetic with floats may be as it was,
    but not so the array that is filled with it.
    """

    dtype: np.dtype[Any]
    python: bool | None = True
    size: Dimension | None = None  # of an int: the dimension it is as long as
    mixed: Lesser = field(default=Lesser(0), repr=False)

    @property
    def shape(self) -> tuple[Dimension, ...]:
        return ()

    @property
    def rank(self) -> int:
        return 0


def may_be_truth(kind: Kind) -> bool:
    """Whether a number may be a bool of NumPy's in some runs, whose `+` tells "or".

    >>> [may_be_truth(Scalar(np.dtype(float), p, None, Lesser.WHOLE)) for p in (None, True)]
    [True, False]
    """
    return isinstance(kind, Scalar) and Lesser.WHOLE in kind.mixed and kind.python is not True


def same_dtype(a: Any, b: Any) -> bool:
    """Whether two kinds of numbers or arrays say the same of the dtype.

    >>> same_dtype(Array(None, ()), Array(np.dtype(float), ())), np.dtype(float) == None
    (False, True)
    """
    return (a.dtype is None) == (b.dtype is None) and bool(a.dtype == b.dtype)


@dataclass(frozen=True, slots=True)
class ListOf(Kind):
    """A Python list built at run time, whose items are all of one kind."""

    item: Any  # a Kind, or a tuple of them for items that are tuples; None while it is empty
    holes: bool = False  # whether some of its items may be None instead
    length: Dimension | None = field(default=None, compare=False)  # of an operand
    type: type = list  # or a user's class that derives from it


class Fields(tuple[Any, ...]):
    """The kinds of the parts of an item that is a named tuple, or an object: of its attributes.

    An item that is a plain tuple has a plain tuple of kinds. `outside` says of an object, or a dict
    whose keys are the `names`, that it is found in a list outside: in which argument, if in one.
    """

    type: Any
    names: tuple[str, ...]
    outside: str | None

    def __new__(
        cls,
        kinds: Iterable[Any],
        type: Any,
        names: tuple[str, ...] = (),
        outside: str | None = None,
    ) -> Fields:
        self = super().__new__(cls, kinds)
        self.type, self.names, self.outside = type, names, outside
        return self

    def form(self) -> tuple[Any, ...]:
        """What is the same of items that are alike."""
        return self.type, self.names, self.outside

    def __eq__(self, other: object) -> bool:
        same = isinstance(other, Fields) and self.form() == other.form()
        return same and tuple(self) == tuple(other)  # type: ignore[arg-type]

    def __ne__(self, other: object) -> bool:
        return not self == other

    def __hash__(self) -> int:
        return hash((tuple(self), self.form()))


def parts_like(item: tuple[Any, ...], parts: Iterable[Any]) -> tuple[Any, ...]:
    """The kinds of the parts of an item that is of the same form as another one."""
    if isinstance(item, Fields):
        return Fields(parts, *item.form())
    return tuple(parts)


def same_form(a: Any, b: Any) -> bool:
    """Whether two items are tuples of as many parts, or objects with the same attributes."""
    if not isinstance(a, tuple) or not isinstance(b, tuple) or len(a) != len(b):
        return False
    return parts_like(a, ()) == parts_like(b, ())


@dataclass(frozen=True, slots=True)
class Places(ListOf):
    """A dict from keys to positions in a list, or a set of keys, built at run time.

    To whoever asks what memory it has, it is like a list of its keys. It carries no derivative.
    """


@dataclass(frozen=True, slots=True)
class Held(Places):
    """A dict outside that is one value: its values are alike, and its keys `item`."""

    value: Any = None  # what `ListOf.item` is for the values


@dataclass(frozen=True, slots=True)
class TupleOf(Kind):
    """A tuple that a primitive returns."""

    items: tuple[Kind, ...]
    type: type = tuple
    names: tuple[str, ...] = ()  # of an object kept in a list: those of its attributes
    outside: str | None = None  # where that is found, if in a list outside


@dataclass(frozen=True, slots=True)
class Opaque(Kind):
    """Any other object; it carries no derivative."""

    type: type | None = None


SHAPE = Opaque(tuple)  # the shape of an array whose rank isn't known, or a part of one


@dataclass(frozen=True, slots=True)
class Reference(Kind):
    """An object in a table (`frontend.objects`): its number there; or None.

    `types` are the classes that it may be of. It carries no derivative: what is in the table does.
    """

    table: Any
    types: frozenset[type]


class Residuals:
    """What a forward function keeps for its backward function, as a type."""


FLOAT = Scalar(np.dtype(np.float64))
INT = Scalar(np.dtype(np.int64))
BOOL = Scalar(np.dtype(np.bool_))
NOTHING = Opaque(type(None))
RESIDUALS = Opaque(Residuals)
UNKNOWN = Array(None, None)


def int_kind(size: Dimension | None = None) -> Scalar:
    """The kind of a Python int that may serve as a dimension."""
    return Scalar(INT.dtype, True, fresh_size() if size is None else size)


def holds_arrays(kind: Kind) -> bool:
    """Whether values of a kind are, or hold, arrays or lists.

    >>> holds_arrays(TupleOf((INT, TupleOf((FLOAT, ListOf(FLOAT)))))), holds_arrays(INT)
    (True, False)
    """
    if isinstance(kind, TupleOf):
        return any(map(holds_arrays, kind.items))
    return isinstance(kind, (Array, ListOf))


def holds_objects(kind: Any) -> bool:
    """Whether values of a kind are, or hold, lists or objects of which nothing is known.

    Two that are made alike aren't the same one: what uses one up must have its own.

    >>> holds_objects(TupleOf((INT, RESIDUALS))), holds_objects(ListOf(INT)), holds_objects(INT)
    (True, True, False)
    """
    if isinstance(kind, TupleOf):
        return any(map(holds_objects, kind.items))
    return isinstance(kind, (ListOf, Opaque))


def is_float(kind: Kind) -> bool:
    """Whether a value of this kind can carry a derivative by its dtype."""
    return isinstance(kind, (Array, Scalar)) and (kind.dtype is None or kind.dtype.kind in "fc")


def kind_of(value: Any, sizes: dict[int, Size] | None = None) -> Kind:
    """The kind of a run-time value; equal lengths in `sizes` share a Size; 0 and 1 are literal.

    >>> import numpy as np
    >>> kind_of(2.5)
    Scalar(dtype=dtype('float64'), python=True, size=None)
    >>> kind_of(np.ones((1, 0))).shape
    (1, 0)
    """
    if isinstance(value, np.ndarray):
        sizes = {} if sizes is None else sizes
        return Array(
            value.dtype,
            tuple(n if n < 2 else sizes.setdefault(n, fresh_size(True)) for n in value.shape),
        )
    if isinstance(value, np.generic):
        return Scalar(value.dtype, False)
    if isinstance(value, bool):
        return BOOL
    if isinstance(value, int):
        return int_kind()
    if isinstance(value, float):
        return FLOAT
    if isinstance(value, complex):
        return Scalar(np.dtype(np.complex128))
    return Opaque(type(value))
