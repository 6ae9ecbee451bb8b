"""Operators: of numbers, arrays, containers and objects of user classes."""

from __future__ import annotations

import operator
from collections.abc import Callable
from types import FunctionType, GenericAlias, UnionType
from typing import Any

import gast
import numpy as np

from .. import ir
from ..analysis.alternatives import classes_of_kind
from ..analysis.inference import Inferred
from ..kinds import SHAPE, Array, ListOf, Opaque, Scalar, TupleOf, is_float
from ..packages import of_class, told
from ..rules import registry
from .choices import options
from .outer_objects import OuterObjects
from .powers import check_power
from .predicates import (
    SIMPLE,
    is_asked,
    is_number,
    is_range,
    is_static,
    is_users,
    leaf_kind,
    shape_of,
)
from .structure import folded, is_long
from .subclasses import added_by
from .values import (
    Bound,
    Choice,
    Closure,
    DictObject,
    Instance,
    ListObject,
    Place,
    Ref,
    Tuple,
    Value,
)
from .wording import described, object_type

# By what a class says that the operators of arrays leave theirs to it, or ask it
LEFT_TO_THEM = frozenset({"__array_ufunc__", "__array_priority__"})
# What NumPy asks an object for that may stand for an array
ARRAY_LIKE = ("__array__", "__array_interface__", "__array_struct__", "__buffer__")
BINARY: dict[type, Callable[..., Any]] = {
    gast.Add: operator.add,
    gast.Sub: operator.sub,
    gast.Mult: operator.mul,
    gast.Div: operator.truediv,
    gast.FloorDiv: operator.floordiv,
    gast.Mod: operator.mod,
    gast.Pow: operator.pow,
    gast.MatMult: operator.matmul,
    gast.BitAnd: operator.and_,
    gast.BitOr: operator.or_,
    gast.BitXor: operator.xor,
    gast.LShift: operator.lshift,
    gast.RShift: operator.rshift,
}

INPLACE: dict[Any, Callable[..., Any]] = {
    operator.add: operator.iadd,
    operator.sub: operator.isub,
    operator.mul: operator.imul,
    operator.truediv: operator.itruediv,
    operator.floordiv: operator.ifloordiv,
    operator.mod: operator.imod,
    operator.pow: operator.ipow,
    operator.matmul: operator.imatmul,
    operator.and_: operator.iand,
    operator.or_: operator.ior,
    operator.xor: operator.ixor,
    operator.lshift: operator.ilshift,
    operator.rshift: operator.irshift,
}

UNARY: dict[type, Callable[..., Any]] = {
    gast.USub: operator.neg,
    gast.UAdd: operator.pos,
    gast.Invert: operator.invert,
}

DUNDER = {
    operator.add: "add",
    operator.sub: "sub",
    operator.mul: "mul",
    operator.truediv: "truediv",
    operator.floordiv: "floordiv",
    operator.mod: "mod",
    operator.pow: "pow",
    operator.matmul: "matmul",
    operator.and_: "and",
    operator.or_: "or",
    operator.xor: "xor",
    operator.lshift: "lshift",
    operator.rshift: "rshift",
    operator.lt: "lt",
    operator.le: "le",
    operator.gt: "gt",
    operator.ge: "ge",
    operator.eq: "eq",
    operator.ne: "ne",
    divmod: "divmod",
}

# Comparisons, and what the other operand is asked where the first has no answer
SWAPPED = {"lt": "gt", "gt": "lt", "le": "ge", "ge": "le", "eq": "eq", "ne": "ne"}

TEXT = Inferred(Opaque(str))


