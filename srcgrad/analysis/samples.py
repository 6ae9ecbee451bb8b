"""Sample values for operands of which only the kind is known.

Variant 0 is C-contiguous with all numbers different, variant 1 neither; every unknown dimension
has another length in each. More samples, of zeros and of numbers of both signs, and of lengths that
lie far apart, confirm what the two have in common.

Where the call names a large number (`np.diagonal(x, 30)`, a window of 100), the samples are longer
than it: in shorter ones all would be beyond the end.
"""

from __future__ import annotations

import contextlib
import math
import random
import sys
import types
import warnings
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import ir
from ..kinds import Array, Dimension, ListOf, Opaque, Scalar, Size, TupleOf
from ..packages import FOLLOWED, package_of, told
from ..rules import registry

# Lengths of the unknown dimensions in the two samples: all differences A - B are different.
LENGTHS = ((6, 7, 9, 11, 13, 17), (17, 14, 12, 10, 8, 7))
# In those that confirm: each is once shorter and once longer than any literal and than the next.
FAR_APART = ((2, 29), (29, 2))
MOST_AXES = 4  # of an array whose samples have these lengths: of more axes, they are short
LARGEST_LITERAL = 24
SMALL = 4  # numbers that all samples are long enough for
MOST_NUMBERS = 4_000_000  # of a sample, or of a result that has a large number for each of them
LARGEST = 1_000_000  # number that may be the place of something in an array
UNIFORM = 3  # the attempt in which all dimensions but 0 and 1 have the same length
ONES = 4  # the attempt in which all but 0 are 1: an unknown dimension meets one that is 1
GENERATORS = registry.GENERATORS


LEGACY: Any = np.random.get_state.__self__  # type: ignore[attr-defined]  # what `np.random.normal` draws from


