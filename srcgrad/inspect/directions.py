"""Comparing a gradient with finite differences along random directions."""

from __future__ import annotations

import copy
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from ..trees import children, is_float, with_children

DIRECTIONS = 3


def compare(
    function: Callable[..., Any],
    args: Sequence[Any],
    positions: Sequence[int],
    gradients: Sequence[Any],
) -> tuple[float, int]:
    """The largest relative error over some directions, and the bytes of the smallest float.

    >>> compare(lambda x: float(x @ x), [np.ones(3)], [0], [2 * np.ones(3)])[0] < 1e-8
    True
    """
    generator = np.random.default_rng(0)
    worst, size = 0.0, 8
    for _ in range(DIRECTIONS):
        directions = [_direction(args[p], generator) for p in positions]
        size = min([size, *(_size(args[p]) for p in positions)])
        step = 1e-2 if size == 4 else 2.0**-13

        def moved(t: float, directions: list[Any] = directions) -> float:
            new = [copy.deepcopy(a) for a in args]
            for position, direction in zip(positions, directions, strict=True):
                new[position] = _moved(new[position], direction, t)
            return float(function(*new))

        near = (moved(step) - moved(-step)) / (2 * step)
        far = (moved(2 * step) - moved(-2 * step)) / (4 * step)
        expected = (4 * near - far) / 3
        found = sum(map(_inner, gradients, directions))
        scale = max(abs(expected), sum(map(_length, gradients)) * 1e-3, 1e-12)
        error = abs(found - expected) / scale
        worst = error if not error <= worst else worst
    return worst, size


def _direction(value: Any, generator: np.random.Generator) -> Any:
    """A random direction in the nesting of a value, as dicts; None of what is no number."""
    inner = children(value)
    if inner is not None:
        return {k: _direction(v, generator) for k, v in inner.items()}
    if not is_float(value):
        return None
    array = np.asarray(value)
    direction = generator.standard_normal(array.shape)
    if array.dtype.kind == "c":
        return direction + 1j * generator.standard_normal(array.shape)
    return direction


def _moved(value: Any, direction: Any, t: float) -> Any:
    if direction is None:
        return value
    if not isinstance(direction, dict):
        if isinstance(value, (float, complex)) and not isinstance(value, np.generic):
            return type(value)(value + t * direction)
        moved = np.asarray(value + t * direction, np.asarray(value).dtype)
        return moved if isinstance(value, np.ndarray) else moved[()]
    items = children(value) or {}
    return with_children(value, {k: _moved(v, direction[k], t) for k, v in items.items()})


def _inner(gradient: Any, direction: Any) -> float:
    """The derivative along a direction that a gradient gives: Re(sum(gradient * direction))."""
    if direction is None:
        return 0.0
    if not isinstance(direction, dict):
        return float(np.real(np.sum(np.asarray(gradient) * direction)))
    inner = children(gradient) or {}
    return sum(_inner(inner[k], d) for k, d in direction.items())


def _length(gradient: Any) -> float:
    inner = children(gradient)
    if inner is not None:
        return sum(map(_length, inner.values()))
    return float(np.linalg.norm(np.ravel(gradient))) if is_float(gradient) else 0.0


def _size(value: Any) -> int:
    inner = children(value)
    if inner is not None:
        return min([8, *map(_size, inner.values())])
    if not is_float(value):
        return 8
    return 4 if np.asarray(value).dtype in (np.float32, np.complex64, np.float16) else 8
