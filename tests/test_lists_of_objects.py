"""Lists of objects or dicts that are given, or found outside, which loops go through."""

import copy
import dataclasses
import itertools
import re

import numpy as np
import pytest

import srcgrad
import srcgrad.testing
from tests import random_rows

from .small_programs import X

COUNT = 20


class Vector:
    def __init__(self, u, v):
        self.u, self.v = u, v

    def dot(self, other):
        return self.u * other.u + self.v * other.v


class Body:
    kind = "body"

    def __init__(self, x, m, name="a", at=None, place=None):
        self.x, self.m, self.name = x, m, name
        self.at, self.place = at or Vector(x, m), np.ones(2) * x if place is None else place

    @property
    def double(self):
        return 2 * self.x

    def energy(self, k):
        return k * self.m * self.x**2

    def __call__(self, k):
        return k * self.x


@dataclasses.dataclass(order=True)
class Point:
    t: float
    y: float


def bodies(count=COUNT):
    r = np.random.default_rng(1)
    return [Body(float(r.normal()), float(r.uniform(1, 2)), "ab"[i % 2]) for i in range(count)]


def rows(count=COUNT):
    r = np.random.default_rng(2)
    return [
        {"t": 0.1 * i, "y": float(r.normal()), "k": i % 3, "v": r.normal(size=2)}
        for i in range(count)
    ]


def points(count=COUNT):
    r = np.random.default_rng(3)
    return [Point(float(i % 4), float(r.normal())) for i in range(count)]


# With derivatives by the first argument, an array of three; the second is a list


def methods(x, bodies):
    return sum(b.energy(x[0]) + b.double * x[1] + b(x[2]) * (b.kind == "body") for b in bodies)


def pairs_but_itself(x, bodies):
    total = 0.0
    for a in bodies:
        for b in bodies:
            if a is not b:
                total += x[0] ** 2 * a.m * b.m
            else:
                total += x[1] * a.m
    return total


def pairs_by_slices(x, bodies):
    total = 0.0
    for i, a in enumerate(bodies):
        for b in bodies[i + 1 :]:
            total += x[0] * a.at.dot(b.at) * x[1] * b.m
    return total


def chosen(x, bodies):
    kept = [b for b in bodies if b.x > 0 and b.name == "a"]
    order = sorted(bodies, key=lambda b: -b.m)
    best = max(bodies, key=lambda b: b.x * x[0])
    return sum(b.m * x[0] ** 2 for b in kept) + order[1].x * x[1] + best.m * x[2] + len(kept)


def found(x, bodies):
    return x[0] * bodies.index(bodies[4]) + (bodies[3] in bodies) * x[1] ** 2


def neighbours(x, bodies):
    return sum(a(x[0]) * b(x[1]) for a, b in itertools.pairwise(bodies))


def moved(x, bodies):
    for b in bodies:
        b.x = b.x * x[0]
    bodies[2].x += x[1]
    return sum(b.x**2 for b in bodies)


def moved_in_place(x, bodies):
    total = 0.0
    for b in bodies:
        b.place += x[1]
        total += np.sum(b.place) * x[0]
    return total + np.sum(bodies[0].place)


def part_moved(x, bodies):
    for b in bodies:
        b.at.u = b.at.v * x[0]
    return sum(b.at.u**2 for b in bodies)


def copied(x, bodies):
    new = copy.deepcopy(bodies)
    for b in new:
        b.x *= x[0]
    return sum(b.x**2 for b in new) + sum(b.x for b in bodies) * x[2]


def replaced(x, bodies):
    first = bodies[3]
    bodies[3] = bodies[4]
    bodies.append(Body(x[1], x[2]))
    return bodies[3].x * x[0] + first.x * x[1] ** 2 + bodies[-1].m


def residuals(x, rows):
    return sum((r["y"] - x[0] * np.exp(-x[1] * r["t"])) ** 2 for r in rows)


def asked(x, rows):
    total = 0.0
    for r in rows:
        total += x[r["k"]] * r.get("y", 0.0) + r.get("q", 3.0) * x[2]
        total += sum(v for k, v in r.items() if k in ("t", "y")) * x[0] * len(r)
        if "q" in r:
            total *= 2
        try:
            total += r["zz"] * x[0]
        except KeyError:
            total += x[1] ** 2 * r["t"]
    return total


