"""Iterators that are used more than once: next, loops that are left and go on, itertools.tee."""

import collections
import itertools

import numpy as np
import pytest

import srcgrad
from srcgrad.testing import check_grads

X = np.array([0.4, 0.7, -0.3, 1.3, -0.9])


def next_of_what_builtins_make(x):
    backwards, pairs, numbered = reversed(x), zip(x, x[::-1], strict=False), enumerate(x * x)
    sines = map(np.sin, x)
    a, (b, c), (i, d) = next(backwards), next(pairs), next(numbered)
    return a * next(backwards) ** 2 + b * next(pairs)[1] * c + next(sines) * d * next(sines) + i


def weights_in_turn(x):
    weights, powers = itertools.cycle([1.0, 2.0, 3.0]), itertools.count(1)
    total = 0.0
    for v in x:
        total += next(weights) * v ** next(powers)
    return total


def counted_on_branches(x):
    ranks = itertools.count(1)
    total = 0.0
    for v in x:
        total += v * next(ranks) if v > 0 else v * v
    return total * next(ranks)


def broken_off_and_gone_on(x):
    rest = iter(x)
    total = 0.0
    for v in rest:
        total += v
        if v < 0:
            break
    for v in rest:
        total += v * v
    return total


def each_round_goes_on(x):
    rest = iter(x)
    total = 0.0
    for k in range(3):
        for v in rest:
            total += v * v * (k + 1)
            if v < 0:
                break
    return total


def first_and_rest_of_a_generator(x):
    squares = (v * v for v in x)
    first = next(squares)
    second = next(squares)
    rest = list(squares)
    return first * second + rest[0] * len(rest) + sum(squares)


def generator_broken_off(x):
    squares = (v * v for v in x)
    total = 0.0
    for v in squares:
        total += v
        if v > 0.3:
            break
    return total + sum(2 * v * v for v in squares)


def generator_sees_what_is_changed(x):
    factor = 2.0
    products = (v * factor for v in x)
    first = next(products)
    factor = x[3]
    return first * next(products)


def used_up(x):
    pairs, backwards = zip(x, x[::-1], strict=False), reversed(range(3))
    total = sum(a * b for a, b in pairs) + sum(x[i] ** 2 for i in backwards)
    return total + sum(a * b for a, b in pairs) + sum(100 * x[i] for i in backwards)


def until_it_stops(x):
    tokens = iter(x)
    total = 0.0
    while True:
        try:
            v = next(tokens)
        except StopIteration:
            break
        total += v**3
    return total + next(tokens, 0.0)


def taken_apart(x):
    parameters = iter(x)
    scale = next(parameters)
    shift = [next(parameters) for _ in range(2)]
    return scale * shift[0] * shift[1] ** 2 + np.sum(np.array(list(parameters)) ** 3)


def in_pieces(x):
    rest = iter(x)
    a, b = list(itertools.islice(rest, 2)), list(itertools.islice(rest, 2))
    return a[0] * b[0] + a[1] * b[1] ** 2 + sum(rest)


def two_of_one(x):
    a, b = itertools.tee(v * v for v in x)
    next(b)
    return sum(p * q for p, q in zip(a, b, strict=False))


def of_an_object(x):
    class Schedule:
        def __init__(self, rates):
            self.rates = itertools.cycle(rates)

        def rate(self):
            return next(self.rates)

    schedule = Schedule([0.1, 0.2])
    y = x
    for _ in range(3):
        y = y - schedule.rate() * y**2
    return np.sum(y)


def given_to_a_function(x):
    def head(items):
        return next(items)

    squares = map(np.square, x)
    return head(squares) * head(squares) ** 2


def loop_with_else(x):
    rest = iter(x)
    total = 0.0
    for v in rest:
        total += v * v
        if v > 100:
            break
    else:
        total *= 2
    return total + sum(rest)


PAIRS = {(i, i + 1): 0.1 * i for i in range(30)}


