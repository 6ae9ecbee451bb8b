"""The results of a generated function: checks, the nesting of gradients, and their memory."""

from __future__ import annotations

import collections
import dataclasses
import inspect
import operator
import types
from collections.abc import Callable
from typing import Any

import numpy as np

from . import ir, runtime
from .analysis.inference import Inferred
from .errors import UnsupportedError, user_error
from .frontend.builtin_functions import heap_type
from .frontend.classes import init_owner, written_new
from .frontend.columns import holds_references
from .frontend.lower import Lowerer
from .frontend.slots import Slotted
from .frontend.slotted import items_by_key
from .frontend.structure import (
    Poison,
    is_table,
    leaves,
    object_items,
    objects_in_key,
    parts,
    reachable,
)
from .frontend.subclasses import has_made_init
from .frontend.tables import Keys, View, Window
from .frontend.values import Choice, DictObject, ListObject, Ref, Tuple, Value
from .frontend.wording import described, with_article
from .kinds import (
    BOOL,
    Array,
    Fields,
    Kind,
    ListOf,
    Opaque,
    Scalar,
    Size,
    fresh_size,
    is_float,
    same_dtype,
)
from .rules.registry import arrays_of_objects, only_inside, stands_for
from .rules.structured import Records
from .transform.reverse import Adjoint


def check_returned(low: Lowerer, value: Value) -> None:
    """Refuse a result that the generated function has in another form than the program.

    A dict whose keys only the run tells is a list and a lookup there, an object in a list a tuple.
    """
    if isinstance(value, Ref):
        thing = low.state.heap[value.id]
        factory = thing.factory if isinstance(thing, DictObject) else None
        if thing.type in (View, Keys, Window) or not isinstance(
            factory, (ir.Const, types.NoneType)
        ):
            raise low.refuse(
                "a view of a dict, a deque of a greatest length, or a defaultdict with a function "
                "of the program's can't be returned",
                "return list(...) or dict(...) of it",
            )
        var = thing.var if isinstance(thing, ListObject) else None
        if var is not None:
            check_returned(low, var)
        if is_table(thing) or (var is not None and _holds_objects(var.kind)):
            what = "dict or set" if is_table(thing) else "list of objects or named tuples"
            raise low.refuse(
                f"a {what} that is built at run time can't be returned",
                "return arrays, or lists of numbers or tuples",
            )
        if thing.type in arrays_of_objects:
            raise low.refuse("an array of objects can't be returned", "return a list of them")
        if _only_inside(thing.type):
            raise low.refuse(
                "this object of a package can't be returned", "return the numbers it is made of"
            )
        if isinstance(thing, DictObject) and any(map(objects_in_key, thing.items)):
            raise low.refuse(
                "a dict or set whose keys are objects can't be returned", "return what they hold"
            )
        for item in object_items(thing):
            check_returned(low, item)
    if isinstance(value, ir.Var) and holds_references(value.kind):
        raise low.refuse(
            "an object of which only the run tells how many there are can't be returned",
            "return the numbers and arrays that it holds",
        )
    for item in parts(value):
        check_returned(low, item)


def _only_inside(cls: type) -> bool:
    """Whether a class stands for one of a package that can't be made of its attributes again."""
    if cls in stands_for or issubclass(cls, Records):
        return cls in only_inside
    return {c.__module__.startswith("srcgrad.rules.") for c in cls.__mro__[:-1]} == {True}


def _holds_objects(kind: Any) -> bool:
    items = kind.item if isinstance(kind, ListOf) else kind
    if isinstance(items, tuple):
        return isinstance(items, Fields) or any(map(_holds_objects, items))
    return isinstance(items, ListOf) and _holds_objects(items)


