"""What units become when they are differentiated: functions again, printed beside the gradient.

A unit (`ir.Unit`) is a function that isn't inlined, because it calls itself or because it is to be
computed again rather than recorded. Differentiating a call of it asks for other functions, which
are made here from its body by the same stages as a gradient:

- reverse mode, a pair: a *forward* function, which returns the unit's results and what it recorded
  (its *residuals*), and a *backward* function, which takes those and the adjoints of the results;
- reverse mode that recomputes: a single *backward* function of the unit's arguments and the
  adjoints of the results. Nothing but numbers and arrays goes in and out, so that it can be
  differentiated again: it serves `checkpoint`, and gradients within gradients;
- forward mode: a *tangent* function, which takes and returns tangents too.

A function is filed before it is made: where the unit calls itself, its body calls that function.
"""

from __future__ import annotations

import operator

from . import ir, runtime
from .analysis.aliasing import Aliasing, shared_memory
from .copies import own_copies
from .emit.names import INSTEAD, RESERVED
from .frontend.effects import is_reentrant
from .frontend.operations import leave_unless
from .ir import reverse_sweep
from .kinds import FLOAT, RESIDUALS, Array, Kind, ListOf, TupleOf
from .optimize.accumulation import accumulate, materialize
from .optimize.cancel import cancel
from .optimize.copies import drop_overwritten
from .optimize.destinations import compute_in_place
from .optimize.faster_calls import call_faster
from .optimize.invariants import hoist
from .optimize.loop_buffers import reuse_in_loops
from .optimize.packing import pack
from .optimize.prune import prune, prune_but, prune_to
from .optimize.reads import share_reads
from .optimize.restructure import restructure
from .optimize.shifts import add_shifted
from .optimize.simplify import simplify
from .optimize.stores import add_to_items
from .results import finished, kind_of_seed, separate
from .transform.forward import Tangent
from .transform.recording import record
from .transform.repeated import run_once
from .transform.reverse import Adjoint
from .transform.saturation import changed
from .transform.splitting import close, split

Positions = tuple[int, ...]


def forward_and_backward(
    unit: ir.Unit, wrt: Positions, outputs: Positions, lent: Positions = ()
) -> tuple[ir.Unit, ir.Unit]:
    """The pair that records: `forward` returns the residuals, which `backward` takes first.

    `wrt` are the positions of the active arguments, `outputs` those of the active results. A list
    is passed by reference, and so is its shadow: `forward` takes those of the lists among its
    arguments after them, and returns those of the lists among its results after them; `backward`
    takes them all after the residuals. The lists at `lent` are changed when the call is done.
    """
    key = ("pair", wrt, outputs, lent)
    if key in unit.derived:
        pair: tuple[ir.Unit, ir.Unit] = unit.derived[key]
        return pair
    params = [unit.body.params[i].kind for i in wrt]
    taken = tuple(i for i in wrt if _is_list(unit.body.params[i].kind))
    given = tuple(i for i in outputs if _is_list(unit.kinds[i]))
    kinds = (*unit.kinds, *(unit.kinds[i] for i in given), RESIDUALS)
    forward = ir.Unit(
        f"forward_{unit.name}", unit.place, kinds, unit.context, source=("forward_", unit),
        shares=_shared_twice(unit, taken, given),
    )  # fmt: skip
    kinds = tuple(kind for kind in params if not _is_list(kind))
    deep = (((1 + k, 0), (1 + k, 1)) for k in range(len(taken) + len(given)))
    backward = ir.Unit(
        f"backward_{unit.name}", unit.place, kinds, unit.context, fresh=True,
        source=("backward_", unit), shares=frozenset(deep),
    )  # fmt: skip
    unit.derived[key] = forward, backward
    function, adjoint, seeds = _reversed(unit, wrt, outputs, False, False, lent)
    marker = adjoint.block.statements[0]
    simplified(function, marker)
    recorded(function, marker, adjoint, len(unit.kinds) + len(given) + 1, cut=True)
    shadows = list(function.params[len(unit.body.params) :])
    forward.function, backward.function = _split(
        function, marker, shadows, seeds, len(given), forward, backward
    )
    forward.finished = backward.finished = True
    return forward, backward


def _shared_twice(
    unit: ir.Unit, taken: Positions, given: Positions
) -> frozenset[tuple[tuple[int, int], ...]] | None:
    """What a function shares that takes and returns companions of some lists too.

    Companions, shadows or tangents, share what the lists do.
    """
    if unit.shares is None:
        return None
    inputs, results = len(unit.body.params), len(unit.kinds)
    twin = {i: inputs + k for k, i in enumerate(taken)}
    twin.update({-1 - i: -1 - (results + k) for k, i in enumerate(given)})
    twins = (tuple((twin[p], d) for p, d in group if p in twin) for group in unit.shares)
    return unit.shares | {group for group in twins if len(group) > 1}


