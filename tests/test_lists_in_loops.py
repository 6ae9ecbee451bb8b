"""Lists that are built in loops: all their methods, in place, under whatever name."""

import math

import numpy as np
import pytest

import srcgrad
import srcgrad.compiler
from srcgrad import ir
from srcgrad.frontend.likeness import Likeness
from srcgrad.kinds import ListOf
from srcgrad.testing import check_grads
from tests.small_programs import check, differences, programs


def reversed_in_place(x):
    xs = []
    for i in range(len(x)):
        xs.append(x[i] ** 2)
    xs.reverse()
    return xs[0] + 2 * xs[1] + 3 * xs[2]


def swept_over_intervals(x):
    """What is in the list is taken out before the text comes to where it is put in."""
    events = []
    for k in range(len(x)):
        events.append((x[k], 0, k))
        events.append((x[k] + 0.4, 1, k))
    events.sort()
    inside = []
    total = 0.0
    for place, kind, k in events:
        if kind == 1:
            inside.remove((k, k + 1))
        elif kind == 0:
            inside.append((k, k + 1))
        total += place**2 * len(inside)
    return total


def found_in_an_earlier_round(x):
    seen = []
    total = 0.0
    for k in range(6):
        if k % 2:
            total += x[k % 3] * (1 + seen.index(k - 1)) * max(seen)
        else:
            seen.append(k)
    return total


def first_of_those_before(x):
    seen = []
    total = 0.0
    for k in range(6):
        if k % 3 == 2:
            total += next(v for v in seen if v > 0.1) * next(iter(seen)) * x[k % 3]
        seen.append(x[k % 3] ** 2)
    return total


def not_found_yet(x):
    seen = []
    total = 0.0
    for k in range(3):
        try:
            seen.remove(k - 1)
            total += 3 * x[k]
        except ValueError:
            total += x[k] ** 2
        if x[k] > 0.5:
            seen.append(k)
    try:
        return total * max([])
    except ValueError:
        return total * len(seen)


def inserted(x):
    xs = []
    for v in x:
        xs.append(v**2)
    xs.insert(1, x[0] * x[1])
    return sum(a * (k + 1) for k, a in enumerate(xs))


def slices_assigned(x):
    xs = []
    for i in range(5):
        xs.append(x[i % 3] * i)
    del xs[1:3]
    xs[0:2] = [x[0], x[1], x[2]]
    return sum(k * v for k, v in enumerate(xs))


def tuples_sorted_by_key(x):
    heap = []
    for k, v in enumerate(x):
        heap.append((k, v * v))
    heap.sort(key=lambda p: p[1])
    return heap[0][1] + 2 * heap[2][1]


def lists_in_a_list(x):
    rows = []
    for i in range(len(x)):
        r = []
        for j in range(3):
            r.append(x[i] * j + x[j])
        rows.append(r)
    rows[0].reverse()
    rows[1].insert(1, x[0])
    return rows[0][0] + 5 * rows[1][1] + rows[2][2]


def changed_in_a_loop(x):
    xs = []
    for k in range(4):
        xs.append(x[k % 3] * k)
        xs.reverse()
        xs[0:1] = [xs[0], x[0]]
    return sum(k * v * v for k, v in enumerate(xs))


def two_names(x):
    xs = []
    for v in x:
        xs.append(v * x)
    ys = xs
    xs.insert(-1, x)
    del ys[:1]
    return sum(k * v.sum() ** 2 for k, v in enumerate(ys)) + len(xs)


def history_cut_short(x):
    hist = []
    for k in range(6):
        hist.insert(0, x * k)
        if len(hist) > 2:
            hist.pop()
    return (hist[0] * hist[1]).sum()


def all_assigned(x):
    q = [x[0]]
    for k in range(6):
        q.append(q[0] * x[k % 3])
        q = q[1:] if len(q) > 2 else q
    q[:] = [v * v for v in q]
    return sum(q)


def sorted_in_a_loop(x):
    xs = []
    for k in range(4):
        xs.append(x[k % 3] * (k + 1))
        xs.sort()
    return sum(k * v * v for k, v in enumerate(xs))


