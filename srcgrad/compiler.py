"""The pipeline: from a function and example arguments to a compiled gradient.

    lower (frontend) -> reverse -> simplify, prune -> record -> emit -> compile

The result holds for one *signature*: the nesting and kinds of the arguments, the equalities among
their dimensions, and the values of what steers the computation (flags, strings, functions).
"""

from __future__ import annotations

import functools
import importlib
import itertools
import linecache
import re
import sys
import types
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import gast
import numpy as np

from . import ir, rules
from .analysis.aliasing import Aliasing
from .analysis.inference import Inferred
from .emit.python import Emitted, emit_function, reverse_sweep
from .emit.verification import checked_source
from .errors import InternalError, SrcgradError, Unbatchable, UnsupportedError
from .frontend.calls import is_written_method
from .frontend.lower import Lowerer
from .frontend.machine import Frame
from .frontend.names import Namespace, Scope
from .frontend.source import get_source
from .frontend.units import NeedUnit
from .frontend.values import (
    Junction,
    NeedStatic,
    Partial,
    Path,
    Place,
    Raised,
    Thaw,
    Tuple,
    Unkeepable,
    Value,
)
from .inner.lowerings import LOWERINGS
from .inputs import Inputs, check_input, chosen, in_copies, leaves, own_copies, user_error
from .kinds import (
    INT,
    RESIDUALS,
    Array,
    ListOf,
    Opaque,
    Scalar,
    TupleOf,
    fresh_size,
    is_float,
    kind_of,
)
from .results import (
    built,
    check_output,
    check_returned,
    finished,
    nesting,
    rebuilt,
    seed_gradient,
    seed_pullback,
    separate,
    tangent_of_list,
)
from .signature import signature_of
from .transform.accumulation import accumulate, materialize
from .transform.batching import batch
from .transform.checking import Checking
from .transform.forward import Tangent
from .transform.invariants import hoist
from .transform.prune import prune, prune_to
from .transform.reads import share_reads
from .transform.reverse import Adjoint
from .transform.simplify import simplify
from .transform.splitting import split
from .transform.tangent_buffers import reuse_tangents
from .transform.tracing import Observing, instrument
from .units import call_plain, distinct, finish, recorded, simplified

NONE = ir.Const(None)
_numbers = itertools.count(1)


@dataclass(frozen=True)
class Request:
    """What to generate: a gradient, with or without the value, or a forward sweep and pullback.

    `inputs` are the parameters to differentiate: the name of each, and of `*args` and `**kwargs`
    which item.
    """

    name: str
    inputs: tuple[tuple[str, int | str | None], ...]
    value: bool = False
    has_aux: bool = False
    pullback: bool = False
    single: bool = True  # one gradient, not in a tuple
    tangent: bool = False  # carry tangents of the inputs along
    unit: bool = False  # the tangent of the only input is 1
    traced: str = ""  # show the "named" variables, or "all", and their adjoints
    batch: bool = False  # of tangents, or of adjoints of the result: one more axis in front
    nan_check: bool = False  # check that adjoints are finite


@dataclass(eq=False)
class Compiled:
    """A generated function, its source, and what must still hold for it to be used.

    Of a pullback, `function` is the forward sweep: it returns the result and the residuals, which
    `pullback` takes, with the adjoints of the leaves of the result.
    """

    function: Callable[..., Any]
    source: str
    filename: str
    emitted: tuple[Emitted, ...]
    free: tuple[tuple[Path, Any], ...]  # where values from outside are read, and their kinds
    unused: tuple[Path, ...]  # outer values whose kinds matter, but which aren't passed
    guards: tuple[tuple[Path, Any], ...]  # objects that must still be the same
    codes: tuple[tuple[Any, Any], ...]  # inlined functions, and their code
    static: frozenset[Any]
    rules: int  # the version of the rules
    params: tuple[str, ...] = ()
    pullback: Callable[..., Any] | None = None
    nesting: Any = None  # of the result, with the number of each leaf
    written: tuple[int, ...] = ()  # the residuals that the pullback writes into
    example: dict[str, Any] | None = None  # arguments like those it was compiled for, if kept


def compile_gradient(
    primal: Any,
    request: Request,
    arguments: dict[str, Any],
    static: frozenset[Any],
    source: str | None = None,
) -> Compiled:
    """Generate and compile the gradient of `primal` for arguments like these.

    A recursion is inlined where what steers it can be known. If that fails, it is a unit.
    """
    deep: set[Any] = set()
    try:
        return _compile_with(primal, request, arguments, static, source, frozenset(), deep)
    except UnsupportedError:
        if not deep:
            raise
    return _compile_with(primal, request, arguments, static, source, frozenset(deep), set())


