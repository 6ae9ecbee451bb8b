"""Gradients of srcgrad, by hand, and of everyone else, side by side.

    python -m benchmarks [--quick] [--only NAME] [--json PATH] [--plots DIR]

Everything runs in this process, on one thread, taking turns. Every contender's gradient is compared
with the one written by hand first: one that is wrong is reported, and not timed. Contenders that
aren't installed are reported as absent. What the compiler itself costs is the business of
`python -m benchmarks.overheads`, programs full of loops that of `python -m benchmarks.programs`.
"""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ[_name] = "1"  # before NumPy is imported
os.environ["XLA_FLAGS"] = "--xla_cpu_multi_thread_eigen=false intra_op_parallelism_threads=1"

import argparse  # noqa: E402
import contextlib  # noqa: E402
import dataclasses  # noqa: E402
import gc  # noqa: E402
import time  # noqa: E402
from collections.abc import Iterable, Iterator  # noqa: E402
from pathlib import Path  # noqa: E402

import numpy as np  # noqa: E402

from benchmarks import report, sixteen  # noqa: E402
from benchmarks.contenders import Contender, OfHessian, available  # noqa: E402
from benchmarks.measuring import Effort, measure  # noqa: E402
from benchmarks.report import progress  # noqa: E402
from benchmarks.workloads import WORKLOADS, Workload  # noqa: E402

if TYPE_CHECKING:
    from benchmarks.measuring import Cell

QUICK = Effort(ours=0.05, others=0.015, patience=0.25)
FULL = Effort(ours=1.0, others=0.4, patience=30.0)
GROWTH = (100, 400, 1_600, 6_400)


def double(x: float) -> float:
    """Twice a number: a gradient that is nothing but overhead."""
    return 2.0 * x


def double_gradient(x: float) -> float:
    """By hand."""
    return 2.0


OVERHEAD = Workload("call overhead", double, double_gradient, lambda _: (3.0,), {"tiny": 1})


def main(arguments: list[str] | None = None) -> int:
    """Measure, show and save; fails if a gradient of srcgrad is wrong."""
    options = parse(arguments)
    effort = QUICK if options.quick else FULL
    start = time.perf_counter()
    contenders, absent = available()
    gc.freeze()  # what the contenders imported need not be looked through at each collection
    results = report.Results([c.name for c in contenders], absent)

    # what a contender does at its first call of all is no workload's
    quietly(OVERHEAD, "tiny", contenders, Effort(0.0, 0.0, FULL.patience))

    workloads = [w for w in WORKLOADS if options.only in w.name]
    size_classes = [s for s in report.SIZE_CLASSES if not (options.quick and s == "memory")]
    work = [(w, s) for s in size_classes for w in workloads]
    for workload, size_class in progress(work, "workloads"):
        too_slow = results.too_slow(workload.name)
        results.cells.append(quietly(workload, size_class, contenders, effort, too_slow))
    results.products = products(workloads, size_classes, contenders, effort)
    if not options.only:
        results.overhead = quietly(OVERHEAD, "tiny", contenders, effort)
        results.growth = growth(contenders, effort, options.quick)
        with silence():
            results.verdicts = sixteen.verdicts(
                contenders, lambda programs: progress(programs, "programs")
            )

    report.show(results)
    if options.json:
        report.save_json(dataclasses.asdict(results), options.json)
    folder = options.plots or (options.json.parent if options.json else None)
    if folder is not None:
        for path in report.save_plots(results, folder):
            print(f"saved {path}")
    print(f"{time.perf_counter() - start:.0f} seconds in all")
    ours = [c.figures[report.OURS] for c in results.cells]
    ours += [v.figures for v in results.verdicts if v.contender == report.OURS]
    return int(any(figures.status == "wrong" for figures in ours))


def parse(arguments: list[str] | None) -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(
        prog="python -m benchmarks",
        description=__doc__,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "--quick", action="store_true", help="less precise, and no sizes bound by memory"
    )
    parser.add_argument(
        "--only", default="", metavar="NAME", help="the workloads with NAME in their name"
    )
    parser.add_argument("--json", type=Path, metavar="PATH", help="where to save all figures")
    parser.add_argument(
        "--plots", type=Path, metavar="DIR", help="where to save plots; else beside the JSON"
    )
    return parser.parse_args(arguments)


def growth(contenders: list[Contender], effort: Effort, quick: bool) -> list[Cell]:
    """One loop at several lengths."""
    workload = next(w for w in WORKLOADS if w.name == "recursive filter")
    lengths = GROWTH[:3] if quick else GROWTH
    cells = []
    too_slow: frozenset[str] = frozenset()
    for length in progress(lengths, "growth"):
        one = Workload(
            workload.name,
            workload.function,
            workload.gradient_by_hand,
            workload.make_inputs,
            {"length": length},
            workload.argnums,
        )
        cells.append(quietly(one, "length", contenders, effort, too_slow))
        too_slow = cells[-1].too_slow()
    return cells


def products(
    workloads: Iterable[Workload],
    size_classes: list[str],
    contenders: list[Contender],
    effort: Effort,
) -> list[Cell]:
    """Hessian-vector products, where there is one by hand."""
    cells = []
    for workload in workloads:
        if workload.hvp_by_hand is not None:
            asked = [OfHessian(contender, workload.function) for contender in contenders]
            for size_class in progress(size_classes, "Hessians"):
                cells.append(quietly(product_workload(workload), size_class, asked, effort))
    return cells


def product_workload(workload: Workload) -> Workload:
    """The Hessian-vector products of a workload, the vector as last argument."""

    def inputs(size: int) -> tuple[Any, ...]:
        args = workload.make_inputs(size)
        return *args, np.random.default_rng(0).normal(size=args[workload.argnums].shape)

    def function(*args: Any) -> Any:
        return workload.function(*args[:-1])

    return Workload(
        f"{workload.name}, Hessian times vector",
        function,
        workload.hvp_by_hand,
        inputs,
        workload.sizes,
        workload.argnums,
    )


def quietly(*args: Any) -> Cell:
    """Measure, while contenders print nothing."""
    with silence():
        return measure(*args)


@contextlib.contextmanager
def silence() -> Iterator[None]:
    """Drop what contenders print, and what Python says of exceptions it had to ignore.

    The progress bar writes to the error stream, which stays.
    """
    before, sys.unraisablehook = sys.unraisablehook, lambda _: None
    try:
        with open(os.devnull, "w") as nowhere, contextlib.redirect_stdout(nowhere):
            yield
    finally:
        sys.unraisablehook = before


if __name__ == "__main__":
    sys.exit(main())
