"""Building blocks of IR: emitting a primitive, forking at a branch, joining, looping to a fixpoint.

The abstract state (`values.State`) says what every name holds. A branch is lowered twice from
copies of the state, and the copies are joined: a value that differs becomes a target of the `If`.
A loop is lowered until the kinds of what it changes are stable: what changes becomes a parameter.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .. import ir
from ..analysis.inference import Inferred, infer
from ..errors import Span, UnsupportedError
from ..kinds import (
    BOOL,
    NOTHING,
    UNKNOWN,
    Array,
    Kind,
    KindMismatch,
    ListOf,
    Opaque,
    Scalar,
    Size,
    TupleOf,
    fresh_size,
    int_kind,
    join,
    kind_of,
)
from ..rules import registry
from .values import (
    Bound,
    Closure,
    DictObject,
    Generator,
    Heap,
    Instance,
    ListObject,
    Materialize,
    NeedStatic,
    Partial,
    Peel,
    Place,
    Ref,
    Sequence,
    Slice,
    State,
    Thaw,
    Tuple,
    Unbound,
    Unkeepable,
    Value,
)

TRUE, FALSE, NONE = ir.Const(True), ir.Const(False), ir.Const(None)
MOST_ROUNDS = 12
FLAGS = frozenset({"%stop", "%break", "%returned"})


@dataclass(eq=False, slots=True)
class Poison:
    """A value that can't be described; it is an error only if the program uses it."""

    message: str
    span: Span | None
    origins: frozenset[Any] = frozenset()


@dataclass(eq=False, slots=True)
class Widened:
    """A leaf of a loop parameter: any value of a kind."""

    kind: Kind
    name: str
    optional: bool = False
    partial: bool = False


@dataclass(eq=False, slots=True)
class Mold:
    """A loop parameter that is another object in each iteration: one with templates as items."""

    thing: Heap


Slot = tuple[str, int, Any]
_COMPOUND = (Tuple, Slice, Bound, Partial)


def list_append(items: list[Any], item: Any) -> None:
    """`items.append(item)`, as a primitive."""
    items.append(item)


