"""Objects of which only the run tells how many there are: trees, linked lists, records.

There is no object at run time. All objects of a class stand in a table: a list for each attribute,
in which an object's number says where its value stands. A reference is that number, or None
(`kinds.Reference`). Nothing else of the compiler knows of tables: `node.mass` is an item of a list
like any other, `node.mass = m` a store to it, `node.next is None` a test of a number, and all three
have their derivatives already. So two names for one object, objects that refer to each other and
objects in lists need no care: they are numbers. An object is never forgotten, and no number is
given twice, so that two references are the same object where their numbers are equal.

A tuple is kept in parts, each in a list of its own; a function, which all objects must have in
common, in none. Which attributes there are, and of which kinds, is found by lowering the program
again until nothing is new: an attribute that no object has yet makes the path that reads it
unreachable for this time.
"""

from __future__ import annotations

import contextlib
import operator
import types
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import numpy as np

from .. import ir, runtime
from ..analysis.inference import Inferred
from ..errors import UnsupportedError
from ..ir import list_append
from ..joins import KindMismatch
from ..kinds import BOOL, INT, Array, ListOf, Opaque, Places, Reference, Scalar, TupleOf, fresh_size
from .columns import (
    ANY,
    MISSING,
    Column,
    Columns,
    Common,
    Leaf,
    Parts,
    Table,
    Unkept,
    classes_in,
    holds_named,
    holds_references,
    is_reference,
    is_same,
    leaves,
    mapped,
    with_leaf,
    without_sizes,
)
from .cursors import Cursors
from .lookup import LOCAL
from .predicates import FALSE, NONE, SIMPLE, TRUE, is_none
from .restarts import Unreached
from .slots import spelled, told_class
from .structure import is_nothing, item_structure, nothing, resized
from .subclasses import gives, protocol_members
from .values import Choice, DictObject, Instance, ListObject, Tuple, Value
from .wording import described, plural

TAGS = ""  # the name of the column that says of which class an object is


