"""The intermediate representation: structured SSA over primitives.

A Function has parameters and a Block; a block is a list of statements and the operands it yields.
`Assign` applies one Python callable. `If` and `Loop` own blocks and say which variables they
yield: there are no jumps. A Loop runs its body for each value of its range (or for ever) until
the body yields a true exit flag. Memory isn't in SSA form: a call may write an array in place;
`Assign.writes` says which operands, `Assign.views` whose memory the result may share.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextvars import ContextVar
from dataclasses import dataclass, field
from typing import Any

from .errors import Span
from .kinds import Kind

_counter = itertools.count()


@dataclass(eq=False, slots=True)
class Var:
    """A variable, assigned once. `name` is what a reader would call it; it needn't be unique."""

    name: str
    kind: Kind
    user: bool = False  # the name is the user's own
    origins: frozenset[Any] = frozenset()  # the parameters and loop indices an int derives from
    optional: bool = False  # may be None at run time
    partial: bool = False  # has no value on some paths
    id: int = field(default_factory=lambda: next(_counter))

    @property
    def assured(self) -> bool:
        """Whether it has a value that isn't None, wherever it is in scope."""
        return not (self.optional or self.partial)

    def anew(self) -> Var:
        """Another variable for the same values."""
        return Var(self.name, self.kind, self.user, optional=self.optional, partial=self.partial)

    def __repr__(self) -> str:
        return f"{self.name}.{self.id}"


@dataclass(eq=False, slots=True)
class Const:
    """A value known when compiling."""

    value: Any

    def __repr__(self) -> str:
        return repr(self.value) if not callable(self.value) else self.value.__name__


class Undefined:
    """The value of a variable that isn't assigned on some path."""

    def __repr__(self) -> str:
        return "undefined"


UNDEFINED = Const(Undefined())


@dataclass(eq=False, slots=True)
class Pack:
    """A tuple, list or slice of operands, written out where it is used."""

    type: type
    items: tuple[Operand, ...]

    def __repr__(self) -> str:
        return f"{self.type.__name__}{self.items}"


Operand = Var | Const | Pack
# Variables that may share memory: itself (0), what is in a list (1), in a list in it (2)
Together = tuple[tuple[Var, int], ...]


@dataclass(frozen=True, slots=True)
class Origin(Span):
    """The primal code that a statement made by a pass comes from, and why it is there.

    It is a Span, so that whatever passes a statement's span on passes its origin on. A statement
    with a plain Span, or none, is the primal function's own.
    """

    role: str = "reverse"  # "recorded": it keeps a value for the reverse sweep
    rule: Any = None  # the primitive whose rule it is part of


def origin(span: Span | None, role: str, rule: Any = None) -> Origin | None:
    """The origin of what is made from a statement with this span."""
    if span is None:
        return None
    place = (span.filename, span.line, span.column, span.end_line, span.end_column)
    return Origin(*place, span.function, role, rule)


@dataclass(eq=False, slots=True)
class Assign:
    target: Var
    function: Any
    args: tuple[Operand, ...]
    kwargs: tuple[tuple[str, Operand], ...] = ()
    span: Span | None = None
    views: tuple[Var, ...] = ()
    certain: bool = True  # the result shares memory with `views` in every run
    writes: tuple[Var, ...] = ()
    effect: bool = False  # must stay where it is: it prints, raises, draws a random number

    def operands(self) -> tuple[Operand, ...]:
        if not self.kwargs:
            return self.args
        return (*self.args, *(value for _, value in self.kwargs))


@dataclass(eq=False, slots=True)
class Block:
    statements: list[Statement] = field(default_factory=list)
    results: tuple[Operand, ...] = ()


@dataclass(eq=False, slots=True)
class If:
    test: Operand
    then: Block
    orelse: Block
    targets: tuple[Var, ...]
    span: Span | None = None


@dataclass(eq=False, slots=True)
class Loop:
    """`params` start as `inits`; each run of `body` yields their next values, then the exit flag
    if `exits`. `range` is (start, stop, step), or None for a loop that only its exit flag ends.
    """

    index: Var | None
    range: tuple[Operand, Operand, Operand] | None
    params: tuple[Var, ...]
    inits: tuple[Operand, ...]
    body: Block
    targets: tuple[Var, ...]
    exits: bool = False
    backwards: bool = False  # run through the range from its end
    span: Span | None = None


