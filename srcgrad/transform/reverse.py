"""Reverse mode: from a function to the function that also runs it backwards.

The forward sweep is the function itself, with shadows added (`shadows.py`). The reverse sweep
walks its statements backwards, and for each active one inlines the adjoint rule; what a rule
contributes to an operand is added to that operand's adjoint (`contributions.py`).

The reverse sweep refers to variables of the forward sweep as if they were still there; which of
them must be recorded is decided afterwards (`recording.py`).
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from .. import ir, runtime
from ..analysis.activity import INTO_AN_ARRAY, UNKNOWN_OBJECT
from ..analysis.inference import Inferred
from ..errors import UnsupportedError
from ..frontend.refusals import HOW_TO_ADD, name_of
from ..frontend.values import Tuple
from ..kinds import Array, Kind, ListOf, TupleOf
from ..rules import registry
from .application import names_repeatedly
from .contributions import adjoint_kind, is_zero
from .masks import Mask, yielded
from .unit_calls import UnitCalls


class Adjoint(UnitCalls):
    """Emits the reverse sweep."""

    def __init__(self, function: ir.Function, inputs: list[ir.Var], outputs: list[ir.Var]) -> None:
        super().__init__(function, inputs, outputs)
        self.mirrors: dict[int, ir.Block] = {}  # the block that undoes a block, by its id
        self.indices: dict[ir.Var, ir.Var] = {}  # a loop's index in the mirrored loop

    def reverse(self, block: ir.Block) -> None:
        """Emit the adjoint statements of a block, last statement first."""
        for s in reversed(block.statements):
            self.span = ir.origin(s.span, "reverse")
            match s:
                case ir.Assign():
                    self._reverse_assign(s)
                case ir.If():
                    self._reverse_if(s)
                case ir.Loop():
                    self._reverse_loop(s)

    def _reverse_assign(self, s: ir.Assign) -> None:
        if s.target in self.live_buffers:
            return  # the shadow of something
        if s in self.calls:
            self.reverse_call(s)
            return
        first = s.args[0] if s.args else None
        if self._on_list(s) or (isinstance(s.target.kind, ListOf) and s.target in self.shadows):
            self._reverse_on_list(s)
            return
        if s.writes:
            self._reverse_write(s)
            return
        mask: Mask | None = None
        if s.target in self.shadows:
            if s.target in self.mirrored:
                if s in self.shares:
                    self._reverse_copy(s)
                return
            d_out: Any = self.shadows[s.target]
            self.live_buffers.discard(d_out)
        elif isinstance(s.target.kind, TupleOf):
            d_out = self._tuple_adjoint(s)
        else:
            d_out, mask = self.take_unmasked(s)
        if d_out is None:
            return
        if isinstance(s.function, ir.Unit) and not any(map(self.activity.is_varied, s.operands())):
            return  # the result doesn't vary, though what it's merged with does
        if s.function is operator.getitem and isinstance(first, ir.Var):
            if isinstance(first.kind, TupleOf):
                key = s.args[1]
                assert isinstance(key, ir.Const)
                if self.activity.active(first):
                    self.add_part(first, key.value, d_out)
                return
        if s.function is tuple:
            self.distribute(s.args[0], d_out)
            return
        condition = self.condition(s) if mask is None else None
        if condition is None:
            self.apply(s, d_out, mask)
        else:
            self._reverse_on_condition(s, d_out, *condition)

    def _reverse_on_condition(
        self, s: ir.Assign, d_out: Any, test: ir.Operand, value: bool
    ) -> None:
        """The adjoint of a statement the result of which is used if a test has a value."""
        outer, before, buffers = self.block, dict(self.adjoints), dict(self.buffers)
        last = outer.statements[-1] if outer.statements else None
        if not (isinstance(last, ir.If) and last.test is test and self._apart(s, last)):
            last = ir.If(test, ir.Block(), ir.Block(), (), self.span)
            outer.statements.append(last)
        taken, other = (last.then, last.orelse) if value else (last.orelse, last.then)
        d_out = yielded(d_out, dict(zip(last.targets, taken.results, strict=True)))
        self.block = taken
        self.apply(s, d_out)
        self._settle_buffers(buffers)
        results = [(taken, self.adjoints), (other, before)]
        self.adjoints, self.block = before, outer
        self._join(last, set(), results if value else results[::-1], before)

    def _apart(self, s: ir.Assign, last: ir.If) -> bool:
        """Whether no operand of a statement has an adjoint that comes from these branches."""
        return not any(self.adjoints.get(v) in last.targets for v in ir.uses(s))

    def _puts_active(self, s: ir.Assign) -> bool:
        """Whether a statement puts an active value into a list."""
        return any(self.activity.active(v) for o in s.args[1:] for v in ir.variables(o))

    def _reverse_on_list(self, s: ir.Assign) -> None:
        first = s.args[0]
        if s.target in self.shadows or (isinstance(first, ir.Var) and first in self.shadows):
            self.reverse_list(s)
        elif s.writes and self.activity.active(first) and self._puts_active(s):
            raise UnsupportedError("a list that has no adjoint holds active values", s.span)

    def _tuple_adjoint(self, s: ir.Assign) -> Any:
        """The adjoint of a tuple that a primitive returned."""
        var = s.target
        parts = self.parts.pop(var, None)
        if parts is None:
            return None
        assert isinstance(var.kind, TupleOf)
        record = registry.lookup(s.function)
        items = []
        for i, kind in enumerate(var.kind.items):
            if i in parts:
                items.append(parts[i])
            elif record is not None and record.unused is None:
                items.append(ir.Const(None))
            else:
                items.append(self._zero_part(var, i, kind))
        return Tuple(tuple(items), var.kind.type if var.kind.type is not list else tuple)

    def _zero_part(self, var: ir.Var, i: int, kind: Kind) -> Any:
        if isinstance(kind, Array) and (kind.dtype is None or kind.dtype.kind in "fc"):
            return self._zeros_like(self._item_of(var, i))
        return ir.Const(0.0)

    # Writes in place

    def _reverse_write(self, s: ir.Assign) -> None:
        written = s.writes[0]
        if written not in self.shadows:
            if self.activity.active(written):
                raise UnsupportedError(UNKNOWN_OBJECT, s.span, INTO_AN_ARRAY)
            self._refuse_integer_store(s, written)
            return
        if s.function is operator.setitem and _may_repeat(s.args[1]):
            self._reverse_repeated(s, self.shadows[written])
            return
        rule = registry.inplace_rules.get(s.function)
        if rule is None:
            raise UnsupportedError(f"{name_of(s.function)} has no reverse rule", s.span, HOW_TO_ADD)
        named: dict[str, Any] = {**self._named(s), "d_x": self.shadows[written]}
        if "out" in registry.keywords_of(rule):
            named["out"] = written if s in self.left else ir.Const(None)
        self.span = ir.origin(s.span, "reverse", s.function)
        shadow = self.shadows[written]
        before = self.emit(np.ndarray.copy, (shadow,)) if self.may_lose(s) else None
        result = self.inline_rule(s, rule, self._values(s), named)
        for operand, c in zip(s.args[1:], self._contributions(result)[1:], strict=True):
            self.distribute(operand, c if before is None else self.unless_zero(c, before))
        if before is not None:
            self.modify(operator.setitem, shadow, ir.Const(...), self.unless_zero(shadow, before))

    def _reverse_repeated(self, s: ir.Assign, shadow: ir.Var) -> None:
        """The adjoint of a store by an index in which the same place may occur repeatedly."""
        key = self.index(self._values(s)[1])
        kind = self.emit(operator.getitem, (shadow, key)).kind
        d_value = self.emit(
            runtime.last_written, (shadow, key), inferred=Inferred(kind), name="d_value"
        )
        zero = ir.Const(0)
        self.modify(operator.setitem, shadow, key, zero)
        self.distribute(s.args[2], d_value)

    def _refuse_integer_store(self, s: ir.Assign, written: ir.Var) -> None:
        if (
            isinstance(written.kind, Array)
            and written.kind.dtype is not None
            and written.kind.dtype.kind in "iuOV"
            and any(self.activity.active(v) for o in s.args[1:] for v in ir.variables(o))
        ):
            raise UnsupportedError(
                f"a float is written into {written.name!r}, an array of ints: it would be cut off"
                if written.kind.dtype.kind in "iu"
                else f"a float is written into {written.name!r}, an array of {written.kind.dtype}",
                s.span,
                "make it an array of floats, for example np.zeros(n) or x.astype(float)",
            )

    def _reverse_copy(self, s: ir.Assign) -> None:
        """The adjoint of a function that returned a copy where it may return a view."""
        shadow = self.shadows[s.target]
        self.live_buffers.discard(shadow)
        outer = self.block
        then, orelse = ir.Block(), ir.Block()
        self.block = orelse
        adjoints, buffers = dict(self.adjoints), dict(self.buffers)
        self.apply(s, shadow)
        if adjoints != self.adjoints or buffers != self.buffers:
            raise UnsupportedError(
                "whether this result shares memory with its arguments isn't known",
                s.span,
                "make a copy of it: .copy()",
            )
        self.block = outer
        if orelse.statements:
            self.block.statements.append(ir.If(self.shares[s], then, orelse, (), s.span))

    # Control flow

    def _refuse_joined_parts(self, s: ir.If | ir.Loop) -> None:
        """Refuse tuples that branches or iterations yield, of which items have adjoints.

        `joined_tuples` splits those that are known to occur.
        """
        if not self.parts.keys().isdisjoint(s.targets):
            raise UnsupportedError(
                "a tuple that only the run tells can't be differentiated here", s.span,
                "keep its items in variables of their own",
            )  # fmt: skip

    def _reverse_if(self, s: ir.If) -> None:
        self._refuse_joined_parts(s)
        wanted = [
            (k, self.take(t)) for k, t in enumerate(s.targets)
            if t not in self.shadows and t not in self.live_buffers and self.activity.active(t)
        ]  # fmt: skip
        self._prepare_buffers(s)
        outer, before, buffers = self.block, dict(self.adjoints), dict(self.buffers)
        results: list[tuple[ir.Block, dict[ir.Var, Any]]] = []
        for branch in (s.then, s.orelse):
            block = self.block = ir.Block()
            self.adjoints = dict(before)
            self.unbox(id(branch))
            for k, d in wanted:
                operand = branch.results[k]
                if d is not None and isinstance(operand, ir.Var):
                    self.add(operand, d)
            self.reverse(branch)
            self._settle_buffers(buffers)
            self.mirrors[id(branch)] = block
            results.append((block, self.adjoints))
        self.block = outer
        self.span = ir.origin(s.span, "reverse")
        joined = ir.If(s.test, results[0][0], results[1][0], (), self.span)
        self.block.statements.append(joined)
        self._join(joined, _defined(s.then) | _defined(s.orelse), results, before)

    def _join(
        self,
        s: ir.If,
        inside: set[ir.Var],
        results: list[tuple[ir.Block, dict[ir.Var, Any]]],
        before: dict[ir.Var, Any],
    ) -> None:
        """Give branches of the reverse sweep the adjoints of variables from outside as results."""
        outer = self.block
        (then, first), (orelse, second) = results
        targets: list[ir.Var] = []
        yields: list[tuple[ir.Operand, ir.Operand]] = []
        after: dict[ir.Var, Any] = {}
        for var in {**before, **first, **second}:
            if var in inside:
                continue
            a, b = first.get(var), second.get(var)
            if a is b:
                after[var] = a
                continue
            self.block = then
            a = self.as_array(self.zero(var) if a is None else a, var.kind)
            self.block = orelse
            b = self.as_array(self.zero(var) if b is None else b, var.kind)
            target = ir.Var(f"d_{var.name}", adjoint_kind(var.kind))
            if isinstance(var.kind, Array) and any(is_zero(d) or d in self.numbers for d in (a, b)):
                self.may_be_number(target)
            targets.append(target)
            yields.append((a, b))
            after[var] = target
        self.adjoints, self.block = after, outer
        then.results += tuple(a for a, _ in yields)
        orelse.results += tuple(b for _, b in yields)
        s.targets += tuple(targets)
        if not (then.statements or orelse.statements or s.targets):
            outer.statements.remove(s)

    def _settle_buffers(self, buffers: dict[ir.Var, ir.Var]) -> None:
        """Turn buffers made inside a block into value adjoints, which the block can yield."""
        for var, buffer in list(self.buffers.items()):
            if var not in buffers:
                self.adjoints[var] = buffer
                self.live_buffers.discard(buffer)
                del self.buffers[var]

    def _prepare_buffers(self, s: ir.If) -> None:
        """An array that a branch reads by index needs its buffer before the branch.

        One that exists in that branch alone gets its buffer there.
        """
        for branch in (s.then, s.orelse):
            free = ir.free_variables(branch)
            for inner in ir.walk(branch):
                if isinstance(inner, ir.Assign) and inner.function is operator.getitem:
                    v = inner.args[0]
                    if (
                        isinstance(v, ir.Var)
                        and isinstance(v.kind, Array)
                        and self.activity.active(v)
                        and self.activity.active(inner.target)
                        and v not in self.shadows
                        and v.assured
                        and v in free
                    ):
                        self.buffer(v)

    def _reverse_loop(self, s: ir.Loop) -> None:
        self._refuse_joined_parts(s)
        own = [
            k for k, p in enumerate(s.params)
            if self.activity.active(p) and p not in self.shadows and p not in self.live_buffers
            and not isinstance(p.kind, ListOf)
        ]  # fmt: skip
        inside = _defined(s.body)
        outside = [
            v for v in self._with_items(ir.free_variables(s.body))
            if v not in inside and v not in s.params and self.activity.active(v)
            and v not in self.shadows and v not in self.live_buffers
            and not isinstance(v.kind, (ListOf, TupleOf))
        ]  # fmt: skip
        incoming = [self.take(s.targets[k]) for k in own]
        idle = all(d is None for d in incoming) and not outside
        if idle and not _touches(s.body, self.shadows):
            self.unbox(s)  # it may still hand on what came into it
            return
        carried: list[ir.Var] = []
        for v in outside:
            if isinstance(v.kind, Array) and v.kind.shape is not None and v.assured:
                self.buffer(v)
            else:
                carried.append(v)
        read = ir.free_variables(s.body)
        params: list[ir.Var] = []
        inits: list[ir.Operand] = []
        kinds: list[Kind] = []
        for k, d in zip(own, incoming, strict=True):
            target, param = s.targets[k], s.params[k]
            params.append(ir.Var(f"d_{target.name}", _shaped(param.kind, s.body.results[k])))
            kinds.append(_shaped(param.kind, s.inits[k]))
            inits.append(self.as_array(self.zero(target) if d is None else d, param.kind))
            if isinstance(param.kind, Array) and (
                d in self.numbers
                or is_zero(inits[-1])
                or (not param.assured and params[-1].kind != param.kind)
                or (param.kind.shape is None and param not in read)
            ):
                self.may_be_number(params[-1])
        for v in carried:
            params.append(ir.Var(f"d_{v.name}", adjoint_kind(v.kind)))
            kinds.append(adjoint_kind(v.kind))
            inits.append(self.as_array(self.adjoints.pop(v, None) or ir.Const(0.0), v.kind))
            if isinstance(v.kind, Array) and (inits[-1] in self.numbers or is_zero(inits[-1])):
                self.may_be_number(params[-1])
        outer, outer_adjoints, buffers = self.block, self.adjoints, dict(self.buffers)
        body = self.block = ir.Block()
        self.adjoints = dict(zip(carried, params[len(own) :], strict=True))
        self.unbox(id(s.body))
        for k, p in zip(own, params, strict=False):
            operand = s.body.results[k]
            if isinstance(operand, ir.Var):
                self.add(operand, p)
        self.reverse(s.body)
        self._settle_buffers(buffers)
        results: list[ir.Operand] = []
        for k, p in zip(own, params, strict=False):
            d = self.adjoints.pop(s.params[k], None)
            # the incoming adjoint has the right shape, if this one is known; it isn't recorded
            known = isinstance(p.kind, Array) and p.kind.shape is not None
            same = s.params[k].kind == p.kind and known
            if d is None:
                if p in self.numbers:
                    d = ir.Const(0.0)
                else:
                    d = self._zeros_like(p) if same else self.zero(s.params[k])
            if p not in self.numbers and isinstance(p.kind, Array):
                if d in self.numbers or is_zero(d):
                    d = self._spread(d, p.kind, p if same else s.params[k])
            results.append(self.as_array(d, p.kind))
        results += [self.as_array(self.adjoints.pop(v, ir.Const(0.0)), v.kind) for v in carried]
        body.results = tuple(results)
        self.mirrors[id(s.body)] = body
        self.block, self.adjoints = outer, outer_adjoints
        finals = tuple(ir.Var(p.name, kind) for p, kind in zip(params, kinds, strict=True))
        for final, p in zip(finals, params, strict=True):
            if p in self.numbers:
                self.may_be_number(final)
        index = None
        if s.index is not None:
            index = ir.Var(s.index.name, s.index.kind, s.index.user)
            self.indices[s.index] = index
        self.span = ir.origin(s.span, "reverse")
        bounds = self._reverse_range(s)
        self.block.statements.append(
            ir.Loop(
                index, bounds, tuple(params), tuple(inits), body, finals,
                backwards=s.range is not None and not s.backwards, span=self.span,
            )
        )  # fmt: skip
        for v, final in zip(carried, finals[len(own) :], strict=True):
            self.adjoints[v] = final
        for k, final in zip(own, finals, strict=False):
            init = s.inits[k]
            if isinstance(init, ir.Var):
                self.add(init, final)
        self.unbox(s)

    def _with_items(self, found: dict[ir.Var, None]) -> list[ir.Var]:
        """Variables, and those that hold the items of the tuples among them."""
        for (container, _), item in self.items_of.items():
            if container in found:
                found[item] = None
        return list(found)

    def _reverse_range(self, s: ir.Loop) -> tuple[ir.Operand, ir.Operand, ir.Operand]:
        count = self.counts.get(s)
        if s.range is None:
            assert count is not None
            return (ir.Const(0), count, ir.Const(1))
        if count is None:
            return s.range
        start, _, step = s.range
        length: ir.Operand = count
        if not (isinstance(step, ir.Const) and step.value == 1):
            length = self.emit(operator.mul, (count, step), name="stop")
        if not (isinstance(start, ir.Const) and start.value == 0):
            length = self.emit(operator.add, (start, length), name="stop")
        return (start, length, step)


def _defined(block: ir.Block) -> set[ir.Var]:
    found: set[ir.Var] = set()
    for s in ir.walk(block):
        found.update(ir.targets(s))
        if isinstance(s, ir.Loop):
            found.update(s.params)
            if s.index is not None:
                found.add(s.index)
    return found


def _shaped(kind: Kind, like: ir.Operand) -> Kind:
    """The kind of the adjoint of an operand that becomes the value of a variable of a kind."""
    if isinstance(kind, Array) and isinstance(like, ir.Var) and isinstance(like.kind, Array):
        return Array(kind.dtype, like.kind.shape)
    return adjoint_kind(kind)


def _touches(block: ir.Block, shadows: dict[ir.Var, ir.Var]) -> bool:
    """Whether a block has anything to do with shadows."""
    return any(
        v in shadows
        for s in ir.walk(block)
        for o in (s.operands() if isinstance(s, ir.Assign) else ())
        for v in ir.variables(o)
    )


def _may_repeat(key: ir.Operand) -> bool:
    """Whether an index may name the same place more than once."""
    found = [item for item in ir.items_of(key) if names_repeatedly(item)]
    if len(found) == 1 and isinstance(found[0], ir.Const):
        value = np.asarray(found[0].value)
        return len(np.unique(value)) < value.size or bool((value < 0).any())
    return bool(found)