def lists_in_a_list_sorted(x):
    rows = []
    for i in range(len(x)):
        r = []
        for j in range(3):
            r.append(x[i] * (j - 1) ** 2 + x[j])
        rows.append(r)
    rows[0].sort()
    for r in rows:
        r.sort(reverse=True)
    return rows[0][0] + 5 * rows[1][1] + rows[2][2]


def sorted_by_key(x):
    xs = []
    for v in np.concatenate([x, x * 0.5]):
        xs.append(v * v)
    ys = sorted(xs, key=lambda v: (v - 0.2) ** 2, reverse=True)
    return sum(k * v for k, v in enumerate(ys))


def array_sorted_by_key(x):
    return sum(
        k * v for k, v in enumerate(sorted(np.concatenate([x, x[::-1] * 2]), key=lambda v: -v))
    )


def tuples_sorted(x):
    h = []
    for k, v in enumerate(np.concatenate([x, x * 0.5])):
        h.append((k % 2, v, k))
    h.sort()
    r = sorted(h, reverse=True)
    q = sorted(h, key=lambda t: t[0])
    q2 = sorted(h, key=lambda t: (-t[0], t[2]), reverse=True)
    return (
        sum(i * v for i, (a, v, k) in enumerate(h))
        + sum(i * i * v for i, (a, v, k) in enumerate(r))
        + sum(i**3 * v for i, (a, v, k) in enumerate(q))
        + sum(i**3 * v for i, (a, v, k) in enumerate(q2))
    )


def arrays_sorted_by_key(x):
    rows = []
    for i in range(4):
        rows.append(x * (i - 2) ** 2)
    rows.sort(key=lambda r: r.sum())
    return sum(k * r[0] for k, r in enumerate(rows)) + rows[-1].sum()


def tuples_in_tuples(x):
    saved, h = [], x
    for i in range(4):
        saved.append((i, (h, x * i)))
        h = np.sin(h) * x
    total = 0.0
    for i, pair in saved:
        total += np.sum(pair[0] ** 2 * pair[1]) * (i + 1)
    return total


def tuples_of_numbers_in_tuples(x):
    saved = []
    for i in range(len(x)):
        saved.append((i, (x[i] ** 2, (x[0] * i, x)), "name"))
    saved[1] = (7, (x[1], (x[2], x * 2)), "other")
    total = 0.0
    for i, (a, (b, c)), _ in reversed(saved):
        total += a * b * i + np.sum(c) * a
    return total + saved.pop()[1][1][0] ** 2


def tuples_in_tuples_moved(x):
    """The items go from list to list whole."""
    saved = []
    for i in range(len(x)):
        saved.append((i, (x[i] ** 2, (x[0] * i, x * i))))
    saved.sort(key=lambda item: -item[1][0])
    copies = [item for item in saved if item[0] >= 0]
    copies = copies[1:] + copies[:1]
    copies[0] = saved[-1]
    total = 0.0
    for k, (i, (a, (b, c))) in enumerate(copies):
        total += k * a * b + np.sum(c) * i
    return total


def objects_in_objects(x):
    class Pair:
        def __init__(self, a, b):
            self.a, self.b = a, b

    saved = []
    for i in range(len(x)):
        saved.append(Pair(x[i] ** 2, Pair(x[0] * i, x * i)))
    for pair in saved:
        pair.b.a = pair.b.a * pair.a
    return sum(p.a * p.b.a + np.sum(p.b.b**2) * p.a for p in saved)


def what_a_primitive_returns_is_kept(x):
    saved = []
    for i in range(3):
        r = np.linalg.eigh(np.outer(x, x) + np.diag(x + i + 1.0))
        saved.append((i, r))
        x = np.abs(r[1][0]) + 1.0
    return sum(np.sum(r[0] ** 2 * np.abs(r[1][0])) * i for i, r in saved)


def length_before_it_changes(x):
    items, total = [], 0.0
    for v in x:
        if v > 0:
            items.append(v)
        total += v * [len(items), items.append(v)][0]
    return total