Statement = Assign | If | Loop


@dataclass(eq=False, slots=True)
class Function:
    """A function.

    `together` are groups of parameters, and of what they hold, that may share memory; `seeds` those
    that only the reverse sweep has; `lent` those that the caller may write between the sweeps;
    `released` groups of variables whose memory is let go before the reverse sweep; `decorators`
    what the printed function is decorated with.
    """

    name: str
    params: tuple[Var, ...]
    block: Block
    span: Span | None = None
    together: tuple[Together, ...] = ()
    seeds: tuple[Var, ...] = ()
    lent: tuple[Var, ...] = ()
    released: tuple[set[Var], ...] = ()
    decorators: tuple[Callable[..., Any], ...] = ()


@dataclass(eq=False, slots=True)
class Rule:
    """The derivative of a unit, as given by whoever wrote it rather than made by the compiler.

    `function` takes the unit's arguments, its results and the adjoints of those at `outputs`, and
    returns contributions to the arguments at `positions`. `unknown` has, by their positions, the
    arguments by which it knows no derivative, with the reason.
    """

    function: Function
    outputs: tuple[int, ...]
    positions: tuple[int, ...]
    unknown: dict[int, Any] = field(default_factory=dict)
    transpose: Unit | None = None  # made on demand, for forward mode
    narrower: dict[tuple[int, ...], Rule] = field(default_factory=dict)

    def by(self, positions: Iterable[int]) -> Rule:
        """The rule with the contributions to some arguments alone."""
        which, body = frozenset(positions), self.function.block
        kept = tuple(i for i in self.positions if i in which)  # some of them more than once
        if kept and kept != self.positions and kept not in self.narrower:
            pairs = zip(self.positions, body.results, strict=True)
            block = Block(body.statements, tuple(r for i, r in pairs if i in which))
            function = clone(Function(self.function.name, self.function.params, block))
            self.narrower[kept] = Rule(function, self.outputs, kept, self.unknown)
        return self.narrower.get(kept, self)


@dataclass(eq=False, slots=True)
class Unit:
    """A function that stays one: an `Assign` calls it, and it is printed as a function of its own.

    What is made of it by differentiation is made on demand, and kept in `derived`.

    Attributes:
        name: what it is called in the generated source.
        place: the file and line it comes from.
        kinds: the kinds of its results; with one, the call's target is it, else a tuple of them.
        context: the Lowerer that made it, whose frames the rules inlined into it can see.
        function: its body; None while it is being made, when it may already call itself.
        recompute: reverse mode runs it again rather than record what it computes.
        changes: what it does to the world that makes it a mistake to run it again, or None.
        finished: nothing is left to simplify.
        fresh: its results are arrays of their own.
        plain: a faster unit that computes the same, called where nothing is differentiated, and
            which arguments it takes.
        rule: its derivative, if it isn't that of what it does.
        later: what sets the rule when it is first asked for, or None.
        source: the unit that it is made from, and a pattern that makes its name from that one's.
        shares: what its arguments and results have in common of their memory when it is done, in
            groups. One of a group is the position of an argument, or -1 - that of a result, and how
            deep in a list of lists. None while that isn't known.
    """

    name: str
    place: str
    kinds: tuple[Kind, ...]
    context: Any
    function: Function | None = None
    recompute: bool = False
    changes: str | None = None
    finished: bool = False
    fresh: bool = False
    plain: tuple[Unit, tuple[int, ...]] | None = None
    rule: Rule | None = None
    later: Callable[[], None] | None = None
    source: tuple[str, Unit] | None = None
    shares: frozenset[tuple[tuple[int, int], ...]] | None = None
    docstring: str = ""
    derived: dict[Any, Any] = field(default_factory=dict)

    @property
    def __name__(self) -> str:
        return self.name

    def own_rule(self) -> Rule | None:
        """The derivative that it comes with, made now if need be."""
        if self.later is not None:
            make, self.later = self.later, None
            make()
        return self.rule

    @property
    def body(self) -> Function:
        assert self.function is not None, "a unit is finished before it is transformed"
        return self.function


def is_constant(operand: Operand, value: object) -> bool:
    """Whether an operand is this very object, known when compiling."""
    return isinstance(operand, Const) and operand.value is value


