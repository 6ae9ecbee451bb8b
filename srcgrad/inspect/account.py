"""What compiling a gradient did, as data: the stages, the rules, and what came from which line.

The gradient is compiled once more, watched. Every statement carries the place in the primal
function that it comes from (`ir.Origin`), through all passes; emission leaves on each node of the
syntax tree the statements that it prints. So each line of the generated source knows its *places*
(the lines of the primal function), whether it is of the forward or of the reverse sweep, and which
rules made it. `explain.py`, `page.py` and `graph.py` show what is gathered here.
"""

from __future__ import annotations

import ast
import functools
import itertools
import linecache
import re
import textwrap
import types
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np

from .. import ir
from ..emit.printer import BlankLine, Comment
from ..errors import SourceError
from ..frontend.source import get_source
from ..gradient import Gradient
from ..ir import list_append, reverse_sweep
from .calls import Call, calls, primitive_name
from .primitives import Passed, Place, Primitive, passed, primitives

STAGES = {
    "lowered": "The function as structured SSA: each variable is assigned once.",
    "reversed": (
        "The adjoint statements that the rules give for each line, from the last to the first."
    ),
    "simplified": "What nothing needs is gone; the rest is folded, merged and rearranged.",
    "recorded": (
        "What the reverse sweep can't have otherwise is kept on lists; buffers are used again."
    ),
    "emitted": "The gradient: what is shown is what runs.",
}
_VARIABLE = re.compile(r"\b([^\W\d]\w*)\.(\d+)\b")


@dataclass(frozen=True)
class Line:
    """A line of the function or of a stage.

    Attributes:
        text: the line.
        number: its number: of the primal function in its file, of a stage in its text.
        places: the lines of the primal function that it comes from.
        part: "forward", "reverse", "recorded" (it keeps a value for the reverse sweep) or "".
        rules: the primitives whose rules made it.
    """

    text: str
    number: int
    places: tuple[Place, ...] = ()
    part: str = ""
    rules: tuple[str, ...] = ()


@dataclass(frozen=True)
class Stage:
    """The function after a stage of the compiler: its name, what the stage does, its lines."""

    name: str
    about: str
    lines: tuple[Line, ...]

    @property
    def text(self) -> str:
        return "\n".join(line.text for line in self.lines)


@dataclass(frozen=True)
class Primal:
    """The source of the function, or of one that it calls and that is inlined."""

    name: str
    filename: str
    lines: tuple[Line, ...]


@dataclass(frozen=True)
class Kept:
    """A value that the forward sweep keeps for the reverse sweep.

    Attributes:
        name: the variable; where it is recorded, the list.
        variables: what the list holds, or the variable itself.
        line: the generated line that computes or records it.
        uses: the generated lines of the reverse sweep that take or use it.
        listed: it is recorded on a list, since each iteration has its own.
        place: the primal line it comes from.
        copied: it is a copy of what is overwritten later.
    """

    name: str
    variables: tuple[str, ...]
    line: int
    uses: tuple[int, ...]
    listed: bool
    place: Place | None
    copied: bool = False

    @property
    def reason(self) -> str:
        """Why it is kept.

        >>> print(Kept("u_saved", ("u_1",), 7, (12,), True, None).reason)
        u_saved keeps u_1, which is another in each iteration: line 12 of the gradient needs it
        >>> print(Kept("h", ("h",), 3, (5, 7), False, None).reason)
        h is kept: lines 5, 7 of the gradient need it
        >>> print(Kept("u_1", ("u",), 4, (9,), False, None, copied=True).reason)
        u_1 is a copy of u, which is overwritten before line 9 of the gradient needs it
        """
        several = len(self.uses) > 1
        where = f"line{'s' * several} {', '.join(map(str, self.uses))} of the gradient"
        needs = f"{where} need{'s' * (not several)} {'them' * (len(self.variables) > 1) or 'it'}"
        what = ", ".join(self.variables)
        if self.copied:
            return f"{self.name} is a copy of {what}, which is overwritten before {needs}"
        if not self.listed:
            return f"{self.name} is kept: {needs}"
        other = "are others" if len(self.variables) > 1 else "is another"
        return f"{self.name} keeps {what}, which {other} in each iteration: {needs}"


@dataclass(frozen=True)
class Account:
    """All that is known of how a gradient was made."""

    name: str
    gradient: str
    primals: tuple[Primal, ...]
    stages: tuple[Stage, ...]
    primitives: tuple[Primitive, ...]
    kept: tuple[Kept, ...]

    @property
    def final(self) -> Stage:
        return self.stages[-1]

    def stage(self, name: str) -> Stage:
        """The stage of a name.

        >>> import numpy as np
        >>> account_of(Gradient(lambda x: np.sin(x)), 1.0).stage("emitted").about
        'The gradient: what is shown is what runs.'
        """
        return next(stage for stage in self.stages if stage.name == name)


