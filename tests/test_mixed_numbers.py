"""Numbers that are ints in some runs and floats in others, and the arrays made of them.

`best = 0` is an int until a float is found. Arithmetic with floats doesn't tell, but an array that
is filled with it is one of ints then, which cuts off what is written into it.
"""

import itertools

import numpy as np
import pytest

import srcgrad
import srcgrad.testing

X = np.array([1.3, 0.7, 0.9])


def largest(x, least):
    best = 0
    for item in x:
        if item > least:
            least = best = item
    return best


def filled(x, least):
    a = np.full(3, largest(x, least))
    a = a + x
    return np.sum(a * a)


def adjoint_filled(x, least):
    k = 0
    for i in range(len(x) - 1):
        if x[i] > least:
            continue
        k = k * np.sum(x)
    return np.sum(k * x) + x[0]


def whole_array(x, least):
    a = np.zeros(3, int)
    for i in range(len(x)):
        if x[i] > least:
            a = a + x
    b = a * 2
    return np.sum(b * x) + np.sum(np.stack([a, x]))


def list_of_either(x, least):
    items = [largest(x, least), 1, 2]
    items.append(x[0] * items[0])
    return np.array(items) @ np.arange(4)


def written(x, least):
    a = np.full(3, largest(x, least))
    a[0] = x[0] * 2.5
    return np.sum(a * x)


def written_list(x, least):
    a = np.array([largest(x, least), 1, 2])
    a[1:] = x[1:]
    return np.sum(a * x)


def written_by_a_method(x, least):
    a = np.zeros(3, int)
    if least < 1:
        a = a + x
    a.fill(x[1])
    return np.sum(a * x)


def written_by_a_function(x, least):
    a = np.zeros(3, int)
    if least < 1:
        a = a + x
    np.put(a, [0, 2], x[1:])
    return np.sum(a * x)


def whole_written(x, least):
    a = np.zeros(3, int)
    if least < 1:
        a = a + x
    a[0] = len(x)
    return np.sum(a * x)


def number_or_array(x, least):
    k = x if least < 1 else 2
    bound = 2 * k - 2
    bound += 1
    if least > 1:
        return np.sum(np.ones(bound) * x[1]) + np.sum(x[: k - 1])
    return np.sum(bound * x)


def in_an_unlike_list(x, least):
    state = [0.5, len(x), x]
    values = state[np.array([2, least > 1])[0]]
    return np.sum(values[1 : state[1] - 1] ** 2) * state[0]


def filled_with_a_number_or_array(x, least):
    k = x if least < 1 else 2
    a = k * 1.0 if least < 1 else np.full(3, k)
    a[0] = x[0] * 2.5
    return np.sum(a * x)


READ = [filled, adjoint_filled, whole_array, list_of_either, whole_written, number_or_array,
        in_an_unlike_list]  # fmt: skip
WRITTEN = [
    written,
    written_list,
    written_by_a_method,
    written_by_a_function,
    filled_with_a_number_or_array,
]


@pytest.mark.parametrize("least", [0.5, 5.0])
@pytest.mark.parametrize("f", READ, ids=lambda f: f.__name__)
def test_it_gives_the_derivatives(f, least):
    srcgrad.testing.check_grads(lambda x: f(x, least), (X,))


@pytest.mark.parametrize("f", WRITTEN, ids=lambda f: f.__name__)
def test_floats_are_written_into_arrays_of_floats(f):
    srcgrad.testing.check_grads(lambda x: f(x, 0.5), (X,))


@pytest.mark.parametrize("f", WRITTEN, ids=lambda f: f.__name__)
@pytest.mark.parametrize("gradient", [srcgrad.grad, lambda f: lambda *a: srcgrad.jvp(f, a, (X, 0))])
def test_what_would_be_cut_off_is_refused(f, gradient):
    line = f.__code__.co_firstlineno
    with pytest.raises(
        TypeError, match=r"test_mixed_numbers\.py:(\d+): a float .* of ints"
    ) as info:
        gradient(f)(X, 5.0)
    assert line < int(str(info.value).split(":")[1]) < line + 6


def test_the_gradient_is_an_array_of_floats():
    gradient = srcgrad.grad(adjoint_filled)
    assert gradient(X, 0.0).dtype == float
    np.testing.assert_array_equal(gradient(X, 0.0), [1, 0, 0])


