"""The store of compiled gradients: which of them is right for the arguments and the world now.

A gradient is right as long as the functions and flags it was compiled with are the same (its
guards), and the arguments and outer values are of the same pattern. Functions that share their
code and globals share a store, so that `grad(lambda w: loss(w, batch))(w)` in a loop compiles
once: values in closure cells are read from the function that is called.
"""

from __future__ import annotations

import functools
import threading
import types
from collections import OrderedDict
from collections.abc import Callable, Hashable
from contextlib import suppress
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
MOST_FAMILIES = 64
MOST_HELD = 100  # functions and other things in cells


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
    """The gradients compiled for one function and one set of options.

    What one of them needs to be static is part of the key of all. Those compiled later begin with
    it, so that it isn't found out again, if their functions are of the same family.
    """

    def __init__(self, static: frozenset[Any] = frozenset()) -> None:
        self.lock = threading.RLock()
        self.entries: dict[Any, tuple[Entry, ...]] = {}
        self.variants: list[Variant] = []
        self.static = self.given = static
        self.learned: dict[Hashable, frozenset[Any]] = {}  # by the family

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
                self._learn(primal, frozenset(own(s, primal) for s in compiled.static))
                self.variants.insert(0, variant)
                del self.variants[MOST_VARIANTS:]
                return variant, free
        raise UnsupportedError(
            "what this function finds outside is something else each time that it is asked for",
            None,
            "make it once, before, and give it a name: METER = units.meter",
        )

    def _learn(self, primal: Any, static: frozenset[Any]) -> None:
        self.static |= static
        known = self.known_of(primal)
        if len(self.learned) >= MOST_FAMILIES:
            self.learned.clear()
        self.learned[family(primal)] = known | static

    def known_of(self, primal: Any) -> frozenset[Any]:
        """What functions of the family needed to be static."""
        return self.learned.get(family(primal), self.given)

    def _made(self, primal: Any, compile_: Callable[[frozenset[Any]], Any]) -> Any:
        """What is compiled with that static which others of its family needed to be, or without,
        if it can't be had so."""

        def made(known: frozenset[Any]) -> Any:
            return compile_(frozenset(absolute(s, primal) for s in known))

        known = self.known_of(primal)
        try:
            return made(known)
        except UnsupportedError:
            if known == self.given:
                raise
        return made(self.given)

    def __reduce__(self) -> Any:
        return Store, (self.given,)


def family(primal: Any) -> Hashable:
    """What functions have in common that need the same to be known: the code in their cells.

    A wrapper, `lambda *args: weights @ f(*args)`, needs of its arguments what `f` asks of them.

    >>> def doubled(f):
    ...     return lambda x: 2.0 * f(x)
    >>> family(doubled(sum)) == family(doubled(len)) != family(doubled(lambda x: x))
    True
    """
    found: list[Hashable] = []
    waiting, seen = [primal], set()
    while waiting and len(found) < MOST_HELD:
        thing = waiting.pop()
        while isinstance(thing, (functools.partial, types.MethodType)):
            thing = thing.func if isinstance(thing, functools.partial) else thing.__func__
        if isinstance(thing, types.FunctionType) and id(thing) not in seen:
            seen.add(id(thing))
            found.append(thing.__code__)
            for cell in thing.__closure__ or ():
                with suppress(ValueError):  # it may hold nothing yet
                    waiting.append(cell.cell_contents)
        else:
            found.append((type(thing),))
    return tuple(found)


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
