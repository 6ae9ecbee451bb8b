"""The pipeline: from a function and example arguments to a compiled gradient.

    lower (frontend) -> reverse -> simplify, prune -> record -> emit -> compile

The result holds for one *signature*: the nesting and kinds of the arguments, the equalities among
their dimensions, and the values of what steers the computation (flags, strings, functions).
"""

from __future__ import annotations

import itertools
from contextlib import suppress
from dataclasses import replace
from typing import Any

from .. import ir
from ..errors import Boxed, InternalError, SrcgradError, UnsupportedError, is_ours
from ..frontend.array_protocols import BOXED
from ..frontend.columns import Knowledge, Unkept
from ..frontend.libraries import CALLED
from ..frontend.linking import LINKED
from ..frontend.restarts import NeedStatic, Raised, TakenApart, Thaw, TooLong, Unkeepable, Unshared
from ..frontend.sharing import Calls
from ..frontend.units import NeedUnit
from ..frontend.values import EVERYWHERE, Junction, Path
from ..packages import is_installed
from .gradient import gradient_function
from .primal import Primal, lower_primal
from .process import compiling
from .tangent import tangent_function
from .task import Compiled, Request, Task

LONG = 500  # statements: from there on, tables are tried rather than loops unrolled
READABLE = 150  # statements: from there on, lists are kept where that is much shorter
ASKED = 125  # from there on, kinds that follow from the values of ints rather stay unknown
TOO_LONG = 4000  # from there on, lists of like items are kept, and loops over them
ENDLESS = 60_000  # from there on, it is refused
MOST_SHARINGS = 12  # how often it may be asked anew which functions are shared
MOST_TABLES = 20  # how often more classes may be found whose objects stand in tables
MANY = 4  # expressions found that keep objects in lists: with more of them, all may
MORE_TO_LEARN = (SrcgradError, NeedStatic, NeedUnit, TooLong, Unshared)


def compile_gradient(
    primal: Any,
    request: Request,
    arguments: dict[str, Any],
    static: frozenset[Any],
    source: str | None = None,
) -> Compiled:
    """Generate and compile the gradient of `primal` for arguments like these.

    A recursion is inlined where what steers it can be known. If that fails, it is a unit. Objects
    are followed one by one. If that fails, or unrolls much for them, those that a loop or recursion
    makes stand in tables. If that can't be, long functions that several places call are units.
    Where even then very much would be unrolled, all objects stand in tables, and loops over lists
    of like items are kept. A list from outside whose items are alike is one value. If that fails,
    each of its items is. What can't be followed in another package isn't looked into: a function
    that is given constants if there is one, else the package. Loops that take items of short lists
    by place are unrolled, unless that gets long and it is much shorter to keep them.
    """
    refused: list[tuple[UnsupportedError, Any, str]] = []  # and what was called because of it
    while True:
        task = Task(primal, request, arguments, static, source)
        with compiling():
            try:
                return _compiled_lists(task)
            except UnsupportedError as error:
                last, noted = error, task.refusing.get(error.span, {})
        uncalled = [thing for thing in noted if (CALLED, thing) not in static]
        if not uncalled:
            break
        called = min(uncalled, key=_is_package)
        refused.append((last, called, noted[called]))
        static |= {(CALLED, called)}
    if not refused:
        raise last
    if last.span is None or is_installed(last.span.filename):
        raise next((first for first, called, _ in refused if _is_package(called)), last)
    before, _, name = refused[-1]
    why = f"What {name} does isn't followed, for this can't be:\n{before}"
    advice = why if last.advice is None else f"{last.advice}\n{why}"
    raise UnsupportedError(last.message, last.span, advice)


def _is_package(called: Any) -> bool:
    """Whether all functions of a package are called instead of followed, not only one."""
    return isinstance(called, str)


def _compiled_lists(task: Task) -> Compiled:
    """What a task asks for: lists from outside one value each, or item by item."""
    try:
        return _compiled_objects(task)
    except UnsupportedError:
        if not task.lists:
            raise
    return _compiled_objects(replace(task, static=task.static | task.lists, objects=Knowledge()))


