"""Right or wrong, how long, how much memory: one workload at one size, all contenders at once."""

from __future__ import annotations

import copy
import gc
import signal
import statistics
import time
import tracemalloc
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from benchmarks.contenders import Contender, attempts
from benchmarks.namespaces import NotExpressible
from benchmarks.workloads import Workload

Run = Callable[[], Any]
Clock = Callable[[], float]  # the processor's time in seconds, of this thread or of all

HAND, FUNCTION = "by hand", "function"


class TooSlow(BaseException):
    """A call took more than it was given. Not an Exception, so that no contender catches it."""


@dataclass
class Figures:
    """What one contender did with one workload at one size.

    `status` is "right", "wrong", "refused", "not expressible" or "too slow"; only what is right is
    timed. `first` is the time of the first call, with everything compiled; the rest in seconds and
    bytes, medians.
    """

    status: str
    note: str = ""
    first: float | None = None
    seconds: float | None = None
    fastest: float | None = None
    samples: int = 0
    peak: int | None = None


@dataclass
class Cell:
    """A workload at a size, with the figures of everyone by name."""

    workload: str
    size_class: str
    size: int
    figures: dict[str, Figures] = field(default_factory=dict)

    def seconds(self, name: str) -> float | None:
        """The median time, if there is one."""
        return self.figures[name].seconds if name in self.figures else None

    def too_slow(self) -> frozenset[str]:
        """Those that need not be tried at a larger size."""
        return frozenset(n for n, figures in self.figures.items() if figures.status == "too slow")


@dataclass(frozen=True)
class Effort:
    """How long to measure: seconds of each cell for the three that matter most, for each of the
    others, and the most that a first call may take."""

    ours: float
    others: float
    patience: float


def measure(
    workload: Workload,
    size_class: str,
    contenders: list[Contender],
    effort: Effort,
    too_slow: frozenset[str] = frozenset(),
) -> Cell:
    """Check every contender against the gradient by hand, then time those that are right.

    Those named in `too_slow` were so at a smaller size: they aren't called.
    """
    size = workload.sizes[size_class]
    args = workload.make_inputs(size)
    argnums = (workload.argnums,) if isinstance(workload.argnums, int) else workload.argnums
    by_hand, given = workload.gradient_by_hand, copy.deepcopy(args)
    expected = by_hand(*given)
    expected = (expected,) if isinstance(workload.argnums, int) else expected
    cell = Cell(workload.name, size_class, size)
    runs: dict[str, Run] = {
        HAND: lambda: by_hand(*given),
        FUNCTION: lambda: workload.function(*given),
    }
    cell.figures = {name: Figures("right") for name in runs}
    for contender in contenders:
        if contender.name in too_slow:
            cell.figures[contender.name] = Figures("too slow", "at a smaller size")
            continue
        figures, run = check(contender, workload.function, argnums, args, expected, effort.patience)
        cell.figures[contender.name] = figures
        if run is not None:
            runs[contender.name] = run
    budgets = {
        name: effort.ours if name in (HAND, FUNCTION, "srcgrad") else effort.others for name in runs
    }
    clocks = {c.name: c.clock for c in contenders}
    for name, times in interleaved(runs, budgets, clocks).items():
        figures = cell.figures[name]
        figures.seconds, figures.fastest = statistics.median(times), min(times)
        figures.samples = len(times)
    in_numpy = {HAND, FUNCTION, *(c.name for c in contenders if c.in_numpy)}
    for name in in_numpy & set(runs):
        if (cell.figures[name].seconds or 0) < 0.2 * effort.patience:
            cell.figures[name].peak = peak_memory(runs[name])
    return cell


def check(
    contender: Contender,
    function: Callable[..., Any],
    argnums: tuple[int, ...],
    args: tuple[Any, ...],
    expected: tuple[Any, ...],
    patience: float,
    once: bool = False,
) -> tuple[Figures, Run | None]:
    """Call a contender twice and compare; the call, if it may be timed."""
    start = time.perf_counter()
    try:
        with warnings.catch_warnings(), limit(patience, contender.clock):
            warnings.simplefilter("ignore")
            run, gradient = attempts(contender, function, argnums, args, once)
            first = time.perf_counter() - start
            if agree(gradient, expected) and not once:
                # again: whoever overwrites the arguments gives something else now
                gradient = contender.numpy(run())
    except TooSlow:
        return Figures("too slow", f"more than {patience:g} s"), None
    except NotExpressible as error:
        return Figures("not expressible", str(error)), None
    except Exception as error:
        return Figures("refused", f"{type(error).__name__}: {error}".strip()[:500]), None
    if not agree(gradient, expected):
        return Figures("wrong", first=first), None
    return Figures("right", first=first), run


