"""np.cross of vectors of two components, of which the third is zero."""

from __future__ import annotations

import numpy as np
import pytest

from srcgrad import grad
from srcgrad.testing import check_grads

pytestmark = [
    pytest.mark.filterwarnings("ignore:Arrays of 2-dimensional vectors"),
    pytest.mark.skipif(
        np.lib.NumpyVersion(np.__version__) >= "2.5.0", reason="NumPy doesn't take them any more"
    ),
]
SHAPES = [
    ((2,), (2,), {}), ((3,), (2,), {}), ((2,), (3,), {}), ((4, 2), (3,), {}), ((4, 3), (4, 2), {}),
    ((2, 4), (3, 4), {"axis": 0}), ((3, 4), (4, 2), {"axisa": 0, "axisb": 1, "axisc": 0}),
]  # fmt: skip


@pytest.mark.parametrize(("a", "b", "axes"), SHAPES)
def test_two_components(a, b, axes):
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=a), rng.normal(size=b)

    def f(x, y):
        return np.sum(np.sin(np.cross(x, y, **axes)))

    check_grads(f, (x, y), argnums=(0, 1))
    d_x, d_y = grad(f, (0, 1))(x, y)
    assert d_x.shape == a
    assert d_y.shape == b


def test_a_length_of_a_constant_says_nothing_of_the_other():
    def f(x):
        return np.sum(np.cross(np.array([1.0, 2.0, 3.0]), x))

    gradient = grad(f)
    np.testing.assert_allclose(gradient(np.ones(3)), [1.0, -2.0, 1.0])
    np.testing.assert_allclose(gradient(np.ones(2)), [1.0, -2.0])
