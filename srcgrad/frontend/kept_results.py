"""Functions that keep their results: `functools.cache` and `lru_cache`.

What such a function has returned for arguments that are known when compiling stands in a
`rules.library.Memory` on the abstract heap. Where only the run tells if there is a result already,
it is called like any function, if that surely makes no difference.
"""

from __future__ import annotations

import functools
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import replace
from typing import Any, NoReturn

import gast

from .. import ir
from ..analysis.aliasing import Aliasing, holds_memory
from ..errors import UnsupportedError
from ..kinds import Reference
from ..rules.library import Memory
from .array_protocols import ArrayProtocols
from .effects import REPEATABLE
from .libraries import CALLED
from .names import scope_of
from .outer_objects import KEPT_OUT
from .predicates import NUMBERS, is_number
from .restarts import NeedStatic
from .structure import held_by, parts
from .values import Closure, Instance, Path, Ref, Tuple, Value


class Kept(ArrayProtocols):
    """Calls functions that keep their results."""

    def call_of_cached(self, function: Any, args: list[Value], kwargs: dict[str, Value]) -> Value:
        """A call of a function that keeps its results: looked into if it does nothing else.

        If it draws numbers, reads a file or prints, that's done once: it is called as it is.
        """
        if (CALLED, function) in self.known_sites:
            return self.call_with_copies(ir.Const(function), args, kwargs)
        run = functools.partial(self.call_looked_into, function, args, kwargs)
        of_objects = any(isinstance(a, Ref) for a in (*args, *kwargs.values()))
        again = self.refuse_again if of_objects else run
        return self.recalled_or(self.outer_memory, function, Tuple(tuple(args)), kwargs, run, again)

    def call_looked_into(self, function: Any, args: list[Value], kwargs: dict[str, Value]) -> Value:
        """A call of a function that keeps its results, and does nothing else."""
        block, before, heap = self.block, len(self.block.statements), set(self.state.heap)
        things = {t.ref.id: self.state.heap[t.ref.id] for t in self.taken_in.values()}
        found = self.call_object(function.__wrapped__, args, kwargs)
        made = list(ir.walk(ir.Block(block.statements[before:])))
        effects = [s for s in made if isinstance(s, ir.Assign) and s.effect]
        used = [j.thing for j in self.journals.values() if any(j.var in s.args for s in effects)]
        if any(self.state.heap.get(i) is not thing for i, thing in things.items()):
            raise self.refuse(
                f"{function.__name__!r} keeps its results, and writes what is read outside of it",
                "return what it writes",
            )
        if any(s.function not in REPEATABLE for s in effects):
            self.call_as_it_is(function, used)
        if not any(isinstance(a, Ref) for a in (*args, *kwargs.values())):
            self.keep_outside(found, f"{function.__name__}(...)", heap, made)
        return found

    def keep_outside(
        self, value: Value, name: str, before: set[int], made: list[ir.Statement]
    ) -> None:
        """Note that the program finds again what was made here, so that nothing may change it."""
        waiting: list[Any] = [value]
        while waiting:
            part = waiting.pop()
            if isinstance(part, ir.Var) and isinstance(part.kind, Reference):
                raise self.refuse(
                    f"{name} keeps objects, and whether these change later isn't known",
                    "don't keep what it returns, or call it outside",
                )
            if isinstance(part, ir.Var) and holds_memory(part.kind):
                self.kept_outside[part] = name, made
            elif not isinstance(part, Ref):
                waiting += parts(part)
            elif part.id not in before:
                before.add(part.id)
                thing = self.state.heap[part.id]
                self.state.heap[part.id] = replace(thing, external=name)
                waiting += [*held_by(thing), getattr(thing, "var", None)]

    def builtin_remembered(
        self, memory: Value, function: Value, args: Value, kwargs: Value
    ) -> Value:
        """The result of a function that is decorated where it is compiled."""
        named = self.dictionary(kwargs).items
        assert isinstance(memory, Ref)

        def run() -> Value:
            return self.call(function, *self.passed([("*", args), ("**", kwargs)]))

        def again() -> Value:
            return self.called_again(function, [*parts(args), *named.values()], run)

        return self.recalled_or(memory, None, args, named, run, again)

    def recalled_or(
        self, memory: Ref, function: Any, args: Value, kwargs: dict[Any, Value],
        run: Callable[[], Value], again: Callable[[], Value],
    ) -> Value:  # fmt: skip
        """What a function that keeps its results has returned, if its arguments are known.

        `again` calls it where only the run tells if that has been computed before.
        """
        key = None
        if not self.making:
            named = (Tuple((ir.Const(k), v)) for k, v in kwargs.items())
            given = self.known_key(Tuple((args, *named)), self.setting(memory, "typed"))
            first = args.items[0] if isinstance(args, Tuple) and len(args.items) == 1 else None
            alone = isinstance(first, ir.Const) and type(first.value) in (int, str) and not kwargs
            key = given and (function, alone, given)  # as functools has it: 1 isn't 1.0 here
        thing, most = self.on_heap(memory), self.setting(memory, "maxsize")
        if key is not None and isinstance(thing, Instance) and key in thing.items:
            return self.known("this result", thing.items[key])
        sure = key is not None and not self.loop_depth and (memory, key) not in self.results_made
        if most is not None and sum(m == memory for m, _ in self.results_made) >= most:
            sure = False  # it may have been forgotten
        self.results_made.add((memory, key))
        result = run() if sure else again()
        thing = self.on_heap(memory)
        if key is not None and isinstance(thing, Instance):
            self.state.heap[memory.id] = replace(thing, items={**thing.items, key: result})
        return result

    def called_again(self, function: Value, args: list[Value], run: Callable[[], Value]) -> Value:
        """The result of a call that may have been made before: the same, if it is a number.

        Raises:
            UnsupportedError: it might be another one, or the call does something else.
        """
        heap, block, count = dict(self.state.heap), self.block, len(self.block.statements)
        frames = [(n, name, v) for n, f in self.state.frames.items() for name, v in f.items()]
        result = run()
        made = list(ir.walk(ir.Block(block.statements[count:])))
        own = {v for s in made for v in ir.targets(s)}
        own |= {v for s in made if isinstance(s, ir.Loop) for v in s.params}
        assigned = [s for s in made if isinstance(s, ir.Assign)]
        now, kept = self.state.frames, {i: t for i, t in heap.items() if t.type is not Memory}
        if (
            any(s.effect and s.function not in REPEATABLE for s in assigned)
            or any(v not in own for s in assigned for v in s.writes)
            or any(self.state.heap.get(i) is not thing for i, thing in kept.items())
            or any(now.get(n, {}).get(k) is not v for n, k, v in frames if k[0] != "%")
            or any(isinstance(a, Ref) for a in args)
            or not is_number_alone(result)
            or self.reads_what_changes(function)
        ):
            self.refuse_again()
        return result

    def refuse_again(self) -> NoReturn:
        raise self.refuse(
            "this function keeps its results, and whether it has been called like this before is "
            "known only when it runs",
            "call it before the loop or branch, or don't keep what it returns",
        )

    def reads_what_changes(self, function: Value) -> bool:
        """Whether a function reads a name that gets another value, or what it stands for does."""
        if not isinstance(function, Closure):
            return True
        read = {n.id for n in gast.walk(function.node) if isinstance(n, gast.Name)}
        read -= scope_of(function.node).local
        number = function.frame
        while number is not None:
            frame = self.frames[number]
            if frame.node is not None and read & changing_names(frame.node):
                return True
            number = frame.parent
        return False

    def setting(self, memory: Ref, name: str) -> Any:
        thing = self.on_heap(memory)
        assert isinstance(thing, Instance)
        return self.stated(thing.items[name], name)

    def known_key(self, value: Value, typed: bool) -> Any:
        """What is known when compiling as a key of a dict; None if it isn't."""
        if isinstance(value, Tuple):
            keys = tuple(self.known_key(item, typed) for item in value.items)
            return None if None in keys or value.missing is not None else keys
        if isinstance(value, ir.Const) and isinstance(value.value, (*NUMBERS, str, bytes)):
            return (type(value.value), value.value) if typed else (value.value,)
        thing = self.on_heap(value)
        if isinstance(thing, Instance) and thing.frozen is None and isinstance(value, Ref):
            if not any(self.class_attribute(thing.type, n) for n in ("__eq__", "__hash__")):
                return object, value.id
        return None

    def call_as_it_is(self, function: Any, used: Iterable[Any] = ()) -> None:
        """Begin again if a function that keeps its results, and writes things, is looked into."""
        if (CALLED, function) not in self.known_sites:
            message = f"{function.__name__!r} keeps its results, and does more than return them"
            kept = [(KEPT_OUT, Path("object", thing, "")) for thing in used]
            raise NeedStatic(frozenset([(CALLED, function), *kept]), message, self.span)