def backward(unit: ir.Unit, wrt: Positions, outputs: Positions, again: bool) -> ir.Unit:
    """The function that takes the unit's arguments and the adjoints of its results.

    `again`: it will be differentiated itself.
    """
    key = ("backward", wrt, outputs, again)
    if key in unit.derived:
        known: ir.Unit = unit.derived[key]
        return known
    kinds = tuple(unit.body.params[i].kind for i in wrt)
    made = ir.Unit(
        f"backward_{unit.name}", unit.place, kinds, unit.context,
        recompute=again, fresh=True, source=("backward_", unit),
    )  # fmt: skip
    unit.derived[key] = made
    function, adjoint, seeds = _reversed(unit, wrt, outputs, True, again)
    function.params, function.seeds = (*function.params, *seeds), tuple(seeds)
    function.block.results = function.block.results[-1:]
    marker = adjoint.block.statements[0]
    if again:
        prune(function)
        record(function, function.block.statements.index(marker), adjoint)
        prune(function)
        close(function)
        separate(function, 0)
        function.block.statements.remove(marker)
    else:
        simplified(function, marker)
        recorded(function, marker, adjoint, 0)
        made.finished = True
    _unpack(function)
    distinct(function.params)
    made.function = function
    return made


def by_value(unit: ir.Unit, returned: bool = True) -> tuple[ir.Unit, Positions]:
    """A unit that writes into copies of its arguments, and returns them after its results.

    With the positions of these arguments. Nobody sees the copies where they aren't `returned`.
    """
    key = ("by value", returned)
    if key in unit.derived:
        known: tuple[ir.Unit, Positions] = unit.derived[key]
        return known
    function = ir.clone(unit.body)
    aliasing = Aliasing(function.block)
    written = tuple(
        i for i, p in enumerate(function.params)
        if isinstance(p.kind, Array) and aliasing.is_written(p)
    )  # fmt: skip
    own_copies(function, set(), lent=returned)
    copies = {
        s.args[0]: s.target for s in function.block.statements
        if isinstance(s, ir.Assign) and s.function is runtime.own_copy
    }  # fmt: skip
    function.block.statements = [
        s for s in function.block.statements
        if not (isinstance(s, ir.Assign) and s.function is runtime.check_apart)
    ]  # the caller sees to it  # fmt: skip
    kinds = unit.kinds
    if returned:
        function.block.results += tuple(copies[function.params[i]] for i in written)
        kinds = (*kinds, *(unit.body.params[i].kind for i in written))
    made = ir.Unit(
        f"{unit.name}_by_value", unit.place, kinds, unit.context, function, unit.recompute,
        unit.changes, source=("", unit), shares=shared_memory(function),
    )  # fmt: skip
    unit.derived[key] = made, written
    return made, written


def tangent(unit: ir.Unit, wrt: Positions, outputs: Positions) -> ir.Unit:
    """The function that takes the unit's arguments and the tangents of those at `wrt`.

    It returns the unit's results and the tangents of those at `outputs`.
    """
    key = ("tangent", wrt, outputs)
    if key in unit.derived:
        known: ir.Unit = unit.derived[key]
        return known
    kinds = (*unit.kinds, *(unit.kinds[i] for i in outputs))
    made = ir.Unit(
        f"tangent_{unit.name}", unit.place, kinds, unit.context,
        recompute=unit.recompute, changes=unit.changes,
        source=("tangent_", unit), shares=_shared_twice(unit, wrt, outputs),
    )  # fmt: skip
    unit.derived[key] = made
    function = ir.clone(unit.body)
    inputs = [function.params[i] for i in wrt]
    results = function.block.results
    active = [r for i in outputs if isinstance(r := results[i], ir.Var)]
    aliasing = Aliasing(function.block)
    active += [p for p in inputs if changed(p, aliasing)]
    transform = Tangent(function, inputs, active)
    transform.within_unit(unit)
    given: dict[ir.Var, ir.Operand] = {p: ir.Var(f"t_{p.name}", p.kind, True) for p in inputs}
    block = transform.transform(function.block, given, lent=True)
    transform.block, transform.span = block, None
    moved = tuple(transform.full(results[i]) for i in outputs)
    block.results = (*results, *moved)
    function.block = block
    twins = [t for t in given.values() if isinstance(t, ir.Var)]
    function.params = (*function.params, *twins)
    distinct(function.params)
    close(function)  # rules that are transposed have a reverse sweep, and this may be reversed, too
    prune_to(function, function.params)
    made.function = function
    return made


