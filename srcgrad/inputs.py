"""The parameters of the function being compiled: abstract values and checks."""

from __future__ import annotations

import builtins
import collections
import operator
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import replace
from typing import Any

import numpy as np

from . import ir, runtime
from .analysis.aliasing import Aliasing
from .analysis.inference import Inferred
from .copies import containers, unshared
from .errors import user_error
from .frontend import tables
from .frontend.lookup import as_records
from .frontend.lower import Lowerer
from .frontend.predicates import is_member
from .frontend.restarts import NeedStatic
from .frontend.set_orders import Order
from .frontend.structure import holds_values, is_records, leaves
from .frontend.values import (
    IDENTITY,
    OWN,
    DictObject,
    Heap,
    Instance,
    ListObject,
    Path,
    Place,
    Ref,
    Tuple,
    Value,
    as_value,
)
from .kinds import (
    BOOL,
    FLOAT,
    INT,
    Array,
    Dimension,
    Fields,
    Held,
    Kind,
    Lesser,
    ListOf,
    Opaque,
    Scalar,
    Size,
    fresh_size,
    int_kind,
    kind_of,
)
from .rules.registry import made_of
from .signature import (
    DIFFERENTIATED,
    HELD,
    SHAPE,
    common,
    fields_of,
    held,
    is_held,
    is_record,
    is_structured,
    spread_path,
    whole,
)
from .trees import is_float as is_float_leaf


