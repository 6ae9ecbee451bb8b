"""The small samples that test the rules, made large enough to time them.

A sample is a call: arrays, and what else the function takes. To enlarge it, all lengths of its
arrays that are equal are multiplied alike, so that what fitted together still does, and the larger
arrays hold numbers between those of the smaller. Whether the function accepts that is found out by
calling it; if it doesn't, another way is tried, and another sample of the same function.
"""

from __future__ import annotations

import itertools
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tests.rules.kit import Case, is_float

SIZES = (500, 4_000, 32_000, 256_000)  # numbers that the arrays of a sample hold
STEP = 8  # from one size to the next
MOST_SECONDS = 0.6  # of a call that takes STEP**2 times as long as the one before
MOST_NUMBERS = 5e6  # of a result that has STEP**2 times as many as the one before
MOST_RESULTS = 50  # how many arrays or numbers there may be in a result
MOST_SAMPLES = 12  # of a function that are tried

Array = np.ndarray[Any, Any]
Fill = Callable[[Array, tuple[int, ...]], Array]


@dataclass(frozen=True)
class Way:
    """How a sample grows: along all axes, the last, or the first; with its whole numbers or not."""

    axes: slice
    whole_numbers: bool
    fill: Fill


def enlarged(function: Callable[..., Any], samples: Sequence[Case], most: int) -> list[Case]:
    """A sample of a function at up to two sizes, the larger one last; none if it can't be enlarged.

    `most` is how many numbers the arrays may have.
    """
    best: list[Case] = []
    for sample in sorted(samples, key=plainness)[:MOST_SAMPLES]:
        for way in WAYS:
            found = at_all_sizes(function, sample, way, most)
            if len(found) > len(best):
                best = found
            if found:
                break
        if len(best) > 1:
            break
    return best[-2:]


def plainness(sample: Case) -> tuple[Any, ...]:
    """What puts samples in order: those that are usual and have more to enlarge come first."""
    numbers = [leaf for leaf in leaves([sample.args, sample.kwargs]) if is_float(leaf)]
    without = not any(is_float(array) for array in arrays(sample.args))
    holes = any(not np.isfinite(number).all() for number in numbers)
    strange = any(np.iscomplexobj(number) for number in numbers)
    parameters = len(list(leaves(sample.args))) + len(sample.kwargs)
    return (without, holes, strange, parameters, -size(sample))


def at_all_sizes(function: Callable[..., Any], sample: Case, way: Way, most: int) -> list[Case]:
    """The sample at those sizes at which the function takes it, up to what is still quick."""
    found: list[Case] = []
    for wanted in (s for s in SIZES if s <= most and s > size(sample)):
        larger = grown_to(sample, way, wanted)
        if larger is None:
            break
        called = call(function, larger)
        if called is None:
            break
        found.append(larger)
        seconds, numbers = called
        if STEP**2 * seconds > MOST_SECONDS or STEP**2 * numbers > MOST_NUMBERS:
            break
    return found


def grown_to(sample: Case, way: Way, wanted: int) -> Case | None:
    """A sample whose arrays hold about as many numbers as wanted, or None if they can't."""
    found = arrays([sample.args, sample.kwargs])
    shapes = [array.shape[way.axes] for array in found]
    growing = {n for shape in shapes for n in shape if n > 1}
    if not growing or not size(sample):
        return None
    axes = max(len(shape) for shape in shapes)
    factor = max(2, round((wanted / size(sample)) ** (1 / axes)))
    larger = Grown({n: factor * n for n in growing}, factor, way)
    kwargs = {name: larger(value) for name, value in sample.kwargs.items()}
    return replace(sample, args=larger(sample.args), kwargs=kwargs)


@dataclass(frozen=True)
class Grown:
    """Enlarges values: arrays to other lengths, whole numbers by a factor."""

    lengths: dict[int, int]
    factor: int
    way: Way

    def __call__(self, value: Any) -> Any:
        if isinstance(value, (list, tuple)) and not hasattr(value, "_fields"):
            return type(value)(self(item) for item in value)
        if isinstance(value, np.ndarray) and value.size:
            chosen = range(value.ndim)[self.way.axes]
            lengths = enumerate(value.shape)
            shape = tuple(self.lengths.get(n, n) if i in chosen else n for i, n in lengths)
            fill = self.way.fill if is_float(value) else np.resize
            return fill(value, shape)
        if type(value) is int and value > 1 and self.way.whole_numbers:
            return value * self.factor
        return value


def mixture(value: Array, shape: tuple[int, ...]) -> Array:
    """Numbers between those of an array; in order if those are, along a single axis."""
    rng = np.random.default_rng(0)
    pool = value.ravel()
    first, second = rng.choice(pool, shape), rng.choice(pool, shape)
    with np.errstate(invalid="ignore"):
        mixed = first + rng.uniform(size=shape) * (second - first)
    if value.ndim == 1 and value.size > 1 and not np.iscomplexobj(value):
        places = np.arange(value.size)
        if np.all(np.diff(value) > 0):
            mixed = np.interp(np.linspace(0, value.size - 1, shape[0]), places, pool)
    return mixed.astype(value.dtype)


def blocks(value: Array, shape: tuple[int, ...]) -> Array:
    """A matrix repeated along a diagonal, each time a little larger.

    It is symmetric, triangular, definite, or none of that, as the small one is.
    """
    if value.ndim < 2 or value.shape[-1] != value.shape[-2] or shape[-1] != shape[-2]:
        return mixture(value, shape)
    n, count = value.shape[-1], shape[-1] // value.shape[-1]
    result = np.zeros(shape, value.dtype)
    for i in range(count):
        place = slice(i * n, (i + 1) * n)
        result[..., place, place] = (1 + i / count) * np.resize(value, (*shape[:-2], n, n))
    return result


WAYS = [
    Way(*choice)
    for choice in itertools.product(
        (slice(None), slice(-1, None), slice(1)), (False, True), (mixture, blocks)
    )
]


def call(function: Callable[..., Any], sample: Case) -> tuple[float, int] | None:
    """The seconds that a call takes and the numbers it gives; None if it goes wrong."""
    try:
        with warnings.catch_warnings(), np.errstate(all="ignore"):
            warnings.simplefilter("error")
            start = time.perf_counter()
            out = function(*sample.args, **sample.kwargs)
            seconds = time.perf_counter() - start
    except Exception:
        return None
    results = [leaf for leaf in leaves(out) if is_float(leaf)]
    if len(results) > MOST_RESULTS:
        return None
    given = [leaf for leaf in leaves(sample.args) if is_float(leaf)]
    if all(np.isfinite(x).all() for x in given) and not all(np.isfinite(x).all() for x in results):
        return None
    return seconds, sum(np.size(x) for x in results)


def leaves(value: Any) -> Iterator[Any]:
    """What nested lists, tuples and dicts hold."""
    if isinstance(value, (list, tuple)):
        for item in value:
            yield from leaves(item)
    elif isinstance(value, dict):
        yield from leaves(list(value.values()))
    else:
        yield value


def arrays(value: Any) -> list[Array]:
    """The arrays, of one axis at least, that something nested holds."""
    return [leaf for leaf in leaves(value) if isinstance(leaf, np.ndarray) and leaf.ndim]


def size(sample: Case) -> int:
    """How many numbers the arrays of a sample hold."""
    return sum(array.size for array in arrays([sample.args, sample.kwargs]))
