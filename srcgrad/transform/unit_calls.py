"""Reverse mode over calls of units: each sweep calls a function of its own.

    y = step(x, w)      becomes      y, saved = forward_step(x, w)
                                     ...
                                     d_x, d_w = backward_step(saved, d_y)

or, where the unit is to be computed again rather than recorded, `backward_step(x, w, d_y)`. What
the functions do is made by the transformation itself (`srcgrad/units.py`).
"""

from __future__ import annotations

import operator
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from .. import ir, runtime
from ..analysis.activity import carries
from ..analysis.aliasing import Aliasing, holds_memory
from ..analysis.inference import Inferred
from ..errors import UnsupportedError
from ..frontend.effects import emit_call
from ..joins import is_complex
from ..kinds import RESIDUALS, Array, Kind, ListOf, Opaque, Scalar, TupleOf
from .application import Application
from .contributions import adjoint_kind
from .saturation import PASSED, saturated


@dataclass(frozen=True)
class Call:
    """A call in the forward sweep, as the reverse sweep sees it."""

    backward: ir.Unit | None
    rule: ir.Rule | None  # in place of the backward function
    given: tuple[ir.Operand, ...]  # what the backward function takes before the adjoints
    wanted: tuple[ir.Operand, ...]  # the operands whose adjoints it returns
    outputs: tuple[int, ...]  # the results whose adjoints it takes
    lists: tuple[ir.Operand, ...] = ()  # the shadows that it takes and changes
    real: tuple[ir.Var, ...] = ()  # those of lists of real numbers that it takes for complex ones
    optional: frozenset[int] = frozenset()  # the results that may be None
    params: tuple[ir.Var, ...] = ()  # the function's own, whose adjoints it returns


