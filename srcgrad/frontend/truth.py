"""Truth: what a test asks of a value, `and`, `or`, `not`, and conditional expressions."""

from __future__ import annotations

import operator
from collections.abc import Callable
from typing import Any

import gast
import numpy as np

from .. import ir
from ..analysis.inference import Inferred
from ..kinds import BOOL, Array, ListOf, Opaque, Reference, Scalar, least
from ..packages import of_class
from .operations import checked_bool, checked_length
from .operators import Operators
from .predicates import FALSE, NONE, TRUE, is_none, is_range, is_settled, is_written, leaf_kind
from .values import Choice, DictObject, Instance, Journal, ListObject, Ref, Sequence, Tuple, Value


class Truth(Operators):
    """Tells whether values are true, by asking objects as Python does."""

    def negated(self, value: Value) -> ir.Var | ir.Const:
        test = self.truth(value)
        if isinstance(test, ir.Const):
            return ir.Const(not test.value)
        result = self.emit(operator.not_, (test,), inferred=Inferred(BOOL))
        self.implied[result] = self.given_if(test, False), self.given_if(test, True)
        if test in self.meanings:
            choice, holds, fails = self.meanings[test]
            self.meanings[result] = choice, fails, holds
        return result

    def truth(self, value: Value) -> ir.Var | ir.Const:
        """The truth of a value: a Const if it is known, else the variable to test."""
        match value:
            case Choice():
                known = self.answered(value, self.boolean)
                return self.truth(known or self.for_each(value, self.boolean))
            case ir.Const():
                return self.truth_of_constant(value)
            case ir.Var(kind=Reference()):
                return self.truth_of_reference(value)
            case ir.Var():
                if isinstance(value.kind, (Array, ListOf)):  # what it holds may change
                    self.guard(bool, (value,), {})
                    return self.emit(bool, (value,), inferred=Inferred(BOOL), name="test")
                if isinstance(value.kind, Opaque) and self.is_always_true(value, value.kind.type):
                    return TRUE
                if isinstance(value.kind, (Scalar, Opaque)):
                    return value
            case Journal():
                return self.truth_of_journal(value)
            case Tuple(missing=missing) if missing is not None and value.items:
                return self.negated(self.identical(value, NONE))
            case Tuple():
                self.ask_whether_missing(value)
                return ir.Const(bool(value.items))
            case Sequence() if is_range(value):
                return self.truth(self.compare(gast.Gt(), value.length, ir.Const(0)))
            case Ref():
                thing = self.state.heap[value.id]
                if isinstance(thing, ListObject) and thing.var is not None:
                    return self.truth(thing.var)
                if isinstance(thing, DictObject):
                    return self.truth(self.call(ir.Const(len), [value], {}))
                if isinstance(thing, Instance):
                    return self.truth_of_object(thing.type, value)
                return ir.Const(bool(thing.items))
        return TRUE

    def is_always_true(self, value: ir.Var, cls: type | None) -> bool:
        """Whether what is no array or number is true since its class says nothing of its truth."""
        if cls is None or cls is object or self.may_be_none(value):
            return False
        return not hasattr(cls, "__bool__") and not hasattr(cls, "__len__")

    def truth_of_constant(self, value: ir.Const) -> ir.Var | ir.Const:
        """The truth of what is known when compiling, or of an object outside."""
        cls = type(value.value)
        asked = [name for name in ("__bool__", "__len__") if of_class(cls, name) is not None]
        if is_settled(value) or not asked:
            return ir.Const(bool(value.value))
        if is_written(value, asked[0]):
            answer = self.call(self.attribute(value, asked[0]), [], {})
            return self.truth(self.allowed_answer(asked[0], answer))
        return self.emit(bool, (value,), inferred=Inferred(BOOL), name="test", effect=True)

    def truth_of_object(self, cls: type, value: Value) -> ir.Var | ir.Const:
        """What the class of an object says of its truth."""
        name = self.truth_method(cls)
        if name is None:
            return TRUE
        found = self.class_attribute(cls, name)
        assert found is not None
        answer = self.call(self.bound(found, value, cls), [], {})
        return self.truth(self.allowed_answer(name, answer))

    def allowed_answer(self, name: str, answer: Value) -> Value:
        """What a `__bool__` or `__len__` returned, where Python takes it; else what it raises."""
        kind = leaf_kind(answer) if isinstance(answer, (ir.Var, ir.Const)) else None
        if isinstance(kind, Scalar) and kind.python is True and not self.may_be_none(answer):
            if name == "__bool__" and kind.dtype.kind == "b":
                return answer
            counted = answer in self.not_negative or (kind.size and (least(kind.size) or 0) > 0)
            if name == "__len__" and kind.dtype.kind == "i" and counted:
                return answer
        return self.inline(checked_bool if name == "__bool__" else checked_length, [answer], {})

    def truth_method(self, cls: type) -> str | None:
        """The method that says whether the objects of a class are true; None if all are."""
        names = ("__bool__", "__len__")
        return next((n for n in names if self.class_attribute(cls, n) is not None), None)

    def truth_of_reference(self, value: ir.Var) -> ir.Var | ir.Const:
        """The truth of an object in a table, or None."""
        assert isinstance(value.kind, Reference)
        there = self.negated(self.same_reference(value, ir.Const(None)))
        assert isinstance(there, ir.Var)
        methods = [self.truth_method(cls) for cls in value.kind.types]
        if all(found is None for found in methods):
            return there

        def answer(one: Value) -> Value:
            if is_none(one):
                return FALSE
            return self.boolean(self.truth_of_object(self.thing(one).type, one))

        def asked() -> Value:
            one = self.spread(value)
            return self.for_each(one, answer) if isinstance(one, Choice) else answer(one)

        return self.truth(self.either(there, asked, lambda: FALSE))

    def boolean(self, value: Value) -> ir.Var | ir.Const:
        """The truth of a value as a bool."""
        test = self.truth(value)
        if isinstance(test, ir.Const) or (
            isinstance(test.kind, Scalar) and test.kind.dtype.kind == "b"
        ):
            return test
        return self.emit(bool, (test,), inferred=Inferred(BOOL))

    def expression_BoolOp(self, node: Any) -> Value:
        return self.short_circuit(isinstance(node.op, gast.And), node.values)

    def short_circuit(self, conjunction: bool, nodes: list[Any]) -> Value:
        if len(nodes) == 1:
            return self.expression(nodes[0])
        test, first = self.decisive(not conjunction, nodes[0])
        if isinstance(test, ir.Const):
            return (
                first if test.value != conjunction else self.short_circuit(conjunction, nodes[1:])
            )
        name = f"%either{self.unique()}"

        def rest() -> None:
            self.state.frames[self.current][name] = self.short_circuit(conjunction, nodes[1:])

        def same() -> None:
            self.state.frames[self.current][name] = with_truth(first, not conjunction)

        self.branch(test, rest if conjunction else same, same if conjunction else rest)
        return self.known("this expression", self.state.frames[self.current].pop(name))

    def decisive(self, wanted: bool, node: Any) -> tuple[ir.Var | ir.Const, Value]:
        """The truth of an expression, and its value, which is asked for only if this is `wanted`.

        Of `a and b` in `a and b or c` that is the value of `b`, of whatever kind `a` is.
        """
        if isinstance(node, gast.BoolOp) and isinstance(node.op, gast.And) == wanted:
            return self.last_of(wanted, node.values)
        value = self.expression(node)
        return self.truth(value), value

    def last_of(self, conjunction: bool, nodes: list[Any]) -> tuple[ir.Var | ir.Const, Value]:
        """The truth of `a and b` or `a or b`, and the value of its last operand, if it's asked."""
        first, *rest = nodes
        if not rest:
            return self.decisive(conjunction, first)
        test = self.tested(first)
        if isinstance(test, ir.Const):
            return (test, test) if test.value != conjunction else self.last_of(conjunction, rest)
        frame, truth, value = self.current, f"%truth{self.unique()}", f"%last{self.unique()}"

        def more() -> None:
            outcome, last = self.last_of(conjunction, rest)
            self.state.frames[frame].update({truth: self.boolean(outcome), value: last})

        def settled() -> None:
            self.state.frames[frame].update({truth: ir.Const(not conjunction), value: ir.UNDEFINED})

        self.branch(test, *((more, settled) if conjunction else (settled, more)))
        found = self.state.frames[frame]
        return self.truth(self.known("this test", found.pop(truth))), found.pop(value)

    def tested(self, node: Any) -> ir.Var | ir.Const:
        """The truth of an expression, of which nothing else is asked."""
        if isinstance(node, gast.UnaryOp) and isinstance(node.op, gast.Not):
            return self.negated(self.tested(node.operand))
        if not isinstance(node, gast.BoolOp):
            return self.truth(self.expression(node))
        return self.truth(self.connected(isinstance(node.op, gast.And), node.values))

    def connected(self, conjunction: bool, nodes: list[Any]) -> ir.Var | ir.Const:
        """The truth of `a and b` or `a or b`: unlike their value, it is a bool of any operands."""
        first, *rest = nodes
        test = self.tested(first)
        if not rest:
            return test
        if isinstance(test, ir.Const):
            return test if test.value != conjunction else self.connected(conjunction, rest)
        frame, name = self.current, f"%either{self.unique()}"

        def more() -> None:
            self.state.frames[frame][name] = self.boolean(self.connected(conjunction, rest))

        def settled() -> None:
            self.state.frames[frame][name] = ir.Const(not conjunction)

        self.branch(test, *((more, settled) if conjunction else (settled, more)))
        return self.truth(self.known("this test", self.state.frames[frame].pop(name)))

    def expression_IfExp(self, node: Any) -> Value:
        test = self.tested(node.test)
        if isinstance(test, ir.Const):
            return self.expression(node.body if test.value else node.orelse)
        name = f"%choice{self.unique()}"

        def run(branch: Any) -> Callable[[], None]:
            def lower() -> None:
                self.state.frames[self.current][name] = self.expression(branch)

            return lower

        self.branch(test, run(node.body), run(node.orelse))
        if self.state.unreachable:
            return NONE
        return self.known("this expression", self.state.frames[self.current].pop(name))

    def chosen(self, test: ir.Var | ir.Const, a: Value, b: Value) -> Value:
        return self.either(test, lambda: a, lambda: b)


def with_truth(value: Value, truth: bool) -> Value:
    """A value where it is known whether it is true: a bool of Python or NumPy is known then."""
    kind = value.kind if isinstance(value, ir.Var) else None
    if isinstance(kind, Scalar) and kind.dtype.kind == "b" and kind.python is not None:
        return ir.Const(truth if kind.python else np.bool_(truth))
    return value
