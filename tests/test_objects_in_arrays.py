"""Arrays of objects, which hold what isn't a number: None, text; and what is asked of values."""

import numpy as np
import pytest

import srcgrad
from srcgrad.testing import check_grads
from tests.small_programs import check, programs


def item_that_is_none(x):
    kept = np.array([None, 1.5])
    return x[0] * x[1] if kept[0] is None and kept[1] is not None else x[2]


def column_of_none(x):
    """A filter keeps its last measurement like this, before there is one."""
    last = np.atleast_2d(np.array([None] * 2))
    if last.shape[1] == 2:
        last = last.T
    if last.shape != (2, 1):
        raise ValueError(f"{last.shape} isn't a column")
    for item in last[:, 0]:
        if item is not None:
            return x[0]
    return x[0] * x[1] * x[2]


def kinds_of_items(x):
    mixed = np.array([None, 1.5, "a"])
    numbers = [isinstance(item, float) for item in mixed]
    scalars = np.isscalar(mixed[0]), np.isscalar(mixed[2])
    return x[0] ** (1 + sum(numbers)) * (x[1] if scalars == (False, True) else x[2])


def nothing_from_a_list(x):
    """What a loop takes from a list of None is None."""
    matrices, inputs = [None] * len(x), [0] * len(x)
    total = x[0]
    for matrix, u in zip(matrices, inputs, strict=True):
        if matrix is not None and u is not None:
            total = total + np.dot(matrix, u)
        total = total * x[1]
    return total


def scalars_and_arrays(x):
    values = (x[0], x, 3, "a", None, (1, 2), x[:1], np.sum(x), np.asarray(2.0), True)
    return sum((i + 1) * x[i % 3] ** 2 for i, v in enumerate(values) if np.isscalar(v))


def tuples_that_only_the_run_knows(x):
    place = np.unravel_index(np.argmax(x), (3, 1))
    return x[0] * x[1] if place == (1, 0) and place != (0, 0) else x[2]


@pytest.mark.parametrize("f", programs(globals()), ids=lambda f: f.__name__)
def test_program(f):
    check(f)


def test_the_type_of_an_object_is_not_known():
    def f(x):
        mixed = np.array([None, 1.5])
        return x if type(mixed[1]) is float else x * x

    with pytest.raises(srcgrad.UnsupportedError, match="the type of this value isn't known"):
        srcgrad.grad(f)(2.0)


class Body:
    def __init__(self, place, mass):
        self.place, self.mass = place, mass

    def energy(self):
        return self.mass * self.place**2


def bodies(x):
    return np.array([Body(x[0] * i, i + x[1]) for i in range(4)])


def pulled_together(x):
    held = bodies(x)
    for _ in range(3):
        for i in range(len(held)):
            for j in range(i + 1, held.size):
                gap = held[i].place - held[j].place
                held[i].place -= 0.1 * gap
                held[j].place += 0.2 * gap
    return sum(b.energy() for b in held) * held.shape[0]


def as_many_as_the_argument(x):
    held = np.asarray([Body(v, 1.0 + v) for v in x], dtype=object)
    for a, b in zip(held[1:], held[:-1], strict=True):
        a.mass += b.place
    return sum(b.energy() for b in held)


def chosen_and_sorted(x):
    held = np.append(bodies(x), Body(x[2], 2.0))
    heaviest = held[np.argmax([b.mass for b in held])]
    ordered = held[np.argsort([-b.energy() for b in held])]
    some = held[np.array([b.mass > 2.2 for b in held])]
    return heaviest.energy() + sum(i * b.mass for i, b in enumerate(ordered)) + sum(
        b.place for b in np.concatenate([some, held[[0, 2]]])
    )  # fmt: skip


def stored_through_a_view(x):
    held = bodies(x)
    part = held[1:][::-1]
    part[0] = Body(x[2], x[0])
    held[0], held[1] = held[1], held[0]
    return sum((i + 1) * b.energy() for i, b in enumerate(held)) * part[-1].mass


def kept_by_an_object(x):
    class Spring:
        def __init__(self, ends):
            self.ends = np.array(ends)

    springs = np.array([Spring([a, b]) for a, b in zip(bodies(x)[:-1], bodies(x)[1:], strict=True)])
    total = 0.0
    for spring in springs:
        a, b = spring.ends
        total += (a.place - b.place) ** 2 * a.mass
    return total if isinstance(springs, np.ndarray) and springs.ndim == 1 else x[0]