class Objects(Cursors):
    """Makes objects in tables, and reads and writes their attributes."""

    def open_tables(self) -> None:
        """Make the lists, at the beginning of the program or of a function differentiated in it."""
        tables = [t for t in self.objects.tables if t.scope == self.table_scope]
        if tables:
            self.vary_sizes()
        for table in tables:
            name = "_".join(dict.fromkeys(cls.__name__.lower() for cls in table.classes))
            self.make_column(table, (TAGS,), INT, plural(name))
            for attribute, column in table.columns.items():
                shown = spelled(table.classes[0], attribute)
                for path, leaf in leaves(column, (attribute,)):
                    text = "_".join([name, shown, *map(str, path[1:])])
                    self.make_column(table, path, leaf.kind, text.replace(str(MISSING), "missing"))

    def make_column(self, table: Table, path: Any, item: Any, name: str) -> None:
        kind = ListOf(self.with_sizes(item))
        var = self.emit(list, (ir.Pack(list, ()),), inferred=Inferred(kind), name=name)
        self.column_vars[table, path] = var
        self.opened.append((table, path, var))

    @contextlib.contextmanager
    def inner_tables(self) -> Iterator[None]:
        """Around the lowering of a function whose gradient is taken inside the program."""
        outer, span = self.table_scope, self.span
        place = (span.filename, span.line, span.column) if span is not None else ()
        self.table_scope = (*outer, place)
        self.open_tables()
        try:
            yield
        finally:
            for table, path in [k for k in self.column_vars if k[0].scope == self.table_scope]:
                del self.column_vars[table, path]
            self.table_scope = outer

    def column_var(self, table: Table, path: Any) -> ir.Var:
        """The list that an attribute of the objects in a table is kept in."""
        var = self.column_vars.get((table, path))
        if var is None:
            raise self.unkept(
                "an object that is made inside a function whose derivative is taken here is used "
                "outside of it",
                "return the numbers and arrays that it holds",
            )
        return var

    def with_sizes(self, item: Any) -> Any:
        """A kind in which each dimension is one that may vary."""

        def size(n: Any) -> Any:
            if n != ANY:
                return n
            new = fresh_size()
            self.widened.add(new.base)
            return new

        return mapped(item, size)

    def close_tables(self) -> None:
        """At the end of the program: see whether what was known at its beginning was everything.

        Raises:
            Columns: it wasn't.
        """
        known, new = self.objects, self.learned()
        if new or (self.guessed and not known.final):
            known.final = not new
            raise Columns
        ir.rename(self.block, self.renamed)

    def tables_made(self) -> dict[ir.Var, list[ir.Var]]:
        """The lists of each table that was made, by the one whose length is the next number.

        But of those whose adjoints are taken inside the program: these have lists beside them.
        """
        lists: list[list[ir.Var]] = []
        for table, path, var in self.opened:
            if table.scope:
                continue
            if path == (TAGS,):
                lists.append([])
            lists[-1].append(var)
        return {columns[0]: columns for columns in lists}

    def learned(self) -> bool:
        """Take down what was found of the attributes; whether any of it is new."""
        for table, path, var in self.opened:
            if path != (TAGS,):
                assert isinstance(var.kind, ListOf)
                name, *inner = path
                column = self.met.get((table, name), table.columns[name])
                self.met[table, name] = with_leaf(column, inner, without_sizes(var.kind.item))
        new = False
        for (table, name), column in self.met.items():
            if table.columns.get(name) != column:
                table.columns[name] = column
                new = True
        return new

    # Objects

    def table_of(self, cls: type) -> Table | None:
        """The table of a class, objects of which may be many."""
        table: Table | None = self.objects.table(cls, self.table_scope)
        if table is None:
            many = bool(self.loop_depth or self.making or self.fork_depth)
            self.wants_table(Instance(cls, {}), many)
        return table

    def wants_table(self, thing: Any, many: bool = True) -> None:
        """Note that an object had better stand in a table, if it can: it is of a user's class.

        So is a dict that has a slot for each of its keys.

        A class that the program defines itself is another one each time that it is lowered.
        """
        if isinstance(thing, DictObject):
            self.wants_slots(thing)
        if not isinstance(thing, Instance) or thing.external or LOCAL in vars(thing.type):
            return
        if thing.type.__module__.partition(".")[0] != __name__.partition(".")[0]:
            wanted = self.objects.candidates if many else self.objects.single
            wanted[thing.type, self.table_scope] = None

    def new_object(self, cls: type, table: Table) -> ir.Var:
        """A new object, none of whose attributes is set."""
        tags = self.column_var(table, (TAGS,))
        kind = Reference(table, frozenset([cls]))
        made = self.emit(len, (tags,), inferred=Inferred(kind), name=cls.__name__.lower())
        self.modify(list_append, tags, ir.Const(table.classes.index(cls)))
        for name, column in table.columns.items():
            default = self.default(cls, name)
            if default is not ir.UNDEFINED:
                self.meet(table, name, default)
            for path, leaf in leaves(column, (name,)):
                var = self.column_var(table, path)
                item = NONE if default is ir.UNDEFINED or len(path) > 1 else default
                if not is_none(item) and leaf.kind is not None:
                    self.keep(var, item)
                self.modify(list_append, var, TRUE if path[-1] == MISSING else item)
        return made

    def default(self, cls: type, name: str) -> ir.Const:
        """What an attribute is where an object doesn't have its own."""
        default, found = self.class_default(cls, name), self.class_attribute(cls, name)
        if default is not ir.UNDEFINED or found is None or self.is_described(found):
            return default
        raise self.unkept(
            f"the attribute {name!r} of the class {cls.__name__} can't be that of its objects too",
            "set it in __init__",
        )

    def is_described(self, found: Value) -> bool:
        """Whether a class attribute says itself what an object's attribute is."""
        value = getattr(found, "value", None)
        if isinstance(value, (property, types.MemberDescriptorType)):
            return True
        return self.descriptor(found, "__get__") is not None

    def appended(self, block: ir.Block, start: int) -> None:
        """Append to the lists what a constructor stores, rather than None to be replaced by it."""
        if block is not self.block:
            return
        statements = block.statements
        for var in self.column_vars.values():
            made = range(start, len(statements))
            at = next((i for i in made if adds_default(statements[i], var)), None)
            if at is None:
                continue
            use = next((i for i in made[at + 1 - start :] if mentions(statements[i], var)), None)
            store = None if use is None else statements[use]
            if isinstance(store, ir.Assign) and store.function is operator.setitem:
                assert use is not None
                self.modify(list_append, var, store.args[2])
                added = statements.pop()
                assert isinstance(added, ir.Assign)
                added.span = store.span
                statements[use] = added
                del statements[at]

    # Attributes

    def row(self, value: ir.Var) -> Instance | None:
        """An object in a table as one on the heap, its attributes read when they are asked for."""
        kind = value.kind
        if not isinstance(kind, Reference):
            return None
        if len(kind.types) != 1:
            raise self.unkept("of which class this object is isn't known when compiling")
        (cls,) = kind.types
        return Instance(cls, Row(self, value))

    def thing(self, value: Any) -> Any:
        if isinstance(value, ir.Var):
            return self.row(value)
        return super().thing(value)

    def read(self, value: ir.Var, name: str) -> Value:
        """`value.name`, of an object in a table."""
        assert isinstance(value.kind, Reference)
        table: Table = value.kind.table
        given = (gives(c, name) or self.class_attribute(c, name) for c in value.kind.types)
        if all(given):
            return self.read_column(table, (name,), table.columns[name], value)
        if self.catcher(AttributeError) is not None:
            self.check_settled(value, name)
        found = self.read_column(table, (name,), table.columns[name], value)
        if isinstance(found, ir.Var) and not found.optional and not is_reference(found):
            self.check_set(found, value, name)
        return found

    def check_set(self, found: ir.Var, value: ir.Var, name: str) -> None:
        """Let the run see whether an object has an attribute that is never None where it has it."""
        assert isinstance(value.kind, Reference)
        (cls, *_) = classes_in(value.kind)
        there = self.emit(operator.is_not, (found, NONE), inferred=Inferred(BOOL), name="there")
        message = f"{cls.__name__!r} object has no attribute {name!r}"
        self.act(runtime.check_attribute, there, ir.Const(message))

    def read_column(self, table: Table, path: Any, column: Column, at: ir.Var) -> Value:
        if isinstance(column, Common):
            return column.value  # type: ignore[no-any-return]
        if isinstance(column, Parts):
            items = tuple(
                self.read_column(table, (*path, i), item, at) for i, item in enumerate(column.items)
            )
            missing = self.item_at(table, (*path, MISSING), at) if column.optional else None
            return Tuple(items, column.type, None, missing)
        if column.kind is None:
            return NONE
        item = self.item_at(table, path, at)
        item.optional = column.optional
        return self.project(item, self.column_var(table, path))

    def item_at(self, table: Table, path: Any, at: ir.Var) -> ir.Var:
        var = self.column_var(table, path)
        assert isinstance(var.kind, ListOf)
        kind = resized(item_structure(var.kind.item), self.first_loop)
        text = spelled(table.classes[0], next(p for p in reversed(path) if isinstance(p, str)))
        return self.emit(operator.getitem, (var, at), inferred=Inferred(kind, (var,)), name=text)

    def write(self, value: ir.Var, name: str, new: Value) -> None:
        """`value.name = new`, of an object in a table."""
        self.check_there(value)
        if isinstance(new, Choice):

            def put(option: Value) -> Value:
                self.write(value, name, option)
                return NONE

            self.for_each(new, put)
            return
        assert isinstance(value.kind, Reference)
        self.types_written |= value.kind.types
        table: Table = value.kind.table
        self.meet(table, name, new)
        if name in table.columns:
            self.write_column(table, (name,), table.columns[name], value, new)

    def write_column(self, table: Table, path: Any, column: Column, at: ir.Var, new: Any) -> None:
        if isinstance(column, Common):
            return
        if isinstance(column, Parts):
            missing = TRUE if is_none(new) else getattr(new, "missing", None) or FALSE
            if column.optional:
                self.put_at(table, (*path, MISSING), at, missing)

            def put() -> None:
                for i, (item, part) in enumerate(zip(column.items, new.items, strict=True)):
                    self.write_column(table, (*path, i), item, at, part)

            if isinstance(new, Tuple) and len(new.items) == len(column.items):
                self.decided(missing, nothing, put)  # where it is None, its parts are nothing
        elif not isinstance(new, Tuple):  # if it is one, it's new that the attribute may be
            self.put_at(table, path, at, new)

    def put_at(self, table: Table, path: Any, at: ir.Var, new: Any) -> None:
        var = self.column_var(table, path)
        if not is_none(new) and not is_nothing(new):
            self.keep(var, new)
        self.modify(operator.setitem, var, at, self.kept_operand(new))

    # What is known of attributes

    def unkept(self, message: str, advice: str | None = None) -> Unkept:
        return Unkept(message, self.span, advice)

    def meet(self, table: Table, name: str, value: Any) -> None:
        """Note one more value of an attribute."""
        old = self.met.get((table, name), table.columns.get(name))
        try:
            self.met[table, name] = self.column_with(old, value)
        except KindMismatch:
            raise self.unkept(
                f"the attribute {name!r} of objects of which only the run tells how many there are "
                "has values of different kinds",
                "use one attribute for each kind of value",
            ) from None

    def column_with(self, old: Column | None, value: Any) -> Column:
        """What is known of an attribute that may also have this value."""
        empty = isinstance(old, Leaf) and old.kind is None
        if is_none(value) or is_nothing(value):
            if isinstance(old, Common):
                raise KindMismatch
            return Leaf(None, True) if old is None else replace(old, optional=True)
        if isinstance(value, Tuple):
            optional = value.missing is not None or bool(getattr(old, "optional", False))
            if old is None or empty:
                made = (self.column_with(None, item) for item in value.items)
                return Parts(value.type, tuple(made), optional)
            same = isinstance(old, Parts) and old.type is value.type
            if not same or len(old.items) != len(value.items):  # type: ignore[union-attr]
                raise KindMismatch
            items = tuple(map(self.column_with, old.items, value.items))  # type: ignore[union-attr]
            return Parts(value.type, items, optional)
        if not self.is_kept_at_run_time(value):
            if isinstance(old, Common) and is_same(old.value, value):
                return old
            if old is not None:
                raise KindMismatch
            return Common(value)
        if not (old is None or isinstance(old, Leaf)):
            raise KindMismatch
        self.check_kept(value)
        kind = without_sizes(self.item_kind(value))
        if old is not None and old.kind is not None:
            kind = without_sizes(self.stable_items(old.kind, kind))
        optional = self.is_optional(value) or (old is not None and old.optional)
        return Leaf(kind, optional)

    def is_kept_at_run_time(self, value: Any) -> bool:
        if isinstance(value, ir.Const):
            return isinstance(value.value, (*SIMPLE, np.generic))
        return True

    def check_kept(self, value: Any) -> None:
        """Ask for a table for an object that would be kept in one."""
        thing = self.on_heap(value)
        if isinstance(value, (ir.Var, ir.Const)) or isinstance(thing, ListObject):
            return
        if thing is not None:
            self.wants_table(thing)
        raise self.unkept(
            f"{described(value)} can't be kept by objects of which only the run tells how many "
            "there are",
            "keep numbers, arrays, tuples, lists or other objects made in the function",
        )

    # Classes

    def spread(self, value: Any) -> Any:
        """What only the run tells, as a choice: an object of one of several classes, or None."""
        kind = getattr(value, "kind", None)
        if self.is_asked_for_none(value):
            return self.or_none(value)
        if not isinstance(kind, Reference) or len(kind.types) == 1:
            return value
        table: Table = kind.table
        classes = [cls for cls in table.classes if cls in kind.types]
        options: list[Value] = []
        for cls in classes:
            one = ir.Var(value.name, Reference(table, frozenset([cls])), value.user)
            self.renamed[one] = value
            options.append(one)
        return Choice(self.class_number(value, classes), tuple(options))

    def class_number(self, value: ir.Var, classes: list[type]) -> ir.Var:
        """The position among some classes of that of an object."""
        assert isinstance(value.kind, Reference)
        table: Table = value.kind.table
        tags = self.column_var(table, (TAGS,))
        tag = self.emit(operator.getitem, (tags, value), inferred=Inferred(INT), name="kind")
        if classes == table.classes:
            return tag
        places = tuple(classes.index(c) if c in classes else 0 for c in table.classes)
        packed = ir.Pack(tuple, tuple(map(ir.Const, places)))
        return self.emit(operator.getitem, (packed, tag), inferred=Inferred(INT), name="kind")

    def reference_attribute(self, value: ir.Var, name: str) -> Value:
        """`value.name` of an object in a table."""
        assert isinstance(value.kind, Reference)
        if hasattr(None, name) and self.may_be_none(value):
            several: Any = self.object_or_none(value)
            return self.for_each(several, lambda v: self.attribute(v, name))
        self.check_there(value)
        types = value.kind.types
        if len(types) == 1:
            return self.instance_attribute(value, self.row(value), name)  # type: ignore[arg-type]
        found = [self.class_attribute(cls, name) for cls in types]
        table: Table = value.kind.table
        if name in table.columns and not any(f is not None and self.is_described(f) for f in found):
            return self.read(value, name)
        choice = self.spread(value)
        if any(f is None or self.is_described(f) for f in found):
            return self.for_each(choice, lambda option: self.attribute(option, name))
        return self.option_at(choice.index, tuple(self.attribute(o, name) for o in choice.options))

    def check_there(
        self,
        value: ir.Var,
        raised: type[BaseException] = AttributeError,
        message: str = "'NoneType' object has no such attribute",
    ) -> None:
        """Inside a try that catches what None raises: find out first."""
        if self.catcher(raised) is not None:
            self.insist(self.negated(self.same_reference(value, NONE)), raised, message)

    def by_class(
        self,
        value: Value,
        name: str,
        args: list[Value],
        lacking: str,
        kwargs: dict[str, Value] | None = None,
    ) -> Value:
        """What a special method of an object returns, by which Python does something.

        The class is asked for it, never a `__getattr__`; `lacking` is what Python says of a class
        that has none.
        """
        value = self.spread(value)
        if isinstance(value, Choice):
            return self.for_each(value, lambda v: self.by_class(v, name, args, lacking, kwargs))
        if is_none(value):
            error = self.fault(TypeError, lacking.format("'NoneType'"))
            error.late = True
            raise error
        thing = self.thing(value)
        assert isinstance(thing, Instance)
        if isinstance(value, ir.Var):
            self.check_there(value, TypeError, lacking.format("'NoneType'"))
        found = self.class_attribute(thing.type, name)
        if found is None:
            raise self.fault(TypeError, lacking.format(repr(thing.type.__name__)))
        return self.call(self.bound(found, value, thing.type), args, kwargs or {})

    def unknown_attribute(self, thing: Instance, name: str) -> UnsupportedError:
        """What is wrong with an attribute that no object has, as far as is known now."""
        if name in vars(object):
            return self.refuse(f".{name} of an object can't be followed")
        if isinstance(thing.items, Row) and not self.objects.final:
            self.guessed = True
            raise Unreached
        if LOCAL not in vars(thing.type):
            self.guard_having(thing.type, None, name)
        seen = self.seen_classes(thing, thing.type)
        cls = seen[0] if seen else thing.type
        if not self.lacked(thing, name):
            return self.refuse(f".{name} of this kind of {cls.__name__} isn't supported")
        message = f"{cls.__name__!r} object has no attribute {name!r}"
        error = self.fault(AttributeError, message, given=(message,))
        error.late = True  # another trip of a loop may give it one
        return error

    def check_settled(self, value: Value, name: str) -> None:
        """Refuse to ask whether an object has an attribute that others of its table have."""
        kind = getattr(value, "kind", None)
        if not isinstance(kind, Reference) or name not in kind.table.columns:
            return
        if not all(gives(cls, name) for cls in kind.types):
            raise self.unkept(
                f"whether this object has the attribute {name!r} isn't known when compiling",
                "set it to None in __init__, and test for None",
            )

    def is_of_class(self, value: ir.Var, cls: Any) -> Value:
        """`isinstance(value, cls)` of an object in a table."""
        kind = value.kind
        assert isinstance(kind, Reference)
        if any(map(protocol_members, cls if isinstance(cls, tuple) else (cls,))):
            raise self.unkept("isinstance() with a protocol of attributes isn't supported here")
        if issubclass(type(None), cls):
            raise self.unkept("isinstance() with the type of None isn't supported here")
        asked = cls if isinstance(cls, tuple) else (cls,)
        fits = {c for c in kind.types if self.is_of_one(told_class(c), asked)}
        if not fits:
            return FALSE
        there = self.negated(self.same_reference(value, NONE))
        if fits == kind.types:
            return there
        classes = [c for c in kind.table.classes if c in kind.types]

        def ask() -> Value:
            choice = Choice(self.class_number(value, classes), tuple(map(ir.Const, classes)))
            return self.which(choice, [i for i, c in enumerate(classes) if c in fits])

        return self.either(there, ask, lambda: FALSE)

    def is_of_one(self, own: type, classes: tuple[type, ...]) -> bool:
        """Whether objects of a class in a table are of one of several classes."""
        answers = [self.are_of(None, own, c) for c in classes]
        if {True} not in answers and {False, True} in answers:
            raise self.unkept("isinstance() of this value isn't known when compiling")
        return {True} in answers

    def same_reference(self, a: Value, b: Value) -> Value:
        """`a is b`, where one of them is an object in a table."""
        if is_none(a) or is_none(b):
            known = b if is_none(a) else a
            return self.emit(operator.is_, (known, NONE), inferred=Inferred(BOOL), name="test")  # type: ignore[arg-type]
        kinds = [getattr(v, "kind", None) for v in (a, b)]
        if not all(isinstance(kind, Reference) for kind in kinds):
            if any(getattr(v, "optional", False) for v in (a, b) if not is_reference(v)):
                raise self.unkept("whether this is the same object isn't known when compiling")
            return FALSE
        first, second = kinds
        if first.table is second.table:  # type: ignore[union-attr]
            return self.emit(operator.eq, (a, b), inferred=Inferred(BOOL), name="test")  # type: ignore[arg-type]
        tests = [self.same_reference(v, NONE) for v in (a, b)]
        return self.emit(operator.and_, tuple(tests), inferred=Inferred(BOOL))  # type: ignore[arg-type]

    def check_references(
        self, function: Any, args: tuple[ir.Operand, ...], kwargs: dict[str, ir.Operand]
    ) -> None:
        """Refuse to pass the number of an object to what doesn't know that it is one.

        Nor does it know that a tuple in a list stands for an object or a dict.
        """
        inside = isinstance(function, ir.Unit) or function in runtime.HELPERS
        for operand in () if function in FOLLOWED or inside else (*args, *kwargs.values()):
            if any(holds_named(v.kind) for v in ir.variables(operand)):
                raise self.refuse(
                    "objects or dicts in a list of which only the run tells how long it is can't "
                    "be passed to a function that srcgrad doesn't look into"
                )
        if not self.opened:
            return
        if function in FOLLOWED and not takes_plain(function, args):
            if function in (list.pop, list.insert):
                self.check_index(args[1:2])
            for operand in args:
                if isinstance(operand, ir.Pack) and operand.type is slice:
                    self.check_index(operand.items)
            keyed = any(isinstance(getattr(a, "kind", None), Places) for a in args)
            for operand in args if keyed or function is operator.contains else ():
                self.check_identity(operand)
            if len(args) > 1 and (keyed or function in (operator.contains, operator.eq)):
                first, second = map(kind_of, args[:2])
                if isinstance(first, (ListOf, Array)):
                    both = isinstance(second, ListOf)  # of sets, say
                    first, second = item_of(first), item_of(second) if both else second
                if mixes(first, second):
                    raise self.unkept("an object can't be searched for among other values here")
            return
        for operand in (*args, *kwargs.values()):
            for v in ir.variables(operand):
                operates = getattr(function, "__module__", "") == "_operator"
                taken = function in FOLLOWED or function is operator.call
                if is_reference(v) and operates and not taken:
                    error = self.fault(TypeError, "unsupported operand of an operator: an object")
                    error.late = True  # this may be where it's None, which the program asks first
                    raise error
                if holds_references(v.kind):
                    raise self.unkept(
                        "an object of which only the run tells how many there are can't be passed "
                        "to a function that srcgrad doesn't look into"
                    )

    def check_index(self, operands: tuple[ir.Operand, ...]) -> None:
        """Raise what Python raises of an object that is no index; its class may make it one."""
        for operand in filter(is_reference, operands):
            own = [self.class_attribute(cls, "__index__") for cls in classes_in(operand.kind)]  # type: ignore[union-attr]
            if any(found is not None for found in own) or self.may_be_none(operand):  # type: ignore[arg-type]
                raise self.unkept("an object or None can't be followed as an index")
            message = "indices must be integers or have an __index__ method"
            error = self.fault(TypeError, message)
            error.late = True  # this may be where it's None, which the program asks first
            raise error

    def check_identity(self, operand: ir.Operand) -> None:
        """Refuse to compare objects by their numbers that say themselves when they are equal."""
        for v in ir.variables(operand):
            for cls in classes_in(v.kind):
                own = [self.class_attribute(cls, name) for name in ("__eq__", "__hash__")]
                if any(found is not None and not is_none(found) for found in own):
                    raise self.unkept(
                        f"which objects of {cls.__name__} are equal is said by the class, which "
                        "isn't asked here",
                        "compare them one by one with ==",
                    )


