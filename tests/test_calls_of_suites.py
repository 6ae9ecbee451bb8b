"""Calls as NumPy's and SciPy's own tests make them: rare arguments, and arguments that fail."""

import warnings

import numpy as np
import pytest

import srcgrad
from srcgrad.testing import check_grads

R = np.random.default_rng(3)
VECTOR, MATRIX = R.standard_normal(9), R.standard_normal((3, 4))
COMPLEX = R.standard_normal(6) + 1j * R.standard_normal(6)

VALUES = {
    "a bound that is an int, of complex numbers": (
        lambda z: np.maximum(1, z) + np.maximum(z, 0) * np.minimum(z, 1), COMPLEX,
    ),
    "a bound of a complex number": (lambda z: np.maximum(1, z) * np.minimum(z, 0.5), 1.5 + 1j),
    "the edges of bins whose number follows from the data": (
        lambda x: np.histogram(x, "fd")[1], VECTOR,
    ),
    "densities in such bins": (lambda x: np.histogram(x, bins="auto", density=True)[0], VECTOR),
    "the edges alone": (lambda x: np.histogram_bin_edges(x, "scott"), VECTOR),
    "the sum of no parts": (lambda x: np.add.reduceat(x, [], axis=1), MATRIX),
    "parts that begin nowhere": (lambda x: np.multiply.reduceat(x, [], axis=1), MATRIX),
    "no window": (lambda b: np.kaiser(0.0, b), 2.0),
    "the logarithm of a sum": (lambda x: np.logaddexp.reduce(x), VECTOR),
    "the same, of a list": (lambda x: np.logaddexp2.reduce(x), [0.5, 1.5]),
}  # fmt: skip


@pytest.mark.parametrize("name", VALUES)
def test_value_and_derivative(name):
    f, x = VALUES[name]
    out, expected = srcgrad.vjp(f, x)[0], f(x)
    assert type(out) is type(expected)
    for a, b in zip(np.atleast_1d(out), np.atleast_1d(expected), strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-14)
    check_grads(f, (x,), order=1)


def placed(x, mask, values):
    y = x.copy()
    np.place(y, mask, values)
    np.putmask(y, mask - 1, values)
    return y


def test_masks_that_are_numbers():
    mask, values = np.array([1.0, 0.0, 2.0]), np.array([5.0, 6.0, 7.0])
    np.testing.assert_array_equal(
        srcgrad.vjp(placed, VECTOR[:3], mask, values)[0], placed(VECTOR[:3], mask, values)
    )
    check_grads(lambda x, v: placed(x, mask, v), (VECTOR[:3], values), order=1)


def inserted(x):
    items = [x, x]
    items.insert(1.0, x)
    return items[0]


def without_some(x):
    items = [x, x]
    del items[0.5:]
    return items[0]


FAILING = {
    "a new axis too far out": (lambda x: np.expand_dims(x, -6), np.exceptions.AxisError),
    "a new axis too far behind": (lambda x: np.expand_dims(x, 5) * 2, np.exceptions.AxisError),
    "a new axis twice": (lambda x: np.expand_dims(x, (0, 0)), ValueError),
    "a part that begins outside": (lambda x: np.multiply.reduceat(x, [0, 7]), IndexError),
    "a part that begins before": (lambda x: np.maximum.reduceat(x, [0, -1]), IndexError),
    "cumulating along all axes": (lambda x: np.add.accumulate(x, axis=None), ValueError),
    "sorting along no axis": (lambda x: x[0].copy().sort(axis=None), TypeError),
    "cumulating a number": (lambda x: np.multiply.accumulate(x[0, 0]), TypeError),
    "steps of zero": (lambda x: x * np.arange(0, 4, 0), ZeroDivisionError),
    "no number of pieces": (lambda x: np.split(x, None)[0], TypeError),
    "pieces along no axis": (lambda x: np.split(x, 2, axis=None)[0], TypeError),
    "part of a list": (lambda x: [x, x][None:None:0][0], ValueError),
    "part of a tuple": (lambda x: (x, x)[::0][0], ValueError),
    "a place in a list": (inserted, TypeError),
    "parts of a list deleted": (without_some, TypeError),
}


@pytest.mark.parametrize("name", FAILING)
def test_what_fails_is_raised_or_refused(name):
    f, expected = FAILING[name]
    with pytest.raises(expected):
        f(MATRIX)
    for call in (
        lambda: srcgrad.vjp(f, MATRIX),
        lambda: srcgrad.jvp(f, (MATRIX,), (MATRIX,)),
        lambda: srcgrad.grad(lambda x: np.sum(f(x)))(MATRIX),
    ):
        with pytest.raises((expected, srcgrad.UnsupportedError)):
            call()


@pytest.mark.parametrize("out", [(), (None, None)], ids=repr)
def test_the_number_of_arrays_for_results(out):
    with pytest.raises(srcgrad.UnsupportedError, match="as many arrays as there are results"):
        srcgrad.vjp(lambda x: np.add(x, 2.0, out=out), VECTOR)


@pytest.mark.parametrize("seed", range(8))
def test_a_matrix_with_negative_eigenvalues(seed):
    """They lie on the cut of the logarithm, and stay on one side of it."""
    linalg = pytest.importorskip("scipy.linalg")
    a = np.random.default_rng(seed).standard_normal((5, 5))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # SciPy warns of numbers that are nearly real
        check_grads(lambda a: linalg.logm(a) * (1 + 2j), (a,), order=1)
        check_grads(lambda a: linalg.fractional_matrix_power(a, 0.3) * (1 + 2j), (a,), order=1)