class Dual:
    """A number and its derivative."""

    def __init__(self, value, slope):
        self.value, self.slope = value, slope

    def __add__(self, other):
        other = other if isinstance(other, Dual) else Dual(other, 0.0)
        return Dual(self.value + other.value, self.slope + other.slope)

    def __mul__(self, other):
        other = other if isinstance(other, Dual) else Dual(other, 0.0)
        slope = self.value * other.slope + self.slope * other.value
        return Dual(self.value * other.value, slope)

    def __truediv__(self, other):
        return self * (1 / other)

    def __neg__(self):
        return self * -1.0

    __radd__, __rmul__ = __add__, __mul__

    def sin(self):
        return Dual(np.sin(self.value), np.cos(self.value) * self.slope)

    def hypot(self, other):
        length = np.hypot(self.value, other.value)
        return Dual(length, (self.value * self.slope + other.value * other.slope) / length)


def functions_of_one_object(x):
    a, b = Dual(x[0], 1.0), Dual(x[1], x[2])
    made = np.sin(a) * np.hypot(a, b) + np.square(np.add(b, 2.0)) + np.float64(3.0) * a
    try:
        made = np.exp(made)
    except TypeError:
        made = np.negative(made)
    return made.slope * made.value


def arithmetic_of_each(x):
    state = np.array([Dual(x[0], 1.0), Dual(x[1], x[2]), Dual(x[2], 0.5)])
    moved = np.sin(state * 2.0 + [1, 2.5, 3]) + np.array([Dual(x[1], 0.0)])
    many = moved * x**2 + x * state[0] + (-state) / 3
    return (many.sum() * np.mean(moved)).slope


def products_of_matrices_and_objects(x):
    state = np.array([Dual(v, 1.0 + v) for v in x])
    turned = np.outer(x, x + 1) @ state
    return (turned @ state + state.dot(np.array([1.0, 2.0, 3.0]))).slope + np.dot(x, turned).value


def written_through_another_name(x):
    state = np.array([Dual(v, 1.0 + v) for v in x])
    same, part = state, state[1:]
    state *= 2.0
    part += state[0]
    return sum((i + 1) * d.value * d.slope for i, d in enumerate(same))


def filled_place_by_place(x):
    """An array of objects is made empty, and an object put in each place."""
    held = np.empty(x.size, dtype=object)
    for i in range(x.size):
        held[i] = Body(x[i], 1.0 + i)
    pulls = np.zeros((held.size, held.size))
    for i, a in enumerate(held):
        for j, b in enumerate(held):
            if i != j:
                pulls[i, j] = a.mass * (b.place - a.place)
    for i, a in enumerate(held):
        a.place += pulls[i].sum()
    return sum(b.energy() for b in held)


def rows_of_different_lengths(x):
    rows, lists = np.empty(3, dtype="O"), np.full(3, None)
    for i in range(3):
        rows[i] = x[: i + 1] * (i + 2)
        lists[i] = [x[i]]
        lists[i].append(x[0] * rows[i][0])
    return sum(np.sum(row**2) for row in rows) + sum(pair[0] * pair[1] for pair in lists)


def numbers_as_objects(x):
    terms, ones = np.zeros(4, dtype=object), np.ones((2,), object)
    for i in range(3):
        terms[i] = x[i] ** (i + 1)
    terms[:2] = terms[1::-1]
    ones[:] = x[1]
    return terms.sum() * terms[0] + terms[3] + np.dot(terms, x[0] * terms) + ones[0] * ones[1]


def things_stay_themselves(x):
    """What is put in an array of objects is no array afterwards, and no copy."""
    held, row = np.empty(4, dtype=object), np.ones(2)
    held[0], held[1], held[2] = [1, 2], (1, 2), row
    row[0] = 3.0
    ragged = np.array([(1, 2), (1, 2, 3)], dtype=object)
    asked = (
        isinstance(held[0], list), held[0] == [1, 2], held[1] + (2,) == (1, 2, 2),
        held[2][0] == 3.0, held[3] is None, ragged[0] == (1, 2), len(ragged[0] + ragged[1]) == 5,
    )  # fmt: skip
    return x[0] ** (1 + sum(asked))


def along_two_axes(x):
    polynomials = np.empty((2, 3), dtype=object)
    for i in range(2):
        for j in range(3):
            polynomials[i, j] = x[: i + 1] * (j + 1)
    polynomials[-1, -1] = x[:2] * x[1:]
    first = sum(np.sum(p**2) for p in polynomials[0]) * len(polynomials)
    column = sum(p[0] for p in polynomials[:, 1]) + polynomials.T[2, 1][1]
    numbers = np.zeros([2, 2], object)
    for i in range(2):
        for j in range(2):
            numbers[i, j] = x[i] * x[j] + numbers[j, i]
    most = max(numbers.flat, key=abs)
    return first + column * polynomials[1][-1][1] + numbers.sum() * most + np.shape(numbers)[1]