def _compile_with(
    primal: Any,
    request: Request,
    arguments: dict[str, Any],
    static: frozenset[Any],
    source: str | None,
    kept: frozenset[Any],
    deep: set[Any],
) -> Compiled:
    """The gradient, where the functions `kept` are units.

    `deep`: to these are added of which ints are made static to inline them.
    """
    before = static
    for attempt in range(50):
        try:
            return _compile(primal, request, arguments, static, source, kept)
        except NeedUnit as need:
            # what had to be known to inline the recursion needn't be known any more
            kept, static = kept | {need.function}, before
        except NeedStatic as need:
            more = frozenset(o for o in need.origins if isinstance(o, (tuple, Path)))
            more = more - static or need.records - static
            if need.unit is not None:
                deep.add(need.unit)
            if not more or attempt == 49:
                raise UnsupportedError(need.message, need.span) from None
            static |= more
        except Unkeepable as error:
            if not error.records - static or attempt == 49:
                raise UnsupportedError(error.message, error.span, error.advice) from None
            static |= error.records
        except (Raised, Thaw) as error:
            # an object that a branch chose is changed later: choose it again, unfrozen
            marker = getattr(error, "marker", None)
            site = {marker.site} if isinstance(marker, Junction) else set()
            if not site - static or attempt == 49:
                raise UnsupportedError(error.message, error.span, error.advice) from None
            static |= site
        except SrcgradError:
            raise
        except RecursionError as error:
            raise UnsupportedError(
                f"{request.name} is too deeply nested to be compiled", None
            ) from error
        except Exception as error:
            if getattr(error, "__srcgrad__", False):
                raise
            raise InternalError(f"compiling {request.name} failed: {error!r}") from error
    raise AssertionError


class _Free:
    """The outer values that the function reads, each a parameter of the generated function."""

    def __init__(self, inputs: Inputs, taken: Iterable[str]) -> None:
        self.inputs = inputs
        self.found: dict[Path, ir.Var] = {}
        self.taken = set(taken)

    def name(self, path: Path) -> str:
        """A name for a parameter: `table["b"]` is `table_b`."""
        text = str(path.name)
        return self.unused(text if text.isidentifier() else str(path))

    def unused(self, text: str) -> str:
        """A name for a parameter that no other one has."""
        if not text.isidentifier():
            text = re.sub(r"\W+", "_", text).strip("_")
        base = text = text if text.isidentifier() else "outer"
        number = 1
        while text in self.taken:
            text, number = f"{base}_{number}", number + 1
        self.taken.add(text)
        return text

    def __call__(self, path: Path, value: Any) -> Value:
        if path not in self.found:
            if isinstance(value, np.ndarray):
                self.inputs.check_array(value, str(path))
            text = self.name(path)
            if isinstance(value, np.ndarray):
                shape = Path("attribute", path, "shape")
                var = ir.Var(text, self.inputs.array_kind(value, shape), True)
                if shape in self.inputs.static:
                    self.inputs.lowerer.guards[shape] = value.shape
            else:
                var = ir.Var(text, kind_of(value, self.inputs.sizes), True)
            if isinstance(value, int):
                var.origins = frozenset([path])
            self.found[path] = var
        return self.found[path]


@dataclass(eq=False)
class Primal:
    """The function as IR, with what is known of its parameters and results."""

    low: Lowerer
    function: ir.Function
    free: _Free
    inputs: Inputs
    values: dict[str, Value]
    targets: list[tuple[str, Any, Value]]  # label, value and abstract value of each input
    tangents: list[Value]  # of a tangent: the abstract value of each input's tangent
    result: Value
    aux: Value

    @property
    def wrt(self) -> list[ir.Var]:
        return [v for _, _, t in self.targets for v in _floats(self.low, t)]

    @property
    def outputs(self) -> list[ir.Var]:
        return [v for v in leaves(self.low, self.result) if isinstance(v, ir.Var)]


