"""How long slices are whose bounds a loop's index tells, and parts as many as the run tells."""

import numpy as np
import pytest

from srcgrad import grad
from srcgrad.testing import check_grads

RNG = np.random.default_rng(0)


def windows(x, w):
    total, k = 0.0, w.size
    for i in range(x.size - k + 1):
        total += np.sum(np.sin(x[i : i + k] * w)) ** 2
    return total


def backwards(x, w):
    total, k = 0.0, w.size
    for i in range(x.size - 1, k - 2, -1):
        total += np.sum(np.sin(x[i - k + 1 : i + 1] * w)) ** 2
    return total


def products_of_windows(x, w):
    y = np.zeros(x.size - w.size + 1)
    for i in range(y.size):
        z = np.exp(x[i : i + w.size]) * w
        z[1:] += z[:-1] * w[1:]
        y[i] = np.sum(z * z)
    return np.sum(np.cos(y))


def may_end_early(x, v):
    total = 0.0
    for i in range(x.size):
        total += np.sum(np.sin(x[i : i + 2] * v[: x.size - i]))
    return total


def may_not_be_run(x, w):
    total = np.sum(np.sin(x[:3])) * np.sum(w * w)
    for i in range(x.size - 3):
        total += np.sum(np.sin(x[i : i + 3] * w))
    return total


def of_the_trip_before(x, w):
    total = w[0]
    for i in range(x.size):
        if i > 0:
            total += np.sum(np.sin(part)) * np.sum(part * x[:i])  # noqa: F821
        part = np.exp(x[: i + 1])  # noqa: F841
    return total


@pytest.mark.parametrize(
    ("f", "sizes", "known"),
    [
        (windows, ((5, 2), (6, 4), (4, 5), (3, 1)), True),
        (backwards, ((5, 2), (6, 4), (4, 5), (3, 1)), True),
        (products_of_windows, ((5, 2), (6, 4), (3, 3), (3, 1)), True),
        (may_end_early, ((2, 2), (2, 1), (1, 1)), False),
        (may_not_be_run, ((3, 2), (2, 4), (5, 3), (1, 3)), True),
        (of_the_trip_before, ((4, 2), (2, 2), (1, 1)), False),
    ],
)
def test_windows_that_a_loop_slides(f, sizes, known):
    gradient = grad(f, argnums=(0, 1))
    for number, (n, k) in enumerate(sizes):
        x, w = RNG.normal(size=n), RNG.normal(size=k)
        found = gradient(x, w)
        if not number:
            assert ("unbroadcast" not in gradient.source) == known, gradient.source
        for argument, (d, at) in enumerate(zip(found, (x, w), strict=True)):
            for i in range(at.size):
                step = np.zeros(at.size)
                step[i] = 1e-6
                low, high = ([x, w], [x, w])
                low[argument], high[argument] = at - step, at + step
                assert d[i] == pytest.approx((f(*high) - f(*low)) / 2e-6, rel=1e-5, abs=1e-7)


def test_bounds_below_zero():
    def f(x, k):
        total = 0.0
        for i in range(3, x.size):
            total += np.sum(x[i : i + k] ** 2)
        return total

    for k in (-2, -1, 0, 2):
        check_grads(lambda x, k=k: f(x, k), (RNG.normal(size=6),))


# Loops whose arrays stay as long as at the start


def adaptive_filter(x, d, m):
    """Least mean squares: the weights are as long as the window of the signal."""
    w, loss = np.zeros(m), 0.0
    for n in range(m, len(x)):
        part = x[n - m : n]
        error = d[n] - w @ part
        w = w + 0.1 * error * part
        loss += error**2
    return loss


def recursive_least_squares(x, d, m):
    w, p, loss = np.zeros(m), np.eye(m), 0.0
    for n in range(m, len(x)):
        part = x[n - m : n][::-1]
        px = p @ part
        gain = px / (0.9 + part @ px)
        error = d[n] - w @ part
        w = w + gain * error
        p = (p - np.outer(gain, px)) / 0.9
        loss += error**2
    return loss


