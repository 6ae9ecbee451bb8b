"""Lowering: from a function object and the kinds of its arguments to IR.

Lowering is an abstract interpretation of the function's AST. What is known when compiling (flags,
shapes' ranks, functions, containers, loops over them) is evaluated; what remains is emitted as IR.
Statements that jump, loop or define are here; the others, expressions and calls, and the joining of
branches in the modules beside.

A `break`, `continue` or `return` sets flags (`%stop`: skip the rest of this block; `%break`: leave
the loop; `%returned`) in the frame. What follows a statement that may set `%stop` is lowered into
the branch that doesn't, or under an `If` on the flag, so that no later stage knows of jumps. The
test of a `while` whose evaluation changes nothing is a mark in the loop's body (`leave_unless`).
"""

from __future__ import annotations

import contextlib
import importlib
import operator
import types
from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

import gast

from .. import ir
from ..errors import UnsupportedError
from .contexts import Contexts
from .iteration import MOST_NEEDED, MOST_UNROLLED
from .liveness import live_at_loops
from .names import own_nodes, runs_once
from .naming import method_name
from .operations import leave_unless
from .predicates import FALSE, NONE, TRUE, is_unknown
from .restarts import Materialize, NeedStatic, Peel, Raised, Thaw, Unbound, Unreached
from .structure import nothing
from .units import NeedUnit
from .values import Place, State, Value


def _leaves(node: Any) -> bool:
    return isinstance(node, (gast.Break, gast.Return))


class Undecided(Exception):
    """Whether a while goes on isn't known when compiling."""


@dataclass(frozen=True, slots=True)
class Again:
    """What stands at the end of the body of a while that is unrolled: its next iteration.

    `most` says how many there may be, `inner` that an iteration before it is being run.
    """

    node: gast.While
    most: int
    inner: bool = False


