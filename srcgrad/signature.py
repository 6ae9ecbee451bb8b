"""What a compiled gradient depends on in its arguments: nesting, dtypes, shapes and flags.

`describe` says it exactly, for looking up an entry. With `sizes` it says only what the compiler
may use: which dimensions are equal and which are 0 or 1, so that one compiled gradient serves
arrays of every size.
"""

from __future__ import annotations

import functools
import inspect
import types
from typing import Any

import numpy as np

SHAPE = "%shape"  # the path of an array with this and an axis after it: its length must be known


class Same:
    """An object as a key: equal to itself alone, whatever its `==` and `hash` say."""

    __slots__ = ("value",)

    def __init__(self, value: Any) -> None:
        self.value = value

    def __hash__(self) -> int:
        return id(self.value)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Same) and self.value is other.value


def describe(
    value: Any,
    path: tuple[Any, ...] = (),
    static: frozenset[Any] = frozenset(),
    sizes: dict[int, int] | None = None,
) -> Any:
    """A hashable description of a value; of an int its value too if its path is in `static`.

    >>> describe(np.ones((2, 3)))
    (<class 'numpy.ndarray'>, dtype('float64'), (2, 3))
    >>> describe(np.ones((5, 1, 5)), sizes={})
    (<class 'numpy.ndarray'>, dtype('float64'), (('n', 0), 1, ('n', 0)))
    >>> describe((2.0, True))
    (<class 'tuple'>, <class 'float'>, (<class 'bool'>, True))
    """
    t = type(value)
    if isinstance(value, np.ndarray):
        shape: tuple[Any, ...] = value.shape
        if sizes is not None:
            shape = tuple(
                n if n < 2 or (*path, SHAPE, axis) in static
                else ("n", sizes.setdefault(n, len(sizes)))
                for axis, n in enumerate(shape)
            )  # fmt: skip
        return (t, value.dtype, shape)
    if t is float or t is complex:
        return t
    if t is int:
        return (int, value) if path in static else int
    if t is bool or t is str or t is bytes or value is None:
        return (t, value)
    if isinstance(value, np.number):
        return t
    if isinstance(value, np.generic):
        return (t, value.dtype, value.tobytes())
    if isinstance(value, (list, tuple)):
        return (t, *(describe(v, (*path, i), static, sizes) for i, v in enumerate(value)))
    if isinstance(value, dict):
        items = ((k, describe(v, (*path, k), static, sizes)) for k, v in value.items())
        return (t, *((type(k), k, v) for k, v in items))
    if is_record(value):
        pairs = vars(value).items()
        return (t, *((k, describe(v, (*path, k), static, sizes)) for k, v in pairs))
    if t is set or t is frozenset:
        return (t, frozenset(value))
    if t is slice:
        return (t, describe((value.start, value.stop, value.step), path, frozenset([path])))
    if isinstance(value, (np.dtype, range)):
        return (t, value)
    if isinstance(value, (np.random.Generator, np.random.RandomState)):
        return t
    if isinstance(value, types.MethodType):
        return (t, Same(value.__func__), Same(value.__self__))
    return (t, Same(value))


def stand_in(value: Any) -> Any:
    """A value of the same description that takes no memory: arrays hold one number.

    >>> array = stand_in(np.ones((1000, 1000)))
    >>> array.shape, array.strides
    ((1000, 1000), (0, 0))
    """
    t = type(value)
    if isinstance(value, np.ndarray):
        if value.dtype.hasobject:
            return value
        one = np.zeros(1, value.dtype)
        return np.lib.stride_tricks.as_strided(one, value.shape, (0,) * value.ndim)
    if t in (list, tuple):
        return t(map(stand_in, value))
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return t(*map(stand_in, value))
    if t is dict:
        return {k: stand_in(v) for k, v in value.items()}
    if is_record(value):
        new = object.__new__(t)
        new.__dict__.update((k, stand_in(v)) for k, v in vars(value).items())
        return new
    return value


_NOT_RECORDS = (type, types.FunctionType, types.MethodType, types.ModuleType, functools.partial)


def is_record(value: Any) -> bool:
    """Whether an argument is an object of a plain Python class, differentiated by attribute.

    >>> import types
    >>> is_record(types), is_record(describe)
    (False, False)
    """
    return (
        not isinstance(value, _NOT_RECORDS)
        and is_plain(type(value))
        and hasattr(value, "__dict__")
        and not hasattr(value, "__srcgrad_primal__")
        and type(value).__module__.partition(".")[0] not in ("numpy", "scipy")
    )


def signature_of(function: Any) -> inspect.Signature:
    """The parameters of a function: its own, not those of what it may wrap.

    >>> str(signature_of(np.hypot))
    '(x1, x2, /)'
    """
    positional = inspect.Parameter.POSITIONAL_ONLY
    if isinstance(function, np.ufunc):
        names = ["x"] if function.nin == 1 else [f"x{i + 1}" for i in range(function.nin)]
        return inspect.Signature([inspect.Parameter(n, positional) for n in names])
    try:
        if isinstance(function, types.FunctionType):
            return inspect.signature(function, follow_wrapped=False)
        return inspect.signature(function)
    except (TypeError, ValueError):
        name = getattr(function, "__name__", type(function).__name__)
        raise TypeError(f"the parameters of {name} aren't known; wrap it in a lambda") from None


def is_plain(cls: type) -> bool:
    """Whether a class is an ordinary one written in Python."""
    return (
        cls.__new__ is object.__new__  # type: ignore[comparison-overlap]
        and not any(issubclass(cls, base) for base in (dict, list, str, int, float, np.ndarray))
        and bool(cls.__flags__ & (1 << 9))
    )
