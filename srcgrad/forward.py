"""`jvp` and what is made of it: Hessian-vector products, Jacobians and Hessians."""

from __future__ import annotations

import functools
from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .api import Gradient, grad
from .pullback import vjp


class _Tangent(Gradient):
    """Compiles the function that carries tangents of all its arguments along."""

    _tangent = True

    def __init__(self, primal: Callable[..., Any], count: int, has_aux: bool) -> None:
        super().__init__(primal, tuple(range(count)), has_aux)


_MOST = 128


@functools.lru_cache(maxsize=_MOST)
def _tangent(f: Callable[..., Any], count: int, has_aux: bool) -> _Tangent:
    """The compiler of a function's tangents, kept so that a second call needn't compile."""
    return _Tangent(f, count, has_aux)


def jvp(
    f: Callable[..., Any],
    primals: Sequence[Any],
    tangents: Sequence[Any],
    *,
    has_aux: bool = False,
) -> tuple[Any, ...]:
    """The result of a function and its derivative along a direction (forward mode).

    Args:
        f: the function; it may return an array of any shape, or containers of arrays.
        primals: the tuple of its positional arguments.
        tangents: the tuple of directions, each nested and shaped like its argument; None for an
            argument that isn't of floats.
        has_aux: `f` returns a pair (result, aux).

    Returns:
        `(out, t_out)`, or `(out, t_out, aux)` with `has_aux`; `t_out` is nested like `out`, with
        None where `out` isn't of floats.

    Raises:
        TypeError, ValueError: the tangents aren't nested or shaped like the primals.
        UnsupportedError: `f` uses something that can't be differentiated.

    >>> import numpy as np
    >>> jvp(np.sin, (np.zeros(2),), (np.ones(2),))
    (array([0., 0.]), array([1., 1.]))
    """
    if not isinstance(primals, (tuple, list)) or not isinstance(tangents, (tuple, list)):
        raise TypeError("jvp needs a tuple of primals and a tuple of tangents")
    if len(primals) != len(tangents):
        raise ValueError(f"jvp got {len(primals)} primals but {len(tangents)} tangents")
    try:
        forward = _tangent(f, len(primals), has_aux)
    except TypeError:  # f can't be hashed
        forward = _Tangent(f, len(primals), has_aux)
    args = forward._unmapped(forward._bound(tuple(primals), {}))
    variant, free = forward._find(args)
    moved = [
        _checked(t, p, f"tangent {i}")
        for i, (t, p) in enumerate(zip(tangents, primals, strict=True))
    ]
    out, t_out = variant.compiled.function(*args, *moved, *free[: variant.used])
    return (out[0], t_out, out[1]) if has_aux else (out, t_out)


def _checked(tangent: Any, primal: Any, place: str) -> Any:
    """A tangent with the shape and dtype of its primal."""
    if isinstance(primal, (np.ndarray, np.generic, float, complex)):
        given = np.asarray(tangent)
        if given.dtype.kind not in "fciub":
            raise TypeError(f"{place} must be of floats, not {type(tangent).__name__}")
        if given.shape != np.shape(primal):
            raise ValueError(
                f"{place} must have the shape {np.shape(primal)} of its primal, not {given.shape}"
            )
        dtype = np.asarray(primal).dtype
        if dtype.kind not in "fc":
            return tangent
        if isinstance(primal, np.ndarray):
            return given.astype(dtype)
        return dtype.type(given) if isinstance(primal, np.generic) else given.item()
    return tangent


def hvp(f: Callable[..., Any], argnums: int = 0) -> Callable[..., Any]:
    """The function `(*args, v) -> H v`, with H the Hessian of `f` by one argument.

    Forward mode over reverse mode: about twice the cost of a gradient, and no Hessian is formed.

    >>> import numpy as np
    >>> hvp(lambda x: np.sum(x**3))(np.array([1.0, 2.0]), np.array([1.0, 1.0]))
    array([ 6., 12.])
    """
    gradient = grad(f, argnums)

    def product(*args: Any) -> Any:
        *primals, v = args
        tangents = [_zero(p) for p in primals]
        tangents[argnums] = v
        return jvp(gradient, tuple(primals), tuple(tangents))[1]

    return product


