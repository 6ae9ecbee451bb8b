"""Loops that become operations on whole arrays, and loops that have to stay."""

from __future__ import annotations

import inspect
import linecache
import types

import numpy as np
import pytest

from srcgrad import grad, hvp, jvp, value_and_grad
from srcgrad.compiler import primal
from srcgrad.errors import UnsupportedError
from srcgrad.testing import check_grads
from tests.random_loops import Generator, Mixed


def normal(*shape, seed=0):
    return np.random.default_rng([seed, *shape]).normal(size=shape)


def twin(function):
    """The same function, for which nothing is compiled yet."""
    code = function.__code__.replace()
    return types.FunctionType(
        code, function.__globals__, function.__name__, function.__defaults__, function.__closure__
    )


def check(monkeypatch, function, *arguments, argnums=0, loops=0, differences=True):
    """The gradient is that without the pass, its forward sweep has so many loops; its source."""
    gradient = value_and_grad(twin(function), argnums=argnums)
    value, found = gradient(*arguments)
    with monkeypatch.context() as patch:
        patch.setattr(primal, "vectorize", lambda *_: None)
        expected_value, expected = value_and_grad(twin(function), argnums=argnums)(*arguments)
    np.testing.assert_allclose(value, function(*arguments), rtol=1e-12)
    np.testing.assert_allclose(value, expected_value, rtol=1e-12)
    pairs = zip(found, expected, strict=True) if isinstance(argnums, tuple) else [(found, expected)]
    for a, b in pairs:
        assert a.dtype == b.dtype
        np.testing.assert_allclose(a, b, rtol=1e-9, atol=1e-12)
    forward = gradient.source.split("\n\n")[0]
    assert forward.count(" in range(") == loops, gradient.source
    if differences:
        check_grads(function, arguments, argnums=argnums)
    return gradient.source


def test_elements(monkeypatch):
    def f(a, b):
        n = len(a)
        c = np.zeros(n)
        for i in range(1, n):
            c[i] = a[i] * b[i - 1]
        return np.sum(c * c)

    text = check(monkeypatch, f, normal(9), normal(9, seed=1), argnums=(0, 1))
    assert "a[1:] * b[:-1]" in text or "np.multiply(a[1:], b[:-1]" in text or "b_left" in text
    for length in (1, 2):
        check(monkeypatch, f, normal(length), normal(length), argnums=(0, 1))


def test_a_product_of_matrices(monkeypatch):
    def f(a, b):
        n = len(a)
        c = np.zeros((n, n))
        for i in range(n):
            for j in range(n):
                for k in range(n):
                    c[i, j] += a[i, k] * b[k, j]
        return np.sum(np.sin(c))

    text = check(monkeypatch, f, normal(9, 9), normal(9, 9, seed=1), argnums=(0, 1))
    assert "@" in text and "for " not in text.replace("for i in range", "").split("# ")[0]


def test_elimination(monkeypatch):
    def f(a):
        a = a.copy()
        n = len(a)
        for k in range(n):
            for i in range(k + 1, n):
                factor = a[i, k] / a[k, k]
                for j in range(k, n):
                    a[i, j] -= factor * a[k, j]
        return np.sum(a * a)

    a = normal(9, 9) + 6 * np.eye(9)
    text = check(monkeypatch, f, a, loops=1)
    assert "[next_k:, k:] -= factor[:, None] * a" in text
    assert " @ factor" in text or "factor @ " in text


def test_cholesky(monkeypatch):
    def f(a):
        n = len(a)
        lower = np.zeros_like(a)
        for j in range(n):
            s = 0.0
            for k in range(j):
                s += lower[j, k] ** 2
            lower[j, j] = np.sqrt(a[j, j] - s)
            for i in range(j + 1, n):
                s = 0.0
                for k in range(j):
                    s += lower[i, k] * lower[j, k]
                lower[i, j] = (a[i, j] - s) / lower[j, j]
        return np.sum(np.cos(lower))

    a = normal(9, 9)
    text = check(monkeypatch, f, a @ a.T + 9 * np.eye(9), loops=1)
    assert "lower[next_j:, :j] @ lower[j, :j]" in text or "lower_row" in text


def test_reversed_and_backwards(monkeypatch):
    def f(a, b):
        n = len(a)
        c = np.ones(n)
        for i in range(n - 1, -1, -1):
            c[i] = a[i] * b[n - 1 - i]
        for i in reversed(range(1, n)):
            c[i] *= c[0] + i * 0.5
        return c @ b

    check(monkeypatch, f, normal(9), normal(9, seed=1), argnums=(0, 1))


