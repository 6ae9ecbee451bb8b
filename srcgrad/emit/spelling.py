"""How a call of a primitive is written in Python: NumPy's fastest spelling of it, and a short one.

This is emission's table of NumPy spellings; nothing here analyses or decides what is computed.
"""

from __future__ import annotations

import builtins
import operator
import types
from collections.abc import Callable
from typing import Any

import gast
import numpy as np

from .. import ir, runtime
from ..frontend.operations import (
    add_to_item,
    count_outside,
    enter_context,
    exit_context,
    leave_unless,
    len_of_range,
    or_numpys,
    put_outside,
    raise_exception,
    read_outside,
    subtract_from_item,
)
from ..ir import list_append
from ..kinds import Array, Fields, ListOf, Opaque, Scalar
from ..packages import told
from ..rules import registry
from .words import is_identifier

BINARY = {
    operator.add: gast.Add, operator.sub: gast.Sub, operator.mul: gast.Mult,
    operator.truediv: gast.Div, operator.floordiv: gast.FloorDiv, operator.mod: gast.Mod,
    operator.pow: gast.Pow, operator.matmul: gast.MatMult, operator.and_: gast.BitAnd,
    operator.or_: gast.BitOr, operator.xor: gast.BitXor, operator.lshift: gast.LShift,
    operator.rshift: gast.RShift,
}  # fmt: skip
INPLACE = {
    operator.iadd: gast.Add, operator.isub: gast.Sub, operator.imul: gast.Mult,
    operator.itruediv: gast.Div, operator.ifloordiv: gast.FloorDiv, operator.imod: gast.Mod,
    operator.ipow: gast.Pow, operator.imatmul: gast.MatMult, operator.iand: gast.BitAnd,
    operator.ior: gast.BitOr, operator.ixor: gast.BitXor, operator.ilshift: gast.LShift,
    operator.irshift: gast.RShift,
}  # fmt: skip
ITEMS = {add_to_item: gast.Add, subtract_from_item: gast.Sub}
COMPARE = {
    operator.lt: gast.Lt, operator.le: gast.LtE, operator.gt: gast.Gt, operator.ge: gast.GtE,
    operator.eq: gast.Eq, operator.ne: gast.NotEq, operator.is_: gast.Is,
}  # fmt: skip
UNARY = {operator.neg: gast.USub, operator.pos: gast.UAdd, operator.invert: gast.Invert,
         operator.not_: gast.Not}  # fmt: skip
METHODS = {
    np.sum: "sum", np.mean: "mean", np.prod: "prod", np.max: "max", np.min: "min",
    np.var: "var", np.std: "std", np.reshape: "reshape", np.ravel: "ravel",
    np.cumsum: "cumsum", np.argsort: "argsort", np.swapaxes: "swapaxes", np.argmax: "argmax",
    np.argmin: "argmin", np.any: "any", np.all: "all", np.cumprod: "cumprod", np.take: "take",
    np.repeat: "repeat", np.diagonal: "diagonal", np.trace: "trace", np.squeeze: "squeeze",
    np.clip: "clip", np.searchsorted: "searchsorted",
}  # fmt: skip
READS = (builtins.getattr, object.__getattribute__)  # now, and when it stands there
ASKED = ("shape", "ndim", "size")  # which Python's numbers haven't, but NumPy has functions for
HELPERS = {len_of_range, *runtime.HELPERS}

Ast = Any


def name(text: str) -> Ast:
    return gast.Name(text, gast.Load(), None, None)


def may_be_number(operand: ir.Operand) -> bool:
    """Whether a value is a number, or is in some runs where in others it is an array."""
    kind = getattr(operand, "kind", None)
    unknown = isinstance(kind, Array) and kind.shape is None
    return unknown or (isinstance(operand, ir.Const) and isinstance(operand.value, (int, float)))


def attribute(value: Ast, text: str) -> Ast:
    return gast.Attribute(value, text, gast.Load())


def call(function: Ast, args: list[Ast], kwargs: dict[str, Ast] | None = None) -> Ast:
    return gast.Call(function, args, [gast.keyword(k, v) for k, v in (kwargs or {}).items()])


def constant(value: Any) -> Ast:
    return gast.Constant(value, None)


