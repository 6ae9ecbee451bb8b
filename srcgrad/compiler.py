"""The pipeline: from a function and example arguments to a compiled gradient.

    lower (frontend) -> reverse -> simplify, prune -> record -> emit -> compile

The result holds for one *signature*: the nesting and kinds of the arguments, the equalities among
their dimensions, and the values of what steers the computation (flags, strings, functions).
"""

from __future__ import annotations

import builtins
import dataclasses
import itertools
import linecache
import operator
import types
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import gast  # type: ignore[import-untyped]
import numpy as np

from . import ir, rules
from .analysis.aliasing import Aliasing
from .analysis.inference import Inferred
from .emit import runtime
from .emit.printer import checked_source
from .emit.python import Emitted, emit_function, reverse_sweep
from .emit.spelling import call
from .errors import InternalError, SrcgradError, UnsupportedError
from .frontend.calls import _plain
from .frontend.lower import Lowerer
from .frontend.values import (
    DictObject,
    Instance,
    ListObject,
    NeedStatic,
    Path,
    Place,
    Ref,
    Tuple,
    Value,
)
from .kinds import Array, Kind, ListOf, Opaque, Scalar, Size, int_kind, kind_of
from .transform.prune import prune
from .transform.recording import record, rename
from .transform.reverse import Adjoint
from .transform.simplify import simplify

_numbers = itertools.count(1)


@dataclass(frozen=True)
class Request:
    """What to generate: a gradient, with or without the value, or a pullback."""

    name: str
    inputs: tuple[str, ...]  # names of the parameters to differentiate
    value: bool = False  # return the value as well
    has_aux: bool = False
    pullback: bool = False  # take the adjoint of the result as a last argument


@dataclass(eq=False)
class Compiled:
    """A generated function, its source, and what must still hold for it to be used."""

    function: Callable[..., Any]
    source: str
    filename: str
    emitted: Emitted
    free: tuple[tuple[Path, Any], ...]  # where values from outside are read, and their kinds
    guards: tuple[tuple[Path, Any], ...]  # objects that must still be the same
    codes: tuple[tuple[Any, Any], ...]  # inlined functions, and their code
    static: frozenset[Any]
    overlaps: tuple[tuple[int, ...], ...] = ()
    stages: dict[str, str] = dataclasses.field(default_factory=dict)


class Inputs:
    """The parameters of the function being compiled as abstract values."""

    def __init__(self, lowerer: Lowerer, static: frozenset[Any]) -> None:
        self.lowerer, self.static = lowerer, static
        self.sizes: dict[int, Size] = {}
        self.paths: dict[Any, Any] = {}

    def value(self, value: Any, var: ir.Var | None, path: Any, access: Any = None) -> Value:
        """The abstract value of an argument; `access` makes the variable that holds it."""

        def variable(kind: Kind) -> ir.Var:
            if var is not None:
                var.kind = kind
                return var
            made: ir.Var = access(kind)
            return made

        low = self.lowerer
        if isinstance(value, np.ndarray) and type(value) is not np.ndarray:
            raise UnsupportedError(
                f"a {type(value).__name__} isn't supported as an argument",
                None,
                "convert it to a plain array: np.asarray(...)",
            )
        if isinstance(value, (np.ndarray, np.number, float, complex)):
            return variable(kind_of(value, self.sizes))
        if isinstance(value, int) and not isinstance(value, bool):
            if path in self.static:
                return ir.Const(value)
            leaf = variable(int_kind())
            leaf.origins = frozenset([path])
            return leaf
        if isinstance(value, (tuple, list)):
            holder = variable(Opaque(type(value)))
            items = tuple(
                self.value(
                    item,
                    None,
                    (*path, i),
                    self._item(holder, operator.getitem, i, f"{holder.name}_{i}"),
                )
                for i, item in enumerate(value)
            )
            if isinstance(value, tuple):
                return Tuple(items, type(value))
            return low.new(ListObject(items, None, holder.name))
        if isinstance(value, dict):
            holder = variable(Opaque(dict))
            return low.new(
                DictObject(
                    {
                        k: self.value(v, None, (*path, k), self._item(holder, operator.getitem, k, k))
                        for k, v in value.items()
                    },
                    holder.name,
                )
            )
        if is_record(value):
            holder = variable(Opaque(type(value)))
            return low.new(
                Instance(
                    type(value),
                    {
                        k: self.value(v, None, (*path, k), self._item(holder, builtins.getattr, k, k))
                        for k, v in vars(value).items()
                    },
                    holder.name,
                )
            )
        if isinstance(value, (np.random.Generator, np.random.RandomState)):
            return variable(Opaque(type(value)))
        return Place(value)

    def _item(self, holder: ir.Var, function: Any, key: Any, name: Any) -> Callable[[Kind], ir.Var]:
        def access(kind: Kind) -> ir.Var:
            text = name if isinstance(name, str) and name.isidentifier() else holder.name
            var = self.lowerer.emit(
                function, (holder, ir.Const(key)), inferred=Inferred(kind), name=text
            )
            var.user = True
            return var

        return access


