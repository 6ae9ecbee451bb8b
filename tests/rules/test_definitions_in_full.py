"""What functions that are defined by others make of arguments that few programs give them.

Weights, indices and masks in other shapes, groups of one, nothing at all, and what they refuse.
"""

import numpy as np
import pytest

from srcgrad import jvp, value_and_grad

scipy = pytest.importorskip("scipy")
from scipy import linalg, ndimage, signal, stats  # noqa: E402

X = np.random.default_rng(7).uniform(0.5, 2.0, (3, 3))
LABELS = np.array([[1, 0, 1], [2, 2, 1], [0, 3, 3]])
REGIONS = [[1, 3], [2, 2]]

FOLLOWED = {
    "weights along the last axis": lambda x: np.sum(X[0] * stats.gmean(x, weights=[1.0, 2.0, 0.5])),
    "weights of rows": lambda x: np.sum(stats.hmean(x, weights=[[1.0], [2.0], [0.5]])),
    "weights of all": lambda x: stats.pmean(x, 2, weights=X**2, axis=None),
    "no moment of first order": lambda x: np.sum(stats.moment(x, 1)) + x[0, 0],
    "sums in rows": lambda x: np.sum(X[:2, :2] * ndimage.sum(x**2, LABELS, REGIONS)),
    "maxima in rows": lambda x: np.sum(X[:2, :2] * ndimage.maximum(x**2, LABELS, REGIONS)),
    "medians in rows": lambda x: np.sum(X[:2, :2] * ndimage.median(x**2, LABELS, REGIONS)),
    "the median of nothing": lambda x: np.sum(ndimage.median(x**2, LABELS, [7, 1])),
    "groups of one": lambda x: np.sum(np.hypot.reduceat(-x, [0, 1])),
    "a mask in another shape": lambda x: placed(x, np.arange(9) % 2 == 0, [1.5, 2.5]),
    "nothing to put": lambda x: put(x, X > 1.0, []),
    "edges of nothing": lambda x: np.sum(np.histogram_bin_edges(x[:0], 3)) + x[0, 0],
    "the histogram of nothing": lambda x: np.sum(np.histogram(x[:0], 3)[1]) + x[0, 0],
    "of a number": lambda x: linalg.expm(x[0, 0])[0, 0] * x[1, 1],
}
RAISING = {
    "weights for other rows": (
        ValueError, lambda x: np.sum(stats.gmean(x[:2], 0, weights=[1.0, 2.0]))
    ),
    "too many modes": (RuntimeError, lambda x: np.sum(ndimage.sobel(x, mode=["wrap"] * 3))),
    "too many modes of a filter": (
        RuntimeError, lambda x: np.sum(ndimage.gaussian_filter(x, 1.0, mode=["wrap"] * 3))
    ),
    "a mask of another size": (ValueError, lambda x: placed(x, np.ones(8, bool), [1.5])),
    "a mask that is none": (ValueError, lambda x: put(x, 1, [1.5])),
    "edges that decrease": (
        ValueError, lambda x: np.sum(np.histogram_bin_edges(x, np.array([2.0, 1.0, 3.0])))
    ),
    "too few bins": (ValueError, lambda x: np.sum(np.histogram_bin_edges(x, 1 - x.ndim))),
    "a range that decreases": (
        ValueError, lambda x: np.sum(np.histogram_bin_edges(x, 4, (1.0, x[0, 0] - 9)))
    ),
    "weights of others": (
        ValueError, lambda x: np.sum(np.histogram_bin_edges(x, 4, weights=np.ones(len(x))))
    ),
    "parts that don't end": (
        ValueError, lambda x: np.sum(signal.welch(x.ravel(), nperseg=4, noverlap=len(x) + 1)[1])
    ),
    "parts of nothing": (
        ValueError, lambda x: np.sum(signal.welch(x.ravel(), nperseg=len(x) - 3)[1])
    ),
    "a number in rows": (TypeError, lambda x: np.sum(np.hypot.accumulate(x[0, 0]))),
    "the first of nothing": (ValueError, lambda x: np.sum(np.subtract.reduce(x[:0]))),
}  # fmt: skip


def placed(x, mask, values):
    y = x * 2
    np.place(y, mask, values)
    return np.sum(y * X)


def put(x, mask, values):
    y = x * 2
    np.putmask(y, mask, values)
    return np.sum(y * X)


@pytest.mark.parametrize("name", FOLLOWED)
def test_values_and_derivatives(name):
    f = FOLLOWED[name]
    value, slope = value_and_grad(f)(X)
    np.testing.assert_allclose(value, f(X), rtol=1e-12)
    direction = np.cos(np.arange(9.0)).reshape(3, 3)
    expected = (f(X + 1e-6 * direction) - f(X - 1e-6 * direction)) / 2e-6
    np.testing.assert_allclose(np.sum(slope * direction), expected, rtol=1e-6)
    np.testing.assert_allclose(jvp(f, (X,), (direction,))[1], expected, rtol=1e-6)


@pytest.mark.parametrize("name", RAISING)
def test_what_they_raise(name):
    exception, f = RAISING[name]
    with pytest.raises(exception):
        f(X)
    with pytest.raises(exception):
        value_and_grad(f)(X)
    with pytest.raises(exception):
        jvp(f, (X,), (X,))


def test_a_mask_of_ints_is_none():
    def f(x):
        y = x * 2
        try:
            np.copyto(y, 5.0, where=(x > 1) * 1)
        except TypeError:
            return np.sum(y**2)
        return np.sum(y)

    np.testing.assert_allclose(value_and_grad(f)(X)[1], 8 * X)
