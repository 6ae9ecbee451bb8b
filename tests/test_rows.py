"""Objects in tables of which only attributes are read: they are numbers, and no rows of a table."""

import math

import numpy as np
import pytest

import srcgrad
from srcgrad.testing import check_grads


class Vec:
    def __init__(self, x, y):
        self.x, self.y = x, y

    def __add__(self, other):
        return Vec(self.x + other.x, self.y + other.y)

    def __sub__(self, other):
        return Vec(self.x - other.x, self.y - other.y)

    def __mul__(self, k):
        return Vec(self.x * k, self.y * k)

    def length(self):
        return math.hypot(self.x, self.y)


class Segment:
    def __init__(self, start, end):
        self.start, self.end = start, end

    def along(self):
        return self.end - self.start


class Body:
    def __init__(self, place, speed):
        self.place, self.speed = place, speed


def orbits(places, steps):
    bodies = [Body(Vec(p[0], p[1]), Vec(-p[1], p[0])) for p in places]
    for _ in range(steps):
        for body in bodies:
            for other in bodies:
                if other is not body:
                    gap = Segment(body.place, other.place).along()
                    body.speed = body.speed + gap * (0.1 / (gap.length() ** 2 + 0.5))
        for body in bodies:
            body.place = body.place + body.speed * 0.1
    return sum(b.place.length() for b in bodies)


def kept_in_a_list(places, steps):
    bodies, gaps = [Body(Vec(*p), Vec(0.0, 0.0)) for p in places], []
    for body in bodies:
        for other in bodies:
            gap = body.place - other.place
            gaps.append(gap)
            gap.x += 1.0
    return sum(g.length() for g in gaps)


def written(places, steps):
    total = 0.0
    for p in places:
        for q in places:
            gap = Vec(*p) - Vec(*q)
            before = gap.length()
            gap.x = gap.x * 2.0 + p[1]
            total += gap.length() * (1 + before)
    return total


def chosen(places, steps):
    total, last = 0.0, Vec(1.0, 2.0)
    for p in places:
        gap = Vec(*p) - last
        nearer = gap if gap.length() < 1.5 else gap * 0.5
        nearer.y += 0.5
        total += nearer.length() * gap.length()
        last = nearer
    return total


def compared(places, steps):
    total, seen = 0.0, None
    for p in places:
        v = Vec(*p)
        total += v.length() * (2.0 if v is seen else 3.0)
        if v.x > 0.5:
            seen = v
        total += seen.x if seen is not None and seen is not v else v.y
    return total


def of_arrays(places, steps):
    """An attribute that is an array is written through another name for it."""
    bodies = [Body(p, 2.0 * p) for p in places.copy()]
    total = 0.0
    for a in bodies:
        for b in bodies:
            pair = Body(a.place, b.speed)
            a.place[0] += 0.1 * pair.speed[1]
            total += np.sum(pair.place * pair.speed)
    return total


PLACES = np.random.default_rng(3).normal(size=(14, 2))  # too many to be followed one by one


@pytest.mark.parametrize("f", [orbits, kept_in_a_list, written, chosen, compared, of_arrays])
def test_value_and_derivatives(f):
    assert srcgrad.value_and_grad(f)(PLACES, 2)[0] == pytest.approx(f(PLACES, 2))
    check_grads(f, (PLACES, 2), argnums=0)


def test_what_nobody_keeps_is_no_row():
    gradient = srcgrad.grad(orbits)
    gradient(PLACES, 2)
    assert "segment" not in gradient.source
    assert "gap" not in gradient.source
    assert gradient.source.count("vecs.append(0)") == 4  # two places, two speeds


def test_unread_objects_are_none():
    gradient = srcgrad.grad(kept_in_a_list)
    gradient(PLACES, 2)
    assert gradient.source.count("vecs.append(0)") == 2  # a place and a gap: the speed isn't read


def test_what_somebody_keeps_is_one():
    gradient = srcgrad.grad(kept_in_a_list)
    gradient(PLACES, 2)
    assert "gaps.append(gap)" in gradient.source


class Bird:
    def __init__(self, place, speed):
        self.place, self.speed = place, speed


class Arrow:
    def __init__(self, u, v):
        self.u, self.v = u, v

    def __sub__(self, other):
        return Arrow(self.u - other.u, self.v - other.v)

    def length(self):
        return np.hypot(self.u, self.v)


def followed(x, n):
    """Differences are rows that nobody keeps, between rows that are kept."""
    flock = [Bird(Arrow(x[i], x[i] ** 2), Arrow(1.0, x[1])) for i in range(n)]
    for s in flock:
        near = [b for b in flock if b is not s and (b.place - s.place).length() < 1.5]
        for b in near:
            s.speed = Arrow(s.speed.u + b.place.u, s.speed.v)
    return sum(b.speed.u**2 for b in flock)


def test_rows_beside_which_there_are_adjoints_stay():
    """They were left out of second derivatives, the adjoints' lists staying as long as before."""
    x, v = np.array([0.7, 1.3, 0.4]), np.array([0.5, -1.0, 2.0])
    gradient = srcgrad.grad(followed)
    expected = (gradient(x + 1e-6 * v, 3) - gradient(x - 1e-6 * v, 3)) / 2e-6
    np.testing.assert_allclose(srcgrad.hvp(followed)(x, 3, v), expected, rtol=1e-6)

    def along(x):
        return np.sum(srcgrad.grad(followed)(x, 3) * v)

    np.testing.assert_allclose(srcgrad.grad(along)(x), expected, rtol=1e-6)
