"""What a function demands of shapes stays demanded, where its gradient needs no such product.

`np.sum(a + b)` has ones as its gradient, whatever the lengths of `a` and `b`; yet the function
raises where they don't go together, and so must its gradient. Where kinds don't prove that the
operands of a call fit, it is noted; so is `math.log(x)`, which raises where x isn't positive, and
its gradient 1 / x doesn't. What is still made when all passes are through raises by itself. If a
call isn't, the function is compiled once more, with a statement in front of the call that does
nothing else than to check its operands.
"""

from __future__ import annotations

import builtins
import operator
from collections.abc import Iterator
from typing import Any, TypeGuard

import numpy as np

from .. import ir, runtime
from ..analysis.aliasing import Aliasing
from ..analysis.elementwise import IN_PLACE, WITH_OUT, is_elementwise, number_kind
from ..analysis.first_trips import left_to_later_trips
from ..analysis.inference import Inferred, fits, infer
from ..errors import Span
from ..frontend.lower import Lowerer
from ..frontend.operators import INPLACE
from ..frontend.restarts import NeedStatic
from ..kinds import Array, Dimension, ListOf, Opaque, Scalar
from ..rules.registry import hashable, kinds, raising

ADDED = frozenset({np.add.at, np.subtract.at})
AUGMENTED = {new: old for old, new in INPLACE.items() if old is not operator.matmul}
# What calls were that write their results in the place of an operand
PLAIN = {new: old for old, new in (*IN_PLACE.items(), *WITH_OUT.items())}
PRODUCTS = frozenset({operator.matmul, np.matmul, np.dot})
OF_NONE = frozenset({
    operator.eq, operator.ne, operator.not_, np.equal, np.not_equal,
    np.logical_and, np.logical_or, np.logical_not, np.logical_xor,
})  # fmt: skip
SPELLINGS = {operator.matmul: np.matmul}


def demand(function: ir.Function, low: Lowerer) -> None:
    """Note the calls that demand something, and check it where that was found to be needed.

    Only the program's own calls demand something, not those of an inner gradient's reverse sweep.
    """
    if low.reads:
        defined, later = _defined(function.block), left_to_later_trips(function.block)
        low.unsure += [
            read for read in low.reads
            if read.var in defined and read.block not in later.get(read.var, ())
        ]  # fmt: skip
    demands = _Demands(function)
    noted = {call.target for call in low.demanding}
    for block in ir.all_blocks(function.block):
        statements: list[ir.Statement] = []
        for s in block.statements:
            if isinstance(s, ir.Assign) and _is_own(s) and s.target not in noted:
                checks = list(demands.of(s))
                repeated = _demands_within(s.function)
                if checks or repeated:
                    low.demanding.append(s)
                    if _place(s) in low.known_sites:
                        statements += checks
                        s.effect = repeated
            statements.append(s)
        block.statements = statements


def demanding(function: ir.Function) -> ir.Assign | None:
    """A call whose operands may not go together; None if it is known of all that they do."""
    demands = _Demands(function)
    calls = (s for s in ir.walk(function.block) if isinstance(s, ir.Assign) and _is_own(s))
    return next((s for s in calls if s.function not in raising and any(demands.of(s))), None)


def keep_demands(function: ir.Function, low: Lowerer) -> None:
    """Ask for the checks of the calls that demand something and aren't made any more.

    And of the names that may be unbound of which nothing is computed any more.

    Raises:
        NeedStatic: with the places of these calls.
    """
    final = [s for s in ir.walk(function.block) if isinstance(s, ir.Assign)]
    targets = {s.target for s in final}
    units = {unit for s in final for unit in _does(s.function)}
    made = {(id(s.function), s.args) for s in final if all(isinstance(a, ir.Var) for a in s.args)}
    again = {(_place(s), _kinds(s)) for s in final if _is_own(s) and hashable(s.function)}
    lost = [
        s for s in low.demanding
        if s.target not in targets and s.function not in units
        and _place(s) not in low.known_sites
        and (id(s.function), s.args) not in made
        and (_place(s), _kinds(s)) not in again
    ]  # fmt: skip
    sites = frozenset(map(_place, lost))
    computed: dict[ir.Operand, set[Span | None]] = {}  # where something is, of which variables
    for s in final:
        for v in _computed_of(s):
            computed.setdefault(v, set()).add(s.span)
    unread = [r for r in low.unsure if not any(_holds(s, r.span) for s in computed.get(r.var, ()))]
    sites |= {r.site for r in unread} - low.known_sites
    if sites:
        span = lost[0].span if lost else unread[0].span
        raise NeedStatic(sites, "operands are to be checked", span)


