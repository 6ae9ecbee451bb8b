"""The generated source of telling functions: what a change does to it is seen in review.

After a change, `SRCGRAD_REWRITE=1 pytest tests/test_golden.py` rewrites the files in
tests/golden. Each gradient is also run and compared with differences.
"""

import copy
import os
from pathlib import Path

import numpy as np
import pytest

import srcgrad
from tests.golden_programs import PROGRAMS, second_derivative

FOLDER = Path(__file__).parent / "golden"


def by_name(function):
    return function.__name__


@pytest.fixture(params=PROGRAMS, ids=by_name)
def program(request):
    arguments, argnums = PROGRAMS[request.param]
    return request.param, copy.deepcopy(arguments), argnums


def test_source(program):
    function, arguments, argnums = program
    gradient = srcgrad.grad(function, argnums=argnums)
    gradient(*arguments)
    file = FOLDER / f"{function.__name__}.txt"
    # the line number isn't kept: a new function above would change it
    where = f"(golden_programs.py:{function.__code__.co_firstlineno})"
    found = gradient.source.replace(where, "(golden_programs.py)")
    if os.environ.get("SRCGRAD_REWRITE"):
        file.write_text(found)
    assert found == file.read_text()


def test_derivative(program):
    function, arguments, argnums = program
    before = copy.deepcopy(arguments)
    found = srcgrad.grad(function, argnums=argnums)(*arguments)
    for a, b in zip(arguments, before, strict=True):
        np.testing.assert_array_equal(a, b)
    several = isinstance(argnums, tuple)
    rng = np.random.default_rng(0)
    numbers = argnums if several else (argnums,)
    directions = {i: rng.normal(size=np.shape(arguments[i])) for i in numbers}

    def at(step):
        moved = [
            copy.deepcopy(a) + step * directions[i] if i in directions else copy.deepcopy(a)
            for i, a in enumerate(arguments)
        ]
        return function(*moved)

    h = 1e-4
    expected = (8 * (at(h) - at(-h)) - (at(2 * h) - at(-2 * h))) / (12 * h)
    gradients = found if several else (found,)
    product = sum(np.sum(g * directions[i]) for i, g in zip(numbers, gradients, strict=True))
    assert product == pytest.approx(expected, rel=1e-8, abs=1e-9)
    for i, g in zip(numbers, gradients, strict=True):
        assert np.shape(g) == np.shape(arguments[i])


def test_second_derivative():
    """grad(grad(f)) of a function of ten lines: not much more than both sweeps of grad(f)."""
    first = srcgrad.grad(second_derivative)
    second = srcgrad.grad(first)
    x, h = 0.7, 1e-4
    expected = (8 * (first(x + h) - first(x - h)) - (first(x + 2 * h) - first(x - 2 * h))) / (
        12 * h
    )
    assert second(x) == pytest.approx(expected, rel=1e-8)
    assert len(second.source.splitlines()) <= 3 * len(first.source.splitlines())
    where = f"(golden_programs.py:{second_derivative.__code__.co_firstlineno})"
    found = f"{first.source}\n\n{second.source}".replace(where, "(golden_programs.py)")
    file = FOLDER / "second_derivative.txt"
    if os.environ.get("SRCGRAD_REWRITE"):
        file.write_text(found)
    assert found == file.read_text()


def test_no_other_files():
    names = {f.__name__ for f in (*PROGRAMS, second_derivative)}
    assert {f.stem for f in FOLDER.glob("*.txt")} == names