def check_output(low: Lowerer, name: str, result: Any) -> None:
    """A gradient needs a real number; an array that must hold just one will do."""
    if isinstance(result, Choice):
        raise UnsupportedError(
            f"whether {name} returns a number is known only when it runs", low.returned,
            "return a number on each branch",
        )  # fmt: skip
    if isinstance(result, ir.Const) and isinstance(result.value, (int, float)):
        return
    kind = result.kind if isinstance(result, ir.Var) else None
    if isinstance(kind, (Array, Scalar)):
        if kind.shape is not None and not holds_one(kind):
            raise user_error(
                TypeError,
                f"grad needs a function that returns a number, but {name} returns an array of "
                f"{len(kind.shape)} dimension{'s' * (len(kind.shape) > 1)}; "
                "return its sum, or use jacobian, elementwise_grad or vjp",
            )
        if kind.dtype is not None and kind.dtype.kind == "c":
            raise user_error(
                TypeError,
                f"grad needs a real result, but {name} returns a complex number; "
                "return its real part, or use vjp",
            )
        if kind.dtype is None or kind.dtype.kind == "f":
            return
        raise user_error(
            TypeError,
            f"grad needs a function that returns a float, but {name} returns {kind.dtype}, "
            "which has no derivative",
        )
    if isinstance(kind, Opaque) and kind.type is None:
        return
    if isinstance(result, ir.Const) and result.value is None:
        found = "None; is a return missing?"
    elif isinstance(result, Tuple):
        found = f"{_described(low, result)}; use has_aux=True, jacobian or vjp"
    else:
        found = _described(low, result)
    raise user_error(
        TypeError, f"grad needs a function that returns a number, but {name} returns {found}"
    )


def _described(low: Lowerer, value: Value) -> str:
    """What is returned, with its article: by its class, where there is one."""
    thing = low.on_heap(value)
    return described(value) if thing is None else with_article(heap_type(thing).__name__)


def seed_gradient(adjoint: Adjoint, outputs: list[ir.Var]) -> None:
    """The derivative of the result by itself is 1."""
    for v in outputs:
        unknown = isinstance(v.kind, Array) and (v.kind.shape is None or v.kind.dtype is None)
        if v.optional or unknown:
            adjoint.act(runtime.check_number, v)
        if v in adjoint.shadows or isinstance(v.kind, Array):
            adjoint.span = None
            adjoint.add(v, adjoint.emit(np.ones_like, (v,), name=f"d_{v.name}"))
        elif adjoint.activity.active(v):
            adjoint.adjoints[v] = ir.Const(1.0)


def holds_one(kind: Any) -> bool:
    """Whether a value is a number, or an array of which it's known that it holds just one."""
    shape = getattr(kind, "shape", ())
    return shape is None or all(n == 1 for n in shape)


def kind_of_seed(result: ir.Var, function: ir.Function) -> Kind:
    """The kind of the adjoint of a result.

    A size that isn't that of an argument is the seed's own: of an array that grows in a loop, say,
    which has one kind before, in and after it, each trip has another size. And so are all sizes of
    what may be None, whose seed then tells none, and of what is no float, whose seed may be None.
    """
    kind = result.kind
    if not isinstance(kind, Array) or kind.shape is None:
        return kind
    shapes = [p.kind.shape for p in function.params if isinstance(p.kind, Array)]
    given = {n.base for shape in shapes for n in shape or () if isinstance(n, Size)}
    given = set() if result.optional or not is_float(kind) else given
    own = (n if isinstance(n, int) or n.base in given else fresh_size() for n in kind.shape)
    return Array(kind.dtype, tuple(own))


def seed_pullback(adjoint: Adjoint, low: Lowerer, result: Any) -> list[ir.Var]:
    found = leaves(low, result)
    seeds = []
    for i, v in enumerate(found):
        name = "d_out" if len(found) == 1 else f"d_out_{i}"
        seed = ir.Var(name, kind_of_seed(v, adjoint.function), True)
        seeds.append(seed)
        if not adjoint.activity.active(v):
            continue
        if v.optional and v in adjoint.shadows:
            missing = adjoint.emit(operator.is_, (v, ir.Const(None)), inferred=Inferred(BOOL))
            outer, adjoint.block = adjoint.block, ir.Block()
            adjoint.add(v, seed)
            outer.statements.append(ir.If(missing, ir.Block(), adjoint.block, (), None))
            adjoint.block = outer
        else:
            adjoint.add(v, adjoint.list_value(seed) if isinstance(v.kind, ListOf) else seed)
    return seeds


def tangent_of_list(tangent: Adjoint, v: ir.Var) -> ir.Operand:
    """The tangent of a result that is a list built at run time: a list as long."""
    assert isinstance(v.kind, ListOf)
    known = tangent.tangents.get(v)  # type: ignore[attr-defined]
    function: Any = runtime.zero_items if known is None else runtime.copied_items
    args: tuple[ir.Operand, ...] = (v if known is None else known,)
    if not isinstance(v.kind.item, (Array, Scalar)):
        function, args = runtime.nested_tangents, (v,) if known is None else (v, known)
    elif not is_float(v.kind.item):
        return ir.Const(None)
    return tangent.emit(function, args, inferred=Inferred(v.kind), name=f"t_{v.name}")


