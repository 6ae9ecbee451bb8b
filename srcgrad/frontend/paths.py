"""The paths of a program: branches and where they meet, and exceptions, which leave theirs early.

A branch is lowered twice from copies of the state, and the copies are joined: a value that differs
becomes a target of the `If`.

There is no exception in the IR. Where one is raised on one path alone, and a `try` around catches
it, the block is *split*: what follows goes into the branch that goes on, and the path that was left
waits beside it. At the end of the block the two are joined (`close`): at the end of the `try`,
after the handler was lowered on the path that was left; at the end of a branch or of a loop's body
in it, in a state in which the exception is raised (`%raised`) or None. There the block around is
split in turn, by that.
"""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from .. import ir, runtime
from ..analysis.inference import Inferred
from ..errors import UnsupportedError
from ..kinds import INT, ListOf, Opaque
from .builder import Builder
from .choices import options
from .merging import Merger
from .operations import raise_exception
from .predicates import FALSE, NONE, TRUE, is_none
from .restarts import Empty, Materialize, Raised, Thaw, Unbound, Unreached, Wording
from .structure import FLAGS, is_evaluated, nothing, parts
from .values import Choice, Instance, Junction, Place, State, Trying, Tuple, Value

RAISED = "%raised"

# What never raises, or only where the compiler made it.
SAFE: frozenset[Any] = frozenset(
    {operator.not_, operator.is_, operator.and_, operator.or_, bool, len, list,
     runtime.fails, runtime.failure}
)  # fmt: skip
# Of these it is always asked beforehand, or they are raised by nothing but a program's own code.
FORESEEN = (np.linalg.LinAlgError, AssertionError, StopIteration)

MOST_REPEATED = 200  # statements of a handler that is lowered for each path that leads to it

Fork = tuple[State, ir.Block]


class HandleOnce(Exception):
    """Paths that lead to a long handler are to be joined before it."""


@dataclass(eq=False, slots=True)
class Split:
    """A block that ends in an If of which one branch is done: an exception left it, `gone`."""

    parent: ir.Block
    test: ir.Operand
    entry: State
    gone: Fork
    first: bool  # it is the branch where the test is true
    trying: Trying  # the try around this place
    span: Any


