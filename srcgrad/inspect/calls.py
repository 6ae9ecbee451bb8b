"""The calls of a lowered function, as the lines of Python that they would be."""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import ir, runtime
from ..analysis.activity import Activity
from ..analysis.aliasing import Aliasing
from ..errors import Span
from ..ir import list_append
from ..kinds import Kind
from .rules import function_name


@dataclass(frozen=True)
class Call:
    """A statement of the lowered function, with its operands as text."""

    function: Any
    span: Span | None
    target: int
    name: str
    kind: Kind
    view: bool
    written: bool
    args: tuple[tuple[ir.Operand, str], ...]
    kwargs: tuple[tuple[str, ir.Operand, str], ...]
    active: frozenset[str]  # the names of the operands that depend on the inputs

    @property
    def text(self) -> str:
        return self.spelled if self.written else f"{self.name} = {self.spelled}"

    @property
    def spelled(self) -> str:
        return _spelled(self)


def calls(function: ir.Function, inputs: frozenset[str]) -> list[Call]:
    """The calls of a lowered function."""
    names = _Names(function)
    varies = varying(function, inputs)
    found: list[Call] = []
    for s in ir.walk(function.block):
        if isinstance(s, ir.Loop):
            for v in (*s.params, *s.targets, *([] if s.index is None else [s.index])):
                names[v]
        if not isinstance(s, ir.Assign):
            continue
        args = tuple((a, names.text(a)) for a in s.args)
        kwargs = tuple((k, a, names.text(a)) for k, a in s.kwargs)
        active = {names[v] for o in s.operands() for v in ir.variables(o) if varies(v)}
        found.append(
            Call(s.function, s.span, s.target.id, names[s.target], s.target.kind, bool(s.views),
                 bool(s.writes), args, kwargs, frozenset(active))
        )  # fmt: skip
    return found


def varying(function: ir.Function, inputs: frozenset[str]) -> Callable[[ir.Operand], bool]:
    """Whether an operand varies with the inputs."""
    params = [p for p in function.params if p.name in inputs]
    return Activity(function.block, params, (), Aliasing(function.block)).is_varied


class _Names:
    """A name for each variable, told apart by numbers.

    What a loop carries has one name before, in and after it; so have the results of branches.
    """

    def __init__(self, function: ir.Function) -> None:
        self.names: dict[ir.Var, str] = {}
        self.taken: set[str] = set()
        self.shared: dict[ir.Var, ir.Var] = {}
        for s in ir.walk(function.block):
            if isinstance(s, ir.Assign) and s.function is runtime.own_copy:
                self._share(s.target, s.args[0])
            elif isinstance(s, ir.Loop):
                for p, target, init in zip(s.params, s.targets, s.inits, strict=True):
                    self._share(p, target, init, *([] if s.index is None else [s.index]))
            elif isinstance(s, ir.If):
                for target, a, b in zip(s.targets, s.then.results, s.orelse.results, strict=True):
                    self._share(target, a, b)
        for p in function.params:
            self[p]

    def _share(self, first: ir.Var, *others: ir.Operand) -> None:
        for other in others:
            if isinstance(other, ir.Var) and other.user and other.name == first.name:
                if self._root(other) is not self._root(first):
                    self.shared[self._root(other)] = self._root(first)

    def _root(self, v: ir.Var) -> ir.Var:
        while v in self.shared:
            v = self.shared[v]
        return v

    def __getitem__(self, var: ir.Var) -> str:
        v = self._root(var)
        if v not in self.names:
            name, number = v.name, 1
            while name in self.taken and name != "_":
                name, number = f"{v.name}_{number}", number + 1
            self.taken.add(name)
            self.names[v] = name
        return self.names[v]

    def text(self, operand: ir.Operand) -> str:
        match operand:
            case ir.Var():
                return self[operand]
            case ir.Const():
                value = operand.value
                if isinstance(value, slice):
                    return _slice([_literal(p) for p in (value.start, value.stop, value.step)])
                return _literal(value)
            case ir.Pack(type=t) if t is slice:
                return _slice([self.text(item) for item in operand.items])
            case ir.Pack(type=t) if t is list:
                return f"[{', '.join(map(self.text, operand.items))}]"
        items = ", ".join(map(self.text, operand.items))
        return f"({items},)" if len(operand.items) == 1 else f"({items})"


