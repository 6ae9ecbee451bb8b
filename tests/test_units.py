"""Functions that are compiled as functions: recursion whose depth the data decide."""

import functools
import sys

import numpy as np
import pytest

import srcgrad
from srcgrad import grad, hessian, hvp, jvp, value_and_grad, vjp


def difference(f, args, directions, step=1e-6):
    """The derivative of a function along a direction, by central differences."""
    ahead = [a + step * d for a, d in zip(args, directions, strict=True)]
    behind = [a - step * d for a, d in zip(args, directions, strict=True)]
    return (np.asarray(f(*ahead)) - np.asarray(f(*behind))) / (2 * step)


def directions_like(args, seed=0):
    rng = np.random.default_rng(seed)
    drawn = [rng.standard_normal(np.shape(a)) for a in args]
    return [d if d.shape else float(d) for d in drawn]


def check(f, *args, second=True, tolerance=1e-6):
    """Reverse against differences, forward against reverse, and second derivatives."""
    value, gradients = value_and_grad(f, tuple(range(len(args))))(*args)
    assert value == pytest.approx(f(*args), rel=1e-14)
    for seed in range(2):
        directions = directions_like(args, seed)
        along = sum(np.sum(g * d) for g, d in zip(gradients, directions, strict=True))
        assert along == pytest.approx(difference(f, args, directions), rel=tolerance, abs=tolerance)
        out, moved = jvp(f, args, tuple(directions))
        assert out == pytest.approx(value, rel=1e-14)
        assert moved == pytest.approx(along, rel=1e-10, abs=1e-12)
        pulled = vjp(f, *args)[1]
        for first, again in zip(pulled(1.0), pulled(1.0), strict=True):
            np.testing.assert_array_equal(first, again)
        for first, expected in zip(pulled(1.0), gradients, strict=True):
            np.testing.assert_allclose(first, expected, rtol=1e-12)
    if second:
        directions = directions_like(args, 5)

        def slope(*args):
            found = grad(f, tuple(range(len(args))))(*args)
            total = 0.0
            for i in range(len(args)):
                total = total + np.sum(found[i] * directions[i])
            return total

        along = difference(slope, args, directions, 1e-5)
        curved = grad(slope, tuple(range(len(args))))(*args)
        total = sum(np.sum(g * d) for g, d in zip(curved, directions, strict=True))
        assert total == pytest.approx(along, rel=1e-5, abs=1e-5)
        moved = jvp(slope, args, tuple(directions))[1]
        assert moved == pytest.approx(total, rel=1e-9, abs=1e-10)


def halves(x):
    if x < 1.0:
        return x * x
    return halves(x / 2) * np.sin(x)


def test_one_call_of_itself():
    check(halves, 13.7)


def test_the_source_is_a_pair():
    gradient = grad(halves)
    gradient(13.7)
    assert "def d_halves(x):" in gradient.source
    assert "def forward_halves(x):" in gradient.source
    assert "def backward_halves(saved, d_out):" in gradient.source
    assert "forward_halves(x / 2)" in gradient.source
    deeper = gradient(1e5)
    assert len(gradient.sources) == 1
    assert deeper == pytest.approx(difference(halves, (1e5,), (1.0,), 1e-4), rel=1e-5)


def tree(x, scale):
    """Two calls of itself, one argument an array whose length changes."""
    if len(x) == 1 or np.sum(x * x) < 0.5:
        return scale * np.sum(np.exp(x))
    middle = len(x) // 2
    left, right = tree(x[:middle], scale * 0.9), tree(x[middle:], scale * 1.1)
    return left * right + np.sin(left)


def test_arrays_of_changing_length():
    check(tree, np.random.default_rng(0).standard_normal(13) * 0.4, 0.7)


def is_even(x, y):
    if y < 0.5:
        return x * 2.0
    return is_odd(x * np.cos(y), y - 1.0)


def is_odd(x, y):
    if y < 0.5:
        return x**2
    return is_even(x + y, y - 0.7) * x


def test_mutual():
    check(is_even, 1.3, 6.2)
    check(is_odd, 1.3, 6.2)


def with_closure(w, x):
    decay = np.tanh(w)

    def descend(z):
        if np.sum(z * z) < 1.0:
            return np.sum(z * decay)
        return descend(z * 0.6 * decay) + np.sum(np.sin(z))

    return descend(x) + descend(2 * x)


def test_captured_variables_have_gradients():
    check(with_closure, np.array([0.3, 1.2, -0.8]), np.array([2.0, -3.0, 4.0]))


