"""Filters that choose among neighbours: their values are SciPy's, their derivatives those of
differences, and forward mode agrees with reverse mode."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import srcgrad
from srcgrad.testing import check_grads

pytest.importorskip("scipy")

from scipy import ndimage

R = np.random.default_rng(0)
IMAGE, LINE, SOLID = R.uniform(size=(6, 5)), R.uniform(size=9), R.uniform(size=(3, 4, 5))
CORNERS = np.array([[1, 0, 1], [0, 1, 1]], bool)
LABELS = (np.arange(30) // 7).reshape(6, 5)

FILTERS: dict[str, Any] = {
    "axis": lambda x: ndimage.median_filter(x, 3, axes=1),
    "both axes": lambda x: ndimage.minimum_filter(
        x, size=(2, 3), axes=(0, 1), mode=("wrap", "constant")
    ),
    "a mode for each axis": lambda x: ndimage.maximum_filter(x, 3, mode=["constant", "mirror"]),
    "constant first": lambda x: ndimage.maximum_filter(x, 3, mode=["wrap", "constant"], cval=0.5),
    "one of the axes": lambda x: ndimage.maximum_filter(x, 3, axes=(1,), mode="mirror"),
    "footprint of an axis": lambda x: ndimage.percentile_filter(
        x, 20, footprint=[1, 0, 1], axes=(-2,), mode="wrap"
    ),
    "rank from above": lambda x: ndimage.rank_filter(x, -2, 3),
    "percentile from above": lambda x: ndimage.percentile_filter(x, -30, footprint=CORNERS),
    "lowest rank": lambda x: ndimage.rank_filter(x, 0, footprint=CORNERS, origin=(-1, 1)),
    "even size": lambda x: ndimage.median_filter(x, 4, origin=1),
    "larger than the image": lambda x: ndimage.median_filter(x, 13, mode="mirror"),
    "row by row": lambda x: ndimage.maximum_filter1d(x, 3, origin=1),
    "column by column": lambda x: ndimage.minimum_filter1d(x, 4, axis=0, mode="constant"),
    "erosion": lambda x: ndimage.grey_erosion(x, (2, 3), mode="constant", cval=0.3),
    "dilation": lambda x: ndimage.grey_dilation(x, footprint=CORNERS, origin=(-1, 0)),
    "dilation along an axis": lambda x: ndimage.grey_dilation(x, (2,), axes=(1,), origin=(-1,)),
    "opening": lambda x: ndimage.grey_opening(x, (2, 3)),
    "closing": lambda x: ndimage.grey_closing(x, footprint=CORNERS),
    "closing along an axis": lambda x: ndimage.grey_closing(x, 2, axes=(1,)),
    "gradient": lambda x: ndimage.morphological_gradient(x, 3),
    "laplace": lambda x: ndimage.morphological_laplace(x, (2, 3)),
    "white tophat": lambda x: ndimage.white_tophat(x, 3),
    "black tophat": lambda x: ndimage.black_tophat(x, footprint=CORNERS),
    "greatest": lambda x: ndimage.maximum(x) + ndimage.minimum(x, LABELS),
    "greatest of a region": lambda x: ndimage.maximum(x, LABELS, 2),
    "greatest of regions": lambda x: ndimage.maximum(x, LABELS, [1, 2, 3]),
    "medians of regions": lambda x: ndimage.median(x, LABELS, np.arange(3)),
}


@pytest.mark.parametrize("name", FILTERS)
def test_filter(name: str) -> None:
    f = FILTERS[name]
    np.testing.assert_array_equal(srcgrad.vjp(f, IMAGE)[0], f(IMAGE))
    check_grads(f, (IMAGE,))


def test_filters_of_other_ranks() -> None:
    check_grads(lambda x: ndimage.median_filter(x, 3, mode="nearest"), (LINE,))
    check_grads(lambda x: ndimage.median_filter(x, (3, 1, 2)), (SOLID,))
    check_grads(lambda x: ndimage.rank_filter(x, 2, (2, 3), axes=(0, 2)), (SOLID,))


def test_equal_neighbours_share() -> None:
    flat = np.ones((4, 5))
    for f in (ndimage.median_filter, ndimage.maximum_filter):
        np.testing.assert_allclose(srcgrad.grad(lambda x, f=f: np.sum(f(x, 3)))(flat), flat)
    step = np.array([0.0, 0.0, 1.0, 1.0])
    found = srcgrad.grad(lambda x: ndimage.maximum_filter(x, 3)[2])(step)
    np.testing.assert_allclose(found, [0, 0, 0.5, 0.5])


def test_dtypes_and_empty_images() -> None:
    gradient = srcgrad.grad(lambda x: np.sum(ndimage.median_filter(x, 3)))
    assert gradient(IMAGE.astype(np.float32)).dtype == np.float32
    assert gradient(np.ones((0, 5))).shape == (0, 5)
    twice = srcgrad.grad(lambda x: np.sum(ndimage.maximum_filter(x, 3) * x))
    numbers = np.random.default_rng(1).permutation(12).reshape(3, 4) * 1.0
    np.testing.assert_allclose(twice(numbers), twice(numbers.astype(np.float32)))


@pytest.mark.parametrize("filtered", [ndimage.correlate, ndimage.convolve])
def test_complex_weights_make_complex_images(filtered: Any) -> None:
    def f(x: Any, w: Any) -> Any:
        y = filtered(x, w * (1.0 + 2.0j), mode="constant")
        line = ndimage.convolve1d(x.astype(np.float32), w[0] * 1j, 1)
        small = 3.0 if y.dtype == np.complex128 and line.dtype == np.complex64 else 5.0
        return small * np.sum(np.sin(y.real) * y.imag) + 1e-3 * np.sum(line.imag) * w[0, 1]

    weights = np.array([[0.3, -0.5, 1.1], [0.7, 0.2, -0.4]])
    value, gradient = srcgrad.value_and_grad(f)(IMAGE, weights)
    assert value == pytest.approx(f(IMAGE, weights)) and gradient.dtype == np.float64
    check_grads(lambda x, w: f(x, w), (IMAGE, weights), rtol=1e-4)


def test_a_filter_that_writes() -> None:
    def f(x):
        y = np.zeros_like(x)
        ndimage.black_tophat(x, (3, 2), output=y)
        return np.sum(y * IMAGE)

    check_grads(f, (IMAGE**2,))


def refused(f: Any, message: str) -> None:
    with pytest.raises(srcgrad.UnsupportedError, match=message):
        srcgrad.grad(lambda x: np.sum(f(x)))(IMAGE)


def test_what_is_refused() -> None:
    refused(lambda x: ndimage.median_filter(x, (3, 2), axes=(1, 0)), "axes in order")
    refused(lambda x: ndimage.grey_dilation(x, structure=np.ones((3, 3))), "structure adds heights")
    refused(lambda x: ndimage.grey_opening(x, structure=np.ones((3, 3))), "structure adds heights")
    refused(lambda x: ndimage.generic_filter(x, np.ptp, 3), "calls a function for each pixel")


def test_a_filter_into_an_array_is_refused() -> None:
    def f(x):
        y = np.zeros_like(x)
        ndimage.median_filter(x, 3, output=y)
        return np.sum(y)

    with pytest.raises(srcgrad.UnsupportedError, match="median_filter"):
        srcgrad.grad(f)(IMAGE)
