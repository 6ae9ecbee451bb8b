"""Calls that stand for others: of what can't be looked into, may fail, or has another form."""

from __future__ import annotations

from typing import Any

import numpy as np


def unwritten(function: Any, *args: Any, **kwargs: Any) -> Any:
    """A call of a function that srcgrad can't look into, which must not change its arguments.

    >>> unwritten(np.random.default_rng(0).bytes, 0)
    b''
    >>> unwritten(np.ndarray.fill, np.zeros(2), 1.0)
    Traceback (most recent call last):
        ...
    RuntimeError: fill changed an array or a list that it was given, ...
    """
    given = (*args, *kwargs.values())
    before = _contents(given)
    result = function(*args, **kwargs)
    if _contents(given) != before:
        raise RuntimeError(
            f"{getattr(function, '__name__', function)} changed an array or a list that it was "
            "given, which srcgrad can't follow: give it a copy, or write the change in Python"
        )
    return result


def _contents(value: Any) -> Any:
    if isinstance(value, np.ndarray):
        return id(value), value.tobytes()
    if isinstance(value, (list, tuple)):
        return [_contents(item) for item in value]
    if isinstance(value, dict):
        return [(key, _contents(item)) for key, item in value.items()]
    return id(value)


def fails(
    exceptions: tuple[type[BaseException], ...], function: Any, *args: Any, **kwargs: Any
) -> bool:
    """Whether a function raises one of these exceptions, as it does where a try would catch it.

    >>> fails((np.linalg.LinAlgError,), np.linalg.cholesky, -np.eye(2))
    True
    >>> fails((np.linalg.LinAlgError,), np.linalg.cholesky, np.eye(2))
    False
    """
    return failure(exceptions, function, *args, **kwargs) is not None


def failure(
    exceptions: tuple[type[BaseException], ...], function: Any, *args: Any, **kwargs: Any
) -> BaseException | None:
    """The exception that a function raises, if it is one of these.

    >>> failure((np.linalg.LinAlgError,), np.linalg.cholesky, -np.eye(2))
    LinAlgError('Matrix is not positive definite')
    """
    try:
        function(*args, **kwargs)
    except exceptions as error:
        return error
    except Exception:  # which the call itself is about to raise
        return None
    return None


def print_items(*args: Any, **kwargs: Any) -> None:
    """`print` the last argument's items, after the other arguments.

    >>> print_items("found", (1, 2), sep=", ")
    found, 1, 2
    """
    print(*args[:-1], *args[-1], **kwargs)


def permit(array: Any) -> None:
    """What `array.setflags(write=True)` does.

    >>> view = np.diag(np.eye(2))
    >>> permit(view)
    >>> view[0] = 3.0
    """
    array.flags.writeable = True


def forbid(array: Any) -> None:
    """Stands for `array.setflags(write=False)`: the program that was read doesn't write there."""


def writable(view: Any) -> Any:
    """A view that can be written, as the diagonal of a matrix at first can't.

    >>> writable(np.diagonal(np.zeros((2, 2)))).flags.writeable
    True
    """
    view.flags.writeable = True
    return view