def replaced_by_lists_of_other_lengths(x):
    rest, state = [], [1.0, 2.0]
    for v in x:
        rest = [v] if v > 0.5 else [v, x[0]]
    while sum(state) < 9:
        if len(state) > 2:
            state = [state[0] + x[0] ** 2, state[1]]
        else:
            state = [state[0] + 2 * x[1] ** 2, state[1], 1.0]
    return rest[-1] * sum(state)


def constants_or_not(x):
    kept, given = [2.0], [x[0]]
    for v in x:
        if v > 0.5:
            given = kept
        kept.append(1.0)
        given.append(v)
    values = [0.0, 1.0]
    if x[0] > 0:
        values = [x[0], x[1] ** 2, x[2]]
    return given[-1] * given[1] * given[0] * values[-1]


def solved_with_pivots(x):
    """Rows are exchanged; where to is noted in a list of ints, by which another is gone through."""
    rows = [[x[0], 1.0, x[1]], [2.0, x[2], 0.5], [x[1], x[0], 4.0]]
    right, pivots = [x[0], 2.0, x[2]], [0, 0, 0]
    n = len(rows)
    for j in range(n):
        largest, at = 0.0, j
        for i in range(j, n):
            if abs(rows[i][j]) > largest:
                largest, at = abs(rows[i][j]), i
        pivots[j] = at
        rows[j], rows[at] = rows[at], rows[j]
        for i in range(j + 1, n):
            rows[i][j] /= rows[j][j]
            for k in range(j + 1, n):
                rows[i][k] -= rows[i][j] * rows[j][k]
    for i in range(n):
        right[i], right[pivots[i]] = right[pivots[i]], right[i]
        for j in range(i):
            right[i] -= rows[i][j] * right[j]
    for i in reversed(range(n)):
        for j in range(i + 1, n):
            right[i] -= rows[i][j] * right[j]
        right[i] /= rows[i][i]
    return right[0] + right[1] * x[0] + right[2]


class Circuit:
    def __init__(self):
        self.gates = []

    def rotate(self, angle, place):
        self.gates.append(("rotation", (place,), angle))
        return self

    def swap(self, a, b):
        self.gates.append(("swap", (a, b), None))


def gates_of_several_kinds(x):
    """A loop makes items of one kind, and what follows another one."""
    circuit, state = Circuit(), np.array([1.0, x[0], 2.0])
    for i in range(len(x)):
        circuit.rotate(x[i], i).rotate(2 * x[i], i)
    circuit.swap(0, 2)
    for name, places, angle in circuit.gates:
        if name == "rotation":
            state[places[0]] = np.sin(angle) + state[places[0]] * angle
        else:
            a, b = places
            state[a], state[b] = state[b], state[a]
    return state[0] * state[1] + state[2] ** 2


def words_searched_by_beams(x):
    """Tuples of ints that grow, in lists that are sorted."""
    beams = [((), 0.0)]
    for t in range(3):
        score = np.cumsum(x) * (t + 1)
        more = (((*word, v), s + score[v] * x[t]) for word, s in beams for v in range(3))
        beams = sorted(more, key=lambda beam: -beam[1])[:2]
    (best, first), (_, second) = beams
    return first * second + x[best[0]] * len(best)


def a_function_behind_numbers(x):
    steps = []
    for v in x:
        steps.append(v * v)
    steps.append(np.sin)
    return steps[-1](steps[0]) * steps[1] + len(steps) * steps[2]


@pytest.mark.parametrize("f", programs(globals()), ids=lambda f: f.__name__)
def test_program(f):
    check(f)


# Functions of whole lists: what is not linear has a tangent of its own


def product_of_a_list(x, n):
    return math.prod([x[i] * x[0] for i in range(n)])


def distance_of_lists(x, n):
    return math.dist([x[i] ** 2 for i in range(n)], [x[n - i] for i in range(n)])


def sum_of_a_list(x, n):
    return math.fsum([x[i] ** 2 for i in range(n)])


