"""Exceptions that pass through a `finally`, the end of a `with` or a loop until they are caught."""

import contextlib
import functools
import json
import math

import numpy as np
import pytest

import srcgrad
from srcgrad.testing import check_grads
from tests.small_programs import check, programs


class Tripling:
    def __init__(self, value):
        self.value = value

    def __enter__(self):
        return self

    def __exit__(self, *how):
        self.value = self.value * 3


class Telling(Tripling):
    def __exit__(self, kind, error, trace):
        self.value = self.value * (5 if kind is not None else 7)


class Ending(Tripling):
    def __exit__(self, *how):
        self.value = self.value * 11
        return True


@contextlib.contextmanager
def noted(items):
    items.append(1.0)
    try:
        yield items
    finally:
        items.append(4.0)


def finally_on_the_way(x):
    y = x[0]
    try:
        try:
            raise ValueError
        finally:
            y = y * 2
    except ValueError:
        y = y + x[1]
    return y * x[2]


def finally_on_the_way_of_a_key_error(x):
    table = {"a": x[0]}
    try:
        try:
            v = table["q"]
        finally:
            table["a"] = x[1]
    except KeyError:
        v = x[2]
    return v * table["a"]


def finally_that_returns(x):
    def inner():
        try:
            try:
                raise ValueError
            finally:
                return x[1] * 3  # noqa: B012
        except ValueError:
            return x[0]

    return inner() * x[2]


def with_on_the_way(x):
    t = Tripling(x[0])
    try:
        with t:
            raise ValueError
    except ValueError:
        pass
    return t.value * x[1]


def several_withs_on_the_way(x):
    a, b = Tripling(x[0]), Telling(x[1])
    try:
        with a, b as c:
            c.value = c.value * x[2]
            raise ValueError
    except ValueError:
        a.value = a.value + b.value
    return a.value * b.value


def a_with_ends_the_exception(x):
    a, b = Telling(x[0]), Ending(x[1])
    y = x[2]
    try:
        with a, b:
            y = y * 2
            raise ValueError
        y = y * 13
    except ValueError:
        y = y * 17
    return a.value * b.value * y


def told_that_nothing_was_raised(x):
    with Telling(x[0]) as t:
        pass
    return t.value * x[1]


def a_generator_with_finally(x):
    items = [x[0]]
    try:
        with noted(items):
            raise ValueError
    except ValueError:
        items.append(x[1])
    return sum((i + 1) * v for i, v in enumerate(items))


def suppressed(x):
    y = x[0]
    with contextlib.suppress(ValueError, KeyError):
        if x[0] > -100:
            raise ValueError
        y = x[1]
    return y * x[2]


def not_to_be_suppressed(x):
    y = x[0]
    with contextlib.suppress(ValueError), Telling(x[1]) as t:
        y = x[2] * t.value
    return y * t.value


def finally_where_only_the_run_knows(x):
    y = x[0]
    try:
        try:
            if x[1] > 0.5:
                raise ValueError
        finally:
            y = y * 5
    except ValueError:
        y = y + x[1]
    return y * x[2]


def a_quotient_where_there_is_no_matrix(x):
    total = 0.0
    for gain in (x[0] * x[1], x[:1], x[2] * np.eye(2)):
        try:
            total += np.sum(gain @ np.linalg.inv(gain))
        except (np.linalg.LinAlgError, ValueError):
            total += np.sum(x[2] / gain)
    try:
        return total * np.dot(x[0], np.linalg.cholesky(x)[0])
    except np.linalg.LinAlgError:
        return total * x[1]


def with_where_only_the_run_knows(x):
    t = Telling(x[0])
    try:
        with t:
            np.linalg.cholesky(np.eye(2) * (0.5 - x[1]))
    except np.linalg.LinAlgError:
        pass
    return t.value * x[1]


class Holding(Exception):
    def __init__(self, value):
        super().__init__("text")
        self.value = value


def held_by_an_exception(x):
    try:
        raise Holding(x[0] * 2)
    except Holding as error:
        return error.value * x[1]


@contextlib.contextmanager
def doubling(items):
    items[0] = items[0] * 2
    yield
    items[0] = items[0] + 1


def returned_from_a_with(x):
    items = [x[0]]

    def inner():
        with doubling(items):
            return x[1] * items[0]

    return inner() * items[0]


def left_by_break_and_continue(x):
    items = [x[0]]
    y = 0.0
    for i in range(len(x)):
        with doubling(items):
            if x[i] < 0.5:
                continue
            if x[i] < 0.7:
                break
            y = y + x[i] * items[0]
    return y * items[0]