def _defined(block: ir.Block) -> set[ir.Var]:
    """The variables that statements define."""
    return {
        v for s in ir.walk(block)
        for v in (*ir.targets(s), *(s.params if isinstance(s, ir.Loop) else ()))
    }  # fmt: skip


def _computed_of(s: ir.Assign) -> tuple[ir.Operand, ...]:
    """The operands of a statement that surely raises where one has no value, or is None instead."""
    if s.effect or not hashable(s.function) or s.function in OF_NONE:
        return ()
    if s.function is operator.getitem:  # None may be an index, or the bound of a slice
        return s.args[:1]
    return s.args if is_elementwise(s.function) or s.function in PRODUCTS else ()


def _holds(outer: Span | None, inner: Span | None) -> bool:
    """Whether one stretch of source has another one in it."""
    if outer is None or inner is None or outer.filename != inner.filename:
        return False
    begins = (outer.line, outer.column) <= (inner.line, inner.column)
    return begins and (inner.end_line, inner.end_column) <= (outer.end_line, outer.end_column)


def _demands_within(function: Any, around: tuple[ir.Unit, ...] = ()) -> bool:
    """Whether the calls in a unit demand something that only the call of the unit may check.

    What reverse mode runs again in its stead doesn't raise.
    """
    if not isinstance(function, ir.Unit) or not function.recompute or function in around:
        return False
    if function.rule is not None or function.later is not None:
        return False
    demands = _Demands(function.body)
    calls = (s for s in ir.walk(function.body.block) if isinstance(s, ir.Assign) and _is_own(s))
    around = (*around, function)
    return any(_demands_within(s.function, around) or any(demands.of(s)) for s in calls)


def _does(function: Any) -> Iterator[ir.Unit]:
    """The unit that a function is, and those from which it is made such that it does the same."""
    while isinstance(function, ir.Unit):
        yield function
        pattern, function = function.source or ("", None)
        if pattern == "backward_":
            return


def _place(s: ir.Assign) -> Any:
    unit = isinstance(s.function, ir.Unit)  # each compilation has its own
    return "%checked", s.span, s.function.place if unit else PLAIN.get(s.function, s.function)


def _kinds(s: ir.Assign) -> frozenset[Any]:
    return frozenset(getattr(operand, "kind", None) for operand in s.args)


def _is_own(s: ir.Assign) -> bool:
    return not s.effect and not isinstance(s.span, ir.Origin)


class _Demands:
    """What the calls of a function demand of their operands."""

    def __init__(self, function: ir.Function) -> None:
        self.masks: dict[Dimension, ir.Var] = {}  # by how many they select
        for s in ir.walk(function.block):
            if isinstance(s, ir.Assign) and s.function is operator.getitem and _is_mask(s.args[1]):
                if isinstance(s.target.kind, Array) and s.target.kind.shape:
                    self.masks[s.target.kind.shape[0]] = s.args[1]
        if self.masks:  # of those that stay what they are
            written = Aliasing(function.block).is_written
            self.masks = {n: mask for n, mask in self.masks.items() if not written(mask)}

    def of(self, s: ir.Assign) -> Iterator[ir.Assign]:
        """Statements that raise where a call's operands don't fit; none if they surely do."""
        if hashable(s.function) and s.function in raising:
            yield _checked(s, s.function, s.args, s.kwargs)
            return
        given = [v for a in s.args for v in ir.variables(a)]
        arrays = any(isinstance(v.kind, Array) for v in given)
        lists = any(isinstance(v.kind, ListOf) for v in given)
        if isinstance(s.function, ir.Unit) or not arrays or lists or not hashable(s.function):
            return
        if s.function is operator.setitem or s.function in ADDED:
            yield from self.of_store(s)
        elif s.function in AUGMENTED and _takes_dtype(s):
            if not _within(_shape(s.args[1]), _shape(s.args[0])):
                yield _checked(s, runtime.check_added, s.args)
        elif s.function in AUGMENTED or s.function is operator.imatmul:
            copy = _made(s, np.ndarray.copy, (s.args[0],))
            yield copy
            yield _checked(s, runtime.check_call, (ir.Const(s.function), copy.target, s.args[1]))
        elif s.function is operator.getitem:
            if _has_too_many(*s.args):
                yield _checked(s, operator.getitem, s.args)
        elif s.writes:
            return
        elif is_elementwise(s.function):
            if not _broadcast(list(map(_shape, s.args))):
                operands = (a for a in s.args if _shape(a))
                yield _checked(s, runtime.check_broadcast, tuple(operands))
        elif not fits(s.function, s.args, dict(s.kwargs)):
            spelled = ir.Const(SPELLINGS.get(s.function, s.function))
            yield _checked(s, runtime.check_call, (spelled, *s.args), s.kwargs)

    def of_store(self, s: ir.Assign) -> Iterator[ir.Assign]:
        """What is stored at a key, or added there, fits the region that the key selects."""
        x, key, value = s.args
        if self.surely_takes(x, key, value):
            return
        if any(isinstance(v.kind, Array) for v in ir.variables(key)):
            # a copy of what stood there would keep alive the stores before, this one too in a loop
            shape = _made(s, builtins.getattr, (x, ir.Const("shape")))
            blank = _made(s, np.empty, (shape.target, ir.Const(bool)))
            yield shape
            yield blank
            x = blank.target
        selected = _made(s, operator.getitem, (x, key))
        yield selected
        check = runtime.check_added if s.function in ADDED else runtime.check_stored
        yield _checked(s, check, (selected.target, value))

    def surely_takes(self, x: ir.Operand, key: ir.Operand, value: ir.Operand) -> bool:
        region = _inferred(operator.getitem, (x, key)).kind
        given, shape = _shape(value), region.shape if isinstance(region, (Array, Scalar)) else None
        if given and shape and self.masks.get(given[0]) is key:
            return len(given) == len(shape) and _within(given[1:], shape[1:])
        return _within(given, shape)


