"""Forward mode: the tangent of what a primitive returns, from those of its operands.

There are no rules of forward mode. What is linear is applied to tangents (`rules/linear.py` lists
it). The partial derivatives of an elementwise function serve both modes; of any other function,
the adjoint rule is a linear map from `d_out` to the contributions, and its transpose, made by
reverse mode itself, is the tangent.
"""

from __future__ import annotations

import operator
from typing import Any

import numpy as np

from .. import ir, runtime
from ..analysis.aliasing import holds_memory
from ..analysis.inference import Inferred
from ..analysis.momentary import is_momentary
from ..analysis.usage import PRODUCTS
from ..errors import UnsupportedError
from ..frontend.refusals import name_of
from ..frontend.values import Tuple
from ..kinds import Array, Kind, ListOf, Places, Scalar, TupleOf
from ..rules import registry
from .contributions import NONE, is_zero
from .misfits import by_parameter
from .recording import record
from .reverse import Adjoint
from .shadows import READ_ONLY, changes_dtype

ZERO, ONE = ir.Const(0.0), ir.Const(1.0)
HOLDING: frozenset[Any] = frozenset({operator.getitem, np.array})


class TangentRules(Adjoint):
    """Applies rules to tangents; `tangents` has those of variables that have one."""

    tangents: dict[ir.Var, ir.Operand]
    unbounded: set[ir.Var]  # whose tangents may be infinite where they aren't used
    fresh: set[ir.Var]  # checked when it runs to share no memory
    memory: set[ir.Var]  # tangents of what is written in place
    lent: set[ir.Var]  # memory that a caller may write when the function is done
    source: ir.Block  # of the function, around the statement

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
        if isinstance(operand.kind, Array) and not operand.assured:
            return self.emit(
                runtime.zero_like, (operand,), inferred=Inferred(operand.kind),
                name=f"t_{operand.name}",
            )  # fmt: skip
        listed = isinstance(operand.kind, ListOf) and not isinstance(operand.kind, Places)
        if listed and not self.aliasing.changes(operand):
            return self.emit(
                runtime.zero_items, (operand,), inferred=Inferred(operand.kind),
                name=f"t_{operand.name}",
            )  # fmt: skip
        return self.zero(operand)

    def full_for(self, target: ir.Var, operand: ir.Operand) -> ir.Operand:
        """The tangent of what a target is: of a number, too, that stands in place of an array."""
        kind = operand.kind if isinstance(operand, ir.Var) else None
        number = isinstance(kind, Scalar) and kind.python is not True
        if number and isinstance(target.kind, Array) and self.tangent(operand) is None:
            zero = Inferred(Scalar(np.dtype(float), None))
            return self.emit(runtime.zero_like, (operand,), inferred=zero, name="zero")
        return self.full(operand)

    def full_item(self, operand: ir.Operand, kind: Kind) -> ir.Operand:
        """The tangent of an operand that is put in a list of this kind, or that makes one."""
        if isinstance(kind, ListOf) and isinstance(kind.item, tuple):
            if isinstance(operand, ir.Pack) and operand.type is list:
                return ir.Pack(list, tuple(self.full_item(item, kind) for item in operand.items))
            if isinstance(operand, ir.Const) and operand.value is None:
                return operand  # for which there is no tuple of zeros
        return self.full(operand)

    def _moving(self, s: ir.Assign) -> list[ir.Operand]:
        """The operands with a tangent; an index has none, though it may be active."""
        operands = s.args[:1] if s.function is operator.getitem else s.operands()
        return [o for o in operands if any(self.tangent(v) is not None for v in ir.variables(o))]

    def tangent_of(self, s: ir.Assign) -> ir.Operand | None:
        """The tangent of a statement's result."""
        if s.function in (list, tuple):
            return self._mirrored(s, lambda operand: self.full_item(operand, s.target.kind))
        if isinstance(s.target.kind, ListOf):
            if s.function is operator.getitem and not self._moving(s):
                # an item of what has no tangent, found by a key that has one
                return self.full(s.target)
            return self._mirrored(s, self._of_container)
        moving = self._moving(s)
        like = registry.shape_only.get(s.function)
        if like is not None:
            moving = [o for o in moving if o is not s.args[like]]
        if not moving:
            return None
        if s.function in registry.together and s.certain:
            return self._mirrored(s, self.full)
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
            return self._of_view(s, moving)
        return self._of_copy(s, moving)

    def _of_view(self, s: ir.Assign, moving: list[ir.Operand]) -> ir.Operand | None:
        """The tangent of what is written in place, and is or may be a view of its arguments.

        It is the same view of their tangents where the primal is one.
        """
        views = {v: t for v in s.views if isinstance(t := self.tangent(v), ir.Var)}
        alone = len(views) == 1 and isinstance(s.target.kind, Array)
        if s.function in registry.picking:  # of the tangents it may pick another one
            root = self.aliasing.find(s.target)
            if root not in self.lent and is_momentary(s, self.source, self.aliasing):
                return self._of_copy(s, moving)
            alone = False
        if not alone or any(changes_dtype(v.kind, s.target.kind) for v in views):
            self._check_fresh(s)
            return self._of_copy(s, moving)
        if s.certain:
            return self._mirrored(s, lambda o: ir.substitute(o, lambda v: views.get(v, v)))
        outer, self.block = self.block, ir.Block()
        view = self._mirrored(s, lambda o: ir.substitute(o, lambda v: views.get(v, v)))
        then, self.block = self.block, ir.Block()
        then.results, copy = (view,), self._own(self._of_copy(s, moving), s.target)
        orelse, self.block = self.block, outer
        orelse.results = (copy,)
        return self._where_shared(s, next(iter(views)), then, orelse)

    def _of_copy(self, s: ir.Assign, moving: list[ir.Operand]) -> ir.Operand | None:
        """The tangent of a result with memory of its own."""
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
            tangent = self._by_derivative(s, record_)
        finally:
            self.tangents.update(whole)
        vanishing = self.singularity(s) == "root" and any(
            s.args[0] in parts
            for parts in (self.zero_in_parts, self.constant_in_parts, self.constant_by_branches)
        )
        if (vanishing or self.is_length(s)) and s.args[0] in whole:
            step = whole[s.args[0]]  # zero in some parts, where the slope may be infinite
            if len(moving) == 1 and isinstance(step, ir.Var) and tangent is not None:
                return self.operand(self.unless_zero(tangent, step))
        return tangent

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
        number = isinstance(s.target.kind, Scalar)
        d_out = ONE if number else self.emit(np.ones_like, (s.target,))
        known = {**named, "out": s.target, "d_out": d_out}
        result = self.inline_rule(s, record_.adjoint, values, known)
        contributions = self._contributions(result)
        if i >= len(contributions) or is_zero(contributions[i]):
            return moving
        if number and isinstance(part := self.operand(contributions[i]), ir.Var):
            return self.operand(self.unless_zero(moving, part))
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
            self._refuse_missing(s)
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
        self.act(runtime.check_fresh, *operands)
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
        if s.function in registry.together and len(s.args) > 1:
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
        if s.function in READ_ONLY and self.aliasing.is_written(s.target):
            twin = self.emit(runtime.writable, (twin,), inferred=Inferred(twin.kind, (twin,)))
        return twin

    def _mirrored_or_copied(self, s: ir.Assign, first: ir.Var) -> ir.Var:
        """The tangent of a reshape, a view exactly where the primal is one."""
        view = self._mirrored(s, lambda o: self.full(o) if o is first else o)
        then, orelse = ir.Block([], (view,)), ir.Block()
        outer, self.block = self.block, orelse
        order = {"order": ir.Const("K")}
        copy = self.emit(np.ndarray.copy, (view,), order, inferred=Inferred(s.target.kind))
        orelse.results = (copy,)
        self.block = outer
        return self._where_shared(s, first, then, orelse)

    def _where_shared(
        self, s: ir.Assign, first: ir.Var, then: ir.Block, orelse: ir.Block
    ) -> ir.Var:
        """One tangent where the result is a view of an operand, another one where it is a copy."""
        shares = self.emit(
            np.may_share_memory, (s.target, first), inferred=Inferred(Scalar(np.dtype(bool))),
            name="shares",
        )  # fmt: skip
        target = ir.Var(f"t_{s.target.name}", s.target.kind)
        self.memory.add(target)
        self.block.statements.append(ir.If(shares, then, orelse, (target,), s.span))
        return target

    def _own(self, tangent: ir.Operand | None, var: ir.Var) -> ir.Var:
        """An array of its own for the tangent of one that is written in place."""
        if tangent is not None and isinstance(var.kind, Array) and var.kind.shape is None:
            inferred = Inferred(var.kind)  # it may be a number
            return self.emit(runtime.filled_like, (tangent, var), inferred=inferred, name=var.name)
        if isinstance(var.kind, Array):
            of = self.definitions.get(var)
            made = self.shadow_zeros(var, of is not None and of.function is runtime.own_copy)
        else:
            made = self._zeros_like(var)
        if tangent is not None:
            self._store_all(made, tangent)
        return made

    def _store_all(self, array: ir.Var, value: ir.Operand) -> None:
        self.modify(operator.setitem, array, ir.Const(Ellipsis), value)

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
        result = self.inline_rule(s, rule, self._values(s), named)
        if isinstance(result, ir.Const) and result.value is None:
            return None
        if isinstance(s.target.kind, TupleOf):
            return self._tuple(s, [self.operand(item) for item in self.unpacked(result)])
        return self.fit(self.operand(result), s.target.kind, s.target)

    def _tuple(self, s: ir.Assign, results: list[ir.Operand]) -> ir.Operand:
        """The tangent of a tuple, of those of its items."""
        if self.may_be_complex:
            results = [self._projected(s.target, i, r) for i, r in enumerate(results)]
        if not s.views or s.target in self.fresh:
            results = [self._own_item(s.target, r) for r in results]
        packed = ir.Pack(list, tuple(results))
        inferred = Inferred(s.target.kind)
        return self.emit(tuple, (packed,), inferred=inferred, name=f"t_{s.target.name}")

    def _own_item(self, target: ir.Var, tangent: ir.Operand) -> ir.Operand:
        """The tangent of an array in a new tuple: one of its own, if that matters."""
        if not isinstance(tangent, ir.Var) or not isinstance(tangent.kind, Array):
            return tangent
        if not self.aliasing.is_written(target) and not self._is_memory(tangent, set()):
            return tangent
        return self.emit(np.array, (tangent,), inferred=Inferred(tangent.kind))

    def _is_memory(self, tangent: ir.Var, seen: set[ir.Var]) -> bool:
        """Whether a tangent shares memory with that of an array that is written in place."""
        if not isinstance(tangent.kind, (Array, TupleOf)) or tangent in seen:
            return False
        if tangent in self.memory:
            return True
        seen.add(tangent)
        definition = self.definitions.get(tangent)
        return definition is not None and any(self._is_memory(v, seen) for v in definition.views)

    def _by_partials(self, s: ir.Assign, rule: Any) -> ir.Operand | None:
        self._check_keywords(s, rule)
        result = self.inline_rule(
            s, rule, self._values(s), {**self._named(s), "out": self._value(s.target)}
        )
        total: Any = None
        partials = self._contributions(result)
        for i, operand in enumerate(by_parameter(s, rule)):
            if not self._moves(operand):
                continue
            if i >= len(partials):
                raise UnsupportedError(
                    f"{name_of(s.function)} isn't differentiable with respect to argument {i + 1}",
                    s.span,
                )
            p = partials[i]
            if is_zero(p):
                continue
            tangent = self.full(operand)
            if isinstance(operand, ir.Pack):
                tangent = self.number(self._value(tangent))
            if isinstance(p, ir.Const) and isinstance(p.value, registry.Unknown):
                self._refuse_unknown(s, p.value)
            term = self.binary(operator.mul, tangent, self.plain(p))
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
        collected: list[tuple[ir.Var, int | None, ir.Operand]] = []  # an item's of a tuple

        class Collector(Adjoint):
            def add(self, var: ir.Var, contribution: Any) -> None:
                operand = self.operand(contribution)
                if isinstance(operand, ir.Pack) and isinstance(var.kind, TupleOf):
                    collected.extend((var, i, item) for i, item in enumerate(operand.items))
                    return
                if isinstance(operand, ir.Pack):
                    operand = self.number(contribution)
                operand = self.if_given(operand, var)
                collected.append((var, None, self.fit(operand, var.kind, var)))

        collector = Collector(ir.Function("rule", (), ir.Block()), [], [])
        collector.__dict__.update(inner.__dict__)
        collector.activity = _Moving(self)  # type: ignore[assignment]
        collector.block = ir.Block()
        collector.apply(s, d_out)
        collected += [(var, None, buffer) for var, buffer in collector.buffers.items()]
        outputs = [c for *_, c in collected if isinstance(c, ir.Var)]
        rule = ir.Function("rule", tuple(seeds), collector.block)
        transpose = Adjoint(rule, seeds, outputs)
        transpose.within(self)
        transpose.may_be_complex = self.may_be_complex
        forward = transpose.augment(collector.block)
        transpose.block = ir.Block()
        for var, i, c in collected:
            tangent = self.tangent(var)
            if isinstance(c, ir.Var) and tangent is not None:
                if i is not None and isinstance(tangent, ir.Pack):
                    tangent = tangent.items[i]
                elif i is not None:
                    item = Inferred(c.kind, (tangent,) if isinstance(tangent, ir.Var) else ())
                    tangent = transpose.emit(
                        operator.getitem, (tangent, ir.Const(i)), inferred=item
                    )
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
        record(whole, len(forward.statements), transpose)
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


class _Moving:
    """Activity as the collector of a rule's contributions sees it: what has a tangent."""

    def __init__(self, tangent: TangentRules) -> None:
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
