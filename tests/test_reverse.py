"""Reverse mode over in-place code: one small program for each way to get it wrong."""

import inspect
import warnings
from typing import Any

import numpy as np
import pytest

import srcgrad
from srcgrad import UnsupportedError, grad
from srcgrad.testing import check_grads

X = np.array([0.4, -0.7, 1.1, 0.9])


def slope(f, x, direction, step=1e-5):
    """The derivative along a direction by differences of fourth order."""

    def value(t):
        return float(f(x + t * direction))

    near = (value(step) - value(-step)) / (2 * step)
    far = (value(2 * step) - value(-2 * step)) / (4 * step)
    return (4 * near - far) / 3


def branches_leave_alone(x):
    z = x[0]
    if x[1] > 5:
        z = z + np.tanh(x[2])
    return z + np.sum(x)


def swap_buffers(x):
    a, b = x.copy(), np.zeros_like(x)
    for _ in range(3):
        b[1:] = a[:-1] * 2
        b[0] = a[0] ** 2
        a, b = b, a
    return np.sum(a * a) + np.sum(b)


def rotate_three(x):
    a, b, c = x.copy(), np.sin(x), np.ones(4)
    for i in range(4):
        c[i] = a[i] * b[i - 1]
        a, b, c = b, c, a
    return np.sum(a * b * c)


def array_of_outer_iteration(x):
    x = x.copy()
    for j in range(1, 3):
        x[:] -= np.sin(x[j])
        a = x
        for _ in range(3):
            x = np.sin(a * (x[j - 1] * j))
    return np.sum(x)


def views_in_a_list(x):
    x = x.copy()
    items = [x[::-1]]
    if x[0] < 5:
        items.append(x[1:] * 2)
    x[1:] = np.tanh(x[0])
    return sum(np.sum(v * v) for v in items)


def written_in_a_list(x):
    items = []
    for i in range(3):
        items.append(x * i)
        items[-1][0] = x[1] ** 2
        items[0] += np.sin(x)
    total = 0.0
    for v in items:
        v *= v
        total = total + v.sum()
    return total


def list_swapped_items(x):
    items = []
    for i in range(4):
        items.append(np.sin(x + i))
    for i in range(3):
        items[i], items[i + 1] = items[i + 1] * 2, items[i]
        items[i][0] = x[2]
    return np.sum(np.stack(items) ** 2)


def pairs_in_a_list(x):
    stack = []
    for i in range(4):
        stack.append((x[i] ** 2, x * i))
    total = 0.0
    while len(stack) > 0:
        s, a = stack.pop()
        a[0] = s
        total = total + s * np.sum(a * a)
    return total


def lists_of_lists(x):
    rows = []
    for i in range(3):
        row = []
        for j in range(4):
            row.append(x[j] ** (i + 1))
        rows.append(row)
    rows[1][2] = rows[0][0] * 3
    total = 0.0
    for row in rows:
        for v in row:
            total = total + np.sin(v)
    return total


def part_of_a_list(x):
    items = []
    for v in x:
        items.append(v * v)
    rest = items[1:]
    rest[0] = rest[0] * rest[1]
    both = items + rest
    items[0] = 0.0
    return np.sum(np.array(both) ** 2) + both[0]


def pop_from_the_middle(x):
    items = []
    for v in x:
        items.append(np.sin(v))
    a = items.pop(-2)
    b = items.pop(0)
    return a * b + items[0] * 3 + items[1] * a


def list_used_before_it_changes(x):
    items = []
    for v in x:
        items.append(v * x)
    total = np.sum(np.stack(items) ** 2)
    items.pop()
    items[0][0] = 2.0
    return total + np.sum(items[0] * items[1])


def item_read_before_it_changes(x):
    items = [x[0]]
    for v in x[1:]:
        items.append(v * items[-1] + 1.0)
    items[2] = items[0]
    return np.sum(np.array(items) ** 2) + items.pop() + items[-1]


def repeated_places(x):
    y = np.ones(4)
    y[np.array([0, 1, 1])] = x[:3]
    y[[2, 2]] *= x[2:]
    np.add.at(y, np.array([3, 3, 0]), x[1:])
    return np.sum(y**2)


