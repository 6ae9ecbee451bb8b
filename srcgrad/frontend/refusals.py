"""Which function a refusal is about, and what to do instead."""

from __future__ import annotations

import contextlib
import inspect
import operator
import re
from collections.abc import Iterator
from typing import Any

import numpy as np

from .. import ir, runtime
from ..errors import UnsupportedError
from ..packages import package_of, told
from ..rules import registry
from .restarts import Unreached
from .values import Value

HOW_TO_ADD = (
    "Add a rule: @srcgrad.adjoint(function) on a function of the same parameters and the keywords "
    "`out` and `d_out` (see the README)."
)
ARRAY_LIBRARIES = frozenset({"autograd", "cupy", "jax", "mygrad", "tensorflow", "torch"})
PLAIN_NUMPY = "srcgrad differentiates NumPy itself: import numpy as np"
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


def _called(s: ir.Assign) -> Any:
    """The function of a statement, or that which it calls without looking into it, if known."""
    if s.function not in (runtime.unwritten, operator.call):
        return s.function
    return s.args[0].value if isinstance(s.args[0], ir.Const) else None


def name_called(s: ir.Assign) -> str:
    """What a statement calls, as a user would write it."""
    owner = s.args[0].value if s.args and isinstance(s.args[0], ir.Const) else None
    place = registry.public_place(owner)
    if place is not None and getattr(s.function, "__name__", "") in dir(type(owner)):
        return ".".join((*place, s.function.__name__))
    if s.function is getattr and isinstance(s.args[1], ir.Const):
        return f"the attribute {s.args[1].value!r}"
    called = _called(s)
    if called is None:
        return "what is called here"
    name = name_of(called)
    return "this" if name.startswith("srcgrad.rules.") else name


def instead_of(s: ir.Assign) -> str:
    """What to do where a statement calls a function without a rule."""
    return PLAIN_NUMPY if package_of(_called(s)) in ARRAY_LIBRARIES else HOW_TO_ADD


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
def naming(function: Any, span: Any = None) -> Iterator[None]:
    """Have what a rule or definition of a function refuses say of what it is.

    A rule is a program: what it can't be compiled for is told in terms of its own variables. Where
    one surely raises, nothing comes after it, and the program is refused at the call, the `span`.
    """
    try:
        yield
    except Unreached:
        if span is None:
            raise
        message = f"{name_of(function)} can't be differentiated like this: its rule would raise"
        raise UnsupportedError(message, span, "see that the call itself doesn't") from None
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