def texts_that_are_no_numbers(x):
    total = 0.0
    for i, text in enumerate(["1.5", "n/a", None]):
        try:
            value = float(text)
        except (TypeError, ValueError):
            value = x[0]
        total += x[i] * value
    for text in ("2", "two", "0"):
        try:
            i = int(text)
        except ValueError:
            continue
        finally:
            total += x[1] ** 2
        total += x[i]
    return total


class Rotation:
    """Of a number, or of a sequence of four."""

    def __init__(self, given):
        try:
            self.q = np.array([float(given), 0.0, 0.0, 0.0])
            return
        except TypeError:
            pass
        if len(given) != 4:
            raise ValueError("four numbers are needed")
        self.q = np.asarray([float(v) for v in given])


def numbers_or_sequences_of_them(x):
    q = Rotation(np.append(x, 2.0)).q
    return np.dot(q, Rotation(np.linalg.norm(q)).q) + np.sum(Rotation(x[1]).q ** 2)


def domains_that_are_known(x):
    try:
        value = math.sqrt(-1)
    except ValueError:
        value = x[0]
    return value * x[1]


def operators_of_what_they_do_not_take(x):
    total, nothing = x[0], None
    try:
        total = total + np.sum(nothing + x)
    except TypeError:
        total = total * x[1]
    try:
        total = total @ x[2]
    except Exception:
        total = total + x[2]
    try:
        total = total + np.sum([1.0, 2.0] * np.sum(x))
    except TypeError:
        total = total * x[2]
    return total


TEXT, MANY = "abc", [0.5] * 30


def indices_that_are_none(x):
    total = x[0]
    for values in (TEXT, MANY, [x[1]], (x[1], x[2]), x, 2.0, None):
        try:
            total = total + values["a"]
        except (TypeError, IndexError):
            total = total * x[1]
    try:
        total = total * len(TEXT[3])
    except IndexError:
        total = total + x[2]
    return total


def lists_beside_none(x):
    parts, nothing = [], None
    try:
        parts = nothing + parts
    except TypeError:
        parts = [x[0], x[1]]
    try:
        parts = parts - nothing
    except TypeError:
        parts.append(x[2])
    return parts[0] * parts[1] * parts[-1]


@pytest.mark.parametrize("f", programs(globals()), ids=lambda f: f.__name__)
def test_program(f):
    check(f)


class Stop(Exception):
    pass


class Full(Stop):
    pass


def raised_in_a_loop(x):
    total = 0.0
    try:
        for v in x:
            if v < -1:
                raise Stop
            total += v**2
    except Stop:
        total *= 3
    return total


def one_of_two_handlers(x):
    total = 0.0
    try:
        for i in range(len(x)):
            if x[i] < -1:
                raise KeyError(i)
            if x[i] > 1:
                raise ValueError
            total += x[i] ** 2
    except KeyError:
        total *= 3
    except ValueError:
        total *= 5
    return total


def out_of_two_loops(x):
    total = 0.0
    try:
        for i in range(len(x)):
            for j in range(i):
                if x[i] * x[j] < -1:
                    raise Stop
                total += x[i] * x[j]
            total *= 1.1
        total += x[2]
    except Stop:
        total = total * 3 + x[0]
    else:
        total *= 7
    finally:
        total += x[1]
    return total


def left_in_every_way(x):
    total = 0.0
    for k in range(2):
        try:
            for v in x:
                if v > 3:
                    return total
                if v < -1 - k:
                    raise Stop
                if v > 1 + k:
                    break
                if v < 0:
                    continue
                total += v * (k + 1)
            total += x[1]
        except Stop:
            total *= 2
            continue
        total += x[k] ** 2
    return total + x[3]


def through_an_inner_try(x):
    total = 0.0
    try:
        try:
            for v in x:
                if v < -1:
                    raise Full
                total += v
        except KeyError:
            total = 0.0
        finally:
            total *= 2
        total += x[0]
    except Stop:
        total += x[2] * total
    return total


def raised_again_as_another(x):
    total = 0.0
    try:
        try:
            for v in x:
                if v < -1:
                    raise Stop
                total += v
        except Stop:
            total *= 2
            raise KeyError from None
    except KeyError:
        total += x[2] * total
    return total


def within_branches(x):
    total = 0.0
    try:
        if x[0] > 0:
            twice = x[0] * 2
            if twice > 1:
                raise Stop
            total += twice
        total += 5 * x[1]
    except Stop:
        total += x[2]
    return total