def account_of(gradient: Gradient, *args: Any, **kwargs: Any) -> Account:
    """Compile a gradient once more, for these arguments, and tell what was done.

    Without arguments, for such as those of the latest call.

    >>> import numpy as np
    >>> account = account_of(Gradient(lambda x: np.sin(x) * 2), 1.0)
    >>> [(p.name, p.rule.formula) for p in account.primitives]
    [('np.sin', 'd_x += d_sin * np.cos(x)'), ('x * y', 'd_sin += d_product * 2')]
    """
    watched = _Watched(frozenset(name for name, _ in gradient._inputs))
    token = ir.watcher.set(watched)
    try:
        compiled = gradient._compiled_anew(args, kwargs)
    finally:
        ir.watcher.reset(token)
    final = _final(compiled, watched)
    name = gradient._name
    primals = _primals(gradient, compiled, watched)
    stages = tuple(
        Stage(stage, STAGES[stage], lines)
        for stage, lines in {**watched.stages, "emitted": final.lines}.items()
        if stage in STAGES
    )
    return Account(
        name,
        str(gradient),
        primals,
        stages,
        tuple(primitives(watched.calls, watched.passed)),
        tuple(final.kept()),
    )


# Watching the compiler


class _Watched:
    """Keeps what the function looks like after each stage, and numbers its variables."""

    def __init__(self, inputs: frozenset[str]) -> None:
        self.inputs = inputs
        self.function: ir.Function | None = None
        self.headers: set[int] = set()  # the lines of loops and branches
        self.stages: dict[str, tuple[Line, ...]] = {}
        self.calls: list[Call] = []
        self.passed: dict[str, list[Passed]] = {}
        self._numbers: dict[str, int] = {}
        self._count = itertools.count()

    def __call__(self, stage: str, function: ir.Function) -> None:
        if stage == "lowered":
            self.function = function
            self.stages.clear()  # what came before was another attempt
            self.calls = calls(function, self.inputs)
        if function is not self.function:
            return  # one that is called, compiled apart
        lines: list[Line] = []
        reversing = False
        for number, (text, statement) in enumerate(ir.listing(function), 1):
            text = _VARIABLE.sub(self._renumbered, text).rstrip()
            if isinstance(statement, ir.Assign):
                reversing |= statement.function is reverse_sweep
            if isinstance(statement, (ir.If, ir.Loop)) and statement.span is not None:
                self.headers.add(statement.span.line)
            made = [] if statement is None else [statement]
            lines.append(_line(text, number, made, reversing, self.headers))
        self.stages[stage], self.passed[stage] = tuple(lines), passed(function)

    def _renumbered(self, match: re.Match[str]) -> str:
        if match[2] not in self._numbers:
            self._numbers[match[2]] = next(self._count)
        return f"{match[1]}.{self._numbers[match[2]]}"


def _line(
    text: str, number: int, made: Iterable[ir.Statement], reversing: bool, headers: set[int]
) -> Line:
    """A line that prints some statements.

    What stands for a whole loop or branch comes from its first line.
    """
    places: dict[Place, None] = {}
    rules: dict[str, None] = {}
    part = ""
    for s in made:
        part = part or ("reverse" if reversing else "forward")
        if s.span is None:
            continue
        last = s.span.line if s.span.line in headers else s.span.end_line
        for line in range(s.span.line, last + 1):
            places[s.span.filename, line] = None
        if isinstance(s.span, ir.Origin):
            if s.span.role == "recorded":
                part = "recorded"
            if s.span.rule is not None:
                rules[primitive_name(s.span.rule)] = None
    return Line(text, number, tuple(places), part, tuple(rules))


# The generated source


@dataclass
class _Printed:
    """A statement of the generated source: its lines, and the IR statements it prints."""

    first: int
    last: int
    node: Any
    made: tuple[ir.Statement, ...]
    reversing: bool


@dataclass
class _Final:
    lines: tuple[Line, ...]
    printed: list[_Printed] = field(default_factory=list)

    def kept(self) -> Iterator[Kept]:
        """What the forward sweep computes or records, and the reverse sweep takes."""
        lists: dict[ir.Var, list[_Printed]] = {}
        defined: dict[ir.Var, _Printed] = {}
        used: dict[ir.Var, list[int]] = {}
        for p in self.printed:
            for s in p.made:
                if isinstance(s, ir.Assign) and s.function in (list_append, list.pop):
                    assert isinstance(s.args[0], ir.Var)
                    lists.setdefault(s.args[0], []).append(p)
                elif not p.reversing and not (isinstance(s, ir.Assign) and s.function is list):
                    for target in ir.targets(s):
                        defined.setdefault(target, p)
                if p.reversing:
                    for v in ir.uses(s):
                        used.setdefault(v, []).append(p.first)
        takes: dict[str, tuple[int, ...]] = {}  # where what a list holds is taken
        for ends in lists.values():
            for p in ends:
                for name in _names(p.node):
                    takes[name] = tuple(x.first for x in ends if x.reversing)
        for p in self.printed:
            name = _stored(p.node)
            if p.made and not p.reversing and name and _is_copy(p.made[0]):
                uses = tuple(dict.fromkeys(used.get(ir.targets(p.made[0])[0], ())))
                source = ast.unparse(p.node.value.func.value)
                yield Kept(name, (source,), p.first, uses or takes.get(name, ()), False,
                           _first_place(self.lines[p.first - 1]), True)  # fmt: skip
                defined.pop(ir.targets(p.made[0])[0], None)
        for v, p in defined.items():
            if v in used and v not in lists and not v.name.startswith("d_"):
                name = _stored(p.node) or v.name
                yield Kept(name, (name,), p.first, tuple(dict.fromkeys(used[v])), False,
                           _first_place(self.lines[p.first - 1]))  # fmt: skip
        for v, ends in lists.items():
            pushes = [p for p in ends if not p.reversing]
            pops = [p.first for p in ends if p.reversing]
            if pushes and pops and v.name.endswith("saved"):
                call = pushes[0].node.value
                names = tuple(dict.fromkeys(_names(call.args[0])))
                yield Kept(ast.unparse(call.func.value), names, pushes[0].first, tuple(pops), True,
                           _first_place(self.lines[pushes[0].first - 1]))  # fmt: skip