def _literal(value: Any) -> str:
    if isinstance(value, tuple):
        parts = [
            _slice([_literal(p) for p in (v.start, v.stop, v.step)])
            if isinstance(v, slice) else _literal(v)
            for v in value
        ]  # fmt: skip
        return f"({', '.join(parts)}{',' * (len(parts) == 1)})"
    if value is Ellipsis:
        return "..."
    if isinstance(value, np.dtype):
        return f"np.{value.name}"
    if isinstance(value, np.ndarray):
        return "constant"
    if callable(value):
        return getattr(value, "__name__", "constant")
    text = repr(value)
    return text if len(text) < 60 else "constant"


def _slice(parts: list[str]) -> str:
    start, stop, step = ("" if part == "None" else part for part in parts)
    return f"{start}:{stop}" + (f":{step}" if step else "")


# How a call is written

BINARY = {
    operator.add: "+", operator.sub: "-", operator.mul: "*", operator.truediv: "/",
    operator.floordiv: "//", operator.mod: "%", operator.pow: "**", operator.matmul: "@",
    operator.lt: "<", operator.le: "<=", operator.gt: ">", operator.ge: ">=", operator.eq: "==",
    operator.ne: "!=", operator.is_: "is", operator.and_: "&", operator.or_: "|",
    operator.iadd: "+=", operator.isub: "-=", operator.imul: "*=", operator.itruediv: "/=",
    operator.ipow: "**=", operator.imatmul: "@=",
}  # fmt: skip
UNARY = {operator.neg: "-", operator.pos: "+", operator.not_: "not "}
SUBSCRIPTS = {operator.getitem: "x[key]", operator.setitem: "x[key] = value"}


def primitive_name(function: Any) -> str:
    """A primitive as it is written in a program.

    >>> [primitive_name(f) for f in (operator.add, np.exp, np.ndarray.copy)]
    ['x + y', 'np.exp', 'np.ndarray.copy']
    """
    try:
        if function in BINARY:
            return f"x {BINARY[function]} y"
        if function in UNARY:
            return f"{UNARY[function]}x"
        if function in SUBSCRIPTS:
            return SUBSCRIPTS[function]
    except TypeError:
        return str(function)
    if function is list_append:
        return "list.append"
    name = function_name(function)
    return name.rpartition(".")[2] if name.startswith("srcgrad.") else name


def _spelled(c: Call) -> str:
    """A call as an expression of Python."""
    args = [text for _, text in c.args]
    name = primitive_name(c.function)
    if name in SUBSCRIPTS.values() and len(args) >= 2:
        key = args[1].removeprefix("(").removesuffix(")") if args[1].startswith("(") else args[1]
        shown = f"{args[0]}[{key}]"
        return shown if len(args) == 2 else f"{shown} = {args[2]}"
    if len(args) == 2 and c.function in BINARY:
        return f"{args[0]} {BINARY[c.function]} {args[1]}"
    if len(args) == 1 and c.function in UNARY:
        return f"{UNARY[c.function]}{args[0]}"
    if c.function is getattr and isinstance(c.args[1][0], ir.Const):
        return f"{args[0]}.{c.args[1][0].value}"
    keywords = [f"{k}={text}" for k, _, text in c.kwargs]
    if c.function is list_append:
        return f"{args[0]}.append({args[1]})"
    if getattr(c.function, "__objclass__", None) is np.ndarray and args:
        return f"{args[0]}.{c.function.__name__}({', '.join([*args[1:], *keywords])})"
    args = [f"slice({a.replace(':', ', ')})" if ":" in a else a for a in args]
    return f"{name}({', '.join([*args, *keywords])})"