@pytest.mark.parametrize("name", ["periodogram", "welch", "spectrogram", "stft"])
def test_the_precision_of_spectra(name):
    signal = pytest.importorskip("scipy.signal")
    function = getattr(signal, name)
    for dtype in (np.float32, np.float64):
        x = np.sin(np.arange(300) ** 1.5).astype(dtype)
        for a, b in zip(srcgrad.vjp(lambda x: function(x), x)[0], function(x), strict=True):
            assert a.dtype == b.dtype
            np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-5)


def test_a_solver_that_finds_no_singular_values():
    linalg = pytest.importorskip("scipy.linalg")
    check_grads(
        lambda a, b: linalg.lstsq(a, b, lapack_driver="gelsy")[0], (MATRIX.T, MATRIX[0]), order=1
    )


LABELS = np.array([[1, 2, 0, 2], [2, 1, 1, 0], [0, 0, 2, 3]])
OF_IMAGES = {
    "sums": lambda n, x: n.sum(x) + n.sum(x, LABELS) * n.sum(x, LABELS, [1, 2]),
    "means, of labels of columns": lambda n, x: n.mean(x, [1, 0, 2, 1]),
    "deviations, of one pixel too": lambda n, x: n.standard_deviation(x, LABELS, [1, 2, 3]),
    "variances": lambda n, x: n.variance(x) * n.variance(x, LABELS > 1),
    "extrema of regions that there aren't": lambda n, x: (
        n.maximum(x, LABELS, [1, 7]) * n.minimum(x, LABELS, [8, 2]) + n.minimum(x, [1, 0, 0, 1])
    ),
    "a mode for each axis": lambda n, x: (
        n.gaussian_gradient_magnitude(x, 1.0, mode=["reflect", "wrap"])
        + n.gaussian_laplace(x, 1.0, mode=["reflect", "wrap"])
    ),
}


@pytest.mark.parametrize("name", OF_IMAGES)
def test_measures_of_images(name):
    ndimage = pytest.importorskip("scipy.ndimage")
    f = OF_IMAGES[name]
    for x in (MATRIX, MATRIX.astype(np.float32)):
        out, expected = srcgrad.vjp(lambda x: f(ndimage, x), x)[0], f(ndimage, x)
        assert out.dtype == expected.dtype
        np.testing.assert_allclose(out, expected, rtol=1e-14 if x is MATRIX else 1e-5)
    check_grads(lambda x: f(ndimage, x), (MATRIX,), order=1)


OF_SAMPLES = {
    "standard scores of a constant": (lambda s, x: s.zscore(x), np.full(3, -0.087)),
    "its skewness": (lambda s, x: s.skew(x), np.full(7, 14.3)),
    "its kurtosis": (lambda s, x: s.kurtosis(x, bias=False), np.full(7, 14.3)),
    "skewness": (lambda s, x: s.skew(x, bias=False), VECTOR),
    "the likelihood of a strong transform": (
        lambda s, x: s.boxcox_llf(-90.0, x), np.array([2003.0, 1950, 1997, 2000, 2009]),
    ),
    "a mean in double precision": (
        lambda s, x: s.gmean(x, dtype=np.float64) * s.hmean(x, dtype=np.float64),
        np.abs(VECTOR).astype(np.float32),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", OF_SAMPLES)
def test_measures_of_samples(name):
    stats = pytest.importorskip("scipy.stats")
    f, x = OF_SAMPLES[name]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        out, expected = srcgrad.vjp(lambda x: f(stats, x), x)[0], f(stats, x)
    assert type(out) is type(expected)
    np.testing.assert_allclose(out, expected, rtol=1e-10)
    if np.all(np.isfinite(expected)):
        check_grads(lambda x: f(stats, x), (x,), order=1)


SINGLE = {
    "signal": {
        "hilbert": lambda s, x: s.hilbert(x),
        "resample": lambda s, x: s.resample(x, 20),
        "detrend": lambda s, x: s.detrend(x),
        "lfilter_zi": lambda s, x: s.lfilter_zi(x, np.float32([1, 0.5])),
    },
    "stats": {"sem": lambda s, x: s.sem(x), "circmean": lambda s, x: s.circmean(x)},
    "spatial": {
        "euclidean": lambda s, x: s.distance.euclidean(x, 2 * x),
        "cityblock": lambda s, x: s.distance.cityblock(x, 2 * x),
        "cosine": lambda s, x: s.distance.cosine(x, x * x),
    },
}


@pytest.mark.parametrize("name", [(m, n) for m, named in SINGLE.items() for n in named], ids=str)
def test_the_precision_of_results_is_that_of_scipy(name):
    module, f = pytest.importorskip("scipy." + name[0]), SINGLE[name[0]][name[1]]
    x = VECTOR.astype(np.float32)
    out, expected = srcgrad.vjp(lambda x: f(module, x), x)[0], f(module, x)
    assert (type(out), np.asarray(out).dtype) == (type(expected), np.asarray(expected).dtype)
    np.testing.assert_allclose(out, expected, rtol=1e-5, atol=1e-6)
    assert srcgrad.grad(lambda x: np.sum(np.abs(f(module, x))))(x).dtype == np.float32
