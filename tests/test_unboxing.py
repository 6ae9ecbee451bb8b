"""Loops over single numbers work on lists, where the numbers are the same (optimize/unboxing.py).

The oracle is the gradient of the same function without the pass, bit by bit and type by type.
"""

import linecache
import random
import types

import numpy as np
import pytest

from srcgrad import grad, hessian, jvp, value_and_grad, vjp
from srcgrad.compiler import output
from srcgrad.optimize import unboxing
from srcgrad.testing import check_grads


def twin(function):
    """The same function, for which nothing is compiled yet."""
    code = function.__code__.replace()
    return types.FunctionType(
        code, function.__globals__, function.__name__, function.__defaults__, function.__closure__
    )


def source(function, *arguments, argnums=0):
    gradient = grad(twin(function), argnums=argnums)
    gradient(*arguments)
    return gradient.source


def check(monkeypatch, function, *arguments, argnums=0, listed=True, differences=True):
    """The gradient is that without the pass, and has lists or hasn't; its source."""
    gradient = value_and_grad(twin(function), argnums=argnums)
    value, found = gradient(*arguments)
    with monkeypatch.context() as patch:
        patch.setattr(output, "unbox", lambda function: None)
        plain = value_and_grad(twin(function), argnums=argnums)
        expected_value, expected = plain(*arguments)
    assert "tolist" not in plain.source
    assert ("tolist" in gradient.source) is listed, gradient.source
    for a, b in zip(leaves((value, found)), leaves((expected_value, expected)), strict=True):
        assert type(a) is type(b)
        np.testing.assert_array_equal(a, b)
    if differences:
        check_grads(function, arguments, argnums=argnums)
    return gradient.source


def leaves(tree):
    return [x for item in tree for x in leaves(item)] if isinstance(tree, tuple) else [tree]


def smooth(x, a):
    y = np.zeros(len(x))
    for i in range(1, len(x)):
        y[i] = a * x[i] + 0.5 * y[i - 1]
    return np.sum(y * y)


def test_numbers_of_an_array_are_a_list_in_a_loop(monkeypatch, loops_stay):
    text = check(monkeypatch, smooth, np.arange(5.0), 0.7, argnums=(0, 1))
    for line in (
        "    y_list = y.tolist()",
        "        y_list[i] = a * x_list[i] + 0.5 * y_list[i - 1]",
        "    y[:] = y_list",
        "        d_x_list[i] += d_value * a",
        "    d_x[:] = d_x_list",
    ):
        assert f"{line}\n" in text
    assert "d_y[:] =" not in text  # nobody reads it


@pytest.mark.parametrize("n", [0, 1, 2])
def test_short_and_empty(monkeypatch, n):
    x = np.arange(float(n))
    found = grad(twin(smooth))(x, 0.7)
    with monkeypatch.context() as patch:
        patch.setattr(output, "unbox", lambda function: None)
        np.testing.assert_array_equal(found, grad(twin(smooth))(x, 0.7))


def seidel(u, f, sweeps):
    u = u.copy()
    for _ in range(sweeps):
        for i in range(1, u.shape[0] - 1):
            for j in range(1, u.shape[1] - 1):
                u[i, j] = (u[i - 1, j] + u[i + 1, j] + u[i, j - 1] + u[i, j + 1] - f[i, j]) / 4
    return np.sum(u * u * u)


def test_two_dimensions(monkeypatch):
    rng = np.random.default_rng(0)
    u, f = rng.normal(size=(4, 5)), rng.normal(size=(4, 5))
    text = check(monkeypatch, seidel, u, f, 3, argnums=(0, 1))
    assert "u_row = u_list[" in text and "u[:] = u_list" in text
    check(monkeypatch, seidel, u, f, 0, argnums=(0, 1))
    assert jvp(seidel, (u, f, 2), (f, u, None))[1] == pytest.approx(
        np.sum(grad(seidel)(u, f, 2) * f) + np.sum(grad(seidel, argnums=1)(u, f, 2) * u)
    )
    _, pullback = vjp(twin(seidel), u, f, 2)
    np.testing.assert_allclose(pullback(1.0)[0], grad(seidel)(u, f, 2))
    np.testing.assert_allclose(pullback(1.0)[0], grad(seidel)(u, f, 2))