class UnitCalls(Application):
    """Emits the calls of the functions that units are made into."""

    def __init__(self, function: ir.Function, inputs: list[ir.Var], outputs: list[ir.Var]) -> None:
        super().__init__(function, inputs, outputs)
        self.calls: dict[ir.Assign, Call] = {}
        self.called: dict[ir.Var, ir.Assign] = {}  # by the tuple of the results
        self.returned_lists: dict[tuple[ir.Var, int], ir.Var] = {}  # shadows, by tuple and place
        self.again = False  # what is made here will be differentiated once more

    def augment_call(self, s: ir.Assign, copied: tuple[ir.Var, ...] = ()) -> None:
        """Emit the forward function in place of a unit, which makes copies of some arguments."""
        unit: ir.Unit = s.function
        again = unit.recompute or self.again
        rule = unit.own_rule()
        if rule is not None and self._by_rule(s, rule):
            return
        arrays = [v for v in s.writes if not isinstance(v.kind, ListOf)]
        if again and len(arrays) < len(s.writes):
            self._refuse_list(s, next(v for v in s.writes if isinstance(v.kind, ListOf)))
        if arrays and (again or any(map(self.activity.active, arrays))):
            self._augment_by_value(s)
            return
        self.refuse_views(s)
        lists = tuple(v for v in s.args if isinstance(v, ir.Var) and isinstance(v.kind, ListOf))
        own = s.writes if again else (*s.writes, *copied, *lists)
        copies = self._operand_snapshots(s, own)
        given = tuple(ir.substitute(a, lambda v: copies.get(v, v)) for a in s.args)
        wrt, outputs = self.selection(s, not again)
        asked = [i for i in wrt if not isinstance(unit.body.params[i].kind, ListOf)]
        wanted = tuple(s.args[i] for i in asked)
        own_params = tuple(unit.body.params[i] for i in asked)
        results = enumerate(unit.body.block.results)
        optional = frozenset(i for i, r in results if isinstance(r, ir.Var) and r.optional)
        if again:
            self._check_repeatable(s)
            from ..units import backward

            function = backward(unit, wrt, outputs, self.again)
            self.block.statements.append(s)
            self.definitions[s.target] = s
            self.calls[s] = Call(
                function, None, given, wanted, outputs, optional=optional, params=own_params
            )
            self.called[s.target] = s
            if not isinstance(s.target.kind, TupleOf) and self.shadowed(s.target):
                self._make_shadow(s)
            return
        from ..units import forward_and_backward

        lent = tuple(
            i for i, v in enumerate(s.args)
            if v in lists and (v in s.writes or self._needs_snapshot(v))
        )  # fmt: skip
        forward, function = forward_and_backward(unit, wrt, outputs, lent)
        params = unit.body.params
        taken = [i for i in wrt if isinstance(params[i].kind, ListOf)]
        for i in taken:
            self._check_items(s, s.args[i], params[i].kind)
        shadows = tuple(self.list_shadow(s.args[i]) for i in taken)
        real = tuple(
            shadow for shadow, i in zip(shadows, taken, strict=True)
            if isinstance(shadow, ir.Var)
            and is_complex(params[i].kind) and not is_complex(getattr(s.args[i], "kind", None))
        )  # fmt: skip
        returned = [i for i in outputs if isinstance(unit.kinds[i], ListOf)]
        saved = ir.Var(f"{unit.name}_saved", RESIDUALS)
        whole = saved  # a single result isn't in a tuple
        if unit.kinds or returned:
            whole = self._whole(s, (*(unit.kinds[i] for i in returned), RESIDUALS))
        writes = (*s.writes, *(self.shadows[v] for v in s.writes if v in self.shadows))
        views = (*s.views, *(self.shadows[v] for v in s.views if v in self.shadows))
        call = ir.Assign(
            whole, forward, (*given, *shadows), span=s.span, views=views, certain=s.certain,
            writes=tuple(dict.fromkeys(writes)), effect=s.effect,
        )  # fmt: skip
        self.block.statements.append(call)
        self.definitions[whole] = call
        position = len(unit.kinds)
        twins: list[ir.Var] = []
        for k, i in enumerate(returned):
            twin = ir.Var(f"d_{unit.name}", unit.kinds[i])
            key = (whole, ir.Const(position + k))
            self._take_item(twin, key, s.span, (whole,))
            self.live_buffers.add(twin)
            self.returned_lists[whole, i] = twin
            twins.append(twin)
        outputs = tuple(i for i in outputs if i not in returned)
        filled = (*shadows, *twins)
        self.calls[call] = Call(
            function, None, (saved,), wanted, outputs, filled, real, optional, own_params
        )
        self.called[whole] = call
        self._take_results(s, whole)
        if whole is not saved:
            self._take_item(saved, (whole, ir.Const(position + len(returned))), s.span)

    def _check_items(self, s: ir.Assign, operand: ir.Operand, kind: Kind) -> None:
        """Refuse a list that has numbers in it where the unit has arrays: their shadows differ."""
        if isinstance(operand, ir.Var) and not _alike(_layout(operand.kind), _layout(kind)):
            raise UnsupportedError(
                f"{s.function.name} is compiled as a function, and what is in {operand.name!r}, a "
                "list made at run time, are numbers here and arrays there, or the other way round",
                s.span,
                "have arrays only in it, or numbers of one type",
            )

    def _take_item(
        self,
        target: ir.Var,
        item: tuple[ir.Operand, ...],
        span: Any,
        views: tuple[ir.Var, ...] = (),
    ) -> None:
        """Emit the statement that takes what a forward function returns beside the results."""
        statement = ir.Assign(target, operator.getitem, item, span=span, views=views)
        self.block.statements.append(statement)
        self.definitions[target] = statement

    def list_shadow(self, operand: ir.Operand) -> ir.Var | ir.Const:
        """The shadow of a list that a unit takes; None where it is given None in its place."""
        if isinstance(operand, ir.Const):
            return operand
        assert isinstance(operand, ir.Var)
        if operand in self.shadows:
            return self.shadows[operand]
        inferred = Inferred(operand.kind)  # what is in it doesn't vary
        made = self.emit(
            runtime.zero_items, (operand,), inferred=inferred, name=f"d_{operand.name}"
        )
        self.live_buffers.add(made)
        return made

    def _refuse_list(self, s: ir.Assign, v: ir.Var) -> None:
        raise UnsupportedError(
            f"{s.function.name} is computed again in the reverse sweep, and changes {v.name!r}, a "
            "list made at run time",
            s.span,
            "return what is to be appended",
        )

    def _by_rule(self, s: ir.Assign, rule: ir.Rule) -> bool:
        """Emit a unit that has a rule; False if the rule doesn't say what is needed.

        Where what a forward rule returns for the backward one is active too, this is the
        derivative of a derivative, and the forward rule is differentiated like any function.
        """
        active = self.active_results(s)
        if not set(active) <= set(rule.outputs):
            return False
        self.refuse_unknown(s, rule)
        self.refuse_shared_outputs(s, rule)
        copies = self._operand_snapshots(s)
        given = tuple(ir.substitute(a, lambda v: copies.get(v, v)) for a in s.args)
        wanted = tuple(s.args[i] for i in rule.positions)
        target = s.target
        if copies:  # what the forward rule hands on may be an argument
            s = ir.Assign(target, s.function, given, span=s.span, effect=s.effect)
        if not isinstance(target.kind, TupleOf) and self.aliasing.is_written(target):
            raw = ir.Var(target.name, target.kind)
            self._note(raw, True)
            s = ir.Assign(raw, s.function, given, span=s.span, effect=s.effect)
        self.block.statements.append(s)
        self.definitions[s.target] = s
        self.calls[s] = Call(None, rule, given, wanted, rule.outputs)
        self.called[s.target] = s
        if s.target is not target:
            copy = ir.Assign(target, np.array, (s.target,), span=s.span)
            self.block.statements.append(copy)
            self.definitions[target] = copy
        if not isinstance(target.kind, TupleOf) and self.shadowed(target):
            self._make_shadow(self.definitions[target])
        return True

    def _augment_by_value(self, s: ir.Assign) -> None:
        """The call of a unit that writes into active arrays.

        What is called works on copies, and returns them too; they are stored as by the program.
        """
        from ..units import by_value

        for v in s.writes:
            if not isinstance(v.kind, (Array, ListOf)):
                raise UnsupportedError(
                    f"{s.function.name} is compiled as a function, and changes {v.name!r}, an "
                    "object made at run time",
                    s.span,
                    "return what it is to be changed to",
                )
        self.refuse_views(s)
        old: ir.Unit = s.function
        unit, written = by_value(old)
        contents = []
        for i in written:
            operand = s.args[i]
            assert isinstance(operand, ir.Var)
            new = ir.Var(operand.name, operand.kind)
            self._note(new, self.activity.active(operand))
            contents.append((operand, new))
        count = len(old.kinds)
        whole = contents[0][1]
        if len(unit.kinds) > 1:
            whole = self._whole(s, unit.kinds[count:])
            for k, (_, new) in enumerate(contents):
                self.items_of[whole, count + k] = new
            if whole is not s.target and count:
                self.items_of[whole, 0] = s.target
        lists = tuple(v for v in s.writes if isinstance(v.kind, ListOf))
        call = ir.Assign(
            whole, unit, s.args, span=s.span, views=s.views, writes=lists, effect=s.effect
        )
        arrays = [a for a in s.args if isinstance(a, ir.Var) and isinstance(a.kind, Array)]
        if len(arrays) > 1:
            written_arrays = tuple(v for v in s.writes if isinstance(v.kind, Array))
            pair = (ir.Pack(tuple, written_arrays), ir.Pack(tuple, tuple(arrays)))
            self.act(runtime.check_apart, *pair)
        self.augment_call(call, s.writes)
        if len(unit.kinds) > 1:
            taken = [(count + k, new) for k, (_, new) in enumerate(contents)]
            if whole is not s.target and count:
                taken.append((0, s.target))
            for i, v in taken:
                views = (whole,) if holds_memory(v.kind) else ()
                self._augment_assign(
                    ir.Assign(v, operator.getitem, (whole, ir.Const(i)), span=s.span, views=views)
                )
        for operand, new in contents:
            key = ir.Const(Ellipsis)
            nothing = ir.Var("_", Opaque(None))
            self._augment_assign(
                ir.Assign(
                    nothing, operator.setitem, (operand, key, new), span=s.span, writes=(operand,)
                )
            )

    def _note(self, var: ir.Var, active: bool) -> None:
        """Note whether a new variable is active."""
        if active:
            self.activity.varied.add(var)
            self.activity.useful.add(var)

    def _whole(self, s: ir.Assign, more: tuple[Kind, ...]) -> ir.Var:
        """The variable for the results of a function that returns more than the unit does."""
        if isinstance(s.target.kind, TupleOf):
            s.target.kind = TupleOf((*s.target.kind.items, *more))
            self._note(s.target, True)  # the program's own results may not be
            return s.target
        kinds = (s.target.kind,) if s.function.kinds else ()
        whole = ir.Var(f"{s.function.name}_results", TupleOf((*kinds, *more)))
        self._note(whole, True)
        return whole

    def _take_results(self, s: ir.Assign, whole: ir.Var) -> None:
        """The single result of a unit, taken from those of the forward function."""
        if whole is s.target or not s.function.kinds:
            return
        views = (whole,) if holds_memory(s.target.kind) else ()
        self.augment_result(
            ir.Assign(s.target, operator.getitem, (whole, ir.Const(0)), span=s.span, views=views)
        )

    def augment_result(self, s: ir.Assign) -> None:
        """Emit the statement that takes a result of a forward function.

        An array that is written in place later is copied: the residuals may hold it too.
        """
        whole, key = s.args
        assert isinstance(whole, ir.Var) and isinstance(key, ir.Const)
        if isinstance(s.target.kind, ListOf):
            self.block.statements.append(s)
            self.definitions[s.target] = s
            if (whole, key.value) in self.returned_lists:
                self.shadows[s.target] = self.returned_lists[whole, key.value]
            return
        if isinstance(s.target.kind, Array) and self.aliasing.is_written(s.target):
            raw = ir.Var(s.target.name, s.target.kind)
            self._note(raw, self.activity.active(s.target))
            item = ir.Assign(raw, operator.getitem, s.args, span=s.span, views=s.views)
            self.block.statements.append(item)
            self.definitions[raw] = item
            s = ir.Assign(s.target, np.array, (raw,), span=s.span)
        self.block.statements.append(s)
        self.definitions[s.target] = s
        if self.shadowed(s.target):
            self._make_shadow(s)

    def takes_result(self, s: ir.Assign) -> bool:
        """Whether a statement takes one of the results of a call."""
        if s.function is not operator.getitem or s.args[0] not in self.called:
            return False
        return isinstance(s.args[0].kind, TupleOf)  # else it takes a part of the only result

    def selection(
        self, s: ir.Assign, lists: bool = True
    ) -> tuple[tuple[int, ...], tuple[int, ...]]:
        """The positions of the operands and results of a call that are active.

        `lists`: those that exist at run time may be among them.
        """
        passed = PASSED if lists else PASSED[:2]
        unit: ir.Unit = s.function
        wrt = []
        for i, operand in enumerate(s.args):
            if not self.activity.is_varied(operand):
                continue
            kinds = [v.kind for v in ir.variables(operand)]
            if not all(isinstance(kind, passed) for kind in kinds):
                names = ", ".join(v.name for v in ir.variables(operand))
                raise UnsupportedError(
                    f"{unit.name} is compiled as a function, to which {names!r}, a list or object "
                    "made at run time that holds active values, can't be passed",
                    s.span,
                    "pass arrays: np.array(...), np.stack(...)",
                )
            wrt.append(i)
        outputs = self.active_results(s)
        for _, v in self.results_of(s):
            if self.activity.active(v) and not isinstance(v.kind, passed):
                raise UnsupportedError(
                    f"{unit.name} is compiled as a function, and returns a list made at run time",
                    s.span,
                    "return an array: np.array(...), np.stack(...)",
                )
        return saturated(unit, tuple(wrt), outputs)

    def results_of(self, s: ir.Assign) -> list[tuple[int, ir.Var]]:
        """The variables that hold the results of a call, each with its position."""
        if not isinstance(s.target.kind, TupleOf):
            return [(0, s.target)]
        items = [*self.items_of.items(), *self.items_again]
        found = [(i, v) for (whole, i), v in items if whole is s.target]
        return [(i, v) for i, v in found if carries(v.kind)]

    def active_results(self, s: ir.Assign) -> tuple[int, ...]:
        """The positions of the results of a call on which something depends."""
        found = (i for i, v in self.results_of(s) if self.activity.active(v))
        return tuple(dict.fromkeys(found))

    def refuse_views(self, s: ir.Assign) -> None:
        for v in s.views:
            classes = self.aliasing.classes(v)
            for _, result in self.results_of(s):
                root = self.aliasing.find(result)
                array = isinstance(result.kind, Array) and isinstance(v.kind, (Array, ListOf))
                if array and root in classes and root in self.aliasing.written:
                    raise UnsupportedError(
                        f"{s.function.name} is compiled as a function, and its result may share "
                        f"memory with {v.name!r}, which is written in place",
                        s.span,
                        "return a copy: .copy()",
                    )
        self._refuse_overlap(s)
        self._refuse_shared_results(s)

    def _refuse_shared_results(self, s: ir.Assign) -> None:
        """Refuse results that share memory with each other that is written: each becomes a copy."""
        found = {i: v for (whole, i), v in self.items_of.items() if whole is s.target}
        for group in s.function.shares or ():
            several = [found[-1 - p] for p, depth in group if not depth and -1 - p in found]
            arrays = [v for v in several if isinstance(v.kind, Array)]
            if len(arrays) > 1 and any(map(self.aliasing.is_written, arrays)):
                names = " and ".join(repr(v.name) for v in arrays[:2])
                raise UnsupportedError(
                    f"{s.function.name} is compiled as a function, and its results {names} may "
                    "share memory, which is written in place",
                    s.span,
                    "return copies: .copy()",
                )

    def _refuse_overlap(self, s: ir.Assign) -> None:
        """Refuse arguments that share memory that is written, among which there are lists.

        A list given to a unit has a shadow; an array its adjoint, even if it's in the list.
        """
        seen: dict[ir.Var, ir.Var] = {}
        for v in s.args:
            if not isinstance(v, ir.Var) or not isinstance(v.kind, (Array, ListOf)):
                continue
            depth = _depth(v.kind)
            for root in self.aliasing.classes(v)[:depth]:
                other = seen.setdefault(root, v)
                lists = isinstance(v.kind, ListOf) or isinstance(other.kind, ListOf)
                if other is not v and lists and root in self.aliasing.written:
                    raise UnsupportedError(
                        f"{s.function.name} is compiled as a function, and is given "
                        f"{other.name!r} and {v.name!r}, which may share memory that is written "
                        "in place",
                        s.span,
                        "pass copies: .copy() of an array, list(items) of a list",
                    )

    def refuse_unknown(self, s: ir.Assign, rule: ir.Rule) -> None:
        """Refuse an active operand by which a rule knows no derivative."""
        for i, unknown in rule.unknown.items():
            if self.activity.is_varied(s.args[i]):
                raise UnsupportedError(unknown.reason, unknown.place or s.span, unknown.advice)

    def refuse_shared_outputs(self, s: ir.Assign, rule: ir.Rule) -> None:
        """Refuse a function with a rule whose result may be an argument that is written."""
        self._refuse_shared_results(s)
        if not any(self.aliasing.is_written(v) for v in s.views):
            return
        body: ir.Function = s.function.body
        aliasing = Aliasing(body.block)
        results = [body.block.results[i] for i in rule.outputs]
        shared = {aliasing.find(r) for r in results if isinstance(r, ir.Var)}
        if any(holds_memory(p.kind) and aliasing.find(p) in shared for p in body.params):
            self.refuse_views(s)

    def _check_repeatable(self, s: ir.Assign) -> None:
        unit: ir.Unit = s.function
        if unit.changes is not None:
            raise UnsupportedError(
                f"{unit.name} can't be computed a second time in the reverse sweep: "
                f"it {unit.changes}",
                s.span,
                "keep what has an effect outside of it",
            )

    def reverse_call(self, s: ir.Assign) -> None:
        """Emit the backward function."""
        call = self.calls[s]
        whole = isinstance(s.target.kind, TupleOf)
        if whole:
            parts = self.parts.pop(s.target, {})
        else:
            if s.target in self.shadows:
                d: Any = self.shadows[s.target]
                self.live_buffers.discard(d)
            else:
                d = self.take(s.target)
            parts = {} if d is None else {0: d}
        if not parts and not call.lists:
            return
        seeds: list[ir.Operand] = []
        for i in call.outputs:
            like = s.target
            if whole:
                like = self._item_of(s.target, i)
                like.optional |= i in call.optional
            seeds.append(self._seed(parts.get(i), like))
        if call.rule is not None:
            self._apply_rule(s, call, seeds)
            return
        assert call.backward is not None
        results = [
            ir.Var(_adjoint_name(o), _result_kind(o, kind))
            for o, kind in zip(call.wanted, call.backward.kinds, strict=True)
        ]
        emitted = emit_call(self, call.backward, (*call.given, *call.lists, *seeds), results)
        emitted.writes = tuple(v for v in call.lists if isinstance(v, ir.Var))
        for shadow in call.real:
            self.modify(runtime.drop_imaginary, shadow)
        self._define_last(1 + len(results) * (len(results) != 1))
        for param, d in zip(call.params, results, strict=True):
            if isinstance(param.kind, Array) and not param.assured:
                self.may_be_number(d)
        for operand, d in zip(call.wanted, results, strict=True):
            self.distribute(operand, d)

    def _apply_rule(self, s: ir.Assign, call: Call, seeds: list[ir.Operand]) -> None:
        """Emit the rule's statements in place of its call."""
        assert call.rule is not None
        operands = (*call.given, *self.results(s), *seeds)
        found = self.spliced(call.rule.function, operands)
        for operand, c in zip(call.wanted, found, strict=True):
            self.distribute(operand, c)

    def results(self, s: ir.Assign) -> list[ir.Operand]:
        """All results of a call."""
        if not isinstance(s.target.kind, TupleOf):
            return [s.target] if s.function.kinds else []
        found: list[ir.Operand] = []
        for i, kind in enumerate(s.target.kind.items):
            views = (s.target,) if holds_memory(kind) else ()
            key = (s.target, ir.Const(i))
            found.append(self.emit(operator.getitem, key, inferred=Inferred(kind, views)))
        return found

    def spliced(
        self, function: ir.Function, operands: tuple[ir.Operand, ...]
    ) -> tuple[ir.Operand, ...]:
        """Emit the statements of a function for some arguments; its results."""
        body = ir.clone(function)
        values = dict(zip(body.params, operands, strict=True))
        ir.rename(body.block, values)
        self.block.statements += body.block.statements
        for inner in ir.walk(body.block):
            if isinstance(inner, ir.Assign):
                self.definitions[inner.target] = inner
        return body.block.results

    def _define_last(self, count: int) -> None:
        for statement in self.block.statements[-count:]:
            if isinstance(statement, ir.Assign):
                self.definitions[statement.target] = statement

    def _seed(self, d: Any, like: ir.Var) -> ir.Operand:
        """The adjoint of a result, of exactly its shape and dtype."""
        if d is None:
            return self.zero(like)
        operand = self.operand(d)
        if isinstance(operand, ir.Pack):
            operand = self.number(d)
        is_number = operand in self.numbers or isinstance(getattr(operand, "kind", None), Scalar)
        if is_number and isinstance(like.kind, Array):
            operand = self._spread(operand, like.kind, like)
        return self.fit(operand, like.kind, like)


