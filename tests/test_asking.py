"""Where the kind of a result may follow from an int: asked for if that makes a short gradient."""

import numpy as np
import pytest

from srcgrad import grad, value_and_grad
from srcgrad.testing import check_grads

RNG = np.random.default_rng(5)
CENTRES = RNG.normal(size=(3, 2))


def mean_of_some(x, centres):
    rows = [row for row in x if row[0] > 0]
    return np.sum((sum(rows) / len(rows)) ** 2)


def nearest(x, centres):
    labels = []
    for row in x:
        distances = [np.sum((row - centre) ** 2) for centre in centres]
        labels.append(int(np.argmin(distances)))
    return labels


def means_by_label(x, centres):
    labels = nearest(x, centres)
    moved = centres.copy()
    for k in range(len(centres)):
        members = [row for row, label in zip(x, labels, strict=True) if label == k]
        if members:
            moved[k] = sum(members) / len(members)
    return np.sum(moved**2)


def means_by_key(x, centres):
    clusters = {}
    for label, row in zip(nearest(x, centres), x, strict=True):
        clusters.setdefault(label, []).append(row)
    moved = centres.copy()
    for label, members in clusters.items():
        moved[label] = sum(members) / len(members)
    return np.sum(moved**2)


@pytest.mark.parametrize("f", [mean_of_some, means_by_label, means_by_key])
def test_sums_of_lists_as_long_as_the_data_say(f):
    gradient = value_and_grad(f, argnums=(0, 1))
    for points in (150, 20, 3):
        x = RNG.normal(size=(points, 2)) + 0.01
        x[0, 0] = 1.0
        value, _ = gradient(x, CENTRES)
        np.testing.assert_allclose(value, f(x, CENTRES), rtol=1e-13)
        check_grads(f, (x, CENTRES), order=1)
    assert gradient.source.count("\n") < 160


def test_short_gradients_know_the_int():
    def f(x, n):
        rows = []
        for i in range(n):
            rows.append(x[i])
        return np.sum((sum(rows) / len(rows)) ** 2)

    x = RNG.normal(size=(150, 2))
    gradient = grad(f)
    gradient(x, 7)
    assert "project" not in gradient.source and gradient.source.count("\n") < 25
    gradient(x, 150)
    assert "range(n)" in gradient.source
    np.testing.assert_allclose(gradient(x, 150), np.tile(2 * x.mean(axis=0) / 150, (150, 1)))
    with pytest.raises(ZeroDivisionError):
        gradient(x, 0)