def of_a_dict_outside(x):
    pairs, total = iter(PAIRS.items()), 0.0
    while True:
        try:
            (i, j), value = next(pairs)
        except StopIteration:
            return total
        total += np.sin(i * x[0]) * value * x[j % 3]


def of_a_dict(x):
    table = {"a": x[0], "b": x[1] * x[2]}
    keys, pairs = iter(table), iter(table.items())
    _, first = next(pairs)
    return table[next(keys)] * table[next(keys)] ** 2 + first * sum(v for _, v in pairs)


class Squares:
    def __init__(self, x):
        self.items = (v * v for v in x)


def in_an_attribute(x):
    kept = Squares(x)
    return next(kept.items) * next(kept.items) + sum(kept.items) + sum(kept.items)


def in_an_attribute_in_a_loop(x):
    kept, total = Squares(x), 0.0
    for i in range(3):
        total = total + sum(kept.items) * x[i] + x[i]
    return total


def handed_to_callees(x):
    def total(items):
        return sum(items)

    kept = Squares(x)
    return total(kept.items) + total(kept.items)


def used_up_on_a_branch(x):
    kept, total = Squares(x), 0.0
    if x[0] > 0.1:
        total = next(kept.items) * x[1]
    return total + sum(kept.items)


def views_see_what_is_changed(x):
    parts = {"a": x[0], "b": x[1] ** 2}
    values, pairs = iter(parts.values()), zip(parts.items(), x, strict=False)
    parts["a"] = x[2] ** 2
    total = next(values) + parts["b"]
    for (name, value), v in pairs:
        parts[name] = value - 0.1 * v
        parts["b"] = parts["b"] * parts["a"]
    return total + sum(values) * parts["b"]


def changed_where_it_stands(x):
    items = [v * v for v in x]
    pairs, numbered = zip(items, x, strict=True), enumerate(items)
    items[0] = x[1] ** 3
    total = 0.0
    for i, v in numbered:
        items[-1] = items[-1] + v * i
    if x[0] > 0.1:
        items[1] = x[2]
    return total + sum(a * b for a, b in pairs)


def part_of_an_array(x):
    part = itertools.islice(x * x, 1, 4)
    return next(part) * sum(part)


@pytest.mark.parametrize(
    "function",
    [
        views_see_what_is_changed, changed_where_it_stands, part_of_an_array,
        next_of_what_builtins_make, weights_in_turn, counted_on_branches, broken_off_and_gone_on,
        each_round_goes_on, first_and_rest_of_a_generator, generator_broken_off,
        generator_sees_what_is_changed, used_up, until_it_stops, taken_apart, in_pieces, two_of_one,
        of_an_object, given_to_a_function, loop_with_else, of_a_dict, of_a_dict_outside,
        in_an_attribute, in_an_attribute_in_a_loop, handed_to_callees, used_up_on_a_branch,
    ],
)  # fmt: skip
def test_an_iterator_knows_how_far_it_has_come(function):
    compare_with_differences(function)


def compare_with_differences(function):
    gradient = srcgrad.grad(function)
    found = gradient(X)
    steps = 1e-6 * np.eye(X.size)
    differences = [(function(X + h) - function(X - h)) / 2e-6 for h in steps]
    np.testing.assert_allclose(found, differences, rtol=1e-6, atol=1e-8)
    value, tangent = srcgrad.jvp(function, (X,), (X,))
    assert value == pytest.approx(function(X), rel=1e-12)
    assert tangent == pytest.approx(found @ X, rel=1e-9)
    slopes = [(gradient(X + h) - gradient(X - h)) @ X / 2e-6 for h in steps]
    np.testing.assert_allclose(srcgrad.hvp(function)(X, X), slopes, rtol=1e-5, atol=1e-7)


def test_next_in_a_loop_over_the_same_iterator():
    def f(x):
        rest = iter(x)
        return sum(v * next(rest, 1.0) for v in rest)

    compare_with_differences(f)


def test_an_iterator_that_has_no_more_items():
    def f(x):
        pairs = zip(x[:1], 2 * x, strict=False)
        next(pairs)
        return next(pairs)[0]

    with pytest.raises(StopIteration):
        f(X)
    with pytest.raises(StopIteration):
        srcgrad.grad(f)(X)


