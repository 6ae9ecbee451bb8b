"""The function to be differentiated, lowered: arguments, outer values and results."""

from __future__ import annotations

import functools
import keyword
import re
import types
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import ir, rules
from ..analysis.fields import check_fields
from ..analysis.lengths import settle_lengths
from ..analysis.ownership import settle_augmented
from ..analysis.permissions import settle_permissions
from ..analysis.recalled import check_recalled
from ..copies import check_copied_once, in_copies, own_copies
from ..errors import InternalError, UnsupportedError, user_error
from ..frontend.calls import is_written_method
from ..frontend.columns import Columns
from ..frontend.journals import check_journals
from ..frontend.kept_results import check_kept
from ..frontend.lower import Lowerer
from ..frontend.machine import Frame
from ..frontend.names import Namespace, Scope
from ..frontend.overlaps import settle_overlaps
from ..frontend.predicates import NONE
from ..frontend.restarts import WHOLE, Materialize, NeedStatic, Unkeepable, Unreached
from ..frontend.sharing import check_shared
from ..frontend.source import get_source
from ..frontend.structure import is_records, leaves
from ..frontend.units import NeedUnit
from ..frontend.values import OWN, Partial, Path, Place, Ref, Tuple, Value
from ..inner.lowerings import LOWERINGS
from ..inputs import Inputs, check_input, chosen
from ..kinds import Kind, ListOf, Opaque, is_float, kind_of
from ..optimize.flags import drop_conversions
from ..optimize.made_once import make_once
from ..optimize.rows import drop_rows
from ..optimize.sublists import go_through
from ..optimize.vectorizing import vectorize
from ..packages import told
from ..results import check_output, check_returned
from ..signature import RELATED, has_related, is_gradient, nearby, signature_of
from ..transform.conformity import demanding
from .task import Task


@dataclass(eq=False)
class Primal:
    """The function as IR, with what is known of its parameters and results."""

    low: Lowerer
    function: ir.Function
    free: Free
    inputs: Inputs
    values: dict[str, Value]
    targets: list[tuple[str, Any, Value]]  # label, value and abstract value of each input
    tangents: list[Value]  # of a tangent: the abstract value of each input's tangent
    result: Value
    aux: Value

    @property
    def wrt(self) -> list[ir.Var]:
        return [v for _, _, t in self.targets for v in floats(self.low, t)]

    @property
    def outputs(self) -> list[ir.Var]:
        found = [v for v in leaves(self.low, self.result) if isinstance(v, ir.Var)]
        return [v for v in found if v.kind != Opaque(str)]  # a text has no adjoint

    @property
    def needed(self) -> list[ir.Operand]:
        """The results, what is differentiated, and given tangents."""
        targets = (target for *_, target in self.targets)
        values = (self.result, self.aux, *targets, *self.tangents)
        return [v for value in values for v in leaves(self.low, value)]

    def pruned(self) -> None:
        """Leave out what nothing needs, and the objects in tables that nobody keeps."""
        noted = [read.var for read in self.low.unsure]
        drop_rows(self.function, self.low.tables_made(), self.needed, noted)


MOST_LESSONS = 40  # how often a program is lowered to learn what its objects are like


def lower_primal(task: Task) -> Primal:
    """Lower the function, as often as there is more to learn of its objects."""
    for _ in range(MOST_LESSONS):
        try:
            return _lowered(task)
        except Columns:
            continue
    raise UnsupportedError("the kinds of the attributes of objects don't settle", None)


