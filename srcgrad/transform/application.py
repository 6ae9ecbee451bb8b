"""Applying rules: a statement's adjoint rule is inlined, and its contributions handed out."""

from __future__ import annotations

import operator
from collections.abc import Hashable
from types import FunctionType
from typing import Any

import numpy as np

from .. import ir
from ..analysis.inference import Inferred
from ..analysis.keys import undone
from ..errors import UnsupportedError
from ..frontend.refusals import name_of, naming
from ..frontend.values import ListObject, Slice, Tuple
from ..kinds import Array, Kind, ListOf, Opaque, TupleOf, holds_arrays, is_float
from ..rules import registry
from ..rules.products import EXACT
from .contributions import NONE, is_zero
from .masks import Mask, is_bound
from .misfits import Misfits, by_parameter, parameters_of, says_how

# By what a function chooses elements: a test of them, and its value of those it uses.
CHOSEN: dict[str, tuple[Any, bool]] = {"nan": (np.isnan, False), "finite": (np.isfinite, True)}


class Application(Misfits):
    """Inlines rules."""

    def _values(self, s: ir.Assign) -> list[Any]:
        copies = self.snapshots.get(s, {})
        return [self._value(ir.substitute(a, lambda v: copies.get(v, v))) for a in s.args]

    def _named(self, s: ir.Assign) -> dict[str, Any]:
        copies = self.snapshots.get(s, {})
        return {
            k: self._value(ir.substitute(a, lambda v: copies.get(v, v)))
            for k, a in s.kwargs
            if not says_how(s.function, k)
        }

    def _value(self, operand: ir.Operand) -> Any:
        """The abstract value of an operand."""
        match operand:
            case ir.Pack(type=t) if t is tuple:
                return Tuple(tuple(self._value(item) for item in operand.items))
            case ir.Pack(type=t) if t is slice:
                return Slice(*(self._value(item) for item in operand.items))
            case ir.Pack():
                return self.new(ListObject(tuple(self._value(item) for item in operand.items)))
            case ir.Var() if isinstance(operand.kind, ListOf):
                return self.list_value(operand)
            case ir.Var() if isinstance(operand.kind, TupleOf):
                items = tuple(self._item_of(operand, i) for i in range(len(operand.kind.items)))
                return Tuple(items, operand.kind.type, operand)
            case ir.Const() if isinstance(operand.value, tuple):
                return self.lift(operand.value, None)
        return self.numeric(operand)

    def _item_of(self, whole: ir.Var, i: int) -> ir.Var:
        """An item of a tuple: the variable that the primal has for it, if that stands already.

        A number of a shape is read again, for that's shorter than to keep it.
        """
        assert isinstance(whole.kind, TupleOf)
        kind = whole.kind.items[i]
        known = self.items_of.get((whole, i))
        if known in self.definitions and (holds_arrays(kind) or is_float(kind)):
            return known
        inferred = Inferred(kind, (whole,) if holds_arrays(kind) else ())
        return self.emit(operator.getitem, (whole, ir.Const(i)), inferred=inferred)

    def apply(self, s: ir.Assign, d_out: Any, mask: Mask | None = None) -> None:
        """Inline the adjoint rule of a statement, and distribute what it contributes."""
        record = registry.lookup(s.function)
        if record is None or (record.adjoint is None and record.partials is None):
            if record is not None and record.zero:
                return
            if record is not None and not any(map(self.activity.active, ir.uses(s))):
                return  # it made a constant: what depends on the inputs was written into it later
            self._refuse_missing(s)
        assert record is not None
        self.span = ir.origin(s.span, "reverse", s.function)
        self.used_lists = self.list_shadows.get(s, {})
        copies = self.snapshots.get(s, {})
        out = self._value(copies.get(s.target, s.target))
        values, kwargs = self._values(s), self._named(s)
        if (
            s.function is operator.getitem
            and isinstance(s.args[0], ir.Var)
            and isinstance(s.args[0].kind, Array)
        ):
            array, key = s.args[0], values[1]
            self.taint(s, array)
            first = array not in self.adjoints and array not in self.buffers
            self._accumulate_at(array, key, d_out, s.target.kind)
            if first and is_mask(key):
                self.remember(s, array, key)
            return
        if mask is not None and s.function is not np.where:
            out = self.harmless(out, s, mask)
            values = [self.harmless(v, s, mask) for v in values]
        before = len(self.block.statements)
        contributions = self._contributed(s, record, values, {**kwargs, "out": out}, d_out)
        self._fit(s, contributions, before)
        self._hand_out(s, record, contributions, values, d_out, mask)

    def _contributed(
        self,
        s: ir.Assign,
        record: registry.Primitive,
        values: list[Any],
        named: dict[str, Any],
        d_out: Any,
    ) -> list[Any]:
        """What the rule of a statement contributes to its parameters."""
        rule: Any = record.adjoint or record.partials
        self._check_keywords(s, rule)
        if record.adjoint is not None:
            found = self._pulled(s, rule, values, named, d_out)
            own = str(rule.__module__).startswith("srcgrad.")
            return found if own else self._doubted(s, rule, found)
        partials = self._contributions(self.inline_rule(s, rule, values, named))
        contributions = []
        for operand, p in zip(by_parameter(s, rule), partials, strict=False):
            if not self._is_active(operand) or is_zero(p):
                contributions.append(NONE)
            elif isinstance(p, ir.Const) and isinstance(p.value, registry.Unknown):
                contributions.append(p)
            else:
                contributions.append(self.binary(operator.mul, d_out, self.plain(p)))
        return contributions

    def _hand_out(
        self,
        s: ir.Assign,
        record: registry.Primitive,
        contributions: list[Any],
        values: list[Any],
        d_out: Any,
        outer: Mask | None,
    ) -> None:
        """Add what a rule contributes to the adjoints of a statement's operands."""
        names = list(parameters_of(record.adjoint or record.partials))
        for parameter, operand, c in zip(names, s.args, contributions, strict=False):
            if isinstance(c, ir.Var) and not c.user and c.name == f"d_{parameter}":
                # of the rule's parameter: what is shown are the function's own variables
                own = operand if isinstance(operand, ir.Var) else next(iter(ir.uses(s)), s.target)
                c.name = f"d_{own.name}"
        for operand, c in zip(s.args, contributions, strict=False):
            self._check_known(s, operand, c)
        for k, operand in s.kwargs:
            if k in names and names.index(k) < len(contributions):
                self._check_known(s, operand, contributions[names.index(k)])
        mask = outer
        for i, operand in enumerate(s.args):
            if i < len(contributions):
                by = self.zero_factor(s, i)
                if by is not None and not is_zero(contributions[i]):
                    contributions[i] = self.unless_zero(contributions[i], values[by])
                if s.function is np.where and i > 0:
                    mask = self.branch_mask(values[0], i == 1, outer)
                test = self.used_where(record, values[0]) if i == 0 else None
                if test is not None and isinstance(operand, ir.Var):
                    self.feed_chosen(s, operand, contributions[0], *test)
                else:
                    self.feed(s, operand, contributions[i], d_out, mask)
            elif self._is_active(operand):
                raise UnsupportedError(
                    f"{name_of(s.function)} isn't differentiable with respect to argument {i + 1}",
                    s.span,
                )
        for k, operand in s.kwargs:
            if k in names and names.index(k) < len(contributions):
                self.distribute(operand, contributions[names.index(k)])
            elif self._is_active(operand):
                raise UnsupportedError(
                    f"{name_of(s.function)} isn't differentiable with respect to {k!r}", s.span
                )

    def _fit(self, s: ir.Assign, contributions: list[Any], before: int) -> None:
        """What is made, since a statement, for factors that aren't broadcast has their shapes."""
        if not isinstance(s.function, Hashable) or s.function not in EXACT:
            return
        kinds = [getattr(operand, "kind", None) for operand in s.args]
        if any(not isinstance(kind, Array) or kind.rank not in (1, 2) for kind in kinds):
            return
        made = {v for other in self.block.statements[before:] for v in ir.targets(other)}
        for c, kind in zip(contributions, kinds, strict=False):
            if isinstance(c, ir.Var) and c in made and isinstance(c.kind, Array):
                if isinstance(kind, Array) and c.kind.rank == kind.rank:
                    c.kind = Array(c.kind.dtype, kind.shape)

    def inline_rule(self, s: ir.Assign, rule: Any, values: list[Any], named: dict[str, Any]) -> Any:
        """What a rule of a statement's function returns."""
        with naming(s.function, s.span):
            return self.inline(rule, values, named)

    def _pulled(
        self,
        s: ir.Assign,
        rule: FunctionType,
        values: list[Any],
        named: dict[str, Any],
        d_out: Any,
    ) -> list[Any]:
        """What a rule contributes, zero where it is a multiple of zero of an infinite adjoint."""
        if not (is_bound(s) and s.target in self.under_roots):
            named_too = {**named, "d_out": d_out}
            return self._contributions(self.inline_rule(s, rule, values, named_too))
        partials = self.inline_rule(s, rule, values, {**named, "d_out": ir.Const(1.0)})
        d = self.operand(d_out)
        return [
            p if is_zero(p) or not isinstance(d, ir.Var) or not isinstance(p, ir.Var)
            else self.unless_zero(self.binary(operator.mul, d, p), p)
            for p in self._contributions(partials)
        ]  # fmt: skip

    def used_where(
        self, record: registry.Primitive | None, operand: Any
    ) -> tuple[ir.Operand, bool] | None:
        """What tells which elements of a function's first argument it uses, and its value there."""
        if record is None or record.chooses not in CHOSEN or not isinstance(operand, ir.Var):
            return None
        test, value = CHOSEN[record.chooses]
        return self.emit(test, (operand,)), value

    def plain(self, partial: Any) -> Any:
        """A partial derivative `n * x**1` as `n * x`: memory that is written needs no copy here."""
        product = self.definitions.get(partial)
        if product is None or product.function is not operator.mul:
            return partial
        number, factor = product.args
        power = self.definitions.get(factor) if isinstance(factor, ir.Var) else None
        if power is None or power.function is not operator.pow or not isinstance(number, ir.Const):
            return partial
        base, exponent = power.args
        one = isinstance(exponent, ir.Const) and exponent.value == 1
        if one and isinstance(base, ir.Var) and base.kind == power.target.kind:
            return self.binary(operator.mul, number, base)
        return partial

    def _contributions(self, result: Any) -> list[Any]:
        if isinstance(result, Tuple):
            return list(result.items)
        return [result]

    def distribute(self, operand: ir.Operand, contribution: Any) -> None:
        """Add a rule's contribution for one operand to the variables in it."""
        if not self._is_active(operand):
            return
        if isinstance(contribution, ir.Const) and contribution.value is None:
            return
        if isinstance(operand, ir.Pack):
            items = (
                self.unpacked(contribution)
                if not isinstance(contribution, ir.Var)
                else [self.subscript(contribution, ir.Const(i)) for i in range(len(operand.items))]
            )
            for item, c in zip(operand.items, items, strict=True):
                self.distribute(item, c)
        elif isinstance(operand, ir.Var):
            self.add(operand, contribution)

    def _accumulate_at(self, array: ir.Var, key: Any, d_out: Any, kind: Kind) -> None:
        """The adjoint of a read of this kind: `d_array[key] += d_out`, in place."""
        if not self.activity.active(array):
            return
        operand = self.index(key)
        value = self.operand(d_out)
        back = undone(operand, getattr(array.kind, "shape", None))
        if back is not None and not (array in self.shadows or array in self.buffers):
            if isinstance(value, ir.Var) and value.kind == kind and isinstance(kind, Array):
                self.add(array, self.emit(operator.getitem, (value, back)))
                return
        buffer = self.buffer(array)
        if any(names_repeatedly(item) for item in ir.items_of(operand)):
            self.modify(np.add.at, buffer, operand, value)
            return
        item = self.emit(operator.getitem, (buffer, operand), name=buffer.name)
        definition = self.definitions[item]
        if isinstance(item.kind, Array) and definition.views and definition.certain:
            self._accumulate(item, value)
            return
        total = self.emit(operator.add, (item, value), name=buffer.name)
        self.modify(operator.setitem, buffer, operand, total)


def is_mask(key: Any) -> bool:
    """Whether an index is an array of bools."""
    return (
        isinstance(key, ir.Var)
        and isinstance(key.kind, Array)
        and key.kind.dtype is not None
        and key.kind.dtype.kind == "b"
    )


def names_repeatedly(item: ir.Operand) -> bool:
    """Whether a part of a key may be a sequence of integers, which can name a place twice."""
    if isinstance(item, ir.Const):
        several = isinstance(item.value, (np.ndarray, list, tuple))
        return several and np.asarray(item.value).dtype.kind in "iu"
    if isinstance(item, ir.Pack):
        return item.type is not slice  # a list, or a tuple, of which NumPy makes an array, too
    return _kind_repeats(item.kind)


def _kind_repeats(kind: Kind) -> bool:
    match kind:
        case Array(dtype):
            return dtype is None or dtype.kind in "iu"
        case TupleOf(items):
            return any(_kind_repeats(k) for k in items)
        case Opaque(type=t):
            return t is None
    return isinstance(kind, ListOf)