class Builder:
    """Emits IR into `self.block` under the abstract state `self.state`."""

    def __init__(self) -> None:
        self.block = ir.Block()
        self.state = State({}, {})
        self.span: Span | None = None
        self.fixed_span = False
        self.widened: set[int] = set()  # the sizes that stand for several in a loop or list
        self.settling: set[int] = set()  # those of them that the loop being settled brought in
        self.first_loop: int | None = None  # sizes older than this are the same in all iterations
        self.unrollable: set[Any] = set()
        self.dynamic_sites: set[int] = set()  # expressions whose list must exist at run time
        self.sites: dict[int, int] = {}  # of a reference: the expression that made the list
        self.loop_depth = self.fork_depth = 0  # loops around this place, branches in the innermost
        self.unbound: UnsupportedError | None = None  # a name that had no value in this round
        self.peelable = False  # whether the loop being settled can do without its first iteration
        self.thawed: set[Any] = set()  # loops and branches that mustn't freeze lists
        self.size_origins: dict[int, frozenset[Any]] = {}  # the arguments a dimension is of
        self.counter = 0
        self.current = 0  # the frame being run

    def unique(self) -> int:
        self.counter += 1
        return self.counter

    def refuse(self, message: str, advice: str | None = None) -> UnsupportedError:
        return UnsupportedError(message, self.span, advice)

    # Emitting

    def emit(
        self,
        function: Any,
        args: tuple[ir.Operand, ...],
        kwargs: dict[str, ir.Operand] | None = None,
        name: str = "",
        inferred: Inferred | None = None,
        effect: bool = False,
        writes: tuple[ir.Var, ...] = (),
    ) -> ir.Var:
        """Append `target = function(*args, **kwargs)` and return the target."""
        kwargs = kwargs or {}
        if inferred is None:
            special = registry.kinds.get(function)
            inferred = special(args, kwargs) if special else None
            if inferred is None:
                self.need_constants(function, args, kwargs)
                inferred = infer(function, args, kwargs)
                if inferred.kind is UNKNOWN:
                    self.need_known_ints(args, kwargs)
        target = ir.Var(name or hint(function), inferred.kind)
        if isinstance(inferred.kind, Scalar) and inferred.kind.dtype.kind in "iub":
            found: frozenset[Any] = frozenset()
            for operand in args:
                for v in ir.variables(operand):
                    found |= v.origins
            size = inferred.kind.size
            if isinstance(size, Size) and size.base in self.size_origins:
                found |= self.size_origins[size.base]
            target.origins = found
        elif isinstance(inferred.kind, Array):
            self.follow_sizes(inferred.kind, (*args, *kwargs.values()))
        self.block.statements.append(
            ir.Assign(
                target,
                function,
                args,
                tuple(kwargs.items()),
                self.span,
                inferred.views,
                inferred.certain,
                writes,
                effect,
            )
        )
        return target

    def follow_sizes(self, kind: Array, operands: tuple[ir.Operand, ...]) -> None:
        """Note from which arguments the new dimensions of a result follow."""
        known = self.size_origins
        new = [n for n in kind.shape or () if isinstance(n, Size) and n.base not in known]
        if not new:
            return
        found: frozenset[Any] = frozenset()
        for operand in operands:
            for v in ir.variables(operand):
                found |= v.origins
                if isinstance(v.kind, Array):
                    for n in v.kind.shape or ():
                        if isinstance(n, Size):
                            found |= known.get(n.base, frozenset())
        if found:
            for n in new:
                known[n.base] = found

    def need_known_ints(self, args: tuple[ir.Operand, ...], kwargs: dict[str, ir.Operand]) -> None:
        """The kind of a result may follow from the value of an int: ask for it."""
        for operand in (*args, *kwargs.values()):
            for v in ir.variables(operand):
                wanted = {o for o in v.origins if type(o) is not object or o in self.unrollable}
                if wanted and isinstance(v.kind, Scalar) and v.kind.dtype.kind in "iu":
                    raise NeedStatic(v.origins, f"{v.name} must be known when compiling", self.span)

    def need_constants(
        self, function: Any, args: tuple[ir.Operand, ...], kwargs: dict[str, ir.Operand]
    ) -> None:
        """Ask for the value of an int on which the rank of the result may depend."""
        for name in ("axis", "axes", "ord", "ndmin", "offset", "k", "axis1", "axis2", "ddof"):
            operand = kwargs.get(name)
            if operand is None:
                continue
            for v in ir.variables(operand):
                if v.origins and name not in ("k", "offset", "ddof"):
                    raise NeedStatic(v.origins, f"{name} must be known when compiling", self.span)

    # Branches

    def fork(self, state: State, run: Callable[[], None]) -> tuple[State, ir.Block]:
        outer = self.block
        self.state, self.block = state.copy(), ir.Block()
        self.fork_depth += 1
        try:
            run()
            return self.state, self.block
        except Unbound as need:
            self.unbound = self.unbound or need.error
            self.state.unreachable = True
            return self.state, self.block
        finally:
            self.fork_depth -= 1
            self.block = outer

    def continued(
        self, fork: tuple[State, ir.Block], run: Callable[[], None]
    ) -> tuple[State, ir.Block]:
        outer = self.block
        self.state, self.block = fork
        try:
            run()
            return self.state, self.block
        finally:
            self.block = outer

    def branch(
        self,
        test: ir.Operand,
        then: Callable[[], None],
        orelse: Callable[[], None],
        rest: Callable[[], None] | None = None,
    ) -> bool:
        """Lower both branches and join them; `rest` goes into the one that doesn't exit.

        Returns whether `rest` was lowered.
        """
        entry, span, marker = self.state, self.span, object()
        while True:
            try:
                first = self.fork(entry, then)
                self.span = span
                second = self.fork(entry, orelse)
                consumed = False
                if rest is not None:
                    stops = [self.stopped(state) for state, _ in (first, second)]
                    if stops == [True, False] and not first[0].unreachable:
                        second, consumed = self.continued(second, rest), True
                    elif stops == [False, True] and not second[0].unreachable:
                        first, consumed = self.continued(first, rest), True
                self.span = span
                self.join(test, entry, first, second, marker)
                return consumed
            except Materialize as need:
                self.state, self.span = entry, span
                if not self.dynamic(need, entry):
                    self.materialize(need)
            except Thaw as need:
                self.state, self.span = entry, span
                if need.marker is not marker or marker in self.thawed:
                    raise
                self.thawed.add(marker)

    def dynamic(self, need: Materialize, entry: State) -> bool:
        """Whether lowering again, now with a run-time list where `need` was made, is worthwhile."""
        if need.ref.id in entry.heap:
            return False
        site = self.sites.get(need.ref.id)
        if site is None or site in self.dynamic_sites:
            raise need
        self.dynamic_sites.add(site)
        return True

    def stopped(self, state: State) -> bool | None:
        """Whether the rest of the current block is skipped; None if that isn't known."""
        if state.unreachable:
            return True
        value = state.frames[self.current].get("%stop", FALSE)
        return value.value if isinstance(value, ir.Const) else None

    def join(
        self,
        test: ir.Operand,
        entry: State,
        first: tuple[State, ir.Block],
        second: tuple[State, ir.Block],
        marker: Any = None,
    ) -> None:
        """Append the If, and make the state after it from the states of its branches."""
        (a, then), (b, orelse) = first, second
        statement = ir.If(test, then, orelse, (), self.span)
        here = len(self.block.statements)
        if a.unreachable and b.unreachable:
            self.block.statements.append(statement)
            self.state = b
            return
        merger = Merger(self, test, entry, a, b, marker)
        self.state = merger.state()
        then.results = tuple(y[0] for y in merger.yields)
        orelse.results = tuple(y[1] for y in merger.yields)
        statement.targets = tuple(y[2] for y in merger.yields)
        # not before: where a list must be materialized first, both branches are lowered again
        self.block.statements.insert(here, statement)

    def same(self, a: Any, b: Any) -> bool:
        """Whether two abstract values are surely the same."""
        if a is b or a == b:
            return True
        if isinstance(a, ir.Const) and isinstance(b, ir.Const):
            return same_constant(a.value, b.value)
        if isinstance(a, Tuple) and isinstance(b, Tuple) and len(a.items) == len(b.items):
            return all(self.same(x, y) for x, y in zip(a.items, b.items, strict=True))
        return False

    def joined_variable(self, name: str, a: Any, b: Any) -> ir.Var:
        none = [v for v in (a, b) if isinstance(v, ir.Const) and v.value is None]
        known = [v for v in (a, b) if v not in none and not is_nothing(v)]
        kind: Kind = leaf_kind(known[0]) if known else NOTHING
        for other in known[1:]:
            kind = join(kind, leaf_kind(other))
        user = not name.startswith("%")
        named = next((v.name for v in known if isinstance(v, ir.Var) and not user), None)
        optional = bool(none) or any(isinstance(v, ir.Var) and v.optional for v in (a, b))
        text = "result" if name == "%return" else name.lstrip("%")
        target = ir.Var(named or text, kind, user and name.isidentifier(), optional=optional)
        target.partial = is_partial(a) or is_partial(b)
        if not target.name.isidentifier():
            target.name, target.user = "item", False
        origins = [v.origins if isinstance(v, ir.Var) else frozenset() for v in known]
        if isinstance(kind, Scalar):
            target.origins = frozenset().union(*origins)
        return target

    # Loops

    def slots(self, state: State) -> Iterator[tuple[Slot, Any]]:
        for number, frame in state.frames.items():
            for name, value in frame.items():
                yield ("frame", number, name), value
        for number, thing in state.heap.items():
            if isinstance(thing, ListObject):
                if thing.var is None:
                    for i, item in enumerate(thing.items):
                        yield ("list", number, i), item
            else:
                for key, item in thing.items.items():
                    yield ("object", number, key), item

    def put(self, state: State, slot: Slot, value: Any) -> None:
        where, number, key = slot
        if where == "frame":
            state.frames.setdefault(number, {})[key] = value
            return
        thing = state.heap[number]
        if isinstance(thing, ListObject):
            items = list(thing.items)
            items[key] = value
            state.heap[number] = ListObject(tuple(items), None, thing.external)
        elif isinstance(thing, Instance):
            state.heap[number] = Instance(thing.type, {**thing.items, key: value}, thing.external)
        else:
            state.heap[number] = DictObject(
                {**thing.items, key: value}, thing.external, thing.is_set
            )

    def loop(
        self,
        bounds: tuple[ir.Operand, ir.Operand, ir.Operand] | None,
        body: Callable[[ir.Var | None], Value],
        index_name: str = "i",
        unroll: Callable[[], bool] | None = None,
        unrollable: bool = True,
        site: int = 0,
        peelable: bool = False,
    ) -> None:
        """Lower a loop. `body` lowers one iteration and returns its exit flag.

        `unroll` is what to do instead when the index must be known when compiling, or when the
        loop changes what has no counterpart at run time; it says whether it could. `unrollable`
        says that it is likely to, so that asking for the value of the index is worthwhile.
        `site` tells the loop from others. With `peelable`, a number that becomes an array raises
        Peel, in the state before the loop.
        """
        span = self.span
        templates: dict[Slot, Any] = {}
        entry, outer = self.state, self.block
        original, count, unbound = entry.copy(), len(outer.statements), self.unbound
        marker = object()
        settling: set[int] = set()
        if self.first_loop is None:
            self.first_loop = fresh_size().base
        if unroll is not None and unrollable:
            self.unrollable.add(marker)
        for _ in range(MOST_ROUNDS * 4):
            start, known = entry.copy(), dict(self.slots(entry))
            params: dict[Slot, Any] = {}
            for slot, template in templates.items():
                params[slot] = self.instantiate(template, start, marker)
                old = known.get(slot)
                if isinstance(template, Mold) and isinstance(old, Ref):
                    start.heap[old.id] = replace(start.heap[old.id], frozen=marker)
                self.put(start, slot, params[slot])
            index = None
            if bounds is not None:
                index = ir.Var(index_name, int_kind(), origins=frozenset([marker]))
            list_kinds = self.list_kinds(entry)
            self.state, self.block = start.copy(), ir.Block()
            self.unbound = unbound
            forks, self.fork_depth = self.fork_depth, 0
            self.loop_depth += 1
            try:
                flag = body(index)
                end, block = self.state, self.block
            except NeedStatic as need:
                self.state, self.block, self.span = entry, outer, span
                if unroll is None or marker not in need.origins:
                    raise
                if unroll():
                    return
                raise
            except Materialize as need:
                self.state, self.block, self.span = entry, outer, span
                if not self.dynamic(need, entry):
                    try:
                        self.materialize(need)
                    except Unkeepable:
                        if self.unrolled_instead(unroll, original, count):
                            return
                        raise
                    entry = self.state
                continue
            except Unkeepable:
                self.block, self.span = outer, span
                if self.unrolled_instead(unroll, original, count):
                    return
                raise
            except Thaw as need:
                self.state, self.block, self.span = entry, outer, span
                if need.marker is not marker or marker in self.thawed:
                    raise
                self.thawed.add(marker)
                templates.clear()
                continue
            finally:
                self.block, self.span = outer, span
                self.loop_depth -= 1
                self.fork_depth = forks
            changed = self.list_kinds(entry) != list_kinds
            self.state = entry
            try:
                self.peelable, self.settling = peelable, settling
                changed |= self.widen_all(start, end, templates, params, marker, entry)
                for template in templates.values():
                    if isinstance(template, Poison) and site and unroll is not None:
                        template.origins |= {("%site", site)}
            except Materialize as need:
                if not self.dynamic(need, entry):
                    try:
                        self.materialize(need)
                    except Unkeepable:
                        if self.unrolled_instead(unroll, original, count):
                            return
                        raise
                    entry = self.state
                continue
            except Thaw:
                self.thawed.add(marker)
                templates.clear()
                continue
            except Peel:
                self.unrolled_instead(None, original, count)
                raise
            if not changed:
                break
        else:
            raise self.refuse("the kinds of the variables of this loop don't settle")
        if self.unbound is not None and not self.loop_depth:
            raise self.unbound
        self._finish_loop(entry, start, end, block, templates, params, bounds, index, flag, marker)

    def unrolled_instead(self, unroll: Callable[[], bool] | None, state: State, count: int) -> bool:
        """Unroll a loop from the state before it; False if it can't be."""
        self.state = state
        del self.block.statements[count:]
        return unroll is not None and unroll()

    def list_kinds(self, state: State) -> list[Any]:
        return [
            thing.var.kind
            for thing in state.heap.values()
            if isinstance(thing, ListObject) and thing.var is not None
        ]

    def widen_all(
        self,
        start: State,
        end: State,
        templates: dict[Slot, Any],
        params: dict[Slot, Any],
        marker: Any,
        entry: State,
    ) -> bool:
        """Update the templates of what an iteration changes; whether anything is new."""
        changed = False
        for slot, template in templates.items():
            # what the iteration appended to a list that the loop carries
            if isinstance(template, Widened) and isinstance(params[slot], Ref):
                thing = start.heap[params[slot].id]
                assert isinstance(thing, ListObject) and thing.var is not None
                if thing.var.kind != template.kind:
                    templates[slot] = Widened(thing.var.kind, template.name)
                    changed = True
        if end.unreachable:
            return changed
        before = dict(self.slots(start))
        for number, thing in end.heap.items():
            old = start.heap.get(number)
            if isinstance(thing, ListObject) and isinstance(old, ListObject):
                if len(thing.items) != len(old.items) or (thing.var is None) != (old.var is None):
                    raise Materialize(Ref(number), self.span)
        for slot, value in self.slots(end):
            kind_, number, name = slot
            if kind_ == "frame" and number not in start.frames:
                continue
            if kind_ != "frame" and number not in start.heap:
                continue
            old_value = before.get(slot, absent(name))
            if self.same(old_value, value):
                continue
            template = templates.get(slot, old_value)
            label = str(name) if kind_ == "frame" or isinstance(name, str) else "item"
            if isinstance(start.heap.get(number), DictObject) and slot not in before:
                new: Any = Poison(f"the key {name!r} is set only inside the loop", self.span)
            else:
                new = self.widen(label, template, value, start, end, marker)
            if not same_template(template, new):
                templates[slot] = new
                changed = True
        return changed

    def widen(
        self, name: str, template: Any, value: Any, start: State, end: State, marker: Any
    ) -> Any:
        """The template that describes both `template` and `value`."""
        if isinstance(template, Poison) or isinstance(value, Poison):
            return template if isinstance(template, Poison) else value
        if template is ir.UNDEFINED and parts(value):
            template = rebuild(value, [ir.UNDEFINED] * len(parts(value)))
        if alike(template, value):
            pairs = zip(parts(template), parts(value), strict=True)
            new = rebuild(template, [self.widen(name, t, v, start, end, marker) for t, v in pairs])
            if isinstance(template, Tuple) and template.missing is not value.missing:
                return Poison(f"{shown_name(name)} may be None in this loop", self.span)
            return new
        if isinstance(template, (Widened, *_COMPOUND)) and value is ir.UNDEFINED:
            return template
        leaf = (ir.Var, ir.Const)
        if isinstance(template, (*leaf, Widened)) and isinstance(value, leaf):
            return self.widened_leaf(name, template, value)
        if isinstance(value, Ref):
            return self.widened_object(name, template, value, start, end, marker)
        if template is ir.UNDEFINED:
            return Poison(f"{shown_name(name)} is defined only inside the loop", self.span)
        return Poison(f"{shown_name(name)} changes its kind in this loop", self.span)

    def widened_leaf(self, name: str, template: Any, value: Any) -> Any:
        if not isinstance(template, Widened) and self.same(template, value):
            return template
        if self.peelable and becomes_array(template, value):
            raise Peel
        none = is_none(template) or is_none(value)
        optional = none or any(getattr(v, "optional", False) for v in (template, value))
        known = [v for v in (template, value) if not is_nothing(v) and not is_none(v)]
        kinds = [v.kind if isinstance(v, Widened) else leaf_kind(v) for v in known]
        try:
            kind = kinds[0] if kinds else NOTHING
            for other in kinds[1:]:
                kind = self.stable_join(kind, other, self.settling)
            if template is ir.UNDEFINED and isinstance(kind, Scalar) and kind.size is not None:
                kind = replace(kind, size=self.stable_size(fresh_size(), kind.size, self.settling))
        except KindMismatch:
            return Poison(f"{shown_name(name)} changes its kind in this loop", self.span)
        partial = is_partial(template) or is_partial(value)
        return Widened(kind, name, optional, partial)

    def widened_object(
        self, name: str, template: Any, value: Ref, start: State, end: State, marker: Any
    ) -> Any:
        """The template of a name that stands for another object in each iteration."""
        q = end.heap[value.id]
        p: Any = None
        if isinstance(template, Mold):
            p = template.thing
        elif isinstance(template, Ref):
            p = start.heap[template.id]
        thawed = marker in self.thawed
        if isinstance(q, ListObject):
            if isinstance(template, Mold) and (thawed or not same_layout(p, q)):
                raise Thaw(marker, "this list changes its length", self.span, None)
            if isinstance(template, Widened) or (isinstance(p, ListObject) and p.var is not None):
                kind = template.kind if isinstance(template, Widened) else p.var.kind
                return self.widened_list(name, kind, value, q)
            if isinstance(p, ListObject) and (thawed or not same_layout(p, q)):
                new = q.var is None and p.var is not None
                raise Materialize(value if new else template, self.span)
            if template is ir.UNDEFINED and (q.var is not None or thawed):
                return self.widened_list(name, ListOf(None), value, q)
        if thawed:
            return Poison(f"{shown_name(name)} is another object in each iteration", self.span)
        if template is ir.UNDEFINED:
            names = range(len(q.items)) if isinstance(q, ListObject) else q.items
            undefined: Any = dict.fromkeys(names, ir.UNDEFINED)
            if isinstance(q, ListObject):
                undefined = tuple(undefined.values())
            p = replace(q, items=undefined)
        elif p is None or not same_layout(p, q):
            return Poison(f"{shown_name(name)} changes its kind in this loop", self.span)
        if isinstance(q, ListObject):
            pairs = zip(p.items, q.items, strict=True)
            items: Any = tuple(
                self.widened_item("item", t, v, start, end, marker) for t, v in pairs
            )
        else:
            items = {
                key: self.widened_item(str(key), p.items[key], item, start, end, marker)
                for key, item in q.items.items()
            }
        return Mold(replace(q, items=items, external=None, frozen=marker))

    def widened_item(
        self, name: str, template: Any, value: Any, start: State, end: State, marker: Any
    ) -> Any:
        if self.same(template, value):
            return template
        return self.widen(name, template, value, start, end, marker)

    def widened_list(self, name: str, kind: Any, value: Ref, q: ListObject) -> Any:
        if q.var is None:
            raise Materialize(value, self.span)
        try:
            joined = self.stable_join(kind, q.var.kind)
        except KindMismatch:
            return Poison(f"{shown_name(name)} holds items of different kinds", self.span)
        return Widened(joined, name)

    def stable_join(self, template: Kind, kind: Kind, known: set[int] | None = None) -> Kind:
        """`join` in which a dimension or int that was generalised before stays as it is.

        What a loop carries is generalised by each loop of its own: a size that varies in the loop
        around it may vary in the loop itself as well. `known` are the sizes that it has
        generalised; None for items of a list, for which all count.
        """
        if isinstance(template, ListOf) and isinstance(kind, ListOf):
            return ListOf(self.stable_items(template.item, kind.item))
        if isinstance(template, Array) and isinstance(kind, Array):
            if template.shape is not None and kind.shape is not None:
                if len(template.shape) == len(kind.shape):
                    both = template.dtype is not None and kind.dtype is not None
                    dtype = np.promote_types(template.dtype, kind.dtype) if both else None  # type: ignore[arg-type]
                    pairs = zip(template.shape, kind.shape, strict=True)
                    return Array(dtype, tuple(self.stable_size(m, n, known) for m, n in pairs))
        if isinstance(template, Scalar) and isinstance(kind, Scalar):
            joined = join(Scalar(template.dtype, template.python), Scalar(kind.dtype, kind.python))
            assert isinstance(joined, Scalar)
            size = None
            if template.size is None and kind.size is None:
                return replace(joined, size=None)
            if joined.dtype.kind == "i" and joined.python:
                size = self.stable_size(
                    template.size if template.size is not None else fresh_size(),
                    kind.size if kind.size is not None else fresh_size(),
                    known,
                )
            return Scalar(joined.dtype, joined.python, size)
        return join(template, kind)

    def stable_items(self, a: Any, b: Any) -> Any:
        """`stable_join` of the kinds of list items, which may be tuples of kinds."""
        if a is None or b is None:
            return b if a is None else a
        if isinstance(a, tuple) and isinstance(b, tuple) and len(a) == len(b):
            return tuple(self.stable_items(x, y) for x, y in zip(a, b, strict=True))
        if isinstance(a, tuple) or isinstance(b, tuple):
            raise KindMismatch
        return self.stable_join(a, b)

    def stable_size(self, m: Any, n: Any, known: set[int] | None = None) -> Any:
        known = self.widened if known is None else known
        if m == n or (isinstance(m, Size) and m.base in known):
            return m
        size = fresh_size()
        self.widened.add(size.base)
        known.add(size.base)
        return size

    def instantiate(self, template: Any, state: State, marker: Any) -> Any:
        """A value with a fresh variable for each widened leaf."""
        if isinstance(template, Widened):
            user = template.name.isidentifier()
            text = template.name.lstrip("%") if not user else template.name
            var = ir.Var(
                text if text.isidentifier() else "item",
                template.kind,
                user,
                optional=template.optional,
                partial=template.partial,
            )
            if not isinstance(template.kind, ListOf):
                return var
            return self.place(state, ListObject((), var))
        if isinstance(template, Mold):
            thing = template.thing
            return self.place(
                state,
                with_items(
                    thing, [self.instantiate(t, state, marker) for t in object_items(thing)]
                ),
            )
        if isinstance(template, _COMPOUND):
            return rebuild(template, [self.instantiate(t, state, marker) for t in parts(template)])
        return template

    def place(self, state: State, thing: Heap) -> Ref:
        ref = Ref(self.unique())
        state.heap[ref.id] = thing
        return ref

    def _finish_loop(
        self,
        entry: State,
        start: State,
        end: State,
        block: ir.Block,
        templates: dict[Slot, Any],
        params: dict[Slot, Any],
        bounds: Any,
        index: ir.Var | None,
        flag: Value,
        marker: Any,
    ) -> None:
        state = entry.copy()
        for number, thing in end.heap.items():
            state.heap.setdefault(number, thing)
        variables: list[ir.Var] = []
        inits: list[ir.Operand] = []
        results: list[ir.Operand] = []
        finals: list[ir.Var] = []
        before, after = dict(self.slots(entry)), dict(self.slots(end))

        def held(where: State, value: Any) -> Any:
            """The variable of a list that exists at run time."""
            thing = where.heap[value.id] if isinstance(value, Ref) else None
            return thing.var if isinstance(thing, ListObject) else ir.UNDEFINED

        def within(where: State, value: Any, count: int) -> list[Any]:
            if isinstance(value, Ref):
                return object_items(where.heap[value.id])
            return parts(value) or [ir.UNDEFINED] * count

        def connect(template: Any, param: Any, init: Any, final: Any) -> Any:
            if isinstance(template, Widened):
                is_list = isinstance(template.kind, ListOf)
                if is_list:
                    param, init, final = held(start, param), held(entry, init), held(end, final)
                    if isinstance(init, ir.Var):
                        init.kind = template.kind
                target = ir.Var(param.name, param.kind, param.user, frozenset(), param.optional)
                # a loop without a range runs at least once
                target.partial = param.partial if bounds is not None else is_partial(final)
                variables.append(param)
                inits.append(init)
                results.append(final)
                finals.append(target)
                return self.place(state, ListObject((), target)) if is_list else target
            if isinstance(template, Mold):
                if isinstance(init, Ref):
                    state.heap[init.id] = replace(state.heap[init.id], frozen=marker)
                count = len(object_items(template.thing))
                sides = zip(
                    object_items(template.thing),
                    within(start, param, count),
                    within(entry, init, count),
                    within(end, final, count),
                    strict=True,
                )
                items = [connect(*each) for each in sides]
                return self.place(state, with_items(template.thing, items))
            if isinstance(template, _COMPOUND):
                count = len(parts(template))
                sides = zip(
                    parts(template),
                    parts(param),
                    within(entry, init, count),
                    within(end, final, count),
                    strict=True,
                )
                return rebuild(template, [connect(*each) for each in sides])
            return template

        for slot, template in templates.items():
            init = before.get(slot, absent(slot[2]))
            final = after.get(slot, absent(slot[2]))
            if end.unreachable:
                final = init
            self.put(state, slot, connect(template, params[slot], init, final))
        exits = not (isinstance(flag, ir.Const) and flag.value is False)
        if exits:
            assert isinstance(flag, (ir.Var, ir.Const))
            results.append(flag)
        block.results = tuple(results)
        self.block.statements.append(
            ir.Loop(
                index,
                bounds,
                tuple(variables),
                tuple(inits),
                block,
                tuple(finals),
                exits,
                span=self.span,
            )
        )
        self.state = state

    # Lists that exist at run time

    def materialize(self, need: Materialize) -> None:
        """Turn a list on the abstract heap into a list that the generated code builds."""
        thing = self.state.heap.get(need.ref.id)
        if not isinstance(thing, ListObject):
            raise self.refuse("this container changes in a way that can't be followed here")
        if thing.var is not None:
            return
        if thing.external:
            raise self.refuse(
                f"the list {thing.external!r} belongs to the caller and would be changed",
                "make a copy first: list(...)",
            )
        item: Any = None
        for value in thing.items:
            item = self.joined_item(item, value)
        operands = tuple(self.operand(value) for value in thing.items)
        var = self.emit(list, (ir.Pack(list, operands),), inferred=Inferred(ListOf(item)))
        var.name = "items"
        self.state.heap[need.ref.id] = ListObject((), var, None, thing.frozen)

    def joined_item(self, item: Any, value: Any) -> Any:
        """The kind of a list's items when `value` is one more of them."""
        try:
            return self.stable_items(item, self.item_kind(value))
        except KindMismatch:
            raise Unkeepable(
                "the items of this list are of different kinds",
                self.span,
                "a list that is built or indexed in a loop needs items of one kind",
            ) from None

    def item_kind(self, value: Any) -> Any:
        if isinstance(value, Tuple):
            if value.type is not tuple or any(isinstance(item, Ref) for item in value.items):
                raise self.unkeepable(value)
            return tuple(self.item_kind(item) for item in value.items)
        if isinstance(value, (ir.Var, ir.Const)):
            kind = leaf_kind(value)
            return replace(kind, size=None) if isinstance(kind, Scalar) else kind
        if isinstance(value, Ref):
            thing = self.state.heap[value.id]
            if isinstance(thing, ListObject):
                if thing.var is None:
                    self.materialize(Materialize(value, self.span))
                thing = self.state.heap[value.id]
                assert isinstance(thing, ListObject) and thing.var is not None
                return thing.var.kind
        raise self.unkeepable(value)

    def unkeepable(self, value: Any) -> Unkeepable:
        return Unkeepable(
            f"a {describe(value)} can't be kept in a list that is built in a loop",
            self.span,
            "keep its arrays in separate lists, or loop over something of known length",
        )

    def operand(self, value: Any) -> ir.Operand:
        """The IR operand that holds an abstract value."""
        match value:
            case ir.Var() | ir.Const() | ir.Pack():
                return value
            case Tuple():
                if value.whole is not None:
                    return value.whole
                if value.type is not tuple:
                    return ir.Pack(tuple, tuple(self.operand(item) for item in value.items))
                return ir.Pack(tuple, tuple(self.operand(item) for item in value.items))
            case Slice():
                parts = (value.start, value.stop, value.step)
                return ir.Pack(slice, tuple(self.operand(part) for part in parts))
            case Ref():
                thing = self.state.heap[value.id]
                if isinstance(thing, ListObject):
                    if thing.var is not None:
                        return thing.var
                    return ir.Pack(list, tuple(self.operand(item) for item in thing.items))
        raise self.refuse(
            f"a {describe(value)} can't be passed to a function that srcgrad doesn't look into"
        )

    def project(self, var: ir.Var) -> Value:
        """The value of a variable: a tuple that a primitive returns is taken apart."""
        if not isinstance(var.kind, TupleOf):
            if isinstance(var.kind, ListOf):
                ref = Ref(self.unique())
                self.state.heap[ref.id] = ListObject((), var)
                return ref
            return var
        source = self.block.statements[-1] if self.block.statements else None
        views: tuple[ir.Var, ...] = ()
        certain = True
        if isinstance(source, ir.Assign) and source.target is var:
            views, certain = source.views, source.certain
        items = []
        for i, kind in enumerate(var.kind.items):
            shares = (var,) if isinstance(kind, (Array, ListOf)) else ()
            item = self.emit(
                operator.getitem,
                (var, ir.Const(i)),
                inferred=Inferred(kind, shares or (views if shares else ()), certain),
                name=f"{var.name}_{i}",
            )
            items.append(self.project(item))
        kind_type = var.kind.type
        if kind_type is list:
            ref = Ref(self.unique())
            self.state.heap[ref.id] = ListObject(tuple(items))
            return ref
        return Tuple(tuple(items), kind_type, var)


