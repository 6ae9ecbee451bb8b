"""A generator of programs run for long: `python -m tests.random_rows COUNT [first seed]`."""

from __future__ import annotations

import copy
import sys
from collections import Counter
from collections.abc import Callable
from typing import Any

import numpy as np

import srcgrad


def judged(f: Callable[[Any], Any], x: Any, direction: Any, *raised: type[Exception]) -> str:
    """What is said of a program of one number or array: "right", or why it can't be told.

    Raises:
        AssertionError: its value or a derivative, in one of the modes, is wrong.
    """
    try:
        value = f(copy.copy(x))
    except raised:
        return "raises"
    slopes = [(f(x + h * direction) - f(x - h * direction)) / (2 * h) for h in (1e-5, 2e-5)]
    if not abs(value) < 1e6 or not abs(slopes[0] - slopes[1]) <= 1e-5 * max(1, abs(slopes[0])):
        return "kink"
    try:
        found, gradient = srcgrad.value_and_grad(f)(copy.copy(x))
        _, pullback = srcgrad.vjp(f, copy.copy(x))
        _, tangent = srcgrad.jvp(f, (copy.copy(x),), (direction,))
    except srcgrad.UnsupportedError:
        return "refused"
    assert abs(found - value) <= 1e-9 * max(1, abs(value))
    (cotangent,) = pullback(1.0)
    products = [np.sum(gradient * direction), np.sum(cotangent * direction), tangent]
    np.testing.assert_allclose(products, [slopes[0]] * 3, rtol=2e-6, atol=2e-6)
    np.testing.assert_allclose(srcgrad.grad(f)(copy.copy(x)), gradient, rtol=1e-10, atol=1e-12)
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