def _primal(
    primal: Any,
    request: Request,
    arguments: dict[str, Any],
    static: frozenset[Any],
    source: str | None,
    kept: frozenset[Any],
) -> Primal:
    """Lower the function."""
    assert rules.lookup is not None and LOWERINGS
    low = Lowerer()
    inputs = Inputs(low, static)
    free = _Free(inputs, arguments)
    low.known_sites, low.kept = static, kept
    low.static_paths = {p: None for p in static if isinstance(p, Path)}
    low.on_free = free
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
        for label, value, _ in targets:
            var = ir.Var(free.unused(f"t_{label}"), Opaque(None), True)
            params.append(var)
            tangents.append(inputs.value(value, var, ("tangent", label)))
    if not request.pullback and not request.tangent:
        for label, value, _ in targets:
            check_input(label, value)
    try:
        result = _lowered_call(low, primal, arguments, values, source)
    except (NeedStatic, Unkeepable) as need:
        need.records = frozenset(("%records", site) for site in low.records)
        raise
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
        check_output(request.name, result)
    function = ir.Function(f"d_{request.name}", tuple(params), low.block)
    lowered = Primal(low, function, free, inputs, values, targets, tangents, result, aux)
    copies = own_copies(function, set(free.found.values()), lowered.wrt)
    lowered.result, lowered.aux = (in_copies(low, v, copies) for v in (result, aux))
    ir.passed("lowered", function)
    return lowered


def _compile(
    primal: Any,
    request: Request,
    arguments: dict[str, Any],
    static: frozenset[Any],
    source: str | None,
    kept: frozenset[Any],
) -> Compiled:
    lowered = _primal(primal, request, arguments, static, source, kept)
    if request.tangent:
        return _compile_tangent(primal, request, arguments, static, lowered)
    return _compile_reverse(primal, request, arguments, static, lowered)


def _compile_tangent(
    primal: Any,
    request: Request,
    arguments: dict[str, Any],
    static: frozenset[Any],
    lowered: Primal,
) -> Compiled:
    """The function that returns the result and its tangent."""
    low, function = lowered.low, lowered.function
    params = function.params
    tangent = Tangent(function, list(dict.fromkeys(lowered.wrt)), lowered.outputs)
    tangent.within(low)
    given: dict[ir.Var, ir.Operand] = {}
    if request.unit:
        given = _unit_tangents(tangent, lowered.wrt, function.block)
    for (_, _, value), twin in zip(lowered.targets, lowered.tangents, strict=not request.unit):
        given.update(zip(_floats(low, value), _floats(low, twin), strict=True))
    block = tangent.transform(function.block, given)
    tangent.block, tangent.span = block, None

    def leaf(v: ir.Var) -> ir.Operand:
        if isinstance(v.kind, ListOf) and v.kind.item is not None:
            return tangent_of_list(tangent, v)
        return tangent.full(v) if is_float(v.kind) else NONE

    moved = rebuilt(tangent, low, lowered.result, leaf, _still)
    shown = [built(tangent, low, lowered.result)] if request.value else []
    aux = [built(tangent, low, lowered.aux)] if request.has_aux else []
    block.results = (*shown, moved, *aux)
    function.block = block
    function.params = (*params, *lowered.free.found.values())
    ir.passed("tangents", function)
    prune(function)
    simplify(function)
    prune(function)
    if request.batch:
        tangents = [t for t in given.values() if isinstance(t, ir.Var)]
        params = (*params, _batched(function, tangent, tangents, lowered.free, [len(shown)]))
        prune(function)
        simplify(function)
        prune(function)
    materialize(function)
    separate(function, len(shown))
    accumulate(function)
    reuse_tangents(function, [t for t in given.values() if isinstance(t, ir.Var)])
    share_reads(function)
    hoist(function)
    prune(function)
    used = ir.free_variables(function.block)
    kept = [(p, v) for p, v in lowered.free.found.items() if v in used]
    function.params = (*params, *(v for _, v in kept))
    function.name = f"jvp_{_base(request)}"
    names = ", ".join(label for label, _, _ in lowered.targets)
    what = "Value and tangent" if request.value else "Tangent"
    docstring = f"{what} of {request.name}{_where(primal)} along {names}."
    if request.unit:
        docstring = f"Derivative of {request.name}{_where(primal)} by {names}."
        function.name = f"d_{_base(request)}"
    if request.batch:
        docstring = f"Tangents of {request.name}{_where(primal)} along rows of {names}."
        function.name = f"jvps_{_base(request)}"
    generated, text, filename, emitted = _emitted(request, [function], [docstring])
    common = _common(lowered, tangent, kept, used, arguments, static)
    return Compiled(
        generated[0], text, filename, emitted, **common, nesting=nesting(low, lowered.result)
    )


