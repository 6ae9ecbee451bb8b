"""Recursive functions that take, change and return lists whose lengths only the data decide."""

import numpy as np
import pytest

import srcgrad

X = np.random.default_rng(3).normal(size=6)
DEPTH = 3.5  # a float, so that how deep a recursion goes isn't known when compiling


def merge_sort(xs):
    if len(xs) <= 1:
        return xs
    middle = len(xs) // 2
    a, b = merge_sort(xs[:middle]), merge_sort(xs[middle:])
    out = []
    i = j = 0
    while i < len(a) and j < len(b):
        if a[i] <= b[j]:
            out.append(a[i])
            i += 1
        else:
            out.append(b[j])
            j += 1
    return out + a[i:] + b[j:]


def sorted_by_merging(x, depth):
    return sum((k + 1) * v for k, v in enumerate(merge_sort([v * v for v in x])))


def quick_sort(xs):
    if len(xs) < 2:
        return xs
    pivot, rest = xs[0], xs[1:]
    below = [v for v in rest if v < pivot]
    return quick_sort(below) + [pivot] + quick_sort([v for v in rest if v >= pivot])  # noqa: RUF005


def sorted_by_pivots(x, depth):
    return sum(v * np.sin(k) for k, v in enumerate(quick_sort(list(x))))


def casteljau(points, t):
    if len(points) == 1:
        return points[0]
    between = range(len(points) - 1)
    return casteljau([(1 - t) * points[i] + t * points[i + 1] for i in between], t)


def bezier(x, depth):
    return np.sum(casteljau([np.cos(x) * v for v in x], depth / 10) ** 2)


