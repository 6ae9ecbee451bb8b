"""Values that are one of several, of which only the run tells which: a function, an object, None.

There is no function or object at run time. What is chosen is a number, and whatever is done with
a choice (a call, an attribute read or written, a test) is done in a branch for each option.
"""

from __future__ import annotations

import functools
import operator
from collections.abc import Callable
from dataclasses import replace
from itertools import combinations, starmap
from typing import Any

import numpy as np

from .. import ir
from ..analysis.inference import Inferred
from ..kinds import BOOL, INT, Scalar
from .changes import Changes
from .predicates import NONE, SIMPLE, is_none
from .restarts import NeedStatic, Raised, Unreached
from .structure import (
    Mold,
    interchangeable,
    is_absent,
    is_list,
    leaf_family,
    nothing,
    parts,
    rebuild,
    same_layout,
)
from .values import (
    Bound,
    Choice,
    Closure,
    DictObject,
    Instance,
    ListObject,
    Partial,
    Ref,
    State,
    Tuple,
    Value,
)

FUNCTIONS = (Closure, Bound, Partial, Choice)


def is_outer_dict(thing: Any) -> bool:
    return isinstance(thing, DictObject) and thing.external is not None and not thing.is_set


def is_function(value: Any) -> bool:
    """Whether a value is a function of which the compiler knows which one it is."""
    if isinstance(value, ir.Const) and callable(value.value):
        cls = value.value if isinstance(value.value, type) else None
        return cls is None or cls.__module__ not in ("builtins", np.__name__)
    return isinstance(value, FUNCTIONS)


def is_choosable(value: Any) -> bool:
    """Whether a value may be an option."""
    if isinstance(value, ir.Const) and (is_absent(value) or isinstance(value.value, SIMPLE)):
        return True
    return is_function(value) or leaf_family(value) is not None or isinstance(value, (Ref, Tuple))


def options(value: Any) -> tuple[Value, ...]:
    """The options of a choice; another value is the only one."""
    return value.options if isinstance(value, Choice) else (value,)


def position(known: list[Any], option: Any) -> int:
    """The position of an option among those known, to which it is added if it is new."""
    for i, other in enumerate(known):
        if interchangeable(other, option):
            return i
    known.append(option)
    return len(known) - 1


APART = ("%apart",)  # of known sites: dicts from outside aren't merged, whatever keys they have


