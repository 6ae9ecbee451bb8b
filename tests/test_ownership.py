"""Augmented assignments where only the run knows whether they write into an array."""

import numpy as np
import pytest

from srcgrad import grad
from srcgrad.testing import check_grads

from . import random_augmented

X = np.array([0.7, 1.3])


def test_a_product_made_in_a_loop_is_added_to_a_number():
    def interpolated(nodes, values, at):
        total = 0
        for i in range(len(nodes)):
            basis = 1
            for j in range(len(nodes)):
                if i != j:
                    basis *= (at - nodes[j]) / (nodes[i] - nodes[j])
            total += basis * values[i]
        return np.sum(total**2)

    nodes, values = np.array([0.0, 1.0, 2.5]), np.array([1.0, 3.0, -1.0])
    check_grads(interpolated, (nodes, values, X), argnums=(0, 1, 2))
    check_grads(interpolated, (nodes, values, 0.3), argnums=(0, 1, 2))
    gradient = grad(interpolated)
    gradient(nodes, values, X)
    assert "check_unwritten" not in gradient.source


def test_terms_are_added_on_branches():
    def sine(x, terms):
        total = 0
        k = 0
        while True:
            if k == terms:
                break
            term = 1
            for m in range(1, 2 * k + 2):
                term *= x / m
            if k % 2:
                total -= term
            else:
                total += term
            k += 1
        return np.sum(total)

    for terms in (1, 4):
        check_grads(sine, (X, terms), argnums=(0,))
        check_grads(sine, (0.8, terms), argnums=(0,))


def power(x, n):
    result = 1
    for k in range(n + 1):
        if k > 0:
            result *= x
    return result


def test_another_name_sees_what_is_written():
    def before(x, n):
        a = power(x, n)
        b = a
        a += x
        return np.sum(a * b)

    def begun(x, n):
        a = first = power(x, n)
        for _ in range(n):
            a += x
        return np.sum(a * first)

    def listed(x, n):
        a, kept = 1, []
        for k in range(n + 1):
            if k > 0:
                a *= x
            kept.append(a)
        return np.sum(a) + sum(np.sum(each) for each in kept)

    def handed_on(x, n):
        a, b = power(x, n), 2.0
        for k in range(n):
            if k == 0:
                b = a
            a += x
        return np.sum(a * b)

    for function in (before, begun, listed, handed_on):
        check_grads(function, (1.3, 2), argnums=(0,))
        with pytest.raises(RuntimeError, match=r"line \d+: an augmented assignment writes into"):
            grad(function)(X, 2)


def test_sums_share_no_memory_whatever_they_are_of():
    def summed(x, n):
        total = r = 0.5
        for i in range(n):
            c = power(x, i)
            total += np.sum(c) + np.max(c)
            c *= 2.0
            r += c
            total += np.mean(r)
        return total * np.sum(r)

    def reshaped(x, n):
        c = power(x, n)
        d = np.ravel(c)
        c *= 2.0
        return np.sum(c) + np.sum(d)

    def turned(x, n):
        c = power(x, n)
        d = np.swapaxes(c, 0, 2)
        c *= 2.0
        return np.sum(c) + np.sum(d * d)

    def with_many_axes(x, n):
        c = power(x, n)
        d = np.expand_dims(c, 4)
        c *= 2.0
        return np.sum(c) + np.sum(d * d)

    def summed_along(x, n):
        c = power(x, n)
        d = np.sum(c, axis=2)
        c *= 2.0
        return np.sum(c) + np.sum(d * d)

    for n in range(4):
        for x in (X, 0.8):
            check_grads(summed, (x, n), argnums=(0,))
    cube = np.multiply.outer(X, np.outer(X, X))
    check_grads(summed_along, (cube, 2), argnums=(0,))
    for f, x in ((turned, cube), (with_many_axes, np.multiply.outer(X, cube))):
        with pytest.raises(RuntimeError, match=r"line \d+: an augmented assignment writes into"):
            grad(f)(x, 2)
    with pytest.raises(RuntimeError, match=r"line \d+: an augmented assignment writes into"):
        grad(reshaped)(X, 2)


def test_what_is_left_is_nobody_elses():
    def handed(x, n):
        a, b = power(x, n), 2.0
        for _ in range(n):
            a, b = b, a
            a += x
            b *= 0.5 * x
        return np.sum(a - b**2)

    def replaced(x, n):
        a = power(x, n)
        b = a * 2
        a = power(x, n + 1) if n % 2 else b - 1
        a *= x
        return np.sum(a * b)

    for n in range(4):
        for x in (X, 0.8):
            check_grads(handed, (x, n), argnums=(0,))
            check_grads(replaced, (x, n), argnums=(0,))


@pytest.mark.parametrize("first", [0, 10, 20])
def test_random_programs(first):
    words = [random_augmented.check(seed) for seed in range(first, first + 10)]
    assert words.count("right") >= 7