class Row(dict[Any, Any]):
    """The attributes of an object in a table."""

    def __init__(self, low: Objects, value: ir.Var) -> None:
        super().__init__()
        self.low, self.value = low, value
        assert isinstance(value.kind, Reference)
        self.table: Table = value.kind.table

    def __contains__(self, name: object) -> bool:
        return name in self.table.columns

    def __getitem__(self, name: Any) -> Any:
        return self.low.read(self.value, name)

    def held(self, name: str) -> Any:
        """What stands in the table for an attribute: None of an object that lacks it."""
        return self.low.read_column(self.table, (name,), self.table.columns[name], self.value)

    def keys(self) -> Any:
        return self.table.columns.keys()

    def __iter__(self) -> Iterator[Any]:
        return iter(self.table.columns)

    def __len__(self) -> int:
        return len(self.table.columns)


FOLLOWED: frozenset[Any] = frozenset(
    {operator.getitem, operator.setitem, list_append, list, list.pop, list.insert, list.reverse,
     len, bool, operator.is_, operator.eq, operator.contains, operator.delitem, set.add,
     set.remove, set.pop, set.update, set.clear, set.intersection_update,
     set.difference_update, set.symmetric_difference_update, set.union, set.intersection,
     set.difference, set.symmetric_difference, runtime.check_different, runtime.check_other_list,
     runtime.reorder}
)  # fmt: skip