def of_any_rank(x, count):
    u = x[:, None] * x if x[0] > 1 else x
    total = 0.0
    for i in range(count):
        total += np.sum(u) * i + np.mean(u) + np.max(u)
    return total


@pytest.mark.parametrize("count", [0, 1, 3])
def test_the_sum_of_what_is_of_any_rank_is_a_number(count):
    for x in (X, X / 2):
        srcgrad.testing.check_grads(lambda x: of_any_rank(x, count), (x,))


def test_a_loop_that_never_runs_leaves_a_number_what_it_is():
    def f(s, y, n):
        k = s
        for _ in range(n - 1):
            k = k + y
        return np.mean(k**2) * s

    for n in (0, 1, 2, 3):
        srcgrad.testing.check_grads(lambda s, y, n=n: f(s, y, n), (0.7, X))
        np.testing.assert_allclose(
            srcgrad.grad(f)(0.7, X, n), (f(0.7 + 1e-6, X, n) - f(0.7 - 1e-6, X, n)) / 2e-6
        )


def stations(x, step):
    """How far the points of a path are, as route planners list it: the first is an int."""
    far = [0]
    far.extend(np.cumsum(x))
    places = np.arange(0, far[-1], step)
    total = far[1]
    for place in places:
        total += (place + 1) * far[2] ** 2
    return total * np.sum(places + far[-1])


@pytest.mark.parametrize("step", [0.7, 1])
def test_a_range_up_to_what_is_mixed(step):
    srcgrad.testing.check_grads(lambda x: stations(x, step), (X,))
    for text in (srcgrad.grad(stations), srcgrad.grad(lambda x: stations(x, 0.7))):
        text(X, step) if text.primal is stations else text(X)
        assert "unbroadcast" not in text.source


@pytest.mark.parametrize("count", [1, 4])
def test_rows_are_stacked_on_a_first_one(count):
    def path(x, n):
        state = rows = np.array(x)
        for _ in range(n):
            state = np.sin(state) + x[0]
            rows = np.vstack((rows, state))
        return np.sum(rows[-1] ** 2) * rows[0, 1] + np.sum(rows[:, 0])

    def timed(x, end):
        state, time = np.array(x), 0
        rows = np.array(state)
        while time <= end:
            state[0] += state[1] * 0.1
            rows = np.vstack((rows, state))
            time += 1
        return np.sum(rows[-1] ** 2) * rows[0, 1] + np.sum(rows[:, 0])

    srcgrad.testing.check_grads(lambda x: path(x, count), (X,))
    srcgrad.testing.check_grads(path, (X, count))
    srcgrad.testing.check_grads(timed, (X, count))


def days(x):
    return [[int(10 * v), v] for v in x]


def floats_of_rows(x):
    return sum(v * v for row in days(x) for v in row if isinstance(v, float))


def whole_ones(x):
    items = [0] * len(x)
    items[1] = float(x[1])
    return sum(x[2] if isinstance(item, int) else item * x[0] for item in items)


def either_by_a_branch(x):
    count = 3
    if x[0] > 1:
        count = x[0] / 2
    return x[1] * 2 if isinstance(count, int) else x[1] * count


def extreme(x):
    excess = max(0, float(x[0] - 1))
    return x[1] * 2 if isinstance(excess, float) else x[1] * 5


@pytest.mark.parametrize("scale", [0.7, 1.0])
@pytest.mark.parametrize("f", [floats_of_rows, whole_ones, either_by_a_branch, extreme])
def test_whether_it_is_a_float_is_asked_at_run_time(f, scale):
    """The kind of a list whose items are ints and floats is that of floats: so went the answer."""
    value, _ = srcgrad.value_and_grad(f)(X * scale)
    assert value == f(X * scale)
    srcgrad.testing.check_grads(f, (X * scale,))


def test_its_type_is_refused():
    def f(x):
        return sum(v * v for row in days(x) for v in row if type(v) is float)

    with pytest.raises(srcgrad.UnsupportedError, match=r"(?s)type of this value.*isinstance"):
        srcgrad.grad(f)(X)


def power(x, n):
    return x[0] * 2 if isinstance(2 ** (n - 6), int) else x[1] * 3


