"""Building blocks of IR: emitting a primitive, forking at a branch, joining, looping to a fixpoint.

The abstract state (`values.State`) says what every name holds. A branch is lowered twice from
copies of the state, and the copies are joined: a value that differs becomes a target of the `If`.
A loop is lowered until the kinds of what it changes are stable: what changes becomes a parameter.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Iterator
from dataclasses import dataclass
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
    join_items,
    kind_of,
)
from ..rules import registry
from .values import (
    DictObject,
    Heap,
    Instance,
    ListObject,
    Materialize,
    NeedStatic,
    Place,
    Ref,
    Slice,
    State,
    Tuple,
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


Slot = tuple[str, int, Any]


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
        self.widened: set[int] = set()
        self.unrollable: set[Any] = set()
        self.dynamic_sites: set[Any] = set()
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
            target.origins = found
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

    def need_known_ints(
        self, args: tuple[ir.Operand, ...], kwargs: dict[str, ir.Operand]
    ) -> None:
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
        try:
            run()
            return self.state, self.block
        finally:
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
        entry, span = self.state, self.span
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
                self.join(test, entry, first, second)
                return consumed
            except Materialize as need:
                self.state, self.span = entry, span
                self.materialize(need)

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
    ) -> None:
        """Append the If, and make the state after it from the states of its branches."""
        (a, then), (b, orelse) = first, second
        yields: list[tuple[ir.Operand, ir.Operand, ir.Var]] = []
        statement = ir.If(test, then, orelse, (), self.span)
        here = len(self.block.statements)
        if a.unreachable or b.unreachable:
            live = b if a.unreachable else a
            a = b = live
            if a.unreachable:
                self.block.statements.append(statement)
                self.state = a
                return
            self.state = self._rebind(entry, live, yields, 1 if first[0].unreachable else 0)
        else:
            self.state = self._merged(test, a, b, yields)
        then.results = tuple(y[0] for y in yields)
        orelse.results = tuple(y[1] for y in yields)
        statement.targets = tuple(y[2] for y in yields)
        # not before: where a list must be materialized first, both branches are lowered again
        self.block.statements.insert(here, statement)

    def _merged(
        self, test: ir.Operand, a: State, b: State, yields: list[Any]
    ) -> State:
        frames: dict[int, dict[str, Value]] = {}
        heap: dict[int, Heap] = {}

        def merge(name: Any, x: Any, y: Any) -> Any:
            return self.merge(str(name), x, y, yields, test)

        for number in {**a.frames, **b.frames}:
            x, y = a.frames.get(number), b.frames.get(number)
            if x is None or y is None:
                frames[number] = x or y or {}
                continue
            frames[number] = {
                name: merge(name, x.get(name, absent(name)), y.get(name, absent(name)))
                for name in {**x, **y}
            }
        for number in {**a.heap, **b.heap}:
            p, q = a.heap.get(number), b.heap.get(number)
            if p is None or q is None or p is q:
                heap[number] = p or q  # type: ignore[assignment]
                continue
            heap[number] = self._merged_object(number, p, q, merge)
        return State(frames, heap)

    def _merged_object(self, number: int, p: Heap, q: Heap, merge: Any) -> Heap:
        if isinstance(p, ListObject) and isinstance(q, ListObject):
            if p.var is not None and p.var is q.var:
                return p
            if p.var is not None or q.var is not None or len(p.items) != len(q.items):
                raise Materialize(Ref(number), self.span)
            return ListObject(
                tuple(merge("item", x, y) for x, y in zip(p.items, q.items, strict=True))
            )
        assert not isinstance(p, ListObject) and not isinstance(q, ListObject)
        items = {
            key: merge(key, p.items.get(key, ir.UNDEFINED), q.items.get(key, ir.UNDEFINED))
            for key in {**p.items, **q.items}
        }
        if isinstance(p, Instance):
            return Instance(p.type, items, p.external)
        return DictObject(items, p.external, p.is_set)

    def _rebind(self, entry: State, live: State, yields: list[Any], side: int) -> State:
        """The state after an If of which one branch never ends: its other branch's values."""

        def merge(name: Any, before: Any, after: Any) -> Any:
            if self.same(before, after):
                return before
            x, y = (after, ir.UNDEFINED) if side == 0 else (ir.UNDEFINED, after)
            return self.merge(str(name), x, y, yields, ir.Const(None))

        frames = {
            number: {
                name: merge(name, entry.frames.get(number, {}).get(name, absent(name)), value)
                for name, value in frame.items()
            }
            for number, frame in live.frames.items()
        }
        heap: dict[int, Heap] = {}
        for number, thing in live.heap.items():
            before = entry.heap.get(number)
            if before is thing or isinstance(thing, ListObject) and thing.var is not None:
                heap[number] = thing
            elif isinstance(thing, ListObject):
                old = before.items if isinstance(before, ListObject) else ()
                heap[number] = ListObject(
                    tuple(
                        merge("item", old[i] if i < len(old) else ir.UNDEFINED, item)
                        for i, item in enumerate(thing.items)
                    )
                )
            else:
                known = before.items if isinstance(before, (DictObject, Instance)) else {}
                items = {
                    key: merge(key, known.get(key, ir.UNDEFINED), item)
                    for key, item in thing.items.items()
                }
                heap[number] = (
                    Instance(thing.type, items, thing.external)
                    if isinstance(thing, Instance)
                    else DictObject(items, thing.external, thing.is_set)
                )
        return State(frames, heap)

    def same(self, a: Any, b: Any) -> bool:
        """Whether two abstract values are surely the same."""
        if a is b or a == b:
            return True
        if isinstance(a, ir.Const) and isinstance(b, ir.Const):
            return same_constant(a.value, b.value)
        if isinstance(a, Tuple) and isinstance(b, Tuple) and len(a.items) == len(b.items):
            return all(self.same(x, y) for x, y in zip(a.items, b.items, strict=True))
        return False

    def merge(
        self, name: str, a: Any, b: Any, yields: list[Any], test: ir.Operand
    ) -> Any:
        """The value after an If that is `a` or `b`; adds to `yields` what the If must yield."""
        if self.same(a, b):
            return a
        if isinstance(a, Poison) or isinstance(b, Poison):
            return a if isinstance(a, Poison) else b
        if a is ir.UNDEFINED and isinstance(b, Tuple):
            a = Tuple(tuple(ir.UNDEFINED for _ in b.items), b.type)
        if b is ir.UNDEFINED and isinstance(a, Tuple):
            b = Tuple(tuple(ir.UNDEFINED for _ in a.items), a.type)
        if isinstance(a, Tuple) and isinstance(b, Tuple):
            if len(a.items) == len(b.items) and a.type is b.type:
                pairs = zip(a.items, b.items, strict=True)
                return Tuple(
                    tuple(self.merge(name, x, y, yields, test) for x, y in pairs), a.type
                )
        if isinstance(a, (ir.Var, ir.Const)) and isinstance(b, (ir.Var, ir.Const)):
            if (
                isinstance(a, ir.Const)
                and isinstance(b, ir.Const)
                and type(a.value) is bool
                and type(b.value) is bool
                and isinstance(test, ir.Var)
                and isinstance(test.kind, Scalar)
                and test.kind.dtype.kind == "b"
            ):
                return test if a.value else self.emit(operator.not_, (test,), inferred=_BOOLEAN)
            try:
                target = self.joined_variable(name, a, b)
            except KindMismatch:
                origins = frozenset().union(*(v.origins for v in ir.variables(test)))
                return Poison(
                    f"{name!r} has values of different kinds after this branch",
                    self.span,
                    origins,
                )
            yields.append((a, b, target))
            return target
        if a is ir.UNDEFINED or b is ir.UNDEFINED:
            return b if a is ir.UNDEFINED else a
        if isinstance(a, Ref) and isinstance(b, Ref):
            p, q = self.state_object(a), self.state_object(b)
            if isinstance(p, ListObject) and isinstance(q, ListObject):
                for ref, thing in ((a, p), (b, q)):
                    if thing is not None and thing.var is None:
                        raise Materialize(ref, self.span)
        return Poison(f"{name!r} has values of different kinds after this branch", self.span)

    def state_object(self, ref: Ref) -> Heap | None:
        return self.state.heap.get(ref.id)

    def joined_variable(self, name: str, a: Any, b: Any) -> ir.Var:
        none = [v for v in (a, b) if isinstance(v, ir.Const) and v.value is None]
        known = [v for v in (a, b) if v not in none and v is not ir.UNDEFINED]
        kind: Kind = leaf_kind(known[0]) if known else NOTHING
        for other in known[1:]:
            kind = join(kind, leaf_kind(other))
        user = not name.startswith("%")
        named = next((v.name for v in known if isinstance(v, ir.Var) and not user), None)
        optional = bool(none) or any(isinstance(v, ir.Var) and v.optional for v in known)
        text = "result" if name == "%return" else name.lstrip("%")
        target = ir.Var(named or text, kind, user and name.isidentifier(), optional=optional)
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
            state.heap[number] = Instance(
                thing.type, {**thing.items, key: value}, thing.external
            )
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
    ) -> None:
        """Lower a loop. `body` lowers one iteration and returns its exit flag.

        `unroll` is what to do instead when the index must be known when compiling.
        """
        span = self.span
        templates: dict[Slot, Any] = {}
        entry, outer = self.state, self.block
        marker = object()
        if unroll is not None:
            self.unrollable.add(marker)
        for _ in range(MOST_ROUNDS * 4):
            start = entry.copy()
            params: dict[Slot, Any] = {}
            for slot, template in templates.items():
                params[slot] = self.instantiate(template)
                self.put(start, slot, params[slot])
            index = None
            if bounds is not None:
                index = ir.Var(index_name, int_kind(), origins=frozenset([marker]))
            list_kinds = self.list_kinds(entry)
            self.state, self.block = start.copy(), ir.Block()
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
                if need.ref.id not in entry.heap:
                    raise
                self.materialize(need)
                entry = self.state
                continue
            finally:
                self.block, self.span = outer, span
            changed = self.list_kinds(entry) != list_kinds
            self.state = entry
            try:
                changed |= self.widen_all(entry, start, end, templates)
            except Materialize as need:
                if need.ref.id in entry.heap:
                    self.materialize(need)
                    entry = self.state
                else:
                    raise
                continue
            if not changed:
                break
        else:
            raise self.refuse("the kinds of the variables of this loop don't settle")
        self._finish_loop(entry, end, block, templates, params, bounds, index, flag)

    def list_kinds(self, state: State) -> list[Any]:
        return [
            thing.var.kind
            for thing in state.heap.values()
            if isinstance(thing, ListObject) and thing.var is not None
        ]

    def widen_all(
        self, entry: State, start: State, end: State, templates: dict[Slot, Any]
    ) -> bool:
        """Update the templates of what an iteration changes; whether anything is new."""
        changed = False
        if end.unreachable:
            return False
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
            new = self.widen(label, template, value, end)
            if not same_template(template, new):
                templates[slot] = new
                changed = True
        return changed

    def widen(self, name: str, template: Any, value: Any, end: State) -> Any:
        """The template that describes both `template` and `value`."""
        if isinstance(template, Poison) or isinstance(value, Poison):
            return template if isinstance(template, Poison) else value
        if template is ir.UNDEFINED and isinstance(value, Tuple):
            template = Tuple(tuple(ir.UNDEFINED for _ in value.items), value.type)
        if isinstance(template, Tuple) and isinstance(value, Tuple):
            if len(template.items) == len(value.items) and template.type is value.type:
                pairs = zip(template.items, value.items, strict=True)
                return Tuple(tuple(self.widen(name, t, v, end) for t, v in pairs), template.type)
        if isinstance(template, Widened) and value is ir.UNDEFINED:
            return template
        leaf = (ir.Var, ir.Const)
        if isinstance(template, (*leaf, Widened)) and isinstance(value, leaf):
            if not isinstance(template, Widened) and self.same(template, value):
                return template
            none = is_none(template) or is_none(value)
            optional = none or any(getattr(v, "optional", False) for v in (template, value))
            known = [v for v in (template, value) if v is not ir.UNDEFINED and not is_none(v)]
            kinds = [v.kind if isinstance(v, Widened) else leaf_kind(v) for v in known]
            try:
                kind = kinds[0] if kinds else NOTHING
                for other in kinds[1:]:
                    kind = self.stable_join(kind, other)
            except KindMismatch:
                return Poison(f"{name!r} changes its kind in this loop", self.span)
            return Widened(kind, name, optional)
        if isinstance(template, Ref) and isinstance(value, Ref):
            for ref, state in ((template, self.state), (value, end)):
                thing = state.heap.get(ref.id)
                if isinstance(thing, ListObject) and thing.var is None:
                    raise Materialize(ref, self.span)
        if template is ir.UNDEFINED:
            return Poison(f"{name!r} is defined only inside the loop", self.span)
        return Poison(f"{name!r} changes its kind in this loop", self.span)

    def stable_join(self, template: Kind, kind: Kind) -> Kind:
        """`join` in which a dimension or int that was generalised before stays as it is."""
        if isinstance(template, Array) and isinstance(kind, Array):
            if template.shape is not None and kind.shape is not None:
                if len(template.shape) == len(kind.shape):
                    known = template.dtype is not None and kind.dtype is not None
                    dtype = np.promote_types(template.dtype, kind.dtype) if known else None  # type: ignore[arg-type]
                    pairs = zip(template.shape, kind.shape, strict=True)
                    return Array(dtype, tuple(self.stable_size(m, n) for m, n in pairs))
        if isinstance(template, Scalar) and isinstance(kind, Scalar):
            joined = join(
                Scalar(template.dtype, template.python), Scalar(kind.dtype, kind.python)
            )
            assert isinstance(joined, Scalar)
            size = None
            if joined.dtype.kind == "i" and joined.python:
                size = self.stable_size(
                    template.size if template.size is not None else fresh_size(),
                    kind.size if kind.size is not None else fresh_size(),
                )
            return Scalar(joined.dtype, joined.python, size)
        return join(template, kind)

    def stable_size(self, m: Any, n: Any) -> Any:
        if m == n or (isinstance(m, Size) and m.base in self.widened):
            return m
        size = fresh_size()
        self.widened.add(size.base)
        return size

    def instantiate(self, template: Any) -> Any:
        """A value with a fresh variable for each widened leaf."""
        if isinstance(template, Widened):
            user = template.name.isidentifier()
            text = template.name.lstrip("%") if not user else template.name
            return ir.Var(
                text if text.isidentifier() else "item",
                template.kind,
                user,
                optional=template.optional,
            )
        if isinstance(template, Tuple):
            return Tuple(tuple(self.instantiate(t) for t in template.items), template.type)
        return template

    def _finish_loop(
        self,
        entry: State,
        end: State,
        block: ir.Block,
        templates: dict[Slot, Any],
        params: dict[Slot, Any],
        bounds: Any,
        index: ir.Var | None,
        flag: Value,
    ) -> None:
        state = entry.copy()
        for number, thing in end.heap.items():
            state.heap.setdefault(number, thing)
        variables: list[ir.Var] = []
        inits: list[ir.Operand] = []
        results: list[ir.Operand] = []
        finals: list[ir.Var] = []
        before, after = dict(self.slots(entry)), dict(self.slots(end))

        def connect(template: Any, param: Any, init: Any, final: Any) -> Any:
            if isinstance(template, Widened):
                target = ir.Var(param.name, param.kind, param.user, optional=param.optional)
                variables.append(param)
                inits.append(init)
                results.append(final)
                finals.append(target)
                return target
            if isinstance(template, Tuple):
                count = len(template.items)
                init_items = init.items if isinstance(init, Tuple) else [ir.UNDEFINED] * count
                final_items = final.items if isinstance(final, Tuple) else [ir.UNDEFINED] * count
                items = zip(template.items, param.items, init_items, final_items, strict=True)
                return Tuple(tuple(connect(*each) for each in items), template.type)
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
        self.state.heap[need.ref.id] = ListObject((), var)

    def joined_item(self, item: Any, value: Any) -> Any:
        """The kind of a list's items when `value` is one more of them."""
        try:
            return join_items(item, self.item_kind(value))
        except KindMismatch:
            raise self.refuse(
                "the items of this list are of different kinds",
                "a list that is built or indexed in a loop needs items of one kind",
            ) from None

    def item_kind(self, value: Any) -> Any:
        if isinstance(value, Tuple):
            return tuple(self.item_kind(item) for item in value.items)
        if isinstance(value, (ir.Var, ir.Const)):
            return leaf_kind(value)
        if isinstance(value, Ref):
            thing = self.state.heap[value.id]
            if isinstance(thing, ListObject):
                if thing.var is None:
                    self.materialize(Materialize(value, self.span))
                thing = self.state.heap[value.id]
                assert isinstance(thing, ListObject) and thing.var is not None
                return thing.var.kind
        raise self.refuse("this object can't be kept in a list that is built in a loop")

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


_BOOLEAN = Inferred(BOOL)


def absent(name: Any) -> ir.Const:
    """What a name that isn't in a frame means: flags are down."""
    return FALSE if name in FLAGS else ir.UNDEFINED


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


def same_template(a: Any, b: Any) -> bool:
    if isinstance(a, Widened) and isinstance(b, Widened):
        return a.kind == b.kind and a.optional == b.optional
    if isinstance(a, Tuple) and isinstance(b, Tuple) and len(a.items) == len(b.items):
        return all(same_template(x, y) for x, y in zip(a.items, b.items, strict=True))
    if isinstance(a, Poison) and isinstance(b, Poison):
        return True
    return a is b


def describe(value: Any) -> str:
    """What a value is, in a user's words."""
    match value:
        case Tuple():
            return "tuple"
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