def made_before(make, consume=sum):
    def f(x):
        items = [x[0], x[1]]
        iterator = make(items, x)
        items.append(x[2] ** 2)
        return consume(iterator)

    return f


def numbered_while_it_grows(x):
    queue, total = [x[0]], 0.0
    for i, node in enumerate(queue):
        total += node * i
        if i < 3:
            queue.append(node * x[i])
    return total


def as_many_as_the_run_tells(x):
    queue, total = [v for v in x if v > 0], 0.0
    for i, node in enumerate(queue):
        total += node * i
        if node > 1.0:
            queue.append(0.5 * node)
    return total


def shorter_by_and_by(x):
    items, total = [v * v for v in x], 0.0
    for v in items:
        total += 2 * v
        items.remove(v)
    return total * len(items)


def broken_off_or_not(x):
    total, queue = 0.0, [(0, x[0])]
    for k in range(3):
        for i, value in queue:
            total += np.sin(value) * i
            if i + 1 < x.size:
                queue += [(i + 1, value * x[i + 1])]
            elif total < -k:
                break
        else:
            total += k * value
    return total * len(queue)


def breadth_first(x):
    neighbours = {0: [1, 2], 1: [3], 2: [3, 4], 3: [], 4: [0]}
    distances, seen, queue = np.zeros(5), {0}, [0]
    for node in queue:
        for other in neighbours[node]:
            if other not in seen:
                seen.add(other)
                queue.append(other)
                distances[other] = distances[node] + x[node] * x[other]
    return np.sum(distances**2)


def two_loops_over_one(x):
    def items():
        yield from queue

    total, queue = 0.0, [0]
    for i in items():
        for j in queue:
            total += x[i] * x[j] * (i + 2 * j)
            if j < 2 and len(queue) < 4:
                queue.append(j + 1)
    return total


class Cell:
    def __init__(self, low, high, parent=None):
        self.low, self.high, self.parent, self.mass = low, high, parent, 0.0


def cells_are_parted(x):
    cells = [Cell(0, x.size)]
    for cell in cells:
        middle = (cell.low + cell.high) // 2
        if middle > cell.low:
            cells.append(Cell(cell.low, middle, cell))
            cells.append(Cell(middle, cell.high, cell))
        else:
            cell.mass = x[cell.low] ** 2
    for cell in reversed(cells):
        if cell.parent is not None:
            cell.parent.mass += 1.1 * cell.mass
    return cells[0].mass ** 2


@pytest.mark.parametrize(
    "function",
    [
        numbered_while_it_grows, as_many_as_the_run_tells, shorter_by_and_by, broken_off_or_not,
        breadth_first, two_loops_over_one, cells_are_parted,
    ],
)  # fmt: skip
def test_a_list_may_change_while_it_is_gone_through(function):
    compare_with_differences(function)


def gone_through_again(x):
    places, few, total = range(x.size), range(1, 3), 0.0
    for i in places:
        total += x[i] * i
    for i in places:
        for j in few:
            for k in few:
                total += x[i] * x[j] * x[k]
    assert places and not range(0)
    return total * len(places) * (2 in few) * sum(places) + x[0] * (7 in places)


def items_of_ranges(x):
    places, some = range(x.size), range(10)[2:8:3]
    total = x[places[-1]] ** 2 * places[-1] + sum(x[i % 5] * i for i in some) * some[1]
    for i in range(3):
        total += x[places[i - 1]] * i * places[i - 1]
    try:
        return total * places[9]
    except IndexError:
        return total


def iterators_have_no_items(x):
    total = x[0]
    try:
        total *= zip(x, x, strict=True)[0][0]
    except TypeError:
        total *= x[1]
    return total * (2 if zip() and map(abs, []) and reversed(range(0)) else 3)


@pytest.mark.parametrize("f", [gone_through_again, items_of_ranges, iterators_have_no_items])
def test_ranges_are_no_iterators(f):
    compare_with_differences(f)


