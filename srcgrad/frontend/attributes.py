"""Attributes of arrays, containers, objects, classes and modules."""

from __future__ import annotations

import array
import collections
import copy
import functools
import inspect
import operator
import sys
import types
from typing import Any

import numpy as np

from .. import ir
from ..analysis.alternatives import classes_of_kind, is_mixed
from ..analysis.inference import Inferred
from ..kinds import BOOL, Array, ListOf, Opaque, Reference, Scalar, TupleOf, fresh_size, least
from ..packages import has_of_class, is_of_package, lacks_room, of_class, told
from ..rules import registry
from ..runtime import attributes
from .lookup import LOCAL
from .managers import followed
from .operations import (
    computed_or,
    dispatched_method,
    namedtuple_asdict,
    namedtuple_make,
    namedtuple_new,
    namedtuple_replace,
)
from .predicates import FALSE, SIMPLE, is_range, is_setting, is_static, may_be_object
from .restarts import NeedStatic
from .standing import Standing
from .structure import ABSENT, is_absent, is_long, may_be_absent
from .subclasses import BUILTINS, added_by, has_made_init, is_named_tuple, made_init
from .values import (
    Bound,
    Choice,
    Closure,
    DictObject,
    Generator,
    Instance,
    Journal,
    ListObject,
    Partial,
    Path,
    Place,
    Ref,
    Sequence,
    Slice,
    Super,
    Tuple,
    Value,
    as_value,
    layout,
)
from .wording import described, object_type

DESCRIBING = ("ndim", "shape", "size", "dtype")  # in a rule, sequences too have these attributes

ARRAY_ATTRIBUTES = frozenset(
    "shape ndim size dtype T mT real imag flat nbytes itemsize strides base flags data "
    "device".split()
)

RANGE = ("start", "stop", "step")  # the attributes of ranges and slices
NAMEDTUPLE = {
    "_make": namedtuple_make,
    "_replace": namedtuple_replace,
    "_asdict": namedtuple_asdict,
}


FLAGS: type = type(np.empty(0).flags)
MEMBERS = types.GetSetDescriptorType, types.MemberDescriptorType


def is_made_anew(thing: Any, name: str) -> bool:
    """Whether an attribute is another object each time: a column of a table, say."""
    found = getattr(thing, name, None)
    plain = isinstance(found, (*SIMPLE, np.generic)) or callable(found)
    return not plain and getattr(thing, name, None) is not found


def is_exception(cls: type) -> bool:
    return issubclass(cls, BaseException)


