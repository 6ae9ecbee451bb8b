"""Forward mode: from a function to the function that also carries tangents along.

Each active variable gets a twin that holds its tangent, and each statement is followed by that of
its tangent. Memory needs no analysis: tangent arrays are made, viewed and written wherever the
primal ones are, so that they alias as the primal ones do. `tangent_rules` has the tangent of what a
primitive returns.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from .. import ir
from ..analysis.activity import INTO_AN_ARRAY, UNKNOWN_OBJECT, carries
from ..analysis.aliasing import holds_memory
from ..analysis.inference import Inferred
from ..errors import UnsupportedError
from ..frontend.effects import emit_call
from ..ir import list_append
from ..kinds import Array, ListOf, Opaque, Scalar, TupleOf
from .contributions import adjoint_kind
from .lists import UNDONE
from .saturation import saturated
from .tangent_rules import ZERO, TangentRules

OUT_OF_PLACE: dict[Any, Any] = {
    operator.imul: operator.mul,
    operator.itruediv: operator.truediv,
    operator.ipow: operator.pow,
    operator.imod: operator.mod,
    operator.ifloordiv: operator.floordiv,
    operator.imatmul: operator.matmul,
}
LINEAR_WRITES = {np.add.at, operator.iadd, operator.isub, np.subtract.at}


def _kept_whole(block: ir.Block) -> set[ir.Var]:
    """The tuples of results of calls of which more is used than items: they are kept, say."""
    called: set[ir.Var] = set()
    used = [v for inner in ir.all_blocks(block) for v in ir.variables_of(inner.results)]
    for s in ir.walk(block):
        if isinstance(s, ir.Assign) and s.function is operator.getitem:
            used += ir.variables_of(s.args[1:])
            continue
        used += ir.uses(s)
        if isinstance(s, ir.Assign) and isinstance(s.function, ir.Unit):
            called.add(s.target)
    return {v for v in used if v in called and isinstance(v.kind, TupleOf)}


class Tangent(TangentRules):
    """Emits a function's statements with those of their tangents."""

    def transform(
        self, block: ir.Block, given: dict[ir.Var, ir.Operand], lent: bool = False
    ) -> ir.Block:
        """The block with tangents; `given` has those of the inputs.

        `lent`: these belong to a caller, who may write into them when the function is done.
        """
        self.tangents = dict(given)
        self.moved: dict[ir.Var, dict[int, int]] = {}  # of a call: where the tangents are
        self.taken: dict[ir.Var, dict[int, ir.Var]] = {}  # or the tangents themselves
        self.unbounded, self.fresh, self.source = set(), set(), block
        self.kept_whole = _kept_whole(block)
        self.lent = {self.aliasing.find(v) for v in given} if lent else set()
        self.memory = {t for v, t in given.items() if isinstance(t, ir.Var) and self._may_change(v)}
        return self._transformed(block)

    def _transformed(self, block: ir.Block) -> ir.Block:
        outer, self.block = self.block, ir.Block()
        around, self.source = self.source, block
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
        self.block, self.source = outer, around
        return result

    # Control flow

    def _active(self, var: ir.Var) -> bool:
        return self.activity.active(var)

    def _may_change(self, var: ir.Var) -> bool:
        """Whether a variable's memory is written anywhere, or perhaps by a caller."""
        root = self.aliasing.find(var)
        return root in self.aliasing.written or root in self.lent

    def _twin_of(self, var: ir.Var) -> ir.Var:
        kind = Scalar(var.kind.dtype, None) if isinstance(var.kind, Scalar) else var.kind
        twin = ir.Var(f"t_{var.name}", kind, partial=var.partial)
        self.tangents[var] = twin
        if self._may_change(var):
            self.memory.add(twin)
        return twin

    def _if(self, s: ir.If) -> None:
        s.then, s.orelse = self._transformed(s.then), self._transformed(s.orelse)
        twins = [k for k, t in enumerate(s.targets) if self._active(t)]
        for branch in (s.then, s.orelse):
            outer, self.block = self.block, branch
            branch.results += tuple(self.full_for(s.targets[k], branch.results[k]) for k in twins)
            self.block = outer
        self.block.statements.append(s)
        s.targets += tuple(self._twin_of(s.targets[k]) for k in twins)

    def _loop(self, s: ir.Loop) -> None:
        twins = [k for k, p in enumerate(s.params) if self._active(p)]
        inits = tuple(self.full_for(s.params[k], s.inits[k]) for k in twins)
        params = tuple(self._twin_of(s.params[k]) for k in twins)
        count = len(s.params)
        body = self._transformed(s.body)
        outer, self.block = self.block, body
        results = tuple(self.full_for(s.params[k], body.results[k]) for k in twins)
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
        tangent = self.tangent_of(s)
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
            if isinstance(tangent, ir.Var) and self._may_change(s.target):
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
        if s.target in self.kept_whole:
            wrt, outputs = saturated(unit, wrt, self._carrying(s))
        from ..units import tangent

        function = tangent(unit, wrt, outputs)
        kinds = s.target.kind.items if isinstance(s.target.kind, TupleOf) else (s.target.kind,)
        whole = self._whole(s, tuple(kinds[i] for i in outputs)) if outputs else s.target
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
        if s.target in self.kept_whole:
            self._keep_tangents(s, {i: self._moved(whole, k) for i, k in self.moved[whole].items()})
        if whole is not s.target and unit.kinds:
            views = (whole,) if holds_memory(s.target.kind) else ()
            item = (whole, ir.Const(0))
            self._unit_result(ir.Assign(s.target, operator.getitem, item, span=s.span, views=views))

    def _by_rule_transposed(self, s: ir.Assign, rule: ir.Rule) -> bool:
        """The call of a unit whose derivative is given: the tangent is the rule's transpose."""
        active = self.active_results(s)
        if s.target in self.kept_whole:
            active = self._carrying(s)
        if not set(active) <= set(rule.outputs):
            return False
        from ..units import transposed

        self.refuse_unknown(s, rule)
        self.refuse_shared_outputs(s, rule)
        rule = rule.by(i for i in rule.positions if self.tangent(s.args[i]) is not None)
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
            if s.target in self.kept_whole:
                self._keep_tangents(s, self.taken[s.target])
        else:
            self.tangents[s.target] = targets[0]
            if self._may_change(s.target):
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
                if self._may_change(s.target):
                    self.memory.add(self.taken[whole][key.value])
            return
        position = self.moved[whole].get(key.value)
        if position is None:
            return
        tangent = self._moved(whole, position, f"t_{s.target.name}")
        if isinstance(s.target.kind, Array) and self.aliasing.is_written(s.target):
            tangent = self.emit(np.array, (tangent,), inferred=Inferred(tangent.kind))
        if self._may_change(s.target):
            self.memory.add(tangent)
        self.tangents[s.target] = tangent

    def _moved(self, whole: ir.Var, position: int, name: str = "") -> ir.Var:
        """What a tangent function returns at a position."""
        assert isinstance(whole.kind, TupleOf)
        kind = whole.kind.items[position]
        inferred = Inferred(kind, (whole,) if holds_memory(kind) else ())
        return self.emit(
            operator.getitem, (whole, ir.Const(position)), inferred=inferred, name=name
        )

    @staticmethod
    def _carrying(s: ir.Assign) -> tuple[int, ...]:
        """The results of a call that may have tangents."""
        return tuple(i for i, kind in enumerate(s.function.kinds) if carries(kind))

    def _keep_tangents(self, s: ir.Assign, tangents: dict[int, ir.Var]) -> None:
        """Note the tuple of the tangents of a call's results, which are kept in one."""
        items: list[ir.Operand] = []
        for i, kind in enumerate(s.function.kinds):
            if i in tangents:
                items.append(tangents[i])
            else:
                still = isinstance(kind, Array)
                items.append(self.full(self._moved(s.target, i)) if still else ZERO)
        self.tangents[s.target] = ir.Pack(tuple, tuple(items))

    def _is_own(self, tangent: ir.Operand | None, var: ir.Var, made: list[ir.Statement]) -> bool:
        """Whether a tangent is an array made just now, which nothing else refers to."""
        if not isinstance(tangent, ir.Var) or tangent.kind != var.kind:
            return False
        if self.aliasing.find(var) in self.reshaped:
            return False  # it must lie in memory as the primal does
        definition = self.definitions.get(tangent)
        return definition in made and not definition.views

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
            tangent = self.tangent_of(definition)
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
        if s.function in UNDONE:
            self._call(s, (into, *s.args[1:]), into)
            return
        position = 1 if s.function is list_append else len(s.args) - 1
        item = self.full_item(s.args[position], s.writes[0].kind)
        self._call(s, (into, *s.args[1:position], item, *s.args[position + 1 :]), into)

    def _call(self, s: ir.Assign, args: tuple[ir.Operand, ...], into: ir.Var) -> None:
        self.emit(s.function, args, dict(s.kwargs), inferred=Inferred(Opaque(None)), writes=(into,))