def begun_empty(x):
    items = []
    numbered = enumerate(items)
    for v in x:
        items.append(v * v)
    return sum(i * v for i, v in numbered)


def after_the_last(x):
    items, total = [x[0], x[1]], 0.0
    for v, w in zip(items, x):  # noqa: B905
        total += v * w
        if len(items) == 2 and v == items[1]:
            items.append(x[2])
    return total


def a_dict_that_grows(x):
    parts, total = {"a": x[0]}, 0.0
    for name, value in parts.items():
        total += value
        parts[name + "a"] = value
    return total


def a_deque_that_grows(x):
    queue, total = collections.deque([x[0]]), 0.0
    for v in queue:
        total += v
        queue.append(v)
    return total


@pytest.mark.parametrize(
    "f",
    [
        made_before(lambda items, x: iter(items)),
        made_before(lambda items, x: (a * b for a, b in zip(items, x, strict=False))),
        made_before(lambda items, x: map(lambda a, b: a * b, items, x)),
        made_before(lambda items, x: itertools.islice(items, 3)),
        made_before(lambda items, x: itertools.accumulate(items)),
        made_before(lambda items, x: itertools.zip_longest(items, x), lambda z: next(z)[0]),
        made_before(lambda items, x: iter(items), next),
        begun_empty, after_the_last,
    ],
)  # fmt: skip
def test_lists_that_get_longer_meanwhile(f):
    compare_with_differences(f)


@pytest.mark.parametrize("f", [a_dict_that_grows, a_deque_that_grows])
def test_what_mustnt_change_while_it_is_gone_through(f):
    with pytest.raises(srcgrad.UnsupportedError, match="changes its length while it is iterated"):
        srcgrad.value_and_grad(f)(X)


def rows_of(x):
    rows = []
    for v in x:
        rows.append([v * v, v])
    return rows


def grows_within_a_list(x):
    rows, total = rows_of(x), 0.0
    for v in rows[1]:
        total += v
        if len(rows[1]) < 5:
            rows[1].append(v * x[0])
    return total


def grows_by_another_name(x):
    rows, total = rows_of(x), 0.0
    for k in range(2):
        row = rows[k]
        for v in row:
            total += v * v
            if len(row) < 4:
                rows[k].append(v * x[0])
    return total


def chosen_where_it_is_used(x):
    squares = x * x
    return (lambda y: (v for v in y if np.sum(v) > 0.01))(squares)


def made_elsewhere(x):
    squares, items = x * x, chosen_where_it_is_used(x)
    squares[0] = 3.0
    return sum(items) * squares[0]


def grows_as_an_item_of_a_slice(x):
    rows, total = rows_of(x), 0.0
    part = rows[1:]
    for v in rows[1]:
        total += v
        if len(part[0]) < 4:
            part[0].append(v * x[0])
    return total


def grows_in_the_other_of_two(x):
    first, second, total = list(x), [v * v for v in x], 0.0
    chosen = first if x[0] > 0 else second
    for _ in range(2):
        for v in first:
            total += v * v
            if len(chosen) < 6:
                chosen.append(v * x[1])
        first, second = second, first
    return total


def grows_next_to_it(x):
    """What is gone through doesn't change, but holds the same items as what does."""
    subsets = [[]]
    for v in x:
        new = []
        for subset in subsets:
            new.append([*subset, v])
        subsets += new
    return sum(np.prod(subset) ** 2 for subset in subsets)


@pytest.mark.parametrize(
    "f",
    [
        grows_within_a_list, grows_by_another_name, grows_as_an_item_of_a_slice,
        grows_in_the_other_of_two, grows_next_to_it, made_elsewhere,
    ],
)  # fmt: skip
def test_what_grows_meanwhile_and_iterators_of_functions(f):
    compare_with_differences(f)


def written_before(make, write):
    def f(x):
        squares, items = x * x, []
        for v in x:
            items.append(v * v)
        iterator = make(squares, items)
        write(squares, items)
        return sum(iterator)

    return f


def each(values):
    yield from values


