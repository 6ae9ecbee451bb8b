"""Looking at gradients inside a function: `tap` shows one where the reverse sweep passes it."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, TypeVar

import numpy as np

T = TypeVar("T")
Hook = Callable[[str, Any], None]
_hook: ContextVar[Hook | None] = ContextVar("hook", default=None)


def tap(name: str, x: T) -> T:
    """The value of `x`; in a gradient, show the adjoint of it.

    The generated source says where: `show_gradient("name", d_x)`. Its shape, 2-norm, least and
    greatest number are printed, or it is given to the hook of `taps`.

    Args:
        name: what to call it.
        x: an array or a number.

    Returns:
        `x`, of an array a copy.

    >>> import numpy as np
    >>> from srcgrad import grad
    >>> def f(x):
    ...     y = tap("y", x * x)
    ...     return np.sum(3 * y)
    >>> grad(f)(np.array([1.0, 2.0]))
    gradient of y: shape (2,), norm 4.243, from 3 to 3
    array([ 6., 12.])
    """
    return x.copy() if isinstance(x, np.ndarray) else x


def show_gradient(name: str, adjoint: Any) -> None:
    """Show an adjoint: what the generated code calls."""
    hook = _hook.get()
    if hook is not None:
        hook(name, adjoint.copy() if isinstance(adjoint, np.ndarray) else adjoint)
        return
    sizes = np.abs(adjoint) if np.iscomplexobj(adjoint) else np.asarray(adjoint)
    text = f"gradient of {name}: shape {np.shape(adjoint)}, norm {np.linalg.norm(sizes):.4g}"
    if sizes.size:
        text += f", from {sizes.min():.4g} to {sizes.max():.4g}"
    print(text)


@contextmanager
def taps(hook: Hook | None = None) -> Iterator[dict[str, list[Any]]]:
    """Record what `tap` shows, by name, in the order of the reverse sweep.

    Args:
        hook: called with the name and a copy of each adjoint. It may raise, to stop the gradient.

    >>> import numpy as np
    >>> from srcgrad import grad
    >>> gradient = grad(lambda x: tap("x", x) ** 2)
    >>> with taps() as found:
    ...     _ = gradient(3.0)
    >>> found
    {'x': [6.0]}
    """
    found: dict[str, list[Any]] = {}

    def record(name: str, adjoint: Any) -> None:
        found.setdefault(name, []).append(adjoint)
        if hook is not None:
            hook(name, adjoint)

    token = _hook.set(record)
    try:
        yield found
    finally:
        _hook.reset(token)


__all__ = ["show_gradient", "tap", "taps"]
