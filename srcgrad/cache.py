"""The store of compiled gradients: which of them is right for the arguments and the world now.

A gradient is right as long as the functions and flags it was compiled with are the same (its
guards), and the arguments and outer values are of the same pattern. Functions that share their
code and globals share a store, so that `grad(lambda w: loss(w, batch))(w)` in a loop compiles
once: values in closure cells are read from the function that is called.
"""

from __future__ import annotations

import threading
import types
from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass
from typing import Any

from .errors import InternalError
from .frontend.values import Path, layout
from .kinds import Opaque
from .lookup import matcher_for
from .signature import OPAQUE, RELATED, describe, nearby

MOST_STORES = 256
MOST_VARIANTS = 64
MOST_KEYS = 4096
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


@dataclass(eq=False)
class Variant:
    """A compiled gradient with the pattern of arguments and outer values that it is right for."""

    compiled: Any
    read: Reader
    used: int  # how many of the outer values that `read` returns are passed to the function
    static: frozenset[Any]
    pattern: Any
    opaque: frozenset[Any]  # the outer values of which only the types matter
    steady: bool  # right for these arguments while the primal's code and the rules are the same

    def fits(self, primal: Any, arguments: dict[str, Any]) -> tuple[Any, ...] | None:
        """The outer values, or None if this gradient isn't right for them and the arguments."""
        free = self.read(primal)
        if free is None or pattern_of(arguments, free, self.static, self.opaque) != self.pattern:
            return None
        return free


# The function, the reader of outer values, whether values are those it is right for, how many of
# them it takes, and where all this comes from.
Entry = tuple[Callable[..., Any], Reader, Callable[[Any], bool], int, Variant]


def pattern_of(
    arguments: dict[str, Any], free: tuple[Any, ...], static: frozenset[Any], opaque: frozenset[Any]
) -> Any:
    """What a compiled gradient depends on in its arguments and in outer values."""
    related = nearby(arguments.values()) if RELATED in static else {}
    bases = list(dict.fromkeys(base for base, _ in related.values()))
    sizes: dict[int, Any] = {n: (bases.index(m), more) for n, (m, more) in related.items()}
    parts = [describe(v, ("argument", n), static, sizes) for n, v in arguments.items()]
    return tuple(parts), tuple(describe(v, (i,), opaque, sizes) for i, v in enumerate(free))


class Store:
    """The gradients compiled for one function and one set of options."""

    def __init__(self, static: frozenset[Any] = frozenset()) -> None:
        self.lock = threading.RLock()
        self.entries: dict[Any, tuple[Entry, ...]] = {}
        self.variants: list[Variant] = []
        self.static = self.given = static

    def find(
        self,
        primal: Any,
        arguments: dict[str, Any],
        key_of: Callable[[], Any],
        compile_: Callable[[frozenset[Any]], Any],
    ) -> tuple[Variant, tuple[Any, ...]]:
        """The gradient that is right for the arguments, compiled if there is none, and the
        outer values it was found right for."""
        with self.lock:
            for variant in self.variants:
                free = variant.fits(primal, arguments)
                if free is not None:
                    break
            else:
                variant, free = self._compiled(primal, arguments, compile_)
            # now, as compiling may have found more values that must be part of the key
            key = key_of()
            matches = matcher_for(free, variant.opaque)
            entry = (variant.compiled.function, variant.read, matches, variant.used, variant)
            if len(self.entries) >= MOST_KEYS:
                self.entries.clear()
            others = [e for e in self.entries.get(key, ()) if e[4] is not variant or not e[2](free)]
            self.entries[key] = (entry, *others[:7])
            return variant, free

    def _compiled(
        self, primal: Any, arguments: dict[str, Any], compile_: Callable[[frozenset[Any]], Any]
    ) -> tuple[Variant, tuple[Any, ...]]:
        for _ in range(3):
            static = frozenset(absolute(s, primal) for s in self.static)
            compiled = compile_(static)
            used, read = make_reader(compiled, primal)
            free = read(primal)
            if free is not None:
                kept = frozenset(s for s in compiled.static if not isinstance(s, Path))
                opaque = frozenset(
                    (i, OPAQUE) for i, (_, kind) in enumerate(compiled.free)
                    if isinstance(kind, Opaque)
                )  # fmt: skip
                pattern = pattern_of(arguments, free, kept, opaque)
                steady = is_steady(compiled, primal)
                variant = Variant(compiled, read, used, kept, pattern, opaque, steady)
                self.static |= frozenset(own(s, primal) for s in compiled.static)
                self.variants.insert(0, variant)
                del self.variants[MOST_VARIANTS:]
                return variant, free
        raise InternalError("a value outside the function changes while it is compiled")

    def __reduce__(self) -> Any:
        return Store, (self.given,)


_stores: OrderedDict[Hashable, tuple[Any, Store]] = OrderedDict()
_stores_lock = threading.Lock()