def finished(adjoint: Adjoint, low: Lowerer, value: Any) -> ir.Operand:
    """The gradient with respect to an argument, in the argument's nesting.

    Attributes that aren't floats are kept, fields of records that aren't are zeros; an argument
    that is none has the gradient None.
    """
    heap = low.state.heap
    records = [n for n in reachable(heap, [value]) if issubclass(heap[n].type, Records)]
    fields = {v for n in records for v in leaves(low, Ref(n))}
    precisions = _precisions(adjoint.function)

    def leaf(v: ir.Var) -> ir.Operand:
        kind = v.kind
        if not is_float(kind) and not isinstance(kind, ListOf):
            return ir.Const(None) if v is value or v in fields else v
        shadow = adjoint.shadows.get(v) if isinstance(kind, (Array, ListOf)) else None
        d: ir.Operand | None = adjoint.take(v) if shadow is None else shadow
        if d is None:
            if isinstance(kind, Array):
                return adjoint.zero(v)
            d = ir.Const(0.0)
        if not isinstance(d, ir.Var):
            d_kind = kind
            if isinstance(kind, Array):
                return adjoint.emit(
                    np.full_like, (v, d), inferred=Inferred(d_kind), name=f"d_{v.name}"
                )
            if isinstance(kind, Scalar) and kind.python is False:
                return adjoint.emit(kind.dtype.type, (d,), inferred=Inferred(d_kind))
            if isinstance(kind, Scalar) and kind.dtype.kind == "c" and isinstance(d, ir.Const):
                return ir.Const(complex(d.value))
            return d
        if v in low.lists_of_records:
            holder, *names = low.lists_of_records[v].args
            like = (holder, d, *names)
            listed = Inferred(Opaque(list))
            return adjoint.emit(runtime.like_records, like, inferred=listed, name=f"d_{v.name}")
        own = (
            _listed(adjoint, d, kind)
            if isinstance(kind, ListOf)
            else _own(adjoint, d, v, precisions)
        )
        adjoint_name(own, v)
        return own

    if isinstance(value, ir.Const):
        return ir.Const(None)
    nested: ir.Operand = rebuilt(adjoint, low, value, leaf)
    return nested


def adjoint_name(d: ir.Var, v: ir.Var) -> None:
    if not d.user:
        d.name, d.user = f"d_{v.name}", True


def _own(adjoint: Adjoint, d: ir.Var, v: ir.Var, precisions: set[int]) -> ir.Var:
    """The adjoint of an argument, of its kind; `precisions` are those of the function's floats."""
    if isinstance(v.kind, Array):
        return _owned(adjoint, d, v, precisions)
    return _number(adjoint, d, v.kind, precisions)


def _listed(adjoint: Adjoint, d: ir.Var, kind: ListOf) -> ir.Var:
    """The adjoint of a list or tuple as one of numbers of the same kind, if it's one of numbers."""
    numbers = _numbers(kind)
    if numbers not in (None, float):
        args = (d, _operand(numbers))
        d = adjoint.emit(runtime.as_numbers, args, inferred=Inferred(kind), name=d.name)
    if kind.type is tuple:
        d = adjoint.emit(tuple, (d,), inferred=Inferred(kind), name=d.name)
    return d


def _numbers(item: Any) -> Any:
    """The type of the floats in the items of a list, in tuples those of each if they differ; None
    if not all are floats."""
    if isinstance(item, ListOf):
        return _numbers(item.item)
    if isinstance(item, tuple):
        parts = tuple(map(_numbers, item))
        if None in parts:
            return None
        return parts[0] if len(set(parts)) == 1 and isinstance(parts[0], type) else parts
    if not isinstance(item, Scalar) or not is_float(item):
        return None
    return float if item.python else item.dtype.type


def _operand(numbers: Any) -> ir.Operand:
    if isinstance(numbers, tuple):
        return ir.Pack(tuple, tuple(map(_operand, numbers)))
    return ir.Const(numbers)