@pytest.mark.parametrize("shape", [(0, 3), (3, 0), (1, 3), (2, 2)])
def test_two_dimensions_of_odd_lengths(shape):
    def f(a):
        total = 0.0
        for i in range(a.shape[0]):
            for j in range(a.shape[1]):
                total = total + a[i, j] * a[i, j]
                a[i, j] *= 0.5
        return total + np.sum(a)

    a = np.arange(float(np.prod(shape))).reshape(shape)
    np.testing.assert_allclose(grad(f)(a.copy()), 2 * a + 0.5)


def test_division_by_zero_is_numpys(monkeypatch, loops_stay):
    def f(x, y):
        z = np.zeros(len(x))
        for i in range(len(x)):
            z[i] = x[i] / y[i] + x[i] * y[i]
        return np.sum(z)

    x, y = np.array([1.0, -1.0, 0.0, 2.0]), np.array([0.0, -0.0, 0.0, 4.0])
    with np.errstate(all="ignore"):
        text = check(monkeypatch, f, x, y, argnums=(0, 1), differences=False)
    assert "or np.float64(" in text
    check_grads(f, (np.arange(1.0, 5.0), np.arange(2.0, 6.0)))


@pytest.mark.parametrize("divisor", [0.0, 0, -0.0, 2, 1j])
def test_division_by_pythons_zero_is_numpys(monkeypatch, divisor):
    def f(x, a):
        y = np.zeros(len(x))
        for i in range(1, len(x)):
            y[i] = y[i - 1] + abs(x[i] / a)
        return y[-1]

    with np.errstate(all="ignore"):
        check(monkeypatch, f, np.ones(3), divisor, differences=False)


def test_a_loop_that_is_left_early(monkeypatch):
    def f(x):
        total = 0.0
        for i in range(1, len(x)):
            total = total + x[i] * x[i - 1]
            if total > 3.0:
                break
        return total

    check(monkeypatch, f, np.arange(1.0, 6.0), listed=False)


def test_a_sum_leaves_the_loop_as_numpys_number(monkeypatch, loops_stay):
    def f(x):
        total = 0.0
        for i in range(1, len(x)):
            total = total + x[i] * x[i - 1]
        return 1.0 / total

    check(monkeypatch, f, np.arange(1.0, 5.0))
    with np.errstate(all="ignore"):
        text = check(monkeypatch, f, np.zeros(4), differences=False)
    assert "np.float64(" in text


@pytest.mark.parametrize("power", [0.5, 2, 3])
def test_powers_raise_where_numpys_do_not(monkeypatch, power):
    def f(x):
        total = 0.0
        for i in range(1, len(x)):
            total = total + (x[i] * x[i - 1]) ** power
        return total

    x = np.array([1e200, 1e200, 1.0, 2.0])
    with np.errstate(all="ignore"):
        check(monkeypatch, f, x, listed=False, differences=False)


def test_single_precision_stays_an_array(monkeypatch, loops_stay):
    x = np.arange(5, dtype=np.float32)
    check(monkeypatch, smooth, x, 0.7, listed=False, differences=False)

    def weighted(x, weights):
        total = np.float32(0)
        for i in range(1, len(x)):
            total = total + weights[i] * x[i] * x[i - 1]
        return total

    check(monkeypatch, weighted, x, np.arange(5.0), listed=False, differences=False)


def test_what_shares_memory_stays_an_array(monkeypatch):
    def f(x):
        y = x.copy()
        z = y[::-1]
        for i in range(1, len(x)):
            y[i] = y[i] * z[i] + y[i - 1]
        return np.sum(y)

    check(monkeypatch, f, np.arange(1.0, 6.0), listed=False)