def variables(operand: Operand) -> tuple[Var, ...]:
    """The variables in an operand."""
    if isinstance(operand, Var):
        return (operand,)
    return tuple(variables_of(operand.items)) if isinstance(operand, Pack) else ()


def variables_of(operands: Iterable[Operand]) -> list[Var]:
    """The variables in several operands."""
    found: list[Var] = []
    _gather(operands, found)
    return found


def _gather(operands: Iterable[Operand], found: list[Var]) -> None:
    """Add the variables in operands to those found."""
    for operand in operands:
        if isinstance(operand, Var):
            found.append(operand)
        elif isinstance(operand, Pack):
            _gather(operand.items, found)


def constants(operand: Operand) -> Iterator[Const]:
    """The constants in an operand."""
    if isinstance(operand, Const):
        yield operand
    elif isinstance(operand, Pack):
        for item in operand.items:
            yield from constants(item)


def items_of(key: Operand) -> tuple[Operand, ...]:
    """The items of an index: those of a tuple, or the index itself.

    >>> [item.value for item in items_of(Const((0, None)))], [i.value for i in items_of(Const(3))]
    ([0, None], [3])
    """
    if isinstance(key, Const) and isinstance(key.value, tuple):
        return tuple(map(Const, key.value))
    return key.items if isinstance(key, Pack) and key.type is tuple else (key,)


def slice_parts(item: Operand) -> tuple[Operand, ...]:
    """The start, stop and step of a slice; nothing if an item of an index is none.

    >>> [part.value for part in slice_parts(Const(slice(1, None)))], slice_parts(Const(1))
    ([1, None, None], ())
    """
    if isinstance(item, Const) and isinstance(item.value, slice):
        return tuple(map(Const, (item.value.start, item.value.stop, item.value.step)))
    return item.items if isinstance(item, Pack) and item.type is slice else ()


def uses(statement: Statement) -> list[Var]:
    """The variables a statement reads itself, those in its blocks not included."""
    return variables_of(_operands(statement))


def _operands(statement: Statement) -> tuple[Operand, ...]:
    """The operands of a statement itself."""
    if isinstance(statement, Assign):
        return statement.operands() if statement.kwargs else statement.args
    if isinstance(statement, If):
        return (statement.test,)
    return (*(statement.range or ()), *statement.inits)


def targets(statement: Statement) -> tuple[Var, ...]:
    """The variables a statement defines for those after it."""
    return (statement.target,) if isinstance(statement, Assign) else statement.targets


def blocks(statement: Statement) -> tuple[Block, ...]:
    if isinstance(statement, Assign):
        return ()
    return (statement.then, statement.orelse) if isinstance(statement, If) else (statement.body,)


def joins(statement: If | Loop) -> Iterator[tuple[Var, tuple[Operand, ...]]]:
    """The variables in which values meet at an `If` or a loop, each with those that it may be.

    A target of an `If` is the end of a branch. A parameter of a loop is what it starts with or what
    the body yields; so is a target, which is the parameter's last value.
    """
    s = statement
    if isinstance(s, If):
        yield from zip(s.targets, zip(s.then.results, s.orelse.results, strict=True), strict=True)
        return
    for param, *ends in zip(s.params, s.inits, s.body.results, strict=False):
        yield param, tuple(ends)
    for target, *ends in zip(s.targets, s.params, s.inits, s.body.results, strict=False):
        yield target, tuple(ends)


def walk(block: Block) -> Iterator[Statement]:
    """All statements of a block, in program order, those of nested blocks included."""
    open_blocks = [iter(block.statements)]
    while open_blocks:
        for statement in open_blocks[-1]:
            yield statement
            if not isinstance(statement, Assign):
                open_blocks += [iter(inner.statements) for inner in reversed(blocks(statement))]
                break
        else:
            open_blocks.pop()


def made_in(loop: Loop) -> set[Var]:
    """The variables that a loop gives values, those of loops in it included."""
    inside = list(walk(loop.body))
    found = {v for s in inside for v in targets(s)}
    for s in (loop, *inside):
        if isinstance(s, Loop):
            found.update(s.params if s.index is None else (*s.params, s.index))
    return found


def all_blocks(block: Block) -> Iterator[Block]:
    """A block and the blocks in it, at any depth."""
    yield block
    for statement in block.statements:
        if not isinstance(statement, Assign):
            for inner in blocks(statement):
                yield from all_blocks(inner)


