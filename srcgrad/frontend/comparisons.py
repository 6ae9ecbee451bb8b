"""Comparisons: of numbers, sequences and objects; identity, and what is in what."""

from __future__ import annotations

import dataclasses
import functools
import numbers
import operator
import types
from collections.abc import Callable, Iterable
from typing import Any

import gast
import numpy as np

from .. import ir
from ..analysis.inference import Inferred
from ..errors import UnsupportedError
from ..joins import is_complex
from ..kinds import BOOL, Array, Kind, Opaque, Reference, Scalar, TupleOf, least
from . import running
from .choices import FUNCTIONS, options
from .columns import is_reference
from .operators import DUNDER, is_text
from .predicates import (
    FALSE,
    NONE,
    SIMPLE,
    TRUE,
    is_none,
    is_number,
    is_object,
    is_settled,
    is_written,
)
from .restarts import NeedStatic, Raised, Thaw
from .structure import OR_DEQUE, Poison, is_long, is_table
from .truth import Truth, with_truth
from .values import (
    IDENTITY,
    Bound,
    Choice,
    Closure,
    DictObject,
    Generator,
    Heap,
    Instance,
    Journal,
    ListObject,
    Place,
    Ref,
    Sequence,
    Tuple,
    Value,
)
from .wording import described

OURS = __name__.partition(".")[0]  # the views of dicts and the like are compared otherwise
COMPARE: dict[type, Callable[..., Any]] = {
    gast.Lt: operator.lt,
    gast.LtE: operator.le,
    gast.Gt: operator.gt,
    gast.GtE: operator.ge,
    gast.Eq: operator.eq,
    gast.NotEq: operator.ne,
}

# The methods that a comparison may call, of either side
ASKED_BY: dict[Any, tuple[str, ...]] = {
    operator.eq: ("__eq__",), operator.ne: ("__ne__", "__eq__"),
    operator.lt: ("__lt__", "__gt__"), operator.gt: ("__gt__", "__lt__"),
    operator.le: ("__le__", "__ge__"), operator.ge: ("__ge__", "__le__"),
}  # fmt: skip


