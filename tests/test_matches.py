"""`match`: of what may be one of several things, and random statements (`random_matches.py`)."""

import pytest

from tests import random_matches
from tests.small_programs import X, check, programs


def pair_or_none(v):
    return (v[1], v[2]) if v[0] > 0.4 else None


def a_tuple_or_none(x):
    p = q = 0.5
    match pair_or_none(x):
        case (p, q):
            pass
        case None:
            q = x[2]
    return p + q * x[0]


def several_lengths(x):
    t = 0.0
    for i in range(3):
        match (x[0],) if x[i] > 0.5 else (x[1], x[2]):
            case [p]:
                t += p * i
            case [p, q]:
                t += p * q
    return t


def keys_that_are_put_in(x):
    table, t = {"w": x[1], "v": x[2]}, 0.0
    for i in range(3):
        if x[i] > 0.4:
            match table:
                case {"w": u, "z": v}:
                    t += u * v
                case {"w": u}:
                    t += u * x[0]
            table["z"] = x[i]
    return t + sum(table.values())


def ranges_and_texts(x):
    t = 0.0
    match range(2):
        case [p, q]:
            t += (p + q) * x[0]
    match "ab":
        case [_, _]:
            t += x[1]
    match {"a", "b"}:
        case {}:
            t += x[2]
    return t


class Point:
    __match_args__ = ("u",)

    def __init__(self, u, v):
        self.u, self.v = u, v


def attributes_that_are_missing(x):
    t = 0.0
    match Point(x[0], x[1]):
        case Point(w=w):
            t += w
        case Point(u, v=dict(v)):
            t += u
        case Point(u, v=v):
            t += u * v
    return t


@pytest.mark.parametrize("f", programs(globals()), ids=lambda f: f.__name__)
def test_it_gives_the_derivatives(f):
    check(f, X)
    check(f, X[::-1].copy())


@pytest.mark.parametrize("start", range(0, 40, 10))
def test_random_matches(start):
    words = [
        random_matches.check(random_matches.program(seed)) for seed in range(start, start + 10)
    ]
    assert not [word for word in words if word.startswith("wrong")], words
    assert words.count("right") >= 5