class Operators(OuterObjects):
    """Evaluates operators."""

    def expression_BinOp(self, node: Any) -> Value:
        left, right = self.expression(node.left), self.expression(node.right)
        return self.binary(BINARY[type(node.op)], left, right)

    def binary(self, function: Callable[..., Any], a: Value, b: Value) -> Value:
        """Apply a binary operator."""
        a, b = self.spread(self.tuple_or_none(a)), self.spread(self.tuple_or_none(b))
        if isinstance(a, Choice):
            return self.for_each(a, lambda o: self.binary(function, o, b))
        if isinstance(b, Choice):
            return self.for_each(b, lambda o: self.binary(function, a, o))
        a, b = self.followed(a), self.followed(b)
        if isinstance(a, ir.Const) and isinstance(b, ir.Const):
            if isinstance(a.value, SIMPLE) and isinstance(b.value, SIMPLE):
                try:
                    return ir.Const(function(a.value, b.value))
                except Exception as error:
                    if self.trying is not None:
                        raise self.raised_by_python(error) from None
            if function is operator.or_ and are_types(a.value, b.value):
                return ir.Const(a.value | b.value)
            of_known = folded(function, (a, b), {})
            if of_known is not None:
                return of_known
        if self.converts(function, a, b):
            b = self.call_object(np.asarray, [b], {})
        elif self.container_class(a) is not None or self.container_class(b) is not None:
            special = self.dunder(function, a, b)
            if special is not None:
                return special
        if function is operator.add:
            joined = self.concatenated(a, b)
            if joined is not None:
                return joined
        if function is operator.mul:
            for x, y in ((a, b), (b, a)):
                repeated = self.repeated(x, y)
                if repeated is not None:
                    return repeated
                if self.is_sequence(x) and is_number(y):
                    raise self.fault(TypeError, "can't multiply a sequence by this number")
        if function is operator.mod and (is_text(a) or isinstance(getattr(a, "value", None), str)):
            b = self.unlinked(b)
            if isinstance(b, Choice):
                return self.for_each(b, lambda o: self.binary(function, a, o))
        if function is operator.mod and isinstance(a, ir.Const) and isinstance(a.value, str):
            items = b.items if isinstance(b, Tuple) else (b,)
            if is_long(self.on_heap(b)):
                return self.emit(str.__mod__, (a, self.operand(b)), inferred=TEXT)
            for item in items:
                self.check_wording(item)
            if "%(" not in a.value:
                texts = [self.own_text(item, "__str__") for item in items]
                if "%r" in a.value and any(text is not None for text in texts):
                    raise self.refuse("what %r makes of this can't be followed", "use an f-string")
                items = tuple(i if t is None else t for i, t in zip(items, texts, strict=True))
            known = [i.value for i in items if isinstance(i, ir.Const) and not is_asked(i)]
            if len(known) == len(items):
                try:
                    return ir.Const(a.value % tuple(known))
                except (TypeError, ValueError) as error:
                    raise self.raised_by_python(error) from None
            named = self.operand(Tuple(items))
            return self.emit(str.__mod__, (a, named), inferred=TEXT)
        if function is operator.mod and is_text(a):
            for item in b.items if isinstance(b, Tuple) else (b,):
                self.check_wording(item)
                if self.own_text(item, "__str__") is not None:
                    raise self.refuse(
                        "what a text that isn't known makes of this can't be followed",
                        "use an f-string",
                    )
            return self.emit(str.__mod__, (self.operand(a), self.operand(b)), inferred=TEXT)
        if (function is operator.add and is_text(a) and is_text(b)) or (
            function is operator.mul and (is_text(a) or is_text(b))
        ):
            return self.emit(function, (self.operand(a), self.operand(b)), inferred=TEXT)
        special = self.dict_operator(function, a, b)
        if special is None:
            special = self.of_array_and_object(function, a, b)
        if special is None:
            special = self.dunder(function, a, b)
        if special is not None:
            return special
        for x, y in ((a, b), (b, a)):
            if self.is_sequence(x) and (self.is_sequence(y) or not self.takes_lists(y)):
                raise self.fault(TypeError, "this operator isn't defined for these types")
            if self.is_sequence(x) and isinstance(y, ir.Var):
                self.insist_on_numpy(y)
        self.check_defined(DUNDER.get(function), a, b)
        a, b = self.range_as_array(a, b), self.range_as_array(b, a)
        operands = (self.operand(a), self.operand(b))
        if not any(isinstance(o, ir.Var) and isinstance(o.kind, Opaque) for o in operands):
            operands = (self.number(a), self.number(b))
        self.check_objects(function, operands)
        if self.trying is not None:
            self.guard(function, operands, {})
        check_power(self, function, operands)
        fails = any(isinstance(o, ir.Const) and o.value is None for o in operands)
        shape = any(isinstance(o, ir.Var) and o.kind == SHAPE for o in operands)
        inferred = Inferred(SHAPE) if shape and function in (operator.add, operator.mul) else None
        return self.project(self.emit(function, operands, inferred=inferred, effect=fails))

    def check_defined(self, name: str | None, *operands: Value) -> None:
        """Raise what an operator does beside an object whose class has no use for it."""
        if name is None or any(
            isinstance(v, ir.Var) and isinstance(v.kind, Opaque) for v in operands
        ):
            return  # the class of the other one may have one
        of_numpy = any(map(is_of_numpy, operands))
        refs = [value for value in operands if isinstance(value, Ref)]
        for cls in (cls for ref in refs for cls in self.object_classes(ref)):
            if not is_users(cls) or (of_numpy and not is_kept(cls)):
                continue
            methods = (f"__{name}__", reflected(name))
            written = all(
                f is None or isinstance(f, (FunctionType, Closure)) or f is told(object, method)
                for method in methods
                for f in (of_class(cls, method),)
            )
            if written and of_class(cls, "__index__") is None:
                raise self.fault(TypeError, f"this operator isn't defined for {cls.__name__}")

    def check_objects(self, function: Callable[..., Any], operands: tuple[ir.Operand, ...]) -> None:
        """Refuse an operator that the class of an object found at run time defines as it likes."""
        kinds = [o.kind for o in operands if isinstance(o, ir.Var)]
        name = DUNDER.get(function)
        for kind in kinds:
            if name is None or not isinstance(kind, Opaque) or kind.type in (None, tuple):
                continue
            if has_method(kind.type, f"__{name}__") or has_method(kind.type, f"__r{name}__"):
                if any(isinstance(k, (Array, Scalar)) for k in kinds):
                    raise self.refuse(
                        f"this operator of a {kind.type.__name__} can't be followed",
                        "the object comes from a function that srcgrad doesn't look into",
                    )

    def followed(self, value: Value) -> Value:
        """A list of which the compiler only knows the object, as one that it keeps track of."""
        if isinstance(value, ir.Const) and isinstance(value.value, list):
            return self.new(ListObject(tuple(self.lift(item, None) for item in value.value)))
        return value

    def concatenated(self, a: Value, b: Value) -> Value | None:
        if isinstance(a, Tuple) and isinstance(b, Tuple):
            return Tuple(a.items + b.items)
        long: Value | None = self.joined_tuples(a, b)
        if long is not None:
            return long
        if isinstance(a, Ref) and isinstance(b, Ref):
            p, q = self.state.heap[a.id], self.state.heap[b.id]
            if isinstance(p, ListObject) and isinstance(q, ListObject) and p.type is not tuple:
                if p.var is None and q.var is None:
                    return self.new(ListObject(p.items + q.items))
                ref = self.new(ListObject(()))
                for part in (a, b):
                    self.extend(ref, part)
                return ref
        return None

    def repeated(self, a: Value, b: Value) -> Value | None:
        if not isinstance(b, (ir.Const, ir.Var)) or not self.is_sequence(a):
            return None
        if isinstance(a, Tuple) and isinstance(b, ir.Const) and isinstance(b.value, int):
            return Tuple(a.items * b.value)
        kind = leaf_kind(b)
        if not isinstance(kind, Scalar) or kind.dtype.kind not in "iub":
            return None
        items = self.known_items(a)
        if items is not None and isinstance(b, ir.Const) and len(items) * b.value <= 64:
            return self.new(ListObject(items * b.value))
        if items is None or len(items) != 1 or (isinstance(a, Tuple) and may_index(items[0])):
            asked = items is not None and isinstance(b, ir.Var) and b.origins
            if asked or isinstance(a, Tuple):
                what = "tuple" if isinstance(a, Tuple) else "list of several items"
                self.need_static(b, f"a {what} repeated an unknown number of times")
            joined = self.new(ListObject(()))
            self.iterate(self.builtin_range(b), lambda _: self.extend(joined, a))
            return self.long_tuple(joined) if is_long(self.on_heap(a)) else joined
        made = self.listed(self.counted(b), lambda i: items[0])
        thing = self.state.heap[made.id]
        if isinstance(thing, ListObject) and thing.var is not None and isinstance(b, ir.Var):
            thing.var.origins |= b.origins  # knowing it, the items would be known
        return made

    def known_items(self, sequence: Value) -> tuple[Value, ...] | None:
        """The items of a tuple, or of a list whose length is known."""
        if isinstance(sequence, Tuple):
            return sequence.items
        assert isinstance(sequence, Ref)
        thing = self.state.heap[sequence.id]
        assert isinstance(thing, ListObject)
        return tuple(thing.items) if thing.var is None else None

    def is_sequence(self, value: Value) -> bool:
        """Whether a value is a tuple or a list that the compiler keeps track of."""
        if isinstance(value, Ref):
            return isinstance(self.state.heap[value.id], ListObject)
        return isinstance(value, Tuple)

    def is_python_number(self, value: Value) -> bool:
        """Whether a value is a number for which a list isn't as good as an array."""
        if isinstance(value, ir.Const):
            return type(value.value) in (bool, int, float, complex)
        return (
            isinstance(value, ir.Var)
            and isinstance(value.kind, Scalar)
            and value.kind.python is not False
        )

    def takes_lists(self, value: Value) -> bool:
        """Whether a list beside a value may be an array: not beside Python's numbers or None."""
        if isinstance(value, ir.Const):
            return isinstance(value.value, (np.generic, np.ndarray))
        return not self.is_python_number(value)

    def makes_an_array(self, function: Callable[..., Any], value: Value) -> bool:
        """Whether a list `op=` a value is another thing: Python asks the operators of numbers
        first, which lists haven't, but arrays have. A number of NumPy's repeats the list."""
        if not is_of_numpy(value):
            return False
        assert isinstance(value, (ir.Var, ir.Const))
        return function is not operator.mul or shape_of(value) != ()

    def insist_on_numpy(self, value: ir.Var) -> None:
        """Ask what is beside a list if it is a number of Python's, for which there is no array."""
        python, numpy = {bool, int, float, complex}, (np.ndarray, np.generic)
        if (classes_of_kind(value.kind) or set()) & python and not self.fixed_span:
            self.insist(
                self.class_test(value, numpy),
                TypeError,
                "this operator isn't defined for a list and a number",
            )

    def range_as_array(self, value: Value, other: Value) -> Value:
        """An operand; a range beside an array, or a number of NumPy's, is an array to it."""
        if is_range(value) and is_of_numpy(other):
            return self.call(Place(np.asarray), [value], {})
        return value

    def counted(self, length: Value) -> Value:
        return length

    def dunder(self, function: Callable[..., Any], a: Value, b: Value) -> Value | None:
        """Operators of user classes."""
        name = DUNDER.get(function)
        if name is None or self.converts(function, a, b):
            return None
        ways = [(a, b, f"__{name}__"), (b, a, reflected(name))]
        first, second = (
            type(v.value) if isinstance(v, ir.Const) else self.user_class(v) for v in (a, b)
        )
        if first is not None and second is not None and first is not second:
            methods = (of_class(c, reflected(name)) for c in (first, second))
            if issubclass(second, first) and (name in SWAPPED or len(set(methods)) == 2):
                ways.reverse()  # a subclass that knows better is asked first
        for x, y, method in ways:
            cls = self.user_class(x)
            if cls is not None:
                found = self.class_attribute(cls, method)
                opposite = found is None and name == "ne"
                if opposite:
                    found = self.class_attribute(cls, "__eq__")
                if self.container_class(x) is not None and not isinstance(
                    getattr(found, "value", found), (FunctionType, Closure)
                ):
                    continue
                if hasattr(cls, "__dataclass_fields__") and is_generated(found):
                    return self.compared_fields(function, x, y)
                if found is not None:
                    result = self.call(Bound(found, x), [y], {})
                    if not self.is_declined(result):
                        return self.negated(result) if opposite else result
            elif has_operator(x, method):
                result = self.call(self.attribute(x, method), [y], {})
                if not self.is_declined(result):
                    return result
            known = registry.member(object_type(x), method)
            if known is not None:
                return self.call(Bound(Place(known), x), [y], {})
        return None

    def is_declined(self, result: Value) -> bool:
        """Whether a method has no answer for the operands that it was given.

        Raises:
            UnsupportedError: it has one or none, as the run says.
        """
        if isinstance(result, ir.Const):
            return result.value is NotImplemented
        for option in options(result):
            of_run = getattr(option, "kind", None) == Opaque(type(NotImplemented))
            if of_run or getattr(option, "value", None) is NotImplemented:
                raise self.refuse(
                    "whether this operator is NotImplemented depends on the run",
                    "raise a TypeError instead",
                )
        return False

    def user_class(self, value: Value) -> type | None:
        """The class of an instance of a user's class, or of a user's kind of tuple or list."""
        thing = self.thing(value)
        return thing.type if isinstance(thing, Instance) else self.container_class(value)

    def container_class(self, value: Value) -> type | None:
        """The user's class of a tuple or list that isn't a plain one."""
        thing = self.on_heap(value)
        if isinstance(value, Tuple):
            return None if value.type is tuple else value.type
        own = isinstance(thing, ListObject) and thing.type not in (list, tuple)
        return thing.type if own else None

    def converts(self, function: Callable[..., Any], a: Value, b: Value) -> bool:
        """Whether an operator makes an array of the tuple, list or object on its right.

        Those of NumPy's arrays and numbers do, whatever its class defines, unless that says that
        they don't know of it.
        """
        if not isinstance(a, (ir.Var, ir.Const)):
            return False
        cls, name = self.container_class(b), DUNDER.get(function)
        if cls is not None:
            added = added_by(cls)
            if not added.keys() & {f"__{name}__", f"__r{name}__"}:
                return False
            if added.keys() & LEFT_TO_THEM:
                return False
        elif self.is_array_like(b):
            cls = self.object_classes(b)[0]
        else:
            return False
        if isinstance(a, ir.Var) and isinstance(a.kind, Scalar) and a.kind.python is None:
            raise self.refuse(
                f"whether this operator is that of {cls.__name__} depends on whether the number is "
                "NumPy's",
                "write float(...), or np.float64(...)",
            )
        return is_of_numpy(a)

    def number(self, value: Value) -> ir.Operand:
        """An operand for arithmetic: a list or tuple of numbers becomes an array."""
        operand = self.operand(value)
        if isinstance(operand, ir.Pack) and operand.type in (tuple, list):
            return self.emit(np.array, (operand,))
        if isinstance(operand, ir.Var) and isinstance(operand.kind, (ListOf, TupleOf)):
            return self.emit(np.array, (operand,))
        return operand

    def expression_UnaryOp(self, node: Any) -> Value:
        value = self.expression(node.operand)
        if isinstance(node.op, gast.Not):
            return self.negated(value)
        return self.unary(UNARY[type(node.op)], value)

    def unary(self, function: Callable[..., Any], value: Value) -> Value:
        """Apply a unary operator."""
        value = self.spread(value)
        if isinstance(value, Choice):
            return self.for_each(value, lambda o: self.unary(function, o))
        if isinstance(value, ir.Const) and isinstance(value.value, SIMPLE):
            try:
                return ir.Const(function(value.value))
            except TypeError as error:
                raise self.raised_by_python(error) from None
        name = {operator.neg: "__neg__", operator.pos: "__pos__"}.get(function, "__invert__")
        thing = self.thing(value)
        if isinstance(thing, Instance):
            found = self.class_attribute(thing.type, name)
            if found is not None:
                return self.call(Bound(found, value), [], {})
        counted = self.counter_operator(name, value)
        if counted is not None:
            return counted
        if has_operator(value, name):
            return self.call(self.attribute(value, name), [], {})
        own = self.container_class(value)
        added = None if own is None else self.added_attribute(value, own, name)
        if added is not None:
            return self.call(added, [], {})
        self.check_defined(name.strip("_"), value)
        listed = isinstance(getattr(value, "kind", None), (ListOf, TupleOf))
        if listed or isinstance(value, Tuple) or isinstance(thing, (ListObject, DictObject)):
            raise self.fault(TypeError, f"{described(value)} has no unary operators")
        operand = self.number(value)
        if self.trying is not None:
            self.guard(function, (operand,), {})
        return self.emit(function, (operand,))