def reshaped(x):
    y = (x * 2).reshape(2, 2)
    flat, turned = y.reshape(-1), y.T.reshape(-1)
    flat[1] = x[0] ** 2  # a view
    turned[2] = 7.0  # a copy
    return np.sum(y * y) + np.sum(turned * x)


def fortran_order(x):
    y = np.asfortranarray(np.outer(x, x))
    flat = y.T.reshape(-1)
    flat[3] = x[1] ** 3
    return np.sum(np.sin(y)) + flat[0]


def overlapping(x):
    y = x * x
    y[1:] = y[:-1] * y[1:]
    y[::-1] += y
    y += y[::-1]
    return np.sum(y**2)


def two_names(x):
    y = x * 1.0
    z = y
    z *= x
    y[0] = z[1] * z[2]
    return np.sum(z * y)


def fancy_is_a_copy(x):
    y = x * 2
    z = y[[0, 2, 3]]
    z[0] = 5.0
    y[y > 0.5] *= x[0]
    return np.sum(y * y) + np.sum(z * z)


def with_out(x):
    y = np.zeros(4)
    np.multiply(x, x, out=y)
    np.sin(y[1:], out=y[:-1])
    np.copyto(y[2:], x[:2])
    return np.sum(y**3)


def diagonal(x):
    y = np.outer(x, x)
    d = np.diag(y)
    y[0, 0] = x[1]
    return np.sum(d * d) + np.sum(y)


def never_runs(x):
    y = x * 3
    for _ in range(len(x) - 4):
        y[0] = y[1] * x[0]
        y = y * y
    return np.sum(y * y)


def early(x):
    y = x.copy()
    for i in range(4):
        y[i] *= y[i - 1]
        if y[i] > 0.2:
            return np.sum(y * y)
        if i == 1:
            continue
        y = np.sin(y)
    return np.sum(y)


def growing(x):
    y = x[:1]
    for i in range(3):
        y = np.concatenate([y, y[-1:] * x[i]])
        y[0] = y[-1]
    return np.sum(y * y)


def unknown_rank(x):
    y = x * x
    if x[0] > 5:
        y = y.sum()
    return np.sum(y * 2)


def not_taken(x):
    return np.sum(np.where(x > 0.5, np.sqrt(x - 0.4), x))


def first_of(v, other):
    for u in v:
        return u
    return other


def in_one_of_two_branches_and_in_a_loop(x):
    y = np.zeros_like(x)
    for _ in range(3):
        y = 0.4 * np.cos(y) + x * 0.3
        break
    return first_of(y, x[1]) + (x[0] if x[0] > 0 else y[0])


def is_there_in_a_branch_that_is_never_taken(x):
    total = 0.3
    for i in range(len(x)):
        if x[i] > 5:
            total += x[i] * np.mean(np.cos(X))
    return total + x[1]


def greatest_of_none(x):
    big = [v * v for v in x if v > 9]
    return max(x[:0], default=x[0]) + max(x, default=x[0]) + min(big, default=x[1] * 2)


PROGRAMS = [
    f for f in list(globals().values())
    if inspect.isfunction(f) and list(inspect.signature(f).parameters) == ["x"]
]  # fmt: skip


@pytest.mark.parametrize("function", PROGRAMS, ids=lambda f: f.__name__)
def test_program(function):
    x = X.copy()
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        value, d = srcgrad.value_and_grad(function)(x)
        np.testing.assert_array_equal(x, X)
        assert value == pytest.approx(float(function(X.copy())), rel=1e-13)
        r = np.random.default_rng(0)
        for _ in range(3):
            direction = np.abs(r.normal(size=4)) if function is not_taken else r.normal(size=4)
            if function is not_taken:
                direction[0] = 0.0
            assert d @ direction == pytest.approx(slope(function, X, direction), abs=1e-7, rel=1e-7)


def test_nothing_is_recorded_for_a_linear_stencil():
    def heat(u, steps):
        for _ in range(steps):
            u[1:-1] += 0.1 * (u[2:] - 2 * u[1:-1] + u[:-2])
        return np.sum(u * u)

    d = grad(heat)
    d(X, 3)
    assert "append" not in d.source and "pop" not in d.source


