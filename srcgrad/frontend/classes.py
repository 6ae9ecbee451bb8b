"""Objects of user classes: classes, construction, dataclasses, named tuples, copies."""

from __future__ import annotations

import collections
import dataclasses
import enum
import inspect
import operator
import sys
import types
from dataclasses import replace
from typing import Any

import gast
import numpy as np

from .. import ir
from ..kinds import Reference
from ..packages import WRITTEN_IN_PYTHON, lacks_room
from ..rules import registry
from ..signature import is_plain
from . import tables
from .copying import Copies, with_copies
from .cursors import Cursor
from .lookup import LOCAL
from .machine import Frame
from .names import scope_of
from .operations import checked_conversion
from .predicates import FALSE, NONE, STATIC_MODULES, is_none, is_static
from .structure import PRESENCE, is_table, may_be_absent
from .subclasses import added_by, has_made_init, is_named_tuple
from .values import (
    Bound,
    Choice,
    DictObject,
    Instance,
    ListObject,
    Partial,
    Place,
    Ref,
    Tuple,
    Value,
    as_value,
)

# What Python calls of an object where these functions are called with it.
PROTOCOL: dict[Any, str] = {
    abs: "__abs__", float: "__float__", int: "__int__", complex: "__complex__",
    round: "__round__", bool: "__bool__", hash: "__hash__", operator.index: "__index__",
    operator.neg: "__neg__", operator.pos: "__pos__", operator.abs: "__abs__",
}  # fmt: skip

# What it calls where there is no such method
OTHERWISE: dict[Any, tuple[str, ...]] = {
    float: ("__index__",), int: ("__index__", "__trunc__"), complex: ("__float__", "__index__"),
}  # fmt: skip

# What these methods must return
ANSWERS: dict[str, type] = {
    "__float__": float, "__int__": int, "__complex__": complex, "__index__": int, "__hash__": int,
}  # fmt: skip


