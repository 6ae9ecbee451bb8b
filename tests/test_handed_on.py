"""Loops that only hand arrays on, some of which are kept in lists or written elsewhere."""

import numpy as np
import pytest

from srcgrad import value_and_grad
from srcgrad.testing import check_grads


def in_a_list(x, y, s):
    kept, a, b = [y], x, y
    for _ in range(2):
        a, b = b, a
    for k in range(3):
        kept.append(x * k)
    return np.sum(np.cos(a)) + np.sum(b * x) + np.sum(kept[0] * s)


def two_lists(x, y, s):
    p, q = [x, y], [y, x, y]
    for _ in range(3):
        p, q = q, p
    for k in range(2):
        p.append(x * k)
    return sum(np.sum(v) * k for k, v in enumerate(p)) * s + np.sum(q[0] ** 2)


def one_after_the_other(x, y, s):
    kept, a = [y], x
    for _ in range(2):
        a = y
    for k in range(3):
        kept.append(x * k)
    return np.sum(np.cos(a)) + np.sum(kept[0] * s)


def until_it_is_left(x, y, s):
    kept, a, b, k = [y], x, y, 0
    while k < 3:
        a, b = b, a
        k += 1
        if k == 2:
            break
    for k in range(3):
        kept.append(x * k)
    return np.sum(np.cos(a)) * s + np.sum(kept[0]) + np.sum(b * b)


def in_two_loops(x, y, s):
    kept, a, b = [y], x, y
    for i in range(3):
        for _ in range(i):
            a, b = b, a
    for k in range(3):
        kept.append(x * k)
    return np.sum(np.cos(a)) * s + np.sum(kept[0]) + np.sum(b * b)


def written_on_one_path(x, y, s):
    a, b, c = x, y, x * s
    z = np.zeros(3)
    z[:] = a
    for _ in range(4):
        a, b, c = b, c, a
    w = a
    if s < 0.1:
        w = z
    z[0] = s
    return np.sum(w * w) + np.sum(b * z) + c[0]


def written_before(x, y, s):
    a, b = x, y.copy()
    b[1] = s
    for _ in range(3):
        a, b = b, a
    return np.sum(a * a) + np.sum(b**3)


@pytest.mark.parametrize(
    "f",
    [
        in_a_list, two_lists, one_after_the_other, until_it_is_left, in_two_loops,
        written_on_one_path, written_before,
    ],
    ids=lambda f: f.__name__,
)  # fmt: skip
def test_what_a_loop_hands_on(f):
    args = np.array([0.3, 0.9, 0.5]), np.array([0.4, 0.6, 1.2]), 0.7
    assert value_and_grad(f)(*args)[0] == pytest.approx(f(*args), rel=1e-14)
    check_grads(f, args, argnums=(0, 1, 2))