def counting(x):
    steps = 0
    total = 0.0

    def descend(z):
        nonlocal steps, total
        steps += 1
        total += z * z
        if z > 0.1:
            descend(z * 0.5 * np.cos(z))

    descend(x)
    return total * steps


def test_outer_variables_are_threaded_through():
    check(counting, 1.4)


def pairs(x, depth):
    if depth < 0.0:
        return x, {"sum": x * x}
    a, info = pairs(np.sin(x), depth - 1.0 - 0.1 * x * x)
    return a * x, {"sum": info["sum"] + a}


def uses_pairs(x):
    a, info = pairs(x, 4.3)
    return a + info["sum"]


def test_containers_are_returned():
    check(uses_pairs, 0.8)


def integrate(f, a, b, tolerance):
    m = 0.5 * (a + b)
    rough = (b - a) / 6 * (f(a) + 4 * f(m) + f(b))
    h = (b - a) / 12
    fine = h * (f(a) + 4 * f(0.5 * (a + m)) + 2 * f(m) + 4 * f(0.5 * (m + b)) + f(b))
    if abs(fine - rough) < tolerance:
        return fine
    return integrate(f, a, m, tolerance / 2) + integrate(f, m, b, tolerance / 2)


def integral(p):
    return integrate(lambda t: np.exp(-p[0] * t) * np.cos(p[1] * t * t), 0.0, p[2], 1e-7)


def double_integral(p):
    def inner(y):
        return integrate(lambda x: np.exp(-p[0] * x * y) * p[1], 0.0, y, 1e-6)

    return integrate(inner, 0.0, 1.0, 1e-5)


def test_a_function_as_argument():
    check(integral, np.array([0.7, 3.0, 2.0]))


def test_an_integral_in_an_integral():
    check(double_integral, np.array([0.7, 3.0]), second=False)


def looping(x, n):
    y = np.zeros(3)
    for i in range(3):
        y[i] = np.sin(x * (i + 1)) * (0.5 + 0.1 * n)
    if n < 1.0:
        return np.sum(y * y)
    for i in range(1, 3):
        y[i] += y[i - 1] * y[i]
    return looping(y[2] + x, n - 0.8) * np.sum(y)


def test_loops_and_arrays_in_the_body():
    check(looping, 0.7, 2.9)


def test_in_a_loop_and_on_a_branch():
    def f(x):
        total = 0.0
        for i in range(len(x)):
            if x[i] > 0.2:
                total = total + halves(x[i] * 7)
            else:
                total = total * x[i]
        return total

    check(f, np.array([0.4, 1.7, 0.1, 2.2]))


def twice(y):
    if np.sum(y) < 0.3:
        return y * 2
    t = np.exp(y)
    t[0] *= y[1]
    return np.sin(t) * t + twice(y * 0.5) * y + np.cos(twice(y * 0.5))


def test_two_calls_with_the_same_argument():
    """Each keeps what its own reverse sweep uses up."""
    check(lambda x: np.sum(twice(x) ** 2), np.array([0.4, 0.8, 0.9]))


def test_an_argument_written_later():
    def f(x):
        y = 2 * x
        a = tree(y, 0.5)
        y[1] = a
        y *= y
        return np.sum(y) + tree(y, 0.3)

    check(f, np.array([0.3, -0.2, 0.4]))


def test_a_result_written_later():
    def scaled(x, n):
        if np.sum(x * x) < n:
            return np.exp(x)
        return scaled(x / 2, n) * x

    def f(x):
        y = scaled(x, 2.0)
        y[0] += 3 * x[1]
        y *= y
        return np.sum(y)

    check(f, np.array([2.0, 1.5, 3.0]))


def test_a_result_that_is_an_argument():
    def search(x, y):
        if np.sum(x) > 3.0:
            return y
        return search(x * 1.5, y)

    def f(x):
        return np.sum(search(x, x * x) * x)

    check(f, np.array([0.5, 0.2]))

    def written(x):
        y = x * x
        z = search(x, y)
        y[0] = 5.0
        return np.sum(z)

    with pytest.raises(srcgrad.UnsupportedError, match="may share memory with 'y'"):
        grad(written)(np.array([0.5, 0.2]))


def test_results_that_share_memory():
    def parts(x):
        if np.sum(x) > 3.0:
            return x * 2, (x * 3)[::-1]
        y, z = parts(x * 1.5)
        return y, y[::-1] if np.sum(z) > 9.0 else z

    def read(x):
        y, z = parts(x)
        return np.sum(y * z)

    check(read, np.array([0.5, 0.2]))

    def written(x):
        y, z = parts(x)
        y *= x
        return np.sum(z)

    for derivative in (grad(written), lambda x: jvp(written, (x,), (x,))):
        with pytest.raises(srcgrad.UnsupportedError, match="its results 'y' and 'z' may share"):
            derivative(np.array([0.5, 0.2]))