def by_a_function_that_is_called(x):
    def root(v):
        if v < 0:
            raise Stop
        return v * v

    total = 0.0
    try:
        for v in x:
            total += root(v)
    except Stop:
        total *= 3
    return total


def by_functions_of_the_library(x):
    total = 0.0
    try:
        for i in range(10):
            total += math.log(x[i]) * x[i - 1]
    except ValueError:
        total = total * 2 + x[1]
    except IndexError:
        total = total * 5
    try:
        for k in range(2):
            total += np.linalg.cholesky(np.outer(x[:2], x[:2]) + (0.5 - 0.8 * k) * np.eye(2))[0, 0]
    except np.linalg.LinAlgError:
        total *= x[1]
    return total


def where_it_is_written(x):
    y, kept = np.zeros(len(x)), []
    try:
        for i in range(len(x)):
            y[i] = x[i] ** 2
            kept.append(y[i] * x[0])
            if y[i] > 1:
                raise Stop
            y[i] += x[0]
    except Stop:
        y *= 2
        y[-1] = x[3]
    return y @ np.arange(4.0) + sum((i + 1) * v for i, v in enumerate(kept))


LEAVING = [
    raised_in_a_loop,
    one_of_two_handlers,
    out_of_two_loops,
    left_in_every_way,
    through_an_inner_try,
    raised_again_as_another,
    within_branches,
    by_a_function_that_is_called,
    by_functions_of_the_library,
    where_it_is_written,
]


@pytest.mark.parametrize("f", LEAVING, ids=lambda f: f.__name__)
def test_out_of_a_loop(f):
    for x in (
        [0.4, 0.9, 0.3, 0.7],
        [0.4, 1.2, -1.3, 0.7],
        [-2.1, 0.2, 0.3, 0.5],
        [0.2, 0.7, 0.3, -1.4],
    ):
        check_grads(f, (np.array(x),), order=1)


def test_an_assert_in_a_loop():
    text = """def f(x):
    total = 0.0
    try:
        for v in x:
            assert v > -1, "too low"
            total += v**2
    except AssertionError:
        total *= 3
    return total
"""
    f = srcgrad.grad(define(text), source=text)
    np.testing.assert_allclose(f(np.array([0.4, 0.9])), [0.8, 1.8])
    np.testing.assert_allclose(f(np.array([0.4, 0.9, -2.0, 5.0])), [2.4, 5.4, 0.0, 0.0])


def define(text):
    """A function from its text, whose assertions pytest doesn't rewrite."""
    namespace = {}
    exec(text, namespace)
    return namespace["f"]


@pytest.mark.parametrize(
    ("f", "x"),
    [
        (math.log, -1.0),
        (math.log, 0.0),
        (math.log2, -1.0),
        (math.log10, -1.0),
        (math.log1p, -2.0),
        (math.acos, 2.0),
        (math.asin, -2.0),
        (math.acosh, 0.5),
        (math.acosh, -3.0),
        (math.atanh, 1.0),
        (math.atanh, 2.0),
        (math.lgamma, -2.0),
        (lambda x: math.pow(x, 0.5), -1.0),
        (lambda x: math.fmod(x, 1.0), math.inf),
        (lambda x: x**-1.0, 0.0),
        (lambda x: sum(math.log(v) for v in [x, x + 1]), -0.5),
    ],
)
def test_outside_of_the_domain(f, x):
    with pytest.raises((ValueError, ZeroDivisionError)) as expected:
        f(x)
    with pytest.raises(type(expected.value)):
        srcgrad.grad(lambda x: f(x))(x)


def test_a_domain_is_checked_only_where_nothing_else_does():
    def used(x):
        return math.log(x) * x

    gradient = srcgrad.grad(used)
    assert gradient(1.0) == 1.0
    assert "    math.log(x)\n" not in gradient.source
    value, slope = srcgrad.value_and_grad(lambda x: math.log(x))(0.5)
    assert (value, slope) == (math.log(0.5), 2.0)
    assert srcgrad.grad(lambda x: math.pow(x, 2))(-3.0) == -6.0


def test_the_domain_within_a_try():
    def f(x):
        try:
            return math.log(x[1])
        except ValueError:
            return x[0] ** 2

    np.testing.assert_allclose(srcgrad.grad(f)(np.array([3.0, 2.0])), [0.0, 0.5])
    np.testing.assert_allclose(srcgrad.grad(f)(np.array([3.0, -2.0])), [6.0, 0.0])


