"""Exceptions that pass through a `finally`, or the end of a `with`, before they are caught."""

import contextlib

import numpy as np
import pytest

from tests.small_programs import check, programs


class Tripling:
    def __init__(self, value):
        self.value = value

    def __enter__(self):
        return self

    def __exit__(self, *how):
        self.value = self.value * 3


class Telling(Tripling):
    def __exit__(self, kind, error, trace):
        self.value = self.value * (5 if kind is not None else 7)


class Ending(Tripling):
    def __exit__(self, *how):
        self.value = self.value * 11
        return True


@contextlib.contextmanager
def noted(items):
    items.append(1.0)
    try:
        yield items
    finally:
        items.append(4.0)


def finally_on_the_way(x):
    y = x[0]
    try:
        try:
            raise ValueError
        finally:
            y = y * 2
    except ValueError:
        y = y + x[1]
    return y * x[2]


def finally_on_the_way_of_a_key_error(x):
    table = {"a": x[0]}
    try:
        try:
            v = table["q"]
        finally:
            table["a"] = x[1]
    except KeyError:
        v = x[2]
    return v * table["a"]


def finally_that_returns(x):
    def inner():
        try:
            try:
                raise ValueError
            finally:
                return x[1] * 3  # noqa: B012
        except ValueError:
            return x[0]

    return inner() * x[2]


def with_on_the_way(x):
    t = Tripling(x[0])
    try:
        with t:
            raise ValueError
    except ValueError:
        pass
    return t.value * x[1]


def several_withs_on_the_way(x):
    a, b = Tripling(x[0]), Telling(x[1])
    try:
        with a, b as c:
            c.value = c.value * x[2]
            raise ValueError
    except ValueError:
        a.value = a.value + b.value
    return a.value * b.value


def a_with_ends_the_exception(x):
    a, b = Telling(x[0]), Ending(x[1])
    y = x[2]
    try:
        with a, b:
            y = y * 2
            raise ValueError
        y = y * 13
    except ValueError:
        y = y * 17
    return a.value * b.value * y


def told_that_nothing_was_raised(x):
    with Telling(x[0]) as t:
        pass
    return t.value * x[1]


def a_generator_with_finally(x):
    items = [x[0]]
    try:
        with noted(items):
            raise ValueError
    except ValueError:
        items.append(x[1])
    return sum((i + 1) * v for i, v in enumerate(items))


def suppressed(x):
    y = x[0]
    with contextlib.suppress(ValueError, KeyError):
        if x[0] > -100:
            raise ValueError
        y = x[1]
    return y * x[2]


def not_to_be_suppressed(x):
    y = x[0]
    with contextlib.suppress(ValueError), Telling(x[1]) as t:
        y = x[2] * t.value
    return y * t.value


def finally_where_only_the_run_knows(x):
    y = x[0]
    try:
        try:
            if x[1] > 0.5:
                raise ValueError
        finally:
            y = y * 5
    except ValueError:
        y = y + x[1]
    return y * x[2]


def with_where_only_the_run_knows(x):
    t = Telling(x[0])
    try:
        with t:
            np.linalg.cholesky(np.eye(2) * (0.5 - x[1]))
    except np.linalg.LinAlgError:
        pass
    return t.value * x[1]


class Holding(Exception):
    def __init__(self, value):
        super().__init__("text")
        self.value = value


def held_by_an_exception(x):
    try:
        raise Holding(x[0] * 2)
    except Holding as error:
        return error.value * x[1]


@contextlib.contextmanager
def doubling(items):
    items[0] = items[0] * 2
    yield
    items[0] = items[0] + 1


def returned_from_a_with(x):
    items = [x[0]]

    def inner():
        with doubling(items):
            return x[1] * items[0]

    return inner() * items[0]


def left_by_break_and_continue(x):
    items = [x[0]]
    y = 0.0
    for i in range(len(x)):
        with doubling(items):
            if x[i] < 0.5:
                continue
            if x[i] < 0.7:
                break
            y = y + x[i] * items[0]
    return y * items[0]


@pytest.mark.parametrize("f", programs(globals()), ids=lambda f: f.__name__)
def test_program(f):
    check(f)