def test_the_same_array_twice(monkeypatch):
    x = np.arange(1.0, 6.0)

    def f(x, y):
        for i in range(1, len(x)):
            x[i] = x[i] * y[i - 1] + x[i - 1]
        return np.sum(x)

    def both(x):
        return f(x, x)

    check(monkeypatch, f, x, x.copy(), argnums=(0, 1), differences=False)
    check(monkeypatch, both, x)


def test_an_array_used_whole_in_the_loop_stays_one(monkeypatch):
    def f(x):
        y = x.copy()
        for i in range(1, len(x)):
            y[i] = y[i] * y[i - 1]
            y[: i - 1] *= 0.5
        return np.sum(y)

    check(monkeypatch, f, np.arange(1.0, 6.0), listed=False)


def test_few_elements_of_a_long_array(monkeypatch):
    def f(x, n):
        z = 0.0
        for i in range(n):
            z = z * x[0] + x[i] * x[i]
        return z

    check(monkeypatch, f, np.arange(1.0, 6.0), 3, listed=False)


def test_short_arrays_beside_long_ones(monkeypatch):
    def f(x, c):
        z = 0.0
        for i in range(len(x)):
            z = z * c[0] + c[1] * x[i]
        return z

    rng = np.random.default_rng(0)
    text = check(monkeypatch, f, rng.normal(size=40), rng.uniform(size=2), argnums=(0, 1))
    assert "c_list = listed(c)" in text and "d_c[:] = d_c_list" in text
    check(monkeypatch, f, rng.normal(size=40), rng.uniform(size=50), argnums=(0, 1))


def test_loops_that_compute_arrays_are_left(monkeypatch):
    def f(x, a):
        y = np.zeros(len(x))
        for i in range(1, len(x)):
            y[i] = x[i] * y[i - 1] + np.sum(np.sin(a) * x[i] * x[i - 1])
        return np.sum(y)

    check(monkeypatch, f, np.arange(5.0), np.arange(3.0), argnums=(0, 1), listed=False)


def test_branches_and_comparisons(monkeypatch):
    def f(x, y):
        for i in range(1, len(x)):
            if x[i] > y[i - 1]:
                y[i] += x[i] * y[i - 1]
            elif not x[i] < 1.0:
                y[i] = -x[i - 1]
        return np.sum(y)

    rng = np.random.default_rng(1)
    check(monkeypatch, f, rng.normal(size=7), rng.normal(size=7), argnums=(0, 1))


def test_sums_of_comparisons_stay_numpys(monkeypatch):
    def f(x):
        total = 0.0
        for i in range(1, len(x)):
            above = (x[i] > 0.5) + (x[i - 1] > 0.5)
            total = total + x[i] * above
        return total

    check(monkeypatch, f, np.arange(5.0) / 3, listed=False)


def test_ints_are_stored_as_floats(monkeypatch):
    def f(x):
        y = np.zeros(len(x))
        for i in range(1, len(x)):
            y[i - 1] = 3
            y[i] = y[i - 1] / 2 * x[i] + x[i - 1]
        return np.sum(y * y)

    check(monkeypatch, f, np.arange(5.0))


def test_an_index_out_of_range():
    def f(x):
        y = np.zeros(len(x))
        for i in range(len(x)):
            y[i] = x[i] * x[i + 1]
        return np.sum(y)

    with pytest.raises(IndexError):
        grad(f)(np.ones(3))


def test_an_error_that_the_function_handles(monkeypatch):
    def f(x):
        y = np.zeros(len(x))
        for i in range(len(x)):
            try:
                y[i] = x[i] * x[i + 1]
            except IndexError:
                y[i] = x[i]
        return np.sum(y * y)

    gradient = grad(f)
    x = np.arange(1.0, 4.0)
    np.testing.assert_allclose(gradient(x), [8.0, 40.0, 30.0])


def test_triangles(monkeypatch, loops_stay):
    def f(a):
        a = a.copy()
        n = len(a)
        for j in range(n):
            for i in range(j + 1, n):
                factor = a[i, j] / a[j, j]
                for k in range(j, n):
                    a[i, k] -= factor * a[j, k]
        total = 1.0
        for i in range(n):
            total = total * a[i, i]
        return total

    a = np.random.default_rng(2).normal(size=(4, 4))
    text = check(monkeypatch, f, a)
    np.testing.assert_allclose(grad(f)(a), np.linalg.det(a) * np.linalg.inv(a).T)
    assert "a_list = a_1.tolist()" in text