class Attributes(Standing):
    """Evaluates `value.name`."""

    def expression_Attribute(self, node: Any) -> Value:
        return self.attribute(self.expression(node.value), node.attr)

    def attribute(self, value: Value, name: str) -> Value:
        """`value.name`."""
        if self.is_asked_for_none(value):
            value = self.or_none(value)
        match value:
            case Super():
                return self.inherited(value, name)
            case Choice():
                return self.for_each(value, lambda v: self.attribute(v, name))
            case Tuple():
                self.check_given(value)
                fields = getattr(value.type, "_fields", ())
                if hasattr(value.type, "n_sequence_fields"):  # sys.float_info
                    fields = getattr(value.type, "__match_args__", ())[: len(value.items)]
                if name in fields:
                    return value.items[fields.index(name)]
                if fields and name in ("_replace", "_asdict"):
                    return Bound(ir.Const(NAMEDTUPLE[name]), value)
                found = self.class_attribute(value.type, name)
                if found is not None and value.type is not tuple:
                    if isinstance(getattr(found, "value", None), MEMBERS):
                        raise self.refuse(f"{name!r} of this object can't be followed")
                    return self.bound(found, value, value.type)
                if self.fixed_span and name in DESCRIBING:
                    return self.attribute(self.call(ir.Const(np.asarray), [value], {}), name)
                if not has_of_class(value.type, name):
                    message = f"{value.type.__name__!r} object has no attribute {name!r}"
                    raise self.fault(AttributeError, message, given=(message,))
                return self.member(value, value.type, name)
            case Journal():
                found = getattr(type(value.thing), name, None)
                if found is None:
                    kind_name = type(value.thing).__name__
                    raise self.fault(AttributeError, f"{kind_name!r} has no attribute {name!r}")
                return Bound(ir.Const(found), value)
            case Ref():
                thing = self.state.heap[value.id]
                if isinstance(thing, Instance):
                    return self.instance_attribute(value, thing, name)
                if name == "__class__":
                    return self.builtin_type(value)
                added = self.added_attribute(value, thing.type, name)
                if added is not None:
                    return added
                kind: type = list if isinstance(thing, ListObject) else dict
                if is_long(thing):
                    kind = tuple
                if name == "copy" and value.id in self.bounded:
                    return Bound(Place(copy.copy), value)
                if name == "maxlen" and value.id in self.deques:
                    return ir.Const(self.bounded.get(value.id))
                if self.may_be_deque(thing) and hasattr(collections.deque, name) > hasattr(
                    list, name
                ):
                    return Bound(ir.Const(getattr(collections.deque, name)), value)
                if isinstance(thing, DictObject) and thing.is_set:
                    kind = set
                if self.fixed_span and kind is list and name in DESCRIBING:
                    return self.attribute(self.call(ir.Const(np.asarray), [value], {}), name)
                if isinstance(thing, DictObject):
                    plain: type = set if thing.is_set else dict
                    counts = issubclass(thing.type, collections.Counter) and name == "update"
                    kind = plain if hasattr(plain, name) and not counts else thing.type
                if not has_of_class(kind, name):
                    computed = self.computed_attribute(value, thing, name)
                    if computed is not None:
                        return computed
                    raise self.fault(AttributeError, f"{kind.__name__!r} has no attribute {name!r}")
                return self.member(value, kind, name)
            case ir.Const():
                return self.constant_attribute(value, name)
            case ir.Var() if isinstance(value.kind, Reference):
                return self.reference_attribute(value, name)
            case ir.Var():
                return self.variable_attribute(value, name)
            case Sequence() if is_range(value) and name in RANGE:
                bound: Value = self.int_bounds(value)[RANGE.index(name)]
                return bound
            case Slice() if name in RANGE:
                part: Value = getattr(value, name)
                return part
            case Generator() if name in ("__next__", "send"):
                self.asked_where(value)
            case Closure() | Partial() | Bound():
                if name == "__name__" and isinstance(value, Closure):
                    return ir.Const(value.name)
                if isinstance(value, Bound) and name == "__self__":
                    return value.receiver
                if isinstance(value, Bound) and isinstance(value.function, ir.Const):
                    if isinstance(value.function.value, types.FunctionType):
                        # Methods have the attributes of the functions that they bind
                        bound = value.function
                        return bound if name == "__func__" else self.attribute(bound, name)
        raise self.refuse(f"attribute {name!r} of {described(value)} isn't supported")

    def member(self, value: Value, cls: type, name: str) -> Value:
        """A method of a value of a class of Python's or NumPy's; or what isn't one, computed."""
        if name == "__class__":
            return self.builtin_type(value)
        found = getattr(cls, name)
        if callable(found) or name.startswith("__"):
            return Bound(ir.Const(found), value)
        if not isinstance(value, ir.Var) or not isinstance(value.kind, (Array, Scalar)):
            raise self.refuse(f"{name!r} of this object can't be followed")
        return self.emit(getattr, (value, ir.Const(name)), name=name)

    def added_attribute(self, value: Value, cls: type, name: str) -> Value | None:
        """An attribute that a user's class adds to a container; None where there is none."""
        added = {} if cls in BUILTINS else added_by(cls)
        if name not in added:
            return None
        self.guard_member(cls, next(b for b in cls.__mro__ if name in vars(b)), name)
        return self.bound(as_value(added[name]), value, cls)

    def computed_attribute(
        self, value: Ref, thing: ListObject | DictObject, name: str
    ) -> Value | None:
        """What the `__getattr__` of a user's container returns, or its `__dict__` has: itself."""
        if isinstance(thing, DictObject) and thing.is_namespace and name in thing.items:
            return self.known(f".{name}", thing.items[name])
        getter = self.added_attribute(value, thing.type, "__getattr__")
        if isinstance(getter, Bound) and isinstance(getter.function, ir.Const):
            if getter.function.value is dict.__getitem__:
                return self.subscript(value, ir.Const(name))
        return None if getter is None else self.call(getter, [ir.Const(name)], {})

    def inherited(self, value: Super, name: str) -> Value:
        """`super().name`."""
        if isinstance(value.receiver, Choice):
            return self.for_each(
                value.receiver, lambda o: self.inherited(Super(value.owner, o), name)
            )
        cls = self.builtin_type(value.receiver)
        if not isinstance(cls, ir.Const):
            raise self.refuse("the class of this object isn't known when compiling")
        if issubclass(cls.value, type) and isinstance(value.receiver, ir.Const):
            cls = value.receiver  # in a class method
        thing = self.on_heap(value.receiver)
        # not the class in whose place it stands
        mro = list((thing.type if isinstance(thing, Instance) else cls.value).__mro__)
        if value.owner not in mro:
            message = "super(type, obj): obj must be an instance or subtype of type"
            raise self.fault(TypeError, message)
        for base in mro[mro.index(value.owner) + 1 :]:
            if name == "__init__" and has_made_init(base):
                return Partial(Place(made_init), (Place(base), value.receiver), {})
            if name == "__new__" and is_named_tuple(base):
                return Place(namedtuple_new)
            if name == "__new__" and base is tuple:
                return Place(tuple.__new__)
            if name in base.__dict__ and base is not object:
                if LOCAL not in base.__dict__ and not is_static(base.__module__):
                    self.guards[Path("class", base, name)] = base.__dict__[name]
                raw = base.__dict__[name]
                if cls is value.receiver and isinstance(raw, (types.FunctionType, Closure)):
                    return as_value(raw)  # of a class, whose functions aren't bound
                return self.bound(as_value(raw), value.receiver, cls.value)
        if name == "__new__":
            return Place(object.__new__)
        if name in ("__init__", "__init_subclass__"):
            return Place(_nothing)
        plain = vars(object).get(name)
        if plain is not None and self.special(plain) is not None:
            return Bound(ir.Const(plain), value.receiver)
        raise self.fault(AttributeError, f"super() has no attribute {name!r}")

    def constant_attribute(self, value: ir.Const, name: str) -> Value:
        thing = value.value
        taken = self.outer(thing, None)
        if taken is not None:
            return self.attribute(taken, name)
        if self.fixed_span and isinstance(thing, (int, float, complex)):
            # in a rule, a number stands for an array of no dimensions
            described = {"ndim": 0, "size": 1, "dtype": np.asarray(thing).dtype}
            if name == "shape":
                return Tuple(())
            if name in described:
                return ir.Const(described[name])
        if isinstance(thing, BaseException) and not name.startswith("__"):
            raise self.refuse(
                f"what an exception holds can't be followed, and {name!r} is asked of one",
                "keep it in a variable before raising",
            )
        computed = self.computed_outside(thing, value, name)
        if computed is not None:
            return computed
        if not hasattr(thing, name):
            if thing is None:
                raise self.fault_of_none(AttributeError, f"has no attribute {name!r}")
            path = value.path if isinstance(value, Place) else None
            self.guard_having(thing, path, name)
            first = self.read_first(Path("attribute", path or thing, name))
            if first is not None:
                return first
            of_module = isinstance(thing, types.ModuleType)
            lacking = (
                f"module {thing.__name__!r}" if of_module else f"{type(thing).__name__!r} object"
            )
            raise self.fault(AttributeError, f"{lacking} has no attribute {name!r}")
        if isinstance(thing, functools._lru_cache_wrapper) and name == "cache_info":
            self.call_as_it_is(thing)
        if isinstance(thing, types.ModuleType):
            if name == "__dict__":
                raise self.refuse("the __dict__ of a module can't be followed", "use its names")
            found = getattr(thing, name)
            if is_static(thing.__name__) and not is_setting(thing.__name__, found):
                if isinstance(found, (np.ndarray, list, dict)):
                    return Place(found, None)
                return self.lift(found, None)
            if name in thing.__dict__:
                return self.lift(found, Path("global", thing.__dict__, name))
            if not hasattr(type(thing), name):  # what its `__getattr__` returns (PEP 562)
                return self.lift(found, Path("attribute", thing, name))
        if isinstance(thing, type):
            found = getattr(thing, name)
            owner = next((b for b in thing.__mro__ if name in b.__dict__), None)
            raw = None if owner is None else owner.__dict__[name]
            if name == "_make" and issubclass(thing, tuple) and hasattr(thing, "_fields"):
                return Bound(Place(namedtuple_make), value)
            if isinstance(raw, classmethod) and owner is not None:
                self.guard_member(thing, owner, name)
                return Bound(as_value(raw.__func__), value)
            if isinstance(raw, Value):
                return raw
            if isinstance(raw, staticmethod) and isinstance(raw.__func__, Value):
                return raw.__func__
            if callable(found):
                if owner is not None and not is_static(owner.__module__):
                    self.guard_member(thing, owner, name)
                return Place(found, None)
            return self.lift(found, Path("attribute", thing, name))
        if isinstance(thing, (*SIMPLE, np.generic, np.dtype, np.finfo, np.iinfo)):
            found = getattr(thing, name)
            if isinstance(found, (*SIMPLE, np.generic, np.dtype, type)):
                return ir.Const(found)
            if isinstance(found, (tuple, types.MappingProxyType)):  # names of fields, shapes
                return self.lift(found if isinstance(found, tuple) else dict(found), None)
            return Bound(ir.Const(getattr(type(thing), name)), value)
        if isinstance(thing, (types.FunctionType, np.ufunc)):
            found = getattr(thing, name)
            if name in told(thing, "__dict__", {}):
                return self.lift(found, Path("attribute", thing, name))
            if isinstance(found, (*SIMPLE,)):
                return ir.Const(found)
            if name == "__globals__":
                raise self.refuse("the globals of a function can't be followed", "name them")
            if isinstance(found, (tuple, dict)):
                return self.lift(found, Path("attribute", thing, name))
            return Place(found, None)
        container = value.path if isinstance(value, Place) and value.path else thing
        if isinstance(thing, types.MappingProxyType):
            self.guards[Path("structure", container, "")] = layout(thing)
            entries = {k: self.lift(v, Path("item", container, k)) for k, v in thing.items()}
            return self.attribute(self.new(DictObject(entries, str(container))), name)
        raw = told(type(thing), name)
        owner = next((b for b in type(thing).__mro__ if name in b.__dict__), None)
        if owner is not None and isinstance(owner.__dict__[name], staticmethod):
            return self.lift(getattr(thing, name), Path("attribute", container, name))
        if isinstance(raw, types.FunctionType) and name not in told(thing, "__dict__", {}):
            method = Path("attribute", container, name)
            self.guards[Path("attribute", method, "__func__")] = raw
            return Bound(Place(raw, None), value)
        found = getattr(thing, name)
        if isinstance(thing, (array.array, bytearray)) and hasattr(list, name):
            if name not in ("count", "index"):
                advice = "pass a list, or an array of NumPy's"
                raise self.refuse(f".{name} of this object can't be followed", advice)
        if callable(found) and getattr(thing, name) is not found:
            if registry.member(type(thing), name) is not None:
                return Bound(Place(raw), value)
            if isinstance(found, types.MethodType):
                method = Path("attribute", container, name)
                self.guards[Path("attribute", method, "__func__")] = found.__func__
            return Place(found, None)  # a method, made anew each time it is asked for
        self.read_of.add(id(thing))
        if any(thing is manager for manager in self.left_alone):
            raise NeedStatic(frozenset([followed(thing)]), f"{name} is read here", self.span)
        path = Path("attribute", container, name)
        return self.lift(found, path)

    def computed_outside(self, thing: Any, value: ir.Const, name: str) -> Value | None:
        """An attribute that a user's class computes, not asked for when compiling; else None."""
        cls = type(thing)
        if isinstance(thing, types.ModuleType) or name.startswith("__"):
            return None
        raw = of_class(cls, name)
        followed = not is_static(cls.__module__) and not is_of_package(cls)
        container = value.path if isinstance(value, Place) and value.path else thing
        kind = Path("attribute", container, "__class__")
        if isinstance(raw, property) and raw.fget is not None:
            self.guards[Path("attribute", kind, name)] = raw
            otherwise = self.fallback_outside(cls, kind, value)
            return self.got_by(Bound(Place(raw.fget), value), otherwise, name)
        own = [vars(b) for b in thing.__mro__] if isinstance(thing, type) else [attributes(thing)]
        if any(name in held for held in own) or not (followed or is_made_anew(thing, name)):
            return None
        getter = inspect.getattr_static(type(raw), "__get__", None)
        if isinstance(getter, types.FunctionType) and not is_static(type(raw).__module__):
            self.guards[Path("class", cls, name)] = raw
            return self.call(Bound(Place(getter), Place(raw)), [value, Place(cls)], {})
        otherwise = None if raw is not None else self.fallback_outside(cls, kind, value)
        if otherwise is None:
            return None
        if hasattr(thing, "__dict__"):
            self.guards[Path("absent", Path("attribute", container, "__dict__"), name)] = True
        return self.call(otherwise, [ir.Const(name)], {})

    def fallback_outside(self, cls: type, kind: Path, value: ir.Const) -> Bound | None:
        """The `__getattr__` of a user's class, bound to an object from outside, if it has one."""
        found = of_class(cls, "__getattr__")
        if not isinstance(found, types.FunctionType):
            return None
        self.guards[Path("attribute", kind, "__getattr__")] = found
        return Bound(Place(found), value)

    def fallback(self, ref: Ref | ir.Var, thing: Instance) -> Bound | None:
        """The `__getattr__` of an object's class, bound to it, if there is one."""
        found = self.class_attribute(thing.type, "__getattr__")
        return None if found is None else Bound(found, ref)

    def got_by(self, getter: Value, otherwise: Value | None, name: str) -> Value:
        """What a property's function returns; if it has no attribute, what `__getattr__` does."""
        if otherwise is None:
            return self.call(getter, [], {})
        return self.inline(computed_or, [getter, otherwise, ir.Const(name)], {})

    def instance_attribute(self, ref: Ref | ir.Var, thing: Instance, name: str) -> Value:
        own = inspect.getattr_static(thing.type, "__getattribute__")
        if isinstance(own, (types.FunctionType, Closure)):
            raise self.refuse(
                f"{thing.type.__name__!r} has a __getattribute__, which can't be followed",
                "use __getattr__ or properties",
            )
        if self.unshown(thing, name):
            raise self.unknown_attribute(thing, name)
        there = name in thing.items  # of a row of a table, `get` doesn't say
        held = thing.items[name] if there else ABSENT
        if isinstance(held, Choice) and may_be_absent(held):
            return self.for_each(held, lambda o: self.attribute_held(ref, thing, name, o))
        return self.attribute_held(ref, thing, name, held)

    def attribute_held(self, ref: Ref | ir.Var, thing: Instance, name: str, held: Value) -> Value:
        """An attribute of an object that holds this under its name; ABSENT, if it doesn't."""
        found = self.class_attribute(thing.type, name)
        if isinstance(found, ir.Const) and isinstance(found.value, property):
            getter: Value = Bound(as_value(found.value.fget), ref)
            return self.got_by(getter, self.fallback(ref, thing), name)
        own_get = self.descriptor(found, "__get__")
        if own_get is not None and (
            is_absent(held) or self.descriptor(found, "__set__") is not None
        ):
            getter = Partial(own_get, (ref, Place(thing.type, None)), {})
            return self.got_by(getter, self.fallback(ref, thing), name)
        cached = found.value if isinstance(found, ir.Const) else None
        if not isinstance(cached, functools.cached_property):
            cached = None
        if not is_absent(held):
            return self.known(f".{name}", held)
        if cached is not None:
            if isinstance(ref, ir.Var):
                raise self.refuse(
                    f"whether the cached property {name!r} is known by now isn't known",
                    "write @property",
                )
            getter = Bound(as_value(cached.func), ref)
            value = self.got_by(getter, self.fallback(ref, thing), name)
            if not thing.external:  # the caller's object stays as it is
                self.plain_setattr(ref, ir.Const(name), value)
            return value
        if name == "__class__":
            return Place(self.seen_class(thing, thing.type), None)
        if name == "__dict__" and not lacks_room(thing.type):
            return self.builtin_vars(ref)
        if isinstance(getattr(found, "value", None), MEMBERS) and is_exception(thing.type):
            raise self.refuse(
                f"what this exception holds can't be followed, and {name!r} is asked of it",
                "keep it in a variable before raising",
            )
        if found is not None:
            return self.bound(found, ref, thing.type)
        plain = vars(object).get(name)
        if plain is not None and self.special(plain) is not None:
            return Bound(ir.Const(plain), ref)
        otherwise = self.fallback(ref, thing)
        if otherwise is not None:
            return self.call(otherwise, [ir.Const(name)], {})
        raise self.unknown_attribute(thing, name)

    def descriptor(self, found: Value | None, name: str) -> Value | None:
        """The method of a user's descriptor, bound to it, if a class attribute is one."""
        if isinstance(found, Ref):
            thing = self.state.heap[found.id]
            cls: Any = thing.type if isinstance(thing, Instance) else object
        elif isinstance(found, ir.Const) and not isinstance(found.value, type):
            cls = type(found.value)
        else:
            return None
        if cls.__module__.partition(".")[0] in sys.stdlib_module_names:
            return None
        method = self.class_attribute(cls, name)
        if not isinstance(method, Closure) and not (
            isinstance(method, ir.Const) and isinstance(method.value, types.FunctionType)
        ):
            return None
        receiver = found if isinstance(found, Ref) else self.lift(found.value, None)
        return Bound(method, receiver)

    def bound(self, found: Value, receiver: Value, cls: type) -> Value:
        if isinstance(found, Closure):
            return Bound(found, receiver)
        if not isinstance(found, ir.Const):
            return found
        raw = found.value
        if isinstance(raw, staticmethod):
            return as_value(raw.__func__)
        if isinstance(raw, classmethod):
            return Bound(as_value(raw.__func__), Place(cls))
        if isinstance(raw, property):
            return self.call(Bound(as_value(raw.fget), receiver), [], {})
        if isinstance(raw, functools.partialmethod):
            method = self.bound(as_value(raw.func), receiver, cls)
            named = {k: self.lift(v, None) for k, v in raw.keywords.items()}
            return Partial(method, tuple(self.lift(a, None) for a in raw.args), named)
        if isinstance(raw, functools.singledispatchmethod):
            return Partial(Place(dispatched_method), (found, receiver, Place(cls)), {})
        if isinstance(raw, (types.FunctionType, types.MethodDescriptorType)) or (
            not isinstance(raw, type) and callable(raw) and hasattr(type(raw), "__get__")
        ):
            return Bound(found, receiver)
        return self.lift(raw, None)

    def variable_attribute(self, value: ir.Var, name: str) -> Value:
        kind = value.kind
        if isinstance(kind, (Array, Scalar)):
            self.insist_on_attribute(value, name)
            numpy_like = isinstance(kind, Array) or kind.python is not True or self.fixed_span
            if numpy_like and name in ARRAY_ATTRIBUTES:
                return self.array_attribute(value, name)
            if isinstance(kind, Scalar) and kind.python is True and name in ("real", "imag"):
                return self.emit(getattr(np, name), (value,))
            number = kind.dtype.type if kind.dtype is not None else np.generic
            for base in (np.ndarray, *(() if kind.shape else (number,))):
                if numpy_like and has_of_class(base, name):
                    return self.member(value, base, name)
            if isinstance(kind, Scalar):
                python = type(np.zeros((), kind.dtype).item())
                if has_of_class(python, name):
                    return self.member(value, python, name)
            if may_be_object(kind):
                message = f"what the attribute {name!r} is asked of isn't known when compiling"
                raise self.unknown_object(kind, message)
            raise self.fault(AttributeError, f"an array has no attribute {name!r}")
        if isinstance(kind, ListOf):
            return self.member(value, list, name)
        if isinstance(kind, TupleOf):
            return self.attribute(self.project(value), name)
        if kind == Opaque(str) and not value.optional and has_of_class(str, name):
            return self.member(value, str, name)
        known = registry.member(object_type(value), name)
        if isinstance(known, types.GetSetDescriptorType):
            known = None  # what it has is read when the gradient runs, as `.ndim` of a memmap
        if known is not None and name != "__class__":  # whose class is a function with a rule
            bound = Bound(Place(known), value)
            is_property = isinstance(getattr(object_type(value), name), property)
            return self.call(bound, [], {}) if is_property else bound
        if self.fixed_span and name in ("ndim", "shape", "size"):  # a rule's: it may be a number
            inferred = self.attribute_kind(name)
            return self.emit(getattr(np, name), (value,), inferred=inferred, name=name)
        return self.emit(
            getattr, (value, ir.Const(name)), inferred=Inferred(Opaque(None)), name=name
        )

    def insist_on_attribute(self, value: ir.Var, name: str) -> None:
        """Ask a number or array for an attribute that it has in some runs only.

        What computes it may take what lacks it: `np.sum` a number of Python's.
        """
        if self.fixed_span or self.in_place():  # a rule's: what is asked is the array that it is
            return
        classes = classes_of_kind(value.kind) or set()
        if self.is_optional(value):  # reading what isn't known when compiling raises by itself
            classes = classes | {type(None)} if name in DESCRIBING else set()
        lacking = sorted(cls.__name__ for cls in classes if not has_of_class(cls, name))
        all_lack = len(lacking) == len(classes)
        if not lacking or (all_lack and isinstance(value.kind, Array)):
            return
        there: Value = FALSE
        if not all_lack:
            there = self.emit(hasattr, (value, ir.Const(name)), inferred=Inferred(BOOL))
        message = f"{lacking[0]!r} object has no attribute {name!r}"
        self.insist(there, AttributeError, message)

    def array_attribute(self, value: ir.Var, name: str) -> Value:
        kind = value.kind
        assert isinstance(kind, (Array, Scalar))
        record = registry.lookup(getattr(np.ndarray, name))
        if record is not None and record.always:
            raise self.refuse(f"the attribute {name!r} isn't supported", record.refused)
        if name == "dtype" and kind.dtype is not None and not is_mixed(kind):
            return ir.Const(kind.dtype)
        if name == "device":
            return ir.Const("cpu")  # of all arrays of NumPy
        shape = kind.shape
        if name == "ndim" and shape is not None:
            return ir.Const(len(shape))
        if name == "shape" and shape is not None:
            return self.numbers_of(value, "shape", shape)
        if name == "strides" and shape is not None:
            return self.numbers_of(value, "strides", (None,) * len(shape))
        if name == "size" and shape is not None:
            if 0 in shape:
                return ir.Const(0)
            if all(isinstance(n, int) for n in shape):
                return ir.Const(int(np.prod(shape, dtype=int)))  # type: ignore[type-var, arg-type]
            lengths = [least(n) or 0 for n in shape]
            big = min(lengths) >= 1 and max(lengths) >= 2
            size = shape[0] if len(shape) == 1 else fresh_size(big)
            return self.emit(
                getattr,
                (value, ir.Const("size")),
                inferred=Inferred(Scalar(np.dtype(np.int64), True, size)),
                name="size",
            )
        if name in ("T", "mT"):
            if self.fixed_span and shape is not None and len(shape) < 2 and name == "T":
                return value  # in a rule, which doesn't ask whether two arrays are the same one
            function = np.transpose if name == "T" else np.matrix_transpose
            return self.emit(function, (value,))
        if name in ("real", "imag"):
            part = self.emit(getattr(np, name), (value,), name=name)
            if name == "imag" and isinstance(kind, Array):
                self.imaginary[part] = value
            return part
        if name == "flat":
            numbers = self.emit(np.ravel, (value,))
            if isinstance(kind, Array):
                self.flats[numbers] = value, self.times_written(value)
            return numbers
        if isinstance(kind, Array) and name in ("shape", "strides", "base", "flags"):
            of: type = {"base": memoryview, "flags": FLAGS}.get(name, tuple)
            return self.emit(
                getattr, (value, ir.Const(name)), inferred=Inferred(Opaque(of)), name=name
            )
        return self.emit(
            getattr, (value, ir.Const(name)), inferred=self.attribute_kind(name), name=name
        )

    def attribute_kind(self, name: str) -> Inferred:
        if name in ("size", "ndim", "nbytes", "itemsize"):
            return Inferred(Scalar(np.dtype(np.int64), True))
        return Inferred(Opaque(None))

    def numbers_of(self, value: ir.Var, name: str, numbers: tuple[Any, ...]) -> Value:
        """The shape of an array, or its strides, as a tuple in which literal numbers are known."""
        if all(isinstance(n, int) for n in numbers):
            return Tuple(tuple(ir.Const(n) for n in numbers))
        integer = np.dtype(np.int64)
        whole = self.emit(
            getattr,
            (value, ir.Const(name)),
            inferred=Inferred(TupleOf(tuple(Scalar(integer, True, n) for n in numbers))),
            name=name,
        )
        items: list[Value] = []
        for i, n in enumerate(numbers):
            if isinstance(n, int):
                items.append(ir.Const(n))
            else:
                items.append(
                    self.emit(
                        operator.getitem,
                        (whole, ir.Const(i)),
                        inferred=Inferred(Scalar(integer, True, n)),
                        name="n",
                    )
                )
        return Tuple(tuple(items), tuple, whole)

    def builtin_super(self, *args: Value) -> Value:
        frame = self.frames[self.current]
        if len(args) == 2 and isinstance(args[0], ir.Const) and isinstance(args[0].value, type):
            return Super(args[0].value, args[1])
        if args or frame.owner is None or frame.receiver is None:
            raise self.refuse("super() isn't supported here")
        return Super(frame.owner, frame.receiver)


def _nothing(*args: Any, **kwargs: Any) -> None:
    return None
