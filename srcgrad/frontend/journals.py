"""Lists, dicts and sets outside of the function that it writes: `HISTORY.append(float(loss))`.

What is written there is kept for others: the generated code writes it where the function does, and
the derivative has nothing to do with it. So of such a container the function may read what has no
derivative: how long it is, the counts in it, other containers. A float that is read, as in
`TOTALS["loss"] += loss`, may be written again, or tested, but the result mustn't depend on it:
what it was computed from isn't known (`check_journals`). A container is known to be written since
the function is lowered once more when the first write is met, like `counts`.
"""

from __future__ import annotations

import builtins
import collections
import operator
from dataclasses import dataclass
from keyword import iskeyword
from typing import Any

import numpy as np

from .. import ir
from ..analysis.activity import Activity
from ..analysis.aliasing import Aliasing
from ..analysis.inference import Inferred
from ..errors import Span, UnsupportedError
from ..kinds import BOOL, FLOAT, Array, Opaque, Scalar, int_kind
from ..packages import told
from .counts import WRITTEN, Counts
from .operations import count_outside, put_outside, read_outside
from .restarts import NeedStatic
from .structure import objects_in_key, references
from .values import DictObject, Journal, ListObject, Path, Ref, Tuple, Value

CONTAINERS = (list, dict, set, collections.deque, collections.defaultdict, collections.Counter,
              collections.OrderedDict)  # fmt: skip
WRITING = frozenset({"append", "extend", "appendleft", "add", "clear", "update", "setdefault"})
NUMBERS: dict[type, Any] = {int: int_kind, bool: lambda: BOOL, float: lambda: FLOAT,
                            np.float64: lambda: Scalar(np.dtype(float), False)}  # fmt: skip


@dataclass(eq=False, slots=True)
class Notes:
    """What is written outside, and what is read again.

    Attributes:
        arrays: that are kept outside, with the place in the program.
        read: the floats that are read from what is written, with what that is.
        made: the types of the new containers that are kept, by what holds them and the key.
    """

    arrays: list[tuple[ir.Var, Span | None]]
    read: dict[ir.Var, tuple[Journal, Span | None]]
    made: dict[tuple[int, Any], type]


