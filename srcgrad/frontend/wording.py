"""How a message names values and variables, and generated code what it makes."""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import ir
from ..kinds import Array, Opaque
from ..packages import told
from .predicates import is_number
from .structure import BOUND, Absent, is_flag
from .values import Bound, Choice, Closure, Journal, Partial, Place, Ref, Tuple


def variable_name(name: str) -> str:
    """A name for the variable that holds what a frame or an object holds under a name.

    >>> variable_name("x1"), variable_name("%choice12"), variable_name("a key")
    ('x1', 'choice', 'item')
    """
    if name.isidentifier():
        return name
    if is_flag(name):
        return f"{name.removeprefix(BOUND)}_bound"
    text = "result" if name == "%return" else name.strip("%0123456789")
    return text if text.isidentifier() else "item"


def plural(name: str) -> str:
    """The name of several things.

    >>> plural("particle"), plural("body"), plural("ray"), plural("box")
    ('particles', 'bodies', 'rays', 'boxes')
    """
    if name.endswith("y") and name[-2:-1] not in "aeiou":
        return f"{name[:-1]}ies"
    return f"{name}es" if name.endswith(("s", "x", "z", "ch", "sh")) else f"{name}s"


def shown_name(name: Any) -> str:
    """A variable's name in a message; ours start with %."""
    text = str(name)
    if text == "%return":
        return "the result of this function"
    return "this value" if text.startswith("%") else repr(text)


def object_type(value: Any) -> type | None:
    """The class of an object of which nothing else is known."""
    if isinstance(value, ir.Const) and not isinstance(value.value, np.ndarray):
        return type(value.value)
    if isinstance(value, ir.Var) and isinstance(value.kind, Opaque):
        return value.kind.type
    return None


def describe(value: Any) -> str:
    """What a value is, in a user's words."""
    match value:
        case Tuple():
            return value.type.__name__
        case ir.Const(value=Absent()):
            return "nothing"
        case Place() | ir.Const():
            return type(value.value).__name__
        case Journal():
            return type(value.thing).__name__
        case Ref():
            return "container"
        case Closure() | Bound() | Partial():
            return "function"
        case Choice():
            return "choice of " + " or ".join(
                sorted(map(describe, value.options), key="nothing".__eq__)
            )
        case ir.Var():
            match value.kind:
                case Array():
                    return "array"
                case Opaque(type=t) if t is not None:
                    return t.__name__
            return "number" if is_number(value) else "value"
    return type(value).__name__.lower()


def described(value: Any) -> str:
    """What a value is, with its article."""
    return with_article(describe(value))


def with_article(name: str) -> str:
    """A class or thing in a sentence.

    >>> with_article("int"), with_article("Series")
    ('an int', 'a Series')
    """
    return f"{'an' if name[0] in 'aeiouAEIOU' else 'a'} {name}"


def hint(function: Any) -> str:
    """A name for the result of a function."""
    name = told(function, "__name__", "value").strip("_")
    return _HINTS.get(name, name if name.isidentifier() else "value")


_HINTS = {
    "getitem": "item",
    "add": "total",
    "iadd": "total",
    "sub": "difference",
    "mul": "product",
    "multiply": "product",
    "truediv": "ratio",
    "divide": "ratio",
    "pow": "power",
    "matmul": "product",
    "neg": "negative",
    "lt": "test",
    "gt": "test",
    "le": "test",
    "ge": "test",
    "eq": "test",
    "ne": "test",
    "not_": "test",
    "zeros_like": "zeros",
    "getattr": "attribute",
    "is_": "test",
    "is_not": "test",
    "broadcast_to": "spread",
}