def _lowered(task: Task) -> Primal:
    request, arguments = task.request, task.arguments
    assert LOWERINGS  # the functions that the frontend lowers by itself are known
    low = Lowerer()
    low.objects, low.longest, low.compact = task.objects, task.longest, task.compact
    low.refusing = task.refusing
    low.asks, low.asked, low.longest_asked = task.asks, task.asked, task.longest_asked
    related = RELATED in task.static
    inputs = Inputs(low, task.static, task.lists, nearby(arguments.values()) if related else {})
    free = Free(inputs, arguments)
    low.known_sites, low.kept, low.shared = task.static, task.kept, task.shared
    low.calls = task.calls
    low.static_paths = {p: None for p in task.static if isinstance(p, Path)}
    low.on_free, low.on_list, low.on_dict = free, free.whole_list, free.whole_dict
    nothing: frozenset[str] = frozenset()
    low.frames[0] = Frame(Scope(nothing, nothing, nothing), None, Namespace({}))
    low.state.frames[0] = {}
    params: list[ir.Var] = []
    values: dict[str, Value] = {}
    for name, value in arguments.items():
        var = ir.Var(name, Opaque(type(value)), True)
        params.append(var)
        values[name] = inputs.value(value, var, ("argument", name))
    targets = [chosen(low, request.name, arguments, values, which) for which in request.inputs]
    tangents: list[Value] = []
    if request.tangent and not request.unit:
        for (label, value, _), (name, part) in zip(targets, request.inputs, strict=True):
            var = ir.Var(free.unused(f"t_{label}"), Opaque(None), True)
            params.append(var)
            place = ("tangent", name) if part is None else ("tangent", name, part)
            tangents.append(inputs.value(value, var, place))
    if not request.pullback and not request.tangent:
        for label, value, _ in targets:
            check_input(label, value)
    inputs.parts = len(low.block.statements)
    result = _lowered_in_tables(low, task, inputs, values)
    inputs.check_owned(values, params, list(free.found.values()))
    if low.state.unreachable:  # the generated function raises what the function raises
        result = ir.Const(0.0)
        if request.has_aux:
            result = Tuple((result, NONE))
    check_returned(low, result)
    aux: Value = NONE
    if request.has_aux:
        if not isinstance(result, Tuple) or len(result.items) != 2:
            raise user_error(
                TypeError, f"with has_aux=True {request.name} must return a pair (value, aux)"
            )
        result, aux = result.items
    if not request.pullback and not request.tangent:
        check_output(low, request.name, result)
    function = ir.Function(f"d_{request.name}", tuple(params), low.block)
    whole = {low.block, *(inner for s in ir.walk(low.block) for inner in ir.blocks(s))}
    if any(split.parent in whole for split in low.splits.values()):
        raise InternalError("a block that an exception may leave isn't joined")
    lowered = Primal(low, function, free, inputs, values, targets, tangents, result, aux)
    inputs.want_own(function)
    copies = own_copies(function, set(free.found.values()))
    owned = {name for name in values if (OWN, name) in low.known_sites}
    _check_defaults(task, {*owned, *(v.name for v in copies)})
    lowered.result, lowered.aux = (in_copies(low, v, copies) for v in (result, aux))
    check_copied_once(low, function)
    read = [v for value in (lowered.result, lowered.aux) for v in leaves(low, value)]
    settle_overlaps(function.block, low.stores_seen, read)
    settle_permissions(function)
    check_fields(function.block, low.record_fields)
    kept = inputs.overwritten() | low.was_outside
    check_recalled(function, lowered.wrt, lowered.outputs, kept)
    check_journals(low, function, [v for v in leaves(low, result) if isinstance(v, ir.Var)])
    check_shared(low, function)
    check_kept(low, function)
    shown = [v for value in (result, aux) for v in leaves(low, value)]
    settle_augmented(function.block, shown)
    drop_conversions(function, shown)
    ir.passed("lowered", function)
    settle_lengths(function)
    if not related and has_related(arguments.values()) and (unsure := demanding(function)):
        raise NeedStatic(frozenset([RELATED]), "the shapes aren't known", unsure.span)
    if not request.traced:
        seen = [*shown, *(read.var for read in low.unsure)]
        make_once(function, seen)
        go_through(function, seen)
        vectorize(function, low, shown)
    return lowered