def power_by_a_name(x, n):
    v = 2
    v **= n - 6
    return x[0] * 2 if isinstance(-v, int) else x[1] * 3


def reciprocal(x, n):
    v = (n + 1) ** -2
    return x[0] * v if type(v) is float else x[1]


def power_of_either(x, n):
    v = sorted([n - 6, x[0]])[-1] ** (n - 6)
    return x[0] * 2 if isinstance(v, int) else x[1] * 3


def either_or_an_array(x, n):
    v = n
    for _ in range(n - 6):
        v = x
    return x[0] * 2 if isinstance(v, int) else np.sum(v) * 3


def smallest(x, n):
    v = sorted([n, x[0] * 5])[0]
    return x[1] * 2 if isinstance(v, int) else x[1] * v


def smallest_of_many(x, n):
    items = [n, float(x[0]) * 5]
    if x[0] > 0:
        items.append(7)
    v = min(items)
    return x[1] * 2 if isinstance(v, int) else x[1] * v


def sorted_ints(x, n):
    v = sorted([n, 5])[0]
    return x[1] * (2 if isinstance(v, int) else 3) * (v + 1)


def rounded_in_a_loop(x, n):
    a, total = x * 1.0, 0.0
    for i in range(3):
        v = round(x @ x) if x[0] * 5 > n else x @ x
        total += a[i] * x[0]
    return total * (2 if isinstance(v, int) else 3)


def attribute(x, n):
    return x[0] * n.numerator if n.denominator == 1 and n.__class__ is int else x[1] * 3


def attribute_of_some(x, n):
    v = [x[0] * 2, n][n % 2]
    return x[0] * 2 if hasattr(v, "bit_length") else x[1] * 3


@pytest.mark.parametrize(
    "f",
    [power, power_by_a_name, reciprocal, power_of_either, either_or_an_array, smallest,
     smallest_of_many, sorted_ints, rounded_in_a_loop, attribute, attribute_of_some],
    ids=lambda f: f.__name__,
)  # fmt: skip
def test_types_that_the_values_of_ints_decide(f):
    gradient = srcgrad.value_and_grad(f)
    for n in (9, 6, 4, 3):
        value, d_x = gradient(X, n)
        slopes = [(f(X + d, n) - f(X - d, n)) / 2e-6 for d in 1e-6 * np.eye(3)]
        assert value == f(X, n)
        np.testing.assert_allclose(d_x, slopes, rtol=1e-6, atol=1e-8)


def test_a_power_of_ints_is_an_int_until_its_type_is_asked():
    """As it is a dimension: `np.zeros(2**n)` is as it would be written by hand."""

    def f(x, n):
        a = np.zeros(2**n)
        a[:3] = x
        return np.sum(a * a) * 2 ** (n - 6)

    gradient = srcgrad.grad(f)
    np.testing.assert_allclose(gradient(X, 2), X / 8)
    assert "check" not in gradient.source
    with pytest.raises(srcgrad.UnsupportedError, match=r"(?s)an int or a float.*isinstance"):
        srcgrad.grad(lambda x, n: x[0] * 2 if type(2**n) is int else x[1])(X, 2)

    def asked_before(x, n):
        v, total = 1, 0.0
        for item in x:
            total += item * 2 if isinstance(v, int) else item
            v = 2 ** (n - 6)
        return total

    gradient = srcgrad.value_and_grad(asked_before)
    assert gradient(X, 7)[0] == asked_before(X, 7)
    with pytest.raises(ValueError, match=r"\(2\) \*\* \(-2\) is a float"):
        gradient(X, 4)


@pytest.mark.parametrize("ends", ["n", "1, n", "n, 2", "len(x) - 3", "n, n + 2", "5, n, -2"])
def test_the_length_of_a_range_is_never_negative(ends):
    text = f"def f(x, n):\n    return x[0] * len(range({ends})) + x[1]\n"
    namespace = {}
    exec(text, namespace)
    gradient = srcgrad.grad(namespace["f"], source=text)
    for n in (3, 1, 0, -2):
        assert list(gradient(X, n)) == [len(range(*eval(f"({ends},)", {"x": X, "n": n}))), 1, 0]


def greater_of_two(x, y):
    return max(x, y) * x * y


def greater_than_an_int(x, y):
    return max(1, x) * y + min(y, 1) * max(2, y, x)