def _number(adjoint: Adjoint, d: ir.Var, kind: Any, precisions: set[int]) -> ir.Var:
    """The adjoint of a number as a number, of the argument's kind."""
    wanted = isinstance(kind, Scalar) and kind.dtype.kind
    real = isinstance(d.kind, Scalar) and d.kind.dtype.kind != "c"
    if not wanted:
        return d
    # what functions of Python return is no float32, on one of two paths, too
    own = np.finfo(kind.dtype).bits
    narrow = not kind.python and kind.dtype not in (np.float64, np.complex128)
    narrow = narrow or any(bits != own for bits in precisions)
    alike = isinstance(d.kind, Scalar) and d.kind == kind and not d.kind.mixed
    if not isinstance(d.kind, Array) and not (real and wanted == "c") and (alike or not narrow):
        return d
    python = complex if wanted == "c" else float
    return adjoint.emit(
        python if kind.python else kind.dtype.type, (d,), inferred=Inferred(kind), name=d.name
    )


def _owned(adjoint: Adjoint, d: ir.Var, v: ir.Var, precisions: set[int]) -> ir.Var:
    """The adjoint as an array of its own, of the argument's shape and dtype."""
    kind = v.kind
    assert isinstance(kind, Array)
    if kind.shape == ():
        same = isinstance(d.kind, (Array, Scalar)) and same_dtype(d.kind, kind)
        args = (d,) if same else (d, ir.Const(kind.dtype))
        return adjoint.emit(np.asarray, args, inferred=Inferred(kind), name=f"d_{v.name}")
    known = isinstance(d.kind, Array) and d.kind.shape is not None and kind.dtype is not None
    if not known or not same_dtype(d.kind, kind):
        return adjoint.emit(runtime.finished, (d, v), inferred=Inferred(kind), name=f"d_{v.name}")
    assert kind.dtype is not None
    own = np.finfo(kind.dtype).bits
    if any(bits < own for bits in precisions):
        inferred = Inferred(kind, (d,), False)
        return adjoint.emit(runtime.as_dtype, (d, ir.Const(kind.dtype)), inferred=inferred)
    return d


def _precisions(function: ir.Function) -> set[int]:
    """How many bits the floats in a function have, as which others may turn out.

    What is one of two numbers, on a branch or in a loop, has the kind of the one of more precision.
    """
    found = [v.kind for v in function.params]
    found += [t.kind for s in ir.walk(function.block) for t in ir.targets(s)]
    dtypes = {k.dtype for k in found if isinstance(k, (Array, Scalar))} - {None}
    return {int(np.finfo(d).bits) for d in dtypes if d is not None and d.kind in "fc"}


ALIASING = {
    runtime.unbroadcast,
    runtime.unbroadcast_to,
    runtime.as_dtype,
    runtime.project,
    np.asarray,
    operator.pos,
}


def separate(function: ir.Function, gradients: int) -> None:
    """Copy, at the end, gradients that share memory with the caller's arrays or one another.

    `gradients` is the position of the gradients among the results.
    """
    definitions: dict[ir.Var, tuple[ir.Operand, ...] | ir.Assign] = {}
    for s in ir.walk(function.block):
        match s:
            case ir.Assign():
                definitions[s.target] = s
            case _:
                definitions.update(ir.joins(s))

    def roots(operand: ir.Operand, seen: set[ir.Var]) -> set[ir.Var | None]:
        """The variables whose memory an operand may share; None if that isn't its own."""
        if isinstance(operand, ir.Pack):
            return {None}
        if not isinstance(operand, ir.Var) or operand in seen:
            return set()
        seen.add(operand)
        definition = definitions.get(operand)
        if definition is None:
            return {None}
        if isinstance(definition, tuple):
            return set().union(*(roots(o, seen) for o in definition))
        if definition.function is np.broadcast_to:
            return {None}
        first = definition.args[0] if definition.args else None
        kind = first.kind if isinstance(first, ir.Var) else None
        if isinstance(definition.function, ir.Unit) and definition.function.fresh:
            return {operand}
        if _is_fresh_item(definitions.get(first)) if isinstance(first, ir.Var) else False:
            return {operand}
        taken = definition.function in (operator.getitem, getattr, list.pop)
        if taken and not isinstance(kind, Array):
            return {None}
        sources = definition.views
        if definition.function in ALIASING and isinstance(first, ir.Var):
            sources = (*sources, first)
        if not sources:
            return {operand}
        return set().union(*(roots(v, seen) for v in sources))

    used: set[ir.Var | None] = {None}
    others = [r for i, r in enumerate(function.block.results) if i != gradients]
    for operand in others:
        for v in ir.variables(operand):
            used |= roots(v, set())

    statements = function.block.statements

    def owned(operand: ir.Operand, before: ir.Statement | None) -> ir.Operand:
        if isinstance(operand, ir.Pack):
            return ir.Pack(operand.type, tuple(owned(item, before) for item in operand.items))
        if not isinstance(operand, ir.Var):
            return operand
        made = definitions.get(operand)
        if isinstance(operand.kind, Opaque) and isinstance(made, ir.Assign):
            # a named tuple or an object that the gradients are put into
            made.args = tuple(owned(a, made) for a in made.args)
            made.kwargs = tuple((k, owned(a, made)) for k, a in made.kwargs)
            return operand
        if not isinstance(operand.kind, Array):
            return operand
        found = roots(operand, set())
        if not found & used:
            used.update(found)
            return operand
        copy = operand.anew()
        at = len(statements) if before is None else statements.index(before)
        statements.insert(at, ir.Assign(copy, np.array, (operand,)))
        return copy

    results = list(function.block.results)
    results[gradients] = owned(results[gradients], None)
    function.block.results = tuple(results)