def _compiled_objects(task: Task) -> Compiled:
    """What a task asks for: loops over the places of short lists unrolled, unless that gets long.

    Unrolled is the faster code. Where that is more than one reads, and with lists and loops kept
    the function has less than half the statements, they are kept.
    """
    try:
        return _taken_apart(task)
    except TakenApart as error:
        found, most, longest = error.with_traceback(None), error.statements // 2, error.emitted
    again = replace(task, calls=Calls(), objects=Knowledge())
    with suppress(UnsupportedError, TooLong):
        return _compiled_recursions(replace(again, compact=True, most=most, longest=longest))
    unrolled = replace(found.task, apart=True)
    with suppress(*MORE_TO_LEARN):  # what had to be known to get there is
        if ir.watcher.get() is None:  # who watches is to see the stages in their order
            return _generated(unrolled, found.lowered)
        return _transformed(unrolled)
    return _taken_apart(replace(again, apart=True))


def _taken_apart(task: Task) -> Compiled:
    """What a task asks for: loops unrolled if that isn't long, in tables and loops if it is."""
    refused: UnsupportedError | None = None
    short = replace(task, longest=LONG)
    found: Compiled | None = None
    try:
        found = _followed(replace(short, longest_asked=ASKED))
    except TooLong:
        pass
    except UnsupportedError as error:
        refused = error
    if refused is None:
        found = _linked(short, found)
    if found is not None:
        return found
    if task.asked:
        with suppress(UnsupportedError, TooLong):
            longest = LONG if refused is None else TOO_LONG
            free = replace(task, longest=longest, asks=False, objects=Knowledge())
            found = _followed(free)
            if refused is not None or _lines(found) <= LONG:
                return found
        if refused is None:
            with suppress(TooLong):
                return _followed(replace(short, objects=Knowledge()))
    if refused is not None:
        raise refused
    with suppress(UnsupportedError, TooLong):
        return _in_tables(replace(task, longest=TOO_LONG))
    task = replace(task, objects=Knowledge())  # what was learned of the objects is forgotten
    with suppress(TooLong):
        return _shared(replace(task, longest=TOO_LONG))
    compact = replace(task, compact=True, longest=ENDLESS)
    compact.objects.candidates |= compact.objects.single
    with suppress(UnsupportedError, TooLong):
        return _in_tables(compact)
    with suppress(UnsupportedError, TooLong):
        return _compiled_recursions(replace(compact, objects=Knowledge()))
    try:  # there is no shorter way
        return _shared(replace(task, calls=Calls(), objects=Knowledge(), longest=ENDLESS))
    except TooLong:
        raise UnsupportedError(
            f"{task.request.name} has more than {ENDLESS:,} statements when its loops are unrolled",
            None,
            "loops over what is known when compiling are unrolled where they can't be kept: make "
            "them loops over arrays, or shorter",
        ) from None


def _shared(task: Task) -> Compiled:
    """What a task asks for, long functions that are called at several places being units."""
    calls = task.calls
    known: dict[str, Any] = {}
    for attempt in itertools.count():
        calls.impure.clear()
        shared = calls.long() if attempt < MOST_SHARINGS else None
        objects = Knowledge() if shared else task.objects
        try:
            return _followed(replace(task, shared=shared, objects=objects, **known))
        except Unshared as need:
            calls.inlined.update(need.functions)
            known = need.known
        except (UnsupportedError, TooLong) as error:
            if isinstance(error, TooLong) and shared is not None and calls.long() != shared:
                continue
            if not shared:
                raise
            calls.inlined.update(calls.impure or shared)
    raise AssertionError


def _followed(task: Task) -> Compiled:
    """What a task asks for, objects followed one by one; in tables if need be, containers last."""
    refused: UnsupportedError
    try:
        return _compiled_recursions(task)
    except UnsupportedError as error:
        refused = error
    task = replace(task, longest=ENDLESS)
    try:
        return _in_tables(task, refused)
    except UnsupportedError as error:
        refused = error
    more = task.objects.sites - task.static or task.objects.alone - task.static
    if more:
        task.objects.forget()
        with suppress(UnsupportedError):
            return _followed(replace(task, static=task.static | more))
    raise refused


def _linked(task: Task, found: Compiled | None) -> Compiled | None:
    """What a task asks for, linked tuples being objects, if what was found is long; else that."""
    most = READABLE if found is None else _lines(found)
    while most >= READABLE:
        linked = {site for site in task.objects.sites if site[0] == LINKED} - task.static
        if found is None:
            linked = linked or task.objects.alone - task.static
        if not linked:
            break
        task = replace(task, static=task.static | linked, objects=Knowledge())
        with suppress(UnsupportedError, TooLong):
            try:
                kept = _followed(task)
            except TooLong:
                kept = _in_tables(replace(task, longest=TOO_LONG))
            if found is None or 2 * _lines(kept) < most:
                return kept
    return found