def test_slices_are_recorded_not_arrays():
    def heat(u, steps):
        for _ in range(steps):
            u[1:-1] += 0.1 * u[1:-1] ** 2
        return np.sum(u * u)

    d = grad(heat)
    d(X, 3)
    assert "u_inner = u[1:-1]" in d.source and "u_inner.copy()" in d.source


def test_smaller_arrays_are_recorded_than_what_is_made_of_them():
    """The differences of all pairs are computed again; so are products of what is recorded."""

    def attracted(x, steps):
        for _ in range(steps):
            d = x[None] - x[:, None]
            r2 = np.sum(d * d, axis=2) + 1.0
            x = x + 0.1 * np.sum(d / (r2 * np.sqrt(r2))[:, :, None], axis=1)
        return np.sum(x * x)

    d = grad(attracted)
    x = np.random.default_rng(0).normal(size=(4, 3))
    d(x, 2)
    (line,) = (line for line in d.source.splitlines() if "append" in line)
    assert line.strip() == "saved.append((x, r2, sqrt, ratio))"
    assert d.source.count("    d = x[None] - x[:, None]") == 2
    assert not any(line.strip().startswith("d *=") for line in d.source.splitlines())
    check_grads(lambda x: attracted(x, 3), (x,))


def test_arrays_written_later_are_not_computed_again_from():
    def f(x):
        x = x.copy()
        for k in range(3):
            d = x[None] * x[:, None]
            x[k] *= 1.5
            x += 0.1 * np.sum(d * d * d, axis=1)
        return np.sum(x * x)

    check_grads(f, (X,))


def test_elements_of_an_outer_array_are_read_again():
    def program(x, w):
        total = 0.0
        for i in range(len(x)):
            row = np.tanh(w * x[i])
            for j in range(len(w)):
                total = total + row[j] * row[j]
        return total

    d = grad(program)
    d(X, X)
    assert d.source.count(".append(") == 1


@pytest.mark.parametrize("dtype", [np.float32, np.float64])
def test_dtypes(dtype):
    def program(x):
        y = np.zeros_like(x)
        for i in range(len(x)):
            y[i] = x[i] * 2.0 + x[i - 1]
        z = y[1:] * np.float64(0.5)
        return np.sum(z) + np.sum(np.array([1.0, 2.0]) * x[:2])

    assert grad(program)(X.astype(dtype)).dtype == dtype


def test_zeros_where_nothing_depends():
    for x in (X, np.ones((2, 3), np.float32)):
        d = grad(lambda x: np.sum(np.floor(x)))(x)
        assert d.shape == x.shape and d.dtype == x.dtype and not d.any()


def test_a_branch_of_where_not_taken_contributes_nothing():
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        x = np.array([0.0, 1.0, 4.0])
        d = grad(lambda x: np.sum(np.where(x > 0, np.sqrt(x), 0.0)))(x)
        np.testing.assert_allclose(d, [0.0, 0.5, 0.25])
        assert grad(lambda x: np.where(x > 0, np.sqrt(x), 0.0))(0.0) == 0.0
        d = grad(lambda x: np.sum(np.where(x[:, None] > 0, np.log(x)[:, None], np.ones((3, 2)))))(x)
        np.testing.assert_allclose(d, [0.0, 2.0, 0.5])


def test_a_float_in_an_integer_array_is_refused():
    def program(x):
        y = np.zeros(3, int)
        y[0] = x[0]
        return np.sum(y * x[0])

    with pytest.raises(UnsupportedError, match="array of ints"):
        grad(program)(X)


def test_a_broadcast_array_that_is_written_later_is_refused():
    def program(x):
        y = x * 1.0
        z = np.broadcast_to(y, (3, 4))
        y[0] = 2.0
        return np.sum(z * z)

    with pytest.raises(UnsupportedError, match="broadcast"):
        grad(program)(X)


def test_a_branch_that_only_writes_is_no_choice_of_values() -> None:
    def f(x, n):
        y = x * 1.0
        for i in range(n):
            if i == 1:
                continue
            y[i - 1] = np.sin(x[i + 1])
            if i == 1:
                break
        return np.sum(y**2)

    x = np.array([0.3, -0.7, 1.1, 0.4])
    gradient = srcgrad.grad(f)(x, 3)
    step = 1e-6
    for i, unit in enumerate(np.eye(4)):
        expected = (f(x + step * unit, 3) - f(x - step * unit, 3)) / (2 * step)
        assert abs(gradient[i] - expected) < 1e-6


