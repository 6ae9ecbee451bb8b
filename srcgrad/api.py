"""What users call first: `grad` and `value_and_grad`."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any, overload

from .argnums import Argnums
from .gradient import CheckedGradient, Gradient


@overload
def grad(
    f: Callable[..., Any],
    /,
    argnums: Argnums = ...,
    *,
    has_aux: bool = ...,
    source: str | None = ...,
    nan_check: bool = ...,
) -> Gradient: ...


@overload
def grad(
    *, argnums: Argnums = ..., has_aux: bool = ..., source: str | None = ..., nan_check: bool = ...
) -> Callable[[Callable[..., Any]], Gradient]: ...


def grad(
    f: Callable[..., Any] | None = None,
    /,
    argnums: Argnums = 0,
    *,
    has_aux: bool = False,
    source: str | None = None,
    nan_check: bool = False,
) -> Any:
    """The gradient of a function that returns a number, as a function or as a decorator.

    An array that must hold just one number, such as `r.T @ r` of a column, is a number too.

    Args:
        f: the function, of NumPy arrays, numbers and containers of them. Without it, `grad` is a
            decorator: `@grad(argnums="w")`.
        argnums: which arguments to differentiate: a position, a name, or a tuple of them. In a
            class body, positions count `self`: `@grad(argnums=1)` is for the first argument
            after it.
        has_aux: `f` returns a pair (value, aux); the gradient returns (gradient, aux).
        source: the text of `f`, where Python doesn't keep it.
        nan_check: raise FloatingPointError where the gradient becomes NaN or infinite, naming the
            line of `f`. The generated code then checks each adjoint it makes.

    Returns:
        A `Gradient`. Called with the arguments of `f`, it returns the derivative of the result by
        the chosen argument, with its shape, dtype and nesting; a tuple of them for a tuple of
        argnums. What isn't a number in an object's attributes is kept as it is.

    Raises:
        UnsupportedError: when called, if `f` uses something that can't be differentiated.
        TypeError: if `f` isn't a function; when called, if `f` doesn't return a real number, or
            a chosen argument isn't of floats.
        ValueError: if `argnums` doesn't fit the parameters of `f`.

    >>> import numpy as np
    >>> @grad
    ... def loss(x):
    ...     return np.sum(x**2)
    >>> loss(np.array([1.0, 2.0]))
    array([2., 4.])
    """
    if f is None:
        return functools.partial(
            grad, argnums=argnums, has_aux=has_aux, source=source, nan_check=nan_check
        )
    made = CheckedGradient if nan_check else Gradient
    return made(f, argnums, has_aux, False, source)


@overload
def value_and_grad(
    f: Callable[..., Any],
    /,
    argnums: Argnums = ...,
    *,
    has_aux: bool = ...,
    source: str | None = ...,
    nan_check: bool = ...,
) -> Gradient: ...


@overload
def value_and_grad(
    *, argnums: Argnums = ..., has_aux: bool = ..., source: str | None = ..., nan_check: bool = ...
) -> Callable[[Callable[..., Any]], Gradient]: ...


def value_and_grad(
    f: Callable[..., Any] | None = None,
    /,
    argnums: Argnums = 0,
    *,
    has_aux: bool = False,
    source: str | None = None,
    nan_check: bool = False,
) -> Any:
    """Like `grad`, but the result is a pair (value, gradient); with `has_aux`,
    ((value, aux), gradient).

    >>> value_and_grad(lambda x: x * x)(3.0)
    (9.0, 6.0)
    """
    if f is None:
        return functools.partial(
            value_and_grad, argnums=argnums, has_aux=has_aux, source=source, nan_check=nan_check
        )
    made = CheckedGradient if nan_check else Gradient
    return made(f, argnums, has_aux, True, source)


__all__ = ["Gradient", "grad", "value_and_grad"]
