"""Simplification: local rewriting, common subexpressions, and branches that are known.

One walk over the function visits each statement with what is known of its operands, and repeats
until nothing changes. A rewriting rule (`algebra.py`, `spreading.py`) sees one statement and the
definitions of its operands, through the methods of `Simplifier`.

Memory isn't in SSA form, so three things are asked before a value is used in another place than
its own. An array whose memory is written anywhere is never looked through, merged or replaced:
its contents depend on when one looks. A result that the caller gets is never replaced by
something that isn't as fresh. And a name for the very same object may replace another at any time.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from .. import ir
from ..analysis.aliasing import Aliasing, holds_memory
from ..analysis.elementwise import COMMUTATIVE, elementwise_kind, is_elementwise, number_kind
from ..analysis.keys import constant_key, is_plain
from ..frontend.operations import leave_unless
from ..ir import reverse_sweep
from ..kinds import BOOL, Array, Kind, ListOf, Opaque, Scalar, holds_objects
from .algebra import ALGEBRA, FORWARD
from .operands import Rule, fold
from .spreading import ELEMENTWISE, SPREADING
from .stores import STORES

ROUNDS = 6
RECENT = 12  # statements that are looked through for a write
Available = dict[Any, ir.Var]


def simplify(function: ir.Function) -> None:
    """Simplify a function, in place."""
    for _ in range(ROUNDS):
        simplifier = Simplifier(function)
        simplifier.run()
        if not simplifier.changed:
            return


class Simplifier:
    """One walk over a function; what a rewriting rule may ask, and how it makes statements."""

    def __init__(self, function: ir.Function) -> None:
        self.function = function
        self.aliasing = Aliasing(function.block)
        self.escaping = self.aliasing.own()
        self.lent = self.aliasing.held_by(function.lent)
        self.counts = ir.use_counts(function.block)
        self.definitions: dict[ir.Var, ir.Assign] = {}
        self.rules: dict[tuple[Any, bool], tuple[Rule, ...]] = {}
        self.replaced = ir.Renaming()
        self.out: list[ir.Statement] = []
        self.scopes: list[Available] = []
        self.reversing = ir.sweep_start(function) is None
        self.changed = False
        self.position = 0
        self.current: ir.Assign | None = None

    def _times(self) -> None:
        """What makes variables, when, and when memory is last written, by top-level statement."""
        self.last_write: dict[ir.Var, int] = {}
        self.made: dict[ir.Var, int] = {}
        for position, statement in enumerate(self.function.block.statements):
            for s in ir.walk(ir.Block([statement])):
                if isinstance(s, ir.Assign):
                    self.definitions[s.target] = s
                    self.made[s.target] = position
            for root in self.aliasing.written_by(statement):
                self.last_write[root] = position

    def run(self) -> None:
        self._times()
        self.block(self.function.block, True)
        ir.rename(self.function.block, self.replaced)

    # What rules may ask

    def definition(self, operand: ir.Operand, *functions: Any) -> ir.Assign | None:
        """The call that made an operand, if it is one of these and can be looked through."""
        if not isinstance(operand, ir.Var):
            return None
        s = self.definitions.get(operand)
        if s is None or s.writes or s.effect or (functions and s.function not in functions):
            return None
        since = self.made.get(operand, 0)
        for o in (operand, *s.operands()):
            if not self.stable(o, since):
                return None
        return s

    def temporary(self, operand: ir.Operand, *functions: Any) -> ir.Assign | None:
        """The call that made an operand which is used nowhere else."""
        if not isinstance(operand, ir.Var) or self.counts.get(operand) != 1:
            return None
        return self.definition(operand, *functions) or self.just_made(operand, *functions)

    def just_made(self, operand: ir.Operand, *functions: Any) -> ir.Assign | None:
        """The call before the current one, in its block, that made an operand.

        What it uses is the same still, though it may be written later.
        """
        s = self.definitions.get(operand) if isinstance(operand, ir.Var) else None
        if s is None or s.writes or s.effect or (functions and s.function not in functions):
            return None
        memory = self.aliasing.held_by((s.target, *ir.uses(s)))
        for other in reversed(self.out[-RECENT:]):
            if other is s:
                return s
            if not isinstance(other, ir.Assign) or other.effect:
                return None
            if not memory.isdisjoint(self.aliasing.written_by(other)):
                return None
        return None

    def known(self, function: Any, *args: ir.Operand) -> ir.Var | None:
        """The variable that holds the result of such arithmetic, if one does that is in use."""
        kind = elementwise_kind(function, args)
        if kind is None:
            return None
        key = self.key(ir.Assign(ir.Var("", kind), function, args))
        found = next((scope[key] for scope in self.scopes if key in scope), None)
        if found is None or not self.counts.get(found) or found.kind != kind:
            return None
        return found if self.stable(found) else None

    def stable(self, operand: ir.Operand, since: int | None = None) -> bool:
        """Whether nothing writes the operand's memory from a top-level statement on.

        That is, from the current one if none is given: whenever one looks later, it is the same.
        """
        if isinstance(operand, ir.Const):
            return True
        since = self.position if since is None else since
        for v in ir.variables(operand):
            if isinstance(v.kind, ListOf):
                return False
            if holds_memory(v.kind):
                held = self.aliasing.held_by((v,))
                if any(self.last_write.get(root, -1) >= since for root in held):
                    return False
        return True

    def union(self, a: ir.Var, b: ir.Var) -> None:
        """Two variables may share memory from now on."""
        last = max(self.last_write.get(self.aliasing.find(v), -1) for v in (a, b))
        escapes = self.escapes(a) or self.escapes(b)
        self.aliasing.union(a, b)
        self.last_write[self.aliasing.find(a)] = last
        if escapes:
            self.escaping.add(self.aliasing.find(a))

    def escapes(self, var: ir.Var) -> bool:
        """Whether the caller may get a variable's memory."""
        return holds_memory(var.kind) and self.aliasing.find(var) in self.escaping

    # What rules may do

    def emit(
        self,
        function: Any,
        *args: ir.Operand,
        kind: Kind | None = None,
        name: str = "",
        kwargs: tuple[tuple[str, ir.Operand], ...] = (),
        view: bool = False,
        own: bool = False,
    ) -> ir.Operand:
        """A new call before the current one; its constant value if that is known.

        The result of a call that makes a `view` shares memory with the first operand, unless it is
        a number. What is to be an array of its `own` stays one.
        """
        s = self.current
        assert s is not None
        kind = elementwise_kind(function, args) if kind is None else kind
        assert kind is not None
        target = ir.Var(name or s.target.name, kind)
        if own:
            self.escaping.add(target)
        made = ir.Assign(target, function, args, kwargs, s.span)
        folded = fold(made)
        if folded is not None:
            return folded
        if view and holds_memory(kind):
            made.views = tuple(ir.variables(args[0]))
            for v in made.views:
                self.union(v, target)
        self.definitions[target] = made
        self.made[target] = self.position
        self.counts[target] = 1
        outer = self.current
        result = self.assign(made)
        self.current = outer
        return result

    def same(self, target: ir.Var, operand: ir.Operand) -> ir.Operand | None:
        """The operand in place of a target of the same value, or None if it can't stand there."""
        if not isinstance(operand, ir.Var):
            return operand if not isinstance(target.kind, Array) else None
        have, want = operand.kind, target.kind
        if isinstance(want, Scalar):
            fits = (
                isinstance(have, Scalar)
                and have.dtype == want.dtype
                and (have.python == want.python or want.python is None)
                and have.mixed in want.mixed
            )
            return operand if fits else None
        if not isinstance(want, Array) or want.shape is None or have != want:
            return None
        if not self.stable(target) or not self.stable(operand):
            return None
        if self.aliasing.find(operand) in self.lent:
            return None
        if self.escapes(target):
            if self.current is not None and self.current.function is np.ndarray.copy:
                return None
            return self.emit(np.ndarray.copy, operand, kind=want, name=target.name, own=True)
        return operand

    # The walk

    def block(self, block: ir.Block, top: bool = False) -> None:
        outer, self.out = self.out, []
        self.scopes.append({})
        for position, s in enumerate(block.statements):
            if top:
                self.position = position
            match s:
                case ir.Assign():
                    if s.function is reverse_sweep:
                        self.reversing = True
                    result = self.assign(s)
                    if result is not s.target:
                        self.replace(s.target, result)
                case ir.If():
                    self.branch(s)
                case ir.Loop():
                    self.loop(s)
        block.statements[:] = self.out
        block.results = ir.renamed(block.results, self.replaced)
        self.scopes.pop()
        self.out = outer

    def replace(self, target: ir.Var, operand: ir.Operand) -> None:
        self.replaced[target] = operand
        self.changed = True
        count = self.counts.get(target, 0) - 1
        for v in ir.variables(operand):
            self.counts[v] = self.counts.get(v, 0) + max(count, 0)
            if holds_memory(v.kind) and holds_memory(target.kind):
                self.union(v, target)

    def assign(self, s: ir.Assign) -> ir.Operand:
        """Append a call, simplified; what holds its value afterwards."""
        if self.replaced:
            ir.rename_uses(s, self.replaced)
        if not s.effect:
            for _ in range(20):
                result, again = self.rewrite(s)
                if result is not None:
                    return result
                if not again:
                    break
                self.changed = True
        key = self.key(s)
        if key is not None:
            for scope in self.scopes:
                if key in scope and not (self.escapes(s.target) and self.escapes(scope[key])):
                    self.counts[scope[key]] = self.counts.get(scope[key], 0) + 1
                    return scope[key]
            self.scopes[-1][key] = s.target
        self.out.append(s)
        return s.target

    def rewrite(self, s: ir.Assign) -> tuple[ir.Operand | None, bool]:
        """Apply one rule: (what replaces the call, if anything does; whether the call changed)."""
        folded = fold(s) if self.reversing and not s.writes else None
        if folded is not None:
            return folded, True
        for rule in self._rules(s.function):
            before = (s.function, s.args, s.kwargs)
            self.current = s
            result = rule(self, s)
            self.current = None
            if result is not None:
                return result, True
            if before != (s.function, s.args, s.kwargs):
                return None, True
        return None, False

    def _rules(self, function: Any) -> tuple[Rule, ...]:
        """The rules for calls of a function."""
        try:
            found = self.rules.get((function, self.reversing))
            if found is None:
                found = (*SPREADING.get(function, ()), *FORWARD.get(function, ()))
                if self.reversing:
                    found += (*ALGEBRA.get(function, ()), *STORES.get(function, ()))
                    if is_elementwise(function):
                        found = (*ELEMENTWISE, *found)
                self.rules[function, self.reversing] = found
            return found
        except TypeError:  # not hashable
            return ()

    def key(self, s: ir.Assign) -> Any:
        """What two calls that yield the same value have in common; None if it may differ."""
        if s.effect or s.writes or holds_objects(s.target.kind):
            return None
        if s.function is operator.call or not self.stable(s.target):
            return None
        parts = []
        for operand in s.operands():
            part = self.operand_key(operand)
            if part is None:
                return None
            parts.append(part)
        operands: Any = tuple(parts)
        if s.function in COMMUTATIVE and len(parts) == 2 and parts[0] != parts[1]:
            if all(number_kind(a) is not None for a in s.args):
                operands = frozenset(parts)
        key = (s.function, operands, tuple(k for k, _ in s.kwargs))
        try:
            hash(key)
        except TypeError:
            return None
        return key

    def operand_key(self, operand: ir.Operand) -> Any:
        match operand:
            case ir.Var():
                if isinstance(operand.kind, Opaque) or not self.stable(operand):
                    return None
                return operand
            case ir.Const():
                return constant_key(operand.value)
            case ir.Pack():
                inner = [self.operand_key(item) for item in operand.items]
                return None if any(i is None for i in inner) else (operand.type, *inner)

    def branch(self, s: ir.If) -> None:
        ir.rename_uses(s, self.replaced)
        if isinstance(s.test, ir.Const) and isinstance(s.test.value, (bool, int, float)):
            taken = s.then if s.test.value else s.orelse
            scope_out = self.out
            self.block(taken)
            self.out = scope_out
            self.out.extend(taken.statements)
            for target, result in zip(s.targets, taken.results, strict=True):
                self.replace(target, result)
            return
        self.block(s.then)
        self.block(s.orelse)
        if self.reversing:
            for inner in (s.then, s.orelse):
                inner.results = tuple(map(_precise, s.targets, inner.results))
        keep = []
        for k, target in enumerate(s.targets):
            a, b = s.then.results[k], s.orelse.results[k]
            if (a is b and a is not ir.UNDEFINED) or _same_constant(a, b):
                self.replace(target, a)
            elif self._is_test(s.test, a, b) and target.kind == BOOL:
                self.replace(target, s.test)
            else:
                keep.append(k)
        if len(keep) < len(s.targets):
            s.then.results = tuple(s.then.results[k] for k in keep)
            s.orelse.results = tuple(s.orelse.results[k] for k in keep)
            s.targets = tuple(s.targets[k] for k in keep)
        self.out.append(s)

    def _is_test(self, test: ir.Operand, then: ir.Operand, orelse: ir.Operand) -> bool:
        """Whether what two branches end with is the test itself."""
        ends = ir.is_constant(then, True) and ir.is_constant(orelse, False)
        return ends and isinstance(test, ir.Var) and test.kind == BOOL

    def loop(self, s: ir.Loop) -> None:
        ir.rename_uses(s, self.replaced)
        if self.reversing:
            s.inits = tuple(map(_precise, s.params, s.inits))
        # a parameter that never changes is its initial value
        keep = []
        for k, param in enumerate(s.params):
            result, init = s.body.results[k], s.inits[k]
            unchanged = result is param or (isinstance(result, ir.Var) and result is init)
            value = self._constantly(param, init) if unchanged else None
            if value is not None:
                self.replace(param, value)
                self.replace(s.targets[k], value)
            else:
                keep.append(k)
        if len(keep) < len(s.params):
            flags = s.body.results[len(s.params) :]
            s.body.results = tuple(s.body.results[k] for k in keep) + flags
            s.inits = tuple(s.inits[k] for k in keep)
            s.params = tuple(s.params[k] for k in keep)
            s.targets = tuple(s.targets[k] for k in keep)
        self.block(s.body)
        self._flags(s)
        self.out.append(s)

    def _flags(self, s: ir.Loop) -> None:
        """After a loop that only its exit flag ends, the flag is true."""
        leaves = (isinstance(t, ir.Assign) and t.function is leave_unless for t in ir.walk(s.body))
        if s.range is not None or not s.exits or any(leaves):
            return
        flag = s.body.results[-1]
        for target, result in zip(s.targets, s.body.results, strict=False):
            if result is flag and isinstance(flag, ir.Var) and not target.user:
                if self.counts.get(target):
                    self.replace(target, ir.Const(True))

    def _constantly(self, param: ir.Var, init: ir.Operand) -> ir.Operand | None:
        """What may stand for a parameter that is always its initial value."""
        made = _made_by(param.kind)
        if isinstance(init, ir.Var):
            other = isinstance(init.kind, Scalar) and _made_by(init.kind) is not made
            return None if made is not None and other else init
        if init is ir.UNDEFINED or not isinstance(init, ir.Const):
            return None
        if made is not None and isinstance(init.value, (int, float, complex)):
            # with Python's number what is computed from it might be of double precision, or real
            return ir.Const(made(init.value))
        return None if isinstance(param.kind, (Array, ListOf)) else init


def _precise(var: ir.Var, operand: ir.Operand) -> ir.Operand:
    """An adjoint that is Python's number where it's to be one of NumPy's, or complex."""
    made = _made_by(var.kind)
    number = isinstance(operand, ir.Const) and type(operand.value) in (int, float, complex)
    return ir.Const(made(operand.value)) if number and made is not None else operand  # type: ignore[union-attr]


def _made_by(kind: Kind) -> type | None:
    """What makes a number of Python's one that is less precise than Python's are, or complex."""
    if not isinstance(kind, Scalar) or kind.dtype is None:
        return None
    if kind.dtype.char == "D":
        return complex
    return kind.dtype.type if kind.dtype.char in "efF" and not kind.python else None


def _same_constant(a: ir.Operand, b: ir.Operand) -> bool:
    if not (isinstance(a, ir.Const) and isinstance(b, ir.Const)):
        return False
    x, y = a.value, b.value
    return type(x) is type(y) and is_plain(x) and repr(x) == repr(y)
