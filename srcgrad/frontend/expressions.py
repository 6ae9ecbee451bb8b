"""Lowering of expressions: constants, f-strings; the rest in the modules beside."""

from __future__ import annotations

from typing import Any

from .. import ir
from ..analysis.inference import Inferred
from ..errors import UnsupportedError
from ..kinds import Array, ListOf, Opaque
from ..rules import registry
from .displays import Displays
from .naming import method_name
from .predicates import is_none, is_number, without_items
from .restarts import NeedStatic
from .structure import interned, objects_in_key
from .values import (
    DictObject,
    Generator,
    Journal,
    ListObject,
    Place,
    Sequence,
    Tuple,
    Value,
)
from .wording import described


class Expressions(Displays):
    """Evaluates expression nodes to abstract values."""

    def expression(self, node: Any) -> Value:
        """The value of an expression node."""
        method = getattr(self, method_name("expression", type(node).__name__), None)
        before, site = self.span, self.site
        self.site = id(node)
        if not self.fixed_span:
            self.span = self.frames[self.current].source.span(node)
        if method is None:
            raise self.refuse(f"{type(node).__name__} isn't supported")
        value = method(node)
        if isinstance(value, Place) and type(value.value) in registry.made_of:
            value = self.made_anew(value.value, value.path)  # an argument
        self.site = site
        if not self.fixed_span:
            self.span = before
        return value  # type: ignore[no-any-return]

    def at(self, node: Any) -> None:
        if not self.fixed_span:
            self.span = self.frames[self.current].source.span(node)

    def expression_Constant(self, node: Any) -> Value:
        return ir.Const(interned(node.value))

    def key(self, value: Value) -> Any:
        """A value, a dict's key or a setting, which must be known when compiling."""
        if isinstance(value, ir.Const):
            return value.value
        if isinstance(value, Tuple):
            return tuple(self.key(item) for item in value.items)
        thing = self.on_heap(value)
        if isinstance(thing, DictObject) and thing.type is frozenset:
            self.settled_keys(thing)
            if not any(map(objects_in_key, thing.items)):
                return frozenset(thing.items)
        self.need_static(value, "the key of a dict must be known when compiling")
        raise AssertionError

    def dictionary(self, value: Value) -> DictObject:
        thing = self.on_heap(value)
        if not isinstance(thing, DictObject):
            raise self.refuse(f"{described(value)} isn't a dict")
        return thing

    def unpacked(self, value: Value) -> list[Value]:
        """The items of something whose length is known when compiling."""
        if isinstance(value, Tuple):
            self.check_given(value)
            return list(value.items)
        if isinstance(value, Generator):
            value = self.list_of_items(value)
        sequence = self.sequence(value)
        if sequence is None:
            raise self.not_iterable(value)
        return self.unrolled_items(sequence, value)

    def unrolled_items(self, sequence: Sequence, value: Value) -> list[Value]:
        """The items of a sequence made of a value, whose number is known when compiling."""
        if not isinstance(sequence.length, ir.Const):
            self.need_items(value)
            self.need_static(sequence.length, "how many items there are must be known here")
        assert isinstance(sequence.length, ir.Const)
        return [sequence.item(ir.Const(i)) for i in range(sequence.length.value)]

    def need_items(self, value: Value) -> None:
        """Ask for the loops to be unrolled that make a list whose items must be known."""
        thing = self.on_heap(value)
        var = thing.var if isinstance(thing, ListObject) else None
        if isinstance(value, ir.Var) and isinstance(value.kind, ListOf):
            var = value
        if var is not None and var.origins - self.known_sites:
            raise NeedStatic(var.origins, "how many items there are must be known", self.span)

    def not_iterable(self, value: Value) -> UnsupportedError:
        """The refusal of what has no known items; of an array, its shape is asked for first."""
        if is_number(value):
            return self.fault(TypeError, "a number can't be iterated over")
        if isinstance(value, ir.Var) and getattr(value.kind, "shape", None) == ():
            return self.fault(TypeError, "iteration over a 0-d array")
        if is_none(value):
            return self.fault_of_none(TypeError, "is not iterable")
        if isinstance(value, ir.Var) and isinstance(value.kind, Array) and value.kind.shape is None:
            self.need_static(value, "how many items this array has must be known here")
        if isinstance(value, Journal):
            self.want_journal(value)
        if name := without_items(self.on_heap(value) or value):
            return self.fault(TypeError, f"{name!r} object is not iterable")
        return self.refuse(f"{described(value)} can't be iterated over")

    def need_static(self, value: Value, message: str, advice: str | None = None) -> None:
        if isinstance(value, ir.Var) and value.origins:
            raise NeedStatic(value.origins, message, self.span)
        raise self.refuse(message, advice)

    def opaque(self, function: Any, args: list[Value]) -> Value:
        """A call whose result carries no derivative and of which nothing is known."""
        operands = tuple(self.operand(a) for a in args)
        return self.emit(function, operands, inferred=Inferred(Opaque(None)))

    def expression_NamedExpr(self, node: Any) -> Value:
        value = self.expression(node.value)
        self.bind(node.target.id, value)
        return value

    def expression_ListComp(self, node: Any) -> Value:
        return self.comprehension(node)

    def expression_SetComp(self, node: Any) -> Value:
        return self.comprehension(node)

    def expression_DictComp(self, node: Any) -> Value:
        return self.comprehension(node)

    def expression_GeneratorExp(self, node: Any) -> Value:
        return self.generator_expression(node)

    def expression_Await(self, node: Any) -> Value:
        raise self.refuse("asynchronous code can't be differentiated")
