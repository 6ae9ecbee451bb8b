"""Exceptions of operations that leave a `finally` or a `with`, and are caught further out."""

import contextlib
import math

import numpy as np
import pytest

import srcgrad
import srcgrad.testing
from tests.small_programs import differences

X = np.array([0.3, 0.7, 1.1])


class Ending:
    def __init__(self):
        self.times = 1.0

    def __enter__(self):
        return self

    def __exit__(self, *how):
        self.times = self.times * 3
        return True


class Replacing(Ending):
    def __exit__(self, kind, error, trace):
        if kind is not None:
            raise KeyError("another")


@contextlib.contextmanager
def counted(log):
    log.append(1.0)
    try:
        yield log
    finally:
        log.append(2.0)


def a_with_that_ends_it(x, n):
    c, y = Ending(), x[1] * 3
    with c:
        y = x[n] * y
    return y * c.times


def a_finally_that_returns(x, n):
    t = 1.0

    def inner():
        nonlocal t
        try:
            return x[n]
        finally:
            t *= 3
            return x[0] * 2  # noqa: B012, SIM107

    return inner() * t


def a_finally_that_breaks(x, n):
    t = 1.0
    for i in range(3):
        try:
            t *= x[n + i]
        finally:
            if i == 1:
                break  # noqa: B012
            continue  # noqa: B012
    return t


def a_finally_that_raises_another(x, n):
    t = x[0]
    try:
        try:
            t *= x[n]
        finally:
            t *= 3
            raise ValueError
    except ValueError:
        t *= x[1]
    return t


def a_with_that_raises_another(x, n):
    t = x[0]
    try:
        with Replacing():
            t *= x[n]
    except KeyError:
        t *= x[1] * 5
    return t


def in_a_loop(x, n):
    t = 1.0
    try:
        for i in range(3):
            t *= x[n + i]
    except Exception:
        t *= x[0]
    return t


def in_a_branch(x, n):
    t = x[1]
    try:
        if n > 0:
            t = x[n] * 2
    except BaseException as error:
        t = t * x[0] * len(type(error).__name__)
    return t


def shapes_that_do_not_fit(x, n):
    log = []
    try:
        with counted(log):
            y = np.sum(x * np.ones(n + 1))
    except Exception:
        y = x[1]
    return y * sum(log)


def asked_in_a_callee(x, n):
    log = []

    def callee():
        try:
            log.append(x[0])
            return math.sqrt(x[1] - n)
        finally:
            log.append(3.0)

    try:
        y = callee()
    except ArithmeticError:
        y = x[0]
    except ValueError:
        y = x[2]
    return y * sum(log)


def suppressed_as_a_tuple(x, n):
    y = x[1]
    with contextlib.suppress((KeyError, IndexError), ValueError):
        y = x[n]
    return y


def a_position_that_is_never_there(x, n):
    t = x[0]
    for _ in range(n):
        items = [t, t]
        try:
            t += items[7]
        except LookupError:
            t *= x[1]
    return t


def a_pop_that_is_never_possible(x, n):
    items = [x[0], x[1]]
    try:
        return items.pop(5)
    except IndexError as error:
        return x[2] * len(str(error))


def keys_that_are_missing(x, n):
    try:
        return {"a": x[0]}["b"]
    except KeyError as error:
        return x[1] * len(str(error))


def one_of_several_classes(x, n):
    try:
        return math.pow(x[0], -900 * n) * x[1]
    except Exception as error:
        return x[2] * len(type(error).__name__)


def another_handler_after_all(x, n):
    try:
        try:
            return [0.5, 1.0, 0.0, 1e-300][n % 4] ** (-2.0) * x[0]
        except Exception:
            x = x * 2
            raise
    except ZeroDivisionError:
        return x[1]
    except OverflowError:
        return x[2]


def what_a_strict_zip_did_before(x, n):
    t = x[2]
    try:
        for u, v in zip(x, x[:n], strict=True):
            t += u * v
    except ValueError:
        t *= 2
    return t


def left_before_a_strict_zip_ends(x, n):
    t = x[2]
    try:
        for u, v in zip(x, x[:n], strict=True):
            t += u * v
            if u > 0.5:
                break
    except ValueError:
        t *= 2
    return t


def a_finally_that_sometimes_returns(x, n):
    def inner(v):
        try:
            if v > 1:
                raise ValueError
            if v > 0.5:
                return v
        finally:
            if n > 1:
                return 5 * v  # noqa: B012
        return v * 7

    t = 0.0
    for v in x:
        try:
            t += inner(v)
        except ValueError:
            t += v * 11
    return t


def a_finally_that_sometimes_continues(x, n):
    t = 1.0
    try:
        for i in range(4):
            try:
                t += x[i + n]
            finally:
                if t > 1.4:
                    continue  # noqa: B012
                t *= 1.1
            t += x[1]
    except IndexError:
        t *= 3
    return t


