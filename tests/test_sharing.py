"""Long functions that are called at several places stay functions, which calls alike share."""

import math

import numpy as np
import pytest

import srcgrad.compiler
from srcgrad import grad
from srcgrad.frontend import sharing
from tests import random_choices, random_iterators, random_layouts
from tests.random_shared import program
from tests.random_statements import assert_right
from tests.test_units import check

RATES = np.linspace(0.05, 0.2, 12)
STATE = np.linspace(0.3, 0.9, 6)


def slopes(t, y, rates):
    """Made-up kinetics: twelve reactions of six species."""
    a, b, c, d, e, f = y
    r1 = rates[0] * a * b / (1 + c**2) - 0.1 * np.tanh(d)
    r2 = rates[1] * b * c / (1 + d**2) - 0.1 * np.tanh(e)
    r3 = rates[2] * c * d / (1 + e**2) - 0.1 * np.tanh(f)
    r4 = rates[3] * d * e / (1 + f**2) - 0.1 * np.tanh(a)
    r5 = rates[4] * e * f / (1 + a**2) - 0.1 * np.tanh(b)
    r6 = rates[5] * f * a / (1 + b**2) - 0.1 * np.tanh(c)
    r7 = rates[6] * np.exp(-a) * np.sin(b) + rates[7] * np.cos(c + t)
    r8 = rates[8] * np.exp(-d) * np.sin(e) + rates[9] * np.cos(f + t)
    r9 = rates[10] * np.sqrt(a * a + b * b) - rates[11] * np.log(1 + c * c)
    return np.array([r1 - r4 + r7, r2 - r5, r3 - r6 + r8, r4 - r1, r5 - r2 - r9, r6 - r3 + r9])


def dormand_prince(rates, state, h=0.1, steps=3):
    y, t = state, 0.0
    for _ in range(steps):
        k1 = slopes(t, y, rates)
        k2 = slopes(t + h / 5, y + h * k1 / 5, rates)
        k3 = slopes(t + 3 * h / 10, y + h * (3 * k1 + 9 * k2) / 40, rates)
        k4 = slopes(t + 4 * h / 5, y + h * (44 * k1 / 45 - 56 * k2 / 15 + 32 * k3 / 9), rates)
        k5 = slopes(t + h, y + h * (k1 - k2 + k3 + k4) / 2, rates)
        y, t = y + h * (35 * k1 / 384 + k3 / 2 + k4 / 3 + k5 / 10), t + h
    return np.sum(y**2)


def test_the_stages_of_a_solver_share_a_pair_of_functions():
    gradient = grad(dormand_prince, argnums=(0, 1))
    gradient(RATES, STATE)
    definitions = [line for line in gradient.source.splitlines() if line.startswith("def ")]
    assert definitions == [
        "def d_dormand_prince(rates, state, h, steps):",
        "def forward_slopes(t, y, rates):",
        "def backward_slopes(saved, d_out):",
    ]
    assert gradient.source.count("forward_slopes(") == 6
    check(lambda rates, state: dormand_prince(rates, state), RATES, STATE)


def test_short_programs_are_inlined():
    gradient = grad(lambda y: np.sum(slopes(0.0, y, RATES)) + np.sum(slopes(1.0, y * 2, RATES)))
    gradient(STATE)
    assert "forward_slopes" not in gradient.source


@pytest.fixture
def everything(monkeypatch):
    """All functions that can be are shared, of however few statements and calls."""
    monkeypatch.setattr(srcgrad.compiler, "LONG", 3)
    monkeypatch.setattr(srcgrad.compiler, "ASKED", 3)
    monkeypatch.setattr(sharing, "LEAST", 1)
    monkeypatch.setattr(sharing, "FEWEST", 1)


LOG = []


def logged(y):
    LOG.append(1)
    return np.sin(y) * y


def printed(y):
    print("called")
    return np.sin(y) * y


def written(y):
    y *= 0.5
    return np.sin(y) * y


def handed_back(y):
    return y[1:]


def drawn(y):
    return y * np.random.normal()


def twice_the_same(y):
    t = np.sin(y) * y
    return t, t[::-1]


@pytest.mark.parametrize("function", [logged, printed, written, handed_back, drawn])
def test_what_is_not_pure_is_inlined(function, everything, capsys):
    def f(x):
        a = function(x * 1.5)
        b = function(np.cos(x[1:]) * 2)
        return np.sum(a) * np.sum(b * b)

    gradient = grad(f)
    gradient(STATE)
    assert "forward_" not in gradient.source
    if function is not drawn:
        check(f, STATE)


