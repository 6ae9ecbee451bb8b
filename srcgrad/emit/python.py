"""Emission: from IR to the gast tree of a Python function.

Temporaries that are used once are written where they are used (`inlining.py`); the others get names
(`names.py`). Above the statements of the reverse sweep stands, as a comment, the primal line that
they undo.
"""

from __future__ import annotations

import functools
import itertools
import linecache
import operator
import types
from collections.abc import Iterable
from typing import Any

import gast
import numpy as np

from .. import ir
from ..analysis.aliasing import Aliasing
from ..analysis.items import is_found_in_list, item_reads
from ..errors import InternalError
from ..frontend.effects import is_reentrant
from ..frontend.operations import (
    count_outside,
    enter_context,
    exit_context,
    leave_unless,
    put_outside,
    read_outside,
)
from ..ir import list_append, reverse_sweep
from ..kinds import TupleOf
from ..packages import told
from ..rules.registry import hashable
from .inlining import Inlining
from .names import Names
from .printer import BlankLine, Comment
from .references import Emitted, References, is_plain_dtype
from .spelling import HELPERS, ITEMS, Speller, as_test, call, constant, name, negated
from .trees import assigns, does_anything, names_in, same_tree, tree_size, written_out

SUBSCRIPTS = {
    operator.getitem, operator.setitem, operator.delitem, count_outside, put_outside, read_outside,
    *ITEMS,
}  # fmt: skip
MANY = 6  # equal numbers in a list, which are written as a product


def emit_function(
    function: ir.Function,
    docstring: str,
    bindings: dict[str, Any] | None = None,
    units: Iterable[str] = (),
) -> Emitted:
    """The Python function that does what an IR function does.

    Functions of one module share their `bindings`, and know the names of its `units`.
    """
    return _Emitter(function, {} if bindings is None else bindings, set(units)).run(docstring)


