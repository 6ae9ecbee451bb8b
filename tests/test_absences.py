"""Calls of functions that take None as well, by what is None in some runs."""

import numpy as np
import pytest

import srcgrad
from srcgrad.testing import check_grads

X = np.array([0.3, 0.8, 0.55])
A = np.arange(6.0).reshape(2, 3)


def along_the_axis(x, whole):
    axis = None if whole else 0
    total = np.cumsum(A * x, axis)
    return total[-1] * x[0] + np.ndim(total)


def shape_of_the_sum(x, whole):
    axis = None if whole else 1
    return x[0] * (2 if np.max(A * x, axis=axis).shape == () else 3)


def lengths(x, whole):
    n = None if whole else 2
    return np.sum(np.abs(np.fft.fft(x, n)) ** 2) + np.sum(np.clip(x, None if whole else 0.4, 2.0))


@pytest.mark.parametrize("whole", [False, True])
def test_an_option_that_may_be_none_is_what_it_is(whole):
    for f in (shape_of_the_sum, lengths):
        check_grads(f, (X, whole))
        assert srcgrad.value_and_grad(f)(X, whole)[0] == pytest.approx(f(X, whole))


def test_an_option_that_the_data_choose_has_the_rank_of_each():
    def f(x):
        axis = None if x[0] > 0.5 else 0
        return np.ndim(np.cumsum(A * x, axis)) * x[1]

    for x in (X, X + 1.0):
        value, gradient = srcgrad.value_and_grad(f)(x)
        assert value == f(x)
        assert gradient.tolist() == [0.0, f(x) / x[1], 0.0]


def the_length_chosen(x):
    n = 2 if x[0] > 1.0 else None
    spectrum = np.abs(np.fft.fft(x, n))
    return len(spectrum) * np.sum(spectrum) + np.sum(x[:n] ** 2) * x[:n].size


def lengths_returned(x):
    def length(v):
        return None if v > 0.5 else 2

    total = 0.0
    for v in x:
        spectrum = np.abs(np.fft.fft(x, length(v)))
        total += len(spectrum) * np.sum(spectrum)
    return total


@pytest.mark.parametrize("f", [the_length_chosen, lengths_returned])
def test_a_result_is_only_as_long_as_a_number_where_there_is_one(f):
    for x in (X, X + 1.0):
        check_grads(f, (x,))
        assert srcgrad.value_and_grad(f)(x)[0] == pytest.approx(f(x))


@pytest.mark.parametrize(
    "call",
    [
        lambda v, x: np.asarray(v).dtype == object,
        lambda v, x: np.array([v, x[1]]).dtype == object,
        lambda v, x: np.ravel(v).dtype == object,
        lambda v, x: np.full(2, v).dtype == object,
        lambda v, x: np.concatenate(([v], x)).dtype == object,
        lambda v, x: np.where(x > 0.5, v, 2.0).dtype == object,
        lambda v, x: np.array([v if i else x[0] for i in range(len(x))]).dtype == object,
    ],
)  # fmt: skip
def test_none_in_the_place_of_a_number_is_refused_in_the_run_that_has_it(call):
    """NumPy makes an array of objects of it."""

    def f(x):
        v = None if x[0] > 1.0 else x[0]
        return x[1] * (2.0 if call(v, x) else 3.0)

    gradient = srcgrad.grad(f)
    assert gradient(X).tolist() == [0.0, 3.0, 0.0]
    with pytest.raises(ValueError, match=r"test_absences.py:\d+: where this is None .* if x is"):
        gradient(X + 1.0)


def test_where_a_try_would_catch_that_it_is_refused():
    def f(x):
        v = None if x[0] > 1.0 else x[0]
        try:
            return np.sum(np.array([v, x[1]]))
        except TypeError:
            return 5.0 * x[1]

    with pytest.raises(srcgrad.UnsupportedError, match="where this is None") as info:
        srcgrad.grad(f)(X)
    assert "np.array([v, x[1]])" in str(info.value)


def test_what_is_known_to_be_there_and_methods_need_no_check():
    def f(x):
        best = None
        for v in x:
            if best is None or v > best:
                best = v
        row = x if x[0] < 1.0 else None
        if best is not None:
            return np.array([best, x[0]]) @ np.ones(2) + row.copy().sum()
        return x[0]

    check_grads(f, (X,))
    gradient = srcgrad.grad(f)
    gradient(X)
    assert "check_given" not in gradient.source
    with pytest.raises(AttributeError, match="'NoneType' object has no attribute"):
        srcgrad.value_and_grad(f)(X + 1.0)
