"""Lowering of expressions: names, constants, operators, subscripts, attributes."""

from __future__ import annotations

import builtins
import collections
import operator
import sys
import types
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import gast
import numpy as np

from .. import ir
from ..analysis.inference import Inferred
from ..errors import UnsupportedError
from ..kinds import BOOL, Array, Kind, ListOf, Opaque, Scalar, Size, TupleOf, fresh_size, kind_of
from ..rules import registry
from .builder import (
    FALSE,
    NONE,
    TRUE,
    Builder,
    Poison,
    describe,
    is_none,
    leaf_kind,
    list_append,
)
from .names import Namespace, Scope
from .values import (
    Bound,
    Closure,
    DictObject,
    Generator,
    Instance,
    ListObject,
    Materialize,
    NeedStatic,
    Partial,
    Path,
    Place,
    Ref,
    Sequence,
    Slice,
    Tuple,
    Unbound,
    Value,
    layout,
)

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
COMPARE: dict[type, Callable[..., Any]] = {
    gast.Lt: operator.lt,
    gast.LtE: operator.le,
    gast.Gt: operator.gt,
    gast.GtE: operator.ge,
    gast.Eq: operator.eq,
    gast.NotEq: operator.ne,
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
    operator.lt: "lt",
    operator.le: "le",
    operator.gt: "gt",
    operator.ge: "ge",
    operator.eq: "eq",
    operator.ne: "ne",
}
SIMPLE = (int, float, complex, bool, str, bytes, type(None))
STATIC_MODULES = frozenset({"numpy", "scipy", "math", "cmath", "builtins"})


@dataclass(eq=False, slots=True)
class Frame:
    """A function being run by lowering: its scope, and where its outer names come from."""

    scope: Scope
    source: Any
    namespace: Namespace
    parent: int | None = None
    owner: Any = None
    receiver: Any = None
    name: str = ""
    comprehension: bool = False
    consumer: Any = None  # of a generator: the frame that consumes it, and what it does