def test_second_order():
    x = np.random.default_rng(3).normal(size=4)
    found = hessian(smooth)(x, 0.7)
    step = 1e-6 * np.eye(4)
    expected = [(grad(smooth)(x + s, 0.7) - grad(smooth)(x - s, 0.7)) / 2e-6 for s in step]
    np.testing.assert_allclose(found, expected, atol=1e-6)


def test_an_array_in_a_list_that_the_loop_writes(monkeypatch):
    def f(x):
        y = x.copy()
        kept = [y]
        for i in range(1, len(x)):
            y[i] = y[i] * y[i - 1]
            kept[0][0] = kept[0][0] + x[i]
        return np.sum(y)

    check(monkeypatch, f, np.arange(1.0, 6.0))


def test_argument_is_not_changed():
    def f(x):
        for i in range(1, len(x)):
            x[i] = x[i] * x[i - 1]
        return np.sum(x)

    x = np.arange(1.0, 6.0)
    grad(f)(x)
    np.testing.assert_array_equal(x, np.arange(1.0, 6.0))


class Program:
    """A random function of loops over single numbers of `x`, `y`, `a` and `q`, and of `c`."""

    def __init__(self, seed):
        self.random = random.Random(seed)
        self.lines = ["z, u, s = np.zeros(len(x)), np.zeros(a.shape), 0.0"]
        for _ in range(self.random.randint(1, 3)):
            rows = ("len(x)", "1, len(x)", "len(x) - 1", "len(x) - 1, -1, -1")
            self.lines.append(f"for i in range({self.random.choice(rows)}):")
            self.statements(False, 1)
            if self.random.random() < 0.5:
                columns = ("a.shape[1]", "1, a.shape[1]", "a.shape[1] - 1, -1, -1")
                self.lines.append(f"    for j in range({self.random.choice(columns)}):")
                self.statements(True, 2)
        self.lines.append("return s + np.sum(np.tanh(z)) + np.sum(np.sin(u)) + np.sum(x * y)")
        self.text = "def f(x, y, a, q, c):\n" + "\n".join(f"    {line}" for line in self.lines)

    def statements(self, inner, indent):
        for _ in range(self.random.randint(1, 3)):
            if self.random.random() < 0.25:
                value, other = self.value(inner), self.value(inner)
                self.lines.append(f"{'    ' * indent}if {value} > {other}:")
                self.statement(inner, indent + 1)
            else:
                self.statement(inner, indent)

    def statement(self, inner, indent):
        choices = ["z[i] += {}", "z[i] = {}", "s = 0.3 * s + {}", "y[i] = {}", "x[i] = 0.5 * {}"]
        choices += ["u[i, j] -= {}", "u[i, j] = {}"] if inner else ["z[i - 1] *= {}"]
        line = self.random.choice(choices).format(self.value(inner))
        self.lines.append("    " * indent + line)

    def value(self, inner, depth=0):
        kind = self.random.random()
        if depth > 2 or kind < 0.35:
            index = self.random.choice(["i", "i - 1", "len(x) - 1 - i", "0"])
            choices = [f"x[{index}]", f"y[{index}]", f"z[{index}]", "q[0]", "c", "s", "0.5"]
            choices += ["a[i, j]", "u[i, j]", "a[i - 1, j]"] * (2 * inner)
            return self.random.choice(choices)
        left, right = self.value(inner, depth + 1), self.value(inner, depth + 1)
        if kind < 0.8:
            return f"({left} {self.random.choice('+-*')} {right})"
        if kind < 0.9:
            return f"({left} / {self.random.choice(['3.0', 'c', f'(1.5 + {right} * {right})'])})"
        return f"{self.random.choice(['np.sin', 'np.tanh', 'abs', '-'])}({left})"

    def function(self, name):
        linecache.cache[name] = (len(self.text), None, self.text.splitlines(True), name)
        namespace = {"np": np}
        exec(compile(self.text, name, "exec"), namespace)
        return namespace["f"]


