"""Generators that their consumers don't go through: what they do at their end is done there.

Python raises a GeneratorExit where they stand once nothing refers to them any more.
"""

import contextlib
import itertools

import numpy as np
import pytest

import srcgrad
from tests.small_programs import X, check, programs


class Noting:
    """Notes in its `__exit__` how the block was left; ends a ValueError."""

    def __init__(self, log, value):
        self.log, self.value = log, value

    def __enter__(self):
        return self.value

    def __exit__(self, kind, error, trace):
        self.log.append(self.value * (0.3 if kind is None else 0.7))
        return kind is ValueError


@contextlib.contextmanager
def noted(log, value):
    try:
        yield value
    except ValueError:
        log.append(value * 3)
    else:
        log.append(value)


def managed(value, log):
    with Noting(log, value) as inner:
        yield inner
        yield inner * 2


def managed_by_a_function(value, log):
    with noted(log, value) as inner:
        yield inner
        yield inner * 2


def handling(value, log):
    done = 0.0
    try:
        yield value
        yield value * 2
        done = 1.0
    except GeneratorExit:
        log.append(5 * value)
        raise
    except ValueError:
        log.append(7 * value)
    else:
        log.append(3 * value)
    finally:
        log.append(done + value)


def finishing(value, log):
    try:
        yield value
        yield value * 2
    finally:
        log.append(value)


def delegating(value, log):
    with Noting(log, value):
        yield from handling(value, log)
        yield 3.0


def going_through_another(value, log):
    for inner in handling(value, log):
        yield inner * 2


def in_order(log):
    return sum(value * (i + 1) for i, value in enumerate(log))


def left_by_a_break(x):
    log = []
    for made in (managed, managed_by_a_function, handling, delegating, going_through_another):
        for v in made(x[0], log):
            log.append(v)
            break
    return in_order(log)


def left_by_a_break_that_the_run_decides(x):
    log = []
    for u in x:
        for made in (managed, handling, delegating):
            for v in made(u, log):
                log.append(v)
                if v < 1.0:
                    break
    return in_order(log)


def left_by_an_exception_that_is_none_of_theirs(x):
    log = []
    for made in (managed, managed_by_a_function, handling, delegating, finishing):
        for u in x:
            try:
                for v in made(u, log):
                    log.append(v)
                    if v > 1.0:
                        raise ValueError
                log.append(u)
            except ValueError:
                log.append(4.0 * u)
    return in_order(log)


def first(items):
    for item in items:
        if item > 0.1:
            return item
    return 0.5


def left_by_a_return(x):
    log = []
    log.append(first(managed(x[0], log)) + first(handling(x[1], log)) + first(finishing(x[2], log)))
    return in_order(log)


def left_by_what_asks_for_some_items(x):
    log = []
    log.append(next(managed(x[0], log)))
    log.append(sum(itertools.islice(handling(x[1], log), 1)))
    log.append(sum(itertools.takewhile(lambda v: v < 1.3, managed(x[2], log))))
    log.append(x[0] if any(v > 0.1 for v in managed(x[1], log)) else x[1])
    for a, b in zip(x[:1], managed(x[2], log), strict=False):
        log.append(a * b)
    return in_order(log)


def gone_through(x):
    log = []
    items = managed(x[0], log)
    for v in items:
        log.append(v)
    for made in (handling, delegating, managed_by_a_function):
        log.extend(list(made(x[1], log)))
    return in_order(log)


@pytest.mark.parametrize("program", programs(globals()))
def test_what_generators_do_at_their_end(program):
    check(program, X)


def test_a_name_keeps_a_generator_from_its_end():
    def f(x):
        log = []
        items = finishing(x[0], log)
        for v in items:  # noqa: B007
            break
        return v + sum(log)

    assert f(np.ones(3)) == 1.0
    with pytest.raises(srcgrad.UnsupportedError, match="once nothing refers to it"):
        srcgrad.grad(f)(np.ones(3))


def test_a_generator_that_goes_on_is_refused():
    def going_on(value):
        try:
            yield value
        except GeneratorExit:
            yield value * 2

    def f(x):
        for v in going_on(x[0]):  # noqa: B007
            break
        return v

    with pytest.raises(srcgrad.UnsupportedError, match="yields after it was left"):
        srcgrad.grad(f)(np.ones(3))
