"""Functions whose operands don't fit: their derivatives raise what they raise."""

import re

import numpy as np
import pytest

import srcgrad
from srcgrad import grad, hessian, jacobian, jvp, value_and_grad


def filled(a, b):
    y = np.zeros(4)
    y[:] = a
    return np.sum(y) + np.sum(b)


def stored(a, b):
    y = np.zeros(4)
    y[:3] += b
    return np.sum(y) + np.sum(a)


def added(a, b):
    y = a.copy()
    y += b
    return np.sum(y)


def in_a_loop(a, b):
    total = 0.0
    for _ in range(2):
        total += np.sum(a + b)
    return total


def in_a_branch(a, b):
    return np.sum(a - b) if a[0] > 0 else 0.0 * a[0]


def through_a_callee(a, b):
    def residual(x, y):
        return x - y

    return np.mean(residual(a, b))


def unused(a, b):
    _ = a + b
    return np.sum(a)


def in_an_inner_gradient(a, b):
    return np.sum(grad(lambda x: np.sum(x + b))(a) * a)


def written_later(a, b):
    c = a + b
    c[0] = 0.0
    return np.sum(c)


def copied(a, b):
    c = (a - b).copy()
    c[1:] = 0.0
    return np.sum(c)


def until_it_is_large(a, b):
    c = a + b
    while np.sum(c) < 100.0:
        c = c + b
    return np.sum(c)


PLACES = np.array([0, 2])
MASK = np.array([True, False, True, False, True])


def stored_at_places(a, b):
    y = np.zeros(5)
    y[PLACES] = a
    return np.sum(y) + np.sum(b)


def stored_at_a_mask(a, b):
    y = np.zeros(5)
    y[MASK] = b
    return np.sum(y) + np.sum(a)


def stored_in_columns(a, b):
    y = np.zeros((2, 5))
    y[:, PLACES] = a
    return np.sum(y) + np.sum(b)


def added_at_places(a, b):
    y = np.zeros(5)
    for _ in range(2):
        y[PLACES] += a
    return np.sum(y) + np.sum(b)


def added_to_rows(a, b):
    y = np.zeros((4, 5))
    y[PLACES, :] -= b
    return np.sum(a)


def added_by_at(a, b):
    y = np.zeros(5)
    np.add.at(y, PLACES, a)
    return np.sum(y) + np.sum(b)


def added_with_an_axis_too_many(a, b):
    y = np.zeros(4)
    y += b[None]
    return np.sum(y) + np.sum(a)


def multiplied_in_place(a, b):
    y = np.eye(4)
    y @= a[:, None] * np.ones(3)
    return np.sum(a) + np.sum(b)


def remainder_in_place(a, b):
    y = np.zeros(3)
    y %= b
    return np.sum(a)


def items_that_are_constant(a, b):
    y = np.zeros(5)
    y[MASK] = np.ones(2)
    return np.sum(a) + np.sum(b)


def copied_where(a, b):
    y = a.copy()
    np.copyto(y, b, where=a > 0)
    return np.sum(y)


def in_a_checkpoint(a, b):
    return srcgrad.checkpoint(lambda x, y: np.sum(x + y))(a, b)


LATER = (
    in_a_checkpoint,
    written_later, copied, until_it_is_large, stored_at_places, stored_at_a_mask,
    stored_in_columns, added_at_places, added_to_rows, added_by_at, added_with_an_axis_too_many,
    multiplied_in_place, remainder_in_place, items_that_are_constant, copied_where,
)  # fmt: skip