@pytest.mark.parametrize("seed", range(14))
def test_random_programs(monkeypatch, seed):
    rng = np.random.default_rng(seed)
    arguments = [rng.normal(size=shape) for shape in (4, 4, (4, 3), 2)] + [float(rng.normal())]
    program, found = Program(seed), []
    for passes in (unboxing.unbox, lambda function: None):
        monkeypatch.setattr(output, "unbox", passes)
        gradient = value_and_grad(program.function(f"<{seed} {len(found)}>"), argnums=range(5))
        found.append(leaves(gradient(*[np.copy(v) if np.ndim(v) else v for v in arguments])))
    for a, b in zip(*found, strict=True):
        np.testing.assert_array_equal(a, b)


def test_a_list_that_is_there_is_not_made_again():
    def f(x, c):
        y = np.zeros(len(x))
        for i in range(1, len(x)):
            y[i] = c[0] * y[i - 1] * y[i - 1] + x[i] * x[i - 1]
        return np.sum(y * y)

    def changed_between(x, c):
        y = x.copy()
        for i in range(1, len(x)):
            y[i] += c[0] * y[i - 1] * x[i]
        y[0] = c[1]
        y *= 2.0
        for i in range(1, len(x)):
            y[i] += c[1] * y[i - 1] * x[i] * y[i]
        return np.sum(y * y)

    def three_loops(x, c):
        y = x.copy()
        z = x * 2.0
        for i in range(1, len(x)):
            y[i] += c[0] * y[i - 1] * z[i]
        for i in range(1, len(x)):
            z[i] += c[1] * z[i - 1] * y[i]
        for i in range(1, len(x)):
            y[i] += c[2] * y[i - 1] * z[i] * x[i]
        return np.sum(y * z)

    x, c = np.linspace(0.2, 0.9, 7), np.array([0.3, -0.4, 0.5])
    for function in (f, changed_between, three_loops):
        check_grads(function, (x, c), argnums=(0, 1))
    gradient = grad(f)
    gradient(x, c)
    for line in ("x_list = x.tolist()", "y_list = y.tolist()"):
        assert gradient.source.count(line) == 1, gradient.source


@pytest.mark.parametrize("shortest", [min, max])
def test_the_least_and_largest_of_numbers(monkeypatch, shortest):
    def path(cost):
        n, m = cost.shape
        best = np.zeros((n + 1, m + 1))
        for i in range(n):
            for j in range(m):
                before = shortest(best[i, j], 0.5 + best[i, j + 1], best[i + 1, j])
                best[i + 1, j + 1] = cost[i, j] / max(before, 1) + before
        return np.sum(best * best)

    costs = np.random.default_rng(3).uniform(0.5, 1.5, (3, 4))
    check(monkeypatch, path, costs)
    check(monkeypatch, path, -costs[:1])


def test_what_a_pullback_gets_and_what_it_pops_may_be_one_array():
    """The adjoint of what a loop returns is in the record of the loop, too."""

    def settled(v):
        u = np.zeros_like(v)
        for _ in range(50):
            new = 0.4 * np.cos(u) + v * 0.3
            if np.max(np.abs(new - u)) < 1e-10:
                return new
            u = new

    def f(x):
        b = settled(x)
        for i in range(len(b)):
            if b[i] > 0.9:
                break
            b[i] += 0.3 * b[0]
        return np.array([np.sum(b), b @ x])

    for x in (np.array([0.3]), np.array([0.3, -0.4, 0.2])):
        out, pullback = vjp(f, x)
        np.testing.assert_array_equal(out, f(x))
        direction, weights = np.cos(x), np.array([0.7, -0.3])
        slope = (f(x + 1e-6 * direction) - f(x - 1e-6 * direction)) / 2e-6
        for _ in range(2):
            (d_x,) = pullback(weights)
            assert d_x @ direction == pytest.approx(slope @ weights, rel=1e-7)