def asserted(x, limit):
    y = 2 * x
    np.testing.assert_allclose(y, x + x, rtol=1e-12)
    np.testing.assert_array_less(x[0], limit, err_msg=f"{x.size} numbers")
    return np.sum(y * y)


def test_the_assertions_of_numpy_are_made_by_the_gradient():
    x = np.array([0.5, 2.0])
    check_grads(asserted, (x, 1.0))
    for derivative in (srcgrad.grad(asserted), srcgrad.value_and_grad(asserted)):
        with pytest.raises(AssertionError, match="2 numbers"):
            derivative(x, 0.1)


def ends_of_an_interval(x, q):
    a, b = np.asarray(x), np.asarray(q)
    try:
        return np.sum(np.r_[a[0] - b[1], a[1] ** 2])
    except Exception:
        return np.sum(a * b)


def text_of_the_error(x):
    y = np.sum(x)
    try:
        return y[0, None, 1:]
    except IndexError:
        pass
    try:
        return x[0, 1]
    except IndexError as error:
        return y * len(str(error))


@pytest.mark.parametrize(
    ("f", "args"),
    [
        (ends_of_an_interval, (np.array([0.5, 2.0]), np.array([1.0, 0.3]))),
        (ends_of_an_interval, (0.5, 0.7)),
        (ends_of_an_interval, (np.ones((2, 2)), 1.5)),
        (text_of_the_error, (np.array([0.5, 2.0]),)),
    ],
)
def test_too_many_indices_are_known_to_be_when_compiling(f, args):
    check_grads(f, args)


def refused(message):
    raise ValueError(message)


def either_way_an_exception(x, limit):
    if x[1] > limit:
        x = refused("positive") if x[0] > 0 else refused("negative")
    return np.sum(x * x)


def test_an_expression_of_which_each_branch_raises():
    x = np.array([0.5, 2.0])
    check_grads(either_way_an_exception, (x, 3.0))
    for sign, message in ((1, "positive"), (-1, "negative")):
        with pytest.raises(ValueError, match=message):
            srcgrad.grad(either_way_an_exception)(sign * x, -9.0)


def halves(x, mode):
    if mode == "halves":
        parts = x / 2, 2.0
    else:
        raise ValueError(f"no mode {mode!r}")
    return parts


def unpacked(x, mode):
    half, two = halves(x, mode)
    return np.sum(half**2) * two


def looped(x, mode):
    total = 0.0
    for part in halves(x, mode):
        total = total + np.sum(part)
    return total


def subscripted(x, mode):
    return halves(x, mode)[0].sum() if x.size > 1 else np.sum(x)


def caught(x, mode):
    try:
        half, _ = halves(x, mode)
    except ValueError:
        half = x * 3
    return np.sum(half**2)


@pytest.mark.parametrize("f", [unpacked, looped, subscripted])
def test_nothing_is_done_with_what_a_function_returns_that_surely_raises(f):
    check_grads(f, (np.array([0.5, 2.0]), "halves"))
    with pytest.raises(ValueError, match="no mode 'thirds'"):
        srcgrad.grad(f)(np.array([0.5, 2.0]), "thirds")


def test_what_a_function_surely_raises_is_caught():
    check_grads(caught, (np.array([0.5, 2.0]), "halves"))
    check_grads(caught, (np.array([0.5, 2.0]), "thirds"))


@pytest.mark.parametrize("derivative", [srcgrad.grad, srcgrad.hessian, lambda f: srcgrad.hvp(f)])
def test_a_gradient_within_raises_what_its_function_surely_raises(derivative):
    def steep(x):
        first, second = x
        return first * second

    def f(x):
        return np.sum(srcgrad.grad(steep)(x) ** 2)

    args = (np.ones(3),) if derivative in (srcgrad.grad, srcgrad.hessian) else (np.ones(3),) * 2
    with pytest.raises(ValueError, match="values to unpack"):
        derivative(f)(*args)


def test_a_name_that_is_defined_nowhere_matters_where_it_is_read():
    namespace = {"np": np}
    text = """
def f(x):
    if x[0] > 1.0:
        x = scaled(x)
    return np.sum(x**2)
"""
    exec(text, namespace)
    gradient = srcgrad.grad(namespace["f"], source=text)
    small, large = np.array([0.5, 3.0]), np.array([1.5, 3.0])
    np.testing.assert_allclose(gradient(small), 2 * small)
    with pytest.raises(NameError, match="'scaled' is not defined"):
        gradient(large)
    namespace["scaled"] = lambda x: 3.0 * x
    np.testing.assert_allclose(gradient(large), 18 * large)