def _depth(kind: Any) -> int:
    """How deep in lists of lists there is memory, the list's own included."""
    if isinstance(kind, tuple):
        return max(map(_depth, kind), default=0)
    if isinstance(kind, ListOf):
        return 1 + _depth(kind.item)
    return int(isinstance(kind, Array))


def _adjoint_name(operand: ir.Operand) -> str:
    return f"d_{operand.name}" if isinstance(operand, ir.Var) else "d_value"


def _result_kind(operand: ir.Operand, kind: Kind) -> Kind:
    """The kind of an argument's adjoint: of its dtype in the function, which may be a wider one."""
    known = operand.kind if isinstance(operand, ir.Var) else kind
    if isinstance(known, Array) and isinstance(kind, Array):
        known = replace(known, dtype=kind.dtype)
    return adjoint_kind(known)


def _layout(kind: Any) -> Any:
    """How the shadow of what is of a kind is built: which parts are lists, arrays and numbers."""
    if isinstance(kind, ListOf):
        return (list, None if kind.item is None else _layout(kind.item))
    if isinstance(kind, (tuple, TupleOf)):
        return tuple(map(_layout, kind if isinstance(kind, tuple) else kind.items))
    return (Array if isinstance(kind, Array) else Scalar) if carries(kind) else None


def _alike(a: Any, b: Any) -> bool:
    """Whether two layouts are the same, apart from lists with nothing in them."""
    if isinstance(a, tuple) and isinstance(b, tuple) and len(a) == len(b):
        empty = a[:1] == b[:1] == (list,) and None in (a[1], b[1])
        return empty or all(map(_alike, a, b))
    return bool(a == b)
