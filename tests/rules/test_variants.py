"""Every sample again, otherwise laid out, in single precision, and empty: the rules by themselves.

What a rule contributes must not depend on how its arguments lie in memory; in single precision it
is about the same; and where a function takes an array without elements, its rule does too.
"""

from __future__ import annotations

import functools
from typing import Any

import numpy as np
import pytest

from srcgrad.rules.registry import Unknown, lookup

from .compiled import laid_out, single
from .kit import Case, _direction, _leaves, _spread, is_float, unbroadcast
from .test_compiled import reads_memory_order
from .test_rules import SAMPLES, every_function, name, rule

LAYOUTS = {
    how: functools.partial(laid_out, how=how)
    for how in ("Fortran order", "negative strides", "gaps, and read-only")
}
# Solved to a tolerance that single precision doesn't have
DOUBLE_ONLY = {"krylov", "solved_back", "solved_back_of_entries", "strided"}
# What these return of nothing follows no formula, or what follows from it has no shape
NOT_EMPTY = {
    "nnls": "SciPy's crashes",
    "strided": "its strides are those of the array that it was called with",
    **dict.fromkeys(
        (
            "signaltools.convolve",
            "fftconvolve",
            "oaconvolve",
            "signaltools.correlate",
            "correlate_inside",
            "convolve2d",
            "correlate2d",
        ),
        "SciPy returns an empty array for an empty operand, before it looks at the mode",
    ),
    **dict.fromkeys(
        ("numpy.cov", "numpy.corrcoef"), "without variables NumPy leaves out those of `y` too"
    ),
    "hermeder": "NumPy takes another axis where there are no coefficients",
    "solve_toeplitz": "NumPy has no convolution of nothing",
    "numpy.polymul": "an empty list of coefficients is taken for the polynomial 0",
    "linalg._decomp_lu.lu": "the permutation has other dimensions than the empty factors",
    "numpy.histogram": "without edges there is no last bin",
    "linalg._decomp.eig": "an empty matrix has no vector to normalise",
    "tolist": "of an empty list the elements have no shape",
}


def mapped(change: Any, value: Any) -> Any:
    """A nest of arrays with each changed."""
    if isinstance(value, (list, tuple)) and not hasattr(value, "_fields"):
        return type(value)(mapped(change, item) for item in value)
    return change(value)


def adjoint_of(out: Any) -> Any:
    whole = list(out) if isinstance(out, (list, tuple)) else out
    return _direction(whole, np.random.default_rng(0))


def contributions(function: Any, args: Any, kwargs: Any, out: Any, d_out: Any) -> list[Any]:
    """What a rule contributes to each float among the arguments, in the shape of that; or None."""
    record = lookup(function)
    assert record is not None
    if record.adjoint is not None:
        result = record.adjoint(*args, **kwargs, out=out, d_out=d_out)
        result = result if isinstance(result, tuple) else (result,)
    else:
        assert record.partials is not None
        result = record.partials(*args, **kwargs, out=out)
        result = result if isinstance(result, tuple) else (result,)
        result = tuple(p if p is None or isinstance(p, Unknown) else d_out * p for p in result)
    return [
        None if c is None else unbroadcast(c, a)
        for contribution, argument in zip(result, args, strict=False)
        for c, a in zip(_spread(contribution, argument), _leaves(argument), strict=True)
        if is_float(a) and not isinstance(c, Unknown)
    ]


def difference(function: Any, sample: Case, expected: Any, d_out: Any, change: Any) -> str | None:
    """What is wrong with a sample whose arguments are changed, though not their values."""
    args = mapped(change, sample.args)
    out = function(*args, **sample.kwargs)
    found = contributions(function, args, sample.kwargs, out, mapped(change, d_out))
    relative, absolute = (1e-3, 2e-3) if change is single else (1e-7, 1e-9)
    for e, f in zip(expected, found, strict=True):
        if e is None or f is None:
            assert e is f
            continue
        scale = max(1.0, float(np.max(np.abs(e), initial=0.0)))
        if not np.allclose(f, e, rtol=relative, atol=absolute * scale, equal_nan=True):
            return f"{f!r}, not {e!r}"
    return None


def described(sample: Case, args: Any, problem: Any) -> str:
    shapes = [getattr(a, "shape", a) for a in args]
    if isinstance(problem, Exception):
        problem = f"{type(problem).__name__}: {problem}"
    return f"{shapes} {sample.kwargs}: {problem}"


def differentiated(function: Any) -> list[Case]:
    record = lookup(function)
    return [] if rule(record) is None or record is None or record.mutates else SAMPLES[function]


@every_function
@pytest.mark.filterwarnings("ignore")
def test_layouts_and_single_precision(function: Any, record_property: Any) -> None:
    failures, count = [], 0
    for sample in differentiated(function):
        changes = {} if reads_memory_order(function, sample) else dict(LAYOUTS)
        if not name(function).endswith(tuple(DOUBLE_ONLY)):
            changes["single precision"] = single
        with np.errstate(all="ignore"):
            out = function(*sample.args, **sample.kwargs)
            d_out = adjoint_of(out)
            expected = contributions(function, sample.args, sample.kwargs, out, d_out)
            for how, change in changes.items():
                count += 1
                try:
                    problem: Any = difference(function, sample, expected, d_out, change)
                except Exception as error:
                    problem = error
                if problem is not None:
                    failures.append(f"{how}: {described(sample, sample.args, problem)}")
    record_property("rules, of other layouts and in single precision", count)
    assert not failures, "\n".join([f"{len(failures)} fail", *failures[:8]])


def emptied(value: Any, n: int) -> Any:
    """An array with the axes of some length cut to nothing."""
    if not isinstance(value, np.ndarray):
        return value
    return value[tuple(slice(0 if length == n else None) for length in value.shape)]


def lengths(value: Any) -> set[int]:
    arrays = [a for a in _leaves(value) if isinstance(a, np.ndarray)]
    return {n for a in arrays for n in a.shape} - {0}


@every_function
@pytest.mark.filterwarnings("ignore")
def test_empty_arrays(function: Any, record_property: Any) -> None:
    failures, count = [], 0
    samples = [] if name(function).endswith(tuple(NOT_EMPTY)) else differentiated(function)
    for sample in samples:
        for n in sorted(lengths(sample.args)):
            args = mapped(functools.partial(emptied, n=n), sample.args)
            with np.errstate(all="ignore"):
                try:
                    out = function(*args, **sample.kwargs)
                    d_out = adjoint_of(out)
                except Exception:
                    continue  # it doesn't take this itself
                if any(d is None for d in _leaves(d_out)):
                    continue  # not of floats
                count += 1
                try:
                    contributions(function, args, sample.kwargs, out, d_out)
                except Exception as error:
                    failures.append(described(sample, args, error))
    record_property("rules, of empty arrays", count)
    assert not failures, "\n".join([f"{len(failures)} fail", *failures[:8]])