class Speller:
    """Spells calls; `reference(object)` gives the expression for an object that isn't a literal."""

    def __init__(self, reference: Callable[[Any], Ast]) -> None:
        self.reference = reference

    def expression(self, s: ir.Assign, args: list[Ast], kwargs: dict[str, Ast]) -> Ast:
        """The expression for a call that yields a value."""
        f = s.function
        if f in BINARY:
            return gast.BinOp(args[0], BINARY[f](), args[1])
        if f is operator.not_ and isinstance(args[0], gast.Compare):
            return negated(args[0])
        if f in UNARY:
            return gast.UnaryOp(UNARY[f](), args[0])
        if f in COMPARE:
            return gast.Compare(args[0], [COMPARE[f]()], [args[1]])
        if f is or_numpys:
            numpys = call(self.reference(np.float64), [args[1]])
            return gast.BoolOp(gast.Or(), [args[0], numpys])
        if f is operator.contains:
            return gast.Compare(args[1], [gast.In()], [args[0]])
        if f in (operator.getitem, read_outside):
            return gast.Subscript(args[0], args[1], gast.Load())
        if f is count_outside:
            item = gast.Subscript(args[0], args[1], gast.Load())
            return call(self.reference(operator.index), [item])
        if f in READS and len(s.args) == 2 and isinstance(s.args[1], ir.Const):
            what = s.args[1].value
            if what in ASKED and may_be_number(s.args[0]):
                return call(attribute(name("np"), what), args[:1])
            if is_identifier(what):
                return attribute(args[0], what)
        if f is operator.call:
            return call(args[0], args[1:], kwargs)
        if f in (list, tuple) and isinstance(s.args[0], ir.Pack):
            return args[0]
        if f is dict and s.args and isinstance(s.args[0], ir.Pack) and s.args[0].type is dict:
            return args[0]
        if f is enter_context:
            return call(attribute(args[0], "__enter__"), [])
        if f is exit_context:
            none = [constant(None)] * 3
            return call(attribute(args[0], "__exit__"), none)
        if f is list_append:
            return call(attribute(args[0], "append"), args[1:])
        zero = _zero_of_items(s.args[0]) if f is runtime.zero_items else None
        if zero is not None:
            length = call(self.reference(len), args)
            return gast.BinOp(gast.List([zero], gast.Load()), gast.Mult(), length)
        if f is runtime.unless_zero and len(args) == 2 and all(map(_is_double, s.args)):
            return gast.IfExp(args[1], args[0], constant(0.0))
        if f in registry.spellings:
            return self.registered(registry.spellings[f], args, kwargs)
        special = self.numpy(s, args, kwargs)
        if special is not None:
            return special
        if _is_method(f, s.args[0] if s.args else None):
            receiver, first = args[0], s.args[0]
            scalar = isinstance(first, ir.Var) and isinstance(first.kind, Scalar)
            if scalar and hasattr(np.ndarray, f.__name__):
                # an adjoint may be Python's number where the value is one of NumPy's
                receiver = call(self.reference(np.asarray), [receiver])
            called = call(attribute(receiver, f.__name__), args[1:], kwargs)
            if scalar and isinstance(s.target.kind, Scalar) and s.target.kind.python is False:
                return gast.Subscript(called, constant(()), gast.Load())  # a number of NumPy's
            return called
        return call(self.reference(f), args, kwargs)

    def registered(self, how: str, args: list[Ast], kwargs: dict[str, Ast]) -> Ast:
        """The expression for a function that stands for an operator, a method or a property."""
        if how == "@":
            return gast.BinOp(args[0], gast.MatMult(), args[1])
        if how == "@ reversed":
            return gast.BinOp(args[1], gast.MatMult(), args[0])
        if how.startswith("."):
            return call(attribute(args[0], how[1:]), args[1:], kwargs)
        return attribute(args[0], how)

    def numpy(self, s: ir.Assign, args: list[Ast], kwargs: dict[str, Ast]) -> Ast | None:
        f = s.function
        first = s.args[0] if s.args else None
        is_array = (
            isinstance(first, ir.Var)
            and isinstance(first.kind, Array)
            and bool(first.kind.shape is not None)
        )
        if not is_array:
            return None
        assert isinstance(first, ir.Var) and isinstance(first.kind, Array)
        if f is np.reshape and (len(args) != 2 or kwargs.keys() - {"order", "copy"}):
            return None  # the method takes the order by name only
        if (f is np.swapaxes and kwargs) or (f is np.clip and (kwargs or len(args) != 3)):
            return None  # the method takes no keywords, or others
        if f in METHODS and not kwargs.keys() & {"where", "initial", "correction"}:
            return call(attribute(args[0], METHODS[f]), args[1:], kwargs)
        if f is np.transpose and len(args) == 1 and not kwargs:
            return attribute(args[0], "T")
        if f is np.shape:
            return attribute(args[0], "shape")
        if f is np.zeros_like and len(args) == 1 and not kwargs:
            return self.zeros(first.kind, args[0])
        if f is np.expand_dims and len(s.args) == 2 and isinstance(s.args[1], ir.Const):
            key = self.new_axis(s.args[1].value, first.kind)
            if key is not None:
                return gast.Subscript(args[0], key, gast.Load())
        if f is np.real:
            return attribute(args[0], "real")
        if f is np.imag:
            return attribute(args[0], "imag")
        if f is np.array and len(args) == 1 and not kwargs:
            return call(attribute(args[0], "copy"), [])
        return None

    def zeros(self, kind: Array, x: Ast) -> Ast:
        function = attribute(name("np"), "zeros")
        shape = attribute(x, "shape")
        if kind.dtype == np.float64:
            return call(function, [shape])
        if kind.dtype is None or kind.dtype.kind not in "fc":
            return call(attribute(name("np"), "zeros_like"), [x])
        return call(function, [shape, attribute(name("np"), kind.dtype.name)])

    def new_axis(self, axis: Any, kind: Array) -> Ast | None:
        axes = axis if isinstance(axis, tuple) else (axis,)
        if kind.shape is None or not axes or not all(isinstance(a, int) for a in axes):
            return None
        rank = len(kind.shape) + len(axes)
        where = {a % rank for a in axes if -rank <= a < rank}
        if len(where) != len(axes):
            return None  # NumPy raises
        last = max(where)
        parts: list[Ast] = [
            constant(None) if i in where else gast.Slice(None, None, None) for i in range(last + 1)
        ]
        return parts[0] if len(parts) == 1 else gast.Tuple(parts, gast.Load())

    def statement(self, s: ir.Assign, args: list[Ast]) -> Ast | None:
        """The statement for a call that is made for its effect, None if it is an expression."""
        f = s.function
        if f in INPLACE:
            target = _stored(args[0])
            return gast.AugAssign(target, INPLACE[f](), args[1])
        if f in ITEMS:
            item = gast.Subscript(args[0], args[1], gast.Store())
            return gast.AugAssign(item, ITEMS[f](), args[2])
        if f in (operator.setitem, put_outside):
            return gast.Assign([gast.Subscript(args[0], args[1], gast.Store())], args[2], None)
        if f is raise_exception:
            return gast.Raise(args[0], None)
        if f is leave_unless:
            return gast.If(negated(args[0]), [gast.Break()], [])
        return None