def fft(xs):
    n = len(xs)
    if n == 1:
        return xs
    even, odd = fft(xs[0::2]), fft(xs[1::2])
    turned = [np.exp(-2j * np.pi * k / n) * odd[k] for k in range(n // 2)]
    first = [even[k] + turned[k] for k in range(n // 2)]
    return first + [even[k] - turned[k] for k in range(n // 2)]


def power_spectrum(x, depth):
    return sum(k * abs(v) ** 2 for k, v in enumerate(fft(list(x[:4]))))


def collect(a, b, f, width, out):
    middle = 0.5 * (a + b)
    if b - a < width:
        out.append(f(middle) * (b - a))
        return
    collect(a, middle, f, width, out)
    collect(middle, b, f, width, out)


def quadrature(x, depth):
    out = []
    collect(x[0] - 3, x[1] + 3, lambda t: np.sin(x[2] * t) * t, depth / 3, out)
    return sum(v * v for v in out)


def weighted(keys, left, right, i, depth):
    if i < 0:
        return 0.0
    below = weighted(keys, left, right, left[i], depth + 1)
    return below + keys[i] ** 2 * depth + weighted(keys, left, right, right[i], depth + 1)


def insert(keys, left, right, i, key):
    if key < keys[i]:
        if left[i] < 0:
            keys.append(key)
            left.append(-1)
            right.append(-1)
            left[i] = len(keys) - 1
        else:
            insert(keys, left, right, left[i], key)
    elif right[i] < 0:
        keys.append(key)
        left.append(-1)
        right.append(-1)
        right[i] = len(keys) - 1
    else:
        insert(keys, left, right, right[i], key)


def search_tree(x, depth):
    keys, left, right = [x[0]], [-1], [-1]
    for v in x[1:]:
        insert(keys, left, right, 0, v)
    return weighted(keys, left, right, 0, 1)


def permutations(xs):
    if len(xs) <= 1:
        return [xs]
    out = []
    for i in range(len(xs)):
        for rest in permutations(xs[:i] + xs[i + 1 :]):
            out.append([xs[i], *rest])
    return out


def all_orders(x, depth):
    return sum(p[0] * p[1] ** 2 for p in permutations(list(x[:3])))


def subsets(xs, i, chosen):
    if i == len(xs):
        product = 1.0
        for v in chosen:
            product *= v
        return product
    chosen.append(xs[i])
    total = subsets(xs, i + 1, chosen)
    chosen.pop()
    return total + subsets(xs, i + 1, chosen)


def backtracking(x, depth):
    values = []
    for v in x[:4]:
        values.append(v * v)
    return subsets(values, 0, [])


def visit(edges, weights, i, seen, path):
    seen.append(i)
    path.append(weights[i])
    total = weights[i] ** 2
    for j in edges[i]:
        if j not in seen:
            total += weights[i] * visit(edges, weights, j, seen, path)
    return total


def depth_first(x, depth):
    path = []
    total = visit([[1, 2], [3], [4], [5], [5], [0]], x, 0, [], path)
    return total + sum(v**3 for v in path)


def scale_items(n, xs):
    if n == 0:
        return
    xs[n - 1][:] = np.sin(xs[n - 1]) * xs[n - 1][0]
    scale_items(n - 1, xs)


def arrays_written_in_the_list(x, depth):
    n = int(depth)
    xs = [x * (k + 1) for k in range(n)]
    first = xs[0]
    before = np.sum(first**2) * first[0]
    scale_items(n, xs)
    return np.sum(first**2) * first[0] * before + sum(np.sum(v**3) for v in xs)


def squares_of_items(n, xs):
    if n == 0:
        return 0.0
    copied = xs[n - 1].copy()
    return np.sum(xs[n - 1] ** 2 * copied) + squares_of_items(n - 1, xs)


def read_and_then_overwritten(x, depth):
    n = int(depth)
    xs = [x * (k + 1) for k in range(n)]
    first, copied = xs[0], xs[1] * 1.0
    before = squares_of_items(n, xs)
    first[:] = first**3 * copied
    after = squares_of_items(n, xs)
    first[:] = 0.0
    scale_items(n, xs)
    return before * after + np.sum(copied**2)


def set_items(n, xs):
    if n == 0:
        return
    xs[n - 1] = np.sin(xs[n - 1]) * xs[n]
    set_items(n - 1, xs)


def numbers_set(x, depth):
    n = int(depth)
    xs = [x[k] * (k + 1) for k in range(n + 1)]
    first = xs[0]
    set_items(n, xs)
    return sum(v * v * first for v in xs)


def arrays_set(x, depth):
    n = int(depth)
    xs = [x * (k + 1) for k in range(n + 1)]
    first = xs[0]
    set_items(n, xs)
    return sum(np.sum(v * v * first) for v in xs)


def last(n, xs):
    if n == 0:
        return xs[0]
    return last(n - 1, xs[1:])


def an_item_returned(x, depth):
    n = int(depth)
    xs = [x * (k + 1) for k in range(n + 1)]
    return np.sum(last(n, xs) * xs[0]) + np.sum(np.sin(xs[n]))


def powers(n, xs):
    if n == 0:
        return np.sum(np.stack(xs) ** 2)
    xs.append(xs[-1] * xs[0])
    return powers(n - 1, xs) + np.sum(xs[0])


def stacked_and_grown(x, depth):
    xs = [np.sin(x) * (k + 1) for k in range(2)]
    return powers(int(depth), xs) * np.sum(xs[-1])


def new_lists_in_a_loop(x, depth):
    total = 0.0
    for i in range(int(depth)):
        xs = [np.sin(x[i]) * (k + 1) for k in range(i + 2)]
        total += powers(i, xs) * xs[-1]
    return total


def put(n, x, out):
    if n == 0:
        out.append(x)
        return
    put(n - 1, x, out)


def one_array_twice(x, depth):
    y = x * 2
    out = []
    put(int(depth), y, out)
    put(int(depth), y, out)
    return np.sum(out[0] * out[1] * y)


def pairs(n, xs):
    if n == 0:
        return xs
    return pairs(n - 1, [(a * b, b + 1) for a, b in xs])


def tuples_in_lists(x, depth):
    return sum(a * b for a, b in pairs(int(depth), [(v, 2 * v) for v in x]))


def fibonacci(n, a, b, products):
    if n == 0:
        return a, products
    products.append(a * b)
    return fibonacci(n - 1, b, a + b, products)


def number_and_list_returned(x, depth):
    a, products = fibonacci(int(depth), x[0], x[1], [])
    return a * sum(products)


def swap(n, a, b):
    if n == 0:
        return a[0] - b[0]
    a[0], b[0] = b[0] * 2, a[0] * 3
    return swap(n - 1, b, a)


def lists_that_change_places(x, depth):
    xs, ys = [], []
    for v in x:
        xs.append(v)
        ys.append(v * v)
    return swap(int(depth), xs, ys) * xs[0] * ys[0]


def one_list_for_two(x, depth):
    xs = []
    for v in x:
        xs.append(v)
    return swap(int(depth), xs, xs) * xs[0]


def permuted(rest, chosen, out):
    if not rest:
        out.append(sum(v * (i + 1) for i, v in enumerate(chosen)))
        return
    for i in range(len(rest)):
        permuted(rest[:i] + rest[i + 1 :], chosen + [rest[i]], out)  # noqa: RUF005


def over_permutations(x, depth):
    out = []
    permuted(list(x[: int(depth)]), [], out)
    return np.log(sum(np.exp(v) for v in out))


def by_minors(rows):
    if len(rows) == 1:
        return rows[0][0]
    total = 0.0
    for j in range(len(rows)):
        minor = [row[:j] + row[j + 1 :] for row in rows[1:]]
        total += (-1) ** j * rows[0][j] * by_minors(minor)
    return total


def expanded_determinant(x, depth):
    return by_minors([list(np.roll(x[: int(depth)], k) * (k + 1.5)) for k in range(int(depth))])


def quick_sort_down_to_nothing(xs):
    if not xs:
        return []
    pivot, *rest = xs
    below = [v for v in rest if v < pivot]
    above = [v for v in rest if v >= pivot]
    return quick_sort_down_to_nothing(below) + [pivot] + quick_sort_down_to_nothing(above)  # noqa: RUF005


def sorted_down_to_nothing(x, depth):
    return sum(k * v * v for k, v in enumerate(quick_sort_down_to_nothing(list(x))))


def all_subsets(xs):
    if not xs:
        return [[]]
    others = all_subsets(xs[1:])
    return others + [[xs[0], *s] for s in others]


def sums_of_subsets(x, depth):
    return sum(sum(s) ** 3 for s in all_subsets([v for v in x if v < depth]))


def steps_and_product(x, depth):
    if depth <= 0:
        return [], x[1]
    steps, product = steps_and_product(x, depth - 1)
    return [*steps, depth * x[0]], product * depth


def a_list_and_a_number(x, depth):
    steps, product = steps_and_product(x, depth)
    return product * sum(k * v * v for k, v in enumerate(steps))


def taken_in_turns(xs, mine):
    if not xs:
        return []
    return [*([xs[0]] if mine else []), *taken_in_turns(xs[1:], not mine)]


def every_second(x, depth):
    return sum((k + 1) * v * v for k, v in enumerate(taken_in_turns(list(x), True)))


def branches(x, depth):
    found = []
    if depth > 0:
        found.append(depth * x[1])
        found.extend(branches(x, depth - 1))
        found += branches(x, depth - 2)
    return found


def grown_from_nothing(x, depth):
    return sum((k + 1) * v * v for k, v in enumerate(branches(x, depth)))


def gathered(v, depth, into=None):
    into = [] if into is None else into
    into.append(v * depth)
    if depth > 0:
        gathered(np.sin(v), depth - 1, into)
    return into


def lists_made_where_none_is_given(x, depth):
    numbers, arrays = gathered(x[0], depth), gathered(x[1:3], depth)
    total = sum((k + 1) * v * v for k, v in enumerate(numbers))
    return total + np.sum(np.stack(arrays) ** 2)


def a_list_or_none_is_given(x, depth):
    there = [x[3] * 2] if x[0] < 5 else None
    gone = [x[3]] if x[0] > 5 else None
    total = sum(gathered(x[1], depth, there)) * len(there) + sum(gathered(x[2], depth, gone))
    again = None
    for k in range(int(depth)):
        again = gathered(x[k], depth, again)
    return total + sum(v * v for v in again)


def optional_array(x, depth):
    rows = np.outer([0.5, 1.2, -0.7, 0.9][: int(depth)], x)
    scale, total, before = np.ones(len(x)), 0.0, None

    def step(row):
        nonlocal scale, total, before
        if before is not None:
            total = total + np.sum(before * row)
        before = np.sin(row)
        scale *= row

    def through(those):
        if those:
            step(those[0])
            through(those[1:])

    through(list(rows))
    return np.sum(scale) + total + (0.0 if before is None else np.sum(before**3))


def optional_array_overwritten(x, depth):
    response, numerator, denominator = np.ones(3), None, None

    def step(row):
        nonlocal response, numerator, denominator
        numerator = row[:3]
        denominator = np.concatenate([[2.0], row[3:]])
        response *= horner(numerator, 0.3) / horner(denominator, 0.2)

    def through(those):
        if those:
            step(those[0])
            through(those[1:])

    through(list(np.outer([0.5, 1.2, -0.7, 0.9][: int(depth)], x)))
    return np.sum(response)


def horner(coefficients, z):
    value = 0.0
    for c in coefficients[::-1]:
        value = value * z + c
    return value


PROGRAMS = [
    sorted_by_merging, sorted_by_pivots, bezier, power_spectrum, quadrature, search_tree,
    all_orders, backtracking, depth_first, arrays_written_in_the_list, read_and_then_overwritten,
    numbers_set, arrays_set,
    an_item_returned, stacked_and_grown, new_lists_in_a_loop, one_array_twice, tuples_in_lists,
    number_and_list_returned, lists_that_change_places, one_list_for_two, over_permutations,
    expanded_determinant, sorted_down_to_nothing, sums_of_subsets, a_list_and_a_number,
    every_second, grown_from_nothing, lists_made_where_none_is_given, a_list_or_none_is_given,
    optional_array, optional_array_overwritten,
]  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_gradient(program):
    x = X.copy()
    gradient = srcgrad.grad(program)(x, DEPTH)
    assert np.array_equal(x, X)
    _, pullback = srcgrad.vjp(lambda x: program(x, DEPTH), x)
    for _ in range(2):
        assert np.allclose(pullback(1.0)[0], gradient, rtol=1e-12, atol=0)
    rng = np.random.default_rng(0)
    for _ in range(3):
        v = rng.normal(size=6)
        h = 1e-6
        expected = (program(x + h * v, DEPTH) - program(x - h * v, DEPTH)) / (2 * h)
        assert np.isclose(gradient @ v, expected, rtol=1e-6, atol=1e-7)
        _, tangent = srcgrad.jvp(program, (x, DEPTH), (v, 0.0))
        assert np.isclose(tangent, gradient @ v, rtol=1e-10)


def shared_then_written(x, depth):
    y = x * 2
    out = []
    put(int(depth), y, out)
    y[0] = y[1] * 3
    return np.sum(out[0] ** 2)


def item_then_written(x, depth):
    xs = [x * (k + 1) for k in range(int(depth) + 1)]
    y = last(int(depth), xs)
    y[0] = 3.0 * x[1]
    return np.sum(y * xs[0])


REFUSED = {
    shared_then_written: ("is given 'y' and 'out', which may share memory", "put(int(depth)"),
    item_then_written: ("its result may share memory with", "y = last"),
}


@pytest.mark.parametrize("program", REFUSED, ids=lambda f: f.__name__)
def test_refusal(program):
    message, line = REFUSED[program]
    with pytest.raises(srcgrad.UnsupportedError) as refusal:
        srcgrad.grad(program)(X, DEPTH)
    assert message in str(refusal.value)
    assert refusal.value.text.strip().startswith(line)


def numbers_or_arrays(items, a, depth):
    if depth <= 0:
        return np.sum(a) * items[0]
    items.append(np.tanh(items[0] * np.sum(a)))
    return numbers_or_arrays([v * np.tanh(len(items) * 0.1) for v in items], a, depth - 1)


def test_a_list_is_of_numbers_on_both_sides_of_a_call():
    def f(x, z):
        items = [z, x[-1]]
        return numbers_or_arrays(items, x, DEPTH) + sum(items) * items[0]

    expected = srcgrad.grad(f)(X, 0.4)
    try:
        gradient = srcgrad.grad(f)(X.astype(np.float32), 0.4)
    except srcgrad.UnsupportedError as refusal:
        assert "are numbers here and arrays there" in str(refusal)
    else:
        np.testing.assert_allclose(gradient, expected, rtol=1e-5)


def cheapest(i, x):
    if i == 0:
        return 0.0
    return min(cheapest(k, x) + x[i] * x[k] for k in range(i))


def cheapest_of_a_list(i, x):
    if i == 0:
        return 0.0
    return max([cheapest_of_a_list(k, x) - x[i] * x[k] for k in range(i)])


@pytest.mark.parametrize("recursion", [cheapest, cheapest_of_a_list])
def test_extrema_of_what_a_recursion_returns(recursion):
    """Nothing is known of the items while the first result isn't, so that there are none yet."""
    x = np.abs(X[:5])
    gradient = srcgrad.grad(lambda x: recursion(len(x) - 1, x))
    h = 1e-6
    for e in np.eye(5):
        above, below = (recursion(4, x + s * e) for s in (h, -h))
        np.testing.assert_allclose(gradient(x) @ e, (above - below) / (2 * h), atol=1e-8)