def _lines(found: Compiled) -> int:
    return found.source.count("\n")


def _in_tables(task: Task, refused: UnsupportedError | None = None) -> Compiled:
    """What a task asks for, with as many classes in tables as that needs.

    `refused`: why it can't be had without, if that's refused; raised if it can't be had with them
    either.
    """
    refused = refused or UnsupportedError("too much would be unrolled", None)
    for _ in range(MOST_TABLES):
        if not task.objects.adopt():
            break
        try:
            return _compiled_recursions(task)
        except Unkept as error:
            line = f" (line {error.span.line})" if error.span is not None else ""
            refused = UnsupportedError(refused.message, refused.span, f"{error.message}{line}")
        except UnsupportedError as error:
            refused = error
    raise refused


def _compiled_recursions(task: Task) -> Compiled:
    """What a task asks for, recursions inlined or units."""
    deep: set[Any] = set()
    try:
        return _compiled(task, deep)
    except UnsupportedError:
        if not deep:
            raise
    return _compiled(replace(task, kept=frozenset(deep)), set())


def _compiled(task: Task, deep: set[Any]) -> Compiled:
    """What a task asks for; more is made static, and more functions units, until it can be had.

    `deep`: to these are added the functions of which ints are made static to inline them.
    """
    before, name = task.static, task.request.name
    slots: frozenset[Any] = frozenset()
    hindrance: Unkeepable | None = None  # why lists have items of several kinds
    for attempt in range(50):
        try:
            return _transformed(task)
        except NeedUnit as need:
            # what had to be known to inline the recursion needn't be known any more
            task = replace(task, kept=task.kept | {need.function}, static=before)
        except NeedStatic as need:
            more = frozenset(o for o in need.origins if isinstance(o, (tuple, Path)))
            more = more - task.static or need.records - task.static
            if need.unit is not None:
                deep.add(need.unit)
            if not more or attempt == 49:
                raise UnsupportedError(need.sentence, need.span) from None
            task = replace(task, static=task.static | more)
        except Unkeepable as error:
            more = error.records - task.static or error.slots - task.static
            if not more or attempt == 49:
                error = hindrance or error
                raise UnsupportedError(error.message, error.span, error.advice) from None
            if EVERYWHERE not in task.static and _keeping(task.static) == MANY:
                with suppress(UnsupportedError):  # rather than to begin anew for each of them
                    return _compiled(replace(task, static=task.static | {EVERYWHERE}), deep)
            if more <= error.slots and error.kinds:  # no loop need be unrolled for it
                slots, hindrance = slots | more, hindrance or error
                task = replace(task, static=before | slots)
            else:
                task = replace(task, static=task.static | more)
        except Boxed as error:
            if BOXED in task.static or attempt == 49:
                raise UnsupportedError(error.message, error.span, error.advice) from None
            task = replace(task, static=task.static | {BOXED})
        except (Raised, Thaw) as error:
            # an object that a branch chose is changed later: choose it again, unfrozen
            marker = getattr(error, "marker", None)
            site = {marker.site} if isinstance(marker, Junction) else set()
            if not site - task.static or attempt == 49:
                raise UnsupportedError(error.message, error.span, error.advice) from None
            task = replace(task, static=task.static | site)
        except Unshared as error:
            error.known = {"static": task.static, "kept": task.kept}
            raise
        except (SrcgradError, TooLong, TakenApart):
            raise
        except RecursionError as error:
            raise UnsupportedError(f"{name} is too deeply nested to be compiled", None) from error
        except Exception as error:
            if is_ours(error):
                raise
            raise InternalError(f"compiling {name} failed: {error!r}") from error
    raise AssertionError


def _keeping(static: frozenset[Any]) -> int:
    """How many expressions may keep objects in lists."""
    return sum(1 for origin in static if isinstance(origin, tuple) and origin[0] == "%records")


def _transformed(task: Task) -> Compiled:
    lowered = lower_primal(task)
    low, count = lowered.low, sum(1 for _ in ir.walk(lowered.function.block))
    if task.most is not None and count > task.most:
        raise TooLong
    if count > READABLE and low.takes_apart and not (task.compact or task.apart):
        raise TakenApart(task, lowered, count)
    return _generated(task, lowered)


def _generated(task: Task, lowered: Primal) -> Compiled:
    return (tangent_function if task.request.tangent else gradient_function)(task, lowered)


__all__ = ["Compiled", "Request", "compile_gradient"]
