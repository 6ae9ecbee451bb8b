"""Names that no path to a read has bound: the derivative raises where the function does."""
# ruff: noqa: F821, F841

from __future__ import annotations

import numpy as np
import pytest

from srcgrad import UnsupportedError, grad, jvp, value_and_grad


class Holder:
    def __init__(self, held):
        self.held = held


def number_of_a_loop(x, n):
    for i in range(n):
        y = x * i
    return np.sum(y + x)


def downwards(x, n):
    for i in range(n, 0, -1):
        y = x * i
    return np.sum(y + x)


def array_of_a_branch(x, n):
    if n > 2:
        y = x * 3
    return np.sum(y + x)


def returned(x, n):
    for i in range(n):
        y = np.sum(x) * i
    return y


def of_a_while(x, n):
    while n > 2:
        y = x * n
        n -= 3
    return np.sum(x + y)


def with_a_break(x, n):
    for i in range(n):
        y = x * i
        if np.sum(x) > i:
            break
    return np.sum(x + y)


def left_before(x, n):
    for i in range(3):
        if n < 2:
            break
        y = x * i
    return np.sum(x + y)


def one_of_numpys_functions(x, n):
    if n > 2:
        f = np.sin
    return np.sum(f(x))


def function_of_its_own(x, n):
    if n > 2:

        def f(v):
            return v * x

    return np.sum(f(x))


def functions_in_a_loop(x, n):
    for i in range(n):

        def f(v, i=i):
            return v * i

    return np.sum(f(x))


def tuple_of_numbers(x, n):
    if n > 2:
        y = (3.0, 2.0)
    return np.sum(y[0] + x)


def list_of_arrays(x, n):
    if n > 2:
        y = [x, 2.0]
    return np.sum(y[0] + x)


def list_of_nothing(x, n):
    if n > 2:
        y = []
    return np.sum(x) + len(y)


def list_of_the_run(x, n):
    for i in range(n):
        y = [x]
        for k in range(i):
            y.append(x * k)
    return np.sum(y[0] + x)


def dict_of_arrays(x, n):
    if n > 2:
        y = {"a": x}
    return np.sum(y["a"] + x)


def object_of_a_class(x, n):
    if n > 2:
        y = Holder(x)
    return np.sum(y.held + x)


def text(x, n):
    if n > 2:
        y = "twice"
    return np.sum(x * 2) if y == "twice" else np.sum(x)


def nothing_known_of_it(x, n):
    if n > 2:
        y = None
    return np.sum(x) if y is None else np.sum(x * 2)


def slice_of_constants(x, n):
    if n > 2:
        y = slice(0, 1)
    return np.sum(x[y])


def augmented(x, n):
    if n > 2:
        y = x * 1
    y += x
    return np.sum(y)


def deleted_in_a_loop(x, n):
    y = x * 2
    for _ in range(n, 3):
        del y
    return np.sum(y + x)


def deleted_in_a_branch(x, n):
    y = x * 2
    if np.sum(x) > n:
        del y
    return np.sum(y + x)


def read_for_nothing(x, n):
    if n > 2:
        y = x * 2
    y  # noqa: B018
    return np.sum(x)


def given_another_name(x, n):
    if n > 2:
        y = x * 2
    z = y
    return np.sum(x)


def put_in_a_tuple(x, n):
    if n > 2:
        y = x * 2
    z = (y, x)
    return np.sum(z[1])


def passed_on(x, n):
    def second(a, b):
        return np.sum(b)

    if n > 2:
        y = x * 2
    return second(y, x)


def written_for_nothing(x, n):
    if n > 2:
        y = np.zeros(3)
    y[0] = x[0]
    return np.sum(x)


def after_an_exception(x, n):
    try:  # noqa: SIM105
        y = x[5 - n]
    except IndexError:
        pass
    return y + np.sum(x)


def read_further_in(x, n):
    def inside():
        return y + x

    if n > 2:
        y = x * 2
    return np.sum(inside())


def read_in_a_comprehension(x, n):
    if n > 2:
        y = x * 2
    return sum([np.sum(x + y) for _ in range(3)])


def in_a_function_that_is_shared(x, n):
    def longer(a):
        for i in range(n):
            b = a * i
        return b + a

    total = 0.0
    for _ in range(3):
        total = total + np.sum(longer(x))
    for _ in range(3):
        total = total + np.sum(longer(x * 2))
    return total


PROGRAMS = [
    number_of_a_loop, downwards, array_of_a_branch, returned, of_a_while, with_a_break, left_before,
    one_of_numpys_functions, function_of_its_own, functions_in_a_loop, tuple_of_numbers,
    list_of_arrays, list_of_nothing, list_of_the_run, dict_of_arrays, object_of_a_class, text,
    nothing_known_of_it, slice_of_constants, augmented, deleted_in_a_loop, deleted_in_a_branch,
    read_for_nothing, given_another_name, put_in_a_tuple, passed_on, written_for_nothing,
    after_an_exception, read_further_in, read_in_a_comprehension, in_a_function_that_is_shared,
]  # fmt: skip


@pytest.mark.parametrize("function", PROGRAMS)
def test_raises_where_the_function_does(function):
    x, direction = np.array([0.6, 0.5, 0.7]), np.array([1.0, -0.5, 0.25])

    with pytest.raises(NameError):
        function(x, 0)
    for derivative in (
        lambda: grad(function)(x, 0),
        lambda: value_and_grad(function)(x, 0),
        lambda: jvp(function, (x, 0), (direction, None)),
    ):
        with pytest.raises(NameError, match="cannot access local variable"):
            derivative()

    value, gradient = value_and_grad(function)(x, 3)
    step = 1e-6 * direction
    change = (function(x + step, 3) - function(x - step, 3)) / 2e-6
    assert value == function(x, 3)
    np.testing.assert_allclose(np.sum(gradient * direction), change, rtol=1e-7)
    np.testing.assert_allclose(jvp(function, (x, 3), (direction, None))[1], change, rtol=1e-7)


