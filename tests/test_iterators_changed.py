"""Iterators while what they go through changes, and those that are asked in several places."""

import itertools
import operator

import numpy as np
import pytest

import srcgrad
from srcgrad.testing import check_grads
from tests.small_programs import X, check, programs


def of_the_run(numbers):
    """A list of which only the run knows how long it is."""
    return [v for v in numbers if v > 0.1]


def zip_of_a_list_that_grows(x):
    a, b = of_the_run(x), [*x, x[0] * x[1]]
    pairs = zip(a, b)  # noqa: B905
    a.append(x[2] ** 2)
    return sum(v * w for v, w in pairs)


def names_are_read_when_items_are_asked_for(x):
    values, factor = of_the_run(x), 2.0
    scaled = (v * v * factor for v in values)
    values[0] = x[1] * 3.0
    factor = x[2]
    return sum(scaled)


def only_the_outermost_is_evaluated_at_once(x):
    outer, inner = of_the_run(x), [x[0], x[1]]
    products = (v * w for v in outer for w in inner)
    outer, inner = [x[0]], [x[2], x[2]]
    return sum(products) + outer[0]


def a_filter_begun_before_the_change(x):
    values = of_the_run(x)
    large = filter(lambda v: v > 0.25, values)
    total = next(large)
    values.insert(1, x[2] * 4.0)
    for v in large:
        total = total / 2 + v
    return total


def reversed_while_it_shrinks(x):
    values, total = [*of_the_run(x), x[0] * x[1]], 0.0
    for v in reversed(values):
        total = total / 2 + v
        if len(values) > 3:
            values.pop()
    return total


def next_within_a_loop(x):
    values, total = iter([*of_the_run(x), x[0] * x[1]]), 0.0
    for v in values:
        total = total / 2 + v * next(values, 0.5)
    return total


def loops_that_share_an_iterator(x):
    values, total = itertools.accumulate(of_the_run(x), operator.mul, initial=x[0]), 0.0
    for v in values:
        total += v
        if v < 0.2:
            break
    for v in values:
        total = total / 2 + v
    return total


def until_it_stops(x):
    pairs, total = itertools.pairwise(of_the_run(x)), 0.0
    while True:
        try:
            a, b = next(pairs)
        except StopIteration:
            break
        total = total / 2 + a * b
    return total


def permutations_are_used_up(x):
    rows, total = itertools.permutations(list(x), 2), 0.0
    for a, _ in rows:
        if a > 0.5:
            break
    for a, b in rows:
        total = total / 2 + a * b * b
    return total


def product_of_an_iterator(x):
    values = (v * v for v in of_the_run(x))
    first = next(values)
    return sum(a * b * first for a, b in itertools.product(values, reversed(list(x))))


def tee_of_a_list_that_changes(x):
    values = of_the_run(x)
    one, other = itertools.tee(v * v for v in values)
    total = next(one)
    values[1] = x[0] * 2.0
    values.append(x[2])
    return total + sum(a * b for a, b in zip(other, one))  # noqa: B905


def longest_of_a_copy_that_shrinks(x):
    values, total = of_the_run(x), 0.0
    rows = itertools.zip_longest(itertools.tee(reversed(values))[1], [*x, x[0]], fillvalue=0.3)
    for a, b in rows:
        total = total / 2 + a * b
        if len(values) > 2:
            values.pop(0)
    return total


def islice_takes_no_more_than_it_gives(x):
    values = map(np.square, [*of_the_run(x), x[0]])
    total = sum(itertools.islice(values, 1, 3))
    return total * next(values, 0.5)


def chained_while_the_second_grows(x):
    a, b, total = of_the_run(x), [x[0]], 0.0
    for v in itertools.chain.from_iterable([a, b]):
        total = total / 2 + v
        if len(b) < 3:
            b.append(v * v)
    return total


def running_sums_of_nothing(x):
    sums = itertools.accumulate(v for v in x if v > 7.0)
    return x[0] * next(sums, x[1]) + sum(sums)


def cycle_of_what_was_given(x):
    values, total = of_the_run(x), 0.0
    around = itertools.cycle(values)
    total = next(around)
    values[1] = x[0] * x[1]
    for _ in range(5):
        total = total / 2 + next(around)
    return total


def found_in_an_iterator(x):
    values = iter(of_the_run(x))
    total = 2.0 if x[1] in values else 3.0
    return total * x[0] + sum(values)


def rows_are_views(x):
    rows, total = x.reshape(3, 1) * np.ones(2), 0.0
    for k, row in enumerate(rows):
        total += row[0] * row[1]
        if k < 2:
            rows[k + 1] *= row
    return total


def written_through_a_view(x):
    values = x * 1.0
    sums = itertools.accumulate(values)
    values[::-1][0] = x[0] * x[1]
    return sum(v * v for v in sums)


def values_of_a_dict_set_meanwhile(x):
    table, total = {i: v for i, v in enumerate(x) if v > 0.1}, 0.0
    values = iter(table.values())
    total = next(values)
    table[2] = x[0] * x[1]
    return total + sum(v * v for v in values)


def handed_on(x):
    def total_of(values, most):
        total = 0.0
        for v in values:
            total = total / 2 + v
            if total > most:
                break
        return total

    kept = [*of_the_run(x), x[0]]
    values = itertools.dropwhile(lambda v: v < 0.4, kept)
    first = total_of(values, 0.5)
    kept.append(x[1] * 2.0)
    return first + 3.0 * total_of(values, 10.0)


def used_up_for_good(x):
    values = of_the_run(x)
    items = iter(values)
    total = sum(items)
    values.append(x[0])
    return total + sum(v * 5.0 for v in items) + next(items, x[1])