def _check_defaults(task: Task, written: set[str]) -> None:
    """Refuse to write a default: the next call would find in it what this one wrote."""
    defaults = [*(told(task.primal, "__defaults__") or ())]
    defaults += (told(task.primal, "__kwdefaults__") or {}).values()
    kept = {id(default) for default in defaults}
    for name, value in task.arguments.items():
        if name in written and id(value) in kept:
            raise UnsupportedError(
                f"{task.request.name} writes the default of {name!r}, which keeps it from call to "
                "call",
                None,
                f"pass {name!r} when calling, or make it in the function",
            )


def _lowered_in_tables(low: Lowerer, task: Task, inputs: Inputs, values: dict[str, Value]) -> Value:
    """Lower the call of the primal function, what there is of tables being made before it.

    Raises:
        Columns: more is known of the objects in them than before.
    """
    low.open_tables()
    try:
        low.take_in()
        try:
            result = _lowered_call(low, task, inputs.own(values))
        except Unreached:
            if not low.state.unreachable:
                raise
            result = NONE
        low.write_back()
        low.close_tables()
        return result
    except (NeedStatic, UnsupportedError, NeedUnit, Unreached, Materialize) as need:
        if low.learned():
            raise Columns from None
        match need:
            case NeedStatic() | Unkeepable():
                need.records |= {("%records", site) for site in low.records}
            case Unreached():
                low.close_tables()
                raise low.refuse("an attribute is read here that no object has") from None
            case Materialize():
                message = "how this list changes can't be followed here"
                raise UnsupportedError(message, need.span, "make a new list: list(...)") from None
        raise


class Free:
    """The outer values that the function reads, each a parameter of the generated function."""

    def __init__(self, inputs: Inputs, taken: Iterable[str]) -> None:
        self.inputs = inputs
        self.found: dict[Path, ir.Var] = {}
        self.taken = set(taken)

    def name(self, path: Path) -> str:
        """A name for a parameter: `table["b"]` is `table_b`."""
        text = str(path.name).strip("_") or str(path.name)
        return self.unused(text if text.isidentifier() else str(path))

    def unused(self, text: str) -> str:
        """A name for a parameter that no other one has."""
        if not text.isidentifier():
            text = re.sub(r"\W+", "_", text).strip("_")
        text = text if text.isidentifier() else "outer"
        base = text = f"{text}_" if keyword.iskeyword(text) else text
        number = 1
        while text in self.taken:
            text, number = f"{base}_{number}", number + 1
        self.taken.add(text)
        return text

    def variable(self, path: Path, kind: Kind) -> ir.Var:
        """The parameter for an outer value."""
        if path not in self.found:
            self.found[path] = ir.Var(self.name(path), kind, True)
        return self.found[path]

    def whole_list(self, path: Path, value: list[Any] | tuple[Any, ...]) -> Ref | None:
        """A list or tuple that is one value; None if each of its items is."""
        spread, short = Path("structure", path, ""), (WHOLE, path) in self.inputs.static
        kind = None if spread in self.inputs.static else self.inputs.list_kind(value, (), short)
        if kind is None:
            return None
        held = self.variable(path, kind)
        if is_records(kind):
            held.kind = Opaque(type(value))
            held = self.inputs.records(held, kind)
        return self.inputs.whole_list(value, held, spread)

    def whole_dict(self, path: Path, value: dict[Any, Any]) -> Ref | None:
        """The lookup of a dict that is one value; None if each of its values is."""
        kind = self.inputs.dict_kind(value)
        return None if kind is None else self.inputs.whole_dict(self.variable(path, kind))

    def __call__(self, path: Path, value: Any) -> Value:
        if path not in self.found:
            if isinstance(value, np.ndarray):
                self.inputs.check_array(value, str(path))
            text = self.name(path)
            if isinstance(value, np.ndarray):
                shape = Path("attribute", path, "shape")
                var = ir.Var(text, self.inputs.array_kind(value, [shape] * value.ndim), True)
                if shape in self.inputs.static:
                    self.inputs.lowerer.guards[shape] = value.shape
            else:
                var = ir.Var(text, kind_of(value, self.inputs.sizes), True)
            if isinstance(value, (int, np.integer)):
                var.origins = frozenset([path])
            self.found[path] = var
        return self.found[path]


