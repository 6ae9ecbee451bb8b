"""What the compiler itself costs, each figure against a goal.

    python -m benchmarks.overheads

A gradient is compiled once for each kind of arguments, then looked up on each call; these are the
parts of both. Each figure is the processor's time of the fastest of many runs, as other programs
may keep the machine busy.
"""

from __future__ import annotations

import importlib.util
import linecache
import sys
import tempfile
import textwrap
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import gast

from benchmarks import handwritten
from srcgrad.emit.printer import to_source
from srcgrad.emit.verification import checked_source
from srcgrad.errors import Span
from srcgrad.frontend import source
from srcgrad.frontend.source import get_source

RUNS = 30


@dataclass(frozen=True)
class Overhead:
    """A figure in seconds, and what it should be at most; `goal` 0 where there is none."""

    name: str
    seconds: float
    goal: float

    def __str__(self) -> str:
        text = f"{self.name:52}{shown(self.seconds):>12}"
        if not self.goal:
            return text
        met = "met" if self.seconds <= self.goal else "not met"
        return f"{text}   goal {shown(self.goal):>9}   {met}"


def shown(seconds: float) -> str:
    """A time in the unit that suits it.

    >>> shown(0.0125), shown(2e-7)
    ('12.5 ms', '0.2 us')
    """
    for unit, scale in (("s", 1.0), ("ms", 1e3)):
        if seconds * scale >= 1:
            return f"{seconds * scale:.1f} {unit}"
    return f"{seconds * 1e6:.1f} us"


def least(run: Callable[[], Any], runs: int = RUNS) -> float:
    """The processor's time of the fastest of several runs."""
    times = []
    for _ in range(runs):
        start = time.process_time()
        run()
        times.append(time.process_time() - start)
    return min(times)


def finding_source() -> list[Overhead]:
    """Looking up the text of one of a hundred functions, in a module or in one class."""
    functions = "".join(
        f"def f{i}(x, y=1):\n"
        f"    z = x[{i}:] * np.sin(y) + {i}\n"
        "    for k in range(10):\n"
        "        z = z + [v ** 2 for v in x if v > k][0]\n"
        "    if z > 3:\n"
        "        z *= 2\n"
        "    return (lambda t: t + z)(y)\n"
        "\n\n\n"
        for i in range(100)
    )
    found = []
    with tempfile.TemporaryDirectory() as folder:
        for name, text in (
            ("a module", functions),
            ("a class", "class C:\n" + textwrap.indent(functions, "    ")),
        ):
            path = Path(folder) / f"{name.replace(' ', '_')}.py"
            names = _load(path, text)
            function = names["f50"] if "f50" in names else names["C"].f50
            linecache.getlines(str(path))

            def anew(function: Any = function) -> None:
                source._sources.clear()
                source._files.clear()
                get_source(function)

            first, again = least(anew), least(lambda f=function: get_source(f))
            found.append(Overhead(f"source in {name} of 100 functions: first", first, 0.03))
            found.append(Overhead(f"source in {name} of 100 functions: again", again, 1e-4))
    return found


def _load(path: Path, text: str) -> dict[str, Any]:
    path.write_text(text)
    spec = importlib.util.spec_from_file_location(path.stem, path)
    assert spec is not None and spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return vars(module)


def printing() -> list[Overhead]:
    """Printing a function of about 60 lines, and checking what was printed."""
    lines = [
        "d_p = d_mean * y / p",
        "d_w[1:-1, ...] += np.sum(x.T @ (d_p - 2 * y) ** 2, axis=0, keepdims=True)",
        "for i in range(n):",
        "    d_x[i] = np.where(x > 0, d_y[i], 0.0) + float(x.shape[0])",
        "u = np.einsum('ij,jk->ik', aaaaaaaaaaaaaaaaaa, bbbbbbbbbbbbbbbbbbb) * cccccccccccccccccc",
        "v = (x, y, -z)",
    ]
    tree = gast.parse("def f(x):\n" + "".join(f"    {line}\n" for line in lines * 7))
    return [
        Overhead("printing 60 lines", least(lambda: to_source(tree)), 0.0),
        Overhead("printing and checking 60 lines", least(lambda: checked_source(tree)), 0.005),
    ]


def spans() -> list[Overhead]:
    """Noting where a statement stands in the source."""

    def thousand() -> None:
        for _ in range(1000):
            Span("m.py", 1, 2, 3, 4, "f")

    return [Overhead("a source location", least(thousand) / 1000, 5e-6)]


def compiling() -> list[Overhead]:
    """Compiling a function of 30 lines, calling its gradient, importing the package."""
    return [
        Overhead("compiling the gradient of 30 lines", handwritten.compile_time(), 0.05),
        Overhead("looking up the gradient, each call", handwritten.lookup_time(), 1e-6),
        Overhead("import srcgrad, beyond numpy", handwritten.import_time(), 0.1),
    ]


def main() -> int:
    for part in (finding_source, printing, spans, compiling):
        for overhead in part():
            print(overhead)
    return 0


if __name__ == "__main__":
    sys.exit(main())
