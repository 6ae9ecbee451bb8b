"""Values of variables: what is joined, and what tuples stand for that primitives and lists hold."""

from __future__ import annotations

import operator
from dataclasses import replace
from functools import reduce
from typing import Any

from .. import ir
from ..analysis.inference import Inferred
from ..joins import join
from ..kinds import (
    NOTHING,
    ListOf,
    Opaque,
    Scalar,
    TupleOf,
    holds_arrays,
)
from .kept_lists import KeptLists
from .predicates import FALSE, leaf_kind, same_constant
from .restarts import TooLong
from .structure import (
    is_nothing,
    is_partial,
    is_table,
    list_held_by,
    origins_of_rank,
)
from .values import (
    IDENTITY,
    KEPT,
    DictObject,
    Heap,
    Instance,
    ListObject,
    Ref,
    State,
    Tuple,
    Value,
)
from .wording import variable_name

JOINED = 4  # so many variables that branches join count as a statement


class Builder(KeptLists):
    """Makes values of variables."""

    def stopped(self, state: State) -> bool | None:
        """Whether the rest of the current block is skipped; None if that isn't known."""
        if state.unreachable:
            return True
        value = state.frames[self.current].get("%stop", FALSE)
        return value.value if isinstance(value, ir.Const) else None

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

    def check_length(self, statements: int) -> None:
        """Stop where there are more statements than there may be."""
        longest = (self.asked and self.longest_asked) or self.longest
        if longest is not None and statements > longest:
            raise TooLong

    def joined_variable(self, name: str, a: Any, b: Any) -> ir.Var:
        self.junctions += 1
        self.check_length(self.junctions // JOINED)
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
        if optional and isinstance(kind, Scalar):
            kind = replace(kind, size=None)  # what it is the end of is as long as something else
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

    def check_given(self, value: Tuple, read: bool = True) -> None:
        """Raise what None raises, where a tuple is used that may be None unasked."""
        missing, whole = value.missing, value.whole
        # What isn't there where the tuple is None raises by itself if it is read, uncaught
        told = self.catcher(TypeError) is None and all(isinstance(i, ir.Var) for i in value.items)
        told = told and read
        if missing is not None and missing not in self.given_here and not (told and value.items):
            self.insist(self.is_there(value), TypeError, "'NoneType' object is not iterable")
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
