"""`scipy.optimize.curve_fit` and its options: the gradient by data, errors and bounds."""

import numpy as np
import pytest

from srcgrad import UnsupportedError, grad, value_and_grad

optimize = pytest.importorskip("scipy.optimize")

TIMES = np.linspace(0.0, 4.0, 25)
R = np.random.default_rng(0)
ERRORS = 0.05 + 0.1 * R.random(25)
COVARIANCES = np.diag(ERRORS**2) + 0.002


def decay(t, a, b, c):
    return a * np.exp(-b * t) + c


class Line:
    def __init__(self, offset):
        self.offset = offset

    def at(self, t, a, b):
        return a * t + b + self.offset


DATA = decay(TIMES, 2.5, 1.3, 0.5) + 0.1 * R.normal(size=25)
FAR, NEAR = ([0.0, 0.0, 0.0], [9.0, 9.0, 9.0]), ([0.0, 0.0, 0.0], [9.0, 1.0, 9.0])

CALLS = {
    "sigma of each": lambda y, s: optimize.curve_fit(decay, TIMES, y, sigma=s),
    "absolute": lambda y, s: optimize.curve_fit(decay, TIMES, y, sigma=s, absolute_sigma=True),
    "one sigma": lambda y, s: optimize.curve_fit(decay, TIMES, y, None, s[0], True),
    "covariances": lambda y, s: optimize.curve_fit(
        decay, TIMES, y, sigma=COVARIANCES + np.diag(s), absolute_sigma=True
    ),
    "bounds": lambda y, s: optimize.curve_fit(decay, TIMES, y, bounds=FAR),
    "half bounds": lambda y, s: optimize.curve_fit(decay, TIMES, y, bounds=(0, np.inf)),
    "active bounds": lambda y, s: optimize.curve_fit(decay, TIMES, y, bounds=NEAR),
    "moving bounds": lambda y, s: optimize.curve_fit(
        decay, TIMES, y, bounds=([0, 0, 0], [9.0, 0.9 + s[0], 9.0])
    ),
    "an object": lambda y, s: optimize.curve_fit(
        decay, TIMES, y, p0=(1, 1, 1), bounds=optimize.Bounds([0, 0, 0], 9.0), method="dogbox"
    ),
    "trf": lambda y, s: optimize.curve_fit(decay, TIMES, y, [1, 1, 1], method="trf"),
    "maxfev": lambda y, s: optimize.curve_fit(decay, TIMES, y, maxfev=5000, ftol=1e-12),
    "jac": lambda y, s: optimize.curve_fit(decay, TIMES, y, bounds=FAR, jac="3-point"),
    "a number": lambda y, s: optimize.curve_fit(lambda t, a: a * t, TIMES, y, p0=2.0),
    "a method": lambda y, s: optimize.curve_fit(Line(s[1]).at, TIMES, y),
    "two rows": lambda y, s: optimize.curve_fit(
        lambda x, a, b: a * x[0] + b * x[1], (TIMES, TIMES**2), list(y)
    ),
}


@pytest.mark.parametrize("name", CALLS)
def test_curve_fit(name):
    call = CALLS[name]

    def f(y, s):
        found, covariance = call(y, s)
        return found @ np.arange(1.0, 1 + len(found)) + np.sum(np.sqrt(np.diag(covariance)))

    value, (d_y, d_s) = value_and_grad(f, (0, 1))(DATA, ERRORS)
    assert value == pytest.approx(f(DATA, ERRORS), rel=1e-5)
    direction, other, step = R.normal(size=25), 0.1 * R.normal(size=25) * ERRORS, 1e-4
    found = d_y @ direction + d_s @ other
    above = value_and_grad(f)(DATA + step * direction, ERRORS + step * other)[0]
    below = value_and_grad(f)(DATA - step * direction, ERRORS - step * other)[0]
    assert found == pytest.approx((above - below) / (2 * step), rel=1e-4)


def test_as_many_points_as_parameters():
    def f(y):
        found, covariance = optimize.curve_fit(lambda t, a, b: a * t + b, TIMES[:2], y)
        return found[0] * (1.0 if np.isinf(covariance[0, 0]) else 2.0)

    np.testing.assert_allclose(grad(f)(DATA[:2]), np.array([-6.0, 6.0]))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"full_output": True}, "full_output"),
        ({"method": "trf", "loss": "soft_l1"}, "loss"),
        ({"nan_policy": "omit"}, "without nans"),
    ],
)
def test_options_that_are_refused(options, message):
    def f(y):
        return optimize.curve_fit(decay, TIMES, y, **options)[0][0]

    with pytest.raises(UnsupportedError, match=f"curve_fit.*{message}"):
        grad(f)(DATA)


@pytest.mark.parametrize("bounds", [optimize.Bounds(0, 0.3), None])
def test_bounds_made_in_the_function(bounds):
    def f(a):
        limits = optimize.Bounds(a * 0.0, 0.3) if bounds is None else bounds
        return np.sum(
            optimize.minimize(lambda x: np.sum((x - a) ** 2), [0.1] * 3, bounds=limits).x ** 2
        )

    found = grad(f)(np.array([0.1, 0.5, -0.2]))
    np.testing.assert_allclose(found, [0.2, 0.0, 0.0], atol=1e-6)