def test_a_value_that_is_overwritten_is_kept(monkeypatch):
    def f(x):
        x = x.copy()
        y = np.zeros_like(x)
        for i in range(len(x)):
            old = x[i]
            x[i] = np.sin(old)
            y[i] = old * x[i]
        return x @ y

    check(monkeypatch, f, normal(9))


def test_sums_from_numbers_and_into_places(monkeypatch):
    def f(a, b):
        total, rest, c = 1.0, 0.0, np.zeros(3)
        for i in range(len(b)):
            total = total - b[i] ** 2
            rest += np.sin(b[i])
            rest += a[i] @ a[i]
            c[1] += b[i] * a[i, 0]
            c += a[i]
        return total * rest + np.prod(c + 2.0)

    # the place c[1] and all of c: they stay
    check(monkeypatch, f, normal(9, 3), normal(9), argnums=(0, 1), loops=1)

    def g(a, b):
        total, rest, c, d = 1.0, 0.0, np.zeros(3), np.zeros(3)
        for i in range(len(b)):
            total = total - b[i] ** 2
            rest += np.sin(b[i])
            rest += a[i] @ a[i]
            c[1] += b[i] * a[i, 0]
            d += a[i]
        return total * rest + np.prod(c + d + 2.0)

    check(monkeypatch, g, normal(9, 3), normal(9), argnums=(0, 1))


def test_swapped_buffers(monkeypatch):
    def f(x, again):
        u, v, n = x.copy(), x * 0.5, len(x)
        for t in range(4):
            for i in range(1, n - 1):
                v[i] = u[i] + 0.1 * (u[i - 1] - 2 * u[i] + u[i + 1]) ** 2
            if t != again:
                u, v = v, u
        return np.sum(u * np.cos(v))

    text = check(monkeypatch, f, normal(9), 2, loops=1)
    assert "u[:-2] - 2.0 * u_inner + u[2:]" in text

    def g(x):  # in the first trip, they are one array
        u, n = x.copy(), len(x)
        v = u
        for _ in range(4):
            for i in range(1, n):
                v[i] += u[i - 1]
            u, v = v.copy(), u
        return np.sum(u * np.cos(v))

    check(monkeypatch, g, normal(9), loops=2)


STAYS = {}


def stays(function):
    STAYS[function.__name__] = function
    return function


@stays
def recurrence(x):
    y = np.zeros_like(x)
    for i in range(1, len(x)):
        y[i] = 0.5 * y[i - 1] + x[i]
    return y @ y


@stays
def shift(x):
    x = x.copy()
    for i in range(len(x) - 1):
        x[i + 1] = x[i] * 2.0
    return np.sum(x)


@stays
def two_names(x):
    x = x.copy()
    y = x[::-1]
    for i in range(len(x)):
        x[i] = y[i] * 2.0
    return np.sum(x**2)


@stays
def a_partial_sum(x):
    s, y = 0.0, np.zeros_like(x)
    for i in range(len(x)):
        s += x[i]
        y[i] = s
    return y @ x