def _is_fresh_item(made: Any) -> bool:
    """Whether what is taken from a tuple is an array of its own."""
    if not isinstance(made, ir.Assign) or not isinstance(made.function, ir.Unit):
        return False
    return made.function.fresh


def rebuilt(
    adjoint: Adjoint,
    low: Lowerer,
    value: Any,
    leaf: Callable[[ir.Var], Any],
    fixed: Callable[[ir.Const], ir.Const] = lambda constant: constant,
) -> Any:
    """An operand with the nesting of a value, its leaves replaced, variables and constants."""
    match value:
        case ir.Var():
            return leaf(value)
        case Tuple():
            items = tuple(rebuilt(adjoint, low, item, leaf, fixed) for item in value.items)
            if value.type is tuple:
                return ir.Pack(tuple, items)
            inferred = Inferred(Opaque(value.type))
            if sets_its_items(value.type):
                return adjoint.emit(value.type, items, inferred=inferred, name="result")
            given = ir.Const(value.type), ir.Pack(tuple, items)
            return adjoint.emit(runtime.make_tuple, given, inferred=inferred, name="result")
        case Ref():
            thing = low.state.heap[value.id]
            if isinstance(thing, ListObject):
                cls = collections.deque if value.id in low.deques else thing.type
                if thing.var is not None:
                    return _of_type(adjoint, cls, leaf(thing.var))
                items = tuple(rebuilt(adjoint, low, item, leaf, fixed) for item in thing.items)
                return _of_type(adjoint, cls, ir.Pack(list, items))
            if isinstance(thing, DictObject) and thing.is_set:
                return _rebuilt_set(adjoint, thing, fixed)
            held = items_by_key(thing)
            if held is not None:
                pairs = tuple(
                    ir.Pack(tuple, (ir.Const(k), rebuilt(adjoint, low, v, leaf, fixed)))
                    for k, v in held.items()
                )
                return _of_type(adjoint, getattr(thing, "type", dict), ir.Pack(dict, pairs), thing)
            named = {k: rebuilt(adjoint, low, v, leaf, fixed) for k, v in thing.items.items()}
            if issubclass(thing.type, Records):
                fields = thing.items["dtype"], named["columns"]
                kind = Opaque(np.ndarray)
                return adjoint.emit(
                    runtime.structured, fields, inferred=Inferred(kind), name="records"
                )
            outside = stands_for.get(thing.type)
            if outside is not None:
                return adjoint.emit(
                    outside,
                    tuple(named.values()),
                    inferred=Inferred(Opaque(outside)),
                    name="result",
                )
            if set(named) == fields_of_plain(thing.type):
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
            return fixed(value)
        case Poison(message, span):
            raise UnsupportedError(message, span, "use one name for each kind of value")
        case Choice():
            raise UnsupportedError(
                "which of several objects is returned is known only when the function runs",
                None, "return one with the same keys and attributes on each branch",
            )  # fmt: skip
    raise UnsupportedError(
        f"a {type(value).__name__.lower()} can't be returned from a differentiated function", None
    )