def is_record(value: Any) -> bool:
    """Whether an argument is an object of a plain Python class, differentiated by attribute."""
    return (
        not isinstance(value, (type, types.FunctionType, types.ModuleType))
        and _plain(type(value))
        and hasattr(value, "__dict__")
        and not callable(value)
    )


def compile_gradient(
    primal: Any,
    request: Request,
    arguments: dict[str, Any],
    static: frozenset[Any],
    source: str | None = None,
) -> Compiled:
    """Generate and compile the gradient of `primal` for arguments like these."""
    free_static: frozenset[Any] = frozenset(s for s in static if isinstance(s, Path))
    for _ in range(50):
        try:
            return _compile(primal, request, arguments, static | free_static, source)
        except NeedStatic as need:
            more = frozenset(o for o in need.origins if isinstance(o, (tuple, Path)))
            if not more - static:
                raise UnsupportedError(need.message, need.span) from None
            static |= more
        except SrcgradError:
            raise
        except (TypeError, ValueError) as error:
            if getattr(error, "__srcgrad__", False):
                raise
            raise InternalError(f"compiling {request.name} failed: {error!r}") from error
        except RecursionError as error:
            raise UnsupportedError(
                f"{request.name} is too deeply nested to be compiled", None
            ) from error
        except Exception as error:
            raise InternalError(f"compiling {request.name} failed: {error!r}") from error
    raise InternalError(f"compiling {request.name} doesn't end")


def _user_error(kind: type[Exception], message: str) -> Exception:
    error = kind(message)
    error.__srcgrad__ = True  # type: ignore[attr-defined]
    return error