def transposed_is_a_view(x):
    cells = np.empty((2, 3), dtype=object)
    for i in range(2):
        for j in range(3):
            cells[i, j] = x[i] * x[j]
    turned = cells.T
    kept = turned.copy()
    turned[2, 0] = x[0] * 3
    cells[1, 1] = x[1] ** 3
    turned[0][1] = x[2]
    order = sum((i + 1) * item for i, item in enumerate(turned.flat))
    order += sum((i + 1) * item for i, item in enumerate(turned.ravel()))
    order += turned[1:, 1].sum() + turned[-1].sum() + np.shape(turned)[0] * turned.T[0, 2]
    return order + kept[2, 0] + kept.T[1, 0] + cells.sum()


def bodies_along_two_axes(x):
    cells = np.ndarray((2, 2), dtype=object)
    for i, j in np.ndindex(cells.shape):
        cells[i, j] = Body(x[i], x[j] + j)
    for i in range(2):
        cells[i, 0].place += cells[i, 1].mass
    return sum(cell.energy() for row in cells for cell in row) * cells.size


def dicts(x):
    """A place for the gradients of each layer; the dict that was in all places is in none."""
    layers = np.array([{}] * 2)
    layers[0]["w"] = x[0]
    shared = layers[1]["w"] * 2.0
    for k in range(len(layers)):
        layers[k] = {"w": x * x[k], "b": []}
        layers[k]["w"][0] *= 3.0
        layers[k]["b"] = np.zeros(2) + x[k]
    for layer in layers[::-1]:
        layer["w"] *= 0.5
        layer["b"] = np.add(layer["b"], layer["w"][1:])
    held = np.array([{"w": x[2]}, {"b": x[1]}, Body(x[0], 2.0)])
    total = held[0]["w"] * held[1]["b"] * held[2].energy()
    return total + shared + sum(np.sum(layer["b"] ** 2) for layer in layers) * layers.size


OF_OBJECTS = [
    dicts, along_two_axes, bodies_along_two_axes,
    filled_place_by_place, rows_of_different_lengths, numbers_as_objects, things_stay_themselves,
    functions_of_one_object, arithmetic_of_each, products_of_matrices_and_objects,
    written_through_another_name,
    pulled_together, as_many_as_the_argument, chosen_and_sorted, stored_through_a_view,
    kept_by_an_object,
]  # fmt: skip


@pytest.mark.parametrize("f", OF_OBJECTS, ids=lambda f: f.__name__)
def test_arrays_of_objects(f):
    x = np.array([0.7, 0.4, -0.3])
    check_grads(f, (x,), order=1)
    assert srcgrad.value_and_grad(f)(x)[0] == pytest.approx(f(x), rel=1e-14)


@pytest.mark.parametrize(
    ("f", "message"),
    [
        (lambda x: (bodies(x) + bodies(x))[0].place, "this operator isn't defined"),
        (lambda x: np.sum(Dual(x, 1.0) > bodies(x)), "arrays of objects aren't compared"),
        (lambda x: x[0] if Body(1, 2) in bodies(x) else x[1], "whether an array of objects has"),
        (lambda x: np.array([Body(x, 1)], dtype=float)[0], "dtype=object"),
        (lambda x: np.linalg.norm(bodies(x)), "what norm makes of this object"),
    ],
)
def test_what_is_not_done_with_arrays_of_objects(f, message):
    with pytest.raises(srcgrad.UnsupportedError, match=message):
        srcgrad.grad(f)(np.array([0.7, 0.4, -0.3]))


def in_a_table(x):
    table = np.empty((2, 2), dtype=object)
    table[0, 1] = [1, 2]
    return x[0] ** 2 if isinstance(table[0, 1], list) else x[0]


def beside_one_that_is_known(x):
    held = np.array([None, 1.5])
    return x[0] if hasattr(held[1], "place") else x[1]


@pytest.mark.parametrize("f", [in_a_table, beside_one_that_is_known])
def test_what_isnt_known_of_objects_is_not_guessed(f):
    x = np.array([0.7, 0.4, -0.3])
    try:
        value = srcgrad.value_and_grad(f)(x)[0]
    except srcgrad.UnsupportedError:
        return
    assert value == f(x)


@pytest.mark.parametrize(
    ("f", "kind"),
    [
        (lambda x: np.arctan(bodies(x))[0].place, TypeError),
        (lambda x: np.arctan(Body(x[0], 1.0)).place, TypeError),
        (lambda x: (x * Dual(x[0], 1.0)).slope, AttributeError),
        (lambda x: (np.array([Dual(x[0], 1.0)] * 2) * x)[0].slope, ValueError),
    ],
)
def test_what_the_program_raises_of_objects(f, kind):
    x = np.array([0.7, 0.4, -0.3])
    with pytest.raises(kind):
        f(x)
    with pytest.raises((kind, srcgrad.UnsupportedError)):
        srcgrad.grad(f)(x)


def test_an_array_of_objects_is_not_returned():
    with pytest.raises(srcgrad.UnsupportedError, match="array of objects can't be returned"):
        srcgrad.vjp(bodies, np.array([0.7, 0.4, -0.3]))