def write_item(squares, items):
    items[0] = items[1] * 3.0


def write_element(squares, items):
    squares[:2] *= 2.0


@pytest.mark.parametrize(
    "f",
    [
        written_before(lambda y, items: itertools.accumulate(items), write_item),
        written_before(lambda y, items: itertools.islice(items, 2), write_item),
        written_before(lambda y, items: itertools.accumulate(items), lambda y, items: items.sort()),
        written_before(lambda y, items: itertools.accumulate(y), write_element),
        written_before(lambda y, items: itertools.accumulate(y[1:]), write_element),
        written_before(lambda y, items: itertools.tee(v * 2.0 for v in y)[0], write_element),
        written_before(lambda y, items: iter(items), lambda y, items: items.append(y[0])),
    ],
)  # fmt: skip
def test_what_is_written_before_an_iterator_is_used_up(f):
    compare_with_differences(f)


def rebound(make):
    """A function that gives `k`, which the items of an iterator are made with, another value."""

    def f(x):
        k, holder = x[0], {"k": 2.0}
        iterator = make(x, lambda v: v * k * holder["k"])
        k, holder["k"] = x[1], 3.0
        return sum(np.sum(v) for v in iterator)

    return f


@pytest.mark.parametrize(
    "f",
    [
        rebound(lambda x, times: zip((times(v) for v in x), x, strict=False)),
        rebound(lambda x, times: zip((times(v) for v in x), (v * 2 for v in x), strict=False)),
        rebound(lambda x, times: zip(x, (times(v) for v in x if v > -9), strict=False)),
        rebound(lambda x, times: enumerate(times(v) for v in x)),
        rebound(lambda x, times: itertools.chain((times(v) for v in x), x)),
        rebound(lambda x, times: itertools.islice((times(v) for v in x), 2)),
    ],
)
def test_names_that_items_are_made_with_are_read_when_they_are_made(f):
    compare_with_differences(f)


@pytest.mark.parametrize(
    "f",
    [
        rebound(lambda x, times: itertools.accumulate(times(v) for v in x)),
        rebound(lambda x, times: itertools.accumulate(x, lambda a, b: a * times(b))),
        rebound(lambda x, times: itertools.pairwise(times(v) for v in x)),
        rebound(lambda x, times: itertools.tee(times(v) for v in x)[1]),
        rebound(lambda x, times: zip((times(v) for v in x if v > -9), [1.0, 2.0], strict=False)),
    ],
)
def test_names_that_change_before_items_are_asked_for(f):
    compare_with_differences(f)


@pytest.mark.parametrize(
    "f",
    [
        written_before(lambda y, items: map(min, zip(each(y), items, strict=True)), write_element),
        rebound(lambda x, times: map(min, each(map(times, x)), each(map(times, x)))),
    ],
)
def test_generators_that_are_gone_through_together_later_are_refused(f):
    with pytest.raises(srcgrad.UnsupportedError):
        srcgrad.grad(f)(X)


def test_names_rebound_between_items():
    def f(x):
        k, total = x[0], 0.0
        products = zip((v * k for v in x), x, strict=False)
        a, b = next(products)
        k = x[1]
        total += a * b
        for a, b in products:
            total += a * b
            k = k * 2.0
        return total

    compare_with_differences(f)


def test_until_a_function_returns_a_certain_value():
    def f(x):
        stack = list(x)
        return sum(v * v for v in iter(lambda: stack.pop() if stack else None, None))

    compare_with_differences(f)


def test_what_else_is_written_meanwhile_doesnt_matter():
    def f(x):
        squares, sums = x * x, np.zeros(len(x))
        for i, total in enumerate(itertools.accumulate(squares)):
            sums[i] = total * total
        squares[0] = 0.0
        return np.sum(sums) + squares[0]

    compare_with_differences(f)


def a_name_bound_anew_meanwhile(x):
    level, total = 0.7, 0.0
    for v in itertools.accumulate(x, lambda p, q: p * level + q):  # noqa: B023
        total += v * v
        level = level * 0.9
    return total