def rewritten(x, rows):
    total = 0.0
    for r in rows:
        r = {**r, "y": x[0] * r["y"]}
        total += r["y"] ** 2 * r["t"]
    for r in rows:
        r["y"] = r["y"] * x[1]
        r["v"][0] += x[2]
    return total + sum(r["y"] * r["t"] + r["v"] @ x[:2] for r in rows)


def compared(x, points):
    total = x[0] * sum(a < b for a, b in itertools.pairwise(points))
    total += x[1] * sum(p == points[0] for p in points) + max(points).y * x[0] ** 2
    new = [dataclasses.replace(p, y=p.y * x[2]) for p in points]
    one = copy.copy(points[1])
    one.y = x[1]
    return total + sum(p.y**2 * p.t for p in new) + one.y * points[1].y


ARGUMENTS = {"bodies": bodies, "rows": rows, "points": points}
PROGRAMS = [
    f for f in list(globals().values())
    if getattr(f, "__code__", None) and f.__code__.co_varnames[:1] == ("x",)
]  # fmt: skip


@pytest.mark.parametrize("program", PROGRAMS, ids=lambda f: f.__name__)
def test_program(program):
    made = ARGUMENTS[program.__code__.co_varnames[1]]
    given, x = made(), X[:3]
    gradient = srcgrad.value_and_grad(program)
    value, found = gradient(x, given)

    def at(x):
        return program(x, made())

    np.testing.assert_allclose(value, at(x), rtol=1e-12)
    near = [(at(x + h) - at(x - h)) / 2e-6 for h in 1e-6 * np.eye(3)]
    np.testing.assert_allclose(found, near, rtol=1e-6, atol=1e-8)
    assert repr(list(map(vars_of, given))) == repr(list(map(vars_of, made())))


def vars_of(thing):
    held = thing if isinstance(thing, dict) else vars(thing)
    return {k: vars(v) if isinstance(v, Vector) else v for k, v in held.items()}


@pytest.mark.parametrize(
    "program",
    [methods, pairs_but_itself, pairs_by_slices, chosen, moved, moved_in_place, copied, residuals],
    ids=lambda f: f.__name__,
)
def test_the_text_is_the_same_however_many_there_are(program):
    made = ARGUMENTS[program.__code__.co_varnames[1]]
    gradient = srcgrad.grad(program)
    gradient(X[:3], made(20))
    source = gradient.source
    gradient(X[:3], made(30))
    assert gradient.source == source
    assert "= records(" in source and source.count("\n") < 80


def test_it_reads_well():
    gradient = srcgrad.grad(residuals)
    gradient(X[:3], [{"t": 0.1 * i, "y": 1.0} for i in range(17)])
    assert "    rows = records(rows, 't', 'y')\n" in gradient.source
    assert "    for item_t, item_y in reversed(rows):\n" in gradient.source


def test_short_lists_are_taken_one_by_one():
    gradient = srcgrad.grad(methods)
    gradient(X[:3], bodies(16))
    assert "records" not in gradient.source


def test_by_the_objects():
    def pairs(bodies, k):
        return k * sum(a.m * b.m * (a.x - b.x) ** 2 for a in bodies for b in bodies if a is not b)

    def leap(bodies, k):
        for b in bodies:
            b.x += k * b.m
            b.place += b.x
        return sum(np.sum(b.place**2) for b in bodies)

    for program in (pairs, leap):
        given = bodies()
        (found, by_k), rng = srcgrad.grad(program, argnums=(0, 1))(given, 0.3), np.random
        for seed in range(3):
            rng = np.random.default_rng(seed)
            product = random_rows.along([found, by_k], rng)
            near = [
                program(*random_rows.moved([bodies(), 0.3], np.random.default_rng(seed), h))
                for h in (1e-6, -1e-6)
            ]
            np.testing.assert_allclose(product, (near[0] - near[1]) / 2e-6, rtol=1e-6)
        assert type(found[0]) is Body and found[0].name == "a" and type(found[0].x) is float
        assert given[0].x == bodies()[0].x and np.array_equal(given[0].place, bodies()[0].place)