class Comparisons(Truth):
    """Lowers comparisons."""

    def expression_Compare(self, node: Any) -> Value:
        return self.chained(self.expression(node.left), list(node.ops), list(node.comparators))

    def chained(self, left: Value, ops: list[Any], nodes: list[Any]) -> Value:
        right = self.expression(nodes[0])
        result = self.compare(ops[0], left, right)
        if len(nodes) == 1:
            return result
        test = self.truth(result)
        if isinstance(test, ir.Const):
            return self.chained(right, ops[1:], nodes[1:]) if test.value else result
        name = f"%chain{self.unique()}"

        def rest() -> None:
            self.state.frames[self.current][name] = self.chained(right, ops[1:], nodes[1:])

        def failed() -> None:
            self.state.frames[self.current][name] = with_truth(result, False)

        self.branch(test, rest, failed)
        return self.known("this expression", self.state.frames[self.current].pop(name))

    def compare(self, op: Any, a: Value, b: Value) -> Value:
        match op:
            case gast.Is() | gast.IsNot():
                result = self.identical(a, b)
                return self.negated(result) if isinstance(op, gast.IsNot) else result
            case gast.In() | gast.NotIn():
                result = self.contains(b, a)
                return self.negated(result) if isinstance(op, gast.NotIn) else result
        by_order = not isinstance(op, (gast.Eq, gast.NotEq))
        if by_order:
            a, b = self.spread(a), self.spread(b)
        elif self.is_compared(a) or self.is_compared(b):
            a, b = self.object_or_none(a), self.object_or_none(b)
        a, b = self.tuple_or_none(a), self.tuple_or_none(b)
        for chosen, use in (
            (a, lambda o: self.compare(op, o, b)),
            (b, lambda o: self.compare(op, a, o)),
        ):
            if isinstance(chosen, Choice):
                known = None if by_order else self.answered(chosen, use)
                return known or self.for_each(chosen, use)
        lists = ((x, y) for x, y in ((a, b), (b, a)) if isinstance(x, Ref))
        if any(self.is_optional(x) and is_none(y) for x, y in lists):
            equal = self.identical(a, b)
            return self.negated(equal) if isinstance(op, gast.NotEq) else equal
        function = COMPARE[type(op)]
        if isinstance(a, ir.Const) and isinstance(b, ir.Const):
            if not (is_settled(a) and is_settled(b)) and self.says_more(function, a, b):
                special = self.dunder(function, a, b)
                if special is not None:
                    return special
                return self.emit(function, (a, b), inferred=Inferred(BOOL), effect=True)
            try:
                return ir.Const(bool(function(a.value, b.value)))
            except Exception as error:
                if self.catcher(type(error)) is not None:
                    raise self.raised_by_python(error) from None
        if self.surely_more(a, b):
            return ir.Const(function in (operator.gt, operator.ge, operator.ne))
        if self.surely_more(b, a):
            return ir.Const(function in (operator.lt, operator.le, operator.ne))
        special = self.dict_operator(function, a, b)
        if special is None:
            special = self.dunder(function, a, b)
        if special is not None:
            return special
        if function not in (operator.eq, operator.ne):
            self.check_defined(DUNDER.get(function), a, b)
        elif self.are_compared_as_objects(a, b):
            same = self.identical(a, b)
            return same if function is operator.eq else self.negated(same)
        if any(isinstance(getattr(v, "kind", None), Reference) for v in (a, b)):
            if function not in (operator.eq, operator.ne):
                raise self.fault(TypeError, "objects of this class can't be ordered")
            same = self.same_reference(a, b)
            return same if function is operator.eq else self.negated(same)
        for x, y in ((a, b), (b, a)):
            if isinstance(x, Ref) and isinstance(y, ir.Const) and not is_settled(y):
                raise self.refuse(f"comparing with {described(y)} from outside isn't supported")
        if function in (operator.eq, operator.ne) and self.is_method(a) and self.is_method(b):
            same = self.same_method(a, b)
            return same if function is operator.eq else self.negated(same)
        for x, y in ((a, b), (b, a)):
            if function not in (operator.eq, operator.ne):
                break
            if isinstance(x, ir.Var) and is_number(x) and not x.optional and is_no_number(y):
                return ir.Const(function is operator.ne)
            apart = self.is_python_number(y) or isinstance(y, (ir.Const, *FUNCTIONS))
            if isinstance(x, FUNCTIONS) and apart:
                same = self.identical(x, y)
                return same if function is operator.eq else self.negated(same)
        ordered = self.compare_sequences(function, a, b)
        if ordered is not None:
            return ordered
        for v, other in ((a, b), (b, a)):
            if self.fixed_span and isinstance(v, ir.Var) and v.kind == Opaque(str):
                if isinstance(other, ir.Const):  # a rule's mode
                    self.need_static(v, "this string must be known when compiling")
        texts = Inferred(BOOL) if is_text(a) and is_text(b) else None
        a, b = self.range_as_array(a, b), self.range_as_array(b, a)
        operands = (self.number(a), self.number(b))
        if self.trying is not None:
            self.guard(function, operands, {})
        constants = isinstance(a, ir.Const) and isinstance(b, ir.Const)
        fails = by_order and (constants or is_text(a) is not is_text(b))  # also where none uses it
        return self.emit(function, operands, inferred=texts, effect=fails)

    def are_compared_as_objects(self, a: Value, b: Value) -> bool:
        """Whether two values are equal just if they are one object.

        Their classes, which have been asked, don't know: they have no `__eq__`, or one that
        returned NotImplemented.
        """
        things = [self.on_heap(v) for v in (a, b)]
        for value, thing in zip((a, b), things, strict=True):
            if isinstance(thing, Instance):
                if thing.type.__module__.startswith(OURS):
                    return False
            elif not isinstance(value, ir.Const) or not (
                isinstance(value.value, SIMPLE) or is_plain_object(value.value)
            ):
                return False
        return any(isinstance(t, Instance) for t in things)

    @staticmethod
    def says_more(function: Any, a: ir.Const, b: ir.Const) -> bool:
        """Whether one of two objects is compared by more than which object it is."""
        return any(
            getattr(type(v.value), name, None) is not getattr(object, name)
            for v in (a, b) if not is_settled(v) for name in ASKED_BY[function]
        )  # fmt: skip

    def is_compared(self, value: Value) -> bool:
        """Whether an object in a table is of a class that may say what it is equal to."""
        if not is_reference(value):
            return False
        types, names = value.kind.types, ("__eq__", "__ne__")  # type: ignore[union-attr]
        return any(self.class_attribute(c, name) is not None for c in types for name in names)

    def is_there(self, value: Value) -> Value:
        """Whether a value isn't None."""
        return self.negated(self.identical(value, NONE)) if self.may_be_none(value) else TRUE

    def object_or_none(self, value: Value) -> Value:
        """An object in a table, or a tuple, as one of several: None isn't what their class says."""
        if not is_reference(value) or not self.may_be_none(value):
            found: Value = self.spread(self.tuple_or_none(value))
            return found
        assert isinstance(value, ir.Var)
        there = ir.Var(value.name, value.kind, value.user)
        self.renamed[there] = value
        return Choice(self.none_test(value), (there, NONE))

    @staticmethod
    def surely_more(a: Value, b: Value) -> bool:
        """Whether one value is a length that is known to be more than the other, an int."""
        if not isinstance(a, ir.Var) or not isinstance(b, ir.Const) or type(b.value) is not int:
            return False
        size = a.kind.size if isinstance(a.kind, Scalar) else None
        shortest = None if size is None else least(size)
        return shortest is not None and shortest > b.value

    @staticmethod
    def is_method(value: Value) -> bool:
        """Whether a value is a method of a known object."""
        outer = isinstance(value, ir.Const) and isinstance(value.value, types.MethodType)
        return isinstance(value, Bound) or outer

    def same_method(self, a: Value, b: Value) -> Value:
        """Whether two methods are equal: each is made anew where it is asked for."""
        pairs: list[tuple[Value, Value]] = []
        for value in (a, b):
            if isinstance(value, ir.Const):
                method = value.value
                pairs.append((Place(method.__func__), self.receiver(method.__self__)))
            else:
                assert isinstance(value, Bound)
                pairs.append((value.function, value.receiver))
        same = [self.identical(*items) for items in zip(*pairs, strict=True)]
        return self.both(operator.and_, *same)

    def compare_sequences(self, function: Any, a: Value, b: Value) -> Value | None:
        """A comparison of lists or tuples, as Python does it; None where an array takes part."""
        p, q = self.sequence_type(a), self.sequence_type(b)
        if p is None and q is None:
            return None
        if p is None or q is None:
            other = a if p is None else b
            if isinstance(other, ir.Var):
                if isinstance(other.kind, TupleOf):
                    whole = self.project(other)
                    return self.compare_sequences(
                        function, *((whole, b) if p is None else (a, whole))
                    )
                if not isinstance(other.kind, (Array, Scalar)):
                    return self.opaque(function, [a, b])  # it may be a tuple or list too
                if isinstance(other.kind, Array) or other.kind.python is not True:
                    return None  # an array compares with each item
        if p is q is list and isinstance(a, Ref) and isinstance(b, Ref):
            if (a.id in self.deques) != (b.id in self.deques):
                raise self.refuse(OR_DEQUE)
        if p is not q:
            if function in (operator.eq, operator.ne):
                return ir.Const(function is operator.ne)
            raise self.refuse(f"{described(a)} and {described(b)} can't be compared")
        things = [self.state.heap[v.id] if isinstance(v, Ref) else v for v in (a, b)]
        if any(isinstance(t, ListObject) and t.var is not None for t in things):
            operands = (self.operand(a), self.operand(b))
            return self.emit(function, operands, inferred=Inferred(BOOL))
        first, second = (Tuple(tuple(t.items)) for t in things)  # type: ignore[union-attr]
        if function in (operator.eq, operator.ne):
            equal = self.equal_tuples(first, second)
            return equal if function is operator.eq else self.negated(equal)
        return self.ordered_tuples(function, list(first.items), list(second.items))

    def compared_fields(self, function: Any, a: Value, b: Value) -> Value:
        """`a < b` and the like of instances of a dataclass."""
        thing, other = self.thing(a), self.thing(b)
        assert isinstance(thing, Instance)
        if not isinstance(other, Instance) or other.type is not thing.type:
            if function in (operator.eq, operator.ne):
                return ir.Const(function is operator.ne)
            raise self.fault(TypeError, f"a {thing.type.__name__} and this can't be compared")
        names = [f.name for f in dataclasses.fields(thing.type) if f.compare]
        first, second = (Tuple(tuple(self.attribute(v, n) for n in names)) for v in (a, b))
        if function in (operator.eq, operator.ne):
            equal = self.equal_tuples(first, second)
            return equal if function is operator.eq else self.negated(equal)
        return self.ordered_tuples(function, list(first.items), list(second.items))

    def sequence_type(self, value: Value) -> type | None:
        """list or tuple, if the value is one."""
        if isinstance(value, Tuple):
            return tuple
        thing = self.on_heap(value)
        if is_long(thing):
            return tuple
        return list if isinstance(thing, ListObject) else None

    def ordered_tuples(self, function: Any, a: list[Value], b: list[Value]) -> Value:
        """`a < b` and the like: the first items that differ decide."""
        if not a or not b:
            return ir.Const(function(len(a), len(b)))
        if self.holds_objects(a[0]) or self.holds_objects(b[0]):  # they are asked as by Python
            own = next(op for op, called in COMPARE.items() if called is function)()
            return self.either(
                self.truth(self.is_or_equals(a[0], b[0])),
                lambda: self.truth(self.ordered_tuples(function, a[1:], b[1:])),
                lambda: self.asked_late(lambda: self.compare(own, a[0], b[0])),
            )
        strict = operator.lt if function in (operator.lt, operator.le) else operator.gt
        op = gast.Lt() if strict is operator.lt else gast.Gt()

        def smaller_item() -> ir.Var | ir.Const:
            return self.truth(self.compare(op, a[0], b[0]))

        def later() -> Value:
            return self.ordered_tuples(function, a[1:], b[1:])

        unsure = any(is_none(v) or self.may_be_none(v) for v in (a[0], b[0]))
        functions = all(isinstance(v, (ir.Const, Closure, Bound)) for v in (a[0], b[0]))
        if unsure or (functions and not are_ordered(a[0], b[0])):  # two may be equal
            equal = self.truth(self.compare(gast.Eq(), a[0], b[0]))
            if isinstance(equal, ir.Const):
                return later() if equal.value else smaller_item()
            return self.truth(self.either(equal, lambda: self.truth(later()), smaller_item))
        smaller = smaller_item()
        if isinstance(smaller, ir.Const) and smaller.value:
            return TRUE
        equal = self.truth(self.compare(gast.Eq(), a[0], b[0]))
        if isinstance(equal, ir.Const) and not equal.value:
            return smaller
        pairs = zip(a[1:], b[1:], strict=False)
        if isinstance(equal, ir.Var) and not all(are_ordered(x, y) for x, y in pairs):
            return self.both(operator.or_, smaller, self.if_equal(equal, later))
        rest = later()
        if not isinstance(equal, ir.Const):
            rest = self.both(operator.and_, equal, rest)
        return self.both(operator.or_, smaller, rest)

    def holds_objects(self, value: Value) -> bool:
        """Whether a value may be an object of a user's class, or a tuple with one."""
        return any(
            any(map(self.holds_objects, v.items))
            if isinstance(v, Tuple) and v.type is tuple
            else self.user_class(v) is not None
            for v in options(value)
        )

    def if_equal(self, equal: ir.Var, rest: Callable[[], Value]) -> ir.Var | ir.Const:
        """What decides if items are equal, asked only then: it may raise."""
        return self.truth(self.either(equal, lambda: self.asked_late(rest), lambda: FALSE))

    def asked_late(self, question: Callable[[], Value]) -> Value:
        """The answer to what need never be asked, as of nodes behind priorities, and may raise."""
        try:
            return self.truth(question())
        except Raised as error:
            error.late = True
            raise

    def both(self, function: Any, a: Value, b: Value) -> Value:
        """`a and b` or `a or b` of two bools."""
        neutral = function is operator.and_
        for x, y in ((a, b), (b, a)):
            if isinstance(x, ir.Const):
                return y if bool(x.value) is neutral else x
        return self.emit(function, (self.operand(a), self.operand(b)))

    def equal_tuples(self, a: Tuple, b: Tuple) -> Value:
        if len(a.items) != len(b.items):
            return FALSE
        tests: list[ir.Var] = []
        for i, (x, y) in enumerate(zip(a.items, b.items, strict=True)):
            if self.same(x, y) and not are_other_nans(x, y):
                continue
            size = x.kind.size if isinstance(x, ir.Var) and isinstance(x.kind, Scalar) else None
            other = y.kind.size if isinstance(y, ir.Var) and isinstance(y.kind, Scalar) else None
            if size is not None and size == other:
                continue
            result = self.truth(self.equal_items(x, y))
            if isinstance(result, ir.Const):
                if not result.value:
                    return FALSE
                continue
            left = a.items[i + 1 :], b.items[i + 1 :]
            if all(map(is_comparable, (*left[0], *left[1]))):
                tests.append(result)
                continue
            rest = self.if_equal(result, functools.partial(self.equal_tuples, *map(Tuple, left)))
            if isinstance(rest, ir.Const):
                return FALSE
            tests.append(rest)
            break
        value: Value = TRUE
        for test in tests:
            value = test if value is TRUE else self.emit(operator.and_, (value, test))  # type: ignore[arg-type]
        return self.own_bool(self.truth(value))

    def tuple_or_none(self, value: Value) -> Value:
        """A tuple that may be None as one of two; any other value as it is."""
        if not isinstance(value, Tuple):
            return value
        self.ask_whether_missing(value)
        missing = value.missing
        return value if missing is None or missing in self.given_here else self.or_none(value)

    def identical(self, a: Value, b: Value) -> Value:
        if not is_none(a) and not is_none(b):
            a, b = self.tuple_or_none(a), self.tuple_or_none(b)
        for x, y in ((a, b), (b, a)):
            if isinstance(x, Choice):

                def use(option: Value, other: Value = y) -> Value:
                    return self.identical(option, other)

                return self.answered(x, use) or self.for_each(x, use)
        if isinstance(a, ir.Const) and isinstance(b, ir.Const):
            if a.value is not b.value and may_be_copies(a.value, b.value):
                raise self.may_be_one("values")
            return ir.Const(a.value is b.value)
        if any(isinstance(getattr(v, "kind", None), Reference) for v in (a, b)):
            return self.same_reference(a, b)
        if isinstance(a, Ref) or isinstance(b, Ref):
            return self.same_object(a, b)
        if isinstance(a, Tuple) and isinstance(b, Tuple):
            return self.same_tuple(a, b)
        for x, y in ((a, b), (b, a)):
            if isinstance(x, Tuple):
                self.ask_whether_missing(x)
                if x.missing is not None:
                    self.implied.setdefault(x.missing, (frozenset(), frozenset([x.missing])))
                    return x.missing if is_none(y) else FALSE
        for x, y in ((a, b), (b, a)):
            if isinstance(x, ir.Var):
                none = is_none(y)
                unknown = isinstance(x.kind, Opaque) or is_object(x.kind)
                if none and not x.optional and not unknown:
                    return FALSE
                if none and isinstance(x.kind, Opaque) and x.kind.type is type(None):
                    return TRUE
                array = isinstance(x.kind, Array) and x.kind.shape is not None
                if array and isinstance(y, ir.Const) and not none:
                    return FALSE
                if isinstance(x.kind, (Array, Scalar)) and is_no_number(y):
                    return FALSE
                if none:
                    return self.none_test(x)
                if isinstance(y, (ir.Var, ir.Const)):
                    if x is y:
                        return TRUE
                    if is_plain_number(x) and is_plain_number(y):
                        raise self.may_be_one("numbers")
                    if isinstance(y, ir.Const) and may_be_copies(y.value, y.value):
                        raise self.may_be_one("values")
                    return self.emit(operator.is_, (x, y), inferred=Inferred(BOOL))
        return ir.Const(a is b)

    def same_table(self, p: Instance, q: Instance) -> Value:
        """Whether two dicts or sets that exist at run time are one: each has its own lookup."""
        x, y = self.operand(p.items["where"]), self.operand(q.items["where"])
        return TRUE if x is y else self.emit(operator.is_, (x, y), inferred=Inferred(BOOL))

    def same_tuple(self, a: Tuple, b: Tuple) -> ir.Const:
        """`a is b` of two tuples; one that isn't fresh may be any that is equal to it."""
        if a.fresh and b.fresh:
            return ir.Const(a is b)
        if a.missing is None and b.missing is None:
            if a.type is not b.type or len(a.items) != len(b.items):
                return FALSE
            if a.type is tuple and not a.items:
                return TRUE
        raise self.may_be_one("tuples")

    def may_be_one(self, what: str) -> UnsupportedError:
        """The refusal to tell whether things that may be equal are one object."""
        return self.refuse(
            f"whether these {what} are one object isn't known when compiling",
            "compare their values, or where they are in a list: for i, item in enumerate(...)",
        )

    def same_object(self, a: Value, b: Value) -> Value:
        """`a is b` where one is an object on the abstract heap."""
        for x, y in ((a, b), (b, a)):
            if is_none(y) and self.is_optional(x):
                return self.none_test(self.operand(x))  # type: ignore[arg-type]
        if a != b and self.sequence_type(a) is self.sequence_type(b) is tuple:
            raise self.may_be_one("tuples")
        known = a == b or self.class_of(a) is not self.class_of(b)
        first, second = (None, None) if known else map(self.held_outside, (a, b))
        if first is not None and second is not None:  # the caller may have passed one object twice
            return self.emit(operator.is_, (first, second), inferred=Inferred(BOOL))
        p, q = self.on_heap(a), self.on_heap(b)
        if a == b or p is None or q is None:
            if (thing := p or q) is not None and thing.frozen is not None and (first or second):
                raise self.may_be_either(thing)
            return ir.Const(a == b)
        assert isinstance(a, Ref) and isinstance(b, Ref)
        if isinstance(p, ListObject) and isinstance(q, ListObject) and p.var and q.var:
            return self.emit(operator.is_, (p.var, q.var), inferred=Inferred(BOOL))
        if isinstance(p, Instance) and isinstance(q, Instance) and is_table(p) and p.type is q.type:
            return self.same_table(p, q)
        if a.id in self.records_of and b.id in self.records_of:
            which = [i for ref in (a, b) if (i := self.records_of[ref.id][1]) is not None]
            if len(which) == 2:
                operands = tuple(map(self.operand, which))
                return self.emit(operator.eq, operands, inferred=Inferred(BOOL), name="test")
            if (IDENTITY,) not in self.known_sites:
                raise NeedStatic(frozenset([(IDENTITY,)]), "which object this is", self.span)
        several = [t for t in (p, q) if t.frozen is not None]  # each of them one of several
        if type(p) is type(q) and (len(several) == 2 or (several and (first or second))):
            raise self.may_be_either(several[0])
        return FALSE

    def may_be_either(self, thing: Heap) -> Thaw:
        """What begins again where one of several objects may be another."""
        self.want_tables(thing)
        self.wants_table(thing)
        message = "whether these are the same object isn't known when compiling"
        return Thaw(thing.frozen, message, self.span, None)

    def class_of(self, value: Value) -> Any:
        """The class of an object on the abstract heap, or outside."""
        thing = self.on_heap(value)
        if isinstance(thing, ListObject):
            return list
        return type(getattr(value, "value", None)) if thing is None else thing.type

    def held_outside(self, value: Value) -> ir.Operand | None:
        """The operand that is an object which the caller has, or which is found outside."""
        if isinstance(value, Ref):
            return self.outside(value)
        if isinstance(value, Place) and value.path is not None and self.on_free is not None:
            return self.operand(self.on_free(value.path, value.value))
        return None

    def any_or_all(self, any_of: bool, tests: Iterable[Value]) -> Value:
        """Whether any of some tests holds, or all do; they are made until one decides it."""
        function = operator.or_ if any_of else operator.and_
        result: Value = ir.Const(not any_of)
        for test in tests:
            if isinstance(test, ir.Const):
                if bool(test.value) is any_of:
                    return ir.Const(any_of)
            elif isinstance(result, ir.Const):
                result = test
            else:
                result = self.emit(function, (self.operand(result), self.operand(test)))
        return result

    def are_objects_among(self, items: Value, value: Value) -> bool:
        """Whether objects are asked if they are equal, where a value is looked for among items."""
        found = self.known_items(items) if self.is_sequence(items) else None
        return any(
            self.user_class(option) for v in (value, *(found or ())) for option in options(v)
        )

    def equal_items(self, item: Value, value: Value) -> Value:
        """Whether items are equal as containers ask it: what is the same is, even if it is nan."""
        if isinstance(item, ir.Const) and isinstance(value, ir.Const):
            same = item.value is value.value
        else:
            same = isinstance(item, ir.Var) and item is value and is_array_or_number(item.kind)
        return TRUE if same else self.compare(gast.Eq(), item, value)

    def is_or_equals(self, item: Value, value: Value) -> Value:
        """Whether an item is what is looked for; an object that is the same isn't asked."""
        if isinstance(item, Choice):
            return self.for_each(item, lambda option: self.is_or_equals(option, value))
        if isinstance(value, Choice):
            return self.for_each(value, lambda option: self.is_or_equals(item, option))

        def equal() -> Value:
            return self.boolean(self.equal_items(item, value))

        if self.user_class(item) is None or self.user_class(value) is None:
            return equal()
        return self.either(self.truth(self.identical(item, value)), lambda: TRUE, equal)

    def is_run_text(self, value: Value) -> bool:
        """Whether a value is a text that only the run tells."""
        text = isinstance(value, ir.Var) and value.kind == Opaque(str)
        return text and not self.specialisable(value.origins)  # type: ignore[union-attr]

    def goes_by_itself(self, value: Value) -> bool:
        """Whether a value is an iterator, which what looks for an item in it uses up."""
        if isinstance(value, (Generator, Sequence)) or self.is_cursor(value):
            return True
        thing = self.on_heap(value)
        return isinstance(thing, Instance) and all(
            has is bool(self.class_attribute(thing.type, name))
            for name, has in (("__next__", True), ("__contains__", False))
        )

    def contains(self, container: Value, item: Value) -> Value:
        container = self.spread(self.tuple_or_none(container))
        if is_none(container):
            raise self.fault_of_none(TypeError, "is not iterable")
        if isinstance(container, Choice):

            def holds(option: Value) -> Value:
                return self.contains(option, item)

            dicts = all(isinstance(self.on_heap(o), DictObject) for o in container.options)
            answer = (
                self.answered(container, holds) if dicts and isinstance(item, ir.Const) else None
            )
            return answer or self.for_each(container, holds)
        if isinstance(container, Journal):
            return self.journal_has(container, item)
        if self.goes_by_itself(container):
            source = container

            def run(body: Callable[[Value], None]) -> None:
                self.iterate(source, lambda other: body(self.is_or_equals(other, item)))

            return self.call(ir.Const(any), [Generator(run)], {})
        if isinstance(container, Ref):
            thing = self.state.heap[container.id]
            if isinstance(thing, DictObject):
                self.insist_on_hash(item)
                if isinstance(item, ir.Var) and not item.origins:  # a number known at run time
                    self.settled_keys(thing)
                    keys = [self.lift(k, None) for k in thing.items]
                    return self.contains(Tuple(tuple(keys)), item)
                if self.asks_at_run_time(container, item):
                    return self.contains(container, item)
                found = thing.items.get(self.hashed(item))
                if isinstance(found, Poison):
                    self.known("", found)
                return ir.Const(self.hashed(item) in thing.items)
            if isinstance(thing, Instance):
                found = self.class_attribute(thing.type, "__contains__")
                if found is not None:
                    return self.call(Bound(found, container), [item], {})
            if isinstance(thing, ListObject) and thing.var is None:
                return self.contains(Tuple(thing.items), item)
        if isinstance(container, Tuple) and self.are_objects_among(container, item):
            return self.inline(running.holds, [container, item], {})
        if isinstance(container, Tuple):
            tests = (self.equal_items(item, other) for other in container.items)
            return self.own_bool(self.truth(self.any_or_all(True, tests)))
        if isinstance(container, ir.Const) and isinstance(container.value, types.MappingProxyType):
            return self.contains(self.call(self.attribute(container, "keys"), [], {}), item)
        if isinstance(container, ir.Const) and not is_settled(container):
            if is_written(container, "__contains__"):
                return self.call(self.attribute(container, "__contains__"), [item], {})
            operands = (container, self.operand(item))
            return self.emit(operator.contains, operands, inferred=Inferred(BOOL), effect=True)
        if isinstance(container, ir.Const) and not (is_text(container) and self.is_run_text(item)):
            try:
                return ir.Const(self.key(item) in container.value)
            except TypeError:
                pass
        if isinstance(container, ir.Var) and isinstance(container.kind, Reference):
            lacking = "argument of type {} is not iterable"
            return self.by_class(container, "__contains__", [item], lacking)
        return self.emit(
            operator.contains,
            (self.operand(container), self.operand(item)),
            inferred=Inferred(BOOL),
        )

    def insist_on_hash(self, value: Value) -> None:
        """Raise what the hash of an array raises; what may be a number is asked which it is."""
        if not isinstance(value, ir.Var) or not isinstance(value.kind, Array):
            return
        test = self.identical(value, NONE)
        if value.kind.shape is None:
            test = self.negated(self.class_test(value, np.ndarray))
        self.insist(test, TypeError, "unhashable type: 'numpy.ndarray'")