MISFITS = {
    "dot": (lambda a, b: np.dot(a, b), (3,), (4,)),
    "product": (lambda a, b: np.sum(a * b), (3,), (4,)),
    "sum": (lambda a, b: np.sum(a + b), (3,), (4,)),
    "sum of matrices": (lambda a, b: np.sum(a + b), (3, 2), (2, 3)),
    "matrix and vector": (lambda a, b: np.sum(a[:, 0] - b), (3, 2), (2,)),
    "matmul": (lambda a, b: np.sum(a @ b), (3, 2), (3, 2)),
    "matmul of a vector": (lambda a, b: np.sum(a @ b), (3, 2), (3,)),
    "inner": (lambda a, b: np.inner(a, b), (3,), (4,)),
    "vdot": (lambda a, b: np.vdot(a, b), (3,), (4,)),
    "einsum": (lambda a, b: np.einsum("i,i->", a, b), (3,), (4,)),
    "tensordot": (lambda a, b: np.sum(np.tensordot(a, b)), (3, 2), (2, 3)),
    "maximum": (lambda a, b: np.sum(np.maximum(a, b)), (3,), (4,)),
    "where": (lambda a, b: np.sum(np.where(a > 0, a, b)), (3,), (4,)),
    "concatenate": (lambda a, b: np.sum(np.concatenate([a, b])), (3, 2), (3, 3)),
    "stack": (lambda a, b: np.sum(np.stack([a, b])), (3,), (4,)),
    "constant": (lambda a, b: np.sum(a + np.ones(5)) + np.sum(b), (3,), (4,)),
    "constant matrix": (lambda a, b: np.sum(np.eye(3) @ a) + np.sum(b), (2,), (4,)),
    "broadcast_to": (lambda a, b: np.sum(np.broadcast_to(a, (4,))) + np.sum(b), (3,), (4,)),
    "solve": (lambda a, b: np.sum(np.linalg.solve(a, b)), (3, 3), (4,)),
    "zip": (lambda a, b: sum(x * y for x, y in zip(a, b, strict=True)), (3,), (4,)),
    **{f.__name__: (f, (3,), (4,)) for f in (filled, stored, added)},
    **{f.__name__: (f, (3,), (4,)) for f in (in_a_loop, in_a_branch, through_a_callee)},
    **{f.__name__: (f, (3,), (4,)) for f in (unused, in_an_inner_gradient)},
    **{f.__name__: (f, (3,), (4,)) for f in LATER},
}


@pytest.mark.parametrize("name", MISFITS)
def test_what_does_not_fit_is_raised(name):
    function, *shapes = MISFITS[name]
    a, b = (np.eye(*s) + 1.0 if len(s) == 2 else np.ones(s) for s in shapes)
    with pytest.raises(Exception) as expected:
        function(a, b)
    derivatives = (
        grad(function),
        grad(function, argnums=(0, 1)),
        value_and_grad(function),
        jacobian(function),
        hessian(function),
        lambda a, b: jvp(function, (a, b), (a, b)),
        lambda a, b: srcgrad.vjp(function, a, b)[1](1.0),
    )
    for derivative in derivatives:
        with pytest.raises(expected.type):
            derivative(a, b)


def test_a_branch_not_taken_demands_nothing():
    a, b = -np.ones(3), np.ones(4)
    assert np.array_equal(grad(in_a_branch)(a, b), np.zeros(3))


def test_what_fits_by_the_arguments_is_not_checked():
    def f(a, b, w):
        y = np.zeros(len(a))
        y[:] = a + b
        y[1:] -= b[:-1]
        return np.sum(y) + a @ b + np.sum(w @ a - b) + np.sum(np.ones((2, 3)) + np.ones(3))

    gradient = grad(f, argnums=(0, 1))
    gradient(np.ones(3), np.ones(3), np.ones((3, 3)))
    assert "check" not in gradient.source


def test_what_is_still_computed_is_not_checked():
    def f(a):
        return np.sum((a + np.ones(4)) ** 2)

    gradient = grad(f)
    assert np.array_equal(gradient(np.ones(4)), np.full(4, 4.0))
    assert "check" not in gradient.source


def test_a_mask_selects_as_many_as_it_selects():
    def f(a, b):
        found = a > 0
        y = np.zeros_like(a)
        y[found] = a[found] * 2
        y[found] += b[found]
        return np.sum(y)

    a, b = np.array([1.0, -1.0, 2.0]), np.ones(3)
    gradient = grad(f)
    assert np.array_equal(gradient(a, b), [2.0, 0.0, 2.0])
    assert "check" not in gradient.source

    def g(a, b):
        found = a > 0
        chosen = a[found]
        found[0] = False
        y = np.zeros_like(a)
        y[found] = chosen
        return np.sum(y) + np.sum(b)

    for derivative in (g, grad(g), value_and_grad(g)):
        with pytest.raises(ValueError, match=r"2|assign"):
            derivative(a, b)