def _final(compiled: Any, watched: _Watched) -> _Final:
    """The lines of the generated source, with what each of them prints."""
    texts = compiled.source.splitlines()
    lines = [Line(text, number) for number, text in enumerate(texts, 1)]
    trees = {e.tree.name: e.tree for e in compiled.emitted}
    found: list[_Printed] = []
    for definition in ast.parse(compiled.source).body:
        if isinstance(definition, ast.FunctionDef) and definition.name in trees:
            found += _matched(trees[definition.name].body, definition.body)
    for p in found:
        for number in range(p.first, p.last + 1):
            made = _line(texts[number - 1], number, p.made, p.reversing, watched.headers)
            lines[number - 1] = made
    for number in range(len(lines) - 1, 0, -1):  # a comment belongs to what follows it
        if lines[number - 1].text.lstrip().startswith("#"):
            below = lines[number]
            lines[number - 1] = replace(below, text=texts[number - 1], number=number, rules=())
    return _Final(tuple(lines), found)


def _matched(tree: list[Any], parsed: list[Any]) -> Iterator[_Printed]:
    """The statements of the printed text beside the nodes that they were printed from."""
    code = [node for node in tree if not isinstance(node, (Comment, BlankLine))]
    for node, statement in zip(code, parsed, strict=True):
        inner = getattr(statement, "body", None)
        last = statement.end_lineno
        if inner:
            last = max(statement.lineno, inner[0].lineno - 1)
            test = getattr(statement, "test", getattr(statement, "iter", None))
            last = min(last, getattr(test, "end_lineno", last))
        made = getattr(node, "printed", ())
        yield _Printed(statement.lineno, last, statement, made, getattr(node, "reversing", False))
        for part in ("body", "orelse"):
            if getattr(statement, part, None):
                yield from _matched(getattr(node, part), getattr(statement, part))


def _is_copy(s: ir.Statement) -> bool:
    """Whether a statement keeps the contents of an array that is written later."""
    recorded = isinstance(s.span, ir.Origin) and s.span.role == "recorded"
    return recorded and isinstance(s, ir.Assign) and s.function is np.ndarray.copy


def _names(node: Any) -> list[str]:
    return [n.id for n in ast.walk(node) if isinstance(n, ast.Name)]


def _stored(node: Any) -> str:
    """The name that a statement assigns, if it assigns one."""
    if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name):
        return node.targets[0].id
    return ""


def _first_place(line: Line) -> Place | None:
    return line.places[0] if line.places else None


# The primal function, and those it calls


def function_of(primal: Any) -> Any:
    """The function that a method, a partial or an object with `__call__` runs.

    >>> function_of("text".upper) is None
    True
    """
    while isinstance(primal, (functools.partial, types.MethodType)):
        primal = primal.func if isinstance(primal, functools.partial) else primal.__func__
    if not isinstance(primal, types.FunctionType):
        primal = getattr(type(primal), "__call__", None)  # noqa: B004
    return primal if isinstance(primal, types.FunctionType) else None


def _primals(gradient: Gradient, compiled: Any, watched: _Watched) -> tuple[Primal, ...]:
    """The source of the function and of those that were inlined, in the order of their use."""
    order: dict[Place, None] = {}
    for line in (line for lines in watched.stages.values() for line in lines):
        order.update(dict.fromkeys(line.places))
    primal = function_of(gradient.primal)
    found: list[Primal] = []
    covered: set[Place] = set()
    for function in (primal, *(function for function, _ in compiled.codes)):
        try:
            source = get_source(function, gradient._text if function is primal else None)
        except SourceError:
            continue
        first, last = source.node.lineno, source.node.end_lineno
        places = [(source.filename, number) for number in range(first, last + 1)]
        if covered.issuperset(places) or (found and not any(p in order for p in places)):
            continue
        covered.update(places)
        texts = textwrap.dedent(
            "".join(linecache.getline(source.filename, n) or "\n" for n in range(first, last + 1))
        ).splitlines()
        lines = tuple(
            Line(text, number, ((source.filename, number),))
            for number, text in zip(range(first, last + 1), texts, strict=False)
        )
        found.append(Primal(source.name, source.filename, lines))
    return tuple(found)