def scaled_where_wanted(x, wanted=False):
    if wanted:
        scale = 2.0
    if x[0] > 1.0:
        x = x * scale
    return np.sum(x**2)


def warned_by_a_closure(x, full_output=False):
    if full_output:
        notes = {}

    def inner(x):
        if x[0] > 1.0:
            notes["warning"] = "large"
        return np.sum(x**2)

    return inner(x)


def scaled_in_a_loop(x, wanted=False):
    if wanted:
        scale = 2.0
    for _ in range(3):
        if x[0] > 1.0:
            x = scale * x
        x = x * 1.0
    return np.sum(x**2)


def warned_by_a_recursion(x, n=3, full_output=False):
    if full_output:
        notes = []
    if n == 0:
        return np.sum(x**2)
    if x[0] > 1.0:
        notes.append("large")
    return warned_by_a_recursion(x, n - 1)


@pytest.mark.parametrize(
    "f", [scaled_where_wanted, warned_by_a_closure, scaled_in_a_loop, warned_by_a_recursion]
)
def test_a_variable_that_never_has_a_value_matters_where_it_is_used(f):
    gradient = srcgrad.grad(f)
    small, large = np.array([0.5, 3.0]), np.array([1.5, 3.0])
    np.testing.assert_allclose(gradient(small), 2 * small)
    with pytest.raises(NameError):
        f(large)
    with pytest.raises(NameError, match="is used before it is assigned"):
        gradient(large)


def test_a_variable_that_has_a_value_from_the_second_iteration_on():
    def f(x, n):
        for i in range(n):
            if i > 0:
                x = x * last  # noqa: F821
            last = np.sin(x)  # noqa: F841
        return np.sum(x)

    x = np.array([0.5, 0.3])
    srcgrad.testing.check_grads(lambda x: f(x, 4), (x,))
    srcgrad.testing.check_grads(lambda x: f(x, 1), (x,))


def caught_by_name(x):
    try:
        y = x[5]
    except IndexError:
        y = 3.0 * x[0]
    return y * x[1]


def caught_with_others(x):
    try:
        y = x[5]
    except Exception:
        y = 3.0 * x[0]
    return y * x[1]


def caught_with_all(x):
    try:
        y = x[5]
    except:  # noqa: E722
        y = 3.0 * x[0]
    return y * x[1]


@pytest.mark.parametrize("f", [caught_by_name, caught_with_others, caught_with_all])
def test_a_position_that_is_not_there(f):
    short, long = np.array([2.0, 5.0]), np.arange(1.0, 8.0)
    gradient = srcgrad.value_and_grad(f)
    value, found = gradient(short)
    assert (value, found.tolist()) == (30.0, [15.0, 6.0])
    value, found = gradient(long)
    assert (value, found.tolist()) == (12.0, [0.0, 6.0, 0.0, 0.0, 0.0, 2.0, 0.0])


def with_the_best_module(x):
    try:
        import no_such_module as module
    except ModuleNotFoundError:
        import numpy as module
    return np.sum(module.sin(x))


def with_the_best_function(x):
    try:
        from numpy import no_such_function as function
    except ImportError:
        from numpy import tanh as function
    return np.sum(function(x))


def with_a_module_where_it_is_needed(x):
    if x[0] > 5.0:
        from no_such_package.inner import function

        return function(x)
    return np.sum(x**3)


@pytest.mark.parametrize(
    "f", [with_the_best_module, with_the_best_function, with_a_module_where_it_is_needed]
)
def test_modules_that_are_not_there(f):
    srcgrad.testing.check_grads(f, (np.array([0.5, 3.0]),))


def test_a_module_that_is_not_there_is_missed_where_it_is_imported():
    with pytest.raises(ModuleNotFoundError, match="no_such_package"):
        srcgrad.grad(with_a_module_where_it_is_needed)(np.array([6.0, 3.0]))


def test_an_array_has_no_methods_of_numbers():
    def is_whole(thing):
        try:
            return thing.is_integer()
        except AttributeError:
            return False

    def f(x):
        return np.sum(x * 2.0) if not is_whole(x) else np.sum(x)

    np.testing.assert_array_equal(srcgrad.grad(f)(np.ones(2)), [2, 2])
    assert srcgrad.grad(f)(np.float64(0.5)) == 2
    assert srcgrad.grad(f)(3.0) == 1


def sorting_a_text_and_a_number(x):
    items = ["a", 1]
    try:
        items.sort()
    except TypeError:
        return x[0] * x[1]
    return x[2]


