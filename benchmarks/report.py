"""What was measured, as tables on the terminal, JSON and plots."""

from __future__ import annotations

import dataclasses
import json
import math
import platform
import sys
from collections import Counter
from collections.abc import Callable, Iterable
from pathlib import Path
from typing import Any

import numpy as np

from benchmarks.measuring import FUNCTION, HAND, Cell
from benchmarks.sixteen import Verdict, by_kind
from benchmarks.workloads import WORKLOADS

OURS = "srcgrad"
BRIEF = {
    "wrong": "WRONG",
    "refused": "refused",
    "not expressible": "–",
    "too slow": "too slow",
    "absent": "absent",
}
SIZE_CLASSES = ("tiny", "cache", "memory")


@dataclasses.dataclass
class Results:
    """Everything that one run measured."""

    contenders: list[str]
    absent: dict[str, str]
    cells: list[Cell] = dataclasses.field(default_factory=list)
    verdicts: list[Verdict] = dataclasses.field(default_factory=list)
    overhead: Cell | None = None
    products: list[Cell] = dataclasses.field(default_factory=list)
    growth: list[Cell] = dataclasses.field(default_factory=list)

    def size_classes(self) -> list[str]:
        """Those measured."""
        return [s for s in SIZE_CLASSES if any(c.size_class == s for c in self.cells)]

    def too_slow(self, workload: str) -> frozenset[str]:
        """Those that were too slow at a size measured so far."""
        cells = [cell for cell in self.cells if cell.workload == workload]
        return frozenset().union(*(cell.too_slow() for cell in cells))

    def ratios(self, above: str, below: str, size_class: str) -> dict[str, float]:
        """Of the median times, by workload, where both are there."""
        found = {}
        for cell in self.cells:
            over, under = cell.seconds(above), cell.seconds(below)
            if cell.size_class == size_class and over and under:
                found[cell.workload] = over / under
        return found

    def memory(self, size_class: str) -> dict[str, float]:
        """Our peak memory over that of the gradient by hand, by workload."""
        found = {}
        for cell in self.cells:
            ours, by_hand = (cell.figures[name] for name in (OURS, HAND))
            if cell.size_class == size_class and ours.peak and by_hand.peak:
                found[cell.workload] = ours.peak / by_hand.peak
        return found


def geometric_mean(numbers: Iterable[float]) -> float:
    """nan of none."""
    logs = [math.log(n) for n in numbers]
    return math.exp(sum(logs) / len(logs)) if logs else math.nan


def progress(items: Iterable[Any], what: str) -> Iterable[Any]:
    """The items, with a progress bar if tqdm is installed."""
    try:
        from tqdm import tqdm
    except ImportError:
        print(f"{what} ...", file=sys.stderr)
        return items
    return tqdm(items, desc=what, dynamic_ncols=True)


class Table:
    """Rows of text; drawn by rich if that is installed."""

    def __init__(self, title: str, *columns: str) -> None:
        self.title, self.columns = title, columns
        self.rows: list[tuple[str, ...]] = []

    def row(self, *texts: str) -> None:
        """Add one."""
        self.rows.append(texts)

    def show(self) -> None:
        """On the terminal."""
        try:
            import rich.box
            import rich.console
            import rich.table
        except ImportError:
            self._show_plainly()
            return
        table = rich.table.Table(title=self.title, box=rich.box.SIMPLE, title_justify="left")
        for i, column in enumerate(self.columns):
            table.add_column(column, justify="right" if i else "left", no_wrap=True)
        for texts in self.rows:
            styles = {"WRONG": "[red]WRONG[/]", "wrong": "[red]wrong[/]"}
            table.add_row(*(styles.get(text, text) for text in texts))
        rows = [self.columns, *self.rows]
        width = sum(max(map(len, column)) + 3 for column in zip(*rows, strict=True)) + 4
        console = rich.console.Console()
        console.width = max(console.width, width)
        console.print(table)

    def _show_plainly(self) -> None:
        widths = [max(map(len, column)) for column in zip(self.columns, *self.rows, strict=True)]
        print(f"\n{self.title}")
        for texts in (self.columns, *self.rows):
            first, *rest = zip(texts, widths, strict=True)
            print(first[0].ljust(first[1]), *(t.rjust(w) for t, w in rest), sep="  ")


