"""Truth values are Python's where the program's are: `+` counts those, and says "or" of NumPy's."""

import numpy as np
import pytest

from srcgrad import grad

from .small_programs import check, programs


def chosen(x):
    near = True if x[0] > 0.1 else False  # noqa: SIM210
    far = True if x[1] > 0.1 else False  # noqa: SIM210
    return x[0] * (near + far)


def flags(x):
    near = far = False
    if x[0] > 0.1:
        near = True
    for v in x:
        if v > 0.2:
            far = True
    return x[0] * (near + far + far)


def returned(x):
    def is_large(v):
        if v > 0.1:  # noqa: SIM103
            return True
        return False

    return x[0] * (is_large(x[0]) + is_large(x[1]))


class Seen:
    near = far = False


def attributes(x):
    seen = Seen()
    if x[0] > 0.1:
        seen.near = True
    if x[1] > 0.1:
        seen.far = True
    return x[0] * (seen.near + seen.far)


def items(x):
    hits = {"near": False, "far": False}
    for name in ("near", "far"):
        if x[0] > 0.1:
            hits[name] = True
    return x[0] * (hits["near"] + hits["far"])


def of_arrays(x):
    return x[0] * (any(x > 0.1) + all(x > 0.1))


def of_generators(x):
    values = [x[0], x[1]]
    return x[0] * (any(v > 0.1 for v in values) + all(v > 0.1 for v in values))


def of_lists(x):
    return x[0] * (any([x[0] > 0.1, x[1] > 0.1]) + all((x[0] > 0.1, x[1] > 0.1)))


def of_equal_items(x):
    same = (x[0], x[1]) == (x[0] * 1.0, x[1] * 1.0)
    return x[0] * (same + ([x[2]] == [x[2] * 1.0]) + (x[0] in (x[0] * 1.0, 2.0)))


def of_numpy(x):
    return x[0] * ((x[0] > 0.1) + (x[1] > 0.1)) + x[1] * (np.any(x > 0.1) + np.all(x > 0.1))


@pytest.mark.parametrize("f", programs(globals()), ids=lambda f: f.__name__)
def test_counting(f):
    check(f)


def test_what_is_only_tested_stays_as_it_is():
    def f(x):
        found = bool(any(x > 0.1))
        while found:
            x = x * 0.5
            found = False
            if x[0] > 0.1:
                found = True
        return x[0]

    gradient = grad(f)
    gradient(np.array([1.0, 0.5]))
    assert "bool(" not in gradient.source
