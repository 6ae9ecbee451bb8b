"""Forward mode: from a function to the function that also carries tangents along.

Each active variable gets a twin that holds its tangent, and each statement is followed by that of
its tangent. Memory needs no analysis: tangent arrays are made, viewed and written wherever the
primal ones are, so that they alias as the primal ones do.

There are no rules of forward mode. What is linear is applied to tangents (`rules/linear.py` lists
it). The partial derivatives of an elementwise function serve both modes; of any other function,
the adjoint rule is a linear map from `d_out` to the contributions, and its transpose, made by
reverse mode itself, is the tangent.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from .. import ir
from ..analysis.activity import INTO_AN_ARRAY, UNKNOWN_OBJECT
from ..analysis.aliasing import holds_memory
from ..analysis.inference import Inferred
from ..analysis.usage import PRODUCTS
from ..emit import runtime
from ..errors import UnsupportedError
from ..frontend.operations import list_append
from ..frontend.units import emit_call
from ..frontend.values import Tuple
from ..kinds import Array, ListOf, Opaque, Scalar, TupleOf
from ..rules import registry
from .application import name_of
from .contributions import NONE, adjoint_kind, is_zero
from .recording import record
from .reverse import Adjoint

ZERO = ir.Const(0.0)
HOLDING: frozenset[Any] = frozenset({operator.getitem, np.array})
OUT_OF_PLACE: dict[Any, Any] = {
    operator.imul: operator.mul,
    operator.itruediv: operator.truediv,
    operator.ipow: operator.pow,
    operator.imod: operator.mod,
    operator.ifloordiv: operator.floordiv,
    operator.imatmul: operator.matmul,
}
LINEAR_WRITES = {np.add.at, operator.iadd, operator.isub, np.subtract.at}


class Tangent(Adjoint):
    """Emits a function's statements with those of their tangents."""

    tangents: dict[ir.Var, ir.Operand]

    def transform(self, block: ir.Block, given: dict[ir.Var, ir.Operand]) -> ir.Block:
        """The block with tangents; `given` has those of the inputs."""
        self.tangents = dict(given)
        self.moved: dict[ir.Var, dict[int, int]] = {}  # of a call: where the tangents are
        self.taken: dict[ir.Var, dict[int, ir.Var]] = {}  # or the tangents themselves
        self.unbounded: set[ir.Var] = set()  # whose tangents may be infinite where they aren't used
        self.fresh: set[ir.Var] = set()  # checked when it runs to share no memory
        self.memory: set[ir.Var] = {
            t for v, t in given.items() if isinstance(t, ir.Var) and self.aliasing.is_written(v)
        }
        return self._transformed(block)

    def tangent(self, operand: ir.Operand) -> ir.Operand | None:
        """The tangent of an operand, None if it is zero."""
        if isinstance(operand, ir.Var):
            return self.tangents.get(operand)
        return None

    def full(self, operand: ir.Operand) -> ir.Operand:
        """The tangent of an operand, zeros if it has none."""
        known = self.tangent(operand)
        if known is not None:
            return known
        if isinstance(operand, ir.Pack):
            return ir.Pack(operand.type, tuple(self.full(item) for item in operand.items))
        if operand is ir.UNDEFINED or not isinstance(operand, ir.Var):
            return operand if operand is ir.UNDEFINED else ZERO
        return self.zero(operand)

    def _transformed(self, block: ir.Block) -> ir.Block:
        outer, self.block = self.block, ir.Block()
        result = self.block
        for s in block.statements:
            self.span = s.span
            match s:
                case ir.Assign():
                    self._assign(s)
                case ir.If():
                    self._if(s)
                case ir.Loop():
                    self._loop(s)
        result.results = block.results
        self.block = outer
        return result

    # Control flow

    def _active(self, var: ir.Var) -> bool:
        return self.activity.active(var)

    def _twin_of(self, var: ir.Var) -> ir.Var:
        kind = Scalar(var.kind.dtype, None) if isinstance(var.kind, Scalar) else var.kind
        twin = ir.Var(f"t_{var.name}", kind, partial=var.partial)
        self.tangents[var] = twin
        if self.aliasing.is_written(var):
            self.memory.add(twin)
        return twin

    def _if(self, s: ir.If) -> None:
        s.then, s.orelse = self._transformed(s.then), self._transformed(s.orelse)
        twins = [k for k, t in enumerate(s.targets) if self._active(t)]
        for branch in (s.then, s.orelse):
            outer, self.block = self.block, branch
            branch.results += tuple(self.full(branch.results[k]) for k in twins)
            self.block = outer
        self.block.statements.append(s)
        s.targets += tuple(self._twin_of(s.targets[k]) for k in twins)

    def _loop(self, s: ir.Loop) -> None:
        twins = [k for k, p in enumerate(s.params) if self._active(p)]
        inits = tuple(self.full(s.inits[k]) for k in twins)
        params = tuple(self._twin_of(s.params[k]) for k in twins)
        count = len(s.params)
        body = self._transformed(s.body)
        outer, self.block = self.block, body
        results = tuple(self.full(body.results[k]) for k in twins)
        self.block = outer
        body.results = (*body.results[:count], *results, *body.results[count:])
        s.body, s.params, s.inits = body, s.params + params, s.inits + inits
        self.block.statements.append(s)
        s.targets += tuple(self._twin_of(s.targets[k]) for k in twins)

    # Statements

    def _assign(self, s: ir.Assign) -> None:
        if isinstance(s.function, ir.Unit):
            self._unit(s)
            return
        if self.takes_result(s):
            self._unit_result(s)
            return
        if s.writes:
            self._write(s)
            return
        self.block.statements.append(s)
        self.definitions[s.target] = s
        if not self._active(s.target) or s.target in self.tangents:
            return  # of an item of an input, the tangent is given
        before = len(self.block.statements)
        tangent = self._tangent_of(s)
        written = isinstance(s.target.kind, Array) and self.aliasing.is_written(s.target)
        if written and (not s.views or s.target in self.fresh):
            if not self._is_own(tangent, s.target, self.block.statements[before:]):
                tangent = self._own(tangent, s.target)
        elif isinstance(tangent, ir.Var) and not s.views and self._is_memory(tangent, set()):
            # the primal is a copy, so its tangent is one too
            tangent = self.emit(
                np.ndarray.copy, (tangent,), inferred=Inferred(tangent.kind), name=tangent.name
            )
        if tangent is not None:
            self.tangents[s.target] = tangent
            if self._used_in_part(s) or not self.unbounded.isdisjoint(ir.uses(s)):
                self.unbounded.add(s.target)
            if isinstance(tangent, ir.Var) and self.aliasing.is_written(s.target):
                self.memory.add(tangent)
            if isinstance(tangent, ir.Var) and not tangent.name.startswith("t_"):
                tangent.name = f"t_{s.target.name}"

    def _unit(self, s: ir.Assign) -> None:
        """The call of a unit: its tangent function computes results and tangents together."""
        active = self._active(s.target) or any(self._active(v) for v in s.writes)
        if not active or all(self.tangent(a) is None for a in s.args):
            self.block.statements.append(s)
            self.definitions[s.target] = s
            return
        unit: ir.Unit = s.function
        rule = unit.own_rule()
        if rule is not None and self._by_rule_transposed(s, rule):
            return
        self.refuse_views(s)
        wrt, outputs = self.selection(s)
        from ..units import tangent

        function = tangent(unit, wrt, outputs)
        whole = self._whole(s, tuple(unit.kinds[i] for i in outputs)) if outputs else s.target
        moving = tuple(self.full(s.args[i]) for i in wrt)
        writes = (*s.writes, *(t for v in s.writes if isinstance(t := self.tangent(v), ir.Var)))
        call = ir.Assign(
            whole, function, (*s.args, *moving), span=s.span, views=s.views, certain=s.certain,
            writes=writes, effect=s.effect,
        )  # fmt: skip
        self.block.statements.append(call)
        self.definitions[whole] = call
        self.called[whole] = call
        self.moved[whole] = {i: len(unit.kinds) + k for k, i in enumerate(outputs)}
        if whole is not s.target and unit.kinds:
            views = (whole,) if holds_memory(s.target.kind) else ()
            item = (whole, ir.Const(0))
            self._unit_result(ir.Assign(s.target, operator.getitem, item, span=s.span, views=views))

    def _by_rule_transposed(self, s: ir.Assign, rule: ir.Rule) -> bool:
        """The call of a unit whose derivative is given: the tangent is the rule's transpose."""
        active = [i for i, v in self.results_of(s) if self._active(v)]
        if not set(active) <= set(rule.outputs):
            return False
        from ..units import transposed

        self.refuse_unknown(s, rule)
        self.refuse_shared_outputs(s, rule)
        self.block.statements.append(s)
        self.definitions[s.target] = s
        results = self.results(s)
        unused = tuple(self.zero(r) for i in rule.outputs if isinstance(r := results[i], ir.Var))
        wanted = zip(rule.positions, rule.function.block.results, strict=True)
        moving = tuple(self.full(s.args[i]) for i, c in wanted if isinstance(c, ir.Var))
        function = transposed(s.function, rule)
        targets = [
            ir.Var(f"t_{s.target.name}", adjoint_kind(r.kind))
            for i in rule.outputs if isinstance(r := results[i], ir.Var)
        ]  # fmt: skip
        emit_call(self, function, (*s.args, *results, *unused, *moving), targets)
        self._define_last(1 + len(targets) * (len(targets) != 1))
        if isinstance(s.target.kind, TupleOf):
            self.called[s.target] = s
            self.taken[s.target] = dict(zip(rule.outputs, targets, strict=True))
        else:
            self.tangents[s.target] = targets[0]
            if self.aliasing.is_written(s.target):
                self.memory.add(targets[0])
        return True

    def _unit_result(self, s: ir.Assign) -> None:
        """Take a result of a tangent function, and its tangent."""
        self.block.statements.append(s)
        self.definitions[s.target] = s
        whole, key = s.args
        assert isinstance(whole, ir.Var) and isinstance(key, ir.Const)
        if whole in self.taken:
            if key.value in self.taken[whole]:
                self.tangents[s.target] = self.taken[whole][key.value]
                if self.aliasing.is_written(s.target):
                    self.memory.add(self.taken[whole][key.value])
            return
        position = self.moved[whole].get(key.value)
        if position is None:
            return
        assert isinstance(whole.kind, TupleOf)
        views = (whole,) if holds_memory(s.target.kind) else ()
        tangent = self.emit(
            operator.getitem,
            (whole, ir.Const(position)),
            inferred=Inferred(whole.kind.items[position], views),
            name=f"t_{s.target.name}",
        )
        if isinstance(s.target.kind, Array) and self.aliasing.is_written(s.target):
            tangent = self.emit(np.array, (tangent,), inferred=Inferred(tangent.kind))
            self.memory.add(tangent)
        self.tangents[s.target] = tangent

    def _is_memory(self, tangent: ir.Var, seen: set[ir.Var]) -> bool:
        """Whether a tangent shares memory with that of an array that is written in place."""
        if not isinstance(tangent.kind, Array) or tangent in seen:
            return False
        if tangent in self.memory:
            return True
        seen.add(tangent)
        definition = self.definitions.get(tangent)
        return definition is not None and any(self._is_memory(v, seen) for v in definition.views)

    def _is_own(self, tangent: ir.Operand | None, var: ir.Var, made: list[ir.Statement]) -> bool:
        """Whether a tangent is an array made just now, which nothing else refers to."""
        if not isinstance(tangent, ir.Var) or tangent.kind != var.kind:
            return False
        if self.aliasing.find(var) in self.reshaped:
            return False  # it must lie in memory as the primal does
        definition = self.definitions.get(tangent)
        return definition in made and not definition.views

    def _own(self, tangent: ir.Operand | None, var: ir.Var) -> ir.Var:
        """An array of its own for the tangent of one that is written in place."""
        if tangent is not None and isinstance(var.kind, Array) and var.kind.shape is None:
            inferred = Inferred(var.kind)  # it may be a number
            return self.emit(runtime.filled_like, (tangent, var), inferred=inferred, name=var.name)
        made = self.shadow_zeros(var) if isinstance(var.kind, Array) else self._zeros_like(var)
        if tangent is not None:
            self._store_all(made, tangent)
        return made

    def _store_all(self, array: ir.Var, value: ir.Operand) -> None:
        self.emit(
            operator.setitem,
            (array, ir.Const(Ellipsis), value),
            inferred=Inferred(Opaque(None)),
            writes=(array,),
        )

    def _moving(self, s: ir.Assign) -> list[ir.Operand]:
        """The operands with a tangent."""
        return [
            o for o in s.operands() if any(self.tangent(v) is not None for v in ir.variables(o))
        ]

    def _tangent_of(self, s: ir.Assign) -> ir.Operand | None:
        """The tangent of a statement's result."""
        if s.function in (list, tuple):
            return self._mirrored(s, self.full)
        if isinstance(s.target.kind, ListOf):
            return self._mirrored(s, self._of_container)
        moving = self._moving(s)
        like = registry.shape_only.get(s.function)
        if like is not None:
            moving = [o for o in moving if o is not s.args[like]]
        if not moving:
            return None
        first = s.args[0] if s.args else None
        if isinstance(first, ir.Var) and self.tangent(first) is not None:
            container = isinstance(first.kind, (ListOf, TupleOf)) and self._is_structural(s)
            alone = len(moving) == 1 and moving[0] is first
            by = registry.linear_in.get(registry.methods.get(s.function, s.function))
            moved = by is not None and bool(s.views) and self._is_linear(s, by, (TupleOf,))
            if container or (alone and (moved or s.function is operator.getitem)):
                if s.certain or not self.aliasing.is_written(s.target):
                    return self._mirrored(s, lambda o: self.full(o) if o is first else o)
                return self._mirrored_or_copied(s, first)
        if s.views and self.aliasing.is_written(s.target):
            self._check_fresh(s)
        record_ = registry.lookup(s.function)
        whole: dict[ir.Var, ir.Operand] = {}
        everywhere = [v for o in s.operands() for v in ir.variables(o)]
        for i, operand in enumerate(s.args):
            if isinstance(operand, ir.Var) and everywhere.count(operand) == 1:
                tangent = self.tangent(operand)
                if tangent is not None:
                    whole[operand] = tangent
                    self.tangents[operand] = self._used_of(s, i, operand, tangent)
        try:
            return self._by_derivative(s, record_)
        finally:
            self.tangents.update(whole)

    def _used_of(self, s: ir.Assign, i: int, operand: ir.Var, moving: ir.Operand) -> ir.Operand:
        """The tangent of an operand with zeros where it isn't used: there it may be nan."""
        record_ = registry.lookup(s.function)
        test = self.used_where(record_, operand) if i == 0 else None
        if test is not None:
            parts = (moving, ZERO) if test[1] else (ZERO, moving)
            return self.emit(np.where, (test[0], *parts))
        if operand not in self.unbounded or record_ is None:
            return moving
        if s.function in PRODUCTS:
            return self._used_in_product(moving, s.args[1 - i])
        if record_.chooses in ("bound", "position"):
            return self._chosen_of(s, record_, i, moving)
        return moving

    def _used_in_product(self, moving: ir.Operand, factor: ir.Operand) -> ir.Operand:
        """A tangent with zeros where a factor is zero that is a mask, or made by one."""
        if not isinstance(factor, ir.Var) or not self.partial_use.is_sparse(factor):
            return moving
        assert isinstance(factor.kind, Array)
        if factor.kind.dtype is not None and factor.kind.dtype.kind == "b":
            return self.emit(np.where, (factor, moving, ZERO))
        if isinstance(moving, ir.Var) and isinstance(moving.kind, Array):
            if moving.kind.shape == factor.kind.shape is not None:
                inferred = Inferred(moving.kind)
                return self.emit(runtime.unless_zero, (moving, factor), inferred=inferred)
        return moving

    def _chosen_of(
        self, s: ir.Assign, record_: registry.Primitive, i: int, moving: ir.Operand
    ) -> ir.Operand:
        """A tangent with zeros where the adjoint rule, of a maximum say, contributes nothing."""
        if record_.adjoint is None:
            return moving
        values, named = self._values(s), self._named(s)
        d_out = self.emit(np.ones_like, (s.target,))
        known = {**named, "out": s.target, "d_out": d_out}
        result = self.inline(record_.adjoint, values, known)  # type: ignore[arg-type]
        contributions = self._contributions(result)
        if i >= len(contributions) or is_zero(contributions[i]):
            return moving
        counts = self.operand(self.binary(operator.ne, contributions[i], ZERO))
        return self.emit(np.where, (counts, moving, ZERO))

    def _by_derivative(self, s: ir.Assign, record_: registry.Primitive | None) -> ir.Operand | None:
        if record_ is not None and record_.tangent is not None:
            return self._by_tangent(s, record_.tangent)
        if record_ is not None and record_.zero:
            return None
        by = registry.linear_in.get(registry.methods.get(s.function, s.function))
        if by is not None and self._is_linear(s, by):
            return self._by_linearity(s, by)
        if record_ is None or (record_.adjoint is None and record_.partials is None):
            self._refuse_missing(s, record_)
        assert record_ is not None
        reason = registry.reverse_only.get(s.function)
        if reason is not None:
            raise UnsupportedError(f"{name_of(s.function)} has no tangent: {reason}", s.span)
        if record_.partials is not None:
            return self._by_partials(s, record_.partials)
        return self._by_transposition(s)

    def _check_fresh(self, s: ir.Assign) -> None:
        """Have it checked when it runs that a result is none of the views that it may be."""
        if s.certain:
            raise UnsupportedError(
                "this result shares memory with its arguments, and is written in place",
                s.span,
                "make a copy of it first: .copy()",
            )
        operands = (s.target, ir.Pack(tuple, tuple(v for v in s.views if holds_memory(v.kind))))
        none = Inferred(Opaque(None))
        self.emit(runtime.check_fresh, operands, inferred=none, effect=True, name="_")
        self.fresh.add(s.target)

    def _is_structural(self, s: ir.Assign) -> bool:
        """Whether a function of a container does the same with its items and their tangents."""
        function = registry.methods.get(s.function, s.function)
        record_ = registry.lookup(s.function)
        computes = record_ is not None and (record_.adjoint or record_.partials) is not None
        return not computes or function in HOLDING or function in registry.linear_in

    def _is_linear(self, s: ir.Assign, by: range, also: tuple[type, ...] = ()) -> bool:
        """Whether a call is linear in each of the operands that move.

        It returns an array or a number, or what is one of the kinds in `also`.
        """
        if any(k in registry.OFFSETS for k, _ in s.kwargs):
            return False
        known = (o.value for o in s.operands() if isinstance(o, ir.Const))
        if any(isinstance(value, str) and value in ("K", "A") for value in known):
            return False  # the tangent may lie in memory in another order
        like = registry.shape_only.get(s.function)
        still = [a for i, a in enumerate(s.args) if i not in by and i != like]
        still += [a for _, a in s.kwargs]
        if any(self.tangent(v) is not None for a in still for v in ir.variables(a)):
            return False
        packs = [a for a in s.args if isinstance(a, ir.Pack) and self._moves(a)]
        arrays = isinstance(s.target.kind, (Array, Scalar, *also))
        return arrays and all(isinstance(item, ir.Var) for p in packs for item in p.items)

    def _moves(self, operand: ir.Operand) -> bool:
        return any(self.tangent(v) is not None for v in ir.variables(operand))

    def _by_linearity(self, s: ir.Assign, by: range) -> ir.Operand:
        """The same call with one operand after the other replaced by its tangent, added up."""
        total: Any = None
        for i, moving in enumerate(s.args):
            if i in by and self._moves(moving):
                args = (*s.args[:i], self.full(moving), *s.args[i + 1 :])
                term = self.emit(s.function, args, dict(s.kwargs), name=f"t_{s.target.name}")
                total = term if total is None else self.binary(operator.add, total, term)
        return self.fit(self.operand(total), s.target.kind, s.target)

    def _of_container(self, operand: ir.Operand) -> ir.Operand:
        """The tangent of an operand that is a list, any other operand as it is."""
        known = isinstance(operand, ir.Var) and isinstance(operand.kind, (ListOf, TupleOf))
        return self.full(operand) if known else operand

    def _mirrored(self, s: ir.Assign, change: Any) -> ir.Var:
        """The same call applied to tangents."""
        args = tuple(change(a) for a in s.args)
        views = tuple(t for v in s.views if isinstance(t := self.tangent(v), ir.Var))
        inferred = Inferred(s.target.kind, views, s.certain)
        twin = self.emit(s.function, args, dict(s.kwargs), inferred=inferred)
        twin.name = f"t_{s.target.name}"
        return twin

    def _mirrored_or_copied(self, s: ir.Assign, first: ir.Var) -> ir.Var:
        """The tangent of a reshape, a view exactly where the primal is one."""
        shares = self.emit(
            np.may_share_memory,
            (s.target, first),
            inferred=Inferred(Scalar(np.dtype(bool))),
            name="shares",
        )
        view = self._mirrored(s, lambda o: self.full(o) if o is first else o)
        then, orelse = ir.Block([], (view,)), ir.Block()
        outer, self.block = self.block, orelse
        order = {"order": ir.Const("K")}
        copy = self.emit(np.ndarray.copy, (view,), order, inferred=Inferred(s.target.kind))
        orelse.results = (copy,)
        self.block = outer
        target = ir.Var(f"t_{s.target.name}", s.target.kind)
        self.memory.add(target)
        self.block.statements.append(ir.If(shares, then, orelse, (target,), s.span))
        return target

    def _by_tangent(self, s: ir.Assign, rule: Any) -> ir.Operand | None:
        self._check_keywords(s, rule)
        if any(self.tangent(v) is not None for _, o in s.kwargs for v in ir.variables(o)):
            raise UnsupportedError(
                f"the forward rule of {name_of(s.function)} knows of no tangents of keywords",
                s.span,
                "pass what is differentiated by position",
            )
        moving = [
            self._value(self.full(a)) if any(self.tangent(v) for v in ir.variables(a)) else NONE
            for a in s.args
        ]
        named = {**self._named(s), "out": self._value(s.target), "tangents": Tuple(tuple(moving))}
        result = self.inline(rule, self._values(s), named)
        if isinstance(result, ir.Const) and result.value is None:
            return None
        if isinstance(s.target.kind, TupleOf):
            return self._tuple(s, [self.operand(item) for item in self.unpacked(result)])
        return self.fit(self.operand(result), s.target.kind, s.target)

    def _tuple(self, s: ir.Assign, results: list[ir.Operand]) -> ir.Operand:
        """The tangent of a tuple, of those of its items."""
        if self.may_be_complex:
            results = [self._projected(s.target, i, r) for i, r in enumerate(results)]
        packed = ir.Pack(list, tuple(results))
        inferred = Inferred(s.target.kind)
        return self.emit(tuple, (packed,), inferred=inferred, name=f"t_{s.target.name}")

    def _by_partials(self, s: ir.Assign, rule: Any) -> ir.Operand | None:
        self._check_keywords(s, rule)
        result = self.inline(
            rule, self._values(s), {**self._named(s), "out": self._value(s.target)}
        )
        total: Any = None
        for operand, p in zip(s.args, self._contributions(result), strict=False):
            tangent = self.tangent(operand)
            if tangent is None or is_zero(p):
                continue
            if isinstance(p, ir.Const) and isinstance(p.value, registry.Unknown):
                self._refuse_unknown(s, p.value)
            term = self.binary(operator.mul, tangent, self.plain(p))  # type: ignore[arg-type]
            total = term if total is None else self.binary(operator.add, total, term)
        if total is None:
            return None
        return self.fit(self.operand(total), s.target.kind, s.target)

    def _by_transposition(self, s: ir.Assign) -> ir.Operand | None:
        """The transpose of the adjoint rule, applied to the tangents of the operands."""
        inner = Adjoint(ir.Function("rule", (), ir.Block()), [], [])
        inner.within(self)
        inner.definitions, inner.span = self.definitions, s.span
        inner.may_be_complex = self.may_be_complex
        d_out, seeds = _adjoint_like(s.target)
        collected: list[tuple[ir.Var, ir.Operand]] = []

        class Collector(Adjoint):
            def add(self, var: ir.Var, contribution: Any) -> None:
                operand = self.operand(contribution)
                if isinstance(operand, ir.Pack):
                    operand = self.number(contribution)
                collected.append((var, self.fit(operand, var.kind, var)))

        collector = Collector(ir.Function("rule", (), ir.Block()), [], [])
        collector.__dict__.update(inner.__dict__)
        collector.activity = _Moving(self)  # type: ignore[assignment]
        collector.block = ir.Block()
        collector.apply(s, d_out)
        outputs = [c for _, c in collected if isinstance(c, ir.Var)]
        rule = ir.Function("rule", tuple(seeds), collector.block)
        transpose = Adjoint(rule, seeds, outputs)
        transpose.within(self)
        transpose.may_be_complex = self.may_be_complex
        forward = transpose.augment(collector.block)
        transpose.block = ir.Block()
        for var, c in collected:
            tangent = self.tangent(var)
            if isinstance(c, ir.Var) and tangent is not None:
                if isinstance(c.kind, Array) and not isinstance(var.kind, Array):
                    tangent = transpose.emit(np.asarray, (tangent,), inferred=Inferred(c.kind))
                transpose.add(c, tangent)
        transpose.reverse(forward)
        parts = [transpose.take(seed) for seed in seeds]
        results: list[ir.Operand] = []
        for seed, part in zip(seeds, parts, strict=True):
            if part is None:
                results.append(transpose.zero(seed) if isinstance(seed.kind, Array) else ZERO)
            else:
                results.append(transpose.operand(part))
        whole = ir.Function(
            "rule", (), ir.Block(forward.statements + transpose.block.statements, tuple(results))
        )
        record(
            whole, len(forward.statements), transpose.mirrors, transpose.indices, transpose.lasting
        )
        # a linear map's transpose knows of d_out only its shape, which is the result's
        alike = self._parts(s.target, seeds)
        ir.rename(whole.block, alike)
        results = list(whole.block.results)
        self.block.statements += whole.block.statements
        self.definitions.update(transpose.definitions)
        if isinstance(s.target.kind, TupleOf):
            return self._tuple(s, results)
        if all(part is None for part in parts):
            return None
        return self.fit(results[0], s.target.kind, s.target)

    def _projected(self, whole: ir.Var, i: int, tangent: ir.Operand) -> ir.Operand:
        """The tangent of an item of a tuple, real if the item is."""
        assert isinstance(whole.kind, TupleOf)
        kind = whole.kind.items[i]
        if not isinstance(kind, (Array, Scalar)) or kind.dtype is not None:
            return tangent
        item = self.emit(
            operator.getitem, (whole, ir.Const(i)), inferred=Inferred(kind, (whole,)), name="item"
        )
        return self.fit(tangent, kind, item)

    def _parts(self, var: ir.Var, seeds: list[ir.Var]) -> dict[ir.Var, ir.Operand]:
        if not isinstance(var.kind, TupleOf):
            return {seeds[0]: var}
        return {seed: self._item_of(var, i) for i, seed in enumerate(seeds)}

    def _write(self, s: ir.Assign) -> None:
        written = s.writes[0]
        if not self._active(written):
            self._refuse_integer_store(s, written)
            self.block.statements.append(s)
            return
        into = self.tangent(written)
        if not isinstance(into, ir.Var):
            raise UnsupportedError(UNKNOWN_OBJECT, s.span, INTO_AN_ARRAY)
        if isinstance(written.kind, ListOf):
            self._write_list(s, into)
            return
        if s.function is operator.setitem:
            self.block.statements.append(s)
            self._call(s, (into, s.args[1], self.full(s.args[2])), into)
        elif s.function in LINEAR_WRITES:
            self.block.statements.append(s)
            if self.tangent(s.args[-1]) is not None:
                self._call(s, (into, *s.args[1:-1], self.full(s.args[-1])), into)
        elif s.function in OUT_OF_PLACE:
            # x op= y: the tangent of x op y, from x as it was before
            kind = written.kind
            virtual = self.emit(
                OUT_OF_PLACE[s.function], s.args, inferred=Inferred(kind), name="new"
            )
            definition = self.block.statements[-1]
            assert isinstance(definition, ir.Assign)
            self.activity.varied.add(virtual)
            self.activity.useful.add(virtual)
            tangent = self._tangent_of(definition)
            self._store_all(into, ZERO if tangent is None else tangent)
            self.block.statements.append(s)
        else:
            raise UnsupportedError(
                f"{getattr(s.function, '__name__', s.function)} has no forward rule", s.span
            )

    def _write_list(self, s: ir.Assign, into: ir.Var) -> None:
        self.block.statements.append(s)
        if s.function is list.pop:
            twin = self.emit(
                list.pop,
                (into, *s.args[1:]),
                inferred=Inferred(s.target.kind, (into,)),
                writes=(into,),
                name=f"t_{s.target.name}",
            )
            self.tangents[s.target] = twin
            return
        if s.function is list.reverse:
            self._call(s, (into,), into)
            return
        position = 1 if s.function is list_append else len(s.args) - 1
        args = tuple(self.full(a) if i == position else a for i, a in enumerate(s.args))
        self._call(s, (into, *args[1:]), into)

    def _call(self, s: ir.Assign, args: tuple[ir.Operand, ...], into: ir.Var) -> None:
        self.emit(s.function, args, dict(s.kwargs), inferred=Inferred(Opaque(None)), writes=(into,))


class _Moving:
    """Activity as the collector of a rule's contributions sees it: what has a tangent."""

    def __init__(self, tangent: Tangent) -> None:
        self.owner = tangent

    def active(self, operand: Any) -> bool:
        return isinstance(operand, ir.Var) and self.owner.tangent(operand) is not None

    def is_varied(self, operand: ir.Operand) -> bool:
        return any(self.active(v) for v in ir.variables(operand))


def _adjoint_like(var: ir.Var) -> tuple[Any, list[ir.Var]]:
    """A variable for the adjoint of a result, or a tuple of them."""
    if isinstance(var.kind, TupleOf):
        from ..frontend.values import Tuple

        parts = [ir.Var(f"d_{var.name}_{i}", kind) for i, kind in enumerate(var.kind.items)]
        return Tuple(tuple(parts)), parts
    seed = ir.Var(f"d_{var.name}", var.kind, origins=var.origins)
    return seed, [seed]