def show(results: Results) -> None:
    """All tables."""
    for name, reason in results.absent.items():
        print(f"absent: {name} ({reason})")
    for size_class in results.size_classes():
        timings(results, size_class).show()
    if results.cells:
        means(results).show()
        goals(results).show()
    if results.products:
        hessians(results).show()
    if results.overhead is not None:
        calls(results.overhead).show()
    if results.growth:
        growths(results).show()
    if results.verdicts:
        kinds(results).show()
    failures(results)


def timings(results: Results, size_class: str) -> Table:
    """One size class: our gradient over others, and others over ours."""
    others = [name for name in results.contenders if name != OURS]
    table = Table(
        f"{size_class}: microseconds; srcgrad over the gradient by hand and over the function; "
        "then each contender over srcgrad",
        "workload", "by hand", "srcgrad", "/hand", "/function", "memory/hand", "first, ms",
        *others,
    )  # fmt: skip
    for cell in results.cells:
        if cell.size_class != size_class:
            continue
        by_hand, ours = cell.seconds(HAND), cell.figures[OURS]
        memory = results.memory(size_class).get(cell.workload)
        table.row(
            cell.workload,
            _number((by_hand or math.nan) * 1e6),
            _number(ours.seconds * 1e6) if ours.seconds else BRIEF[ours.status],
            _ratio(cell, OURS, HAND),
            _ratio(cell, OURS, FUNCTION),
            _number(memory) if memory else "",
            _number(ours.first * 1e3) if ours.first else "",
            *(_ratio(cell, name, OURS) for name in others),
        )
    return table


def means(results: Results) -> Table:
    """Geometric means per size class, over the workloads that both got right."""
    classes = results.size_classes()
    table = Table("geometric means (of how many workloads)", "", *classes)
    pairs = [(OURS, HAND), (OURS, FUNCTION), (HAND, FUNCTION)]
    pairs += [(name, OURS) for name in results.contenders if name != OURS]
    for above, below in pairs:
        found = [results.ratios(above, below, s).values() for s in classes]
        table.row(f"{above} / {below}", *(f"{geometric_mean(f):.2f} ({len(f)})" for f in found))
    alike = {w.name for w in WORKLOADS if not w.by_hand_differs}
    for what, ratios in (
        ("peak memory / by hand", results.memory),
        ("where by hand is the same program: time", lambda s: results.ratios(OURS, HAND, s)),
        ("where by hand is the same program: memory", results.memory),
    ):
        chosen = alike if "same program" in what else {c.workload for c in results.cells}
        found = [[n for w, n in ratios(s).items() if w in chosen] for s in classes]
        table.row(what, *(f"{geometric_mean(f):.2f} ({len(f)})" for f in found))
    return table