def check_kept(low: Any, function: ir.Function) -> None:
    """Refuse changes of arrays that functions outside have returned, and keep.

    Raises:
        UnsupportedError: one is written after it was returned.
    """
    if not low.kept_outside:
        return
    for body in (function, *(unit.body for unit in ir.units([function]))):
        aliasing = Aliasing(body.block)
        for var, (name, made) in low.kept_outside.items():
            own, classes = set(map(id, made)), set(aliasing.classes(var))
            for s in ir.walk(body.block):
                if isinstance(s, ir.Assign) and id(s) not in own:
                    if not classes.isdisjoint(aliasing.written_by(s)):
                        raise UnsupportedError(
                            f"{name!r} keeps what it returns, and would return this change, too",
                            s.span, "make a copy of it first: .copy()",
                        )  # fmt: skip


def is_number_alone(value: Value) -> bool:
    """Whether a value is a number, or a tuple of such: nothing that may be changed later."""
    if isinstance(value, Tuple):
        return all(map(is_number_alone, value.items))
    return isinstance(value, ir.Const) or is_number(value)


CHANGING = frozenset(
    "append extend insert pop remove clear sort reverse update setdefault add discard popitem "
    "appendleft extendleft popleft rotate fill put resize".split()
)


@functools.lru_cache(1024)
def changing_names(node: Any) -> frozenset[str]:
    """The names that a function assigns more than once, or changes something through."""
    assigned, changed = Counter[str](), set[str]()
    for loop in gast.walk(node):
        inside = gast.walk(loop) if isinstance(loop, (gast.For, gast.While)) else ()
        changed |= {n.id for n in inside if isinstance(n, gast.Name) and is_stored(n)}
    for n in gast.walk(node):
        if isinstance(n, gast.Name) and is_stored(n):
            assigned[n.id] += 1
        elif isinstance(n, (gast.Subscript, gast.Attribute)) and is_stored(n):
            changed.add(base_name(n))
        elif isinstance(n, gast.Call) and isinstance(n.func, gast.Attribute):
            if n.func.attr in CHANGING:
                changed.add(base_name(n.func))
    return frozenset(changed | {name for name, times in assigned.items() if times > 1})


def is_stored(node: Any) -> bool:
    return isinstance(node.ctx, (gast.Store, gast.Del))


def base_name(node: Any) -> str:
    """The name at the beginning of `name.attribute[index]`."""
    while isinstance(node, (gast.Subscript, gast.Attribute)):
        node = node.value
    return getattr(node, "id", "")