def transposed(unit: ir.Unit, rule: ir.Rule) -> ir.Unit:
    """The tangent of a unit with a rule: what is linear in the adjoints, transposed.

    It takes what the rule takes, of whose adjoints only the shapes matter, and the tangents of the
    arguments at the rule's positions; it returns those of the results at its outputs.
    """
    if rule.transpose is None:
        body = rule.function
        count = len(body.params)
        kinds = tuple(getattr(r, "kind", FLOAT) for r in body.block.results)
        linear = ir.Unit(unit.name, unit.place, kinds, unit.context, body, source=("", unit))
        wrt = tuple(range(count - len(rule.outputs), count))
        outputs = tuple(i for i, r in enumerate(body.block.results) if isinstance(r, ir.Var))
        rule.transpose = backward(linear, wrt, outputs, True)
    return rule.transpose


def _reversed(
    unit: ir.Unit,
    wrt: Positions,
    outputs: Positions,
    recompute: bool,
    again: bool,
    lent: Positions = (),
) -> tuple[ir.Function, Adjoint, list[ir.Var]]:
    """Both sweeps of a unit in one function, and its parameters for the adjoints of the results.

    It returns the unit's results, the shadows of lists among them, the arguments it writes into,
    and the adjoints of arguments. Shadows of lists are parameters too.
    """
    function = ir.clone(unit.body)
    if recompute:  # what it raises, it has raised before
        for s in ir.walk(function.block):
            if isinstance(s, ir.Assign) and s.function is not leave_unless:
                s.effect = s.effect and is_reentrant(s)
    inputs = [function.params[i] for i in wrt]
    lists = [p for p in inputs if _is_list(p.kind)]
    results = function.block.results
    active = [r for i in outputs if isinstance(r := results[i], ir.Var)]
    aliasing = Aliasing(function.block)
    active += [p for p in lists if changed(p, aliasing)]
    adjoint = Adjoint(function, list(dict.fromkeys(inputs)), list(dict.fromkeys(active)))
    adjoint.within_unit(unit)
    adjoint.again = again
    written = tuple(p for p in function.params if changed(p, adjoint.aliasing))
    function.lent = (*written, *(function.params[i] for i in lent))
    adjoint.lent = {root for p in function.lent for root in adjoint.aliasing.classes(p)}
    shadows = [ir.Var(f"d_{p.name}", p.kind, True) for p in lists]
    for p, shadow in zip(lists, shadows, strict=True):
        adjoint.adopt(p, shadow)
    function.params = (*function.params, *shadows)
    forward = adjoint.augment(function.block)
    adjoint.block = forward
    returned = tuple(adjoint.list_shadow(results[i]) for i in outputs if _is_list(unit.kinds[i]))
    adjoint.block = ir.Block()
    adjoint.act(reverse_sweep)
    seeds: list[ir.Var] = []
    for i in outputs:
        if _is_list(unit.kinds[i]):
            continue
        result = results[i]
        seed = ir.Var("d_out" if len(outputs) == 1 else f"d_out_{i}", unit.kinds[i], True)
        seeds.append(seed)
        if isinstance(result, ir.Var):
            seed.kind = kind_of_seed(result, function)
            adjoint.add(result, seed)
    adjoint.reverse(forward)
    adjoint.span = None
    wanted = (p for p in inputs if not _is_list(p.kind))
    gradients = tuple(finished(adjoint, unit.context, p) for p in wanted)
    statements = forward.statements + adjoint.block.statements
    answer = ir.Pack(tuple, gradients)
    seen = ir.Pack(tuple, (*written, *shadows))  # by the caller
    function.block = ir.Block(statements, (*results, *returned, seen, answer))
    return function, adjoint, seeds


def _is_list(kind: Kind) -> bool:
    return isinstance(kind, ListOf)


def simplified(function: ir.Function, marker: ir.Statement) -> None:
    """Simplify both sweeps of a function, in place."""
    prune(function)
    ir.passed("pruned", function)
    simplify(function)
    if cancel(function):
        simplify(function)
    prune(function)
    if restructure(function):
        prune(function)
    position = function.block.statements.index(marker)
    hoist(function, position, views=False)
    share_reads(function, function.block.statements.index(marker))
    ir.passed("simplified", function)


def recorded(
    function: ir.Function, marker: ir.Statement, adjoint: Adjoint, gradients: int, cut: bool = False
) -> None:
    """Make both sweeps of a function what is printed: recorded, with buffers reused.

    `gradients` is the position of the gradients among the results. `cut`: the sweeps become two
    functions.
    """
    record(function, function.block.statements.index(marker), adjoint)
    prune(function)
    run_once(function.block)
    simplify(function)
    hoist(function, views=False)
    prune(function)
    materialize(function)
    separate(function, gradients)
    accumulate(function, cut, adjoint)
    share_reads(function)
    drop_overwritten(function)
    pack(function)
    if add_shifted(function):
        compute_in_place(function)
    hoist(function)
    prune(function)
    reuse_in_loops(function)
    add_to_items(function)
    call_faster(function)