class Classes(Copies):
    """Constructs objects."""

    def construct(self, cls: type, args: list[Value], kwargs: dict[str, Value]) -> Value:
        """An instance of a user class."""
        self.check_class(cls)
        making = written_new(cls)
        if making is not None:
            return self.made_by(making, cls, args, kwargs)
        if issubclass(cls, tuple) and hasattr(cls, "_fields"):
            return self.namedtuple_new(Place(cls), *args, **kwargs)
        if cls is types.SimpleNamespace:
            return self.new(Instance(cls, dict(kwargs)))
        if cls is collections.deque:
            given = dict(zip(("iterable", "maxlen"), args, strict=False), **kwargs)
            values, most = given.get("iterable", Tuple(())), given.get("maxlen", NONE)
            if not is_none(most):
                return self.construct(tables.Window, [values, most], {})
            return self.as_deque(self.builtin_list(values))
        if issubclass(cls, BaseException):
            return self.exception(cls, args, kwargs)
        if issubclass(cls, dict) and added_by(cls):
            made = self.new(DictObject({}, type=cls))
            self.call(self.attribute(made, "__init__"), args, kwargs)
            return made
        if issubclass(cls, tuple) and added_by(cls):
            return self.tuple_new(Place(cls), *args, **kwargs)
        if issubclass(cls, list) and added_by(cls):
            made = self.new(ListObject((), type=cls))
            self.call(self.attribute(made, "__init__"), args, kwargs)
            return made
        if cls in registry.kinds:
            return self.primitive(cls, registry.lookup(cls), args, kwargs)
        if self.is_made_of(cls, enum.Enum) and len(args) == 1:
            return Place(cls(self.key(args[0])))  # type: ignore[call-arg]
        library = getattr(sys.modules.get(cls.__module__), cls.__name__, None) is cls and (
            cls.__module__.partition(".")[0] in STATIC_MODULES
        )
        if library or not is_plain(cls):
            return self.unknown_call(cls, args, kwargs)
        table, block, start = self.table_of(cls), self.block, len(self.block.statements)
        ref = self.bare_object(Place(cls))
        self.initialise(cls, ref, args, kwargs)
        if table is not None:
            self.appended(block, start)
        return ref

    def made_by(
        self, making: Value, cls: type, args: list[Value], kwargs: dict[str, Value]
    ) -> Value:
        """What the `__new__` of a class makes, initialised if it is an object of the class."""
        table, block, start = self.table_of(cls), self.block, len(self.block.statements)
        found = self.call(making, [Place(cls), *args], kwargs)
        thing = self.on_heap(found)
        if isinstance(thing, Instance) and issubclass(thing.type, cls):
            assert isinstance(found, Ref)
            self.initialise(thing.type, found, args, kwargs, optional=True)
        elif isinstance(found, ir.Var) and isinstance(found.kind, Reference):
            self.initialise(cls, found, args, kwargs, optional=True)
        if table is not None:
            self.appended(block, start)
        return found

    def bare_object(self, cls: Value, /, *args: Value, **kwargs: Value) -> Ref | ir.Var:
        """`object.__new__(cls)`: an object without attributes."""
        made = self.key(cls)
        if inspect.isabstract(made):
            try:
                object.__new__(made)
            except TypeError as error:
                raise self.raised_by_python(error) from None
        table = self.table_of(made)
        return self.new(Instance(made, {})) if table is None else self.new_object(made, table)

    def initialise(
        self,
        cls: type,
        ref: Ref | ir.Var,
        args: list[Value],
        kwargs: dict[str, Value],
        optional: bool = False,
    ) -> None:
        """Call the `__init__` of a class, if it has one: else it takes arguments if `optional`."""
        maker = init_owner(cls)
        if maker is not None and has_made_init(maker):
            self.initialise_dataclass(maker, ref, args, kwargs)
            return
        found = self.class_attribute(cls, "__init__")
        if found is not None:
            self.call(Bound(found, ref), args, kwargs)
        elif (args or kwargs) and not optional:
            raise self.fault(TypeError, f"{cls.__name__}() takes no arguments")

    def tuple_new(self, cls: Value, items: Value | None = None, /) -> Tuple:
        """What `tuple` makes of items, for a class that derives from it."""
        found = Tuple(()) if items is None else self.builtin_tuple(items)
        if not isinstance(found, Tuple):
            raise self.refuse("how many items this tuple has must be known when compiling")
        return Tuple(found.items, self.key(cls), fresh=True)

    def namedtuple_new(self, cls: Value, /, *args: Value, **kwargs: Value) -> Value:
        """What a named tuple's class itself makes of the values of its fields."""
        made = self.key(cls)
        fields, defaults = made._fields, getattr(made, "_field_defaults", {})
        named = dict(zip(fields, args, strict=False), **kwargs)
        missing = [f for f in fields if f not in named and f not in defaults]
        if missing or len(args) > len(fields):
            raise self.fault(TypeError, f"{made.__name__}() takes {len(fields)} arguments")
        items = [named[f] if f in named else self.lifted_default(defaults[f]) for f in fields]
        return self.linked(Tuple(tuple(items), made, fresh=True))

    def exception(
        self, cls: type[BaseException], args: list[Value], kwargs: dict[str, Value]
    ) -> Value:
        """An exception, an object like others."""
        items: dict[Any, Value] = {"args": Tuple(tuple(args)), "%given": Tuple(tuple(args))}
        if issubclass(cls, StopIteration):
            items["value"] = args[0] if args else NONE
        ref = self.new(Instance(cls, items))
        found = self.class_attribute(cls, "__init__")
        if found is not None and not is_exception_init(getattr(found, "value", None)):
            self.call(Bound(found, ref), args, kwargs)
        return ref

    def initialise_exception(self, ref: Value, args: list[Value]) -> Value:
        """`Exception.__init__`."""
        thing = self.thing(ref)
        assert isinstance(ref, Ref) and isinstance(thing, Instance)
        self.state.heap[ref.id] = replace(thing, items={**thing.items, "args": Tuple(tuple(args))})
        return NONE

    def initialise_dataclass(
        self, cls: type, ref: Ref | ir.Var, args: list[Value], kwargs: dict[str, Value]
    ) -> None:
        every = vars(cls)["__dataclass_fields__"].values()
        fields = [f for f in every if _role(f) != "classvar"]
        positional = [f.name for f in fields if f.init and not f.kw_only]
        named = {f.name for f in fields if f.init}.difference(positional[: len(args)])
        if len(args) > len(positional):
            raise self.fault(TypeError, f"{cls.__name__}() takes {len(positional)} arguments")
        for name in kwargs:
            if name not in named:
                raise self.fault(TypeError, f"{cls.__name__}() can't be given {name!r}")
        values: dict[str, Value] = {}
        given = dict(zip(positional, args, strict=False), **kwargs)
        for f in fields:
            if f.name in given:
                values[f.name] = given[f.name]
            elif f.default is not dataclasses.MISSING:
                values[f.name] = self.lifted_default(f.default)
            elif f.default_factory is not dataclasses.MISSING:
                values[f.name] = self.call(as_value(f.default_factory), [], {})
            elif f.init:
                raise self.fault(TypeError, f"{cls.__name__}() is missing the argument {f.name!r}")
        handed_on = [values.pop(f.name) for f in fields if _role(f) == "initvar"]
        frozen, own = vars(cls)["__dataclass_params__"].frozen, self.thing(ref).type
        asked = self.described_assignment if frozen else self.assignment
        if any(asked(own, ref, name) is not None for name in values):
            for name, value in values.items():
                if frozen:
                    self.plain_setattr(ref, ir.Const(name), value)
                else:
                    self.set_attribute(ref, name, value)
        elif isinstance(ref, ir.Var):
            for name, value in values.items():
                self.write(ref, name, value)
        else:
            thing = self.thing(ref)
            self.state.heap[ref.id] = replace(thing, items={**thing.items, **values})
        after = self.class_attribute(self.thing(ref).type, "__post_init__")
        if after is not None:
            self.call(Bound(after, ref), handed_on, {})

    def dataclass_initialised(
        self, cls: ir.Const, ref: Any, *args: Value, **kwargs: Value
    ) -> Value:
        self.initialise_dataclass(cls.value, ref, list(args), kwargs)
        return NONE

    @staticmethod
    def is_made_of(cls: type, base: type) -> bool:
        return isinstance(cls, type) and issubclass(cls, base)

    def lifted_default(self, value: Any) -> Value:
        return value if isinstance(value, Value) else self.lift(value, None)

    def instance(self, value: Value) -> Instance | None:
        thing = self.thing(value)
        return thing if isinstance(thing, Instance) else None

    def protocol(self, function: Any, value: Value) -> Value | None:
        """`abs(value)` and the like of an object of a user class; None for what isn't one."""
        own = self.container_class(value)
        if own is not None:
            for name in asked_methods(function):
                added = self.added_attribute(value, own, name)
                if added is not None:
                    return self.conversion(function, name, self.call(added, [], {}))
            return None
        thing = self.instance(value)
        if function is bool and isinstance(self.on_heap(value) or thing, (DictObject, Instance)):
            return self.boolean(value)
        if thing is None:
            return None
        for name in asked_methods(function):
            found = self.class_attribute(thing.type, name)
            if found is not None:
                return self.conversion(function, name, self.call(Bound(found, value), [], {}))
        raise self.fault(TypeError, f"a {thing.type.__name__} has no {PROTOCOL[function]}")

    def conversion(self, function: Any, name: str, answer: Value) -> Value:
        """What a function makes of the answer of an object's method."""
        if name not in ANSWERS:
            return answer
        given: list[Value] = [ir.Const(function), ir.Const(ANSWERS[name]), ir.Const(name), answer]
        return self.inline(checked_conversion, given, {})

    def is_keepable(self, thing: Instance) -> bool:
        """Whether a list that exists at run time can keep an object: it is of a user's class."""
        return is_table(thing) or (
            thing.type not in (tables.View, tables.Keys, Cursor) and bool(thing.items)
        )

    # Dataclasses

    def fields_of(self, value: Value) -> tuple[Instance, list[str]]:
        thing = self.instance(value)
        if thing is None or not dataclasses.is_dataclass(thing.type):
            raise self.fault(TypeError, "this isn't an instance of a dataclass")
        return thing, [f.name for f in dataclasses.fields(thing.type)]

    def some_dataclass(self, value: Value) -> Value:
        """What a function of dataclasses is given: a choice, where only the run tells its class."""
        value = self.brought_in(value)
        caught = self.catcher(TypeError) is not None
        found: Value = self.object_or_none(value) if caught else self.spread(value)
        return found

    def dataclass_replace(self, value: Value, /, **changes: Value) -> Value:
        value = self.some_dataclass(value)
        if isinstance(value, Choice):
            return self.for_each(value, lambda v: self.dataclass_replace(v, **changes))
        thing, _ = self.fields_of(value)
        kept: dict[str, Value] = {}
        for f in vars(thing.type)["__dataclass_fields__"].values():
            if not f.init and f.name in changes:
                message = f"field {f.name} is declared with init=False"
                raise self.fault(ValueError, f"{message}, it cannot be specified with replace()")
            if f.init and f.name not in changes and _role(f) != "classvar":
                if _role(f) == "initvar" and f.default is dataclasses.MISSING:
                    message = f"InitVar {f.name!r} must be specified with replace()"
                    raise self.fault(ValueError, message)
                kept[f.name] = self.attribute(value, f.name)
        return self.construct(thing.type, [], {**kept, **changes})

    def dataclass_asdict(self, value: Value, /) -> Value:
        def plain(item: Value) -> Value:
            if isinstance(item, Place) and dataclasses.is_dataclass(type(item.value)):
                item = self.brought_in(item)
            thing = self.on_heap(item)
            if isinstance(thing, Instance) and dataclasses.is_dataclass(thing.type):
                return self.dataclass_asdict(item)
            if isinstance(thing, ListObject) and thing.var is None:
                return self.new(ListObject(tuple(map(plain, thing.items))))
            if isinstance(thing, DictObject):
                items = {with_copies(k, plain): plain(v) for k, v in thing.items.items()}
                return self.new(replace(thing, items=items, external=None))
            if isinstance(item, Tuple):
                return Tuple(tuple(map(plain, item.items)), item.type)
            return self.builtin_deepcopy(item)

        value = self.some_dataclass(value)
        if isinstance(value, Choice):
            return self.for_each(value, self.dataclass_asdict)
        _, names = self.fields_of(value)
        return self.new(DictObject({n: plain(self.attribute(value, n)) for n in names}))

    def dataclass_astuple(self, value: Value, /) -> Value:
        value = self.some_dataclass(value)
        if isinstance(value, Choice):
            return self.for_each(value, self.dataclass_astuple)
        _, names = self.fields_of(value)
        items = [self.attribute(value, n) for n in names]
        nested = [self.instance(item) for item in items]
        return Tuple(
            tuple(
                self.dataclass_astuple(item)
                if thing is not None and dataclasses.is_dataclass(thing.type)
                else self.builtin_deepcopy(item)
                for item, thing in zip(items, nested, strict=True)
            )
        )

    def dataclass_fields(self, value: Value, /) -> Value:
        value = self.some_dataclass(value)
        if isinstance(value, Choice):
            return self.for_each(value, self.dataclass_fields)
        thing = self.instance(value)
        cls = thing.type if thing is not None else self.key(value)
        if not dataclasses.is_dataclass(cls):
            raise self.fault(TypeError, "must be called with a dataclass type or instance")
        return Tuple(tuple(Place(f) for f in dataclasses.fields(cls)))

    def dataclass_test(self, value: Value, /) -> Value:
        value = self.spread(value)
        if isinstance(value, Choice):
            answer = self.answered(value, self.dataclass_test)
            return answer or self.for_each(value, self.dataclass_test)
        thing = self.instance(value)
        cls = thing.type if thing is not None else getattr(value, "value", None)
        return self.is_there(value) if dataclasses.is_dataclass(cls) else FALSE

    def dataclass_made(self, cls: Value | None = None, /, **options: Value) -> Value:
        """`@dataclass` on a class that is defined in the code being lowered."""
        if cls is None:
            return Partial(Place(dataclasses.dataclass), (), options)
        known = {k: self.key(v) for k, v in options.items()}
        return Place(dataclasses.dataclass(self.key(cls), **known))

    def dataclass_field(self, **options: Value) -> Value:
        """`field(...)` in a class that is defined in the code being lowered."""
        held: dict[str, Any] = {
            k: v.value if isinstance(v, ir.Const) else v for k, v in options.items()
        }
        return Place(dataclasses.field(**held))

    def builtin_vars(self, value: Value) -> Ref:
        """`vars(x)`: a dict with the same items as the object, whichever of them is written."""
        thing = self.instance(value)
        if thing is not None and lacks_room(thing.type):
            raise self.fault(TypeError, "vars() argument must have __dict__ attribute")
        if thing is None or not isinstance(value, Ref):
            raise self.refuse("vars() of this isn't supported")
        of_class = not dataclasses.is_dataclass(thing.type) and any(
            self.class_default(thing.type, name) is not ir.UNDEFINED for name in thing.items
        )
        if of_class or any(map(may_be_absent, thing.items.values())):
            raise self.refuse(PRESENCE, "set each attribute in __init__")
        if thing.external:
            return self.new(DictObject(dict(thing.items), "the __dict__ of an object"))
        self.state.heap.setdefault(-value.id, DictObject(thing.items))
        return Ref(-value.id)

    def builtin_locals(self) -> Ref:
        """`locals()`: a new dict of the parameters and of what has been assigned.

        What a loop assigns may be forgotten after it, and what belongs to other functions would
        have to be told from globals.
        """
        frame, values = self.frames[self.current], self.state.frames[self.current]
        node = frame.node
        inner = list(gast.walk(node)) if node is not None else []
        alone = frame.parent is None and not frame.namespace.cells
        if not (inner and alone) or any(isinstance(n, (gast.For, gast.While)) for n in inner):
            raise self.refuse("locals() isn't supported here", "name the variables themselves")
        several = [p for p in (node.args.vararg, node.args.kwarg) if p is not None]
        first = [*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs, *several]
        stored = [n for n in inner if isinstance(n, gast.Name) and isinstance(n.ctx, gast.Store)]
        stored.sort(key=lambda n: (n.lineno, n.col_offset))
        names = dict.fromkeys(n.id for n in (*first, *stored))
        known = {n: values[n] for n in names if n in values and n in frame.scope.local}
        return self.new(DictObject({n: v for n, v in known.items() if v is not ir.UNDEFINED}))

    # Classes

    def builtin_made_class(self, *args: Value, **kwargs: Value) -> Value:
        """`namedtuple(...)` and the like: a class made of what is known when compiling."""
        made = self.computed(collections.namedtuple, list(args), kwargs)
        if made is None:
            raise self.refuse("the fields of this class must be known when compiling")
        return made

    def class_definition(self, node: Any) -> None:
        """A class statement in the code being lowered: a class that holds abstract values."""
        bases = tuple(self.key(self.expression(base)) for base in node.bases)
        options = {k.arg: self.key(self.expression(k.value)) for k in node.keywords}
        outer, number = self.current, self.unique()
        frame = self.frames[outer]
        self.frames[number] = Frame(
            scope_of(node), frame.source, frame.namespace, outer, None, None, node.name
        )
        self.state.frames[number] = {}
        self.current = number
        methods = self.methods[number] = []
        annotations: dict[str, Any] = {}
        places: dict[str, Any] = {}
        try:
            for statement in node.body:
                if isinstance(statement, gast.AnnAssign) and isinstance(
                    statement.target, gast.Name
                ):
                    annotations[statement.target.id] = self.annotation(statement.annotation)
                self.run([statement])
                places.update((n, statement) for n in self.state.frames[number] if n not in places)
        finally:
            self.current = outer
        values = self.state.frames.pop(number)
        static = any(isinstance(b, type) and issubclass(b, enum.Enum) for b in bases)
        namespace: dict[str, Any] = {LOCAL: True, "__module__": "", "__annotations__": annotations}
        for name, value in values.items():
            if name.startswith("%"):
                continue
            thing: Any = value
            if name == "__slots__":
                self.at(places[name])
                thing = self.stated(value, name)
            if isinstance(value, Place) or (static and isinstance(value, ir.Const)):
                thing = value.value
            elif static and isinstance(value, Tuple):
                thing = self.key(value)
            elif static:  # it would be a member
                self.at(places[name])
                raise self.refuse(
                    f"an enumeration made here can only have constants, and {name!r} is none",
                    "define it outside of the function",
                )
            namespace[name] = thing
        if static:
            namespace.pop(LOCAL)

        def fill(body: dict[str, Any]) -> None:
            for name, thing in namespace.items():
                body[name] = thing

        self.at(node)
        try:
            cls = types.new_class(node.name, types.resolve_bases(bases), options, fill)
        except Exception as error:
            raise self.refuse(f"this class can't be made when compiling: {error}") from None
        for method in methods:
            method.owner = cls
        value = Place(cls)
        for name, attribute in values.items():
            naming = self.descriptor(attribute, "__set_name__")
            if naming is not None and isinstance(attribute, Ref):
                self.call(naming, [value, ir.Const(name)], {})
        for decorator in reversed(node.decorator_list):
            value = self.call(self.expression(decorator), [value], {})
        self.bind(node.name, value)

    def annotation(self, node: Any) -> Any:
        """What stands after the colon; only ClassVar and InitVar matter, to dataclasses."""
        text = gast.dump(node)
        return "typing.ClassVar" if "ClassVar" in text else object