def test_results_that_share_memory(everything):
    def f(x):
        a, b = twice_the_same(x * 1.5)
        a *= x
        c, d = twice_the_same(np.cos(x))
        d[1:] += a[1:]
        return np.sum(a * b) + np.sum(c * d * x)

    gradient = grad(f)
    gradient(STATE)
    assert "forward_" not in gradient.source
    check(f, STATE)


def copied(y):
    return y + 0, y.copy()


def test_an_argument_is_written_of_which_the_result_is_a_copy(everything):
    def f(x):
        y = x * 1.5
        a, b = copied(y)
        y *= x
        c, d = copied(y)
        y[1:] += a[1:]
        return np.sum(a * b) + np.sum(c * d * y)

    check(f, STATE)


def newton(a):
    """The cube root, with what may go wrong."""
    x = np.ones(a.shape)
    for _ in range(50):
        step = (x**3 - a) / (3 * x**2)
        x = x - step
        if np.max(np.abs(step)) < 1e-13:
            break
    else:
        raise ArithmeticError("no convergence")
    return x


def test_loops_that_end_and_exceptions_that_are_raised(everything):
    def f(x):
        return np.sum(newton(x + 1) ** 2) + np.sum(np.sin(newton(x * x + 2)) * x)

    gradient = grad(f)
    gradient(STATE)
    assert gradient.source.count("def forward_newton") == 1
    check(f, STATE)
    with pytest.raises(ArithmeticError, match="no convergence"):
        gradient(STATE * np.nan)


def test_an_exception_is_caught_around_the_call(everything):
    def root(y):
        return math.sqrt(y) * y + np.sin(y)

    def f(x):
        total = root(x[0]) + root(x[1] * 2.0)
        try:
            total = total + root(x[2] - 5.0)
        except ValueError:
            total = total * x[3]
        return total

    check(f, STATE)


RATE = 0.25


def bent(u, s):
    return np.tanh(u * s)


def bent_twice(u, s):
    t = u * 1.5
    t = t * 0.5 + bent(u, s) * u
    return {"a": t * 1, "b": t}


def test_what_a_call_keeps_is_not_overwritten(everything):
    def f(x):
        y = x * 0.7
        z = x.copy()
        z = z + np.sum(bent(y[1:3], 0.7))  # in place, and then it is an argument
        z = bent_twice(z, 1.4)["a"] + 1 + 0 * x
        return np.sum(z * z * 0.1) + np.sum(bent_twice(x[::-1], 0.3)["a"])

    check(f, STATE)


def test_two_equal_calls_keep_what_each_needs(everything):
    def doubled(y):
        parts = []
        for k in range(2):
            parts.append(np.sin(y) * (k + 1))
        return parts[0] - 0.3 * parts[1]

    def f(x):
        return np.sum(doubled(x) ** 2) + np.sum(np.sin(doubled(x)))

    check(f, STATE)


def weighed(y, m, s):
    y = y * s
    k = m.copy()
    k[:, 0][1] = m[0][0] if m[0][1] > 0 else y[0]
    return s, k


def test_the_adjoint_of_an_array_without_axes_is_a_number(everything):
    def f(x, m, s):
        one = np.array(s)
        _, k = weighed(np.sin(x), np.outer(x, m), one)
        return np.sum(k * k) + one

    def slope(x, m, s, d_s):
        return grad(f, 2)(x, m, s) * d_s

    x, h = -STATE, 1e-6
    curved = (grad(f, 2)(x, STATE, 0.7 + h) - grad(f, 2)(x, STATE, 0.7 - h)) / (2 * h)
    assert grad(slope, 2)(x, STATE, 0.7, 1.0) == pytest.approx(curved, rel=1e-6)


def scaled(y, rates):
    return y * rates, np.cos(rates)


def test_two_equal_calls_a_result_of_which_is_written(everything):
    def f(x):
        a, b = scaled(x, RATES[:6])
        a[0] *= 2
        b *= 1.5
        c, d = scaled(x, RATES[:6])
        e = bent(x, 0.5)
        e[1:] *= x[1:]
        return np.sum(a * d) + np.sum(b * c * x) + np.sum(bent(x, 0.5) * e)

    gradient = grad(f)
    gradient(STATE)
    assert "forward_scaled" in gradient.source
    check(f, STATE)


class Counting:
    def __init__(self, rate):
        self.rate, self.calls, self.last = rate, 0, 0.0

    def __call__(self, y):
        self.calls += 1
        self.last = self.last * 0.5 + y[0] * y[1]
        return np.tanh(y * self.rate) * self.calls