def the_largest_of_a_text_and_a_number(x):
    try:
        return x[0] * len(max(["a", 1]))
    except TypeError:
        return x[0] * x[1]


def instances_of_no_class(x):
    try:
        return x[2] if isinstance(x, (int, "array")) else x[0]
    except TypeError:
        return x[0] * x[1]


def instances_of_a_class_before_one_that_is_none(x):
    return x[0] * x[1] if isinstance(x, (np.ndarray, "array")) else x[2]


def ranges_to_a_float(x):
    total = x[0]
    for stop in (2, 2.0):
        try:
            for _ in range(stop):
                total = total * x[1]
        except TypeError:
            total = total * x[2]
    return total


def ranges_to_a_float_of_the_run(x):
    total = x[0]
    try:
        for _ in range(int(x[1] > 0), x[1]):
            total = total * x[1]
    except TypeError:
        total = total * x[2]
    return total


def enumerated_from_a_float(x):
    try:
        return sum(k * v for k, v in enumerate([x[0], x[1]], 1.5))
    except TypeError:
        return x[0] * x[2]


def ordered_with_what_cannot_be(x):
    total = 0.0
    for i in range(len(x)):
        other = x[i] if x[i] > 0.9 else None
        for pair in ((int(x[i] > 1.1), other), (x[i] if x[i] > 1.5 else "a", 2)):
            try:
                total += x[0] * (x[1] if (1, x[0]) < pair else x[2])
            except TypeError:
                total += x[i] * 0.3
    return total


def compared_for_nothing(x):
    total = 0.0
    for other in (2.0 * x[0], "a"):
        try:
            x[1] < other  # noqa: B015
            total += x[0]
        except TypeError:
            total += x[1] ** 2
    return total


def sorted_where_the_order_changes_nothing(x):
    try:
        return x[0] * len(sorted([(x[1], "a"), (x[1], 2)]))
    except TypeError:
        return x[1] ** 2


def doubled(v):
    return 2.0 * v


def pairs_of_one_function(x):
    """They are equal, so which of them is less isn't asked."""
    pairs = sorted([(x[1], doubled), (x[1], doubled), (x[0], abs)])
    return pairs[0][1](x[0]) * pairs[2][1](x[1])


def equal_to_what_may_be_no_number(x):
    total = 0.0
    for v in x:
        other = v if v > 0.9 else "a"
        try:
            total += v if other == 1 else v**2
        except TypeError:
            total += 3.0 * v
    return total


@pytest.mark.parametrize(
    "f",
    [
        compared_for_nothing, sorted_where_the_order_changes_nothing, pairs_of_one_function,
        equal_to_what_may_be_no_number,
        sorting_a_text_and_a_number, the_largest_of_a_text_and_a_number, instances_of_no_class,
        instances_of_a_class_before_one_that_is_none, ranges_to_a_float,
        ranges_to_a_float_of_the_run, enumerated_from_a_float, ordered_with_what_cannot_be,
    ],
    ids=lambda f: f.__name__,
)  # fmt: skip
def test_what_builtin_functions_raise(f):
    check(f)


def test_the_length_of_a_range_to_a_float():
    with pytest.raises(TypeError, match="'float' object cannot be interpreted as an integer"):
        srcgrad.grad(lambda x, n: x * len(range(n)))(1.0, 2.0)
    with pytest.raises(srcgrad.UnsupportedError, match="not supported between instances"):
        srcgrad.grad(lambda x: x * len(sorted(["a", 1])))(1.0)


def test_ranges_of_what_is_no_int_raise():
    def steps(x, n):
        for _ in range(n):
            x = 2.0 * x
        return np.sum(x**2)

    def caught(x, n):
        try:
            return steps(x, n)
        except TypeError:
            return 3.0 * np.sum(x)

    def unasked(x, n):
        return np.sum(x**3) if n is None else steps(x, n)

    x = np.array([0.5, 1.5])
    for wrong in (None, "3"):
        np.testing.assert_allclose(srcgrad.grad(caught)(x, wrong), [3.0, 3.0])
        with pytest.raises((TypeError, srcgrad.UnsupportedError), match="as an integer"):
            srcgrad.grad(steps)(x, wrong)
    check_grads(lambda x: unasked(x, None) + caught(x, 2), (x,))