def product_of_matrices(x, n):
    return np.sum(np.linalg.multi_dot([np.outer(x, x[::-1]) + i for i in range(n)]))


@pytest.mark.parametrize(
    "f", [product_of_a_list, distance_of_lists, sum_of_a_list, product_of_matrices]
)
def test_the_tangent_of_a_function_of_a_list(f):
    x, t = np.array([0.5, 2.0, 3.0, 0.7]), np.array([1.0, 0.3, -0.2, 0.5])
    step = 1e-6
    expected = (f(x + step * t, 3) - f(x - step * t, 3)) / (2 * step)
    assert srcgrad.jvp(f, (x, 3), (t, None))[1] == pytest.approx(expected, rel=1e-6)
    assert srcgrad.grad(f)(x, 3) @ t == pytest.approx(expected, rel=1e-6)


def simplex(target, rounds):
    """A simplex of pairs that are sorted, replaced and drawn together (Nelder and Mead)."""

    def cost(x):
        return np.sum((x - target) ** 2 * np.array([1.0, 2.0])) + 0.3 * x[0] * x[1]

    start = np.array([0.1, 0.2])
    pairs = [[p, cost(p)] for p in (start, start + 1.0, start - np.array([1.0, 0.4]))]
    for _ in range(rounds):
        pairs.sort(key=lambda pair: pair[1])
        middle = sum(p for p, _ in pairs[:-1]) / (len(pairs) - 1)
        other = middle + (middle - pairs[-1][0])
        value = cost(other)
        if value < pairs[-2][1]:
            del pairs[-1]
            pairs.append([other, value])
            continue
        best = pairs[0][0]
        pairs = [[best + 0.5 * (p - best), 0.0] for p, _ in pairs]
        pairs = [[p, cost(p)] for p, _ in pairs]
    return min(value for _, value in pairs) + pairs[0][0][0] + len(pairs)


def test_pairs_of_a_list_that_is_replaced_in_a_loop():
    target = np.array([1.0, 0.5])
    gradient = srcgrad.value_and_grad(simplex)
    assert gradient(target, 6)[0] == pytest.approx(simplex(target, 6))
    check_grads(simplex, (target, 6), argnums=0)


def filtered(images, kernels):
    rows, columns = len(images[0]), len(images[0][0])
    high, wide = len(kernels[0]), len(kernels[0][0])
    out = [
        [[[0.0] for _ in range(columns - wide + 1)] for _ in range(rows - high + 1)] for _ in images
    ]
    for n in range(len(images)):
        for i in range(rows - high + 1):
            for j in range(columns - wide + 1):
                for k in range(high):
                    for m in range(wide):
                        out[n][i][j][0] += images[n][i + k][j + m][0] * kernels[0][k][m][0]
    return sum(sum(sum(cell[0] ** 2 for cell in row) for row in image) for image in out)


@pytest.mark.timeout(30)
def test_lists_four_deep_that_are_written_one_by_one_compile_soon():
    """Each write asked which rows may be the same as its own, of which containers, and so on up:
    with one more level, that took as often longer as there are writes."""
    rng = np.random.default_rng(0)
    images, kernels = (
        rng.uniform(size=(2, 3, 3, 1)).tolist(),
        rng.uniform(size=(1, 2, 2, 1)).tolist(),
    )
    check_grads(filtered, (images, kernels), argnums=(0, 1))


def test_likeness():
    def new(name):
        return ir.Var(name, ListOf(float))

    outer, copy, part, row, same, other = map(new, "abcdef")
    likeness = Likeness()
    likeness.note_part(outer, (1,), row)
    likeness.note_part(part, (1,), same)
    likeness.note_part(copy, (0,), other)
    assert likeness.alike(row) == {row}
    likeness.note_same(outer, part, sliced=True)  # which has the same rows, but isn't the same list
    assert likeness.alike(row) == {row, same} and likeness.alike(outer) == {outer}
    likeness.note_same(part, copy)
    assert likeness.alike(part) == {part, copy} and likeness.alike(other) == {other}
    assert likeness.is_in(other, outer) and likeness.is_in(copy, outer)
    assert not likeness.is_in(outer, row)