def _compile(
    primal: Any, request: Request, arguments: dict[str, Any], static: frozenset[Any],
    source: str | None,
) -> Compiled:
    assert rules.lookup is not None
    low = Lowerer()
    inputs = Inputs(low, static)
    free: dict[Path, tuple[ir.Var, Any]] = {}
    low.static_paths = {p: None for p in static if isinstance(p, Path)}

    def on_free(path: Path, value: Any) -> Value:
        if path not in free:
            text = str(path.name) if str(path.name).isidentifier() else "free"
            var = ir.Var(text, kind_of(value, inputs.sizes), True)
            if isinstance(value, int):
                var.origins = frozenset([path])
            free[path] = (var, value)
        return free[path][0]

    low.on_free = on_free
    low.frames[0] = _Root.frame()
    low.state.frames[0] = {}
    params: list[ir.Var] = []
    values: dict[str, Value] = {}
    for name, value in arguments.items():
        var = ir.Var(name, Opaque(type(value)), True)
        params.append(var)
        values[name] = inputs.value(value, var, ("argument", name))
    leaves = [_leaves(low, values[n]) for n in request.inputs]
    for name, found in zip(request.inputs, leaves, strict=True):
        _check_input(name, arguments[name], found)
    result = _lowered_call(low, primal, values, source)
    if low.state.unreachable:
        raise UnsupportedError(f"{request.name} always raises an exception", None)
    block, aux = low.block, NONE_VALUE
    if request.has_aux:
        if not isinstance(result, Tuple) or len(result.items) != 2:
            raise _user_error(
                TypeError, f"with has_aux=True {request.name} must return a pair (value, aux)"
            )
        result, aux = result.items
    wrt = [v for found in leaves for v in found]
    outputs = [v for v in _leaves(low, result) if isinstance(v, ir.Var)]
    if not request.pullback:
        _check_output(request.name, result)
    function = ir.Function(f"d_{request.name}", tuple(params), block)
    _own_copies(function, set(free[p][0] for p in free), wrt)
    before = "" if True else ir.to_text(function)
    # the reverse sweep
    seeds: list[ir.Var] = []
    adjoint = Adjoint(function, list(dict.fromkeys(wrt)), outputs)
    adjoint.frames, adjoint.state, adjoint.counter = low.frames, low.state, low.counter
    adjoint.on_free, adjoint.widened = on_free, low.widened
    adjoint.inlined, adjoint.guards = {}, {}
    forward = adjoint.augment(block)
    adjoint.block = reverse = ir.Block()
    adjoint.emit(reverse_sweep, (), inferred=Inferred(Opaque(None)), effect=True)
    if request.pullback:
        seeds = _seed_pullback(adjoint, low, result)
    else:
        for v in outputs:
            one = ir.Const(1.0)
            if v in adjoint.shadows or isinstance(v.kind, Array):
                adjoint.span = None
                ones = adjoint.emit(np.ones_like, (v,), name=f"d_{v.name}")
                adjoint.add(v, ones)
            elif adjoint.activity.active(v):
                adjoint.adjoints[v] = one
    adjoint.reverse(forward)
    adjoint.span = None
    gradients = [_finished(adjoint, low, values[n]) for n in request.inputs]
    results: list[ir.Operand] = []
    if request.value:
        shown = Tuple((result, aux)) if request.has_aux else result
        results.append(_built(adjoint, low, shown))
    elif request.has_aux:
        results.append(_built(adjoint, low, aux))
    single = len(gradients) == 1
    answer = gradients[0] if single else ir.Pack(tuple, tuple(gradients))
    if request.has_aux and not request.value:
        results = [answer, *results]
    else:
        results.append(answer)
    count = len(forward.statements)
    marker = reverse.statements[0]
    whole = ir.Block(forward.statements + reverse.statements, tuple(results))
    free_vars = tuple(var for var, _ in free.values())
    function.params = (*params, *seeds, *free_vars)
    function.block = whole
    prune(function)
    simplify(function)
    prune(function)
    count = whole.statements.index(marker)
    record(function, count, adjoint.mirrors, adjoint.indices)
    prune(function)
    simplify(function)
    prune(function)
    return _emit(
        primal, request, function, adjoint, low, free, static, before, params
    )


NONE_VALUE = ir.Const(None)


class _Root:
    @staticmethod
    def frame() -> Any:
        from .frontend.expressions import Frame
        from .frontend.names import Namespace, Scope

        empty: frozenset[str] = frozenset()
        return Frame(Scope(empty, empty, empty), None, Namespace({}))


def _lowered_call(
    low: Lowerer, primal: Any, values: dict[str, Value], source: str | None
) -> Value:
    """Lower the call of the primal function with its parameters bound by name."""
    low.depth = 0
    low.fixed_span = True
    if isinstance(primal, types.FunctionType) and primal not in rules.registry.primitives:
        from .frontend.source import get_source

        if source is not None:
            get_source(primal, source)
        code = primal.__code__
        count = code.co_argcount
        names = code.co_varnames
        args = [values[n] for n in names[:count]]
        position = count + code.co_kwonlyargcount
        kwargs = {n: values[n] for n in names[count:position]}
        if code.co_flags & 0x04:
            args += low.unpacked(values[names[position]])
            position += 1
        if code.co_flags & 0x08:
            kwargs.update(low.dictionary(values[names[position]]).items)
        low.fixed_span = False
        return low.inline(primal, args, kwargs)
    positional = [v for v in values.values()]
    low.fixed_span = False
    return low.call(Place(primal), positional, {})


def _leaves(low: Lowerer, value: Any) -> list[ir.Var]:
    match value:
        case ir.Var():
            return [value]
        case Tuple():
            return [leaf for item in value.items for leaf in _leaves(low, item)]
        case Ref():
            thing = low.state.heap[value.id]
            if isinstance(thing, ListObject):
                if thing.var is not None:
                    return [thing.var]
                return [leaf for item in thing.items for leaf in _leaves(low, item)]
            return [leaf for item in thing.items.values() for leaf in _leaves(low, item)]
    return []