class Merger:
    """Makes the state after an If from the states `a` and `b` at the ends of its branches.

    A branch that never ends has no say: what it would yield is undefined.
    """

    def __init__(
        self, builder: Builder, test: ir.Operand, entry: State, a: State, b: State, marker: Any
    ) -> None:
        self.builder, self.test, self.entry = builder, test, entry
        self.a, self.b, self.marker = a, b, marker
        self.yields: list[tuple[ir.Operand, ir.Operand, ir.Var]] = []
        self.heap: dict[int, Heap] = {}
        self.frozen: set[int] = set()

    def state(self) -> State:
        if self.a.unreachable or self.b.unreachable:
            return self.one_sided()
        frames: dict[int, dict[str, Value]] = {}
        for number in {**self.a.frames, **self.b.frames}:
            x, y = self.a.frames.get(number, {}), self.b.frames.get(number, {})
            frames[number] = {
                name: self.merge(name, x.get(name, absent(name)), y.get(name, absent(name)))
                for name in {**x, **y}
            }
        for number in {**self.a.heap, **self.b.heap}:
            p, q = self.a.heap.get(number), self.b.heap.get(number)
            self.heap[number] = self.merged_object(number, p, q)
        for number in self.frozen:
            thing = self.heap[number]
            if thing.frozen is None:
                self.heap[number] = replace(thing, frozen=self.marker)
        return State(frames, self.heap)

    def one_sided(self) -> State:
        """The state after an If of which one branch never ends: its other branch's values."""
        live, entry = (self.b if self.a.unreachable else self.a), self.entry
        frames: dict[int, dict[str, Value]] = {}
        for number, frame in live.frames.items():
            before = entry.frames.get(number, {})
            frames[number] = {
                name: self.kept(name, before.get(name, absent(name)), value)
                for name, value in frame.items()
            }
        for number, thing in live.heap.items():
            old = entry.heap.get(number)
            if old is thing:
                self.heap[number] = thing
            else:
                self.heap[number] = self.rebuilt(thing, old)
        return State(frames, self.heap)

    def kept(self, name: Any, before: Any, after: Any) -> Any:
        """The value after an If of which only one branch ends, with `after`."""
        if self.builder.same(before, after):
            return before
        return self.padded(name, after, self.a.unreachable)

    def padded(self, name: Any, value: Any, first: bool) -> Any:
        """A value that one branch alone yields: the other (the first?) leaves it undefined."""
        if first:
            return self.merge(name, ir.UNDEFINED, value)
        return self.merge(name, value, ir.UNDEFINED)

    def rebuilt(self, thing: Heap, old: Heap | None = None, first: bool | None = None) -> Heap:
        """An object that only one branch has or changes, its values yielded by the If."""
        if first is None:
            first = self.a.unreachable
        if isinstance(thing, ListObject):
            if thing.var is not None:
                if isinstance(old, ListObject) and old.var is thing.var:
                    return thing
                return replace(thing, var=self.padded(thing.var.name, thing.var, first))
            known = old.items if isinstance(old, ListObject) else ()
            items = tuple(
                item
                if i < len(known) and self.builder.same(known[i], item)
                else self.padded("item", item, first)
                for i, item in enumerate(thing.items)
            )
            return replace(thing, items=items)
        before = old.items if isinstance(old, (DictObject, Instance)) else {}
        return replace(
            thing,
            items={
                key: item
                if self.builder.same(before.get(key, ir.UNDEFINED), item)
                else self.padded(key, item, first)
                for key, item in thing.items.items()
            },
        )

    def merged_object(self, number: int, p: Heap | None, q: Heap | None) -> Heap:
        """An object after the If, which its branches may have changed."""
        if p is q:
            assert p is not None
            return p
        if p is None or q is None:
            thing = q if p is None else p
            assert thing is not None
            return self.rebuilt(thing, None, p is None)
        if isinstance(p, ListObject) and isinstance(q, ListObject):
            if p.var is not None and p.var is q.var:
                return p
            if p.var is not None or q.var is not None or len(p.items) != len(q.items):
                raise Materialize(Ref(number), self.builder.span)
            items = zip(p.items, q.items, strict=True)
            return replace(p, items=tuple(self.merge("item", x, y) for x, y in items))
        assert not isinstance(p, ListObject) and not isinstance(q, ListObject)
        merged: dict[Any, Value] = {}
        for key in {**p.items, **q.items}:
            if key in p.items and key in q.items:
                merged[key] = self.merge(key, p.items[key], q.items[key])
            elif isinstance(p, Instance):
                merged[key] = self.merge(
                    key, p.items.get(key, ir.UNDEFINED), q.items.get(key, ir.UNDEFINED)
                )
            else:
                merged[key] = self.poison(f"the key {key!r} is in this dict on one branch only")
        return replace(p, items=merged)

    def poison(self, message: str) -> Any:
        origins: frozenset[Any] = frozenset()
        for v in ir.variables(self.test):
            origins |= v.origins
        return Poison(message, self.builder.span, origins)

    def merge(self, name: Any, a: Any, b: Any) -> Any:
        """The value after the If that is `a` or `b`; adds to what the If yields."""
        if self.builder.same(a, b):
            return a
        if isinstance(a, Poison) or isinstance(b, Poison):
            return a if isinstance(a, Poison) else b
        for x, y, swapped in ((a, b, False), (b, a, True)):
            if isinstance(x, Tuple) and (is_none(y) or y is ir.UNDEFINED):
                return self.optional(name, x, y, swapped)
        if a is ir.UNDEFINED and isinstance(b, (Slice, Bound, Partial)):
            a = rebuild(b, [ir.UNDEFINED] * len(parts(b)))
        if b is ir.UNDEFINED and isinstance(a, (Slice, Bound, Partial)):
            b = rebuild(a, [ir.UNDEFINED] * len(parts(a)))
        if alike(a, b):
            items = [self.merge(name, x, y) for x, y in zip(parts(a), parts(b), strict=True)]
            merged = rebuild(a, items)
            if isinstance(merged, Tuple) and (a.missing is not None or b.missing is not None):
                missing = self.merge("missing", a.missing or FALSE, b.missing or FALSE)
                merged.missing = missing if isinstance(missing, ir.Var) else None
            return merged
        if isinstance(a, (ir.Var, ir.Const)) and isinstance(b, (ir.Var, ir.Const)):
            return self.leaf(str(name), a, b)
        if isinstance(a, Ref) and isinstance(b, Ref):
            return self.reference(name, a, b)
        if a is ir.UNDEFINED or b is ir.UNDEFINED:
            known = b if a is ir.UNDEFINED else a
            if isinstance(known, Ref) or (isinstance(known, Closure) and not known.defaults):
                return known
        return self.poison(f"{shown_name(name)} has values of different kinds after this branch")

    def optional(self, name: Any, value: Tuple, other: ir.Const, swapped: bool) -> Any:
        """A tuple, or None or nothing."""
        items = tuple(self.padded(name, item, swapped) for item in value.items)
        if other is ir.UNDEFINED:
            merged = Tuple(items, value.type)
            if value.missing is not None:
                merged.missing = self.padded("missing", value.missing, swapped)
            return merged
        a: Any = value.missing or FALSE
        x, y = (TRUE, a) if swapped else (a, TRUE)
        missing = self.merge("missing", x, y)
        return Tuple(items, value.type, None, missing if isinstance(missing, ir.Var) else None)

    def leaf(self, name: str, a: Any, b: Any) -> Any:
        test = self.test
        if (
            isinstance(a, ir.Const)
            and isinstance(b, ir.Const)
            and type(a.value) is bool
            and type(b.value) is bool
            and isinstance(test, ir.Var)
            and isinstance(test.kind, Scalar)
            and test.kind.dtype.kind == "b"
        ):
            if a.value:
                return test
            return self.builder.emit(operator.not_, (test,), inferred=_BOOLEAN)
        try:
            target = self.builder.joined_variable(name, a, b)
        except KindMismatch:
            shown = shown_name(name)
            return self.poison(f"{shown} has values of different kinds after this branch")
        self.yields.append((a, b, target))
        return target

    def reference(self, name: Any, a: Ref, b: Ref) -> Any:
        """One of two objects: a new, frozen one with the values of either."""
        p, q = self.a.heap[a.id], self.b.heap[b.id]
        thawed = self.marker is None or self.marker in self.builder.thawed
        if isinstance(p, ListObject) and isinstance(q, ListObject):
            if p.var is not None and q.var is not None:
                target = self.leaf(str(name), p.var, q.var)
                if isinstance(target, Poison):
                    return target
                return self.placed(ListObject((), target))
            if thawed or p.var is not None or q.var is not None or len(p.items) != len(q.items):
                raise Materialize(b if p.var is not None else a, self.builder.span)
            pairs = zip(p.items, q.items, strict=True)
            items = tuple(self.merge("item", x, y) for x, y in pairs)
            return self.placed(ListObject(items, frozen=self.shared(a, b)))
        if thawed or not same_layout(p, q):
            return self.poison(f"{shown_name(name)} is one of two objects after this branch")
        assert not isinstance(p, ListObject) and not isinstance(q, ListObject)
        named = {key: self.merge(key, item, q.items[key]) for key, item in p.items.items()}
        return self.placed(replace(p, items=named, external=None, frozen=self.shared(a, b)))

    def shared(self, a: Ref, b: Ref) -> Any:
        """The marker with which to freeze an object that is one of two, which are frozen too.

        None if nothing else refers to either of the two.
        """
        alone = references(self.a, a) == 1 and references(self.b, b) == 1
        owners = [self.a.heap[a.id], self.b.heap[b.id]]
        if alone and all(thing.frozen is None and not thing.external for thing in owners):
            return None
        self.frozen.update((a.id, b.id))
        return self.marker

    def placed(self, thing: Heap) -> Ref:
        ref = Ref(self.builder.unique())
        self.heap[ref.id] = thing
        return ref


