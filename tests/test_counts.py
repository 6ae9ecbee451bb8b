"""Counts and flags outside, which the function writes: of modules, cells, classes and objects."""

import json

import numpy as np
import pytest

import srcgrad

X = np.array([0.4, 0.7, 1.1, 1.3, 1.7])
CALLS = ITERATIONS = 0
STARTED = False


class Particle:
    """Its class counts its objects."""

    count = 0

    def __init__(self, value):
        Particle.count += 1
        self.value, self.number = value, self.count

    @classmethod
    def total(cls):
        return cls.count


class Integrator:
    """It counts the intervals that it looks at, one in the other."""

    def __init__(self):
        self.intervals = 0

    def __call__(self, x):
        return self.halved(x[0], x[1], x[2])

    def halved(self, a, b, c):
        self.intervals += 1
        middle = (a + b) / 2
        rough, fine = (b - a) * np.sin(c * middle), (b - a) * np.sin(c * middle) / 2
        if abs(b - a) < 0.05:
            return rough + fine
        return self.halved(a, middle, c) + self.halved(middle, b, c)


def factory():
    calls = 0

    def f(x):
        nonlocal calls
        calls += 1
        return np.sum(x**2) * calls

    return f


IN_A_CELL = factory()
INTEGRATOR = Integrator()


def evaluation(x):
    global CALLS
    CALLS += 1
    return x**2


def of_calls(x):
    return evaluation(x[0]) + evaluation(x[1]) * CALLS + sum(evaluation(v) * CALLS for v in x)


def of_iterations(x):
    global ITERATIONS
    y = 1.0
    while abs(y * y - x[0]) > 1e-12:
        y = y - (y * y - x[0]) / (2 * y)
        ITERATIONS += 1
    return y * x[1]


def on_branches(x):
    global CALLS, STARTED
    for v in x:
        if v > 1:
            CALLS += 1
        elif v > 0.5:
            CALLS -= 1
            continue
        if CALLS > 3:
            break
    if not STARTED:
        STARTED = True
        return np.sum(x * x)
    return np.sum(x**3) * CALLS


def in_a_try(x):
    global CALLS
    try:
        CALLS += 1
        return 1 / float(x[0] - x[0])
    except ZeroDivisionError:
        CALLS += 10
    finally:
        CALLS += 100
    return x[1] ** 2 * CALLS


def swapped(x):
    global CALLS, ITERATIONS
    CALLS, ITERATIONS = ITERATIONS + 1, CALLS + 2
    return np.sum(x * x) * (CALLS - 2 * ITERATIONS)


def of_objects(x):
    a, b = Particle(x[0]), Particle(x[1])
    return a.value * a.number + b.value * b.number**2 + Particle.total() * x[2] + a.count * x[3]


def of_itself(x):
    of_itself.calls += 1
    of_itself.calls += 1
    return np.sum(x * x) * of_itself.calls


of_itself.calls = 0


def triangle(x):
    """As in a packed matrix: where the next column begins is kept with the function."""
    triangle.begin, triangle.whole = 0, True

    def column(height):
        taken = x[triangle.begin : triangle.begin + height]
        triangle.begin += height
        triangle.whole = triangle.begin < len(x)
        return np.concatenate((taken**height, np.zeros(2 - height)))

    return np.column_stack([column(height) for height in (1, 2)])


def of_what_it_gets(x):
    weight = 2.0 if triangle(x).size == 4 else 1.0
    for i in range(2):
        weight = weight * (triangle(x[i:])[0, 1] + triangle.begin)
    return weight if triangle.whole else -weight


def in_an_inner_gradient(x):
    def f(v):
        global CALLS
        CALLS += 1
        return np.sum(v**3)

    return np.sum(srcgrad.grad(f)(x) * x)


def counts():
    """All that is counted in this module."""
    cell = IN_A_CELL.__closure__[0]
    return {
        "CALLS": CALLS, "ITERATIONS": ITERATIONS, "STARTED": STARTED, "cell": cell.cell_contents,
        "particles": Particle.count, "itself": of_itself.calls, "intervals": INTEGRATOR.intervals,
        "triangle": dict(vars(triangle)),
    }  # fmt: skip


def put(known):
    global CALLS, ITERATIONS, STARTED
    CALLS, ITERATIONS, STARTED = known["CALLS"], known["ITERATIONS"], known["STARTED"]
    IN_A_CELL.__closure__[0].cell_contents = known["cell"]
    Particle.count, of_itself.calls = known["particles"], known["itself"]
    INTEGRATOR.intervals = known["intervals"]
    vars(triangle).clear()
    vars(triangle).update(known["triangle"])


@pytest.mark.parametrize(
    "function",
    [
        of_calls, of_iterations, on_branches, in_a_try, swapped, of_objects, of_itself, IN_A_CELL,
        of_what_it_gets, in_an_inner_gradient, INTEGRATOR,
    ],
    ids=lambda f: getattr(f, "__name__", "Integrator"),
)  # fmt: skip
def test_what_is_counted_outside_is_counted_once(function):
    gradient, hvp = srcgrad.grad(function), srcgrad.hvp(function)
    before = counts()
    try:
        for _ in range(3):
            start = counts()
            differences = []
            for step in 1e-6 * np.eye(X.size):
                values = []
                for x in (X + step, X - step):
                    put(start)
                    values.append(function(x))
                differences.append((values[0] - values[1]) / 2e-6)
            end = counts()
            put(start)
            found = gradient(X)
            assert counts() == end
            np.testing.assert_allclose(found, differences, rtol=1e-5, atol=1e-7)
            put(start)
            _, tangent = srcgrad.jvp(function, (X,), (X,))
            assert counts() == end
            assert tangent == pytest.approx(found @ X, rel=1e-9)
            put(start)
            product = hvp(X, X)
            assert counts() == end
            slopes = []
            for x in (X + 1e-6 * X, X - 1e-6 * X):
                put(start)
                slopes.append(gradient(x))
            np.testing.assert_allclose(
                product, (slopes[0] - slopes[1]) / 2e-6, rtol=1e-5, atol=1e-6
            )
    finally:
        put(before)