def as_test(test: Ast) -> Ast:
    """An expression of which nothing but the truth is asked."""
    return test.operand.operand if is_not(test) and is_not(test.operand) else test


def is_not(tree: Ast) -> bool:
    return isinstance(tree, gast.UnaryOp) and isinstance(tree.op, gast.Not)


def negated(test: Ast) -> Ast:
    """The expression `not test`."""
    if is_not(test):
        return test.operand
    if isinstance(test, gast.Compare) and len(test.ops) == 1:
        if isinstance(test.ops[0], (gast.Is, gast.IsNot)):
            other = gast.IsNot if isinstance(test.ops[0], gast.Is) else gast.Is
            return gast.Compare(test.left, [other()], test.comparators)
    return gast.UnaryOp(gast.Not(), test)


NUMBERS = (bool, int, float, complex)


def _zero_of_items(operand: ir.Operand) -> Ast | None:
    """The adjoint that each item of a list begins with, where it is the same one: of numbers."""
    kind = getattr(operand, "kind", None)
    return _zero(kind.item) if isinstance(kind, ListOf) else None


def _is_double(operand: ir.Operand) -> bool:
    kind = getattr(operand, "kind", None)
    return isinstance(kind, Scalar) and kind.dtype == np.float64


def _zero(kind: Any) -> Ast | None:
    if isinstance(kind, Scalar) or (isinstance(kind, Opaque) and kind.type is str):
        return constant(0.0)
    named = isinstance(kind, Fields) and not kind.names  # a tuple of a class of its own
    if not isinstance(kind, tuple) or named or not kind:
        return None
    items = [_zero(item) for item in kind]
    return None if None in items else gast.Tuple(items, gast.Load())


def _is_method(function: Any, receiver: ir.Operand | None) -> bool:
    """Whether a call of a function is one of a method of its first argument."""
    if isinstance(receiver, ir.Const) and type(receiver.value) not in NUMBERS:
        return getattr(type(receiver.value), told(function, "__name__", ""), None) is function
    if not isinstance(receiver, ir.Var):
        return False
    owner = getattr(receiver.kind, "type", None)
    member = getattr(owner, told(function, "__name__", ""), None)
    return isinstance(function, types.MethodDescriptorType) or member is function


def _stored(node: Ast) -> Ast:
    match node:
        case gast.Name():
            return gast.Name(node.id, gast.Store(), None, None)
        case gast.Subscript():
            return gast.Subscript(node.value, node.slice, gast.Store())
        case gast.Attribute():
            return gast.Attribute(node.value, node.attr, gast.Store())
    return node


__all__ = ["HELPERS", "ListOf", "Speller", "attribute", "call", "constant", "name", "negated"]