def test_other_derivatives():
    def energies(bodies, k):
        return [b.x * k for b in bodies]

    def total(bodies, k):
        return sum(b.x**2 * k**3 for b in bodies)

    given = bodies()
    _, pullback = srcgrad.vjp(energies, given, 2.0)
    found, by_k = pullback([1.0] * COUNT)
    np.testing.assert_allclose([b.x for b in found], 2.0)
    np.testing.assert_allclose(by_k, sum(b.x for b in given))
    tangents = [Body(1.0, 0.5, b.name, Vector(0.0, 0.0), np.zeros(2)) for b in given]
    _, tangent = srcgrad.jvp(total, (given, 2.0), (tangents, 1.0))
    expected = sum(2 * b.x * 8.0 + 12.0 * b.x**2 for b in given)
    np.testing.assert_allclose(tangent, expected)
    second = srcgrad.hessian(lambda k: total(given, k))(2.0)
    np.testing.assert_allclose(second, 12.0 * sum(b.x**2 for b in given))

    def of_gradient(k):
        return sum(b.x**2 for b in srcgrad.grad(total)(given, k))

    np.testing.assert_allclose(
        srcgrad.grad(of_gradient)(2.0), sum(24 * b.x**2 * 2.0**5 for b in given)
    )


ROWS = rows()


def test_lists_outside_may_change():
    def fit(a):
        return sum((r["y"] * a - r["t"]) ** 2 for r in ROWS)

    gradient = srcgrad.value_and_grad(fit)

    def check():
        value, found = gradient(1.3)
        assert value == pytest.approx(fit(1.3), rel=1e-13) and type(value) is type(fit(1.3))
        expected = sum(2 * (r["y"] * 1.3 - r["t"]) * r["y"] for r in ROWS)
        np.testing.assert_allclose(found, expected, rtol=1e-6)

    before = copy.deepcopy(ROWS)
    try:
        check()
        assert "ROWS = records(ROWS, 't', 'y', 'k', 'v')" in gradient.source
        for change in ({"y": 5}, {"y": np.float32(5)}, {"y": 2.0, "extra": 1}, {"v": None}):
            ROWS[3].update(change)
            check()
        ROWS.append({"y": 1.0, "t": 2.0})
        check()
        del ROWS[4:]
        check()
        ROWS[:] = [{"t": 0.1 * i, "y": 1.0} for i in range(20)]
        check()
    finally:
        ROWS[:] = before


def test_what_is_written_outside_may_be_among_them():
    held = rows()
    first = held[2]

    def through_another_name(a):
        first["y"] = a * 2
        return sum(r["y"] * a for r in held)

    found = srcgrad.grad(through_another_name)(1.5)
    rest = sum(r["y"] for r in held if r is not first)
    np.testing.assert_allclose(found, rest + 4 * 1.5)


def test_the_same_object_twice():
    def read(bodies, k):
        return sum(b.x * k for b in bodies)

    def written(bodies, k):
        for b in bodies:
            b.x = b.x * k
        return sum(b.x for b in bodies)

    def copies(bodies, k):
        new = copy.deepcopy(bodies)
        for b in new:
            b.x *= k
        return sum(b.x for b in new)

    twice = bodies()
    twice[3] = twice[4]
    np.testing.assert_allclose(srcgrad.grad(read, argnums=1)(twice, 2.0), sum(b.x for b in twice))
    for program, place in ((written, "the arguments"), (copies, "what is copied by")):
        with pytest.raises(ValueError, match=f"the same Body is in two places of {place}"):
            srcgrad.grad(program, argnums=1)(twice, 2.0)


def test_an_object_of_a_list_has_another_name():
    held = bodies()
    one, at = held[3], held[5].at

    def asked(x):
        total = x[0] * held.index(one) + x[1] * (one in held)
        for b in held:
            total += x[2] * b.m if b is one or b.at is at else b.m
        return total

    left = sum(b.m for b in held) - one.m - held[5].m
    expected = X[0] * 3 + X[1] + X[2] * (one.m + held[5].m) + left
    value, found = srcgrad.value_and_grad(asked)(X[:3])
    np.testing.assert_allclose(value, expected)
    np.testing.assert_allclose(found, [3.0, 1.0, one.m + held[5].m])


