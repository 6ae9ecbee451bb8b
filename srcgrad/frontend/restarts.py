"""What lowering raises to begin again knowing more, or because the program raises there.

Each says what has to be known, or be another way, for lowering to go on.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from ..errors import UnsupportedError

if TYPE_CHECKING:
    from .values import Ref, Value

WHOLE = "%whole"  # of known sites: the short lists outside that are one value, as long ones are


class NeedStatic(Exception):
    """An int or string must be known when compiling; `origins` says what it derives from.

    `records` are the places where objects could be kept in a list that exists at run time instead;
    `unit` is the function that could stay one (`units.identity`).
    """

    records: frozenset[Any] = frozenset()
    unit: Any = None

    def __init__(self, origins: frozenset[Any], message: str, span: Any) -> None:
        super().__init__(message)
        self.origins, self.message, self.span = origins, message, span

    @property
    def sentence(self) -> str:
        """The message as one for who can't be told more than that it isn't known."""
        asks = self.message.startswith(("how ", "which ", "whether ", "an index", "this slice"))
        known = "known" in self.message
        return f"{self.message} isn't known when compiling" if asks and not known else self.message


class Unkeepable(UnsupportedError):
    """A value that only the compiler knows would have to be kept in a list at run time.

    `records` is what may be made static instead: where objects could be kept, never to be changed
    again, and how often the loops run that made the list. `slots`, if that doesn't help: the dicts
    that get a slot for each of their keys, the lists that may have items of several kinds. `kinds`
    says that this is what hinders.
    """

    records: frozenset[Any] = frozenset()
    slots: frozenset[Any] = frozenset()
    kinds: bool = False


class Lengthen(Exception):
    """A loop makes a tuple longer in each iteration; `slot` is where it is kept."""

    def __init__(self, slot: Any) -> None:
        super().__init__()
        self.slot = slot


class Thaw(UnsupportedError):
    """A frozen object is written; `marker` is the loop or branch that froze it."""

    def __init__(self, marker: Any, message: str, span: Any, advice: str | None) -> None:
        super().__init__(message, span, advice)
        self.marker = marker


class Wording(str):
    """What the compiler says of an exception of which Python says something else."""


class Raised(UnsupportedError):
    """The program surely raises an exception here, of this type: a try may catch it.

    `given` is what Python gives the exception; None if that isn't known.
    """

    def __init__(
        self,
        message: str,
        span: Any,
        advice: str | None,
        exception: type[BaseException],
        given: tuple[Any, ...] | None = None,
    ) -> None:
        super().__init__(message, span, advice)
        self.exception = exception
        self.given = (Wording(message),) if given is None else given
        self.block: Any = None  # where it is raised
        # whether it is left to the run where that may not get here
        later = LookupError, NameError, ImportError, TypeError, AttributeError
        self.late = issubclass(exception, later)
        self.value: Value | None = None  # the exception object, if there is a try that catches it


class Unbound(Exception):
    """A name is used that has no value yet; it may have one in the next iteration of a loop."""

    def __init__(self, error: UnsupportedError) -> None:
        super().__init__()
        self.error = error


class Empty(Unbound):
    """An item of a list is used in which nothing has been put yet, on any path to this place."""


class Unreached(Exception):
    """What is called raises, or is a recursion of unknown result: look at other paths first."""


class Peel(Exception):
    """A number that a loop carries becomes an array: its first iteration is to stand alone."""


class Materialize(Exception):
    """A list must exist at run time, because its length isn't known when compiling."""

    def __init__(self, ref: Ref, span: Any) -> None:
        super().__init__()
        self.ref, self.span = ref, span


class TakenApart(Exception):
    """Much is unrolled since lists are taken apart that might be kept.

    Attributes:
        task: what was lowered so.
        lowered: what it became (`compiler.primal.Primal`).
        statements: how many the function has.
        emitted: how many were made until it was lowered.
    """

    def __init__(self, task: Any, lowered: Any, statements: int) -> None:
        super().__init__()
        self.task, self.lowered, self.statements = task, lowered, statements
        self.emitted = lowered.low.emitted


class TooLong(Exception):
    """More is unrolled than is wanted."""


class Unshared(Exception):
    """Functions that are to be inlined after all (what `units.identity` says of them), or others
    that are to be shared too.

    `known` is what had to be fixed until then, and which functions had to be units: so they will
    have to be again, as of what is inlined more must be known.
    """

    def __init__(self, functions: frozenset[Any]) -> None:
        super().__init__()
        self.functions = functions
        self.known: dict[str, Any] = {}