@stays
def the_same_place(x):
    y = np.zeros(len(x))
    for i in range(len(x)):
        y[i // 2] = x[i]
    return np.sum(y * y)


@stays
def a_place_of_an_index(x):
    y = np.zeros(len(x))
    order = np.array([0, 0, 1, 1, 2, 2, 3, 3, 4])
    for i in range(len(x)):
        y[order[i]] += x[i]
    return np.sum(y * y)


@stays
def larger_arrays(x):
    total = np.zeros((9, 9))
    for i in range(len(x)):
        total = total + np.outer(x, x * x[i])
    return np.sum(total)


@stays
def few(x):
    s = 0.0
    for i in range(3):
        s += x[i] ** 2
    return s


@stays
def the_last_value(x):
    last = 0.0
    for i in range(len(x)):
        last = x[i] * 2.0
    return last * last


@stays
def a_shift_of_its_own(x):
    rows, turned = np.cos(np.arange(9.0)[:, None] * x), np.zeros((9, len(x)))
    shifts = np.array([0, 3, 1, 2, 8, 5, 4, 4, 7])
    for i in range(9):
        turned[i] = np.roll(rows[i], shifts[i], axis=0)
    return np.sum(turned * rows)


@stays
def pythons_division(x):
    s = 0.0
    for i in range(1, len(x)):
        s += x[i] * (1.0 / i)
    return s


@pytest.mark.parametrize("name", STAYS)
def test_what_has_to_stay(monkeypatch, name):
    check(monkeypatch, STAYS[name], normal(9) + 0.1, loops=1)


def huber(x, _):
    s = 0.0
    for i in range(len(x)):
        r = x[i]
        if abs(r) <= 0.5:
            s += 0.5 * r * r
        else:
            s += 0.5 * (abs(r) - 0.25)
    return s


def three_ways(x, y):
    s, c = 0.0, np.zeros(3)
    for i in range(len(x)):
        if x[i] > 0.5:
            w = x[i] * 2
            y[i] = w * w
            s += w
        elif y[i] < 0:
            c[1] += x[i]
            y[i] *= 0.1
        else:
            c[1] -= x[i] ** 2
            c[2] += y[i]
    return s * c[1] * c[2] + y @ y


def upwind(x, y):
    for _ in range(3):
        v = y.copy()
        for i in range(1, len(x) - 1):
            d = y[i] - y[i - 1] if x[i] > 0 else y[i + 1] - y[i]
            v[i] = y[i] - 0.1 * x[i] * d
        y = v
    return y @ y


def skipped(x, y):
    s = 0.0
    for i in range(len(x)):
        for j in range(len(y)):
            if i == j or x[i] < 0:
                continue
            s += np.cos(x[i]) * y[j]
    return s


def same_place_twice(x, y):
    for i in range(len(x)):
        j = i + 1
        if x[i] > 0:
            y[i] = x[i] * 2
        else:
            y[j - 1] = x[i]
            y[i] = x[i] ** 2
    return y @ x


@pytest.mark.parametrize("function", [huber, three_ways, upwind, skipped, same_place_twice])
def test_branches_that_become_choices(monkeypatch, function):
    def f(x, y):
        return function(x, y.copy())

    x, y = normal(9), normal(9, seed=1)
    loops = int(function in (upwind, skipped))  # of all pairs there is no array
    assert "np.where(" in check(monkeypatch, f, x, y, argnums=(0, 1), loops=loops)


def roots(x):
    s = 0.0
    for i in range(len(x)):
        if x[i] > 0:
            s += np.sqrt(x[i])
    return s


def neighbours(x):
    s = 0.0
    for i in range(len(x)):
        if i < len(x) - 1:
            s += x[i] * x[i + 1]
    return s


def partial_sums(x):
    s, y = 0.0, np.zeros_like(x)
    for i in range(len(x)):
        if x[i] > 0:
            s += x[i]
            y[i] = s
    return y @ x


def read_again(x):
    s, y = 0.0, x.copy()
    for i in range(len(x)):
        if x[i] > 0:
            y[i] = x[i] ** 2
            s += y[i]
    return s * np.sum(y)


@pytest.mark.parametrize("function", [roots, neighbours, partial_sums, read_again])
def test_branches_that_have_to_stay(monkeypatch, function):
    check(monkeypatch, function, normal(9), loops=1)


def test_an_index_that_is_outside_raises():
    def f(x, y):
        s = 0.0
        for i in range(len(x)):
            s += x[i] * y[i]
        return s

    with pytest.raises(IndexError):
        value_and_grad(f)(normal(9), normal(7))
    np.testing.assert_array_equal(grad(f)(normal(7), np.arange(9.0)), np.arange(7.0))


@pytest.mark.parametrize("n", [-3, -1, 0, 1, 2, 9])
def test_bounds_that_are_arguments(n):
    def f(x, n):
        y, z = np.zeros(n + 4), np.ones(n + 4)
        for i in range(n):
            y[i] = x * z[i]
        return np.sum(y)

    assert grad(f)(2.0, n) == max(n, 0)


def test_what_is_hoisted_may_not_raise():
    def f(x, k):
        n = len(x)
        y = np.zeros(n)
        for i in range(k + 1, n):
            y[i] = x[i] * x[k + 1]
        return np.sum(y)

    x = np.arange(1.0, 10.0)
    np.testing.assert_array_equal(grad(f)(x, len(x) - 1), np.zeros(9))
    assert value_and_grad(f)(x, 6)[0] == f(x, 6)


@pytest.mark.parametrize(("n", "k", "expected"), [(9, 1, 316.0), (3, 1, 6.0), (3, 0, 6.0)])
def test_what_may_be_none_is_not_indexed_by_a_loop_that_is_not_run(n, k, expected):
    def f(x, k):
        w = None if k <= 0 else x
        y = np.zeros(len(x))
        for i in range(3, len(x)):
            y[i] = x[i] * w[i]
        return np.sum(y) + np.sum(x)

    assert value_and_grad(f)(np.arange(1.0, n + 1), k)[0] == expected


def test_dtypes(monkeypatch):
    def f(x, y):
        z = np.zeros(len(x), dtype=x.dtype)
        s = 0.0
        for i in range(len(x)):
            z[i] = x[i] * 2.5 + y[i]
            s += z[i] * i
        return s

    check(monkeypatch, f, normal(9).astype(np.float32), np.arange(9), loops=1, differences=False)
    check(monkeypatch, f, normal(9), np.arange(9))

    def g(x):
        s = 0.0
        for i in range(len(x)):
            s += abs(x[i]) ** 2
        return s

    check(monkeypatch, g, normal(9) + 1j * normal(9, seed=1), differences=False)


def test_forward_mode_and_second_derivatives():
    def f(a, b):
        c = np.zeros_like(a)
        for i in range(len(a)):
            for j in range(len(b)):
                c[i, j] = np.sin(a[i, j]) * b[j] ** 2
        return np.sum(c**2)

    def whole(a, b):
        return np.sum((np.sin(a) * b**2) ** 2)

    a, b, d = normal(9, 9), normal(9), normal(9, 9, seed=2)
    np.testing.assert_allclose(jvp(f, (a, b), (d, b))[1], jvp(whole, (a, b), (d, b))[1])
    np.testing.assert_allclose(hvp(f)(a, b, d), hvp(whole)(a, b, d))


def test_two_names_of_one_array():
    def both(x, y):
        s = 0.0
        for i in range(len(x)):
            x[i] = y[len(x) - 1 - i] * 2.0
            s += x[i] ** 2
        return s

    def f(x):
        x = x.copy()
        return both(x, x)

    def g(x):
        return both(x * 1.0, x)

    x = normal(9)
    check_grads(f, (x,))
    check_grads(g, (x,))
    np.testing.assert_allclose(value_and_grad(f)(x)[0], f(x))
    assert f(x) != g(x)


@pytest.mark.parametrize(
    ("generator", "seed"),
    [*((Generator, seed) for seed in range(13)), *((Mixed, seed) for seed in range(7))],
)
def test_random_loops(monkeypatch, generator, seed):
    text = generator(seed).program()
    name = f"<random loops {generator.__name__} {seed}>"
    linecache.cache[name] = (len(text), None, text.splitlines(keepends=True), name)
    names = {"np": np}
    exec(compile(text, name, "exec"), names)
    f = names["f"]
    assert inspect.getsource(f) in text
    for n in (9, 2, 1):
        a, b = 0.5 * normal(n, n, seed=seed), 0.5 * normal(n, seed=seed)
        try:
            with np.errstate(all="ignore"):
                value = f(a.copy(), b.copy())
        except (IndexError, ValueError, TypeError, UnboundLocalError) as error:
            # (what is handed on without a value is None)
            unbound = [TypeError] if isinstance(error, UnboundLocalError) else []
            raised = (type(error), UnsupportedError, *unbound)
            with pytest.raises(raised), np.errstate(all="ignore"):
                value_and_grad(f, (0, 1))(a, b)
            continue
        found = []
        for patched in (False, True):
            with monkeypatch.context() as patch, np.errstate(all="ignore"):
                if patched:
                    patch.setattr(primal, "vectorize", lambda *_: None)
                    patch.setattr(primal, "settle_lengths", lambda *_: None)
                g = twin(f)
                found.append((value_and_grad(g, (0, 1))(a, b), grad(g, (0, 1))(a, b)))
        (whole, alone), (expected, _) = found
        np.testing.assert_allclose(whole[0], value, rtol=1e-9, err_msg=text)
        for result in (whole[1], alone):
            for x, y in zip(result, expected[1], strict=True):
                scale = np.max(np.abs(y), initial=1.0)
                np.testing.assert_allclose(x / scale, y / scale, atol=1e-9, err_msg=text)


def test_a_division_by_a_length(monkeypatch):
    def f(x):
        n, re = len(x), np.zeros(len(x))
        for k in range(n):
            for t in range(n):
                re[k] += x[t] * np.cos(2 * np.pi * k * t / n)
        return np.sum(re**2)

    text = check(monkeypatch, f, normal(9), loops=1)
    assert "np.arange(n) / n" in text
    check(monkeypatch, f, normal(1), loops=2)


def test_what_reads_well(monkeypatch):
    def f(x):
        y = np.exp(x)
        n = len(y)
        for i in range(n):
            y[i, :] /= y[i, :].sum()
        s = 0.0
        for i in range(n - 2):
            for j in range(n - 1):
                s += y[i + 2, j]
        return np.log(s)

    text = check(monkeypatch, f, normal(9, 9))
    for ugly in ("[:, :]", "+ 0", "np.float64"):
        assert ugly not in text, text
