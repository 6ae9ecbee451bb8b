"""Objects of user classes: construction, dataclasses, named tuples."""

from __future__ import annotations

import collections
import dataclasses
import sys
import types

from ..analysis.inference import Inferred
from ..kinds import (
    Opaque,
)
from ..rules import registry
from ..signature import is_plain
from .attributes import STATIC_MODULES
from .builtin_functions import BuiltinFunctions
from .values import (
    Bound,
    Instance,
    Place,
    Ref,
    Tuple,
    Value,
)


class Classes(BuiltinFunctions):
    """Constructs objects."""

    def construct(self, cls: type, args: list[Value], kwargs: dict[str, Value]) -> Value:
        """An instance of a user class."""
        fields = getattr(cls, "_fields", None)
        if issubclass(cls, tuple) and fields is not None:
            defaults = getattr(cls, "_field_defaults", {})
            named = dict(zip(fields, args, strict=False), **kwargs)
            items = [named[f] if f in named else self.lift(defaults[f], None) for f in fields]
            return Tuple(tuple(items), cls)
        if cls is types.SimpleNamespace:
            return self.new(Instance(cls, dict(kwargs)))
        if cls is collections.deque:
            if len(args) > 1 or kwargs:
                raise self.refuse("a deque with a maximal length isn't supported", "use a list")
            return self.builtin_list(*args)
        if issubclass(cls, BaseException):
            return self.emit(
                cls, tuple(self.operand(a) for a in args), inferred=Inferred(Opaque(cls))
            )
        if cls in registry.kinds:
            return self.primitive(cls, registry.lookup(cls), args, kwargs)
        library = getattr(sys.modules.get(cls.__module__), cls.__name__, None) is cls and (
            cls.__module__.partition(".")[0] in STATIC_MODULES
        )
        if library or not is_plain(cls):
            return self.unknown_call(cls, args, kwargs)
        ref = self.new(Instance(cls, {}))
        if dataclasses.is_dataclass(cls) and not _own_init(cls):
            self.initialise_dataclass(cls, ref, args, kwargs)
        else:
            found = self.class_attribute(cls, "__init__")
            if found is not None:
                self.call(Bound(found, ref), args, kwargs)
            elif args or kwargs:
                raise self.refuse(f"{cls.__name__}() takes no arguments")
        return ref

    def initialise_dataclass(
        self, cls: type, ref: Ref, args: list[Value], kwargs: dict[str, Value]
    ) -> None:
        names = [f for f in dataclasses.fields(cls) if f.init]
        if len(args) > len(names):
            raise self.refuse(f"{cls.__name__}() takes {len(names)} arguments")
        values: dict[str, Value] = {}
        given = dict(zip((f.name for f in names), args, strict=False), **kwargs)
        for f in dataclasses.fields(cls):
            if f.name in given:
                values[f.name] = given[f.name]
            elif f.default is not dataclasses.MISSING:
                values[f.name] = self.lift(f.default, None)
            elif f.default_factory is not dataclasses.MISSING:
                values[f.name] = self.call(Place(f.default_factory), [], {})
            elif f.init:
                raise self.refuse(f"{cls.__name__}() is missing the argument {f.name!r}")
        thing = self.state.heap[ref.id]
        assert isinstance(thing, Instance)
        self.state.heap[ref.id] = Instance(cls, values, thing.external)
        after = self.class_attribute(cls, "__post_init__")
        if after is not None:
            self.call(Bound(after, ref), [], {})


def _own_init(cls: type) -> bool:
    for base in cls.__mro__:
        if "__init__" in base.__dict__:
            init = base.__dict__["__init__"]
            params = getattr(base, "__dataclass_params__", None)
            own = "__dataclass_fields__" in base.__dict__
            generated = params is not None and params.init and own
            return not generated or init.__code__.co_filename != "<string>"
    return False