def greater_than_each_int(x, y):
    items = []
    for i in range(3):
        items.append(max(i, x))
    return sum(items) * y


def greatest_so_far(x, y):
    most = 0
    for i in range(3):
        most = max(most, x * i, y)
    return most


@pytest.mark.parametrize("shape", [(), (1,)])
@pytest.mark.parametrize(
    "f", [greater_of_two, greater_than_an_int, greater_than_each_int, greatest_so_far]
)
def test_the_greater_of_a_number_and_an_array_of_one_item(f, shape):
    """It may be the array, of floats where the number is an int: no sample of it shows that."""
    for a, b in ((1.5, 0.7), (0.4, 1.3), (-0.5, 2.5), (3.5, 2.2)):
        for x, y in ((np.full(shape, a), b), (np.full(shape, a), np.array(b))):
            value, pullback = srcgrad.vjp(f, x, y)
            np.testing.assert_array_equal(value, f(x, y))
            d_x, d_y = pullback(np.ones(np.shape(value)))
            moved = srcgrad.jvp(f, (x, y), (np.full(shape, 0.3), 0.7 + 0 * y))[1]
            ahead, behind = (f(x + s * 0.3, y + s * 0.7) for s in (1e-6, -1e-6))
            slope = np.sum(ahead - behind) / 2e-6
            np.testing.assert_allclose(0.3 * np.sum(d_x) + 0.7 * d_y, slope, rtol=1e-7)
            np.testing.assert_allclose(np.sum(moved), slope, rtol=1e-7)
            assert np.shape(d_x) == shape


def test_ties_of_arrays_of_one_item_share_equally():
    gradient = srcgrad.grad(lambda x: max(x, 0) * 3.0 + min(0.0, x))
    assert gradient(np.array(0.0)) == 2.0


def test_the_greater_array_that_is_written_is_refused():
    """It is the argument itself: its adjoint isn't the greater of the adjoints."""

    def f(x, y):
        m = max(x, y)
        m += 1
        return x * y * m

    x, y = np.array(2.5), np.array(0.7)
    for differentiate in (
        lambda: srcgrad.vjp(f, x, y), lambda: srcgrad.jvp(f, (x, y), (x, y)),
    ):  # fmt: skip
        with pytest.raises(ValueError, match=r"shares memory.*make a copy"):
            differentiate()
    assert (x, y) == (2.5, 0.7)


def lowest_so_far(x, n):
    low = x
    for i in range(n):
        low = low if low < i else i
    return low * 2.0


@pytest.mark.parametrize("n", [0, 1, 3])
def test_a_gradient_in_single_precision_of_an_int_or_an_array_stays_so(n):
    """Of an array without axes arithmetic makes numbers, which have a dtype, too."""
    for value in (-1.5, 5.5):
        x = np.array(value, np.float32)
        gradient = srcgrad.grad(lowest_so_far)(x, n)
        assert gradient.dtype == np.float32
        assert gradient == (2.0 if n == 0 or value < 0 else 0.0)
        assert srcgrad.vjp(lowest_so_far, x, n)[1](1.0)[0].dtype == np.float32


def truth_or_number(x):
    positive = x[0] > 0
    q = positive if positive else x[1]
    return x[0] * (q + q) - x[2] * q - x[1] * q


def truth_or_each_number(x):
    total = 0.0
    for v in x:
        q = v > 0 or v
        total += (q + q) * v * v
    return total


def truth_until_later(x):
    q = x[0] < 5
    for v in x:
        if v > 100:
            q = v
    return x[0] * (q + q) + q * 1


def truth_and_each_number(x):
    return sum((v > 0 and v**2) for v in x) * x[0]


@pytest.mark.parametrize(
    "f", [truth_or_number, truth_or_each_number, truth_until_later, truth_and_each_number]
)
def test_a_truth_value_in_place_of_a_number_is_no_one(f):
    """NumPy's True + True is True: `q + q` isn't `2 * q`."""
    x = np.array([1.2, -0.7, 2.1])
    value, slope = srcgrad.value_and_grad(f)(x)
    assert value == pytest.approx(f(x), rel=1e-12)
    steps = 1e-6 * np.eye(3)
    expected = [(f(x + s) - f(x - s)) / 2e-6 for s in steps]
    np.testing.assert_allclose(slope, expected, rtol=1e-6, atol=1e-8)
    out, moved = srcgrad.jvp(f, (x,), (np.ones(3),))
    assert (out, moved) == pytest.approx((f(x), sum(expected)), rel=1e-6)


