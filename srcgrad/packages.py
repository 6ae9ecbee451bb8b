"""Which package a function or class comes from."""

from __future__ import annotations

import functools
import sys
import sysconfig
from pathlib import PurePath
from typing import Any

STANDARD = sysconfig.get_path("stdlib")
INSTALLED = frozenset({"site-packages", "dist-packages"})
FOLLOWED = frozenset({"srcgrad", "numpy", "scipy", "builtins"})
# Of the standard library, what is read with the program: its functions say what the program does.
OF_PROGRAMS = frozenset(
    "abc collections contextlib copy dataclasses enum functools heapq itertools math operator "
    "random statistics types typing".split()
)


def package_of(thing: Any) -> str | None:
    """The package that a function or class comes from; None if it is the program's own.

    >>> import json
    >>> package_of(json.loads), package_of(package_of)
    ('json', None)
    """
    name = getattr(thing, "__module__", None)
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