class Journals(Counts):
    """Reads and writes containers outside."""

    def __init__(self) -> None:
        super().__init__()
        self.notes = Notes([], {}, {})
        self.journals: dict[Path, Journal] = {}

    def within(self, low: Any) -> None:
        super().within(low)
        self.notes, self.journals = low.notes, low.journals

    def journal(self, value: Any, path: Path | None) -> Journal | None:
        """What stands for a container outside, if it is one that the function writes."""
        if path is None or type(value) not in CONTAINERS or self.on_free is None:
            return None
        if (WRITTEN, _itself(value)) not in self.known_sites:
            return None
        if path not in self.journals:
            self.guards[Path("attribute", path, "__class__")] = type(value)
            var = self.on_free(path, value)
            assert isinstance(var, ir.Var)
            self.journals[path] = Journal(value, var, path)
        return self.journals[path]

    def write_journal(self, thing: Any, cls: type = object) -> None:
        """Begin again if a container outside, which is about to be written, can be.

        `cls`: the class that it must be of.
        """
        heap = self.state.heap
        path = next((p for p, ref in self.lifted.items() if heap.get(ref.id) is thing), None)
        if path is None or self.on_free is None:
            return
        found = path.read()
        if path.name == "__dict__" or (isinstance(found, dict) and "__builtins__" in found):
            return  # attributes and globals are read by their names, too
        if type(found) in CONTAINERS and isinstance(found, cls):
            sites = frozenset([(WRITTEN, _itself(found))])
            raise NeedStatic(sites, f"{path} is written here", self.span)

    def check_journal(self, function: Any, args: list[Value]) -> None:
        """Begin again if a method writes a container outside, and it can."""
        thing = self.on_heap(args[0]) if args else None
        if getattr(thing, "external", None) and told(function, "__name__", "") in WRITING:
            if told(function, "__objclass__") in CONTAINERS:
                self.write_journal(thing)

    # What is read

    def read_journal(self, journal: Journal, key: Value) -> Value:
        """`journal[key]`, as it is when the program gets here."""
        known = key.value if isinstance(key, ir.Const) else None
        if known is None or not isinstance(journal.thing, (list, dict)):
            raise self.unread(journal)
        factory = getattr(journal.thing, "default_factory", None)
        there = not isinstance(journal.thing, dict) or known in journal.thing
        if not there:
            factory = self.notes.made.get((id(journal.thing), known), factory)
        try:
            found = journal.thing[known] if there or factory not in CONTAINERS else factory()
        except LookupError:
            raise self.unread(journal) from None
        operands, kind = (journal.var, ir.Const(known)), NUMBERS.get(type(found))
        if journal.path is not None and there:
            item = Path("item", journal.path, known)
            self.guards[Path("attribute", item, "__class__")] = type(found)
        name = known if isinstance(known, str) and known.isidentifier() else journal.var.name
        if type(found) in CONTAINERS:
            inferred = Inferred(Opaque(type(found)))
            var = self.emit(read_outside, operands, inferred=inferred, name=name, effect=True)
            return Journal(found, var, None, not there)
        if kind is None:
            raise self.unread(journal)
        inferred = Inferred(kind())
        if type(found) in (int, bool):
            return self.emit(count_outside, operands, inferred=inferred, name=name, effect=True)
        number = self.emit(read_outside, operands, inferred=inferred, name=name, effect=True)
        self.notes.read[number] = (journal, self.span)
        return number

    def unread(self, journal: Journal) -> UnsupportedError:
        return self.refuse(
            f"{str(journal)!r} is written by this function, so that what it holds isn't known here",
            "keep what is read again in a variable of the function",
        )

    def want_journal(self, journal: Journal) -> None:
        """Begin again if what a journal stands for can be followed: see `outer_objects`."""

    def truth_of_journal(self, journal: Journal) -> ir.Var:
        return self.emit(bool, (journal.var,), inferred=Inferred(BOOL), name="test", effect=True)

    # What is written

    def store_journal(self, journal: Journal, key: Value, value: Value) -> None:
        """`journal[key] = value`."""
        self.written_inside(journal)
        cls = self.type_of_new(value)
        if cls is not None and isinstance(key, ir.Const):
            self.notes.made[id(journal.thing), key.value] = cls
        operands = (journal.var, self.entry(key), self.entry(value))
        self.act(put_outside, *operands)

    def written_inside(self, journal: Journal) -> None:
        """Begin again if it isn't known yet that a container in a container is written."""
        site = (WRITTEN, _itself(journal.thing))
        if not journal.fresh and site not in self.known_sites:
            raise NeedStatic(frozenset([site]), f"{journal} is written here", self.span)

    def call_of_journal(self, function: Any, args: list[Value], kwargs: dict[str, Value]) -> Value:
        """What a function does that is given a container outside."""
        journal, *others = args
        name = told(function, "__name__", "")
        if not isinstance(journal, Journal):
            raise self.unread(next(a for a in args if isinstance(a, Journal)))
        if function is builtins.len:
            kind = Inferred(int_kind())
            return self.emit(len, (journal.var,), inferred=kind, name="length", effect=True)
        if name not in WRITING or getattr(type(journal.thing), name, None) is not function:
            raise self.unread(journal)
        if name == "setdefault":
            return self.default_of_journal(journal, *others)
        self.written_inside(journal)
        operands = (journal.var, *map(self.entry, others))
        words = {k: self.entry(v) for k, v in kwargs.items()}
        self.emit(function, operands, words, inferred=Inferred(Opaque(None)), effect=True)
        return ir.Const(None)

    def default_of_journal(self, journal: Journal, key: Value, *default: Value) -> Value:
        """`journal.setdefault(key, [])`, a container in which something is kept then."""
        known = key.value if isinstance(key, ir.Const) else None
        cls = self.type_of_new(default[0]) if default else None
        if known is None or cls is None:
            raise self.unread(journal)
        there = known in journal.thing
        found = journal.thing[known] if there else cls()
        if type(found) not in CONTAINERS:
            raise self.unread(journal)
        self.written_inside(journal)
        if there and journal.path is not None:
            item = Path("item", journal.path, known)
            self.guards[Path("attribute", item, "__class__")] = type(found)
        operands = (journal.var, self.entry(key), *map(self.entry, default))
        inferred = Inferred(Opaque(type(found)))
        var = self.emit(dict.setdefault, operands, inferred=inferred, name="kept", effect=True)
        return Journal(found, var, None, not there)

    def type_of_new(self, value: Value) -> type | None:
        """The type of a list or dict without items; None of anything else."""
        thing = self.on_heap(value)
        if isinstance(thing, ListObject):
            return list if thing.type is list and thing.var is None and not thing.items else None
        empty = isinstance(thing, DictObject) and thing.type is dict and not thing.items
        return dict if empty else None

    def journal_has(self, journal: Journal, key: Value) -> Value:
        """`key in journal`, as it is when the program gets here."""
        if not isinstance(key, ir.Const):
            raise self.unread(journal)
        found = Inferred(BOOL)
        args = (journal.var, key)
        return self.emit(operator.contains, args, inferred=found, name="found", effect=True)

    def check_kept_key(self, key: Any) -> None:
        """Refuse an object as the key of a dict outside."""
        if objects_in_key(key):
            raise self.refuse(
                "an object made here can't be the key of a dict outside", "use a number or a name"
            )

    def dict_outside(self, items: dict[Any, ir.Operand]) -> ir.Var:
        """A new dict that is kept outside."""
        for key in items:
            self.check_kept_key(key)
        inferred = Inferred(Opaque(dict))
        if all(isinstance(k, str) and k.isidentifier() and not iskeyword(k) for k in items):
            return self.emit(dict, (), items, inferred=inferred, effect=True)
        pairs = tuple(ir.Pack(tuple, (ir.Const(k), v)) for k, v in items.items())
        return self.emit(dict, (ir.Pack(list, pairs),), inferred=inferred, effect=True)

    def entry(self, value: Value, holders: int = 0) -> ir.Operand:
        """The operand of what is kept outside: nothing may change it from here on.

        `holders`: how many new lists and dicts refer to it, which are kept too.
        """
        match value:
            case ir.Const():
                return value
            case ir.Var(kind=Array()):
                self.notes.arrays.append((value, self.span))
                return value
            case ir.Var(kind=Scalar()):
                return value
            case Tuple(type=cls, missing=None) if cls is tuple:
                return ir.Pack(tuple, tuple(self.entry(v, holders) for v in value.items))
            case Ref():
                thing = self.state.heap[value.id]
                new = thing.frozen is None and not thing.external
                new = new and references(self.state, value) <= holders
                if new:
                    if isinstance(thing, ListObject) and thing.var is None and thing.type is list:
                        return ir.Pack(list, tuple(self.entry(v, 1) for v in thing.items))
                    if isinstance(thing, DictObject) and thing.type is dict:
                        return self.dict_outside(
                            {k: self.entry(v, 1) for k, v in thing.items.items()}
                        )
        raise self.refuse(
            "only numbers, arrays, and new tuples, lists and dicts of them can be kept outside",
            "keep numbers: float(...)",
        )


def check_journals(low: Journals, function: ir.Function, outputs: list[ir.Var]) -> None:
    """Refuse what would go wrong with what is kept outside.

    Raises:
        UnsupportedError: an array that is kept there is written later, or the result depends on a
            float that was read there.
    """
    if not low.notes.arrays and not low.notes.read:
        return
    aliasing = Aliasing(function.block, function.together)
    for array, span in low.notes.arrays:
        if aliasing.is_written(array):
            raise UnsupportedError(
                "this array is kept outside of the function, and written in place besides",
                span, "keep a copy: x.copy()",
            )  # fmt: skip
    for read, (journal, span) in reversed(low.notes.read.items()):
        activity = Activity(function.block, [read], [], aliasing)
        if any(map(activity.is_varied, outputs)):
            low.want_journal(journal)
            name = str(journal)
            raise UnsupportedError(
                f"the result depends on what is read from {name!r}, which the function writes",
                span, "keep it in a variable of the function",
            )  # fmt: skip


def _itself(value: Any) -> Path:
    return Path("object", value, "")