def test_a_number_of_numpy_in_place_of_an_array_without_axes():
    def f(x):
        z, k = np.array(x[0]), np.arange(3)
        if x[1] > 1:
            z = np.sum(k * 0.5)
        return z[()] * x[1] + z.reshape(-1)[0] * x[2]

    def looped(x):
        z, k = np.array(x[0]), np.arange(3)
        for v in x:
            z = np.sum(k * 0.5) if v > 1 else np.array(v)
        return z[()] * x[1] + z.reshape(-1)[0] * x[2]

    for g in (f, looped):
        for second in (0.5, 1.5):
            srcgrad.testing.check_grads(g, (np.array([1.2, second, 2.1]),))


@pytest.mark.parametrize("largest", [max, min, lambda items: max(map(abs, items))])
def test_the_extreme_of_floats_of_two_precisions_is_one_of_them(largest):
    """An array of Python's floats and single ones would be of doubles."""

    def f(x, n):
        items = [0.0] * n
        for i in range(n - 1):
            items[i] = x[i]
        return largest(items) / 3 * x[0]

    x = np.array([1.3, 0.4, -0.2, -0.7], np.float32)
    value, gradient = srcgrad.value_and_grad(f)(x, 4)
    assert value == f(x, 4) and value.dtype == f(x, 4).dtype
    assert gradient.dtype == np.float32


@pytest.mark.parametrize("dtype", ["f2", "f4", "f8"])
@pytest.mark.parametrize(
    "joined",
    [
        lambda x: np.r_[x, 1.0, 2] / 3, lambda x: np.r_[x[0], 1] / 3, lambda x: np.r_[x, [1.0]] / 3,
        lambda x: np.r_[0.0, x[1:], x[0]] / 3, lambda x: np.r_[x, 0:2] / 3,
        lambda x: np.c_[x, x * 2] / 3,
    ],
)  # fmt: skip
def test_what_r_joins_has_the_precision_of_the_arrays(joined, dtype):
    x = X.astype(dtype)
    value = srcgrad.vjp(joined, x)[0]
    assert value.dtype == joined(x).dtype
    assert np.array_equal(value, joined(x))


NUMBERS = (
    True, 2, 1.5, 1j, np.True_, np.int8(3), np.int64(3), np.float16(0.5), np.float32(0.5),
    np.float64(0.5), np.complex64(2j), np.complex128(2j),
)  # fmt: skip


@pytest.mark.parametrize("one, other", [*itertools.combinations(NUMBERS, 2)])
def test_arithmetic_on_one_of_two_numbers_has_its_dtype(one, other):
    def f(x, first):
        number = one if first else other
        product = number * np.float32(1.5)
        return np.full(2, product), np.zeros(2, np.float32) + number * other, np.full(2, number)

    for first in (True, False):
        for ours, theirs in zip(srcgrad.vjp(f, X, first)[0], f(X, first), strict=True):
            assert ours.dtype == theirs.dtype
            assert np.array_equal(ours, theirs)


def test_a_sum_that_starts_as_an_int_is_of_double_precision_for_all_that_is_known():
    """What may be an int isn't what may be a float of half the precision."""

    def f(x, n):
        lost = 0.0
        for i in range(n):
            lost -= x[i]
        drift = sum(0.5 * x[i] for i in range(n)) + lost - 3.0
        return 10 * drift**2

    srcgrad.testing.check_grads(f, (X, 3))
    gradient = srcgrad.grad(f)
    gradient(X, 3)
    assert "20.0 * drift" in gradient.source


@pytest.mark.parametrize("function", [np.sin, np.exp, np.sqrt])
def test_functions_of_what_may_be_a_bool_are_of_half_precision_then(function):
    def f(x):
        of_bool = function(x[0] > 1.0 or 2.5)
        return x[1] * of_bool, of_bool, np.full(2, of_bool)

    for x in (X, X - 0.5):
        for ours, theirs in zip(srcgrad.vjp(f, x)[0], f(x), strict=True):
            assert ours.dtype == theirs.dtype
            assert np.array_equal(ours, theirs)
