"""Abstract values: what lowering knows of each Python value while it walks the program.

Numbers and arrays are IR operands: a `Const` when known, a `Var` when not. Containers, objects and
functions exist only here, not in the IR, unless the program builds them in a loop. Mutable
things live on an abstract heap, so that two names for one list see the same changes.
"""

from __future__ import annotations

import inspect
import itertools
import types
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from .. import ir
from ..kinds import Dimension


@dataclass(eq=False, slots=True)
class Tuple:
    """A tuple or named tuple of known length; `whole` is the variable that holds it, if any.

    `missing` says that it may be None instead: a bool that is known only at run time. `fresh`: it
    is an object of its own, other than all that aren't this very value.
    """

    items: tuple[Value, ...]
    type: type = tuple
    whole: ir.Var | None = None
    missing: ir.Var | None = None
    fresh: bool = False


@dataclass(frozen=True, slots=True)
class Ref:
    """A reference to an object on the abstract heap."""

    id: int


@dataclass(eq=False, slots=True)
class Spread:
    """The last arguments of a call, of which only the run knows how many there are: a tuple."""

    rest: Value


@dataclass(eq=False, slots=True)
class Slice:
    start: Value
    stop: Value
    step: Value


@dataclass(eq=False, slots=True)
class Closure:
    """A function defined in the code being lowered: its node and the frame it can see."""

    node: Any
    source: Any
    frame: int | None
    namespace: Any  # the Namespace of its globals
    defaults: tuple[Value, ...] = ()
    keyword_defaults: dict[str, Value] = field(default_factory=dict)
    name: str = "<lambda>"
    owner: Any = None  # the class in whose body a method stands, for super()
    __isabstractmethod__: bool = False  # which the making of a class asks


@dataclass(eq=False, slots=True)
class Bound:
    """A callable with its first argument bound."""

    function: Value
    receiver: Value


@dataclass(eq=False, slots=True)
class Partial:
    function: Value
    args: tuple[Value, ...]
    kwargs: dict[str, Value]


births = itertools.count(1)  # of generators, zips and maps: which is which, and which was first


@dataclass(eq=False, slots=True)
class Sequence:
    """Something to iterate over: a length, and the item at an index, made on demand."""

    length: Value
    item: Callable[[Value], Value]
    structural: bool = False  # its items are known one by one
    bounds: Any = None  # of a range: start, stop, step
    born: int | None = field(default_factory=births.__next__)  # None: that it's used is noted
    over: tuple[Any, ...] = ()  # what it goes through: see `changes`
    changing: Callable[[], Value] | None = None  # makes the same of lists that change meanwhile
    site: Any = None  # what is known where it is made as a class of `stepwise`


@dataclass(eq=False, slots=True)
class Generator:
    """What makes its items where it is consumed, once: `run` calls its argument with each.

    `run` returns what the generator does in the end, which is the value of a `yield from` it; None
    is Python's None. `sequence` gives its items one by one, if that is simple.
    """

    run: Callable[[Callable[[Value], None]], object]
    born: int = field(default_factory=births.__next__)
    sequence: Callable[[], Sequence] | None = None
    early: bool = False  # its items may be made before they are asked for
    steps: Any = None  # the object whose `__next__` makes them, if it is one
    over: tuple[Any, ...] = ()
    site: Any = None  # as of a `Sequence`, both


@dataclass(eq=False, slots=True)
class Manager:
    """A context manager written as a generator: what runs is the generator, around the body."""

    generator: Generator


@dataclass(eq=False, slots=True)
class InnerGradient:
    """The gradient of a function that is itself defined in the code being lowered."""

    gradient: Any
    primal: Value


@dataclass(eq=False, slots=True)
class Super:
    """What `super()` returns: the class after which attributes are looked up, and the object."""

    owner: type
    receiver: Value


@dataclass(eq=False, slots=True)
class Place(ir.Const):
    """An object found through a global name or a cell, whose attributes are read at call time."""

    path: Any = None


@dataclass(eq=False, slots=True)
class Choice:
    """One of several functions or objects, or None; which one is known only at run time.

    `index` says which: an int, or, where there are two, it may be a bool.
    """

    index: Value
    options: tuple[Value, ...]


@dataclass(eq=False, slots=True)
class Journal:
    """A list, dict or set outside that the function writes, and the variable that holds it.

    `path` is None if it is held by another one. `fresh`: a defaultdict makes it when asked.
    """

    thing: Any
    var: ir.Var
    path: Path | None
    fresh: bool = False

    def __str__(self) -> str:
        return str(self.path or self.var.name)


class StandIn:
    """What says, as the first argument of a `Partial`, which function it stands for.

    Functions that are equal may be one: in a recursion, each call makes them anew.
    """

    name: str

    @property
    def signature(self) -> inspect.Signature | None:
        """The parameters of the function, where they aren't those of the `Partial`."""
        return None


Value = (
    ir.Var
    | ir.Const
    | Tuple
    | Ref
    | Spread
    | Slice
    | Closure
    | Bound
    | Partial
    | Sequence
    | Generator
    | InnerGradient
    | Super
    | Manager
    | Choice
    | Journal
)


def as_value(thing: Any) -> Value:
    """The abstract value of an object, which may be one: classes being lowered hold such."""
    return thing if isinstance(thing, Value) else Place(thing)


