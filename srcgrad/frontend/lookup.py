"""Names: what they hold, assigning them, and what comes from outside of the function.

A value from outside is *lifted*: a number or array becomes a parameter of the generated function,
which is read at each call; a function, class or module is known when compiling.
"""

from __future__ import annotations

import builtins
import collections
import enum
import functools
import types
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np

from .. import ir
from ..analysis.samples import GENERATORS
from ..errors import UnsupportedError
from ..rules import registry
from ..rules.structured import RecordArray, Records
from ..signature import HELD, fields_of, held, is_record, is_structured
from .boundness import Boundness
from .predicates import SIMPLE, TRUE, is_member, is_static
from .recent import imported
from .restarts import Materialize, NeedStatic, Unbound
from .set_orders import Order
from .structure import ABSENT, Poison, is_table
from .subclasses import BUILTINS, added_by, redefined
from .tables import HeldOutside
from .values import (
    Choice,
    DictObject,
    Generator,
    Instance,
    ListObject,
    Path,
    Place,
    Ref,
    Sequence,
    State,
    Tuple,
    Value,
    as_value,
    layout,
)

LOCAL = "__srcgrad_local__"  # marks a class that is defined in the code being lowered


class Lookup(Boundness):
    """Looks names up and binds them, as Python's scopes do."""

    def expression_Name(self, node: Any) -> Value:
        return self.lookup(node.id)

    def lookup(self, name: str) -> Value:
        """The value of a name, as Python would find it."""
        value = self.found(name)
        self.looked_up.append((name, value))
        return value

    def found(self, name: str, read: bool = True) -> Value:
        """The value of a name, wherever it stands."""
        number: int | None = self.current
        frame = self.frames[self.current]
        if name not in frame.scope.outer:
            while number is not None:
                frame = self.frames[number]
                values = self.state.frames[number]
                if name in frame.scope.local or name in values:
                    value = self.known(name, values.get(name, ir.UNDEFINED))
                    if read:
                        self.check_bound(name, value, number)
                    return self.known(name, self.state.frames[number].get(name, value))
                if name in frame.scope.outer:
                    break
                if frame.parent is None:
                    break
                number = frame.parent
        namespace = frame.namespace
        if name in namespace.cells and name not in frame.scope.outer:
            cell = namespace.cells[name]
            try:
                return self.lift(cell.cell_contents, Path("cell", cell, name))
            except ValueError:
                raise self.refuse(f"{name!r} has no value yet") from None
        if name in namespace.globals:
            try:
                value = imported(namespace.globals, name)
            except Exception as error:
                raise self.raised_by_python(error) from None
            return self.lift(value, Path("global", namespace.globals, name))
        self.guards[Path("absent", namespace.globals, name)] = True
        if hasattr(builtins, name):
            return ir.Const(getattr(builtins, name))
        raise self.fault(NameError, f"name {name!r} is not defined")

    def known(self, name: str, value: Any) -> Value:
        if isinstance(value, Poison):
            origins = value.origins
            if value.site is not None and not self.specialisable(origins):
                origins |= {("%table", value.site)}
            if origins:
                raise NeedStatic(origins, value.message, value.span or self.span)
            raise self.refuse(value.message, "use one name for each kind of value")
        if value is ir.UNDEFINED:
            error = self.refuse(f"{name!r} is used before it is assigned")
            again = self.loop_depth or self.making  # where it may have a value in the next round
            if not again or (self.fork_depth and self.handling is not None):
                raise self.fault(UnboundLocalError, error.message)
            raise Unbound(error)
        return value  # type: ignore[no-any-return]

    def specialisable(self, origins: frozenset[Any]) -> bool:
        """Whether more could be known of a value that derives from these if one asked for it."""
        return any(isinstance(o, (tuple, Path)) for o in origins - self.known_sites)

    def bind(self, name: str, value: Value, number: int | None = None) -> None:
        """Assign a name in the current frame."""
        number = self.current if number is None else number
        frame = self.frames[number]
        if isinstance(value, ir.Var) and value in self.flats and not self.fixed_span:
            raise self.kept_flat("has no name here")
        if name in frame.scope.outer:
            if self.write_name(Path("global", frame.namespace.globals, name), value):
                return
            new = name not in frame.namespace.globals and isinstance(value, ir.Const)
            first = f"give {name!r} a value outside first, or " if new else ""
            raise self.refuse(
                f"assigning the global {name!r} can't be differentiated",
                f"{first}return the value instead",
            )
        if name in frame.scope.nonlocal_ or (frame.comprehension and name not in frame.scope.local):
            if frame.parent is None:
                cell = frame.namespace.cells.get(name)
                if cell is not None and self.write_name(Path("cell", cell, name), value):
                    return
                raise self.refuse(
                    f"assigning {name!r}, which belongs to a function that has returned, "
                    "can't be differentiated",
                    "return the value instead",
                )
            owner = frame.parent
            while (
                name not in self.frames[owner].scope.local and self.frames[owner].parent is not None
            ):
                owner = self.frames[owner].parent  # type: ignore[assignment]
            self.bind(name, value, owner)
            return
        if not name.startswith("%"):
            value = self.with_position(name, value)
        given = self.fixed_span and name in ("out", "d_out")  # a rule's: it has a better name
        named = value if name == "self" else self.only_array(value)
        if isinstance(named, ir.Var) and not (named.user or given or name.startswith("%")):
            named.name, named.user = name, not self.fixed_span
        if isinstance(value, Ref) and not name.startswith("%"):
            thing = self.state.heap.get(value.id)
            if isinstance(thing, ListObject) and thing.var is not None and not thing.var.user:
                thing.var.name, thing.var.user = name, True
            elif is_table(thing):
                self.name_table(name, value)
        self.state.frames[number][name] = value
        self.set_flag(name, number, TRUE)

    def name_table(self, name: str, table: Ref) -> None:
        """Name the parts of a dict or set that exists at run time for the name it has first."""
        if name.startswith("%") or self.fixed_span:
            return
        parts = self.state.heap[table.id].items
        assert isinstance(parts, dict)
        names = (
            {"where": f"{name}_places", "entries": name} if "entries" in parts else {"where": name}
        )
        for part, text in names.items():
            held = parts[part]  # a Poison, where it isn't known after a loop that returns
            thing = self.state.heap[held.id] if isinstance(held, Ref) else None
            if isinstance(thing, ListObject) and thing.var is not None and not thing.var.user:
                thing.var.name, thing.var.user = text, True

    def with_position(self, name: str, value: Value) -> Value:
        """What a name or an attribute gets: of an iterator used more than once, a `Cursor`."""
        if isinstance(value, Choice) and value in self.columns_made:  # it is gone through once
            return Generator(functools.partial(self.iterate, value))
        if not isinstance(value, (Sequence, Generator)) or value.born is None:
            return value
        at = self.iterators.get(value.born)
        if isinstance(at, Ref) and at.id in self.state.heap:
            return at
        if isinstance(at, tuple) and at[0] in ("%steps", "%stepwise"):
            return value
        site = ("%iterator", name, self.span)
        if site not in self.known_sites:
            if at is None:
                self.iterators[value.born] = site
            return value
        sequence = value.sequence if isinstance(value, Generator) else lambda: value
        if sequence is None:
            return value
        if value.born in self.state.used or value.born < self.loop_began:
            self.ask_stepwise(value.site)
            raise self.used_up()
        made = self.iterators[value.born] = self.cursor(sequence())
        return made

    def asked_where(self, value: Sequence | Generator) -> None:
        """Note that an iterator is asked where it stands."""
        site = self.iterators.get(value.born) if value.born is not None else None
        if isinstance(site, Ref):
            return
        steps = site is not None and site[0] in ("%steps", "%stepwise")
        if steps or (site is not None and getattr(value, "sequence", value) is not None):
            raise NeedStatic(frozenset([site]), "this iterator is used more than once", self.span)

    def capture_frames(self) -> None:
        """Keep the names that code here can see, which may be asked for later."""
        self.captured.update(self.frames_around(self.current))

    def leave_frame(self, number: int, *others: State) -> None:
        """Forget the names of what has run, unless code that is made there may ask for them."""
        for born, frame in list(self.generators.items()):
            if born in self.state.used:
                del self.generators[born]
            elif number in self.frames_around(frame):
                self.captured.add(number)
        if number not in self.captured:
            for state in (self.state, *others):
                state.frames.pop(number, None)

    def frames_around(self, number: int | None) -> Iterator[int]:
        """The frames whose names code in one can see, itself first."""
        while number is not None:
            yield number
            number = self.frames[number].parent

    def used_up(self) -> UnsupportedError:
        return self.refuse("this generator may be used up already", "make a list of it: list(...)")

    def use_up(self, value: Sequence | Generator) -> None:
        """Note that a generator, zip or map is consumed; it can be only once."""
        if value.born is None:
            return
        if value.born in self.state.used or value.born < self.loop_began:
            self.asked_where(value)
            self.ask_stepwise(value.site)
            raise self.used_up()
        self.state.used |= {value.born}

    def lift(self, value: Any, path: Path | None) -> Value:
        """The abstract value of an object that exists before the function runs."""
        if isinstance(value, Ref):  # a key
            return value
        taken = self.outer(value, path)
        if taken is not None:
            self.looked_up.append((None, taken))
            return taken
        if path is None and isinstance(value, (list, dict, set, np.ndarray, collections.deque)):
            path = Path("object", value, "outer")  # what is in it may change from call to call
        place = self.written_outside(path, value)
        if place is not None and path is not None:
            return self.read_count(place, path, value)
        if type(value) in registry.made_of:
            return self.made_anew(value, path)
        if path is not None and path in self.static_paths and isinstance(value, (int, np.integer)):
            self.guards[path] = value
            return ir.Const(value)
        if path is not None and self.on_free is not None and is_structured(value):
            return self.lifted_records(value, path)
        number = isinstance(value, (int, float, complex, np.number)) and type(value) is not bool
        number = number and not isinstance(value, enum.Enum)  # one of a few, known when compiling
        if number:
            self.check_class(type(value))
        if path is not None and (number or isinstance(value, np.ndarray)):
            if self.on_free is None:
                self.guards[path] = value
                return ir.Const(value)
            self.free[path] = self.on_free(path, value)
            return self.free[path]
        if isinstance(value, SIMPLE) or number:
            if path is not None:
                self.guards[path] = value
            return ir.Const(value)
        if isinstance(value, (tuple, list, dict, set, frozenset)):
            self.check_class(type(value))
        journal = self.journal(value, path)
        if journal is not None:
            return journal
        if path is not None and isinstance(value, (list, dict, collections.deque)):
            return self.lifted_container(value, path)
        if path is not None and isinstance(value, (set, frozenset)):
            if all(map(is_member, value)):
                return self.lifted_container(value, path)
        if path is not None and isinstance(value, tuple):
            whole = self.on_list(path, value) if self.on_list and type(value) is tuple else None
            if whole is not None:
                return whole
            self.guards[Path("structure", path, "")] = layout(value)
        if isinstance(value, tuple):
            items = tuple(
                self.lift(item, Path("item", path, i) if path else None)
                for i, item in enumerate(value)
            )
            return Tuple(items, type(value))
        if path is not None and self.on_free is not None and type(value) in GENERATORS:
            return self.on_free(path, value)  # there may be another one in the next call
        if path is not None:
            self.guards[path] = value
        return Place(value, path)

    def only_array(self, value: Value) -> Value:
        """The array of an object that stands for a kind of array; others as they are."""
        thing = self.on_heap(value)
        if not isinstance(thing, Instance) or thing.type not in registry.stands_for:
            return value
        array, *others = thing.items.values()
        return value if others else array

    def made_anew(self, value: Any, path: Path | None) -> Value:
        """An object outside as one made here, of what it holds when the function is called."""
        cls, path = type(value), path or Path("object", value, "outer")
        self.guards[Path("attribute", path, "__class__")] = cls
        maker, *names = registry.made_of[cls]
        held = [self.lift(getattr(value, n), Path("attribute", path, n)) for n in names]
        made = self.call(ir.Const(maker), held, {})
        if maker in registry.stands_for and isinstance(held[0], ir.Var):
            held[0].name = str(path.name)  # the object and its only array have one name
        return made

    def lifted_container(self, value: Any, path: Path) -> Ref:
        """The reference to a list, dict or set that exists before the function runs."""
        known = self.lifted.get(path)
        if known is not None and known.id in self.state.heap:
            self.looked_up.append((None, known))
            return known
        holds_itself = self.lifting.get(id(value))
        if holds_itself is not None:
            self.guards[path] = value
            return holds_itself
        ref = self.on_list(path, value) if self.on_list and isinstance(value, list) else None
        if ref is None:
            ref = self.held_dict(value, path)
        if ref is None:
            self.guards[Path("structure", path, "")] = layout(value)
            ref = self.lifting[id(value)] = Ref(self.unique())
            try:
                self.new(self.container_from_outside(value, path), ref)
            finally:
                del self.lifting[id(value)]
            if isinstance(value, collections.deque):
                self.as_deque(ref)
                self.guards[Path("attribute", path, "maxlen")] = value.maxlen
                if value.maxlen is not None:
                    self.bounded[ref.id] = value.maxlen
        self.lifted[path] = ref
        self.looked_up.append((None, ref))
        self.outer_objects.add(ref.id)
        return ref

    def container_from_outside(self, value: Any, path: Path) -> ListObject | DictObject:
        """What stands for a list, deque, dict or set that exists before the function runs."""
        if isinstance(value, (set, frozenset)):
            members = {item: self.lift(item, None) for item in value}
            self.note_outer_keys(value)
            return DictObject(members, str(path), True, type=type(value), order=Order.of(value))
        if isinstance(value, (list, collections.deque)):
            items = tuple(self.lift(v, Path("item", path, i)) for i, v in enumerate(value))
            cls = list if isinstance(value, collections.deque) else type(value)
            return ListObject(items, None, str(path), type=cls)
        entries = {k: self.lift(v, Path("item", path, k)) for k, v in value.items()}
        return self.dict_from_outside(value, entries, str(path))

    def lifted_records(self, value: np.ndarray[Any, Any], path: Path) -> Ref:
        """What stands for a structured array that exists before the function runs."""
        known = self.lifted.get(path)
        if known is None or known.id not in self.state.heap:
            self.guards[Path("attribute", path, "dtype")] = value.dtype
            fields: dict[Any, Value] = {
                n: self.lift(f, Path("item", path, n)) for n, f in fields_of(value).items()
            }
            columns = self.new(DictObject(fields, str(path)))
            known = self.lifted[path] = self.new(as_records(value, columns, str(path)))
            self.outer_objects |= {columns.id, known.id}
        self.looked_up.append((None, known))
        return known

    def held_dict(self, value: Any, path: Path) -> Ref | None:
        """A dict that is one value, if one is asked for keys that only the run tells."""
        if self.on_dict is None or (HELD, Path("object", value, "")) not in self.known_sites:
            return None
        where = self.on_dict(path, value)
        return where and self.new(Instance(HeldOutside, {"where": where}, str(path)))

    def want_held(self, thing: Any) -> None:
        """Begin again with a dict outside that is one value, if it can be."""
        heap = self.state.heap
        path = next((p for p, ref in self.lifted.items() if heap.get(ref.id) is thing), None)
        found = None if path is None or self.on_dict is None else path.read()
        if type(found) is dict and held(found) is not None:
            site = frozenset([(HELD, Path("object", found, ""))])
            raise NeedStatic(site, f"the keys of {path} must be known when compiling", self.span)

    def as_deque(self, value: Value) -> Ref:
        """A list on the heap as the deque that it stands for."""
        assert isinstance(value, Ref)
        self.has_deques = True
        self.deques.add(value.id)
        return value

    def check_class(self, cls: type) -> None:
        """Refuse a user's class whose objects aren't made, or don't behave, as usual."""
        made = type(cls).__call__
        if isinstance(made, types.FunctionType) and not issubclass(cls, enum.Enum):
            raise self.refuse(
                f"the metaclass of {cls.__name__!r} has a __call__, which can't be followed",
                "make the object in a function instead",
            )
        name = redefined(cls)
        if name is not None:
            base = next(b.__name__ for b in cls.__mro__ if b in BUILTINS)
            raise self.refuse(
                f"a {cls.__name__} is a {base} with a {name} of its own, which can't be followed",
                f"use a class that holds a {base} instead of deriving from it",
            )

    def dict_from_outside(
        self, value: dict[Any, Any], items: dict[Any, Value], name: str
    ) -> DictObject:
        """What stands for a dict that exists before the function runs."""
        self.note_outer_keys(value)
        user = bool(added_by(type(value)))
        known = (collections.Counter, collections.OrderedDict, collections.defaultdict)
        cls = type(value) if user or isinstance(value, known) else dict
        return DictObject(items, name, type=cls, is_namespace=user and vars(value) is value)

    def note_outer_keys(self, keys: Iterable[Any]) -> None:
        """Note that objects are keys outside, of which a copy of an argument's may be one."""
        if any(map(holds_object, keys)):
            self.outer_keys = True
            self.check_copied_keys()

    def check_copied_keys(self) -> None:
        """Refuse a copy of an object as a key where the object itself may be one."""
        if self.copied_keys and self.outer_keys:
            raise self.refuse(
                "an object of the arguments is a key here, and objects are keys of a dict or set "
                "outside or among the arguments, too: they may be the same",
                "use the object's name or number as the key",
            )

    def new(self, thing: Any, ref: Ref | None = None) -> Ref:
        """A reference to a new object on the heap."""
        ref = ref or Ref(self.unique())
        self.state.heap[ref.id] = thing
        if isinstance(thing, ListObject):
            self.sites[ref.id] = self.site
            if self.has_kinds(thing):
                return self.mixed(ref)
            if self.site in self.dynamic_sites or ("%list", self.site) in self.known_sites:
                self.materialize(Materialize(ref, self.span))
        elif isinstance(thing, DictObject) and not thing.external:
            self.sites[ref.id] = self.site
            keyed = ("%table", self.site) in self.known_sites or self.site in self.dynamic_sites
            if keyed and not self.has_slots(thing):
                self.wants_slots(thing)  # if its values are of different kinds
                self.tabulate(ref)
        return ref

    def class_attribute(self, cls: type, name: str) -> Value | None:
        for base in cls.__mro__:
            if base is object:
                break
            if name in base.__dict__:
                found = base.__dict__[name]
                if isinstance(found, types.MemberDescriptorType):
                    return None  # a slot, which is there when an object has put something into it
                if LOCAL not in base.__dict__:
                    path = Path("attribute", base, name)
                    if self.written_outside(path, found):
                        return self.lift(found, path)
                    self.guard_member(cls, base, name)
                return as_value(found)
        return None

    def class_default(self, cls: type, name: Any) -> ir.Const:
        """What an attribute is where an object of the class doesn't have its own."""
        found = self.class_attribute(cls, name) if isinstance(name, str) else None
        if isinstance(found, ir.Const) and isinstance(found.value, SIMPLE):
            return ir.Const(found.value)
        return ir.UNDEFINED

    def absent_attribute(self, cls: type, name: Any) -> ir.Const:
        """What stands for an attribute on paths on which an object doesn't have its own."""
        default = self.class_default(cls, name)
        named = isinstance(name, str) and name.isidentifier()
        return ABSENT if default is ir.UNDEFINED and named else default

    def guard_having(self, thing: Any, path: Path | None, name: str) -> bool:
        """Whether something outside has an attribute; notice when it gets it, or loses it."""
        there = hasattr(thing, name)
        named = thing if isinstance(thing, (type, types.ModuleType)) else type(thing)
        module = named.__name__ if isinstance(named, types.ModuleType) else named.__module__
        if not is_static(module) or (named is not thing and hasattr(thing, "__dict__")):
            self.guards[Path("has", path or thing, name)] = there
        return there

    def guard_member(self, cls: type, owner: type, name: str) -> None:
        """Notice when a class no longer gets an attribute from where it gets it now."""
        raw, found = owner.__dict__[name], Path("attribute", cls, name)
        if isinstance(raw, classmethod):
            self.guards[Path("attribute", found, "__func__")] = raw.__func__
        elif isinstance(raw, staticmethod):
            self.guards[found] = raw.__func__
        elif getattr(cls, name, None) is raw:
            self.guards[found] = raw
        else:
            self.guards[Path("class", owner, name)] = raw


def as_records(array: np.ndarray[Any, Any], columns: Value, name: str) -> Instance:
    """The object that stands for a structured array, of the arrays of its fields."""
    items = {"columns": columns, "dtype": ir.Const(array.dtype), "ndim": ir.Const(array.ndim)}
    return Instance(RecordArray if type(array) is np.recarray else Records, items, name)


def holds_object(key: Any) -> bool:
    """Whether a key of a dict or set is an object, or a tuple that holds one."""
    return any(map(holds_object, key)) if isinstance(key, tuple) else is_record(key)
