"""What a compiled gradient depends on outside of its arguments, and the tests of it.

A gradient is right while the names, functions and flags that it was compiled with are the same
(its *conditions*), and it is passed the numbers and arrays that its function reads outside. Both
are read where they stand by expressions of generated code, so that a call spends tens of
nanoseconds, not microseconds, on each.
"""

from __future__ import annotations

import types
from collections.abc import Callable
from typing import Any

import numpy as np

from .frontend.predicates import is_static
from .frontend.values import Path, failure, layout

Condition = tuple[Path, Any]  # where something stands, and what
Reader = Callable[[Any], tuple[Any, ...] | None]
OF_CELLS = ("cell", "object")  # paths to what a cell holds, and to the cell


class _Own:
    """Stands for the cells of the primal function, whichever closure of its code that is."""

    def __repr__(self) -> str:
        return "own"


OWN = _Own()


def own(path: Any, primal: Any) -> Any:
    """A path that doesn't hold the primal function's cells, but finds them by name."""
    if not isinstance(path, Path):
        return path
    if path.how in OF_CELLS and any(path.container is c for c in _cells(primal)):
        return Path(path.how, OWN, path.name)
    return Path(path.how, own(path.container, primal), path.name)


def absolute(path: Any, primal: Any) -> Any:
    """The inverse of `own`, for a function with the same code."""
    if not isinstance(path, Path):
        return path
    if path.container is OWN:
        index = primal.__code__.co_freevars.index(path.name)
        return Path(path.how, _cells(primal)[index], path.name)
    return Path(path.how, absolute(path.container, primal), path.name)


def _cells(primal: Any) -> tuple[Any, ...]:
    return (primal.__closure__ or ()) if isinstance(primal, types.FunctionType) else ()


def conditions_of(compiled: Any, primal: Any) -> tuple[Condition, ...]:
    """What must be as it was when this was compiled, but for the primal's own code."""
    functions = [
        (Path("attribute", function, "__code__"), code)
        for function, code in compiled.codes
        if function is not primal and not _is_ours(function.__module__)
    ]
    guards = [(own(p, primal), value) for p, value in compiled.guards if not _stays(p, value)]
    return (*functions, *guards)


def make_reader(compiled: Any, primal: Any) -> tuple[int, Reader]:
    """How many outer values a gradient is passed, and a function that reads them.

    It returns these and then such as matter otherwise, or None if the gradient isn't right now.
    """
    from .rules import registry  # only now: importing the rules takes long

    names: dict[str, Any] = {"errors": ERRORS, "rules": registry}
    writer = Writer(primal, names)
    paths = [own(path, primal) for path, _ in compiled.free]
    used = len(paths)
    paths += [own(path, primal) for path in compiled.unused]
    tests = [f"rules.version == {compiled.rules}"]
    for function, code in compiled.codes:
        if function is primal:
            tests.insert(0, f"primal.__code__ is {writer.constant(code)}")
    tests += map(writer.test, conditions_of(compiled, primal))
    lines = [
        *("def read(primal):", "    try:"),
        *(f"        if not ({' and '.join(tests)}):", "            return None"),
        f"        return ({''.join(f'{writer.read(p)}, ' for p in paths)})",
        *("    except errors:", "        return None"),
    ]
    exec("\n".join(lines), names)
    return used, names["read"]


ERRORS = (AttributeError, LookupError, TypeError, ValueError)  # of reading what isn't there now


class Writer:
    """Writes expressions that read what is outside of a function.

    >>> names = {}
    >>> writer = Writer(None, names)
    >>> writer.test((Path("global", {"f": abs}, "f"), abs))
    "c0['f'] is c1"
    """

    def __init__(self, primal: Any, names: dict[str, Any], prefix: str = "") -> None:
        """Write them for a primal of that code, in code with these globals, which are added to."""
        self.primal, self.names, self.prefix = primal, names, prefix
        self.known: dict[int, str] = {}

    def constant(self, value: Any) -> str:
        """The name of an object in the generated code."""
        if id(value) not in self.known:
            name = self.known[id(value)] = f"{self.prefix}c{len(self.names)}"
            self.names[name] = value
        return self.known[id(value)]

    def read(self, path: Path) -> str:
        """An expression for what stands at a path."""
        if path.container is OWN:
            index = self.primal.__code__.co_freevars.index(path.name)
            cell = f"{self.prefix}primal.__closure__[{index}]"
            return f"{cell}.cell_contents" if path.how == "cell" else cell
        container = path.container
        inner = self.read(container) if isinstance(container, Path) else self.constant(container)
        if path.how == "cell":
            return f"{inner}.cell_contents"
        if path.how == "attribute":
            plain = path.name.isidentifier()
            return f"{inner}.{path.name}" if plain else f"getattr({inner}, {path.name!r})"
        if path.how == "class":
            return f"{inner}.__dict__[{path.name!r}]"
        if path.how == "structure":
            return f"{self.constant(layout)}({inner})"
        if path.how == "has":
            return f"hasattr({inner}, {path.name!r})"
        if path.how == "absent":
            return f"({path.name!r} not in {inner})"
        if path.how == "fails":
            return f"{self.constant(failure)}({inner}, {self.constant(path.name)})"
        if path.how == "object":
            return inner
        simple = type(path.name) in (int, str)
        return f"{inner}[{path.name!r}]" if simple else f"{inner}[{self.constant(path.name)}]"

    def test(self, condition: Condition) -> str:
        """An expression that tells whether a condition holds."""
        path, expected = condition
        if path.how == "absent":
            return self.read(path)
        if isinstance(expected, _PLAIN):
            return f"{self.constant(_equal)}({self.read(path)}, {self.constant(expected)})"
        return f"{self.read(path)} is {self.constant(expected)}"


_PLAIN = (bool, int, float, complex, str, bytes, tuple, np.integer)


def _equal(a: Any, b: Any) -> bool:
    if a is b:
        return True
    if type(a) is not type(b) or not isinstance(a, _PLAIN):
        return False
    if isinstance(a, tuple):
        return len(a) == len(b) and all(map(_equal, a, b))
    return bool(a == b)


def _stays(path: Any, value: Any) -> bool:
    """Whether what stands at a path is taken to stay: srcgrad's own, NumPy's and Python's names."""
    while isinstance(path.container, Path):
        path = path.container
    root = path.container
    if path.how in ("global", "absent"):
        module = str(root.get("__name__", ""))
        named = path.how == "absent" or isinstance(value, types.ModuleType)
        return _is_ours(module) or (named and is_static(module))
    return isinstance(root, types.FunctionType) and _is_ours(root.__module__)


def _is_ours(module: Any) -> bool:
    return str(module or "").startswith("srcgrad.")