class Expressions(Builder):
    """Evaluates expression nodes to abstract values."""

    def __init__(self) -> None:
        super().__init__()
        self.frames: dict[int, Frame] = {}
        self.free: dict[Path, ir.Var] = {}
        self.free_kinds: dict[Path, Kind] = {}
        self.static_paths: dict[Path, Any] = {}
        self.guards: dict[Path, Any] = {}
        self.on_free: Callable[[Path, Any], Value] | None = None
        self.known_sites: frozenset[Any] = frozenset()  # what must be known, and so is
        self.site = 0  # the expression being evaluated

    # What stands in other modules of the frontend.

    def call(self, function: Value, args: list[Value], kwargs: dict[str, Value]) -> Value:
        raise NotImplementedError

    def comprehension(self, node: Any) -> Value:
        raise NotImplementedError

    def sequence(self, value: Value) -> Sequence | None:
        raise NotImplementedError

    def list_of_items(self, value: Value) -> Value:
        raise NotImplementedError

    def generator_expression(self, node: Any) -> Value:
        raise NotImplementedError

    def yielded(self, value: Value) -> None:
        raise NotImplementedError

    def iterate(self, iterable: Value, body: Callable[[Value], None], name: str = "i") -> None:
        raise NotImplementedError

    # Evaluation

    def expression(self, node: Any) -> Value:
        """The value of an expression node."""
        method = getattr(self, "expression_" + type(node).__name__, None)
        before, site = self.span, self.site
        self.site = id(node)
        if not self.fixed_span:
            self.span = self.frames[self.current].source.span(node)
        if method is None:
            raise self.refuse(f"{type(node).__name__} isn't supported")
        value = method(node)
        self.site = site
        if not self.fixed_span:
            self.span = before
        return value  # type: ignore[no-any-return]

    def at(self, node: Any) -> None:
        if not self.fixed_span:
            self.span = self.frames[self.current].source.span(node)

    def expression_Constant(self, node: Any) -> Value:
        return ir.Const(node.value)

    def expression_Tuple(self, node: Any) -> Value:
        return Tuple(tuple(self.items(node.elts)))

    def expression_List(self, node: Any) -> Value:
        return self.new(ListObject(tuple(self.items(node.elts))))

    def expression_Set(self, node: Any) -> Value:
        items = {self.key(item): item for item in self.items(node.elts)}
        return self.new(DictObject(dict(items), None, True))

    def expression_Dict(self, node: Any) -> Value:
        items: dict[Any, Value] = {}
        for key, value in zip(node.keys, node.values, strict=True):
            if key is None:
                items.update(self.dictionary(self.expression(value)).items)
            else:
                k = self.key(self.expression(key))
                items[k] = self.expression(value)
        return self.new(DictObject(items))

    def new(self, thing: Any) -> Ref:
        """A reference to a new object on the heap."""
        ref = Ref(self.unique())
        self.state.heap[ref.id] = thing
        if isinstance(thing, ListObject):
            self.sites[ref.id] = self.site
            if self.site in self.dynamic_sites:
                self.materialize(Materialize(ref, self.span))
        return ref

    def items(self, nodes: list[Any]) -> list[Value]:
        values: list[Value] = []
        for node in nodes:
            if isinstance(node, gast.Starred):
                values.extend(self.unpacked(self.expression(node.value)))
            else:
                values.append(self.expression(node))
        return values

    def unpacked(self, value: Value) -> list[Value]:
        """The items of something whose length is known when compiling."""
        if isinstance(value, Tuple):
            return list(value.items)
        if isinstance(value, Generator):
            value = self.list_of_items(value)
        sequence = self.sequence(value)
        if sequence is None:
            raise self.refuse(f"a {describe(value)} can't be iterated over")
        if not isinstance(sequence.length, ir.Const):
            self.need_items(value)
            self.need_static(sequence.length, "how many items there are must be known here")
        assert isinstance(sequence.length, ir.Const)
        return [sequence.item(ir.Const(i)) for i in range(sequence.length.value)]

    def need_items(self, value: Value) -> None:
        """Ask for the loops to be unrolled that make a list whose items must be known."""
        thing = self.state.heap.get(value.id) if isinstance(value, Ref) else None
        var = thing.var if isinstance(thing, ListObject) else None
        if isinstance(value, ir.Var) and isinstance(value.kind, ListOf):
            var = value
        if var is not None and var.origins - self.known_sites:
            raise NeedStatic(var.origins, "how many items there are must be known", self.span)

    def need_static(self, value: Value, message: str) -> None:
        if isinstance(value, ir.Var) and value.origins:
            raise NeedStatic(value.origins, message, self.span)
        raise self.refuse(message)

    def key(self, value: Value) -> Any:
        """The value of a dict key, which must be known when compiling."""
        if isinstance(value, ir.Const):
            return value.value
        if isinstance(value, Tuple):
            return tuple(self.key(item) for item in value.items)
        self.need_static(value, "the key of a dict must be known when compiling")
        raise AssertionError

    def dictionary(self, value: Value) -> DictObject:
        thing = self.state.heap.get(value.id) if isinstance(value, Ref) else None
        if not isinstance(thing, DictObject):
            raise self.refuse(f"a {describe(value)} isn't a dict")
        return thing

    # Names

    def expression_Name(self, node: Any) -> Value:
        return self.lookup(node.id)

    def lookup(self, name: str) -> Value:
        """The value of a name, as Python would find it."""
        number: int | None = self.current
        frame = self.frames[self.current]
        if name not in frame.scope.outer:
            while number is not None:
                frame = self.frames[number]
                values = self.state.frames[number]
                if name in frame.scope.local or name in values:
                    return self.known(name, values.get(name, ir.UNDEFINED))
                if name in frame.scope.outer:
                    break
                if frame.parent is None:
                    break
                number = frame.parent
        namespace = frame.namespace
        if name in namespace.cells and name not in frame.scope.outer:
            cell = namespace.cells[name]
            try:
                return self.lift(cell.cell_contents, Path("cell", cell, name))
            except ValueError:
                raise self.refuse(f"{name!r} has no value yet") from None
        if name in namespace.globals:
            return self.lift(namespace.globals[name], Path("global", namespace.globals, name))
        if hasattr(builtins, name):
            return ir.Const(getattr(builtins, name))
        raise self.refuse(f"name {name!r} is not defined")

    def known(self, name: str, value: Any) -> Value:
        if isinstance(value, Poison):
            if value.origins:
                raise NeedStatic(value.origins, value.message, value.span or self.span)
            raise self.refuse(value.message, "use one name for each kind of value")
        if value is ir.UNDEFINED:
            error = self.refuse(f"{name!r} is used before it is assigned")
            if self.loop_depth and self.fork_depth:
                raise Unbound(error)
            raise error
        return value  # type: ignore[no-any-return]

    def bind(self, name: str, value: Value, number: int | None = None) -> None:
        """Assign a name in the current frame."""
        number = self.current if number is None else number
        frame = self.frames[number]
        if name in frame.scope.outer:
            raise self.refuse(
                f"assigning the global {name!r} can't be differentiated",
                "return the value instead",
            )
        if name in frame.scope.nonlocal_ or (frame.comprehension and name not in frame.scope.local):
            if frame.parent is None:
                raise self.refuse(
                    f"assigning {name!r}, which belongs to a function that has returned, "
                    "can't be differentiated",
                    "return the value instead",
                )
            owner = frame.parent
            while (
                name not in self.frames[owner].scope.local and self.frames[owner].parent is not None
            ):
                owner = self.frames[owner].parent  # type: ignore[assignment]
            self.bind(name, value, owner)
            return
        if isinstance(value, (Sequence, Generator)) and not name.startswith("%"):
            self.use_once(value, name)
        if isinstance(value, ir.Var) and not value.user and not name.startswith("%"):
            value.name, value.user = name, not self.fixed_span
        if isinstance(value, Ref) and not name.startswith("%"):
            thing = self.state.heap.get(value.id)
            if isinstance(thing, ListObject) and thing.var is not None and not thing.var.user:
                thing.var.name, thing.var.user = name, True
        self.state.frames[number][name] = value

    def use_once(self, value: Sequence | Generator, name: str) -> None:
        """Keep track of whether a generator, zip or map that has a name is used up."""
        if value.name is None and not (isinstance(value, Sequence) and value.bounds is not None):
            value.name = f"%used {name}"
            self.state.frames[self.current][value.name] = FALSE

    def use_up(self, value: Sequence | Generator) -> None:
        """Note that a generator, zip or map is consumed; it can be only once."""
        if value.name is None:
            return
        for frame in self.state.frames.values():
            if value.name in frame:
                used = frame[value.name]
                if not (isinstance(used, ir.Const) and used.value is False):
                    raise self.refuse(
                        "this generator may be used up already", "make a list of it: list(...)"
                    )
                frame[value.name] = TRUE

    # Values from outside the function

    def lift(self, value: Any, path: Path | None) -> Value:
        """The abstract value of an object that exists before the function runs."""
        if path is not None and path in self.static_paths:
            self.guards[path] = value
            return ir.Const(value)
        number = isinstance(value, (int, float, complex, np.number)) and type(value) is not bool
        if path is not None and (number or isinstance(value, np.ndarray)):
            if self.on_free is None:
                return ir.Const(value)
            return self.on_free(path, value)
        if isinstance(value, SIMPLE) or number:
            if path is not None:
                self.guards[path] = value
            return ir.Const(value)
        if isinstance(value, (tuple, list, dict)) and path is not None:
            self.guards[Path("structure", path, "")] = layout(value)
        if isinstance(value, tuple):
            items = tuple(
                self.lift(item, Path("item", path, i) if path else None)
                for i, item in enumerate(value)
            )
            return Tuple(items, type(value))
        if isinstance(value, (list, dict)) and path is not None:
            known = self.lifted.get(path)
            if known is not None and known.id in self.state.heap:
                return known
            name = str(path)
            if isinstance(value, list):
                items = tuple(
                    self.lift(item, Path("item", path, i)) for i, item in enumerate(value)
                )
                ref = self.new(ListObject(items, None, name))
            else:
                ref = self.new(
                    DictObject(
                        {k: self.lift(v, Path("item", path, k)) for k, v in value.items()}, name
                    )
                )
            self.lifted[path] = ref
            return ref
        if path is not None and not isinstance(value, types.ModuleType):
            self.guards[path] = value
        return Place(value, path)

    @property
    def lifted(self) -> dict[Path, Ref]:
        if not hasattr(self, "_lifted"):
            self._lifted: dict[Path, Ref] = {}
        return self._lifted

    # Operators

    def expression_BinOp(self, node: Any) -> Value:
        left, right = self.expression(node.left), self.expression(node.right)
        return self.binary(BINARY[type(node.op)], left, right)

    def binary(self, function: Callable[..., Any], a: Value, b: Value) -> Value:
        """Apply a binary operator."""
        if isinstance(a, ir.Const) and isinstance(b, ir.Const):
            if isinstance(a.value, SIMPLE) and isinstance(b.value, SIMPLE):
                try:
                    return ir.Const(function(a.value, b.value))
                except Exception:
                    pass
        if function is operator.add:
            joined = self.concatenated(a, b)
            if joined is not None:
                return joined
        if function is operator.mul:
            for x, y in ((a, b), (b, a)):
                repeated = self.repeated(x, y)
                if repeated is not None:
                    return repeated
        if function is operator.mod and isinstance(a, ir.Const) and isinstance(a.value, str):
            items = b.items if isinstance(b, Tuple) else (b,)
            return self.opaque(str.__mod__, [a, Tuple(tuple(items))])
        special = self.dunder(function, a, b)
        if special is not None:
            return special
        return self.project(self.emit(function, (self.number(a), self.number(b))))

    def concatenated(self, a: Value, b: Value) -> Value | None:
        if isinstance(a, Tuple) and isinstance(b, Tuple):
            return Tuple(a.items + b.items)
        if isinstance(a, Ref) and isinstance(b, Ref):
            p, q = self.state.heap[a.id], self.state.heap[b.id]
            if isinstance(p, ListObject) and isinstance(q, ListObject):
                if p.var is None and q.var is None:
                    return self.new(ListObject(p.items + q.items))
                ref = self.new(ListObject(()))
                for part in (a, b):
                    self.extend(ref, part)
                return ref
        return None

    def repeated(self, a: Value, b: Value) -> Value | None:
        if not isinstance(b, (ir.Const, ir.Var)):
            return None
        if isinstance(a, Tuple) and isinstance(b, ir.Const) and isinstance(b.value, int):
            return Tuple(a.items * b.value)
        if not isinstance(a, Ref):
            return None
        thing = self.state.heap[a.id]
        if not isinstance(thing, ListObject) or isinstance(leaf_kind(b), Array):
            return None
        if thing.var is None and isinstance(b, ir.Const) and isinstance(b.value, int):
            if len(thing.items) * b.value <= 64:
                return self.new(ListObject(thing.items * b.value))
        return self.listed(
            self.counted(b), lambda i: self.materialized_item(a, i, len(thing.items))
        )

    def materialized_item(self, a: Ref, i: Value, count: int) -> Value:
        thing = self.state.heap[a.id]
        assert isinstance(thing, ListObject)
        if count == 1 and thing.var is None:
            return thing.items[0]
        raise self.refuse("a list of several items repeated an unknown number of times")

    def counted(self, length: Value) -> Value:
        return length

    def listed(self, length: Value, item: Callable[[Value], Value]) -> Ref:
        raise NotImplementedError

    def extend(self, ref: Ref, part: Value) -> None:
        raise NotImplementedError

    def dunder(self, function: Callable[..., Any], a: Value, b: Value) -> Value | None:
        """Operators of user classes."""
        name = DUNDER.get(function)
        if name is None:
            return None
        swapped = {"lt": "gt", "gt": "lt", "le": "ge", "ge": "le", "eq": "eq", "ne": "ne"}
        reflected = f"__{swapped[name]}__" if name in swapped else f"__r{name}__"
        for x, y, method in ((a, b, f"__{name}__"), (b, a, reflected)):
            thing = self.state.heap.get(x.id) if isinstance(x, Ref) else None
            if isinstance(thing, Instance):
                found = self.class_attribute(thing.type, method)
                if found is not None:
                    result = self.call(Bound(found, x), [y], {})
                    if not (isinstance(result, ir.Const) and result.value is NotImplemented):
                        return result
        return None

    def class_attribute(self, cls: type, name: str) -> Value | None:
        for base in cls.__mro__:
            if base is object:
                break
            if name in base.__dict__:
                self.guards[Path("class", base, name)] = base.__dict__[name]
                return Place(base.__dict__[name], None)
        return None

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
        function = UNARY[type(node.op)]
        if isinstance(value, ir.Const) and isinstance(value.value, SIMPLE):
            return ir.Const(function(value.value))
        thing = self.state.heap.get(value.id) if isinstance(value, Ref) else None
        if isinstance(thing, Instance):
            name = {operator.neg: "__neg__", operator.pos: "__pos__"}.get(function, "__invert__")
            found = self.class_attribute(thing.type, name)
            if found is not None:
                return self.call(Bound(found, value), [], {})
        return self.emit(function, (self.number(value),))

    def negated(self, value: Value) -> Value:
        test = self.truth(value)
        if isinstance(test, ir.Const):
            return ir.Const(not test.value)
        return self.emit(operator.not_, (test,), inferred=Inferred(BOOL))

    def truth(self, value: Value) -> ir.Var | ir.Const:
        """The truth of a value: a Const if it is known, else the variable to test."""
        match value:
            case ir.Const():
                return ir.Const(bool(value.value))
            case ir.Var():
                if isinstance(value.kind, (Array, ListOf)):  # what it holds may change
                    return self.emit(bool, (value,), inferred=Inferred(BOOL), name="test")
                if isinstance(value.kind, (Scalar, Opaque)):
                    return value
            case Tuple(missing=missing) if missing is not None and value.items:
                return self.emit(operator.not_, (missing,), inferred=Inferred(BOOL))
            case Tuple():
                return ir.Const(bool(value.items))
            case Ref():
                thing = self.state.heap[value.id]
                if isinstance(thing, ListObject) and thing.var is not None:
                    return self.truth(thing.var)
                if isinstance(thing, DictObject):
                    return self.truth(self.call(ir.Const(len), [value], {}))
                if isinstance(thing, Instance):
                    for name in ("__bool__", "__len__"):
                        found = self.class_attribute(thing.type, name)
                        if found is not None:
                            return self.truth(self.call(Bound(found, value), [], {}))
                    return TRUE
                return ir.Const(bool(thing.items))
        return TRUE

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
        first = self.expression(nodes[0])
        if len(nodes) == 1:
            return first
        test = self.truth(first)
        if isinstance(test, ir.Const):
            return (
                first if test.value != conjunction else self.short_circuit(conjunction, nodes[1:])
            )
        name = f"%either{self.unique()}"

        def rest() -> None:
            self.state.frames[self.current][name] = self.short_circuit(conjunction, nodes[1:])

        def same() -> None:
            value: Value = first
            if isinstance(first, ir.Var) and isinstance(first.kind, Scalar):
                if first.kind.dtype.kind == "b":
                    value = FALSE if conjunction else TRUE
            self.state.frames[self.current][name] = value

        self.branch(test, rest if conjunction else same, same if conjunction else rest)
        return self.known("this expression", self.state.frames[self.current].pop(name))

    def expression_IfExp(self, node: Any) -> Value:
        test = self.truth(self.expression(node.test))
        if isinstance(test, ir.Const):
            return self.expression(node.body if test.value else node.orelse)
        name = f"%choice{self.unique()}"

        def run(branch: Any) -> Callable[[], None]:
            def lower() -> None:
                self.state.frames[self.current][name] = self.expression(branch)

            return lower

        self.branch(test, run(node.body), run(node.orelse))
        return self.known("this expression", self.state.frames[self.current].pop(name))

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
            self.state.frames[self.current][name] = FALSE

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
        function = COMPARE[type(op)]
        if isinstance(a, ir.Const) and isinstance(b, ir.Const):
            try:
                return ir.Const(bool(function(a.value, b.value)))
            except Exception:
                pass
        special = self.dunder(function, a, b)
        if special is not None:
            return special
        ordered = self.compare_sequences(function, a, b)
        if ordered is not None:
            return ordered
        return self.emit(function, (self.number(a), self.number(b)))

    def compare_sequences(self, function: Any, a: Value, b: Value) -> Value | None:
        """A comparison of lists or tuples, as Python does it; None where an array takes part."""
        p, q = self.sequence_type(a), self.sequence_type(b)
        if p is None and q is None:
            return None
        if p is None or q is None:
            other = a if p is None else b
            if isinstance(other, ir.Var) and isinstance(other.kind, (Array, Scalar)):
                if isinstance(other.kind, Array) or other.kind.python is not True:
                    return None  # an array compares with each item
        if p is not q:
            if function in (operator.eq, operator.ne):
                return ir.Const(function is operator.ne)
            raise self.refuse(f"a {describe(a)} and a {describe(b)} can't be compared")
        things = [self.state.heap[v.id] if isinstance(v, Ref) else v for v in (a, b)]
        if any(isinstance(t, ListObject) and t.var is not None for t in things):
            operands = (self.operand(a), self.operand(b))
            return self.emit(function, operands, inferred=Inferred(BOOL))
        first, second = (Tuple(tuple(t.items)) for t in things)  # type: ignore[union-attr]
        if function in (operator.eq, operator.ne):
            equal = self.equal_tuples(first, second)
            return equal if function is operator.eq else self.negated(equal)
        return self.ordered_tuples(function, list(first.items), list(second.items))

    def sequence_type(self, value: Value) -> type | None:
        """list or tuple, if the value is one."""
        if isinstance(value, Tuple):
            return tuple
        thing = self.state.heap.get(value.id) if isinstance(value, Ref) else None
        return list if isinstance(thing, ListObject) else None

    def ordered_tuples(self, function: Any, a: list[Value], b: list[Value]) -> Value:
        """`a < b` and the like: the first items that differ decide."""
        if not a or not b:
            return ir.Const(function(len(a), len(b)))
        strict = operator.lt if function in (operator.lt, operator.le) else operator.gt
        op = gast.Lt() if strict is operator.lt else gast.Gt()
        smaller = self.truth(self.compare(op, a[0], b[0]))
        if isinstance(smaller, ir.Const) and smaller.value:
            return TRUE
        equal = self.truth(self.compare(gast.Eq(), a[0], b[0]))
        if isinstance(equal, ir.Const) and not equal.value:
            return smaller
        rest = self.ordered_tuples(function, a[1:], b[1:])
        if not isinstance(equal, ir.Const):
            rest = self.both(operator.and_, equal, rest)
        return self.both(operator.or_, smaller, rest)

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
        for x, y in zip(a.items, b.items, strict=True):
            if self.same(x, y):
                continue
            size = x.kind.size if isinstance(x, ir.Var) and isinstance(x.kind, Scalar) else None
            other = y.kind.size if isinstance(y, ir.Var) and isinstance(y.kind, Scalar) else None
            if size is not None and size == other:
                continue
            result = self.compare(gast.Eq(), x, y)
            if isinstance(result, ir.Const):
                if not result.value:
                    return FALSE
            else:
                assert isinstance(result, ir.Var)
                tests.append(result)
        value: Value = TRUE
        for test in tests:
            value = test if value is TRUE else self.emit(operator.and_, (value, test))  # type: ignore[arg-type]
        return value

    def identical(self, a: Value, b: Value) -> Value:
        if isinstance(a, ir.Const) and isinstance(b, ir.Const):
            return ir.Const(a.value is b.value)
        if isinstance(a, Ref) or isinstance(b, Ref):
            return ir.Const(a == b)
        for x, y in ((a, b), (b, a)):
            if isinstance(x, Tuple) and x.missing is not None:
                return x.missing if is_none(y) else FALSE
        for x, y in ((a, b), (b, a)):
            if isinstance(x, ir.Var):
                none = isinstance(y, ir.Const) and y.value is None
                if none and not x.optional and not isinstance(x.kind, Opaque):
                    return FALSE
                array = isinstance(x.kind, Array) and x.kind.shape is not None
                if array and isinstance(y, ir.Const) and not none:
                    return FALSE
                if isinstance(y, (ir.Var, ir.Const)):
                    if x is y:
                        return TRUE
                    return self.emit(operator.is_, (x, y), inferred=Inferred(BOOL))
        return ir.Const(a is b)

    def contains(self, container: Value, item: Value) -> Value:
        if isinstance(container, Ref):
            thing = self.state.heap[container.id]
            if isinstance(thing, DictObject):
                found = thing.items.get(self.key(item))
                if isinstance(found, Poison):
                    self.known("", found)
                return ir.Const(self.key(item) in thing.items)
            if isinstance(thing, Instance):
                found = self.class_attribute(thing.type, "__contains__")
                if found is not None:
                    return self.call(Bound(found, container), [item], {})
            if isinstance(thing, ListObject) and thing.var is None:
                return self.contains(Tuple(thing.items), item)
        if isinstance(container, Tuple):
            result: Value = FALSE
            for other in container.items:
                equal = self.compare(gast.Eq(), item, other)
                if isinstance(equal, ir.Const):
                    if equal.value:
                        return TRUE
                elif isinstance(result, ir.Const):
                    result = equal
                else:
                    result = self.emit(operator.or_, (self.operand(result), self.operand(equal)))
            return result
        if isinstance(container, ir.Const):
            try:
                return ir.Const(self.key(item) in container.value)
            except TypeError:
                pass
        return self.emit(
            operator.contains,
            (self.operand(container), self.operand(item)),
            inferred=Inferred(BOOL),
        )

    # Subscripts

    def expression_Subscript(self, node: Any) -> Value:
        container = self.expression(node.value)
        return self.subscript(container, self.expression(node.slice))

    def expression_Slice(self, node: Any) -> Value:
        parts = (self.expression(p) if p else NONE for p in (node.lower, node.upper, node.step))
        return Slice(*parts)

    def static_slice(self, key: Slice) -> slice | None:
        parts = (key.start, key.stop, key.step)
        if all(isinstance(p, ir.Const) for p in parts):
            return slice(*(p.value for p in parts))  # type: ignore[union-attr]
        return None

    def subscript(self, container: Value, key: Value) -> Value:
        """`container[key]`."""
        match container:
            case Tuple():
                return self.item_of(container.items, key, container)
            case Ref():
                thing = self.state.heap[container.id]
                if isinstance(thing, ListObject):
                    if thing.var is not None:
                        return self.list_item(thing.var, key)
                    return self.item_of(thing.items, key, container)
                if isinstance(thing, DictObject):
                    k = self.key(key)
                    if k not in thing.items:
                        raise self.refuse(f"the dict has no key {k!r}")
                    return self.known(f"[{k!r}]", thing.items[k])
                found = self.class_attribute(thing.type, "__getitem__")
                if found is not None:
                    return self.call(Bound(found, container), [key], {})
                raise self.refuse(f"a {thing.type.__name__} can't be indexed")
            case Sequence():
                return container.item(key)
            case Place() if not isinstance(container.value, SIMPLE):
                if isinstance(key, ir.Const):
                    path = Path("item", container.path, key.value) if container.path else None
                    return self.lift(container.value[key.value], path)
            case ir.Const():
                if isinstance(key, (ir.Const, Slice)):
                    known = key.value if isinstance(key, ir.Const) else self.static_slice(key)
                    if known is not None and isinstance(container.value, (str, bytes)):
                        return ir.Const(container.value[known])
        operand = self.operand(container)
        if isinstance(operand, ir.Var) and isinstance(operand.kind, ListOf):
            return self.list_item(operand, key)
        if isinstance(operand, ir.Var) and isinstance(operand.kind, TupleOf):
            return self.subscript(self.project(operand), key)
        if isinstance(operand, ir.Var) and isinstance(operand.kind, (Array, Scalar)):
            return self.emit(operator.getitem, (operand, self.index(key)), name=operand.name)
        return self.opaque(operator.getitem, [container, key])

    def index(self, key: Value) -> ir.Operand:
        """The operand of an index: lists in it are arrays of ints."""
        if isinstance(key, Tuple):
            return ir.Pack(tuple, tuple(self.index(item) for item in key.items))
        if isinstance(key, Ref):
            operand = self.operand(key)
            if isinstance(operand, ir.Pack) and all(
                isinstance(item, ir.Const) for item in operand.items
            ):
                return ir.Const(np.array([item.value for item in operand.items]))  # type: ignore[union-attr]
            return self.emit(np.array, (operand,))
        return self.operand(key)

    def item_of(self, items: tuple[Value, ...], key: Value, container: Value) -> Value:
        if isinstance(key, Slice):
            known = self.static_slice(key)
            if known is None:
                for part in (key.start, key.stop, key.step):
                    if isinstance(part, ir.Var) and part.origins:
                        raise NeedStatic(part.origins, "this slice of a tuple or list", self.span)
                if isinstance(container, Ref):
                    self.materialize(Materialize(container, self.span))
                    return self.subscript(container, key)
                raise self.refuse("the bounds of this slice must be known when compiling")
            if isinstance(container, Tuple):
                return Tuple(items[known])
            return self.new(ListObject(items[known]))
        if isinstance(key, ir.Const) and hasattr(type(key.value), "__index__"):
            try:
                return self.known("item", items[key.value])
            except IndexError:
                raise self.refuse(f"index {key.value} is out of range here") from None
        if isinstance(key, ir.Var) and isinstance(key.kind, Scalar):
            if key.origins & self.unrollable and len(items) <= 64:
                raise NeedStatic(key.origins, "an index into a tuple or list", self.span)
            if isinstance(container, Ref):
                try:
                    return self.list_item(self.materialized(container), key)
                except UnsupportedError:
                    if key.origins:
                        raise NeedStatic(key.origins, "an index into a list", self.span) from None
                    raise
            self.need_static(key, "an index into a tuple must be known when compiling")
        raise self.refuse(f"a tuple or list can't be indexed by a {describe(key)}")

    def materialized(self, ref: Ref) -> ir.Var:
        thing = self.state.heap[ref.id]
        assert isinstance(thing, ListObject)
        if thing.var is None:
            item: Any = None
            for value in thing.items:
                item = self.joined_item(item, value)
            if thing.external:
                operands = tuple(self.operand(v) for v in thing.items)
                var = self.emit(list, (ir.Pack(list, operands),), inferred=Inferred(ListOf(item)))
                var.name = "items"
                return var
            self.materialize(Materialize(ref, self.span))
        thing = self.state.heap[ref.id]
        assert isinstance(thing, ListObject) and thing.var is not None
        return thing.var

    def list_item(self, items: ir.Var, key: Value) -> Value:
        """An item or a slice of a list that exists at run time."""
        assert isinstance(items.kind, ListOf)
        if isinstance(key, Slice):
            var = self.emit(
                operator.getitem,
                (items, self.operand(key)),
                inferred=Inferred(items.kind, (items,)),
            )
            return self.project(var)
        return self.from_list(
            self.emit(
                operator.getitem,
                (items, self.operand(key)),
                inferred=self.item_inferred(items),
                name="item",
            )
        )

    def item_inferred(self, items: ir.Var) -> Inferred:
        assert isinstance(items.kind, ListOf)
        if items.kind.item is None:
            raise self.refuse("this list is empty here")
        kind = item_structure(items.kind.item)
        # items put in by different iterations may differ in what varies
        return Inferred(resized(kind, self.first_loop), (items,))

    def from_list(self, var: ir.Var) -> Value:
        return self.project(var)

    # Attributes

    def expression_Attribute(self, node: Any) -> Value:
        return self.attribute(self.expression(node.value), node.attr)

    def attribute(self, value: Value, name: str) -> Value:
        """`value.name`."""
        match value:
            case Tuple():
                fields = getattr(value.type, "_fields", ())
                if name in fields:
                    return value.items[fields.index(name)]
                if fields and name in ("_replace", "_asdict"):
                    return Bound(ir.Const(NAMEDTUPLE[name]), value)
                found = self.class_attribute(value.type, name)
                if found is not None and value.type is not tuple:
                    return self.bound(found, value, value.type)
                return Bound(ir.Const(getattr(value.type, name)), value)
            case Ref():
                thing = self.state.heap[value.id]
                if isinstance(thing, Instance):
                    return self.instance_attribute(value, thing, name)
                kind = list if isinstance(thing, ListObject) else dict
                if kind is list and name in ("popleft", "appendleft"):
                    return Bound(ir.Const(getattr(collections.deque, name)), value)
                if isinstance(thing, DictObject) and thing.is_set:
                    kind = set  # type: ignore[assignment]
                if not hasattr(kind, name):
                    raise self.refuse(f"{kind.__name__!r} has no attribute {name!r}")
                return Bound(ir.Const(getattr(kind, name)), value)
            case ir.Const():
                return self.constant_attribute(value, name)
            case ir.Var():
                return self.variable_attribute(value, name)
            case Closure() | Partial() | Bound():
                if name == "__name__" and isinstance(value, Closure):
                    return ir.Const(value.name)
        raise self.refuse(f"attribute {name!r} of a {describe(value)} isn't supported")

    def constant_attribute(self, value: ir.Const, name: str) -> Value:
        thing = value.value
        if self.fixed_span and isinstance(thing, (int, float, complex)):
            # in a rule, a number stands for an array of no dimensions
            described = {"ndim": 0, "size": 1, "dtype": np.asarray(thing).dtype}
            if name == "shape":
                return Tuple(())
            if name in described:
                return ir.Const(described[name])
        if not hasattr(thing, name):
            raise self.refuse(f"{type(thing).__name__!r} object has no attribute {name!r}")
        if isinstance(thing, types.ModuleType):
            found = getattr(thing, name)
            root = thing.__name__.partition(".")[0]
            if root in STATIC_MODULES or root in sys.stdlib_module_names:
                if isinstance(found, (np.ndarray, list, dict)):
                    return Place(found, None)
                return self.lift(found, None)
            return self.lift(found, Path("global", thing.__dict__, name))
        if isinstance(thing, type):
            found = getattr(thing, name)
            raw = next((b.__dict__[name] for b in thing.__mro__ if name in b.__dict__), None)
            if isinstance(raw, classmethod):
                return Bound(Place(raw.__func__, None), value)
            if isinstance(found, (types.FunctionType, type)) or callable(found):
                if isinstance(found, types.FunctionType):
                    self.guards[Path("attribute", thing, name)] = found
                return Place(found, None)
            return self.lift(found, Path("attribute", thing, name))
        if isinstance(thing, (*SIMPLE, np.generic, np.dtype)):
            found = getattr(thing, name)
            if isinstance(found, (*SIMPLE, np.generic, np.dtype)):
                return ir.Const(found)
            return Bound(ir.Const(getattr(type(thing), name)), value)
        if isinstance(thing, (types.FunctionType, np.ufunc)):
            found = getattr(thing, name)
            if isinstance(found, (*SIMPLE,)):
                return ir.Const(found)
            return Place(found, None)
        raw = getattr(type(thing), name, None)
        if isinstance(raw, property) and raw.fget is not None:
            return self.call(Bound(Place(raw.fget, None), value), [], {})
        if isinstance(raw, types.FunctionType) and name not in getattr(thing, "__dict__", {}):
            self.guards[Path("attribute", type(thing), name)] = raw
            return Bound(Place(raw, None), value)
        found = getattr(thing, name)
        if callable(found) and getattr(thing, name) is not found:
            return Place(found, None)  # a method, made anew each time it is asked for
        container = value.path if isinstance(value, Place) and value.path else thing
        return self.lift(found, Path("attribute", container, name))

    def instance_attribute(self, ref: Ref, thing: Instance, name: str) -> Value:
        found = self.class_attribute(thing.type, name)
        if isinstance(found, ir.Const) and isinstance(found.value, property):
            return self.call(Bound(Place(found.value.fget, None), ref), [], {})
        if name in thing.items:
            return self.known(f".{name}", thing.items[name])
        if name == "__class__":
            return Place(thing.type, None)
        if name == "__dict__":
            raise self.refuse("__dict__ of an object isn't supported")
        if found is not None:
            return self.bound(found, ref, thing.type)
        getter = self.class_attribute(thing.type, "__getattr__")
        if getter is not None:
            return self.call(Bound(getter, ref), [ir.Const(name)], {})
        raise self.refuse(f"{thing.type.__name__!r} object has no attribute {name!r}")

    def bound(self, found: Value, receiver: Value, cls: type) -> Value:
        assert isinstance(found, ir.Const)
        raw = found.value
        if isinstance(raw, staticmethod):
            return Place(raw.__func__, None)
        if isinstance(raw, classmethod):
            return Bound(Place(raw.__func__, None), Place(cls, None))
        if isinstance(raw, property):
            return self.call(Bound(Place(raw.fget, None), receiver), [], {})
        if callable(raw):
            return Bound(found, receiver)
        return self.lift(raw, Path("attribute", cls, found) if False else None)

    def variable_attribute(self, value: ir.Var, name: str) -> Value:
        kind = value.kind
        if isinstance(kind, (Array, Scalar)):
            numpy_like = isinstance(kind, Array) or kind.python is not True or self.fixed_span
            if numpy_like and name in ARRAY_ATTRIBUTES:
                return self.array_attribute(value, name)
            if isinstance(kind, Scalar) and kind.python is True and name in ("real", "imag"):
                return self.emit(getattr(np, name), (value,))
            for base in (np.ndarray, kind.dtype.type if kind.dtype is not None else np.generic):
                if numpy_like and hasattr(base, name):
                    return Bound(ir.Const(getattr(base, name)), value)
            if isinstance(kind, Scalar):
                python = type(np.zeros((), kind.dtype).item())
                if hasattr(python, name):
                    return Bound(ir.Const(getattr(python, name)), value)
            raise self.refuse(f"an array has no attribute {name!r}")
        if isinstance(kind, ListOf):
            return Bound(ir.Const(getattr(list, name)), value)
        if isinstance(kind, TupleOf):
            return self.attribute(self.project(value), name)
        return self.emit(
            getattr, (value, ir.Const(name)), inferred=Inferred(Opaque(None)), name=name
        )

    def array_attribute(self, value: ir.Var, name: str) -> Value:
        kind = value.kind
        assert isinstance(kind, (Array, Scalar))
        if name == "dtype" and kind.dtype is not None:
            return ir.Const(kind.dtype)
        shape = kind.shape
        if name == "ndim" and shape is not None:
            return ir.Const(len(shape))
        if name == "shape" and shape is not None:
            return self.shape_of(value, shape)
        if name == "size" and shape is not None:
            if all(isinstance(n, int) for n in shape):
                return ir.Const(int(np.prod(shape, dtype=int)))  # type: ignore[type-var, arg-type]
            if len(shape) == 1:
                return self.emit(
                    getattr,
                    (value, ir.Const("size")),
                    inferred=Inferred(Scalar(np.dtype(np.int64), True, shape[0])),
                    name="size",
                )
        if name in ("T", "mT"):
            if shape is not None and len(shape) < 2 and name == "T":
                return value
            function = np.transpose if name == "T" else np.matrix_transpose
            return self.emit(function, (value,))
        if name in ("real", "imag"):
            return self.emit(getattr(np, name), (value,), name=name)
        if name == "flat":
            if isinstance(kind, Array):
                return self.emit(np.ravel, (value,))
        if isinstance(kind, Array) and name in ("shape", "strides", "base", "flags", "data"):
            return self.emit(
                getattr, (value, ir.Const(name)), inferred=Inferred(Opaque(None)), name=name
            )
        return self.emit(
            getattr, (value, ir.Const(name)), inferred=self.attribute_kind(name), name=name
        )

    def attribute_kind(self, name: str) -> Inferred:
        if name in ("size", "ndim", "nbytes", "itemsize"):
            return Inferred(Scalar(np.dtype(np.int64), True))
        return Inferred(Opaque(None))

    def shape_of(self, value: ir.Var, shape: tuple[Any, ...]) -> Value:
        """The shape of an array as a tuple, whose literal dimensions are known."""
        if all(isinstance(n, int) for n in shape):
            return Tuple(tuple(ir.Const(n) for n in shape))
        integer = np.dtype(np.int64)
        whole = self.emit(
            getattr,
            (value, ir.Const("shape")),
            inferred=Inferred(TupleOf(tuple(Scalar(integer, True, n) for n in shape))),
            name="shape",
        )
        items: list[Value] = []
        for i, n in enumerate(shape):
            if isinstance(n, int):
                items.append(ir.Const(n))
            else:
                items.append(
                    self.emit(
                        operator.getitem,
                        (whole, ir.Const(i)),
                        inferred=Inferred(Scalar(integer, True, n)),
                        name="n",
                    )
                )
        return Tuple(tuple(items), tuple, whole)

    # The rest

    def opaque(self, function: Any, args: list[Value]) -> Value:
        """A call whose result carries no derivative and of which nothing is known."""
        operands = tuple(self.operand(a) for a in args)
        return self.emit(function, operands, inferred=Inferred(Opaque(None)))

    def expression_JoinedStr(self, node: Any) -> Value:
        template, args = "", []
        for part in node.values:
            if isinstance(part, gast.Constant):
                template += part.value.replace("{", "{{").replace("}", "}}")
                continue
            args.append(self.expression(part.value))
            conversion = f"!{chr(part.conversion)}" if part.conversion not in (-1, None) else ""
            spec = ""
            if part.format_spec is not None:
                for item in part.format_spec.values:
                    if not isinstance(item, gast.Constant):
                        raise self.refuse("a nested format specification isn't supported")
                    spec += item.value
            template += "{" + conversion + (":" + spec if spec else "") + "}"
        if all(isinstance(a, ir.Const) for a in args):
            return ir.Const(template.format(*(a.value for a in args if isinstance(a, ir.Const))))
        operands = (ir.Const(template), *(self.operand(a) for a in args))
        return self.emit(str.format, operands, inferred=Inferred(Opaque(str)), name="text")

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

    def expression_Yield(self, node: Any) -> Value:
        self.yielded(NONE if node.value is None else self.expression(node.value))
        return NONE

    def expression_YieldFrom(self, node: Any) -> Value:
        self.iterate(self.expression(node.value), self.yielded)
        return NONE