def _check_input(name: str, value: Any, leaves: list[ir.Var]) -> None:
    for leaf in leaves:
        kind = leaf.kind
        if isinstance(kind, (Array, Scalar)) and kind.dtype is not None and kind.dtype.kind in "fc":
            continue
        if isinstance(kind, (Array, Scalar)):
            raise _user_error(
                TypeError,
                f"argument {name!r} can't be differentiated: it holds {_dtype_name(kind)}s, "
                "whose derivative isn't defined; convert to float first",
            )
        raise _user_error(
            TypeError, f"argument {name!r} can't be differentiated: it is a {type(value).__name__}"
        )
    if not leaves:
        raise _user_error(
            TypeError,
            f"argument {name!r} can't be differentiated: it is a {type(value).__name__} "
            "without numbers in it",
        )


def _dtype_name(kind: Array | Scalar) -> str:
    return "int" if kind.dtype is not None and kind.dtype.kind in "iu" else str(kind.dtype)


def _check_output(name: str, result: Any) -> None:
    """A gradient needs a real number."""
    if isinstance(result, ir.Const) and isinstance(result.value, (int, float)):
        return
    kind = result.kind if isinstance(result, ir.Var) else None
    if isinstance(kind, (Array, Scalar)):
        if kind.shape is not None and len(kind.shape) > 0:
            raise _user_error(
                TypeError,
                f"grad needs a function that returns a number, but {name} returns an array of "
                f"{len(kind.shape)} dimension{'s' * (len(kind.shape) > 1)}; "
                "return its sum, or use vjp",
            )
        if kind.dtype is not None and kind.dtype.kind == "c":
            raise _user_error(
                TypeError,
                f"grad needs a real result, but {name} returns a complex number; "
                "return its real part, or use vjp",
            )
        if kind.dtype is None or kind.dtype.kind == "f":
            return
        raise _user_error(
            TypeError,
            f"grad needs a function that returns a float, but {name} returns {kind.dtype}",
        )
    if isinstance(kind, Opaque) and kind.type is None:
        return
    what = "None" if isinstance(result, ir.Const) and result.value is None else (
        type(result.value).__name__ if isinstance(result, ir.Const) else
        "a tuple" if isinstance(result, Tuple) else "a container"
    )
    raise _user_error(
        TypeError, f"grad needs a function that returns a number, but {name} returns {what}"
    )


def _own_copies(function: ir.Function, free: set[ir.Var], wrt: list[ir.Var]) -> None:
    """Copy at the start what the function writes but the caller owns."""
    aliasing = Aliasing(function.block)
    written = aliasing.written
    if not written:
        return
    inputs: list[ir.Var] = [p for p in function.params if isinstance(p.kind, Array)]
    statements = function.block.statements
    params = set(function.params)
    extracted: dict[ir.Var, int] = {}
    for position, s in enumerate(statements):
        if isinstance(s, ir.Assign) and s.args and s.args[0] in params | set(extracted):
            if s.function in (operator.getitem, builtins.getattr) and not s.views:
                if isinstance(s.args[0].kind, Opaque):  # type: ignore[union-attr]
                    extracted[s.target] = position
                    if isinstance(s.target.kind, Array):
                        inputs.append(s.target)
    copies: dict[ir.Var, ir.Var] = {}
    for var in inputs:
        if aliasing.find(var) in written:
            copies[var] = ir.Var(var.name, var.kind, True)
    for var in free:
        if isinstance(var.kind, Array) and aliasing.find(var) in written:
            writer = next(
                (s for s in ir.walk(function.block) if isinstance(s, ir.Assign)
                 and any(aliasing.find(w) is aliasing.find(var) for w in s.writes)), None,
            )  # fmt: skip
            raise UnsupportedError(
                f"{var.name!r} belongs to the caller, who would see it change",
                writer.span if writer else None,
                "make a copy of it first: .copy()",
            )
    if not copies:
        return
    start = max([extracted[v] for v in copies if v in extracted], default=-1) + 1
    others = [v for v in inputs]
    body = ir.Block(statements[start:], function.block.results)
    rename(body, lambda v: copies.get(v, v))
    made = [
        ir.Assign(copy, runtime.own_copy, (var,), (), statements[start].span if len(statements) > start else None)
        for var, copy in copies.items()
    ]
    guards: list[ir.Statement] = []
    if len(others) > 1:
        guards.append(
            ir.Assign(
                ir.Var("_", Opaque(None)), runtime.check_apart,
                (ir.Pack(tuple, tuple(copies)), ir.Pack(tuple, tuple(others))), effect=True,
            )
        )  # fmt: skip
    function.block.statements[:] = statements[:start] + guards + made + body.statements
    function.block.results = body.results