@dataclass(eq=False, slots=True)
class ListObject:
    """A list on the heap: its items, or the variable that holds it at run time."""

    items: tuple[Value, ...]
    var: ir.Var | None = None
    external: str | None = None  # what the caller would see changed
    frozen: Any = None  # the loop or branch for which it stands for one of several objects
    type: type = list
    count: Dimension | None = None  # how many items the variable has here


@dataclass(eq=False, slots=True)
class DictObject:
    """A dict or a set, of which it is known what keys it has."""

    items: dict[Any, Value]
    external: str | None = None
    is_set: bool = False
    frozen: Any = None
    type: type = dict
    factory: Value | None = None  # of a defaultdict
    is_namespace: bool = False  # its items are its attributes too
    order: Any = None  # of a set: its `Order`; a Poison if it isn't known


@dataclass(eq=False, slots=True)
class Instance:
    """An object of a user class: its attributes."""

    type: type
    items: dict[Any, Value]
    external: str | None = None
    frozen: Any = None


IDENTITY = "%identity"  # the name of the part of an object in a list outside that tells which it is
EVERYWHERE = ("%records", None)  # of known sites: every expression may keep objects in lists
TABULATED = "%tabulated"  # of known sites: dicts kept in lists have keys that the run tells
KEPT = "kept"  # why an object is frozen of which a list that exists at run time keeps the values

Heap = ListObject | DictObject | Instance


@dataclass(eq=False, slots=True)
class State:
    """The variables of every frame and the objects of the heap at one point of the program."""

    frames: dict[int, dict[str, Value]]
    heap: dict[int, Heap]
    unreachable: bool = False
    used: frozenset[int] = frozenset()  # the generators that may be used up, by their births
    leaving: bool = False  # the path ends here with an exception that a try around it catches
    flags: dict[Path, bool | None] = field(default_factory=dict)  # those outside, once written

    def copy(self) -> State:
        return State(
            {key: dict(frame) for key, frame in self.frames.items()},
            dict(self.heap),
            self.unreachable,
            self.used,
            self.leaving,
            dict(self.flags),
        )


OWN = "%own"  # of known sites: the arguments whose lists, dicts and objects are written
TAKEN_IN = "%taken"  # of known sites: the things outside that are written and read


def writes_what_it_reads(static: frozenset[Any]) -> bool:
    """Whether what is known of a function says that what it computes depends on earlier calls."""
    return any(isinstance(site, tuple) and site[0] == TAKEN_IN for site in static)


@dataclass(eq=False, slots=True)
class Junction:
    """The end of a branch, where one of two objects may be frozen."""

    span: Any

    @property
    def site(self) -> tuple[str, Any]:
        """What is known where no object is frozen here."""
        return ("%thawed", self.span)


@dataclass(eq=False, slots=True)
class Trying:
    """A try whose body is being lowered, or something else that exceptions don't just pass."""

    caught: tuple[type[BaseException], ...]
    block: Any  # where the body's statements go
    outer: Trying | None
    frame: int  # which holds what is raised: that of the outermost try
    marker: Any  # for the objects that are one of two where paths meet


# What is caught where no try with handlers is: by a `finally` that leaves, or a context manager
EVERYTHING: tuple[type[BaseException], ...] = (BaseException,)


@dataclass(frozen=True, slots=True)
class Path:
    """Where a value outside the function is found when it is called.

    `how` is "global" (container: the module's dict), "cell", "attribute", "item", "class" (an
    attribute as the class has it, unbound) or "structure" (what a container holds, but not the
    values), "absent" (whether it doesn't hold this), "has" (whether it has such an attribute),
    "fails" (what is raised if it is asked for this), or "object" (the container itself); all but
    the first two have a Path or an object as container.
    """

    how: str
    container: Any
    name: Any

    def read(self) -> Any:
        container = self.container.read() if isinstance(self.container, Path) else self.container
        if self.how == "cell":
            return container.cell_contents
        if self.how == "attribute":
            return getattr(container, self.name)
        if self.how == "class":
            return container.__dict__[self.name]
        if self.how == "has":
            return hasattr(container, self.name)
        if self.how == "fails":
            return failure(container, self.name)
        if self.how in ("structure", "absent"):
            return layout(container) if self.how == "structure" else self.name not in container
        return container if self.how == "object" else container[self.name]

    def __hash__(self) -> int:
        inner = self.container if isinstance(self.container, Path) else id(self.container)
        return hash((self.how, inner, self.name))

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Path) or self.how != other.how or self.name != other.name:
            return False
        if isinstance(self.container, Path):
            return bool(self.container == other.container)
        return self.container is other.container

    def __repr__(self) -> str:
        return f"<{self.how} {self}>"

    def __str__(self) -> str:
        if self.how in ("global", "cell", "object"):
            return str(self.name)
        prefix = str(self.container) if isinstance(self.container, Path) else "self"
        dotted = self.how in ("attribute", "has")
        return f"{prefix}.{self.name}" if dotted else f"{prefix}[{self.name!r}]"


def failure(container: Any, key: Any) -> type[Exception] | None:
    """What is raised where a container is asked for something; None if it is there.

    >>> failure([1, 2], 2), failure([1, 2], 1)
    (<class 'IndexError'>, None)
    """
    try:
        container[key]
    except Exception as error:
        return type(error)
    return None


def layout(container: Any) -> Any:
    """The type of a container and its keys, items or length, to see whether it has changed.

    >>> layout({"a": 1, "b": 2})
    (<class 'dict'>, 'a', 'b')
    """
    if isinstance(container, (dict, set, frozenset, types.MappingProxyType)):
        return (type(container), *container)
    return (type(container), len(container))