def _zero(primal: Any) -> Any:
    """A zero tangent."""
    if isinstance(primal, (np.ndarray, np.generic)) and primal.dtype.kind in "fc":
        return np.zeros_like(primal)
    if isinstance(primal, (tuple, list)) and not hasattr(primal, "_fields"):
        return type(primal)(_zero(p) for p in primal)
    if isinstance(primal, dict):
        return {k: _zero(v) for k, v in primal.items()}
    return 0.0 if isinstance(primal, float) else primal


def jacfwd(f: Callable[..., Any], argnums: int = 0) -> Callable[..., Any]:
    """The Jacobian of `f` by one array or number, a column at a time (forward mode).

    Its shape is that of the result followed by that of the argument.

    >>> import numpy as np
    >>> jacfwd(lambda x: x**2)(np.array([1.0, 2.0]))
    array([[2., 0.],
           [0., 4.]])
    """

    def jacobian_of(*args: Any) -> Any:
        x = args[argnums]
        shape = np.shape(x)
        columns = []
        for direction in _basis(x):
            tangents = [_zero(a) for a in args]
            tangents[argnums] = direction
            columns.append(np.asarray(jvp(f, args, tuple(tangents))[1]))
        if not columns:
            out = vjp(f, *args)[0]
            return np.zeros((*np.shape(out), *shape))
        return np.stack(columns, axis=-1).reshape((*columns[0].shape, *shape))

    return jacobian_of


def jacrev(f: Callable[..., Any], argnums: int = 0) -> Callable[..., Any]:
    """The Jacobian of `f` by one array or number, a row at a time (reverse mode).

    >>> import numpy as np
    >>> jacrev(lambda x: x**2)(np.array([1.0, 2.0]))
    array([[2., 0.],
           [0., 4.]])
    """

    def jacobian_of(*args: Any) -> Any:
        out, pullback = vjp(f, *args)[:2]
        rows = [np.asarray(pullback(seed)[argnums]) for seed in _basis(out)]
        shape = (*np.shape(out), *np.shape(args[argnums]))
        return np.stack(rows).reshape(shape) if rows else np.zeros(shape)

    return jacobian_of


def jacobian(f: Callable[..., Any], argnums: int = 0) -> Callable[..., Any]:
    """The Jacobian of `f`, in the mode that takes fewer sweeps.

    >>> import numpy as np
    >>> jacobian(lambda x: np.array([x[0] * x[1], x[0]]))(np.array([2.0, 3.0]))
    array([[3., 2.],
           [1., 0.]])
    """
    forward, reverse = jacfwd(f, argnums), jacrev(f, argnums)

    def jacobian_of(*args: Any) -> Any:
        out, _ = vjp(f, *args)[:2]
        return (forward if np.size(args[argnums]) <= np.size(out) else reverse)(*args)

    return jacobian_of


def hessian(f: Callable[..., Any], argnums: int = 0) -> Callable[..., Any]:
    """The Hessian of a function of an array that returns a number (forward over reverse).

    >>> import numpy as np
    >>> hessian(lambda x: x[0] ** 2 * x[1])(np.array([2.0, 3.0]))
    array([[6., 4.],
           [4., 0.]])
    """
    return jacfwd(grad(f, argnums), argnums)


def _basis(x: Any) -> list[Any]:
    """The unit directions of an array or number."""
    if not isinstance(x, np.ndarray):
        return [type(x)(1.0)]
    directions = []
    for i in range(x.size):
        direction = np.zeros(x.shape, x.dtype)
        direction.flat[i] = 1.0
        directions.append(direction)
    return directions


__all__ = ["hessian", "hvp", "jacfwd", "jacobian", "jacrev", "jvp"]
