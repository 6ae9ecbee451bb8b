"""Objects with `__getitem__` and no `__iter__`: Python goes on until there is an IndexError.

It doesn't ask `__len__`, which may tell something else.
"""

import numpy as np
import pytest

import srcgrad
from srcgrad.testing import check_grads


class Items:
    def __init__(self, values):
        self.values = values

    def __getitem__(self, k):
        return self.values[k]


class Counted(Items):
    def __len__(self):
        return len(self.values)


class SaysTwo(Items):
    def __len__(self):
        return 2


class Other(Items):
    def __init__(self, values):
        super().__init__(values)
        self.count = [1.0]

    def __len__(self):
        return len(self.count)


class Ends(Items):
    """It ends before its length."""

    def __len__(self):
        return 4

    def __getitem__(self, k):
        if k >= 3:
            raise IndexError(k)
        return self.values[k] * k


class Samples:
    """As data sets are written."""

    def __init__(self, inputs, targets):
        self.inputs, self.targets = inputs, targets

    def __len__(self):
        return len(self.inputs)

    def __getitem__(self, k):
        return self.inputs[k], self.targets[k]


def gone_through(x, cls):
    total = 0.0
    for i, v in enumerate(cls(x)):
        total += v * v * (i + 1)
    return total


def listed(x, cls):
    return sum(v * v for v in list(cls([x[0], x[1], x[2]]))) + max(cls(x))


def of_the_run(x, cls):
    values = []
    for v in x:
        if v > 0:
            values.append(v)
    return sum(v**3 for v in cls(values))


@pytest.mark.parametrize("f", [gone_through, listed, of_the_run])
@pytest.mark.parametrize("cls", [Items, Counted, SaysTwo, Other, Ends])
def test_items_by_number(f, cls):
    x = np.array([1.5, 2.5, 0.5, 3.0])
    assert srcgrad.value_and_grad(f)(x, cls)[0] == pytest.approx(f(x, cls))
    check_grads(f, (x, cls), argnums=0)


def unpacked(x):
    a, b = SaysTwo(x)
    return a * b


def test_all_of_them_are_unpacked():
    x = np.array([1.5, 2.5, 0.5])
    for f in (unpacked, srcgrad.grad(unpacked)):
        with pytest.raises(ValueError, match="unpack"):
            f(x)


def fitted(w, inputs, targets):
    return sum((np.dot(w, x) - y) ** 2 for x, y in Samples(inputs, targets))


def test_samples():
    rng = np.random.default_rng(0)
    check_grads(fitted, (rng.normal(size=3), rng.normal(size=(5, 3)), rng.normal(size=5)))


def test_a_counted_list_is_gone_through_as_one():
    gradient = srcgrad.grad(gone_through)
    gradient(np.ones(3), Counted)
    assert "while" not in gradient.source