def reflected(name: str) -> str:
    """The method of the second operand that an operator asks.

    >>> reflected("add"), reflected("lt")
    ('__radd__', '__gt__')
    """
    return f"__{SWAPPED[name]}__" if name in SWAPPED else f"__r{name}__"


def is_kept(cls: type) -> bool:
    """Whether NumPy keeps the objects of a class in arrays as they are.

    >>> class Particle:
    ...     pass
    >>> is_kept(Particle), is_kept(dict), is_kept(np.ndarray)
    (True, False, False)
    """
    has_items = hasattr(cls, "__len__") and hasattr(cls, "__getitem__")
    return not has_items and not any(hasattr(cls, name) for name in ARRAY_LIKE)


def is_of_numpy(value: Value) -> bool:
    """Whether a value is an array or a number of NumPy's, whose operators take lists for arrays."""
    if isinstance(value, ir.Const):
        return isinstance(value.value, (np.ndarray, np.generic))
    kind = value.kind if isinstance(value, ir.Var) else None
    return isinstance(kind, Array) or (isinstance(kind, Scalar) and kind.python is False)


def are_types(*values: Any) -> bool:
    """Whether `|` of these is the type of either, as in `isinstance(x, int | float)`.

    >>> are_types(int, None), are_types(1, 2)
    (True, False)
    """
    found = [v for v in values if v is not None]
    return bool(found) and all(
        type(v).__or__ is type.__or__
        if isinstance(v, type)
        else isinstance(v, (UnionType, GenericAlias))
        for v in found
    )


def is_text(value: Value) -> bool:
    return isinstance(value, (ir.Var, ir.Const)) and leaf_kind(value) == TEXT.kind


def may_index(value: Value) -> bool:
    """Whether a tuple of this may be an index, which a list of it isn't."""
    if isinstance(value, ir.Const):
        return type(value.value) not in (float, complex, str)
    return not isinstance(value, ir.Var) or not is_float(value.kind)


def has_operator(value: Value, method: str) -> bool:
    """Whether an object outside, neither a number nor an array, has an operator of its own."""
    if not isinstance(value, ir.Const) or not isinstance(leaf_kind(value), Opaque):
        return False
    return has_method(type(value.value), method)


def has_method(cls: type, name: str) -> bool:
    """Whether a class says in Python what a method does.

    What a library defines doesn't count: the operators of its numbers (`fractions`) are arithmetic.
    """
    found = of_class(cls, name)
    written = isinstance(found, FunctionType) and not is_generated(ir.Const(found))
    return written and not is_static(cls.__module__)


def is_generated(found: Value | None) -> bool:
    """Whether a method was made by `dataclass`, so that it has no source."""
    code = getattr(getattr(found, "value", None), "__code__", None)
    return code is not None and code.co_filename == "<string>"