class _Emitter:
    def __init__(self, function: ir.Function, bindings: dict[str, Any], units: set[str]) -> None:
        self.function = function
        self.emitted = Emitted(None, bindings)
        aliasing = Aliasing(function.block, function.together)
        self.item_reads = item_reads(function, aliasing)
        inlining = Inlining(function, aliasing, self.item_reads.values())
        self.inlined, self.counts = inlining.found, inlining.counts
        reserved = {"np", "math", "cmath", "scipy", function.name} | _helper_names(function)
        reserved |= units | set(bindings)
        self.names = Names(function, self.inlined, reserved | _callees(function))
        self.references = References(self.emitted, self.names, reserved)
        self.speller = Speller(self.references.of)
        self.reversing = False
        self.sweep = BlankLine()  # above the reverse sweep
        self.line: Any = None
        self.watched = ir.watcher.get() is not None

    def run(self, docstring: str) -> Emitted:
        f = self.function
        body: list[Any] = [gast.Expr(constant(docstring))]
        body += self.block(f.block)
        for result in f.block.results[:1]:
            if isinstance(result, ir.Var) and result in self.inlined:
                body += self.comment(self.inlined[result])
        values = [written_out(self.operand(r)) for r in f.block.results]
        result = values[0] if len(values) == 1 else gast.Tuple(values, gast.Load())
        if values:
            body.append(gast.Return(result))
            self.note(body[-1:], None, f.block.results)
        self.names.release(f.released, body, self.sweep)
        args = [gast.Name(self.names[p], gast.Param(), None, None) for p in f.params]
        arguments = gast.arguments(args, [], None, [], [], None, [])
        decorators = [self.references.of(decorator) for decorator in f.decorators]
        self.emitted.tree = gast.FunctionDef(f.name, arguments, body, decorators, None, None, [])
        return self.emitted

    # Statements

    def is_inlined(self, s: ir.Statement) -> bool:
        return isinstance(s, ir.Assign) and s.target in self.inlined

    def block(self, block: ir.Block, done: Iterable[ir.Statement] = ()) -> list[Any]:
        """The statements of a block, except those that are `done`, the header of a loop."""
        body: list[Any] = []
        entered: list[tuple[ir.Assign, int]] = []  # contexts, and where their blocks begin
        unpacked = {*done}
        for position, s in enumerate(block.statements):
            if isinstance(s, ir.Assign) and s.function is reverse_sweep:
                self.reversing = True
                self.line = None
                if body:
                    body.append(self.sweep)
                continue
            if s in unpacked or self.is_inlined(s):
                continue
            if isinstance(s, ir.Assign) and _gives_several(s):
                parts = self.parts(s.target, block.statements[position + 1 :])
                if parts:
                    unpacked.update(parts.values())
                    body += self.comment(s) if isinstance(s.function, ir.Unit) else []
                    value = self.speller.expression(s, self.arguments(s)[0], {})
                    body.append(self.unpack(s.target, value, parts))
                    self.note(body[-1:], s, s.args)
                    continue
            if isinstance(s, ir.Assign) and s.args and s.args[0] in self.function.params:
                parts = self.parts(s.args[0], block.statements[position:])
                if parts:
                    unpacked.update(parts.values())
                    body.append(self.unpack(s.args[0], self.operand(s.args[0]), parts))
                    self.note(body[-1:], s, s.args)
                    continue
            line = self.line
            comment = self.comment(s)
            statements = self.statement(s)
            if isinstance(s, ir.Assign) and s.function is exit_context:
                if entered and entered[-1][0].args == s.args:
                    s, start = entered.pop()
                    body, statements = self.left(s, body, start, statements)
            elif isinstance(s, ir.Assign) and s.function is enter_context:
                entered.append((s, len(body) + len(comment) + len(statements)))
            if statements:
                self.note(statements, s, ir.uses(s))
                body += comment + statements
            else:
                self.line = line
        return body

    def left(
        self, enter: ir.Assign, body: list[Any], start: int, leave: list[Any]
    ) -> tuple[list[Any], list[Any]]:
        """The statements before the block of a context manager, and what runs it and leaves it.

        `with`, where the manager is known not to end exceptions: the rest counts on its results.
        """
        before, inner = body[:start], body[start:]
        inner = inner if does_anything(inner) else [gast.Pass()]
        manager = enter.args[0]
        if is_reentrant(enter) and isinstance(manager, ir.Var) and len(before) > 1:
            made, entered = before[-2:]
            if isinstance(entered, gast.Expr) and assigns(made, self.names[manager]):
                item = gast.withitem(made.value, None)
                return before[:-2], [gast.With([item], inner, None)]
        return before, [gast.Try(inner, [], [], leave)]

    def note(
        self, nodes: list[Any], s: ir.Statement | None, operands: Iterable[ir.Operand]
    ) -> None:
        """Leave on nodes which statements they print, for whoever watches."""
        if not self.watched:
            return
        made = [] if s is None else [s]
        waiting = list(operands)
        while waiting:
            for v in ir.variables(waiting.pop()):
                if v in self.inlined:
                    made.append(self.inlined[v])
                    waiting += self.inlined[v].operands()
        for node in nodes:
            if not hasattr(node, "printed"):
                node.printed, node.reversing = tuple(made), self.reversing

    def parts(self, record: Any, following: list[ir.Statement]) -> dict[int, ir.Assign] | None:
        """The next statements if they take a tuple apart, and nothing else uses it."""
        kind = getattr(record, "kind", None)
        if not isinstance(kind, TupleOf) or len(kind.items) < 2:
            return None
        found: dict[int, ir.Assign] = {}
        for s in following:
            if not isinstance(s, ir.Assign) or s.function is not operator.getitem:
                break
            if s.args[0] is not record or not isinstance(s.args[1], ir.Const):
                break
            if s.args[1].value in found or s.target in self.inlined:
                return None
            found[s.args[1].value] = s
        return found if len(found) == self.counts.get(record, 0) else None

    def unpack(self, record: ir.Var, value: Any, parts: dict[int, ir.Assign]) -> Any:
        """`a, _, b = saved.pop()`"""
        return gast.Assign([self.unpacked(record, parts)], value, None)

    def unpacked(self, record: ir.Var, parts: dict[int, ir.Assign]) -> Any:
        """`a, _, b`"""
        assert isinstance(record.kind, TupleOf)
        blank = gast.Name("_", gast.Store(), None, None)
        targets = [
            self.store(parts[i].target) if i in parts else blank
            for i in range(len(record.kind.items))
        ]
        return gast.Tuple(targets, gast.Store())

    def comment(self, s: ir.Statement) -> list[Any]:
        """The primal line that the next statements undo, unless it stands there already."""
        if not self.reversing or s.span is None or not isinstance(s, ir.Assign):
            return []
        if isinstance(s.span, ir.Origin) and s.span.role == "recorded":
            return []
        place = (s.span.filename, s.span.line)
        if place == self.line:
            return []
        self.line = place
        text = linecache.getline(*place).strip()
        return [Comment(text)] if text else []

    def statement(self, s: ir.Statement) -> list[Any]:
        match s:
            case ir.Assign():
                return self.assign(s)
            case ir.If():
                return self.branch(s)
            case ir.Loop():
                return self.loop(s)

    def assign(self, s: ir.Assign) -> list[Any]:
        args, kwargs = self.arguments(s)
        statement = self.speller.statement(s, args)
        if statement is not None:
            return [statement]
        expression = self.speller.expression(s, args, kwargs)
        if (s.writes or s.effect) and not self._used(s.target):
            return [gast.Expr(expression)]
        if isinstance(expression, gast.Name) and expression.id == self.names[s.target]:
            return []
        return [gast.Assign([self.store(s.target)], expression, None)]

    def arguments(self, s: ir.Assign) -> tuple[list[Any], dict[str, Any]]:
        spelled = self.given if _takes_dtypes(s.function) else self.operand
        args = [spelled(a) for a in s.args]
        if s.function not in SUBSCRIPTS if hashable(s.function) else True:
            args = [written_out(a) for a in args]
        return args, {k: written_out(spelled(a)) for k, a in s.kwargs}

    def given(self, operand: ir.Operand) -> Any:
        """An argument of a function of NumPy."""
        if isinstance(operand, ir.Const) and is_plain_dtype(operand.value):
            return self.references.given_dtype(operand.value)
        return self.operand(operand)

    def _used(self, var: ir.Var) -> bool:
        return var in self.counts

    @functools.cached_property
    def passed_on(self) -> set[ir.Var]:
        """The variables that are copied or recorded whether or not they have a value."""
        operands = [*self.function.block.results]
        ends: dict[ir.Var, list[ir.Var]] = {}  # those that a variable is, of the same name
        for s in ir.walk(self.function.block):
            if isinstance(s, ir.Assign):
                operands += s.args if s.function is list_append else ()
                continue
            for target, values in ir.joins(s):
                for v in values:
                    if self.is_copied(v, target):
                        operands.append(v)
                    elif isinstance(v, ir.Var):
                        ends.setdefault(target, []).append(v)
        found: set[ir.Var] = set()
        waiting = [v for operand in operands for v in ir.variables(operand)]
        while waiting:
            v = waiting.pop()
            if v not in found:
                found.add(v)
                waiting += ends.get(v, ())
        return found

    def is_copied(self, operand: ir.Operand, target: ir.Var) -> bool:
        """Whether a variable gets its value by an assignment: it may have the operand's name."""
        if not isinstance(operand, ir.Var) or operand in self.inlined:
            return True
        return self.names[operand] != self.names[target]

    def store(self, var: ir.Var) -> Any:
        return gast.Name(self.names[var], gast.Store(), None, None)

    def moves(self, pairs: list[tuple[ir.Var, ir.Operand]]) -> list[Any]:
        """Assign operands to variables, all at once."""
        needed: list[tuple[ir.Var, ir.Operand]] = []
        for target, operand in pairs:
            if operand is ir.UNDEFINED:
                if target in self.passed_on:
                    needed.append((target, ir.Const(None)))
                continue
            if self.is_copied(operand, target):
                needed.append((target, operand))
        if not needed:
            return []
        written: set[str] = set()
        conflict = False
        for target, operand in needed:
            read = {self.names[v] for v in self.names.reads([operand])}
            conflict |= bool(read & written)
            written.add(self.names[target])
        if not conflict:
            return [
                gast.Assign([self.store(t)], written_out(self.operand(o)), None) for t, o in needed
            ]
        targets = gast.Tuple([self.store(t) for t, _ in needed], gast.Store())
        values = gast.Tuple([written_out(self.operand(o)) for _, o in needed], gast.Load())
        return [gast.Assign([targets], values, None)]

    def branch(self, s: ir.If) -> list[Any]:
        test = self.operand(s.test)
        line = self.line
        then = self.yielding(s.then, s.targets)
        self.line = line
        orelse = self.yielding(s.orelse, s.targets)
        if not does_anything(then) and not does_anything(orelse):
            return []
        if not does_anything(then):
            test, then, orelse = negated(test), orelse, []
        if not does_anything(orelse):
            orelse = []
        if len(then) == 1 and len(orelse) == 1 and len(s.targets) == 1:
            a, b = then[0], orelse[0]
            # both must assign the target: what else one statement may do isn't a choice of values
            target = self.names[s.targets[0]]
            if assigns(a, target) and assigns(b, target):
                if tree_size(a.value) + tree_size(b.value) < 14:
                    choice = gast.IfExp(test, a.value, b.value)
                    return [gast.Assign(a.targets, choice, None)]
        return [gast.If(as_test(test), then, orelse)]

    def yielding(self, block: ir.Block, targets: tuple[ir.Var, ...]) -> list[Any]:
        """The statements of a branch, and what it yields, unless it raises."""
        body = self.block(block)
        if body and isinstance(body[-1], gast.Raise):
            return body
        return body + self.moves(list(zip(targets, block.results, strict=True)))

    def loop(self, s: ir.Loop) -> list[Any]:
        before = self.moves(list(zip(s.params, s.inits, strict=True)))
        line, self.line = self.line, None
        first = next((i for i in s.body.statements if not self.is_inlined(i)), None)
        test: Any = None
        if s.range is None and isinstance(first, ir.Assign) and first.function is leave_unless:
            test = self.operand(first.args[0])
        item = first if first is self.item_reads.get(s) else None
        following = s.body.statements[s.body.statements.index(item) + 1 :] if item else []
        parts = self.parts(item.target, following) if item else None
        done = [first] if first is not None and (item is not None or test is not None) else []
        body = self.block(s.body, [*done, *(parts or {}).values()])
        body += self.moves(list(zip(s.params, s.body.results, strict=False)))
        header: Any = None
        if s.exits:
            flag = s.body.results[-1]
            header, body = self.leave(flag, body)
        self.line = line if not self.reversing else None
        if not body:
            body = [gast.Pass()]
        if s.range is None:
            if header is not None and test is not None:
                body = [gast.If(negated(header), [gast.Break()], []), *body]
            test = as_test(test or header or constant(True))
            return [*before, gast.While(test, body, [])]
        if header is not None:
            body = [gast.If(negated(header), [gast.Break()], []), *body]
        used = s.index is not None and self._used(s.index)
        target = (
            self.store(s.index)
            if used and s.index is not None
            else gast.Name("_", gast.Store(), None, None)
        )
        if item is not None:
            items = self.operand(item.args[0])
            if s.backwards:
                items = call(name("reversed"), [items])
            target = self.unpacked(item.target, parts) if parts else self.store(item.target)
            return [*before, gast.For(target, items, body, [], None)]
        ends = [self.operand(p) for p in s.range]
        zero = isinstance(s.range[0], ir.Const) and s.range[0].value == 0
        one = isinstance(s.range[2], ir.Const) and s.range[2].value == 1
        args = ends if not one else ends[:2]
        if one and zero:
            args = ends[1:2]
        iterable = call(name("range"), args)
        if s.backwards and used:
            iterable = call(name("reversed"), [iterable])
        return [*before, gast.For(target, iterable, body, [], None)]

    def leave(self, flag: ir.Operand, body: list[Any]) -> tuple[Any, list[Any]]:
        """How a loop with an exit flag ends: (the test of a while, or None; the body)."""
        test = self.operand(flag)
        # `if test: body` with the flag `not test` is `while test: body`
        if (
            len(body) >= 1
            and isinstance(body[-1], gast.If)
            and not body[-1].orelse
            and same_tree(negated(test), body[-1].test)
            and isinstance(test, (gast.Name, gast.UnaryOp, gast.Compare))
            and not names_in(test) & names_in(gast.Module(body[-1].body, []), gast.Store)
        ):
            inner = body[-1]
            if len(body) == 1:
                return inner.test, inner.body
            leave = gast.If(negated(inner.test), [gast.Break()], [])
            return None, [*body[:-1], leave, *inner.body]
        if isinstance(test, gast.Constant) and test.value is True:
            return None, [*body, gast.Break()]
        return None, [*body, gast.If(test, [gast.Break()], [])]

    # Operands

    def operand(self, operand: ir.Operand) -> Any:
        match operand:
            case ir.Var():
                if operand in self.inlined:
                    s = self.inlined[operand]
                    args, kwargs = self.arguments(s)
                    return self.speller.expression(s, args, kwargs)
                return name(self.names[operand])
            case ir.Pack():
                if operand.type is slice:
                    parts = [
                        None if isinstance(p, ir.Const) and p.value is None else self.operand(p)
                        for p in operand.items
                    ]
                    return gast.Slice(*parts)
                if operand.type is list:
                    return self.listed(operand.items)
                items = [self.operand(p) for p in operand.items]
                if operand.type is dict:
                    return gast.Dict([i.elts[0] for i in items], [i.elts[1] for i in items])
                return gast.Tuple(items, gast.Load())
            case ir.Const():
                return self.references.literal(operand.value)
        raise InternalError(f"no expression for {operand!r}")

    def listed(self, items: tuple[ir.Operand, ...]) -> Any:
        """A list; of many equal numbers, `[0.0] * 20`."""
        elements: list[Any] = []
        for number, run in itertools.groupby(items, _number):
            same = [self.operand(item) for item in run]
            if number is None or len(same) < MANY:
                elements += same
                continue
            several = gast.BinOp(gast.List(same[:1], gast.Load()), gast.Mult(), constant(len(same)))
            if len(same) == len(items):
                return several
            elements.append(gast.Starred(several, gast.Load()))
        return gast.List(elements, gast.Load())


