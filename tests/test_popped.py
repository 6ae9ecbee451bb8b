"""What a record alone referred to is computed in once it is popped, and nothing else
(optimize/popped.py)."""

import numpy as np
import pytest

from srcgrad import grad, value_and_grad, vjp
from srcgrad.testing import check_grads

X = np.array([0.3, -0.8, 1.1, 0.6])


def damped(x, w, n):
    y = x.copy()
    for _ in range(n):
        y[1:] = y[1:] * w[1:] + np.sin(y[:-1] * w[:-1])
    return np.sum(y * y)


def test_what_was_popped_is_computed_in():
    gradient = grad(damped, argnums=(0, 1))
    d_x, d_w = gradient(X, X[::-1].copy(), 3)
    assert "out=y_right)" in gradient.source
    assert np.all(np.isfinite(d_x)) and np.all(np.isfinite(d_w))
    check_grads(lambda x, w: damped(x, w, 3), (X, X[::-1].copy()))
    check_grads(lambda x, w: np.sum(grad(lambda x: damped(x, w, 3))(x) ** 2), (X, X[::-1].copy()))


def gated(x, w, n):
    """What one item of a record is computed in doesn't keep others from being written where they
    are used."""
    for _ in range(n):
        z = x * w
        gate = 1 / (1 + np.exp(-z))
        g = np.tanh(z)
        x = x + gate * g
    return np.sum(x * x)


def test_the_items_of_a_record_are_told_apart():
    gradient = grad(gated, argnums=(0, 1))
    gradient(X, X[::-1].copy(), 3)
    assert "d_z = np.multiply(exp, gate, out=exp)" in gradient.source
    assert "d_z -= g * g" in gradient.source
    check_grads(lambda x, w: gated(x, w, 3), (X, X[::-1].copy()))


def test_a_pullback_can_be_called_again():
    _, pullback = vjp(lambda x, w: damped(x, w, 3), X, X[::-1].copy())
    for a, b in zip(pullback(1.0), pullback(1.0), strict=True):
        np.testing.assert_array_equal(a, b)


# What mustn't be overwritten


def handed_on(x):
    for _ in range(3):
        x = x * np.sin(x) * x
    return np.sum(x * x)


def handed_on_by_another_name(x):
    before = x * 2.0
    for _ in range(3):
        y = np.sin(before)
        x = x * y * before + y * y
        before = y
    return np.sum(x * x)


def same_in_each_trip(x):
    total = np.zeros(4)
    for _ in range(3):
        t = x * 2.0
        total = total * t + np.sin(t) * t
    return np.sum(total * total)


def in_a_loop_inside(x):
    total = x.copy()
    for i in range(3):
        t = np.sin(x) * i
        for j in range(2):
            total = total * t + np.cos(total * t) * j
        total = total + t * t
    return np.sum(total * total)


def in_a_branch(x):
    total = x.copy()
    for _ in range(4):
        t = np.sin(total)
        if t[0] > 0.2:
            total = total * t + t * t
        else:
            total = total + np.exp(t) * t
    return np.sum(total * total)


def seen_through_a_view(x):
    total = x.copy()
    for _ in range(3):
        t = np.sin(total)
        left, right = t[:-1], t[1:]
        total[1:] = left * right + np.exp(t[1:]) * total[:-1]
    return np.sum(total * total)


def kept_in_a_list_too(x):
    kept, total = [], x.copy()
    for _ in range(3):
        t = np.sin(total)
        kept.append(t)
        total = total * t * t
    return np.sum(total * kept[0] * kept[-1] ** 2) + sum(np.sum(t * t) for t in kept)


def kept_twice_in_one_list(x):
    kept, total = [], x.copy()
    for i in range(3):
        t = np.sin(total) * (i + 1)
        kept.append(t)
        kept.append(t)
        total = total * t
    while len(kept) > 1:
        a, b = kept.pop(), kept.pop()
        a *= b
        total = total + a * b
    return np.sum(total * total)


def popped_by_the_function(x):
    kept, total = [], x.copy()
    for i in range(4):
        t = np.sin(total) * (i + 1)
        total = total * t
        kept.append(t)
    for _ in range(4):
        t = kept.pop()
        total = total + t * np.exp(t) * total
        t *= 2.0
        total = total + t * t
    return np.sum(total * total)


def exchanged(x):
    a, b = np.sin(x), np.cos(x)
    for _ in range(3):
        a, b = b, a * b
        b = b * np.exp(a)
    return np.sum(a * b)


@pytest.mark.parametrize(
    "function",
    [handed_on, handed_on_by_another_name, same_in_each_trip, in_a_loop_inside, in_a_branch,
     seen_through_a_view, kept_in_a_list_too, kept_twice_in_one_list, popped_by_the_function,
     exchanged],
)  # fmt: skip
def test_what_else_refers_to_it_stays(function):
    given = X.copy()
    check_grads(function, (X,))
    value, gradient = value_and_grad(function)(X)
    assert value == function(X)
    np.testing.assert_array_equal(X, given)
    (again,) = vjp(function, X)[1](1.0)
    np.testing.assert_allclose(gradient, again)
    np.testing.assert_allclose(gradient, grad(function)(X))


def test_a_list_that_is_returned_stays():
    def f(x):
        kept, total = [], x.copy()
        for _ in range(3):
            t = np.sin(total)
            kept.append(t)
            total = total * t * t
        return np.sum(total * total), kept

    (_, kept), _ = value_and_grad(f, has_aux=True)(X)
    for a, b in zip(kept, f(X)[1], strict=True):
        np.testing.assert_array_equal(a, b)
    check_grads(lambda x: f(x)[0], (X,))