class Lowerer(Contexts):
    """Lowers statements; the whole of the frontend's interpreter."""

    def run(self, statements: list[Any]) -> None:
        """Lower a list of statements, as far as they are reached."""
        for position, node in enumerate(statements):
            stopped = self.stopped(self.state)
            if stopped:
                return
            rest = statements[position:]
            if stopped is None:
                self.run_unless_stopped(rest)
                return
            if isinstance(node, Again):
                self.unrolled_while(replace(node, inner=True))
                return
            self.at(node)
            if isinstance(node, gast.If):
                if self.if_statement(node, statements[position + 1 :]):
                    return
                continue
            method = getattr(self, method_name("statement", type(node).__name__), None)
            if method is None:
                raise self.refuse(f"{type(node).__name__} isn't supported")
            method(node)

    def run_unless_stopped(self, rest: list[Any]) -> None:
        test = self.state.frames[self.current]["%stop"]
        assert isinstance(test, ir.Var)

        def go_on() -> None:
            frame = self.state.frames[self.current]
            frame["%stop"] = frame["%break"] = frame["%returned"] = FALSE
            self.run(rest)

        self.branch(test, lambda: self.flag("%stop"), go_on)

    def flag(self, *names: str) -> None:
        for name in names:
            self.state.frames[self.current][name] = TRUE

    def statement_Return(self, node: Any) -> None:
        value = self.expression(node.value) if node.value is not None else NONE
        self.state.frames[self.current]["%return"] = value
        self.returned = self.span
        self.flag("%stop", "%break", "%returned")

    def statement_Break(self, node: Any) -> None:
        self.flag("%stop", "%break")

    def statement_Continue(self, node: Any) -> None:
        self.flag("%stop")

    def statement_Pass(self, node: Any) -> None:
        pass

    def statement_Global(self, node: Any) -> None:
        pass

    statement_Nonlocal = statement_Global

    def statement_Expr(self, node: Any) -> None:
        if isinstance(node.value, gast.YieldFrom):
            self.delegated(node.value)
        elif not isinstance(node.value, gast.Constant) and not self.reshaping(node.value):
            self.expression(node.value)

    def statement_For(self, node: Any) -> None:
        self.forget_dead(node)
        iterable = self.iterable(node.iter)
        name = node.target.id if isinstance(node.target, gast.Name) else "i"

        def body(item: Value) -> None:
            self.at(node)
            self.assign(node.target, item)
            self.run(node.body)

        def run() -> None:
            self.loop_site, self.loop_once = id(node), runs_once(node.body)
            leaving = is_unknown(iterable) and any(map(_leaves, own_nodes(node.body)))
            left: set[Any] = {iterable} if leaving else set()
            made = {s.target for s in self.block.statements if isinstance(s, ir.Assign)}
            if self.loop_depth:
                self.in_part |= left - made  # an iteration before this one may have left it, too
            self.iterate(iterable, body, name)
            self.in_part |= left

        self.with_else(node, run)

    def forget_dead(self, loop: Any) -> None:
        """Forget what variables hold that a loop assigns before it reads them, if anyone does."""
        function = self.frames[self.current].node
        live = live_at_loops(function).get(id(loop)) if function is not None else None
        if live is None:
            return
        local = self.frames[self.current].scope.local
        values = self.state.frames[self.current]
        for name in [n for n in values if n in local and n not in live]:
            del values[name]

    def statement_While(self, node: Any) -> None:
        self.forget_dead(node)
        self.with_else(node, lambda: self.while_loop(node))

    def while_loop(self, node: Any) -> None:
        left = f"%left{self.unique()}"

        def iteration(index: ir.Var | None) -> Value:
            self.at(node)
            self.state.frames[self.current]["%returned"] = FALSE
            before = self.state.copy()
            block = self.block
            test = self.tested(node.test)
            frame = self.state.frames[self.current]
            if isinstance(test, ir.Const):
                if test.value:
                    self.run(node.body)
                    return self.exit_flag()
                return TRUE
            if self.block is block and self.unchanged(before):
                self.act(leave_unless, test)
                self.run(node.body)
                return self.exit_flag()
            frame[left] = FALSE

            def leave() -> None:
                self.state.frames[self.current][left] = TRUE

            self.branch(test, lambda: self.run(node.body), leave)
            frame = self.state.frames[self.current]
            ended = frame.pop(left)
            broken = self.exit_flag()
            if isinstance(broken, ir.Const):
                return TRUE if broken.value else ended
            if isinstance(ended, ir.Const):
                return TRUE if ended.value else broken
            return self.emit(operator.or_, (self.operand(ended), self.operand(broken)))

        def unrolled(most: int = MOST_UNROLLED) -> bool:
            state, block, count = self.state.copy(), self.block, len(self.block.statements)
            depth = self.fork_depth
            try:
                self.unrolled_while(Again(node, most))
            except (Undecided, RecursionError):
                self.state, self.block, self.fork_depth = state, block, depth
                self.forget(block, count)
                return False
            if site:  # a recursion gets here again
                self.known_sites |= {("%site", site)}
            return True

        site = id(node) if self.is_decided(node.test) else 0
        if ("%site", site) not in self.known_sites or not unrolled():
            before, count, span = self.state.copy(), len(self.block.statements), self.span
            block, depth, dynamic = self.block, self.fork_depth, set(self.dynamic_sites)
            peeled = runs_once(node.body) or ("%peel", id(node)) in self.known_sites
            asks = self.instead(id(node), bool(site), peeled)

            def loop(peelable: bool = False) -> None:
                self.loop(
                    None, iteration, unroll=unrolled, unrollable=False, asks=asks, peelable=peelable
                )

            try:
                try:
                    if not peeled:
                        loop(peelable=True)
                except Peel:
                    peeled = True
                if peeled:
                    self.peeled_while(node, loop)
            except (Raised, Thaw):
                raise
            except (UnsupportedError, NeedUnit, RecursionError):  # of objects that are others, say
                self.state, self.span = before, span
                self.block, self.fork_depth, self.dynamic_sites = block, depth, dynamic
                self.forget(block, count)
                if not site or not unrolled(MOST_NEEDED):
                    raise
        self.after_loop()

    def peeled_while(self, node: Any, rest: Callable[[], None]) -> None:
        """Run the first iteration of a while by itself, and then the rest, a loop."""

        def first() -> None:
            self.run(node.body)
            if self.state.unreachable:
                return
            flag = self.exit_flag()
            if not isinstance(flag, ir.Const):
                self.branch(self.operand(flag), nothing, rest)
            elif not flag.value:
                rest()
            self.after_loop()

        self.at(node)
        self.state.frames[self.current]["%returned"] = FALSE
        test = self.tested(node.test)
        if not isinstance(test, ir.Const):
            self.if_it_runs(test, first)
        elif test.value:
            first()

    def is_decided(self, node: Any) -> bool:
        """Whether a test is known to be true when compiling."""
        outer, state, span, site = self.block, self.state, self.span, self.site
        self.state, self.block = state.copy(), ir.Block()
        try:
            test = self.tested(node)
        except (UnsupportedError, NeedStatic, Unbound, Unreached, Materialize):
            return False
        finally:
            self.state, self.block, self.span, self.site = state, outer, span, site
        return isinstance(test, ir.Const) and bool(test.value)

    def unrolled_while(self, loop: Again) -> None:
        """Run the body of a while as often as its test, known when compiling, says.

        Raises:
            Undecided: the test isn't known, or true too often.
        """
        node = loop.node
        endless = isinstance(node.test, gast.Constant)
        own = list(own_nodes(node.body))
        nests = not endless and any(map(_leaves, own))
        nests = nests and not any(isinstance(n, gast.Continue) for n in own)
        for most in range(loop.most, -1, -1):
            self.at(node)
            test = self.tested(node.test)
            if not isinstance(test, ir.Const) or (test.value and not most):
                raise Undecided
            if not test.value:
                return
            self.state.frames[self.current]["%returned"] = FALSE
            again = Again(node, most - 1)
            if nests:
                # where the body may break, the next iteration stands in the branch that goes on
                self.run([*node.body, again])
                if not self.state.unreachable and not loop.inner:
                    self.exit_flag()
                    self.after_loop()
                return
            self.run(node.body)
            if self.state.unreachable:
                return
            flag = self.exit_flag()
            if not isinstance(flag, ir.Const):
                if endless:
                    raise Undecided
                self.branch(self.operand(flag), nothing, lambda: self.unrolled_while(again))  # noqa: B023
            if not isinstance(flag, ir.Const) or flag.value:
                self.after_loop()
                return

    def unchanged(self, before: State) -> bool:
        """Whether this block, since it began in the state `before`, has changed nothing."""
        if any(isinstance(s, ir.Assign) and s.writes for s in ir.walk(self.block)):
            return False
        old, new = dict(self.slots(before)), dict(self.slots(self.state))
        known = before.frames.keys(), before.heap.keys()
        return all(slot in new and self.same(value, new[slot]) for slot, value in old.items()) and (
            not any(slot not in old and slot[1] in known[slot[0] != "frame"] for slot in new)
        )

    def statement_Assert(self, node: Any) -> None:
        test = self.tested(node.test)
        if isinstance(test, ir.Const) and test.value:
            return

        def fail() -> None:
            args = [] if node.msg is None else [self.told(lambda: self.expression(node.msg))]
            self.throw_new(AssertionError, args)

        if isinstance(test, ir.Const):
            fail()
            return
        self.branch(test, nothing, fail)

    # Definitions

    def statement_FunctionDef(self, node: Any) -> None:
        value: Value = self.closure(node, node.name)
        for decorator in reversed(node.decorator_list):
            value = self.call(self.expression(decorator), [value], {})
        self.bind(node.name, value)

    def statement_AsyncFunctionDef(self, node: Any) -> None:
        raise self.refuse("asynchronous code can't be differentiated", "write it without `async`")

    statement_AsyncFor = statement_AsyncFunctionDef
    statement_AsyncWith = statement_AsyncFunctionDef

    def statement_ClassDef(self, node: Any) -> None:
        self.class_definition(node)

    def statement_Import(self, node: Any) -> None:
        for name in node.names:
            module = self.imported(name.name)
            if name.asname is None:
                module = self.imported(name.name.partition(".")[0])
            self.bind_imported(name.asname or name.name.partition(".")[0], Place(module))

    def statement_ImportFrom(self, node: Any) -> None:
        package = None
        if node.level:
            package = self.frames[self.current].namespace.globals.get("__package__")
        module = self.imported("." * node.level + (node.module or ""), package)
        for name in node.names:
            if not hasattr(module, name.name):  # a module in the package, or nothing
                with contextlib.suppress(ImportError):
                    importlib.import_module(f"{module.__name__}.{name.name}")
            if not hasattr(module, name.name):
                message = f"cannot import name {name.name!r} from {module.__name__!r}"
                raise self.fault(ImportError, message)
            imported = self.constant_attribute(Place(module), name.name)
            self.bind_imported(name.asname or name.name, imported)

    def imported(self, name: str, package: str | None = None) -> types.ModuleType:
        """A module, imported when compiling; what goes wrong then goes wrong in the program."""
        try:
            return importlib.import_module(name, package)
        except Exception as error:
            raise self.raised_by_python(error) from None

    def bind_imported(self, name: str, value: Value) -> None:
        """Assign what is imported: a global when compiling, as that's when modules are loaded."""
        frame = self.frames[self.current]
        if name in frame.scope.outer and isinstance(value, ir.Const):
            frame.namespace.globals[name] = value.value
        else:
            self.bind(name, value)