def test_arguments_that_are_written_are_in_lists_outside():
    held = bodies()

    def one(x, body):
        body.x = x[0]
        return sum(b.x for b in held) * x[1]

    def several(x, given):
        for b in given:
            b.x = b.x * x[0]
        return sum(b.x for b in held) * x[1]

    for program, given in ((one, held[3]), (several, held[::-1])):
        gradient = srcgrad.grad(program)
        gradient(X[:3], copy.deepcopy(given))
        with pytest.raises(ValueError, match="the same Body is in two places"):
            gradient(X[:3], given)


def test_deep_copies_of_what_is_in_two_places():
    class Held:
        def __init__(self, bodies, at):
            self.bodies, self.at = bodies, at

    def beside(held, k):
        new = copy.deepcopy(held)
        new.at.u = k
        return new.bodies[3].at.u * k

    def listed(held, k):
        new = copy.deepcopy([held.bodies, held.bodies[3].at])
        new[1].u = k
        return new[0][3].at.u * k

    def outside(held):
        return lambda k: beside(held, k)

    for count in (5, COUNT):
        given = bodies(count)
        apart = srcgrad.grad(beside, argnums=1)(Held(given, Vector(1.0, 2.0)), 2.0)
        np.testing.assert_allclose(apart, given[3].at.u)
        with pytest.raises(ValueError, match="the same Vector is in two places"):
            srcgrad.grad(beside, argnums=1)(Held(given, given[3].at), 2.0)
        np.testing.assert_allclose(srcgrad.grad(listed, argnums=1)(Held(given, None), 2.0), 4.0)

        np.testing.assert_allclose(srcgrad.grad(outside(Held(given, given[3].at)))(2.0), 4.0)


def test_objects_that_answer_to_any_name():
    class Eager:
        def __init__(self, x):
            self.x = x

        def __getattr__(self, name):
            return 3 * self.x

    def written(items, k):
        for item in items:
            item.y = item.x * k
        return sum(item.y for item in items)

    given = [Eager(0.5 * i) for i in range(COUNT)]
    assert srcgrad.grad(written, argnums=1)(given, 2.0) == sum(item.x for item in given)


def test_arrays_that_share_memory():
    def shifted(bodies, y):
        for b in bodies:
            b.place += y[0]
        return sum(np.sum(b.place) for b in bodies) * y[1]

    given, y = bodies(), np.ones(2)
    assert srcgrad.grad(shifted, argnums=1)(given, y)[0] == 2 * COUNT
    message = re.escape("two arrays in the arguments share memory, and the function writes")
    with pytest.raises(ValueError, match=message):
        given[0].place = y
        srcgrad.grad(shifted, argnums=1)(given, y)
    with pytest.raises(ValueError, match=message):
        given[0].place = given[1].place[::-1]
        srcgrad.grad(shifted, argnums=1)(given, y)


# Dicts that the program makes


def test_dicts_made_in_loops_are_tuples():
    def energy(x, m):
        made = [{"x": a, "m": b} for a, b in zip(x, m, strict=True)]
        total = 0.0
        for i in range(len(made)):
            for j in range(i + 1, len(made)):
                total += made[i]["m"] * made[j]["m"] * (made[i]["x"] - made[j]["x"]) ** 2
        return total

    x, m = np.linspace(0, 1, 40), np.linspace(1, 2, 40)
    gradient = srcgrad.grad(energy)
    found = gradient(x, m)
    np.testing.assert_allclose(found, 2 * m * (m.sum() * x - m @ x), atol=1e-9)
    assert gradient.source.count("\n") < 90

    def rescaled(x):
        made, t = [], 0.0
        while t < x[2]:
            made.append({"x": x[0] * t, "m": 2.0})
            t = t + x[1]
        for d in made:
            d["x"] = d["x"] * x[1]
        best = made[0]
        for d in made:
            if d["x"] > best["x"]:
                best = d
        best["m"] = x[0]
        return sum(d["x"] * d["m"] for d in made)

    x = np.array([0.7, 0.4, 1.9])
    near = [(rescaled(x + h) - rescaled(x - h)) / 2e-6 for h in 1e-6 * np.eye(3)]
    np.testing.assert_allclose(srcgrad.grad(rescaled)(x), near, rtol=1e-6, atol=1e-8)


