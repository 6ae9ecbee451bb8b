"""`check_grads`: derivatives against finite differences, and forward against reverse mode."""

from __future__ import annotations

import copy
import inspect
import math
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .api import grad
from .forward import jvp, refuse_input
from .signature import UNEVALUATED, is_record
from .trees import children, float_leaves, is_float, mapped, with_children

STEP = 2.0**-8
LEVELS = 6
CLOSE = 2.0**-12  # how much smaller the steps are that look for a kink: where items swap, in a sort


def check_grads(
    f: Callable[..., Any],
    args: Sequence[Any],
    order: int = 2,
    modes: str | Sequence[str] = ("fwd", "rev"),
    *,
    argnums: int | str | Sequence[int | str] | None = None,
    rtol: float | None = None,
    step: float = STEP,
    seed: int = 0,
) -> None:
    """Check the derivatives of a function at a point, by every argument of floats.

    The derivative along a random direction is compared with finite differences, and forward mode
    with reverse mode by the dot-product identity: with `w` a random weight of the result and `u`
    a direction of an argument, `w · (J u)` and `(w J) · u` must agree to rounding. The second
    order checks in the same way the derivative of that directional derivative, and so on.

    Args:
        f: the function; it may return an array of any shape, or containers of arrays.
        args: its positional arguments. `f` is called with copies of them.
        order: up to which order derivatives are checked, at least 1.
        modes: "fwd", "rev", or both.
        argnums: the arguments to check, by position or name; all that hold floats by default.
        rtol: the largest relative error against differences; by default 1e-5, where float32
            takes part 2e-2.
        step: the largest step of the differences; it should be small against the distance over
            which `f` changes its character. (Where they disagree with the derivative, differences
            of much smaller steps are asked too: `np.max` has a kink where two items are close.)
        seed: of the random directions.

    Raises:
        AssertionError: a derivative is wrong; the message names the order, the mode, the
            argument, the direction, both values and the error.
        TypeError, ValueError: an argument of `check_grads` is wrong, or `f` isn't finite at this
            point.
        UnsupportedError: `f` uses something that can't be differentiated.

    >>> import numpy as np
    >>> check_grads(lambda x, y: np.sin(x) * y, (np.array([0.5, 1.0]), 2.0))
    """
    modes = (modes,) if isinstance(modes, str) else tuple(modes)
    _check_options(f, args, order, modes, rtol, step)
    names = _names(f, len(args))
    chosen = [i for i, a in enumerate(args) if any(True for _ in float_leaves(a))]
    if argnums is not None:
        chosen = _positions(argnums, names, args)
    if not chosen:
        raise TypeError("none of the arguments is of floats: there is nothing to check")
    rng = np.random.default_rng(seed)
    out = f(*copy.deepcopy(tuple(args)))
    for leaf in float_leaves(out):
        if not np.all(np.isfinite(leaf)):
            raise ValueError(
                "the function isn't finite at this point, where it has no derivative to check: "
                f"it returns {_shown(leaf, '')}"
            )
    function = _weighted(f, out, rng)
    for number in range(1, order + 1):
        slopes = _Slopes(function, tuple(args), chosen, modes)
        for position in chosen:
            direction = mapped(lambda x: _noise(x, rng), args[position], lambda _: None)
            what = f"order {number}, argument {names[position]!r}"
            _check(slopes, position, direction, what, rtol, step)
        directions = [mapped(lambda x: _noise(x, rng), args[i], lambda _: None) for i in chosen]
        function = _slope(function, chosen, directions, args, modes)


def _check_options(
    f: Any, args: Any, order: Any, modes: tuple[str, ...], rtol: float | None, step: float
) -> None:
    if not callable(f):
        raise TypeError(f"check_grads needs a function, not a {type(f).__name__}")
    if not isinstance(args, (tuple, list)):
        raise TypeError(
            f"args must be the tuple of the arguments, not a {type(args).__name__}: "
            "check_grads(f, (x,))"
        )
    if not isinstance(order, (int, np.integer)) or isinstance(order, bool):
        raise TypeError(f"order must be an int, not {order!r}")
    if order < 1:
        raise ValueError(f"order must be at least 1, not {order}")
    if not set(modes) <= {"fwd", "rev"} or not modes:
        raise ValueError(f"modes must be of 'fwd' and 'rev', not {modes!r}")
    for name, value in (("rtol", rtol), ("step", step)):
        if value is not None and not value > 0:
            raise ValueError(f"{name} must be positive, not {value!r}")


def _positions(argnums: Any, names: list[str], args: Sequence[Any]) -> list[int]:
    several = (argnums,) if isinstance(argnums, (int, str, np.integer)) else tuple(argnums)
    found = []
    for which in several:
        if which in names:
            position = names.index(which)
        elif isinstance(which, (int, np.integer)) and -len(args) <= which < len(args):
            position = int(which) % len(args)
        else:
            raise ValueError(f"argnums={which!r}: the arguments are {', '.join(names)}")
        if not any(True for _ in float_leaves(args[position])):
            refuse_input(names[position], args[position])
        found.append(position)
    return found


