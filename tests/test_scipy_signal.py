"""Convolutions with margins, resampling, spectra of two signals and waves, in both modes."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import srcgrad
from srcgrad.testing import check_grads

pytest.importorskip("scipy")

from scipy import integrate, signal

R = np.random.default_rng(0)
IMAGE, LINE, OTHER, ROWS = (R.uniform(size=n) for n in ((5, 6), 17, 17, (3, 17)))
TAPS, TIMES = R.uniform(size=5), np.sort(R.uniform(0, 9, 17))
FREQUENCIES = np.array([0.5, 1.0, 2.3])


def check(f: Any, *args: Any, rtol: float = 1e-9, order: int = 1) -> None:
    """The value is SciPy's, and the derivatives are right."""
    value, expected = srcgrad.vjp(f, *args)[0], f(*args)
    for found, wanted in zip(
        *(v if isinstance(v, tuple) else (v,) for v in (value, expected)), strict=True
    ):
        np.testing.assert_allclose(found, wanted, rtol=rtol, atol=1e-10)
    check_grads(f, args, order=order)


@pytest.mark.parametrize("shape", [(3, 3), (2, 4), (1, 1), (7, 3), (7, 9)])
@pytest.mark.parametrize("boundary", ["wrap", "symm", "fill"])
@pytest.mark.parametrize("function", [signal.convolve2d, signal.correlate2d])
def test_convolutions_with_margins(function: Any, boundary: str, shape: tuple[int, int]) -> None:
    kernel = R.uniform(size=shape)
    for mode in ("full", "same"):
        value = 0.7 if boundary == "fill" else 0

        def f(x, k, mode=mode, value=value):
            return function(x, k, mode=mode, boundary=boundary, fillvalue=value)

        check(f, IMAGE, kernel)
        if shape == (2, 4):
            check(f, IMAGE + 1j * IMAGE**2, kernel - 1j * kernel**2)


def test_margins_are_not_seen_by_what_lies_inside() -> None:
    check(lambda x, k: signal.convolve2d(x, k, "valid", "wrap"), IMAGE, IMAGE[:2, :3])


@pytest.mark.parametrize("rates", [(1, 1), (2, 1), (3, 2), (1, 3), (2, 7), (5, 3)])
def test_upfirdn(rates: tuple[int, int]) -> None:
    up, down = rates
    check(lambda h, x: signal.upfirdn(h, x, up, down), TAPS, ROWS)
    check(lambda h, x: signal.upfirdn(h, x, up, down), TAPS[:1], LINE[:2])
    check(
        lambda h, x: signal.upfirdn(h, x, up, down, axis=0),
        TAPS + 1j * TAPS**2,
        ROWS + 1j * ROWS**2,
    )


@pytest.mark.parametrize("rates", [(3, 2), (2, 7), (6, 4)])
def test_resample_poly(rates: tuple[int, int]) -> None:
    up, down = rates
    check(lambda x: signal.resample_poly(x, up, down), LINE)
    check(lambda x: signal.resample_poly(x, up, down, axis=1, window="hann"), ROWS)
    check(lambda x: signal.resample_poly(x, up, down, window=TAPS[:4]), ROWS + 1j * ROWS**2)