class Paths(Builder):
    """Lowers branches, and goes on after what may raise."""

    # Branches

    def fork(self, state: State, run: Callable[[], None]) -> Fork:
        depth = self.fork_depth
        self.fork_depth += 1
        try:
            return self.continued((state.copy(), ir.Block()), run)
        finally:
            self.fork_depth = depth

    def continued(self, fork: Fork, run: Callable[[], None], forked: bool = True) -> Fork:
        """Lower what follows at the end of a branch: what comes late may not be reached."""
        outer = self.block
        self.state, self.block = fork
        try:
            # what has no value here may have one in another round, set by the other branch
            self.reach(run, forked, bool(self.making or self.loop_depth), late=True)
            self.close(fork[1])
            return self.state, fork[1]
        finally:
            self.block = outer

    def reach(
        self,
        run: Callable[[], None],
        forked: bool = True,
        unbound: bool = False,
        late: bool = False,
    ) -> None:
        """Run what stands on one path, as far as it is reached.

        What surely goes wrong there is raised at run time if it is the path of a branch (`forked`),
        some of it on others too (`late`); a name without a value (`unbound`) may have one when this
        is lowered again.
        """
        current, span = self.current, self.span
        try:
            run()
            return
        except Raised as error:
            forked = forked or self.block in self.splits
            if error.block is not self.block:
                raise
            if error.value is not None or self.catcher(error.exception) is not None:
                self.leave(error)
            elif (forked or late) and error.late:
                self.raise_at_run_time(error)
            else:
                raise
        except Unbound as need:
            empty = isinstance(need, Empty)
            fault = need.error if empty else self.fault(UnboundLocalError, need.error.message)
            assert isinstance(fault, Raised)
            if self.catcher(fault.exception) is not None:
                self.leave(fault)
            elif forked or self.block in self.splits:
                self.raise_at_run_time(fault)
            elif unbound:
                self.note_unbound(need.error)
                self.state.unreachable = True
            else:
                raise
        except Unreached:
            self.state.unreachable = True
        self.current, self.span = current, span

    def raise_at_run_time(self, error: Raised) -> None:
        """Raise what surely goes wrong on a branch, and isn't caught."""
        given = tuple(ir.Const(str(v) if isinstance(v, Wording) else v) for v in error.given)
        made = self.emit(error.exception, given, inferred=Inferred(Opaque(None)))
        self.act(raise_exception, made)
        self.state.unreachable = True

    def branch(
        self,
        test: ir.Operand,
        then: Callable[[], None],
        orelse: Callable[[], None],
        rest: Callable[[], None] | None = None,
    ) -> bool:
        """Lower both branches and join them; `rest` goes into the one that doesn't exit.

        Returns whether `rest` was lowered.
        """
        entry, span, marker = self.state, self.span, Junction(self.span)
        if marker.site in self.known_sites:
            self.thawed.add(marker)
        then, orelse = self.knowing(test, True, then), self.knowing(test, False, orelse)
        while True:
            known = set(self.dynamic_sites)
            try:
                first = self.fork(entry, then)
                self.span = span
                second = self.fork(entry, orelse)
                self.span = span
                if self.one_left(first[0], second[0]):
                    self.split(test, entry, first, second)
                    consumed = False
                    break
                consumed = False
                if rest is not None:
                    stops = [self.stopped(state) for state, _ in (first, second)]
                    if stops == [True, False] and not first[0].unreachable:
                        rest = self.knowing(test, False, rest)
                        second, consumed = self.continued(second, self.resumed(rest), False), True
                    elif stops == [False, True] and not second[0].unreachable:
                        rest = self.knowing(test, True, rest)
                        first, consumed = self.continued(first, self.resumed(rest), False), True
                self.span = span
                self.join(test, entry, first, second, marker)
                if first[0].unreachable != second[0].unreachable:
                    self.settle(test, second[0].unreachable)
                break
            except Materialize as need:
                self.state, self.span = entry, span
                if not self.dynamic(need, entry, known):
                    self.materialize(need)
            except Thaw as need:
                self.state, self.span = entry, span
                if need.marker is not marker or marker in self.thawed:
                    raise
                self.thawed.add(marker)
        self.resume()
        return consumed

    def join(
        self, test: ir.Operand, entry: State, first: Fork, second: Fork, marker: Any = None
    ) -> None:
        """Append the If, and make the state after it from the states of its branches."""
        (a, then), (b, orelse) = first, second
        statement = ir.If(test, then, orelse, (), self.span)
        here = len(self.block.statements)
        if a.unreachable and b.unreachable:
            self.block.statements.append(statement)
            self.state = b
            return
        merger = Merger(self, test, entry, first, second, marker)
        self.state = merger.state()
        self.state.leaving = all(state.leaving or state.unreachable for state in (a, b))
        then.results = tuple(y[0] for y in merger.yields)
        orelse.results = tuple(y[1] for y in merger.yields)
        statement.targets = tuple(y[2] for y in merger.yields)
        # not before: where a list must be materialized first, both branches are lowered again
        self.block.statements.insert(here, statement)
        deciding = self.deciding(test)
        if deciding:
            for inner in ir.walk(ir.Block([statement])):
                for written in inner.writes if isinstance(inner, ir.Assign) else ():
                    if isinstance(written.kind, ListOf):
                        written.origins |= deciding

    # Exceptions

    def catcher(self, exception: type[BaseException]) -> Trying | None:
        """The try around this place that catches an exception."""
        trying = self.trying
        while trying is not None and not issubclass(exception, trying.caught):
            trying = trying.outer
        return trying

    def exception_value(self, error: Raised) -> Value:
        """The exception object of what surely goes wrong."""
        if error.value is not None:
            return error.value
        items: dict[Any, Value] = {"%error": Place(error.exception(*error.given))}
        if not any(isinstance(v, Wording) for v in error.given):
            items["args"] = Tuple(tuple(map(ir.Const, error.given)))
        return self.place(self.state, Instance(error.exception, items))

    def throw(self, value: Value) -> None:
        """Raise an exception object: in a try that catches it, else at run time."""
        choice = options(value)
        uncaught = [
            i for i, option in enumerate(choice)
            if not is_none(option) and self.catcher(self.exception_class(option)) is None
        ]  # fmt: skip
        if not uncaught:
            first = next(option for option in choice if not is_none(option))
            cls = self.exception_class(first)
            error = Raised(f"this {cls.__name__} isn't caught", self.span, None, cls)
            error.block, error.value = self.block, value
            raise error
        if not isinstance(value, Choice):
            self.raise_uncaught(value)
            return
        one, rest = uncaught[0], [i for i, o in enumerate(choice) if not is_none(o)]
        rest.remove(one)
        if not rest:
            self.raise_uncaught(choice[one])
            return
        test = self.which(value, [one])
        self.branch(self.operand(test), lambda: self.raise_uncaught(choice[one]), nothing)
        self.throw(self.among(value, rest))

    def narrowed(self, value: Value) -> Value:
        """What is raised where it is known that something is."""
        if not isinstance(value, Choice):
            return value
        return self.among(value, [i for i, o in enumerate(value.options) if not is_none(o)])

    def among(self, choice: Choice, wanted: list[int]) -> Value:
        """A choice of which it is known to be one of some of its options."""
        if len(wanted) == 1:
            return choice.options[wanted[0]]
        if len(wanted) == len(choice.options):
            return choice
        places = [wanted.index(i) if i in wanted else 0 for i in range(len(choice.options))]
        table = ir.Pack(tuple, tuple(map(ir.Const, places)))
        index = self.emit(
            operator.getitem,
            (table, self.operand(choice.index)),
            inferred=Inferred(INT),
            name="choice",
        )
        return Choice(index, tuple(choice.options[i] for i in wanted))

    def raise_uncaught(self, value: Value) -> None:
        """Raise an exception at run time."""
        operand = self.exception_operand(value)
        self.act(raise_exception, operand)
        self.state.unreachable = True

    def exception_class(self, value: Value) -> type[BaseException]:
        thing = self.thing(value)
        if isinstance(thing, Instance):
            return thing.type
        cls: Any = BaseException
        if isinstance(value, ir.Var) and isinstance(value.kind, Opaque):
            cls = value.kind.type or cls
        elif isinstance(value, ir.Const):
            cls = value.value if isinstance(value.value, type) else type(value.value)
        return cls  # type: ignore[no-any-return]

    def exception_operand(self, value: Value) -> ir.Operand:
        """An exception object as one that exists at run time."""
        thing = self.thing(value)
        if not isinstance(thing, Instance):
            return self.operand(value)
        if "%error" in thing.items:
            return self.operand(self.known("this exception", thing.items["%error"]))
        given = self.known("this exception", thing.items["%given"])
        return self.exception_at_run_time(thing.type, parts(given), {})

    def exception_at_run_time(
        self, cls: type[BaseException], args: list[Value], kwargs: dict[str, Value]
    ) -> ir.Var:
        named = {name: self.shown(value) for name, value in kwargs.items()}
        given = tuple(map(self.shown, args))
        return self.emit(cls, given, named, inferred=Inferred(Opaque(cls)))

    def leave(self, error: Raised) -> None:
        """This path ends here, to go on in the handler."""
        assert self.trying is not None
        value = self.exception_value(error)
        self.state.frames[self.trying.frame][RAISED] = value
        self.state.leaving = True

    def one_left(self, a: State, b: State) -> bool:
        """Whether an exception leaves one of two paths, and the other goes on."""
        return a.leaving != b.leaving and not (a.unreachable or b.unreachable)

    def split(self, test: ir.Operand, entry: State, first: Fork, second: Fork) -> None:
        """Go on in the one of two branches that no exception leaves."""
        if self.trying is None:
            raise self.refuse(
                "by which exception this is left isn't known when compiling",
                "catch fewer exceptions in one another",
            )
        left = first[0].leaving
        gone, live = (first, second) if left else (second, first)
        self.splits[live[1]] = Split(
            self.block, test, entry, gone, left, self.trying, self.span
        )  # fmt: skip
        self.state, self.block = live
        self.fork_depth += 1

    def close(
        self,
        base: ir.Block,
        handle: Callable[[], None] | None = None,
        trying: Trying | None = None,
        name: str | None = None,
        alone: bool = True,
    ) -> None:
        """Join what was split since the block `base` began.

        `handle` is what an exception raised inside `trying` leads to first. A variable `name` is
        true on the paths that are left.

        Raises:
            HandleOnce: that is long, and there are several such paths; unless each is to be handled
                `alone`.
        """
        left = 0 if alone else self.count_left(base, trying)
        while self.block is not base:
            split = self.splits.pop(self.block)
            live, gone = (self.state, self.block), split.gone
            span, self.span = self.span, split.span
            forget_evaluated(gone[0], live[0])
            if handle is not None and split.trying is trying:
                emitted = self.emitted
                gone = self.continued(gone, handle)
                left -= 1
                if left > 0 and left * (self.emitted - emitted) > MOST_REPEATED:
                    raise HandleOnce
            self.block = split.parent
            self.fork_depth -= 1
            for number in gone[0].frames.keys() - live[0].frames.keys() - self.captured:
                del gone[0].frames[number]
            if name is not None:
                gone[0].frames[self.current][name] = TRUE
            first, second = (gone, live) if split.first else (live, gone)
            if trying is not None and self.block is base and self.one_left(gone[0], live[0]):
                self.split(split.test, split.entry, first, second)
                self.span = span
                return
            self.join(split.test, split.entry, first, second, split.trying.marker)
            self.span = span

    def count_left(self, base: ir.Block, trying: Trying | None) -> int:
        """How many paths an exception left that a try catches, since a block began."""
        block, found = self.block, 0
        while block is not base:
            found += self.splits[block].trying is trying
            block = self.splits[block].parent
        return found

    def all_left(self, base: ir.Block, trying: Trying) -> bool:
        """Whether all paths that were left since a block began are those of one try."""
        block = self.block
        while block is not base:
            split = self.splits[block]
            if split.trying is not trying or not split.gone[0].leaving:
                return False
            block = split.parent
        return not self.state.leaving

    def handle_once(self, base: ir.Block, handle: Callable[[], None], frame: int) -> None:
        """Join all paths that were left since a block began, and handle what was raised on them.

        `frame` holds what that is.
        """
        name, live_is_done = f"%left{self.unique()}", self.state.unreachable
        self.state.frames[self.current][name] = FALSE
        self.close(base, name=name)
        left = self.state.frames[self.current].pop(name)
        self.state.leaving = False

        def go_on() -> None:
            self.state.frames[frame][RAISED] = NONE

        if live_is_done:
            self.reach(handle, False)
        else:
            self.branch(self.operand(left), handle, go_on)

    def concerns(self, base: ir.Block, trying: Trying) -> bool:
        """Whether what was split since a block began must be joined after a try.

        Not if this path goes on, and only a try outside catches what left the others.
        """
        block = self.block
        while block is not base:
            split = self.splits[block]
            if split.trying is trying or not split.gone[0].leaving:
                return True
            block = split.parent
        return self.state.leaving or self.state.unreachable

    def resumed(self, run: Callable[[], None]) -> Callable[[], None]:
        def go_on() -> None:
            self.resume()
            run()

        return go_on

    def resume(self) -> None:
        """Go on after a statement in whose branches or loop an exception may have been raised."""
        if self.trying is None or self.state.unreachable:
            return
        frame = self.trying.frame
        raised = self.known("what is raised here", self.state.frames[frame][RAISED])
        if self.state.leaving:
            self.state.leaving = False
            self.throw(raised)
            return
        if is_none(raised):
            return
        assert isinstance(raised, Choice)
        wanted = [i for i, option in enumerate(raised.options) if not is_none(option)]
        test = self.which(raised, wanted)
        gone = self.state.copy()
        gone.leaving = True
        self.state.frames[frame][RAISED] = NONE
        live = (self.state, ir.Block())
        self.split(self.operand(test), gone.copy(), (gone, ir.Block()), live)

    def forget(self, block: ir.Block, count: int) -> None:
        """Take back what was emitted into a block after its first statements."""
        del block.statements[count:]
        for live in [b for b, split in self.splits.items() if split.parent is block]:
            del self.splits[live]

    def keep_failing(
        self, caught: tuple[type[BaseException], ...], base: ir.Block, count: int
    ) -> None:
        """Keep what stands in a try even if nothing depends on it: it may raise what is caught."""
        if all(issubclass(c, FORESEEN) or not is_built_in(c) for c in caught):
            return
        blocks, block = [ir.Block(base.statements[count:])], self.block
        while block is not base:
            split = self.splits[block]
            blocks += [block, split.gone[1]]
            block = split.parent
        for block in blocks:
            for s in ir.walk(block):
                if isinstance(s, ir.Assign) and s.function not in SAFE:
                    s.effect = True

    def attempt(
        self,
        caught: tuple[type[BaseException], ...],
        run: Callable[[], None],
        handle: Callable[[Value], None],
        otherwise: Callable[[], None] = nothing,
    ) -> None:
        """Run something, and `handle` where it raises what is caught, `otherwise` where it doesn't.

        An exception that `handle` doesn't end it throws again.
        """
        base, entry, span, outer = self.block, self.state, self.span, self.trying
        depth = self.fork_depth
        frame = self.current if outer is None else outer.frame
        marker = Junction(span)
        if marker.site in self.known_sites:
            self.thawed.add(marker)

        current = self.current

        def handled() -> None:
            state, before = self.state, entry.frames[current]
            raised = state.frames[frame][RAISED]
            state.frames[frame][RAISED], state.leaving = NONE, False
            # what was being evaluated, and flags
            now = state.frames[current].items()
            values = {k: v for k, v in now if not is_evaluated(k) or k == RAISED}
            values.update((k, v) for k, v in before.items() if is_evaluated(k) and k != RAISED)
            state.frames[current] = values
            try:
                handle(self.narrowed(self.known("what is raised here", raised)))
            except Raised as error:
                error.late = True  # the run need not get here
                raise

        def restart() -> None:
            self.state, self.span, self.block, self.fork_depth = entry, span, base, depth
            self.forget(base, count)

        while True:
            self.state, self.span = entry.copy(), span
            count, known = len(base.statements), set(self.dynamic_sites)
            trying = self.trying = Trying(caught, base, outer, frame, marker)
            try:
                if outer is None:
                    self.state.frames[frame][RAISED] = NONE
                self.reach(run, False)
                self.trying = outer
                self.keep_failing(caught, base, count)
                if self.state.leaving:
                    self.state, block = self.continued((self.state, self.block), handled, False)
                    assert block is self.block
                elif not self.state.unreachable:
                    self.reach(otherwise, False)
                if self.concerns(base, trying):
                    if self.handled_once.get(span) and self.all_left(base, trying):
                        self.handle_once(base, handled, frame)
                    else:
                        self.close(base, handled, trying, alone=span in self.handled_once)
                break
            except HandleOnce:
                restart()
                self.handled_once[span] = True
            except UnsupportedError:
                if not self.handled_once.get(span):
                    raise
                restart()
                self.handled_once[span] = False
            except Materialize as need:
                restart()
                if not self.dynamic(need, entry, known):
                    self.materialize(need)
                entry = self.state
            except Thaw as need:
                restart()
                if need.marker is not marker or marker in self.thawed:
                    raise
                self.thawed.add(marker)
            finally:
                self.trying = outer
        if outer is None:
            self.state.frames[frame].pop(RAISED, None)
        self.resume()


def forget_evaluated(gone: State, live: State) -> None:
    """Forget what was being evaluated where an exception left a path; the other path goes on."""
    kept = {RAISED, *FLAGS}
    for number, frame in gone.frames.items():
        known = live.frames.get(number, {})
        names = [k for k in frame if is_evaluated(k) and k not in known and k not in kept]
        for name in names:
            del frame[name]


def is_built_in(cls: type) -> bool:
    return cls.__module__.partition(".")[0] in ("builtins", "numpy")