class Inputs:
    """The parameters of the function being compiled as abstract values.

    `related`: the lengths of which it is known how they are related, as `nearby` says it.
    """

    def __init__(
        self,
        lowerer: Lowerer,
        static: frozenset[Any],
        lists: set[Any],
        related: Mapping[int, tuple[int, int]],
    ) -> None:
        self.lowerer, self.static, self.lists, self.related = lowerer, static, lists, related
        bases = {least: fresh_size(True) for least, _ in related.values()}
        self.sizes = {n: replace(bases[b], offset=by) for n, (b, by) in related.items()}
        self.paths: dict[Any, Any] = {}
        self.parts = 0  # of the first statements: those that take the arguments apart
        self.copies: list[tuple[str, Value, Value]] = []  # of arguments that are written
        self.arrays: dict[ir.Var, ir.Var] = {}  # of which there are copies too
        self.looked_up = False  # whether a dict is one value
        self.snapshots: dict[ir.Var, ir.Assign] = {}  # of what lists of objects hold, by the list

    def value(self, value: Any, var: ir.Var | None, path: Any, access: Any = None) -> Value:
        """The abstract value of an argument; `access` makes the variable that holds it."""

        def variable(kind: Kind) -> ir.Var:
            if var is not None:
                var.kind = kind
                return var
            made: ir.Var = access(kind)
            return made

        low = self.lowerer
        if isinstance(value, np.ndarray) and type(value) in made_of:
            holder, (maker, *names) = variable(Opaque(type(value))), made_of[type(value)]
            parts = [
                self.value(
                    getattr(value, n), None, (*path, n), self._item(holder, builtins.getattr, n)
                )
                for n in names
            ]
            return low.call(ir.Const(maker), parts, {})
        if is_structured(value):
            holder = variable(Opaque(np.ndarray))
            fields = {
                n: self.value(f, None, (*path, n), self._item(holder, operator.getitem, n))
                for n, f in fields_of(value).items()
            }
            columns = low.new(DictObject(fields))
            return self.held(holder, as_records(value, columns, holder.name), path)
        if isinstance(value, np.ndarray):
            self.check_array(value, path[1] if len(path) > 1 else "an argument")
            asked = [(*path, SHAPE, axis) for axis in range(value.ndim)]
            return variable(self.array_kind(value, asked))
        if isinstance(value, (int, np.integer)) and not isinstance(value, bool):
            low.check_class(type(value))
            if path in self.static:
                return ir.Const(value)
            size = self.sizes[int(value)] if value in self.related else None
            leaf = variable(int_kind(size) if isinstance(value, int) else kind_of(value))
            leaf.origins = frozenset([path])
            return leaf
        if isinstance(value, (np.number, float, complex)):
            low.check_class(type(value))
            return variable(kind_of(value, self.sizes))
        if isinstance(value, (list, tuple)):
            kind = self.list_kind(value, path)
            if kind is not None:
                if is_records(kind):
                    held = self.records(variable(Opaque(type(value))), kind)
                else:
                    held = variable(kind)
                ref = self.whole_list(value, held, spread_path(path))
                self.belongs(ref, path)
                return ref
        if isinstance(value, (tuple, list)):
            low.check_class(type(value))
            holder = variable(Opaque(type(value)))
            items = tuple(
                self.value(item, None, (*path, i), self._item(holder, operator.getitem, i))
                for i, item in enumerate(value)
            )
            if isinstance(value, tuple):
                return Tuple(items, type(value))
            return self.held(holder, ListObject(items, None, holder.name, type=type(value)), path)
        if type(value) is collections.deque:
            holder = variable(Opaque(collections.deque))

            def listed(kind: Kind) -> ir.Var:
                return low.emit(list, (holder,), inferred=Inferred(kind), name=holder.name)

            found = low.as_deque(self.value(list(value), None, path, listed))
            if value.maxlen is None:
                return found
            window: dict[Any, Any] = {"items": found, "maxlen": ir.Const(value.maxlen)}
            return self.held(holder, Instance(tables.Window, window, holder.name), path)
        if isinstance(value, dict):
            low.check_class(type(value))
            holdable = self.is_holdable(value, path)
            if holdable and is_held(path, self.static) and (kind := self.dict_kind(value)):
                lookup = variable(kind)
                self.lists.add(spread_path(path))
                where: dict[Any, Value] = {"where": self.whole_dict(lookup)}
                ref = low.new(Instance(tables.HeldOutside, where, lookup.name))
                self.looked_up = True
                self.belongs(ref, path)
                return ref
            holder = variable(Opaque(dict))
            entries = {
                k: self.value(v, None, (*path, k), self._item(holder, operator.getitem, k))
                for k, v in value.items()
            }
            thing = low.dict_from_outside(value, entries, holder.name)
            if type(value) in (collections.OrderedDict, collections.defaultdict):
                made = getattr(value, "default_factory", None)
                factory = None if made is None else as_value(made)
                thing = replace(thing, factory=factory)
            ref = self.held(holder, thing, path)
            if holdable:
                low.holdable[ref.id] = (*path, HELD)
            return ref
        if isinstance(value, (set, frozenset)) and all(map(is_member, value)):
            low.check_class(type(value))
            holder, members = variable(Opaque(type(value))), {v: low.lift(v, None) for v in value}
            low.note_outer_keys(value)
            order = Order.of(value)
            made = DictObject(members, holder.name, True, type=type(value), order=order)
            return self.held(holder, made, path)
        if is_record(value):
            holder = variable(Opaque(type(value)))
            attributes = {
                k: self.value(v, None, (*path, k), self._item(holder, builtins.getattr, k))
                for k, v in runtime.attributes(value).items()
            }
            return self.held(holder, Instance(type(value), attributes, holder.name), path)
        if isinstance(value, (np.random.Generator, np.random.RandomState)):
            return variable(Opaque(type(value)))
        if type(value) is str and var is not None:
            low.texts[value] = variable(Opaque(str))
        return Place(value)

    def is_holdable(self, value: dict[Any, Any], path: Any) -> bool:
        """Whether an argument, or a part of one, may be a dict that is one value."""
        if path[0] != "argument" or type(value) is not dict or spread_path(path) in self.static:
            return False
        return (DIFFERENTIATED, path[1]) not in self.static and held(value) is not None

    def held(self, holder: ir.Var, thing: Heap, path: Any) -> Ref:
        """The reference to what stands for an argument, which a variable holds as it is."""
        ref = self.lowerer.new(thing)
        self.lowerer.holders[ref.id] = holder
        self.belongs(ref, path)
        return ref

    def belongs(self, ref: Ref, path: Any) -> None:
        """Note of which argument this is a part."""
        if path[0] == "argument":
            self.lowerer.of_arguments[ref.id] = path[1]

    def own(self, values: dict[str, Value]) -> dict[str, Value]:
        """The arguments, with copies in the place of those whose lists, dicts, objects are written.

        What is differentiated stays what was passed.
        """
        low = self.lowerer
        written = [name for name in values if (OWN, name) in low.known_sites]
        copies = {name: unshared(low, values[name], self.arrays) for name in written}
        self.copies = [(name, values[name], copy) for name, copy in copies.items()]
        return values | copies

    def want_own(self, function: ir.Function) -> None:
        """Begin again with a copy of an argument that is a list, of which a part may be written:
        a list in it, or an array that one of its objects has.
        """
        aliasing = Aliasing(function.block)
        lists = [p for p in function.params if isinstance(p.kind, ListOf)]
        found: list[tuple[ir.Var, Any, Any]] = [(p, p.name, None) for p in lists]
        for made in self.snapshots.values():
            assert is_records(made.target.kind)
            found.append((made.target, made.target.kind.item.outside, made.span))
        for v, name, span in found:
            site = (OWN, name)
            if name and site not in self.lowerer.known_sites and aliasing.changes(v):
                raise NeedStatic(frozenset([site]), f"{v.name} is written here", span)

    def overwritten(self) -> dict[ir.Var, str]:
        """What is found in arguments where other things stand in the end, and in which."""
        found: dict[ir.Var, str] = {}
        for name, passed, copy in self.copies:
            left = set(leaves(self.lowerer, copy))
            found.update((v, name) for v in leaves(self.lowerer, passed) if v not in left)
        return found

    def check_owned(
        self, values: dict[str, Value], params: list[ir.Var], free: Collection[ir.Var]
    ) -> None:
        """Have it checked that what is written isn't found in two places, or outside, too."""
        low, heap = self.lowerer, self.lowerer.state.heap
        self.take_snapshots()
        if low.state.unreachable or low.on_free is None:
            return
        held = {p: found for p in params if (found := containers(heap, values.get(p.name)))}
        owned = [p for p in params if (OWN, p.name) in low.known_sites]
        rows = any(isinstance(p.kind, ListOf) and not holds_values(p.kind) for p in owned)
        if owned and (rows or self.snapshots or sum(map(len, held.values())) > 1):
            outside = [v for v in self.snapshots if v in free]
            others = [*(p for p in held if p not in owned), *outside]
            self._check(runtime.check_containers_apart, owned, others)
        if copies := [v for v in self.arrays.values() if isinstance(v.kind, Array)]:
            others = [v for v in (*params, *free) if v not in owned]
            check = self._check(runtime.check_arrays_apart, owned, others)
            low.deep_copies.append((check, tuple(copies)))
        read = {path for path, thing in low.guards.items() if is_record(thing)}
        self._check_not_held(owned, {*read, *low.lifted})
        types = {heap[number].type for found in held.values() for number in found}
        written = {taken.path: taken.thing for taken in low.taken_in.values()}
        written.update((path, journal.thing) for path, journal in low.journals.items())
        self._check_not_held([*held], {p for p, thing in written.items() if type(thing) in types})

    def _check_not_held(self, params: list[ir.Var], paths: set[Path]) -> None:
        low = self.lowerer
        if params and paths and low.on_free is not None:
            things = [low.on_free(path, path.read()) for path in sorted(paths, key=str)]
            self._check(runtime.check_not_held, params, list(map(low.operand, things)))

    def _check(self, function: Any, *operands: list[Any]) -> ir.Statement:
        """A check where the arguments have been taken apart."""
        self.lowerer.act(function, *(ir.Pack(tuple, tuple(given)) for given in operands))
        statements = self.lowerer.block.statements
        statements.insert(self.parts, check := statements.pop())
        return check

    def array_kind(self, value: np.ndarray[Any, Any], asked: Sequence[Any]) -> Kind:
        """The kind of an array from outside; `asked` has for each axis what asks for its length."""
        kind = kind_of(value, self.sizes)
        assert isinstance(kind, Array) and kind.shape is not None
        origins = self.lowerer.size_origins
        shape: list[Dimension] = []
        for n, length, path in zip(kind.shape, value.shape, asked, strict=True):
            if path in self.static:
                n = length
            if isinstance(n, Size):
                origins[n.base] = origins.get(n.base, frozenset()) | {path}
                self.lowerer.outer_sizes.add(n.base)
            shape.append(n)
        return Array(value.dtype, tuple(shape))

    def list_kind(
        self, value: list[Any] | tuple[Any, ...], path: Any, short: bool = False
    ) -> Kind | None:
        """The kind of a list or tuple that is one value; None if each of its items is.

        `short`: it is one however few they are, if they are alike.
        """
        items = common(value) if short else whole(value, path, self.static)
        if items is None:
            return None
        kind = _found(self.item_kind(items), path[1] if path[:1] == ("argument",) else "")
        if is_records(ListOf(kind)) and (IDENTITY,) in self.lowerer.known_sites:
            kind = Fields((*kind, INT), kind.type, (*kind.names, IDENTITY), kind.outside)
        return ListOf(kind, type=type(value))

    def records(self, holder: ir.Var, kind: ListOf) -> ir.Var:
        """The list of what objects or dicts hold, as tuples: at the beginning of the program."""
        if holder not in self.snapshots:
            target, names = ir.Var(holder.name, kind, True), map(ir.Const, _names(kind.item))
            made = ir.Assign(target, runtime.records, (holder, *names), span=self.lowerer.span)
            self.snapshots[holder] = made
            self.lowerer.lists_of_records[target] = made
        return self.snapshots[holder].target

    def take_snapshots(self) -> None:
        """Have it taken down at the beginning what the objects in lists from outside hold."""
        low = self.lowerer
        if (self.snapshots or self.looked_up) and (low.taken_in or low.journals):
            raise low.refuse(
                "objects in a list or dict are read here, and others are written, which may be "
                "among them"
            )
        low.block.statements[self.parts : self.parts] = self.snapshots.values()

    def dict_kind(self, value: dict[Any, Any]) -> Held | None:
        """The kind of a dict that is one value; None if it can't be."""
        parts = held(value)
        if parts is None:
            return None
        keys, values = map(self.item_kind, parts)
        return Held(keys, value=values)

    def item_kind(self, items: Any) -> Any:
        """The kind of what `common` or `held` says, as `ListOf` has it."""
        if items is str:
            return Opaque(str)
        if items == (int, float):
            return Scalar(FLOAT.dtype, None, mixed=Lesser.WHOLE)
        if isinstance(items, type):
            return _NUMBERS.get(items) or Scalar(np.dtype(items), False)
        cls, *parts = items
        if type(parts[0]) is tuple and set(map(type, parts[0])) == {str}:
            names, *parts = parts
            self.lowerer.check_class(cls)
            return Fields(map(self.item_kind, parts), cls, names, "")
        if cls is dict:
            keys, values = map(self.item_kind, parts)
            return Held(keys, value=values)
        if cls is np.ndarray:
            dtype, shape = parts
            if isinstance(shape, int):
                self.lowerer.vary_sizes()
                return Array(dtype, tuple(fresh_size() for _ in range(shape)))
            return kind_of(np.broadcast_to(np.zeros((), dtype), shape), self.sizes)
        kinds = tuple(map(self.item_kind, parts))
        if cls is list:
            return ListOf(*kinds)
        self.lowerer.check_class(cls)
        return kinds if cls is tuple else Fields(kinds, cls)

    def whole_list(self, value: list[Any] | tuple[Any, ...], var: ir.Var, spread: Any) -> Ref:
        """The abstract value of a list that is one value; `spread` is what it isn't in."""
        self.lists.add(spread)
        if not is_records(var.kind):  # these are better kept, or in tables, than one by one
            var.origins = frozenset([spread])
        self.lowerer.lengths[var] = self.sizes.setdefault(len(value), fresh_size(True))
        return self.lowerer.new(ListObject((), var, var.name, type=type(value)))

    def whole_dict(self, var: ir.Var) -> Ref:
        """The lookup of a dict that is one value."""
        return self.lowerer.new(ListObject((), var, var.name))

    @staticmethod
    def check_array(value: np.ndarray[Any, Any], name: str) -> None:
        """Refuse arrays that don't behave like ndarrays of numbers."""
        if type(value) is not np.ndarray:
            kind = f"{type(value).__module__.partition('.')[0]}.{type(value).__qualname__}"
            raise user_error(
                TypeError,
                f"{name!r} is a {kind}, whose operations differ from those of a plain array; "
                "convert it: np.asarray(...)",
            )
        if value.dtype.kind == "O":
            raise user_error(
                TypeError,
                f"{name!r} is an array of Python objects; give it a dtype of numbers: "
                ".astype(float)",
            )
        if value.dtype.names is not None:
            raise user_error(
                TypeError,
                f"{name!r} is a structured array of more than numbers and texts; pass its fields "
                "as separate arrays",
            )

    def _item(self, holder: ir.Var, function: Any, key: Any) -> Callable[[Kind], ir.Var]:
        def access(kind: Kind) -> ir.Var:
            text = key if isinstance(key, str) else f"{holder.name}_{key}"
            text = text if text.isidentifier() else holder.name
            var = self.lowerer.emit(
                function, (holder, ir.Const(key)), inferred=Inferred(kind), name=text
            )
            var.user = True
            return var

        return access


