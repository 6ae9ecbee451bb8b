"""What changes between the making of an iterator and its use: refused where that matters.

Python's iterators look at what they go through when they are asked for an item. The items of a
list are looked up then here, too, but how many there are is asked for once. Some iterators (of
`itertools.accumulate`, those over generators) are made item by item at once. So iterators know
their sources, and lists and arrays how often they were written.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Collection, Iterable
from dataclasses import replace
from typing import Any, NamedTuple, TypeVar

from .. import ir
from ..errors import UnsupportedError
from ..ir import list_append
from ..kinds import Array, ListOf, Places
from .item_counts import forget
from .machine import Machine
from .purity import has_effect
from .restarts import NeedStatic
from .structure import is_table, reachable
from .structure import is_view as is_view_of_dict
from .values import DictObject, Generator, Heap, ListObject, Ref, Sequence, Value

Made = TypeVar("Made", bound=Sequence | Generator)
RESIZING: frozenset[Any] = frozenset({list_append, list.pop, list.insert})


class Binding(NamedTuple):
    """A name of a frame."""

    frame: int
    name: str


class Attribute(NamedTuple):
    """What an object holds."""

    owner: int
    name: str


Read = Ref | ir.Var | frozenset[ir.Var] | Binding | Attribute


class Source(NamedTuple):
    """What an iterator goes through, as it was when the iterator was made.

    `whole`: its items matter, not only how many there are.
    """

    what: Read
    whole: bool
    state: Any


class Moment(NamedTuple):
    """Where lowering stood when it began to make an iterator."""

    block: ir.Block
    statements: int
    looked_up: int
    sources: int
    frames: dict[int, dict[str, Value]]
    heap: dict[int, Heap]


class Changes(Machine):
    """Counts what is written, and checks what iterators go through."""

    def note_writes(self, function: Any, writes: Iterable[ir.Var]) -> None:
        """Count how often lists and arrays were written, and lists made longer or shorter."""
        for var in writes:
            if isinstance(var.kind, ListOf):
                same = self.likeness.alike(var)
                self.rewritten.update(same)
                if function is not operator.setitem or isinstance(var.kind, Places):
                    self.resized.update(same)
                    heap = self.state.heap
                    forget(heap, [n for n, t in heap.items() if getattr(t, "var", None) in same])
            elif isinstance(var.kind, Array):
                self.rewritten.update(self.bases(var))

    def note_views(self, target: ir.Var, views: Iterable[ir.Var]) -> None:
        """Note whose memory a new variable shares, certainly or perhaps."""
        found = frozenset().union(*map(self.bases, views))
        if found:
            self.viewed[target] = found

    def times_written(self, var: ir.Var) -> int:
        """How often an array was written, or what it is a view of."""
        return sum(self.rewritten[base] for base in self.bases(var))

    def flats_anew(
        self, function: Any, args: tuple[ir.Operand, ...], kwargs: dict[str, ir.Operand]
    ) -> tuple[ir.Operand, ...]:
        """The operands of a call; if `x` was written, an item of an old `x.flat` is that of a new.

        All of the old one is refused: it would show what was written, but here it may be a copy.
        """
        operands = (*args, *kwargs.values())
        for v in (v for operand in operands for v in ir.variables(operand) if v in self.flats):
            owner, before = self.flats[v]
            if self.times_written(owner) != before:
                if function is not operator.getitem or v is not args[0]:
                    raise self.kept_flat("is read here after the array was written")
                args = (self.operand(self.attribute(owner, "flat")), *args[1:])
        return args

    def kept_flat(self, what: str) -> UnsupportedError:
        return self.refuse(
            f"an iterator over an array, x.flat, {what}",
            "use x.flat where it stands, x.ravel() for a copy, or x.reshape(-1) for a view",
        )

    def bases(self, var: ir.Var) -> frozenset[ir.Var]:
        """What a variable is a view of in the end; itself, if it is none."""
        return self.viewed.get(var) or frozenset((var,))

    @property
    def stepwise_site(self) -> tuple[str, Any]:
        """What is known where an iterator made here is one that makes one item at a time."""
        return ("%stepwise", self.span)

    def ask_stepwise(self, *sites: Any) -> None:
        """Have an iterator made once more as an object that makes one item when it is asked.

        That at one of these sites or, failing that, the innermost of those that make items here.
        """
        for site in (*sites, *reversed(self.at_work)):
            if site is not None and site not in self.known_sites:
                message = "what this iterator goes through changes, or who asks for its items"
                raise NeedStatic(frozenset([site]), message, self.span)

    def as_of(self, made: Made, site: Any) -> Made:
        """An iterator that is known to be made at a site, and makes its items in that knowledge."""

        def within(run: Callable[..., Any], *args: Any) -> Any:
            around: tuple[Any, ...] = self.at_work
            self.at_work = (*around, site)
            try:
                return run(*args)
            finally:
                self.at_work = around

        if isinstance(made, Sequence):
            item = made.item
            return replace(made, item=lambda i: within(item, i), site=site)

        def run(body: Callable[[Value], None]) -> object:
            around: tuple[Any, ...] = self.at_work

            def given(item: Value) -> None:
                inside, self.at_work = self.at_work, around
                try:
                    body(item)
                finally:
                    self.at_work = inside

            return within(made.run, given)

        sequence = made.sequence
        if sequence is None:
            return replace(made, run=run, site=site)
        return replace(made, run=run, sequence=lambda: self.as_of(sequence(), site), site=site)

    def over(self, what: Ref | ir.Var) -> tuple[Source, ...]:
        """A list or dict that is gone through, of which only the length must stay the same."""
        source = Source(what, False, self.extent(what))
        self.sources.append(source)
        return (source,)

    def over_attribute(self, owner: Ref, name: str) -> tuple[Source, ...]:
        """A list or array that is gone through by an object, which is asked for it each time."""
        what = Attribute(owner.id, name)
        held = self.held(what)
        inner = self.over(held) if isinstance(self.on_heap(held), ListObject) else ()
        return (Source(what, False, self.contents(what)), *inner)

    def held(self, what: Binding | Attribute) -> Any:
        """What a name or an attribute holds now."""
        if isinstance(what, Binding):
            return self.state.frames.get(what.frame, {}).get(what.name)
        return getattr(self.state.heap.get(what.owner), "items", {}).get(what.name)

    def over_dicts(self, values: Iterable[Value]) -> list[Source]:
        """The dicts among what an iterator is made of: Python notes at once how long they are."""
        found: list[Source] = []
        for value in values:
            thing = self.on_heap(value)
            if is_view_of_dict(thing):
                value = thing.items["table"]
                thing = self.on_heap(value)
            if isinstance(value, Ref) and isinstance(thing, DictObject):
                found.append(Source(value, False, self.extent(value)))
        return found

    def moment(self) -> Moment:
        frames = {number: dict(names) for number, names in self.state.frames.items()}
        counts = len(self.block.statements), len(self.looked_up), len(self.sources)
        return Moment(self.block, *counts, frames, dict(self.state.heap))

    def check_alone(self, moment: Moment, iterables: Iterable[Value] = ()) -> None:
        """Refuse to make items that aren't asked for yet, or at all, if that changes something but
        how far `iterables` have come."""
        made = ir.Block(moment.block.statements[moment.statements :])
        calls = [s for s in ir.walk(made) if isinstance(s, ir.Assign)]
        own = {s.target for s in calls}
        names = (
            self.state.frames.get(number, {}).get(name) is value
            for number, before in moment.frames.items() for name, value in before.items()
            if not name.startswith("%")
        )  # fmt: skip
        written = {v for s in calls for v in s.writes}
        own_state = [v.steps if isinstance(v, Generator) and v.steps else v for v in iterables]
        inside = reachable(self.state.heap, own_state)
        things = (
            same_content(thing, self.state.heap.get(n), written)
            for n, thing in moment.heap.items() if n not in inside
        )  # fmt: skip
        alone = all(names) and all(things) and all(self.bases(v) <= own for v in written)
        if not alone or any(s.effect and has_effect(s.function) for s in calls):
            self.ask_stepwise()
            raise self.refuse(
                "what makes the items of this iterator changes something, and they aren't made one "
                "by one, when they are asked for",
                "make a list of them first: list(...)",
            )

    def read_since(self, moment: Moment, iterables: Iterable[Value]) -> list[Source]:
        """What an iterator was made of whose items were made at once, from a moment on: memory,
        what `iterables` go through, and the names and objects that its items were made with."""
        self.check_alone(moment, iterables)
        made = moment.block.statements[moment.statements :]
        reading = (s for s in ir.walk(ir.Block(made)) if not is_view(s))
        memory = [v for s in reading for v in ir.uses(s) if isinstance(v.kind, (Array, ListOf))]
        found: list[Any] = [frozenset().union(*map(self.bases, memory)).union(memory)]
        gone_through = [source.what for source in self.sources[moment.sources :]]
        found += [w for w in gone_through if not isinstance(w, Ref) or w.id in moment.heap]
        for value in iterables:
            if isinstance(value, (Sequence, Generator)):
                found += [source.what for source in value.over]
            elif isinstance(value, Ref) or is_list(value):
                found.append(value)
        asked = self.looked_up[moment.looked_up :]
        met = {(name, id(value)) for name, value in asked}
        for number, before in moment.frames.items():
            found += [
                Binding(number, name) for name, value in before.items()
                if not name.startswith("%") and (name, id(value)) in met
            ]  # fmt: skip
        found += [Ref(number) for number in reachable(self.state.heap, [v for _, v in asked])]
        return [Source(what, True, self.contents(what)) for what in found]

    def extent(self, what: Ref | ir.Var) -> Any:
        """What changes with the length of a list, or with the keys of a dict."""
        if isinstance(what, ir.Var):
            return self.resized[what]
        thing = self.state.heap[what.id]
        if not isinstance(thing, ListObject):
            return list(thing.items)
        if thing.var is None:
            return len(thing.items)
        times = self.resized[thing.var]
        return self.first_lengths.get(thing.var) if not times else (thing.var, times)

    def contents(self, what: Read) -> Any:
        """What changes with the items of lists, dicts and arrays, and with what a name holds."""
        if isinstance(what, (Binding, Attribute)):
            held = self.held(what)
            return held if isinstance(held, Ref) else id(held)
        thing = self.state.heap[what.id] if isinstance(what, Ref) else None
        return thing, sum(self.rewritten[v] for v in self.memory_of(what))

    def memory_of(self, what: Read) -> Collection[ir.Var]:
        """The variables of lists and arrays that exist at run time."""
        if isinstance(what, (Binding, Attribute)):
            return ()
        if isinstance(what, Ref):
            thing = self.state.heap.get(what.id)  # None, if nothing refers to it any more
            var = thing.var if isinstance(thing, ListObject) else None
            return () if var is None else (var,)
        return (what,) if isinstance(what, ir.Var) else what

    def has_changed(self, source: Source) -> bool:
        """Whether what an iterator goes through is another than when it was made."""
        if isinstance(source.what, Ref) and source.what.id not in self.state.heap:
            return False  # nothing refers to it
        if source.whole or isinstance(source.what, Attribute):
            return bool(self.contents(source.what) != source.state)
        assert isinstance(source.what, (Ref, ir.Var))
        return bool(self.extent(source.what) != source.state)

    def check_lengths(self, sequence: Sequence | Generator, site: int = 0) -> None:
        """Refuse to go on through what has more or less items than when one began.

        The loop at `site` is lowered once more instead, as one that knows how far it has come.
        """
        changed = [source for source in sequence.over if self.has_changed(source)]
        if not changed:
            return
        if any(source.whole for source in changed):
            self.ask_stepwise(sequence.site)
            raise self.refuse(
                "what this iterator goes through is written before it is used up",
                "use its items where they are made, or keep a list of them: list(...)",
            )
        if site and isinstance(sequence, Sequence) and sequence.changing is not None:
            sites = frozenset([("%changing", site)])
            raise NeedStatic(sites, "this list changes while it is gone through", self.span)
        self.ask_stepwise(sequence.site)
        refs = [source.what for source in changed if isinstance(source.what, Ref)]
        tables = {("%table", self.sites.get(r.id)) for r in refs if is_table(self.state.heap[r.id])}
        if tables - self.known_sites:  # it may only have been asked for keys that the run tells
            message = "this set or dict changes while it is iterated over"
            raise NeedStatic(frozenset(tables), message, self.span)
        raise self.refuse(
            "this list changes its length while it is iterated over",
            "iterate over a copy, list(...), or by indices: while i < len(...)",
        )

    def check_items(self, sequence: Sequence) -> None:
        """Refuse what has run if it changed what items that were made at once are made of."""
        made_of = tuple(source for source in sequence.over if source.whole)
        self.check_lengths(replace(sequence, over=made_of))

    def note_lists(
        self,
        sequence: Sequence,
        loop: list[ir.Statement],
        deciding: Collection[Any],
        site: int,
    ) -> None:
        """Look at what a loop changes: nothing that it iterates over, it is to be hoped.

        `deciding` is what must be known for the number of items of lists to be known: how often the
        loop runs, and that it is unrolled.
        """
        own = {v for source in sequence.over for v in self.memory_of(source.what)}
        for statement in ir.walk(ir.Block(loop)):
            if not isinstance(statement, ir.Assign):
                continue
            for written in statement.writes:
                same = self.likeness.alike if isinstance(written.kind, ListOf) else self.bases
                if not own.isdisjoint(same(written)):
                    span, self.span = self.span, statement.span
                    self.check_lengths(sequence, site)
                    self.span = span
            if statement.function in RESIZING:
                statement.writes[0].origins |= frozenset(deciding)
        if any(isinstance(source.what, Attribute) for source in sequence.over):
            self.check_lengths(sequence, site)
        self.check_items(sequence)  # names and objects, which no statement writes
        for statement in ir.walk(ir.Block(loop)):
            if isinstance(statement, ir.Loop):
                for param, target in zip(statement.params, statement.targets, strict=True):
                    if isinstance(param.kind, ListOf):
                        target.origins |= param.origins


def same_content(before: Heap, now: Heap | None, written: Collection[ir.Var]) -> bool:
    """Whether an object holds what it held, though a list may exist at run time now."""
    if before is now:
        return True
    if not isinstance(before, ListObject) or not isinstance(now, ListObject):
        return False
    return before.var is None and now.var is not None and now.var not in written


def is_list(value: Value) -> bool:
    """Whether a value is a list that exists at run time."""
    return isinstance(value, ir.Var) and isinstance(value.kind, ListOf)


def is_view(s: ir.Statement) -> bool:
    """Whether a statement makes a view of an array: it doesn't look at its elements."""
    return isinstance(s, ir.Assign) and isinstance(s.target.kind, Array) and bool(s.views)