@pytest.mark.parametrize("f", programs(globals()), ids=lambda f: f.__name__)
def test_items_are_those_of_the_moment(f):
    check(f)
    check(f, np.array([0.9, 0.45, 0.2]))


@pytest.mark.parametrize("begin", [next, lambda items: None])
@pytest.mark.parametrize(
    "make",
    [
        iter, enumerate, lambda d: iter(d.values()), reversed, lambda d: map(str, d),
        lambda d: (v * v for v in d.values() if v != 0.0),
        lambda d: itertools.islice(d.values(), 1, None),
    ],
)  # fmt: skip
def test_a_dict_that_grows(make, begin):
    def f(x):
        table = {"a": x[0], "b": x[1]}
        items = make(table)
        begin(items)
        table["c"] = x[2]
        return x[0] * len(list(items))

    with pytest.raises(RuntimeError):
        f(X)
    with pytest.raises((RuntimeError, srcgrad.UnsupportedError)):
        srcgrad.value_and_grad(f)(X)


def used_twice(x):
    squares = (v * v for v in x if v > 0)
    return sum(squares) + sum(squares)


def used_twice_by_a_callee(x):
    def twice(values):
        return sum(values) + 2 * sum(values)

    return twice(v * v for v in x)


def used_twice_in_a_dict(x):
    kept = {"items": (v * v for v in x)}
    return sum(kept["items"]) + sum(kept["items"])


def used_twice_in_a_tuple(x):
    kept = map(np.square, x), 1
    return sum(kept[0]) + sum(kept[0])


def zipped_before(x):
    numbers = iter(x)
    for _ in zip(numbers, x):  # noqa: B905
        break
    return next(numbers)


def grows_while_it_is_mapped(x):
    items = [x[0]]
    for v in map(abs, items):
        if len(items) < 4:
            items.append(v * 2)
    return sum(items)


@pytest.mark.parametrize(
    "program",
    [used_twice, used_twice_by_a_callee, used_twice_in_a_dict, used_twice_in_a_tuple,
     zipped_before, grows_while_it_is_mapped],
)  # fmt: skip
def test_what_is_used_up_has_no_more_items(program):
    check(program)


def test_what_an_iterator_knows_of_an_earlier_call():
    """One that is known to be asked item by item is looked at by others that aren't."""

    def of(make):
        def f(x):
            pool = [x[0], x[1], x[2]]
            squares = (v * v for v in pool)
            items = make(squares)
            pool[0] = x[-1] * 2.0
            return sum(np.sum(np.array(v)) ** 2 for v in items)

        return f

    makers = itertools.pairwise, itertools.accumulate, lambda v: itertools.tee(v)[1], enumerate
    for make in makers:
        check(of(make))


def test_groups_of_a_list_that_changes_are_refused():
    def f(x):
        values, total = [x[0], x[1], x[2], x[0]], 0.0
        groups = itertools.groupby(values, lambda v: v > 0.5)
        values[0] = x[0] * 0.5
        for k, group in groups:
            total = total / 2 + sum(group) * (1 + k)
        return total

    with pytest.raises(srcgrad.UnsupportedError) as refused:
        srcgrad.value_and_grad(f)(X)
    assert refused.value.filename == __file__


def pairs_of_a_list(x, numbers):
    total = 0.5
    for a, b in itertools.pairwise(numbers):
        total = total * 0.9 + a * b
        for i in range(len(numbers)):
            numbers[i] = numbers[i] + x[0]
    return total


def pairs_asked_before_and_after(x, numbers):
    pairs = itertools.pairwise(numbers)
    a, b = next(pairs)
    numbers[1] = numbers[0] * 3.0
    total = a * b
    for a, b in pairs:
        total = total * 0.9 + a * b
    return total


@pytest.mark.parametrize(
    ("f", "make"),
    [(pairs_of_a_list, list), (pairs_of_a_list, np.copy), (pairs_asked_before_and_after, list),
     (pairs_asked_before_and_after, np.copy),
     (pairs_asked_before_and_after, lambda x: [x[0], x[1], x[2]])],
)  # fmt: skip
def test_pairwise_keeps_the_item_before(f, make):
    def program(x):
        return f(x, make(x))

    x = np.array([0.6, 1.3, 0.9, 1.8])
    assert srcgrad.value_and_grad(program)(x)[0] == pytest.approx(program(x), rel=1e-12)
    check_grads(program, (x,), order=1)


def test_what_a_generator_goes_through_that_another_iterator_makes_at_once():
    def program(x):
        numbers = [x[0], x[1], x[2]]
        products = (a * b for a, b in zip((v for v in numbers if v > 1), numbers, strict=False))
        both = itertools.zip_longest(products, [1.0, 2.0, 3.0, 4.0], fillvalue=0.5)
        numbers.insert(0, x[2])
        return sum(a * b for a, b in both)

    x = np.array([0.6, 1.3, 1.7, 1.8])
    assert srcgrad.value_and_grad(program)(x)[0] == pytest.approx(program(x), rel=1e-12)
    check_grads(program, (x,), order=1)


def test_what_another_function_of_the_same_code_needed_known_is_not_in_the_way():
    def of(f):
        return srcgrad.value_and_grad(lambda x: f(x))

    def dicts(x):
        groups = []
        for v in x:
            groups.append({"v": v, "name": "a"})
        return sum(a["v"] * b["v"] for a in groups for b in groups if a is not b)

    x = np.array([0.6, 1.3, 0.9, 1.8])
    for f in (dicts, lambda x: pairs_of_a_list(x, list(x))):
        assert of(f)(x)[0] == pytest.approx(f(x), rel=1e-12)