def test_attributes_that_a_method_sets(everything):
    def f(x, w):
        model = Counting(w[0])
        a = model(x)
        b = model(a * x) + model.last
        return np.sum(model(b) * a) + model.last * model.calls

    gradient = grad(f)
    gradient(STATE, RATES)
    assert gradient.source.count("def forward___call__") == 2  # one for what starts from zero
    check(f, STATE, RATES)


def test_calls_of_other_lengths_share(everything):
    def f(x, w):
        return (
            np.sum(bent(x, w[0]) ** 2) + np.sum(bent(w, x[1])) + np.sum(np.outer(x, bent(w, 2.0)))
        )

    gradient = grad(f)
    gradient(STATE, RATES)
    assert gradient.source.count("def forward_bent") == 2  # one for 2.0
    check(f, STATE, RATES)


def test_what_is_written_after_a_call(everything):
    def f(x):
        y = x * 2
        a = bent(y, 0.5)
        y[1:] *= 0.5
        b = bent(y, 0.5)
        a[0] = b[1] * y[2]
        b += a
        return np.sum(bent(b, 0.5) * a) + np.sum(y)

    check(f, STATE)


@pytest.mark.parametrize("seed", [0, 1, 3, 4, 6, 9, 11, 12])
def test_random_programs(seed, everything, tmp_path, monkeypatch):
    (tmp_path / f"shared_{seed}.py").write_text(f"import numpy as np\n\n{program(seed)}")
    monkeypatch.syspath_prepend(tmp_path)
    f = __import__(f"shared_{seed}").f
    gradient = grad(f, argnums=(0, 1))
    gradient(STATE[:5], 0.7)
    assert "forward_h" in gradient.source
    check(f, STATE[:5] + 0.01, 0.7, second=False)


class Deep:
    """A method that others call, and keeps a part of what it is given: it can't be shared."""

    def __init__(self, first):
        self.first = first

    def outer(self, x):
        return self.middle(x) + self.middle(0.5 * x)

    def middle(self, x):
        return self.inner(np.sin(x)) + self.inner(x * x)

    def inner(self, x):
        self.first = x[:1]
        return bent(x, 0.5) + bent(x, 0.7)


def test_a_function_that_is_not_shared_is_found_so_once(everything, monkeypatch):
    """What has been found impure is inlined: it was a unit again in each round of each caller."""
    made, lower_unit = [], sharing.lower_unit

    def noted(low, closure, *rest):
        made.append(closure.name)
        return lower_unit(low, closure, *rest)

    def f(x):
        deep = Deep(x[1:])
        return np.sum(deep.outer(x)) + np.sum(deep.first)

    monkeypatch.setattr(sharing, "lower_unit", noted)
    check(f, STATE)
    assert made.count("inner") < made.count("outer") < made.count("bent")


def first_number(r):
    return int(r.integers(0, 4))


@pytest.mark.parametrize("first", range(0, 32, 16))
def test_random_programs_whose_functions_are_given_values_of_several_kinds(first, everything):
    right = 0
    for seed in range(first, first + 16):
        text = random_choices.program(seed)
        right += assert_right(text, seed, first_number, may_refuse=True)
    assert right >= 8


@pytest.mark.parametrize("first", range(0, 32, 16))
def test_random_programs_whose_functions_take_from_iterators(first, everything):
    right = 0
    for seed in range(first, first + 16):
        right += assert_right(random_iterators.program(seed), seed, may_refuse=True)
    assert right >= 8


@pytest.mark.parametrize("first", range(0, 24, 12))
def test_random_programs_whose_functions_make_objects(first, everything):
    found = [random_layouts.wrong(seed) for seed in range(first, first + 12)]
    assert [text for text in found if text is not None and not text.startswith("refused")] == []


class Part:
    def __init__(self, size, *items):
        self.size, self.items = size, list(items)


def parts_by_turns(x):
    first, part = Part(x[0], x[1]), Part(x[1])
    for i in range(3):
        part.items.append(x[2] * i)
        part = first if x[2] > 0.6 else Part(x[0], x[1] ** 2)
    return sum(first.items) * x[0]


def test_more_is_known_of_an_object_in_an_iteration(everything):
    check(parts_by_turns, STATE)


def counted(x, n):
    pairs = [(x[0], 1)]
    for _ in range(n):
        pairs = pairs + [None]  # noqa: RUF005
    return x[1] * len(pairs)


def test_items_that_may_be_none_are_read_only_where_they_are_needed(everything):
    def f(x, n):
        return counted(x * 0.5, n) * x[2] + counted(x, n + 1)

    value, gradient = srcgrad.value_and_grad(f)(STATE, 2)
    out, moved = srcgrad.jvp(f, (STATE, 2), (STATE, None))
    assert out == value == pytest.approx(f(STATE, 2))
    assert moved == pytest.approx(gradient @ STATE)