def test_an_element_named_with_an_ellipsis_is_a_view() -> None:
    def f(x: float) -> float:
        y = np.ones(3)
        y[..., -1] = x * 2
        y[..., 0] += x**2
        return np.sum(y * y)

    step = 1e-6
    expected = (f(1.5 + step) - f(1.5 - step)) / (2 * step)
    assert grad(f)(1.5) == pytest.approx(expected, rel=1e-8)


def test_an_axis_added_before_the_last_ones() -> None:
    def f(x: Any) -> Any:
        return np.sum(x[..., None, :] * np.arange(6.0).reshape(2, 3))

    np.testing.assert_allclose(grad(f)(np.ones(3)), [3.0, 5.0, 7.0])


def test_an_argument_in_a_container_that_is_kept_in_a_list():
    def f(*args):
        x, kept = args[0], []
        for _ in range(args[1]):
            kept.append(x)
            x = np.sin(x)
        return np.sum(kept[0] * kept[2])

    x = np.array([0.3, 0.5])
    expected = np.sin(np.sin(x)) + x * np.cos(np.sin(x)) * np.cos(x)
    np.testing.assert_allclose(srcgrad.grad(f)(x, 5), expected)


def test_every_draw_of_a_generator_is_another_one():
    generator = np.random.default_rng(0)

    def f(x):
        return np.sum(x * generator.standard_normal(2) - x * generator.standard_normal(2))

    gradient = srcgrad.grad(f)
    assert (gradient(np.ones(2)) != 0).all()
    assert (gradient(np.ones(2)) != gradient(np.ones(2))).all()


def branch_of_where_from_outside(x):
    z = np.exp(2 * x)
    if x[0] > 0:
        u = np.where(x * x > 0.1, z / x, 0.0)
    else:
        u = x
    return np.sum(u)


@pytest.mark.parametrize("sign", [1.0, -1.0])
def test_the_mask_of_a_where_stays_in_its_branch(sign):
    x = sign * np.array([0.3, -0.7, 1.2])
    step = 1e-6 * np.eye(3)
    f = branch_of_where_from_outside
    expected = [(f(x + e) - f(x - e)) / 2e-6 for e in step]
    assert np.allclose(grad(f)(x), expected, rtol=1e-6)


def test_an_array_without_axes_in_a_branch_and_in_a_loop():
    def f(x, s, n):
        a = x * 1.0
        h, r = np.array(s), a[0, ...]
        t = 0.3
        if x[0] > 0:
            t += r * h
        for _ in range(n):
            t = t * r + h
        return t + h * 2.0 + r * s

    for first in (0.5, -0.5):
        for n in (0, 2):
            check_grads(lambda x, s, n=n: f(x, s, n), (np.array([first, 0.2]), 0.7))


def test_what_is_returned_is_a_number_or_an_array():
    """Its adjoint may be a number that stands for none, where the number on one path takes it."""

    def f(x, n):
        def pick(v, k):
            for i in range(len(v)):
                if v[i] > 0.4:
                    return v[i] ** 2 if k else v
                k -= 1
            else:
                return -v.sum()

        return np.sum(pick(x, n)) * x[0]

    for n in (0, 1, 2):
        for x in (np.array([0.2, 0.7, 0.3]), np.array([0.9, 0.1]), np.array([0.1, 0.2])):
            check_grads(lambda x, n=n: f(x, n), (x,))


def test_a_number_that_is_an_array_on_another_path():
    def f(x, s):
        h, r = np.array(s), np.sin(x)[0, ...]
        i = 0
        for i in range(len(x) - 1):
            h = np.where(r > 0, h, 0.5)[()] + np.zeros(()) * i
        if i % 2:
            h = np.array(x[-1])
        return h * 2.0

    for n, of_x, of_s in ((3, 2.0, 0.0), (2, 0.0, 2.0)):
        d_x, d_s = grad(f, argnums=(0, 1))(np.full(n, 0.3), 0.5)
        assert (d_x[-1], d_s) == (of_x, of_s)
