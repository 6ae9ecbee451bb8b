"""Reads and writes of arrays by random keys: nested tuples and lists, ellipses, arrays of ints."""

import numpy as np
import pytest

from srcgrad import UnsupportedError, jvp, value_and_grad

from .random_orders import compiled

I, J = np.array([0, 2]), np.array([[1, 2], [0, -1], [2, 2]])  # noqa: E741
X = np.random.default_rng(1).random((3, 4, 5))
KEYS = ("i", "j", "i[:1]", "w", "n", ":", "1:", ":-1:2", "None", "...", "-1", "0", "2", "[0, 1]")
BODY = """\
def f(x, i, j, n):
    w = np.where(x[:, 0, 0] > 0.3)[0]
    q = x[{key}]
    total = np.sum(q.mean(axis={axis}) ** 2) / q.shape[{axis}]
    total = total + np.sum(q * np.cos(q.sum(axis={axis}, keepdims=True)))
    y = x * 1.5
    y[{key}] = q * q + np.arange(q.shape[-1])
    y[{key}] *= q.sum(axis=0)
    z = x * 1.0
    z[{key}] += q**2
    return total + np.sum(y * y * x) + np.sum(np.sin(z) * x)
"""


def random_key(rng):
    """A key that reads an array from X, and how many axes that has."""
    names = {"x": X, "i": I, "j": J, "n": 1, "w": np.where(X[:, 0, 0] > 0.3)[0]}
    while True:
        parts = [str(rng.choice(KEYS)) for _ in range(rng.integers(1, 5))]
        for k in range(len(parts)):
            if rng.random() < 0.25:
                inner = ", ".join([parts[k]] * rng.integers(1, 4))
                parts[k] = f"[{inner}]" if rng.random() < 0.5 else f"({inner},)"
        key = ", ".join(parts)
        if key.count("...") > 1:
            continue
        try:
            found = eval(f"x[{key}]", names)
        except (IndexError, TypeError, ValueError, SyntaxError):
            continue
        if np.ndim(found):
            return key, np.ndim(found)


@pytest.mark.parametrize("seed", range(36))
def test_random_keys(seed):
    rng = np.random.default_rng(seed)
    key, rank = random_key(rng)
    text = BODY.format(key=key, axis=rng.integers(rank))
    f = compiled(f"import numpy as np\n{text}", f"keys {seed}")
    direction, h = rng.normal(size=X.shape), 1e-6
    try:
        value = f(X, I, J, 1)
    except ValueError:  # what is read doesn't fit where it's written
        return
    slope = (f(X + h * direction, I, J, 1) - f(X - h * direction, I, J, 1)) / (2 * h)
    try:
        found, d_x = value_and_grad(f)(X, I, J, 1)
    except UnsupportedError:
        return
    assert found == pytest.approx(value, rel=1e-9), text
    weight = abs(slope) + np.sum(abs(d_x * direction))
    assert np.sum(d_x * direction) == pytest.approx(slope, abs=1e-5 * weight), text
    tangent = jvp(lambda x: f(x, I, J, 1), (X,), (direction,))[1]
    assert tangent == pytest.approx(np.sum(d_x * direction), abs=1e-8 * weight), text