@pytest.mark.parametrize("x", [np.array([0.5, 1.5]), np.array([1.5]), np.array(1.5)])
def test_the_truth_of_several_numbers_is_caught(x):
    """`if` asks an array: the exception is the one that the try around it expects."""

    def above(y):
        return 3.0 * y if y > 1.0 else y**2

    def tried(x):
        try:
            return np.sum(above(x))
        except ValueError:
            return np.sum(x**3)

    def rows(x):
        total, failed = 0.0, 0
        for row in (x, x[..., None], 2.0):
            try:
                total = total + np.sum(above(row) * x)
            except Exception:
                failed += 1
        return total + failed * np.sum(x)

    def shrunk(x):
        try:
            while x > 0.7:
                x = 0.5 * x
        except ValueError:
            return np.sum(x) * 4.0
        return np.sum(x**2)

    for f in (tried, rows, shrunk):
        check_grads(f, (x,))


def test_an_array_without_axes_is_asked_for_its_items():
    def scaled(x):
        try:
            iter(x)
        except TypeError:
            return 3.0 * x
        return np.sum(x**2)

    def summed(x):
        try:
            return sum(v**2 for v in x)
        except TypeError:
            return 3.0 * x

    for f in (scaled, summed):
        assert srcgrad.grad(f)(np.array(0.5)) == 3.0
        assert srcgrad.grad(f)(0.5) == 3.0
        np.testing.assert_allclose(srcgrad.grad(f)(np.array([0.5, 1.5])), [1.0, 3.0])


def test_what_a_module_raises_when_it_is_imported(tmp_path, monkeypatch):
    (tmp_path / "module_that_fails.py").write_text("raise TypeError('layout conflict')\n")
    monkeypatch.syspath_prepend(tmp_path)

    def here(x):
        import module_that_fails

        return module_that_fails.scale * x

    def from_there(x):
        from module_that_fails import scale

        return scale * x

    def caught(x):
        try:
            import module_that_fails
        except TypeError:
            return 3 * x
        return module_that_fails.scale * x

    for f in (here, from_there):
        with pytest.raises(TypeError, match="layout conflict"):
            f(2.0)
        with pytest.raises(srcgrad.UnsupportedError, match="layout conflict"):
            srcgrad.grad(f)(2.0)
    assert srcgrad.grad(caught)(2.0) == 3.0


def function_of_none(x, flag):
    y = x * x if flag > 0 else None
    try:
        if math.isnan(y):
            return 3.0 * x
        return y * math.exp(y)
    except ValueError:
        return 5.0 * x
    except TypeError:
        return 7.0 * x


def function_of_none_alone(x, flag):
    y = None
    try:
        return x * math.exp(y)
    except (TypeError, ArithmeticError):
        return 11.0 * x * flag


@pytest.mark.parametrize("f", [function_of_none, function_of_none_alone])
@pytest.mark.parametrize("flag", [1.0, -1.0])
def test_a_function_of_numbers_fails_given_none(f, flag):
    check_grads(f, (0.7, flag), order=1, argnums=0)


@pytest.mark.parametrize("extreme", [np.argmax, np.argmin, np.nanargmax, np.ptp])
def test_extremes_of_lists_without_items_are_caught(extreme):
    def f(x):
        positive = [v for v in x if v > 0]
        try:
            place = extreme(positive)
        except ValueError:
            place = 5
        return x[0] * (x[1] + round(place))

    for x in (np.array([-1.0, 2.0, 3.4]), np.array([-1.0, -2.0, -3.4])):
        slopes = [(f(x + e) - f(x - e)) / 2e-6 for e in 1e-6 * np.eye(3)]
        np.testing.assert_allclose(srcgrad.grad(f)(x), slopes, rtol=1e-6)


EXTREMES_OF_MANY = {
    "key": lambda items: min(items, key=lambda v: -v),
    "pairs": lambda items: max((v, k) for k, v in enumerate(items))[0],
    "zip": lambda items: min(zip(items, items, strict=True))[1],
    "arrays": lambda items: max([v * np.ones(2) for v in items], key=lambda a: a[0])[1],
}


@pytest.mark.parametrize("name", [*EXTREMES_OF_MANY, "reduce"])
def test_nothing_to_choose_from_or_to_combine(name):
    """IndexError was raised, so that a try around it caught nothing, or what it shouldn't."""
    use, error = EXTREMES_OF_MANY.get(name), ValueError
    if use is None:
        use, error = lambda items: functools.reduce(lambda a, b: a * b, items), TypeError

    def f(x, caught):
        positive = [v for v in x if v > 0]
        try:
            found = use(positive)
        except caught:
            found = 2.0
        return found * x[0]

    for x in (np.array([-1.0, 2.0, 3.4]), np.array([-1.0, -2.0, -3.4])):
        slopes = [(f(x + e, error) - f(x - e, error)) / 2e-6 for e in 1e-6 * np.eye(3)]
        np.testing.assert_allclose(srcgrad.grad(f)(x, error), slopes, rtol=1e-6)
        np.testing.assert_allclose(srcgrad.grad(f)(list(x), error), slopes, rtol=1e-6)
    for g in (f, srcgrad.grad(f)):
        with pytest.raises(error):
            g(np.array([-1.0, -2.0, -3.4]), IndexError)


