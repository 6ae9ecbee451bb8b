"""Lists that a loop takes items and parts of by place, kept where taking them apart gets long."""

import numpy as np
import pytest

import srcgrad
from srcgrad.testing import check_grads


def extrapolated(xs, ys):
    """Neville's value at zero, and the last correction."""
    above, below = list(ys), list(ys)
    value, correction = ys[-1], 0.0
    for m in range(1, len(xs)):
        for i in range(len(xs) - m):
            slope = (above[i + 1] - below[i]) / (xs[i] - xs[i + m])
            below[i] = xs[i + m] * slope
            above[i] = xs[i] * slope
        correction = below[len(xs) - m - 1]
        value += correction
    return value, correction


def refined(theta, eps):
    sums, widths = [0.0] * 9, [0.0] * 9
    widths[0] = 1.0
    for j in range(1, 9):
        sums[j - 1] = theta[0] / j + theta[1] * (sums[j - 2] if j > 1 else 0.5) ** 2
        if j >= 4:
            value, correction = extrapolated(widths[j - 4 : j], sums[j - 4 : j])
            if abs(correction) <= eps * abs(value):
                return value
        widths[j] = 0.25 * widths[j - 1]
    return value


def horner(x):
    coefficients = [1.0, 0.5, 0.25, 2.0]
    total = 0.0
    for j in range(4):
        total = total * x + coefficients[j]
    return total


@pytest.mark.parametrize("eps", [1e-12, 1e-2, 10.0])
def test_a_loop_over_parts_of_lists_is_kept(eps):
    theta = np.array([0.7, 0.3])
    gradient = srcgrad.value_and_grad(refined)
    assert gradient(theta, eps)[0] == refined(theta, eps)
    check_grads(refined, (theta, eps), argnums=0)
    assert gradient.source.count("\n") < 200
    assert gradient.source.count("in reversed(range(1, 1 + trips))") == 1


def test_a_short_loop_is_unrolled():
    gradient = srcgrad.grad(horner)
    assert gradient(0.7) == pytest.approx(3 * 0.49 + 2 * 0.5 * 0.7 + 0.25)
    assert "for " not in gradient.source


def mixed(x):
    """Items of several kinds, which can't be kept."""
    parts = [x, 2.0, x * x, np.ones(3) * x, 3.0, "end", x, x, x]
    total = 0.0
    for j in range(1, 9):
        if j != 5:
            total = total + np.sum(parts[j]) * np.sum(parts[j - 1] if j != 6 else x) ** 2
            for k in range(3):
                total = total + np.sin(total) * k + np.cos(total * k) / (1 + total**2)
                total = total * np.exp(-total * total) + np.tanh(total) * x
    return total


def test_lists_that_cannot_be_kept_are_taken_apart():
    check_grads(mixed, (0.3,))


def listed(v, n):
    items = [v * j for j in range(n)]
    return items, v


def by_list(v, n):
    items, v = listed(v, n)
    copied = list(items)
    copied[0] = v * v
    items[1] = v**3
    return sum(c * c for c in copied) + sum(items)


def by_method(v, n):
    items, v = listed(v, n)
    copied = items.copy()
    copied[0] = v * v
    items[1] = v**3
    return sum(c * c for c in copied) + sum(items)


def by_star(v, n):
    items, v = listed(v, n)
    copied = [*items]
    copied[0] = v * v
    items[1] = v**3
    return sum(c * c for c in copied) + sum(items)


def of_arrays(v, n):
    """A copy of a list has its own places, but the same arrays in them."""
    items = []
    for j in range(n):
        items.append(np.ones(2) * v * j)
    copied = list(items)
    copied[0] = np.full(2, v)
    copied[1] *= v
    return np.sum(sum(items) * sum(copied))


def of_lists(v, n):
    items = []
    for j in range(n):
        items.append([v * j, v])
    copied = items.copy()
    copied[0] = [v, v**2]
    copied[1][0] = v**3
    return sum(a * b for a, b in items) + sum(a / b for a, b in copied)


@pytest.mark.parametrize("f", [by_list, by_method, by_star, of_arrays, of_lists])
def test_copies_of_lists(f):
    assert srcgrad.value_and_grad(f)(0.7, 5)[0] == pytest.approx(f(0.7, 5))
    check_grads(f, (0.7, 5), argnums=0)


@pytest.mark.parametrize("f", [by_list, by_method])
def test_a_copy_is_one_statement(f):
    gradient = srcgrad.grad(f)
    gradient(0.7, 5)
    assert "copied = items[:]\n    d_copied = [0.0] * len(copied)\n" in gradient.source


class Model:
    """Its functions stand in a dict, so it can't be one of many in a table."""

    def __init__(self, weights):
        self.functions = {"activation": np.tanh, "loss": np.sum}
        self.weights = weights

    def step(self, x):
        a = self.functions["activation"](self.weights * x)
        self.weights = self.weights - 0.1 * a * (1 - a**2) * x
        return self.functions["loss"](a**2)


def trained(x):
    model, errors = Model(x), []
    for i in range(400):
        errors.append(model.step(x))
        recent = np.array(errors[-min(i + 1, 3) :])
        if i > 5 and np.mean(recent) - errors[-1] < 1e-3:
            break
    return np.sum(model.weights**2) + errors[0]


def test_a_long_loop_over_parts_of_a_list_is_kept_beside_an_object():
    gradient = srcgrad.grad(trained)
    gradient(np.array([1.0, 0.5, 0.3]))
    assert gradient.source.count("\n") < 100
    check_grads(trained, (np.array([1.0, 0.5, 0.3]),))