def _takes_dtypes(function: Any) -> bool:
    """Whether a function is NumPy's, or one of srcgrad's that calls it."""
    if hashable(function) and function in HELPERS:
        return True
    owner = told(function, "__objclass__", function)
    module = str(told(owner, "__module__")).partition(".")[0]
    return module in ("numpy", "scipy") or isinstance(function, np.ufunc)


def _number(operand: ir.Operand) -> Any:
    """What tells a number from others; None of what is no number."""
    value = operand.value if isinstance(operand, ir.Const) else None
    return (type(value), repr(value)) if type(value) in (int, float) else None


def _gives_several(s: ir.Assign) -> bool:
    """Whether the tuple that a statement gives is unpacked at once."""
    return s.function is list.pop or isinstance(s.function, ir.Unit) or is_found_in_list(s)


def _helper_names(function: ir.Function) -> set[str]:
    """The names of the helpers that a function calls, or may need for its constants."""
    found = {decorator.__name__ for decorator in function.decorators}
    for s in ir.walk(function.block):
        for thing in (
            (s.function, *(a.value for a in s.operands() if isinstance(a, ir.Const)))
            if (isinstance(s, ir.Assign))
            else ()
        ):
            if hashable(thing) and thing in HELPERS:
                found.add(thing.__name__)
    return found


def _callees(function: ir.Function) -> set[str]:
    """The names of the functions that are called and are no library's: they keep them."""
    return {
        s.function.__name__
        for s in ir.walk(function.block)
        if isinstance(s, ir.Assign) and isinstance(s.function, types.FunctionType)
        if s.function.__module__.partition(".")[0] not in ("numpy", "scipy", "srcgrad")
    }