def test_what_the_text_says_of_it():
    compiled = grad(number_of_a_loop)
    compiled(np.ones(3), 2)
    assert "    check_bound(0 < n, 'y')\n" in compiled.source


def products(x, n):
    for i in range(n):
        y = x * i
    return np.sum(np.sin(y) * x)


def surely(x, n):
    for i in range(3):
        y = x * i
    return np.sum(y + n * x)


@pytest.mark.parametrize("function", [products, surely])
def test_nothing_is_checked_that_raises_by_itself_or_surely_runs(function):
    compiled = grad(function)
    compiled(np.ones(3), 2)
    assert "check_bound" not in compiled.source


def test_a_parameter_of_the_name_is_bound():
    def double(y):
        return y + y

    def f(x, n):
        for i in range(n):
            y = x * i
        return np.sum(double(y) + double(x))

    assert list(grad(f)(np.ones(2), 3)) == [6.0, 6.0]
    with pytest.raises(UnboundLocalError, match="'y'"):
        grad(f)(np.ones(2), 0)


def guarded(x):
    total = 0.0
    for i in range(len(x)):
        if i > 0:
            total += x[i] - previous
        previous = 2 * x[i]
    return total


def guarded_otherwise(x):
    total = 0.0
    for i, v in enumerate(x):
        smooth = v if i == 0 else 0.5 * smooth + v
        total += smooth
    return total


def from_one(x):
    total = 0.0
    for i in range(1, len(x)):
        if not i < 2:
            total += x[i] - previous
        previous = 2 * x[i]
    return total


@pytest.mark.parametrize("function", [guarded, guarded_otherwise, from_one])
def test_what_the_first_trip_lacks_and_does_not_read(function):
    compiled = grad(function)
    x, step = np.array([0.5, 1.5, -0.25, 2.0]), 1e-6
    change = [(function(x + step * e) - function(x - step * e)) / (2 * step) for e in np.eye(4)]
    np.testing.assert_allclose(compiled(x), change, rtol=1e-8)
    assert "check_bound" not in compiled.source


def guarded_too_late(x):
    total = 0.0
    for i in range(len(x)):
        if i >= 0:
            total += x[i] - previous
        previous = 2 * x[i]
    return total


def test_what_the_first_trip_reads():
    with pytest.raises(UnboundLocalError, match="'previous'"):
        grad(guarded_too_late)(np.ones(3))


def caught_where_it_is_read(x, n):
    total = np.sum(x)
    if n > 2:
        u = x[1]
    try:
        total += u
    except NameError:
        u = x[2] * x[0]
    return total + u


def caught_where_it_is_returned(x, n):
    for i in range(n):
        y = x[0] * i
    try:
        return y
    except UnboundLocalError as error:
        return x[1] * len(str(error))


def caught_further_out(x, n):
    def read():
        return f(x) + n

    if n > 2:
        f = np.sum
    try:
        return read()
    except NameError:
        return x[1]


@pytest.mark.parametrize("n", [0, 3])
@pytest.mark.parametrize(
    "function", [caught_where_it_is_read, caught_where_it_is_returned, caught_further_out]
)
def test_what_a_try_catches(function, n):
    x, step = np.array([0.6, 0.5, 0.7]), 1e-6
    value, gradient = value_and_grad(function)(x, n)
    change = [(function(x + step * e, n) - function(x - step * e, n)) / 2e-6 for e in np.eye(3)]
    assert value == function(x, n)
    np.testing.assert_allclose(gradient, change, rtol=1e-7)


def guarded_and_not(x):
    total = 0.0
    for i in range(len(x)):
        if i > 0:
            total += previous - x[i]
        total += previous if i >= 0 else 0.0
        previous = x[i]
    return total


def computed_on_one_line_only_sometimes(x):
    if len(x) > 5:
        y = x[0]
    return (np.exp(y) if len(x) > 5 else x[1]) + y


@pytest.mark.parametrize("function", [guarded_and_not, computed_on_one_line_only_sometimes])
def test_another_read_says_nothing_of_this_one(function):
    with pytest.raises(UnboundLocalError):
        function(np.ones(3))
    with pytest.raises(UnboundLocalError, match="cannot access local variable"):
        grad(function)(np.ones(3))


def bound_for_matrices(x):
    if x.ndim == 2:
        y = 3.0
    return y


@pytest.mark.parametrize("read", [bound_for_matrices, lambda x: nowhere])
def test_a_name_that_is_never_bound_matters_where_it_is_read(read):
    def function(x):
        if np.sum(x) > 0:
            return np.sum(x * x)
        return read(x) * np.sum(x)

    np.testing.assert_array_equal(grad(function)(np.array([1.0, 2.0])), [2.0, 4.0])
    with pytest.raises(NameError):
        grad(function)(np.array([-1.0, -2.0]))


def test_a_name_that_is_never_bound_is_refused_where_it_is_surely_read():
    with pytest.raises(UnsupportedError, match=r"return y\n +\^\n'y' is used before"):
        grad(lambda x: bound_for_matrices(x) * np.sum(x))(np.ones(2))