def _has_too_many(x: ir.Operand, key: ir.Operand) -> bool:
    """Whether an index surely asks for more axes than an array has."""
    shape = _shape(x)
    items = [i for i in ir.items_of(key) if not (isinstance(i, ir.Const) and _takes_no_axis(i))]
    if shape is None or len(items) <= len(shape):  # NumPy checks a mask of several axes itself
        return False
    return not any(isinstance(i, ir.Var) and _shape(i) is None for i in items)


def _takes_no_axis(item: ir.Const) -> bool:
    return item.value is None or item.value is Ellipsis or isinstance(item.value, bool)


def _is_mask(key: ir.Operand) -> TypeGuard[ir.Var]:
    return isinstance(key, ir.Var) and isinstance(key.kind, Array) and key.kind.dtype == bool


def _made(s: ir.Assign, function: Any, args: tuple[ir.Operand, ...]) -> ir.Assign:
    found = _inferred(function, args)
    target = ir.Var("region", found.kind)
    return ir.Assign(target, function, args, (), s.span, found.views, found.certain)


def _inferred(function: Any, args: tuple[ir.Operand, ...]) -> Inferred:
    special = kinds.get(function)
    found = special(args, {}) if special else None
    return found if isinstance(found, Inferred) else infer(function, args, {})


def _checked(
    s: ir.Assign, function: Any, args: tuple[ir.Operand, ...], kwargs: Any = ()
) -> ir.Assign:
    return ir.Assign(ir.Var("_", Opaque(None)), function, args, kwargs, s.span, effect=True)


def _shape(operand: ir.Operand) -> tuple[Dimension, ...] | None:
    kind = operand.kind if isinstance(operand, ir.Var) else None
    if isinstance(kind, (Array, Scalar)):
        return kind.shape
    return np.shape(operand.value) if isinstance(operand, ir.Const) else None


def _broadcast(shapes: list[tuple[Dimension, ...] | None]) -> bool:
    """Whether arrays of such shapes surely broadcast against each other, or nothing is known."""
    if any(shape is None for shape in shapes):
        return True
    known = [shape for shape in shapes if shape]
    rank = max(map(len, known), default=0)
    for axis in range(1, rank + 1):
        lengths = {shape[-axis] for shape in known if len(shape) >= axis}
        if len(lengths - {1}) > 1:
            return False
    return True


def _takes_dtype(s: ir.Assign) -> bool:
    """Whether NumPy casts the result of an operator to the array that it is written into.

    It does from ints to floats, not back; where nothing is known, that is taken for granted.
    """
    into, given = (getattr(number_kind(operand), "dtype", None) for operand in s.args)
    if (
        into is None
        or given is None
        or into.kind == "c"
        or (into.kind == "f" and given.kind != "c")
    ):
        return True
    made = getattr(_inferred(AUGMENTED[s.function], s.args).kind, "dtype", None)
    return made is None or np.can_cast(made, into, "same_kind")


def _within(value: tuple[Dimension, ...] | None, target: tuple[Dimension, ...] | None) -> bool:
    """Whether a value surely broadcasts to a shape, or nothing is known."""
    if value is None or target is None:
        return True
    pairs = zip(value[::-1], target[::-1], strict=False)
    return len(value) <= len(target) and all(m in (1, n) for m, n in pairs)
