"""The interpreter's state, and what its parts ask of one another.

The interpreter is one class in parts, each of which derives from the one before it:

    choices            functions and objects that the data choose
    emission           emitting IR, values as operands
    kept_lists         lists that exist at run time, and the kinds of their items
    builder            variables where values meet, and tuples taken apart
    paths              branches, and what follows where an exception may be raised
    widening           what a variable of a loop is in all iterations
    loops              a loop is lowered until the kinds of what it changes are stable
    counts             counts and flags outside that are written
    journals           lists and dicts outside that are written
    boundness          names that have no value on some paths
    lookup             names, and what comes from outside of the function
    outer_objects      objects outside that are assigned
    operators          operators
    truth              what tests ask, `and`, `or`, conditional expressions
    comparisons        comparisons, identity, `in`
    subscripts         `container[key]`
    stores             `container[key] = ...`, `del container[key]`
    standing           the classes of objects, where others stand in their place
    attributes         `value.name`
    setters            `value.name = ...`
    displays           of tuples, lists and dicts
    expressions        the nodes of expressions
    iteration          loops kept or unrolled
    comprehensions     comprehensions, generators
    long_tuples        tuples of which only the run knows how long they are
    containers         the methods of lists
    sets               sets, and in which order Python goes through them
    slotted            dicts of which there are many, with values of different kinds
    mixed              lists of the run with items of different kinds
    dicts              dicts, and dicts and sets that exist at run time
    iterators          range, zip, enumerate, map, itertools
    selections         its product, combinations and permutations
    cursors            iter and next
    objects            objects of which only the run tells how many there are
    texts              str, repr, format, f-strings, print
    sorting            sorted
    builtin_functions  len, sum, isinstance and the like
    copying            copies, deep ones too
    classes            objects of user classes
    starred            `f(*items)` where only the run knows how many
    inlining           user functions
    primitives         NumPy's functions, and what else has a rule
    libraries          functions of other packages that are called as they are
    kept_results       functions that keep what they have returned
    calls              which of these a call is
    attempts           try and raise
    matching           match
    assignments        assignment, unpacking, `+=` and `del`
    contexts           `with`
    lower              the other statements, and where it begins
"""

from __future__ import annotations

import types
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .. import ir
from ..analysis.inference import Inferred
from ..errors import Span, UnsupportedError
from ..kinds import ListOf, Size, fresh_size
from ..rules import registry
from ..rules.library import Memory
from .likeness import Likeness
from .names import Namespace, Scope
from .restarts import Raised
from .values import (
    Choice,
    Closure,
    DictObject,
    Instance,
    Journal,
    ListObject,
    Path,
    Ref,
    Sequence,
    Slice,
    State,
    Trying,
    Value,
)

if TYPE_CHECKING:
    from .boundness import Read


@dataclass(eq=False, slots=True)
class Frame:
    """A function being run by lowering: its scope, and where its outer names come from."""

    scope: Scope
    source: Any
    namespace: Namespace
    parent: int | None = None
    owner: Any = None
    receiver: Any = None
    name: str = ""
    comprehension: bool = False
    consumer: Any = None  # of a generator: the frame that consumes it, and what it does
    node: Any = None  # the definition of the function
    held_by: frozenset[int | None] = frozenset()  # of a generator: the frames that have it
    closing: bool = False  # of a generator: whether it is told that its consumer doesn't go on