def _still(constant: ir.Const) -> ir.Const:
    """The tangent of a constant; None, as for all else, if it is no float."""
    value = constant.value
    if isinstance(value, np.ndarray) and value.dtype.kind in "fc":
        return ir.Const(np.zeros_like(value))
    number = isinstance(value, (float, complex, np.inexact))
    return ir.Const(type(value)(0) if number else None)


def _unit_tangents(
    tangent: Tangent, wrt: list[ir.Var], block: ir.Block
) -> dict[ir.Var, ir.Operand]:
    """Tangents of ones, made where the variables are."""
    given: dict[ir.Var, ir.Operand] = {v: ir.Const(1.0) for v in wrt}
    made = [i for i, s in enumerate(block.statements) if given.keys() & set(ir.targets(s))]
    tangent.block = ones = ir.Block()
    for v in wrt:
        if isinstance(v.kind, Array):
            given[v] = tangent.emit(
                np.ones_like, (v,), inferred=Inferred(v.kind), name=f"t_{v.name}"
            )
    at = max(made, default=-1) + 1
    block.statements[at:at] = ones.statements
    return given


def _batched(
    function: ir.Function, low: Lowerer, inputs: list[ir.Var], free: _Free, results: list[int]
) -> ir.Var:
    """Make the function one of batches of the inputs; return the parameter that is their length."""
    count = ir.Var(free.unused("count"), Scalar(INT.dtype, True, fresh_size(True)), True)
    try:
        batch(function, low, inputs, count, results)
    except UnsupportedError as error:
        raise Unbatchable(str(error)) from error
    ir.passed("batched", function)
    return count


def _floats(low: Lowerer, value: Value) -> list[ir.Var]:
    return [v for v in leaves(low, value) if is_float(v.kind)]


def _common(
    lowered: Primal,
    transformed: Lowerer,
    kept: list[tuple[Path, ir.Var]],
    used: Iterable[ir.Var],
    arguments: dict[str, Any],
    static: frozenset[Any],
) -> dict[str, Any]:
    """What a compiled function depends on outside its arguments."""
    found = lowered.free.found
    return {
        "free": tuple((path, var.kind) for path, var in kept),
        "unused": tuple(p for p, v in found.items() if v not in used),
        "guards": tuple(lowered.low.guards.items()),
        "codes": tuple(lowered.low.inlined.items()),
        "static": static,
        "rules": rules.registry.version,
        "params": (*arguments, *(str(p) for p, _ in kept)),
    }


def _compile_reverse(
    primal: Any,
    request: Request,
    arguments: dict[str, Any],
    static: frozenset[Any],
    lowered: Primal,
) -> Compiled:
    """The function that returns the gradient, or the forward sweep and the pullback."""
    low, function, free = lowered.low, lowered.function, lowered.free
    targets, result, aux = lowered.targets, lowered.result, lowered.aux
    wrt, outputs, params, block = lowered.wrt, lowered.outputs, function.params, function.block
    if request.traced:
        instrument(function, dict.fromkeys(wrt), outputs, request.traced == "all")
    prune_to(function, [*wrt, *outputs, *leaves(low, aux)])
    reverse_mode = Observing if request.traced else Checking if request.nan_check else Adjoint
    adjoint = reverse_mode(function, list(dict.fromkeys(wrt)), outputs)
    adjoint.within(low)
    forward = adjoint.augment(block)
    adjoint.block = reverse = ir.Block()
    adjoint.emit(reverse_sweep, (), inferred=Inferred(Opaque(None)), effect=True)
    seeds: list[ir.Var] = []
    if request.pullback:
        seeds = seed_pullback(adjoint, low, result)
        for seed in seeds:
            while seed.name in arguments:
                seed.name += "_"
    else:
        seed_gradient(adjoint, outputs)
    # an argument that is taken out of a container keeps its adjoint: it is a result
    extractions = [s for s in forward.statements if isinstance(s, ir.Assign) and s.target in wrt]
    adjoint.reverse(ir.Block([s for s in forward.statements if s not in extractions]))
    adjoint.span = None
    gradients = [finished(adjoint, low, target) for _, _, target in targets]
    answer = gradients[0] if request.single else ir.Pack(tuple, tuple(gradients))
    shown: list[ir.Operand] = []
    if request.batch:
        if any(isinstance(v.kind, ListOf) for v in leaves(low, result)):
            raise Unbatchable("the result holds a list that is built at run time")
        shown = [_shapes(adjoint, low, result)]
    elif request.value or request.pullback:
        whole = Tuple((result, aux)) if request.has_aux else result
        adjoint.block = forward
        shown = [built(adjoint, low, whole)]
        adjoint.block = reverse
    elif request.has_aux:
        shown = [built(adjoint, low, aux)]
    first = request.has_aux and not (request.value or request.pullback)
    marker = reverse.statements[0]
    block = ir.Block(
        forward.statements + reverse.statements,
        (answer, *shown) if first else (*shown, answer),
    )
    function.params = (*params, *seeds, *free.found.values())
    function.seeds = tuple(seeds)
    function.block = block
    ir.passed("reversed", function)
    simplified(function, marker)
    if request.batch:
        floats = [seed for seed in seeds if is_float(seed.kind)]
        params = (*params, *seeds, _batched(function, adjoint, floats, free, [len(shown)]))
        prune(function)
        simplify(function)
        prune(function)
    cut = request.pullback and not request.batch
    recorded(function, marker, adjoint, 0 if first else len(shown), cut)
    ir.passed("recorded", function)

    used = ir.free_variables(function.block)
    kept = [(p, v) for p, v in free.found.items() if v in used]
    function.name = _function_name(request)
    common = _common(lowered, adjoint, kept, used, arguments, static)
    if cut:
        function.params = (*params, *(v for _, v in kept))
        return _emit_pair(primal, request, function, marker, seeds, common, nesting(low, result))
    function.params = (*params, *(v for _, v in kept))
    generated, text, filename, emitted = _emitted(
        request, [function], [_docstring(primal, request, targets)]
    )
    return Compiled(generated[0], text, filename, emitted, **common, nesting=nesting(low, result))


