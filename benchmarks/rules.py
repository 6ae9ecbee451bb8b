"""What each rule costs: the time of its gradient over that of the function, at a sizeable input.

    python -m benchmarks.rules [WORD] [--quick] [--json PATH]

Each function with a rule is called as one of its samples does, enlarged (`benchmarks.enlarging`),
or by an expression of `benchmarks.rule_rows`. The gradient is by all arguments, and includes what
it needs of the function. An elementwise function's should cost about as much as the function, a
product's twice, a solve's two solves, a sort's a sort; what costs more is an outlier, and has the
reason beside it. "growth" is the ratio over that at an eighth of the size: a rule of a worse order
than its function's makes it large. WORD: only the rows that contain it. All of them take four
minutes; tests/ must be there, and what it needs (the extra "test").

On one thread: on several, those of BLAS may wait for each other longer than they compute.
"""

from __future__ import annotations

import os

for _name in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")  # before NumPy is imported

import argparse  # noqa: E402
import dataclasses  # noqa: E402
import math  # noqa: E402
import sys  # noqa: E402
import time  # noqa: E402
import warnings  # noqa: E402
from collections.abc import Callable  # noqa: E402
from pathlib import Path  # noqa: E402
from typing import Any  # noqa: E402

import numpy as np  # noqa: E402

from benchmarks import report, rule_rows  # noqa: E402
from benchmarks.rule_rows import REASONS, Row  # noqa: E402

MOST_RATIO = 5.0  # an outlier's is larger
MOST_GROWTH = 2.5
OVERHEAD = 150e-6  # seconds: a gradient that takes less says little about its rule
BUDGET = 0.03  # seconds for each of the times, if one call doesn't take longer
QUICK = 0.003
UNEXPLAINED = "UNEXPLAINED"
TICK = 1e-7  # seconds that the clock can tell


@dataclasses.dataclass(frozen=True)
class Figures:
    """One row, measured.

    Attributes:
        name: the function's, or an expression.
        call: with what the function is called.
        numbers: how many the arguments hold.
        function: seconds of the function.
        gradient: seconds of its gradient.
        writing: seconds that it takes to write as many numbers as the arguments hold.
        growth: the ratio over that at the next smaller size, if there is one.
    """

    name: str
    call: str
    numbers: int
    function: float
    gradient: float
    writing: float
    growth: float | None

    @property
    def ratio(self) -> float:
        """The gradient's time over the function's."""
        return self.gradient / self.function

    @property
    def outlier(self) -> bool:
        """Whether the gradient takes so long that there must be a reason."""
        floor = max(self.function, self.writing)
        slow = self.gradient > max(MOST_RATIO * floor, OVERHEAD)
        grows = self.growth is not None and self.growth > MOST_GROWTH
        return slow or (grows and self.ratio > 2 and self.function > self.writing)

    @property
    def remark(self) -> str:
        """What there is to say about the ratio, if anything."""
        if self.outlier:
            return REASONS.get(self.name, UNEXPLAINED)
        if self.ratio <= MOST_RATIO:
            return ""
        return "overhead of calls" if self.gradient <= OVERHEAD else "writes all of the gradient"


def main(arguments: list[str] | None = None) -> int:
    """Measure, print and save."""
    options = parse(arguments)
    start = time.perf_counter()
    size, budget = (rule_rows.SMALLEST, QUICK) if options.quick else (rule_rows.LARGEST, BUDGET)
    chosen = rule_rows.rows(size, options.word)
    results = [surely(row, budget) for row in report.progress(chosen, "rules")]
    table(results).show()
    print(summary(results))
    if options.json:
        figures = [{**dataclasses.asdict(f), "remark": f.remark} for f in results]
        report.save_json({"rules": figures}, options.json)
    print(f"{time.perf_counter() - start:.0f} seconds in all")
    return 0


def parse(arguments: list[str] | None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks.rules",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("word", nargs="?", default="", metavar="WORD", help="what names contain")
    parser.add_argument("--quick", action="store_true", help="at the smallest size, imprecisely")
    parser.add_argument("--json", type=Path, metavar="PATH", help="where to save all figures")
    return parser.parse_args(arguments)


def surely(row: Row, budget: float) -> Figures:
    """A row's figures. An outlier without a reason is measured again: the machine may be busy."""
    figures = measure(row, budget)
    if figures.remark != UNEXPLAINED:
        return figures
    return min(figures, measure(row, 4 * budget), key=lambda f: (f.outlier, f.ratio))


def measure(row: Row, budget: float) -> Figures:
    """Time a row's function and gradient."""
    ratios = []
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        for sized in row.sizes():
            function, gradient = least([sized.function, sized.gradient], budget)
            ratios.append(gradient / function)
    (writing,) = least([lambda: np.full(sized.numbers, 1.0)], budget / 10)
    growth = ratios[-1] / ratios[-2] if len(ratios) > 1 else None
    return Figures(row.name, row.call, sized.numbers, function, gradient, writing, growth)


def least(runs: list[Callable[[], Any]], budget: float) -> list[float]:
    """The least of the processor's time of each of several runs, after one that isn't timed."""
    for run in runs:
        run()
    times = [math.inf] * len(runs)
    for number, run in enumerate(runs):
        rounds, end = 0, time.perf_counter() + budget
        while time.perf_counter() < end or rounds < 3:
            start = time.process_time()
            run()
            times[number] = min(times[number], max(time.process_time() - start, TICK))
            rounds += 1
    return times


def table(results: list[Figures]) -> report.Table:
    """All rows, those with the largest ratio first."""
    columns = ("numbers", "function us", "gradient us", "ratio", "growth", "remark")
    result = report.Table("What each rule costs", "function", *columns)
    for f in sorted(results, key=lambda f: (-f.outlier, -f.ratio)):
        name = f"{f.name}({f.call})" if f.call else f.name
        times = f"{1e6 * f.function:.1f}", f"{1e6 * f.gradient:.1f}"
        growth = f"{f.growth:.1f}" if f.growth is not None else "–"
        result.row(name[:70], str(f.numbers), *times, f"{f.ratio:.1f}", growth, f.remark)
    return result


def summary(results: list[Figures]) -> str:
    """How many rows, and which outliers have no reason."""
    small = sum(f.growth is None for f in results)
    outliers = [f for f in results if f.outlier]
    unexplained = [f.name for f in outliers if f.name not in REASONS]
    text = (
        f"{len(results)} rows, {small} of them at the size of a sample. {len(outliers)} outliers: "
        f"more than {MOST_RATIO:g} times as long as the function, and as writing as many numbers"
    )
    return f"{text}; without a reason: {', '.join(unexplained) or 'none'}"


if __name__ == "__main__":
    sys.exit(main())