class Machine:
    """The interpreter's state, and the methods used before the module that defines them."""

    def __init__(self) -> None:
        self.block = ir.Block()
        self.held_by: frozenset[int | None] = frozenset()  # of the generator that is run next
        self.managing = False  # whether the generator that is run next is a context manager
        self.outer_memory = Ref(0)  # what functions outside have returned
        self.results_made: set[Any] = set()  # by memories and keys
        # Arrays and lists that functions outside keep: which do, and what made them
        self.kept_outside: dict[ir.Var, tuple[str, list[ir.Statement]]] = {}
        self.state = State(
            {}, {0: Instance(Memory, {"maxsize": ir.Const(None), "typed": ir.Const(True)})}
        )
        self.span: Span | None = None
        self.fixed_span = False
        self.widened: set[int] = set()  # the sizes that stand for several in a loop or list
        self.settling: set[int] = set()  # those of them that the loop being settled brought in
        self.unlengthened: set[Any] = set()  # where it keeps tuples that aren't made longer
        self.since: int | None = None  # sizes older than this are the same in all its iterations
        self.standing: frozenset[int] = frozenset()  # the objects that are there before it
        self.times_forgotten = 0  # how often it was forgotten how long all lists are
        # What loops carry, by where they stand: in this round of the loop around, and in the last
        self.carried: dict[Any, list[Any]] = {}
        self.carried_before: dict[Any, list[Any]] = {}
        self.first_loop: int | None = None  # sizes older than this are the same in all iterations
        self.lengths: dict[ir.Var, Size] = {}  # of lists from outside
        # "powers": ints have been powers that may be floats; "asked": what an int is has been asked
        self.about_ints: set[str] = set()
        self.unrollable: set[Any] = set()
        # Of the index of a loop: what must be known to do something else instead of the loop
        self.instead_of: dict[Any, frozenset[Any]] = {}
        # How often lists and arrays were written, and how often lists were made longer or shorter
        self.rewritten: Counter[ir.Var] = Counter()
        self.resized: Counter[ir.Var] = Counter()
        self.viewed: dict[ir.Var, frozenset[ir.Var]] = {}  # what a view is a view of, in the end
        self.not_negative: set[ir.Var] = set()  # ints that surely aren't negative
        self.first_lengths: dict[ir.Var, int] = {}  # of those that were known item by item before
        self.sources: list[Any] = []  # what is being made goes through these lists
        self.dynamic_sites: set[int] = set()  # expressions whose list must exist at run time
        # Of a list: those with items of the same kind, or parts of it; see `Builder.link`.
        self.links: dict[ir.Var, list[tuple[tuple[int, ...] | None, ir.Var, bool]]] = {}
        self.likeness = Likeness()
        # Of `x.flat`: what it goes through, x, and how often that had been written
        self.flats: dict[ir.Var, tuple[ir.Var, int]] = {}
        self.imaginary: dict[ir.Var, ir.Var] = {}  # of `z.imag`: of which array, z
        self.stores_seen: set[ir.Assign] = set()  # stores of which it is known whether they overlap
        self.record_fields: set[ir.Var] = set()  # which in NumPy lie between each other
        self.sites: dict[int, int] = {}  # of a reference: the expression that made the list
        self.has_deques = False  # which stand on the heap as lists do
        self.deques: set[int] = set()  # references to what surely is one
        self.in_part: set[ir.Var] = set()  # unknown objects that may have been gone through in part
        self.bounded: dict[int, int] = {}  # to those outside with a maxlen: this
        self.loop_depth = self.fork_depth = 0  # loops around this place, branches in the innermost
        self.iterators: dict[int, Any] = {}  # by their births: where they got a name
        self.at_work: tuple[Any, ...] = ()  # where the iterators were made that make items now
        self.loop_began = 0  # what is born before is outside of the innermost loop
        self.unbound: UnsupportedError | None = None  # a name that had no value in this round
        self.peelable = False  # whether the loop being settled can do without its first iteration
        self.thawed: set[Any] = set()  # loops and branches that mustn't freeze lists
        self.size_origins: dict[int, frozenset[Any]] = {}  # the arguments a dimension is of
        self.demanding: list[ir.Assign] = []  # see `transform.conformity`
        self.reads: list[Read] = []  # of names that may be unbound
        self.unsure: list[Read] = []  # of them, those of which only the run tells that they are
        # Names of frames that have no value on some paths, of which no variable tells
        self.untold: set[tuple[int, str]] = set()
        self.outer_sizes: set[int] = set()  # those that are dimensions of these arguments
        # Names that were looked up with what they held, and, without a name, what was lifted
        self.looked_up: list[tuple[str | None, Value]] = []
        # Checks that nothing is twice in what `copy.deepcopy` copies, and the copies
        self.types_written: set[type] = set()  # of objects
        # What checks that objects are in one place of what is copied deeply, and of which classes
        self.checked_once: dict[ir.Assign, set[type]] = {}
        self.deep_copies: list[tuple[ir.Statement, tuple[ir.Var, ...]]] = []
        self.current = 0  # the frame being run
        self.frames: dict[int, Frame] = {}
        self.free: dict[Path, Value] = {}  # numbers and arrays that are read outside
        self.static_paths: dict[Path, Any] = {}
        self.guards: dict[Path, Any] = {}
        self.on_free: Callable[[Path, Any], Value] | None = None
        self.on_list: Callable[[Path, Any], Ref | None] | None = None
        self.on_dict: Callable[[Path, dict[Any, Any]], Ref | None] | None = None
        self.known_sites: frozenset[Any] = frozenset()  # what must be known, and so is
        self.read_of: set[int] = set()  # objects outside of which an attribute is read
        self.left_alone: list[Any] = []  # context managers outside that aren't looked into
        self.refusing: dict[Span | None, dict[Any, str]] = {}  # see Task
        self.records: set[int] = set()  # expressions that would keep objects in a run-time list
        # What isn't None if a test is true, and what if it is false; and what isn't None here.
        self.implied: dict[ir.Var, tuple[frozenset[ir.Var], frozenset[ir.Var]]] = {}
        self.given_here: frozenset[ir.Var] = frozenset()
        self.returned: Span | None = None  # where the function returned last
        self.ruled_out: dict[Choice, frozenset[int]] = {}  # what choices aren't here
        self.made_of: dict[Choice, Value] = {}  # the choices of a tuple and None
        # What a test says: of which choice, which options it may be where it holds, where it fails.
        self.meanings: dict[ir.Var, tuple[Choice, frozenset[int], frozenset[int]]] = {}
        self.columns_made: set[Choice] = set()  # what zip(*rows) gives, not named yet
        self.site = 0  # the expression being evaluated
        self.lifted: dict[Path, Ref] = {}
        self.lifting: dict[int, Ref] = {}  # of containers whose items are being lifted, by id
        self.holders: dict[int, ir.Var] = {}  # of references to arguments: what they stand for
        # Of references to objects in lists outside: the variable that holds what such an object
        # does, and what tells which it is.
        self.records_of: dict[int, tuple[ir.Var, Value | None]] = {}
        self.keeps_dicts = False  # whether lists keep dicts as the tuples of their values
        self.keeping: set[int] = set()  # references to what it is asked how a list keeps it
        self.lists_of_records: dict[ir.Var, ir.Assign] = {}  # how those lists are made
        self.of_arguments: dict[int, str] = {}  # of references: the argument that they are part of
        # Of references to copies of what arguments hold: what holds the original
        self.copies: dict[int, ir.Var | None] = {}
        self.copied_keys = self.outer_keys = False  # are copies keys? are objects outside?
        self.holdable: dict[int, Any] = {}  # of references to dicts: what asks for one value
        self.outer_objects: set[int] = set()  # references to what was ever lifted
        self.depth = 0
        self.active_nodes: list[int] = []  # of the functions being inlined
        self.active_blocks: list[ir.Block] = []  # where they are called
        self.calls_made = 0
        self.widening: set[int] = set()  # the objects in which others are being widened
        self.trying: Trying | None = None  # the try whose body is being lowered
        # Of tries with a long handler, by their places: whether their paths meet before it
        self.handled_once: dict[Any, bool] = {}
        self.handling: Value | None = None  # what the handler that is being lowered has caught
        self.telling = False  # whether what is lowered is told only: printed, or by an exception
        self.suspended: Trying | None = None  # the try around the yield whose item is consumed
        self.splits: dict[ir.Block, Any] = {}  # blocks in which others go on: see `paths`
        self.loop_site = 0  # the loop that is about to be lowered
        self.loop_once = False  # whether it has one iteration at most
        # by frame: what holds whether its innermost loop, if it has an `else`, was broken off
        self.broken: dict[Any, str] = {}
        self.captured: set[int] = set()
        self.generators: dict[int, int] = {}  # generator expressions, by births: their frames
        self.methods: dict[int, list[Closure]] = {}  # the functions made in the bodies of classes
        self.inlined: dict[Any, types.CodeType] = {}
        self.given_sources: dict[types.CodeType, str] = {}  # where Python keeps none
        self.kept: frozenset[Any] = frozenset()  # functions that must be units
        self.making: list[Any] = []  # the units around this place
        # Functions that are units if they are pure; None if all others are inlined
        self.shared: frozenset[Any] | None = None
        self.units: dict[Any, ir.Unit] = {}  # their units, by what they do
        self.shared_units: dict[ir.Unit, Any] = {}  # these, with their functions
        self.calls: Any = None  # what is known of functions that are inlined: `sharing.Calls`
        self.emitted = 0
        self.longest: int | None = None  # how many statements may be emitted
        self.compact = False  # lists of like items are kept, and loops over them, wherever they can
        self.takes_apart = False  # lists that might be kept, and unrolls loops for it
        self.texts: dict[str, ir.Var] = {}  # those given as arguments, by what they are
        self.asks = True  # for ints from whose values the kinds of results may follow
        self.asked: set[str] = set()  # what those were called
        self.longest_asked: int | None = None  # how many statements there may be once some were
        self.objects: Any = None  # what is known of objects in tables: `objects.Knowledge`
        self.column_vars: dict[Any, ir.Var] = {}  # the lists of the tables
        self.opened: list[tuple[Any, Any, ir.Var]] = []  # those that were made, with their places
        self.table_scope: tuple[Any, ...] = ()  # the function whose gradient is taken, around here
        self.met: dict[Any, Any] = {}  # what attributes are by what was stored, by table and name
        self.guessed = False  # an attribute was read that no object has, as far as is known
        self.renamed = ir.Renaming()  # of an object whose class is known: the object
        self.wanted: Any = None  # what kind of unit the next function inlined must be

    def within(self, low: Machine) -> None:
        """Continue where another lowering stopped, seeing what it sees."""
        self.frames, self.state = low.frames, low.state
        self.on_free, self.on_list, self.on_dict = low.on_free, low.on_list, low.on_dict
        self.lengths, self.about_ints = low.lengths, low.about_ints
        self.widened, self.current = low.widened, low.current
        self.inlined, self.guards = low.inlined, low.guards
        self.kept, self.objects = low.kept, low.objects
        self.asks, self.asked = low.asks, low.asked
        self.read_of, self.left_alone = low.read_of, low.left_alone
        self.types_written, self.checked_once = low.types_written, low.checked_once

    def within_unit(self, unit: ir.Unit) -> None:
        """Continue in a function that stays one: what is outside isn't handed on to it.

        Rules that read numbers and arrays there find constants, which are guarded.
        """
        self.within(unit.context)
        self.on_free = self.on_list = self.on_dict = None

    def vary_sizes(self) -> None:
        """From here on new sizes may differ from iteration to iteration, or item to item."""
        if self.first_loop is None:
            self.first_loop = fresh_size().base

    def on_heap(self, value: Any) -> Any:
        """The object on the abstract heap that a value refers to; None if it is something else."""
        return self.state.heap.get(value.id) if isinstance(value, Ref) else None

    def thing(self, value: Any) -> Any:
        """The object that a value refers to, on the abstract heap or in a table; or None."""
        return self.on_heap(value)

    if TYPE_CHECKING:  # used before the module that defines them

        def has_flag(self, name: str) -> bool: ...
        def half_bound(self, number: int, name: Any, value: Value) -> None: ...
        def ran(self, bounds: tuple[ir.Operand, ir.Operand, ir.Operand] | None) -> Value | None: ...
        def class_default(self, cls: type, name: Any) -> ir.Const: ...
        def may_be_none(self, value: Value) -> bool: ...
        def tuple_or_none(self, value: Value) -> Value: ...
        def classes_of(self, value: Value) -> set[type] | None: ...
        def construct(self, cls: type, args: list[Value], kwargs: dict[str, Value]) -> Value: ...
        def absent_attribute(self, cls: type, name: Any) -> ir.Const: ...
        def specialisable(self, origins: frozenset[Any]) -> bool: ...
        def spread(self, value: Any) -> Any: ...
        def wants_table(self, thing: Any) -> None: ...
        def reference_attribute(self, value: ir.Var, name: str) -> Value: ...
        def by_class(
            self,
            value: Value,
            name: str,
            args: list[Value],
            lacking: str,
            kwargs: dict[str, Value] | None = None,
        ) -> Value: ...
        def bound(self, found: Value, receiver: Value, cls: type) -> Value: ...
        def same_reference(self, a: Value, b: Value) -> Value: ...
        def check_references(
            self, function: Any, args: tuple[ir.Operand, ...], kwargs: dict[str, ir.Operand]
        ) -> None: ...
        def unknown_attribute(self, thing: Instance, name: str) -> UnsupportedError: ...
        def write(self, value: ir.Var, name: str, new: Value) -> None: ...
        def unique(self) -> int: ...
        def compared_fields(self, function: Any, a: Value, b: Value) -> Value: ...
        def emit(
            self,
            function: Any,
            args: tuple[ir.Operand, ...],
            kwargs: dict[str, ir.Operand] | None = None,
            name: str = "",
            inferred: Inferred | None = None,
            effect: bool = False,
            writes: tuple[ir.Var, ...] = (),
        ) -> ir.Var: ...
        def branch(
            self,
            test: ir.Operand,
            then: Callable[[], None],
            orelse: Callable[[], None],
            rest: Callable[[], None] | None = None,
        ) -> bool: ...
        def refuse(self, message: str, advice: str | None = None) -> UnsupportedError: ...
        def raise_at_run_time(self, error: Raised) -> None: ...
        def check_flags(self, a: State, b: State) -> None: ...
        def receiver(self, thing: Any) -> Value: ...
        def special(self, function: Any) -> Callable[..., Value | None] | None: ...
        def known(self, name: str, value: Any) -> Value: ...
        def expression(self, node: Any) -> Value: ...
        def iterable(self, node: Any) -> Value: ...
        def tested(self, node: Any) -> ir.Var | ir.Const: ...
        def key(self, value: Value) -> Any: ...
        def hashed(self, value: Value) -> Any: ...
        def need_static(self, value: Value, message: str) -> None: ...
        def opaque(self, function: Any, args: list[Value]) -> Value: ...
        def unpacked(self, value: Value) -> list[Value]: ...
        def has_any_length(self, value: Value) -> bool: ...
        def comprehension(self, node: Any) -> Value: ...
        def generator_expression(self, node: Any) -> Value: ...
        def generator_of(self, closure: Closure, values: dict[str, Value]) -> Value: ...
        def run_function(
            self,
            closure: Closure,
            values: dict[str, Value],
            consume: Callable[[Value], None] | None = None,
        ) -> Value | None: ...
        def iterate(
            self, iterable: Value, body: Callable[[Value], None], name: str = "i"
        ) -> None: ...
        def sequence(self, value: Value) -> Sequence | None: ...
        def yielded(self, value: Value, node: Any = None) -> None: ...
        def yielded_inside(self, value: Value) -> None: ...
        def note_ended(self, error: Value) -> None: ...
        def exception_class(self, value: Value) -> type[BaseException]: ...
        def is_told_at(self, node: Any) -> bool: ...
        def close_generator(self) -> None: ...
        def run_closing(self, number: int, statements: list[Any]) -> None: ...
        def attempt(
            self,
            caught: tuple[type[BaseException], ...],
            run: Callable[[], None],
            handle: Callable[[Value], None],
            otherwise: Callable[[], None] = ...,
        ) -> None: ...
        def narrowed(self, value: Value) -> Value: ...
        def append(self, ref: Ref, value: Value) -> None: ...
        def builtin_list(self, value: Value | None = None) -> Value: ...
        def builtin_tuple(self, value: Value | None = None) -> Value: ...
        def extend(self, ref: Ref, part: Value) -> None: ...
        def long_tuple(self, value: Value) -> Value: ...
        def lengthened(self, state: State, block: ir.Block, value: Any) -> Any: ...
        def joined_tuples(self, a: Value, b: Value) -> Value | None: ...
        def as_shape(self, value: Value) -> Value: ...
        def as_item(self, kind: Any, value: Value) -> Value: ...
        def list_of_items(self, value: Value) -> Value: ...
        def listed(self, length: Value, item: Callable[[Value], Value], of: type = list) -> Ref: ...
        def settled_keys(self, thing: DictObject) -> None: ...
        def unfrozen(self, thing: Any) -> None: ...
        def want_own(self, thing: Any) -> None: ...
        def want_journal(self, journal: Journal) -> None: ...
        def call_as_it_is(self, function: Any, used: Iterable[Any] = ()) -> None: ...
        def put_items(self, ref: Ref, items: dict[Any, Value]) -> None: ...
        def writable(self, thing: Any) -> None: ...
        def replace_slice(self, ref: Ref, key: Slice, value: Value) -> None: ...
        def augmented(self, function: Any, old: Value, value: Value) -> Value: ...
        def builtin_copy(self, value: Value) -> Value: ...
        def has_slots(self, thing: DictObject) -> bool: ...
        def wants_slots(self, thing: DictObject) -> None: ...
        def with_slots(self, ref: Ref) -> Value: ...
        def site_of_kinds(self, refs: list[Ref]) -> frozenset[Any]: ...
        def has_kinds(self, thing: ListObject) -> bool: ...
        def content(self, box: Value) -> Value: ...
        def mixed(self, ref: Ref) -> Ref: ...
        def builtin_len(self, value: Value) -> Value: ...
        def as_slice(self, container: Value, key: Value) -> Value: ...
        def builtin_range(self, *args: Value) -> Value: ...
        def int_bounds(self, sequence: Any) -> tuple[Any, ...]: ...
        def builtin_sorted(self, value: Value, **kwargs: Value) -> Value: ...
        def order_of(self, value: Value, **kwargs: Value) -> ir.Var: ...
        def builtin_type(self, value: Value, *rest: Value) -> Value: ...
        def may_be_deque(self, thing: Any) -> bool: ...
        def primitive(
            self,
            function: Any,
            record: registry.Primitive | None,
            args: list[Value],
            kwargs: dict[str, Value],
        ) -> Value: ...
        def unknown_call(
            self, function: Any, args: list[Value], kwargs: dict[str, Value]
        ) -> Value: ...
        def call(self, function: Value, args: list[Value], kwargs: dict[str, Value]) -> Value: ...
        def call_object(
            self, function: Any, args: list[Value], kwargs: dict[str, Value]
        ) -> Value: ...
        def object_classes(self, value: Value) -> tuple[type, ...]: ...
        def is_array_like(self, value: Value) -> bool: ...
        def of_array_and_object(self, function: Any, a: Value, b: Value) -> Value | None: ...
        def assign(self, target: Any, value: Value) -> None: ...
        def run(self, statements: list[Any]) -> None: ...
        def attribute(self, value: Value, name: str) -> Value: ...
        def operand(self, value: Any) -> ir.Operand: ...
        def passed(
            self, given: list[tuple[str | None, Value]]
        ) -> tuple[list[Value], dict[str, Value]]: ...
        def argument(self, value: Value) -> ir.Operand: ...
        def plain_setattr(self, target: Value, name: Value, value: Value) -> Value: ...
        def added_attribute(self, value: Value, cls: type, name: str) -> Value | None: ...
        def builtin_vars(self, value: Value) -> Ref: ...
        def static(self, value: Value) -> Any: ...
        def compare(self, op: Any, a: Value, b: Value) -> Value: ...
        def negated(self, value: Value) -> ir.Var | ir.Const: ...
        def equal_items(self, item: Value, value: Value) -> Value: ...
        def identical(self, a: Value, b: Value) -> Value: ...
        def defined(
            self, function: Any, definition: Any, args: list[Value], kwargs: dict[str, Value]
        ) -> Value: ...
        def computed(
            self, function: Any, args: list[Value], kwargs: dict[str, Value]
        ) -> Value | None: ...
        def dict_operator(self, function: Any, a: Value, b: Value) -> Value | None: ...
        def counter_operator(self, name: str, value: Value, *others: Value) -> Value | None: ...
        def outside(self, ref: Ref) -> ir.Operand | None: ...
        def inline(self, function: Any, args: list[Value], kwargs: dict[str, Value]) -> Value: ...
        def cursor(self, sequence: Any) -> Ref: ...
        def is_cursor(self, value: Value) -> bool: ...
        def is_optional(self, value: Any) -> bool: ...
        def lazily(self, value: Value) -> Value: ...
        def has_method(self, value: Value, name: str) -> bool: ...
        def closure(self, node: Any, name: str) -> Closure: ...
        def closure_of(self, function: Any) -> Closure: ...
        def capture_frames(self) -> None: ...
        def leave_frame(self, number: int, *others: State) -> None: ...
        def is_keepable(self, thing: Instance) -> bool: ...
        def tabulate(self, ref: Ref) -> None: ...
        def asks_at_run_time(self, value: Value, key: Value) -> bool: ...
        def is_known_soon(self, unknown: list[ir.Var]) -> bool: ...
        def keys_of(self, thing: DictObject) -> list[Any]: ...
        def missing_item(self, value: Value, key: Any) -> Value: ...
        def changed(self, value: Value, items: dict[Any, Value]) -> None: ...
        def kind_of_keys(self, where: Value) -> ListOf: ...
        def lookup_made_set(self) -> Value: ...
        def lookup_join(self, where: Value, key: Value) -> Value: ...
        def lookup_part(self, where: Value, key: Value) -> Value: ...
        def lookup_taken(self, where: Value) -> Value: ...
        def lookup_empty(self, where: Value) -> Value: ...
        def lookup_change(self, function: Value, where: Value, other: Value) -> Value: ...
        def lookup_combine(self, function: Value, where: Value, other: Value) -> Value: ...
        def lookup_of(self, where: Value) -> ir.Var: ...
        def new_set(self, items: dict[Any, Value], order: Any = None) -> Ref: ...
        def outer(self, thing: Any, path: Path | None) -> Ref | None: ...
        def is_taken(self, ref: Ref) -> bool: ...
        def rest_of(self, ref: Ref) -> Sequence: ...
        def catcher(self, exception: type[BaseException]) -> Trying | None: ...
        def throw(self, value: Value) -> None: ...
        def shown(self, value: Value) -> ir.Operand: ...
        def check_wording(self, value: Value) -> None: ...
        def own_text(self, value: Value, form: str) -> Value | None: ...
        def insist(
            self,
            test: Value,
            exception: type[BaseException],
            message: str,
            given: tuple[Any, ...] | None = None,
        ) -> None: ...
        def forget(self, block: ir.Block, count: int) -> None: ...
        def guard_store(self, array: ir.Var, index: ir.Operand, value: ir.Operand) -> None: ...
        def data(self, value: Value, role: str) -> Value: ...
        def throw_new(self, exception: type[BaseException], args: list[Value]) -> None: ...
        def guard(
            self, function: Any, operands: tuple[ir.Operand, ...], named: dict[str, ir.Operand]
        ) -> None: ...
