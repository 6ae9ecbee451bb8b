"""The samples as parts of programs that write their results, or their arguments later.

Reverse and forward mode against differences. All functions where SRCGRAD_ALL_SAMPLES is set, else
those that return several arrays: what one writes into one of them is no other's.
"""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

from srcgrad import UnsupportedError, jvp

from .compiled import Program
from .kit import Case, is_float
from .test_compiled import ALL, FUNCTIONS, some
from .test_rules import SAMPLES, name


def arrays_in(out: Any, where: str) -> list[str]:
    """The places of the arrays in a result."""
    if isinstance(out, (list, tuple)):
        return [place for i, item in enumerate(out) for place in arrays_in(item, f"{where}[{i}]")]
    # what is an array of no dimensions in one version of SciPy may be a number in another
    array = isinstance(out, np.ndarray) and out.ndim > 0 and out.size > 0
    return [where] if array and is_float(out) else []


class Written(Program):
    """A sample whose results are written, or else the arrays that it is given."""

    def __init__(self, function: Any, sample: Case, results: bool) -> None:
        super().__init__(function, sample)
        head, call, end = self.text.splitlines()
        given = [n for n in self.active if isinstance(self.values[n], np.ndarray)]
        lines = [f"    q{n} = np.multiply({n}, 1.0)" for n in given]
        lines.append(re.sub(r"\bp\d+\b", lambda m: f"q{m[0]}" if m[0] in given else m[0], call))
        written = arrays_in(function(*sample.args, **sample.kwargs), "out") if results else []
        for i, place in enumerate(written):
            lines += [f"    o{i} = {place}", f"    k{i} = o{i} + 0.0", f"    o{i} *= 0.5"]
        lines += [] if results else [f"    q{n} *= 0.5" for n in given]
        read = [*(f"k{i}" for i in range(len(written))), *(f"q{n}" for n in given)]
        end += "".join(f" + np.sum(np.abs({array}) ** 2)" for array in read)
        self.text = "\n".join([head, *lines, end, ""])
        self.of_arrays = bool(given) and all(n in given for n in self.active)


def wrong(program: Written) -> str | None:
    """What is wrong with either mode's derivative along a direction."""
    loss, direction = program.primal(), program.direction(0)
    try:
        (near, far) = (
            (loss(**program.moved(direction, h)) - loss(**program.moved(direction, -h))) / (2 * h)
            for h in (1e-6, 1e-5)
        )
    except ValueError:  # a result may be read-only
        return None
    if not abs(near - far) <= 1e-4 * (1 + abs(near)):
        return None
    moving = [np.asarray(direction[n]) for n in program.active]

    def along(*arrays: Any) -> Any:
        return loss(**{**program.values, **dict(zip(program.active, arrays, strict=True))})

    def reverse() -> Any:
        found = program.gradient()(**program.values)
        return sum(np.sum(g * d).real for g, d in zip(found, moving, strict=True))

    def forward() -> Any:
        primals = tuple(program.values[n] for n in program.active)
        return jvp(along, primals, tuple(moving))[1]

    for mode in (reverse, forward):
        try:
            found = mode()
        except UnsupportedError:
            continue
        if not abs(found - near) <= 1e-4 * (1 + abs(near)):
            return f"{mode.__name__}: {found!r}, differences {near!r}\n{program.text}"
    return None


def returns_several(function: Any) -> bool:
    sample = SAMPLES[function][0]
    with np.errstate(all="ignore"):
        return isinstance(function(*sample.args, **sample.kwargs), tuple)


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("function", [f for f in FUNCTIONS if ALL or returns_several(f)], ids=name)
@pytest.mark.parametrize("results", [True, False], ids=["results", "arguments"])
def test_writes(function: Any, results: bool) -> None:
    with np.errstate(all="ignore"):
        for sample in some(function, 1):
            program = Written(function, sample, results)
            message = wrong(program) if program.of_arrays else None
            assert message is None, message
