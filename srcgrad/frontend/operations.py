"""The compiler's own primitives: what statements do that no function of Python's does."""

from __future__ import annotations

from typing import Any


def list_append(items: list[Any], item: Any) -> None:
    """`items.append(item)`, as a primitive."""
    items.append(item)


def leave_unless(test: bool) -> None:
    """A mark in a loop's body: if the test is false, the loop ends here, in the middle of a trip.

    Its results are then its parameters, as they were when the trip began; nothing that stands
    before the mark changes any memory, so that the trip needs no reversing.
    """


def len_of_range(start: int, stop: int, step: int) -> int:
    """The number of steps of `range(start, stop, step)`."""
    return len(range(start, stop, step))


def raise_exception(exception: Any, cause: Any = None) -> None:
    """`raise exception from cause`, as a primitive."""
    raise exception from cause


def enter_context(manager: Any) -> Any:
    """`manager.__enter__()`."""
    return manager.__enter__()


def exit_context(manager: Any) -> Any:
    """`manager.__exit__(None, None, None)`."""
    return manager.__exit__(None, None, None)


def namedtuple_replace(value: Any, /, **changes: Any) -> Any:
    """`value._replace(**changes)`."""
    return value._replace(**changes)


def namedtuple_asdict(value: Any, /) -> Any:
    """`value._asdict()`."""
    return value._asdict()


def items_of(iterator: Any) -> Any:
    """The items of a user's iterator: inlined like a function of the user's."""
    while True:
        try:
            item = iterator.__next__()
        except StopIteration:
            return
        yield item
