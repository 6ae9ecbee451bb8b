"""Right, wrong or refused: every contender over the sixteen kinds of program of tests/."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from benchmarks.contenders import Contender
from benchmarks.measuring import Figures, check
from tests.test_sixteen import KINDS, X

PATIENCE = 20.0


@dataclass(frozen=True)
class Verdict:
    """What a contender did with one program of a kind."""

    kind: str
    program: str
    contender: str
    figures: Figures


def verdicts(
    contenders: list[Contender], track: Callable[[list[Any]], Iterable[Any]] = iter
) -> list[Verdict]:
    """Each contender's verdict on each program. `track` may show the progress."""
    programs = [(kind, f) for kind, functions in KINDS.items() for f in functions]
    found = []
    for kind, function in track(programs):
        expected = (differences(function, X),)
        for contender in contenders:
            figures, _ = check(contender, function, (0,), (X,), expected, PATIENCE, once=True)
            found.append(Verdict(kind, function.__name__, contender.name, figures))
    return found


def differences(function: Callable[[Any], Any], x: Any, step: float = 1e-3) -> Any:
    """The gradient from differences of order six."""
    gradient = np.empty_like(x)
    for i in range(x.size):
        terms = []
        for k, weight in ((1, 45), (2, -9), (3, 1)):
            above, below = x.copy(), x.copy()
            above[i] += k * step
            below[i] -= k * step
            terms.append(weight * (float(function(above)) - float(function(below))))
        gradient[i] = sum(terms) / (60 * step)
    return gradient


def by_kind(found: list[Verdict]) -> dict[str, dict[str, str]]:
    """For each kind, each contender's worst: wrong before refused before right."""
    table: dict[str, dict[str, str]] = {}
    for verdict in found:
        status = verdict.figures.status
        status = status if status in ("right", "wrong") else "refused"
        row = table.setdefault(verdict.kind, {})
        row[verdict.contender] = min(
            status,
            row.get(verdict.contender, "right"),
            key=("wrong", "refused", "right").index,
        )
    return table
