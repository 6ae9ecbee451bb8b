"""What is asked of the compiler, and what it answers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from ..emit.references import Emitted
from ..errors import Span
from ..frontend.columns import Knowledge
from ..frontend.sharing import Calls
from ..frontend.values import Path
from ..packages import told


@dataclass(frozen=True)
class Request:
    """What to generate: a gradient, with or without the value, or a forward sweep and pullback.

    `inputs` are the parameters to differentiate: the name of each, and of `*args` and `**kwargs`
    which item.
    """

    name: str
    inputs: tuple[tuple[str, int | str | None], ...]
    value: bool = False
    has_aux: bool = False
    pullback: bool = False
    single: bool = True  # one gradient, not in a tuple
    tangent: bool = False  # carry tangents of the inputs along
    unit: bool = False  # the tangent of the only input is 1
    traced: str = ""  # show the "named" variables, or "all", and their adjoints
    batch: bool = False  # of tangents, or of adjoints of the result: one more axis in front
    nan_check: bool = False  # check that adjoints are finite


@dataclass(frozen=True)
class Task:
    """A function to be compiled for arguments like these, and how.

    Attributes:
        static: what is fixed when compiling: arguments, dimensions, sites of lists and branches.
        source: the text of the function, where it was given.
        kept: the functions that are units, not inlined.
        shared: those that are units if they are pure, and called alike at several places; None if
            all but the kept ones are inlined.
        calls: what is known of functions that are inlined, to which each lowering adds.
        objects: what is known of objects in tables, to which each lowering adds.
        lists: what stands for each list from outside that is one value, in `static`, were it not.
        longest: how many statements there may be; None if it doesn't matter.
        compact: lists of like items are kept, and the loops over them, rather than unrolled.
        apart: lists are taken apart, however much is unrolled for it.
        most: how many statements the function may have when lowered; None if it doesn't matter.
        asks: where the kind of a result may follow from the value of an int, that is made static;
            else the kind stays unknown.
        longest_asked: how many statements there may be where some were made static for that.
        asked: what such ints are called, to which each lowering adds.
        refusing: what may be called instead of what can't be followed (functions that are given
            constants, packages) and its name, from the inside out, by the place where that stands.
    """

    primal: Any
    request: Request
    arguments: dict[str, Any]
    static: frozenset[Any]
    source: str | None = None
    kept: frozenset[Any] = frozenset()
    shared: frozenset[Any] | None = None
    calls: Calls = field(default_factory=Calls)
    objects: Knowledge = field(default_factory=Knowledge)
    lists: set[Any] = field(default_factory=set)
    longest: int | None = None
    compact: bool = False
    apart: bool = False
    most: int | None = None
    asks: bool = True
    longest_asked: int | None = None
    asked: set[str] = field(default_factory=set)
    refusing: dict[Span | None, dict[Any, str]] = field(default_factory=dict)

    @property
    def base(self) -> str:
        """The name that those of generated functions are made of."""
        return self.request.name if self.request.name.isidentifier() else "function"

    @property
    def where(self) -> str:
        """Where the function is defined, in words for a docstring."""
        code = told(self.primal, "__code__")
        if code is None:
            return ""
        filename = code.co_filename.replace("\\", "/").rpartition("/")[2]
        return f" ({filename}:{code.co_firstlineno})"


@dataclass(eq=False)
class Compiled:
    """A generated function, its source, and what must still hold for it to be used.

    Of a pullback, `function` is the forward sweep: it returns the result and the residuals, which
    `pullback` takes, with the adjoints of the leaves of the result.
    """

    function: Callable[..., Any]
    source: str
    filename: str
    emitted: tuple[Emitted, ...]
    free: tuple[tuple[Path, Any], ...]  # where values from outside are read, and their kinds
    unused: tuple[Path, ...]  # outer values whose kinds matter, but which aren't passed
    guards: tuple[tuple[Path, Any], ...]  # objects that must still be the same
    codes: tuple[tuple[Any, Any], ...]  # inlined functions, and their code
    static: frozenset[Any]
    rules: int  # the version of the rules
    params: tuple[str, ...] = ()
    pullback: Callable[..., Any] | None = None
    nesting: Any = None  # of the result, with the number of each leaf
    written: tuple[int, ...] = ()  # the residuals that the pullback writes into
    example: dict[str, Any] | None = None  # arguments like those it was compiled for, if kept