def _split(
    function: ir.Function,
    marker: ir.Statement,
    shadows: list[ir.Var],
    seeds: list[ir.Var],
    returned: int,
    forward: ir.Unit,
    backward: ir.Unit,
) -> tuple[ir.Function, ir.Function]:
    """Cut a function at the marker: what the second half needs of the first are the residuals.

    The second half takes the shadows of lists, which the first one takes or returns, apart.
    """
    *results, _, answer = function.block.results
    last = results[len(results) - returned :]
    shadows = [*shadows, *(r for r in last if isinstance(r, ir.Var))]  # as they're called by now
    own: dict[ir.Var, ir.Operand] = {}
    params = [ir.Var(v.name, v.kind, True) for v in shadows]
    for v, param in zip(shadows, params, strict=True):
        own.setdefault(v, param)
    before, residuals, after = split(function, marker, [*shadows, *seeds])
    kept = ir.Pack(tuple, residuals)
    first = ir.Function(forward.name, function.params, ir.Block(before, (*results, kept)))
    reverse = ir.Block(after, (answer,))
    saved = ir.Var("saved", TupleOf(tuple(v.kind for v in residuals)), True)
    twins = {v: v.anew() for v in residuals}
    taken: list[ir.Statement] = [
        ir.Assign(
            twin, operator.getitem, (saved, ir.Const(i)),
            views=(saved, *params) if isinstance(twin.kind, (Array, ListOf)) else (),
        )
        for i, twin in enumerate(twins.values())
    ]  # fmt: skip
    ir.rename(reverse, {**own, **twins})
    reverse.statements[:0] = taken
    second = ir.Function(backward.name, (saved, *params, *seeds), reverse)
    _unpack(second)
    distinct(second.params)
    return first, second


def _unpack(function: ir.Function) -> None:
    """Return the items of a tuple one by one."""
    (answer,) = function.block.results
    assert isinstance(answer, ir.Pack)
    function.block.results = answer.items


def distinct(params: tuple[ir.Var, ...]) -> None:
    """Give the parameters of a function names of their own."""
    taken: set[str] = set(RESERVED)
    for v in params:
        base = INSTEAD.get(v.name, v.name)
        v.name = base = base if base.isidentifier() else "value"  # an attribute's name is any text
        number = 1
        while v.name in taken:
            v.name, number = f"{base}_{number}", number + 1
        taken.add(v.name)


def call_plain(functions: list[ir.Function]) -> None:
    """Let functions call what computes the same as a unit, where there is such a thing."""
    for function in (*functions, *(unit.body for unit in ir.units(functions))):
        for s in ir.walk(function.block):
            if isinstance(s, ir.Assign) and isinstance(s.function, ir.Unit):
                if s.function.plain is not None:
                    s.function, order = s.function.plain
                    s.args = tuple(s.args[i] for i in order)


def finish(units: list[ir.Unit], taken: set[str]) -> None:
    """Simplify what isn't yet, and give the units names of their own."""
    roots = dict.fromkeys(map(_root, units))
    for root in roots:
        prefixes = ("", "forward_", "backward_", "tangent_")
        root.name = _unused(root.name, taken, prefixes)
        taken.update(prefix + root.name for prefix in prefixes)
    named: set[str] = set()
    for unit in units:
        name = _name(unit)
        unit.name = _unused(name, named, ("",))
        named.add(unit.name)
        unit.body.name = unit.name
        unit.docstring = _docstring(unit)
        distinct(unit.body.params)
        if unit.finished:
            continue
        unit.finished = True
        prune_but(unit.body, unit.body.params)
        if unit.source is not None:
            simplify(unit.body)
            prune_but(unit.body, unit.body.params)


DOCSTRINGS = {
    "": "{}.",
    "forward_": "The results of {}, and what its backward function needs.",
    "backward_": "The derivatives of {} by its arguments, from those of its results.",
    "tangent_": "The results of {}, and their tangents.",
}


def _docstring(unit: ir.Unit) -> str:
    prefix, source = ("", unit) if unit.source is None else unit.source
    return DOCSTRINGS[prefix].format(f"{_name(source)} ({unit.place})")


def _root(unit: ir.Unit) -> ir.Unit:
    return unit if unit.source is None else _root(unit.source[1])


def _name(unit: ir.Unit) -> str:
    """The name of a unit, made from that of the one it is made from."""
    return unit.name if unit.source is None else unit.source[0] + _name(unit.source[1])


def _unused(name: str, taken: set[str], prefixes: tuple[str, ...]) -> str:
    """A name that with none of the prefixes is taken."""
    base, number = name, 1
    while any(prefix + name in taken for prefix in prefixes):
        name, number = f"{base}_{number}", number + 1
    return name