def references(state: State, ref: Ref) -> int:
    """How many values refer to an object; many, if that isn't known."""

    def count(value: Any) -> int:
        if isinstance(value, Ref):
            return int(value.id == ref.id)
        if isinstance(value, (Sequence, Generator)):
            return 2
        if isinstance(value, Closure):
            inner = (*value.defaults, *value.keyword_defaults.values())
            return sum(map(count, inner))
        return sum(map(count, parts(value)))

    values = [v for frame in state.frames.values() for v in frame.values()]
    held = [v for thing in state.heap.values() for v in object_items(thing)]
    return sum(map(count, (*values, *held)))


def shown_name(name: Any) -> str:
    """A variable's name in a message; ours start with %."""
    text = str(name)
    if text == "%return":
        return "the result of this function"
    return "this value" if text.startswith("%") else repr(text)


def parts(value: Any) -> list[Any]:
    """The values that a compound value holds."""
    match value:
        case Tuple():
            return list(value.items)
        case Slice():
            return [value.start, value.stop, value.step]
        case Bound():
            return [value.function, value.receiver]
        case Partial():
            return [value.function, *value.args, *value.kwargs.values()]
    return []


def rebuild(value: Any, items: list[Any]) -> Any:
    """The compound value with other parts."""
    match value:
        case Tuple():
            return Tuple(tuple(items), value.type)
        case Slice():
            return Slice(*items)
        case Bound():
            return Bound(*items)
        case Partial():
            count = len(value.args) + 1
            named = dict(zip(value.kwargs, items[count:], strict=True))
            return Partial(items[0], tuple(items[1:count]), named)
    return value