def is_array_or_number(kind: Kind) -> bool:
    """Whether a value surely is an array or number, no object of whose class more is known."""
    return isinstance(kind, (Array, Scalar)) and not is_object(kind)


def are_other_nans(a: Value, b: Value) -> bool:
    """Whether two constants are nan, and not the same object."""
    if not isinstance(a, ir.Const) or not isinstance(b, ir.Const):
        return False
    return a.value is not b.value and is_nan(a.value)


def is_nan(value: Any) -> bool:
    return isinstance(value, (float, complex, np.inexact)) and bool(value != value)


def may_be_copies(a: Any, b: Any) -> bool:
    """Whether two values are equal that Python keeps once or twice, as it likes.

    >>> may_be_copies("full", "full"), may_be_copies(1.5, 1.5), may_be_copies(2, 2)
    (True, True, True)
    >>> may_be_copies(1.5, 2.5), may_be_copies(1, True), may_be_copies(None, None)
    (False, False, False)
    """
    return type(a) is type(b) and type(a) in (str, bytes, int, float, complex) and bool(a == b)


def is_plain_number(value: Any) -> bool:
    """Whether a value is a number, of which Python makes a new object each time: no bool."""
    if isinstance(value, ir.Var):
        dtype = value.kind.dtype if isinstance(value.kind, Scalar) else np.dtype(bool)
        return dtype is None or dtype.kind != "b"
    number = isinstance(value, ir.Const) and isinstance(value.value, (numbers.Number, np.generic))
    return number and not isinstance(value.value, (bool, np.bool_))