PROGRAMS: dict[str, tuple[Any, ...]] = {
    "as it is": (lambda x: signal.resample_poly(x, 4, 4), LINE),
    "mean": (lambda x: signal.resample_poly(x, 3, 2, padtype="mean"), ROWS),
    "median": (lambda x: signal.resample_poly(x, 3, 2, axis=1, padtype="median"), ROWS),
    "minimum": (lambda x: signal.resample_poly(x, 3, 2, axis=1, padtype="minimum"), ROWS),
    "maximum": (lambda x: signal.resample_poly(x, 3, 2, axis=1, padtype="maximum"), ROWS),
    "sawtooth": (lambda t: signal.sawtooth(t * 9 - 3), LINE),
    "triangles": (lambda t, w: signal.sawtooth(t * 9, w), LINE, 0.3),
    "triangles of any width": (lambda t, w: signal.sawtooth(t * 9, w), LINE, OTHER),
    "falling": (lambda t: signal.sawtooth(t * 9, 0.0), LINE),
    "one sawtooth": (lambda t: signal.sawtooth(t), 2.0),
    "one triangle": (lambda t: signal.sawtooth(t, 0.3), 2.0),
    "pulse": (lambda t, f: signal.gausspulse(t, f), LINE, 5.0),
    "parts of a pulse": (
        lambda t, b, r: signal.gausspulse(t, 5.0, b, r, retquad=True, retenv=True), LINE, 0.4, -5.0,
    ),
    "envelope": (lambda t: signal.gausspulse(t, 5, retenv=True), LINE),
    "quadrature": (lambda t: signal.gausspulse(t, 5, retquad=True), LINE),
    "cross spectrum": (lambda x, y: signal.csd(x, y, nperseg=6)[1], LINE, OTHER),
    "options of a cross spectrum": (
        lambda x, y: signal.csd(
            x, y, 2.0, ("kaiser", 3.0), 5, 2, 9, detrend="linear", scaling="spectrum"
        )[1],
        LINE, OTHER,
    ),
    "signals of two lengths": (
        lambda x, y: signal.csd(x, y[:12], nperseg=6)[1] + signal.csd(y[:8], x, nperseg=6)[1],
        LINE, OTHER,
    ),
    "a signal with itself": (lambda x: signal.csd(x, x, nperseg=6)[1], LINE),
    "rows and one": (lambda x, y: signal.csd(x, y, window="boxcar", nperseg=6)[1], ROWS, LINE),
    "columns": (lambda x: signal.csd(x, x**2, nperseg=6, axis=0)[1], ROWS.T),
    "coherence": (lambda x, y: signal.coherence(x, y, nperseg=6)[1], LINE, OTHER),
    "coherence of columns": (lambda x: signal.coherence(x, x**2, nperseg=6, axis=0)[1], ROWS.T),
    **{
        f"periodogram {normalize} {mean}": (
            lambda t, y, f, w, n=normalize, m=mean: signal.lombscargle(
                t, y, f, normalize=n, floating_mean=m, weights=w
            ),
            TIMES, LINE, FREQUENCIES, OTHER,
        )
        for normalize in (False, True, "amplitude") for mean in (False, True)
    },
    "plain periodogram": (lambda t, y: signal.lombscargle(t, y, FREQUENCIES), TIMES, LINE),
}  # fmt: skip


@pytest.mark.parametrize("name", PROGRAMS)
def test_program(name: str) -> None:
    f, *args = PROGRAMS[name]
    check(f, *args, rtol=1e-7)


def test_a_square_wave_is_constant_but_where_it_jumps() -> None:
    found = srcgrad.grad(lambda t: np.sum(signal.square(t * 9) * t))(LINE)
    np.testing.assert_array_equal(found, signal.square(LINE * 9))


def test_a_wave_that_jumps_under_an_integral_is_refused() -> None:
    def f(k):
        return integrate.quad(lambda t: signal.sawtooth(k * t), 0, 9)[0]

    with pytest.raises(srcgrad.UnsupportedError, match="jumps here"):
        srcgrad.grad(f)(2.0)


def test_single_precision() -> None:
    f = srcgrad.grad(lambda x: np.sum(signal.resample_poly(x, 3, 2) ** 2))
    assert f(LINE.astype(np.float32)).dtype == np.float32
    np.testing.assert_allclose(f(LINE.astype(np.float32)), f(LINE), rtol=1e-4)


@pytest.mark.parametrize(
    ("f", "message"),
    [
        (lambda x: signal.upfirdn(TAPS, x, 2, 3, mode="wrap"), "other margins than zeros"),
        (lambda x: signal.resample_poly(x, 3, 2, padtype="line"), "for padtype"),
        (lambda x: signal.resample_poly(x, 3, 2, cval=2.0), "without cval"),
        (lambda x: signal.gausspulse(x, -1.0), "fc >= 0"),
        (lambda x: signal.lombscargle(TIMES, x, FREQUENCIES, weights=-x), "no weight < 0"),
    ],
)
def test_what_is_refused(f: Any, message: str) -> None:
    with pytest.raises((srcgrad.UnsupportedError, ValueError), match=message):
        srcgrad.grad(lambda x: np.sum(f(x)))(LINE)