def alike(a: Any, b: Any) -> bool:
    """Whether two compound values are of the same form."""
    if type(a) is not type(b) or not isinstance(a, (Tuple, Slice, Bound, Partial)):
        return False
    if isinstance(a, Tuple):
        return len(a.items) == len(b.items) and a.type is b.type
    if isinstance(a, Partial):
        return len(a.args) == len(b.args) and list(a.kwargs) == list(b.kwargs)
    return True


def same_layout(p: Heap, q: Heap) -> bool:
    """Whether two objects have the same names of values, in the same order."""
    if isinstance(p, ListObject) or isinstance(q, ListObject):
        return (
            isinstance(p, ListObject)
            and isinstance(q, ListObject)
            and p.var is None
            and q.var is None
            and len(p.items) == len(q.items)
        )
    if type(p) is not type(q) or list(p.items) != list(q.items):
        return False
    if isinstance(p, Instance) and isinstance(q, Instance):
        return p.type is q.type
    return isinstance(p, DictObject) and isinstance(q, DictObject) and p.is_set == q.is_set


_BOOLEAN = Inferred(BOOL)


def absent(name: Any) -> ir.Const:
    """What a name that isn't in a frame means: flags are down."""
    return FALSE if name in FLAGS else ir.UNDEFINED


def is_partial(value: Any) -> bool:
    """Whether a value is undefined on some path."""
    return value is ir.UNDEFINED or getattr(value, "partial", False)