def _of_type(adjoint: Adjoint, cls: type, items: ir.Operand, thing: Any = None) -> ir.Operand:
    """A list or dict with these items, of a class that derives from one, or a deque."""
    if cls in (list, tuple, dict) or issubclass(cls, Slotted) or ir.is_constant(items, None):
        return items
    args: list[Any] = [ir.Const(cls), items]
    if isinstance(thing, DictObject) and (thing.factory is not None or thing.is_namespace):
        args += [thing.factory or ir.Const(None), ir.Const(thing.is_namespace)]
    made = runtime.make_list if thing is None else runtime.make_dict
    return adjoint.emit(made, tuple(args), inferred=Inferred(Opaque(cls)), name="result")


def sets_its_items(cls: type) -> bool:
    """Whether a type of tuples called with its items has them as they are given: a named tuple.

    >>> from typing import NamedTuple
    >>> class Point(NamedTuple):
    ...     x: float
    >>> class Doubled(Point):
    ...     def __new__(cls, x):
    ...         return super().__new__(cls, 2 * x)
    >>> sets_its_items(Point), sets_its_items(Doubled)
    (True, False)
    """
    return hasattr(cls, "_fields") and written_new(cls) is None and init_owner(cls) is None


def fields_of_plain(cls: Any) -> set[str] | None:
    """The fields of a dataclass that, called with them, has them as they are given.

    None if there is more that it does, or if it is none.

    >>> @dataclasses.dataclass
    ... class Point:
    ...     x: float
    >>> @dataclasses.dataclass
    ... class Positive(Point):
    ...     def __post_init__(self):
    ...         assert self.x > 0
    >>> fields_of_plain(Point), fields_of_plain(Positive)
    ({'x'}, None)
    """
    if not has_made_init(cls) or hasattr(cls, "__post_init__"):
        return None
    frozen = vars(cls)["__dataclass_params__"].frozen
    code = [type(cls).__call__, cls.__new__, *([] if frozen else [cls.__setattr__])]
    if any(isinstance(c, types.FunctionType) for c in code):
        return None
    fields = dataclasses.fields(cls)
    plain = all(f.init and not _is_set_by_code(cls, f.name) for f in fields)
    return {f.name for f in fields} if plain else None


def _is_set_by_code(cls: type, name: str) -> bool:
    """Whether an attribute of the class is asked when objects of it get one of the name."""
    found = inspect.getattr_static(cls, name, None)
    return hasattr(type(found), "__set__") and not inspect.ismemberdescriptor(found)


def _rebuilt_set(
    adjoint: Adjoint, thing: DictObject, fixed: Callable[[ir.Const], ir.Const]
) -> ir.Operand:
    """A set of what is known when compiling: it has no derivative, as its members have none."""
    members = fixed(ir.Const(tuple(thing.items)))
    if members.value is None:
        return members
    kind = Opaque(thing.type)
    return adjoint.emit(thing.type, (members,), inferred=Inferred(kind), name="result")


def built(adjoint: Adjoint, low: Lowerer, value: Any) -> ir.Operand:
    operand: ir.Operand = rebuilt(adjoint, low, value, lambda v: v)
    return operand


def nesting(low: Lowerer, value: Any) -> Any:
    """The nesting of a result: leaf kinds in tuples, lists, dicts and objects of user classes.

    Each container is (type, {key: nesting}); each leaf is its kind, or None for what is no number.
    """
    match value:
        case ir.Var():
            return value.kind
        case Tuple():
            return value.type, {i: nesting(low, item) for i, item in enumerate(value.items)}
        case Ref():
            thing = low.state.heap[value.id]
            if isinstance(thing, ListObject):
                if thing.var is not None:
                    return thing.var.kind
                return list, {i: nesting(low, item) for i, item in enumerate(thing.items)}
            if isinstance(thing, DictObject) and thing.is_set:
                return None
            held = items_by_key(thing)
            if held is not None:
                return dict, {k: nesting(low, item) for k, item in held.items()}
            kind = thing.type
            if issubclass(kind, Records):
                return stands_for[kind], nesting(low, thing.items["columns"])[1]
            if kind in stands_for:  # by one array
                (item,) = thing.items.values()
                return nesting(low, item)
            return kind, {k: nesting(low, item) for k, item in thing.items.items()}
    return None