def _shapes(adjoint: Adjoint, low: Lowerer, result: Value) -> ir.Operand:
    """The shapes of the floats in a result."""
    shapes = []
    for v in leaves(low, result):
        if is_float(v.kind):
            rank = v.kind.shape or ()  # type: ignore[attr-defined]
            kind = TupleOf(tuple(Scalar(INT.dtype, True, n) for n in rank))
            shapes.append(adjoint.emit(np.shape, (v,), inferred=Inferred(kind), name="shape"))
    return ir.Pack(tuple, tuple(shapes))


def _lowered_call(
    low: Lowerer,
    primal: Any,
    arguments: dict[str, Any],
    values: dict[str, Value],
    source: str | None,
) -> Value:
    """Lower the call of the primal function with its parameters bound by name."""
    low.depth = 0
    function: Any = primal
    before: list[Value] = []
    while True:
        # what stands before the arguments is read at call time, like any outer value
        if isinstance(function, types.MethodType):
            before.insert(0, low.lift(function.__self__, Path("attribute", function, "__self__")))
            function = function.__func__
        elif isinstance(function, functools.partial):
            return low.call(_partial(low, function), *_arguments(primal, low, arguments, values))
        elif _is_callable_object(function):
            before.insert(0, low.lift(function, Path("item", (function,), 0)))
            function = type(function).__call__
        else:
            break
    if isinstance(function, types.FunctionType) and source is not None:
        get_source(function, source)
        low.given_sources[function.__code__] = source
    args, kwargs = _arguments(primal, low, arguments, values)
    return low.call(Place(function), [*before, *args], kwargs)


def _is_callable_object(thing: Any) -> bool:
    call = getattr(type(thing), "__call__", None)  # noqa: B004
    return is_written_method(call) and not hasattr(thing, "__srcgrad_primal__")


def _partial(low: Lowerer, function: functools.partial[Any]) -> Value:
    place = Path("attribute", function, "args")
    args = tuple(low.lift(a, Path("item", place, i)) for i, a in enumerate(function.args))
    words = Path("attribute", function, "keywords")
    kwargs = {k: low.lift(v, Path("item", words, k)) for k, v in function.keywords.items()}
    inner = Path("item", (function.func,), 0)
    callee: Value = low.lift(function.func, inner)
    if isinstance(function.func, functools.partial):
        callee = _partial(low, function.func)
    return Partial(callee, args, kwargs)


def _arguments(
    primal: Any, low: Lowerer, arguments: dict[str, Any], values: dict[str, Value]
) -> tuple[list[Value], dict[str, Value]]:
    """The arguments of the call of the primal, as its signature takes them.

    A NumPy function isn't passed its defaults, some of which only say that nothing was passed.
    """
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