def becomes_array(template: Any, value: Any) -> bool:
    """Whether a number is replaced by an array of known rank."""
    number = isinstance(template, (ir.Var, ir.Const)) and isinstance(leaf_kind(template), Scalar)
    kind = value.kind if isinstance(value, ir.Var) else None
    return number and isinstance(kind, Array) and bool(kind.shape)


def is_nothing(value: Any) -> bool:
    """Whether a value is undefined, or never anything but None."""
    return value is ir.UNDEFINED or getattr(value, "kind", None) == NOTHING


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


def object_items(thing: Heap) -> list[Any]:
    """The values an object holds."""
    return list(thing.items) if isinstance(thing, ListObject) else list(thing.items.values())


def with_items(thing: Heap, items: list[Any]) -> Heap:
    """The object with other values."""
    if isinstance(thing, ListObject):
        return replace(thing, items=tuple(items))
    return replace(thing, items=dict(zip(thing.items, items, strict=True)))


def same_template(a: Any, b: Any) -> bool:
    if isinstance(a, Mold) and isinstance(b, Mold):
        pairs = zip(object_items(a.thing), object_items(b.thing), strict=True)
        return all(same_template(x, y) for x, y in pairs)
    if isinstance(a, Widened) and isinstance(b, Widened):
        known = (a.kind, a.optional, a.partial), (b.kind, b.optional, b.partial)
        return known[0] == known[1]
    if alike(a, b):
        return all(same_template(x, y) for x, y in zip(parts(a), parts(b), strict=True))
    if isinstance(a, Poison) and isinstance(b, Poison):
        return True
    return a is b


def describe(value: Any) -> str:
    """What a value is, in a user's words."""
    match value:
        case Tuple():
            return value.type.__name__
        case Place() | ir.Const():
            return type(value.value).__name__
        case Ref():
            return "container"
        case ir.Var():
            match value.kind:
                case Array():
                    return "array"
                case Opaque(type=t) if t is not None:
                    return t.__name__
            return "value"
    return type(value).__name__.lower()


def hint(function: Any) -> str:
    """A name for the result of a function."""
    name = getattr(function, "__name__", "value").strip("_")
    return _HINTS.get(name, name if name.isidentifier() else "value")


_HINTS = {
    "getitem": "item",
    "add": "total",
    "iadd": "total",
    "sub": "difference",
    "mul": "product",
    "multiply": "product",
    "truediv": "ratio",
    "divide": "ratio",
    "pow": "power",
    "matmul": "product",
    "neg": "negative",
    "lt": "test",
    "gt": "test",
    "le": "test",
    "ge": "test",
    "eq": "test",
    "ne": "test",
    "not_": "test",
    "zeros_like": "zeros",
    "getattr": "attribute",
    "is_": "test",
    "is_not": "test",
    "broadcast_to": "spread",
}