def a_name_bound_anew_beside_zip(x):
    level, total = x[0], 0.0
    items = zip(itertools.accumulate(x, lambda p, q: p * level + q), x, strict=True)
    for v, u in items:
        total += v * u
        level = level * 0.9
    return total


def an_item_of_a_list_set_meanwhile(x):
    level, total = [x[0]], 0.0
    for v in itertools.accumulate(x, lambda p, q: p * level[0] + q):
        total += v * v
        level[0] = level[0] * 0.9
    return total


def an_array_written_meanwhile(x):
    a, total, i = x * 1.0, 0.0, 1
    for v in itertools.accumulate(a):
        total += v * v
        if i < len(a):
            a[i] *= v
        i += 1
    return total


@pytest.mark.parametrize(
    "f",
    [
        a_name_bound_anew_meanwhile,
        a_name_bound_anew_beside_zip,
        an_item_of_a_list_set_meanwhile,
        an_array_written_meanwhile,
    ],
)
def test_what_items_are_made_of_changes_between_them(f):
    compare_with_differences(f)


def an_item_set_before_the_first_is_asked_for(make):
    """A function that makes an iterator over a list, writes the list, and goes through it."""

    def f(x):
        pool, total = [x[0], x[1], x[2]], 0.0
        items = make(pool)
        pool[0] = x[-1] * 2.0
        for v in items:
            total += np.sum(np.array(v)) ** 2
            pool[1] = pool[1] * 1.5
        return total

    return f


def named_first(make):
    def made(pool):
        squares = (v * v for v in pool)
        return make(squares)

    return made


@pytest.mark.parametrize(
    "make",
    [
        named_first(itertools.pairwise),
        named_first(itertools.accumulate),
        named_first(lambda squares: itertools.islice(squares, 2)),
        named_first(lambda squares: itertools.tee(squares)[1]),
        lambda pool: itertools.pairwise(v * v for v in pool),
        lambda pool: itertools.accumulate(map(np.sin, pool)),
        lambda pool: zip(itertools.cycle(pool), range(5), strict=False),
        lambda pool: itertools.compress(pool, [1, 1, 0]),
    ],
)
def test_lists_written_before_their_items_are_asked_for(make):
    compare_with_differences(an_item_set_before_the_first_is_asked_for(make))


def another_name_for_what_the_items_are_made_with(x, s):
    total, last = 0.0, s
    for v in itertools.accumulate(x, lambda p, q: p * s + q):
        total += v * v * last
        last = v
    return total


def test_other_names_for_the_same_value_may_be_bound_anew():
    for n in (1, 3, 40):
        args = np.linspace(0.2, 0.9, n), 0.7
        check_grads(another_name_for_what_the_items_are_made_with, args)


class Numbered:
    numbers = itertools.count(3)

    def __init__(self, value):
        self.number, self.value = next(self.numbers), value


def numbered(x):
    things = [Numbered(v) for v in (x[0], x[1])]
    for v in x:
        if v > 0.5:
            next(Numbered.numbers)
            things.append(Numbered(v * v))
    by_number = {thing.number: thing for thing in things[:2]}
    return sum(t.value * t.number for t in things) * by_number[things[1].number].value


def test_a_count_outside_is_asked_as_often_as_by_the_function():
    def f(x):
        return numbered(x) * next(numbers)

    x, gradient = np.array([0.2, 0.6, 0.7]), srcgrad.value_and_grad(f)
    for start in (3, 3, 10):
        Numbered.numbers = itertools.count(start)
        numbers = itertools.count(1)
        expected, after = f(x), next(Numbered.numbers)
        Numbered.numbers, numbers = itertools.count(start), itertools.count(1)
        value, _ = gradient(x)
        assert value == pytest.approx(expected)
        assert (next(Numbered.numbers), next(numbers)) == (after, 2)
        h, differences = 1e-6, []
        for d in np.eye(3):
            ends = []
            for y in (x + h * d, x - h * d):
                Numbered.numbers, numbers = itertools.count(start), itertools.count(1)
                ends.append(f(y))
            differences.append((ends[0] - ends[1]) / (2 * h))
        Numbered.numbers, numbers = itertools.count(start), itertools.count(1)
        np.testing.assert_allclose(gradient(x)[1], differences, rtol=1e-6)