def all_uses(block: Block) -> list[Var]:
    """The variables used in a block and the blocks in it, as often as they are."""
    found: list[Var] = []

    def visit(block: Block) -> None:
        for s in block.statements:
            if isinstance(s, Assign) and not s.kwargs:
                _gather(s.args, found)
                continue
            _gather(_operands(s), found)
            for inner in blocks(s):
                visit(inner)
        _gather(block.results, found)

    visit(block)
    return found


def use_counts(block: Block) -> Counter[Var]:
    """How often each variable is used."""
    return Counter(all_uses(block))


def free_variables(block: Block) -> dict[Var, None]:
    """The variables a block uses but doesn't define, in order of first use."""
    defined: set[Var] = set()
    found: dict[Var, None] = {}

    def visit(block: Block) -> None:
        for statement in block.statements:
            found.update((v, None) for v in uses(statement) if v not in defined)
            if isinstance(statement, Loop):
                defined.update(statement.params)
                if statement.index is not None:
                    defined.add(statement.index)
            for inner in blocks(statement):
                visit(inner)
            defined.update(targets(statement))
        for operand in block.results:
            found.update((v, None) for v in variables(operand) if v not in defined)

    visit(block)
    return found


def substitute(operand: Operand, mapping: Callable[[Var], Operand]) -> Operand:
    """The operand with each variable replaced."""
    if isinstance(operand, Var):
        return mapping(operand)
    if isinstance(operand, Pack):
        return Pack(operand.type, tuple(substitute(item, mapping) for item in operand.items))
    return operand


class Renaming(dict[Var, Any]):
    """What stands for variables from now on; for what stands for one, another may."""

    def __call__(self, var: Var) -> Any:
        operand: Any = var
        while isinstance(operand, Var) and operand in self:
            operand = self[operand]
        return operand


def rename(block: Block, names: Mapping[Var, Operand]) -> None:
    """Replace the variables that a block uses, in place."""
    if names:
        for inner in list(all_blocks(block)):
            for statement in inner.statements:
                rename_uses(statement, names)
            inner.results = renamed(inner.results, names)


def renamed(operands: tuple[Operand, ...], names: Mapping[Var, Operand]) -> tuple[Operand, ...]:
    """The operands with their variables replaced."""
    if names.keys().isdisjoint(variables_of(operands)):
        return operands
    get = names if isinstance(names, Renaming) else lambda v: names.get(v, v)
    return tuple(substitute(operand, get) for operand in operands)


def rename_uses(s: Statement, names: Mapping[Var, Operand]) -> None:
    """Replace the variables that a statement uses itself, those in its blocks not included."""
    match s:
        case Assign():
            s.args = renamed(s.args, names)
            if s.kwargs:
                values = renamed(tuple(a for _, a in s.kwargs), names)
                s.kwargs = tuple((k, a) for (k, _), a in zip(s.kwargs, values, strict=True))
            if s.views:
                s.views = tuple(w for a in renamed(s.views, names) for w in variables(a))
            if s.writes:
                s.writes = tuple(w for a in renamed(s.writes, names) for w in variables(a))
        case If():
            (s.test,) = renamed((s.test,), names)
        case Loop():
            s.inits = renamed(s.inits, names)
            if s.range is not None:
                start, stop, step = renamed(s.range, names)
                s.range = (start, stop, step)


def clone(function: Function) -> Function:
    """A copy of a function, with variables of its own."""
    copies = _Copies(())
    params, block = copies.several(function.params), copies.block(function.block)
    return Function(function.name, params, block, function.span)


def twin(statement: Statement) -> Statement:
    """A copy of a statement, with variables of its own for those that are defined in it."""
    return _Copies(free_variables(Block([statement]))).statement(statement)