def goals(results: Results) -> Table:
    """What the project set out to reach, and what this run says."""
    table = Table("goals", "", "goal", "reached", "")
    named = {name.split()[0]: name for name in results.contenders}

    def at_most(what: str, bound: float, found: float) -> None:
        table.row(what, f"<= {bound:g}", f"{found:.2f}", _met(found <= bound, found))

    def at_least(what: str, bound: float, found: float) -> None:
        table.row(what, f">= {bound:g}", f"{found:.2f}", _met(found >= bound, found))

    for size_class in results.size_classes():
        found = results.ratios(OURS, HAND, size_class)
        if found:
            worst = max(found, key=found.__getitem__)
            at_most(f"{size_class}: over by hand, mean", 1.05, geometric_mean(found.values()))
            at_most(f"{size_class}: over by hand, worst ({worst})", 1.2, found[worst])
        memory = results.memory(size_class)
        if memory and size_class != "tiny":
            mean = geometric_mean(memory.values())
            at_most(f"{size_class}: peak memory over by hand, mean", 1.1, mean)
    bounds = {"autograd": 10, "tangent-ad": 5, "tensor": 12, "torch": 4, "jax": 3}
    for name, bound in bounds.items():
        if name in named:
            mean = geometric_mean(results.ratios(named[name], OURS, "tiny").values())
            at_least(f"tiny: {named[name]} over srcgrad, mean", bound, mean)
    if "autograd" in named:
        slowest = [
            (ratio, f"{workload}, {s}")
            for s in results.size_classes()
            for workload, ratio in results.ratios(named["autograd"], OURS, s).items()
        ]
        if slowest:
            ratio, where = min(slowest)
            at_least(f"autograd over srcgrad, worst ({where})", 1, ratio)
    return table


def _met(met: bool, found: float) -> str:
    return "not measured" if math.isnan(found) else "met" if met else "not met"


def calls(cell: Cell) -> Table:
    """The gradient of ``2 * x`` by a number: nothing but overhead."""
    table = Table("call overhead: the gradient of 2 * x, microseconds", "", "")
    for name, figures in cell.figures.items():
        text = f"{figures.seconds * 1e6:.2f}" if figures.seconds else BRIEF[figures.status]
        table.row(name, text)
    return table


def hessians(results: Results) -> Table:
    """Hessian-vector products, everyone's time over that by hand."""
    names = list(results.products[0].figures)
    table = Table("Hessian-vector products: microseconds by hand, then over by hand", "", *names)
    for cell in results.products:
        by_hand = _number((cell.seconds(HAND) or math.nan) * 1e6)
        others = (_ratio(cell, name, HAND) for name in names[1:])
        table.row(f"{cell.workload}, {cell.size_class}", by_hand, *others)
    return table


def growths(results: Results) -> Table:
    """Time for each trip of a loop, as the loop grows."""
    table = Table(
        "growth with loop length (recursive filter): microseconds for each trip",
        "",
        *(str(cell.size) for cell in results.growth),
    )
    for name in results.growth[0].figures:
        texts = []
        for cell in results.growth:
            seconds = cell.seconds(name)
            texts.append(
                _number(seconds / cell.size * 1e6) if seconds else BRIEF[cell.figures[name].status]
            )
        table.row(name, *texts)
    return table


def kinds(results: Results) -> Table:
    """Sixteen kinds of program: a contender's worst over the programs of the kind."""
    table = Table(
        "sixteen kinds of program: the worst over the programs of each", "", *results.contenders
    )
    verdict_of = by_kind(results.verdicts)
    for kind, row in verdict_of.items():
        table.row(kind, *(row[name] for name in results.contenders))
    for status in ("right", "wrong", "refused"):
        counts = Counter(name for row in verdict_of.values() for name in row if row[name] == status)
        table.row(f"kinds {status}", *(str(counts[name]) for name in results.contenders))
    for status in ("right", "wrong"):
        counts = Counter(v.contender for v in results.verdicts if v.figures.status == status)
        table.row(f"programs {status}", *(str(counts[name]) for name in results.contenders))
    return table


def failures(results: Results) -> None:
    """What we didn't get right, in full."""
    for verdict in results.verdicts:
        if verdict.contender == OURS and verdict.figures.status != "right":
            print(f"srcgrad, {verdict.program}: {verdict.figures.status} {verdict.figures.note}")
    for cell in results.cells:
        figures = cell.figures[OURS]
        if figures.status != "right":
            print(f"srcgrad, {cell.workload} ({cell.size_class}): {figures.status} {figures.note}")


