"""The reverse sweep copies nothing, fills nothing with zeros and allocates nothing without need."""

import numpy as np

from benchmarks.programs import recorded_bytes, written_bytes
from srcgrad import grad, jacfwd, jacrev, value_and_grad, vjp
from srcgrad.testing import check_grads
from tests.programs import finite_differences


def reverse_sweep(function, *args):
    """The text of the gradient from the first line that undoes something."""
    check_grads(function, args, order=1)
    gradient = grad(function)
    gradient(*args)
    return gradient.source.split("\n\n", 1)[1]


def scaled_in_place(x, n):
    y = x.copy()
    for _ in range(n):
        y[1:-1] = 0.5 * y[1:-1] + y[2:] * y[:-2]
        y[1:-1] += 0.1 * (y[2:] - y[:-2])
    return np.sum(y * y)


def test_what_is_added_elsewhere_is_read_where_it_is():
    text = reverse_sweep(scaled_in_place, np.linspace(0.1, 1.0, 7), 3)
    assert text.count(".copy()") == 1  # of what is overwritten while it's needed


def accumulated(x):
    total = np.zeros(3)
    total[...] = x * x
    total[...] = np.sin(total) * x
    return np.sum(total)


def test_zeros_that_are_added_to_next_are_stored_over():
    text = reverse_sweep(accumulated, np.array([0.3, 0.5, 0.7]))
    assert "= 0\n" not in text.split("# total[...] = np.sin")[1].split("# total[...] = x * x")[0]


def item_kept(x):
    y = x.copy()
    for i in range(len(y)):
        y[i] = y[i] + np.sin(x[0]) * i
    return np.sum(y**3)


def test_an_item_that_stays_isnt_stored():
    text = reverse_sweep(item_kept, np.array([0.3, 0.5, 0.7]))
    assert "d_y[i] = " not in text


def overwritten_twice(x):
    y = x * 2
    z = y.copy()
    y[...] = z * x
    w = y.copy()
    y[0] = w[1] * z[0]
    return np.sum(y * w) + y[0] ** 2


def copied_copy(x, n):
    a = x.copy()
    for _ in range(n):
        b = a.copy()
        c = b.copy()
        a[:] = c[::-1] * b
        b += a
        a *= 0.5 * b
    return np.sum(a)


def test_copies_that_matter_are_made():
    check_grads(overwritten_twice, (np.array([0.3, 0.5, 0.7]),), order=1)
    check_grads(copied_copy, (np.array([0.3, 0.5, 0.7]), 3), order=1)


def temporary(x, n):
    total = 0.0
    for k in range(n):
        parts = x[1:] * (k + 1)
        parts += np.sin(x[:-1])
        total += np.sum(parts * parts)
    return total


def test_what_only_the_reverse_sweep_needs_is_allocated_there():
    function = grad(temporary)
    function(np.array([0.3, 0.5, 0.7]), 2)
    assert "zeros" not in function.source.split("\n\n", 1)[0]
    check_grads(temporary, (np.array([0.3, 0.5, 0.7]), 2), order=1)


def branching(x, n):
    y = x.copy()
    for k in range(n):
        z = np.sin(y[1:])
        if k % 2:
            z = z + y[0] * np.cos(y[:-1])
        y[1:] = 0.5 * z * y[1:] / (1 + k)
    return np.sum(y)


def both_kept(x, flag):
    a = np.sin(x)
    b = a * x if flag > 0.5 else a
    c = b * 3
    return np.sum(c * a * b)


def test_what_branches_hand_on_is_used_again_only_where_nobody_needs_it():
    check_grads(branching, (np.array([0.3, 0.5, 0.7]), 4), order=2)
    for flag in (0.0, 1.0):
        check_grads(both_kept, (np.array([0.3, 0.5, 0.7]), flag), order=2, argnums=(0,))


def factorised(a):
    a = a.copy()
    n = a.shape[0]
    for k in range(n):
        for i in range(k + 1, n):
            a[i, k] = a[i, k] / a[k, k]
            for j in range(k + 1, n):
                a[i, j] -= a[i, k] * a[k, j]
    return np.sum(a * a)


def test_an_item_that_is_subtracted_from_keeps_its_adjoint(loops_stay):
    a = np.random.default_rng(0).normal(size=(4, 4)) + 4 * np.eye(4)
    text = reverse_sweep(factorised, a)
    inner = text.split("# a[i, j] -=")[1].split("# a[i, k] =")[0]
    assert "d_a_row[j] =" not in inner  # neither zeros nor itself
    assert "d_a_row[k] = d_a_1\n" in text  # stored over, not added to zeros