def floats(low: Lowerer, value: Value) -> list[ir.Var]:
    return [v for v in leaves(low, value) if is_float(v.kind) or isinstance(v.kind, ListOf)]


def dependences(
    task: Task, lowered: Primal, kept: list[tuple[Path, ir.Var]], used: Iterable[ir.Var]
) -> dict[str, Any]:
    """What a compiled function depends on outside its arguments."""
    found, snapshots = lowered.free.found, lowered.inputs.snapshots
    kinds = {v: snapshots[v].target.kind if v in snapshots else v.kind for _, v in kept}
    return {
        "free": tuple((path, kinds[var]) for path, var in kept),
        "unused": tuple(p for p, v in found.items() if v not in used),
        "guards": tuple(lowered.low.guards.items()),
        "codes": tuple(lowered.low.inlined.items()),
        "static": task.static,
        "rules": rules.registry.version,
        "params": (*task.arguments, *(str(p) for p, _ in kept)),
    }


def _lowered_call(low: Lowerer, task: Task, values: dict[str, Value]) -> Value:
    """Lower the call of the primal function with its parameters bound by name."""
    low.depth = 0
    function: Any = task.primal
    before: list[Value] = []
    while True:
        # what stands before the arguments is read at call time, like any outer value
        if isinstance(function, types.MethodType):
            before.insert(0, low.lift(function.__self__, Path("attribute", function, "__self__")))
            function = function.__func__
        elif isinstance(function, functools.partial):
            return low.call(_partial(low, function), *_arguments(low, task, values))
        elif _is_callable_object(function):
            before.insert(0, low.lift(function, Path("object", function, "self")))
            function = type(function).__call__
        else:
            break
    if isinstance(function, types.FunctionType) and task.source is not None:
        get_source(function, task.source)
        low.given_sources[function.__code__] = task.source
    args, kwargs = _arguments(low, task, values)
    return low.call(Place(function), [*before, *args], kwargs)


def _is_callable_object(thing: Any) -> bool:
    call = told(type(thing), "__call__")
    return is_written_method(call) and not is_gradient(thing)


def _partial(low: Lowerer, function: functools.partial[Any]) -> Value:
    place = Path("attribute", function, "args")
    args = tuple(low.lift(a, Path("item", place, i)) for i, a in enumerate(function.args))
    words = Path("attribute", function, "keywords")
    kwargs = {k: low.lift(v, Path("item", words, k)) for k, v in function.keywords.items()}
    inner = Path("object", function.func, "func")
    callee: Value = low.lift(function.func, inner)
    if isinstance(function.func, functools.partial):
        callee = _partial(low, function.func)
    return Partial(callee, args, kwargs)


def _arguments(
    low: Lowerer, task: Task, values: dict[str, Value]
) -> tuple[list[Value], dict[str, Value]]:
    """The arguments of the call of the primal, as its signature takes them.

    A NumPy function isn't passed its defaults, some of which only say that nothing was passed.
    """
    primal, arguments = task.primal, task.arguments
    args: list[Value] = []
    kwargs: dict[str, Value] = {}
    skipped = False
    for parameter in signature_of(primal).parameters.values():
        value, given = values[parameter.name], arguments[parameter.name]
        if given is parameter.default and not isinstance(primal, types.FunctionType):
            # numbers are passed: what is generated must hold for others too
            if not isinstance(given, (int, float, complex)) or isinstance(given, bool):
                skipped = True
                continue
        match parameter.kind:
            case parameter.VAR_POSITIONAL:
                args += low.unpacked(value)
            case parameter.VAR_KEYWORD:
                kwargs.update(low.dictionary(value).items)
            case parameter.KEYWORD_ONLY:
                kwargs[parameter.name] = value
            case _ if skipped:
                kwargs[parameter.name] = value
            case _:
                args.append(value)
    return args, kwargs