def _seed_pullback(adjoint: Adjoint, low: Lowerer, result: Any) -> list[ir.Var]:
    leaves = _leaves(low, result)
    seeds = []
    for i, v in enumerate(leaves):
        name = "d_out" if len(leaves) == 1 else f"d_out_{i}"
        seed = ir.Var(name, v.kind, True)
        seeds.append(seed)
        if isinstance(v.kind, ListOf):
            raise UnsupportedError("the pullback of a list that is built in a loop", None)
        if adjoint.activity.active(v):
            adjoint.add(v, seed)
    return seeds


def _finished(adjoint: Adjoint, low: Lowerer, value: Any) -> ir.Operand:
    """The gradient with respect to an argument, in the argument's nesting."""

    def leaf(v: ir.Var) -> ir.Operand:
        d = adjoint.take(v)
        kind = v.kind
        if d is None:
            return adjoint.zero(v) if isinstance(kind, Array) else ir.Const(0.0)
        if not isinstance(d, ir.Var):
            d_kind = kind
            if isinstance(kind, Array):
                return adjoint.emit(
                    np.full_like, (v, d), inferred=Inferred(d_kind), name=f"d_{v.name}"
                )
            if isinstance(kind, Scalar) and kind.python is False:
                return adjoint.emit(kind.dtype.type, (d,), inferred=Inferred(d_kind))
            return d  # type: ignore[no-any-return]
        if isinstance(kind, Array):
            d = _owned(adjoint, d, v)
        adjoint_name(d, v)
        return d

    return _rebuilt(adjoint, low, value, leaf)


def adjoint_name(d: ir.Var, v: ir.Var) -> None:
    if not d.user:
        d.name, d.user = f"d_{v.name}", True


def _owned(adjoint: Adjoint, d: ir.Var, v: ir.Var) -> ir.Var:
    """The adjoint as an array of its own, of the argument's shape and dtype."""
    kind = v.kind
    assert isinstance(kind, Array)
    if kind.shape == ():
        return adjoint.emit(np.asarray, (d,), inferred=Inferred(kind), name=f"d_{v.name}")
    if not isinstance(d.kind, Array) or d.kind.shape is None or d.kind.dtype != kind.dtype:
        return adjoint.emit(
            runtime.finished, (d, v), inferred=Inferred(kind), name=f"d_{v.name}"
        )
    if _shares(adjoint, d, set()):
        return adjoint.emit(np.array, (d,), inferred=Inferred(kind), name=f"d_{v.name}")
    returned: set[ir.Var] = getattr(adjoint, "returned", set())
    adjoint.returned = returned  # type: ignore[attr-defined]
    if d in returned:
        return adjoint.emit(np.array, (d,), inferred=Inferred(kind), name=f"d_{v.name}")
    returned.add(d)
    return d


def _shares(adjoint: Adjoint, d: ir.Var, seen: set[ir.Var]) -> bool:
    """Whether an adjoint may share memory with something else the caller has."""
    if d in seen:
        return False
    seen.add(d)
    definition = adjoint.definitions.get(d)
    if definition is None:
        return d not in adjoint.live_buffers and not d.name.startswith("d_") or d.user
    if definition.function is np.broadcast_to:
        return True
    return any(_shares(adjoint, v, seen) for v in definition.views)


