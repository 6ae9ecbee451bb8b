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

from .errors import UnsupportedError
from .frontend.values import Path
from .kinds import Held, Opaque
from .lookup import matcher_for
from .outside import Condition, Reader, absolute, conditions_of, make_reader, own
from .signature import HELD, OPAQUE, RELATED, describe, nearby

MOST_STORES = 256
MOST_VARIANTS = 64
MOST_KEYS = 4096


@dataclass(eq=False)
class Variant:
    """A compiled gradient with the pattern of arguments and outer values that it is right for."""

    compiled: Any
    read: Reader
    used: int  # how many of the outer values that `read` returns are passed to the function
    static: frozenset[Any]
    pattern: Any
    opaque: frozenset[Any]  # the outer values of which only the types matter
    conditions: tuple[Condition, ...]  # what must be the same outside
    is_steady: bool  # right for its arguments while the conditions hold

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
            compiled = self._made(primal, compile_)
            used, read = make_reader(compiled, primal)
            free = read(primal)
            if free is not None:
                kept = frozenset(s for s in compiled.static if not isinstance(s, Path))
                opaque = frozenset(
                    (i, OPAQUE) for i, (_, kind) in enumerate(compiled.free)
                    if isinstance(kind, Opaque)
                )  # fmt: skip
                opaque |= {(i, HELD) for i, (_, k) in enumerate(compiled.free) if type(k) is Held}
                pattern = pattern_of(arguments, free, kept, opaque)
                conditions, steady = conditions_of(compiled, primal), not free
                variant = Variant(compiled, read, used, kept, pattern, opaque, conditions, steady)
                self.static |= frozenset(own(s, primal) for s in compiled.static)
                self.variants.insert(0, variant)
                del self.variants[MOST_VARIANTS:]
                return variant, free
        raise UnsupportedError(
            "what this function finds outside is something else each time that it is asked for",
            None,
            "make it once, before, and give it a name: METER = units.meter",
        )

    def _made(self, primal: Any, compile_: Callable[[frozenset[Any]], Any]) -> Any:
        """What is compiled with that static which other functions of this code needed to be, or
        without, if it can't be had so."""

        def made(known: frozenset[Any]) -> Any:
            return compile_(frozenset(absolute(s, primal) for s in known))

        try:
            return made(self.static)
        except UnsupportedError:
            if self.static == self.given:
                raise
        return made(self.given)

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
