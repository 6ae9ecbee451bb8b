"""The values and adjoints of the named variables during one call: where do they vanish or explode?

A traced gradient is compiled apart, with calls in it that show each named variable where it gets
a value, and its adjoint where the reverse sweep comes to the same place (`transform/tracing.py`).
"""

from __future__ import annotations

import html
import io
import linecache
import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..errors import SourceError
from ..frontend.source import get_source
from ..gradient import Gradient
from ..transform.tracing import Site, listener
from .account import function_of

BARS = "▁▂▃▄▅▆▇█"
COLUMNS = (
    "line", "variable", "shape", "times", "‖value‖", "min", "max", "nan", "‖adjoint‖", "min", "max",
    "nan", "",
)  # fmt: skip


@dataclass(frozen=True)
class Summary:
    """What is kept of an array: its shape, 2-norm, least and greatest number, how many NaN.

    Of complex numbers, the least and greatest magnitude.

    >>> summary_of(np.array([3.0, -4.0]))
    Summary(shape=(2,), norm=5.0, min=-4.0, max=3.0, nans=0)
    """

    shape: tuple[int, ...]
    norm: float
    min: float
    max: float
    nans: int

    @property
    def finite(self) -> bool:
        return self.nans == 0 and math.isfinite(self.norm)


def summary_of(value: Any) -> Summary:
    """Summarise an array or a number."""
    array = np.asarray(value)
    with np.errstate(all="ignore"):
        sizes = np.abs(array) if array.dtype.kind == "c" else array
        numbers = sizes[~np.isnan(sizes)]
        low, high = (numbers.min(), numbers.max()) if numbers.size else (math.nan, math.nan)
        largest = float(np.abs(numbers).max()) if numbers.size else 0.0
        scale = largest if 0 < largest < math.inf else 1.0  # squares must not overflow
        norm = float(np.linalg.norm(np.ravel(sizes) / scale)) * scale
    return Summary(array.shape, norm, float(low), float(high), int(np.isnan(sizes).sum()))


@dataclass(frozen=True)
class Row:
    """A variable at one place of the program.

    Attributes:
        filename, line: the place; of an argument, where the function begins.
        text: the line of source.
        name: the variable, or "result".
        values: a summary for each time it got a value there, in order.
        adjoints: of its adjoint, for the same times; empty if nothing is differentiated by it.
    """

    filename: str
    line: int
    text: str
    name: str
    values: tuple[Summary, ...]
    adjoints: tuple[Summary, ...]

    @property
    def finite(self) -> bool:
        return all(s.finite for s in (*self.values, *self.adjoints))


@dataclass(frozen=True)
class Trace:
    """The values and adjoints of one call. `print` it, or show it in a notebook.

    Attributes:
        name: the function.
        result: what `value_and_grad` returns for the call.
        rows: the named variables, in program order.
        remarks: what is striking: the first NaN, adjoints that vanish or explode.
    """

    name: str
    result: Any
    rows: tuple[Row, ...]
    remarks: tuple[str, ...]

    def __str__(self) -> str:
        table = [COLUMNS, *map(_cells, self.rows)]
        widths = [max(len(line[i]) for line in table) for i in range(len(COLUMNS))]
        lines = [
            "  ".join(
                c.ljust(w) if i in (1, 12) else c.rjust(w)
                for i, (c, w) in enumerate(zip(line, widths, strict=True))
            ).rstrip()
            for line in table
        ]
        return "\n".join([*lines, *([""] if self.remarks else []), *self.remarks]) + "\n"

    def __rich__(self) -> Any:
        """The table for `rich.print`."""
        from rich.console import Group
        from rich.table import Table

        table = Table(box=None, header_style="dim", pad_edge=False)
        for i, column in enumerate(COLUMNS):
            table.add_column(column, justify="left" if i in (1, 12) else "right", no_wrap=True)
        for row in self.rows:
            table.add_row(*_cells(row), style=None if row.finite else "bold red")
        return Group(table, "", *self.remarks) if self.remarks else table

    def _repr_html_(self) -> str:
        return self.html()

    def html(self, places: dict[tuple[str, int], int] | None = None) -> str:
        """The table as HTML; `places` numbers the lines, for the page."""
        heads = "".join(
            f'<th class="left">{c}</th>' if i in (1, 12) else f"<th>{c}</th>"
            for i, c in enumerate(COLUMNS)
        )
        rows = "".join(
            _html(row, (places or {}).get((row.filename, row.line))) for row in self.rows
        )
        remarks = "".join(f"<p>{html.escape(remark)}</p>" for remark in self.remarks)
        return f"<table><thead><tr>{heads}</tr></thead><tbody>{rows}</tbody></table>{remarks}"


class _Traced(Gradient):
    """A gradient, with its value, that shows its variables."""

    _traced = "named"