def directional_difference(f: Callable[[float], float], step: float = STEP) -> tuple[float, float]:
    """The derivative of a function of one number at zero, and about how wrong it may be.

    Central differences at step, step / 2, ..., extrapolated to the fourth and sixth order
    (Richardson); of all these that which differs least from its neighbours (Ridders).

    >>> slope, error = directional_difference(np.sin)
    >>> abs(slope - 1) < 1e-12
    True
    """
    best, best_error = math.nan, math.inf
    before: list[float] = []
    for level in range(LEVELS):
        h = step * 0.5**level
        row = [(float(f(h)) - float(f(-h))) / (2 * h)]
        for k in range(min(level, 2)):
            factor = 4.0 ** (k + 1)
            row.append((factor * row[k] - before[k]) / (factor - 1))
            error = max(abs(row[k + 1] - row[k]), abs(row[k + 1] - before[k]))
            if error <= best_error:
                best, best_error = row[k + 1], error
        before = row
    return best, best_error


def inner(gradient: Any, direction: Any) -> float:
    """The derivative along a direction that a gradient gives: Re(sum(gradient * direction)).

    >>> inner({"a": np.ones(2), "b": 2.0}, {"a": np.array([1.0, 2.0]), "b": 0.5})
    4.0
    """
    return sum(_terms(gradient, direction))


def _terms(gradient: Any, direction: Any) -> list[float]:
    inside = children(direction)
    if inside is not None:
        found = children(gradient) or {}
        return [t for k, d in inside.items() for t in _terms(found[k], d)]
    if direction is None:
        return []
    return [float(np.sum(np.real(np.asarray(gradient) * direction)))]


class _Slopes:
    """The derivatives of a real function along directions, in forward and reverse mode."""

    def __init__(
        self,
        function: Callable[..., Any],
        args: tuple[Any, ...],
        chosen: list[int],
        modes: Sequence[str],
    ) -> None:
        self.function, self.args, self.modes = function, args, modes
        self.gradients: dict[int, Any] = {}
        if "rev" in modes:
            found = grad(function, argnums=tuple(chosen))(*copy.deepcopy(args))
            self.gradients = dict(zip(chosen, found, strict=True))

    def forward(self, position: int, direction: Any) -> float:
        tangents = [mapped(lambda x: 0 * x, a) for a in self.args]
        tangents[position] = _full(direction, self.args[position])
        return float(jvp(self.function, copy.deepcopy(self.args), tangents)[1])

    def reverse(self, position: int, direction: Any) -> float:
        return inner(self.gradients[position], direction)

    def difference(self, position: int, direction: Any, step: float) -> tuple[float, float]:
        def moved(t: float) -> float:
            args = list(copy.deepcopy(self.args))
            args[position] = _moved(args[position], direction, t)
            return float(self.function(*args))

        return directional_difference(moved, step)


def _check(
    slopes: _Slopes, position: int, direction: Any, what: str, rtol: float | None, step: float
) -> None:
    single = any(
        np.asarray(x).dtype in (np.float32, np.complex64, np.float16)
        for x in float_leaves(list(slopes.args))
    )
    if rtol is None:
        rtol = 2e-2 if single else 1e-5
    expected, doubt = slopes.difference(position, direction, 16 * step if single else step)
    found = {
        mode: getattr(slopes, name)(position, direction)
        for mode, name in (("fwd", "forward"), ("rev", "reverse"))
        if mode in slopes.modes
    }
    terms = [abs(t) for t in _terms(slopes.gradients.get(position), direction)] if (
        "rev" in found
    ) else []  # fmt: skip
    scale = max([abs(expected), 1e-3 * sum(terms), 1e-8])
    along = f"along {_shown(direction)}"
    if not math.isfinite(expected):
        raise AssertionError(
            f"{what}, {along}: finite differences aren't finite, so there is nothing to compare "
            "with: the function isn't finite close to this point"
        )
    allowed = rtol * scale + 2 * min(doubt, scale) * single + 1e-9
    close: float | None = None
    for mode, value in found.items():
        name = {"fwd": "forward", "rev": "reverse"}[mode]
        error = abs(value - expected)
        if not error <= allowed and not single:
            if close is None:
                close = slopes.difference(position, direction, step * CLOSE)[0]
            if abs(value - close) <= min(10 * allowed, 0.1 * error):
                continue  # the function has a kink within the large steps
        if not error <= allowed:
            raise AssertionError(
                f"{what}, {name} mode, {along}: the derivative is {value!r}, but finite "
                f"differences give {expected!r}: a relative error of {error / scale:.2g}, "
                f"more than {rtol:.2g}"
            )
    if len(found) == 2:
        error = abs(found["fwd"] - found["rev"])
        scale = max([abs(expected), sum(terms), 1e-8])
        most = 1e-3 if single else 1e-10
        if not error <= most * scale + 1e-13:
            raise AssertionError(
                f"{what}, {along}: forward mode gives {found['fwd']!r}, reverse mode "
                f"{found['rev']!r}: by the dot-product identity they are equal, but they differ "
                f"by {error / scale:.2g}, more than {most:.2g}"
            )