def generators(v, n):
    return [(v * j for j in range(n)), (v * v for _ in range(2))]


class HoldsGenerator:
    def __init__(self, v):
        self.items = (v * j for j in range(3))


def of_a_comprehension(x):
    return sum(sum(items) for items in [(v * j for j in range(3)) for v in x])


def asked_one_by_one(x):
    made = [(v * (i + 1) for v in x) for i in range(2)]
    return sum([next(items) for items in made])


def returned_in_a_list(x):
    return sum(sum(items) * (i + 1) for i, items in enumerate(generators(x[0], 3)))


def returned_in_a_dict(x):
    def made():
        scale = x[1] * 2.0
        return {"a": (v * scale for v in x)}

    return sum(made()["a"])


def held_by_an_object(x):
    return sum(HoldsGenerator(x[0]).items) + sum(HoldsGenerator(x[1]).items)


@pytest.mark.parametrize(
    "f",
    [of_a_comprehension, asked_one_by_one, returned_in_a_list, returned_in_a_dict,
     held_by_an_object],
)  # fmt: skip
def test_generator_expressions_see_the_names_around_them_later(f):
    x = np.array([0.4, 0.7, 1.2])
    assert srcgrad.value_and_grad(f)(x)[0] == pytest.approx(f(x))
    check_grads(f, (x,))


def first_of(items):
    for v in items:
        return v
    return 0.25


def asked_by_calls_of_one_function(x, make):
    items = make(x)
    return first_of(items) + first_of(items) * 10.0 + first_of(items) * 100.0 + sum(items) * x[0]


def asked_by_a_recursion(x, make):
    def taken(items, n):
        if n <= 0:
            return x[0]
        for v in items:
            return v + taken(items, n - 1)
        return x[1]

    return taken(make(x), int(x[0] + 2.5))


@pytest.mark.parametrize(
    "make",
    [
        iter,
        lambda x: (v * 2.0 for v in x),
        lambda x: (v * 1.0 for v in map(np.sin, (v for v in x))),
        lambda x: (v * w for v, w in itertools.islice(zip(x, list(x), strict=False), 3)),
    ],
)
def test_a_function_that_is_shared_uses_iterators_up(make):
    """A unit isn't inlined: what it takes from an iterator must be known after it, too."""
    check_both(lambda x: asked_by_calls_of_one_function(x, make))


def test_a_recursion_uses_an_iterator_up():
    check_both(lambda x: asked_by_a_recursion(x, iter))


def check_both(f):
    x = np.array([0.4, 0.7, 1.2, 0.9])
    assert srcgrad.value_and_grad(f)(x)[0] == pytest.approx(f(x))
    check_grads(f, (x,), order=1)


@pytest.mark.parametrize(
    "call",
    [
        lambda x: np.array(map(abs, x)).ndim,
        lambda x: np.asarray(v * v for v in x).size,
        lambda x: np.max(zip(x, x, strict=True)) is None,
        lambda x: np.ndim(reversed([x[0], x[1]])),
        lambda x: np.sum(v * v for v in x),
        lambda x: np.vstack(v * x for v in x).sum(),
        lambda x: np.size(iter([x[0], x[1]])),
    ],
)  # fmt: skip
def test_numpy_takes_an_iterator_for_one_object(call):
    def f(x):
        return x[0] * call(x)

    with pytest.raises(srcgrad.UnsupportedError, match="takes it for one object") as info:
        srcgrad.grad(f)(np.array([0.3, 0.8]))
    assert "make a list of it: list(...)" in str(info.value)
    assert "^^" in str(info.value)


def test_a_range_is_no_iterator_and_fromiter_takes_one():
    def f(x):
        return np.sum(np.array(range(2)) * x) + np.sum(np.fromiter((v * v for v in x), float))

    check_grads(f, (np.array([0.3, 0.8]),))