def asking(x):
    if not hasattr(asking, "calls"):
        asking.calls = 0
    asking.calls += 1
    return np.sum(x * asking.calls)


def asking_with_a_default(x):
    asking_with_a_default.calls = getattr(asking_with_a_default, "calls", 0) + 1
    return np.sum(x * asking_with_a_default.calls)


def asking_in_a_try(x):
    try:
        asking_in_a_try.calls += 1
    except AttributeError:
        asking_in_a_try.calls = 1
    return np.sum(x * asking_in_a_try.calls)


@pytest.mark.parametrize("function", [asking, asking_with_a_default, asking_in_a_try])
def test_whether_a_function_has_got_a_count_is_not_known(function):
    with pytest.raises(srcgrad.UnsupportedError, match=r"got \.calls by now isn't known"):
        srcgrad.grad(lambda x: function(x) * function(x))(X)
    assert not vars(function)
    found = [function(X) * function(X) for _ in range(2)]
    assert found[0] == pytest.approx(2 * np.sum(X) ** 2)
    slope = srcgrad.grad(lambda x: function(x) * function(x))(X)  # it has got it by now
    np.testing.assert_allclose(slope, np.full(5, 2 * 5 * 6 * np.sum(X)))


def test_a_function_gets_no_derivatives():
    def kept(x):
        test_a_function_gets_no_derivatives.last = x[0]
        return np.sum(x) * test_a_function_gets_no_derivatives.last

    with pytest.raises(srcgrad.UnsupportedError, match="which the caller would see"):
        srcgrad.grad(kept)(X)


def test_closures_of_one_code_count_each_for_itself():
    first, second = factory(), factory()
    np.testing.assert_allclose(srcgrad.grad(first)(X), 2 * X)
    np.testing.assert_allclose(srcgrad.grad(first)(X), 4 * X)
    np.testing.assert_allclose(srcgrad.grad(second)(X), 2 * X)
    assert [f.__closure__[0].cell_contents for f in (first, second)] == [2, 1]


def test_a_count_of_calls_is_written_where_the_function_writes_it():
    gradient = srcgrad.grad(evaluation)
    before = counts()
    gradient(2.0)
    put(before)
    assert (
        "CALLS = test_counts.CALLS\n    setattr(test_counts, 'CALLS', CALLS + 1)" in gradient.source
    )


def recursive(a, depth):
    global CALLS
    CALLS += 1
    return a * CALLS if depth <= 0 else np.sin(a) * recursive(a * a, depth - 1)


def test_a_recursion_that_depends_on_what_it_counts_is_not_run_again():
    before, values = counts(), []
    for x in (0.7 + 1e-6, 0.7 - 1e-6):
        put(before)
        values.append(recursive(x, 3))
    put(before)
    found = srcgrad.grad(lambda x, n: recursive(x, n))(0.7, 3)
    assert before["CALLS"] + 4 == CALLS
    assert found == pytest.approx((values[0] - values[1]) / 2e-6, rel=1e-6)
    put(before)
    with pytest.raises(srcgrad.UnsupportedError, match="it reads 'CALLS', which it writes"):
        srcgrad.hvp(lambda x, n: recursive(x, n))(0.7, 1.0, 3)


def noisy(a, depth):
    print("at", depth)
    return a if depth <= 0 else np.sin(a) * noisy(a * a, depth - 1)


def test_a_recursion_prints_once(capsys):
    found = srcgrad.grad(lambda x, n: noisy(x, n))(0.7, 3)
    assert capsys.readouterr().out == "at 3\nat 2\nat 1\nat 0\n"
    step = (noisy(0.7 + 1e-6, 3) - noisy(0.7 - 1e-6, 3)) / 2e-6
    assert found == pytest.approx(step, rel=1e-6)


def test_a_cell_holds_no_derivatives():
    total = 0.0

    def f(x):
        nonlocal total
        total = total + x
        return total**2

    with pytest.raises(srcgrad.UnsupportedError, match="which belongs to a function that has ret"):
        srcgrad.grad(f)(1.0)
    assert total == 0.0


MODE, LEVEL = "sum", 1


def set_by_a_file(text):
    global MODE, LEVEL
    MODE, LEVEL = json.loads(text)


def in_modes(x, texts):
    total = 0.0
    for text in texts:
        set_by_a_file(text)
        total = total + LEVEL * (np.sum(x) if MODE == "sum" else np.sum(x**2))
    return total


def test_what_a_function_that_is_not_followed_returns_may_be_written():
    texts = ['["sum", 2]', '["squares", 3]', '["sum", 1]']
    set_by_a_file('["sum", 1]')
    assert srcgrad.value_and_grad(in_modes)(X, texts)[0] == in_modes(X, texts)
    np.testing.assert_allclose(srcgrad.grad(in_modes)(X, texts), 3 + 6 * X)
    srcgrad.grad(in_modes)(X, texts[:2])
    assert (MODE, LEVEL) == ("squares", 3)
    with pytest.raises(TypeError, match="type float, for which nothing was compiled"):
        srcgrad.grad(in_modes)(X, ['["sum", 2.5]'])
    set_by_a_file('["sum", 1]')