@pytest.mark.parametrize("f", [adaptive_filter, recursive_least_squares])
def test_arrays_that_a_loop_carries(f):
    gradient = grad(f, argnums=(0, 1))
    x, d = RNG.normal(size=12), RNG.normal(size=12)
    gradient(x, d, 3)
    assert "unbroadcast" not in gradient.source
    for m in (0, 1, 3, 12, 15):
        check_grads(lambda x, d, m=m: f(x, d, m), (x, d))


def grows_by_broadcasting(x, m):
    """What begins as long as one thing and becomes as long as another."""
    w = np.ones(1) * x[0]
    for n in range(m, len(x)):
        w = w + 0.1 * x[n - m : n]
    return np.sum(w**2)


def grows_on_a_branch(x, m):
    w, v = np.ones(m), x[:1]
    for n in range(m, len(x)):
        if x[n] > 0:
            v = w * x[n - m : n]
        else:
            w = w * 0.9
        w = w + v
    return np.sum(w**2)


def swapped(x, m):
    a, b = x[:m] * 1.0, x[m:] * 1.0
    for _ in range(3):
        a, b = b * 2.0, a + 1.0
    return np.sum(a**2) + np.sum(b) * x[0]


def shrinks(x, m):
    a = x * 1.0
    for n in range(m):
        a = a[1:] * x[n + 1 : len(x)][: len(a) - 1]
    return np.sum(a)


@pytest.mark.parametrize("f", [grows_by_broadcasting, grows_on_a_branch, swapped, shrinks])
@pytest.mark.parametrize("m", [0, 1, 2, 4])
def test_arrays_that_do_not_stay_as_long(f, m):
    check_grads(lambda x: f(x, m), (RNG.normal(size=6),))


def largest_of_buckets(data, n):
    if n == len(data):
        return np.sum(data)
    buckets = np.array_split(data[1:-1], n)
    kept = np.zeros((n + 1, 2))
    kept[0] = data[0]
    data[0] *= 2.0
    for i in range(len(buckets)):
        bucket = buckets[i]
        area = abs((kept[i, 0] - data[-1, 0]) * (bucket - kept[i])[:, 1])
        kept[i + 1] = bucket[np.argmax(area)]
    return np.sum(kept**3)


def equal_rows_written(data, n):
    for i, part in enumerate(np.split(data, n)):
        part *= i + 1
    return np.sum(data**2)


def columns_written(data, n):
    total = 0.0
    for part in np.hsplit(np.concatenate([data] * 4, axis=1)[:, : 2 * n], n):
        part[0] += part[1]
        total += np.sum(part) ** 2 * data[0, 0]
    return total


def at_places_out_of_order(data, n):
    parts = np.split(data, [*range(3, n + 2), 1], axis=-2)
    data[2] *= 3.0
    return sum(np.sum(part) ** (2 + k % 2) for k, part in enumerate(parts))


def parts_of_parts(data, n):
    whole = np.concatenate(np.vsplit(data, n))
    return np.sum(np.dsplit(np.outer(whole, data).reshape(4, -1, 8 * n), n)[1] ** 2)


def unequal_parts(data, n):
    try:
        return np.sum(np.split(data, n + 3)[0])
    except ValueError:
        return np.sum(data**2)


@pytest.mark.parametrize(
    "f",
    [largest_of_buckets, equal_rows_written, columns_written, at_places_out_of_order,
     parts_of_parts, unequal_parts],
)  # fmt: skip
@pytest.mark.parametrize("n", [2, 4])
def test_parts_of_which_only_the_run_tells_how_many_there_are(f, n):
    def counted(data):
        return f(data, int(data[0, 0] * 0.0 + n))

    check_grads(counted, (np.random.default_rng(5).random((8, 2)),), order=2)


@pytest.mark.parametrize("n", [0, -2])
def test_an_array_has_some_parts(n):
    with pytest.raises(ValueError, match="larger than 0"):
        grad(lambda x: np.array_split(x, int(x[0] * 0.0 + n))[0][0])(np.ones(3))