def _rebuilt(adjoint: Adjoint, low: Lowerer, value: Any, leaf: Callable[[ir.Var], Any]) -> Any:
    """An operand with the nesting of a value, its leaves replaced."""
    match value:
        case ir.Var():
            return leaf(value)
        case Tuple():
            items = tuple(_rebuilt(adjoint, low, item, leaf) for item in value.items)
            if value.type is tuple:
                return ir.Pack(tuple, items)
            return adjoint.emit(
                value.type, items, inferred=Inferred(Opaque(value.type)), name="result"
            )
        case Ref():
            thing = low.state.heap[value.id]
            if isinstance(thing, ListObject):
                if thing.var is not None:
                    return leaf(thing.var)
                return ir.Pack(
                    list, tuple(_rebuilt(adjoint, low, item, leaf) for item in thing.items)
                )
            if isinstance(thing, DictObject):
                pairs = tuple(
                    ir.Pack(tuple, (ir.Const(k), _rebuilt(adjoint, low, v, leaf)))
                    for k, v in thing.items.items()
                )
                return ir.Pack(dict, pairs)
            named = {k: _rebuilt(adjoint, low, v, leaf) for k, v in thing.items.items()}
            if dataclasses.is_dataclass(thing.type) and all(
                f.init for f in dataclasses.fields(thing.type)
            ) and set(named) == {f.name for f in dataclasses.fields(thing.type)}:
                return adjoint.emit(
                    thing.type, (), named, inferred=Inferred(Opaque(thing.type)), name="result"
                )
            pairs = tuple(ir.Pack(tuple, (ir.Const(k), v)) for k, v in named.items())
            return adjoint.emit(
                runtime.make_object,
                (ir.Const(thing.type), ir.Pack(dict, pairs)),
                inferred=Inferred(Opaque(thing.type)),
                name="result",
            )
        case ir.Const():
            return value
    return ir.Const(None)


def _built(adjoint: Adjoint, low: Lowerer, value: Any) -> ir.Operand:
    operand: ir.Operand = _rebuilt(adjoint, low, value, lambda v: v)
    return operand


def _emit(
    primal: Any,
    request: Request,
    function: ir.Function,
    adjoint: Adjoint,
    low: Lowerer,
    free: dict[Path, tuple[ir.Var, Any]],
    static: frozenset[Any],
    before: str,
    params: list[ir.Var],
) -> Compiled:
    used = ir.free_variables(function.block)
    kept = {p: v for p, v in free.items() if v[0] in used}
    function.params = tuple(
        p for p in function.params if p in used or all(p is not v[0] for v in free.values())
    )
    number = next(_numbers)
    function.name = _function_name(request)
    emitted = emit_function(function, _docstring(primal, request))
    module = gast.Module([emitted.tree], [])
    text = checked_source(module)
    filename = f"<srcgrad {request.name} {number}>"
    namespace: dict[str, Any] = {"np": np, **emitted.bindings}
    for m in emitted.modules:
        if m != "numpy":
            namespace[m] = __import__(m)
    for helper in emitted.helpers:
        namespace[helper.__name__] = helper
    linecache.cache[filename] = (len(text), None, text.splitlines(True), filename)
    exec(compile(text, filename, "exec"), namespace)
    guards = {p: v for p, v in {**low.guards, **adjoint.guards}.items()}
    assert call is not None
    return Compiled(
        namespace[function.name],
        text,
        filename,
        emitted,
        tuple((path, var.kind) for path, (var, _) in kept.items()),
        tuple(guards.items()),
        tuple(low.inlined.items()),
        static,
        stages={"ir": before},
    )


def _function_name(request: Request) -> str:
    base = request.name if request.name.isidentifier() else "function"
    if request.pullback:
        return f"pullback_{base}"
    return f"value_and_d_{base}" if request.value else f"d_{base}"


def _docstring(primal: Any, request: Request) -> str:
    code = getattr(primal, "__code__", None)
    where = ""
    if code is not None:
        filename = code.co_filename.replace("\\", "/").rpartition("/")[2]
        where = f" ({filename}:{code.co_firstlineno})"
    names = ", ".join(request.inputs)
    if request.pullback:
        return f"Pullback of {request.name}{where} with respect to {names}."
    what = "Value and gradient" if request.value else "Gradient"
    return f"{what} of {request.name}{where} with respect to {names}."