def filled_with_rows(x, p):
    rows = [0] * 4
    for i in range(4):
        rows[i] = x * p[i]
    return np.sum(np.array(rows) ** 2) + np.sum([np.sum(row) for row in rows])


def summed_along_an_axis(x, p):
    rows, scaled = [0] * 4, [0] * 4
    for i in range(2):
        rows[i] = x * p[i]
        rows[i + 2] = np.sin(x) * p[i + 2]
    for i in range(4):
        scaled[i] = rows[i] / (rows[0] + rows[3])
    return np.sum(np.array(scaled).sum(axis=0) ** 2)


def filled_as_long_as_the_argument(x, p):
    rows = [0 for _ in p]
    for i in range(len(p)):
        rows[i] = x * p[i]
    total = 0
    for row in rows:
        total += row
    return np.sum(np.cos(np.array(rows)[:, 0])) + np.sum(np.max(rows, axis=1)) + total @ x


@pytest.mark.parametrize(
    "f", [filled_with_rows, summed_along_an_axis, filled_as_long_as_the_argument]
)
def test_zeros_stand_where_arrays_are_put_later(f):
    x, p = np.array([1.0, 2.5]), np.array([0.5, 1.5, 2.0, -0.3])
    check_grads(f, (x, p), order=1)
    value, _ = srcgrad.value_and_grad(f, argnums=(0, 1))(x, p)
    assert value == pytest.approx(f(x, p), rel=1e-14)


def test_rows_some_of_which_stay_numbers_raise():
    def left_out(x):
        rows = [0] * 3
        for i in range(2):
            rows[i] = x * i
        return np.sum(np.array(rows))

    with pytest.raises(ValueError, match="shape"):
        srcgrad.grad(left_out)(np.array([1.0, 2.5]))


def test_what_is_unrolled_after_all_is_not_lowered_anew(monkeypatch):
    lowered, lower = [], srcgrad.compiler.lower_primal

    def lower_primal(task):
        lowered.append(task.apart)
        return lower(task)

    def f(x, n):
        parts = [x, np.outer(x, x), [x, x]]
        return sum(np.sum(np.sin(parts[i]) * x[i]) for i in range(n))

    monkeypatch.setattr("srcgrad.compiler.READABLE", 3)
    monkeypatch.setattr("srcgrad.compiler.lower_primal", lower_primal)
    x = np.array([0.3, 0.8, 0.55])
    np.testing.assert_allclose(srcgrad.grad(f)(x, 3), differences(lambda x: f(x, 3), x), rtol=1e-6)
    assert lowered.count(True) == 0  # what was lowered before is used
    assert len(lowered) > 3


def test_a_list_that_another_name_has_becomes_one_of_the_run():
    def f(x):
        a = list(x)
        c = a
        for _ in range(2):
            new = []
            for v in x:
                new.append(v * v)
            c = new
            a = list(a)
        return sum(c) + sum(a)

    for n in (1, 2, 3):
        x = np.arange(1.0, n + 1)
        np.testing.assert_allclose(srcgrad.grad(f)(x), 2 * x + 1)


@pytest.mark.parametrize("step", [lambda gap: gap // 2, lambda gap: gap - 1])
def test_loops_from_what_a_loop_around_them_carries(step):
    """`how often this loop runs isn't known` was the refusal where an inner loop stores."""

    def shell_sort(items):
        gap = len(items) // 2
        while gap > 0:
            for i in range(gap, len(items)):
                item, j = items[i], i
                while j >= gap and items[j - gap] > item:
                    items[j] = items[j - gap]
                    j -= gap
                items[j] = item
            gap = step(gap)
        return sum(v * (k + 1) for k, v in enumerate(items))

    x = [0.6, 1.3, 2.2, 0.3, 1.7]
    assert srcgrad.grad(shell_sort)(x) == [2.0, 3.0, 5.0, 1.0, 4.0]
