"""Results that are lists built at run time, or may be None: pullbacks, tangents and Jacobians."""

import numpy as np
import pytest

import srcgrad

X = np.array([0.3, -0.8, 0.55, 1.2])
V = np.array([0.5, -1.0, 2.0, 0.25])


def squares(x):
    out = []
    for v in x:
        out.append(v * v)
    return out


def arrays(x):
    out = []
    for k in range(int(x[3] > 1) + 2):
        out.append(np.sin(x[: k + 1]) * k)
    return out


def the_argument_itself(x):
    out = []
    for _ in range(int(x[3] > 1) + 2):
        out.append(x)
    return out


def beside_other_results(x):
    out = []
    for v in x:
        if v > 0:
            out.append(v**3)
    return {"kept": out, "norm": np.sum(x**2), "twice": (out, x * 2)}


def read_after_it_is_made(x):
    out = []
    total = 0.0
    for v in x:
        out.append(v * total)
        total += out[-1] + v
    return out


def nothing_varies(x):
    out = []
    for k in range(int(x[3] > 1) + 2):
        out.append(1.5 * k)
    return out, x[0] * 2


def rows_of_numbers(x):
    rows = []
    for i in range(len(x)):
        rows.append([])
        for v in x:
            rows[i].append(x[i] * v)
    return rows


def pairs(x):
    out = []
    for v in x:
        out.append((v, v * v))
    return out


def tuples_with_arrays_and_lists(x):
    out = []
    for k in range(int(x[3] > 1) + 2):
        out.append((x[k], x * x[k], [(x[k] ** 2, x[:k]), (2.0, x[k:])]))
    return out, out[0][1][2]


def one_row_in_several_places(x):
    row = [v * v for v in x[int(x[3] > 2) :]]
    rows = [row] * 3
    rows.append(list(x))
    rows[0][1] *= 3
    return rows


PROGRAMS = [
    squares, arrays, the_argument_itself, beside_other_results, read_after_it_is_made,
    nothing_varies, rows_of_numbers, pairs, tuples_with_arrays_and_lists, one_row_in_several_places,
]  # fmt: skip


def flat(result):
    if isinstance(result, dict):
        result = list(result.values())
    if isinstance(result, (list, tuple)):
        return np.concatenate([np.zeros(0), *map(flat, result)])
    return np.ravel(result)


def like(result, values):
    """The nesting of a result with other numbers, taken from an iterator."""
    if isinstance(result, dict):
        return {k: like(v, values) for k, v in result.items()}
    if isinstance(result, (list, tuple)):
        return type(result)(like(v, values) for v in result)
    if np.ndim(result) == 0:
        return next(values)
    return np.array([next(values) for _ in range(np.size(result))]).reshape(np.shape(result))


def differences(f, step=1e-6):
    ahead = [flat(f(X + step * e)) - flat(f(X - step * e)) for e in np.eye(len(X))]
    return np.stack(ahead, axis=1) / (2 * step)


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_pullback(f):
    rows = differences(f)
    out, pullback = srcgrad.vjp(f, X.copy())
    np.testing.assert_array_equal(flat(out), flat(f(X)))
    rng = np.random.default_rng(0)
    for _ in range(3):
        numbers = rng.normal(size=len(rows))
        (d_x,) = pullback(like(out, iter(numbers)))
        np.testing.assert_allclose(d_x, numbers @ rows, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_tangent(f):
    v = V.copy()
    out, moved = srcgrad.jvp(f, (X,), (v,))
    np.testing.assert_array_equal(flat(out), flat(f(X)))
    np.testing.assert_allclose(flat(moved), differences(f) @ V, rtol=1e-6, atol=1e-8)
    for array in moved if isinstance(moved, list) else ():
        assert not np.may_share_memory(array, v)


def blocks(found):
    if isinstance(found, dict):
        found = list(found.values())
    if isinstance(found, (list, tuple)):
        return np.concatenate([np.zeros((0, len(X))), *map(blocks, found)])
    return np.reshape(found, (-1, len(X)))


@pytest.mark.parametrize("jacobian", [srcgrad.jacobian, srcgrad.jacfwd, srcgrad.jacrev])
@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_jacobian(f, jacobian):
    np.testing.assert_allclose(blocks(jacobian(f)(X)), differences(f), rtol=1e-6, atol=1e-8)


def test_cotangents_are_checked():
    _, pullback = srcgrad.vjp(squares, X)
    with pytest.raises(TypeError, match="must be a list like the result, not a ndarray"):
        pullback(np.ones(4))
    with pytest.raises(ValueError, match="must have 4 items like the result, not 3"):
        pullback([1.0, 2.0, 3.0])
    with pytest.raises(TypeError, match=r"\[2\] must be an array or a number, not a str"):
        pullback([1.0, 2.0, "3", 4.0])
    _, pullback = srcgrad.vjp(arrays, X)
    with pytest.raises(ValueError, match=r"\[1\] must have the shape \(2,\)"):
        pullback([np.ones(1), np.ones(1), np.ones(3)])


def normalized(x):
    """None, or an array that is written in place."""
    if x[0] > 2:
        return np.sum(x), None
    y = x / np.sum(x)
    y -= x * x
    return np.sum(x), y


def resonance(m):
    """None, or an array whose sizes are those of others."""
    values, vectors = np.linalg.eigh(m + m.T)
    near = np.nonzero(values > 9)[0]
    if near.size == 0:
        return np.sum(values), None
    return np.sum(values), vectors[:, near[0]] ** 2


def test_the_pullback_of_a_result_that_may_be_none():
    x = np.array([0.5, 0.7])
    _, pullback = srcgrad.vjp(normalized, x)
    v = np.array([1.0, 0.3])
    d = [np.vdot(v, (normalized(x + e)[1] - normalized(x - e)[1]) / 2e-6) for e in np.eye(2) / 1e6]
    np.testing.assert_allclose(pullback((0.0, v))[0], d, rtol=1e-6)
    out, pullback = srcgrad.vjp(normalized, x * 5)
    assert out[1] is None
    assert pullback((2.0, None))[0].tolist() == [2.0, 2.0]

    m = np.array([[1.0, 0.2], [0.5, 3.0]])
    out, pullback = srcgrad.vjp(resonance, m)
    assert out[1] is None
    np.testing.assert_allclose(pullback((1.0, None))[0], 2 * np.eye(2), atol=1e-12)
    (_, both), pullback = srcgrad.vjp(resonance, 3 * m)
    np.testing.assert_allclose(pullback((1.0, 0.0 * both))[0], 2 * np.eye(2), atol=1e-12)