def a_finally_that_sometimes_breaks(x, n):
    t = 1.0
    for i in range(4):
        try:
            t += x[i % 3]
            if t > 1.5:
                continue
            t *= 2
        finally:
            if i == n:
                break  # noqa: B012
            t *= 1.1
        t += x[1]
    return t


def stored_in_another_shape(x, n):
    y = x * 2
    try:
        y[:] = np.ones(n) * x[0]
    except ValueError as error:
        y *= len(str(error))
    return np.sum(y)


def the_largest_of_none(x, n):
    try:
        return np.max(x[n:])
    except ValueError:
        return x[0] * max([v for v in x if v > n / 10])


def a_function_by_key(x, n):
    try:
        return {0: np.sin, 1: np.cos}[n](x[0])
    except KeyError as error:
        return x[1] * len(error.args)


PROGRAMS = [
    a_finally_that_sometimes_returns,
    a_finally_that_sometimes_continues,
    a_finally_that_sometimes_breaks,
    stored_in_another_shape,
    the_largest_of_none,
    a_function_by_key,
    one_of_several_classes,
    another_handler_after_all,
    what_a_strict_zip_did_before,
    left_before_a_strict_zip_ends,
    a_with_that_ends_it,
    a_finally_that_returns,
    a_finally_that_breaks,
    a_finally_that_raises_another,
    a_with_that_raises_another,
    in_a_loop,
    in_a_branch,
    shapes_that_do_not_fit,
    asked_in_a_callee,
    suppressed_as_a_tuple,
    a_position_that_is_never_there,
    a_pop_that_is_never_possible,
    keys_that_are_missing,
]


@pytest.mark.parametrize("f", PROGRAMS, ids=lambda f: f.__name__)
def test_program(f):
    run = srcgrad.value_and_grad(f)
    for n in (0, 1, 2, 5):
        value, gradient = run(X.copy(), n)
        expected = differences(lambda x, n=n: f(x, n), X)
        assert value == pytest.approx(f(X.copy(), n), rel=1e-12)
        np.testing.assert_allclose(gradient, expected, rtol=1e-6, atol=1e-8)
        direction = np.array([0.5, -1.0, 2.0])
        _, found = srcgrad.jvp(f, (X.copy(), n), (direction, None))
        assert found == pytest.approx(expected @ direction, rel=1e-6, abs=1e-8)


def test_the_text_of_what_only_python_knows_is_refused():
    def f(x):
        try:
            return x[0] + None
        except TypeError as error:
            return x[0] * len(str(error))

    with pytest.raises(srcgrad.UnsupportedError, match="what Python says of this exception"):
        srcgrad.grad(f)(X)


def test_a_name_that_a_handler_took_has_no_value():
    def by_a_handler(x):
        e = x[0]
        try:
            t = math.log(x[1])
        except ValueError as e:  # noqa: F841
            t = x[2]
        return t * e

    def by_del(x):
        e = x[0]
        if x[1] > 0:
            del e
        return e * 2

    kept, lost = np.array([2.0, 0.5, 1.0]), np.array([2.0, -0.5, 1.0])
    for f, there, gone, gradient in (
        (by_a_handler, kept, lost, [np.log(0.5), 4.0, 0.0]), (by_del, lost, kept, [2.0, 0.0, 0.0])
    ):  # fmt: skip
        with pytest.raises(UnboundLocalError, match="'e'"):
            f(gone)
        with pytest.raises(UnboundLocalError, match="'e'"):
            srcgrad.grad(f)(gone)
        np.testing.assert_allclose(srcgrad.grad(f)(there), gradient)


def test_a_class_that_only_the_run_knows_is_refused():
    def f(x, n):
        try:
            raise [KeyError, ValueError][n]("unknown")
        except LookupError:
            return x[0]

    with pytest.raises(srcgrad.UnsupportedError, match="the class of this exception"):
        srcgrad.grad(f)(X, 1)


def test_what_nobody_catches_is_done_once():
    class Timer(Ending):
        def __exit__(self, *how):
            self.times = 2.0
            return False

    def f(a, b):
        with Timer():
            y = np.linalg.solve(a, b)
        try:
            y = np.linalg.solve(a, y)
        finally:
            b = b * 2
        return np.sum(y * b)

    gradient = srcgrad.value_and_grad(f, (0, 1))
    gradient(np.eye(3) * 2, X)
    assert "fails" not in gradient.source


@pytest.mark.parametrize("n", [0, 1, 2, 5])
def test_numbers_that_are_indexed_may_be_numpys_or_pythons(n):
    def tried(v):
        try:
            return v[0] * 2.0
        except TypeError:
            return v * 3.0
        except IndexError:
            return v * 5.0

    def f(x):
        b = x[0]
        for j in range(n):
            b = tried(b) if x[j % 3] > 0.8 else 1.5
        return b * x[1]

    x = np.array([0.5, 0.7, 0.9])
    assert srcgrad.value_and_grad(f)(x)[0] == f(x)
    srcgrad.testing.check_grads(f, (x,), order=1)