# Functions to differentiate


class _Attributes(dict[str, Any]):
    """The weights of an object's attributes."""


def _weights(tree: Any, noise: Callable[[Any], Any]) -> Any:
    """What to weigh the floats of a nest with, nested likewise; None for the rest."""
    inside = children(tree)
    if inside is None:
        return noise(tree) if is_float(tree) else None
    items = {key: _weights(item, noise) for key, item in inside.items()}
    if isinstance(tree, (list, tuple)):
        return list(items.values())
    return _Attributes(items) if is_record(tree) else items


def _weighted(f: Callable[..., Any], out: Any, rng: np.random.Generator) -> Callable[..., Any]:
    """The real function that weighs the numbers in the result of `f` at random, and adds up."""
    if not any(True for _ in float_leaves(out)):
        raise TypeError("the function returns no floats: there is nothing to check")
    weights = _weights(out, lambda x: _noise(x, rng))

    def weighted(*args: Any) -> Any:
        return _weighed(f(*args), weights)

    return weighted


def _weighed(tree: Any, weights: Any) -> Any:
    """The sum of the leaves of a nest, each times its weights."""
    if weights is None:
        return 0.0
    if isinstance(weights, (np.ndarray, np.generic, float, complex)):
        return np.sum(np.real(weights * tree))
    total = 0.0
    if isinstance(weights, dict):
        for key, weight in weights.items():
            item = getattr(tree, key) if isinstance(weights, _Attributes) else tree[key]
            total = total + _weighed(item, weight)
    else:
        for item, weight in zip(tree, weights, strict=True):
            total = total + _weighed(item, weight)
    return total


def _slope(
    function: Callable[..., Any],
    chosen: list[int],
    directions: list[Any],
    args: Sequence[Any],
    modes: Sequence[str],
) -> Callable[..., Any]:
    """The derivative of a function along a direction, as a function of its arguments."""
    if "rev" not in modes:
        tangents = [mapped(lambda x: 0 * x, a) for a in args]
        for i, direction in zip(chosen, directions, strict=True):
            tangents[i] = _full(direction, args[i])
        moved = tuple(tangents)

        def forward_slope(*args: Any) -> Any:
            return jvp(function, args, moved)[1]

        return forward_slope
    gradient = grad(function, argnums=tuple(chosen))
    weights = [_weights(direction, lambda x: x) for direction in directions]

    def reverse_slope(*args: Any) -> Any:
        return _weighed(gradient(*args), weights)

    return reverse_slope


# Directions


def _noise(x: Any, rng: np.random.Generator) -> Any:
    """A random direction of the shape, dtype and type of an array or number."""
    noise = rng.standard_normal(np.shape(x))
    if np.iscomplexobj(x):
        noise = noise + 1j * rng.standard_normal(np.shape(x))
    if isinstance(x, np.ndarray):
        return np.asarray(noise, x.dtype)
    return type(x)(noise)


def _full(direction: Any, like: Any) -> Any:
    """A direction with the argument's own leaves where it has none."""
    inside = children(like)
    if inside is None:
        return like if direction is None else direction
    return mapped(lambda x: x, direction, lambda leaf: leaf)


def _moved(value: Any, direction: Any, t: float) -> Any:
    inside = children(value)
    if inside is not None:
        along = children(direction) or {}
        return with_children(value, {k: _moved(v, along[k], t) for k, v in inside.items()})
    if direction is None:
        return value
    if isinstance(value, np.ndarray):
        moved = value.copy(order="K")
        moved[...] = value + t * direction
        return moved
    return type(value)(value + t * direction)


def _shown(direction: Any, what: str = "the direction ") -> str:
    leaves = list(float_leaves(direction))
    texts = [
        np.array2string(np.asarray(x), precision=3, threshold=6, edgeitems=2, separator=", ")
        for x in leaves[:2]
    ]
    return what + ", ".join(texts).replace("\n", "") + ", ..." * (len(leaves) > 2)


def _names(f: Callable[..., Any], count: int) -> list[str]:
    """What to call the arguments."""
    try:
        parameters = list(inspect.signature(f, **UNEVALUATED).parameters.values())
    except (TypeError, ValueError):
        parameters = []
    named = [p.name for p in parameters if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    rest = next((p.name for p in parameters if p.kind is p.VAR_POSITIONAL), "args")
    return [named[i] if i < len(named) else f"{rest}[{i - len(named)}]" for i in range(count)]


__all__ = ["check_grads", "directional_difference", "inner"]