def test_an_argument_is_written_of_which_the_result_is_a_copy():
    def grown(x, n):
        if np.sum(x) > 3.0:
            y = x
            for _ in range(n):
                y = y + 1
            return y + 0
        return grown(x * 1.5, n)

    def f(x):
        y = x * 1.1
        z = grown(y, 2)
        y *= x
        return np.sum(z * z) + np.sum(y)

    check(f, np.array([0.5, 0.2]))
    check(f, np.array([2.5, 0.7]))


def test_writing_into_an_argument():
    def fill(x, i):
        if np.sum(x) < 10.0:
            x[0] = x[0] * 2 + x[1] ** 2
            fill(x, i)
            x[1] *= x[0]

    def f(x):
        y = x * 1.0
        fill(y, 0)
        y[1] += y[0]
        return np.sum(y * y)

    check(f, np.array([0.5, 0.2]))


def test_overlapping_arguments_are_refused_when_they_are_written():
    def spread(x, y):
        if np.sum(x) < 10.0:
            x[:] = x * 2 + y
            spread(x, y)

    def f(x):
        z = x * 1.0
        spread(z[:2], z[1:])
        return np.sum(z * z)

    with pytest.raises(ValueError, match="share memory"):
        grad(f)(np.array([0.5, 0.2, 0.1]))


def test_an_array_of_marks_is_written():
    edges = np.array([[1, 2], [3, 3], [3, 0], [0, 0]])

    def visit(node, x, seen, order):
        if seen[node] == 0:
            seen[node] = 1
            order[0] += 1
            return x[node] * order[0] + visit(edges[node, 0], x, seen, order) * np.sin(
                visit(edges[node, 1], x, seen, order)
            )
        return x[node] ** 2

    def f(x):
        seen = np.zeros(4, dtype=int)
        order = np.zeros(1, dtype=int)
        first = visit(0, x, seen, order)
        seen[:] = 0
        return first * visit(2, x, seen, order)

    check(f, np.array([0.5, 0.2, 0.9, 1.4]))


def test_endless_recursion_is_refused():
    def endless(x):
        return endless(x * 0.5) + 1.0

    with pytest.raises(srcgrad.UnsupportedError, match="calls itself on every way"):
        grad(endless)(1.0)


def test_kinds_settle():
    def power(x, n):
        if n < 0.5:
            return 1
        return x * power(x, n - 1.0)

    check(lambda x: power(x, 4.2), 1.3)


def test_hessian_and_hvp():
    x = np.array([0.3, 0.8, -0.4])
    found = hessian(lambda x: tree(x, 0.5))(x)
    np.testing.assert_allclose(found, found.T, rtol=1e-10, atol=1e-12)
    v = np.array([1.0, -0.5, 0.25])
    np.testing.assert_allclose(hvp(lambda x: tree(x, 0.5))(x, v), found @ v, rtol=1e-10)


class Parser:
    """Recursive descent over tokens, by an index that knows how far it has come."""

    def __init__(self, text, values):
        self.tokens, self.position, self.values = text.split(), 0, values

    def ahead(self):
        return self.tokens[self.position] if self.position < len(self.tokens) else None

    def take(self):
        self.position += 1
        return self.tokens[self.position - 1]

    def atom(self):
        token = self.take()
        if token == "(":
            value = self.expression()
            self.take()
            return value
        return float(token) if token.isdigit() else self.values[token]

    def term(self):
        value = self.atom()
        while self.ahead() in ("*", "/"):
            value = value * self.atom() if self.take() == "*" else value / self.atom()
        return value

    def expression(self):
        value = self.term()
        while self.ahead() in ("+", "-"):
            value = value + self.term() if self.take() == "+" else value - self.term()
        return value


def test_a_parser_that_calls_itself():
    def f(x, text):
        return Parser(text, {"a": x[0], "b": x[1]}).expression()

    x, text = np.array([0.7, 1.3]), "a * ( b + 2 ) - b / a"
    value, gradient = value_and_grad(f)(x, text)
    assert value == pytest.approx(f(x, text), rel=1e-12)
    np.testing.assert_allclose(gradient, [x[1] + 2 + x[1] / x[0] ** 2, x[0] - 1 / x[0]])


class Node:
    def __init__(self, data, children=()):
        self.data, self.grad = data, 0.0
        self.step = lambda: None
        self.children = children

    def __mul__(self, other):
        out = Node(self.data * other.data, (self, other))

        def step():
            self.grad += other.data * out.grad
            other.grad += self.data * out.grad

        out.step = step
        return out


