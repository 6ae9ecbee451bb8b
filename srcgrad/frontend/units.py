"""Functions that stay functions: lowering a call that isn't inlined.

A call is inlined wherever it can be: that makes the fastest code, and the shortest. Two kinds of
functions can't be, or mustn't: one that calls itself until the data say stop, and one whose
values are to be computed again rather than kept (`srcgrad.checkpoint`). They become *units*
(`ir.Unit`), and their calls statements of the IR.

A unit is lowered like the body of a loop. What its calls have in common stays what it is: a flag,
a function, a variable of the code around, which becomes a parameter when the unit is done
(closures are converted here). What differs from call to call becomes a parameter of the kind that
covers all calls, and so do outer variables that the function assigns, which it also returns. A
call of itself, while the kind of the result isn't known, is taken for one that never returns: the
first round sees the cases that end the recursion. Rounds are repeated until nothing is new.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from .. import ir
from ..errors import UnsupportedError
from ..kinds import Array, Kind, Size, fresh_size
from .effects import describe, emit_call
from .finished_units import finish
from .item_counts import forget
from .loops import MOST_ROUNDS
from .predicates import NONE, is_none
from .recalling import Carried
from .restarts import Materialize, Thaw, Unbound, Unreached
from .structure import (
    Mold,
    Poison,
    Widened,
    freeze_molded,
    frozen_later,
    is_table,
    keep_frozen,
    parts,
    same_template,
    stood_for,
)
from .unit_templates import (
    instantiated,
    leaves_of,
    operands_given,
    options_in,
    parameters_of,
    templated,
    variables_in,
)
from .values import (
    Bound,
    Closure,
    DictObject,
    InnerGradient,
    ListObject,
    Partial,
    Ref,
    StandIn,
    State,
    Value,
    births,
)
from .widening import Slot

MOST_NESTED = 8


class NeedUnit(Exception):
    """A function that is being inlined must be a unit; `function` is what `identity` says."""

    def __init__(self, function: Any) -> None:
        super().__init__()
        self.function = function


def identity(closure: Closure) -> Any:
    """What tells a function from others when the same program is lowered again."""
    node = closure.node
    return closure.source.filename, node.lineno, node.col_offset, closure.name


@dataclass(frozen=True)
class Wanted:
    """What kind of unit a function is to be.

    `plain` is a closure with the same parameters that computes the same, faster, for where
    nothing is differentiated. With `every`, a variable of the code around that the function
    returns is one of its results too. With `own`, it writes into copies of its arguments.
    """

    recompute: bool = False
    plain: Closure | None = None
    every: bool = False
    own: bool = False


@dataclass(eq=False)
class Making:
    """A unit that is being lowered."""

    unit: ir.Unit
    closure: Closure
    wanted: Wanted
    values: dict[str, Value]  # the arguments of its first call
    entry: State
    marker: object
    oldest: int  # the bases of dimensions that are made in it come after this one
    args: dict[str, Any]  # the templates of its arguments
    slots: dict[Slot, Any] = field(default_factory=dict)  # and of outer variables it assigns
    result: Any = None  # the template of its result; None while that isn't known
    start: State | None = None
    params: dict[Slot, Any] = field(default_factory=dict)  # what they hold when a call starts
    own: list[tuple[Any, Value]] = field(default_factory=list)  # templates and their parameters
    returned: Any = None
    captured: tuple[ir.Var, ...] = ()
    settling: set[int] = field(default_factory=set)  # the dimensions that differ between calls
    changed: bool = False  # something new was found in this round
    recursive: bool = False
    resized: bool = False  # the lists that it returns aren't as long in each call
    inner: list[Any] = field(default_factory=list)  # what the loops in it carried in each round
    # Of which objects others may be one when it is called again, and when it has returned; and
    # whether its result may be one of its arguments
    frozen: dict[int, Any] = field(default_factory=dict)
    left: dict[int, Any] = field(default_factory=dict)
    returns_argument: bool = False
    end: State | None = None


def lower_call(low: Any, closure: Closure, values: dict[str, Value], wanted: Wanted) -> Value:
    """The call of a function that is, or becomes, a unit."""
    return call_of(low, closure, values, wanted)[0]


def call_of(
    low: Any, closure: Closure, values: dict[str, Value], wanted: Wanted
) -> tuple[Value, ir.Assign]:
    """The value of such a call, and the statement."""
    alike = [m for m in low.making if m.closure.node is closure.node]
    for making in reversed(alike):
        if making.closure.frame == closure.frame and _fits(low, making, values):
            return _called_again(low, making, values)
    if len(alike) >= MOST_NESTED:
        raise low.refuse(
            f"the recursion of {closure.name!r} makes new functions on its way",
            "pass what differs from call to call as numbers or arrays",
        )
    _, value, call = lower_unit(low, closure, values, wanted)
    return value, call


def lower_unit(
    low: Any, closure: Closure, values: dict[str, Value], wanted: Wanted
) -> tuple[Making, Value, ir.Assign]:
    """A unit that is made for a call, the value of that, and the statement."""
    making = _made(low, closure, values, wanted)
    if wanted.plain is not None:
        _add_plain(low, making, wanted.plain)
    return making, *_call(low, making, making.values, making.entry)


def _fits(low: Any, making: Making, values: dict[str, Value]) -> bool:
    """Whether a unit can be called with these arguments: of functions there are others, and of
    dicts where it got None, as of a memo that the first call makes."""
    pairs = [(making.values[name], v) for name, v in values.items()]
    held = [low.on_heap(b) for a, b in pairs if is_none(a)]
    made = any(isinstance(thing, DictObject) or is_table(thing) for thing in held)
    return not made and all(_compatible(a, b) for a, b in pairs)


def _compatible(a: Any, b: Any) -> bool:
    """Whether two arguments are the same function, or neither is one."""
    if isinstance(a, Closure) or isinstance(b, Closure):
        if not (isinstance(a, Closure) and isinstance(b, Closure)):
            return False
        return a is b or (a.node is b.node and a.frame == b.frame and a.defaults == b.defaults)
    if isinstance(a, ir.Const) and isinstance(b, ir.Const) and callable(a.value):
        return a.value is b.value
    if isinstance(a, ir.Const) and isinstance(a.value, StandIn):
        return isinstance(b, ir.Const) and a.value == b.value
    if isinstance(a, InnerGradient) or isinstance(b, InnerGradient):
        return (
            isinstance(a, InnerGradient)
            and isinstance(b, InnerGradient)
            and a.gradient._inputs == b.gradient._inputs
            and _compatible(a.primal, b.primal)
        )
    if isinstance(a, (Bound, Partial)) or isinstance(b, (Bound, Partial)):
        if type(a) is not type(b):
            return False
        pairs = zip(parts(a), parts(b), strict=False)
        return a is b or (len(parts(a)) == len(parts(b)) and all(_compatible(*p) for p in pairs))
    return True


# Making a unit


def _made(
    low: Any, closure: Closure, values: dict[str, Value], wanted: Wanted, like: Making | None = None
) -> Making:
    """Lower a function until what it takes and returns is settled."""
    name = closure.name if closure.name.isidentifier() else "function"
    where = closure.source.filename.replace("\\", "/").rpartition("/")[2]
    place = f"{where}:{closure.node.lineno}"
    unit = ir.Unit(name, place, (), low, recompute=wanted.recompute)
    making = Making(
        unit, closure, wanted, dict(values), low.state, object(), fresh_size().base, dict(values)
    )
    if like is not None:
        making.args, making.result = dict(like.args), like.result
    if low.first_loop is None:
        low.first_loop = making.oldest
    low.making.append(making)
    outer, span, forks, unbound = low.block, low.span, low.fork_depth, low.unbound
    began, site = next(births), (low.span, identity(closure))
    earlier = low.carried_earlier(site).rounds
    try:
        for _ in range(MOST_ROUNDS * 4):
            low.block, low.unbound = outer, unbound
            block, state = _round(low, making, earlier)
            if block is not None and not making.changed:
                break
        else:
            raise low.refuse(f"the kinds of the arguments of {closure.name!r} don't settle")
    finally:
        low.making.pop()
        low.block, low.span, low.fork_depth = outer, span, forks
    low.carried.setdefault(site, []).append(Carried(rounds=making.inner))
    low.state = making.entry
    _use_up(low, making, {born for born in state.used - making.entry.used if born < began})
    making.end = state
    if low.unbound is not None and not low.loop_depth and not low.making:
        raise low.unbound
    if making.result is None:
        if not making.recursive:
            raise low.refuse(f"{closure.name!r} surely raises here")
        raise UnsupportedError(
            f"{closure.name!r} calls itself on every way through it, or raises",
            low.span or closure.source.span(closure.node),
            "let it return a value without calling itself on one of them",
        )
    finish(low, making, block, state)
    return making


def _use_up(low: Any, making: Making, used: set[int]) -> None:
    """Note which iterators from outside a unit consumes."""
    if used and making.recursive:  # its calls have one after the other
        low.ask_stepwise(*(s for b in used if isinstance(s := low.iterators.get(b), tuple)))
        raise low.used_up()
    low.state.used |= used


def _add_plain(low: Any, making: Making, closure: Closure) -> None:
    """Lower what computes the same as a unit, for the same kinds of arguments."""
    plain = _made(low, closure, making.values, Wanted(own=making.wanted.own), making)
    if plain.slots or making.slots:
        name, slot = making.closure.name, next(iter({**plain.slots, **making.slots}))
        raise low.refuse(
            f"{slot[2]!r} is assigned in a function that {name!r} repeats",
            "make it part of the state",
        )
    own = len(making.unit.body.params) - len(making.captured)
    if list(map(_without_sizes, plain.unit.kinds)) != list(map(_without_sizes, making.unit.kinds)):
        return
    order = (*range(own), *(own + making.captured.index(v) for v in plain.captured))
    making.unit.plain = plain.unit, order


def _without_sizes(kind: Kind) -> Any:
    if isinstance(kind, Array) and kind.shape is not None:
        return Array, kind.dtype, len(kind.shape)
    return kind


def _round(low: Any, making: Making, earlier: list[Any]) -> tuple[ir.Block | None, State]:
    """Lower the body once, for the templates found so far; None if it must be lowered again.

    `earlier`: what its loops carried in each round when the unit was made for this call before.
    """
    entry, marker, known = making.entry, making.marker, set(low.dynamic_sites)
    start, held = entry.copy(), dict(low.slots(entry))
    forget(start.heap)  # what is called again may find other lists
    making.params = {}
    for slot, template in making.slots.items():
        making.params[slot] = low.instantiate(template, start, marker)
        low.put(start, slot, making.params[slot])
    freeze_molded(start, *_described(making, held, making.values), marker, making.frozen)
    args = {k: low.instantiate(t, start, marker) for k, t in making.args.items()}
    making.start, making.changed, making.recursive = start, False, False
    making.own = [(t, args[k]) for k, t in making.args.items()]
    making.own += [(t, making.params[slot]) for slot, t in making.slots.items()]
    lists, outer, span = low.list_kinds(entry), low.block, low.span
    trying, low.trying = low.trying, None  # what is raised in a unit isn't caught outside of it
    low.state, low.block, low.fork_depth = start.copy(), ir.Block(), 0
    around, rounds = (low.carried, low.carried_before), len(making.inner)
    guesses: list[Any] = [*earlier[rounds : rounds + 1], *making.inner[-1:], {}]
    low.carried, low.carried_before = {}, guesses[0]
    making.inner.append(low.carried)
    try:
        try:
            result = low.run_function(making.closure, args)
        except Unreached:
            low.state.unreachable, result = True, NONE
        except Unbound as need:
            low.note_unbound(need.error)
            low.state.unreachable, result = True, NONE
        low.span = span
        end, block = low.state, low.block
        low.state = entry
        if not making.changed:
            _note_state(low, making, end, {})
        if not end.unreachable:
            making.returned = result
            _note_result(low, making, end, block)
            _note_left(low, making, end)
        making.changed |= low.list_kinds(entry) != lists
        return block, end
    except Materialize as need:
        low.state, low.block, low.span = entry, outer, span
        if not low.dynamic(need, entry, known):
            low.materialize(need)
        making.entry = low.state
        return None, entry
    except Thaw as need:
        if need.marker is marker:
            raise low.refuse(
                f"{need.message}: the recursion of {making.closure.name!r} passes on another one",
                "return the new values instead",
            ) from None
        raise
    finally:
        low.trying = trying
        low.carried, low.carried_before = around


def _described(making: Making, held: Any, values: dict[str, Value]) -> tuple[Any, Any]:
    """The templates of the outer variables and the arguments, and what these hold."""
    templates, found = dict(making.slots), dict(held)
    for name, value in values.items():
        slot = "argument", 0, name
        templates[slot], found[slot] = making.args[name], value
    return templates, found


def _note_state(low: Any, making: Making, end: State, values: dict[str, Value]) -> None:
    """Learn which outer variables the function assigns, and what may have several names when it
    calls itself with these arguments, or ends."""
    low.settling, low.peelable = making.settling, False
    making.changed |= low.widen_all(
        making.start, end, making.slots, making.params, making.marker, making.entry, False
    )
    for template in making.slots.values():
        if isinstance(template, Poison):
            raise low.refuse(f"after a call of {making.closure.name!r}, {template.message}")
    described = _described(making, low.slots(end), values)
    frozen = frozen_later(making.entry, end, *described, making.marker)
    making.changed |= not frozen.keys() <= making.frozen.keys()
    making.frozen |= frozen


def _note_result(low: Any, making: Making, end: State, block: ir.Block) -> None:
    """Learn the kind of the result."""
    start, result = making.start, making.returned
    assert start is not None
    low.settling, low.peelable = making.settling, False
    if making.resized:
        _build_lists(low, making, end)
    inner: set[Any] = {t for s in ir.walk(block) for t in ir.targets(s)}
    inner.update(parameters_of(low, making, start))
    if making.result is None:
        making.result = templated(low, making, result, end, inner)
        making.changed |= making.recursive
        return
    old = making.result
    if making.wanted.every:
        inner.update(variables_in([result], end))
    if low.same(old, result) and inner.isdisjoint(variables_in([result], end)):
        return
    try:
        new = low.widen("the result", old, result, start, end, making.marker)
    except Thaw as need:
        if need.marker is not making.marker or making.resized:
            raise
        making.resized, making.changed, making.result = True, True, None
        return
    if isinstance(new, Poison):
        raise low.refuse(f"{making.closure.name!r} returns values of different kinds")
    if not same_template(old, new):
        making.result = new
        making.changed = True


def _note_left(low: Any, making: Making, end: State) -> None:
    """Learn of which objects others may be one when the function has returned."""
    slot = "result", 0, ""
    templates, after = {**making.slots, slot: making.result}, dict(low.slots(end))
    after[slot] = making.returned
    left = frozen_later(making.entry, end, templates, after, making.marker)
    returned = stood_for(making.result, end, making.returned)
    if any(end.heap[number].frozen is not None for number in returned):
        making.returns_argument = True
        left |= making.frozen
    making.changed |= not left.keys() <= making.left.keys()
    making.left |= left


def _build_lists(low: Any, making: Making, end: State) -> None:
    """Ask that the lists that are returned exist at run time, which knows how long they are."""
    for value in (making.returned, *parts(making.returned)):
        thing = end.heap.get(value.id) if isinstance(value, Ref) else None
        made_here = thing is not None and value.id not in making.entry.heap
        if made_here and isinstance(thing, ListObject) and thing.var is None:
            raise Materialize(value, low.span)


# Calling


def _called_again(low: Any, making: Making, values: dict[str, Value]) -> tuple[Value, ir.Assign]:
    """The call of a unit inside itself."""
    making.recursive = True
    low.settling, low.peelable = making.settling, False
    for name, value in values.items():
        template = making.args[name]
        if not isinstance(template, (Widened, Mold)) and low.same(template, value):
            continue
        new = low.widen(name, template, value, making.start, low.state, making.marker)
        if isinstance(new, Poison):
            raise low.refuse(
                f"the argument {name!r} of {making.closure.name!r} changes its kind in this "
                "recursion",
                "pass it numbers and arrays of one dtype and rank in all calls",
            )
        if not same_template(template, new):
            making.args[name] = new
            making.changed = True
    if not making.changed:
        _note_state(low, making, low.state, values)
    if making.changed or making.result is None:
        raise Unreached
    return _call(low, making, values, low.state)


def _call(
    low: Any, making: Making, values: dict[str, Value], state: State
) -> tuple[Value, ir.Assign]:
    """Emit the call; the abstract value of its result, and the statement."""
    operands = tuple(operands_given(low, making, values, state))
    low.state = state
    fresh: dict[int, Size] = {}
    holder = low.state
    value: Value = instantiated(low, making, making.result, fresh)
    leaves = list(leaves_of(low, making.result, value, holder))
    known = dict(low.slots(holder))
    slots: dict[Slot, Any] = {}
    for slot, template in making.slots.items():
        slots[slot] = instantiated(low, making, template, fresh)
        leaves += leaves_of(low, template, slots[slot], holder)
    unit = making.unit
    statement = emit_call(low, unit, operands, [v for v in leaves if isinstance(v, ir.Var)])
    if unit.function is not None:  # the first call, which is made last
        statement.args += making.captured
        describe(statement)
    chosen = list(options_in(values.values()))
    if any(v.partial for v in variables_in(chosen, state)):
        for option in chosen:
            low.wants_table(low.on_heap(option))
        raise low.refuse(
            f"an argument of {making.closure.name!r}, which is compiled as a function, has values "
            "of different kinds",
            "use isinstance() before the call",
        )
    for slot, new in slots.items():
        low.put(holder, slot, new)
    described = _described(making, known, values if making.returns_argument else {})
    freeze_molded(holder, *described, making.marker, making.left)
    if making.end is not None:
        keep_frozen(holder, making.end, making.marker)
    return value, statement