def moved_around(x, i, j, k):
    y = x * x
    for _ in range(3):
        t = y[i]
        y[i] = 0.3 * y[j] + 0.5 * t * y[k]
        y[j] -= y[i] * y[k] + t
    return np.sum(y * y)


def test_additions_pass_each_other_whether_or_not_they_go_to_the_same_item():
    x = np.array([0.3, 0.5, 0.7])
    for places in np.ndindex(3, 3, 3):
        check_grads(moved_around, (x, *map(int, places)), order=1, argnums=(0,))


def shifted_rows(x, n):
    y = x.copy()
    for k in range(n):
        v = np.sin(y[k])
        y[k] = v * 0.5
        y[k + 1] += v * y[k - 1]
        y[k] += 0.1 * y[k + 1] * v
    return np.sum(y * y * y)


def test_rows_that_are_overwritten_and_added_to():
    check_grads(shifted_rows, (np.random.default_rng(3).normal(size=(4, 2)), 3), argnums=(0,))


def recursive(x, a):
    y = np.empty(len(x))
    before = 0.0
    for i in range(len(x)):
        y[i] = a * x[i] + x[i] * before
        before = y[i]
    return np.sum(y * y)


def test_an_item_that_was_just_stored_isnt_read(loops_stay):
    x = np.array([0.3, 0.5, 0.7])
    gradient = grad(recursive)
    gradient(x, 0.4)
    forward, reverse = gradient.source.split("\n\n", 1)
    assert "= y[i]" not in forward and "y[i] = before_1" in forward
    assert reverse.count("d_y_list[i]") == 2  # taken, with what is added to it; and set to zero
    assert "d_x_list[i] += d_y * before + d_y * a\n" in reverse
    check_grads(recursive, (x, 0.4))


def test_what_an_array_of_another_precision_stores_is_read():
    def f(x):
        y = np.zeros(3, np.float32)
        for i in range(3):
            y[i] = x[i] / 3
            x = x * y[i]
        return np.sum(x)

    gradient = grad(f)
    gradient(np.array([0.1, 0.2, 0.3]))
    forward = gradient.source.split("\n\n", 1)[0]
    assert "y[i] = " in forward and "* y[i]" in forward


def nonlinear_stencil(x):
    y = np.zeros_like(x)
    y[1:-1] = x[:-2] * x[2:] - 2 * x[1:-1] ** 2
    return y


def test_zeros_that_nobody_reads_arent_stored():
    x = np.linspace(0.1, 1.0, 6)
    for mode in (jacfwd, jacrev):
        jacobian = mode(nonlinear_stencil)
        found = jacobian(x)
        expected = np.zeros((6, 6))
        for i in range(1, 5):
            expected[i, i - 1 : i + 2] = x[i + 1], -4 * x[i], x[i - 1]
        np.testing.assert_allclose(found, expected, rtol=1e-12)
        assert ".copy()" not in jacobian.source and "= 0\n" not in jacobian.source
    assert "* (-4.0 * x[1:-1])" in jacobian.source
    _, pullback = vjp(nonlinear_stencil, x)
    seed = np.ones(6)
    np.testing.assert_allclose(pullback(seed)[0], expected.sum(0))
    np.testing.assert_array_equal(seed, 1.0)


def test_constants_go_to_the_smaller_factor_in_the_reverse_sweep():
    def f(matrix, row):
        return np.sum(np.sin(3.0 * (matrix * row)))

    matrix, row = np.random.default_rng(0).normal(size=(2, 3, 4))
    check_grads(f, (matrix, row[0]), order=1)
    gradient = value_and_grad(f)
    assert gradient(matrix, row[0])[0] == f(matrix, row[0])
    assert "3.0 * (matrix * row)" in gradient.source
    assert "d_matrix *= 3.0 * row" in gradient.source


def test_what_the_caller_sees_of_an_adjoint_is_stored():
    def f(x):
        x[0] = 2 * x[1]
        return x

    x = np.array([0.3, 0.5, 0.7])
    seed = np.array([1.0, 10.0, 100.0])
    (found,) = vjp(f, x)[1](seed)
    np.testing.assert_array_equal(found, [0.0, 12.0, 100.0])
    np.testing.assert_array_equal(seed, [1.0, 10.0, 100.0])


def test_slice_programs_record_slices():
    for name, share in {"jacobi_3d": 0.3, "fdtd_2d": 0.55, "jacobi_2d": 0.01}.items():
        module = finite_differences.load(name)
        gradient = grad(module.program, argnums=tuple(getattr(module, "ARGNUMS", (0,))))
        for size in (10, 20):
            args = module.inputs(size)
            assert recorded_bytes(gradient, args) < share * written_bytes(module, args)
