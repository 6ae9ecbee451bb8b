"""Calls of NumPy's and SciPy's functions with an argument whose kind only the run knows.

One argument of a rule's sample is what it is in some runs, and in others of another kind: None, a
row of it, a number, a list, of another dtype, one dimension more. What is measured of the result
tells of its class, rank and dtype. In either run it is to be what the function itself gives, and
the gradient that of the call without the choice. For a long run:
`python -m tests.random_kinds ROUNDS [first seed]`.
"""

from __future__ import annotations

import random
from collections.abc import Callable
from typing import Any

import numpy as np

import srcgrad

from .random_options import run
from .rules.kit import is_float
from .rules.test_rules import SAMPLES, name

OF_ARRAYS: dict[str, Callable[[Any], Any]] = {
    "none": lambda a: None,
    "row": lambda a: a[0],
    "column": lambda a: a[..., 0],
    "deeper": lambda a: a[None],
    "flat": lambda a: a.reshape(-1),
    "turned": lambda a: a.T,
    "shorter": lambda a: a[:-1],
    "empty": lambda a: a[:0],
    "listed": lambda a: a.tolist(),
    "rows": lambda a: list(a),
    "pair": lambda a: (a[0], a[-1]),
    "single": lambda a: a.astype(np.float32),
    "complex": lambda a: a.astype(complex),
    "whole": lambda a: np.floor(3 * a).astype(int),
    "truths": lambda a: a > 0,
    "number": lambda a: a.sum(),
    "first": lambda a: a.item(0),
    "integer": lambda a: 1,
}
OF_NUMBERS: dict[str, Callable[[Any], Any]] = {
    "none": lambda a: None,
    "array": lambda a: np.array([a, 2 * a]),
    "array without axes": lambda a: np.asarray(a),
    "of numpy": lambda a: np.float64(a),
    "single": lambda a: np.float32(a),
    "complex": lambda a: a + 0.5j,
    "integer": lambda a: 1,
    "other": lambda a: a + 1,
    "true": lambda a: True,
    "list": lambda a: [a],
    "tuple": lambda a: (a, a),
}


# Written for coefficients in arrays; LAPACK's, which print; methods, which are those of one class
LEFT_OUT = ("numpy.polynomial.", "srcgrad.", ".function ", "ndarray.", "complex.", "float.")


def measured(result: Any, several: bool) -> Any:
    """A number that tells of all that a function returns, and of its class, rank and dtype."""
    total = 0.5 if isinstance(result, (tuple, list)) else 0.0
    for number, part in enumerate(result if several else (result,)):
        if part is None:
            return total + 7.0
        total = total + (1 + 0.3 * number) * np.sum(np.sin(np.real(part)))
        if np.iscomplexobj(part):
            total = total + 0.7 * np.sum(np.imag(part))
        total = total + 0.1 * np.ndim(part) + 0.01 * np.size(part)
        if isinstance(part, np.ndarray):
            total = total + 0.5
        if np.asarray(part).dtype == np.float64:
            total = total + 0.25
    return total


def sample_of(function: Any, seed: int) -> tuple[random.Random, Any, list[int], int] | None:
    """What draws, a sample, its arguments that can be differentiated, and any one argument."""
    draw = random.Random(f"{seed} {name(function)}")
    if not SAMPLES[function] or name(function).startswith(LEFT_OUT):
        return None
    sample = draw.choice(SAMPLES[function])
    active = [i for i, a in enumerate(sample.args) if i not in sample.fixed and is_float(a)]
    if not active:
        return None
    return draw, sample, active, draw.choice([*active, *range(len(sample.args))])


def drawn(function: Any, seed: int) -> tuple[Any, int, int, str] | None:
    """A sample, the arguments that is differentiated and that is of two kinds, and the other."""
    found = sample_of(function, seed)
    if found is None:
        return None
    draw, sample, active, varied = found
    value = sample.args[varied]
    kinds = OF_ARRAYS if isinstance(value, np.ndarray) else OF_NUMBERS
    if not isinstance(value, (np.ndarray, np.generic, int, float, complex)):
        return None
    return sample, draw.choice(active), varied, draw.choice(list(kinds))


def programs(
    function: Any, sample: Any, position: int, varied: int, kind: str
) -> tuple[Callable[..., Any], Callable[..., Any], Callable[..., Any]]:
    """The call with an argument of two kinds, and those of either, by what is differentiated."""
    args, named = list(sample.args), sample.kwargs
    kinds = OF_ARRAYS if isinstance(args[varied], np.ndarray) else OF_NUMBERS
    changed, low, high = kinds[kind], min(position, varied), max(position, varied)
    first, middle, last = args[:low], args[low + 1 : high], args[high + 1 :]
    several = isinstance(function(*args, **named), (tuple, list))
    if position == varied:

        def of(x: Any, other: bool) -> Any:
            return measured(function(*first, changed(x) if other else x, *last, **named), several)

        def chosen(x: Any, t: Any) -> Any:
            v = changed(x) if t > 0 else x
            return measured(function(*first, v, *last, **named), several)

    else:
        here, there = args[varied], changed(args[varied])
        before = position < varied

        def of(x: Any, other: bool) -> Any:
            v = there if other else here
            if before:
                return measured(function(*first, x, *middle, v, *last, **named), several)
            return measured(function(*first, v, *middle, x, *last, **named), several)

        def chosen(x: Any, t: Any) -> Any:
            v = there if t > 0 else here
            if before:
                return measured(function(*first, x, *middle, v, *last, **named), several)
            return measured(function(*first, v, *middle, x, *last, **named), several)

    return chosen, lambda x: of(x, False), lambda x: of(x, True)


def check(function: Any, seed: int) -> str:
    """What is said of calls with an argument of two kinds: "right", or why it can't be told.

    Raises:
        AssertionError: a value or a derivative is wrong.
    """
    found = drawn(function, seed)
    if found is None:
        return "nothing to vary"
    sample, position, varied, kind = found
    try:
        chosen, here, there = programs(function, sample, position, varied, kind)
    except Exception:
        return "doesn't apply"
    x, said = sample.args[position], set()
    for t, alone in ((-1.0, here), (1.0, there)):
        try:
            expected: Any = alone(x)
        except Exception:
            expected = None
        try:
            value, gradient = srcgrad.value_and_grad(chosen)(x, t)
        except srcgrad.UnsupportedError as error:
            assert not isinstance(error, srcgrad.InternalError), error
            said.add("refused")
            continue
        except Exception as error:
            if "where this is None" in str(error) or "a float is written into" in str(error):
                said.add("refused")
                continue
            said.add("raises" if expected is None else "raises what the function doesn't")
            continue
        assert expected is not None, f"returns {value} where the function raises"
        np.testing.assert_allclose(value, expected, rtol=1e-6, err_msg=f"t = {t}")
        assert np.asarray(value).dtype == np.asarray(expected).dtype
        try:
            _, slope = srcgrad.value_and_grad(alone)(x)
        except srcgrad.UnsupportedError:
            said.add("refused alone")
            continue
        np.testing.assert_allclose(gradient, slope, rtol=1e-5, atol=1e-9, err_msg=f"t = {t}")
        said.add("right")
    return " and ".join(sorted(said))


if __name__ == "__main__":
    run(check, drawn, "doesn't")
