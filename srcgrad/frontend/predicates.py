"""What can be asked of an abstract value: whether it is known, settled, a number, None."""

from __future__ import annotations

import enum
import sys
import types
from typing import Any

import numpy as np

from .. import ir
from ..kinds import Array, Kind, Opaque, Scalar, kind_of
from ..packages import is_of_package, of_class
from .values import Bound, Closure, Generator, Instance, Partial, Place, Sequence, Slice

TRUE, FALSE, NONE = ir.Const(True), ir.Const(False), ir.Const(None)
SIMPLE = (int, float, complex, bool, str, bytes, type(None))
SETTLED = (
    *SIMPLE, np.generic, np.dtype, np.ndarray, type, tuple, frozenset, range, slice, enum.Enum,
    types.ModuleType, types.FunctionType, types.BuiltinFunctionType, np.ufunc,
)  # fmt: skip
ANSWERS = ("__eq__", "__lt__", "__bool__", "__len__", "__contains__", "__iter__", "__getitem__")
STATIC_MODULES = frozenset({"numpy", "scipy", "math", "cmath", "builtins"})
NUMBERS = (int, float, complex, np.number, np.bool_)


def is_settled(value: Any) -> bool:
    """Whether a value is known when compiling, and answers questions the same ever after.

    An object outside that isn't of a type that can't change may be longer later, or equal another.
    """
    if not isinstance(value, ir.Const):
        return False
    if isinstance(value.value, SETTLED) or value.value is NotImplemented:
        return True
    said = (getattr(type(value.value), name, None) for name in ANSWERS)
    plain = all(s is None or s is getattr(object, s.__name__, None) for s in said)
    return plain and isinstance(value, Place) and value.path is None


def is_static(module: str | None) -> bool:
    """Whether what a module defines is taken to stay as it is: not what is of no module."""
    root = (module or "").partition(".")[0]
    return root in STATIC_MODULES or root in sys.stdlib_module_names


def is_asked(value: Any) -> bool:
    """Whether a value is an object outside of a user's class, which may be asked again."""
    thing = value.value if isinstance(value, Place) else None
    if thing is None or isinstance(thing, SETTLED):
        return False
    return not is_static(type(thing).__module__) and not is_of_package(type(thing))


def is_unknown(value: Any) -> bool:
    """Whether a value is an object of which only the run tells what it has."""
    return isinstance(value, ir.Var) and isinstance(value.kind, Opaque)


def is_setting(module: str, value: Any) -> bool:
    """Whether this, of a module of Python's, may be another later: `sys.argv`, `sys.stdout`."""
    return module.partition(".")[0] not in STATIC_MODULES and not isinstance(value, SETTLED)


def is_written(value: Any, name: str) -> bool:
    """Whether an object outside is of a class that says in Python what a method does."""
    if not isinstance(value, ir.Const):
        return False
    return isinstance(of_class(type(value.value), name), types.FunctionType)


def is_iterator(value: Any) -> bool:
    """Whether a value makes items when it is asked for them: in the frame that it is from."""
    return isinstance(value, (Generator, Sequence))


def is_users(cls: type) -> bool:
    """Whether a class is the program's own: no base of it stands for one of Python's.

    >>> from fractions import Fraction
    >>> is_users(Fraction), is_users(Place)
    (True, False)
    """
    return not any(base.__module__.startswith("srcgrad.") for base in cls.__mro__)


def without_items(value: Any) -> str | None:
    """The class of what has neither items nor a length, as Python calls it; None of others."""
    match value:
        case Instance() if is_users(value.type):
            return value.type.__name__
        case Slice():
            return "slice"
        case Closure():
            return "function"
        case Bound():
            return "method"
        case Partial():
            return "functools.partial"
        case Place() if not isinstance(value.value, (type, *SIMPLE)):
            cls = type(value.value)
            if not any(hasattr(cls, name) for name in ("__iter__", "__getitem__", "__len__")):
                return cls.__name__
    return None


def is_false(flag: Any) -> bool:
    """Whether a flag is known not to be set."""
    return isinstance(flag, ir.Const) and flag.value is False


def is_none(value: Any) -> bool:
    return isinstance(value, ir.Const) and value.value is None


def leaf_kind(value: ir.Var | ir.Const) -> Kind:
    """The kind of a variable or constant."""
    if isinstance(value, ir.Var):
        return value.kind
    if type(value.value) is int:
        return Scalar(np.dtype(np.int64), True, value.value if value.value >= 0 else None)
    return kind_of(value.value)


def same_constant(a: Any, b: Any) -> bool:
    if a is b:
        return True
    if type(a) is not type(b) or isinstance(a, np.ndarray):
        return False
    if isinstance(a, (int, float, complex, str, bytes)):
        return repr(a) == repr(b)
    try:
        return bool(a == b)
    except Exception:
        return False


def is_object(kind: Kind) -> bool:
    """Whether a value is an item of an array of objects: a number, None or anything else."""
    return isinstance(kind, Scalar) and kind.dtype.kind == "O"


def may_be_object(kind: Kind) -> bool:
    """Whether a value may be an item of an array of objects, of which nothing is known."""
    unknown = isinstance(kind, Array) and kind.dtype is None and kind.shape is None
    return unknown or is_object(kind)


def shape_of(value: ir.Var | ir.Const) -> Any:
    """The shape of a value, () for a number; None counts as one that isn't known."""
    kind = value.kind if isinstance(value, ir.Var) else None
    return kind.shape or (kind.shape is None) if isinstance(kind, Array) else ()


def is_range(value: Any) -> bool:
    """Whether a value is a range, which isn't an iterator as other sequences are."""
    return isinstance(value, Sequence) and value.bounds is not None and value.born is None


def array_kind(value: Any) -> Array | None:
    """The kind of an array that exists at run time."""
    kind = value.kind if isinstance(value, ir.Var) else None
    return kind if isinstance(kind, Array) else None


def is_number(value: Any) -> bool:
    """Whether a value is a number, Python's or NumPy's, which has no items."""
    if isinstance(value, ir.Var):
        return isinstance(value.kind, Scalar) and value.kind.dtype.kind in "fciub"
    return isinstance(value, ir.Const) and isinstance(value.value, NUMBERS)


def is_plain(value: Any) -> bool:
    """Whether a value is Python's, or one of NumPy's ints or dtypes: what constants are made of."""
    if isinstance(value, np.generic):
        return isinstance(value, np.integer)
    return isinstance(value, (*SIMPLE, np.dtype))


def is_member(value: Any) -> bool:
    """Whether a value can be a member of a set from outside that is followed."""
    if type(value) is tuple:
        return all(map(is_member, value))
    return isinstance(value, (*SIMPLE, np.integer))
