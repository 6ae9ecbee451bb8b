"""The reverse sweep copies nothing, fills nothing with zeros and allocates nothing without need."""

import numpy as np

from benchmarks.programs import recorded_bytes, written_bytes
from srcgrad import grad
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


def test_slice_programs_record_slices():
    for name, share in {"jacobi_3d": 0.3, "fdtd_2d": 0.55, "jacobi_2d": 0.01}.items():
        module = finite_differences.load(name)
        gradient = grad(module.program, argnums=tuple(getattr(module, "ARGNUMS", (0,))))
        for size in (10, 20):
            args = module.inputs(size)
            assert recorded_bytes(gradient, args) < share * written_bytes(module, args)