def agree(gradient: tuple[Any, ...], expected: tuple[Any, ...]) -> bool:
    """Whether every part has the shape and, nearly, the numbers expected."""
    if len(gradient) != len(expected):
        return False
    scale = max(float(np.max(np.abs(e), initial=0)) for e in expected)
    return all(
        g.shape == np.shape(e) and np.allclose(g, e, rtol=1e-6, atol=1e-8 * scale)
        for g, e in zip(gradient, expected, strict=True)
    )


@contextmanager
def limit(seconds: float, clock: Clock = time.thread_time) -> Iterator[None]:
    """Raise `TooSlow` in the block once it has had so much of the processor by a clock.

    Again and again, as what is raised while Python collects garbage is lost. The timer counts all
    threads, of which one may still compile what another contender gave up.
    """
    start = clock()

    def stop(*_: Any) -> None:
        if clock() - start >= seconds:
            raise TooSlow

    before = signal.signal(signal.SIGPROF, stop)
    signal.setitimer(signal.ITIMER_PROF, seconds, min(seconds, 0.2))
    try:
        yield
    finally:
        signal.setitimer(signal.ITIMER_PROF, 0)
        signal.signal(signal.SIGPROF, before)


def interleaved(
    runs: dict[str, Run], budgets: dict[str, float], clocks: dict[str, Clock] | None = None
) -> dict[str, list[float]]:
    """Seconds of each call, many times: all take turns, so that all meet the same disturbances.

    A sample is one call, or as many as take a millisecond, after one that isn't counted and fills
    the processor's caches. Whoever has used up its budget drops out, after three samples (or fewer,
    if they take three times the budget). Samples during which another program had the processor
    are left out, unless that leaves fewer than three: then the processor's time counts, by the
    clock of each, or else of this thread: other threads may be at work for another contender.
    """
    clock = dict.fromkeys(runs, time.thread_time) | (clocks or {})
    counts: dict[str, int] = {}
    kept: dict[str, list[float]] = {name: [] for name in runs}
    disturbed: dict[str, list[float]] = {name: [] for name in runs}
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for name, run in runs.items():
            fastest = min(_sample(run, 1, clock[name])[0] for _ in range(2))
            counts[name] = max(1, int(1e-3 / max(fastest, 1e-8)))
        gc.collect()
        spent = dict.fromkeys(runs, 0.0)
        running = list(runs)
        while running:
            for name in running:
                if counts[name] > 1:
                    runs[name]()
                seconds, busy = _sample(runs[name], counts[name], clock[name])
                if busy > 0.9 * seconds:
                    kept[name].append(seconds)
                else:
                    disturbed[name].append(busy)
                spent[name] += busy * counts[name]
            running = [
                name
                for name in (*running[1:], running[0])
                if spent[name] < budgets[name]
                or (len(kept[name]) + len(disturbed[name]) < 3 and spent[name] < 3 * budgets[name])
            ]
    return {name: kept[name] + disturbed[name] * (len(kept[name]) < 3) for name in runs}


def _sample(run: Run, count: int, clock: Clock) -> tuple[float, float]:
    """Seconds for each call: of the time that passes, and of the processor by a clock."""
    start, start_busy = time.perf_counter(), clock()
    for _ in range(count):
        run()
    busy = clock() - start_busy
    return (time.perf_counter() - start) / count, busy / count


def peak_memory(run: Run) -> int:
    """Bytes that one call needs beyond what is there before, at most at once."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        gc.collect()
        tracemalloc.start()
        try:
            before = tracemalloc.get_traced_memory()[0]
            run()
            return tracemalloc.get_traced_memory()[1] - before
        finally:
            tracemalloc.stop()
