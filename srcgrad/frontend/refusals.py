"""Which function a refusal is about."""

from __future__ import annotations

import contextlib
import inspect
import re
from collections.abc import Iterator
from typing import Any

import numpy as np

from .. import ir
from ..errors import UnsupportedError
from ..packages import told
from ..rules import registry
from .values import Value

_PLAIN = ("", "__main__", "builtins", "_operator", "operator")


def name_of(function: Any) -> str:
    """A function as a user would write it."""
    place = registry.public_place(function)
    if place is not None:
        return ".".join(place)
    short = told(function, "__name__", str(function))
    name = str(told(function, "__qualname__") or short)
    module = told(function, "__module__") or ""
    if isinstance(function, np.ufunc) or module.startswith("numpy"):
        public = "random" if module.startswith("numpy.random.") else module.removeprefix("numpy")
        prefix = ("np." + public.strip(".")).rstrip(".") + "."
        return name if name.startswith("ndarray.") else prefix + name
    return f"{module}.{name}" if module not in _PLAIN else name


def takes(function: Any, keyword: str) -> bool:
    """Whether a function takes a keyword, as far as its signature is known.

    >>> takes(np.sum, "axis"), takes(np.sum, "axes"), takes(max, "axes")
    (True, False, True)
    """
    try:
        parameters = inspect.signature(function).parameters
    except (TypeError, ValueError):
        return True
    variadic = any(p.kind is inspect.Parameter.VAR_KEYWORD for p in parameters.values())
    return variadic or keyword in parameters


@contextlib.contextmanager
def naming(function: Any) -> Iterator[None]:
    """Have what a rule or definition of a function refuses say of what it is.

    A rule is a program: what it can't be compiled for is told in terms of its own variables.
    """
    try:
        yield
    except UnsupportedError as error:
        name = name_of(function)
        short = re.escape(name.rpartition(".")[2])
        if type(error) is not UnsupportedError or "." not in name or name.startswith(__package__):
            raise
        if re.search(rf"\b{short}\b", error.message):
            raise
        message = f"{name} can't be differentiated like this: {error.message}"
        raise UnsupportedError(message, error.span, error.advice) from None


def not_taken(function: Any, definition: Any, kwargs: dict[str, Value]) -> dict[str, bool]:
    """The keywords that a function takes and its definition doesn't, and whether each says what it
    would be without it.

    >>> not_taken(np.sort, lambda a, axis=-1: a, {"kind": ir.Const(None), "other": ir.Const(1)})
    {'kind': True}
    """
    try:
        own = inspect.signature(function).parameters
        taken = inspect.signature(definition).parameters.values()
    except (TypeError, ValueError):
        return {}
    if any(p.kind is inspect.Parameter.VAR_KEYWORD for p in taken):
        return {}
    named = {p.name for p in taken}
    return {
        k: isinstance(v, ir.Const) and v.value is own[k].default
        for k, v in kwargs.items()
        if k in own and k not in named
    }
