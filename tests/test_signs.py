"""Signs of parts of shadows go to where adjoints are added up (optimize/signs.py)."""

import operator
import types

import numpy as np
import pytest

from srcgrad import adjoint, grad, hvp, ir
from srcgrad.kinds import Opaque, Scalar
from srcgrad.optimize import signs
from srcgrad.testing import check_grads
from tests.test_simplify import body

RNG = np.random.default_rng(0)
A = RNG.normal(size=(4, 4)) + 3 * np.eye(4)
W = RNG.normal(size=(4, 4))


def factors(a, w):
    a = a.copy()
    for k in range(len(a) - 1):
        a[k + 1 :, k] /= a[k, k]
        a[k + 1 :, k + 1 :] -= np.outer(a[k + 1 :, k], a[k, k + 1 :])
    return np.sum(w * a)


def rows(a, w):
    a = a.copy()
    for k in range(len(a)):
        for i in range(k + 1, len(a)):
            a[i, k:] -= a[i, k] / a[k, k] * a[k, k:]
    return np.sum(w * a)


def overlapping(a, w):
    a = a * w
    for k in range(3):
        a[1:] -= w[0] * a[:-1] * a[k, 1]
        a[:, k] -= a[:, k + 1] * np.sin(a[:, k])
    return np.sum(a * a)


def between(a, w):
    a = a * w
    for k in range(3):
        row = a[k, 0] * w[k]
        a[k + 1] -= row
        a[k] *= 0.5
        a[k + 1] -= row * w[k + 1]
    return np.sum(a**3)


def not_linear(a, w):
    a = a * w
    for k in range(3):
        a[k + 1] -= np.tanh(a[k]) @ w
    return np.sum(np.exp(a))


def in_branches(a, w):
    a = a * w
    for k in range(3):
        if w[k, 0] > 0:
            a[k + 1] -= a[k] * a[0, 0]
        else:
            a[k + 1] -= np.cos(a[k])
        a[k] -= w[k]
    return np.sum(np.sin(a))


def step_back(a, w):
    a = a * w
    for k in range(3, 0, -1):
        a[:k, k] -= a[:k, :k] @ a[:k, k - 1] / a[k, k]
    return np.sum(a * w)


PROGRAMS = [factors, rows, overlapping, between, not_linear, in_branches, step_back]


@pytest.mark.parametrize("f", PROGRAMS)
def test_gradients(f):
    check_grads(f, (A, W), argnums=(0, 1))


@pytest.mark.parametrize("f", PROGRAMS)
def test_complex_and_single_precision(f):
    expected = grad(f)(A, W)
    found = grad(f)(A.astype(np.float32), W.astype(np.float32))
    assert found.dtype == np.float32
    np.testing.assert_allclose(found, expected, rtol=1e-3, atol=1e-3)
    if f is not in_branches:
        check_grads(lambda a, w: np.real(f(a + 0.1j * w, w)), (A, W))


@pytest.mark.parametrize("f", [factors, rows])
def test_nothing_at_all(f):
    assert grad(f)(A[:0, :0], W[:0, :0]).shape == (0, 0)
    np.testing.assert_array_equal(grad(f)(A[:1, :1], W[:1, :1]), W[:1, :1])


def test_a_part_that_stays_is_subtracted():
    lines = body(factors, A, W)
    assert "d_a_column -= d_a_below_right @ a[k, next_k:]" in lines, lines
    assert not any("= -d_" in line for line in lines), lines


def test_in_an_inner_loop(loops_stay):
    lines = body(types.FunctionType(rows.__code__.replace(), rows.__globals__), A, W)
    assert "d_a_row -= ratio * d_a_row_1" in lines, lines
    assert lines.index("d_a_row = d_a[k, k:]") < lines.index("d_a_row_1 = d_a[i, k:]")
    assert not any("= -d_" in line for line in lines), lines


def test_a_part_that_is_written_before_its_last_use_is_kept():
    def f(x, n):
        x = x * 2.0
        for _ in range(n):
            x[1:] -= x[:-1] * x[1:]
        return np.sum(x * x)

    check_grads(lambda x: f(x, 3), (A[0],))
    check_grads(lambda x: f(x, 0), (A[0],))


def test_twice_negative_and_both_signs():
    def f(x):
        x = x * 2.0
        for k in range(3):
            t = x[k] * x[3]
            x[k + 1] -= -t
            x[k] -= t - x[0]
        return np.sum(x**3)

    check_grads(f, (A,))
    v = RNG.normal(size=A.shape)
    h = (grad(f)(A + 1e-6 * v) - grad(f)(A - 1e-6 * v)) / 2e-6
    np.testing.assert_allclose(hvp(f)(A, v), h, rtol=1e-5)


def test_infinities_and_nans_stay_what_they_are():
    a = A.copy()
    a[2, 2] = np.inf
    a[3, 1] = np.nan
    with np.errstate(all="ignore"):
        found = grad(factors)(a, W)
        x = a.copy()
        for k in range(3):
            x[k + 1 :, k] /= x[k, k]
            x[k + 1 :, k + 1 :] -= np.outer(x[k + 1 :, k], x[k, k + 1 :])
        d = W.copy()
        for k in (2, 1, 0):
            outer = -d[k + 1 :, k + 1 :]
            column = d[k + 1 :, k] + outer @ x[k, k + 1 :]
            d[k, k + 1 :] += x[k + 1 :, k] @ outer
            d[k + 1 :, k] = column / x[k, k]
            d[k, k] -= d[k + 1 :, k] @ x[k + 1 :, k]
    np.testing.assert_array_equal(found, d)


def test_only_what_is_negative_changes_its_sign():
    number, unknown = ir.Var("t", Scalar(np.dtype(float))), ir.Var("x", Opaque(None))
    for other in (unknown, ir.Var("y", Scalar(np.dtype(float)))):
        for function in (operator.add, operator.sub):
            for args in ((number, other), (other, number)):
                s = ir.Assign(ir.Var("z", Scalar(np.dtype(float))), function, args)
                found = signs._turned(s, number)
                if other is unknown or (function is operator.sub and args[0] is number):
                    assert found is None
                else:
                    sign = operator.add if function is operator.sub else operator.sub
                    assert found == (sign, (other, number))


def test_what_a_sum_begins_with_keeps_its_sign():
    def total(v):
        return np.sum(v)

    @adjoint(total)
    def rule(v, *, out, d_out):
        return np.sum(-v, initial=5.0) * np.ones(v.shape)

    np.testing.assert_allclose(grad(lambda v: total(2 * v))(W), 2 * (5 - np.sum(2 * W)))