@pytest.mark.parametrize("first", range(0, 40, 10))
def test_random_programs(first):
    words = [random_rows.check(seed) for seed in range(first, first + 10)]
    assert words.count("right") > 5


def test_parts_of_lists_are_gone_through_by_number():
    def energy(x, bodies):
        total = 0.0
        for i, a in enumerate(bodies):
            for b in bodies[i + 1 :]:
                total += a.m * b.m * x[0]
            for b in bodies[:i]:
                total += b.m * x[1] ** 2
            for b in bodies[2:]:
                total += b.m * x[2] * a.m
            for b in bodies[-3:]:
                total += b.m * x[2] * a.m
        return total

    gradient, x = srcgrad.value_and_grad(energy), X[:3]
    _, found = gradient(x, bodies())
    near = [(energy(x + h, bodies()) - energy(x - h, bodies())) / 2e-6 for h in 1e-6 * np.eye(3)]
    np.testing.assert_allclose(found, near, rtol=1e-6)
    assert re.search(r"in range\((next_i|i \+ 1), count\):", gradient.source)
    assert re.findall(r"bodies\[\S*:\S*\]", gradient.source.split("\n\n")[0]) == ["bodies[-3:]"]


def test_parts_of_lists_that_change_are_copies():
    def pushed(x, n):
        held = [x[0]]
        for _ in range(n):
            held.append(held[-1] * x[1])
            for v in held[1:]:
                held[0] = held[0] + v * x[2]
        return sum(held)

    x = X[:3]
    near = [(pushed(x + h, 6) - pushed(x - h, 6)) / 2e-6 for h in 1e-6 * np.eye(3)]
    np.testing.assert_allclose(srcgrad.grad(pushed)(x, 6), near, rtol=1e-6)


def test_lists_of_objects_are_not_printed_as_tuples(capsys):
    def made(x):
        held, t = [], 0.0
        while t < x[2]:
            held.append(Point(x[0] * t, 2.0))
            t = t + x[1]
        return held

    def printed(x):
        print(made(x))
        return sum(p.t for p in made(x))

    x = np.array([0.7, 0.4, 1.9])
    srcgrad.grad(printed)(x)
    assert "(" not in capsys.readouterr().out
    with pytest.raises(srcgrad.UnsupportedError):
        srcgrad.grad(lambda x: x[0] * len(str(made(x))))(x)


@pytest.mark.parametrize("count", [3, 20])
def test_copies_that_share_what_nobody_writes(count):
    shared = Vector(2.0, 3.0)
    held = [Body(float(i), 1.0, "a", shared) for i in range(count)]

    def read(x, held):
        new = copy.deepcopy(held)
        return sum(b.x * b.at.u * x for b in new)

    def written(x, held):
        new = copy.deepcopy(held)
        new[0].at.u = x
        return sum(b.x * b.at.u for b in new)

    np.testing.assert_allclose(srcgrad.grad(read)(1.5, held), 2.0 * sum(range(count)))
    with pytest.raises(ValueError, match="the same Vector is in two places of what is copied"):
        srcgrad.grad(written)(1.5, held)


class Particle:
    def __init__(self, place, weight):
        self.place, self.weight = place, weight


def split_and_joined(x, least):
    near, far = [], []
    for k, v in enumerate(x):
        (near if v > least else far).append(Particle(v, k))
    for particle in far:
        particle.place *= x[0]
    near.extend(far)
    return sum(p.place**2 * p.weight for p in near)


def test_a_list_of_objects_is_extended_by_another():
    srcgrad.testing.check_grads(split_and_joined, (np.array([0.3, 0.8, 0.55, 1.2]), 0.5))