def written_new(cls: type) -> Value | None:
    """The `__new__` that a user wrote, of a class of plain objects or named tuples; else None."""
    owner = next(base for base in cls.__mro__ if "__new__" in vars(base))
    raw = vars(owner)["__new__"]
    making = raw.__func__ if isinstance(raw, staticmethod) else raw
    if is_static(owner.__module__) or isinstance(raw, types.BuiltinFunctionType):
        return None
    if is_named_tuple(owner) or issubclass(cls, (BaseException, enum.Enum)):
        return None
    containers = (dict, list, str, int, float, complex, set, frozenset, np.ndarray)
    if issubclass(cls, containers) or not cls.__flags__ & WRITTEN_IN_PYTHON:
        return None
    return making if isinstance(making, Value) else Place(making)


def init_owner(cls: type) -> type | None:
    """The class whose `__init__` makes the objects of a class."""
    owner = next(base for base in cls.__mro__ if "__init__" in base.__dict__)
    return None if owner is object else owner


def _role(field: Any) -> str:
    """Whether a field of a dataclass is "field", or "initvar" or "classvar", which are none."""
    return str(field._field_type.name).strip("_").removeprefix("FIELD_").lower()


def is_exception_init(function: Any) -> bool:
    """Whether this is `Exception.__init__`, or that of another exception of Python's own."""
    if not isinstance(function, types.WrapperDescriptorType) or function.__name__ != "__init__":
        return False
    return issubclass(function.__objclass__, BaseException)


def asked_methods(function: Any) -> tuple[str, ...]:
    """The methods of which Python calls the first that an object has."""
    return (PROTOCOL[function], *OTHERWISE.get(function, ()))
