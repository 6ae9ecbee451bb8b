"""Lists that are sorted in place, and copies of them that are: by what order, and back."""

import math
from dataclasses import dataclass

import numpy as np
import pytest

from srcgrad import grad, hvp, jvp, vjp

X = np.array([0.7, -0.4, 1.2, 0.1, -0.9, 0.35])


def medians(xs):
    total = 0.0
    for i in range(len(xs) - 2):
        total += sorted(xs[i : i + 3])[1] ** 2
    return total


def running_median(xs):
    seen, total = [], 0.0
    for v in xs:
        seen.append(v)
        seen.sort()
        total += seen[len(seen) // 2] * seen[0]
    return total


def from_the_end(xs):
    ys = [v * v for v in xs]
    ys.sort(reverse=True)
    return sum(v * (k + 1) for k, v in enumerate(ys)) + ys[0] * ys[-1]


def by_key(xs):
    ys = [math.sin(v) for v in xs]
    ys.sort(key=lambda v: -abs(v))
    ys[1] *= 2.0
    ys.sort(key=abs)
    return sum(v * (k + 1) for k, v in enumerate(ys))


def pairs(xs):
    ps = [(v, 1.0 + k) for k, v in enumerate(xs)]
    ps.sort()
    return sum(v * w * (k + 1) for k, (v, w) in enumerate(ps))


def two_names(xs):
    ys = [2.0 * v for v in xs]
    zs = ys
    rows = [ys, list(xs)]
    for row in rows:
        row.sort()
        row[0] *= row[-1]
    zs.sort()
    return sum(v * k * w for k, (v, w) in enumerate(zip(ys, rows[1], strict=True)))


def on_a_branch(xs):
    ys = list(xs)
    for k in range(len(ys)):
        if ys[k] > 0.3:
            ys.sort()
        ys[k] = ys[k] * 0.7 + 0.1 * k
    return sum(v**3 for v in ys)


def ascending(items):
    items.sort()
    return items[0]


def by_a_function(xs):
    ys, total = list(xs), 0.0
    for _ in range(3):
        total += ascending(ys)
        ys[0] += 0.4 * ys[-1]
    return total + ys[2]


def arrays(xs):
    rows = [np.array([v, 2 * v * v]) for v in xs]
    rows.sort(key=lambda row: row[1] - row[0])
    rows[0][1] *= 3.0
    return sum((k + 1) * np.sum(row**2) for k, row in enumerate(rows))


@dataclass
class Particle:
    at: float
    weight: float


def objects(xs):
    ps = []
    for k, v in enumerate(xs):
        ps.append(Particle(v, 1.0 + 0.1 * k))
    for p in ps:
        p.at *= 1.5
    ps.sort(key=lambda p: p.at)
    ps[0].at += ps[1].at * ps[-1].weight
    return sum(p.at * p.weight * (k + 1) for k, p in enumerate(ps))


def popped(xs):
    ys, total = list(xs), 0.0
    while len(ys) > 1:
        ys.sort()
        total += ys.pop() * ys[0]
        ys[-1] *= 0.9
    return total


def copied_then_sorted(xs):
    total = 0.0
    for _ in range(2):
        ys = list(xs)
        ys.sort()
        zs = sorted(ys, reverse=True)
        zs[0] += ys[0]
        total += zs[0] * zs[1] + ys[2] * ys[0]
    return total


PROGRAMS = [
    medians, running_median, from_the_end, by_key, pairs, two_names, on_a_branch, by_a_function,
    arrays, objects, popped, copied_then_sorted,
]  # fmt: skip


@pytest.mark.parametrize("given", [np.array, list, np.ndarray.tolist], ids=["array", "np", "list"])
@pytest.mark.parametrize("f", PROGRAMS)
def test_derivatives(f, given):
    for x in (X, np.tile(X, 3) + 0.01 * np.arange(18)):
        v = np.cos(np.arange(len(x)))
        slope = (f(given(x + 1e-6 * v)) - f(given(x - 1e-6 * v))) / 2e-6
        gradient = grad(f)(given(x))
        assert np.dot(gradient, v) == pytest.approx(slope, rel=1e-7, abs=1e-8)
        value, moved = jvp(f, (given(x),), (given(v),))
        assert (value, moved) == pytest.approx((f(given(x)), slope), rel=1e-7, abs=1e-8)
        _, pullback = vjp(f, given(x))
        for _ in range(2):
            assert np.dot(pullback(2.0)[0], v) == pytest.approx(2 * slope, rel=1e-7, abs=1e-8)


@pytest.mark.parametrize("f", [running_median, from_the_end, by_key, on_a_branch, popped])
def test_second_derivatives(f):
    v = np.cos(np.arange(6))
    expected = (grad(f)(X + 1e-6 * v) - grad(f)(X - 1e-6 * v)) / 2e-6
    np.testing.assert_allclose(hvp(f)(X, v), expected, rtol=1e-6, atol=1e-7)
    twice = grad(lambda x: grad(f)(x) @ v)(X)
    np.testing.assert_allclose(twice, expected, rtol=1e-6, atol=1e-7)


def test_sorting_is_one_statement():
    derivative = grad(running_median)
    derivative(np.tile(X, 4).tolist())
    text = derivative.source
    assert text.count("order(seen, False)") == text.count("reorder(seen, ") == 1
    assert text.count("restore_order(d_seen, ") == 1
    assert text.count("for ") == 2 + text.count("# for ")


def test_what_has_no_number_is_as_python_has_it():
    def f(xs):
        ys = list(xs)
        ys.sort()
        return sum(v * k for k, v in enumerate(ys))

    x = [0.3, math.nan, -1.0, 0.2, math.nan, 4.0, 1.5] * 3
    assert str(grad(f)(x)) == str(
        [float(sorted(range(21), key=x.__getitem__).index(k)) for k in range(21)]
    )


def test_comparing_what_cannot_be_compared():
    def f(x):
        rows = [(v, np.ones(2) * v) for v in (x, x, 2 * x)]
        for _ in range(int(x)):
            rows.append((x, np.ones(2)))
        rows.sort()
        return rows[0][0]

    with pytest.raises(ValueError, match="truth value of an array"):
        f(2.0)
    with pytest.raises(ValueError, match="truth value of an array"):
        grad(f)(2.0)
