"""Building blocks of IR: emitting a primitive, the kinds of what is joined, lists, operands.

The abstract state (`values.State`) says what every name holds.
"""

from __future__ import annotations

import itertools
import operator
from dataclasses import replace
from functools import reduce
from typing import Any

from .. import ir
from ..analysis.alternatives import with_others
from ..analysis.inference import Inferred, LengthsNeeded, infer
from ..errors import Boxed, UnsupportedError
from ..joins import KindMismatch, either_array, join, without_sizes
from ..kinds import (
    NOTHING,
    SHAPE,
    UNKNOWN,
    Array,
    Fields,
    Kind,
    ListOf,
    Opaque,
    Reference,
    Scalar,
    Size,
    TupleOf,
    both_several,
    fresh_size,
    holds_arrays,
    parts_like,
    same_form,
)
from ..packages import told
from ..rules import registry
from .choices import Choices
from .naming import temporary_name
from .predicates import FALSE, SIMPLE, is_none, is_object, leaf_kind, same_constant
from .restarts import Empty, Materialize, NeedStatic, Raised, Thaw, TooLong, Unkeepable
from .structure import (
    Poison,
    is_nothing,
    is_partial,
    is_table,
    item_kinds,
    list_held_by,
    origins_of_rank,
    reachable,
)
from .values import (
    IDENTITY,
    KEPT,
    TABULATED,
    Choice,
    DictObject,
    Heap,
    Instance,
    Junction,
    ListObject,
    Path,
    Ref,
    Slice,
    State,
    Tuple,
    Value,
)
from .wording import described, variable_name


def part_of(item: Any, path: tuple[int, ...]) -> Any:
    """A part of the kind of a list's items, which may be a tuple of kinds."""
    for i in path:
        item = item[i] if isinstance(item, tuple) else None
    return item


_numbers = itertools.count(1)  # of frames and objects


def with_more(kind: ListOf, item: Any, holes: bool) -> ListOf:
    """The kind of a list with other items, some of which may be None."""
    holes = (kind.holes or holes) and not isinstance(item, Reference)  # which may be anyway
    if holes and isinstance(item, Fields) and item.names:
        raise KindMismatch  # an object that is kept as its attributes can't be
    return replace(kind, item=item, holes=holes)