def store_for(primal: Any, options: Hashable, static: frozenset[Any]) -> Store:
    """The store of a function: one for all functions of the same code, globals and options.

    `static` is what the options say of the arguments.
    """
    if isinstance(primal, types.FunctionType):
        held: Any = (primal.__code__, primal.__globals__)
        key: Hashable = (id(held[0]), id(held[1]), options)
    elif isinstance(primal, types.BuiltinFunctionType) or type(primal).__module__ == "numpy":
        held = primal
        key = (id(primal), options)
    else:
        return Store(static)
    with _stores_lock:
        found = _stores.pop(key, None) or (held, Store(static))
        _stores[key] = found
        while len(_stores) > MOST_STORES:
            _stores.popitem(last=False)
    return found[1]


def make_reader(compiled: Any, primal: Any) -> tuple[int, Reader]:
    """A function that returns the outer values a gradient reads, or None if it isn't right now.

    It is generated, so that a call spends tens of nanoseconds, not microseconds, on each.
    """
    from .rules import registry  # only now: importing the rules takes long

    names: dict[str, Any] = {"equal": _equal, "errors": _ERRORS, "rules": registry}
    known: dict[int, str] = {}

    def constant(value: Any) -> str:
        if id(value) not in known:
            known[id(value)] = f"c{len(known)}"
            names[known[id(value)]] = value
        return known[id(value)]

    def read(path: Path) -> str:
        if path.container is OWN:
            index = primal.__code__.co_freevars.index(path.name)
            cell = f"primal.__closure__[{index}]"
            return f"{cell}.cell_contents" if path.how == "cell" else cell
        container = path.container
        inner = read(container) if isinstance(container, Path) else constant(container)
        if path.how == "cell":
            return f"{inner}.cell_contents"
        if path.how == "attribute":
            plain = path.name.isidentifier() and not path.name.startswith("__")
            return f"{inner}.{path.name}" if plain else f"getattr({inner}, {path.name!r})"
        if path.how == "class":
            return f"{inner}.__dict__[{path.name!r}]"
        if path.how == "structure":
            names["layout"] = layout
            return f"layout({inner})"
        if path.how == "has":
            return f"hasattr({inner}, {path.name!r})"
        if path.how == "absent":
            return f"({path.name!r} not in {inner})"
        if path.how == "object":
            return inner
        simple = type(path.name) in (int, str)
        return f"{inner}[{path.name!r}]" if simple else f"{inner}[{constant(path.name)}]"

    paths = [own(path, primal) for path, _ in compiled.free]
    used = len(paths)
    paths += [own(path, primal) for path in compiled.unused]
    tests = [f"rules.version == {compiled.rules}"]
    for path, expected in compiled.guards:
        if _ours(path):
            continue
        if isinstance(expected, _PLAIN):
            tests.append(f"equal({read(own(path, primal))}, {constant(expected)})")
        else:
            tests.append(f"{read(own(path, primal))} is {constant(expected)}")
    for function, code in compiled.codes:
        if function is primal:
            tests.insert(0, f"primal.__code__ is {constant(code)}")
        elif not _of_srcgrad(function):
            tests.append(f"{constant(function)}.__code__ is {constant(code)}")
    lines = ["def read(primal):", "    try:"]
    if tests:
        lines += [f"        if not ({' and '.join(tests)}):", "            return None"]
    values = "".join(f"{read(p)}, " for p in paths)
    lines += [f"        return ({values})", "    except errors:", "        return None"]
    exec("\n".join(lines), names)
    return used, names["read"]


def is_steady(compiled: Any, primal: Any) -> bool:
    """Whether nothing but the primal's code and the rules matters, of all outside the arguments."""
    others = any(f is not primal and not _of_srcgrad(f) for f, _ in compiled.codes)
    guarded = any(not _ours(path) for path, _ in compiled.guards)
    return not (others or guarded or compiled.free or compiled.unused)


_ERRORS = (AttributeError, LookupError, TypeError, ValueError)
_PLAIN = (bool, int, float, complex, str, bytes, tuple)


def _ours(path: Any) -> bool:
    """Whether a path leads into srcgrad itself, whose rules don't change."""
    while isinstance(path.container, Path):
        path = path.container
    root = path.container
    if path.how == "global":
        return str(root.get("__name__", "")).startswith("srcgrad.")
    return isinstance(root, types.FunctionType) and _of_srcgrad(root)


def _of_srcgrad(function: Any) -> bool:
    return str(function.__module__ or "").startswith("srcgrad.")


def _equal(a: Any, b: Any) -> bool:
    if a is b:
        return True
    if type(a) is not type(b) or not isinstance(a, _PLAIN):
        return False
    if isinstance(a, tuple):
        return len(a) == len(b) and all(map(_equal, a, b))
    return bool(a == b)