def test_a_check_stands_where_the_call_stood():
    def f(a):
        return np.sum(a + np.ones(4)) + np.zeros(4) @ a

    gradient = grad(f)
    assert np.array_equal(gradient(np.ones(4)), np.ones(4))
    assert re.findall(r"check_\w+\(.*\)", gradient.source) == [
        "check_broadcast(a, np.ones(4))",
        "check_call(np.matmul, zeros, a)",
    ]
    with pytest.raises(ValueError, match="broadcast"):
        gradient(np.ones(3))
    assert np.array_equal(gradient(np.ones(4)), np.ones(4))


def test_strict_zip_as_the_run_tells():
    def f(a, b, strict):
        return sum(x * y for x, y in zip(a, b, strict=strict))

    a, b = np.ones(3), np.arange(4.0)
    assert np.array_equal(grad(f)(a, b, False), [0.0, 1.0, 2.0])
    with pytest.raises(ValueError, match=re.escape("zip() argument 2 is longer than argument 1")):
        grad(f)(a, b, True)


def test_a_failed_strict_zip_is_caught():
    def f(a, b):
        try:
            return sum(x * y for x, y in zip(a, b, strict=True))
        except ValueError:
            return 2 * a[0]

    assert np.array_equal(grad(f)(np.ones(3), np.ones(4)), [2.0, 0.0, 0.0])
    assert np.array_equal(grad(f)(np.ones(3), np.ones(3)), np.ones(3))


def unpacked(x):
    a, b = x
    return a + 2 * b


def rows_unpacked(points):
    total = 0.0
    for a, b in points:
        total += a * b
    return total


def of_the_data(x):
    a, b = x[x > 0]
    return a * b


def of_a_list(x):
    found = []
    for i in range(len(x)):
        if x[i] > 0:
            found.append(x[i] ** 2)
    a, b = found
    return a * b


@pytest.mark.parametrize("function", [unpacked, rows_unpacked, of_the_data, of_a_list])
@pytest.mark.parametrize("count", [1, 3])
def test_too_many_or_too_few_to_unpack(function, count):
    x = 1.0 + np.ones(count) if function is not rows_unpacked else np.ones((4, count))
    for derivative in (function, grad(function), value_and_grad(function), hessian(function)):
        with pytest.raises(ValueError, match="values to unpack"):
            derivative(x)


def test_a_length_that_fits_is_not_checked():
    gradient = grad(unpacked)
    assert np.array_equal(gradient(np.ones(2)), [1.0, 2.0])
    assert "len(" not in gradient.source
    with pytest.raises(ValueError, match="expected 2 values to unpack"):
        gradient(np.ones(3))
    assert np.array_equal(gradient(np.zeros(2)), [1.0, 2.0])


OUTER = np.ones(2)


def test_the_length_of_an_array_from_outside(monkeypatch):
    def f(x):
        a, b = OUTER
        return a * x[0] + b

    gradient = grad(f)
    for length in (2, 3, 2):
        monkeypatch.setitem(globals(), "OUTER", np.full(length, 5.0))
        if length == 2:
            assert np.array_equal(gradient(np.ones(2)), [5.0, 0.0])
        else:
            with pytest.raises(ValueError, match="expected 2 values to unpack"):
                gradient(np.ones(2))


def test_what_is_not_unpacked_has_any_length():
    def f(x):
        if len(x) == 2:
            a, b = x
        else:
            a, b, _ = x
        try:
            _, _ = x
        except ValueError:
            return a * b + x[2]
        return a * b

    assert np.array_equal(grad(f)(np.array([2.0, 3.0])), [3.0, 2.0])
    assert np.array_equal(grad(f)(np.array([2.0, 3.0, 4.0])), [3.0, 2.0, 1.0])
    with pytest.raises(ValueError, match="expected 3 values to unpack"):
        grad(f)(np.ones(4))


def joined(x, y):
    np.concatenate([x, y], axis=1)
    return np.sum(x * 2)


def stacked(x, y):
    _ = np.stack((x, y))
    return np.sum(x * 2)


