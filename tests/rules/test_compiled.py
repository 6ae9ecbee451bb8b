"""The samples end to end: compiled, against differences, and however the arguments lie.

Some of each function's samples; all of them where SRCGRAD_ALL_SAMPLES is set.
"""

from __future__ import annotations

import os
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

from srcgrad import UnsupportedError

from .compiled import Program, check, check_layouts, check_single
from .kit import Case
from .test_rules import SAMPLES, name

ALL = bool(os.environ.get("SRCGRAD_ALL_SAMPLES"))
MOST = 10**6 if ALL else 3  # samples of one function
MOST_VARIANTS = 10**6 if ALL else 1  # those of the rules by themselves are in test_variants.py

FUNCTIONS = [f for f in SAMPLES if not name(f).startswith(("srcgrad.", "tests."))]
every_function = pytest.mark.parametrize("function", FUNCTIONS, ids=name)

# Samples whose arguments the compiler refuses: lists nested unevenly, or of numbers and arrays
REFUSED = {np.stack: 1, np.block: 3, np.trapezoid: 1, np.pad: 2}


def failures(
    function: Any, cases: list[Case], check_one: Callable[[Program], str | None]
) -> list[str]:
    """What is wrong, sample by sample."""
    found, refused = [], 0
    for sample in cases:
        try:
            program = Program(function, sample)
            message = check_one(program) if program.active else None
        except UnsupportedError as error:
            refused += 1
            message = f"refused: {error}" if refused > REFUSED.get(function, 0) else None
        except Exception as error:
            message = f"{type(error).__name__}: {error}"
        if message:
            shapes = [getattr(a, "shape", a) for a in sample.args]
            found.append(f"{shapes} {sample.kwargs}: {message}")
    return found


def some(function: Any, most: int) -> list[Case]:
    cases = SAMPLES[function]
    return cases[:: max(1, -(-len(cases) // most))]


@pytest.mark.filterwarnings("ignore")
@every_function
def test_gradient(function: Any, record_property: Any) -> None:
    record_property("compiled gradients", len(some(function, MOST)))
    with np.errstate(all="ignore"):
        found = failures(function, some(function, MOST), check)
    assert not found, "\n".join([f"{len(found)} samples fail", *found[:5]])


def count_results(function: Any, sample: Case) -> int:
    with np.errstate(all="ignore"):
        out = function(*sample.args, **sample.kwargs)
    return len(out) if isinstance(out, (tuple, list)) else 0


@pytest.mark.filterwarnings("ignore")
@every_function
def test_gradient_of_one_of_several_results(function: Any) -> None:
    several = [s for s in some(function, 12) if count_results(function, s) > 1]
    for sample in several[: None if ALL else 2]:
        for i in range(min(count_results(function, sample), 3)):
            program = Program(function, sample, only=i)
            if program.active and "sum" in program.text:
                message = check(program)
                assert message is None, f"result {i}: {message}"


def reads_memory_order(function: Any, sample: Case) -> bool:
    if name(function).endswith("strided"):
        return True
    given = (*sample.args, *sample.kwargs.values())
    return any(value in ("A", "K") for value in given if isinstance(value, str))


@pytest.mark.filterwarnings("ignore")
@every_function
def test_gradient_is_that_of_any_layout(function: Any) -> None:
    cases = [s for s in some(function, MOST_VARIANTS) if not reads_memory_order(function, s)]
    with np.errstate(all="ignore"):
        found = failures(function, cases, check_layouts)
    assert not found, "\n".join([f"{len(found)} samples fail", *found[:5]])


@pytest.mark.filterwarnings("ignore")
@every_function
def test_gradient_in_single_precision(function: Any) -> None:
    if name(function) == "math.trunc":
        pytest.skip("np.float32 has no __trunc__")
    if name(function).endswith("strided"):
        pytest.skip("its strides are in bytes")
    with np.errstate(all="ignore"):
        found = failures(function, some(function, MOST_VARIANTS), check_single)
    assert not found, "\n".join([f"{len(found)} samples fail", *found[:5]])


def test_cases_are_many() -> None:
    assert sum(map(len, SAMPLES.values())) > 9000
