"""The kit that tests a rule as the ordinary function it is, without the compiler.

A family's sample file holds `SAMPLES`, a dict from a primitive to a list of `case(...)`; every
floating-point array or scalar among the arguments (nested ones too) is differentiated.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from srcgrad.rules.registry import lookup


@dataclass(frozen=True)
class Case:
    args: tuple[Any, ...]
    kwargs: dict[str, Any] = field(default_factory=dict)
    fixed: tuple[int, ...] = ()  # positions of float arguments that are not differentiated
    tolerance: float = 1e-6


def case(*args: Any, fixed: tuple[int, ...] = (), tolerance: float = 1e-6, **kwargs: Any) -> Case:
    return Case(args, kwargs, fixed, tolerance)


def is_float(value: Any) -> bool:
    return not isinstance(value, (bool, int, str, type(None), slice)) and (
        isinstance(value, (float, complex))
        or (isinstance(value, (np.ndarray, np.generic)) and value.dtype.kind in "fc")
    )


def unbroadcast(gradient: Any, like: Any) -> Any:
    """Sum a contribution over the axes along which its operand was broadcast."""
    gradient, shape = np.asarray(gradient), np.shape(like)
    gradient = gradient + np.zeros(np.broadcast_shapes(gradient.shape, shape))
    gradient = gradient.sum(tuple(range(gradient.ndim - len(shape))))
    axes = tuple(i for i, n in enumerate(shape) if n == 1 and gradient.shape[i] != 1)
    gradient = gradient.sum(axes, keepdims=True)
    if not np.iscomplexobj(like):
        gradient = gradient.real
    return gradient


def _leaves(value: Any) -> list[Any]:
    if isinstance(value, (list, tuple)):
        return [leaf for item in value for leaf in _leaves(item)]
    return [value]


def _moved(value: Any, direction: Any, step: float) -> Any:
    if isinstance(value, (list, tuple)):
        items = [_moved(v, d, step) for v, d in zip(value, direction, strict=True)]
        return type(value)(items) if not hasattr(value, "_fields") else type(value)(*items)
    if direction is None:
        return value
    moved = value + step * direction
    return np.asarray(moved) if isinstance(value, np.ndarray) else moved  # 0-d stays an array


def _direction(value: Any, rng: np.random.Generator) -> Any:
    if isinstance(value, (list, tuple)):
        return [_direction(v, rng) for v in value]
    if not is_float(value):
        return None
    noise = rng.normal(size=np.shape(value))
    if np.iscomplexobj(value):
        noise = noise + 1j * rng.normal(size=np.shape(value))
    if isinstance(value, np.ndarray):  # laid out in memory like the value
        laid_out = np.empty_like(value, noise.dtype)
        laid_out[...] = noise
        return laid_out
    return noise if np.ndim(value) else noise[()]


def _inner(a: Any, b: Any) -> float:
    """The real inner product under JAX's convention (the adjoint isn't conjugated)."""
    return float(np.sum(np.asarray(a) * np.asarray(b)).real)


def check_case(function: Any, sample: Case, seed: int = 0) -> None:
    """Compare the rule's `<J^T v, u>` with central differences `<v, J u>` in random directions."""
    record = lookup(function)
    assert record is not None, f"{function} has no rule"
    args = tuple(
        np.asarray(a, np.float64) if isinstance(a, np.ndarray) and a.dtype.kind == "f" else a
        for a in sample.args
    )
    out = function(*args, **sample.kwargs)
    for round_ in range(3):
        rng = np.random.default_rng(seed + round_)
        d_out = _direction(list(out) if isinstance(out, (list, tuple)) else out, rng)
        direction = [None if i in sample.fixed else _direction(a, rng) for i, a in enumerate(args)]
        step = 1e-6
        plus, minus = (
            function(
                *[
                    a if d is None else _moved(a, d, s)
                    for a, d in zip(args, direction, strict=True)
                ],
                **sample.kwargs,
            )
            for s in (step, -step)
        )
        expected = sum(
            _inner(v, (np.asarray(p) - np.asarray(m)) / (2 * step))
            for v, p, m in zip(_leaves(d_out), _leaves(plus), _leaves(minus), strict=True)
            if v is not None
        )
        if record.zero:
            found = 0.0
        elif record.adjoint is not None:
            result = record.adjoint(*args, **sample.kwargs, out=out, d_out=d_out)
            found = _total(result, args, direction)
        else:
            assert record.partials is not None
            result = record.partials(*args, **sample.kwargs, out=out)
            result = result if isinstance(result, tuple) else (result,)
            found = _total(tuple(None if p is None else d_out * p for p in result), args, direction)
        scale = max(1.0, abs(expected), abs(found))
        assert abs(found - expected) <= sample.tolerance * scale, (
            f"{function} {sample}: rule {found!r}, differences {expected!r}"
        )


def _total(result: Any, args: tuple[Any, ...], direction: list[Any]) -> float:
    result = result if isinstance(result, tuple) else (result,)
    total = 0.0
    for contribution, argument, d in zip(result, args, direction, strict=False):
        for c, a, u in zip(
            _spread(contribution, argument), _leaves(argument), _leaves(d), strict=True
        ):
            if u is not None:
                assert c is not None, "a float argument got no contribution"
                total += _inner(unbroadcast(c, a), u)
    for argument_direction in direction[len(result) :]:
        assert all(u is None for u in _leaves(argument_direction)), "an argument was forgotten"
    return total


def _spread(contribution: Any, argument: Any) -> list[Any]:
    if isinstance(argument, (list, tuple)):
        if contribution is None:
            return [None] * len(_leaves(argument))
        return [leaf for c, a in zip(contribution, argument, strict=True) for leaf in _spread(c, a)]
    return [contribution]
