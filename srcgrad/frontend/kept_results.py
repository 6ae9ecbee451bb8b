"""Functions that keep their results: `functools.cache` and `lru_cache`.

What such a function has returned for arguments that are known when compiling stands in a
`rules.library.Memory` on the abstract heap; for others it is called like any function.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any

from .. import ir
from .array_protocols import ArrayProtocols
from .effects import REPEATABLE
from .libraries import CALLED
from .outer_objects import KEPT_OUT
from .restarts import NeedStatic
from .structure import NUMBERS
from .values import Instance, Path, Ref, Tuple, Value


class Kept(ArrayProtocols):
    """Calls functions that keep their results."""

    def call_of_cached(self, function: Any, args: list[Value], kwargs: dict[str, Value]) -> Value:
        """A call of a function that keeps its results: looked into if it does nothing else.

        If it draws numbers, reads a file or prints, that's done once: it is called as it is.
        """
        if (CALLED, function) in self.known_sites:
            return self.call_with_copies(ir.Const(function), args, kwargs)
        run = functools.partial(self.call_looked_into, function, args, kwargs)
        return self.recalled_or(self.outer_memory, function, Tuple(tuple(args)), kwargs, run)

    def call_looked_into(self, function: Any, args: list[Value], kwargs: dict[str, Value]) -> Value:
        """A call of a function that keeps its results, and does nothing else."""
        block, before = self.block, len(self.block.statements)
        things = {t.ref.id: self.state.heap[t.ref.id] for t in self.taken_in.values()}
        found = self.call_object(function.__wrapped__, args, kwargs)
        made = ir.walk(ir.Block(block.statements[before:]))
        effects = [s for s in made if isinstance(s, ir.Assign) and s.effect]
        used = [j.thing for j in self.journals.values() if any(j.var in s.args for s in effects)]
        if any(self.state.heap.get(i) is not thing for i, thing in things.items()):
            raise self.refuse(
                f"{function.__name__!r} keeps its results, and writes what is read outside of it",
                "return what it writes",
            )
        if any(s.function not in REPEATABLE for s in effects):
            self.call_as_it_is(function, used)
        return found

    def builtin_remembered(
        self, memory: Value, function: Value, args: Value, kwargs: Value
    ) -> Value:
        """The result of a function that is decorated where it is compiled."""
        named = self.dictionary(kwargs).items
        assert isinstance(memory, Ref)

        def run() -> Value:
            return self.call(function, *self.passed([("*", args), ("**", kwargs)]))

        return self.recalled_or(memory, None, args, named, run)

    def recalled_or(
        self, memory: Ref, function: Any, args: Value, kwargs: dict[Any, Value],
        run: Callable[[], Value],
    ) -> Value:  # fmt: skip
        """What a function that keeps its results has returned, if its arguments are known."""
        key = None
        if not self.making:
            given = known_key(Tuple((args, *(Tuple((ir.Const(k), v)) for k, v in kwargs.items()))))
            key = given and (function, given)
        thing = self.on_heap(memory)
        if key is not None and isinstance(thing, Instance) and key in thing.items:
            return self.known("this result", thing.items[key])
        result, thing = run(), self.on_heap(memory)
        if key is not None and isinstance(thing, Instance):
            self.state.heap[memory.id] = replace(thing, items={**thing.items, key: result})
        return result

    def call_as_it_is(self, function: Any, used: Iterable[Any] = ()) -> None:
        """Begin again if a function that keeps its results, and writes things, is looked into."""
        if (CALLED, function) not in self.known_sites:
            message = f"{function.__name__!r} keeps its results, and does more than return them"
            kept = [(KEPT_OUT, Path("object", thing, "")) for thing in used]
            raise NeedStatic(frozenset([(CALLED, function), *kept]), message, self.span)


def known_key(value: Value) -> Any:
    """What is known when compiling as a key of a dict; None if it isn't."""
    if isinstance(value, Tuple):
        keys = tuple(map(known_key, value.items))
        return None if None in keys or value.missing is not None else keys
    if isinstance(value, ir.Const) and isinstance(value.value, (*NUMBERS, str, bytes)):
        return type(value.value), value.value
    return None