def is_no_number(value: Any) -> bool:
    """Whether a value is known to be something else than a number, an array or None: a sentinel."""
    numeric = (numbers.Number, np.generic, np.ndarray, type(None), ir.Undefined)
    return isinstance(value, ir.Const) and not isinstance(value.value, numeric)


def is_plain_object(thing: Any) -> bool:
    """Whether something is equal to nothing but itself."""
    return all(getattr(type(thing), n) is getattr(object, n) for n in ("__eq__", "__ne__"))


def are_ordered(a: Value, b: Value) -> bool:
    """Whether it can be asked which of two values is less: both are real numbers, or texts."""
    if isinstance(a, Tuple) and isinstance(b, Tuple):
        pairs = zip(a.items, b.items, strict=False)
        return a.missing is b.missing is None and all(are_ordered(x, y) for x, y in pairs)
    return all(map(is_real, (a, b))) or all(is_comparable(v) and is_text(v) for v in (a, b))


def is_real(value: Value) -> bool:
    """Whether a value is surely a real number."""
    if isinstance(value, ir.Var):
        return isinstance(value.kind, Scalar) and not value.optional and not is_complex(value.kind)
    return isinstance(value, ir.Const) and isinstance(value.value, numbers.Real)


def is_comparable(value: Value) -> bool:
    """Whether a value can be asked if it is equal to another one, which is a bool then."""
    if isinstance(value, Tuple):
        return value.missing is None and all(map(is_comparable, value.items))
    if isinstance(value, ir.Const):
        return isinstance(value.value, SIMPLE)
    kind = value.kind if isinstance(value, ir.Var) and not value.optional else None
    return isinstance(kind, Scalar) or kind == Opaque(str)