class Choices(Changes):
    """Makes choices, and uses them."""

    def stands_apart(self, thing: Any) -> bool:
        """Whether an object is an option of its own beside others of its layout.

        Those are the nodes of a tree of dicts, which a loop goes down: merged, they would be
        another tree in each iteration.
        """
        return APART in self.known_sites and is_outer_dict(thing)

    def index_among(self, value: Any, known: list[Any]) -> Value:
        """Which of the options, to which its own are added, a value is; emitted where it is."""
        places = [position(known, option) for option in options(value)]
        if not isinstance(value, Choice):
            return ir.Const(places[0])
        index = value.index
        if not isinstance(index, ir.Var):
            return ir.Const(places[int(index.value)])  # type: ignore[union-attr]
        if is_bool(index):  # which may be NumPy's, and meet an int
            index = self.emit(int, (index,), inferred=Inferred(INT), name="choice")
        if places == list(range(len(places))):
            return index
        table = ir.Pack(tuple, tuple(map(ir.Const, places)))
        return self.emit(operator.getitem, (table, index), inferred=Inferred(INT), name="choice")

    def as_choice(self, value: Any, template: Choice) -> Any:
        """A value as a choice of the options of a template, of which it may be some."""
        found: list[Any] = [ir.UNDEFINED] * len(template.options)
        renamed: list[Any] = []
        for option in options(value) if value is not ir.UNDEFINED else ():
            at = self.slot(template.options, option)
            found[at] = option
            renamed.append(template.options[at])
        for i, option in enumerate(template.options):
            if found[i] is ir.UNDEFINED and parts(option):
                found[i] = rebuild(option, [ir.UNDEFINED] * len(parts(option)))
        if not renamed:
            return Choice(ir.UNDEFINED, tuple(found))
        own: Any = renamed[0]
        if isinstance(value, Choice):
            own = Choice(value.index, tuple(renamed))
        return Choice(self.index_among(own, list(template.options)), tuple(found))

    def slot(self, known: tuple[Any, ...], option: Any) -> int:
        """The position of an option, which may be an object that a loop carries."""
        for i, other in enumerate(known):
            if interchangeable(other, option):
                return i
        thing: Any = self.on_heap(option)
        for i, other in enumerate(known):
            if isinstance(thing, ListObject) and is_list(other):
                return i
            if isinstance(other, Mold) and thing is not None and same_layout(other.thing, thing):
                return i
        raise self.refuse("which object this is in the next iteration isn't known when compiling")

    def which(self, choice: Choice, wanted: list[int]) -> Value:
        """The test whether a choice is one of the wanted options."""
        index, left = choice.index, self.left_of(choice)
        wanted = [i for i in wanted if i in left]
        if not wanted or len(wanted) == len(left) or not isinstance(index, ir.Var):
            known = isinstance(index, ir.Const) and index.value in wanted
            return ir.Const(bool(wanted) and (len(wanted) == len(left) or known))
        if 2 * len(wanted) > len(left) or (is_bool(index) and wanted == [0]):
            rest = [i for i in left if i not in wanted]
            test = self.which(choice, rest)
            assert isinstance(test, ir.Var)
            made = self.emit(operator.not_, (test,), inferred=Inferred(BOOL), name="test")
            self.implied[made] = self.given_if(test, False), self.given_if(test, True)
        elif is_bool(index):
            made = index
        else:
            made = self.is_at(index, wanted[0])
            for i in wanted[1:]:
                made = self.emit(operator.or_, (made, self.is_at(index, i)))
        other = frozenset(range(len(choice.options))).difference(wanted)
        self.meanings[made] = (choice, frozenset(wanted), other)
        return made

    def is_present(self, held: Any) -> Value:
        """Whether an object has an attribute, of what it holds for it; ABSENT, if it hasn't."""
        if not isinstance(held, Choice):
            return ir.Const(not is_absent(held))
        return self.which(held, [i for i, o in enumerate(held.options) if not is_absent(o)])

    def is_at(self, index: ir.Var, i: int) -> ir.Var:
        test = (index, ir.Const(i))
        return self.emit(operator.eq, test, inferred=Inferred(BOOL), name="test")

    def answered(self, choice: Choice, test: Callable[[Value], Value]) -> Value | None:
        """What a test of a choice says, if what it says of some options is known."""
        answers = {i: self.tried(test, choice.options[i]) for i in self.left_of(choice)}
        known = {i: bool(a.value) for i, a in answers.items() if isinstance(a, ir.Const)}
        if len(known) == len(answers):
            return self.which(choice, [i for i, holds in known.items() if holds])
        if not known:
            return None
        made = self.for_each(choice, test)
        if isinstance(made, ir.Var):
            holds = frozenset(i for i in answers if known.get(i) is not False)
            fails = frozenset(i for i in answers if known.get(i) is not True)
            self.meanings[made] = (choice, holds, fails)
        return made

    def tried(self, test: Callable[[Value], Value], option: Value) -> Value | None:
        """What a test says of an option, if it does nothing else; None if it may raise or change
        something, as an option is asked only where it is the one."""
        before, block, depth = self.state, self.block, self.fork_depth
        count = len(block.statements)
        self.state = before.copy()
        try:
            answer = test(option)
            made = ir.walk(ir.Block(block.statements[count:]))
            acts = any(isinstance(s, ir.Assign) and (s.effect or s.writes) for s in made)
            same = self.block is block and is_unchanged(self.state, before)
            return None if acts or not same else answer
        except (Raised, Unreached):
            return None
        finally:
            self.state, self.block, self.fork_depth = before, block, depth
            self.forget(block, count)

    def left_of(self, choice: Choice) -> list[int]:
        """The options that a choice may still be, of what has been tested."""
        ruled_out = self.ruled_out.get(choice, frozenset())
        return [i for i in range(len(choice.options)) if i not in ruled_out]

    def decided(
        self, test: Value, then: Callable[[], None], orelse: Callable[[], None] = nothing
    ) -> None:
        """A branch, if the test isn't known when compiling."""
        if isinstance(test, ir.Const):
            (then if test.value else orelse)()
        else:
            assert isinstance(test, ir.Var)
            self.branch(test, then, orelse)

    def either(self, test: Value, then: Callable[[], Value], orelse: Callable[[], Value]) -> Value:
        """What one of two branches results in, of which the test may tell which when compiling."""
        name, frame = f"%either{self.unique()}", self.current

        def put(found: Callable[[], Value]) -> Callable[[], None]:
            def run() -> None:
                self.state.frames[frame][name] = found()  # which may end in another state

            return run

        self.decided(test, put(then), put(orelse))
        return self.known("this value", self.state.frames[frame].pop(name))

    def for_each(self, choice: Choice, use: Callable[[Value], Value]) -> Value:
        """What a use of a choice results in: a branch for each option."""
        name, frame = f"%use{self.unique()}", self.current

        def run(i: int) -> None:
            value = self.of_option(choice, i, use)
            if not self.state.unreachable:
                self.state.frames[frame][name] = value

        def among(left: list[int]) -> None:
            first, *rest = left
            test = self.which(choice, [first]) if rest else ir.Const(True)
            self.decided(test, lambda: run(first), lambda: among(rest))

        count = len(choice.options)
        # None last: where it is wrong, the error is raised where nothing else is left
        among(sorted(self.left_of(choice), key=lambda i: (is_none(choice.options[i]), count - i)))
        if self.state.unreachable:
            return NONE
        return self.known("this value", self.state.frames[frame].pop(name))

    def of_option(self, choice: Choice, i: int, use: Callable[[Value], Value]) -> Value:
        """What a use of an option results in, where it is the one."""
        try:
            return use(choice.options[i])
        except Raised as error:  # of None, where it isn't known that it isn't that
            if error.block is not self.block or self.catcher(error.exception) is not None:
                raise
            self.raise_at_run_time(error)
            return NONE

    def of_lists(self, choice: Choice, use: Callable[[Value], Value]) -> Value | None:
        """What a use of one of several lists and tuples results in, which is gone through later.

        It is made outside of a branch, so that it can be; None, if it can't be so.
        """
        options = choice.options
        nones = [i for i, option in enumerate(options) if is_none(option)]
        some = [i for i in self.left_of(choice) if i not in nones]
        if not some or (len(some) > 1 and not all(self.is_listed(options[i]) for i in some)):
            return None
        if nones:
            if self.catcher(TypeError) is not None:
                return None
            test = self.which(choice, some)
            wrong: Any = functools.partial(self.of_option, choice, nones[0], use)
            self.decided(test, nothing, wrong)
        if len(some) == 1:
            return use(options[some[0]])
        found = (use(options[i if i in some else some[0]]) for i in range(len(options)))
        return self.option_at(choice.index, tuple(found))

    def is_listed(self, value: Value) -> bool:
        """Whether a value is a tuple, or a list whose items are known one by one."""
        thing = self.on_heap(value)
        return isinstance(value, Tuple) or (isinstance(thing, ListObject) and thing.var is None)

    def option_at(self, index: Value, items: tuple[Value, ...]) -> Value:
        """One of several values, of which an int at run time says which; no choice of choices.

        Nor is it one of what is the same option where paths meet, as numbers are.
        """
        same = any(starmap(interchangeable, combinations(items, 2)))
        if not same and not any(isinstance(item, Choice) for item in items):
            return Choice(index, items)
        places = Choice(index, tuple(map(ir.Const, range(len(items)))))
        return self.for_each(places, lambda place: items[place.value])  # type: ignore[union-attr]

    def is_asked_for_none(self, value: Any) -> bool:
        """Whether a value may be None, and what None raises where it is used is caught here."""
        if (self.catcher(TypeError) or self.catcher(AttributeError)) is None:
            return False
        if isinstance(value, Tuple):
            self.ask_whether_missing(value)
            return value.missing is not None and value.missing not in self.given_here
        return isinstance(value, ir.Var) and self.is_optional(value)

    def ask_whether_missing(self, value: Tuple) -> None:
        """Begin again if a tuple was taken out of a list as if there were no None in it."""
        if value.whole is not None and value.whole.optional:
            raise NeedStatic(value.whole.origins, "whether this item is None", self.span)

    def or_none(self, value: Any) -> Choice:
        """A value that may be None as a choice of it and None."""
        thing = self.on_heap(value)
        var = thing.var if isinstance(thing, ListObject) else value
        if isinstance(var, ir.Var):
            return Choice(self.none_test(var), (value, NONE))
        missing = self.identical(value, NONE)
        made = Choice(missing, (Tuple(value.items, value.type), NONE))
        self.made_of[made] = value
        return made

    def unless_none(self, value: Value, use: Callable[[Value], Value]) -> Value:
        """What a use of a value results in that may be None, which stays None."""
        return self.either(self.identical(value, NONE), lambda: NONE, lambda: use(value))

    def knowing(
        self, test: ir.Operand, outcome: bool, run: Callable[[], None]
    ) -> Callable[[], None]:
        """`run`, in which choices are what a test of them says if this is its outcome."""
        if given := self.given_if(test, outcome):
            run = functools.partial(self.run_given, given, run)
        if not isinstance(test, ir.Var) or test not in self.meanings:
            return run
        choice, holds, fails = self.meanings[test]
        rest = frozenset(range(len(choice.options))) - (holds if outcome else fails)
        run = functools.partial(self.run_without, choice, rest, run)
        found = self.told_by(test, outcome)
        if found is None:
            return run
        _, left = found

        def narrowed() -> None:
            places = self.places_of(choice)
            self.replace_values(places, left)
            run()
            if not self.state.unreachable:
                now = dict(held(self.state))
                whole = self.made_of.get(choice, choice)
                self.replace_values([p for p in places if now.get(p) is left], whole)

        return narrowed

    def told_by(self, test: ir.Operand, outcome: bool) -> tuple[Choice, Value] | None:
        """The choice of which a test with this outcome says what it is, and the option it is."""
        if not isinstance(test, ir.Var) or test not in self.meanings:
            return None
        choice, holds, fails = self.meanings[test]
        left = [i for i in self.left_of(choice) if i in (holds if outcome else fails)]
        return (choice, choice.options[left[0]]) if len(left) == 1 else None

    def run_without(self, choice: Choice, rest: frozenset[int], run: Callable[[], None]) -> None:
        """Run what stands where a choice is none of some options."""
        before = self.ruled_out
        self.ruled_out = {**before, choice: before.get(choice, frozenset()) | rest}
        try:
            run()
        finally:
            self.ruled_out = before

    def settle(self, test: ir.Operand, outcome: bool) -> None:
        """Let a choice be what it is from here on, where a branch for all else never ends."""
        found = self.told_by(test, outcome)
        if found is not None:
            choice, left = found
            self.replace_values(self.places_of(choice), left)

    def places_of(self, choice: Choice) -> list[Any]:
        """Where a choice is held, or the tuple that it was made of."""
        whole = self.made_of.get(choice, choice)
        return [place for place, value in held(self.state) if value is whole]

    def given_if(self, test: Any, outcome: bool) -> frozenset[ir.Var]:
        """The variables that aren't None if a test has this outcome."""
        if not isinstance(test, ir.Var):
            return frozenset()
        found = self.implied.get(test, (frozenset(), frozenset()))[not outcome]
        return found | {test} if outcome and test.optional else found

    def own_bool(self, test: ir.Var | ir.Const) -> ir.Var | ir.Const:
        """A truth value as a bool of Python, which `+` counts: of NumPy's, it tells "or"."""
        if isinstance(test, ir.Const):
            return ir.Const(bool(test.value))
        if isinstance(test.kind, Scalar) and test.kind.dtype.kind == "b" and test.kind.python:
            return test
        result = self.emit(bool, (test,), inferred=Inferred(BOOL), name=test.name)
        self.implied[result] = self.given_if(test, True), self.given_if(test, False)
        if test in self.meanings:
            self.meanings[result] = self.meanings[test]
        return result

    def run_given(self, given: frozenset[ir.Var], run: Callable[[], None]) -> None:
        """Run what stands where some variables aren't None."""
        before, self.given_here = self.given_here, self.given_here | given
        try:
            run()
        finally:
            self.given_here = before

    def of_given(self, value: Any, run: Callable[[], Value]) -> Value:
        """What a call results in that raises an exception if a value is None."""
        found: list[Value] = []
        self.run_given(frozenset(ir.variables(self.operand(value))), lambda: found.append(run()))
        return found[0]

    def none_test(self, value: ir.Var) -> ir.Var:
        """Whether a variable is None."""
        test = self.emit(operator.is_, (value, ir.Const(None)), inferred=Inferred(BOOL))
        self.implied[test] = frozenset(), frozenset([value])
        return test

    def replace_values(self, places: list[Any], value: Value) -> None:
        """Put a value in the place of what variables and attributes hold."""
        for number, name, of_object in places:
            if of_object:
                thing = self.state.heap[number]
                assert isinstance(thing, Instance)
                changed = replace(thing, items={**thing.items, name: value})
                self.state.heap[number] = changed
            else:
                self.state.frames[number][name] = value


def is_unchanged(state: State, before: State) -> bool:
    """Whether what there was before is as it was, and the program is still there."""
    tables: list[tuple[Any, Any]] = [(before.heap, state.heap)]
    tables += [(frame, state.frames.get(n, {})) for n, frame in before.frames.items()]
    same = all(new.get(k) is v for old, new in tables for k, v in old.items())
    outside = (state.used, state.flags) == (before.used, before.flags)
    return same and outside and not state.unreachable


def held(state: State) -> list[tuple[tuple[int, Any, bool], Any]]:
    """The values of variables and attributes, each with its place."""
    found = [((n, k, False), v) for n, frame in state.frames.items() for k, v in frame.items()]
    for n, thing in state.heap.items():
        if isinstance(thing, Instance):
            found += [((n, k, True), v) for k, v in thing.items.items()]
    return found


def is_bool(index: ir.Var) -> bool:
    return isinstance(index.kind, Scalar) and index.kind.dtype.kind == "b"