ARRAY_ATTRIBUTES = frozenset(
    "shape ndim size dtype T mT real imag flat nbytes itemsize strides base flags data".split()
)


def namedtuple_replace(value: Any, /, **changes: Any) -> Any:
    """`value._replace(**changes)`."""
    return value._replace(**changes)


def namedtuple_asdict(value: Any, /) -> Any:
    """`value._asdict()`."""
    return value._asdict()


NAMEDTUPLE = {"_replace": namedtuple_replace, "_asdict": namedtuple_asdict}


def item_structure(item: Any) -> Kind:
    """The kind of a list's item, tuples of kinds as TupleOf."""
    if isinstance(item, tuple):
        return TupleOf(tuple(item_structure(part) for part in item))
    assert isinstance(item, Kind)
    return item


def resized(kind: Kind, since: int | None) -> Kind:
    """A kind with a new size for each that came up since another one did."""
    if since is None:
        return kind
    if isinstance(kind, TupleOf):
        return replace(kind, items=tuple(resized(item, since) for item in kind.items))
    if isinstance(kind, Array) and kind.shape is not None:
        sizes = (fresh_size() if isinstance(n, Size) and n.base > since else n for n in kind.shape)
        return Array(kind.dtype, tuple(sizes))
    return kind


__all__ = ["Expressions", "Frame", "kind_of", "list_append", "registry"]
