"""What functions, classes and objects tell of themselves, such as which package they are from."""

from __future__ import annotations

import functools
import sys
import sysconfig
from pathlib import PurePath
from typing import Any

STANDARD = sysconfig.get_path("stdlib")
INSTALLED = frozenset({"site-packages", "dist-packages"})
FOLLOWED = frozenset({"srcgrad", "numpy", "scipy", "builtins"})
WRITTEN_IN_PYTHON = 1 << 9  # of the flags of a class: it was made by a class statement
# Of the standard library, what is read with the program: its functions say what the program does.
OF_PROGRAMS = frozenset(
    "abc collections contextlib copy dataclasses enum functools heapq itertools math operator "
    "random statistics types typing".split()
)


def of_class(cls: type, name: str) -> Any:
    """What a class has for its objects, as it stands there, or None; its metaclass isn't asked.

    >>> of_class(bool, "__add__") is vars(int)["__add__"], of_class(int, "mro")
    (True, None)
    """
    return next((vars(base)[name] for base in cls.__mro__ if name in vars(base)), None)


def has_of_class(cls: type, name: str) -> bool:
    """Whether the objects of a class have an attribute from it; its metaclass isn't asked.

    >>> has_of_class(int, "__add__"), has_of_class(list, "__hash__"), has_of_class(int, "mro")
    (True, True, False)
    """
    return any(name in vars(base) for base in cls.__mro__)


def told(thing: Any, name: str, default: Any = None) -> Any:
    """An attribute that something has; a `__getattr__`, which may do anything, isn't asked.

    >>> told(package_of, "__name__"), told(3, "__name__")
    ('package_of', None)
    """
    if not computes_attributes(type(thing)):
        return getattr(thing, name, default)
    try:
        ask = type.__getattribute__ if isinstance(thing, type) else object.__getattribute__
        return ask(thing, name)
    except AttributeError:
        return default


def lacks_room(cls: type) -> bool:
    """Whether the objects of a class have but the attributes that its `__slots__` name.

    >>> class Point: __slots__ = ("x", "y")
    >>> class Moved(Point): pass
    >>> lacks_room(Point), lacks_room(Moved)
    (True, False)
    """
    return cls.__dictoffset__ == 0 and bool(cls.__flags__ & WRITTEN_IN_PYTHON)


def computes_attributes(cls: type) -> bool:
    """Whether the objects of a class have a `__getattr__`.

    >>> computes_attributes(int)
    False
    """
    try:
        return hasattr(cls, "__getattr__")
    except Exception:  # of the `__getattr__` of its class
        return True


def package_of(thing: Any) -> str | None:
    """The package that a function or class comes from; None if it is the program's own.

    >>> import json
    >>> package_of(json.loads), package_of(package_of)
    ('json', None)
    """
    name = told(thing, "__module__")
    root = name.partition(".")[0] if isinstance(name, str) else ""
    file = getattr(sys.modules.get(root), "__file__", None)
    return root if file is not None and root not in FOLLOWED and is_installed(file) else None


def is_of_package(function: Any) -> bool:
    """Whether a function or class is of a package that may be called instead of followed."""
    package = package_of(function)
    return package is not None and package not in OF_PROGRAMS


@functools.cache
def is_installed(file: str) -> bool:
    """Whether a file is part of Python or of an installed package."""
    parts = PurePath(file).parts
    return not INSTALLED.isdisjoint(parts) or PurePath(file).is_relative_to(STANDARD)
