"""A generator of programs run for long: `python -m tests.random_rows COUNT [first seed]`."""

from __future__ import annotations

import copy
import sys
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np

import srcgrad


def judged(
    f: Callable[[Any], Any],
    x: Any,
    direction: Any,
    *raised: type[Exception],
    given: Callable[[Any], Any] = copy.copy,
) -> str:
    """What is said of a program of one number or array: "right", or why it can't be told.

    `given` makes of such an array what is passed: `list`, say.

    Raises:
        AssertionError: its value or a derivative, in one of the modes, is wrong.
    """
    try:
        value = f(given(x))
    except raised:
        return "raises"
    ends = [[f(given(x + s * h * direction)) for s in (1, -1)] for h in (1e-5, 2e-5)]
    slopes = [(high - low) / (2 * h) for (high, low), h in zip(ends, (1e-5, 2e-5), strict=True)]
    if not abs(value) < 1e6 or not abs(slopes[0] - slopes[1]) <= 1e-5 * max(1, abs(slopes[0])):
        return "kink"
    try:
        found, gradient = srcgrad.value_and_grad(f)(given(x))
        _, pullback = srcgrad.vjp(f, given(x))
        _, tangent = srcgrad.jvp(f, (given(x),), (given(direction),))
    except srcgrad.UnsupportedError:
        return "refused"
    assert abs(found - value) <= 1e-9 * max(1, abs(value))
    (cotangent,) = pullback(1.0)
    products = [*(np.sum(np.multiply(d, direction)) for d in (gradient, cotangent)), tangent]
    np.testing.assert_allclose(products, [slopes[0]] * 3, rtol=2e-6, atol=2e-6)
    np.testing.assert_allclose(srcgrad.grad(f)(given(x)), gradient, rtol=1e-10, atol=1e-12)
    return "right"


def main(check: Callable[[int], str], program: Callable[[int], str]) -> None:
    """Count what is said of the programs of so many seeds; print those of which it is wrong."""
    count, first = int(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 0
    words: Counter[str] = Counter()
    for seed in range(first, first + count):
        try:
            word = check(seed)
        except Exception as error:
            word = "wrong"
            print(f"-- {seed}: {type(error).__name__}: {str(error)[:600]}\n{program(seed)}")
        words[word] += 1
    print(dict(words))