def backward(root):
    order, visited = [], []

    def build(node):
        if not any(node is other for other in visited):
            visited.append(node)
            k = 0
            while k < len(node.children):
                child = node.children[k]
                k += 1
                build(child)
            order.append(node)

    build(root)
    root.grad = 1.0
    for node in reversed(order):
        node.step()


def test_a_graph_that_a_recursion_with_while_loops_goes_through():
    """In each call the loop is unrolled, and once it is known that it must be, at once."""

    def f(x):
        a, b = Node(x[0]), Node(x[1])
        root = a
        for _ in range(8):
            root = root * root * b
        backward(root)
        return a.grad * b.grad

    check(f, np.array([0.97, 1.02]), second=False)


def test_what_is_nested_deeply():
    terms = " + ".join(["np.sin(x[0] * x[1])"] * 400)
    text = f"def f(x):\n    return {terms}\n"
    names = {"np": np}
    exec(text, names)
    limit = sys.getrecursionlimit()
    x = np.array([0.3, 0.4])
    found = srcgrad.grad(names["f"], source=text)(x)
    np.testing.assert_allclose(found, 400 * np.cos(0.12) * x[::-1])
    assert sys.getrecursionlimit() == limit


def appended_and_written(x):
    u, history = np.zeros(3), [x[1]]

    def loop(v):
        if v < 10:
            u[0] = v
            u[1] += v * x[1]
            history.append(v * u[1] + history[-1])
            loop(v * 2)
            u[2] += history[0] * v

    loop(x[0])
    history.append(x[2])
    return sum(history) + np.sum(u**2)


def rows_kept_and_taken(x):
    u, history, places = np.zeros(3), [], []

    def loop(v):
        if v < 10:
            places.append(len(places))
            u[places[-1] % 3] += v * x[1]
            history.append(u.copy())
            loop(v * 2)
            u[0] *= np.sum(history.pop())

    loop(x[0])
    return np.sum(u) + np.sum(u**2) * len(places)


@pytest.mark.parametrize("f", [appended_and_written, rows_kept_and_taken])
def test_lists_and_arrays_that_a_recursion_changes(f):
    check(f, np.array([0.7, 0.4, 1.3]), second=False)


def passed_on(function):
    @functools.wraps(function)
    def wrapper(x, *args, **kwargs):
        return function(x, *args, **kwargs)

    return wrapper


@passed_on
def weighted(x, w=None):
    w = np.ones(x.shape) if w is None else w
    if np.sum(x**2) < 0.1:
        return x * w
    return weighted(x / 2, w=1.1 * w)


def test_a_decorated_recursion_with_other_keywords_in_its_calls():
    check(lambda x: np.sum(weighted(x) ** 2), np.array([0.7, -0.4, 1.3]))


class Branch:
    def __init__(self, weight):
        self.weight, self.next = weight, None


def branches(x):
    branch = Branch(np.sum(x**2))
    if np.sum(x) > 1.0:
        branch.next = branches(x / 2)
    return branch


class Bough:
    def __init__(self, x):
        self.root = Branch(1.0)
        self.root.next = self.grown(x)

    def grown(self, x):
        if np.sum(x) < 1.0:
            return Branch(np.max(x))
        branch = Branch(np.sum(x))
        branch.next = self.grown(x / 2)
        return branch

    def total(self, branch):
        if branch.next is None:
            return branch.weight**2
        return branch.weight**2 + self.total(branch.next)


def only_the_first_is_read(x):
    return branches(x).weight


def all_are_read(x):
    branch, total = branches(x), 0.0
    while branch is not None:
        total, branch = total + branch.weight**2, branch.next
    return total


def read_by_a_recursion(x):
    bough = Bough(x)
    return bough.total(bough.root) * bough.root.next.weight


@pytest.mark.parametrize("f", [only_the_first_is_read, all_are_read, read_by_a_recursion])
def test_objects_that_a_recursion_makes_and_links(f):
    """`next` is None or another: what that may be is found to differ, and is a table then."""
    check(f, np.array([0.7, 0.4, 1.3]), second=False)


class Damped:
    def __init__(self, rate):
        self.rate = rate
        self.step = self.damped

    def damped(self, x):
        return np.sin(x) * self.rate


def damped_until_small(damped, x):
    if x < 0.1:
        return x * damped.rate
    return x * 0.2 + damped_until_small(damped, damped.step(x))


def of_an_object_that_holds_its_own_method(x, rate):
    return damped_until_small(Damped(rate), x)


def test_arguments_that_hold_themselves():
    check(of_an_object_that_holds_its_own_method, 0.9, 0.7)