def _found(kind: Any, where: str) -> Any:
    """The kind of an object in a list outside, with where that is."""
    if not isinstance(kind, Fields) or kind.outside is None:
        return kind
    return Fields((_found(part, where) for part in kind), kind.type, kind.names, where)


def _names(item: Fields) -> tuple[Any, ...]:
    """What `runtime.records` takes out of an object or dict."""
    return tuple(
        (name, *_names(part))
        if isinstance(part, Fields) and part.outside is not None
        else id
        if name == IDENTITY
        else name
        for name, part in zip(item.names, item, strict=True)
    )


_NUMBERS = {int: INT, float: FLOAT, bool: BOOL, complex: Scalar(np.dtype(np.complex128))}


def chosen(
    low: Lowerer,
    function: str,
    arguments: dict[str, Any],
    values: dict[str, Value],
    which: tuple[str, int | str | None],
) -> tuple[str, Any, Value]:
    """An argument to differentiate: what to call it, its value and its abstract value."""
    name, part = which
    value, abstract = arguments[name], values[name]
    if part is None:
        return name, value, abstract
    if isinstance(part, str):
        if part not in value:
            raise user_error(
                TypeError, f"argnums={part!r}, but {function} was called without {part}"
            )
        return part, value[part], low.dictionary(abstract).items[part]
    label = f"{name}[{part}]"
    if not 0 <= part < len(value):
        raise user_error(
            TypeError,
            f"argnums names {label}, but {function} was called with {len(value)} "
            f"argument{'s' * (len(value) != 1)} for *{name}",
        )
    assert isinstance(abstract, Tuple)
    return label, value[part], abstract.items[part]