def trace_of(gradient: Gradient, *args: Any, **kwargs: Any) -> Trace:
    """Call a gradient, and watch its variables.

    >>> from srcgrad import grad
    >>> trace = trace_of(grad(lambda x: np.sum(x**2)), np.array([3.0, 4.0]))
    >>> [(row.name, row.values[0].norm, row.adjoints[0].norm) for row in trace.rows]
    [('x', 5.0, 10.0), ('result', 25.0, 1.0)]
    """
    traced = _Traced(gradient.primal, gradient._argnums, gradient._has_aux, True, gradient._text)
    values: dict[Site, list[Summary]] = {}
    adjoints: dict[Site, list[Summary]] = {}

    def listen(site: Site, adjoint: bool, value: Any) -> None:
        (adjoints if adjoint else values).setdefault(site, []).append(summary_of(value))

    token = listener.set(listen)
    try:
        result = traced(*args, **kwargs)
    finally:
        listener.reset(token)
    try:
        source = get_source(function_of(gradient.primal), gradient._text)
        first = (source.filename, source.node.lineno)
    except SourceError:  # a function of NumPy's, say
        first = ("", 0)
    rows: dict[tuple[str, int, str, int], list[Any]] = {}
    for site in sorted(values, key=lambda s: s.number):
        place = first if site.span is None else (site.span.filename, site.span.line)
        key = (*place, site.name, len(values[site]))
        backwards = tuple(reversed(adjoints.get(site, [])))
        text = linecache.getline(*place).strip()
        # a loop that is unrolled gets to one place several times
        known = rows.setdefault(key, [place, text, site.name, (), ()])
        known[3] += tuple(values[site])
        known[4] += backwards
    made = tuple(Row(place[0], place[1], *rest) for place, *rest in rows.values())
    return Trace(gradient._name, result, made, tuple(_remarks(made)))


def _remarks(rows: tuple[Row, ...]) -> Iterable[str]:
    """What is striking about values, in the order in which they are computed."""
    for what, found in (
        ("value", [(row, s) for row in rows for s in row.values]),
        ("adjoint", [(row, s) for row in reversed(rows) for s in reversed(row.adjoints)]),
    ):
        bad = next(((row, s) for row, s in found if not s.finite), None)
        if bad is not None:
            row, summary = bad
            kind = f"{summary.nans} NaN" if summary.nans else "an infinity"
            yield f"The first {what} that isn't finite is {row.name}'s, line {row.line}: {kind}."
    norms = [(max(s.norm for s in row.adjoints), row) for row in rows if row.adjoints]
    finite = [(n, row) for n, row in norms if math.isfinite(n)]
    largest = max((n for n, _ in finite), default=0.0)
    for norm, row in finite:
        if norm == 0:
            yield f"The adjoint of {row.name}, line {row.line}, is zero."
        elif norm < 1e-8 * largest:
            yield f"The adjoint of {row.name}, line {row.line}, vanishes: its norm is {norm:.1e}."
    for row in rows:
        grown = [s.norm for s in row.adjoints if s.finite and s.norm > 0]
        if len(grown) > 1 and max(grown) > 1e6 * min(grown):
            yield (
                f"Over the {len(row.adjoints)} times, the norm of the adjoint of {row.name}, line "
                f"{row.line}, goes from {grown[0]:.1e} (first) to {grown[-1]:.1e} (last)."
            )


def _cells(row: Row) -> tuple[str, ...]:
    shapes = {s.shape for s in row.values}
    shape = "x".join(map(str, row.values[0].shape)) or "()" if len(shapes) == 1 else "varies"
    return (
        str(row.line), row.name, shape, str(len(row.values)), *_numbers(row.values),
        *(_numbers(row.adjoints) if row.adjoints else ("–", "", "", "")), _bars(row.adjoints),
    )  # fmt: skip


def _numbers(summaries: tuple[Summary, ...]) -> tuple[str, str, str, str]:
    """Norm (from the first time to the last), least, greatest, NaN."""
    first, last = f"{summaries[0].norm:.3g}", f"{summaries[-1].norm:.3g}"
    low = min((s.min for s in summaries if not math.isnan(s.min)), default=math.nan)
    high = max((s.max for s in summaries if not math.isnan(s.max)), default=math.nan)
    nans = sum(s.nans for s in summaries)
    norm = first if first == last else f"{first} … {last}"
    return norm, f"{low:.3g}", f"{high:.3g}", str(nans or "")


def _bars(summaries: tuple[Summary, ...], width: int = 16) -> str:
    """How the norm of the adjoint goes with the iterations, on a logarithmic scale."""
    norms = [s.norm for s in summaries]
    if len(norms) < 2:
        return ""
    step = max(len(norms) / width, 1.0)
    picked = [norms[int(i * step)] for i in range(min(len(norms), width))]
    logs = [math.log10(n) for n in picked if 0 < n < math.inf]
    if not logs:
        return ""
    low, high = min(logs), max(max(logs), min(logs) + 1e-9)
    return "".join(
        "!" if not math.isfinite(n)
        else BARS[round((math.log10(n) - low) / (high - low) * (len(BARS) - 1))] if n > 0
        else " "
        for n in picked
    )  # fmt: skip


def _html(row: Row, place: int | None) -> str:
    cells = "".join(
        f'<td class="left">{html.escape(c)}</td>' if i in (1, 12) else f"<td>{html.escape(c)}</td>"
        for i, c in enumerate(_cells(row))
    )
    at = "" if place is None else f' data-at="{place}"'
    bad = "" if row.finite else ' class="bad"'
    return f'<tr{at}{bad} title="{html.escape(row.text)}">{cells}</tr>'


def as_text(trace: Trace, width: int) -> str:
    """The table with the colours of a terminal, if rich is installed."""
    try:
        from rich.console import Console
    except ImportError:
        return str(trace)
    stream = io.StringIO()
    Console(file=stream, force_terminal=True, width=max(width, 100)).print(trace)
    return stream.getvalue()