def _ratio(cell: Cell, above: str, below: str) -> str:
    for name in (above, below):
        if cell.figures[name].seconds is None:
            return BRIEF[cell.figures[name].status] if name == above else ""
    return _number((cell.seconds(above) or math.nan) / (cell.seconds(below) or math.nan))


def _number(x: float) -> str:
    return f"{x:,.0f}" if x >= 100 else f"{x:.3g}" if x >= 10 else f"{x:.2f}"


def machine() -> dict[str, str]:
    """What the figures were measured on."""
    return {
        "python": platform.python_version(),
        "numpy": np.__version__,
        "machine": platform.machine(),
        "system": platform.platform(),
    }


def save_json(figures: dict[str, Any], path: Path) -> None:
    """Everything, with what it ran on."""
    path.parent.mkdir(parents=True, exist_ok=True)
    text = json.dumps({"machine": machine(), **figures}, indent=1)
    path.write_text(text + "\n", encoding="utf-8")


def save_plots(results: Results, folder: Path) -> list[Path]:
    """The plots that there are figures for; none without matplotlib."""
    try:
        import matplotlib

        matplotlib.use("Agg")
        from matplotlib import pyplot
    except ImportError:
        print("no plots: matplotlib isn't installed")
        return []
    folder.mkdir(parents=True, exist_ok=True)
    plots: dict[str, Callable[[Any, Results], None]] = {}
    if results.cells:
        plots |= {"workloads": _plot_workloads, "contenders": _plot_contenders}
    if results.growth:
        plots["growth"] = _plot_growth
    paths = []
    for name, plot in plots.items():
        height = 4.5 if name != "workloads" else 2 + 0.24 * len({c.workload for c in results.cells})
        figure, axes = pyplot.subplots(figsize=(8, height), layout="constrained")
        plot(axes, results)
        paths.append(folder / f"{name}.png")
        figure.savefig(paths[-1], dpi=130)
        pyplot.close(figure)
    return paths


def _plot_workloads(axes: Any, results: Results) -> None:
    workloads = list(dict.fromkeys(cell.workload for cell in results.cells))[::-1]
    for size_class, marker in zip(results.size_classes(), "o^s", strict=False):
        found = results.ratios(OURS, HAND, size_class)
        places = [workloads.index(w) for w in found]
        axes.plot(list(found.values()), places, marker, label=size_class, alpha=0.8)
    axes.set_yticks(range(len(workloads)), workloads)
    axes.axvline(1, color="black", linewidth=0.8)
    axes.axvline(1.05, color="grey", linewidth=0.8, linestyle=":")
    axes.set_xscale("log")
    axes.set_xlabel("time of srcgrad's gradient over the one written by hand")
    axes.legend()


def _plot_contenders(axes: Any, results: Results) -> None:
    classes = results.size_classes()
    width = 0.8 / len(classes)
    for i, size_class in enumerate(classes):
        for place, name in enumerate(results.contenders):
            mean = geometric_mean(results.ratios(name, HAND, size_class).values())
            label = size_class if place == 0 else None
            axes.bar(place + i * width, mean, width, color=f"C{i}", label=label)
    axes.set_xticks(
        [place + 0.4 - width / 2 for place in range(len(results.contenders))],
        results.contenders,
        rotation=30,
        ha="right",
    )
    axes.set_yscale("log")
    axes.axhline(1, color="black", linewidth=0.8)
    axes.set_ylabel("time over the gradient by hand,\ngeometric mean of what each gets right")
    axes.legend()


def _plot_growth(axes: Any, results: Results) -> None:
    for name in results.growth[0].figures:
        points = [(c.size, c.seconds(name)) for c in results.growth if c.seconds(name)]
        if points:
            axes.loglog(*zip(*points, strict=True), "o-", label=name, markersize=4)
    axes.set_xlabel("trips of the loop of the recursive filter")
    axes.set_ylabel("seconds")
    axes.legend(fontsize=8)