def _emit_pair(
    primal: Any,
    request: Request,
    function: ir.Function,
    marker: ir.Statement,
    seeds: list[ir.Var],
    common: dict[str, Any],
    result_nesting: Any,
) -> Compiled:
    """Split a function at the marker into the forward sweep and the pullback."""
    out, answer = function.block.results
    before, residuals, after = split(function, marker, seeds)
    reverse = ir.Block(after, (answer,))
    distinct((*seeds, *residuals))
    packed = ir.Pack(tuple, (out, ir.Pack(tuple, residuals)))
    forward = ir.Function(f"forward_{_base(request)}", function.params, ir.Block(before, (packed,)))
    pullback = ir.Function(f"pullback_{_base(request)}", (*residuals, *seeds), reverse)
    pullback.together = Aliasing(ir.Block([*before, *after])).groups(residuals)
    name = request.name
    docstrings = [
        f"The result of {name}{_where(primal)}, and what its pullback needs.",
        f"The derivatives of {name} by its arguments, from that of its result.",
    ]
    generated, text, filename, emitted = _emitted(request, [forward, pullback], docstrings)
    aliasing = Aliasing(reverse)
    return Compiled(
        generated[0],
        text,
        filename,
        emitted,
        **common,
        pullback=generated[1],
        nesting=result_nesting,
        written=tuple(
            i for i, v in enumerate(residuals) if aliasing.is_written(v) or v.kind == RESIDUALS
        ),
    )


def _emitted(
    request: Request, functions: list[ir.Function], docstrings: list[str]
) -> tuple[list[Any], str, str, tuple[Emitted, ...]]:
    """Print functions into one module text, with the units they call, and run it."""
    call_plain(functions)
    bodies = [*functions, *(unit.body for unit in ir.units(functions))]
    finish(ir.units(functions), {function.name for function in functions} | _names(bodies))
    units = ir.units(functions)
    functions = [*functions, *(unit.body for unit in units)]
    docstrings = [*docstrings, *(unit.docstring for unit in units)]
    shared: dict[str, Any] = {}
    taken = {unit.name for unit in units}
    emitted = tuple(
        emit_function(f, d, shared, taken) for f, d in zip(functions, docstrings, strict=True)
    )
    text = "\n\n".join(checked_source(gast.Module([e.tree], [])) for e in emitted)
    filename = f"<srcgrad {request.name} {next(_numbers)}>"
    # no mtime: linecache.checkcache leaves the entry alone
    linecache.cache[filename] = (len(text), None, text.splitlines(True), filename)
    code = compile(text, filename, "exec")
    namespace: dict[str, Any] = {}
    for e in emitted:
        namespace.update(namespace_of(e))
    exec(code, namespace)
    generated = [namespace[function.name] for function in functions]
    return generated, text, filename, emitted


def _names(functions: list[ir.Function]) -> set[str]:
    """The names of parameters and variables, which those of functions mustn't hide."""
    found = {p.name for function in functions for p in function.params}
    for function in functions:
        for s in ir.walk(function.block):
            found.update(v.name for v in ir.targets(s))
    return found


def namespace_of(emitted: Emitted) -> dict[str, Any]:
    """The globals of a generated function."""
    namespace: dict[str, Any] = {"np": np, **emitted.bindings}
    for module in emitted.modules:
        if module != "numpy":
            importlib.import_module(module)
            package = module.partition(".")[0]
            namespace[package] = sys.modules[package]
    for helper in emitted.helpers:
        namespace[helper.__name__] = helper
    return namespace


def _base(request: Request) -> str:
    return request.name if request.name.isidentifier() else "function"


def _function_name(request: Request) -> str:
    if request.batch:
        return f"vjps_{_base(request)}"
    return f"value_and_d_{_base(request)}" if request.value else f"d_{_base(request)}"


def _where(primal: Any) -> str:
    code = getattr(primal, "__code__", None)
    if code is None:
        return ""
    filename = code.co_filename.replace("\\", "/").rpartition("/")[2]
    return f" ({filename}:{code.co_firstlineno})"


def _docstring(primal: Any, request: Request, targets: list[Any]) -> str:
    names = ", ".join(label for label, _, _ in targets)
    if request.batch:
        return f"Adjoints of {names} for rows of adjoints of {request.name}{_where(primal)}."
    what = "Value and gradient" if request.value else "Gradient"
    return f"{what} of {request.name}{_where(primal)} with respect to {names}."