class Builder(Choices):
    """Emits IR into `self.block` under the abstract state `self.state`."""

    def unique(self) -> int:
        return next(_numbers)

    def refuse(self, message: str, advice: str | None = None) -> UnsupportedError:
        return UnsupportedError(message, self.span, advice)

    def fault(
        self,
        exception: type[BaseException],
        message: str,
        advice: str | None = None,
        given: tuple[Any, ...] | None = None,
    ) -> Raised:
        """What the program surely does wrong here, which a try may catch.

        `given` is what Python gives the exception, where that is known.
        """
        error = Raised(message, self.span, advice, exception, given)
        error.block = self.block
        return error

    def unknown_object(self, kind: Kind, message: str) -> Boxed:
        """What is asked of what may be an item of an array of objects, and anything."""
        if is_object(kind):
            message = "what an array of objects holds isn't known when compiling"
        return Boxed(message, self.span, "keep it in a list" if is_object(kind) else None)

    def fault_of_none(self, exception: type[BaseException], message: str) -> Raised:
        """What is wrong with None: in a loop, it may be something else in a later iteration."""
        error = self.fault(exception, f"'NoneType' object {message}")
        error.late = True
        return error

    def note_unbound(self, error: UnsupportedError) -> None:
        """Note what has no value in this round: it is refused if it has none in the last."""
        plain = UnsupportedError(error.message, error.span, error.advice)  # nothing that is caught
        self.unbound = self.unbound or plain

    def raised_by_python(self, error: BaseException) -> Raised:
        """What the program surely does wrong here: Python raised this when it was tried."""
        return self.fault(type(error), str(error), given=error.args)

    def missing(self, key: Any, message: str) -> Raised:
        """What is raised where there is no such key."""
        return self.fault(KeyError, message, given=(key,) if isinstance(key, SIMPLE) else None)

    def empty(self, exception: type[BaseException], message: str) -> Exception:
        """What to raise where there is nothing in a list, or but None.

        A later iteration or call may find something in it, and a branch needn't be taken.
        """
        again = self.loop_depth or self.fork_depth or self.making
        return Empty(self.fault(exception, message)) if again else self.refuse(message)

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
        if not registry.hashable(function):  # a foreign function, which passes would look up
            function, args = operator.call, (ir.Const(function), *args)
        self.emitted += 1
        longest = (self.asked and self.longest_asked) or self.longest
        if longest is not None and self.emitted > longest:
            raise TooLong
        self.check_references(function, args, kwargs)
        if self.flats:
            args = self.flats_anew(function, args, kwargs)
        self.note_writes(function, writes)
        if inferred is None:
            special = registry.kinds.get(function)
            try:
                found = special(args, kwargs) if special else None
            except (ArithmeticError, LookupError, TypeError, ValueError):
                found = None  # of arguments that the call itself may not take: try it
            if isinstance(found, LengthsNeeded):
                self.need_lengths(found, function)
            inferred = found if isinstance(found, Inferred) else None
            if inferred is None:
                self.need_constants(function, args, kwargs)
                inferred = self.result_of(function, args, kwargs)
                if inferred.kind is UNKNOWN:
                    self.need_given(args, kwargs)
                    self.need_known_ints(args, kwargs)
        if isinstance(inferred.kind, (Array, Scalar)) and inferred.kind.dtype is not None:
            if inferred.kind.dtype.names is not None:
                raise self.refuse(
                    "a structured array has no derivative", "use an array for each field"
                )
        target = ir.Var(temporary_name(function, args, name, inferred.kind), inferred.kind)
        scalar = isinstance(inferred.kind, Scalar) and inferred.kind.dtype.kind in "iub"
        # of an int, of a string made of one, or of a list
        rankless = isinstance(inferred.kind, Array) and inferred.kind.shape is None
        if scalar or isinstance(inferred.kind, (Opaque, ListOf)) or rankless:
            origins: frozenset[Any] = frozenset()
            for operand in (*args, *kwargs.values()):
                for v in ir.variables(operand):
                    origins |= v.origins
                    if rankless:  # its rank may be known if the shapes are
                        origins |= self.origins_of_shape(v)
            size = getattr(inferred.kind, "size", None)
            if isinstance(size, Size) and size.base in self.size_origins:
                origins |= self.size_origins[size.base]
            target.origins = origins
        elif isinstance(inferred.kind, Array):
            self.follow_sizes(inferred.kind, (*args, *kwargs.values()))
        if function is len or (
            function is operator.getitem and getattr(args[0], "kind", None) == SHAPE
        ):
            self.not_negative.add(target)
        self.note_views(target, inferred.views)
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

    def result_of(
        self, function: Any, args: tuple[ir.Operand, ...], kwargs: dict[str, ir.Operand]
    ) -> Inferred:
        """The kind of a result, where it is known of the lists given how many items they have."""
        used = ir.variables_of((*args, *kwargs.values()))
        lists = {v: v.kind for v in used if isinstance(v.kind, ListOf)}
        counted = {
            thing.var: ir.Var(thing.var.name, replace(lists[thing.var], length=thing.count))
            for thing in (self.state.heap.values() if lists else ())
            if isinstance(thing, ListObject) and thing.var in lists and thing.count is not None
        }  # fmt: skip
        if not counted:
            return infer(function, args, kwargs)
        return with_others(infer, function, args, kwargs, counted)  # type: ignore[no-any-return]

    def modify(self, function: Any, into: ir.Var, *operands: ir.Operand) -> None:
        """Append a call that is made for what it does to its first operand."""
        silent = Inferred(Opaque(None))
        self.emit(function, (into, *operands), inferred=silent, writes=(into,))

    def act(self, function: Any, *operands: ir.Operand) -> None:
        """Append a call that is made for what else it does than to return a result."""
        self.emit(function, operands, name="_", inferred=Inferred(Opaque(None)), effect=True)

    def follow_sizes(self, kind: Array, operands: tuple[ir.Operand, ...]) -> None:
        """Note from which arguments the new dimensions of a result follow."""
        known = self.size_origins
        new = [n for n in kind.shape or () if isinstance(n, Size) and n.base not in known]
        if not new:
            return
        found: frozenset[Any] = frozenset()
        for operand in operands:
            for v in ir.variables(operand):
                found |= v.origins | self.origins_of_shape(v)
        if found:
            for n in new:
                known[n.base] = found

    def origins_of_shape(self, v: ir.Var) -> frozenset[Any]:
        """The arguments from which the unknown dimensions of an array follow."""
        shape = v.kind.shape or () if isinstance(v.kind, Array) else ()
        sizes = [n.base for n in shape if isinstance(n, Size)]
        return frozenset().union(*(self.size_origins.get(n, frozenset()) for n in sizes))

    def need_lengths(self, needed: LengthsNeeded, function: Any) -> None:
        """Ask for lengths that follow from those of arguments."""
        known = (self.size_origins.get(n.base, frozenset()) for n in needed.lengths)
        origins: frozenset[Any] = frozenset().union(*known)
        if origins:
            name = told(function, "__name__", "this call")
            message = f"the lengths that {name} depends on must be known when compiling"
            raise NeedStatic(origins, message, self.span)

    def need_given(self, args: tuple[ir.Operand, ...], kwargs: dict[str, ir.Operand]) -> None:
        """Nothing is known of a result for which a list has but None yet."""
        for operand in (*args, *kwargs.values()):
            if any(v.kind == NOTHING and v.optional for v in ir.variables(operand)):
                raise self.empty(TypeError, "this item of a list is None")

    def need_known_ints(self, args: tuple[ir.Operand, ...], kwargs: dict[str, ir.Operand]) -> None:
        """The kind of a result may follow from the value of an int: ask for it.

        Not where it follows from an object of which nothing is known.
        """
        if not self.asks:
            return
        found = [v for operand in (*args, *kwargs.values()) for v in ir.variables(operand)]
        if not any(isinstance(v.kind, Opaque) or v.kind is UNKNOWN for v in found):
            for v in found:
                wanted = {o for o in v.origins if type(o) is not object or o in self.unrollable}
                if wanted and isinstance(v.kind, Scalar) and v.kind.dtype.kind in "iu":
                    self.asked.add(v.name)
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

    def dynamic(self, need: Materialize, entry: State, known: set[int]) -> bool:
        """Whether lowering again, now with a run-time list where `need` was made, is worthwhile.

        `known`: the places where such lists were made from the beginning.
        """
        if need.ref.id in entry.heap:
            thing = entry.heap[need.ref.id]
            if getattr(thing, "var", None) is not None or is_table(thing):
                raise need  # it does here, but not where the function around this was called
            if isinstance(thing, ListObject) and any(map(is_partial, thing.items)):
                # made on a branch before this one: it must be a run-time list from there on
                made = ("%list", self.sites.get(need.ref.id))
                if made in self.known_sites:
                    raise need
                raise NeedStatic(frozenset([made]), "how this list changes", self.span)
            return False
        site = self.sites.get(need.ref.id)
        if site is None or site in known:
            raise need
        self.dynamic_sites.add(site)
        return True

    def stopped(self, state: State) -> bool | None:
        """Whether the rest of the current block is skipped; None if that isn't known."""
        if state.unreachable:
            return True
        value = state.frames[self.current].get("%stop", FALSE)
        return value.value if isinstance(value, ir.Const) else None

    def deciding(self, test: ir.Operand) -> frozenset[Any]:
        """What would tell which branch is taken if it were known: arguments, and loops unrolled."""
        found = frozenset(o for v in ir.variables(test) for o in v.origins)
        return frozenset(o for o in found if isinstance(o, (tuple, Path))) - self.known_sites

    def same(self, a: Any, b: Any) -> bool:
        """Whether two abstract values are surely the same."""
        if a is b or a == b:
            return True
        if isinstance(a, ir.Const) and isinstance(b, ir.Const):
            return same_constant(a.value, b.value)
        if isinstance(a, Tuple) and isinstance(b, Tuple) and len(a.items) == len(b.items):
            if a.missing is not b.missing or a.fresh:
                return False
            return all(self.same(x, y) for x, y in zip(a.items, b.items, strict=True))
        return False

    def joined_variable(self, name: str, a: Any, b: Any) -> ir.Var:
        none = [v for v in (a, b) if isinstance(v, ir.Const) and v.value is None]
        known = [v for v in (a, b) if v not in none and not is_nothing(v)]
        kinds = [leaf_kind(v) for v in known]
        if Opaque(None) in kinds:  # a constant that only the run tells, and maybe one we know
            kinds = [Opaque(None) if isinstance(v, ir.Const) else leaf_kind(v) for v in known]
        kind = reduce(join, kinds) if kinds else NOTHING
        user = name.isidentifier()
        ours = name.startswith("%")
        named = next((v.name for v in known if isinstance(v, ir.Var) and ours), None)
        optional = bool(none) or any(isinstance(v, ir.Var) and v.optional for v in (a, b))
        target = ir.Var(named or variable_name(name), kind, user, optional=optional)
        target.partial = is_partial(a) or is_partial(b)
        origins = [v.origins if isinstance(v, ir.Var) else frozenset() for v in known]
        if isinstance(kind, Scalar):
            target.origins = frozenset().union(*origins)
        target.origins |= origins_of_rank(kind, known)
        return target

    def place(self, state: State, thing: Heap) -> Ref:
        ref = Ref(self.unique())
        state.heap[ref.id] = thing
        return ref

    def materialize(self, need: Materialize) -> None:
        """Turn a list on the abstract heap into a list that the generated code builds."""
        thing = self.state.heap.get(need.ref.id)
        if isinstance(thing, DictObject):
            self.tabulate(need.ref)
            return
        if not isinstance(thing, ListObject):
            raise self.refuse("this container changes in a way that can't be followed here")
        if thing.var is not None:
            return
        if self.is_taken(need.ref):
            raise Unkeepable("how a list outside changes can't be followed here", self.span)
        if thing.external:
            self.want_own(thing)
            raise self.refuse(
                f"the list {thing.external!r} belongs to the caller and would be changed",
                "make a copy first: list(...)",
            )
        for number in reachable(self.state.heap, thing.items):
            inner = self.state.heap[number]
            if isinstance(inner, ListObject) and isinstance(inner.frozen, Junction):
                # it stands for one of two, which a copy doesn't
                raise Thaw(inner.frozen, "which list this is isn't known", self.span, None)
        try:
            var = self.built_list(thing.items, thing.type)
        except Unkeepable as error:
            if error.kinds:
                error.slots |= self.site_of_kinds([need.ref])
            raise
        var.name = self.name_of(need.ref)
        for value in thing.items:
            self.hold(var, (), value)
        count = self.first_lengths[var] = len(thing.items)
        self.state.heap[need.ref.id] = replace(list_held_by(var), frozen=thing.frozen, count=count)

    def name_of(self, ref: Ref) -> str:
        """What the program calls a list: a variable, or the attribute of an object."""
        instances = [t.items for t in self.state.heap.values() if isinstance(t, Instance)]
        for scope in (*reversed(self.state.frames.values()), *instances):
            for name, value in scope.items():
                if value == ref and isinstance(name, str) and name.isidentifier():
                    return variable_name(name)
        return "items"

    def built_list(self, items: tuple[Any, ...], of: type = list) -> ir.Var:
        """A list that exists at run time, of items that are known one by one."""
        kind = ListOf(None, type=of)
        for value in items:
            kind = self.with_item(kind, value)
        operands, made = tuple(map(self.kept_operand, items)), tuple if of is tuple else list
        packed = (ir.Pack(made, operands),)
        return self.emit(made, packed, inferred=Inferred(kind), name="items")

    def with_item(self, kind: ListOf, value: Any) -> ListOf:
        """The kind of a list when `value` is one more of its items."""
        none = is_none(value) or is_nothing(value)
        optional = self.is_optional(value)
        item = kind.item if none else self.item_kind(value)
        if kind.item is not None and kind.item != item:
            self.vary_sizes()
        try:
            items = self.stable_items(kind.item, item)
            return with_more(kind, items, none or optional)
        except KindMismatch:
            thing = self.on_heap(value)
            self.wants_table(thing)
            if isinstance(kind.item, Fields) and kind.item.type is dict:
                self.want_tables(DictObject({}, kind.item.outside, frozen=KEPT))
            objects = isinstance(kind.item, Fields) and bool(kind.item.names)
            if objects:
                self.wants_table(Instance(kind.item.type, {}))
            error = Unkeepable(
                "the items of this list are of different kinds",
                self.span,
                "a list that is built or indexed in a loop needs items of one kind, or None",
            )
            error.kinds = not objects and not isinstance(thing, Instance)
            raise error from None

    def is_optional(self, value: Any) -> bool:
        """Whether a number, an array, a tuple or a list that exists at run time may be None."""
        thing = self.on_heap(value)
        held = thing.var if isinstance(thing, ListObject) else value
        held = held.whole if isinstance(held, Tuple) else held
        return isinstance(held, ir.Var) and held.optional and held not in self.given_here

    def keep(self, var: ir.Var, value: Any) -> None:
        """Note that a list which exists at run time has one more item."""
        assert isinstance(var.kind, ListOf)
        try:
            kind = self.with_item(var.kind, value)
        except Unkeepable as error:
            error.records |= self.deciding(var)  # each item is known if the loop is unrolled
            if error.kinds:
                error.slots |= self.site_of_kinds(self.lists_of(var))
            raise
        self.check_not_within(var, value)
        self.widen_items(var, kind)
        self.hold(var, (), value)

    def lists_of(self, var: ir.Var) -> list[Ref]:
        """The lists on the abstract heap that a variable may hold."""
        alike = self.likeness.alike(var)
        heap = self.state.heap.items()
        return [Ref(n) for n, thing in heap if isinstance(thing, ListObject) and thing.var in alike]

    def check_not_within(self, var: ir.Var, value: Any) -> None:
        """Refuse what holds lists that hold a list: the kind of its items would be part of itself.

        So it is with the neighbours of objects, which have neighbours.
        """
        thing = self.on_heap(value)
        if (
            isinstance(thing, ListObject)
            and thing.var is not None
            and self.likeness.is_in(var, thing.var)
        ):
            raise Unkeepable(
                "this list would be part of what it holds itself",
                self.span,
                "keep numbers that say which, and what they number in another list",
            )
        if isinstance(value, Tuple) or isinstance(thing, Instance):
            try:
                for item in value.items if isinstance(value, Tuple) else thing.items.values():
                    self.check_not_within(var, item)
            except Unkeepable:
                self.wants_table(thing)
                raise

    def hold(self, var: ir.Var, path: tuple[int, ...], value: Any) -> None:
        """Note which lists a list holds: they may be changed later."""
        if isinstance(value, Tuple):
            for i, item in enumerate(value.items):
                self.hold(var, (*path, i), item)
        elif isinstance(value, Ref):
            thing = self.state.heap[value.id]
            if isinstance(thing, ListObject) and thing.var is not None:
                self.link(var, path, thing.var)
            elif isinstance(thing, (DictObject, Instance)):
                if not is_table(thing):  # what is kept are the values that it has now
                    self.state.heap[value.id] = replace(thing, frozen=KEPT)
                for i, item in enumerate(thing.items.values()):
                    self.hold(var, (*path, i), item)

    def link(
        self, var: ir.Var, path: tuple[int, ...] | None, other: ir.Var, *, sliced: bool = False
    ) -> None:
        """Note that a list may be part of the items of another one, or hold the same items.

        What is put in one of them from now on is in the other one too. `path` says which part;
        None says that the items are the same, though one may be a slice of the other.
        """
        if var is other:
            return
        if path is None:
            self.likeness.note_same(var, other, sliced=sliced)
        else:
            self.likeness.note_part(var, path, other)
        self.links.setdefault(var, []).append((path, other, True))
        self.links.setdefault(other, []).append((path, var, False))
        self.follow(var, path, other, True)
        self.follow(other, path, var, False)

    def with_kind(self, kind: ListOf, other: ListOf) -> ListOf:
        """The kind of a list whose items may be those of another one, as far as one list can have
        them and no sizes are known."""
        if not without_sizes(other) or kind.type is not other.type:
            return kind
        try:
            return with_more(kind, self.stable_items(kind.item, other.item), other.holes)
        except KindMismatch:
            return kind

    def widen_items(self, var: ir.Var, kind: ListOf) -> None:
        """Give a list another kind of items, and the lists that may hold the same."""
        if var.kind != kind:
            var.kind = kind
            for link in self.links.get(var, ()):
                self.follow(var, *link)

    def follow(
        self, var: ir.Var, path: tuple[int, ...] | None, other: ir.Var, inwards: bool
    ) -> None:
        """Give a list the kind that follows from that of a list it is linked with."""
        assert isinstance(var.kind, ListOf) and isinstance(other.kind, ListOf)
        try:
            if path is None or inwards:
                part = var.kind if path is None else part_of(var.kind.item, path)
                if not isinstance(part, ListOf):
                    return
                items = self.stable_items(other.kind.item, part.item)
                kind = with_more(other.kind, items, part.holes)
            else:
                kind = replace(other.kind, item=self.with_part(other.kind.item, path, var.kind))
        except KindMismatch:
            raise Unkeepable(
                "the lists that this list holds have items of different kinds",
                self.span,
                "a list that is built or indexed in a loop needs items of one kind",
            ) from None
        self.widen_items(other, kind)

    def with_part(self, item: Any, path: tuple[int, ...], kind: Kind) -> Any:
        """The kind of a list's items of which a part may be of this kind too."""
        if not path or not isinstance(item, tuple):
            return self.stable_items(item, kind)
        inner = self.with_part(item[path[0]], path[1:], kind)
        return parts_like(item, (*item[: path[0]], inner, *item[path[0] + 1 :]))

    def item_kind(self, value: Any) -> Any:
        if isinstance(value, Tuple):
            if value.missing is not None and value.missing not in self.given_here:
                raise self.unkeepable(value)
            kinds = tuple(map(self.part_kind, value.items))
            return kinds if value.type is tuple else Fields(kinds, value.type)
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
            if value.id in self.records_of:
                return item_kinds(self.records_of[value.id][0].kind)
            named = self.is_kept_by_name(thing)
            if isinstance(thing, (DictObject, Instance)) and not is_table(thing):
                # better where the loop is unrolled: then it may be changed later
                if ("%records", self.site) not in self.known_sites and not (self.compact and named):
                    self.records.add(self.site)
                    raise self.unkeepable(value)
            if named:
                assert isinstance(thing, DictObject)
                self.keeps_dicts = True
                return Fields(map(self.part_kind, thing.items.values()), dict, tuple(thing.items))
            if isinstance(thing, DictObject):
                self.tabulate(value)
                thing = self.state.heap[value.id]
            if isinstance(thing, Instance) and self.is_keepable(thing):
                kinds = tuple(map(self.part_kind, thing.items.values()))
                return Fields(kinds, thing.type, tuple(thing.items))
        raise self.unkeepable(value)

    def is_kept_by_name(self, thing: Any) -> bool:
        """Whether a list keeps a dict as the tuple of its values, which nobody may change then."""
        if not isinstance(thing, DictObject) or (TABULATED,) in self.known_sites:
            return False
        plain = thing.type is dict and not thing.is_namespace and not thing.external
        return plain and bool(thing.items) and set(map(type, thing.items)) == {str}

    def want_tables(self, thing: Any) -> None:
        """Begin again with tables for the dicts that lists keep, where this one may be kept."""
        frozen = isinstance(thing, DictObject) and thing.frozen is not None and not thing.external
        kept = self.keeps_dicts or getattr(thing, "frozen", None) == KEPT
        if frozen and kept and (TABULATED,) not in self.known_sites:
            site = frozenset([(TABULATED,)])
            raise NeedStatic(site, "this dict is kept in a list, and changed", self.span)

    def part_kind(self, value: Any) -> Any:
        """The kind of a part of an item, which says nothing of None."""
        if self.is_optional(value):
            raise self.unkeepable(value, f"{described(value)} that may be None")
        return self.item_kind(value)

    def kept_operand(self, value: Any) -> ir.Operand:
        """The operand of what is kept in a list: an object is the tuple of its attributes."""
        if isinstance(value, Tuple) and value.whole is None:
            return ir.Pack(tuple, tuple(map(self.kept_operand, value.items)))
        if isinstance(value, Ref) and value.id in self.records_of:
            return self.records_of[value.id][0]
        thing = self.on_heap(value)
        if isinstance(thing, (DictObject, Instance)):
            return ir.Pack(tuple, tuple(map(self.kept_operand, thing.items.values())))
        if isinstance(value, ir.Var) and value in self.flats:
            raise self.kept_flat("can't be kept in a list that is built in a loop")
        return self.operand(value)

    def unkeepable(self, value: Any, what: str | None = None) -> Unkeepable:
        error = Unkeepable(
            f"{what or described(value)} can't be kept in a list that is built in a loop",
            self.span,
            "keep its arrays in separate lists, or loop over something of known length",
        )
        error.kinds = not isinstance(value, Ref)
        return error

    def stable_join(self, template: Kind, kind: Kind, known: set[int] | None = None) -> Kind:
        """`join` in which a dimension or int that was generalised before stays as it is.

        What a loop carries is generalised by each loop of its own: a size that varies in the loop
        around it may vary in the loop itself as well. `known` are the sizes that it has
        generalised; None for items of a list, for which all count.
        """
        if isinstance(template, ListOf) and type(template) is type(kind):
            if template.type is not kind.type:
                raise KindMismatch
            return with_more(template, self.stable_items(template.item, kind.item), kind.holes)
        if isinstance(template, Array) and isinstance(kind, Array):
            if template.shape is not None and kind.shape is not None:
                if len(template.shape) == len(kind.shape):
                    pairs = zip(template.shape, kind.shape, strict=True)
                    shape = tuple(self.stable_size(m, n, known) for m, n in pairs)
                    return either_array(template, kind, shape)
        if isinstance(template, Scalar) and isinstance(kind, Scalar):
            joined = join(replace(template, size=None), replace(kind, size=None))
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
            return replace(joined, size=size)
        return join(template, kind)

    def stable_items(self, a: Any, b: Any) -> Any:
        """`stable_join` of the kinds of list items, which may be tuples of kinds."""
        if a is None or b is None:
            return b if a is None else a
        if same_form(a, b):
            return parts_like(a, (self.stable_items(x, y) for x, y in zip(a, b, strict=True)))
        if isinstance(a, tuple) or isinstance(b, tuple):
            raise KindMismatch
        return self.stable_join(a, b)

    def stable_size(self, m: Any, n: Any, known: set[int] | None = None) -> Any:
        known = self.widened if known is None else known
        several = both_several(m, n)
        if m == n or (isinstance(m, Size) and m.base in known and (several or not m.big)):
            return m
        size = fresh_size(several)
        self.widened.add(size.base)
        known.add(size.base)
        return size

    def operand(self, value: Any) -> ir.Operand:
        """The IR operand that holds an abstract value."""
        match value:
            case ir.Var() | ir.Const() | ir.Pack():
                return value
            case Tuple():
                if value.whole is not None:
                    return value.whole
                return ir.Pack(tuple, tuple(map(self.operand, value.items)))
            case Slice():
                parts = (value.start, value.stop, value.step)
                return ir.Pack(slice, tuple(self.operand(part) for part in parts))
            case Ref():
                thing = self.state.heap[value.id]
                if isinstance(thing, ListObject):
                    if thing.var is not None:
                        return thing.var
                    return ir.Pack(list, tuple(self.operand(item) for item in thing.items))
        if isinstance(value, Poison):
            return self.operand(self.known("this", value))
        message = f"{described(value)} can't be passed to a function that srcgrad doesn't look into"
        if isinstance(value, Choice):
            self.need_static(value.index, message)
        raise self.refuse(message)

    def check_given(self, value: Tuple) -> None:
        """Raise what None raises, where a tuple is used that may be None unasked."""
        whole = value.whole
        if whole is None or not self.is_optional(value) or not value.items:
            return
        for s in reversed(self.block.statements):
            if isinstance(s, ir.Assign) and s.effect and s.args[:1] == (whole,):
                return
        assert isinstance(whole.kind, TupleOf)
        kind = Inferred(whole.kind.items[0])
        self.emit(operator.getitem, (whole, ir.Const(0)), inferred=kind, effect=True)

    def object_of(self, var: ir.Var, items: list[Value]) -> Value:
        """The object that a list keeps as the tuple of its attributes."""
        assert isinstance(var.kind, TupleOf)
        named = dict(zip(var.kind.names, items, strict=True))
        identity, place = named.pop(IDENTITY, None), var.kind.outside
        external = "a list outside" if place == "" else place
        made: Heap = Instance(var.kind.type, named, external, KEPT)
        if var.kind.type is dict:
            made = DictObject(named, external, frozen=KEPT)
        elif is_table(made):
            made = replace(made, frozen=None)
        ref = self.place(self.state, made)
        if place is None:
            return ref
        self.records_of[ref.id] = (var, identity)
        if place:
            self.of_arguments[ref.id] = place
        return ref

    def project(
        self, var: ir.Var, holder: ir.Var | None = None, path: tuple[int, ...] = ()
    ) -> Value:
        """The value of a variable: a tuple that a primitive returns is taken apart.

        It is a part of an item of the list `holder`, if that is given.
        """
        if not isinstance(var.kind, TupleOf):
            if isinstance(var.kind, ListOf):
                if holder is not None:
                    self.link(holder, path, var)
                ref = Ref(self.unique())
                self.state.heap[ref.id] = list_held_by(var)
                return ref
            return var
        source = self.block.statements[-1] if self.block.statements else None
        views: tuple[ir.Var, ...] = ()
        certain = True
        if isinstance(source, ir.Assign) and source.target is var:
            views, certain = source.views, source.certain
        items = []
        for i, kind in enumerate(var.kind.items):
            shares = (var,) if holds_arrays(kind) else ()
            item = self.emit(
                operator.getitem,
                (var, ir.Const(i)),
                inferred=Inferred(kind, shares or (views if shares else ()), certain),
                name=f"{var.name}_{var.kind.names[i] if var.kind.names else i}",
            )
            items.append(self.project(item, holder, (*path, i)))
        kind_type = var.kind.type
        if var.kind.names:
            return self.object_of(var, items)
        if kind_type is list:
            ref = Ref(self.unique())
            self.state.heap[ref.id] = ListObject(tuple(items))
            return ref
        return Tuple(tuple(items), kind_type, var)