class _Copies:
    """Copies of statements, with other variables than all but the `shared` ones."""

    def __init__(self, shared: Iterable[Var]) -> None:
        self.twins = {v: v for v in shared}

    def twin(self, v: Var) -> Var:
        if v not in self.twins:
            self.twins[v] = Var(v.name, v.kind, v.user, v.origins, v.optional, v.partial)
        return self.twins[v]

    def copied(self, operand: Operand) -> Operand:
        return substitute(operand, self.twin)

    def block(self, b: Block) -> Block:
        return Block([self.statement(s) for s in b.statements], tuple(map(self.copied, b.results)))

    def several(self, found: tuple[Var, ...]) -> tuple[Var, ...]:
        return tuple(map(self.twin, found))

    def statement(self, s: Statement) -> Statement:
        copied, several, block = self.copied, self.several, self.block
        match s:
            case Assign():
                args = tuple(map(copied, s.args))
                kwargs = tuple((k, copied(a)) for k, a in s.kwargs)
                return Assign(
                    self.twin(s.target), s.function, args, kwargs, s.span, several(s.views),
                    s.certain, several(s.writes), s.effect,
                )  # fmt: skip
            case If():
                return If(
                    copied(s.test), block(s.then), block(s.orelse), several(s.targets), s.span
                )
            case Loop():
                index = None if s.index is None else self.twin(s.index)
                bounds: Any = None if s.range is None else tuple(map(copied, s.range))
                return Loop(
                    index, bounds, several(s.params), tuple(map(copied, s.inits)), block(s.body),
                    several(s.targets), s.exits, s.backwards, s.span,
                )  # fmt: skip


def units(functions: Iterable[Function]) -> list[Unit]:
    """The units that functions call or hand on, directly or not, in the order they are met in."""
    found: dict[Unit, None] = {}
    waiting = list(functions)
    while waiting:
        for s in walk(waiting.pop(0).block):
            if not isinstance(s, Assign):
                continue
            handed = (c.value for a in s.args for c in constants(a))
            for function in (s.function, *handed):
                if isinstance(function, Unit) and function not in found:
                    found[function] = None
                    waiting.append(function.body)
    return list(found)


watcher: ContextVar[Callable[[str, Function], None] | None] = ContextVar("watcher", default=None)


def passed(stage: str, function: Function) -> None:
    """Tell whoever watches that a function has passed a stage of the pipeline."""
    watch = watcher.get()
    if watch is not None:
        watch(stage, function)


def reverse_sweep() -> None:
    """A mark among the statements: here the reverse sweep begins."""


def sweep_start(function: Function) -> int | None:
    """Where the statements of the reverse sweep begin, after the mark; None if there is none."""
    for position, s in enumerate(function.block.statements):
        if isinstance(s, Assign) and s.function is reverse_sweep:
            return position + 1
    return None


def forward_part(function: Function) -> Block:
    """The statements of the forward sweep; all of them if there is no other."""
    start = sweep_start(function)
    return Block(function.block.statements[: None if start is None else start - 1])


def reverse_part(function: Function) -> Block:
    """The statements of the reverse sweep."""
    start = sweep_start(function)
    return Block([] if start is None else function.block.statements[start:])


def sweep_blocks(function: Function) -> Iterator[Block]:
    """The reverse sweep and the blocks in it, to be changed in place; none if there is none."""
    start = sweep_start(function)
    if start is not None:
        sweep = Block(function.block.statements[start:])
        yield from list(all_blocks(sweep))
        function.block.statements[start:] = sweep.statements


def list_append(items: list[Any], item: Any) -> None:
    """`items.append(item)`, as a primitive."""
    items.append(item)


def listing(function: Function) -> Iterator[tuple[str, Statement | None]]:
    """The lines of a function in a readable notation, and the statement that each begins."""
    yield f"function {function.name}({', '.join(map(repr, function.params))})", None

    def visit(block: Block, indent: str) -> Iterator[tuple[str, Statement | None]]:
        for s in block.statements:
            match s:
                case Assign():
                    name = getattr(s.function, "__name__", str(s.function))
                    args = [repr(a) for a in s.args] + [f"{k}={v!r}" for k, v in s.kwargs]
                    yield f"{indent}{s.target!r} = {name}({', '.join(args)})", s
                case If():
                    yield f"{indent}{list(s.targets)} = if {s.test!r}", s
                    yield from visit(s.then, indent + "    ")
                    yield f"{indent}else", None
                    yield from visit(s.orelse, indent + "    ")
                case Loop():
                    over = f"{s.index!r} in {s.range!r}" if s.range else "ever"
                    state = [f"{p!r}={i!r}" for p, i in zip(s.params, s.inits, strict=True)]
                    yield f"{indent}{list(s.targets)} = for {over} with {', '.join(state)}", s
                    yield from visit(s.body, indent + "    ")
        yield f"{indent}yield {', '.join(map(repr, block.results))}".rstrip(), None

    yield from visit(function.block, "    ")