@dataclass(frozen=True, slots=True)
class Lengths:
    """How long the unknown dimensions of samples are.

    `short`: the arrays have many axes. `more`: by how much they are longer than usual, those of
    one base alone if there is an `only`, its position.
    """

    short: bool = False
    more: int = 0
    only: int | None = None

    def of(self, variant: int, position: int) -> int:
        """The length of an unknown dimension with the base at this position."""
        more = self.more if self.only is None or self.only == position else 0
        if self.short:
            return (2 if position % 2 == variant else 3 + position // 2) + more
        lengths = LENGTHS[variant]
        if position < len(lengths):
            return lengths[position] + more
        return (20 + 3 * position, 90 - 2 * position)[variant] + more

    def far_apart(self, variant: int, position: int) -> int:
        length = FAR_APART[variant][position % 2]
        return length if length == 2 else length + self.more


USUAL = Lengths()


class Missing(Exception):
    """An operand of which no sample can be made."""


class Sampler:
    """Makes sample values: variant 0 C-contiguous and all different, variant 1 neither."""

    def __init__(
        self,
        variant: int,
        attempt: int,
        bases: list[Size | int],
        confirming: tuple[int, int, int, set[int]] | None = None,
        unknown: np.dtype[Any] | None = None,
        lengths: Lengths = USUAL,
        far_apart: bool = False,
    ) -> None:
        self.variant, self.attempt, self.bases = variant, attempt, bases
        self.confirming = confirming
        self.lengths, self.far_apart = lengths, far_apart
        self.unknown = unknown  # the dtype of arrays whose dtype isn't known
        self.resizes = False  # whether constant arrays are given other lengths too
        self.given: dict[int, int] = {}  # the bases that are an int's alone, in a confirmation
        self.leaves: list[Any] = []

    def integer(self, size: Dimension | None) -> int:
        """The value of an int, in a confirmation one that is the length of nothing."""
        assert self.confirming is not None
        _, first, step, dimensions = self.confirming
        base = base_of(size, self.bases) if size is not None and not is_literal(size) else None
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
        if self.attempt == ONES:
            return 0 if n == 0 else 1
        if self.attempt == UNIFORM and not (isinstance(n, int) and n < 2):
            return self.lengths.of(self.variant, 0)
        if isinstance(n, int) and n <= LARGEST_LITERAL:
            return n
        offset = n.offset if isinstance(n, Size) else 0
        return self.base_length(base_of(n, self.bases)) + offset

    def base_length(self, position: int) -> int:
        """The length of the dimensions that have this base."""
        if not self.far_apart:
            return self.lengths.of(self.variant, position)
        length = self.lengths.far_apart(self.variant, position)
        base = self.bases[position]
        return 1 if length == 2 and isinstance(base, Size) and not base.big else length

    def operand(self, operand: ir.Operand) -> Any:
        if isinstance(operand, ir.Const):
            value = operand.value
            if self.resizes and isinstance(value, np.ndarray):
                return self.array(value.dtype, tuple(map(self.length, value.shape)))
            return not_random(value)
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
                    free = (1 + v, v, 2 - v, 1 + v, v)[self.attempt]
                    number = self.length(kind.size) if by_size else free  # type: ignore[arg-type]
                else:
                    number = (0.5, 0.25)[self.variant]
                scalar = kind.dtype.type(number)
                python = kind.python
                if python is None and kind.dtype.kind != "b":  # only NumPy's raises a dtype
                    python = self.variant == 0
                return scalar if python is False else scalar.item()
            case ListOf(item, length=count) if item is not None and not isinstance(item, tuple):
                number = (3, 5)[self.variant] if count is None else self.length(count)
                return [self.value(item) for _ in range(number)]
            case TupleOf(items, type_):
                items = tuple(self.value(item) for item in items)
                return items if type_ is tuple else type_(*items)
            case Opaque(type=t) if t is type(None):
                return None
            case Opaque(type=t) if t in GENERATORS:
                return _seeded(t, self.variant)
        raise Missing

    def array(self, dtype: np.dtype[Any], shape: tuple[int, ...]) -> Any:
        if dtype.kind == "O":  # what is taken out of it may be anything
            return np.full(shape, (None, Ellipsis)[self.variant])
        if dtype.kind not in "fciub":
            raise Missing
        count = int(np.prod(shape))
        if self.confirming is not None:
            array = self.other(dtype, shape, count)
            # a view of an array that lies in memory by columns may be none of another
            return np.asfortranarray(array) if self.confirming[0] == 1 and shape else array
        if dtype.kind == "b":
            flat = np.arange(count) % 3 == self.variant
        elif dtype.kind in "iu" and self.attempt == ONES:
            flat = np.zeros(count)  # the places of what there is but one of
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
            *outer, last = shape
            wide = np.zeros((*(n + 1 for n in outer), 2 * last + 1), dtype)
            part = (*(slice(n) for n in outer), slice(0, 2 * last, 2))
            wide[part] = array
            array = wide[part]
        return array

    def other(self, dtype: np.dtype[Any], shape: tuple[int, ...], count: int) -> Any:
        """An array of other values: zeros, then some of both signs and of several phases."""
        assert self.confirming is not None
        number = self.confirming[0]
        if number == 0:
            return np.zeros(shape, dtype)
        flat = np.cos(np.arange(count) * (number + 0.5))
        if dtype.kind == "c":
            return (flat * np.exp(1j * np.arange(1, count + 1))).astype(dtype).reshape(shape)
        if dtype.kind == "f":
            return flat.astype(dtype).reshape(shape)
        return (np.arange(count) % (number + 2) > 0 if dtype.kind == "b" else
                np.arange(count) % (number + 2)).astype(dtype).reshape(shape)  # fmt: skip


def many_axes(kinds: Iterable[Any]) -> bool:
    """Whether the lengths of the samples of these kinds must be short."""
    arrays = (array for kind in kinds for array in arrays_of(kind))
    return any(array.shape is not None and len(array.shape) > MOST_AXES for array in arrays)


def lengths_for(
    args: Iterable[ir.Operand], kinds: list[Any], short: bool, bases: list[Size | int]
) -> list[Lengths]:
    """The lengths of the samples of operands of these kinds, by the numbers that the call names.

    Several, to be tried in turn, if samples or results may be too large if all dimensions are long.
    """
    largest = max((n for operand in args for n in _integers(operand) if n <= LARGEST), default=0)
    if largest <= SMALL:
        return [Lengths(short)]
    shapes = [k.shape for kind in kinds for k in arrays_of(kind) if k.shape is not None]
    positions = {base_of(n, bases): None for shape in shapes for n in shape if not is_literal(n)}

    def numbers(lengths: Lengths) -> int:
        sampler = Sampler(0, 0, bases, lengths=lengths)
        sizes = (math.prod(max(sampler.length(n), 1) for n in shape) for shape in shapes)
        return max(sizes, default=0)

    longer = Lengths(False, largest)
    if not short and numbers(longer) * largest <= MOST_NUMBERS:
        return [longer]
    long = [Lengths(True, largest, only) for only in positions]
    if not short:
        long.append(longer)
    return [Lengths(short), *(one for one in long if numbers(one) <= MOST_NUMBERS)]


def _integers(operand: Any) -> Iterator[int]:
    """The sizes of the integers that are named in an operand."""
    match operand:
        case ir.Pack(items=items):
            for item in items:
                yield from _integers(item)
        case ir.Const(value=value):
            yield from _integers(value)
        case slice():
            yield from _integers((operand.start, operand.stop, operand.step))
        case tuple() | list():
            for item in operand:
                yield from _integers(item)
        case int() | np.integer() if not isinstance(operand, bool):
            yield abs(int(operand))
        case np.ndarray() if operand.dtype.kind in "iu" and operand.size:
            yield max(abs(int(operand.max())), abs(int(operand.min())))


def arrays_of(kind: Any) -> Iterator[Array]:
    """The kinds of the arrays in a kind."""
    match kind:
        case Array():
            yield kind
        case TupleOf(items):
            for item in items:
                yield from arrays_of(item)
        case ListOf(item):
            for part in item if isinstance(item, tuple) else (item,):
                yield from arrays_of(part)


def base_of(size: Size | int, bases: list[Size | int]) -> int:
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


def is_literal(n: Dimension) -> bool:
    return isinstance(n, int) and n <= LARGEST_LITERAL


def _seeded(cls: Any, seed: int) -> Any:
    return cls(seed if cls is random.Random else np.random.MT19937(seed))


def draws(function: Any) -> bool:
    return isinstance(told(function, "__self__"), GENERATORS)


def not_random(thing: Any) -> Any:
    """A generator of random numbers, or its method, not the user's, which stays as it is."""
    if isinstance(thing, GENERATORS):
        return _seeded(type(thing), 0)
    if draws(thing):
        return getattr(not_random(thing.__self__), thing.__name__)
    return thing


@contextlib.contextmanager
def undrawn(function: Any, values: list[Any]) -> Iterator[None]:
    """What a function of these values draws is put back.

    A user's function may draw from what it names and from what all draw from, one of SciPy's from
    the latter or from the distribution's own generator.
    """
    code, module = told(function, "__code__"), told(function, "__module__")
    if registry.is_random(function):
        owner = told(function, "__self__", values[0] if values else None)
        with put_back(LEGACY, getattr(owner, "random_state", None)):
            yield
        return
    if (
        code is None
        or str(module).partition(".")[0] in FOLLOWED
        or package_of(function) is not None
    ):
        yield
        return
    cells = [c.cell_contents for c in function.__closure__ or () if c != types.CellType()]
    named = [function.__globals__.get(name) for name in code.co_names]
    with put_back(*cells, *named, *(function.__defaults__ or ()), LEGACY):
        yield


@contextlib.contextmanager
def put_back(*held: Any) -> Iterator[None]:
    """What is drawn from the generators among these values, and by Python's module, is put back."""
    states = [(g, state_of(g)) for g in held if isinstance(g, GENERATORS)]
    python = random.getstate()
    try:
        yield
    finally:
        random.setstate(python)
        for generator, state in states:
            if isinstance(generator, np.random.Generator):
                generator.bit_generator.state = state
            elif isinstance(generator, np.random.RandomState):
                generator.set_state(state)
            else:
                generator.setstate(state)


def state_of(generator: Any) -> Any:
    """The state of a generator of random numbers."""
    if isinstance(generator, np.random.Generator):
        return generator.bit_generator.state
    numpy = isinstance(generator, np.random.RandomState)
    return generator.get_state() if numpy else generator.getstate()


@contextlib.contextmanager
def silent() -> Iterator[None]:
    """Nothing is said of what a sample does: warnings, and errors that compiled code swallows."""
    hook = sys.unraisablehook
    sys.unraisablehook = lambda unraisable: None
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            yield
    finally:
        sys.unraisablehook = hook


def overlap(result: Any, leaf: Any) -> bool:
    if isinstance(result, (tuple, list)):
        return any(overlap(item, leaf) for item in result)
    if isinstance(leaf, list):
        return any(overlap(result, item) for item in leaf)
    return (
        isinstance(result, np.ndarray)
        and isinstance(leaf, np.ndarray)
        and (result is leaf or np.may_share_memory(result, leaf))
    )