def check_input(name: str, value: Any) -> None:
    """Refuse an argument that can't be differentiated.

    What objects hold besides floats is let through: it is passed on unchanged.
    """
    if not _check_leaves(name, value, name):
        held = _as_an_array(value) or " without numbers in it"
        raise user_error(
            TypeError,
            f"argument {name!r} can't be differentiated: it is a {type(value).__name__}{held}",
        )


def _check_leaves(name: str, value: Any, place: str, within: bool = False) -> int:
    """The number of leaves that can be differentiated; `within` an object, others may be there."""
    if isinstance(value, collections.deque):
        message = f"{place} can't be differentiated: it is a deque; pass a list instead"
        raise user_error(TypeError, message)
    if isinstance(value, (list, tuple)):
        return sum(_check_leaves(name, v, f"{place}[{i}]", within) for i, v in enumerate(value))
    if isinstance(value, dict):
        return sum(_check_leaves(name, v, f"{place}[{k!r}]", within) for k, v in value.items())
    if is_record(value):
        held = runtime.attributes(value)
        return sum(_check_leaves(name, v, f"{place}.{k}", True) for k, v in held.items())
    if is_structured(value):
        fields = fields_of(value).items()
        return sum(_check_leaves(name, f, f"{place}[{n!r}]", True) for n, f in fields)
    if is_float_leaf(value):
        return 1
    if within or (value is None and place != name):
        return 0
    what = f"argument {name!r} can't be differentiated: "
    what += "it is" if place == name else f"{place} is"
    apart = "leave it out of argnums" if place == name else "make it an argument of its own"
    if isinstance(value, (np.ndarray, np.generic)):
        kind = "an array" if isinstance(value, np.ndarray) else "a number"
        message = f"{what} {kind} of dtype {value.dtype}; convert it to float first"
    elif isinstance(value, int):
        article = "an int" if type(value) is int else f"a {type(value).__name__}"
        message = f"{what} {article}, not a float; pass float(...), or {apart}"
    else:
        message = f"{what} a {type(value).__name__}"
        message += _as_an_array(value) or f", not a float or an array of floats; {apart}"
    raise user_error(TypeError, message)


def _as_an_array(value: Any) -> str:
    """How to pass what isn't an array and can be made one; nothing for the rest."""
    if hasattr(value, "toarray"):
        return "; pass its .data, and make the matrix in the function"
    return "; pass an array: np.asarray(...)" if hasattr(value, "__array__") else ""