def displayed(x, y):
    rows = np.array([x, y])
    if x[0, 0] > 5:
        return np.sum(rows)
    return np.sum(x * 2)


def piled(x, y):
    np.vstack([x, y])
    return np.sum(x * 2)


@pytest.mark.parametrize("f", [joined, stacked, displayed, piled])
def test_what_is_joined_and_not_used_fits_all_the_same(f):
    x = np.ones((2, 3))
    assert np.array_equal(grad(f)(x, x), np.full((2, 3), 2.0))
    with pytest.raises(ValueError, match=r"shape|dimension"):
        f(x, x.T)
    with pytest.raises(ValueError, match=r"shape|dimension"):
        grad(f)(x, x.T)
    with pytest.raises(ValueError, match=r"shape|dimension"):
        jvp(f, (x, x.T), (x, x.T))


def a_column(x):
    x[:, 0]
    return np.sum(x)


def a_column_before_what_is_raised_next(x):
    near = np.abs(x[:, 0] - 1) < 0.5
    if x.ndim != 2:
        raise ValueError("two axes, please")
    return np.sum(x * near[:, None])


def an_element_in_a_loop(x):
    last = 0.0
    for i in range(2):
        last = x[i, None, 0]
    return np.sum(x) if x.ndim == 1 else np.sum(x * last)


def a_float_into_ints(x):
    counts = np.arange(3)
    counts += x
    return 1.0 * np.sum(counts)


def a_share_of_ints(x):
    counts = np.arange(3)
    counts /= 2
    return np.sum(x)


def ints_into_flags(x):
    flags = np.zeros(3, bool)
    flags += np.arange(3)
    return np.sum(x)


def a_complex_number_into_floats(x):
    y = np.zeros(3)
    y += 1j
    return np.sum(x)


@pytest.mark.parametrize(
    "f", [a_float_into_ints, a_share_of_ints, ints_into_flags, a_complex_number_into_floats]
)
def test_what_an_array_cannot_hold_is_raised_though_nothing_needs_it(f):
    x = np.array([1.5, 2.0, 3.0])
    with pytest.raises(TypeError) as expected:
        f(x)
    for derivative in (grad(f), value_and_grad(f), lambda x: jvp(f, (x,), (x,))):
        with pytest.raises(TypeError, match=re.escape(str(expected.value))):
            derivative(x)


def test_what_an_array_can_hold_is_not_checked():
    @grad
    def f(x):
        counts = np.arange(3)
        counts += 1
        counts //= 2
        halves = np.zeros(3, np.float32)
        halves += 0.5
        halves *= np.ones(3)
        return np.sum(x)

    np.testing.assert_array_equal(f(np.ones(3)), np.ones(3))
    assert "check" not in f.source


@pytest.mark.parametrize("f", [a_column, a_column_before_what_is_raised_next, an_element_in_a_loop])
def test_an_index_of_more_axes_than_there_are(f):
    for derivative in (grad(f), lambda x: jvp(f, (x,), (x,))):
        derivative(np.ones((2, 2)))
        with pytest.raises(IndexError, match="too many indices"):
            derivative(np.ones(2))


def an_array_into_an_element(x, y):
    y[0] = x
    return np.sum(x)


def into_elements_in_a_loop(x, y):
    before = 0.0
    for n in range(1, 3):
        y[n - 1] = n * x * y[n - 1] - before
        before = y[n - 1]
    return np.sum(x)


def into_an_element_before_what_is_raised_next(x, y):
    y[1] = x
    raise KeyError("later")


@pytest.mark.parametrize(
    "f",
    [
        an_array_into_an_element,
        into_elements_in_a_loop,
        into_an_element_before_what_is_raised_next,
    ],
)
@pytest.mark.parametrize("x", [np.ones(3), np.ones(1), 2.0], ids=["three", "one", "a number"])
def test_an_element_takes_a_number(f, x):
    raised = []
    for derivative in (f, grad(f), lambda x, y: jvp(f, (x, y), (x, y))):
        try:
            derivative(x, np.ones(3))
        except Exception as error:
            raised.append(type(error))
        else:
            raised.append(None)
    assert raised[0] is raised[1] is raised[2]
