"""Items of arrays made of constants, where what they choose must be known when compiling."""

import numpy as np
import pytest

import srcgrad
from srcgrad.testing import check_grads

VOLUMES = ["vessel", "vessel", "tissue"]


def exchange(p):
    """As in compartment models: a table of places and signs, and a dict for each organ."""
    organ = {"name": "liver", "vessel": p[0], "tissue": p[1], "flow": p[2] * 0.5, "rate": p[2]}
    table = {"flow": [[0, 0, -1], [0, 2, 1], [2, 0, 1]], "rate": [[2, 2, -1]]}
    matrix = np.zeros((3, 3))
    for name in table:
        for entry in table[name]:
            place = np.array(entry[:-1])
            matrix[place[0], place[1]] += entry[-1] * organ[name] / organ[VOLUMES[place[1]]]
    return np.sum(matrix**2) + matrix[0, 2]


def test_places_in_a_table():
    p = np.array([0.7, 1.3, 0.4])
    assert srcgrad.value_and_grad(exchange)(p)[0] == exchange(p)
    check_grads(exchange, (p,), order=2)


def written(p, k):
    values = {"name": "a", "x": p[0], "y": p[1]}
    place = np.array([0, 1])
    place[0] = k
    return values[["x", "y"][place[0]]]


def written_through_a_view(p, k):
    values = {"name": "a", "x": p[0], "y": p[1]}
    place = np.array([0, 1])
    place[:1][...] = k
    return values[["x", "y"][place[0]]]


def written_by_another(p, k):
    values = {"name": "a", "x": p[0], "y": p[1]}
    place = np.array([0, 1])
    np.put(place, 0, k)
    return values[["x", "y"][place[0]]]


def written_in_a_loop(p, k):
    values = {"name": "a", "x": p[0], "y": p[1]}
    place, total = np.array([0, 1]), 0.0
    for _ in range(k + 2):
        total += values[["x", "y"][place[0]]]
        place[0] = 1
    return total


@pytest.mark.parametrize(
    "f", [written, written_through_a_view, written_by_another, written_in_a_loop]
)
def test_what_is_written_is_not_settled(f):
    """Refused, or right; these are to be sorted anew when one of them is right."""
    p = np.array([0.7, 1.3])
    with pytest.raises(srcgrad.UnsupportedError, match="must be known when compiling"):
        srcgrad.grad(f)(p, 1)


def test_numbers_are_chosen_by_what_is_written():
    def f(p, k):
        place = np.array([0, 1])
        first = [p[0], p[1]][place[0]]
        place[0] = k
        return first * 3.0 + [p[0], p[1]][place[0]] ** 2

    p = np.array([0.7, 1.3])
    np.testing.assert_allclose(srcgrad.grad(f)(p, 1), [3.0, 2.6])
    np.testing.assert_allclose(srcgrad.grad(f)(p, 0), [4.4, 0.0])


def test_an_index_out_of_range_is_the_runs():
    def f(p):
        place = np.array([0, 5])
        return [p[0], p[1]][place[1]]

    with pytest.raises(IndexError):
        srcgrad.grad(f)(np.ones(2))