def takes_plain(function: Any, args: tuple[ir.Operand, ...]) -> bool:
    """Whether a function takes an item of an array or a text, where no number is an object."""
    whole = args[0] if function in (operator.getitem, operator.setitem) else None
    text = isinstance(whole, ir.Const) and isinstance(whole.value, (str, bytes))
    return text or isinstance(getattr(whole, "kind", None), (Array, Opaque))


def kind_of(operand: Any) -> Any:
    """The kind of an operand, or of each item of a tuple; a constant itself."""
    if isinstance(operand, ir.Pack):
        return tuple(map(kind_of, operand.items))
    return getattr(operand, "kind", operand)


def item_of(kind: Any) -> Any:
    """The kind of what is in a list, set or array."""
    return kind.item if isinstance(kind, ListOf) else Scalar(kind.dtype)


def mixes(a: Any, b: Any) -> bool:
    """Whether values are compared of which one is an object, of which the number isn't told."""
    if isinstance(b, Reference):
        a, b = b, a
    if isinstance(a, Reference):
        unknown = b is None or is_none(b) or getattr(b, "type", int) in (None, type(None))
        return not unknown and not (isinstance(b, Reference) and a.table is b.table)
    first, second = (v.items if isinstance(v, TupleOf) else v for v in (a, b))
    return isinstance(first, tuple) and isinstance(second, tuple) and any(map(mixes, first, second))


def adds_default(s: ir.Statement, var: ir.Var) -> bool:
    """Whether a statement appends what is known when compiling to a list."""
    if not isinstance(s, ir.Assign) or s.function is not list_append:
        return False
    return s.args[0] is var and isinstance(s.args[1], ir.Const)


def mentions(s: ir.Statement, var: ir.Var) -> bool:
    """Whether a statement has to do with a list; a unit's call may have."""
    if isinstance(s, ir.Assign):
        return isinstance(s.function, ir.Unit) or var in (*ir.uses(s), *s.writes)
    return True