def stored(x):
    x[0] = 3.0
    return x


MEANT_FOR_ARRAYS = {
    "indexed": lambda x: x[x > 3],
    "stored": stored,
    "unpacked": lambda x: [a * b for a, b in [x]],
    "counted": lambda x: x * len(x),
    "called": lambda x: x(),
    "gone through": lambda x: sum(x),
    "a text": lambda x: x + "a",
}


@pytest.mark.parametrize("use", MEANT_FOR_ARRAYS.values(), ids=MEANT_FOR_ARRAYS)
def test_what_numbers_cannot_do_matters_where_it_is_done(use):
    """Functions of numbers and arrays wrap angles so: `if np.any(wrap): lat[wrap] = ...`."""

    def on_a_branch(x):
        if np.any(x > 3):
            x = use(x)
        return x * x

    def after_a_return(x):
        if x < 3:
            return x * x
        return use(x)

    for f in (on_a_branch, after_a_return):
        assert srcgrad.value_and_grad(f)(2.0) == (f(2.0), 4.0)
        for g in (f, srcgrad.grad(f)):
            with pytest.raises(TypeError):
                g(4.0)


def test_what_a_number_surely_cannot_do_is_refused():
    with pytest.raises(srcgrad.UnsupportedError, match=r"\n +\^\^\^\^\na number can't be indexed"):
        srcgrad.grad(lambda x: x * x[0])(2.0)


def test_what_is_known_only_to_the_run_raises_nothing_of_the_compiler():
    """Nothing is said of an operand of which there is no sample: it may be a number."""

    def f(x, text):
        mass = json.loads(text)["mass"]
        try:
            if mass < 0.001:
                return x
        except Exception as error:
            print(error.message)
            raise
        return x * x * 3

    gradient = srcgrad.grad(f)
    assert gradient(2.0, '{"mass": 0.5}') == 12.0
    for g in (f, gradient):
        with pytest.raises((AttributeError, TypeError)):
            g(2.0, '{"mass": "heavy"}')


def test_handlers_that_only_raise_again():
    """They needn't know what fails; others before them, and around, still do."""

    def layer(rows, v, k):
        try:
            y = rows[k] * v[k]
        except Exception as e:
            raise e from RuntimeError(f"in layer {k}")
        else:
            y = y * 2.0
        finally:
            v[0] += 1.0
        return y

    def f(x, k):
        v = x * 1.0
        y = layer([x[0], x[1] ** 2], v, k)
        return y + layer([x[0], x[1] ** 2], v, 0) + v[0]

    def passing(x, k):
        try:
            return x[k] * 3.0
        except IndexError:
            raise
        except Exception:
            return x[0]

    def caught(x, k):
        v = x * 1.0
        try:
            try:
                y = v[k] * 3.0
            except ValueError:
                y = 1.0
            except IndexError:
                raise
        except LookupError:
            y = v[0] ** 2
        return y

    x = np.array([0.7, 1.3])
    for function in (f, passing, caught):
        gradient = srcgrad.value_and_grad(function)
        for k in (0, 1):
            assert gradient(x, k)[0] == function(x, k)
            check_grads(lambda v, f=function, k=k: f(v, k), (x,), order=1)
        assert ("fails(" in gradient.source) == (function is not f)
    for g in (f, passing, srcgrad.grad(f), srcgrad.grad(passing)):
        with pytest.raises(IndexError):
            g(x, 2)
    assert srcgrad.value_and_grad(caught)(x, 2)[0] == x[0] ** 2


def test_indices_inside_of_what_is_known_do_not_fail():
    def f(x):
        v = np.array([x[0], x[1], 2.0])
        try:
            return v[0] * v[-3] + np.outer(np.ones(3), v)[2].sum()
        except IndexError:
            return x[0]

    gradient = srcgrad.value_and_grad(f)
    x = np.array([0.7, 1.3])
    assert gradient(x)[0] == f(x)
    assert "fails(" not in gradient.source
    check_grads(f, (x,), order=1)
